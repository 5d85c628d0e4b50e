//! The host under MCPL servers that were written from the proposal's text alone.

use crate::common::Stage;
use serde_json::{Value, json};

const PEER: &str = include_str!("mcpl_peer.py");

/// The events of a session of the host with the peer, after these arguments.
fn hosted(behaviour: &str, words: &[&str]) -> Vec<Value> {
    both_sides(behaviour, words).0
}

/// Both sides of such a session: the host's events, and the messages that the peer received.
fn both_sides(behaviour: &str, words: &[&str]) -> (Vec<Value>, Vec<Value>) {
    let stage = Stage::new();
    stage.write("peer.py", PEER);
    let server = format!("bot=python3 peer.py {behaviour}");
    let host = ["host", "-s", &server, "--record", "x.reel", "--format", "json"];
    let output = stage.run(&[&host[..], words].concat(), "");
    let read = |text: String| text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    (read(output.out()), read(String::from_utf8(stage.read("heard")).expect("text")))
}

fn answer_to<'a>(heard: &'a [Value], id: &str) -> &'a Value {
    heard.iter().find(|message| message["id"] == id && message.get("method").is_none()).expect("an answer")
}

/// The reports of one kind.
fn reports<'a>(lines: &'a [Value], what: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["event"] == "fact" && line["what"] == what).collect()
}

fn woken(lines: &[Value]) -> usize {
    lines.iter().filter(|line| line["event"] == "turn" && line["woken"] == true).count()
}

#[test]
fn c51_what_arrives_during_a_hook_gets_its_turn_its_answer_and_its_inference() {
    let lines = hosted("in-hook", &["--say", "hello", "--do", "/state"]);
    assert_eq!(woken(&lines), 2, "{lines:#?}");
    assert_eq!(reports(&lines, "event")[0]["data"]["wake"], "yes");
    assert_eq!(reports(&lines, "incoming")[0]["data"]["wake"], "yes");
    // The answer goes to the channel from which the message came.
    let published = reports(&lines, "published");
    assert_eq!((published.len(), &published[0]["data"]["channel"]), (1, &json!("chat:1")), "{lines:#?}");
    assert_eq!(reports(&lines, "inferred")[0]["data"]["outcome"], "success");
    assert!(reports(&lines, "refused").is_empty(), "{lines:#?}");
}

#[test]
fn c51_a_loop_of_hooks_and_turns_ends_at_the_depth_and_begins_again_with_the_next_message() {
    let set = ["--set", "mcpl.hook_depth=3", "--set", "mcpl.wakes_per_minute=none"];
    let lines = hosted("loop", &[&set[..], &["--say", "one"]].concat());
    assert_eq!(woken(&lines), 3, "{lines:#?}");
    assert_eq!(reports(&lines, "event").last().expect("an event")["data"]["wake"], "held");
    assert_eq!(reports(&lines, "no turn")[0]["data"]["count"], 1);
    let lines = hosted("loop", &[&set[..], &["--say", "one", "--say", "two"]].concat());
    assert_eq!(reports(&lines, "no turn").len(), 1, "{lines:#?}");
    assert!(woken(&lines) > 6, "the held event got its turn: {}", woken(&lines));
}

#[test]
fn c38_a_flood_of_messages_begins_few_turns_and_loses_none() {
    let lines = hosted("flood", &["--set", "mcpl.wakes_per_minute=2", "--say", "hello"]);
    assert_eq!(woken(&lines), 2);
    let count = |wake: &str| reports(&lines, "incoming").iter().filter(|line| line["data"]["wake"] == wake).count();
    // Those above the limit share the second turn until it begins; the rest waits for the limit.
    assert_eq!(count("yes") + count("later"), 300);
    let left: u64 = reports(&lines, "no turn").iter().filter_map(|line| line["data"]["count"].as_u64()).sum();
    assert_eq!(left, count("later") as u64);
}

#[test]
fn c37_a_push_without_a_readable_timestamp_is_refused() {
    let lines = hosted("timestamps", &["--say", "hello", "--do", "/state"]);
    let refused: Vec<&str> = reports(&lines, "refused").iter().filter_map(|line| line["text"].as_str()).collect();
    assert_eq!(refused.len(), 3, "{lines:#?}");
    assert!(refused.iter().all(|text| text.contains("-32602 timestamp")), "{refused:?}");
    let events = reports(&lines, "event");
    assert_eq!((events.len(), &events[0]["data"]["event_id"]), (1, &json!("offset")));
}

