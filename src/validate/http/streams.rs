//! Streams of events, up to 2025-11-25: what they carry, the ids of their events, and how they are resumed.

use super::{Exchange, RequestHead};
use crate::proposals::Findings;
use crate::proposals::findings::rules;
use crate::proposals::recent::{Digest, Recent};
use crate::protocol::Revision;
use crate::trace::{Event, EventHeader};
use crate::validate::subject::Message;
use crate::wire::sse::SseEvent;
use crate::wire::{Framing, MessageKind};

rules! {
    RESPONSE_ON_GET = Error "http/response-on-get",
        "The server must send no responses on a stream that a GET request opened, unless the client resumes an earlier stream with it.",
        "MCP 2025-11-25, Transports, Listening for Messages from the Server",
        fix "Send the response on the stream of the POST with the request.";
    EVENT_ID = Error "http/event-id-repeated",
        "The server must give each event on its streams an id that no other event of the session has.",
        "MCP 2025-11-25, Transports, Resumability and Redelivery",
        fix "Put the number of the stream into the id, as in 3-17.";
    REPLAYED = Error "http/replayed-elsewhere",
        "On a stream that the client resumes with `Last-Event-ID`, the server must repeat only events of the resumed stream.",
        "MCP 2025-11-25, Transports, Resumability and Redelivery",
        fix "Keep the events of each stream apart, and make their ids tell the stream.";
    UNKNOWN_EVENT = Warning "http/unknown-event-id",
        "The client sends in `Last-Event-ID` the id of an event that the server sent before.",
        "MCP 2025-11-25, Transports, Resumability and Redelivery",
        fix "Store the id of the last event of each stream, and send it unchanged.";
    RETRY = Error "http/retry-ignored",
        "A client that resumes a stream must first wait as long as the last `retry` on that stream says (less at most a tenth). Counted from the last event of the stream.",
        "MCP 2025-11-25, Transports, Sending Messages to the Server",
        fix "Store the last `retry`, and wait that many milliseconds before you connect again.";
    BROADCAST = Error "http/broadcast",
        "The server must send each message on one stream only. Checked for notifications about changes, such as `notifications/tools/list_changed`.",
        "MCP 2025-11-25, Transports, Multiple Connections",
        fix "Choose one of the open streams for each message.";
}

/// Ids of events that are remembered.
const EVENTS: usize = 4096;
/// Notifications that are remembered, to recognise one that is sent on several streams.
const NOTIFICATIONS: usize = 64;
/// Streams that resume others.
const RESUMED: usize = 64;
/// Streams whose `retry` is remembered.
const RETRIES: usize = 64;
/// The same notification on two streams within this time is one that is sent twice (in nanoseconds).
const SOON: i64 = 1_000_000_000;

/// How long a client has to wait before it resumes a stream, and the time of the stream's last event, before which it
/// cannot have ended (in nanoseconds).
#[derive(Debug)]
struct Retry {
    wait: i64,
    last_event: i64,
}

/// The streams of one connection.
#[derive(Debug)]
pub(super) struct Streams {
    /// The exchange whose stream first had an event with this id.
    events: Recent<String, u32>,
    /// The stream that each exchange resumes, by the exchange that began it; `None` if it is not known.
    resumed: Recent<u32, Option<u32>>,
    /// The exchange and the time of the latest notifications.
    notifications: Recent<Digest, (u32, i64)>,
    /// The streams with `retry`, by the exchange that carries them.
    retries: Recent<u32, Retry>,
    /// An event without an id may have been resumed from.
    has_ids: bool,
    /// Traffic is missing, which may have had events with ids.
    lost: bool,
}

impl Default for Streams {
    fn default() -> Self {
        Self {
            events: Recent::new(EVENTS),
            resumed: Recent::new(RESUMED),
            notifications: Recent::new(NOTIFICATIONS),
            retries: Recent::new(RETRIES),
            has_ids: false,
            lost: false,
        }
    }
}

impl Streams {
    pub(super) fn lose_track(&mut self) {
        let resumed = std::mem::replace(&mut self.resumed, Recent::new(0));
        *self = Self { resumed, lost: true, ..Self::default() };
    }

