//! Which recorded requests may change or destroy something on the server's side.

use super::conversation::{Conversation, Entry};
use crate::wire::{Envelope, json};
use serde_json::Value;
use std::collections::HashMap;

/// What a server said about a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Annotations {
    /// `readOnlyHint` is true.
    pub is_read_only: bool,
    /// `destructiveHint` is true, and the tool is not read-only.
    pub is_destructive: bool,
}

/// Methods that change nothing on the server's side, other than the session itself.
const READING: &[&str] = &[
    "completion/complete",
    "initialize",
    "logging/setLevel",
    "notifications/cancelled",
    "notifications/initialized",
    "notifications/progress",
    "notifications/roots/list_changed",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "server/discover",
    "subscriptions/listen",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    "tools/list",
];

/// Returns the annotations of each tool that a recorded `tools/list` names.
pub(super) fn annotations(conversation: &Conversation) -> HashMap<String, Annotations> {
    let listings = conversation.of_client().filter(|entry| entry.is("tools/list"));
    let results = listings.filter_map(|entry| conversation.answer_of(entry));
    results.flat_map(tools).collect()
}

fn tools(answer: &Entry) -> Vec<(String, Annotations)> {
    let result = Envelope::scan(answer.body()).result.unwrap_or_default();
    let listed = json::value_of(result);
    let tools = listed["tools"].as_array().cloned().unwrap_or_default();
    let about = |tool: &Value| {
        let hint = |name: &str| tool["annotations"][name] == Value::Bool(true);
        let is_read_only = hint("readOnlyHint");
        Some((
            tool["name"].as_str()?.to_owned(),
            Annotations { is_read_only, is_destructive: hint("destructiveHint") && !is_read_only },
        ))
    };
    tools.iter().filter_map(about).collect()
}

/// Returns the tool that an entry calls.
pub(super) fn tool_of(entry: &Entry) -> Option<String> {
    if !entry.is("tools/call") {
        return None;
    }
    json::str_member(entry.content()?, "name").map(std::borrow::Cow::into_owned)
}

/// Returns whether a message of the client only reads.
pub(super) fn only_reads(entry: &Entry, tools: &HashMap<String, Annotations>) -> bool {
    match tool_of(entry) {
        Some(tool) => tools.get(&tool).is_some_and(|about| about.is_read_only),
        None => entry.method.as_deref().is_some_and(|method| READING.contains(&method)),
    }
}
