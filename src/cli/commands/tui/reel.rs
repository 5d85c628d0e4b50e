//! The reel that is shown, and what reads it from its beginning: the list, searches and views.

use crate::error::CommandError;
use crate::proposals::Registry;
use crate::render::style::Palette;
use crate::session::Outcome;
use crate::session::filter::Filter;
use crate::session::summary::Depth;
use crate::session::view::{Placed, Viewer, Words, is_carrier, is_request};
use crate::sessions::live::Live;
use crate::trace::{AheadReader, Event, Item, ReelReader};
use std::io;
use std::path::PathBuf;

/// The reel that is shown.
pub(super) struct Reel {
    /// Its file.
    pub path: PathBuf,
    /// The live session that writes it.
    pub live: Option<Live>,
    /// What knows the methods.
    pub registry: &'static Registry,
    /// The colours.
    pub palette: Palette,
}

/// An event of the reel with its description.
pub(super) struct Told<'a> {
    /// The event.
    pub event: Event<'a>,
    /// Its method; for a response, that of its request.
    pub method: Option<&'a str>,
    /// What it answers.
    pub placed: &'a Placed,
    /// What it is about.
    pub words: &'a Words,
    /// Whether the filter selects it.
    pub selected: bool,
}

impl Reel {
    /// Opens the reel.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub(super) fn reader(&self) -> Result<ReelReader, CommandError> {
        ReelReader::open(&self.path).map(ReelReader::following).map_err(|error| CommandError::reel(&self.path, &error))
    }

    /// The error about a failure to read it.
    pub(super) fn unreadable(&self, error: &io::Error) -> CommandError {
        CommandError::reading(&self.path, error)
    }

    /// Passes every event to `take`, in order, to the present end, or until `take` returns false. Returns the requests
    /// without a response, by the numbers of their events.
    ///
    /// # Errors
    ///
    /// The reel cannot be read.
    pub(super) fn tell(
        &self,
        filter: &Filter,
        mut take: impl FnMut(&Told<'_>) -> bool,
    ) -> Result<Vec<(u64, Outcome)>, CommandError> {
        let failed = |error| self.unreadable(&error);
        let mut reader = AheadReader::start(self.reader()?.with_payloads()).map_err(failed)?;
        let (mut viewer, mut words) = (Viewer::default(), Words::knowing(self.registry));
        while let Some(item) = reader.next().map_err(failed)? {
            let Item::Block(block) = item else { continue };
            for event in block.events() {
                let header = event.header;
                let placed = viewer.place(&event, reader.methods());
                let method = placed.method(header, reader.methods());
                words.report(&event, method, &placed, Depth::Details);
                if is_request(header) {
                    viewer.remember(&words);
                }
                let selected = is_listed(filter, &event, method, &placed);
                if !take(&Told { event, method, placed: &placed, words: &words, selected }) {
                    return Ok(Vec::new());
                }
            }
            reader.recycle(block);
        }
        // The session may go on.
        Ok(viewer.finish(false))
    }
}

/// Returns whether a filter selects an event, which has its payload. Events that only carried messages are left out.
pub(super) fn is_listed(filter: &Filter, event: &Event<'_>, method: Option<&str>, placed: &Placed) -> bool {
    let input = placed.input(event.header, method, Some(event.body()));
    (filter.names_events() || !is_carrier(event)) && filter.decide(&input).unwrap_or(false)
}
