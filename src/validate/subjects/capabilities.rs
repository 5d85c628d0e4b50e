//! What a side sends must be covered by a capability that it or the other side declared.

use crate::proposals::findings::rules;
use crate::proposals::{Declared, Findings, Observed, Rule};
use crate::protocol::revision::meta;
use crate::protocol::{Era, MethodSpec, Revision, methods};
use crate::validate::rules::CAPABILITY;
use crate::validate::sender;
use crate::validate::subject::{Message, Subject, SubjectEntry};
use crate::validate::subjects::content::is_extension_name;
use crate::wire::Direction;
use Direction::{ClientToServer, ServerToClient};
use serde_json::Value;
use std::collections::HashSet;

rules! {
    UNDECLARED = Error "capability/undeclared",
        "From 2025-06-18 to 2025-11-25, client and server must not send a request unless the other side declared the capability that it needs, such as `tools` for `tools/call`.",
        "MCP 2025-11-25, Lifecycle, Operation",
        fix "Declare the capability, or do not use the method with this peer.";
    LIST_CHANGED = Error "capability/list-changed",
        "The server must not send `notifications/tools/list_changed` unless it declared `tools.listChanged`; the same holds for `prompts` and `resources`, and for the client and `roots`. The server must not send `notifications/resources/updated` unless it declared `resources.subscribe`.",
        "MCP 2025-11-25, Lifecycle, Capability Negotiation",
        fix "Declare `listChanged: true` (or `subscribe: true`), or do not send the notification.";
    LOGGING = Error "capability/logging",
        "The server must not send `notifications/message` unless it declared `logging`. Log messages before the result of `initialize` are not checked.",
        "MCP 2025-11-25, Logging, Capabilities",
        fix "Declare `logging`, or write the text to standard error.";
    SAMPLING_TOOLS = Error "capability/sampling-tools",
        "The server must not send a `sampling/createMessage` with `tools` or `toolChoice` unless the client declared `sampling.tools`. (For `inputRequests`, see input/undeclared.)",
        "MCP 2025-11-25, Sampling, Tools in Sampling",
        fix "Look for `sampling.tools` in the client's capabilities, and leave tools out without it.";
    SAMPLING_CONTEXT = Warning "capability/sampling-context",
        "The server sends no `sampling/createMessage` whose `includeContext` is `thisServer` or `allServers` unless the client declared `sampling.context`.",
        "MCP 2025-11-25, Sampling, Capabilities",
        fix "Leave `includeContext` out, or look for `sampling.context` in the client's capabilities.";
    ELICITATION_MODE = Error "capability/elicitation-mode",
        "The server must not send `elicitation/create` with `mode: \"url\"` unless the client declared `elicitation.url`, nor with `mode: \"form\"` or without `mode` unless it declared `elicitation.form` or `elicitation: {}`. (If the client declared no `elicitation`, see capability/undeclared.)",
        "MCP 2025-11-25, Elicitation, Capabilities",
        fix "Ask in a mode that the client declared, or go on without the answer.";
    EXTENSION_NAME = Error "capability/extension-name",
        "In revision 2026-07-28, client and server must give an extension in `extensions` of their capabilities a name with a prefix, such as `com.example/name`.",
        "MCP 2026-07-28, Versioning, Extension Negotiation",
        fix "Put a domain of your own before the name, or io.modelcontextprotocol/ for an official extension.";
    TASK_CALL = Error "capability/task-call",
        "The client must not send `tools/call` with `task` in its `params` unless the server declared `tasks.requests.tools.call`.",
        "MCP 2025-11-25, Tasks, Tool-Level Negotiation",
        fix "Look for `tasks.requests.tools.call` in the server's capabilities, and leave `task` out without it.";
    TASK_REQUEST = Warning "capability/task-request",
        "The server sends no `sampling/createMessage` with `task` unless the client declared `tasks.requests.sampling.createMessage`, and no `elicitation/create` with `task` unless it declared `tasks.requests.elicitation.create`.",
        "MCP 2025-11-25, Tasks, Capability Negotiation",
        fix "Look for the request in the client's capability `tasks`, and leave `task` out without it.";
}

pub(in crate::validate) const ENTRY: SubjectEntry = SubjectEntry {
    rules: RULES,
    revisions: (Revision::V2024_11_05, Revision::V2026_07_28),
    begin: || Box::<Capabilities>::default(),
};

