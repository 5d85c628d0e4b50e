//! The checks of one connection: passes each message to all rule groups, to the subjects of MCP and to each proposal's
//! observer.

use super::classify::{Classified, HttpPart, Text};
use super::foreign_schema::Library;
use super::http::{Http, SharedHttp};
use super::observers::Observers;
use super::pairing::Pairs;
use super::parse::Space;
use super::report::{ConnectionSummary, Peer};
use super::subject::{Message, SUBJECTS, Subject};
use super::verdicts::{Scope, Verdicts};
use super::{capability, envelope, http, lifecycle, method, rules, schema, sender, stream};
use crate::proposals::{Finding, Findings, Observed, Overview, Registry};
use crate::protocol::revision::meta;
use crate::protocol::{Era, Revision};
use crate::session::Tracker;
use crate::trace::{Event, EventHeader};
use crate::wire::{Direction, Envelope, MessageKind, json, tree};
use serde_json::Value;

/// The proposals' overviews, which see the messages of all connections.
pub(super) type Overviews = Vec<Box<dyn Overview>>;

/// What the connections of a reel share.
pub(super) struct Shared {
    pub overviews: Overviews,
    pub http: SharedHttp,
    pub schemas: Library,
}

impl Shared {
    /// Notes that a stream ended, or that its traffic is missing.
    pub(super) fn leave(&mut self, stream: u32, now: i64) {
        self.overviews.iter_mut().for_each(|overview| overview.leave(stream, now));
    }
}

/// The state of one connection.
pub(super) struct Connection {
    pub findings: Findings,
    registry: &'static Registry,
    tracker: Tracker,
    observers: Observers,
    subjects: Vec<Box<dyn Subject>>,
    http: Http,
    pairs: Pairs,
    lifecycle: lifecycle::Lifecycle,
    method: method::Methods,
    summary: ConnectionSummary,
    last_time: i64,
    lost: bool,
    /// The reel is a part of another one, so any message may be missing.
    is_part: bool,
    /// The number of requests that were forgotten because too many were pending.
    forgotten: usize,
    /// Clients reach the server through a listener. In the modern era, several clients share this connection.
    behind_listener: bool,
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

impl Connection {
    pub(super) fn new(registry: &'static Registry) -> Self {
        Self {
            findings: Findings::default(),
            registry,
            tracker: Tracker::knowing(registry),
            observers: Observers::new(registry),
            subjects: SUBJECTS.iter().map(|entry| (entry.begin)()).collect(),
            http: Http::default(),
            pairs: Pairs::default(),
            lifecycle: lifecycle::Lifecycle::default(),
            method: method::Methods::default(),
            summary: ConnectionSummary::default(),
            last_time: 0,
            lost: false,
            is_part: false,
            forgotten: 0,
            behind_listener: false,
        }
    }

    /// Notes that clients reach the server of this connection through a listener.
    pub(super) fn stand_behind_listener(&mut self) {
        self.behind_listener = true;
    }

    /// Notes that the reel is a part of another one, so that messages may be missing everywhere.
    pub(super) fn be_part(&mut self) {
        self.is_part = true;
        self.lose_track();
    }

    /// Notes that some traffic is not in the reel. Checks that need all of it are skipped from here on.
    pub(super) fn lose_track(&mut self) {
        self.lose_contents();
        self.pairs.lose_track();
        self.http.lose_track();
    }

    /// Notes that the content of a message is unknown.
    fn lose_contents(&mut self) {
        self.lost = true;
        self.tracker.lose_track();
        self.lifecycle.lose_track();
        self.observers.lose_track();
    }

    /// Processes an event that belongs to this connection. Passes on what is found.
    pub(super) fn take(
        &mut self,
        event: &Event<'_>,
        classified: Classified<'_>,
        shared: &mut Shared,
        add: &mut impl FnMut(Finding),
    ) {
        self.classified(event, classified, shared, add);
        self.findings.drain().for_each(add);
    }

    fn classified(
        &mut self,
        event: &Event<'_>,
        classified: Classified<'_>,
        shared: &mut Shared,
        add: &mut impl FnMut(Finding),
    ) {
        self.last_time = self.last_time.max(event.header.time);
        if self.is_part {
            // Anything may have been left out right before.
            self.lose_track();
        }
        let seq = event.header.seq;
        match classified {
            Classified::Text(text) => self.take_text(event, &text, shared),
            Classified::Batch(texts) => self.take_batch(event, texts, shared, add),
            Classified::Part => {
                self.findings.note(&rules::NOT_CHECKED, seq, "the reel contains only a part of this message");
                // What it asked or answered is unknown.
                self.lose_track();
            }
            Classified::Gap => {
                self.findings.note(&rules::NOT_CHECKED, seq, "a part of the traffic is missing from the reel");
                self.lose_track();
            }
            Classified::Note => {
                let header = event.header;
                let Some(moment) = self.observers.note(header, event.payload, &mut self.findings) else { return };
                for overview in &mut shared.overviews {
                    overview.reach(header.stream, moment, header.time, &mut self.findings);
                }
            }
            Classified::Http(part) => {
                self.tracker.event(event);
                self.take_http(event.header, part, &mut shared.http);
            }
            Classified::Closed(end) => lifecycle::check_end(seq, end, &mut self.pairs, &mut self.findings),
            Classified::Opened { .. } | Classified::Continues | Classified::Other => {}
        }
    }

