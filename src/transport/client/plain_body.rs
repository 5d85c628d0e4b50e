//! The body of a response as it was before its codings.

use super::http::BodyError;
use crate::transport::coding::{Decoder, UnknownCoding};
use bytes::Bytes;
use hyper::Response;
use hyper::body::{Body, Frame, Incoming};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// See the module.
pub(crate) struct PlainBody {
    body: Incoming,
    decoder: BodyDecoder,
}

impl PlainBody {
    /// The body of this response, without its codings.
    pub(crate) fn of(response: Response<Incoming>) -> Response<Self> {
        let (head, body) = response.into_parts();
        let decoder = BodyDecoder::of(&head.headers);
        Response::from_parts(head, Self { body, decoder })
    }
}

impl Body for PlainBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        Poll::Ready(match ready!(Pin::new(&mut this.body).poll_frame(context)) {
            None => None,
            Some(Err(error)) => Some(Err(error.into())),
            Some(Ok(frame)) => Some(match frame.into_data() {
                Ok(bytes) => this.decoder.push(bytes).map(Frame::data).map_err(Into::into),
                Err(trailers) => Ok(trailers),
            }),
        })
    }
}

/// Undoes the codings of a response as it arrives.
pub(crate) struct BodyDecoder(Result<Option<Decoder>, UnknownCoding>);

impl BodyDecoder {
    /// For the codings that a head states. One that is unknown matters only if there is a body.
    pub(crate) fn of(headers: &hyper::HeaderMap) -> Self {
        Self(Decoder::of_head(headers))
    }

    /// Takes the next bytes and returns what they decode to, maybe nothing yet.
    ///
    /// # Errors
    /// The body cannot be decoded; the reason as a sentence fragment.
    pub(crate) fn push(&mut self, bytes: Bytes) -> Result<Bytes, String> {
        match &mut self.0 {
            Ok(None) => Ok(bytes),
            Ok(Some(decoder)) => match decoder.push(&bytes) {
                Ok(plain) => Ok(plain.into()),
                Err(error) => Err(format!("the body cannot be decoded: {error}")),
            },
            Err(unknown) if !bytes.is_empty() => Err(unknown.to_string()),
            Err(_) => Ok(bytes),
        }
    }
}
