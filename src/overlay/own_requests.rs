//! The overlay's own requests to the server: the purpose and the deadline of each. A response after the deadline is
//! ignored, and does not reach the client either.

use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// Timeout of a request to the server.
pub(super) const GRACE_PERIOD: Duration = Duration::from_secs(30);

/// The purpose of a request.
#[derive(Debug)]
pub(super) enum Purpose {
    /// Context for a user message.
    Context {
        /// The message's number.
        turn: u64,
        /// The index of the tool.
        at: usize,
    },
    /// A call of the overlay's own tool.
    Hook {
        /// The text of the id of the client's request.
        id: Vec<u8>,
        /// The index of the tool.
        at: usize,
        /// The arguments of the call.
        arguments: Value,
    },
    /// A subscription to a resource.
    Subscribe(String),
}

/// The pending requests.
#[derive(Debug, Default)]
pub(super) struct OwnRequests(BTreeMap<u64, (Duration, Purpose)>);

impl OwnRequests {
    /// Adds a request.
    pub(super) fn open(&mut self, now: Duration, number: u64, purpose: Purpose) {
        self.0.insert(number, (now + GRACE_PERIOD, purpose));
    }

    /// Removes the request that was answered.
    pub(super) fn close(&mut self, number: u64) -> Option<Purpose> {
        self.0.remove(&number).map(|(_, purpose)| purpose)
    }

    /// The deadline of the next request; they are in order of sending.
    pub(super) fn next_due(&self) -> Option<Duration> {
        self.0.first_key_value().map(|(_, (due, _))| *due)
    }

    /// Removes a request whose deadline has passed, and returns its number and purpose.
    pub(super) fn give_up(&mut self, now: Duration) -> Option<(u64, Purpose)> {
        let entry = self.0.first_entry().filter(|entry| entry.get().0 <= now)?;
        let (number, (_, purpose)) = entry.remove_entry();
        Some((number, purpose))
    }

    /// Removes the requests made for the client's cancelled request `id`, or for the cancelled user message. Returns
    /// their numbers.
    pub(super) fn cancel(&mut self, id: &[u8], taken_back: Option<u64>) -> Vec<u64> {
        let goes = |purpose: &Purpose| match purpose {
            Purpose::Context { turn, .. } => Some(*turn) == taken_back,
            Purpose::Hook { id: asked, .. } => asked == id,
            Purpose::Subscribe(_) => false,
        };
        let gone: Vec<u64> =
            self.0.iter().filter(|(_, (_, purpose))| goes(purpose)).map(|(number, _)| *number).collect();
        gone.iter().for_each(|number| drop(self.0.remove(number)));
        gone
    }
}
