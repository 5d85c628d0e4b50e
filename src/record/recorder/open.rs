//! A reel that is being written: how full it is, and how it ends.

use super::{EVENT_BYTES, RETRY_AFTER};
use crate::files::created::CreatedFile;
use crate::record::repack;
use crate::record::storage::Sink;
use crate::trace::ReelWriter;
use std::io;
use std::path::PathBuf;
use std::time::Instant;

/// The bytes reserved for the index of a reel with a size limit.
const INDEX_BYTES: u64 = 16 << 10;
/// A reel with at least this much traffic justified a file of its own.
const MIN_REEL_BYTES: u64 = 64 << 10;

/// A reel that is being written.
pub(super) struct Open<S: Sink> {
    pub writer: ReelWriter<S>,
    pub name: String,
    /// Whether the preface has been written.
    pub has_begun: bool,
    /// The number of events in the preface, which are not the session's own.
    pub preface: u64,
    /// Bytes of the session's own events.
    pub bytes: u64,
    /// The maximum bytes that the unwritten events may add to the file.
    pub pending: u64,
    /// The maximum size of the file.
    pub limit: Option<u64>,
    pub begun_at: Instant,
}

impl<S: Sink> Open<S> {
    /// Discards what is not written. Returns the number of discarded events and their bytes.
    pub(super) fn rewind(&mut self) -> (u64, u64) {
        let given_up = self.writer.restart_at(self.writer.written());
        self.pending = 0;
        self.bytes = self.bytes.saturating_sub(given_up.1);
        given_up
    }

    /// The number of the session's own events in the reel.
    pub(super) fn events(&self) -> u64 {
        self.writer.next_seq().saturating_sub(self.preface)
    }

    /// Whether an event of this length, followed by the index, might not fit any more.
    pub(super) fn is_full_for(&self, len: u64) -> bool {
        self.limit.is_some_and(|limit| {
            let rest = INDEX_BYTES.min(limit / 4);
            self.writer.written().saturating_add(self.pending + len + EVENT_BYTES + rest) > limit
        })
    }

    /// Whether the reel has taken enough, or for long enough, that another may follow at once. A limit that is too low
    /// must not fill a folder with reels.
    pub(super) fn justifies_another(&self) -> bool {
        self.events() > 0 && (self.bytes >= MIN_REEL_BYTES || self.begun_at.elapsed() >= RETRY_AFTER)
    }

    /// Writes the index. An index that cannot be written completely is removed, so that the reel ends with its last
    /// event.
    pub(super) fn end(mut self) -> io::Result<()> {
        self.writer.flush()?;
        let (end, place) = (self.writer.written(), self.writer.get_ref().place());
        self.writer.finish().map(drop).inspect_err(|_| place.iter().for_each(|place| place.cut(end)))
    }

    /// The path of the file, if it is worth rewriting.
    pub(super) fn to_repack(&self) -> Option<PathBuf> {
        let (size, payload) = (self.writer.written(), self.writer.payload_bytes());
        let place = self.writer.get_ref().place().filter(CreatedFile::holds)?;
        repack::is_worthwhile(size, payload, self.writer.avoidable()).then_some(place.path)
    }
}
