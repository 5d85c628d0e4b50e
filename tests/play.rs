//! Duty: hold `host --scenario` and `serve --scenario` as they are used: either clock, reports in every form, exit codes,
//! mistakes told with their line, and a server's part played for a host that knows nothing of it.
#![cfg(target_os = "linux")]
#![expect(clippy::expect_used, clippy::panic, reason = "a test's helpers fail the test by panicking")]

#[expect(dead_code, reason = "each test file uses its part of the stage")]
mod common;

use common::{BINARY, Output, Stage};
use serde_json::{Value, json};

const PASSES: &str = "\
name: it remembers
clock: virtual
servers:
  memory: {builtin: {declare: [conversation]}}
steps:
  - user: what about the schema?
    model: one table per tenant
    expect:
      - message: {server: memory, direction: c2s, method: conversation/userMessage}
        times: 1
      - prompt: {server: memory, slot: conversation.context, contains: one table per tenant}
  - wait: 24h
expect:
  - validates: true
";

fn play(stage: &Stage, scenario: &str, words: &[&str]) -> Output {
    let file = stage.write("scenario.yaml", scenario);
    stage.run(&[&["host", "--scenario", file.to_str().expect("a path")], words].concat(), "")
}

#[test]
fn a_day_in_virtual_time_passes_at_once_and_is_in_the_reel() {
    let stage = Stage::new();
    let reel = stage.path("day.reel");
    let reel = reel.to_str().expect("a path");
    let played = play(&stage, PASSES, &["--format", "json", "--record", reel]);
    assert_eq!(played.code(), 0, "{played:?}");
    let report = played.json();
    assert_eq!((&report["passed"], &report["counts"]["passed"]), (&json!(true), &json!(3)));
    assert!(report["took_us"].as_u64() > Some(86_400_000_000), "{report}");
    let messages = stage.events(reel);
    assert!(messages.iter().any(|event| event["message"]["method"] == "conversation/userMessage"));
}

#[test]
fn the_same_in_real_time_over_a_process() {
    let stage = Stage::new();
    let server = format!("memory: {{command: [{BINARY}, serve, --declare, conversation]}}");
    let scenario = PASSES.replace("memory: {builtin: {declare: [conversation]}}", &server).replace("24h", "1ms");
    let refused = play(&stage, &scenario, &[]);
    assert_eq!(refused.code(), 2, "{refused:?}");
    assert!(refused.err().contains("not built in") && refused.err().contains("line 4"), "{refused:?}");
    let played = play(&stage, &scenario, &["--clock", "real", "--format", "json"]);
    assert_eq!(played.code(), 0, "{played:?}");
    let reel = played.json()["reel"].as_str().expect("a reel").to_owned();
    assert_eq!(stage.run(&["validate", &reel], "").code(), 0);
}

#[test]
fn what_does_not_hold_is_told_in_every_form() {
    let stage = Stage::new();
    let scenario = PASSES.replace("contains: one table per tenant", "contains: nothing of the kind");
    let junit = stage.path("report.xml");
    let played = play(&stage, &scenario, &["--junit", junit.to_str().expect("a path")]);
    assert_eq!(played.code(), 1, "{played:?}");
    assert!(played.out().contains("scenario.yaml:11") && played.out().contains("nothing of the kind"), "{played:?}");
    let xml = String::from_utf8(stage.read("report.xml")).expect("text");
    assert!(xml.contains("failures=\"1\"") && xml.contains("tests=\""), "{xml}");
}

#[test]
fn a_mistake_is_told_with_its_line() {
    let stage = Stage::new();
    for (right, wrong, place) in [
        ("user: what", "usr: what", ":6:"),
        ("server: memory, direction", "server: memry, direction", ":9:"),
        ("wait: 24h", "wait: soon", ":12:"),
        ("declare: [conversation]", "declare: [conversations]", ":4:"),
    ] {
        let told = play(&stage, &PASSES.replace(right, wrong), &[]);
        assert_eq!(told.code(), 3, "{told:?}");
        assert!(told.err().contains(&format!("scenario.yaml{place}")), "{wrong}: {told:?}");
    }
}

