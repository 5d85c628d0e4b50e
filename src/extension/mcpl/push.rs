//! A push event (seed 002 §9): its params, and what the host's answer means.
//!
//! Never: ids of requests, clocks (the timestamp is given), printing.

use crate::protocol::errors;
use crate::wire::{Envelope, MessageKind};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A push event before it has its time (C37). What is left out stays out of the message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Draft {
    /// What happened, for the model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// More content blocks: images, audio, resources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<Value>,
    /// The event's stable id, the same in a retry (C40).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    /// The feature set in whose name it goes out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature_set: Option<String>,
    /// Where it is from: an object of the server's making.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Value>,
}

impl Draft {
    /// The params of `push/event` (§9.2); `timestamp` is ISO 8601.
    pub fn params(&self, timestamp: &str) -> Value {
        let mut params = json!({"featureSet": self.feature_set, "eventId": self.event_id, "timestamp": timestamp});
        if let Some(origin) = &self.origin {
            params["origin"] = origin.clone();
        }
        let text = (!self.text.is_empty()).then(|| json!({"type": "text", "text": self.text}));
        let content: Vec<Value> = text.into_iter().chain(self.content.iter().cloned()).collect();
        params["payload"] = json!({"content": content});
        params
    }
}

/// What the host makes of a pushed event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the host took it; `None` where it did not say.
    pub accepted: Option<bool>,
    /// The inference that it started (C41).
    pub inference_id: Option<String>,
    /// Why it was not taken: the result's reason or the error's message.
    pub reason: Option<String>,
    /// The error's code, where it was answered with one.
    pub code: Option<i64>,
    /// What the code means for a push event.
    pub code_name: Option<&'static str>,
    /// How the answer differs from the text, as sentences.
    pub deviations: Vec<String>,
}

/// What a code means in answer to `push/event`: numbers collide, so they are read by their context (X13; Appendix A).
pub fn code_name(code: i64) -> Option<&'static str> {
    match code {
        -32001 => Some("feature set not enabled"),
        -32002 => Some("capability denied (0.5)"),
        -32003 => Some("unknown feature set"),
        _ => errors::name(code),
    }
}

/// Reads the answer to a push event (C38, C14).
pub fn judge(answer: &Envelope<'_>) -> Verdict {
    let content: Value = answer.content().and_then(|text| serde_json::from_slice(text).ok()).unwrap_or(Value::Null);
    match answer.kind {
        MessageKind::Result => Verdict::of_result(&content),
        MessageKind::Error => Verdict::of_error(&content),
        _ => Verdict { deviations: vec!["this is not an answer".to_owned()], ..Verdict::default() },
    }
}

impl Verdict {
    /// Reads a result.
    pub fn of_result(result: &Value) -> Self {
        let mut verdict = Self {
            accepted: result["accepted"].as_bool(),
            inference_id: result["inferenceId"].as_str().map(str::to_owned),
            reason: result["reason"].as_str().map(str::to_owned),
            ..Verdict::default()
        };
        let given = |name: &str| result.get(name).is_some();
        let mut deviate = |condition: bool, what: &str| {
            if condition {
                verdict.deviations.push(what.to_owned());
            }
        };
        deviate(!result.is_object(), "the result is not an object");
        deviate(result.is_object() && !given("accepted"), "the result does not say whether it is accepted");
        deviate(given("accepted") && !result["accepted"].is_boolean(), "accepted is not a boolean");
        deviate(
            result["accepted"] == Value::Bool(false) && !given("reason"),
            "accepted is false and no reason is given",
        );
        deviate(
            result["accepted"] == Value::Bool(false) && given("inferenceId"),
            "accepted is false, yet an inference is named",
        );
        deviate(given("inferenceId") && !result["inferenceId"].is_string(), "inferenceId is not a string");
        deviate(given("reason") && !result["reason"].is_string(), "reason is not a string");
        verdict
    }

