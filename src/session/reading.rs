//! The one reading of a session: finds the request of each response, and what became of each request.
//!
//! A [`Reading`] takes the events of a reel or of a live session in order. It pairs by id, and over HTTP by exchange: the
//! response to a request that HTTP refused may have any id. Client and server have ids of their own, and so has each
//! stream. Whatever is remembered of a request besides is the caller's, as `T`.

use super::outcome::{self, Outcome};
use crate::protocol::methods;
use crate::trace::{Event, EventHeader, EventKind, ExchangeNews, Flags};
use crate::wire::{Direction, Envelope, Id, IdKey, MessageKind, json};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

/// Follows the requests of a session. If too many are pending, the oldest are forgotten.
#[derive(Debug)]
pub(crate) struct Reading<T> {
    /// The latest requests. When they reach `max`, they become the `earlier` ones.
    latest: Open<T>,
    earlier: Open<T>,
    max: usize,
    forgotten: usize,
    /// The latest message, if it is a request.
    last: Option<Key>,
    /// The latest exchange that failed, or 0.
    failed: u32,
    /// The number of the event that stands for lost traffic, the last one.
    lost: Option<u64>,
}

/// At least this many requests are remembered, and at most twice as many. As many fill a hash table of 4,096 places.
const MAX_OPEN: usize = 7 << 9;

/// The notification that withdraws a request.
pub(super) const CANCELLED: &str = "notifications/cancelled";

/// The fingerprint of a request's stream, direction and id.
type Key = u64;

#[derive(Debug)]
struct Open<T> {
    requests: HashMap<Key, Request<T>, RandomState>,
    /// The requests of each HTTP exchange.
    exchanges: HashMap<u32, Carried, RandomState>,
}

/// The requests that an HTTP exchange carries: one, or those of a batch.
#[derive(Debug)]
struct Carried {
    first: Key,
    others: Vec<Key>,
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request<T> {
    /// The number of its event.
    pub seq: u64,
    /// Its place in a batch, from 0.
    pub item: u32,
    /// The time when it was sent, if need be with another token, in nanoseconds since the reel's clock base.
    pub time: i64,
    /// The HTTP exchange that carried it, or 0.
    pub exchange: u32,
    /// What became of it so far, if anything: a response may still come.
    pub so_far: Option<Outcome>,
    /// What the caller remembers.
    pub memory: T,
    asks_user: bool,
    stays_open: bool,
}

impl<T> Request<T> {
    /// Returns whether its HTTP exchange failed: the response comes in this exchange or never, and the id is free again.
    fn is_given_up(&self) -> bool {
        self.so_far.is_some_and(|outcome| outcome != Outcome::Cancelled)
    }
}

/// A message, as far as its place in the session depends on it.
#[derive(Clone, Debug)]
pub(crate) struct Said<'a> {
    /// The number of its event.
    pub seq: u64,
    /// Its place in a batch, from 0.
    pub item: u32,
    /// Its time in nanoseconds since the reel's clock base.
    pub time: i64,
    /// The number of its stream.
    pub stream: u32,
    /// The HTTP exchange that carries it, or 0.
    pub exchange: u32,
    /// Who sent it.
    pub direction: Direction,
    /// Its kind.
    pub kind: MessageKind,
    /// Its id.
    pub id: Option<IdKey>,
    /// Its method.
    pub method: Option<&'a str>,
    /// Whether it is a result with `"isError": true`.
    pub has_tool_error: bool,
    /// Its bytes, if they are at hand. Without them, a result of another kind counts as ok, and no request is cancelled.
    pub text: Option<&'a [u8]>,
}

impl<'a> Said<'a> {
    /// The message that an event is. `method` is the name of its method.
    pub(crate) fn of_event(event: &Event<'a>, method: Option<&'a str>) -> Option<Self> {
        let EventHeader { seq, time, stream, exchange, len, flags, .. } = *event.header;
        let message = event.header.message.as_ref()?;
        let (kind, id) = (message.kind, message.id.as_ref().map(|id| id.key()));
        let (item, direction, has_tool_error) = (0, flags.direction(), flags.has(Flags::TOOL_ERROR));
        let text = (event.payload.len() == len as usize).then(|| event.body());
        Some(Self { seq, item, time, stream, exchange, direction, kind, id, method, has_tool_error, text })
    }

    /// A message of an event, or of the batch in it.
    pub(crate) fn of_envelope(header: &EventHeader, envelope: &'a Envelope<'_>, text: Option<&'a [u8]>) -> Self {
        let EventHeader { seq, time, stream, exchange, .. } = *header;
        Self { seq, time, exchange, text, ..Self::on_connection(stream, header.direction(), envelope) }
    }

