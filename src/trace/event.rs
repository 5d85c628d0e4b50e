//! What a reel holds: events. A header says what an event is; its payload is the bytes that crossed the wire.

use super::writer::NewEvent;
use crate::wire::{Direction, Framing, IdKey, MessageKind};

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A message (or a line that is none) on a connection.
    Message,
    /// Bytes on the server's standard error, as they came.
    Stderr,
    /// A stream of messages began; the payload is a CBOR map that describes it.
    StreamOpened,
    /// A stream ended; the payload is a CBOR map that says how.
    StreamClosed,
    /// Something about the transport: an HTTP head, an SSE comment; the payload is a CBOR map.
    Transport,
    /// Traffic that was not recorded; the payload is a CBOR map with counts and the reason.
    Gap,
    /// A mark: a user's note, a turn, a finding; the payload is a CBOR map.
    Note,
    /// A kind that this version does not know, by its number.
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

    /// The number in a reel.
    pub fn number(self) -> u8 {
        match self {
            Self::Unknown(number) => number,
            known => Self::KNOWN.iter().find(|entry| entry.0 == known).map_or(u8::MAX, |entry| entry.1),
        }
    }

    /// Reads a number back; one that is not known is kept.
    pub fn from_number(number: u8) -> Self {
        Self::KNOWN.iter().find(|entry| entry.1 == number).map_or(Self::Unknown(number), |entry| entry.0)
    }

    /// The name used in JSON lines; `unknown-N` for a number that is not known.
    pub fn name(self) -> String {
        match Self::KNOWN.iter().find(|entry| entry.0 == self) {
            Some(entry) => entry.2.to_owned(),
            None => format!("unknown-{}", self.number()),
        }
    }

    /// Reads the name back.
    pub fn from_name(name: &str) -> Option<Self> {
        match Self::KNOWN.iter().find(|entry| entry.2 == name) {
            Some(entry) => Some(entry.0),
            None => name.strip_prefix("unknown-")?.parse().ok().map(Self::from_number),
        }
    }
}

/// Marks on an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u16);

impl Flags {
    /// The event went from the server to the client; without it, from the client to the server.
    pub const SERVER_TO_CLIENT: Self = Self(1);
    /// A message that mcpreel put into the session.
    pub const INJECTED: Self = Self(2);
    /// Secrets were taken out of the payload.
    pub const REDACTED: Self = Self(4);
    /// The payload was cut to a limit.
    pub const TRUNCATED: Self = Self(8);
    /// A result that says `"isError": true`.
    pub const TOOL_ERROR: Self = Self(16);
    /// The envelope has faults; scanning the payload tells which.
    pub const FAULTY: Self = Self(32);

    /// Something about the transport that failed: a response with a status of 400 or more, an exchange that broke off.
    pub const FAILED: Self = Self(64);

    /// Every named flag with its name in JSON lines. Those without one are derived, not carried there.
    pub const NAMED: [(Self, &'static str); 4] = [
        (Self::INJECTED, "injected"),
        (Self::REDACTED, "redacted"),
        (Self::TRUNCATED, "truncated"),
        (Self::FAILED, "failed"),
    ];

    /// Whether all of `other` is set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Without `other`.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The direction that the flags tell.
    pub fn direction(self) -> Direction {
        if self.has(Self::SERVER_TO_CLIENT) { Direction::ServerToClient } else { Direction::ClientToServer }
    }

    /// The flags that tell this direction.
    pub fn toward(direction: Direction) -> Self {
        match direction {
            Direction::ClientToServer => Self(0),
            Direction::ServerToClient => Self::SERVER_TO_CLIENT,
        }
    }
}

/// A request id as a header keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RecordedId {
    /// A 64-bit integer in plain decimal form.
    Integer(i64),
    /// The id's JSON text.
    Text(Box<[u8]>),
}

impl RecordedId {
    /// The id by type and value.
    pub fn key(&self) -> IdKey {
        match self {
            Self::Integer(number) => IdKey::Integer(*number),
            Self::Text(text) => crate::wire::Id(text).key(),
        }
    }
}

/// The part of a header that only messages have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageHeader {
    /// What the message is.
    pub kind: MessageKind,
    /// Its method, as a place in [`ReelReader::methods`](crate::trace::ReelReader::methods).
    pub method: Option<u32>,
    /// Its id.
    pub id: Option<RecordedId>,
}

/// What is known of an event without its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventHeader {
    /// Its place in the reel, from 0.
    pub seq: u64,
    /// Nanoseconds since the reel's clock base.
    pub time: i64,
    /// The stream it belongs to: one connection, or one session over HTTP.
    pub stream: u32,
    /// The HTTP exchange that carried it, from 1; 0 where none did.
    pub exchange: u32,
    /// What happened.
    pub kind: EventKind,
    /// Marks, the direction among them.
    pub flags: Flags,
    /// How the payload stood in its stream.
    pub framing: Framing,
    /// The payload's length in bytes.
    pub len: u32,
    /// Where the payload begins in its block.
    pub offset: usize,
    /// What the message is, where it is one.
    pub message: Option<MessageHeader>,
}

impl EventHeader {
    /// The way it went.
    pub fn direction(&self) -> Direction {
        self.flags.direction()
    }

    /// Whether it went any way: messages do, and what belongs to a request or a response over HTTP.
    pub fn has_direction(&self) -> bool {
        self.kind == EventKind::Message || self.kind == EventKind::Transport && self.exchange != 0
    }
}

/// An event with its payload.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// What is known without the payload.
    pub header: &'a EventHeader,
    /// The exact bytes.
    pub payload: &'a [u8],
}

impl<'a> Event<'a> {
    /// The same event, to be written into another reel.
    pub fn again(&self) -> NewEvent<'a> {
        let EventHeader { time, stream, exchange, kind, flags, framing, .. } = *self.header;
        NewEvent { time, stream, exchange, kind, flags, framing, payload: self.payload }
    }

    /// The message's text: the payload without the header block of a `Content-Length` frame.
    pub fn body(&self) -> &'a [u8] {
        self.header.framing.body(self.payload)
    }
}
