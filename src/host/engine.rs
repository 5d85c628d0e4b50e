//! The host: a conversation with any number of servers, with the host side of every proposal. Sans-IO: messages, times,
//! orders and the model's replies come in; messages, events and prompts go out.
//!
//! In a turn, the user's message goes to all proposals, which query their servers. Once all have settled, the host lays
//! out the prompt and asks the model. It runs the model's tool calls, with the hooks around them. The answer goes first
//! to the proposals that may change it, one after another, then to all; then the turn is over. A proposal may also
//! begin a turn without a message. Orders and such turns run one after another; inferences for servers run beside them.
//!
//! Never: tokio, sockets, clocks, printing, a proposal's name.

mod config;
mod orders;
mod servers;
#[cfg(test)]
mod tests;
mod turn;

pub use config::{HostConfig, ServerConfig, policies};
pub(crate) use orders::OrderResult;
pub use orders::{ModelReply, Order, ToolCall};

use super::client::{Output as ClientOutput, RequestHandle};
use super::prompt::{Prompt, QueuedInjection};
use crate::proposals::REGISTRY;
use crate::proposals::host::{ConsentQuestion, Effect, ServerId, ServerView, ToolUse};
use crate::proposals::host::{HostCx, HostEvent, HostSide, Inference, Inferred, LifecycleEvent, Mark, Utterance};
use crate::proposals::policy::Policy;
use serde_json::{Value, json};
use servers::{Owner, Server};
use std::collections::{HashMap, VecDeque};
use std::time::Duration;
use turn::Turn;

/// What the engine wants done or reports.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Send a message to a server.
    Send {
        /// The server.
        server: ServerId,
        /// The message.
        message: Vec<u8>,
    },
    /// An output of a server's client.
    Client {
        /// The server.
        server: ServerId,
        /// The output.
        output: ClientOutput,
    },
    /// Something happened that is worth reporting.
    Report(HostEvent),
    /// Ask the user; the answer is an [`Order::Allow`]. Without a user, the answer is no.
    AskConsent(ConsentQuestion),
    /// Mark a moment of the conversation in the reel: of one server's, or of all servers'.
    Mark(Option<ServerId>, Mark),
    /// Ask the model, and pass its reply to [`Host::model`].
    Prompt(Prompt),
    /// Ask the model outside of the conversation, and pass its output to [`Host::inferred_piece`] and
    /// [`Host::inferred`].
    Infer(Inference),
    /// An order has ended; each ends once, in order. Also a turn that no order asked for ([`OrderResult::Woken`]).
    OrderResult(OrderResult),
}

/// Work that waits to begin.
#[derive(Debug)]
enum Job {
    Order(Order),
    /// A turn that a proposal asked for: the proposal's index, the server, and the proposal's name for the turn.
    Wake(usize, ServerId, String),
}

/// What the host is waiting for.
#[derive(Debug)]
enum Work {
    Fresh,
    Connecting,
    Idle,
    /// All proposals have to settle.
    Settling(Box<Next>),
    /// The model has to reply.
    Model,
    /// A request of the host has to be answered.
    QueuedInjection(u64),
    Over,
}

/// What follows once the proposals have settled.
#[derive(Debug)]
enum Next {
    LayOut,
    Ask,
    CallTool(ToolUse),
    AfterTool(ToolUse, Result<Value, String>),
    /// The proposal at this index may change the model's answer.
    Rewrite(usize),
    TurnOver,
    /// What hooks inject at the session's end follows this number of pending injections.
    SessionEnd(usize),
    /// The session's last turn has ended like this.
    LastTurn(OrderResult),
    Finish(OrderResult),
}

struct ProposalHost {
    name: &'static str,
    side: Box<dyn HostSide>,
}

