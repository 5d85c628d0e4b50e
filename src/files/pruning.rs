//! Decides which reels to remove so that the others stay within limits.

use std::time::{Duration, SystemTime};

/// The limits that the remaining reels must not exceed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The maximum time since a reel was last written.
    pub age: Option<Duration>,
    /// The maximum number of reels.
    pub count: Option<u64>,
    /// The maximum size of all reels together, in bytes.
    pub bytes: Option<u64>,
}

impl Limits {
    /// Whether there is no limit.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What is known of a reel's file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReelFile {
    /// When it was last written.
    pub modified: SystemTime,
    /// Its size in bytes.
    pub bytes: u64,
    /// Whether it is being written. Such a reel counts, but is never removed.
    pub is_live: bool,
}

/// The limit that a reel exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exceeded {
    /// The reel is too old.
    Age,
    /// There are too many newer reels.
    Count,
    /// The newer reels, with this one, are too large.
    Size,
}

impl Exceeded {
    /// The option that sets the limit.
    pub(crate) fn option(self) -> &'static str {
        match self {
            Self::Age => "--older-than",
            Self::Count => "--keep",
            Self::Size => "--max-size",
        }
    }
}

/// Returns for each reel which limit it exceeds, if any. The limits apply in this order: age, count, size. Of the reels
/// that a limit leaves, the next one keeps the newest.
pub(crate) fn plan(reels: &[ReelFile], limits: &Limits, now: SystemTime) -> Vec<Option<Exceeded>> {
    let mut order: Vec<usize> = (0..reels.len()).collect();
    // Live reels first: they stay in any case, and take the place of older ones.
    order.sort_by_key(|at| (!reels[*at].is_live, std::cmp::Reverse(reels[*at].modified)));
    let mut exceeded = vec![None; reels.len()];
    let (mut count, mut bytes) = (0u64, 0u64);
    for at in order {
        let reel = &reels[at];
        let age = now.duration_since(reel.modified).unwrap_or_default();
        let sum = bytes.saturating_add(reel.bytes);
        exceeded[at] = match limits {
            _ if reel.is_live => None,
            Limits { age: Some(most), .. } if age > *most => Some(Exceeded::Age),
            Limits { count: Some(most), .. } if count >= *most => Some(Exceeded::Count),
            Limits { bytes: Some(most), .. } if sum > *most => {
                // Nothing older stays, either: what stays is always the newest.
                bytes = u64::MAX;
                Some(Exceeded::Size)
            }
            _ => None,
        };
        match exceeded[at] {
            None => (count, bytes) = (count + 1, sum),
            Some(Exceeded::Size) => count += 1,
            Some(_) => {}
        }
    }
    exceeded
}

#[cfg(test)]
mod tests {
    use super::Exceeded::{Age, Count, Size};
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    /// Reels of these sizes, each a day older than the one before; some are live.
    fn planned(reels: &[(u64, bool)], limits: Limits) -> Vec<Option<Exceeded>> {
        let now = SystemTime::UNIX_EPOCH + 1000 * DAY;
        let reel = |(age, &(bytes, is_live)): (usize, &(u64, bool))| ReelFile {
            modified: now - DAY * u32::try_from(age).expect("few"),
            bytes,
            is_live,
        };
        plan(&reels.iter().enumerate().map(reel).collect::<Vec<_>>(), &limits, now)
    }

    fn same(bytes: u64, count: usize) -> Vec<(u64, bool)> {
        vec![(bytes, false); count]
    }

    #[test]
    fn each_limit_keeps_the_newest() {
        let age = Limits { age: Some(DAY), ..Limits::default() };
        assert_eq!(planned(&same(1, 4), age), [None, None, Some(Age), Some(Age)]);
        let count = Limits { count: Some(1), ..Limits::default() };
        assert_eq!(planned(&same(1, 3), count), [None, Some(Count), Some(Count)]);
        let bytes = Limits { bytes: Some(25), ..Limits::default() };
        assert_eq!(planned(&same(10, 4), bytes), [None, None, Some(Size), Some(Size)]);
        // A small old reel does not survive a larger newer one.
        assert_eq!(planned(&[(10, false), (20, false), (1, false)], bytes), [None, Some(Size), Some(Size)]);
        assert_eq!(planned(&same(10, 2), Limits::default()), [None, None]);
        assert_eq!(planned(&same(10, 1), Limits { count: Some(0), ..Limits::default() }), [Some(Count)]);
    }

    #[test]
    fn the_limits_apply_in_their_order() {
        let limits = Limits { age: Some(3 * DAY), count: Some(3), bytes: Some(20) };
        assert_eq!(planned(&same(10, 6), limits), [None, None, Some(Size), Some(Count), Some(Age), Some(Age)]);
        assert_eq!(planned(&same(10, 6), Limits { count: Some(2), ..limits })[2..4], [Some(Count), Some(Count)]);
    }

    #[test]
    fn a_live_reel_counts_and_stays() {
        let reels = [(10, false), (10, false), (90, true)];
        let count = Limits { count: Some(2), ..Limits::default() };
        assert_eq!(planned(&reels, count), [None, Some(Count), None]);
        let bytes = Limits { bytes: Some(50), ..Limits::default() };
        assert_eq!(planned(&reels, bytes), [Some(Size), Some(Size), None]);
        let age = Limits { age: Some(Duration::ZERO), ..Limits::default() };
        assert_eq!(planned(&reels, age), [None, Some(Age), None]);
    }
}
