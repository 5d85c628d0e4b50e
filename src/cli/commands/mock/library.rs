//! Reads recordings for a mock, and appends to them.

use super::MockOptions;
use super::upstream::Exchange;
use crate::cli::printer::note;
use crate::cli::recordings;
use crate::cli::redaction::{KeyOptions, here};
use crate::error::CommandError;
use crate::files::output::{PRIVATE, Replacement};
use crate::files::reels;
use crate::render::volatile::unused_place;
use crate::replay::mock::{Library, LibraryBuilder, Payloads};
use crate::runtime::mock::payloads::{InMemory, InReel};
use crate::share::{Learner, LiveRedactor, Redactor};
use crate::trace::described::payload;
use crate::trace::{EventKind, Flags, Gap, NewEvent, ReelReader, ReelWriter, WriterOptions};
use crate::wire::text::counted;
use crate::wire::{Direction, Framing};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Messages of at most this many bytes together stay in memory.
const IN_MEMORY: usize = 4 << 20;

/// The messages of several recordings, each with the number of its first one.
struct Joined(Vec<(u32, Box<dyn Payloads>)>);

impl Payloads for Joined {
    fn read(&self, number: u32, part: Option<Range<usize>>) -> Option<Vec<u8>> {
        let place = self.0.partition_point(|(first, _)| *first <= number).checked_sub(1)?;
        let (first, payloads) = &self.0[place];
        payloads.read(number - first, part)
    }
}

/// Reads recordings. What is damaged is reported, and the rest is served.
///
/// # Errors
///
/// A recording cannot be read, or none contains an answered request.
pub(super) fn read(paths: &[PathBuf], options: &MockOptions, ignored: &[String]) -> Result<Library, CommandError> {
    let builder = LibraryBuilder::new(options.matching(), ignored).mapped(options.substitutions());
    let (mut builder, mut joined, mut first) = (builder, Vec::new(), 0);
    if let Some(redaction) = redaction_of(paths)? {
        let redaction = Mutex::new(redaction);
        let of = move |request: &[u8]| redaction.lock().comparable(request);
        builder = builder.disguised(Arc::new(of));
    }
    if paths.len() > 1 && !options.streams.is_empty() {
        return Err(CommandError::usage("--stream chooses a session of one reel, but there are several"));
    }
    let mut is_damaged = false;
    for path in paths {
        builder.begin(first);
        let (payloads, count, damage) = read_one(path, &options.streams, &mut builder)?;
        joined.push((first, payloads));
        first += count;
        is_damaged |= damage;
    }
    let library = builder.finish(Arc::new(Joined(joined)));
    if is_damaged && let Some((place, method)) = library.unanswered().next() {
        let count = counted(library.unanswered().count() as u64, "recorded request");
        note(&format!("{count} without an answer in what can be read; the first is {place}, {method}"));
    }
    let unused = ignored.iter().zip(library.used()).filter(|(_, is_used)| !**is_used);
    unused.for_each(|(place, _)| note(&unused_place("ignore", place)));
    match (library.len(), paths) {
        (0, [path, ..]) => Err(recordings::without_client(path)),
        _ => Ok(library),
    }
}

/// Returns what makes requests comparable with those of redacted reels, if there is one among these. It knows the secrets of
/// all.
///
/// # Errors
///
/// A recording cannot be read, or its settings are not valid.
fn redaction_of(paths: &[PathBuf]) -> Result<Option<LiveRedactor>, CommandError> {
    let reels = paths.iter().filter(|path| recordings::is_reel_file(path));
    let mut redacted = Vec::new();
    for path in reels {
        let header = reels::open(path)?.0.header().clone();
        redacted.extend(Redactor::settings_of(&header).map(|settings| (path, settings)));
    }
    let Some((first, settings)) = redacted.first() else { return Ok(None) };
    if let Some((other, _)) = redacted.iter().find(|(_, others)| others != settings) {
        let error = format!("{} and {} were redacted with different settings", first.display(), other.display());
        return Err(CommandError::usage(error).hint("serve them separately"));
    }
    let mut learner = Learner::comparing(&here(settings.clone()))
        .map_err(|error| CommandError::usage(format!("the settings in {}: {error}", first.display())))?;
    for (path, _) in &redacted {
        // Damage is reported when the reel is read for the mock.
        recordings::open(path, None)?.each_event(|_| {}, |event| learner.learn(event))?;
    }
    Ok(Some(learner.finish().live()))
}

