//! Holds back the beginning of a head until it is complete, and changes a few bytes of those that the HTTP library would
//! refuse or misread, without moving any. The library does nothing with a part of a head, so nothing is delayed.

use super::heads::{HeadMend, Heads, end_of_name};
use crate::transport::client::http::MAX_HEAD_BYTES;
use hyper::header::{self, HeaderMap, HeaderName};
use tokio::io::ReadBuf;

/// The first byte of a header's name that the library must not know. No usual name begins with it.
const HIDDEN: u8 = b'~';
const HIDDEN_CODING: HeaderName = HeaderName::from_static("~ransfer-encoding");
const HIDDEN_LENGTH: HeaderName = HeaderName::from_static("~ontent-length");

/// Gives the hidden headers of a head their names back.
pub(super) fn restore(headers: &mut HeaderMap) {
    for (hidden, name) in [(HIDDEN_CODING, header::TRANSFER_ENCODING), (HIDDEN_LENGTH, header::CONTENT_LENGTH)] {
        let values: Vec<_> = headers.get_all(&hidden).iter().cloned().collect();
        headers.remove(&hidden);
        for value in values {
            headers.append(name.clone(), value);
        }
    }
}

/// Removes the hidden headers of a head.
pub(super) fn remove_hidden(headers: &mut HeaderMap) {
    for hidden in [HIDDEN_CODING, HIDDEN_LENGTH] {
        headers.remove(hidden);
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct HeadGate {
    pub(super) heads: Heads,
    /// The beginning of a head.
    held: Vec<u8>,
    /// What may pass, from this position on.
    ready: (Vec<u8>, usize),
    /// A header was hidden.
    pub(super) has_hidden: bool,
    /// What comes is no head; nothing is held back any more.
    gave_up: bool,
}

impl HeadGate {
    pub(super) fn new(heads: Heads) -> Self {
        Self { heads, held: Vec::new(), ready: (Vec::new(), 0), has_hidden: false, gave_up: false }
    }

    /// Passes on what was held back and is complete. Returns whether there was anything.
    pub(super) fn give(&mut self, buffer: &mut ReadBuf<'_>) -> bool {
        let (ready, at) = &mut self.ready;
        let left = &ready[*at..];
        if left.is_empty() {
            return false;
        }
        let taken = left.len().min(buffer.remaining());
        buffer.put_slice(&left[..taken]);
        *at += taken;
        if *at == ready.len() {
            self.ready = (Vec::new(), 0);
        }
        true
    }

    /// Lets everything pass that is held back. Returns whether there was anything.
    pub(super) fn release(&mut self) -> bool {
        let held = std::mem::take(&mut self.held);
        let was_holding = !held.is_empty();
        self.ready.0.extend(held);
        was_holding
    }

    /// Takes bytes that were read. Returns how many of them may pass now; the others are held back.
    pub(super) fn take(&mut self, bytes: &mut [u8]) -> usize {
        if self.held.is_empty() {
            let complete = self.mend(bytes, 0);
            self.held.extend_from_slice(&bytes[complete..]);
            return complete;
        }
        let mut held = std::mem::take(&mut self.held);
        let known = held.len();
        held.extend_from_slice(bytes);
        let complete = self.mend(&mut held, known);
        self.held = held.split_off(complete);
        self.ready.0.extend(held);
        0
    }

    /// Mends the heads in these bytes, of which the first `known` have been taken before. Returns how many are no part of
    /// an incomplete head.
    fn mend(&mut self, bytes: &mut [u8], known: usize) -> usize {
        if self.gave_up {
            self.heads.take(&bytes[known..]);
            return bytes.len();
        }
        let (mut at, mut start) = (known, 0);
        while at < bytes.len() {
            let was_at_head = self.heads.is_at_head();
            if !was_at_head || self.heads.is_between() {
                start = at;
            }
            at += self.heads.take_some(&bytes[at..]);
            let is_complete = !self.heads.is_at_head() || self.heads.is_between();
            if was_at_head && is_complete {
                let mend = self.heads.mend();
                if mend != HeadMend::default() {
                    self.has_hidden |= apply(mend, &mut bytes[start..at]);
                }
            }
        }
        // The library refuses at once what is too long, or no head.
        let is_part = self.heads.is_at_head() && !self.heads.is_between();
        let begun = &bytes[start..];
        self.gave_up =
            is_part && (begun.len() > MAX_HEAD_BYTES || !may_become_head(begun, self.heads.is_for_responses()));
        if is_part && !self.gave_up { start } else { bytes.len() }
    }
}

/// Whether a head may begin like this. Another protocol may never send the end of one, and its peer has to learn of the
/// mistake.
fn may_become_head(begun: &[u8], is_response: bool) -> bool {
    const VERSION: &[u8] = b"HTTP/1.";
    let blank = begun.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let begun = &begun[blank..];
    let end = memchr::memchr(b'\n', begun);
    let line = &begun[..end.unwrap_or(begun.len())];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if is_response {
        let common = line.len().min(VERSION.len());
        return line[..common] == VERSION[..common] && (end.is_none() || line.len() > VERSION.len());
    }
    let is_text = line.iter().all(|byte| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f));
    is_text && (end.is_none() || memchr::memmem::find(line, VERSION).is_some())
}

/// Returns whether a header was hidden.
fn apply(mend: HeadMend, head: &mut [u8]) -> bool {
    if mend.raise_version {
        let version = memchr::memmem::find(head, b"HTTP/1.0");
        if let Some(digit) = version.and_then(|at| head.get_mut(at + 7)) {
            *digit = b'1';
        }
    }
    let mut has_hidden = false;
    let lines = head.split_mut(|byte| *byte == b'\n');
    for line in lines.skip_while(|line| line.trim_ascii().is_empty()).skip(1) {
        let Some(colon) = memchr::memchr(b':', line) else { continue };
        let end = if mend.close_names { end_of_name(line, colon) } else { colon };
        line.swap(end, colon);
        let is_coding = line[..end].eq_ignore_ascii_case(b"transfer-encoding");
        let is_length = line[..end].eq_ignore_ascii_case(b"content-length");
        let is_empty = mend.drop_empty && (is_coding || is_length) && !drop_empty(&mut line[end + 1..]);
        if is_coding && (mend.hide_coding || is_empty) || is_length && mend.hide_length {
            line[0] = HIDDEN;
            has_hidden = true;
        }
    }
    has_hidden
}

/// Leaves only those elements of a list that are not empty, and white space. Returns whether there are any.
fn drop_empty(list: &mut [u8]) -> bool {
    let elements = list.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    let kept = elements.filter(|element| !element.is_empty()).collect::<Vec<_>>().join(&b","[..]);
    if kept.is_empty() {
        return false;
    }
    let end = list.strip_suffix(b"\r").map_or(list.len(), <[u8]>::len);
    list[..end].fill(b' ');
    list[..kept.len()].copy_from_slice(&kept);
    true
}

#[cfg(test)]
mod tests {
    use super::super::heads::Side;
    use super::*;

    fn passed(side: Side, bytes: &str, cuts: usize) -> String {
        let mut gate = HeadGate::new(Heads::of(side));
        let mut out = Vec::new();
        let mut space = [0; 64];
        for piece in bytes.as_bytes().chunks(cuts) {
            let mut piece = piece.to_vec();
            let now = gate.take(&mut piece);
            out.extend_from_slice(&piece[..now]);
            let mut buffer = ReadBuf::new(&mut space);
            while gate.give(&mut buffer) {
                out.extend_from_slice(buffer.filled());
                buffer.clear();
            }
        }
        gate.release();
        out.extend_from_slice(&gate.ready.0);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn only_what_would_be_misread_is_changed_at_every_cut() {
        let server = Side::Responses { to_head: false };
        let body = "2\r\n{}\r\n0\r\n\r\n";
        let cases = [
            (
                server,
                "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            ),
            (
                server,
                "HTTP/1.1 103 E\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: Identity\r\nContent-Length: 12\r\n\r\n",
                "HTTP/1.1 103 E\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n~ransfer-encoding: Identity\r\nContent-Length: 12\r\n\r\n",
            ),
            (
                Side::Requests,
                "\r\nPOST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
                "\r\nPOST / HTTP/1.0\r\nHost: x\r\n~ransfer-Encoding: chunked\r\n\r\n",
            ),
            (
                Side::Requests,
                "POST / HTTP/1.1\r\nContent-Length: +5\r\nTransfer-Encoding: chunked\r\n\r\n",
                "POST / HTTP/1.1\r\n~ontent-Length: +5\r\n~ransfer-Encoding: chunked\r\n\r\n",
            ),
            (
                server,
                "\r\nHTTP/1.1 200 a : b\r\nX-A \t: b : c\r\nContent-Length\t: 12\n\r\n",
                "\r\nHTTP/1.1 200 a : b\r\nX-A:\t  b : c\r\nContent-Length:\t 12\n\r\n",
            ),
            (
                server,
                "HTTP/1.1 200 OK\r\nX: ,,\r\ntransfer-encoding : gzip, ,chunked ,\r\nTransfer-Encoding: ,\r\n\r\n",
                "HTTP/1.1 200 OK\r\nX: ,,\r\ntransfer-encoding:gzip,chunked      \r\n~ransfer-Encoding: ,\r\n\r\n",
            ),
            (
                server,
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity,\r\nContent-Length: ,12,12\r\n\r\n",
                "HTTP/1.1 200 OK\r\n~ransfer-Encoding:identity  \r\nContent-Length:12,12  \r\n\r\n",
            ),
        ];
        for (side, head, mended) in cases {
            for cuts in 1..head.len() + body.len() + 1 {
                let all = [head, body].concat();
                assert_eq!(passed(side, &all, cuts), [mended, body].concat(), "in pieces of {cuts}");
            }
        }
        // Near misses.
        for (side, all) in [
            (server, "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
            (server, "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
            (server, "HTTP/1.1 200 OK : x\r\nX: a : b\r\n : c\r\nContent-Length: ,\r\n\r\n"),
            (server, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nX : y\r\n\r\n"),
            (Side::Requests, "POST / HTTP/1.1\r\nX : y\r\nContent-Length: 0\r\n\r\n"),
            (server, "HTTP/1.1 200 OK\r\n\r\nHTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"),
            (
                Side::Requests,
                "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nX: Transfer-Encoding: a\r\n\r\n0\r\n\r\nGET",
            ),
            (Side::Requests, "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ] {
            for cuts in 1..all.len() {
                assert_eq!(passed(side, all, cuts), all, "in pieces of {cuts}");
            }
        }
    }

    #[test]
    fn what_is_no_head_is_not_held_back() {
        let server = Side::Responses { to_head: false };
        let cases: [(Side, &str, bool); 12] = [
            (server, "HTTP/1.1 200 O", true),
            (server, "HT", true),
            (server, "\r\nHTTP/1.0 200 OK\r\nX:", true),
            (server, "SSH-2.0-OpenSSH_9.6\r\n", false),
            (server, "{\"jsonrpc\"", false),
            (server, "HTTP/2 200\r\nX:", false),
            (Side::Requests, "POS", true),
            (Side::Requests, "\r\nPOST /mcp HTTP/1.1\r\nHost", true),
            (Side::Requests, "POST /\u{e9} HTTP/1.0\r", true),
            (Side::Requests, "\u{16}\u{3}\u{1}\u{2}", false),
            (Side::Requests, "EHLO me\r\n", false),
            (Side::Requests, "G\0T / HT", false),
        ];
        for (side, begun, is_held) in cases {
            for cuts in [1, 3, 100] {
                let mut gate = HeadGate::new(Heads::of(side));
                let mut given = 0;
                for piece in begun.as_bytes().chunks(cuts) {
                    given += gate.take(&mut piece.to_vec());
                }
                let given = given + gate.ready.0.len();
                assert_eq!(given < begun.len(), is_held, "{begun:?} in pieces of {cuts}");
            }
        }
    }

    #[test]
    fn what_is_hidden_gets_its_name_back() {
        let mut headers = HeaderMap::new();
        headers.append(HIDDEN_CODING, header::HeaderValue::from_static("identity"));
        headers.append("~ransfer-encoding", header::HeaderValue::from_static("x"));
        headers.append(header::ACCEPT, header::HeaderValue::from_static("*/*"));
        restore(&mut headers);
        let codings: Vec<_> = headers.get_all(header::TRANSFER_ENCODING).iter().collect();
        assert_eq!(codings, ["identity", "x"]);
        assert_eq!(headers.len(), 3);
    }
}
