//! The reel of a built-in server: the messages of its sessions, and each run of a handler.

use super::sessions::SessionTraffic;
use crate::error::{CommandError, Warn};
use crate::record::queue::{Queue, Ready};
use crate::record::recording::{Need, OnExisting, Plan, Recording};
use crate::server::Report;
use crate::sessions::injection::is_ours;
use crate::sessions::recording_status::RecordingStatus;
use crate::trace::{Closed, EventKind, Flags, Opened};
use crate::wire::{Direction, Framing};
use parking_lot::Mutex;
use serde_json::json;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// A recorder that all sessions of a server share.
#[derive(Clone)]
pub(crate) struct SharedRecorder {
    queue: Arc<Queue>,
    recording: Arc<Mutex<Option<Recording>>>,
    status: Arc<RecordingStatus>,
    command: &'static str,
}

impl SharedRecorder {
    /// Starts recording for a command: to the file that the user named, or to the folder of reels.
    ///
    /// # Errors
    ///
    /// The reel cannot be created.
    pub(crate) fn start(
        command: &'static str,
        path: Option<&Path>,
        need: Need,
        on_existing: OnExisting,
        warn: Warn,
    ) -> Result<Self, CommandError> {
        let recording = Recording::start(&Plan { on_existing, ..Plan::of(path, command, need) }, warn)?;
        let (queue, status) = (Arc::clone(recording.recorder().queue()), recording.status());
        if let Some(path) = status.reel() {
            warn(&format!("the session is being recorded to {}", path.display()));
        }
        Ok(Self { queue, recording: Arc::new(Mutex::new(Some(recording))), status, command })
    }

    /// The state of the recording.
    pub(crate) fn status(&self) -> Arc<RecordingStatus> {
        Arc::clone(&self.status)
    }

    /// Records traffic of a session.
    pub(crate) fn traffic(&self, stream: u32, passing: SessionTraffic<'_>) {
        match passing {
            SessionTraffic::Opened => {
                let server = Some(format!("mcpreel {}", self.command));
                let about = Opened { server, ..Opened::over("memory") };
                self.queue.note(Ready::about(EventKind::StreamOpened, stream), &about);
            }
            SessionTraffic::Message(direction, message) => {
                let ours = if is_ours(message) { Flags::INJECTED } else { Flags::default() };
                let flags = Flags::toward(direction).with(ours);
                let about = Ready::about(EventKind::Message, stream);
                self.queue.push_ready(Ready { flags, framing: Framing::Lf, ..about }, message);
            }
            SessionTraffic::Closed(by) => {
                self.queue.note(Ready::about(EventKind::StreamClosed, stream), &Closed::by(by))
            }
        }
    }

    /// Records a report, if it is about a handler.
    pub(crate) fn report(&self, stream: u32, report: &Report) {
        if let Some(note) = handled(report) {
            self.queue.note(Ready::about(EventKind::Note, stream), &note);
        }
    }

    /// Records a note about all sessions.
    pub(crate) fn note(&self, note: &serde_json::Value) {
        self.queue.note(Ready::about(EventKind::Note, 0), note);
    }

    /// Finishes the reel.
    pub(crate) fn finish(&self, warn: Warn) {
        let recording = self.recording.lock().take();
        if let Some((summary, end)) = recording.map(Recording::finish)
            && let Some(failure) = summary.failure
        {
            let place = end.place();
            warn(&format!("the recording in {} is incomplete: {failure}", place.display()));
        }
    }
}

/// The note in a reel for a report about a handler.
pub(crate) fn handled(report: &Report) -> Option<serde_json::Value> {
    match report {
        Report::Proposal(report) if report["report"] == "handler" => {
            let mut note = report.clone();
            if let Some(members) = note.as_object_mut() {
                members.shift_remove("report");
            }
            Some(json!({"handler": note}))
        }
        _ => None,
    }
}

/// A writer whose messages are recorded. Each message must be written whole.
pub(crate) struct Copied<W> {
    /// Where messages are written.
    pub out: W,
    /// The recorder, if the session is recorded.
    pub recorder: Option<SharedRecorder>,
}

impl<W: Write> Write for Copied<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn write_all(&mut self, message: &[u8]) -> io::Result<()> {
        if let Some(recorder) = &self.recorder {
            let message = message.strip_suffix(b"\n").unwrap_or(message);
            recorder.traffic(0, SessionTraffic::Message(Direction::ServerToClient, message));
        }
        self.out.write_all(message)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
