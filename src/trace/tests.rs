//! Tests of whole reels: what was written can be read, whatever happens to the file.

mod index;
mod joining;

use super::index::Groups;
use super::rebuild::build_index;
use super::*;
use crate::wire::{Direction, Framing, MessageKind};
use proptest::prelude::*;
use std::path::PathBuf;

type Stored = (i64, u32, EventKind, Direction, Framing, Vec<u8>);

fn small_groups() -> WriterOptions {
    WriterOptions { group_bytes: 200, segment_bytes: 80, ..WriterOptions::default() }
}

fn write(events: &[Stored], options: WriterOptions) -> Vec<u8> {
    let header = FileHeader { created: 1_790_000_000_000_000_000, tool: "test".into(), ..FileHeader::default() };
    let mut writer = ReelWriter::create(Vec::new(), &header, options).expect("a Vec takes all");
    for (number, (time, stream, kind, direction, framing, payload)) in events.iter().enumerate() {
        writer.store_payloads(number % 7 == 3);
        let flags = Flags::toward(*direction);
        let event = NewEvent {
            time: *time,
            stream: *stream,
            exchange: *stream / 2,
            kind: *kind,
            flags,
            framing: *framing,
            payload,
        };
        writer.append(event).expect("a Vec takes all");
    }
    writer.finish().expect("a Vec takes all").0
}

/// Keeps a reel's folder as long as it is needed.
struct TempReel {
    _folder: tempfile::TempDir,
}

impl TempReel {
    fn of(bytes: &[u8]) -> (Self, PathBuf) {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("a.reel");
        std::fs::write(&path, bytes).expect("the reel is written");
        (Self { _folder: dir }, path)
    }
}

/// Reads everything in a reel: events with their numbers, and damage.
fn read(reader: ReelReader) -> (Vec<(u64, Stored)>, Vec<Damage>) {
    read_joined(reader.in_pieces())
}

/// Reads everything that a reader finds: events with their numbers, and damage.
fn read_joined(reader: ReelReader) -> (Vec<(u64, Stored)>, Vec<Damage>) {
    let mut reader = reader.with_payloads();
    let (mut events, mut damages) = (Vec::new(), Vec::new());
    while let Some(item) = reader.next().expect("reading works") {
        match item {
            Item::Damage(damage) => damages.push(damage),
            Item::Block(block) => {
                for event in block.events() {
                    let head = event.header;
                    let stored =
                        (head.time, head.stream, head.kind, head.direction(), head.framing, event.payload.to_vec());
                    events.push((head.seq, stored));
                }
                reader.recycle(block);
            }
        }
    }
    (events, damages)
}

fn from_bytes(bytes: &[u8]) -> Result<ReelReader, FormatError> {
    ReelReader::from_stream(Box::new(std::io::Cursor::new(bytes.to_vec())))
}

