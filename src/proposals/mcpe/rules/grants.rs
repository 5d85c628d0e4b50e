//! Whether a subscription is granted as it was asked for, and with a schedule that exists.

use super::*;
use crate::proposals::mcpe::cron::{Schedule, zone};
use crate::proposals::timestamp;
use serde_json::json;

/// Checks the members of a granted subscription against those that the client gave. A server may leave out members of
/// its answer, and add members to `delivery`.
pub(super) fn check_as_asked(seq: u64, arguments: &Value, outcome: &Value, findings: &mut Findings) {
    for member in ["filter", "delivery", "expiresAt"] {
        let (Some(asked), Some(granted)) = (arguments.get(member), outcome.get(member)) else { continue };
        let same = match member {
            "filter" => is_same_filter(asked, granted),
            _ => is_within(asked, granted),
        };
        findings.check(&GRANTED_OTHERWISE, seq, same, || {
            format!("the client asked for the {member} {asked}, and the server granted {granted}")
        });
    }
}

/// A filter without a member, with an empty one, or with `*` lets everything pass.
fn is_same_filter(asked: &Value, granted: &Value) -> bool {
    let words = |filter: &Value, member: &str| {
        let list = filter[member].as_array().filter(|list| !list.iter().any(|word| word == "*"));
        list.cloned().unwrap_or_default()
    };
    ["eventTypes", "tags", "priority"].iter().all(|member| has_same(&words(asked, member), &words(granted, member)))
}

fn has_same(one: &[Value], other: &[Value]) -> bool {
    one.iter().all(|item| other.contains(item)) && other.iter().all(|item| one.contains(item))
}

/// Whether everything that was asked for is granted: lists in any order, times in any notation.
fn is_within(asked: &Value, granted: &Value) -> bool {
    match (asked, granted) {
        (Value::Object(asked), Value::Object(_)) => {
            asked.iter().all(|(name, value)| granted.get(name).is_some_and(|granted| is_within(value, granted)))
        }
        (Value::Array(asked), Value::Array(granted)) => has_same(asked, granted),
        (Value::String(asked), Value::String(granted)) => {
            let at = timestamp::instant(asked);
            asked == granted || at.is_some() && at == timestamp::instant(granted)
        }
        (Value::Number(asked), Value::Number(granted)) => asked.as_f64() == granted.as_f64(),
        _ => asked == granted,
    }
}

/// Checks that the cron expression and the time zones of a granted delivery exist.
pub(super) fn check_schedule(seq: u64, delivery: &Value, findings: &mut Findings) {
    let (cron, scheduled) = (&delivery["cronSchedule"], &delivery["scheduledDelivery"]);
    if let Some(expression) = cron["expression"].as_str() {
        let read = Schedule::read(expression, cron["timezone"].as_str());
        findings.check(&SCHEDULE_INVALID, seq, read.is_ok(), || format!("the server granted the schedule {cron}"));
    }
    if let Some(name) = scheduled["timezone"].as_str() {
        let known = zone(Some(name)).is_ok();
        findings.check(&SCHEDULE_INVALID, seq, known, || format!("the server granted the time zone {}", json!(name)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e7_the_same_may_be_written_otherwise() {
        for (asked, granted, same) in [
            (json!({"eventTypes": ["a", "b"]}), json!({"eventTypes": ["b", "a"], "tags": []}), true),
            (json!({"eventTypes": ["*"]}), json!({}), true),
            (json!({"eventTypes": ["a"]}), json!({}), false),
            (json!({}), json!({"priority": ["high"]}), false),
        ] {
            assert_eq!(is_same_filter(&asked, &granted), same, "{asked} {granted}");
        }
        for (asked, granted, same) in [
            (json!("2027-01-01T00:00:00Z"), json!("2027-01-01T01:00:00.000+01:00"), true),
            (json!("2027-01-01T00:00:00Z"), json!("2027-01-02T00:00:00Z"), false),
            (json!({"channels": ["a", "b"], "x": 7}), json!({"channels": ["b", "a"], "x": 7.0, "y": 1}), true),
            (json!({"cronSchedule": {"expression": "1"}}), json!({"cronSchedule": {}}), false),
            (json!(null), json!("2027-01-01T00:00:00Z"), false),
        ] {
            assert_eq!(is_within(&asked, &granted), same, "{asked} {granted}");
        }
    }
}
