//! Duty: hold `events watch` against the built-in server: what is printed, when it ends, and how.
#![cfg(unix)]
#![expect(clippy::expect_used, clippy::panic, reason = "a test's helpers fail the test by panicking")]

#[expect(dead_code, reason = "each test file uses its part of the stage")]
mod common;

use common::{BINARY, Output, Stage};
use serde_json::Value;

/// The built-in server, which publishes again and again.
fn watch(stage: &Stage, words: &[&str], settings: &[&str]) -> Output {
    let plan =
        r#"{"after_ms":20,"every_ms":20,"fire":{"kind":"event","type":"build.done","priority":"high","tags":["ci"]}}"#;
    let server = [&["--", BINARY, "serve", "--era", "legacy", "--plan", plan], settings].concat();
    stage.run(&[&["events", "watch"], words, &server].concat(), "")
}

fn types(output: &Output) -> Vec<Value> {
    let event = |line: &str| serde_json::from_str::<Value>(line).expect("JSON")["type"].clone();
    output.out().lines().map(event).collect()
}

#[test]
fn e16_events_are_printed_one_a_line_until_enough_came() {
    let stage = Stage::new();
    let watched = watch(&stage, &["build.*", "--tag", "ci", "--expect", "2"], &[]);
    assert_eq!((watched.code(), types(&watched)), (0, vec!["build.done".into(), "build.done".into()]));
}

#[test]
fn e17_batches_are_opened_and_an_expired_subscription_ends_or_is_made_again() {
    let stage = Stage::new();
    let batches = watch(&stage, &["--cron", "* * * * * *", "--expect", "3"], &[]);
    assert_eq!((batches.code(), types(&batches).len()), (0, 3));
    let ended = watch(&stage, &["other", "--expect", "1"], &["--set", "mcpe.life_seconds:=1"]);
    assert_eq!((ended.code(), types(&ended).len()), (1, 0));
    assert!(ended.err().contains("expired"), "{ended:?}");
    let renewed = watch(&stage, &["other", "--renew", "--for", "1500ms"], &["--set", "mcpe.life_seconds:=1"]);
    assert_eq!(renewed.code(), 0);
    assert!(renewed.err().contains("subscribing again"), "{renewed:?}");
}

#[test]
fn e1_e8_what_cannot_be_subscribed_to_is_told() {
    let stage = Stage::new();
    let refused = watch(&stage, &["slack.*"], &["--set", r#"mcpe.allow:=["build.*"]"#]);
    assert!(refused.code() == 4 && refused.err().contains("not allowed"), "{refused:?}");
    let server = ["--", BINARY, "serve", "--era", "legacy", "--declare", "hooks"];
    let none = stage.run(&[&["events", "watch"], &server[..]].concat(), "");
    assert!(none.code() == 4 && none.err().contains("no events"), "{none:?}");
    assert_eq!(watch(&stage, &["--timezone", "UTC"], &[]).code(), 2);
}

#[test]
fn an_interruption_takes_the_subscription_back() {
    let stage = Stage::new();
    let plan = r#"{"after_ms":20,"every_ms":20,"fire":{"kind":"event","type":"tick"}}"#;
    let server = ["--", BINARY, "serve", "--era", "legacy", "--plan", plan, "--report", "facts"];
    let mut live = stage.start(&[&["events", "watch", "tick"], &server[..]].concat());
    assert!(live.line().contains("tick"), "the first event");
    live.signal("INT");
    let ended = live.end_with_open_stdin();
    let facts = String::from_utf8(stage.read("facts")).expect("text");
    assert!(ended.code() == 130 && facts.contains(r#""became":"removed""#), "{ended:?} {facts}");
}