/// A capability that a message needs.
struct Need {
    method: &'static str,
    /// The direction of the message.
    direction: Direction,
    /// Whether the message needs it, by its params.
    applies: fn(&Value) -> bool,
    /// The side that declares it, as the direction of its messages.
    declarer: Direction,
    path: &'static [&'static str],
    rule: &'static Rule,
}

const fn need(
    method: &'static str,
    direction: Direction,
    declarer: Direction,
    path: &'static [&'static str],
    rule: &'static Rule,
) -> Need {
    Need { method, direction, applies: always, declarer, path, rule }
}

/// What a request needs from the side that receives it.
const fn asks(method: &'static str, direction: Direction, path: &'static [&'static str]) -> Need {
    let receiver = match direction {
        ClientToServer => ServerToClient,
        ServerToClient => ClientToServer,
    };
    need(method, direction, receiver, path, &UNDECLARED)
}

fn always(_params: &Value) -> bool {
    true
}

fn is_task(params: &Value) -> bool {
    params.get("task").is_some()
}

fn offers_tools(params: &Value) -> bool {
    params.get("tools").is_some() || params.get("toolChoice").is_some()
}

fn wants_context(params: &Value) -> bool {
    matches!(params["includeContext"].as_str(), Some("thisServer" | "allServers"))
}

/// All needs. Those of a method that stands several times apply together.
static NEEDS: &[Need] = &[
    asks("tools/list", ClientToServer, &["tools"]),
    asks("tools/call", ClientToServer, &["tools"]),
    asks("resources/list", ClientToServer, &["resources"]),
    asks("resources/read", ClientToServer, &["resources"]),
    asks("resources/templates/list", ClientToServer, &["resources"]),
    asks("resources/subscribe", ClientToServer, &["resources", "subscribe"]),
    asks("resources/unsubscribe", ClientToServer, &["resources", "subscribe"]),
    asks("prompts/list", ClientToServer, &["prompts"]),
    asks("prompts/get", ClientToServer, &["prompts"]),
    asks("logging/setLevel", ClientToServer, &["logging"]),
    asks("completion/complete", ClientToServer, &["completions"]),
    asks("sampling/createMessage", ServerToClient, &["sampling"]),
    asks("roots/list", ServerToClient, &["roots"]),
    asks("elicitation/create", ServerToClient, &["elicitation"]),
    asks("tasks/list", ClientToServer, &["tasks", "list"]),
    asks("tasks/list", ServerToClient, &["tasks", "list"]),
    asks("tasks/cancel", ClientToServer, &["tasks", "cancel"]),
    asks("tasks/cancel", ServerToClient, &["tasks", "cancel"]),
    asks("tasks/get", ClientToServer, &["tasks"]),
    asks("tasks/get", ServerToClient, &["tasks"]),
    asks("tasks/result", ClientToServer, &["tasks"]),
    asks("tasks/result", ServerToClient, &["tasks"]),
    need("notifications/message", ServerToClient, ServerToClient, &["logging"], &LOGGING),
    need("notifications/tools/list_changed", ServerToClient, ServerToClient, &["tools", "listChanged"], &LIST_CHANGED),
    need(
        "notifications/prompts/list_changed",
        ServerToClient,
        ServerToClient,
        &["prompts", "listChanged"],
        &LIST_CHANGED,
    ),
    need(
        "notifications/resources/list_changed",
        ServerToClient,
        ServerToClient,
        &["resources", "listChanged"],
        &LIST_CHANGED,
    ),
    need("notifications/resources/updated", ServerToClient, ServerToClient, &["resources", "subscribe"], &LIST_CHANGED),
    need("notifications/roots/list_changed", ClientToServer, ClientToServer, &["roots", "listChanged"], &LIST_CHANGED),
    Need {
        applies: is_task,
        ..need("tools/call", ClientToServer, ServerToClient, &["tasks", "requests", "tools", "call"], &TASK_CALL)
    },
    Need {
        applies: is_task,
        ..need(
            "sampling/createMessage",
            ServerToClient,
            ClientToServer,
            &["tasks", "requests", "sampling", "createMessage"],
            &TASK_REQUEST,
        )
    },
    Need {
        applies: is_task,
        ..need(
            "elicitation/create",
            ServerToClient,
            ClientToServer,
            &["tasks", "requests", "elicitation", "create"],
            &TASK_REQUEST,
        )
    },
    Need {
        applies: offers_tools,
        ..need("sampling/createMessage", ServerToClient, ClientToServer, &["sampling", "tools"], &SAMPLING_TOOLS)
    },
    Need {
        applies: wants_context,
        ..need("sampling/createMessage", ServerToClient, ClientToServer, &["sampling", "context"], &SAMPLING_CONTEXT)
    },
];

/// The state of these checks.
#[derive(Debug, Default)]
struct Capabilities {
    /// The methods that were reported, each with the capability that was missing.
    lacking: HashSet<(&'static str, &'static str), foldhash::fast::RandomState>,
}

impl Subject for Capabilities {
    fn observe(&mut self, message: &Message<'_>, findings: &mut Findings) {
        if message.is_modern() {
            check_extensions(message, findings);
        }
        // The capabilities of the session do not apply to a request that names its own revision.
        if message.before.era == Some(Era::Legacy) && message.era != Era::Legacy {
            return;
        }
        let (method, direction) = (message.method(), message.observed.direction);
        for need in NEEDS.iter().filter(|need| need.method == method && need.direction == direction) {
            if (need.applies)(message.content()) && exists_in(need, message) {
                self.check(need, message, findings);
            }
        }
        if method == "elicitation/create" {
            check_mode(message, findings);
        }
    }
}

impl Capabilities {
    fn check(&mut self, need: &Need, message: &Message<'_>, findings: &mut Findings) {
        let capabilities = of(message.observed.declared, need.declarer);
        if !capabilities.is_object() {
            return;
        }
        let has = is_declared(capabilities, need.path);
        let last = need.path.last().copied().unwrap_or_default();
        if has || self.lacking.insert((need.method, last)) {
            findings.check(rule_for(need, message), message.seq(), has, || {
                let (side, other) = (message.sender(), sender(need.declarer));
                let path = need.path.join(".");
                match other == side {
                    true => format!("the {side} sent {}, but did not declare `{path}`", need.method),
                    false => format!("the {side} sent {}, but the {other} did not declare `{path}`", need.method),
                }
            });
        } else {
            findings.give_up(rule_for(need, message));
        }
    }
}

/// Only from 2025-06-18 to 2025-11-25, the capability is a requirement: later, a client may send any request.
fn rule_for(need: &Need, message: &Message<'_>) -> &'static Rule {
    let is_required = message.is_since(Revision::V2025_06_18) && !message.is_modern();
    if is_required || need.rule != &UNDECLARED { need.rule } else { &CAPABILITY }
}

/// Whether the revision defines the method and the capability.
fn exists_in(need: &Need, message: &Message<'_>) -> bool {
    let defines = |spec: &MethodSpec| message.revision().is_none_or(|revision| spec.is_in(revision));
    methods::lookup(need.method).is_none_or(defines)
        && match need.path {
            ["completions"] => message.is_since(Revision::V2025_03_26),
            ["sampling", _] => message.is_since(Revision::V2025_11_25),
            ["tasks", ..] => message.revision() == Some(Revision::V2025_11_25),
            _ => true,
        }
}

fn of(declared: &Declared, declarer: Direction) -> &Value {
    match declarer {
        ClientToServer => &declared.client,
        ServerToClient => &declared.server,
    }
}

/// Returns whether the capabilities contain this path.
pub(super) fn is_declared(capabilities: &Value, path: &[&str]) -> bool {
    let value = path.iter().try_fold(capabilities, |value, name| value.get(name));
    value.is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)))
}

