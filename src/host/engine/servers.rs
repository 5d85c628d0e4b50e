//! The host's servers: their clients and tools, and the owner of each pending request.

use super::{Host, Job, Next, OrderResult, Output, ProposalHost, ServerConfig, Work};
use crate::host::client::{ClientEngine, Handshake, Output as ClientOutput, RequestHandle};
use crate::host::prompt::QueuedInjection;
use crate::proposals::host::{
    ConsentQuestion, Effect, HostEvent, Inbound, Mark, Refusal, RequestOutcome, ServerId, ServerView, ToolUse,
};
use crate::proposals::{Declared, REGISTRY, Side, by_name};
use crate::protocol::{Era, Sender, errors};
use crate::wire::{Envelope, MessageKind, json as text};
use serde_json::{Value, json};
use std::time::Duration;

/// Maximum number of timed-out requests to remember for a late response.
const MAX_GIVEN_UP: usize = 1024;
/// Maximum number of tool lists to request from one server per [`LIST_PAUSE`].
const MAX_LISTS: u32 = 8;
const LIST_PAUSE: Duration = Duration::from_secs(1);
/// Maximum number of times to set up a server's sessions anew per [`RENEWALS_TIME`]. The set-up itself sends requests,
/// which a server that keeps no sessions would reject each time.
const MAX_RENEWALS: u32 = 3;
const RENEWALS_TIME: Duration = Duration::from_secs(60);
/// Maximum number of tools to read from a server.
const MAX_TOOLS: usize = 10_000;
/// Maximum number of pages of tools to read from a server.
const MAX_PAGES: u32 = 64;

/// The owner of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// A proposal, by its index, and its own token of the request.
    ProposalHost(usize, u64),
    /// The host.
    Host(u64),
    /// The tool list; the page's number.
    Tools(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Opening,
    Listing,
    Ready,
    Gone,
}

/// One server.
pub(super) struct Server {
    pub client: ClientEngine,
    name: String,
    /// The capabilities that its client declared to it.
    capabilities: Value,
    is_joined: bool,
    is_own: bool,
    state: State,
    /// The server's instructions for the model.
    pub instructions: Option<String>,
    /// The pages so far of an incomplete tool list.
    listed: Vec<Value>,
    is_listing: bool,
    /// Whether the list changed while it was read.
    list_changed: bool,
    /// How many lists were requested since `listed_at`.
    lists: u32,
    listed_at: Duration,
    /// How many sessions were renewed since `renewed_at`.
    renewals: u32,
    renewed_at: Duration,
}

impl Server {
    pub(super) fn new(config: &ServerConfig, proposals: &[ProposalHost]) -> Self {
        let mut client = config.client.clone();
        if client.capabilities.is_null() {
            client.capabilities = json!({});
        }
        for (path, value) in proposals.iter().flat_map(|proposal| proposal.side.declares(&config.name)) {
            let place = path.iter().fold(&mut client.capabilities, |place, name| &mut place[*name]);
            *place = value;
        }
        let capabilities = match &client.join {
            Some(joined) => joined.client_capabilities.clone(),
            None => client.capabilities.clone(),
        };
        let is_joined = client.join.is_some();
        let mut client = ClientEngine::new(client);
        for spec in REGISTRY.iter().flat_map(|proposal| proposal.descriptor().methods) {
            // A message that should be a notification may come as a request: the proposal sees it, and the host refuses
            // it here.
            if spec.sender != Sender::Client {
                client.leave(spec.name);
            }
        }
        Self {
            client,
            name: config.name.clone(),
            capabilities,
            is_joined,
            is_own: config.is_own,
            state: State::Opening,
            instructions: None,
            listed: Vec::new(),
            is_listing: false,
            list_changed: false,
            lists: 0,
            listed_at: Duration::ZERO,
            renewals: 0,
            renewed_at: Duration::ZERO,
        }
    }

    pub(super) fn view(&self) -> ServerView {
        let declared = Declared { client: self.capabilities.clone(), ..Declared::default() };
        let (name, is_joined, is_own) = (self.name.clone(), self.is_joined, self.is_own);
        ServerView { name, declared, is_joined, is_own, ..ServerView::default() }
    }

