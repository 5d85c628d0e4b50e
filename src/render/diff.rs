//! Formats the report of a comparison: unified, side by side, as a summary, or as Markdown.

mod html;
mod markdown;
mod rows;
mod side_by_side;
mod summary;
pub(crate) mod surface;

use crate::diff::latency::{Latency, Verdict};
use crate::diff::surface::Likeness;
use crate::diff::{Change, ChangeKind, Report, Status, SummaryRow, UnitDiff, UnitKind};
use crate::render::style::Palette;
use crate::render::text::{visible, visible_text};
use crate::render::volatile;
use crate::wire::text::counted;
use anstyle::Style;
use rows::{Line, Row, SEE_ALL, Space};
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

/// How a report is shown on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// The changes of each message, A above B.
    Unified,
    /// The changes of each message, A beside B.
    SideBySide,
    /// Counts by method and tool.
    Summary,
}

/// What a comparison found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown<'a> {
    /// The names of A and B.
    pub names: [&'a str; 2],
    /// The names are those of files that can be compared again.
    pub has_files: bool,
    /// The differences.
    pub report: &'a Report,
    /// The differences by method and tool.
    pub rows: &'a [SummaryRow],
    /// The tools that have another name in B; their messages were compared under the name in A.
    pub renamed: &'a [Likeness],
    /// The response times, if they were compared.
    pub latency: Option<&'a [Latency]>,
    /// Only the response times were compared.
    pub is_only_latency: bool,
    /// Nothing is shortened.
    pub is_full: bool,
}

/// The maximum length of a value if there is no terminal, in characters.
const WIDEST: usize = 160;
/// The minimum length of a value, in characters.
const NARROWEST: usize = 48;
/// The columns around a value: its indent, its sign and the ellipses.
const BESIDE: usize = 6;

/// Appends the report for a terminal. Long values are shortened to fit `width` columns, if given.
pub(crate) fn text(shown: &Shown<'_>, view: View, style: &DiffStyle, width: Option<usize>, out: &mut String) {
    let widest = width.map_or(WIDEST, |width| width.saturating_sub(BESIDE).clamp(NARROWEST, WIDEST));
    let report = shown.report;
    let before = out.len();
    if !report.units.is_empty() && view != View::Summary {
        legend(shown, style, out);
    }
    renamed(shown, style, out);
    match view {
        View::Unified => report.units.iter().for_each(|one| unit(one, style, widest, shown.is_full, out)),
        View::SideBySide => side_by_side::text(report, style, width, shown.is_full, out),
        View::Summary => summary::text(report, shown.rows, style, width, out),
    }
    if let Some(latency) = shown.latency {
        separate(before, out);
        summary::latency(latency, style, width, out);
    }
    separate(before, out);
    summary_line(shown, out);
    if !shown.is_only_latency {
        volatile::text(report, out);
    }
    if shown.has_files && offers_differ(shown) {
        let [left, right] = shown.names.map(visible_text);
        let _ = writeln!(out, "`mcpreel diff --surface {left} {right}` says whether the changed offer breaks clients");
    }
}

/// Returns whether the servers offer different tools, prompts, resources or capabilities.
fn offers_differ(shown: &Shown<'_>) -> bool {
    let is_offer = |unit: &UnitDiff| {
        let lists = ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "server/discover"];
        let changes = |part: &str| unit.changes.iter().any(|change| change.pointer().starts_with(part));
        match unit.method.as_deref() {
            Some("initialize") => changes("/result/capabilities"),
            Some(method) => lists.contains(&method) && changes("/result"),
            None => false,
        }
    };
    !shown.renamed.is_empty() || shown.report.units.iter().any(is_offer)
}

/// Appends an empty line, unless there is one, or nothing before it.
fn separate(before: usize, out: &mut String) {
    if out.len() > before && !out.ends_with("\n\n") {
        out.push('\n');
    }
}

/// Appends the report as a page for browsers.
pub(crate) fn html(shown: &Shown<'_>, out: &mut String) {
    html::html(shown, out);
}

/// Appends the report as Markdown.
pub(crate) fn markdown(shown: &Shown<'_>, out: &mut String) {
    markdown::markdown(shown, out);
}

