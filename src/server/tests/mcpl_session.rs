//! Tests of channels, scopes, redaction and changing feature sets, on the wire.

use super::*;

/// A host that also declares channels, and the server with these options of MCPL.
fn with(settings: &Value) -> (Host, Value) {
    let mut client: Value = serde_json::from_str(FULL).expect("JSON");
    client["experimental"]["mcpl"]["channels"] = json!({"register": true, "publish": true, "observe": true});
    let config = Config { settings: [("mcpl".to_owned(), settings.clone())].into(), ..Config::default() };
    Host::ready(config, "2025-11-25", &client)
}

/// The same, with channels registered by request 1.
fn with_channels() -> Host {
    let inbound = json!({"id": "mail:in", "type": "mail", "label": "Inbox", "direction": "inbound",
        "address": {"box": "in"}});
    with(&json!({"channels": ["discord:#general", inbound]})).0
}

fn code(answer: &Value) -> &Value {
    &answer["error"]["code"]
}

fn write(path: &str, scope: Option<Value>) -> Value {
    let mut call = json!({"name": "write_note", "arguments": {"path": path, "text": "hello"}});
    if let Some(scope) = scope {
        call["scope"] = scope;
    }
    call
}

fn reported<'a>(host: &'a Host, kind: &str) -> &'a Value {
    host.reports.iter().rev().find(|report| report["report"] == kind).expect(kind)
}

#[test]
fn c61_no_channel_gets_the_id_of_another_one() {
    let mut host = with_channels();
    let again = |kind: &str| json!({"id": "mail:in", "type": kind, "label": "Inbox", "direction": "inbound", "address": {"box": "in"}});
    assert!(host.fire(&json!({"kind": "channel-register", "channels": [again("post")]})).is_empty());
    assert_eq!(host.unsent()["why"], "channel_exists");
    assert!(host.fire(&json!({"kind": "channel-changed", "added": [again("post")]})).is_empty());
    assert_eq!(host.fire(&json!({"kind": "channel-register", "channels": [again("mail")]})).len(), 1);
}

#[test]
fn what_a_host_sends_is_reported_if_it_is_malformed_and_answered_all_the_same() {
    let mut host = with_channels();
    let answer = host.request("context/beforeInference", &json!({"inferenceId": "inf_1"}));
    assert!(answer["result"]["contextInjections"].is_array(), "{answer}");
    assert_eq!(reported(&host, "malformed")["method"], "context/beforeInference");
    host.reports.clear();
    let whole = json!({"inferenceId": "inf_1", "conversationId": "c", "turnIndex": 0, "userMessage": "hi",
        "model": {"id": "m", "vendor": "v", "contextWindow": 1, "capabilities": []}});
    host.request("context/beforeInference", &whole);
    assert!(!host.reports.iter().any(|report| report["report"] == "malformed"));
}

#[test]
fn c60_to_c62_channels_are_declared_and_registered_where_they_are_set() {
    let (_, plain) = with(&json!({}));
    assert!(plain["capabilities"]["experimental"]["mcpl"].get("channels").is_none());
    let mut host = Host::full();
    assert_eq!(*code(&host.request("channels/list", &json!({}))), -32601);
    assert!(host.fire(&json!({"kind": "channel-list"})).is_empty());
    assert_eq!(host.unsent(), &json!({"why": "no_channels"}));

    let (mut host, result) = with(&json!({"channels": ["discord:#general"]}));
    let block = &result["capabilities"]["experimental"]["mcpl"];
    assert_eq!(
        (&block["channels"]["lifecycle"], &block["featureSets"]["channels.thinking"]["scoped"]),
        (&json!(true), &json!(true))
    );
    let schemas = proposals::by_name("mcpl").expect("a proposal").descriptor().schemas;
    assert_eq!(schemas.check("capability:server", block), Some(vec![]));
    let registered: Value = serde_json::from_slice(host.bytes.last().expect("a message")).expect("JSON");
    assert_eq!((&registered["method"], &registered["id"]), (&json!("channels/register"), &json!(1)));
    let channel = json!({"id": "discord:#general", "type": "discord", "label": "discord:#general",
        "direction": "bidirectional"});
    assert_eq!(registered["params"], json!({"channels": [channel]}));
    host.answer(&json!(1), &json!({}));
    assert_eq!(host.request("channels/list", &json!({}))["result"], json!({"channels": [channel]}));
}

