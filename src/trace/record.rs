//! Event headers as CBOR arrays, in the record part of a segment.
//!
//! `[kind, Δtime, stream, flags, framing, length]`; messages also have `message kind, method, id`; the `exchange` comes
//! last. Trailing nulls are left out. A piece of a message has one more item: how many events ago its first piece was.
//! A method is written as text the first time in a group, and as its number in the group from then on.

use super::cbor::{major, push_head, push_text};
use super::event::{EventHeader, EventKind, Flags, MessageHeader, RecordedId};
use crate::wire::{Envelope, Framing, Id, MessageKind};
use std::collections::HashMap;

/// What the writer knows about an event when it encodes its record.
pub(super) struct RecordInput<'a> {
    pub kind: EventKind,
    pub time_delta: i64,
    pub stream: u32,
    pub exchange: u32,
    pub flags: Flags,
    pub framing: Framing,
    pub len: u32,
    pub envelope: Option<&'a Envelope<'a>>,
    /// For a piece of a message: how many events ago its first piece was.
    pub back: Option<u64>,
}

/// An event that is a piece of a longer message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// The number of the event.
    pub seq: u64,
    /// The number of the first piece.
    pub first: u64,
}

/// The numbers of the methods in a group that is being written.
#[derive(Debug, Default)]
pub(super) struct MethodTable(HashMap<Box<str>, u32, foldhash::fast::RandomState>);

impl MethodTable {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Methods and ids of more bytes than this are left out of headers, so that no peer can fill them. The payload has
/// them.
pub(super) const MAX_NAME_BYTES: usize = 512;

/// Returns the method of an envelope, if it is short enough for a header.
pub(super) fn kept_method<'a>(envelope: &'a Envelope<'_>) -> Option<&'a str> {
    envelope.method.as_deref().filter(|method| method.len() <= MAX_NAME_BYTES)
}

/// Appends the record of an event to `out`.
pub(super) fn encode(input: &RecordInput<'_>, methods: &mut MethodTable, out: &mut Vec<u8>) {
    let method = input.envelope.and_then(kept_method);
    let id = input.envelope.and_then(|envelope| envelope.id).filter(|id| id.0.len() <= MAX_NAME_BYTES);
    let back = input.back.filter(|_| input.envelope.is_some());
    let exchange = (input.exchange != 0 || back.is_some()).then_some(input.exchange);
    let items = match (input.envelope, id, method, exchange) {
        (Some(_), _, _, Some(_)) if back.is_some() => 11,
        (None, _, _, None) => 6,
        (None, _, _, Some(_)) => 7,
        (Some(_), _, _, Some(_)) => 10,
        (Some(_), Some(_), _, None) => 9,
        (Some(_), None, Some(_), None) => 8,
        (Some(_), None, None, None) => 7,
    };
    push_head(out, major::ARRAY, items);
    push_head(out, major::POSITIVE, u64::from(input.kind.number()));
    push_integer(out, input.time_delta);
    push_head(out, major::POSITIVE, u64::from(input.stream));
    push_head(out, major::POSITIVE, u64::from(input.flags.0));
    push_head(out, major::POSITIVE, input.framing as u64);
    push_head(out, major::POSITIVE, u64::from(input.len));
    if let Some(envelope) = input.envelope {
        push_head(out, major::POSITIVE, envelope.kind as u64);
        if items > 7 {
            push_method(out, method, methods);
        }
        if items > 8 {
            push_id(out, id);
        }
    }
    if let Some(exchange) = exchange {
        push_head(out, major::POSITIVE, u64::from(exchange));
    }
    if let Some(back) = back {
        push_head(out, major::POSITIVE, back);
    }
}

fn push_method(out: &mut Vec<u8>, method: Option<&str>, methods: &mut MethodTable) {
    let Some(method) = method else { return push_head(out, major::OTHER, NULL) };
    if let Some(number) = methods.0.get(method) {
        return push_head(out, major::POSITIVE, u64::from(*number));
    }
    let number = u32::try_from(methods.0.len()).unwrap_or(u32::MAX);
    methods.0.insert(method.into(), number);
    push_text(out, method);
}

fn push_id(out: &mut Vec<u8>, id: Option<Id<'_>>) {
    match id.map(|id| (id, id.as_integer())) {
        None => push_head(out, major::OTHER, NULL),
        Some((_, Some(number))) => push_integer(out, number),
        Some((id, None)) => {
            push_head(out, major::BYTES, id.0.len() as u64);
            out.extend_from_slice(id.0);
        }
    }
}

fn push_integer(out: &mut Vec<u8>, number: i64) {
    match u64::try_from(number) {
        Ok(number) => push_head(out, major::POSITIVE, number),
        Err(_) => push_head(out, major::NEGATIVE, !number as u64),
    }
}

/// The method names of a reel by number; each group has its own numbers.
#[derive(Debug, Default)]
pub(super) struct Methods {
    names: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u32, foldhash::fast::RandomState>,
    group: Vec<u32>,
}

impl Methods {
    /// Returns all names so far; the method of an [`EventHeader`] is an index into them.
    pub(super) fn names(&self) -> &[Box<str>] {
        &self.names
    }

