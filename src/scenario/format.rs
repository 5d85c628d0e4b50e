//! The scenario format as it is written: one YAML document, read with the places of what can be wrong in it. The doc
//! comments here are the descriptions in the published JSON Schema.
//!
//! Never: what a scenario means (see `plan`).

use crate::extension::policy::parse_time;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

/// A place in the text, both from 1; zero where it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// The line.
    pub line: u64,
    /// The column, in characters.
    pub column: u64,
}

/// A value, and where it stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Where.
    pub place: Place,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Placed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let found = serde_saphyr::Spanned::<T>::deserialize(deserializer)?;
        let place = Place { line: found.referenced.line(), column: found.referenced.column() };
        Ok(Self { value: found.value, place })
    }
}

impl<T: JsonSchema> JsonSchema for Placed<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// A mapping in the order in which it is written, each key with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T>(pub Vec<(Placed<String>, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for InOrder<T> {
            type Value = Named<T>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a mapping of names")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut named = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    named.push(entry);
                }
                Ok(Named(named))
            }
        }
        deserializer.deserialize_map(InOrder(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Named<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("NamedOf{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        BTreeMap::<String, T>::json_schema(generator)
    }
}

/// A time: `250ms`, `2s`, `1.5m`, `1h`, `1d`; a number alone is seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Duration);

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Placed { value, .. } = Placed::<String>::deserialize(deserializer)?;
        let wrong = || de::Error::custom(format!("{value:?} is no time; write 250ms, 2s, 1.5m, 1h or 1d"));
        parse_time(&value).map(Self).ok_or_else(wrong)
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Span".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A time: 250ms, 2s, 1.5m, 1h, 1d; a number alone is seconds.",
            "type": ["string", "number"],
            "minimum": 0,
            "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*(us|µs|ms|s|m|min|h|d)?\s*$",
        })
    }
}

/// Either a text alone, or a mapping of which the text is one member.
#[derive(Clone, Debug, PartialEq)]
pub struct TextOr<T>(pub T);

impl<'de, T: Deserialize<'de> + From<String>> Deserialize<'de> for TextOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + From<String>> Visitor<'de> for Either<T> {
            type Value = TextOr<T>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a text or a mapping")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(TextOr(T::from(text.to_owned())))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(de::value::MapAccessDeserializer::new(map)).map(TextOr)
            }
        }
        deserializer.deserialize_any(Either(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for TextOr<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("TextOr{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let whole = generator.subschema_for::<T>();
        json_schema!({"anyOf": [{"type": "string"}, whole]})
    }
}

/// One or several.
#[derive(Clone, Debug, PartialEq)]
pub struct Several<T>(pub Vec<T>);

impl<T> Default for Several<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de> + From<String>> Deserialize<'de> for Several<TextOr<T>> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + From<String>> Visitor<'de> for OneOrMore<T> {
            type Value = Several<TextOr<T>>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a text, a mapping, or a list of such")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Several(vec![TextOr(T::from(text.to_owned()))]))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let one = T::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(Several(vec![TextOr(one)]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(de::value::SeqAccessDeserializer::new(list)).map(Several)
            }
        }
        deserializer.deserialize_any(OneOrMore(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Several<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Several{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({"anyOf": [one, {"type": "array", "items": one}]})
    }
}

/// A scenario of mcpreel: servers, what a user and a model do, what servers do, faults, and what is expected of it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "mcpreel scenario")]
pub struct Document {
    /// What it shows.
    pub name: String,
    /// What all ids are drawn from: the same seed gives the same bytes.
    #[serde(default)]
    pub seed: u64,
    /// Whose time passes.
    #[serde(default)]
    pub clock: Clock,
    /// How to be a host.
    #[serde(default)]
    pub host: HostPart,
    /// The servers by name, in the host's order.
    #[serde(default)]
    pub servers: Named<ServerPart>,
    /// What is done, one step after another.
    #[serde(default)]
    pub steps: Vec<Placed<StepPart>>,
    /// What servers do at certain times, beside the steps. Times count from when all servers are connected.
    #[serde(default)]
    pub events: Vec<Placed<EventPart>>,
    /// What goes wrong with messages. Of several that fit one message, the first is done; all of them count it.
    #[serde(default)]
    pub faults: Vec<Placed<FaultPart>>,
    /// What is expected of the whole.
    #[serde(default)]
    pub expect: Vec<Placed<ExpectPart>>,
}

/// Whose time passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The clock on the wall.
    #[default]
    Real,
    /// Time jumps to whatever is due next. For built-in servers only.
    Virtual,
}