fn legend(shown: &Shown<'_>, style: &DiffStyle, out: &mut String) {
    let [left, right] = shown.names.map(visible_text);
    let (removed, added) = (style.removed, style.added);
    let _ = writeln!(out, "{removed}- A {left}{removed:#}\n{added}+ B {right}{added:#}\n");
}

fn renamed(shown: &Shown<'_>, style: &DiffStyle, out: &mut String) {
    for found in shown.renamed {
        let _ = writeln!(out, "{}{}{:#}", style.bold, visible_text(&renamed_text(found)), style.bold);
    }
    if !shown.renamed.is_empty() {
        out.push('\n');
    }
}

/// Says that a tool has another name.
fn renamed_text(found: &Likeness) -> String {
    let Likeness { from, to, basis, .. } = found;
    format!("renamed: the tool {from} seems to be {to} in B ({basis})")
}

/// Appends the summary line: `3 changed, 1 only in A, 0 only in B, 40 same`.
fn summary_line(shown: &Shown<'_>, out: &mut String) {
    let Report { changed, only_left, only_right, same, moved, .. } = shown.report;
    let mut parts = Vec::new();
    if !shown.renamed.is_empty() {
        parts.push(format!("{} renamed", counted(shown.renamed.len() as u64, "tool")));
    }
    if !shown.is_only_latency {
        parts.extend([
            format!("{changed} changed"),
            format!("{only_left} only in A"),
            format!("{only_right} only in B"),
        ]);
        parts.extend((*moved > 0).then(|| format!("{moved} moved")));
        parts.push(format!("{same} same"));
    }
    if let Some(rows) = shown.latency {
        let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
        parts.push(format!("{} slower in B, {} faster in B", count(Verdict::Slower), count(Verdict::Faster)));
    }
    let _ = writeln!(out, "{}", parts.join(", "));
}

fn unit(unit: &UnitDiff, style: &DiffStyle, widest: usize, is_full: bool, out: &mut String) {
    heading(unit, style, widest, out);
    let space = Space { widest: if is_full { usize::MAX } else { widest }, is_full, hint: SEE_ALL };
    for change in &unit.changes {
        place_line(change, style, out);
        for row in grouped(rows::rows(change, space)) {
            unified_row(&row, style, out);
        }
    }
}

/// Appends the heading of a message: its method and subject, its numbers, and whether it moved.
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
    out.push_str(match (unit.crossed, unit.moved) {
        (true, _) => "  moved across the result of its request\n",
        (false, true) => "  moved\n",
        (false, false) => "\n",
    });
}