#[test]
fn c44_c48_malformed_injections_and_answers_are_reported_and_not_used() {
    let lines = hosted("malformed", &["--say", "hello"]);
    let said: Vec<&str> = reports(&lines, "malformed").iter().filter_map(|line| line["text"].as_str()).collect();
    let expected = [
        "namespace is missing",
        "content is missing",
        "position is missing",
        "neither a string",
        "position",
        "modifiedResponse",
    ];
    assert_eq!(said.len(), expected.len(), "{said:?}");
    assert!(said.iter().zip(expected).all(|(text, part)| text.contains(part)), "{said:?}");
    let turn = lines.iter().find(|line| line["event"] == "turn").expect("a turn");
    assert!(turn["answer"].as_str().is_some_and(|answer| answer.contains("hello")), "{turn}");
}

#[test]
fn c77_a_server_injects_no_more_than_the_limits_allow() {
    let count = |set: &[&str]| {
        let lines = hosted("many", &[&["--say", "hello"], set].concat());
        let context = reports(&lines, "context")[0]["data"]["injections"].as_u64();
        (context, reports(&lines, "over limit")[0]["data"]["dropped"].as_u64())
    };
    assert_eq!(count(&[]), (Some(21), Some(29)), "64 KiB");
    assert_eq!(count(&["--set", "mcpl.injection_bytes=none"]), (Some(32), Some(18)));
}

#[test]
fn c33_an_order_to_roll_back_says_what_is_wrong_with_the_set_that_it_names() {
    let text = |order: &str| {
        let stage = Stage::new();
        stage.run(&["host", "--builtin", "memory", "--do", order], "").out()
    };
    assert!(text("/do rollback set=notes.write checkpoint=c").contains("notes.write does not declare rollback"));
    assert!(text("/do rollback set=nothing checkpoint=c").contains("no feature set nothing"));
}

/// The rows of the audit log of a session with the peer: outcome and reason of each injection.
fn audited(behaviour: &str, words: &[&str]) -> Vec<(String, String)> {
    let stage = Stage::new();
    stage.write("peer.py", PEER);
    let server = format!("bot=python3 peer.py {behaviour}");
    stage.run(&[&["host", "-s", &server, "--record", "x.reel", "--say", "hello"], words].concat(), "");
    let log = stage.ok(&["stats", "--audit", "x.reel", "--format", "json"]).out();
    let rows = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let text = |row: &Value, member: &str| row[member].as_str().unwrap_or_default().to_owned();
    let injections = rows.filter(|row| row["operation"] == "injection");
    injections.map(|row| (text(&row, "outcome"), text(&row, "reason"))).collect()
}

#[test]
fn c74_contributions_that_were_not_used_are_no_success() {
    let only = |behaviour: &str, words: &[&str]| {
        let rows = audited(behaviour, words);
        assert_eq!(rows.len(), 1, "{behaviour}: {rows:?}");
        rows.into_iter().next().expect("a row")
    };
    assert_eq!(only("plain", &[]), ("success".to_owned(), String::new()));
    let (outcome, reason) = only("late", &["--set", "mcpl.before_timeout=100ms", "--do", "/wait 1s"]);
    assert!(outcome == "timeout" && reason.contains("the host no longer waited"), "{outcome}: {reason}");
    assert_eq!(only("late", &[]).0, "success", "it was in time");
    let wrong = only("wrong-set", &[]);
    assert_eq!((wrong.0.as_str(), wrong.1.contains("was dropped")), ("failure", true), "{wrong:?}");
    assert_eq!(only("wrong-set", &["--set", "mcpl.unlisted=accept"]).0, "success", "the user accepts it");
    let unknown = only("unknown-set", &[]);
    assert_eq!((unknown.0.as_str(), unknown.1.contains("bot.other")), ("failure", true), "{unknown:?}");
    let closed = only("closes", &[]);
    assert_eq!((closed.0.as_str(), closed.1.contains("closed")), ("failure", true), "{closed:?}");
    let malformed = audited("malformed", &[]);
    let good = malformed.iter().filter(|(outcome, _)| outcome == "success").count();
    assert_eq!((malformed.len(), good), (6, 1), "{malformed:?}");
    let many = audited("many", &[]);
    let good = many.iter().filter(|(outcome, _)| outcome == "success").count();
    assert_eq!((many.len(), good), (50, 21), "what exceeds the limits was ignored");
}

