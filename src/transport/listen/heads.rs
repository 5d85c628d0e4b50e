//! Checks the framing of what peers send before the HTTP library reads it. The library silently drops a
//! `Content-Length` next to a `Transfer-Encoding`. Another server on the way may use that length, and then a second
//! request hides in the body of the first (request smuggling, RFC 9112 §6.1). It also accepts spellings that stricter
//! readers reject, and passes them on mended; whoever reads a recording must be able to see that.

use super::repairs::{FramingFault, Repair};

/// How many bytes of a line are kept; all relevant lines are shorter.
const MAX_LINE_BYTES: usize = 256;

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
#[derive(Clone, Debug, Default)]
pub struct Heads {
    side: Side,
    place: ParsePlace,
    line: Vec<u8>,
    /// The last byte of what came before.
    before: u8,
    /// The body length according to the current head.
    length: Option<u64>,
    /// A header of the current head has white space behind its name.
    has_space: bool,
    /// A list of the current head that says where the body ends has empty elements.
    has_empty: bool,
    /// The current head has a `Content-Length` that is invalid or differs from another.
    has_wrong_length: bool,
    /// The current head has a `Transfer-Encoding`.
    has_coding: bool,
    /// The current head has a coding other than `identity`.
    has_real_coding: bool,
    /// The last coding of the current head is `chunked`.
    is_chunked: bool,
    /// How often it is.
    times_chunked: u32,
    /// The current message is of HTTP/1.0.
    is_old: bool,
    /// The status of the current response.
    status: u16,
    pub(super) fault: Option<FramingFault>,
    /// The bits of what the peer's messages have needed so far.
    pub(super) repairs: u16,
    /// How many heads have ended, without those of informational responses.
    pub(super) ended: u64,
    /// The headers of the current request that decide who may read the answer.
    pub(super) asker: Asker,
}

/// The values of these headers of a request, as they stand.
#[derive(Clone, Debug, Default)]
pub(super) struct Asker {
    pub(super) host: Vec<u8>,
    pub(super) origin: Vec<u8>,
}

