//! Tests with real traffic: `MCPREEL_TRANSCRIPTS` names a folder of recordings.

use super::*;
use crate::protocol::Era;
use crate::wire::sse::{self, Carried};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Returns the folder of transcripts, which are not part of the repository.
fn transcripts() -> PathBuf {
    let folder = std::env::var_os("MCPREEL_TRANSCRIPTS").expect("MCPREEL_TRANSCRIPTS names the folder of transcripts");
    Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)
}

/// Feeds one transcript, in either of the two line formats.
fn check(directory: &Path, name: &str) -> Report {
    let text = std::fs::read_to_string(directory.join(format!("{name}.ndjson"))).expect("readable");
    let mut feed = Feed::new();
    let mut start = None;
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).expect("json");
        let at = match &line["ts"] {
            Value::String(text) => {
                text.parse::<jiff::Timestamp>().map_or(0, |at| i64::try_from(at.as_nanosecond()).unwrap_or(0))
            }
            number => (number.as_f64().unwrap_or(0.0) * 1e9) as i64,
        };
        feed.time = at - *start.get_or_insert(at);
        feed.transcribed(&line);
    }
    feed.reporter.finish()
}

impl Feed {
    fn transcribed(&mut self, line: &Value) {
        let direction = line["direction"].as_str().or_else(|| line["dir"].as_str()).unwrap_or_default();
        let direction = match direction {
            "client_to_server" | "c2s" => Direction::ClientToServer,
            "server_to_client" | "s2c" | "s2c_noise" => Direction::ServerToClient,
            _ => return,
        };
        if let Some(fields) = line["sse"].as_array() {
            let block: String = fields.iter().filter_map(Value::as_str).map(|field| format!("{field}\n")).collect();
            let flags = Flags::toward(direction);
            let block = format!("{block}\n");
            return match sse::carried(block.as_bytes()) {
                Carried::Message(_) => self.event(EventKind::Message, flags, Framing::Sse, block.as_bytes()),
                Carried::Joined(text) => self.event(EventKind::Message, flags, Framing::Whole, &text),
                Carried::Nothing => {}
            };
        }
        let text = match (&line["raw"], &line["text"], &line["msg"]) {
            (Value::String(raw), ..) => raw.clone(),
            (_, Value::String(text), _) => text.clone(),
            (_, _, message) if message.is_object() || message.is_array() => message.to_string(),
            _ => return,
        };
        let of_http = !line["http"].is_null() || !line["conn"].is_null();
        // The body of an HTTP response may be text for people.
        if !of_http || text.starts_with(['{', '[']) {
            self.message(direction, text.as_bytes());
        }
    }
}

fn errors(report: &Report) -> Vec<&Finding> {
    report.findings.iter().filter(|finding| finding.rule.severity == Severity::Error).collect()
}

#[test]
#[ignore = "needs transcripts of other programs; run tests/full.sh"]
fn stock_servers_have_no_errors() {
    let directory = transcripts();
    for name in ["everything-2025-11-25", "filesystem-2025-11-25", "time-2025-11-25"] {
        let report = check(&directory, name);
        assert!(report.messages() > 4, "{name}");
        assert_eq!(errors(&report), Vec::<&Finding>::new(), "{name}");
    }
    for name in ["time-2026-07-28", "pyfixture-2026-07-28", "base-modern-era-python-mcp-2.3.0"] {
        // The client of these transcripts makes mistakes on purpose; the server makes none.
        let report = check(&directory, name);
        assert!(report.messages() > 4, "{name}");
        let servers: BTreeSet<_> = errors(&report)
            .into_iter()
            .filter(|it| it.direction != Some(Direction::ClientToServer))
            .map(|it| it.rule.id)
            .collect();
        // It asks for an elicitation that the client did not declare in its request.
        let genuine = if name == "pyfixture-2026-07-28" { &["input/undeclared"][..] } else { &[] };
        assert_eq!(servers, genuine.iter().copied().collect(), "{name}: {:#?}", report.findings);
        assert_eq!(report.connections[0].era, Some(Era::Modern), "{name}");
    }
}

#[test]
#[ignore = "needs transcripts of other programs; run tests/full.sh"]
fn known_faults_of_real_peers_are_found() {
    let directory = transcripts();
    for (name, faults) in [
        (
            "mcpl-heartbeat-0.1.3",
            &[
                "mcpl/feature-sets-array",
                "mcpl/unlisted-use",
                "method/ping-refused",
                "mcpl/push-disabled-race",
                "mcpl/disabled-set-accepted",
            ][..],
        ),
        (
            "mcpe-core-1.0.0",
            &["stream/noise", "mcpe/capability-missing", "mcpe/no-expiry", "mcpe/expired-before-grant"],
        ),
        (
            "mcpe-core-1.0.0-cron",
            &[
                "stream/noise",
                "mcpe/capability-missing",
                "schema/tool-arguments",
                "mcpe/granted-expired",
                "mcpe/expiry-untold",
                "mcpe/list-status",
            ],
        ),
        (
            "mcpl-agent-framework-host-x-mock",
            &["mcpl/unknown-set", "mcpl/refusal-form", "mcpl/refusal-data", "mcpl/capability-missing"],
        ),
        ("host-ts-sdk-1.32.2", &["mcpl/declared-refused", "hooks/without-client", "reminder/legacy-envelope"]),
        ("host-python-mcp-2.3.0", &["mcpl/undeclared", "mcpe/unknown-subscription", "hooks/two-places"]),
        ("http-everything-2025-11-25", &["era/batch", "pairing/unattributed-error"]),
        ("everything-probed-modern", &["era/legacy-answer"]),
        ("annal-0.7.1", &["hooks/two-places"]),
    ] {
        let report = check(&directory, name);
        let found = ids(&report);
        for fault in faults {
            assert!(found.contains(fault), "{name}: {fault} is not found in {:#?}", report.findings);
        }
    }
}

/// Prints the report of each transcript.
#[test]
#[ignore = "needs transcripts of other programs; prints what each comes to"]
fn print_all() {
    let directory = transcripts();
    let mut names: Vec<_> = std::fs::read_dir(&directory).expect("readable").flatten().collect();
    names.sort_by_key(std::fs::DirEntry::path);
    for entry in names.iter().filter(|entry| entry.path().extension().is_some_and(|end| end == "ndjson")) {
        let path = entry.path();
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let out = format!("{:#}", check(&directory, &name).to_json());
        #[expect(clippy::print_stderr, reason = "that is what it is for")]
        {
            eprintln!("===== {name}\n{out}");
        }
    }
}
