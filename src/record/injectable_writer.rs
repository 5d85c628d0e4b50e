//! The write side of one direction, shared by its relay and by injectors. Messages are injected between two lines of
//! the peer, never within one.
//!
//! Whoever completes a line flushes pending injections: an injector while the stream is idle, the relay while it is
//! busy. So neither a busy nor an idle stream delays an injection.

use super::queue::{ChunkSource, Queue, Ready};
use super::relay::write_all;
use crate::trace::{EventKind, Flags, TransportEvent};
use crate::wire::{Direction, Framing};
use parking_lot::{Condvar, Mutex, MutexGuard};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Where a direction's bytes are written.
pub(crate) type Sink = Arc<dyn AsFd + Send + Sync>;

/// The interval for checking whether a peer that does not read has space again.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// The beginning of a `Content-Length` frame; lines cannot be put between such frames.
const CONTENT_LENGTH: &[u8] = b"content-length:";

/// Why a message was not injected, as a sentence fragment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InjectionFailure {
    /// The stream has ended.
    #[error("the stream toward the {0} is closed")]
    Closed(&'static str),
    /// The stream uses `Content-Length` frames, and lines cannot be put between them.
    #[error("the stream toward the {0} uses Content-Length framing; messages can be injected only between lines")]
    ByLength(&'static str),
    /// A line has begun and does not end.
    #[error("the stream toward the {0} is in the middle of a line")]
    WithinLine(&'static str),
    /// The peer's pipe is full.
    #[error("the {0} is not reading")]
    NotRead(&'static str),
}

/// The write side of one direction. See the module.
pub(crate) struct InjectableWriter {
    direction: Direction,
    queue: Arc<Queue>,
    state: Mutex<State>,
    changed: Condvar,
    /// How many of the peer's bytes are done with, since [`InjectableWriter::count_anew`].
    passed: AtomicUsize,
}

struct State {
    sink: Option<Sink>,
    /// A thread is writing.
    busy: bool,
    /// The last byte written was not a line end.
    within_line: bool,
    by_length: bool,
    /// Messages that wait for the end of a line, with their ticket numbers.
    pending: VecDeque<(u64, Vec<u8>)>,
    /// The last ticket issued, begun, and written.
    given: u64,
    begun: u64,
    written: u64,
    /// The number of waiting threads; without any, `notify_all` would be a wasted system call.
    waiting: usize,
}

impl InjectableWriter {
    /// A writer for this direction. Bytes are queued for recording before they are written.
    pub(crate) fn new(direction: Direction, queue: Arc<Queue>, sink: Sink) -> Self {
        let state = State {
            sink: Some(sink),
            busy: false,
            within_line: false,
            by_length: false,
            pending: VecDeque::new(),
            given: 0,
            begun: 0,
            written: 0,
            waiting: 0,
        };
        Self { direction, queue, state: Mutex::new(state), changed: Condvar::new(), passed: AtomicUsize::new(0) }
    }

    /// Where the copy goes.
    pub(crate) fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Begins to count the peer's bytes.
    pub(crate) fn count_anew(&self) {
        self.passed.store(0, Ordering::Relaxed);
    }

    /// What is done here counts as this many bytes of the peer.
    pub(crate) fn stands_for<T>(&self, length: usize, done: impl FnOnce() -> T) -> T {
        let before = self.passed.load(Ordering::Relaxed);
        let outcome = done();
        self.passed.store(before + length, Ordering::Relaxed);
        outcome
    }

    /// After a panic: leaves the sink to the relay alone. Returns how many of the peer's bytes are done with.
    pub(crate) fn give_up(&self) -> usize {
        let mut state = self.state.lock();
        (state.busy, state.sink) = (false, None);
        self.changed.notify_all();
        self.passed.load(Ordering::Relaxed)
    }

    /// The sink; `None` once it is closed.
    pub(crate) fn sink(&self) -> Option<Sink> {
        self.state.lock().sink.clone()
    }

    /// Records and writes the peer's bytes, and inserts pending messages at a line end among them.
    ///
    /// # Errors
    /// The number of bytes that were not written.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), usize> {
        let mut state = self.state.lock();
        while state.busy {
            self.wait(&mut state, None);
        }
        let Some(sink) = state.sink.clone() else { return Err(bytes.len()) };
        state.busy = true;
        state.by_length |= !state.within_line && begins_by_length(bytes);
        let at = match (state.pending.is_empty() || state.by_length, state.within_line) {
            (true, _) => None,
            (false, false) => Some(0),
            (false, true) => memchr::memchr(b'\n', bytes).map(|at| at + 1),
        };
        drop(state);
        let written = match at {
            None => self.put(&sink, bytes),
            Some(at) => {
                let (before, after) = bytes.split_at(at);
                let before = self.put(&sink, before).and_then(|()| self.put_pending(&sink));
                match (before, self.put(&sink, after)) {
                    (Ok(()), after) => after,
                    (Err(lost), _) => Err(lost + after.len()),
                }
            }
        };
        let within_line = bytes.last().map(|last| *last != b'\n');
        self.leave(within_line);
        written
    }

    /// Injects a message as a line of its own, at the end of the current line.
    ///
    /// # Errors
    /// The stream has ended or cannot take lines, or `deadline` has passed.
    pub(crate) fn inject(&self, message: &[u8], deadline: Instant) -> Result<(), InjectionFailure> {
        let peer = peer(self.direction);
        let mut state = self.state.lock();
        state.given += 1;
        let ticket = state.given;
        state.pending.push_back((ticket, [message, b"\n"].concat()));
        loop {
            if state.written >= ticket {
                return Ok(());
            }
            let refused = match &state.sink {
                None => Some(InjectionFailure::Closed(peer)),
                Some(_) if state.begun >= ticket => None,
                Some(_) if state.by_length => Some(InjectionFailure::ByLength(peer)),
                Some(sink) => {
                    let rests = !state.busy && !state.within_line;
                    if rests && takes_more(sink) {
                        let sink = Arc::clone(sink);
                        state.busy = true;
                        drop(state);
                        if self.put_pending(&sink).is_err() {
                            self.state.lock().sink = None;
                        }
                        self.leave(None);
                        state = self.state.lock();
                        continue;
                    }
                    let late = Instant::now() >= deadline;
                    let why = if state.within_line {
                        InjectionFailure::WithinLine(peer)
                    } else {
                        InjectionFailure::NotRead(peer)
                    };
                    late.then_some(why)
                }
            };
            if let Some(why) = refused {
                state.pending.retain(|pending| pending.0 != ticket);
                return Err(why);
            }
            self.wait(&mut state, Some(CHECK_INTERVAL));
        }
    }

    /// Records an answer that was removed from the stream.
    pub(crate) fn record_taken(&self, payload: &[u8], framing: Framing) {
        self.queue.push_ready(self.injected(framing), payload);
    }

    /// Closes the write side once no thread is writing.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        while state.busy {
            self.wait(&mut state, None);
        }
        state.sink = None;
        self.report(&state);
    }

    fn report(&self, state: &State) {
        if state.waiting > 0 {
            self.changed.notify_all();
        }
    }

    /// Records and writes bytes; the error is the number of bytes not written.
    fn put(&self, sink: &Sink, bytes: &[u8]) -> Result<(), usize> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.queue.push(ChunkSource::Messages(self.direction), bytes);
        let written = write_all(sink.as_fd(), bytes).map_err(|(_, lost)| lost);
        self.passed.fetch_add(bytes.len() - written.err().unwrap_or(0), Ordering::Relaxed);
        written
    }

    /// Writes the pending messages. The error counts the peer's own bytes, of which none are lost here.
    fn put_pending(&self, sink: &Sink) -> Result<(), usize> {
        loop {
            let (ticket, line) = {
                let mut state = self.state.lock();
                let Some(pending) = state.pending.pop_front() else { return Ok(()) };
                state.begun = pending.0;
                pending
            };
            self.queue.push_ready(self.injected(Framing::Lf), line.strip_suffix(b"\n").unwrap_or(&line));
            if let Err((_, lost)) = write_all(sink.as_fd(), &line) {
                let (lane, bytes) = (self.direction.short().to_owned(), lost as u64);
                let reported = TransportEvent::Undelivered { lane, bytes };
                self.queue.note(Ready::about(EventKind::Transport, 0), &reported);
                return Err(0);
            }
            self.state.lock().written = ticket;
        }
    }

    fn injected(&self, framing: Framing) -> Ready {
        let flags = Flags::toward(self.direction).with(Flags::INJECTED);
        Ready { kind: EventKind::Message, stream: 0, exchange: 0, flags, framing }
    }

    /// Lets the next thread write; `within_line` is set if bytes of the peer were written.
    fn leave(&self, within_line: Option<bool>) {
        let mut state = self.state.lock();
        state.busy = false;
        state.within_line = within_line.unwrap_or(state.within_line);
        self.report(&state);
    }

    fn wait(&self, state: &mut MutexGuard<'_, State>, at_most: Option<Duration>) {
        state.waiting += 1;
        match at_most {
            None => self.changed.wait(state),
            Some(time) => drop(self.changed.wait_for(state, time)),
        }
        state.waiting -= 1;
    }
}

