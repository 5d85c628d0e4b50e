//! The span of a request or notification, with the attributes of OpenTelemetry's conventions for MCP.

use super::attributes::{Attribute, Simple, content, cut, optional, text, variables, written};
use super::context::{Place, SAMPLED};
use super::stream::Stream;
use crate::formats::messages::Message;
use crate::session::Outcome;
use crate::trace::Flags;
use crate::wire::{Direction, IdKey, json};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::trace::v1::span::{Link, SpanKind};
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{Span, Status};

/// The attributes by which the durations of operations are told apart.
const OF_METRICS: [&str; 13] = [
    "mcp.method.name",
    "error.type",
    "gen_ai.prompt.name",
    "gen_ai.tool.name",
    "gen_ai.operation.name",
    "rpc.response.status_code",
    "jsonrpc.protocol.version",
    "mcp.protocol.version",
    "network.protocol.name",
    "network.protocol.version",
    "network.transport",
    "server.address",
    "server.port",
];

/// The methods whose `uri` is that of a resource.
const OF_RESOURCES: [&str; 4] =
    ["resources/read", "resources/subscribe", "resources/unsubscribe", "notifications/resources/updated"];

/// Where a span belongs.
pub(super) struct Origin {
    pub place: Place,
    pub parent: Option<Place>,
    pub links: Vec<Link>,
    /// The sender's view; otherwise the receiver's.
    pub is_client: bool,
    /// The revision of MCP that the HTTP request names.
    pub revision: Option<String>,
}

/// A span that is not finished.
#[derive(Clone, Debug)]
pub(super) struct Made {
    span: Span,
    pub attributes: Vec<Attribute>,
    /// Arguments and results, if the user wants them.
    content: Option<Vec<KeyValue>>,
    pub stream: u32,
    /// Who sent it.
    pub direction: Direction,
    /// Its progress token.
    pub token: Option<IdKey>,
    pub is_client: bool,
    /// What was seen of a failure that may end the request, and when, in Unix nanoseconds.
    pub trouble: Option<(String, i64)>,
}

impl Made {
    /// The span of a request or notification, which ends when it begins.
    pub(super) fn of(message: &Message<'_>, stream: &Stream, origin: Origin, has_content: bool) -> Self {
        let params = message.envelope.params.unwrap_or_default();
        let meta = json::member(params, "_meta").unwrap_or_default();
        let method = cut(message.method.as_deref().unwrap_or_default());
        let attributes = attributes(message, stream, &method, &origin);
        let target = attributes.iter().find_map(|(key, value)| match value {
            Simple::Text(target) if matches!(*key, "gen_ai.tool.name" | "gen_ai.prompt.name") => Some(target),
            _ => None,
        });
        let name = target.map_or_else(|| method.clone(), |target| format!("{method} {target}"));
        let arguments = json::member(params, "arguments");
        let content = has_content.then(|| match (method.as_str(), arguments) {
            ("tools/call", Some(arguments)) => vec![content("gen_ai.tool.call.arguments", arguments)],
            ("prompts/get", Some(arguments)) => variables(arguments),
            _ => Vec::new(),
        });
        let time = unix(message.time);
        let Origin { place, parent, links, is_client, .. } = origin;
        let span = Span {
            trace_id: place.trace,
            span_id: place.span,
            parent_span_id: parent.as_ref().map(|parent| parent.span.clone()).unwrap_or_default(),
            flags: parent.as_ref().map_or(SAMPLED, |parent| parent.flags),
            trace_state: parent.map(|parent| parent.state).unwrap_or_default(),
            name,
            kind: if is_client { SpanKind::Client } else { SpanKind::Server } as i32,
            start_time_unix_nano: time,
            end_time_unix_nano: time,
            links,
            ..Span::default()
        };
        let token = json::member(meta, "progressToken").map(|token| crate::wire::Id(token).key());
        let (stream, direction) = (message.stream, message.direction);
        Self { span, attributes, content, stream, direction, token, is_client, trouble: None }
    }

    /// The place of this span, for others that refer to it.
    pub(super) fn place(&self) -> Place {
        Place::here(self.span.trace_id.clone(), self.span.span_id.clone())
    }

    /// The times of its beginning and end, in Unix nanoseconds.
    pub(super) fn times(&self) -> (u64, u64) {
        (self.span.start_time_unix_nano, self.span.end_time_unix_nano)
    }

