//! Checks the framing of what peers send before the HTTP library reads it. The library silently drops a
//! `Content-Length` next to a `Transfer-Encoding`. Another server on the way may use that length, and then a second
//! request hides in the body of the first (request smuggling, RFC 9112 §6.1). It also accepts spellings that stricter
//! readers reject, and passes them on mended; whoever reads a recording must be able to see that.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// An extension of requests on connections where a length is uncertain ([`Heads::is_ambiguous`]).
#[derive(Clone, Copy, Debug)]
pub(crate) struct AmbiguousLength;

/// How many bytes of a line are kept; all relevant lines are shorter.
const MAX_LINE_BYTES: usize = 256;

/// Framing that a strict reader rejects, and that goes on in its usual form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// `Content-Length` beside `Transfer-Encoding` (RFC 9112 §6.3). In a request, it is refused.
    LengthBesideCoding,
    /// The same `Content-Length` several times (RFC 9110 §8.6).
    RepeatedLength,
    /// A line of a head that ends with LF alone (RFC 9112 §2.2).
    BareLineFeed,
    /// White space around the size of a chunk (RFC 9112 §7.1).
    SpaceInChunkSize,
}

impl Repair {
    const ALL: [Self; 4] = [Self::LengthBesideCoding, Self::RepeatedLength, Self::BareLineFeed, Self::SpaceInChunkSize];

    /// What was wrong, and what went on.
    pub(crate) fn reported(self) -> &'static str {
        match self {
            Self::LengthBesideCoding => {
                "the head has Content-Length beside Transfer-Encoding, which takes precedence; the length did not go on"
            }
            Self::RepeatedLength => "the head has the same Content-Length several times; it went on once",
            Self::BareLineFeed => "a line of the head ends with LF alone; it went on with CR LF",
            Self::SpaceInChunkSize => "the size of a chunk has white space around it; it went on without",
        }
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// Whose messages a connection carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// A client's requests.
    #[default]
    Requests,
    /// A server's responses. Those to `HEAD` have no body, whatever their heads say.
    Responses {
        /// The current one is for `HEAD`.
        to_head: bool,
    },
}

/// Follows the messages that one peer sends on a connection.
#[derive(Debug, Default)]
pub struct Heads {
    side: Side,
    place: ParsePlace,
    line: Vec<u8>,
    /// The last byte of what came before.
    before: u8,
    /// The body length according to the current head.
    length: Option<u64>,
    /// The current head has a `Transfer-Encoding`.
    has_coding: bool,
    /// The last coding of the current head is `chunked`.
    is_chunked: bool,
    /// The status of the current response.
    status: u16,
    is_ambiguous: bool,
    /// The bits of what the peer's messages have needed so far.
    repairs: u8,
}

/// What to expect next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ParsePlace {
    /// The first line of a message, or empty lines before it.
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
    /// A body that ends with the connection, or another protocol.
    Rest,
    /// Unknown.
    Lost,
}

impl Heads {
    /// Follows the messages of this side.
    pub fn of(side: Side) -> Self {
        Self { side, ..Self::default() }
    }

    /// Whether a message stated its length in two ways, or in an invalid way.
    pub fn is_ambiguous(&self) -> bool {
        self.is_ambiguous
    }

    /// What the messages have needed so far.
    pub fn repairs(&self) -> Vec<Repair> {
        Repair::ALL.into_iter().filter(|repair| self.repairs & repair.bit() != 0).collect()
    }

    /// Whether the bytes so far end within a head, or before the first one.
    fn awaits_head(&self) -> bool {
        self.place == ParsePlace::Head || self.place == ParsePlace::Start && !self.line.is_empty()
    }

    /// Takes the next bytes of the connection.
    pub fn take(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !matches!(self.place, ParsePlace::Lost | ParsePlace::Rest) {
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
            if end.is_some() {
                let before = if piece.len() > 1 { piece[piece.len() - 2] } else { self.before };
                self.note_line_end(before);
            }
            self.before = piece[piece.len() - 1];
            if end.is_some() && self.line.is_empty() {
                self.end_of_line(&piece[..kept]);
                continue;
            }
            self.line.extend_from_slice(&piece[..kept]);
            if end.is_some() {
                let line = std::mem::take(&mut self.line);
                self.end_of_line(&line);
                self.line = line;
                self.line.clear();
            }
        }
    }

