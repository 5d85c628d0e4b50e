//! JSON lines: what is read can be written as a reel, and the reel exports to lines that read the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::formats::jsonl::{write_event, write_header};
use mcpreel_fuzz::{header, read, reel_of};

fuzz_target!(|lines: &[u8]| {
    let Some(reel) = reel_of(lines) else { return };
    let exported = export(&reel);
    let again = reel_of(&exported).expect("own lines are read");
    assert_eq!(export(&again), exported);
});

fn export(reel: &[u8]) -> Vec<u8> {
    let (header, mut out) = (header(reel), Vec::new());
    write_header(&header, &mut out).expect("a Vec takes all");
    read(reel, |event, _| write_event(event, header.created, &mut out).expect("a Vec takes all"));
    out
}
