//! The overlay format: one YAML document. The doc comments here are the descriptions in the published JSON Schema.
//!
//! Never: the meaning of an overlay (see `plan`).

use crate::scenario::{Placed, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// An overlay of mcpreel: what to add to an MCP server that implements none of the proposals. In texts and values,
/// placeholders such as `{tool}`, `{params/arguments/path}` or `{result/content/0/text}` are replaced by values from
/// the message that triggered them.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "mcpreel overlay")]
pub(super) struct Document {
    /// The purpose of the overlay.
    #[serde(default)]
    pub name: String,
    /// Values that replace `{names}` everywhere else in the file; overridden by `--value`.
    #[serde(default)]
    pub values: Map<String, Value>,
    /// Hooks that the server declares.
    #[serde(default)]
    pub hooks: Vec<Placed<HookPart>>,
    /// Answers to user messages: context from the server's tools, in this order.
    #[serde(default)]
    pub conversation: Vec<Placed<AnswerPart>>,
    /// Messages to send when something happens.
    #[serde(default)]
    pub rules: Vec<Placed<RulePart>>,
    /// Options of the proposals, as in `serve --set`: by proposal, then by option.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub settings: Option<Placed<Value>>,
}

/// A hook, with exactly one of `context`, `context_tool` and `answer`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HookPart {
    /// The event: session_start, session_end, pre_tool_use, post_tool_use, pre_request or post_request.
    pub event: String,
    /// Restricts the hook to certain tools: tool_name, input_contains, tool_server.
    pub matcher: Option<Map<String, Value>>,
    /// The priority: suggestion, important or required.
    pub priority: String,
    /// A text to inject. The host replaces {project_name} and other variables.
    pub context: Option<String>,
    /// A tool of the server; the host calls it and injects the result.
    pub context_tool: Option<String>,
    /// The arguments for `context_tool`.
    pub context_tool_args: Option<Map<String, Value>>,
    /// A tool of the server to call through the overlay, and how to word its result. The host sees a tool of the
    /// overlay named `hook_N` and calls that; it replaces {project_name} and other variables in the arguments.
    pub answer: Option<AnswerPart>,
}

/// A tool of the server, and how to word its result.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerPart {
    /// The tool's name.
    pub tool: String,
    /// The arguments. For user messages, {content}, {messageId} and {history} are available.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// The text to return: {text} is the text of the result, {result/…} any part of it.
    #[serde(default = "whole_text")]
    pub text: String,
    /// Return nothing if the result passes this test.
    pub unless: Option<TestPart>,
}

fn whole_text() -> String {
    "{text}".to_owned()
}

/// A test of a value, with exactly one of `equals`, `regex` and `glob`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TestPart {
    /// The part to test, as a JSON Pointer; by default the whole value.
    #[serde(default)]
    pub pointer: String,
    /// The value must equal this. A missing value is null.
    #[serde(default, deserialize_with = "given")]
    pub equals: Option<Value>,
    /// This regular expression must match somewhere in the value's text (a string itself, or other values as JSON).
    pub regex: Option<String>,
    /// This pattern with `*` and `?` must match the value's whole text.
    pub glob: Option<String>,
}

/// Distinguishes an explicit null from a missing member.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// A message to send when something happens.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RulePart {
    /// The trigger.
    pub when: WhenPart,
    /// Maximum number of times to send it.
    pub times: Option<u64>,
    /// Minimum time between two messages of this rule.
    pub cooldown: Option<Span>,
    /// The message: an object whose `kind` is `reminder`, `push` or `event`, as in `serve --plan`.
    #[schemars(with = "Map<String, Value>")]
    pub fire: Placed<Value>,
}

/// A trigger; exactly one of these.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WhenPart {
    /// A request or notification passes. Placeholders: {method}, {tool}, {params/…}.
    pub message: Option<MessagePart>,
    /// A request of the client gets a result. Placeholders: {method}, {tool}, {params/…}, {result/…}, {text}.
    pub result: Option<ResultPart>,
    /// This long after the handshake, once.
    pub after: Option<Span>,
    /// Repeatedly, at this interval; {n} is the count.
    pub every: Option<Span>,
    /// A file changes, given by its path relative to the current folder. `*`, `**` and `?` are wildcards. Placeholder:
    /// {path}.
    pub file: Option<String>,
    /// A resource changes. Without wildcards, the overlay subscribes to it. Placeholder: {uri}.
    pub resource: Option<String>,
}

/// A test of a message; all given members must match.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MessagePart {
    /// The method; `*` and `?` are wildcards.
    pub method: String,
    /// The direction.
    pub direction: Option<WayPart>,
    /// The tool of a tools/call; `*` and `?` are wildcards.
    pub tool: Option<String>,
    /// A test of the params.
    pub matches: Option<TestPart>,
}

/// A test of a result; all given members must match.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ResultPart {
    /// The method of the request; `*` and `?` are wildcards.
    #[serde(default = "tools_call")]
    pub method: String,
    /// The tool of a tools/call; `*` and `?` are wildcards.
    pub tool: Option<String>,
    /// A test of the result.
    pub matches: Option<TestPart>,
}

fn tools_call() -> String {
    "tools/call".to_owned()
}

/// The direction of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum WayPart {
    /// To the server.
    C2s,
    /// To the client.
    S2c,
}

/// The JSON Schema of the format.
pub fn schema() -> Value {
    schemars::schema_for!(Document).to_value()
}
