//! OpenTelemetry (OTLP): a span for each request and notification, and the metrics of OpenTelemetry's conventions for MCP.
//!
//! In files, `otlp` is OTLP/JSON, one object per line as OpenTelemetry's file exporter writes it: spans in batches, then
//! the metrics. `otlp-proto` and `otlp-proto-metrics` are protobuf: each batch (`TracesData`, `MetricsData`) after its
//! length in four bytes, big-endian. For a collector, [`Telemetry`] makes the bodies of requests.

mod attributes;
mod context;
mod metrics;
mod span;
mod spans;
mod stream;

use super::messages::ByMessage;
use super::{Content, ExportFormat, ExportOptions, Exporter};
use crate::trace::{Event, EventHeader, FileHeader};
use crate::wire::escaping::json;
use crate::wire::mask::masked_bytes;
use attributes::{Attribute, text, written};
use context::Ids;
#[cfg(feature = "parquet")]
pub(super) use context::Place;
use opentelemetry_proto::tonic::common::v1::InstrumentationScope;
use opentelemetry_proto::tonic::metrics::v1::{Metric, MetricsData, ResourceMetrics, ScopeMetrics};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, TracesData};
use serde::Serialize;
use spans::Spans;
use std::io::{self, Write};

/// OTLP/JSON, for `export`.
pub(crate) const EXPORT: ExportFormat = ExportFormat {
    name: "otlp",
    about: "OpenTelemetry spans and metrics (OTLP/JSON), one batch per line",
    content: Content::Json,
    make: |options| File::exporter(options, Encoding::Json, &[Signal::Traces, Signal::Metrics]),
};

/// Spans in protobuf, for `export`.
pub(crate) const EXPORT_PROTO: ExportFormat = ExportFormat {
    name: "otlp-proto",
    about: "OpenTelemetry spans (OTLP in protobuf), each batch after its length in four bytes",
    content: Content::Binary,
    make: |options| File::exporter(options, Encoding::Protobuf, &[Signal::Traces]),
};

/// Metrics in protobuf, for `export`.
pub(crate) const EXPORT_PROTO_METRICS: ExportFormat = ExportFormat {
    name: "otlp-proto-metrics",
    about: "OpenTelemetry metrics (OTLP in protobuf), in the same form",
    content: Content::Binary,
    make: |options| File::exporter(options, Encoding::Protobuf, &[Signal::Metrics]),
};

/// Whose view spans and metrics have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The client's.
    Client,
    /// The server's.
    Server,
}

/// What spans and metrics contain.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Whose view they have; by default the server's if the recording was made by a listener, else the client's.
    pub side: Option<Side>,
    /// Whether spans contain arguments and results.
    pub has_content: bool,
    /// Attributes of the resource, such as `service.name`; they take precedence.
    pub resource: Vec<(String, String)>,
    /// Whether metrics are exported again and again, and so always contain everything since the beginning.
    pub is_live: bool,
}

/// What a batch contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Spans.
    Traces,
    /// Metrics.
    Metrics,
}

/// How a batch is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Protobuf.
    Protobuf,
    /// OTLP/JSON.
    Json,
}

impl Encoding {
    fn encode(self, data: &(impl prost::Message + Serialize)) -> Vec<u8> {
        let bytes = match self {
            Self::Protobuf => data.encode_to_vec(),
            // These types have nothing that JSON cannot express.
            Self::Json => json(data).into_bytes(),
        };
        masked_bytes(&bytes).into_owned()
    }
}

/// The body of a request to a collector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    pub signal: Signal,
    /// The number of spans or of metrics.
    pub items: u64,
    pub body: Vec<u8>,
}

/// Makes spans and metrics of the events of a recording, for a collector.
pub(crate) struct Telemetry {
    messages: ByMessage<Spans>,
    encoding: Encoding,
    resource: Vec<(String, String)>,
}

impl Telemetry {
    /// Makes batches in this encoding.
    pub(crate) fn new(settings: Settings, encoding: Encoding) -> Self {
        Self { resource: settings.resource.clone(), messages: ByMessage::new(Spans::new(settings)), encoding }
    }

    /// The exporter that takes the events; it writes nothing.
    pub(crate) fn exporter(&mut self) -> &mut dyn Exporter {
        &mut self.messages
    }

    /// Takes an event, and passes each batch of spans to `due` as soon as it is full: one event may have a million messages.
    ///
    /// # Errors
    ///
    /// `due` failed.
    pub(crate) fn event(&mut self, event: &Event<'_>, due: &mut dyn FnMut(Batch) -> io::Result<()>) -> io::Result<()> {
        let (encoding, own) = (self.encoding, &self.resource);
        self.messages.event_by_message(event, &mut io::sink(), &mut |spans| {
            while let Some(batch) = batch(spans, false, encoding, own) {
                due(batch)?;
            }
            Ok(())
        })
    }

    /// Whether spans are finished.
    pub(crate) fn has_spans(&self) -> bool {
        self.messages.exporter().has_ready()
    }

