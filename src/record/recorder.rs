//! The recorder: a thread that takes what relays left in the queue, cuts it into frames and writes the reel.
//!
//! A failed write never affects the traffic. It is reported once, everything after it counts as lost, and the recorder
//! retries from time to time; a gap event records what is missing. If the reel itself is lost (removed, or at the file
//! size limit), recording continues in another reel, which begins with what is needed to read it alone.

mod open;
mod recovery;
#[cfg(test)]
mod tests;

use super::queue::{Batch, ChunkSource, Entry, OnOverload, Queue, Ready};
use super::repack;
use super::storage::{ReelStore, Sink};
use crate::clock::Clock;
use crate::platform::thread_priority;
use crate::process::threads;
use crate::sessions::recording_status::RecordingStatus;
use crate::share::LiveRedactor;
use crate::trace;
use crate::trace::described::payload;
use crate::trace::{EventKind, FileHeader, Flags, NewEvent};
use crate::wire::{Direction, Frame, Framing, LineFramer, PIECE};
use open::Open;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often the recorder checks the queue while there is traffic.
const QUEUE_INTERVAL: Duration = Duration::from_millis(12);
/// By how much the recorder is nicer than the rest of the process.
const LESS_PRIORITY: i32 = 10;
/// An event is written before the recorder would look again and find it older than this.
const FLUSH_AFTER: Duration = Duration::from_millis(20);
/// How long after the last event the recorder goes to sleep.
const REST_AFTER: Duration = Duration::from_millis(500);
/// How long after a failed write the recorder retries.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// How often the recorder checks whether the reel still exists, while there is traffic.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// The maximum size of an event without its payload.
const EVENT_BYTES: u64 = 96;
/// The maximum number of open streams whose opening events are kept for the next reel.
const MAX_STREAMS: usize = 1024;

/// How to record.
pub(crate) struct RecorderOptions {
    /// The reel's header; `created` is set to the clock base.
    pub header: FileHeader,
    /// The maximum bytes that wait between relay and recorder.
    pub queue_bytes: usize,
    /// What a relay does when the queue is full.
    pub on_overload: OnOverload,
    /// Give up if recording fails: [`RecordingStatus::given_up`].
    pub is_required: bool,
    /// Called with each problem once.
    pub complain: Box<dyn Fn(&str) + Send>,
    /// Removes secrets from every event before it is written.
    pub redaction: Option<LiveRedactor>,
}

/// How recording went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Summary {
    /// Events written.
    pub events: u64,
    /// Bytes of traffic that were not recorded.
    pub lost_bytes: u64,
    /// Why writing failed, if it did.
    pub failure: Option<String>,
}

/// A running recorder.
pub(crate) struct Recorder {
    queue: Arc<Queue>,
    status: Arc<RecordingStatus>,
    /// None once it was waited for.
    thread: Option<JoinHandle<Summary>>,
}

impl Recorder {
    /// Begins the first reel and starts the thread. The clock base is now.
    ///
    /// If no reel can be created or the disk is already full, this is reported like a disk that fills up later; the
    /// traffic flows anyway.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn start(mut store: impl ReelStore + 'static, mut options: RecorderOptions) -> io::Result<Self> {
        let clock = Clock::start();
        let base = clock.read();
        options.header.created = base.wall_ns;
        let queue = Arc::new(Queue::new(options.queue_bytes, options.on_overload, clock, base));
        let status = Arc::<RecordingStatus>::default();
        let (sender, work) = channel::<Work<_>>();
        // Its work comes afterwards, so that without a thread no reel is begun.
        let thread = threads::start("recorder", move || work.recv().map(Work::run).unwrap_or_default());
        let thread = thread.inspect_err(|_| drop(store.next().map(|mut empty| empty.discard())))?;
        let mut work = Work::new(store, Arc::clone(&queue), Arc::clone(&status), options);
        work.resume_now();
        let _ = sender.send(work);
        Ok(Self { queue, status, thread: Some(thread) })
    }

    /// Where relays leave what they forward.
    pub(crate) fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    /// How the recording is going.
    pub(crate) fn status(&self) -> &Arc<RecordingStatus> {
        &self.status
    }

    /// Adds an event of stream 0, described by a CBOR map.
    pub(crate) fn note(&self, kind: EventKind, described: &impl Serialize) {
        self.queue.note(Ready::about(kind, 0), described);
    }

    /// Notes how the server of stream 0 ended. `by` says who ended the stream, if the reel is to say it.
    pub(crate) fn note_end(&self, status: Option<ExitStatus>, is_by_itself: bool, by: Option<&str>) {
        self.queue.note_end(0, status, is_by_itself, by);
    }

    /// Ends the reel and waits until everything is written.
    pub(crate) fn finish(mut self) -> Summary {
        self.end()
    }

    fn end(&mut self) -> Summary {
        self.queue.close();
        let crashed = |_| Summary { failure: Some(CRASHED.into()), ..Summary::default() };
        self.thread.take().map(|thread| thread.join().unwrap_or_else(crashed)).unwrap_or_default()
    }
}

