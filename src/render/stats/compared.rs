//! Two recordings side by side.

use super::{Report, Sheet, Tally, blank_zero};
use crate::render::line;
use crate::session::stats::Grouping;
use std::collections::BTreeMap;

/// The counts of two recordings, each with its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compared<'a> {
    /// The first one.
    pub before: (&'a str, &'a Report),
    /// The second one.
    pub after: (&'a str, &'a Report),
}

impl<'a> Compared<'a> {
    /// The rows of both, most frequent first; `None` where a recording has none of this name.
    pub(super) fn rows(&self, grouping: Grouping) -> Vec<(&'a str, [Option<&'a Tally>; 2])> {
        let mut rows: BTreeMap<&str, [Option<&Tally>; 2]> = BTreeMap::new();
        for (side, report) in [self.before.1, self.after.1].into_iter().enumerate() {
            for (name, row) in report.rows(grouping) {
                rows.entry(name).or_default()[side] = Some(row);
            }
        }
        let mut rows: Vec<_> = rows.into_iter().collect();
        let calls = |rows: &[Option<&Tally>; 2]| rows.iter().flatten().map(|row| row.calls).sum::<u64>();
        rows.sort_by(|a, b| calls(&b.1).cmp(&calls(&a.1)).then(a.0.cmp(b.0)));
        rows
    }

    /// The rows of a grouping as a table. Columns of the first recording end in A, those of the second in B.
    pub(crate) fn sheet(&self, grouping: Grouping) -> Sheet {
        if grouping == Grouping::Error {
            return self.errors();
        }
        let rows = self.rows(grouping).into_iter().map(|(name, rows)| {
            let cells = |of: &dyn Fn(&Tally) -> String| rows.map(|row| row.map(of).unwrap_or_default());
            let time = |value: Option<i64>| value.map(line::duration).unwrap_or_default();
            let medians = rows.map(|row| row.and_then(|row| row.latencies.median()));
            [
                &[line::visible_text(name)][..],
                &cells(&|row| row.calls.to_string()),
                &cells(&|row| blank_zero(row.errors + row.tool_errors)),
                &cells(&|row| line::bytes(row.bytes)),
                &cells(&|row| time(row.latencies.median())),
                &[change(medians)],
                &cells(&|row| time(row.latencies.percentile(99.0))),
            ]
            .concat()
        });
        let heading = [
            grouping.name(),
            "calls A",
            "B",
            "errors A",
            "B ",
            "size A",
            " B",
            "median A",
            " B ",
            "change",
            "p99 A",
            "  B",
        ];
        Sheet::new(&heading, rows.collect()).removing_pairs(&["size A", "p99 A", "errors A", "median A"])
    }

    fn errors(&self) -> Sheet {
        let mut rows: BTreeMap<_, [u64; 2]> = BTreeMap::new();
        for (side, report) in [self.before.1, self.after.1].into_iter().enumerate() {
            report.errors.iter().for_each(|(key, count)| rows.entry(key).or_default()[side] = *count);
        }
        let cells = rows.into_iter().map(|(key, counts)| {
            let code = key.code.map_or("isError".to_owned(), |code| code.to_string());
            [&[code, line::visible_text(&key.method)][..], &counts.map(blank_zero)].concat()
        });
        Sheet::new(&["error", "method", "A", "B"], cells.collect()).shortening(&[0, 1])
    }
}

/// How the second time differs from the first.
fn change(times: [Option<i64>; 2]) -> String {
    let [Some(before), Some(after)] = times else { return String::new() };
    if before <= 0 {
        return String::new();
    }
    match ((after as f64 / before as f64 - 1.0) * 100.0).round() {
        0.0 => "=".to_owned(),
        change => format!("{change:+} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(rows: &[(&str, u64, i64)]) -> Report {
        let mut report = Report::default();
        for (name, calls, latency) in rows {
            let mut row = Tally { calls: *calls, ..Tally::default() };
            row.answer(*latency, 0);
            report.groups.entry(Grouping::Method).or_default().merge((*name).to_owned(), &row);
        }
        report
    }

    #[test]
    fn rows_of_either_side_stand_side_by_side() {
        let (one, other) = (report(&[("ping", 2, 100), ("old", 1, 5)]), report(&[("ping", 4, 150), ("new", 9, 5)]));
        let compared = Compared { before: ("a", &one), after: ("b", &other) };
        let rows = compared.rows(Grouping::Method);
        let calls = |rows: [Option<&Tally>; 2]| rows.map(|row| row.map(|row| row.calls));
        let found: Vec<_> = rows.into_iter().map(|(name, rows)| (name, calls(rows))).collect();
        assert_eq!(found, [("new", [None, Some(9)]), ("ping", [Some(2), Some(4)]), ("old", [Some(1), None])]);
        assert!(compared.sheet(Grouping::Method).csv().contains("+50 %"));
    }

    #[test]
    fn a_narrow_terminal_has_both_columns_of_a_pair_or_none() {
        let one = report(&[("notifications/resources/list_changed", 1_234, 1_234_567)]);
        let text = Compared { before: ("a", &one), after: ("b", &one) }.sheet(Grouping::Method).text(Some(60));
        let heading = text.lines().next().unwrap_or_default();
        assert_eq!(heading.matches(" A").count(), heading.matches(" B").count(), "{text}");
        assert!(text.contains("no space for: ") && text.contains("size") && !text.contains(": size A"), "{text}");
    }

    #[test]
    fn a_change_needs_both_times() {
        assert_eq!(change([Some(100), Some(90)]), "-10 %");
        assert_eq!(
            [change([Some(100), Some(100)]), change([None, Some(1)]), change([Some(0), Some(1)])],
            ["=", "", ""]
        );
    }
}
