//! The host as a live session: who connects to its control socket puts messages into the connection of one of its
//! servers, in either direction. Server number N is stream N.

use crate::proposals::host::ServerId;
use crate::record::queue::{Queue, Ready};
use crate::runtime::host::{Interceptor, Intervention as Into, MessageObserver};
use crate::sessions::answers::Answers;
use crate::sessions::control::{InjectionProgress, Session, choose};
use crate::trace::{EventKind, Flags};
use crate::wire::Direction;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// How many messages may wait to be put in.
const WAITING: usize = 64;

/// What a host can do for those who connect.
pub struct HostSession {
    servers: Vec<String>,
    queue: Arc<Queue>,
    put: mpsc::Sender<(ServerId, Into)>,
}

impl HostSession {
    /// The session, and what its host needs beside it.
    pub fn new(servers: Vec<String>, queue: Arc<Queue>, answers: Arc<Answers>) -> (Self, Interceptor) {
        let (sender, put) = mpsc::channel(WAITING);
        let watch = TakeOut { queue: Arc::clone(&queue), answers };
        (Self { servers, queue, put: sender }, Interceptor { watch: Box::new(watch), put })
    }

    fn streams(&self) -> Vec<u32> {
        (0..self.servers.len()).map(|at| stream_of(ServerId(at))).collect()
    }
}

/// Takes answers to what was put in out again.
struct TakeOut {
    queue: Arc<Queue>,
    answers: Arc<Answers>,
}

impl MessageObserver for TakeOut {
    fn pass(&mut self, _: Duration, server: ServerId, direction: Direction, message: Vec<u8>) -> Option<Vec<u8>> {
        if !self.answers.awaits(direction) {
            return Some(message);
        }
        let stream = stream_of(server);
        // What the host says is recorded on its way to the server; what servers say was, where it came from.
        self.answers.keep_recorded(stream, direction, message, |taken| {
            if direction == Direction::ClientToServer {
                record(&self.queue, direction, stream, taken);
            }
        })
    }
}

/// Records a message that was put in, or that answers one.
fn record(queue: &Queue, direction: Direction, stream: u32, message: &[u8]) {
    let flags = Flags::toward(direction).with(Flags::INJECTED);
    queue.push_ready(Ready { flags, ..Ready::about(EventKind::Message, stream) }, message);
}

fn stream_of(server: ServerId) -> u32 {
    u32::try_from(server.0 + 1).unwrap_or(u32::MAX)
}

impl Session for HostSession {
    fn put(&self, toward: Direction, stream: u32, message: &[u8], _: Instant) -> Result<InjectionProgress, String> {
        if stream == 0 && self.servers.len() > 1 {
            let named: Vec<String> = (1..).zip(&self.servers).map(|(at, name)| format!("{at} is {name}")).collect();
            return Err(format!(
                "the host has several servers: {}; name one, as in --session NAME#1",
                named.join(", ")
            ));
        }
        let stream = choose(stream, &self.streams(), "the host has no server")?;
        let server = ServerId(stream as usize - 1);
        let full = |_| "so many messages wait already that this one is not taken".to_owned();
        let place = self.put.try_reserve().map_err(full)?;
        if toward == Direction::ServerToClient {
            // What goes to a server is recorded on its way; this has no way but to here. It stands in the reel before
            // anything that is said to it.
            record(&self.queue, toward, stream, message);
        }
        place.send((server, Into::Message(toward, message.to_vec())));
        Ok(InjectionProgress::Queued)
    }

    fn facts(&self) -> Map<String, Value> {
        [("streams".to_owned(), Value::from(self.streams())), ("servers".to_owned(), self.servers.clone().into())]
            .into_iter()
            .collect()
    }
}
