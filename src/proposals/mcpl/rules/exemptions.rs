//! Deviations from the schema that real peers are known for. They are reported under a rule of their own, or accepted.

use super::*;
use crate::proposals::Exemption;
use crate::protocol::schema::SchemaViolation;

/// What to do about a violation of the schema.
pub(crate) fn exemption(definition: &str, value: &Value, violation: &SchemaViolation) -> Exemption {
    let place = violation.place.as_str();
    let at = value.pointer(place).unwrap_or(&Value::Null);
    let rule = match definition {
        "capability:client" | "capability:server" => match capability_exemption(place, at) {
            Some(exemption) => return exemption,
            None => return Exemption::None,
        },
        "featureSets/changed:params" if is_use(place) && at.is_string() => &UNKNOWN_USE,
        "context/beforeInference:params" | "context/afterInference:params" if place == "/featureSet" => &HOOK_SET,
        // The schema has nothing else to say about a refusal as a whole.
        "push/event:result" if place.is_empty() && at["accepted"] == false => &REFUSAL_REASON,
        "scope/elevate:result" if place.is_empty() && at["approved"] == false => &REFUSAL_REASON,
        "inference/request:params" if place.ends_with("/content") && at.is_array() => &CONTENT_BLOCKS,
        "push/event:params" | "channels/publish:params" | "channels/incoming:params"
            if place.ends_with("/content") && at.is_string() =>
        {
            &CONTENT_STRING
        }
        _ => match block_exemption(at) {
            Some(rule) => rule,
            None => return Exemption::None,
        },
    };
    Exemption::Instead(rule)
}

fn capability_exemption(place: &str, at: &Value) -> Option<Exemption> {
    match (place, at) {
        ("/featureSets", Value::Array(_)) => Some(Exemption::Instead(&SETS_ARRAY)),
        ("/channels", Value::Bool(_)) => Some(Exemption::Accepted),
        ("/contextHooks/afterInference", Value::Bool(_)) => Some(Exemption::Instead(&AFTER_FLAG)),
        _ if is_use(place) && at.is_string() => Some(Exemption::Instead(&UNKNOWN_USE)),
        _ => None,
    }
}

fn is_use(place: &str) -> bool {
    place.rsplit_once('/').is_some_and(|(before, _)| before.ends_with("/uses"))
}

/// The rule for a content block that is almost in MCPL's form.
fn block_exemption(block: &Value) -> Option<&'static crate::proposals::Rule> {
    let lacks = |name: &str| block.get(name).is_none();
    match block["type"].as_str()? {
        "image" | "audio" if block["data"].is_string() && lacks("mimeType") && lacks("uri") => Some(&MEDIA_TYPE),
        "resource" if block["resource"]["uri"].is_string() && lacks("uri") => Some(&MCP_RESOURCE),
        "resource_link" if block["uri"].is_string() => Some(&MCP_RESOURCE),
        _ => None,
    }
}
