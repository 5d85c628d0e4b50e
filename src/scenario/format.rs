//! The scenario format: one YAML document, parsed with positions for error messages. The doc comments here are the
//! descriptions in the published JSON Schema.
//!
//! Never: the meaning of a scenario (see `plan`).

mod expectations;
mod values;

pub(crate) use expectations::{ExpectPart, HostEventPart, KindPart, MessagePart, PromptPart, ResultPart};
pub(crate) use values::TextPosition;
pub(crate) use values::{OrderedMap, Placed, Several, Span, TextOr};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A scenario of mcpreel: servers, what a user and a model do, what servers do, faults, and expectations.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "mcpreel scenario")]
pub(super) struct Document {
    /// The purpose of the scenario.
    pub name: String,
    /// The seed of all ids: the same seed gives the same bytes.
    #[serde(default)]
    pub seed: u64,
    /// Whether time is real or virtual.
    #[serde(default)]
    pub clock: Clock,
    /// The host.
    #[serde(default)]
    pub host: HostPart,
    /// The servers by name, in the host's order.
    #[serde(default)]
    pub servers: OrderedMap<ServerPart>,
    /// The steps, one after another.
    #[serde(default)]
    pub steps: Vec<Placed<StepPart>>,
    /// What servers do at certain times, beside the steps. Times count from when all servers are connected.
    #[serde(default)]
    pub events: Vec<Placed<EventPart>>,
    /// Faults in messages. If several match a message, the first applies, but all of them count it.
    #[serde(default)]
    pub faults: Vec<Placed<FaultPart>>,
    /// Expectations about the whole scenario.
    #[serde(default)]
    pub expect: Vec<Placed<ExpectPart>>,
}

/// The clock of a scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// Real time.
    #[default]
    Real,
    /// Virtual time, which jumps to the next event. For built-in servers only.
    Virtual,
}

/// The configuration of the host.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HostPart {
    /// The project's name, for templates of hooks.
    #[serde(default)]
    pub project: String,
    /// The session's name, for templates of hooks.
    pub session: Option<String>,
    /// The system prompt.
    #[serde(default)]
    pub system: String,
    /// The positions of injections in a prompt: lists of slots by position.
    #[schemars(with = "Option<BTreeMap<String, Vec<String>>>")]
    pub layout: Option<Placed<Value>>,
    /// Options of the host and of the proposals.
    #[serde(default)]
    pub policy: PolicyPart,
}

/// Option values by proposal and option.
pub(super) type ProposalOptions = BTreeMap<String, BTreeMap<String, Placed<Value>>>;

/// Options of the host and of the proposals.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PolicyPart {
    /// For all servers: by proposal, then by option.
    #[serde(default)]
    pub all: ProposalOptions,
    /// For single servers, by name.
    #[serde(default)]
    pub servers: OrderedMap<ProposalOptions>,
}

/// A server, with exactly one of `builtin`, `command` and `url`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ServerPart {
    /// The built-in server, in the host's process.
    pub builtin: Option<BuiltinPart>,
    /// A program and its arguments.
    pub command: Option<Placed<Vec<String>>>,
    /// Environment variables for the program, in addition to the host's.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The program's working directory.
    pub cwd: Option<String>,
    /// The URL of a server that is already running.
    pub url: Option<Placed<String>>,
    /// Headers of every HTTP request to it.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The era to use; by default `legacy` for the built-in server and `auto` for others.
    pub era: Option<EraPart>,
}

/// An era of MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum EraPart {
    /// Probe the server.
    Auto,
    /// With a handshake.
    Legacy,
    /// Without a handshake.
    Modern,
}

/// The built-in server.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BuiltinPart {
    /// The proposals that it declares; by default all.
    pub declare: Option<Vec<Placed<String>>>,
    /// The seed of its ids; by default derived from the scenario's seed.
    pub seed: Option<u64>,
    /// What it sends by itself, as in `serve --plan`.
    #[serde(default)]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub plans: Vec<Placed<Value>>,
    /// Options of its proposals, as in `serve --set`: by proposal, then by option.
    #[serde(default)]
    pub settings: Map<String, Value>,
    /// How long it waits for a response of the host.
    pub answer_timeout: Option<Span>,
}

