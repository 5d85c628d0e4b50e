//! The validator: checks every message of every connection against JSON-RPC, MCP and the proposals, in one streaming
//! pass that turns events into a [`Report`].
//!
//! The rules of MCP itself are in [`rules`]; each proposal has its own rules, which are reached through the registry.
//! Memory depends on the number of connections and on what observers deliberately remember, never on the length of a
//! session.
//!
//! It must never use tokio, print, read a clock or open a file.

mod capability;
mod classify;
mod connection;
mod envelope;
pub(crate) mod foreign_schema;
mod http;
mod lifecycle;
mod method;
mod observers;
mod overlap;
mod pairing;
mod parse;
pub(crate) mod report;
pub(crate) mod rules;
mod schema;
mod stream;
mod subject;
mod subjects;
pub(crate) mod verdicts;

pub(crate) use report::Finding;
pub use report::{Report, Reporter};

use crate::proposals::recent::Recent;
use crate::proposals::{self, Descriptor, Registry, Rule, RuleGroup};
use crate::protocol::revision::meta;
use crate::trace::{Event, EventHeader, EventKind, FileHeader};
use crate::wire::{Direction, Envelope, json};
use classify::{Classified, HttpPart, Text, classify};
use connection::{Connection, Shared};
use http::head::RequestHead;
use rangemap::RangeInclusiveSet;
use report::{ConnectionSummary, More};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Heads of HTTP requests that are remembered until their messages come.
const HEADS: usize = 1024;

/// The maximum number of connections that are checked at the same time.
pub(crate) const MAX_CONNECTIONS: usize = 1000;
/// The closed connections that are kept for messages that come late.
const MAX_CLOSED: usize = 64;
/// The maximum number of connections whose summary are kept.
const MAX_LISTED_CONNECTIONS: usize = 1000;
/// The maximum number of streams of which something is remembered before their first message.
const MAX_ANNOUNCED: usize = 64 << 10;

/// All rules, in the order of their files.
pub(crate) fn all_rules(registry: &'static Registry) -> impl Iterator<Item = &'static Rule> {
    mcp_rules().chain(registry.iter().flat_map(|proposal| proposal.rules()))
}

/// The rules of JSON-RPC, of MCP and of its subjects.
fn mcp_rules() -> impl Iterator<Item = &'static Rule> {
    rules::RULES.iter().chain(http::rules()).chain(subject::SUBJECTS.iter().flat_map(|entry| entry.rules))
}

/// All rules by document: those of MCP by subject, then those of all proposals, then each proposal's in the order of the
/// registry.
pub(crate) fn rule_groups(registry: &'static Registry) -> Vec<RuleGroup> {
    let core = rules::HEADINGS.iter().map(|heading| RuleGroup {
        document: heading.title.to_owned(),
        glossary: heading.glossary,
        rules: mcp_rules().filter(|rule| heading.is_over(rule)).collect(),
    });
    let proposals = registry.iter().map(|proposal| {
        let Descriptor { source, title, glossary, .. } = proposal.descriptor();
        RuleGroup { document: format!("{source}: {title}"), glossary, rules: proposal.rules().iter().collect() }
    });
    core.chain(proposals).collect()
}

/// Checks a reel event by event. It passes on what it finds at once: one message may break rules a million times.
pub(crate) struct Validator {
    registry: &'static Registry,
    connections: BTreeMap<u32, Box<Connection>>,
    /// Traffic of an unknown connection was lost, possibly of one that has not been seen yet.
    lost: bool,
    /// Streams that lost traffic before their first message, with the event of the gap.
    lost_streams: BTreeMap<u32, u64>,
    /// Connections to servers behind a listener, which several clients may share.
    behind_listener: BTreeSet<u32>,
    /// Streams that carry part of a session opened on another stream.
    joined: BTreeSet<u32>,
    /// The heads of HTTP requests on streams without a message so far, by exchange number.
    heads: Recent<u32, Box<RequestHead>>,
    shared: Shared,
    /// The reel is a part of another one.
    is_cut: bool,
    /// Closed connections that are still in memory, in the order in which they were closed.
    closed: VecDeque<u32>,
    /// The streams of connections that were finished before the end.
    retired: RangeInclusiveSet<u32>,
    /// There was no space for some connections.
    is_full: bool,
    /// The time of the latest event.
    now: i64,
    space: parse::Space,
    facts: Facts,
}