/// Reads one recording, or some of its sessions. Returns its messages, the number of its events, and whether it is damaged.
fn read_one(
    path: &Path,
    streams: &[u32],
    builder: &mut LibraryBuilder,
) -> Result<(Box<dyn Payloads>, u32, bool), CommandError> {
    let mut present = BTreeSet::new();
    let may_seek = recordings::is_reel_file(path);
    let (mut kept, mut bytes, mut count) = (Some(InMemory::default()), 0, 0);
    let damage = recordings::open(path, Some(note))?.each_event(
        |_| {},
        |event| {
            count = u32::try_from(event.header.seq).unwrap_or(u32::MAX - 1) + 1;
            present.insert(event.header.stream);
            if !streams.is_empty() && !streams.contains(&event.header.stream) {
                return;
            }
            builder.take(event);
            if event.header.kind == EventKind::Message
                && let Some(messages) = &mut kept
            {
                bytes += event.payload.len();
                messages.push(count - 1, event.body());
            }
            if may_seek && bytes > IN_MEMORY {
                kept = None;
            }
        },
    )?;
    damage.iter().for_each(|damage| note(&format!("{}: {damage}; the rest is served", path.display())));
    recordings::check_streams(path, streams, &present.into_iter().collect::<Vec<_>>())?;
    let payloads: Box<dyn Payloads> = match kept {
        Some(messages) => Box::new(messages),
        None => Box::new(InReel::new(ReelReader::open(path).map_err(|error| CommandError::reel(path, &error))?)),
    };
    Ok((payloads, count, !damage.is_empty()))
}

/// Refuses to append to something that is not a reel.
///
/// # Errors
///
/// It is not a reel.
pub(super) fn check_is_reel(path: &Path) -> Result<(), CommandError> {
    if recordings::is_reel_file(path) {
        return Ok(());
    }
    Err(CommandError::usage(format!("--on-miss record cannot append to {}", path.display()))
        .hint("it needs a reel; `mcpreel import` makes one"))
}

/// Appends exchanges to a reel, as a session of its own, which begins with a gap. What goes into a redacted reel is
/// redacted.
///
/// # Errors
///
/// The reel cannot be written.
pub(super) fn append(path: &Path, exchanges: &[Exchange]) -> Result<(), CommandError> {
    let failed = |error| CommandError::writing(path, &error);
    let (reader, _) = reels::open(path)?;
    let header = reader.header().clone();
    let mut replacement = Replacement::begin(path, PRIVATE).map_err(failed)?;
    let mut writer = ReelWriter::create(replacement.file(), &header, WriterOptions::default()).map_err(failed)?;
    let (mut last, mut streams) = (0, 0);
    reels::each_event(
        reader,
        path,
        note,
        |_| {},
        |event| {
            (last, streams) = (event.header.time.max(last), event.header.stream.max(streams));
            writer.append(event.again()).map_err(failed)
        },
    )?;
    let settings = Redactor::settings_of(&header);
    let learner = settings.map(|settings| KeyOptions::default().with(&here(settings))).transpose()?;
    let (stream, mut added) = (streams + 1, Vec::new());
    let gap = payload(&Gap::because("the rest of this session was not recorded, only what the recording lacked"));
    let (kind, flags, framing) = (EventKind::Gap, Flags::default(), Framing::Whole);
    added.push(NewEvent { time: last, stream, exchange: 0, kind, flags, framing, payload: &gap });
    for Exchange { request, response, took } in exchanges {
        for (direction, payload) in [(Direction::ClientToServer, request), (Direction::ServerToClient, response)] {
            if direction == Direction::ServerToClient {
                last = last.saturating_add(i64::try_from(took.as_nanos()).unwrap_or(i64::MAX));
            }
            let (flags, kind, framing) = (Flags::toward(direction), EventKind::Message, Framing::Lf);
            added.push(NewEvent { time: last, stream, exchange: 0, kind, flags, framing, payload });
        }
    }
    let mut redactor = learner.map(|mut learner| {
        added.iter().for_each(|event| learner.learn_new(event));
        learner.finish().live()
    });
    for event in added {
        match &mut redactor {
            Some(redactor) => {
                let (flags, payload) = redactor.single(&event);
                writer.append(NewEvent { flags, payload: &payload, ..event }).map_err(failed)?;
            }
            None => writer.append(event).map_err(failed)?,
        }
    }
    writer.finish().map_err(failed)?;
    replacement.commit().map_err(failed)
}