    /// A message on a connection of which nothing else is known.
    pub(crate) fn on_connection(stream: u32, direction: Direction, envelope: &'a Envelope<'_>) -> Self {
        let (seq, item, time, exchange) = (0, 0, 0, 0);
        let (kind, id, method) = (envelope.kind, envelope.id.map(|id| id.key()), envelope.method.as_deref());
        let (has_tool_error, text) = (envelope.tool_error, None);
        Self { seq, item, time, stream, exchange, direction, kind, id, method, has_tool_error, text }
    }
}

/// A request that gets no response any more.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended<T> {
    /// The request.
    pub request: Request<T>,
    /// What became of it.
    pub outcome: Outcome,
}

/// A response.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Response<T> {
    /// The request that it answers, if it is known.
    pub request: Option<Request<T>>,
    /// What became of the request.
    pub outcome: Outcome,
    /// The time since the request, in nanoseconds.
    pub latency: Option<i64>,
    /// Its HTTP exchange was refused, and carried no request: it is about a notification, or another response.
    pub is_of_no_request: bool,
}

/// The place of a message in its session.
#[derive(Debug)]
pub(crate) enum Role<'r, T> {
    /// A request.
    Request {
        /// An earlier pending one with its id, which may still be answered first.
        reused: Option<Request<T>>,
        /// Requests that are forgotten, because there are too many.
        forgotten: Vec<Ended<T>>,
    },
    /// A response.
    Response(Response<T>),
    /// A notification.
    Notification {
        /// The request that it cancels.
        cancelled: Option<&'r mut Request<T>>,
    },
    /// No message, or a batch as a whole.
    Other,
}

impl<T> Role<'_, T> {
    /// Returns the requests that get no response because of this message.
    pub(crate) fn ended(self) -> Vec<Ended<T>> {
        let Self::Request { reused, forgotten } = self else { return Vec::new() };
        let reused = reused.map(|request| Ended { request, outcome: Outcome::Unanswered });
        forgotten.into_iter().chain(reused).collect()
    }
}

impl<T> Default for Reading<T> {
    fn default() -> Self {
        Self::of(MAX_OPEN)
    }
}

impl<T> Default for Open<T> {
    fn default() -> Self {
        Self { requests: HashMap::default(), exchanges: HashMap::default() }
    }
}

/// Gives back the room that answered requests left in a table, if that is most of it. Small tables keep theirs.
pub(crate) fn give_room_back<K: Eq + Hash, V, S: BuildHasher>(open: &mut HashMap<K, V, S>) {
    const SMALL: usize = 28;
    let (room, used) = (open.capacity(), open.len());
    if room > SMALL && room > 8 * used {
        open.shrink_to(2 * used);
    }
}

fn key(stream: u32, direction: Direction, id: &IdKey) -> Key {
    id.fingerprint((stream, direction))
}

impl<T> Reading<T> {
    /// Creates a reading that remembers at least the latest `max` requests, and at most twice as many.
    pub(crate) fn of(max: usize) -> Self {
        Self { latest: Open::default(), earlier: Open::default(), max, forgotten: 0, last: None, failed: 0, lost: None }
    }