/// Facts about the connections that were checked.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// The first ones of them, by stream number.
    pub connections: Vec<ConnectionSummary>,
    /// The others.
    pub more: More,
}

impl Validator {
    /// Creates a validator that has seen nothing yet.
    pub(crate) fn new(registry: &'static Registry) -> Self {
        Self {
            registry,
            connections: BTreeMap::new(),
            lost: false,
            lost_streams: BTreeMap::new(),
            behind_listener: BTreeSet::new(),
            joined: BTreeSet::new(),
            heads: Recent::new(HEADS),
            shared: Shared {
                overviews: registry.iter().filter_map(|proposal| proposal.overview()).collect(),
                http: http::SharedHttp::default(),
                schemas: foreign_schema::Library::default(),
            },
            is_cut: false,
            closed: VecDeque::new(),
            retired: RangeInclusiveSet::new(),
            is_full: false,
            now: 0,
            space: parse::Space::default(),
            facts: Facts::default(),
        }
    }

    /// Notes that a part of the reel cannot be read, so anything may be missing from any connection. Checks that need
    /// the complete traffic are skipped from here on.
    pub(crate) fn lose_track(&mut self) {
        self.lost = true;
        self.shared.http.lose_track();
        for (stream, connection) in &mut self.connections {
            connection.lose_track();
            self.shared.leave(*stream, self.now);
        }
    }

    /// Takes the header of the reel. If the reel is a part of another one, anything may be missing from any session, also
    /// after its handshake.
    pub(crate) fn begin(&mut self, header: &FileHeader) {
        if header.is_cut() {
            self.is_cut = true;
            self.lose_track();
        }
    }

    /// Processes the next event of the reel, and passes what it finds to `emit`. Each stream number is one connection.
    pub(crate) fn observe(&mut self, event: &Event<'_>, emit: &mut dyn FnMut(Finding)) {
        let stream = event.header.stream;
        self.now = self.now.max(event.header.time);
        if matches!(event.header.kind, EventKind::Gap | EventKind::StreamClosed) {
            self.shared.leave(stream, self.now);
        }
        let classified = classify(event, &mut self.space);
        match classified {
            Classified::Other => return,
            // The earlier traffic is in another reel.
            Classified::Continues => return self.lose_track(),
            Classified::Opened { behind_listener, joined } => return self.note_opened(stream, behind_listener, joined),
            Classified::Text(_) | Classified::Batch(_) | Classified::Part => {
                if !self.has_space_for(stream, event.header.seq, emit) {
                    return;
                }
                self.connect(event.header, &classified);
            }
            _ => {}
        }
        // A gap of no stream may be one of any.
        if event.header.kind == EventKind::Gap && stream == 0 && !self.connections.contains_key(&0) {
            self.note_loss(event.header.seq, emit);
        }
        let Some(connection) = self.connections.get_mut(&stream) else {
            return self.note_unconnected(event.header, classified);
        };
        let is_closed = event.header.kind == EventKind::StreamClosed;
        let direction = Some(event.header.direction());
        connection.take(event, classified, &mut self.shared, &mut |finding| {
            emit(Finding::of(stream, direction, finding));
        });
        if is_closed {
            self.closed.push_back(stream);
            if self.closed.len() > MAX_CLOSED {
                self.retire(emit);
            }
        }
    }

    /// Notes on every connection that something is missing.
    fn note_loss(&mut self, seq: u64, emit: &mut dyn FnMut(Finding)) {
        if self.connections.is_empty() {
            return;
        }
        self.lose_track();
        for (stream, connection) in &mut self.connections {
            connection.note_gap(seq);
            connection.findings.drain().for_each(|finding| emit(Finding::of(*stream, None, finding)));
        }
    }

    /// Remembers how a stream began.
    fn note_opened(&mut self, stream: u32, behind_listener: bool, joined: bool) {
        if behind_listener && self.behind_listener.len() < MAX_ANNOUNCED {
            self.behind_listener.insert(stream);
        }
        if joined && self.joined.len() < MAX_ANNOUNCED {
            self.joined.insert(stream);
        }
    }

    /// Remembers what happens on a stream before its first message.
    fn note_unconnected(&mut self, header: &EventHeader, classified: Classified<'_>) {
        match classified {
            Classified::Gap if self.lost_streams.len() < MAX_ANNOUNCED => {
                self.lost_streams.insert(header.stream, header.seq);
            }
            Classified::Http(HttpPart::Request(head)) => {
                self.heads.insert(header.exchange, head);
            }
            Classified::Http(HttpPart::Event { is_endpoint: true, .. }) => {
                self.shared.http.note_old_transport(header.stream);
            }
            _ => {}
        }
    }

