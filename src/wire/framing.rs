//! Splits a byte stream into frames: newline-delimited JSON, or `Content-Length` blocks if a peer uses them.
//!
//! Invariant: for any input in any chunks, writing every frame back with [`Framing::write`] gives the input.

use super::text::BYTE_ORDER_MARK;
use std::io::{self, Write};

/// How a frame was delimited in the stream. The payload never includes the line terminator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Framing {
    /// A line that ends with LF.
    Lf = 0,
    /// A line that ends with CR LF.
    CrLf = 1,
    /// Bytes without a terminator: the stream ended in the middle of a line.
    Unterminated = 2,
    /// A `Content-Length` header block and its body; the payload contains both, verbatim.
    ContentLength = 3,
    /// One server-sent event; the payload contains the block verbatim, with its blank line.
    Sse = 4,
    /// A whole body: an HTTP body or a WebSocket frame.
    Whole = 5,
    /// A piece of a frame that is longer than the framer's limit; the next frame of the stream continues it.
    Fragment = 6,
}

impl Framing {
    /// All framings, in the order of their numbers in a reel.
    pub const ALL: [Self; 7] =
        [Self::Lf, Self::CrLf, Self::Unterminated, Self::ContentLength, Self::Sse, Self::Whole, Self::Fragment];

    /// Returns the name used in JSON lines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lf => "lf",
            Self::CrLf => "crlf",
            Self::Unterminated => "unterminated",
            Self::ContentLength => "content-length",
            Self::Sse => "sse",
            Self::Whole => "whole",
            Self::Fragment => "fragment",
        }
    }

    /// Returns the framing with this number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Parses the name used in JSON lines.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|framing| framing.name() == name)
    }

    /// Returns the bytes that follow the payload in the stream.
    pub fn terminator(self) -> &'static [u8] {
        match self {
            Self::Lf => b"\n",
            Self::CrLf => b"\r\n",
            _ => b"",
        }
    }

    /// Writes the frame as it was in the stream.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn write(self, payload: &[u8], out: &mut impl Write) -> io::Result<()> {
        out.write_all(payload)?;
        out.write_all(self.terminator())
    }

    /// Returns the part of a payload that is the message: the body of a `Content-Length` frame, the first data line of
    /// a server-sent event, or the whole payload without a byte order mark.
    pub fn body(self, payload: &[u8]) -> &[u8] {
        match self {
            Self::ContentLength => {}
            Self::Sse => return super::sse::data_lines(payload).next().unwrap_or(payload),
            _ => return payload.strip_prefix(BYTE_ORDER_MARK).unwrap_or(payload),
        }
        match memchr::memmem::find(payload, b"\r\n\r\n") {
            Some(at) => &payload[at + 4..],
            None => memchr::memmem::find(payload, b"\n\n").map_or(payload, |at| &payload[at + 2..]),
        }
    }
}

/// One frame of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The frame's bytes, without the line terminator that `framing` names.
    pub payload: &'a [u8],
    /// How it was delimited in the stream.
    pub framing: Framing,
}

/// The maximum length of a `Content-Length` header block, in bytes. The lines of a longer one are treated as plain
/// lines.
const MAX_HEADER_BLOCK_BYTES: usize = 8 * 1024;

/// The maximum body length that a `Content-Length` header may announce, in bytes (1 GiB).
const MAX_BODY_BYTES: usize = 1 << 30;

/// The default maximum length of a message, in bytes (64 MiB).
pub(crate) const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// Frames of more bytes than this are recorded in pieces of about this length (4 MiB).
pub(crate) const PIECE: usize = 4 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Line,
    HeaderBlock { body_length: usize },
    Body { remaining: usize },
}

/// Splits a stream into lines, and into `Content-Length` blocks where one begins. Accepts chunks of any size.
#[derive(Debug)]
pub struct LineFramer {
    carry: Vec<u8>,
    state: State,
    limit: usize,
    /// The beginning of the current frame was already emitted as a fragment.
    is_broken: bool,
}

