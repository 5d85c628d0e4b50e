//! The five proposals and the registry that commands use. All have the same structure.
//!
//! A proposal's folder contains what it adds to MCP: a descriptor (methods, capabilities, tools, schemas), one-line
//! summaries, an observer with rules for a session, and the engines of its host and server sides.
//!
//! It must never use tokio, files or clocks, print, or depend on another proposal.

pub(crate) mod audit;
pub(crate) mod conversation;
pub(crate) mod findings;
pub(crate) mod hooks;
pub(crate) mod host;
pub(crate) mod mcpe;
pub(crate) mod mcpl;
pub(crate) mod policy;
pub(crate) mod recent;
pub(crate) mod refusal;
mod registry;
pub(crate) mod reminder;
pub(crate) mod samples;
pub(crate) mod server;
pub(crate) mod timestamp;
pub(crate) mod tool_result;

pub(crate) use findings::{Exemption, Findings};
pub use registry::Registry;

use self::host::{HostSide, Slot};
use self::policy::{Policies, Policy, Setting, Unusable};
use self::samples::Samples;
use crate::protocol::MethodSpec;
use crate::protocol::schema::{SchemaSet, SchemaViolation};
use crate::wire::{Direction, Envelope, json};
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// The side that declares a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The client, in the params of `initialize`.
    Client,
    /// The server, in the result of `initialize`.
    Server,
}

/// A place in the capabilities where a proposal is declared.
#[derive(Clone, Copy, Debug)]
pub struct CapabilityPlace {
    /// The side that declares it.
    pub side: Side,
    /// Member names below `capabilities`.
    pub path: &'static [&'static str],
    /// Whether the proposal itself names this place; other places are accepted, too.
    pub canonical: bool,
    /// Which values belong to this proposal. Another draft may use the same name.
    pub shape: Shape,
    /// The definition of the value in the schemas; `None` is `capability:server` or `capability:client`.
    pub definition: Option<&'static str>,
}

impl CapabilityPlace {
    /// A place whose schema is that of the side, and whose values all belong to the proposal.
    pub(crate) const fn new(side: Side, path: &'static [&'static str], canonical: bool) -> Self {
        Self { side, path, canonical, shape: Shape::Any, definition: None }
    }

    /// The value at this place, if there is one that belongs to the proposal. With null, a side declares nothing.
    pub(crate) fn value<'a>(&self, capabilities: &'a Value) -> Option<&'a Value> {
        let value = self.path.iter().try_fold(capabilities, |value, name| value.get(name))?;
        (!value.is_null() && self.shape.fits(value)).then_some(value)
    }

    /// The definition of the value in the proposal's schemas.
    pub(crate) fn definition(&self) -> &'static str {
        self.definition.unwrap_or(match self.side {
            Side::Client => "capability:client",
            Side::Server => "capability:server",
        })
    }
}

/// What a declaration must look like to belong to a proposal.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Any value.
    Any,
    /// An object with one of these members.
    HasOneOf(&'static [&'static str]),
    /// An object with no other members than these.
    HasOnly(&'static [&'static str]),
}

impl Shape {
    /// Whether a value looks like this.
    pub(crate) fn fits(self, value: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::HasOneOf(names) => names.iter().any(|name| value.get(name).is_some()),
            Self::HasOnly(names) => {
                value.as_object().is_some_and(|members| members.keys().all(|name| names.contains(&name.as_str())))
            }
        }
    }
}

/// What a proposal adds to MCP.
pub struct Descriptor {
    /// The proposal's name, as in the filter `ext:mcpl`.
    pub name: &'static str,
    /// The proposal's title.
    pub title: &'static str,
    /// A short citation.
    pub source: &'static str,
    /// Its terms, in two or three lines, for readers of its rules who do not know it.
    pub glossary: &'static str,
    /// What a side that declares it does, as a sentence.
    pub about: &'static str,
    /// The methods it adds.
    pub methods: &'static [MethodSpec],
    /// What each method does, as a sentence.
    pub texts: &'static [(&'static str, &'static str)],
    /// The meanings of error codes in responses to its methods. Elsewhere, the same code can have another meaning.
    pub errors: &'static [(i64, &'static str)],
    /// Its dialects, if sessions use different versions of it, and what each is.
    pub dialects: &'static [(&'static str, &'static str)],
    /// The tools that belong to it.
    pub tools: &'static [&'static str],
    /// The places where it is declared.
    pub places: &'static [CapabilityPlace],
    /// Its schemas: `METHOD:params`, `METHOD:result`, `capability:server`, `capability:client`.
    pub schemas: &'static SchemaSet,
}

