//! The bounded queue between relay and recorder. While it has space, a relay only copies bytes into it. The recorder
//! takes everything at once and is woken in batches, so that recording does not delay the traffic.

use crate::clock::{Clock, EventTimes, Reading};
use crate::trace::described::payload;
use crate::trace::{Closed, EventKind, Flags};
use crate::wire::{Direction, Framing};
use parking_lot::{Condvar, Mutex};
use serde::Serialize;
use std::borrow::Cow;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// What a relay does when the queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnOverload {
    /// Waits for space: nothing is lost, but traffic slows down to the speed of the disk.
    Block,
    /// Continues without recording: traffic keeps its speed, and the loss is counted and noted in the reel.
    Drop,
}

/// Where a chunk came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ChunkSource {
    /// A message stream.
    Messages(Direction),
    /// The server's standard error.
    Stderr,
}

/// An entry of the queue; the bytes are stored separately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A chunk of `len` bytes.
    Chunk {
        /// Where the bytes came from.
        lane: ChunkSource,
        /// When they were read, in nanoseconds since the clock base.
        time: i64,
        /// The number of bytes.
        len: usize,
    },
    /// The lane ended.
    End {
        /// The lane that ended.
        lane: ChunkSource,
        /// The time, in nanoseconds since the clock base.
        time: i64,
    },
    /// Bytes that were not recorded because the queue was full.
    Lost {
        /// Where the bytes came from.
        lane: ChunkSource,
        /// When the loss began, in nanoseconds since the clock base.
        time: i64,
        /// The number of bytes.
        bytes: u64,
        /// The number of reads.
        chunks: u64,
    },
    /// A complete event for the reel; its payload is among the batch's bytes.
    Event {
        /// The event's header.
        ready: Ready,
        /// The time, in nanoseconds since the clock base.
        time: i64,
        /// The payload's length.
        len: usize,
    },
}

/// The header, without time and length, of an event that is not cut out of a lane's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ready {
    /// The kind of event.
    pub kind: EventKind,
    /// The stream it belongs to.
    pub stream: u32,
    /// The HTTP exchange that carried it; 0 if none.
    pub exchange: u32,
    /// The direction and other flags.
    pub flags: Flags,
    /// How the payload was framed in its stream.
    pub framing: Framing,
}

impl Ready {
    /// An event about a stream that is not a message of either side.
    pub(crate) fn about(kind: EventKind, stream: u32) -> Self {
        Self { kind, stream, exchange: 0, flags: Flags::default(), framing: Framing::Whole }
    }
}

/// Exit codes and signals with which a server ends because someone asked it to: SIGHUP, SIGINT, SIGPIPE, SIGTERM.
const ASKED_TO_END: [i32; 4] = [1, 2, 13, 15];

/// Returns how a server ended, as the rest of a sentence.
pub(crate) fn end_text(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!(" with exit code {code}"),
        (None, Some(signal)) => format!(" by signal {signal}"),
        (None, None) => String::new(),
    }
}

/// Returns the flags of a server's end. It failed if it ended by itself, and with an error.
pub(crate) fn end_flags(status: Option<ExitStatus>, is_by_itself: bool) -> Flags {
    let signal = status.and_then(|status| status.signal().or_else(|| Some(status.code()? - 128)));
    let was_asked = signal.is_some_and(|signal| ASKED_TO_END.contains(&signal));
    let has_failed = is_by_itself && !was_asked && status.is_some_and(|status| !status.success());
    if has_failed { Flags::FAILED } else { Flags::default() }
}

/// What the recorder takes at once.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The entries, in order.
    pub entries: Vec<Entry>,
    /// The bytes of all chunks, concatenated.
    pub bytes: Vec<u8>,
    /// Write this batch to the reel at once, because someone is waiting to see it there.
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
    times: EventTimes,
    batch: Batch,
    losing: [Option<(i64, u64, u64)>; 3],
    closed: bool,
    recorder_gone: bool,
    /// The recorder waits without a time limit, so the next chunk must wake it.
    recorder_asleep: bool,
    /// A relay waits for space, so the recorder must take the batch now.
    relay_waits: bool,
    /// The recorder must take and write the batch now.
    is_urgent: bool,
}

/// The queue between relays and recorder.
#[derive(Debug)]
pub(crate) struct Queue {
    inner: Mutex<Inner>,
    to_recorder: Condvar,
    to_relays: Condvar,
    bound: usize,
    on_overload: OnOverload,
    clock: Clock,
}

