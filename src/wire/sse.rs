//! Server-sent events as bytes: splits a stream into event blocks, and reads the fields of a block.
//!
//! Blocks are kept verbatim with their blank line, so comments, ids, `retry` and unusual spellings survive.

use super::text::BYTE_ORDER_MARK;
use std::borrow::Cow;

/// Splits an event stream into blocks that end with a blank line. Accepts chunks of any size.
///
/// A block ends with the CR of a blank line, because an event must not wait for the next one. If an LF follows in a
/// later chunk, it completes that line end, and begins the next block.
#[derive(Debug, Default)]
pub struct SseFramer {
    carry: Vec<u8>,
    /// The length of the prefix of `carry` that contains no end of a block.
    searched: usize,
    /// The last block ended with a CR that was the last byte so far.
    ended_with_cr: bool,
}

impl SseFramer {
    /// Processes the next chunk, and passes each complete block, including its blank line, to `sink`. A large block is
    /// moved out: it can be most of the memory of a recording, and the stream may go on for days.
    pub fn push(&mut self, chunk: &[u8], mut sink: impl FnMut(Cow<'_, [u8]>)) {
        const LARGE: usize = 64 << 10;
        self.carry.extend_from_slice(chunk);
        let (mut start, mut begin) = (0, self.begin());
        while let Some(end) = block_end(&self.carry, begin, self.searched.max(begin)) {
            self.ended_with_cr = end == self.carry.len() && self.carry.ends_with(b"\r");
            if start == 0 && end == self.carry.len() && end > LARGE {
                self.searched = 0;
                return sink(std::mem::take(&mut self.carry).into());
            }
            sink(self.carry[start..end].into());
            (start, begin) = (end, end);
            self.searched = end;
        }
        self.carry.drain(..start);
        // Do not shrink the buffer while an event is still growing.
        if start > 0 && self.carry.capacity() > 4 * LARGE {
            self.carry.shrink_to(LARGE);
        }
        // The last bytes may be the beginning of a block's end: a line end of up to two bytes.
        self.searched = self.carry.len().saturating_sub(2);
    }

    /// Where the lines of the next block begin: after the LF that completes the last block's line end.
    fn begin(&self) -> usize {
        usize::from(self.ended_with_cr && self.carry.starts_with(b"\n"))
    }

    /// Ends the stream: emits what is left, although no blank line ended it.
    pub fn finish(&mut self, mut sink: impl FnMut(Cow<'_, [u8]>)) {
        if !self.carry.is_empty() {
            sink(std::mem::take(&mut self.carry).into());
        }
        (self.searched, self.ended_with_cr) = (0, false);
    }

    /// Returns the number of bytes that wait for the rest of their block.
    pub fn pending(&self) -> usize {
        self.carry.len()
    }
}

/// Returns the position just after the line end at `at` (LF, CR LF or CR), if there is one.
fn line_end(text: &[u8], at: usize) -> Option<usize> {
    match (text.get(at)?, text.get(at + 1)) {
        (b'\r', Some(b'\n')) => Some(at + 2),
        (b'\n' | b'\r', _) => Some(at + 1),
        _ => None,
    }
}

/// Returns the position just after the blank line that ends the block at `start`. The search begins at `from`.
fn block_end(text: &[u8], start: usize, from: usize) -> Option<usize> {
    if let Some(end) = line_end(text, start) {
        return Some(end);
    }
    let mut at = from;
    loop {
        at += memchr::memchr2(b'\n', b'\r', text.get(at..)?)?;
        let first = line_end(text, at)?;
        if let Some(end) = line_end(text, first) {
            return Some(end);
        }
        at = first;
    }
}

/// The fields of one block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// The `event` field: the event's type.
    pub event: Option<Cow<'a, str>>,
    /// The `id` field.
    pub id: Option<Cow<'a, str>>,
    /// The `retry` field in milliseconds, if it is a number.
    pub retry: Option<u64>,
    /// The `data` lines joined by LF; `None` if there are none.
    pub data: Option<Vec<u8>>,
    /// Comment lines, without their colon.
    pub comments: Vec<Cow<'a, str>>,
}

impl<'a> SseEvent<'a> {
    /// Parses one block. Unknown fields are ignored, as the standard requires.
    pub fn parse(block: &'a [u8]) -> Self {
        let mut found = Self::default();
        for line in lines(block) {
            let (name, value) = match memchr::memchr(b':', line) {
                Some(colon) => (&line[..colon], line[colon + 1..].strip_prefix(b" ").unwrap_or(&line[colon + 1..])),
                None => (line, &b""[..]),
            };
            match name {
                b"" if line.is_empty() => {}
                b"" => found.comments.push(String::from_utf8_lossy(value)),
                b"event" => found.event = Some(String::from_utf8_lossy(value)),
                b"id" if !value.contains(&0) => found.id = Some(String::from_utf8_lossy(value)),
                b"retry" => found.retry = std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok()),
                b"data" => match &mut found.data {
                    Some(data) => {
                        data.push(b'\n');
                        data.extend_from_slice(value);
                    }
                    None => found.data = Some(value.to_vec()),
                },
                _ => {}
            }
        }
        found
    }
}