    fn of_error(error: &Value) -> Self {
        let code = error["code"].as_i64();
        let mut deviations = Vec::new();
        if code.is_none() {
            deviations.push("the error has no integer code".to_owned());
        }
        if !error["message"].is_string() {
            deviations.push("the error has no message".to_owned());
        }
        let data = &error["data"];
        if code == Some(-32001) && !(data["featureSet"].is_string() && data["canEnable"].is_boolean()) {
            deviations.push("the error's data lacks featureSet or canEnable".to_owned());
        }
        Self {
            reason: error["message"].as_str().map(str::to_owned),
            code,
            code_name: code.and_then(code_name),
            deviations,
            ..Verdict::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(text: &str) -> Verdict {
        judge(&Envelope::scan(text.as_bytes()))
    }

    #[test]
    fn c37_params_fit_the_schema() {
        let mut draft = Draft {
            text: "New commit".to_owned(),
            event_id: Some("evt_1".to_owned()),
            feature_set: Some("gitlab.notifications".to_owned()),
            origin: Some(json!({"server": "gitlab"})),
            ..Draft::default()
        };
        let schemas = &super::super::SCHEMAS;
        let params = draft.params("2026-01-23T10:30:00Z");
        assert_eq!(schemas.check("push/event:params", &params), Some(vec![]));
        assert_eq!(
            params.to_string(),
            concat!(
                r#"{"featureSet":"gitlab.notifications","eventId":"evt_1","timestamp":"2026-01-23T10:30:00Z","#,
                r#""origin":{"server":"gitlab"},"payload":{"content":[{"type":"text","text":"New commit"}]}}"#
            )
        );
        draft.origin = None;
        let params = draft.params("2026-01-23T10:30:00Z");
        assert_eq!(schemas.check("push/event:params", &params), Some(vec![]));
        assert!(params.get("origin").is_none());
    }

    #[test]
    fn c38_an_answer_is_judged() {
        let taken = judged(r#"{"jsonrpc":"2.0","id":1,"result":{"accepted":true,"inferenceId":"inf_xyz"}}"#);
        assert!(taken.accepted == Some(true) && taken.deviations.is_empty());
        assert_eq!(taken.inference_id.as_deref(), Some("inf_xyz"));
        let refused = judged(r#"{"id":1,"result":{"accepted":false}}"#);
        assert_eq!(refused.accepted, Some(false));
        assert_eq!(refused.deviations, ["accepted is false and no reason is given"]);
        let duplicate = judged(r#"{"id":1,"result":{"accepted":false,"reason":"duplicate"}}"#);
        assert!(duplicate.deviations.is_empty());
        assert_eq!(judged(r#"{"id":1,"result":{}}"#).deviations.len(), 1);
        assert_eq!(judged(r#"{"id":1,"result":null}"#).deviations, ["the result is not an object"]);
        assert_eq!(judged(r#"{"id":1,"result":{"accepted":"yes"}}"#).deviations, ["accepted is not a boolean"]);
    }

    #[test]
    fn c14_codes_are_named_by_context() {
        let disabled =
            judged(r#"{"id":1,"error":{"code":-32001,"message":"no","data":{"featureSet":"a.b","canEnable":true}}}"#);
        assert_eq!(disabled.code_name, Some("feature set not enabled"));
        assert!(disabled.deviations.is_empty() && disabled.accepted.is_none());
        assert_eq!(disabled.reason.as_deref(), Some("no"));
        assert_eq!(judged(r#"{"id":1,"error":{"code":-32001,"message":"no"}}"#).deviations.len(), 1);
        let unknown = judged(r#"{"id":1,"error":{"code":-32003,"message":"Unknown feature set"}}"#);
        assert_eq!(unknown.code_name, Some("unknown feature set"));
        assert_eq!(judged(r#"{"id":1,"error":{"code":-32601,"message":"x"}}"#).code_name, Some("method not found"));
    }
}
