//! An OTLP/HTTP receiver, built from the definitions of OpenTelemetry (`opentelemetry-proto`): it decodes each POST.

use super::until;
use super::web::{Asked, Reply, Web};
use bytes::Bytes;
use flate2::read::GzDecoder;
use opentelemetry_proto::tonic::collector::metrics::v1::{ExportMetricsServiceRequest, ExportMetricsServiceResponse};
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::Span;
use parking_lot::Mutex;
use prost::Message;
use std::io::Read;
use std::sync::Arc;

/// What a request contained.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    pub resource: Resource,
    pub spans: Vec<Span>,
    pub metrics: Vec<Metric>,
    /// Whether the response was a success.
    pub is_accepted: bool,
}

/// A running receiver.
pub(crate) struct Receiver {
    pub web: Web,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Receiver {
    /// A receiver that accepts everything.
    pub(crate) fn start() -> Self {
        Self::start_with(|_, _| None)
    }

    /// A receiver whose responses the test decides, by the number of the request, unless it returns nothing.
    pub(crate) fn start_with(decide: impl Fn(usize, &Asked) -> Option<Reply> + Send + Sync + 'static) -> Self {
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let kept = Arc::clone(&received);
        let web = Web::start(move |asked| {
            let mut kept = kept.lock();
            let decided = decide(kept.len(), asked);
            let (decoded, usual) = match decode(asked) {
                Some((decoded, usual)) => (decoded, usual),
                None => (Received::default(), Reply::empty(400)),
            };
            let reply = decided.unwrap_or(usual);
            kept.push(Received { is_accepted: reply.status == 200 && !reply.is_silent, ..decoded });
            reply
        });
        Self { web, received }
    }

    pub(crate) fn url(&self) -> String {
        self.web.url("")
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().clone()
    }

    /// The spans of all requests that were accepted.
    pub(crate) fn spans(&self) -> Vec<Span> {
        self.received().into_iter().filter(|it| it.is_accepted).flat_map(|it| it.spans).collect()
    }

    /// The metrics of the last request with any.
    pub(crate) fn metrics(&self) -> Vec<Metric> {
        let mut all = self.received().into_iter().filter(|it| it.is_accepted && !it.metrics.is_empty());
        all.next_back().map(|it| it.metrics).unwrap_or_default()
    }

    /// Waits for a span of this name.
    pub(crate) fn span(&self, name: &str) -> Span {
        until(name, || self.spans().into_iter().find(|span| span.name == name))
    }
}

/// The text of an attribute.
pub(crate) fn text(attributes: &[KeyValue], key: &str) -> Option<String> {
    match attributes.iter().find(|attribute| attribute.key == key)?.value.clone()?.value? {
        Value::StringValue(text) => Some(text),
        _ => None,
    }
}

/// A partial success for spans, in protobuf.
pub(crate) fn rejecting(rejected_spans: i64, error_message: &str) -> Reply {
    use opentelemetry_proto::tonic::collector::trace::v1::ExportTracePartialSuccess;
    let partial = ExportTracePartialSuccess { rejected_spans, error_message: error_message.to_owned() };
    protobuf(&ExportTraceServiceResponse { partial_success: Some(partial) })
}

fn protobuf(message: &impl Message) -> Reply {
    Reply::text(200, "application/x-protobuf", message.encode_to_vec())
}

/// Decodes a request as its headers describe it, and makes the usual response; `None` if anything is wrong with it.
fn decode(asked: &Asked) -> Option<(Received, Reply)> {
    let bytes = match asked.header("content-encoding") {
        None => asked.bytes.clone(),
        Some("gzip") => {
            let mut plain = Vec::new();
            GzDecoder::new(&asked.bytes[..]).read_to_end(&mut plain).ok()?;
            Bytes::from(plain)
        }
        Some(_) => return None,
    };
    let is_json = match asked.header("content-type")? {
        "application/json" => true,
        "application/x-protobuf" => false,
        _ => return None,
    };
    let path = asked.target.split('?').next()?;
    if asked.verb != "POST" {
        return None;
    }
    if path.ends_with("/v1/traces") {
        let request: ExportTraceServiceRequest =
            if is_json { serde_json::from_slice(&bytes).ok()? } else { Message::decode(bytes).ok()? };
        let [of_resource] = <[_; 1]>::try_from(request.resource_spans).ok()?;
        let spans: Vec<Span> = of_resource.scope_spans.into_iter().flat_map(|scope| scope.spans).collect();
        let are_sound = spans.iter().all(|span| span.trace_id.len() == 16 && span.span_id.len() == 8);
        let response = ExportTraceServiceResponse::default();
        let reply = if is_json { Reply::json(200, &serde_json::json!({})) } else { protobuf(&response) };
        let resource = of_resource.resource?;
        return are_sound.then(|| (Received { resource, spans, ..Received::default() }, reply));
    }
    if path.ends_with("/v1/metrics") {
        let request: ExportMetricsServiceRequest =
            if is_json { serde_json::from_slice(&bytes).ok()? } else { Message::decode(bytes).ok()? };
        let [of_resource] = <[_; 1]>::try_from(request.resource_metrics).ok()?;
        let metrics = of_resource.scope_metrics.into_iter().flat_map(|scope| scope.metrics).collect();
        let response = ExportMetricsServiceResponse::default();
        let reply = if is_json { Reply::json(200, &serde_json::json!({})) } else { protobuf(&response) };
        let resource = of_resource.resource?;
        return Some((Received { resource, metrics, ..Received::default() }, reply));
    }
    None
}
