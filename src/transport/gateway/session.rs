//! One session behind a gateway: its link, the posts that wait for answers, and the one stream that listens.
//!
//! What the server says is always taken at once, whoever reads it or not: a server that waits to be heard hears nothing.

use super::{Backend, Opened, SERVER_ENDED};
use crate::protocol::revision::meta;
use crate::transport::Incoming;
use crate::wire::{Direction, Envelope, IdKey, MessageKind, json};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, mpsc};

/// How many bytes may wait on a stream whose client does not read (16 MiB).
const BACKLOG: usize = 16 << 20;
/// How long a server may take for its last words, once the session ends.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// So long the answer to a request that was hung up on may still come: until then nobody else may use its id.
const LATE: Duration = Duration::from_secs(60);

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
    listener: Option<Events>,
    /// What came while nobody listened, and how many bytes it is.
    backlog: VecDeque<Vec<u8>>,
    backlog_bytes: usize,
    /// Ids of requests that were hung up on, and when.
    abandoned: Vec<(IdKey, Instant)>,
    /// When the client last asked for something.
    used: Option<Instant>,
}

/// Into a stream toward the client.
struct Events {
    sender: mpsc::UnboundedSender<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
}

/// What is said on a stream toward the client, in order.
pub struct Said {
    receiver: mpsc::UnboundedReceiver<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
}

/// A POST that waits for answers.
struct Post {
    number: u64,
    waiting: Vec<IdKey>,
    /// The tokens by which progress is told (`_meta.progressToken`).
    tokens: Vec<IdKey>,
    events: Events,
}

/// What a POST gets.
pub struct Posted {
    /// What is said to it, up to the last answer.
    pub events: Said,
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

    /// Whether nobody's answers or progress could be taken for those to this message.
    pub fn has_room_for(&self, envelope: &Envelope<'_>, message: &[u8]) -> bool {
        let Some(key) = envelope.id.map(|id| id.key()) else { return true };
        let token = progress_token(message);
        let mut state = self.lock();
        state.abandoned.retain(|(_, since)| since.elapsed() < LATE);
        let is_used = |post: &Post| {
            post.waiting.contains(&key) || token.as_ref().is_some_and(|token| post.tokens.contains(token))
        };
        !state.posts.iter().any(is_used) && !state.abandoned.iter().any(|(id, _)| *id == key)
    }

