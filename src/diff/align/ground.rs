//! Where a unit without a partner would be on the other side, and what it moved past.

use super::{Alignment, HashMap, Reel};

/// The number of units before and after a unit that are checked for concurrency.
pub(super) const NEAR: usize = 64;

/// The place that each unit would have on the other side.
pub(super) struct Ground {
    /// For each unit on the left, the partner of the last unit before it in its stream that has one.
    on_right: Vec<usize>,
    /// The same for the units on the right.
    on_left: Vec<usize>,
}

impl Ground {
    pub(super) fn of(it: &Alignment<'_>) -> Self {
        let follow = |reel: &Reel<'_>| {
            let (mut last, mut last_of) = (0, HashMap::default());
            let places = reel.units.iter().zip(&reel.partner);
            places
                .map(|(unit, partner)| {
                    last = partner.unwrap_or(last);
                    let last_of_stream = last_of.entry(unit.stream).or_insert(last);
                    *last_of_stream = partner.unwrap_or(*last_of_stream);
                    *last_of_stream
                })
                .collect()
        };
        Self { on_right: follow(&it.left), on_left: follow(&it.right) }
    }

    /// Returns how far a unit on the left would have moved to be the one on the right.
    fn distance(&self, left: usize, right: usize) -> usize {
        self.on_left[right].abs_diff(left) + self.on_right[left].abs_diff(right)
    }

    /// Returns whether two units of the same stream may be partners: if on one side the unit was concurrent with
    /// everything in its stream between the two places, or if at most `short` units are between them.
    pub(super) fn may_swap(&self, it: &Alignment<'_>, left: usize, right: usize, short: usize) -> bool {
        let passes = |reel: &Reel<'_>, place: usize, goal: usize| {
            // The goal is the unit after which it would come.
            let passed = if goal < place { goal + 1..place } else { place + 1..goal + 1 };
            if passed.len() > NEAR {
                return false;
            }
            let stream = reel.units[place].stream;
            let mut passed = passed.filter(|between| reel.units[*between].stream == stream);
            passed.clone().nth(short).is_none() || passed.all(|between| reel.is_concurrent(place, between))
        };
        it.streams.get(&it.right.units[right].stream) == Some(&it.left.units[left].stream)
            && (passes(&it.left, left, self.on_left[right]) || passes(&it.right, right, self.on_right[left]))
    }

    /// Returns the pairs of units that are near each other, nearest first. The places must be in ascending order.
    pub(super) fn nearest(
        &self,
        left: &[usize],
        right: &[usize],
        may_be: impl Fn(usize, usize) -> bool,
    ) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for place in left {
            let here = self.on_right[*place];
            let from = right.partition_point(|other| *other + NEAR < here);
            let to = right.partition_point(|other| *other <= here + NEAR);
            let others = right[from..to].iter().filter(|other| may_be(*place, **other));
            found.extend(others.map(|other| (self.distance(*place, *other), *place, *other)));
        }
        found.sort_unstable();
        found.into_iter().map(|(_, place, other)| (place, other)).collect()
    }
}
