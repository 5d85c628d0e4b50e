//! Aligns two sequences of tokens by content and position: finds an edit script of least cost without looking at every
//! pair.
//!
//! Equal tokens match for free. A token may be substituted by another at a price that the caller sets; removing or
//! adding one costs [`SKIP`]. First, common ends are removed. The rest is solved exactly, using furthest-reaching
//! points on diagonals (Ukkonen 1985), as long as the script costs at most [`BUDGET`]. A costlier stretch is split at
//! tokens that occur once on each side (patience anchors), or at runs of tokens if most of the stretch differs. If
//! there are none, the furthest-reaching script so far is used, and the search restarts near its end.
//!
//! Time grows with the length, and with the differences times [`BUDGET`]; memory grows with the length and the square
//! of [`BUDGET`].
//! [`BUDGET`].

use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::ops::Range;

/// The cost of leaving a token without a partner.
pub(super) const SKIP: usize = 4;

/// The maximum cost of a substitution, less than two skips. Two substitutions that cost at least [`SKIP`] are not
/// cheaper than a match with two skips, so `a b` and `b a` have something in common.
pub(super) const MAX_SUBSTITUTION: u8 = 7;

/// Stretches are solved exactly up to this cost.
const BUDGET: usize = 1200;

/// The lengths of anchors, in tokens, if no single token is an anchor and most tokens differ.
const LONG_ANCHORS: [usize; 2] = [16, 4];

/// Differences are few if a script covers at least this number of tokens per unit of cost.
const SPARSE: usize = 2;

/// Returns the price of substituting `left[i]` by `right[j]`, from 1 to [`MAX_SUBSTITUTION`]; `None` if the two have
/// too little in common.
pub(super) trait Substitution {
    /// Returns the price for these places.
    fn price(&mut self, left: usize, right: usize) -> Option<u8>;
}

impl<F: FnMut(usize, usize) -> Option<u8>> Substitution for F {
    fn price(&mut self, left: usize, right: usize) -> Option<u8> {
        self(left, right)
    }
}

/// Returns the partners (equal tokens and substitutions) as pairs of places that ascend on both sides. Swapping the
/// sides swaps the pairs.
pub(super) fn align(left: &[u64], right: &[u64], substitution: &mut dyn Substitution) -> Vec<(usize, usize)> {
    // Ties between scripts are resolved by side, so put the sides into a fixed order.
    if left <= right {
        return Aligner { left, right, substitution, pairs: Vec::new() }.run();
    }
    let mut swapped = |one, other| substitution.price(other, one);
    let pairs = Aligner { left: right, right: left, substitution: &mut swapped, pairs: Vec::new() }.run();
    pairs.into_iter().map(|(one, other)| (other, one)).collect()
}

type Stretch = (Range<usize>, Range<usize>);

struct Aligner<'a> {
    left: &'a [u64],
    right: &'a [u64],
    substitution: &'a mut dyn Substitution,
    pairs: Vec<(usize, usize)>,
}

