//! Files: a forged index is not trusted, nothing is replaced by accident, and a file without messages is refused.

use crate::common::{Stage, message};
use mcpreel::testing::trace::writer::footer_bytes;
use mcpreel::testing::trace::{Index, ReelReader};
use serde_json::{Value, json};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;

/// This many requests, one per millisecond.
fn pings(count: u64) -> Vec<Value> {
    let ping = |number: u64| message(number, "c2s", json!({"jsonrpc": "2.0", "id": number, "method": "ping"}));
    (0..count).map(ping).collect()
}

/// Replaces a reel's index, with valid checksums.
fn forge(stage: &Stage, name: &str, edit: impl FnOnce(&mut Index)) {
    let bytes = stage.read("sound.reel");
    let at = u64::from_le_bytes(bytes[bytes.len() - 20..bytes.len() - 12].try_into().expect("eight bytes"));
    let mut reader = ReelReader::open(&stage.path("sound.reel")).expect("a reel");
    let mut index = reader.index().expect("reads").expect("a sound index").expect("an index").clone();
    edit(&mut index);
    let footer = footer_bytes(&index, index.events, at).expect("a Vec takes all");
    stage.write(name, [&bytes[..at as usize], &footer].concat());
}

#[test]
fn an_index_that_lies_is_reported_and_not_used() {
    let stage = Stage::new();
    stage.reel("sound.reel", &pings(20));
    assert_eq!(stage.ok(&["reel", "verify", "sound.reel"]).err(), "");
    forge(&stage, "many.reel", |index| index.events = 1_000_000_000_000_000_000);
    forge(&stage, "far.reel", |index| index.groups[0].0 = 1_000_000_000_000);
    forge(&stage, "hidden.reel", |index| index.events -= 1);
    forge(&stage, "times.reel", |index| index.times = Some((i64::MAX, i64::MIN)));
    let mut flipped = stage.read("sound.reel");
    let in_the_index = flipped.len() - 40;
    flipped[in_the_index] ^= 1;
    stage.write("flipped.reel", flipped);
    let honest = stage.info("sound.reel");
    for reel in ["many.reel", "far.reel", "hidden.reel", "times.reel", "flipped.reel"] {
        let verified = stage.run(&["reel", "verify", reel], "");
        assert_eq!(verified.code(), 1, "{reel}");
        assert!(verified.out().contains("the index at byte"), "{reel}: {}", verified.out());
        assert!(verified.err().contains("`mcpreel reel index` replaces the index"), "{reel}: {}", verified.err());
        let reported = stage.run(&["reel", "info", reel, "--format", "json"], "");
        assert_eq!(reported.code(), 1, "{reel}");
        let info = reported.json();
        for what in ["events", "bytes", "seconds", "groups", "kinds", "methods"] {
            assert_eq!(info[what], honest[what], "{reel}: {what}");
        }
        assert_eq!(info["indexed"], false, "{reel}");
        let text = stage.run(&["reel", "info", reel], "");
        assert!(text.err().contains("the index at byte") && text.err().contains("is wrong"), "{reel}: {}", text.err());
        for start in [["--seq", "5"], ["--from", "0.005"]] {
            let shown = stage.run(&["show", reel, start[0], start[1], "--format", "json"], "");
            assert_eq!(shown.out().lines().count(), 15, "{reel} {start:?}: {}", shown.out());
            assert!(shown.err().contains("the index at byte"), "{reel} {start:?}: {}", shown.err());
        }
        stage.ok(&["reel", "index", reel]);
        assert!(stage.read(reel) == stage.read("sound.reel"), "{reel} has its index again");
    }
}

#[test]
fn without_an_index_a_show_from_a_time_misses_nothing() {
    let stage = Stage::new();
    let large = "x".repeat(3000);
    let at_once =
        |number: u64| message(0, "c2s", json!({"jsonrpc": "2.0", "id": number, "method": "ping", "params": large}));
    stage.reel("sound.reel", &(0..600).map(at_once).collect::<Vec<_>>());
    assert!(stage.info("sound.reel")["groups"].as_u64().is_some_and(|groups| groups > 1));
    let bytes = stage.read("sound.reel");
    let footer = u64::from_le_bytes(bytes[bytes.len() - 20..bytes.len() - 12].try_into().expect("eight bytes"));
    stage.write("killed.reel", &bytes[..footer as usize]);
    let shown = stage.ok(&["show", "killed.reel", "--from", "0"]);
    assert_eq!(shown.out().lines().count(), 600);
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("a file").permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("the mode is set");
}