    /// Notes that a gap lies before the connection's first message.
    pub(super) fn note_gap(&mut self, seq: u64) {
        self.findings.note(&rules::NOT_CHECKED, seq, "a part of the traffic is missing from the reel");
        self.lose_track();
    }

    /// Processes a part of an HTTP exchange that is not a message.
    pub(super) fn take_http(&mut self, header: &EventHeader, part: HttpPart, shared: &mut SharedHttp) {
        let failed = matches!(&part, HttpPart::Failed)
            || matches!(&part, HttpPart::Response(head) if head.status >= http::head::FIRST_FAILURE);
        self.http.part(header, part, shared, &mut self.findings);
        if failed {
            // The request of the exchange gets a response in it or never.
            self.pairs.fail(header.exchange);
            self.observers.exchange_failed(header.exchange);
        }
    }

    /// Checks how the message stands in its stream, and prepares for its exchange.
    fn begin_message(&mut self, event: &Event<'_>) {
        stream::check_framing(event, &mut self.findings);
        self.http.carry(event.header);
        self.pairs.carried_by(event.header.exchange);
        self.tracker.carried_by(event.header.exchange);
        if self.http.names_modern() {
            self.tracker.headed_modern();
        }
    }

    fn take_text(&mut self, event: &Event<'_>, text: &Text<'_>, shared: &mut Shared) {
        self.begin_message(event);
        if stream::is_message(event.header.seq, text, &mut self.findings) {
            self.take_message(event, text, shared);
        }
    }

    /// Checks the messages of a batch one after the other: there may be many, with something to report about each.
    fn take_batch(&mut self, event: &Event<'_>, batch: &[u8], shared: &mut Shared, add: &mut impl FnMut(Finding)) {
        self.begin_message(event);
        let seq = event.header.seq;
        let revision = self.tracker.revision;
        let legal = revision.is_none_or(|revision| revision == Revision::V2025_03_26);
        self.findings.check(&rules::BATCH, seq, legal, || {
            let revision = revision.map_or("(unknown)", Revision::as_str);
            format!("the {} sent a batch in revision {revision}", sender(event.header.direction()))
        });
        let mut texts = json::items(batch).peekable();
        self.findings.check(&rules::EMPTY_BATCH, seq, texts.peek().is_some(), || "the batch is empty".to_owned());
        if let Err(too_large) = tree::fits(batch) {
            self.findings.note(
                &rules::NOT_CHECKED,
                seq,
                format!("the messages of a batch were not checked: {too_large}"),
            );
            return self.lose_track();
        }
        let mut space = Space::default();
        // A batch may have a million items that are no messages. Together they are one thing to mend.
        let mut not_messages = 0u64;
        for text in texts {
            let text = &Text::of(text, &mut space);
            if !stream::can_be_checked(text) {
                not_messages += 1;
                if not_messages > 1 {
                    continue;
                }
            }
            self.findings.drain().for_each(&mut *add);
            self.findings.begin_item();
            let initializes = text.envelope.method.as_deref() == Some("initialize");
            self.findings
                .check(&rules::BATCHED_INITIALIZE, seq, !initializes, || "the batch contains initialize".to_owned());
            if stream::is_message(seq, text, &mut self.findings) {
                self.take_message(event, text, shared);
            }
        }
        if let more @ 1.. = not_messages.saturating_sub(1) {
            self.findings.begin_item();
            stream::note_more(seq, more, &mut self.findings);
        }
    }

