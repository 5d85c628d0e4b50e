//! Joins the pieces of long messages. A reel contains a message of more than about 4 MiB in several events. Its readers
//! see one event, with the number, time and header of the last piece.
//!
//! In a file, pieces are read again when their message is complete, so that reading only headers loads no pieces and
//! keeps nothing in memory. From a pipe, pieces are kept. A frame that becomes too long, or whose pieces are
//! incomplete, is returned as fragments.

use super::{Block, Damage, Input, Item, ReelReader, is_long};
use crate::trace::event::{EventHeader, Flags};
use crate::trace::record::Piece;
use crate::wire::{Framing, MAX_MESSAGE_BYTES};
use std::collections::{BTreeMap, VecDeque};
use std::io;

/// The maximum number of incomplete messages; pieces of further ones are returned as they are.
const MAX_FRAMES: usize = 1024;

/// How often the reader may look for the beginning of a message after a seek.
const MAX_LOOKS: usize = 64;

/// The place of a group: the offset of its first segment, and the number of its first event.
pub(super) type Place = (u64, u64);

/// Incomplete messages, and items that are ready to be returned.
#[derive(Debug, Default)]
pub(super) struct Joining {
    /// Pieces are returned as separate events.
    pub is_off: bool,
    /// By the number of the first piece.
    open: BTreeMap<u64, Frame>,
    /// From a pipe: the number of bytes that are kept.
    kept: usize,
    ready: VecDeque<Ready>,
    /// The number of the first event after the last seek.
    from: u64,
    /// How often the reader looked for the beginning of a message before that event.
    looks: usize,
}

/// A frame that is not complete yet.
#[derive(Debug)]
struct Frame {
    /// The header of its last piece so far.
    last: EventHeader,
    /// The offset of the segment with that piece.
    offset: u64,
    origin: Origin,
    len: u64,
    /// From a pipe: the bytes so far.
    bytes: Vec<u8>,
}

/// The place of an event's pieces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// The number of the event.
    seq: u64,
    /// The number of its first piece.
    first: u64,
    /// The group that contains the first piece.
    group: Place,
}

#[derive(Debug)]
enum Ready {
    Block(Block),
    Frame(Frame),
    Damage(Damage),
}

impl Joining {
    /// Forgets everything, since reading continues at another place.
    pub(super) fn start_at(&mut self, seq: u64) {
        *self = Self { is_off: self.is_off, from: seq, ..Self::default() };
    }

    /// Returns the size of the next item that is ready, in bytes; 0 if there is none.
    pub(super) fn next_size(&self) -> usize {
        match self.ready.front() {
            Some(Ready::Block(block)) => block.size(),
            Some(Ready::Frame(frame)) => frame.len as usize,
            _ => 0,
        }
    }

    fn take(&mut self, first: u64) -> Option<Frame> {
        let frame = self.open.remove(&first)?;
        self.kept -= frame.bytes.len();
        Some(frame)
    }

    fn put(&mut self, first: u64, frame: Frame) {
        self.kept += frame.bytes.len();
        self.open.insert(first, frame);
    }

    /// Returns all incomplete frames as fragments.
    fn let_go(&mut self) {
        self.kept = 0;
        let frames = std::mem::take(&mut self.open);
        self.ready.extend(frames.into_values().map(Ready::Frame));
    }
}

impl Block {
    /// Marks an event as truncated if it is only the end of a message.
    fn truncate_end(&mut self, place: usize) {
        let header = &mut self.headers[place];
        if header.framing != Framing::Fragment {
            header.flags = header.flags.with(Flags::TRUNCATED);
        }
    }
}

impl ReelReader {
    /// Returns the pieces of long messages as separate events, as they are in the reel: for counting, checking or
    /// copying.
    #[must_use]
    pub fn in_pieces(mut self) -> Self {
        self.leave_pieces();
        self
    }

    /// Does the same as [`Self::in_pieces`] from now on.
    pub fn leave_pieces(&mut self) {
        self.joining.is_off = true;
    }

    /// Returns the next block or damage; `None` at the end, or, when following a reel, if nothing more is there yet.
    ///
    /// # Errors
    ///
    /// If reading fails.
    #[expect(clippy::should_implement_trait, reason = "fallible, and asked again after None when following")]
    pub fn next(&mut self) -> io::Result<Option<Item>> {
        loop {
            match self.joining.ready.pop_front() {
                Some(Ready::Block(block)) => return Ok(Some(Item::Block(block))),
                Some(Ready::Damage(damage)) => return Ok(Some(Item::Damage(damage))),
                Some(Ready::Frame(frame)) => return self.broken_off(frame).map(Some),
                None => {}
            }
            match self.next_in_pieces()? {
                Some(Item::Block(block)) if block.pieces.is_empty() || self.joining.is_off => {
                    return Ok(Some(Item::Block(block)));
                }
                Some(Item::Block(block)) => self.join(block)?,
                Some(Item::Damage(damage)) => {
                    if !damage.of_index {
                        self.joining.let_go();
                    }
                    return Ok(Some(Item::Damage(damage)));
                }
                None if self.ended && !self.joining.open.is_empty() => self.joining.let_go(),
                None if self.ended => return Ok(self.of_original.take().map(Item::Damage)),
                None => return Ok(None),
            }
        }
    }

