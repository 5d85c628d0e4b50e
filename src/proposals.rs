//! The five proposals, one room each, every room of the same shape, and the registry that commands ask.
//!
//! A room holds what its proposal adds: a descriptor (methods, capabilities, tools, schemas), one-line summaries, an
//! observer with rules over a session, and the engines of its host and server sides.
//!
//! Never: tokio, files, clocks, printing; a room never knows another room.

pub mod audit;
pub mod checkpoint_tree;
pub mod conversation;
pub mod findings;
pub mod hooks;
pub mod host;
pub mod mcpe;
pub mod mcpl;
pub mod policy;
pub mod recent;
pub mod refusal;
pub mod reminder;
pub mod samples;
pub mod server;
pub mod timestamp;

pub use findings::{Exemption, Findings};

use self::host::{HostSide, Slot};
use self::policy::{Policies, Policy, Setting, Unusable};
use self::samples::Samples;
use crate::protocol::MethodSpec;
use crate::protocol::schema::{SchemaSet, SchemaViolation};
use crate::wire::{Direction, Envelope};
use foldhash::fast::RandomState;
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

/// Whose capabilities a place is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// `initialize` params.
    Client,
    /// `initialize` result.
    Server,
}

/// A place in the capabilities where a proposal is declared.
#[derive(Clone, Copy, Debug)]
pub struct CapabilityPlace {
    /// Whose.
    pub side: Side,
    /// Member names below `capabilities`.
    pub path: &'static [&'static str],
    /// Whether the proposal names this place first; the others are accepted.
    pub canonical: bool,
    /// Whether an object of this shape at the place is this proposal's (another one may use the same name).
    pub is_ours: fn(&Value) -> bool,
}

/// What a proposal adds to MCP.
pub struct Descriptor {
    /// The room's name, as in the filter `ext:mcpl`.
    pub name: &'static str,
    /// The proposal's title.
    pub title: &'static str,
    /// Where it is described, short.
    pub source: &'static str,
    /// The methods it adds.
    pub methods: &'static [MethodSpec],
    /// Tools whose calls belong to it.
    pub tools: &'static [&'static str],
    /// Where it is declared.
    pub places: &'static [CapabilityPlace],
    /// Its schemas: `METHOD:params`, `METHOD:result`, `capability:server`, `capability:client`.
    pub schemas: &'static SchemaSet,
}

/// A message as a room's summary sees it.
#[derive(Clone, Copy, Debug)]
pub struct Spoken<'a> {
    /// The method: its own, or for an answer, that of the request.
    pub method: &'a str,
    /// Which way it went.
    pub direction: Direction,
    /// Its envelope.
    pub envelope: &'a Envelope<'a>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Against a recommendation, or likely to break somewhere.
    Warning,
    /// Against the text.
    Error,
}

impl Severity {
    /// `info`, `warning` or `error`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One rule of a validator.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its stable name, `proposal/what`.
    pub id: &'static str,
    /// How bad a breach is.
    pub severity: Severity,
    /// What must hold, as a sentence.
    pub text: &'static str,
    /// Where that is said: the specification or proposal and its section.
    pub source: &'static str,
}

/// A breach of a rule at a place in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// The event it was seen at; `None` where it concerns the whole session.
    pub seq: Option<u64>,
    /// What was seen, as a sentence fragment.
    pub seen: String,
}

impl Finding {
    /// A breach seen at an event.
    pub fn at(rule: &'static Rule, seq: u64, seen: impl fmt::Display) -> Self {
        Self { rule, seq: Some(seq), seen: seen.to_string() }
    }

    /// A breach of a session as a whole.
    pub fn overall(rule: &'static Rule, seen: impl fmt::Display) -> Self {
        Self { rule, seq: None, seen: seen.to_string() }
    }
}

/// One message of a session, with what the session knows around it. What observers see.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'a> {
    /// The event's number.
    pub seq: u64,
    /// Nanoseconds since the reel's clock base.
    pub time: i64,
    /// Which way it went.
    pub direction: Direction,
    /// Its envelope.
    pub envelope: &'a Envelope<'a>,
    /// Its method; for an answer, that of the request it answers.
    pub method: Option<&'a str>,
    /// Its params, result or error as a value (`Null` where there is none or it does not parse).
    pub content: &'a Value,
    /// For an answer: the request it answers.
    pub request: Option<&'a Asked>,
    /// What was declared so far.
    pub declared: &'a Declared,
    /// The whole message as a value, for members that stand outside of its content.
    pub whole: &'a Value,
}

