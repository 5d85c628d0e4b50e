//! Collects rows until there are enough for a row group.

use super::columns::{Recording, Source};
use super::identity::Identity;
use super::row::{Reading, Row, Session, cell};
use super::writer::TableWriter;
use crate::formats::Exporter;
use crate::formats::messages::{ByMessage, Message, MessageExporter, RequestPlace};
use crate::proposals::Registry;
use crate::session::Outcome;
use crate::trace::{Event, FileHeader};
use crate::wire::mask::masked_bytes;
use std::io::{self, Write};

/// A row group has at most this many rows.
const MAX_ROWS: usize = 32 << 10;
/// A row group has about this many bytes of messages, or one message more.
const MAX_BYTES: u64 = 16 << 20;

/// What is not in the reel.
#[derive(Clone)]
pub(crate) struct Settings {
    /// The proposals that the command knows.
    pub registry: &'static Registry,
    /// The name of the machine; if there is none, the reel's note `host`.
    pub host: Option<String>,
}

/// Where rows go.
pub(super) trait Target {
    /// Writes rows of one recording, in order.
    ///
    /// # Errors
    /// Writing failed.
    fn rows(&mut self, rows: &[Source<'_>], facts: &Facts, out: &mut dyn Write) -> io::Result<()>;

    /// Writes the end.
    ///
    /// # Errors
    /// Writing failed.
    fn end(&mut self, facts: &Facts, out: &mut dyn Write) -> io::Result<()>;
}

/// What the metadata of a file says about its recording.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// Its identity.
    pub recording: String,
    /// The digest of the rules by which it was redacted.
    pub redaction: Option<String>,
}

impl Facts {
    pub(super) fn begin(&self) -> io::Result<TableWriter> {
        let mut facts = vec![("mcpreel.recording", &*self.recording)];
        facts.extend(self.redaction.as_deref().map(|digest| ("mcpreel.redaction", digest)));
        TableWriter::begin(&facts)
    }
}

/// Makes an exporter that writes one file.
pub(crate) fn file(settings: &Settings) -> Box<dyn Exporter> {
    Box::new(ByMessage::new(Table::new(settings, OneFile::default())))
}

/// The rows of a reel.
pub(super) struct Table<T> {
    settings: Settings,
    target: T,
    reading: Reading,
    recording: Recording,
    facts: Facts,
    identity: Option<Identity>,
    rows: Vec<Row>,
    /// The length of the payloads in `rows`.
    bytes: u64,
}

impl<T: Target> Table<T> {
    pub(super) fn new(settings: &Settings, target: T) -> Self {
        Self {
            settings: settings.clone(),
            target,
            reading: Reading::knowing(settings.registry),
            recording: Recording::default(),
            facts: Facts::default(),
            identity: None,
            rows: Vec::new(),
            bytes: 0,
        }
    }

    /// Takes a message; the row is kept if it is selected.
    fn take(&mut self, message: &Message<'_>, is_selected: bool, out: &mut dyn Write) -> io::Result<()> {
        if let Some(identity) = &mut self.identity {
            identity.take(message);
        }
        let row = self.reading.row(message);
        if !is_selected {
            return Ok(());
        }
        self.bytes += row.payload.as_ref().map_or(0, |payload| payload.len() as u64);
        self.rows.push(row);
        if self.rows.len() >= MAX_ROWS || self.bytes >= MAX_BYTES { self.flush(out) } else { Ok(()) }
    }

    /// Writes the rows. What became known of a session since then, such as the server's name, is in all of them.
    fn flush(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.identify();
        self.bytes = 0;
        let rows = std::mem::take(&mut self.rows);
        let (reading, recording, nothing) = (&self.reading, &self.recording, Session::default());
        let mut sources = Vec::with_capacity(rows.len());
        for row in &rows {
            sources.push(Source { row, session: reading.session(row.stream).unwrap_or(&nothing), recording });
        }
        self.target.rows(&sources, &self.facts, out)
    }

    /// Fixes the identity, which the first messages decide.
    fn identify(&mut self) {
        if let Some(identity) = self.identity.take() {
            self.facts.recording = identity.text();
            self.recording.id = self.facts.recording.clone().into();
        }
    }
}

impl<T: Target> MessageExporter for Table<T> {
    const NEEDS_ENDINGS: bool = true;

    fn ended(&mut self, request: RequestPlace, _outcome: Outcome) {
        self.reading.ended(request);
    }

    fn begin(&mut self, header: &FileHeader, _out: &mut dyn Write) -> io::Result<()> {
        let host = self.settings.host.as_ref().or_else(|| header.notes.get("host"));
        let notes = serde_json::to_vec(&header.notes).map_err(io::Error::other)?;
        self.identity = Some(Identity::of(header));
        self.facts.redaction = header.notes.get("redaction").cloned();
        self.recording = Recording {
            host: host.map(|host| cell(host.as_bytes())),
            label: header.label.as_ref().map(|label| cell(label.as_bytes())),
            notes: (!header.notes.is_empty()).then(|| masked_bytes(&notes).into_owned().into()),
            ..Recording::default()
        };
        Ok(())
    }

    fn message(&mut self, message: &Message<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.take(message, true, out)
    }

    fn pass_over_message(&mut self, message: &Message<'_>) {
        // Nothing is written for a message that is not selected.
        let _ = self.take(message, false, &mut io::sink());
    }

    fn other(&mut self, event: &Event<'_>, _out: &mut dyn Write) -> io::Result<()> {
        self.reading.opened(event);
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.flush(out)?;
        self.target.end(&self.facts, out)
    }
}

/// A file with all rows.
#[derive(Default)]
struct OneFile(Option<TableWriter>);

impl OneFile {
    fn begun(&mut self, facts: &Facts) -> io::Result<&mut TableWriter> {
        let writer = self.0.take().map_or_else(|| facts.begin(), Ok)?;
        Ok(self.0.insert(writer))
    }
}

impl Target for OneFile {
    fn rows(&mut self, rows: &[Source<'_>], facts: &Facts, out: &mut dyn Write) -> io::Result<()> {
        let writer = self.begun(facts)?;
        if rows.is_empty() { Ok(()) } else { writer.group(rows, out) }
    }

    fn end(&mut self, facts: &Facts, out: &mut dyn Write) -> io::Result<()> {
        self.begun(facts)?;
        self.0.take().map_or(Ok(()), |writer| writer.end(out))
    }
}
