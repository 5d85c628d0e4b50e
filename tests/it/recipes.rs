//! The recipes in examples/testing: they pass with their recording, and fail with a useful message with another one. The
//! one for Node is in `real::smoke`.

use crate::common::{BINARY, Output, Stage, finish};
use std::path::Path;
use std::process::Command;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/testing");
/// What a mock says if its client asks for something else than what was recorded.
pub(crate) const MISSED: &str = "never recorded: tools/call add; the closest is seq 6, which differs at /params/arguments/b: 41 was recorded, not 40";

/// A copy of the recipes in which `mcpreel` is the program under test.
pub(crate) fn copied(stage: &Stage) {
    for entry in std::fs::read_dir(FOLDER).expect("examples/testing").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_file() {
            std::fs::copy(entry.path(), stage.path(&name)).expect("copied");
        }
    }
    std::fs::create_dir(stage.path("bin")).expect("a folder");
    std::os::unix::fs::symlink(BINARY, stage.path("bin/mcpreel")).expect("a link");
}

/// Changes an argument of the recorded call, so that the client does not do what was recorded.
pub(crate) fn other_recording(stage: &Stage) {
    let lines = String::from_utf8(stage.read("session.jsonl")).expect("text");
    assert!(lines.contains("\"b\":40"), "{lines}");
    stage.write("session.jsonl", lines.replace("\"b\":40", "\"b\":41"));
}

/// A command with the program under test in its path.
pub(crate) fn with_mcpreel(stage: &Stage, mut command: Command) -> Command {
    let path = std::env::var_os("PATH").expect("PATH is set");
    let own = [stage.path("bin")].into_iter().chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(own).expect("a path"));
    command
}

fn run(stage: &Stage, words: &[&str]) -> Output {
    finish(with_mcpreel(stage, stage.command(words)), Vec::new())
}

/// Passes with the recording, and fails with a useful message with another one.
fn check(words: &[&str]) {
    let stage = Stage::new();
    copied(&stage);
    let output = run(&stage, words);
    assert_eq!(output.code(), 0, "{output:?}");
    other_recording(&stage);
    let output = run(&stage, words);
    assert_ne!(output.code(), 0, "{output:?}");
    let said = output.out() + &output.err();
    assert!(said.contains(MISSED), "{output:?}");
    assert!(said.contains("the client did not do what was recorded"), "{output:?}");
}

#[test]
fn the_shell_script() {
    check(&["sh", "test-client.sh"]);
}

#[test]
fn the_python_fixture_without_pytest() {
    let script = "import contextlib, mock_server, test_client\n\
                  with contextlib.contextmanager(mock_server.serve)() as url:\n    test_client.test_the_client_adds(url)\n";
    check(&["python3", "-c", script]);
}

#[test]
fn the_rust_test() {
    let stage = Stage::new();
    copied(&stage);
    let mut compile = stage.command(&["rustc", "--test", "--edition", "2021", "recordings.rs", "-o", "recordings"]);
    for name in ["HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] {
        if let Some(value) = std::env::var_os(name) {
            compile.env(name, value);
        }
    }
    let output = finish(compile, Vec::new());
    assert_eq!(output.code(), 0, "{output:?}");
    let passed = run(&stage, &["./recordings"]);
    assert!(passed.code() == 0 && passed.out().contains("2 passed"), "{passed:?}");
    other_recording(&stage);
    let output = run(&stage, &["./recordings"]);
    assert_ne!(output.code(), 0, "{output:?}");
    let said = output.out() + &output.err();
    assert!(said.contains(MISSED) && said.contains("the client did not do what was recorded"), "{output:?}");
    assert!(said.contains("1 changed, 0 only in A"), "the test of the server fails, too: {output:?}");
}

#[test]
fn every_recipe_is_in_the_guide() {
    let guide = std::fs::read_to_string(Path::new(FOLDER).join("../../docs/guide/testing.md")).expect("the guide");
    for entry in std::fs::read_dir(FOLDER).expect("examples/testing").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(!entry.path().is_file() || guide.contains(&name), "docs/guide/testing.md does not mention {name}");
    }
    for name in ["mock_server.py", "test_client.py"] {
        let text = std::fs::read_to_string(Path::new(FOLDER).join(name)).expect("a recipe");
        assert!(guide.contains(&text), "docs/guide/testing.md has another {name}");
    }
}

#[test]
#[ignore = "needs pytest from the real peers; run tests/full.sh"]
fn the_pytest_fixture() {
    let peers = std::env::var_os("MCPREEL_REAL_PEERS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target/real"), std::path::PathBuf::from);
    let python = std::path::absolute(peers.join("py2/bin/python")).expect("a path");
    let python = python.to_string_lossy().into_owned();
    check(&[&python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]);
}

