//! MCPL through the binary: a server that does all of it, under our host, and what the validator says of both.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on says why and fails")]

#[expect(dead_code, reason = "each test file uses its part of the stage")]
mod common;

use common::Stage;
use serde_json::Value;

/// Adds context, redacts answers, and once the first one is through, registers a channel, pushes an event, asks the
/// model, asks for a scope, and delivers a message.
const SERVER: &str = include_str!("mcpl.sh");

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
