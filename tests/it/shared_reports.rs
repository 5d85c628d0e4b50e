//! Reports of what happens live: each warns of the secrets in it, or has none.

use crate::common::{Output, Stage, message};
use crate::survive::survive;
use serde_json::json;

const TOKEN: &str = "ghp_Zk4mQ9rT2vX7bN1cL8sD5fG3hJ6wP0yA";

/// Runs a command with and without `--redact`. Both print a report, which `read` returns.
fn both_ways(what: &str, run: impl Fn(&[&str]) -> Output, read: impl Fn(&Output) -> String) {
    // Markdown escapes the underscore.
    let read = |output: &Output| read(output).replace('\\', "");
    let plain = run(&[]);
    assert!(read(&plain).contains(&TOKEN[4..]), "{what}: the test would find nothing: {plain:?}");
    assert_eq!(plain.err().matches("--redact replaces secrets").count(), 1, "{what}: {}", plain.err());
    let redacted = run(&["--redact"]);
    assert!(read(&redacted).contains("ghp_redacted"), "{what}: {redacted:?}");
    assert!(!format!("{}{}", read(&redacted), redacted.err()).contains(&TOKEN[4..12]), "{what}: {redacted:?}");
    assert!(!redacted.err().contains("possible secret"), "{what}: {}", redacted.err());
    assert_eq!(plain.code(), redacted.code(), "{what}");
}

/// A call of a tool with a name that is a secret, and an answer to nothing.
fn odd(stage: &Stage) {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": TOKEN, "arguments": {}}});
    let stray = json!({"jsonrpc": "2.0", "id": TOKEN, "result": {}});
    stage.reel("a.reel", &[message(1, "c2s", call), message(2, "s2c", stray)]);
}

#[test]
fn findings_of_a_reel_that_grows() {
    let stage = Stage::new();
    odd(&stage);
    for format in ["human", "json", "junit", "markdown"] {
        let run = |options: &[&str]| {
            stage.run(&[&["validate", "--follow", "a.reel", "-f", format][..], options].concat(), "")
        };
        both_ways(format, run, Output::out);
    }
}

#[test]
fn findings_while_it_is_recorded() {
    let stage = Stage::new();
    stage.write(
        "server.py",
        format!("print('{{\"jsonrpc\": \"2.0\", \"id\": \"{TOKEN}\", \"result\": {{}}}}', flush=True)"),
    );
    let run = |options: &[&str]| {
        let words = ["record", "--check", "--force", "-o", "live.reel"];
        stage.run(&[&words[..], options, &["--", "python3", "server.py"]].concat(), "")
    };
    both_ways("record --check", run, Output::err);
}

#[test]
fn a_plan_of_a_replay() {
    let stage = Stage::new();
    odd(&stage);
    for format in ["human", "json"] {
        let run =
            |options: &[&str]| stage.run(&[&["replay", "--dry-run", "a.reel", "-f", format][..], options].concat(), "");
        both_ways(format, run, Output::out);
    }
}

#[test]
fn what_a_mock_was_asked_in_vain() {
    let stage = Stage::new();
    odd(&stage);
    let asked =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": TOKEN, "arguments": {"a": 1}}});
    for command in [&["mock", "a.reel"][..], &["serve", "--reel", "a.reel"]] {
        let to_file =
            |options: &[&str]| stage.run(&[command, &["--report", "r.json"], options].concat(), format!("{asked}\n"));
        both_ways("a file", to_file, |_| String::from_utf8(stage.read("r.json")).expect("text"));
        let to_stderr = |options: &[&str]| stage.run(&[command, options].concat(), format!("{asked}\n"));
        both_ways("stderr", to_stderr, Output::err);
    }
}

#[test]
fn what_a_server_reports_of_its_host() {
    let stage = Stage::new();
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
        "capabilities": {}, "clientInfo": {"name": TOKEN, "version": "1"}}});
    let run =
        |options: &[&str]| stage.run(&[&["serve", "--report", "r.jsonl"][..], options].concat(), format!("{hello}\n"));
    both_ways("serve", run, |_| String::from_utf8(stage.read("r.jsonl")).expect("text"));
}

#[test]
fn what_a_client_survived() {
    let stage = Stage::new();
    let does = json!({"name": TOKEN}).to_string();
    for format in ["human", "json"] {
        let run = |options: &[&str]| {
            let _ = std::fs::remove_file(stage.path("s.reel"));
            survive(&stage, &does, &[&["--only", "reminder", "--format", format][..], options].concat())
        };
        both_ways(format, run, Output::out);
    }
}
