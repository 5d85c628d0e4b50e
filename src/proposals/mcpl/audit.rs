//! Entries of the audit log for MCPL's operations (MCPL 0.4 §13.2): push events, injections, changed responses,
//! inferences, scopes, rollbacks and published messages.
//!
//! A contribution that the host could not use is no success: one that came too late, of a feature set that may not
//! contribute, or without what §10.4 requires.

use super::switches::Switches;
use super::{AFTER_INFERENCE, BEFORE_INFERENCE, DESCRIPTOR, PUSH_EVENT, feature_sets, response_limit};
use crate::proposals::audit::{Auditor, Exchange, OperationEnd, OperationEntry, OperationOutcome};
use crate::proposals::{Observed, Side, declared_at};
use crate::wire::MessageKind;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// Why an operation without a response failed.
const CLOSED: &str = "the connection was closed before the response";
/// The maximum number of feature sets that are added or removed later.
const MAX_CHANGES: usize = 4096;
/// How many inferences that are over are remembered.
const MAX_OVER: usize = 64;

/// The audit of one connection.
#[derive(Debug, Default)]
pub(super) struct McplAuditor {
    switches: Switches,
    added: BTreeMap<String, Value>,
    removed: BTreeSet<String>,
    /// The inferences that are over, the newest last.
    over: VecDeque<String>,
}

impl Auditor for McplAuditor {
    fn observe(&mut self, message: &Observed<'_>) {
        if message.envelope.kind.is_response() && message.envelope.kind != MessageKind::Error {
            return;
        }
        match message.method {
            Some("featureSets/update") => self.switches.update(message.content, message.time),
            Some("featureSets/changed") => self.change(message.content),
            Some(AFTER_INFERENCE) => {
                self.over.extend(named(message.content, "inferenceId"));
                let extra = self.over.len().saturating_sub(MAX_OVER);
                self.over.drain(..extra);
            }
            _ => {}
        }
    }

    fn entries(&self, exchange: &Exchange<'_>) -> Vec<OperationEntry> {
        let (method, params, end) = (exchange.method, exchange.params, exchange.end);
        match method {
            BEFORE_INFERENCE | AFTER_INFERENCE => {
                let mut entries =
                    if method == BEFORE_INFERENCE { injections(params, end) } else { responses(params, end) };
                if let Some((outcome, why)) = self.unused(exchange) {
                    for entry in entries.iter_mut().filter(|entry| entry.outcome == OperationOutcome::Success) {
                        (entry.outcome, entry.reason) = (outcome, Some(why.clone()));
                    }
                }
                entries
            }
            _ => entries(method, params, end),
        }
    }

    fn may_be_ignored(&self, method: &str) -> bool {
        [BEFORE_INFERENCE, AFTER_INFERENCE].contains(&method)
    }
}

impl McplAuditor {
    fn change(&mut self, params: &Value) {
        for set in params["removed"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            self.added.remove(set);
            if self.removed.len() < MAX_CHANGES {
                self.removed.insert(set.to_owned());
            }
        }
        for (set, declared) in feature_sets(&params["added"]) {
            self.removed.remove(&set);
            if self.added.len() < MAX_CHANGES {
                self.added.insert(set, declared);
            }
        }
    }

    /// Why the host cannot have used what a hook returned.
    fn unused(&self, exchange: &Exchange<'_>) -> Option<(OperationOutcome, String)> {
        let OperationEnd::Granted(result) = exchange.end else { return None };
        let took = exchange.latency.unwrap_or_default();
        let what = match exchange.method {
            BEFORE_INFERENCE => "contextHooks.beforeInference",
            _ => "contextHooks.afterInference",
        };
        let limit = response_limit(exchange.method).unwrap_or(Duration::MAX);
        let late =
            |why: &str| Some((OperationOutcome::Timeout, format!("too late, after {} ms: {why}", took.as_millis())));
        let is_over = || self.over.iter().any(|over| exchange.params["inferenceId"] == over.as_str());
        if exchange.is_given_up || exchange.method == BEFORE_INFERENCE && is_over() {
            return late("the host no longer waited");
        }
        if !exchange.is_noted && took > limit {
            return late(&format!("hosts should wait {} s", limit.as_secs()));
        }
        let why = self.wrong_set(result["featureSet"].as_str()?, what, exchange)?;
        Some((OperationOutcome::Failure, why))
    }

