//! The recorder: a thread that takes what relays left in the queue, cuts it into frames and writes the reel.
//!
//! A failed write never reaches the traffic: it is told once, what follows is counted as lost, and writing is tried
//! again from time to time, with a gap event in front.

use super::queue::{Batch, Entry, Lane, OnOverload, Queue, Ready};
use crate::trace::{EventKind, FileHeader, Flags, NewEvent, ReelWriter, WriterOptions};
use crate::wire::{DEFAULT_FRAME_LIMIT, Direction, Frame, Framing, LineFramer};
use serde::Serialize;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often the recorder looks at the queue while there is traffic.
const TICK: Duration = Duration::from_millis(15);
/// How old an event may get before it is written.
const FLUSH_AFTER: Duration = Duration::from_millis(40);
/// How long after the last event the recorder goes to sleep.
const REST_AFTER: Duration = Duration::from_millis(500);
/// How long after a failed write it is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// Frames up to this length are recorded whole by a tap (64 MiB), longer ones in fragments.
pub const WHOLE: usize = DEFAULT_FRAME_LIMIT;
/// The same for a copy of what a transport of our own holds as well (16 MiB).
pub const WHOLE_BESIDE: usize = 16 << 20;
/// Where a reel is written.
pub trait Sink: Write + Send {
    /// Makes `offset` the end again after a failed write; `Err` where the sink cannot.
    fn rewind_to(&mut self, offset: u64) -> io::Result<()>;
}

impl Sink for File {
    fn rewind_to(&mut self, offset: u64) -> io::Result<()> {
        self.set_len(offset)?;
        self.seek(SeekFrom::Start(offset)).map(|_| ())
    }
}

/// A sink that cannot go back: a pipe, standard output.
pub struct ForwardOnly<W>(pub W);

impl<W: Write> Write for ForwardOnly<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl<W: Write + Send> Sink for ForwardOnly<W> {
    fn rewind_to(&mut self, _offset: u64) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}

/// How to record.
pub struct RecorderOptions {
    /// What the reel says about itself; `created` is set to the clock base.
    pub header: FileHeader,
    /// The most bytes that wait between relay and recorder.
    pub queue_bytes: usize,
    /// How long a frame may be that is recorded whole; a longer one is recorded in fragments.
    pub frame_limit: usize,
    /// What a relay does when the queue is full.
    pub on_overload: OnOverload,
    /// Told once when writing first fails.
    pub complain: Box<dyn Fn(&str) + Send>,
}

/// How recording went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Events written.
    pub events: u64,
    /// Bytes of traffic that were not recorded.
    pub lost_bytes: u64,
    /// Why writing failed, where it did.
    pub failure: Option<String>,
}

/// A running recorder.
pub struct Recorder {
    queue: Arc<Queue>,
    thread: JoinHandle<Summary>,
}

impl Recorder {
    /// Writes the file header and starts the thread. The clock base is now. A disk that is full already is told like
    /// one that fills up later, and does not keep the traffic from flowing.
    pub fn start(sink: impl Sink + 'static, mut options: RecorderOptions) -> io::Result<Self> {
        let base = Instant::now();
        let wall = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        options.header.created = i64::try_from(wall.as_nanos()).unwrap_or(i64::MAX);
        let writer = ReelWriter::unwritten(sink, &options.header, WriterOptions::default())?;
        let queue = Arc::new(Queue::new(options.queue_bytes, options.on_overload, base));
        let mut work = Work::new(writer, Arc::clone(&queue), options.complain, options.queue_bytes / 4 * 3);
        work.framers = [LineFramer::with_limit(options.frame_limit), LineFramer::with_limit(options.frame_limit)];
        if let Err(error) = work.writer.write_header() {
            work.fail(&error);
        }
        let thread = std::thread::Builder::new().name("recorder".into()).spawn(move || work.run())?;
        Ok(Self { queue, thread })
    }

    /// Where relays leave what they forward.
    pub fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    /// Adds an event of the only stream, described by a CBOR map.
    pub fn note(&self, kind: EventKind, described: &impl Serialize) {
        self.queue.note(Ready::about(kind, 0), described);
    }

    /// Ends the reel and waits for the last byte.
    pub fn finish(self) -> Summary {
        self.queue.close();
        self.thread.join().unwrap_or_else(|_| Summary {
            failure: Some("the recorder broke; this is a bug".into()),
            ..Summary::default()
        })
    }
}

/// Lets the relays go on when it is dropped.
struct Abandon(Arc<Queue>);

impl Drop for Abandon {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// The recorder's thread.
struct Work<S: Sink> {
    writer: ReelWriter<S>,
    queue: Arc<Queue>,
    complain: Box<dyn Fn(&str) + Send>,
    /// A batch of more bytes is stored uncompressed, to catch up.
    hurry_above: usize,
    framers: [LineFramer; 2],
    /// When the oldest event that is not written came.
    pending_since: Option<Instant>,
    failed_at: Option<Instant>,
    /// Bytes and events lost to a failure since the last gap event.
    gap: Gap,
    summary: Summary,
}

#[derive(Debug, Default, Serialize)]
struct Gap {
    events: u64,
    bytes: u64,
    reason: String,
}

impl<S: Sink> Work<S> {
    fn new(writer: ReelWriter<S>, queue: Arc<Queue>, complain: Box<dyn Fn(&str) + Send>, hurry_above: usize) -> Self {
        Self {
            writer,
            queue,
            complain,
            hurry_above,
            framers: Default::default(),
            pending_since: None,
            failed_at: None,
            gap: Gap::default(),
            summary: Summary::default(),
        }
    }

