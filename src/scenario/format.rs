//! The scenario format as it is written: one YAML document, read with the places of what can be wrong in it. The doc
//! comments here are the descriptions in the published JSON Schema.
//!
//! Never: what a scenario means (see `plan`).

mod expectations;
mod values;

pub use expectations::{ExpectPart, FactPart, KindPart, MessagePart, PromptPart, ResultPart};
pub use values::{OrderedMap, Placed, Several, Span, TextOr, TextPosition};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

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
    pub servers: OrderedMap<ServerPart>,
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
    pub servers: OrderedMap<RoomOptions>,
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

/// One step: exactly one of `user`, `tool`, `hook`, `do`, `request`, `compact`, `allow`, `revoke`, `wait`, `fire` (with
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
    /// Have the host do what only a proposal knows: `order` (rollback, subscribe, channel-open, …) and what belongs to
    /// it, `server` among it.
    #[serde(rename = "do")]
    pub order: Option<Map<String, Value>>,
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

/// The JSON Schema of the format.
pub fn schema() -> Value {
    schemars::schema_for!(Document).to_value()
}
