//! The counts of one row.

use super::latencies::Latencies;

/// Counts of requests, notifications and the responses to them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Requests and notifications.
    pub calls: u64,
    /// Notifications.
    pub notifications: u64,
    /// Their bytes, with the responses.
    pub bytes: u64,
    /// Responses.
    pub answers: u64,
    /// Error responses, and failed HTTP exchanges.
    pub errors: u64,
    /// Results with `isError`.
    pub tool_errors: u64,
    /// Requests without a response.
    pub unanswered: u64,
    /// Responses after the deadline that a proposal sets.
    pub late: u64,
    /// The times from requests to responses.
    pub latencies: Latencies,
    /// The slowest call.
    pub slowest: Option<Slowest>,
    /// The times of the first and the last message, in nanoseconds.
    pub span: Option<(i64, i64)>,
}

/// The slowest call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slowest {
    /// Nanoseconds from the request to its response.
    pub latency: i64,
    /// The event number of the request.
    pub seq: u64,
}

impl Slowest {
    /// Takes another call if it was slower.
    pub(crate) fn keep(known: &mut Option<Self>, other: Self) {
        if known.is_none_or(|known| other.latency > known.latency) {
            *known = Some(other);
        }
    }
}

impl Tally {
    /// Notes the time of a message.
    pub(crate) fn reach(&mut self, time: i64) {
        let (first, last) = self.span.unwrap_or((time, time));
        self.span = Some((first.min(time), last.max(time)));
    }

    /// The time from the first message to the last, in nanoseconds.
    pub(crate) fn span(&self) -> i64 {
        self.span.map_or(0, |(first, last)| last.saturating_sub(first))
    }

    /// Adds a response: its latency and the event number of its request.
    pub(crate) fn answer(&mut self, latency: i64, seq: u64) {
        self.answers += 1;
        self.latencies.add(latency);
        Slowest::keep(&mut self.slowest, Slowest { latency, seq });
    }

    /// Adds the counts of another row. The span becomes that of both, as if they had begun at once.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.calls += other.calls;
        self.notifications += other.notifications;
        self.bytes += other.bytes;
        self.answers += other.answers;
        self.errors += other.errors;
        self.tool_errors += other.tool_errors;
        self.unanswered += other.unanswered;
        self.late += other.late;
        self.latencies.merge(&other.latencies);
        if let Some(slowest) = other.slowest {
            Slowest::keep(&mut self.slowest, slowest);
        }
        if let Some((first, last)) = other.span {
            self.reach(first);
            self.reach(last);
        }
    }

    /// Notifications per second within a time in nanoseconds; `None` if there were none, or no time passed.
    pub(crate) fn notification_rate(&self, span: i64) -> Option<f64> {
        let is_known = self.notifications > 0 && span > 0;
        is_known.then(|| self.notifications as f64 * 1e9 / span as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_adds_and_keeps_the_slowest() {
        let (mut one, mut other) = (Tally::default(), Tally { calls: 2, late: 1, ..Tally::default() });
        one.answer(5, 1);
        one.reach(100);
        other.answer(9, 7);
        other.reach(40);
        one.merge(&other);
        assert_eq!((one.calls, one.late, one.answers), (2, 1, 2));
        assert_eq!((one.slowest, one.span()), (Some(Slowest { latency: 9, seq: 7 }), 60));
        assert_eq!(one.latencies.median(), Some(7));
    }

    #[test]
    fn a_rate_needs_notifications_and_time() {
        let some = Tally { notifications: 5, ..Tally::default() };
        assert_eq!((some.notification_rate(2_000_000_000), some.notification_rate(0)), (Some(2.5), None));
        assert_eq!(Tally::default().notification_rate(1), None);
    }
}
