//! Latencies in constant memory: the first ones exactly, many as a histogram.

use hdrhistogram::Histogram;

/// Up to this many values are kept exactly.
const MAX_EXACT: usize = 256;
/// The number of significant decimal digits of a histogram's values: it is at most 1 % off.
const DIGITS: u8 = 2;
/// The histogram counts in microseconds.
const NANOS_PER_UNIT: i64 = 1000;

/// A distribution of latencies, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latencies {
    /// All values, until there are too many.
    exact: Vec<i64>,
    /// All values from then on.
    many: Option<Box<Histogram<u32>>>,
    count: u64,
    sum: i64,
    max: Option<i64>,
}

impl Latencies {
    /// Adds a latency.
    pub(crate) fn add(&mut self, nanoseconds: i64) {
        self.note(1, nanoseconds, nanoseconds);
        self.place(nanoseconds, 1);
    }

    /// Adds all of another distribution.
    pub(crate) fn merge(&mut self, other: &Self) {
        if let Some(max) = other.max {
            self.note(other.count, other.sum, max);
        }
        other.each(|value, count| self.place(value, count));
    }

    fn note(&mut self, count: u64, sum: i64, max: i64) {
        self.count += count;
        self.sum = self.sum.saturating_add(sum);
        self.max = Some(self.max.map_or(max, |known| known.max(max)));
    }

    fn place(&mut self, nanoseconds: i64, count: u64) {
        if self.many.is_none() {
            if count == 1 && self.exact.len() < MAX_EXACT {
                return self.exact.push(nanoseconds);
            }
            // Only more than five digits would be refused.
            self.many = Histogram::new(DIGITS).ok().map(Box::new);
            let exact = std::mem::take(&mut self.exact);
            exact.into_iter().for_each(|value| self.record(value, 1));
        }
        self.record(nanoseconds, count);
    }

    fn record(&mut self, nanoseconds: i64, count: u64) {
        if let Some(many) = &mut self.many {
            // It grows as needed; all values of 63 bits fit.
            let _ = many.record_n(unit(nanoseconds), u32::try_from(count).unwrap_or(u32::MAX));
        }
    }

    /// The number of latencies.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The arithmetic mean.
    pub(crate) fn mean(&self) -> Option<i64> {
        self.sum.checked_div(i64::try_from(self.count).ok()?)
    }

    /// The longest one.
    pub(crate) fn max(&self) -> Option<i64> {
        self.max
    }

    /// The one in the middle, or the mean of the two in the middle.
    pub(crate) fn median(&self) -> Option<i64> {
        if self.many.is_some() {
            return self.percentile(50.0);
        }
        let sorted = self.sorted();
        let upper = sorted.get(sorted.len() / 2).copied()?;
        let lower = sorted[(sorted.len() - 1) / 2];
        Some(lower + (upper - lower) / 2)
    }

    /// The shortest latency that at least `percent` of all do not exceed.
    pub(crate) fn percentile(&self, percent: f64) -> Option<i64> {
        let max = self.max?;
        if let Some(many) = &self.many {
            return Some(nanoseconds(many.value_at_percentile(percent)).min(max));
        }
        let sorted = self.sorted();
        let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied()
    }

    /// Passes on each value with the number of its occurrences.
    pub(crate) fn each(&self, mut take: impl FnMut(i64, u64)) {
        self.exact.iter().for_each(|value| take(*value, 1));
        for found in self.many.iter().flat_map(|many| many.iter_recorded()) {
            take(nanoseconds(found.value_iterated_to()), found.count_at_value().into());
        }
    }

    fn sorted(&self) -> Vec<i64> {
        let mut sorted = self.exact.clone();
        sorted.sort_unstable();
        sorted
    }
}

fn unit(nanoseconds: i64) -> u64 {
    u64::try_from(nanoseconds / NANOS_PER_UNIT).unwrap_or(0)
}

fn nanoseconds(unit: u64) -> i64 {
    i64::try_from(unit).unwrap_or(i64::MAX).saturating_mul(NANOS_PER_UNIT)
}

