//! Checking reels, for `validate`, `show --check` and `record --check`: the files that the user named, one after
//! another, and reels that still grow.

use crate::cli::printer::note;
use crate::cli::recordings::{BEGINNING, is_text};
use crate::cli::redaction::RedactOptions;
use crate::error::{CommandError, ErrorKind};
use crate::files::reels;
use crate::formats::{self, ImportFormat, jsonl};
use crate::trace::{FileHeader, FormatError, Item, ReelReader, ReelWriter, WriterOptions};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long to wait before a growing reel is read again.
pub(crate) const FOLLOW_PAUSE: Duration = Duration::from_millis(40);

/// Something to check that is open.
pub(crate) struct Opened {
    /// Its events.
    pub reader: ReelReader,
    /// Whether it is a reel; otherwise, its text is converted while it is read.
    pub is_reel: bool,
    /// The path of its JSON lines, if it has some.
    pub lines: String,
    conversion: Option<JoinHandle<Result<(), String>>>,
}

impl Opened {
    /// Returns why the text could not be converted to the end, if so.
    pub(crate) fn failure(&mut self) -> Option<String> {
        let ended = self.conversion.take()?.join();
        ended.map_or_else(|_| Some("the conversion failed".to_owned()), Result::err)
    }
}

/// Expands folders: each into the reels and JSON lines in it, sorted by name.
///
/// # Errors
///
/// A folder cannot be read, or has none.
pub(crate) fn expand(paths: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
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
            let message = format!("{}: no reels (*.reel) or JSON lines (*.jsonl) in this folder", path.display());
            return Err(CommandError::new(ErrorKind::Input, message));
        }
        found.sort();
        files.append(&mut found);
    }
    Ok(files)
}

/// Opens a reel, JSON lines or a transcript; `-` is stdin. The content decides, not the name.
///
/// # Errors
///
/// The file cannot be read, or is none of these.
pub(crate) fn open(path: &Path, redact: &RedactOptions) -> Result<Opened, CommandError> {
    let path = &reels::found(path);
    if redact.redact {
        let reader = redact.open_whole(Some(path))?.0.with_payloads();
        let lines = match path == Path::new("-") {
            true => "stdin.jsonl".to_owned(),
            false => path.with_extension("jsonl").display().to_string(),
        };
        return Ok(Opened { reader, is_reel: true, lines, conversion: None });
    }
    let is_stdin = path == Path::new("-");
    let mut input: Box<dyn BufRead + Send> = if is_stdin {
        Box::new(BufReader::with_capacity(BEGINNING, io::stdin()))
    } else {
        let file = File::open(path).map_err(|error| CommandError::reel(path, &FormatError::Io(error)))?;
        Box::new(BufReader::with_capacity(BEGINNING, file))
    };
    let start = input.fill_buf().map_err(|error| CommandError::reading(path, &error))?;
    if is_text(start) {
        return convert(path, input);
    }
    let (reader, lines) = if is_stdin {
        let reader = ReelReader::from_stream(Box::new(input)).map_err(|error| CommandError::reel(path, &error))?;
        (reader, "stdin.jsonl".to_owned())
    } else {
        (reels::open_whole(Some(path), note)?.0, path.with_extension("jsonl").display().to_string())
    };
    Ok(Opened { reader: reader.with_payloads(), is_reel: true, lines, conversion: None })
}

/// Reads another format as a reel. A thread converts it, so that nothing is kept in memory or in a file.
fn convert(path: &Path, mut input: Box<dyn BufRead + Send>) -> Result<Opened, CommandError> {
    let start = input.fill_buf().map_err(|error| CommandError::reading(path, &error))?;
    let format = formats::detected(start);
    let lines = if format.name == jsonl::IMPORT.name { path.display().to_string() } else { String::new() };
    let (source, sink) = io::pipe().map_err(|error| CommandError::reading(path, &error))?;
    let thread = std::thread::Builder::new().name("conversion".into());
    let work = move || copy(format, input, sink);
    let conversion = thread.spawn(work).map_err(|error| CommandError::reading(path, &error))?;
    match ReelReader::from_stream(Box::new(source)) {
        Ok(reader) => {
            Ok(Opened { reader: reader.with_payloads(), is_reel: false, lines, conversion: Some(conversion) })
        }
        Err(error) => {
            let why = conversion.join().ok().and_then(Result::err).unwrap_or_else(|| error.to_string());
            Err(CommandError::new(ErrorKind::Input, format!("{}: {why}", path.display()))
                .hint("a file to check is a reel, or JSON lines as `mcpreel export` writes them"))
        }
    }
}

fn copy(format: &ImportFormat, input: Box<dyn Read + Send>, sink: io::PipeWriter) -> Result<(), String> {
    let mut reader = (format.open)(Box::new(BufReader::new(input))).map_err(|error| error.to_string())?;
    let header: FileHeader = reader.header().clone();
    let gone = |error: io::Error| error.to_string();
    let mut writer = ReelWriter::create(sink, &header, WriterOptions::default()).map_err(gone)?;
    while let Some(event) = reader.next_event().map_err(|error| error.to_string())? {
        writer.append(event).map_err(gone)?;
    }
    writer.finish().map(drop).map_err(gone)
}

/// Reads a reel that grows, to its end, or until `goes_on` is false and everything that was written before is read.
///
/// # Errors
///
/// The reel cannot be read.
pub(crate) fn follow(
    reader: &mut ReelReader,
    mut goes_on: impl FnMut() -> bool,
    mut take: impl FnMut(&Item),
) -> io::Result<()> {
    let mut is_last_look = false;
    loop {
        match reader.next()? {
            Some(item) => {
                take(&item);
                if let Item::Block(block) = item {
                    reader.recycle(block);
                }
            }
            None if is_last_look || reader.has_ended() => return Ok(()),
            None => {
                is_last_look = !goes_on();
                if !is_last_look {
                    std::thread::sleep(FOLLOW_PAUSE);
                }
            }
        }
    }
}
