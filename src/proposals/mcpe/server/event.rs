//! Events before and after they get an id and a timestamp (MCPE 2025-01-01 §4).

use super::fits;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// An event to publish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Draft {
    /// The hierarchical type.
    #[serde(rename = "type")]
    pub event_type: String,
    /// The payload, an object.
    #[serde(default)]
    pub data: Map<String, Value>,
    /// `low`, `normal`, `high` or `critical`.
    #[serde(default = "normal")]
    pub priority: String,
    /// The tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The id that the event has at its source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_event_id: Option<String>,
    /// The id, if it has one already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// When it happened, in ISO 8601, if that is not now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
}

fn normal() -> String {
    "normal".to_owned()
}

/// An event that can be sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    /// What it was made from.
    pub draft: Draft,
    /// The id.
    pub id: String,
    /// The event as it is sent.
    pub value: Value,
    /// The length of `value` as JSON, in bytes.
    pub bytes: usize,
}

impl Draft {
    /// Makes an event, with this id and timestamp unless it has its own.
    ///
    /// # Errors
    /// What does not conform to MCPE, as a phrase.
    pub(crate) fn event(self, id: String, timestamp: &str) -> Result<Event, String> {
        let id = self.id.clone().unwrap_or(id);
        let timestamp = self.timestamp.as_deref().unwrap_or(timestamp);
        let mut metadata = json!({"timestamp": timestamp, "priority": self.priority});
        if let Some(source) = &self.source_event_id {
            metadata["sourceEventId"] = json!(source);
        }
        if !self.tags.is_empty() {
            metadata["tags"] = json!(self.tags);
        }
        let value = json!({"id": id, "type": self.event_type, "data": self.data, "metadata": metadata});
        fits("Event", &value)?;
        if self.event_type.is_empty() {
            return Err("an event needs a type".to_owned());
        }
        let bytes = value.to_string().len();
        Ok(Event { draft: self, id, value, bytes })
    }
}
