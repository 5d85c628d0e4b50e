//! MCP over HTTP: the heads of requests and responses, sessions, and streams of events.
//!
//! One exchange is a request with its response. Rules about the client's part are in [`requests`], about the server's
//! in [`responses`], about sessions in [`sessions`], and about ids of events and their streams in [`streams`].

pub(super) mod head;
mod requests;
mod responses;
mod sessions;
mod streams;

#[cfg(test)]
pub(super) mod cases;

use super::classify::HttpPart;
use super::subject::Message;
use crate::proposals::recent::Recent;
use crate::proposals::{Findings, Rule};
use crate::protocol::http::ToolMarks;
use crate::protocol::{Era, Revision};
use crate::trace::{Event, EventHeader};
use crate::wire::{Direction, IdKey};
use head::{RequestHead, ResponseHead};
use sessions::Sessions;
pub(super) use sessions::SharedHttp;
use streams::Streams;

/// The number of exchanges of a connection that are remembered.
const EXCHANGES: usize = 256;

/// Returns all rules about HTTP.
pub(super) fn rules() -> impl Iterator<Item = &'static Rule> {
    [requests::RULES, responses::RULES, sessions::RULES, streams::RULES].into_iter().flatten()
}

/// The exchanges of one connection.
#[derive(Debug)]
pub(super) struct Http {
    exchanges: Recent<u32, Exchange>,
    /// The exchange of the current message, or 0.
    current: u32,
    /// The connection uses HTTP+SSE of 2024-11-05, which has none of these rules.
    is_old_transport: bool,
    has_exchanges: bool,
    sessions: Sessions,
    streams: Streams,
    /// The arguments that headers must repeat, by tool.
    marks: ToolMarks,
}

/// An HTTP request with its response.
#[derive(Debug)]
struct Exchange {
    request: Box<RequestHead>,
    response: Option<ResponseHead>,
    /// What its body asks for; `None` before the body.
    asks: Option<Asks>,
    /// The era of the message in its body.
    era: Era,
    /// The revision of the session, if it is known.
    revision: Option<Revision>,
    /// A header contradicts the body, so that the server must refuse it.
    contradicts: bool,
    /// The response to its request was sent.
    answered: bool,
}

/// What the body of a request asks for.
#[derive(Clone, Debug, PartialEq)]
enum Asks {
    /// One request, with this id.
    Request(IdKey),
    /// Several messages, of which at least one is a request.
    Requests,
    /// Nothing: notifications or responses.
    Nothing,
}

impl Default for Http {
    fn default() -> Self {
        Self {
            exchanges: Recent::new(EXCHANGES),
            current: 0,
            is_old_transport: false,
            has_exchanges: false,
            sessions: Sessions::default(),
            streams: Streams::default(),
            marks: ToolMarks::default(),
        }
    }
}

impl Http {
    /// Sets the exchange that carries the current message.
    pub(super) fn carry(&mut self, header: &EventHeader) {
        self.current = header.exchange;
    }

    /// Returns whether the head of the current message's request names a revision of the modern era.
    pub(super) fn names_modern(&self) -> bool {
        self.exchanges.get(&self.current).is_some_and(|exchange| exchange.request.names_modern())
    }

    /// Returns whether the current message came over HTTP and its head names no session.
    pub(super) fn names_no_session(&self) -> bool {
        self.exchanges.get(&self.current).is_some_and(|exchange| exchange.request.session.is_none())
    }

    /// Notes that traffic is missing, which may have had events with ids.
    pub(super) fn lose_track(&mut self) {
        self.streams.lose_track();
    }

    /// Returns the state with which the next session of the same connection begins.
    pub(super) fn next_session(&mut self) -> Self {
        let Self { exchanges, current, has_exchanges, .. } = std::mem::take(self);
        Self { exchanges, current, has_exchanges, ..Self::default() }
    }

    /// Returns whether the rules of Streamable HTTP are about this connection.
    pub(super) fn is_streamable(&self) -> bool {
        self.has_exchanges && !self.is_old_transport
    }

