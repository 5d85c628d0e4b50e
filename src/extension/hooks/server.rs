//! The server's side: declares hooks for those events that the client lists, where the client listed them.

use super::DESCRIPTOR;
use crate::extension::{Declared, Side};
use serde_json::{Value, json};

/// A hook that the server would declare.
#[derive(Clone, Debug, PartialEq)]
pub struct Hook {
    /// The event it is for.
    pub event: &'static str,
    /// The rest of the declaration: matcher, context or context_tool with its arguments, priority.
    pub declaration: Value,
}

/// What to declare, and where: the path below `capabilities` and the value there.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// The place at which the client declared its own side (Capability negotiation; D7).
    pub path: &'static [&'static str],
    /// `{"declarations": [...]}`.
    pub value: Value,
}

/// Reads the client's `supported_events` and keeps the hooks for those. `None` where the client has no `hooks`: then
/// the field is left out altogether (Capability negotiation).
pub fn negotiate(client_capabilities: &Value, hooks: &[Hook]) -> Option<Declaration> {
    let declared = Declared { client: client_capabilities.clone(), ..Declared::default() };
    let (place, client) = declared.find(&DESCRIPTOR, Side::Client)?;
    let listed = client.get("supported_events").and_then(Value::as_array)?;
    let declarations: Vec<Value> = hooks
        .iter()
        .filter(|hook| listed.iter().any(|event| event.as_str() == Some(hook.event)))
        .map(Hook::to_value)
        .collect();
    Some(Declaration { path: place.path, value: json!({"declarations": declarations}) })
}

impl Hook {
    fn to_value(&self) -> Value {
        let mut all = json!({"event": self.event});
        if let (Some(all), Value::Object(rest)) = (all.as_object_mut(), &self.declaration) {
            all.extend(rest.clone());
        }
        all
    }
}

/// The hooks of a server with memories and notes: look up the past at the start, nudge after a note, ask for what was
/// learned at the end. `search` and `note` are the names of its tools.
pub fn memory_hooks(search: &str, note: &str) -> Vec<Hook> {
    vec![
        Hook {
            event: "session_start",
            declaration: json!({
                "context_tool": search,
                "context_tool_args": {"query": "{project_name} decisions, schema and preferences", "limit": 3},
                "priority": "important",
            }),
        },
        Hook {
            event: "post_tool_use",
            declaration: json!({
                // Hosts match against the bare name or against `mcp__SERVER__TOOL` (D18): the glob takes both.
                "matcher": {"tool_name": format!("*{note}")},
                "context": "A note was just saved with {tool_name}. If it holds beyond this session, `remember` it.",
                "priority": "suggestion",
            }),
        },
        Hook {
            event: "session_end",
            declaration: json!({
                "context": "This session is ending. `remember` what took effort to find out.",
                "priority": "suggestion",
            }),
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::super::SCHEMAS;
    use super::*;

    #[test]
    fn only_listed_events_are_declared_and_at_the_same_place() {
        let hooks = memory_hooks("search_memories", "add_note");
        assert_eq!(negotiate(&json!({}), &hooks), None);
        let client = json!({"hooks": {"supported_events": ["session_end", "pre_request"]}});
        let declared = negotiate(&client, &hooks).expect("declared");
        assert_eq!(declared.path, ["hooks"]);
        assert_eq!(declared.value["declarations"].as_array().map(Vec::len), Some(1));
        let early = json!({"experimental": {"hooks": {"supported_events":
            ["session_start", "post_tool_use", "session_end"]}}});
        let declared = negotiate(&early, &hooks).expect("declared");
        assert_eq!(declared.path, ["experimental", "hooks"]);
        assert_eq!(declared.value["declarations"].as_array().map(Vec::len), Some(3));
        assert_eq!(SCHEMAS.check("capability:server", &declared.value), Some(vec![]));
        let none = negotiate(&json!({"hooks": {"supported_events": []}}), &hooks).expect("an empty list is legal");
        assert_eq!(none.value, json!({"declarations": []}));
    }
}
