//! Filters of `stats` and `export`, which are those of `show`, and the last events of a reel.

use crate::common::{Stage, finish, message};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Two calls of `add`, one of `echo` that fails after 700 ms, and a request without a response.
fn calls(stage: &Stage) {
    let call = |id: u64, tool: &str| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": {}}});
    let result =
        |id: u64, is_error: bool| json!({"jsonrpc": "2.0", "id": id, "result": {"content": [], "isError": is_error}});
    stage.reel(
        "calls.reel",
        &[
            message(0, "c2s", call(1, "add")),
            message(2, "s2c", result(1, false)),
            message(10, "c2s", call(2, "echo")),
            message(710, "s2c", result(2, true)),
            message(720, "c2s", call(3, "add")),
            message(721, "s2c", result(3, false)),
            message(730, "c2s", json!({"jsonrpc": "2.0", "id": 4, "method": "ping"})),
        ],
    );
}

/// The counts of `stats` with these arguments.
fn counts(stage: &Stage, arguments: &[&str]) -> Value {
    stage.ok(&[&["stats", "calls.reel", "-f", "json"], arguments].concat()).json()
}

#[test]
fn stats_counts_what_a_filter_selects() {
    let stage = Stage::new();
    calls(&stage);
    let all = counts(&stage, &[]);
    assert_eq!((&all["events"], &all["unanswered"], all.get("filter")), (&json!(7), &json!(1), None));
    let add = counts(&stage, &["tool:add"]);
    assert_eq!((&add["events"], &add["unanswered"], &add["filter"]), (&json!(4), &json!(0), &json!("tool:add")));
    let methods = add["methods"].as_object().expect("methods");
    assert_eq!(methods.keys().collect::<Vec<_>>(), ["tools/call"]);
    let call = &methods["tools/call"];
    let of_add = [&call["calls"], &call["answers"], &call["tool_errors"], &call["latency_ms"]["max"]];
    assert_eq!(of_add, [&json!(2), &json!(2), &json!(0), &json!(2.0)]);
    // Responses without their requests are not orphans, and requests without their responses were answered.
    let slow = counts(&stage, &["slow:>500ms"]);
    assert_eq!((&slow["events"], &slow["orphan_answers"]), (&json!(1), &json!(0)));
    assert_eq!(slow["slowest"]["latency_ms"], 700.0);
    let requests = counts(&stage, &["kind:request"]);
    assert_eq!((&requests["events"], &requests["unanswered"]), (&json!(4), &json!(1)));
    assert_eq!(requests["methods"]["tools/call"]["answers"], 0);
    let text = stage.ok(&["stats", "calls.reel", "tool:echo", "kind:response"]).out();
    assert!(text.starts_with("calls.reel\nonly tool:echo kind:response\n\n1 message, "), "{text}");
    let none = stage.ok(&["stats", "calls.reel", "tool:other"]);
    assert!(none.err().contains("no matches among 7 events"), "{none:?}");
}

#[test]
fn export_writes_what_a_filter_selects() {
    let stage = Stage::new();
    calls(&stage);
    let shown = stage.ok(&["show", "calls.reel", "tool:add", "--jq", ".seq"]).out();
    let lines = stage.ok(&["export", "calls.reel", "tool:add"]).out();
    let exported =
        lines.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).expect("JSON")["seq"].to_string());
    assert_eq!(exported.collect::<Vec<_>>(), shown.lines().collect::<Vec<_>>());
    assert_eq!(shown, "0\n1\n4\n5\n");
    // The method and the latency of a response come from a request that is not exported.
    let table = stage.ok(&["export", "calls.reel", "error", "-f", "csv"]).out();
    let row: Vec<&str> = table.lines().nth(1).expect("a row").split(',').collect();
    assert_eq!((row[0], row[6], row[8], table.lines().count()), ("3", "tools/call", "700", 2), "{table}");
    assert_eq!(stage.ok(&["export", "calls.reel", "error", "-o", "errors.jsonl"]).err(), "");
    // Without a name, it is the newest reel, and export says which one that is.
    std::fs::create_dir_all(stage.path("home/reels")).expect("a folder");
    std::fs::copy(stage.path("calls.reel"), stage.path("home/reels/new.reel")).expect("a copy");
    let mut newest = stage.mcpreel(&["export", "error", "-o", "newest.jsonl"]);
    newest.env("MCPREEL_HOME", stage.path("home"));
    let expected = format!("mcpreel: 1 event of {} in newest.jsonl\n", stage.path("home/reels/new.reel").display());
    assert_eq!(finish(newest, Vec::new()).err(), expected);
    assert_eq!(stage.read("newest.jsonl"), stage.read("errors.jsonl"));
    let none = stage.ok(&["export", "calls.reel", "text:nowhere"]);
    assert!(none.err().contains("no matches among 7 events"), "{none:?}");
}