    /// Processes a block that contains pieces. The items to return for it are added to `ready`.
    fn join(&mut self, mut block: Block) -> io::Result<()> {
        let mut hidden = Vec::new();
        let is_long = self.parts.get(block.part).is_some_and(|part| is_long(&part.header));
        for piece in std::mem::take(&mut block.pieces) {
            let Ok(place) = block.headers.binary_search_by_key(&piece.seq, |header| header.seq) else { continue };
            let header = &block.headers[place];
            let is_end = header.framing != Framing::Fragment;
            let Some(mut frame) = self.frame_of(piece, header)? else {
                block.truncate_end(place);
                continue;
            };
            let max = MAX_MESSAGE_BYTES - self.joining.kept.min(MAX_MESSAGE_BYTES);
            let len = frame.len + u64::from(header.len);
            let is_full = !is_end && piece.first == piece.seq && self.joining.open.len() >= MAX_FRAMES;
            if len > max as u64 || is_full || is_long {
                block.truncate_end(place);
                self.joining.ready.extend((frame.len > 0).then_some(Ready::Frame(frame)));
                continue;
            }
            if !self.input.is_seekable() {
                frame.bytes.extend_from_slice(block.event(header).payload);
            }
            frame.len = len;
            if !is_end {
                hidden.push(piece.seq);
                (frame.last, frame.offset, frame.origin.seq) = (header.clone(), block.offset, piece.seq);
                self.joining.put(piece.first, frame);
                continue;
            }
            block.headers[place].len = len as u32;
            if self.input.is_seekable() {
                block.joined.push(Origin { seq: piece.seq, ..frame.origin });
            } else {
                block.prepend(place, frame.bytes);
            }
        }
        block.headers.retain(|header| hidden.binary_search(&header.seq).is_err());
        if block.headers.is_empty() {
            self.recycle(block);
            return Ok(());
        }
        let damage = if block.loaded { self.load_joined(&mut block)?.err() } else { None };
        self.joining.ready.extend(damage.map(Ready::Damage));
        self.joining.ready.push_back(Ready::Block(block));
        Ok(())
    }

    /// Returns the frame that a piece continues, as far as it is known.
    fn frame_of(&mut self, piece: Piece, header: &EventHeader) -> io::Result<Option<Frame>> {
        if piece.first == piece.seq {
            let origin = Origin { seq: piece.seq, first: piece.first, group: self.group_at };
            return Ok(Some(Frame { last: header.clone(), offset: 0, origin, len: 0, bytes: Vec::new() }));
        }
        let mut frame = self.joining.take(piece.first);
        if frame.is_none() && piece.first < self.joining.from && self.joining.looks < MAX_LOOKS {
            self.joining.looks += 1;
            frame = self.look_back(piece)?;
        }
        let lane = |header: &EventHeader| (header.stream, header.exchange, header.direction());
        Ok(frame.filter(|frame| lane(&frame.last) == lane(header)))
    }

    /// Opens another reader of the same file, at a group.
    fn another(&self, group: Place) -> io::Result<Option<Self>> {
        let Input::File(file) = &self.input else { return Ok(None) };
        let input = Input::File(file.try_clone()?);
        let mut other = Self::from_input(input).map_err(io::Error::other)?.in_pieces();
        other.go_to(group);
        Ok(Some(other))
    }

    /// Collects the headers of the pieces before this one, after a seek into the middle of a message.
    fn look_back(&mut self, piece: Piece) -> io::Result<Option<Frame>> {
        let Some(mut before) = self.another((self.first_segment, 0))? else { return Ok(None) };
        before.seek_seq(piece.first)?;
        let mut found: Option<Frame> = None;
        while let Some(Item::Block(block)) = before.next()? {
            for earlier in block.pieces.iter().filter(|earlier| earlier.first == piece.first) {
                if earlier.seq >= piece.seq {
                    return Ok(found);
                }
                let Ok(place) = block.headers.binary_search_by_key(&earlier.seq, |header| header.seq) else { continue };
                let header = &block.headers[place];
                let is_first = earlier.seq == earlier.first;
                let (group, before) = match found.take() {
                    Some(frame) if !is_first => (frame.origin.group, frame.len),
                    None if is_first => (before.group_at, 0),
                    _ => return Ok(None),
                };
                found = Some(Frame {
                    last: header.clone(),
                    offset: block.offset,
                    origin: Origin { seq: earlier.seq, first: earlier.first, group },
                    len: before + u64::from(header.len),
                    bytes: Vec::new(),
                });
            }
            if block.headers.last().is_some_and(|last| last.seq >= piece.seq) {
                return Ok(found);
            }
            before.recycle(block);
        }
        // A piece is missing.
        Ok(None)
    }

