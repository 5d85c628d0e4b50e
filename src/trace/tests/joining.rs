//! Tests of long messages: pieces in the reel, one message for its readers.

use super::*;
use crate::trace::reader::MAX_LOADED;
use crate::wire::{Envelope, IdKey};
use std::collections::VecDeque;

type Found = Vec<(u64, Stored)>;

/// Splits a message into pieces of this number of bytes.
fn cut(stream: u32, direction: Direction, framing: Framing, text: &[u8], size: usize) -> VecDeque<Stored> {
    let mut pieces: VecDeque<Stored> = text
        .chunks(size)
        .map(|piece| (0, stream, EventKind::Message, direction, Framing::Fragment, piece.to_vec()))
        .collect();
    match pieces.back_mut() {
        Some(last) => last.4 = framing,
        None => pieces.push_back((0, stream, EventKind::Message, direction, framing, Vec::new())),
    }
    pieces
}

/// Interleaves the events of several lanes in the order of `turns`, with their times. Also returns the whole messages.
fn interleave(mut lanes: Vec<Vec<VecDeque<Stored>>>, turns: &[usize]) -> (Vec<Stored>, Found) {
    let (mut events, mut whole, mut turn) = (Vec::new(), Vec::new(), 0);
    let mut begun: Vec<Vec<u8>> = vec![Vec::new(); lanes.len()];
    lanes.iter_mut().for_each(|lane| lane.retain(|message| !message.is_empty()));
    while lanes.iter().any(|lane| !lane.is_empty()) {
        let lane = turns[turn % turns.len()] % lanes.len();
        let lane = (lane..lane + lanes.len()).map(|lane| lane % lanes.len()).find(|lane| !lanes[*lane].is_empty());
        let lane = lane.expect("one of them is not empty");
        let mut event = lanes[lane][0].pop_front().expect("no message is empty");
        event.0 = turn as i64 * 10;
        begun[lane].extend(&event.5);
        if event.4 != Framing::Fragment {
            let payload = std::mem::take(&mut begun[lane]);
            whole.push((turn as u64, (event.0, event.1, event.2, event.3, event.4, payload)));
        }
        events.push(event);
        if lanes[lane][0].is_empty() {
            lanes[lane].remove(0);
        }
        turn += 1;
    }
    (events, whole)
}

fn message(number: usize, length: usize) -> Vec<u8> {
    let text = "long \\u00e9 text ".repeat(length / 16);
    format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"m{number}","params":{{"text":"{text}"}}}}"#).into_bytes()
}

/// Returns messages in two directions and two streams, long and short ones.
fn sample() -> (Vec<Stored>, Found) {
    use Direction::{ClientToServer as C, ServerToClient as S};
    let lane = |stream, direction, start: usize| {
        let lengths = [700, 20, 400, 90, 1000];
        let cut = |(place, length): (usize, &usize)| {
            let framing = [Framing::Lf, Framing::CrLf, Framing::Whole][place % 3];
            cut(stream, direction, framing, &message(start + place, *length), 100)
        };
        lengths.iter().enumerate().map(cut).collect()
    };
    interleave(vec![lane(0, C, 0), lane(0, S, 10), lane(3, S, 20)], &[0, 1, 1, 2, 0, 2, 1])
}

/// Does the same, with payloads loaded later.
fn read_lazily(mut reader: ReelReader) -> Found {
    let mut found = Vec::new();
    while let Some(item) = reader.next().expect("reading works") {
        let Item::Block(mut block) = item else { panic!("{item:?}") };
        assert!(!block.is_loaded());
        let before = block.headers.clone();
        reader.load_payload(&mut block).expect("reading works").expect("no damage");
        for (event, before) in block.events().zip(&before) {
            let head = event.header;
            assert_eq!((head.seq, head.len, &head.message), (before.seq, before.len, &before.message));
            assert_eq!(head.len as usize, event.payload.len());
            let envelope = Envelope::scan(event.body());
            let message = head.message.as_ref().expect("a message");
            assert_eq!(message.kind, envelope.kind);
            assert_eq!(message.id.as_ref().map(RecordedId::key), envelope.id.map(|id| id.key()));
            let method = message.method.map(|number| &*reader.methods()[number as usize]);
            assert_eq!(method, envelope.method.as_deref());
            found.push((
                head.seq,
                (head.time, head.stream, head.kind, head.direction(), head.framing, event.payload.to_vec()),
            ));
        }
        reader.recycle(block);
    }
    found
}