/// The host engine; see the module.
pub struct Host {
    config: HostConfig,
    policy: Policy,
    proposals: Vec<ProposalHost>,
    servers: Vec<Server>,
    views: Vec<ServerView>,
    owners: HashMap<(ServerId, RequestHandle), Owner>,
    /// Timed-out requests of proposals, the oldest first.
    given_up: VecDeque<(ServerId, RequestHandle)>,
    /// Tool calls in progress.
    calls: HashMap<(ServerId, RequestHandle), ToolUse>,
    /// Running inferences: the index of the proposal, by token.
    inferences: HashMap<u64, usize>,
    tokens: u64,
    rng: fastrand::Rng,
    jobs: VecDeque<Job>,
    work: Work,
    /// The tool call that the pending request makes.
    using: Option<ToolUse>,
    turns: u64,
    turn: Option<Turn>,
    history: Vec<Utterance>,
    pending: Vec<QueuedInjection>,
    effects: VecDeque<(usize, Effect)>,
    inbox: VecDeque<(ServerId, ClientOutput)>,
    out: Vec<Output>,
}

impl Host {
    /// A host that has not connected yet.
    pub fn new(config: HostConfig) -> Self {
        let proposals: Vec<ProposalHost> = REGISTRY
            .iter()
            .filter_map(|proposal| {
                Some(ProposalHost { name: proposal.descriptor().name, side: proposal.host_side(&config.policies)? })
            })
            .collect();
        let servers: Vec<Server> = config.servers.iter().map(|server| Server::new(server, &proposals)).collect();
        let views = servers.iter().map(Server::view).collect();
        Self {
            policy: config.policies.of("host", ""),
            rng: fastrand::Rng::with_seed(config.seed),
            proposals,
            servers,
            views,
            owners: HashMap::new(),
            given_up: VecDeque::new(),
            calls: HashMap::new(),
            inferences: HashMap::new(),
            tokens: 0,
            jobs: VecDeque::new(),
            work: Work::Fresh,
            using: None,
            turns: 0,
            turn: None,
            history: Vec::new(),
            pending: Vec::new(),
            effects: VecDeque::new(),
            inbox: VecDeque::new(),
            out: Vec::new(),
            config,
        }
    }

    /// Connects to all servers.
    pub fn start(&mut self, now: Duration) -> Vec<Output> {
        self.work = Work::Connecting;
        for at in 0..self.servers.len() {
            let outputs = self.servers[at].client.start(now);
            self.take_in(ServerId(at), outputs);
        }
        self.go_on(now)
    }

    /// Handles one message of a server.
    pub fn receive(&mut self, now: Duration, server: ServerId, message: &[u8]) -> Vec<Output> {
        if let Some(found) = self.servers.get_mut(server.0) {
            let outputs = found.client.receive(now, message);
            self.take_in(server, outputs);
        }
        self.go_on(now)
    }

    /// A request could not be delivered; see [`super::client::ClientEngine::undelivered`].
    pub fn undelivered(
        &mut self,
        now: Duration,
        server: ServerId,
        id: &[u8],
        reason: &str,
        refusal: Option<&[u8]>,
    ) -> Vec<Output> {
        if let Some(found) = self.servers.get_mut(server.0) {
            let outputs = found.client.undelivered(now, id, reason, refusal);
            self.take_in(server, outputs);
        }
        self.go_on(now)
    }

    /// A server dropped its session; see [`super::client::ClientEngine::session_over`].
    pub fn session_over(&mut self, now: Duration, server: ServerId, id: &[u8], reason: &str) -> Vec<Output> {
        if let Some(found) = self.servers.get_mut(server.0) {
            let outputs = found.client.session_over(now, id, reason);
            self.take_in(server, outputs);
        }
        self.go_on(now)
    }

    /// A server's connection was closed, or failed for `reason`.
    pub fn closed(&mut self, now: Duration, server: ServerId, reason: Option<&str>) -> Vec<Output> {
        if let Some(found) = self.servers.get_mut(server.0) {
            let outputs = match reason {
                Some(reason) => found.client.lost(now, reason),
                None => found.client.closed(now),
            };
            self.take_in(server, outputs);
            self.settle_effects(now);
            self.lose(now, server, reason.unwrap_or("it closed the connection"));
        }
        self.go_on(now)
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Duration) -> Vec<Output> {
        for at in 0..self.servers.len() {
            let outputs = self.servers[at].client.handle_timeout(now);
            self.take_in(ServerId(at), outputs);
        }
        self.ask_proposals(now, |side, cx| {
            if side.next_timeout().is_some_and(|at| at <= cx.now) {
                side.handle_timeout(cx);
            }
            false
        });
        self.go_on(now)
    }

