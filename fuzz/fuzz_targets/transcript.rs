//! Other tools' transcripts: what is read can be written as a reel, and every event is read back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::formats::Importer;
use mcpreel::testing::formats::transcript::Reader;
use mcpreel::testing::trace::{Item, ReelReader, ReelWriter, WriterOptions};
use std::io::Cursor;

fuzz_target!(|lines: &[u8]| {
    let Ok(mut reader) = Reader::new(lines) else { return };
    let mut writer =
        ReelWriter::create(Vec::new(), reader.header(), WriterOptions::default()).expect("a Vec takes all");
    let mut payloads = Vec::new();
    while let Ok(Some(event)) = reader.next_event() {
        payloads.push(event.payload.to_vec());
        writer.append(event).expect("a Vec takes all");
    }
    let (reel, _) = writer.finish().expect("a Vec takes all");
    let mut reader = ReelReader::from_stream(Box::new(Cursor::new(reel))).expect("an own reel").with_payloads();
    let mut found = payloads.iter();
    while let Some(item) = reader.next().expect("memory reads") {
        let Item::Block(block) = item else { panic!("an own reel is damaged: {item:?}") };
        for event in block.events() {
            assert_eq!(Some(event.payload), found.next().map(Vec::as_slice));
        }
    }
    assert_eq!(found.next(), None);
});