    fn take_message(&mut self, event: &Event<'_>, text: &Text<'_>, shared: &mut Shared) {
        let (header, envelope) = (event.header, &text.envelope);
        let (seq, time, direction) = (header.seq, header.time, header.direction());
        self.summary.messages += 1;
        let Some(value) = envelope::check(seq, text, &mut self.findings) else {
            // The JSON is broken, but the structure is known: the message still counts for pairing. What it said is not.
            let step = self.tracker.take(seq, time, direction, envelope, &Value::Null);
            self.pairs.take(seq, time, direction, envelope, &Value::Null, &step, &mut self.findings);
            self.findings.name_method(seq, envelope.method.as_deref());
            return self.lose_contents();
        };
        let content = match envelope {
            Envelope { params: Some(_), .. } => &value["params"],
            Envelope { result: Some(_), .. } => &value["result"],
            _ => &value["error"],
        };
        let initializes = direction == Direction::ClientToServer && envelope.method.as_deref() == Some("initialize");
        if initializes && self.http.names_no_session() {
            self.begin_session(header.stream, shared);
        }
        let before = Before {
            ready: self.tracker.declared.ready,
            initialize_asked: self.tracker.initialize_asked,
            era: self.tracker.era,
            revision: self.tracker.revision,
            lost: self.lost,
        };
        let step = self.tracker.take(seq, time, direction, envelope, content);
        self.note_forgotten(seq);
        self.pairs.share(step.era == Era::Modern && (self.behind_listener || header.exchange != 0));
        self.pairs.take(seq, time, direction, envelope, content, &step, &mut self.findings);
        let method = match &step.request {
            Some(asked) => Some(asked.method.as_str()),
            None => envelope.method.as_deref(),
        };
        let request = step.request.as_ref();
        let declared = &self.tracker.declared;
        let observed = Observed {
            seq,
            time,
            direction,
            envelope,
            method,
            content,
            request,
            declared,
            whole: value,
            exchange: header.exchange,
        };
        let message =
            Message { observed, before, era: step.era, header, schemas: &shared.schemas, registry: self.registry };
        self.lifecycle.check(&message, &self.tracker, &mut self.findings);
        self.method.check(&message, &self.pairs, &mut self.findings);
        schema::check(&message, &mut self.findings);
        capability::check(&message, &mut self.findings);
        self.findings.name_method(seq, method);
        note_peers(&message, &mut self.summary);
        if header.exchange != 0 {
            self.http.message(&message, event, &mut shared.http, &mut self.findings);
        }
        if is_astray(&message) {
            return;
        }
        for subject in &mut self.subjects {
            subject.observe(&message, &mut self.findings);
        }
        self.observers.observe(&message, &mut self.findings);
        for overview in &mut shared.overviews {
            overview.observe(header.stream, &message.observed, &mut self.findings);
        }
        self.findings.name_method(seq, method);
    }

    /// Notes that requests were forgotten because too many are pending.
    fn note_forgotten(&mut self, seq: u64) {
        if self.tracker.forgotten() > self.forgotten {
            self.forgotten = self.tracker.forgotten();
            self.findings.note(
                &rules::NOT_CHECKED,
                seq,
                "too many requests are pending; none of them is checked for its response",
            );
            self.pairs.forget();
        }
    }

    /// Begins a new session: over HTTP, an `initialize` that names no session has ids of its own, whatever came before
    /// on the same TCP connection.
    fn begin_session(&mut self, stream: u32, shared: &mut Shared) {
        if self.tracker.era != Some(Era::Legacy) {
            return self.pairs.forget_answered();
        }
        self.finish_pairs();
        self.finish_subjects();
        self.observers.finish(&self.tracker.declared, self.last_time, &mut self.findings);
        shared.leave(stream, self.last_time);
        let is_part = self.is_part;
        *self = Self {
            findings: std::mem::take(&mut self.findings),
            summary: std::mem::take(&mut self.summary),
            http: self.http.next_session(),
            last_time: self.last_time,
            behind_listener: self.behind_listener,
            ..Self::new(self.registry)
        };
        if is_part {
            self.be_part();
        }
    }

    /// Reports the requests without a response, unless it may have been left out.
    fn finish_pairs(&mut self) {
        if !self.is_part {
            self.pairs.finish(self.last_time, self.registry, &mut self.findings);
        }
    }

    /// Reports what the subjects know only at the end of a session.
    fn finish_subjects(&mut self) {
        self.subjects.iter_mut().for_each(|subject| subject.finish(&mut self.findings));
    }

    pub(super) fn finish(&mut self, stream: u32, overviews: &mut Overviews) {
        self.finish_pairs();
        self.finish_subjects();
        self.lifecycle.finish(&self.tracker, &mut self.findings);
        self.observers.finish(&self.tracker.declared, self.last_time, &mut self.findings);
        for overview in overviews {
            overview.finish(stream, &mut self.findings);
        }
    }

    /// Returns the summary of the finished connection.
    pub(super) fn into_summary(mut self, stream: u32) -> ConnectionSummary {
        self.observers.name_dialects(&mut self.summary);
        let (era, revision) = (self.tracker.era, self.tracker.revision);
        let scope = Scope { era, revision, is_http: self.http.is_streamable() };
        let verdicts = Verdicts::new(self.findings.tallies(), scope, self.registry);
        ConnectionSummary { stream, era, revision: self.tracker.version_text, verdicts, ..self.summary }
    }
}

/// Returns whether the wrong side sent this message, or the request that it answers. That is a finding of its own; the
/// proposals' rules for the other side do not apply to the message.
fn is_astray(message: &Message<'_>) -> bool {
    let observed = &message.observed;
    let (method, direction) = match observed.request {
        Some(asked) => (Some(asked.method.as_str()), asked.direction),
        None => (observed.method, observed.direction),
    };
    method.and_then(|method| message.registry.method_spec(method)).is_some_and(|spec| !spec.sender.allows(direction))
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