#[test]
fn pieces_of_many_lanes_are_joined_however_they_are_read() {
    let (events, whole) = sample();
    assert!(events.len() > 3 * whole.len());
    for options in [WriterOptions::default(), small_groups()] {
        let bytes = write(&events, options);
        let (_dir, path) = TempReel::of(&bytes);
        let open = || ReelReader::open(&path).expect("a reel");
        assert_eq!(read_joined(open()), (whole.clone(), vec![]));
        assert_eq!(read_joined(from_bytes(&bytes).expect("a reel")), (whole.clone(), vec![]));
        assert_eq!(read_lazily(open()), whole);
        // The content of the reel is unchanged, and so is its index.
        let stored = read(open()).0.into_iter().map(|(_, event)| event).collect::<Vec<_>>();
        assert_eq!(stored, events);
        let counted = build_index(open()).expect("reading works");
        assert_eq!(open().index().expect("reading works").expect("sound"), Some(&counted.0));
    }
}

#[test]
fn a_seek_amid_a_message_finds_all_of_it() {
    let (events, whole) = sample();
    let bytes = write(&events, small_groups());
    let without_index = &bytes[..bytes.len() - 1];
    for bytes in [&bytes[..], without_index] {
        let (_dir, path) = TempReel::of(bytes);
        for seq in 0..events.len() as u64 {
            let wanted: Found = whole.iter().filter(|event| event.0 >= seq).cloned().collect();
            for by_time in [false, true] {
                let mut reader = ReelReader::open(&path).expect("a reel");
                match by_time {
                    false => reader.seek_seq(seq).expect("reading works"),
                    true => reader.seek_time(seq as i64 * 10).expect("reading works"),
                };
                let mut found = read_joined(reader).0;
                found.retain(|event| event.0 >= seq);
                assert_eq!(found, wanted, "{seq}");
            }
        }
    }
}

/// Returns the bytes of each lane.
fn lanes(events: &[(u64, Stored)]) -> std::collections::BTreeMap<(u32, bool), Vec<u8>> {
    let mut lanes = std::collections::BTreeMap::<_, Vec<u8>>::new();
    for (_, event) in events {
        lanes.entry((event.1, event.3 == Direction::ServerToClient)).or_default().extend(&event.5);
    }
    lanes
}

#[test]
fn a_reel_cut_anywhere_gives_what_there_is_of_a_message() {
    let (events, _) = sample();
    let bytes = write(&events, small_groups());
    for end in (200..bytes.len()).step_by(7) {
        let (_dir, path) = TempReel::of(&bytes[..end]);
        let Ok(reader) = ReelReader::open(&path) else { continue };
        let stored = read(reader).0;
        for reader in [ReelReader::open(&path).expect("a reel"), from_bytes(&bytes[..end]).expect("a reel")] {
            let (found, _) = read_joined(reader);
            assert_eq!(lanes(&found), lanes(&stored), "{end}");
            // An incomplete message is a fragment; there is at most one in each lane.
            let fragments: Vec<_> = found.iter().filter(|event| event.1.4 == Framing::Fragment).collect();
            assert!(fragments.len() <= 3);
            assert!(found.iter().rev().take(fragments.len()).all(|event| event.1.4 == Framing::Fragment));
        }
    }
}