/// How a head has to be changed so that the library reads the message as it is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HeadMend {
    /// As one of HTTP/1.1.
    pub(super) raise_version: bool,
    /// Without the headers that say where the body ends.
    pub(super) hide_coding: bool,
    /// As well.
    pub(super) hide_length: bool,
    /// Without white space behind names.
    pub(super) close_names: bool,
    /// Without empty elements in the headers that say where the body ends.
    pub(super) drop_empty: bool,
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

    /// Says whether the next response is for `HEAD`.
    pub(super) fn expect(&mut self, is_to_head: bool) {
        if let Side::Responses { to_head } = &mut self.side {
            *to_head = is_to_head;
        }
    }

    /// Whether a message stated its length in two ways, or in an invalid way.
    pub fn is_ambiguous(&self) -> bool {
        self.fault.is_some()
    }

    /// What the messages have needed so far.
    pub fn repairs(&self) -> Vec<Repair> {
        Repair::ALL.into_iter().filter(|repair| self.repairs & repair.bit() != 0).collect()
    }

    /// Whether the bytes so far end within a head, or before the first one.
    pub(super) fn awaits_head(&self) -> bool {
        self.place == ParsePlace::Head || self.place == ParsePlace::Start && !self.line.is_empty()
    }

    /// Whether the next byte belongs to a head, or stands before one.
    pub(super) fn is_at_head(&self) -> bool {
        matches!(self.place, ParsePlace::Start | ParsePlace::Head)
    }

    pub(super) fn is_for_responses(&self) -> bool {
        matches!(self.side, Side::Responses { .. })
    }

    /// Whether a message is complete, and nothing of the next one has come.
    pub(super) fn is_between(&self) -> bool {
        self.place == ParsePlace::Start && self.line.is_empty()
    }

    /// Whether the next bytes are the trailers of a body, or the line that ends it.
    pub(super) fn is_at_trailers(&self) -> bool {
        self.place == ParsePlace::Trailers && self.line.is_empty()
    }

    /// Takes the next bytes of the connection.
    pub fn take(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            bytes = &bytes[self.take_some(bytes)..];
        }
    }

    /// Takes the next bytes up to the end of a head, of the last chunk or of a message. Returns how many they were.
    pub(super) fn take_some(&mut self, all: &[u8]) -> usize {
        let mut bytes = all;
        while !bytes.is_empty() {
            if matches!(self.place, ParsePlace::Lost | ParsePlace::Rest) {
                return all.len();
            }
            let (was_at_head, was_in_chunks) = (self.is_at_head(), self.place == ParsePlace::Chunk);
            let ended = self.ended;
            bytes = self.take_piece(bytes);
            let is_at_trailers = was_in_chunks && self.place == ParsePlace::Trailers;
            if self.ended != ended || was_at_head != self.is_at_head() || is_at_trailers {
                break;
            }
        }
        all.len() - bytes.len()
    }

    /// Takes a line, or the rest of a body. Returns what follows.
    fn take_piece<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if let ParsePlace::Body(left) | ParsePlace::ChunkBody(left) = self.place {
            let taken = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
            let left = left - taken as u64;
            self.place = match self.place {
                ParsePlace::Body(_) if left == 0 => ParsePlace::Start,
                ParsePlace::Body(_) => ParsePlace::Body(left),
                _ if left == 0 => ParsePlace::Chunk,
                _ => ParsePlace::ChunkBody(left),
            };
            return &bytes[taken..];
        }
        let end = memchr::memchr(b'\n', bytes);
        let (piece, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
        let kept = piece.len().min(MAX_LINE_BYTES.saturating_sub(self.line.len()));
        if end.is_some() {
            let before = if piece.len() > 1 { piece[piece.len() - 2] } else { self.before };
            self.note_line_end(before);
        }
        self.before = piece[piece.len() - 1];
        if end.is_some() && self.line.is_empty() {
            self.end_of_line(&piece[..kept]);
            return rest;
        }
        self.line.extend_from_slice(&piece[..kept]);
        if end.is_some() {
            let line = std::mem::take(&mut self.line);
            self.end_of_line(&line);
            self.line = line;
            self.line.clear();
        }
        rest
    }

    fn note(&mut self, repair: Repair) {
        self.repairs |= repair.bit();
    }

    fn note_empty(&mut self) {
        self.has_empty = true;
        self.note(Repair::EmptyElement);
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
                (self.length, self.has_wrong_length) = (None, false);
                (self.has_space, self.has_empty) = (false, false);
                (self.has_coding, self.has_real_coding) = (false, false);
                (self.is_chunked, self.times_chunked) = (false, 0);
                self.asker.host.clear();
                self.asker.origin.clear();
                self.is_old = match self.side {
                    Side::Requests => line.ends_with(b" HTTP/1.0"),
                    Side::Responses { .. } => line.starts_with(b"HTTP/1.0"),
                };
                let status = line.split(|byte| *byte == b' ').nth(1).and_then(|it| std::str::from_utf8(it).ok());
                self.status = status.and_then(|status| status.parse().ok()).unwrap_or_default();
                ParsePlace::Head
            }
            ParsePlace::Head if line.is_empty() => self.end_of_head(),
            ParsePlace::Head => {
                self.header(line);
                ParsePlace::Head
            }
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
        if self.place == ParsePlace::Lost {
            self.fault.get_or_insert(FramingFault::Chunk);
        }
    }

    /// How the head that has just ended has to be changed.
    pub(super) fn mend(&self) -> HeadMend {
        match self.side {
            Side::Requests => {
                let is_refused = self.fault.is_some_and(|fault| fault != FramingFault::Both);
                HeadMend { hide_coding: is_refused, hide_length: is_refused, ..HeadMend::default() }
            }
            Side::Responses { .. } => HeadMend {
                raise_version: self.is_old && self.has_real_coding,
                hide_coding: self.has_coding && !self.has_real_coding,
                hide_length: false,
                close_names: self.has_space,
                drop_empty: self.has_empty,
            },
        }
    }

    /// What follows the current head (RFC 9112 §6.3).
    fn end_of_head(&mut self) -> ParsePlace {
        let is_response = matches!(self.side, Side::Responses { .. });
        if !is_response || !matches!(self.status, 100 | 102..=199) {
            self.ended += 1;
        }
        // A request with `identity` is refused; for a response, it is as if it were not there.
        let has_coding = self.has_coding && (!is_response || self.has_real_coding);
        if self.has_coding && !has_coding {
            self.note(Repair::IdentityCoding);
        }
        if has_coding && self.has_wrong_length {
            self.note(Repair::WrongLengthBesideCoding);
        } else if has_coding && self.length.is_some() {
            self.note(Repair::LengthBesideCoding);
        }
        if has_coding && self.times_chunked > 1 {
            self.note(Repair::RepeatedChunked);
        }
        let has_length = self.length.is_some() || self.has_wrong_length;
        let fault = match self.side {
            _ if self.has_wrong_length && !(is_response && has_coding) => Some(FramingFault::Length),
            Side::Requests if has_coding && self.is_old => Some(FramingFault::OldCoding),
            Side::Requests if has_coding && (!self.is_chunked || self.times_chunked > 1) => Some(FramingFault::Coding),
            _ if has_coding && has_length => Some(FramingFault::Both),
            _ => None,
        };
        if let Some(fault) = fault {
            self.fault.get_or_insert(fault);
            if fault != FramingFault::Both {
                return ParsePlace::Lost;
            }
        }
        match (self.side, self.length) {
            (Side::Responses { .. }, _) if self.status == 101 => ParsePlace::Rest,
            (Side::Responses { .. }, _) if matches!(self.status, 100..=199 | 204 | 304) => ParsePlace::Start,
            (Side::Responses { to_head: true }, _) => ParsePlace::Start,
            _ if has_coding => {
                if self.is_old {
                    self.note(Repair::CodingInOldVersion);
                }
                if self.is_chunked { ParsePlace::Chunk } else { ParsePlace::Rest }
            }
            (_, Some(0)) | (Side::Requests, None) => ParsePlace::Start,
            (_, Some(length)) => ParsePlace::Body(length),
            (Side::Responses { .. }, None) => ParsePlace::Rest,
        }
    }

    fn header(&mut self, line: &[u8]) {
        let Some(colon) = memchr::memchr(b':', line) else { return };
        let is_response = self.is_for_responses();
        let name = &line[..if is_response { end_of_name(line, colon) } else { colon }];
        if name.len() < colon {
            self.has_space = true;
            self.note(Repair::SpaceBeforeColon);
        }
        if !name.first().is_some_and(|first| matches!(first.to_ascii_lowercase(), b'c' | b't' | b'h' | b'o')) {
            return;
        }
        let value = line[colon + 1..].trim_ascii();
        let elements = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            for coding in elements {
                if is_response && coding.is_empty() {
                    self.note_empty();
                    continue;
                }
                self.has_coding = true;
                self.has_real_coding |= !coding.eq_ignore_ascii_case(b"identity");
                self.is_chunked = coding.eq_ignore_ascii_case(b"chunked");
                self.times_chunked += u32::from(self.is_chunked);
            }
        } else if name.eq_ignore_ascii_case(b"content-length") {
            let is_list = is_response && elements.clone().any(|stated| !stated.is_empty());
            for stated in elements {
                if is_list && stated.is_empty() {
                    self.note_empty();
                    continue;
                }
                match length(stated) {
                    None => self.has_wrong_length = true,
                    Some(length) => match self.length.replace(length) {
                        None => {}
                        Some(first) if first == length => self.note(Repair::RepeatedLength),
                        Some(_) => self.has_wrong_length = true,
                    },
                }
            }
        } else if self.side == Side::Requests {
            let asker = &mut self.asker;
            let into = match name {
                name if name.eq_ignore_ascii_case(b"host") => &mut asker.host,
                name if name.eq_ignore_ascii_case(b"origin") => &mut asker.origin,
                _ => return,
            };
            // Of two, neither counts.
            into.extend_from_slice(if into.is_empty() { value } else { b", " });
        }
    }
}

