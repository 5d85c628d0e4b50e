//! Reads a fuzzer's bytes as a conversation, and checks what must hold for every message that an engine sends.

use mcpreel::testing::formats::Importer;
use mcpreel::testing::formats::jsonl::Reader;
use mcpreel::testing::trace::{
    Event, EventHeader, EventKind, FileHeader, Flags, Item, ReelReader, ReelWriter, WriterOptions,
};
use mcpreel::testing::wire::{Direction, Envelope, Framing, MessageKind, json};
use std::io::Cursor;
use std::time::Duration;

/// One message of a conversation.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The time since the beginning; never earlier than that of the previous message.
    pub now: Duration,
    /// The connection: 0 or 1.
    pub stream: u32,
    /// The direction.
    pub direction: Direction,
    /// The bytes, without the line feed.
    pub message: &'a [u8],
}

/// A conversation has one message per line. The first byte of a line encodes the direction (the lowest bit: to the
/// client), the time since the previous message (the next four bits: 0 means none, n means 4 to the power of n
/// milliseconds, at most a minute), and the connection (the highest bit). So a line to the server begins with a
/// backquote, one to the client with an `a`, and one after a delay with a later letter.
pub fn steps(data: &[u8]) -> impl Iterator<Item = Step<'_>> {
    let mut now = Duration::ZERO;
    data.split(|byte| *byte == b'\n').filter_map(move |line| {
        let (how, message) = line.split_first()?;
        let wait = u32::from(how >> 1 & 0xf).min(8);
        now += if wait == 0 { Duration::ZERO } else { Duration::from_millis(4u64.pow(wait)) };
        let direction = if how & 1 == 0 { Direction::ClientToServer } else { Direction::ServerToClient };
        Some(Step { now, stream: u32::from(how >> 7), direction, message })
    })
}

/// The header of an event that stands alone.
pub fn event_header(kind: EventKind, framing: Framing, payload: &[u8]) -> EventHeader {
    EventHeader {
        seq: 0,
        time: 0,
        stream: 0,
        exchange: 0,
        kind,
        flags: Flags::default(),
        framing,
        len: payload.len() as u32,
        offset: 0,
        message: None,
    }
}

/// Passes the conversation on as a reel's events.
pub fn events(data: &[u8], mut take: impl FnMut(&Event<'_>)) {
    for (seq, step) in steps(data).enumerate() {
        let (time, flags) = (step.now.as_nanos() as i64, Flags::toward(step.direction));
        let header = event_header(EventKind::Message, Framing::Lf, step.message);
        let header = EventHeader { seq: seq as u64, time, stream: step.stream, flags, ..header };
        take(&Event { header: &header, payload: step.message });
    }
}

/// An engine must send JSON-RPC, whatever it received: one line of valid JSON.
pub fn assert_sendable(message: &[u8]) {
    let text = || String::from_utf8_lossy(message);
    assert!(json::check(message).is_ok(), "no JSON: {}", text());
    assert!(!message.contains(&b'\n'), "two lines: {}", text());
    let kind = Envelope::scan(message).kind;
    let is_whole = matches!(kind, MessageKind::Request | MessageKind::Notification) || kind.is_response();
    assert!(is_whole || kind == MessageKind::Batch, "{kind:?}: {}", text());
}

/// An engine that was just woken must wait for something.
pub fn assert_rests(next_wake: Option<Duration>, now: Duration) {
    assert!(next_wake.is_none_or(|at| at > now), "woken at {now:?}, it wants to be woken at {next_wake:?}");
}

/// Writes JSON lines as a reel, if they can be read.
pub fn reel_of(lines: &[u8]) -> Option<Vec<u8>> {
    let mut reader = Reader::new(lines).ok()?;
    let mut writer = ReelWriter::create(Vec::new(), reader.header(), WriterOptions::default()).ok()?;
    while let Some(event) = reader.next_event().ok()? {
        writer.append(event).ok()?;
    }
    Some(writer.finish().ok()?.0)
}

fn reader(reel: &[u8]) -> ReelReader {
    ReelReader::from_stream(Box::new(Cursor::new(reel.to_vec()))).expect("an own reel").with_payloads()
}

/// The header of an own reel.
pub fn header(reel: &[u8]) -> FileHeader {
    reader(reel).header().clone()
}

/// Passes on all events of an own reel, with its methods.
pub fn read(reel: &[u8], mut take: impl FnMut(&Event<'_>, &[Box<str>])) {
    let mut reader = reader(reel);
    while let Some(item) = reader.next().expect("memory reads") {
        let Item::Block(block) = item else { panic!("an own reel is damaged: {item:?}") };
        block.events().for_each(|event| take(&event, reader.methods()));
        reader.recycle(block);
    }
}
