//! Tests `mcp` with other people's clients, in both eras: they call every tool and read every kind of resource and prompt,
//! and check results against the tools' schemas as they do for any server.

use super::{BINARY, ClientKind, Scenario, Stage, assert_reel_is_sound};
use serde_json::Value;
use std::ffi::OsString;

fn meet(client: ClientKind, agreed: &str) {
    let stage = Stage::new();
    let demo = stage.run(&[BINARY, "demo", "-o", "demo.reel"].map(OsString::from));
    assert_eq!(demo.code(), 0, "{}", demo.errors());
    std::fs::create_dir(stage.path("out")).expect("a folder");
    let reel = stage.path("out/session.reel");
    let tap = [BINARY.into(), "record".into(), "-o".into(), reel.clone().into(), "--".into()];
    let lines = stage.converse(client, Scenario::Agents, &[&tap[..], &stage.peers.server(Scenario::Agents)].concat());
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(lines[0].to_string().contains(agreed), "{}", lines[0]);
    for line in &lines {
        let is_failure = line["ok"]["isError"] == true || line.get("error").is_some();
        let should_fail = ["own failure", "read unknown"].iter().any(|op| line["op"] == *op);
        assert_eq!(is_failure, should_fail, "{line}");
    }
    assert_eq!(lines.len(), 17, "{lines:?}");
    assert_reel_is_sound(&stage, &reel);
    let verdict = stage.mcpreel(&["validate", "--fail-on", "info", "--skip", "tools/structured-text"], &reel);
    assert_eq!(verdict.code(), 0, "{}", String::from_utf8_lossy(&verdict.stdout));
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn typescript_client() {
    meet(ClientKind::TypeScript, "2025-11-25");
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn python_1_client() {
    meet(ClientKind::PythonOne, "2025-11-25");
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn python_2_client() {
    meet(ClientKind::PythonTwo, "2026-07-28");
}
