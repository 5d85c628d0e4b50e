//! Other tools' files, in the format that the first byte chooses: what is read can be written as a reel, and every event
//! is read back; a file that is recognised as another format is read in that one, too.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::formats::open_as;
use mcpreel::testing::trace::{Item, ReelReader, ReelWriter, WriterOptions};
use std::io::{BufReader, Cursor};

/// The formats; `fuzz/corpus.sh` writes their places here before the files of its corpus.
const FORMATS: [&str; 14] = [
    "transcript",
    "mcpsnoop",
    "mcp-rec",
    "mcp-cassette",
    "mcp-recorder",
    "agent-vcr",
    "mcp-vcr",
    "mcp-vcr-ndjson",
    "mcp-snoop",
    "claude-desktop",
    "vscode",
    "inspector",
    "har",
    "lines",
];

fuzz_target!(|data: &[u8]| {
    let Some((first, file)) = data.split_first() else { return };
    let name = FORMATS[usize::from(first.wrapping_sub(b'a')) % FORMATS.len()];
    let events = import(name, file, 4096);
    assert_eq!(import(name, file, 3), events, "chunks make no difference");
    if let Some((header, events)) = events {
        check(&header, &events);
    }
});

/// The header and the payloads of a file that is read in chunks of this size.
type Imported = (mcpreel::testing::trace::FileHeader, Vec<(i64, Vec<u8>)>);

fn import(name: &str, file: &[u8], chunk: usize) -> Option<Imported> {
    let input = BufReader::with_capacity(chunk, Cursor::new(file.to_vec()));
    let mut reader = open_as(name, Box::new(input)).expect("a known format").ok()?;
    let header = reader.header().clone();
    let mut events = Vec::new();
    while let Ok(Some(event)) = reader.next_event() {
        events.push((event.time, event.payload.to_vec()));
    }
    Some((header, events))
}

/// Checks that the reel has the same payloads.
fn check(header: &mcpreel::testing::trace::FileHeader, events: &[(i64, Vec<u8>)]) {
    use mcpreel::testing::trace::{EventKind, Flags, NewEvent};
    use mcpreel::testing::wire::Framing;
    let mut writer = ReelWriter::create(Vec::new(), header, WriterOptions::default()).expect("a Vec takes all");
    for (time, payload) in events {
        let (kind, flags, framing) = (EventKind::Message, Flags::default(), Framing::Lf);
        let event = NewEvent { time: *time, stream: 0, exchange: 0, kind, flags, framing, payload };
        writer.append(event).expect("a Vec takes all");
    }
    let (reel, _) = writer.finish().expect("a Vec takes all");
    let mut reader = ReelReader::from_stream(Box::new(Cursor::new(reel))).expect("an own reel").with_payloads();
    let mut found = events.iter();
    while let Some(item) = reader.next().expect("memory reads") {
        let Item::Block(block) = item else { panic!("an own reel is damaged: {item:?}") };
        for event in block.events() {
            assert_eq!(Some(event.payload), found.next().map(|event| event.1.as_slice()));
        }
    }
    assert_eq!(found.next(), None);
}
