//! The report as Markdown, for a comment on a pull request.

use super::rows::{SEE_ALL, Space};
use super::summary::latency_cells;
use super::{Shown, title};
use crate::diff::{Change, SummaryRow, UnitDiff};
use crate::render::text::{markdown_fence as fence, markdown_text as escaped, visible_text};
use crate::render::volatile;
use crate::wire::text::counted;
use std::fmt::Write;

/// A comment may have at most 65,536 characters; the rest of the report is left out.
const MAX_CHARACTERS: usize = 60_000;

/// The maximum length of a value, in columns.
const WIDEST: usize = 300;

/// Appends the report.
pub(super) fn markdown(shown: &Shown<'_>, out: &mut String) {
    let report = shown.report;
    let mut line = String::new();
    super::summary_line(shown, &mut line);
    let _ = writeln!(out, "### mcpreel diff\n\n**{}**", line.trim_end());
    for found in shown.renamed {
        let _ = writeln!(out, "\n{}", escaped(&super::renamed_text(found)));
    }
    if !shown.is_only_latency {
        not_compared(shown, out);
    }
    table(shown.rows, out);
    latency(shown, out);
    for (at, unit) in report.units.iter().enumerate() {
        let mut text = String::new();
        details(unit, &mut text);
        if out.chars().count() + text.chars().count() > MAX_CHARACTERS {
            let _ = writeln!(out, "\n… and {} more.", counted((report.units.len() - at) as u64, "difference"));
            return;
        }
        out.push_str(&text);
    }
}

/// Appends how many values were not compared, and the list of them if the report has it.
fn not_compared(shown: &Shown<'_>, out: &mut String) {
    let mut text = String::new();
    volatile::text(shown.report, &mut text);
    let (counts, list) = text.split_once('\n').unwrap_or((&text, ""));
    if !counts.is_empty() {
        let _ = writeln!(out, "\n{}", escaped(counts));
    }
    if list.len() > MAX_CHARACTERS / 2 {
        let _ = writeln!(out, "\nThe list of them is too long for a comment.");
    } else if !list.is_empty() {
        let fence = fence(list);
        let _ = writeln!(out, "\n{fence}text\n{list}{fence}");
    }
}

fn table(rows: &[SummaryRow], out: &mut String) {
    let mut rows = rows.iter().filter(|row| row.differences() > 0).peekable();
    if rows.peek().is_none() {
        return;
    }
    out.push_str("\n| | changed | only in A | only in B | moved | same |\n|---|---:|---:|---:|---:|---:|\n");
    for row in rows {
        let SummaryRow { changed, only_left, only_right, moved, same, .. } = row;
        let _ = writeln!(out, "| {} | {changed} | {only_left} | {only_right} | {moved} | {same} |", escaped(&row.what));
    }
}

fn latency(shown: &Shown<'_>, out: &mut String) {
    if let Some(rows) = shown.latency {
        out.push_str("\n| response times | n A | n B | median A | median B | p95 A | p95 B | |\n");
        out.push_str("|---|---:|---:|---:|---:|---:|---:|---|\n");
        for row in rows {
            let cells: Vec<String> = latency_cells(row).iter().map(|cell| escaped(cell)).collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
    }
}

fn details(unit: &UnitDiff, out: &mut String) {
    let mut body = String::new();
    unit.changes.iter().for_each(|change| diff_lines(change, &mut body));
    let title = escaped(&title(unit, WIDEST));
    let _ = match body.is_empty() {
        true => writeln!(out, "\n- {}: {title}", unit.status.words()),
        false => {
            let fence = fence(&body);
            writeln!(out, "\n<details><summary>{title}</summary>\n\n{fence}diff\n{body}{fence}\n\n</details>")
        }
    };
}

fn diff_lines(change: &Change, out: &mut String) {
    let label = change.label.as_deref().map(|label| format!("  ({})", visible_text(label))).unwrap_or_default();
    let _ = writeln!(out, "@@ {}{label} @@", visible_text(&change.pointer()));
    super::lines(change, Space { widest: WIDEST, is_full: false, hint: SEE_ALL }, out);
}
