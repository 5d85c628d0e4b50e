//! Which declared hooks fire at an event of the agent's life, and what each injects (seed 003, client behaviour).
//!
//! Pure: a tool that a hook wants called is named, not called.
//!
//! Never: calling tools, trust and approval (policy is the host's), clocks, printing.

mod declaration;
mod matching;
mod template;
#[cfg(test)]
mod tests;

pub use declaration::{Declarations, Dropped, Hook, HookContent, Matcher, ToolGlob};
pub use template::{Filling, MAX_TOOL_OUTPUT_BYTES};

use serde_json::{Value, json};
use std::collections::HashMap;

/// A moment of the agent's life (D8).
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
    /// The agent is about to take up a user's message.
    PreRequest,
    /// The agent has answered a user's message.
    PostRequest,
}

impl EventKind {
    /// All, in the proposal's order.
    pub const ALL: [Self; 6] = [
        Self::SessionStart,
        Self::SessionEnd,
        Self::PreToolUse,
        Self::PostToolUse,
        Self::PreRequest,
        Self::PostRequest,
    ];

    /// All names, in that order.
    pub const NAMES: [&'static str; 6] = [
        Self::SessionStart.name(),
        Self::SessionEnd.name(),
        Self::PreToolUse.name(),
        Self::PostToolUse.name(),
        Self::PreRequest.name(),
        Self::PostRequest.name(),
    ];

    /// Its name on the wire.
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

    /// Reads the name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether it is about a tool: only then do matchers apply (D13).
    pub fn is_tool_event(self) -> bool {
        matches!(self, Self::PreToolUse | Self::PostToolUse)
    }
}

/// How strongly the server wants the agent to act (D9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// The agent may consider it.
    Suggestion,
    /// The agent should take it seriously.
    Important,
    /// The agent must act on it; to be honoured from trusted servers only (D38).
    Required,
}

impl Priority {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Suggestion => "suggestion",
            Self::Important => "important",
            Self::Required => "required",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Suggestion, Self::Important, Self::Required].into_iter().find(|priority| priority.name() == name)
    }
}

/// One event, with what is known about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// The tool's bare name.
    pub tool_name: Option<String>,
    /// The server that provides the tool, by its name in the host's configuration; `None` for a host's own tool.
    pub tool_server: Option<String>,
    /// The same server by the name it gives itself (`serverInfo.name`): `tool_server` matches either (D20).
    pub tool_server_info_name: Option<String>,
    /// The tool's arguments; `Null` where there are none.
    pub tool_input: Value,
    /// The tool's result, after the call.
    pub tool_output: Option<Value>,
    /// The project or workspace.
    pub project_name: Option<String>,
    /// The session.
    pub session_id: Option<String>,
}

impl Event {
    /// An event about which nothing more is known.
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

/// What a hook puts before the agent.
#[derive(Clone, Debug, PartialEq)]
pub enum Injection {
    /// This text.
    Text(String),
    /// The text of this tool's result; the tool is the declaring server's (D26). See [`tool_result_text`].
    CallTool {
        /// The tool.
        name: String,
        /// Its arguments, templates substituted.
        arguments: Value,
    },
}

/// Whether a hook fires.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It fires with this.
    Fires(Injection),
    /// It does not, and why.
    Skipped(String),
}

/// What came of one declaration at an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Selected {
    /// The declaration's place in the server's list.
    pub index: usize,
    /// Whether it fires.
    pub verdict: Verdict,
    /// How strongly.
    pub priority: Priority,
    /// What matched, and what was unusual, as sentences.
    pub notes: Vec<String>,
}

/// Holds every declaration of one server against an event, in the server's order. Text that an earlier declaration
/// injects already is not injected again (AMB-D9).
pub fn select(declarations: &Declarations, event: &Event) -> Vec<Selected> {
    let mut injected: HashMap<String, usize> = HashMap::new();
    let mut filling = Filling::new(event);
    let mut selected = Vec::new();
    for hook in &declarations.hooks {
        let mut notes = Vec::new();
        let mut verdict = match matching::judge(hook, event, &mut notes) {
            Ok(()) => Verdict::Fires(injection(hook, &mut filling, &mut notes)),
            Err(why) => Verdict::Skipped(why),
        };
        if let Verdict::Fires(Injection::Text(text)) = &verdict {
            match injected.get(text) {
                Some(index) => verdict = Verdict::Skipped(format!("declaration {index} injects the same text")),
                None => drop(injected.insert(text.clone(), hook.index)),
            }
        }
        selected.push(Selected { index: hook.index, verdict, priority: hook.priority, notes });
    }
    selected
}

fn injection(hook: &Hook, filling: &mut Filling<'_>, notes: &mut Vec<String>) -> Injection {
    match &hook.content {
        HookContent::Text(text) => Injection::Text(filling.text(text, notes)),
        HookContent::Tool { name, arguments } => {
            Injection::CallTool { name: name.clone(), arguments: filling.value(arguments, notes) }
        }
    }
}

/// Why a tool's result gives no text to inject (D29: then nothing is injected).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoText {
    /// The tool reported its own failure (`isError`), with this text.
    #[error("the tool failed: {0}")]
    ToolFailed(String),
    /// The result has no `content` list.
    #[error("the result has no content")]
    NoContent,
    /// None of the content is text.
    #[error("the result's content has no text")]
    NoTextBlocks,
}

/// The text of a `tools/call` result: its text blocks, a line feed between them (D26, D29).
pub fn tool_result_text(result: &Value) -> Result<String, NoText> {
    let blocks = result["content"].as_array().ok_or(NoText::NoContent)?;
    let texts = blocks.iter().filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str());
    let text = texts.collect::<Vec<_>>().join("\n");
    if result["isError"] == Value::Bool(true) {
        return Err(NoText::ToolFailed(text));
    }
    if text.is_empty() { Err(NoText::NoTextBlocks) } else { Ok(text) }
}

/// What a client declares so that servers may declare hooks (D1): the value of its `hooks` capability.
pub fn client_capability(supported: &[EventKind]) -> Value {
    json!({"supported_events": supported.iter().map(|kind| kind.name()).collect::<Vec<_>>()})
}