/// The side to which a direction leads.
pub(crate) fn peer(direction: Direction) -> &'static str {
    match direction {
        Direction::ClientToServer => "server",
        Direction::ServerToClient => "client",
    }
}

/// Whether bytes at the beginning of a line begin a `Content-Length` frame, as far as they go.
fn begins_by_length(bytes: &[u8]) -> bool {
    let shown = bytes.len().min(CONTENT_LENGTH.len());
    shown > 0 && bytes[..shown].eq_ignore_ascii_case(&CONTENT_LENGTH[..shown])
}

/// Whether the peer's pipe has space, so that a short line can be written without blocking.
fn takes_more(sink: &Sink) -> bool {
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut fds = [PollFd::from_borrowed_fd(sink.as_fd(), PollFlags::OUT)];
    matches!(poll(&mut fds, Some(&at_once)), Ok(1..)) && !fds[0].revents().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Clock, Reading};
    use crate::record::queue::{Batch, Entry, OnOverload};
    use std::io::{self, Read};

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    fn writer() -> (io::PipeReader, Arc<InjectableWriter>, Arc<Queue>) {
        let (out, sink) = io::pipe().expect("a pipe");
        let queue = Arc::new(Queue::new(1 << 20, OnOverload::Block, Clock::start(), Reading::default()));
        (out, Arc::new(InjectableWriter::new(Direction::ClientToServer, Arc::clone(&queue), Arc::new(sink))), queue)
    }

    fn all(mut out: io::PipeReader) -> String {
        let mut text = String::new();
        out.read_to_string(&mut text).expect("text");
        text
    }

    #[test]
    fn a_message_goes_in_between_lines_and_is_marked() {
        let (out, writer, queue) = writer();
        writer.write(b"one\n").expect("written");
        writer.inject(b"ours", soon()).expect("put in");
        writer.write(b"two\n").expect("written");
        writer.close();
        assert_eq!(all(out), "one\nours\ntwo\n");
        let mut batch = Batch::default();
        queue.take(&mut batch, Some(Duration::ZERO));
        assert_eq!(batch.bytes, b"one\nourstwo\n");
        assert!(matches!(&batch.entries[1], Entry::Event { ready, len: 4, .. } if ready.flags == Flags::INJECTED));
    }

    #[test]
    fn a_line_that_has_begun_is_ended_first_by_the_relay() {
        let (out, writer, _) = writer();
        writer.write(b"{\"begun\":").expect("written");
        std::thread::scope(|scope| {
            let injector = scope.spawn(|| writer.inject(b"ours", soon()));
            while writer.state.lock().pending.is_empty() {
                std::thread::yield_now();
            }
            // Neither this chunk nor the next ends with a line end.
            writer.write(b"1").expect("written");
            writer.write(b"}\nnext").expect("written");
            injector.join().expect("ends").expect("put in");
        });
        writer.close();
        assert_eq!(all(out), "{\"begun\":1}\nours\nnext");
    }

    #[test]
    fn where_no_line_ends_the_injector_gives_up_and_leaves_nothing() {
        let (out, writer, _) = writer();
        writer.write(b"begun").expect("written");
        assert_eq!(writer.inject(b"ours", Instant::now()), Err(InjectionFailure::WithinLine("server")));
        writer.write(b"\n").expect("written");
        writer.close();
        assert_eq!(writer.inject(b"ours", soon()), Err(InjectionFailure::Closed("server")));
        assert_eq!(all(out), "begun\n");
    }

    #[test]
    fn a_peer_that_does_not_read_holds_the_injector_only() {
        let (out, writer, _) = writer();
        let sink = writer.sink().expect("open");
        rustix::io::ioctl_fionbio(sink.as_fd(), true).expect("not blocking");
        while rustix::io::write(sink.as_fd(), &[b'\n'; 4096]).is_ok() {}
        assert_eq!(writer.inject(b"ours", Instant::now()), Err(InjectionFailure::NotRead("server")));
        assert!(!writer.state.lock().busy);
        drop((out, sink));
    }

    #[test]
    fn frames_by_length_take_no_lines() {
        let (_out, writer, _) = writer();
        writer.write(b"Content-Length: 2\r\n\r\n{}").expect("written");
        assert_eq!(writer.inject(b"ours", soon()), Err(InjectionFailure::ByLength("server")));
    }

    #[test]
    fn a_peer_that_is_gone_is_reported() {
        let (out, writer, _) = writer();
        drop(out);
        assert_eq!(writer.inject(b"ours", soon()), Err(InjectionFailure::Closed("server")));
        assert_eq!(writer.write(b"abc"), Err(3));
    }
}
