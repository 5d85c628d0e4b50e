//! The validator: checks every message of every connection against JSON-RPC, MCP and the proposals, in one streaming
//! pass that turns events into a [`Report`].
//!
//! The rules of MCP itself are in [`rules`]; each proposal has its own rules, which are reached through the registry.
//! Memory depends on the number of connections and on what observers deliberately remember, never on the length of a
//! session.
//!
//! It must never use tokio, print, read a clock or open a file.

mod capability;
mod connection;
mod envelope;
mod lifecycle;
mod method;
mod overlap;
mod pairing;
mod parse;
pub(crate) mod report;
pub(crate) mod rules;
mod schema;
mod stream;

pub(crate) use report::Finding;
pub use report::Report;

use crate::proposals::recent::Recent;
use crate::proposals::{Descriptor, REGISTRY, Rule, RuleGroup};
use crate::protocol::revision::meta;
use crate::protocol::{Era, http};
use crate::trace::{Event, EventKind, Flags};
use crate::wire::{Direction, Envelope, json};
use connection::{Connection, Head, Overviews};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Heads of HTTP requests that are remembered until their messages come.
const HEADS: usize = 1024;

/// Options of a validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Findings that are kept for each rule; further ones are only counted.
    pub max_per_rule: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { max_per_rule: 1000 }
    }
}

/// The maximum number of connections that are checked at the same time; closed ones make space for new ones.
pub(crate) const MAX_CONNECTIONS: usize = 1000;
/// The maximum number of connections whose summary are kept.
const MAX_LISTED_CONNECTIONS: usize = 1000;
/// The maximum number of streams of which something is remembered before their first message.
const MAX_ANNOUNCED: usize = 64 << 10;

/// All rules, in the order of [`rule_groups`].
pub(crate) fn all_rules() -> impl Iterator<Item = &'static Rule> {
    rules::RULES.iter().chain(REGISTRY.iter().flat_map(|proposal| proposal.rules()))
}

/// All rules by document: those of MCP first, then each proposal's in the order of the registry.
pub(crate) fn rule_groups() -> Vec<RuleGroup> {
    let core = RuleGroup { document: "MCP, JSON-RPC 2.0, and proposals in general".to_owned(), rules: rules::RULES };
    let proposals = REGISTRY.iter().map(|proposal| {
        let Descriptor { source, title, .. } = proposal.descriptor();
        RuleGroup { document: format!("{source}: {title}"), rules: proposal.rules() }
    });
    std::iter::once(core).chain(proposals).collect()
}

/// Checks a reel event by event.
pub struct Validator {
    options: Options,
    connections: BTreeMap<u32, Connection>,
    /// Traffic of an unknown connection was lost, possibly of one that has not been seen yet.
    lost: bool,
    /// Streams that lost traffic before their first message, with the event of the gap.
    lost_streams: BTreeMap<u32, u64>,
    /// Connections to servers behind a listener, which several clients may share.
    behind_listener: BTreeSet<u32>,
    /// Streams that carry part of a session opened on another stream.
    joined: BTreeSet<u32>,
    /// The heads of the latest HTTP requests, by exchange number.
    heads: Recent<u32, Head>,
    overviews: Overviews,
    /// Closed connections that are still in memory, in the order in which they were closed.
    closed: VecDeque<u32>,
    /// Some connections were finished early to make space for others.
    has_retired: bool,
    /// There was no space for some connections.
    is_full: bool,
    /// The time of the latest event.
    now: i64,
    report: Report,
    kept: BTreeMap<&'static str, usize>,
}

