//! Text from others never controls the terminal, neither in output nor in error messages.

use crate::common::{CREATED, Output, Stage, message, time};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcpreel::testing::render::text::visible;
use serde_json::{Value, json};

/// Colours, a title, a bell, direction marks, line ends, C1 controls.
const EVIL: &str = "e\u{1b}[31m\u{9b}2J\u{1b}]0;t\u{7}\u{202e}\u{2066}\u{200e}\u{200f}\u{61c}\u{85}\u{2028}\u{7f}\rl";

/// A reel with such text in every place.
fn evil_lines() -> String {
    let mut at = 0;
    let mut next = |direction: &str, content: Value| {
        at += 10;
        message(at, direction, content)
    };
    let described = |event: &str, reported: Value| {
        let mut payload = Vec::new();
        ciborium::into_writer(&reported, &mut payload).expect("a Vec takes all");
        json!({"time": time(1), "stream": 1, "dir": "s2c", "event": event, "framing": "whole",
            "base64": STANDARD.encode(payload)})
    };
    let events = [
        described("stream-opened", json!({"transport": "stdio", "server": EVIL, "command": [EVIL]})),
        described("transport", json!({"what": "request", "method": EVIL, "target": EVIL, "headers": [[EVIL, EVIL]]})),
        described("transport", json!({"what": "body", "bytes": 3, "text": EVIL})),
        described("gap", json!({"reason": EVIL, "lane": EVIL, "bytes": 1})),
        described("note", json!({"mark": EVIL, EVIL: EVIL})),
        next(
            "c2s",
            json!({"jsonrpc": "2.0", "id": EVIL, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {"experimental": {"mcpl": {"version": EVIL}}, EVIL: {}},
            "clientInfo": {"name": EVIL, "version": EVIL}}}),
        ),
        next(
            "s2c",
            json!({"jsonrpc": "2.0", "id": EVIL, "result": {"protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}, "experimental": {"mcpl": {"version": "0.4"}}},
            "serverInfo": {"name": EVIL, "version": EVIL}, "instructions": EVIL}}),
        ),
        next("c2s", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})),
        next(
            "c2s",
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": EVIL, "arguments": {EVIL: EVIL}}}),
        ),
        next(
            "s2c",
            json!({"jsonrpc": "2.0", "id": 2, "result": {"isError": true, "content": [{"type": "text", "text": EVIL}]}}),
        ),
        next("c2s", json!({"jsonrpc": "2.0", "id": 3, "method": EVIL})),
        next("s2c", json!({"jsonrpc": "2.0", "id": 3, "error": {"code": -32601, "message": EVIL, "data": EVIL}})),
        next(
            "s2c",
            json!({"jsonrpc": "2.0", "method": "push/event", "params": {"featureSet": EVIL, "eventId": EVIL,
            "origin": {EVIL: EVIL}, "payload": {"content": EVIL}}}),
        ),
        next("s2c", json!([{"jsonrpc": "2.0", "method": EVIL, "params": [EVIL]}])),
        json!({"time": time(500), "dir": "s2c", "event": "message", "text": EVIL}),
        json!({"time": time(501), "dir": "s2c", "event": "message", "text": format!("{{\"jsonrpc\": \"{EVIL}")}),
        json!({"time": time(502), "dir": "s2c", "event": "stderr", "framing": "whole", "text": format!("{EVIL}\n")}),
    ];
    let mut lines =
        json!({"reel": {"version": 1, "created": CREATED, "tool": EVIL, "label": EVIL, "notes": {EVIL: EVIL}}})
            .to_string();
    for event in events {
        lines.push('\n');
        lines.push_str(&event.to_string());
    }
    lines
}

#[track_caller]
fn assert_clean(what: &str, output: &Output) {
    for (lane, bytes) in [("standard output", &output.stdout), ("standard error", &output.stderr)] {
        let text = std::str::from_utf8(bytes).expect("text");
        let odd = text.char_indices().find(|(_, found)| !matches!(found, '\n' | '\t') && visible(*found) != *found);
        if let Some((at, odd)) = odd {
            let around: String = text[..at].chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect();
            panic!("{what}: {odd:?} on {lane} after {around:?}");
        }
    }
}

