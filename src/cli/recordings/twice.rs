//! Recorded sessions that are read more than once.

use super::{Recorded, reader};
use crate::error::{CommandError, ErrorKind};
use crate::files::reels;
use crate::platform::open_file;
use crate::share::Packed;
use crate::trace::{Block, Damage, Event, EventHeader, EventKind, Flags, Item, ReelReader};
use crate::wire::Framing;
use std::fs::File;
use std::io::{self, BufRead, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The length of the pieces of a long fragment, as recorders make them. Unit: bytes.
const PIECE_BYTES: usize = 4 << 20;

/// A recorded session that can be read twice: a file, or a copy of a pipe without a name.
pub(in crate::cli) struct TwicePath {
    /// The path to read.
    pub opened: PathBuf,
    /// The path as the user knows it.
    pub shown: PathBuf,
    /// The damage in which the original of a copy ended.
    pub damage: Option<Damage>,
    /// The file without a name, if it is one.
    _spooled: Option<File>,
}

impl TwicePath {
    /// The named reel, JSON lines or transcript, stdin, or the newest reel.
    ///
    /// # Errors
    ///
    /// There is no reel, or stdin cannot be read.
    pub(in crate::cli) fn of(path: Option<&Path>) -> Result<Self, CommandError> {
        let shown = match path {
            Some(path) => reels::found(path),
            None => super::newest()?,
        };
        let is_stdin = shown == Path::new("-");
        if !is_stdin && (shown.is_file() || shown.is_dir() || !shown.exists()) {
            return Ok(Self { opened: shown.clone(), shown, damage: None, _spooled: None });
        }
        let failed = |error: io::Error| CommandError::reading(&shown, &error);
        let mut from: Box<dyn Read> = match is_stdin {
            true => Box::new(io::stdin()),
            false => Box::new(File::open(&shown).map_err(failed)?),
        };
        Self::written(&shown, |out| io::copy(&mut from, out).map(drop).map_err(failed))
    }

    /// A file without a name, with what `write` writes.
    ///
    /// # Errors
    ///
    /// Writing fails.
    pub(in crate::cli) fn written(
        shown: &Path,
        write: impl FnOnce(&mut BufWriter<&File>) -> Result<(), CommandError>,
    ) -> Result<Self, CommandError> {
        let failed = |error: io::Error| CommandError::writing(&std::env::temp_dir(), &error);
        let file = unnamed_file().map_err(failed)?;
        let mut out = BufWriter::new(&file);
        write(&mut out)?;
        out.flush().map_err(failed)?;
        drop(out);
        Ok(Self { opened: open_file::path(&file), shown: shown.to_owned(), damage: None, _spooled: Some(file) })
    }

    /// The same session, with another path for the user.
    pub(in crate::cli) fn shown_as(self, shown: &Path) -> Self {
        Self { shown: shown.to_owned(), ..self }
    }

    /// Opens the session.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub(in crate::cli) fn open(&self) -> Result<Recorded, CommandError> {
        let (reader, format) = reader(&self.opened, &self.shown)?;
        let reader = reader.ending_in(self.damage.clone());
        Ok(Recorded { path: self.shown.clone(), reader, format })
    }

    /// Passes on every event. Returns the damage in which the reel ends, as that of a killed recorder may. Other damage
    /// is refused, because nobody could say what it hides.
    ///
    /// # Errors
    ///
    /// The session cannot be read or is damaged, or `take` fails.
    pub(in crate::cli) fn each_event(
        &self,
        mut take: impl FnMut(&Event<'_>) -> Result<(), CommandError>,
    ) -> Result<Option<Damage>, CommandError> {
        let mut reader = self.open()?.reader.leaving_long();
        let (mut pieces, mut at_end) = (Pieces::default(), None);
        while let Some(item) = reader.next().map_err(|error| CommandError::reading(&self.shown, &error))? {
            match item {
                Item::Damage(damage) if damage.of_index => {}
                Item::Damage(damage) if damage.at_end => at_end = Some(damage),
                Item::Damage(damage) => return Err(self.damaged(&damage)),
                Item::Block(block) => {
                    match reader.leaves_out(&block) {
                        true => self.pass_long(&mut reader, &block, &mut pieces, &mut take)?,
                        false => pieces.pass_all(&block, &mut take)?,
                    }
                    reader.recycle(block);
                }
            }
        }
        Ok(at_end)
    }

    /// Passes on the events of a block that is too long for the memory.
    fn pass_long(
        &self,
        reader: &mut ReelReader,
        block: &Block,
        pieces: &mut Pieces,
        take: &mut impl FnMut(&Event<'_>) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        let mut failure = None;
        let passed = reader.pass_payload(block, |header, piece, is_last| {
            if failure.is_none() {
                failure = pieces.pass(header, piece, is_last, take).err();
            }
            Ok(())
        });
        failure.map_or(Ok(()), Err)?;
        let passed = passed.map_err(|error| CommandError::reading(&self.shown, &error))?;
        passed.map_err(|damage| self.damaged(&damage))
    }

    fn damaged(&self, damage: &Damage) -> CommandError {
        CommandError::new(ErrorKind::Input, format!("{}: {damage}", self.shown.display()))
            .hint("`mcpreel reel repair` writes an intact reel from what can be read")
    }
}

/// A text that is no recording.
pub(in crate::cli) struct Lines {
    opened: PathBuf,
    /// The path as the user knows it.
    pub shown: PathBuf,
}

/// The maximum length of what is passed on at once of a line. Unit: bytes.
const LINE_BYTES: u64 = 64 << 10;

impl Lines {
    /// The lines of a file; `None` if it is a recording, or no text.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub(in crate::cli) fn of(path: &TwicePath) -> Result<Option<Self>, CommandError> {
        if path.open().is_ok() || !path.opened.is_file() {
            return Ok(None);
        }
        let mut start = Vec::new();
        let lines = Self { opened: path.opened.clone(), shown: path.shown.clone() };
        lines.file()?.take(LINE_BYTES).read_to_end(&mut start).map_err(|error| lines.failed(&error))?;
        let is_cut = |error: std::str::Utf8Error| error.error_len().is_none();
        let is_control = |byte: &u8| *byte < 0x20 && !byte.is_ascii_whitespace() && *byte != 0x1b;
        let is_text = std::str::from_utf8(&start).err().is_none_or(is_cut) && !start.iter().any(is_control);
        Ok(is_text.then_some(lines))
    }

    /// Passes on every line with its number, from 1; a long one in pieces. Also passes on what is compressed in a line.
    /// Returns the numbers of the lines with compressed data that could not be read to its end.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub(in crate::cli) fn each(&self, mut take: impl FnMut(u64, &[u8])) -> Result<Vec<u64>, CommandError> {
        let mut input = io::BufReader::new(self.file()?);
        let (mut number, mut line, mut packed) = (1, Vec::new(), Packed::default());
        loop {
            line.clear();
            let read =
                (&mut input).take(LINE_BYTES).read_until(b'\n', &mut line).map_err(|error| self.failed(&error))?;
            if read == 0 {
                return Ok(packed.finish(&mut take));
            }
            take(number, &line);
            packed.take(number, &line, &mut take);
            number += u64::from(line.ends_with(b"\n"));
        }
    }

    fn file(&self) -> Result<File, CommandError> {
        File::open(&self.opened).map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &io::Error) -> CommandError {
        CommandError::reading(&self.shown, error)
    }
}

