//! The host under tools with state and scopes (MCPL 0.4 §7 and §8), most of which do not name their feature set: the
//! proposal does not say how they would.

use crate::common::Stage;
use serde_json::{Value, json};

/// Runs the host with a server of these sets and tools. Returns the params of each call that reached the server, and
/// the host's JSON lines.
fn called(sets: &Value, tools: &Value, words: &[&str]) -> (Vec<Value>, Vec<Value>) {
    let stage = Stage::new();
    stage.write("tools.py", include_str!("mcpl_tools.py"));
    stage.write("calls", "");
    let plan = json!({"sets": sets, "tools": tools}).to_string();
    let peer = ["--format", "json", "--", "python3", "tools.py", &plan];
    let output = stage.run(&[&["host"], words, &peer].concat(), "");
    let read = |text: String| text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    (read(String::from_utf8(stage.read("calls")).expect("text")), read(output.out()))
}

fn stateful() -> Value {
    json!({"description": "d", "uses": ["tools"], "rollback": true})
}

fn scoped() -> Value {
    json!({"description": "d", "uses": ["tools"], "scoped": true})
}

/// What the host reports under this name.
fn reported<'a>(lines: &'a [Value], what: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["what"] == what).collect()
}

/// Why calls of tools were refused.
fn refusals(lines: &[Value]) -> Vec<&str> {
    lines.iter().filter(|line| line["event"] == "tool").filter_map(|line| line["error"].as_str()).collect()
}

#[test]
fn c32_tools_of_several_sets_have_a_state_each_and_a_rollback_changes_the_one_that_it_names() {
    let sets = json!({"notes.edit": stateful(), "git.commit": stateful()});
    let tools = json!([{"name": "add_note"}, {"name": "commit"}]);
    let words = [
        "--do",
        "/tool add_note text=a",
        "--do",
        "/tool commit",
        "--do",
        "/tool add_note text=b",
        "--do",
        "/tool commit",
        "--do",
        "/do rollback set=notes.edit checkpoint=c1",
        "--do",
        "/tool add_note text=c",
        "--do",
        "/tool commit",
    ];
    let (calls, lines) = called(&sets, &tools, &words);
    let of = |name: &str| calls.iter().filter(|call| call["name"] == name).cloned().collect::<Vec<_>>();
    let notes: Vec<Value> = of("add_note").iter().map(|call| call["state"].clone()).collect();
    assert_eq!(notes, [Value::Null, json!({"notes": ["a"]}), json!({"notes": ["a"]})], "{lines:#?}");
    let commits: Vec<Value> = of("commit").iter().map(|call| call["checkpoint"].clone()).collect();
    assert_eq!(commits, [Value::Null, json!("commit-1"), json!("commit-2")]);
    assert!(calls.iter().all(|call| call.get("state").is_none() || call.get("checkpoint").is_none()));
}

#[test]
fn c32_a_tool_whose_result_continues_a_known_checkpoint_shares_its_state() {
    let sets = json!({"notes.edit": stateful(), "git.commit": stateful()});
    let tools = json!([{"name": "add_note"}, {"name": "commit"}, {"name": "commit_more"}]);
    // `commit_more` continues what `commit` made, as both belong to one set.
    let words =
        ["--do", "/tool commit", "--do", "/tool add_note text=a", "--do", "/tool commit_more", "--do", "/tool commit"];
    let (calls, _) = called(&sets, &tools, &words);
    assert_eq!(calls[2].get("checkpoint"), None, "nothing shows yet that it is the same state");
    assert_eq!(calls[3]["checkpoint"], "commit-1");
    // One set that can roll back: its tools have one state, although another set uses tools, too.
    let sets = json!({"notes.edit": stateful(), "files.edit": scoped()});
    let tools = json!([{"name": "add_note"}, {"name": "undo_note"}]);
    let words = [
        "--do",
        "/tool add_note text=a",
        "--do",
        "/tool add_note text=b",
        "--do",
        "/tool undo_note",
        "--do",
        "/tool add_note text=c",
        "--do",
        "/do rollback back=1",
        "--do",
        "/do rollback checkpoint=c2",
        "--do",
        "/tool add_note text=d",
    ];
    let (calls, lines) = called(&sets, &tools, &words);
    let states: Vec<&Value> = calls.iter().map(|call| &call["state"]).collect();
    let (a, ab) = (json!({"notes": ["a"]}), json!({"notes": ["a", "b"]}));
    assert_eq!(states, [&Value::Null, &a, &ab, &a, &ab], "{lines:#?}");
}

