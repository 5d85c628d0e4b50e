//! Recording a session, for all commands: where the reel goes, what to do if it cannot be written there, and
//! reporting the end.
//!
//! Traffic comes first. If the reel cannot be written, the session continues with a reel in another folder or without
//! one, unless recording is required.

use crate::error::{CommandError, ErrorKind, Warn};
use crate::files::places::{Kind, Places};
use crate::files::reels;
use crate::platform::file_size_limit;
use crate::record::queue::OnOverload;
use crate::record::recorder::{Recorder, RecorderOptions, Summary};
use crate::record::storage::{Files, ForwardOnly, ReelFile, ReelLocation, SingleReel, Sink, open_free};
use crate::sessions::recording_status::RecordingStatus;
use crate::share::LiveRedactor;
use crate::trace::FileHeader;
use rustix::fs::{FileType, fstat};
use rustix::process::{Signal, getpid, kill_process};
use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What to do if the reel already exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnExisting {
    /// The command fails.
    Fail,
    /// The reel replaces it.
    Overwrite,
    /// The reel gets another name, because a client that starts the command cannot choose one.
    Rename,
}

impl OnExisting {
    /// For a session with a client on stdin, which names the same file each time, rename; otherwise fail.
    pub(crate) fn by_stdin() -> Self {
        if stdin_is_clients() { Self::Rename } else { Self::Fail }
    }
}

/// Whether a client started this process: then stdin is a pipe or a socket, not a terminal, a file or `/dev/null`.
pub(crate) fn stdin_is_clients() -> bool {
    fstat(rustix::stdio::stdin())
        .is_ok_and(|about| matches!(FileType::from_raw_mode(about.st_mode), FileType::Fifo | FileType::Socket))
}

/// What depends on the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Nothing: the session continues without it.
    Wanted,
    /// The session does not begin without it.
    ToBegin,
    /// The session does not continue without it.
    Always,
}

/// What to record, and where.
pub(crate) struct Plan<'a> {
    /// The file that the user named; `-` is stdout.
    pub output: Option<&'a Path>,
    /// Whether to overwrite an existing file.
    pub force: bool,
    /// The reel's name if the user did not name a file.
    pub name: &'a str,
    /// What to do if the file exists.
    pub on_existing: OnExisting,
    /// What depends on the recording.
    pub need: Need,
    /// What the reel says about itself.
    pub header: FileHeader,
    /// The maximum number of bytes that may wait for the recorder.
    pub queue_bytes: usize,
    /// What to do if the queue is full.
    pub on_overload: OnOverload,
    /// Removes secrets from everything before it is written; given to the first recording.
    pub redaction: Cell<Option<LiveRedactor>>,
}

impl<'a> Plan<'a> {
    /// The recording of a command's own session, to this file or to the folder of reels.
    pub(crate) fn of(output: Option<&'a Path>, name: &'a str, need: Need) -> Self {
        Self {
            output,
            force: false,
            name,
            on_existing: OnExisting::Fail,
            need,
            header: header(),
            queue_bytes: 2 << 20,
            on_overload: OnOverload::Block,
            redaction: Cell::default(),
        }
    }
}

/// The header of a reel that was written by this program.
pub(crate) fn header() -> FileHeader {
    FileHeader { tool: concat!("mcpreel ", env!("CARGO_PKG_VERSION")).into(), ..FileHeader::default() }
}

/// A running recording.
pub(crate) struct Recording {
    recorder: Recorder,
    place: PathBuf,
}

impl Recording {
    /// Starts recording.
    ///
    /// # Errors
    ///
    /// The file exists and must not get another name, or recording is required and the reel cannot be written.
    pub(crate) fn start(plan: &Plan<'_>, warn: Warn) -> Result<Self, CommandError> {
        file_size_limit::report_as_error();
        let options = RecorderOptions {
            header: plan.header.clone(),
            queue_bytes: plan.queue_bytes,
            on_overload: plan.on_overload,
            is_required: plan.need == Need::Always,
            complain: Box::new(warn),
            redaction: plan.redaction.take(),
        };
        let (started, place) = if plan.output == Some(Path::new("-")) {
            (Recorder::start(SingleReel::new(ForwardOnly(io::stdout())), options), PathBuf::from("-"))
        } else {
            let named = plan.output.map_or_else(|| PathBuf::from("the reel"), Path::to_owned);
            (Recorder::start(open(plan, warn)?, options), named)
        };
        let recorder = started
            .map_err(|error| CommandError::new(ErrorKind::Internal, format!("cannot start the recorder: {error}")))?;
        if let Some(why) = recorder.status().given_up() {
            recorder.finish();
            return Err(CommandError::new(ErrorKind::Internal, why));
        }
        // SIGTERM ends the session in the same way as a request from outside.
        recorder.status().when_given_up(|| {
            let _ = kill_process(getpid(), Signal::TERM);
        });
        Ok(Self { recorder, place })
    }

    /// The recorder.
    pub(crate) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// The state of the recording.
    pub(crate) fn status(&self) -> Arc<RecordingStatus> {
        Arc::clone(self.recorder.status())
    }

    /// The path of the reel; `-` for stdout.
    pub(crate) fn place(&self) -> PathBuf {
        self.recorder.status().reel().unwrap_or_else(|| self.place.clone())
    }