impl Drop for Recorder {
    /// A command that ends early, for instance because the user interrupts it, leaves a complete reel.
    fn drop(&mut self) {
        self.end();
    }
}

/// Lowers the priority of this thread: where it competes for a processor with the relays or the recorded programs, they
/// go first.
pub(crate) fn give_way() {
    thread_priority::lower(LESS_PRIORITY);
}

/// What is reported if the recorder's thread panics.
const CRASHED: &str = "the recorder crashed; this is a bug";

/// Releases the relays when it is dropped. If the recorder crashed, others learn that nothing is recorded any more.
struct Abandon {
    queue: Arc<Queue>,
    status: Arc<RecordingStatus>,
    is_required: bool,
}

impl Drop for Abandon {
    fn drop(&mut self) {
        self.queue.abandon();
        if std::thread::panicking() {
            self.status.fails(CRASHED);
            if self.is_required {
                self.status.give_up(CRASHED);
            }
        }
    }
}

/// The recorder's thread.
struct Work<T: ReelStore> {
    store: T,
    header: FileHeader,
    /// The current reel; none before the first one and while the last one is lost.
    reel: Option<Open<T::Sink>>,
    /// The name of the previous reel, and what happened to it.
    previous: Option<(String, String)>,
    queue: Arc<Queue>,
    status: Arc<RecordingStatus>,
    complain: Box<dyn Fn(&str) + Send>,
    redaction: Option<LiveRedactor>,
    reported: HashSet<String>,
    is_required: bool,
    is_given_up: bool,
    /// Batches with more bytes are compressed quickly, to catch up.
    hurry_above: usize,
    framers: [LineFramer; 2],
    /// The opening event of each open stream.
    streams: BTreeMap<u32, Vec<u8>>,
    /// The time of the last event.
    last_time: i64,
    /// When the oldest unwritten event was added.
    pending_since: Option<Instant>,
    /// When to retry writing; `None` while nothing is wrong.
    retry_at: Option<Instant>,
    pause: Duration,
    checked_at: Instant,
    /// Events and bytes lost since the last gap event.
    gap: Gap,
    summary: Summary,
}

#[derive(Debug, Default, Serialize)]
struct Gap {
    events: u64,
    bytes: u64,
    reason: String,
}

impl<T: ReelStore> Work<T> {
    fn new(store: T, queue: Arc<Queue>, status: Arc<RecordingStatus>, options: RecorderOptions) -> Self {
        Self {
            store,
            header: options.header,
            reel: None,
            previous: None,
            queue,
            status,
            complain: options.complain,
            redaction: options.redaction,
            reported: HashSet::new(),
            is_required: options.is_required,
            is_given_up: false,
            hurry_above: options.queue_bytes / 4,
            framers: [(); 2].map(|()| LineFramer::with_limit(PIECE)),
            streams: BTreeMap::new(),
            last_time: 0,
            pending_since: None,
            retry_at: None,
            pause: RETRY_AFTER,
            checked_at: Instant::now(),
            gap: Gap::default(),
            summary: Summary::default(),
        }
    }

