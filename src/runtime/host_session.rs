//! The host as a live session: clients of its control socket can inject messages into the connection of one of its
//! servers, in either direction. Server number N is stream N.

use crate::proposals::host::ServerId;
use crate::record::queue::{Queue, Ready};
use crate::runtime::host::{Delivery, Message, MessageObserver};
use crate::runtime::host_notes::stream_of;
use crate::sessions::answers::Answers;
use crate::sessions::control::{InjectionProgress, Session, choose};
use crate::trace::{EventKind, Flags};
use crate::wire::Direction;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc;

/// The maximum number of injected messages that wait to be sent.
const WAITING: usize = 64;

/// The part of a host that clients of its control socket can use.
pub(crate) struct HostSession {
    servers: Vec<String>,
    queue: Arc<Queue>,
    put: mpsc::Sender<Message>,
}

impl HostSession {
    /// The session, and how the host delivers messages because of it.
    pub(crate) fn new(servers: Vec<String>, queue: Arc<Queue>, answers: Arc<Answers>) -> (Self, Delivery) {
        let (put, injected) = mpsc::channel(WAITING);
        let watch = TakeOut { queue: Arc::clone(&queue), answers };
        (Self { servers, queue, put }, Delivery::AtOnce { watch: Box::new(watch), injected })
    }

    fn streams(&self) -> Vec<u32> {
        (0..self.servers.len()).map(|at| stream_of(ServerId(at))).collect()
    }
}

/// Removes responses to injected messages from the connection.
struct TakeOut {
    queue: Arc<Queue>,
    answers: Arc<Answers>,
}

impl MessageObserver for TakeOut {
    fn pass(&mut self, message: Message) -> Option<Message> {
        let Message { server, direction, bytes } = message;
        if !self.answers.awaits(direction) {
            return Some(Message { server, direction, bytes });
        }
        let stream = stream_of(server);
        // The host's messages are recorded on their way to the server; those of servers were recorded when they
        // arrived.
        let kept = self.answers.keep_recorded(stream, direction, bytes, |taken| {
            if direction == Direction::ClientToServer {
                record(&self.queue, direction, stream, taken);
            }
        });
        kept.map(|bytes| Message { server, direction, bytes })
    }
}

/// Records an injected message, or the response to one.
fn record(queue: &Queue, direction: Direction, stream: u32, message: &[u8]) {
    let flags = Flags::toward(direction).with(Flags::INJECTED);
    queue.push_ready(Ready { flags, ..Ready::about(EventKind::Message, stream) }, message);
}

impl Session for HostSession {
    fn put(&self, toward: Direction, stream: u32, message: &[u8], _: Instant) -> Result<InjectionProgress, String> {
        if stream == 0 && self.servers.len() > 1 {
            let named: Vec<String> = (1..).zip(&self.servers).map(|(at, name)| format!("{at} is {name}")).collect();
            return Err(format!(
                "the host has several servers: {}; choose one, for example --session NAME#1",
                named.join(", ")
            ));
        }
        let stream = choose(stream, &self.streams(), "the host has no servers")?;
        let server = ServerId(stream as usize - 1);
        let full = |_| "too many messages are already waiting".to_owned();
        let place = self.put.try_reserve().map_err(full)?;
        if toward == Direction::ServerToClient {
            // Messages to a server are recorded on their way, but this one does not get there. It must be in the reel
            // before any response to it.
            record(&self.queue, toward, stream, message);
        }
        place.send(Message { server, direction: toward, bytes: message.to_vec() });
        Ok(InjectionProgress::Queued)
    }

    fn details(&self) -> Map<String, Value> {
        [("streams".to_owned(), Value::from(self.streams())), ("servers".to_owned(), self.servers.clone().into())]
            .into_iter()
            .collect()
    }
}
