//! Messages that wait to be inserted into an open stream. The injector waits until its message is on its way, or
//! withdraws it; the stream never waits.

use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

/// The maximum number of waiting messages.
const MAX_WAITING: usize = 64;
/// The maximum bytes of waiting messages (16 MiB); a single message may be longer.
const MAX_BYTES: usize = 16 << 20;

/// Why a message was not injected, as a sentence fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum InjectionFailure {
    /// The stream has ended.
    #[error("has ended")]
    Ended,
    /// Too many messages are waiting.
    #[error("is full: {MAX_WAITING} messages or {} MiB are already waiting", MAX_BYTES >> 20)]
    Full,
    /// The deadline has passed.
    #[error("is not being read, or is in the middle of a message")]
    Late,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct InjectionQueue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Messages with their ticket numbers.
    waiting: VecDeque<(u64, Vec<u8>)>,
    bytes: usize,
    /// The last ticket issued, and the last that was sent.
    given: u64,
    gone: u64,
    is_over: bool,
    reader: Option<Waker>,
}

impl InjectionQueue {
    /// Queues a message and waits until it is on its way.
    ///
    /// # Errors
    /// The stream has ended, the queue is full, or `deadline` has passed.
    pub(super) fn put(&self, message: &[u8], deadline: Instant) -> Result<(), InjectionFailure> {
        let ticket = self.offer(message)?;
        let mut state = self.state.lock();
        loop {
            if state.gone >= ticket {
                return Ok(());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let refused = match (state.is_over, left.is_zero()) {
                (true, _) => InjectionFailure::Ended,
                (_, true) => InjectionFailure::Late,
                _ => {
                    self.changed.wait_for(&mut state, left);
                    continue;
                }
            };
            if let Some(place) = state.waiting.iter().position(|waiting| waiting.0 == ticket) {
                let taken_back = state.waiting.remove(place);
                state.bytes -= taken_back.map_or(0, |(_, message)| message.len());
            }
            return Err(refused);
        }
    }

    /// Queues a message without waiting and returns its ticket.
    ///
    /// # Errors
    /// The stream has ended, or the queue is full.
    pub(super) fn offer(&self, message: &[u8]) -> Result<u64, InjectionFailure> {
        let mut state = self.state.lock();
        if state.is_over {
            return Err(InjectionFailure::Ended);
        }
        let has_space = state.waiting.len() < MAX_WAITING && state.bytes + message.len() <= MAX_BYTES;
        if !has_space && !state.waiting.is_empty() {
            return Err(InjectionFailure::Full);
        }
        state.given += 1;
        state.bytes += message.len();
        let ticket = state.given;
        state.waiting.push_back((ticket, message.to_vec()));
        if let Some(reader) = state.reader.take() {
            reader.wake();
        }
        Ok(ticket)
    }

    /// The next message; from now on it is on its way.
    pub(super) fn poll_next(&self, context: &Context<'_>) -> Poll<Vec<u8>> {
        let mut state = self.state.lock();
        let Some((ticket, message)) = state.waiting.pop_front() else {
            state.reader = Some(context.waker().clone());
            return Poll::Pending;
        };
        state.bytes -= message.len();
        state.gone = ticket;
        self.changed.notify_all();
        Poll::Ready(message)
    }

    /// Rejects further messages.
    pub(super) fn close(&self) {
        self.state.lock().is_over = true;
        self.changed.notify_all();
    }

    /// Whether messages can still be queued.
    pub(super) fn is_open(&self) -> bool {
        !self.state.lock().is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn next(injection_queue: &InjectionQueue) -> Option<Vec<u8>> {
        match injection_queue.poll_next(&Context::from_waker(Waker::noop())) {
            Poll::Ready(message) => Some(message),
            Poll::Pending => None,
        }
    }

    #[test]
    fn who_puts_a_message_in_receives_when_it_is_on_its_way() {
        let injection_queue = InjectionQueue::default();
        std::thread::scope(|scope| {
            let put = scope.spawn(|| injection_queue.put(b"ours", Instant::now() + Duration::from_secs(20)));
            let taken = loop {
                match next(&injection_queue) {
                    Some(message) => break message,
                    None => std::thread::yield_now(),
                }
            };
            assert_eq!((taken, put.join().expect("ends")), (b"ours".to_vec(), Ok(())));
        });
    }

    #[test]
    fn what_is_not_taken_in_time_is_taken_back() {
        let injection_queue = InjectionQueue::default();
        assert_eq!(injection_queue.put(b"late", Instant::now()), Err(InjectionFailure::Late));
        assert_eq!(next(&injection_queue), None);
        injection_queue.close();
        assert_eq!(injection_queue.put(b"x", Instant::now()), Err(InjectionFailure::Ended));
        assert!(!injection_queue.is_open());
    }

    #[test]
    fn what_waits_is_bounded_by_number_and_by_size() {
        let injection_queue = InjectionQueue::default();
        for _ in 0..MAX_WAITING {
            injection_queue.offer(b"x").expect("accepted");
        }
        assert_eq!(injection_queue.offer(b"x"), Err(InjectionFailure::Full));
        while next(&injection_queue).is_some() {}
        let long = vec![b'x'; MAX_BYTES + 1];
        injection_queue.offer(&long).expect("one alone is accepted");
        assert_eq!(injection_queue.offer(b"x"), Err(InjectionFailure::Full));
        assert_eq!(next(&injection_queue).map(|message| message.len()), Some(long.len()));
        injection_queue.offer(b"x").expect("accepted again");
    }
}