/// How to be a host.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostPart {
    /// The project's name, for templates of hooks.
    #[serde(default)]
    pub project: String,
    /// The session's name, for templates of hooks.
    pub session: Option<String>,
    /// What the host itself says to the model.
    #[serde(default)]
    pub system: String,
    /// Where injections stand in a prompt: place to list of slots.
    #[schemars(with = "Option<BTreeMap<String, Vec<String>>>")]
    pub layout: Option<Placed<Value>>,
    /// What the proposals leave to the host.
    #[serde(default)]
    pub policy: PolicyPart,
}

/// Values of options by room and option.
pub type RoomOptions = BTreeMap<String, BTreeMap<String, Placed<Value>>>;

/// What the proposals leave to the host.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyPart {
    /// For all servers: proposal to option to value.
    #[serde(default)]
    pub all: RoomOptions,
    /// For one server, by its name.
    #[serde(default)]
    pub servers: Named<RoomOptions>,
}

/// One server: exactly one of `builtin`, `command` and `url`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerPart {
    /// The built-in server, in the host's own process.
    pub builtin: Option<BuiltinPart>,
    /// A program and its arguments.
    pub command: Option<Placed<Vec<String>>>,
    /// The program's environment, beside the host's.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Where the program runs.
    pub cwd: Option<String>,
    /// Where the server listens.
    pub url: Option<Placed<String>>,
    /// Headers of every request to it.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// In which era to speak to it; without it, `legacy` with the built-in server and `auto` with others.
    pub era: Option<EraPart>,
}

/// An era.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EraPart {
    /// Probe.
    Auto,
    /// With a handshake.
    Legacy,
    /// Without one.
    Modern,
}

/// The built-in server.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BuiltinPart {
    /// The proposals that it declares; all without it.
    pub declare: Option<Vec<Placed<String>>>,
    /// What its ids are drawn from; follows from the scenario's where it is left out.
    pub seed: Option<u64>,
    /// What it does by itself, as `serve --plan` takes it.
    #[serde(default)]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub plans: Vec<Placed<Value>>,
    /// What its proposals are to do otherwise, as `serve --set` takes it: proposal to option to value.
    #[serde(default)]
    pub settings: Map<String, Value>,
    /// How long it waits for an answer of the host.
    pub answer_timeout: Option<Span>,
}

/// One step: exactly one of `user`, `tool`, `hook`, `request`, `compact`, `allow`, `revoke`, `wait`, `fire` (with
/// `server`), `disconnect` and `repeat`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepPart {
    /// A turn: what the user says.
    pub user: Option<TextOr<UserPart>>,
    /// What the model replies in this turn, one for each prompt; then, or without it, the chosen model answers.
    #[serde(default)]
    pub model: Several<TextOr<ReplyPart>>,
    /// Use a tool.
    pub tool: Option<ToolPart>,
    /// Fire a hook by hand: `event` and what belongs to it.
    pub hook: Option<Map<String, Value>>,
    /// A request to a server.
    pub request: Option<RequestPart>,
    /// Rewrite the transcript in short.
    pub compact: Option<CompactPart>,
    /// Allow a server what it proposes.
    pub allow: Option<AllowPart>,
    /// Allow it no longer.
    pub revoke: Option<AllowPart>,
    /// Let time pass.
    pub wait: Option<Span>,
    /// The server that fires.
    pub server: Option<Placed<String>>,
    /// Something that a built-in server sends: an object with its `kind`, as `serve --on-signal` takes it.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub fire: Option<Placed<Value>>,
    /// Cut the connection to a server.
    pub disconnect: Option<Placed<String>>,
    /// Steps that are done again and again. In their texts `{n}` is the count, from 1.
    pub repeat: Option<RepeatPart>,
    /// What is expected while the step lasts. A step lasts until its action is done and all this is decided.
    #[serde(default)]
    pub expect: Vec<Placed<ExpectPart>>,
}