/// A moment of the conversation behind a connection, as far as its traffic or a mark in the reel tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConversationEvent {
    /// A user's message is given to the server. Observers see it as a turn.
    UserMessage,
    /// The model is about to be asked. Observers see it as a turn, unless it belongs to one that began already.
    Inference,
    /// The model's next turn: what waits for it goes into its prompt.
    Turn,
    /// The model has answered.
    Inferred,
    /// The host shortened the conversation.
    Compacted,
    /// The user took the server's access to the conversation back.
    Revoked,
    /// The user gave it again.
    Granted,
}

/// What a message carries that may come by another proposal's way too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carried {
    /// A text for the model's next turn.
    Text(String),
    /// The name of something that happened.
    Fact(String),
}

/// A request, as remembered until its answer comes.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The event's number.
    pub seq: u64,
    /// When.
    pub time: i64,
    /// Who asked: the direction it went.
    pub direction: Direction,
    /// Its method.
    pub method: String,
    /// Its params.
    pub params: Value,
}

/// What both sides of a connection have declared so far.
#[derive(Clone, Debug, Default)]
pub struct Declared {
    /// The client's `capabilities`.
    pub client: Value,
    /// The server's `capabilities`.
    pub server: Value,
    /// The handshake is over (`notifications/initialized` was seen), or the era has none.
    pub ready: bool,
    /// Names of the tools that were listed, once they were.
    pub tools: Option<Vec<String>>,
}

impl Declared {
    /// Where a proposal is declared by a side: the first place that has it.
    pub fn find(&self, descriptor: &Descriptor, side: Side) -> Option<(&'static CapabilityPlace, &Value)> {
        let capabilities = match side {
            Side::Client => &self.client,
            Side::Server => &self.server,
        };
        descriptor.places.iter().filter(|place| place.side == side).find_map(|place| {
            let value = place.path.iter().try_fold(capabilities, |value, name| value.get(name))?;
            (place.is_ours)(value).then_some((place, value))
        })
    }
}

/// Watches one connection for breaches of a proposal's rules. Sees every message of it in order.
pub trait Observer {
    /// Sees one message.
    fn observe(&mut self, message: &Observed<'_>, findings: &mut Findings);

    /// Sees a moment of the conversation, before the message that tells of it.
    fn reach(&mut self, _moment: ConversationEvent, _seq: u64, _time: i64, _findings: &mut Findings) {}

    /// Some messages are missing here: whatever depends on having seen all of them is no longer judged.
    fn lose_track(&mut self) {}

    /// The session is over.
    fn finish(&mut self, _declared: &Declared, _findings: &mut Findings) {}
}

/// Watches all connections of a reel at once, for rules that one connection alone cannot show. What it finds is told
/// of one of them, at a message of it or at its end.
pub trait Overview {
    /// Sees one message of the connection `stream`.
    fn observe(&mut self, stream: u32, message: &Observed<'_>, findings: &mut Findings);

    /// The connection ended, or messages of it are missing: what was said elsewhere after `time` does not concern it.
    fn leave(&mut self, stream: u32, time: i64);

    /// The reel is over; asked once a connection.
    fn finish(&mut self, stream: u32, findings: &mut Findings);
}

/// One proposal's room.
pub trait Proposal: Sync {
    /// What the proposal adds.
    fn descriptor(&self) -> &'static Descriptor;