    /// The recorder, and what reports its end.
    pub(crate) fn into_parts(self) -> (Recorder, End) {
        let status = self.status();
        (self.recorder, End { status, place: self.place })
    }

    /// Finishes the reel.
    pub(crate) fn finish(self) -> (Summary, End) {
        let (recorder, end) = self.into_parts();
        (recorder.finish(), end)
    }
}

/// The end of a recording.
pub(crate) struct End {
    status: Arc<RecordingStatus>,
    place: PathBuf,
}

impl End {
    /// The path of the last reel.
    pub(crate) fn place(&self) -> PathBuf {
        self.status.reel().unwrap_or_else(|| self.place.clone())
    }

    /// Removes the reel of a session that did not begin.
    pub(crate) fn discard(&self) {
        self.status.discard();
    }

    /// Reports how recording went: always what was lost, and with `is_verbose` the number of events.
    ///
    /// # Errors
    /// The recording was required and failed.
    pub(crate) fn report(&self, summary: &Summary, is_verbose: bool, warn: Warn) -> Result<(), CommandError> {
        let place = self.place();
        let place = if place == Path::new("-") { "standard output".into() } else { place.display().to_string() };
        let lost = summary.lost_bytes;
        if lost > 0 && summary.events == 0 {
            warn(&format!(
                "nothing was recorded: {lost} bytes of traffic are missing in {place}, which was not written"
            ));
        } else if summary.events == 0 && summary.failure.is_some() {
            warn(&format!("{place} was not written; the session had no traffic"));
        } else if lost > 0 {
            warn(&format!("{lost} bytes of traffic are missing in {place}"));
        }
        if is_verbose {
            let plural = if summary.events == 1 { "" } else { "s" };
            warn(&format!("{} event{plural} in {place}", summary.events));
        }
        match self.status.given_up() {
            Some(why) => Err(CommandError::new(ErrorKind::Internal, format!("recording failed: {why}"))
                .hint("the session was ended because of --require-recording")),
            None => Ok(()),
        }
    }
}

/// Opens the first reel, if possible, and determines where later ones can be created.
fn open(plan: &Plan<'_>, warn: Warn) -> Result<Files, CommandError> {
    let name = plan.name.to_owned();
    let Some(path) = plan.output else {
        let locations = own_locations(&name);
        let first = match open_one_of(&locations, warn) {
            Ok(first) => Some(first),
            Err(None) if plan.need != Need::Wanted => return Err(reels::no_folder()),
            Err(Some((path, error))) if plan.need != Need::Wanted => return Err(CommandError::writing(&path, &error)),
            Err(_) => None,
        };
        return Ok(Files::new(first, locations, Box::new(Vec::new)));
    };
    let location =
        ReelLocation { path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()), makes_folder: false };
    let first = match open_named(path, &location, plan, warn) {
        Ok(first) => Some(first),
        Err(error) if error.kind == ErrorKind::Usage || plan.need != Need::Wanted => return Err(error),
        Err(error) => {
            let first = open_one_of(&own_locations(&name), warn).ok();
            if let Some(place) = first.as_ref().and_then(Sink::place) {
                warn(&format!("{}; recording to {} instead", error.message, place.path.display()));
            }
            first
        }
    };
    Ok(Files::new(first, vec![location], Box::new(move || own_locations(&name))))
}

/// The locations for a reel that the user did not name.
fn own_locations(name: &str) -> Vec<ReelLocation> {
    let name = reels::new_name(name);
    let location = |folder: PathBuf| ReelLocation { path: folder.join(&name), makes_folder: true };
    Places::here().reels().into_iter().map(location).collect()
}

/// Opens the file that the user named.
fn open_named(path: &Path, location: &ReelLocation, plan: &Plan<'_>, warn: Warn) -> Result<ReelFile, CommandError> {
    let failed = |error| CommandError::writing(path, &error);
    match reels::create(path, plan.force || plan.on_existing == OnExisting::Overwrite) {
        Ok(file) if reels::is_written_in_place(path) => Ok(ReelFile::in_place(file)),
        Ok(file) => ReelFile::at(path, file).map_err(failed),
        Err(error) if error.kind == ErrorKind::Usage && plan.on_existing == OnExisting::Rename => {
            let reel = open_free(location).map_err(failed)?;
            let place = reel.place().map(|place| place.path).unwrap_or_default();
            warn(&format!("{}; recording to {}", error.message, place.display()));
            Ok(reel)
        }
        Err(error) => Err(error),
    }
}

/// Creates a reel in the first folder where that is possible. The error is that of the first folder, if there is one.
fn open_one_of(locations: &[ReelLocation], warn: Warn) -> Result<ReelFile, Option<(PathBuf, io::Error)>> {
    let mut failure: Option<(PathBuf, io::Error)> = None;
    for location in locations {
        match open_free(location) {
            Ok(reel) => {
                if let Some(folder) = location.path.parent() {
                    Places::here().note(Kind::Reels, folder);
                }
                if let Some((failed, error)) = &failure {
                    let (failed, place) = (failed.display(), location.path.display());
                    warn(&format!("cannot write {failed}: {error}; recording to {place} instead"));
                }
                return Ok(reel);
            }
            Err(error) => drop(failure.get_or_insert((location.path.clone(), error))),
        }
    }
    Err(failure)
}
