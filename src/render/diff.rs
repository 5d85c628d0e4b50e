//! Formats the report of a comparison as text.

use super::line::visible;
use crate::diff::report::{Hunk, LineTag};
use crate::diff::{Change, Report, Status, UnitDiff, UnitKind};
use crate::render::style::Palette;
use anstyle::Style;
use similar::{ChangeTag, TextDiff};
use std::fmt::Write;

/// The styles of a report's parts. The default is plain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DiffStyle {
    /// Parts that are on the right only.
    pub added: Style,
    /// Parts that are on the left only.
    pub removed: Style,
    /// Secondary text.
    pub faint: Style,
    /// Headings.
    pub bold: Style,
}

impl From<&Palette> for DiffStyle {
    fn from(palette: &Palette) -> Self {
        Self { added: palette.good, removed: palette.error, faint: palette.faint, bold: palette.bold }
    }
}

/// The maximum length of a value if there is no terminal, in characters.
const MAX_WIDTH: usize = 160;
/// The columns around a value: its indent, its sign and the ellipses.
const BESIDE: usize = 6;

/// The number of characters shown before the first difference of a longer value.
const LEAD: usize = 24;

/// Appends the report: a heading for each unit, its changes below, and a summary line. Long values are shortened to fit
/// `width` columns, if given.
pub(crate) fn text(report: &Report, style: &DiffStyle, width: Option<usize>, out: &mut String) {
    let widest = width.map_or(MAX_WIDTH, |width| width.saturating_sub(BESIDE).clamp(2 * LEAD, MAX_WIDTH));
    for unit in &report.units {
        heading(unit, style, widest, out);
        unit.changes.iter().for_each(|one| change(one, style, widest, out));
    }
    if !report.units.is_empty() {
        out.push('\n');
    }
    summary(report, out);
}

/// Appends the summary line: `3 changed, 1 only in A, 0 only in B, 40 same`.
pub(crate) fn summary(report: &Report, out: &mut String) {
    let Report { changed, only_left, only_right, same, moved, .. } = report;
    let _ = write!(out, "{changed} changed, {only_left} only in A, {only_right} only in B, ");
    if *moved > 0 {
        let _ = write!(out, "{moved} moved, ");
    }
    let _ = writeln!(out, "{same} same");
}

fn heading(unit: &UnitDiff, style: &DiffStyle, widest: usize, out: &mut String) {
    let (sign, look) = match unit.status {
        Status::OnlyLeft => ("- ", style.removed),
        Status::OnlyRight => ("+ ", style.added),
        Status::Changed | Status::Moved => ("", style.bold),
    };
    let _ = write!(out, "{look}{sign}{}{look:#}", title(unit, widest));
    let faint = style.faint;
    let _ = match (&unit.left, &unit.right) {
        (Some(left), Some(right)) => write!(out, "  {faint}seq {} ↔ {}{faint:#}", left.seq, right.seq),
        (Some(one), None) | (None, Some(one)) => write!(out, "  {faint}seq {}{faint:#}", one.seq),
        (None, None) => Ok(()),
    };
    out.push_str(if unit.moved { "  moved\n" } else { "\n" });
}

fn title(unit: &UnitDiff, widest: usize) -> String {
    let named = || {
        let mut title = printable(unit.method.as_deref().unwrap_or_default());
        if let Some(subject) = &unit.subject {
            let _ = write!(title, " {}", printable(&crate::proposals::clip(subject, widest / 2)));
        }
        title
    };
    match unit.kind {
        UnitKind::Request | UnitKind::Notification => named(),
        UnitKind::Orphan => "response without a request".to_owned(),
        UnitKind::Line => "line that is not a message".to_owned(),
        UnitKind::Stderr => "standard error".to_owned(),
    }
}

fn change(change: &Change, style: &DiffStyle, widest: usize, out: &mut String) {
    let faint = style.faint;
    let note =
        if change.left.is_some() && change.kind == crate::diff::ChangeKind::Reordered { "  reordered" } else { "" };
    let _ = writeln!(out, "  {faint}{}{note}{faint:#}", printable(&change.pointer()));
    let (left, right) = (change.left.as_deref().unwrap_or_default(), change.right.as_deref().unwrap_or_default());
    let shared = left.chars().zip(right.chars()).take_while(|(one, other)| one == other).count();
    for (sign, value, look) in [('-', &change.left, style.removed), ('+', &change.right, style.added)] {
        if let Some(value) = value {
            let _ = writeln!(out, "  {look}{sign} {}{look:#}", printable(&window(value, shared, widest)));
        }
    }
    change.hunks.iter().for_each(|one| hunk(one, style, widest, out));
}

fn hunk(hunk: &Hunk, style: &DiffStyle, widest: usize, out: &mut String) {
    let faint = style.faint;
    let _ = writeln!(out, "  {faint}@@ -{} +{} @@{faint:#}", hunk.left_line, hunk.right_line);
    for (tag, line) in &hunk.lines {
        let (sign, look) = match tag {
            LineTag::Both => (' ', Style::new()),
            LineTag::Removed => ('-', style.removed),
            LineTag::Added => ('+', style.added),
        };
        let _ = writeln!(out, "  {look}{sign} {}{look:#}", printable(&crate::proposals::clip(line, widest)));
    }
}

/// Shortens a long value to a window that begins just before its first difference.
fn window(value: &str, shared: usize, widest: usize) -> String {
    let length = value.chars().count();
    let start = if length <= widest { 0 } else { shared.saturating_sub(LEAD).min(length - 1) };
    let mut shown: String = value.chars().skip(start).take(widest).collect();
    if start > 0 {
        shown.insert(0, '…');
    }
    if start + widest < length {
        shown.push('…');
    }
    shown
}