    /// When to call [`Host::wake`].
    pub fn next_timeout(&self) -> Option<Duration> {
        let clients = self.servers.iter().filter_map(|server| server.client.next_timeout());
        clients.chain(self.proposals.iter().filter_map(|proposal| proposal.side.next_timeout())).min()
    }

    /// Accepts an order, which begins once those before it have ended.
    pub fn order(&mut self, now: Duration, order: Order) -> Vec<Output> {
        self.jobs.push_back(Job::Order(order));
        self.go_on(now)
    }

    /// Handles the model's reply to the last prompt; `Err` if the model failed.
    pub fn model(&mut self, now: Duration, reply: Result<ModelReply, String>) -> Vec<Output> {
        if matches!(self.work, Work::Model) {
            self.take_reply(now, reply);
        }
        self.go_on(now)
    }

    /// Handles a piece of the inference with this token.
    pub fn inferred_piece(&mut self, now: Duration, token: u64, text: &str) -> Vec<Output> {
        if let Some(&at) = self.inferences.get(&token) {
            self.ask_proposal(now, at, |side, cx| side.piece(cx, token, text));
        }
        self.go_on(now)
    }

    /// Handles the end of the inference with this token; `Err` if it failed.
    pub fn inferred(&mut self, now: Duration, token: u64, outcome: Result<Inferred, String>) -> Vec<Output> {
        if let Some(at) = self.inferences.remove(&token) {
            self.ask_proposal(now, at, |side, cx| side.inferred(cx, token, &outcome));
        }
        self.go_on(now)
    }

    /// Whether the model's answer may still be changed before it is shown.
    pub fn rewrites(&self) -> bool {
        self.proposals.iter().any(|proposal| proposal.side.rewrites())
    }

    /// Whether there is nothing in progress or waiting.
    pub fn is_idle(&self) -> bool {
        matches!(self.work, Work::Over) || matches!(self.work, Work::Idle) && self.jobs.is_empty()
    }

    /// The servers with pending requests, and the requests' methods.
    pub fn awaited(&self) -> Vec<(ServerId, String)> {
        let of = |(at, server): (usize, &Server)| {
            server.client.awaited().map(|method| (ServerId(at), method.to_owned())).collect::<Vec<_>>()
        };
        self.servers.iter().enumerate().flat_map(of).collect()
    }

    /// The servers, in order.
    pub fn servers(&self) -> &[ServerView] {
        &self.views
    }

