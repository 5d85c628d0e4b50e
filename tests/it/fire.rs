//! Tests `fire` with MCPL's messages: each in its direction, over every route, with the answer checked.

use crate::common::{BINARY, Live, Output, Stage, until};
use serde_json::{Value, json};

/// The built-in server with channels and a redactor.
const CONNECTOR: &[&str] =
    &[BINARY, "serve", "--set", "mcpl.channels:=[\"discord:#general\"]", "--set", "mcpl.redact.api_key=sk-\\w+"];

fn fire(stage: &Stage, words: &[&str]) -> Output {
    stage.run(&[&["fire"], words, &["--format", "json", "--"], CONNECTOR].concat(), "")
}

fn capabilities() -> Value {
    json!({"experimental": {"mcpl": {"version": "0.4", "pushEvents": true, "inferenceRequest": {"streaming": true},
        "channels": {"register": true, "publish": true}, "featureSets": true}}})
}

/// A host in front of a server, after the handshake; also returns the server's response.
fn opened(mut host: Live) -> (Live, Value) {
    host.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": capabilities(), "clientInfo": {"name": "tester", "version": "1"}}}));
    let reported = host.message(|message| message["id"] == 0)["result"].clone();
    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    (host, reported)
}

fn answer(host: &mut Live, method: &str, answer: Value) -> Value {
    let asked = host.message(|message| message["method"] == method);
    let mut whole = json!({"jsonrpc": "2.0", "id": asked["id"]});
    for (name, value) in answer.as_object().expect("an object") {
        whole[name] = value.clone();
    }
    host.send(&whole);
    asked
}

#[test]
fn a_message_that_a_server_did_not_ask_for_is_not_repeated() {
    let stage = Stage::new();
    let server = ["--", BINARY, "serve", "--declare", "hooks"];
    let output = stage.run(&[&["fire", "user-message", "hi", "--repeat", "2"][..], &server].concat(), "");
    assert!(output.code() == 1 && output.err().contains("did not subscribe"), "{output:?}");
}

/// A server that ends or is silent while it is asked for a hook's text.
#[test]
fn a_hook_whose_server_fails_is_a_failure_of_the_server() {
    let stage = Stage::new();
    let script = r#"read -r _; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"hooks":{"declarations":[{"event":"session_start","context_tool":"t","priority":"important"}]}},"serverInfo":{"name":"s","version":"1"}}}'; read -r _; read -r _; "#;
    for (end, code) in [("exit 9", 4), ("sleep 9", 5)] {
        let script = format!("{script}{end}");
        let words = ["fire", "hook", "session_start", "--era", "legacy", "--timeout", "2s", "--", "sh", "-c", &script];
        let output = stage.run(&words, "");
        assert_eq!(output.code(), code, "{output:?}");
    }
}

#[test]
fn hooks_are_fired_at_a_server_and_their_answers_judged() {
    let stage = Stage::new();
    let before = fire(&stage, &["before-inference", "what about the mannequin?", "--turn", "7", "--channel", "c:1"]);
    let reported = before.json();
    assert_eq!(
        (before.code(), &reported["outcome"], &reported["deviations"]),
        (0, &json!("answered"), &json!([])),
        "{reported}"
    );
    assert_eq!(reported["result"]["contextInjections"][0]["position"], "system");
    assert_eq!(
        (&reported["params"]["turnIndex"], &reported["params"]["channels"]["candidates"][1]),
        (&json!(7), &json!("c:1"))
    );
    let after = fire(&stage, &["after-inference", "the key is sk-123", "--message", "which?"]).json();
    assert_eq!(after["result"]["modifiedResponse"], "the key is [REDACTED]", "it blocks, so it is asked: {after}");
    let reported = fire(&stage, &["after-inference", "x", "--carrier", "notification"]).json();
    assert_eq!((&reported["outcome"], reported.get("result")), (&json!("sent"), None));
    // Turns count up, and an expectation decides about success.
    let turns = fire(&stage, &["before-inference", "hi", "--repeat", "3", "--expect", ".params.turnIndex < 2"]);
    assert_eq!((turns.code(), turns.out().lines().count()), (1, 3), "{turns:?}");
    assert!(turns.err().contains("3 sent, 1 failed"), "{turns:?}");
}