/// A step, with exactly one of `user`, `tool`, `hook`, `do`, `request`, `compact`, `allow`, `revoke`, `wait`, `fire`
/// (with `server`), `disconnect` and `repeat`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StepPart {
    /// A turn with this user message.
    pub user: Option<TextOr<UserPart>>,
    /// The model's replies in this turn, one for each prompt. After them, or without them, the selected model replies.
    #[serde(default)]
    pub model: Several<TextOr<ReplyPart>>,
    /// Call a tool.
    pub tool: Option<ToolPart>,
    /// Fire a hook by hand: `event` and its parameters.
    pub hook: Option<Map<String, Value>>,
    /// Let the host do something that a proposal defines: `order` (rollback, subscribe, channel-open, …) and its
    /// parameters, including `server`.
    #[serde(rename = "do")]
    pub order: Option<Map<String, Value>>,
    /// Send a request to a server.
    pub request: Option<RequestPart>,
    /// Compact the transcript.
    pub compact: Option<CompactPart>,
    /// Allow a server to use a proposal.
    pub allow: Option<AllowPart>,
    /// Revoke a server's permission to use a proposal.
    pub revoke: Option<AllowPart>,
    /// Wait.
    pub wait: Option<Span>,
    /// The server for `fire`.
    pub server: Option<Placed<String>>,
    /// Let a built-in server send something: an object with a `kind`, as in `serve --on-signal`.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub fire: Option<Placed<Value>>,
    /// Disconnect a server.
    pub disconnect: Option<Placed<String>>,
    /// Repeat steps. In their texts, `{n}` is the count, from 1.
    pub repeat: Option<RepeatPart>,
    /// Expectations about this step. A step ends when its action is over and all of them are decided.
    #[serde(default)]
    pub expect: Vec<Placed<ExpectPart>>,
}

/// A user message.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UserPart {
    /// The text; for a sub-agent, its task.
    pub text: String,
    /// The agent that runs the turn.
    #[serde(default)]
    pub agent: AgentPart,
}

impl From<String> for UserPart {
    fn from(text: String) -> Self {
        Self { text, agent: AgentPart::Main }
    }
}

/// The agent that runs a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum AgentPart {
    /// The agent of the session.
    #[default]
    Main,
    /// A sub-agent in the same session.
    Sub,
    /// A sub-agent with its own session.
    Detached,
}

/// A reply of the model.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplyPart {
    /// The text.
    #[serde(default)]
    pub text: String,
    /// Tools to call before the next prompt.
    #[serde(default)]
    pub calls: Vec<CallPart>,
}

impl From<String> for ReplyPart {
    fn from(text: String) -> Self {
        Self { text, calls: Vec::new() }
    }
}

/// A tool call of the model.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CallPart {
    /// The tool's name.
    pub tool: String,
    /// The server; by default the one that has a tool of this name.
    pub server: Option<Placed<String>>,
    /// The arguments.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolPart {
    /// The server; by default the one that has a tool of this name.
    pub server: Option<Placed<String>>,
    /// The tool's name.
    pub name: String,
    /// The arguments.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// A request.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestPart {
    /// The server.
    pub server: Placed<String>,
    /// The method.
    pub method: String,
    /// The params.
    #[serde(default)]
    pub params: Map<String, Value>,
}

/// A compaction of the transcript.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CompactPart {
    /// A summary that takes the place of all but the last turn.
    pub summary: Option<String>,
}

/// A permission.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AllowPart {
    /// The server.
    pub server: Placed<String>,
    /// The proposal; by default all.
    pub proposal: Option<Placed<String>>,
}

/// Repeated steps.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RepeatPart {
    /// The number of repetitions.
    pub times: u64,
    /// The steps.
    pub steps: Vec<Placed<StepPart>>,
}

/// Something that a built-in server sends at a certain time.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EventPart {
    /// When to send it, from when all servers are connected.
    pub at: Span,
    /// The interval of repetition; without it, it is sent once.
    pub every: Option<Span>,
    /// The number of times; by default, with `every`, until the end.
    pub times: Option<u64>,
    /// The server.
    pub server: Placed<String>,
    /// What to send: an object with a `kind`.
    #[schemars(with = "Map<String, Value>")]
    pub fire: Placed<Value>,
}

/// A fault in messages, with exactly one of `delay`, `drop`, `duplicate`, `malformed` and `disconnect`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FaultPart {
    /// Only messages of this server's connection.
    pub server: Option<Placed<String>>,
    /// Only messages in this direction.
    pub direction: Option<WayPart>,
    /// The method, or for a response, the method of its request; `*` and `?` are wildcards.
    pub method: Option<Placed<String>>,
    /// Only the matching message with this number, from 1; by default all.
    pub nth: Option<u64>,
    /// The message arrives this much later; messages after it may overtake it.
    pub delay: Option<Span>,
    /// The message does not arrive.
    #[serde(default)]
    pub drop: bool,
    /// The message arrives twice.
    #[serde(default)]
    pub duplicate: bool,
    /// This text arrives instead of the message.
    pub malformed: Option<String>,
    /// The connection breaks before the message arrives.
    #[serde(default)]
    pub disconnect: bool,
}

/// The direction of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum WayPart {
    /// To the server.
    C2s,
    /// To the host.
    S2c,
}

/// The JSON Schema of the format.
pub fn schema() -> Value {
    schemars::schema_for!(Document).to_value()
}
