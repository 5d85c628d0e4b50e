//! The content of a reel: events. A header describes an event; its payload is the bytes that crossed the wire.

use super::writer::NewEvent;
use crate::wire::{Direction, Envelope, Framing, IdKey, MessageKind, json};

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A message on a connection, or a line that is not a message.
    Message,
    /// Bytes of the server's standard error, as they were written.
    Stderr,
    /// A stream of messages began; the payload is a CBOR map that describes it.
    StreamOpened,
    /// A stream ended; the payload is a CBOR map that says how.
    StreamClosed,
    /// An event of the transport, such as an HTTP head or an SSE comment; the payload is a CBOR map.
    Transport,
    /// Traffic that is missing from the reel; the payload is a CBOR map with counts and the reason.
    Gap,
    /// A mark, such as a user's note, a turn or a finding; the payload is a CBOR map.
    Note,
    /// A kind that this version does not know, with its number.
    Unknown(u8),
}

impl EventKind {
    const KNOWN: [(Self, u8, &'static str); 7] = [
        (Self::Message, 0, "message"),
        (Self::Stderr, 1, "stderr"),
        (Self::StreamOpened, 2, "stream-opened"),
        (Self::StreamClosed, 3, "stream-closed"),
        (Self::Transport, 4, "transport"),
        (Self::Gap, 5, "gap"),
        (Self::Note, 6, "note"),
    ];

    /// Returns the number in a reel.
    pub fn number(self) -> u8 {
        match self {
            Self::Unknown(number) => number,
            known => Self::KNOWN.iter().find(|entry| entry.0 == known).map_or(u8::MAX, |entry| entry.1),
        }
    }

    /// Returns the kind with this number; an unknown number is kept.
    pub fn from_number(number: u8) -> Self {
        Self::KNOWN.iter().find(|entry| entry.1 == number).map_or(Self::Unknown(number), |entry| entry.0)
    }

    /// Returns the name used in JSON lines; `unknown-N` for an unknown number.
    pub fn name(self) -> String {
        match Self::KNOWN.iter().find(|entry| entry.0 == self) {
            Some(entry) => entry.2.to_owned(),
            None => format!("unknown-{}", self.number()),
        }
    }

    /// Parses the name used in JSON lines.
    pub fn from_name(name: &str) -> Option<Self> {
        match Self::KNOWN.iter().find(|entry| entry.2 == name) {
            Some(entry) => Some(entry.0),
            None => name.strip_prefix("unknown-")?.parse().ok().map(Self::from_number),
        }
    }
}

/// Marks of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u16);

impl Flags {
    /// The event was sent by the server; otherwise, by the client.
    pub const SERVER_TO_CLIENT: Self = Self(1);
    /// mcpreel injected the message.
    pub const INJECTED: Self = Self(2);
    /// Secrets were removed from the payload.
    pub const REDACTED: Self = Self(4);
    /// The payload was shortened to a limit.
    pub const TRUNCATED: Self = Self(8);
    /// A result with `"isError": true`.
    pub const TOOL_ERROR: Self = Self(16);
    /// The envelope has faults; scanning the payload shows which ones.
    pub const FAULTY: Self = Self(32);

    /// A transport event that is a failure: a response with a status of 400 or more, or an interrupted exchange; or the
    /// end of a server that ended by itself with an error.
    pub const FAILED: Self = Self(64);

    /// All flags that have a name in JSON lines. The others are derived, and not written there.
    pub const NAMED: [(Self, &'static str); 4] = [
        (Self::INJECTED, "injected"),
        (Self::REDACTED, "redacted"),
        (Self::TRUNCATED, "truncated"),
        (Self::FAILED, "failed"),
    ];

    /// Returns the names of those that are set and have one.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMED.into_iter().filter(move |(flag, _)| self.has(*flag)).map(|(_, name)| name)
    }

    /// Returns whether all flags of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns these flags and those of `other`.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns these flags without those of `other`.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns the direction according to the flags.
    pub fn direction(self) -> Direction {
        if self.has(Self::SERVER_TO_CLIENT) { Direction::ServerToClient } else { Direction::ClientToServer }
    }

    /// Returns the flags for a direction.
    pub fn toward(direction: Direction) -> Self {
        match direction {
            Direction::ClientToServer => Self(0),
            Direction::ServerToClient => Self::SERVER_TO_CLIENT,
        }
    }
}

/// A request id in an event header.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RecordedId {
    /// An integer of 64 bits in plain decimal form.
    Integer(i64),
    /// The JSON text of the id.
    Text(Box<[u8]>),
}

