//! Responses with messages of the server: one JSON body, or a stream of events.

use super::refusal::with_json;
use super::session::PostGuard;
use super::streams::{Event, StreamMessage, is_unnamed_error};
use super::{VERSION, text};
use crate::protocol::Revision;
use crate::protocol::http::{Delivery, EventStream};
use crate::transport::client::http::{Body, BodyError};
use crate::wire::{Envelope, MessageKind, json};
use bytes::Bytes;
use futures_util::StreamExt;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};

/// The complete answer to a POST.
pub(super) struct Answer {
    /// The message.
    pub message: Bytes,
    /// The gateway made it, because the server has ended.
    pub is_made: bool,
}

/// All answers to a POST whose client does not accept events; those of a batch as an array (2025-03-26). Messages
/// before them cannot be sent to the client. `None` if there are no answers.
pub(super) async fn answers(said: &mut StreamMessage, is_batch: bool) -> Option<Answer> {
    let mut all: Vec<Bytes> = Vec::new();
    while let Some(event) = said.recv().await {
        match event.is_answer() {
            true if !is_batch => return Some(Answer { message: event.message, is_made: event.is_made }),
            true => all.push(event.message),
            false => {}
        }
    }
    if let [only] = &all[..]
        && is_unnamed_error(&Envelope::scan(only))
    {
        return Some(Answer { message: only.clone(), is_made: false });
    }
    let items = all.iter().flat_map(|answer| match Envelope::scan(answer).kind {
        MessageKind::Batch => json::items(answer).collect(),
        _ => vec![&answer[..]],
    });
    let items: Vec<&[u8]> = items.collect();
    (is_batch && !said.is_cut())
        .then(|| Answer { message: [b"[", &items.join(&b","[..])[..], b"]"].concat().into(), is_made: false })
}

impl Answer {
    /// Its HTTP status. In the modern era, some errors have one (MCP 2026-07-28, Streamable HTTP).
    pub(super) fn status(&self, is_resumable: bool) -> StatusCode {
        let Some(error) = json::at_path(&self.message, &["error"]) else {
            return if self.is_made { StatusCode::BAD_GATEWAY } else { StatusCode::OK };
        };
        // The server could not accept the message (MCP 2025-11-25, Streamable HTTP).
        if is_unnamed_error(&Envelope::scan(&self.message)) {
            return StatusCode::BAD_REQUEST;
        }
        let code = json::at_path(error, &["code"]);
        let code = code.and_then(|code| std::str::from_utf8(code).ok()?.parse().ok());
        match code {
            _ if self.is_made => StatusCode::BAD_GATEWAY,
            Some(-32601) if !is_resumable => StatusCode::NOT_FOUND,
            Some(-32022..=-32020 | -32602) if !is_resumable => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        }
    }

    /// As a response.
    pub(super) fn response(self, is_resumable: bool) -> Response<Body> {
        with_json(self.status(is_resumable), self.message)
    }
}

/// Breaks the client's connection, because the one to the server broke.
fn broken() -> BodyError {
    "the connection to the server broke".into()
}

/// A response that breaks off before its first byte.
pub(super) fn cut_off() -> Response<Body> {
    let nothing = futures_util::stream::once(async { Err::<Frame<Bytes>, _>(broken()) });
    Response::new(StreamBody::new(nothing).boxed_unsync())
}

/// Returns whether to begin a stream with an event without data, which clients before 2025-11-25 do not expect.
fn expects_priming(headers: &HeaderMap) -> bool {
    let version = text(headers, VERSION).and_then(|version| Revision::parse(&version));
    version.is_some_and(|version| version >= Revision::V2025_11_25)
}

/// Returns what a stream of events contains besides messages, as the backend wants it, or as the client expects it.
pub(super) fn form(delivery: Delivery, is_resumable: bool, headers: &HeaderMap) -> EventStream {
    match delivery {
        _ if !is_resumable => EventStream::default(),
        Delivery::Events(form) => form,
        Delivery::Json => EventStream { has_ids: true, is_primed: expects_priming(headers), ..EventStream::default() },
    }
}

/// An event stream that is being sent.
pub(super) struct Stream {
    /// What it contains besides messages.
    pub form: EventStream,
    /// Its messages.
    pub said: StreamMessage,
    /// Kept until the stream ends.
    pub guard: Option<PostGuard>,
}

impl Stream {
    /// The response, which begins with this event, if any, and ends with the stream.
    pub(super) fn begin(self, first: Option<Event>) -> Response<Body> {
        let Self { form, said, guard } = self;
        let priming = form.is_primed.then(|| Ok(said.priming(form.retry_ms)));
        let first = first.map(|event| Ok(event.block(form.has_ids)));
        // The client resumes a stream that ends early.
        let reading = (!form.ends_early).then_some((said, guard));
        let later = futures_util::stream::unfold(reading, move |reading| async move {
            let (mut said, guard) = reading?;
            match said.recv().await {
                Some(event) => Some((Ok(event.block(form.has_ids)), Some((said, guard)))),
                None => said.is_cut().then(|| (Err(broken()), None)),
            }
        });
        let blocks = futures_util::stream::iter(priming.into_iter().chain(first)).chain(later);
        let frames = blocks.map(|block: Result<_, BodyError>| block.map(Frame::data));
        let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        response
    }
}
