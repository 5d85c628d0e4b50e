//! Makes the index from the events of recordings.

use super::delivery::Deliveries;
use super::{Anchor, BatchItem, Exchange, Initiated, Library, NONE, Payloads, Traits, number_of_item};
use crate::protocol::errors;
use crate::protocol::http::{Delivery, ToolMarks};
use crate::replay::Substitutions;
use crate::replay::mock::matching::{CLIENT_IDS, Disguise, Matching, RequestKeys};
use crate::session::reading::{Reading, Response, Role, Said};
use crate::trace::{Event, EventKind};
use crate::wire::{Direction, Envelope, Id, IdKey, MessageKind, json};
use std::collections::HashMap;
use std::sync::Arc;

/// What is remembered of a pending request.
#[derive(Clone, Copy, Debug)]
enum Open {
    /// The exchange, its time, and the number of its HTTP exchange.
    Exchange(u32, i64, u32),
    Initiated(u32),
}

/// The state of one recorded session.
#[derive(Debug)]
struct Stream {
    /// The number of the recorded session.
    session: u16,
    last: (Anchor, i64),
    notified: HashMap<u16, u32>,
    /// The exchange of each progress token that is in use.
    tokens: HashMap<IdKey, (u32, i64)>,
    /// When the client last answered a request of the server for a pending exchange.
    replied: HashMap<u32, i64>,
}

/// Builds a library from events.
#[derive(Debug)]
pub struct LibraryBuilder {
    keys: RequestKeys,
    maps: Substitutions,
    exchanges: Vec<Exchange>,
    initiated: Vec<Initiated>,
    items: Vec<BatchItem>,
    methods: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u16>,
    reading: Reading<Open>,
    streams: HashMap<(u32, u32), Stream>,
    /// The number of the reel, and of the first event in it.
    reel: (u32, u32),
    firsts: Vec<u32>,
    sessions: u16,
    streamed: Deliveries,
    deliveries: Vec<Delivery>,
    marks: ToolMarks,
    /// For each place to ignore, whether a request had something there.
    used: Vec<bool>,
}

/// The limit on the number of different methods.
const MAX_METHODS: u16 = 4096;
/// The limit on tokens that are remembered for a session.
const MAX_TOKENS: usize = 4096;

impl LibraryBuilder {
    /// A library without messages. Requests are compared according to `matching`, without what is at the `ignored`
    /// JSON pointers.
    pub fn new(matching: Matching, ignored: &[String]) -> Self {
        Self {
            keys: RequestKeys::new(matching, ignored),
            maps: Substitutions::default(),
            exchanges: Vec::new(),
            initiated: Vec::new(),
            items: Vec::new(),
            methods: Vec::new(),
            numbers: HashMap::new(),
            reading: Reading::default(),
            streams: HashMap::new(),
            reel: (0, 0),
            firsts: Vec::new(),
            sessions: 0,
            streamed: Deliveries::default(),
            // The first one is the usual one.
            deliveries: vec![Delivery::default()],
            marks: ToolMarks::default(),
            used: vec![false; ignored.len()],
        }
    }

    /// Compares requests in this disguise.
    pub(crate) fn disguised(self, disguise: Disguise) -> Self {
        Self { keys: self.keys.disguised(disguise), ..self }
    }

    /// Replaces these texts in all messages.
    pub(crate) fn mapped(self, maps: Substitutions) -> Self {
        Self { maps, ..self }
    }

    /// Begins the next reel: its events get numbers from `first` on.
    pub fn begin(&mut self, first: u32) {
        self.reel = (self.reel.0 + 1, first);
        self.firsts.push(first);
        self.streams.clear();
        self.reading = Reading::default();
        self.streamed = Deliveries::default();
    }

    /// Processes the next event of the reel. Messages in batches are served by themselves.
    pub fn take(&mut self, event: &Event<'_>) {
        match event.header.kind {
            EventKind::Message => {}
            EventKind::StreamOpened => return self.keys.learn_folders(|folders| folders.add_command(event.payload)),
            _ => {
                self.reading.event(event, |_, _| {});
                return self.streamed.take(event);
            }
        }
        let Some(number) = u32::try_from(event.header.seq).ok().and_then(|seq| seq.checked_add(self.reel.1)) else {
            return;
        };
        let (time, place) = (event.header.time, (self.reel.0, event.header.stream));
        self.streams.entry(place).or_insert_with(|| {
            let session = self.sessions;
            // Those beyond the limit are served as one.
            self.sessions = session.saturating_add(1);
            let last = (Anchor::Start(session), time);
            Stream { session, last, notified: HashMap::new(), tokens: HashMap::new(), replied: HashMap::new() }
        });
        match Envelope::scan(event.body()).kind {
            MessageKind::Batch => json::items(event.body()).for_each(|item| {
                let Some(number) = self.item(number, item, event.body()) else { return };
                self.take_message(event, place, number, item);
            }),
            _ => self.take_message(event, place, number, event.body()),
        }
    }

