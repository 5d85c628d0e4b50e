//! One session behind a gateway: its link to a server, and the streams to its client.
//!
//! Always reads the server's messages at once, even if no client reads them: a server that is blocked on writing reads
//! nothing.

use super::streams::{ClientRequest, StreamMessage, Streams};
use super::{Backend, Opened, SERVER_ENDED};
use crate::transport::Incoming;
use crate::transport::budget::{Budget, Receiver, Sender, queue};
use crate::wire::Direction;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// How long a server may continue to send after the session ends.
pub(super) const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// See the module.
pub(super) struct Session {
    /// The session id; empty in the modern era.
    pub id: String,
    /// The session's number.
    pub stream: u32,
    backend: Arc<dyn Backend>,
    outgoing: Sender<Vec<u8>>,
    streams: Mutex<Streams>,
    /// When the client last sent something.
    used: Mutex<Option<Instant>>,
    /// The number of incoming messages of its client.
    arriving: AtomicUsize,
    closed: AtomicBool,
    /// Notifies that the session is to end, and that it has ended.
    ending: Notify,
    ended: Notify,
}

/// An incoming message, which keeps its session in use.
pub(super) struct Arriving(Arc<Session>);

impl Drop for Arriving {
    fn drop(&mut self) {
        self.0.is_used();
        self.0.arriving.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The result of a POST.
pub(super) struct Posted {
    /// The messages for it, up to the last answer.
    pub said: StreamMessage,
    /// Handles the client's disconnection.
    pub guard: PostGuard,
}

/// Handles the disconnection of a POST's client. In the modern era, disconnecting cancels the request (MCP 2026-07-28,
/// Cancellation); before, it does not, and the client may resume (MCP 2025-03-26 to 2025-11-25, Resumability).
pub(super) struct PostGuard {
    session: Arc<Session>,
    stream: u64,
}

impl Session {
    /// Starts the session on its link. Its stored and waiting messages count toward `backlog`.
    pub(super) fn start(
        id: String,
        stream: u32,
        opened: Opened,
        backend: Arc<dyn Backend>,
        backlog: &Arc<Budget>,
    ) -> Arc<Self> {
        let (outgoing, to_server) = queue(64);
        let session = Arc::new(Self {
            stream,
            backend,
            outgoing,
            streams: Mutex::new(Streams::within(!id.is_empty(), backlog)),
            id,
            used: Mutex::default(),
            arriving: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            ending: Notify::new(),
            ended: Notify::new(),
        });
        tokio::spawn(Arc::clone(&session).run(opened, to_server));
        session
    }

    /// Whether the link is closed.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Whether a client can resume its streams; not in the modern era.
    pub(super) fn is_resumable(&self) -> bool {
        !self.id.is_empty()
    }

    /// Ends the session and its backend.
    pub(super) async fn close(&self, by: &str) {
        if self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        let ended = self.ended.notified();
        self.ending.notify_one();
        ended.await;
        self.backend.closed(self.stream, by);
    }

    /// Whether answers, progress and log messages for others cannot be confused with those for this message.
    pub(super) fn has_space_for(&self, message: &[u8]) -> bool {
        self.streams.lock().has_space_for(message)
    }

    /// Since when the client neither sends nor waits for anything; `None` if it does, or if an answer is pending that
    /// it may resume to read.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        self.used_last().filter(|_| self.arriving.load(Ordering::Acquire) == 0 && self.streams.lock().is_idle())
    }

    /// Keeps the session in use while a message arrives.
    pub(super) fn awaits_body(self: &Arc<Self>) -> Arriving {
        self.arriving.fetch_add(1, Ordering::AcqRel);
        Arriving(Arc::clone(self))
    }

    /// Since when the client is gone: it reads nothing, even if answers are pending.
    fn gone_since(&self) -> Option<Instant> {
        self.used_last().filter(|_| !self.streams.lock().is_read())
    }

    fn used_last(&self) -> Option<Instant> {
        *self.used.lock()
    }

    /// Completes once the client has read nothing for `span`. Checked at this interval, so it may take twice as long.
    pub(super) async fn left(&self, span: Duration) {
        loop {
            let gone = self.gone_since();
            tokio::time::sleep(span).await;
            if self.is_closed() || gone.is_some() && self.gone_since() == gone {
                return;
            }
        }
    }

    fn is_used(&self) {
        *self.used.lock() = Some(Instant::now());
    }

    /// Sends a message to the server. `Some(Some(…))` if answers will follow, `None` if the server is gone and no
    /// answer is due.
    pub(super) async fn post(self: &Arc<Self>, message: Vec<u8>) -> Option<Option<Posted>> {
        self.is_used();
        let asked = ClientRequest::read(&message);
        let posted = (!asked.is_empty()).then(|| {
            let said = self.streams.lock().expect(asked);
            let guard = PostGuard { session: Arc::clone(self), stream: said.stream };
            Posted { said, guard }
        });
        if let Some(message) = self.backend.pass(self.stream, Direction::ClientToServer, message)
            && self.outgoing.send(message).await.is_err()
        {
            self.end_streams();
            posted.as_ref()?;
        }
        Some(posted)
    }

    /// Injects a message to the server.
    ///
    /// # Errors
    /// The server cannot take a message now.
    pub(super) fn put(&self, message: Vec<u8>, see: impl FnOnce(&[u8])) -> Result<(), String> {
        let slot = self
            .outgoing
            .try_reserve(message.len())
            .ok_or_else(|| "the server cannot take another message now".to_owned())?;
        see(&message);
        slot.send(message);
        Ok(())
    }

    /// Opens the stream for messages that are not answers; `None` if one is already open.
    pub(super) fn listen(&self) -> Option<StreamMessage> {
        self.is_used();
        self.streams.lock().listen()
    }

    /// Resumes a stream after the event with this id; `None` if it is unknown.
    pub(super) fn resume(&self, last: &str) -> Option<StreamMessage> {
        self.is_used();
        let (said, lost) = self.streams.lock().resume(last)?;
        if lost > 0 {
            let reported =
                format!("a client resumed a stream, but {lost} of its messages are lost: only recent ones are stored");
            self.backend.lost(self.stream, &reported);
        }
        Some(said)
    }

    /// Drops a stream's stored events, because no client can resume it.
    pub(super) fn forget(&self, stream: u64) {
        self.streams.lock().forget(stream);
    }

    async fn run(self: Arc<Self>, opened: Opened, mut to_server: Receiver<Vec<u8>>) {
        let Opened { mut link, end } = opened;
        let (mut outbox, mut has_more, mut until, mut is_cut) = (VecDeque::new(), true, None, false);
        loop {
            tokio::select! {
                message = to_server.recv(), if has_more && outbox.is_empty() => match message {
                    Some(message) => outbox.push_back(message),
                    None => {
                        has_more = false;
                        link.close();
                    }
                },
                turned = link.turn(&mut outbox) => match turned {
                    Some(Incoming::Message(message)) => self.arrived(message),
                    Some(Incoming::Stderr(bytes)) => self.backend.see_stderr(self.stream, &bytes),
                    Some(Incoming::Closed) => break,
                    Some(Incoming::Failed(why)) => {
                        self.backend.failed(self.stream, &why);
                        is_cut = until.is_none();
                        break;
                    }
                    Some(Incoming::Undelivered(_)) | None => {}
                },
                // Nothing new is sent to the server, but its remaining messages are still read.
                () = self.ending.notified(), if until.is_none() => {
                    until = Some(tokio::time::Instant::now() + DRAIN_TIMEOUT);
                    to_server.close();
                }
                () = tokio::time::sleep_until(until.unwrap_or_else(tokio::time::Instant::now)), if until.is_some() => break,
            }
        }
        // From here on, no message can be added that would not be answered.
        drop((link, to_server));
        end.await;
        if is_cut {
            self.streams.lock().cut();
        } else {
            self.end_streams();
        }
        if until.is_none() && !self.closed.swap(true, Ordering::AcqRel) {
            self.backend.closed(self.stream, SERVER_ENDED);
        }
        self.ended.notify_waiters();
    }

    /// Ends the streams of clients that still wait.
    fn end_streams(&self) {
        self.streams.lock().end(|made| self.backend.made(self.stream, made));
    }

    fn arrived(&self, message: Vec<u8>) {
        if let Some(message) = self.backend.pass(self.stream, Direction::ServerToClient, message)
            && let Err(lost) = self.hand_on(message)
        {
            let is_news = self.streams.lock().is_news(lost);
            if is_news {
                self.backend.lost(self.stream, lost);
            }
        }
    }

    /// Sends a message to the right stream of the client.
    ///
    /// # Errors
    /// What was lost.
    pub(super) fn hand_on(&self, message: Vec<u8>) -> Result<(), &'static str> {
        self.streams.lock().hand_on(message).map_or(Ok(()), Err)
    }
}

impl Drop for PostGuard {
    fn drop(&mut self) {
        let session = &self.session;
        if session.is_resumable() {
            return;
        }
        let abandoned = session.streams.lock().abandon(self.stream);
        for asked in abandoned {
            let cancel = session.backend.pass(session.stream, Direction::ClientToServer, asked.cancellation());
            let _ = cancel.map(|cancel| session.outgoing.try_send(cancel));
        }
    }
}

#[cfg(test)]
mod tests;