#[test]
fn c8_hosts_that_accept_only_an_array_of_feature_sets_get_one_and_a_lone_star_enables_all() {
    let stage = Stage::new();
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
        "clientInfo": {"name": "array", "version": "1"}, "capabilities": {"experimental": {"mcpl": {"version": "0.4",
        "pushEvents": true, "featureSets": true}}}}});
    let all = json!({"jsonrpc": "2.0", "method": "featureSets/update", "params": {"disabled": ["*"]}});
    let on = json!({"jsonrpc": "2.0", "method": "featureSets/update", "params": {"enabled": ["*"]}});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let tool = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add_note",
        "arguments": {"text": "x"}, "checkpoint": "chk_nowhere"}});
    let lines: String = [&hello, &ready, &all, &on, &tool].iter().map(|line| format!("{line}\n")).collect();
    let served = stage.run(&["-v", "serve", "--set", "mcpl.feature_sets=array"], lines);
    let messages: Vec<Value> = served.out().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |id: u64| messages.iter().find(|message| message["id"] == id && message.get("method").is_none());
    let sets = &of(0).expect("an answer")["result"]["capabilities"]["experimental"]["mcpl"]["featureSets"];
    let names = sets.as_array().expect("an array").iter().filter(|set| set["name"].is_string()).count();
    assert!(names >= 5, "{sets}");
    // Names of two and of more segments are on again, so the tool of notes.edit works.
    assert_ne!(of(1).expect("an answer")["result"]["isError"], true, "{messages:?}");
    assert!(served.err().contains("chk_nowhere"), "the unknown checkpoint is reported: {}", served.err());
}

#[test]
fn c66_an_answer_is_announced_and_offered_only_where_it_may_go() {
    let black = ["--set", "mcpl.blacklist=bot.chat=chat:secret", "--do", "/wait 300ms"];
    let (lines, heard) = both_sides("inbound", &black);
    assert_eq!(woken(&lines), 1, "{lines:#?}");
    let outgoing = heard.iter().filter_map(|message| message["method"].as_str());
    assert!(!outgoing.clone().any(|method| method.starts_with("channels/outgoing")), "{heard:#?}");
    assert!(!outgoing.clone().any(|method| method == "channels/publish"));
    let hook = heard.iter().find(|message| message["method"] == "context/beforeInference").expect("a hook");
    let channels = json!({"candidates": ["ui", "chat:1"], "incoming": {"channelId": "feed:1", "messageId": "m1"}});
    assert_eq!(hook["params"]["channels"], channels);
}

#[test]
fn c15_a_set_that_does_not_list_the_use_is_refused_unless_the_user_accepts_it() {
    let wait = ["--do", "/wait 300ms"];
    let (lines, heard) = both_sides("other-uses", &wait);
    for id in ["wrong", "i1"] {
        let error = &answer_to(&heard, id)["error"];
        assert_eq!((&error["code"], &error["data"]["featureSet"]), (&json!(-32001), &json!("bot.notes")), "{id}");
        assert_eq!(error["data"]["canEnable"], false);
    }
    assert_eq!(answer_to(&heard, "right")["result"]["accepted"], true);
    assert!(
        reports(&lines, "refused")
            .iter()
            .any(|line| line["text"].as_str().unwrap().contains("does not list pushEvents"))
    );
    let accept = ["--set", "mcpl.unlisted=accept"];
    let (_, heard) = both_sides("other-uses", &[&accept[..], &wait].concat());
    assert_eq!(answer_to(&heard, "wrong")["result"]["accepted"], true);
    assert!(answer_to(&heard, "i1").get("result").is_some());
}

