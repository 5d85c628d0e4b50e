//! `diff --surface` with the real binary: reels, JSON lines, lock files and a live server.

use crate::common::{BINARY, Stage};
use serde_json::{Value, json};

/// A session as JSON lines: the handshake, and one page of tools.
fn session(tools: &Value) -> String {
    let header = r#"{"reel":{"version":1,"created":"2026-11-21T20:00:00Z"}}"#.to_owned();
    let asked = |id: u32, method: &str| ("c2s", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}}));
    let answered = |id: u32, result: Value| ("s2c", json!({"jsonrpc": "2.0", "id": id, "result": result}));
    let handshake = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
        "serverInfo": {"name": "s", "version": "1"}});
    let messages = [
        asked(1, "initialize"),
        answered(1, handshake),
        asked(2, "tools/list"),
        answered(2, json!({ "tools": tools })),
    ];
    let line = |(at, (dir, message)): (usize, (&str, Value))| {
        let time = format!("2026-11-21T20:00:00.{at:03}Z");
        json!({"time": time, "stream": 0, "dir": dir, "event": "message", "message": message}).to_string()
    };
    let lines: Vec<String> = [header].into_iter().chain(messages.into_iter().enumerate().map(line)).collect();
    lines.join("\n") + "\n"
}

fn tool(kind: &str) -> Value {
    let properties = json!({"days": {"type": kind}});
    json!([{"name": "forecast", "description": "weather",
        "inputSchema": {"type": "object", "properties": properties}}])
}

