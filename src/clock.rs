//! The two clocks. A time of day (a schedule, an expiry, the time of a recorded event) follows the wall clock, which the
//! user and the network set, and which goes on while the machine sleeps. A length of time (a limit, a pause) follows
//! the monotonic clock, which does neither.
//!
//! Only [`Clock`] reads clocks; the rules get readings, so they can be tested in virtual time.

use std::time::{Duration, Instant, SystemTime};

/// The longest wait for something that follows the wall clock: it may be set in the meantime, and the clock that waits
/// may stop while the machine sleeps.
const WALL_INTERVAL: Duration = Duration::from_secs(1);

/// What both clocks show at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The monotonic clock: the time since it was started.
    pub(crate) since: Duration,
    /// The wall clock, in nanoseconds since 1970.
    pub(crate) wall_ns: i64,
}

impl Reading {
    /// How long to wait until `due`, a time on the monotonic clock. It may depend on what the wall clock shows.
    pub(crate) fn wait(self, due: Option<Duration>, follows_wall: bool) -> Option<Duration> {
        let wait = due?.saturating_sub(self.since);
        Some(if follows_wall { wait.min(WALL_INTERVAL) } else { wait })
    }
}

/// Both clocks, from a moment on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Instant);

impl Clock {
    /// Starts now.
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// What they show now.
    pub(crate) fn read(&self) -> Reading {
        Reading { since: self.0.elapsed(), wall_ns: wall_ns() }
    }
}

/// The wall clock, in nanoseconds since 1970.
pub(crate) fn wall_ns() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// The times of recorded events, in nanoseconds since the first reading. They follow the wall clock but never go back: if
/// it is set back, they go on with the monotonic clock until it has caught up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EventTimes {
    base_ns: i64,
    last: i64,
    last_since: Duration,
}

impl EventTimes {
    /// Times from this moment on.
    pub(crate) fn from(reading: Reading) -> Self {
        Self { base_ns: reading.wall_ns, last: 0, last_since: reading.since }
    }

    /// The time of an event that happens at this moment.
    pub(crate) fn at(&mut self, reading: Reading) -> i64 {
        let by_wall = reading.wall_ns.saturating_sub(self.base_ns);
        let passed = reading.since.saturating_sub(self.last_since).as_nanos();
        let time = if by_wall < self.last {
            self.last.saturating_add(i64::try_from(passed).unwrap_or(i64::MAX))
        } else {
            by_wall
        };
        (self.last, self.last_since) = (time, reading.since);
        time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;
    const HOUR: i64 = 3600 * SECOND;
    const START: i64 = 1_767_225_600 * SECOND;

    fn reading(since_s: u64, wall_ns: i64) -> Reading {
        Reading { since: Duration::from_secs(since_s), wall_ns: START + wall_ns }
    }

    #[test]
    fn times_of_events_follow_the_wall_clock_through_a_suspend() {
        let mut times = EventTimes::from(reading(5, 0));
        assert_eq!(times.at(reading(6, SECOND)), SECOND);
        // The machine sleeps for eight hours; the monotonic clock stands still.
        assert_eq!(times.at(reading(7, 8 * HOUR + 2 * SECOND)), 8 * HOUR + 2 * SECOND);
        assert_eq!(times.at(reading(8, 8 * HOUR + 3 * SECOND)), 8 * HOUR + 3 * SECOND);
    }

    #[test]
    fn times_of_events_never_go_back() {
        let mut times = EventTimes::from(reading(0, 0));
        assert_eq!(times.at(reading(10, 10 * SECOND)), 10 * SECOND);
        // The clock is set back by an hour: lengths of time stay right.
        assert_eq!(times.at(reading(11, 11 * SECOND - HOUR)), 11 * SECOND);
        assert_eq!(times.at(reading(15, 15 * SECOND - HOUR)), 15 * SECOND);
        // It is set right again.
        assert_eq!(times.at(reading(16, 16 * SECOND)), 16 * SECOND);
        // Small corrections: the wall clock counts, unless it goes back.
        assert_eq!(times.at(reading(17, 17 * SECOND + 300)), 17 * SECOND + 300);
        assert_eq!(times.at(reading(17, 17 * SECOND + 100)), 17 * SECOND + 300);
        assert_eq!(times.at(reading(18, 18 * SECOND - 100)), 18 * SECOND - 100);
    }

    #[test]
    fn a_time_before_the_first_one_is_the_first() {
        let mut times = EventTimes::from(reading(0, 0));
        assert_eq!(times.at(reading(0, -HOUR)), 0);
        assert_eq!(times.at(reading(2, 2 * SECOND - HOUR)), 2 * SECOND);
    }

    #[test]
    fn a_wait_for_a_time_of_day_is_short() {
        let now = reading(100, 0);
        let due = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(now.wait(due(3700), false), due(3600));
        assert_eq!(now.wait(due(3700), true), due(1));
        assert_eq!(now.wait(due(100), true), due(0));
        assert_eq!(now.wait(due(50), false), due(0));
        assert_eq!(now.wait(None, true), None);
    }
}