#[test]
fn c74_reports_of_what_failed_name_the_set_and_the_inference() {
    let wait = ["--do", "/wait 300ms"];
    let lines = hosted("elevate", &[&["--set", "mcpl.disabled=bot.redact"][..], &wait].concat());
    let refused: Vec<&Value> = reports(&lines, "refused").iter().map(|line| &line["data"]).collect();
    let about = |set: &str| json!({"feature_set": set, "label": "/etc/hosts", "outcome": "failure"});
    assert_eq!(refused, [&about("bot.other"), &about("bot.redact")]);
    let late = ["--set", "mcpl.before_timeout=100ms", "--say", "hello", "--do", "/wait 1s"];
    let lines = hosted("late", &late);
    let about = &reports(&lines, "late")[0]["data"];
    let inference = &reports(&lines, "timed out")[0]["data"]["inference_id"];
    assert_eq!(
        (&about["method"], &about["inference_id"], &about["feature_set"], &about["outcome"]),
        (&json!("context/beforeInference"), inference, &json!("bot.context"), &json!("timeout"))
    );
    let dropped = hosted("unknown-set", &["--say", "hello"]);
    assert!(reports(&dropped, "dropped")[0]["data"]["inference_id"].is_string(), "{dropped:#?}");
}

#[test]
fn c8_c14_c38_what_the_host_reports_about_sets_and_turns_is_true() {
    let words = ["--set", "mcpl.wakes_per_minute=2", "--do", "/wait 300ms"];
    let (lines, heard) = both_sides("diagnostics", &words);
    let said: Vec<&str> = reports(&lines, "event").iter().filter_map(|line| line["text"].as_str()).collect();
    let texts = ["e0: begins inf_1, wake=yes", "e1: begins inf_2, wake=yes", "e2: shares inf_2, wake=yes"];
    assert_eq!(said, texts);
    let refused = &answer_to(&heard, "f")["error"];
    assert_eq!(
        (&refused["code"], refused["message"].as_str().is_some_and(|why| why.contains("is a notification"))),
        (&json!(-32600), true)
    );
    let odd = |lines: &[Value], part: &str| {
        reports(lines, "odd").iter().any(|line| line["text"].as_str().is_some_and(|text| text.contains(part)))
    };
    assert!(odd(&lines, "bot.more has no list of its uses"), "{lines:#?}");
    let strings = hosted("strings", &["--say", "hello"]);
    assert!(odd(&strings, "only 1 of its 2 members"), "{strings:#?}");
}

/// What a peer that a configuration names got of the conversation: of these words, those that it received.
fn overheard(words: &[&str]) -> (Vec<&'static str>, Vec<Value>) {
    let stage = Stage::new();
    stage.write("peer.py", PEER);
    let servers = json!({"mcpServers": {"bot": {"command": "python3", "args": ["peer.py", "plain"]}}});
    stage.write("servers.json", servers.to_string());
    let host = ["host", "--config", "servers.json", "--server", "bot", "--record", "x.reel", "--format", "json"];
    let output = stage.run(&[&host[..], &["--say", "my secret"], words].concat(), "");
    assert_eq!(output.code(), 0, "{output:?}");
    let heard = String::from_utf8(stage.read("heard")).expect("text");
    assert!(heard.contains("featureSets/update"), "{heard}");
    let events = output.out().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    (["my secret", "echo: my secret"].into_iter().filter(|words| heard.contains(words)).collect(), events)
}

/// The guide promises that the user's messages go only to servers that the user trusts with them.
#[test]
fn hooks_of_a_configured_server_see_the_conversation_only_with_consent() {
    let (words, events) = overheard(&["--say", "my secret again"]);
    assert_eq!(words, [""; 0]);
    let out = reports(&events, "left out");
    assert!(out.len() == 1 && out[0]["text"].as_str().is_some_and(|text| text.contains("/approve bot")), "{out:?}");
    let both = ["my secret", "echo: my secret"];
    assert_eq!(overheard(&["--consent"]).0, both);
    assert_eq!(overheard(&["--set", "bot:mcpl.consent=true"]).0, both);
    assert_eq!(overheard(&["--do", "/approve bot mcpl", "--say", "my secret"]).0, both);
    // The consent to another proposal is none to this one.
    assert_eq!(overheard(&["--set", "bot:conversation.consent=true"]).0, [""; 0]);
    // A server whose command the user gave needs no further consent.
    let (_, heard) = both_sides("plain", &["--say", "my secret"]);
    assert!(heard.iter().any(|message| message["params"]["userMessage"] == "my secret"));
}