    /// The next batch of spans, if it is full, or `all` are wanted.
    pub(crate) fn spans(&mut self, all: bool) -> Option<Batch> {
        batch(self.messages.exporter_mut(), all, self.encoding, &self.resource)
    }

    /// The metrics, if there is anything new.
    pub(crate) fn metrics(&mut self) -> Option<Batch> {
        let metrics = self.messages.exporter_mut().metrics.take()?;
        let items = metrics.len() as u64;
        let body = self.encoding.encode(&measured(metrics, &self.resource, self.messages.exporter().ids()));
        Some(Batch { signal: Signal::Metrics, items, body })
    }
}

fn batch(ready: &mut Spans, all: bool, encoding: Encoding, own: &[(String, String)]) -> Option<Batch> {
    let spans = ready.take(all)?;
    let items = spans.len() as u64;
    Some(Batch { signal: Signal::Traces, items, body: encoding.encode(&traces(spans, own, ready.ids())) })
}

/// Writes some signals to a file.
struct File {
    telemetry: Telemetry,
    signals: &'static [Signal],
}

impl File {
    fn exporter(options: &ExportOptions, encoding: Encoding, signals: &'static [Signal]) -> Box<dyn Exporter> {
        Box::new(Self { telemetry: Telemetry::new(options.telemetry.clone(), encoding), signals })
    }

    /// Writes a batch, if there is one that is wanted: a line of JSON, or a length and protobuf.
    fn write((encoding, signals): (Encoding, &[Signal]), batch: Option<Batch>, out: &mut dyn Write) -> io::Result<()> {
        let Some(batch) = batch.filter(|batch| signals.contains(&batch.signal)) else { return Ok(()) };
        if encoding == Encoding::Json {
            out.write_all(&batch.body)?;
            return out.write_all(b"\n");
        }
        let length = u32::try_from(batch.body.len()).map_err(io::Error::other)?;
        out.write_all(&length.to_be_bytes())?;
        out.write_all(&batch.body)
    }

    fn wanted(&self) -> (Encoding, &'static [Signal]) {
        (self.telemetry.encoding, self.signals)
    }

    /// Writes the spans that are due.
    fn due(&mut self, all: bool, out: &mut dyn Write) -> io::Result<()> {
        while let Some(batch) = self.telemetry.spans(all) {
            Self::write(self.wanted(), Some(batch), out)?;
        }
        Ok(())
    }
}

impl Exporter for File {
    fn begin(&mut self, header: &FileHeader, out: &mut dyn Write) -> io::Result<()> {
        self.telemetry.exporter().begin(header, out)
    }

    fn event(&mut self, event: &Event<'_>, out: &mut dyn Write) -> io::Result<()> {
        let wanted = self.wanted();
        self.telemetry.event(event, &mut |batch| Self::write(wanted, Some(batch), out))
    }

    fn part(&mut self, header: &EventHeader, part: &[u8], is_last: bool, out: &mut dyn Write) -> io::Result<()> {
        self.telemetry.exporter().part(header, part, is_last, out)?;
        self.due(false, out)
    }

    fn pass_over(&mut self, event: &Event<'_>) {
        self.telemetry.exporter().pass_over(event);
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.telemetry.exporter().end(out)?;
        self.due(true, out)?;
        let metrics = self.telemetry.metrics();
        Self::write(self.wanted(), metrics, out)
    }
}

fn traces(spans: Vec<Span>, own: &[(String, String)], ids: Ids) -> TracesData {
    let scope_spans = vec![ScopeSpans { scope: Some(scope()), spans, ..ScopeSpans::default() }];
    let resource = Some(resource(own, ids));
    TracesData { resource_spans: vec![ResourceSpans { resource, scope_spans, ..ResourceSpans::default() }] }
}

fn measured(metrics: Vec<Metric>, own: &[(String, String)], ids: Ids) -> MetricsData {
    let scope_metrics = vec![ScopeMetrics { scope: Some(scope()), metrics, ..ScopeMetrics::default() }];
    let resource = Some(resource(own, ids));
    MetricsData { resource_metrics: vec![ResourceMetrics { resource, scope_metrics, ..ResourceMetrics::default() }] }
}

/// Who reports: mcpreel, for the sessions that it recorded.
fn resource(own: &[(String, String)], ids: Ids) -> Resource {
    use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value::Value};
    let instance = ids.instance();
    let usual: [Attribute; 3] = [
        text("service.name", "mcpreel"),
        text("service.version", env!("CARGO_PKG_VERSION")),
        text("service.instance.id", &instance),
    ];
    let is_free = |(key, _): &&Attribute| own.iter().all(|(known, _)| known != key);
    let named = own.iter().map(|(key, value)| KeyValue {
        key: key.clone(),
        value: Some(AnyValue { value: Some(Value::StringValue(value.clone())) }),
        ..KeyValue::default()
    });
    Resource { attributes: usual.iter().filter(is_free).map(written).chain(named).collect(), ..Resource::default() }
}

fn scope() -> InstrumentationScope {
    let (name, version) = ("mcpreel".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    InstrumentationScope { name, version, ..InstrumentationScope::default() }
}

#[cfg(test)]
mod tests;