    /// Notes a request that resumes a stream.
    pub(super) fn check_resumption(&mut self, header: &EventHeader, head: &RequestHead, findings: &mut Findings) {
        let Some(last) = &head.last_event else { return };
        let origin = self.events.get(last).copied();
        // The stream that had the event last: the first one, or one that resumed it.
        let latest = self.resumed.keys().rev().find(|number| self.resumed.get(number) == Some(&origin)).copied();
        if let Some(retry) = origin.and_then(|origin| self.retries.get(&latest.unwrap_or(origin))) {
            retry.check(header, findings);
        }
        self.resumed.insert(header.exchange, origin);
        if self.has_ids && !self.lost && !self.events.has_forgotten() {
            findings.check(&UNKNOWN_EVENT, header.seq, origin.is_some(), || {
                format!("the client resumes after event {last:?}, which no stream has")
            });
        }
    }

    /// Checks an event on the stream of this exchange.
    pub(super) fn check_event(
        &mut self,
        header: &EventHeader,
        id: Option<&str>,
        retry: Option<u64>,
        findings: &mut Findings,
    ) {
        self.note_retry(header, retry);
        if let Some(id) = id {
            self.check_id(header.seq, header.exchange, id, findings);
        }
    }

    fn note_retry(&mut self, header: &EventHeader, retry: Option<u64>) {
        let wait = retry.and_then(|ms| i64::try_from(ms).ok()).map(|ms| ms.saturating_mul(1_000_000));
        match (self.retries.get_mut(&header.exchange), wait) {
            (Some(known), wait) => *known = Retry { wait: wait.unwrap_or(known.wait), last_event: header.time },
            (None, Some(wait)) => {
                self.retries.insert(header.exchange, Retry { wait, last_event: header.time });
            }
            (None, None) => {}
        }
    }

    fn check_id(&mut self, seq: u64, number: u32, id: &str, findings: &mut Findings) {
        self.has_ids = true;
        let resumed = self.resumed.get(&number).copied();
        // A resumed stream goes on with the ids of the stream that it resumes.
        let stream = resumed.flatten().unwrap_or(number);
        let earlier = self.events.get(&id.to_owned()).copied();
        match (resumed, earlier) {
            (None, _) => findings
                .check(&EVENT_ID, seq, earlier.is_none(), || format!("the server used the event id {id:?} before")),
            (Some(Some(_)), Some(origin)) => findings.check(&REPLAYED, seq, origin == stream, || {
                format!("the server replayed event {id:?}, which belongs to another stream")
            }),
            _ => {}
        }
        if earlier.is_none() {
            self.events.insert(id.to_owned(), stream);
        }
    }

    /// Checks a message of the server.
    pub(super) fn check_message(
        &mut self,
        message: &Message<'_>,
        event: &Event<'_>,
        exchange: Option<&Exchange>,
        findings: &mut Findings,
    ) {
        let number = event.header.exchange;
        if message.is_modern() {
            return;
        }
        if event.header.framing == Framing::Sse {
            let block = SseEvent::parse(event.payload);
            let id = block.id.as_deref().filter(|id| !id.is_empty());
            self.check_event(event.header, id, block.retry, findings);
        }
        if exchange.is_some_and(|exchange| exchange.request.method == "GET") && !self.resumed.contains(&number) {
            let is_response = message.observed.envelope.kind.is_response();
            findings.check(&RESPONSE_ON_GET, message.seq(), !is_response, || {
                "the server sent a response on a stream that a GET request opened".to_owned()
            });
        }
        self.check_broadcast(message, event, findings);
    }

    /// Only changes are checked: a log message or a request may be repeated with the same text.
    fn check_broadcast(&mut self, message: &Message<'_>, event: &Event<'_>, findings: &mut Findings) {
        let method = message.method();
        let is_change = method.ends_with("list_changed") || method == "notifications/resources/updated";
        if message.observed.envelope.kind != MessageKind::Notification
            || !is_change
            || !message.is_since(Revision::V2025_03_26)
            || self.resumed.contains(&event.header.exchange)
        {
            return;
        }
        let mut digest = Digest::default();
        digest.append(&message.observed.whole.to_string());
        let (number, time) = (event.header.exchange, event.header.time);
        let before = self.notifications.insert(digest, (number, time));
        let twice = before.is_some_and(|(other, at)| other != number && time.saturating_sub(at) < SOON);
        findings.check(&BROADCAST, message.seq(), !twice, || format!("the server sent {method} on two streams"));
    }
}

impl Retry {
    /// Checks a request that resumes the stream.
    fn check(&self, header: &EventHeader, findings: &mut Findings) {
        let passed = header.time.saturating_sub(self.last_event);
        findings.check(&RETRY, header.seq, passed >= self.wait - self.wait / 10, || {
            let (passed, wait) = (passed / 1_000_000, self.wait / 1_000_000);
            format!("the client resumed the stream {passed} ms after its last event; retry is {wait} ms")
        });
    }
}
