//! Places of a payload that were changed.

use std::ops::Range;

/// Places in a payload, in order.
#[derive(Debug, Default)]
pub(super) struct Touched(Vec<usize>);

impl Touched {
    /// These places, in order.
    pub(super) fn at(places: Vec<usize>) -> Self {
        Self(places)
    }

    /// Returns whether one of them is in a string with these contents.
    pub(super) fn touch(&self, contents: &Range<usize>) -> bool {
        let first = self.0.partition_point(|place| *place < contents.start);
        self.0.get(first).is_some_and(|place| *place <= contents.end)
    }

    /// Returns those in a part of the payload, as places in it.
    pub(super) fn within(&self, part: &Range<usize>) -> Self {
        let inside = self.0.iter().filter(|place| part.contains(place));
        Self(inside.map(|place| place - part.start).collect())
    }
}
