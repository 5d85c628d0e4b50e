//! A queue of timers in virtual time.

use std::collections::BTreeMap;
use std::time::Duration;

/// What happens at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// A plan, by its index, and how often it was done before.
    Plan(usize, u64),
    /// The next step of a slow count.
    Count(u64),
    /// The deadline of one of the server's own requests.
    Deadline(i64),
    /// The end of the time that work in progress gets after the host has gone.
    Leave,
}

/// The queue. Timers of the same time are due in the order in which they were set.
#[derive(Clone, Debug, Default)]
pub(super) struct Timers {
    queue: BTreeMap<(Duration, u64), Timer>,
    set: u64,
}

impl Timers {
    /// Sets a timer.
    pub(super) fn set(&mut self, at: Duration, timer: Timer) {
        self.set += 1;
        self.queue.insert((at, self.set), timer);
    }

    /// Removes a timer.
    pub(super) fn clear(&mut self, timer: Timer) {
        self.queue.retain(|_, waiting| *waiting != timer);
    }

    /// When the first timer is due.
    pub(super) fn first(&self) -> Option<Duration> {
        self.queue.first_key_value().map(|((at, _), _)| *at)
    }

    /// Takes the first timer if it is due.
    pub(super) fn due(&mut self, now: Duration) -> Option<Timer> {
        if self.first()? > now {
            return None;
        }
        self.queue.pop_first().map(|(_, timer)| timer)
    }
}