#[test]
fn c6_a_host_without_channels_is_sent_none() {
    let settings = [("mcpl".to_owned(), json!({"channels": ["a:b"]}))].into();
    let full = serde_json::from_str(FULL).expect("JSON");
    let (mut host, _) = Host::ready(Config { settings, ..Config::default() }, "2025-11-25", &full);
    assert_eq!(host.unsent(), &json!({"why": "host_lacks", "capability": "channels.register"}));
    assert!(host.fire(&json!({"kind": "channel-incoming", "text": "x"})).is_empty());
    assert_eq!(host.unsent()["capability"], "channels");
}

#[test]
fn c63_channels_change_while_the_connection_is_open() {
    let mut host = with_channels();
    let more = host.fire(&json!({"kind": "channel-register", "channels": ["discord:#dev"]}));
    assert_eq!(more[0]["params"]["channels"][0]["id"], "discord:#dev");
    let changed = json!({"kind": "channel-changed", "added": ["discord:#new"], "removed": ["discord:#general"]});
    let sent = host.fire(&changed);
    assert_eq!((&sent[0]["method"], sent[0].get("id")), (&json!("channels/changed"), None));
    assert_eq!(sent[0]["params"]["removed"], json!(["discord:#general"]));
    assert!(host.fire(&changed).is_empty());
    assert_eq!(host.unsent(), &json!({"why": "unknown_channel", "channel": "discord:#general"}));
    let listed = host.request("channels/list", &json!({}))["result"]["channels"].clone();
    let ids: Vec<&Value> = listed.as_array().expect("a list").iter().map(|channel| &channel["id"]).collect();
    assert_eq!(ids, ["discord:#dev", "discord:#new", "mail:in"]);
}

#[test]
fn c64_what_the_host_lists_is_held_against_what_there_is() {
    let mut host = with_channels();
    let asked = host.fire(&json!({"kind": "channel-list"}));
    let other = json!({"id": "x:y", "type": "x", "label": "y", "direction": "inbound"});
    let known = json!({"id": "mail:in", "type": "mail", "label": "Inbox", "direction": "inbound"});
    host.answer(&asked[0]["id"], &json!({"channels": [known, other]}));
    let reported = host.reported();
    assert_eq!((&reported["missing"], &reported["unknown"]), (&json!(["discord:#general"]), &json!(["x:y"])));
}

#[test]
fn c65_channels_are_opened_and_closed() {
    let mut host = with_channels();
    let close = json!({"channelId": "mail:in"});
    assert_eq!(host.request("channels/close", &close)["result"], json!({"closed": true}));
    assert_eq!(*code(&host.request("channels/close", &close)), -32023);
    let open = json!({"type": "mail", "address": {"box": "in"}});
    assert_eq!(host.request("channels/open", &open)["result"]["channel"]["id"], "mail:in");
    let open = json!({"type": "discord", "address": {"channel": "#general"}});
    assert_eq!(host.request("channels/open", &open)["result"]["channel"]["id"], "discord:#general");
    let open = json!({"type": "discord", "address": {"channel": "#secret"}});
    assert_eq!(*code(&host.request("channels/open", &open)), -32024);
    assert_eq!(*code(&host.request("channels/open", &json!({"type": "mail"}))), -32602);
}

#[test]
fn c67_c70_c71_c73_publishing_takes_a_channel_its_direction_and_the_scopes() {
    let mut host = with_channels();
    let publish = |channel: &str| {
        json!({"conversationId": "c", "channelId": channel,
        "content": [{"type": "text", "text": "Hello team"}]})
    };
    let sent = host.request("channels/publish", &publish("discord:#general"));
    assert_eq!(sent["result"], json!({"delivered": true, "messageId": "sent_1"}));
    assert_eq!(reported(&host, "channel_published")["text"], "Hello team");
    for (channel, expected) in [("no:where", -32023), ("mail:in", -32017), ("thinking", -32017)] {
        assert_eq!(*code(&host.request("channels/publish", &publish(channel))), expected, "{channel}");
    }
    assert!(host.notify("channels/publish", &publish("discord:#general")).is_empty());
    assert_eq!(host.reported()["message_id"], "sent_2");
    host.notify("channels/publish", &publish("no:where"));
    assert_eq!((&host.reported()["report"], &host.reported()["code"]), (&json!("channel_unpublished"), &json!(-32023)));
    for scopes in [json!({"blacklist": ["discord:#gen*"]}), json!({"whitelist": ["mail:*"]})] {
        host.notify("featureSets/update", &json!({"scopes": {"channels.publish": scopes}}));
        assert_eq!(reported(&host, "feature_sets")["scopes"], json!(["channels.publish"]));
        assert_eq!(*code(&host.request("channels/publish", &publish("discord:#general"))), -32017);
    }
    host.notify("featureSets/update", &json!({"scopes": {"channels.publish": {"whitelist": ["discord:*"]}}}));
    assert!(host.request("channels/publish", &publish("discord:#general"))["result"].is_object());
    host.notify("featureSets/update", &json!({"disabled": ["channels.publish"]}));
    assert_eq!(*code(&host.request("channels/publish", &publish("discord:#general"))), -32017);
}

