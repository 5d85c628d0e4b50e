//! Whatever bytes are in a reel: no panic, a documented exit code, and no loss that is not reported.

use crate::common::{BINARY, Output, Stage, message, time};
use mcpreel::testing::trace::rebuild::build_index;
use mcpreel::testing::trace::{
    EventKind, FileHeader, Flags, FormatError, Item, NewEvent, ReelReader, ReelWriter, WriterOptions,
};
use mcpreel::testing::wire::Framing;
use serde_json::{Value, json};
use std::io::Cursor;
use std::path::Path;

/// The number of events in the valid reel.
const EVENTS: u64 = 12;

/// A valid reel with several groups of several segments, and an index.
fn sound() -> Vec<u8> {
    let header = FileHeader { created: 1_760_000_000_000_000_000, tool: "test".into(), ..FileHeader::default() };
    let options = WriterOptions { segment_bytes: 100, group_bytes: 250, ..WriterOptions::default() };
    let mut writer = ReelWriter::create(Vec::new(), &header, options).expect("a Vec takes all");
    for id in 0..EVENTS {
        let (kind, framing, payload) = match id {
            4 => (EventKind::Stderr, Framing::Whole, b"a line of standard error\n".to_vec()),
            8 => (EventKind::Message, Framing::CrLf, b"noise, no message".to_vec()),
            _ => {
                let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "echo"}});
                (EventKind::Message, Framing::Lf, call.to_string().into_bytes())
            }
        };
        let (time, flags) = (i64::try_from(id).expect("small") * 1_000_000, Flags::default());
        writer
            .append(NewEvent { time, stream: 0, exchange: 0, kind, flags, framing, payload: &payload })
            .expect("a Vec takes all");
    }
    let reel = writer.finish().expect("a Vec takes all").0;
    assert!(reel.len() < 2000, "{} bytes: small enough for every offset", reel.len());
    reel
}

/// The result of reading a reel to its end.
#[derive(Debug, Default, PartialEq)]
struct Read {
    events: Vec<(u64, Vec<u8>)>,
    damages: Vec<String>,
}

fn read(mut reader: ReelReader) -> Read {
    let mut found = Read::default();
    while let Some(item) = reader.next().expect("reading bytes in memory does not fail") {
        match item {
            Item::Damage(damage) => found.damages.push(damage.to_string()),
            Item::Block(block) => {
                found.events.extend(block.events().map(|event| (event.header.seq, event.payload.to_vec())));
            }
        }
    }
    found
}

fn open(bytes: &[u8]) -> Result<ReelReader, FormatError> {
    ReelReader::from_stream(Box::new(Cursor::new(bytes.to_vec()))).map(ReelReader::with_payloads)
}

/// Reads as a pipe and as a file, with payloads and without. None may panic, and all must agree.
fn read_every_way(bytes: &[u8], file: &Path) -> Option<Read> {
    std::fs::write(file, bytes).expect("written");
    let (piped, filed) = (open(bytes), ReelReader::open(file));
    assert_eq!(piped.is_ok(), filed.is_ok());
    let (piped, filed) = (read(piped.ok()?), read(filed.expect("as the pipe").with_payloads()));
    assert_eq!(piped.events, filed.events, "{piped:?}\n{filed:?}");
    assert_eq!(piped.damages.is_empty(), filed.damages.is_empty(), "{piped:?}\n{filed:?}");
    let checked = read(ReelReader::open(file).expect("as before").checking_payloads());
    assert_eq!(checked.damages.is_empty(), filed.damages.is_empty(), "{checked:?}\n{filed:?}");
    let mut headers_only = ReelReader::open(file).expect("as before");
    while headers_only.next().expect("reads").is_some() {}
    let (index, _) = build_index(ReelReader::open(file).expect("as before")).expect("reads");
    assert!(index.events <= EVENTS);
    let mut seeking = ReelReader::open(file).expect("as before").with_payloads();
    seeking.seek_seq(7).expect("reads");
    read(seeking);
    let mut seeking = ReelReader::open(file).expect("as before").with_payloads();
    seeking.seek_time(7_000_000).expect("reads");
    read(seeking);
    let mut following = ReelReader::open(file).expect("as before").with_payloads().following();
    while following.next().expect("reads").is_some() {}
    Some(filed)
}