impl Aligner<'_> {
    fn run(mut self) -> Vec<(usize, usize)> {
        let mut open = vec![(0..self.left.len(), 0..self.right.len())];
        while let Some(stretch) = open.pop() {
            let (left, right) = self.set_ends_aside(stretch);
            if left.is_empty() || right.is_empty() {
                continue;
            }
            let mut search = Search::new(&left, &right);
            if search.run(&self.left[left.clone()], &self.right[right.clone()], self.substitution) {
                self.pairs.extend(search.script());
                continue;
            }
            let mut anchors = self.anchors(&left, &right, 1);
            let is_sparse = search.end().0 + search.end().1 > SPARSE * BUDGET;
            let longer = LONG_ANCHORS.into_iter().filter(|_| !is_sparse);
            for length in longer {
                if anchors.is_empty() {
                    anchors = self.anchors(&left, &right, length);
                }
            }
            if anchors.is_empty() {
                // Near the end of the budget, it is unknown which script will be cheapest later.
                search.go_back(BUDGET - BUDGET / 4);
                self.pairs.extend(search.script());
                let (at, other) = search.end();
                open.push((left.start + at..left.end, right.start + other..right.end));
                continue;
            }
            let mut from = (left.start, right.start);
            for (at, other) in anchors {
                open.push((from.0..at, from.1..other));
                from = (at, other);
            }
            open.push((from.0..left.end, from.1..right.end));
        }
        self.pairs.sort_unstable();
        self.pairs
    }

    /// Pairs the common tokens at both ends of a stretch. Returns the rest.
    fn set_ends_aside(&mut self, (mut left, mut right): Stretch) -> Stretch {
        while !left.is_empty() && !right.is_empty() && self.left[left.start] == self.right[right.start] {
            self.pairs.push((left.start, right.start));
            left.start += 1;
            right.start += 1;
        }
        while !left.is_empty() && !right.is_empty() && self.left[left.end - 1] == self.right[right.end - 1] {
            left.end -= 1;
            right.end -= 1;
            self.pairs.push((left.end, right.end));
        }
        (left, right)
    }

    /// Returns places where both sides have the same run of `length` tokens, which occurs once on each side, in
    /// ascending order.
    fn anchors(&self, left: &Range<usize>, right: &Range<usize>, length: usize) -> Vec<(usize, usize)> {
        let once = |tokens: &[u64], start: usize| places_of_unique(tokens, start, length);
        let on_right = once(&self.right[right.clone()], right.start);
        let on_left = once(&self.left[left.clone()], left.start);
        let mut pairs: Vec<_> = on_left.iter().filter_map(|(run, at)| Some(((*at)?, (*on_right.get(run)?)?))).collect();
        pairs.sort_unstable();
        ascending(&pairs)
    }
}

/// Returns the place of each run of `length` tokens; `None` for runs that occur several times.
fn places_of_unique(tokens: &[u64], start: usize, length: usize) -> HashMap<u64, Option<usize>, RandomState> {
    // Use a fixed state: the order of the table must not matter, and collisions give a peer no advantage.
    let hasher = foldhash::fast::FixedState::default();
    let mut places = HashMap::with_capacity_and_hasher(tokens.len(), RandomState::default());
    for (at, run) in tokens.windows(length).enumerate() {
        let key = if let [token] = run { *token } else { hasher.hash_one(run) };
        places.entry(key).and_modify(|place| *place = None).or_insert(Some(start + at));
    }
    places
}

/// Returns a longest part of `pairs` (which ascend on the left) that ascends on the right, too.
pub(super) fn ascending<T: Copy + Ord>(pairs: &[(T, usize)]) -> Vec<(T, usize)> {
    let mut tails: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (place, pair) in pairs.iter().enumerate() {
        let at = tails.partition_point(|tail| pairs[*tail].1 < pair.1);
        before.push(at.checked_sub(1).map(|at| tails[at]));
        if at == tails.len() { tails.push(place) } else { tails[at] = place }
    }
    let mut found = Vec::with_capacity(tails.len());
    let mut next = tails.last().copied();
    while let Some(place) = next {
        found.push(pairs[place]);
        next = before[place];
    }
    found.reverse();
    found
}

/// A point on a diagonal, and the price of substituting the tokens after it.
#[derive(Clone, Copy, Debug, Default)]
struct Point {
    /// The number of tokens on the left before it, plus one; 0 if no script of this cost reaches the diagonal.
    reach: u32,
    /// The price of the substitution here; 0 if there is none.
    price: u8,
}

/// The furthest points by cost and diagonal. In the row of cost `c`, the element at place `p` is diagonal `p - c /
/// SKIP`, which stands for right minus left.
struct Search {
    left: Range<usize>,
    right: Range<usize>,
    costs: Vec<Vec<Point>>,
    /// The end of the script: its cost and diagonal.
    last: (usize, isize),
}

/// The last step of a script to a point.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The script already exists at a lower cost.
    Cheaper,
    Substitute,
    SkipRight,
    SkipLeft,
}

impl Search {
    fn new(left: &Range<usize>, right: &Range<usize>) -> Self {
        Self { left: left.clone(), right: right.clone(), costs: Vec::new(), last: (0, 0) }
    }

