//! The bounded queue between relay and recorder. While it has room a relay only copies bytes into it; the recorder
//! takes everything at once and is woken in batches, so that recording stays off the path of the traffic.

use crate::trace::{EventKind, Flags};
use crate::wire::{Direction, Framing};
use serde::Serialize;
use std::borrow::Cow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a relay does when the queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnOverload {
    /// Waits for room: nothing is lost, traffic slows to the pace of the disk.
    Block,
    /// Goes on without recording: traffic keeps its pace, the loss is counted and noted in the reel.
    Drop,
}

/// Where a chunk came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChunkSource {
    /// A message stream.
    Messages(Direction),
    /// The server's standard error.
    Stderr,
}

/// What lies in the queue beside the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// `len` bytes, read at `time` (nanoseconds since the clock base).
    Chunk {
        /// Where they came from.
        lane: ChunkSource,
        /// When they were read.
        time: i64,
        /// How many.
        len: usize,
    },
    /// The lane ended.
    End {
        /// Which.
        lane: ChunkSource,
        /// When.
        time: i64,
    },
    /// Bytes that were not recorded because the queue was full.
    Lost {
        /// Where they came from.
        lane: ChunkSource,
        /// When the loss began.
        time: i64,
        /// How many bytes.
        bytes: u64,
        /// In how many reads.
        chunks: u64,
    },
    /// A ready event for the reel; its payload's `len` bytes lie in the batch.
    Event {
        /// What it is.
        ready: Ready,
        /// When.
        time: i64,
        /// The payload's length.
        len: usize,
    },
}

/// An event that is not cut out of a lane's bytes: its header but for time and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// What happened.
    pub kind: EventKind,
    /// The stream it belongs to.
    pub stream: u32,
    /// The HTTP exchange that carried it; 0 where none did.
    pub exchange: u32,
    /// The direction and marks.
    pub flags: Flags,
    /// How the payload stood in its stream.
    pub framing: Framing,
}

impl Ready {
    /// Something about a stream that no peer said.
    pub fn about(kind: EventKind, stream: u32) -> Self {
        Self { kind, stream, exchange: 0, flags: Flags::default(), framing: Framing::Whole }
    }
}

/// What the recorder takes at once.
#[derive(Debug, Default)]
pub struct Batch {
    /// What happened, in order.
    pub entries: Vec<Entry>,
    /// The bytes of all chunks, one after another.
    pub bytes: Vec<u8>,
    /// Somebody looks for it in the reel: it is to be written at once.
    pub is_urgent: bool,
}

impl Batch {
    fn clear(&mut self) {
        self.entries.clear();
        self.bytes.clear();
        self.is_urgent = false;
    }
}

#[derive(Debug, Default)]
struct Inner {
    batch: Batch,
    losing: [Option<(i64, u64, u64)>; 3],
    closed: bool,
    recorder_gone: bool,
    /// The recorder waits without a time limit: the next chunk must wake it.
    recorder_asleep: bool,
    /// A relay waits for room: what has gathered is to be taken now.
    relay_waits: bool,
    /// What has gathered is to be taken, and written, now.
    is_urgent: bool,
}

/// The queue.
#[derive(Debug)]
pub struct Queue {
    inner: Mutex<Inner>,
    to_recorder: Condvar,
    to_relays: Condvar,
    bound: usize,
    on_overload: OnOverload,
    base: Instant,
}

impl Queue {
    /// A queue that holds `bound` bytes of traffic at most, and beside them the few events that are no traffic.
    pub fn new(bound: usize, on_overload: OnOverload, base: Instant) -> Self {
        Self {
            inner: Mutex::default(),
            to_recorder: Condvar::new(),
            to_relays: Condvar::new(),
            bound: bound.max(1),
            on_overload,
            base,
        }
    }

    /// Nanoseconds since the clock base.
    pub fn now(&self) -> i64 {
        i64::try_from(self.base.elapsed().as_nanos()).unwrap_or(i64::MAX)
    }

    /// Adds bytes read just now. Order over all lanes is the order of these calls.
    pub fn push(&self, lane: ChunkSource, bytes: &[u8]) {
        self.add(lane, bytes.into(), |time| Entry::Chunk { lane, time, len: bytes.len() });
    }

