//! Compares how long servers took to respond: per method and tool, as distributions.
//!
//! Two distributions differ if the Mann–Whitney U test finds that one tends to longer times (it assumes no shape of the
//! distributions, and outliers do not sway it), and if the medians differ enough to matter.

use super::recording::{Recording, Unit, UnitKind};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// With fewer times on one side, no difference is reported.
const MIN_TIMES: usize = 8;

/// The probability of seeing any difference where there is none, for all methods together.
const SIGNIFICANCE: f64 = 0.01;

/// Medians that differ by less than this fraction of the smaller one do not matter.
const MIN_RATIO: f64 = 0.1;

/// Medians that differ by less than this do not matter, in nanoseconds (100 µs).
const MIN_SHIFT: i64 = 100_000;

/// What the comparison of two distributions found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No difference, or none that matters.
    Same,
    /// B is slower.
    Slower,
    /// B is faster.
    Faster,
    /// There are too few times to say.
    TooFew,
}

impl Verdict {
    /// Returns the name in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::TooFew => "too_few",
        }
    }

    /// Returns whether it counts as a difference.
    pub(crate) fn is_difference(self) -> bool {
        matches!(self, Self::Slower | Self::Faster)
    }
}

/// The times of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    /// Their number.
    pub(crate) count: usize,
    /// The median, in nanoseconds.
    pub(crate) median: i64,
    /// The 95th percentile, in nanoseconds.
    pub(crate) p95: i64,
}

/// The times of one method, or of one tool.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Latency {
    /// The method, with the name of a tool.
    pub(crate) what: String,
    /// The times in A; `None` if it has none.
    pub(crate) left: Option<Times>,
    /// The times in B.
    pub(crate) right: Option<Times>,
    /// The probability of times that differ this much if nothing had changed.
    pub(crate) p: Option<f64>,
    /// What the comparison found.
    pub(crate) verdict: Verdict,
}

impl Latency {
    /// Returns it as JSON:
    /// `{"what":TEXT, "left":TIMES|null, "right":TIMES|null, "p":N|null, "verdict":"same|slower|faster|too_few"}`, with
    /// `TIMES` as `{"count":N, "median_ns":N, "p95_ns":N}`.
    pub(crate) fn to_json(&self) -> Value {
        let times =
            |times: Option<Times>| times.map(|it| json!({"count": it.count, "median_ns": it.median, "p95_ns": it.p95}));
        let p = self.p.map(|p| (p * 1e6).round() / 1e6);
        json!({
            "what": self.what, "left": times(self.left), "right": times(self.right), "p": p,
            "verdict": self.verdict.name(),
        })
    }
}

/// Compares the times of two recordings, by method and tool.
pub(crate) fn compare(left: &Recording, right: &Recording) -> Vec<Latency> {
    let mut all: BTreeMap<String, [Vec<i64>; 2]> = BTreeMap::new();
    for (side, recording) in [left, right].into_iter().enumerate() {
        for (what, time) in recording.units.iter().filter_map(timed) {
            all.entry(what).or_default()[side].push(time);
        }
    }
    // The more methods are tested, the likelier is one difference by chance (Bonferroni's correction).
    let tested = all.values().filter(|[left, right]| left.len().min(right.len()) >= MIN_TIMES).count();
    let significance = SIGNIFICANCE / tested.max(1) as f64;
    all.into_iter().map(|(what, sides)| judge(what, sides, significance)).collect()
}

fn timed(unit: &Unit) -> Option<(String, i64)> {
    let time = unit.latency().filter(|_| unit.kind == UnitKind::Request)?;
    let method = unit.method.as_deref()?;
    let tool = unit.subject.as_deref().filter(|_| method == "tools/call");
    Some((tool.map_or_else(|| method.to_owned(), |tool| format!("{method} {tool}")), time))
}

fn judge(what: String, [mut left, mut right]: [Vec<i64>; 2], significance: f64) -> Latency {
    left.sort_unstable();
    right.sort_unstable();
    let (one, other) = (times(&left), times(&right));
    let (Some(before), Some(after), true) = (one, other, left.len().min(right.len()) >= MIN_TIMES) else {
        return Latency { what, left: one, right: other, p: None, verdict: Verdict::TooFew };
    };
    let p = mann_whitney(&left, &right);
    let shift = after.median - before.median;
    let matters = shift.abs() >= MIN_SHIFT && shift.abs() as f64 >= MIN_RATIO * before.median.min(after.median) as f64;
    let verdict = match shift {
        _ if !matters || p >= significance => Verdict::Same,
        ..0 => Verdict::Faster,
        _ => Verdict::Slower,
    };
    Latency { what, left: one, right: other, p: Some(p), verdict }
}

fn times(sorted: &[i64]) -> Option<Times> {
    Some(Times { count: sorted.len(), median: quantile(sorted, 50)?, p95: quantile(sorted, 95)? })
}

