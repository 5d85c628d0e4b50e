//! Finds recordings of sessions that real clients start.
//!
//! SDK clients pass only a few variables to a stdio server (`HOME`, `PATH`, …), so an mcpreel that they start does not
//! see the `XDG_STATE_HOME` or `MCPREEL_HOME` of its user's shell. `show` in that shell must find the recording anyway.

use super::{ClientKind, Finished, Scenario, Stage, describe, finish};
use crate::common::BINARY;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::Path;

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn the_python_1_sdk_with_mcpreel_home() {
    both_sessions_are_found(ClientKind::PythonOne, Scenario::Time, &["MCPREEL_HOME"]);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn the_python_2_sdk_with_both() {
    both_sessions_are_found(ClientKind::PythonTwo, Scenario::Time, &["XDG_STATE_HOME", "MCPREEL_HOME"]);
}

/// Wraps a server in a client's configuration, lets the client start it twice as configured, and looks for both
/// sessions in a shell that sets `variables`.
pub(super) fn both_sessions_are_found(client: ClientKind, scenario: Scenario, variables: &[&str]) {
    let stage = Stage::new();
    let server = stage.peers.server(scenario);
    let words: Vec<_> = server.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let config = stage.path(".cursor/mcp.json");
    std::fs::create_dir(stage.path(".cursor")).expect("a configuration folder");
    let text = json!({"mcpServers": {"it": {"command": words[0], "args": words[1..]}}}).to_string();
    std::fs::write(&config, text).expect("a configuration");
    shell(&stage, variables, &["wrap", "it", "--yes", "--config", &config.to_string_lossy()]);

    let wrapped = std::fs::read_to_string(&config).expect("the configuration");
    let holds = |place: &str| wrapped.contains(&*stage.path(place).to_string_lossy());
    assert!(!holds("state"), "a personal path stands in the configuration: {wrapped}");
    assert_eq!(holds("reels-of-mine"), variables.contains(&"MCPREEL_HOME"), "{wrapped}");
    let wrapped: Value = serde_json::from_str(&wrapped).expect("JSON");
    let entry = &wrapped["mcpServers"]["it"];
    let arguments = entry["args"].as_array().expect("arguments");
    let command: Vec<OsString> =
        std::iter::once(&entry["command"]).chain(arguments).map(|word| word.as_str().expect("a word").into()).collect();
    // The SDKs pass PATH on, so the configuration may contain just `mcpreel`.
    for _ in 0..2 {
        converse(&stage, variables, client, scenario, &command);
    }

    let stats = |reel: &str| shell(&stage, variables, &["stats", "--format", "json", reel]);
    let found = stage_reels(&stage);
    assert_eq!(found.len(), 2, "two sessions were recorded: {found:?}");
    // `show` without a name shows the newest.
    let newest = found.iter().max().expect("a reel");
    let shown = shell(&stage, variables, &["show", "--format", "json"]);
    let named = shell(&stage, variables, &["show", "--format", "json", newest]);
    assert!(!shown.stdout.is_empty(), "the newest session has messages");
    assert_eq!(String::from_utf8_lossy(&shown.stdout), String::from_utf8_lossy(&named.stdout), "show is the newest");
    for reel in &found {
        assert!(!stats(reel).stdout.is_empty(), "{reel} can be read");
    }
}

/// All reels below the stage's home, wherever they were written.
fn stage_reels(stage: &Stage) -> Vec<String> {
    fn visit(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                visit(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "reel") {
                found.push(path.to_string_lossy().into_owned());
            }
        }
    }
    let mut found = Vec::new();
    visit(&stage.path("."), &mut found);
    found
}

/// Runs mcpreel as in the user's shell, with the variables that change where recordings are.
fn shell(stage: &Stage, variables: &[&str], words: &[&str]) -> Finished {
    let program = OsString::from(BINARY);
    let words: Vec<_> = std::iter::once(program).chain(words.iter().map(OsString::from)).collect();
    let finished = finish(with_variables(stage, variables, &words), &describe(&words));
    assert_eq!(finished.code(), 0, "{}\n{}", describe(&words), finished.errors());
    finished
}

/// Runs the client from the same shell; the SDK chooses which variables the server's process gets.
fn converse(stage: &Stage, variables: &[&str], client: ClientKind, scenario: Scenario, server: &[OsString]) {
    let words = [&stage.peers.client(client)[..], &[scenario.name().into()], server].concat();
    let mut command = with_variables(stage, variables, &words);
    let program = Path::new(BINARY).parent().expect("a folder");
    let path = std::env::var("PATH").expect("PATH is set");
    command.env("PATH", format!("{}:{path}", program.display())).env("MCPREEL_REAL_SERVER_ENV", "sdk");
    let finished = finish(command, &describe(&words));
    assert_eq!(finished.code(), 0, "{}\n{}", describe(&words), finished.errors());
}

fn with_variables(stage: &Stage, variables: &[&str], words: &[OsString]) -> std::process::Command {
    let mut command = stage.command(words);
    command.env_remove("XDG_STATE_HOME").env_remove("MCPREEL_HOME");
    for variable in variables {
        let place = if *variable == "MCPREEL_HOME" { "reels-of-mine" } else { "state" };
        command.env(variable, stage.path(place));
    }
    command
}
