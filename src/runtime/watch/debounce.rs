//! Changes that come in bursts, gathered until it is quiet. Pure: times come in.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// How many quiet times a burst may last until what has come by then is told.
const LONGEST: u32 = 20;

/// What happened to a file first since it was last told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was made.
    Made,
    /// Anything else.
    Other,
}

/// See the module.
#[derive(Debug)]
pub struct Debounce {
    quiet: Duration,
    gathered: BTreeMap<PathBuf, Change>,
    /// When the burst began, and when its last change came.
    times: Option<(Duration, Duration)>,
}

impl Debounce {
    /// Gathers until nothing has changed for so long.
    pub fn new(quiet: Duration) -> Self {
        Self { quiet, gathered: BTreeMap::new(), times: None }
    }

    /// Takes a change.
    pub fn push(&mut self, now: Duration, path: PathBuf, change: Change) {
        self.gathered.entry(path).or_insert(change);
        self.times = Some((self.times.map_or(now, |(first, _)| first), now));
    }

    /// When there is something to tell.
    pub fn due(&self) -> Option<Duration> {
        self.times.map(|(first, last)| (last + self.quiet).min(first + self.quiet * LONGEST))
    }

    /// What is to be told now.
    pub fn take(&mut self, now: Duration) -> Vec<(PathBuf, Change)> {
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
        assert_eq!(changes.due(), Some(QUIET * LONGEST));
    }
}
