//! Opens recorded sessions in any format that mcpreel reads, as reels: reels themselves, and what `import` takes.

pub(super) mod twice;

use super::elsewhere;
use super::printer::note;
use crate::diff::surface::Surface;
use crate::error::{CommandError, ErrorKind, Warn};
use crate::files::reels;
use crate::formats::conversion::{Conversion, invalid};
use crate::formats::import::{self, ImportFormat};
use crate::formats::jsonl;
use crate::replay::{Conversation, Conversations, Loss};
use crate::trace::described::payload;
use crate::trace::{
    Damage, Event, EventKind, FileHeader, Flags, FormatError, Gap, Item, NewEvent, ReelReader, ReelWriter,
};
use crate::wire::text::visible_text;
use crate::wire::{Envelope, Framing, MessageKind};
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

/// The number of bytes by which a format is recognised.
const BEGINNING: usize = 1 << 20;

/// A recorded session that is open.
pub(super) struct Recorded {
    /// Its path as the user knows it.
    pub path: PathBuf,
    /// Its events.
    pub reader: ReelReader,
    /// The format of a text, which is converted while it is read; `None` for a reel.
    pub format: Option<&'static ImportFormat>,
}

/// Opens a reel, or a file of another format that `import` reads; `-` is stdin. The content decides, not the name. If a reel's recorder was
/// killed, `warn` gets a note.
///
/// # Errors
///
/// It cannot be read.
pub(super) fn open(path: &Path, warn: Option<Warn>) -> Result<Recorded, CommandError> {
    let path = reels::found(path);
    let (reader, format) = reader(&path, &path)?;
    let reader = match warn {
        Some(warn) => reels::whole(reader, &path, warn)?,
        None => reader,
    };
    Ok(Recorded { path, reader, format })
}

/// The newest reel. Reports what readers with another home would have found instead.
///
/// # Errors
///
/// There is no reel.
pub(super) fn newest() -> Result<PathBuf, CommandError> {
    let newest = reels::newest();
    elsewhere::report();
    newest
}

/// The named or the newest reel. On a terminal, the path of the newest is reported.
///
/// # Errors
///
/// There is no reel.
pub(super) fn path_or_newest(path: Option<&Path>) -> Result<PathBuf, CommandError> {
    if let Some(path) = path {
        return Ok(path.to_owned());
    }
    let path = newest()?;
    if io::stderr().is_terminal() {
        note(&format!("newest reel: {}", path.display()));
    }
    Ok(path)
}

/// Like [`open`]; without a path, the newest reel.
///
/// # Errors
///
/// It cannot be read, or there is no reel.
pub(super) fn named_or_newest(path: Option<&Path>, warn: Option<Warn>) -> Result<Recorded, CommandError> {
    match path {
        Some(path) => open(path, warn),
        None => open(&newest()?, warn),
    }
}

/// The reader of a path, and the format if that is not a reel. `shown` is the path in errors.
fn reader(path: &Path, shown: &Path) -> Result<(ReelReader, Option<&'static ImportFormat>), CommandError> {
    let bad = |error: FormatError| CommandError::reel(shown, &error);
    let is_stdin = path == Path::new("-");
    if path.is_dir() {
        return ReelReader::open(path).map(|reader| (reader, None)).map_err(bad);
    }
    let source: Box<dyn Read + Send> = match is_stdin {
        true => Box::new(io::stdin()),
        false => Box::new(File::open(path).map_err(|error| bad(FormatError::Io(error)))?),
    };
    let mut input = BufReader::with_capacity(BEGINNING, source);
    let beginning = input.fill_buf().map_err(|error| CommandError::reading(shown, &error))?;
    let Some(format) = import::detected(beginning) else {
        if beginning.trim_ascii_start().starts_with(b"{") {
            return Err(match Surface::is_lock(beginning) {
                true => lock_file(shown),
                false if is_message(beginning) => unknown(shown).hint(format!(
                    "its lines are messages, but do not say who sent them: mcpreel import --client {} -o session.reel \
                     (--server for the server's lines)",
                    shown.display()
                )),
                false => unknown(shown).hint("`mcpreel import --help` lists the formats that can be read"),
            });
        }
        // The events of a file can be read in any order.
        let opened = if path.is_file() { ReelReader::open(path) } else { ReelReader::from_stream(Box::new(input)) };
        return opened.map(|reader| (reader, None)).map_err(bad);
    };
    let reader = converted(format, Box::new(input)).map_err(|error| CommandError::reading(shown, &error))?;
    Ok((reader, Some(format)))
}

/// Appends a gap in place of a damage (docs/trace-format.md, Gaps).
///
/// # Errors
///
/// Writing fails.
pub(super) fn append_gap(writer: &mut ReelWriter<impl Write>, time: i64, damage: &Damage) -> io::Result<()> {
    let (reason, events, bytes) = (Some(damage.reason.to_string()), Some(damage.events), Some(damage.bytes));
    let payload = payload(&Gap { reason, events, bytes, repaired: true, ..Gap::default() });
    let (kind, flags, framing) = (EventKind::Gap, Flags::default(), Framing::Whole);
    writer.append(NewEvent { time, stream: 0, exchange: 0, kind, flags, framing, payload: &payload })
}

/// The line and the reason, if the event is a gap for a part of a text that cannot be read.
pub(super) fn unreadable(kind: EventKind, payload: &[u8]) -> Option<(u64, String)> {
    if kind != EventKind::Gap {
        return None;
    }
    let gap = Gap::read(payload);
    Some((gap.line?, visible_text(&gap.reason?)))
}