    /// Why a feature set may not contribute.
    fn wrong_set(&self, set: &str, uses: &str, exchange: &Exchange<'_>) -> Option<String> {
        let (_, block) = declared_at(&DESCRIPTOR, Side::Server, &exchange.declared.server)?;
        let declared = block.get("featureSets").map(feature_sets);
        let of_set = match self.added.get(set) {
            Some(added) => Some(added),
            None => declared.as_ref().and_then(|sets| sets.get(set)).filter(|_| !self.removed.contains(set)),
        };
        match of_set {
            None if declared.is_some() || !self.added.is_empty() => {
                return Some(format!("the server does not declare the feature set {set:?}"));
            }
            // The host may accept it, and notes if it does not.
            Some(_) if exchange.is_noted => {}
            Some(set) if set["uses"].as_array().is_some_and(|list| list.iter().all(|name| name != uses)) => {
                return Some(format!("its feature set does not list {uses}"));
            }
            _ => {}
        }
        let is_off = self.switches.of(set, exchange.began).is_some_and(|switch| !switch.enabled);
        is_off.then(|| format!("the host has disabled the feature set {set:?}"))
    }
}

/// The log entries for an exchange.
fn entries(method: &str, params: &Value, end: OperationEnd<'_>) -> Vec<OperationEntry> {
    match method {
        PUSH_EVENT => vec![entry("push", params, end, "accepted", word(params, "eventId"))],
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
        OperationEnd::Closed => (OperationOutcome::Failure, Some(CLOSED.to_owned())),
    };
    let inference = named(result, "inferenceId").or_else(|| named(params, "inferenceId"));
    OperationEntry { operation, feature_set: named(params, "featureSet"), inference, about, outcome, reason }
}

