//! An event before and after it has its id and time (§4).

use super::fits;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// What is told of an event that is to be published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Draft {
    /// Its hierarchical type.
    #[serde(rename = "type")]
    pub event_type: String,
    /// Its payload, an object.
    #[serde(default)]
    pub data: Map<String, Value>,
    /// `low`, `normal`, `high` or `critical`.
    #[serde(default = "normal")]
    pub priority: String,
    /// Labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What its source calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_event_id: Option<String>,
}

fn normal() -> String {
    "normal".to_owned()
}

/// An event, ready to go out.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// What it was made of.
    pub draft: Draft,
    /// Its id.
    pub id: String,
    /// As it is sent.
    pub value: Value,
    /// The length of that as text.
    pub bytes: usize,
}

impl Draft {
    /// The event.
    ///
    /// # Errors
    /// What is against the proposal, as a sentence fragment.
    pub fn event(self, id: String, timestamp: &str) -> Result<Event, String> {
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
