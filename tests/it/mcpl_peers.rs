//! The host under MCPL servers that were written from the proposal's text alone.

use crate::common::Stage;
use serde_json::{Value, json};

const PEER: &str = include_str!("mcpl_peer.py");

/// The events of a session of the host with the peer, after these arguments.
fn hosted(behaviour: &str, words: &[&str]) -> Vec<Value> {
    let stage = Stage::new();
    stage.write("peer.py", PEER);
    let server = format!("bot=python3 peer.py {behaviour}");
    let host = ["host", "-s", &server, "--record", "x.reel", "--format", "json"];
    let output = stage.run(&[&host[..], words].concat(), "");
    output.out().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
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
