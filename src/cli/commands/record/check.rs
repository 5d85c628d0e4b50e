//! `record --check`: findings on stderr while the session is recorded. They are found in the reel, on a thread of their
//! own, so that the traffic never waits for the check.

use super::super::validate::{options::Prepared, project_settings, unchecked};
use crate::check::{Check, CheckedReel, Located, Run};
use crate::cli::Context;
use crate::cli::following;
use crate::cli::packs::PackOptions;
use crate::cli::printer::write_lines;
use crate::cli::redaction::RedactOptions;
use crate::cli::secret_warning::Shared;
use crate::error::{CommandError, ErrorKind};
use crate::process::threads;
use crate::record::recording::Recording;
use crate::render::findings;
use crate::render::style::Palette;
use crate::render::text::printable;
use crate::sessions::recording_status::RecordingStatus;
use crate::trace::{Item, ReelReader};
use std::cell::RefCell;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// The width of findings.
const WIDTH: usize = 100;

/// A check of the reel that is being recorded.
pub(super) struct Watch {
    has_ended: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Watch {
    /// Starts the check, if the user wants it.
    ///
    /// # Errors
    ///
    /// The reel goes to a pipe, or the settings file is invalid.
    pub(super) fn start(
        (is_wanted, is_redacted): (bool, bool),
        packs: &PackOptions,
        recording: &Recording,
        context: &Context,
    ) -> Result<Option<Self>, CommandError> {
        if !is_wanted {
            return Ok(None);
        }
        if recording.place() == Path::new("-") {
            return Err(CommandError::usage("--check reads the reel, which goes to stdout here")
                .hint("write it to a file: -o FILE"));
        }
        let has_ended = Arc::<AtomicBool>::default();
        let watcher = Watcher {
            status: recording.status(),
            has_ended: Arc::clone(&has_ended),
            prepared: project_settings(packs, false)?,
            palette: context.printer.complaint_palette(),
            // What is recorded without secrets has none in its findings.
            shared: Shared::new(&RedactOptions::default(), is_redacted || io::stderr().is_terminal())?.into(),
        };
        let thread = threads::start("check", move || watcher.run());
        let thread =
            thread.map_err(|error| CommandError::new(ErrorKind::Internal, format!("cannot check: {error}")))?;
        Ok(Some(Self { has_ended, thread }))
    }

    /// Reads the reel to its end, after the recorder has finished, and reports the counts.
    pub(super) fn finish(self) {
        self.has_ended.store(true, Ordering::Release);
        let _ = self.thread.join();
    }
}

/// What the thread needs.
struct Watcher {
    status: Arc<RecordingStatus>,
    has_ended: Arc<AtomicBool>,
    prepared: Prepared,
    palette: Palette,
    /// What is a secret in the findings.
    shared: RefCell<Shared>,
}

impl Watcher {
    fn run(self) {
        let mut reels: Vec<CheckedReel> = Vec::new();
        loop {
            let has_ended = self.has_ended.load(Ordering::Acquire);
            match self
                .status
                .reel()
                .filter(|path| reels.last().is_none_or(|last| last.name != path.display().to_string()))
            {
                Some(path) => match self.check(&path, &reels) {
                    Ok(reel) => reels.push(reel),
                    Err(_) if !has_ended => std::thread::sleep(following::FOLLOW_PAUSE),
                    Err(why) => return self.print(&format!("mcpreel: cannot check {}: {why}\n", path.display())),
                },
                None if has_ended => break,
                None => std::thread::sleep(following::FOLLOW_PAUSE),
            }
        }
        let run = Run::new(reels, &self.prepared.baseline);
        let mut text = String::new();
        let _ = findings::summary(&run, &self.palette, &mut text);
        text.lines().for_each(|line| self.print(&format!("mcpreel: {line}\n")));
        self.shared.borrow().print();
    }

    /// Checks one reel until it ends, or the recording continues in another.
    fn check(&self, path: &PathBuf, before: &[CheckedReel]) -> Result<CheckedReel, String> {
        let reader = ReelReader::open(path).map_err(|error| error.to_string())?;
        let mut reader = reader.following().with_payloads();
        let mut check = Check::new(&self.prepared.settings, &self.prepared.baseline).after(before);
        let goes_on =
            || !self.has_ended.load(Ordering::Acquire) && self.status.reel().is_none_or(|current| current == *path);
        let followed = following::follow(&mut reader, goes_on, |item| match item {
            Item::Damage(damage) => check.take_damage(damage),
            Item::Block(block) => {
                block.events().for_each(|event| check.observe(&event, &mut |found| self.print_finding(found)))
            }
        });
        followed.map_err(|error| error.to_string())?;
        let checked = check.finish(&mut |found| self.print_finding(found));
        Ok(CheckedReel { checked, ..unchecked(path) })
    }

    fn print_finding(&self, found: &Located) {
        let mut text = String::from("mcpreel: ");
        let _ = findings::single(found, WIDTH, &self.palette, &mut text);
        self.print(&self.shared.borrow_mut().text(text));
    }

    fn print(&self, text: &str) {
        write_lines(&printable(text, !self.palette.is_plain()));
    }
}