/// Events that were read must be events of the valid reel, in order. If some are missing, there must be damage.
fn assert_honest(found: &Read, whole: &Read, what: &str, may_end_anywhere: bool) {
    let mut rest = whole.events.iter();
    for event in &found.events {
        assert!(rest.any(|sound| sound == event), "{what}: {event:?} is not the sound reel's");
    }
    if found.events.len() < whole.events.len() && !may_end_anywhere {
        assert!(!found.damages.is_empty(), "{what}: {} events and not a word", found.events.len());
    }
}

/// Where the segments begin, and where the last one ends.
fn boundaries(reel: &[u8]) -> Vec<usize> {
    (0..reel.len()).filter(|at| reel[*at..].starts_with(&[0xd7, b'S', b'G', 0x8e])).collect()
}

#[test]
fn a_reel_cut_anywhere_gives_what_is_left_and_reports() {
    let stage = Stage::new();
    let (reel, whole) = (sound(), read(open(&sound()).expect("sound")));
    assert_eq!((whole.events.len() as u64, whole.damages.len()), (EVENTS, 0));
    let segments = boundaries(&reel);
    assert!(segments.len() > 5, "{segments:?}");
    let mut most = 0;
    for end in 0..reel.len() {
        let Some(found) = read_every_way(&reel[..end], &stage.path("cut.reel")) else {
            assert!(end < segments[0], "cut at {end}: refused as a whole");
            continue;
        };
        // A reel cut between segments is valid, but was never finished.
        assert_honest(&found, &whole, &format!("cut at {end}"), segments.contains(&end));
        assert!(found.events.len() >= most, "cut at {end}: fewer events than a shorter cut gave");
        most = found.events.len();
    }
}

#[test]
fn a_byte_flipped_anywhere_costs_little_and_is_reported() {
    let stage = Stage::new();
    let (reel, whole) = (sound(), read(open(&sound()).expect("sound")));
    let (segments, mut bytes) = (boundaries(&reel), reel.clone());
    for at in 0..reel.len() {
        bytes[at] ^= 0x5a;
        match read_every_way(&bytes, &stage.path("flipped.reel")) {
            None => assert!(at < segments[0], "flipped at {at}: refused as a whole"),
            Some(found) => {
                assert!(at >= 12, "flipped at {at}: the signature or version does not count");
                assert_honest(&found, &whole, &format!("flipped at {at}"), false);
                // At most one group is lost, and with its first segment header perhaps the one before.
                assert!(found.events.len() as u64 >= EVENTS - 6, "flipped at {at}: {} events", found.events.len());
            }
        }
        bytes[at] = reel[at];
    }
}

#[test]
fn bytes_put_in_or_taken_out_anywhere_are_reported() {
    let stage = Stage::new();
    let (reel, whole) = (sound(), read(open(&sound()).expect("sound")));
    for at in (boundaries(&reel)[0]..reel.len() - 20).step_by(7) {
        let without = [&reel[..at], &reel[at + 3..]].concat();
        let with = [&reel[..at], b"\r\n?", &reel[at..]].concat();
        for (what, bytes) in [("taken out", without), ("put in", with)] {
            let found = read_every_way(&bytes, &stage.path("odd.reel")).expect("the file header is sound");
            assert_honest(&found, &whole, &format!("{what} at {at}"), false);
        }
    }
}

/// Runs the commands that read a reel on these bytes; returns the outputs of `export`.
fn run_all(stage: &Stage, bytes: &[u8], what: &str) -> Vec<(&'static str, Output)> {
    stage.write("bad.reel", bytes);
    let commands: [(&str, &[&str]); 7] = [
        ("show", &["show", "bad.reel"]),
        ("show --full", &["show", "bad.reel", "--full", "--seq", "3"]),
        ("verify", &["reel", "verify", "bad.reel"]),
        ("info", &["reel", "info", "bad.reel"]),
        ("stats", &["stats", "bad.reel"]),
        ("cat", &["reel", "cat", "bad.reel", "--stream", "c2s"]),
        ("export", &["export", "bad.reel"]),
    ];
    let run = |(name, words): (&'static str, &[&str])| {
        let output = stage.run(words, "");
        assert!(matches!(output.code(), 0 | 1 | 3), "{what}, {name}: {output:?}");
        assert!(!output.err().contains("panicked"), "{what}, {name}: {output:?}");
        if output.code() != 0 {
            let reported = output.err() + &String::from_utf8_lossy(&output.stdout);
            assert!(reported.contains("mcpreel:") || reported.contains("damage"), "{what}, {name}: {output:?}");
        }
        (name, output)
    };
    commands.map(run).into()
}