#[test]
fn no_text_of_others_steers_the_terminal() {
    let stage = Stage::new();
    let reel = format!("{EVIL}.reel");
    stage.import(&reel, evil_lines());
    stage.reel("other.reel", &[message(1, "c2s", json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}))]);
    let bytes = stage.read(&reel);
    let (flipped, cut, missing) = (format!("flipped{EVIL}.reel"), format!("cut{EVIL}.reel"), format!("no{EVIL}.reel"));
    let mut damaged = bytes.clone();
    damaged[bytes.len() - 40] ^= 1;
    stage.write(&flipped, damaged);
    stage.write(&cut, &bytes[..bytes.len() / 2]);
    let (config, yaml, log) = (format!("{EVIL}.json"), format!("{EVIL}.yaml"), format!("{EVIL}.log"));
    stage.write(&config, json!({"mcpServers": {EVIL: {"command": EVIL, "args": [EVIL]}}}).to_string());
    stage.write(&yaml, format!("- {EVIL}: ["));
    stage.write(&log, format!("{EVIL}\n"));
    let option = format!("--{EVIL}");
    let filter = format!("method:{EVIL}");
    let in_nowhere = format!("{EVIL}/no/such");
    let reel = reel.as_str();
    let commands: Vec<Vec<&str>> = vec![
        vec!["show", reel],
        vec!["show", reel, "--full"],
        vec!["show", reel, "--format", "table"],
        vec!["show", reel, "--format", "json"],
        vec!["show", reel, "--jq", "."],
        vec!["show", reel, "--jq", ".message"],
        vec!["show", reel, "--jq", EVIL],
        vec!["show", reel, "--view", "tree"],
        vec!["show", reel, "--view", "tree", "--format", "json"],
        vec!["show", reel, &filter],
        vec!["show", reel, "--from", EVIL],
        vec!["show", &missing],
        vec!["show", &cut],
        vec!["show", &flipped, "--seq", "3"],
        vec!["show", &option],
        vec!["stats", reel],
        vec!["stats", reel, "--format", "json"],
        vec!["stats", reel, "--audit"],
        vec!["stats", reel, "--audit", "--format", "json"],
        vec!["validate", reel],
        vec!["validate", reel, "--format", "json"],
        vec!["validate", &log],
        vec!["diff", reel, "other.reel"],
        vec!["diff", reel, "other.reel", "--format", "json"],
        vec!["diff", reel, &cut],
        vec!["reel", "info", reel],
        vec!["reel", "info", reel, "--format", "json"],
        vec!["reel", "info", &flipped],
        vec!["reel", "info", &cut, "--format", "json"],
        vec!["reel", "verify", reel],
        vec!["reel", "verify", &flipped],
        vec!["reel", "verify", &cut],
        vec!["reel", "index", &flipped],
        vec!["reel", "index", &cut],
        vec!["reel", "compact", reel],
        vec!["reel", "compact", &cut],
        vec!["reel", "repair", &cut],
        vec!["import", &log, "-o", "x.reel"],
        vec!["import", "missing", "-o", &in_nowhere],
        vec!["export", reel, "-o", &in_nowhere],
        vec!["export", &cut, "-o", "x.jsonl"],
        vec!["record", "-v", "-o", "recorded.reel", "--label", EVIL, "--", "true"],
        vec!["record", "-o", reel, "--", "true"],
        vec!["record", "-o", &in_nowhere, "--", "true"],
        vec!["record", "--", EVIL],
        vec!["sessions", "--format", "json"],
        vec!["show", "--session", EVIL],
        vec!["wrap", "--all", "--config", &config, "--dry-run"],
        vec!["wrap", EVIL, "--config", &config],
        vec!["wrap", EVIL, "--config", &in_nowhere],
        vec!["unwrap", "--all", "--config", &config],
        vec!["call", "tools/list", "--config", &config, "--server", EVIL],
        vec!["call", EVIL, "--url", EVIL],
        vec!["overlay", &yaml, "--", "true"],
        vec!["host", "--scenario", &yaml],
        vec!["serve", "--scenario", &yaml],
        vec![EVIL],
    ];
    for words in commands {
        assert_clean(&format!("{words:?}"), &stage.run(&words, ""));
    }
}

#[test]
fn answers_of_a_server_are_shown_without_steering() {
    let stage = Stage::new();
    let server = [env!("CARGO_BIN_EXE_mcpreel"), "serve"];
    let name = format!("name={}", json!(EVIL));
    for format in ["human", "json", "envelope"] {
        let words = [&["call", "tools/call", &name, "--format", format, "--"][..], &server].concat();
        let output = stage.run(&words, "");
        assert_clean(&format!("{words:?}"), &output);
        assert!(output.out().contains("31m"), "{words:?} repeats the name: {output:?}");
    }
    let reminder = format!("reminder {EVIL}");
    let words = [&["fire", "raw", &reminder, "--"][..], &server].concat();
    assert_clean("fire raw", &stage.run(&words, ""));
}

#[test]
fn json_of_a_reel_has_the_strings_that_it_holds() {
    let stage = Stage::new();
    stage.import("evil.reel", evil_lines());
    let shown = stage.ok(&["show", "evil.reel", "--format", "json"]).out();
    let exported = stage.ok(&["export", "evil.reel"]).out();
    assert!(!exported.contains('\u{9b}'), "an export is escaped");
    let parsed =
        |text: &str| -> Vec<Value> { text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect() };
    let (shown, exported) = (parsed(&shown), parsed(&exported));
    assert_eq!(shown.len() + 1, exported.len());
    for (shown, exported) in shown.iter().zip(&exported[1..]) {
        // An export also has the bytes of a message that is escaped.
        let is_added = |name: &str| name == "base64" && !exported["message"].is_null();
        let members = exported.as_object().expect("an object").iter();
        members.filter(|(name, _)| !is_added(name)).for_each(|(name, value)| assert_eq!(&shown[name], value, "{name}"));
    }
    let info = stage.info("evil.reel");
    assert_eq!((info["label"].as_str(), info["notes"][EVIL].as_str()), (Some(EVIL), Some(EVIL)));
    let asked = stage.ok(&["show", "evil.reel", "--jq", "select(.seq == 10) | .message"]).json();
    assert_eq!(asked["method"], EVIL);
    // Raw output stays byte for byte.
    let raw = stage.ok(&["show", "evil.reel", "--raw", "--seq", "10", "-n", "1"]).out();
    assert!(raw.contains('\u{9b}') && raw.contains('\u{202e}'), "{raw:?}");
    assert!(String::from_utf8(stage.cat("evil.reel", "stderr")).expect("text").contains('\u{9b}'));
}