    fn run(mut self) -> Summary {
        give_way();
        // However this thread ends, no relay may wait for it.
        let (queue, status) = (Arc::clone(&self.queue), Arc::clone(&self.status));
        let _guard = Abandon { queue, status, is_required: self.is_required };
        let mut batch = Batch::default();
        let mut last_traffic = Instant::now();
        loop {
            let resting = self.pending_since.is_none() && last_traffic.elapsed() > REST_AFTER;
            let more = self.queue.take(&mut batch, (!resting).then_some(QUEUE_INTERVAL));
            if !batch.entries.is_empty() {
                last_traffic = Instant::now();
                if self.checked_at.elapsed() >= CHECK_INTERVAL {
                    self.check_reel();
                }
                self.write_batch(&batch);
            }
            if !more {
                break;
            }
            if batch.is_urgent || self.pending_since.is_some_and(|since| since.elapsed() + QUEUE_INTERVAL > FLUSH_AFTER)
            {
                self.flush();
            }
        }
        // A lane that never ended (a descendant of a dead server holds it open) keeps its unfinished frame.
        let time = self.queue.now();
        for direction in [Direction::ClientToServer, Direction::ServerToClient] {
            self.end(ChunkSource::Messages(direction), time);
        }
        self.finish()
    }

    fn write_batch(&mut self, batch: &Batch) {
        if let Some(reel) = &mut self.reel {
            reel.writer.hurry(batch.bytes.len() > self.hurry_above);
        }
        let mut rest = &batch.bytes[..];
        for entry in &batch.entries {
            match *entry {
                Entry::Chunk { lane, time, len } => {
                    let (chunk, after) = rest.split_at(len);
                    rest = after;
                    self.chunk(lane, time, chunk);
                }
                Entry::Event { ready, time, len } => {
                    let (payload, after) = rest.split_at(len);
                    rest = after;
                    let Ready { kind, stream, exchange, flags, framing } = ready;
                    self.append(NewEvent { time, stream, exchange, kind, flags, framing, payload });
                }
                Entry::End { lane, time } => self.end(lane, time),
                Entry::Lost { lane, time, bytes, chunks } => self.overload_gap(lane, time, bytes, chunks),
            }
        }
    }

    fn chunk(&mut self, lane: ChunkSource, time: i64, chunk: &[u8]) {
        let ChunkSource::Messages(direction) = lane else {
            let flags = Flags::SERVER_TO_CLIENT;
            return self.append(event(EventKind::Stderr, time, flags, Framing::Whole, chunk));
        };
        self.frames(direction, time, |framer, sink| framer.push(chunk, sink));
    }

    fn end(&mut self, lane: ChunkSource, time: i64) {
        if let ChunkSource::Messages(direction) = lane {
            self.frames(direction, time, |framer, sink| framer.finish(sink));
        }
    }

