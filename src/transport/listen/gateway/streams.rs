//! The streams of one session to its client: chooses the stream and event number for each message of the server, and
//! stores messages for clients that resume a stream (MCP 2025-03-26 to 2025-11-25, Resumability).
//!
//! In the modern era, a link has many clients; a message goes to the request that it belongs to, or is dropped.

use crate::protocol::revision::meta;
use crate::transport::budget::{Budget, BudgetPermit};
use crate::wire::{Envelope, Id, IdKey, MessageKind, json};
use bytes::Bytes;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// The maximum bytes that wait on a stream whose client does not read, and that are stored per session (16 MiB).
const MAX_BYTES: usize = 16 << 20;
/// The maximum number of stored messages per session.
const MAX_KEPT: usize = 4096;
/// The maximum number of waiting POSTs whose client has disconnected.
const MAX_LEFT: usize = 1024;
/// How long the answer to an abandoned request may still arrive; until then, its id cannot be reused.
const LATE_ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// The number of the stream for messages that belong to no request.
const LISTENER: u64 = 0;

/// Why a message was dropped; reported once per session.
const NO_REQUEST: &str = "a message of the server was dropped, because it belongs to no request of a client";
const UNRECEIVED: &str = "no client listens, and too many messages are waiting: the oldest were dropped";
const UNREAD: &str = "a client does not read its stream: messages to it were dropped";

/// See the module.
#[derive(Default)]
pub(super) struct Streams {
    /// Whether clients can resume streams; if not, this is the modern era.
    is_resumable: bool,
    posts: Vec<Post>,
    listener: Stream,
    /// Whether the client has ever opened the GET stream; if so, it will resume it.
    has_listened: bool,
    /// The GET stream's last event that was given to a client.
    received: u64,
    newest: u64,
    /// Stored events, oldest first.
    kept: VecDeque<Event>,
    kept_bytes: usize,
    /// This session's share of the memory for stored messages.
    share: BudgetPermit,
    /// Provides shares for waiting messages.
    budget: Option<Arc<Budget>>,
    /// Abandoned requests, and when that happened.
    abandoned: Vec<(ClientRequest, Instant)>,
    reported: Vec<&'static str>,
    is_cut: Arc<AtomicBool>,
}

/// A client's request.
#[derive(Clone, Debug)]
pub(super) struct ClientRequest {
    id: IdKey,
    /// The id as written.
    text: Vec<u8>,
    /// The progress token (`_meta.progressToken`).
    token: Option<IdKey>,
    /// Whether it requests log messages, which do not name their request (MCP 2026-07-28, Logging).
    logs: bool,
    /// Whether an error without an id may answer it: it is in a batch, or its id is neither text nor an integer, so that
    /// no server can repeat it.
    may_be_unnamed: bool,
}

impl ClientRequest {
    /// The requests in a message; several for a batch.
    pub(super) fn read(message: &[u8]) -> Vec<Self> {
        let is_batch = message.trim_ascii_start().starts_with(b"[");
        each(message, |item, envelope| {
            let id = envelope.id.filter(|_| envelope.kind == MessageKind::Request)?;
            let logs = json::at_path(item, &["params", "_meta", meta::LOG_LEVEL]).is_some();
            let token = key_at(item, &["params", "_meta", "progressToken"]);
            let is_plain = |byte: &u8| byte.is_ascii_digit() || *byte == b'-';
            let is_odd = !id.0.starts_with(b"\"") && !id.0.iter().all(is_plain);
            Some(Self { id: id.key(), text: id.0.to_vec(), token, logs, may_be_unnamed: is_batch || is_odd })
        })
    }

    /// Whether answers or notifications for one could be confused with those for the other.
    fn meets(&self, other: &Self) -> bool {
        self.id == other.id || self.token.is_some() && self.token == other.token || self.logs && other.logs
    }

