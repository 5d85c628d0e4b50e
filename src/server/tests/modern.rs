//! Tests of the modern era: each request names its revision.

use super::*;
use crate::protocol::Revision;

const MODERN: &str = "2026-07-28";

/// Sends a request with the `_meta` that the era requires; returns its response, checked against the era's schemas.
fn ask(host: &mut Host, version: &str, method: &str, mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(version);
    params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = serde_json::from_str(FULL).expect("JSON");
    host.asked += 1;
    let message = json!({"jsonrpc": "2.0", "id": host.asked, "method": method, "params": params});
    let answer = host.line(&message.to_string()).pop().expect("an answer");
    if let Some(result) = answer.get("result") {
        assert_eq!(schema::MODERN.check(&format!("{method}:result"), result), Some(vec![]), "{method}: {result}");
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "mcpreel-live");
    }
    answer
}

fn only(revision: Revision) -> Config {
    Config { revisions: vec![revision], ..Config::default() }
}

#[test]
fn a_server_can_be_discovered_and_says_that_the_proposals_have_no_carrier() {
    let mut host = Host::raw(Config::default());
    let found = ask(&mut host, MODERN, "server/discover", json!({}))["result"].clone();
    assert_eq!(found["supportedVersions"], json!([MODERN]));
    let names: Vec<&String> = found["capabilities"].as_object().expect("an object").keys().collect();
    assert_eq!(names, ["completions", "prompts", "resources", "tools"], "nothing that must be sent unasked");
    assert!(found["instructions"].as_str().is_some_and(|text| text.contains("cannot carry the proposals")));
    let connected = json!({"report": "connected", "client": "test", "revision": MODERN,
        "declared": [["mcpl", "experimental.mcpl"], ["hooks", "hooks"]]});
    let no_carrier = json!({"report": "no_carrier", "revision": MODERN,
        "proposals": ["conversation", "reminder", "mcpl", "hooks", "mcpe"]});
    assert_eq!(host.reports, [connected, no_carrier]);
    ask(&mut host, MODERN, "server/discover", json!({}));
    assert_eq!(host.reports.len(), 2, "reported once");
    assert!(host.fire(&json!({"kind": "reminder", "body": "x"})).is_empty());
    assert_eq!(host.unsent(), &json!({"why": "no_carrier"}));
}

#[test]
fn plain_mcp_is_served_without_a_handshake() {
    let mut host = Host::raw(Config::default());
    let tools = ask(&mut host, MODERN, "tools/list", json!({}))["result"]["tools"].clone();
    assert_eq!(tools.as_array().map(Vec::len), Some(8), "none of a proposal");
    let echo = ask(&mut host, MODERN, "tools/call", json!({"name": "echo", "arguments": {"message": "hi"}}));
    assert_eq!(text(&echo["result"]), "hi");
    let sum = ask(&mut host, MODERN, "tools/call", json!({"name": "add", "arguments": {"a": 1, "b": 2}}));
    assert_eq!(sum["result"]["structuredContent"], json!({"sum": 3}));
    let note = ask(&mut host, MODERN, "tools/call", json!({"name": "add_note", "arguments": {"text": "milk"}}));
    assert!(note["result"].get("state").is_none());
    let read = ask(&mut host, MODERN, "resources/read", json!({"uri": "mcpreel://notes"}));
    assert_eq!(read["result"]["contents"][0]["text"], "milk");
    let none = ask(&mut host, MODERN, "resources/read", json!({"uri": "mcpreel://none"}));
    assert_eq!(none["error"]["code"], -32602);
    ask(&mut host, MODERN, "resources/list", json!({}));
    ask(&mut host, MODERN, "resources/templates/list", json!({}));
    ask(&mut host, MODERN, "prompts/list", json!({}));
    ask(&mut host, MODERN, "prompts/get", json!({"name": "recall", "arguments": {"topic": "schema"}}));
    let complete =
        json!({"ref": {"type": "ref/prompt", "name": "recall"}, "argument": {"name": "topic", "value": "m"}});
    assert!(ask(&mut host, MODERN, "completion/complete", complete)["result"].is_object());
    for gone in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "conversation/userMessage"] {
        let answer = ask(&mut host, MODERN, gone, json!({"messageId": "m", "content": "schema"}));
        assert_eq!(answer["error"]["code"], -32601, "{gone}");
    }
    assert_eq!(ask(&mut host, MODERN, "tools/call", json!({"name": "events_list"}))["error"]["code"], -32602);
    assert!(!host.has_reported("misfit"), "{:?}", host.reports);
}

#[test]
fn an_answer_that_comes_later_is_of_its_requests_era() {
    let mut host = Host::raw(Config::default());
    let params = json!({"name": "count_slowly", "arguments": {"to": 1, "interval_ms": 10},
        "_meta": {"io.modelcontextprotocol/protocolVersion": MODERN, "progressToken": "p",
            "io.modelcontextprotocol/clientCapabilities": {}}});
    assert!(host.ask("tools/call", &params).is_empty());
    host.open.clear();
    let messages = host.pass(seconds(1));
    assert_eq!(
        (&messages[0]["params"]["progressToken"], &messages[1]["result"]["resultType"]),
        (&json!("p"), &json!("complete"))
    );
}

#[test]
fn versions_that_are_not_spoken_are_reported() {
    let mut host = Host::raw(Config::default());
    for version in ["2099-01-01", "2025-11-25"] {
        let error = ask(&mut host, version, "tools/list", json!({}))["error"].clone();
        assert_eq!(error["code"], -32022);
        assert_eq!(error["data"], json!({"supported": [MODERN], "requested": version}));
    }
    let bare = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": MODERN}});
    for lacking in [bare, json!({})] {
        assert_eq!(host.request("server/discover", &lacking)["error"]["code"], -32602);
    }
    let mut modern = Host::raw(only(Revision::V2026_07_28));
    let error = modern.request("initialize", &json!({"protocolVersion": "2025-11-25"}))["error"].clone();
    assert_eq!((&error["code"], &error["data"]["requested"]), (&json!(-32022), &json!("2025-11-25")));
    assert_eq!(modern.request("tools/list", &json!({}))["error"]["code"], -32602);
    assert!(ask(&mut modern, MODERN, "tools/list", json!({}))["result"].is_object());
    let mut legacy = Host::raw(only(Revision::V2025_11_25));
    assert_eq!(ask(&mut legacy, MODERN, "server/discover", json!({}))["error"]["code"], -32601);
    assert!(legacy.reports.is_empty());
}

#[test]
fn a_host_that_probed_may_shake_hands_all_the_same() {
    let mut host = Host::raw(Config::default());
    ask(&mut host, MODERN, "server/discover", json!({}));
    let result = host.shake_hands("2025-11-25", &serde_json::from_str(FULL).expect("JSON"));
    assert!(result["capabilities"]["experimental"]["mcpl"].is_object());
    assert_eq!(host.fire(&json!({"kind": "push", "text": "now"})).len(), 1);
    // A legacy request on such a connection is served on its own as well, without the proposals.
    let tools = ask(&mut host, MODERN, "tools/list", json!({}))["result"]["tools"].clone();
    assert_eq!(tools.as_array().map(Vec::len), Some(8));
    assert_eq!(ask(&mut host, MODERN, "tools/call", json!({"name": "events_list"}))["error"]["code"], -32602);
}
