//! `replay --update`: replaces a recording by the new session.

use crate::cli::recordings::{self, twice::TwicePath};
use crate::cli::redaction::{KeyOptions, here};
use crate::error::CommandError;
use crate::files::output::{PRIVATE, Replacement};
use crate::formats::{self, ExportFormat, ExportOptions};
use crate::share::Redactor;
use crate::trace::{ReelWriter, WriterOptions};
use std::io::{BufWriter, Write};
use std::path::Path;

/// Refuses a recording in a format that mcpreel cannot write.
///
/// # Errors
///
/// It has such a format, or cannot be read.
pub(super) fn check(recording: &Path) -> Result<(), CommandError> {
    exporter(recording).map(drop)
}

/// Replaces a recording by a new session, in the format of the recording. What replaces a redacted recording is redacted
/// with the same settings.
///
/// # Errors
///
/// One of the two cannot be read, or the recording cannot be written.
pub(super) fn update(recording: &Path, session: &Path) -> Result<(), CommandError> {
    let export = exporter(recording)?;
    let source = disguised_as(recording, session)?;
    let failed = |error| CommandError::writing(recording, &error);
    let mut replacement = Replacement::begin(recording, PRIVATE).map_err(failed)?;
    let mut out = BufWriter::new(replacement.file());
    match export {
        None => write_reel(&source, &mut out)?,
        Some(format) => write_text(format, &source, &mut out)?,
    }
    out.flush().map_err(failed)?;
    drop(out);
    replacement.commit().map_err(failed)
}

/// Returns the format in which to write a recording; `None` for a reel.
fn exporter(recording: &Path) -> Result<Option<&'static ExportFormat>, CommandError> {
    let Some(format) = recordings::open(recording, None)?.format else { return Ok(None) };
    let export = formats::EXPORT.iter().find(|export| export.name == format.name);
    export.map(Some).ok_or_else(|| {
        let error = format!("--update cannot write {}, which has the format {}", recording.display(), format.name);
        CommandError::usage(error).hint("`mcpreel import` makes a reel of it")
    })
}

/// Opens a session: redacted if the recording is.
fn disguised_as(recording: &Path, session: &Path) -> Result<TwicePath, CommandError> {
    let source = TwicePath::of(Some(session))?;
    match Redactor::settings_of(&recordings::header(recording)?) {
        None => Ok(source),
        Some(settings) => {
            // The pseudonyms in the recording were sent again.
            let learner = KeyOptions::default().with(&here(settings))?.keeping_pseudonyms();
            Ok(crate::cli::redaction::redacted_by(learner, &source)?.0)
        }
    }
}

fn write_reel(source: &TwicePath, out: impl Write) -> Result<(), CommandError> {
    let header = source.open()?.reader.header().clone();
    let mut writer = ReelWriter::create(out, &header, WriterOptions::default()).map_err(CommandError::output)?;
    source.each_event(|event| writer.append(event.again()).map_err(CommandError::output))?;
    writer.finish().map(drop).map_err(CommandError::output)
}

fn write_text(format: &ExportFormat, source: &TwicePath, out: &mut impl Write) -> Result<(), CommandError> {
    let mut exporter = format.exporter(&ExportOptions::default());
    exporter.begin(source.open()?.reader.header(), out).map_err(CommandError::output)?;
    source.each_event(|event| exporter.event(event, out).map_err(CommandError::output))?;
    exporter.end(out).map_err(CommandError::output)
}
