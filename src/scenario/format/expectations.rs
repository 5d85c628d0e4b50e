//! The format of expectations.

use super::{OrderedMap, Placed, Span, WayPart};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::Deserializer;
use serde_json::Value;

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KindPart {
    /// A request.
    Request,
    /// A notification.
    Notification,
    /// A response with a result.
    Result,
    /// A response with an error.
    Error,
}

/// An expectation, with exactly one of `message`, `prompt`, `fact`, `result` and `validates`. It must be met at least
/// once, unless `times`, `at_least` or `never` is given.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectPart {
    /// A message that arrives.
    pub message: Option<MessagePart>,
    /// A prompt for the model.
    pub prompt: Option<PromptPart>,
    /// An event that the host reports.
    pub fact: Option<HostEventPart>,
    /// The result of the step's tool or request; an error is at `/error`.
    pub result: Option<ResultPart>,
    /// Whether the session must break no rule of `mcpreel validate`.
    pub validates: Option<bool>,
    /// The time limit, from the beginning of the step or session. By default, until the step's action is over, plus one
    /// second if something is missing then.
    pub within: Option<Span>,
    /// Exactly this many times.
    pub times: Option<u64>,
    /// At least this many times.
    pub at_least: Option<u64>,
    /// Not at all.
    #[serde(default)]
    pub never: bool,
    /// Only after the expectation with this `id` was met.
    pub after: Option<Placed<String>>,
    /// An id, for `after`.
    pub id: Option<Placed<String>>,
}

/// A message that arrives; all given members must match.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MessagePart {
    /// The server of the connection.
    pub server: Option<Placed<String>>,
    /// The direction.
    pub direction: Option<WayPart>,
    /// The method, or for a response, the method of its request; `*` and `?` are wildcards.
    pub method: Option<Placed<String>>,
    /// The kind of message.
    pub kind: Option<KindPart>,
    /// A part of its params, result or error. Other members may have any value.
    pub content: Option<Value>,
    /// Values in its params, result or error, by JSON Pointer.
    #[serde(default)]
    pub pointer: OrderedMap<Value>,
    /// A filter, as in `mcpreel show`.
    pub filter: Option<Placed<String>>,
}

/// A prompt, or what one server (or slot) injected into it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PromptPart {
    /// Only prompts of this turn; the first is 1.
    pub turn: Option<u64>,
    /// Only this prompt of a turn; the first is 1.
    pub round: Option<u64>,
    /// Only what this server injected.
    pub server: Option<Placed<String>>,
    /// Only what this slot contains.
    pub slot: Option<Placed<String>>,
    /// It must contain this text.
    pub contains: Option<String>,
    /// It must not contain this text; a single prompt that does fails the expectation.
    pub lacks: Option<String>,
}

/// An event that the host reports.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HostEventPart {
    /// The proposal that it concerns, or `host`.
    pub proposal: Option<Placed<String>>,
    /// What happened.
    pub what: Option<String>,
    /// The server that it concerns.
    pub server: Option<Placed<String>>,
    /// A part of its text.
    pub contains: Option<String>,
    /// A part of its data.
    pub data: Option<Value>,
}

/// The result of a tool or request.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResultPart {
    /// The part to check, as a JSON Pointer; by default the whole result.
    #[serde(default)]
    pub pointer: String,
    /// It must equal this.
    #[serde(default, deserialize_with = "given")]
    pub equals: Option<Value>,
    /// It must contain this text (a string itself, or other values as JSON).
    pub contains: Option<String>,
    /// It must not contain this text.
    pub lacks: Option<String>,
}

/// Distinguishes an explicit null from a missing member.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