    fn run(mut self) -> Summary {
        // However this thread ends, no relay may wait for it.
        let _guard = Abandon(Arc::clone(&self.queue));
        let mut batch = Batch::default();
        let mut last_traffic = Instant::now();
        loop {
            let resting = self.pending_since.is_none() && last_traffic.elapsed() > REST_AFTER;
            let more = self.queue.take(&mut batch, (!resting).then_some(TICK));
            if !batch.entries.is_empty() {
                last_traffic = Instant::now();
                self.write_batch(&batch);
            }
            if !more {
                break;
            }
            if batch.is_urgent || self.pending_since.is_some_and(|since| since.elapsed() >= FLUSH_AFTER) {
                self.flush();
            }
        }
        // A lane that never ended (a descendant of a dead server holds it) keeps what it began.
        let time = self.queue.now();
        for direction in [Direction::ClientToServer, Direction::ServerToClient] {
            self.end(Lane::Messages(direction), time);
        }
        self.finish()
    }

    fn write_batch(&mut self, batch: &Batch) {
        // Far behind: compression can wait, the traffic cannot.
        self.writer.store_payloads(batch.bytes.len() > self.hurry_above);
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

    fn chunk(&mut self, lane: Lane, time: i64, chunk: &[u8]) {
        let Lane::Messages(direction) = lane else {
            let flags = Flags::SERVER_TO_CLIENT;
            return self.append(event(EventKind::Stderr, time, flags, Framing::Whole, chunk));
        };
        self.frames(direction, time, |framer, sink| framer.push(chunk, sink));
    }

    fn end(&mut self, lane: Lane, time: i64) {
        if let Lane::Messages(direction) = lane {
            self.frames(direction, time, |framer, sink| framer.finish(sink));
        }
    }

    /// Runs a framer, which is taken out meanwhile so that its frames can be written.
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

    fn overload_gap(&mut self, lane: Lane, time: i64, bytes: u64, chunks: u64) {
        self.summary.lost_bytes += bytes;
        // What was cut off in the middle must not be joined to what comes after the loss.
        self.end(lane, time);
        let lane = match lane {
            Lane::Messages(direction) => direction.short(),
            Lane::Stderr => "stderr",
        };
        let described = serde_json::json!({
            "reason": "the recorder's queue was full", "lane": lane, "bytes": bytes, "reads": chunks,
        });
        self.append_described(EventKind::Gap, time, &described);
    }

    fn append_described(&mut self, kind: EventKind, time: i64, described: &impl Serialize) {
        let mut payload = Vec::new();
        if ciborium::into_writer(described, &mut payload).is_ok() {
            self.append(event(kind, time, Flags::default(), Framing::Whole, &payload));
        }
    }

    fn append(&mut self, event: NewEvent<'_>) {
        if self.failed_at.is_some_and(|at| at.elapsed() < RETRY_AFTER) {
            return self.lose(1, event.payload.len() as u64);
        }
        if self.failed_at.take().is_some() && self.resume(event.time).is_err() {
            self.failed_at = Some(Instant::now());
            return self.lose(1, event.payload.len() as u64);
        }
        let (had_pending, seq, len) = (self.writer.has_pending(), self.writer.next_seq(), event.payload.len());
        match self.writer.append(event) {
            Ok(()) => {
                if !self.writer.has_pending() {
                    self.pending_since = None;
                } else if !had_pending || self.pending_since.is_none() {
                    self.pending_since = Some(Instant::now());
                }
            }
            Err(error) => {
                if self.writer.next_seq() == seq {
                    // It was not even taken; what was is counted as the writer gives it up.
                    self.lose(1, len as u64);
                }
                self.fail(&error);
            }
        }
    }

    fn lose(&mut self, events: u64, bytes: u64) {
        self.gap.events += events;
        self.gap.bytes += bytes;
        self.summary.lost_bytes += bytes;
    }

    fn flush(&mut self) {
        self.pending_since = None;
        if self.failed_at.is_none()
            && let Err(error) = self.writer.flush()
        {
            self.fail(&error);
        }
    }

    fn fail(&mut self, error: &io::Error) {
        let reason = error.to_string();
        self.gap.reason.clone_from(&reason);
        if self.summary.failure.is_none() {
            (self.complain)(&format!("cannot write the reel: {reason}; traffic flows on unrecorded"));
            self.summary.failure = Some(reason);
        }
        self.pending_since = None;
        self.failed_at = Some(Instant::now());
        let (events, bytes) = self.writer.restart_at(self.writer.written());
        self.lose(events, bytes);
    }

    /// Tries to write again: the torn end is cut off, a gap event tells what is missing.
    fn resume(&mut self, time: i64) -> io::Result<()> {
        let end = self.writer.written();
        self.writer.get_mut().rewind_to(end)?;
        let gap = std::mem::take(&mut self.gap);
        let mut payload = Vec::new();
        ciborium::into_writer(&gap, &mut payload).map_err(io::Error::other)?;
        let event = event(EventKind::Gap, time, Flags::default(), Framing::Whole, &payload);
        let written = self.writer.append(event).and_then(|()| self.writer.flush());
        if written.is_err() {
            self.writer.restart_at(self.writer.written());
            self.gap = gap;
        }
        written
    }

    fn finish(mut self) -> Summary {
        if self.failed_at.is_none()
            && let Err(error) = self.writer.flush()
        {
            self.fail(&error);
        }
        let resumed = self.failed_at.is_none() || self.resume(self.queue.now()).is_ok();
        self.summary.events = self.writer.next_seq();
        if !resumed {
            return self.summary;
        }
        match self.writer.finish() {
            Ok(_) => {}
            Err(error) if self.summary.failure.is_none() => {
                (self.complain)(&format!("cannot finish the reel: {error}"));
                self.summary.failure = Some(error.to_string());
            }
            Err(_) => {}
        }
        self.summary
    }
}

fn event(kind: EventKind, time: i64, flags: Flags, framing: Framing, payload: &[u8]) -> NewEvent<'_> {
    NewEvent { time, stream: 0, exchange: 0, kind, flags, framing, payload }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Item, ReelReader};
    use std::sync::Mutex;

