//! The overlay format as it is written: one YAML document. The doc comments here are the descriptions in the published
//! JSON Schema.
//!
//! Never: what an overlay means (see `plan`).

use crate::scenario::{Placed, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// An overlay of mcpreel: what is added to an MCP server that knows none of the proposals. In texts and values,
/// `{tool}`, `{params/arguments/path}` or `{result/content/0/text}` stand for what set them off.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "mcpreel overlay")]
pub struct Document {
    /// What it is for.
    #[serde(default)]
    pub name: String,
    /// Values that stand for `{names}` everywhere else in the file; `--value` says otherwise.
    #[serde(default)]
    pub values: Map<String, Value>,
    /// Hooks that the server declares.
    #[serde(default)]
    pub hooks: Vec<Placed<HookPart>>,
    /// What a user's message is answered with: context out of the server's tools, one after another.
    #[serde(default)]
    pub conversation: Vec<Placed<AnswerPart>>,
    /// What is sent when something happens.
    #[serde(default)]
    pub rules: Vec<Placed<RulePart>>,
    /// What the proposals are to do otherwise, as `serve --set` takes it: proposal to option to value.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub settings: Option<Placed<Value>>,
}

/// One hook: exactly one of `context`, `context_tool` and `answer`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HookPart {
    /// When it fires: session_start, session_end, pre_tool_use, post_tool_use, pre_request or post_request.
    pub event: String,
    /// For which tools: tool_name, input_contains, tool_server.
    pub matcher: Option<Map<String, Value>>,
    /// How strongly it is meant: suggestion, important or required.
    pub priority: String,
    /// A text to inject. The host replaces {project_name} and the like.
    pub context: Option<String>,
    /// A tool of the server whose result is injected; the host calls it.
    pub context_tool: Option<String>,
    /// The tool's arguments.
    pub context_tool_args: Option<Map<String, Value>>,
    /// A tool of the server that is called in its place, and how its result is worded. The host sees a tool with the
    /// name `hook_N` that is the overlay's; the arguments go through the host, which replaces {project_name} and the
    /// like.
    pub answer: Option<AnswerPart>,
}

/// A tool of the server, and what is made of its result.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerPart {
    /// The tool.
    pub tool: String,
    /// Its arguments. For a user's message: {content}, {messageId}, {history}.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// The text: {text} is that of the result, {result/…} any part of it.
    #[serde(default = "whole_text")]
    pub text: String,
    /// A result that matches gives nothing.
    pub unless: Option<TestPart>,
}

fn whole_text() -> String {
    "{text}".to_owned()
}

/// A value by JSON Pointer that is tested: exactly one of `equals`, `regex` and `glob`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestPart {
    /// Where, as a JSON Pointer; the whole without it.
    #[serde(default)]
    pub pointer: String,
    /// It is this; what is not there is null.
    #[serde(default, deserialize_with = "given")]
    pub equals: Option<Value>,
    /// This regular expression matches somewhere in its text: itself, or written as JSON.
    pub regex: Option<String>,
    /// This pattern with `*` and `?` matches its whole text.
    pub glob: Option<String>,
}

/// What is written counts, `null` too.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Something sent when something happens.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RulePart {
    /// What happens.
    pub when: WhenPart,
    /// How often at most.
    pub times: Option<u64>,
    /// How long nothing is sent after it was.
    pub cooldown: Option<Span>,
    /// What is sent: an object whose `kind` is `reminder`, `push` or `event`, as `serve --plan` takes it.
    #[schemars(with = "Map<String, Value>")]
    pub fire: Placed<Value>,
}

/// What happens: exactly one of these.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WhenPart {
    /// A request or notification is seen: {method}, {tool}, {params/…}.
    pub message: Option<MessagePart>,
    /// A request of the client's is answered with a result: {method}, {tool}, {params/…}, {result/…}, {text}.
    pub result: Option<ResultPart>,
    /// So long after the handshake, once.
    pub after: Option<Span>,
    /// Again and again after so long: {n} counts.
    pub every: Option<Span>,
    /// A file changed, by its path from the current folder: {path}. `*`, `**` and `?` are wildcards.
    pub file: Option<String>,
    /// A resource changed: {uri}. One without wildcards is subscribed to.
    pub resource: Option<String>,
}

/// A message. What is named must fit.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessagePart {
    /// The method; `*` and `?` are wildcards.
    pub method: String,
    /// Which way.
    pub direction: Option<WayPart>,
    /// The tool of a tools/call; `*` and `?` are wildcards.
    pub tool: Option<String>,
    /// A test of its params.
    pub matches: Option<TestPart>,
}

/// A result. What is named must fit.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResultPart {
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

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WayPart {
    /// To the server.
    C2s,
    /// To the client.
    S2c,
}

/// The JSON Schema of the format.
pub fn schema() -> Value {
    schemars::schema_for!(Document).to_value()
}
