//! The server sides of the proposals on one connection, and what the server asks of all of them.

use super::Config;
use super::connection::Connection;
use crate::proposals::server::handler_job::{Infer, JobOutcome};
use crate::proposals::server::{Answer, Declaration, Firing, Granted, ServerCx, ServerSide, ToolCall, Unsent};
use crate::proposals::{Descriptor, Proposal};
use serde_json::{Value, json};
use std::time::Duration;

/// The server side of one proposal.
struct ActiveProposal {
    descriptor: &'static Descriptor,
    side: Box<dyn ServerSide>,
    /// The settings allow declaring it.
    is_wanted: bool,
    /// It is declared on this connection.
    is_on: bool,
}

/// All server sides, in the registry's order.
pub(super) struct ServerProposals(Vec<ActiveProposal>);

/// Checks the options of these proposals, and that each name is known.
///
/// # Errors
///
/// What is wrong, as a sentence fragment.
pub(super) fn check(proposals: &[&'static dyn Proposal], config: &Config) -> Result<(), String> {
    config.settings.iter().try_for_each(|(name, settings)| {
        let proposal = proposals.iter().find(|proposal| proposal.descriptor().name == name);
        let mut side =
            proposal.and_then(|proposal| proposal.server_side()).ok_or(format!("unknown proposal {name:?}"))?;
        side.configure(settings).map_err(|fault| format!("{name}: {fault}"))
    })
}

/// When a proposal is due: by a length of time or by a time of day, whichever comes first.
fn next_due(side: &dyn ServerSide, cx: &Connection) -> Option<Duration> {
    side.next_timeout(cx).into_iter().chain(side.next_date().map(|at| cx.when(at))).min()
}

impl ServerProposals {
    /// New server sides. Invalid options are ignored: [`Config::check`] reports them before.
    pub(super) fn new(proposals: &[&'static dyn Proposal], config: &Config) -> Self {
        let proposal = |proposal: &&'static dyn Proposal| {
            let (descriptor, mut side) = (proposal.descriptor(), proposal.server_side()?);
            if let Some(settings) = config.settings.get(descriptor.name) {
                let _ = side.configure(settings);
            }
            if !config.memory {
                side.forgo_memory();
            }
            side.permit(&config.outside.handler_policy);
            let is_wanted = config.declare.contains(descriptor.name);
            Some(ActiveProposal { descriptor, side, is_wanted, is_on: false })
        };
        Self(proposals.iter().filter_map(proposal).collect())
    }

    /// The capabilities to declare to a client with these capabilities.
    pub(super) fn declare(&mut self, client: &Value) -> Vec<Declaration> {
        let mut all = Vec::new();
        for proposal in self.0.iter_mut().filter(|proposal| proposal.is_wanted) {
            let declared = proposal.side.declare(client);
            proposal.is_on = !declared.is_empty();
            all.extend(declared);
        }
        all
    }

    /// The names of the proposals that a legacy host would get.
    pub(super) fn wanted(&self) -> Vec<&'static str> {
        self.0.iter().filter(|proposal| proposal.is_wanted).map(|proposal| proposal.descriptor.name).collect()
    }

    fn on(&mut self) -> impl Iterator<Item = &mut Box<dyn ServerSide>> {
        self.0.iter_mut().filter(|proposal| proposal.is_on).map(|proposal| &mut proposal.side)
    }

    /// Whether a proposal defines this method, on this connection or not.
    pub(super) fn know(&self, method: &str) -> bool {
        self.0.iter().any(|proposal| proposal.descriptor.methods.iter().any(|spec| spec.name == method))
    }

    pub(super) fn request(&mut self, method: &str, params: &Value, cx: &mut Connection) -> Option<Answer> {
        self.on().find_map(|side| side.request(method, params, cx))
    }

    pub(super) fn receive(&mut self, method: &str, params: &Value, cx: &mut Connection) -> bool {
        self.on().any(|side| side.receive(method, params, cx))
    }

    pub(super) fn call(&mut self, call: &ToolCall<'_>, cx: &mut Connection) -> Option<Answer> {
        self.on().find_map(|side| side.call(call, cx))
    }

    /// Whether a message of this kind should wait for the host's first configuration.
    pub(super) fn await_host(&mut self, kind: &str) -> bool {
        self.on().any(|side| side.awaits_host(kind))
    }

    /// The handshake is complete.
    pub(super) fn begin(&mut self, cx: &mut Connection) {
        self.on().for_each(|side| side.begin(cx));
    }

    /// Whether a proposal answers a tool call later.
    pub(super) fn defer(&mut self, call: &ToolCall<'_>, ticket: u64, cx: &mut Connection) -> bool {
        self.on().any(|side| side.defer(call, ticket, cx))
    }

    pub(super) fn list_tools(&self, tools: &mut Vec<Value>) {
        self.0.iter().filter(|proposal| proposal.is_on).for_each(|proposal| proposal.side.list_tools(tools));
    }

    /// Offers a result to the proposals. Returns whether one of them has reported it.
    pub(super) fn granted(&mut self, granted: &Granted<'_>, cx: &mut Connection) -> bool {
        let adds =
            |proposal: &&mut ActiveProposal| proposal.descriptor.methods.iter().any(|spec| spec.name == granted.method);
        self.0.iter_mut().filter(adds).any(|proposal| proposal.side.granted(granted, cx))
    }

    /// Informs the proposal of this method that a request failed.
    pub(super) fn denied(&mut self, method: &str, about: &Value, error: Option<&Value>, cx: &mut Connection) {
        let adds = |proposal: &&mut ActiveProposal| proposal.descriptor.methods.iter().any(|spec| spec.name == method);
        self.0.iter_mut().filter(adds).for_each(|proposal| proposal.side.denied(method, about, error, cx));
    }

    /// Passes the outcome of a job to the proposal that wanted it.
    pub(super) fn completed(&mut self, ticket: u64, outcome: &JobOutcome, cx: &mut Connection) {
        let _ = self.on().any(|side| side.completed(ticket, outcome, cx));
    }

    /// Whether a proposal can ask the host's model, or why not; `None` if none ever asks.
    pub(super) fn infers(&mut self) -> Option<Result<(), Unsent>> {
        let mut all: Vec<_> = self.on().filter_map(|side| side.infers()).collect();
        all.sort_by_key(Result::is_err);
        all.into_iter().next()
    }

    /// The request by which a proposal asks the host's model.
    pub(super) fn inference(&mut self, asked: &Infer) -> Option<(&'static str, Value)> {
        self.on().find_map(|side| side.inference(asked))
    }

    /// The host has closed its side.
    pub(super) fn end(&mut self, cx: &mut Connection) {
        self.on().for_each(|side| side.end(cx));
    }

    /// The time since the connection began at which the next one is due.
    pub(super) fn next_timeout(&self, cx: &Connection) -> Option<Duration> {
        self.0.iter().filter(|proposal| proposal.is_on).filter_map(|proposal| next_due(&*proposal.side, cx)).min()
    }

    /// The wall time at which the next one is due, if one follows the wall clock.
    pub(super) fn next_date(&self) -> Option<i64> {
        self.0.iter().filter(|proposal| proposal.is_on).filter_map(|proposal| proposal.side.next_date()).min()
    }

    /// Says that the wall clock was set, or the machine slept.
    pub(super) fn clock_stepped(&mut self, cx: &mut Connection) {
        self.on().for_each(|side| side.clock_stepped(cx));
    }

    /// Wakes those that are due.
    pub(super) fn handle_timeout(&mut self, cx: &mut Connection) {
        for side in self.on() {
            if next_due(&**side, cx).is_some_and(|at| at <= cx.now()) {
                side.handle_timeout(cx);
            }
        }
    }

    /// All kinds of messages that proposals can send.
    pub(super) fn fires(&self) -> impl Iterator<Item = &'static Firing> {
        self.0.iter().flat_map(|proposal| proposal.side.fires())
    }

    /// The schema of the members of a kind.
    pub(super) fn fire_schema(&self, kind: &str) -> Value {
        let defined = self
            .0
            .iter()
            .find_map(|proposal| proposal.descriptor.schemas.document()["$defs"].get(format!("fire:{kind}")));
        defined.cloned().unwrap_or_else(|| json!({}))
    }

    /// Checks params against their kind; kinds of no proposal pass.
    ///
    /// # Errors
    ///
    /// The first violation.
    pub(super) fn check_fire(&self, kind: &str, params: &Value) -> Result<(), String> {
        let name = format!("fire:{kind}");
        let violations = self.0.iter().find_map(|proposal| proposal.descriptor.schemas.check(&name, params));
        violations.unwrap_or_default().first().map_or(Ok(()), |violation| Err(violation.to_string()))
    }

    /// Checks params against the settings of their kind's proposal; kinds of no proposal pass.
    ///
    /// # Errors
    ///
    /// Why they would never be sent.
    pub(super) fn check_settings(&self, kind: &str, params: &Value) -> Result<(), String> {
        let knows = |proposal: &&ActiveProposal| proposal.side.fires().iter().any(|firing| firing.kind == kind);
        match self.0.iter().find(knows) {
            None => Ok(()),
            Some(proposal) if !proposal.is_wanted => {
                Err(format!("the server does not declare {}", proposal.descriptor.name))
            }
            Some(proposal) => proposal.side.check_fire(kind, params),
        }
    }

    /// Lets the proposal of this kind send it.
    ///
    /// # Errors
    ///
    /// Why it was not sent.
    pub(super) fn fire(&mut self, kind: &str, params: &Value, cx: &mut Connection) -> Result<String, Unsent> {
        let knows = |proposal: &&mut ActiveProposal| proposal.side.fires().iter().any(|firing| firing.kind == kind);
        let Some(proposal) = self.0.iter_mut().find(knows) else {
            return Err(Unsent::invalid(format!("unknown kind {kind:?}")));
        };
        let name = proposal.descriptor.name;
        if !proposal.is_on {
            let said = format!("{name} is not declared on this connection");
            return Err(Unsent::new("not_declared", said).with("proposal", name));
        }
        proposal.side.fire(kind, params, cx)
    }
}
