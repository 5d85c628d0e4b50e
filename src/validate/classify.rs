//! Decides once what an event is: a message, a head of HTTP, a gap, and so on. Everything else receives the decision.

use super::http::head::{RequestHead, ResponseHead};
use super::parse::{Parsed, Space, Unparsed, parse};
use crate::trace::{Closed, Event, EventKind, Flags, Note, Opened, TransportEvent};
use crate::wire::sse::SseEvent;
use crate::wire::{Direction, Envelope, Framing, MessageKind};

/// What an event is.
pub(super) enum Classified<'a> {
    /// A text that should be a message.
    Text(Text<'a>),
    /// An array of messages: its text. They are read one after the other, since there may be many.
    Batch(&'a [u8]),
    /// A part of a message. The rest is not in the reel.
    Part,
    /// A stream began.
    Opened {
        /// Clients reach the server through a listener.
        behind_listener: bool,
        /// It carries a part of a session of another stream.
        joined: bool,
    },
    /// A stream ended.
    Closed(ServerEnd),
    /// Traffic is missing here.
    Gap,
    /// The reel continues another one.
    Continues,
    /// A note, which may mark a turn.
    Note,
    /// Something of an HTTP exchange that is not a message.
    Http(HttpPart),
    /// Nothing that is checked.
    Other,
}

/// How the server's process ended, as far as that is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServerEnd {
    /// Its exit code.
    pub code: Option<i64>,
    /// The signal that ended it.
    pub signal: Option<i64>,
    /// It ended by itself, and with an error.
    pub has_failed: bool,
}

/// A text with its envelope.
pub(super) struct Text<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Its envelope, whatever the text is.
    pub envelope: Envelope<'a>,
    /// Its value, if it is JSON.
    pub parsed: Result<Parsed<'a>, Unparsed>,
}

/// A part of an HTTP exchange that is not a message.
pub(super) enum HttpPart {
    /// The head of the request.
    Request(Box<RequestHead>),
    /// The head of the response.
    Response(ResponseHead),
    /// An event of the stream that carries no message: an id, `retry`, or the endpoint of HTTP+SSE.
    Event {
        /// The event's id.
        id: Option<String>,
        /// Its `retry`, in milliseconds.
        retry: Option<u64>,
        /// It announces where to send messages (2024-11-05).
        is_endpoint: bool,
    },
    /// A body of this many bytes that is not a message.
    Body(u64),
    /// The exchange broke off or was refused: its request gets no response.
    Failed,
}

/// Decides what an event is.
pub(super) fn classify<'a>(event: &Event<'a>, space: &mut Space) -> Classified<'a> {
    match event.header.kind {
        EventKind::Message => message(event, space),
        EventKind::StreamOpened => opened(event.payload),
        EventKind::StreamClosed => closed(event),
        EventKind::Gap => Classified::Gap,
        EventKind::Note if continues_another(event.payload) => Classified::Continues,
        EventKind::Note => Classified::Note,
        EventKind::Transport if event.header.exchange != 0 => http(event).map_or(Classified::Other, Classified::Http),
        _ => Classified::Other,
    }
}

fn message<'a>(event: &Event<'a>, space: &mut Space) -> Classified<'a> {
    if event.header.framing == Framing::Fragment || event.header.flags.has(Flags::TRUNCATED) {
        return Classified::Part;
    }
    match event.body() {
        body if body.trim_ascii_start().starts_with(b"[") && Envelope::scan(body).kind == MessageKind::Batch => {
            Classified::Batch(body)
        }
        body => Classified::Text(Text::of(body, space)),
    }
}

impl<'a> Text<'a> {
    pub(super) fn of(bytes: &'a [u8], space: &mut Space) -> Self {
        let parsed = parse(bytes, space);
        let envelope = match &parsed {
            Ok(parsed) if parsed.value.is_object() => Envelope::of_members(parsed.members.iter().copied()),
            _ => Envelope::scan(bytes),
        };
        Self { bytes, envelope, parsed }
    }
}

fn closed<'a>(event: &Event<'_>) -> Classified<'a> {
    let Closed { exit_code: code, signal, .. } = Closed::read(event.payload);
    Classified::Closed(ServerEnd { code, signal, has_failed: event.header.flags.has(Flags::FAILED) })
}

fn opened<'a>(payload: &[u8]) -> Classified<'a> {
    let opened = Opened::read(payload);
    Classified::Opened { behind_listener: opened.is_behind_listener(), joined: opened.is_joined() }
}

/// Returns whether a note says that the reel continues another one.
fn continues_another(note: &[u8]) -> bool {
    Note::read(note).continues.is_some()
}

fn http(event: &Event<'_>) -> Option<HttpPart> {
    let failed = event.header.flags.has(Flags::FAILED);
    let asks = event.header.direction() == Direction::ClientToServer;
    Some(match TransportEvent::read(event.payload) {
        TransportEvent::Request { method, headers, .. } if asks => {
            HttpPart::Request(Box::new(RequestHead::read(&method, headers)))
        }
        TransportEvent::Response { status, headers } if !asks => {
            HttpPart::Response(ResponseHead::read(status, &headers))
        }
        TransportEvent::Sse { block, .. } => {
            let block = SseEvent::parse(block.as_bytes());
            HttpPart::Event {
                id: block.id.map(|id| id.into_owned()).filter(|id| !id.is_empty()),
                retry: block.retry,
                is_endpoint: block.event.as_deref() == Some("endpoint"),
            }
        }
        TransportEvent::Body { bytes, .. } if !asks => HttpPart::Body(bytes),
        _ if failed => HttpPart::Failed,
        _ => return None,
    })
}
