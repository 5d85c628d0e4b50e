//! What is due when: a queue in virtual time.

use std::collections::BTreeMap;
use std::time::Duration;

/// Something that waits for its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// A plan, by its place in the list, and how often it was done before.
    Plan(usize, u64),
    /// The next step of a slow count.
    Count(u64),
    /// The answer to a request of the server's own.
    Deadline(i64),
    /// The host has gone, and what was still under way has had its moment.
    Leave,
}

/// The queue. What is due at the same time comes in the order in which it was set.
#[derive(Clone, Debug, Default)]
pub struct Timers {
    queue: BTreeMap<(Duration, u64), Timer>,
    set: u64,
}

impl Timers {
    /// Sets one.
    pub fn set(&mut self, at: Duration, timer: Timer) {
        self.set += 1;
        self.queue.insert((at, self.set), timer);
    }

    /// Takes one back.
    pub fn clear(&mut self, timer: Timer) {
        self.queue.retain(|_, waiting| *waiting != timer);
    }

    /// When the first is due.
    pub fn first(&self) -> Option<Duration> {
        self.queue.first_key_value().map(|((at, _), _)| *at)
    }

    /// Takes the first, if it is due.
    pub fn due(&mut self, now: Duration) -> Option<Timer> {
        if self.first()? > now {
            return None;
        }
        self.queue.pop_first().map(|(_, timer)| timer)
    }
}
