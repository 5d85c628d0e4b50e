//! MCPL with the real binary: a server that uses all of it, under mcpreel's host, and the validator's report about
//! both.

use crate::common::{Stage, message};
use serde_json::{Value, json};

/// Adds context and redacts answers. After its first redaction, it registers a channel, pushes an event, asks the
/// model, requests a scope, and delivers a message.
const SERVER: &str = include_str!("mcpl.sh");

#[test]
fn a_server_that_does_all_of_it_is_served_and_the_validator_finds_nothing() {
    let stage = Stage::new();
    stage.write("server.sh", SERVER);
    let words = ["host", "-s", "m=sh server.sh", "--record", "x.reel", "--format", "json", "--say", "hello"];
    // The second line is echoed once the server has sent everything.
    let orders = ["--do", "/do channel-list", "--do", "/state", "--do", "/do scope label=/etc/hosts"];
    let text = stage.ok(&[&words[..], &orders[..]].concat()).out();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |event: &str| lines.iter().filter(|line| line["event"] == event).cloned().collect::<Vec<_>>();
    // The turns of the user, the event and the channel; all of them passed the server that redacts.
    let turns = of("turn");
    assert_eq!(turns.iter().filter(|turn| turn["woken"] == true).count(), 2, "{text}");
    assert_eq!(turns.len(), 3);
    assert!(turns.iter().all(|turn| turn["answer"] == "all of it is redacted"), "{text}");
    let reported = |what: &str| of("fact").into_iter().filter(|event| event["what"] == what).collect::<Vec<_>>();
    assert_eq!(reported("event")[0]["data"]["wake"], "yes");
    assert_eq!(reported("inferred")[0]["data"]["outcome"], "success");
    assert_eq!(reported("published")[0]["data"]["message_id"], "p1");
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
    assert!(off.out().contains("notes.edit is disabled"), "{off:?}");
}

#[test]
fn c74_what_was_done_over_mcpl_is_reported_row_by_row() {
    let stage = Stage::new();
    stage.write("server.sh", SERVER);
    stage.ok(&["host", "-s", "m=sh server.sh", "--record", "x.reel", "--say", "hello", "--do", "/do channel-list"]);
    let text = stage.ok(&["stats", "x.reel", "--audit", "--format", "json"]).out();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |operation: &str| rows.iter().filter(|row| row["operation"] == operation).collect::<Vec<_>>();
    let (push, injections, responses) = (of("push")[0], of("injection"), of("response"));
    assert_eq!((&push["server"], &push["outcome"]), (&json!("m"), &json!("success")), "{text}");
    assert!(push["feature_set"].is_string() && push["time"].as_str().is_some_and(|time| time.ends_with('Z')), "{push}");
    // The event's inference is that of the following hooks.
    let began = |row: &&&Value| row["inference_id"] == push["inference_id"] && row["inference_id"].is_string();
    assert_eq!((injections.iter().filter(began).count(), responses.iter().filter(began).count()), (1, 1), "{text}");
    assert_eq!(of("inference")[0]["about"].as_str().map(|about| about.ends_with("tokens")), Some(true), "{text}");
    let noise = |row: &&Value| row["latency_ms"].to_string().split('.').nth(1).is_some_and(|part| part.len() > 3);
    assert_eq!(rows.iter().find(noise), None, "microseconds are enough");
    let scope = of("scope")[0];
    assert_eq!((&scope["about"], &scope["outcome"]), (&json!("/etc/hosts"), &json!("failure")), "it was not approved");
    assert_eq!((of("publish").len(), rows.len()), (1, 1 + injections.len() + responses.len() + 3), "{text}");
    let reported = stage.ok(&["stats", "x.reel", "--audit"]).out();
    assert!(reported.contains("feature set") && reported.contains("operations: 1 scope failure"), "{reported}");
    // A request that is never answered has timed out; other messages are not operations.
    let ask = json!({"jsonrpc": "2.0", "id": 7, "method": "state/rollback", "params": {"featureSet": "n", "checkpoint": "c"}});
    stage.reel("open.reel", &[message(1, "c2s", ask), message(2, "c2s", json!({"jsonrpc": "2.0", "method": "x"}))]);
    let row = stage.ok(&["stats", "open.reel", "--audit", "--format", "json"]).json();
    assert_eq!(
        (&row["operation"], &row["outcome"], &row["about"]),
        (&json!("rollback"), &json!("timeout"), &json!("c"))
    );
    stage.reel("none.reel", &[message(1, "c2s", json!({"jsonrpc": "2.0", "method": "x"}))]);
    let none = stage.ok(&["stats", "none.reel", "--audit"]);
    assert!(none.out().is_empty() && none.err().contains("no MCPL operations"), "{none:?}");
}

