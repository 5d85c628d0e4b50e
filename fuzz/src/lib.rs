//! How a fuzzer's bytes are read as a conversation, and what holds for every message that an engine sends.

use mcpreel::trace::{Event, EventHeader, EventKind, Flags};
use mcpreel::wire::{Direction, Envelope, Framing, MessageKind, json};
use std::time::Duration;

/// One message of a conversation.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// When it comes, since the beginning; never before the one in front of it.
    pub now: Duration,
    /// Whose connection it is on: 0 or 1.
    pub stream: u32,
    /// Which way it goes.
    pub direction: Direction,
    /// Its bytes, without the line feed.
    pub message: &'a [u8],
}

/// A conversation: one message a line, behind a first byte that says which way it goes (the lowest bit: to the client),
/// how long after the last one it comes (the next four bits: 0 is at once, n is 4 to the power of n milliseconds, at
/// most a minute), and on which connection (the highest bit). So a line begins with a back quote where it goes to the
/// server, with an `a` where it goes to the client, and with later letters after a while.
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

/// Hands the conversation out as a reel's events.
pub fn events(data: &[u8], mut take: impl FnMut(&Event<'_>)) {
    for (seq, step) in steps(data).enumerate() {
        let header = EventHeader {
            seq: seq as u64,
            time: step.now.as_nanos() as i64,
            stream: step.stream,
            exchange: 0,
            kind: EventKind::Message,
            flags: Flags::toward(step.direction),
            framing: Framing::Lf,
            len: step.message.len() as u32,
            offset: 0,
            message: None,
        };
        take(&Event { header: &header, payload: step.message });
    }
}

/// An engine sends JSON-RPC, whatever it was sent: one line of JSON to the letter.
pub fn assert_sendable(message: &[u8]) {
    let text = || String::from_utf8_lossy(message);
    assert!(json::check(message).is_ok(), "no JSON: {}", text());
    assert!(!message.contains(&b'\n'), "two lines: {}", text());
    let kind = Envelope::scan(message).kind;
    let is_whole = matches!(kind, MessageKind::Request | MessageKind::Notification) || kind.is_response();
    assert!(is_whole || kind == MessageKind::Batch, "{kind:?}: {}", text());
}

/// Who was just woken waits for something to come.
pub fn assert_rests(next_wake: Option<Duration>, now: Duration) {
    assert!(next_wake.is_none_or(|at| at > now), "woken at {now:?}, it wants to be woken at {next_wake:?}");
}
