//! Makes spans and metrics of the messages of a recording.

use super::attributes::{cut, text, written};
use super::context::{Ids, Place};
use super::metrics::Metrics;
use super::span::{Made, Origin, revision_of};
use super::stream::{Carrier, Stream};
use super::{Settings, Side};
use crate::formats::messages::{Message, MessageExporter, RequestPlace};
use crate::session::Outcome;
use crate::trace::described::header;
use crate::trace::{Closed, Event, EventKind, FileHeader, Flags, Opened, TransportEvent};
use crate::wire::{Direction, Envelope, Id, IdKey, MessageKind, json};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::Link;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::{self, Write};

/// The maximum number of spans in a batch.
const MAX_BATCH: usize = 256;
/// A batch of this many bytes is full.
const MAX_BATCH_BYTES: usize = 1 << 20;
/// The maximum number of streams whose transport and revision are remembered.
const MAX_STREAMS: usize = 10_000;
/// The maximum number of HTTP requests whose heads are remembered.
const MAX_EXCHANGES: usize = 1024;
/// The maximum number of progress tokens that are remembered.
const MAX_TOKENS: usize = 8192;

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
    /// The requests without a response.
    open: HashMap<RequestPlace, Made>,
    /// Those whose HTTP exchange failed, with its number.
    failed: Vec<(u32, RequestPlace, Outcome)>,
    /// The spans of the requests with these progress tokens, by stream and sender.
    tokens: HashMap<(u32, Direction, IdKey), Place>,
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
            open: HashMap::new(),
            failed: Vec::new(),
            tokens: HashMap::new(),
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
        let stream = self.known(message.stream);
        let origin = self.origin(message, &stream, self.ids.span(message.time, message.seq, message.item));
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
        let around = message.within.filter(|_| !is_from_client).and_then(|request| self.open.get(&request));
        let around = around.map(Made::place);
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
    fn subject(&self, message: &Message<'_>) -> Option<Place> {
        if let Some(request) = message.cancelled {
            return self.open.get(&request).map(Made::place);
        }
        let token = json::member(message.envelope.params?, "progressToken")?;
        let is_progress = message.method.as_deref() == Some("notifications/progress");
        let key = (message.stream, message.direction.reversed(), Id(token).key());
        self.tokens.get(&key).filter(|_| is_progress).cloned()
    }

    fn request(&mut self, message: &Message<'_>) {
        let made = self.begin_span(message);
        if let Some(token) = made.token.clone().filter(|_| self.tokens.len() < MAX_TOKENS) {
            self.tokens.insert((message.stream, message.direction, token), made.place());
        }
        self.open.insert((message.seq, message.item), made);
    }

    /// Takes a request that is over, with its token.
    fn close(&mut self, request: RequestPlace) -> Option<Made> {
        let mut made = self.open.remove(&request)?;
        if let Some(token) = made.token.take() {
            self.tokens.remove(&(made.stream, made.direction, token));
        }
        Some(made)
    }

    fn answer(&mut self, message: &Message<'_>) {
        let Some(mut made) = message.request.and_then(|request| self.close(request)) else { return };
        made.answer(message);
        if let (Some(revision), Some(stream)) = (revision_of(message), self.stream(message.stream)) {
            stream.revision = Some(revision);
        }
        self.metrics.operation(&made);
        self.push(made.finish());
    }

    /// A cancelled request gets no response, in nearly all cases.
    fn cancel(&mut self, message: &Message<'_>) {
        if let Some(mut made) = message.cancelled.and_then(|request| self.close(request)) {
            made.trouble = Some(("cancelled".to_owned(), message.time));
            self.give_up(made, Outcome::Cancelled);
        }
    }

    /// Finishes the span of a request without a response. Its duration says something only if its end is known.
    fn give_up(&mut self, mut made: Made, outcome: Outcome) {
        let last = self.streams.get(&made.stream).map_or(0, |stream| stream.ended);
        let has_end = made.trouble.is_some();
        made.give_up(last, outcome);
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
        // A body that is no message, or none at all from the server: nothing more comes in this exchange.
        let is_over = match about {
            TransportEvent::Refused { .. } => true,
            TransportEvent::Body { .. } => event.header.direction() == Direction::ServerToClient,
            _ => false,
        };
        if is_over {
            let over: Vec<_> = self.failed.extract_if(.., |(failed, ..)| *failed == exchange).collect();
            over.into_iter().for_each(|(_, request, outcome)| self.end_request(request, outcome));
        }
    }

    /// Finishes the span of a request without a response.
    fn end_request(&mut self, request: RequestPlace, outcome: Outcome) {
        self.close(request).into_iter().for_each(|made| self.give_up(made, outcome));
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
        match message.envelope.kind {
            MessageKind::Request if message.envelope.id.is_some() => self.request(message),
            MessageKind::Notification => {
                let made = self.begin_span(message);
                self.cancel(message);
                self.push(made.finish());
            }
            MessageKind::Result | MessageKind::Error => self.answer(message),
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

    fn settled(&mut self, request: RequestPlace, outcome: Outcome, event: &Event<'_>) {
        let Some(made) = self.open.get_mut(&request) else { return };
        if outcome == Outcome::Pending {
            made.trouble = None;
            return self.failed.retain(|(_, failed, _)| *failed != request);
        }
        let trouble = match TransportEvent::read(event.payload) {
            TransportEvent::Refused { status, .. } | TransportEvent::Response { status, .. } => status.to_string(),
            _ if outcome == Outcome::Malformed => "malformed".to_owned(),
            _ => "connection_closed".to_owned(),
        };
        made.trouble = Some((trouble, self.ids.created.saturating_add(event.header.time)));
        self.failed.push((event.header.exchange, request, outcome));
    }

    fn ended(&mut self, request: RequestPlace, outcome: Outcome) {
        self.failed.retain(|(_, failed, _)| *failed != request);
        self.end_request(request, outcome);
    }

    fn end(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        let streams: Vec<u32> = self.streams.keys().copied().collect();
        streams.into_iter().for_each(|number| self.count_session(number));
        Ok(())
    }
}