#[test]
fn a_filter_is_refused_alike_everywhere() {
    let stage = Stage::new();
    calls(&stage);
    for command in ["show", "stats", "export"] {
        let wrong = stage.run(&[command, "calls.reel", "slowest"], "");
        assert_eq!(wrong.code(), 2);
        assert!(wrong.err().contains("did you mean slow:>500ms?"), "{wrong:?}");
        let missing = stage.run(&[command, "missing.jsonl"], "");
        assert_eq!(
            (missing.code(), missing.err().lines().next()),
            (3, Some("mcpreel: error: no such file: missing.jsonl"))
        );
    }
    for command in ["show", "export"] {
        let second = stage.run(&[command, "calls.reel", "other.reel"], "");
        assert!(second.code() == 2 && second.err().contains("only one reel is allowed"), "{second:?}");
    }
    let audit = stage.run(&["stats", "calls.reel", "--audit", "error"], "");
    assert!(audit.code() == 2 && audit.err().contains("cannot be combined with a filter"), "{audit:?}");
}

#[test]
fn the_last_events_are_shown_with_their_calls() {
    let stage = Stage::new();
    calls(&stage);
    let numbers = |arguments: &[&str]| stage.ok(&[&["show", "calls.reel", "--jq", ".seq"], arguments].concat()).out();
    assert_eq!(numbers(&["--last", "2"]), "5\n6\n");
    assert_eq!(numbers(&["--last", "2", "tool:add"]), "4\n5\n");
    assert_eq!(numbers(&["--last", "100"]).lines().count(), 7);
    let listed = stage.ok(&["show", "calls.reel", "--last", "2"]).out();
    assert!(listed.lines().next().is_some_and(|line| line.contains("tools/call add → ok")), "{listed}");
    let reel = std::fs::read(stage.path("calls.reel")).expect("a reel");
    let piped = stage.run(&["show", "-", "--last", "1", "--jq", ".seq"], reel);
    assert_eq!((piped.code(), piped.out().as_str()), (0, "6\n"), "{piped:?}");
    assert_eq!(stage.run(&["show", "calls.reel", "--last", "0"], "").code(), 2);
}

#[test]
fn a_reel_whose_path_is_not_utf8_is_read_like_any_other() {
    let stage = Stage::new();
    calls(&stage);
    let name = OsString::from_vec(b"\xff.reel".to_vec());
    std::fs::rename(stage.path("calls.reel"), stage.path("").join(&name)).expect("renamed");
    let run = |before: &[&str], after: &[&str]| {
        let mut command = stage.mcpreel(before);
        command.arg(&name).args(after);
        finish(command, Vec::new())
    };
    for (before, after, wanted) in [
        (&["show", "--format", "json"][..], &["tool:echo"][..], "echo"),
        (&["stats", "-f", "json"], &["tool:add"], "\"events\":4"),
        (&["export", "--format", "jsonl"], &[], "\"ping\""),
    ] {
        let output = run(before, after);
        assert!(output.code() == 0 && output.out().contains(wanted), "{before:?}: {output:?}");
    }
    let mut command = stage.mcpreel(&["show", "a.reel"]);
    command.arg(OsString::from_vec(b"tool:\xff".to_vec()));
    let output = finish(command, Vec::new());
    assert!(output.code() == 2 && output.err().contains("is not UTF-8"), "{output:?}");
}
