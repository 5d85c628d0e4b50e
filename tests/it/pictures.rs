//! The pictures of `show` with the real binary: the sequence diagram, the timeline, and the prompts.

use crate::common::Stage;
use serde_json::{Value, json};

/// A stage with a reel of the example session.
fn stage() -> Stage {
    let stage = Stage::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/session.jsonl");
    stage.ok(&["import", example, "-o", "s.reel"]);
    stage
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_filter_selects_the_arrows_and_answers_outside_of_it_still_count() {
    let stage = stage();
    let drawn = stage.ok(&["show", "s.reel", "--view", "sequence", "dir:c2s tool:count_slowly"]).out();
    let rows: Vec<&str> = drawn.lines().collect();
    assert_eq!(rows.len(), 2, "{drawn}");
    assert!(
        rows[0].contains("my-agent") && rows[0].contains("mcpreel-live"),
        "the names come from the handshake: {drawn}"
    );
    assert!(rows[1].contains("▶│  tools/call count_slowly") && !rows[1].contains("no response"), "{drawn}");
}

#[test]
fn rows_are_objects_on_request() {
    let stage = stage();
    let steps = lines(&stage.ok(&["show", "s.reel", "--view", "sequence", "--format", "json"]).out());
    let slow = steps.iter().find(|step| step["seq"] == 18).expect("the response");
    assert_eq!((&slow["request_seq"], &slow["step"], &slow["dir"]), (&json!(15), &json!("response"), &json!("s2c")));
    let progress = steps.iter().find(|step| step["seq"] == 16).expect("the first of two");
    assert_eq!((&progress["count"], &progress["last_seq"], &progress["depth"]), (&json!(2), &json!(17), &json!(1)));
    let rows = lines(&stage.ok(&["show", "s.reel", "--view", "timeline", "--format", "json"]).out());
    let slow = rows.iter().find(|row| row["name"] == "count_slowly").expect("a row");
    assert_eq!((&slow["calls"], &slow["longest_seq"], &slow["open"]), (&json!(1), &json!(15), &json!(0)));
    let turns = lines(&stage.ok(&["show", "s.reel", "--view", "prompt", "--format", "json"]).out());
    assert_eq!((&turns[0]["turn"], &turns[1]["turn"]), (&json!(0), &json!(1)));
    let user = turns[1]["parts"].as_array().expect("a list").iter().find(|part| part["source"] == "user");
    assert_eq!(user.expect("what the user wrote")["text"], "How is the database schema laid out?");
}

#[test]
fn a_check_names_the_rules_at_the_arrows() {
    let stage = Stage::new();
    let session = [
        json!({"dir": "c2s", "event": "message", "message": {"jsonrpc": "2.0", "id": 1, "method": "ping"}}),
        json!({"dir": "s2c", "event": "message", "message": {"jsonrpc": "2.0", "id": 1, "result": {}}}),
        json!({"dir": "s2c", "event": "message", "message": {"jsonrpc": "2.0", "id": 1, "result": {}}}),
    ];
    stage.reel(
        "t.reel",
        &session.map(|mut event| {
            event["time"] = "2026-01-02T03:04:05Z".into();
            event
        }),
    );
    let shown = stage.run(&["show", "t.reel", "--view", "sequence", "--check"], "");
    assert_eq!(shown.code(), 1);
    let last = shown.out().lines().last().expect("a row").to_owned();
    assert!(last.contains("[no request] [pairing/"), "{last}");
    let limited = stage.ok(&["show", "t.reel", "--view", "sequence", "-n", "1"]).out();
    assert!(limited.contains("ping") && !limited.contains("no response"), "the rest was not read: {limited}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let stage = stage();
    for words in [
        &["--view", "prompt", "error"][..],
        &["--view", "prompt", "--seq", "3"],
        &["--view", "tree", "--check"],
        &["--view", "sequence", "--format", "full"],
        &["--view", "timeline", "--follow"],
        &["--view", "sequence", "--raw"],
    ] {
        let all = [&["show", "s.reel"], words].concat();
        assert_eq!(stage.run(&all, "").code(), 2, "{words:?}");
    }
}