/// A user's message.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserPart {
    /// The text; for a sub-agent, its task.
    pub text: String,
    /// Who runs the turn.
    #[serde(default)]
    pub agent: AgentPart,
}

impl From<String> for UserPart {
    fn from(text: String) -> Self {
        Self { text, agent: AgentPart::Main }
    }
}

/// Who runs a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentPart {
    /// The agent of the session.
    #[default]
    Main,
    /// A sub-agent in the same session.
    Sub,
    /// A sub-agent with a session of its own.
    Detached,
}

/// What the model replies.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplyPart {
    /// What it says.
    #[serde(default)]
    pub text: String,
    /// Tools that it wants used before its next prompt.
    #[serde(default)]
    pub calls: Vec<CallPart>,
}

impl From<String> for ReplyPart {
    fn from(text: String) -> Self {
        Self { text, calls: Vec::new() }
    }
}

/// A tool that the model calls.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallPart {
    /// The tool's name.
    pub tool: String,
    /// Whose; found by the tool's name where it is left out.
    pub server: Option<Placed<String>>,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// A tool to use.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolPart {
    /// Whose; found by the tool's name where it is left out.
    pub server: Option<Placed<String>>,
    /// The tool's name.
    pub name: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// A request.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestPart {
    /// Whom to ask.
    pub server: Placed<String>,
    /// The method.
    pub method: String,
    /// The params.
    #[serde(default)]
    pub params: Map<String, Value>,
}

/// A compaction.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompactPart {
    /// What stands in place of the transcript; without it, what the last turn said is kept.
    pub summary: Option<String>,
}

/// Whom to allow what.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllowPart {
    /// The server.
    pub server: Placed<String>,
    /// The proposal; all without it.
    pub proposal: Option<Placed<String>>,
}

/// Steps done several times.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepeatPart {
    /// How often.
    pub times: u64,
    /// What.
    pub steps: Vec<Placed<StepPart>>,
}

/// Something that a built-in server sends at a time.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventPart {
    /// When, from when all servers are connected.
    pub at: Span,
    /// After how long again; once without it.
    pub every: Option<Span>,
    /// How often at most; with `every`, until the end without it.
    pub times: Option<u64>,
    /// The server.
    pub server: Placed<String>,
    /// What: an object with its `kind`.
    #[schemars(with = "Map<String, Value>")]
    pub fire: Placed<Value>,
}

/// What goes wrong with which messages: exactly one of `delay`, `drop`, `duplicate`, `malformed` and `disconnect`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultPart {
    /// Messages of this connection only.
    pub server: Option<Placed<String>>,
    /// This way only.
    pub direction: Option<WayPart>,
    /// The method, or that of the answered request; `*` and `?` are wildcards.
    pub method: Option<Placed<String>>,
    /// Only the one with this number among those that fit, from 1; all without it.
    pub nth: Option<u64>,
    /// Arrives so much later; what follows may overtake it.
    pub delay: Option<Span>,
    /// Does not arrive.
    #[serde(default)]
    pub drop: bool,
    /// Arrives twice.
    #[serde(default)]
    pub duplicate: bool,
    /// This text arrives in its place.
    pub malformed: Option<String>,
    /// The connection breaks, and it does not arrive.
    #[serde(default)]
    pub disconnect: bool,
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WayPart {
    /// To the server.
    C2s,
    /// To the host.
    S2c,
}

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
    pub pointer: Named<Value>,
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

/// The JSON Schema of the format.
pub fn schema() -> Value {
    schemars::schema_for!(Document).to_value()
}