    /// Whether the server is ready or gone.
    pub(super) fn is_settled(&self) -> bool {
        matches!(self.state, State::Ready | State::Gone)
    }
}

impl Host {
    pub(super) fn take_in(&mut self, server: ServerId, outputs: Vec<ClientOutput>) {
        self.inbox.extend(outputs.into_iter().map(|output| (server, output)));
    }

    /// Applies the effects that proposals ask for and handles the clients' outputs until there are none left.
    pub(super) fn settle_effects(&mut self, now: Duration) {
        loop {
            if let Some((server, output)) = self.inbox.pop_front() {
                self.take_client_output(now, server, output);
            } else if let Some((proposal, effect)) = self.effects.pop_front() {
                self.grant(now, proposal, effect);
            } else {
                return;
            }
        }
    }

    fn grant(&mut self, now: Duration, proposal: usize, effect: Effect) {
        match effect {
            Effect::Request { token, server, method, mut params, timeout } => {
                let owner = Owner::ProposalHost(proposal, token);
                if method == "tools/call"
                    && let Err(why) = self.gate(now, server, &mut params)
                {
                    return self.replied(now, server, owner, &RequestOutcome::Failed(&why), b"");
                }
                self.send(now, server, &method, params, timeout, owner);
            }
            Effect::Notify { server, method, params } => {
                if let Some(found) = self.servers.get_mut(server.0) {
                    let outputs = found.client.notify(now, &method, params);
                    self.take_in(server, outputs);
                }
            }
            Effect::Respond { server, id, answer } => self.respond(server, &id, &answer),
            Effect::Inject(injection) => {
                self.pending.push(QueuedInjection { injection, proposal: self.proposals[proposal].name, at: now });
            }
            Effect::Infer(inference) => {
                self.inferences.insert(inference.token, proposal);
                self.out.push(Output::Infer(inference));
            }
            Effect::Wake { server, key } => self.jobs.push_back(Job::Wake(proposal, server, key)),
            Effect::Rewrite(answer) => self.rewritten(answer),
            Effect::Fail(why) => {
                if let Work::Settling(next) = &mut self.work
                    && let Next::Finish(done @ OrderResult::Ok) = &mut **next
                {
                    *done = OrderResult::Failed(why);
                }
            }
            Effect::AskConsent(server, text) => {
                let proposal = self.proposals.get(proposal).map_or("host", |proposal| proposal.name);
                self.out.push(Output::AskConsent(ConsentQuestion { proposal, server, text }));
            }
            Effect::Mark(server, mark) => self.out.push(Output::Mark(Some(server), mark)),
            Effect::Report(event) => self.out.push(Output::Report(event)),
        }
    }

    fn respond(&mut self, server: ServerId, id: &[u8], answer: &Result<Value, Refusal>) {
        if let Some(found) = self.servers.get(server.0) {
            let outputs = match answer {
                Ok(result) => found.client.respond(id, &Ok(result.clone())),
                Err(refused) => found.client.refuse(id, &refused.to_value()),
            };
            self.take_in(server, outputs);
        }
    }

    /// Lets the proposals forbid a tool call or add to its params.
    ///
    /// # Errors
    ///
    /// Why a proposal forbids the call.
    pub(super) fn gate(&mut self, now: Duration, server: ServerId, params: &mut Value) -> Result<(), String> {
        let used = tool_use(server, params);
        let mut verdict = Ok(());
        self.ask_proposals(now, |side, cx| {
            verdict = side.gate(cx, &used, params);
            verdict.is_err()
        });
        if let Err(why) = &verdict {
            let text = format!("{} is not called: {why}", used.tool);
            self.report("tool refused", Some(server), text, json!({"tool": used.tool, "reason": why}));
        }
        verdict
    }