fn check_all(stage: &Stage, bytes: &[u8], what: &str, may_end_anywhere: bool) {
    let outputs = run_all(stage, bytes, what);
    for (name, output) in &outputs {
        match *name {
            "export" => {
                let lines = String::from_utf8_lossy(&output.stdout).lines().count() as u64;
                let silent = output.code() == 0 && output.stderr.is_empty();
                assert!(lines == EVENTS + 1 || !silent || may_end_anywhere, "{what}: {lines} lines, {output:?}");
            }
            // Commands that describe a reel must report that it ends without its index.
            "verify" => {
                let reported = String::from_utf8_lossy(&output.stdout);
                let sound = reported.contains(&format!("{EVENTS} events")) && !reported.contains("no index");
                assert!(sound || output.code() != 0 || reported.contains("no index"), "{what}: {output:?}");
            }
            "info" if may_end_anywhere => {
                assert!(String::from_utf8_lossy(&output.stdout).contains("none: the recorder"))
            }
            _ => {}
        }
    }
}

#[test]
fn the_commands_stand_cut_reels() {
    let (stage, reel) = (Stage::new(), sound());
    let segments = boundaries(&reel);
    let mut ends: Vec<usize> = (0..reel.len()).step_by(reel.len() / 18).collect();
    ends.extend(segments.iter().flat_map(|at| [*at, at + 1]).take(8));
    for end in ends {
        check_all(&stage, &reel[..end], &format!("cut at {end}"), segments.contains(&end));
    }
}

#[test]
fn the_commands_stand_flipped_bytes() {
    let (stage, reel) = (Stage::new(), sound());
    for at in (0..reel.len()).step_by(reel.len() / 22) {
        let mut bytes = reel.clone();
        bytes[at] ^= 0x5a;
        check_all(&stage, &bytes, &format!("flipped at {at}"), false);
    }
}

#[test]
fn damaged_reels_are_repaired_to_sound_ones() {
    let (stage, reel) = (Stage::new(), sound());
    let first = boundaries(&reel)[0];
    for at in (first..reel.len()).step_by(reel.len() / 16) {
        let mut flipped = reel.clone();
        flipped[at] ^= 0x5a;
        for (what, bytes) in [("flipped", &flipped[..]), ("cut", &reel[..at])] {
            stage.write("bad.reel", bytes);
            let before = stage.run(&["export", "bad.reel"], "");
            stage.ok(&["reel", "repair", "bad.reel", "-o", "good.reel", "--force"]);
            let verified = stage.ok(&["reel", "verify", "good.reel"]);
            assert!(!verified.out().contains("no index"), "{what} at {at}: {verified:?}");
            let events = stage.events("good.reel");
            let kept = events.iter().skip(1).filter(|event| event["event"] != "gap").count();
            assert_eq!(kept + 1, before.out().lines().count(), "{what} at {at}");
            let reported = events.iter().any(|event| event["event"] == "gap");
            let (damaged, index) =
                (before.err().contains("damage at byte"), before.err().contains("the index at byte"));
            assert_eq!(before.code() == 1, damaged || index, "{what} at {at}: {before:?}");
            assert_eq!(
                reported, damaged,
                "{what} at {at}: a gap stands for the damage, and a wrong index is made anew"
            );
        }
    }
}

/// All commands that read a reel.
const READERS: [&[&str]; 6] =
    [&["show"], &["stats"], &["export"], &["reel", "info"], &["reel", "verify"], &["reel", "cat"]];

fn refused(stage: &Stage, name: &str, reported: &[&str]) {
    for reader in READERS {
        let output = stage.run(&[reader, &[name]].concat(), "");
        assert_eq!(output.code(), 3, "{reader:?} {name}: {output:?}");
        assert!(output.stdout.is_empty(), "{reader:?} {name}: {output:?}");
        for part in reported {
            assert!(output.err().contains(part), "{reader:?} {name}, {part:?} expected: {output:?}");
        }
    }
}

/// Refused for the line that is wrong by the commands that read JSON lines, by the others as no reel.
fn refused_text(stage: &Stage, name: &str) {
    for reader in READERS {
        let output = stage.run(&[reader, &[name]].concat(), "");
        let reads_text = !matches!(reader, ["reel", "info" | "verify" | "index" | "repair" | "compact"]);
        let expected = if reads_text { format!("{name}: line 1: ") } else { "looks like JSON".to_owned() };
        assert_eq!(output.code(), 3, "{reader:?}: {output:?}");
        assert!(output.err().contains(&expected), "{reader:?}: {expected}: {output:?}");
    }
}