impl Descriptor {
    /// The meaning of an error code in a response to one of the methods.
    pub(crate) fn error_name(&self, code: i64) -> Option<&'static str> {
        self.errors.iter().find(|(known, _)| *known == code).map(|(_, name)| *name)
    }
}

/// A message that a proposal summarizes.
#[derive(Clone, Copy, Debug)]
pub struct SummarizedMessage<'a> {
    /// The message's method. For a response, the method of the request.
    pub method: &'a str,
    /// The message's direction.
    pub direction: Direction,
    /// The message's envelope.
    pub envelope: &'a Envelope<'a>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Contradicts a recommendation, or is likely to fail somewhere.
    Warning,
    /// Contradicts a requirement.
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

/// A rule of the validator.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// A stable name, `proposal/what`.
    pub id: &'static str,
    /// The severity of a violation.
    pub severity: Severity,
    /// The requirement, as a sentence.
    pub text: &'static str,
    /// The specification or proposal and the section that require it.
    pub source: &'static str,
    /// For a source that leaves a question open (`AMB-A1`): the question, and what mcpreel assumes.
    pub decision: Option<&'static str>,
    /// What to do about a violation, as a sentence. Only rules of packs may lack it.
    pub fix: Option<&'static str>,
}

/// The rules that follow from one document.
#[derive(Debug)]
pub(crate) struct RuleGroup {
    /// The document: its short citation and its title.
    pub document: String,
    /// What a reader of the rules has to know about it, in two or three lines.
    pub glossary: &'static str,
    /// Its rules.
    pub rules: Vec<&'static Rule>,
}

/// A violation of a rule in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// The event where it was found; `None` if it concerns the whole session.
    pub seq: Option<u64>,
    /// What was found, as a sentence fragment.
    pub seen: String,
    /// The method of the message at that event, or of the request that it answers.
    pub method: Option<String>,
    /// JSON Pointer to the place in that message.
    pub path: Option<String>,
}

impl Finding {
    /// A violation at an event.
    pub fn at(rule: &'static Rule, seq: u64, seen: impl fmt::Display) -> Self {
        Self { rule, seq: Some(seq), seen: seen.to_string(), method: None, path: None }
    }

    /// A violation that concerns the whole session.
    pub fn overall(rule: &'static Rule, seen: impl fmt::Display) -> Self {
        Self { rule, seq: None, seen: seen.to_string(), method: None, path: None }
    }
}

/// One message of a session with its context, for observers.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'a> {
    /// The event's number.
    pub seq: u64,
    /// Nanoseconds since the reel's clock base.
    pub time: i64,
    /// The message's direction.
    pub direction: Direction,
    /// Its envelope.
    pub envelope: &'a Envelope<'a>,
    /// Its method. For a response, the method of the request.
    pub method: Option<&'a str>,
    /// Its params, result or error (`Null` if it has none or if it cannot be parsed).
    pub content: &'a Value,
    /// The request that a response belongs to.
    pub request: Option<&'a PendingRequest>,
    /// What both sides have declared so far.
    pub declared: &'a Declared,
    /// The whole message, for members outside of its content.
    pub whole: &'a Value,
    /// The HTTP exchange that carries it, or 0.
    pub exchange: u32,
}

/// A moment of the conversation behind a connection, as far as messages or marks in the reel show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConversationEvent {
    /// The host sends a user's message to the server. Observers see it as a turn.
    UserMessage,
    /// The host is about to ask the model. Observers see it as a turn unless that turn has already begun.
    Inference,
    /// The model's next turn. Pending text goes into its prompt.
    Turn,
    /// The model has answered.
    Inferred,
    /// The host compacted the conversation.
    Compacted,
    /// The user revoked the server's access to the conversation.
    Revoked,
    /// The user granted the access again.
    Granted,
    /// The host lost its connection to the server.
    Gone,
}