impl Default for LineFramer {
    fn default() -> Self {
        Self::with_limit(MAX_MESSAGE_BYTES)
    }
}

impl LineFramer {
    /// Creates a framer that emits a [`Framing::Fragment`] whenever it has collected `limit` bytes of a frame.
    pub fn with_limit(limit: usize) -> Self {
        Self { carry: Vec::new(), state: State::Line, limit: limit.max(1), is_broken: false }
    }

    /// Processes the next chunk of the stream, and passes each completed frame to `sink`.
    pub fn push(&mut self, mut chunk: &[u8], mut sink: impl FnMut(Frame<'_>)) {
        while !chunk.is_empty() {
            chunk = match self.state {
                State::Body { remaining } => self.push_body(chunk, remaining, &mut sink),
                State::Line | State::HeaderBlock { .. } => self.push_line(chunk, &mut sink),
            };
        }
    }

    /// Ends the stream: remaining bytes become a last, unterminated frame.
    pub fn finish(&mut self, mut sink: impl FnMut(Frame<'_>)) {
        self.state = State::Line;
        if !self.carry.is_empty() || self.is_broken {
            sink(Frame { payload: &self.carry, framing: Framing::Unterminated });
        }
        self.reset_carry();
    }

    /// Returns the number of bytes that wait for the rest of their frame.
    pub fn pending(&self) -> usize {
        self.carry.len()
    }

    /// Keeps bytes for later. The buffer grows by a quarter, to save memory: each recording has two of them.
    fn keep(&mut self, bytes: &[u8]) {
        let needed = self.carry.len() + bytes.len();
        if needed > self.carry.capacity() {
            self.carry.reserve_exact(bytes.len().max(self.carry.len() / 4));
        }
        self.carry.extend_from_slice(bytes);
    }

    fn push_line<'c>(&mut self, chunk: &'c [u8], sink: &mut impl FnMut(Frame<'_>)) -> &'c [u8] {
        let Some(end) = memchr::memchr(b'\n', chunk) else {
            self.keep(chunk);
            self.break_off(sink);
            return &[];
        };
        let (line, rest) = chunk.split_at(end + 1);
        if self.carry.is_empty() && self.state == State::Line && (self.is_broken || content_length(line).is_none()) {
            emit_line(line, sink);
            self.is_broken = false;
            return rest;
        }
        let line_start = self.carry.len();
        self.keep(line);
        self.complete_line(line_start, sink);
        rest
    }

    /// Processes a complete line at the end of `carry`; in a header block it may end the block.
    fn complete_line(&mut self, line_start: usize, sink: &mut impl FnMut(Frame<'_>)) {
        match self.state {
            State::Line => match content_length(&self.carry).filter(|_| !self.is_broken) {
                Some(body_length) => self.state = State::HeaderBlock { body_length },
                None => self.emit_carry_as_lines(sink),
            },
            State::HeaderBlock { body_length } => {
                // `line_start` may lie within the last line, if that line came in pieces.
                let last_line_start =
                    memchr::memrchr(b'\n', &self.carry[..self.carry.len() - 1]).map_or(0, |at| at + 1);
                let line = &self.carry[last_line_start.min(line_start)..];
                let bare = trim_line_end(&self.carry[last_line_start..]);
                if bare.is_empty() {
                    self.begin_body(body_length, sink);
                } else if !is_header(bare) || self.carry.len() > MAX_HEADER_BLOCK_BYTES || line.is_empty() {
                    self.emit_carry_as_lines(sink);
                }
            }
            State::Body { .. } => {}
        }
    }

    fn begin_body(&mut self, body_length: usize, sink: &mut impl FnMut(Frame<'_>)) {
        if body_length == 0 {
            self.emit_content_length(sink);
        } else {
            self.state = State::Body { remaining: body_length };
        }
    }

    fn push_body<'c>(&mut self, chunk: &'c [u8], remaining: usize, sink: &mut impl FnMut(Frame<'_>)) -> &'c [u8] {
        let take = remaining.min(chunk.len());
        self.keep(&chunk[..take]);
        self.state = State::Body { remaining: remaining - take };
        if take == remaining {
            self.emit_content_length(sink);
        } else {
            self.break_off(sink);
        }
        &chunk[take..]
    }

    fn emit_content_length(&mut self, sink: &mut impl FnMut(Frame<'_>)) {
        sink(Frame { payload: &self.carry, framing: Framing::ContentLength });
        self.reset_carry();
        self.state = State::Line;
    }

    /// Emits the collected part of a frame that is longer than the limit.
    fn break_off(&mut self, sink: &mut impl FnMut(Frame<'_>)) {
        // Do not split what may still become a header block.
        let is_in_headers = matches!(self.state, State::HeaderBlock { .. });
        let limit = if is_in_headers { self.limit.max(MAX_HEADER_BLOCK_BYTES) } else { self.limit };
        // A CR may be the first half of the line's end, which belongs to one frame.
        let is_in_body = matches!(self.state, State::Body { .. });
        let held = usize::from(!is_in_body && self.carry.last() == Some(&b'\r'));
        let end = self.carry.len() - held;
        if self.carry.len() >= limit && end > 0 {
            sink(Frame { payload: &self.carry[..end], framing: Framing::Fragment });
            self.is_broken = true;
            self.carry.drain(..end);
        }
    }

    fn emit_carry_as_lines(&mut self, sink: &mut impl FnMut(Frame<'_>)) {
        for line in self.carry.split_inclusive(|&byte| byte == b'\n') {
            emit_line(line, sink);
        }
        self.reset_carry();
        self.state = State::Line;
    }

    /// Empties the carry buffer, and frees the memory of an unusually long frame.
    fn reset_carry(&mut self) {
        const KEEP: usize = 1 << 20;
        self.is_broken = false;
        if self.carry.capacity() > 2 * KEEP {
            self.carry = Vec::new();
        } else {
            self.carry.clear();
        }
    }
}

/// The error for a message that is longer than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Splits a stream into messages: the bodies of its frames, without blank lines. No message may be longer than a limit.
#[derive(Debug)]
pub(crate) struct Messages {
    framer: LineFramer,
    limit: usize,
}

impl Messages {
    /// Creates a splitter for messages of at most `limit` bytes.
    pub(crate) fn within(limit: usize) -> Self {
        // Besides its body, a frame contains at most a line terminator or the headers of a block.
        Self { framer: LineFramer::with_limit(limit.saturating_add(MAX_HEADER_BLOCK_BYTES + 2)), limit }
    }

    /// Processes the next chunk of the stream, and passes each message to `take`.
    ///
    /// # Errors
    ///
    /// If a message is too long. The rest of the stream cannot be read then.
    pub(crate) fn push(&mut self, mut chunk: &[u8], mut take: impl FnMut(Vec<u8>)) -> Result<(), TooLong> {
        if self.framer.carry.len() >= LONG
            && self.framer.state == State::Line
            && let Some(end) = memchr::memchr(b'\n', chunk)
        {
            // Pass on a long line as it was collected: a copy would double the memory.
            let mut line = std::mem::take(&mut self.framer.carry);
            line.extend_from_slice(&chunk[..=end]);
            line.truncate(trim_line_end(&line).len());
            if line.len() > self.limit {
                return Err(TooLong);
            }
            take(line);
            chunk = &chunk[end + 1..];
        }
        let mut outcome = Ok(());
        let limit = self.limit;
        self.framer.push(chunk, |frame| outcome = outcome.and(pass(frame, limit, &mut take)));
        outcome
    }

    /// Ends the stream: remaining bytes are the last message.
    ///
    /// # Errors
    ///
    /// If the message is too long.
    pub(crate) fn finish(&mut self, mut take: impl FnMut(Vec<u8>)) -> Result<(), TooLong> {
        let (mut outcome, limit) = (Ok(()), self.limit);
        self.framer.finish(|frame| outcome = outcome.and(pass(frame, limit, &mut take)));
        outcome
    }

    /// Returns the number of bytes that wait for the rest of their message.
    pub(crate) fn pending(&self) -> usize {
        self.framer.pending()
    }
}

/// Lines of this length or more are passed on without a copy, in bytes (1 MiB).
const LONG: usize = 1 << 20;

fn pass(frame: Frame<'_>, limit: usize, take: &mut impl FnMut(Vec<u8>)) -> Result<(), TooLong> {
    let body = frame.framing.body(frame.payload);
    if frame.framing == Framing::Fragment || body.len() > limit {
        return Err(TooLong);
    }
    if !body.trim_ascii().is_empty() {
        take(body.to_vec());
    }
    Ok(())
}

fn trim_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn emit_line(line: &[u8], sink: &mut impl FnMut(Frame<'_>)) {
    let framing = if line.ends_with(b"\r\n") { Framing::CrLf } else { Framing::Lf };
    sink(Frame { payload: trim_line_end(line), framing });
}

/// Returns whether a line looks like a header: a name of letters, digits and hyphens, then a colon. JSON never does.
fn is_header(line: &[u8]) -> bool {
    let name = line.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
    name > 0 && line.get(name) == Some(&b':')
}

/// Returns the body length that a line announces, if it is a `Content-Length` header.
fn content_length(line: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"content-length:";
    let (name, value) = line.split_at_checked(NAME.len())?;
    if !name.eq_ignore_ascii_case(NAME) {
        return None;
    }
    let length = std::str::from_utf8(value).ok()?.trim().parse().ok()?;
    // No message is that long: this is a log line, not a header.
    (length <= MAX_BODY_BYTES).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frames(chunks: &[&[u8]], limit: usize) -> Vec<(Vec<u8>, Framing)> {
        let mut framer = LineFramer::with_limit(limit);
        let mut out = Vec::new();
        for chunk in chunks {
            framer.push(chunk, |frame| out.push((frame.payload.to_vec(), frame.framing)));
        }
        framer.finish(|frame| out.push((frame.payload.to_vec(), frame.framing)));
        out
    }

    #[test]
    fn lines_blank_lines_and_line_ends_are_reported_apart() {
        assert_eq!(
            frames(&[b"{}\n\r\n\n{\"a\"", b":1}\r", b"\nlast"], 1 << 20),
            vec![
                (b"{}".to_vec(), Framing::Lf),
                (b"".to_vec(), Framing::CrLf),
                (b"".to_vec(), Framing::Lf),
                (b"{\"a\":1}".to_vec(), Framing::CrLf),
                (b"last".to_vec(), Framing::Unterminated),
            ]
        );
    }

    #[test]
    fn content_length_blocks_are_recognised_and_keep_their_headers() {
        let block = b"Content-Length: 8\r\nContent-Type: x\r\n\r\n{\"a\":\n1}";
        let found = frames(&[block, b"{}\n"], 1 << 20);
        assert_eq!(found[0], (block.to_vec(), Framing::ContentLength));
        assert_eq!(found[0].1.body(&found[0].0), b"{\"a\":\n1}");
        assert_eq!(found[1], (b"{}".to_vec(), Framing::Lf));
    }

    #[test]
    fn a_header_block_that_is_none_falls_back_to_lines() {
        for stream in [&b"Content-Length: 5\nno header here\n{}\n"[..], b"Content-Length: 12\n{\"a\":1}\n{}\n"] {
            let found = frames(&[stream], 1 << 20);
            assert_eq!(found.iter().map(|(_, framing)| *framing).collect::<Vec<_>>(), vec![Framing::Lf; 3]);
        }
        let logged = b"Content-Length: 99999999999\n\n{}\n";
        assert_eq!(frames(&[logged], 1 << 20).len(), 3, "a length that no message has is a log line");
    }

    #[test]
    fn a_frame_past_the_limit_comes_in_fragments() {
        let found = frames(&[b"abcdef", b"gh\nx\n"], 4);
        assert_eq!(found[0], (b"abcdef".to_vec(), Framing::Fragment));
        assert_eq!(found[1], (b"gh".to_vec(), Framing::Lf));
    }

    #[test]
    fn messages_are_bodies_up_to_a_limit() {
        let cut = |stream: &[u8], size: usize, limit: usize| {
            let (mut messages, mut found) = (Messages::within(limit), Vec::new());
            let mut outcome = Ok(());
            for chunk in stream.chunks(size) {
                outcome = outcome.and_then(|()| messages.push(chunk, |message| found.push(message)));
            }
            outcome.and_then(|()| messages.finish(|message| found.push(message))).map(|()| found)
        };
        for size in [1, 3, 100] {
            let stream = b"\n12345\r\n \nContent-Length: 5\r\n\r\n1\n345last";
            assert_eq!(cut(stream, size, 5), Ok(vec![b"12345".to_vec(), b"1\n345".to_vec(), b"last".to_vec()]));
            assert_eq!(cut(stream, size, 4), Err(TooLong));
            assert_eq!(cut(b"123456789", size, 4), Err(TooLong), "an endless line too");
            assert_eq!(cut(b"Content-Length: 500\n\n123456789", size, 4), Err(TooLong));
        }
        let long = [&vec![b'x'; 3 * LONG][..], b"\r\nnext\n"].concat();
        assert_eq!(cut(&long, 1 << 16, 3 * LONG), Ok(vec![vec![b'x'; 3 * LONG], b"next".to_vec()]));
        assert_eq!(cut(&long, 1 << 16, 3 * LONG - 1), Err(TooLong));
    }

    #[test]
    fn a_line_end_is_never_torn() {
        let found = frames(&[b"123", b"45\r", b"\nx\r", b"\r\r", b"\n"], 6);
        let wanted: [(&[u8], _); 3] = [(b"12345", Framing::Fragment), (b"", Framing::CrLf), (b"x\r\r", Framing::CrLf)];
        assert_eq!(found, wanted.map(|(text, framing)| (text.to_vec(), framing)));
    }

    fn any_stream() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"{\"jsonrpc\":\"2.0\"}\n".to_vec()),
            Just(b"\r\n".to_vec()),
            Just(b"Content-Length: 3\r\n\r\nabc".to_vec()),
            Just(b"Content-Length: 2\n".to_vec()),
            Just(b"content-length: x\n".to_vec()),
            prop::collection::vec(any::<u8>(), 0..40),
        ];
        prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn frames_written_back_are_the_stream(stream in any_stream(), cut in 1usize..9, limit in 1usize..64) {
            let chunks: Vec<&[u8]> = stream.chunks(cut).collect();
            let mut written = Vec::new();
            for (payload, framing) in frames(&chunks, limit) {
                framing.write(&payload, &mut written).expect("a Vec takes all");
            }
            prop_assert_eq!(written, stream);
        }

        #[test]
        fn frames_joined_again_are_the_frames(stream in any_stream(), cut in 1usize..9, limit in 45usize..64) {
            let chunks: Vec<&[u8]> = stream.chunks(cut).collect();
            let (mut joined, mut begun) = (Vec::new(), Vec::new());
            for (payload, framing) in frames(&chunks, limit) {
                begun.extend(payload);
                if framing != Framing::Fragment {
                    joined.push((std::mem::take(&mut begun), framing));
                }
            }
            prop_assert_eq!(begun, b"");
            prop_assert_eq!(joined, frames(&[&stream], 1 << 20));
        }

        #[test]
        fn chunking_does_not_change_the_frames(stream in any_stream(), cut in 1usize..9) {
            let chunks: Vec<&[u8]> = stream.chunks(cut).collect();
            prop_assert_eq!(frames(&chunks, 1 << 20), frames(&[&stream], 1 << 20));
        }
    }
}