    pub(super) fn start_group(&mut self) {
        self.group.clear();
    }

    fn define(&mut self, name: &str) -> u32 {
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
                self.names.push(name.into());
                self.numbers.insert(name.into(), number);
                number
            }
        };
        self.group.push(number);
        number
    }
}

/// What a decoder carries over from one record to the next.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Position {
    pub seq: u64,
    pub time: i64,
    pub offset: usize,
}

/// Decodes the records of one segment into `out`. Returns `None` if they do not conform to the format.
pub(super) fn decode(
    mut records: &[u8],
    count: u32,
    position: &mut Position,
    methods: &mut Methods,
    out: &mut Vec<EventHeader>,
    pieces: &mut Vec<Piece>,
) -> Option<()> {
    // The claimed count is trusted only as far as there are bytes for it: a record takes at least seven.
    out.reserve((count as usize).min(records.len() / 7));
    for _ in 0..count {
        let mut reader = Fields { bytes: records };
        let header = reader.record(position, methods, pieces)?;
        records = reader.bytes;
        position.offset = position.offset.checked_add(header.len as usize)?;
        position.time = header.time;
        position.seq = position.seq.checked_add(1)?;
        out.push(header);
    }
    records.is_empty().then_some(())
}

/// The argument of null, which has the major type [`major::OTHER`].
const NULL: u64 = 22;

struct Fields<'a> {
    bytes: &'a [u8],
}

impl<'a> Fields<'a> {
    fn record(&mut self, position: &Position, methods: &mut Methods, pieces: &mut Vec<Piece>) -> Option<EventHeader> {
        let items = match self.head()? {
            (major::ARRAY, items @ 6..=32) => items,
            _ => return None,
        };
        let kind = EventKind::from_number(u8::try_from(self.unsigned()?).ok()?);
        let time = position.time.checked_add(self.signed()?)?;
        let stream = u32::try_from(self.unsigned()?).ok()?;
        let flags = Flags(u16::try_from(self.unsigned()?).ok()?);
        let framing = Framing::from_number(u8::try_from(self.unsigned()?).ok()?)?;
        let len = u32::try_from(self.unsigned()?).ok()?;
        let mut left = items - 6;
        let message =
            if kind == EventKind::Message && left > 0 { Some(self.message(&mut left, methods)?) } else { None };
        let mut exchange = 0;
        if left > 0 {
            left -= 1;
            exchange = u32::try_from(self.unsigned()?).ok()?;
        }
        if left > 0 && message.is_some() {
            left -= 1;
            pieces.push(Piece { seq: position.seq, first: position.seq.checked_sub(self.unsigned()?)? });
        }
        for _ in 0..left {
            self.skip_one(0)?;
        }
        Some(EventHeader {
            seq: position.seq,
            time,
            stream,
            exchange,
            kind,
            flags,
            framing,
            len,
            offset: position.offset,
            message,
        })
    }

    fn message(&mut self, left: &mut u64, methods: &mut Methods) -> Option<MessageHeader> {
        let kind = MessageKind::from_number(u8::try_from(self.unsigned()?).ok()?)?;
        *left -= 1;
        let mut message = MessageHeader { kind, method: None, id: None };
        if *left > 0 {
            *left -= 1;
            message.method = match self.head()? {
                (major::POSITIVE, number) => Some(*methods.group.get(usize::try_from(number).ok()?)?),
                (major::TEXT, length) => Some(methods.define(std::str::from_utf8(self.take(length)?).ok()?)),
                (major::OTHER, NULL) => None,
                _ => return None,
            };
        }
        if *left > 0 {
            *left -= 1;
            message.id = match self.head()? {
                (major::POSITIVE, number) => Some(RecordedId::Integer(i64::try_from(number).ok()?)),
                (major::NEGATIVE, number) => Some(RecordedId::Integer(-1 - i64::try_from(number).ok()?)),
                (major::BYTES, length) => Some(RecordedId::Text(self.take(length)?.into())),
                (major::OTHER, NULL) => None,
                _ => return None,
            };
        }
        Some(message)
    }

