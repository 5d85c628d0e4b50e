//! Builds the audit log of the proposals' operations from a reel, event by event: one row for each finished operation.
//!
//! A host that notes in the reel what it does may note after a response that it ignored it. Such rows wait for the
//! next turn.

use super::{LeftOut, MessageReplay};
use crate::proposals::audit::{Auditor, Exchange, OperationEnd, OperationEntry, OperationOutcome};
use crate::proposals::{self, Declared, Observed, PendingRequest, REGISTRY};
use crate::trace::described::Mark;
use crate::trace::{Decision, Event, EventKind, Note, Opened};
use crate::wire::MessageKind;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The maximum number of open requests that are remembered for each connection. The oldest is forgotten first.
const MAX_OPEN: usize = 4096;
/// The maximum number of rows that wait for each connection.
const MAX_HELD: usize = 1024;

/// One operation of the audit log.
#[derive(Clone, Debug)]
pub struct Row {
    /// The number of its stream.
    pub stream: u32,
    /// The server's name.
    pub server: String,
    /// The number of the event that began it.
    pub seq: u64,
    /// The time of that event, in nanoseconds since the reel's clock base.
    pub time: i64,
    /// The time from beginning to end, in nanoseconds.
    pub latency: Option<i64>,
    /// What the operation was.
    pub entry: OperationEntry,
}

/// Builds the audit log.
#[derive(Debug, Default)]
pub struct Audit {
    messages: MessageReplay,
    connections: BTreeMap<u32, Connection>,
}

/// What is known about one connection.
#[derive(Debug)]
struct Connection {
    /// The auditors, by the names of their proposals.
    auditors: Vec<(&'static str, Box<dyn Auditor>)>,
    /// Whether the host notes in the reel what it does.
    is_noted: bool,
    is_closed: bool,
    /// The methods of the open requests, by the numbers of their events.
    open: BTreeMap<u64, String>,
    /// The open requests for which the host no longer waits.
    given_up: BTreeSet<u64>,
    /// Those of them whose time was over, as the host notes.
    timed_out: BTreeSet<u64>,
    /// Rows that the host may still ignore, until its next turn.
    held: Vec<Row>,
}

impl Default for Connection {
    fn default() -> Self {
        let auditor = |proposal: &&dyn proposals::Proposal| Some((proposal.descriptor().name, proposal.auditor()?));
        Self {
            auditors: REGISTRY.iter().filter_map(auditor).collect(),
            is_noted: false,
            is_closed: false,
            open: BTreeMap::new(),
            given_up: BTreeSet::new(),
            timed_out: BTreeSet::new(),
            held: Vec::new(),
        }
    }
}

impl Audit {
    /// Processes the next event. Returns the operations that end with it, in the order of their ends.
    pub fn take(&mut self, event: &Event<'_>) -> Vec<Row> {
        let (stream, kind) = (event.header.stream, event.header.kind);
        let mut rows = Vec::new();
        match kind {
            EventKind::StreamOpened | EventKind::Note => {
                let known = self.messages.left_out().events == 0 || self.connections.contains_key(&stream);
                if known {
                    let connection = self.connections.entry(stream).or_default();
                    match kind {
                        // Only a host names its servers.
                        EventKind::StreamOpened => {
                            connection.is_noted |= Opened::read(event.payload).server.is_some();
                        }
                        _ => rows.extend(connection.note(&Note::read(event.payload))),
                    }
                }
            }
            EventKind::StreamClosed => {
                if let Some(connection) = self.connections.get_mut(&stream) {
                    connection.is_closed = true;
                    rows.append(&mut connection.held);
                }
            }
            _ => {}
        }
        let connections = &mut self.connections;
        self.messages.take(event, |stream, message| {
            rows.extend(connections.entry(stream).or_default().observe(stream, message));
        });
        for row in &mut rows {
            row.server = self.messages.server(row.stream);
        }
        rows
    }

    /// Returns what is missing from the log because there was too much of it.
    pub fn left_out(&self) -> LeftOut {
        self.messages.left_out()
    }

    /// Returns the operations that never ended.
    pub fn finish(&mut self) -> Vec<Row> {
        let mut rows: Vec<Row> =
            self.connections.values_mut().flat_map(|connection| std::mem::take(&mut connection.held)).collect();
        for (stream, asked) in self.messages.unanswered() {
            if let Some(connection) = self.connections.get(&stream) {
                rows.extend(connection.unanswered(stream, asked));
            }
        }
        for row in &mut rows {
            row.server = self.messages.server(row.stream);
        }
        rows
    }
}

impl Connection {
    fn auditor(&self, method: &str) -> Option<&dyn Auditor> {
        let name = proposals::of_method(method)?.descriptor().name;
        self.auditors.iter().find(|(of, _)| *of == name).map(|(_, auditor)| &**auditor)
    }