    /// Runs a framer, which is moved out meanwhile so that its frames can be written.
    fn frames(
        &mut self,
        direction: Direction,
        time: i64,
        run: impl FnOnce(&mut LineFramer, &mut dyn FnMut(Frame<'_>)),
    ) {
        let mut framer = std::mem::take(&mut self.framers[direction as usize]);
        run(&mut framer, &mut |frame| {
            self.append(event(EventKind::Message, time, Flags::toward(direction), frame.framing, frame.payload));
        });
        self.framers[direction as usize] = framer;
    }

    fn overload_gap(&mut self, lane: ChunkSource, time: i64, bytes: u64, chunks: u64) {
        self.summary.lost_bytes += bytes;
        self.status.loses(bytes);
        // A message that was cut off must not be joined with bytes after the loss.
        self.end(lane, time);
        let lane = match lane {
            ChunkSource::Messages(direction) => direction.short(),
            ChunkSource::Stderr => "stderr",
        };
        let about = trace::Gap {
            reason: Some("the recorder's queue was full".to_owned()),
            lane: Some(lane.to_owned()),
            bytes: Some(bytes),
            reads: Some(chunks),
            ..trace::Gap::default()
        };
        self.append(event(EventKind::Gap, time, Flags::default(), Framing::Whole, &payload(&about)));
    }

    fn append(&mut self, event: NewEvent<'_>) {
        let redacted = self.redaction.as_mut().map(|redaction| redaction.single(&event));
        match &redacted {
            Some((flags, payload)) => self.append_as_it_is(NewEvent { flags: *flags, payload, ..event }),
            None => self.append_as_it_is(event),
        }
    }

    fn append_as_it_is(&mut self, event: NewEvent<'_>) {
        self.last_time = event.time;
        self.write(event);
        match event.kind {
            EventKind::StreamOpened if self.streams.len() < MAX_STREAMS => {
                self.streams.insert(event.stream, event.payload.to_vec());
            }
            EventKind::StreamClosed => drop(self.streams.remove(&event.stream)),
            _ => {}
        }
    }

    fn write(&mut self, event: NewEvent<'_>) {
        let len = event.payload.len() as u64;
        // What mcpreel itself notes is no traffic.
        let is_traffic = matches!(event.kind, EventKind::Message | EventKind::Stderr | EventKind::Transport);
        let traffic = if is_traffic { len } else { 0 };
        if let Some(retry_at) = self.retry_at
            && (Instant::now() < retry_at || !self.resume_now())
        {
            return self.lose(1, traffic);
        }
        if self.reel.as_ref().is_some_and(|reel| reel.is_full_for(len)) {
            self.begin_next_reel(len);
        }
        let Some(reel) = &mut self.reel else { return self.lose(1, traffic) };
        let (had_pending, seq) = (reel.writer.has_pending(), reel.writer.next_seq());
        reel.bytes += len;
        match reel.writer.append(event) {
            Ok(()) => {
                reel.pending += len + EVENT_BYTES;
                if !reel.writer.has_pending() {
                    reel.pending = 0;
                    self.pending_since = None;
                    self.pause = RETRY_AFTER;
                } else if !had_pending || self.pending_since.is_none() {
                    self.pending_since = Some(Instant::now());
                }
            }
            Err(error) => {
                if reel.writer.next_seq() == seq {
                    // The event was not accepted. Events that were accepted are counted when the writer discards them.
                    reel.bytes = reel.bytes.saturating_sub(len);
                    self.lose(1, traffic);
                }
                self.fail(&error);
            }
        }
    }

    fn lose(&mut self, events: u64, bytes: u64) {
        self.gap.events += events;
        self.gap.bytes += bytes;
        self.summary.lost_bytes += bytes;
        self.status.loses(bytes);
    }

    fn flush(&mut self) {
        self.pending_since = None;
        if self.retry_at.is_none()
            && let Some(reel) = &mut self.reel
        {
            match reel.writer.flush() {
                Ok(()) => (reel.pending, self.pause) = (0, RETRY_AFTER),
                Err(error) => self.fail(&error),
            }
        }
    }

    /// Ends a reel that is about to reach the file size limit and begins the next one, so that nothing is lost.
    fn begin_next_reel(&mut self, len: u64) {
        self.flush();
        let is_at_end = |reel: &mut Open<T::Sink>| reel.is_full_for(len) && reel.justifies_another();
        let Some(reel) = self.reel.take_if(is_at_end) else { return };
        let problem = format!("{} has reached the file size limit (ulimit -f)", reel.name);
        self.status.fails(&problem);
        self.leave(reel, &problem);
        self.go_on(&problem, true);
    }

    fn finish(mut self) -> Summary {
        self.last_time = self.queue.now();
        self.flush();
        self.check_reel();
        if self.retry_at.is_some() {
            self.resume_now();
        }
        let is_failing = self.retry_at.is_some() || self.is_given_up;
        let Some(mut reel) = self.reel.take() else { return self.summary };
        if is_failing {
            // What is not written is lost; the rest stays readable.
            let (events, bytes) = reel.rewind();
            self.lose(events, bytes);
            let end = reel.writer.written();
            if !reel.has_begun || reel.events() == 0 {
                reel.writer.get_mut().discard();
            } else {
                self.summary.events += reel.writer.next_seq();
                let _ = reel.writer.get_mut().rewind_to(end);
            }
            return self.summary;
        }
        self.summary.events += reel.writer.next_seq();
        let to_repack = reel.to_repack();
        if let Err(error) = reel.end() {
            self.report(&format!("cannot finish the reel: {error}"));
            self.summary.failure.get_or_insert_with(|| error.to_string());
        } else if let Some(path) = to_repack {
            // The reel is complete as it is.
            let _ = repack::repack(&path);
        }
        self.summary
    }
}
fn event(kind: EventKind, time: i64, flags: Flags, framing: Framing, payload: &[u8]) -> NewEvent<'_> {
    NewEvent { time, stream: 0, exchange: 0, kind, flags, framing, payload }
}