    /// Returns a number for an item of a batch, if there are numbers left.
    fn item(&mut self, number: u32, item: &[u8], batch: &[u8]) -> Option<u32> {
        let start = item.as_ptr().addr() - batch.as_ptr().addr();
        let made = number_of_item(self.items.len()).filter(|made| *made > number)?;
        self.items.push(BatchItem { event: number, start, end: start + item.len() });
        Some(made)
    }

    fn take_message(&mut self, event: &Event<'_>, place: (u32, u32), number: u32, body: &[u8]) {
        let (envelope, time, direction) = (Envelope::scan(body), event.header.time, event.header.direction());
        let next = match direction {
            Direction::ClientToServer => Open::Exchange(next_number(&self.exchanges), time, event.header.exchange),
            Direction::ServerToClient => Open::Initiated(next_number(&self.initiated)),
        };
        let said = Said::of_envelope(event.header, &envelope, Some(body));
        let (answered, cancelled) = match self.reading.message(&said, || next) {
            Role::Response(Response { request, .. }) => (request.map(|request| request.memory), None),
            Role::Notification { cancelled } => (None, cancelled.map(|request| request.memory)),
            Role::Request { .. } | Role::Other => (None, None),
        };
        match (direction, envelope.kind) {
            (Direction::ClientToServer, MessageKind::Request) => {
                let mapped = self.maps.apply(body);
                let body = mapped.as_deref().unwrap_or(body);
                let disguised = self.keys.comparable(body);
                let request = Envelope::scan(disguised.as_deref().unwrap_or(body));
                let key = self.keys.of(&request);
                self.note_used(&request);
                self.asked(place, number, time, &envelope, key);
            }
            (Direction::ClientToServer, MessageKind::Notification) => self.notified(place, time, &envelope, cancelled),
            (Direction::ClientToServer, kind) if kind.is_response() => self.replied(place, time, &envelope, answered),
            (Direction::ServerToClient, kind) if kind.is_response() => {
                self.answered(place, number, &envelope, event, answered);
            }
            (Direction::ServerToClient, MessageKind::Request | MessageKind::Notification) => {
                self.initiate(place, number, time, &envelope);
            }
            _ => {}
        }
    }

    /// Notes at which of the places to ignore a request has something.
    fn note_used(&mut self, request: &Envelope<'_>) {
        if self.used.contains(&false) {
            let used = self.keys.used(request);
            self.used.iter_mut().zip(used).for_each(|(known, is_used)| *known |= is_used);
        }
    }

    /// Returns the library, which reads messages from `payloads`.
    pub(crate) fn finish(mut self, payloads: Arc<dyn Payloads>) -> Library {
        self.exchanges.shrink_to_fit();
        self.initiated.shrink_to_fit();
        let mut by_key = sorted(self.exchanges.len(), |number| self.exchanges[number as usize].key);
        by_key.retain(|number| !self.exchanges[*number as usize].has(Traits::IS_OF_HEADERS));
        let by_anchor = sorted(self.initiated.len(), |number| self.initiated[number as usize].anchor);
        Library {
            exchanges: self.exchanges,
            items: self.items,
            by_key,
            initiated: self.initiated,
            by_anchor,
            methods: self.methods,
            numbers: self.numbers,
            keys: self.keys,
            maps: self.maps,
            payloads,
            firsts: self.firsts,
            sessions: self.sessions,
            deliveries: self.deliveries,
            marks: self.marks,
            used: self.used,
        }
    }

    fn number_of(&mut self, method: &str) -> u16 {
        if let Some(known) = self.numbers.get(method) {
            return *known;
        }
        let number = u16::try_from(self.methods.len()).unwrap_or(u16::MAX);
        // Methods beyond the limit share the last number, and are found by their keys all the same.
        if number == MAX_METHODS {
            return MAX_METHODS - 1;
        }
        self.methods.push(method.into());
        self.numbers.insert(method.into(), number);
        number
    }

    fn asked(&mut self, place: (u32, u32), number: u32, time: i64, envelope: &Envelope<'_>, (key, kin): (u64, u32)) {
        let Some(method) = envelope.method.as_deref() else { return };
        let exchange = next_number(&self.exchanges);
        let token = envelope.progress_token();
        let names = |params| CLIENT_IDS.iter().any(|name| json::first_member(params, name).is_some());
        let has_own_ids = token.is_some() || !method.starts_with("tools/") && envelope.params.is_some_and(names);
        let number_of_method = self.number_of(method);
        self.exchanges.push(Exchange {
            key,
            kin,
            request: number,
            answer: NONE,
            delay_us: 0,
            method: number_of_method,
            replies: 0,
            traits: Traits::HAS_OWN_IDS
                .when(has_own_ids)
                .and(Traits::MAY_STAY_OPEN.when(method == "subscriptions/listen")),
            session: self.streams.get(&place).map_or(0, |stream| stream.session),
            delivery: 0,
        });
        if let Some(stream) = self.streams.get_mut(&place) {
            stream.last = (Anchor::Asked(exchange), time);
            if let Some(token) = token.filter(|_| stream.tokens.len() < MAX_TOKENS) {
                stream.tokens.insert(Id(token).key(), (exchange, time));
            }
        }
    }