    fn send(&mut self, now: Duration, server: ServerId, method: &str, params: Value, timeout: Duration, owner: Owner) {
        let Some(found) = self.servers.get_mut(server.0) else { return };
        let call = (method == "tools/call").then(|| tool_use(server, &params));
        let (handle, outputs) = found.client.request_with_deadline(now, method, params, timeout);
        self.owners.insert((server, handle), owner);
        self.calls.extend(call.map(|call| ((server, handle), call)));
        self.take_in(server, outputs);
    }

    /// Sends a request of the host itself, and returns the token of its response.
    pub(super) fn send_own(&mut self, now: Duration, server: ServerId, method: &str, params: Value) -> u64 {
        self.tokens += 1;
        let (token, timeout) = (self.tokens, self.policy.time("tool_timeout"));
        self.send(now, server, method, params, timeout, Owner::Host(token));
        token
    }

    fn take_client_output(&mut self, now: Duration, server: ServerId, output: ClientOutput) {
        match output {
            ClientOutput::Send(message) => self.out.push(Output::Send { server, message }),
            ClientOutput::Ready(handshake) => self.opened(now, server, handshake),
            ClientOutput::Renewed(handshake) => self.renewed(now, server, *handshake),
            ClientOutput::Answered { handle, message, latency, method, late } => {
                self.called(now, server, handle, &message);
                match self.owners.remove(&(server, handle)) {
                    Some(owner) => {
                        let envelope = Envelope::scan(&message);
                        self.replied(
                            now,
                            server,
                            owner,
                            &RequestOutcome::Answered { envelope: &envelope, latency },
                            &message,
                        );
                        if let (Owner::ProposalHost(at, _), Some(result)) = (owner, envelope.result) {
                            let what = format!("the result of {method}");
                            let definition = format!("{method}:result");
                            self.check_shape(server, at, (&definition, &what), &text::value_of(result));
                        }
                    }
                    None => {
                        let output = ClientOutput::Answered { handle, message, latency, method, late };
                        self.out.push(Output::Client { server, output });
                    }
                }
            }
            ClientOutput::TimedOut { handle, method, after } => self.timed_out(now, server, handle, &method, after),
            ClientOutput::Failed { handle: Some(handle), reason } => {
                self.calls.remove(&(server, handle));
                if let Some(owner) = self.owners.remove(&(server, handle)) {
                    self.replied(now, server, owner, &RequestOutcome::Failed(&reason.to_string()), b"");
                }
            }
            ClientOutput::Failed { handle: None, reason } => self.lose(now, server, &reason.to_string()),
            ClientOutput::Notification { message } => self.notified(now, server, message),
            ClientOutput::ServerRequest { method, message, answered_with: None } => {
                self.asked(now, server, method, message);
            }
            ClientOutput::Stray { message } => {
                let envelope = Envelope::scan(&message);
                let received = Inbound { envelope: &envelope, text: &message };
                self.ask_proposals(now, |side, cx| side.stray(cx, server, &received));
                self.out.push(Output::Client { server, output: ClientOutput::Stray { message } });
            }
            reported => self.out.push(Output::Client { server, output: reported }),
        }
    }

    fn opened(&mut self, now: Duration, server: ServerId, handshake: Handshake) {
        let Some((text, data)) = self.introduce(server, handshake) else { return };
        self.report("connected", Some(server), text, data);
        self.set_up(now, server);
    }

    /// Handles a renewed session. The server has forgotten the session before, so for the proposals it disconnects and
    /// connects again. Their pending requests were sent again and will still be answered.
    fn renewed(&mut self, now: Duration, server: ServerId, handshake: Handshake) {
        let Some((text, mut data)) = self.introduce(server, handshake) else { return };
        let Some(found) = self.servers.get_mut(server.0) else { return };
        if now.saturating_sub(found.renewed_at) >= RENEWALS_TIME {
            (found.renewals, found.renewed_at) = (0, now);
        }
        found.renewals += 1;
        let is_set_up = found.renewals <= MAX_RENEWALS;
        data["set_up"] = is_set_up.into();
        let outcome = match is_set_up {
            true => "the server was set up again",
            false => "the server dropped too many sessions within a minute, so it was not set up again",
        };
        self.report("renewed", Some(server), format!("{text}, in a new session: {outcome}"), data);
        if is_set_up {
            self.ask_proposals(now, |side, cx| {
                side.disconnected(cx, server);
                false
            });
            self.set_up(now, server);
        }
    }

