//! The recorder: a thread that takes what relays left in the queue, cuts it into frames and writes the reel.
//!
//! A failed write never affects the traffic. It is reported once, everything after it counts as lost, and the recorder
//! retries from time to time; a gap event records what is missing. If the reel itself is lost (removed, or at the file
//! size limit), recording continues in another reel, which begins with what is needed to read it alone.

use super::queue::{Batch, ChunkSource, Entry, OnOverload, Queue, Ready};
use super::repack;
use super::storage::{ReelLoss, ReelStore, Sink};
use crate::files::created::CreatedFile;
use crate::platform::thread_priority;
use crate::sessions::recording_status::RecordingStatus;
use crate::share::Redaction;
use crate::trace::{EventKind, FileHeader, Flags, NewEvent, ReelWriter, WriterOptions};
use crate::wire::{Direction, Frame, Framing, LineFramer, PIECE};
use serde::Serialize;
use serde_json::json;
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
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
/// The maximum interval between retries while no reel can be written.
const MAX_PAUSE: Duration = Duration::from_secs(60);
/// How often the recorder checks whether the reel still exists, while there is traffic.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// The bytes reserved for the index of a reel with a size limit.
const INDEX_BYTES: u64 = 16 << 10;
/// The maximum size of an event without its payload.
const EVENT_BYTES: u64 = 96;
/// A reel with at least this much traffic justified a file of its own.
const MIN_REEL_BYTES: u64 = 64 << 10;
/// The maximum number of problems reported per session.
const MAX_REPORTED: usize = 20;
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
    pub redaction: Option<Redaction>,
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
    pub(crate) fn start(store: impl ReelStore + 'static, mut options: RecorderOptions) -> io::Result<Self> {
        let base = Instant::now();
        let wall = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        options.header.created = i64::try_from(wall.as_nanos()).unwrap_or(i64::MAX);
        let queue = Arc::new(Queue::new(options.queue_bytes, options.on_overload, base));
        let status = Arc::<RecordingStatus>::default();
        let mut work = Work::new(store, Arc::clone(&queue), Arc::clone(&status), options);
        work.resume_now();
        let thread = std::thread::Builder::new().name("recorder".into()).spawn(move || work.run())?;
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
        let crashed = |_| Summary { failure: Some("the recorder crashed; this is a bug".into()), ..Summary::default() };
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

/// Releases the relays when it is dropped.
struct Abandon(Arc<Queue>);

impl Drop for Abandon {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// A reel that is being written.
struct Open<S: Sink> {
    writer: ReelWriter<S>,
    name: String,
    /// Whether the preface has been written.
    has_begun: bool,
    /// The number of events in the preface, which are not the session's own.
    preface: u64,
    /// Bytes of the session's own events.
    bytes: u64,
    /// The maximum bytes that the unwritten events may add to the file.
    pending: u64,
    /// The maximum size of the file.
    limit: Option<u64>,
    begun_at: Instant,
}

impl<S: Sink> Open<S> {
    /// Discards what is not written. Returns the number of discarded events and their bytes.
    fn rewind(&mut self) -> (u64, u64) {
        let given_up = self.writer.restart_at(self.writer.written());
        self.pending = 0;
        self.bytes = self.bytes.saturating_sub(given_up.1);
        given_up
    }

    /// The number of the session's own events in the reel.
    fn events(&self) -> u64 {
        self.writer.next_seq().saturating_sub(self.preface)
    }

    /// Whether an event of this length, followed by the index, might not fit any more.
    fn is_full_for(&self, len: u64) -> bool {
        self.limit.is_some_and(|limit| {
            let rest = INDEX_BYTES.min(limit / 4);
            self.writer.written().saturating_add(self.pending + len + EVENT_BYTES + rest) > limit
        })
    }

    /// Whether the reel has taken enough, or for long enough, that another may follow at once. A limit that is too low
    /// must not fill a folder with reels.
    fn justifies_another(&self) -> bool {
        self.events() > 0 && (self.bytes >= MIN_REEL_BYTES || self.begun_at.elapsed() >= RETRY_AFTER)
    }

    /// Writes the index. An index that cannot be written completely is removed, so that the reel ends with its last
    /// event.
    fn end(mut self) -> io::Result<()> {
        self.writer.flush()?;
        let (end, place) = (self.writer.written(), self.writer.get_ref().place());
        self.writer.finish().map(drop).inspect_err(|_| place.iter().for_each(|place| place.cut(end)))
    }

    /// The path of the file, if it is worth rewriting.
    fn to_repack(&self) -> Option<PathBuf> {
        let (size, payload) = (self.writer.written(), self.writer.payload_bytes());
        let place = self.writer.get_ref().place().filter(CreatedFile::holds)?;
        repack::is_worthwhile(size, payload, self.writer.avoidable()).then_some(place.path)
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
    redaction: Option<Redaction>,
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
        let _guard = Abandon(Arc::clone(&self.queue));
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
        let about = json!({
            "reason": "the recorder's queue was full", "lane": lane, "bytes": bytes, "reads": chunks,
        });
        if let Ok(payload) = described(&about) {
            self.append(event(EventKind::Gap, time, Flags::default(), Framing::Whole, &payload));
        }
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

    /// Handles a failed write: unwritten events are lost. A reel that cannot grow any more is replaced by another.
    fn fail(&mut self, error: &io::Error) {
        let Some(mut reel) = self.reel.take() else { return };
        let reason = error.to_string();
        let problem = format!("cannot write {}: {reason}", reel.name);
        let (events, bytes) = reel.rewind();
        self.lose(events, bytes);
        self.gap.reason = reason;
        self.pending_since = None;
        self.status.fails(&problem);
        if !is_final(error) {
            self.reel = Some(reel);
            self.retry_at = Some(Instant::now() + RETRY_AFTER);
            return self.trouble(&problem);
        }
        let at_once = reel.justifies_another();
        self.leave(reel, &problem);
        self.pause = if at_once { RETRY_AFTER } else { (self.pause * 2).min(MAX_PAUSE) };
        self.go_on(&problem, at_once);
    }

    /// Checks whether the reel still exists, and continues in another if not.
    fn check_reel(&mut self) {
        self.checked_at = Instant::now();
        let lost = self.reel.as_ref().and_then(|reel| {
            let loss = reel.writer.get_ref().loss(reel.writer.written())?;
            Some((loss, format!("{} {loss}", reel.name)))
        });
        let Some((loss, problem)) = lost else { return };
        let Some(reel) = self.reel.take() else { return };
        self.pending_since = None;
        self.status.fails(&problem);
        if loss == ReelLoss::Moved {
            self.summary.events += reel.writer.next_seq();
            self.previous = Some((reel.name.clone(), problem.clone()));
            // The moved reel is complete where it is now.
            if let Err(error) = reel.end() {
                self.report(&format!("cannot finish the reel: {error}"));
            }
        } else {
            self.lose(reel.events(), reel.bytes);
            self.gap.reason.clone_from(&problem);
            self.previous = Some((reel.name, problem.clone()));
        }
        self.go_on(&problem, true);
    }

    /// Ends a reel that cannot grow any more, with its index if that still fits.
    fn leave(&mut self, mut reel: Open<T::Sink>, problem: &str) {
        let end = reel.writer.written();
        if reel.events() == 0 {
            return reel.writer.get_mut().discard();
        }
        self.previous = Some((reel.name.clone(), problem.to_owned()));
        self.summary.events += reel.writer.next_seq();
        if reel.writer.get_mut().rewind_to(end).is_ok() {
            let _ = reel.end();
        }
    }

    /// Continues in another reel after this one ended, at once or later.
    fn go_on(&mut self, problem: &str, at_once: bool) {
        self.summary.failure.get_or_insert_with(|| problem.to_owned());
        if self.is_required {
            return self.trouble(problem);
        }
        self.retry_at = Some(Instant::now() + self.pause);
        match at_once.then(|| self.begin()) {
            Some(Ok(())) => {
                self.retry_at = None;
                let name = self.reel.as_ref().map_or("", |reel| reel.name.as_str());
                let reported = format!("{problem}; recording continues in {name}");
                self.report(&reported);
            }
            Some(Err(error)) => {
                let reported = format!("{problem}; {error}");
                self.trouble(&reported);
            }
            None => self.trouble(problem),
        }
    }

    /// Reports that nothing is recorded until further notice.
    fn trouble(&mut self, problem: &str) {
        self.summary.failure.get_or_insert_with(|| problem.to_owned());
        self.status.fails(problem);
        if self.is_required && !self.is_given_up {
            self.is_given_up = true;
            self.report(&format!("{problem}; the session ends, because its recording is required"));
            self.status.give_up(problem);
        } else if !self.is_given_up {
            self.report(&format!("{problem}; traffic continues unrecorded"));
        }
    }

    fn report(&mut self, text: &str) {
        if self.reported.len() < MAX_REPORTED && self.reported.insert(text.to_owned()) {
            (self.complain)(text);
        }
    }

    /// Retries writing, in the same reel or in another. Returns whether it worked.
    fn resume_now(&mut self) -> bool {
        if self.is_given_up {
            return false;
        }
        let (was_lost, is_first) = (self.reel.is_none(), self.retry_at.is_none());
        let resumed = match self.reel.is_some() {
            true => self.resume(),
            false => self.begin(),
        };
        match resumed {
            Ok(()) => {
                self.retry_at = None;
                if was_lost && !is_first {
                    let name = self.reel.as_ref().map_or("", |reel| reel.name.as_str());
                    let reported = format!("recording continues in {name}");
                    self.report(&reported);
                }
                true
            }
            Err(error) => {
                if was_lost {
                    self.pause = (self.pause * 2).min(MAX_PAUSE);
                }
                self.retry_at = Some(Instant::now() + if was_lost { self.pause } else { RETRY_AFTER });
                if is_first {
                    self.trouble(&error.to_string());
                }
                false
            }
        }
    }

    /// Continues in the same reel: cuts off the torn end and writes a gap event.
    fn resume(&mut self) -> io::Result<()> {
        let Some(mut reel) = self.reel.take() else { return Ok(()) };
        let end = reel.writer.written();
        let resumed = reel.writer.get_mut().rewind_to(end).and_then(|()| match reel.has_begun {
            true => self.write_gap(&mut reel).and_then(|()| reel.writer.flush()),
            false => self.write_preface(&mut reel),
        });
        self.settle(reel, resumed)
    }

    /// Begins the next reel.
    fn begin(&mut self) -> io::Result<()> {
        let sink = self.store.next()?;
        let place = sink.place();
        let name = place.map_or_else(|| "the reel".to_owned(), |place| place.path.display().to_string());
        let limit = sink.limit();
        let mut header = self.header.clone();
        if let Some((previous, _)) = &self.previous {
            header.notes.insert("continues".to_owned(), previous.clone());
        }
        let writer = ReelWriter::unwritten(sink, &header, WriterOptions::default())?;
        let mut reel =
            Open { writer, name, has_begun: false, preface: 0, bytes: 0, pending: 0, limit, begun_at: Instant::now() };
        let begun = self.write_preface(&mut reel);
        self.settle(reel, begun)
    }

    /// Keeps a reel after a write attempt, unless it cannot grow any more.
    fn settle(&mut self, mut reel: Open<T::Sink>, written: io::Result<()>) -> io::Result<()> {
        match written {
            Ok(()) => {
                self.status.records_to(reel.writer.get_ref().place());
                self.gap = Gap::default();
                self.reel = Some(reel);
                Ok(())
            }
            Err(error) => {
                let problem = format!("cannot write {}: {error}", reel.name);
                reel.rewind();
                if is_final(&error) {
                    self.leave(reel, &problem);
                } else {
                    self.reel = Some(reel);
                }
                Err(io::Error::new(error.kind(), problem))
            }
        }
    }

    /// Writes the preface: the header, and in a continuation what is needed to read it alone.
    fn write_preface(&mut self, reel: &mut Open<T::Sink>) -> io::Result<()> {
        reel.writer.write_header()?;
        let time = self.last_time;
        for (stream, payload) in &self.streams {
            let opened = event(EventKind::StreamOpened, time, Flags::default(), Framing::Whole, payload);
            reel.writer.append(NewEvent { stream: *stream, ..opened })?;
        }
        if let Some((name, reason)) = &self.previous {
            let note = described(&json!({"continues": name, "reason": reason}))?;
            reel.writer.append(event(EventKind::Note, time, Flags::default(), Framing::Whole, &note))?;
        }
        self.write_gap(reel)?;
        reel.writer.flush()?;
        (reel.preface, reel.has_begun) = (reel.writer.next_seq(), true);
        Ok(())
    }

    /// Writes a gap event if something is missing.
    fn write_gap(&self, reel: &mut Open<T::Sink>) -> io::Result<()> {
        if self.gap.events == 0 {
            return Ok(());
        }
        let payload = described(&self.gap)?;
        reel.writer.append(event(EventKind::Gap, self.last_time, Flags::default(), Framing::Whole, &payload))
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
/// Whether a reel cannot grow any more after this error: it has reached the file size limit, or its file server lost
/// it.
fn is_final(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::FileTooLarge | io::ErrorKind::StaleNetworkFileHandle)
}

fn described(members: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut payload = Vec::new();
    ciborium::into_writer(members, &mut payload).map_err(io::Error::other)?;
    Ok(payload)
}

fn event(kind: EventKind, time: i64, flags: Flags, framing: Framing, payload: &[u8]) -> NewEvent<'_> {
    NewEvent { time, stream: 0, exchange: 0, kind, flags, framing, payload }
}

#[cfg(test)]
mod tests {
    use super::super::storage::SingleReel;
    use super::*;
    use crate::trace::{Item, ReelReader};
    use parking_lot::Mutex;
    use std::collections::VecDeque;
    use std::io::Write;

    /// A sink that fails on demand.
    #[derive(Clone, Default)]
    struct Flaky {
        bytes: Arc<Mutex<Vec<u8>>>,
        space: Arc<Mutex<Option<usize>>>,
        is_limited: bool,
        loss: Arc<Mutex<Option<ReelLoss>>>,
    }

    impl Write for Flaky {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut held = self.bytes.lock();
            let space = self.space.lock().map_or(bytes.len(), |space| space.min(bytes.len()));
            if space == 0 {
                let is_final = if self.is_limited { io::ErrorKind::FileTooLarge } else { io::ErrorKind::StorageFull };
                return Err(io::Error::from(is_final));
            }
            held.extend_from_slice(&bytes[..space]);
            if let Some(left) = self.space.lock().as_mut() {
                *left -= space;
            }
            Ok(space)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Sink for Flaky {
        fn rewind_to(&mut self, offset: u64) -> io::Result<()> {
            let mut held = self.bytes.lock();
            let cut = held.len().saturating_sub(offset as usize);
            held.truncate(offset as usize);
            if let Some(left) = self.space.lock().as_mut().filter(|_| self.is_limited) {
                *left += cut;
            }
            Ok(())
        }

        fn loss(&self, _end: u64) -> Option<ReelLoss> {
            *self.loss.lock()
        }
    }

    /// A sequence of sinks; at each `None`, no sink is available.
    struct SinkSequence(VecDeque<Option<Flaky>>);

    impl ReelStore for SinkSequence {
        type Sink = Flaky;

        fn next(&mut self) -> io::Result<Flaky> {
            self.0.pop_front().flatten().ok_or_else(|| io::Error::other("there is no place"))
        }
    }

    fn shelf(sinks: &[Option<&Flaky>]) -> SinkSequence {
        SinkSequence(sinks.iter().map(|sink| sink.cloned()).collect())
    }

    fn kinds(sink: &Flaky) -> Vec<EventKind> {
        events(&sink.bytes.lock()).into_iter().map(|event| event.0).collect()
    }

    fn options(complaints: &Arc<Mutex<Vec<String>>>) -> RecorderOptions {
        let complaints = Arc::clone(complaints);
        RecorderOptions {
            header: FileHeader::default(),
            queue_bytes: 1 << 20,
            on_overload: OnOverload::Block,
            is_required: false,
            complain: Box::new(move |text| complaints.lock().push(text.to_owned())),
            redaction: None,
        }
    }

    fn events(bytes: &[u8]) -> Vec<(EventKind, Framing, Vec<u8>)> {
        let mut reader =
            ReelReader::from_stream(Box::new(io::Cursor::new(bytes.to_vec()))).expect("a reel").with_payloads();
        let mut found = Vec::new();
        while let Some(item) = reader.next().expect("reads") {
            let Item::Block(block) = item else { panic!("damage: {item:?}") };
            found.extend(block.events().map(|event| (event.header.kind, event.header.framing, event.payload.to_vec())));
        }
        found
    }

    #[test]
    fn chunks_become_frames_and_ends_are_kept() {
        let sink = Flaky::default();
        let complaints = Arc::default();
        let recorder = Recorder::start(SingleReel::new(sink.clone()), options(&complaints)).expect("starts");
        let lane = ChunkSource::Messages(Direction::ServerToClient);
        recorder.queue().push(lane, b"{\"a\":1}\n{\"b\"");
        recorder.queue().push(ChunkSource::Stderr, b"warn");
        recorder.queue().push(lane, b":2}\nlast");
        recorder.queue().end(lane);
        let summary = recorder.finish();
        assert_eq!((summary.events, summary.lost_bytes, summary.failure), (4, 0, None));
        let found = events(&sink.bytes.lock());
        assert_eq!(found[0], (EventKind::Message, Framing::Lf, b"{\"a\":1}".to_vec()));
        assert_eq!(found[1], (EventKind::Stderr, Framing::Whole, b"warn".to_vec()));
        assert_eq!(found[2], (EventKind::Message, Framing::Lf, b"{\"b\":2}".to_vec()));
        assert_eq!(found[3], (EventKind::Message, Framing::Unterminated, b"last".to_vec()));
        assert!(complaints.lock().is_empty());
    }

    #[test]
    fn a_full_disk_is_reported_once_and_noted_when_there_is_space_again() {
        let sink = Flaky::default();
        let complaints = Arc::default();
        let recorder = Recorder::start(SingleReel::new(sink.clone()), options(&complaints)).expect("starts");
        *sink.space.lock() = Some(30);
        let lane = ChunkSource::Messages(Direction::ClientToServer);
        let line = [b"{\"x\":\"", "y".repeat(70_000).as_bytes(), b"\"}\n"].concat();
        recorder.queue().push(lane, &line);
        while complaints.lock().is_empty() {
            std::thread::yield_now();
        }
        recorder.queue().push(lane, b"{\"lost\":1}\n");
        *sink.space.lock() = None;
        let summary = recorder.finish();
        assert!(summary.failure.is_some());
        assert_eq!(complaints.lock().len(), 1);
        let found = events(&sink.bytes.lock());
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, EventKind::Gap);
        assert!(summary.lost_bytes >= 70_000);
    }

    #[test]
    fn a_reel_that_is_lost_is_followed_by_one_that_can_be_read_alone() {
        for (loss, has_gap) in [(ReelLoss::Removed, true), (ReelLoss::Cut, true), (ReelLoss::Moved, false)] {
            let (first, second) = (Flaky::default(), Flaky::default());
            let complaints = Arc::default();
            let store = shelf(&[Some(&first), Some(&second)]);
            let recorder = Recorder::start(store, options(&complaints)).expect("starts");
            recorder.note(EventKind::StreamOpened, &json!({"command": "x"}));
            recorder.queue().push(ChunkSource::Messages(Direction::ClientToServer), b"{}\n");
            *first.loss.lock() = Some(loss);
            let status = Arc::clone(recorder.status());
            let summary = recorder.finish();
            let mut wanted = vec![EventKind::StreamOpened, EventKind::Note];
            wanted.extend(has_gap.then_some(EventKind::Gap));
            assert_eq!(kinds(&second), wanted, "{loss:?}");
            assert_eq!(kinds(&first).len(), 2, "{loss:?}");
            assert_eq!(summary.lost_bytes > 0, has_gap, "{loss:?}");
            let reported = complaints.lock();
            assert!(matches!(&reported[..], [reported] if reported.contains(&loss.to_string())), "{reported:?}");
            assert_eq!((&status.details()["recording"]["active"], status.given_up()), (&json!(true), None));
        }
    }

    #[test]
    fn a_reel_at_its_limit_is_left_whole_and_another_takes_the_rest() {
        let limited = || Flaky { is_limited: true, ..Flaky::default() };
        let (first, second) = (limited(), limited());
        *first.space.lock() = Some(200_000);
        let complaints = Arc::default();
        let mut settings = options(&complaints);
        settings.queue_bytes = 4 << 20;
        let recorder = Recorder::start(shelf(&[Some(&first), Some(&second)]), settings).expect("starts");
        let lane = ChunkSource::Messages(Direction::ClientToServer);
        let random: Vec<u8> = (0..600_000).map(|_| fastrand::u8(b'a'..=b'z')).collect();
        for piece in random.chunks(1000) {
            recorder.queue().push(lane, &[piece, b"\n"].concat());
        }
        let summary = recorder.finish();
        let (kept, rest) = (kinds(&first).len() as u64, kinds(&second));
        assert_eq!((rest[0], rest[1]), (EventKind::Note, EventKind::Gap));
        assert!(summary.lost_bytes > 0 && kept + rest.len() as u64 >= 300, "{kept}, {}", rest.len());
        assert_eq!(summary.events, kept + rest.len() as u64);
    }

    #[test]
    fn a_recording_that_cannot_begin_begins_when_it_can_and_one_that_is_required_is_given_up() {
        let sink = Flaky::default();
        let complaints = Arc::default();
        let recorder = Recorder::start(shelf(&[None, Some(&sink)]), options(&complaints)).expect("starts");
        assert_eq!(recorder.status().details()["recording"]["active"], false);
        recorder.note(EventKind::StreamOpened, &json!({}));
        let summary = recorder.finish();
        assert_eq!(kinds(&sink), [EventKind::StreamOpened, EventKind::Gap]);
        assert_eq!(summary.failure.as_deref(), Some("there is no place"));
        let settings = RecorderOptions { is_required: true, ..options(&complaints) };
        let recorder = Recorder::start(shelf(&[None, Some(&Flaky::default())]), settings).expect("starts");
        assert_eq!(recorder.status().given_up().as_deref(), Some("there is no place"));
        assert_eq!(recorder.finish().events, 0);
    }
}