    /// Adds a whole event of the traffic, under the same bound as [`Queue::push`].
    pub fn push_ready<'a>(&self, ready: Ready, payload: impl Into<Cow<'a, [u8]>>) {
        let (lane, payload) = (ChunkSource::Messages(ready.flags.direction()), payload.into());
        let len = payload.len();
        self.add(lane, payload, |time| Entry::Event { ready, time, len });
    }

    fn add(&self, lane: ChunkSource, bytes: Cow<'_, [u8]>, entry: impl FnOnce(i64) -> Entry) {
        let time = self.now();
        let mut inner = self.lock();
        if inner.recorder_gone {
            return;
        }
        while inner.batch.bytes.len() + bytes.len() > self.bound && !inner.batch.bytes.is_empty() {
            if self.on_overload == OnOverload::Drop {
                let losing = inner.losing[lane_index(lane)].get_or_insert((time, 0, 0));
                losing.1 += bytes.len() as u64;
                losing.2 += 1;
                return;
            }
            inner.relay_waits = true;
            self.to_recorder.notify_one();
            inner = self.to_relays.wait(inner).unwrap_or_else(PoisonError::into_inner);
            if inner.recorder_gone {
                return;
            }
        }
        note_loss(&mut inner, lane);
        let entry = entry(time);
        // Whoever puts a message in looks for it in the reel next.
        let is_urgent = matches!(&entry, Entry::Event { ready, .. } if ready.flags.has(Flags::INJECTED));
        inner.batch.entries.push(entry);
        match bytes {
            // It lies alone, so it need not be copied.
            Cow::Owned(bytes) if bytes.len() > self.bound => inner.batch.bytes = bytes,
            bytes => self.append(&mut inner.batch.bytes, &bytes),
        }
        // Woken in batches: only from deep sleep, or when much has gathered.
        if is_urgent {
            inner.is_urgent = true;
        }
        if inner.recorder_asleep || is_urgent || inner.batch.bytes.len() > self.bound / 2 {
            inner.recorder_asleep = false;
            self.to_recorder.notify_one();
        }
    }

    /// Adds an event that is not traffic.
    pub fn push_event(&self, ready: Ready, payload: &[u8]) {
        let time = self.now();
        let mut inner = self.lock();
        if inner.recorder_gone {
            return;
        }
        inner.batch.entries.push(Entry::Event { ready, time, len: payload.len() });
        inner.batch.bytes.extend_from_slice(payload);
        self.wake_sleeper(&mut inner);
    }

    fn append(&self, into: &mut Vec<u8>, bytes: &[u8]) {
        if into.capacity() < bytes.len() + into.len() {
            // The whole bound at once: a buffer that doubles would end up with twice as much.
            let room = self.bound.max(bytes.len()) - into.len().min(self.bound);
            into.reserve_exact(room);
        }
        into.extend_from_slice(bytes);
    }

    /// Adds an event that is described by a CBOR map.
    pub fn note(&self, ready: Ready, described: &impl Serialize) {
        let mut payload = Vec::new();
        if ciborium::into_writer(described, &mut payload).is_ok() {
            self.push_event(ready, &payload);
        }
    }

    /// Wakes the recorder from deep sleep, not from its short rest between batches.
    fn wake_sleeper(&self, inner: &mut Inner) {
        if std::mem::replace(&mut inner.recorder_asleep, false) {
            self.to_recorder.notify_one();
        }
    }

    /// Tells that a lane ended.
    pub fn end(&self, lane: ChunkSource) {
        let time = self.now();
        let mut inner = self.lock();
        note_loss(&mut inner, lane);
        inner.batch.entries.push(Entry::End { lane, time });
        self.wake_sleeper(&mut inner);
    }

    /// Tells that nothing comes any more.
    pub fn close(&self) {
        self.lock().closed = true;
        self.to_recorder.notify_one();
    }

    /// Waits up to `grace_period` (for ever where `None`) and takes what has gathered by then into `batch`.
    ///
    /// Answers false once the queue is closed and empty.
    pub fn take(&self, batch: &mut Batch, grace_period: Option<Duration>) -> bool {
        batch.clear();
        // What one large event made larger than the bound goes back.
        batch.bytes.shrink_to(self.bound);
        let mut inner = self.lock();
        let deadline = grace_period.map(|grace_period| Instant::now() + grace_period);
        while !inner.closed && !inner.relay_waits && !inner.is_urgent && inner.batch.bytes.len() <= self.bound / 2 {
            match deadline {
                None if !inner.batch.entries.is_empty() => break,
                None => {
                    inner.recorder_asleep = true;
                    inner = self.to_recorder.wait(inner).unwrap_or_else(PoisonError::into_inner);
                }
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        break;
                    }
                    inner = self.to_recorder.wait_timeout(inner, left).unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
        inner.recorder_asleep = false;
        inner.relay_waits = false;
        let is_urgent = std::mem::replace(&mut inner.is_urgent, false);
        if inner.closed {
            for lane in LANES {
                note_loss(&mut inner, lane);
            }
        }
        std::mem::swap(&mut inner.batch, batch);
        batch.is_urgent = is_urgent;
        let more = !inner.closed || !batch.entries.is_empty();
        drop(inner);
        self.to_relays.notify_all();
        more
    }

    /// Tells relays that nobody takes any more: they go on without waiting.
    pub fn abandon(&self) {
        self.lock().recorder_gone = true;
        self.to_relays.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const LANES: [ChunkSource; 3] = [
    ChunkSource::Messages(Direction::ClientToServer),
    ChunkSource::Messages(Direction::ServerToClient),
    ChunkSource::Stderr,
];

fn lane_index(lane: ChunkSource) -> usize {
    LANES.iter().position(|known| *known == lane).unwrap_or_default()
}

fn note_loss(inner: &mut Inner, lane: ChunkSource) {
    if let Some((time, bytes, chunks)) = inner.losing[lane_index(lane)].take() {
        inner.batch.entries.push(Entry::Lost { lane, time, bytes, chunks });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const C2S: ChunkSource = ChunkSource::Messages(Direction::ClientToServer);

    #[test]
    fn a_payload_that_is_given_away_and_larger_than_the_bound_is_not_copied() {
        let queue = Queue::new(10, OnOverload::Block, Instant::now());
        for (length, is_copied) in [(11, false), (10, true)] {
            let payload = vec![b'x'; length];
            let at = payload.as_ptr();
            queue.push_ready(Ready::about(EventKind::Message, 1), payload);
            let mut batch = Batch::default();
            assert!(queue.take(&mut batch, Some(Duration::ZERO)));
            assert_eq!((batch.bytes.len(), batch.bytes.as_ptr() != at), (length, is_copied));
            // Its buffer does not stay.
            for _ in 0..2 {
                assert!(queue.take(&mut batch, Some(Duration::ZERO)) && batch.bytes.capacity() <= 10);
            }
        }
    }

    #[test]
    fn a_full_queue_drops_and_counts_when_reported_to() {
        let queue = Queue::new(10, OnOverload::Drop, Instant::now());
        queue.push(C2S, b"12345678");
        queue.push(C2S, b"lost");
        queue.push(C2S, b"too");
        let mut batch = Batch::default();
        assert!(queue.take(&mut batch, Some(Duration::ZERO)));
        assert_eq!(batch.bytes, b"12345678");
        queue.push(C2S, b"back");
        queue.close();
        assert!(queue.take(&mut batch, None));
        assert!(matches!(batch.entries[0], Entry::Lost { bytes: 7, chunks: 2, .. }));
        assert!(matches!(batch.entries[1], Entry::Chunk { len: 4, .. }));
        assert!(!queue.take(&mut batch, None));
    }

    #[test]
    fn a_full_queue_blocks_until_taken_and_loses_nothing() {
        let queue = Queue::new(10, OnOverload::Block, Instant::now());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..100u8 {
                    queue.push(C2S, &[number; 7]);
                }
                queue.close();
            });
            let mut all = Vec::new();
            let mut batch = Batch::default();
            while queue.take(&mut batch, None) {
                assert!(batch.bytes.len() <= 10);
                all.extend_from_slice(&batch.bytes);
            }
            assert_eq!(all, (0..100u8).flat_map(|number| [number; 7]).collect::<Vec<_>>());
        });
    }

    #[test]
    fn a_chunk_larger_than_the_bound_passes_alone() {
        let queue = Queue::new(4, OnOverload::Drop, Instant::now());
        queue.push(C2S, b"a long chunk");
        let mut batch = Batch::default();
        queue.close();
        assert!(queue.take(&mut batch, None));
        assert_eq!(batch.bytes, b"a long chunk");
    }

    #[test]
    fn an_end_and_an_event_wake_a_sleeping_recorder() {
        for wake in [
            |queue: &Queue| queue.end(C2S),
            |queue: &Queue| {
                queue.push_event(Ready::about(EventKind::Note, 0), b"x");
            },
        ] {
            let queue = Queue::new(10, OnOverload::Block, Instant::now());
            std::thread::scope(|scope| {
                let taken = scope.spawn(|| {
                    let mut batch = Batch::default();
                    queue.take(&mut batch, None);
                    batch.entries.len()
                });
                while !queue.lock().recorder_asleep {
                    std::thread::yield_now();
                }
                wake(&queue);
                assert_eq!(taken.join().expect("woken"), 1);
            });
        }
    }

    #[test]
    fn an_abandoned_queue_never_holds_a_relay() {
        let queue = Queue::new(4, OnOverload::Block, Instant::now());
        queue.abandon();
        for _ in 0..10 {
            queue.push(C2S, b"12345");
        }
    }
}
