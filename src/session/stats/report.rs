//! Finished counts: of one reel, or of several together.

use super::activity::Activity;
use super::{Grouping, Slowest, Tally};
use crate::wire::MessageKind;
use std::collections::BTreeMap;

/// The rows of one grouping by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows(pub BTreeMap<String, Tally>);

impl Rows {
    /// The maximum number of rows with a name of their own.
    pub(crate) const MAX: usize = 1000;

    /// Adds the counts of a row. If there are too many rows, they belong to `(others)`.
    pub(crate) fn merge(&mut self, name: String, row: &Tally) {
        let is_full = self.0.len() >= Self::MAX && !self.0.contains_key(&name);
        self.0.entry(if is_full { "(others)".to_owned() } else { name }).or_default().merge(row);
    }

    /// The rows, most frequent first.
    pub(crate) fn sorted(&self) -> Vec<(&str, &Tally)> {
        let mut rows: Vec<(&str, &Tally)> = self.0.iter().map(|(name, row)| (name.as_str(), row)).collect();
        let numbered = |name: &str| name.parse::<u32>().unwrap_or(u32::MAX);
        rows.sort_by(|a, b| b.1.calls.cmp(&a.1.calls).then(numbered(a.0).cmp(&numbered(b.0))).then(a.0.cmp(b.0)));
        rows
    }
}

/// An error of a method. Without a code, a tool reported it (`isError`), or the response has no valid one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ErrorKey {
    /// The JSON-RPC code.
    pub code: Option<i64>,
    /// The method of the request.
    pub method: String,
}

/// The counts of reels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    /// The number of events.
    pub events: u64,
    /// The bytes of all events: also of standard error, of HTTP heads, and of what mcpreel says about the session.
    pub bytes: u64,
    /// The number of messages.
    pub messages: u64,
    /// The bytes of messages.
    pub message_bytes: u64,
    /// The number of messages of each kind.
    pub kinds: [u64; MessageKind::ALL.len()],
    /// The bytes of standard error.
    pub stderr_bytes: u64,
    /// The gaps in the recording.
    pub gaps: u64,
    /// The responses without a request.
    pub orphans: u64,
    /// The requests without a response.
    pub unanswered: u64,
    /// Failed HTTP exchanges.
    pub failures: u64,
    /// All failures: the events that the filter term `error` selects.
    pub failed: u64,
    /// The number of events that were read.
    pub read: u64,
    /// What could not be read.
    pub damages: Vec<String>,
    /// Whether these are the counts of several reels, so that event numbers mean nothing.
    pub is_merged: bool,
    /// The time from the first event to the last, in nanoseconds; of several reels, the sum.
    pub span: i64,
    /// Messages over time, of a single reel.
    pub activity: Activity,
    /// The rows of each grouping.
    pub groups: BTreeMap<Grouping, Rows>,
    /// The number of each error.
    pub errors: BTreeMap<ErrorKey, u64>,
}

impl Report {
    /// Adds the counts of another reel.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.is_merged = true;
        self.events += other.events;
        self.bytes += other.bytes;
        self.messages += other.messages;
        self.message_bytes += other.message_bytes;
        self.kinds.iter_mut().zip(other.kinds).for_each(|(sum, count)| *sum += count);
        self.stderr_bytes += other.stderr_bytes;
        self.gaps += other.gaps;
        self.orphans += other.orphans;
        self.unanswered += other.unanswered;
        self.failures += other.failures;
        self.failed += other.failed;
        self.read += other.read;
        self.damages.extend(other.damages.iter().cloned());
        self.span = self.span.saturating_add(other.span);
        for (grouping, rows) in &other.groups {
            let into = self.groups.entry(*grouping).or_default();
            rows.0.iter().for_each(|(name, row)| into.merge(name.clone(), row));
        }
        for (error, count) in &other.errors {
            *self.errors.entry(error.clone()).or_default() += count;
        }
    }

    /// Names the sessions by their reel, too: different reels have sessions with the same number.
    pub(crate) fn name_sessions(&mut self, reel: &str) {
        if let Some(rows) = self.groups.get_mut(&Grouping::Session) {
            rows.0 =
                std::mem::take(&mut rows.0).into_iter().map(|(name, row)| (format!("{reel} {name}"), row)).collect();
        }
    }

    /// The rows of a grouping.
    pub(crate) fn rows(&self, grouping: Grouping) -> Vec<(&str, &Tally)> {
        self.groups.get(&grouping).map(Rows::sorted).unwrap_or_default()
    }

    /// All rows together.
    pub(crate) fn total(&self) -> Tally {
        let mut total = Tally::default();
        self.rows(Grouping::Method).into_iter().for_each(|(_, row)| total.merge(row));
        total
    }

    /// The slowest call of all, with its method's name.
    pub(crate) fn slowest(&self) -> Option<(&str, Slowest)> {
        let calls = self.rows(Grouping::Method).into_iter().filter_map(|(name, row)| Some((name, row.slowest?)));
        calls.max_by_key(|(_, slowest)| (slowest.latency, std::cmp::Reverse(slowest.seq)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_a_limit_and_lose_nothing() {
        let (mut rows, one) = (Rows::default(), Tally { calls: 1, ..Tally::default() });
        (0..1500).for_each(|number| rows.merge(number.to_string(), &one));
        assert_eq!(rows.0.len(), Rows::MAX + 1);
        assert_eq!(rows.sorted()[0].0, "(others)");
        assert_eq!(rows.0.values().map(|row| row.calls).sum::<u64>(), 1500);
    }

    #[test]
    fn merging_reports_adds_their_rows() {
        let of = |name: &str, calls: u64| {
            let mut report = Report { messages: calls, span: 5, ..Report::default() };
            let rows = report.groups.entry(Grouping::Method).or_default();
            rows.merge(name.to_owned(), &Tally { calls, ..Tally::default() });
            report
        };
        let mut sum = of("a", 1);
        sum.merge(&of("b", 3));
        sum.merge(&of("a", 4));
        let rows: Vec<(&str, u64)> = sum.rows(Grouping::Method).iter().map(|(name, row)| (*name, row.calls)).collect();
        assert_eq!((rows, sum.messages, sum.span), (vec![("a", 5), ("b", 3)], 8, 15));
        assert_eq!(sum.total().calls, 8);
    }
}
