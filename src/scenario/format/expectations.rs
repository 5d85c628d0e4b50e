//! Expectations as they are written.

use super::{OrderedMap, Placed, Span, WayPart};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::Deserializer;
use serde_json::Value;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KindPart {
    /// A request.
    Request,
    /// A notification.
    Notification,
    /// An answer with a result.
    Result,
    /// An answer with an error.
    Error,
}

/// One expectation: exactly one of `message`, `prompt`, `fact`, `result` and `validates`. It is met at least once
/// unless `times`, `at_least` or `never` says otherwise.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectPart {
    /// A message that arrives.
    pub message: Option<MessagePart>,
    /// A prompt that the model is asked with.
    pub prompt: Option<PromptPart>,
    /// Something that the host tells.
    pub fact: Option<FactPart>,
    /// What the step's tool or request gives; an error stands under `/error`.
    pub result: Option<ResultPart>,
    /// No breach of a rule of the validator.
    pub validates: Option<bool>,
    /// Within this time from the beginning of the step, or of the session. Without it: until the step's action is
    /// done, and where something is missing then, one second more.
    pub within: Option<Span>,
    /// Exactly so often.
    pub times: Option<u64>,
    /// At least so often.
    pub at_least: Option<u64>,
    /// Not at all.
    #[serde(default)]
    pub never: bool,
    /// Only after the expectation with this `id` was met.
    pub after: Option<Placed<String>>,
    /// Its name, for `after`.
    pub id: Option<Placed<String>>,
}

/// A message that arrives. What is named must fit.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessagePart {
    /// On whose connection.
    pub server: Option<Placed<String>>,
    /// Which way.
    pub direction: Option<WayPart>,
    /// The method, or that of the answered request; `*` and `?` are wildcards.
    pub method: Option<Placed<String>>,
    /// What it is.
    pub kind: Option<KindPart>,
    /// A part of its params, result or error. Members that are not named may be anything.
    pub content: Option<Value>,
    /// Values in its params, result or error by JSON Pointer.
    #[serde(default)]
    pub pointer: OrderedMap<Value>,
    /// A filter in the grammar of `mcpreel show`.
    pub filter: Option<Placed<String>>,
}

/// A prompt, or what one server (one slot) injected into it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptPart {
    /// Of this turn only; the first is 1.
    pub turn: Option<u64>,
    /// This one of a turn's prompts only; the first is 1.
    pub round: Option<u64>,
    /// Only what this server injected.
    pub server: Option<Placed<String>>,
    /// Only what stands in this slot.
    pub slot: Option<Placed<String>>,
    /// It has this text.
    pub contains: Option<String>,
    /// It does not have this text; one prompt that does breaks the expectation.
    pub lacks: Option<String>,
}

/// Something that the host tells.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FactPart {
    /// The proposal that it is about, or `host`.
    pub room: Option<Placed<String>>,
    /// What happened.
    pub what: Option<String>,
    /// About which server.
    pub server: Option<Placed<String>>,
    /// A piece of its words.
    pub contains: Option<String>,
    /// A part of its members.
    pub data: Option<Value>,
}

/// What a tool or a request gave.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResultPart {
    /// Where, as a JSON Pointer; the whole without it.
    #[serde(default)]
    pub pointer: String,
    /// It is this.
    #[serde(default, deserialize_with = "given")]
    pub equals: Option<Value>,
    /// It has this text: itself, or written as JSON.
    pub contains: Option<String>,
    /// It does not have this text.
    pub lacks: Option<String>,
}

/// What is written counts, `null` too.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
