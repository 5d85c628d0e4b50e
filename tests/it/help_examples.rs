//! The examples of the help texts (and so of the manual pages), and those of the guide that `guide` does not run, work.
//! `help_examples.py` says how, and which are not run.

use crate::common::BINARY;
use std::process::Command;

#[test]
fn the_examples_of_the_help_texts_and_of_the_guide_work() {
    let root = env!("CARGO_MANIFEST_DIR");
    let script = format!("{root}/tests/it/help_examples.py");
    let output = Command::new("python3").args([script.as_str(), BINARY, root]).output().expect("python3 starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
