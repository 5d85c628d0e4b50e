//! Checks the worked example of `docs/trace-format.md`: its lines produce its bytes, and its bytes its events.

use std::path::Path;
use std::process::Command;

/// The text of the first fenced block that begins with `start`.
fn block<'a>(document: &'a str, start: &str) -> &'a str {
    let (_, rest) = document.split_once(start).expect("the block is there");
    rest.split_once("\n```\n").expect("the block ends").0
}

fn mcpreel(arguments: &[&Path]) -> Vec<u8> {
    let done = Command::new(env!("CARGO_BIN_EXE_mcpreel")).args(arguments).output().expect("the program starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    done.stdout
}

#[test]
fn the_documents_example_is_what_the_program_writes_and_reads() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/trace-format.md");
    let document = std::fs::read_to_string(path).expect("the document is readable");
    let lines = format!("{{\"reel\"{}\n", block(&document, "\n```\n{\"reel\""));
    let bytes: Vec<u8> = block(&document, "```reel\n")
        .lines()
        .flat_map(|row| row.split_whitespace().skip(1))
        .map(|byte| u8::from_str_radix(byte, 16).expect("hexadecimal"))
        .collect();

    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("tiny.jsonl"), &lines).expect("written");
    std::fs::write(at("document.reel"), &bytes).expect("written");
    mcpreel(&[Path::new("import"), &at("tiny.jsonl"), Path::new("-o"), &at("tiny.reel")]);
    let written = std::fs::read(at("tiny.reel")).expect("read");
    let of_document = mcpreel(&[Path::new("export"), &at("document.reel")]);
    assert_eq!(of_document, mcpreel(&[Path::new("export"), &at("tiny.reel")]), "the bytes there hold other events");
    assert_eq!(of_document.iter().filter(|byte| **byte == b'\n').count(), lines.lines().count());
    // The compressed parts may change with zstd and its settings; everything around them must not.
    assert_eq!(written[..67], bytes[..67], "file header");
    assert_eq!(written[67..95], bytes[67..95], "segment header up to its lengths");
    let index = |reel: &[u8]| reel[reel.len() - 20 - 159..reel.len() - 20].to_vec();
    assert_eq!(index(&written), index(&bytes), "index");
}