    /// Searches until a script covers both sides or the budget is used up. Returns whether a script was found.
    fn run(&mut self, left: &[u64], right: &[u64], substitution: &mut dyn Substitution) -> bool {
        let goal = right.len() as isize - left.len() as isize;
        for cost in 0..=BUDGET {
            let half = (cost / SKIP) as isize;
            let mut row = vec![Point::default(); 2 * half as usize + 1];
            for diagonal in -half..=half {
                let Some((at, _)) = self.step(cost, diagonal) else { continue };
                let other = at.saturating_add_signed(diagonal);
                let same = left[at..].iter().zip(&right[other..]).take_while(|(one, other)| one == other).count();
                let (at, other) = (at + same, other + same);
                let carried = self.point(cost.wrapping_sub(1), diagonal).filter(|known| known.reach as usize == at + 1);
                let price = match carried {
                    Some(known) => known.price,
                    None if at < left.len() && other < right.len() => {
                        substitution.price(self.left.start + at, self.right.start + other).unwrap_or(0)
                    }
                    None => 0,
                };
                row[(diagonal + half) as usize] = Point { reach: at as u32 + 1, price };
                if diagonal == goal && at == left.len() {
                    self.costs.push(row);
                    self.last = (cost, diagonal);
                    return true;
                }
            }
            self.costs.push(row);
        }
        self.last = self.furthest();
        false
    }

    fn point(&self, cost: usize, diagonal: isize) -> Option<Point> {
        let place = diagonal + (cost / SKIP) as isize;
        let point = *self.costs.get(cost)?.get(usize::try_from(place).ok()?)?;
        (point.reach > 0).then_some(point)
    }

    /// Returns the best way to a diagonal at a cost: how far it reaches on the left before equal tokens follow, and its
    /// last step.
    fn step(&self, cost: usize, diagonal: isize) -> Option<(usize, Step)> {
        if cost == 0 {
            return (diagonal == 0).then_some((0, Step::Cheaper));
        }
        let mut best: Option<(usize, Step)> = None;
        let mut offer = |at: usize, step: Step| {
            let is_inside =
                at <= self.left.len() && at.checked_add_signed(diagonal).is_some_and(|other| other <= self.right.len());
            if is_inside && best.is_none_or(|(known, _)| known < at) {
                best = Some((at, step));
            }
        };
        if let Some(point) = self.point(cost - 1, diagonal) {
            offer(point.reach as usize - 1, Step::Cheaper);
        }
        for price in 1..=MAX_SUBSTITUTION {
            let from = cost.checked_sub(usize::from(price)).and_then(|cost| self.point(cost, diagonal));
            if let Some(point) = from.filter(|point| point.price == price) {
                offer(point.reach as usize, Step::Substitute);
            }
        }
        if let Some(before) = cost.checked_sub(SKIP) {
            if let Some(point) = self.point(before, diagonal - 1) {
                offer(point.reach as usize - 1, Step::SkipRight);
            }
            if let Some(point) = self.point(before, diagonal + 1) {
                offer(point.reach as usize, Step::SkipLeft);
            }
        }
        best
    }

    /// Returns the point of the highest cost with the most tokens before it.
    fn furthest(&self) -> (usize, isize) {
        let cost = self.costs.len() - 1;
        let half = (cost / SKIP) as isize;
        let behind = |diagonal: &isize| {
            self.point(cost, *diagonal).map(|point| 2 * (i64::from(point.reach) - 1) + *diagonal as i64)
        };
        (cost, (-half..=half).max_by_key(behind).unwrap_or(0))
    }

    /// Shortens the script to one that costs at most `cost`.
    fn go_back(&mut self, cost: usize) {
        while let Some(before) = self.before(self.last).filter(|_| self.last.0 > cost) {
            self.last = before;
        }
    }

    /// Returns the cost and the diagonal before the last step to a point.
    fn before(&self, (cost, diagonal): (usize, isize)) -> Option<(usize, isize)> {
        let (from, step) = self.step(cost, diagonal).filter(|_| cost > 0)?;
        Some(match step {
            Step::Cheaper => (cost - 1, diagonal),
            Step::Substitute => {
                let price = (1..=MAX_SUBSTITUTION).find(|price| {
                    let before = cost.checked_sub(usize::from(*price));
                    let point = before.and_then(|cost| self.point(cost, diagonal));
                    point.is_some_and(|point| point.price == *price && point.reach as usize == from)
                });
                (cost - usize::from(price.unwrap_or(1)), diagonal)
            }
            Step::SkipRight => (cost - SKIP, diagonal - 1),
            Step::SkipLeft => (cost - SKIP, diagonal + 1),
        })
    }

