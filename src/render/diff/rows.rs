//! The rows of a change: what is on the left, on the right, or on both sides, with the parts that differ marked. All views
//! show these rows.

use crate::diff::report::{Hunk, HunkLine, LineTag};
use crate::diff::{Change, ChangeKind};
use crate::render::table::cut;
use crate::render::text::visible;
use crate::wire::json;
use crate::wire::mask::masked;
use crate::wire::text::counted;
use similar::{ChangeTag, TextDiff};

/// In texts that are longer than this (both together, in bytes), everything between what differs first and last is marked.
const MAX_MARKED: usize = 20_000;

/// Texts with less in common than this are shown without marks, as a fraction of both.
const MIN_ALIKE: f32 = 0.3;

/// The number of unchanged characters shown around a changed part of a long value.
const AROUND: usize = 24;

/// The maximum number of lines of an added or removed value.
const MAX_LINES: usize = 12;

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The text; safe to print.
    pub text: String,
    /// Whether it differs from the other side.
    pub differs: bool,
}

/// A line of one side.
pub(super) type Line = Vec<Span>;

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// The same line on both sides.
    Both(String),
    /// A line on the left, on the right, or both, which differ.
    Sides(Option<Line>, Option<Line>),
    /// Something left out, or the numbers of the lines that follow.
    Fold(String),
}

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Space {
    /// The maximum length of a value on one line, in columns.
    pub widest: usize,
    /// Nothing is left out.
    pub is_full: bool,
    /// What follows the number of lines that are left out.
    pub hint: &'static str,
}

/// How to see the lines that `diff` leaves out.
pub(super) const SEE_ALL: &str = " (diff --full shows all)";

/// Returns the rows of a change.
pub(super) fn rows(change: &Change, space: Space) -> Vec<Row> {
    if !change.hunks.is_empty() {
        return hunks(&change.hunks, space);
    }
    let (left, right) = (change.left.as_deref(), change.right.as_deref());
    match (left, right) {
        (Some(left), Some(right)) if change.kind != ChangeKind::Reordered || left.len() + right.len() > 0 => {
            let (left, right) = marked_after(left, right, change.alike);
            vec![Row::Sides(Some(folded(left, space)), Some(folded(right, space)))]
        }
        (Some(left), _) => value(left, space).into_iter().map(|row| on_side(row, true)).collect(),
        (_, Some(right)) => value(right, space).into_iter().map(|row| on_side(row, false)).collect(),
        (None, None) => Vec::new(),
    }
}

fn on_side(row: Row, is_left: bool) -> Row {
    match row {
        Row::Both(text) => {
            let line = Some(plain(&text));
            if is_left { Row::Sides(line, None) } else { Row::Sides(None, line) }
        }
        other => other,
    }
}

fn plain(text: &str) -> Line {
    vec![Span { text: text.to_owned(), differs: false }]
}

/// Returns a line that is safe to print. Secrets are hidden before words are marked, which would tear them.
fn safe(text: &str) -> String {
    masked(text).chars().map(|found| if found == '\t' { found } else { visible(found) }).collect()
}

/// Returns the lines of a value that is on one side only: a long object or array with a member on each line.
fn value(text: &str, space: Space) -> Vec<Row> {
    let is_nested = text.starts_with(['{', '[']);
    let parsed: Option<serde_json::Value> =
        (is_nested && text.chars().count() > space.widest).then(|| json::parsed(text.as_bytes())).flatten();
    let Some(pretty) = parsed.and_then(|value| serde_json::to_string_pretty(&value).ok()) else {
        return vec![Row::Both(shortened(&safe(text), space))];
    };
    let count = pretty.lines().count();
    let shown = if space.is_full { count } else { count.min(MAX_LINES) };
    let mut rows: Vec<Row> = pretty.lines().take(shown).map(|line| Row::Both(shortened(&safe(line), space))).collect();
    if shown < count {
        rows.push(Row::Fold(format!("… {}{}", counted((count - shown) as u64, "more line"), space.hint)));
    }
    rows
}

fn shortened(text: &str, space: Space) -> String {
    if space.is_full { text.to_owned() } else { cut(text, space.widest) }
}

/// Returns both texts, with the parts that differ marked.
pub(super) fn marked(left: &str, right: &str) -> (Line, Line) {
    marked_after(left, right, [0; 2])
}

/// Returns both texts, with the parts that differ marked. Before these places, nothing that differs counts.
fn marked_after(left: &str, right: &str, alike: [usize; 2]) -> (Line, Line) {
    let ([before, left], [in_front, right]) = (divided(left, alike[0]), divided(right, alike[1]));
    let (one, other) = marked_words(&left, &right);
    let differ = left != right;
    (with_beginning(&before, one, differ), with_beginning(&in_front, other, differ))
}

