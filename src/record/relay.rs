//! One direction of the relay: reads available bytes, leaves a copy in the queue, and writes them on at once.
//!
//! The loop also watches the far end, so that the source notices a reader that goes away before the next bytes come, as
//! it would without mcpreel.

use super::answer_filter::{AnswerFilter, StreamPiece};
use super::injectable_writer::{InjectableWriter, Sink};
use super::queue::{ChunkSource, Queue, Ready};
use crate::sessions::answers::Answers;
use crate::sessions::injection::Filtered;
use crate::trace::{EventKind, Flags, TransportEvent};
use crate::wire::Direction;
use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How much to read at once: the capacity of a pipe.
const CHUNK: usize = 64 << 10;

/// Why a direction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The writing side closed its end.
    SourceClosed,
    /// The reading side closed its end.
    SinkClosed {
        /// The number of bytes that were read and recorded, but not delivered.
        undelivered: usize,
    },
}

/// The activity of a lane, visible to other threads.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    /// The lane has bytes in hand: it is reading, or waiting until they are written.
    pub busy: AtomicBool,
    /// The number of chunks it has moved.
    pub moved: AtomicU64,
}

/// What a relay does with the bytes it reads.
pub(crate) trait RelayHandler {
    /// The far end to watch; `None` once it is closed.
    fn sink(&self) -> Option<Sink>;
    /// Records bytes and writes them on; the error is the number of bytes not written.
    fn forward(&mut self, bytes: &[u8]) -> Result<(), usize>;
    /// Ends the source: writes what was held back.
    fn finish(&mut self) -> Result<(), usize>;
    /// After a panic: nothing is recorded or injected any more. Returns what is left to write of these bytes, the last
    /// ones that came, and of what was held back before.
    fn give_up(&mut self, bytes: &[u8]) -> Vec<u8>;
}

/// Bytes that are not messages: standard error.
pub(crate) struct PlainRelay<'a> {
    /// Where the bytes come from.
    pub lane: ChunkSource,
    /// Where the copy goes.
    pub queue: &'a Queue,
    /// Where the bytes go.
    pub sink: Sink,
}

impl RelayHandler for PlainRelay<'_> {
    fn sink(&self) -> Option<Sink> {
        Some(Arc::clone(&self.sink))
    }

    fn forward(&mut self, bytes: &[u8]) -> Result<(), usize> {
        self.queue.push(self.lane, bytes);
        write_all(self.sink.as_fd(), bytes).map_err(|(_, undelivered)| undelivered)
    }

    fn finish(&mut self) -> Result<(), usize> {
        Ok(())
    }

    fn give_up(&mut self, bytes: &[u8]) -> Vec<u8> {
        // Only recording can panic, and it comes first.
        note_crash(self.queue, Flags::SERVER_TO_CLIENT);
        bytes.to_vec()
    }
}

/// Notes in the reel that a relay goes on without it.
fn note_crash(queue: &Queue, direction: Flags) {
    let reason = "the relay crashed; this is a bug; what follows is not recorded".to_owned();
    let reported = TransportEvent::Failed { reason };
    let ready = Ready { flags: direction.with(Flags::FAILED), ..Ready::about(EventKind::Transport, 0) };
    let _ = catch_unwind(AssertUnwindSafe(|| queue.note(ready, &reported)));
}

/// One direction of messages: removes answers to injected requests and writes the rest. While no answer is expected,
/// chunks pass as they come.
pub(crate) struct Messages<'a> {
    direction: Direction,
    writer: &'a InjectableWriter,
    answers: &'a Answers,
    answer_filter: &'a Mutex<AnswerFilter>,
    /// What was held back before the last bytes came.
    held: Vec<u8>,
}

impl<'a> Messages<'a> {
    /// The handler of one direction. The answer filter belongs to the direction and outlives its relay.
    pub(crate) fn new(
        direction: Direction,
        writer: &'a InjectableWriter,
        answers: &'a Answers,
        answer_filter: &'a Mutex<AnswerFilter>,
    ) -> Self {
        Self { direction, writer, answers, answer_filter, held: Vec::new() }
    }

