//! A reel: the bytes as they are, or records and payloads inside a valid file (because checksums would stop a fuzzer).
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::trace::format::{PAYLOAD_STORED, STARTS_GROUP, SegmentHeader, SegmentKind};
use mcpreel::testing::trace::{FileHeader, Item, ReelReader};
use std::io::Cursor;

fuzz_target!(|data: &[u8]| {
    let Some((mode, data)) = data.split_first() else { return };
    if mode & 1 == 0 {
        return read(data.to_vec());
    }
    let mut reel = Vec::new();
    FileHeader::default().write(&mut reel).expect("a Vec takes all");
    segment(data, &mut reel);
    read(reel);
});

/// Appends a segment with valid checksums: its head and its records from the bytes, the rest as payload.
fn segment(data: &[u8], reel: &mut Vec<u8>) {
    let Some((head, data)) = data.split_at_checked(8) else { return };
    let (records, payload) = data.split_at(data.len().min(usize::from(head[0])));
    let compressed = zstd::bulk::compress(records, 1).expect("compresses");
    let header = SegmentHeader {
        kind: SegmentKind::Events,
        flags: STARTS_GROUP | PAYLOAD_STORED | head[1],
        first_seq: u64::from(head[2]),
        first_time: i64::from(head[3]) << 55,
        count: u32::from_le_bytes([head[4], head[5], head[6], head[7]]),
        records_raw: records.len() as u32,
        records_len: compressed.len() as u32,
        payload_raw: payload.len() as u32,
        payload_len: payload.len() as u32,
        records_crc: crc32c::crc32c(&compressed),
        payload_crc: crc32c::crc32c(payload),
    };
    reel.extend_from_slice(&header.encode());
    reel.extend_from_slice(&compressed);
    reel.extend_from_slice(payload);
}

fn read(bytes: Vec<u8>) {
    let Ok(reader) = ReelReader::from_stream(Box::new(Cursor::new(bytes))) else { return };
    let mut reader = reader.with_payloads();
    while let Ok(Some(item)) = reader.next() {
        let Item::Block(block) = item else { continue };
        for event in block.events() {
            let is_whole = event.payload.len() == event.header.len as usize;
            assert!(is_whole || event.header.flags.has(mcpreel::testing::trace::Flags::TRUNCATED));
            let message = event.header.message.as_ref();
            let method = message.and_then(|message| message.method);
            assert!(method.is_none_or(|number| reader.methods().get(number as usize).is_some()));
        }
        reader.recycle(block);
    }
}
