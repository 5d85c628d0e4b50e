//! The checks of one connection: turns the bytes of its events into messages, and passes each message to all rule
//! groups and to each proposal's observer.

use super::overlap::Overlap;
use super::pairing::Pairs;
use super::report::{ConnectionSummary, Peer};
use super::{all_rules, capability, envelope, lifecycle, method, rules, schema, sender, stream};
use crate::proposals::{self, ConversationEvent, Findings, Observed, Observer, Overview, REGISTRY};
use crate::protocol::revision::meta;
use crate::protocol::{Era, Revision};
use crate::session::Tracker;
use crate::trace::{Event, EventHeader};
use crate::wire::{Direction, Envelope, MessageKind, json};
use serde_json::Value;

/// The proposals' overviews, which see the messages of all connections.
pub(super) type Overviews = Vec<Box<dyn Overview>>;

/// The state of one connection.
pub(super) struct Connection {
    pub findings: Findings,
    tracker: Tracker,
    observers: Vec<Box<dyn Observer>>,
    pairs: Pairs,
    lifecycle: lifecycle::Lifecycle,
    method: method::Methods,
    turns: Turns,
    overlap: Overlap,
    summary: ConnectionSummary,
    /// The head of the HTTP request that carries the current message.
    head: Option<Head>,
    last_time: i64,
    lost: bool,
    /// The number of requests that were forgotten because too many were pending.
    forgotten: usize,
    /// Clients reach the server through a listener. In the modern era, several clients share this connection.
    behind_listener: bool,
}

/// What the head of an HTTP request says about its message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// It names a session (`Mcp-Session-Id`).
    pub names_session: bool,
    /// It names a revision of the modern era (`MCP-Protocol-Version`).
    pub names_modern: bool,
}

/// The state of the connection just before a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    pub ready: bool,
    pub initialize_asked: bool,
    pub era: Option<Era>,
    pub revision: Option<Revision>,
    /// Some earlier traffic is not in the reel.
    pub lost: bool,
}

/// A message, with everything that MCP's own rules look at.
pub(super) struct Message<'a> {
    pub observed: Observed<'a>,
    pub before: Before,
    /// The era of the message's content.
    pub era: Era,
}

impl Connection {
    pub(super) fn new() -> Self {
        Self {
            findings: Findings::default(),
            tracker: Tracker::default(),
            observers: REGISTRY.iter().map(|proposal| proposal.observer()).collect(),
            pairs: Pairs::default(),
            lifecycle: lifecycle::Lifecycle::default(),
            method: method::Methods::default(),
            turns: Turns::default(),
            overlap: Overlap::default(),
            summary: ConnectionSummary::default(),
            head: None,
            last_time: 0,
            lost: false,
            forgotten: 0,
            behind_listener: false,
        }
    }

    /// Notes that clients reach the server of this connection through a listener.
    pub(super) fn stand_behind_listener(&mut self) {
        self.behind_listener = true;
    }

    /// Notes that some traffic is not in the reel. Checks that need all of it are skipped from here on.
    pub(super) fn lose_track(&mut self) {
        self.lost = true;
        self.tracker.lose_track();
        self.pairs.lose_track();
        self.lifecycle.lose_track();
        self.observers.iter_mut().for_each(|observer| observer.lose_track());
    }

    pub(super) fn close(&mut self, time: i64) {
        self.last_time = self.last_time.max(time);
    }

    /// Reports a gap in the traffic, and skips the checks that depend on the missing part.
    pub(super) fn note_gap(&mut self, seq: u64) {
        self.findings.note(&rules::NOT_CHECKED, seq, "a part of the traffic is missing from the reel");
        self.lose_track();
    }

    /// Notes that an HTTP exchange failed: its request gets no response.
    pub(super) fn fail(&mut self, exchange: u32) {
        self.pairs.fail(exchange);
        self.tracker.fail(exchange);
    }

    /// Checks a message. `head` is the head of the HTTP request that carries it, if the message is the client's.
    pub(super) fn take_event(&mut self, event: &Event<'_>, head: Option<Head>, overviews: &mut Overviews) {
        self.last_time = self.last_time.max(event.header.time);
        self.head = head;
        self.pairs.carried_by(event.header.exchange);
        self.tracker.carried_by(event.header.exchange);
        if head.is_some_and(|head| head.names_modern) {
            self.tracker.headed_modern();
        }
        let Some(text) = stream::text(event, &mut self.findings) else {
            // What it asked or answered is unknown.
            return self.lose_track();
        };
        let envelope = Envelope::scan(text);
        match envelope.kind {
            MessageKind::Batch => self.take_batch(event, text, overviews),
            kind if stream::is_message(event.header.seq, kind, text, &envelope, &mut self.findings) => {
                self.take_message(event.header, &envelope, text, overviews);
            }
            _ => {}
        }
    }

