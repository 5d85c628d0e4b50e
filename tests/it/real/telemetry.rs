//! OpenTelemetry's package for Python decodes what mcpreel sends while real clients and servers talk.

use super::{ClientKind, Scenario, Stage};
use crate::common::{BINARY, Live};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsString;

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn python_decodes_the_spans_of_a_live_session() {
    let stage = Stage::new();
    let receiver = [stage.peers.python("otlp").into(), stage.peers.scripts.join("otlp_receiver.py").into_os_string()];
    let mut receiver = Live::start(stage.command(&receiver));
    let url = format!("http://127.0.0.1:{}", receiver.line());
    let reel = stage.path("live.reel");
    let tap: [OsString; 7] =
        [BINARY.into(), "record".into(), "-o".into(), (&reel).into(), "--otlp".into(), url.into(), "--".into()];
    let server = [&tap[..], &stage.peers.server(Scenario::Everything)].concat();
    stage.converse(ClientKind::TypeScript, Scenario::Everything, &server);
    let stats = stage.mcpreel(&["stats", "--format", "json"], &reel);
    let stats: Value = serde_json::from_slice(&stats.stdout).expect("JSON");
    let expected = stats["kinds"]["request"].as_u64().zip(stats["kinds"]["notification"].as_u64());
    let expected = expected.map(|(requests, notifications)| requests + notifications).expect("counts");
    let (mut spans, mut metrics) = (Vec::new(), Vec::new());
    // Metrics are sent last.
    while metrics.is_empty() {
        let said: Value = serde_json::from_str(&receiver.line()).expect("JSON");
        assert!(said["error"].is_null(), "{said}");
        spans.extend(said["spans"].as_array().cloned().unwrap_or_default());
        metrics.extend(said["metrics"].as_array().cloned().unwrap_or_default());
    }
    assert_eq!(spans.len() as u64, expected, "{spans:#?}");
    let ids: BTreeSet<&str> = spans.iter().filter_map(|span| span["id"].as_str()).collect();
    assert_eq!(ids.len(), spans.len());
    let echo = spans.iter().find(|span| span["name"] == "tools/call echo").expect("a call");
    assert_eq!(echo["attributes"]["gen_ai.tool.name"], "echo");
    assert_eq!(echo["attributes"]["network.transport"], "pipe");
    assert!(metrics.iter().any(|metric| metric["name"] == "mcp.client.operation.duration"), "{metrics:#?}");
}
