//! The reel of a server of its own: what passes in its sessions, and each run of a handler.

use crate::cli::Context;
use crate::cli::printer::note;
use crate::error::CommandError;
use crate::record::queue::{Queue, Ready};
use crate::record::recording::{Need, OnExisting, Plan, Recording};
use crate::record::status::Status;
use crate::runtime::sessions::SessionTraffic;
use crate::server::Report;
use crate::sessions::injection::is_ours;
use crate::trace::{EventKind, Flags};
use crate::wire::{Direction, Framing};
use serde_json::json;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A recorder that is shared by all sessions.
#[derive(Clone)]
pub struct SharedRecorder {
    queue: Arc<Queue>,
    recording: Arc<Mutex<Option<Recording>>>,
    status: Arc<Status>,
    command: &'static str,
}

impl SharedRecorder {
    /// Starts it for a command of ours: where the user says, or among the recordings.
    pub fn start(
        command: &'static str,
        path: Option<&Path>,
        need: Need,
        on_existing: OnExisting,
        context: &Context,
    ) -> Result<Self, CommandError> {
        let recording = Recording::start(&Plan { on_existing, ..Plan::of(path, command, need) }, note)?;
        let (queue, status) = (Arc::clone(recording.recorder().queue()), recording.status());
        if let Some(path) = status.reel() {
            context.printer.note(&format!("the session is kept in {}", path.display()));
        }
        Ok(Self { queue, recording: Arc::new(Mutex::new(Some(recording))), status, command })
    }

    /// How it goes.
    pub fn status(&self) -> Arc<Status> {
        Arc::clone(&self.status)
    }

    /// Something passes.
    pub fn see(&self, stream: u32, passing: SessionTraffic<'_>) {
        match passing {
            SessionTraffic::Opened => {
                let about = json!({"transport": "memory", "server": format!("mcpreel {}", self.command)});
                self.queue.note(Ready::about(EventKind::StreamOpened, stream), &about);
            }
            SessionTraffic::Message(direction, message) => {
                let ours = if is_ours(message) { Flags::INJECTED } else { Flags::default() };
                let flags = Flags::toward(direction).with(ours);
                let about = Ready::about(EventKind::Message, stream);
                self.queue.push_ready(Ready { flags, framing: Framing::Lf, ..about }, message);
            }
            SessionTraffic::Closed(by) => {
                self.queue.note(Ready::about(EventKind::StreamClosed, stream), &json!({"by": by}))
            }
        }
    }

    /// Keeps a fact that is a handler's.
    pub fn fact(&self, stream: u32, fact: &Report) {
        if let Some(note) = handled(fact) {
            self.queue.note(Ready::about(EventKind::Note, stream), &note);
        }
    }

    /// Keeps a note on all sessions.
    pub fn note(&self, note: &serde_json::Value) {
        self.queue.note(Ready::about(EventKind::Note, 0), note);
    }

    /// Ends the reel.
    pub fn finish(&self, context: &Context) {
        let recording = self.recording.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((summary, end)) = recording.map(Recording::finish)
            && let Some(failure) = summary.failure
        {
            let place = end.place();
            context.printer.note(&format!("not all of the session is in {}: {failure}", place.display()));
        }
    }
}

/// The note that stands in a reel for a fact about a handler.
pub fn handled(fact: &Report) -> Option<serde_json::Value> {
    match fact {
        Report::Proposal(fact) if fact["report"] == "handler" => {
            let mut note = fact.clone();
            if let Some(members) = note.as_object_mut() {
                members.shift_remove("report");
            }
            Some(json!({"handler": note}))
        }
        _ => None,
    }
}

/// A way out whose messages, each written whole, are kept as they go.
pub struct Copied<W> {
    /// The way out.
    pub out: W,
    /// Where they are kept.
    pub keep: Option<SharedRecorder>,
}

impl<W: Write> Write for Copied<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn write_all(&mut self, message: &[u8]) -> io::Result<()> {
        if let Some(keep) = &self.keep {
            let message = message.strip_suffix(b"\n").unwrap_or(message);
            keep.see(0, SessionTraffic::Message(Direction::ServerToClient, message));
        }
        self.out.write_all(message)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