fn title(unit: &UnitDiff, widest: usize) -> String {
    let named = || {
        let mut title = visible_text(unit.method.as_deref().unwrap_or_default());
        if let Some(subject) = &unit.subject {
            let _ = write!(title, " {}", visible_text(&crate::proposals::clip(subject, widest / 2)));
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

/// Appends the place of a change: a JSON pointer, and the name of what is there.
fn place_line(change: &Change, style: &DiffStyle, out: &mut String) {
    let faint = style.faint;
    let label = change.label.as_deref().map(|label| format!("  ({})", visible_text(label))).unwrap_or_default();
    let note = if change.kind == ChangeKind::Reordered { "  reordered" } else { "" };
    let _ = writeln!(out, "  {faint}{}{label}{note}{faint:#}", visible_text(&change.pointer()));
}

/// Puts what is on the left before what is on the right, within each run of differing rows.
fn grouped(rows: Vec<Row>) -> Vec<Row> {
    let (mut grouped, mut right) = (Vec::with_capacity(rows.len()), Vec::new());
    for row in rows {
        match row {
            Row::Sides(one, other) => {
                grouped.extend(one.map(|line| Row::Sides(Some(line), None)));
                right.extend(other.map(|line| Row::Sides(None, Some(line))));
            }
            row => {
                grouped.append(&mut right);
                grouped.push(row);
            }
        }
    }
    grouped.append(&mut right);
    grouped
}

/// Appends the lines of a change without styles.
fn lines(change: &Change, space: Space, out: &mut String) {
    for row in grouped(rows::rows(change, space)) {
        let _ = match row {
            Row::Both(line) => writeln!(out, "  {line}"),
            Row::Fold(line) => writeln!(out, "{line}"),
            Row::Sides(Some(left), _) => writeln!(out, "- {}", plain(&left)),
            Row::Sides(None, Some(right)) => writeln!(out, "+ {}", plain(&right)),
            Row::Sides(None, None) => Ok(()),
        };
    }
}

fn plain(line: &Line) -> String {
    line.iter().map(|span| span.text.as_str()).collect()
}

/// Returns the lines of a change: below a place, those of A with `-`, those of B with `+`. A longer line begins shortly
/// before its first difference.
pub(crate) fn change_lines(change: &Change, widest: usize) -> String {
    let mut out = String::new();
    lines(change, Space { widest, is_full: false, hint: "" }, &mut out);
    out.truncate(out.trim_end().len());
    out
}

/// Returns the first place at which a change of a text or value differs: the number of the line, if there are several,
/// and what each side has there, as it is shown.
pub(crate) fn first_difference(change: &Change, widest: usize) -> Option<(Option<usize>, [Option<String>; 2])> {
    let rows = rows::rows(change, Space { widest, is_full: false, hint: "" });
    let before = rows.iter().take_while(|row| !matches!(row, Row::Sides(..)));
    let before = before.filter(|row| matches!(row, Row::Both(_))).count();
    let line = change.hunks.first().map(|hunk| hunk.left_line + before);
    rows.iter().find_map(|row| match row {
        Row::Sides(left, right) => Some((line, [left, right].map(|side| side.as_ref().map(plain)))),
        Row::Both(_) | Row::Fold(_) => None,
    })
}

fn unified_row(row: &Row, style: &DiffStyle, out: &mut String) {
    let faint = style.faint;
    let _ = match row {
        Row::Fold(text) => writeln!(out, "  {faint}{text}{faint:#}"),
        Row::Both(text) => writeln!(out, "    {text}"),
        Row::Sides(left, right) => {
            let sides = [(left, '-', style.removed), (right, '+', style.added)];
            sides.into_iter().try_for_each(|(line, sign, look)| match line {
                Some(line) => writeln!(out, "  {look}{sign} {look:#}{}", marked(line, look)),
                None => Ok(()),
            })
        }
    };
}

/// Returns a line with the parts that differ inverted, if there are colours.
fn marked(line: &Line, look: Style) -> String {
    let mut out = String::new();
    for span in line {
        let look = emphasised(look, span.differs);
        let _ = write!(out, "{look}{}{look:#}", span.text);
    }
    out
}

fn emphasised(look: Style, differs: bool) -> Style {
    if differs && look != Style::new() { look.invert() } else { look }
}

/// Appends the difference of two texts as a unified diff, with three lines of context, below a heading;
/// nothing if the texts are equal. Control characters are made visible.
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
        viewed(View::Unified, left, right, style, width)
    }

    fn viewed(
        view: View,
        left: &[Notice<'_>],
        right: &[Notice<'_>],
        style: &DiffStyle,
        width: Option<usize>,
    ) -> String {
        with_shown(left, right, |shown| {
            let mut out = String::new();
            text(shown, view, style, width, &mut out);
            out
        })
    }

    fn with_shown(left: &[Notice<'_>], right: &[Notice<'_>], show: impl Fn(&Shown<'_>) -> String) -> String {
        let (left, right) = (recorded(left), recorded(right));
        let mut report = compare(&left, &right, &Options::default()).expect("all texts");
        crate::diff::complete(&mut report, &left);
        let rows = crate::diff::summary(&report, &left, &std::collections::HashSet::new());
        show(&Shown {
            names: ["a.reel", "b.reel"],
            has_files: true,
            report: &report,
            rows: &rows,
            renamed: &[],
            latency: None,
            is_only_latency: false,
            is_full: false,
        })
    }

    const LEFT: &[Notice<'_>] =
        &[(12, "a/b", "echo", r#"{"x":1,"y":[1],"t":"one\ntwo three\n"}"#), (13, "gone", "g", "{}")];
    const RIGHT: &[Notice<'_>] = &[(14, "a/b", "echo", r#"{"x":2,"y":[1],"t":"one\n\u001btwo three\n"}"#)];

    #[test]
    fn a_report_reads_as_a_list_of_changes() {
        let expected = "- A a.reel\n+ B b.reel\n\na/b echo  seq 12 ↔ 14\n  /params/x\n  - 1\n  + 2\n  /params/t\n  \
            @@ -1 +1 @@\n    one\n  - two three\n  + ␛two three\n- gone g  seq 13\n\n1 changed, 1 only in A, \
            0 only in B, 0 same\n";
        assert_eq!(shown(LEFT, RIGHT, &DiffStyle::default(), None), expected);
        let same = shown(LEFT, LEFT, &DiffStyle::default(), None);
        assert_eq!(same, "0 changed, 0 only in A, 0 only in B, 2 same\n");
    }

    #[test]
    fn the_part_that_differs_is_inverted() {
        let green = anstyle::AnsiColor::Green.on_default();
        let out = shown(LEFT, RIGHT, &DiffStyle { added: green, ..DiffStyle::default() }, None);
        let (look, bright) = (green.render(), green.invert());
        assert!(out.contains(&format!("{look}+ \u{1b}[0m{bright}␛{bright:#}{green}two three{green:#}")), "{out:?}");
    }

    #[test]
    fn side_by_side_each_side_has_its_column() {
        let out = viewed(View::SideBySide, LEFT, RIGHT, &DiffStyle::default(), Some(40));
        assert!(out.contains("  1                 │ 2\n"), "{out}");
        assert!(out.contains("  one               │ one\n  two three         │ ␛two three\n"), "{out}");
        let long: Vec<String> = ["a", "b"].map(|end| format!(r#"{{"x":"{}{end}"}}"#, "word ".repeat(30))).into();
        let out = viewed(
            View::SideBySide,
            &[(0, "m", "s", &long[0])],
            &[(0, "m", "s", &long[1])],
            &DiffStyle::default(),
            Some(60),
        );
        assert!(out.lines().all(|line| line.chars().count() <= 60) && out.lines().count() > 5, "{out}");
    }

    #[test]
    fn the_summary_counts_by_method_and_names_the_places() {
        let out = viewed(View::Summary, LEFT, RIGHT, &DiffStyle::default(), None);
        let lines: Vec<String> =
            out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(lines[0], "changed only in A only in B same");
        assert_eq!(lines[1..3], ["a/b 1 - - -", "gone - 1 - -"]);
        assert!(lines.contains(&"1 /params/t".to_owned()) && lines.contains(&"1 /params/x".to_owned()), "{out}");
    }

    #[test]
    fn markdown_from_others_stays_text() {
        let evil = r#"{"x":"```\n</details><script>@all"}"#;
        let left = [(1, "m|`x`", "<b>@team", r#"{"x":"old"}"#)];
        let right = [(1, "m|`x`", "<b>@team", evil)];
        let out = with_shown(&left, &right, |shown| {
            let mut out = String::new();
            markdown(shown, &mut out);
            out
        });
        assert!(out.contains("| m\\|\\`x\\` | 1 |"), "{out}");
        assert!(out.contains("<summary>m\\|\\`x\\` &lt;b&gt;&#64;team</summary>"), "{out}");
        assert!(out.contains("\n````diff\n") && out.contains("\n````\n"), "{out}");
    }

    #[test]
    fn a_long_value_is_shown_around_its_first_difference() {
        let long = |end: &str| format!(r#"{{"x":"{} {end}"}}"#, "word ".repeat(100));
        let out = shown(&[(0, "m", "s", &long("b"))], &[(0, "m", "s", &long("c"))], &DiffStyle::default(), None);
        assert!(out.contains("- …") && out.contains(" word  b\"\n"), "{out}");
        let ends = [long("b"), long("c")].map(|text| text.replace("\"}", &format!(" {}\"}}", "z ".repeat(300))));
        let subject = "s".repeat(100);
        let [left, right] = ends.each_ref().map(|params| [(0, "m", &*subject, &**params)]);
        let narrow = shown(&left, &right, &DiffStyle::default(), Some(80));
        assert!(narrow.contains("word  b z") && narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
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
