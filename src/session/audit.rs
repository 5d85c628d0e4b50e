//! Builds the audit log of the proposals' operations from a reel, event by event: one row for each finished operation.

use super::MessageReplay;
use crate::proposals::audit::{OperationEnd, OperationEntry};
use crate::proposals::{self, Observed, PendingRequest};
use crate::trace::Event;
use crate::wire::MessageKind;
use serde_json::Value;

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
pub struct Audit(MessageReplay);

impl Audit {
    /// Processes the next event. Returns the operations that it ends.
    pub fn take(&mut self, event: &Event<'_>) -> Vec<Row> {
        let mut rows = Vec::new();
        self.0.take(event, |stream, message| rows.extend(ended(stream, message)));
        for row in &mut rows {
            row.server = self.0.server(row.stream);
        }
        rows
    }

    /// Returns how many events are missing from the log because there were too many connections.
    pub fn left_out(&self) -> u64 {
        self.0.left_out()
    }

    /// Returns the operations that never ended.
    pub fn finish(&self) -> Vec<Row> {
        let rows = |(stream, asked): (u32, &PendingRequest)| {
            let begun = (asked.seq, asked.time, None);
            entries(&asked.method, &asked.params, OperationEnd::Silence, (stream, self.0.server(stream)), begun)
        };
        self.0.unanswered().into_iter().flat_map(rows).collect()
    }
}

fn ended(stream: u32, message: &Observed<'_>) -> Vec<Row> {
    let at = |time| (message.seq, time, None);
    let place = (stream, String::new());
    match (message.envelope.kind, message.request) {
        (MessageKind::Notification, _) => {
            entries(message.method.unwrap_or_default(), message.content, OperationEnd::Sent, place, at(message.time))
        }
        (kind, Some(asked)) if kind.is_response() => {
            let end = match kind {
                MessageKind::Error => OperationEnd::Refused(message.content),
                _ => OperationEnd::Granted(message.content),
            };
            let begun = (asked.seq, asked.time, Some(message.time.saturating_sub(asked.time)));
            entries(&asked.method, &asked.params, end, place, begun)
        }
        _ => Vec::new(),
    }
}

fn entries(
    method: &str,
    params: &Value,
    end: OperationEnd<'_>,
    (stream, server): (u32, String),
    (seq, time, latency): (u64, i64, Option<i64>),
) -> Vec<Row> {
    let entries = proposals::of_method(method).map(|proposal| proposal.audit(method, params, end)).unwrap_or_default();
    entries.into_iter().map(|entry| Row { stream, server: server.clone(), seq, time, latency, entry }).collect()
}