/// Escapes control characters in text from others, since a terminal would obey them.
fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for found in text.chars() {
        let reverses = matches!(found, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if found == '\t' || !(found.is_control() || reverses) {
            out.push(found);
        } else {
            out.extend(found.escape_unicode());
        }
    }
    out
}

/// Appends the difference of two texts as a unified diff, with three lines of context, below a heading; nothing if the texts are equal. Control
/// characters are made visible.
pub(crate) fn unified(before: &str, after: &str, name: &str, style: &DiffStyle, out: &mut String) {
    let diff = TextDiff::from_lines(before, after);
    let bold = style.bold;
    for (number, hunk) in diff.unified_diff().context_radius(3).iter_hunks().enumerate() {
        if number == 0 {
            let name: String = name.chars().map(visible).collect();
            let _ = writeln!(out, "{bold}--- {name}{bold:#}\n{bold}+++ {name}{bold:#}");
        }
        let _ = writeln!(out, "{}{}{:#}", style.faint, hunk.header(), style.faint);
        for change in hunk.iter_changes() {
            let (sign, look) = match change.tag() {
                ChangeTag::Equal => (' ', Style::new()),
                ChangeTag::Delete => ('-', style.removed),
                ChangeTag::Insert => ('+', style.added),
            };
            let line = change.value().trim_end_matches(['\r', '\n']);
            let line: String = line.chars().map(|found| if found == '\t' { found } else { visible(found) }).collect();
            let _ = writeln!(out, "{look}{sign}{line}{look:#}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::{Collector, Options, Recording, compare};
    use crate::trace::{Event, EventHeader, EventKind, Flags};
    use crate::wire::{Direction, Framing};

    /// A notification: the number of its event, its method, its subject and its params.
    type Notice<'a> = (u64, &'a str, &'a str, &'a str);

    fn recorded(notices: &[Notice<'_>]) -> Recording {
        let options = Options::default();
        let mut collector = Collector::new(&options);
        for (seq, method, _, params) in notices {
            let payload = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
            let header = EventHeader {
                seq: *seq,
                time: 0,
                stream: 0,
                exchange: 0,
                kind: EventKind::Message,
                flags: Flags::toward(Direction::ServerToClient),
                framing: Framing::Lf,
                len: u32::try_from(payload.len()).expect("short"),
                offset: 0,
                message: None,
            };
            collector.take(&Event { header: &header, payload: payload.as_bytes() });
        }
        let mut recording = collector.finish();
        for (unit, (_, _, subject, _)) in recording.units.iter_mut().zip(notices) {
            unit.subject = Some((*subject).into());
        }
        recording
    }

    fn shown(left: &[Notice<'_>], right: &[Notice<'_>], style: &DiffStyle, width: Option<usize>) -> String {
        let mut out = String::new();
        let report = compare(&recorded(left), &recorded(right), &Options::default()).expect("all texts");
        text(&report, style, width, &mut out);
        out
    }

    #[test]
    fn a_report_reads_as_a_list_of_changes() {
        let left = [(12, "a/b", "echo", r#"{"x":1,"y":[1],"t":"one\ntwo\n"}"#), (13, "gone", "g", "{}")];
        let right = [(14, "a/b", "echo", r#"{"x":2,"y":[1],"t":"one\n\u001btwo\n"}"#)];
        let expected = "a/b echo  seq 12 ↔ 14\n  /params/x\n  - 1\n  + 2\n  /params/t\n  @@ -1 +1 @@\n    one\n  \
            - two\n  + \\u{1b}two\n- gone g  seq 13\n\n1 changed, 1 only in A, 0 only in B, 0 same\n";
        assert_eq!(shown(&left, &right, &DiffStyle::default(), None), expected);
        assert_eq!(shown(&left, &left, &DiffStyle::default(), None), "0 changed, 0 only in A, 0 only in B, 2 same\n");
        let coloured = DiffStyle { added: anstyle::AnsiColor::Green.on_default(), ..DiffStyle::default() };
        assert!(shown(&left, &right, &coloured, None).contains("\u{1b}[32m+ 2\u{1b}[0m"));
    }

    #[test]
    fn a_long_value_is_shown_around_its_first_difference() {
        let long = |end: &str| format!(r#"{{"x":"{}{end}"}}"#, "a".repeat(500));
        let out = shown(&[(0, "m", "s", &long("b"))], &[(0, "m", "s", &long("c"))], &DiffStyle::default(), None);
        assert!(out.contains(&format!("- …{}b\"\n", "a".repeat(LEAD))), "{out}");
        let ends = [long("b"), long("c")].map(|text| text.replace("\"}", &format!("{}\"}}", "z".repeat(300))));
        let subject = "s".repeat(100);
        let [left, right] = ends.each_ref().map(|params| [(0, "m", &*subject, &**params)]);
        let narrow = shown(&left, &right, &DiffStyle::default(), Some(80));
        assert!(narrow.contains("ab") && narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
    }

    #[test]
    fn what_differs_is_shown_with_what_is_around() {
        let lines = |changed: &str| format!("1\n2\n3\n4\n{changed}\r\n\t6\n7\n8\n9");
        let mut out = String::new();
        unified(&lines("5"), &lines("\u{1b}five"), "f", &DiffStyle::default(), &mut out);
        assert_eq!(out, "--- f\n+++ f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+␛five\n \t6\n 7\n 8\n");
        out.clear();
        unified("a\n", "a\n", "f", &DiffStyle::default(), &mut out);
        assert_eq!(out, "");
    }
}
