//! A stdio server behind a gateway: each session starts a server of its own, and all traffic is recorded in one reel.

use super::queue::{Queue, Ready, end_text};
use crate::process::child::ServerCommand;
use crate::sessions::answers::Answers;
use crate::sessions::control::{InjectionProgress, Session, choose};
use crate::sessions::injection::is_ours;
use crate::trace::{EventKind, Flags, TransportEvent};
use crate::transport::listen::gateway::{Backend, Gateway, Opened, SERVER_ENDED};
use crate::transport::local::stdio;
use crate::wire::{Direction, Framing};
use parking_lot::Mutex;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Instant;

/// Starts servers and records their traffic.
pub(crate) struct Bridge {
    command: ServerCommand,
    queue: Arc<Queue>,
    answers: Arc<Answers>,
    complain: Box<dyn Fn(&str) + Send + Sync>,
    /// Exit statuses of servers whose sessions are being closed.
    ends: Arc<Mutex<BTreeMap<u32, ExitStatus>>>,
}

impl Bridge {
    /// Servers of this command, recorded into this queue. `complain` is called when a server exits by itself.
    pub(crate) fn new(
        command: ServerCommand,
        queue: Arc<Queue>,
        complain: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        Self { command, queue, answers: Arc::default(), complain: Box::new(complain), ends: Arc::default() }
    }

    /// The injected requests that wait for their answers.
    pub(crate) fn answers(&self) -> &Arc<Answers> {
        &self.answers
    }

    fn push(&self, kind: EventKind, stream: u32, flags: Flags, framing: Framing, bytes: &[u8]) {
        self.queue.push_ready(Ready { kind, stream, exchange: 0, flags, framing }, bytes);
    }
}

impl Backend for Bridge {
    fn open(&self, stream: u32) -> Result<Opened, String> {
        let started = stdio::spawn(&self.command, None);
        let (link, server) = started.map_err(|error| format!("cannot start the server: {error}"))?;
        let mut reported = super::stdio::described(&self.command);
        (reported.pid, reported.behind) = (server.id(), Some("http".into()));
        self.queue.note(Ready::about(EventKind::StreamOpened, stream), &reported);
        let ends = Arc::clone(&self.ends);
        let end = async move {
            if let (Some(status), _) = server.end(stdio::Grace::USUAL).await {
                ends.lock().insert(stream, status);
            }
        };
        Ok(Opened { link, end: Box::pin(end) })
    }

    fn pass(&self, stream: u32, direction: Direction, message: Vec<u8>) -> Option<Vec<u8>> {
        let injected = if is_ours(&message) { Flags::INJECTED } else { Flags::default() };
        self.push(EventKind::Message, stream, Flags::toward(direction).with(injected), Framing::Lf, &message);
        if self.answers.awaits(direction) { self.answers.keep(stream, direction, message) } else { Some(message) }
    }

    fn made(&self, stream: u32, message: &[u8]) {
        self.push(EventKind::Message, stream, Flags::SERVER_TO_CLIENT.with(Flags::INJECTED), Framing::Lf, message);
    }

    fn lost(&self, stream: u32, reported: &str) {
        let flags = Flags::SERVER_TO_CLIENT.with(Flags::FAILED);
        let ready = Ready { flags, ..Ready::about(EventKind::Transport, stream) };
        self.queue.note(ready, &TransportEvent::Dropped { reason: reported.to_owned() });
        (self.complain)(&format!("session {stream}: {reported}"));
    }

    fn failed(&self, stream: u32, why: &str) {
        let ready = Ready { flags: Flags::default().with(Flags::FAILED), ..Ready::about(EventKind::Transport, stream) };
        self.queue.note(ready, &TransportEvent::Failed { reason: why.to_owned() });
        (self.complain)(&format!("session {stream}: {why}"));
    }

    fn refused(&self, status: u16, reason: &str) {
        (self.complain)(&format!("mcpreel answered a request with {status}: {reason}"));
    }

    fn see_stderr(&self, stream: u32, bytes: &[u8]) {
        self.push(EventKind::Stderr, stream, Flags::SERVER_TO_CLIENT, Framing::Whole, bytes);
    }

    fn closed(&self, stream: u32, by: &str) {
        let status = self.ends.lock().remove(&stream);
        self.queue.note_end(stream, status, by == SERVER_ENDED, Some(by));
        if by == SERVER_ENDED {
            let how = status.map(end_text).unwrap_or_default();
            (self.complain)(&format!("session {stream}: the server ended{how}"));
        }
    }
}

/// The sessions behind a gateway, for their control socket.
pub(crate) struct GatewaySession {
    /// The gateway.
    pub gateway: Arc<Gateway>,
    /// What starts and records its servers.
    pub bridge: Arc<Bridge>,
}

impl Session for GatewaySession {
    fn put(
        &self,
        toward: Direction,
        stream: u32,
        message: &[u8],
        _deadline: Instant,
    ) -> Result<InjectionProgress, String> {
        let stream = choose(stream, &self.gateway.streams(), "no client has opened a session yet")?;
        let flags = Flags::toward(toward).with(Flags::INJECTED);
        let record = |message: &[u8]| self.bridge.push(EventKind::Message, stream, flags, Framing::Lf, message);
        self.gateway.put(stream, toward, message.to_vec(), record).map(|()| InjectionProgress::Queued)
    }

    fn details(&self) -> Map<String, Value> {
        [("streams".to_owned(), self.gateway.streams().into())].into_iter().collect()
    }
}