#[test]
fn c68_c69_messages_come_in_and_each_has_its_result() {
    let mut host = with_channels();
    let one = host.fire(&json!({"kind": "channel-incoming", "text": "What is the status?", "messageId": "m1"}));
    let message = &one[0]["params"]["messages"][0];
    assert_eq!((&message["channelId"], &message["author"]["name"]), (&json!("discord:#general"), &json!("Somebody")));
    assert_eq!(message["timestamp"], "1970-01-01T00:00:00.000Z");
    host.answer(&one[0]["id"], &json!({"results": [{"messageId": "m1", "accepted": true, "conversationId": "c"}]}));
    let clean = json!({"report": "incoming_answered", "id": one[0]["id"], "accepted": ["m1"], "latency_us": 0,
        "late": false});
    assert_eq!(host.reported(), &clean);
    let batch = json!({"kind": "channel-incoming", "messages": [{"text": "a", "messageId": "m2", "threadId": "t"},
        {"channelId": "mail:in", "content": [{"type": "image", "uri": "a://b"}], "messageId": "m3"},
        {"text": "c", "messageId": "m4"}]});
    let sent = host.fire(&batch);
    assert_eq!(sent[0]["params"]["messages"][0]["threadId"], "t");
    let results = [("m2", true), ("m2", true), ("m3", false), ("mx", true)];
    let results: Vec<Value> = results.iter().map(|(id, ok)| json!({"messageId": id, "accepted": ok})).collect();
    host.answer(&sent[0]["id"], &json!({"results": results}));
    let reported = ["accepted", "twice", "refused", "unasked", "missing"].map(|list| &host.reported()[list]);
    assert_eq!(reported, [&json!(["m2"]), &json!(["m2"]), &json!(["m3"]), &json!(["mx"]), &json!(["m4"])]);
    assert!(host.fire(&json!({"kind": "channel-incoming", "channelId": "x:y", "text": "x"})).is_empty());
    assert_eq!(host.unsent()["why"], "unknown_channel");
    assert!(host.fire(&json!({"kind": "channel-incoming", "text": "x", "content": [{"type": "film"}]})).is_empty());
    assert_eq!(host.unsent()["why"], "invalid");
}

#[test]
fn c66_output_is_observed_and_thinking_too() {
    let mut host = with_channels();
    let about = |channel: &str, more: Value| {
        let mut params = json!({"inferenceId": "i", "conversationId": "c", "channelId": channel});
        params.as_object_mut().expect("an object").extend(more.as_object().cloned().expect("an object"));
        params
    };
    for channel in ["discord:#general", "thinking"] {
        host.notify("channels/outgoing/chunk", &about(channel, json!({"index": 0, "delta": "Hi"})));
        let content = json!({"content": [{"type": "text", "text": "Hi"}]});
        host.notify("channels/outgoing/complete", &about(channel, content));
        let reported = ["report", "channel_id", "chunks", "chunks_agree", "text"].map(|name| &host.reported()[name]);
        assert_eq!(reported, [&json!("outgoing"), &json!(channel), &json!(1), &json!(true), &json!("Hi")]);
        assert!(!host.has_reported("outgoing_fault"));
    }
    host.notify("channels/outgoing/chunk", &about("discord:#general", json!({"index": 5, "delta": "x"})));
    assert_eq!(host.reported()["why"], "a chunk is out of order");
    host.notify("channels/outgoing/chunk", &about("no:where", json!({"index": 0, "delta": "x"})));
    assert_eq!(host.reported()["why"], "there is no channel no:where");
    host.notify("featureSets/update", &json!({"disabled": ["channels.observe"]}));
    host.reports.clear();
    let content = json!({"content": [{"type": "text", "text": "x"}]});
    host.notify("channels/outgoing/complete", &about("discord:#general", content));
    let reported = host.reports.iter().filter_map(|report| report["why"].as_str());
    assert_eq!(
        reported.collect::<Vec<_>>(),
        ["feature set channels.observe is not enabled", "the whole text came twice"]
    );
}

