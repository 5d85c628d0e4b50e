//! Checks the heads of incoming requests before the HTTP library reads them. The library silently drops a
//! `Content-Length` next to a `Transfer-Encoding`. Another server on the way may use that length, and then a second
//! request hides in the body of the first (request smuggling, RFC 9112 §6.1).

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// An extension of requests on connections where a length is uncertain ([`Heads::is_ambiguous`]).
#[derive(Clone, Copy, Debug)]
pub(crate) struct AmbiguousLength;

/// How many bytes of a line are kept; all relevant lines are shorter.
const MAX_LINE_BYTES: usize = 256;

/// Follows the requests of one connection.
#[derive(Debug, Default)]
pub struct Heads {
    place: ParsePlace,
    line: Vec<u8>,
    /// The body length according to the current head.
    length: Option<u64>,
    is_chunked: bool,
    is_ambiguous: bool,
}

/// What to expect next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ParsePlace {
    /// The first line of a request, or empty lines before it.
    #[default]
    Start,
    Head,
    /// The remaining bytes of a body.
    Body(u64),
    /// The length of a chunk.
    Chunk,
    /// The rest of a chunk with its line end.
    ChunkBody(u64),
    Trailers,
    /// Unknown.
    Lost,
}

impl Heads {
    /// Whether a request stated its length in two ways, or in an invalid way.
    pub fn is_ambiguous(&self) -> bool {
        self.is_ambiguous
    }

    /// Takes the next bytes of the connection.
    pub fn take(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && self.place != ParsePlace::Lost {
            if let ParsePlace::Body(left) | ParsePlace::ChunkBody(left) = self.place {
                let taken = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                bytes = &bytes[taken..];
                let left = left - taken as u64;
                self.place = match self.place {
                    ParsePlace::Body(_) if left == 0 => ParsePlace::Start,
                    ParsePlace::Body(_) => ParsePlace::Body(left),
                    _ if left == 0 => ParsePlace::Chunk,
                    _ => ParsePlace::ChunkBody(left),
                };
                continue;
            }
            let end = memchr::memchr(b'\n', bytes);
            let (piece, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
            let kept = piece.len().min(MAX_LINE_BYTES.saturating_sub(self.line.len()));
            bytes = rest;
            if end.is_some() && self.line.is_empty() {
                self.end_of_line(piece[..kept].trim_ascii());
                continue;
            }
            self.line.extend_from_slice(&piece[..kept]);
            if end.is_some() {
                let line = std::mem::take(&mut self.line);
                self.end_of_line(line.trim_ascii());
                self.line = line;
                self.line.clear();
            }
        }
    }

    fn end_of_line(&mut self, line: &[u8]) {
        self.place = match self.place {
            ParsePlace::Start if line.is_empty() => ParsePlace::Start,
            ParsePlace::Start => {
                (self.length, self.is_chunked) = (None, false);
                ParsePlace::Head
            }
            ParsePlace::Head if line.is_empty() => {
                self.is_ambiguous |= self.is_chunked && self.length.is_some();
                match self.length {
                    _ if self.is_chunked => ParsePlace::Chunk,
                    None | Some(0) => ParsePlace::Start,
                    Some(length) => ParsePlace::Body(length),
                }
            }
            ParsePlace::Head => self.header(line),
            ParsePlace::Chunk => {
                let size = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
                match std::str::from_utf8(size).ok().and_then(|size| u64::from_str_radix(size, 16).ok()) {
                    Some(0) => ParsePlace::Trailers,
                    Some(size) => size.checked_add(2).map_or(ParsePlace::Lost, ParsePlace::ChunkBody),
                    None => ParsePlace::Lost,
                }
            }
            ParsePlace::Trailers if line.is_empty() => ParsePlace::Start,
            other => other,
        };
        self.is_ambiguous |= self.place == ParsePlace::Lost;
    }

    fn header(&mut self, line: &[u8]) -> ParsePlace {
        if !line.first().is_some_and(|first| matches!(first.to_ascii_lowercase(), b'c' | b't')) {
            return ParsePlace::Head;
        }
        let Some(colon) = memchr::memchr(b':', line) else { return ParsePlace::Head };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.is_chunked = true;
        } else if name.eq_ignore_ascii_case(b"content-length") {
            let Some(length) = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok()) else {
                return ParsePlace::Lost;
            };
            self.length = Some(length);
        }
        ParsePlace::Head
    }
}

