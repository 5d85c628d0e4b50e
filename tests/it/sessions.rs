//! Complete sessions with the real binary: the demonstration, its validation, and comparisons.

use crate::common::Stage;
use serde_json::Value;
use std::time::{Duration, Instant};

fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text).expect("one JSON value")
}

/// Runs the demonstration into a file of the stage.
fn demo(stage: &Stage, name: &str) -> String {
    let began = Instant::now();
    let text = stage.ok(&["demo", "-o", name]).stdout;
    assert!(began.elapsed() < Duration::from_secs(5), "the demonstration took {:?}", began.elapsed());
    String::from_utf8(text).expect("text")
}

#[test]
fn the_demonstration_lets_every_proposal_speak_and_is_clean() {
    let stage = Stage::new();
    let shown = demo(&stage, "demo.reel");
    for method in ["conversation/userMessage", "notifications/reminder", "push/event", "events/event"] {
        assert!(shown.contains(method), "{method} in:\n{shown}");
    }
    assert!(shown.contains("0 errors, 0 warnings"), "{shown}");
    assert!(shown.contains("mcpreel show --full demo.reel"), "{shown}");
    let report = json(&stage.ok(&["validate", "demo.reel", "--format", "json"]).stdout);
    let declared = report["connections"][0]["declared"].to_string();
    for proposal in ["conversation", "reminder", "mcpl", "hooks", "mcpe"] {
        assert!(declared.contains(proposal), "{proposal} in {declared}");
    }
}

#[test]
fn two_runs_of_the_same_session_do_not_differ() {
    let stage = Stage::new();
    demo(&stage, "a.reel");
    demo(&stage, "b.reel");
    let output = stage.run(&["diff", "a.reel", "b.reel"], b"");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.code(), 0, "{text}");
    assert!(text.starts_with("0 changed, 0 only in A, 0 only in B"), "{text}");
}

const HEADER: &str = r#"{"reel":{"version":1,"created":"2026-11-21T20:00:00Z"}}"#;

/// A reel of messages at intervals of a millisecond, each with its direction (`c2s` or `s2c`) and text.
fn reel(stage: &Stage, name: &str, messages: &[(&str, &str)]) {
    let mut lines = format!("{HEADER}\n");
    for (number, (dir, message)) in messages.iter().enumerate() {
        let time = format!("2026-11-21T20:00:00.{number:03}Z");
        lines.push_str(&format!(
            "{{\"time\":\"{time}\",\"stream\":0,\"dir\":\"{dir}\",\"event\":\"message\",\"message\":{message}}}\n"
        ));
    }
    let imported = stage.run(&["import", "-", "-o", name, "--force"], lines);
    assert_eq!(imported.code(), 0, "{imported:?}");
}

const OPENING: [(&str, &str); 3] = [
    (
        "c2s",
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    ),
    (
        "s2c",
        r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
    ),
    ("c2s", r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
];

fn with_call(answer: &str) -> Vec<(&'static str, &str)> {
    let mut messages: Vec<(&str, &str)> = OPENING.to_vec();
    messages.push(("c2s", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sum"}}"#));
    messages.push(("s2c", answer));
    messages
}

#[test]
fn a_difference_shows_only_what_changed_and_is_exit_code_1() {
    let stage = Stage::new();
    let answer = |text: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":"{text}"}}],"isError":false}}}}"#
        )
    };
    let (three, four) = (answer("3"), answer("4"));
    reel(&stage, "a.reel", &with_call(&three));
    reel(&stage, "b.reel", &with_call(&four));
    let output = stage.run(&["diff", "a.reel", "b.reel"], b"");
    assert_eq!(output.code(), 1);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("tools/call sum") && text.contains("/content/0/text"), "{text}");
    assert!(!text.contains("isError") && !text.contains("initialize"), "{text}");
    let report = json(&stage.run(&["diff", "a.reel", "b.reel", "--format", "json"], b"").stdout);
    assert_eq!(report["changed"], 1, "{report}");
    let ignored = stage.run(&["diff", "a.reel", "b.reel", "--ignore", "/result/content/*/text"], b"");
    assert_eq!(ignored.code(), 0);
}