fn check_extensions(message: &Message<'_>, findings: &mut Findings) {
    let content = message.content();
    let capabilities = match message.result_of() {
        "server/discover" => content.get("capabilities"),
        _ => content.get("_meta").and_then(|meta| meta.get(meta::CLIENT_CAPABILITIES)),
    };
    let extensions = capabilities.and_then(|declared| declared.get("extensions")?.as_object());
    for name in extensions.into_iter().flat_map(|all| all.keys()) {
        findings.check(&EXTENSION_NAME, message.seq(), is_extension_name(name), || {
            format!("the {} declared the extension {name:?}", message.sender())
        });
    }
}

fn check_mode(message: &Message<'_>, findings: &mut Findings) {
    let client = &message.observed.declared.client;
    if !message.is_since(Revision::V2025_11_25) || !is_declared(client, &["elicitation"]) {
        return;
    }
    let mode = message.content()["mode"].as_str().unwrap_or("form");
    findings.check(&ELICITATION_MODE, message.seq(), declares_mode(client, mode), || {
        format!("the server asks in mode {mode}, but the client did not declare `elicitation.{mode}`")
    });
}

/// Returns whether a client declared a mode of elicitation. Without any mode, it declared forms.
pub(super) fn declares_mode(client: &Value, mode: &str) -> bool {
    let has = |mode| is_declared(client, &["elicitation", mode]);
    has(mode) || mode == "form" && is_declared(client, &["elicitation"]) && !has("url")
}

