//! Recordings for tests.

use super::{Collector, Options, Recording};
use crate::trace::{Event, EventHeader, EventKind, Flags};
use crate::wire::{Direction, Framing};

/// Creates a recording of lines that begin with `> ` (to the server), `< ` (to the client) or `! ` (standard error),
/// one millisecond apart.
pub(crate) fn recorded(lines: &[impl AsRef<str>], options: &Options) -> Recording {
    let mut collector = Collector::new(options).with_stderr(true);
    for (seq, line) in lines.iter().enumerate() {
        let (mark, text) = line.as_ref().split_at(2);
        let direction = if mark == "> " { Direction::ClientToServer } else { Direction::ServerToClient };
        let header = EventHeader {
            seq: seq as u64,
            time: 1_000_000 * seq as i64,
            stream: 0,
            exchange: 0,
            kind: if mark == "! " { EventKind::Stderr } else { EventKind::Message },
            flags: Flags::toward(direction),
            framing: Framing::Lf,
            len: u32::try_from(text.len()).expect("short"),
            offset: 0,
            message: None,
        };
        collector.take(&Event { header: &header, payload: text.as_bytes() });
    }
    collector.finish()
}
