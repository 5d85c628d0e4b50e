//! Recorded sessions in any format that mcpreel reads: reels, and what `import` takes.

use super::printer::note;
use super::redaction::RedactOptions;
use crate::error::{CommandError, ErrorKind, Warn};
use crate::files::reels;
use crate::formats::jsonl::JsonlError;
use crate::formats::{self, Importer};
use crate::replay::{Conversation, Conversations};
use crate::trace::{Damage, Event, EventHeader, FileHeader, Item, ReelReader};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The number of bytes by which a format is recognised.
pub(super) const BEGINNING: usize = 1 << 20;

/// A recorded session that is about to be read.
pub(super) struct Recorded {
    path: PathBuf,
    kind: Kind,
}

enum Kind {
    Reel(Box<ReelReader>),
    /// Text in a format that `import` reads.
    Text(Box<dyn BufRead + Send>),
}

/// Opens a reel, JSON lines or a transcript; `-` is stdin. If a reel's recorder was killed, `warn` gets a note.
///
/// # Errors
///
/// It cannot be read.
pub(super) fn open(path: &Path, warn: Option<Warn>, redact: &RedactOptions) -> Result<Recorded, CommandError> {
    let path = reels::found(path);
    if redact.redact {
        let kind = Kind::Reel(Box::new(redact.open_whole(Some(&path))?.0));
        return Ok(Recorded { path, kind });
    }
    let failed = |error: io::Error| CommandError::reading(&path, &error);
    let is_stdin = path == Path::new("-");
    let kind = if is_stdin || !path.is_file() && path.exists() && !path.is_dir() {
        let source: Box<dyn Read + Send> =
            if is_stdin { Box::new(io::stdin()) } else { Box::new(File::open(&path).map_err(failed)?) };
        let mut input = BufReader::with_capacity(BEGINNING, source);
        match is_text(input.fill_buf().map_err(failed)?) {
            true => Kind::Text(Box::new(input)),
            false => {
                let reader = ReelReader::from_stream(Box::new(input));
                Kind::Reel(Box::new(reader.map_err(|error| CommandError::reel(&path, &error))?))
            }
        }
    } else if let Some(input) = open_text(&path).map_err(failed)? {
        Kind::Text(input)
    } else {
        let opened = match warn {
            Some(warn) => reels::open_whole(Some(&path), warn),
            None => reels::open(Some(&path)),
        };
        Kind::Reel(Box::new(opened?.0))
    };
    Ok(Recorded { path, kind })
}

/// Opens a file if it contains text.
fn open_text(path: &Path) -> io::Result<Option<Box<dyn BufRead + Send>>> {
    if !path.is_file() {
        return Ok(None);
    }
    let mut input = BufReader::with_capacity(BEGINNING, File::open(path)?);
    Ok(if is_text(input.fill_buf()?) { Some(Box::new(input)) } else { None })
}

/// Returns whether a file begins with a JSON object, as no reel does.
pub(super) fn is_text(beginning: &[u8]) -> bool {
    beginning.trim_ascii_start().first() == Some(&b'{')
}

/// Returns what a recording says about itself. Its format does not matter.
///
/// # Errors
///
/// It cannot be read.
pub(super) fn header(path: &Path) -> Result<FileHeader, CommandError> {
    let Some(text) = open_text(path).map_err(|error| CommandError::reading(path, &error))? else {
        return Ok(reels::open(Some(path))?.0.header().clone());
    };
    // What cannot be imported is reported when it is read.
    Ok(formats::open_any(text).map(|importer| importer.header().clone()).unwrap_or_default())
}

/// Returns whether a path is a reel whose events can be read in any order.
pub(super) fn is_reel_file(path: &Path) -> bool {
    path.is_file() && open_text(path).is_ok_and(|text| text.is_none())
}

/// Returns the sessions of a recording in which the client sent something.
///
/// # Errors
///
/// The recording cannot be read, or contains no message of a client.
pub(super) fn conversations(path: &Path) -> Result<Vec<Conversation>, CommandError> {
    let mut found = Conversations::default();
    let damage = open(path, Some(note), &RedactOptions::default())?.each_event(|_| {}, |event| found.take(event))?;
    damage.iter().for_each(|damage| note(&format!("{}: {damage}", path.display())));
    let found = found.finish();
    if found.is_empty() { Err(without_client(path)) } else { Ok(found) }
}