    /// Processes a part of an exchange that is not a message.
    pub(super) fn part(
        &mut self,
        header: &EventHeader,
        part: HttpPart,
        shared: &mut SharedHttp,
        findings: &mut Findings,
    ) {
        let (seq, number) = (header.seq, header.exchange);
        self.has_exchanges = true;
        self.is_old_transport |= shared.is_old_transport(header.stream);
        match part {
            HttpPart::Event { is_endpoint: true, .. } => self.is_old_transport = true,
            _ if self.is_old_transport => {}
            HttpPart::Request(head) => self.begin(header, head, findings),
            HttpPart::Response(head) => self.answer(seq, number, head, shared, findings),
            HttpPart::Event { id, retry, .. } => self.event(header, id.as_deref(), retry, findings),
            HttpPart::Body(bytes) => self.body(seq, number, bytes, findings),
            HttpPart::Failed => {}
        }
    }

    fn begin(&mut self, header: &EventHeader, head: Box<RequestHead>, findings: &mut Findings) {
        let (seq, number) = (header.seq, header.exchange);
        let revision = self.sessions.revision();
        if head.method != "POST" {
            requests::check_without_body(seq, &head, revision, findings);
            self.sessions.check_named(seq, &head, findings);
            self.streams.check_resumption(header, &head, findings);
        }
        let exchange = Exchange {
            request: head,
            response: None,
            asks: None,
            era: Era::Legacy,
            revision,
            contradicts: false,
            answered: false,
        };
        self.exchanges.insert(number, exchange);
    }

    fn answer(&mut self, seq: u64, number: u32, head: ResponseHead, shared: &mut SharedHttp, findings: &mut Findings) {
        let Some(exchange) = self.exchanges.get_mut(&number) else { return };
        responses::check_head(seq, exchange, &head, findings);
        self.sessions.check_answer(seq, exchange, &head, shared, findings);
        exchange.response = Some(head);
    }

    fn event(&mut self, header: &EventHeader, id: Option<&str>, retry: Option<u64>, findings: &mut Findings) {
        if self.exchanges.contains(&header.exchange) {
            self.streams.check_event(header, id, retry, findings);
        }
    }

    fn body(&mut self, seq: u64, number: u32, bytes: u64, findings: &mut Findings) {
        if let Some(exchange) = self.exchanges.get(&number) {
            responses::check_body(seq, exchange, bytes > 0, findings);
        }
    }

    /// Processes a message of the current exchange.
    pub(super) fn message(
        &mut self,
        message: &Message<'_>,
        event: &Event<'_>,
        shared: &mut SharedHttp,
        findings: &mut Findings,
    ) {
        self.has_exchanges = true;
        if self.is_old_transport {
            return;
        }
        match message.observed.direction {
            Direction::ClientToServer => self.sent(message, shared, findings),
            Direction::ServerToClient => self.received(message, event, shared, findings),
        }
    }

    fn sent(&mut self, message: &Message<'_>, shared: &mut SharedHttp, findings: &mut Findings) {
        let Some(exchange) = self.exchanges.get_mut(&self.current) else { return };
        exchange.take_request(message);
        if message.is_modern() {
            requests::check_modern(message, exchange, &self.marks, findings);
        } else {
            requests::check_legacy(message, exchange, findings);
            self.sessions.check_sent(message, &exchange.request, shared, findings);
        }
    }

    fn received(&mut self, message: &Message<'_>, event: &Event<'_>, shared: &mut SharedHttp, findings: &mut Findings) {
        self.sessions.note_result(message, self.exchanges.get(&self.current), shared, findings);
        if message.result_of() == "tools/list" {
            self.marks.learn_from(message.content());
        }
        self.streams.check_message(message, event, self.exchanges.get(&self.current), findings);
        if let Some(exchange) = self.exchanges.get_mut(&self.current) {
            responses::check_message(message, exchange, findings);
            exchange.answered |= message.observed.envelope.kind.is_response();
        }
    }
}

impl Exchange {
    /// Notes a message in the body of the request.
    fn take_request(&mut self, message: &Message<'_>) {
        self.era = message.era;
        self.revision = message.revision();
        let id = message.observed.envelope.id.filter(|_| message.is_request());
        self.asks = Some(match (self.asks.take(), id) {
            (None, Some(id)) => Asks::Request(id.key()),
            (None | Some(Asks::Nothing), None) => Asks::Nothing,
            _ => Asks::Requests,
        });
    }

    fn is_modern(&self) -> bool {
        self.era == Era::Modern
    }
}