    /// Returns how many tokens on each side the script covers.
    fn end(&self) -> (usize, usize) {
        let (cost, diagonal) = self.last;
        let at = self.point(cost, diagonal).map_or(0, |point| point.reach as usize - 1);
        (at, at.saturating_add_signed(diagonal))
    }

    /// Returns the pairs of the script, from its end to its beginning.
    fn script(&self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        let mut here = self.last;
        let mut at = self.end().0;
        while let Some((from, step)) = self.step(here.0, here.1) {
            let from = if step == Step::Substitute { from - 1 } else { from };
            let pair = |at: usize| (self.left.start + at, self.right.start + at.saturating_add_signed(here.1));
            pairs.extend((from..at).rev().map(pair));
            let Some(before) = self.before(here) else { break };
            at = if step == Step::SkipLeft { from - 1 } else { from };
            here = before;
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Tokens of the same decade can be substituted by each other.
    fn kin(left: &[u64], right: &[u64]) -> Vec<(usize, usize)> {
        align(left, right, &mut |at: usize, other: usize| (left[at] / 10 == right[other] / 10).then_some(6))
    }

    /// Returns the cost of a script.
    fn cost(left: &[u64], right: &[u64], pairs: &[(usize, usize)]) -> usize {
        let substituted = pairs.iter().filter(|(at, other)| left[*at] != right[*other]).count();
        6 * substituted + SKIP * (left.len() + right.len() - 2 * pairs.len())
    }

    /// Returns the least cost, by looking at every pair.
    fn least(left: &[u64], right: &[u64]) -> usize {
        let mut above: Vec<usize> = (0..=right.len()).map(|skipped| SKIP * skipped).collect();
        for (at, one) in left.iter().enumerate() {
            let mut row = vec![SKIP * (at + 1)];
            for (place, other) in right.iter().enumerate() {
                let pair = match (one == other, one / 10 == other / 10) {
                    (true, _) => above[place],
                    (false, true) => above[place] + 6,
                    _ => usize::MAX,
                };
                row.push(pair.min(above[place + 1] + SKIP).min(row[place] + SKIP));
            }
            above = row;
        }
        above[right.len()]
    }

    #[test]
    fn a_changed_one_among_many_alike_stays_in_its_place() {
        let left = [7; 20];
        let mut right = left;
        right[3] = 8;
        assert_eq!(kin(&left, &right), (0..20).map(|at| (at, at)).collect::<Vec<_>>());
    }

    #[test]
    fn what_has_nothing_in_common_is_removed_and_added() {
        assert_eq!(kin(&[1, 2, 30, 4], &[1, 2, 50, 4]), [(0, 0), (1, 1), (3, 3)]);
    }

    #[test]
    fn a_long_block_that_only_one_side_has_is_passed_over() {
        let left: Vec<u64> = (0..3000).map(|n| n % 40).collect();
        let mut right = left.clone();
        right.splice(1000..1000, (0..5000).map(|n| 100 + n % 7));
        let pairs = kin(&left, &right);
        assert_eq!(pairs.len(), left.len());
        assert_eq!((pairs[999], pairs[1000]), ((999, 999), (1000, 6000)));
    }

    #[test]
    fn all_of_two_long_sequences_may_differ() {
        let (left, right): (Vec<u64>, Vec<u64>) = ((0..900).map(|_| 1).collect(), (0..600).map(|_| 2).collect());
        assert_eq!(kin(&left, &right).len(), 600);
        let strangers: Vec<u64> = (0..600).map(|_| 50).collect();
        assert_eq!(kin(&left, &strangers), []);
    }

    proptest! {
        #[test]
        fn scripts_ascend_and_cost_least(
            left in prop::collection::vec(0..40u64, 0..60),
            right in prop::collection::vec(0..40u64, 0..60),
        ) {
            let pairs = kin(&left, &right);
            prop_assert!(pairs.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
            prop_assert!(pairs.iter().all(|(at, other)| left[*at] / 10 == right[*other] / 10));
            prop_assert_eq!(cost(&left, &right, &pairs), least(&left, &right));
        }

        #[test]
        fn swapping_the_sides_swaps_the_pairs(
            left in prop::collection::vec(0..15u64, 0..40),
            right in prop::collection::vec(0..15u64, 0..40),
        ) {
            let back = kin(&right, &left).into_iter().map(|(at, other)| (other, at)).collect::<Vec<_>>();
            prop_assert_eq!(kin(&left, &right), back);
        }
    }
}