    /// Records what a server says about itself, and describes what it speaks in words and as JSON.
    fn introduce(&mut self, server: ServerId, handshake: Handshake) -> Option<(String, Value)> {
        let (found, view) = (self.servers.get_mut(server.0)?, self.views.get_mut(server.0)?);
        view.own_name = handshake.server_info["name"].as_str().unwrap_or_default().to_owned();
        view.declared.server = handshake.server_capabilities;
        view.declared.ready = true;
        view.is_legacy = handshake.era == Era::Legacy;
        view.is_open = true;
        found.instructions = handshake.instructions;
        let carries = if view.is_legacy { "" } else { ", which cannot carry the five proposals" };
        let text = format!("{}: {} {}{carries}", view.name, handshake.era.name(), handshake.version_text);
        let data = json!({"era": handshake.era.name(), "version": handshake.version_text, "notes": handshake.notes});
        Some((text, data))
    }

    /// Lets the proposals set up a server, and requests its tools.
    fn set_up(&mut self, now: Duration, server: ServerId) {
        let (Some(found), Some(view)) = (self.servers.get_mut(server.0), self.views.get_mut(server.0)) else { return };
        let has_tools = view.declared.server.get("tools").is_some();
        found.state = if has_tools { State::Listing } else { State::Ready };
        self.ask_proposals(now, |side, cx| {
            side.connected(cx, server);
            false
        });
        self.check_declarations(server);
        if has_tools {
            self.list_tools(now, server);
        }
    }

    /// Reports what is malformed in the server's declarations of proposals.
    fn check_declarations(&mut self, server: ServerId) {
        let Some(view) = self.views.get(server.0) else { return };
        let capabilities = view.declared.server.clone();
        for (at, name) in self.proposals.iter().map(|proposal| proposal.name).enumerate().collect::<Vec<_>>() {
            let places = by_name(name).map_or(&[][..], |proposal| proposal.descriptor().places);
            for place in places.iter().filter(|place| place.side == Side::Server) {
                let Some(value) = place.value(&capabilities) else { continue };
                let what = format!("the capability {}", place.path.join("."));
                self.check_shape(server, at, (place.definition(), &what), value);
            }
        }
    }

    /// Reports a value that does not conform to a definition of a proposal (by the proposal's index), unless the
    /// proposal itself has just reported a mistake of the server.
    fn check_shape(&mut self, server: ServerId, at: usize, (definition, what): (&str, &str), value: &Value) {
        let reports = |effect: &(usize, Effect)| match effect {
            (from, Effect::Report(event)) => *from == at && event.is_mistake && event.server == Some(server),
            _ => false,
        };
        let Some(proposal) = self.proposals.get(at).and_then(|proposal| by_name(proposal.name)) else { return };
        if self.effects.iter().any(reports) {
            return;
        }
        if let Some(why) = proposal.violation(definition, value) {
            self.effects.push_back((
                at,
                Effect::Report(HostEvent {
                    proposal: proposal.descriptor().name,
                    what: "malformed",
                    server: Some(server),
                    text: format!("{what}: {why}"),
                    data: json!({"reason": why}),
                    is_mistake: true,
                }),
            ));
        }
    }

    /// Handles the loss of a server.
    pub(super) fn lose(&mut self, now: Duration, server: ServerId, reason: &str) {
        let Some(found) = self.servers.get_mut(server.0).filter(|found| found.state != State::Gone) else { return };
        found.state = State::Gone;
        let name = found.name.clone();
        if let Some(view) = self.views.get_mut(server.0) {
            view.is_open = false;
        }
        self.out.push(Output::Mark(Some(server), Mark::Gone));
        self.report("gone", Some(server), format!("{name}: {reason}"), json!({"reason": reason}));
        self.calls.retain(|(at, _), _| *at != server);
        let mut lost: Vec<(RequestHandle, Owner)> = Vec::new();
        self.owners.retain(|(at, handle), owner| {
            if *at == server {
                lost.push((*handle, *owner));
            }
            *at != server
        });
        lost.sort_by_key(|(handle, _)| *handle);
        for (_, owner) in lost {
            self.replied(now, server, owner, &RequestOutcome::Failed(reason), b"");
        }
        self.ask_proposals(now, |side, cx| {
            side.disconnected(cx, server);
            false
        });
    }

