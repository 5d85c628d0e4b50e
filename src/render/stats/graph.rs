//! Small pictures of numbers: sparklines and histograms.

use super::Report;
use crate::render::line;
use crate::session::stats::latencies::{Bin, bins};
use crate::wire::text::counted;

/// The heights of a sparkline.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The maximum number of bins in a table; more become fewer.
const MAX_CELLS: usize = 12;
/// The width of a histogram's bars without a terminal.
const BAR_WIDTH: usize = 40;

/// Returns a column for each number, the highest for the largest. Zero is a space.
pub(super) fn sparkline(counts: &[u64]) -> String {
    let max = counts.iter().copied().max().unwrap_or(0).max(1);
    let height = |count: u64| match count {
        0 => ' ',
        _ => HEIGHTS[(u128::from(count) * 8).div_ceil(max.into()) as usize - 1],
    };
    counts.iter().map(|count| height(*count)).collect()
}

/// The numbers of bins, in at most [`MAX_CELLS`] steps.
pub(super) fn counts(bins: &[Bin]) -> Vec<u64> {
    let size = bins.len().div_ceil(MAX_CELLS).max(1);
    bins.chunks(size).map(|chunk| chunk.iter().map(|bin| bin.count).sum()).collect()
}

/// Messages over time, and a histogram of all latencies.
pub(crate) fn graphs(report: &Report, width: Option<usize>) -> String {
    let mut text = String::new();
    let activity = report.activity.counts();
    if !activity.is_empty() {
        let most = counted(activity.iter().copied().max().unwrap_or(0), "message");
        let step = line::duration(report.activity.step());
        text.push_str(&format!("messages over time: at most {most} in {step}\n  {}\n", sparkline(activity)));
    }
    let total = report.total();
    let bins = bins(&[&total.latencies]).remove(0);
    if bins.is_empty() {
        return text;
    }
    text.push_str(&format!("\nlatencies of {}:\n", counted(total.latencies.count(), "response")));
    let rows: Vec<(String, u64)> = bins.iter().map(|bin| (bounds(bin), bin.count)).collect();
    text.push_str(&histogram(&rows, width));
    text
}

/// The bounds of a bin in words.
fn bounds(bin: &Bin) -> String {
    match bin.to {
        i64::MAX => format!("from {}", line::duration(bin.from)),
        to => format!("{} to {}", line::duration(bin.from), line::duration(to)),
    }
}

/// A bar for each row.
fn histogram(rows: &[(String, u64)], width: Option<usize>) -> String {
    let names = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let numbers = rows.iter().map(|(_, count)| count.to_string().len()).max().unwrap_or(0);
    let space = width.map_or(BAR_WIDTH, |width| width.saturating_sub(names + numbers + 6).clamp(1, BAR_WIDTH));
    let max = rows.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let row = |(name, count): &(String, u64)| {
        let eighths = (*count as f64 / max as f64 * space as f64 * 8.0).round() as usize;
        let eighths = eighths.max(usize::from(*count > 0));
        let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
        let line = format!("  {name:>names$}  {count:>numbers$}  {}{part}", "█".repeat(eighths / 8));
        format!("{}\n", line.trim_end())
    };
    rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sparkline_has_a_column_for_each_number() {
        assert_eq!(sparkline(&[0, 1, 4, 8]), " ▁▄█");
        assert_eq!((sparkline(&[5]).as_str(), sparkline(&[]).as_str()), ("█", ""));
        assert_eq!(sparkline(&[u64::MAX, 1]), "█▁");
    }

    #[test]
    fn bars_fit_and_every_count_is_seen() {
        let rows = [("1 ms to 2 ms".to_owned(), 1000), ("2 ms to 5 ms".to_owned(), 1), ("5 ms to 10 ms".to_owned(), 0)];
        let shown = histogram(&rows, Some(40));
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() <= 40), "{shown}");
        assert_eq!(lines[0].chars().filter(|found| *found == '█').count(), 40 - 13 - 4 - 6);
        assert!(lines[1].ends_with("1  ▏") && lines[2].ends_with(" 0"), "{shown}");
    }

    #[test]
    fn many_bins_become_few_cells() {
        let bins: Vec<Bin> = (0..30).map(|at| Bin { from: at, to: at + 1, count: 1 }).collect();
        assert_eq!(counts(&bins), [3; 10]);
        assert_eq!(counts(&bins[..5]), [1; 5]);
    }
}
