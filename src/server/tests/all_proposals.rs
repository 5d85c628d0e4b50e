use super::*;

fn config_without(proposal: &str) -> Config {
    let mut config = Config::default();
    config.declare.remove(proposal);
    config
}

fn capability(proposal: &str, value: &Value) {
    let schemas = proposals::by_name(proposal).expect("a proposal").descriptor().schemas;
    assert_eq!(schemas.check("capability:server", value), Some(vec![]), "{proposal}");
}

#[test]
fn a_full_host_is_offered_all_five_and_a_plain_one_three() {
    let (host, full) = Host::ready(Config::default(), "2024-11-05", &serde_json::from_str(FULL).expect("JSON"));
    let full = &full["capabilities"];
    capability("conversation", &full["conversationEvents"]);
    capability("reminder", &full["reminders"]);
    capability("mcpl", &full["experimental"]["mcpl"]);
    capability("hooks", &full["hooks"]);
    capability("mcpe", &full["events"]);
    assert_eq!(full["hooks"]["declarations"].as_array().map(Vec::len), Some(2), "only listed events");
    assert_eq!(host.reports[0]["declared"], json!([["mcpl", "experimental.mcpl"], ["hooks", "hooks"]]));
    let (_, plain) = Host::ready(Config::default(), "2025-11-25", &json!({}));
    let plain = &plain["capabilities"];
    assert!(plain.get("experimental").is_none() && plain.get("hooks").is_none());
    assert!(["conversationEvents", "reminders", "events"].iter().all(|name| plain.get(name).is_some()));
    let none = Config { declare: Default::default(), ..Config::default() };
    let (_, none) = Host::ready(none, "2025-11-25", &serde_json::from_str(FULL).expect("JSON"));
    let names: Vec<&String> = none["capabilities"].as_object().expect("an object").keys().collect();
    assert_eq!(names, ["logging", "completions", "prompts", "resources", "tools"]);
}

#[test]
fn early_hooks_are_declared_where_the_client_put_its_own() {
    let client = json!({"experimental": {"hooks": {"supported_events": ["post_tool_use"]}}});
    let (mut host, result) = Host::ready(Config::default(), "2025-11-25", &client);
    let capabilities = &result["capabilities"];
    assert!(capabilities.get("hooks").is_none());
    let hook = &capabilities["experimental"]["hooks"]["declarations"][0];
    assert_eq!((&hook["event"], &hook["matcher"]["tool_name"]), (&json!("post_tool_use"), &json!("*add_note")));
    let client = json!({"hooks": {"supported_events": ["session_start"]}});
    let (_, result) = Host::ready(Config::default(), "2025-11-25", &client);
    let hook = &result["capabilities"]["hooks"]["declarations"][0];
    let called = host.tool(hook["context_tool"].as_str().expect("a tool"), &hook["context_tool_args"]);
    assert!(called.get("isError").is_none() && text(&called).contains("schema"));
}

#[test]
fn user_messages_are_answered_in_kind() {
    let mut host = Host::plain();
    let about = |id: &str, content: &str| json!({"messageId": id, "content": content});
    let asked = host.request("conversation/userMessage", &about("m1", "What about the database schema?"));
    let memories = &asked["result"]["structuredContext"]["memories"];
    assert_eq!((memories.as_array().map(Vec::len), &memories[0]["relevance"]), (Some(1), &json!(1.0)));
    assert_eq!(host.request("conversation/userMessage", &about("m2", "A joke, please"))["result"], json!({}));
    assert_eq!(host.request("conversation/userMessage", &json!({"messageId": "m"}))["error"]["code"], -32602);
    let reported = host.notify("conversation/userMessage", &about("m3", "mannequin"));
    assert_eq!(
        (&reported[0]["method"], &reported[0]["params"]["messageId"]),
        (&json!("conversation/context"), &json!("m3"))
    );
    let reported = host.notify("conversation/userMessage", &about("m4", "A joke, please"));
    assert_eq!(reported[0]["params"], json!({"messageId": "m4"}));
    assert!(host.notify("conversation/userMessage", &json!({"content": 3})).is_empty());
    let (mut host, _) = Host::ready(config_without("conversation"), "2025-11-25", &json!({}));
    assert_eq!(host.request("conversation/userMessage", &about("m", "schema"))["error"]["code"], -32601);
    assert!(host.notify("conversation/userMessage", &about("m", "schema")).is_empty());
}

