//! What follows `initialize` waits for its answer: only then are the session's id and revision known, without which a
//! server refuses it (MCP 2025-11-25, Session Management). Nothing waits in the modern era, which has no `initialize`.

use super::{Client, ids_in_batch, request_id};
use crate::transport::link::{Incoming, Undelivered, has_space};
use crate::wire::{Envelope, MessageKind, json};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// How long messages wait for the answer. By then most clients have given up on it, and a message that waited for ever
/// would keep them from seeing that.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(60);

/// The messages that wait, in order.
#[derive(Default)]
pub(super) struct HeldMessages {
    messages: VecDeque<Vec<u8>>,
    /// When they are sent without the answer.
    until: Option<Instant>,
}

impl HeldMessages {
    pub(super) fn push(&mut self, message: Vec<u8>) {
        self.until.get_or_insert_with(|| Instant::now() + MAX_WAIT);
        self.messages.push_back(message);
    }

    pub(super) fn pop(&mut self) -> Option<Vec<u8>> {
        let message = self.messages.pop_front();
        if self.messages.is_empty() {
            self.until = None;
        }
        message
    }

    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    pub(super) fn has_space(&self) -> bool {
        has_space(&self.messages)
    }
}

impl Client {
    /// Whether the answer to `initialize` is still to come.
    pub(super) fn is_in_handshake(&self) -> bool {
        self.state().handshake.is_some()
    }

    /// Whether a message has to wait, which one that cancels `initialize` itself does not. A response does not either:
    /// the server that asked for it has named the session, and may want it before it answers.
    pub(super) fn must_wait(&self, message: &[u8], waiting: &HeldMessages) -> bool {
        let handshake = self.state().handshake.clone();
        if handshake.is_none() && waiting.messages.is_empty() {
            return false;
        }
        let envelope = Envelope::scan(message);
        let is_cancel = envelope.method.as_deref() == Some("notifications/cancelled");
        if is_cancel && handshake.is_some() {
            let cancelled = envelope.params.and_then(|params| json::member(params, "requestId"));
            if cancelled == handshake.as_deref() {
                self.end_handshake(handshake.as_deref());
                return false;
            }
        }
        !envelope.kind.is_response()
    }

    /// Completes when what waits may be sent.
    pub(super) async fn may_go_on(&self, waiting: &mut HeldMessages) {
        let Some(until) = &mut waiting.until else { return std::future::pending().await };
        loop {
            tokio::select! {
                () = self.handshake_ended() => return,
                () = sleep_until(*until) => {}
            }
            // The time in which the user logs in does not count.
            if self.endpoint.waits_for_token() {
                *until = Instant::now() + MAX_WAIT;
            } else {
                self.step(format!("no answer to initialize within {MAX_WAIT:?}; what waited for it is not sent"));
                while let Some(message) = waiting.pop() {
                    self.keep_back(message).await;
                }
                return std::future::pending().await;
            }
        }
    }

    /// Reports that a message will not be sent.
    pub(super) async fn keep_back(&self, message: Vec<u8>) {
        let envelope = Envelope::scan(&message);
        let mut ids = request_id(&envelope).into_iter().chain(ids_in_batch(&message, &envelope));
        let first = ids.next().unwrap_or_default();
        let reason = format!("not sent, because the server did not answer initialize within {MAX_WAIT:?}");
        // The first carries the message.
        let mut unsent = message;
        for id in std::iter::once(first).chain(ids) {
            let unsent = std::mem::take(&mut unsent);
            let lost = Undelivered { id, reason: reason.clone(), unsent, ..Undelivered::default() };
            let _ = self.incoming.send(Incoming::Undelivered(lost)).await;
        }
    }

    /// Completes once no answer to `initialize` is to come.
    pub(super) async fn handshake_ended(&self) {
        while self.is_in_handshake() {
            self.handshake_over.notified().await;
        }
    }

    /// Takes a message of the server: it may be the answer, on whichever stream it comes.
    pub(super) fn note_handshake(&self, message: &[u8]) {
        if !self.is_in_handshake() {
            return;
        }
        let note = |envelope: &Envelope<'_>| {
            if envelope.kind.is_response() {
                self.end_handshake(envelope.id.map(|id| id.0));
            }
        };
        match Envelope::scan(message) {
            batch if batch.kind == MessageKind::Batch => {
                json::items(message).for_each(|item| note(&Envelope::scan(item)));
            }
            envelope => note(&envelope),
        }
    }

    /// The `initialize` with this id is answered, or will not be.
    pub(super) fn end_handshake(&self, id: Option<&[u8]>) {
        let mut state = self.state();
        if id.is_some() && state.handshake.as_deref() == id {
            state.handshake = None;
            self.handshake_over.notify_one();
        }
    }
}
