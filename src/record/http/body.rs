//! Splits one body into messages according to its content type.

use crate::trace::TransportEvent;
use crate::wire::sse::{Carried, SseFramer, carried};
use crate::wire::{Envelope, Fault, MessageKind, PIECE};
use std::borrow::Cow;
use std::io::{self, Read, Write};
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocket, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

/// An event or WebSocket message longer than this (64 MiB) is recorded in fragments. A JSON body is recorded in pieces.
const MAX_HELD_BYTES: usize = 64 << 20;
/// The maximum capacity reserved for a body that announces its length.
const MAX_RESERVED_BYTES: usize = 2 << 20;
/// How many bytes are kept of a body that is not a message.
const MAX_KEPT_BYTES: usize = 64 << 10;

/// A piece of a body.
#[derive(Debug, PartialEq, Eq)]
pub enum BodyPiece<'a> {
    /// A body or WebSocket frame that is one message.
    Whole(Cow<'a, [u8]>),
    /// A part of a body that is too long to hold in memory.
    Fragment(&'a [u8]),
    /// A server-sent event whose data is one message.
    Event(Cow<'a, [u8]>),
    /// A block of an event stream that cannot be recorded as a message as it is. `joined` contains the message if its
    /// data has several lines.
    Block {
        /// The bytes, including the blank line.
        block: &'a [u8],
        /// The message, joined from several `data` lines.
        joined: Option<Vec<u8>>,
    },
    /// A WebSocket frame that is not a message (ping, pong, close), or a notice that the frames are unreadable.
    Frame(FrameKind, &'a [u8]),
    /// A body that is not a message: its length and its beginning.
    Other(u64, &'a [u8]),
}

/// What came over a WebSocket beside messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    Ping,
    Pong,
    Close,
    /// Bytes that are no frame.
    Unreadable,
}

impl FrameKind {
    /// Returns the event for such a frame with this text.
    pub(crate) fn reported(self, text: String) -> TransportEvent {
        match self {
            Self::Ping => TransportEvent::Ping { text },
            Self::Pong => TransportEvent::Pong { text },
            Self::Close => TransportEvent::Close { text },
            Self::Unreadable => TransportEvent::Unreadable { text },
        }
    }
}

/// A body that is being read.
#[derive(Debug)]
pub enum Reading {
    /// One message: the bytes that are held, and whether pieces of it have been recorded.
    Json(Vec<u8>, bool),
    /// An event stream.
    Events(SseFramer),
    /// WebSocket frames, and the number of bytes since the last message.
    Frames(Box<WebSocket<Fed>>, usize),
    /// Something else.
    Other {
        /// The length so far.
        length: u64,
        /// The beginning; empty if it is not to be kept.
        kept: Vec<u8>,
        /// The maximum length of `kept`.
        keep: usize,
    },
    /// Nothing more is read: the body has ended, or a close frame or unreadable data has arrived.
    Over,
}

fn is_event_stream(content_type: &str) -> bool {
    begins_with(content_type, "text/event-stream")
}

fn is_json(content_type: &str) -> bool {
    begins_with(content_type, "application/json") || content_type.to_ascii_lowercase().contains("json")
}

/// Ignores case.
fn begins_with(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start))
}

impl Reading {
    /// A body with this content type; `None` if the head has none.
    ///
    /// For a message, the announced `length` is reserved at once.
    pub fn of(content_type: Option<&str>, is_mcp: bool, length: Option<usize>) -> Self {
        let kind = content_type.unwrap_or("json");
        match is_mcp {
            true if is_event_stream(kind) => Self::Events(SseFramer::default()),
            true if is_json(kind) => Self::Json(Vec::with_capacity(length.unwrap_or(0).min(MAX_RESERVED_BYTES)), false),
            _ => Self::opaque(is_mcp),
        }
    }

    /// A body that is not read. Its beginning is kept if it is the server's.
    pub fn opaque(is_mcp: bool) -> Self {
        Self::Other { length: 0, kept: Vec::new(), keep: if is_mcp { MAX_KEPT_BYTES } else { 0 } }
    }

    /// WebSocket frames as the given side reads them.
    pub fn frames(role: Role) -> Self {
        let config =
            WebSocketConfig::default().max_message_size(Some(MAX_HELD_BYTES)).max_frame_size(Some(MAX_HELD_BYTES));
        Self::Frames(Box::new(WebSocket::from_raw_socket(Fed::default(), role, Some(config))), 0)
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8], mut sink: impl FnMut(BodyPiece<'_>)) {
        match self {
            Self::Json(held, is_broken) => {
                held.extend_from_slice(bytes);
                if held.len() >= PIECE {
                    sink(BodyPiece::Fragment(held));
                    held.clear();
                    *is_broken = true;
                }
            }
            Self::Events(framer) => {
                framer.push(bytes, |block| pass_block(block, &mut sink));
                if framer.pending() >= MAX_HELD_BYTES {
                    framer.finish(|block| pass_block(block, &mut sink));
                }
            }
            Self::Frames(socket, since) => {
                *since += bytes.len();
                socket.get_mut().0.extend_from_slice(bytes);
                let mut whole = |piece: BodyPiece<'_>| {
                    if matches!(piece, BodyPiece::Whole(_)) {
                        *since = 0;
                    }
                    sink(piece);
                };
                match read_frames(socket, &mut whole) {
                    Frames::Continue => {}
                    Frames::Over => *self = Self::Over,
                    // What crosses from here on is kept as bytes.
                    Frames::Unreadable => {
                        let kept = bytes[..bytes.len().min(MAX_KEPT_BYTES)].to_vec();
                        *self = Self::Other { length: bytes.len() as u64, kept, keep: MAX_KEPT_BYTES };
                    }
                }
            }
            Self::Other { length, kept, keep } => {
                *length += bytes.len() as u64;
                let space = keep.saturating_sub(kept.len());
                kept.extend_from_slice(&bytes[..bytes.len().min(space)]);
            }
            Self::Over => {}
        }
    }

    /// The number of bytes held for unfinished messages.
    pub fn held(&self) -> usize {
        match self {
            Self::Json(held, _) => held.len(),
            Self::Events(framer) => framer.pending(),
            Self::Frames(_, since) => *since,
            Self::Other { kept, .. } => kept.len(),
            Self::Over => 0,
        }
    }

    /// Records an unfinished message as far as it has arrived, and holds nothing back.
    pub fn let_go(&mut self, mut sink: impl FnMut(BodyPiece<'_>)) {
        match self {
            Self::Json(held, is_broken) => {
                sink(BodyPiece::Fragment(held));
                (*held, *is_broken) = (Vec::new(), true);
            }
            Self::Events(framer) => framer.finish(|block| pass_block(block, &mut sink)),
            Self::Frames(..) => {
                sink(BodyPiece::Frame(FrameKind::Unreadable, b"too many unfinished messages"));
                *self = Self::Over;
            }
            Self::Other { .. } | Self::Over => {}
        }
    }

    /// Rereads the complete body of an error response: a body that is not JSON-RPC is not a message, for example one
    /// sent by an authorization layer (RFC 6750).
    pub fn read_as_refusal(&mut self) {
        let Self::Json(held, false) = self else { return };
        let envelope = Envelope::scan(held);
        let claims = match envelope.kind {
            MessageKind::Batch | MessageKind::Malformed => true,
            MessageKind::Unclassified | MessageKind::Noise | MessageKind::Blank => false,
            _ => !envelope.faults.contains(Fault::MissingVersion),
        };
        if !claims {
            let (length, mut kept) = (held.len() as u64, std::mem::take(held));
            kept.truncate(MAX_KEPT_BYTES);
            *self = Self::Other { length, kept, keep: MAX_KEPT_BYTES };
        }
    }

    /// Ends the body.
    pub fn finish(&mut self, mut sink: impl FnMut(BodyPiece<'_>)) {
        match self {
            Self::Json(held, false) if held.is_empty() => {}
            // Moved instead of copied, because it can be most of the memory in use.
            Self::Json(held, _) => sink(BodyPiece::Whole(Cow::Owned(std::mem::take(held)))),
            // An event without its blank line is incomplete, and clients ignore it (HTML Standard §9.2.6).
            Self::Events(framer) => framer.finish(|block| sink(BodyPiece::Block { block: &block, joined: None })),
            Self::Frames(..) | Self::Other { length: 0, .. } | Self::Over => {}
            Self::Other { length, kept, .. } => sink(BodyPiece::Other(*length, kept)),
        }
        *self = Self::Over;
    }
}

fn pass_block(block: Cow<'_, [u8]>, sink: &mut impl FnMut(BodyPiece<'_>)) {
    let joined = match carried(&block) {
        Carried::Message(_) => return sink(BodyPiece::Event(block)),
        Carried::Joined(message) => Some(message),
        Carried::Nothing => None,
    };
    sink(BodyPiece::Block { block: &block, joined });
}

/// What can follow the frames that were read.
enum Frames {
    /// More frames.
    Continue,
    /// Nothing: there was a close frame.
    Over,
    /// Bytes that cannot be read as frames.
    Unreadable,
}

/// Reads the complete frames.
fn read_frames(socket: &mut WebSocket<Fed>, sink: &mut impl FnMut(BodyPiece<'_>)) -> Frames {
    loop {
        match socket.read() {
            Ok(Message::Text(text)) => sink(BodyPiece::Whole(Cow::Borrowed(text.as_bytes()))),
            Ok(Message::Binary(bytes)) => sink(BodyPiece::Whole(Cow::Borrowed(&bytes))),
            Ok(Message::Ping(bytes)) => sink(BodyPiece::Frame(FrameKind::Ping, &bytes)),
            Ok(Message::Pong(bytes)) => sink(BodyPiece::Frame(FrameKind::Pong, &bytes)),
            Ok(Message::Close(close)) => {
                let reported =
                    close.map(|close| format!("{} {}", u16::from(close.code), close.reason)).unwrap_or_default();
                sink(BodyPiece::Frame(FrameKind::Close, reported.as_bytes()));
                // Anything after the close frame would be held forever.
                return Frames::Over;
            }
            Ok(Message::Frame(_)) => {}
            Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => return Frames::Continue,
            Err(error) => {
                sink(BodyPiece::Frame(FrameKind::Unreadable, error.to_string().as_bytes()));
                return Frames::Unreadable;
            }
        }
    }
}

/// Recorded bytes, for a WebSocket reader that expects a socket. Discards what the reader writes.
#[derive(Debug, Default)]
pub struct Fed(Vec<u8>);

impl Read for Fed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let taken = into.len().min(self.0.len());
        into[..taken].copy_from_slice(&self.0[..taken]);
        self.0.drain(..taken);
        Ok(taken)
    }
}

