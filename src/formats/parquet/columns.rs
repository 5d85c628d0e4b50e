//! The columns. `docs/guide/fleet.md` describes them; a new one needs no new version, another meaning or type does.

use super::row::{Row, Session};
use crate::trace::Flags;
use bytes::Bytes;

/// The version of the columns, in the metadata of a file.
pub(super) const VERSION: &str = "1";

/// A column.
pub(super) struct Column {
    pub name: &'static str,
    /// Its type in Parquet's notation.
    pub kind: Kind,
    /// Whether every row has a value.
    pub is_required: bool,
    /// The value of a row.
    pub value: fn(&Source<'_>) -> Option<Value>,
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Bytes,
    Integer,
    Double,
    Bool,
    /// Microseconds since 1970, UTC.
    Time,
}

/// The value of a cell.
pub(super) enum Value {
    Text(Bytes),
    Number(i64),
    Double(f64),
    Bool(bool),
}

/// What the values of a row come from.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub row: &'a Row,
    pub session: &'a Session,
    pub recording: &'a Recording,
}

/// What all rows of a recording have in common.
#[derive(Clone, Debug, Default)]
pub(super) struct Recording {
    /// Its identity.
    pub id: Bytes,
    pub host: Option<Bytes>,
    pub label: Option<Bytes>,
    /// The notes in its header, as a JSON object.
    pub notes: Option<Bytes>,
}

const fn required(name: &'static str, kind: Kind, value: fn(&Source<'_>) -> Option<Value>) -> Column {
    Column { name, kind, is_required: true, value }
}

const fn optional(name: &'static str, kind: Kind, value: fn(&Source<'_>) -> Option<Value>) -> Column {
    Column { name, kind, is_required: false, value }
}

fn text(text: &Option<Bytes>) -> Option<Value> {
    text.clone().map(Value::Text)
}

fn word(word: &'static str) -> Option<Value> {
    Some(Value::Text(Bytes::from_static(word.as_bytes())))
}

fn number(number: impl TryInto<i64>) -> Option<Value> {
    number.try_into().ok().map(Value::Number)
}

fn flag(source: &Source<'_>, flag: Flags) -> Option<Value> {
    Some(Value::Bool(source.row.flags.has(flag)))
}

/// All columns, in the order of a file.
pub(super) const COLUMNS: &[Column] = &[
    required("recording", Kind::Text, |of| Some(Value::Text(of.recording.id.clone()))),
    optional("host", Kind::Text, |of| text(&of.recording.host)),
    optional("label", Kind::Text, |of| text(&of.recording.label)),
    required("stream", Kind::Integer, |of| number(of.row.stream)),
    required("session", Kind::Text, |of| {
        let id = String::from_utf8_lossy(&of.recording.id);
        Some(Value::Text(format!("{id}-{}", of.row.stream).into()))
    }),
    required("seq", Kind::Integer, |of| number(of.row.seq)),
    required("item", Kind::Integer, |of| number(of.row.item)),
    required("time", Kind::Time, |of| number(of.row.time.div_euclid(1000))),
    required("time_ns", Kind::Integer, |of| number(of.row.time)),
    required("direction", Kind::Text, |of| word(of.row.direction.short())),
    required("kind", Kind::Text, |of| word(of.row.kind.name())),
    optional("method", Kind::Text, |of| text(&of.row.method)),
    optional("proposal", Kind::Text, |of| of.row.proposal.and_then(word)),
    optional("id", Kind::Text, |of| text(&of.row.id)),
    optional("request_seq", Kind::Integer, |of| of.row.request.and_then(number)),
    optional("outcome", Kind::Text, |of| word(of.row.outcome?.name())),
    optional("latency_ms", Kind::Double, |of| of.row.latency.map(|time| Value::Double(time as f64 / 1e6))),
    optional("is_error", Kind::Bool, |of| of.row.is_error.map(Value::Bool)),
    optional("error_code", Kind::Integer, |of| of.row.error_code.map(Value::Number)),
    optional("error_message", Kind::Text, |of| text(&of.row.error_message)),
    optional("tool", Kind::Text, |of| text(&of.row.call.tool)),
    optional("prompt", Kind::Text, |of| text(&of.row.call.prompt)),
    optional("resource", Kind::Text, |of| text(&of.row.call.resource)),
    optional("call_digest", Kind::Text, |of| text(&of.row.call.digest)),
    optional("progress_token", Kind::Text, |of| text(&of.row.progress_token)),
    optional("task", Kind::Text, |of| text(&of.row.call.task)),
    optional("trace_id", Kind::Text, |of| text(&of.row.call.trace)),
    optional("parent_span_id", Kind::Text, |of| text(&of.row.call.parent_span)),
    required("bytes", Kind::Integer, |of| number(of.row.len)),
    optional("exchange", Kind::Integer, |of| number(of.row.exchange).filter(|_| of.row.exchange != 0)),
    required("injected", Kind::Bool, |of| flag(of, Flags::INJECTED)),
    required("redacted", Kind::Bool, |of| flag(of, Flags::REDACTED)),
    required("truncated", Kind::Bool, |of| flag(of, Flags::TRUNCATED)),
    optional("transport", Kind::Text, |of| text(&of.session.transport)),
    optional("client_name", Kind::Text, |of| text(&of.row.call.client.as_ref().or(of.session.client.as_ref())?.name)),
    optional("client_version", Kind::Text, |of| {
        text(&of.row.call.client.as_ref().or(of.session.client.as_ref())?.version)
    }),
    optional("server_key", Kind::Text, |of| text(&of.session.server_key)),
    optional("server_name", Kind::Text, |of| text(&of.session.server.as_ref()?.name)),
    optional("server_version", Kind::Text, |of| text(&of.session.server.as_ref()?.version)),
    optional("protocol_version", Kind::Text, |of| text(&of.row.call.revision).or_else(|| text(&of.session.revision))),
    optional("notes", Kind::Text, |of| text(&of.recording.notes)),
    optional("payload", Kind::Text, |of| text(&of.row.payload).filter(|_| of.row.is_text)),
    optional("payload_bytes", Kind::Bytes, |of| text(&of.row.payload).filter(|_| !of.row.is_text)),
];
