//! JSON lines: what is read can be written as a reel, and the reel exports to lines that read the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::formats::Importer;
use mcpreel::testing::formats::jsonl::{Reader, write_event, write_header};
use mcpreel::testing::trace::{Item, ReelReader, ReelWriter, WriterOptions};
use std::io::Cursor;

fuzz_target!(|lines: &[u8]| {
    let Some(reel) = import(lines) else { return };
    let exported = export(&reel);
    let again = import(&exported).expect("own lines are read");
    assert_eq!(export(&again), exported);
});

fn import(lines: &[u8]) -> Option<Vec<u8>> {
    let mut reader = Reader::new(lines).ok()?;
    let mut writer = ReelWriter::create(Vec::new(), reader.header(), WriterOptions::default()).ok()?;
    while let Some(event) = reader.next_event().ok()? {
        writer.append(event).ok()?;
    }
    Some(writer.finish().ok()?.0)
}

fn export(reel: &[u8]) -> Vec<u8> {
    let mut reader =
        ReelReader::from_stream(Box::new(Cursor::new(reel.to_vec()))).expect("an own reel").with_payloads();
    let mut out = Vec::new();
    write_header(reader.header(), &mut out).expect("a Vec takes all");
    while let Some(item) = reader.next().expect("memory reads") {
        let Item::Block(block) = item else { panic!("an own reel is damaged: {item:?}") };
        for event in block.events() {
            write_event(&event, reader.header().created, &mut out).expect("a Vec takes all");
        }
    }
    out
}
