//! The report as a page for browsers: A beside B, each message folded. It needs no script.

use super::rows::{Line, Row, SEE_ALL, Space, rows};
use super::summary::latency_cells;
use super::{Shown, title};
use crate::diff::{Change, Status, SummaryRow, UnitDiff};
use crate::page::shell::{escaped, head};
use crate::render::text::visible_text;
use crate::render::volatile;
use crate::wire::text::counted;
use std::fmt::Write;

/// The maximum length of a value, in columns.
const WIDEST: usize = 4000;
/// At most this many messages are in a page.
const MAX_UNITS: usize = 5000;
/// This many messages are unfolded at first.
const OPEN_UNITS: usize = 20;

/// Appends the page.
pub(super) fn html(shown: &Shown<'_>, out: &mut String) {
    let [left, right] = shown.names.map(visible_text);
    let name = format!("A {left}, B {right}");
    out.push_str(&head(&format!("mcpreel diff: {name}"), None));
    let _ = writeln!(out, "<body class=\"document\">\n<header><h1>{}</h1></header>\n<main>", escaped(&name));
    let mut line = String::new();
    super::summary_line(shown, &mut line);
    let _ = writeln!(out, "<p><strong>{}</strong></p>", escaped(line.trim_end()));
    for found in shown.renamed {
        let _ = writeln!(out, "<p>{}</p>", escaped(&super::renamed_text(found)));
    }
    counts(shown.rows, out);
    latency(shown, out);
    for (at, unit) in shown.report.units.iter().take(MAX_UNITS).enumerate() {
        details(unit, at < OPEN_UNITS, out);
    }
    let more = shown.report.units.len().saturating_sub(MAX_UNITS) as u64;
    if more > 0 {
        let _ = writeln!(out, "<p>… and {}.</p>", counted(more, "more difference"));
    }
    if !shown.is_only_latency {
        let mut text = String::new();
        volatile::text(shown.report, &mut text);
        if !text.is_empty() {
            let _ = writeln!(out, "<h2>Not compared</h2>\n<pre>{}</pre>", lines(&text));
        }
    }
    out.push_str("</main>\n</body>\n</html>\n");
}

/// Returns lines as HTML.
fn lines(text: &str) -> String {
    text.lines().map(|line| escaped(line) + "\n").collect()
}

/// Appends a table.
fn table(caption: &str, headings: &[&str], rows: impl Iterator<Item = Vec<String>>, out: &mut String) {
    let cells = |cells: &[String], tag: &str| {
        cells.iter().map(|cell| format!("<{tag}>{}</{}>", escaped(cell), &tag[..2])).collect::<String>()
    };
    let headings: Vec<String> = headings.iter().map(|heading| (*heading).to_owned()).collect();
    let _ = writeln!(
        out,
        "<h2>{caption}</h2>\n<div class=\"table-scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table>"
    );
    let _ = writeln!(out, "<thead><tr>{}</tr></thead>\n<tbody>", cells(&headings, "th scope=\"col\""));
    rows.for_each(|row| {
        let _ = writeln!(out, "<tr>{}</tr>", cells(&row, "td"));
    });
    out.push_str("</tbody></table></div>\n");
}

fn counts(all: &[SummaryRow], out: &mut String) {
    let mut differing = all.iter().filter(|row| row.differences() > 0).peekable();
    if differing.peek().is_none() {
        return;
    }
    let row = |row: &SummaryRow| {
        let numbers = [row.changed, row.only_left, row.only_right, row.moved, row.same];
        std::iter::once(row.what.clone()).chain(numbers.iter().map(ToString::to_string)).collect()
    };
    let headings = ["message", "changed", "only in A", "only in B", "moved", "same"];
    table("Differences by method", &headings, differing.map(row), out);
}

fn latency(shown: &Shown<'_>, out: &mut String) {
    let Some(rows) = shown.latency else { return };
    let headings = ["response times", "n A", "n B", "median A", "median B", "95 % A", "95 % B", "verdict"];
    table("Response times", &headings, rows.iter().map(latency_cells), out);
}

fn details(unit: &UnitDiff, is_open: bool, out: &mut String) {
    let (open, words) = (if is_open { " open" } else { "" }, unit.status.words());
    let status = if unit.status == Status::Changed { String::new() } else { format!("{words}: ") };
    let summary = escaped(&format!("{status}{}", title(unit, WIDEST)));
    let _ = writeln!(out, "<details class=\"unit\"{open}><summary>{summary}</summary>");
    unit.changes.iter().for_each(|one| change(one, out));
    out.push_str("</details>\n");
}

fn change(change: &Change, out: &mut String) {
    let label = change.label.as_deref().map(|label| format!(" ({label})")).unwrap_or_default();
    let place = escaped(&format!("{}{label}", change.pointer()));
    let _ = writeln!(out, "<div class=\"diff\"><div class=\"wide\">{place}</div>");
    for row in rows(change, Space { widest: WIDEST, is_full: false, hint: SEE_ALL }) {
        let _ = match row {
            Row::Fold(text) => writeln!(out, "<div class=\"wide\">{}</div>", escaped(&text)),
            Row::Both(text) => {
                let text = escaped(&text);
                writeln!(out, "<div>{text}</div><div>{text}</div>")
            }
            Row::Sides(left, right) => writeln!(out, "{}{}", side(left, "removed"), side(right, "added")),
        };
    }
    out.push_str("</div>\n");
}

/// Returns one side of a row. The parts that differ are marked; a side without text says so to those who cannot see it.
fn side(line: Option<Line>, class: &str) -> String {
    let Some(line) = line else { return format!("<div class=\"{class}\"></div>") };
    let span = |(text, differs): (String, bool)| if differs { format!("<mark>{text}</mark>") } else { text };
    let text: String = line.into_iter().map(|part| span((escaped(&part.text), part.differs))).collect();
    format!("<div class=\"{class}\">{text}</div>")
}