/// An error as text: its code, the code's meaning and its message.
fn refusal(error: &Value) -> String {
    let message = word(error, "message");
    let means = error["code"].as_i64().and_then(|code| DESCRIPTOR.error_name(code)).unwrap_or_default();
    let means = if message.to_lowercase().starts_with(means) { "" } else { means };
    let words = [error["code"].to_string(), means.to_owned(), message];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The entry for a hook or an inference, which succeeds if it has a result.
fn whole(operation: &'static str, params: &Value, end: OperationEnd<'_>, about: String) -> OperationEntry {
    let (outcome, reason) = match end {
        OperationEnd::Sent | OperationEnd::Granted(_) => (OperationOutcome::Success, None),
        OperationEnd::Refused(error) => (OperationOutcome::Failure, Some(refusal(error))),
        OperationEnd::Silence => (OperationOutcome::Timeout, None),
        OperationEnd::Closed => (OperationOutcome::Failure, Some(CLOSED.to_owned())),
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
        let mut none = whole("injection", params, end, "no injections".to_owned());
        if let OperationEnd::Granted(result) = end
            && !(result["contextInjections"].is_null() || result["contextInjections"].is_array())
        {
            let why = "contextInjections is not a list".to_owned();
            (none.outcome, none.reason) = (OperationOutcome::Failure, Some(why));
        }
        return vec![none];
    }
    let about = |injection: &Value| {
        let size = injection["content"].to_string().len();
        format!("{} at {}, {size} B", word(injection, "namespace"), word(injection, "position"))
    };
    let entry = |injection: &Value| {
        let entry = whole("injection", params, end, about(injection));
        match misshapen(injection) {
            Some(why) => OperationEntry { outcome: OperationOutcome::Failure, reason: Some(why), ..entry },
            None => entry,
        }
    };
    list.iter().map(entry).collect()
}

/// What is wrong with an injection (MCPL 0.4 §10.4).
fn misshapen(injection: &Value) -> Option<String> {
    let position = injection["position"].as_str();
    if !position.is_some_and(|position| ["system", "beforeUser", "afterUser"].contains(&position)) {
        return Some(format!("its position is {}", position.map_or("missing".to_owned(), |it| format!("{it:?}"))));
    }
    if !injection["namespace"].is_string() {
        return Some("its namespace is missing or not a string".to_owned());
    }
    let content = &injection["content"];
    (!content.is_string() && !content.is_array()).then(|| "its content is missing or of the wrong type".to_owned())
}

/// The entry for a blocking hook after an inference. A notification has none, because it has no result.
fn responses(params: &Value, end: OperationEnd<'_>) -> Vec<OperationEntry> {
    let about = match end {
        OperationEnd::Sent => return Vec::new(),
        OperationEnd::Granted(result) if result.get("modifiedResponse").is_some() => "modified",
        OperationEnd::Granted(_) => "unchanged",
        OperationEnd::Refused(_) | OperationEnd::Silence | OperationEnd::Closed => "",
    };
    let mut entry = whole("response", params, end, about.to_owned());
    if let OperationEnd::Granted(result) = end
        && !matches!(result["modifiedResponse"], Value::Null | Value::String(_))
    {
        let why = "modifiedResponse is not a string, so the answer was not changed".to_owned();
        (entry.outcome, entry.reason) = (OperationOutcome::Failure, Some(why));
    }
    vec![entry]
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
    use crate::proposals::Declared;
    use serde_json::json;

    fn exchange<'a>(method: &'a str, params: &'a Value, end: OperationEnd<'a>, declared: &'a Declared) -> Exchange<'a> {
        let latency = Some(Duration::from_millis(20));
        Exchange { method, params, began: 100, end, latency, is_noted: false, is_given_up: false, declared }
    }

    fn entries(method: &str, params: &Value, end: OperationEnd<'_>) -> Vec<OperationEntry> {
        McplAuditor::default().entries(&exchange(method, params, end, &Declared::default()))
    }

    /// The outcome and the reason of a hook's only contribution.
    fn outcome(auditor: &McplAuditor, exchange: &Exchange<'_>) -> (&'static str, String) {
        let entries = auditor.entries(exchange);
        assert_eq!(entries.len(), 1);
        (entries[0].outcome.name(), entries[0].reason.clone().unwrap_or_default())
    }

    fn declared(sets: &Value) -> Declared {
        Declared { server: json!({"experimental": {"mcpl": {"featureSets": sets}}}), ..Declared::default() }
    }

    #[test]
    fn c12_c13_c16_a_contribution_of_a_set_that_may_not_contribute_is_a_failure() {
        let sets = json!({"m.r": {"uses": ["contextHooks.beforeInference"]}, "m.p": {"uses": ["pushEvents"]}});
        let (declared, params) = (declared(&sets), json!({"inferenceId": "i"}));
        let mut auditor = McplAuditor::default();
        let mut of = |set: &str, began: i64| {
            let result = json!({"featureSet": set, "contextInjections": []});
            let whole = exchange(BEFORE_INFERENCE, &params, OperationEnd::Granted(&result), &declared);
            let found = outcome(&auditor, &Exchange { began, ..whole });
            auditor.switches.update(&json!({"disabled": ["m.r"]}), 200);
            found
        };
        assert_eq!(of("m.r", 100), ("success", String::new()));
        let off = "the host has disabled the feature set \"m.r\"".to_owned();
        assert_eq!((of("m.r", 199).0, of("m.r", 200)), ("success", ("failure", off)));
        assert_eq!(of("m.p", 100), ("failure", "its feature set does not list contextHooks.beforeInference".into()));
        assert_eq!(of("m.x", 100), ("failure", "the server does not declare the feature set \"m.x\"".into()));
        auditor.change(&json!({"added": {"m.x": {"uses": ["contextHooks.beforeInference"]}}, "removed": ["m.p"]}));
        let result = |set: &str| json!({"featureSet": set, "contextInjections": []});
        for (set, wanted) in [("m.x", "success"), ("m.p", "failure")] {
            let result = result(set);
            let whole = exchange(BEFORE_INFERENCE, &params, OperationEnd::Granted(&result), &declared);
            assert_eq!(outcome(&auditor, &whole).0, wanted, "{set}");
        }
    }

    #[test]
    fn c44_an_injection_without_what_it_needs_is_a_failure() {
        let good = json!({"namespace": "n", "position": "system", "content": "x"});
        for (member, value, reason) in [
            ("position", json!("top"), "its position is \"top\""),
            ("position", Value::Null, "its position is missing"),
            ("namespace", json!(7), "its namespace is missing or not a string"),
            ("content", Value::Null, "its content is missing or of the wrong type"),
        ] {
            let mut bad = good.clone();
            bad[member] = value;
            let result = json!({"featureSet": "m.r", "contextInjections": [bad, good]});
            let found = entries(BEFORE_INFERENCE, &json!({}), OperationEnd::Granted(&result));
            assert_eq!((found[0].outcome, found[0].reason.as_deref()), (OperationOutcome::Failure, Some(reason)));
            assert_eq!(found[1].outcome, OperationOutcome::Success);
        }
        let result = json!({"featureSet": "m.r", "contextInjections": {}});
        let found = entries(BEFORE_INFERENCE, &json!({}), OperationEnd::Granted(&result));
        assert_eq!(found[0].reason.as_deref(), Some("contextInjections is not a list"));
        let result = json!({"featureSet": "c.r", "modifiedResponse": 42});
        let found = entries(AFTER_INFERENCE, &json!({}), OperationEnd::Granted(&result));
        assert_eq!((found[0].about.as_str(), found[0].outcome), ("modified", OperationOutcome::Failure));
    }

    #[test]
    fn c49_what_came_too_late_is_a_timeout() {
        let (params, none) = (json!({"inferenceId": "i"}), Declared::default());
        let result = json!({"featureSet": "m.r", "contextInjections": []});
        let timely = exchange(BEFORE_INFERENCE, &params, OperationEnd::Granted(&result), &none);
        let slow = Exchange { latency: Some(Duration::from_secs(6)), ..timely };
        let auditor = McplAuditor::default();
        assert_eq!(outcome(&auditor, &slow), ("timeout", "too late, after 6000 ms: hosts should wait 5 s".into()));
        let noted = Exchange { is_noted: true, ..slow };
        assert_eq!(outcome(&auditor, &noted).0, "success", "the host waited for it");
        let given_up = Exchange { is_given_up: true, ..timely };
        assert_eq!(
            outcome(&auditor, &given_up),
            ("timeout", "too late, after 20 ms: the host no longer waited".into())
        );
        let over = McplAuditor { over: ["i".to_owned()].into(), ..McplAuditor::default() };
        assert_eq!(outcome(&over, &timely).0, "timeout", "the inference is over");
        let after = Exchange { method: AFTER_INFERENCE, ..slow };
        assert_eq!(outcome(&auditor, &after).0, "success");
        assert_eq!(outcome(&over, &Exchange { latency: Some(Duration::from_secs(11)), ..after }).0, "timeout");
    }

    #[test]
    fn c74_a_closed_connection_is_no_timeout() {
        for method in [PUSH_EVENT, BEFORE_INFERENCE, AFTER_INFERENCE, "inference/request", "scope/elevate"] {
            let closed = &entries(method, &json!({}), OperationEnd::Closed)[0];
            assert_eq!(
                (closed.outcome, closed.reason.as_deref()),
                (OperationOutcome::Failure, Some(CLOSED)),
                "{method}"
            );
            assert_eq!(entries(method, &json!({}), OperationEnd::Silence)[0].outcome, OperationOutcome::Timeout);
        }
    }

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
        let error = json!({"code": -32001, "message": "Feature set not enabled"});
        let reported = &entries(PUSH_EVENT, &push, OperationEnd::Refused(&error))[0];
        assert_eq!(reported.reason.as_deref(), Some("-32001 Feature set not enabled"));
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