    /// Takes the next message. `remember` is called for a request.
    pub(crate) fn message(&mut self, said: &Said<'_>, remember: impl FnOnce() -> T) -> Role<'_, T> {
        self.last = None;
        match (said.kind, &said.id) {
            (MessageKind::Request, Some(id)) => self.request(said, id, remember()),
            (MessageKind::Result | MessageKind::Error, _) => Role::Response(self.response(said)),
            (MessageKind::Notification, _) => Role::Notification { cancelled: self.cancelled_by(said) },
            _ => Role::Other,
        }
    }

    /// Takes the next event that is no message. Passes on the requests about which it says something, with what became of
    /// them so far: [`Outcome::Pending`] if one that was given up is sent again.
    pub(crate) fn event(&mut self, event: &Event<'_>, mut see: impl FnMut(&mut Request<T>, Outcome)) {
        let header = event.header;
        self.last = None;
        if header.kind == EventKind::Transport && header.flags.has(Flags::FAILED) {
            self.failed = header.exchange;
        }
        match header.kind {
            EventKind::Gap => self.lost = Some(header.seq),
            EventKind::Transport if header.is_sent_again() => {
                self.each_of_exchange(header.exchange, |request| {
                    if request.so_far.is_some() {
                        see(request, Outcome::Pending);
                    }
                    (request.time, request.so_far) = (header.time, None);
                });
            }
            EventKind::Transport if header.exchange != 0 && self.is_open(header.exchange) => {
                let has_failed = header.flags.has(Flags::FAILED);
                if header.direction() == Direction::ClientToServer && !has_failed {
                    return;
                }
                // Without its payload, an event says only that something failed.
                let is_loaded = !event.payload.is_empty();
                let news = if is_loaded { ExchangeNews::read(event.payload) } else { ExchangeNews::default() };
                let Some(outcome) = outcome::of_exchange(news, has_failed) else { return };
                self.each_of_exchange(header.exchange, |request| {
                    // What was known first tells the reason: a refused exchange may break off, too.
                    if request.so_far.is_none() {
                        see(request, outcome);
                        request.so_far = Some(outcome);
                    }
                });
            }
            _ => {}
        }
    }

    /// Ends the reading. Returns the requests without a response, oldest first. `is_over` says whether the session is.
    pub(crate) fn finish(&mut self, is_over: bool) -> Vec<Ended<T>> {
        let (latest, earlier) = (std::mem::take(&mut self.latest), std::mem::take(&mut self.earlier));
        let all = earlier.requests.into_values().chain(latest.requests.into_values());
        let mut ended: Vec<Ended<T>> = all.map(|request| self.ended(request, is_over)).collect();
        ended.sort_by_key(|ended| ended.request.seq);
        ended
    }

    fn ended(&self, request: Request<T>, is_over: bool) -> Ended<T> {
        let is_lost = self.lost.is_some_and(|lost| request.seq < lost);
        let outcome = match request.so_far {
            Some(outcome) => outcome,
            None if is_lost => Outcome::Unknown,
            None if is_over => Outcome::Unanswered,
            None => Outcome::Pending,
        };
        Ended { request, outcome }
    }

    /// Returns how many requests were forgotten that may still be pending.
    pub(crate) fn forgotten(&self) -> usize {
        self.forgotten
    }

    /// Iterates over the pending requests, in no particular order.
    pub(crate) fn pending(&self) -> impl Iterator<Item = &Request<T>> {
        self.both().into_iter().flat_map(|open| open.requests.values()).filter(|request| !request.is_given_up())
    }

    /// Returns the latest message, if it is a request.
    pub(crate) fn latest(&mut self) -> Option<&mut Request<T>> {
        self.latest.requests.get_mut(&self.last?)
    }

    /// Returns the first request of an exchange without a response.
    pub(crate) fn carried(&mut self, exchange: u32) -> Option<&mut Request<T>> {
        [&mut self.latest, &mut self.earlier].into_iter().find_map(|open| {
            let first = open.exchanges.get(&exchange)?.first;
            open.requests.get_mut(&first)
        })
    }

    fn both(&self) -> [&Open<T>; 2] {
        [&self.latest, &self.earlier]
    }

    fn is_open(&self, exchange: u32) -> bool {
        self.both().into_iter().any(|open| open.exchanges.contains_key(&exchange))
    }

    fn each_of_exchange(&mut self, exchange: u32, mut see: impl FnMut(&mut Request<T>)) {
        for Open { requests, exchanges } in [&mut self.latest, &mut self.earlier] {
            let Some(carried) = exchanges.get(&exchange) else { continue };
            for key in std::iter::once(&carried.first).chain(&carried.others) {
                requests.get_mut(key).into_iter().for_each(&mut see);
            }
        }
    }

    fn request(&mut self, said: &Said<'_>, id: &IdKey, memory: T) -> Role<'_, T> {
        let forgotten = if self.latest.requests.len() >= self.max { self.forget() } else { Vec::new() };
        let key = key(said.stream, said.direction, id);
        let before = self.earlier.remove(key);
        let before = self.latest.remove(key).or(before);
        let spec = said.method.and_then(methods::lookup);
        // A server's request comes in the exchange of a client's, which stays the one of that exchange.
        let exchange = if said.direction == Direction::ClientToServer { said.exchange } else { 0 };
        self.latest.carry(exchange, key);
        let request = Request {
            seq: said.seq,
            item: said.item,
            time: said.time,
            exchange,
            so_far: None,
            memory,
            asks_user: said.method == Some("elicitation/create"),
            stays_open: spec.is_some_and(|spec| spec.stays_open),
        };
        self.latest.requests.insert(key, request);
        self.last = Some(key);
        Role::Request { reused: before.filter(|before| !before.is_given_up()), forgotten }
    }

    /// Makes room. Nobody knows what becomes of the requests that are forgotten.
    fn forget(&mut self) -> Vec<Ended<T>> {
        let earlier = std::mem::replace(&mut self.earlier, std::mem::take(&mut self.latest));
        // Places of answered requests made the table twice as large.
        self.earlier.requests.shrink_to_fit();
        self.forgotten += earlier.requests.len();
        let ended = |request: Request<T>| Ended { outcome: request.so_far.unwrap_or(Outcome::Unknown), request };
        earlier.requests.into_values().map(ended).collect()
    }

    fn response(&mut self, said: &Said<'_>) -> Response<T> {
        let by_id = said.id.as_ref().and_then(|id| self.remove(key(said.stream, said.direction.reversed(), id)));
        let request = by_id.or_else(|| self.answered_in_exchange(said));
        let of_text = |asks_user| outcome::of_response(said.kind, said.has_tool_error, asks_user, said.text);
        let outcome =
            match &request {
                None => of_text(false),
                // A result does not undo what HTTP said: the client does not read it.
                Some(Request {
                    so_far: Some(refused @ (Outcome::Refused | Outcome::Redirected)), exchange, ..
                }) if said.kind == MessageKind::Result && *exchange == said.exchange => *refused,
                Some(request) => of_text(request.asks_user),
            };
        let latency = request.as_ref().map(|request| said.time.saturating_sub(request.time));
        let is_of_no_request = request.is_none() && said.exchange != 0 && said.exchange == self.failed;
        Response { request, outcome, latency, is_of_no_request }
    }

    /// Returns the request that a response in its exchange belongs to, although its id is another one: that of an
    /// exchange that failed, or the only one of an exchange that brings an error without an id.
    fn answered_in_exchange(&mut self, said: &Said<'_>) -> Option<Request<T>> {
        if said.exchange == 0 || said.direction != Direction::ServerToClient {
            return None;
        }
        let is_error = said.kind == MessageKind::Error && said.id.as_ref().is_none_or(IdKey::is_null);
        let key = self.both().into_iter().find_map(|open| {
            let carried = open.exchanges.get(&said.exchange)?;
            let request = open.requests.get(&carried.first)?;
            (carried.others.is_empty() && (request.is_given_up() || is_error)).then_some(carried.first)
        })?;
        self.remove(key)
    }

    fn remove(&mut self, key: Key) -> Option<Request<T>> {
        [&mut self.latest, &mut self.earlier].into_iter().find_map(|open| open.remove(key))
    }

    /// Notes which request a notification cancels. A server ends a subscription of the client in the same way.
    fn cancelled_by(&mut self, said: &Said<'_>) -> Option<&mut Request<T>> {
        if said.method != Some(CANCELLED) {
            return None;
        }
        let id = Id(json::at_path(said.text?, &["params", "requestId"])?).key();
        let own = key(said.stream, said.direction, &id);
        let other = key(said.stream, said.direction.reversed(), &id);
        let is_known = |key| self.both().into_iter().find_map(|open| open.requests.get(&key));
        let found = match is_known(own) {
            Some(_) => own,
            None => is_known(other).is_some_and(|request| request.stays_open).then_some(other)?,
        };
        let mut both = [&mut self.latest, &mut self.earlier].into_iter();
        let request = both.find_map(|open| open.requests.get_mut(&found))?;
        request.so_far.get_or_insert(Outcome::Cancelled);
        Some(request)
    }
}

impl<T> Open<T> {
    fn carry(&mut self, exchange: u32, key: Key) {
        if exchange == 0 {
            return;
        }
        match self.exchanges.get_mut(&exchange) {
            Some(carried) => carried.others.push(key),
            None => drop(self.exchanges.insert(exchange, Carried { first: key, others: Vec::new() })),
        }
    }

    fn remove(&mut self, key: Key) -> Option<Request<T>> {
        let request = self.requests.remove(&key)?;
        if self.exchanges.get_mut(&request.exchange).is_some_and(|carried| carried.is_last(key)) {
            self.exchanges.remove(&request.exchange);
        }
        give_room_back(&mut self.requests);
        Some(request)
    }
}

impl Carried {
    /// Forgets a request, unless it is the last one.
    fn is_last(&mut self, key: Key) -> bool {
        self.others.retain(|other| *other != key);
        if self.first == key {
            let Some(other) = self.others.pop() else { return true };
            self.first = other;
        }
        false
    }
}

#[cfg(test)]
mod tests;
