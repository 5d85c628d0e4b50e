//! Reading the events of a reel one by one, beside those of other reels.

use crate::cli::printer::note;
use crate::error::{CommandError, ErrorKind};
use crate::trace::{Block, Event, EventHeader, FileHeader, Item, ReelReader};
use std::path::PathBuf;

/// One of several reels, while it is read.
pub(super) struct Lane {
    reader: ReelReader,
    path: PathBuf,
    block: Option<Block>,
    /// The place of the next event in the block.
    next: usize,
    /// Damage was reported.
    pub is_damaged: bool,
}

impl Lane {
    /// Begins to read a reel. Its path is for errors.
    ///
    /// # Errors
    ///
    /// The reel cannot be read, or is damaged.
    pub(super) fn new(reader: ReelReader, path: PathBuf) -> Result<Self, CommandError> {
        let mut lane = Self { reader: reader.with_payloads(), path, block: None, next: 0, is_damaged: false };
        lane.fill()?;
        Ok(lane)
    }

    /// The path of the reel.
    pub(super) fn path(&self) -> &PathBuf {
        &self.path
    }

    /// The header of the reel.
    pub(super) fn file_header(&self) -> &FileHeader {
        self.reader.header()
    }

    /// The header of the next event.
    pub(super) fn header(&self) -> Option<&EventHeader> {
        self.block.as_ref()?.headers.get(self.next)
    }

    /// The next event.
    pub(super) fn event(&self) -> Option<Event<'_>> {
        Some(self.block.as_ref()?.event(self.header()?))
    }

    /// Goes on to the event after the next one.
    ///
    /// # Errors
    ///
    /// The reel cannot be read, or is damaged.
    pub(super) fn advance(&mut self) -> Result<(), CommandError> {
        self.next += 1;
        self.fill()
    }

    /// Reads on until there is an event, or the reel has ended.
    fn fill(&mut self) -> Result<(), CommandError> {
        while self.block.as_ref().is_none_or(|block| self.next >= block.headers.len()) {
            if let Some(block) = self.block.take() {
                self.reader.recycle(block);
            }
            self.next = 0;
            match self.reader.next().map_err(|error| CommandError::reading(&self.path, &error))? {
                None => return Ok(()),
                Some(Item::Damage(damage)) if damage.of_index || damage.at_end => {
                    note(&format!("{}: {damage}", self.path.display()));
                    self.is_damaged = true;
                }
                Some(Item::Damage(damage)) => {
                    let message = format!("{}: {damage}", self.path.display());
                    return Err(CommandError::new(ErrorKind::Input, message)
                        .hint("`mcpreel reel repair` writes an intact reel from what can be read"));
                }
                Some(Item::Block(block)) => self.block = Some(block),
            }
        }
        Ok(())
    }
}