/// How long messages may be on their way when their sender learns that they are not wanted any more, in nanoseconds.
pub(crate) const ON_ITS_WAY_NS: i64 = 250_000_000;
/// The same as a duration.
pub(crate) const ON_ITS_WAY: Duration = Duration::from_nanos(ON_ITS_WAY_NS.unsigned_abs());

/// Content that a server can also send by means of another proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carried {
    /// Text for the turn that asked for it.
    Text(String),
    /// Text that waits for the model's next turn.
    WaitingText(String),
    /// The name of an event.
    Event(String),
}

/// A request without a response so far.
#[derive(Clone, Debug)]
pub struct PendingRequest {
    /// The event's number.
    pub seq: u64,
    /// The time in nanoseconds since the reel's clock base.
    pub time: i64,
    /// The request's direction.
    pub direction: Direction,
    /// The method.
    pub method: String,
    /// The params.
    pub params: Value,
}

/// What both sides of a connection have declared.
#[derive(Clone, Debug, Default)]
pub struct Declared {
    /// The client's `capabilities`.
    pub client: Value,
    /// The server's `capabilities`.
    pub server: Value,
    /// Whether the handshake is complete (`notifications/initialized` was seen), or the era has none.
    pub ready: bool,
    /// The names of the server's tools, once they were listed.
    pub tools: Option<Vec<String>>,
}

impl Declared {
    /// The first place where a side declares the proposal, and the value there.
    pub fn find(&self, descriptor: &Descriptor, side: Side) -> Option<(&'static CapabilityPlace, &Value)> {
        let capabilities = match side {
            Side::Client => &self.client,
            Side::Server => &self.server,
        };
        declared_at(descriptor, side, capabilities)
    }
}

/// Where a proposal stands in the capabilities of one side, and what it says there. The descriptor's first place that
/// is there applies.
pub(crate) fn declared_at<'a>(
    descriptor: &Descriptor,
    side: Side,
    capabilities: &'a Value,
) -> Option<(&'static CapabilityPlace, &'a Value)> {
    let mut places = descriptor.places.iter().filter(|place| place.side == side);
    places.find_map(|place| Some((place, place.value(capabilities)?)))
}

/// Checks one connection against a proposal's rules. It receives all messages in order.
pub trait Observer {
    /// Receives one message.
    fn observe(&mut self, message: &Observed<'_>, findings: &mut Findings);

    /// Receives a moment of the conversation, before the message that shows it.
    fn reach(&mut self, _moment: ConversationEvent, _seq: u64, _time: i64, _findings: &mut Findings) {}

    /// An HTTP exchange failed: the messages that it carried get no response.
    fn exchange_failed(&mut self, _exchange: u32) {}

    /// Some messages are missing here. Rules that depend on all messages no longer apply.
    fn lose_track(&mut self) {}

    /// The session has ended at `time`, in nanoseconds.
    fn finish(&mut self, _declared: &Declared, _time: i64, _findings: &mut Findings) {}

    /// The dialect of the proposal that the session uses, if there are several and it is known.
    fn dialect(&self) -> Option<&'static str> {
        None
    }
}

/// Checks all connections of a reel against rules that a single connection cannot break. Each finding belongs to one
/// connection: to one of its messages or to its end.
pub trait Overview {
    /// Receives one message of the connection `stream`.
    fn observe(&mut self, stream: u32, message: &Observed<'_>, findings: &mut Findings);

    /// Receives a moment of the conversation behind the connection `stream`.
    fn reach(&mut self, _stream: u32, _moment: ConversationEvent, _time: i64, _findings: &mut Findings) {}

    /// The connection ended, or some of its messages are missing. What happens elsewhere after `time` does not concern
    /// it.
    fn leave(&mut self, stream: u32, time: i64);

    /// The reel has ended. Called once for each connection.
    fn finish(&mut self, stream: u32, findings: &mut Findings);
}

/// A text that a host gives to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelText {
    /// The number of the event that carries it.
    pub seq: u64,
    /// Where it comes from, such as `mcpl push`; `user` for what the user wrote.
    pub source: &'static str,
    /// The text.
    pub text: String,
}

