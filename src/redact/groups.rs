//! The groups of a match.

use std::ops::Range;

/// The groups of a match in a text.
pub(crate) struct Groups<'t> {
    text: &'t [u8],
    ranges: Vec<Option<Range<usize>>>,
}

/// One of them.
#[derive(Clone)]
pub(crate) struct Group<'t> {
    text: &'t [u8],
    range: Range<usize>,
}

impl<'t> Groups<'t> {
    /// The groups at these places; the first one is the whole match.
    pub(super) fn new(text: &'t [u8], ranges: Vec<Option<Range<usize>>>) -> Self {
        Self { text, ranges }
    }

    /// Returns a group by its number.
    pub(super) fn get(&self, number: usize) -> Option<Group<'t>> {
        self.ranges.get(number)?.clone().map(|range| Group { text: self.text, range })
    }

    /// Returns all groups in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Option<Group<'t>>> {
        (0..self.ranges.len()).map(|number| self.get(number))
    }
}

impl<'t> Group<'t> {
    pub(super) fn start(&self) -> usize {
        self.range.start
    }

    pub(super) fn end(&self) -> usize {
        self.range.end
    }

    pub(super) fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    pub(super) fn as_bytes(&self) -> &'t [u8] {
        &self.text[self.range.clone()]
    }
}
