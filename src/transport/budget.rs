//! How much of what peers send may be in memory at once: the longest message, what waits in a queue, and what is not
//! whole yet on all connections of a listener.

use crate::wire::MessageLimit;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// What is taken from one peer.
#[derive(Debug)]
pub struct IntakeLimits {
    /// Its longest message.
    pub limit: MessageLimit,
    /// Its part of what all peers of a listener may hold.
    pub share: BudgetPermit,
    /// Who it is.
    pub peer: &'static str,
}

impl IntakeLimits {
    /// What is taken from a server, whatever others send.
    pub fn of_server(limit: MessageLimit) -> Self {
        Self { limit, share: BudgetPermit::default(), peer: "the server" }
    }

    /// What is taken from one of a listener's clients.
    pub fn of_client(limit: MessageLimit, budget: &Arc<Budget>) -> Self {
        Self { limit, share: budget.share(), peer: "the client" }
    }

    /// Why a message is not taken.
    pub fn exceeded(&self) -> String {
        self.limit.exceeded_by(self.peer)
    }
}

/// How many bytes may wait in one queue, or one message that is longer (1 MiB).
const QUEUE_BYTES: usize = 1 << 20;

/// Something that takes memory.
pub trait Weight {
    /// How many bytes, about.
    fn weight(&self) -> usize;
}

impl Weight for Vec<u8> {
    fn weight(&self) -> usize {
        self.len()
    }
}

/// A queue that holds at most so many items, and 1 MiB of them or one that is larger.
pub fn queue<T: Weight>(most: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = mpsc::channel(most);
    let bytes = Arc::new(Semaphore::new(QUEUE_BYTES));
    (Sender { sender, bytes: Arc::clone(&bytes) }, Receiver { receiver, bytes })
}

/// An item, and its part of the queue's bytes.
type Held<T> = (T, OwnedSemaphorePermit);

/// The way into a queue.
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

/// A way into a queue that does not keep it open.
#[derive(Debug)]
pub struct WeakSender<T> {
    sender: mpsc::WeakSender<Held<T>>,
    bytes: Arc<Semaphore>,
}

/// The way out of a queue.
#[derive(Debug)]
pub struct Receiver<T> {
    receiver: mpsc::Receiver<Held<T>>,
    bytes: Arc<Semaphore>,
}

/// The receiver is gone.
#[derive(Debug, PartialEq, Eq)]
pub struct ReceiverGone;

/// A place in a queue for one item.
#[derive(Debug)]
pub struct QueueSlot<'a, T> {
    place: mpsc::Permit<'a, Held<T>>,
    share: OwnedSemaphorePermit,
}

impl<T> QueueSlot<'_, T> {
    /// Puts the item there.
    pub fn send(self, item: T) {
        self.place.send((item, self.share));
    }
}

/// The part of a queue's bytes that an item of this weight takes.
fn share_of(weight: usize) -> u32 {
    u32::try_from(weight.min(QUEUE_BYTES)).unwrap_or(u32::MAX)
}

impl<T: Weight> Sender<T> {
    /// Sends an item once there is a place for it.
    pub async fn send(&self, item: T) -> Result<(), ReceiverGone> {
        self.reserve(item.weight()).await?.send(item);
        Ok(())
    }

    /// The same on a thread outside of any runtime.
    pub fn blocking_send(&self, item: T) -> Result<(), ReceiverGone> {
        block_on(self.send(item))
    }

    /// Sends an item where there is a place for it now.
    pub fn try_send(&self, item: T) -> Result<(), T> {
        let share = Arc::clone(&self.bytes).try_acquire_many_owned(share_of(item.weight()));
        let Ok(share) = share else { return Err(item) };
        self.sender.try_send((item, share)).map_err(|error| match error {
            TrySendError::Full((item, _)) | TrySendError::Closed((item, _)) => item,
        })
    }

