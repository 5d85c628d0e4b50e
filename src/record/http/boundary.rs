//! Splits a passing stream of server-sent events or WebSocket frames at message ends. Finds the positions where another
//! message can be inserted, and can remove messages.
//!
//! Pure; everything that is not removed passes byte for byte and in order. Only `filter` holds bytes back, and only those
//! of an incomplete message.

use crate::sessions::injection::may_be_answer;
use crate::wire::sse::{Carried, SseFramer, carried, with_data};
use std::io::Cursor;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Control, Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::frame::{Frame, FrameHeader};

/// A longer message is not held back; it passes unexamined (64 MiB).
const MAX_HELD_BYTES: usize = 64 << 20;

/// Called with a message that may be an answer; returns the part of it that passes.
pub(crate) type AnswerDecision<'a> = &'a mut dyn FnMut(&[u8]) -> Option<Vec<u8>>;

/// The splitter for one direction. See the module.
pub enum MessageSplitter {
    /// Server-sent events.
    Events(Events),
    /// WebSocket frames.
    Frames(Frames),
}

impl MessageSplitter {
    /// Takes bytes that pass unchanged, while nothing is held back.
    pub fn see(&mut self, bytes: &[u8]) {
        match self {
            Self::Events(events) => events.note(bytes),
            Self::Frames(frames) => frames.see(bytes),
        }
    }

    /// Takes bytes and removes what `keep` rejects. Returns the bytes that pass now.
    pub fn filter(&mut self, bytes: &[u8], keep: AnswerDecision<'_>) -> Vec<u8> {
        match self {
            Self::Events(events) => events.filter(bytes, keep),
            Self::Frames(frames) => frames.filter(bytes, keep),
        }
    }

    /// Returns everything that was held back.
    pub fn release(&mut self) -> Vec<u8> {
        match self {
            Self::Events(events) => events.release(),
            Self::Frames(frames) => std::mem::take(&mut frames.held),
        }
    }

    /// Whether the bytes so far end at a message end, where another message can be inserted.
    pub fn is_between(&self) -> bool {
        match self {
            Self::Events(events) => events.is_between(),
            Self::Frames(frames) => frames.is_between(),
        }
    }

    /// Whether no further message can follow.
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Frames(frames) if frames.is_over)
    }

    /// Encodes a message for this kind of stream. `mask` is the masking key of a WebSocket client's frame.
    pub fn wrap(&self, message: &[u8], mask: [u8; 4]) -> Vec<u8> {
        match self {
            Self::Events(_) => [b"event: message\ndata: ", message, b"\n\n"].concat(),
            Self::Frames(frames) => frame(message, frames.is_masked.then_some(mask)),
        }
    }
}

/// Server-sent events. See [`MessageSplitter`].
pub struct Events {
    framer: SseFramer,
    /// How many bytes held by the framer have already passed.
    gone: usize,
    /// The last bytes that passed. Initially as after the end of an event.
    tail: [u8; 3],
}

impl Default for Events {
    fn default() -> Self {
        Self { framer: SseFramer::default(), gone: 0, tail: *b"\0\n\n" }
    }
}

impl Events {
    fn note(&mut self, bytes: &[u8]) {
        for byte in &bytes[bytes.len().saturating_sub(3)..] {
            self.tail = [self.tail[1], self.tail[2], *byte];
        }
    }

    fn is_between(&self) -> bool {
        // An LF that completes the CR may still follow; before it, another message fits in as well.
        [&b"\n\n"[..], b"\n\r", b"\n\r\n", b"\r\r", b"\r\r\n"].iter().any(|end| self.tail.ends_with(end))
    }

    fn filter(&mut self, bytes: &[u8], keep: AnswerDecision<'_>) -> Vec<u8> {
        if self.framer.pending() == 0 && !self.is_between() {
            // The beginning of this event has already passed. Its last line ends determine where the event ends.
            let tail = self.tail;
            let ends = tail.iter().rev().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
            let begun = [b"x", &tail[tail.len() - ends..]].concat();
            self.framer.push(&begun, |_| {});
            self.gone = self.framer.pending();
        }
        let (mut out, gone) = (Vec::new(), &mut self.gone);
        self.framer.push(bytes, |block| match std::mem::take(gone) {
            0 => out.extend(sifted_block(&block, keep)),
            gone => out.extend_from_slice(block.get(gone..).unwrap_or_default()),
        });
        self.note(&out);
        if self.framer.pending() > MAX_HELD_BYTES {
            out.extend(self.release());
        }
        out
    }

