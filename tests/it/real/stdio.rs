//! Tests recording over stdio with other people's programs.
//!
//! Three real clients (the TypeScript SDK, both generations of the Python SDK) talk to two real servers, with and
//! without `mcpreel record` between them. The client must see the same results, and the reel must contain exactly the
//! bytes that an independent proxy, `tests/real/tee.py`, saw on either side of mcpreel.

use super::{ClientKind, Scenario, Stage, assert_reel_is_sound, assert_same_bytes, assert_same_lines};
use crate::common::BINARY;
use std::ffi::OsString;
use std::path::Path;

const STREAMS: [&str; 3] = ["c2s", "s2c", "stderr"];

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn typescript_client_with_the_time_server() {
    meet(ClientKind::TypeScript, Scenario::Time);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn python_1_client_with_the_everything_server() {
    meet(ClientKind::PythonOne, Scenario::Everything);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn python_1_client_with_the_time_server() {
    meet(ClientKind::PythonOne, Scenario::Time);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn python_2_client_with_the_everything_server() {
    meet(ClientKind::PythonTwo, Scenario::Everything);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn python_2_client_with_the_time_server() {
    meet(ClientKind::PythonTwo, Scenario::Time);
}

/// Plain MCP of the built-in server, whose proposals no SDK knows, in the era that each client begins with.
#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn the_built_in_server_serves_every_client() {
    use ClientKind::{PythonOne, PythonTwo, TypeScript};
    let stage = Stage::new();
    for (client, era, agreed) in [
        (TypeScript, "both", "2025-11-25"),
        (PythonOne, "both", "2025-11-25"),
        (PythonTwo, "both", "2026-07-28"),
        (PythonTwo, "legacy", "2025-11-25"),
    ] {
        let server = [&stage.peers.server(Scenario::Live)[..], &["--era".into(), era.into()]].concat();
        let reel = stage.path(&format!("{}-{era}.reel", client as u8));
        let lines = stage.converse(client, Scenario::Live, &tap(&reel, &server));
        let first = lines.lines().next().unwrap_or_default();
        assert!(first.contains(&format!(r#""{agreed}""#)), "{first}");
        assert_reel_is_sound(&stage, &reel);
        let verdict = stage.mcpreel(&["validate"], &reel);
        assert_eq!(verdict.code(), 0, "{}", String::from_utf8_lossy(&verdict.stdout));
    }
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn a_server_that_refuses_to_start_keeps_its_words_and_exit_code() {
    let stage = Stage::new();
    let mut server = stage.peers.server(Scenario::Everything);
    server.pop();
    server.push("no-such-transport".into());
    let (reel, tee) = (stage.path("refused.reel"), stage.path("refused"));
    let direct = stage.run(&server);
    let tapped = stage.run(&tap(&reel, &stage.peers.tee(&tee, &server)));
    assert_ne!(direct.code(), 0, "the server started against expectation");
    assert_eq!(tapped.code(), direct.code(), "exit code; stderr of the tap:\n{}", tapped.errors());
    assert_same_bytes("standard output through the tap", &tapped.stdout, &direct.stdout);
    assert_reel_holds(&stage, &reel, &tee, Side::Server);
    assert_reel_is_sound(&stage, &reel);
}

/// The whole comparison of one pair: without mcpreel, with the proxy behind it, with the proxy in front of it.
pub(super) fn meet(client: ClientKind, scenario: Scenario) {
    let stage = Stage::new();
    let server = stage.peers.server(scenario);
    let direct = stage.converse(client, scenario, &server);

    let (reel, tee) = (stage.path("behind.reel"), stage.path("behind"));
    let tapped = stage.converse(client, scenario, &tap(&reel, &stage.peers.tee(&tee, &server)));
    assert_same_lines("results, proxy behind the tap", &tapped, &direct);
    assert_reel_holds(&stage, &reel, &tee, Side::Server);
    assert_reel_is_sound(&stage, &reel);

    let (reel, tee) = (stage.path("before.reel"), stage.path("before"));
    let tapped = stage.converse(client, scenario, &stage.peers.tee(&tee, &tap(&reel, &server)));
    assert_same_lines("results, proxy in front of the tap", &tapped, &direct);
    assert_reel_holds(&stage, &reel, &tee, Side::Client);
    assert_reel_is_sound(&stage, &reel);
}

/// On which side of mcpreel the proxy was.
#[derive(Clone, Copy)]
enum Side {
    Client,
    Server,
}

/// `command` with `mcpreel record` in front of it.
fn tap(reel: &Path, command: &[OsString]) -> Vec<OsString> {
    let tap = [BINARY.into(), "record".into(), "-o".into(), reel.into(), "--".into()];
    [&tap[..], command].concat()
}

/// The reel contains, stream by stream, the bytes that the proxy saw.
fn assert_reel_holds(stage: &Stage, reel: &Path, tee: &Path, side: Side) {
    for stream in STREAMS {
        let cat = stage.mcpreel(&["reel", "cat", "--stream", stream], reel);
        assert_eq!(cat.code(), 0, "reel cat --stream {stream}\n{}", cat.errors());
        let kept = tee.join(format!("{stream}.bin"));
        let mut seen = std::fs::read(&kept).unwrap_or_else(|error| panic!("{}: {error}", kept.display()));
        if let (Side::Client, "stderr") = (side, stream) {
            seen = without_own_lines(&seen);
        }
        assert_same_bytes(&format!("{stream} of {}", reel.display()), &cat.stdout, &seen);
    }
}

/// In front of mcpreel, standard error also contains mcpreel's own lines, which begin with its name.
fn without_own_lines(bytes: &[u8]) -> Vec<u8> {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    lines.filter(|line| !line.starts_with(b"mcpreel")).flatten().copied().collect()
}