fn sample() -> Vec<Stored> {
    (0..40u32)
        .map(|number| {
            let direction = if number % 2 == 0 { Direction::ClientToServer } else { Direction::ServerToClient };
            let (kind, payload) = match number % 5 {
                0 => (EventKind::Message, format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call"}}"#)),
                1 => (EventKind::Message, format!(r#"{{"jsonrpc":"2.0","id":"n{number}","result":{{}}}}"#)),
                2 => (EventKind::Message, "{broken \u{e9}".to_owned() + &"x".repeat(number as usize * 5)),
                3 => (EventKind::Stderr, format!("line {number}\n")),
                _ => (EventKind::Unknown(77), String::new()),
            };
            (i64::from(number) * 1000, number % 3, kind, direction, Framing::Lf, payload.into_bytes())
        })
        .collect()
}

#[test]
fn headers_report_kind_method_and_id_without_payloads() {
    let (_dir, path) = TempReel::of(&write(&sample(), small_groups()));
    let mut reader = ReelReader::open(&path).expect("a reel");
    let mut seen = Vec::new();
    while let Some(Item::Block(block)) = reader.next().expect("reading works") {
        assert!(!block.is_loaded());
        for header in block.headers.iter().filter(|header| header.message.is_some()) {
            let message = header.message.as_ref().expect("filtered");
            let method = message.method.map(|number| reader.methods()[number as usize].to_string());
            seen.push((message.kind, method, message.id.as_ref().map(RecordedId::key)));
        }
    }
    assert_eq!(seen[0].0, MessageKind::Request);
    assert_eq!(seen[0].1.as_deref(), Some("tools/call"));
    assert_eq!(seen[1], (MessageKind::Result, None, Some(crate::wire::IdKey::Text("n1".into()))));
    assert_eq!(seen[2].0, MessageKind::Malformed);
}

#[test]
fn payloads_are_loaded_on_demand_for_any_block_of_a_group() {
    let bytes = write(&sample(), WriterOptions { group_bytes: 1 << 20, segment_bytes: 100, ..small_groups() });
    let (_dir, path) = TempReel::of(&bytes);
    let mut reader = ReelReader::open(&path).expect("a reel");
    let mut number = 0;
    while let Some(Item::Block(mut block)) = reader.next().expect("reading works") {
        number += 1;
        if number % 3 == 0 {
            reader.load_payload(&mut block).expect("reading works").expect("no damage");
            for event in block.events() {
                assert_eq!(event.payload, sample()[event.header.seq as usize].5);
            }
        }
    }
    assert!(number > 6);
}

#[test]
fn a_scan_builds_the_index_that_the_writer_wrote() {
    let (_dir, path) = TempReel::of(&write(&sample(), small_groups()));
    let mut reader = ReelReader::open(&path).expect("a reel");
    let footer = reader.index().expect("reading works").expect("a sound index").expect("a footer").clone();
    let (scanned, damages) = build_index(ReelReader::open(&path).expect("a reel")).expect("reading works");
    assert_eq!(damages, []);
    assert_eq!(scanned, footer);
    assert!(footer.groups.len() > 3);
    assert_eq!(footer.methods["tools/call"].0, 8);
}

#[test]
fn seeking_finds_the_group_with_and_without_an_index() {
    let bytes = write(&sample(), small_groups());
    let (_dir, path) = TempReel::of(&bytes);
    let (_cut, no_index) = TempReel::of(&bytes[..bytes.len() - 1]);
    for path in [path, no_index] {
        for seq in [0u64, 1, 17, 39] {
            for by_time in [false, true] {
                let mut reader = ReelReader::open(&path).expect("a reel");
                if by_time {
                    reader.seek_time(seq as i64 * 1000).expect("seeking works");
                } else {
                    reader.seek_seq(seq).expect("seeking works");
                }
                let (events, _) = read(reader);
                assert!(events[0].0 <= seq && seq - events[0].0 < 15, "{} for {seq}", events[0].0);
                assert!(events.iter().any(|event| event.0 == seq));
            }
        }
    }
}

#[test]
fn large_blocks_are_read_ahead_one_by_one_whether_they_are_given_back_or_not() {
    let payload = |number: usize| vec![b'a' + number as u8 % 26; if number.is_multiple_of(3) { 700 << 10 } else { 20 }];
    let events: Vec<Stored> = (0..20)
        .map(|at| (at, 1, EventKind::Message, Direction::ClientToServer, Framing::Lf, payload(at as usize)))
        .collect();
    let bytes = write(&events, WriterOptions::default());
    for gives_back in [true, false] {
        let reader = from_bytes(&bytes).expect("a reel").with_payloads();
        let mut reader = AheadReader::start(reader).expect("a thread");
        let mut found = 0;
        while let Some(item) = reader.next().expect("reading works") {
            let Item::Block(block) = item else { panic!("{item:?}") };
            for event in block.events() {
                assert!(event.payload == payload(found), "event {found}");
                found += 1;
            }
            if gives_back {
                reader.recycle(block);
            }
        }
        assert_eq!(found, events.len());
    }
    // A reader that is dropped before the end leaves no waiting thread.
    let mut reader = AheadReader::start(from_bytes(&bytes).expect("a reel").with_payloads()).expect("a thread");
    assert!(matches!(reader.next(), Ok(Some(Item::Block(_)))));
}

#[test]
fn a_large_event_has_a_segment_for_itself_stored_or_compressed() {
    let payload = |number: usize| vec![b'a' + number as u8; if number % 3 == 1 { 300 << 10 } else { 20 }];
    let events: Vec<Stored> = (0..14)
        .map(|at| (at, 1, EventKind::Message, Direction::ClientToServer, Framing::Lf, payload(at as usize)))
        .collect();
    let bytes = write(&events, WriterOptions::default());
    let mut reader = from_bytes(&bytes).expect("a reel").with_payloads();
    let (mut counts, mut stored) = (Vec::new(), 0);
    while let Some(Item::Block(block)) = reader.next().expect("reading works") {
        counts.push(block.headers.len());
        for event in block.events() {
            assert!(event.payload == payload(stored), "event {stored}");
            stored += 1;
        }
    }
    // Events 3 and 10 are stored uncompressed; the 300 KiB of event 10 are most of the file.
    assert_eq!((stored, counts), (14, vec![1, 1, 2, 1, 2, 1, 2, 1, 2, 1]));
    assert!((300 << 10..310 << 10).contains(&bytes.len()), "{}", bytes.len());
}

#[test]
fn a_large_part_is_read_piece_by_piece() {
    let mut random = fastrand::Rng::with_seed(1);
    let payload: Vec<u8> = (0..1 << 20).map(|_| b"0123456789abcdef"[random.usize(..16)]).collect();
    let event = (1, 1, EventKind::Message, Direction::ClientToServer, Framing::Lf, payload);
    // The fourth event is stored uncompressed.
    for count in [1, 4] {
        let events = vec![event.clone(); count];
        let bytes = write(&events, WriterOptions::default());
        for altered in 0..4 {
            let mut bytes = bytes.clone();
            // A place in the last segment, which ends a little before the reel does.
            let at = bytes.len() - 100_000 - altered * 120_000;
            if altered > 0 {
                bytes[at] ^= 1;
            }
            let (_dir, path) = TempReel::of(&bytes);
            for reader in [from_bytes(&bytes), ReelReader::open(&path)] {
                let (found, damages) = read(reader.expect("a reel"));
                let sound = count - usize::from(altered > 0);
                assert_eq!((found.len(), damages.len()), (sound, count - sound), "{count}, {altered}: {damages:?}");
                assert!(found.iter().all(|(seq, found)| *found == events[*seq as usize]), "{count}, {altered}");
            }
            bytes.truncate(at);
            let (found, damages) = read(from_bytes(&bytes).expect("a reel"));
            assert_eq!((found.len(), damages.len()), (count - 1, 1), "{count}, cut at {at}: {damages:?}");
        }
    }
}

#[test]
fn what_cannot_be_loaded_is_empty_and_never_anothers() {
    let events = sample();
    // One group of many segments: segments after a broken part depend on it.
    let bytes = write(&events, WriterOptions { group_bytes: 100_000, ..small_groups() });
    for at in 200..bytes.len() {
        let mut altered = bytes.clone();
        altered[at] ^= 0x40;
        let (_dir, path) = TempReel::of(&altered);
        let Ok(mut reader) = ReelReader::open(&path) else { continue };
        while let Some(item) = reader.next().expect("reading works") {
            let Item::Block(mut block) = item else { continue };
            let is_loaded = reader.load_payload(&mut block).expect("reading works").is_ok();
            for header in &block.headers {
                let (found, wanted) = (block.event(header).payload, &events[header.seq as usize].5[..]);
                assert_eq!(found, if is_loaded { wanted } else { b"" }, "flipped at {at}, event {}", header.seq);
            }
        }
    }
}

#[test]
fn short_events_end_a_segment_by_their_records() {
    let event = (1, 1, EventKind::Message, Direction::ClientToServer, Framing::Lf, b"{}".to_vec());
    let bytes = write(&vec![event; 30_000], WriterOptions::default());
    let mut reader = from_bytes(&bytes).expect("a reel");
    let mut counts = Vec::new();
    while let Some(Item::Block(block)) = reader.next().expect("reading works") {
        counts.push(block.headers.len());
    }
    assert_eq!(counts.iter().sum::<usize>(), 30_000);
    // 64 KiB of records, each of at least seven bytes.
    assert!(counts.len() > 3 && counts.iter().all(|count| *count <= (64 << 10) / 7 + 1), "{counts:?}");
}

#[test]
fn a_seek_takes_the_groups_wherever_they_stand_in_the_index() {
    let entry: Vec<u8> = [60u64, 0, 5, 9, 700, 3, 10, 20].iter().flat_map(|word| word.to_le_bytes()).collect();
    let groups = |bytes: &[u8]| ("groups".to_owned(), ciborium::Value::Bytes(bytes.to_vec()));
    let other = || ("later".to_owned(), ciborium::Value::Array(vec![1.into(), "groups".into()]));
    let parsed = |members: Vec<(String, ciborium::Value)>| {
        let members = members.into_iter().map(|(key, value)| (key.into(), value)).collect();
        let mut bytes = Vec::new();
        ciborium::into_writer(&ciborium::Value::Map(members), &mut bytes).expect("a Vec takes all");
        ciborium::from_reader::<Groups, _>(&bytes[..])
    };
    for members in [vec![groups(&entry), other()], vec![other(), groups(&entry)]] {
        let groups = parsed(members).expect("an index");
        let numbers = |place| groups.get(place).map(|group| (group.0, group.1));
        assert_eq!(numbers(groups.with_seq(2)), Some((60, 0)));
        assert_eq!(numbers(groups.with_seq(3)), Some((700, 3)));
        assert_eq!(numbers(groups.with_time(9)), Some((60, 0)));
        assert_eq!(numbers(groups.with_time(10)), Some((700, 3)));
        assert_eq!(numbers(groups.with_time(21)), Some((700, 3)));
    }
    assert!(parsed(vec![other()]).is_err(), "without groups");
    assert!(parsed(vec![groups(&entry[1..])]).is_err(), "no whole entries");
}

#[test]
fn a_reel_cut_anywhere_gives_its_beginning_and_says_so() {
    let events = sample();
    let bytes = write(&events, small_groups());
    for cut in 0..bytes.len() {
        let reader = match from_bytes(&bytes[..cut]) {
            Ok(reader) => reader,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                continue;
            }
        };
        let (found, damages) = read(reader);
        assert!(damages.len() <= 1, "cut at {cut}: {damages:?}");
        for (number, (seq, event)) in found.iter().enumerate() {
            assert_eq!((*seq, event), (number as u64, &events[number]), "cut at {cut}");
        }
    }
}

#[test]
fn a_flipped_byte_costs_at_most_its_group_and_is_reported() {
    let events = sample();
    let bytes = write(&events, small_groups());
    let (_dir, path) = TempReel::of(&bytes);
    let groups = ReelReader::open(&path)
        .expect("a reel")
        .index()
        .expect("reads")
        .expect("a sound index")
        .expect("a footer")
        .groups
        .clone();
    let largest = groups.windows(2).map(|pair| pair[1].1 - pair[0].1).max().expect("groups");
    for at in 0..bytes.len() {
        let mut altered = bytes.clone();
        altered[at] ^= 0x15;
        for reader in [from_bytes(&altered), {
            std::fs::write(&path, &altered).expect("the reel is written");
            ReelReader::open(&path)
        }] {
            let Ok(reader) = reader else { continue };
            let (found, damages) = read(reader);
            for (seq, event) in &found {
                assert_eq!(event, &events[*seq as usize], "flipped at {at}");
            }
            let lost = (events.len() - found.len()) as u64;
            assert!(lost <= largest, "flipped at {at}: {lost} lost");
            assert!(lost == 0 || !damages.is_empty(), "flipped at {at}: a silent loss");
            let reported: u64 = damages.iter().map(|damage| damage.events).sum();
            let at_end = damages.iter().any(|damage| damage.at_end);
            assert!(reported == lost || at_end, "flipped at {at}: {lost} lost, {reported} reported: {damages:?}");
        }
    }
}

#[test]
fn a_growing_reel_is_followed_through_torn_writes() {
    let events = sample();
    let bytes = write(&events, small_groups());
    let (_dir, path) = TempReel::of(&bytes[..200]);
    let mut reader = ReelReader::open(&path).expect("a reel").with_payloads().following();
    let mut found = Vec::new();
    for end in (200..bytes.len()).step_by(37).chain([bytes.len()]) {
        std::fs::write(&path, &bytes[..end]).expect("the reel grows");
        while let Some(item) = reader.next().expect("reading works") {
            let Item::Block(block) = item else { panic!("damage in a sound reel") };
            found.extend(block.events().map(|event| event.payload.to_vec()));
        }
    }
    assert_eq!(found, events.iter().map(|event| event.5.clone()).collect::<Vec<_>>());
    assert!(reader.has_ended());
}

#[test]
fn other_files_are_refused_with_a_reason() {
    let reason = |bytes: &[u8]| from_bytes(bytes).err().expect("refused").to_string();
    assert_eq!(reason(b""), "the file is empty");
    assert!(reason(b"{\"reel\":{}}\n").contains("import"));
    assert!(reason(b"\x89REEL\n\x1a").contains("text mode"));
    assert!(reason(b"hello, this is some other file").contains("not a reel"));
    let mut newer = write(&[], WriterOptions::default());
    newer[8] = 9;
    assert!(reason(&newer).contains("9.1"));
    let directory = tempfile::tempdir().expect("a temporary folder");
    assert!(ReelReader::open(directory.path()).err().expect("refused").to_string().contains("directory"));
}

/// Returns one flushed zstd part.
fn packed(raw: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).expect("an encoder");
    encoder.write_all(raw).and_then(|()| encoder.flush()).expect("a Vec takes all");
    encoder.get_ref().clone()
}

/// Creates a reel of one segment with these records and this payload; `alter` may falsify its header.
fn hostile(records: &[u8], payload: &[u8], alter: impl FnOnce(&mut format::SegmentHeader)) -> Vec<u8> {
    let (packed_records, packed_payload) = (packed(records), packed(payload));
    let mut header = format::SegmentHeader {
        kind: format::SegmentKind::Events,
        flags: format::STARTS_GROUP,
        first_seq: 0,
        first_time: 0,
        count: 1,
        records_raw: records.len() as u32,
        records_len: packed_records.len() as u32,
        payload_raw: payload.len() as u32,
        payload_len: packed_payload.len() as u32,
        records_crc: crc32c::crc32c(&packed_records),
        payload_crc: crc32c::crc32c(&packed_payload),
    };
    alter(&mut header);
    let mut bytes = Vec::new();
    FileHeader::default().write(&mut bytes).expect("a Vec takes all");
    bytes.extend_from_slice(&header.encode());
    bytes.extend_from_slice(&packed_records);
    bytes.extend_from_slice(&packed_payload);
    bytes
}

/// `[stderr, 0, 0, 0, whole, 1]`
const RECORD: [u8; 7] = [0x86, 1, 0, 0, 0, 5, 1];

#[test]
fn a_hostile_reel_is_damage_and_costs_little() {
    let longer = [&[0x87u8], &RECORD[1..]].concat();
    let deep = [&longer[..], &vec![0xc6; 100_000], &[0]].concat();
    let huge_map = [&longer[..], &[0xbb], &[0xff; 8]].concat();
    let many_items = [&longer[..], &[0x9b], &[0x7f; 8]].concat();
    let cases: [(&str, Vec<u8>); 7] = [
        ("a count beyond the records", hostile(&RECORD, b"x", |header| header.count = u32::MAX)),
        ("tags without end", hostile(&deep, b"x", |_| {})),
        ("a map of all items there are", hostile(&huge_map, b"x", |_| {})),
        ("a list of more items than bytes", hostile(&many_items, b"x", |_| {})),
        ("records longer than the file", hostile(&RECORD, b"x", |header| header.records_len = 0xf000_0000)),
        ("a payload longer than the file", hostile(&RECORD, b"x", |header| header.payload_len = 0xf000_0000)),
        ("a stored payload of another length", hostile(&RECORD, b"x", |header| header.flags |= format::PAYLOAD_STORED)),
    ];
    for (what, bytes) in cases {
        let (_dir, path) = TempReel::of(&bytes);
        for reader in [from_bytes(&bytes), ReelReader::open(&path)] {
            let (events, damages) = read(reader.expect("a reel"));
            assert_eq!((events.len(), damages.len()), (0, 1), "{what}: {damages:?}");
        }
    }
    let (events, damages) = read(from_bytes(&hostile(&RECORD, b"x", |_| {})).expect("a reel"));
    assert_eq!((events.len(), damages.len()), (1, 0), "the sound one is read");
}

#[test]
fn a_part_that_could_not_be_read_is_not_tried_again() {
    let two_bytes = [&RECORD[..6], &[2]].concat();
    let (_dir, path) = TempReel::of(&hostile(&two_bytes, b"x", |header| header.payload_raw = 2));
    let mut reader = ReelReader::open(&path).expect("a reel");
    let Some(Item::Block(mut block)) = reader.next().expect("reading works") else { panic!("a block") };
    let mut reason = || reader.load_payload(&mut block).expect("reading works").expect_err("damage").reason;
    assert_eq!(
        (reason(), reason()),
        (reader::payload::OTHER_LENGTH.to_owned(), reader::payload::OTHER_LENGTH.to_owned())
    );
    assert_eq!(block.event(&block.headers[0]).payload, b"");
}

#[test]
fn an_event_that_damage_cuts_short_gets_a_last_piece() {
    let two_bytes = [&RECORD[..6], &[2]].concat();
    for (payload, expected) in [(&b"xy"[..], &[(&b"xy"[..], true)][..]), (b"x", &[(b"x", false), (b"", true)])] {
        let (_dir, path) = TempReel::of(&hostile(&two_bytes, payload, |header| header.payload_raw = 2));
        let mut reader = ReelReader::open(&path).expect("a reel");
        let Some(Item::Block(block)) = reader.next().expect("reading works") else { panic!("a block") };
        let mut pieces = Vec::new();
        let passed = reader.pass_payload(&block, |_, piece, is_last| {
            pieces.push((piece.to_vec(), is_last));
            Ok(())
        });
        assert_eq!(passed.expect("reading works").is_ok(), payload.len() == 2);
        let pieces: Vec<(&[u8], bool)> = pieces.iter().map(|(piece, is_last)| (&piece[..], *is_last)).collect();
        assert_eq!(pieces, expected);
    }
}

#[test]
fn groups_damaged_in_a_row_are_counted_once() {
    let bytes = write(&sample(), small_groups());
    let (_dir, path) = TempReel::of(&bytes);
    let groups = ReelReader::open(&path)
        .expect("a reel")
        .index()
        .expect("reads")
        .expect("a sound index")
        .expect("a footer")
        .groups
        .clone();
    let mut altered = bytes.clone();
    for group in &groups[1..3] {
        // Inside the records, after the segment's header.
        altered[group.0 as usize + format::SEGMENT_HEADER_LEN + 3] ^= 0xff;
    }
    let (found, damages) = read(from_bytes(&altered).expect("a reel"));
    let reported: u64 = damages.iter().map(|damage| damage.events).sum();
    assert_eq!(reported, (sample().len() - found.len()) as u64, "{damages:?}");
    assert_eq!(reported, groups[3].1 - groups[1].1);
}

#[test]
fn a_group_that_is_not_there_is_damage_and_seeking_counts_from_where_it_goes() {
    let bytes = write(&sample(), small_groups());
    let (_dir, path) = TempReel::of(&bytes);
    let groups = ReelReader::open(&path)
        .expect("a reel")
        .index()
        .expect("reads")
        .expect("a sound index")
        .expect("a footer")
        .groups
        .clone();
    let without = [&bytes[..groups[1].0 as usize], &bytes[groups[2].0 as usize..]].concat();
    let (_, damages) = read(from_bytes(&without).expect("a reel"));
    // The index still lists it.
    assert_eq!((damages.len(), damages[1].of_index), (2, true), "{damages:?}");
    assert_eq!(damages[0].events, groups[2].1 - groups[1].1);
    let mut altered = bytes.clone();
    altered[groups[2].0 as usize + format::SEGMENT_HEADER_LEN + 3] ^= 0xff;
    std::fs::write(&path, &altered).expect("the reel is written");
    let mut reader = ReelReader::open(&path).expect("a reel");
    reader.seek_seq(groups[2].1).expect("seeking works");
    let (_, damages) = read(reader);
    assert_eq!(damages[0].events, groups[3].1 - groups[2].1, "{damages:?}");
}

#[test]
fn events_without_payload_make_groups_too_and_long_names_stay_out_of_headers() {
    let blank = (0, 0, EventKind::Message, Direction::ClientToServer, Framing::Lf, Vec::new());
    let bytes = write(&vec![blank; 1000], small_groups());
    let (_dir, path) = TempReel::of(&bytes);
    let groups = ReelReader::open(&path)
        .expect("a reel")
        .index()
        .expect("reads")
        .expect("a sound index")
        .expect("a footer")
        .groups
        .len();
    assert!(groups > 20, "{groups}");
    let long = "m".repeat(10_000);
    let message = format!(r#"{{"id":"{long}","method":"{long}"}}"#).into_bytes();
    let event = (0, 0, EventKind::Message, Direction::ClientToServer, Framing::Lf, message.clone());
    let mut reader = from_bytes(&write(&[event], small_groups())).expect("a reel").with_payloads();
    let Some(Item::Block(block)) = reader.next().expect("reads") else { panic!("a block") };
    let header = &block.headers[0];
    let kept = header.message.as_ref().expect("a message");
    assert_eq!((kept.kind, kept.method, kept.id.clone()), (MessageKind::Request, None, None));
    assert_eq!(block.event(header).payload, message);
    assert!(reader.methods().is_empty());
}

#[test]
fn times_too_far_apart_for_a_difference_are_kept() {
    let events: Vec<Stored> = [i64::MIN + 5, i64::MAX - 5, 0]
        .map(|time| (time, 0, EventKind::Stderr, Direction::ServerToClient, Framing::Whole, b"x".to_vec()))
        .to_vec();
    let (found, damages) = read(from_bytes(&write(&events, small_groups())).expect("a reel"));
    assert_eq!(damages, []);
    assert_eq!(found.into_iter().map(|event| event.1).collect::<Vec<_>>(), events);
}

fn any_event() -> impl Strategy<Value = Stored> {
    let kind = prop_oneof![4 => Just(EventKind::Message), 1 => Just(EventKind::Stderr), 1 => Just(EventKind::Note)];
    let payload = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..300),
        r#"\{"jsonrpc":"2.0","id":-?[0-9]{1,22},"method":"[a-z/]{1,8}"\}"#.prop_map(String::into_bytes),
        r#"\{"id":("[a-z]{0,5}"|null|1e400),"result":\{"isError":true\}\}"#.prop_map(String::into_bytes),
    ];
    let direction = prop_oneof![Just(Direction::ClientToServer), Just(Direction::ServerToClient)];
    let framing = (0..Framing::ALL.len()).prop_map(|number| Framing::ALL[number]);
    (any::<i32>().prop_map(i64::from), 0u32..1000, kind, direction, framing, payload)
}

proptest! {
    #[test]
    fn what_was_written_is_read(events in prop::collection::vec(any_event(), 0..60)) {
        let bytes = write(&events, small_groups());
        let (found, damages) = read(from_bytes(&bytes).expect("a reel"));
        prop_assert_eq!(damages, vec![]);
        prop_assert_eq!(found.into_iter().map(|event| event.1).collect::<Vec<_>>(), events);
    }

    #[test]
    fn any_bytes_are_read_or_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..400), keep in 0usize..300) {
        let sound = write(&sample(), small_groups());
        let mut file = sound[..keep].to_vec();
        file.append(&mut bytes);
        if let Ok(reader) = from_bytes(&file) {
            read(reader);
        }
    }
}