#[test]
fn what_is_no_reel_is_named() {
    let stage = Stage::new();
    stage.write("empty.reel", "");
    refused(&stage, "empty.reel", &["empty.reel", "the file is empty"]);
    stage.write("lines.jsonl", "{\"reel\":{\"version\":1}}\n");
    refused_text(&stage, "lines.jsonl");
    stage.write("array.json", "[1, 2]");
    refused(&stage, "array.json", &["looks like JSON"]);
    std::fs::create_dir(stage.path("folder.reel")).expect("a folder");
    refused(&stage, "folder.reel", &["folder.reel", "it is a directory"]);
    refused(&stage, "missing.reel", &["missing.reel", "No such file", "hint:"]);
    stage.write("notes.txt", "just some text\n");
    refused(&stage, "notes.txt", &["notes.txt", "not a reel"]);
    refused(&stage, "/dev/null", &["/dev/null", "the file is empty"]);
    stage.write("text-mode.reel", b"\x89REEL\n\x1a and so on");
    refused(&stage, "text-mode.reel", &["altered", "text mode"]);
    let mut newer = sound();
    newer[8] = 2;
    stage.write("newer.reel", newer);
    refused(&stage, "newer.reel", &["version 2.1", "update mcpreel"]);
}

#[test]
fn what_is_no_reel_is_named_on_standard_input_too() {
    let stage = Stage::new();
    for (input, reported) in
        [("", "empty"), ("{}", "looks like JSON"), ("text", "not a reel"), ("\u{89}", "not a reel")]
    {
        for reader in READERS {
            let output = stage.run(&[reader, &["-"]].concat(), input);
            assert_eq!(output.code(), 3, "{reader:?}: {output:?}");
            let is_named = output.err().contains(reported) || output.err().contains("-: unknown format");
            assert!(is_named, "{reader:?}: {output:?}");
        }
    }
}

#[test]
fn a_reel_that_cannot_be_rewritten_is_left_alone() {
    let stage = Stage::new();
    for bytes in [&b""[..], b"text", &sound()[..20]] {
        stage.write("bad.reel", bytes);
        for command in ["repair", "compact", "index"] {
            let output = stage.run(&["reel", command, "bad.reel"], "");
            assert_eq!(output.code(), 3, "{command}: {output:?}");
            assert_eq!(stage.read("bad.reel"), bytes, "{command}");
        }
    }
    stage.write("good.reel", sound());
    let output = stage.run(&["reel", "compact", "good.reel", "-o", "/dev/full"], "");
    assert_eq!(output.code(), 4, "{output:?}");
    let output = stage.run(&["export", "good.reel", "-o", "no/such/folder/x"], "");
    assert_eq!(output.code(), 4, "{output:?}");
}

#[test]
fn full_standard_output_is_reported() {
    let stage = Stage::new();
    stage.write("good.reel", sound());
    for reader in READERS {
        let words: &[&str] =
            if reader[..] == ["reel", "cat"] { &["good.reel", "--stream", "c2s"] } else { &["good.reel"] };
        let mut command = stage.mcpreel(&[reader, words].concat());
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a full device");
        let output = command.stdout(full).output().expect("ends");
        assert_eq!(output.status.code(), Some(4), "{reader:?}: {output:?}");
        let reported = String::from_utf8_lossy(&output.stderr);
        assert!(reported.contains("No space left"), "{reader:?}: {reported}");
    }
}

