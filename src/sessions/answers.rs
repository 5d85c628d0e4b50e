//! The injected requests of a live session with those who wait for their answers: relays ask it what to take out,
//! the control socket what has come.

use super::injection::{Injections, Key, Refused, RemovedAnswer, Sifted};
use crate::wire::Direction;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// What comes of a request that was put in.
#[derive(Clone, Copy, Debug)]
pub enum AnswerEvent<'a> {
    /// A notification about it, before the answer.
    Before(&'a [u8]),
    /// The answer.
    Answer(&'a [u8]),
    /// Nothing: its time is over.
    Nothing,
}

/// What is called with all that comes; the answer, or that there is none, is the last.
pub type AnswerCallback = Arc<dyn Fn(AnswerEvent<'_>) + Send + Sync>;

/// Somebody who waits for an answer.
#[derive(Clone)]
pub struct PendingAnswer {
    /// Whose request it is: the connection's number.
    pub owner: u64,
    /// When it is given up.
    pub until: Instant,
    /// Who hears the answer.
    pub deliver: AnswerCallback,
}

/// See the module.
#[derive(Default)]
pub struct Answers {
    table: Mutex<Injections<PendingAnswer>>,
    /// Whether a message that goes to the server, or to the client, may be an answer to take out.
    awaited: [AtomicBool; 2],
}

impl Answers {
    /// Whether messages that go `direction` have to be looked at.
    pub fn awaits(&self, direction: Direction) -> bool {
        self.awaited[direction as usize].load(Ordering::Acquire)
    }

    /// Notes a request before it goes out.
    pub fn ask(&self, key: Key, waiting: PendingAnswer) -> Result<(), Refused> {
        self.change(|table| table.ask(key, waiting))
    }

    /// Takes back a request that did not go out; false where it was given up already.
    pub fn forget(&self, key: &Key) -> bool {
        self.change(|table| table.forget(key)).is_some()
    }

    /// What a message is. Answers that were taken are for [`Answers::deliver`], once they are recorded.
    pub fn sift<'m>(&self, stream: u32, direction: Direction, message: &'m [u8]) -> Sifted<'m, PendingAnswer> {
        self.change(|table| table.sift(stream, direction, message))
    }

    /// Hands what answers an injected request to who waits for it; the rest of the message goes on, if there is any. A
    /// request may have been put into "the" stream, without naming it.
    pub fn keep(&self, stream: u32, direction: Direction, message: Vec<u8>) -> Option<Vec<u8>> {
        self.keep_recorded(stream, direction, message, |_| {})
    }

    /// The same where what goes on is recorded later on its way: what does not is given to `record` here.
    pub fn keep_recorded(
        &self,
        stream: u32,
        direction: Direction,
        message: Vec<u8>,
        record: impl Fn(&[u8]),
    ) -> Option<Vec<u8>> {
        for stream in [stream, 0] {
            let (rest, taken) = match self.sift(stream, direction, &message) {
                Sifted::Pass => continue,
                Sifted::RemovedAnswer(taken) => (None, taken),
                Sifted::Cut(rest, taken) => (Some(rest), taken),
            };
            taken.iter().for_each(|taken| record(taken.message));
            Self::deliver(taken);
            return rest;
        }
        Some(message)
    }

    /// Hands answers to those who wait for them.
    pub fn deliver(taken: Vec<RemovedAnswer<'_, PendingAnswer>>) {
        for answer in taken {
            if let Some(waiting) = answer.waiting {
                let came = if answer.is_answer { AnswerEvent::Answer } else { AnswerEvent::Before };
                (waiting.deliver)(came(answer.message));
            }
        }
    }

    /// Gives up the requests of an owner: those whose time is over at `now`, or all of them.
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

    /// When the next request of an owner is to be given up.
    pub fn next_deadline(&self, owner: u64) -> Option<Instant> {
        let table = self.lock();
        table.open().filter(|(_, waiting)| waiting.owner == owner).map(|(_, waiting)| waiting.until).min()
    }

    fn change<T>(&self, change: impl FnOnce(&mut Injections<PendingAnswer>) -> T) -> T {
        let mut table = self.lock();
        let changed = change(&mut table);
        for direction in [Direction::ClientToServer, Direction::ServerToClient] {
            self.awaited[direction as usize].store(table.awaits(direction), Ordering::Release);
        }
        changed
    }

    fn lock(&self) -> MutexGuard<'_, Injections<PendingAnswer>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
