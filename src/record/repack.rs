//! Makes the reel of a session that has ended smaller: what was flushed message by message, or compressed in a hurry, is
//! compressed again as a whole.
//!
//! The smaller reel replaces the file in one step, so that whoever still reads the first one is not disturbed. If
//! anything fails or takes too long, the first one stays, which is as complete.

use crate::files::output::{PRIVATE, Replacement};
use crate::trace::{Item, ReelReader, ReelWriter, WriterOptions};
use std::io::{self, BufWriter};
use std::path::Path;
use std::time::{Duration, Instant};

/// Reels with more payload bytes are left as they are: rewriting them takes longer than users should wait (48 MiB).
const MAX_PAYLOAD: u64 = 48 << 20;
/// The time limit for rewriting.
const MAX_TIME: Duration = Duration::from_millis(800);
/// A smaller gain is not worth the work: a block on the disk. Unit: bytes.
const MIN_GAIN: u64 = 4096;
/// A gain of less than one part in so many is not, either.
const MIN_SHARE: u64 = 25;

/// A little smaller than what a recorder writes, and otherwise the same.
fn options() -> WriterOptions {
    WriterOptions { level: 6, ..WriterOptions::default() }
}

/// Whether a reel is worth rewriting.
pub(super) fn is_worthwhile(size: u64, payload: u64, gain: u64) -> bool {
    payload <= MAX_PAYLOAD && gain >= MIN_GAIN && gain >= size / MIN_SHARE
}

/// Rewrites the reel at `path`.
///
/// # Errors
///
/// The reel cannot be read or written, or the time is over. The file is unchanged then.
pub(super) fn repack(path: &Path) -> io::Result<()> {
    let began = Instant::now();
    let mut reader = ReelReader::open(path).map_err(io::Error::other)?.in_pieces().with_payloads();
    let mut replacement = Replacement::begin(path, PRIVATE)?;
    let header = reader.header().clone();
    let mut writer = ReelWriter::create(BufWriter::new(replacement.file()), &header, options())?;
    while let Some(item) = reader.next()? {
        let Item::Block(block) = item else { return Err(io::Error::other("the reel is damaged")) };
        for event in block.events() {
            writer.append(event.again())?;
        }
        reader.recycle(block);
        if began.elapsed() > MAX_TIME {
            return Err(io::Error::from(io::ErrorKind::TimedOut));
        }
    }
    writer.finish()?;
    replacement.commit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{EventKind, FileHeader, Flags, NewEvent};
    use crate::wire::Framing;
    use std::fs::File;

    /// Writes 500 messages, flushed one by one or compressed in a hurry. Returns the writer's estimate.
    fn record(path: &Path, is_hurried: bool) -> u64 {
        let file = File::create(path).expect("a file");
        let mut writer =
            ReelWriter::create(file, &FileHeader::default(), WriterOptions::default()).expect("the header is written");
        writer.hurry(is_hurried);
        for number in 0..500 {
            let payload = format!("{{\"jsonrpc\":\"2.0\",\"id\":{number},\"result\":{{\"t\":{}}}}}", number * 7919);
            let (kind, flags, framing) = (EventKind::Message, Flags::default(), Framing::Lf);
            let (stream, exchange, payload) = (0, 0, payload.as_bytes());
            writer
                .append(NewEvent { time: number, stream, exchange, kind, flags, framing, payload })
                .expect("the event is written");
            if !is_hurried {
                writer.flush().expect("the segment is written");
            }
        }
        writer.flush().expect("the segment is written");
        let avoidable = writer.avoidable();
        writer.finish().expect("the index is written");
        avoidable
    }

    fn events(mut reader: ReelReader) -> Vec<(i64, Vec<u8>)> {
        let mut found = Vec::new();
        while let Some(item) = reader.next().expect("reads") {
            let Item::Block(block) = item else { panic!("damage: {item:?}") };
            found.extend(block.events().map(|event| (event.header.time, event.payload.to_vec())));
            reader.recycle(block);
        }
        found
    }

    #[test]
    fn a_reel_of_single_messages_gets_smaller_and_keeps_every_event() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.reel");
        let avoidable = record(&path, false);
        let open = ReelReader::open(&path).expect("a reel").with_payloads();
        let before = std::fs::metadata(&path).expect("a file").len();
        repack(&path).expect("it is rewritten");
        let after = std::fs::metadata(&path).expect("a file").len();
        assert!(before - after >= avoidable, "{before} - {after} < {avoidable}");
        let mut rewritten = ReelReader::open(&path).expect("a reel").with_payloads();
        assert_eq!(rewritten.index().expect("reads").expect("sound").expect("present").events, 500);
        let found = events(rewritten);
        assert_eq!(found.len(), 500);
        // Whoever reads the first file reads on to its end.
        assert_eq!(events(open), found);
    }

    #[test]
    fn a_small_gain_or_a_large_reel_is_left_alone() {
        assert!(is_worthwhile(100_000, 1_000_000, 4096));
        assert!(!is_worthwhile(100_000, 1_000_000, 4095), "less than a block");
        assert!(!is_worthwhile(1_000_000, 10_000_000, 39_999), "less than 4 %");
        assert!(!is_worthwhile(10_000_000, 50_331_649, 9_000_000), "too long");
    }

    #[test]
    fn a_damaged_reel_stays_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.reel");
        assert!(record(&path, true) > 0, "hurried payloads count as avoidable");
        let mut bytes = std::fs::read(&path).expect("a file");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, &bytes).expect("damaged");
        assert!(repack(&path).is_err());
        assert_eq!(std::fs::read(&path).expect("a file"), bytes);
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "the temporary file is removed");
    }
}
