//! Recovers from damage: waits at an incomplete tail, or continues with the next group and reports the loss.

use super::{Damage, Input, Item, ReelReader, segment_header};
use crate::trace::format::{SEGMENT_HEADER_LEN, SEGMENT_MAGIC, SegmentKind};
use std::io;

impl ReelReader {
    /// Returns whether the rest could be the beginning of a segment that is still being written.
    pub(super) fn is_torn_tail(&self, head: &[u8]) -> bool {
        head.len() < SEGMENT_HEADER_LEN && (SEGMENT_MAGIC.starts_with(head) || head.starts_with(&SEGMENT_MAGIC))
    }

    /// Handles an incomplete segment at the end: waits for more, or reports it once.
    pub(super) fn tail(&mut self, reason: &str) -> Option<Item> {
        if self.waits() {
            return None;
        }
        let mut bytes = self.head.len() as u64;
        if let Input::File(file) = &self.input
            && let Ok(about) = file.metadata()
        {
            bytes = about.len().saturating_sub(self.offset);
        }
        self.ended = true;
        let damage = Damage::passed_over(self.offset, self.offset.saturating_add(bytes), reason.into());
        Some(Item::Damage(Damage { at_end: true, of_index: self.footer_at.is_some(), ..damage }))
    }

    /// Reports that the rest of a group cannot be read, and continues with the next group.
    ///
    /// # Errors
    ///
    /// The reel cannot be read.
    pub(super) fn broken_group(&mut self, start: u64, reason: String) -> io::Result<Item> {
        self.group_broken = true;
        self.skip_group(start, &reason)
    }

    /// Skips segments up to the next group, and reports the loss.
    ///
    /// # Errors
    ///
    /// The reel cannot be read.
    pub(super) fn skip_group(&mut self, start: u64, reason: &str) -> io::Result<Item> {
        let expected = self.position.seq;
        let mut offset = start;
        let mut lost = 0;
        let mut bytes = Vec::new();
        loop {
            self.input.forget_before(offset);
            self.input.read_at(offset, SEGMENT_HEADER_LEN, &mut bytes)?;
            let Some(header) = segment_header(&bytes) else { break };
            if header.kind == SegmentKind::Footer {
                // All segments up to the footer were counted; the index is checked there.
                break;
            }
            if header.kind == SegmentKind::Events && header.starts_group() && offset > start {
                lost = header.first_seq.saturating_sub(expected);
                break;
            }
            lost = lost.saturating_add(u64::from(header.count));
            offset = offset.saturating_add(SEGMENT_HEADER_LEN as u64 + header.body_len());
        }
        self.offset = offset;
        self.group_broken = true;
        self.position.seq = expected.saturating_add(lost);
        Ok(Item::Damage(Damage { events: lost, ..Damage::passed_over(start, offset, reason.into()) }))
    }

    /// Searches for the next segment that starts a group (or for the footer), after a place without a valid segment.
    ///
    /// # Errors
    ///
    /// The reel cannot be read.
    pub(super) fn resync(&mut self, reason: &str) -> io::Result<Item> {
        const WINDOW: usize = 256 << 10;
        let start = self.offset;
        let expected = self.position.seq;
        let mut offset = start + 1;
        let mut window = Vec::new();
        loop {
            self.input.forget_before(offset);
            self.input.read_at(offset, WINDOW, &mut window)?;
            for at in memchr::memmem::find_iter(&window, &SEGMENT_MAGIC) {
                let Some(header) = segment_header(&window[at..]) else { continue };
                if header.starts_group() || header.kind == SegmentKind::Footer {
                    self.offset = offset + at as u64;
                    self.group_broken = true;
                    self.position.seq = expected.max(header.first_seq);
                    let events = header.first_seq.saturating_sub(expected);
                    return Ok(Item::Damage(Damage {
                        events,
                        ..Damage::passed_over(start, self.offset, reason.into())
                    }));
                }
            }
            if window.len() < WINDOW {
                break;
            }
            // A header may cross the end of the window.
            offset += (window.len() - SEGMENT_HEADER_LEN) as u64;
        }
        self.ended = true;
        let bytes = offset + window.len() as u64 - start;
        let damage = Damage::passed_over(start, start.saturating_add(bytes), reason.into());
        Ok(Item::Damage(Damage { at_end: true, ..damage }))
    }
}
