//! A row: what a message says, and what earlier messages of its session say about it.

use super::identity::hex;
use crate::formats::messages::{Message, RequestPlace};
use crate::formats::otlp::Place;
use crate::proposals::Registry;
use crate::session::Outcome;
use crate::session::participants::introduction;
use crate::trace::{Event, EventKind, Flags, Opened};
use crate::wire::mask::masked_bytes;
use crate::wire::{Direction, MessageKind, json};
use bytes::Bytes;
use ring::digest::{Context, SHA256};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// At most this many bytes of a stranger's name or error become a cell. Payloads are never cut.
const MAX_TEXT_BYTES: usize = 1024;
/// The maximum number of streams whose client and server are remembered.
const MAX_STREAMS: usize = 10_000;

/// A message.
pub(super) struct Row {
    pub seq: u64,
    /// The position in a batch, from 0.
    pub item: u32,
    pub time: i64,
    pub stream: u32,
    pub exchange: u32,
    pub direction: Direction,
    pub kind: MessageKind,
    pub flags: Flags,
    pub len: u64,
    pub method: Option<Bytes>,
    pub proposal: Option<&'static str>,
    pub id: Option<Bytes>,
    /// For a response: the number of the event with its request.
    pub request: Option<u64>,
    pub latency: Option<i64>,
    /// What became of the request that it answers, or of this one if it has no response.
    pub outcome: Option<Outcome>,
    /// For a response: whether it is an error, or that of a tool.
    pub is_error: Option<bool>,
    pub error_code: Option<i64>,
    pub error_message: Option<Bytes>,
    pub progress_token: Option<Bytes>,
    pub call: Call,
    pub payload: Option<Bytes>,
    /// Whether the payload is UTF-8.
    pub is_text: bool,
}

/// What a request is about. Its response has the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Call {
    pub tool: Option<Bytes>,
    pub prompt: Option<Bytes>,
    pub resource: Option<Bytes>,
    /// A digest of the method and the params without `_meta`.
    pub digest: Option<Bytes>,
    pub task: Option<Bytes>,
    pub trace: Option<Bytes>,
    pub parent_span: Option<Bytes>,
    /// What a request of the modern era says about itself.
    pub revision: Option<Bytes>,
    pub client: Option<Peer>,
}

/// The name and the version of a client or a server.
#[derive(Clone, Debug, Default)]
pub(super) struct Peer {
    pub name: Option<Bytes>,
    pub version: Option<Bytes>,
}

/// What is known of a stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Session {
    pub transport: Option<Bytes>,
    /// The host's own name for the server.
    pub server_key: Option<Bytes>,
    pub client: Option<Peer>,
    pub server: Option<Peer>,
    pub revision: Option<Bytes>,
}

/// Makes rows of messages.
pub(super) struct Reading {
    registry: &'static Registry,
    sessions: BTreeMap<u32, Session>,
    /// The requests without a response.
    open: HashMap<RequestPlace, Call>,
}

impl Reading {
    pub(super) fn knowing(registry: &'static Registry) -> Self {
        Self { registry, sessions: BTreeMap::new(), open: HashMap::new() }
    }

    /// What is known of a stream so far.
    pub(super) fn session(&self, stream: u32) -> Option<&Session> {
        self.sessions.get(&stream)
    }

    /// Learns the transport of a stream, and the host's name for its server.
    pub(super) fn opened(&mut self, event: &Event<'_>) {
        if event.header.kind != EventKind::StreamOpened {
            return;
        }
        let opened = Opened::read(event.payload);
        let text = |text: Option<String>| text.map(|text| cell(text.as_bytes()));
        let (transport, server_key) = (text(opened.transport), text(opened.server));
        if let Some(session) = self.known(event.header.stream) {
            (session.transport, session.server_key) = (transport, server_key);
        }
    }

    /// Makes a row of the next message. Every message must be taken, in order.
    pub(super) fn row(&mut self, message: &Message<'_>) -> Row {
        let envelope = &message.envelope;
        let method = message.method.as_deref();
        let mut call = Call::of(message);
        if envelope.kind == MessageKind::Request && envelope.id.is_some() {
            self.open.insert((message.seq, message.item), call.clone());
        }
        if let Some(asked) = message.request.and_then(|request| self.open.remove(&request)) {
            call = Call { task: call.task.take().or(asked.task), ..asked };
        }
        self.learn(message, &call);
        let tool = call.tool.as_deref().and_then(|tool| std::str::from_utf8(tool).ok());
        let proposal = method.and_then(|method| self.registry.of_method(method));
        let proposal = proposal.or_else(|| self.registry.of_tool(tool?));
        let error = envelope.error.filter(|_| envelope.kind == MessageKind::Error);
        Row {
            seq: message.seq,
            item: message.item,
            time: message.time,
            stream: message.stream,
            exchange: message.exchange,
            direction: message.direction,
            kind: envelope.kind,
            flags: message.flags,
            len: message.len,
            method: method.map(|method| cell(method.as_bytes())),
            proposal: proposal.map(|proposal| proposal.descriptor().name),
            id: envelope.id.map(|id| cell(id.0)),
            request: message.request.map(|(seq, _)| seq),
            latency: message.latency,
            outcome: message.outcome,
            is_error: message.outcome.filter(|_| envelope.kind.is_response()).map(Outcome::is_failure),
            error_code: error.and_then(|error| crate::wire::Id(json::member(error, "code")?).as_integer()),
            error_message: error.and_then(|error| text_member(error, "message")),
            progress_token: progress_token(message),
            call,
            payload: message.body.map(|body| Bytes::from(masked_bytes(body).into_owned())),
            is_text: message.body.is_none_or(|body| std::str::from_utf8(body).is_ok()),
        }
    }

