//! The span of a request or notification, with the attributes of OpenTelemetry's conventions for MCP.

use super::{Stream, attribute};
use crate::formats::messages::Message;
use crate::formats::trace_parent::TraceParent;
use crate::wire::json;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{Span, Status};
use ring::digest::{SHA256, digest};
use std::borrow::Cow;

/// At most this many bytes of a stranger's text become an attribute.
const MAX_TEXT: usize = 1024;

/// A span, and what metrics need of it.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub span: Span,
    /// The number of the request's event.
    pub seq: u64,
    pub method: String,
    pub tool: Option<String>,
    pub error: Option<String>,
}

impl Made {
    /// The span of a request or notification, which ends when it begins.
    pub(super) fn of(message: &Message<'_>, stream: &Stream, created: i64) -> Self {
        let params = message.envelope.params.unwrap_or_default();
        let text = |name: &str| json::str_member(params, name).map(|text| cut(&text));
        let method = cut(message.method.as_deref().unwrap_or_default());
        let tool = text("name").filter(|_| method == "tools/call");
        let prompt = text("name").filter(|_| method == "prompts/get");
        let meta = json::member(params, "_meta").unwrap_or_default();
        let revision = json::str_member(meta, "io.modelcontextprotocol/protocolVersion").map(Cow::into_owned);
        let id = message.envelope.id.map(|id| String::from_utf8_lossy(id.0).trim_matches('"').to_owned());
        let is_http = message.exchange != 0 || stream.transport == Some("tcp");
        let transport = if is_http { Some("tcp") } else { stream.transport };
        let attributes: Vec<KeyValue> = [
            ("mcp.method.name", Some(method.clone())),
            ("jsonrpc.request.id", id.map(|id| cut(&id))),
            ("mcp.protocol.version", revision.or_else(|| stream.revision.clone()).map(|text| cut(&text))),
            ("gen_ai.operation.name", tool.as_ref().map(|_| "execute_tool".to_owned())),
            ("gen_ai.tool.name", tool.clone()),
            ("gen_ai.prompt.name", prompt.clone()),
            ("mcp.resource.uri", text("uri").filter(|_| method.starts_with("resources/"))),
            ("network.transport", transport.map(str::to_owned)),
            ("network.protocol.name", is_http.then(|| "http".to_owned())),
        ]
        .into_iter()
        .filter_map(|(key, value)| Some(attribute(key, &value?)))
        .collect();
        let name = match tool.as_ref().or(prompt.as_ref()) {
            Some(target) => format!("{method} {target}"),
            None => method.clone(),
        };
        let time = u64::try_from(message.time).unwrap_or(0);
        let whose = |what: &str| digest(&SHA256, format!("mcpreel {created} {what}").as_bytes());
        let parent = TraceParent::of(meta);
        let own = whose(&format!("stream {}", message.stream)).as_ref()[..16].to_vec();
        let id = json::member(params, "name").map_or(0, <[u8]>::len);
        let span = Span {
            trace_id: parent.as_ref().map_or(own, |parent| parent.trace.clone()),
            span_id: whose(&format!("event {} {:?} {id}", message.seq, message.envelope.id)).as_ref()[..8].to_vec(),
            parent_span_id: parent.as_ref().map(|parent| parent.span.clone()).unwrap_or_default(),
            flags: parent.as_ref().map_or(0, |parent| parent.flags),
            trace_state: parent.map(|parent| cut(&parent.state)).unwrap_or_default(),
            name,
            kind: SpanKind::Client as i32,
            start_time_unix_nano: time,
            end_time_unix_nano: time,
            attributes,
            ..Span::default()
        };
        Self { span, seq: message.seq, method, tool, error: None }
    }

    /// Ends the span with a response.
    pub(super) fn answer(&mut self, message: &Message<'_>) {
        self.span.end_time_unix_nano = u64::try_from(message.time).unwrap_or(0);
        let Some(error) = message.envelope.error else {
            if message.envelope.tool_error {
                self.fail("tool_error", String::new());
            }
            return;
        };
        let code = json::member(error, "code").map(|code| cut(&String::from_utf8_lossy(code))).unwrap_or_default();
        let text = json::str_member(error, "message").map(|text| cut(&text)).unwrap_or_default();
        self.span.attributes.push(attribute("rpc.response.status_code", &code));
        self.fail(&code, text);
    }

    /// Ends the span of a request that has no response.
    pub(super) fn give_up(&mut self) {
        self.fail("no_response", "the recording has no response".to_owned());
    }

    fn fail(&mut self, kind: &str, message: String) {
        self.error = Some(kind.to_owned());
        self.span.attributes.push(attribute("error.type", kind));
        self.span.status = Some(Status { message, code: StatusCode::Error as i32 });
    }
}

/// The beginning of a text.
fn cut(text: &str) -> String {
    let end = (0..=text.len().min(MAX_TEXT)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text[..end].to_owned()
}