#[test]
fn a_damaged_piece_costs_no_other_message_and_nothing_is_joined_over_it() {
    let (events, whole) = sample();
    let bytes = write(&events, small_groups());
    for at in (200..bytes.len() - 300).step_by(11) {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x55;
        let (_dir, path) = TempReel::of(&bytes);
        let open = || ReelReader::open(&path).expect("a reel");
        let (stored, damages) = read(open());
        for reader in [open(), from_bytes(&bytes).expect("a reel")] {
            let mut reader = reader.with_payloads();
            let mut found = Vec::new();
            while let Some(item) = reader.next().expect("reading works") {
                let Item::Block(block) = item else { continue };
                for event in block.events() {
                    let head = event.header;
                    let stored =
                        (head.time, head.stream, head.kind, head.direction(), head.framing, event.payload.to_vec());
                    let is_whole = head.framing != Framing::Fragment && !head.flags.has(Flags::TRUNCATED);
                    assert!(!is_whole || whole.contains(&(head.seq, stored.clone())), "byte {at}: {stored:?}");
                    found.push((head.seq, stored));
                }
            }
            assert_eq!(lanes(&found), lanes(&stored), "byte {at}");
        }
        // With lazy loading, damage may be found later; what is returned is still correct.
        let mut reader = open();
        while let Some(item) = reader.next().expect("reading works") {
            let Item::Block(mut block) = item else { continue };
            let is_damaged = reader.load_payload(&mut block).expect("reading works").is_err();
            assert!(!is_damaged || !damages.is_empty());
        }
    }
}

#[test]
fn a_message_above_the_limit_comes_in_fragments_and_those_beside_it_whole() {
    use Direction::{ClientToServer as C, ServerToClient as S};
    let big =
        [b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"big\",\"x\":\"", &vec![b'x'; 65 << 20][..], b"\"}"].concat();
    let (events, _) = interleave(
        vec![vec![cut(0, C, Framing::Lf, &big, 4 << 20)], vec![cut(0, S, Framing::Lf, &message(2, 9 << 20), 4 << 20)]],
        &[0, 0, 1],
    );
    let bytes = write(&events, WriterOptions::default());
    let (_dir, path) = TempReel::of(&bytes);
    for reader in [ReelReader::open(&path).expect("a reel"), from_bytes(&bytes).expect("a reel")] {
        let (found, damages) = read_joined(reader);
        assert_eq!(damages, []);
        assert!(found.iter().all(|event| event.1.5.len() < MAX_LOADED));
        let of = |direction| found.iter().filter(move |event| event.1.3 == direction).map(|event| &event.1);
        assert_eq!(of(S).map(|event| event.4).collect::<Vec<_>>(), [Framing::Lf]);
        let framings: Vec<_> = of(C).map(|event| event.4).collect();
        assert!(framings.len() <= 3, "{framings:?}");
        assert_eq!(of(C).flat_map(|event| event.5.clone()).collect::<Vec<_>>(), big);
    }
    // The header of the last piece still has the facts of the message.
    let mut reader = ReelReader::open(&path).expect("a reel");
    let mut ids = Vec::new();
    while let Some(Item::Block(block)) = reader.next().expect("reading works") {
        ids.extend(block.headers.iter().filter(|header| header.direction() == C).filter_map(|header| {
            let message = header.message.as_ref()?;
            (message.kind == MessageKind::Request)
                .then(|| (message.id.as_ref().map(RecordedId::key), header.flags.has(Flags::TRUNCATED)))
        }));
    }
    assert_eq!(ids, [(Some(IdKey::Integer(1)), true)]);
}

/// Returns `[message, 0, 0, 0, framing, 3, malformed]`, also as a piece of the first event.
fn piece(framing: u8, back: Option<u8>) -> Vec<u8> {
    let mut record = vec![0x87, 0, 0, 0, 0, framing, 3, 6];
    if let Some(back) = back {
        record[0] = 0x8b;
        record.extend([0xf6, 0xf6, 0, back]);
    }
    record
}

#[test]
fn fragments_of_version_1_0_are_what_they_were() {
    let reel = hostile(&[piece(6, None), piece(6, None), piece(0, None)].concat(), b"abcdefghi", |it| it.count = 3);
    let (found, damages) = read_joined(from_bytes(&reel).expect("a reel"));
    assert_eq!(damages, []);
    assert_eq!(
        found.iter().map(|event| event.1.4).collect::<Vec<_>>(),
        [Framing::Fragment, Framing::Fragment, Framing::Lf]
    );
}

