//! A log of the proposals' operations out of a reel: fed event by event, a row for each operation that has ended.

use super::MessageReplay;
use crate::proposals::audit::{OperationEnd, OperationEntry};
use crate::proposals::{self, Asked, Observed};
use crate::trace::Event;
use crate::wire::MessageKind;
use serde_json::Value;

/// One operation, with where it stands.
#[derive(Clone, Debug)]
pub struct Row {
    /// The stream.
    pub stream: u32,
    /// The server.
    pub server: String,
    /// The event that began it.
    pub seq: u64,
    /// When, in nanoseconds since the reel's clock base.
    pub time: i64,
    /// How long it took to its end, in nanoseconds.
    pub latency: Option<i64>,
    /// What it was.
    pub entry: OperationEntry,
}

/// Keeps the log.
#[derive(Debug, Default)]
pub struct Audit(MessageReplay);

impl Audit {
    /// Takes the next event in; the operations that end with it.
    pub fn take(&mut self, event: &Event<'_>) -> Vec<Row> {
        let mut rows = Vec::new();
        self.0.take(event, |stream, message| rows.extend(ended(stream, message)));
        for row in &mut rows {
            row.server = self.0.server(row.stream);
        }
        rows
    }

    /// How many events are not in the log, since their connections are too many.
    pub fn left_out(&self) -> u64 {
        self.0.left_out()
    }

    /// The operations that never ended.
    pub fn finish(&self) -> Vec<Row> {
        let rows = |(stream, asked): (u32, &Asked)| {
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