/// A reel that becomes smaller when it is compacted.
fn loose(stage: &Stage, name: &str) {
    let large = |number: u64| json!({"jsonrpc": "2.0", "id": number, "method": "ping", "params": {"of": "abcdefgh".repeat(2000)}});
    stage.reel(name, &(0..300).map(|number| message(number, "c2s", large(number))).collect::<Vec<_>>());
}

#[test]
fn what_is_replaced_keeps_its_link_and_its_mode() {
    let stage = Stage::new();
    std::fs::create_dir(stage.path("kept")).expect("a folder");
    let real = stage.path("kept/real");
    let lines = stage.ok(&["export", stage.reel("source.reel", &pings(3)).to_str().expect("text")]).out();
    stage.write("lines.jsonl", lines);
    let commands: [&[&str]; 6] = [
        &["reel", "compact", "link"],
        &["reel", "repair", "link"],
        &["reel", "index", "link"],
        &["reel", "compact", "loose.reel", "-o", "link", "--force"],
        &["export", "source.reel", "-o", "link", "--force"],
        &["import", "lines.jsonl", "-o", "link", "--force"],
    ];
    loose(&stage, "loose.reel");
    for command in commands {
        let mut bytes = stage.read("loose.reel");
        if command.contains(&"index") || command.contains(&"repair") {
            bytes.truncate(bytes.len() - 20);
        }
        std::fs::write(&real, &bytes).expect("the reel is written");
        set_mode(&real, 0o644);
        let _ = std::fs::remove_file(stage.path("link"));
        symlink("kept/real", stage.path("link")).expect("a link");
        stage.ok(command);
        assert_eq!(std::fs::read_link(stage.path("link")).expect("a link"), Path::new("kept/real"), "{command:?}");
        assert_eq!(mode(&real), 0o644, "{command:?}");
        assert!(std::fs::read(&real).expect("a file") != bytes, "{command:?}: the target is written");
        assert_eq!(
            std::fs::read_dir(stage.path("kept")).expect("a folder").count(),
            1,
            "{command:?}: nothing beside it"
        );
    }
}

#[test]
fn a_damaged_reel_behind_a_link_is_kept_beside_its_target() {
    let stage = Stage::new();
    std::fs::create_dir(stage.path("kept")).expect("a folder");
    let bytes = std::fs::read(stage.reel("source.reel", &pings(3))).expect("a reel");
    std::fs::write(stage.path("kept/real"), &bytes[..bytes.len() / 2]).expect("written");
    std::fs::write(stage.path("kept/real.damaged"), "another's").expect("written");
    symlink("kept/real", stage.path("link")).expect("a link");
    stage.ok(&["reel", "repair", "link"]);
    assert!(stage.path("link").is_symlink());
    assert_eq!(stage.read("kept/real.damaged"), b"another's");
    assert_eq!(stage.read("kept/real.damaged.1"), &bytes[..bytes.len() / 2]);
    stage.ok(&["reel", "verify", "kept/real"]);
}

#[test]
fn devices_and_pipes_are_written_and_never_replaced() {
    let stage = Stage::new();
    stage.reel("source.reel", &pings(3));
    let lines = stage.ok(&["export", "source.reel"]).out();
    stage.write("lines.jsonl", &lines);
    symlink("/dev/full", stage.path("full")).expect("a link");
    for command in [&["export", "source.reel"][..], &["import", "lines.jsonl"], &["reel", "compact", "source.reel"]] {
        let output = stage.run(&[command, &["-o", "full", "--force"]].concat(), "");
        assert_eq!(output.code(), 4, "{command:?}: {output:?}");
        assert!(output.err().contains("No space left"), "{command:?}: {output:?}");
        assert_eq!(std::fs::read_link(stage.path("full")).expect("a link"), Path::new("/dev/full"));
    }
    let made = stage.command(&["mkfifo", "pipe"]).status().expect("mkfifo runs");
    assert!(made.success());
    let path = stage.path("pipe");
    let reader = std::thread::spawn(move || std::fs::read(path).expect("the pipe is read"));
    stage.ok(&["export", "source.reel", "-o", "pipe", "--force"]);
    assert_eq!(String::from_utf8(reader.join().expect("a thread")).expect("text"), lines);
    // In place, the output would overwrite the input while it is being read.
    for command in ["compact", "repair"] {
        let reel = stage.read("source.reel");
        let path = stage.path("pipe");
        let writer = std::thread::spawn(move || std::fs::write(path, reel));
        let output = stage.run(&["reel", command, "pipe"], "");
        assert_eq!(output.code(), 2, "{command}: {output:?}");
        assert!(output.err().contains("not a regular file"), "{command}: {output:?}");
        drop(writer.join());
    }
    assert!(std::fs::symlink_metadata(stage.path("pipe")).expect("it is there").file_type().is_fifo());
}