impl RecordedId {
    /// Returns the id by type and value.
    pub fn key(&self) -> IdKey {
        match self {
            Self::Integer(number) => IdKey::Integer(*number),
            Self::Text(text) => crate::wire::Id(text).key(),
        }
    }
}

/// The part of an event header that only messages have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageHeader {
    /// The kind of the message.
    pub kind: MessageKind,
    /// The number of its method in [`ReelReader::methods`](crate::trace::ReelReader::methods).
    pub method: Option<u32>,
    /// Its id.
    pub id: Option<RecordedId>,
}

/// Everything about an event except its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventHeader {
    /// The number of the event in the reel, from 0.
    pub seq: u64,
    /// The time in nanoseconds since the reel's clock base.
    pub time: i64,
    /// The number of the stream: one connection, or one session over HTTP.
    pub stream: u32,
    /// The number of the HTTP exchange that carried it, from 1; 0 if none did.
    pub exchange: u32,
    /// The kind of the event.
    pub kind: EventKind,
    /// Marks, including the direction.
    pub flags: Flags,
    /// How the payload was delimited in its stream.
    pub framing: Framing,
    /// The length of the payload, in bytes.
    pub len: u32,
    /// The start of the payload in its block.
    pub offset: usize,
    /// The message, if the event is one.
    pub message: Option<MessageHeader>,
}

impl EventHeader {
    /// Returns the direction of the event.
    pub fn direction(&self) -> Direction {
        self.flags.direction()
    }

    /// Returns whether the event says that mcpreel sent the request of an HTTP exchange again, or only then.
    pub fn is_sent_again(&self) -> bool {
        self.kind == EventKind::Transport && self.exchange != 0 && self.flags.has(Flags::INJECTED)
    }

    /// Returns whether the event is a batch of messages.
    pub fn is_batch(&self) -> bool {
        self.message.as_ref().is_some_and(|message| message.kind == MessageKind::Batch)
    }

    /// Returns whether only its payload says what the event means for a session: a batch, or an event of an HTTP exchange.
    pub(crate) fn is_undescribed(&self) -> bool {
        self.is_batch() || self.kind == EventKind::Transport && self.exchange != 0
    }

    /// Returns the header that a message of this batch would have by itself, but for its method: that may have no number.
    pub(crate) fn of_item(&self, item: &[u8], envelope: &Envelope<'_>) -> Self {
        let id = envelope.id.map(|id| RecordedId::Text(id.0.into()));
        Self {
            flags: if envelope.tool_error { self.flags.with(Flags::TOOL_ERROR) } else { self.flags },
            framing: Framing::Lf,
            len: u32::try_from(item.len()).unwrap_or(u32::MAX),
            message: Some(MessageHeader { kind: envelope.kind, method: None, id }),
            ..self.clone()
        }
    }

    /// Returns whether the event is a failure: a JSON-RPC error, a result with `isError`, a line that is no message, or
    /// an HTTP exchange that failed. The filter term `error` selects these, and all counts of errors count them.
    pub fn is_failure(&self) -> bool {
        let is_bad = |kind| matches!(kind, MessageKind::Error | MessageKind::Malformed | MessageKind::Noise);
        self.flags.has(Flags::TOOL_ERROR)
            || self.flags.has(Flags::FAILED)
            || self.message.as_ref().is_some_and(|message| is_bad(message.kind))
    }

    /// Returns whether the event has a direction: messages do, and so do events of an HTTP request or response.
    pub fn has_direction(&self) -> bool {
        self.kind == EventKind::Message || self.kind == EventKind::Transport && self.exchange != 0
    }
}

/// An event with its payload.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// Everything except the payload.
    pub header: &'a EventHeader,
    /// The exact bytes.
    pub payload: &'a [u8],
}

impl<'a> Event<'a> {
    /// Returns the event in the form in which it can be written to another reel.
    pub fn again(&self) -> NewEvent<'a> {
        let EventHeader { time, stream, exchange, kind, flags, framing, .. } = *self.header;
        NewEvent { time, stream, exchange, kind, flags, framing, payload: self.payload }
    }

    /// Returns whether the event is a failure (see [`EventHeader::is_failure`]), or a batch with a message that is one.
    pub fn is_failure(&self) -> bool {
        let has_failed = |item| self.header.of_item(item, &Envelope::scan(item)).is_failure();
        self.header.is_failure() || self.header.is_batch() && json::items(self.body()).any(has_failed)
    }

    /// Returns the text of the message: the payload without the header block of a `Content-Length` frame.
    pub fn body(&self) -> &'a [u8] {
        self.header.framing.body(self.payload)
    }
}
