//! The recording of a session, for every command that keeps one: where its reel goes, what is done where it cannot go
//! there, and how the end is told.
//!
//! Traffic comes first. A session whose reel cannot be written goes on, in another folder or unrecorded, unless its
//! recording is required.

use super::places::{Kind, Places};
use super::reels;
use crate::error::{CommandError, ErrorKind, Warn};
use crate::record::queue::OnOverload;
use crate::record::recorder::{Recorder, RecorderOptions, Summary};
use crate::record::status::Status;
use crate::record::stdio::is_ignored;
use crate::record::storage::{Files, ForwardOnly, ReelFile, ReelLocation, SingleReel, Sink, open_free};
use crate::trace::FileHeader;
use rustix::fs::{FileType, fstat};
use rustix::process::{Signal, getpid, kill_process};
use signal_hook::consts::SIGXFSZ;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What happens where a file is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnExisting {
    /// The command fails.
    Fail,
    /// The reel gets another name: whoever starts the command cannot choose one.
    Rename,
}

impl OnExisting {
    /// What is right for a session whose client is on standard input: a client names the same file at every start.
    pub fn by_stdin() -> Self {
        if stdin_is_clients() { Self::Rename } else { Self::Fail }
    }
}

/// Whether a client started this process: then standard input is a pipe or a socket, and no terminal, file or
/// `/dev/null`.
pub fn stdin_is_clients() -> bool {
    fstat(rustix::stdio::stdin())
        .is_ok_and(|about| matches!(FileType::from_raw_mode(about.st_mode), FileType::Fifo | FileType::Socket))
}

/// What depends on the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing: the session goes on without.
    Wanted,
    /// The session does not begin without.
    ToBegin,
    /// The session does not go on without.
    Always,
}

/// What is to be recorded, and where.
pub struct Plan<'a> {
    /// Where the user says; `-` is standard output.
    pub output: Option<&'a Path>,
    /// Replaces the file.
    pub force: bool,
    /// What the reel is called where the user says nothing.
    pub name: &'a str,
    /// What happens where the file is there already.
    pub on_existing: OnExisting,
    /// What depends on it.
    pub need: Need,
    /// What the reel says about itself.
    pub header: FileHeader,
    /// How many bytes may wait for the recorder.
    pub queue_bytes: usize,
    /// What is done when more would have to wait.
    pub on_overload: OnOverload,
}

impl<'a> Plan<'a> {
    /// A recording of a command's own session, into this file or among the others.
    pub fn of(output: Option<&'a Path>, name: &'a str, need: Need) -> Self {
        Self {
            output,
            force: false,
            name,
            on_existing: OnExisting::Fail,
            need,
            header: header(),
            queue_bytes: 2 << 20,
            on_overload: OnOverload::Block,
        }
    }
}

/// A reel's header that names this program.
pub fn header() -> FileHeader {
    FileHeader { tool: concat!("mcpreel ", env!("CARGO_PKG_VERSION")).into(), ..FileHeader::default() }
}

/// A session's recording, at work.
pub struct Recording {
    recorder: Recorder,
    place: PathBuf,
}

impl Recording {
    /// Starts it.
    ///
    /// # Errors
    /// The file is there already and may not get another name, or the recording is required and cannot be written.
    pub fn start(plan: &Plan<'_>, warn: Warn) -> Result<Self, CommandError> {
        // A file that reaches the limit of its size is a failed write, which is told; the signal would end the session.
        // What is ignored stays so for the server too, and a handler is not handed on.
        if !is_ignored(SIGXFSZ) {
            let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
        }
        let options = RecorderOptions {
            header: plan.header.clone(),
            queue_bytes: plan.queue_bytes,
            on_overload: plan.on_overload,
            is_required: plan.need == Need::Always,
            complain: Box::new(warn),
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
        // The way in which a session is ended from outside.
        recorder.status().when_given_up(|| {
            let _ = kill_process(getpid(), Signal::TERM);
        });
        Ok(Self { recorder, place })
    }

    /// The recorder.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// How it goes.
    pub fn status(&self) -> Arc<Status> {
        Arc::clone(self.recorder.status())
    }

    /// Where the reel is: `-` for standard output.
    pub fn place(&self) -> PathBuf {
        self.recorder.status().reel().unwrap_or_else(|| self.place.clone())
    }

    /// The recorder alone, and what tells the end of it.
    pub fn into_parts(self) -> (Recorder, End) {
        let status = self.status();
        (self.recorder, End { status, place: self.place })
    }

    /// Ends the reel.
    pub fn finish(self) -> (Summary, End) {
        let (recorder, end) = self.into_parts();
        (recorder.finish(), end)
    }
}

/// The end of a recording.
pub struct End {
    status: Arc<Status>,
    place: PathBuf,
}

impl End {
    /// Where the last reel is.
    pub fn place(&self) -> PathBuf {
        self.status.reel().unwrap_or_else(|| self.place.clone())
    }

    /// Tells how recording went: losses always, counts where the user wants to hear of them.
    ///
    /// # Errors
    /// The recording was required and failed.
    pub fn report(&self, summary: &Summary, is_verbose: bool, warn: Warn) -> Result<(), CommandError> {
        let place = self.place();
        if summary.lost_bytes > 0 {
            let lost = summary.lost_bytes;
            warn(&format!("{lost} bytes of traffic are not in {}", place.display()));
        }
        if is_verbose {
            warn(&format!("{} events in {}", summary.events, place.display()));
        }
        match self.status.given_up() {
            Some(why) => Err(CommandError::new(ErrorKind::Internal, format!("the recording failed: {why}"))
                .hint("the session was ended because of --require-recording")),
            None => Ok(()),
        }
    }
}

/// Opens the first reel, where that can be; and where others can be made after it.
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

/// Where a recording goes that the user does not place.
fn own_locations(name: &str) -> Vec<ReelLocation> {
    let name = reels::new_name(name);
    let location = |folder: PathBuf| ReelLocation { path: folder.join(&name), makes_folder: true };
    Places::here().reels().into_iter().map(location).collect()
}

/// Opens the file that the user named.
fn open_named(path: &Path, location: &ReelLocation, plan: &Plan<'_>, warn: Warn) -> Result<ReelFile, CommandError> {
    let failed = |error| CommandError::writing(path, &error);
    match reels::create(path, plan.force) {
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

/// Makes a reel in the first folder that takes one. The error is the first, with its path, where there is a folder.
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
