use super::*;

#[test]
fn the_revision_is_agreed_on() {
    for (asked, agreed) in
        [("2024-11-05", "2024-11-05"), ("2025-11-25", "2025-11-25"), ("2026-07-28", "2025-11-25"), ("x", "2025-11-25")]
    {
        let (_, result) = Host::ready(Config::default(), asked, &json!({}));
        assert_eq!(result["protocolVersion"], agreed);
        assert!(result["instructions"].is_string());
    }
    let only = Config { revisions: vec![crate::protocol::Revision::V2025_03_26], ..Config::default() };
    assert_eq!(Host::ready(only, "2025-11-25", &json!({})).1["protocolVersion"], "2025-03-26");
}

#[test]
fn hosts_that_probe_for_the_modern_era_are_sent_back() {
    let revisions = vec![crate::protocol::Revision::NEWEST_LEGACY];
    let mut host = Host::raw(Config { revisions, ..Config::default() });
    assert_eq!(host.request("server/discover", &json!({}))["error"]["code"], -32601);
    assert_eq!(host.request("ping", &json!({}))["result"], json!({}));
    assert_eq!(host.request("tools/list", &json!({}))["error"]["code"], -32600);
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    assert!(host.request("initialize", &params)["result"].is_object());
    assert_eq!(host.request("initialize", &params)["error"]["code"], -32600);
}