/// The error for a recording in which the client sent nothing.
pub(super) fn without_client(path: &Path) -> CommandError {
    CommandError::new(ErrorKind::Input, format!("{}: no messages of a client", path.display()))
        .hint("`mcpreel reel info` shows its content; a session that never began leaves such a reel")
}

/// Reads the sessions of a recording with these numbers; all without a number.
///
/// # Errors
///
/// The recording cannot be read, contains no messages of a client, or has no session with one of these numbers.
pub(super) fn chosen(path: &Path, streams: &[u32]) -> Result<Vec<Conversation>, CommandError> {
    let sessions = conversations(path)?;
    let is_missing = |wanted: &&u32| !sessions.iter().any(|session| session.stream() == **wanted);
    if let Some(unknown) = streams.iter().find(is_missing) {
        let numbers: Vec<String> = sessions.iter().map(|session| session.stream().to_string()).collect();
        let error = CommandError::usage(format!("{} has no session {unknown}", path.display()));
        return Err(error.hint(format!("it has {}", numbers.join(", "))));
    }
    let is_wanted = |session: &Conversation| streams.is_empty() || streams.contains(&session.stream());
    Ok(sessions.into_iter().filter(is_wanted).collect())
}

/// Returns the path of the new reel with this number, from 1.
pub(super) fn numbered(path: &Path, number: usize) -> PathBuf {
    if number <= 1 {
        return path.to_owned();
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-{number}.reel"))
}

impl Recorded {
    /// Passes every event to `take`, in order, and the number of bytes that were read since the last call to `advance`.
    /// Returns the damage of a reel.
    ///
    /// # Errors
    ///
    /// Reading failed, or the text is not in a known format.
    pub(super) fn each_event(
        self,
        mut advance: impl FnMut(u64),
        mut take: impl FnMut(&Event<'_>),
    ) -> Result<Vec<Damage>, CommandError> {
        match self.kind {
            Kind::Reel(reader) => each_of_reel(*reader, &self.path, advance, take),
            Kind::Text(input) => {
                let bad = |error: JsonlError| {
                    let reported = format!("{}: {error}", self.path.display());
                    let error = CommandError::new(ErrorKind::Input, reported);
                    formats::IMPORT.iter().rev().fold(error, |error, format| error.hint(format.hint))
                };
                let mut importer = formats::open_any(input).map_err(bad)?;
                each_of_text(&mut *importer, &mut advance, &mut take).map_err(bad)?;
                Ok(Vec::new())
            }
        }
    }
}

fn each_of_reel(
    reader: ReelReader,
    path: &Path,
    mut advance: impl FnMut(u64),
    mut take: impl FnMut(&Event<'_>),
) -> Result<Vec<Damage>, CommandError> {
    let mut reader = reader.with_payloads();
    let (mut damage, mut reached) = (Vec::new(), reader.offset());
    while let Some(item) = reader.next().map_err(|error| CommandError::reading(path, &error))? {
        match item {
            Item::Damage(found) => damage.push(found),
            Item::Block(block) => {
                block.events().for_each(|event| take(&event));
                reader.recycle(block);
                advance(reader.offset().saturating_sub(reached));
                reached = reader.offset();
            }
        }
    }
    Ok(damage)
}

/// Numbers the events as an import would.
fn each_of_text(
    importer: &mut dyn Importer,
    advance: &mut impl FnMut(u64),
    take: &mut impl FnMut(&Event<'_>),
) -> Result<(), JsonlError> {
    let (mut seq, mut unreported) = (0, 0);
    while let Some(event) = importer.next_event()? {
        let header = EventHeader {
            seq,
            time: event.time,
            stream: event.stream,
            exchange: event.exchange,
            kind: event.kind,
            flags: event.flags,
            framing: event.framing,
            len: u32::try_from(event.payload.len()).unwrap_or(u32::MAX),
            offset: 0,
            message: None,
        };
        take(&Event { header: &header, payload: event.payload });
        seq += 1;
        unreported += event.payload.len();
        if unreported >= BEGINNING {
            advance(std::mem::take(&mut unreported) as u64);
        }
    }
    Ok(())
}