    /// A sink that fails while told to.
    #[derive(Clone, Default)]
    struct Flaky {
        bytes: Arc<Mutex<Vec<u8>>>,
        room: Arc<Mutex<Option<usize>>>,
    }

    impl Write for Flaky {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut held = self.bytes.lock().expect("not poisoned");
            let room = self.room.lock().expect("not poisoned").map_or(bytes.len(), |room| room.min(bytes.len()));
            if room == 0 {
                return Err(io::Error::from(io::ErrorKind::StorageFull));
            }
            held.extend_from_slice(&bytes[..room]);
            if let Some(left) = self.room.lock().expect("not poisoned").as_mut() {
                *left -= room;
            }
            Ok(room)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Sink for Flaky {
        fn rewind_to(&mut self, offset: u64) -> io::Result<()> {
            self.bytes.lock().expect("not poisoned").truncate(offset as usize);
            Ok(())
        }
    }

    fn options(complaints: &Arc<Mutex<Vec<String>>>) -> RecorderOptions {
        let complaints = Arc::clone(complaints);
        RecorderOptions {
            header: FileHeader::default(),
            queue_bytes: 1 << 20,
            frame_limit: WHOLE,
            on_overload: OnOverload::Block,
            complain: Box::new(move |text| complaints.lock().expect("not poisoned").push(text.to_owned())),
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
        let recorder = Recorder::start(sink.clone(), options(&complaints)).expect("starts");
        let lane = Lane::Messages(Direction::ServerToClient);
        recorder.queue().push(lane, b"{\"a\":1}\n{\"b\"");
        recorder.queue().push(Lane::Stderr, b"warn");
        recorder.queue().push(lane, b":2}\nlast");
        recorder.queue().end(lane);
        let summary = recorder.finish();
        assert_eq!((summary.events, summary.lost_bytes, summary.failure), (4, 0, None));
        let found = events(&sink.bytes.lock().expect("not poisoned"));
        assert_eq!(found[0], (EventKind::Message, Framing::Lf, b"{\"a\":1}".to_vec()));
        assert_eq!(found[1], (EventKind::Stderr, Framing::Whole, b"warn".to_vec()));
        assert_eq!(found[2], (EventKind::Message, Framing::Lf, b"{\"b\":2}".to_vec()));
        assert_eq!(found[3], (EventKind::Message, Framing::Unterminated, b"last".to_vec()));
        assert!(complaints.lock().expect("not poisoned").is_empty());
    }

    #[test]
    fn a_full_disk_is_told_once_and_noted_when_there_is_room_again() {
        let sink = Flaky::default();
        let complaints = Arc::default();
        let recorder = Recorder::start(sink.clone(), options(&complaints)).expect("starts");
        *sink.room.lock().expect("not poisoned") = Some(30);
        let lane = Lane::Messages(Direction::ClientToServer);
        let line = [b"{\"x\":\"", "y".repeat(70_000).as_bytes(), b"\"}\n"].concat();
        recorder.queue().push(lane, &line);
        while complaints.lock().expect("not poisoned").is_empty() {
            std::thread::yield_now();
        }
        recorder.queue().push(lane, b"{\"lost\":1}\n");
        *sink.room.lock().expect("not poisoned") = None;
        let summary = recorder.finish();
        assert!(summary.failure.is_some());
        assert_eq!(complaints.lock().expect("not poisoned").len(), 1);
        let found = events(&sink.bytes.lock().expect("not poisoned"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, EventKind::Gap);
        assert!(summary.lost_bytes >= 70_000);
    }
}