#[test]
fn a_server_that_answers_otherwise_is_reported_and_one_that_is_silent_given_up() {
    let stage = Stage::new();
    let script = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/^{"jsonrpc":"2.0","id":\([0-9]*\).*/\1/p')
  case "$line" in
    *initialize\"*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"experimental":{"mcpl":{"version":"0.4","contextHooks":{"beforeInference":true,"afterInference":{"blocking":true}},"featureSets":{"a.b":{"description":"x","uses":["tools"]}}}}},"serverInfo":{"name":"odd","version":"1"}}}\n' "$id";;
    *beforeInference*) printf '{"jsonrpc":"2.0","id":%s,"result":{"contextInjections":[{"namespace":"n","position":"top","content":"x"}]}}\n' "$id";;
    *rollback*) printf '{"jsonrpc":"2.0","id":%s,"result":{"checkpoint":"c","success":false,"reason":"sent mail"}}\n' "$id";;
    *enabled*) printf '%s\n' "$line" >> updates;;
  esac
done"#;
    let odd = |words: &[&str]| stage.run(&[&["fire"], words, &["--", "sh", "-c", script]].concat(), "");
    let before = odd(&["before-inference", "hi"]);
    assert_eq!(before.code(), 1, "{before:?}");
    assert!(before.out().contains("warning ") && before.out().contains("featureSet"), "{before:?}");
    assert!(
        String::from_utf8_lossy(&stage.read("updates")).contains(r#"{"enabled":["a.b"]}"#),
        "first notified of what is enabled"
    );
    let silent = odd(&["after-inference", "x", "--deadline", "60ms"]);
    assert_eq!(silent.code(), 5, "{silent:?}");
    assert!(silent.err().contains("--deadline") && silent.out().contains("answer  ← none"), "{silent:?}");
    let undone = odd(&["rollback", "c", "--feature-set", "a.b"]);
    assert_eq!((undone.code(), undone.out().contains("sent mail")), (1, true), "{undone:?}");
    assert_eq!(odd(&["rollback", "c"]).code(), 2, "no set of it can");
    let lacks = odd(&["channel", "list"]);
    assert_eq!((lacks.code(), lacks.err().contains("experimental.mcpl.channels")), (1, true), "{lacks:?}");
    assert_eq!(odd(&["channel", "list", "--force", "--deadline", "60ms"]).code(), 5);
}

#[test]
fn channels_are_listed_opened_published_to_and_closed() {
    let stage = Stage::new();
    let ok = |words: &[&str]| {
        let output = fire(&stage, words);
        assert_eq!(output.code(), 0, "{output:?}");
        output.json()["result"].clone()
    };
    assert_eq!(ok(&["channel", "list"])["channels"][0]["id"], "discord:#general");
    assert_eq!(ok(&["channel", "open", "discord", "name=#general"])["channel"]["id"], "discord:#general");
    assert_eq!(ok(&["channel", "close", "discord:#general"]), json!({"closed": true}));
    assert_eq!(ok(&["channel", "publish", "discord:#general", "hi"])["delivered"], true);
    ok(&["channel", "publish", "discord:#general", "hi", "--notification"]);
    let unknown = fire(&stage, &["channel", "publish", "discord:#no", "hi"]);
    assert_eq!((unknown.code(), &unknown.json()["error"]["means"]), (1, &json!("unknown channel")));
    let gone = fire(&stage, &["rollback", "chk_gone"]);
    assert_eq!((gone.code(), &gone.json()["error"]["means"]), (1, &json!("checkpoint not found")));
    let nothing = stage.run(&[&["fire", "feature-sets", "update", "--"], CONNECTOR].concat(), "");
    assert_eq!(nothing.code(), 2, "{nothing:?}");
}

#[test]
fn what_goes_out_by_a_channel_is_recorded_in_pieces_and_whole() {
    let stage = Stage::new();
    let url = stage.path("mcp.sock");
    let mut server = stage.start(&[&CONNECTOR[1..], &["--listen", &format!("unix:{}", url.display())]].concat());
    until("the server to listen", || server.stderr_so_far().contains("listening on").then_some(()));
    let at = format!("unix:{}", url.display());
    let words =
        ["fire", "channel", "outgoing", "discord:#general", "Hello team", "--chunks", "3", "--record", "o.reel"];
    stage.ok(&[&words[..], &["--url", &at]].concat());
    let sent: Vec<Value> = stage.events("o.reel").into_iter().map(|event| event["message"].clone()).collect();
    let deltas: String = sent.iter().filter_map(|message| message["params"]["delta"].as_str()).collect();
    assert_eq!(deltas, "Hello team", "{sent:?}");
    let whole = sent.iter().find(|message| message["method"] == "channels/outgoing/complete").expect("the whole");
    assert_eq!(whole["params"]["content"][0]["text"], "Hello team");
    // The reel of a connection like a host's: no rule is violated.
    stage.ok(&["validate", "o.reel", "--fail-on", "warning"]);
    assert!(server.is_running());
    server.signal("INT");
    server.end();
}