    fn note(&mut self, repair: Repair) {
        self.repairs |= repair.bit();
    }

    /// Takes the byte before the LF of a line.
    fn note_line_end(&mut self, before: u8) {
        if before != b'\r' && matches!(self.place, ParsePlace::Start | ParsePlace::Head | ParsePlace::Trailers) {
            self.note(Repair::BareLineFeed);
        }
    }

    /// Takes a line with its end; of a long line, only the beginning.
    fn end_of_line(&mut self, whole: &[u8]) {
        let line = whole.trim_ascii();
        self.place = match self.place {
            ParsePlace::Start if line.is_empty() => ParsePlace::Start,
            ParsePlace::Start => {
                (self.length, self.has_coding, self.is_chunked) = (None, false, false);
                let status = line.split(|byte| *byte == b' ').nth(1).and_then(|it| std::str::from_utf8(it).ok());
                self.status = status.and_then(|status| status.parse().ok()).unwrap_or_default();
                ParsePlace::Head
            }
            ParsePlace::Head if line.is_empty() => self.end_of_head(),
            ParsePlace::Head => self.header(line),
            ParsePlace::Chunk => {
                let end = whole.strip_suffix(b"\n").map(|line| line.strip_suffix(b"\r").unwrap_or(line));
                let stated = end.unwrap_or(whole).split(|byte| *byte == b';').next().unwrap_or_default();
                let size = stated.trim_ascii();
                if size.len() != stated.len() {
                    self.note(Repair::SpaceInChunkSize);
                }
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

    /// What follows the current head (RFC 9112 §6.3).
    fn end_of_head(&mut self) -> ParsePlace {
        if self.has_coding && self.length.is_some() {
            self.is_ambiguous = true;
            self.note(Repair::LengthBesideCoding);
        }
        match (self.side, self.length) {
            (Side::Responses { .. }, _) if self.status == 101 => ParsePlace::Rest,
            (Side::Responses { .. }, _) if matches!(self.status, 100..=199 | 204 | 304) => ParsePlace::Start,
            (Side::Responses { to_head: true }, _) => ParsePlace::Start,
            _ if self.is_chunked => ParsePlace::Chunk,
            // The library refuses such a request.
            _ if self.has_coding => ParsePlace::Rest,
            (_, Some(0)) | (Side::Requests, None) => ParsePlace::Start,
            (_, Some(length)) => ParsePlace::Body(length),
            (Side::Responses { .. }, None) => ParsePlace::Rest,
        }
    }

    fn header(&mut self, line: &[u8]) -> ParsePlace {
        if !line.first().is_some_and(|first| matches!(first.to_ascii_lowercase(), b'c' | b't')) {
            return ParsePlace::Head;
        }
        let Some(colon) = memchr::memchr(b':', line) else { return ParsePlace::Head };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.has_coding = true;
            let last = value.rsplit(|byte| *byte == b',').next().unwrap_or_default().trim_ascii();
            self.is_chunked = last.eq_ignore_ascii_case(b"chunked");
        } else if name.eq_ignore_ascii_case(b"content-length") {
            for stated in value.split(|byte| *byte == b',') {
                let stated = std::str::from_utf8(stated.trim_ascii()).ok().and_then(|value| value.parse().ok());
                let Some(length) = stated else { return ParsePlace::Lost };
                match self.length.replace(length) {
                    None => {}
                    Some(first) if first == length => self.note(Repair::RepeatedLength),
                    Some(_) => return ParsePlace::Lost,
                }
            }
        }
        ParsePlace::Head
    }
}

/// What is known of the messages that a peer sends on a connection, for those who pass them on.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionFlags(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    is_ambiguous: AtomicBool,
    is_over: AtomicBool,
    /// The next response is for `HEAD`.
    to_head: AtomicBool,
    /// The bits of repairs that nobody has taken yet.
    repairs: AtomicU8,
}

impl ConnectionFlags {
    /// Whether a message's length was uncertain: nothing after it on this connection can be trusted.
    pub(crate) fn is_ambiguous(&self) -> bool {
        self.0.is_ambiguous.load(Ordering::Acquire)
    }