/// Returns the value below or at which this percentage of all values is.
fn quantile(sorted: &[i64], percent: usize) -> Option<i64> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

/// Returns the two-sided p-value of the Mann–Whitney U test for two sorted samples, by the normal approximation with
/// corrections for ties and for continuity.
fn mann_whitney(left: &[i64], right: &[i64]) -> f64 {
    let (n, m) = (left.len() as f64, right.len() as f64);
    let total = n + m;
    let (mut rank_sum, mut ties) = (0.0, 0.0);
    let (mut at, mut other, mut before) = (0, 0, 0.0);
    while at < left.len() || other < right.len() {
        let next = left.get(at).into_iter().chain(right.get(other)).min().copied().unwrap_or_default();
        let equal = left[at..].iter().take_while(|time| **time == next).count();
        let equal_right = right[other..].iter().take_while(|time| **time == next).count();
        let tied = (equal + equal_right) as f64;
        rank_sum += equal as f64 * (before + (tied + 1.0) / 2.0);
        ties += tied.powi(3) - tied;
        before += tied;
        (at, other) = (at + equal, other + equal_right);
    }
    let u = rank_sum - n * (n + 1.0) / 2.0;
    let variance = n * m / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let z = ((u - n * m / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
    complementary_error(z / std::f64::consts::SQRT_2).min(1.0)
}

/// Returns the complementary error function, with a relative error below 1.2e-7 (Numerical Recipes, 2nd edition, §6.2).
fn complementary_error(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.5 * x.abs());
    let factors = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let polynomial = factors.iter().rev().fold(0.0, |sum, factor| factor + t * sum);
    let value = t * (-x * x + polynomial).exp();
    if x >= 0.0 { value } else { 2.0 - value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(left: &[i64], right: &[i64]) -> Latency {
        judge("m".to_owned(), [left.to_vec(), right.to_vec()], SIGNIFICANCE)
    }

    /// Milliseconds around a centre, always the same.
    fn around(centre: i64, count: i64) -> Vec<i64> {
        (0..count).map(|at| (centre * 1000 + at * 7919 % 301 - 150) * 1000).collect()
    }

    #[test]
    fn the_test_gives_the_p_values_of_the_literature() {
        // R: wilcox.test(1:10, 6:15, exact = FALSE)$p.value; wilcox.test(c(1,2,2,3), c(2,3,3,4), exact = FALSE)$p.value
        let (one, other): (Vec<i64>, Vec<i64>) = ((1..=10).collect(), (6..=15).collect());
        let p = mann_whitney(&one, &other);
        assert!((p - mann_whitney(&other, &one)).abs() < 1e-12);
        // U = 12.5, variance = 175 - ties (5 pairs): 10·10/12·(21 − 5·6/(20·19)); z = 37/√174.342 = 2.80219
        assert!((p - 0.005_075_8).abs() < 2e-6, "{p}");
        assert_eq!(mann_whitney(&[5, 5, 5], &[5, 5, 5]), 1.0);
        for (x, expected) in [(0.0, 1.0), (1.0, 0.157_299_2), (2.0, 0.004_677_73), (-1.0, 1.842_700_8)] {
            assert!((complementary_error(x) - expected).abs() < 1e-6, "{x}");
        }
    }

    #[test]
    fn only_a_shift_that_is_certain_and_matters_is_a_difference() {
        assert_eq!(judged(&around(10, 50), &around(10, 50)).verdict, Verdict::Same);
        assert_eq!(judged(&around(10, 50), &around(15, 50)).verdict, Verdict::Slower);
        assert_eq!(judged(&around(15, 50), &around(10, 50)).verdict, Verdict::Faster);
        assert_eq!(judged(&around(100, 500), &around(105, 500)).verdict, Verdict::Same, "only 5 %");
        assert_eq!(judged(&around(10, 7), &around(15, 50)).verdict, Verdict::TooFew);
        assert_eq!(judged(&[], &around(15, 50)).left, None);
        let tiny = |shift: i64| (0..100).map(|at| 1000 + shift + at).collect::<Vec<_>>();
        assert_eq!(judged(&tiny(0), &tiny(90_000)).verdict, Verdict::Same, "less than 100 µs");
    }

    #[test]
    fn one_outlier_changes_nothing() {
        let mut outlier = around(10, 50);
        outlier[0] = 60_000_000_000;
        assert_eq!(judged(&around(10, 50), &outlier).verdict, Verdict::Same);
    }

    #[test]
    fn quantiles_are_values_that_occurred() {
        let times: Vec<i64> = (1..=20).collect();
        assert_eq!((quantile(&times, 50), quantile(&times, 95), quantile(&[], 50)), (Some(10), Some(19), None));
        assert_eq!((quantile(&[7], 50), quantile(&[7], 95)), (Some(7), Some(7)));
    }
}
