//! How many messages there were over time, in constant memory.

/// At most this many steps; when there are more, two become one.
const MAX_STEPS: usize = 32;
/// The length of the first steps, in nanoseconds.
const FIRST_STEP_NANOS: i64 = 1_000_000;

/// Counts of messages in equal steps of time.
#[derive(Clone, Debug)]
pub(crate) struct Activity {
    start: Option<i64>,
    /// The length of a step in nanoseconds.
    step: i64,
    counts: Vec<u64>,
}

impl Default for Activity {
    fn default() -> Self {
        Self { start: None, step: FIRST_STEP_NANOS, counts: Vec::new() }
    }
}

impl Activity {
    /// Counts a message at this time, in nanoseconds. What comes before the first one counts as that.
    pub(crate) fn add(&mut self, time: i64) {
        let start = *self.start.get_or_insert(time);
        let since = time.saturating_sub(start).max(0);
        while since / self.step >= MAX_STEPS as i64 {
            self.step = self.step.saturating_mul(2);
            self.counts = self.counts.chunks(2).map(|pair| pair.iter().sum()).collect();
        }
        let place = usize::try_from(since / self.step).unwrap_or(0);
        if self.counts.len() <= place {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += 1;
    }

    /// The length of a step, in nanoseconds.
    pub(crate) fn step(&self) -> i64 {
        self.step
    }

    /// The number of messages in each step.
    pub(crate) fn counts(&self) -> &[u64] {
        &self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_grow_and_no_message_is_lost() {
        let mut activity = Activity::default();
        (0..10).for_each(|at| activity.add(5_000_000 + at * 500_000));
        assert_eq!((activity.step(), activity.counts()), (1_000_000, &[2u64, 2, 2, 2, 2][..]));
        activity.add(5_000_000 + 63_000_000);
        assert_eq!((activity.step(), activity.counts().len()), (2_000_000, 32));
        assert_eq!((&activity.counts()[..4], activity.counts()[31]), (&[4, 4, 2, 0][..], 1));
        activity.add(0);
        activity.add(i64::MAX);
        assert!(activity.counts().len() <= MAX_STEPS);
        assert_eq!(activity.counts().iter().sum::<u64>(), 13);
    }
}
