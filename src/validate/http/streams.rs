//! Streams of events, up to 2025-11-25: what they carry, the ids of their events, and how they are resumed.

use super::{Exchange, RequestHead};
use crate::proposals::Findings;
use crate::proposals::findings::rules;
use crate::proposals::recent::{Digest, Recent};
use crate::protocol::Revision;
use crate::trace::Event;
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
        "MCP 2025-11-25, Transports, Resumability and Redelivery";
    BROADCAST = Error "http/broadcast",
        "The server must send each message on one stream only. Checked for notifications about changes, such as `notifications/tools/list_changed`.",
        "MCP 2025-11-25, Transports, Multiple Connections";
}

/// Ids of events that are remembered.
const EVENTS: usize = 4096;
/// Notifications that are remembered, to recognise one that is sent on several streams.
const NOTIFICATIONS: usize = 64;
/// Streams that resume others.
const RESUMED: usize = 64;
/// The same notification on two streams within this time is one that is sent twice (in nanoseconds).
const SOON: i64 = 1_000_000_000;

/// The streams of one connection.
#[derive(Debug)]
pub(super) struct Streams {
    /// The exchange whose stream first had an event with this id.
    events: Recent<String, u32>,
    /// The stream that each exchange resumes, by the exchange that began it; `None` if it is not known.
    resumed: Recent<u32, Option<u32>>,
    /// The exchange and the time of the latest notifications.
    notifications: Recent<Digest, (u32, i64)>,
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
    pub(super) fn check_resumption(&mut self, seq: u64, number: u32, head: &RequestHead, findings: &mut Findings) {
        let Some(last) = &head.last_event else { return };
        let origin = self.events.get(last).copied();
        self.resumed.insert(number, origin);
        if self.has_ids && !self.lost && !self.events.has_forgotten() {
            findings.check(&UNKNOWN_EVENT, seq, origin.is_some(), || {
                format!("the client resumes after event {last:?}, which no stream has")
            });
        }
    }

    /// Checks the id of an event on the stream of this exchange.
    pub(super) fn check_event(&mut self, seq: u64, number: u32, id: &str, findings: &mut Findings) {
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
        if event.header.framing == Framing::Sse
            && let Some(id) = SseEvent::parse(event.payload).id.filter(|id| !id.is_empty())
        {
            self.check_event(message.seq(), number, &id, findings);
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
