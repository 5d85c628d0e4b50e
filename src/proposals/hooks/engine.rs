//! Decides which declared hooks fire at an event, and what each injects (SEP-2282, Client behaviour).
//!
//! It is pure: it names the tools that hooks want to call, but does not call them. It must never decide about trust or
//! approval (that is up to the host), use clocks, or print.

mod declaration;
mod matching;
mod template;
#[cfg(test)]
mod tests;

pub use declaration::Declarations;
pub(crate) use declaration::{Hook, HookContent, ToolGlob};
pub(crate) use matching::ignored_matcher;
pub use template::Filling;

use crate::proposals::tool_result;
use serde_json::{Value, json};
use std::collections::HashMap;

/// An event of the agent's life cycle (SEP-2282, Event types).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A session begins.
    SessionStart,
    /// A session is about to end.
    SessionEnd,
    /// A tool is about to be called.
    PreToolUse,
    /// A tool call is over.
    PostToolUse,
    /// The agent is about to process a user's message.
    PreRequest,
    /// The agent has answered a user's message.
    PostRequest,
}

impl EventKind {
    /// All events, in the proposal's order.
    pub const ALL: [Self; 6] = [
        Self::SessionStart,
        Self::SessionEnd,
        Self::PreToolUse,
        Self::PostToolUse,
        Self::PreRequest,
        Self::PostRequest,
    ];

    /// The names of all events, in the same order.
    pub const NAMES: [&'static str; 6] = [
        Self::SessionStart.name(),
        Self::SessionEnd.name(),
        Self::PreToolUse.name(),
        Self::PostToolUse.name(),
        Self::PreRequest.name(),
        Self::PostRequest.name(),
    ];

    /// The event's name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "session_start",
            Self::SessionEnd => "session_end",
            Self::PreToolUse => "pre_tool_use",
            Self::PostToolUse => "post_tool_use",
            Self::PreRequest => "pre_request",
            Self::PostRequest => "post_request",
        }
    }

    /// The event with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether the event concerns a tool. Matchers only apply to such events (SEP-2282, Hook declaration schema).
    pub fn is_tool_event(self) -> bool {
        matches!(self, Self::PreToolUse | Self::PostToolUse)
    }
}

/// How strongly the server wants the agent to act on a hook (SEP-2282, Hook declaration schema).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// The agent may consider it.
    Suggestion,
    /// The agent should take it seriously.
    Important,
    /// The agent must act on it. Only meant for trusted servers (SEP-2282, Priority levels and trust).
    Required,
}

impl Priority {
    /// The priority's name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Suggestion => "suggestion",
            Self::Important => "important",
            Self::Required => "required",
        }
    }

    /// The priority with this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Suggestion, Self::Important, Self::Required].into_iter().find(|priority| priority.name() == name)
    }
}

/// An event and its details.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The kind of event.
    pub kind: EventKind,
    /// The tool's name, without a prefix.
    pub tool_name: Option<String>,
    /// The name of the tool's server in the host's configuration; `None` for a tool of the host's own.
    pub tool_server: Option<String>,
    /// The name that the server gives itself (`serverInfo.name`). A matcher's `tool_server` can be either name.
    pub tool_server_info_name: Option<String>,
    /// The tool's arguments; `Null` if there are none.
    pub tool_input: Value,
    /// The tool's result, once the call has ended.
    pub tool_output: Option<Value>,
    /// The name of the project or workspace.
    pub project_name: Option<String>,
    /// The session's id.
    pub session_id: Option<String>,
}

impl Event {
    /// An event without details.
    pub fn new(kind: EventKind) -> Self {
        Self {
            kind,
            tool_name: None,
            tool_server: None,
            tool_server_info_name: None,
            tool_input: Value::Null,
            tool_output: None,
            project_name: None,
            session_id: None,
        }
    }
}

/// What a hook injects.
#[derive(Clone, Debug, PartialEq)]
pub enum Injection {
    /// This text.
    Text(String),
    /// The text of a tool's result (see [`tool_result_text`]). The tool belongs to the server that declared the hook.
    CallTool {
        /// The tool's name.
        name: String,
        /// The arguments, with substituted variables.
        arguments: Value,
    },
}