    /// Appends one phrase on what a message of this proposal says: for a call what it asks, for an answer what it
    /// grants. Appends nothing where there is nothing to say.
    fn summarize(&self, spoken: &Spoken<'_>, out: &mut String);

    /// The rules that its observer checks.
    fn rules(&self) -> &'static [Rule];

    /// A fresh observer for one connection.
    fn observer(&self) -> Box<dyn Observer>;

    /// A fresh overview of all connections, where the proposal has rules about several.
    fn overview(&self) -> Option<Box<dyn Overview>> {
        None
    }

    /// The moment of the conversation that a message of this proposal tells of.
    fn conversation_event(&self, _message: &Observed<'_>) -> Option<ConversationEvent> {
        None
    }

    /// What a message of this proposal carries that may come by another way too.
    fn carries(&self, _message: &Observed<'_>) -> Vec<Carried> {
        Vec::new()
    }

    /// What a log of operations tells of an exchange by one of the proposal's methods.
    fn audit(&self, _method: &str, _params: &Value, _end: audit::OperationEnd<'_>) -> Vec<audit::OperationEntry> {
        Vec::new()
    }

    /// What a message, of this proposal or carrying a part of it, tells of checkpoints.
    fn checkpoint_tree(&self, _message: &Observed<'_>) -> Option<checkpoint_tree::Step> {
        None
    }

    /// What to make of a place where `value` does not fit the definition of this name in the room's schemas. The
    /// schemas are as strict as the proposal; what real peers do and nobody minds is forgiven here.
    fn exemption(&self, _definition: &str, _value: &Value, _violation: &SchemaViolation) -> Exemption {
        Exemption::None
    }

    /// The choices that the proposal leaves to the host.
    fn settings(&self) -> &'static [Setting] {
        &[]
    }

    /// The kinds of injections that its host side makes.
    fn slots(&self) -> &'static [Slot] {
        &[]
    }

    /// Its side in a host; `None` where there is none.
    fn host_side(&self, _policies: &Policies) -> Option<Box<dyn HostSide>> {
        None
    }

    /// What an error code means in answer to one of the proposal's methods. The same numbers mean other things
    /// elsewhere.
    fn error_name(&self, _code: i64) -> Option<&'static str> {
        None
    }

    /// Whether a method is one of another protocol that shares this proposal's names.
    fn is_neighbours(&self, _method: &str) -> bool {
        false
    }

    /// What is odd about an error in answer to one of the proposal's methods, as sentence fragments.
    fn odd_refusal(&self, _error: &Value) -> Vec<String> {
        Vec::new()
    }

    /// One example of all that a server may declare and send.
    fn samples(&self) -> Samples {
        Samples::default()
    }

    /// Whether the room can use what is set of its [`Self::settings`], beyond each option's kind.
    ///
    /// # Errors
    /// The option that it cannot use, and why.
    fn check_policy(&self, _policy: &Policy) -> Result<(), (&'static str, String)> {
        Ok(())
    }

    /// A fresh side in the built-in server for one connection, where the room has one.
    fn server_side(&self) -> Option<Box<dyn server::ServerSide>> {
        None
    }
}

/// Every room. Adding a proposal means its folder and a line here.
pub static REGISTRY: &[&dyn Proposal] =
    &[&conversation::Conversation, &reminder::Reminder, &mcpl::Mcpl, &hooks::Hooks, &mcpe::Mcpe];

/// Every room's options.
pub fn settings() -> impl Iterator<Item = policy::Settings> {
    REGISTRY.iter().map(|proposal| (proposal.descriptor().name, proposal.settings()))
}

/// The capabilities of a host that declares these rooms' proposals, each as it does unless told otherwise.
pub fn host_capabilities(proposals: &[&dyn Proposal]) -> Value {
    let policies = Policies::new(settings());
    let mut capabilities = Value::Object(serde_json::Map::new());
    for (path, value) in
        proposals.iter().filter_map(|proposal| proposal.host_side(&policies)).flat_map(|side| side.declares(""))
    {
        *path.iter().fold(&mut capabilities, |place, name| &mut place[*name]) = value;
    }
    capabilities
}

/// The room with this name.
pub fn by_name(name: &str) -> Option<&'static dyn Proposal> {
    REGISTRY.iter().copied().find(|proposal| proposal.descriptor().name == name)
}

/// The room that adds this method.
pub fn of_method(method: &str) -> Option<&'static dyn Proposal> {
    static BY_METHOD: LazyLock<HashMap<&str, &dyn Proposal, RandomState>> = LazyLock::new(|| {
        let proposals = REGISTRY.iter().copied();
        proposals
            .flat_map(|proposal| proposal.descriptor().methods.iter().map(move |spec| (spec.name, proposal)))
            .collect()
    });
    BY_METHOD.get(method).copied()
}

