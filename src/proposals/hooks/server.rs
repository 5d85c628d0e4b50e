//! The server side of SEP-2282: declares hooks for the events that the client supports.

use super::{DESCRIPTOR, SCHEMAS};
use crate::proposals::Side;
use crate::proposals::server::{ADD_NOTE, Declaration, SEARCH, ServerSide};
use serde::Deserialize;
use serde_json::{Value, json};

/// A hook of the server.
#[derive(Clone, Debug, PartialEq)]
struct Hook {
    /// The event.
    event: String,
    /// The rest of the declaration: matcher, `context` or `context_tool` with its arguments, and priority.
    declaration: Value,
}

/// The options of this side.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// Declarations that replace the server's own.
    declarations: Vec<Value>,
}

/// The proposal's server side on one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct HooksServerSide {
    forgoes_memory: bool,
    /// Hooks that replace the server's own.
    given: Option<Vec<Hook>>,
}

impl ServerSide for HooksServerSide {
    fn configure(&mut self, settings: &Value) -> Result<(), String> {
        let violations = SCHEMAS.check("capability:server", settings).unwrap_or_default();
        if let Some(violation) = violations.first() {
            return Err(violation.to_string());
        }
        let Settings { declarations } = Settings::deserialize(settings).map_err(|error| error.to_string())?;
        self.given = Some(declarations.into_iter().map(Hook::given).collect());
        Ok(())
    }

    fn forgo_memory(&mut self) {
        self.forgoes_memory = true;
    }

    fn declare(&mut self, client: &Value) -> Vec<Declaration> {
        if let Some(hooks) = &self.given {
            return negotiate(client, hooks);
        }
        let hooks = memory_hooks(SEARCH, ADD_NOTE);
        negotiate(client, if self.forgoes_memory { &[] } else { &hooks })
    }
}

/// Declares the hooks for the client's `supported_events`, at each place where the client lists events (SEP-2282,
/// Capability negotiation). Declares nothing, not even an empty list, to a client without `hooks`.
fn negotiate(client: &Value, hooks: &[Hook]) -> Vec<Declaration> {
    let places = DESCRIPTOR.places.iter().filter(|place| place.side == Side::Client);
    places
        .filter_map(|place| {
            let declared = place.path.iter().try_fold(client, |value, name| value.get(name))?;
            let listed = declared.get("supported_events")?.as_array()?;
            let wanted = |hook: &&Hook| listed.iter().any(|event| *event == *hook.event);
            let declarations: Vec<Value> = hooks.iter().filter(wanted).map(Hook::to_value).collect();
            Some(Declaration { path: place.path, value: json!({"declarations": declarations}) })
        })
        .collect()
}

impl Hook {
    /// A hook from a complete declaration.
    fn given(declaration: Value) -> Self {
        Self { event: declaration["event"].as_str().unwrap_or_default().to_owned(), declaration }
    }

    fn to_value(&self) -> Value {
        let mut all = json!({"event": self.event});
        if let (Some(all), Value::Object(rest)) = (all.as_object_mut(), &self.declaration) {
            all.extend(rest.clone());
        }
        all
    }
}

/// The hooks of a server with memories and notes: it looks up memories at the start, reminds the model to remember
/// after a note, and again at the end. `search` and `note` are the names of its tools.
fn memory_hooks(search: &str, note: &str) -> Vec<Hook> {
    vec![
        Hook {
            event: "session_start".to_owned(),
            declaration: json!({
                "context_tool": search,
                "context_tool_args": {"query": "{project_name} decisions, schema and preferences", "limit": 3},
                "priority": "important",
            }),
        },
        Hook {
            event: "post_tool_use".to_owned(),
            declaration: json!({
                // Hosts use the tool's name or `mcp__SERVER__TOOL`; the glob matches both.
                "matcher": {"tool_name": format!("*{note}")},
                "context": "A note was just saved with {tool_name}. If it holds beyond this session, `remember` it.",
                "priority": "suggestion",
            }),
        },
        Hook {
            event: "session_end".to_owned(),
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
        assert_eq!(negotiate(&json!({}), &hooks), []);
        let client = json!({"hooks": {"supported_events": ["session_end", "pre_request"]}});
        let count = |declared: &Declaration| declared.value["declarations"].as_array().map(Vec::len);
        let declared = negotiate(&client, &hooks);
        assert_eq!(declared[0].path, ["hooks"]);
        assert_eq!((declared.len(), count(&declared[0])), (1, Some(1)));
        let both = json!({"hooks": {"supported_events": ["session_end"]}, "experimental": {"hooks": {
            "supported_events": ["session_start", "post_tool_use", "session_end"]}}});
        let declared = negotiate(&both, &hooks);
        assert_eq!(declared.len(), 2);
        assert_eq!((declared[0].path, count(&declared[0])), (&["hooks"][..], Some(1)));
        assert_eq!((declared[1].path, count(&declared[1])), (&["experimental", "hooks"][..], Some(3)));
        assert_eq!(SCHEMAS.check("capability:server", &declared[1].value), Some(vec![]));
        let none = negotiate(&json!({"hooks": {"supported_events": []}}), &hooks);
        assert_eq!(none[0].value, json!({"declarations": []}), "an empty list is legal");
    }

    #[test]
    fn hooks_can_be_given_and_stay_as_they_are() {
        let mut side = HooksServerSide::default();
        let given = json!({"event": "session_end", "context": "bye", "priority": "suggestion"});
        assert_eq!(side.configure(&json!({"declarations": [given]})), Ok(()));
        side.forgo_memory();
        let declared = side.declare(&json!({"hooks": {"supported_events": ["session_end", "session_start"]}}));
        assert_eq!(declared[0].value, json!({"declarations": [given]}));
        assert_eq!(side.declare(&json!({})), []);
        assert!(side.configure(&json!({"declarations": [{"event": "session_end"}]})).is_err());
        assert!(side.configure(&json!({"declarations": [], "more": 1})).is_err());
    }
}
