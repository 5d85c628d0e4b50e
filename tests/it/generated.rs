//! The committed generated files (completions, manual pages) are what the program generates now.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const REMEDY: &str = "make them anew: cargo run -- completions --all completions && cargo run -- man --all man (remove what is left over)";

#[test]
fn completion_scripts_are_up_to_date() {
    compare("completions");
}

#[test]
fn manual_pages_are_up_to_date() {
    compare("man");
}

/// Runs `mcpreel WHAT --all FOLDER` and compares the result with the committed folder of that name.
fn compare(what: &str) {
    let fresh = tempfile::tempdir().expect("a folder");
    let status = Command::new(env!("CARGO_BIN_EXE_mcpreel"))
        .args([what, "--all"])
        .arg(fresh.path())
        .env_clear()
        .status()
        .expect("the program starts");
    assert!(status.success(), "mcpreel {what} --all failed: {status}");
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join(what);
    let (fresh, committed) = (files(fresh.path()), files(&committed));
    assert!(!fresh.is_empty(), "mcpreel {what} --all wrote nothing");
    let mut differ: Vec<&str> =
        fresh.iter().filter(|(name, text)| committed.get(*name) != Some(text)).map(|(name, _)| name.as_str()).collect();
    differ.extend(committed.keys().filter(|name| !fresh.contains_key(*name)).map(String::as_str));
    assert!(differ.is_empty(), "{what}/ is not what the program generates: {differ:?}\n{REMEDY}");
}

/// The names and contents of a folder's files; none if the folder does not exist.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.path().is_file())
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, std::fs::read(entry.path()).expect("readable"))
        })
        .collect()
}