    fn timed_out(&mut self, now: Duration, server: ServerId, handle: RequestHandle, method: &str, after: Duration) {
        match self.owners.get(&(server, handle)).copied() {
            Some(owner) => {
                // A late response still goes to its proposal, and to all proposals if it answers a tool call.
                self.given_up.push_back((server, handle));
                if self.given_up.len() > MAX_GIVEN_UP
                    && let Some(oldest) = self.given_up.pop_front()
                {
                    self.owners.remove(&oldest);
                    self.calls.remove(&oldest);
                }
                if !matches!(owner, Owner::ProposalHost(..)) {
                    self.owners.remove(&(server, handle));
                }
                self.replied(now, server, owner, &RequestOutcome::TimedOut, b"");
            }
            None => self.lose(now, server, &format!("no response to {method} within {after:?}")),
        }
    }

    fn replied(&mut self, now: Duration, server: ServerId, owner: Owner, reply: &RequestOutcome<'_>, message: &[u8]) {
        match owner {
            Owner::ProposalHost(at, token) => {
                self.ask_proposal(now, at, |side, cx| side.replied(cx, server, token, reply))
            }
            Owner::Tools(page) => self.listed(now, server, page, reply),
            Owner::Host(token) => {
                if !matches!(self.work, Work::QueuedInjection(waited) if waited == token) {
                    return;
                }
                match self.using.take() {
                    Some(used) => self.tool_answered(now, used, tool_result(reply)),
                    None => match reply {
                        RequestOutcome::Answered { .. } => self.finish(OrderResult::Answer(message.to_vec())),
                        RequestOutcome::TimedOut => self.finish(OrderResult::Failed("no response in time".to_owned())),
                        RequestOutcome::Failed(why) => self.finish(OrderResult::Failed((*why).to_owned())),
                    },
                }
            }
        }
    }

    /// Shows a tool's result to all proposals, whichever of them called it.
    fn called(&mut self, now: Duration, server: ServerId, handle: RequestHandle, message: &[u8]) {
        let Some(used) = self.calls.remove(&(server, handle)) else { return };
        let result = Envelope::scan(message).result.map(text::value_of);
        if let Some(result) = result {
            self.ask_proposals(now, |side, cx| {
                side.called(cx, &used, &result);
                false
            });
        }
    }

    fn listed(&mut self, now: Duration, server: ServerId, page: u32, reply: &RequestOutcome<'_>) {
        let result = tool_result(reply).unwrap_or_else(|why| {
            self.report("no tools", Some(server), format!("its tools are unknown: {why}"), json!({"reason": why}));
            Value::Null
        });
        let Some(found) = self.servers.get_mut(server.0) else { return };
        found.listed.extend(result["tools"].as_array().into_iter().flatten().cloned());
        let is_enough = page >= MAX_PAGES || found.listed.len() >= MAX_TOOLS;
        match result["nextCursor"].as_str().filter(|_| !is_enough) {
            Some(cursor) => {
                let timeout = self.policy.time("tool_timeout");
                self.send(now, server, "tools/list", json!({"cursor": cursor}), timeout, Owner::Tools(page + 1));
            }
            None => {
                if found.state == State::Listing {
                    found.state = State::Ready;
                }
                let tools = std::mem::take(&mut found.listed);
                let is_stale = std::mem::take(&mut found.list_changed);
                found.is_listing = false;
                if let Some(view) = self.views.get_mut(server.0) {
                    let names = tools.iter().filter_map(|tool| tool["name"].as_str()).map(str::to_owned);
                    view.declared.tools = Some(names.collect());
                    view.tools = tools;
                }
                self.ask_proposals(now, |side, cx| {
                    side.listed(cx, server);
                    false
                });
                if is_stale {
                    self.list_tools(now, server);
                }
            }
        }
    }

