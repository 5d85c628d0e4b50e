//! Other file formats: what `export` writes and `import` reads. One file per format, and a table for each direction.
//!
//! This module must never use tokio or files, or print: readers and writers come in as arguments.

pub(crate) mod commands;
pub(crate) mod conversion;
pub(crate) mod csv;
pub(crate) mod jsonl;
pub(crate) mod markdown;
pub(crate) mod mermaid;
pub(crate) mod messages;
pub(crate) mod transcript;

use crate::trace::{Event, EventHeader, FileHeader, NewEvent};
use jsonl::JsonlError;
use std::io::{self, BufRead, Write};

/// Every format that `export` writes; the first is the default.
pub(crate) const EXPORT: &[ExportFormat] =
    &[jsonl::EXPORT, commands::EXPORT, csv::EXPORT, mermaid::EXPORT, markdown::EXPORT];

/// Every format that `import` reads, in the order in which their [`ImportFormat::detect`] is asked.
pub(crate) const IMPORT: &[ImportFormat] = &[transcript::IMPORT, jsonl::IMPORT];

/// A format that `export` writes.
pub(crate) struct ExportFormat {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, as a help line.
    pub about: &'static str,
    /// Makes an exporter for one reel.
    pub exporter: fn() -> Box<dyn Exporter>,
}

/// Writes one reel in one format, event by event: `begin`, then every event in order, then `end`. This is for formats
/// that keep everything as the reel has it, such as `jsonl`; a message may come in several pieces. A format whose unit
/// is the message implements [`MessageExporter`](messages::MessageExporter) instead, and gets each message once.
///
/// `header.kind` says what an event is, `header.time` counts in nanoseconds from `FileHeader::created`, and
/// `header.framing` says how a payload ended: a piece of a message has `Framing::Fragment`.
pub(crate) trait Exporter {
    /// Writes what comes before the first event.
    ///
    /// # Errors
    /// Writing failed.
    fn begin(&mut self, header: &FileHeader, out: &mut dyn Write) -> io::Result<()>;

    /// Writes one event.
    ///
    /// # Errors
    /// Writing failed.
    fn event(&mut self, event: &Event<'_>, out: &mut dyn Write) -> io::Result<()>;

    /// Writes a part of an event whose payload is too long to be held in memory. The parts of one event come in order, with
    /// nothing between them, and there is always a last one, which is empty if damage cuts the payload short.
    ///
    /// # Errors
    /// Writing failed.
    fn part(&mut self, header: &EventHeader, part: &[u8], is_last: bool, out: &mut dyn Write) -> io::Result<()>;

    /// Sees an event that is not to be written. What follows may refer to it: a response to its request, a message to the
    /// server of its stream.
    fn pass_over(&mut self, _event: &Event<'_>) {}

    /// Writes what comes after the last event.
    ///
    /// # Errors
    /// Writing failed.
    fn end(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// A format that `import` reads.
pub(crate) struct ImportFormat {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, as a help line.
    pub about: &'static str,
    /// How to recognise such a file, for the error about a file of no known format.
    pub hint: &'static str,
    /// Whether a file with this beginning (at most 1 MiB) is of this format.
    pub detect: fn(&[u8]) -> bool,
    /// Reads the beginning of a file.
    pub open: fn(Box<dyn BufRead + Send>) -> Opened,
}

/// A file whose beginning has been read.
pub(crate) type Opened = Result<Box<dyn Importer>, JsonlError>;

/// Opens a file in the format that its beginning shows.
///
/// # Errors
///
/// Reading failed, or the file is not of this format.
pub(crate) fn open_any(mut input: Box<dyn BufRead + Send>) -> Opened {
    let format = detected(input.fill_buf()?);
    (format.open)(input)
}

/// Returns the format of a file with this beginning.
pub(crate) fn detected(start: &[u8]) -> &'static ImportFormat {
    IMPORT.iter().find(|format| (format.detect)(start)).unwrap_or(&jsonl::IMPORT)
}

/// Reads one file as the events of a reel.
pub trait Importer: Send {
    /// What the reel says about itself.
    fn header(&self) -> &FileHeader;

    /// The next event, or `None` at the end; its payload borrows from the importer.
    ///
    /// # Errors
    /// Reading failed, or the file is not of this format.
    fn next_event(&mut self) -> Result<Option<NewEvent<'_>>, JsonlError>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_every_format_says_what_it_is() {
        let exports: BTreeSet<&str> = EXPORT.iter().map(|format| format.name).collect();
        let imports: BTreeSet<&str> = IMPORT.iter().map(|format| format.name).collect();
        assert_eq!((exports.len(), imports.len()), (EXPORT.len(), IMPORT.len()));
        assert!(!imports.contains("auto"), "the command line uses it");
        assert!(EXPORT.iter().all(|format| !format.about.is_empty()));
        assert!(IMPORT.iter().all(|format| !format.about.is_empty() && !format.hint.is_empty()));
    }

    #[test]
    fn the_last_import_format_takes_any_file_so_that_its_error_says_what_is_wrong() {
        assert!(IMPORT.last().is_some_and(|format| (format.detect)(b"anything")));
    }
}