/// The message in a block, if any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Carried<'a> {
    /// One message on a single line of data, as it is in the block.
    Message(&'a [u8]),
    /// One message whose data was on several lines, joined by LF.
    Joined(Vec<u8>),
    /// No message: comments, `retry`, an id with empty data that only enables a resumption, or an event of another
    /// type.
    Nothing,
}

/// Finds the message in a block. A message is an event without a type, or of type `message`.
pub(crate) fn carried(block: &[u8]) -> Carried<'_> {
    let mut data = data_lines(block);
    let (first, second) = (data.next().unwrap_or_default(), data.next());
    if second.is_none() && first.trim_ascii().is_empty() {
        return Carried::Nothing;
    }
    match (values(block, b"event").last().unwrap_or_default(), second) {
        (b"" | b"message", None) => Carried::Message(first),
        (b"" | b"message", Some(_)) => Carried::Joined(SseEvent::parse(block).data.unwrap_or_default()),
        _ => Carried::Nothing,
    }
}

/// Replaces the data of a block. Without data there is no event, so only the other fields remain: id, `retry` and
/// comments. The result may be empty.
pub(crate) fn with_data(block: &[u8], data: Option<&[u8]>) -> Vec<u8> {
    let is_event = |line: &[u8]| {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        name == b"data" || data.is_none() && name == b"event"
    };
    let kept = lines(block).filter(|line| !line.is_empty() && !is_event(line)).map(|line| [line, b"\n"].concat());
    let data = data.map(|data| [b"data: ", data, b"\n"].concat());
    let mut said = kept.chain(data).collect::<Vec<_>>().concat();
    if !said.is_empty() {
        said.push(b'\n');
    }
    said
}

/// Iterates over the values of a block's `data` lines.
pub(crate) fn data_lines(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    values(block, b"data")
}

/// Iterates over the values of a block's lines with this field name.
fn values<'b>(block: &'b [u8], name: &'static [u8]) -> impl Iterator<Item = &'b [u8]> {
    lines(block).filter_map(move |line| {
        let value = line.strip_prefix(name)?;
        match value.strip_prefix(b":") {
            Some(value) => Some(value.strip_prefix(b" ").unwrap_or(value)),
            None => value.is_empty().then_some(value),
        }
    })
}

