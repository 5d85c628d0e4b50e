//! Entries of the audit log for MCPL's operations (MCPL 0.4 §13.2): push events, injections, changed responses,
//! inferences, scopes, rollbacks and published messages.

use super::{AFTER_INFERENCE, BEFORE_INFERENCE, PUSH_EVENT};
use crate::proposals::audit::{OperationEnd, OperationEntry, OperationOutcome};
use serde_json::Value;

/// The log entries for an exchange.
pub(super) fn entries(method: &str, params: &Value, end: OperationEnd<'_>) -> Vec<OperationEntry> {
    match method {
        PUSH_EVENT => vec![entry("push", params, end, "accepted", word(params, "eventId"))],
        BEFORE_INFERENCE => injections(params, end),
        AFTER_INFERENCE => responses(params, end),
        "inference/request" => vec![inference(params, end)],
        "scope/elevate" => {
            let label = params["scope"]["label"].as_str().unwrap_or_default().to_owned();
            vec![entry("scope", params, end, "approved", label)]
        }
        "state/rollback" => vec![entry("rollback", params, end, "success", word(params, "checkpoint"))],
        "channels/publish" => vec![entry("publish", params, end, "delivered", word(params, "channelId"))],
        _ => Vec::new(),
    }
}

fn word(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

fn named(value: &Value, name: &str) -> Option<String> {
    value[name].as_str().map(str::to_owned)
}

/// The entry for an operation whose result contains a flag that says whether it was done.
fn entry(operation: &'static str, params: &Value, end: OperationEnd<'_>, flag: &str, about: String) -> OperationEntry {
    let result = if let OperationEnd::Granted(result) = end { result } else { &Value::Null };
    let (outcome, reason) = match end {
        OperationEnd::Sent => (OperationOutcome::Success, None),
        OperationEnd::Granted(result) if result[flag] == true => (OperationOutcome::Success, None),
        OperationEnd::Granted(result) => {
            let said = named(result, "reason");
            (OperationOutcome::Failure, said.or_else(|| Some(format!("{flag} is {}", result[flag]))))
        }
        OperationEnd::Refused(error) => (OperationOutcome::Failure, Some(refusal(error))),
        OperationEnd::Silence => (OperationOutcome::Timeout, None),
    };
    let inference = named(result, "inferenceId").or_else(|| named(params, "inferenceId"));
    OperationEntry { operation, feature_set: named(params, "featureSet"), inference, about, outcome, reason }
}

/// An error as text: its code, the code's meaning and its message.
fn refusal(error: &Value) -> String {
    let means = error["code"].as_i64().and_then(|code| crate::proposals::Proposal::error_name(&super::Mcpl, code));
    let words = [error["code"].to_string(), means.unwrap_or_default().to_owned(), word(error, "message")];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The entry for a hook or an inference, which succeeds if it has a result.
fn whole(operation: &'static str, params: &Value, end: OperationEnd<'_>, about: String) -> OperationEntry {
    let (outcome, reason) = match end {
        OperationEnd::Sent | OperationEnd::Granted(_) => (OperationOutcome::Success, None),
        OperationEnd::Refused(error) => (OperationOutcome::Failure, Some(refusal(error))),
        OperationEnd::Silence => (OperationOutcome::Timeout, None),
    };
    let set = if let OperationEnd::Granted(result) = end { named(result, "featureSet") } else { None };
    let feature_set = set.or_else(|| named(params, "featureSet"));
    OperationEntry { operation, feature_set, inference: named(params, "inferenceId"), about, outcome, reason }
}

/// One entry per injection, or one for a hook without injections.
fn injections(params: &Value, end: OperationEnd<'_>) -> Vec<OperationEntry> {
    let list = match end {
        OperationEnd::Granted(result) => result["contextInjections"].as_array().cloned().unwrap_or_default(),
        _ => Vec::new(),
    };
    if list.is_empty() {
        return vec![whole("injection", params, end, "no injections".to_owned())];
    }
    let about = |injection: &Value| {
        let size = injection["content"].to_string().len();
        format!("{} at {}, {size} B", word(injection, "namespace"), word(injection, "position"))
    };
    list.iter().map(|injection| whole("injection", params, end, about(injection))).collect()
}

/// The entry for a blocking hook after an inference. A notification has none, because it has no result.
fn responses(params: &Value, end: OperationEnd<'_>) -> Vec<OperationEntry> {
    let about = match end {
        OperationEnd::Sent => return Vec::new(),
        OperationEnd::Granted(result) if result.get("modifiedResponse").is_some() => "modified",
        OperationEnd::Granted(_) => "unchanged",
        OperationEnd::Refused(_) | OperationEnd::Silence => "",
    };
    vec![whole("response", params, end, about.to_owned())]
}

/// The entry for an inference, with its model and usage (MCPL 0.4 §11.5).
fn inference(params: &Value, end: OperationEnd<'_>) -> OperationEntry {
    let about = match end {
        OperationEnd::Granted(result) => {
            let usage = &result["usage"];
            format!("{}, {} + {} tokens", word(result, "model"), usage["inputTokens"], usage["outputTokens"])
        }
        _ => word(params, "conversationId"),
    };
    whole("inference", params, end, about)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn c74_each_operation_reports_its_set_inference_and_outcome() {
        let push = json!({"featureSet": "a.b", "eventId": "e1"});
        let accepted = json!({"accepted": true, "inferenceId": "inf_1"});
        let reported = &entries(PUSH_EVENT, &push, OperationEnd::Granted(&accepted))[0];
        assert_eq!((reported.feature_set.as_deref(), reported.inference.as_deref()), (Some("a.b"), Some("inf_1")));
        assert_eq!(
            (reported.operation, reported.about.as_str(), reported.outcome),
            ("push", "e1", OperationOutcome::Success)
        );
        let duplicate = json!({"accepted": false, "reason": "duplicate"});
        let reported = &entries(PUSH_EVENT, &push, OperationEnd::Granted(&duplicate))[0];
        assert_eq!((reported.outcome, reported.reason.as_deref()), (OperationOutcome::Failure, Some("duplicate")));
        let error = json!({"code": -32001, "message": "off"});
        let reported = &entries(PUSH_EVENT, &push, OperationEnd::Refused(&error))[0];
        assert_eq!(reported.reason.as_deref(), Some("-32001 feature set not enabled off"));
        assert_eq!(entries(PUSH_EVENT, &push, OperationEnd::Silence)[0].outcome, OperationOutcome::Timeout);
    }

    #[test]
    fn c74_a_hook_has_an_entry_for_each_injection_and_one_where_there_is_none() {
        let params = json!({"inferenceId": "inf_2"});
        let one = |position: &str| json!({"namespace": "n", "position": position, "content": "x"});
        let two = json!({"featureSet": "m.r", "contextInjections": [one("system"), one("afterUser")]});
        let reported = entries(BEFORE_INFERENCE, &params, OperationEnd::Granted(&two));
        assert_eq!(reported.len(), 2);
        assert_eq!(
            (reported[1].about.as_str(), reported[1].feature_set.as_deref()),
            ("n at afterUser, 3 B", Some("m.r"))
        );
        let none = entries(BEFORE_INFERENCE, &params, OperationEnd::Silence);
        assert_eq!(
            (none.len(), none[0].outcome, none[0].inference.as_deref()),
            (1, OperationOutcome::Timeout, Some("inf_2"))
        );
        assert!(entries(AFTER_INFERENCE, &params, OperationEnd::Sent).is_empty());
        let changed = json!({"featureSet": "c.r", "modifiedResponse": ""});
        assert_eq!(entries(AFTER_INFERENCE, &params, OperationEnd::Granted(&changed))[0].about, "modified");
    }
}