#[test]
fn what_pieces_claim_is_not_believed() {
    for (records, wanted) in [
        // A piece of itself, or of an event that never existed.
        ([piece(6, Some(0)), piece(6, Some(0)), piece(0, Some(0))], 3),
        ([piece(6, Some(0)), piece(6, None), piece(0, Some(1))], 3),
        ([piece(0, Some(0)), piece(6, Some(1)), piece(0, Some(2))], 3),
        // One after another.
        ([piece(6, Some(0)), piece(6, Some(1)), piece(0, Some(2))], 1),
    ] {
        let reel = hostile(&records.concat(), b"abcdefghi", |header| header.count = 3);
        let (_dir, path) = TempReel::of(&reel);
        for reader in [ReelReader::open(&path).expect("a reel"), from_bytes(&reel).expect("a reel")] {
            let (mut found, damages) = read_joined(reader);
            found.sort_by_key(|event| event.0);
            assert_eq!(found.len(), wanted, "{found:?}");
            assert_eq!(damages, []);
            assert_eq!(found.iter().flat_map(|event| event.1.5.clone()).collect::<Vec<_>>(), b"abcdefghi");
        }
    }
    // Before the first event.
    let before = hostile(&piece(0, Some(1)), b"abc", |_| {});
    assert_eq!(read_joined(from_bytes(&before).expect("a reel")).1.len(), 1);
}

#[test]
fn a_gap_ends_a_frame() {
    use Direction::ClientToServer as C;
    let mut events: Vec<Stored> = cut(0, C, Framing::Lf, &message(1, 400), 100).into();
    events.insert(2, (50, 0, EventKind::Gap, C, Framing::Whole, vec![0xa0]));
    let (found, _) = read_joined(from_bytes(&write(&events, small_groups())).expect("a reel"));
    // The frame before the gap has no end, so it is returned once that is certain. What follows is a frame of its own.
    let last = events.len() as u64 - 1;
    assert_eq!(
        found.iter().map(|event| (event.0, event.1.4)).collect::<Vec<_>>(),
        [(2, Framing::Whole), (last, Framing::Lf), (1, Framing::Fragment)]
    );
    assert_eq!(lanes(&found).values().map(Vec::len).sum::<usize>(), message(1, 400).len() + 1);
}

#[test]
fn a_follower_gets_a_message_when_its_last_piece_is_there() {
    let (events, whole) = sample();
    let bytes = write(&events, small_groups());
    let (_dir, path) = TempReel::of(&bytes[..150]);
    let mut reader = ReelReader::open(&path).expect("a reel").following().with_payloads();
    let mut found = Vec::new();
    for end in (150..bytes.len()).step_by(13).chain([bytes.len()]) {
        std::fs::write(&path, &bytes[..end]).expect("written");
        while let Some(item) = reader.next().expect("reading works") {
            let Item::Block(block) = item else { panic!("{item:?}") };
            found.extend(block.events().map(|event| (event.header.seq, event.payload.to_vec())));
        }
    }
    assert_eq!(found, whole.into_iter().map(|(seq, event)| (seq, event.5)).collect::<Vec<_>>());
}

proptest! {
    #[test]
    fn any_cuts_and_any_turns_give_the_same_messages(
        lengths in prop::collection::vec(prop::collection::vec(0usize..600, 0..4), 1..4),
        size in 1usize..300,
        turns in prop::collection::vec(0usize..4, 1..20),
        group_bytes in 1u64..2000,
        segment_bytes in 1usize..500,
    ) {
        let lane = |(number, lengths): (usize, &Vec<usize>)| {
            let direction = [Direction::ClientToServer, Direction::ServerToClient][number % 2];
            let of = |(place, length): (usize, &usize)| {
                cut(number as u32 / 2, direction, Framing::Lf, &message(place, *length), size)
            };
            lengths.iter().enumerate().map(of).collect()
        };
        let (events, whole) = interleave(lengths.iter().enumerate().map(lane).collect(), &turns);
        let bytes = write(&events, WriterOptions { group_bytes, segment_bytes, ..WriterOptions::default() });
        let (_dir, path) = TempReel::of(&bytes);
        prop_assert_eq!(read_lazily(ReelReader::open(&path).expect("a reel")), whole.clone());
        prop_assert_eq!(read_joined(ReelReader::open(&path).expect("a reel")), (whole.clone(), vec![]));
        prop_assert_eq!(read_joined(from_bytes(&bytes).expect("a reel")), (whole, vec![]));
    }
}