#[test]
fn a_server_plays_its_part_for_any_host() {
    let stage = Stage::new();
    let scenario = "\
name: slow and reminding
clock: virtual
servers:
  watcher: {builtin: {declare: [conversation, reminder]}}
  other: {builtin: {declare: [hooks]}}
steps:
  - server: watcher
    fire: {kind: reminder, body: look at lib.rs, ttlTurns: 1}
  - user: what only a host can do
faults:
  - {server: watcher, direction: s2c, method: conversation/userMessage, delay: 900ms}
expect:
  - message: {server: watcher, direction: c2s, method: conversation/userMessage}
    times: 1
  - prompt: {contains: what no server sees}
";
    let file = stage.write("part.yaml", scenario);
    let file = file.to_str().expect("a path");
    let unnamed = stage.run(&["serve", "--scenario", file], "");
    assert_eq!(unnamed.code(), 2, "{unnamed:?}");
    assert!(unnamed.err().contains("watcher, other"), "{unnamed:?}");

    let server = format!("w={BINARY} serve --scenario {file} --as watcher");
    let host = ["host", "-s", &server, "--do", "/wait 100ms", "--do", "/turn what changed?", "--format", "json"];
    let told = stage.run(&host, "");
    assert_eq!(told.code(), 0, "{told:?}");
    let told: Vec<Value> = told.out().lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let facts: Vec<&str> = told.iter().filter_map(|line| line["what"].as_str()).collect();
    assert!(facts.contains(&"queued") && facts.contains(&"timed out"), "{facts:?}");
    let prompt = told.iter().find(|line| line["event"] == "prompt").expect("a prompt");
    assert!(prompt["prompt"].to_string().contains("look at lib.rs"), "{prompt}");

    // Nobody came who said anything.
    let alone = stage.run(&["serve", "--scenario", file, "--as", "watcher"], "");
    assert_eq!(alone.code(), 1, "{alone:?}");
    assert!(alone.err().contains("conversation/userMessage") && alone.out().is_empty(), "{alone:?}");
    let junit = stage.path("served.xml");
    let junit = junit.to_str().expect("a path");
    let words = ["serve", "--scenario", file, "--as", "watcher", "--format", "json", "--junit", junit];
    let alone = stage.run(&words, "");
    assert_eq!((alone.code(), alone.out().as_str()), (1, ""), "{alone:?}");
    let report: Value = serde_json::from_str(&alone.err()).expect("nothing but the report");
    assert_eq!((&report["event"], &report["counts"]["failed"]), (&json!("report"), &json!(1)), "{report}");
    let xml = String::from_utf8(stage.read("served.xml")).expect("text");
    assert!(xml.contains("<failure message="), "{xml}");
    let seeded = stage.run(&["serve", "--scenario", file, "--as", "watcher", "--seed", "1"], "");
    assert_eq!(seeded.code(), 2, "what a scenario decides is not taken beside it: {seeded:?}");
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_anything_is_played() {
    let stage = Stage::new();
    for command in ["host", "serve"] {
        let file = stage.write("scenario.yaml", PASSES);
        let words = [command, "--scenario", file.to_str().expect("a path"), "--junit", "no/such/folder/r.xml"];
        let refused = stage.run(&words, "");
        assert_eq!(refused.code(), 2, "{refused:?}");
        assert!(refused.err().contains("no/such/folder/r.xml") && refused.err().contains("--junit"), "{refused:?}");
        assert!(refused.out().is_empty() && !refused.err().contains("session is in"), "{refused:?}");
    }
    // An older report is gone only once there is another.
    stage.write("old.xml", "old ".repeat(10_000));
    let old = stage.path("old.xml");
    let old = old.to_str().expect("a path");
    assert_eq!(play(&stage, "name: [", &["--junit", old]).code(), 3);
    assert!(stage.read("old.xml").starts_with(b"old old"));
    assert_eq!(play(&stage, PASSES, &["--junit", old]).code(), 0);
    let xml = String::from_utf8(stage.read("old.xml")).expect("text");
    assert!(xml.starts_with("<?xml") && !xml.contains("old"), "{xml}");
}

#[test]
fn a_fan_out_to_a_hundred_servers_takes_the_deadline_and_names_the_silent() {
    let stage = Stage::new();
    let servers: String = (0..100).map(|n| format!("  s{n:02}: {{builtin: {{declare: [conversation]}}}}\n")).collect();
    let silent: Vec<String> = (0..10).map(|n| format!("s{n}7")).collect();
    let fault = |name: &String| {
        format!("  - {{server: {name}, direction: c2s, method: conversation/userMessage, drop: true}}\n")
    };
    let faults: String = silent.iter().map(fault).collect();
    let scenario =
        format!("name: a hundred\nclock: virtual\nservers:\n{servers}steps:\n  - user: the schema?\nfaults:\n{faults}");
    let played = play(&stage, &scenario, &["--trace", "--format", "json"]);
    assert_eq!(played.code(), 0, "{played:?}");
    let told: Vec<Value> = played.out().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let who = |what: &str| -> Vec<&str> {
        let facts = told.iter().filter(|line| line["room"] == "conversation" && line["what"] == what);
        facts.filter_map(|fact| fact["server"].as_str()).collect()
    };
    assert_eq!(who("timed out"), silent);
    assert_eq!(who("context").len(), 90);
    // One deadline for all of them: the turn ends with it, and nothing else takes time.
    let turn = told.iter().find(|line| line["event"] == "turn").expect("a turn");
    assert_eq!(turn["at_us"], 500_000, "{turn}");
    assert_eq!(told.last().expect("a report")["took_us"], 500_000);
}