/// Where the name in a header line ends whose colon is here. White space before the colon does not belong to it.
pub(super) fn end_of_name(line: &[u8], colon: usize) -> usize {
    let last = line[..colon].iter().rposition(|byte| !matches!(byte, b' ' | b'\t'));
    last.map_or(colon, |last| last + 1)
}

/// A length (RFC 9110 §8.6): digits and nothing else.
fn length(text: &[u8]) -> Option<u64> {
    let digits = Some(text).filter(|text| text.iter().all(u8::is_ascii_digit))?;
    std::str::from_utf8(digits).ok()?.parse().ok()
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
            assert_eq!((heads.place, heads.is_ambiguous()), (ParsePlace::Start, false), "in pieces of {cuts}");
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
                assert!([1, 7, 100_000].iter().all(|cuts| heads(all.as_bytes(), *cuts).is_ambiguous()), "{all}");
            }
        }
        assert!(heads(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n", 9).is_ambiguous());
        assert!(heads(b"POST / HTTP/1.1\r\nContent-Length: 5, 6\r\n\r\n", 9).is_ambiguous());
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
    fn what_is_mended_only_in_responses_is_named_and_refused_in_requests() {
        use Repair::*;
        let end = ParsePlace::Start;
        let cases: [(&str, &[Repair]); 8] = [
            ("X\t : y\r\nContent-Length : 2\r\n\r\n{}", &[SpaceBeforeColon]),
            ("Transfer-Encoding : chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", &[SpaceBeforeColon]),
            ("Transfer-Encoding: chunked, ,\r\n\r\n2\r\n{}\r\n0\r\n\r\n", &[EmptyElement]),
            ("Transfer-Encoding: identity,\r\nContent-Length: 2\r\n\r\n{}", &[IdentityCoding, EmptyElement]),
            ("Transfer-Encoding:\r\nContent-Length: ,2\r\n\r\n{}", &[EmptyElement]),
            ("Content-Length: 2,,2\r\n\r\n{}", &[RepeatedLength, EmptyElement]),
            // Near misses.
            ("X: y : z\r\nContent-Length:  2 \r\n\r\n{}", &[]),
            ("X: ,,\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", &[]),
        ];
        for (rest, repairs) in cases {
            for cuts in [1, 2, 3, 7, 1000] {
                let response = format!("HTTP/1.1 200 a : b\r\n{rest}");
                assert_eq!(of_response(&response, false, cuts), (end, repairs.to_vec()), "{rest:?} {cuts}");
                let request = heads(format!("POST / HTTP/1.1\r\n{rest}").as_bytes(), cuts);
                assert!(request.repairs().iter().all(|it| ![SpaceBeforeColon, EmptyElement].contains(it)), "{rest:?}");
                assert!(!repairs.contains(&EmptyElement) || request.is_ambiguous(), "{rest:?}");
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
        for rest in ["HTTP/1.1 200 OK\r\n\r\na\nb", "HTTP/1.1 101 x\r\nUpgrade: w\r\n\r\n\n\n"] {
            assert_eq!(of_response(rest, false, 4), (ParsePlace::Rest, vec![]), "{rest:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_come_to_the_same(bytes in prop::collection::vec(any::<u8>(), 0..400), cuts in 1usize..50) {
            let (one, two) = (heads(&bytes, cuts), heads(&bytes, bytes.len()));
            prop_assert_eq!((one.place, one.fault, one.ended), (two.place, two.fault, two.ended));
            prop_assert!(one.line.len() <= MAX_LINE_BYTES);
        }
    }
}
