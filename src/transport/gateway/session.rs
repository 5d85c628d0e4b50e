//! One session behind a gateway: its link, the posts that wait for answers, and the one stream that listens.

use super::{Backend, Opened};
use crate::transport::{Incoming, Link};
use crate::wire::{Direction, Envelope, IdKey, MessageKind, json};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, mpsc};

/// How many messages may wait on a stream whose client does not read.
const BACKLOG: usize = 1024;

/// See the module.
pub struct Session {
    /// Its id; empty in the stateless era.
    pub id: String,
    /// Its number.
    pub stream: u32,
    backend: Arc<dyn Backend>,
    outgoing: mpsc::Sender<Vec<u8>>,
    state: Mutex<State>,
    closed: AtomicBool,
    /// Told when the session is to end, and when it has.
    ending: Notify,
    ended: Notify,
}

#[derive(Default)]
struct State {
    posts: Vec<Post>,
    next_post: u64,
    listener: Option<mpsc::Sender<Vec<u8>>>,
    /// What came while nobody listened.
    backlog: VecDeque<Vec<u8>>,
}

/// A POST that waits for answers.
struct Post {
    number: u64,
    waiting: Vec<IdKey>,
    /// The tokens by which progress is told (`_meta.progressToken`).
    tokens: Vec<IdKey>,
    events: mpsc::Sender<Vec<u8>>,
}

/// What a POST gets.
pub struct Posted {
    /// What is said to it, up to the last answer.
    pub events: mpsc::Receiver<Vec<u8>>,
    /// Forgets the POST when its client goes away.
    pub guard: Guard,
}

/// Watches over a POST: in the stateless era, hanging up is cancelling (2026-07-28, cancellation).
pub struct Guard {
    session: Arc<Session>,
    number: u64,
    cancels: Vec<Vec<u8>>,
}

