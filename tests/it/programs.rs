//! Tests which program is started: the one that a client would start, whatever `PATH` an entry of its configuration sets.

use crate::common::{Output, Stage, finish};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A server that says in its answer which one it is, and what it got.
const SERVER: &str = r#"#!/bin/sh
read -r line
printf '{"jsonrpc":"2.0","id":1,"result":{"me":"%s","path":"%s","other":"%s"}}\n' "$0" "$PATH" "$MCPREEL_SERVER_PATH"
"#;
const REQUEST: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";

fn program(folder: &Path, text: &str) {
    std::fs::create_dir_all(folder).expect("a folder");
    let path = folder.join("own-server");
    std::fs::write(&path, text).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("its mode");
}

/// A configuration with the entry `s`, whose program is in the folder `tools`, and nowhere else.
fn configured(stage: &Stage, path: &str) {
    program(&stage.path("tools"), SERVER);
    let entry = json!({"command": "own-server", "args": [], "env": {"PATH": path}});
    let config = json!({"mcpServers": {"s": entry}});
    stage.write(".mcp.json", serde_json::to_string_pretty(&config).expect("JSON"));
}

fn path_of(stage: &Stage) -> String {
    format!("{}:/usr/bin:/bin", stage.path("tools").display())
}

fn result(output: &Output) -> Value {
    let line = output.out().lines().next().unwrap_or_default().to_owned();
    let answer: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    answer["result"].clone()
}

/// Starts an entry as clients do: the program is looked for in the `PATH` of the entry's environment.
fn started_by_client(stage: &Stage, name: &str) -> Output {
    let config: Value = serde_json::from_slice(&stage.read(".mcp.json")).expect("JSON");
    let entry = &config["mcpServers"][name];
    let mut words = vec!["env".to_owned()];
    for (name, value) in entry["env"].as_object().expect("an object") {
        words.push(format!("{name}={}", value.as_str().expect("text")));
    }
    let args = entry["args"].as_array().expect("a list").iter();
    words.extend([&entry["command"]].into_iter().chain(args).map(|word| word.as_str().expect("text").to_owned()));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut command = stage.command(&words);
    let folder = Path::new(crate::common::BINARY).parent().expect("a folder").display().to_string();
    command.env("PATH", format!("{folder}:/usr/bin:/bin"));
    finish(command, REQUEST.into())
}

#[test]
fn the_path_of_an_entry_leads_to_its_program() {
    let stage = Stage::new();
    let path = path_of(&stage);
    configured(&stage, &path);
    let me = stage.path("tools/own-server").display().to_string();
    for words in [
        &["record", "--config", ".mcp.json", "--server", "s", "-o", "t.reel", "--force"][..],
        &["overlay", "/dev/null", "--config", ".mcp.json", "--server", "s", "-o", "o.reel"],
    ] {
        let output = stage.run(words, REQUEST);
        assert_eq!(result(&output), json!({"me": me, "path": path, "other": ""}), "{words:?}: {output:?}");
    }
    let called = stage.run(&["call", "ping", "--config", ".mcp.json", "--server", "s", "--format", "json"], "");
    assert!(!called.err().contains("no program"), "{called:?}");
    let given = stage.run(&["record", "-o", "e.reel", "-e", &format!("PATH={path}"), "--", "own-server"], REQUEST);
    assert_eq!(result(&given)["me"], json!(me), "{given:?}");
}

/// Near miss: without a `PATH` of its own, the program is looked for in ours.
#[test]
fn without_a_path_of_its_own_a_program_is_looked_for_in_ours() {
    let stage = Stage::new();
    program(&stage.path("tools"), SERVER);
    let missing = stage.run(&["record", "-o", "t.reel", "--", "own-server"], REQUEST);
    assert!(missing.err().contains("there is no program \"own-server\" in PATH"), "{missing:?}");
    let mut command = stage.mcpreel(&["record", "-o", "t.reel", "-e", "A=b", "--", "own-server"]);
    command.env("PATH", path_of(&stage));
    assert_eq!(result(&finish(command, REQUEST.into()))["path"], json!(path_of(&stage)));
}

#[test]
fn relative_and_empty_folders_of_a_path_begin_in_the_servers_folder() {
    let stage = Stage::new();
    program(&stage.path("work/bin"), SERVER);
    for (path, cwd) in [("bin:/usr/bin:/bin", "work"), (":/usr/bin:/bin", "work/bin"), ("/usr/bin:/bin:", "work/bin")] {
        let path = format!("PATH={path}");
        let words = ["record", "-o", "t.reel", "--force", "--cwd", cwd, "-e", &path, "--", "own-server"];
        let output = stage.run(&words, REQUEST);
        assert!(result(&output)["me"].as_str().is_some_and(|me| me.ends_with("/own-server")), "{path}: {output:?}");
    }
}

#[test]
fn a_wrapped_entry_with_a_path_works_as_before() {
    let stage = Stage::new();
    let path = path_of(&stage);
    configured(&stage, &path);
    let before = stage.read(".mcp.json");
    let direct = started_by_client(&stage, "s");
    stage.ok(&["wrap", "s", "--config", ".mcp.json", "--yes", "--no-backup"]);
    let wrapped = started_by_client(&stage, "s");
    assert_eq!(result(&wrapped), result(&direct), "{wrapped:?}");
    assert_eq!(result(&wrapped)["path"], json!(path));
    stage.ok(&["unwrap", "s", "--config", ".mcp.json", "--yes", "--no-backup"]);
    assert_eq!(stage.read(".mcp.json"), before);
}

#[test]
fn a_whole_command_line_as_a_program_is_explained() {
    let stage = Stage::new();
    for command in ["python3 -m server --flag", "/usr/bin/python3 -m server", " own-server --x"] {
        let config = json!({"mcpServers": {"a": {"command": command, "args": []}}});
        stage.write("c.json", config.to_string());
        let output = stage.run(&["record", "--config", "c.json", "--server", "a", "-o", "t.reel"], "");
        assert_eq!(output.code(), 4, "{output:?}");
        assert!(output.err().contains("from `command` to `args`"), "{output:?}");
    }
    // A program whose name has blanks is none.
    program(&stage.path("with blanks"), SERVER);
    let output = stage.run(&["record", "-o", "t.reel", "--", "./with blanks/own-server"], REQUEST);
    assert_eq!(output.code(), 0, "{output:?}");
}

#[test]
fn a_default_within_a_default_is_expanded() {
    let stage = Stage::new();
    let script = "read -r line; printf '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"%s\"}\\n' \"$1\"";
    let text = "${SAMPLE_DIR:-${HOME}/.sample}:/data:ro";
    let config = json!({"mcpServers": {"n": {"command": "sh", "args": ["-c", script, "sh", text]}}});
    stage.write("c.json", config.to_string());
    let words = ["record", "--config", "c.json", "--server", "n", "-o", "t.reel", "--force"];
    let home = stage.path("home").display().to_string();
    assert_eq!(result(&stage.run(&words, REQUEST)), json!(format!("{home}/.sample:/data:ro")));
    let mut command = stage.mcpreel(&words);
    command.env("SAMPLE_DIR", "VALUE");
    assert_eq!(result(&finish(command, REQUEST.into())), json!("VALUE:/data:ro"));
}
