//! Heads as the reel has them, with secrets redacted. Nearly every header repeats one of an earlier request, so what is
//! recorded of it is remembered.

use crate::redact;
use crate::trace::cbor::{major, push_head, push_text};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::http::{request, response};
use std::collections::HashMap;

/// The maximum number of header names to remember.
const MAX_NAMES: usize = 64;
/// The maximum number of values to remember for each name, such as those of different sessions.
const MAX_VALUES: usize = 16;
/// The maximum length of a value to remember, in bytes.
const MAX_VALUE_BYTES: usize = 512;

/// Appends the payload of an event for a request's head to `out`: a CBOR map, with secrets redacted.
pub(super) fn push_request(out: &mut Vec<u8>, recorded: &mut RecordedHeaders, head: &request::Parts, target: &str) {
    push_head(out, major::MAP, 4);
    push_member(out, "what", "request");
    push_member(out, "method", head.method.as_str());
    push_member(out, "target", &redact::redact_target(target));
    recorded.push(out, &head.headers);
}

/// Appends the payload of an event for a response's head to `out`.
pub(super) fn push_response(out: &mut Vec<u8>, recorded: &mut RecordedHeaders, head: &response::Parts) {
    push_head(out, major::MAP, 3);
    push_member(out, "what", "response");
    push_text(out, "status");
    push_head(out, major::POSITIVE, u64::from(head.status.as_u16()));
    recorded.push(out, &head.headers);
}

fn push_member(out: &mut Vec<u8>, name: &str, value: &str) {
    push_text(out, name);
    push_text(out, value);
}

/// A header with a buffer of its own, to be kept: a received one is a part of its connection's whole buffer (8 KiB).
pub(super) fn copied((name, value): (&HeaderName, &HeaderValue)) -> Option<(HeaderName, HeaderValue)> {
    let name = HeaderName::from_bytes(name.as_str().as_bytes()).ok()?;
    let mut copy = HeaderValue::from_bytes(value.as_bytes()).ok()?;
    copy.set_sensitive(value.is_sensitive());
    Some((name, copy))
}

/// Values of a header, and the CBOR of the header with each.
type Values = Vec<(HeaderValue, Box<[u8]>)>;

/// What is recorded of the headers seen so far.
#[derive(Default)]
pub(super) struct RecordedHeaders(HashMap<HeaderName, Values, foldhash::fast::RandomState>);

impl RecordedHeaders {
    /// Appends the member with the headers of a head: pairs of name and value.
    fn push(&mut self, out: &mut Vec<u8>, headers: &HeaderMap) {
        push_text(out, "headers");
        push_head(out, major::ARRAY, headers.len() as u64);
        headers.iter().for_each(|(name, value)| self.push_pair(out, name, value));
    }

    fn push_pair(&mut self, out: &mut Vec<u8>, name: &HeaderName, value: &HeaderValue) {
        let known = self.0.get(name).and_then(|values| values.iter().find(|(known, _)| known == value));
        if let Some((_, pair)) = known {
            return out.extend_from_slice(pair);
        }
        let start = out.len();
        let text = String::from_utf8_lossy(value.as_bytes());
        push_head(out, major::ARRAY, 2);
        push_member(out, name.as_str(), &redact::redact_header(name.as_str(), &text));
        if value.len() <= MAX_VALUE_BYTES
            && (self.0.len() < MAX_NAMES || self.0.contains_key(name))
            && let Some((name, value)) = copied((name, value))
        {
            let values = self.0.entry(name).or_default();
            if values.len() == MAX_VALUES {
                values.remove(0);
            }
            values.push((value, out[start..].into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::TransportEvent;

    fn recorded(headers: &mut RecordedHeaders, name: &'static str, value: &str) -> String {
        let value = HeaderValue::from_str(value).expect("a value");
        let map: HeaderMap = [(HeaderName::from_static(name), value)].into_iter().collect();
        let mut out = Vec::new();
        headers.push(&mut out, &map);
        let pairs = out.strip_prefix(b"\x67headers").expect("the member");
        let pairs: Vec<(String, String)> = ciborium::from_reader(pairs).expect("pairs");
        pairs[0].1.clone()
    }

    #[test]
    fn a_header_is_recorded_alike_whether_it_is_remembered_or_not() {
        let mut headers = RecordedHeaders::default();
        for _ in 0..2 {
            assert_eq!(recorded(&mut headers, "authorization", "Bearer abcdef"), "Bearer [redacted]");
            assert_eq!(recorded(&mut headers, "x-other", "Bearer abcdef"), "Bearer [redacted]");
            assert_eq!(recorded(&mut headers, "accept", "text/plain"), "text/plain");
            assert_eq!(recorded(&mut headers, "accept", "text/html"), "text/html");
        }
        assert_eq!(headers.0.len(), 3);
    }

    #[test]
    fn headers_that_are_remembered_do_not_keep_their_connections_buffer() {
        let buffer = bytes::Bytes::from(vec![b'x'; 8192]);
        let value = HeaderValue::from_maybe_shared(buffer.slice(..20)).expect("letters");
        let mut headers = RecordedHeaders::default();
        headers.push(&mut Vec::new(), &[(hyper::header::ACCEPT, value)].into_iter().collect());
        assert_eq!(headers.0.len(), 1);
        assert!(buffer.is_unique());
    }

    #[test]
    fn heads_are_maps() {
        let request = hyper::Request::post("/mcp?a=1").header("accept", "*/*").header("accept", "text/html");
        let (request, ()) = request.body(()).expect("a request").into_parts();
        let (response, ()) = hyper::Response::builder().status(404).body(()).expect("a response").into_parts();
        let (mut headers, mut out) = (RecordedHeaders::default(), Vec::new());
        push_request(&mut out, &mut headers, &request, "/mcp?a=1");
        push_response(&mut out, &mut headers, &response);
        let mut rest = &out[..];
        let heads: [TransportEvent; 2] = std::array::from_fn(|_| ciborium::from_reader(&mut rest).expect("CBOR"));
        let headers = [("accept", "*/*"), ("accept", "text/html")].map(|(name, value)| (name.into(), value.into()));
        let (method, target, headers) = ("POST".to_owned(), "/mcp?a=1".to_owned(), headers.to_vec());
        let response = TransportEvent::Response { status: 404, headers: Vec::new() };
        assert_eq!(heads, [TransportEvent::Request { method, target, headers }, response]);
        assert!(rest.is_empty());
    }

    #[test]
    fn only_so_many_headers_are_remembered() {
        let mut headers = RecordedHeaders::default();
        for number in 0..3 * MAX_VALUES {
            assert_eq!(recorded(&mut headers, "content-length", &number.to_string()), number.to_string());
        }
        let long = "x".repeat(MAX_VALUE_BYTES + 1);
        assert_eq!(recorded(&mut headers, "accept", &long), long);
        assert_eq!(headers.0.len(), 1);
        assert_eq!(headers.0[&HeaderName::from_static("content-length")].len(), MAX_VALUES);
        for number in 0..3 * MAX_NAMES {
            let name = HeaderName::try_from(format!("x-{number}")).expect("a name");
            headers.push(&mut Vec::new(), &[(name, HeaderValue::from_static("1"))].into_iter().collect());
        }
        assert_eq!(headers.0.len(), MAX_NAMES);
    }
}