#[test]
fn c34_checkpoints_are_drawn_as_a_tree_with_branches_rollbacks_and_what_is_gone() {
    let stage = Stage::new();
    let mut events = Vec::new();
    let mut exchange = |method: &str, params: Value, answer: Value| {
        let id = events.len();
        events.push(message(id as u64, "c2s", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})));
        let mut whole = json!({"jsonrpc": "2.0", "id": id});
        whole.as_object_mut().expect("an object").extend(answer.as_object().expect("an object").clone());
        events.push(message(id as u64 + 1, "s2c", whole));
    };
    let state = |checkpoint: &str, parent: Option<&str>, more: Value| {
        let mut state = json!({"checkpoint": checkpoint, "parent": parent});
        state.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        json!({"result": {"content": [], "state": state}})
    };
    let back = |checkpoint: &str| json!({"featureSet": "notes.edit", "checkpoint": checkpoint});
    let info =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "notes", "version": "1"}});
    exchange("initialize", json!({}), json!({"result": info}));
    exchange("tools/call", json!({"name": "add"}), state("chk_abc", None, json!({"data": {"notes": []}})));
    exchange("tools/call", json!({"name": "add"}), state("chk_def", Some("chk_abc"), json!({"patch": []})));
    exchange("tools/call", json!({"name": "mail"}), state("chk_ghi", Some("chk_def"), json!({})));
    let stuck = json!({"result": {"checkpoint": "chk_def", "success": false, "reason": "a mail was sent"}});
    exchange("state/rollback", back("chk_def"), stuck);
    exchange("state/rollback", back("chk_abc"), json!({"result": {"checkpoint": "chk_abc", "success": true}}));
    exchange("tools/call", json!({"name": "add"}), state("chk_xyz", Some("chk_abc"), json!({"patch": []})));
    exchange("state/rollback", back("chk_old"), json!({"error": {"code": -32005, "message": "Checkpoint not found"}}));
    stage.reel("t.reel", &events);
    let drawn = stage.ok(&["show", "t.reel", "--view", "tree"]).out();
    let expected = "\
notes
chk_abc  add, seq 3, data  rolled back to at seq 11
├── chk_def  add, seq 5, patch  rollback failed at seq 9: a mail was sent
│   chk_ghi  mail, seq 7
└── chk_xyz  ← here  add, seq 13, patch

chk_old  not in this recording  pruned, as the server reported at seq 15
";
    assert_eq!(drawn, expected);
    let tree = stage.ok(&["show", "t.reel", "--view", "tree", "--format", "json"]).json();
    let of = |name: &str| {
        let all = tree["checkpoints"].as_array().expect("a list");
        all.iter().find(|found| found["checkpoint"] == name).cloned().expect("there")
    };
    assert_eq!((&tree["server"], &tree["current"]), (&json!("notes"), &json!("chk_xyz")));
    assert_eq!((&of("chk_ghi")["parent"], &of("chk_ghi")["tool"]), (&json!("chk_def"), &json!("mail")));
    assert_eq!(of("chk_def")["rollbacks"][0]["reason"], "a mail was sent");
    assert_eq!((&of("chk_old")["pruned_seq"], &of("chk_old")["seq"]), (&json!(15), &Value::Null));
    assert_eq!(stage.run(&["show", "t.reel", "--view", "tree", "error"], "").code(), 2, "a filter makes no sense");
    let none = stage.ok(&["show", "t.reel", "method:x"]);
    assert!(none.out().is_empty());
}