    /// Returns an incomplete frame as a fragment.
    fn broken_off(&mut self, frame: Frame) -> io::Result<Item> {
        let Frame { mut last, offset, origin, len, bytes } = frame;
        (last.len, last.offset) = (len as u32, 0);
        let mut block = Block { headers: vec![last], offset, part: NO_PART, ..Block::default() };
        if self.input.is_seekable() {
            block.joined.push(origin);
        } else {
            (block.payload, block.loaded) = (bytes, true);
        }
        if self.with_payloads
            && !block.loaded
            && let Err(damage) = self.load_joined(&mut block)?
        {
            self.joining.ready.push_front(Ready::Damage(damage));
        }
        block.loaded |= self.with_payloads;
        Ok(Item::Block(block))
    }

    /// Loads the payloads of a block's joined events, after its other payloads.
    ///
    /// # Errors
    ///
    /// The reel cannot be read. Damage is a value, not an error.
    pub(super) fn load_joined(&mut self, block: &mut Block) -> io::Result<Result<(), Damage>> {
        for origin in std::mem::take(&mut block.joined) {
            let Ok(place) = block.headers.binary_search_by_key(&origin.seq, |header| header.seq) else { continue };
            let at = block.payload.len();
            block.headers[place].offset = at;
            block.payload.reserve_exact(block.headers[place].len as usize);
            let gathered = self.gather(origin, block.headers[place].len as usize, &mut block.payload)?;
            if let Err(reason) = gathered {
                block.payload.truncate(at);
                block.headers[place].flags = block.headers[place].flags.with(Flags::TRUNCATED);
                let reason = format!("event {} cannot be joined from its pieces: {reason}", origin.seq);
                return Ok(Err(Damage::passed_over(block.offset, block.offset, reason)));
            }
        }
        Ok(Ok(()))
    }

    /// Reads the pieces of an event, `len` bytes in total.
    fn gather(&mut self, origin: Origin, len: usize, into: &mut Vec<u8>) -> io::Result<Result<(), String>> {
        let Some(mut pieces) = self.another(origin.group)? else { return Ok(Err(MISSING.to_owned())) };
        let end = into.len() + len;
        while let Some(item) = pieces.next()? {
            let mut block = match item {
                Item::Block(block) => block,
                Item::Damage(damage) if damage.of_index => continue,
                Item::Damage(damage) => return Ok(Err(damage.reason)),
            };
            let of_it = |piece: &&Piece| piece.first == origin.first && piece.seq <= origin.seq;
            let wanted: Vec<u64> = block.pieces.iter().filter(of_it).map(|piece| piece.seq).collect();
            if !wanted.is_empty()
                && let Err(reason) = pieces.load_payload_inner(&mut block)?
            {
                return Ok(Err(reason));
            }
            let is_wanted = |header: &&EventHeader| wanted.binary_search(&header.seq).is_ok();
            block.headers.iter().filter(is_wanted).for_each(|header| {
                let payload = block.event(header).payload;
                into.extend_from_slice(&payload[..payload.len().min(end - into.len())]);
            });
            if block.headers.last().is_some_and(|last| last.seq >= origin.seq) {
                break;
            }
            pieces.recycle(block);
        }
        Ok(if into.len() == end { Ok(()) } else { Err(MISSING.to_owned()) })
    }
}

/// The part number of a block without a part in the file.
pub(super) const NO_PART: usize = usize::MAX;

const MISSING: &str = "pieces are missing";

impl Block {
    /// Adds the earlier pieces in front of an event's payload.
    fn prepend(&mut self, place: usize, mut bytes: Vec<u8>) {
        // The event's own payload is already at the end of these bytes.
        let (before, len) = (bytes.len(), self.headers[place].len);
        bytes.reserve_exact(self.payload.len());
        bytes.extend_from_slice(&self.payload);
        self.headers.iter_mut().for_each(|header| header.offset += before);
        (self.headers[place].offset, self.headers[place].len) = (0, len);
        self.payload = bytes;
    }
}