impl Session {
    /// Starts the session on its link.
    pub fn start(id: String, stream: u32, opened: Opened, backend: Arc<dyn Backend>) -> Arc<Self> {
        let (outgoing, to_server) = mpsc::channel(64);
        let session = Arc::new(Self {
            id,
            stream,
            backend,
            outgoing,
            state: Mutex::default(),
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

    /// Whether none of a message's ids waits for an answer already.
    pub fn has_room_for(&self, envelope: &Envelope<'_>) -> bool {
        let Some(key) = envelope.id.map(|id| id.key()) else { return true };
        !self.lock().posts.iter().any(|post| post.waiting.contains(&key))
    }

    /// Hands a message to the server. `Some(Some(…))` where answers are to come, `None` where the server is gone.
    pub async fn post(
        self: &Arc<Self>,
        envelope: &Envelope<'_>,
        message: Vec<u8>,
        is_modern: bool,
    ) -> Option<Option<Posted>> {
        let items: Vec<&[u8]> = match envelope.kind {
            MessageKind::Batch => json::items(&message).collect(),
            _ => vec![&message],
        };
        let requests: Vec<(IdKey, Option<IdKey>, &[u8])> = items
            .into_iter()
            .filter_map(|item| {
                let envelope = Envelope::scan(item);
                let id = envelope.id.filter(|_| envelope.kind == MessageKind::Request)?;
                Some((id.key(), token(item, &["params", "_meta", "progressToken"]), id.0))
            })
            .collect();
        let posted = (!requests.is_empty()).then(|| self.expect(&requests, is_modern));
        if let Some(message) = self.backend.pass(self.stream, Direction::ClientToServer, message) {
            self.outgoing.send(message).await.ok()?;
        }
        Some(posted)
    }

    /// Hands a message to the server that is no client's.
    pub fn put(&self, message: Vec<u8>) -> Result<(), String> {
        self.outgoing.try_send(message).map_err(|_| "the server takes nothing now".to_owned())
    }

    fn expect(self: &Arc<Self>, requests: &[(IdKey, Option<IdKey>, &[u8])], is_modern: bool) -> Posted {
        let (events, received) = mpsc::channel(BACKLOG);
        let mut state = self.lock();
        state.next_post += 1;
        let number = state.next_post;
        state.posts.push(Post {
            number,
            waiting: requests.iter().map(|(id, ..)| id.clone()).collect(),
            tokens: requests.iter().filter_map(|(_, token, _)| token.clone()).collect(),
            events,
        });
        let cancels = requests.iter().filter(|_| is_modern).map(|(.., id)| cancellation(id)).collect();
        Posted { events: received, guard: Guard { session: Arc::clone(self), number, cancels } }
    }

    /// The stream for what is no answer; `None` where there is one already.
    pub fn listen(&self) -> Option<mpsc::Receiver<Vec<u8>>> {
        let mut state = self.lock();
        if state.listener.as_ref().is_some_and(|listener| !listener.is_closed()) {
            return None;
        }
        let (events, received) = mpsc::channel(BACKLOG);
        for message in std::mem::take(&mut state.backlog) {
            let _ = events.try_send(message);
        }
        state.listener = Some(events);
        Some(received)
    }

    async fn run(self: Arc<Self>, opened: Opened, mut to_server: mpsc::Receiver<Vec<u8>>) {
        let Opened { mut link, end } = opened;
        let by_itself = loop {
            tokio::select! {
                message = to_server.recv() => match message {
                    Some(message) => { link.send(message).await; }
                    None => break false,
                },
                incoming = link.receive() => match incoming {
                    Incoming::Message(message) => self.arrived(message),
                    Incoming::Stderr(bytes) => self.backend.see_stderr(self.stream, &bytes),
                    Incoming::Undelivered(_) => {}
                    Incoming::Closed | Incoming::Failed(_) => break true,
                },
                () = self.ending.notified() => break false,
            }
        };
        self.farewell(link).await;
        end.await;
        // Whoever still waits learns that nothing comes.
        *self.lock() = State::default();
        if by_itself && !self.closed.swap(true, Ordering::AcqRel) {
            self.backend.closed(self.stream, "the server ended");
        }
        self.ended.notify_waiters();
    }

    /// The server is sent no more; its last words are still taken.
    async fn farewell(&self, mut link: Link) {
        link.close();
        let patience = tokio::time::sleep(std::time::Duration::from_secs(2));
        tokio::pin!(patience);
        loop {
            tokio::select! {
                incoming = link.receive() => match incoming {
                    Incoming::Message(message) => self.arrived(message),
                    Incoming::Stderr(bytes) => self.backend.see_stderr(self.stream, &bytes),
                    Incoming::Undelivered(_) => {}
                    Incoming::Closed | Incoming::Failed(_) => return,
                },
                () = &mut patience => return,
            }
        }
    }

    fn arrived(&self, message: Vec<u8>) {
        if let Some(message) = self.backend.pass(self.stream, Direction::ServerToClient, message) {
            self.hand_on(message);
        }
    }

    /// Hands a message to whom it is for on the client's side.
    pub fn hand_on(&self, message: Vec<u8>) {
        let envelope = Envelope::scan(&message);
        let mut state = self.lock();
        let answered = match envelope.kind {
            MessageKind::Result | MessageKind::Error => envelope.id.map(|id| id.key()),
            _ => None,
        };
        if let Some(id) = answered {
            let Some(place) = state.posts.iter().position(|post| post.waiting.contains(&id)) else { return };
            let post = &mut state.posts[place];
            post.waiting.retain(|waiting| *waiting != id);
            let _ = post.events.try_send(message);
            if state.posts[place].waiting.is_empty() {
                state.posts.remove(place);
            }
            return;
        }
        let progress = (envelope.method.as_deref() == Some("notifications/progress"))
            .then(|| token(&message, &["params", "progressToken"]))
            .flatten();
        let of_post = progress.and_then(|token| state.posts.iter().position(|post| post.tokens.contains(&token)));
        let newest = state.posts.len().checked_sub(1);
        // A request of the server's is most often part of what it is doing for the newest request.
        let place = match envelope.kind {
            MessageKind::Request => newest,
            _ => of_post,
        };
        let target = match (place, &state.listener) {
            (Some(place), _) => Some(&state.posts[place].events),
            (None, Some(listener)) if !listener.is_closed() => Some(listener),
            (None, _) => newest.map(|newest| &state.posts[newest].events),
        };
        let message = match target {
            None => message,
            Some(events) => match events.try_send(message) {
                Ok(()) => return,
                Err(mpsc::error::TrySendError::Full(message) | mpsc::error::TrySendError::Closed(message)) => message,
            },
        };
        // Its client does not read: it loses the stream, nobody else anything.
        if place.is_none() {
            state.listener = None;
        }
        state.keep(message);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn keep(&mut self, message: Vec<u8>) {
        if self.backlog.len() >= BACKLOG {
            self.backlog.pop_front();
        }
        self.backlog.push_back(message);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut state = self.session.lock();
        let before = state.posts.len();
        state.posts.retain(|post| post.number != self.number);
        if state.posts.len() == before {
            return;
        }
        drop(state);
        for cancel in self.cancels.drain(..) {
            let cancel = self.session.backend.pass(self.session.stream, Direction::ClientToServer, cancel);
            let _ = cancel.map(|cancel| self.session.outgoing.try_send(cancel));
        }
    }
}

fn token(message: &[u8], path: &[&str]) -> Option<IdKey> {
    json::at_path(message, path).map(|text| crate::wire::Id(text).key())
}

fn cancellation(id: &[u8]) -> Vec<u8> {
    let start = br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"#;
    [&start[..], id, br#","reason":"the client hung up"}}"#].concat()
}
