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
            let mut rows = Operation::of(stream, asked).rows(OperationEnd::Silence);
            rows.iter_mut().for_each(|row| row.server = self.0.server(stream));
            rows
        };
        self.0.unanswered().into_iter().flat_map(rows).collect()
    }
}

/// A message that may be an operation.
struct Operation<'a> {
    stream: u32,
    method: &'a str,
    params: &'a Value,
    seq: u64,
    time: i64,
    latency: Option<i64>,
}

impl<'a> Operation<'a> {
    fn of(stream: u32, asked: &'a PendingRequest) -> Self {
        let PendingRequest { seq, time, .. } = *asked;
        Self { stream, method: &asked.method, params: &asked.params, seq, time, latency: None }
    }

    fn rows(&self, end: OperationEnd<'_>) -> Vec<Row> {
        let Self { stream, method, params, seq, time, latency } = *self;
        let proposal = proposals::of_method(method);
        let entries = proposal.map(|proposal| proposal.audit(method, params, end)).unwrap_or_default();
        let row = |entry| Row { stream, server: String::new(), seq, time, latency, entry };
        entries.into_iter().map(row).collect()
    }
}

fn ended(stream: u32, message: &Observed<'_>) -> Vec<Row> {
    let Observed { seq, time, content, .. } = *message;
    match (message.envelope.kind, message.request) {
        (MessageKind::Notification, _) => {
            let method = message.method.unwrap_or_default();
            Operation { stream, method, params: content, seq, time, latency: None }.rows(OperationEnd::Sent)
        }
        (kind, Some(asked)) if kind.is_response() => {
            let end = match kind {
                MessageKind::Error => OperationEnd::Refused(content),
                _ => OperationEnd::Granted(content),
            };
            Operation { latency: Some(time.saturating_sub(asked.time)), ..Operation::of(stream, asked) }.rows(end)
        }
        _ => Vec::new(),
    }
}
