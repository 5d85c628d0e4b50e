//! Collects bursts of changes until nothing changes any more. Pure: times are inputs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Maximum length of a burst, as a multiple of the quiet time.
const MAX_DELAY_FACTOR: u32 = 20;

/// The first thing that happened to a file since it was last reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It was created.
    Made,
    /// Anything else.
    Other,
}

/// Collects changes; see the module.
#[derive(Debug)]
pub(super) struct Debounce {
    quiet: Duration,
    gathered: BTreeMap<PathBuf, Change>,
    /// When the burst began, and the time of its last change.
    times: Option<(Duration, Duration)>,
}

impl Debounce {
    /// Collects changes until there were none for `quiet`.
    pub(super) fn new(quiet: Duration) -> Self {
        Self { quiet, gathered: BTreeMap::new(), times: None }
    }

    /// Adds a change.
    pub(super) fn push(&mut self, now: Duration, path: PathBuf, change: Change) {
        self.gathered.entry(path).or_insert(change);
        self.times = Some((self.times.map_or(now, |(first, _)| first), now));
    }

    /// When changes are to be reported.
    pub(super) fn due(&self) -> Option<Duration> {
        self.times.map(|(first, last)| (last + self.quiet).min(first + self.quiet * MAX_DELAY_FACTOR))
    }

    /// Returns the changes to report now.
    pub(super) fn take(&mut self, now: Duration) -> Vec<(PathBuf, Change)> {
        if self.due().is_none_or(|due| due > now) {
            return Vec::new();
        }
        self.times = None;
        std::mem::take(&mut self.gathered).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Duration = Duration::from_millis(200);

    fn at(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_burst_is_reported_once_it_is_over() {
        let mut changes = Debounce::new(QUIET);
        assert_eq!((changes.due(), changes.take(at(0))), (None, vec![]));
        changes.push(at(0), "b".into(), Change::Made);
        changes.push(at(150), "a".into(), Change::Other);
        changes.push(at(160), "b".into(), Change::Other);
        assert_eq!((changes.take(at(359)), changes.due()), (vec![], Some(at(360))));
        assert_eq!(changes.take(at(360)), [("a".into(), Change::Other), ("b".into(), Change::Made)]);
        assert_eq!((changes.due(), changes.take(at(999))), (None, vec![]));
    }

    #[test]
    fn what_never_rests_is_reported_all_the_same() {
        let mut changes = Debounce::new(QUIET);
        (0..50).for_each(|step| changes.push(at(step * 100), "a".into(), Change::Other));
        assert_eq!(changes.due(), Some(QUIET * MAX_DELAY_FACTOR));
    }
}
