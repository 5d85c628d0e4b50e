//! Joins the pieces of long messages: a reel has a message of more than some 4 MiB in several events, and whoever reads
//! it sees one, with the number, the time and the header of its last piece.
//!
//! Of a file, pieces are read again when their message is complete, so that a pass over headers loads none and nothing
//! waits in memory. Of a pipe, what has come is kept. A frame that grows too long, or whose pieces are not all there, is
//! given out as fragments.

use super::{Block, Damage, Input, Item, ReelReader, is_long};
use crate::trace::event::{EventHeader, Flags};
use crate::trace::record::Piece;
use crate::wire::{Framing, LONGEST_MESSAGE};
use std::collections::{BTreeMap, VecDeque};
use std::io;

/// So many messages may be incomplete at a time; a piece of another is given out as it is.
const MAX_FRAMES: usize = 1024;

/// So often after a seek it is looked for the beginning of a message.
const MAX_LOOKS: usize = 64;

/// Where a group begins: the offset of its first segment and the number of its first event.
pub(super) type Place = (u64, u64);

/// What is joined, and what waits to be given out.
#[derive(Debug, Default)]
pub(super) struct Joining {
    /// Pieces are events of their own.
    pub is_off: bool,
    /// By the number of the first piece.
    open: BTreeMap<u64, Frame>,
    /// How many bytes of frames are kept, of a pipe.
    kept: usize,
    ready: VecDeque<Ready>,
    /// The number of the first event after the last seek.
    from: u64,
    /// How often it was looked what came before that.
    looks: usize,
}

/// A frame whose end has not come yet.
#[derive(Debug)]
struct Frame {
    /// The header of its last piece so far.
    last: EventHeader,
    /// The offset of that piece's segment.
    offset: u64,
    origin: Origin,
    len: u64,
    /// What has come, of a pipe.
    bytes: Vec<u8>,
}

/// Where the pieces of an event are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// The number of the event.
    seq: u64,
    /// The number of its first piece.
    first: u64,
    /// The group that holds the first piece.
    group: Place,
}

#[derive(Debug)]
enum Ready {
    Block(Block),
    Frame(Frame),
    Damage(Damage),
}

impl Joining {
    /// Forgets everything: reading goes on from another place.
    pub fn start_at(&mut self, seq: u64) {
        *self = Self { is_off: self.is_off, from: seq, ..Self::default() };
    }

    /// How many bytes wait to be given out next; 0 where nothing does.
    pub fn next_size(&self) -> usize {
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

    /// Gives all frames out as far as they have come.
    fn let_go(&mut self) {
        self.kept = 0;
        let frames = std::mem::take(&mut self.open);
        self.ready.extend(frames.into_values().map(Ready::Frame));
    }
}

impl ReelReader {
    /// The pieces of long messages are events of their own, as they stand in the reel: to count, check or copy it.
    #[must_use]
    pub fn in_pieces(mut self) -> Self {
        self.leave_pieces();
        self
    }

    /// The same, from now on.
    pub fn leave_pieces(&mut self) {
        self.joining.is_off = true;
    }

    /// The next block or damage; `None` at the end, or, while following, where nothing more stands yet.
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
                None => return Ok(None),
            }
        }
    }

    /// Takes a block that holds pieces; what is to be given out for it waits then.
    fn join(&mut self, mut block: Block) -> io::Result<()> {
        let mut hidden = Vec::new();
        let is_long = self.parts.get(block.part).is_some_and(|part| is_long(&part.header));
        for piece in std::mem::take(&mut block.pieces) {
            let Ok(place) = block.headers.binary_search_by_key(&piece.seq, |header| header.seq) else { continue };
            let header = &block.headers[place];
            let is_end = header.framing != Framing::Fragment;
            let Some(mut frame) = self.frame_of(piece, header)? else {
                if is_end {
                    // Only the end of a message.
                    block.headers[place].flags = header.flags.with(Flags::TRUNCATED);
                }
                continue;
            };
            let most = LONGEST_MESSAGE - self.joining.kept.min(LONGEST_MESSAGE);
            let len = frame.len + u64::from(header.len);
            let is_full = !is_end && piece.first == piece.seq && self.joining.open.len() >= MAX_FRAMES;
            if len > most as u64 || is_full || is_long {
                if is_end {
                    block.headers[place].flags = header.flags.with(Flags::TRUNCATED);
                }
                if frame.len > 0 {
                    self.joining.ready.push_back(Ready::Frame(frame));
                }
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

    /// The frame that a piece goes on with, as far as it is there.
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

    /// Another reader of the same file that stands at a group.
    fn another(&self, group: Place) -> io::Result<Option<Self>> {
        let Input::File(file) = &self.input else { return Ok(None) };
        let input = Input::File(file.try_clone()?);
        let mut other = Self::from_input(input).map_err(io::Error::other)?.in_pieces();
        other.go_to(group);
        Ok(Some(other))
    }

    /// Reading began amid a message: what came before, by the headers.
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
        // Something is missing.
        Ok(None)
    }

    /// Gives out as a fragment what there is of a frame.
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

    /// Loads the payloads of a block's joined events, behind the others.
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
                let reason = format!("event {} cannot be put together: {reason}", origin.seq);
                return Ok(Err(Damage::passed_over(block.offset, block.offset, reason)));
            }
        }
        Ok(Ok(()))
    }

    /// Reads the pieces of an event, which have `len` bytes together.
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

/// The part of a block that has none in the file.
pub(super) const NO_PART: usize = usize::MAX;

const MISSING: &str = "pieces of it are missing";

impl Block {
    /// Puts what came before it in front of an event's payload.
    fn prepend(&mut self, place: usize, mut bytes: Vec<u8>) {
        // The event's own payload stands at the end of these bytes already.
        let (before, len) = (bytes.len(), self.headers[place].len);
        bytes.reserve_exact(self.payload.len());
        bytes.extend_from_slice(&self.payload);
        self.headers.iter_mut().for_each(|header| header.offset += before);
        (self.headers[place].offset, self.headers[place].len) = (0, len);
        self.payload = bytes;
    }
}