    /// The notification that cancels this request.
    pub(super) fn cancellation(&self) -> Vec<u8> {
        let start = br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"#;
        [&start[..], &self.text, br#","reason":"the client hung up"}}"#].concat()
    }

    fn failure(&self) -> Vec<u8> {
        let error = br#","error":{"code":-32603,"message":"mcpreel: the server behind this gateway has ended"}}"#;
        [br#"{"jsonrpc":"2.0","id":"#, &self.text[..], error].concat()
    }
}

/// A POST that waits for answers.
struct Post {
    waiting: Vec<ClientRequest>,
    stream: Stream,
}

/// One stream to the client, whether or not it is being read.
#[derive(Default)]
struct Stream {
    number: u64,
    /// The number of its last event; the first is 1.
    last: u64,
    sender: Option<Sender>,
}

impl Stream {
    fn is_read(&self) -> bool {
        self.sender.as_ref().is_some_and(|sender| !sender.channel.is_closed())
    }

    fn next(&mut self, message: Vec<u8>, is_made: bool) -> Event {
        self.last += 1;
        Event { stream: self.number, number: self.last, message: message.into(), is_made }
    }
}

/// One event of a stream.
#[derive(Clone, Debug)]
pub(super) struct Event {
    stream: u64,
    number: u64,
    /// The message.
    pub message: Bytes,
    /// The gateway made it, not the server.
    pub is_made: bool,
}

impl Event {
    /// Whether it answers a request.
    pub(super) fn is_answer(&self) -> bool {
        let kind = Envelope::scan(&self.message).kind;
        kind.is_response() || kind == MessageKind::Batch
    }

    /// The event as sent, with its id if the stream can be resumed.
    pub(super) fn block(&self, is_resumable: bool) -> Bytes {
        let id = if is_resumable { format!("id: {}-{}\n", self.stream, self.number) } else { String::new() };
        [id.as_bytes(), b"event: message\ndata: ", &self.message, b"\n\n"].concat().into()
    }
}

/// The sending end of a stream.
struct Sender {
    channel: mpsc::UnboundedSender<Event>,
    waiting: Arc<Waiting>,
}

/// The bytes that wait on a stream, and their share of the memory for all sessions.
#[derive(Default)]
struct Waiting(Mutex<(usize, BudgetPermit)>);

impl Waiting {
    /// Adds bytes if there is space, or unconditionally. Returns whether it did.
    fn add(&self, bytes: usize, in_any_case: bool) -> bool {
        let (waiting, share) = &mut *self.0.lock();
        let most = waiting.saturating_add(bytes);
        let has_space = share.hold(most) && (most <= MAX_BYTES || *waiting == 0);
        if has_space || in_any_case {
            *waiting = most;
            return true;
        }
        let _ = share.hold(*waiting);
        false
    }

    fn take(&self, bytes: usize) {
        let (waiting, share) = &mut *self.0.lock();
        *waiting = waiting.saturating_sub(bytes);
        let _ = share.hold(*waiting);
    }
}

/// The receiving end of a stream to the client.
pub(super) struct StreamMessage {
    /// The stream's number.
    pub stream: u64,
    /// The number of the event after which it begins.
    behind: u64,
    channel: mpsc::UnboundedReceiver<Event>,
    waiting: Arc<Waiting>,
    is_cut: Arc<AtomicBool>,
}

impl Sender {
    /// Sends an event if there is space. Returns whether it did.
    fn offer(&self, event: Event) -> bool {
        self.waiting.add(event.message.len(), false) && self.channel.send(event).is_ok()
    }

    /// Sends an event unconditionally; false if no one reads any more.
    fn give(&self, event: Event) -> bool {
        self.waiting.add(event.message.len(), true);
        self.channel.send(event).is_ok()
    }
}

impl StreamMessage {
    /// The next event; `None` at the end of the stream.
    pub(super) async fn recv(&mut self) -> Option<Event> {
        let event = self.channel.recv().await?;
        self.waiting.take(event.message.len());
        Some(event)
    }

    /// Whether the connection to the server broke, so that the end of the stream is not a regular end.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut.load(Ordering::Acquire)
    }

    /// Whether nothing waits and nothing more will come.
    pub(super) fn is_over(&self) -> bool {
        self.channel.is_closed() && self.channel.is_empty()
    }

    /// An event without data that only marks the beginning of the stream, so that its client can resume even before the
    /// first message, after this time in milliseconds (2025-11-25).
    pub(super) fn priming(&self, retry_ms: Option<u32>) -> Bytes {
        let retry = retry_ms.map(|retry| format!("retry: {retry}\n")).unwrap_or_default();
        format!("id: {}-{}\n{retry}data: \n\n", self.stream, self.behind).into()
    }
}

/// The stream that gets a message.
enum Recipient {
    Post(usize),
    Listener,
    Nobody,
}

impl Streams {
    /// No streams yet.
    pub(super) fn new(is_resumable: bool) -> Self {
        Self { is_resumable, ..Self::default() }
    }

