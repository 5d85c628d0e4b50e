//! The params of a push event (MCPL 0.4 §9.2).
//!
//! It must never choose the ids of requests, read clocks (the timestamp is an argument) or print.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A push event before it is complete (MCPL 0.4 §9.2). Members without a value are left out of the message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Draft {
    /// What happened, for the model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Further content blocks: images, audio, resources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<Value>,
    /// The stable id of the event, which stays the same when the event is sent again (MCPL 0.4 §9.4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    /// The feature set to which the event belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature_set: Option<String>,
    /// Where the event comes from. The server chooses the object's members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Value>,
    /// When it happened, in ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
}

impl Draft {
    /// The params of `push/event` (MCPL 0.4 §9.2). `timestamp` is in ISO 8601.
    pub(crate) fn params(&self, timestamp: &str) -> Value {
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
