//! The first-level validator: every message of every connection against JSON-RPC, MCP and the proposals, as one
//! streaming pass from events to a [`Report`].
//!
//! The rules of MCP itself are in [`rules`]; a proposal's rules are in its room and are asked through the registry.
//! Memory is bounded by open requests and by what observers remember on purpose, never by a session's length.
//!
//! Never: tokio, printing, clocks, files.

mod capability;
mod connection;
mod envelope;
mod lifecycle;
mod method;
mod overlap;
mod pairing;
mod parse;
pub mod report;
pub mod rules;
mod schema;
mod stream;
mod turns;

pub use report::{ConnectionFacts, Declaration, Finding, Peer, Report};

use crate::extension::recent::Recent;
use crate::extension::{REGISTRY, Rule};
use crate::protocol::revision::meta;
use crate::protocol::{Era, http};
use crate::trace::{Event, EventKind, Flags};
use crate::wire::{Direction, Envelope, json};
use connection::{Connection, Head, Overviews};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// So many heads of HTTP requests are remembered until their messages come.
const HEADS: usize = 1024;

/// How to validate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many findings of one rule are kept; the rest are counted.
    pub most_per_rule: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { most_per_rule: 1000 }
    }
}

/// Every rule there is: MCP's own, then each room's in the registry's order.
pub fn all_rules() -> impl Iterator<Item = &'static Rule> {
    rules::RULES.iter().chain(REGISTRY.iter().flat_map(|room| room.rules()))
}

/// Checks a reel event by event.
pub struct Validator {
    options: Options,
    connections: BTreeMap<u32, Connection>,
    /// Traffic was lost that may have belonged to any connection, so to one not seen yet too.
    lost: bool,
    /// Connections that traffic was lost of before any was seen.
    lost_streams: BTreeMap<u32, u64>,
    /// Connections to servers that clients reach through a listener.
    behind_listener: BTreeSet<u32>,
    /// Streams in the connection of others, who opened it elsewhere.
    joined: BTreeSet<u32>,
    /// The heads of the latest HTTP requests, by exchange.
    heads: Recent<u32, Head>,
    overviews: Overviews,
    /// The time of the latest event.
    now: i64,
    report: Report,
    kept: BTreeMap<&'static str, usize>,
}

impl Validator {
    /// A validator that has seen nothing yet.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            connections: BTreeMap::new(),
            lost: false,
            lost_streams: BTreeMap::new(),
            behind_listener: BTreeSet::new(),
            joined: BTreeSet::new(),
            heads: Recent::new(HEADS),
            overviews: REGISTRY.iter().filter_map(|room| room.overview()).collect(),
            now: 0,
            report: Report::default(),
            kept: BTreeMap::new(),
        }
    }

    /// Some of the reel cannot be read: of no connection is it known what was said there. What depends on having
    /// seen everything is no longer judged.
    pub fn lose_track(&mut self) {
        self.lost = true;
        for (stream, connection) in &mut self.connections {
            connection.lose_track();
            self.overviews.iter_mut().for_each(|overview| overview.leave(*stream, self.now));
        }
    }

    /// Takes the next event of the reel in. A stream number is a connection.
    pub fn observe(&mut self, event: &Event<'_>) {
        let stream = event.header.stream;
        self.now = self.now.max(event.header.time);
        if matches!(event.header.kind, EventKind::Gap | EventKind::StreamClosed) {
            self.overviews.iter_mut().for_each(|overview| overview.leave(stream, self.now));
        }
        let connection = match event.header.kind {
            EventKind::Message => self.connections.entry(stream).or_insert_with(|| {
                let mut connection = Connection::new();
                // Over HTTP, what names no session may be a part of one: its beginning went another way.
                let is_part = event.header.exchange != 0 && !begins_session(event.body());
                let gap = self.lost_streams.remove(&stream);
                gap.into_iter().for_each(|seq| connection.note_gap(seq));
                if self.lost || is_part || self.joined.contains(&stream) {
                    connection.lose_track();
                }
                if self.behind_listener.contains(&stream) {
                    connection.stand_behind_listener();
                }
                connection
            }),
            EventKind::StreamOpened => {
                let described: Value = ciborium::from_reader(event.payload).unwrap_or_default();
                if described["behind"] == "http" {
                    self.behind_listener.insert(stream);
                }
                if described["transport"] == "session" {
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
            EventKind::StreamClosed | EventKind::Gap | EventKind::Note => match self.connections.get_mut(&stream) {
                Some(connection) => connection,
                None if event.header.kind == EventKind::Gap => {
                    self.lost_streams.insert(stream, event.header.seq);
                    return;
                }
                None => return,
            },
            _ => return,
        };
        match event.header.kind {
            EventKind::Gap => connection.note_gap(event.header.seq),
            EventKind::StreamClosed => connection.close(event.header.time),
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
            self.report.add(finding, &mut self.kept, self.options.most_per_rule);
        }
    }

    /// The reel is at its end.
    pub fn finish(mut self) -> Report {
        for (stream, mut connection) in self.connections {
            connection.finish(stream, &mut self.overviews);
            for finding in connection.findings.drain() {
                let finding =
                    Finding { stream, rule: finding.rule, seq: finding.seq, direction: None, seen: finding.seen };
                self.report.add(finding, &mut self.kept, self.options.most_per_rule);
            }
            self.report.connections.push(connection.into_facts(stream));
        }
        self.report
    }
}

/// Reads the head of an HTTP request out of a transport event.
fn read_head(payload: &[u8]) -> Option<Head> {
    #[derive(serde::Deserialize)]
    struct Told {
        what: String,
        #[serde(default)]
        headers: Vec<(String, String)>,
    }
    let told: Told = ciborium::from_reader(payload).ok().filter(|told: &Told| told.what == "request")?;
    let value = |name: &str| told.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name));
    let is_modern = |version: &str| Era::of_version(version) == Era::Modern;
    Some(Head {
        names_session: value(http::SESSION_ID).is_some(),
        names_modern: value(http::PROTOCOL_VERSION).is_some_and(|(_, version)| is_modern(version)),
    })
}

/// Whether a message may stand first in a session: `initialize`, or any of the era that has no sessions.
fn begins_session(message: &[u8]) -> bool {
    let envelope = Envelope::scan(message);
    envelope.method.as_deref() == Some("initialize")
        || envelope.params.is_some_and(|params| json::at_path(params, &["_meta", meta::PROTOCOL_VERSION]).is_some())
}

#[cfg(test)]
mod tests;