    fn release(&mut self) -> Vec<u8> {
        let (mut out, gone) = (Vec::new(), std::mem::take(&mut self.gone));
        self.framer.finish(|held| out.extend_from_slice(held.get(gone..).unwrap_or_default()));
        self.note(&out);
        out
    }
}

/// The part of an event that passes.
fn sifted_block(block: &[u8], keep: AnswerDecision<'_>) -> Vec<u8> {
    if !may_be_answer(block) {
        return block.to_vec();
    }
    let message = match carried(block) {
        Carried::Nothing => return block.to_vec(),
        Carried::Message(message) => message.to_vec(),
        Carried::Joined(message) => message,
    };
    match keep(&message) {
        Some(rest) if rest == message => block.to_vec(),
        rest => with_data(block, rest.as_deref()),
    }
}

/// WebSocket frames (RFC 6455 §5.2). See [`MessageSplitter`].
pub struct Frames {
    /// Frames from the client, which are masked.
    is_masked: bool,
    /// An incomplete frame header.
    head: Vec<u8>,
    /// The remaining payload bytes of the current frame.
    left: u64,
    /// A fragmented message has begun and its final fragment has not.
    is_fragmented: bool,
    /// A message, or a frame between messages, has begun and not ended.
    has_begun: bool,
    /// The bytes of it that are held back: from its beginning, or none.
    held: Vec<u8>,
    /// A close frame or invalid data has arrived; the rest passes unexamined.
    is_over: bool,
}

impl Frames {
    /// Frames sent by the client (masked) or by the server.
    pub fn new(is_masked: bool) -> Self {
        let (head, held) = (Vec::new(), Vec::new());
        Self { is_masked, head, left: 0, is_fragmented: false, has_begun: false, held, is_over: false }
    }

    fn is_between(&self) -> bool {
        !self.is_over && (!self.has_begun || !self.held.is_empty())
    }

    fn see(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            bytes = &bytes[self.advance(bytes).0..];
        }
    }

    fn filter(&mut self, mut bytes: &[u8], keep: AnswerDecision<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        while !bytes.is_empty() {
            let has_gone = self.has_begun && self.held.is_empty();
            let (length, is_whole) = self.advance(bytes);
            let (part, rest) = bytes.split_at(length);
            bytes = rest;
            self.held.extend_from_slice(part);
            if !is_whole && !has_gone && !self.is_over && self.held.len() <= MAX_HELD_BYTES {
                continue;
            }
            let held = std::mem::take(&mut self.held);
            match is_whole && !has_gone {
                true => out.extend(sifted_frames(held, keep)),
                false => out.extend(held),
            }
        }
        out
    }

    /// Reads up to the end of a message, or of a frame between messages. Returns the number of bytes read and whether
    /// the end was reached.
    fn advance(&mut self, bytes: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while at < bytes.len() && !self.is_over {
            self.has_begun = true;
            if self.left > 0 {
                let there = bytes.len() - at;
                let taken = usize::try_from(self.left).unwrap_or(there).min(there);
                self.left -= taken as u64;
                at += taken;
            } else {
                self.head.push(bytes[at]);
                at += 1;
                match FrameHeader::parse(&mut Cursor::new(&self.head)) {
                    Ok(None) => continue,
                    Ok(Some((header, length))) => {
                        self.head.clear();
                        self.left = length;
                        match header.opcode {
                            OpCode::Data(_) => self.is_fragmented = !header.is_final,
                            OpCode::Control(kind) => self.is_over = kind == Control::Close,
                        }
                    }
                    Err(_) => self.is_over = true,
                }
            }
            if self.left == 0 && !self.is_fragmented && !self.is_over {
                self.has_begun = false;
                return (at, true);
            }
        }
        (bytes.len(), false)
    }
}

/// The part of one message's frames that passes.
fn sifted_frames(frames: Vec<u8>, keep: AnswerDecision<'_>) -> Vec<u8> {
    let (mut message, mut mask, mut others, mut at) = (Vec::new(), None, Vec::new(), 0);
    while at < frames.len() {
        let mut cursor = Cursor::new(&frames[at..]);
        let Ok(Some((header, length))) = FrameHeader::parse(&mut cursor) else { return frames };
        let begin = at + usize::try_from(cursor.position()).unwrap_or(usize::MAX);
        let end = begin + usize::try_from(length).unwrap_or(usize::MAX);
        let Some(payload) = frames.get(begin..end) else { return frames };
        match header.opcode {
            OpCode::Data(_) => {
                let key = header.mask.unwrap_or_default();
                message.extend(payload.iter().zip(key.iter().cycle()).map(|(byte, key)| byte ^ key));
                mask = header.mask;
            }
            OpCode::Control(_) => others.extend_from_slice(&frames[at..end]),
        }
        at = end;
    }
    if !may_be_answer(&message) {
        return frames;
    }
    match keep(&message) {
        Some(rest) if rest == message => frames,
        Some(rest) => [others, frame(&rest, mask)].concat(),
        None => others,
    }
}

