//! One test with a real client or server for each of mcpreel's capabilities. Chosen so that few packages are needed:
//! the TypeScript SDK, the everything server and the memory server.

use super::http::Server;
use super::{ClientKind, Scenario, Stage, assert_reel_is_sound, call, host, http, overlay, recordings, stdio, survive};
use crate::common::{self, BINARY};
use crate::recipes;
use serde_json::Value;
use std::ffi::OsString;

#[test]
#[ignore = "needs the real peers for smoke tests; run tests/run.sh"]
fn record_over_stdio() {
    stdio::meet(ClientKind::TypeScript, Scenario::Everything);
}

#[test]
#[ignore = "needs the real peers for smoke tests; run tests/run.sh"]
fn record_over_http() {
    http::meet(ClientKind::TypeScript, Server::Everything("streamableHttp"));
}

#[test]
#[ignore = "needs the real peers for smoke tests; run tests/run.sh"]
fn call_over_http() {
    call::over_streamable_http();
}

/// A plain message, and a user message to a server that supports it through an overlay.
#[test]
#[ignore = "needs the real peers for smoke tests; run tests/run.sh"]
fn fire_at_a_server() {
    let stage = Stage::new();
    std::fs::write(stage.path("echo.yaml"), "conversation: [{tool: echo, arguments: {message: '{content}'}}]")
        .expect("written");
    let fire = |words: &[&str]| -> Value {
        let own = [&[BINARY, "fire"], words].concat().into_iter().map(OsString::from);
        let fired = stage.run(&own.chain(stage.peers.server(Scenario::Everything)).collect::<Vec<_>>());
        assert_eq!(fired.code(), 0, "{}", fired.errors());
        serde_json::from_slice(&fired.stdout).expect("one object")
    };
    let params = r#"{"name":"echo","arguments":{"message":"hi"}}"#;
    let call = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{params}}}"#);
    let answered = fire(&["raw", &call, "--format", "json", "--"]);
    assert_eq!(answered["answer"]["result"]["content"][0]["text"], "Echo: hi", "{answered}");
    let overlaid = ["--", BINARY, "overlay", "echo.yaml", "--"];
    let answered = fire(&[&["user-message", "hello", "--deadline", "30s", "--format", "json"], &overlaid[..]].concat());
    assert_eq!(answered["outcome"]["context"]["text"], "Echo: hello", "{answered}");
}

#[test]
#[ignore = "needs the real peers for smoke tests; run tests/run.sh"]
fn host_over_stdio() {
    host::over_stdio();
}

#[test]
#[ignore = "needs the real peers for smoke tests; run tests/run.sh"]
fn serve_over_stdio() {
    let stage = Stage::new();
    let lines = stage.converse(ClientKind::TypeScript, Scenario::Live, &stage.peers.server(Scenario::Live));
    assert!(lines.lines().next().is_some_and(|line| line.contains(r#""2025-11-25""#)), "{lines}");
}

#[test]
#[ignore = "needs the real peers for smoke tests; run tests/run.sh"]
fn overlay_over_stdio() {
    overlay::the_memory_servers_graph();
}

/// An SDK refuses what it does not know.
#[test]
#[ignore = "needs the real peers for smoke tests; run tests/run.sh"]
fn x5_x6_survive_with_the_typescript_sdk() {
    survive::the_typescript_sdk();
}

/// A client starts a wrapped server, and a shell with other variables finds the recordings.
#[test]
#[ignore = "needs the real peers for smoke tests; run tests/run.sh"]
fn wrap_and_find_the_recordings() {
    recordings::both_sessions_are_found(ClientKind::TypeScript, Scenario::Everything, &["XDG_STATE_HOME"]);
}

/// The recording of a conversation in which both sides follow MCP has no errors.
#[test]
#[ignore = "needs the real peers for smoke tests; run tests/run.sh"]
fn validate_a_recording() {
    let stage = Stage::new();
    let reel = stage.path("it.reel");
    let tap = [BINARY.into(), "record".into(), "-o".into(), reel.clone().into(), "--".into()];
    let tapped: Vec<OsString> = tap.into_iter().chain(stage.peers.server(Scenario::Everything)).collect();
    stage.converse(ClientKind::TypeScript, Scenario::Everything, &tapped);
    assert_reel_is_sound(&stage, &reel);
    let report = stage.mcpreel(&["validate", "--format", "json"], &reel);
    let report: Value = serde_json::from_slice(&report.stdout).expect("one object");
    assert_eq!(report["counts"]["error"], 0, "{report:#}");
}

/// The recipe for node:test in examples/testing.
#[test]
#[ignore = "needs the real peers for smoke tests; run tests/run.sh"]
fn the_test_recipe_for_node() {
    let stage = common::Stage::new();
    recipes::copied(&stage);
    let run = || common::finish(recipes::with_mcpreel(&stage, stage.command(&["node", "--test", "."])), Vec::new());
    let passed = run();
    assert_eq!(passed.code(), 0, "{passed:?}");
    recipes::other_recording(&stage);
    let failed = run();
    assert!(failed.code() != 0 && failed.out().contains(recipes::MISSED), "{failed:?}");
    assert!(failed.out().contains("the client did not do what was recorded"), "{failed:?}");
}
