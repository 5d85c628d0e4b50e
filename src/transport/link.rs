//! A connection, independent of its transport: sends messages, and receives messages and events.

use super::budget::{self, Weight};
use super::client::waiting::Waiting;
use std::collections::VecDeque;

/// What a link receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incoming {
    /// One message's bytes, without framing.
    Message(Vec<u8>),
    /// Bytes of the peer's standard error.
    Stderr(Vec<u8>),
    /// A request was not delivered, or its answer was lost.
    Undelivered(Undelivered),
    /// The connection failed for this reason (a sentence fragment); nothing follows.
    Failed(String),
    /// The peer sends no more.
    Closed,
}

impl Weight for Incoming {
    fn weight(&self) -> usize {
        match self {
            Self::Message(bytes) | Self::Stderr(bytes) => bytes.len(),
            Self::Undelivered(lost) => lost.id.len() + lost.unsent.len() + lost.refusal.as_ref().map_or(0, Vec::len),
            Self::Failed(_) | Self::Closed => 0,
        }
    }
}

/// A request that its transport gave up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undelivered {
    /// The request's id as text.
    pub id: Vec<u8>,
    /// The reason, as a sentence fragment.
    pub reason: String,
    /// The JSON-RPC error with which the peer rejected the request, if that error does not name it.
    pub refusal: Option<Vec<u8>>,
    /// The peer no longer knows the session; it would accept the request in a new one.
    pub session_over: bool,
    /// There was no response at all: the peer cannot be reached, or the connection failed.
    pub unreached: bool,
    /// The message itself, if nothing of it was sent.
    pub unsent: Vec<u8>,
}

/// The maximum number of waiting messages in each direction, of 1 MiB together or a single longer one.
const CAPACITY: usize = 64;

/// The maximum bytes after the first message of an outbox (16 MiB).
const OUTBOX_BYTES: usize = 16 << 20;

/// Whether an outbox has space. One long message does not fill it, because a peer may send before it receives.
pub(crate) fn has_space<T: Weight>(outbox: &VecDeque<T>) -> bool {
    let behind_the_first: usize = outbox.iter().skip(1).map(Weight::weight).sum();
    outbox.len() < CAPACITY && behind_the_first < OUTBOX_BYTES
}

/// One end of a connection.
#[derive(Debug)]
pub struct Link {
    outgoing: Option<budget::Sender<Vec<u8>>>,
    incoming: budget::Receiver<Incoming>,
    /// Who waits for a token of the user's login, if there is one.
    waiting: Option<Waiting>,
}

/// The other side of a [`Link`], for its transport.
#[derive(Debug)]
pub struct Served {
    /// Messages to send; ends when the link is closed.
    pub outgoing: budget::Receiver<Vec<u8>>,
    /// Where to put what is received.
    pub incoming: budget::Sender<Incoming>,
}

impl Link {
    /// A link and what its transport needs.
    pub fn served() -> (Self, Served) {
        let (to_transport, outgoing) = budget::queue(CAPACITY);
        let (incoming, from_transport) = budget::queue(CAPACITY);
        let link = Self { outgoing: Some(to_transport), incoming: from_transport, waiting: None };
        (link, Served { outgoing, incoming })
    }

    /// This link, whose requests may wait for a token.
    pub(crate) fn with_login(self, waiting: Option<&Waiting>) -> Self {
        Self { waiting: waiting.cloned(), ..self }
    }

    /// Who waits for a token, if there is a login.
    pub(crate) fn waiting(&self) -> Option<&Waiting> {
        self.waiting.as_ref()
    }

    /// Two connected ends in memory, for tests and for two parties in one process.
    pub fn pair() -> (Self, Self) {
        Self::pair_ending(Incoming::Closed)
    }

    /// As [`Link::pair`], but the first end receives `last` when the second sends no more.
    pub fn pair_ending(last: Incoming) -> (Self, Self) {
        let (left, left_served) = Self::served();
        let (right, right_served) = Self::served();
        let carry = |mut from: budget::Receiver<Vec<u8>>, to: budget::Sender<Incoming>, last| async move {
            while let Some(message) = from.recv().await {
                if to.send(Incoming::Message(message)).await.is_err() {
                    return;
                }
            }
            let _ = to.send(last).await;
        };
        tokio::spawn(carry(left_served.outgoing, right_served.incoming, Incoming::Closed));
        tokio::spawn(carry(right_served.outgoing, left_served.incoming, last));
        (left, right)
    }

    /// Sends one message; false if the peer is gone.
    pub async fn send(&mut self, message: Vec<u8>) -> bool {
        match &self.outgoing {
            Some(outgoing) => outgoing.send(message).await.is_ok(),
            None => false,
        }
    }

    /// Receives the next item; always [`Incoming::Closed`] once the peer is gone.
    pub async fn receive(&mut self) -> Incoming {
        self.incoming.recv().await.unwrap_or(Incoming::Closed)
    }

    /// Sends the next message of `outbox` or receives an item, whichever is possible first; returns `None` after
    /// sending. Receives nothing while `outbox` is full, which slows down a peer that only sends.
    pub async fn turn(&mut self, outbox: &mut VecDeque<Vec<u8>>) -> Option<Incoming> {
        if self.outgoing.as_ref().is_none_or(budget::Sender::is_closed) {
            outbox.clear();
        }
        let may_receive = has_space(outbox);
        let slot = async {
            match (&self.outgoing, outbox.front()) {
                (Some(outgoing), Some(next)) => outgoing.reserve(next.weight()).await.ok(),
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            slot = slot => {
                if let (Some(slot), Some(message)) = (slot, outbox.pop_front()) {
                    slot.send(message);
                }
                None
            }
            incoming = self.incoming.recv(), if may_receive => Some(incoming.unwrap_or(Incoming::Closed)),
        }
    }

    /// The two directions as separate ends. The sending direction closes when its sender is dropped.
    pub fn split(self) -> (Option<budget::Sender<Vec<u8>>>, budget::Receiver<Incoming>) {
        (self.outgoing, self.incoming)
    }

    /// Closes the sending direction; receiving is still possible.
    pub fn close(&mut self) {
        self.outgoing = None;
    }
}