    fn begin(&mut self) {
        self.writer.count_anew();
        self.held.clear();
        self.held.extend_from_slice(self.answer_filter.lock().held());
    }

    /// Runs the answer filter and handles each piece.
    fn filtered(&self, run: impl FnOnce(&mut AnswerFilter, &mut dyn FnMut(StreamPiece<'_>))) -> Result<(), usize> {
        let mut undelivered = 0;
        let mut answer_filter = self.answer_filter.lock();
        run(&mut answer_filter, &mut |piece| undelivered += self.piece(&piece).err().unwrap_or(0));
        if undelivered == 0 { Ok(()) } else { Err(undelivered) }
    }

    fn piece(&self, piece: &StreamPiece<'_>) -> Result<(), usize> {
        let (whole, payload, framing) = match *piece {
            StreamPiece::Pass(bytes) => return self.writer.write(bytes),
            StreamPiece::Candidate { whole, payload, framing } => (whole, payload, framing),
        };
        let (taken, passed) = match self.answers.filter(0, self.direction, payload) {
            Filtered::Pass => return self.writer.write(whole),
            Filtered::RemovedAnswer(taken) => {
                self.writer.record_taken(payload, framing);
                self.writer.stands_for(whole.len(), || (taken, Ok(())))
            }
            Filtered::Cut(rest, taken) => {
                taken.iter().for_each(|answer| self.writer.record_taken(answer.message, framing));
                let rest = [&rest, framing.terminator()].concat();
                self.writer.stands_for(whole.len(), || (taken, self.writer.write(&rest)))
            }
        };
        Answers::deliver(taken);
        passed
    }
}

impl RelayHandler for Messages<'_> {
    fn sink(&self) -> Option<Sink> {
        self.writer.sink()
    }

    fn forward(&mut self, bytes: &[u8]) -> Result<(), usize> {
        self.begin();
        if self.answers.awaits(self.direction) {
            self.filtered(|answer_filter, out| answer_filter.push(bytes, out))
        } else {
            self.filtered(|answer_filter, out| answer_filter.pass(bytes, out))
        }
    }

    fn finish(&mut self) -> Result<(), usize> {
        self.begin();
        self.filtered(|answer_filter, out| answer_filter.finish(out))
    }

    fn give_up(&mut self, bytes: &[u8]) -> Vec<u8> {
        note_crash(self.writer.queue(), Flags::toward(self.direction));
        let came = [&self.held, bytes].concat();
        let passed = self.writer.give_up().min(came.len());
        came[passed..].to_vec()
    }
}

/// Relays until one end closes. Every byte is queued for recording before it is written on, so that in the reel a cause
/// precedes its effects.
pub(crate) fn pump(source: impl AsFd, onward: &mut impl RelayHandler, activity: &Activity) -> Ended {
    let mut chunk = vec![0u8; CHUNK];
    let Some(sink) = onward.sink() else { return Ended::SinkClosed { undelivered: 0 } };
    loop {
        activity.busy.store(false, Ordering::Release);
        match wait(source.as_fd(), sink.as_fd()) {
            NextStep::SinkGone => return Ended::SinkClosed { undelivered: 0 },
            NextStep::Source => activity.busy.store(true, Ordering::Release),
        }
        let got = match rustix::io::read(&source, &mut chunk) {
            Ok(0) => break,
            Ok(got) => got,
            Err(Errno::INTR | Errno::AGAIN) => continue,
            Err(_) => break,
        };
        activity.moved.fetch_add(1, Ordering::Release);
        match catch_unwind(AssertUnwindSafe(|| onward.forward(&chunk[..got]))) {
            Ok(Ok(())) => {}
            Ok(Err(undelivered)) => return Ended::SinkClosed { undelivered },
            Err(_) => return pump_plainly(source.as_fd(), &sink, &onward.give_up(&chunk[..got]), activity),
        }
    }
    match catch_unwind(AssertUnwindSafe(|| onward.finish())) {
        Ok(Ok(())) => Ended::SourceClosed,
        Ok(Err(undelivered)) => Ended::SinkClosed { undelivered },
        Err(_) => pump_plainly(source.as_fd(), &sink, &onward.give_up(&[]), activity),
    }
}

/// Writes `rest`, then relays until one end closes, without recording.
fn pump_plainly(source: BorrowedFd<'_>, sink: &Sink, rest: &[u8], activity: &Activity) -> Ended {
    let mut chunk = vec![0u8; CHUNK];
    let mut written = write_all(sink.as_fd(), rest);
    loop {
        if let Err((_, undelivered)) = written {
            return Ended::SinkClosed { undelivered };
        }
        activity.busy.store(false, Ordering::Release);
        match wait(source, sink.as_fd()) {
            NextStep::SinkGone => return Ended::SinkClosed { undelivered: 0 },
            NextStep::Source => activity.busy.store(true, Ordering::Release),
        }
        let got = match rustix::io::read(source, &mut chunk) {
            Ok(0) => return Ended::SourceClosed,
            Ok(got) => got,
            Err(Errno::INTR | Errno::AGAIN) => 0,
            Err(_) => return Ended::SourceClosed,
        };
        activity.moved.fetch_add(1, Ordering::Release);
        written = write_all(sink.as_fd(), &chunk[..got]);
    }
}

enum NextStep {
    Source,
    SinkGone,
}

/// Waits until the source has bytes or ends, or the sink's reader is gone.
fn wait(source: BorrowedFd<'_>, sink: BorrowedFd<'_>) -> NextStep {
    let mut fds = [PollFd::from_borrowed_fd(source, PollFlags::IN), PollFd::from_borrowed_fd(sink, PollFlags::empty())];
    loop {
        match poll(&mut fds, None) {
            Err(Errno::INTR) => continue,
            Err(_) => return NextStep::Source,
            Ok(_) if fds[1].revents().intersects(PollFlags::ERR | PollFlags::HUP) => return NextStep::SinkGone,
            Ok(_) => return NextStep::Source,
        }
    }
}

/// Writes everything, and waits while the sink is full.
///
/// # Errors
/// The error, and the number of bytes that were not written.
pub(crate) fn write_all(sink: BorrowedFd<'_>, mut bytes: &[u8]) -> Result<(), (io::Error, usize)> {
    while !bytes.is_empty() {
        match rustix::io::write(sink, bytes) {
            Ok(taken) => bytes = &bytes[taken..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let _ = poll(&mut [PollFd::from_borrowed_fd(sink, PollFlags::OUT)], None);
            }
            Err(error) => return Err((error.into(), bytes.len())),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::queue::{Batch, Entry, OnOverload};
    use super::*;
    use crate::clock::{Clock, Reading};
    use crate::sessions::answers::{AnswerCallback, PendingAnswer};
    use proptest::prelude::*;
    use std::io::{Read, Write};
    use std::time::{Duration, Instant};

    const C2S: Direction = Direction::ClientToServer;

    fn queue() -> Arc<Queue> {
        Arc::new(Queue::new(1 << 20, OnOverload::Block, Clock::start(), Reading::default()))
    }

    fn writer(sink: io::PipeWriter) -> (InjectableWriter, Arc<Queue>) {
        let queue = queue();
        (InjectableWriter::new(C2S, Arc::clone(&queue), Arc::new(sink)), queue)
    }

    #[test]
    fn bytes_arrive_unchanged_and_a_copy_is_in_the_queue() {
        let (source, mut into) = io::pipe().expect("a pipe");
        let (mut out, sink) = io::pipe().expect("a pipe");
        let (writer, queue) = writer(sink);
        std::thread::scope(|scope| {
            let relay = scope.spawn(|| {
                let ended = pump(
                    source,
                    &mut Messages::new(C2S, &writer, &Answers::default(), &Mutex::default()),
                    &Activity::default(),
                );
                writer.close();
                ended
            });
            into.write_all(b"\xff\x00no line end").expect("written");
            drop(into);
            let mut got = Vec::new();
            out.read_to_end(&mut got).expect("read");
            assert_eq!(got, b"\xff\x00no line end");
            assert_eq!(relay.join().expect("ends"), Ended::SourceClosed);
        });
        let mut batch = Batch::default();
        queue.take(&mut batch, Some(Duration::ZERO));
        assert_eq!(batch.bytes, b"\xff\x00no line end");
    }

    #[test]
    fn a_reader_that_goes_away_is_noticed_without_traffic() {
        let (source, into) = io::pipe().expect("a pipe");
        let (out, sink) = io::pipe().expect("a pipe");
        drop(out);
        let (writer, _) = writer(sink);
        let ended = pump(
            source,
            &mut Messages::new(C2S, &writer, &Answers::default(), &Mutex::default()),
            &Activity::default(),
        );
        assert_eq!(ended, Ended::SinkClosed { undelivered: 0 });
        drop(into);
    }

    /// Passes some bytes on, then panics.
    struct Crashing {
        sink: Sink,
        passes: usize,
    }

    impl RelayHandler for Crashing {
        fn sink(&self) -> Option<Sink> {
            Some(Arc::clone(&self.sink))
        }

        fn forward(&mut self, bytes: &[u8]) -> Result<(), usize> {
            write_all(self.sink.as_fd(), &bytes[..self.passes]).expect("written");
            panic!("a crash that the test wants");
        }

        fn finish(&mut self) -> Result<(), usize> {
            panic!("a crash that the test wants");
        }

        fn give_up(&mut self, bytes: &[u8]) -> Vec<u8> {
            bytes.get(self.passes..).unwrap_or_default().to_vec()
        }
    }

    #[test]
    fn a_relay_that_crashes_goes_on_without_recording() {
        for text in [&b"one\ntwo\n"[..], b""] {
            let (source, mut into) = io::pipe().expect("a pipe");
            let (mut out, sink) = io::pipe().expect("a pipe");
            into.write_all(text).expect("written");
            let mut crashing = Crashing { sink: Arc::new(sink), passes: 3 };
            let relay = std::thread::spawn(move || pump(source, &mut crashing, &Activity::default()));
            let mut first = vec![0; text.len()];
            out.read_exact(&mut first).expect("read");
            let more: &[u8] = if text.is_empty() { b"" } else { b"later" };
            into.write_all(more).expect("written");
            drop(into);
            let mut rest = Vec::new();
            out.read_to_end(&mut rest).expect("read");
            assert_eq!((first.as_slice(), rest.as_slice()), (text, more));
            assert_eq!(relay.join().expect("ends"), Ended::SourceClosed);
        }
    }

    /// An answer is delivered to a caller whose code panics, in the middle of a chunk.
    #[test]
    fn after_a_crash_the_peers_bytes_go_on_where_they_were() {
        let (mut out, sink) = io::pipe().expect("a pipe");
        let queue = queue();
        let s2c = Direction::ServerToClient;
        let writer = InjectableWriter::new(s2c, Arc::clone(&queue), Arc::new(sink));
        let (answers, answer_filter) = (Answers::default(), Mutex::default());
        let until = Instant::now() + Duration::from_secs(60);
        let deliver: AnswerCallback = Arc::new(|_| panic!("a crash that the test wants"));
        answers
            .ask((0, C2S, "mcpreel-0123abcd-0".into()), PendingAnswer { owner: 0, until, deliver })
            .expect("accepted");
        let (source, mut into) = io::pipe().expect("a pipe");
        into.write_all(format!("before\n{}\nafter\nhalf a li", answer_text(0)).as_bytes()).expect("written");
        into.write_all(b"ne\n").expect("written");
        drop(into);
        let mut messages = Messages::new(s2c, &writer, &answers, &answer_filter);
        assert_eq!(pump(source, &mut messages, &Activity::default()), Ended::SourceClosed);
        writer.close();
        let mut got = String::new();
        out.read_to_string(&mut got).expect("text");
        assert_eq!(got, "before\nafter\nhalf a line\n");
        let mut batch = Batch::default();
        queue.take(&mut batch, Some(Duration::ZERO));
        let noted = |entry: &Entry| matches!(entry, Entry::Event { ready, .. } if ready.flags.has(Flags::FAILED));
        assert_eq!(batch.entries.iter().filter(|entry| noted(entry)).count(), 1);
    }

    /// What a server sends: lines of its own, answers to injected requests, and a stray piece.
    #[derive(Clone, Debug)]
    enum Said {
        Line(Vec<u8>),
        Answer(usize),
    }

    fn any_said() -> impl Strategy<Value = Said> {
        let own = prop_oneof![
            Just(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n".to_vec()),
            Just(b"a log line about mcpreel-0123abcd-0\n".to_vec()),
            Just(b"{\"id\":\"mcpreel-0123abcd-99\",\"result\":\"never asked\"}\r\n".to_vec()),
            Just(b"\n".to_vec()),
            "[a-z]{0,40}\n".prop_map(String::into_bytes),
        ];
        prop_oneof![3 => own.prop_map(Said::Line), 1 => (0usize..4).prop_map(Said::Answer)]
    }

    fn answer_text(number: usize) -> String {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":\"mcpreel-0123abcd-{number}\",\"result\":{{}}}}")
    }

    proptest! {
        /// Whatever the server sends in whatever chunks, and whenever requests are injected: the client gets everything
        /// except the answers to injected requests, and the reel gets everything, once and in order, with those answers
        /// marked.
        #[test]
        fn the_client_gets_all_but_the_answers_and_the_reel_gets_all(
            said in prop::collection::vec(any_said(), 0..12),
            before in 0usize..40,
            length in 1usize..60,
            tail in "[a-z]{0,8}",
        ) {
            let (mut out, sink) = io::pipe().expect("a pipe");
            let queue = queue();
            let s2c = Direction::ServerToClient;
            let writer = InjectableWriter::new(s2c, Arc::clone(&queue), Arc::new(sink));
            let (answers, answer_filter) = (Answers::default(), Mutex::default());
            let (mut stream, mut to_client, mut open) = (Vec::new(), Vec::new(), vec![true; 4]);
            // Some of the stream may pass before anything is injected.
            let early = b"x".repeat(before);
            stream.extend_from_slice(&early);
            to_client.extend_from_slice(&early);
            let mut line_is_ours = before == 0;
            for one in &said {
                match one {
                    Said::Line(line) => {
                        stream.extend_from_slice(line);
                        to_client.extend_from_slice(line);
                    }
                    Said::Answer(number) => {
                        let line = format!("{}\n", answer_text(*number));
                        stream.extend_from_slice(line.as_bytes());
                        if !line_is_ours || !std::mem::take(&mut open[*number]) {
                            to_client.extend_from_slice(line.as_bytes());
                        }
                    }
                }
                line_is_ours = true;
            }
            stream.extend_from_slice(tail.as_bytes());
            to_client.extend_from_slice(tail.as_bytes());
            let mut messages = Messages::new(s2c, &writer, &answers, &answer_filter);
            messages.forward(&early).expect("delivered");
            for number in 0..4 {
                let until = Instant::now() + Duration::from_secs(60);
                let waiting = PendingAnswer { owner: 0, until, deliver: Arc::new(|_| {}) };
                let id = format!("mcpreel-0123abcd-{number}");
                answers.ask((0, C2S, id.into()), waiting).expect("accepted");
            }
            for chunk in stream[before..].chunks(length) {
                messages.forward(chunk).expect("delivered");
            }
            messages.finish().expect("delivered");
            writer.close();
            let mut got = Vec::new();
            out.read_to_end(&mut got).expect("read");
            prop_assert_eq!(String::from_utf8_lossy(&got), String::from_utf8_lossy(&to_client));
            let mut batch = Batch::default();
            queue.take(&mut batch, Some(Duration::ZERO));
            let (mut all, mut rest) = (Vec::new(), &batch.bytes[..]);
            for entry in &batch.entries {
                let (Entry::Chunk { len, .. } | Entry::Event { len, .. }) = entry else { continue };
                let (bytes, after) = rest.split_at(*len);
                rest = after;
                all.extend_from_slice(bytes);
                if let Entry::Event { ready, .. } = entry {
                    prop_assert_eq!(ready.flags, Flags::toward(s2c).with(Flags::INJECTED));
                    let is_answer = bytes.starts_with(b"{\"jsonrpc\":\"2.0\",\"id\":\"mcpreel-");
                    prop_assert!(is_answer);
                    all.extend_from_slice(ready.framing.terminator());
                }
            }
            prop_assert_eq!(String::from_utf8_lossy(&all), String::from_utf8_lossy(&stream));
        }
    }

    /// Injectors and a relay work at the same time, on chunks that end anywhere: every line stays whole, the peer's own
    /// bytes stay in order, and the queue contains what the far end received, in the same order.
    #[test]
    fn lines_stay_whole_however_busy_the_stream_is() {
        let (source, mut into) = io::pipe().expect("a pipe");
        let (mut out, sink) = io::pipe().expect("a pipe");
        let (writer, queue) = writer(sink);
        let (answers, answer_filter) = (Answers::default(), Mutex::default());
        let mut own = Vec::new();
        (0..4000u32)
            .for_each(|number| own.extend(format!("own {number} {}\n", "x".repeat(number as usize % 97)).bytes()));
        let mut got = Vec::new();
        std::thread::scope(|scope| {
            let relay = scope.spawn(|| {
                let ended =
                    pump(source, &mut Messages::new(C2S, &writer, &answers, &answer_filter), &Activity::default());
                writer.close();
                ended
            });
            let injectors: Vec<_> = (0..4)
                .map(|injector| {
                    let writer = &writer;
                    scope.spawn(move || {
                        for number in 0..200 {
                            let line = format!("injected {injector} {number} {}", "y".repeat(number));
                            let deadline = Instant::now() + Duration::from_secs(60);
                            writer.inject(line.as_bytes(), deadline).expect("put in");
                        }
                    })
                })
                .collect();
            let own = &own;
            scope.spawn(move || {
                // Each chunk except the last ends within a line.
                own.chunks(1009).for_each(|chunk| into.write_all(chunk).expect("written"));
                injectors.into_iter().for_each(|injector| injector.join().expect("done"));
            });
            out.read_to_end(&mut got).expect("read");
            assert_eq!(relay.join().expect("ends"), Ended::SourceClosed);
        });
        let lines: Vec<&[u8]> = got.split_inclusive(|byte| *byte == b'\n').collect();
        let (injected, others): (Vec<&[u8]>, Vec<&[u8]>) =
            lines.into_iter().partition(|line| line.starts_with(b"injected "));
        assert_eq!(injected.len(), 800);
        assert_eq!(String::from_utf8_lossy(&others.concat()), String::from_utf8_lossy(&own));
        let mut batch = Batch::default();
        queue.take(&mut batch, Some(Duration::ZERO));
        let (mut all, mut rest) = (Vec::new(), &batch.bytes[..]);
        for entry in &batch.entries {
            let (Entry::Chunk { len, .. } | Entry::Event { len, .. }) = entry else { continue };
            let (bytes, after) = rest.split_at(*len);
            rest = after;
            all.extend_from_slice(bytes);
            if matches!(entry, Entry::Event { .. }) {
                all.push(b'\n');
            }
        }
        assert!(all == got, "the queue's order is the order on the wire");
    }
}