    /// Stops checking, because the connection switches to another protocol.
    pub(crate) fn end(&self) {
        self.0.is_over.store(true, Ordering::Release);
    }

    /// Takes what the messages have needed since the last call.
    pub(crate) fn take_repairs(&self) -> impl Iterator<Item = Repair> + use<> {
        let taken = self.0.repairs.swap(0, Ordering::AcqRel);
        Repair::ALL.into_iter().filter(move |repair| taken & repair.bit() != 0)
    }

    /// Says whether the next response is for `HEAD`.
    pub(crate) fn expect_response(&self, to_head: bool) {
        self.0.to_head.store(to_head, Ordering::Release);
    }
}

/// A connection whose messages are checked as they are read. Nothing is changed or held back; but a client that takes
/// too long for a head is cut off.
pub(crate) struct Watched<S> {
    stream: S,
    heads: Heads,
    known: ConnectionFlags,
    /// When the current head must be complete, and how long each may take.
    timer: Option<(Pin<Box<Sleep>>, Duration)>,
    /// The timer is for the head that is arriving.
    is_timed: bool,
}

impl<S> Watched<S> {
    /// Checks the requests that are read from a stream. Each head, and the beginning of the first one, may take this
    /// long.
    pub(crate) fn of_client(stream: S, head_time: Duration) -> (Self, ConnectionFlags) {
        let known = ConnectionFlags::default();
        let timer = Some((Box::pin(tokio::time::sleep(head_time)), head_time));
        (Self { stream, heads: Heads::default(), known: known.clone(), timer, is_timed: true }, known)
    }

    /// Checks the responses that are read from a stream.
    pub(crate) fn of_server(stream: S, known: ConnectionFlags) -> Self {
        let heads = Heads::of(Side::Responses { to_head: false });
        Self { stream, heads, known, timer: None, is_timed: false }
    }

    fn take(&mut self, bytes: &[u8]) {
        if let Side::Responses { to_head } = &mut self.heads.side {
            *to_head = self.known.0.to_head.load(Ordering::Acquire);
        }
        self.heads.take(bytes);
        if self.heads.is_ambiguous {
            self.known.0.is_ambiguous.store(true, Ordering::Release);
        }
        let repairs = std::mem::take(&mut self.heads.repairs);
        if repairs != 0 {
            self.known.0.repairs.fetch_or(repairs, Ordering::AcqRel);
        }
    }