#[test]
fn compact_never_leaves_a_larger_file() {
    let stage = Stage::new();
    stage.reel("tiny.reel", &pings(1));
    stage.ok(&["reel", "compact", "tiny.reel", "-o", "packed.reel"]);
    let packed = stage.read("packed.reel");
    assert!(packed.len() <= stage.read("tiny.reel").len());
    set_mode(&stage.path("packed.reel"), 0o640);
    let again = stage.ok(&["reel", "compact", "packed.reel"]);
    assert!(again.err().contains("left unchanged"), "{}", again.err());
    assert!(stage.read("packed.reel") == packed);
    assert_eq!(mode(&stage.path("packed.reel")), 0o640);
    let copied = stage.run(&["reel", "compact", "packed.reel", "-o", "copy.reel"], "");
    assert!(copied.err().contains("copied to copy.reel"), "{}", copied.err());
    assert!(stage.read("copy.reel") == packed);
}

#[test]
fn a_file_without_a_message_is_refused_with_what_can_be_read() {
    let stage = Stage::new();
    let notes = "{\"dir\":\"in\",\"ts\":1,\"payload\":{\"jsonrpc\":\"2.0\"}}\n{\"dir\":\"out\",\"ts\":2}\n";
    let header = "{\"reel\":{\"version\":1,\"created\":\"2026-07-28T12:00:00Z\",\"tool\":\"hand\"}}\n";
    stage.write("notes.ndjson", notes);
    stage.write("it.reel", "what was there");
    for (what, input) in
        [("notes", notes), ("an empty export", header), ("no JSON", "a line of a log\n"), ("nothing", "")]
    {
        let output = stage.run(&["import", "-", "-o", "it.reel", "--force"], input);
        assert_eq!(output.code(), 3, "{what}: {output:?}");
        for form in ["mcpreel export", "transcript", "client_to_server", "`sse`"] {
            assert!(output.err().contains(form), "{what}, {form}: {output:?}");
        }
        assert_eq!(stage.read("it.reel"), b"what was there", "{what}");
    }
    let output = stage.run(&["import", "notes.ndjson", "-o", "it.reel", "--force"], "");
    assert_eq!(output.code(), 3);
    assert!(output.err().contains("notes.ndjson: no messages among 2 events"), "{output:?}");
    let entries =
        std::fs::read_dir(stage.path(".")).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let left: Vec<_> = entries.filter(|name| name.to_string_lossy().ends_with(".part")).collect();
    assert!(left.is_empty(), "nothing is left beside: {left:?}");
}

#[test]
fn a_reel_without_a_message_is_neither_valid_nor_compared() {
    let stage = Stage::new();
    stage.reel("some.reel", &pings(1));
    let mut empty = Vec::new();
    let header = mcpreel::testing::trace::FileHeader { created: 1, ..Default::default() };
    header.write(&mut empty).expect("a Vec takes all");
    stage.write("empty.reel", &empty);
    for words in
        [&["validate", "empty.reel"][..], &["validate", "empty.reel", "--format", "json", "--fail-on", "never"]]
    {
        let output = stage.run(words, "");
        assert_eq!((output.code(), output.out()), (3, String::new()), "{words:?}: {output:?}");
        assert!(output.err().contains("empty.reel: no messages"), "{output:?}");
    }
    let compared = stage.run(&["diff", "empty.reel", "empty.reel"], "");
    assert_eq!(compared.code(), 3, "{compared:?}");
    let compared = stage.run(&["diff", "some.reel", "empty.reel"], "");
    assert_eq!(compared.code(), 1, "{compared:?}");
    assert!(compared.err().contains("empty.reel: no messages"), "{compared:?}");
    assert!(stage.ok(&["export", "empty.reel"]).out().starts_with("{\"reel\":"));
}