#[test]
fn c20_c25_a_tool_asks_for_its_scope_and_waits() {
    let mut host = Host::full();
    let asked = host.ask("tools/call", &write("/etc/hosts", None));
    assert_eq!((asked.len(), &asked[0]["method"]), (1, &json!("scope/elevate")), "no answer yet");
    let scope = json!({"label": "/etc/hosts", "payload": {"path": "/etc/hosts"}});
    assert_eq!(asked[0]["params"], json!({"featureSet": "notes.write", "scope": scope}));
    assert_eq!(text(&host.tool("echo", &json!({"message": "meanwhile"}))), "meanwhile");
    host.pass(seconds(2));
    // The host adds the real path, and the note goes there.
    let payload = json!({"path": "/real/hosts", "why": "test"});
    let answer = json!({"jsonrpc": "2.0", "id": asked[0]["id"], "result": {"approved": true, "payload": payload}});
    let done = host.line(&answer.to_string());
    assert_eq!((&done[0]["id"], text(&done[0]["result"])), (&json!(2), "Wrote 5 characters to /real/hosts"));
    let expected = json!({"report": "scope_answered", "id": 1, "label": "/etc/hosts", "approved": true,
        "payload": payload, "reason": null, "latency_us": 2_000_000, "late": false});
    assert_eq!(reported(&host, "scope_answered"), &expected);
    assert_eq!(reported(&host, "remembered")["source"], "/real/hosts");
}

#[test]
fn c20_c21_what_the_host_denies_fails_and_is_not_done() {
    let mut host = Host::full();
    let answers = [
        (json!({"result": {"approved": false, "reason": "blacklisted"}}), "blacklisted"),
        (json!({"error": {"code": -32601, "message": "no such method"}}), "no such method"),
    ];
    for (answer, why) in answers {
        let asked = host.ask("tools/call", &write("/x", None));
        let mut line = json!({"jsonrpc": "2.0", "id": asked[0]["id"]});
        line.as_object_mut().expect("an object").extend(answer.as_object().cloned().expect("an object"));
        let done = host.line(&line.to_string());
        assert_eq!(text(&done[0]["result"]), format!("scope /x was not granted: {why}"));
        assert_eq!(done[0]["result"]["isError"], true);
    }
    let asked = host.ask("tools/call", &write("/x", None));
    let done = host.pass(seconds(30));
    assert_eq!(text(&done[0]["result"]), "scope /x was not granted: the host did not respond");
    // A late response changes nothing, and a cancelled call is not performed.
    host.answer(&asked[0]["id"], &json!({"approved": true}));
    let asked = host.ask("tools/call", &write("/x", None));
    host.notify("notifications/cancelled", &json!({"requestId": host.asked}));
    assert_eq!(host.reported()["report"], "cancelled");
    host.answer(&asked[0]["id"], &json!({"approved": true}));
    assert!(!host.has_reported("remembered"));
}

#[test]
fn c19_c25_lists_and_the_scope_of_the_call_decide() {
    let mut host = Host::full();
    let lists = json!({"whitelist": ["/project/**"], "blacklist": ["**/.env"]});
    host.notify("featureSets/update", &json!({"scopes": {"notes.write": lists, "no.set": {}}}));
    assert_eq!(
        (&host.reported()["scopes"], &host.reported()["unknown"]),
        (&json!(["notes.write"]), &json!(["no.set"]))
    );
    let mut sends = |call: Value| host.ask("tools/call", &call)[0].clone();
    assert_eq!(text(&sends(write("/project/a/b.md", None))["result"]), "Wrote 5 characters to /project/a/b.md");
    assert_eq!(sends(write("/project/.env", None))["method"], "scope/elevate", "the blacklist wins");
    assert_eq!(sends(write("/tmp/x", None))["method"], "scope/elevate");
    assert_eq!(sends(write("/project/../etc/x", None))["method"], "scope/elevate", "it climbs out");
    let scope = |label: &str| Some(json!({"label": label, "payload": {"path": "/real/x"}}));
    assert_eq!(text(&sends(write("/tmp/x", scope("/tmp/x")))["result"]), "Wrote 5 characters to /real/x");
    assert_eq!(sends(write("/tmp/x", scope("/tmp/y")))["method"], "scope/elevate", "another scope");
    assert_eq!(sends(write("/project/.env", scope("/project/.env")))["method"], "scope/elevate");
    let odd = sends(json!({"name": "write_note", "arguments": {"path": 1}}));
    assert_eq!(odd["result"]["isError"], true);
    host.notify("featureSets/update", &json!({"disabled": ["notes.write"]}));
    assert_eq!(*code(&host.request("tools/call", &write("/project/a", None))), -32001);
    assert!(host.fire(&json!({"kind": "scope", "label": "x"})).is_empty());
    assert_eq!(host.unsent()["why"], "feature_set_disabled");
}