    /// Forgets a request that gets no response.
    pub(super) fn ended(&mut self, request: RequestPlace) {
        self.open.remove(&request);
    }

    /// Learns who takes part in a session, and the revision of MCP.
    fn learn(&mut self, message: &Message<'_>, call: &Call) {
        let envelope = &message.envelope;
        let is_handshake = matches!(message.method.as_deref(), Some("initialize" | "server/discover"));
        let (is_settled, (side, info)) = (message.method.as_deref() == Some("initialize"), introduction(envelope));
        let Some(session) = self.known(message.stream) else { return };
        // An answered `initialize` decides; what requests of the modern era say counts if nothing else is known.
        if is_settled && envelope.kind == MessageKind::Result {
            session.revision = envelope.result.and_then(|result| text_member(result, "protocolVersion"));
        } else if session.revision.is_none() {
            session.revision.clone_from(&call.revision);
        }
        let known = if side == 1 { &mut session.server } else { &mut session.client };
        if let Some(info) = info
            && (is_settled || known.is_none() && (is_handshake || side == 1))
        {
            *known = Some(Peer::of(info));
        } else if session.client.is_none() {
            session.client.clone_from(&call.client);
        }
    }

    fn known(&mut self, stream: u32) -> Option<&mut Session> {
        let has_space = self.sessions.len() < MAX_STREAMS || self.sessions.contains_key(&stream);
        has_space.then(|| self.sessions.entry(stream).or_default())
    }
}

impl Call {
    fn of(message: &Message<'_>) -> Self {
        let envelope = &message.envelope;
        let content = envelope.params.or(envelope.result).unwrap_or_default();
        let meta = json::member(content, "_meta").unwrap_or_default();
        let Some(method) = envelope.method.as_deref() else {
            let task = related_task(meta).or_else(|| text_member(json::member(content, "task")?, "taskId"));
            return Self { task, ..Self::default() };
        };
        let parent = json::str_member(meta, "traceparent").and_then(|parent| Place::read(&parent, None));
        let text = |name: &str, applies: bool| text_member(content, name).filter(|_| applies);
        let is_of_task = method.starts_with("tasks/") || method == "notifications/tasks/status";
        Self {
            tool: text("name", method == "tools/call"),
            prompt: text("name", method == "prompts/get"),
            resource: text("uri", method.starts_with("resources/") || method.starts_with("notifications/resources/")),
            digest: (envelope.kind == MessageKind::Request).then(|| digest(method, content)),
            task: related_task(meta).or_else(|| text("taskId", is_of_task)),
            trace: parent.as_ref().map(|parent| hex(&parent.trace).into()),
            parent_span: parent.map(|parent| hex(&parent.span).into()),
            revision: text_member(meta, "io.modelcontextprotocol/protocolVersion"),
            client: json::member(meta, "io.modelcontextprotocol/clientInfo").map(Peer::of),
        }
    }
}

impl Peer {
    fn of(info: &[u8]) -> Self {
        Self { name: text_member(info, "name"), version: text_member(info, "version") }
    }
}

/// A digest of a method and its params. `_meta` differs each time, so it does not count.
fn digest(method: &str, params: &[u8]) -> Bytes {
    let mut digest = Context::new(&SHA256);
    digest.update(method.as_bytes());
    for member in json::members(params).filter(|member| !member.is("_meta")) {
        for part in [member.key, member.value] {
            digest.update(&part.len().to_le_bytes());
            digest.update(part);
        }
    }
    hex(&digest.finish().as_ref()[..8]).into()
}

fn related_task(meta: &[u8]) -> Option<Bytes> {
    text_member(json::member(meta, "io.modelcontextprotocol/related-task")?, "taskId")
}

/// The JSON text of a progress token.
fn progress_token(message: &Message<'_>) -> Option<Bytes> {
    let params = message.envelope.params?;
    let place = match message.method.as_deref() {
        Some("notifications/progress") => params,
        _ => json::member(params, "_meta")?,
    };
    json::member(place, "progressToken").map(cell)
}

fn text_member(object: &[u8], name: &str) -> Option<Bytes> {
    json::str_member(object, name).map(|text| cell(text.as_bytes()))
}

/// A stranger's text as a cell: valid UTF-8 of a limited length, without secrets of webhooks.
pub(super) fn cell(text: &[u8]) -> Bytes {
    let text = String::from_utf8_lossy(&text[..text.len().min(MAX_TEXT_BYTES + 4)]);
    let end = (0..=text.len().min(MAX_TEXT_BYTES)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    match masked_bytes(&text.as_bytes()[..end]) {
        Cow::Borrowed(text) => Bytes::copy_from_slice(text),
        Cow::Owned(text) => text.into(),
    }
}
