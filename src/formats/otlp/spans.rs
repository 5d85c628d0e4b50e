//! Makes spans and metrics of the messages of a recording.

use super::attributes::{cut, text, written};
use super::context::{Ids, Place};
use super::metrics::Metrics;
use super::span::{Made, Origin, revision_of};
use super::stream::{Carrier, Stream};
use super::{Settings, Side};
use crate::formats::messages::{Message, MessageExporter};
use crate::session::Pairing;
use crate::trace::described::header;
use crate::trace::{Closed, Event, EventKind, FileHeader, Flags, Opened, TransportEvent};
use crate::wire::{Direction, Envelope, Id, IdKey, MessageKind, json};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::Link;
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};

/// The maximum number of spans in a batch.
const MAX_BATCH: usize = 256;
/// A batch of this many bytes is full.
const MAX_BATCH_BYTES: usize = 1 << 20;
/// The maximum number of streams whose transport and revision are remembered.
const MAX_STREAMS: usize = 10_000;
/// The maximum number of HTTP requests whose heads are remembered.
const MAX_EXCHANGES: usize = 1024;
/// At least so many progress tokens are remembered.
const MAX_TOKENS: usize = 1024;

/// See the module.
pub(super) struct Spans {
    settings: Settings,
    ids: Ids,
    /// Whether mcpreel recorded the reel, rather than imported it.
    is_own: bool,
    /// The listener or connection to which all streams belong.
    outer: Option<Carrier>,
    /// Whether the recording was made in front of a server.
    has_listener: bool,
    streams: BTreeMap<u32, Stream>,
    /// What the heads of HTTP requests say.
    exchanges: BTreeMap<u32, RequestHead>,
    open: Pairing<Made>,
    tokens: Pairing<Place>,
    /// The number of the last event, and how many of its messages there were.
    last: (u64, u32),
    /// Finished spans with their lengths.
    ready: VecDeque<(usize, Span)>,
    ready_bytes: usize,
    pub metrics: Metrics,
}

/// What the head of an HTTP request says about its messages.
#[derive(Default)]
struct RequestHead {
    parent: Option<Place>,
    revision: Option<String>,
}