/// Puts a beginning that does not count before a line. If nothing in the line is marked although it differs, all of it is.
fn with_beginning(before: &str, line: Line, differs: bool) -> Line {
    if before.is_empty() {
        return line;
    }
    let is_whole = line.len() == 1 && differs;
    let mut whole = plain(before);
    line.iter().for_each(|span| push(&mut whole, &span.text, span.differs || is_whole));
    whole
}

/// Returns a text in two parts that are safe to print. If a secret begins in the first part and ends in the second one,
/// everything is in the second.
fn divided(text: &str, at: usize) -> [String; 2] {
    let (whole, before) = (safe(text), safe(text.get(..at).unwrap_or_default()));
    match whole.strip_prefix(&before) {
        Some(rest) => [before.clone(), rest.to_owned()],
        None => [String::new(), whole],
    }
}

fn marked_words(left: &str, right: &str) -> (Line, Line) {
    if left.len() + right.len() > MAX_MARKED {
        return marked_between(left, right);
    }
    let (old, new) = (words(left), words(right));
    let diff = TextDiff::from_slices(&old, &new);
    if diff.ratio() < MIN_ALIKE {
        return (plain(left), plain(right));
    }
    let (mut one, mut other) = (Line::new(), Line::new());
    for change in diff.iter_all_changes() {
        let text = change.value();
        match change.tag() {
            ChangeTag::Equal => {
                push(&mut one, text, false);
                push(&mut other, text, false);
            }
            ChangeTag::Delete => push(&mut one, text, true),
            ChangeTag::Insert => push(&mut other, text, true),
        }
    }
    (one, other)
}

/// Marks everything between the beginning and the end that both texts have.
fn marked_between(left: &str, right: &str) -> (Line, Line) {
    let length = |same: &mut dyn Iterator<Item = (char, char)>| -> usize {
        same.take_while(|(one, other)| one == other).map(|(same, _)| same.len_utf8()).sum()
    };
    let begins = length(&mut left.chars().zip(right.chars()));
    let (rest, other_rest) = (&left[begins..], &right[begins..]);
    let ends = length(&mut rest.chars().rev().zip(other_rest.chars().rev()));
    let line = |text: &str| -> Line {
        let end = text.len() - ends;
        let parts = [(&text[..begins], false), (&text[begins..end], true), (&text[end..], false)];
        let parts = parts.into_iter().filter(|(text, _)| !text.is_empty());
        parts.map(|(text, differs)| Span { text: text.to_owned(), differs }).collect()
    };
    (line(left), line(right))
}

/// Splits a text into words, runs of spaces, and single other characters.
fn words(text: &str) -> Vec<&str> {
    let kind = |found: char| match found {
        _ if found.is_alphanumeric() => 0,
        ' ' => 1,
        _ => 2,
    };
    let (mut found, mut start, mut before) = (Vec::new(), 0, 2);
    for (at, letter) in text.char_indices() {
        let next = kind(letter);
        if at > start && (next != before || next == 2) {
            found.push(&text[start..at]);
            start = at;
        }
        before = next;
    }
    found.extend((start < text.len()).then(|| &text[start..]));
    found
}

fn push(line: &mut Line, text: &str, differs: bool) {
    match line.last_mut() {
        Some(last) if last.differs == differs => last.text.push_str(text),
        _ => line.push(Span { text: text.to_owned(), differs }),
    }
}

/// Folds what is the same in a long line, and cuts what is still too long.
fn folded(line: Line, space: Space) -> Line {
    let length: usize = line.iter().map(|span| span.text.chars().count()).sum();
    if space.is_full || length <= space.widest {
        return line;
    }
    let last = line.len().saturating_sub(1);
    let fold = |(at, span): (usize, Span)| match span.differs {
        true => span,
        false if last == 0 => span,
        false => Span { text: around(&span.text, at > 0, at < last), ..span },
    };
    let folded: Line = line.into_iter().enumerate().map(fold).collect();
    let mut left = space.widest;
    let fit = |span: Span| {
        let text = if left == 0 { String::new() } else { cut(&span.text, left) };
        left = left.saturating_sub(span.text.chars().count());
        Span { text, ..span }
    };
    folded.into_iter().map(fit).filter(|span| !span.text.is_empty()).collect()
}

/// Returns the ends of a text that is the same on both sides: those beside changed parts.
fn around(text: &str, keeps_start: bool, keeps_end: bool) -> String {
    let length = text.chars().count();
    let (start, end) = (if keeps_start { AROUND } else { 0 }, if keeps_end { AROUND } else { 0 });
    if length <= start + end + 1 {
        return text.to_owned();
    }
    let first: String = text.chars().take(start).collect();
    let rest: String = text.chars().skip(length - end).collect();
    format!("{first}…{rest}")
}

fn hunks(hunks: &[Hunk], space: Space) -> Vec<Row> {
    let mut rows = Vec::new();
    for hunk in hunks {
        rows.push(Row::Fold(format!("@@ -{} +{} @@", hunk.left_line, hunk.right_line)));
        let mut lines = &hunk.lines[..];
        while !lines.is_empty() {
            let (taken, found) = run(lines, space);
            rows.extend(found);
            lines = &lines[taken..];
        }
    }
    rows
}