#[test]
fn a_breach_is_found_named_and_exit_code_1() {
    let stage = Stage::new();
    reel(&stage, "bad.reel", &with_call(r#"{"jsonrpc":"2.0","id":7,"result":{"content":"none"}}"#));
    let output = stage.run(&["validate", "bad.reel", "--format", "json"], b"");
    assert_eq!(output.code(), 1);
    let report = json(&output.stdout);
    let rules: Vec<&str> =
        report["findings"].as_array().expect("findings").iter().filter_map(|one| one["rule"].as_str()).collect();
    assert!(rules.contains(&"pairing/orphan-response"), "{rules:?}");
    assert_eq!(stage.run(&["validate", "bad.reel", "--fail-on", "never"], b"").code(), 0);
    let text = stage.run(&["validate", "bad.reel"], b"").stdout;
    let text = String::from_utf8_lossy(&text);
    assert!(text.contains("error pairing/orphan-response") && text.contains("1 connection"), "{text}");
}

/// Two servers of one host, each a stream: one does not get a message, and one gets a message after a mark in the reel
/// which says that the user revoked its access.
#[test]
fn a_reel_of_several_servers_is_judged_as_one_conversation() {
    let stage = Stage::new();
    let mut lines = format!("{HEADER}\n");
    let mut event = |second: u32, stream: u32, dir: &str, what: &str| {
        lines.push_str(&format!(
            "{{\"time\":\"2026-11-21T20:00:{second:02}Z\",\"stream\":{stream},\"dir\":\"{dir}\",{what}}}\n"
        ));
    };
    for stream in [1, 2] {
        for (dir, message) in OPENING {
            let message = message.replace(r#"{"tools":{}}"#, r#"{"conversationEvents":{"onUserMessage":true}}"#);
            event(0, stream, dir, &format!("\"message\":{message}"));
        }
    }
    // A message goes to each of these servers; the fourth message follows the mark.
    for (number, streams) in [(1, &[1, 2][..]), (2, &[1]), (3, &[1, 2]), (4, &[2])] {
        let params = format!(r#"{{"messageId":"m{number}","content":"x"}}"#);
        if number == 4 {
            event(39, 2, "c2s", "\"event\":\"note\",\"base64\":\"oWRtYXJrZ3Jldm9rZWQ=\"");
        }
        for stream in streams {
            let asked =
                format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"conversation/userMessage","params":{params}}}"#);
            event(number * 10, *stream, "c2s", &format!("\"message\":{asked}"));
            let answer = format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{{}}}}"#);
            event(number * 10, *stream, "s2c", &format!("\"message\":{answer}"));
        }
    }
    assert_eq!(stage.run(&["import", "-", "-o", "two.reel"], lines).code(), 0);
    let report = json(&stage.run(&["validate", "two.reel", "--format", "json"], b"").stdout);
    let errors: Vec<_> = report["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .filter(|finding| finding["severity"] == "error")
        .map(|finding| (finding["rule"].as_str().expect("a rule"), finding["stream"].as_u64().expect("a number")))
        .collect();
    assert_eq!(errors, [("conversation/not-fanned-out", 2), ("conversation/revoked", 2)]);
}

#[test]
fn every_rule_is_listed_with_its_source() {
    let stage = Stage::new();
    let rules = json(&stage.ok(&["validate", "--rules", "--format", "json"]).stdout);
    let rules = rules.as_array().expect("a list");
    assert!(rules.len() > 100);
    for rule in rules {
        for member in ["rule", "severity", "text", "source", "document"] {
            assert!(rule[member].as_str().is_some_and(|text| !text.is_empty()), "{rule}");
        }
        let is_open = rule["source"].as_str().is_some_and(|source| source.contains("AMB-"));
        assert_eq!(rule["decision"].is_string(), is_open, "{rule}");
    }
    let listed = stage.ok(&["validate", "--rules"]).out();
    assert_eq!(
        listed.lines().filter(|line| line.starts_with("# ")).count(),
        24,
        "one heading for each subject of MCP and each proposal"
    );
    assert!(listed.contains("\n# SEP-1975: Conversation Event Subscriptions ("), "{listed}");
    assert!(listed.contains("\n    AMB-A1: The proposal calls the user message a notification"), "{listed}");
}