#[test]
fn a_notification_can_be_answered_by_a_request_and_history_is_searched() {
    let settings = [("conversation".to_owned(), json!({"carrier": "request"}))].into();
    let (mut host, _) = Host::ready(Config { settings, ..Config::default() }, "2025-11-25", &json!({}));
    let history = json!([{"role": "user", "content": "How is the mannequin installation?"}]);
    let about = json!({"messageId": "m1", "content": "And what of it?", "recentHistory": history});
    let asked = host.notify("conversation/userMessage", &about);
    assert_eq!((&asked[0]["id"], &asked[0]["method"]), (&json!(1), &json!("conversation/context")));
    assert_eq!(asked[0]["params"]["messageId"], "m1");
    assert_eq!(asked[0]["params"]["structuredContext"]["memories"].as_array().map(Vec::len), Some(1));
    host.answer(&json!(1), &json!({}));
    assert_eq!(
        (&host.reported()["report"], &host.reported()["method"]),
        (&json!("answered"), &json!("conversation/context"))
    );
    let result = host.request("conversation/userMessage", &about)["result"].clone();
    assert_eq!(result["structuredContext"]["memories"].as_array().map(Vec::len), Some(1));
}

#[test]
fn hooks_are_declared_at_each_place_where_events_are_listed() {
    let listed = json!({"supported_events": ["session_end"]});
    let client = json!({"hooks": listed, "experimental": {"hooks": listed}});
    let (_, result) = Host::ready(Config::default(), "2025-11-25", &client);
    let all = &result["capabilities"];
    assert_eq!(all["hooks"]["declarations"].as_array().map(Vec::len), Some(1));
    assert_eq!(all["hooks"], all["experimental"]["hooks"]);
}

#[test]
fn settings_are_checked() {
    let with = |proposal: &str, settings: Value| {
        let settings = [(proposal.to_owned(), settings)].into();
        Config { settings, ..Config::default() }.check()
    };
    assert_eq!(with("mcpl", json!({"push_sets": ["a.b"]})), Ok(()));
    for (proposal, settings) in
        [("conversation", json!({"carrier": 1})), ("reminder", json!({"propagate": 1})), ("nothing", json!({}))]
    {
        assert!(with(proposal, settings).is_err_and(|fault| fault.contains(proposal)), "{proposal}");
    }
}

#[test]
fn reminders_go_out_within_what_is_declared() {
    let mut host = Host::plain();
    let emitted = json!({"kind": "reminder", "body": "cargo check passed", "dedupeKey": "cargo", "ttlTurns": 2,
        "roleHint": "system", "propagate": "none", "tags": ["build"]});
    let messages = host.ask("tools/call", &json!({"name": "emit", "arguments": emitted}));
    let reminder = &messages[0]["params"]["reminder"];
    assert_eq!((&reminder["ttlTurns"], &reminder["dedupeKey"]), (&json!(2), &json!("cargo")));
    assert!(messages[0].get("id").is_none() && reminder.get("firedAtTurn").is_none());
    let id: uuid::Uuid = reminder["id"].as_str().expect("an id").parse().expect("a UUID");
    assert_eq!(id.get_version_num(), 7);
    assert_eq!(text(&messages[1]["result"]), "sent notifications/reminder");
    assert!(host.fire(&json!({"kind": "reminder", "body": "x", "propagate": "all"})).is_empty());
    assert_eq!(host.unsent()["why"], "invalid");
    assert!(host.unsent()["fault"].as_str().is_some_and(|fault| fault.contains("propagate")));
    let (mut host, _) = Host::ready(config_without("reminder"), "2025-11-25", &json!({}));
    let refused = host.tool("emit", &json!({"kind": "reminder", "body": "x"}));
    assert!(refused["isError"] == true && text(&refused).contains("reminder is not declared"));
    assert_eq!(host.unsent(), &json!({"why": "not_declared", "proposal": "reminder"}));
}

#[test]
fn nothing_of_mcpl_works_with_a_plain_host() {
    let mut host = Host::plain();
    for method in ["context/beforeInference", "context/afterInference", "state/rollback"] {
        assert_eq!(host.request(method, &json!({}))["error"]["code"], -32601, "{method}");
    }
    host.notify("featureSets/update", &json!({"disabled": ["memory.*"]}));
    assert_eq!(host.reported()["report"], "ignored");
    for kind in [json!({"kind": "push", "text": "x"}), json!({"kind": "inference"}), json!({"kind": "model-info"})] {
        assert!(host.fire(&kind).is_empty());
        assert_eq!(host.unsent(), &json!({"why": "not_declared", "proposal": "mcpl"}));
    }
}

