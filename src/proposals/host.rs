//! The interface between the host's engine and the host side of a proposal: which events and messages a proposal
//! receives, and which effects it can request. Sans-IO: the context provides time, ids and randomness, and collects the
//! effects.
//!
//! It must never use tokio, files or clocks, or print.

mod consent;
mod inference;
mod quotation;

pub(crate) use super::refusal::Refusal;
pub(crate) use consent::{CONSENT, Consent, setting as consent_setting};
pub use inference::Inferred;
pub(crate) use inference::{Finish, Inference, ModelView, Usage, tokens};
pub(crate) use quotation::{clean, cut, is_hidden, label, quoted};

use super::Declared;
use crate::wire::Envelope;
use serde_json::{Value, json};
use std::time::Duration;

/// A server, as an index into the host's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerId(pub usize);

/// What proposals see of a server.
#[derive(Clone, Debug, Default)]
pub struct ServerView {
    /// Its name in the host's configuration.
    pub name: String,
    /// The name it gives itself (`serverInfo.name`).
    pub own_name: String,
    /// What both sides declared.
    pub declared: Declared,
    /// Whether its era is one in which the proposals work.
    pub is_legacy: bool,
    /// Whether the connection is open.
    pub is_open: bool,
    /// Whether the host has joined a connection that others opened: they negotiated it, and the server's requests go to
    /// its own client.
    pub is_joined: bool,
    /// Whether the user gave its command where the host was started. The host asks for no further consent to talk to it.
    pub is_own: bool,
    /// Its tools, as it listed them.
    pub tools: Vec<Value>,
}

/// How a turn begins.
#[derive(Clone, Copy, Debug)]
pub struct Beginning<'a> {
    /// The agent that runs it.
    pub agent: Agent,
    /// The user's message; `None` if the user did not send one.
    pub message: Option<&'a str>,
    /// The proposal that started it, and the key that it gave.
    pub woken: Option<(&'static str, &'a str)>,
}

/// The place of an injection in the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PromptPlace {
    /// With the host's own instructions.
    System,
    /// Immediately before the user's message.
    BeforeUser,
    /// Immediately after the user's message.
    AfterUser,
    /// Immediately after the result of the tool call that it belongs to; without one in this prompt, at the end.
    AfterTool,
}

impl PromptPlace {
    /// Its name in layouts and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::BeforeUser => "before_user",
            Self::AfterUser => "after_user",
            Self::AfterTool => "after_tool",
        }
    }
}

/// A kind of injection, and its default place. The user's layout can move it.
#[derive(Debug)]
pub struct Slot {
    /// Its name, as `PROPOSAL.WHAT`.
    pub name: &'static str,
    /// Its default place.
    pub place: PromptPlace,
    /// Its rank within the place, among the slots of all proposals: lower first.
    pub rank: u32,
}

/// A server's text for the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Injection {
    /// The server.
    pub server: ServerId,
    /// The name of the slot.
    pub slot: &'static str,
    /// The order within the slot: higher first, then by server.
    pub weight: i64,
    /// The kind of text, for its label.
    pub what: String,
    /// The text.
    pub text: String,
    /// What makes it a text of its own, although another one of the server's says the same: an event's id.
    pub id: Option<String>,
}

/// A tool call that hooks may react to.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolUse {
    /// The tool's server; `None` for a tool of the host's own.
    pub server: Option<ServerId>,
    /// The tool's name.
    pub tool: String,
    /// The arguments.
    pub arguments: Value,
    /// The result, once there is one.
    pub output: Option<Value>,
}

/// A message of the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Utterance {
    /// `user` or `assistant`.
    pub role: &'static str,
    /// The text.
    pub text: String,
}

/// The agent that runs a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Agent {
    /// The session's main agent.
    #[default]
    Main,
    /// A sub-agent in the same session.
    Sub,
    /// A sub-agent with a session of its own.
    Detached,
}

