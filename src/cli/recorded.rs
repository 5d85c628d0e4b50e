//! Recordings as input: reels, and JSON lines in place of them.

use super::printer::note;
use crate::error::{CommandError, ErrorKind};
use crate::formats;
use crate::record::reels;
use crate::replay::{Conversation, Conversations};
use crate::trace::{ReelReader, ReelWriter, WriterOptions};
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor};
use std::path::{Path, PathBuf};

/// Opens a reel, or a file that `import` reads.
///
/// # Errors
///
/// The file cannot be read.
pub(super) fn open(path: &Path) -> Result<(ReelReader, PathBuf), CommandError> {
    match import(path)? {
        Some(reel) => ReelReader::from_stream(Box::new(Cursor::new(reel)))
            .map(|reader| (reader, path.to_owned()))
            .map_err(|error| CommandError::reel(path, &error)),
        None => reels::open_whole(Some(path), note),
    }
}

/// Whether a path is a reel that can be read in any order.
pub(super) fn is_reel_file(path: &Path) -> bool {
    path.is_file() && import(path).is_ok_and(|text| text.is_none())
}

/// The content of a text file as a reel; `None` if the file is not text.
fn import(path: &Path) -> Result<Option<Vec<u8>>, CommandError> {
    if !path.is_file() {
        return Ok(None);
    }
    let mut input = BufReader::new(File::open(path).map_err(|error| CommandError::reading(path, &error))?);
    let start = input.fill_buf().map_err(|error| CommandError::reading(path, &error))?;
    if start.first() != Some(&b'{') {
        return Ok(None);
    }
    let format = formats::IMPORT.iter().find(|format| (format.detect)(start));
    let Some(format) = format else { return Ok(None) };
    let failed = |reason: String| CommandError::new(ErrorKind::Input, format!("{}: {reason}", path.display()));
    let mut reader = (format.open)(Box::new(input)).map_err(|error| failed(error.to_string()))?;
    let header = reader.header().clone();
    let mut writer =
        ReelWriter::create(Vec::new(), &header, WriterOptions::default()).map_err(|error| failed(error.to_string()))?;
    while let Some(event) = reader.next_event().map_err(|error| failed(error.to_string()))? {
        writer.append(event).map_err(|error| failed(error.to_string()))?;
    }
    writer.finish().map(|(reel, _)| Some(reel)).map_err(|error| failed(error.to_string()))
}

/// The sessions of a recording in which the client sent something.
///
/// # Errors
///
/// The file cannot be read, or contains no message of a client.
pub(super) fn conversations(path: &Path) -> Result<Vec<Conversation>, CommandError> {
    let (reader, path) = open(path)?;
    let mut found = Conversations::default();
    reels::each_event(reader, &path, note, |event| {
        found.take(event);
        Ok(())
    })?;
    let found = found.finish();
    if found.is_empty() {
        let error = CommandError::new(ErrorKind::Input, format!("{}: no messages of a client", path.display()));
        return Err(error.hint("`mcpreel reel info` shows its content; a session that never began leaves such a reel"));
    }
    Ok(found)
}