#[test]
fn a_live_session_is_fired_into_both_ways() {
    let stage = Stage::new();
    let tapped = stage.start(&[&["record", "-o", "t.reel", "--label", "tap", "--"], CONNECTOR].concat());
    let (mut host, _) = opened(tapped);
    let registered = answer(&mut host, "channels/register", json!({"result": {}}));
    assert_eq!(registered["id"], 1);
    until("the handshake in the reel", || {
        let listed = stage.run(&["fire", "channel", "list", "--session", "tap", "--format", "json"], "");
        (listed.code() == 0).then(|| assert_eq!(listed.json()["result"]["channels"][0]["id"], "discord:#general"))
    });
    // Toward the client, in the form that the recorded server would use, for its feature set.
    let asking = stage.start(&["fire", "scope", "/etc", "--session", "tap", "--format", "json"]);
    let asked = answer(&mut host, "scope/elevate", json!({"result": {"approved": false, "reason": "no"}}));
    assert_eq!(
        (&asked["params"]["featureSet"], asked["id"].is_string()),
        (&json!("channels.observe"), true),
        "{asked}"
    );
    let output = asking.end_with_open_stdin();
    assert_eq!((output.code(), &output.json()["reason"]), (1, &json!("no")), "{output:?}");
    let asking = stage.start(&["fire", "inference", "hi", "--stream", "--session", "tap", "--format", "json"]);
    let asked = answer(&mut host, "inference/request", json!({"result": {"content": "x", "model": "m"}}));
    assert_eq!(asked["params"]["featureSet"], "memory.consolidation");
    let output = asking.end_with_open_stdin();
    assert_eq!(output.code(), 1, "it lacks members: {output:?}");
    assert!(output.json()["deviations"].to_string().contains("finishReason"), "{output:?}");
    let bringing = stage.start(&[
        "fire",
        "channel",
        "incoming",
        "hey",
        "--channel",
        "discord:#general",
        "--message-id",
        "m1",
        "--session",
        "tap",
        "--format",
        "json",
    ]);
    let result = json!({"result": {"results": [{"messageId": "m1", "accepted": true}]}});
    let asked = answer(&mut host, "channels/incoming", result);
    assert_eq!(asked["params"]["messages"][0]["content"][0]["text"], "hey");
    let output = bringing.end_with_open_stdin();
    assert_eq!((output.code(), &output.json()["accepted"]), (0, &json!(["m1"])), "{output:?}");
    // Toward the server itself, which keeps to its options.
    let asking = stage.start(&["fire", "model-info", "--session", "serve"]);
    let error = json!({"error": {"code": -32002, "message": "no"}});
    assert!(answer(&mut host, "model/info", error)["id"].is_i64());
    let output = asking.end_with_open_stdin();
    assert_eq!(output.code(), 1);
    assert!(output.out().contains("error -32002 capability denied (0.5) no"), "{output:?}");
    stage.ok(&["fire", "feature-sets", "update", "--disable", "memory.consolidation", "--session", "tap"]);
    until("the update to hold", || {
        let refused = stage.run(&["fire", "inference", "hi", "--answer-timeout", "50ms", "--session", "serve"], "");
        refused.out().contains("feature set disabled").then_some(())
    });
    host.end();
}

