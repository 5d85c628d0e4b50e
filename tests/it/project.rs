//! `.mcpreel.toml`: where it is looked for, and what it changes.

use crate::common::Stage;
use serde_json::json;

/// A reel with one request whose argument is `value`.
fn session(stage: &Stage, name: &str, value: &str) {
    let call = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "t", "arguments": {"a": value}}});
    stage.reel(
        name,
        &[json!({"time": crate::common::CREATED, "stream": 0, "dir": "c2s", "event": "message", "message": call(1)})],
    );
}

/// The exit code of `diff` in a folder `repo/inside`, with this file in `repo`, and what it printed to stderr.
fn diff_with(file: &str) -> (i32, String) {
    let stage = Stage::new();
    session(&stage, "a.reel", "1");
    session(&stage, "b.reel", "2");
    std::fs::create_dir_all(stage.path("repo/inside")).expect("a folder");
    stage.write("repo/.mcpreel.toml", file);
    let mut diff = stage.mcpreel(&["diff", "../../a.reel", "../../b.reel"]);
    let output = diff.current_dir(stage.path("repo/inside")).output().expect("mcpreel runs");
    (output.status.code().expect("an exit code"), String::from_utf8(output.stderr).expect("text"))
}

#[test]
fn the_nearest_file_above_the_current_folder_applies() {
    assert_eq!(diff_with("").0, 1);
    assert_eq!(diff_with("[diff]\nignore = ['/params/arguments/a']\n").0, 0);
}

#[test]
fn the_search_ends_at_the_root_of_the_repository() {
    let stage = Stage::new();
    session(&stage, "a.reel", "1");
    session(&stage, "b.reel", "2");
    std::fs::create_dir_all(stage.path("repo/.git")).unwrap();
    stage.write(".mcpreel.toml", "[diff]\nignore = ['/params/arguments/a']\n");
    let mut diff = stage.mcpreel(&["diff", "../a.reel", "../b.reel"]);
    assert_eq!(diff.current_dir(stage.path("repo")).status().unwrap().code(), Some(1));
}

#[test]
fn an_invalid_file_is_an_error_with_its_place() {
    let (code, stderr) = diff_with("[diff]\nignored = []\n");
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("repo/.mcpreel.toml:2:1: unknown field `ignored`"), "{stderr}");
}