#[test]
fn c20_a_scope_is_fired() {
    let mut host = Host::full();
    let asked = host.fire(&json!({"kind": "scope", "label": "#general", "payload": {"a": 1}}));
    assert_eq!(asked[0]["params"]["scope"], json!({"label": "#general", "payload": {"a": 1}}));
    host.answer(&asked[0]["id"], &json!({"approved": false, "reason": "no"}));
    assert_eq!((&host.reported()["approved"], &host.reported()["reason"]), (&json!(false), &json!("no")));
    for (set, why) in [("notes.edit", "not_scoped"), ("x", "unknown_feature_set")] {
        assert!(host.fire(&json!({"kind": "scope", "label": "x", "featureSet": set})).is_empty());
        assert_eq!(host.unsent()["why"], why);
    }
}

#[test]
fn c46_c48_responses_are_redacted_where_patterns_are_set() {
    let (mut host, result) = with(&json!({"redact": {"api_key": r"sk-\w+"}}));
    let block = &result["capabilities"]["experimental"]["mcpl"];
    assert_eq!(block["contextHooks"]["afterInference"], json!({"blocking": true}));
    assert_eq!(block["featureSets"]["compliance.redaction"]["uses"], json!(["contextHooks.afterInference"]));
    let mut after = json!({"inferenceId": "i", "conversationId": "c", "turnIndex": 0, "userMessage": "The key?",
        "model": {"id": "m", "vendor": "v", "contextWindow": 1, "capabilities": []},
        "usage": {"inputTokens": 1, "outputTokens": 1}, "assistantMessage": "It is sk-123."});
    let answer = host.request("context/afterInference", &after)["result"].clone();
    let redactions = json!([{"type": "api_key", "position": [6, 12]}]);
    assert_eq!(
        answer,
        json!({"featureSet": "compliance.redaction", "modifiedResponse": "It is [REDACTED].",
        "metadata": {"redactions": redactions}})
    );
    assert_eq!(reported(&host, "redacted")["redactions"], redactions);
    let found = host.tool("search_memories", &json!({"query": "key"}));
    assert!(text(&found).contains("[REDACTED]") && !text(&found).contains("sk-123"), "learnt as it was shown");
    after["assistantMessage"] = json!("Nothing to see.");
    let answer = host.request("context/afterInference", &after)["result"].clone();
    assert_eq!(answer, json!({"featureSet": "compliance.redaction"}));
    host.notify("featureSets/update", &json!({"disabled": ["compliance.*"]}));
    after["assistantMessage"] = json!("sk-9");
    let answer = host.request("context/afterInference", &after)["result"].clone();
    assert_eq!(answer, json!({"featureSet": "memory.extraction"}));
}

/// JavaScript writes half of a cut emoji like this. It must hide neither a secret nor an update.
#[test]
fn what_no_value_can_represent_hides_nothing_else() {
    let (mut host, _) = with(&json!({"redact": {"api_key": r"sk-\w+"}}));
    for odd in
        [r#""sk-1 \ud83d""#, r#""sk-1","x":1e400"#, &format!(r#""sk-1","x":{}1{}"#, "[".repeat(200), "]".repeat(200))]
    {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":77,"method":"context/afterInference","params":{{"inferenceId":"i",
            "conversationId":"c","turnIndex":0,"userMessage":"hi","usage":{{"inputTokens":1,"outputTokens":1}},
            "model":{{"id":"m","vendor":"v","contextWindow":1,"capabilities":[]}},"assistantMessage":{odd}}}}}"#
        );
        let answers = host.line(&line);
        let shown = answers[0]["result"]["modifiedResponse"].as_str().expect("changed");
        assert!(shown.starts_with("[REDACTED]"), "{shown}");
    }
    host.line(r#"{"jsonrpc":"2.0","method":"featureSets/update","params":{"disabled":["memory.*"],"note":"\ud83d"}}"#);
    assert!(host.fire(&json!({"kind": "push", "text": "x"})).is_empty());
    assert_eq!(host.unsent()["why"], "feature_set_disabled");
    let outputs = host
        .server
        .receive(host.now, b"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\",\"params\":{\"x\":\"\xff\"}}");
    assert_eq!(host.sort(outputs)[0]["error"]["code"], -32700, "JSON is UTF-8");
}

