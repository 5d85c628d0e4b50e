//! Redacted reels of sessions with real servers: they have the same findings, no differences from the original, and
//! replay as well as it does.

use super::differences::{Script, prepare, record, words};
use super::{ClientKind, Scenario, Stage};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::PathBuf;

/// What every session has in it, in some argument or answer.
const TOKEN: &str = "ghp_Zk4mQ9rT2vX7bN1cL8sD5fG3hJ6wP0yA";
const PASSWORD: &str = "password=q9w8e7r6t5y4u3i2";

/// The folder of a session's server, the same one in every run.
fn folder(stage: &Stage) -> PathBuf {
    stage.path("place")
}

/// A new folder with the content that a server starts with.
fn fresh(stage: &Stage) {
    let _ = std::fs::remove_dir_all(folder(stage));
    prepare(stage, &folder(stage));
}

/// The command of each server.
fn server(stage: &Stage, name: &str) -> Vec<OsString> {
    let place = folder(stage);
    match name {
        "everything" => vec!["node".into(), stage.peers.everything().into(), "stdio".into()],
        "filesystem" => vec!["node".into(), stage.peers.filesystem().into(), place.into()],
        "memory" => {
            let file = format!("MEMORY_FILE_PATH={}", place.join("memory.json").display());
            vec!["env".into(), file.into(), "node".into(), stage.peers.memory().into()]
        }
        "time" => stage.peers.server(Scenario::Time),
        "git" => {
            let module = ["-m", "mcp_server_git", "--repository"].map(OsString::from);
            std::iter::once(stage.peers.python("git").into()).chain(module).chain([place.into()]).collect()
        }
        _ => stage.peers.server(Scenario::Live),
    }
}

/// Sixteen scripts for five servers.
fn scripts() -> Vec<(&'static str, Script)> {
    let echo = |text: String| ("echo", json!({"message": text}));
    let entity = |name: &str, text: &str| {
        ("create_entities", json!({"entities": [{"name": name, "entityType": "t", "observations": [text]}]}))
    };
    let write =
        |name: &str, text: String| ("write_file", json!({"path": format!("{{folder}}/{name}"), "content": text}));
    let read = |name: &str| ("read_text_file", json!({"path": format!("{{folder}}/{name}")}));
    let at = |zone: &str| ("get_current_time", json!({"timezone": zone, "note": TOKEN}));
    let in_git = |name: &'static str, more: Value| {
        let mut arguments = json!({"repo_path": "{folder}"});
        arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        (name, arguments)
    };
    vec![
        ("everything", vec![echo(format!("use {TOKEN}")), echo(PASSWORD.into())]),
        ("everything", vec![echo(json!({"inner": {"api_key": TOKEN}}).to_string()), ("get-tiny-image", json!({}))]),
        (
            "everything",
            vec![echo(format!("https://u:{TOKEN}@h.example/?token={TOKEN}")), ("get-sum", json!({"a": 1, "b": 2}))],
        ),
        (
            "everything",
            vec![echo("bWFpbCBqYW5lLmRvZUBhY21lLWNvcnAuY29tIG5vdw==".into()), echo("jane.doe@acme-corp.com".into())],
        ),
        ("everything", vec![("get-structured-content", json!({"location": "New York", "secret": TOKEN}))]),
        ("filesystem", vec![write("b.txt", format!("{PASSWORD}\n")), read("b.txt")]),
        (
            "filesystem",
            vec![
                write("b.json", json!({"token": TOKEN}).to_string()),
                read("b.json"),
                ("list_directory", json!({"path": "{folder}"})),
            ],
        ),
        (
            "filesystem",
            vec![
                write(
                    "key.pem",
                    format!(
                        "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
                        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIB\n".repeat(3)
                    ),
                ),
                read("key.pem"),
            ],
        ),
        (
            "filesystem",
            vec![
                read("a.txt"),
                read("missing.txt"),
                ("get_file_info", json!({"path": "{folder}/a.txt", "token": TOKEN})),
            ],
        ),
        ("memory", vec![entity("a", PASSWORD), ("read_graph", json!({}))]),
        ("memory", vec![entity(TOKEN, "its name is a secret"), ("search_nodes", json!({"query": "secret"}))]),
        (
            "memory",
            vec![
                entity("b", "4111 1111 1111 1111"),
                ("open_nodes", json!({"names": ["b"]})),
                ("delete_entities", json!({"entityNames": ["b"]})),
            ],
        ),
        (
            "time",
            vec![
                at("UTC"),
                ("convert_time", json!({"source_timezone": "UTC", "time": "16:30", "target_timezone": "Asia/Tokyo"})),
            ],
        ),
        ("time", vec![at("Asia/Tokyo"), at("Nowhere/None")]),
        (
            "git",
            vec![
                in_git("git_status", json!({})),
                in_git("git_log", json!({})),
                in_git("git_create_branch", json!({"branch_name": TOKEN})),
            ],
        ),
        (
            "git",
            vec![
                in_git("git_show", json!({"revision": "HEAD", "note": TOKEN})),
                in_git("git_diff_unstaged", json!({})),
            ],
        ),
    ]
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn twenty_redacted_reels_serve_as_well_as_the_originals() {
    let mut reels = 0;
    for (name, script) in scripts() {
        let stage = Stage::new();
        fresh(&stage);
        record(&stage, &server(&stage, name), &script, &folder(&stage), "a.reel");
        assert_serves_as_well(&stage, name, &format!("{name} {script:?}"), true);
        reels += 1;
    }
    for (client, name, scenario) in [
        (ClientKind::TypeScript, "everything", Scenario::Everything),
        (ClientKind::PythonOne, "everything", Scenario::Everything),
        (ClientKind::PythonTwo, "time", Scenario::Time),
        (ClientKind::TypeScript, "live", Scenario::Live),
    ] {
        let stage = Stage::new();
        let tap = words(&["record", "-o", "a.reel", "--label", TOKEN, "--"]);
        stage.converse(client, scenario, &[tap, server(&stage, name)].concat());
        assert_serves_as_well(&stage, name, &format!("{name} with an SDK"), false);
        reels += 1;
    }
    assert_eq!(reels, 20);
}