    /// Makes sure that the stream of this message has a connection.
    fn connect(&mut self, header: &EventHeader, message: &Classified<'_>) {
        if self.connections.contains_key(&header.stream) {
            return;
        }
        let mut connection = Connection::new(self.registry);
        // Over HTTP, a message that names no session may belong to one that began on another stream. A message on a
        // retired connection belongs to that connection.
        let is_retired = self.retired.contains(&header.stream) || self.retired.len() >= MAX_ANNOUNCED;
        let may_be_part = header.exchange != 0 || is_retired;
        let is_part = may_be_part && !begins_session(message);
        let gap = self.lost_streams.remove(&header.stream);
        gap.into_iter().for_each(|seq| connection.note_gap(seq));
        if self.lost || is_part || self.joined.remove(&header.stream) {
            connection.lose_track();
        }
        if self.is_cut {
            connection.be_part();
        }
        if self.behind_listener.remove(&header.stream) {
            connection.stand_behind_listener();
        }
        if let Some(head) = self.heads.remove(&header.exchange) {
            connection.take_http(header, HttpPart::Request(head), &mut self.shared.http);
        }
        self.connections.insert(header.stream, Box::new(connection));
    }

    /// Returns whether this stream's connection is checked, or can be. If there are too many, a closed one is finished.
    fn has_space_for(&mut self, stream: u32, seq: u64, emit: &mut dyn FnMut(Finding)) -> bool {
        if self.connections.len() < MAX_CONNECTIONS || self.connections.contains_key(&stream) {
            return true;
        }
        if self.retire(emit) {
            return true;
        }
        if !std::mem::replace(&mut self.is_full, true) {
            let seen = format!(
                "mcpreel checks at most {MAX_CONNECTIONS} open streams at a time; it skips this one, and maybe others"
            );
            let finding = proposals::Finding::at(&rules::NOT_CHECKED, seq, seen);
            emit(Finding::of(stream, None, finding));
        }
        false
    }

    /// Finishes the connection that was closed first, if there is one.
    fn retire(&mut self, emit: &mut dyn FnMut(Finding)) -> bool {
        while let Some(stream) = self.closed.pop_front() {
            // It may have been closed twice.
            let Some(connection) = self.connections.remove(&stream) else { continue };
            self.judge(stream, connection, emit);
            if self.retired.len() < MAX_ANNOUNCED {
                self.retired.insert(stream..=stream);
            }
            return true;
        }
        false
    }

    /// Finishes a connection: passes on what else it finds, and keeps its summary.
    fn judge(&mut self, stream: u32, mut connection: Box<Connection>, emit: &mut dyn FnMut(Finding)) {
        connection.finish(stream, &mut self.shared.overviews);
        connection.findings.drain().for_each(|finding| emit(Finding::of(stream, None, finding)));
        let summary = connection.into_summary(stream);
        if self.facts.connections.len() < MAX_LISTED_CONNECTIONS {
            self.facts.connections.push(summary);
        } else {
            self.facts.more.add(&summary);
        }
    }

    /// Finishes all connections at the end of the reel.
    pub(crate) fn finish(mut self, emit: &mut dyn FnMut(Finding)) -> Facts {
        for (stream, connection) in std::mem::take(&mut self.connections) {
            self.judge(stream, connection, emit);
        }
        self.facts.connections.sort_by_key(|connection| connection.stream);
        self.facts
    }
}

/// Returns `client` or `server`: the side that sends messages in this direction.
fn sender(direction: Direction) -> &'static str {
    match direction {
        Direction::ClientToServer => "client",
        Direction::ServerToClient => "server",
    }
}

/// Returns whether a session can begin with this message: `initialize`, or any request of the modern era.
fn begins_session(message: &Classified<'_>) -> bool {
    let Classified::Text(Text { envelope, .. }) = message else { return false };
    envelope.method.as_deref() == Some("initialize") || names_version(envelope)
}

fn names_version(envelope: &Envelope<'_>) -> bool {
    envelope.params.is_some_and(|params| json::at_path(params, &["_meta", meta::PROTOCOL_VERSION]).is_some())
}

#[cfg(test)]
mod tests;