/// The room that owns this tool's calls.
pub fn of_tool(tool: &str) -> Option<&'static dyn Proposal> {
    REGISTRY.iter().copied().find(|proposal| proposal.descriptor().tools.contains(&tool))
}

/// The method by its name, wherever it stands: MCP's own or a proposal's.
pub fn method_spec(name: &str) -> Option<&'static MethodSpec> {
    crate::protocol::methods::lookup(name)
        .or_else(|| REGISTRY.iter().flat_map(|proposal| proposal.descriptor().methods).find(|spec| spec.name == name))
}

/// The object that a proposal's tool answers with, whichever way it is wrapped: as `structuredContent`, as JSON in the
/// first text block, or as the bare result.
pub fn tool_outcome(result: &Value) -> Option<Value> {
    if let Some(structured) = result.get("structuredContent").filter(|value| value.is_object()) {
        return Some(structured.clone());
    }
    match result["content"].as_array() {
        Some(blocks) => {
            let text = blocks.iter().find_map(|block| block["text"].as_str())?;
            serde_json::from_str(text).ok().filter(Value::is_object)
        }
        None => Some(result.clone()).filter(Value::is_object),
    }
}

/// How the answer to a request of this method differs from its schema, that of its room or that of MCP: a result, or
/// an error where `is_error`. As sentence fragments.
pub fn deviations(method: &str, is_error: bool, content: &Value) -> Vec<String> {
    let proposal = of_method(method);
    if is_error {
        let shape = [("code", content["code"].is_i64()), ("message", content["message"].is_string())];
        let odd = shape.into_iter().filter(|(_, fits)| !fits).map(|(name, _)| format!("the error has no sound {name}"));
        return odd.chain(proposal.map(|proposal| proposal.odd_refusal(content)).into_iter().flatten()).collect();
    }
    let schemas =
        proposal.map_or(crate::protocol::schema::core(crate::protocol::Era::Legacy), |it| it.descriptor().schemas);
    let violations = schemas.check(&format!("{method}:result"), content).unwrap_or_default();
    violations.iter().map(ToString::to_string).collect()
}

/// Whether the rooms can use what is set, for all servers and for each.
///
/// # Errors
/// The first option that they cannot use.
pub fn check_policies(policies: &Policies) -> Result<(), Unusable> {
    for server in std::iter::once(None).chain(policies.servers().map(Some)) {
        for proposal in REGISTRY {
            let name = proposal.descriptor().name;
            let checked = proposal.check_policy(&policies.of(name, server.unwrap_or_default()));
            checked.map_err(|(option, why)| Unusable {
                server: server.map(str::to_owned),
                option: format!("{name}.{option}"),
                why,
            })?;
        }
    }
    Ok(())
}

/// Whether a method belongs to another protocol that shares a proposal's names, so that its errors are its own.
pub fn is_neighbours(method: &str) -> bool {
    REGISTRY.iter().any(|proposal| proposal.is_neighbours(method))
}

/// What an error code means in answer to this method: by its room, then by JSON-RPC and MCP itself.
pub fn error_name(method: &str, code: i64) -> Option<&'static str> {
    of_method(method).and_then(|proposal| proposal.error_name(code)).or_else(|| crate::protocol::errors::name(code))
}

/// The first `most` characters of a text, with an ellipsis where it goes on.
pub(crate) fn clip(text: &str, most: usize) -> std::borrow::Cow<'_, str> {
    if text.len() <= most {
        return text.into();
    }
    match text.char_indices().nth(most) {
        None => text.into(),
        Some((end, _)) => format!("{}…", &text[..end]).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn proposals_do_not_claim_the_same_things() {
        let mut seen = HashSet::new();
        for proposal in REGISTRY {
            let descriptor = proposal.descriptor();
            assert!(seen.insert(descriptor.name));
            assert!(descriptor.methods.iter().all(|spec| seen.insert(spec.name)));
            assert!(descriptor.tools.iter().all(|tool| seen.insert(tool)));
            assert!(proposal.rules().iter().all(|rule| seen.insert(rule.id)));
            assert!(proposal.rules().iter().all(|rule| rule.id.starts_with(&format!("{}/", descriptor.name))));
        }
    }
}