    /// Whether the client has taken too long for a head.
    fn is_late(&mut self, context: &mut Context<'_>) -> bool {
        let Some((sleep, head_time)) = &mut self.timer else { return false };
        if !std::mem::replace(&mut self.is_timed, true) {
            sleep.as_mut().reset(Instant::now() + *head_time);
        }
        sleep.as_mut().poll(context).is_ready()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let is_over = this.known.0.is_over.load(Ordering::Acquire);
        let read = Pin::new(&mut this.stream).poll_read(context, buffer);
        if read.is_pending() && !is_over && (this.is_timed || this.heads.awaits_head()) && this.is_late(context) {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the request's head came too slowly")));
        }
        ready!(read)?;
        if !is_over {
            this.take(&buffer.filled()[before..]);
            this.is_timed &= this.heads.awaits_head();
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
        assert!(heads(b"POST / HTTP/1.1\r\nContent-Length: 5, 6\r\n\r\n", 9).is_ambiguous);
    }

    fn of_response(response: &str, to_head: bool, cuts: usize) -> (ParsePlace, Vec<Repair>) {
        let mut heads = Heads::of(Side::Responses { to_head });
        response.as_bytes().chunks(cuts).for_each(|piece| heads.take(piece));
        (heads.place, heads.repairs())
    }

    #[test]
    fn what_is_mended_is_named() {
        use Repair::*;
        let cases: [(&str, &[Repair]); 9] = [
            ("Content-Length: 2\r\n\r\n{}", &[]),
            ("content-length:2\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", &[LengthBesideCoding]),
            (
                "Transfer-Encoding: gzip, chunked\r\nContent-Length: 9\r\n\r\n2;x=y\r\n{}\r\n0\r\n\r\n",
                &[LengthBesideCoding],
            ),
            ("Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", &[RepeatedLength]),
            ("Content-Length: 2, 2\r\n\r\n{}", &[RepeatedLength]),
            ("Content-Length: 2\n\r\n{}", &[BareLineFeed]),
            ("X: y\r\nContent-Length: 2\r\n\n{}", &[BareLineFeed]),
            ("Transfer-Encoding: chunked\r\n\r\n2 \r\n{}\r\n0\r\n\r\n", &[SpaceInChunkSize]),
            ("Transfer-Encoding: chunked\r\n\r\n2\r\n\n\n\r\n0\t;a\r\n\r\n", &[SpaceInChunkSize]),
        ];
        for (rest, repairs) in cases {
            for cuts in [1, 2, 3, 7, 1000] {
                let response = format!("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n{rest}");
                assert_eq!(
                    of_response(&response, false, cuts),
                    (ParsePlace::Start, repairs.to_vec()),
                    "{rest:?} {cuts}"
                );
                let request = heads(format!("POST / HTTP/1.1\r\n{rest}").as_bytes(), cuts);
                assert_eq!(
                    (request.place, request.repairs()),
                    (ParsePlace::Start, repairs.to_vec()),
                    "{rest:?} {cuts}"
                );
            }
        }
    }

    #[test]
    fn a_response_without_a_body_has_none_whatever_its_head_says() {
        for (status, to_head) in [("204 No Content", false), ("304 Not Modified", false), ("200 OK", true)] {
            for framing in ["Content-Length: 5", "Transfer-Encoding: chunked", "X: y"] {
                let two = format!("HTTP/1.1 {status}\r\n{framing}\r\n\r\nHTTP/1.1 204 x\nA: b\n\n");
                let read = of_response(&two, to_head, 5);
                assert_eq!(read, (ParsePlace::Start, vec![Repair::BareLineFeed]), "{status} {framing}");
            }
        }
        for rest in [
            "HTTP/1.1 200 OK\r\n\r\na\nb",
            "HTTP/1.1 101 x\r\nUpgrade: w\r\n\r\n\n\n",
            "HTTP/1.0 200\r\nTransfer-Encoding: identity\r\n\r\n1 \n",
        ] {
            assert_eq!(of_response(rest, false, 4), (ParsePlace::Rest, vec![]), "{rest:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_has_its_time_and_an_idle_connection_more() {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let span = Duration::from_secs(10);
        let slow = async |pieces: &str| {
            let (mut client, server) = tokio::io::duplex(1000);
            let (mut watched, _) = Watched::of_client(server, span);
            let mut chunk = [0; 100];
            for piece in pieces.split('|').filter(|piece| !piece.is_empty()) {
                client.write_all(piece.as_bytes()).await.expect("written");
                let read = watched.read(&mut chunk).await.expect("read");
                assert_eq!(read, piece.len());
            }
            let began = Instant::now();
            let read = tokio::time::timeout(5 * span, watched.read(&mut chunk)).await;
            (read.map(|read| read.map_err(|error| error.kind())), began.elapsed())
        };
        for pieces in ["", "G", "GET / HTTP/1.1\r\nHost:", "GET / HTTP/1.1\r\n\r\n|GET"] {
            let (read, elapsed) = slow(pieces).await;
            assert_eq!((read.is_ok(), elapsed), (true, span), "{pieces:?}");
            assert_eq!(read.expect("in time"), Err(io::ErrorKind::TimedOut), "{pieces:?}");
        }
        // A body has a limit of its own, and between two requests a connection may wait.
        for pieces in ["GET / HTTP/1.1\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n1"] {
            assert!(slow(pieces).await.0.is_err(), "{pieces:?}");
        }
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