impl Write for Fed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut reading: Reading, chunks: &[&[u8]]) -> Vec<String> {
        let mut found = Vec::new();
        let mut sink = |piece: BodyPiece<'_>| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            found.push(match piece {
                BodyPiece::Whole(bytes) => format!("whole {}", text(&bytes)),
                BodyPiece::Fragment(bytes) => format!("fragment {}", bytes.len()),
                BodyPiece::Event(bytes) => format!("event {}", text(&bytes)),
                BodyPiece::Block { block, joined } => format!("block {} {:?}", text(block), joined.map(|it| text(&it))),
                BodyPiece::Frame(kind, bytes) => format!("{} {}", format!("{kind:?}").to_lowercase(), text(bytes)),
                BodyPiece::Other(length, kept) => format!("other {length} {}", text(kept)),
            });
        };
        chunks.iter().for_each(|chunk| reading.push(chunk, &mut sink));
        reading.finish(&mut sink);
        found
    }

    #[test]
    fn a_json_body_is_one_message_however_it_comes() {
        let reading = || Reading::of(Some("application/json; charset=utf-8"), true, None);
        assert_eq!(read(reading(), &[b"{\"a\"", b":1}"]), ["whole {\"a\":1}"]);
        assert!(read(reading(), &[]).is_empty());
        assert_eq!(read(Reading::of(None, true, Some(2)), &[b"{}"]), ["whole {}"]);
    }

    #[test]
    fn a_long_json_body_comes_in_pieces_with_an_end() {
        let mut sizes = Vec::new();
        let mut reading = Reading::of(Some("application/json"), true, None);
        let mut sink = |piece: BodyPiece<'_>| match piece {
            BodyPiece::Fragment(bytes) => sizes.push((false, bytes.len())),
            BodyPiece::Whole(bytes) => sizes.push((true, bytes.len())),
            other => panic!("{other:?}"),
        };
        for _ in 0..8 {
            reading.push(&vec![b' '; PIECE / 4], &mut sink);
        }
        assert_eq!(reading.held(), 0);
        // What is refused is no message, but its beginning is in the reel already.
        reading.read_as_refusal();
        reading.finish(&mut sink);
        assert_eq!(sizes, [(false, PIECE), (false, PIECE), (true, 0)]);
    }

    #[test]
    fn what_comes_with_a_refusal_is_a_message_only_where_it_claims_to_be_one() {
        let refused = |body: &str| {
            let mut reading = Reading::of(Some("application/json"), true, None);
            reading.push(body.as_bytes(), |_| {});
            reading.read_as_refusal();
            read(reading, &[])
        };
        assert_eq!(refused(r#"{"error":"invalid_token"}"#), [r#"other 25 {"error":"invalid_token"}"#]);
        for other in [r#"{"error":{"code":1,"message":"m"}}"#, "{}", "Unauthorized", "null"] {
            assert_eq!(refused(other), [format!("other {} {other}", other.len())]);
        }
        for message in [r#"{"jsonrpc":"2.0","id":null,"error":null}"#, r#"[{"jsonrpc":"2.0"}]"#, r#"{"jsonrpc"#] {
            assert_eq!(refused(message), [format!("whole {message}")]);
        }
        assert!(refused("").is_empty());
    }

    #[test]
    fn an_event_stream_gives_messages_and_the_rest_as_it_stood() {
        let stream: &[&[u8]] = &[b"id: 1\ndata: \n\n", b"data: {}\n", b"\n: ping\n\ndata: {\ndata: }\n\ndata: {}\n"];
        let found = read(Reading::of(Some("text/event-stream"), true, None), stream);
        let expected = [
            "block id: 1\ndata: \n\n None",
            "event data: {}\n\n",
            "block : ping\n\n None",
            "block data: {\ndata: }\n\n Some(\"{\\n}\")",
            "block data: {}\n None",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn other_bodies_are_kept_on_the_endpoint_only() {
        assert_eq!(read(Reading::of(Some("text/html"), true, None), &[b"<p>", b"no"]), ["other 5 <p>no"]);
        assert_eq!(read(Reading::of(Some("application/json"), false, None), &[b"{\"token\":1}"]), ["other 11 "]);
    }

    #[test]
    fn frames_are_unmasked_and_joined() {
        // "Hello" masked (RFC 6455 §5.7), then "Hel" + "lo" with a ping between them.
        let masked = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58];
        assert_eq!(read(Reading::frames(Role::Server), &[&masked[..4], &masked[4..]]), ["whole Hello"]);
        let split = b"\x01\x03Hel\x89\x01!\x80\x02lo\x88\x02\x03\xe8";
        assert_eq!(read(Reading::frames(Role::Client), &[split]), ["ping !", "whole Hello", "close 1000 "]);
        let found = read(Reading::frames(Role::Client), &[b"\xff\x00"]);
        assert!(found[0].starts_with("unreadable"), "{found:?}");
        // A text that is not UTF-8, and what follows it.
        let broken = [&b"\x81\x01\xff"[..], b"\x81\x02ok", b"\x81\x02{}"];
        let found = read(Reading::frames(Role::Client), &broken);
        assert!(found[0].starts_with("unreadable"), "{found:?}");
        assert_eq!(found.last().map(|last| last.starts_with("other 11 ")), Some(true), "{found:?}");
    }

    #[test]
    fn after_a_close_or_what_is_no_frame_nothing_is_looked_at() {
        let masked = &b"\x88\x80\0\0\0\0"[..];
        for (role, last) in
            [(Role::Client, &b"\x88\x02\x03\xe8"[..]), (Role::Client, b"\xff\x00"), (Role::Server, masked)]
        {
            let mut reading = Reading::frames(role);
            let mut count = 0;
            for _ in 0..3 {
                reading.push(&[last, b"\x81\x01x"].concat(), |_| count += 1);
            }
            let is_over = match &reading {
                Reading::Over => true,
                Reading::Other { length, .. } => last[0] == 0xff && *length == 15,
                _ => false,
            };
            assert!(count == 1 && is_over, "{count} {reading:?}");
        }
    }
}
