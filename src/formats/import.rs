//! What `import` reads: one file per format, and one table of them.
//!
//! A format's file says how it is recognised and what it cannot express, and turns the units of a file (lines, or the
//! items of a JSON document) into events. [`reading`] does the rest, the same for all: it reads with bounded memory,
//! passes over units that are malformed, and leaves a gap with their line in the reel.

mod agent_vcr;
mod claude_desktop;
mod elements;
mod exchange;
mod har;
mod http;
mod inspector;
pub(crate) mod lines;
mod mcp_cassette;
mod mcp_rec;
mod mcp_recorder;
mod mcp_snoop;
mod mcp_vcr;
mod mcpsnoop;
mod reading;
mod transcript;
mod vscode;

use super::jsonl;
use crate::trace::{FileHeader, Gap, NewEvent};
use std::io::{self, BufRead};

/// Every format that `import` reads, in the order in which their [`ImportFormat::detect`] is asked.
pub(crate) const IMPORT: &[ImportFormat] = &[
    mcpsnoop::IMPORT,
    mcp_cassette::IMPORT,
    mcp_recorder::IMPORT,
    mcp_rec::IMPORT,
    agent_vcr::IMPORT,
    mcp_vcr::YAML,
    mcp_vcr::NDJSON,
    mcp_snoop::IMPORT,
    har::IMPORT,
    inspector::IMPORT,
    claude_desktop::IMPORT,
    vscode::IMPORT,
    transcript::IMPORT,
    jsonl::IMPORT,
];

/// A format that `import` reads.
pub(crate) struct ImportFormat {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, as a help line.
    pub about: &'static str,
    /// What a recording has and such a file has not, as a list of nouns; empty if nothing is missing.
    pub lacks: &'static str,
    /// Whether a file with this beginning (at most 1 MiB) is of this format.
    pub detect: fn(&[u8]) -> bool,
    /// Reads the beginning of a file.
    pub open: fn(Box<dyn BufRead + Send>) -> Opened,
}

/// A file whose beginning has been read.
pub(crate) type Opened = Result<Box<dyn Importer>, ImportError>;

/// The error of an import.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Reading failed.
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
    /// A line does not conform to the format.
    #[error("line {line}: {reason}")]
    Line {
        /// The number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
}

/// Reads one file as the events of a reel.
pub trait Importer: Send {
    /// What the reel says about itself.
    fn header(&self) -> &FileHeader;

    /// Refuses a file of mcpreel's own format with a part that cannot be read, instead of leaving a gap for it.
    fn refuse_gaps(&mut self) {}

    /// The next event, or `None` at the end; its payload borrows from the importer.
    ///
    /// # Errors
    /// Reading failed, or the file is not of this format.
    fn next_event(&mut self) -> Result<Option<NewEvent<'_>>, ImportError>;
}

/// What the gap for a part of a file that cannot be read says (docs/trace-format.md, Gaps).
pub(super) fn unreadable(line: u64, reason: &str) -> Gap {
    Gap { line: Some(line), ..Gap::because(reason) }
}

/// Returns the format with this name.
pub(crate) fn named(name: &str) -> Option<&'static ImportFormat> {
    IMPORT.iter().find(|format| format.name == name)
}

/// Opens a file in the format with this name, for tests. Returns `None` if there is none.
pub fn open_as(name: &str, input: Box<dyn BufRead + Send>) -> Option<Result<Box<dyn Importer>, ImportError>> {
    match name {
        "lines" => Some(lines::open(Some(input), None)),
        name => named(name).map(|format| (format.open)(input)),
    }
}

/// Returns the format of a file with this beginning.
pub(crate) fn detected(start: &[u8]) -> Option<&'static ImportFormat> {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    IMPORT.iter().find(|format| (format.detect)(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_every_format_says_what_it_is() {
        let names: BTreeSet<&str> = IMPORT.iter().map(|format| format.name).collect();
        assert_eq!(names.len(), IMPORT.len());
        assert!(!names.contains("auto"), "the command line uses it");
        assert!(IMPORT.iter().all(|format| !format.about.is_empty()));
        assert_eq!(named("har").map(|format| format.name), Some("har"));
    }

    /// The beginning of a file of each format.
    const BEGINNINGS: &[(&str, &str)] = &[
        ("mcpsnoop", r#"{"session_id":"a","server_label":"b","seq":1,"ts":"2026-01-01T00:00:00Z","direction":"c2s"}"#),
        ("mcp-cassette", "{\n  \"format_version\": 3,\n  \"recorded_at\": \"x\",\n  \"messages\": ["),
        ("mcp-recorder", "{\n  \"version\": \"1.0\",\n  \"metadata\": {},\n  \"interactions\": ["),
        ("mcp-rec", r#"{"ts": 1.5, "dir": "client->server", "msg": {}}"#),
        ("agent-vcr", "{\"format_version\": \"1.0.0\", \"metadata\": {}, \"session\": {\"initialize_request\": "),
        ("mcp-vcr", "messages:\n- dir: c2s\n  payload:\n    id: 1\n"),
        ("mcp-vcr", "meta:\n  session_id: 558ff4a0\n  version: 1\nmessages:\n"),
        ("mcp-vcr-ndjson", "{\"_type\": \"meta\", \"version\": 1}\n"),
        ("mcp-snoop", "[18:46:06.323] →SERVER #1 initialize driver v1\n{\n"),
        ("har", "\u{feff}{\n  \"log\": {\n    \"version\": \"1.2\",\n    \"creator\": {"),
        ("inspector", "[\n  {\n    \"id\": \"1\",\n    \"timestamp\": \"x\",\n    \"direction\": \"request\","),
        ("claude-desktop", "2026-01-02T03:04:05.678Z [time] [info] Initializing server... { metadata: undefined }\n"),
        ("vscode", "2026-01-02 03:04:05.678 [info] Starting server time\n"),
        ("transcript", r#"{"ts":1,"dir":"c2s","msg":{}}"#),
        ("jsonl", r#"{"reel":{"version":1}}"#),
    ];

    #[test]
    fn each_format_is_recognised_by_its_beginning_and_no_other_claims_it() {
        for (name, start) in BEGINNINGS {
            let start = start.strip_prefix('\u{feff}').unwrap_or(start).as_bytes();
            let claims: Vec<&str> =
                IMPORT.iter().filter(|format| (format.detect)(start)).map(|format| format.name).collect();
            assert_eq!(detected(start).map(|format| format.name), Some(*name));
            assert!(claims == [*name] || claims == [*name, "transcript"], "{name}: {claims:?}");
        }
        let known: BTreeSet<&str> = BEGINNINGS.iter().map(|(name, _)| *name).collect();
        assert_eq!(known.len(), IMPORT.len());
    }

    #[test]
    fn other_files_are_of_no_format() {
        for start in
            ["", "hello\n", "{}", "[1]", "{\"jsonrpc\":\"2.0\",\"id\":1}\n", "\u{89}REEL", "messages: 3\n", "[{"]
        {
            assert_eq!(detected(start.as_bytes()).map(|format| format.name), None, "{start}");
        }
    }
}
