//! What passes through a proxy besides heads and bodies: informational responses and trailers. Both sides of a connection
//! have an outbox for them.

use super::outlet::{Outbox, lines};
use super::watched::ConnectionFlags;
use crate::transport::client::http::Body;
use hyper::header::{HeaderMap, HeaderValue};
use hyper::http::request;
use hyper::{Request, StatusCode, Version, header};
use std::task::{Context, Poll};

/// What an exchange's client can take, and where.
#[derive(Clone)]
pub(super) struct ClientSide {
    outbox: Outbox,
    /// The response's number on the connection.
    number: u64,
    /// HTTP/1.0 has neither informational responses nor trailers.
    is_new: bool,
    /// The client waits until it is told to continue.
    expects: bool,
    /// The library tells it, not the server.
    continues: bool,
    flags: ConnectionFlags,
}

impl ClientSide {
    /// Of a request with this head, which came on the connection of this outbox.
    pub(super) fn of(head: &request::Parts) -> Self {
        let outbox = head.extensions.get::<Outbox>().cloned().unwrap_or_default();
        let number = outbox.current();
        let is_new = head.version == Version::HTTP_11;
        let expects = is_new && head.headers.contains_key(header::EXPECT);
        let flags = head.extensions.get::<ConnectionFlags>().cloned().unwrap_or_default();
        Self { outbox, number, is_new, expects, continues: expects, flags }
    }

    /// What is known of the connection.
    pub(super) fn flags(&self) -> &ConnectionFlags {
        &self.flags
    }

    /// Whether the client waits until it is told to continue.
    pub(super) fn expects(&self) -> bool {
        self.expects
    }

    /// Leaves it to the server to tell the client to continue.
    pub(super) fn leave_continue(&mut self) {
        self.continues = false;
        self.outbox.leave_continue();
    }

    /// Completes once the client has all that the library has begun to write; see [`Outbox::poll_flushed`].
    pub(super) fn poll_flushed(&self, since: &mut Option<u64>, context: &Context<'_>) -> Poll<()> {
        self.outbox.poll_flushed(since, context)
    }

    /// Passes on the server's informational response, if the client can take it. Returns whether it goes on.
    fn pass_early(&self, status: StatusCode, headers: &HeaderMap) -> bool {
        if !self.is_new || self.continues && status == StatusCode::CONTINUE {
            return false;
        }
        let mut headers = headers.clone();
        super::hop::strip(&mut headers);
        let reason = status.canonical_reason().unwrap_or_default();
        let head = format!("HTTP/1.1 {} {reason}\r\n", status.as_u16());
        self.outbox.put_early(self.number, [head.as_bytes(), &lines(&headers), b"\r\n"].concat())
    }

    /// Where the trailers of the response go; `None` if the client cannot take any.
    pub(super) fn trailers(&self) -> Option<TrailerSlot> {
        self.is_new.then(|| TrailerSlot { outbox: self.outbox.clone(), number: Some(self.number) })
    }

    /// Passes on the informational responses to this request. `see` is told of each, and whether it goes on.
    pub(super) fn expect_early(
        &self,
        request: &mut Request<Body>,
        see: impl Fn(StatusCode, &HeaderMap, bool) + Send + Sync + 'static,
    ) {
        let client = self.clone();
        hyper::ext::on_informational(request, move |response| {
            let (status, headers) = (response.status(), response.headers());
            see(status, headers, client.pass_early(status, headers));
        });
    }
}

/// Where the trailers of one message go.
pub(super) struct TrailerSlot {
    outbox: Outbox,
    /// The message's number; `None` for the current one.
    number: Option<u64>,
}

impl TrailerSlot {
    /// Of the request that is being sent.
    pub(super) fn of_request(outbox: &Outbox) -> Self {
        Self { outbox: outbox.clone(), number: None }
    }

    pub(super) fn put(self, trailers: &HeaderMap) {
        let number = self.number.unwrap_or_else(|| self.outbox.current());
        self.outbox.put_trailers(number, trailers);
    }
}

/// Whether the client asks for trailers: a header of one hop, which the proxy repeats because it passes them on.
pub(super) fn asks_for_trailers(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::TE).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|one| one.trim().eq_ignore_ascii_case("trailers"))
}

/// What announces trailers. It is no header of one hop, but it goes on only in front of chunks, which trailers can follow.
pub(super) struct Announcement(Vec<HeaderValue>);

impl Announcement {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let codings = headers.get_all(header::TRANSFER_ENCODING).iter().next_back();
        let is_chunked = codings.is_some_and(|coding| coding.as_bytes().to_ascii_lowercase().ends_with(b"chunked"));
        let values = headers.get_all(header::TRAILER).iter().filter(|_| is_chunked);
        Self(values.cloned().collect())
    }

    pub(super) fn put(self, headers: &mut HeaderMap) {
        for value in self.0 {
            headers.append(header::TRAILER, value);
        }
    }
}