/// Returns the rows of an unchanged line, or of removed lines and the lines that replace them; and the number of lines.
fn run(lines: &[HunkLine], space: Space) -> (usize, Vec<Row>) {
    let of = |tag: LineTag, from: usize| lines[from..].iter().take_while(|line| line.tag == tag).count();
    let (removed, added) = (of(LineTag::Removed, 0), of(LineTag::Added, of(LineTag::Removed, 0)));
    if removed + added == 0 {
        return (1, vec![Row::Both(shortened(&safe(&lines[0].text), space))]);
    }
    let row = |at: usize| {
        let left = (at < removed).then(|| &lines[at]);
        let right = (at < added).then(|| &lines[removed + at]);
        match (left, right) {
            (Some(left), Some(right)) => {
                let (left, right) = marked_after(&left.text, &right.text, [left.alike, right.alike]);
                Row::Sides(Some(folded(left, space)), Some(folded(right, space)))
            }
            (left, right) => {
                let one = |line: Option<&HunkLine>| line.map(|line| plain(&shortened(&safe(&line.text), space)));
                Row::Sides(one(left), one(right))
            }
        }
    };
    (removed + added, (0..removed.max(added)).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(widest: usize) -> Space {
        Space { widest, is_full: false, hint: SEE_ALL }
    }

    /// Writes the parts that differ in brackets.
    fn shown(line: &Line) -> String {
        line.iter().map(|span| if span.differs { format!("[{}]", span.text) } else { span.text.clone() }).collect()
    }

    #[test]
    fn words_that_differ_are_marked() {
        let (left, right) = marked("wait 30s for the answer", "wait 60s for the answer");
        assert_eq!(
            (shown(&left), shown(&right)),
            ("wait [30s] for the answer".into(), "wait [60s] for the answer".into())
        );
        let (left, right) = marked("one", "completely different");
        assert_eq!((shown(&left), shown(&right)), ("one".into(), "completely different".into()));
        let (left, _) = marked("a \u{1b}[2J b c d", "a b c d e");
        assert!(!shown(&left).contains('\u{1b}'));
    }

    #[test]
    fn what_is_the_same_in_a_long_value_is_folded() {
        let text = |middle: &str| format!("{} {middle} {}", "word ".repeat(60), "end ".repeat(60));
        let (left, _) = marked(&text("before"), &text("after"));
        let line = shown(&folded(left.clone(), space(80)));
        assert!(line.contains("…") && line.contains("[before]") && line.chars().count() < 70, "{line}");
        assert_eq!(folded(left.clone(), Space { is_full: true, ..space(80) }), left);
        let long = vec![Span { text: "x".repeat(300), differs: true }];
        assert_eq!(shown(&folded(long, space(40))).chars().count(), 42);
    }

    #[test]
    fn what_does_not_count_is_neither_marked_nor_hides_what_does() {
        let text = |time: &str, end: &str| format!("at {time} {} {end}", "same ".repeat(100));
        let (left, right) = (text("10:00", "one"), text("12:00", "two"));
        let (one, other) = marked_after(&left, &right, [8; 2]);
        let lines = [one, other].map(|line| shown(&folded(line, space(60))));
        assert!(lines[0].ends_with("same  [one]") && lines[1].ends_with("same  [two]"), "{lines:?}");
        assert!(lines.iter().all(|line| line.starts_with("at 1") || line.starts_with('…')), "{lines:?}");
        let (one, other) = marked_after("10:00 one", "12:00 other things", [5; 2]);
        assert_eq!((shown(&one), shown(&other)), ("10:00 [one]".into(), "12:00 [other things]".into()));
    }

    #[test]
    fn a_very_long_line_is_shown_around_its_difference() {
        let text = |middle: &str| format!("{}{middle}{}", "é word ".repeat(4000), "end ".repeat(2000));
        let (one, other) = marked(&text("before"), &text("after"));
        let lines = [one, other].map(|line| shown(&folded(line, space(80))));
        assert!(lines[0].contains("word [before]end ") && lines[1].contains("word [after]end "), "{lines:?}");
        let (one, other) = marked_between("same", "same longer");
        assert_eq!((shown(&one), shown(&other)), ("same".into(), "same[ longer]".into()));
    }

    #[test]
    fn a_long_object_is_shown_line_by_line_and_folded() {
        let text = serde_json::json!({"name": "t", "list": (0..40).collect::<Vec<_>>()}).to_string();
        let rows = value(&text, space(60));
        assert_eq!(rows.len(), MAX_LINES + 1);
        assert_eq!(rows[1], Row::Both("  \"name\": \"t\",".into()));
        assert!(matches!(rows.last(), Some(Row::Fold(text)) if text.starts_with("… 33 more lines")), "{rows:?}");
        assert_eq!(value("{\"a\":1}", space(60)), [Row::Both("{\"a\":1}".into())]);
    }
}
