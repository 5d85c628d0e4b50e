//! One session behind a gateway: its link to a server, and the streams toward its client.
//!
//! What the server says is always taken at once, whoever reads it or not: a server that waits to be heard hears
//! nothing.

use super::streams::{ClientRequest, StreamMessage, Streams};
use super::{Backend, Opened, SERVER_ENDED};
use crate::transport::Incoming;
use crate::transport::budget::{Budget, Receiver, Sender, queue};
use crate::wire::Direction;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// How long a server may take for its last words, once the session ends.
pub const LAST_WORDS: Duration = Duration::from_secs(2);

/// See the module.
pub struct Session {
    /// Its id; empty in the stateless era.
    pub id: String,
    /// Its number.
    pub stream: u32,
    backend: Arc<dyn Backend>,
    outgoing: Sender<Vec<u8>>,
    streams: Mutex<Streams>,
    /// When the client last asked for something.
    used: Mutex<Option<Instant>>,
    /// How many messages of its client are on their way in.
    arriving: AtomicUsize,
    closed: AtomicBool,
    /// Told when the session is to end, and when it has.
    ending: Notify,
    ended: Notify,
}

/// A message that is on its way in: as long as it is, its session is in use.
pub struct Arriving(Arc<Session>);

impl Drop for Arriving {
    fn drop(&mut self) {
        self.0.is_used();
        self.0.arriving.fetch_sub(1, Ordering::AcqRel);
    }
}

/// What a POST gets.
pub struct Posted {
    /// What is said to it, up to the last answer.
    pub said: StreamMessage,
    /// Gives the POST up when its client goes away.
    pub guard: PostGuard,
}

/// Watches over a POST. In the stateless era hanging up is cancelling (2026-07-28, cancellation); before, it is not,
/// and the client may come back (2025-03-26 to 2025-11-25, resumability).
pub struct PostGuard {
    session: Arc<Session>,
    stream: u64,
}

impl Session {
    /// Starts the session on its link. What is kept of it, and what waits for its client, is a part of `backlog`.
    pub fn start(
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

    /// Whether its link is gone.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Whether a client can come back to it: not in the stateless era.
    pub fn is_resumable(&self) -> bool {
        !self.id.is_empty()
    }

    /// Ends the session and what stands behind it.
    pub async fn close(&self, by: &str) {
        if self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        let ended = self.ended.notified();
        self.ending.notify_one();
        ended.await;
        self.backend.closed(self.stream, by);
    }

    /// Whether nobody's answers, progress or log messages could be taken for those to this message.
    pub fn has_room_for(&self, message: &[u8]) -> bool {
        self.lock().has_room_for(message)
    }

    /// Since when the client wants nothing and hears nothing; `None` where it does, also where an answer is owed to it
    /// for which it may come back.
    pub fn idle_since(&self) -> Option<Instant> {
        self.used_last().filter(|_| self.arriving.load(Ordering::Acquire) == 0 && self.lock().is_idle())
    }

    /// Keeps the session in use while a message to it comes in.
    pub fn awaits_body(self: &Arc<Self>) -> Arriving {
        self.arriving.fetch_add(1, Ordering::AcqRel);
        Arriving(Arc::clone(self))
    }

    /// Since when the client is gone: it hears nothing, whether something is owed to it or not.
    fn gone_since(&self) -> Option<Instant> {
        self.used_last().filter(|_| !self.lock().is_read())
    }

    fn used_last(&self) -> Option<Instant> {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Over once the client hears nothing for this long. It is looked at as often, so it may take twice that.
    pub async fn left(&self, span: Duration) {
        loop {
            let gone = self.gone_since();
            tokio::time::sleep(span).await;
            if self.is_closed() || gone.is_some() && self.gone_since() == gone {
                return;
            }
        }
    }

    fn is_used(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Hands a message to the server. `Some(Some(…))` where answers are to come, `None` where the server is gone and
    /// nobody is owed an answer.
    pub async fn post(self: &Arc<Self>, message: Vec<u8>) -> Option<Option<Posted>> {
        self.is_used();
        let asked = ClientRequest::read(&message);
        let posted = (!asked.is_empty()).then(|| {
            let said = self.lock().expect(asked);
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

    /// Hands a message to the server that is no client's.
    pub fn put(&self, message: Vec<u8>, see: impl FnOnce(&[u8])) -> Result<(), String> {
        let room = self.outgoing.try_reserve(message.len()).ok_or_else(|| "the server takes nothing now".to_owned())?;
        see(&message);
        room.send(message);
        Ok(())
    }

    /// The stream for what is no answer; `None` where there is one already.
    pub fn listen(&self) -> Option<StreamMessage> {
        self.is_used();
        self.lock().listen()
    }

    /// Goes on with a stream behind the event with this id; `None` where nothing is known of it.
    pub fn resume(&self, last: &str) -> Option<StreamMessage> {
        self.is_used();
        let (said, lost) = self.lock().resume(last)?;
        if lost > 0 {
            let reported = format!("a client came back for a stream of which {lost} messages are not kept any more");
            self.backend.lost(self.stream, &reported);
        }
        Some(said)
    }

    /// Nobody can come back to this stream.
    pub fn forget(&self, stream: u64) {
        self.lock().forget(stream);
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
                // The server is sent what it was promised, and no more; its last words are still taken.
                () = self.ending.notified(), if until.is_none() => {
                    until = Some(tokio::time::Instant::now() + LAST_WORDS);
                    to_server.close();
                }
                () = tokio::time::sleep_until(until.unwrap_or_else(tokio::time::Instant::now)), if until.is_some() => break,
            }
        }
        // From here on nobody can hand in what would not be answered.
        drop((link, to_server));
        end.await;
        if is_cut {
            self.lock().cut();
        } else {
            self.end_streams();
        }
        if until.is_none() && !self.closed.swap(true, Ordering::AcqRel) {
            self.backend.closed(self.stream, SERVER_ENDED);
        }
        self.ended.notify_waiters();
    }

    /// Whoever still waits learns that nothing comes.
    fn end_streams(&self) {
        self.lock().end(|made| self.backend.made(self.stream, made));
    }

    fn arrived(&self, message: Vec<u8>) {
        if let Some(message) = self.backend.pass(self.stream, Direction::ServerToClient, message)
            && let Err(lost) = self.hand_on(message)
        {
            let is_news = self.lock().is_news(lost);
            if is_news {
                self.backend.lost(self.stream, lost);
            }
        }
    }

    /// Hands a message to whom it is for on the client's side. The error says what was lost.
    pub fn hand_on(&self, message: Vec<u8>) -> Result<(), &'static str> {
        self.lock().hand_on(message).map_or(Ok(()), Err)
    }

    fn lock(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PostGuard {
    fn drop(&mut self) {
        let session = &self.session;
        if session.is_resumable() {
            return;
        }
        let abandoned = session.lock().abandon(self.stream);
        for asked in abandoned {
            let cancel = session.backend.pass(session.stream, Direction::ClientToServer, asked.cancellation());
            let _ = cancel.map(|cancel| session.outgoing.try_send(cancel));
        }
    }
}

#[cfg(test)]
mod tests;
