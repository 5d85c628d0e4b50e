//! The injected requests of a live session and the callbacks that wait for their answers. Relays ask it which messages
//! to remove; the control socket receives the answers.

use super::injection::{Filtered, Injections, Key, Refused, RemovedAnswer};
use crate::wire::Direction;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// What happens to an injected request.
#[derive(Clone, Copy, Debug)]
pub enum AnswerEvent<'a> {
    /// A notification about it, before the answer.
    Before(&'a [u8]),
    /// The answer.
    Answer(&'a [u8]),
    /// No answer within the time limit.
    Nothing,
}

/// Receives the events of a request. The last one is the answer, or that there is none.
pub(crate) type AnswerCallback = Arc<dyn Fn(AnswerEvent<'_>) + Send + Sync>;

/// A request that waits for its answer.
#[derive(Clone)]
pub struct PendingAnswer {
    /// The number of the connection that sent the request.
    pub owner: u64,
    /// When to give up.
    pub until: Instant,
    /// Receives the answer.
    pub deliver: AnswerCallback,
}

/// See the module.
#[derive(Default)]
pub struct Answers {
    table: Mutex<Injections<PendingAnswer>>,
    /// Whether messages toward the server, and toward the client, may be answers to remove.
    awaited: [AtomicBool; 2],
}

impl Answers {
    /// Whether messages in this direction must be examined.
    pub fn awaits(&self, direction: Direction) -> bool {
        self.awaited[direction as usize].load(Ordering::Acquire)
    }

    /// Adds a request before it is sent.
    ///
    /// # Errors
    /// The id was used before, or too many requests wait.
    pub fn ask(&self, key: Key, waiting: PendingAnswer) -> Result<(), Refused> {
        self.change(|table| table.ask(key, waiting))
    }

    /// Removes a request that was not sent; false if it was already given up.
    pub fn forget(&self, key: &Key) -> bool {
        self.change(|table| table.forget(key)).is_some()
    }

    /// Classifies a message. Pass the removed answers to [`Answers::deliver`] once they are recorded.
    pub fn filter<'m>(&self, stream: u32, direction: Direction, message: &'m [u8]) -> Filtered<'m, PendingAnswer> {
        self.change(|table| table.filter(stream, direction, message))
    }

    /// Delivers answers to injected requests and returns the rest of the message, if any. A request may have been
    /// injected without naming its stream (stream 0).
    pub fn keep(&self, stream: u32, direction: Direction, message: Vec<u8>) -> Option<Vec<u8>> {
        self.keep_recorded(stream, direction, message, |_| {})
    }

    /// As [`Answers::keep`], for messages that are recorded only after passing: answers that are removed are given to
    /// `record` here.
    pub fn keep_recorded(
        &self,
        stream: u32,
        direction: Direction,
        message: Vec<u8>,
        record: impl Fn(&[u8]),
    ) -> Option<Vec<u8>> {
        for stream in [stream, 0] {
            let (rest, taken) = match self.filter(stream, direction, &message) {
                Filtered::Pass => continue,
                Filtered::RemovedAnswer(taken) => (None, taken),
                Filtered::Cut(rest, taken) => (Some(rest), taken),
            };
            taken.iter().for_each(|taken| record(taken.message));
            Self::deliver(taken);
            return rest;
        }
        Some(message)
    }

    /// Delivers answers to the requests that wait for them.
    pub fn deliver(taken: Vec<RemovedAnswer<'_, PendingAnswer>>) {
        for answer in taken {
            if let Some(waiting) = answer.waiting {
                let came = if answer.is_answer { AnswerEvent::Answer } else { AnswerEvent::Before };
                (waiting.deliver)(came(answer.message));
            }
        }
    }

    /// Gives up the requests of an owner that are overdue at `now`, or all of them.
    pub fn give_up(&self, owner: u64, now: Option<Instant>) {
        let over: Vec<PendingAnswer> = self.change(|table| {
            let is_over =
                |waiting: &PendingAnswer| waiting.owner == owner && now.is_none_or(|now| waiting.until <= now);
            let keys: Vec<Key> =
                table.open().filter(|(_, waiting)| is_over(waiting)).map(|(key, _)| key.clone()).collect();
            keys.iter().filter_map(|key| table.give_up(key)).collect()
        });
        over.into_iter().for_each(|waiting| (waiting.deliver)(AnswerEvent::Nothing));
    }

    /// When the next request of an owner must be given up.
    pub fn next_deadline(&self, owner: u64) -> Option<Instant> {
        let table = self.table.lock();
        table.open().filter(|(_, waiting)| waiting.owner == owner).map(|(_, waiting)| waiting.until).min()
    }

    /// The stream of each injected request that still waits for its answer; 0 if none was named.
    pub fn waiting_streams(&self) -> Vec<u32> {
        self.table.lock().open().map(|(key, _)| key.0).collect()
    }

    fn change<T>(&self, change: impl FnOnce(&mut Injections<PendingAnswer>) -> T) -> T {
        let mut table = self.table.lock();
        let changed = change(&mut table);
        for direction in [Direction::ClientToServer, Direction::ServerToClient] {
            self.awaited[direction as usize].store(table.awaits(direction), Ordering::Release);
        }
        changed
    }
}