    fn take_batch(&mut self, event: &Event<'_>, text: &[u8], overviews: &mut Overviews) {
        let seq = event.header.seq;
        let revision = self.tracker.revision;
        let legal = revision.is_none_or(|revision| revision == Revision::V2025_03_26);
        self.findings.check(&rules::BATCH, seq, legal, || {
            let revision = revision.map_or("(unknown)", Revision::as_str);
            format!("the {} sent a batch in revision {revision}", sender(event.header.direction()))
        });
        let items: Vec<_> = json::items(text).collect();
        self.findings.check(&rules::EMPTY_BATCH, seq, !items.is_empty(), || "the batch is empty".to_owned());
        for item in items {
            let envelope = Envelope::scan(item);
            let initializes = envelope.method.as_deref() == Some("initialize");
            self.findings
                .check(&rules::BATCHED_INITIALIZE, seq, !initializes, || "the batch contains initialize".to_owned());
            if stream::is_message(seq, envelope.kind, item, &envelope, &mut self.findings) {
                self.take_message(event.header, &envelope, item, overviews);
            }
        }
    }

    fn take_message(&mut self, header: &EventHeader, envelope: &Envelope<'_>, text: &[u8], overviews: &mut Overviews) {
        let (seq, time, direction) = (header.seq, header.time, header.direction());
        self.summary.messages += 1;
        let Some(value) = envelope::check(seq, envelope, text, &mut self.findings) else {
            // The JSON is broken, but the structure is known: the message still counts for pairing.
            let step = self.tracker.take(seq, time, direction, envelope, &Value::Null);
            self.pairs.take(seq, time, direction, envelope, &Value::Null, &step, &mut self.findings);
            return;
        };
        let content = ["params", "result", "error"].iter().find_map(|name| value.get(name)).unwrap_or(&Value::Null);
        let initializes = direction == Direction::ClientToServer && envelope.method.as_deref() == Some("initialize");
        if initializes && self.head.is_some_and(|head| !head.names_session) {
            self.begin_session(header.stream, overviews);
        }
        let before = Before {
            ready: self.tracker.declared.ready,
            initialize_asked: self.tracker.initialize_asked,
            era: self.tracker.era,
            revision: self.tracker.revision,
            lost: self.lost,
        };
        let step = self.tracker.take(seq, time, direction, envelope, content);
        if self.tracker.forgotten() > self.forgotten {
            self.forgotten = self.tracker.forgotten();
            self.findings.note(
                &rules::NOT_CHECKED,
                seq,
                "too many requests are pending; none of them is checked for its response",
            );
            self.pairs.forget();
        }
        self.pairs.share(step.era == Era::Modern && (self.behind_listener || header.exchange != 0));
        self.pairs.take(seq, time, direction, envelope, content, &step, &mut self.findings);
        let method = match &step.request {
            Some(asked) => Some(asked.method.as_str()),
            None => envelope.method.as_deref(),
        };
        let request = step.request.as_ref();
        let declared = &self.tracker.declared;
        let observed = Observed { seq, time, direction, envelope, method, content, request, declared, whole: &value };
        let message = Message { observed, before, era: step.era };
        self.lifecycle.check(&message, &self.tracker, &mut self.findings);
        self.method.check(&message, &self.pairs, &mut self.findings);
        schema::check(&message, &mut self.findings);
        capability::check(&message, &mut self.findings);
        note_peers(&message, &mut self.summary);
        if is_astray(&message.observed) {
            return;
        }
        let observed = &message.observed;
        let reported = method.and_then(proposals::of_method).and_then(|proposal| proposal.conversation_event(observed));
        let moment = reported.and_then(|moment| self.turns.reported(moment));
        if let Some(moment) = moment {
            reach(&mut self.observers, &mut self.overlap, moment, header, &mut self.findings);
        }
        for observer in &mut self.observers {
            observer.observe(observed, &mut self.findings);
        }
        self.overlap.observe(observed, &mut self.findings);
        for overview in overviews {
            overview.observe(header.stream, observed, &mut self.findings);
        }
    }

    /// Begins a new session: over HTTP, an `initialize` that names no session has ids of its own, whatever came before
    /// on the same TCP connection.
    fn begin_session(&mut self, stream: u32, overviews: &mut Overviews) {
        if self.tracker.era != Some(Era::Legacy) {
            return self.pairs.forget_answered();
        }
        self.pairs.finish(self.last_time, &mut self.findings);
        for observer in &mut self.observers {
            observer.finish(&self.tracker.declared, &mut self.findings);
        }
        overviews.iter_mut().for_each(|overview| overview.leave(stream, self.last_time));
        *self = Self {
            findings: std::mem::take(&mut self.findings),
            summary: std::mem::take(&mut self.summary),
            head: self.head,
            last_time: self.last_time,
            behind_listener: self.behind_listener,
            ..Self::new()
        };
    }