#[test]
fn pushes_are_answered_and_heed_the_feature_sets() {
    let mut host = Host::full();
    let push = json!({"kind": "push", "text": "a commit", "eventId": "evt_1"});
    let messages = host.ask("tools/call", &json!({"name": "emit", "arguments": push}));
    assert_eq!((&messages[0]["id"], &messages[0]["params"]["featureSet"]), (&json!(1), &json!("memory.proactive")));
    host.pass(Duration::from_millis(20));
    host.answer(&json!(1), &json!({"accepted": true, "inferenceId": "inf_1"}));
    let expected = json!({"report": "push_answered", "id": 1, "event_id": "evt_1", "accepted": true,
        "inference_id": "inf_1", "reason": null, "latency_us": 20_000, "late": false});
    assert_eq!(host.reported(), &expected);
    host.fire(&push);
    host.line(r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32001,"message":"Feature set not enabled"}}"#);
    let reported = ["report", "id", "code"].map(|name| &host.reported()[name]);
    assert_eq!(reported, [&json!("refused"), &json!(2), &json!(-32001)]);
    host.notify("featureSets/update", &json!({"disabled": ["memory.proactive", "x"]}));
    let expected = json!({"report": "feature_sets", "enabled": [], "disabled": ["memory.proactive"], "scopes": [],
        "unknown": ["x"]});
    assert_eq!(host.reported(), &expected);
    assert!(host.fire(&push).is_empty());
    assert_eq!(host.unsent(), &json!({"why": "feature_set_disabled", "feature_set": "memory.proactive"}));
    host.notify("featureSets/update", &json!({"enabled": ["memory.*"]}));
    assert_eq!(host.fire(&push).len(), 1);
    host.fire(&json!({"kind": "push", "text": "x", "featureSet": "notes.edit"}));
    assert_eq!(host.unsent(), &json!({"why": "not_in_uses", "feature_set": "notes.edit", "uses": "pushEvents"}));
}

fn before(user: &Value) -> Value {
    json!({"inferenceId": "inf_1", "conversationId": "c", "turnIndex": 0, "userMessage": user,
        "model": {"id": "m", "vendor": "v", "contextWindow": 1000, "capabilities": []}})
}

#[test]
fn context_hooks_inject_and_learn() {
    let mut host = Host::full();
    let result = host.request("context/beforeInference", &before(&json!("How is the mannequin project?")));
    let injection = &result["result"]["contextInjections"][0];
    assert_eq!(
        (&result["result"]["featureSet"], &injection["position"]),
        (&json!("memory.retrieval"), &json!("system"))
    );
    assert_eq!(injection["metadata"]["memoryIds"], json!(["mem_2"]));
    let none = host.request("context/beforeInference", &before(&json!(null)));
    assert_eq!(none["result"]["contextInjections"], json!([]));
    let mut after = before(&json!("Which port?"));
    after["assistantMessage"] = json!("The gateway listens on port 8443.");
    after["usage"] = json!({"inputTokens": 1, "outputTokens": 2});
    assert!(host.notify("context/afterInference", &after).is_empty());
    assert_eq!(host.reported(), &json!({"report": "remembered", "id": "mem_4", "source": "conversation c"}));
    let found = host.request("context/beforeInference", &before(&json!("gateway port?")));
    assert_eq!(found["result"]["contextInjections"][0]["metadata"]["memoryIds"], json!(["mem_4"]));
    assert_eq!(host.request("context/afterInference", &after)["result"], json!({"featureSet": "memory.extraction"}));
    host.notify("featureSets/update", &json!({"disabled": ["memory.*"]}));
    let off = host.request("context/beforeInference", &before(&json!("gateway port?")));
    assert_eq!(off["result"]["contextInjections"], json!([]));
    host.reports.clear();
    host.notify("context/afterInference", &after);
    assert!(host.reports.is_empty());
    let mut odd = before(&json!("schema"));
    odd["featureSet"] = json!("memory.retrieval");
    assert!(host.request("context/beforeInference", &odd)["result"].is_object(), "taken as far as it goes");
    assert!(host.has_reported("misfit"));
}