#[test]
fn what_is_unknown_or_broken_is_answered_as_json_rpc_says() {
    let mut host = Host::plain();
    assert_eq!(host.request("no/such", &json!({}))["error"]["code"], -32601);
    assert!(host.notify("notifications/no_such", &json!({})).is_empty());
    assert_eq!(host.reported()["report"], "ignored");
    for (line, code, id) in [
        ("{\"jsonrpc\":", -32700, json!(null)),
        ("hello", -32700, json!(null)),
        ("7", -32600, json!(null)),
        ("{}", -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, json!(null)),
        (r#"{"id":3,"method":"ping"}"#, -32600, json!(3)),
        (r#"{"jsonrpc":"2.0","id":4,"method":"tools/list","params":[1]}"#, -32602, json!(4)),
        (r#"[{"jsonrpc":"2.0","id":5,"method":"ping"}]"#, -32600, json!(null)),
    ] {
        let answers = host.line(line);
        assert_eq!((&answers[0]["error"]["code"], &answers[0]["id"]), (&json!(code), &id), "{line}");
        assert_eq!(answers.len(), 1);
    }
    assert!(host.line("  ").is_empty());
    assert!(host.line(r#"{"jsonrpc":"2.0","id":9,"result":{}}"#).is_empty());
    assert_eq!(host.reported(), &json!({"report": "orphan", "id": "9"}));
}

#[test]
fn ids_come_back_as_they_stood() {
    let mut host = Host::plain();
    for id in ["0", "\"a\\u0041\"", "123456789012345678901234567890", "-1"] {
        host.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        let expected = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        assert_eq!(host.bytes.pop().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()), Some(expected));
    }
}

#[test]
fn a_request_with_too_many_values_is_refused_by_its_id() {
    let mut host = Host::plain();
    let zeros = format!("[{}0]", "0,".repeat(6 << 20));
    let refused = host.line(&format!(r#"{{"jsonrpc":"2.0","id":77,"method":"ping","params":{{"x":{zeros}}}}}"#));
    assert_eq!((&refused[0]["id"], &refused[0]["error"]["code"]), (&json!(77), &json!(-32600)));
    for unanswered in [r#""method":"notifications/x","params":{"x":"#, r#""id":1,"result":{"x":"#] {
        assert!(host.line(&format!(r#"{{"jsonrpc":"2.0",{unanswered}{zeros}}}}}"#)).is_empty());
    }
    assert_eq!(host.line(&zeros)[0]["id"], Value::Null);
}

#[test]
fn batches_belong_to_one_revision_and_wait_for_all_answers() {
    let (mut host, _) = Host::ready(Config::default(), "2025-03-26", &json!({}));
    assert_eq!(host.line("[]")[0]["error"]["code"], -32600);
    let answers = host.line(
        r#"[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},
        3, {"jsonrpc":"2.0","id":"b","method":"no/such"}]"#,
    );
    let ids: Vec<&Value> = answers[0].as_array().expect("a batch").iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!("a"), &json!(null), &json!("b")]);
    assert!(host.line(r#"[{"jsonrpc":"2.0","method":"notifications/x"}]"#).is_empty());
    let slow = r#"{"jsonrpc":"2.0","id":"s","method":"tools/call",
        "params":{"name":"count_slowly","arguments":{"to":2,"interval_ms":10}}}"#;
    assert!(host.line(&format!(r#"[{slow},{{"jsonrpc":"2.0","id":"p","method":"ping"}}]"#)).is_empty());
    let answers = host.pass(seconds(1));
    assert_eq!((answers.len(), answers[0].as_array().map(Vec::len)), (1, Some(2)));
    assert!(host.line(&format!(r#"[{slow},{{"jsonrpc":"2.0","id":"p","method":"ping"}}]"#)).is_empty());
    let answers = host.notify("notifications/cancelled", &json!({"requestId": "s"}));
    assert_eq!(answers[0].as_array().map(Vec::len), Some(1));
}

#[test]
fn tools_answer_and_fail_as_tools_do() {
    let mut host = Host::plain();
    let listed = host.request("tools/list", &json!({}))["result"]["tools"].clone();
    let names: Vec<&str> = listed.as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names.len(), 14);
    assert!(listed.as_array().expect("tools").iter().all(|tool| tool["inputSchema"]["type"] == "object"));
    assert_eq!(text(&host.tool("echo", &json!({"message": "hi"}))), "hi");
    assert_eq!(host.tool("add", &json!({"a": 2, "b": 3}))["structuredContent"], json!({"sum": 5}));
    assert_eq!(host.tool("add", &json!({"a": 0.5, "b": 1}))["structuredContent"], json!({"sum": 1.5}));
    assert_eq!(host.tool("fail", &json!({}))["isError"], true);
    let wrong = host.tool("echo", &json!({"message": 3}));
    assert!(wrong["isError"] == true && text(&wrong).contains("/message"));
    assert_eq!(host.request("tools/call", &json!({"name": "none"}))["error"]["code"], -32602);
    assert_eq!(host.request("tools/call", &json!({}))["error"]["code"], -32602);
    assert_eq!(host.request("tools/list", &json!({"cursor": "x"}))["error"]["code"], -32602);
    host.tool("remember", &json!({"content": "The deploy key rotates on Mondays"}));
    let found = host.tool("search_memories", &json!({"query": "when do deploy keys rotate"}));
    assert_eq!(found["structuredContent"]["memories"][0]["id"], "mem_4");
    assert_eq!(host.tool("search_memories", &json!({"query": "xyzzy"}))["structuredContent"]["memories"], json!([]));
}

#[test]
fn older_revisions_are_spared_newer_members() {
    let (mut host, result) = Host::ready(Config::default(), "2024-11-05", &json!({}));
    assert!(result["capabilities"].get("completions").is_none());
    let listed = host.request("tools/list", &json!({}))["result"]["tools"].clone();
    for tool in listed.as_array().expect("tools") {
        assert!(["title", "annotations", "outputSchema"].iter().all(|name| tool.get(name).is_none()), "{tool}");
    }
    assert!(host.tool("add", &json!({"a": 1, "b": 1})).get("structuredContent").is_none());
}

#[test]
fn resources_are_read_and_watched() {
    let mut host = Host::plain();
    assert_eq!(host.request("resources/list", &json!({}))["result"]["resources"].as_array().map(Vec::len), Some(2));
    host.request("resources/templates/list", &json!({}));
    let one = host.request("resources/read", &json!({"uri": "mcpreel://memory/mem_2"}));
    assert!(one["result"]["contents"][0]["text"].as_str().expect("text").contains("mannequin"));
    let none = host.request("resources/read", &json!({"uri": "mcpreel://memory/mem_9"}));
    assert_eq!(
        (&none["error"]["code"], &none["error"]["data"]["uri"]),
        (&json!(-32002), &json!("mcpreel://memory/mem_9"))
    );
    host.request("resources/subscribe", &json!({"uri": "mcpreel://notes"}));
    let messages = host.ask("tools/call", &json!({"name": "add_note", "arguments": {"text": "buy milk"}}));
    assert_eq!(messages[0]["method"], "notifications/resources/updated");
    assert!(messages[1]["result"].get("state").is_none(), "no state for a host without MCPL");
    let read = host.request("resources/read", &json!({"uri": "mcpreel://notes"}));
    assert_eq!(read["result"]["contents"][0]["text"], "buy milk");
    host.request("resources/unsubscribe", &json!({"uri": "mcpreel://notes"}));
    assert_eq!(host.ask("tools/call", &json!({"name": "add_note", "arguments": {"text": "x"}})).len(), 1);
}

#[test]
fn prompts_and_completion_draw_on_the_memories() {
    let mut host = Host::plain();
    assert_eq!(host.request("prompts/list", &json!({}))["result"]["prompts"].as_array().map(Vec::len), Some(2));
    let recall = host.request("prompts/get", &json!({"name": "recall", "arguments": {"topic": "schema"}}));
    assert!(
        recall["result"]["messages"][0]["content"]["text"].as_str().expect("text").contains("one table per tenant")
    );
    assert_eq!(host.request("prompts/get", &json!({"name": "recall"}))["error"]["code"], -32602);
    assert!(host.request("prompts/get", &json!({"name": "review_notes"}))["result"].is_object());
    let ask = json!({"ref": {"type": "ref/prompt", "name": "recall"}, "argument": {"name": "topic", "value": "Mig"}});
    assert_eq!(host.request("completion/complete", &ask)["result"]["completion"]["values"], json!(["migration"]));
    let ask = json!({"ref": {"type": "ref/resource", "uri": "mcpreel://memory/{id}"},
        "argument": {"name": "id", "value": "mem_"}});
    assert_eq!(host.request("completion/complete", &ask)["result"]["completion"]["total"], 3);
    let ask = json!({"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "topic", "value": ""}});
    assert_eq!(host.request("completion/complete", &ask)["error"]["code"], -32602);
}

#[test]
fn log_messages_heed_the_level() {
    let mut host = Host::plain();
    let log = |level: &str| json!({"kind": "log", "level": level, "data": {"a": 1}});
    assert_eq!(host.fire(&log("info"))[0]["params"]["data"], json!({"a": 1}));
    assert!(host.fire(&log("debug")).is_empty());
    host.request("logging/setLevel", &json!({"level": "error"}));
    assert!(host.fire(&log("warning")).is_empty());
    assert_eq!(host.unsent(), &json!({"why": "below_level", "level": "error"}));
    assert_eq!(host.fire(&log("alert")).len(), 1);
    assert_eq!(host.request("logging/setLevel", &json!({"level": "loud"}))["error"]["code"], -32602);
    assert!(host.fire(&log("loud")).is_empty());
}

#[test]
fn anything_can_be_sent_raw() {
    let mut host = Host::plain();
    let roots = host.fire(&json!({"kind": "request", "method": "roots/list"}));
    assert_eq!(roots[0]["id"], 1);
    host.answer(&json!(1), &json!({"roots": []}));
    assert_eq!((&host.reported()["report"], &host.reported()["method"]), (&json!("answered"), &json!("roots/list")));
    host.fire(&json!({"kind": "notification", "method": "notifications/tools/list_changed"}));
    assert_eq!(host.tool("emit", &json!({"kind": "request", "method": "roots/list"}))["isError"], true);
    host.reports.clear();
    host.fire(&json!({"kind": "request", "method": "roots/list"}));
    host.answer(&json!(2), &json!({"roots": 3}));
    assert!(host.has_reported("misfit"));
}