    /// Processes a note of the reel, which may mark a turn.
    pub(super) fn take_note(&mut self, event: &Event<'_>) {
        self.last_time = self.last_time.max(event.header.time);
        if let Some(moment) = self.turns.marked(event.payload) {
            reach(&mut self.observers, &mut self.overlap, moment, event.header, &mut self.findings);
        }
    }

    pub(super) fn finish(&mut self, stream: u32, overviews: &mut Overviews) {
        self.pairs.finish(self.last_time, &mut self.findings);
        for observer in &mut self.observers {
            observer.finish(&self.tracker.declared, &mut self.findings);
        }
        for overview in overviews {
            overview.finish(stream, &mut self.findings);
        }
    }

    /// Returns the summary of the finished connection.
    pub(super) fn into_summary(self, stream: u32) -> ConnectionSummary {
        let (exercised, not_observed) = all_rules().map(|rule| rule.id).partition(|id| self.findings.was_exercised(id));
        ConnectionSummary {
            stream,
            era: self.tracker.era,
            revision: self.tracker.version_text,
            exercised,
            not_observed,
            ..self.summary
        }
    }
}

/// Returns whether the wrong side sent this message, or the request that it answers. That is a finding of its own; the
/// proposals' rules for the other side do not apply to the message.
fn is_astray(observed: &Observed<'_>) -> bool {
    let (method, direction) = match observed.request {
        Some(asked) => (Some(asked.method.as_str()), asked.direction),
        None if observed.envelope.kind.is_response() => return false,
        None => (observed.method, observed.direction),
    };
    method.and_then(proposals::method_spec).is_some_and(|spec| !spec.sender.allows(direction))
}

fn reach(
    observers: &mut [Box<dyn Observer>],
    overlap: &mut Overlap,
    moment: ConversationEvent,
    header: &EventHeader,
    findings: &mut Findings,
) {
    overlap.reach(moment);
    for observer in observers {
        observer.reach(moment, header.seq, header.time, findings);
    }
}

fn note_peers(message: &Message<'_>, summary: &mut ConnectionSummary) {
    let observed = &message.observed;
    let content = observed.content;
    let (client, server) = match (observed.method, observed.envelope.kind) {
        (Some("initialize"), MessageKind::Request) => (Some(&content["clientInfo"]), None),
        (Some("initialize"), MessageKind::Result) => (None, Some(&content["serverInfo"])),
        (_, MessageKind::Request) => (content["_meta"].get(meta::CLIENT_INFO), None),
        (_, MessageKind::Result) => (None, content["_meta"].get(meta::SERVER_INFO)),
        _ => (None, None),
    };
    summary.client = summary.client.take().or_else(|| client.and_then(peer));
    summary.server = summary.server.take().or_else(|| server.and_then(peer));
    capability::note_declared(message, &mut summary.declared);
}

fn peer(info: &Value) -> Option<Peer> {
    let name = info["name"].as_str()?.to_owned();
    Some(Peer { name, version: info["version"].as_str().unwrap_or_default().to_owned() })
}

/// Finds the turns of a conversation, from the messages of the proposals or from marks in the reel.
///
/// A mark is a note event whose map has the member `mark`. A host that marks its turns knows them best, so from its
/// first `turn` on, messages no longer count. Without marks, a user message begins a turn. So does each inference that
/// a message reveals, except the first after a user message, which belongs to the same turn.
#[derive(Debug, Default)]
struct Turns {
    marked: bool,
    begun_by_message: bool,
}

impl Turns {
    /// Returns what observers should see for an event of the conversation that a message reveals.
    fn reported(&mut self, moment: ConversationEvent) -> Option<ConversationEvent> {
        match moment {
            ConversationEvent::UserMessage => {
                self.begun_by_message = true;
                (!self.marked).then_some(ConversationEvent::Turn)
            }
            ConversationEvent::Inference => {
                let same = std::mem::take(&mut self.begun_by_message);
                (!self.marked && !same).then_some(ConversationEvent::Turn)
            }
            other => Some(other),
        }
    }

    /// Returns the event of the conversation that a note marks, if it is a mark.
    fn marked(&mut self, note: &[u8]) -> Option<ConversationEvent> {
        let note: Value = ciborium::from_reader(note).ok()?;
        let moment = match note["mark"].as_str()? {
            "turn" => ConversationEvent::Turn,
            "inferred" => ConversationEvent::Inferred,
            "compacted" => ConversationEvent::Compacted,
            "revoked" => ConversationEvent::Revoked,
            "granted" => ConversationEvent::Granted,
            _ => return None,
        };
        self.marked |= moment == ConversationEvent::Turn;
        Some(moment)
    }
}
