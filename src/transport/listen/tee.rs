//! A body that the observer sees as it passes.

use super::passing::{ClientSide, TrailerSlot};
use super::proxy::Exchange;
use super::watched::ConnectionFlags;
use crate::transport::client::http::{BodyError, BodyFilter, ExchangeEvent, GONE_WITHIN_RESPONSE, HttpError};
use crate::wire::Direction;
use crate::wire::text::error_chain;
use bytes::Bytes;
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// What may be in a body besides what comes.
pub(super) struct Bounds {
    /// The maximum length.
    pub(super) limit: u64,
    /// Inserts and removes messages.
    pub(super) body_filter: Option<Box<dyn BodyFilter>>,
    /// Where its trailers go, if the other side can take any.
    pub(super) trailers: Option<TrailerSlot>,
    /// The client whom the body goes to; `None` for a request.
    pub(super) client: Option<ClientSide>,
}

/// A body that is observed as it passes.
pub(super) struct Tee {
    body: Incoming,
    exchange: Exchange,
    direction: Direction,
    passed: u64,
    limit: u64,
    ended: bool,
    /// Inserts and removes messages.
    body_filter: Option<Box<dyn BodyFilter>>,
    trailers: Option<TrailerSlot>,
    client: Option<ClientSide>,
    /// Why it breaks off once the client has all that came before, and since when it waits for that.
    broken: Option<(BodyError, Option<u64>)>,
    /// What is known of the connection that it comes from.
    known: ConnectionFlags,
}

impl Tee {
    /// Of a body toward this side, from the connection of which this is known.
    pub(super) fn new(
        body: Incoming,
        exchange: Exchange,
        direction: Direction,
        bounds: Bounds,
        known: ConnectionFlags,
    ) -> Self {
        let Bounds { limit, body_filter, trailers, client } = bounds;
        let mut tee = Self {
            body,
            exchange,
            direction,
            passed: 0,
            limit,
            ended: false,
            body_filter,
            trailers,
            client,
            broken: None,
            known,
        };
        if tee.body.is_end_stream() {
            tee.end(None);
        }
        tee
    }

    fn end(&mut self, reason: Option<&str>) {
        if !std::mem::replace(&mut self.ended, true) {
            self.exchange.see_repairs(self.direction, &self.known);
            self.exchange.see(match self.direction {
                Direction::ClientToServer => ExchangeEvent::RequestEnd(reason),
                Direction::ServerToClient => ExchangeEvent::ResponseEnd(reason),
            });
        }
    }

    /// Breaks off. The library throws away what it has not written yet, so the client gets that first: the head, at least.
    fn poll_broken(&mut self, context: &Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let (Some((_, since)), Some(client)) = (&mut self.broken, &self.client) {
            ready!(client.poll_flushed(since, context));
        }
        Poll::Ready(self.broken.take().map(|(error, _)| Err(error)))
    }

    fn pass(&mut self, bytes: &Bytes) -> Result<(), BodyError> {
        self.passed += bytes.len() as u64;
        if self.passed > self.limit {
            return Err(HttpError::TooLong(self.limit).into());
        }
        self.exchange.see(seen(self.direction, bytes));
        Ok(())
    }
}

pub(super) fn seen(direction: Direction, bytes: &[u8]) -> ExchangeEvent<'_> {
    match direction {
        Direction::ClientToServer => ExchangeEvent::RequestBody(bytes),
        Direction::ServerToClient => ExchangeEvent::ResponseBody(bytes),
    }
}

impl hyper::body::Body for Tee {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        loop {
            if self.broken.is_some() {
                return self.poll_broken(context);
            }
            if let Some(body_filter) = &mut self.body_filter
                && let Poll::Ready(block) = body_filter.poll_insert(context)
            {
                return Poll::Ready(Some(Ok(Frame::data(block))));
            }
            let mut polled = ready!(Pin::new(&mut self.body).poll_frame(context));
            if let Some(Ok(frame)) = &polled
                && let Some(trailers) = frame.trailers_ref()
            {
                let slot = self.trailers.take();
                self.exchange.see(ExchangeEvent::Trailers(self.direction, trailers, slot.is_some()));
                slot.into_iter().for_each(|slot| slot.put(trailers));
                // Nothing follows them.
                polled = None;
            }
            let passed = match polled {
                None => {
                    self.end(None);
                    let held = self.body_filter.take().map(|mut body_filter| body_filter.finish()).unwrap_or_default();
                    return Poll::Ready((!held.is_empty()).then(|| Ok(Frame::data(held))));
                }
                Some(Ok(frame)) => match frame.data_ref().map(|bytes| self.pass(bytes)) {
                    Some(Err(error)) => Err(error),
                    _ => Ok(frame),
                },
                Some(Err(error)) => Err(error.into()),
            };
            let frame = match passed {
                Ok(frame) => frame,
                Err(error) => {
                    self.end(Some(&error_chain(error.as_ref())));
                    self.broken = Some((error, None));
                    continue;
                }
            };
            if self.body.is_end_stream() {
                self.end(None);
            }
            let Some(body_filter) = &mut self.body_filter else { return Poll::Ready(Some(Ok(frame))) };
            match frame.into_data().map(|bytes| body_filter.pass(bytes)) {
                Ok(bytes) if bytes.is_empty() => {}
                Ok(bytes) => return Poll::Ready(Some(Ok(Frame::data(bytes)))),
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body_filter.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        // Insertions and removals change the length.
        if self.body_filter.is_some() { SizeHint::default() } else { self.body.size_hint() }
    }
}

impl Drop for Tee {
    fn drop(&mut self) {
        match self.direction {
            Direction::ClientToServer => self.end(Some("the rest was not taken")),
            Direction::ServerToClient if !std::mem::replace(&mut self.ended, true) => {
                self.exchange.see(ExchangeEvent::ClientGone(GONE_WITHIN_RESPONSE));
            }
            Direction::ServerToClient => {}
        }
    }
}