    /// The names of the orders that proposals define.
    pub fn orders(&self) -> Vec<&'static str> {
        self.proposals.iter().flat_map(|proposal| proposal.side.orders()).copied().collect()
    }

    /// The state of all proposals, by their names, with servers by theirs.
    pub fn state(&self) -> Value {
        let state = |proposal: &ProposalHost| {
            let mut state = proposal.side.state();
            for one in state.as_array_mut().into_iter().flatten() {
                let at = one["server"].as_u64().and_then(|at| usize::try_from(at).ok());
                if let Some(view) = at.and_then(|at| self.views.get(at)) {
                    one["server"] = view.name.as_str().into();
                }
            }
            (proposal.name.to_owned(), state)
        };
        Value::Object(self.proposals.iter().map(state).filter(|(_, state)| !state.is_null()).collect())
    }

    /// Calls one proposal, by its index.
    fn ask_proposal(&mut self, now: Duration, at: usize, ask: impl FnOnce(&mut dyn HostSide, &mut HostCx<'_>)) {
        let (mut place, mut ask) = (0, Some(ask));
        self.ask_proposals(now, |side, cx| {
            place += 1;
            if place > at
                && let Some(ask) = ask.take()
            {
                ask(side, cx);
            }
            place > at
        });
    }

    /// Calls every proposal in the registry's order until one returns true.
    fn ask_proposals(
        &mut self,
        now: Duration,
        mut ask: impl FnMut(&mut dyn HostSide, &mut HostCx<'_>) -> bool,
    ) -> bool {
        let mut effects = Vec::new();
        for (index, proposal) in self.proposals.iter_mut().enumerate() {
            let names = (self.config.project.as_str(), self.config.session.as_str(), &self.config.model);
            let turn = if self.turn.is_some() { self.turns } else { self.turns + 1 };
            let mut cx = HostCx::new(now, turn, &self.views, names, (&mut self.tokens, &mut effects));
            let was_meant = ask(&mut *proposal.side, cx.of(proposal.name));
            self.effects.extend(effects.drain(..).map(|effect| (index, effect)));
            if was_meant {
                return true;
            }
        }
        false
    }

    fn announce(&mut self, now: Duration, moment: &LifecycleEvent<'_>, next: Next) {
        self.ask_proposals(now, |side, cx| {
            side.lifecycle_event(cx, moment);
            false
        });
        self.work = Work::Settling(Box::new(next));
    }

    fn report(&mut self, what: &'static str, server: Option<ServerId>, text: impl Into<String>, data: Value) {
        let data = if data.is_null() { json!({}) } else { data };
        self.out.push(Output::Report(HostEvent {
            proposal: "host",
            what,
            server,
            text: text.into(),
            data,
            is_mistake: false,
        }));
    }

    fn finish(&mut self, done: OrderResult) {
        self.work = if done == OrderResult::Ended { Work::Over } else { Work::Idle };
        self.out.push(Output::OrderResult(done));
    }

    /// Continues as far as possible without further input.
    fn go_on(&mut self, now: Duration) -> Vec<Output> {
        loop {
            self.settle_effects(now);
            match std::mem::replace(&mut self.work, Work::Idle) {
                Work::Connecting if self.servers.iter().all(Server::is_settled) => {
                    self.announce(now, &LifecycleEvent::SessionStart, Next::Finish(OrderResult::Connected));
                }
                Work::Settling(next) if self.proposals.iter().all(|proposal| proposal.side.is_settled()) => {
                    self.proceed(now, *next)
                }
                Work::Idle => match self.jobs.pop_front() {
                    Some(Job::Order(order)) => self.begin(now, order),
                    Some(Job::Wake(proposal, server, key)) => self.begin_woken(now, proposal, server, &key),
                    None => break,
                },
                still => {
                    self.work = still;
                    break;
                }
            }
        }
        std::mem::take(&mut self.out)
    }

    fn proceed(&mut self, now: Duration, next: Next) {
        match next {
            Next::LayOut => {
                let agent = self.turn.as_ref().map(|turn| turn.agent).unwrap_or_default();
                self.announce(now, &LifecycleEvent::Prompt(agent), Next::Ask);
            }
            Next::Ask => self.lay_out(now),
            Next::CallTool(used) => self.call_tool(now, used),
            Next::AfterTool(used, result) => self.after_tool(now, used, result),
            Next::Rewrite(at) => self.rewrite(now, at),
            Next::TurnOver => self.end_turn(now),
            Next::SessionEnd(before) if self.pending.len() > before && self.policy.flag("final_turn") => {
                self.begin_last(now);
            }
            Next::SessionEnd(_) => self.end_session(),
            Next::LastTurn(done) => {
                self.out.push(Output::OrderResult(done));
                self.end_session();
            }
            Next::Finish(done) => self.finish(done),
        }
    }

    /// Ends the session, and reports the injections for which no prompt follows.
    fn end_session(&mut self) {
        for waiting in std::mem::take(&mut self.pending) {
            let injection = waiting.injection;
            let data = json!({"slot": injection.slot, "text": injection.text, "proposal": waiting.proposal});
            let text =
                format!("not injected, because no prompt follows: {:?}", crate::proposals::clip(&injection.text, 80));
            self.report("unprompted", Some(injection.server), text, data);
        }
        self.finish(OrderResult::Ended);
    }
}