/// One proposal.
pub trait Proposal: Sync {
    /// What the proposal adds.
    fn descriptor(&self) -> &'static Descriptor;

    /// Appends a phrase about a message of this proposal: what a request asks for, or what a response grants. Appends
    /// nothing if there is nothing to say.
    fn summarize(&self, spoken: &SummarizedMessage<'_>, out: &mut String);

    /// The rules that its observer checks.
    fn rules(&self) -> &'static [Rule];

    /// A new observer for one connection.
    fn observer(&self) -> Box<dyn Observer>;

    /// A new overview of all connections, if the proposal has rules about several.
    fn overview(&self) -> Option<Box<dyn Overview>> {
        None
    }

    /// The moment of the conversation that a message of this proposal shows.
    fn conversation_event(&self, _message: &Observed<'_>) -> Option<ConversationEvent> {
        None
    }

    /// Content of a message that a server can also send by means of another proposal.
    fn carries(&self, _message: &Observed<'_>) -> Vec<Carried> {
        Vec::new()
    }

    /// The texts that a host gives to the model because of a message: its own, or those of the request that it accepts.
    fn model_texts(&self, message: &Observed<'_>) -> Vec<ModelText> {
        let texts = self.carries(message).into_iter().filter_map(|carried| match carried {
            Carried::Text(text) | Carried::WaitingText(text) => {
                Some(ModelText { seq: message.seq, source: self.descriptor().name, text })
            }
            Carried::Event(_) => None,
        });
        texts.collect()
    }

    /// The time within which the proposal expects the response to a request.
    fn response_limit(&self, _method: &str) -> Option<Duration> {
        None
    }

    /// Follows the operations of one connection for the audit log, if the proposal has operations.
    fn auditor(&self) -> Option<Box<dyn audit::Auditor>> {
        None
    }

    /// What a message shows about checkpoints. The message may also belong to MCP and only contain a part of the
    /// proposal.
    fn checkpoint_tree(&self, _message: &Observed<'_>) -> Option<audit::CheckpointStep> {
        None
    }

    /// Decides about a violation of a schema: `value` does not match the definition of this name. The schemas are as
    /// strict as the proposal, so this exempts harmless differences that real implementations have.
    fn exemption(&self, _definition: &str, _value: &Value, _violation: &SchemaViolation) -> Exemption {
        Exemption::None
    }

    /// What is wrong with a value by the definition of this name, if the proposal does not exempt it; a fragment of at
    /// most 160 characters.
    fn violation(&self, definition: &str, value: &Value) -> Option<String> {
        let violations = self.descriptor().schemas.check(definition, value)?;
        let counts = |violation: &&SchemaViolation| self.exemption(definition, value, violation) == Exemption::None;
        violations.iter().find(counts).map(|violation| clip(&violation.to_string(), 160).into_owned())
    }

    /// The options that the proposal leaves to the host.
    fn settings(&self) -> &'static [Setting] {
        &[]
    }

    /// The kinds of injections that its host side creates.
    fn slots(&self) -> &'static [Slot] {
        &[]
    }

    /// Its host side, if it has one.
    fn host_side(&self, _policies: &Policies) -> Option<Box<dyn HostSide>> {
        None
    }

    /// Whether a method belongs to another protocol that uses this proposal's names.
    fn is_neighbours(&self, _method: &str) -> bool {
        false
    }

    /// What is unusual about an error in a response to one of the proposal's methods, as sentence fragments.
    fn odd_refusal(&self, _error: &Value) -> Vec<String> {
        Vec::new()
    }

    /// An example of everything that a server may declare and send.
    fn samples(&self) -> Samples {
        Samples::default()
    }

    /// Checks the values of its [`Self::settings`] beyond their kinds.
    ///
    /// # Errors
    /// The name of the unusable option, and the reason.
    fn check_policy(&self, _policy: &Policy) -> Result<(), (&'static str, String)> {
        Ok(())
    }

    /// Its server side for a new connection of the built-in server, if it has one.
    fn server_side(&self) -> Option<Box<dyn server::ServerSide>> {
        None
    }
}

