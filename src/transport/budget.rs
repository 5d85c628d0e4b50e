//! Limits for what peers send: the longest message, the size of queues, and the memory for unfinished messages on all
//! connections of a listener.

use crate::wire::MessageLimit;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// The limits for one peer.
#[derive(Debug)]
pub(crate) struct IntakeLimits {
    /// Its longest message.
    pub limit: MessageLimit,
    /// Its share of the memory for all peers of a listener.
    pub share: BudgetPermit,
    /// The peer's name in errors.
    pub peer: &'static str,
}

impl IntakeLimits {
    /// The limits for a server, independent of other peers.
    pub(crate) fn of_server(limit: MessageLimit) -> Self {
        Self { limit, share: BudgetPermit::default(), peer: "the server" }
    }

    /// The limits for one client of a listener.
    pub(crate) fn of_client(limit: MessageLimit, budget: &Arc<Budget>) -> Self {
        Self { limit, share: budget.share(), peer: "the client" }
    }

    /// The error for a message that is too long.
    pub(crate) fn exceeded(&self) -> String {
        self.limit.exceeded_by(self.peer)
    }
}

/// The maximum bytes in one queue (1 MiB); a single message may be longer.
const QUEUE_BYTES: usize = 1 << 20;

/// A value that takes memory.
pub trait Weight {
    /// The approximate number of bytes.
    fn weight(&self) -> usize;
}

impl Weight for Vec<u8> {
    fn weight(&self) -> usize {
        self.len()
    }
}

/// A queue with at most `most` items, and 1 MiB of them or a single longer one.
pub(crate) fn queue<T: Weight>(most: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = mpsc::channel(most);
    let bytes = Arc::new(Semaphore::new(QUEUE_BYTES));
    (Sender { sender, bytes: Arc::clone(&bytes) }, Receiver { receiver, bytes })
}

/// An item and its permit for the queue's bytes.
type Held<T> = (T, OwnedSemaphorePermit);

/// The sending end of a queue.
#[derive(Debug)]
pub struct Sender<T> {
    sender: mpsc::Sender<Held<T>>,
    bytes: Arc<Semaphore>,
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone(), bytes: Arc::clone(&self.bytes) }
    }
}

/// A sending end that does not keep the queue open.
#[derive(Debug)]
pub struct WeakSender<T> {
    sender: mpsc::WeakSender<Held<T>>,
    bytes: Arc<Semaphore>,
}

/// The receiving end of a queue.
#[derive(Debug)]
pub struct Receiver<T> {
    receiver: mpsc::Receiver<Held<T>>,
    bytes: Arc<Semaphore>,
}

/// The receiver is gone.
#[derive(Debug, PartialEq, Eq)]
pub struct ReceiverGone;

/// A reserved slot in a queue for one item.
#[derive(Debug)]
pub struct QueueSlot<'a, T> {
    place: mpsc::Permit<'a, Held<T>>,
    share: OwnedSemaphorePermit,
}

impl<T> QueueSlot<'_, T> {
    /// Sends the item.
    pub fn send(self, item: T) {
        self.place.send((item, self.share));
    }
}

/// The number of permits that an item of this weight takes.
fn share_of(weight: usize) -> u32 {
    u32::try_from(weight.min(QUEUE_BYTES)).unwrap_or(u32::MAX)
}

impl<T: Weight> Sender<T> {
    /// Sends an item once there is space for it.
    ///
    /// # Errors
    /// The receiver is gone.
    pub async fn send(&self, item: T) -> Result<(), ReceiverGone> {
        self.reserve(item.weight()).await?.send(item);
        Ok(())
    }

    /// As [`Sender::send`], on a thread outside of any runtime.
    ///
    /// # Errors
    /// The receiver is gone.
    pub fn blocking_send(&self, item: T) -> Result<(), ReceiverGone> {
        block_on(self.send(item))
    }