/// Encodes a message as one frame.
fn frame(message: &[u8], mask: Option<[u8; 4]>) -> Vec<u8> {
    let kind = if std::str::from_utf8(message).is_ok() { Data::Text } else { Data::Binary };
    let mut frame = Frame::message(message.to_vec(), OpCode::Data(kind), true);
    frame.header_mut().mask = mask;
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = frame.format(&mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OURS: &str = r#"{"id":"mcpreel-0123abcd-1","result":{}}"#;
    const MASK: [u8; 4] = [1, 2, 3, 4];

    /// Removes everything that looks like an answer.
    fn none(_: &[u8]) -> Option<Vec<u8>> {
        None
    }

    fn filter(cut: &mut MessageSplitter, bytes: &[u8]) -> String {
        String::from_utf8_lossy(&cut.filter(bytes, &mut none)).into_owned()
    }

    fn any_events() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let event = prop_oneof![
            Just(b"data: {}\n\n".to_vec()),
            Just(format!("event: message\r\ndata: {OURS}\r\n\r\n").into_bytes()),
            Just(format!("data: {OURS}\n\n").into_bytes()),
            Just(b": ping\n\n".to_vec()),
            Just(b"id: 1\rdata: x\r\r".to_vec()),
            Just(format!("data: {OURS}\r\r").into_bytes()),
            Just(format!("data: {OURS}\n\r").into_bytes()),
            Just(b"\n".to_vec()),
        ];
        prop::collection::vec(event, 0..8)
    }

    fn any_frames(is_masked: bool) -> impl Strategy<Value = Vec<Vec<u8>>> {
        let frame = move |opcode, payload: &[u8], is_final| {
            let mut frame = Frame::message(payload.to_vec(), OpCode::Data(Data::Text), is_final);
            (frame.header_mut().opcode, frame.header_mut().mask) = (opcode, is_masked.then_some(MASK));
            let mut out = Vec::new();
            frame.format(&mut out).expect("a Vec takes all");
            out
        };
        let (text, next) = (OpCode::Data(Data::Text), OpCode::Data(Data::Continue));
        let ping = frame(OpCode::Control(Control::Ping), b"!", true);
        let message = prop_oneof![
            Just(frame(text, b"{}", true)),
            Just(frame(text, &[b'x'; 300], true)),
            Just(frame(text, b"", true)),
            Just(frame(text, OURS.as_bytes(), true)),
            Just([frame(text, b"{", false), ping.clone(), frame(next, b"}", true)].concat()),
            Just([frame(text, &OURS.as_bytes()[..9], false), frame(next, &OURS.as_bytes()[9..], true)].concat()),
            Just(ping),
        ];
        prop::collection::vec(message, 0..8)
    }

    /// Passes messages in chunks and examines only some of them. Returns the output, and whether each position reported
    /// to be between messages was one.
    fn pass(
        mut cut: MessageSplitter,
        messages: &[Vec<u8>],
        chunks: &[(usize, bool)],
        keep: AnswerDecision<'_>,
    ) -> (Vec<u8>, Vec<usize>) {
        let (mut out, mut places) = (Vec::new(), Vec::new());
        let (stream, mut turn) = (messages.concat(), chunks.iter().cycle());
        let mut rest = &stream[..];
        while !rest.is_empty() {
            let (length, looks) = turn.next().expect("a cycle");
            let (chunk, after) = rest.split_at(rest.len().min(*length));
            rest = after;
            if *looks {
                out.extend(cut.filter(chunk, keep));
            } else {
                out.extend(cut.release());
                cut.see(chunk);
                out.extend_from_slice(chunk);
            }
            if cut.is_between() {
                places.push(out.len());
            }
        }
        out.extend(cut.release());
        (out, places)
    }

    fn ends(messages: &[Vec<u8>]) -> Vec<usize> {
        messages
            .iter()
            .scan(0, |at, message| {
                *at += message.len();
                Some(*at)
            })
            .collect()
    }

    fn any_chunks() -> impl Strategy<Value = Vec<(usize, bool)>> {
        prop::collection::vec((1usize..40, any::<bool>()), 1..6)
    }

    proptest! {
        #[test]
        fn events_pass_byte_for_byte_and_others_fit_in_at_their_ends(events in any_events(), chunks in any_chunks()) {
            let (out, places) = pass(MessageSplitter::Events(Events::default()), &events, &chunks, &mut |it| Some(it.to_vec()));
            prop_assert_eq!(&out, &events.concat());
            // An additional empty line is not an event; it may be on either side.
            let is_end = |at: &usize| [0, 1].iter().any(|more| ends(&events).contains(&(at + more)));
            prop_assert!(places.iter().all(|at| *at == 0 || is_end(at)), "{places:?}");
        }

        #[test]
        fn frames_pass_byte_for_byte_and_others_fit_in_at_their_ends(
            (is_masked, messages) in any::<bool>().prop_flat_map(|masked| (Just(masked), any_frames(masked))),
            chunks in any_chunks(),
        ) {
            let keep: AnswerDecision<'_> = &mut |it| Some(it.to_vec());
            let (out, places) = pass(MessageSplitter::Frames(Frames::new(is_masked)), &messages, &chunks, keep);
            prop_assert_eq!(&out, &messages.concat());
            prop_assert!(places.iter().all(|at| *at == 0 || ends(&messages).contains(at)), "{places:?}");
        }

        #[test]
        fn every_answer_is_found_whatever_the_chunks(
            events in any_events(),
            (is_masked, messages) in any::<bool>().prop_flat_map(|masked| (Just(masked), any_frames(masked))),
            length in 1usize..40,
        ) {
            let events_of = events.concat();
            let wanted = String::from_utf8_lossy(&events_of).matches(OURS).count();
            let mut found = 0;
            let mut keep = |message: &[u8]| {
                assert_eq!(message, OURS.as_bytes());
                found += 1;
                None
            };
            let (out, _) = pass(MessageSplitter::Events(Events::default()), &events, &[(length, true)], &mut keep);
            prop_assert_eq!((found, memchr::memmem::find(&out, b"mcpreel-")), (wanted, None));
            let mut found = 0;
            let mut keep = |message: &[u8]| {
                found += usize::from(message == OURS.as_bytes());
                None
            };
            let (out, _) = pass(MessageSplitter::Frames(Frames::new(is_masked)), &messages, &[(length, true)], &mut keep);
            let others: Vec<u8> = messages.iter().filter(|it| !is_ours(it)).flatten().copied().collect();
            prop_assert_eq!(out, others);
            prop_assert_eq!(found, messages.iter().filter(|it| is_ours(it)).count());
        }
    }

    /// Whether the frames contain the answer.
    fn is_ours(frames: &[u8]) -> bool {
        let mut found = false;
        sifted_frames(frames.to_vec(), &mut |message| {
            found = message == OURS.as_bytes();
            None
        });
        found
    }

    #[test]
    fn an_event_that_began_before_anybody_asked_is_let_through() {
        let mut cut = MessageSplitter::Events(Events::default());
        cut.see(b"data: {\"begun\":1}\r\n");
        assert!(!cut.is_between());
        let ours = format!("\r\ndata: {OURS}\r\n\r\ndata: 2");
        assert_eq!(filter(&mut cut, ours.as_bytes()), "\r\n");
        assert!(cut.is_between(), "what is held back has not begun for the client");
        assert_eq!(cut.release(), b"data: 2");
        assert!(!cut.is_between());
    }

    #[test]
    fn what_an_event_says_besides_its_message_stays() {
        let mut cut = MessageSplitter::Events(Events::default());
        assert_eq!(filter(&mut cut, format!("id: 7\nevent: message\ndata: {OURS}\n\n").as_bytes()), "id: 7\n\n");
        let batch = format!("id: 8\ndata: [1,{OURS}]\n\n");
        let cut_out = cut.filter(batch.as_bytes(), &mut |_| Some(b"[1]".to_vec()));
        assert_eq!(cut_out, b"id: 8\ndata: [1]\n\n");
    }

    #[test]
    fn after_a_close_or_what_is_no_frame_nothing_is_put_in_and_all_passes() {
        for last in [&b"\x88\x02\x03\xe8"[..], b"\xff\x00"] {
            let mut cut = MessageSplitter::Frames(Frames::new(false));
            assert!(cut.is_between());
            let all = [last, &frame(OURS.as_bytes(), None)].concat();
            assert_eq!(cut.filter(&all, &mut none), all);
            assert!(cut.is_over() && !cut.is_between());
        }
    }

    #[test]
    fn a_message_is_masked_toward_the_server_only() {
        let (client, server) =
            (MessageSplitter::Frames(Frames::new(true)), MessageSplitter::Frames(Frames::new(false)));
        assert_eq!(server.wrap(b"Hello", MASK), b"\x81\x05Hello");
        let masked = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58];
        assert_eq!(client.wrap(b"Hello", [0x37, 0xfa, 0x21, 0x3d]), masked);
    }
}