#[test]
fn inference_is_asked_for_and_its_stream_is_followed() {
    let mut host = Host::full();
    let asked = host.fire(&json!({"kind": "inference", "stream": true, "conversationId": "c"}));
    assert_eq!((&asked[0]["id"], &asked[0]["params"]["stream"]), (&json!(1), &json!(true)));
    for (index, delta) in [(0, "All "), (1, "well.")] {
        host.notify("inference/chunk", &json!({"requestId": 1, "index": index, "delta": delta}));
    }
    let usage = json!({"inputTokens": 1, "outputTokens": 2});
    let done = json!({"content": "All well.", "model": "m", "finishReason": "end_turn", "usage": usage});
    host.answer(&json!(1), &done);
    let answered = host.reports.iter().find(|report| report["report"] == "inference_answered").expect("reported");
    assert_eq!((&answered["chunks"], &answered["chunks_agree"]), (&json!(2), &json!(true)));
    assert_eq!((&answered["model"], &answered["finish_reason"]), (&json!("m"), &json!("end_turn")));
    assert_eq!(host.reported(), &json!({"report": "remembered", "id": "mem_4", "source": "memory.consolidation"}));
    host.notify("inference/chunk", &json!({"requestId": 1, "index": 2, "delta": "late"}));
    assert_eq!(host.reported(), &json!({"report": "orphan", "id": "1"}));
    let info = host.fire(&json!({"kind": "model-info"}));
    assert_eq!(info[0]["params"], json!({}));
    host.notify("featureSets/update", &json!({"disabled": ["memory.consolidation"]}));
    assert!(host.fire(&json!({"kind": "inference"})).is_empty());
}

#[test]
fn c56_chunks_out_of_order_or_twice_are_reported() {
    for (indexes, agree, misplaced) in
        [(vec![0, 1], true, None), (vec![1, 0, 0], false, Some(1)), (vec![0, 1, 1], false, Some(1))]
    {
        let mut host = Host::full();
        host.fire(&json!({"kind": "inference", "stream": true}));
        for index in indexes {
            let delta = ["All ", "well."][index];
            host.notify("inference/chunk", &json!({"requestId": 1, "index": index, "delta": delta}));
        }
        host.answer(&json!(1), &json!({"content": "All well.", "model": "m", "finishReason": "end_turn"}));
        let find = |what: &str| host.reports.iter().find(|report| report["report"] == what);
        assert_eq!(find("inference_answered").expect("reported")["chunks_agree"], agree);
        assert_eq!(find("chunk_misplaced").map(|report| report["index"].as_i64()), misplaced.map(Some));
    }
}

#[test]
fn c32_a_call_with_an_unknown_checkpoint_is_reported() {
    let mut host = Host::full();
    let call = |checkpoint: &str| json!({"name": "add_note", "arguments": {"text": "x"}, "checkpoint": checkpoint});
    let added = host.request("tools/call", &call("chk_nowhere"));
    let expected = json!({"report": "unknown_checkpoint", "checkpoint": "chk_nowhere", "used": null});
    assert!(host.reports.contains(&expected), "{:?}", host.reports);
    let known = added["result"]["state"]["checkpoint"].as_str().expect("a checkpoint").to_owned();
    host.reports.clear();
    host.request("tools/call", &call(&known));
    assert!(!host.reports.iter().any(|report| report["report"] == "unknown_checkpoint"));
}

#[test]
fn notes_carry_state_and_roll_back() {
    let mut host = Host::full();
    let listed = host.request("tools/list", &json!({}))["result"]["tools"].clone();
    let note = listed.as_array().expect("tools").iter().find(|tool| tool["name"] == "add_note").expect("listed");
    assert_eq!(note["_meta"]["featureSet"], "notes.edit");
    let first = host.tool("add_note", &json!({"text": "a"}))["state"].clone();
    let call = json!({"name": "add_note", "arguments": {"text": "b"}, "state": first["data"]});
    let second = host.request("tools/call", &call)["result"]["state"].clone();
    assert_eq!((&first["parent"], &second["parent"]), (&json!(null), &first["checkpoint"]));
    assert_eq!(second["patch"][0]["value"], json!({"id": 2, "text": "b"}));
    let back = |set: &str, checkpoint: &Value| json!({"featureSet": set, "checkpoint": checkpoint});
    let rolled = host.request("state/rollback", &back("notes.edit", &first["checkpoint"]));
    assert_eq!(rolled["result"], json!({"checkpoint": first["checkpoint"], "success": true}));
    assert_eq!(host.tool("add_note", &json!({"text": "c"}))["state"]["parent"], first["checkpoint"]);
    for (params, code) in
        [(back("notes.edit", &json!("chk_x")), -32005), (back("no.such", &json!("chk_x")), -32003), (json!({}), -32602)]
    {
        assert_eq!(host.request("state/rollback", &params)["error"]["code"], code);
    }
    let refused = host.request("state/rollback", &back("memory.retrieval", &json!("chk_x")));
    assert_eq!(refused["result"]["success"], false);
    host.notify("featureSets/update", &json!({"disabled": ["notes.edit"]}));
    let off = host.request("tools/call", &json!({"name": "add_note", "arguments": {"text": "d"}}));
    assert_eq!((&off["error"]["code"], &off["error"]["data"]["featureSet"]), (&json!(-32001), &json!("notes.edit")));
}