    /// As [`Streams::new`], within the memory budget of all sessions.
    pub(super) fn within(is_resumable: bool, budget: &Arc<Budget>) -> Self {
        Self { share: budget.share(), budget: Some(Arc::clone(budget)), ..Self::new(is_resumable) }
    }

    /// Adds a POST with these requests. Returns the stream of messages for it, up to the last answer.
    pub(super) fn expect(&mut self, waiting: Vec<ClientRequest>) -> StreamMessage {
        // A client that reuses an id no longer waits for the first answer.
        let same = |post: &Post| post.waiting.iter().any(|old| waiting.iter().any(|new| old.id == new.id));
        self.posts.retain(|post| post.stream.is_read() || !same(post));
        if self.posts.len() >= MAX_LEFT
            && let Some(left) = self.posts.iter().position(|post| !post.stream.is_read())
        {
            self.posts.remove(left);
        }
        self.newest += 1;
        let (sender, said) = self.channel(self.newest, 0);
        let stream = Stream { number: self.newest, last: 0, sender: Some(sender) };
        self.posts.push(Post { waiting, stream });
        said
    }

    /// Opens the stream for messages that are not answers, beginning with those that came since the last one; `None` if
    /// one is already open.
    pub(super) fn listen(&mut self) -> Option<StreamMessage> {
        if self.listener.is_read() {
            return None;
        }
        Some(self.attach_listener(self.received))
    }

    /// Resumes a stream after the event with this id. Also returns the number of its messages that are no longer
    /// stored. `None` if the event is unknown.
    pub(super) fn resume(&mut self, last: &str) -> Option<(StreamMessage, u64)> {
        let (stream, behind) = last.split_once('-')?;
        let (stream, behind): (u64, u64) = (stream.parse().ok()?, behind.parse().ok()?);
        let post = self.posts.iter().position(|post| post.stream.number == stream);
        let newest = match post {
            Some(post) => self.posts[post].stream.last,
            None if stream == LISTENER => self.listener.last,
            None => self.kept.iter().rfind(|event| event.stream == stream)?.number,
        };
        let missed = newest.checked_sub(behind)?;
        let said = match post {
            None if stream == LISTENER => self.attach_listener(behind),
            _ => {
                let (sender, said) = self.replay(stream, behind);
                if let Some(post) = post {
                    self.posts[post].stream.sender = Some(sender);
                }
                said
            }
        };
        let lost = missed - u64::try_from(said.channel.len()).unwrap_or(missed).min(missed);
        Some((said, lost))
    }

    fn attach_listener(&mut self, behind: u64) -> StreamMessage {
        let (sender, said) = self.replay(LISTENER, behind);
        (self.listener.sender, self.received, self.has_listened) = (Some(sender), self.listener.last, true);
        said
    }

    /// A new channel for a stream, which begins with the stored events after this one.
    fn replay(&self, stream: u64, behind: u64) -> (Sender, StreamMessage) {
        let (sender, said) = self.channel(stream, behind);
        for event in self.kept.iter().filter(|event| event.stream == stream && event.number > behind) {
            sender.give(event.clone());
        }
        (sender, said)
    }

    fn channel(&self, stream: u64, behind: u64) -> (Sender, StreamMessage) {
        let (sender, channel) = mpsc::unbounded_channel();
        let share = self.budget.as_ref().map(Budget::share).unwrap_or_default();
        let (waiting, is_cut) = (Arc::new(Waiting(Mutex::new((0, share)))), Arc::clone(&self.is_cut));
        let said = StreamMessage { stream, behind, channel, waiting: Arc::clone(&waiting), is_cut };
        (Sender { channel: sender, waiting }, said)
    }

    /// Drops the stored events of a stream that was answered without events, because no client can resume it.
    pub(super) fn forget(&mut self, stream: u64) {
        self.kept.retain(|event| event.stream != stream);
        self.kept_bytes = self.kept.iter().map(|event| event.message.len()).sum();
        let _ = self.share.hold(self.kept_bytes);
    }

    /// Removes a POST whose client has disconnected, in the modern era. Returns the requests it still waited for.
    pub(super) fn abandon(&mut self, stream: u64) -> Vec<ClientRequest> {
        let Some(place) = self.posts.iter().position(|post| post.stream.number == stream) else { return Vec::new() };
        let post = self.posts.remove(place);
        let now = Instant::now();
        self.abandoned.extend(post.waiting.iter().cloned().map(|asked| (asked, now)));
        post.waiting
    }