    /// A place for an item of this weight, once there is one.
    pub async fn reserve(&self, weight: usize) -> Result<QueueSlot<'_, T>, ReceiverGone> {
        let share = Arc::clone(&self.bytes).acquire_many_owned(share_of(weight)).await.map_err(|_| ReceiverGone)?;
        let place = self.sender.reserve().await.map_err(|_| ReceiverGone)?;
        Ok(QueueSlot { place, share })
    }

    /// A place for an item of this weight, where there is one now.
    pub fn try_reserve(&self, weight: usize) -> Option<QueueSlot<'_, T>> {
        let share = Arc::clone(&self.bytes).try_acquire_many_owned(share_of(weight)).ok()?;
        let place = self.sender.try_reserve().ok()?;
        Some(QueueSlot { place, share })
    }

    /// Over once the receiver is gone.
    pub async fn closed(&self) {
        self.sender.closed().await;
    }

    /// Whether the receiver is gone.
    pub fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// A way in that does not keep the queue open.
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender { sender: self.sender.downgrade(), bytes: Arc::clone(&self.bytes) }
    }
}

impl<T> WeakSender<T> {
    /// The way in, while the queue is open.
    pub fn upgrade(&self) -> Option<Sender<T>> {
        Some(Sender { sender: self.sender.upgrade()?, bytes: Arc::clone(&self.bytes) })
    }

    /// How many keep the queue open.
    pub fn strong_count(&self) -> usize {
        self.sender.strong_count()
    }
}

impl<T> Receiver<T> {
    /// The next item; `None` once there are no more.
    pub async fn recv(&mut self) -> Option<T> {
        self.receiver.recv().await.map(|(item, _)| item)
    }

    /// The same on a thread outside of any runtime.
    pub fn blocking_recv(&mut self) -> Option<T> {
        block_on(self.recv())
    }

    /// Takes no more. What was sent before still comes.
    pub fn close(&mut self) {
        self.bytes.close();
        self.receiver.close();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        // Who waits for bytes learns that nobody takes them any more.
        self.close();
    }
}

/// Holds back who brings messages for a consumer that takes other things too, so that no queue of its own is between
/// them: 1 MiB of messages may wait, or one that is longer.
#[derive(Clone, Debug)]
pub struct Backpressure(Arc<Semaphore>);

/// A message's place in a [`Backpressure`], until it is dropped.
#[derive(Debug, Default)]
pub struct BackpressurePermit {
    _share: Option<OwnedSemaphorePermit>,
}

impl Default for Backpressure {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(QUEUE_BYTES)))
    }
}

impl Backpressure {
    /// Waits, on a thread outside of any runtime, until there is a place for a message of so many bytes.
    pub fn blocking_enter(&self, bytes: usize) -> BackpressurePermit {
        // Short ones take more than their bytes.
        const BESIDE: usize = 256;
        BackpressurePermit { _share: block_on(Arc::clone(&self.0).acquire_many_owned(share_of(bytes + BESIDE))).ok() }
    }
}

/// Waits for something on this thread.
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

/// How many bytes of messages that are not whole yet all connections of a listener may hold together.
#[derive(Debug)]
pub struct Budget {
    left: AtomicUsize,
}

/// What every connection may hold of an unfinished message whatever the others hold.
const FREE: usize = 64 << 10;
/// What there is beside one message of full length.
const SPARE: usize = 16 << 20;

impl Budget {
    /// So many bytes.
    pub fn of_bytes(bytes: usize) -> Arc<Self> {
        Arc::new(Self { left: AtomicUsize::new(bytes) })
    }

    /// Enough for one message of full length, and 16 MiB of others.
    pub fn new(limit: MessageLimit) -> Arc<Self> {
        Self::of_bytes(limit.bytes().saturating_add(SPARE))
    }

    /// A connection's share of it.
    pub fn share(self: &Arc<Self>) -> BudgetPermit {
        BudgetPermit { budget: Some(Arc::clone(self)), held: 0 }
    }
}

/// What one connection holds of a budget; given back when it is dropped.
#[derive(Debug, Default)]
pub struct BudgetPermit {
    budget: Option<Arc<Budget>>,
    held: usize,
}

impl BudgetPermit {
    /// Holds so many bytes from now on; false where there are not as many.
    #[must_use]
    pub fn hold(&mut self, bytes: usize) -> bool {
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

    /// Why more is not taken.
    pub const SPENT: &str = "too many unfinished messages are under way on other connections; try again later";
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