/// The number of latencies from one bound to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bin {
    /// The lower bound in nanoseconds, which belongs to the bin.
    pub from: i64,
    /// The upper bound, which does not.
    pub to: i64,
    /// How many there are.
    pub count: u64,
}

/// Returns the bins of distributions, all the same: from the shortest to the longest of all, in steps of 1, 2, 5, 10, …
pub(crate) fn bins(all: &[&Latencies]) -> Vec<Vec<Bin>> {
    let bounds = bounds();
    let place = |value: i64| bounds.partition_point(|bound| *bound <= value).clamp(1, bounds.len() - 1) - 1;
    let (mut first, mut last) = (usize::MAX, 0);
    for latencies in all {
        latencies.each(|value, _| (first, last) = (first.min(place(value)), last.max(place(value))));
    }
    let bins_of = |latencies: &&Latencies| {
        let range = first..(last + 1).max(first);
        let mut bins: Vec<Bin> = range.map(|at| Bin { from: bounds[at], to: bounds[at + 1], count: 0 }).collect();
        latencies.each(|value, count| bins[place(value) - first].count += count);
        bins
    };
    all.iter().map(bins_of).collect()
}

/// 0, 1 µs, 2 µs, 5 µs, … up to ten hours or so, and the end of time.
fn bounds() -> Vec<i64> {
    let steps = (0..11).flat_map(|power| [1, 2, 5].map(|step| step * 1000 * 10i64.pow(power)));
    std::iter::once(0).chain(steps).chain([i64::MAX]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = i64>) -> Latencies {
        let mut latencies = Latencies::default();
        values.into_iter().for_each(|value| latencies.add(value));
        latencies
    }

    #[test]
    fn few_latencies_are_exact() {
        let four = of([40, 10, 30, 20]);
        assert_eq!((four.median(), four.percentile(75.0), four.percentile(99.0)), (Some(25), Some(30), Some(40)));
        assert_eq!((four.mean(), four.max(), four.count()), (Some(25), Some(40), 4));
        let none = of([]);
        assert_eq!((none.median(), none.percentile(50.0), none.mean(), none.max()), (None, None, None, None));
        assert_eq!(of([-5]).percentile(99.0), Some(-5), "a clock that was set back");
    }

    #[test]
    fn many_latencies_are_at_most_one_percent_off() {
        let many = of((1..=100_000).map(|number| number * 10_000));
        for (percent, expected) in [(50.0, 500_000_000f64), (90.0, 900_000_000.0), (99.0, 990_000_000.0)] {
            let found = many.percentile(percent).expect("there are some") as f64;
            assert!((found / expected - 1.0).abs() < 0.01, "{percent}: {found}");
        }
        assert_eq!((many.max(), many.percentile(100.0)), (Some(1_000_000_000), Some(1_000_000_000)));
        assert!(many.exact.is_empty());
    }

    #[test]
    fn merging_is_the_same_as_adding_all() {
        let (mut low, high) = (of((0..200).map(|number| number * 1000)), of((200..400).map(|number| number * 1000)));
        low.merge(&high);
        let all = of((0..400).map(|number| number * 1000));
        assert_eq!((low.count(), low.mean(), low.max()), (400, all.mean(), all.max()));
        assert_eq!([10.0, 50.0, 99.0].map(|at| low.percentile(at)), [10.0, 50.0, 99.0].map(|at| all.percentile(at)));
    }

    #[test]
    fn bins_of_several_have_the_same_bounds() {
        let (short, long) = (of([1_500, 1_999, 2_000]), of([40_000]));
        let bins = bins(&[&short, &long]);
        let counts = |bins: &[Bin]| bins.iter().map(|bin| bin.count).collect::<Vec<_>>();
        assert_eq!((bins[0][0].from, bins[0][0].to, bins[0].last().map(|bin| bin.to)), (1000, 2000, Some(50_000)));
        assert_eq!((counts(&bins[0]), counts(&bins[1])), (vec![2, 1, 0, 0, 0], vec![0, 0, 0, 0, 1]));
        assert_eq!(super::bins(&[&of([])]), [vec![]]);
        assert_eq!(super::bins(&[&of([i64::MAX, -1])])[0].iter().map(|bin| bin.count).sum::<u64>(), 2);
    }
}
