//! Tests of a check on the events of small sessions.

use super::settings::ValidateSection;
use super::*;
use crate::proposals::Registry;
use crate::trace::EventHeader;
use crate::wire::{Direction, Framing};

const HELLO: [&str; 3] = [
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
];
/// Violates `schema/params` at `/params/name`.
const BAD_CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#;
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;

fn settings(json: serde_json::Value) -> Settings {
    let section: ValidateSection = serde_json::from_value(json).expect("a section");
    Settings::new(&section, Registry::built_in()).expect("settings")
}

/// Checks the handshake, the bad call with these flags, and its response.
fn checked(settings: &Settings, baseline: &Baseline, flags: Flags) -> Checked {
    let mut check = Check::new(settings, baseline);
    feed(&mut check, flags);
    check.finish(&mut |_| ())
}

fn feed(check: &mut Check<'_>, flags: Flags) {
    let lines = HELLO.into_iter().chain([BAD_CALL, ANSWER]);
    for (seq, line) in lines.enumerate() {
        let direction = [Direction::ClientToServer, Direction::ServerToClient][usize::from(seq == 1 || seq == 4)];
        let flags = if seq == 3 { flags } else { Flags::default() };
        let header = EventHeader {
            seq: seq as u64 + 100,
            time: seq as i64,
            stream: 0,
            exchange: 0,
            kind: EventKind::Message,
            flags: Flags::toward(direction).with(flags),
            framing: Framing::Lf,
            len: line.len() as u32,
            offset: 0,
            message: None,
        };
        check.observe(&Event { header: &header, payload: line.as_bytes() }, &mut |_| ());
    }
}

fn standings(checked: &Checked) -> Vec<(&str, &str)> {
    checked.findings.iter().map(|found| (found.finding.rule.id, found.standing.name())).collect()
}

#[test]
fn a_finding_has_its_method_its_place_and_its_line() {
    let checked = checked(&settings(serde_json::json!({})), &Baseline::default(), Flags::default());
    let [found] = &checked.findings[..] else { panic!("{:?}", checked.findings) };
    assert_eq!(found.finding.method.as_deref(), Some("tools/call"));
    assert_eq!(found.finding.path.as_deref(), Some("/params/name"));
    assert_eq!((found.finding.seq, found.index), (Some(103), Some(3)));
    let part = found.excerpt.as_ref().expect("an excerpt");
    assert_eq!((part.marked.as_str(), &BAD_CALL[part.span.clone()]), ("\"name\":7", "\"name\":7"));
    assert_eq!((checked.counts.errors, checked.messages), (1, 5));
}

#[test]
fn injected_messages_are_reported_without_counting_unless_the_user_says_otherwise() {
    let run = |what: &str, flags| {
        let settings = settings(serde_json::json!({"injected": what}));
        let checked = checked(&settings, &Baseline::default(), flags);
        (checked.findings.len(), checked.counts.errors, checked.has_failed(&settings))
    };
    assert_eq!(run("report", Flags::INJECTED), (1, 0, false));
    assert_eq!(run("include", Flags::INJECTED), (1, 1, true));
    assert_eq!(run("exclude", Flags::INJECTED), (0, 0, false));
    assert_eq!(run("only", Flags::INJECTED), (1, 1, true));
    assert_eq!(run("only", Flags::default()), (0, 0, false));
}

#[test]
fn what_is_suppressed_or_known_does_not_count() {
    let suppress = serde_json::json!({"suppress": [{"rule": "schema/*", "path": "/params/name", "reason": "bug 7"}]});
    let excused = checked(&settings(suppress), &Baseline::default(), Flags::default());
    assert_eq!(standings(&excused), [("schema/params", "suppressed")]);
    assert_eq!(excused.findings[0].standing.excuse(), Some("bug 7"));
    assert!(excused.identities.is_empty(), "a baseline does not repeat the settings");

    let plain = settings(serde_json::json!({}));
    let reels = |checked| vec![CheckedReel { checked, ..CheckedReel::default() }];
    let first = Run::new(reels(checked(&plain, &Baseline::default(), Flags::default())), &Baseline::default());
    let baseline = Baseline::read(&first.renewed(&Baseline::default()).to_text()).expect("a baseline");
    assert_eq!(baseline.len(), 1);
    let second = Run::new(reels(checked(&plain, &baseline, Flags::default())), &baseline);
    assert_eq!(standings(&second.reels[0].checked), [("schema/params", "baseline")]);
    assert!(!second.has_failed(&plain) && second.stale.is_empty() && second.exceeded.is_empty());

    // A second reel with the same finding has more of it than the baseline.
    let mut both = second.reels;
    let mut check = Check::new(&plain, &baseline).after(&both);
    feed(&mut check, Flags::default());
    both.push(CheckedReel { checked: check.finish(&mut |_| ()), ..CheckedReel::default() });
    let third = Run::new(both, &baseline);
    assert_eq!(standings(&third.reels[1].checked), [("schema/params", "counted")]);
    assert_eq!((third.exceeded[0].known, third.exceeded[0].found, third.has_failed(&plain)), (1, 2, true));
}

#[test]
fn an_entry_is_stale_when_its_rule_was_observed_and_passed() {
    let plain = settings(serde_json::json!({}));
    let baseline = |rule: &str| {
        Baseline::read(&format!(r#"{{"version":1,"findings":[{{"rule":"{rule}","method":"x"}}]}}"#))
            .expect("a baseline")
    };
    let stale = |rule: &str| {
        let baseline = baseline(rule);
        let checked = checked(&plain, &baseline, Flags::default());
        let run = Run::new(vec![CheckedReel { checked, ..CheckedReel::default() }], &baseline);
        run.stale.len()
    };
    assert_eq!(stale("schema/result"), 1, "observed, and passed");
    assert_eq!(stale("schema/params"), 0, "it still fails elsewhere");
    assert_eq!(stale("mcpl/no-such-traffic"), 0, "not observed");
}

#[test]
fn severities_are_the_users() {
    let settings = settings(serde_json::json!({"severity": {"schema/params": "warning"}, "fail-on": "error"}));
    let found = checked(&settings, &Baseline::default(), Flags::default());
    assert_eq!((found.counts.warnings, found.has_failed(&settings)), (1, false));
    let off = self::settings(serde_json::json!({"severity": {"schema/params": "off"}}));
    let found = checked(&off, &Baseline::default(), Flags::default());
    assert!(found.findings.is_empty() && found.violated.contains("schema/params"));
}

#[test]
fn the_json_of_a_run_is_stable() {
    let checked = checked(&settings(serde_json::json!({})), &Baseline::default(), Flags::default());
    let reel = CheckedReel { name: "a.reel".into(), lines: "a.jsonl".into(), began: 0, checked };
    let run = Run { reels: vec![reel], ..Run::default() };
    let json = serde_json::to_value(run.to_json()).expect("serializes");
    let found = &json["findings"][0];
    assert_eq!((&found["reel"], &found["line"], &found["standing"]), (&"a.reel".into(), &5.into(), &"counted".into()));
    assert_eq!(found["span"], serde_json::json!({"start": 56, "end": 64}));
    assert_eq!(json["counts"], serde_json::json!({"error": 1, "warning": 0, "info": 0}));
    assert_eq!(json["reels"][0]["messages"], 5);
    let members: Vec<&str> = json.as_object().expect("an object").keys().map(String::as_str).collect();
    let expected = [
        "counts",
        "notCounted",
        "messages",
        "findings",
        "notKept",
        "connections",
        "moreConnections",
        "damages",
        "reels",
        "stale",
        "exceeded",
    ];
    assert_eq!(members, expected);
}