/// Divides events that are too long for the memory into pieces, each an event of its own, as recorders do it.
#[derive(Default)]
struct Pieces {
    /// How many events there are more because of that.
    added: u64,
}

impl Pieces {
    fn numbered(&self, header: &EventHeader) -> EventHeader {
        EventHeader { seq: header.seq + self.added, ..header.clone() }
    }

    /// Passes on the events of a block, with their new numbers.
    fn pass_all(
        &mut self,
        block: &Block,
        take: &mut impl FnMut(&Event<'_>) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        block.events().try_for_each(|event| match (self.added, event.header.framing) {
            (_, Framing::Fragment) if event.payload.len() > PIECE_BYTES => self.divide(&event, take),
            (0, _) => take(&event),
            _ => take(&Event { header: &self.numbered(event.header), payload: event.payload }),
        })
    }

    /// Passes on a long fragment in pieces, so that what is made of it is never as long.
    fn divide(
        &mut self,
        event: &Event<'_>,
        take: &mut impl FnMut(&Event<'_>) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        let last = (event.payload.len() - 1) / PIECE_BYTES;
        let mut pieces = event.payload.chunks(PIECE_BYTES).enumerate();
        pieces.try_for_each(|(number, piece)| self.pass(event.header, piece, number == last, take))
    }

    /// Passes on the next piece of an event.
    fn pass(
        &mut self,
        header: &EventHeader,
        piece: &[u8],
        is_last: bool,
        take: &mut impl FnMut(&Event<'_>) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        let mut header = self.numbered(header);
        let is_whole = is_last && piece.len() == header.len as usize;
        if !is_last {
            header.framing = Framing::Fragment;
            self.added += 1;
        } else if !is_whole && header.kind == EventKind::Message && header.framing != Framing::Fragment {
            header.flags = header.flags.with(Flags::TRUNCATED);
        }
        take(&Event { header: &header, payload: piece })
    }
}

/// A file without a name, which is gone when it is closed.
///
/// # Errors
///
/// It cannot be created.
pub(in crate::cli) fn unnamed_file() -> io::Result<File> {
    let folder = std::env::temp_dir();
    let path = folder.join(format!("mcpreel-{}-{}", std::process::id(), fastrand::u64(..)));
    let file = File::options().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}
