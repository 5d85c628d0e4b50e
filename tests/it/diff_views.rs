//! The views of `diff` with the real binary: what is shown, which part, and what counts as a difference.

use crate::common::Stage;
use serde_json::{Value, json};

/// A message: its direction and its JSON.
type Message = (&'static str, Value);

fn asked(id: u64, method: &str, params: Value) -> Message {
    ("c2s", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

fn answered(id: u64, result: Value) -> Message {
    ("s2c", json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn text_result(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn tools(name: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"message": {"type": "string"}}});
    json!({"tools": [{"name": name, "description": "says something again", "inputSchema": schema},
        {"name": "add", "description": "adds numbers", "inputSchema": {"type": "object"}}]})
}

/// Writes a reel whose messages are `gap` microseconds apart.
fn reel(stage: &Stage, name: &str, gap: usize, messages: &[Message]) {
    let mut lines = "{\"reel\":{\"version\":1,\"created\":\"2026-11-21T20:00:00Z\"}}\n".to_owned();
    for (at, (dir, message)) in messages.iter().enumerate() {
        let micros = at * gap;
        let time = format!("2026-11-21T20:00:{:02}.{:06}Z", micros / 1_000_000, micros % 1_000_000);
        let line = json!({"time": time, "stream": 0, "dir": dir, "event": "message", "message": message});
        lines.push_str(&format!("{line}\n"));
    }
    let imported = stage.run(&["import", "-", "-o", name], lines);
    assert_eq!(imported.code(), 0, "{imported:?}");
}

/// A session: the tool's name, what it says, and how long the client waits.
fn session(tool: &str, says: &str, timeout: &str) -> Vec<Message> {
    vec![
        asked(1, "tools/list", json!({})),
        answered(1, tools(tool)),
        asked(2, "tools/call", json!({"name": tool, "arguments": {"message": "hi", "timeout": timeout}})),
        answered(2, text_result(says)),
        asked(3, "tools/call", json!({"name": "add", "arguments": {}})),
        answered(3, text_result("3")),
    ]
}

fn stage() -> Stage {
    let stage = Stage::new();
    reel(&stage, "a.reel", 1000, &session("echo", "Echo: hi", "30s"));
    reel(&stage, "renamed.reel", 1000, &session("repeat", "Echo: hi", "30s"));
    reel(&stage, "b.reel", 1000, &session("echo", "Echo: ho", "60s"));
    stage
}

fn shown(stage: &Stage, arguments: &[&str]) -> (i32, String) {
    let output = stage.run(&[&["diff"], arguments].concat(), "");
    (output.code(), String::from_utf8(output.stdout).expect("text"))
}

#[test]
fn a_renamed_tool_is_one_difference() {
    let stage = stage();
    let (code, text) = shown(&stage, &["a.reel", "renamed.reel"]);
    assert_eq!(code, 1);
    assert!(text.contains("the tool echo seems to be repeat in B (the same 1 parameter"), "{text}");
    assert!(text.contains("\n1 tool renamed, 0 changed, 0 only in A, 0 only in B, 3 same\n"), "{text}");
    let (_, text) = shown(&stage, &["a.reel", "renamed.reel", "-f", "json"]);
    let report: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&report["renamed"][0]["from"], &report["renamed"][0]["to"]), (&json!("echo"), &json!("repeat")));
    assert_eq!((&report["changed"], &report["same"]), (&json!(0), &json!(3)));
    // The client calls another name, and the server offers one.
    for (part, expected) in [("client", 1), ("server", 1), ("tools", 1), ("capabilities", 0)] {
        assert_eq!(shown(&stage, &["a.reel", "renamed.reel", "--only", part]).0, expected, "{part}");
    }
    let (code, exact) = shown(&stage, &["a.reel", "renamed.reel", "--exact", "--view", "summary"]);
    assert_eq!(code, 1);
    assert!(exact.contains("tools/call repeat"), "{exact}");
}

#[test]
fn a_call_that_only_b_has_bears_the_name_of_b() {
    let stage = stage();
    let mut twice = session("repeat", "Echo: hi", "30s");
    let arguments = json!({"message": "another one", "timeout": "1 h"});
    twice.push(asked(9, "tools/call", json!({"name": "repeat", "arguments": arguments})));
    reel(&stage, "twice.reel", 1000, &twice);
    let (_, text) = shown(&stage, &["a.reel", "twice.reel"]);
    assert!(text.contains("\n+ tools/call repeat  seq "), "{text}");
    assert!(text.contains("`mcpreel diff --surface a.reel twice.reel` says whether"), "{text}");
}

#[test]
fn each_part_can_be_compared_alone() {
    let stage = stage();
    let counts = |only: &str| shown(&stage, &["a.reel", "b.reel", "--only", only, "-f", "json"]);
    let places = |only: &str| {
        let report: Value = serde_json::from_str(&counts(only).1).expect("JSON");
        let units = report["units"].as_array().expect("units").clone();
        let changes = units.iter().flat_map(|unit| unit["changes"].as_array().expect("changes").clone());
        changes.map(|change| change["place"].as_str().expect("text").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(places("server"), ["/content/0/text"]);
    assert_eq!(places("client"), ["/arguments/timeout"]);
    assert_eq!(places("tools"), ["/arguments/timeout", "/content/0/text"]);
    assert_eq!(places("server,client"), ["/arguments/timeout", "/content/0/text"]);
    assert_eq!(counts("capabilities").0, 0);
    assert_eq!(counts("latency").0, 0);
}

#[test]
fn the_views_show_the_same_changes() {
    let stage = stage();
    let (code, unified) = shown(&stage, &["a.reel", "b.reel"]);
    assert_eq!(code, 1);
    assert!(unified.starts_with("- A a.reel\n+ B b.reel\n\ntools/call echo  seq 2 ↔ 2\n"), "{unified}");
    assert!(unified.contains("  /params/arguments/timeout\n  - \"30s\"\n  + \"60s\"\n"), "{unified}");
    let (_, beside) = shown(&stage, &["a.reel", "b.reel", "--view", "side-by-side"]);
    assert!(beside.lines().any(|line| line.contains("\"30s\"") && line.ends_with("│ \"60s\"")), "{beside}");
    let (_, summary) = shown(&stage, &["a.reel", "b.reel", "--view", "summary"]);
    let row = summary.lines().find(|line| line.contains("tools/call echo")).expect("a row");
    assert_eq!(row.split_whitespace().skip(2).collect::<Vec<_>>(), ["1", "-", "-", "-"], "{summary}");
    assert!(summary.contains("     1  /params/arguments/timeout\n     1  /result/content/*/text\n"), "{summary}");
    let (_, markdown) = shown(&stage, &["a.reel", "b.reel", "-f", "markdown"]);
    assert!(markdown.contains("```diff\n@@ /params/arguments/timeout @@\n- \"30s\"\n+ \"60s\"\n"), "{markdown}");
}

#[test]
fn a_patch_makes_the_message_of_a_that_of_b() {
    let stage = stage();
    let (_, text) = shown(&stage, &["a.reel", "b.reel", "-f", "json"]);
    let report: Value = serde_json::from_str(&text).expect("JSON");
    let expected = json!([
        {"op": "replace", "path": "/result/content/0/text", "value": "Echo: ho"},
        {"op": "replace", "path": "/params/arguments/timeout", "value": "60s"},
    ]);
    assert_eq!(report["units"][0]["patch"], expected);
}

#[test]
fn response_times_are_a_difference_only_if_asked_for() {
    let stage = Stage::new();
    let calls: Vec<Message> = (1..=40)
        .flat_map(|id| [asked(id, "tools/call", json!({"name": "t"})), answered(id, text_result("x"))])
        .collect();
    reel(&stage, "fast.reel", 2000, &calls);
    reel(&stage, "slow.reel", 5000, &calls);
    assert_eq!(shown(&stage, &["fast.reel", "slow.reel"]).0, 0);
    let (code, text) = shown(&stage, &["fast.reel", "slow.reel", "--only", "latency"]);
    assert_eq!(code, 1, "{text}");
    let row = text.lines().find(|line| line.contains("tools/call t")).expect("a row");
    assert!(row.contains("2.0 ms") && row.contains("5.0 ms") && row.ends_with("slower (2.5 times)"), "{text}");
    assert!(text.ends_with("\n1 slower in B, 0 faster in B\n"), "{text}");
    assert_eq!(shown(&stage, &["fast.reel", "slow.reel", "--latency"]).0, 1);
    assert_eq!(shown(&stage, &["fast.reel", "fast.reel", "--latency"]).0, 0);
}

#[test]
fn a_notification_that_moved_across_its_result_counts_with_order() {
    let stage = Stage::new();
    let call = asked(1, "tools/call", json!({"name": "t", "_meta": {"progressToken": 1}}));
    let progress = (
        "s2c",
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}}),
    );
    let log =
        ("s2c", json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "d"}}));
    let result = answered(1, text_result("x"));
    for (name, messages) in [
        ("before.reel", [&call, &progress, &log, &result]),
        ("after.reel", [&call, &log, &result, &progress]),
        ("late.reel", [&call, &progress, &result, &log]),
    ] {
        reel(&stage, name, 1000, &messages.map(Clone::clone));
    }
    assert_eq!(shown(&stage, &["before.reel", "after.reel"]).0, 0);
    for (other, method) in
        [("after.reel", "notifications/progress tools/call t"), ("late.reel", "notifications/message")]
    {
        let (code, text) = shown(&stage, &["before.reel", other, "--order"]);
        assert_eq!(code, 1, "{text}");
        let moved = text.lines().find(|line| line.contains("moved across the result of its request"));
        assert!(moved.is_some_and(|line| line.starts_with(method)), "{text}");
    }
    assert_eq!(shown(&stage, &["before.reel", "before.reel", "--order"]).0, 0);
}