/// The lines of a block of the guide, run by a shell.
#[test]
#[ignore = "needs git; run tests/full.sh"]
fn a_reel_in_git_has_a_readable_difference() {
    let stage = Stage::new();
    copied(&stage);
    let guide = std::fs::read_to_string(Path::new(FOLDER).join("../../docs/guide/testing.md")).expect("the guide");
    let block = guide.split("```sh\n").find(|block| block.contains("textconv")).expect("a block");
    let setup = block.split("```").next().expect("its end");
    let import = "mcpreel import session.jsonl -o session.reel --force";
    let script = format!(
        "set -e; git init -q; {setup}\n{import}; git add session.reel
         sed -i 's/\"b\":40/\"b\":41/; s/\"time\":\"2[^\"]*\"/\"time\":\"2031-01-01T00:00:00Z\"/' session.jsonl
         {import}; git diff"
    );
    let output = run(&stage, &["sh", "-c", &script]);
    assert_eq!(output.code(), 0, "{output:?}");
    let said = output.out();
    let is_change = |line: &&str| line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---");
    let changed: Vec<&str> = said.lines().filter(is_change).collect();
    assert_eq!(changed.len(), 2, "{said}");
    assert!(changed[0].contains("\"b\":40") && changed[1].contains("\"b\":41"), "{said}");
}

/// Runs `examples/ci/check.sh` with the built-in server; the reports are in the folder `my reports`.
fn checked(stage: &Stage, options: &[&str], server: &[&str]) -> Output {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/ci/check.sh");
    let words = [&["sh", script, "my recordings", "my reports"], options, &["--", "mcpreel"], server].concat();
    run(stage, &words)
}

const SERVE: [&str; 3] = ["serve", "--era", "legacy"];
/// What its name makes a secret.
const SECRET: &str = "q9w8e7r6t5y4u3i2";

/// A stage with two recordings, one of them with a secret.
fn two_recordings() -> Stage {
    let stage = Stage::new();
    copied(&stage);
    std::fs::create_dir(stage.path("my recordings")).expect("a folder");
    let failing = format!("arguments.message=api_key: {SECRET}");
    for (name, call) in [
        ("add", &["tools/call", "name=add", "arguments.a:=2", "arguments.b:=40"][..]),
        ("fail", &["tools/call", "name=fail", &failing]),
    ] {
        let record = format!("my recordings/{name}.reel");
        let words = [&["call"], call, &["--record", &record, "--", BINARY], &SERVE].concat();
        assert!(stage.run(&words, "").code() <= 1, "{name}");
    }
    stage
}

/// The contents of all files in a folder, one after another.
fn everything_in(stage: &Stage, folder: &str) -> String {
    let entries = std::fs::read_dir(stage.path(folder)).expect("a folder").flatten();
    let read = |path: std::path::PathBuf| match path.extension().is_some_and(|end| end == "reel") {
        true => stage.ok(&["export", &path.to_string_lossy()]).out(),
        false => String::from_utf8_lossy(&std::fs::read(path).expect("a file")).into_owned(),
    };
    entries.map(|entry| read(entry.path())).collect()
}