impl Spans {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            metrics: Metrics::new(settings.is_live),
            settings,
            ids: Ids::default(),
            is_own: false,
            outer: None,
            has_listener: false,
            streams: BTreeMap::new(),
            exchanges: BTreeMap::new(),
            open: Pairing::default(),
            tokens: Pairing::of(MAX_TOKENS),
            last: (u64::MAX, 0),
            ready: VecDeque::new(),
            ready_bytes: 0,
        }
    }

    /// The recording's own ids.
    pub(super) fn ids(&self) -> Ids {
        self.ids
    }

    /// The next batch of finished spans, if there are enough for one, or `all` are wanted.
    pub(super) fn take(&mut self, all: bool) -> Option<Vec<Span>> {
        let is_due = all || self.ready.len() >= MAX_BATCH || self.ready_bytes >= MAX_BATCH_BYTES;
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while let Some((length, _)) = self.ready.front()
            && is_due
            && batch.len() < MAX_BATCH
            && (batch.is_empty() || bytes + length <= MAX_BATCH_BYTES)
        {
            bytes += length;
            batch.extend(self.ready.pop_front().map(|(_, span)| span));
        }
        self.ready_bytes -= bytes;
        (!batch.is_empty()).then_some(batch)
    }

    /// Whether spans are finished.
    pub(super) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    fn stream(&mut self, number: u32) -> Option<&mut Stream> {
        if self.streams.len() >= MAX_STREAMS && !self.streams.contains_key(&number) {
            self.streams.retain(|_, stream| !stream.is_counted);
        }
        let has_space = self.streams.len() < MAX_STREAMS || self.streams.contains_key(&number);
        has_space.then(|| self.streams.entry(number).or_default())
    }

    /// What is known of a stream, also from the connection to which it belongs.
    fn known(&mut self, number: u32) -> Stream {
        let mut stream = self.stream(number).cloned().unwrap_or_default();
        if let Some(outer) = &self.outer {
            stream.carrier = stream.carrier.within(outer);
        }
        stream
    }

    /// Whether a span of a message in this direction is the sender's.
    fn is_client(&self, direction: Direction) -> bool {
        let side = self.settings.side.unwrap_or(if self.has_listener { Side::Server } else { Side::Client });
        (side == Side::Client) == (direction == Direction::ClientToServer)
    }

    /// Begins a span.
    fn begin_span(&mut self, message: &Message<'_>) -> Made {
        let index = if self.last.0 == message.seq { self.last.1 + 1 } else { 0 };
        self.last = (message.seq, index);
        let stream = self.known(message.stream);
        let origin = self.origin(message, &stream, self.ids.span(message.time, message.seq, index));
        let made = Made::of(message, &stream, origin, self.settings.has_content);
        if let Some(stream) = self.stream(message.stream) {
            stream.first.get_or_insert_with(|| made.place());
        }
        made
    }

    /// The parent is in `_meta`, else in the headers of the HTTP request, else it is the request in whose response the
    /// server sends this.
    fn origin(&mut self, message: &Message<'_>, stream: &Stream, id: Vec<u8>) -> Origin {
        let is_from_client = message.direction == Direction::ClientToServer;
        let meta = message.envelope.params.and_then(|params| json::member(params, "_meta")).unwrap_or_default();
        let own = json::str_member(meta, "traceparent")
            .and_then(|parent| Place::read(&parent, json::str_member(meta, "tracestate").as_deref()));
        let head = self.exchanges.get(&message.exchange);
        let ambient = head.and_then(|head| head.parent.clone()).filter(|_| is_from_client);
        let revision = head.and_then(|head| head.revision.clone());
        let around = match message.exchange {
            0 => None,
            exchange => self.open.of_exchange(exchange).filter(|_| !is_from_client).map(|made| made.place()),
        };
        let mut links: Vec<Link> = Vec::new();
        if own.is_some() {
            links.extend(ambient.iter().map(|ambient| ambient.link(Vec::new())));
        }
        let parent = own.or(ambient).or(around);
        if let Some(about) = self.subject(message)
            && parent.as_ref().is_none_or(|parent| parent.span != about.span)
        {
            links.push(about.link(Vec::new()));
        }
        let trace = parent.as_ref().map_or_else(|| self.ids.trace(message.stream), |parent| parent.trace.clone());
        if let Some(first) = stream.first.as_ref().filter(|first| first.trace != trace) {
            links.push(first.link(vec![written(&text("mcpreel.link", "session"))]));
        }
        let is_client = self.is_client(message.direction);
        Origin { place: Place::here(trace, id), parent, links, is_client, revision }
    }

    /// The span of the request that a notification is about.
    fn subject(&mut self, message: &Message<'_>) -> Option<Place> {
        let params = message.envelope.params?;
        let key = |name: &str| json::member(params, name).map(|id| Id(id).key());
        let (stream, direction) = (message.stream, message.direction);
        match message.method.as_deref()? {
            "notifications/progress" => {
                self.tokens.waiting(stream, direction.reversed(), key("progressToken")?).cloned()
            }
            "notifications/cancelled" => {
                self.open.waiting(stream, direction, key("requestId")?).map(|made| made.place())
            }
            _ => None,
        }
    }

    fn request(&mut self, message: &Message<'_>, id: IdKey) {
        let made = self.begin_span(message);
        let (stream, direction) = (message.stream, message.direction);
        if let Some(token) = made.token.clone() {
            self.tokens.ask(stream, direction, token, made.place());
        }
        // A server's request comes in the exchange of a client's, which stays the one of that exchange.
        let exchange = if direction == Direction::ClientToServer { message.exchange } else { 0 };
        let before = self.open.ask_in(exchange, stream, direction, id, made);
        before.into_iter().for_each(|made| self.give_up(made, false));
    }

    fn answer(&mut self, message: &Message<'_>, id: IdKey) {
        let Some(mut made) = self.open.answer(message.stream, message.direction, id) else { return };
        if let Some(token) = made.token.take() {
            self.tokens.answer(message.stream, message.direction, token);
        }
        made.answer(message);
        if let (Some(revision), Some(stream)) = (revision_of(message), self.stream(message.stream)) {
            stream.revision = Some(revision);
        }
        self.metrics.operation(&made);
        self.push(made.finish());
    }

    /// A cancelled request gets no response.
    fn cancel(&mut self, message: &Message<'_>) {
        let id = message.envelope.params.and_then(|params| json::member(params, "requestId"));
        let Some(id) = id.filter(|_| message.method.as_deref() == Some("notifications/cancelled")) else { return };
        // The direction is that of the request, so this is not what `answer` expects.
        if let Some(mut made) = self.open.answer(message.stream, message.direction.reversed(), Id(id).key()) {
            made.trouble = Some(("cancelled".to_owned(), message.time));
            self.give_up(made, true);
        }
    }

    /// Finishes the span of a request without a response. Its duration says something only if its end is known.
    fn give_up(&mut self, mut made: Made, has_end: bool) {
        let last = self.streams.get(&made.stream).map_or(0, |stream| stream.ended);
        made.give_up(last);
        if has_end {
            self.metrics.operation(&made);
        }
        self.push(made.finish());
    }

    fn push(&mut self, span: Span) {
        let length = prost::Message::encoded_len(&span);
        self.ready_bytes += length;
        self.ready.push_back((length, span));
    }

    /// Learns from an event about a stream or an HTTP exchange.
    fn learn_about(&mut self, event: &Event<'_>) {
        if !matches!(event.header.kind, EventKind::StreamOpened | EventKind::StreamClosed | EventKind::Transport) {
            return;
        }
        let number = event.header.stream;
        match event.header.kind {
            EventKind::StreamOpened => {
                let opened = Opened::read(event.payload);
                let carrier = Carrier::of(&opened, self.is_own);
                if number == 0 && !opened.is_stdio() {
                    self.has_listener |= opened.listen.is_some();
                    self.outer = Some(carrier);
                } else {
                    self.has_listener |= opened.is_behind_listener();
                    self.stream(number).into_iter().for_each(|stream| stream.carrier = carrier.clone());
                }
            }
            EventKind::StreamClosed => {
                let Closed { exit_code, signal, .. } = Closed::read(event.payload);
                let failed = exit_code.is_some_and(|code| code != 0) || signal.is_some();
                if let Some(stream) = self.stream(number) {
                    stream.failure = failed.then_some("server_exit");
                }
                self.count_session(number);
            }
            EventKind::Transport => self.learn_exchange(event, &TransportEvent::read(event.payload)),
            _ => {}
        }
    }

    fn learn_exchange(&mut self, event: &Event<'_>, about: &TransportEvent) {
        let exchange = event.header.exchange;
        let time = self.ids.created.saturating_add(event.header.time);
        if exchange == 0 {
            return;
        }
        if let TransportEvent::Request { headers, .. } | TransportEvent::Response { headers, .. } = about
            && let Some(stream) = self.stream(event.header.stream)
        {
            stream.learn_headers(headers);
        }
        if let TransportEvent::Request { headers, .. } = about {
            let parent = header(headers, "traceparent").and_then(|it| Place::read(it, header(headers, "tracestate")));
            let revision = header(headers, "mcp-protocol-version").map(cut);
            if parent.is_some() || revision.is_some() {
                self.exchanges.insert(exchange, RequestHead { parent, revision });
            }
            while self.exchanges.len() > MAX_EXCHANGES {
                self.exchanges.pop_first();
            }
        }
        let trouble = match about {
            TransportEvent::BrokenOff { .. } | TransportEvent::Closed { .. } => Some("connection_closed".to_owned()),
            TransportEvent::Refused { status: status @ 400.., .. }
            | TransportEvent::Response { status: status @ 400.., .. } => Some(status.to_string()),
            _ => None,
        };
        if let (Some(trouble), Some(made)) = (trouble, self.open.of_exchange(exchange)) {
            made.trouble = Some((trouble, time));
        }
        // A body that is no message, or none at all from the server.
        let is_over = match about {
            TransportEvent::Refused { .. } => true,
            TransportEvent::Body { .. } => event.header.direction() == Direction::ServerToClient,
            _ => false,
        };
        let has_failed = |made: &mut Made| made.trouble.is_some();
        if is_over && self.open.of_exchange(exchange).is_some_and(has_failed) {
            self.open.fail(exchange).into_iter().for_each(|made| self.give_up(made, true));
        }
    }

    /// Adds the duration of a session, once.
    fn count_session(&mut self, number: u32) {
        let known = self.known(number);
        if let Some(stream) = self.streams.get_mut(&number).filter(|stream| stream.began != 0 && !stream.is_counted) {
            stream.is_counted = true;
            let is_client = self.is_client(Direction::ClientToServer);
            self.metrics.session(&known, is_client);
        }
    }
}