/// Returns whether the receiver of the request that a message answers declared the capability that the method needs.
pub(in crate::validate) fn was_declared(observed: &Observed<'_>) -> bool {
    let Some(request) = observed.request else { return false };
    let mut needs = NEEDS.iter().filter(|need| {
        need.method == request.method && need.direction == request.direction && need.rule == &UNDECLARED
    });
    needs.any(|need| is_declared(of(observed.declared, need.declarer), need.path))
}

#[cfg(test)]
pub(in crate::validate) mod cases {
    pub(in crate::validate) const CASES: &[(&str, &str)] = &[
        (
            "capability/extension-name",
            r#"c>s {"id":1,"method":"server/discover","params":{"_meta":{
                "io.modelcontextprotocol/protocolVersion":"2026-07-28",
                "io.modelcontextprotocol/clientCapabilities":{}}}}
               s>c {"id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],
                "capabilities":{"extensions":{"tasks":{}}},"ttlMs":0,"cacheScope":"private"}}"#,
        ),
        (
            "capability/extension-name",
            r#"c>s {"id":1,"method":"tools/list","params":{"_meta":{
                "io.modelcontextprotocol/protocolVersion":"2026-07-28",
                "io.modelcontextprotocol/clientCapabilities":{"extensions":{"1a/b":{}}}}}}"#,
        ),
        (
            "lifecycle/capability",
            r#"hello 2025-03-26 {} | {}
               c>s {"id":1,"method":"tools/list"}"#,
        ),
        (
            "capability/undeclared",
            r#"hello 2025-11-25 {} | {}
               c>s {"id":1,"method":"tools/list"}"#,
        ),
        (
            "capability/undeclared",
            r#"hello 2025-11-25 {} | {"resources":{}}
               c>s {"id":1,"method":"resources/subscribe","params":{"uri":"a://b"}}"#,
        ),
        (
            "capability/undeclared",
            r#"hello 2025-11-25 {} | {}
               c>s {"id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},
                   "argument":{"name":"a","value":"b"}}}"#,
        ),
        (
            "capability/undeclared",
            r#"hello 2025-11-25 {} | {}
               c>s {"id":1,"method":"logging/setLevel","params":{"level":"info"}}"#,
        ),
        (
            "capability/undeclared",
            r#"hello 2025-11-25 {} | {"tasks":{"cancel":{}}}
               c>s {"id":1,"method":"tasks/list"}"#,
        ),
        (
            "capability/undeclared",
            r#"hello 2025-11-25 {} | {"tasks":{"list":{}}}
               c>s {"id":1,"method":"tasks/cancel","params":{"taskId":"t"}}"#,
        ),
        (
            "capability/undeclared",
            r#"hello 2025-11-25 {"sampling":{}} | {}
               s>c {"id":1,"method":"roots/list"}"#,
        ),
        (
            "capability/list-changed",
            r#"hello 2025-11-25 {} | {"tools":{}}
               s>c {"method":"notifications/tools/list_changed"}"#,
        ),
        (
            "capability/list-changed",
            r#"hello 2025-11-25 {} | {"resources":{"listChanged":true}}
               s>c {"method":"notifications/resources/updated","params":{"uri":"a://b"}}"#,
        ),
        (
            "capability/list-changed",
            r#"hello 2025-11-25 {"roots":{}} | {}
               c>s {"method":"notifications/roots/list_changed"}"#,
        ),
        (
            "capability/logging",
            r#"hello 2025-11-25 {} | {"tools":{}}
               s>c {"method":"notifications/message","params":{"level":"info","data":"x"}}"#,
        ),
        (
            "capability/sampling-tools",
            r#"hello 2025-11-25 {"sampling":{}} | {}
               s>c {"id":1,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[],"tools":[]}}"#,
        ),
        (
            "capability/sampling-context",
            r#"hello 2025-11-25 {"sampling":{}} | {}
               s>c {"id":1,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[],
                   "includeContext":"thisServer"}}"#,
        ),
        (
            "capability/elicitation-mode",
            r#"hello 2025-11-25 {"elicitation":{}} | {}
               s>c {"id":1,"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://h/",
                   "elicitationId":"e"}}"#,
        ),
        (
            "capability/elicitation-mode",
            r#"hello 2025-11-25 {"elicitation":{"url":{}}} | {}
               s>c {"id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object",
                   "properties":{}}}}"#,
        ),
        (
            "capability/task-call",
            r#"hello 2025-11-25 {} | {"tools":{},"tasks":{"list":{}}}
               c>s {"id":1,"method":"tools/call","params":{"name":"t","task":{}}}"#,
        ),
        (
            "capability/task-request",
            r#"hello 2025-11-25 {"sampling":{}} | {}
               s>c {"id":1,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[],"task":{}}}"#,
        ),
    ];

    pub(in crate::validate) const QUIET: &[&str] = &[
        r#"c>s {"id":1,"method":"server/discover","params":{"_meta":{
            "io.modelcontextprotocol/protocolVersion":"2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":{"extensions":{"com.example/ui":{}}}}}}
           s>c {"id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],
            "capabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}},"ttlMs":0,"cacheScope":"private"}}"#,
        r#"hello 2025-11-25 {"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}},"elicitation":{"url":{}},
            "tasks":{"requests":{"sampling":{"createMessage":{}}}}} | {"logging":{},"completions":{},
            "tools":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"tasks":{"list":{},
            "requests":{"tools":{"call":{}}}}}
           c>s {"id":1,"method":"tasks/list"}
           c>s {"id":2,"method":"tools/call","params":{"name":"t","task":{}}}
           s>c {"method":"notifications/tools/list_changed"}
           s>c {"method":"notifications/resources/updated","params":{"uri":"a://b"}}
           s>c {"method":"notifications/message","params":{"level":"info","data":"x"}}
           c>s {"method":"notifications/roots/list_changed"}
           s>c {"id":1,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[],"tools":[],"task":{},
               "includeContext":"thisServer"}}
           s>c {"id":2,"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://h/",
               "elicitationId":"e"}}"#,
        r#"hello 2025-03-26 {} | {"tools":{}}
           c>s {"id":1,"method":"tools/list"}"#,
    ];

    /// In revision 2026-07-28, a client may send any request without asking what the server offers.
    #[test]
    fn the_modern_era_requires_no_capability_of_the_server() {
        let found = |method: &str, params: &str| {
            crate::validate::tests::found(&format!(
                r#"c>s {{"id":1,"method":"server/discover","params":{{"_meta":{{
                    "io.modelcontextprotocol/protocolVersion":"2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}
                   s>c {{"id":1,"result":{{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{{}},
                    "ttlMs":0,"cacheScope":"private"}}}}
                   c>s {{"id":2,"method":"{method}","params":{{{params},"_meta":{{
                    "io.modelcontextprotocol/protocolVersion":"2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
            ))
        };
        let completes = r#""ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"b"}"#;
        let completion = found("completion/complete", completes);
        assert!(completion.contains("lifecycle/capability") && !completion.contains("capability/undeclared"));
        // What the revision does not have needs no capability; the extension for tasks has two of the methods.
        for (method, params) in [("logging/setLevel", r#""level":"info""#), ("tasks/list", r#""cursor":"a""#)] {
            let found = found(method, params);
            assert!(found.contains("method/not-in-revision"), "{method}: {found:?}");
            assert!(found.iter().all(|id| !id.contains("capability")), "{method}: {found:?}");
        }
        for (method, params) in [("tasks/get", r#""taskId":"t""#), ("tasks/cancel", r#""taskId":"t""#)] {
            assert!(!found(method, params).contains("method/not-in-revision"), "{method}");
        }
        let task = found("tools/call", r#""name":"t","task":{}"#);
        assert!(!task.contains("capability/task-call"), "{task:?}");
    }

    #[test]
    fn a_capability_is_required_only_where_its_revision_defines_it() {
        let found = |script: &str| crate::validate::tests::found(script);
        assert!(
            found(
                r#"hello 2024-11-05 {} | {}
               c>s {"id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},
                   "argument":{"name":"a","value":"b"}}}"#
            )
            .iter()
            .all(|id| !id.starts_with("capability/"))
        );
        assert!(
            found(
                r#"hello 2025-11-25 {"elicitation":{}} | {}
               s>c {"id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object",
                   "properties":{}}}}"#
            )
            .iter()
            .all(|id| !id.starts_with("capability/"))
        );
    }
}
