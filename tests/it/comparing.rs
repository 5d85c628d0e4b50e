//! `diff`: its inputs, its settings, and what it does not compare.

use crate::common::{CREATED, Stage, message};
use serde_json::{Value, json};

/// A session with one call and its result, as JSON lines.
fn session(arguments: Value, result: &Value) -> String {
    let call =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t", "arguments": arguments}});
    let lines = [
        json!({"reel": {"version": 1, "created": CREATED, "tool": "test"}}),
        message(0, "c2s", call),
        message(5, "s2c", json!({"jsonrpc": "2.0", "id": 1, "result": result})),
    ];
    lines.map(|line| format!("{line}\n")).concat()
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

#[test]
fn reels_json_lines_and_transcripts_can_be_compared_with_each_other() {
    let stage = Stage::new();
    let lines = session(json!({}), &text("a"));
    stage.write("a.jsonl", &lines);
    stage.import("a.reel", &lines);
    let transcript: String = lines.lines().skip(1).map(|line| format!("{line}\n")).collect();
    stage.write("transcript.jsonl", transcript);
    stage.write("b.jsonl", session(json!({}), &text("b")));
    for (left, right, code) in [
        ("a.jsonl", "a.reel", 0),
        ("transcript.jsonl", "a.jsonl", 0),
        ("a.reel", "b.jsonl", 1),
        ("a.jsonl", "b.jsonl", 1),
    ] {
        let compared = stage.run(&["diff", left, right], "");
        assert_eq!(compared.code(), code, "{left} {right}: {compared:?}");
    }
    assert_eq!(stage.run(&["diff", "-", "a.reel"], &lines).code(), 0);
    assert_eq!(stage.run(&["diff", "-", "b.jsonl"], stage.read("a.reel")).code(), 1);
    stage.write("bad.jsonl", "{\"reel\":{}}\n");
    let bad = stage.run(&["diff", "bad.jsonl", "a.reel"], "");
    assert_eq!((bad.code(), bad.out()), (3, String::new()));
    assert!(bad.err().contains("bad.jsonl: line 1"), "{}", bad.err());
}

#[test]
fn volatile_values_are_counted_listed_and_compared_on_request() {
    let stage = Stage::new();
    stage.write("a.jsonl", session(json!({}), &text("job 8f3kd92mxk2 took 812 ms")));
    stage.write("b.jsonl", session(json!({}), &text("job q7xk2m91zpa took 944 ms")));
    let compared = stage.ok(&["diff", "a.jsonl", "b.jsonl"]).out();
    assert!(compared.contains("2 volatile values mapped: 1 token, 1 duration"), "{compared}");
    let listed = stage.ok(&["diff", "a.jsonl", "b.jsonl", "--volatile"]).out();
    assert!(listed.contains("8f3kd92mxk2 ↔ q7xk2m91zpa") && listed.contains("812 ms ↔ 944 ms"), "{listed}");
    let report = stage.ok(&["diff", "a.jsonl", "b.jsonl", "--volatile", "--format", "json"]).json();
    assert_eq!(report["volatile"]["kinds"], json!({"token": 1, "duration": 1}));
    assert_eq!(report["volatile"]["values"][1]["right"], "944 ms");
    assert_eq!(stage.run(&["diff", "a.jsonl", "b.jsonl", "--exact"], "").code(), 1);
}

#[test]
fn a_place_from_the_report_can_be_ignored() {
    let stage = Stage::new();
    stage.write("a.jsonl", session(json!({}), &text("a")));
    stage.write("b.jsonl", session(json!({}), &text("b")));
    let report = stage.run(&["diff", "a.jsonl", "b.jsonl"], "").out();
    let place = report.lines().map(str::trim).find(|line| line.starts_with('/')).expect("a place");
    assert_eq!(place, "/result/content/0/text");
    stage.ok(&["diff", "a.jsonl", "b.jsonl", "--ignore", place]);
}

#[test]
fn settings_of_the_project_say_what_does_not_count() {
    let stage = Stage::new();
    let result = |rows: Value, score: f64| json!({"structuredContent": {"rows": rows, "score": score}});
    stage.write("a.jsonl", session(json!({}), &result(json!([{"k": "a"}, {"k": "b"}]), 1.0)));
    stage.write("b.jsonl", session(json!({}), &result(json!([{"k": "b"}, {"k": "a"}]), 1.005)));
    assert_eq!(stage.run(&["diff", "a.jsonl", "b.jsonl"], "").code(), 1);
    let settings = "[diff]\nunordered = ['/result/structuredContent/rows=k']\ntolerance = ['1%']\n";
    stage.write(".mcpreel.toml", settings);
    stage.ok(&["diff", "a.jsonl", "b.jsonl"]);
    stage.write(".mcpreel.toml", "[diff]\ntolerance = ['much']\n");
    let refused = stage.run(&["diff", "a.jsonl", "b.jsonl"], "");
    assert_eq!(refused.code(), 2);
    assert!(refused.err().contains(".mcpreel.toml:2:"), "{}", refused.err());
}

#[test]
fn a_second_recording_of_one_version_shows_what_varies() {
    let stage = Stage::new();
    for (name, mood, state) in
        [("a", "happy", "up"), ("again", "sad", "up"), ("b", "angry", "up"), ("c", "glad", "down")]
    {
        stage.write(&format!("{name}.jsonl"), session(json!({}), &text(&format!("mood {mood}, state {state}"))));
    }
    assert_eq!(stage.run(&["diff", "a.jsonl", "b.jsonl"], "").code(), 1);
    let learned = stage.ok(&["diff", "a.jsonl", "b.jsonl", "--learn", "again.jsonl"]).out();
    assert!(learned.contains("1 difference left out"), "{learned}");
    assert_eq!(stage.run(&["diff", "a.jsonl", "c.jsonl", "--learn", "again.jsonl"], "").code(), 1);
}