/// A moment in the conversation's life cycle.
#[derive(Clone, Copy, Debug)]
pub enum LifecycleEvent<'a> {
    /// All servers are connected, or have failed. The conversation is still empty.
    SessionStart,
    /// The user sent a message. The model has not seen it yet.
    UserMessage {
        /// Its id, unique in the session.
        message_id: &'a str,
        /// The text.
        text: &'a str,
        /// The earlier messages, oldest first.
        history: &'a [Utterance],
    },
    /// A turn begins. If the user sent a message, this follows immediately, and the host waits for both together.
    TurnBegins(Beginning<'a>),
    /// A tool call is about to start.
    BeforeTool(&'a ToolUse),
    /// A tool call has ended.
    AfterTool(&'a ToolUse),
    /// The host is about to compose the first prompt of a turn.
    Prompt(Agent),
    /// The host is about to compose a further prompt of a turn, after tool calls. It has what the first one had.
    FurtherPrompt(Agent),
    /// The model has answered, and proposals have changed the answer if they may ([`HostSide::rewrite`]).
    Answered(Agent, &'a str),
    /// A turn has ended.
    TurnOver(Agent),
    /// The host has compacted its transcript.
    Compacted,
    /// The session is about to end.
    SessionEnd,
}

/// A message that a server sent on its own.
#[derive(Clone, Copy, Debug)]
pub struct Inbound<'a> {
    /// Its envelope.
    pub envelope: &'a Envelope<'a>,
    /// Its exact text.
    pub text: &'a [u8],
}

/// The outcome of a request.
#[derive(Clone, Debug)]
pub enum RequestOutcome<'a> {
    /// The server responded.
    Answered {
        /// The response.
        envelope: &'a Envelope<'a>,
        /// Time since the request was sent.
        latency: Duration,
    },
    /// There was no response in time. It can still arrive later.
    TimedOut,
    /// The connection is gone, or the request was not let through.
    Failed(&'a str),
}

/// An event for the host's report.
#[derive(Clone, Debug, PartialEq)]
pub struct HostEvent {
    /// The proposal that reports it; `host` for the host itself.
    pub proposal: &'static str,
    /// A stable name of what happened.
    pub what: &'static str,
    /// The server that it concerns.
    pub server: Option<ServerId>,
    /// A description.
    pub text: String,
    /// The details.
    pub data: Value,
    /// Whether the server broke its proposal: what it sent is malformed, unasked for, sent twice or not permitted.
    pub is_mistake: bool,
}

/// What a proposal asks the host to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Send a request to a server.
    Request {
        /// Identifies the request when its outcome arrives.
        token: u64,
        /// The server.
        server: ServerId,
        /// The method.
        method: String,
        /// The params.
        params: Value,
        /// The response timeout.
        timeout: Duration,
    },
    /// Notify a server.
    Notify {
        /// The server.
        server: ServerId,
        /// The method.
        method: String,
        /// The params.
        params: Value,
    },
    /// Respond to a server's request.
    Respond {
        /// The server.
        server: ServerId,
        /// The request's id, as on the wire.
        id: Vec<u8>,
        /// The result, or an error.
        answer: Result<Value, Refusal>,
    },
    /// Ask the model outside of the conversation. The answer arrives at [`HostSide::piece`] and [`HostSide::inferred`].
    Infer(Inference),
    /// Begin a turn without a user's message, after the turns that were requested before.
    Wake {
        /// The server that the turn is attributed to.
        server: ServerId,
        /// Identifies the turn when it begins ([`Beginning::woken`]).
        key: String,
    },
    /// Replace the model's answer; `Err` with a reason if it must not be shown at all.
    Rewrite(Result<String, String>),
    /// The current order of the user's has failed.
    Fail(String),
    /// Add text to the next prompt.
    Inject(Injection),
    /// Ask the user whether the proposal may do what the text says. The answer arrives at [`HostSide::allow`].
    AskConsent(ServerId, String),
    /// Mark a moment in the reel, on the server's stream.
    Mark(ServerId, Mark),
    /// Report an event.
    Report(HostEvent),
}

/// A question of a proposal to the user, about a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsentQuestion {
    /// The proposal.
    pub proposal: &'static str,
    /// The server.
    pub server: ServerId,
    /// The question.
    pub text: String,
}

/// A moment of the conversation that a host marks in its reel (docs/trace-format.md, Marks).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// What waits goes into the model's next prompt.
    Turn,
    /// The model has answered.
    Inferred,
    /// The host has shortened the conversation.
    Compacted,
    /// The user has withdrawn the server's access to the conversation.
    Revoked,
    /// The user has granted that access again.
    Granted,
    /// The connection to the server is lost. No response can come any more.
    Gone,
}