/// The five proposals. To add one, add its folder and one entry here.
pub static REGISTRY: &[&dyn Proposal] =
    &[&conversation::Conversation, &reminder::Reminder, &mcpl::Mcpl, &hooks::Hooks, &mcpe::Mcpe];

/// The options of all proposals.
pub(crate) fn settings() -> impl Iterator<Item = policy::Settings> {
    REGISTRY.iter().map(|proposal| (proposal.descriptor().name, proposal.settings()))
}

/// The capabilities of a host that declares these proposals with their default options.
pub(crate) fn host_capabilities(proposals: &[&dyn Proposal]) -> Value {
    let policies = Policies::new(settings());
    let mut capabilities = Value::Object(serde_json::Map::new());
    for (path, value) in
        proposals.iter().filter_map(|proposal| proposal.host_side(&policies)).flat_map(|side| side.declares(""))
    {
        *path.iter().fold(&mut capabilities, |place, name| &mut place[*name]) = value;
    }
    capabilities
}

/// The proposal with this name.
pub(crate) fn by_name(name: &str) -> Option<&'static dyn Proposal> {
    Registry::built_in().by_name(name)
}

/// The proposal that adds this method.
pub(crate) fn of_method(method: &str) -> Option<&'static dyn Proposal> {
    Registry::built_in().of_method(method)
}

/// A method by its name, of MCP or of a proposal.
pub(crate) fn method_spec(name: &str) -> Option<&'static MethodSpec> {
    Registry::built_in().method_spec(name)
}

/// The object that a proposal's tool returns, however it is wrapped: as `structuredContent`, as JSON in the first text
/// block, or as the bare result.
pub(crate) fn tool_outcome(result: &Value) -> Option<Value> {
    if let Some(structured) = result.get("structuredContent").filter(|value| value.is_object()) {
        return Some(structured.clone());
    }
    match result["content"].as_array() {
        Some(blocks) => {
            let text = blocks.iter().find_map(|block| block["text"].as_str())?;
            json::parsed(text.as_bytes()).filter(Value::is_object)
        }
        None => Some(result.clone()).filter(Value::is_object),
    }
}

/// How a response (a result, or an error if `is_error`) differs from the schema of its method, in the proposal or in
/// MCP. Each difference is a sentence fragment.
pub(crate) fn deviations(method: &str, is_error: bool, content: &Value) -> Vec<String> {
    let proposal = of_method(method);
    if is_error {
        let shape = [("code", content["code"].is_i64()), ("message", content["message"].is_string())];
        let odd = shape.into_iter().filter(|(_, fits)| !fits).map(|(name, _)| format!("the error has no valid {name}"));
        return odd.chain(proposal.map(|proposal| proposal.odd_refusal(content)).into_iter().flatten()).collect();
    }
    let schemas =
        proposal.map_or(crate::protocol::schema::core(crate::protocol::Era::Legacy), |it| it.descriptor().schemas);
    let violations = schemas.check(&format!("{method}:result"), content).unwrap_or_default();
    violations.iter().map(ToString::to_string).collect()
}

/// Checks whether the proposals can use the options, for all servers and for each one.
///
/// # Errors
/// The first unusable option.
pub(crate) fn check_policies(policies: &Policies) -> Result<(), Unusable> {
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

/// The meaning of an error code in a response to this method: according to its proposal, else to JSON-RPC or MCP.
pub(crate) fn error_name(method: &str, code: i64) -> Option<&'static str> {
    Registry::built_in().error_name(method, code)
}

/// The first `max` characters of a text, with an ellipsis if it was cut.
pub(crate) fn clip(text: &str, max: usize) -> std::borrow::Cow<'_, str> {
    if text.len() <= max {
        return text.into();
    }
    match text.char_indices().nth(max) {
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