/// Whether a hook fires.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It fires and injects this.
    Fires(Injection),
    /// It is declared for this event, which is another one.
    OtherEvent(EventKind),
    /// It does not fire, for this reason.
    Skipped(String),
}

/// The decision about one declaration at an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Selected {
    /// The declaration's index in the server's list.
    pub index: usize,
    /// Whether it fires.
    pub verdict: Verdict,
    /// The declared priority.
    pub priority: Priority,
    /// What matched, and what was unusual, as sentence fragments.
    pub notes: Vec<String>,
}

/// Decides about all declarations of one server at an event, in the server's order. The same text is injected once.
pub fn select(declarations: &Declarations, event: &Event) -> Vec<Selected> {
    let mut selected = judge_all(declarations, event);
    skip_repeated(&mut selected);
    selected
}

/// Decides about each declaration by itself.
pub(crate) fn judge_all(declarations: &Declarations, event: &Event) -> Vec<Selected> {
    let mut filling = Filling::new(event);
    declarations.hooks.iter().map(|hook| judge(hook, event, &mut filling)).collect()
}

fn judge(hook: &Hook, event: &Event, filling: &mut Filling<'_>) -> Selected {
    let mut notes = Vec::new();
    let verdict = if hook.event == event.kind {
        match matching::judge(hook, event, &mut notes) {
            Ok(()) => Verdict::Fires(injection(hook, filling, &mut notes)),
            Err(why) => Verdict::Skipped(why),
        }
    } else {
        Verdict::OtherEvent(hook.event)
    };
    Selected { index: hook.index, verdict, priority: hook.priority, notes }
}

/// Skips the hooks whose text another one of the same server injects at the same event (AMB-D9): of several, the one
/// with the highest priority fires, and of equal ones the first.
pub(crate) fn skip_repeated(selected: &mut [Selected]) {
    let mut strongest: HashMap<String, (Priority, usize)> = HashMap::new();
    for one in selected.iter() {
        if let Verdict::Fires(Injection::Text(text)) = &one.verdict {
            let found = strongest.entry(text.clone()).or_insert((one.priority, one.index));
            if one.priority > found.0 {
                *found = (one.priority, one.index);
            }
        }
    }
    for one in selected.iter_mut() {
        if let Verdict::Fires(Injection::Text(text)) = &one.verdict
            && let Some((_, index)) = strongest.get(text)
            && *index != one.index
        {
            one.verdict = Verdict::Skipped(format!("declaration {index} injects the same text"));
        }
    }
}

fn injection(hook: &Hook, filling: &mut Filling<'_>, notes: &mut Vec<String>) -> Injection {
    match &hook.content {
        HookContent::Text(text) => Injection::Text(filling.text(text, notes)),
        HookContent::Tool { name, arguments } => {
            Injection::CallTool { name: name.clone(), arguments: filling.value(arguments, notes) }
        }
    }
}

/// Why a tool's result contains no text to inject. Nothing is injected then (SEP-2282, Client behaviour).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoText {
    /// The tool failed (`isError`), with this text.
    #[error("the tool failed: {0}")]
    ToolFailed(String),
    /// The result has no `content` list.
    #[error("the result has no content")]
    NoContent,
    /// No part of the content is text, a resource or structured content.
    #[error("the result's content contains no text")]
    TextBlocksMissing,
}

/// The text of a `tools/call` result, with its resources and structured content.
///
/// # Errors
/// The result has no text, or the tool failed.
pub(crate) fn tool_result_text(result: &Value) -> Result<String, NoText> {
    if !result["content"].is_array() && result["structuredContent"].is_null() {
        return Err(NoText::NoContent);
    }
    let text = tool_result::text(result);
    if result["isError"] == Value::Bool(true) {
        return Err(NoText::ToolFailed(text));
    }
    if text.is_empty() { Err(NoText::TextBlocksMissing) } else { Ok(text) }
}

/// The value of a client's `hooks` capability, which permits servers to declare hooks (SEP-2282, Capability
/// negotiation).
pub(crate) fn client_capability(supported: &[EventKind]) -> Value {
    json!({"supported_events": supported.iter().map(|kind| kind.name()).collect::<Vec<_>>()})
}
