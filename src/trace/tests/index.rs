//! Tests of the index, which is only a claim: whatever it says, `verify` finds what is false, and a seek misses no
//! event.

use super::*;
use crate::trace::format::{SEGMENT_HEADER_LEN, SegmentHeader, TRAILER_LEN, decode_trailer};
use crate::trace::index::GroupEntry;
use crate::trace::rebuild::count;
use crate::trace::writer::footer_bytes;

/// Returns everything that is wrong with a reel, as `verify` finds it.
fn problems(bytes: &[u8], path: &std::path::Path) -> Vec<String> {
    std::fs::write(path, bytes).expect("the reel is written");
    let mut reader = match ReelReader::open(path) {
        Ok(reader) => reader.with_payloads(),
        Err(error) => return vec![error.to_string()],
    };
    let (counted, damages) = count(&mut reader, |_| {}).expect("reading works");
    let mut found: Vec<String> = damages.iter().map(ToString::to_string).collect();
    match reader.index().expect("reading works") {
        Ok(Some(index)) => found.extend(index.differences(&counted, true).iter().map(ToString::to_string)),
        Ok(None) => found.push("no index".to_owned()),
        Err(damage) => found.push(damage.to_string()),
    }
    found
}

fn footer_at(bytes: &[u8]) -> usize {
    decode_trailer(&bytes[bytes.len() - TRAILER_LEN..]).expect("a trailer") as usize
}

/// Returns the reel with another index, and valid checksums.
fn forged(bytes: &[u8], edit: impl FnOnce(&mut Index)) -> Vec<u8> {
    let at = footer_at(bytes);
    let mut index: Index = ciborium::from_reader(&bytes[at + SEGMENT_HEADER_LEN..]).expect("an index");
    edit(&mut index);
    let footer = footer_bytes(&index, index.events, at as u64).expect("a Vec takes all");
    [&bytes[..at], &footer].concat()
}

/// Returns the reel with one byte of its index altered, and valid checksums.
fn forged_at(bytes: &[u8], place: usize, mask: u8) -> Vec<u8> {
    let (at, mut altered) = (footer_at(bytes), bytes.to_vec());
    altered[place] ^= mask;
    let (head, body) = altered[at..bytes.len() - TRAILER_LEN].split_at(SEGMENT_HEADER_LEN);
    let header = SegmentHeader::decode(head.try_into().expect("a header")).expect("a header");
    let header = SegmentHeader { records_crc: crc32c::crc32c(body), ..header };
    altered[at..at + SEGMENT_HEADER_LEN].copy_from_slice(&header.encode());
    altered
}

fn seen(path: &std::path::Path, seek: impl FnOnce(&mut ReelReader) -> Option<Damage>) -> (Vec<u64>, Option<Damage>) {
    let mut reader = ReelReader::open(path).expect("a reel");
    let wrong = seek(&mut reader);
    (read(reader).0.into_iter().map(|event| event.0).collect(), wrong)
}

/// Asserts that a seek by number and one by time find everything from there on.
fn assert_nothing_is_missed(bytes: &[u8], path: &std::path::Path, what: &str) {
    std::fs::write(path, bytes).expect("the reel is written");
    for seq in [0u64, 5, 17, 39] {
        let (by_seq, _) = seen(path, |reader| reader.seek_seq(seq).expect("seeking works"));
        let (by_time, _) = seen(path, |reader| reader.seek_time(seq as i64 * 1000).expect("seeking works"));
        for found in [by_seq, by_time] {
            assert!((seq..40).all(|number| found.contains(&number)), "{what}: from {seq} there was {found:?}");
        }
    }
}

#[test]
fn every_byte_of_a_reel_is_checked() {
    let bytes = write(&sample(), small_groups());
    let (_dir, path) = TempReel::of(&bytes);
    assert_eq!(problems(&bytes, &path), [""; 0]);
    for at in 0..bytes.len() {
        for mask in [0x01, 0x80] {
            let mut altered = bytes.clone();
            altered[at] ^= mask;
            assert_ne!(problems(&altered, &path), [""; 0], "byte {at} of {} with {mask:#x}", bytes.len());
        }
    }
}

#[test]
fn a_false_index_with_right_check_sums_is_found_and_hides_nothing() {
    let bytes = write(&sample(), small_groups());
    let (_dir, path) = TempReel::of(&bytes);
    for at in footer_at(&bytes) + SEGMENT_HEADER_LEN..bytes.len() - TRAILER_LEN {
        for mask in [0x01, 0x80] {
            let altered = forged_at(&bytes, at, mask);
            let around = String::from_utf8_lossy(&altered[at - 20..altered.len().min(at + 20)]);
            assert_ne!(problems(&altered, &path), [""; 0], "byte {at} with {mask:#x}, in {around:?}");
            assert_nothing_is_missed(&altered, &path, &format!("byte {at} with {mask:#x}"));
        }
    }
}