    /// Reads the major type and the argument of the next item (RFC 8949, section 3). Items of indefinite length are not
    /// allowed in a record.
    #[inline(always)]
    fn head(&mut self) -> Option<(u8, u64)> {
        let (first, rest) = self.bytes.split_first()?;
        let (major, info) = (first >> 5, first & 0x1f);
        if info < 24 {
            self.bytes = rest;
            return Some((major, u64::from(info)));
        }
        if info > 27 {
            return None;
        }
        // The same code for all widths: they cannot be predicted, and a mispredicted branch costs more than a shift.
        let width = 1usize << (info - 24);
        let eight = match rest.first_chunk::<8>() {
            Some(eight) => *eight,
            None => {
                let mut padded = [0; 8];
                padded[..width].copy_from_slice(rest.get(..width)?);
                padded
            }
        };
        self.bytes = rest.get(width..)?;
        Some((major, u64::from_be_bytes(eight) >> (64 - 8 * width)))
    }

    #[inline]
    fn unsigned(&mut self) -> Option<u64> {
        match self.head()? {
            (major::POSITIVE, number) => Some(number),
            _ => None,
        }
    }

    #[inline]
    fn signed(&mut self) -> Option<i64> {
        match self.head()? {
            (major::POSITIVE, number) => i64::try_from(number).ok(),
            (major::NEGATIVE, number) => Some(-1 - i64::try_from(number).ok()?),
            _ => None,
        }
    }

    fn take(&mut self, length: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(usize::try_from(length).ok()?)?;
        self.bytes = rest;
        Some(taken)
    }

    /// Skips one item that a newer minor version may have added.
    fn skip_one(&mut self, depth: u8) -> Option<()> {
        const MAX_DEPTH: u8 = 16;
        if depth > MAX_DEPTH {
            return None;
        }
        // Each item takes at least one byte, so this ends with the bytes, however many items are claimed.
        match self.head()? {
            (major::BYTES | major::TEXT, length) => self.take(length).map(|_| ()),
            (major::ARRAY, items) => (0..items).try_for_each(|_| self.skip_one(depth + 1)),
            (major::MAP, items) => (0..items.checked_mul(2)?).try_for_each(|_| self.skip_one(depth + 1)),
            (major::TAG, _) => self.skip_one(depth + 1),
            _ => Some(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_written_as_in_the_examples_of_rfc_8949() {
        for (number, bytes) in [
            (0, "00"),
            (23, "17"),
            (24, "1818"),
            (100, "1864"),
            (255, "18ff"),
            (256, "190100"),
            (1000, "1903e8"),
            (1_000_000, "1a000f4240"),
            (1_000_000_000_000, "1b000000e8d4a51000"),
            (-1, "20"),
            (-10, "29"),
            (-100, "3863"),
            (-1000, "3903e7"),
            (i64::MIN, "3b7fffffffffffffff"),
        ] {
            let mut out = Vec::new();
            push_integer(&mut out, number);
            assert_eq!(out.iter().map(|byte| format!("{byte:02x}")).collect::<String>(), bytes, "{number}");
            assert_eq!(Fields { bytes: &out }.signed(), Some(number));
        }
    }

    #[test]
    fn a_method_is_text_a_number_or_nothing() {
        let envelope = Envelope::scan(br#"{"jsonrpc":"2.0","id":5,"result":{}}"#);
        let (kind, flags, framing) = (EventKind::Message, Flags::default(), Framing::Lf);
        let input = RecordInput {
            kind,
            time_delta: 0,
            stream: 0,
            exchange: 0,
            flags,
            framing,
            len: 0,
            envelope: Some(&envelope),
            back: None,
        };
        let mut record = Vec::new();
        encode(&input, &mut MethodTable::default(), &mut record);
        let read = |record: &[u8]| {
            let mut out = Vec::new();
            decode(record, 1, &mut Position::default(), &mut Methods::default(), &mut out, &mut Vec::new())?;
            Some(out)
        };
        assert!(read(&record).is_some());
        // An array in place of the method; its item must not be taken for the id.
        let place = record.iter().rposition(|byte| *byte == 0xf6).expect("a null");
        record[place] = 0x81;
        assert!(read(&record).is_none());
    }
}