/// What a proposal sees of the host during a call.
pub struct HostCx<'a> {
    /// Time since the host started.
    pub now: Duration,
    /// The number of the current turn, or of the next one. The first is 1.
    pub turn: u64,
    /// The servers, in the host's order.
    pub servers: &'a [ServerView],
    /// The project's name, for templates.
    pub project: &'a str,
    /// The session's id, for templates.
    pub session: &'a str,
    /// The host's model.
    pub model: &'a ModelView,
    proposal: &'static str,
    tokens: &'a mut u64,
    effects: &'a mut Vec<Effect>,
}

impl<'a> HostCx<'a> {
    /// A context that collects effects in `effects`.
    pub fn new(
        now: Duration,
        turn: u64,
        servers: &'a [ServerView],
        (project, session, model): (&'a str, &'a str, &'a ModelView),
        (tokens, effects): (&'a mut u64, &'a mut Vec<Effect>),
    ) -> Self {
        Self { now, turn, servers, project, session, model, proposal: "host", tokens, effects }
    }

    /// The same context for one proposal. Its reports name that proposal.
    pub fn of(&mut self, proposal: &'static str) -> &mut Self {
        self.proposal = proposal;
        self
    }

    /// A server.
    pub fn server(&self, id: ServerId) -> Option<&'a ServerView> {
        self.servers.get(id.0)
    }

    /// The open servers, in the host's order.
    pub fn open_servers(&self) -> impl Iterator<Item = (ServerId, &'a ServerView)> + use<'a> {
        self.servers.iter().enumerate().filter(|(_, view)| view.is_open).map(|(at, view)| (ServerId(at), view))
    }

    /// Sends a request to a server. The outcome arrives with the returned token.
    pub fn request(&mut self, server: ServerId, method: &str, params: Value, timeout: Duration) -> u64 {
        *self.tokens += 1;
        let (token, method) = (*self.tokens, method.to_owned());
        self.effects.push(Effect::Request { token, server, method, params, timeout });
        token
    }

    /// Sends a notification to a server.
    pub fn notify(&mut self, server: ServerId, method: &str, params: Value) {
        self.effects.push(Effect::Notify { server, method: method.to_owned(), params });
    }

    /// Responds to a server's request. `id` is the request's id as on the wire.
    pub fn respond(&mut self, server: ServerId, id: &[u8], answer: Result<Value, Refusal>) {
        self.effects.push(Effect::Respond { server, id: id.to_vec(), answer });
    }

    /// Asks the model for a server. Pieces and end arrive with the returned token.
    pub fn infer(&mut self, inference: Inference) -> u64 {
        *self.tokens += 1;
        let token = *self.tokens;
        self.effects.push(Effect::Infer(Inference { token, ..inference }));
        token
    }

    /// Begins a turn without a user's message.
    pub fn wake(&mut self, server: ServerId, key: &str) {
        self.effects.push(Effect::Wake { server, key: key.to_owned() });
    }

    /// Replaces the model's answer; `Err` if no answer may be shown.
    pub fn rewrite(&mut self, answer: Result<String, String>) {
        self.effects.push(Effect::Rewrite(answer));
    }

    /// The current order of the user's has failed.
    pub fn fail(&mut self, why: impl Into<String>) {
        self.effects.push(Effect::Fail(why.into()));
    }

    /// Adds text to the next prompt.
    pub fn inject(&mut self, injection: Injection) {
        self.effects.push(Effect::Inject(injection));
    }

    /// Asks the user whether the proposal may do what the question says. Without a user, nobody answers.
    pub fn ask_consent(&mut self, server: ServerId, question: impl Into<String>) {
        self.effects.push(Effect::AskConsent(server, question.into()));
    }

    /// Marks a moment in the reel, on the server's stream.
    pub fn mark(&mut self, server: ServerId, mark: Mark) {
        self.effects.push(Effect::Mark(server, mark));
    }

    /// Reports an event.
    pub fn report(&mut self, what: &'static str, server: Option<ServerId>, text: impl Into<String>, data: Value) {
        let (proposal, text) = (self.proposal, text.into());
        let data = if data.is_null() { json!({}) } else { data };
        self.effects.push(Effect::Report(HostEvent { proposal, what, server, text, data, is_mistake: false }));
    }

    /// Reports that a server broke the proposal ([`HostEvent::is_mistake`]).
    pub fn report_mistake(&mut self, what: &'static str, server: ServerId, text: impl Into<String>, data: Value) {
        self.report_verdict(what, server, text, data, true);
    }

    /// Reports an event that may be a server's mistake.
    pub fn report_verdict(
        &mut self,
        what: &'static str,
        server: ServerId,
        text: impl Into<String>,
        data: Value,
        is_mistake: bool,
    ) {
        self.report(what, Some(server), text, data);
        if let Some(Effect::Report(event)) = self.effects.last_mut() {
            event.is_mistake = is_mistake;
        }
    }
}

/// The host side of one proposal, for all servers.
pub trait HostSide {
    /// What the host declares to a server of this name: member names below `capabilities`, and values.
    fn declares(&self, _server: &str) -> Vec<(&'static [&'static str], Value)> {
        Vec::new()
    }