#[test]
fn events_reach_who_subscribed() {
    let mut host = Host::plain();
    let made = host.tool("events_subscribe", &json!({"filter": {"eventTypes": ["github.*"], "priority": ["high"]}}));
    let made = &made["structuredContent"];
    let id = made["subscriptionId"].clone();
    let emitted = json!({"kind": "event", "type": "github.issue.opened", "priority": "high", "data": {"n": 1}});
    let messages = host.ask("tools/call", &json!({"name": "emit", "arguments": emitted}));
    let params = &messages[0]["params"];
    assert_eq!((&messages[0]["method"], &params["subscriptionId"]), (&json!("events/event"), &id));
    assert_eq!(
        (&params["event"]["data"], &params["event"]["metadata"]["priority"]),
        (&json!({"n": 1}), &json!("high"))
    );
    assert!(host.fire(&json!({"kind": "event", "type": "github.push"})).is_empty(), "normal priority");
    host.tool("events_pause", &json!({"subscriptionId": id}));
    assert!(host.fire(&emitted).is_empty());
    host.tool("events_resume", &json!({"subscriptionId": id}));
    assert_eq!(host.fire(&emitted).len(), 1);
    let handled = json!({"handler": {"type": "bash", "command": "id"}});
    assert_eq!(host.tool("events_subscribe", &handled)["isError"], true);
    let listed = host.tool("events_list", &json!({}))["structuredContent"].clone();
    assert_eq!(
        (&listed["subscriptions"][0]["clientId"], listed["subscriptions"].as_array().map(Vec::len)),
        (&json!("test"), Some(1))
    );
    host.tool("events_unsubscribe", &json!({"subscriptionId": id}));
    assert_eq!(host.reported(), &json!({"report": "subscription", "id": id, "became": "removed"}));
    assert!(host.fire(&emitted).is_empty());
    let (mut host, _) = Host::ready(config_without("mcpe"), "2025-11-25", &json!({}));
    assert_eq!(host.request("tools/call", &json!({"name": "events_list"}))["error"]["code"], -32602);
    assert!(host.fire(&emitted).is_empty());
}

#[test]
fn events_gather_for_a_schedule_and_for_one_time() {
    let config = Config { wall_base_ns: 1_767_225_600_000_000_000, ..Config::default() };
    let (mut host, _) = Host::ready(config, "2025-11-25", &json!({}));
    let cron = json!({"channels": ["cron"], "cronSchedule": {"expression": "*/5 * * * *", "maxEventsPerDelivery": 2}});
    let made = host.tool("events_subscribe", &json!({"delivery": cron}))["structuredContent"].clone();
    assert_eq!((&made["delivery"], &made["createdAt"]), (&cron, &json!("2026-01-01T00:00:00.000Z")));
    for number in 1..=3 {
        assert!(host.fire(&json!({"kind": "event", "type": "tick", "data": {"n": number}})).is_empty());
    }
    let batches = host.pass(seconds(900));
    let count = |at: usize| batches[at]["params"]["events"].as_array().map(Vec::len);
    assert_eq!((batches.len(), count(0), count(1)), (2, Some(2), Some(1)));
    assert_eq!(batches[1]["params"]["events"][0]["data"]["n"], 3);
    let past = json!({"channels": ["scheduled"], "scheduledDelivery": {"deliverAt": "2026-01-01T00:00:00Z"}});
    let made = host.ask("tools/call", &json!({"name": "events_subscribe", "arguments": {"delivery": past}}));
    assert_eq!((made.len(), &made[0]["result"]["structuredContent"]["status"]), (1, &json!("active")));
    let after = host.pass(seconds(1));
    assert_eq!((after.len(), &after[0]["method"]), (1, &json!("events/subscription_expired")), "behind the answer");
}

#[test]
fn nothing_goes_out_before_the_handshake_is_over() {
    let mut host = Host::raw(Config::default());
    assert!(host.fire(&json!({"kind": "reminder", "body": "x"})).is_empty());
    assert_eq!(host.unsent(), &json!({"why": "not_ready"}));
}