/// A stage with the sessions `old.jsonl` and `new.jsonl`, in which a type became narrower.
fn stage() -> Stage {
    let stage = Stage::new();
    stage.write("old.jsonl", session(&tool("number")));
    stage.write("new.jsonl", session(&tool("integer")));
    stage
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[test]
fn a_breaking_change_is_named_and_is_exit_code_1() {
    let stage = stage();
    let output = stage.run(&["diff", "--surface", "old.jsonl", "new.jsonl"], "");
    assert_eq!(output.code(), 1);
    let shown = text(&output.stdout);
    for part in [
        "tool forecast",
        "breaking  input/type-narrowed",
        "/inputSchema/properties/days/type",
        "number became integer",
        "1 breaking change, 0 risks, 0 harmless changes, 0 unchanged",
    ] {
        assert!(shown.contains(part), "{part} in\n{shown}");
    }
    stage.ok(&["diff", "--surface", "new.jsonl", "old.jsonl"]);
    assert_eq!(stage.run(&["diff", "--surface", "new.jsonl", "old.jsonl", "--fail-on", "any"], "").code(), 1);
    stage.ok(&["diff", "--surface", "old.jsonl", "new.jsonl", "--fail-on", "never"]);
    let report = stage.run(&["diff", "--surface", "old.jsonl", "new.jsonl", "-f", "json"], "");
    let report: Value = serde_json::from_slice(&report.stdout).expect("JSON");
    let change = &report["changes"][0];
    assert_eq!(report["breaking"], 1);
    assert_eq!((&change["rule"], &change["severity"]), (&json!("input/type-narrowed"), &json!("breaking")));
    assert_eq!((&change["left"], &change["right"]), (&json!("number"), &json!("integer")));
    let markdown = text(&stage.run(&["diff", "--surface", "old.jsonl", "new.jsonl", "-f", "markdown"], "").stdout);
    assert!(markdown.contains("| breaking | input/type-narrowed | tool forecast<br>/inputSchema"), "{markdown}");
}

#[test]
fn reels_json_lines_and_lock_files_give_the_same_surface() {
    let stage = stage();
    stage.ok(&["import", "old.jsonl", "-o", "old.reel"]);
    stage.ok(&["diff", "--surface", "--update", "lines.json", "old.jsonl"]);
    stage.ok(&["diff", "--surface", "--update", "reel.json", "old.reel"]);
    assert_eq!(stage.read("lines.json"), stage.read("reel.json"));
    stage.ok(&["diff", "--surface", "reel.json", "old.reel", "--fail-on", "any"]);
    let output = stage.run(&["diff", "--surface", "lines.json", "new.jsonl"], "");
    assert_eq!(output.code(), 1, "{output:?}");
}

#[test]
fn a_lock_file_checks_a_live_server() {
    let stage = Stage::new();
    let check = ["diff", "--surface", "server.lock.json", "--", BINARY, "serve"];
    let missing = stage.run(&check, "");
    assert_eq!(missing.code(), 3);
    assert!(text(&missing.stderr).contains("add --update"), "{missing:?}");
    stage.ok(&["diff", "--surface", "--update", "server.lock.json", "--", BINARY, "serve"]);
    let written = stage.read("server.lock.json");
    let same = stage.ok(&check);
    assert!(text(&same.stdout).starts_with("0 breaking changes"), "{same:?}");
    stage.ok(&["diff", "--surface", "--update", "server.lock.json", "--", BINARY, "serve"]);
    assert_eq!(stage.read("server.lock.json"), written, "every run writes the same bytes");
    let mut lock: Value = serde_json::from_slice(&written).expect("JSON");
    let tools = lock["tools"].as_array_mut().expect("tools");
    let count = tools.len();
    assert!(count > 1);
    tools.push(json!({"name": "withdrawn", "inputSchema": {"type": "object"}}));
    stage.write("server.lock.json", lock.to_string());
    let broken = stage.run(&check, "");
    assert_eq!(broken.code(), 1, "{broken:?}");
    assert!(text(&broken.stdout).contains("tool withdrawn\n  breaking  tool/removed"), "{broken:?}");
}

#[test]
fn what_makes_no_sense_is_refused_with_a_hint() {
    let stage = stage();
    stage.write("broken.json", "{\"surface\":1,");
    stage.write("other.json", "{\"surface\":2}");
    for (arguments, code, said) in [
        (&["--surface", "old.jsonl"][..], 2, "neither B nor a server"),
        (&["--surface", "old.jsonl", "new.jsonl", "--", "x"], 2, "omit one of them"),
        (&["old.jsonl", "new.jsonl", "--", "x"], 2, "with --surface"),
        (&["--surface", "--update", "old.jsonl", "new.jsonl"], 2, "not a lock file"),
        (&["--surface", "broken.json", "new.jsonl"], 3, "not valid JSON"),
        (&["--surface", "other.json", "new.jsonl"], 3, "version 1"),
        (&["--update", "a", "b"], 2, "--surface"),
    ] {
        let output = stage.run(&[&["diff"], arguments].concat(), "");
        assert_eq!(output.code(), code, "{arguments:?} {output:?}");
        assert!(text(&output.stderr).contains(said), "{arguments:?} {output:?}");
    }
}

#[test]
fn the_rules_are_listed_as_text_and_as_json() {
    let stage = Stage::new();
    let listed = text(&stage.ok(&["diff", "--rules"]).stdout);
    assert!(listed.contains("tool/removed  breaking  MCP 2025-11-25, Tools\n    A tool no longer exists"), "{listed}");
    let rules: Value = serde_json::from_slice(&stage.ok(&["diff", "--rules", "-f", "json"]).stdout).expect("JSON");
    let first = &rules[0];
    assert!(["rule", "severity", "text", "source"].iter().all(|name| first[name].is_string()), "{first}");
    let ids = rules.as_array().expect("rules").iter().filter_map(|rule| rule["rule"].as_str());
    assert!(ids.clone().all(|id| listed.contains(id)) && ids.count() > 70);
}

#[test]
fn a_lost_definition_behind_a_kept_reference_is_breaking() {
    let schemas = |input: Value, output: Value| {
        let mut tool = tool("number");
        (tool[0]["inputSchema"], tool[0]["outputSchema"]) = (input, output);
        session(&tool)
    };
    let schema =
        |defs: Value| json!({"type": "object", "properties": {"list": {"$ref": "#/$defs/L%3CA%3E"}}, "$defs": defs});
    let (whole, none) = (schema(json!({"L<A>": {"type": "array"}})), schema(json!({})));
    let stage = Stage::new();
    stage.write("both.jsonl", schemas(whole.clone(), whole.clone()));
    stage.write("no-input.jsonl", schemas(none.clone(), whole.clone()));
    stage.write("no-output.jsonl", schemas(whole, none.clone()));
    stage.write("neither.jsonl", schemas(none.clone(), none));
    for (file, rule) in [("no-input.jsonl", "input/undecided"), ("no-output.jsonl", "output/undecided")] {
        let output = stage.run(&["diff", "--surface", "both.jsonl", file], "");
        let shown = text(&output.stdout);
        assert!(output.code() == 1 && shown.contains(rule) && shown.contains("no longer leads to"), "{shown}");
    }
    stage.ok(&["diff", "--surface", "both.jsonl", "both.jsonl"]);
    stage.ok(&["diff", "--surface", "neither.jsonl", "neither.jsonl"]);
}

#[test]
fn numbers_are_compared_as_they_were_written() {
    let stage = Stage::new();
    let schema = |limit: &str| {
        let text = session(&tool("number"));
        text.replace(r#"{"type":"number"}"#, &format!(r#"{{"type":"number",{limit}}}"#))
    };
    for (old, new, rule) in [
        (r#""maximum":9007199254740993"#, r#""maximum":9007199254740992"#, "input/bound-tightened"),
        (r#""maximum":9007199254740993.0"#, r#""maximum":9007199254740992.0"#, "input/bound-tightened"),
        (r#""maximum":1e400"#, r#""maximum":1e401"#, "input/undecided"),
        (r#""const":9007199254740993.0"#, r#""const":9007199254740992.0"#, "input/values-removed"),
        (r#""enum":[18446744073709551617]"#, r#""enum":[18446744073709551616]"#, "input/values-removed"),
    ] {
        stage.write("a.jsonl", schema(old));
        stage.write("b.jsonl", schema(new));
        let output = stage.run(&["diff", "--surface", "a.jsonl", "b.jsonl"], "");
        assert!(output.code() == 1 && text(&output.stdout).contains(rule), "{old} {new} {output:?}");
        // A lock file keeps them.
        stage.ok(&["diff", "--surface", "--update", "a.lock.json", "a.jsonl"]);
        stage.ok(&["diff", "--surface", "a.lock.json", "a.jsonl", "--fail-on", "any"]);
        assert_eq!(stage.run(&["diff", "--surface", "a.lock.json", "b.jsonl"], "").code(), 1, "{old} {new}");
    }
    for (old, new) in [(r#""maximum":1e400"#, r#""maximum":10E399"#), (r#""maximum":10"#, r#""maximum":1e1"#)] {
        stage.write("a.jsonl", schema(old));
        stage.write("b.jsonl", schema(new));
        stage.ok(&["diff", "--surface", "a.jsonl", "b.jsonl", "--fail-on", "any"]);
    }
    stage.write("a.jsonl", schema(r#""maximum":1e400"#));
    stage.ok(&["diff", "--surface", "--update", "a.lock.json", "a.jsonl"]);
    assert!(text(&stage.read("a.lock.json")).contains("\"maximum\": 1e400"));
}
