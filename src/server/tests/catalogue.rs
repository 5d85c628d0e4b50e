//! Tests of a server with a catalogue in place of the built-in tools.

use super::super::{Catalogue, CatalogueRequest, Task};
use super::*;
use std::sync::Arc;

fn fault(_: &str, arguments: &Value) -> Option<String> {
    (!arguments["text"].is_string()).then(|| "text is missing".to_owned())
}

fn config() -> Config {
    let tool = json!({"name": "look", "title": "Look", "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}});
    let catalogue = Catalogue {
        instructions: "Look at it.".to_owned(),
        tools: vec![tool],
        fault,
        prompts: vec![json!({"name": "ask"})],
        templates: vec![json!({"uriTemplate": "x://{id}", "name": "x"})],
    };
    Config { declare: Default::default(), memory: false, catalogue: Some(Arc::new(catalogue)), ..Config::default() }
}

fn open(revision: &str) -> (Host, Value) {
    Host::ready(config(), revision, &json!({}))
}

fn complete(host: &mut Host, completed: Option<Value>) -> Value {
    let ticket = host.io_requests.pop().expect("an I/O request").ticket;
    let outputs = host.server.complete_io(host.now, ticket, completed);
    host.sort(outputs).pop().expect("an answer")
}

#[test]
fn what_is_offered_replaces_everything_built_in() {
    let (mut host, begun) = open("2025-11-25");
    assert_eq!(begun["capabilities"], json!({"completions": {}, "prompts": {}, "resources": {}, "tools": {}}));
    assert_eq!(begun["instructions"], "Look at it.");
    assert_eq!(host.request("tools/list", &json!({}))["result"]["tools"][0]["name"], "look");
    assert_eq!(host.request("prompts/list", &json!({}))["result"]["prompts"][0]["name"], "ask");
    assert_eq!(host.request("resources/templates/list", &json!({}))["result"]["resourceTemplates"][0]["name"], "x");
    for unknown in ["logging/setLevel", "resources/subscribe", "conversation/userMessage"] {
        let answer = host.request(unknown, &json!({"level": "info", "uri": "x://1", "messageId": "m", "content": "c"}));
        assert_eq!(answer["error"]["code"], -32601, "{unknown}");
    }
    for name in ["echo", "emit", "search_memories"] {
        assert_eq!(host.request("tools/call", &json!({"name": name}))["error"]["code"], -32602, "{name}");
    }
    assert!(host.io_requests.is_empty());
}

#[test]
fn requests_go_to_the_runner_and_its_results_come_back() {
    let (mut host, _) = open("2025-11-25");
    let refused = host.request("tools/call", &json!({"name": "look", "arguments": {}}));
    assert_eq!(refused["result"]["isError"], true);
    let call = json!({"name": "look", "arguments": {"text": "x"}});
    assert!(host.ask("tools/call", &call).is_empty());
    assert!(host.server.is_owing());
    let passed = CatalogueRequest { method: "tools/call".to_owned(), params: call.clone() };
    assert_eq!(host.io_requests[0].task, Task::Catalogue(passed));
    assert_eq!(host.request("ping", &json!({}))["result"], json!({}), "answered meanwhile");
    let result = json!({"content": [], "structuredContent": {"n": 1}});
    assert_eq!(complete(&mut host, Some(json!({"result": result})))["result"], result);
    assert!(!host.server.is_owing());
    host.ask("resources/read", &json!({"uri": "x://1"}));
    assert_eq!(complete(&mut host, Some(json!({"missing": "x://1"})))["error"]["code"], -32002);
    host.ask("prompts/get", &json!({"name": "ask"}));
    let refused = complete(&mut host, Some(json!({"refused": "no such argument"})));
    assert_eq!(refused["error"], json!({"code": -32602, "message": "no such argument"}));
    host.ask("resources/list", &json!({"cursor": "c"}));
    assert_eq!(complete(&mut host, None)["error"]["code"], -32603);
    // Members that a revision does not define are left out.
    let (mut host, _) = open("2025-03-26");
    assert!(host.request("tools/list", &json!({}))["result"]["tools"][0].get("outputSchema").is_none());
    host.ask("tools/call", &call);
    assert_eq!(complete(&mut host, Some(json!({"result": result})))["result"], json!({"content": []}));
}

#[test]
fn a_cancelled_request_is_stopped_and_not_answered() {
    let (mut host, _) = open("2025-11-25");
    host.ask("tools/call", &json!({"name": "look", "arguments": {"text": "x"}}));
    let (id, ticket) = (host.asked, host.io_requests[0].ticket);
    host.notify("notifications/cancelled", &json!({"requestId": id}));
    assert_eq!(host.io_requests.pop().expect("an order").task, Task::Cancel(ticket));
    let outputs = host.server.complete_io(host.now, ticket, Some(json!({"result": {"content": []}})));
    assert!(host.sort(outputs).is_empty());
    assert!(!host.server.is_owing());
}

#[test]
fn too_many_requests_are_refused() {
    let (mut host, _) = open("2025-11-25");
    let call = json!({"name": "look", "arguments": {"text": "x"}});
    for _ in 0..64 {
        assert!(host.ask("tools/call", &call).is_empty());
    }
    let refused = host.request("tools/call", &call);
    assert!(refused["error"]["message"].as_str().is_some_and(|text| text.contains("in progress")), "{refused}");
    complete(&mut host, Some(json!({"result": {"content": []}})));
    assert!(host.ask("tools/call", &call).is_empty(), "one has ended");
}