/// Whether a text begins with a line that is a JSON-RPC message.
fn is_message(beginning: &[u8]) -> bool {
    let line = beginning.trim_ascii_start().split(|byte| *byte == b'\n').next().unwrap_or_default();
    matches!(Envelope::scan(line).kind, MessageKind::Request | MessageKind::Notification | MessageKind::Result)
}

/// The error about a lock file, which has no messages.
fn lock_file(shown: &Path) -> CommandError {
    let what = format!("{} is a lock file: it contains what a server offers, but no messages", shown.display());
    CommandError::new(ErrorKind::Input, what)
        .hint(format!("compare a server with it: mcpreel diff --surface {} -- SERVER-COMMAND", shown.display()))
}

/// The error about a file of no known format.
pub(super) fn unknown(shown: &Path) -> CommandError {
    CommandError::new(ErrorKind::Input, format!("{}: unknown format", shown.display()))
}

/// Adds hints about what can be read.
pub(super) fn with_formats(error: CommandError) -> CommandError {
    let plain = "`mcpreel import --client FILE --server FILE` reads files with the lines of one side each";
    let listed = import::IMPORT.iter().rev().map(|format| format!("{}: {}", format.name, format.about));
    listed.chain([plain.to_owned()]).fold(error.hint("these formats can be read:"), CommandError::hint)
}

fn converted(format: &ImportFormat, input: Box<dyn BufRead + Send>) -> io::Result<ReelReader> {
    let mut importer = (format.open)(input).map_err(invalid)?;
    importer.refuse_gaps();
    ReelReader::from_stream(Box::new(Conversion::new(importer)?)).map_err(io::Error::other)
}

/// Returns what a recording says about itself.
///
/// # Errors
///
/// It cannot be read.
pub(super) fn header(path: &Path) -> Result<FileHeader, CommandError> {
    Ok(open(path, None)?.reader.header().clone())
}

/// Returns whether a path is a reel whose events can be read in any order.
pub(super) fn is_reel_file(path: &Path) -> bool {
    path.is_file() && open(path, None).is_ok_and(|opened| opened.format.is_none())
}

/// Expands folders: each into the reels and JSON lines in it, sorted by name.
///
/// # Errors
///
/// A folder cannot be read, or has none.
pub(super) fn expand(paths: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let entries = std::fs::read_dir(path).map_err(|error| CommandError::reading(path, &error))?;
        let is_session = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "reel" || ending == "jsonl");
        let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_session).collect();
        if found.is_empty() {
            let message =
                format!("{}: it is a directory without reels (*.reel) or JSON lines (*.jsonl)", path.display());
            return Err(CommandError::new(ErrorKind::Input, message));
        }
        found.sort();
        files.append(&mut found);
    }
    Ok(files)
}

/// Returns the sessions of a recording in which the client sent something. Each knows whether the recording lost
/// something.
///
/// # Errors
///
/// The recording cannot be read, or contains no message of a client.
fn conversations(path: &Path) -> Result<Vec<Conversation>, CommandError> {
    let mut found = Conversations::default();
    let opened = open(path, Some(note))?;
    let has_end = opened.reader.is_finished().map_err(|error| CommandError::reading(path, &error))?;
    let damage = opened.each_event(|_| {}, |event| found.take(event))?;
    damage.iter().for_each(|damage| note(&format!("{}: {damage}", path.display())));
    let mut found = found.finish();
    let loss = match damage.iter().find(|damage| !damage.of_index) {
        Some(damage) => Some(Loss { is_certain: true, why: damage.to_string() }),
        None if has_end || reels::is_being_written(path) => None,
        None => Some(Loss { is_certain: false, why: "the end may be missing".to_owned() }),
    };
    found.iter_mut().for_each(|session| session.note_loss(loss.clone()));
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
    check_streams(path, streams, &sessions.iter().map(Conversation::stream).collect::<Vec<_>>())?;
    let is_wanted = |session: &Conversation| streams.is_empty() || streams.contains(&session.stream());
    Ok(sessions.into_iter().filter(is_wanted).collect())
}

/// Refuses numbers of sessions that a recording does not have.
///
/// # Errors
///
/// One of the wanted numbers is not among those in the recording.
pub(super) fn check_streams(path: &Path, wanted: &[u32], present: &[u32]) -> Result<(), CommandError> {
    let Some(unknown) = wanted.iter().find(|wanted| !present.contains(wanted)) else { return Ok(()) };
    let numbers: Vec<String> = present.iter().map(u32::to_string).collect();
    let error = CommandError::usage(format!("{} has no session {unknown}", path.display()));
    let has = if numbers.len() == 1 { "its only session is" } else { "it has" };
    Err(error.hint(format!("{has} {}", numbers.join(", "))))
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
    /// The path of its JSON lines: of those that were read, or that an export writes. Empty if it is a transcript.
    pub(super) fn lines(&self) -> String {
        match self.format {
            Some(format) if format.name != jsonl::IMPORT.name => String::new(),
            _ if self.path == Path::new("-") => "stdin.jsonl".to_owned(),
            Some(_) => self.path.display().to_string(),
            None => self.path.with_extension("jsonl").display().to_string(),
        }
    }

    /// Passes every event to `take`, in order, and the number of bytes that were read since the last call to `advance`.
    /// Returns the damage of a reel.
    ///
    /// # Errors
    ///
    /// Reading failed, or a text is not in its format.
    pub(super) fn each_event(
        self,
        mut advance: impl FnMut(u64),
        mut take: impl FnMut(&Event<'_>),
    ) -> Result<Vec<Damage>, CommandError> {
        let mut reader = self.reader.with_payloads();
        let (mut damage, mut reached) = (Vec::new(), reader.offset());
        while let Some(item) = reader.next().map_err(|error| CommandError::reading(&self.path, &error))? {
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
}
