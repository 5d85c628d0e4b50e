//! Other file formats: what `export` writes ([`EXPORT`]), and what `import` reads ([`import`]). One file per format.
//!
//! This module must never use tokio or files, or print: readers and writers come in as arguments.

pub(crate) mod commands;
pub(crate) mod conversion;
pub(crate) mod csv;
pub(crate) mod har;
pub(crate) mod import;
pub(crate) mod jsonl;
pub(crate) mod markdown;
pub(crate) mod mermaid;
pub(crate) mod messages;
pub(crate) mod otlp;
pub(crate) mod parquet;

use crate::session::endings::Endings;
use crate::trace::{Event, EventHeader, FileHeader};
use crate::wire::escaping::Escaping;
use crate::wire::log_lines::{Guarded, LogLines};
use std::io::{self, Write};

/// Every format that `export` writes; the first is the default.
pub const EXPORT: &[ExportFormat] = &[
    jsonl::EXPORT,
    commands::EXPORT,
    csv::EXPORT,
    mermaid::EXPORT,
    markdown::EXPORT,
    har::EXPORT,
    otlp::EXPORT,
    otlp::EXPORT_PROTO,
    otlp::EXPORT_PROTO_METRICS,
];

/// A format that `export` writes.
pub struct ExportFormat {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, as a help line.
    pub about: &'static str,
    /// What it consists of.
    pub content: Content,
    /// Makes what writes it, for one reel.
    make: fn(&ExportOptions) -> Box<dyn Exporter>,
}

/// What a format consists of, and so how the texts of strangers in it are kept from steering a terminal or a build server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// JSON: such characters are escaped, without loss.
    Json,
    /// Text: the format makes such characters visible, and a mark stands where a line would begin a command.
    Text,
    /// Bytes, which nobody displays.
    Binary,
}

impl ExportFormat {
    /// Makes an exporter for one reel.
    pub fn exporter(&self, options: &ExportOptions) -> Box<dyn Exporter> {
        let exporter = (self.make)(options);
        match self.content {
            Content::Binary => exporter,
            Content::Json => Box::new(Harmless { exporter, lines: None }),
            Content::Text => Box::new(Harmless { exporter, lines: Some(LogLines::default()) }),
        }
    }
}

/// An exporter of JSON, or of text with its lines, whose output does nothing when it is displayed.
struct Harmless {
    exporter: Box<dyn Exporter>,
    lines: Option<LogLines>,
}

impl Harmless {
    fn write(
        &mut self,
        out: &mut dyn Write,
        write: impl FnOnce(&mut dyn Exporter, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        match &mut self.lines {
            Some(lines) => write(&mut *self.exporter, &mut Guarded { to: out, lines }),
            None => write(&mut *self.exporter, &mut Escaping(out)),
        }
    }
}

impl Exporter for Harmless {
    fn begin(&mut self, header: &FileHeader, out: &mut dyn Write) -> io::Result<()> {
        self.write(out, |exporter, out| exporter.begin(header, out))
    }

    fn event(&mut self, event: &Event<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.write(out, |exporter, out| exporter.event(event, out))
    }

    fn part(&mut self, header: &EventHeader, part: &[u8], is_last: bool, out: &mut dyn Write) -> io::Result<()> {
        self.write(out, |exporter, out| exporter.part(header, part, is_last, out))
    }

    fn pass_over(&mut self, event: &Event<'_>) {
        self.exporter.pass_over(event);
    }

    fn needs_endings(&self) -> bool {
        self.exporter.needs_endings()
    }

    fn know_endings(&mut self, endings: Endings) {
        self.exporter.know_endings(endings);
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.write(out, |exporter, out| exporter.end(out))
    }
}

/// What users can choose about some formats.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// For OpenTelemetry.
    pub telemetry: otlp::Settings,
}

/// Writes one reel in one format, event by event: `begin`, then every event in order, then `end`. This is for formats
/// that keep everything as the reel has it, such as `jsonl`; a message may come in several pieces. A format whose unit
/// is the message implements [`MessageExporter`](messages::MessageExporter) instead, and gets each message once.
///
/// `header.kind` says what an event is, `header.time` counts in nanoseconds from `FileHeader::created`, and
/// `header.framing` says how a payload ended: a piece of a message has `Framing::Fragment`.
pub trait Exporter {
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

    /// Whether it says of a request what became of it, and so needs to know the end before the beginning.
    fn needs_endings(&self) -> bool {
        false
    }

    /// Learns what becomes of the requests without a response.
    fn know_endings(&mut self, _endings: Endings) {}

    /// Writes what comes after the last event.
    ///
    /// # Errors
    /// Writing failed.
    fn end(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_every_format_says_what_it_is() {
        let exports: BTreeSet<&str> = EXPORT.iter().map(|format| format.name).collect();
        assert_eq!(exports.len(), EXPORT.len());
        assert!(EXPORT.iter().all(|format| !format.about.is_empty()));
    }
}
