//! SARIF 2.1.0, which code hosts show next to the lines of a file.

use super::{Case, CaseVerdict, Location, Problem, Results, RuleHelp};
use crate::render::text;
use serde_json::{Map, Value, json};
use std::fmt::{self, Write};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Writes one run with all results.
pub(super) fn write(results: &Results, out: &mut impl Write) -> fmt::Result {
    writeln!(out, "{}", text::json(&log(results)))
}

fn log(results: &Results) -> Value {
    let rules: Vec<Value> = results.rules.iter().map(rule).collect();
    let (broken, found): (Vec<_>, Vec<_>) =
        results.problems().partition(|(case, _)| case.verdict == CaseVerdict::Broken);
    let found = found.into_iter().map(|(case, problem)| result(case, problem, &results.rules));
    let found: Vec<Value> = found.collect();
    let driver = json!({
        "name": "mcpreel",
        "version": env!("CARGO_PKG_VERSION"),
        "rules": rules,
    });
    let notes = results.notes.iter().map(|note| json!({"level": "note", "message": {"text": note}}));
    let failures = broken.iter().map(|(case, problem)| {
        let text = problem.details.iter().fold(problem.message.clone(), |text, more| format!("{text}\n{more}"));
        json!({"level": "error", "message": {"text": format!("{}: {text}", case.name)}})
    });
    let notifications: Vec<Value> = failures.chain(notes).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": driver},
            "columnKind": "unicodeCodePoints",
            "invocations": [{"executionSuccessful": broken.is_empty(), "toolExecutionNotifications": notifications}],
            "results": found,
        }],
    })
}

fn rule(rule: &RuleHelp) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "help": {"text": rule.help},
        "defaultConfiguration": {"level": rule.level.name()},
    })
}

fn result(case: &Case, problem: &Problem, rules: &[RuleHelp]) -> Value {
    let mut result = Map::new();
    result.insert("ruleId".into(), case.name.clone().into());
    if let Some(index) = rules.iter().position(|rule| rule.id == case.name) {
        result.insert("ruleIndex".into(), index.into());
    }
    result.insert("level".into(), problem.level.name().into());
    result.insert("message".into(), json!({"text": problem.message}));
    if let Some(place) = &problem.location {
        result.insert("locations".into(), json!([location(place)]));
    }
    if let Some(text) = &problem.fingerprint {
        result.insert("partialFingerprints".into(), json!({"mcpreel/v1": text}));
    }
    if let Some(why) = &problem.excused {
        result.insert("suppressions".into(), json!([{"kind": "external", "justification": why}]));
    }
    Value::Object(result)
}

fn location(place: &Location) -> Value {
    let mut physical = json!({"artifactLocation": {"uri": uri(&place.file)}});
    if place.line > 0 {
        let mut region = json!({"startLine": place.line});
        if let Some(columns) = &place.columns {
            region["startColumn"] = columns.start.into();
            region["endColumn"] = columns.end.into();
        }
        if let Some(snippet) = &place.snippet {
            region["snippet"] = json!({"text": snippet});
        }
        physical["region"] = region;
    }
    let mut location = json!({"physicalLocation": physical});
    if !place.path.is_empty() {
        location["logicalLocations"] = json!([{"fullyQualifiedName": place.path, "kind": "member"}]);
    }
    location
}

/// A path as a URI reference: absolute paths as `file:` URIs, everything else relative.
fn uri(path: &str) -> String {
    let mut out = String::from(if path.starts_with('/') { "file://" } else { "" });
    // The first segment of a relative reference must not look like a scheme.
    if !path.starts_with(['/', '.']) && path.split('/').next().is_some_and(|first| first.contains(':')) {
        out.push_str("./");
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'+' | b'@' | b':' | b'=' => {
                out.push(char::from(byte));
            }
            other => {
                let _ = write!(out, "%{other:02X}");
            }
        }
    }
    out
}