    /// Since when the client wants nothing and hears nothing; `None` where it does.
    pub fn idle_since(&self) -> Option<Instant> {
        let state = self.lock();
        let is_idle = state.posts.is_empty() && state.listener.as_ref().is_none_or(Events::is_closed);
        state.used.filter(|_| is_idle)
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
                Some((id.key(), progress_token(item), id.0))
            })
            .collect();
        self.lock().used = Some(Instant::now());
        let posted = (!requests.is_empty()).then(|| self.expect(&requests, is_modern));
        if let Some(message) = self.backend.pass(self.stream, Direction::ClientToServer, message) {
            self.outgoing.send(message).await.ok()?;
        }
        Some(posted)
    }

    /// Hands a message to the server that is no client's.
    pub fn put(&self, message: Vec<u8>, see: impl FnOnce(&[u8])) -> Result<(), String> {
        let room = self.outgoing.try_reserve().map_err(|_| "the server takes nothing now".to_owned())?;
        see(&message);
        room.send(message);
        Ok(())
    }

    fn expect(self: &Arc<Self>, requests: &[(IdKey, Option<IdKey>, &[u8])], is_modern: bool) -> Posted {
        let (events, received) = events();
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
    pub fn listen(&self) -> Option<Said> {
        let mut state = self.lock();
        if state.listener.as_ref().is_some_and(|listener| !listener.is_closed()) {
            return None;
        }
        let (events, received) = events();
        for message in std::mem::take(&mut state.backlog) {
            let _ = events.give(message);
        }
        (state.backlog_bytes, state.used) = (0, Some(Instant::now()));
        state.listener = Some(events);
        Some(received)
    }

    async fn run(self: Arc<Self>, opened: Opened, mut to_server: mpsc::Receiver<Vec<u8>>) {
        let Opened { mut link, end } = opened;
        let (mut outbox, mut has_more, mut until) = (VecDeque::new(), true, None);
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
                    Some(Incoming::Closed | Incoming::Failed(_)) => break,
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
        drop(link);
        end.await;
        // Whoever still waits learns that nothing comes.
        *self.lock() = State::default();
        if until.is_none() && !self.closed.swap(true, Ordering::AcqRel) {
            self.backend.closed(self.stream, SERVER_ENDED);
        }
        self.ended.notify_waiters();
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
        let answered = answered(&envelope, &message);
        if !answered.is_empty() {
            state.abandoned.retain(|(id, _)| !answered.contains(id));
            let is_asked = |post: &Post| post.waiting.iter().any(|waiting| answered.contains(waiting));
            let Some(place) = state.posts.iter().position(is_asked) else { return };
            let post = &mut state.posts[place];
            post.waiting.retain(|waiting| !answered.contains(waiting));
            // However much waits there: an answer is what the client has asked for.
            let _ = post.events.give(message);
            if state.posts[place].waiting.is_empty() {
                state.posts.remove(place);
            }
            return;
        }
        let newest = state.posts.len().checked_sub(1);
        // A request of the server's is most often part of what it is doing for the newest request.
        let place = match envelope.kind {
            MessageKind::Request => newest,
            _ => state.post_of(&message),
        };
        let target = match (place, &state.listener) {
            (Some(place), _) => Some(&state.posts[place].events),
            (None, Some(listener)) if !listener.is_closed() => Some(listener),
            (None, _) => newest.map(|newest| &state.posts[newest].events),
        };
        let message = match target {
            None => message,
            Some(events) => match events.offer(message) {
                Ok(()) => return,
                Err(message) => message,
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
    /// The POST that a notification belongs to, by what it says of itself.
    fn post_of(&self, message: &[u8]) -> Option<usize> {
        let subscription = token(message, &["params", "_meta", meta::SUBSCRIPTION_ID]);
        let of_subscription = subscription.and_then(|id| self.posts.iter().position(|post| post.waiting.contains(&id)));
        let by_token = |token| self.posts.iter().position(|post| post.tokens.contains(&token));
        of_subscription.or_else(|| token(message, &["params", "progressToken"]).and_then(by_token))
    }

    fn keep(&mut self, message: Vec<u8>) {
        self.backlog_bytes += message.len();
        self.backlog.push_back(message);
        while self.backlog_bytes > BACKLOG
            && let Some(oldest) = self.backlog.pop_front()
        {
            self.backlog_bytes -= oldest.len();
        }
    }
}

fn events() -> (Events, Said) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let waiting = Arc::new(AtomicUsize::new(0));
    (Events { sender, waiting: Arc::clone(&waiting) }, Said { receiver, waiting })
}

impl Events {
    /// Says it where there is room; else the message comes back.
    fn offer(&self, message: Vec<u8>) -> Result<(), Vec<u8>> {
        let waiting = self.waiting.load(Ordering::Acquire);
        if waiting > 0 && waiting + message.len() > BACKLOG { Err(message) } else { self.give(message) }
    }

    /// Says it, whatever waits already; a message comes back where nobody listens any more.
    fn give(&self, message: Vec<u8>) -> Result<(), Vec<u8>> {
        self.waiting.fetch_add(message.len(), Ordering::AcqRel);
        self.sender.send(message).map_err(|unsent| unsent.0)
    }

    fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }
}

impl Said {
    /// The next message; `None` at the end of the stream.
    pub async fn recv(&mut self) -> Option<Vec<u8>> {
        let message = self.receiver.recv().await?;
        self.waiting.fetch_sub(message.len(), Ordering::AcqRel);
        Some(message)
    }

    /// Whether nothing waits and nothing comes any more.
    pub fn is_over(&self) -> bool {
        self.receiver.is_closed() && self.receiver.is_empty()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut state = self.session.lock();
        let Some(place) = state.posts.iter().position(|post| post.number == self.number) else { return };
        let post = state.posts.remove(place);
        if !self.cancels.is_empty() {
            state.abandoned.extend(post.waiting.into_iter().map(|id| (id, Instant::now())));
        }
        drop(state);
        for cancel in self.cancels.drain(..) {
            let cancel = self.session.backend.pass(self.session.stream, Direction::ClientToServer, cancel);
            let _ = cancel.map(|cancel| self.session.outgoing.try_send(cancel));
        }
    }
}

/// The requests that a message answers; more than one where it is a batch (2025-03-26).
fn answered(envelope: &Envelope<'_>, message: &[u8]) -> Vec<IdKey> {
    let id = |envelope: &Envelope<'_>| envelope.id.filter(|_| envelope.kind.is_response()).map(|id| id.key());
    match envelope.kind {
        MessageKind::Batch => json::items(message).filter_map(|item| id(&Envelope::scan(item))).collect(),
        _ => id(envelope).into_iter().collect(),
    }
}

fn progress_token(message: &[u8]) -> Option<IdKey> {
    token(message, &["params", "_meta", "progressToken"])
}

fn token(message: &[u8], path: &[&str]) -> Option<IdKey> {
    json::at_path(message, path).map(|text| crate::wire::Id(text).key())
}

fn cancellation(id: &[u8]) -> Vec<u8> {
    let start = br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"#;
    [&start[..], id, br#","reason":"the client hung up"}}"#].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Link;

    /// Everything passes; nothing is opened.
    struct Through;

    impl Backend for Through {
        fn open(&self, _: u32) -> Result<Opened, String> {
            Err("nothing is opened here".to_owned())
        }

        fn pass(&self, _: u32, _: Direction, message: Vec<u8>) -> Option<Vec<u8>> {
            Some(message)
        }

        fn see_stderr(&self, _: u32, _: &[u8]) {}

        fn closed(&self, _: u32, _: &str) {}
    }

    /// A session, and its server's end of the link.
    fn session() -> (Arc<Session>, Link) {
        let (link, theirs) = Link::pair();
        let opened = Opened { link, end: Box::pin(std::future::ready(())) };
        (Session::start(String::new(), 1, opened, Arc::new(Through)), theirs)
    }

    fn request(id: u32, more: &str) -> Vec<u8> {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m","params":{{"_meta":{{{more}}}}}}}"#).into_bytes()
    }

    fn notification(params: &str) -> Vec<u8> {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/x","params":{{{params}}}}}"#).into_bytes()
    }

    fn result(id: u32, of: &str) -> Vec<u8> {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"of":"{of}"}}}}"#).into_bytes()
    }

    async fn post(session: &Arc<Session>, message: &[u8]) -> Posted {
        let posted = session.post(&Envelope::scan(message), message.to_vec(), true).await;
        posted.flatten().expect("it is answered")
    }

    #[tokio::test]
    async fn a_flood_takes_bounded_memory_and_no_answer_away() {
        let (session, _theirs) = session();
        let mut posted = post(&session, &request(1, r#""progressToken":"t""#)).await;
        let told = notification(&format!(r#""progressToken":"t","message":"{}""#, "x".repeat(1 << 20)));
        (0..100).for_each(|_| session.hand_on(told.clone()));
        session.hand_on(result(1, "all"));
        let (mut last, mut bytes) = (Vec::new(), 0);
        while let Some(message) = posted.events.recv().await {
            bytes += message.len();
            last = message;
        }
        assert_eq!(last, result(1, "all"));
        assert!((BACKLOG / 2..=BACKLOG + last.len()).contains(&bytes), "{bytes}");
        assert!(session.lock().backlog_bytes <= BACKLOG);
    }

    #[tokio::test]
    async fn a_server_that_does_not_read_is_heard_and_can_be_ended() {
        let (session, mut theirs) = session();
        let mut said = session.listen().expect("the only one");
        let poster = Arc::clone(&session);
        let posting = tokio::spawn(async move {
            let message = notification("");
            while poster.post(&Envelope::scan(&message), message.clone(), false).await.is_some() {}
        });
        for _ in 0..500 {
            assert!(theirs.send(notification("")).await);
        }
        for _ in 0..500 {
            said.recv().await.expect("said");
        }
        session.close("the test").await;
        posting.await.expect("ends");
    }

    #[tokio::test]
    async fn what_belongs_to_a_subscription_goes_there_and_nowhere_else() {
        let (session, _theirs) = session();
        let mut subscribed = post(&session, &request(1, "")).await;
        let mut other = post(&session, &request(2, "")).await;
        let changed = notification(r#""_meta":{"io.modelcontextprotocol/subscriptionId":1}"#);
        session.hand_on(changed.clone());
        session.hand_on(result(2, "other"));
        assert_eq!(subscribed.events.recv().await, Some(changed));
        assert_eq!(other.events.recv().await, Some(result(2, "other")));
    }

    #[tokio::test]
    async fn who_reuses_an_id_does_not_get_the_answer_to_another() {
        let (session, _theirs) = session();
        let again = request(1, r#""progressToken":7"#);
        let has_room = |message: &[u8]| session.has_room_for(&Envelope::scan(message), message);
        drop(post(&session, &again).await);
        assert!(!has_room(&again), "the answer may still come");
        session.hand_on(result(1, "the one that hung up"));
        assert!(has_room(&again));
        let _posted = post(&session, &again).await;
        assert!(!has_room(&request(2, r#""progressToken":7"#)), "its progress would go to the first");
        assert!(has_room(&request(2, "")));
    }

    #[tokio::test]
    async fn a_batch_of_answers_ends_the_post_of_a_batch() {
        let (session, _theirs) = session();
        let asked = [b"[", &request(1, "")[..], b",", &request(2, ""), b"]"].concat();
        let answers = [b"[", &result(1, "a")[..], b",", &result(2, "b"), b"]"].concat();
        let mut posted = post(&session, &asked).await;
        session.hand_on(answers.clone());
        assert_eq!(posted.events.recv().await, Some(answers));
        assert_eq!(posted.events.recv().await, None);
    }
}
