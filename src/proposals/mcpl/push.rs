//! A push event (seed 002 §9): its params.
//!
//! Never: ids of requests, clocks (the timestamp is given), printing.

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