/// Iterates over the lines of a block, without their ends.
fn lines(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = block.strip_prefix(BYTE_ORDER_MARK).unwrap_or(block);
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let line = &rest[..end];
        let after = match rest.get(end..end + 2) {
            Some(b"\r\n") => end + 2,
            _ => (end + 1).min(rest.len()),
        };
        rest = &rest[after..];
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn blocks(chunks: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut framer = SseFramer::default();
        let mut out = Vec::new();
        for chunk in chunks {
            framer.push(chunk, |block| out.push(block.into_owned()));
        }
        framer.finish(|block| out.push(block.into_owned()));
        out
    }

    #[test]
    fn blocks_are_verbatim_and_fields_are_read() {
        let stream =
            b": ping\n\nid: 7\r\nevent: message\r\ndata: {\"a\":\r\ndata:1}\r\nretry: 250\r\n\r\ndata: x\n\ntail";
        let found = blocks(&[stream]);
        assert_eq!(found.len(), 4);
        assert_eq!(found.concat(), stream);
        assert_eq!(SseEvent::parse(&found[0]).comments, ["ping"]);
        let event = SseEvent::parse(&found[1]);
        assert_eq!(event.id.as_deref(), Some("7"));
        assert_eq!(event.event.as_deref(), Some("message"));
        assert_eq!(event.retry, Some(250));
        assert_eq!(event.data.as_deref(), Some(&b"{\"a\":\n1}"[..]));
    }

    #[test]
    fn a_large_block_is_given_away_and_leaves_no_large_buffer() {
        let large = format!("data: {}\r\n\r\n", "x".repeat(1 << 20)).into_bytes();
        for (after, is_given) in [(&b""[..], true), (b": ping\n\nda", false)] {
            let stream = [&large, after].concat();
            for cut in [0, 1000, large.len() - 2, large.len() - 3] {
                let mut framer = SseFramer::default();
                let (mut found, mut given) = (Vec::new(), false);
                let mut take = |block: Cow<'_, [u8]>| {
                    given |= matches!(block, Cow::Owned(_));
                    found.push(block.into_owned());
                };
                framer.push(&stream[..cut], &mut take);
                framer.push(&stream[cut..], &mut take);
                assert!(framer.carry.capacity() < 1 << 20, "{cut}: {}", framer.carry.capacity());
                framer.push(b"ta: y\n\n", &mut take);
                assert!(found[0] == large && found.concat() == [&stream[..], b"ta: y\n\n"].concat(), "{cut}");
                assert_eq!((given, framer.pending()), (is_given, 0), "{cut}");
            }
        }
    }

    #[test]
    fn the_buffer_of_a_growing_event_is_seldom_made_anew() {
        let mut framer = SseFramer::default();
        let mut capacities = std::collections::BTreeSet::new();
        for _ in 0..1000 {
            framer.push(&[b'x'; 4096], |_| panic!("no block has ended"));
            capacities.insert(framer.carry.capacity());
        }
        assert!(capacities.len() < 20, "{capacities:?}");
    }

    #[test]
    fn a_priming_event_has_empty_data() {
        let event = SseEvent::parse(b"id: abc\ndata: \n\n");
        assert_eq!((event.id.as_deref(), event.data.as_deref()), (Some("abc"), Some(&b""[..])));
    }

    #[test]
    fn a_block_carries_one_message_or_none() {
        for nothing in
            [": ping\n\n", "id: 1\ndata: \n\n", "event: endpoint\ndata: /m\n\n", "retry: 5\n\n", "\n", "data\n\n"]
        {
            assert_eq!(carried(nothing.as_bytes()), Carried::Nothing, "{nothing:?}");
        }
        for one in ["data: {}\n\n", "id: 7\nevent: message\ndata:{}\n\n", ": c\r\ndata: {}\r\nevent:\r\n\r\n"] {
            assert_eq!(carried(one.as_bytes()), Carried::Message(b"{}"), "{one:?}");
        }
        assert_eq!(carried(b"data: {\ndata: }\n\n"), Carried::Joined(b"{\n}".to_vec()));
    }

    #[test]
    fn data_is_replaced_and_what_else_a_block_says_stays() {
        let block = b": c\r\nid: 7\r\nevent: message\r\ndata: {\r\ndata: }\r\nretry: 5\r\n\r\n";
        assert_eq!(with_data(block, Some(b"[]")), b": c\nid: 7\nevent: message\nretry: 5\ndata: []\n\n");
        assert_eq!(with_data(block, None), b": c\nid: 7\nretry: 5\n\n");
        assert!(with_data(b"event: message\ndata: {}\n\n", None).is_empty());
    }

    /// The messages of a stream up to here, read character by character as the HTML Standard says (§9.2.6).
    fn dispatched(text: &str) -> Vec<String> {
        let (mut events, mut data, mut line) = (Vec::new(), None::<String>, String::new());
        let mut before = ' ';
        for next in text.chars() {
            match (before, next) {
                ('\r', '\n') => {}
                (_, '\r' | '\n') if line.is_empty() => events.extend(data.take().filter(|data| !data.is_empty())),
                (_, '\r' | '\n') => {
                    let line = std::mem::take(&mut line);
                    if let Some(value) = line.strip_prefix("data:") {
                        let value = value.strip_prefix(' ').unwrap_or(value);
                        data = Some(data.map_or_else(|| value.to_owned(), |data| format!("{data}\n{value}")));
                    }
                }
                _ => line.push(next),
            }
            before = next;
        }
        events
    }

    fn messages(blocks: &[Vec<u8>]) -> Vec<String> {
        let data = blocks.iter().filter_map(|block| SseEvent::parse(block).data).filter(|data| !data.is_empty());
        data.map(|data| String::from_utf8(data).expect("text")).collect()
    }

    #[test]
    fn an_event_is_there_with_the_first_byte_that_ends_it() {
        for end in ["\r", "\n", "\r\n"] {
            for blank in ["\r", "\n", "\r\n"] {
                // CR and LF are one line end.
                if (end, blank) == ("\r", "\n") {
                    continue;
                }
                let mut framer = SseFramer::default();
                let mut found = Vec::new();
                let (first, rest) = blank.split_at(1);
                framer.push(format!("data: 1{end}{first}").as_bytes(), |block| found.push(block.into_owned()));
                assert_eq!(messages(&found), ["1"], "{end:?} {blank:?}");
                framer.push(format!("{rest}data: 2{end}{blank}").as_bytes(), |block| found.push(block.into_owned()));
                assert_eq!(messages(&found), ["1", "2"], "{end:?} {blank:?}");
                framer.finish(|block| panic!("nothing is left: {block:?}"));
            }
        }
    }

    #[test]
    fn a_line_end_in_two_chunks_is_one() {
        let halves = [&b"data: 1\r"[..], b"\ndata: 2\r", b"\n", b"\r", b"\n", b"data: 3\r\n\r", b"\n"];
        let found = blocks(&halves);
        assert_eq!(found, [&b"data: 1\r\ndata: 2\r\n\r"[..], b"\ndata: 3\r\n\r", b"\n"]);
        assert_eq!(messages(&found), ["1\n2", "3"]);
        // One CR ends no event.
        let mut framer = SseFramer::default();
        framer.push(b"data: 1\r", |block| panic!("the event goes on: {block:?}"));
    }

    proptest! {
        #[test]
        fn blocks_written_back_are_the_stream(text in r"(data: ?[a-z]{0,5}|:|id: 1|\n|\r|\r\n){0,20}", cut in 1usize..7) {
            let chunks: Vec<&[u8]> = text.as_bytes().chunks(cut).collect();
            prop_assert_eq!(blocks(&chunks).concat(), text.as_bytes());
        }

        #[test]
        fn events_come_with_the_bytes_that_end_them(text in r"(data: ?[a-z]{0,3}|:|id: 1|\n|\r|\r\n|\r\r){0,20}", cut in 1usize..7) {
            let (mut framer, mut found) = (SseFramer::default(), Vec::new());
            for (number, chunk) in text.as_bytes().chunks(cut).enumerate() {
                framer.push(chunk, |block| found.push(block.into_owned()));
                let so_far = &text[..(number * cut + cut).min(text.len())];
                prop_assert_eq!(messages(&found), dispatched(so_far), "{:?}", so_far);
            }
        }

        #[test]
        fn any_block_is_read(block in prop::collection::vec(any::<u8>(), 0..100)) {
            SseEvent::parse(&block);
        }
    }
}