/// Compares `a.reel` with its redacted copy. Only scripts are certain to contain a secret in a message.
fn assert_serves_as_well(stage: &Stage, name: &str, what: &str, has_secret: bool) {
    let run = |arguments: &[&str]| stage.run(&words(arguments));
    let redacted = run(&["redact", "a.reel", "-o", "r.reel", "-f", "json"]);
    assert_eq!(redacted.code(), 0, "{what}: {}", redacted.errors());
    let report: Value = serde_json::from_slice(&redacted.stdout).expect("a report");
    assert!(!has_secret || report["secrets"].as_u64() > Some(0), "{what}: {report}");
    let exported = run(&["export", "r.reel"]);
    let text = String::from_utf8_lossy(&exported.stdout).into_owned();
    for secret in [&TOKEN[4..], &PASSWORD[9..], "jane.doe", "4111 1111", "MIIEvQ"] {
        assert!(!text.contains(secret), "{what}: {secret}");
    }
    let findings = |reel: &str| -> Vec<Value> {
        let finished = run(&["validate", reel, "--format", "json", "--fail-on", "never"]);
        let report: Value = serde_json::from_slice(&finished.stdout).expect("a report");
        let place = |finding: &Value| json!([finding["rule"], finding["seq"], finding["pointer"]]);
        report["findings"].as_array().expect("findings").iter().map(place).collect()
    };
    assert_eq!(findings("a.reel"), findings("r.reel"), "{what}");
    for pair in [["a.reel", "r.reel"], ["r.reel", "a.reel"], ["r.reel", "r.reel"]] {
        let differences = run(&["diff", "--stderr", pair[0], pair[1]]);
        assert_eq!(differences.code(), 0, "{what}: {pair:?} {}", String::from_utf8_lossy(&differences.stdout));
    }
    let (counts, differences) = replayed(stage, name, "a.reel");
    assert!(counts[0].as_u64() > Some(0), "{what}: something is the same");
    assert_eq!((counts.clone(), differences), replayed(stage, name, "r.reel"), "{what}");
}

/// What a replay of a reel reports: how many messages are the same, changed, or only on one side; and the method and the
/// status of each difference.
fn replayed(stage: &Stage, name: &str, reel: &str) -> (Value, Vec<Value>) {
    fresh(stage);
    let command =
        [words(&["replay", reel, "--allow-destructive", "--format", "json", "--"]), server(stage, name)].concat();
    let finished = stage.run(&command);
    let report: Value = serde_json::from_slice(&finished.stdout)
        .unwrap_or_else(|error| panic!("{reel}: {error}: {}", finished.errors()));
    let units = report["diff"]["units"].as_array().unwrap_or_else(|| panic!("{reel}: {report}"));
    let counts = ["same", "changed", "only_left", "only_right"].map(|name| report["diff"][name].clone());
    (json!(counts), units.iter().map(|unit| json!([unit["method"], unit["status"]])).collect())
}
