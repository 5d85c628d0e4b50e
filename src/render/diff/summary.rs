//! The summary view: a table by method and tool, and the places that changed most often.

use super::DiffStyle;
use crate::diff::latency::{Latency, Times, Verdict};
use crate::diff::{Report, SummaryRow};
use crate::render::line::duration;
use crate::render::table::{BLANK, fitted};
use crate::render::text::visible_text;
use std::collections::BTreeMap;
use std::fmt::Write;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Style};

/// On terminals with fewer columns, the table of response times has no 95th percentiles.
const WIDE: usize = 90;

/// At most this many places are listed.
const MAX_PLACES: usize = 12;

/// Appends the table of all methods and tools that differ, and the places that changed.
pub(super) fn text(report: &Report, rows: &[SummaryRow], style: &DiffStyle, width: Option<usize>, out: &mut String) {
    let differing: Vec<&SummaryRow> = rows.iter().filter(|row| row.differences() > 0).collect();
    if differing.is_empty() {
        return;
    }
    let has_moved = report.moved > 0;
    let mut heading = vec!["", "changed", "only in A", "only in B", "same"];
    if has_moved {
        heading.insert(4, "moved");
    }
    let mut cells: Vec<Vec<String>> = vec![heading.into_iter().map(str::to_owned).collect()];
    for row in differing {
        let mut counts = vec![row.changed, row.only_left, row.only_right];
        counts.extend(has_moved.then_some(row.moved));
        counts.push(row.same);
        let counts = counts.into_iter().map(|count| if count == 0 { "-".to_owned() } else { count.to_string() });
        cells.push([visible_text(&row.what)].into_iter().chain(counts).collect());
    }
    table(cells, width, out);
    places(rows, style, out);
}

fn table(cells: Vec<Vec<String>>, width: Option<usize>, out: &mut String) {
    let mut table = fitted(cells, BLANK, &[0], width);
    table.with(Style::empty()).modify(Columns::new(1..), Alignment::right());
    for line in table.to_string().lines() {
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

fn places(rows: &[SummaryRow], style: &DiffStyle, out: &mut String) {
    let mut all: BTreeMap<&str, usize> = BTreeMap::new();
    for (place, count) in rows.iter().flat_map(|row| &row.places) {
        *all.entry(place).or_default() += count;
    }
    let mut all: Vec<(&str, usize)> = all.into_iter().collect();
    all.sort_by_key(|(place, count)| (std::cmp::Reverse(*count), *place));
    if all.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}changed places{:#}", style.bold, style.bold);
    for (place, count) in all.iter().take(MAX_PLACES) {
        let _ = writeln!(out, "{count:>6}  {}", visible_text(place));
    }
    if all.len() > MAX_PLACES {
        let _ = writeln!(out, "        and {} more", all.len() - MAX_PLACES);
    }
}

/// Appends the table of response times.
pub(super) fn latency(rows: &[Latency], style: &DiffStyle, width: Option<usize>, out: &mut String) {
    let heading = ["response times", "n A", "n B", "median A", "median B", "p95 A", "p95 B", ""];
    let mut cells: Vec<Vec<String>> = vec![heading.map(str::to_owned).to_vec()];
    cells.extend(rows.iter().map(latency_cells));
    if width.is_some_and(|width| width < WIDE) {
        cells.iter_mut().for_each(|row| drop(row.drain(5..7)));
    }
    table(cells, width, out);
    if rows.iter().any(|row| row.verdict == Verdict::TooFew) {
        let faint = style.faint;
        let _ = writeln!(out, "{faint}too few: fewer than 8 times on one side{faint:#}");
    }
}

/// Returns the cells of one row of the table of response times.
pub(super) fn latency_cells(row: &Latency) -> Vec<String> {
    let cells = |times: Option<Times>| match times {
        None => ["-"; 3].map(str::to_owned),
        Some(times) => [times.count.to_string(), duration(times.median), duration(times.p95)],
    };
    let ([count, median, p95], [count_b, median_b, p95_b]) = (cells(row.left), cells(row.right));
    vec![visible_text(&row.what), count, count_b, median, median_b, p95, p95_b, verdict(row)]
}

fn verdict(row: &Latency) -> String {
    match (row.verdict, row.left, row.right) {
        (Verdict::Same, ..) => "same".to_owned(),
        (Verdict::TooFew, ..) => "too few".to_owned(),
        (verdict, Some(left), Some(right)) => {
            let (small, large) = (left.median.min(right.median).max(1), left.median.max(right.median));
            format!("{} ({:.1} times)", verdict.name(), large as f64 / small as f64)
        }
        (verdict, ..) => verdict.name().to_owned(),
    }
}
