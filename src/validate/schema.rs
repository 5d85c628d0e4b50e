//! Checks params and results against their schemas: MCP's own by era, or those of a proposal, which may grant
//! exemptions.

use super::rules;
use super::subject::Message;
use crate::proposals::{self, Exemption, Findings, Proposal, Rule};
use crate::protocol::Era;
use crate::protocol::schema::{self, SchemaViolation};
use crate::wire::MessageKind;
use serde_json::{Map, Value};

/// The maximum number of violations that are reported one by one for a message.
const MAX_VIOLATIONS: usize = 5;

/// Checks the content of a message.
pub(super) fn check(message: &Message<'_>, findings: &mut Findings) {
    let observed = &message.observed;
    let Some(method) = observed.method else { return };
    match observed.envelope.kind {
        MessageKind::Request | MessageKind::Notification => {
            let empty = Value::Object(Map::new());
            let params = if observed.envelope.params.is_some() { observed.content } else { &empty };
            if observed.envelope.params.is_none() && schema::needs_params(method) {
                return findings.note(&rules::PARAMS, observed.seq, format!("{method} has no params"));
            }
            check_content(message, method, "params", params, &rules::PARAMS, findings);
            check_tool_arguments(message, method, findings);
        }
        MessageKind::Result => {
            check_content(message, method, "result", observed.content, &rules::RESULT, findings);
            check_tool_result(message, method, findings);
        }
        _ => {}
    }
}

fn check_content(
    message: &Message<'_>,
    method: &str,
    part: &str,
    value: &Value,
    rule: &'static Rule,
    findings: &mut Findings,
) {
    let seq = message.observed.seq;
    if let Some(proposal) = message.registry.of_method(method) {
        let definition = format!("{method}:{part}");
        return check_proposal(proposal, &definition, value, &format!("/{part}"), rule, seq, findings);
    }
    let mut era = message.era;
    if part == "result" && era == Era::Modern && method != "server/discover" {
        let says = value.get("resultType").is_some();
        findings.check(&rules::LEGACY_ANSWER, seq, says, || format!("the result of {method} has no resultType"));
        if !says {
            era = Era::Legacy;
        }
    }
    if let Some(violations) = schema::check_core(era, message.revision(), (method, part), value) {
        findings.hold(rule);
        if !violations.is_empty() {
            report(&format!("{method}:{part}"), violations, &format!("/{part}"), rule, seq, findings);
        }
    }
}

/// Checks a value against a definition of a proposal, which may exempt violations. `base` is the JSON Pointer to the
/// value in its message.
pub(super) fn check_proposal(
    proposal: &'static dyn Proposal,
    definition: &str,
    value: &Value,
    base: &str,
    rule: &'static Rule,
    seq: u64,
    findings: &mut Findings,
) {
    let Some(violations) = proposal.descriptor().schemas.check(definition, value) else { return };
    findings.hold(rule);
    let mut strict = Vec::new();
    for violation in violations {
        match proposal.exemption(definition, value, &violation) {
            Exemption::None => strict.push(violation),
            Exemption::Instead(other) => {
                let path = format!("{base}{}", violation.place);
                findings.note_at(other, seq, path, at_place(&describe(definition), &violation));
            }
            Exemption::Accepted => {}
        }
    }
    report(definition, strict, base, rule, seq, findings);
}

fn report(
    definition: &str,
    violations: Vec<SchemaViolation>,
    base: &str,
    rule: &'static Rule,
    seq: u64,
    findings: &mut Findings,
) {
    let what = describe(definition);
    let more = violations.len().saturating_sub(MAX_VIOLATIONS);
    for violation in violations.iter().take(MAX_VIOLATIONS) {
        findings.note_at(rule, seq, format!("{base}{}", violation.place), at_place(&what, violation));
    }
    if more > 0 {
        let s = if more == 1 { "" } else { "s" };
        findings.note(rule, seq, format!("{what}: {more} more violation{s} of the schema"));
    }
}

/// Describes the value that a definition is for, such as `the params of tools/call`.
fn describe(definition: &str) -> String {
    if let Some(side) = definition.strip_prefix("capability:") {
        return match side {
            "client" | "server" => format!("the capabilities of the {side}"),
            name => format!("the capability {name}"),
        };
    }
    let (name, part) = definition.rsplit_once(':').unwrap_or((definition, "content"));
    match name.strip_prefix("tool:") {
        Some(tool) => format!("the {part} of the tool {tool}"),
        None => format!("the {part} of {name}"),
    }
}

fn at_place(what: &str, violation: &SchemaViolation) -> String {
    match violation.place.as_str() {
        "" => format!("{what}: {}", violation.reason),
        place => format!("{what}, at {place}: {}", violation.reason),
    }
}

fn check_tool_arguments(message: &Message<'_>, method: &str, findings: &mut Findings) {
    let observed = &message.observed;
    let Some((proposal, tool)) = tool_proposal(message, method, observed.content) else { return };
    let empty = Value::Object(Map::new());
    let arguments = observed.content.get("arguments").unwrap_or(&empty);
    check_proposal(
        proposal,
        &format!("tool:{tool}:arguments"),
        arguments,
        "/params/arguments",
        &rules::TOOL_ARGUMENTS,
        observed.seq,
        findings,
    );
}

fn check_tool_result(message: &Message<'_>, method: &str, findings: &mut Findings) {
    let observed = &message.observed;
    let Some(asked) = observed.request else { return };
    let Some((proposal, tool)) = tool_proposal(message, method, &asked.params) else { return };
    if observed.envelope.tool_error {
        return;
    }
    let seq = observed.seq;
    match proposals::tool_outcome(observed.content) {
        Some(outcome) => {
            let definition = format!("tool:{tool}:result");
            let base = outcome_place(observed.content);
            check_proposal(proposal, &definition, &outcome, base, &rules::TOOL_RESULT, seq, findings);
        }
        None => {
            let definition = format!("tool:{tool}:result");
            let violations = proposal.descriptor().schemas.check(&definition, &Value::Null).unwrap_or_default();
            findings.check(&rules::TOOL_RESULT, seq, violations.is_empty(), || {
                format!("the result of the tool {tool} is not an object")
            });
        }
    }
}

/// Returns where [`proposals::tool_outcome`] finds the object in the message, as far as a JSON Pointer can say it.
fn outcome_place(result: &Value) -> &'static str {
    match (result["structuredContent"].is_object(), result["content"].is_array()) {
        (true, _) => "/result/structuredContent",
        (false, true) => "/result/content",
        (false, false) => "/result",
    }
}

/// Returns the proposal whose tool a `tools/call` with these params calls, and the name of the tool.
fn tool_proposal<'a>(
    message: &Message<'_>,
    method: &str,
    params: &'a Value,
) -> Option<(&'static dyn Proposal, &'a str)> {
    if method != "tools/call" {
        return None;
    }
    let tool = params["name"].as_str()?;
    message.registry.of_tool(tool).map(|proposal| (proposal, tool))
}
