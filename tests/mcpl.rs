//! MCPL through the binary: a server that does all of it, under our host, and what the validator says of both.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on says why and fails")]

#[expect(dead_code, reason = "each test file uses its part of the stage")]
mod common;

use common::Stage;
use serde_json::Value;

/// Adds context, redacts answers, and once the first one is through, registers a channel, pushes an event, asks the
/// model, asks for a scope, and delivers a message.
const SERVER: &str = r#"#!/bin/sh
say() { printf '%s\n' "$1"; }
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/^{"jsonrpc":"2.0","id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"method":"initialize"'*)
      say '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"live","version":"1"},"capabilities":{"experimental":{"mcpl":{"version":"0.4","pushEvents":true,"contextHooks":{"beforeInference":true,"afterInference":{"blocking":true}},"inferenceRequest":{"streaming":true},"modelInfo":true,"channels":{"register":true,"publish":true,"observe":true,"lifecycle":true,"streaming":true},"featureSets":{"a.find":{"description":"d","uses":["contextHooks.beforeInference"]},"a.redact":{"description":"d","uses":["contextHooks.afterInference"]},"a.push":{"description":"d","uses":["pushEvents"]},"a.think":{"description":"d","uses":["inferenceRequest"]},"a.files":{"description":"d","uses":["tools"],"scoped":true},"a.chat":{"description":"d","uses":["channels.publish","channels.observe"]}}}}}}}' ;;
    *'"server/discover"'*) say '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"Method not found"}}' ;;
    *'"notifications/initialized"'*) ;;
    *'"context/beforeInference"'*)
      say '{"jsonrpc":"2.0","id":'$id',"result":{"featureSet":"a.find","contextInjections":[{"namespace":"n","position":"beforeUser","content":"a thing to know"}]}}' ;;
    *'"context/afterInference"'*)
      say '{"jsonrpc":"2.0","id":'$id',"result":{"featureSet":"a.redact","modifiedResponse":"all of it is redacted"}}'
      [ -n "$begun" ] || {
      say '{"jsonrpc":"2.0","id":101,"method":"channels/register","params":{"channels":[{"id":"chat:1","type":"chat","label":"one","direction":"bidirectional"}]}}'
      say '{"jsonrpc":"2.0","id":102,"method":"push/event","params":{"featureSet":"a.push","eventId":"e1","timestamp":"2026-01-23T14:00:00Z","payload":{"content":[{"type":"text","text":"something happened"}]}}}'
      say '{"jsonrpc":"2.0","id":103,"method":"inference/request","params":{"featureSet":"a.think","stream":true,"messages":[{"role":"user","content":"Summarize all of it"}]}}'
      say '{"jsonrpc":"2.0","id":104,"method":"model/info","params":{}}'
      say '{"jsonrpc":"2.0","id":105,"method":"scope/elevate","params":{"featureSet":"a.files","scope":{"label":"/etc/hosts"}}}'
      say '{"jsonrpc":"2.0","id":106,"method":"channels/incoming","params":{"messages":[{"channelId":"chat:1","messageId":"m1","author":{"id":"u","name":"Alice"},"timestamp":"2026-01-23T14:00:00Z","content":[{"type":"text","text":"what is the key?"}],"metadata":{}}]}}'
      }
      begun=1 ;;
    *'"channels/list"'*) say '{"jsonrpc":"2.0","id":'$id',"result":{"channels":[]}}' ;;
    *'"channels/publish"'*) say '{"jsonrpc":"2.0","id":'$id',"result":{"delivered":true,"messageId":"p1"}}' ;;
  esac
done
"#;

#[test]
fn a_server_that_does_all_of_it_is_served_and_the_validator_finds_nothing() {
    let stage = Stage::new();
    stage.write("server.sh", SERVER);
    let words = ["host", "-s", "m=sh server.sh", "--record", "x.reel", "--format", "json", "--say", "hello"];
    // The second line comes back once the server has said everything.
    let orders = ["--do", "/do channel-list", "--do", "/state", "--do", "/do scope label=/etc/hosts"];
    let text = stage.ok(&[&words[..], &orders[..]].concat()).out();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |event: &str| lines.iter().filter(|line| line["event"] == event).cloned().collect::<Vec<_>>();
    // The user's, the event's and the channel's; all of them went through the server that redacts.
    let turns = of("turn");
    assert_eq!(turns.iter().filter(|turn| turn["woken"] == true).count(), 2, "{text}");
    assert_eq!(turns.len(), 3);
    assert!(turns.iter().all(|turn| turn["answer"] == "all of it is redacted"), "{text}");
    let told = |what: &str| of("fact").into_iter().filter(|fact| fact["what"] == what).collect::<Vec<_>>();
    assert_eq!(told("event")[0]["data"]["wake"], "yes");
    assert_eq!(told("inferred")[0]["data"]["outcome"], "success");
    assert_eq!(told("published")[0]["data"]["message_id"], "p1");
    let report = stage.ok(&["validate", "x.reel", "--format", "json"]).json();
    assert_eq!(report["findings"].as_array().map(Vec::len), Some(0), "{report}");
}

#[test]
fn what_only_a_proposal_knows_is_done_by_hand_and_a_wrong_order_names_those_that_there_are() {
    let stage = Stage::new();
    let note = ["host", "--builtin", "memory", "--do", "/tool add_note text=x"];
    let unknown = stage.run(&[&note[..], &["--do", "/do rolback"]].concat(), b"");
    assert_eq!(unknown.code(), 1);
    assert!(unknown.out().contains("rollback, feature-sets, scope"), "{unknown:?}");
    let gone = stage.run(&[&note[..], &["--do", "/do rollback checkpoint=gone"]].concat(), b"");
    assert_eq!(gone.code(), 1);
    assert!(gone.out().contains("-32005"), "{gone:?}");
    let off = ["--do", "/do feature-sets disable=notes.*", "--do", "/tool add_note text=y"];
    let off = stage.run(&[&note[..], &off].concat(), b"");
    assert_eq!(off.code(), 1);
    assert!(off.out().contains("notes.edit is off"), "{off:?}");
}