/// What is known of a connection's requests, for the service that answers them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionFlags(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    is_ambiguous: AtomicBool,
    is_over: AtomicBool,
}

impl ConnectionFlags {
    /// Whether a request's length was uncertain: nothing after it on this connection can be trusted.
    pub(crate) fn is_ambiguous(&self) -> bool {
        self.0.is_ambiguous.load(Ordering::Acquire)
    }

    /// Stops checking, because the connection switches to another protocol.
    pub(crate) fn end(&self) {
        self.0.is_over.store(true, Ordering::Release);
    }
}

/// A connection whose requests are checked as they are read. Nothing is changed or held back.
pub(crate) struct Watched<S> {
    stream: S,
    heads: Heads,
    known: ConnectionFlags,
}

impl<S> Watched<S> {
    /// Checks what is read from a stream.
    pub(crate) fn new(stream: S) -> (Self, ConnectionFlags) {
        let known = ConnectionFlags::default();
        (Self { stream, heads: Heads::default(), known: known.clone() }, known)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(context, buffer))?;
        if !this.known.0.is_over.load(Ordering::Acquire) {
            this.heads.take(&buffer.filled()[before..]);
            if this.heads.is_ambiguous {
                this.known.0.is_ambiguous.store(true, Ordering::Release);
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn heads(bytes: &[u8], cuts: usize) -> Heads {
        let mut heads = Heads::default();
        bytes.chunks(cuts.max(1)).for_each(|piece| heads.take(piece));
        heads
    }

    const PLAIN: &str =
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 33\r\n\r\nTransfer-Encoding: a\r\n\r\nGET / b\r\n";
    const CHUNKED: &str = "\r\nPOST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
        1B ; a=b\r\ncontent-length: 5\r\n\r\nGET / \r\n0\r\nTrailer: t\r\n\r\n";
    const EMPTY: &str = "GET / HTTP/1.1\nHost: x\nContent-Length: 0\n\n";

    #[test]
    fn what_stands_in_bodies_is_not_taken_for_heads() {
        let all = [PLAIN, CHUNKED, EMPTY, CHUNKED, PLAIN, EMPTY].concat();
        for cuts in 1..all.len() {
            let heads = heads(all.as_bytes(), cuts);
            assert_eq!((heads.place, heads.is_ambiguous), (ParsePlace::Start, false), "in pieces of {cuts}");
        }
    }

    #[test]
    fn two_lengths_are_found_wherever_they_stand() {
        let both = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n";
        let turned = "transfer-encoding:chunked\r\nX: y\r\nCONTENT-LENGTH:5\r\n";
        let lost = "Content-Length: five\r\n";
        let far = format!("X: {}\r\n{both}", "x".repeat(5000));
        for headers in [both, turned, lost, &far] {
            for before in ["", PLAIN, CHUNKED, EMPTY] {
                let all = format!("{before}POST / HTTP/1.1\r\nHost: x\r\n{headers}\r\n0\r\n\r\n");
                assert!([1, 7, 100_000].iter().all(|cuts| heads(all.as_bytes(), *cuts).is_ambiguous), "{all}");
            }
        }
        assert!(heads(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n", 9).is_ambiguous);
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_come_to_the_same(bytes in prop::collection::vec(any::<u8>(), 0..400), cuts in 1usize..50) {
            let (one, two) = (heads(&bytes, cuts), heads(&bytes, bytes.len()));
            prop_assert_eq!((one.place, one.is_ambiguous), (two.place, two.is_ambiguous));
            prop_assert!(one.line.len() <= MAX_LINE_BYTES);
        }
    }
}
