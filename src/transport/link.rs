//! A connection as its user sees it, whatever carries it: messages go out, messages and endings come in.

use super::budget::{self, Weight};
use std::collections::VecDeque;

/// What comes in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incoming {
    /// One message's bytes, without its framing.
    Message(Vec<u8>),
    /// Bytes of the peer's standard error.
    Stderr(Vec<u8>),
    /// A request did not get through, or its answer did not come back.
    Undelivered(Undelivered),
    /// The connection failed, for this reason (a sentence fragment); nothing follows.
    Failed(String),
    /// The peer sends no more.
    Closed,
}

impl Weight for Incoming {
    fn weight(&self) -> usize {
        match self {
            Self::Message(bytes) | Self::Stderr(bytes) => bytes.len(),
            Self::Undelivered(lost) => lost.id.len() + lost.refusal.as_ref().map_or(0, Vec::len),
            Self::Failed(_) | Self::Closed => 0,
        }
    }
}

/// A request that its transport gave up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undelivered {
    /// The text of the request's id.
    pub id: Vec<u8>,
    /// Why, as a sentence fragment.
    pub reason: String,
    /// The JSON-RPC error with which the peer refused, where it did so without naming the request.
    pub refusal: Option<Vec<u8>>,
    /// It was not taken because the peer does not know the session any more: one that is opened anew would take it.
    pub session_over: bool,
}

/// How many messages may wait on either side, of 1 MiB together or one that is longer.
const CAPACITY: usize = 64;

/// How many bytes may wait behind the first message of an outbox (16 MiB).
const OUTBOX_BYTES: usize = 16 << 20;

/// Whether more may be put into an outbox. One long message alone does not fill it: a peer may talk before it listens.
pub fn has_room<T: Weight>(outbox: &VecDeque<T>) -> bool {
    let behind_the_first: usize = outbox.iter().skip(1).map(Weight::weight).sum();
    outbox.len() < CAPACITY && behind_the_first < OUTBOX_BYTES
}

/// One end of a connection.
#[derive(Debug)]
pub struct Link {
    outgoing: Option<budget::Sender<Vec<u8>>>,
    incoming: budget::Receiver<Incoming>,
}

/// The other side of a [`Link`], for the transport that serves it.
#[derive(Debug)]
pub struct Served {
    /// Messages to be sent; ends when the link is closed.
    pub outgoing: budget::Receiver<Vec<u8>>,
    /// Where to put what comes in.
    pub incoming: budget::Sender<Incoming>,
}

impl Link {
    /// A link and what its transport needs.
    pub fn served() -> (Self, Served) {
        let (to_transport, outgoing) = budget::queue(CAPACITY);
        let (incoming, from_transport) = budget::queue(CAPACITY);
        (Self { outgoing: Some(to_transport), incoming: from_transport }, Served { outgoing, incoming })
    }

    /// Two ends in memory: what one sends, the other receives. For tests and for parties in one process.
    pub fn pair() -> (Self, Self) {
        Self::pair_ending(Incoming::Closed)
    }

    /// The same, but the first end hears `last` once the second sends no more.
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

    /// Sends one message; false where the peer is gone.
    pub async fn send(&mut self, message: Vec<u8>) -> bool {
        match &self.outgoing {
            Some(outgoing) => outgoing.send(message).await.is_ok(),
            None => false,
        }
    }

    /// The next thing that comes in; [`Incoming::Closed`] again and again once the peer is gone.
    pub async fn receive(&mut self) -> Incoming {
        self.incoming.recv().await.unwrap_or(Incoming::Closed)
    }

    /// Sends the next message of `outbox`, or hears what comes in, whichever can be done first; `None` where a message
    /// went out. While `outbox` is full nothing is heard, so that a peer that only talks is held back.
    pub async fn turn(&mut self, outbox: &mut VecDeque<Vec<u8>>) -> Option<Incoming> {
        if self.outgoing.as_ref().is_none_or(budget::Sender::is_closed) {
            outbox.clear();
        }
        let may_receive = has_room(outbox);
        let room = async {
            match (&self.outgoing, outbox.front()) {
                (Some(outgoing), Some(next)) => outgoing.reserve(next.weight()).await.ok(),
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            room = room => {
                if let (Some(room), Some(message)) = (room, outbox.pop_front()) {
                    room.send(message);
                }
                None
            }
            incoming = self.incoming.recv(), if may_receive => Some(incoming.unwrap_or(Incoming::Closed)),
        }
    }

    /// Its two directions, each for who carries it on its own. The way out is closed once its sender is dropped.
    pub fn split(self) -> (Option<budget::Sender<Vec<u8>>>, budget::Receiver<Incoming>) {
        (self.outgoing, self.incoming)
    }

    /// Sends no more. What comes in can still be received.
    pub fn close(&mut self) {
        self.outgoing = None;
    }
}
