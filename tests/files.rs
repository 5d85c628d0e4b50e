//! Duty: files as the commands find and leave them: an index that lies is not believed, nothing is replaced by accident,
//! and a file without a message is refused.
#![cfg(unix)]
#![expect(clippy::expect_used, clippy::panic, reason = "a test's helpers fail the test by panicking")]

#[expect(dead_code, reason = "each test file uses its part of the stage")]
mod common;

use common::{Stage, message};
use mcpreel::trace::writer::footer_bytes;
use mcpreel::trace::{Index, ReelReader};
use serde_json::{Value, json};

/// So many requests, one a millisecond.
fn pings(count: u64) -> Vec<Value> {
    let ping = |number: u64| message(number, "c2s", json!({"jsonrpc": "2.0", "id": number, "method": "ping"}));
    (0..count).map(ping).collect()
}

/// Puts another index into a reel, every check sum right.
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
        let told = stage.run(&["reel", "info", reel, "--format", "json"], "");
        assert_eq!(told.code(), 1, "{reel}");
        let info = told.json();
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
        assert_eq!(stage.read(reel), stage.read("sound.reel"), "{reel} has its index again");
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
