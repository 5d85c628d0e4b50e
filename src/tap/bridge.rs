//! A stdio server behind a gateway: every session starts a server of its own, and what passes is recorded alike.

use super::queue::{Queue, Ready};
use super::secrets;
use crate::trace::{EventKind, Flags};
use crate::transport::child::ServerCommand;
use crate::transport::gateway::{Backend, Opened};
use crate::transport::stdio;
use crate::wire::{Direction, Framing};
use serde_json::json;
use std::sync::Arc;

/// Starts servers and records what passes to and from them.
pub struct Bridge {
    command: ServerCommand,
    queue: Arc<Queue>,
}

impl Bridge {
    /// Servers of this command, recorded into this queue.
    pub fn new(command: ServerCommand, queue: Arc<Queue>) -> Self {
        Self { command, queue }
    }

    fn push(&self, kind: EventKind, stream: u32, direction: Direction, framing: Framing, bytes: &[u8]) {
        let flags = Flags::toward(direction);
        self.queue.push_ready(Ready { kind, stream, exchange: 0, flags, framing }, bytes);
    }
}

impl Backend for Bridge {
    fn open(&self, stream: u32) -> Result<Opened, String> {
        let started = stdio::spawn(&self.command, None);
        let (link, server) = started.map_err(|error| format!("the server cannot be started: {error}"))?;
        let told = json!({
            "transport": "stdio", "command": secrets::redact_arguments(&self.command.words()),
            "env": self.command.env_names(), "pid": server.id(), "behind": "http",
        });
        self.queue.note(Ready::about(EventKind::StreamOpened, stream), &told);
        let end = async move {
            server.end().await;
        };
        Ok(Opened { link, end: Box::pin(end) })
    }

    fn see(&self, stream: u32, direction: Direction, message: &[u8]) {
        self.push(EventKind::Message, stream, direction, Framing::Lf, message);
    }

    fn see_stderr(&self, stream: u32, bytes: &[u8]) {
        self.push(EventKind::Stderr, stream, Direction::ServerToClient, Framing::Whole, bytes);
    }

    fn closed(&self, stream: u32, by: &str) {
        self.queue.note(Ready::about(EventKind::StreamClosed, stream), &json!({ "by": by }));
    }
}