#[test]
fn messages_of_any_shape_are_shown() {
    let stage = Stage::new();
    let odd = [
        json!({"jsonrpc": "1.0", "id": null, "method": 7}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {}}),
        json!({"jsonrpc": "2.0", "id": {"a": 1}, "method": "tools/call", "params": []}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": {"no": "string"}}}),
        json!({"jsonrpc": "2.0", "id": 1, "error": "text"}),
        json!([{"jsonrpc": "2.0", "id": 2, "method": "ping"}, 3]),
        json!([]),
        json!({}),
        json!(null),
        json!({"method": "push/event", "id": 9, "params": {"payload": 1}}),
        json!({"method": "conversation/userMessage", "id": 10, "params": {"content": {"x": 1}}}),
        json!({"method": "events/event", "params": {"event": []}}),
        json!({"method": "notifications/reminder", "params": {"reminder": 3}}),
        json!({"method": "context/beforeInference", "id": 11, "params": {"turnIndex": "x"}}),
        json!({"method": "initialize", "id": 12, "params": {"clientInfo": 1}}),
        json!({"method": "\u{1b}[31m\u{202e}", "id": "\u{7}\u{9b}31m"}),
    ];
    let deep = "[".repeat(5000) + &"]".repeat(5000);
    let mut events: Vec<Value> = odd.into_iter().enumerate().map(|(at, odd)| message(at as u64, "c2s", odd)).collect();
    events.push(json!({"time": time(99), "dir": "s2c", "text": deep}));
    let steering = "{\"raw\": \"\u{1b}[31m\u{9b}31m\u{202e}\", \u{1b}]0;title\u{7}: \u{7f}";
    events.push(json!({"time": time(99), "dir": "s2c", "text": steering}));
    events.push(json!({"time": time(99), "dir": "s2c", "event": "stderr", "text": steering}));
    stage.reel("odd.reel", &events);
    for format in ["list", "full", "table", "json"] {
        let output = stage.ok(&["show", "odd.reel", "--format", format]);
        if format != "json" {
            assert!(
                !output.out().contains(['\u{1b}', '\u{7}', '\u{7f}', '\u{9b}', '\u{202e}']),
                "{format}: {output:?}"
            );
        }
    }
    stage.ok(&["stats", "odd.reel"]);
    stage.ok(&["show", "odd.reel", "--jq", ".seq"]);
}

#[test]
fn a_mock_that_cannot_write_its_answers_says_so() {
    let stage = Stage::new();
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}});
    let result = json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-11-25", "capabilities": {},
        "serverInfo": {"name": "s", "version": "1"}}});
    stage.reel("t.reel", &[message(0, "c2s", initialize.clone()), message(1, "s2c", result)]);
    stage.write("sent", format!("{initialize}\n"));
    let mut command = stage.mcpreel(&["mock", "t.reel"]);
    command.stdin(std::fs::File::open(stage.path("sent")).expect("a file"));
    let full = std::fs::File::options().write(true).open("/dev/full").expect("a full device");
    let output = command.stdout(full).output().expect("ends");
    let reported = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(4) && reported.contains("No space left"), "{output:?}");
}

/// A script that relies on the reel must not pass.
#[test]
fn a_command_whose_reel_is_incomplete_fails() {
    let stage = Stage::new();
    let output = stage.run(&["call", "ping", "--era", "legacy", "--record", "/dev/full", "--", BINARY, "serve"], "");
    assert_eq!((output.code(), output.out().as_str()), (4, "{}\n"), "{output:?}");
    assert!(output.err().contains("the reel is incomplete"), "{output:?}");
}

#[test]
fn help_that_cannot_be_written_fails() {
    let full = std::fs::File::options().write(true).open("/dev/full").expect("a full device");
    let output = Stage::new().mcpreel(&["show", "--help"]).stdout(full).output().expect("ends");
    assert_eq!(output.status.code(), Some(4), "{output:?}");
}

#[test]
fn a_file_without_an_end_is_not_read() {
    let stage = Stage::new();
    stage.write("empty.jsonl", "");
    for words in [
        &["validate", "empty.jsonl", "--baseline", "/dev/zero", "--write-baseline"][..],
        &["fire", "raw", "@/dev/zero", "--", "true"],
        &["overlay", "/dev/zero", "--check"],
    ] {
        let output = stage.run(words, "");
        assert!(output.code() == 3 && output.err().contains("larger than 64 MiB"), "{output:?}");
    }
}

#[test]
fn one_bad_line_of_json_lines_is_a_gap() {
    let stage = Stage::new();
    let line = |seconds: u64| {
        format!(
            "{{\"time\":\"2026-01-01T00:00:0{seconds}Z\",\"dir\":\"c2s\",\"event\":\"message\",\"message\":{{\"jsonrpc\":\"2.0\",\"method\":\"m{seconds}\"}}}}"
        )
    };
    let header = "{\"reel\":{\"version\":1,\"created\":\"2026-01-01T00:00:00Z\"}}";
    let lines = [header, &line(1), "{\"time\":", &line(2)].join("\n");
    let output = stage.run(&["import", "-", "-o", "out.reel"], lines);
    assert_eq!(output.code(), 1, "{output:?}");
    assert!(output.err().contains("line 3: not a single JSON object"), "{output:?}");
    let kinds: Vec<Value> = stage.events("out.reel")[1..].iter().map(|event| event["event"].clone()).collect();
    assert_eq!(kinds, ["message", "gap", "message"]);
}
