//! Frames that the writer gets in pieces: which piece goes on with which frame, and what is known of the message so far.

use super::event::{EventKind, Flags};
use super::writer::NewEvent;
use crate::wire::{Direction, Envelope, Framing, Outline};
use std::collections::BTreeMap;

/// So many frames at most are followed at a time; a piece of another stands for itself.
const MAX_FRAMES: usize = 64;

/// Where the pieces of a frame follow each other: a stream, an exchange and a direction.
type Lane = (u32, u32, bool);

/// A frame whose end has not come yet.
#[derive(Debug)]
pub struct OpenFrame {
    /// The number of its first piece.
    pub first: u64,
    is_injected: bool,
    outline: Outline,
}

impl OpenFrame {
    /// What the message says, as far as it has come.
    pub fn envelope(&self) -> Envelope<'_> {
        Envelope::scan(self.outline.text())
    }

    /// The flags of all its pieces.
    pub fn flags(&self) -> Flags {
        if self.is_injected { Flags::INJECTED } else { Flags::default() }
    }
}

/// The frames whose ends have not come yet.
#[derive(Debug, Default)]
pub struct OpenFrames(BTreeMap<Lane, OpenFrame>);

impl OpenFrames {
    /// The frame that an event numbered `seq` is a piece of, with this piece; `None` for nearly all events.
    pub fn take(&mut self, event: &NewEvent<'_>, seq: u64) -> Option<OpenFrame> {
        let is_piece = event.framing == Framing::Fragment;
        if event.kind == EventKind::Gap {
            // What comes behind it may go on with anything.
            self.0.clear();
        }
        if event.kind != EventKind::Message || self.0.is_empty() && !is_piece {
            return None;
        }
        let lane = lane(event);
        let is_injected = event.flags.has(Flags::INJECTED);
        // Only a whole message is put in amid the pieces of another.
        if !is_piece && self.0.get(&lane).is_some_and(|frame| is_injected && !frame.is_injected) {
            return None;
        }
        let begun = self.0.remove(&lane);
        if begun.is_none() && (!is_piece || self.0.len() >= MAX_FRAMES) {
            return None;
        }
        let (is_first, mut frame) = match begun {
            Some(frame) => (false, frame),
            None => (true, OpenFrame { first: seq, is_injected, outline: Outline::default() }),
        };
        frame.outline.push(if is_first { without_headers(event.payload) } else { event.payload });
        Some(frame)
    }

    /// Keeps the frame of a piece that was taken, where it goes on.
    pub fn keep(&mut self, event: &NewEvent<'_>, frame: OpenFrame) {
        if event.framing == Framing::Fragment {
            self.0.insert(lane(event), frame);
        }
    }

    /// Follows none of them any further: pieces are lost.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

fn lane(event: &NewEvent<'_>) -> Lane {
    (event.stream, event.exchange, event.flags.direction() == Direction::ServerToClient)
}

/// The first piece of a message, without the header block of a `Content-Length` frame: what the framing is, the last
/// piece tells.
fn without_headers(payload: &[u8]) -> &[u8] {
    const NAME: &[u8] = b"content-length:";
    let has_headers = payload.get(..NAME.len()).is_some_and(|start| start.eq_ignore_ascii_case(NAME));
    if has_headers { Framing::ContentLength.body(payload) } else { payload }
}