    fn answered(
        &mut self,
        place: (u32, u32),
        number: u32,
        envelope: &Envelope<'_>,
        event: &Event<'_>,
        request: Option<Open>,
    ) {
        let time = event.header.time;
        let Some(Open::Exchange(exchange, since, carrier)) = request else { return };
        let delivery = self.streamed.of_answer(carrier, event);
        let delivery = self.number_of_delivery(delivery);
        if let (Some(found), Some(stream)) = (self.exchanges.get_mut(exchange as usize), self.streams.get_mut(&place)) {
            let since = stream.replied.remove(&exchange).unwrap_or(since);
            (found.answer, found.delay_us) = (number, micros(since, time));
            let is_of_headers = envelope.error_code() == Some(errors::HEADER_MISMATCH);
            let traits = found.traits.and(Traits::IS_REFUSED.when(envelope.kind == MessageKind::Error));
            found.traits = traits.and(Traits::IS_OF_HEADERS.when(is_of_headers));
            found.delivery = delivery;
            stream.last = (Anchor::Answered(exchange), time);
            stream.tokens.retain(|_, (owner, _)| *owner != exchange);
        }
        if let Some(result) = envelope.result.filter(|_| self.numbers.contains_key("tools/list"))
            && memchr::memmem::find(result, b"x-mcp-header").is_some()
        {
            self.marks.learn(result);
        }
    }

    fn number_of_delivery(&mut self, delivery: Delivery) -> u16 {
        let known = self.deliveries.iter().position(|known| *known == delivery);
        let number = known.unwrap_or(self.deliveries.len());
        match u16::try_from(number).ok().filter(|number| *number < MAX_METHODS) {
            Some(place) if known.is_none() => {
                self.deliveries.push(delivery);
                place
            }
            Some(place) => place,
            None => 0,
        }
    }

    fn notified(&mut self, place: (u32, u32), time: i64, envelope: &Envelope<'_>, cancelled: Option<Open>) {
        let method = envelope.method.as_deref().unwrap_or_default();
        if method == "notifications/cancelled" {
            if let Some(Open::Exchange(exchange, ..)) = cancelled {
                let found = &mut self.exchanges[exchange as usize];
                found.traits = found.traits.and(Traits::MAY_STAY_OPEN);
            }
            return;
        }
        // How many of these come depends on the client's speed.
        if method == "notifications/progress" || method.ends_with("/chunk") {
            return;
        }
        let number = self.number_of(method);
        if let Some(stream) = self.streams.get_mut(&place) {
            let count = stream.notified.entry(number).or_insert(0);
            *count += 1;
            stream.last = (Anchor::Notified(stream.session, number, *count), time);
        }
    }

    /// The client answered a request of the server.
    fn replied(&mut self, place: (u32, u32), time: i64, envelope: &Envelope<'_>, request: Option<Open>) {
        let Some(Open::Initiated(initiated)) = request else { return };
        if let Some(result) = envelope.result {
            self.keys.learn_folders(|folders| folders.add_roots(result));
        }
        let Some(stream) = self.streams.get_mut(&place) else { return };
        stream.last = (Anchor::Replied(initiated), time);
        if let Some(owner) = self.initiated.get(initiated as usize).and_then(Initiated::owner)
            && let Some(exchange) = self.exchanges.get_mut(owner as usize).filter(|one| one.answer == NONE)
        {
            exchange.replies = exchange.replies.saturating_add(1);
            stream.replied.insert(owner, time);
        }
    }

    /// The server sent a request or a notification.
    fn initiate(&mut self, place: (u32, u32), number: u32, time: i64, envelope: &Envelope<'_>) {
        let Some(stream) = self.streams.get(&place) else { return };
        let token = envelope.params.filter(|_| envelope.method.as_deref() == Some("notifications/progress"));
        let token = token.and_then(|params| json::first_member(params, "progressToken"));
        let by_token = token.and_then(|token| stream.tokens.get(&Id(token).key()));
        let (anchor, since) = match by_token {
            Some((owner, since)) => (Anchor::Asked(*owner), *since),
            None => stream.last,
        };
        let owner = match anchor {
            Anchor::Asked(exchange) => exchange,
            Anchor::Replied(before) => self.initiated.get(before as usize).map_or(NONE, |one| one.owner),
            Anchor::Start(_) | Anchor::Answered(_) | Anchor::Notified(..) => NONE,
        };
        let is_request = envelope.kind == MessageKind::Request;
        self.initiated.push(Initiated { anchor, message: number, delay_us: micros(since, time), owner, is_request });
    }
}

/// Returns the number that the next item gets.
fn next_number<T>(items: &[T]) -> u32 {
    u32::try_from(items.len()).unwrap_or(NONE)
}

/// Returns the numbers below `count` in the order of what `key` says of them.
fn sorted<K: Ord>(count: usize, key: impl Fn(u32) -> K) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..u32::try_from(count).unwrap_or(u32::MAX)).collect();
    numbers.sort_by_key(|number| key(*number));
    numbers
}

fn micros(from: i64, to: i64) -> u32 {
    u32::try_from(to.saturating_sub(from).max(0) / 1000).unwrap_or(u32::MAX)
}
