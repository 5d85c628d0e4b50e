//! OpenTelemetry (OTLP): a span for each request and notification, and the metrics of OpenTelemetry's conventions for MCP.
//!
//! `otlp` is OTLP/JSON, one object per line as OpenTelemetry's file exporter writes it: spans in batches, then the metrics.
//! `otlp-proto` has the spans only, in protobuf: each batch (`TracesData`) after its length in four bytes, big-endian.

mod metrics;
mod span;

use super::ExportFormat;
use super::messages::{ByMessage, Message, MessageExporter};
use crate::session::Pairing;
use crate::trace::{Event, EventKind, FileHeader};
use crate::wire::{MessageKind, json};
use metrics::Metrics;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, TracesData};
use prost::Message as _;
use span::Made;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// OTLP/JSON, for `export`.
pub(crate) const EXPORT: ExportFormat = ExportFormat {
    name: "otlp",
    about: "OpenTelemetry spans and metrics (OTLP/JSON), one batch per line",
    exporter: || Box::new(ByMessage::<Spans<Lines>>::default()),
};

/// Protobuf, for `export`.
pub(crate) const EXPORT_PROTO: ExportFormat = ExportFormat {
    name: "otlp-proto",
    about: "OpenTelemetry spans (OTLP in protobuf), each batch after its length in four bytes",
    exporter: || Box::new(ByMessage::<Spans<Protobuf>>::default()),
};

/// The maximum number of spans in a batch.
const MAX_BATCH: usize = 256;
/// The maximum number of streams whose transport and revision are remembered.
const MAX_STREAMS: usize = 10_000;

/// How batches are written.
trait Encoding: Default {
    /// Writes spans.
    ///
    /// # Errors
    /// Writing failed.
    fn spans(data: &TracesData, out: &mut dyn Write) -> io::Result<()>;

    /// Writes metrics.
    ///
    /// # Errors
    /// Writing failed.
    fn metrics(metrics: &Metrics, out: &mut dyn Write) -> io::Result<()>;
}

/// One JSON object per line.
#[derive(Default)]
struct Lines;

impl Encoding for Lines {
    fn spans(data: &TracesData, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, data)?;
        out.write_all(b"\n")
    }

    fn metrics(metrics: &Metrics, out: &mut dyn Write) -> io::Result<()> {
        let Some(data) = metrics.data() else { return Ok(()) };
        serde_json::to_writer(&mut *out, &data)?;
        out.write_all(b"\n")
    }
}

/// Protobuf with lengths.
#[derive(Default)]
struct Protobuf;

impl Encoding for Protobuf {
    fn spans(data: &TracesData, out: &mut dyn Write) -> io::Result<()> {
        let bytes = data.encode_to_vec();
        let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
        out.write_all(&length.to_be_bytes())?;
        out.write_all(&bytes)
    }