    /// Whether messages for others cannot be confused with those for this message.
    pub(super) fn has_space_for(&mut self, message: &[u8]) -> bool {
        self.abandoned.retain(|(_, since)| since.elapsed() < LATE_ANSWER_TIMEOUT);
        let abandoned = self.abandoned.iter().map(|(asked, _)| asked);
        let mut others = self.posts.iter().flat_map(|post| &post.waiting).chain(abandoned);
        let asked = ClientRequest::read(message);
        !others.any(|other| asked.iter().any(|asked| asked.meets(other)))
    }

    /// Whether a client reads any stream.
    pub(super) fn is_read(&self) -> bool {
        self.listener.is_read() || self.posts.iter().any(|post| post.stream.is_read())
    }

    /// Whether no client reads any stream or waits for an answer.
    pub(super) fn is_idle(&self) -> bool {
        self.posts.is_empty() && !self.listener.is_read()
    }

    /// Sends a message to the right stream. Returns a description of what was lost, if anything.
    pub(super) fn hand_on(&mut self, message: Vec<u8>) -> Option<&'static str> {
        let envelope = Envelope::scan(&message);
        let answered = answered(&message);
        if !answered.is_empty() && self.answer(&answered, &message) {
            return None;
        }
        if is_unnamed_error(&envelope) && self.answer_unnamed(&message) {
            return None;
        }
        if !self.is_resumable && envelope.method.as_deref() == Some("notifications/cancelled") {
            self.end_subscription(&message);
            return None;
        }
        match self.place(&envelope, &message) {
            Recipient::Nobody => Some(NO_REQUEST),
            Recipient::Listener => {
                let event = self.listener.next(message, false);
                // Only a client that does not read loses the stream.
                self.listener.sender.take_if(|sender| !sender.offer(event.clone()));
                if self.listener.sender.is_some() {
                    self.received = event.number;
                }
                self.keep(event).then_some(UNRECEIVED)
            }
            Recipient::Post(place) => {
                let stream = &mut self.posts[place].stream;
                let event = stream.next(message, false);
                let is_unread = stream.is_read() && !stream.sender.as_ref().is_some_and(|it| it.offer(event.clone()));
                self.keep(event);
                is_unread.then_some(UNREAD)
            }
        }
    }

    /// Whether this has not been reported before.
    pub(super) fn is_news(&mut self, reported: &'static str) -> bool {
        let is_news = !self.reported.contains(&reported);
        if is_news {
            self.reported.push(reported);
        }
        is_news
    }

    /// Sends an answer to the POST that waits for it; false if there is none. A second answer to a request is passed on
    /// like other messages, so that the client can see the server's mistake.
    fn answer(&mut self, answered: &[IdKey], message: &[u8]) -> bool {
        let left = self.abandoned.len();
        self.abandoned.retain(|(asked, _)| !answered.contains(&asked.id));
        let is_asked = |post: &Post| post.waiting.iter().any(|asked| answered.contains(&asked.id));
        let Some(place) = self.posts.iter().position(is_asked) else { return self.abandoned.len() < left };
        let post = &mut self.posts[place];
        post.waiting.retain(|asked| !answered.contains(&asked.id));
        // Sent however much waits: the client has requested it.
        let event = post.stream.next(message.to_vec(), false);
        post.stream.sender.as_ref().map(|sender| sender.give(event.clone()));
        if post.waiting.is_empty() {
            self.posts.remove(place);
        }
        self.keep(event);
        true
    }

    /// Sends an error without an id to the oldest POST that it may refuse as a whole; false if there is none.
    fn answer_unnamed(&mut self, message: &[u8]) -> bool {
        let may_be_its = |post: &Post| post.waiting.iter().any(|asked| asked.may_be_unnamed);
        let Some(place) = self.posts.iter().position(may_be_its) else { return false };
        let mut post = self.posts.remove(place);
        let event = post.stream.next(message.to_vec(), false);
        post.stream.sender.as_ref().map(|sender| sender.give(event.clone()));
        self.keep(event);
        true
    }

    /// Over stdio, a server ends a subscription with a notification; over HTTP, its stream ends (MCP 2026-07-28).
    fn end_subscription(&mut self, message: &[u8]) {
        let id = key_at(message, &["params", "requestId"]);
        self.posts.iter_mut().for_each(|post| post.waiting.retain(|asked| Some(&asked.id) != id.as_ref()));
        self.posts.retain(|post| !post.waiting.is_empty());
    }