impl Queue {
    /// A queue that holds at most `bound` bytes of traffic. The few events that are not traffic do not count. Times begin
    /// at `base`.
    pub(crate) fn new(bound: usize, on_overload: OnOverload, clock: Clock, base: Reading) -> Self {
        let times = EventTimes::from(base);
        Self {
            inner: Mutex::new(Inner { times, ..Inner::default() }),
            to_recorder: Condvar::new(),
            to_relays: Condvar::new(),
            bound: bound.max(1),
            on_overload,
            clock,
        }
    }

    /// Nanoseconds since the clock base.
    pub(crate) fn now(&self) -> i64 {
        self.time(&mut self.inner.lock())
    }

    /// The time of an event that happens now.
    fn time(&self, inner: &mut Inner) -> i64 {
        inner.times.at(self.clock.read())
    }

    /// Adds bytes that were just read. The order of calls determines the order across all lanes.
    pub(crate) fn push(&self, lane: ChunkSource, bytes: &[u8]) {
        self.add(lane, bytes.into(), |time| Entry::Chunk { lane, time, len: bytes.len() });
    }

    /// Adds a complete event of the traffic, under the same bound as [`Queue::push`].
    pub(crate) fn push_ready<'a>(&self, ready: Ready, payload: impl Into<Cow<'a, [u8]>>) {
        let (lane, payload) = (ChunkSource::Messages(ready.flags.direction()), payload.into());
        let len = payload.len();
        self.add(lane, payload, |time| Entry::Event { ready, time, len });
    }

    fn add(&self, lane: ChunkSource, bytes: Cow<'_, [u8]>, entry: impl FnOnce(i64) -> Entry) {
        let mut inner = self.inner.lock();
        if inner.recorder_gone {
            return;
        }
        let time = self.time(&mut inner);
        while inner.batch.bytes.len() + bytes.len() > self.bound && !inner.batch.bytes.is_empty() {
            if self.on_overload == OnOverload::Drop {
                let losing = inner.losing[lane_index(lane)].get_or_insert((time, 0, 0));
                losing.1 += bytes.len() as u64;
                losing.2 += 1;
                return;
            }
            inner.relay_waits = true;
            self.to_recorder.notify_one();
            self.to_relays.wait(&mut inner);
            if inner.recorder_gone {
                return;
            }
        }
        note_loss(&mut inner, lane);
        let entry = entry(time);
        // Someone who injects a message will look for it in the reel.
        let is_urgent = matches!(&entry, Entry::Event { ready, .. } if ready.flags.has(Flags::INJECTED));
        inner.batch.entries.push(entry);
        match bytes {
            // The queue is empty, so the buffer can be taken over without a copy.
            Cow::Owned(bytes) if bytes.len() > self.bound => inner.batch.bytes = bytes,
            bytes => self.append(&mut inner.batch.bytes, &bytes),
        }
        // Woken in batches: only from deep sleep, or when a lot of data has accumulated.
        if is_urgent {
            inner.is_urgent = true;
        }
        if inner.recorder_asleep || is_urgent || inner.batch.bytes.len() > self.bound / 2 {
            inner.recorder_asleep = false;
            self.to_recorder.notify_one();
        }
    }

    /// Adds an event that is not traffic.
    pub(crate) fn push_event(&self, ready: Ready, payload: &[u8]) {
        let mut inner = self.inner.lock();
        if inner.recorder_gone {
            return;
        }
        let time = self.time(&mut inner);
        inner.batch.entries.push(Entry::Event { ready, time, len: payload.len() });
        inner.batch.bytes.extend_from_slice(payload);
        self.wake_sleeper(&mut inner);
    }

    fn append(&self, into: &mut Vec<u8>, bytes: &[u8]) {
        if into.capacity() < bytes.len() + into.len() {
            // Reserve the whole bound at once: a buffer that doubles could end up twice as large.
            let space = self.bound.max(bytes.len()) - into.len().min(self.bound);
            into.reserve_exact(space);
        }
        into.extend_from_slice(bytes);
    }

    /// Adds an event whose payload is a CBOR map.
    pub(crate) fn note(&self, ready: Ready, described: &impl Serialize) {
        self.push_event(ready, &payload(described));
    }

    /// Notes how the server of a stream ended. `by` says who ended the stream, if the reel is to say it.
    pub(crate) fn note_end(&self, stream: u32, status: Option<ExitStatus>, is_by_itself: bool, by: Option<&str>) {
        let exit_code = status.and_then(|status| status.code()).map(i64::from);
        let signal = status.and_then(|status| status.signal()).map(i64::from);
        let about = Closed { exit_code, signal, by: by.map(str::to_owned) };
        let flags = end_flags(status, is_by_itself);
        self.note(Ready { flags, ..Ready::about(EventKind::StreamClosed, stream) }, &about);
    }

    /// Wakes the recorder from deep sleep, but not from its short pause between batches.
    fn wake_sleeper(&self, inner: &mut Inner) {
        if std::mem::replace(&mut inner.recorder_asleep, false) {
            self.to_recorder.notify_one();
        }
    }

    /// Marks the end of a lane.
    pub(crate) fn end(&self, lane: ChunkSource) {
        let mut inner = self.inner.lock();
        let time = self.time(&mut inner);
        note_loss(&mut inner, lane);
        inner.batch.entries.push(Entry::End { lane, time });
        self.wake_sleeper(&mut inner);
    }

    /// Closes the queue: nothing more will be added.
    pub(crate) fn close(&self) {
        self.inner.lock().closed = true;
        self.to_recorder.notify_one();
    }

    /// Waits up to `grace_period` (forever if `None`) and moves what has accumulated into `batch`.
    ///
    /// Returns false once the queue is closed and empty.
    pub(crate) fn take(&self, batch: &mut Batch, grace_period: Option<Duration>) -> bool {
        batch.clear();
        // Return the memory of a buffer that one large event made larger than the bound.
        batch.bytes.shrink_to(self.bound);
        let mut inner = self.inner.lock();
        let deadline = grace_period.map(|grace_period| Instant::now() + grace_period);
        while !inner.closed && !inner.relay_waits && !inner.is_urgent && inner.batch.bytes.len() <= self.bound / 2 {
            match deadline {
                None if !inner.batch.entries.is_empty() => break,
                None => {
                    inner.recorder_asleep = true;
                    self.to_recorder.wait(&mut inner);
                }
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        break;
                    }
                    self.to_recorder.wait_for(&mut inner, left);
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

    /// Releases waiting relays, because the recorder has ended.
    pub(crate) fn abandon(&self) {
        self.inner.lock().recorder_gone = true;
        self.to_relays.notify_all();
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
        let queue = Queue::new(10, OnOverload::Block, Clock::start(), Reading::default());
        for (length, is_copied) in [(11, false), (10, true)] {
            let payload = vec![b'x'; length];
            let at = payload.as_ptr();
            queue.push_ready(Ready::about(EventKind::Message, 1), payload);
            let mut batch = Batch::default();
            assert!(queue.take(&mut batch, Some(Duration::ZERO)));
            assert_eq!((batch.bytes.len(), batch.bytes.as_ptr() != at), (length, is_copied));
            // Its buffer is released.
            for _ in 0..2 {
                assert!(queue.take(&mut batch, Some(Duration::ZERO)) && batch.bytes.capacity() <= 10);
            }
        }
    }

    #[test]
    fn a_full_queue_drops_and_counts_when_reported_to() {
        let queue = Queue::new(10, OnOverload::Drop, Clock::start(), Reading::default());
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
        let queue = Queue::new(10, OnOverload::Block, Clock::start(), Reading::default());
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
        let queue = Queue::new(4, OnOverload::Drop, Clock::start(), Reading::default());
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
            let queue = Queue::new(10, OnOverload::Block, Clock::start(), Reading::default());
            std::thread::scope(|scope| {
                let taken = scope.spawn(|| {
                    let mut batch = Batch::default();
                    queue.take(&mut batch, None);
                    batch.entries.len()
                });
                while !queue.inner.lock().recorder_asleep {
                    std::thread::yield_now();
                }
                wake(&queue);
                assert_eq!(taken.join().expect("woken"), 1);
            });
        }
    }

    #[test]
    fn an_abandoned_queue_never_holds_a_relay() {
        let queue = Queue::new(4, OnOverload::Block, Clock::start(), Reading::default());
        queue.abandon();
        for _ in 0..10 {
            queue.push(C2S, b"12345");
        }
    }
}
