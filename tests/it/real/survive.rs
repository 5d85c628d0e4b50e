//! Tests `survive` with unmodified SDK clients: each answers what it does not know with an error or not at all, and
//! continues; over stdio and over HTTP.

use super::{ClientKind, Stage};
use crate::common::BINARY;
use serde_json::{Value, json};
use std::ffi::OsString;

/// The report of `survive` about a client that runs the scenario for the built-in server, with `more` arguments.
fn probe_report(stage: &Stage, client: ClientKind, reel: &str, more: &[&str]) -> Value {
    let own = [BINARY, "survive", "--format", "json", "-o", reel, "--"].map(OsString::from);
    let words = [&own[..], &stage.peers.client(client)[..], &["live".into()]].concat();
    let words: Vec<OsString> = words.into_iter().chain(more.iter().map(OsString::from)).collect();
    let reported = stage.run(&words);
    assert_eq!(reported.code(), 0, "{}\n{}", String::from_utf8_lossy(&reported.stdout), reported.errors());
    serde_json::from_slice(&reported.stdout).expect("one object")
}

/// Every notification was accepted, every request refused with this code, and every declaration accepted, in one start.
fn check(probe_report: &Value, code: i64) {
    for sent in probe_report["messages"].as_array().expect("messages") {
        let expected = if sent["form"] == "request" { json!(["refused", code]) } else { json!(["taken", null]) };
        assert_eq!(json!([sent["outcome"], sent["code"]]), expected, "{sent}");
    }
    let declared = probe_report["declarations"].as_array().expect("declarations");
    assert!(declared.iter().all(|one| one["outcome"] == "taken") && declared.len() == 10, "{probe_report}");
    assert_eq!((&probe_report["starts"], &probe_report["client"]["answers_ping"]), (&json!(1), &json!(true)));
}

/// The TypeScript SDK, over stdio and over HTTP.
pub(super) fn the_typescript_sdk() {
    let stage = Stage::new();
    check(&probe_report(&stage, ClientKind::TypeScript, "a.reel", &[]), -32601);
    check(&probe_report(&stage, ClientKind::TypeScript, "b.reel", &["{url}"]), -32601);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn x5_the_python_sdk_1_calls_unknown_requests_invalid() {
    let stage = Stage::new();
    check(&probe_report(&stage, ClientKind::PythonOne, "a.reel", &["{}"]), -32602);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn x11_the_python_sdk_2_falls_back_to_a_handshake_and_refuses() {
    let stage = Stage::new();
    check(&probe_report(&stage, ClientKind::PythonTwo, "a.reel", &[]), -32601);
}