    fn metrics(_: &Metrics, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// What is known of a stream.
#[derive(Clone, Debug, Default)]
struct Stream {
    transport: Option<&'static str>,
    /// The revision of MCP that was agreed on.
    revision: Option<String>,
    /// The times of the first and the last message, in Unix nanoseconds.
    began: i64,
    ended: i64,
}

/// Makes spans of messages.
#[derive(Default)]
struct Spans<E> {
    created: i64,
    streams: BTreeMap<u32, Stream>,
    open: Pairing<Made>,
    ready: Vec<Span>,
    metrics: Metrics,
    encoding: std::marker::PhantomData<E>,
}

impl<E: Encoding> MessageExporter for Spans<E> {
    fn begin(&mut self, header: &FileHeader, _out: &mut dyn Write) -> io::Result<()> {
        self.created = header.created;
        Ok(())
    }

    fn message(&mut self, message: &Message<'_>, out: &mut dyn Write) -> io::Result<()> {
        let known = self.stream(message.stream);
        let known = match known {
            Some(stream) => {
                stream.began = if stream.began == 0 { message.time } else { stream.began.min(message.time) };
                stream.ended = stream.ended.max(message.time);
                stream.clone()
            }
            None => Stream::default(),
        };
        let id = message.envelope.id.map(|id| id.key());
        match (message.envelope.kind, id) {
            (MessageKind::Request, Some(id)) => {
                let made = Made::of(message, &known, self.created);
                let before = self.open.ask(message.stream, message.direction, id, made);
                self.finish(before, out)
            }
            (MessageKind::Notification, _) => {
                let made = Made::of(message, &known, self.created);
                self.push(made.span, out)
            }
            (MessageKind::Result | MessageKind::Error, Some(id)) => {
                let Some(mut made) = self.open.answer(message.stream, message.direction, id) else { return Ok(()) };
                made.answer(message);
                self.learn(message);
                self.metrics.operation(&made, message.latency.unwrap_or(0));
                self.push(made.span, out)
            }
            _ => Ok(()),
        }
    }

    fn other(&mut self, event: &Event<'_>, _out: &mut dyn Write) -> io::Result<()> {
        if event.header.kind == EventKind::StreamOpened {
            let about = ciborium::from_reader::<serde_json::Value, _>(event.payload).unwrap_or_default();
            let transport = match about["transport"].as_str() {
                Some("stdio") => Some("pipe"),
                Some("http") => Some("tcp"),
                _ => None,
            };
            if let Some(stream) = self.stream(event.header.stream) {
                stream.transport = transport;
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut open: Vec<Made> = self.open.unanswered().cloned().collect();
        open.sort_by_key(|made| made.seq);
        open.into_iter().try_for_each(|made| self.finish(Some(made), out))?;
        self.write(out)?;
        for stream in self.streams.values().filter(|stream| stream.began != 0) {
            self.metrics.session(stream);
        }
        E::metrics(&self.metrics, out)
    }
}

impl<E: Encoding> Spans<E> {
    fn stream(&mut self, number: u32) -> Option<&mut Stream> {
        let has_space = self.streams.len() < MAX_STREAMS || self.streams.contains_key(&number);
        has_space.then(|| self.streams.entry(number).or_default())
    }

    /// Learns the revision from the response to `initialize`.
    fn learn(&mut self, message: &Message<'_>) {
        let (Some("initialize"), Some(result)) = (message.method.as_deref(), message.envelope.result) else { return };
        let revision = json::str_member(result, "protocolVersion").map(|text| text.into_owned());
        if let Some(stream) = self.stream(message.stream) {
            stream.revision = revision;
        }
    }

    /// Writes the span of a request that has no response.
    fn finish(&mut self, made: Option<Made>, out: &mut dyn Write) -> io::Result<()> {
        let Some(mut made) = made else { return Ok(()) };
        made.give_up();
        self.push(made.span, out)
    }

    fn push(&mut self, span: Span, out: &mut dyn Write) -> io::Result<()> {
        self.ready.push(span);
        if self.ready.len() >= MAX_BATCH { self.write(out) } else { Ok(()) }
    }

    fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.ready.is_empty() {
            return Ok(());
        }
        let spans = std::mem::take(&mut self.ready);
        let scope_spans = vec![ScopeSpans { scope: Some(scope()), spans, ..ScopeSpans::default() }];
        let of_resource = ResourceSpans { resource: Some(resource()), scope_spans, ..ResourceSpans::default() };
        E::spans(&TracesData { resource_spans: vec![of_resource] }, out)
    }
}

/// Who reports: mcpreel, for the sessions that it recorded.
fn resource() -> Resource {
    Resource { attributes: vec![attribute("service.name", "mcpreel")], ..Resource::default() }
}

fn scope() -> InstrumentationScope {
    let (name, version) = ("mcpreel".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    InstrumentationScope { name, version, ..InstrumentationScope::default() }
}

/// An attribute with a text.
fn attribute(key: &str, text: &str) -> KeyValue {
    let value = Some(AnyValue { value: Some(Any::StringValue(text.to_owned())) });
    KeyValue { key: key.to_owned(), value, ..KeyValue::default() }
}

#[cfg(test)]
mod tests;