    /// Ends the span with a response.
    pub(super) fn answer(&mut self, message: &Message<'_>) {
        self.span.end_time_unix_nano = unix(message.time);
        self.became(message.outcome.unwrap_or(Outcome::Ok));
        if let Some(revision) = revision_of(message)
            && !self.has("mcp.protocol.version")
        {
            self.attributes.push(text("mcp.protocol.version", &revision));
        }
        let Some(error) = message.envelope.error else {
            let is_call = message.method.as_deref() == Some("tools/call");
            if message.envelope.tool_error {
                self.fail("tool_error", String::new());
            } else if let (true, Some(result), Some(kept)) = (is_call, message.envelope.result, &mut self.content) {
                kept.push(content("gen_ai.tool.call.result", result));
            }
            return;
        };
        let code = json::member(error, "code").map(|code| cut(&String::from_utf8_lossy(code)));
        let why = json::str_member(error, "message").map(|text| cut(&text)).unwrap_or_default();
        self.attributes.extend(optional("rpc.response.status_code", code.as_deref()));
        self.fail(code.as_deref().unwrap_or("_OTHER"), why);
    }

    /// Ends the span of a request that got no response by this time, or because of this.
    pub(super) fn give_up(&mut self, time: i64, outcome: Outcome) {
        self.became(outcome);
        let (kind, time, why) = match self.trouble.take() {
            Some((kind, time)) => (kind, time, String::new()),
            None => ("no_response".to_owned(), time, "the recording has no response".to_owned()),
        };
        self.span.end_time_unix_nano = unix(time).max(self.span.start_time_unix_nano);
        self.fail(&kind, why);
    }

    fn became(&mut self, outcome: Outcome) {
        self.attributes.push(text("mcpreel.outcome", outcome.name()));
    }

    fn has(&self, key: &str) -> bool {
        self.attributes.iter().any(|(known, _)| *known == key)
    }

    fn fail(&mut self, kind: &str, message: String) {
        self.attributes.push(text("error.type", kind));
        self.span.status = Some(Status { message, code: StatusCode::Error as i32 });
    }

    /// The attributes of its duration.
    pub(super) fn of_metrics(&self) -> Vec<Attribute> {
        self.attributes.iter().filter(|(key, _)| OF_METRICS.contains(key)).cloned().collect()
    }

    /// The finished span.
    pub(super) fn finish(self) -> Span {
        let attributes = self.attributes.iter().map(written).chain(self.content.into_iter().flatten()).collect();
        Span { attributes, ..self.span }
    }
}

fn attributes(message: &Message<'_>, stream: &Stream, method: &str, origin: &Origin) -> Vec<Attribute> {
    let params = message.envelope.params.unwrap_or_default();
    let meta = json::member(params, "_meta").unwrap_or_default();
    let member = |name: &str| json::str_member(params, name);
    let tool = member("name").filter(|_| method == "tools/call");
    let id = message.envelope.id.filter(|id| !id.is_null()).map(|id| match id.key() {
        IdKey::Integer(number) => number.to_string(),
        IdKey::Text(text) => text.into(),
        IdKey::Other(text) => String::from_utf8_lossy(&text).into_owned(),
    });
    let version = message.body.and_then(|body| json::str_member(body, "jsonrpc")).filter(|version| version != "2.0");
    let revision = json::str_member(meta, "io.modelcontextprotocol/protocolVersion");
    let revision = revision.as_deref().or(origin.revision.as_deref());
    let is_injected = message.flags.has(Flags::INJECTED);
    let own = [
        Some(text("mcp.method.name", method)),
        optional("jsonrpc.request.id", id),
        optional("jsonrpc.protocol.version", version),
        tool.as_ref().map(|_| text("gen_ai.operation.name", "execute_tool")),
        optional("gen_ai.tool.name", tool),
        optional("gen_ai.prompt.name", member("name").filter(|_| method == "prompts/get")),
        optional("mcp.resource.uri", member("uri").filter(|_| OF_RESOURCES.contains(&method))),
        is_injected.then_some(("mcpreel.injected", Simple::Truth(true))),
    ];
    let carried = stream.carrier.attributes(origin.is_client, message.exchange != 0);
    own.into_iter().flatten().chain(stream.session_attributes(revision)).chain(carried).collect()
}

/// The revision of MCP in the response to `initialize`.
pub(super) fn revision_of(message: &Message<'_>) -> Option<String> {
    let result = message.envelope.result.filter(|_| message.method.as_deref() == Some("initialize"))?;
    json::str_member(result, "protocolVersion").map(|text| cut(&text))
}

fn unix(time: i64) -> u64 {
    u64::try_from(time).unwrap_or(0)
}
