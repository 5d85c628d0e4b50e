//! The built-in server under a host whose messages were written from the text of MCPL alone.

use crate::common::Stage;
use serde_json::{Value, json};

/// What `serve` sends to a host that says these messages after its handshake, and what it reports.
fn served(words: &[&str], said: &[Value]) -> (Vec<Value>, String) {
    let stage = Stage::new();
    let channels = json!({"register": true, "publish": true, "observe": true, "lifecycle": true, "streaming": true});
    let block = json!({"version": "0.4", "pushEvents": true, "featureSets": true, "channels": channels,
        "contextHooks": {"beforeInference": true, "afterInference": {"blocking": true}},
        "inferenceRequest": {"streaming": true}});
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
        "clientInfo": {"name": "host", "version": "1"}, "capabilities": {"experimental": {"mcpl": block}}}});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let lines: String = [&hello, &ready].into_iter().chain(said).map(|line| format!("{line}\n")).collect();
    let output = stage.run(&[&["-v", "serve"], words].concat(), lines);
    let messages = output.out().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    (messages, output.err())
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn tool(id: u64, name: &str, arguments: Value) -> Value {
    request(id, "tools/call", json!({"name": name, "arguments": arguments}))
}

fn update(params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "featureSets/update", "params": params})
}

fn answer(messages: &[Value], id: u64) -> &Value {
    messages.iter().find(|message| message["id"] == id && message.get("method").is_none()).expect("an answer")
}

const CHANNELS: [&str; 4] = ["--declare", "mcpl", "--set", r#"mcpl.channels:=["discord:#g","discord:#h"]"#];

#[test]
fn c70_no_message_of_a_channel_is_sent_that_the_host_may_not_observe() {
    let emit = |id: u64, channel: &str| {
        tool(id, "emit", json!({"kind": "channel-incoming", "text": "hi", "channelId": channel}))
    };
    let sent = |rules: Value| {
        let (messages, _) = served(&CHANNELS, &[update(rules), emit(1, "discord:#g"), emit(2, "discord:#h")]);
        let incoming = messages.iter().filter(|message| message["method"] == "channels/incoming");
        let channels: Vec<Value> =
            incoming.map(|message| message["params"]["messages"][0]["channelId"].clone()).collect();
        let why = answer(&messages, 1)["result"].to_string();
        (channels, why)
    };
    let (channels, _) = sent(json!({"enabled": ["channels.observe"]}));
    assert_eq!(channels, ["discord:#g", "discord:#h"]);
    let (channels, why) = sent(json!({"disabled": ["channels.observe"]}));
    assert!(channels.is_empty() && why.contains("channels.observe"), "{why}");
    let (channels, why) = sent(json!({"scopes": {"channels.observe": {"blacklist": ["discord:#g"]}}}));
    assert_eq!(channels, ["discord:#h"]);
    assert!(why.contains("blacklist"), "{why}");
    let (channels, _) = sent(json!({"scopes": {"channels.observe": {"whitelist": ["discord:#g"]}}}));
    assert_eq!(channels, ["discord:#g"]);
}

#[test]
fn c67_what_is_published_is_delivered_whole_or_refused() {
    let publish = |id: u64, content: Value| {
        let mut params = json!({"conversationId": "c", "channelId": "discord:#g", "content": content});
        if content.is_null() {
            params.as_object_mut().expect("an object").remove("content");
        }
        request(id, "channels/publish", params)
    };
    let image = json!({"type": "image", "uri": "http://x/y"});
    let said = [
        publish(1, json!("a plain string")),
        publish(2, json!([{"type": "text", "text": "blocks"}, image])),
        publish(3, json!(7)),
        publish(4, Value::Null),
        publish(5, json!([])),
        publish(6, json!([{"type": "text"}])),
        publish(7, json!([{"type": "text", "text": "good"}, {"type": "image"}])),
        publish(8, json!([7])),
        publish(9, json!("")),
    ];
    let (messages, report) = served(&CHANNELS, &said);
    for id in 1..=2 {
        assert_eq!(answer(&messages, id)["result"]["delivered"], true, "{id}");
    }
    for id in 3..=9 {
        assert_eq!(answer(&messages, id)["error"]["code"], -32602, "{id}: {}", answer(&messages, id));
    }
    assert!(report.contains("a plain string") && report.contains("blocks"), "{report}");
    assert!(report.contains("image http://x/y"), "what is not text is not lost: {report}");
    assert_eq!(report.matches("channel_published").count(), 2, "{report}");
}

#[test]
fn c55_c56_chunks_that_are_not_in_order_do_not_make_the_content() {
    let chunk = |index: u64, delta: &str| {
        let params = json!({"requestId": 1, "index": index, "delta": delta});
        json!({"jsonrpc": "2.0", "method": "inference/chunk", "params": params})
    };
    let reported = |chunks: &[Value]| {
        let asked = tool(1, "emit", json!({"kind": "inference", "prompt": "p", "stream": true}));
        let result = json!({"content": "ab", "model": "m", "finishReason": "end_turn", "usage": {}});
        let answered = json!({"jsonrpc": "2.0", "id": 1, "result": result});
        let said = [&[asked][..], chunks, &[answered]].concat();
        served(&["--declare", "mcpl"], &said).1
    };
    let good = reported(&[chunk(0, "a"), chunk(1, "b")]);
    assert!(good.contains(r#""chunks_agree":true"#) && !good.contains("chunk_misplaced"), "{good}");
    for order in [[1, 0, 0], [0, 0, 1], [0, 2, 1]] {
        let odd = reported(&order.map(|index| chunk(index, if index == 0 { "a" } else { "b" })));
        assert!(odd.contains("chunk_misplaced") && odd.contains(r#""chunks_agree":false"#), "{order:?}: {odd}");
    }
}

#[test]
fn e6_the_model_and_the_tools_of_an_agent_go_along_and_a_refusal_says_the_reason() {
    let serve = ["--declare", "mcpl", "--declare", "mcpe", "--allow-handlers", "agent"];
    let handler = json!({"type": "agent", "model": "claude-x", "systemPrompt": "Summarize", "tools": ["slack_reply"], "maxTokens": 5});
    let subscribe = |id: u64| tool(id, "events_subscribe", json!({"filter": {}, "handler": handler}));
    let emit = |id: u64| tool(id, "emit", json!({"kind": "event", "type": "a.b"}));
    let (messages, _) = served(&serve, &[subscribe(1), emit(2)]);
    let asked = messages.iter().find(|message| message["method"] == "inference/request").expect("an inference");
    let hints = json!({"maxTokens": 5, "model": "claude-x", "tools": ["slack_reply"]});
    assert_eq!((&asked["params"]["featureSet"], &asked["params"]["preferences"]), (&json!("events.agent"), &hints));
    let (messages, _) = served(&serve, &[update(json!({"disabled": ["events.agent"]})), subscribe(1)]);
    let refused = answer(&messages, 1)["result"]["content"][0]["text"].as_str().expect("text");
    assert!(
        refused.contains("disabled feature set events.agent") || refused.contains("disabled events.agent"),
        "{refused}"
    );
    assert!(!refused.contains("declares neither"), "{refused}");
    // Disabled only later: the run says why it was not started.
    let late = [subscribe(1), update(json!({"disabled": ["events.agent"]})), emit(2)];
    let (_, report) = served(&serve, &late);
    assert!(report.contains("events.agent") && !report.contains("declares neither"), "{report}");
}
