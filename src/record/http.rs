//! Records HTTP exchanges: each request and response with its exchange number, each message extracted from its body,
//! and each session as a stream of its own.
//!
//! Exchanges are assigned to sessions by `Mcp-Session-Id`, by the endpoint that HTTP+SSE announces, or, without either,
//! by connection.

pub(crate) mod body;
mod body_filter;
pub(crate) mod boundary;
mod heads;
mod injection_queue;
mod injection_route;
pub(crate) mod live;
mod sessions;

use super::queue::{Queue, Ready};
use crate::sessions::answers::Answers;
use crate::sessions::injection::is_ours;
use crate::trace::described::payload;
use crate::trace::{Closed, EventKind, Flags, Opened, TransportEvent};
use crate::transport::client::http::{
    BodyFilter, ClientConnection, ExchangeEvent, ExchangeObserver, GONE_BEFORE_RESPONSE, GONE_WITHIN_RESPONSE,
};
use crate::transport::coding::{self, Decoder};
use crate::wire::sse::SseEvent;
use crate::wire::{Direction, Framing};
use body::{BodyPiece, Reading};
use body_filter::TapBodyFilter;
use boundary::{Events, Frames, MessageSplitter};
use bytes::Bytes;
use heads::RecordedHeaders;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::{request, response};
use hyper::{Method, StatusCode};
use injection_queue::InjectionQueue;
use injection_route::Endpoint;
use parking_lot::Mutex;
use sessions::Sessions;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio_tungstenite::tungstenite::protocol::Role;

/// The header that identifies a session (Streamable HTTP, 2025-03-26 to 2025-11-25).
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Allocates stream and exchange numbers for everything that records into one reel.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    streams: AtomicU32,
    exchanges: AtomicU32,
}

