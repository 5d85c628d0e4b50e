//! `diff` on recordings of one script with real servers: nothing that differs in every run is a difference, and
//! everything else is.

use super::{Stage, describe};
use crate::common::BINARY;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

/// Calls of tools, with `{folder}` for the folder of a run.
pub(super) type Script = Vec<(&'static str, Value)>;

/// The command of a server for a folder.
type ServerIn = Box<dyn Fn(&Path) -> Vec<OsString>>;

/// A server with a script of calls: its command for a folder, and a text in the arguments of one call with another text
/// for it.
pub(super) struct Case {
    pub server: ServerIn,
    pub script: Script,
    pub argument: (&'static str, &'static str),
}

pub(super) fn everything(stage: &Stage) -> Case {
    let program = stage.peers.everything();
    let script = vec![
        ("echo", json!({"message": "timeout 30s"})),
        ("get-sum", json!({"a": 1, "b": 2})),
        ("get-tiny-image", json!({})),
        ("get-structured-content", json!({"location": "New York"})),
        ("get-resource-reference", json!({"resourceType": "Text", "resourceId": 1})),
        ("trigger-long-running-operation", json!({"duration": 1, "steps": 2})),
    ];
    let server = move |_: &Path| vec!["node".into(), program.clone().into(), "stdio".into()];
    Case { server: Box::new(server), script, argument: ("timeout 30s", "timeout 60s") }
}

pub(super) fn filesystem(stage: &Stage) -> Case {
    let program = stage.peers.filesystem();
    let script = vec![
        ("list_allowed_directories", json!({})),
        ("write_file", json!({"path": "{folder}/b.txt", "content": "wait 30s\n"})),
        ("read_text_file", json!({"path": "{folder}/b.txt"})),
        ("list_directory", json!({"path": "{folder}"})),
        ("get_file_info", json!({"path": "{folder}/b.txt"})),
        ("read_text_file", json!({"path": "{folder}/missing.txt"})),
    ];
    let server = move |folder: &Path| vec!["node".into(), program.clone().into(), folder.into()];
    Case { server: Box::new(server), script, argument: ("wait 30s", "wait 60s") }
}

pub(super) fn memory(stage: &Stage) -> Case {
    let program = stage.peers.memory();
    let entity = json!({"name": "a", "entityType": "t", "observations": ["waits 30s"]});
    let script = vec![("create_entities", json!({"entities": [entity]})), ("read_graph", json!({}))];
    let server = move |folder: &Path| {
        let file = format!("MEMORY_FILE_PATH={}", folder.join("memory.json").display());
        vec!["env".into(), file.into(), "node".into(), program.clone().into()]
    };
    Case { server: Box::new(server), script, argument: ("waits 30s", "waits 60s") }
}

pub(super) fn time(stage: &Stage) -> Case {
    let command = stage.peers.server(super::Scenario::Time);
    let script = vec![
        ("get_current_time", json!({"timezone": "UTC"})),
        ("convert_time", json!({"source_timezone": "UTC", "time": "16:30", "target_timezone": "Asia/Tokyo"})),
    ];
    Case { server: Box::new(move |_: &Path| command.clone()), script, argument: ("16:30", "17:30") }
}

pub(super) fn git(stage: &Stage) -> Case {
    let python = stage.peers.python("git");
    let script = vec![
        ("git_status", json!({"repo_path": "{folder}"})),
        ("git_log", json!({"repo_path": "{folder}"})),
        ("git_create_branch", json!({"repo_path": "{folder}", "branch_name": "after-30s"})),
        ("git_show", json!({"repo_path": "{folder}", "revision": "HEAD"})),
    ];
    let server = move |folder: &Path| -> Vec<OsString> {
        let module = ["-m", "mcp_server_git", "--repository"].map(OsString::from);
        std::iter::once(python.clone().into()).chain(module).chain([folder.into()]).collect()
    };
    Case { server: Box::new(server), script, argument: ("after-30s", "after-60s") }
}

pub(super) fn fastmcp(stage: &Stage) -> Case {
    let command: [OsString; 2] =
        [stage.peers.python("fastmcp").into(), stage.peers.scripts.join("fastmcp_server.py").into()];
    let script =
        vec![("add_note", json!({"text": "wait 30s"})), ("list_notes", json!({})), ("add", json!({"a": 2, "b": 40}))];
    Case { server: Box::new(move |_: &Path| command.to_vec()), script, argument: ("wait 30s", "wait 60s") }
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn two_runs_of_a_fastmcp_server() {
    compare_two_runs(fastmcp);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn two_runs_of_the_everything_server() {
    compare_two_runs(everything);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn two_runs_of_the_filesystem_server() {
    compare_two_runs(filesystem);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn two_runs_of_the_memory_server() {
    compare_two_runs(memory);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn two_runs_of_the_time_server() {
    compare_two_runs(time);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn two_runs_of_the_git_server() {
    compare_two_runs(git);
}

/// Runs a script twice, in two folders and a second apart. Then changes a copy in several ways, and expects each change.
fn compare_two_runs(case: impl Fn(&Stage) -> Case) {
    let stage = &Stage::new();
    let Case { server, script, argument: (argument, other) } = &case(stage);
    let folders = ["one", "another-place"].map(|name| stage.path(name));
    for (folder, reel) in folders.iter().zip(["a.reel", "b.reel"]) {
        prepare(stage, folder);
        record(stage, &server(folder), script, folder, reel);
        std::thread::sleep(std::time::Duration::from_millis(1100));
    }
    let report = diff(stage, "a.reel", "b.reel");
    assert_eq!(report["units"], json!([]), "{report:#}");

    let exported = stage.run(&words(&["export", "b.reel"]));
    let lines = String::from_utf8(exported.stdout).expect("text");
    let list = lines.lines().find(|line| line.contains("\"tools\":[")).expect("a list of tools");
    let list_event: Value = serde_json::from_str(list).expect("JSON");
    let tools = &list_event["message"]["result"]["tools"];
    let name = tools[0]["name"].as_str().expect("a name").to_owned();
    let described = tools[0]["description"].as_str().expect("a description").to_owned();
    let quoted = |text: &str| Value::from(text).to_string();
    let renamed = list.replacen(&format!("\"name\":{}", quoted(&name)), "\"name\":\"renamed\"", 1);
    std::fs::write(stage.path("changed.jsonl"), lines.replace(list, &renamed)).expect("written");
    let report = diff(stage, "a.reel", "changed.jsonl");
    assert_eq!((&report["units"], report["renamed"].as_array().map(Vec::len)), (&json!([]), Some(1)), "{report:#}");
    assert!(report["renamed"][0].to_string().contains(&name), "{report:#}");
    for (from, to, pointer) in [
        (quoted(&described), "\"Does something else\"".to_owned(), "/result/tools/0/description"),
        (
            "\"type\":\"object\"".to_owned(),
            "\"minProperties\":1,\"type\":\"object\"".to_owned(),
            "/result/tools/0/inputSchema",
        ),
    ] {
        let changed = lines.replace(list, &list.replacen(&from, &to, 1));
        std::fs::write(stage.path("changed.jsonl"), changed).expect("written");
        let report = diff(stage, "a.reel", "changed.jsonl");
        let places = places(&report);
        let is_it = |place: &String| place.starts_with(pointer);
        assert!(!places.is_empty() && places.iter().all(is_it), "{from} → {to}: {places:?}\n{report:#}");
    }
    let in_request =
        lines.lines().find(|line| line.contains("\"c2s\"") && line.contains(*argument)).expect("a request");
    let changed = lines.replace(in_request, &in_request.replace(*argument, other));
    std::fs::write(stage.path("changed.jsonl"), changed).expect("written");
    let places = places(&diff(stage, "a.reel", "changed.jsonl"));
    assert!(places.len() == 1 && places[0].starts_with("/params/arguments/"), "{argument} → {other}: {places:?}");
}

/// A folder with a file, which is a repository with one commit.
pub(super) fn prepare(stage: &Stage, folder: &Path) {
    std::fs::create_dir_all(folder).expect("a folder");
    std::fs::write(folder.join("a.txt"), "hello\n").expect("a file");
    let who = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
    for command in [&["init", "-q", "-b", "main"][..], &["add", "."], &["commit", "-qm", "first"]] {
        let words = [&["git"], &who[..], &["-C", folder.to_str().expect("a path")], command].concat();
        let finished = stage.run(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(finished.code(), 0, "{}", finished.errors());
    }
}

pub(super) fn words(words: &[&str]) -> Vec<OsString> {
    std::iter::once(BINARY).chain(words.iter().copied()).map(OsString::from).collect()
}

/// Records a session: the list of tools and each call, one after the other.
pub(super) fn record(stage: &Stage, server: &[OsString], script: &Script, folder: &Path, reel: &str) {
    let command = [&words(&["record", "-o", reel, "--"]), server].concat();
    let mut child = stage
        .command(&command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("{}: {error}", describe(&command)));
    let mut input = child.stdin.take().expect("a pipe");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut send = |message: Value| writeln!(input, "{message}").expect("the server reads");
    let about =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let calls = script.iter().map(|(name, arguments)| ("tools/call", json!({"name": name, "arguments": arguments})));
    let begin = [("initialize", about), ("tools/list", json!({}))];
    for (id, (method, params)) in (1..).zip(begin.into_iter().chain(calls)) {
        let params: Value =
            serde_json::from_str(&params.to_string().replace("{folder}", folder.to_str().expect("a path")))
                .expect("JSON");
        send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let answered = output.by_ref().map(|line| serde_json::from_str::<Value>(&line.expect("text")).expect("JSON"));
        let found = answered.into_iter().any(|message| message["id"] == id && message.get("method").is_none());
        assert!(found, "{} did not answer {method}", describe(&command));
        if id == 1 {
            send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        }
    }
    drop(input);
    let status = child.wait().expect("it ends");
    assert!(status.success(), "{}: {status}", describe(&command));
}

fn diff(stage: &Stage, left: &str, right: &str) -> Value {
    let finished = stage.run(&words(&["diff", left, right, "--format", "json"]));
    assert!(finished.code() <= 1, "{}", finished.errors());
    serde_json::from_slice(&finished.stdout).expect("a report")
}

/// The place of every change, and the status of every unit on one side only.
fn places(report: &Value) -> Vec<String> {
    let units = report["units"].as_array().expect("units");
    let places = units.iter().flat_map(|unit| match unit["changes"].as_array() {
        Some(changes) if !changes.is_empty() => {
            changes.iter().map(|change| change["pointer"].as_str().unwrap_or_default().to_owned()).collect()
        }
        _ => vec![unit["status"].to_string()],
    });
    places.collect()
}
