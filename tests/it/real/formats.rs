//! Files that mcpreel exports, read by the programs that they are for.

use super::{BINARY, Finished, Stage, describe, finish};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// All recordings of the repository: those of other tools, and the examples.
fn recordings() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sides = ["client.txt", "server.txt", "har.schema.json"];
    let imports = std::fs::read_dir(root.join("tests/it/imports")).expect("a folder").flatten();
    let imports = imports.map(|entry| entry.path());
    let examples = ["examples/session.jsonl", "examples/testing/session.jsonl"].map(|path| root.join(path));
    let mut all: Vec<PathBuf> =
        imports.filter(|path| !sides.iter().any(|side| path.ends_with(side))).chain(examples).collect();
    all.sort();
    assert!(all.len() > 14, "{all:?}");
    all
}

/// Exports every recording in a format, and gives all files to a script.
fn are_read_by(script: &str, format: &str) {
    let stage = Stage::new();
    let mut words: Vec<OsString> = vec!["node".into(), stage.peers.scripts.join(script).into()];
    for (number, recording) in recordings().iter().enumerate() {
        let exported = stage.path(&format!("{number}.{format}"));
        let export =
            ["export".into(), "-f".into(), format.into(), recording.into(), "-o".into(), exported.clone().into()];
        ok(&stage, &[&[OsString::from(BINARY)], &export[..]].concat());
        words.push(exported.into());
    }
    let count = words.len() - 2;
    assert_eq!(ok(&stage, &words).stdout.iter().filter(|byte| **byte == b'\n').count(), count);
}

fn ok(stage: &Stage, words: &[OsString]) -> Finished {
    let finished = stage.run(words);
    assert_eq!(finished.code(), 0, "{}\n{}", describe(words), finished.errors());
    finished
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn har_files_conform_to_the_published_schemas() {
    are_read_by("har.mjs", "har");
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn mermaid_parses_the_diagrams() {
    are_read_by("mermaid.mjs", "mermaid");
}

/// Asks the ten questions of the guide about a dataset.
#[cfg(feature = "parquet")]
fn ask(stage: &Stage, dataset: &Path, mode: &[&str]) -> String {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide/fleet.md");
    let script = stage.peers.scripts.join("fleet.py");
    let mut words: Vec<OsString> =
        vec![stage.peers.python("tables").into(), script.into(), guide.into(), dataset.into()];
    words.extend(mode.iter().map(OsString::from));
    String::from_utf8(ok(stage, &words).stdout).expect("text")
}

#[cfg(feature = "parquet")]
fn export(stage: &Stage, words: &[OsString]) {
    let start = [BINARY, "export", "-f", "parquet", "-o", "dataset/"].map(OsString::from);
    ok(stage, &[&start[..], words].concat());
}

#[cfg(feature = "parquet")]
#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn databases_answer_the_questions_of_the_guide() {
    let stage = Stage::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let words = ["bash".into(), root.join("examples/fleet.sh").into(), "machines".into()];
    let mut command = stage.command(&words);
    let folder = Path::new(BINARY).parent().expect("a folder");
    command.env("PATH", format!("{}:{}", folder.display(), std::env::var("PATH").expect("PATH is set")));
    let made = finish(command, &describe(&words));
    assert_eq!(made.code(), 0, "{}", made.errors());
    for machine in ["build-1", "build-2", "build-3"] {
        export(&stage, &["--host".into(), machine.into(), format!("machines/{machine}").into()]);
    }
    let said = ask(&stage, &stage.path("dataset"), &["--compare"]);
    assert!(said.starts_with("10 questions, "), "{said}");
}

#[cfg(feature = "parquet")]
#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn databases_answer_questions_about_imported_files() {
    let stage = Stage::new();
    export(&stage, &recordings().into_iter().map(OsString::from).collect::<Vec<_>>());
    ask(&stage, &stage.path("dataset"), &[]);
}

#[cfg(feature = "parquet")]
mod transcripts {
    use super::*;

    #[test]
    #[ignore = "needs the real peers and MCPREEL_TRANSCRIPTS; run tests/full.sh"]
    fn databases_answer_questions_about_real_traffic() {
        let stage = Stage::new();
        let folder =
            std::env::var_os("MCPREEL_TRANSCRIPTS").expect("MCPREEL_TRANSCRIPTS names the folder of transcripts");
        // Relative to the repository's root, where the tests run.
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let all = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
        let mut all: Vec<PathBuf> = all.filter(|path| path.extension().is_some_and(|end| end == "ndjson")).collect();
        all.sort();
        export(&stage, &all.into_iter().map(OsString::from).collect::<Vec<_>>());
        ask(&stage, &stage.path("dataset"), &[]);
    }
}
