//! Checks the JSON-RPC envelope of one message and the validity of its JSON.

use super::classify::Text;
use super::parse::Unparsed;
use super::rules;
use crate::proposals::{Findings, Rule};
use crate::protocol::errors;
use crate::wire::{Envelope, Fault, MessageKind, json};
use serde_json::Value;

/// Returns the rule that a fault breaks. `pairing` reports errors without an id.
fn rule_of(fault: Fault) -> Option<&'static Rule> {
    Some(match fault {
        Fault::MissingVersion | Fault::WrongVersion => &rules::VERSION,
        Fault::NullId => &rules::NULL_ID,
        Fault::OddId => &rules::ODD_ID,
        Fault::DuplicateMember => &rules::DUPLICATE_MEMBER,
        Fault::ResultAndError | Fault::MethodAndResponse => &rules::MIXED,
        Fault::OddMethod => &rules::ODD_METHOD,
        Fault::MissingId => &rules::MISSING_ID,
        Fault::OddParams => &rules::ODD_PARAMS,
        Fault::TrailingBytes | Fault::Broken => return None,
    })
}

/// The rules about faults, and those that a text keeps that can be parsed.
static FAULTLESS: [&Rule; 8] = [
    &rules::VERSION,
    &rules::NULL_ID,
    &rules::ODD_ID,
    &rules::DUPLICATE_MEMBER,
    &rules::MIXED,
    &rules::ODD_METHOD,
    &rules::MISSING_ID,
    &rules::ODD_PARAMS,
];
static READABLE: [&Rule; 3] = [&rules::MALFORMED, &rules::ENCODING, &rules::UNREPRESENTABLE];

fn check_faults(seq: u64, envelope: &Envelope<'_>, findings: &mut Findings) {
    if envelope.faults.is_empty() {
        return findings.hold_all(&FAULTLESS);
    }
    let counts = |fault: &Fault| {
        let unnamed_error = *fault == Fault::MissingId && envelope.kind == MessageKind::Error;
        envelope.faults.contains(*fault) && !unnamed_error
    };
    for rule in FAULTLESS {
        let mut broken = Fault::ALL.into_iter().filter(counts).filter(|fault| rule_of(*fault) == Some(rule)).peekable();
        if broken.peek().is_none() {
            findings.hold(rule);
        }
        broken.for_each(|fault| findings.note(rule, seq, fault.phrase()));
    }
}

/// Checks the envelope. Returns the message as a value, if it is valid JSON.
pub(super) fn check<'a>(seq: u64, text: &'a Text<'_>, findings: &mut Findings) -> Option<&'a Value> {
    let Text { bytes, envelope, parsed } = text;
    check_faults(seq, envelope, findings);
    let parsed = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            let (rule, reason) = match (json::check(bytes), error) {
                (Ok(()), Unparsed::TooLarge(_)) => {
                    (&rules::NOT_CHECKED, format!("only the envelope was checked: {error}"))
                }
                (Ok(()), Unparsed::Invalid(_)) => (&rules::UNREPRESENTABLE, error.to_string()),
                (Err(reason), _) if std::str::from_utf8(bytes).is_err() => (&rules::ENCODING, reason),
                (Err(reason), _) => (&rules::MALFORMED, reason),
            };
            findings.note(rule, seq, reason);
            return None;
        }
    };
    if let Some(error) = &parsed.unrepresentable {
        findings.note(&rules::UNREPRESENTABLE, seq, error.to_string());
    } else {
        findings.hold_all(&READABLE);
        findings.check(&rules::DUPLICATE_KEY, seq, parsed.duplicates.is_empty(), || {
            parsed.duplicates.join(", ") + ": more than one member of this name"
        });
    }
    if envelope.kind == MessageKind::Error {
        let is_null = envelope.id.is_some_and(|id| id.is_null());
        let error = &parsed.value["error"];
        // JSON-RPC 2.0 §5 requires null if the id could not be read, and MCP does not speak of that case.
        let unreadable = matches!(error["code"].as_i64(), Some(errors::PARSE_ERROR | errors::INVALID_REQUEST));
        findings.check(&rules::ERROR_ID, seq, !is_null || unreadable, || {
            format!("the id of the error {} is null", error["code"])
        });
        let is_whole = is_integer(&error["code"]) && error["message"].is_string();
        findings.check(&rules::ERROR_OBJECT, seq, is_whole, || format!("the error object is {error}"));
    }
    Some(&parsed.value)
}

/// Returns whether a number is an integer, as JSON Schema sees it: `7.0` is one.
fn is_integer(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| number.fract() == 0.0)
}
