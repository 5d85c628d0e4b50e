//! How similar two units are.

use crate::diff::normalise::Normaliser;
use crate::diff::recording::Unit;
use crate::diff::report::UnitSide;
use crate::diff::volatile::{Lookup, Origins};

/// The number of leaves of a payload that count for similarity.
const LEAVES: usize = 256;

/// The data for measuring similarity: sorted hashes of a unit's leaves.
pub(super) struct Leaves {
    params: Vec<u64>,
    all: Vec<u64>,
}

impl Leaves {
    pub(super) fn of(unit: &Unit, origins: &Origins, normaliser: &Normaliser<'_>) -> Self {
        let leaves = |side: UnitSide, text: &[u8]| {
            normaliser.read(unit.source(side), text, &mut Lookup::Known(origins)).leaves(LEAVES)
        };
        let params = unit.params.as_ref().map(|text| leaves(UnitSide::Params, text)).unwrap_or_default();
        let line = unit.line.as_ref().map(|text| leaves(UnitSide::Line, text)).unwrap_or_default();
        let answer = unit.answer.as_ref().map(|answer| leaves(answer.side(), &answer.text));
        let mut all = [&params[..], &line, &answer.unwrap_or_default()].concat();
        all.sort_unstable();
        Self { params, all }
    }

    /// Returns the similarity of two units, of their params or as a whole, out of 1000.
    pub(super) fn likeness(&self, other: &Self) -> usize {
        let all = likeness(&self.all, &other.all);
        let has_params = !self.params.is_empty() || !other.params.is_empty();
        if has_params { all.max(likeness(&self.params, &other.params)) } else { all }
    }
}

/// Returns the similarity of two sorted lists, out of 1000; two empty lists are equal.
fn likeness(one: &[u64], other: &[u64]) -> usize {
    let total = one.len() + other.len();
    let (mut at, mut across, mut common) = (0, 0, 0usize);
    while at < one.len() && across < other.len() {
        match one[at].cmp(&other[across]) {
            std::cmp::Ordering::Less => at += 1,
            std::cmp::Ordering::Greater => across += 1,
            std::cmp::Ordering::Equal => {
                common += 1;
                at += 1;
                across += 1;
            }
        }
    }
    (2000 * common).checked_div(total).unwrap_or(1000)
}