    fn place(&self, envelope: &Envelope<'_>, message: &[u8]) -> Recipient {
        if let Some(post) = self.post_of(envelope, message) {
            return Recipient::Post(post);
        }
        if !self.is_resumable {
            return Recipient::Nobody;
        }
        // A server's request usually belongs to the newest client request, and an unreadable message was usually meant
        // as its answer.
        let is_request = matches!(envelope.kind, MessageKind::Request | MessageKind::Malformed);
        match self.posts.iter().rposition(|post| post.stream.is_read()) {
            Some(read) if is_request || !self.has_listened => Recipient::Post(read),
            None if is_request && !self.listener.is_read() => match self.posts.len().checked_sub(1) {
                Some(newest) => Recipient::Post(newest),
                None => Recipient::Listener,
            },
            _ => Recipient::Listener,
        }
    }

    /// The POST that a notification belongs to, by subscription id or progress token; for log messages of the modern
    /// era, the only POST that requested them.
    fn post_of(&self, envelope: &Envelope<'_>, message: &[u8]) -> Option<usize> {
        let that =
            |fits: &dyn Fn(&ClientRequest) -> bool| self.posts.iter().position(|post| post.waiting.iter().any(fits));
        if let Some(id) = key_at(message, &["params", "_meta", meta::SUBSCRIPTION_ID]) {
            return that(&|asked| asked.id == id);
        }
        if let Some(token) = key_at(message, &["params", "progressToken"]) {
            return that(&|asked| asked.token.as_ref() == Some(&token));
        }
        let is_log = !self.is_resumable && envelope.method.as_deref() == Some("notifications/message");
        that(&|asked| is_log && asked.logs)
    }

    /// Stores an event for clients that resume. Returns whether this dropped an event that no client received.
    fn keep(&mut self, event: Event) -> bool {
        if !self.is_resumable {
            return false;
        }
        self.kept_bytes += event.message.len();
        self.kept.push_back(event);
        let mut is_lost = false;
        while (self.kept_bytes > MAX_BYTES || self.kept.len() > MAX_KEPT || !self.share.hold(self.kept_bytes))
            && let Some(oldest) = self.kept.pop_front()
        {
            self.kept_bytes -= oldest.message.len();
            is_lost |= oldest.stream == LISTENER && oldest.number > self.received;
        }
        is_lost
    }

    /// The connection to the server broke: drops all streams.
    pub(super) fn cut(&mut self) {
        self.is_cut.store(true, Ordering::Release);
        *self = Self::new(self.is_resumable);
    }

    /// The server has ended: answers all waiting requests with errors, after passing them to `made`.
    pub(super) fn end(&mut self, mut made: impl FnMut(&[u8])) {
        for mut post in self.posts.drain(..) {
            for asked in std::mem::take(&mut post.waiting) {
                let failure = asked.failure();
                made(&failure);
                let event = post.stream.next(failure, true);
                post.stream.sender.as_ref().map(|sender| sender.give(event));
            }
        }
        *self = Self::new(self.is_resumable);
    }
}

/// Applies `read` to a message, or to each message of a batch (2025-03-26).
fn each<T>(message: &[u8], read: impl Fn(&[u8], &Envelope<'_>) -> Option<T>) -> Vec<T> {
    let envelope = Envelope::scan(message);
    match envelope.kind {
        MessageKind::Batch => json::items(message).filter_map(|item| read(item, &Envelope::scan(item))).collect(),
        _ => read(message, &envelope).into_iter().collect(),
    }
}

/// Whether a message is an error that names no request: its sender could not read what it refuses.
pub(super) fn is_unnamed_error(envelope: &Envelope<'_>) -> bool {
    envelope.kind == MessageKind::Error && envelope.id.is_none_or(|id| id.0 == b"null")
}

/// The ids of the requests that a message answers.
fn answered(message: &[u8]) -> Vec<IdKey> {
    each(message, |_, envelope| envelope.id.filter(|_| envelope.kind.is_response()).map(|id| id.key()))
}

fn key_at(message: &[u8], path: &[&str]) -> Option<IdKey> {
    json::at_path(message, path).map(|text| Id(text).key())
}

#[cfg(test)]
mod tests;