    /// Sends an item if there is space for it now.
    ///
    /// # Errors
    /// There is no space; returns the item.
    pub fn try_send(&self, item: T) -> Result<(), T> {
        let share = Arc::clone(&self.bytes).try_acquire_many_owned(share_of(item.weight()));
        let Ok(share) = share else { return Err(item) };
        self.sender.try_send((item, share)).map_err(|error| match error {
            TrySendError::Full((item, _)) | TrySendError::Closed((item, _)) => item,
        })
    }

    /// Waits for a slot for an item of this weight.
    ///
    /// # Errors
    /// The receiver is gone.
    pub async fn reserve(&self, weight: usize) -> Result<QueueSlot<'_, T>, ReceiverGone> {
        let share = Arc::clone(&self.bytes).acquire_many_owned(share_of(weight)).await.map_err(|_| ReceiverGone)?;
        let place = self.sender.reserve().await.map_err(|_| ReceiverGone)?;
        Ok(QueueSlot { place, share })
    }

    /// A slot for an item of this weight, if there is one now.
    pub fn try_reserve(&self, weight: usize) -> Option<QueueSlot<'_, T>> {
        let share = Arc::clone(&self.bytes).try_acquire_many_owned(share_of(weight)).ok()?;
        let place = self.sender.try_reserve().ok()?;
        Some(QueueSlot { place, share })
    }

    /// Completes when the receiver is gone.
    pub async fn closed(&self) {
        self.sender.closed().await;
    }

    /// Whether the receiver is gone.
    pub fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// A sending end that does not keep the queue open.
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender { sender: self.sender.downgrade(), bytes: Arc::clone(&self.bytes) }
    }
}

impl<T> WeakSender<T> {
    /// The sending end, while the queue is open.
    pub fn upgrade(&self) -> Option<Sender<T>> {
        Some(Sender { sender: self.sender.upgrade()?, bytes: Arc::clone(&self.bytes) })
    }

    /// The number of senders that keep the queue open.
    pub fn strong_count(&self) -> usize {
        self.sender.strong_count()
    }
}

impl<T> Receiver<T> {
    /// The next item; `None` once there are no more.
    pub async fn recv(&mut self) -> Option<T> {
        self.receiver.recv().await.map(|(item, _)| item)
    }

    /// As [`Receiver::recv`], on a thread outside of any runtime.
    pub fn blocking_recv(&mut self) -> Option<T> {
        block_on(self.recv())
    }

    /// Accepts no further items. Items that were already sent are still received.
    pub fn close(&mut self) {
        self.bytes.close();
        self.receiver.close();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        // Senders that wait for space learn that the receiver is gone.
        self.close();
    }
}

/// Slows down threads that pass messages to a consumer that has a queue for other things, too: at most 1 MiB of
/// messages, or a single longer one, may wait.
#[derive(Clone, Debug)]
pub(crate) struct Backpressure(Arc<Semaphore>);

/// A message's place in a [`Backpressure`], until it is dropped.
#[derive(Debug, Default)]
pub(crate) struct BackpressurePermit {
    _share: Option<OwnedSemaphorePermit>,
}

impl Default for Backpressure {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(QUEUE_BYTES)))
    }
}

impl Backpressure {
    /// Waits, on a thread outside of any runtime, until there is space for a message of this size.
    pub(crate) fn blocking_enter(&self, bytes: usize) -> BackpressurePermit {
        // Even a short message takes more memory than its bytes.
        const BESIDE: usize = 256;
        BackpressurePermit { _share: block_on(Arc::clone(&self.0).acquire_many_owned(share_of(bytes + BESIDE))).ok() }
    }
}

/// Blocks this thread until the future is ready.
fn block_on<T>(work: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut work = std::pin::pin!(work);
    loop {
        if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(&waker)) {
            return done;
        }
        std::thread::park();
    }
}

/// The memory for unfinished messages of all connections of a listener together, in bytes.
#[derive(Debug)]
pub(crate) struct Budget {
    left: AtomicUsize,
}