    /// Takes a note of the host. Returns the rows that no longer wait.
    fn note(&mut self, note: &Note) -> Vec<Row> {
        self.is_noted |= note.host.is_some() || note.mark.is_some();
        if note.mark == Some(Mark::Turn) {
            let late = self.open.iter().filter(|(_, method)| self.may_be_ignored(method)).map(|(seq, _)| *seq);
            self.given_up.extend(late.collect::<Vec<_>>());
            return std::mem::take(&mut self.held);
        }
        let Some(host) = &note.host else { return Vec::new() };
        match host.decision {
            Decision::TimedOut => {
                let method = host.method();
                let late = self.open.iter().filter(|(_, open)| *open == method).map(|(seq, _)| *seq);
                self.timed_out.extend(late);
                self.given_up.extend(&self.timed_out);
            }
            Decision::OverLimit => self.ignore(host.data.as_ref().map_or(&[], |data| &data.which)),
            Decision::Dropped => self.drop_last(&host.text),
            _ => {}
        }
        Vec::new()
    }

    fn may_be_ignored(&self, method: &str) -> bool {
        self.auditor(method).is_some_and(|auditor| auditor.may_be_ignored(method))
    }

    /// The host ignored these parts of the last response that waits.
    fn ignore(&mut self, which: &[usize]) {
        let Some(seq) = self.held.last().map(|row| row.seq) else { return };
        let mut parts: Vec<&mut Row> = self.held.iter_mut().filter(|row| row.seq == seq).collect();
        for index in which {
            if let Some(row) = parts.get_mut(*index) {
                row.entry.outcome = OperationOutcome::Failure;
                row.entry.reason = Some("the host dropped it: it exceeds the limits of a turn".to_owned());
            }
        }
    }

    /// The host ignored all of the last response that waits, if its note is about a response.
    fn drop_last(&mut self, why: &str) {
        let Some(seq) = self.held.last().map(|row| row.seq).filter(|_| why.starts_with("the response of ")) else {
            return;
        };
        for row in self.held.iter_mut().filter(|row| row.seq == seq && row.entry.reason.is_none()) {
            (row.entry.outcome, row.entry.reason) = (OperationOutcome::Failure, Some(why.to_owned()));
        }
    }

    /// Takes a message. Returns the rows of the operation that it ends.
    fn observe(&mut self, stream: u32, message: &Observed<'_>) -> Vec<Row> {
        self.auditors.iter_mut().for_each(|(_, auditor)| auditor.observe(message));
        let method = message.method.unwrap_or_default();
        let Some(auditor) = self.auditor(method) else { return Vec::new() };
        let Observed { seq, time, content, declared, .. } = *message;
        match (message.envelope.kind, message.request) {
            (MessageKind::Request, _) => {
                self.open.insert(seq, method.to_owned());
                if self.open.len() > MAX_OPEN {
                    self.open.pop_first();
                }
                Vec::new()
            }
            (MessageKind::Notification, _) => {
                let end = OperationEnd::Sent;
                let exchange = self.exchange((method, content), (seq, time), end, None, declared);
                rows(auditor, stream, seq, &exchange)
            }
            (kind, Some(asked)) if kind.is_response() => {
                let end = match kind {
                    MessageKind::Error => OperationEnd::Refused(content),
                    _ => OperationEnd::Granted(content),
                };
                let latency = Some(time.saturating_sub(asked.time));
                let of = (asked.method.as_str(), &asked.params);
                let exchange = self.exchange(of, (asked.seq, asked.time), end, latency, declared);
                let rows = rows(auditor, stream, asked.seq, &exchange);
                let waits = self.is_noted && self.may_be_ignored(method) && self.held.len() < MAX_HELD;
                self.open.remove(&asked.seq);
                self.given_up.remove(&asked.seq);
                self.timed_out.remove(&asked.seq);
                if waits {
                    self.held.extend(rows);
                    return Vec::new();
                }
                rows
            }
            _ => Vec::new(),
        }
    }

    fn exchange<'a>(
        &self,
        (method, params): (&'a str, &'a Value),
        (seq, began): (u64, i64),
        end: OperationEnd<'a>,
        latency: Option<i64>,
        declared: &'a Declared,
    ) -> Exchange<'a> {
        let latency = latency.map(|time| Duration::from_nanos(u64::try_from(time).unwrap_or_default()));
        let (is_noted, is_given_up) = (self.is_noted, self.given_up.contains(&seq));
        Exchange { method, params, began, end, latency, is_noted, is_given_up, declared }
    }

    /// The rows of a request without a response.
    fn unanswered(&self, stream: u32, asked: &PendingRequest) -> Vec<Row> {
        let Some(auditor) = self.auditor(&asked.method) else { return Vec::new() };
        let is_late = self.timed_out.contains(&asked.seq);
        let end = if self.is_closed && !is_late { OperationEnd::Closed } else { OperationEnd::Silence };
        let declared = Declared::default();
        let exchange = self.exchange((&asked.method, &asked.params), (asked.seq, asked.time), end, None, &declared);
        rows(auditor, stream, asked.seq, &exchange)
    }
}

fn rows(auditor: &dyn Auditor, stream: u32, seq: u64, exchange: &Exchange<'_>) -> Vec<Row> {
    let time = exchange.began;
    let latency = exchange.latency.map(|latency| i64::try_from(latency.as_nanos()).unwrap_or(i64::MAX));
    let row = |entry| Row { stream, server: String::new(), seq, time, latency, entry };
    auditor.entries(exchange).into_iter().map(row).collect()
}
