//! Reads the messages of recordings when a mock needs them: from memory, or from the reel if it is large.

use crate::replay::mock::{Payloads, copied};
use crate::trace::{Block, Item, ReelReader};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::ops::Range;

/// Messages in memory, in the order of their numbers.
#[derive(Debug, Default)]
pub(crate) struct InMemory(Vec<(u32, Box<[u8]>)>);

impl InMemory {
    /// Adds a message, which has a higher number than those before.
    pub(crate) fn push(&mut self, number: u32, text: &[u8]) {
        self.0.push((number, text.into()));
    }
}

impl Payloads for InMemory {
    fn read(&self, number: u32, part: Option<Range<usize>>) -> Option<Vec<u8>> {
        let place = self.0.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        copied(&self.0[place].1, part)
    }
}

/// Messages in a reel, with the blocks that were read last.
pub(crate) struct InReel(Mutex<Cached>);

struct Cached {
    reader: ReelReader,
    blocks: VecDeque<Block>,
}

/// How many blocks are kept, each of at most half a MiB in most reels.
const KEPT: usize = 6;

impl InReel {
    /// The messages of a reel, which must be a file.
    pub(crate) fn new(reader: ReelReader) -> Self {
        Self(Mutex::new(Cached { reader: reader.with_payloads(), blocks: VecDeque::new() }))
    }
}

impl Payloads for InReel {
    fn read(&self, number: u32, part: Option<Range<usize>>) -> Option<Vec<u8>> {
        self.0.lock().read(u64::from(number), &part)
    }
}

impl Cached {
    fn read(&mut self, seq: u64, part: &Option<Range<usize>>) -> Option<Vec<u8>> {
        if let Some(text) = self.kept(seq, part) {
            return Some(text);
        }
        // The next block often contains it.
        let is_later = self.blocks.back().is_some_and(|block| ends(block).is_some_and(|end| end < seq));
        if is_later
            && self.advance().is_some_and(|first| first <= seq)
            && let Some(text) = self.kept(seq, part)
        {
            return Some(text);
        }
        self.blocks.clear();
        self.reader.seek_seq(seq).ok()?;
        while self.advance().is_some_and(|first| first <= seq) {
            if let Some(text) = self.kept(seq, part) {
                return Some(text);
            }
        }
        None
    }

    fn kept(&self, seq: u64, part: &Option<Range<usize>>) -> Option<Vec<u8>> {
        let is_in = |block: &&Block| begins(block) <= seq && ends(block).is_some_and(|end| end >= seq);
        let block = self.blocks.iter().rev().find(is_in)?;
        let place = block.headers.binary_search_by_key(&seq, |header| header.seq).ok()?;
        copied(block.event(&block.headers[place]).body(), part.clone())
    }

    /// Reads the next block. Returns the number of its first event.
    fn advance(&mut self) -> Option<u64> {
        while let Ok(Some(item)) = self.reader.next() {
            let Item::Block(block) = item else { continue };
            if self.blocks.len() == KEPT
                && let Some(oldest) = self.blocks.pop_front()
            {
                self.reader.recycle(oldest);
            }
            let first = begins(&block);
            self.blocks.push_back(block);
            return Some(first);
        }
        None
    }
}

fn begins(block: &Block) -> u64 {
    block.headers.first().map_or(u64::MAX, |header| header.seq)
}

fn ends(block: &Block) -> Option<u64> {
    block.headers.last().map(|header| header.seq)
}