/// The bytes that each connection may always hold of an unfinished message.
const FREE: usize = 64 << 10;
/// The bytes available in addition to one message of maximum length.
const SPARE: usize = 16 << 20;

impl Budget {
    /// A budget of this many bytes.
    pub(crate) fn of_bytes(bytes: usize) -> Arc<Self> {
        Arc::new(Self { left: AtomicUsize::new(bytes) })
    }

    /// A budget for one message of maximum length and 16 MiB of others.
    pub(crate) fn new(limit: MessageLimit) -> Arc<Self> {
        Self::of_bytes(limit.bytes().saturating_add(SPARE))
    }

    /// A share for one connection.
    pub(crate) fn share(self: &Arc<Self>) -> BudgetPermit {
        BudgetPermit { budget: Some(Arc::clone(self)), held: 0 }
    }
}

/// What one connection holds of a budget; returned when dropped.
#[derive(Debug, Default)]
pub(crate) struct BudgetPermit {
    budget: Option<Arc<Budget>>,
    held: usize,
}

impl BudgetPermit {
    /// Changes the held bytes to this number; false if the budget is exhausted.
    #[must_use]
    pub(crate) fn hold(&mut self, bytes: usize) -> bool {
        let wanted = bytes.saturating_sub(FREE);
        let Some(budget) = &self.budget else { return true };
        let is_there = match wanted.checked_sub(self.held) {
            Some(0) => true,
            Some(more) => {
                let taken =
                    budget.left.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(more));
                taken.is_ok()
            }
            None => {
                budget.left.fetch_add(self.held - wanted, Ordering::AcqRel);
                true
            }
        };
        if is_there {
            self.held = wanted;
        }
        is_there
    }

    /// The error for an exhausted budget.
    pub(crate) const SPENT: &str = "too many unfinished messages on other connections; try again later";
}

impl Drop for BudgetPermit {
    fn drop(&mut self) {
        let _ = self.hold(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_queue_holds_so_many_bytes_or_one_larger_item() {
        let (sender, mut receiver) = queue::<Vec<u8>>(8);
        assert!(sender.try_send(vec![0; 3 * QUEUE_BYTES]).is_ok(), "an empty queue takes any item");
        assert!(sender.try_send(vec![0; 1]).is_err());
        assert_eq!(receiver.recv().await.map(|item| item.len()), Some(3 * QUEUE_BYTES));
        for _ in 0..8 {
            assert!(sender.try_send(vec![0; 1]).is_ok());
        }
        assert!(sender.try_reserve(0).is_none(), "and so many items");
        let waits = tokio::spawn({
            let sender = sender.clone();
            async move { sender.send(vec![0; 1]).await }
        });
        tokio::task::yield_now().await;
        drop(receiver);
        assert_eq!(waits.await.expect("ends"), Err(ReceiverGone), "who waits learns that the receiver is gone");
        assert!(sender.is_closed());
    }

    #[test]
    fn threads_wait_for_a_queue_too() {
        let (sender, mut receiver) = queue::<Vec<u8>>(2);
        let sends = std::thread::spawn(move || (0..10).all(|_| sender.blocking_send(vec![0; QUEUE_BYTES]).is_ok()));
        let mut count = 0;
        while receiver.blocking_recv().is_some() {
            count += 1;
        }
        assert!(sends.join().expect("ends"));
        assert_eq!(count, 10);
    }

    #[test]
    fn connections_share_a_budget_and_give_back_what_they_held() {
        let limit: MessageLimit = "1M".parse().expect("a size");
        let budget = Budget::new(limit);
        let most = limit.bytes() + SPARE;
        let (mut one, mut other) = (budget.share(), budget.share());
        assert!(one.hold(most + FREE), "all of it");
        assert!(other.hold(FREE) && !other.hold(FREE + 1), "a little is anybody's");
        assert!(one.hold(0) && other.hold(most));
        drop(other);
        assert!(one.hold(most));
        assert!(BudgetPermit::default().hold(usize::MAX), "without a budget there is no bound");
    }
}
