//! Messages that come in pieces: finds the message of each piece, and what is known of it so far.

use super::event::{EventKind, Flags};
use super::writer::NewEvent;
use crate::wire::{Direction, Envelope, Framing, Outline};
use std::collections::BTreeMap;

/// The maximum number of incomplete frames that are followed; a piece of another frame counts as an event of its own.
const MAX_FRAMES: usize = 64;

/// What the pieces of a frame have in common: stream, exchange and direction.
type Lane = (u32, u32, bool);

/// A frame that is not complete yet.
#[derive(Debug)]
pub(crate) struct OpenFrame {
    /// The number of its first piece.
    pub first: u64,
    /// The number of bytes so far, as they were in the stream.
    pub len: u64,
    is_injected: bool,
    outline: Outline,
}

impl OpenFrame {
    /// Returns the envelope of the message, as far as it is known.
    pub(crate) fn envelope(&self) -> Envelope<'_> {
        Envelope::scan(self.outline.text())
    }

    /// Returns the flags that all its pieces have.
    pub(crate) fn flags(&self) -> Flags {
        if self.is_injected { Flags::INJECTED } else { Flags::default() }
    }
}

/// The frames that are not complete yet.
#[derive(Debug, Default)]
pub(crate) struct OpenFrames(BTreeMap<Lane, OpenFrame>);

impl OpenFrames {
    /// Returns the frame that event number `seq` is a piece of, including this piece; `None` for most events.
    pub(crate) fn take(&mut self, event: &NewEvent<'_>, seq: u64) -> Option<OpenFrame> {
        let is_piece = event.framing == Framing::Fragment;
        if event.kind == EventKind::Gap {
            // The next piece may belong to any frame.
            self.0.clear();
        }
        if event.kind != EventKind::Message || self.0.is_empty() && !is_piece {
            return None;
        }
        let lane = lane(event);
        let is_injected = event.flags.has(Flags::INJECTED);
        // Only whole messages are injected between the pieces of another message.
        if !is_piece && self.0.get(&lane).is_some_and(|frame| is_injected && !frame.is_injected) {
            return None;
        }
        let begun = self.0.remove(&lane);
        if begun.is_none() && (!is_piece || self.0.len() >= MAX_FRAMES) {
            return None;
        }
        let (is_first, mut frame) = match begun {
            Some(frame) => (false, frame),
            None => (true, OpenFrame { first: seq, len: 0, is_injected, outline: Outline::default() }),
        };
        frame.len += event.payload.len() as u64;
        frame.outline.push(if is_first { without_headers(event.payload) } else { event.payload });
        Some(frame)
    }

    /// Keeps the frame of a piece, if it continues.
    pub(crate) fn keep(&mut self, event: &NewEvent<'_>, frame: OpenFrame) {
        if event.framing == Framing::Fragment {
            self.0.insert(lane(event), frame);
        }
    }

    /// Forgets all frames and returns them, since pieces are lost.
    pub(crate) fn drain(&mut self) -> Vec<OpenFrame> {
        std::mem::take(&mut self.0).into_values().collect()
    }

    /// Forgets all frames, since pieces are lost.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

fn lane(event: &NewEvent<'_>) -> Lane {
    (event.stream, event.exchange, event.flags.direction() == Direction::ServerToClient)
}

/// Returns the first piece of a message without the header block of a `Content-Length` frame. Only the last piece has
/// the real framing.
fn without_headers(payload: &[u8]) -> &[u8] {
    const NAME: &[u8] = b"content-length:";
    let has_headers = payload.get(..NAME.len()).is_some_and(|start| start.eq_ignore_ascii_case(NAME));
    if has_headers { Framing::ContentLength.body(payload) } else { payload }
}