#[test]
fn the_script_for_pipelines_passes_and_fails_and_leaves_reports_without_secrets() {
    let stage = two_recordings();
    let lock = ["diff", "--surface", "--update", "my recordings/server.lock.json", "--", BINARY];
    stage.ok(&[&lock[..], &SERVE].concat());
    let output = checked(&stage, &[], &SERVE);
    assert_eq!(output.code(), 0, "{output:?}");
    for name in ["add.replay.xml", "fail.replay.xml", "validate.xml"] {
        let text = String::from_utf8(stage.read(&format!("my reports/{name}"))).expect("text");
        assert!(text.contains("<testcase ") && text.contains("failures=\"0\""), "{name}: {text}");
    }
    for name in ["add", "fail"] {
        stage.ok(&["reel", "verify", &format!("my reports/{name}.reel")]);
    }
    // The files at which SARIF points exist.
    let sarif: serde_json::Value = serde_json::from_slice(&stage.read("my reports/validate.sarif")).expect("JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert!(!results.is_empty(), "{sarif}");
    for result in results {
        let place = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().expect("a place");
        assert!(stage.path(&place.replace("%20", " ")).is_file(), "{place}");
    }
    // A server with other answers: what differs is in the reports, its secrets are not.
    let reports = everything_in(&stage, "my reports");
    assert!(!reports.contains(SECRET) && reports.contains("redacted"), "{reports}");
    let lines = stage.ok(&["export", "my recordings/fail.reel"]).out().replacen("q9w8", "o4p5", 1);
    std::fs::remove_file(stage.path("my recordings/fail.reel")).expect("removed");
    stage.import("my recordings/fail.reel", lines);
    let output = checked(&stage, &[], &SERVE);
    assert_eq!(output.code(), 1, "{output:?}");
    assert!(output.out().contains("1 changed") && output.out().contains("tools/call"), "{output:?}");
    let reports = everything_in(&stage, "my reports") + &output.out() + &output.err();
    assert!(!reports.contains(SECRET), "{reports}");
    // A server that does not start.
    let output = checked(&stage, &[], &["serve", "--no-such-option"]);
    assert_eq!(output.code(), 4, "{output:?}");
}

#[test]
fn the_script_for_pipelines_has_one_baseline_and_takes_options() {
    let stage = two_recordings();
    assert_eq!(checked(&stage, &[], &SERVE).code(), 0);
    let reels = ["my reports/add.reel", "my reports/fail.reel"];
    let baseline = ["validate", "--baseline", "my recordings/known.json", "--write-baseline"];
    let written = stage.ok(&[&baseline[..], &reels].concat());
    assert!(!written.err().contains(" 0 entries"), "{written:?}");
    // Each of the two has fewer findings than both.
    let output = checked(&stage, &[], &SERVE);
    assert_eq!(output.code(), 0, "{output:?}");
    let output = checked(&stage, &["--timeout", "20s", "--ignore", "/result/a b"], &SERVE);
    assert_eq!(output.code(), 0, "{output:?}");
    let output = checked(&stage, &["--no-such-option"], &SERVE);
    assert_eq!(output.code(), 2, "{output:?}");
}

#[test]
fn the_script_for_pipelines_fails_without_recordings_and_leaves_nothing_that_is_not_redacted() {
    let stage = Stage::new();
    copied(&stage);
    let output = checked(&stage, &[], &SERVE);
    assert_eq!(output.code(), 3, "{output:?}");
    std::fs::create_dir(stage.path("my recordings")).expect("a folder");
    let output = checked(&stage, &[], &SERVE);
    assert!(output.code() == 3 && output.err().contains("no recordings"), "{output:?}");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/ci/check.sh");
    for words in [&["a"][..], &["a", "b"], &["a", "b", "--"], &["a", "b", "c", "d"]] {
        let output = run(&stage, &[&["sh", script], words].concat());
        assert!(output.code() == 2 && output.err().contains("usage: check.sh"), "{words:?}: {output:?}");
    }
    // `redact` fails, because a setting is wrong.
    let stage = two_recordings();
    stage.write("bin/redact-fails", format!("#!/bin/sh\n[ \"$1\" != redact ] || exit 3\nexec {BINARY} \"$@\"\n"));
    std::fs::remove_file(stage.path("bin/mcpreel")).expect("removed");
    std::fs::rename(stage.path("bin/redact-fails"), stage.path("bin/mcpreel")).expect("renamed");
    let executable = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    std::fs::set_permissions(stage.path("bin/mcpreel"), executable).expect("executable");
    let output = checked(&stage, &[], &SERVE);
    assert_eq!(output.code(), 3, "{output:?}");
    let reports = std::fs::read_dir(stage.path("my reports")).expect("a folder").flatten();
    let reels = reports.filter(|entry| entry.path().extension().is_some_and(|end| end == "reel" || end == "jsonl"));
    assert_eq!(reels.count(), 0);
}

#[test]
fn the_script_of_the_fleet_needs_a_folder() {
    let stage = Stage::new();
    let output = run(&stage, &["bash", concat!(env!("CARGO_MANIFEST_DIR"), "/examples/fleet.sh")]);
    assert!(output.code() == 2 && output.err() == "usage: examples/fleet.sh FOLDER\n", "{output:?}");
}

#[test]
fn the_action_runs_the_script() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/action.yml")).expect("action.yml");
    let action: serde_json::Value = serde_saphyr::from_str(&text).expect("YAML");
    assert_eq!(action["runs"]["using"], "composite");
    for step in action["runs"]["steps"].as_array().expect("steps") {
        assert!(step["shell"].is_string() && step["run"].is_string(), "{step}");
    }
    let last = action["runs"]["steps"][1]["run"].as_str().expect("a command");
    assert!(last.contains("$GITHUB_ACTION_PATH/examples/ci/check.sh"), "{last}");
    let job =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/ci/gitlab-ci.yml")).expect("a job");
    let job: serde_json::Value = serde_saphyr::from_str(&job).expect("YAML");
    let script = job["mcp"]["script"][0].as_str().expect("a command");
    assert!(script.starts_with("sh /tmp/mcpreel/examples/ci/check.sh tests/recordings reports -- "), "{script}");
    assert_eq!(job["mcp"]["artifacts"]["reports"]["junit"], "reports/*.xml");
}