#[test]
fn amb_c4_the_user_says_which_set_a_tool_belongs_to() {
    let sets = json!({"notes.edit": stateful(), "git.commit": stateful()});
    let tools = json!([{"name": "commit"}, {"name": "commit_more"}]);
    let set = ["--set", "mcpl.tool_sets=commit=git.commit,commit_more=git.commit"];
    let words = [
        &set[..],
        &["--do", "/tool commit", "--do", "/tool commit_more", "--do", "/do rollback set=git.commit back=1"],
    ]
    .concat();
    let (calls, lines) = called(&sets, &tools, &words);
    assert_eq!(calls[1]["checkpoint"], "commit-1");
    assert_eq!(reported(&lines, "rolled back")[0]["data"]["checkpoint"], "commit-1", "{lines:#?}");
}

#[test]
fn c26_lists_and_disabled_sets_hold_for_tools_that_name_no_set() {
    let sets = json!({"files.edit": scoped(), "discord.post": scoped()});
    let tools = json!([{"name": "edit_file"}]);
    let calls = |set: &[&str], path: &str| {
        let call = format!("/tool edit_file path={path} text=x");
        let (calls, lines) = called(&sets, &tools, &[set, &["--do", &call]].concat());
        let why = refusals(&lines).join("; ");
        assert_eq!(calls.is_empty(), !why.is_empty(), "{set:?} {path}: {lines:#?}");
        (calls.first().map(|call| call["scope"].clone()), why)
    };
    let black = ["--set", "mcpl.blacklist=**/.env"];
    assert!(calls(&black, "/project/.env").1.contains("blacklist"));
    let scope = json!({"label": "/project/a", "payload": {"path": "/project/a"}});
    assert_eq!(calls(&black, "/project/a").0, Some(scope.clone()));
    let of_one = ["--set", "mcpl.blacklist=files.edit=**/.env"];
    assert!(calls(&of_one, "/project/.env").1.contains("blacklist"));
    let white = ["--set", "mcpl.whitelist=files.edit=/project/**"];
    assert_eq!(calls(&white, "/project/a").0, Some(scope.clone()));
    assert!(calls(&white, "/etc/hosts").1.contains("whitelist"));
    let off = ["--set", "mcpl.disabled=files.edit,discord.post"];
    assert!(calls(&off, "/project/a").1.contains("disabled"));
    assert_eq!(calls(&["--set", "mcpl.disabled=discord.post"], "/project/a").0, Some(scope));
    // The user knows better.
    let none = ["--set", "mcpl.blacklist=**/.env", "--set", "mcpl.tool_sets=edit_file="];
    assert_eq!(calls(&none, "/project/.env").0, Some(Value::Null));
}

#[test]
fn c25_a_scoped_tool_always_has_a_scope_and_every_argument_is_held_to_the_lists() {
    let sets = json!({"files.edit": scoped(), "notes.edit": stateful()});
    let meta = json!({"featureSet": "files.edit"});
    let tools = json!([{"name": "move_file", "_meta": meta}, {"name": "plain"}]);
    let calls = |set: &[&str], call: &str| {
        let (calls, lines) = called(&sets, &tools, &[set, &["--do", call]].concat());
        (calls.first().map(|call| call["scope"].clone()), refusals(&lines).join("; "))
    };
    // Without an argument that names the scope, it is the tool's name; lists that cannot be applied refuse the call.
    assert_eq!(calls(&[], "/tool move_file n=1").0, Some(json!({"label": "move_file"})));
    let white = ["--set", "mcpl.whitelist=/project/**"];
    let (called, why) = calls(&white, "/tool move_file n=1");
    assert!(called.is_none() && why.contains("mcpl.scope_arguments"), "{why}");
    assert!(calls(&["--set", "mcpl.blacklist=**/.env"], "/tool move_file n=1").0.is_none());
    assert!(calls(&["--set", "mcpl.whitelist=/project/**,files.edit=move_file"], "/tool move_file n=1").0.is_some());
    // The first argument is the label, but all must be permitted.
    assert!(calls(&white, "/tool move_file path=/project/a uri=/project/b").0.is_some());
    assert!(calls(&white, "/tool move_file path=/project/a uri=/etc/b").1.contains("/etc/b"));
    assert!(calls(&white, r#"/tool move_file 'path:=["/project/a","/etc/b"]'"#).1.contains("/etc/b"));
    // A tool that may belong to either set, and has no such argument, is not known to be scoped.
    assert_eq!(calls(&white, "/tool plain n=1").0, Some(Value::Null));
}

#[test]
fn c74_a_rollback_that_fails_is_reported_with_its_set() {
    let sets = json!({"notes.edit": stateful()});
    let words = ["--do", "/do rollback set=notes.edit checkpoint=sent"];
    let (_, lines) = called(&sets, &json!([{"name": "add_note"}]), &words);
    let failed = &reported(&lines, "failed")[0]["data"];
    assert_eq!((&failed["feature_set"], &failed["checkpoint"]), (&json!("notes.edit"), &json!("sent")), "{lines:#?}");
    assert_eq!((&failed["method"], &failed["outcome"]), (&json!("state/rollback"), &json!("failure")));
}
