//! Requests of the overlay's own to the server: what each was asked for, and how long its answer is waited for. An
//! answer that comes later is nobody's, and still does not reach the client.

use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long an answer of the server's is waited for.
pub const GRACE_PERIOD: Duration = Duration::from_secs(30);

/// What something was asked for.
#[derive(Debug)]
pub enum Purpose {
    /// For one of a user message's contexts.
    Context {
        /// Which message.
        turn: u64,
        /// Which context.
        at: usize,
    },
    /// In place of a tool of the overlay's own.
    Hook {
        /// The id of the client's request, as it stood.
        id: Vec<u8>,
        /// Which tool.
        at: usize,
        /// What it was called with.
        arguments: Value,
    },
    /// To hear of a resource.
    Subscribe(String),
}

/// Those that are open.
#[derive(Debug, Default)]
pub struct Asking(BTreeMap<u64, (Duration, Purpose)>);

impl Asking {
    /// One goes out.
    pub fn open(&mut self, now: Duration, number: u64, purpose: Purpose) {
        self.0.insert(number, (now + GRACE_PERIOD, purpose));
    }

    /// One is answered.
    pub fn close(&mut self, number: u64) -> Option<Purpose> {
        self.0.remove(&number).map(|(_, purpose)| purpose)
    }

    /// When the next one is given up. They were opened in order.
    pub fn next_due(&self) -> Option<Duration> {
        self.0.first_key_value().map(|(_, (due, _))| *due)
    }

    /// One whose time is over, with its number.
    pub fn give_up(&mut self, now: Duration) -> Option<(u64, Purpose)> {
        let entry = self.0.first_entry().filter(|entry| entry.get().0 <= now)?;
        let (number, (_, purpose)) = entry.remove_entry();
        Some((number, purpose))
    }

    /// The client takes back what some were asked for: the request of this id, or a user message's contexts. Answers
    /// with their numbers.
    pub fn cancel(&mut self, id: &[u8], taken_back: Option<u64>) -> Vec<u64> {
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