impl Numbers {
    /// Allocates a stream number, starting at 1.
    pub(crate) fn stream(&self) -> u32 {
        self.streams.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn exchange(&self) -> u32 {
        self.exchanges.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// Records exchanges. See the module.
pub(crate) struct Exchanges {
    queue: Arc<Queue>,
    numbers: Arc<Numbers>,
    /// The server's name if several servers record into one reel.
    server: Option<String>,
    /// The reserved number of the first stream; 0 once it has been used.
    first: AtomicU32,
    /// The path of the MCP endpoint, without a trailing slash.
    path: String,
    /// The server's origin.
    origin: Option<url::Origin>,
    answers: Arc<Answers>,
    complain: Box<dyn Fn(&str) + Send + Sync>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    open: BTreeMap<u32, Box<Exchange>>,
    sessions: Sessions,
    recorded: RecordedHeaders,
    /// The payload of the last head, for its space. A head has at most 128 KiB.
    space: Vec<u8>,
}

/// The maximum bytes of unfinished messages in all exchanges together (80 MiB). An exchange that exceeds it is recorded
/// in fragments.
const MAX_HELD: usize = 80 << 20;
/// How much of a coded body is decoded at once: a few bytes can become a thousand times as many (16 KiB).
const MAX_DECODED_AT_ONCE: usize = 16 << 10;
/// Shorter messages do not count toward the limit (1 MiB).
const LONG: usize = 1 << 20;

impl State {
    /// Bytes of unfinished messages in all open exchanges.
    fn held(&self) -> usize {
        self.open.values().map(|exchange| exchange.request.held() + exchange.response.held()).sum()
    }
}

/// An exchange in progress.
struct Exchange {
    stream: u32,
    method: Method,
    /// The request's path and query.
    target: String,
    /// The request's headers; empty if they are no longer needed.
    headers: HeaderMap,
    session: Option<String>,
    is_mcp: bool,
    request: Reading,
    response: Reading,
    /// Undoes the codings of the request and of the response.
    decoders: [Option<Decoder>; 2],
    /// The response's codings, if any. Nothing can be injected into an encoded stream.
    coding: Option<String>,
    /// The response head has arrived.
    is_answered: bool,
    /// The response status is an error.
    is_refused: bool,
    request_over: bool,
    response_over: bool,
    /// The client closed its side of the connection.
    has_client_ended: bool,
    /// The endpoint that this exchange announced.
    endpoint: Option<Endpoint>,
    /// The injection queue of each direction whose body is a stream of messages.
    injection_queues: [Option<Arc<InjectionQueue>>; 2],
}

impl Exchanges {
    /// Shares `numbers` with others that record into the same reel, as the server with this name. The first stream's
    /// number is allocated now, so that servers are numbered in the order of their setup.
    pub(crate) fn beside(self, numbers: &Arc<Numbers>, server: &str) -> Self {
        let first = AtomicU32::new(numbers.stream());
        Self { numbers: Arc::clone(numbers), server: Some(server.to_owned()), first, ..self }
    }

    /// Records traffic to and from the endpoint at `url`. `complain` is called when mcpreel itself answers a request.
    pub(crate) fn new(queue: Arc<Queue>, url: &str, complain: impl Fn(&str) + Send + Sync + 'static) -> Self {
        let url = url::Url::parse(url).ok();
        let path = url.as_ref().map_or("", url::Url::path);
        Self {
            queue,
            numbers: Arc::default(),
            server: None,
            first: AtomicU32::new(0),
            path: without_slash(path).to_owned(),
            origin: url.as_ref().map(url::Url::origin),
            answers: Arc::default(),
            complain: Box::new(complain),
            state: Mutex::default(),
        }
    }

    /// The injected requests that wait for their answers.
    pub(crate) fn answers(&self) -> &Arc<Answers> {
        &self.answers
    }

    fn record_injected(&self, stream: u32, direction: Direction, framing: Framing, payload: &[u8]) {
        let flags = Flags::toward(direction).with(Flags::INJECTED);
        self.queue.push_ready(Ready { kind: EventKind::Message, stream, exchange: 0, flags, framing }, payload);
    }

    /// Ends recording and closes everything that is open.
    pub(crate) fn finish(&self) {
        let mut state = self.state.lock();
        for (number, mut exchange) in std::mem::take(&mut state.open) {
            self.end_body(&mut exchange, number, Direction::ClientToServer);
            self.end_body(&mut exchange, number, Direction::ServerToClient);
            if exchange.has_client_ended && !exchange.response_over {
                self.note_break(&exchange, number, Direction::ServerToClient, "", true);
            }
        }
        std::mem::take(&mut state.sessions)
            .streams()
            .into_iter()
            .for_each(|stream| self.close(stream, "the tap ended"));
    }

    fn close(&self, stream: u32, by: &str) {
        self.queue.note(Ready::about(EventKind::StreamClosed, stream), &Closed::by(by));
    }

    fn open_stream(&self, client: Option<SocketAddr>) -> u32 {
        let stream = match self.first.swap(0, Ordering::Relaxed) {
            0 => self.numbers.stream(),
            first => first,
        };
        let client = client.map(|client| client.to_string());
        let about = Opened { server: self.server.clone(), client, ..Opened::over("http") };
        self.queue.note(Ready::about(EventKind::StreamOpened, stream), &about);
        stream
    }

    fn begin_request(&self, connection: ClientConnection, head: &request::Parts) -> u32 {
        let mut state = self.state.lock();
        let number = self.numbers.exchange();
        let session = text(head.headers.get(SESSION));
        let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
        let State { open, sessions, recorded, space } = &mut *state;
        let posted_to = sessions.endpoints.get(target).copied();
        let known = session.as_ref().and_then(|session| sessions.ids.get(session).copied()).or(posted_to);
        let is_mcp = posted_to.is_some() || session.is_some() || self.is_endpoint(head.uri.path());
        let stream = match (known, &session) {
            (Some(stream), _) => stream,
            (None, Some(session)) => {
                let stream = self.open_stream(connection.address);
                sessions.remember(session, stream);
                stream
            }
            (None, None) => {
                *sessions.connections.entry(connection.number).or_insert_with(|| self.open_stream(connection.address))
            }
        };
        space.clear();
        heads::push_request(space, recorded, head, target);
        self.push_payload(stream, number, Flags::toward(Direction::ClientToServer), space);
        // An announced endpoint is resolved against the headers of the GET request that opened its stream.
        let has_known_headers = head.method == Method::POST && sessions.keeps_headers(stream, &head.headers);
        let CodedBody { reading: request, decoder, .. } = CodedBody::of(&head.headers, is_mcp, None);
        open.insert(
            number,
            Box::new(Exchange {
                stream,
                method: head.method.clone(),
                target: target.to_owned(),
                headers: if has_known_headers { HeaderMap::new() } else { head.headers.clone() },
                session,
                is_mcp,
                request,
                response: Reading::opaque(false),
                decoders: [decoder, None],
                coding: None,
                is_answered: false,
                is_refused: false,
                request_over: false,
                response_over: false,
                has_client_ended: false,
                endpoint: None,
                injection_queues: [None, None],
            }),
        );
        number
    }

    fn begin_response(&self, number: u32, head: &response::Parts) {
        let mut state = self.state.lock();
        let State { open, sessions, recorded, space } = &mut *state;
        let Some(exchange) = open.get_mut(&number) else { return };
        space.clear();
        heads::push_response(space, recorded, head);
        let failed = if head.status.as_u16() >= 400 { Flags::FAILED } else { Flags::default() };
        self.push_payload(exchange.stream, number, Flags::SERVER_TO_CLIENT.with(failed), space);
        exchange.is_answered = true;
        exchange.is_refused = head.status.is_client_error() || head.status.is_server_error();
        if let Some(session) = text(head.headers.get(SESSION))
            && !sessions.ids.contains_key(&session)
        {
            // The session now has an id. Later requests on this connection without an id belong to another session.
            sessions.connections.retain(|_, stream| *stream != exchange.stream);
            sessions.remember(&session, exchange.stream);
            exchange.session = Some(session);
        }
        let speaks = matches!(exchange.method, Method::GET | Method::POST) && exchange.is_mcp;
        let is_known = exchange.session.as_ref().is_none_or(|session| sessions.ids.contains_key(session));
        if speaks && is_known && head.status.is_success() && !exchange.headers.is_empty() {
            sessions.keep_headers(exchange.stream, &exchange.headers);
        }
        if exchange.method == Method::POST {
            exchange.headers = HeaderMap::new();
        }
        if exchange.method == Method::DELETE
            && head.status.is_success()
            && let Some(stream) = exchange.session.as_ref().and_then(|session| sessions.forget(session))
        {
            self.close(stream, "DELETE");
        }
        if head.status == StatusCode::SWITCHING_PROTOCOLS {
            exchange.request = Reading::frames(Role::Server);
            exchange.response = Reading::frames(Role::Client);
            exchange.request_over = false;
        } else {
            let body = CodedBody::of(&head.headers, exchange.is_mcp, Some(""));
            exchange.decoders[Direction::ServerToClient as usize] = body.decoder;
            exchange.response = body.reading;
            exchange.coding = body.coding;
        }
    }

    fn push(&self, number: u32, direction: Direction, bytes: &[u8]) {
        let mut state = self.state.lock();
        let State { open, sessions, .. } = &mut *state;
        let Some(exchange) = open.get_mut(&number) else { return };
        let (stream, mut endpoint) = (exchange.stream, None);
        let is_coded = exchange.decoders[direction as usize].is_some();
        for piece in bytes.chunks(if is_coded { MAX_DECODED_AT_ONCE } else { bytes.len().max(1) }) {
            let decoded = match &mut exchange.decoders[direction as usize] {
                Some(decoder) => match decoder.push(piece) {
                    Ok(decoded) => Some(decoded),
                    Err(error) => {
                        let reason = format!("the body cannot be decoded: {error}");
                        let reported = TransportEvent::BrokenOff { reason };
                        self.transport(stream, number, Flags::toward(direction).with(Flags::FAILED), &reported);
                        exchange.decoders[direction as usize] = None;
                        // What was decoded before stays a message, unfinished as it is; the rest is kept as bytes.
                        exchange.reading(direction).finish(|piece| {
                            self.record(stream, number, direction, piece);
                        });
                        *exchange.reading(direction) = Reading::opaque(exchange.is_mcp);
                        None
                    }
                },
                None => None,
            };
            let reading = exchange.reading(direction);
            reading.push(decoded.as_deref().unwrap_or(piece), |piece| {
                endpoint = self.record(stream, number, direction, piece).or(endpoint.take());
            });
        }
        if let Some(endpoint) = endpoint {
            // As with a session id: the endpoint now identifies the requests of this stream.
            sessions.connections.retain(|_, of| *of != stream);
            let endpoint = self.resolve(exchange, &endpoint);
            if endpoint.leads_past {
                self.report_bypass(stream);
            }
            sessions.endpoints.insert(endpoint.target.clone(), stream);
            exchange.endpoint = Some(endpoint);
        }
        if exchange.reading(direction).held() > LONG
            && state.held() > MAX_HELD
            && let Some(exchange) = state.open.get_mut(&number)
        {
            exchange.reading(direction).let_go(|piece| drop(self.record(stream, number, direction, piece)));
        }
    }

    fn end(&self, number: u32, direction: Direction, reason: Option<&str>, is_client_gone: bool) {
        let mut state = self.state.lock();
        let Some(exchange) = state.open.get_mut(&number) else { return };
        self.end_body(exchange, number, direction);
        let decoder = exchange.decoders[direction as usize].take();
        if let Some(Err(cut)) = decoder.filter(|_| reason.is_none()).map(|mut decoder| decoder.finish()) {
            let reported = TransportEvent::CutShort { reason: cut.to_string() };
            self.transport(exchange.stream, number, Flags::toward(direction), &reported);
        }
        if let Some(reason) = reason {
            self.note_break(exchange, number, direction, reason, is_client_gone);
        }
        match direction {
            Direction::ClientToServer => exchange.request_over = true,
            Direction::ServerToClient => exchange.response_over = true,
        }
        if !exchange.response_over || !exchange.request_over && reason.is_none() {
            return;
        }
        let endpoint = state.open.remove(&number).and_then(|exchange| exchange.endpoint);
        if let Some(stream) = endpoint.and_then(|endpoint| state.sessions.endpoints.remove(&endpoint.target)) {
            state.sessions.heads.remove(&stream);
            self.close(stream, "the event stream ended");
        }
    }

    /// Records that a body toward this side broke off, or that the client hung up. A server that has seen that its client
    /// closed its side hangs up in turn, so then the client was first.
    fn note_break(&self, exchange: &Exchange, number: u32, direction: Direction, reason: &str, is_client_gone: bool) {
        let has_ended = exchange.has_client_ended && direction == Direction::ServerToClient;
        let reason = match has_ended {
            true if exchange.is_answered => GONE_WITHIN_RESPONSE,
            true => GONE_BEFORE_RESPONSE,
            false => reason,
        };
        // Clients normally end such streams by closing them.
        let is_closed = exchange.is_answered && (is_client_gone || has_ended);
        let reason = reason.to_owned();
        let (reported, failed) = match is_closed {
            true => (TransportEvent::Closed { reason }, Flags::default()),
            false => (TransportEvent::BrokenOff { reason }, Flags::FAILED),
        };
        self.transport(exchange.stream, number, Flags::toward(direction).with(failed), &reported);
    }

    /// Records that mcpreel sent a request again with another token after this status, or only after it had waited for
    /// a token. The time of this event is when it did.
    fn send_late(&self, number: u32, status: Option<StatusCode>) {
        let stream = self.state.lock().open.get(&number).map(|exchange| exchange.stream);
        let Some(stream) = stream else { return };
        let reported = match status {
            Some(status) => TransportEvent::SentAgain { status: status.as_u16() },
            None => TransportEvent::SentLater,
        };
        self.transport(stream, number, Flags::toward(Direction::ClientToServer).with(Flags::INJECTED), &reported);
    }

    /// Records that mcpreel answered in place of the server.
    fn refuse(&self, number: u32, status: StatusCode, reason: &str) {
        let stream = self.state.lock().open.get(&number).map(|exchange| exchange.stream);
        let Some(stream) = stream else { return };
        self.note_refusal(Some(stream), number, status, reason);
        self.end(number, Direction::ServerToClient, None, false);
    }

    fn note_refusal(&self, stream: Option<u32>, number: u32, status: StatusCode, reason: &str) {
        let status = status.as_u16();
        if let Some(stream) = stream {
            let reported = TransportEvent::Refused { status, reason: reason.to_owned() };
            self.transport(stream, number, Flags::SERVER_TO_CLIENT.with(Flags::FAILED), &reported);
        }
        (self.complain)(&format!("mcpreel answered a request with {status}: {reason}"));
    }

    /// Records that a message's framing went on in another form than it came.
    fn note_repair(&self, number: u32, direction: Direction, reason: &str) {
        let stream = self.state.lock().open.get(&number).map(|exchange| exchange.stream);
        let Some(stream) = stream else { return };
        self.transport(
            stream,
            number,
            Flags::toward(direction),
            &TransportEvent::Repaired { reason: reason.to_owned() },
        );
    }

    /// Records what came with a body or before a response: headers, and whether they went on.
    fn note_headers(
        &self,
        number: u32,
        direction: Direction,
        headers: &HeaderMap,
        status: Option<StatusCode>,
        goes_on: bool,
    ) {
        let mut state = self.state.lock();
        let Some(exchange) = state.open.get_mut(&number) else { return };
        if status.is_none() {
            self.end_body(exchange, number, direction);
        }
        let pair = |(name, value): (&HeaderName, &HeaderValue)| {
            let text = String::from_utf8_lossy(value.as_bytes());
            (name.to_string(), crate::redact::redact_header(name.as_str(), &text).into())
        };
        let (headers, kept) = (headers.iter().map(pair).collect(), !goes_on);
        let reported = match status.map(|status| status.as_u16()) {
            Some(status) => TransportEvent::Informational { status, headers, kept },
            None => TransportEvent::Trailers { headers, kept },
        };
        self.transport(exchange.stream, number, Flags::toward(direction), &reported);
    }

    /// Records that mcpreel answered what is no request; where there is no stream for it, only the user learns of it.
    fn refuse_unread(&self, connection: Option<u32>, status: StatusCode, reason: &str) {
        let stream = connection.and_then(|number| self.state.lock().sessions.connections.get(&number).copied());
        self.note_refusal(stream, 0, status, reason);
    }

    fn end_body(&self, exchange: &mut Exchange, number: u32, direction: Direction) {
        let stream = exchange.stream;
        if exchange.is_refused && direction == Direction::ServerToClient {
            exchange.response.read_as_refusal();
        }
        exchange.reading(direction).finish(|piece| {
            self.record(stream, number, direction, piece);
        });
    }

    /// Records a piece of a body. Returns the endpoint if the piece announces one (HTTP+SSE).
    fn record(&self, stream: u32, exchange: u32, direction: Direction, piece: BodyPiece<'_>) -> Option<String> {
        let message = |framing: Framing, payload: Cow<'_, [u8]>| {
            let mut flags = Flags::toward(direction);
            if is_ours(framing.body(&payload)) {
                flags = flags.with(Flags::INJECTED);
            }
            self.queue.push_ready(Ready { kind: EventKind::Message, stream, exchange, flags, framing }, payload);
        };
        let reported = match piece {
            BodyPiece::Whole(bytes) => {
                message(Framing::Whole, bytes);
                return None;
            }
            BodyPiece::Fragment(bytes) => {
                message(Framing::Fragment, bytes.into());
                return None;
            }
            BodyPiece::Event(block) => {
                message(Framing::Sse, block);
                return None;
            }
            BodyPiece::Block { block, ref joined } => {
                TransportEvent::Sse { block: lossy_text(block), joined: joined.is_some() }
            }
            BodyPiece::Frame(frame, bytes) => frame.reported(lossy_text(bytes)),
            BodyPiece::Other(bytes, kept) => TransportEvent::Body { bytes, text: lossy_text(kept) },
        };
        self.transport(stream, exchange, Flags::toward(direction), &reported);
        let BodyPiece::Block { block, joined } = piece else { return None };
        if let Some(joined) = joined {
            message(Framing::Whole, joined.into());
            return None;
        }
        let event = SseEvent::parse(block);
        let endpoint = event.data.filter(|_| event.event.as_deref() == Some("endpoint"))?;
        Some(String::from_utf8_lossy(&endpoint).into_owned())
    }

    fn transport(&self, stream: u32, exchange: u32, flags: Flags, reported: &TransportEvent) {
        self.push_payload(stream, exchange, flags, &payload(reported));
    }

    /// Records an event that is no message, by its CBOR.
    fn push_payload(&self, stream: u32, exchange: u32, flags: Flags, payload: &[u8]) {
        let (kind, framing) = (EventKind::Transport, Framing::Whole);
        self.queue.push_ready(Ready { kind, stream, exchange, flags, framing }, payload);
    }

    fn is_endpoint(&self, path: &str) -> bool {
        without_slash(path) == self.path || self.path.is_empty() && !path.starts_with("/.well-known/")
    }
}

impl Exchange {
    fn reading(&mut self, direction: Direction) -> &mut Reading {
        match direction {
            Direction::ClientToServer => &mut self.request,
            Direction::ServerToClient => &mut self.response,
        }
    }
}

impl ExchangeObserver for Exchanges {
    fn begin(&self, connection: ClientConnection, head: &request::Parts) -> u32 {
        self.begin_request(connection, head)
    }

    fn see(&self, exchange: u32, seen: ExchangeEvent<'_>) {
        use Direction::{ClientToServer, ServerToClient};
        match seen {
            ExchangeEvent::RequestBody(bytes) => self.push(exchange, ClientToServer, bytes),
            ExchangeEvent::RequestEnd(reason) => self.end(exchange, ClientToServer, reason, false),
            ExchangeEvent::Response(head) => self.begin_response(exchange, head),
            ExchangeEvent::SentAgain(status) => self.send_late(exchange, Some(status)),
            ExchangeEvent::SentLater => self.send_late(exchange, None),
            ExchangeEvent::ResponseBody(bytes) => self.push(exchange, ServerToClient, bytes),
            ExchangeEvent::ResponseEnd(reason) => self.end(exchange, ServerToClient, reason, false),
            ExchangeEvent::ClientGone(reason) => self.end(exchange, ServerToClient, Some(reason), true),
            ExchangeEvent::Refused(status, reason) => self.refuse(exchange, status, reason),
            ExchangeEvent::Repaired(direction, reason) => self.note_repair(exchange, direction, reason),
            ExchangeEvent::Informational(status, headers, goes_on) => {
                self.note_headers(exchange, ServerToClient, headers, Some(status), goes_on);
            }
            ExchangeEvent::Trailers(direction, trailers, goes_on) => {
                self.note_headers(exchange, direction, trailers, None, goes_on);
            }
        }
    }

    fn refused_unread(&self, connection: Option<u32>, status: StatusCode, reason: &str) {
        self.refuse_unread(connection, status, reason);
    }

    fn client_ended(&self, exchange: u32) {
        if let Some(exchange) = self.state.lock().open.get_mut(&exchange) {
            exchange.has_client_ended = true;
        }
    }

    fn client_closed(&self, connection: u32) {
        let sessions = &mut self.state.lock().sessions;
        if let Some(stream) = sessions.connections.remove(&connection) {
            sessions.heads.remove(&stream);
            self.close(stream, "the client hung up");
        }
    }

    fn sifts(&self) -> bool {
        self.answers.awaits(Direction::ClientToServer)
    }

    fn filter(&self, exchange: u32, body: Bytes) -> Option<Bytes> {
        let stream = self.state.lock().open.get(&exchange).map_or(0, |exchange| exchange.stream);
        self.answers.keep(stream, Direction::ClientToServer, body.to_vec()).map(Bytes::from)
    }

    fn body_filter(&self, number: u32, direction: Direction) -> Option<Box<dyn BodyFilter>> {
        let mut state = self.state.lock();
        let exchange = state.open.get_mut(&number)?;
        let cut = match exchange.reading(direction) {
            Reading::Events(_) => MessageSplitter::Events(Events::default()),
            Reading::Frames(..) => MessageSplitter::Frames(Frames::new(direction == Direction::ClientToServer)),
            Reading::Json(..) | Reading::Other { .. } | Reading::Over => return None,
        };
        if exchange.coding.is_some() {
            return None;
        }
        let injection_queue = Arc::new(InjectionQueue::default());
        exchange.injection_queues[direction as usize] = Some(Arc::clone(&injection_queue));
        let (answers, queue) = (Arc::clone(&self.answers), Arc::clone(&self.queue));
        Some(Box::new(TapBodyFilter { cut, injection_queue, answers, queue, stream: exchange.stream, direction }))
    }
}

/// Removes a trailing slash, which some servers add by redirecting.
fn without_slash(path: &str) -> &str {
    path.strip_suffix('/').unwrap_or(path)
}

/// How a body is read, by its head.
struct CodedBody {
    reading: Reading,
    decoder: Option<Decoder>,
    /// The names of the codings, if there are any.
    coding: Option<String>,
}

impl CodedBody {
    /// `kind` is the content type of a head that states none. A body whose coding mcpreel does not know is kept as bytes.
    fn of(headers: &HeaderMap, is_mcp: bool, kind: Option<&'static str>) -> Self {
        let coding = Some(coding::stated(headers)).filter(|coding| !coding.is_empty());
        let kind = lossy(headers.get(header::CONTENT_TYPE)).or(kind.map(Cow::Borrowed));
        match Decoder::of(coding.as_deref().unwrap_or_default()) {
            Ok(decoder) => Self { reading: Reading::of(kind.as_deref(), is_mcp, length(headers)), decoder, coding },
            Err(_) => Self { reading: Reading::opaque(is_mcp), decoder: None, coding },
        }
    }
}

/// The value of `Content-Length`.
fn length(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn lossy_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn text(value: Option<&HeaderValue>) -> Option<String> {
    lossy(value).map(Cow::into_owned)
}

fn lossy(value: Option<&HeaderValue>) -> Option<Cow<'_, str>> {
    value.map(|value| String::from_utf8_lossy(value.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::sessions::{MAX_KEPT_HEADERS, MAX_SESSIONS};
    use super::*;
    use crate::clock::{Clock, Reading};

    #[test]
    fn sessions_that_ended_push_out_none_that_lives() {
        let queue = Queue::new(1 << 20, crate::record::queue::OnOverload::Drop, Clock::start(), Reading::default());
        let exchanges = Exchanges::new(Arc::new(queue), "http://server/mcp", |_| {});
        let exchange = |session: &str, method: Method| {
            let request = hyper::Request::builder().method(method).uri("/mcp").header(SESSION, session);
            let (request, ()) = request.body(()).expect("a request").into_parts();
            let number = exchanges.begin(ClientConnection { number: 1, address: None }, &request);
            let stream = exchanges.state.lock().open[&number].stream;
            exchanges.see(number, ExchangeEvent::RequestEnd(None));
            let (response, ()) = hyper::Response::new(()).into_parts();
            exchanges.see(number, ExchangeEvent::Response(&response));
            exchanges.see(number, ExchangeEvent::ResponseEnd(None));
            stream
        };
        let first = exchange("lives", Method::POST);
        for number in 0..=MAX_SESSIONS {
            exchange(&number.to_string(), Method::POST);
            exchange(&number.to_string(), Method::DELETE);
        }
        assert_eq!(exchange("lives", Method::POST), first);
        assert_eq!(exchanges.sessions(), [first]);
        // The number of sessions that are never ended is bounded.
        for number in 0..=MAX_SESSIONS {
            exchange(&number.to_string(), Method::POST);
        }
        assert_eq!(exchanges.state.lock().sessions.ids.len(), MAX_SESSIONS);
        assert_eq!(exchanges.sessions().len(), MAX_KEPT_HEADERS);
        assert!(exchanges.state.lock().open.is_empty());
    }
}