#[test]
fn a_host_that_starts_the_command_is_asked() {
    let stage = Stage::new();
    let started = |words: &[&str]| opened(stage.start(&[&["fire"], words].concat()));
    let (mut host, reported) = started(&["scope", "/etc", "--feature-set", "files.edit", "--payload", "path=/etc"]);
    let sets = &reported["capabilities"]["experimental"]["mcpl"]["featureSets"];
    assert_eq!(sets["files.edit"]["scoped"], true);
    let result = json!({"result": {"approved": true, "payload": {"path": "/etc"}}});
    let asked = answer(&mut host, "scope/elevate", result);
    assert_eq!(
        asked["params"],
        json!({"featureSet": "files.edit", "scope": {"label": "/etc", "payload": {"path": "/etc"}}})
    );
    assert_eq!(host.end().code(), 0);
    let (mut host, _) =
        started(&["channel", "incoming", "hi", "--channel", "c:1", "--message-id", "m", "--repeat", "2"]);
    answer(&mut host, "channels/register", json!({"result": {}}));
    for id in ["m", "m-2"] {
        let result = json!({"result": {"results": [{"messageId": id, "accepted": true}]}});
        let asked = answer(&mut host, "channels/incoming", result);
        assert_eq!(asked["params"]["messages"][0]["messageId"], id);
    }
    let output = host.end();
    assert_eq!((output.code(), output.err().contains("2 sent, 0 failed")), (0, true), "{output:?}");
    let (mut host, _) = started(&["channel", "changed", "--add", "c:2", "--remove", "c:1"]);
    answer(&mut host, "channels/register", json!({"result": {}}));
    let changed = host.message(|message| message["method"] == "channels/changed");
    assert_eq!((&changed["params"]["removed"], &changed["params"]["added"][0]["id"]), (&json!(["c:1"]), &json!("c:2")));
    assert_eq!(host.end().code(), 0);
    let (mut host, _) = started(&["feature-sets", "changed", "--add", "m.s=inferenceRequest", "--remove", "m.old"]);
    let changed = host.message(|message| message["method"] == "featureSets/changed");
    assert_eq!(changed["params"]["added"]["m.s"]["uses"], json!(["inferenceRequest"]));
    assert_eq!((&changed["params"]["removed"], host.end().code()), (&json!(["m.old"]), 0));
    let (mut host, _) = started(&["channel", "register", "c:9"]);
    let asked = answer(&mut host, "channels/register", json!({"result": {}}));
    assert_eq!((&asked["params"]["channels"][0]["id"], host.end().code()), (&json!("c:9"), 0));
    let (mut host, _) = started(&["channel", "list-host"]);
    answer(&mut host, "channels/list", json!({"result": {"channels": [{"id": "x"}]}}));
    assert_eq!(host.end().code(), 1, "a descriptor lacks members");
}

#[test]
fn a_host_that_connects_is_asked_and_the_command_ends() {
    let stage = Stage::new();
    let asking = stage.start(&["fire", "scope", "/etc", "--listen", "unix:ask.sock"]);
    until("the command to listen", || asking.stderr_so_far().contains("listening on").then_some(()));
    let at = format!("unix:{}", stage.path("ask.sock").display());
    let (mut host, _) = opened(stage.start(&["record", "-o", "a.reel", "--url", &at]));
    answer(&mut host, "scope/elevate", json!({"result": {"approved": true}}));
    let output = asking.end_with_open_stdin();
    assert_eq!((output.code(), output.err().contains("scope_answered")), (0, true), "{output:?}");
    host.end();
}

#[test]
fn a_server_of_the_modern_era_alone_is_found_and_nothing_is_sent_to_it() {
    let stage = Stage::new();
    let mut server = stage.start(&["serve", "--era", "modern", "--listen", "0"]);
    let url = until("its address", || {
        let reported = server.stderr_so_far();
        reported
            .split_whitespace()
            .find(|word| word.starts_with("http://"))
            .map(|url| url.trim_end_matches(';').to_owned())
    });
    let of_command = [&["--", BINARY, "serve", "--era", "modern"][..], &["--url", &url]];
    let fired: [&[&str]; 5] = [
        &["fire", "user-message", "hi"],
        &["fire", "hook", "session_start"],
        &["fire", "before-inference", "hi"],
        &["fire", "feature-sets", "update", "--enable", "a"],
        &["fire", "channel", "list"],
    ];
    for target in of_command {
        for words in fired {
            let output = stage.run(&[words, &["--record", "a.reel"], target].concat(), "");
            assert_eq!(output.code(), 1, "{words:?}: {output:?}");
            assert!(output.err().contains("which cannot carry the five proposals"), "{words:?}: {output:?}");
            let events = stage.events("a.reel");
            let methods: Vec<_> = events.iter().filter_map(|event| event["message"]["method"].as_str()).collect();
            assert_eq!(methods, ["initialize", "server/discover"], "{words:?}");
            std::fs::remove_file(stage.path("a.reel")).expect("removed");
        }
        let watched = stage.run(&[&["events", "watch", "a"][..], target].concat(), "");
        assert_eq!(watched.code(), 4, "{watched:?}");
        assert!(watched.err().contains("cannot carry"), "{watched:?}");
        let hosted = stage.run(&[&["host"], target].concat(), "hi\n");
        assert_eq!(hosted.code(), 0, "{hosted:?}");
        let reported = format!("{}{}", hosted.out(), hosted.err());
        assert!(reported.contains("modern 2026-07-28, which cannot carry the five proposals"), "{hosted:?}");
        assert!(reported.contains("echo: hi"), "{hosted:?}");
    }
    assert!(server.is_running());
}