    /// A server has connected.
    fn connected(&mut self, _cx: &mut HostCx<'_>, _server: ServerId) {}

    /// The list of a server's tools is complete, or complete again. It never is for a server without tools.
    fn listed(&mut self, _cx: &mut HostCx<'_>, _server: ServerId) {}

    /// A server has disconnected.
    fn disconnected(&mut self, _cx: &mut HostCx<'_>, _server: ServerId) {}

    /// A moment in the conversation's life cycle. If the proposal has to wait then, [`HostSide::is_settled`] is false.
    fn lifecycle_event(&mut self, _cx: &mut HostCx<'_>, _moment: &LifecycleEvent<'_>) {}

    /// The next prompt does not contain the text of this injection of the proposal's, because it is full.
    fn left_out(&mut self, _injection: &Injection) {}

    /// Whether the conversation may continue.
    fn is_settled(&self) -> bool {
        true
    }

    /// Receives a notification, or a request of one of the proposal's methods. Returns whether it belongs to the
    /// proposal.
    fn receive(&mut self, _cx: &mut HostCx<'_>, _server: ServerId, _message: &Inbound<'_>) -> bool {
        false
    }

    /// Receives the outcome of a request of the proposal's. A late response follows [`RequestOutcome::TimedOut`].
    fn replied(&mut self, _cx: &mut HostCx<'_>, _server: ServerId, _token: u64, _reply: &RequestOutcome<'_>) {}

    /// A tool call is about to start, by the model, the user or another proposal, and hooks have seen it. The proposal
    /// may add members to the params of the request, or refuse it with a reason.
    fn gate(&mut self, _cx: &mut HostCx<'_>, _used: &ToolUse, _params: &mut Value) -> Result<(), String> {
        Ok(())
    }

    /// Receives a tool's result, no matter who called the tool.
    fn called(&mut self, _cx: &mut HostCx<'_>, _used: &ToolUse, _result: &Value) {}

    /// Whether it may replace the model's answer, so that the answer must not be shown before.
    fn rewrites(&self) -> bool {
        false
    }

    /// The model has answered. The proposal may replace the answer ([`Effect::Rewrite`]); the next proposal sees the
    /// new one.
    fn rewrite(&mut self, _cx: &mut HostCx<'_>, _answer: &str, _usage: Usage) {}

    /// Receives a response that belongs to no request. Returns whether it was meant for the proposal.
    fn stray(&mut self, _cx: &mut HostCx<'_>, _server: ServerId, _answer: &Inbound<'_>) -> bool {
        false
    }

    /// A piece of an inference that it requested.
    fn piece(&mut self, _cx: &mut HostCx<'_>, _token: u64, _text: &str) {}

    /// The end of an inference that it requested.
    fn inferred(&mut self, _cx: &mut HostCx<'_>, _token: u64, _outcome: &Result<Inferred, String>) {}

    /// A timer has expired.
    fn handle_timeout(&mut self, _cx: &mut HostCx<'_>) {}

    /// The time of the next timer.
    fn next_timeout(&self) -> Option<Duration> {
        None
    }

    /// The user grants or revokes a server's use of this proposal.
    fn allow(&mut self, _cx: &mut HostCx<'_>, _server: ServerId, _is_allowed: bool) {}

    /// The names of the orders that only this proposal understands, for [`HostSide::order`].
    fn orders(&self) -> &'static [&'static str] {
        &[]
    }

    /// Carries out an order of the user's that only this proposal understands. Returns `None` if the order is unknown,
    /// and `Err` with a reason if it is invalid.
    fn order(&mut self, _cx: &mut HostCx<'_>, _order: &str, _params: &Value) -> Option<Result<(), String>> {
        None
    }

    /// Its state, for the user to inspect.
    fn state(&self) -> Value {
        Value::Null
    }
}