impl Validator {
    /// Creates a validator that has seen nothing yet.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            connections: BTreeMap::new(),
            lost: false,
            lost_streams: BTreeMap::new(),
            behind_listener: BTreeSet::new(),
            joined: BTreeSet::new(),
            heads: Recent::new(HEADS),
            overviews: REGISTRY.iter().filter_map(|proposal| proposal.overview()).collect(),
            closed: VecDeque::new(),
            has_retired: false,
            is_full: false,
            now: 0,
            report: Report::default(),
            kept: BTreeMap::new(),
        }
    }

    /// Notes that a part of the reel cannot be read, so anything may be missing from any connection. Checks that need
    /// the complete traffic are skipped from here on.
    pub fn lose_track(&mut self) {
        self.lost = true;
        for (stream, connection) in &mut self.connections {
            connection.lose_track();
            self.overviews.iter_mut().for_each(|overview| overview.leave(*stream, self.now));
        }
    }

    /// Processes the next event of the reel. Each stream number is one connection.
    pub fn observe(&mut self, event: &Event<'_>) {
        let stream = event.header.stream;
        self.now = self.now.max(event.header.time);
        if matches!(event.header.kind, EventKind::Gap | EventKind::StreamClosed) {
            self.overviews.iter_mut().for_each(|overview| overview.leave(stream, self.now));
        }
        if event.header.kind == EventKind::Message && !self.has_space_for(stream, event.header.seq) {
            return;
        }
        let has_retired = self.has_retired;
        let connection = match event.header.kind {
            EventKind::Message => self.connections.entry(stream).or_insert_with(|| {
                let mut connection = Connection::new();
                // Over HTTP, a message that names no session may belong to one that began on another stream. A message
                // on a retired connection belongs to that connection.
                let may_be_part = event.header.exchange != 0 || has_retired;
                let is_part = may_be_part && !begins_session(event.body());
                let gap = self.lost_streams.remove(&stream);
                gap.into_iter().for_each(|seq| connection.note_gap(seq));
                if self.lost || is_part || self.joined.remove(&stream) {
                    connection.lose_track();
                }
                if self.behind_listener.remove(&stream) {
                    connection.stand_behind_listener();
                }
                connection
            }),
            EventKind::StreamOpened => {
                let described: Value = ciborium::from_reader(event.payload).unwrap_or_default();
                if described["behind"] == "http" && self.behind_listener.len() < MAX_ANNOUNCED {
                    self.behind_listener.insert(stream);
                }
                if described["transport"] == "session" && self.joined.len() < MAX_ANNOUNCED {
                    self.joined.insert(stream);
                }
                return;
            }
            EventKind::Transport if event.header.flags.has(Flags::FAILED) => {
                if let Some(connection) = self.connections.get_mut(&stream) {
                    connection.fail(event.header.exchange);
                }
                return;
            }
            EventKind::Transport
                if event.header.direction() == Direction::ClientToServer && event.header.exchange != 0 =>
            {
                if let Some(head) = read_head(event.payload) {
                    self.heads.insert(event.header.exchange, head);
                }
                return;
            }
            // The earlier traffic is in another reel.
            EventKind::Note if continues_another(event.payload) => return self.lose_track(),
            EventKind::StreamClosed | EventKind::Gap | EventKind::Note => match self.connections.get_mut(&stream) {
                Some(connection) => connection,
                None if event.header.kind == EventKind::Gap => {
                    if self.lost_streams.len() < MAX_ANNOUNCED {
                        self.lost_streams.insert(stream, event.header.seq);
                    }
                    return;
                }
                None => return,
            },
            _ => return,
        };
        match event.header.kind {
            EventKind::Gap => connection.note_gap(event.header.seq),
            EventKind::StreamClosed => {
                connection.close(event.header.time);
                if self.closed.len() < 2 * MAX_CONNECTIONS {
                    self.closed.push_back(stream);
                }
            }
            EventKind::Note => connection.take_note(event),
            _ => {
                let head = match event.header.direction() {
                    Direction::ClientToServer => self.heads.get(&event.header.exchange).copied(),
                    Direction::ServerToClient => None,
                };
                connection.take_event(event, head, &mut self.overviews);
            }
        }
        let direction = Some(event.header.direction());
        for finding in connection.findings.drain() {
            let finding = Finding { stream, rule: finding.rule, seq: finding.seq, direction, seen: finding.seen };
            self.report.add(finding, &mut self.kept, self.options.max_per_rule);
        }
    }

    /// Returns whether this stream's connection is checked, or can be. If there are too many, a closed one is finished.
    fn has_space_for(&mut self, stream: u32, seq: u64) -> bool {
        if self.connections.len() < MAX_CONNECTIONS || self.connections.contains_key(&stream) {
            return true;
        }
        while let Some(closed) = self.closed.pop_front() {
            if let Some(connection) = self.connections.remove(&closed) {
                self.judge(closed, connection);
                self.has_retired = true;
                return true;
            }
        }
        if !std::mem::replace(&mut self.is_full, true) {
            let seen = format!(
                "mcpreel checks at most {MAX_CONNECTIONS} open streams at a time; it skips this one, and maybe others"
            );
            let finding = Finding { stream, rule: &rules::NOT_CHECKED, seq: Some(seq), direction: None, seen };
            self.report.add(finding, &mut self.kept, self.options.max_per_rule);
        }
        false
    }

    /// Finishes a connection and adds its findings and summary to the report.
    fn judge(&mut self, stream: u32, mut connection: Connection) {
        connection.finish(stream, &mut self.overviews);
        for finding in connection.findings.drain() {
            let finding = Finding { stream, rule: finding.rule, seq: finding.seq, direction: None, seen: finding.seen };
            self.report.add(finding, &mut self.kept, self.options.max_per_rule);
        }
        let summary = connection.into_summary(stream);
        if self.report.connections.len() < MAX_LISTED_CONNECTIONS {
            self.report.connections.push(summary);
        } else {
            self.report.more.add(&summary);
        }
    }

    /// Finishes all connections at the end of the reel.
    pub fn finish(mut self) -> Report {
        for (stream, connection) in std::mem::take(&mut self.connections) {
            self.judge(stream, connection);
        }
        self.report.connections.sort_by_key(|connection| connection.stream);
        self.report
    }
}

/// Returns `client` or `server`: the side that sends messages in this direction.
fn sender(direction: Direction) -> &'static str {
    match direction {
        Direction::ClientToServer => "client",
        Direction::ServerToClient => "server",
    }
}

/// Reads the head of an HTTP request from a transport event.
fn read_head(payload: &[u8]) -> Option<Head> {
    #[derive(serde::Deserialize)]
    struct RequestHead {
        what: String,
        #[serde(default)]
        headers: Vec<(String, String)>,
    }
    let reported: RequestHead =
        ciborium::from_reader(payload).ok().filter(|reported: &RequestHead| reported.what == "request")?;
    let value = |name: &str| reported.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name));
    let is_modern = |version: &str| Era::of_version(version) == Era::Modern;
    Some(Head {
        names_session: value(http::SESSION_ID).is_some(),
        names_modern: value(http::PROTOCOL_VERSION).is_some_and(|(_, version)| is_modern(version)),
    })
}

/// Returns whether a note says that the reel continues another one.
fn continues_another(note: &[u8]) -> bool {
    ciborium::from_reader::<Value, _>(note).is_ok_and(|note| note["continues"].is_string())
}

/// Returns whether a session can begin with this message: `initialize`, or any request of the modern era.
fn begins_session(message: &[u8]) -> bool {
    let envelope = Envelope::scan(message);
    envelope.method.as_deref() == Some("initialize")
        || envelope.params.is_some_and(|params| json::at_path(params, &["_meta", meta::PROTOCOL_VERSION]).is_some())
}

#[cfg(test)]
mod tests;
