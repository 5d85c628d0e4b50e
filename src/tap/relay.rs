//! One direction of the relay: read what there is, leave a copy in the queue, write it on, at once.
//!
//! The loop also watches the far end, so that a reader that goes away is noticed before the next bytes come, as it
//! would be without the tap.

use super::queue::{Lane, Queue};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How much is read at once: what a pipe holds.
const CHUNK: usize = 64 << 10;

/// Why a direction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The side that writes closed its end.
    SourceClosed,
    /// The side that reads closed its end; so many bytes were read from the source and not delivered.
    SinkClosed {
        /// Read, recorded, and not delivered.
        undelivered: usize,
    },
}

/// What others can see of a lane at work.
#[derive(Debug, Default)]
pub struct Activity {
    /// It has bytes in hand: it reads, or waits until they are written.
    pub busy: AtomicBool,
    /// How many chunks it has moved.
    pub moved: AtomicU64,
}

/// Relays until one end closes. Every byte read is in the queue before it is written on, so that the reel's order
/// is the order of cause and effect.
pub fn pump(source: impl AsFd, sink: impl AsFd, lane: Lane, queue: &Queue, activity: &Activity) -> Ended {
    let mut chunk = vec![0u8; CHUNK];
    let ended = loop {
        activity.busy.store(false, Ordering::Release);
        match wait(source.as_fd(), sink.as_fd()) {
            Ready::SinkGone => break Ended::SinkClosed { undelivered: 0 },
            Ready::Source => activity.busy.store(true, Ordering::Release),
        }
        let got = match rustix::io::read(&source, &mut chunk) {
            Ok(0) => break Ended::SourceClosed,
            Ok(got) => got,
            Err(Errno::INTR | Errno::AGAIN) => continue,
            Err(_) => break Ended::SourceClosed,
        };
        activity.moved.fetch_add(1, Ordering::Release);
        queue.push(lane, &chunk[..got]);
        if let Err((_, undelivered)) = write_all(sink.as_fd(), &chunk[..got]) {
            break Ended::SinkClosed { undelivered };
        }
    };
    queue.end(lane);
    ended
}

enum Ready {
    Source,
    SinkGone,
}

/// Waits until the source has bytes (or its end), or the sink's reader is gone.
fn wait(source: BorrowedFd<'_>, sink: BorrowedFd<'_>) -> Ready {
    let mut fds = [PollFd::from_borrowed_fd(source, PollFlags::IN), PollFd::from_borrowed_fd(sink, PollFlags::empty())];
    loop {
        match poll(&mut fds, None) {
            Err(Errno::INTR) => continue,
            Err(_) => return Ready::Source,
            Ok(_) if fds[1].revents().intersects(PollFlags::ERR | PollFlags::HUP) => return Ready::SinkGone,
            Ok(_) => return Ready::Source,
        }
    }
}

/// Writes everything; on failure tells how many bytes were not taken.
fn write_all(sink: BorrowedFd<'_>, mut bytes: &[u8]) -> Result<(), (io::Error, usize)> {
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
    use crate::wire::Direction;
    use std::io::{Read, Write};
    use std::time::{Duration, Instant};

    const LANE: Lane = Lane::Messages(Direction::ClientToServer);

    fn queue() -> Queue {
        Queue::new(1 << 20, OnOverload::Block, Instant::now())
    }

    #[test]
    fn bytes_arrive_unchanged_and_a_copy_is_in_the_queue() {
        let (source, mut into) = io::pipe().expect("a pipe");
        let (mut out, sink) = io::pipe().expect("a pipe");
        let queue = queue();
        std::thread::scope(|scope| {
            let relay = scope.spawn(|| pump(source, sink, LANE, &queue, &Activity::default()));
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
        assert!(matches!(batch.entries.last(), Some(Entry::End { .. })));
    }

    #[test]
    fn a_reader_that_goes_away_is_noticed_without_traffic() {
        let (source, into) = io::pipe().expect("a pipe");
        let (out, sink) = io::pipe().expect("a pipe");
        drop(out);
        assert_eq!(pump(source, sink, LANE, &queue(), &Activity::default()), Ended::SinkClosed { undelivered: 0 });
        drop(into);
    }
}
