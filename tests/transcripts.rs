//! Real traffic between other people's programs, where transcripts of it are at hand: they are imported, and the
//! validator finds what is known to be wrong with them, and nothing else above a remark.

#![cfg(unix)]
#![expect(clippy::expect_used, clippy::panic, reason = "a test's helpers fail the test by panicking")]

#[expect(dead_code, reason = "each test file uses its part of the stage")]
mod common;

use common::Stage;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

/// Where transcripts lie, beside the project; `None`, after saying so, where there are none.
fn transcripts() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/transcripts");
    if !folder.is_dir() {
        // Written to the stream itself: the harness would swallow what eprintln! says.
        std::io::stderr().write_all(b"skipped: no transcripts beside the project\n").expect("a line is taken");
    }
    folder.is_dir().then_some(folder)
}

/// A transcript, the rules that its errors break, and the rules of its warnings.
type Known = (&'static str, &'static [&'static str], &'static [&'static str]);

/// What is wrong with each. A sentence of a proposal or of MCP stands behind each rule (`mcpreel validate --rules`).
const KNOWN: &[Known] = &[
    (
        // The host disables a set and goes on to accept its pushes; the server refuses pings, declares sets as an
        // array and pushes from a set that lists tools only.
        "mcpl-heartbeat-0.1.3",
        &["mcpl/disabled-set-accepted", "mcpl/rollback-undeclared", "method/ping-refused"],
        &["mcpl/capability-missing", "mcpl/feature-sets-array", "mcpl/unlisted-use"],
    ),
    (
        // The server tries what it may not; the host answers three requests never.
        "mcpl-agent-framework-host-x-mock",
        &["mcpl/push-disabled-set", "mcpl/unknown-set"],
        &["mcpl/capability-missing", "mcpl/unlisted-use"],
    ),
    (
        // No capability, log lines on the message stream, an expiry told before its grant.
        "mcpe-core-1.0.0",
        &["mcpe/capability-missing", "stream/noise"],
        &["mcpe/expired-before-grant"],
    ),
    (
        "mcpe-core-1.0.0-cron",
        &["mcpe/capability-missing", "schema/tool-arguments", "stream/noise"],
        &[
            "mcpe/event-passed-over",
            "mcpe/expired-counted",
            "mcpe/expiry-untold",
            "mcpe/granted-expired",
            "mcpe/list-status",
            "mcpe/schedule-missing",
        ],
    ),
    ("annal-0.7.1", &[], &["hooks/two-places"]),
    ("everything-2025-11-25", &[], &[]),
    ("filesystem-2025-11-25", &[], &[]),
    ("time-2025-11-25", &[], &[]),
    ("pyfixture-2026-07-28", &[], &[]),
    ("base-modern-era-python-mcp-2.3.0", &[], &[]),
    ("sse-everything-legacy", &[], &[]),
    ("everything-probed-modern", &[], &["era/legacy-answer"]),
    ("http-everything-2025-11-25", &["era/batch", "method/not-in-revision"], &[]),
];

#[test]
fn what_is_known_to_be_wrong_is_found_and_nothing_else() {
    let Some(folder) = transcripts() else { return };
    for (name, errors, warnings) in KNOWN {
        let stage = Stage::new();
        let file = folder.join(format!("{name}.ndjson"));
        stage.ok(&["import", file.to_str().expect("text"), "-o", "it.reel"]);
        let output = stage.run(&["validate", "it.reel", "--format", "json"], "");
        let report: serde_json::Value = serde_json::from_str(&output.out()).expect("JSON");
        let found = |severity: &str| -> BTreeSet<String> {
            let findings = report["findings"].as_array().expect("findings").iter();
            let of_it = findings.filter(|finding| finding["severity"] == severity);
            of_it.map(|finding| finding["rule"].as_str().expect("a rule").to_owned()).collect()
        };
        let known = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(found("error"), known(errors), "{name}");
        assert_eq!(found("warning"), known(warnings), "{name}");
        assert_eq!(output.code(), i32::from(!errors.is_empty()), "{name}");
    }
}

#[test]
fn every_transcript_is_read_and_shown() {
    let Some(folder) = transcripts() else { return };
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let file = entry.expect("an entry").path();
        if file.extension().is_none_or(|extension| extension != "ndjson") {
            continue;
        }
        let stage = Stage::new();
        stage.ok(&["import", file.to_str().expect("text"), "-o", "it.reel"]);
        let lines = std::fs::read_to_string(&file).expect("text").lines().count();
        let shown = stage.ok(&["show", "--format", "json", "it.reel"]);
        assert_eq!(shown.out().lines().count(), lines, "{}", file.display());
    }
}
