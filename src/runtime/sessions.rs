//! The built-in server behind a gateway: each session has its own engine on its own thread.

use super::server::{ServerInput, serve};
use crate::protocol::http::ToolMarks;
use crate::server::{IoRequest, Report, Server};
use crate::transport::budget;
use crate::transport::link::{Incoming, Link, Served};
use crate::transport::listen::gateway::{Backend, Opened};
use crate::wire::Direction;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use tokio::sync::oneshot;

/// Makes a session's engine, by the session's number.
pub(crate) type EngineFactory = Box<dyn Fn(u32) -> Server + Send + Sync>;
/// Called with the reports of every session.
pub(crate) type ReportCallback = Arc<dyn Fn(u32, &Report) + Send + Sync>;
/// Returns what a session's server gets of a message of the host.
pub(crate) type MessageFilter = Arc<dyn Fn(u32, Vec<u8>) -> Option<Vec<u8>> + Send + Sync>;

/// Performs a session's I/O requests, and sends the results back to it.
pub(crate) type IoHandler = Arc<dyn Fn(u32, IoRequest, Sender<ServerInput>) + Send + Sync>;

/// Something that happens in a session.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SessionTraffic<'a> {
    /// It began.
    Opened,
    /// A message.
    Message(Direction, &'a [u8]),
    /// It ended, and who ended it.
    Closed(&'a str),
}

/// Called with what happens, by the session's number.
pub(crate) type TrafficObserver = Arc<dyn Fn(u32, SessionTraffic<'_>) + Send + Sync>;

/// What sessions do with their traffic.
pub(crate) struct SessionHandlers {
    /// Makes their engines.
    pub make: EngineFactory,
    /// Receives their reports.
    pub receive: ReportCallback,
    /// Filters the host's messages.
    pub filter: MessageFilter,
    /// Performs their I/O requests.
    pub perform: IoHandler,
    /// Sees their traffic.
    pub observe: TrafficObserver,
}

/// The sessions of a server that listens.
pub(crate) struct Sessions {
    handlers: SessionHandlers,
    open: Mutex<BTreeMap<u32, Sender<ServerInput>>>,
    /// No tool of the built-in server asks for headers.
    marks: ToolMarks,
}

impl Sessions {
    /// No sessions.
    pub(crate) fn new(handlers: SessionHandlers) -> Self {
        Self { handlers, open: Mutex::default(), marks: ToolMarks::default() }
    }

    /// The numbers of the open sessions.
    pub(crate) fn numbers(&self) -> Vec<u32> {
        self.open.lock().keys().copied().collect()
    }

    /// The input of the session with this number.
    pub(crate) fn arrivals(&self, number: u32) -> Option<Sender<ServerInput>> {
        self.open.lock().get(&number).cloned()
    }
}

impl Backend for Sessions {
    fn open(&self, stream: u32) -> Result<Opened, String> {
        (self.handlers.observe)(stream, SessionTraffic::Opened);
        let (link, Served { mut outgoing, incoming }) = Link::served();
        let (sender, arrivals) = channel();
        let SessionHandlers { make, receive, filter, perform, .. } = &self.handlers;
        let (server, receive, filter) = (make(stream), Arc::clone(receive), Arc::clone(filter));
        let (perform, back) = (Arc::clone(perform), sender.clone());
        let (ended, end) = oneshot::channel::<()>();
        let from_host = sender.clone();
        let failed = |error: io::Error| format!("cannot start a thread for another session: {error}");
        std::thread::Builder::new()
            .name("host".into())
            .spawn(move || {
                let mut arrive = ServerInput::of_host(from_host);
                while let Some(message) = outgoing.blocking_recv() {
                    arrive(Incoming::Message(message));
                }
                arrive(Incoming::Closed);
            })
            .map_err(failed)?;
        std::thread::Builder::new()
            .name("session".into())
            .spawn(move || {
                let to_host = Lines { incoming: incoming.clone(), line: Vec::new() };
                let (receive, filter) = (|report: &Report| receive(stream, report), |message| filter(stream, message));
                let perform = |io_request| perform(stream, io_request, back.clone());
                let _ = serve(server, &arrivals, to_host, receive, filter, perform);
                let _ = incoming.blocking_send(Incoming::Closed);
                drop(ended);
            })
            .map_err(failed)?;
        self.open.lock().insert(stream, sender);
        let end = async move {
            let _ = end.await;
        };
        Ok(Opened { link, end: Box::pin(end) })
    }

    fn checked_headers(&self) -> Option<&ToolMarks> {
        Some(&self.marks)
    }

    fn pass(&self, stream: u32, direction: Direction, message: Vec<u8>) -> Option<Vec<u8>> {
        (self.handlers.observe)(stream, SessionTraffic::Message(direction, &message));
        Some(message)
    }

    fn see_stderr(&self, _stream: u32, _bytes: &[u8]) {}

    fn closed(&self, stream: u32, by: &str) {
        (self.handlers.observe)(stream, SessionTraffic::Closed(by));
        self.open.lock().remove(&stream);
    }
}

/// A writer that sends each line as a message of the link.
struct Lines {
    incoming: budget::Sender<Incoming>,
    line: Vec<u8>,
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece.strip_suffix(b"\n").unwrap_or(piece));
            if piece.ends_with(b"\n") {
                let message = Incoming::Message(std::mem::take(&mut self.line));
                self.incoming.blocking_send(message).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Config;

    #[tokio::test]
    async fn each_session_has_a_server_of_its_own() {
        let sessions = Sessions::new(SessionHandlers {
            make: Box::new(|_| Server::new(Config::default())),
            receive: Arc::new(|_, _| {}),
            filter: Arc::new(|_, message| Some(message)),
            perform: Arc::new(|_, _, _| {}),
            observe: Arc::new(|_, _| {}),
        });
        for stream in [1, 2] {
            let Opened { mut link, end } = sessions.open(stream).expect("opens");
            link.send(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_vec()).await;
            assert!(matches!(link.receive().await, Incoming::Message(pong) if pong.ends_with(br#""result":{}}"#)));
            assert_eq!(sessions.numbers(), [stream]);
            link.close();
            end.await;
            sessions.closed(stream, "over");
        }
        assert!(sessions.numbers().is_empty());
    }
}