#[test]
fn an_index_that_lies_on_purpose_is_found_and_hides_nothing() {
    type Lie = (&'static str, fn(&mut Index));
    let lies: [Lie; 9] = [
        ("a quintillion events", |index| index.events = 1_000_000_000_000_000_000),
        ("a quintillion events, in the sums too", |index| {
            index.events = 1_000_000_000_000_000_000;
            index.kinds.entry("message".into()).or_default().0 = 1_000_000_000_000_000_000;
        }),
        ("groups far behind the end", |index| index.groups.iter_mut().for_each(|group| group.0 += 1_000_000_000_000)),
        ("groups at the end of all numbers", |index| index.groups.iter_mut().for_each(|group| group.0 = u64::MAX)),
        ("a hidden event", |index| index.events -= 1),
        ("a hidden group", |index| {
            index.groups.remove(2);
        }),
        ("a hidden first group", |index| {
            index.groups.remove(0);
        }),
        ("a group that ends too early", |index| index.groups[3].3 = index.groups[3].2),
        ("times turned round", |index| index.times = Some((i64::MAX, i64::MIN))),
    ];
    let bytes = write(&sample(), small_groups());
    let (_dir, path) = TempReel::of(&bytes);
    for (what, lie) in lies {
        let altered = forged(&bytes, lie);
        assert_ne!(problems(&altered, &path), [""; 0], "{what}");
        assert_nothing_is_missed(&altered, &path, what);
        let reported =
            ReelReader::open(&path).expect("a reel").index().expect("reading works").map(Option::<&Index>::cloned);
        // What segment headers cannot show is left to `verify`.
        assert!(reported.is_err() || what == "a group that ends too early", "{what}: {reported:?}");
    }
    let unused = |reader: &mut ReelReader| reader.seek_seq(17).expect("seeking works");
    std::fs::write(&path, forged(&bytes, lies[2].1)).expect("the reel is written");
    let reason = seen(&path, unused).1.expect("reported").to_string();
    assert!(reason.contains("is wrong, and ignored: its entry for group 0 is not possible"), "{reason}");
}

#[test]
fn a_footer_that_is_cut_out_or_moved_is_reported() {
    let bytes = write(&sample(), small_groups());
    let (_dir, path) = TempReel::of(&bytes);
    let (at, trailer) = (footer_at(&bytes), bytes.len() - TRAILER_LEN);
    let groups: Vec<GroupEntry> =
        ciborium::from_reader::<Index, _>(&bytes[at + SEGMENT_HEADER_LEN..]).expect("an index").groups;
    let last = groups.last().expect("groups").0 as usize;
    let reported = problems(&[&bytes[..last], &bytes[at..]].concat(), &path);
    assert!(reported[0].contains("it counts 40 events, but there are 3"), "{reported:?}");
    let reported = problems(&[&bytes[..at], &bytes[trailer..]].concat(), &path);
    assert!(reported[0].contains("the trailer says that it begins at byte"), "{reported:?}");
}

#[test]
fn without_an_index_a_time_is_found_by_the_events() {
    // Whole groups at one time, and one that goes on long after the next has begun.
    let times = [0i64; 20].into_iter().chain([5000, 1, 2, 3]).chain(4000..4016);
    let events: Vec<Stored> = sample()
        .into_iter()
        .zip(times)
        .map(|(event, time)| (time, event.1, event.2, event.3, event.4, event.5))
        .collect();
    let bytes = write(&events, small_groups());
    let (_dir, path) = TempReel::of(&bytes[..footer_at(&bytes)]);
    for (time, first) in [(0, 0), (1, 20), (4500, 20)] {
        let (found, wrong) = seen(&path, |reader| reader.seek_time(time).expect("seeking works"));
        assert!(wrong.is_none());
        assert!(found[0] <= first && first < found[0] + 15 && found.contains(&first), "{time}: {found:?}");
        assert_eq!(found.last(), Some(&39));
    }
    let whole = seen(&path, |reader| reader.seek_time(9999).expect("seeking works")).0;
    assert_eq!(whole.last(), Some(&39), "after all times the last group is left");
}

#[test]
fn a_segment_of_another_kind_is_passed_over_and_checked() {
    let bytes = write(&sample(), small_groups());
    let (_dir, path) = TempReel::of(&bytes);
    let at = footer_at(&bytes);
    let header = SegmentHeader {
        kind: format::SegmentKind::Unknown(9),
        flags: 0,
        first_seq: 40,
        first_time: 0,
        count: 0,
        records_raw: 3,
        records_len: 3,
        payload_raw: 2,
        payload_len: 2,
        records_crc: crc32c::crc32c(b"abc"),
        payload_crc: crc32c::crc32c(b"de"),
    };
    let with = |body: &[u8]| {
        let segment = [&header.encode()[..], body].concat();
        let index: Index = ciborium::from_reader(&bytes[at + SEGMENT_HEADER_LEN..]).expect("an index");
        let footer = footer_bytes(&index, index.events, (at + segment.len()) as u64).expect("a Vec takes all");
        [&bytes[..at], &segment, &footer].concat()
    };
    assert_eq!(problems(&with(b"abcde"), &path), [""; 0]);
    for altered in [b"xbcde", b"abcdx"] {
        assert_eq!(problems(&with(altered), &path).len(), 1);
    }
}

#[test]
fn methods_beyond_the_limit_are_counted_together_across_segments() {
    let event = |number: u32| {
        let message = format!(r#"{{"method":"m{number}"}}"#).into_bytes();
        (i64::from(number), 0, EventKind::Message, Direction::ClientToServer, Framing::Lf, message)
    };
    let bytes = write(&(0..6000).map(event).collect::<Vec<_>>(), small_groups());
    let (_dir, path) = TempReel::of(&bytes);
    assert_eq!(problems(&bytes, &path), [""; 0]);
    let mut reader = ReelReader::open(&path).expect("a reel");
    let index = reader.index().expect("reading works").expect("a sound index").expect("an index");
    assert_eq!(index.methods.len(), 4097);
}
