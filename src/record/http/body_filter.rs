//! One direction of an exchange that passes through the proxy: inserts injected messages between the peer's own
//! messages, and removes the answers to injected requests.

use super::boundary::MessageSplitter;
use super::injection_queue::InjectionQueue;
use crate::record::queue::{Queue, Ready};
use crate::sessions::answers::Answers;
use crate::trace::{EventKind, Flags};
use crate::transport::client::http::BodyFilter;
use crate::wire::{Direction, Framing};
use bytes::Bytes;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// See the module.
pub(super) struct TapBodyFilter {
    /// Finds where messages end.
    pub cut: MessageSplitter,
    /// The messages to insert; closed when the stream ends.
    pub injection_queue: Arc<InjectionQueue>,
    /// The injected requests that wait for their answers.
    pub answers: Arc<Answers>,
    /// Where inserted messages are recorded, in the order in which the peer receives them.
    pub queue: Arc<Queue>,
    /// The session's stream in the reel.
    pub stream: u32,
    /// The direction of this stream.
    pub direction: Direction,
}

impl BodyFilter for TapBodyFilter {
    fn pass(&mut self, bytes: Bytes) -> Bytes {
        let Self { cut, answers, stream, direction, .. } = self;
        if answers.awaits(*direction) {
            return cut.filter(&bytes, &mut |message| answers.keep(*stream, *direction, message.to_vec())).into();
        }
        let held = cut.release();
        cut.see(&bytes);
        if held.is_empty() { bytes } else { [&held[..], &bytes].concat().into() }
    }

    fn finish(&mut self) -> Bytes {
        self.injection_queue.close();
        self.cut.release().into()
    }

    fn poll_insert(&mut self, context: &mut Context<'_>) -> Poll<Bytes> {
        if !self.cut.is_between() {
            if self.cut.is_over() {
                self.injection_queue.close();
            }
            return Poll::Pending;
        }
        let message = ready!(self.injection_queue.poll_next(context));
        let [a, b, c, d, ..] = uuid::Uuid::new_v4().into_bytes();
        let block = self.cut.wrap(&message, [a, b, c, d]);
        let (framing, payload) = match self.cut {
            MessageSplitter::Events(_) => (Framing::Sse, &block),
            MessageSplitter::Frames(_) => (Framing::Whole, &message),
        };
        let flags = Flags::toward(self.direction).with(Flags::INJECTED);
        let (kind, stream) = (EventKind::Message, self.stream);
        self.queue.push_ready(Ready { kind, stream, exchange: 0, flags, framing }, payload);
        Poll::Ready(block.into())
    }
}

impl Drop for TapBodyFilter {
    fn drop(&mut self) {
        self.injection_queue.close();
    }
}