/// The host's choice also holds for sets that come later (MCPL 0.4 §6.3 and §6.7).
#[test]
fn c18_a_set_that_was_disabled_before_it_is_declared_stays_disabled() {
    let added = |name: &str| {
        let set = json!({"description": "d", "uses": ["pushEvents"]});
        json!({"kind": "feature-sets", "added": {name: set}, "removed": []})
    };
    for disabled in ["memory.*", "*", "memory.z"] {
        let mut host = Host::full();
        host.notify("featureSets/update", &json!({"disabled": [disabled]}));
        let push = json!({"kind": "push", "text": "x", "featureSet": "memory.z"});
        for _ in 0..2 {
            assert_eq!(host.fire(&added("memory.z")).len(), 1);
            assert!(host.fire(&push).is_empty(), "{disabled}");
            assert_eq!(host.unsent()["why"], "feature_set_disabled");
            host.fire(&json!({"kind": "feature-sets", "added": {}, "removed": ["memory.z"]}));
        }
        host.fire(&added("memory.z"));
        host.notify("featureSets/update", &json!({"enabled": ["memory.z"], "disabled": ["memory.*"]}));
        assert_eq!(host.fire(&push).len(), 1, "the exact name counts");
    }
}

#[test]
fn c18_feature_sets_come_and_go() {
    let mut host = Host::full();
    let added = json!({"memory.semantic": {"description": "Index ready", "uses": ["pushEvents"]}});
    let change = json!({"kind": "feature-sets", "added": added, "removed": ["memory.proactive"]});
    let sent = host.fire(&change);
    assert_eq!(sent[0]["params"], json!({"added": added, "removed": ["memory.proactive"]}));
    assert_eq!(host.fire(&json!({"kind": "push", "text": "x", "featureSet": "memory.semantic"})).len(), 1);
    assert!(host.fire(&json!({"kind": "push", "text": "x"})).is_empty());
    assert_eq!(host.unsent(), &json!({"why": "unknown_feature_set", "feature_set": "memory.proactive"}));
    assert!(host.fire(&change).is_empty(), "it is gone already");
    assert!(host.fire(&json!({"kind": "feature-sets", "added": {"x": {"uses": []}}})).is_empty());
    assert_eq!(host.unsent()["why"], "invalid");
}

#[test]
fn c37_c45_pushes_carry_an_origin_and_more_than_text() {
    let mut host = Host::full();
    let blocks =
        json!([{"type": "image", "uri": "https://a.example/x.png"}, {"type": "resource", "uri": "memory://1"}]);
    let push = json!({"kind": "push", "text": "look", "content": blocks, "origin": {"webhook": "push"}});
    let sent = host.fire(&push);
    let params = &sent[0]["params"];
    assert_eq!(
        (params["payload"]["content"].as_array().map(Vec::len), &params["origin"]["webhook"]),
        (Some(3), &json!("push"))
    );
    let sent = host.fire(&json!({"kind": "push", "content": blocks}));
    assert_eq!(sent[0]["params"]["payload"]["content"], blocks);
    let image = json!([{"type": "image", "data": "eA==", "mimeType": "image/png", "uri": "a://b"}]);
    for wrong in [json!({"kind": "push"}), json!({"kind": "push", "content": image})] {
        assert!(host.fire(&wrong).is_empty());
        assert_eq!(host.unsent()["why"], "invalid");
    }
}

#[test]
fn settings_that_are_wrong_are_reported() {
    let check = |settings: Value| {
        let settings = [("mcpl".to_owned(), settings)].into();
        Config { settings, ..Config::default() }.check()
    };
    assert_eq!(check(json!({"channels": ["a:b"], "redact": {"x": "y+"}})), Ok(()));
    for (settings, word) in [
        (json!({"channels": [{"id": "a"}]}), "channels"),
        (json!({"redact": {"key": "("}}), "redact.key"),
        (json!({"channel": []}), "channel"),
    ] {
        assert!(check(settings).is_err_and(|fault| fault.contains(word)), "{word}");
    }
}
