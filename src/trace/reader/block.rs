//! What a reader returns: the events of a segment, or damage.

use super::joining::Origin;
use crate::trace::ahead::BudgetPermit;
use crate::trace::event::{Event, EventHeader};
use crate::trace::record::Piece;

/// Buffers that a large message made larger than this number of bytes are made smaller again.
pub(super) const KEEP: usize = 320 << 10;

/// A part of the reel that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Its start in the file.
    pub offset: u64,
    /// The number of bytes that were skipped.
    pub bytes: u64,
    /// The number of events that are known to be lost. There may be more if the reel ends here.
    pub events: u64,
    /// The reel ends here: an incomplete tail, as a killed writer leaves it.
    pub at_end: bool,
    /// Only the index is wrong; all events can be read.
    pub of_index: bool,
    /// What is wrong.
    pub reason: String,
}

impl Damage {
    /// Creates a damage for the bytes from `start` to `end`, which contain no events.
    pub(super) fn passed_over(start: u64, end: u64, reason: String) -> Self {
        Self { offset: start, bytes: end.saturating_sub(start), events: 0, at_end: false, of_index: false, reason }
    }
}

impl std::fmt::Display for Damage {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { offset, bytes, events, reason, .. } = self;
        if self.of_index {
            return write!(out, "the index at byte {offset} is wrong, and ignored: {reason}");
        }
        let s = if *bytes == 1 { "" } else { "s" };
        write!(out, "damage at byte {offset}: {reason}; {bytes} byte{s} skipped")?;
        match (events, self.at_end) {
            (0, true) => write!(out, " at the end of the reel"),
            (0, false) => write!(out, ", no events lost"),
            (1, _) => write!(out, ", 1 event lost"),
            (events, _) => write!(out, ", {events} events lost"),
        }
    }
}

/// The next part of a reel.
#[derive(Debug)]
pub enum Item {
    /// Events.
    Block(Block),
    /// A part that could not be read.
    Damage(Damage),
}

/// The events of one segment.
#[derive(Debug, Default)]
pub struct Block {
    /// The event headers, in order.
    pub headers: Vec<EventHeader>,
    pub(super) payload: Vec<u8>,
    pub(super) loaded: bool,
    /// The number of its payload part in the current group.
    pub(super) part: usize,
    /// Its events that are pieces of longer messages, until they are joined.
    pub(super) pieces: Vec<Piece>,
    /// Its events that are joined from pieces, until they are loaded.
    pub(super) joined: Vec<Origin>,
    /// The start of its segment in the file.
    pub offset: u64,
    /// Its part of the memory for reading ahead.
    pub(in crate::trace) share: Option<BudgetPermit>,
}

impl Block {
    /// Returns the number of this segment in its group, from 0.
    pub fn part(&self) -> usize {
        self.part
    }

    /// Iterates over the events with their payloads; there are none before the payload is loaded.
    pub fn events(&self) -> impl Iterator<Item = Event<'_>> {
        let headers = if self.loaded { &self.headers[..] } else { &[] };
        headers.iter().map(|header| self.event(header))
    }

    /// Returns the event of a header of this block. Its payload is empty before the payload is loaded. If it is too
    /// long to be loaded, it has only the beginning.
    pub fn event<'a>(&'a self, header: &'a EventHeader) -> Event<'a> {
        let payload = if self.loaded { &self.payload[..] } else { &[] };
        let end = payload.len().min(header.offset.saturating_add(header.len as usize));
        Event { header, payload: payload.get(header.offset..end).unwrap_or_default() }
    }

    /// Returns the approximate memory use, in bytes.
    pub fn size(&self) -> usize {
        self.headers.len() * size_of::<EventHeader>() + self.payload.len()
    }

    /// Removes all events, and frees memory beyond what most blocks need.
    pub(in crate::trace) fn shed(&mut self) {
        self.headers.clear();
        self.pieces.clear();
        self.joined.clear();
        self.payload.clear();
        if self.payload.capacity() > KEEP {
            // Shrinking would leave the buffer at its place and fragment the memory.
            self.payload = Vec::new();
        }
        self.loaded = false;
    }

    /// Returns whether the payloads are loaded.
    pub fn is_loaded(&self) -> bool {
        self.loaded
    }
}