    /// Requests a server's tools, one list at a time. The old list stays valid until the new one is complete. A limit
    /// applies to servers whose list changes each time it is read.
    fn list_tools(&mut self, now: Duration, server: ServerId) {
        let Some(found) = self.servers.get_mut(server.0) else { return };
        if found.is_listing {
            found.list_changed = true;
            return;
        }
        if found.lists >= MAX_LISTS && now.saturating_sub(found.listed_at) < LIST_PAUSE {
            return;
        }
        if now.saturating_sub(found.listed_at) >= LIST_PAUSE {
            (found.lists, found.listed_at) = (0, now);
        }
        (found.is_listing, found.lists) = (true, found.lists + 1);
        self.send(now, server, "tools/list", json!({}), self.policy.time("tool_timeout"), Owner::Tools(0));
    }

    fn notified(&mut self, now: Duration, server: ServerId, message: Vec<u8>) {
        let envelope = Envelope::scan(&message);
        let received = Inbound { envelope: &envelope, text: &message };
        self.ask_proposals(now, |side, cx| side.receive(cx, server, &received));
        if envelope.method.as_deref() == Some("notifications/tools/list_changed") {
            self.list_tools(now, server);
        }
        self.out.push(Output::Client { server, output: ClientOutput::Notification { message } });
    }

    /// Handles a request of a proposal's method: the proposal responds, or the host refuses it.
    fn asked(&mut self, now: Duration, server: ServerId, method: String, message: Vec<u8>) {
        let envelope = Envelope::scan(&message);
        let received = Inbound { envelope: &envelope, text: &message };
        let is_taken = self.ask_proposals(now, |side, cx| side.receive(cx, server, &received));
        let mut answered_with = None;
        if let (false, MessageKind::Request, Some(id)) = (is_taken, envelope.kind, envelope.id) {
            let why = match method.starts_with("notifications/") {
                true => format!("{method} is a notification, which has no id"),
                false => format!("this host does not support {method}"),
            };
            self.respond(server, id.0, &Err(Refusal::new(errors::METHOD_NOT_FOUND, why.clone())));
            answered_with = Some(Err((errors::METHOD_NOT_FOUND, why)));
        }
        self.out
            .push(Output::Client { server, output: ClientOutput::ServerRequest { method, message, answered_with } });
    }

    /// The server of this name.
    ///
    /// # Errors
    ///
    /// There is no such server; names those there are.
    pub(super) fn server_named(&self, name: &str) -> Result<ServerId, String> {
        match self.views.iter().position(|view| view.name == name) {
            Some(at) => Ok(ServerId(at)),
            None => {
                let known: Vec<&str> = self.views.iter().map(|view| view.name.as_str()).collect();
                Err(format!("unknown server {name:?}; known servers: {}", known.join(", ")))
            }
        }
    }
}

fn tool_use(server: ServerId, params: &Value) -> ToolUse {
    let tool = params["name"].as_str().unwrap_or_default().to_owned();
    let arguments = params.get("arguments").filter(|given| !given.is_null()).cloned();
    ToolUse { server: Some(server), tool, arguments: arguments.unwrap_or_else(|| json!({})), output: None }
}

fn tool_result(reply: &RequestOutcome<'_>) -> Result<Value, String> {
    match reply {
        RequestOutcome::Answered { envelope, .. } if envelope.kind == MessageKind::Error => {
            Err(String::from_utf8_lossy(envelope.error.unwrap_or_default()).into_owned())
        }
        RequestOutcome::Answered { envelope, .. } => Ok(text::value_of(envelope.result.unwrap_or_default())),
        RequestOutcome::TimedOut => Err("no response in time".to_owned()),
        RequestOutcome::Failed(why) => Err((*why).to_owned()),
    }
}