impl MessageExporter for Spans {
    fn begin(&mut self, header: &FileHeader, _out: &mut dyn Write) -> io::Result<()> {
        self.ids = Ids { created: header.created };
        self.is_own = header.tool.starts_with("mcpreel");
        self.metrics.begin(header.created);
        Ok(())
    }

    fn message(&mut self, message: &Message<'_>, _out: &mut dyn Write) -> io::Result<()> {
        self.stream(message.stream).into_iter().for_each(|stream| stream.pass(message.time));
        let id = message.envelope.id.map(Id::key);
        match (message.envelope.kind, id) {
            (MessageKind::Request, Some(id)) => self.request(message, id),
            (MessageKind::Notification, _) => {
                let made = self.begin_span(message);
                self.cancel(message);
                self.push(made.finish());
            }
            (MessageKind::Result | MessageKind::Error, Some(id)) => self.answer(message, id),
            _ => {}
        }
        Ok(())
    }

    fn other(&mut self, event: &Event<'_>, _out: &mut dyn Write) -> io::Result<()> {
        self.learn_about(event);
        Ok(())
    }

    fn pass_over(&mut self, event: &Event<'_>) {
        match event.header.kind {
            EventKind::Message if event.header.flags.has(Flags::SERVER_TO_CLIENT) => {
                let envelope = Envelope::scan(event.body());
                let version = envelope.result.and_then(|result| json::str_member(result, "protocolVersion"));
                if let (Some(version), Some(stream)) = (version, self.stream(event.header.stream)) {
                    stream.revision = Some(cut(&version));
                }
            }
            EventKind::Transport => self.learn_about(event),
            _ => {}
        }
    }

    fn end(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        let mut open: Vec<Made> = self.open.unanswered().cloned().collect();
        self.open = Pairing::default();
        open.sort_by_key(|made| made.seq);
        for made in open {
            let has_end = made.trouble.is_some();
            self.give_up(made, has_end);
        }
        let streams: Vec<u32> = self.streams.keys().copied().collect();
        streams.into_iter().for_each(|number| self.count_session(number));
        Ok(())
    }
}
