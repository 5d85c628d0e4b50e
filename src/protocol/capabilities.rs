//! The capabilities of MCP: who declares each, in which revisions, what it promises, and which methods it allows.

use super::revision::Revision::{self, *};
use super::{MethodSpec, Sender};

/// A capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CapabilitySpec {
    /// The side that declares it.
    pub side: Sender,
    /// The member names below `capabilities`, joined by dots.
    pub path: &'static str,
    /// The first revision that has it.
    pub since: Revision,
    /// The last revision that has it.
    pub until: Revision,
    /// What the side that declares it promises, as a sentence.
    pub about: &'static str,
    /// The methods that need it.
    pub methods: &'static [&'static str],
}

const fn spec(
    side: Sender,
    path: &'static str,
    (since, until): (Revision, Revision),
    about: &'static str,
    methods: &'static [&'static str],
) -> CapabilitySpec {
    CapabilitySpec { side, path, since, until, about, methods }
}

const ALL: (Revision, Revision) = (V2024_11_05, V2026_07_28);
const LEGACY: (Revision, Revision) = (V2024_11_05, V2025_11_25);
const TASKS: (Revision, Revision) = (V2025_11_25, V2025_11_25);

/// The capabilities of MCP itself, those of the server first.
pub(crate) const CORE: &[CapabilitySpec] = &[
    spec(Sender::Server, "tools", ALL, "The server offers tools.", &["tools/list", "tools/call"]),
    spec(
        Sender::Server,
        "tools.listChanged",
        ALL,
        "The server notifies the client when its list of tools changes.",
        &["notifications/tools/list_changed"],
    ),
    spec(
        Sender::Server,
        "resources",
        ALL,
        "The server offers resources.",
        &["resources/list", "resources/read", "resources/templates/list"],
    ),
    spec(
        Sender::Server,
        "resources.listChanged",
        ALL,
        "The server notifies the client when its list of resources changes.",
        &["notifications/resources/list_changed"],
    ),
    spec(
        Sender::Server,
        "resources.subscribe",
        ALL,
        "The client may ask for a notification whenever a resource changes.",
        &["resources/subscribe", "resources/unsubscribe", "notifications/resources/updated"],
    ),
    spec(Sender::Server, "prompts", ALL, "The server offers prompts.", &["prompts/list", "prompts/get"]),
    spec(
        Sender::Server,
        "prompts.listChanged",
        ALL,
        "The server notifies the client when its list of prompts changes.",
        &["notifications/prompts/list_changed"],
    ),
    spec(
        Sender::Server,
        "completions",
        (V2025_03_26, V2026_07_28),
        "The server completes arguments of prompts and of resource templates.",
        &["completion/complete"],
    ),
    spec(
        Sender::Server,
        "logging",
        ALL,
        "The server sends log messages to the client.",
        &["logging/setLevel", "notifications/message"],
    ),
    spec(
        Sender::Server,
        "tasks",
        TASKS,
        "The server can answer a request with a task, whose result is fetched later.",
        &["tasks/get", "tasks/result", "notifications/tasks/status"],
    ),
    spec(Sender::Server, "tasks.list", TASKS, "The server lists its tasks.", &["tasks/list"]),
    spec(Sender::Server, "tasks.cancel", TASKS, "The server lets the client cancel a task.", &["tasks/cancel"]),
    spec(Sender::Server, "tasks.requests.tools.call", TASKS, "The client may call tools as tasks.", &["tools/call"]),
    spec(
        Sender::Client,
        "roots",
        LEGACY,
        "The client names to the server the folders and files that it may work on.",
        &["roots/list"],
    ),
    spec(
        Sender::Client,
        "roots.listChanged",
        LEGACY,
        "The client notifies the server when its roots change.",
        &["notifications/roots/list_changed"],
    ),
    spec(
        Sender::Client,
        "sampling",
        ALL,
        "The client asks its model on behalf of the server.",
        &["sampling/createMessage"],
    ),
    spec(
        Sender::Client,
        "sampling.tools",
        (V2025_11_25, V2026_07_28),
        "The server may give the model tools when it asks for sampling.",
        &["sampling/createMessage"],
    ),
    spec(
        Sender::Client,
        "sampling.context",
        (V2025_11_25, V2026_07_28),
        "The server may ask for context of other servers in sampling.",
        &["sampling/createMessage"],
    ),
    spec(
        Sender::Client,
        "elicitation",
        (V2025_06_18, V2026_07_28),
        "The client asks the user questions of the server.",
        &["elicitation/create"],
    ),
    spec(
        Sender::Client,
        "elicitation.form",
        (V2025_11_25, V2026_07_28),
        "The client shows the user a form.",
        &["elicitation/create"],
    ),
    spec(
        Sender::Client,
        "elicitation.url",
        (V2025_11_25, V2026_07_28),
        "The client lets the user open a URL, for input that must not pass through it.",
        &["elicitation/create", "notifications/elicitation/complete"],
    ),
    spec(
        Sender::Client,
        "tasks",
        TASKS,
        "The client can answer a request with a task, whose result is fetched later.",
        &["tasks/get", "tasks/result", "notifications/tasks/status"],
    ),
    spec(Sender::Client, "tasks.list", TASKS, "The client lists its tasks.", &["tasks/list"]),
    spec(Sender::Client, "tasks.cancel", TASKS, "The client lets the server cancel a task.", &["tasks/cancel"]),
];

impl CapabilitySpec {
    /// Returns whether a method needs it.
    pub(crate) fn allows(&self, method: &MethodSpec) -> bool {
        self.methods.contains(&method.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::methods;
    use crate::protocol::schema;
    use serde_json::Value;

    #[test]
    fn methods_exist_in_a_revision_of_their_capability() {
        for spec in CORE {
            assert!(spec.since <= spec.until && !spec.about.is_empty(), "{}", spec.path);
            for name in spec.methods {
                let method = methods::lookup(name).unwrap_or_else(|| panic!("{name}"));
                let shared = Revision::ALL
                    .iter()
                    .any(|revision| method.is_in(*revision) && spec.since <= *revision && *revision <= spec.until);
                assert!(shared, "{} and {name}", spec.path);
            }
        }
    }

    #[test]
    fn the_schemas_know_each_of_them() {
        for spec in CORE {
            let side = if spec.side == Sender::Server { "ServerCapabilities" } else { "ClientCapabilities" };
            let document = schema::core(spec.until.era()).document();
            let mut schema = &document["$defs"][side];
            for name in spec.path.split('.') {
                schema = &schema["properties"][name];
            }
            assert!(schema != &Value::Null, "{side} {}", spec.path);
        }
    }
}
