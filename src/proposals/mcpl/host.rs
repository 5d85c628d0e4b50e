//! The host's side of MCPL: negotiates what servers declare, lets their events and channels begin turns, injects their
//! context into prompts, shows answers to their hooks, sends scopes and states along with tool calls, and runs their
//! inference requests.
//!
//! This file dispatches messages; each submodule handles one part of the proposal.
//!
//! It must never choose the ids of the host's requests, read clocks or print.

mod channels;
mod context;
mod inference;
mod irregular;
mod orders;
mod outgoing;
mod push;
mod requests;
mod scopes;
mod sets;
mod settings;
mod state;
mod states;
mod tools;
mod wakes;

pub(crate) use settings::SETTINGS;

/// Checks the values that the kinds of the options cannot check.
///
/// # Errors
/// The option, and what is wrong with it.
pub(crate) fn check_policy(policy: &Policy) -> Result<(), (&'static str, String)> {
    scopes::check(policy)?;
    tools::check_sets(policy).map_err(|why| ("tool_sets", why))
}

use super::{DESCRIPTOR, PUSH_EVENT, malformed};
use crate::proposals::host::{
    Consent, HostCx, HostSide, Inbound, Inferred, LifecycleEvent, PromptPlace, Refusal, RequestOutcome, ServerId,
};
use crate::proposals::host::{ModelView, Slot, ToolUse, Usage};
use crate::proposals::policy::{Policies, Policy};
use crate::proposals::recent::Recent;
use crate::proposals::{Declared, Side as Whose};
use crate::protocol::errors;
use crate::wire::{MessageKind, json as text};
use channels::Channels;
use context::{Chain, Turn};
use requests::{OpenRequest, RequestKind};
use scopes::Scopes;
use serde_json::{Value, json};
use sets::Sets;
use states::States;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

const SYSTEM: &str = "mcpl.system";
const BEFORE_USER: &str = "mcpl.beforeUser";
const AFTER_USER: &str = "mcpl.afterUser";
/// What began a turn, or waited for one: closest to the user message.
const EVENT: &str = "mcpl.event";

/// The places in the prompt into which MCPL injects.
pub(crate) static SLOTS: &[Slot] = &[
    Slot { name: SYSTEM, place: PromptPlace::System, rank: 10 },
    Slot { name: BEFORE_USER, place: PromptPlace::BeforeUser, rank: 10 },
    Slot { name: AFTER_USER, place: PromptPlace::AfterUser, rank: 10 },
    Slot { name: EVENT, place: PromptPlace::BeforeUser, rank: 90 },
];

/// How many event ids are remembered per server.
const MAX_EVENT_IDS: usize = 65_536;

/// A server that declared MCPL.
struct Peer {
    policy: Policy,
    /// Whether the user's messages and the model's answers may go to it.
    consent: Consent,
    /// The server's capability block (MCPL 0.4 §5.1).
    block: Value,
    /// The client's capability block (MCPL 0.4 §5.2).
    offered: Value,
    sets: Sets,
    scopes: Scopes,
    states: States,
    /// When the event with this id arrived.
    events: Recent<String, Duration>,
    channels: Channels,
    /// When its events began turns within the last minute.
    wakes: VecDeque<Duration>,
    /// How many inferences the server requested, and the tokens that they took.
    inferences: u64,
    inference_tokens: u64,
    /// Methods that were already reported as used but not declared.
    reported: Vec<String>,
}

impl Peer {
    /// Whether the host offers something, and the client that holds the connection declared it. In a live session,
    /// that client is not this host.
    fn offers(&self, what: &str) -> bool {
        let is_declared = sets::advertises(&self.offered, &format!("/{}", what.replace('.', "/")));
        is_declared && self.policy.words("offer").iter().any(|word| word == what)
    }

    /// Whether the server should have known that the host refuses a message with this set.
    fn is_mistake(&self, refused: &Refusal, set: &Value, now: Duration) -> bool {
        match refused.code {
            errors::INVALID_PARAMS | errors::INVALID_REQUEST | sets::UNKNOWN_SET => true,
            // The set does not list the use, or the server knew that it is disabled.
            sets::NOT_ENABLED => set.as_str().is_some_and(|set| self.sets.is_on(set) || self.sets.knows_off(set, now)),
            _ => false,
        }
    }

    /// Whether answers that its blocking hook did not see are withheld (MCPL 0.4 §13.3).
    fn fails_closed(&self) -> bool {
        self.policy.word("on_failure") == "closed"
    }
}

/// The host's side of MCPL, for all servers.
pub(crate) struct McplHostSide {
    policies: Policies,
    peers: BTreeMap<ServerId, Peer>,
    open: BTreeMap<u64, OpenRequest>,
    /// What began turns that have not started yet, and what waits for any turn.
    waiting: VecDeque<wakes::Event>,
    /// The current turn.
    turn: Option<Turn>,
    /// The answer, while it passes through the servers that may change it.
    chain: Option<Chain>,
    /// The names of servers that are no longer connected and without which no answer is shown.
    gone: BTreeSet<String>,
    /// Running inferences, by the host's token.
    inferring: BTreeMap<u64, inference::Running>,
    /// Requests for inferences that arrived during a hook of their server.
    parked: Vec<inference::Parked>,
    /// How many inferences and turns the conversation had.
    inferences: u64,
    turns: u64,
    /// The session is over: nothing begins a turn any more.
    is_over: bool,
}

impl McplHostSide {
    /// Without any servers.
    pub(crate) fn new(policies: &Policies) -> Self {
        Self {
            policies: policies.clone(),
            peers: BTreeMap::new(),
            open: BTreeMap::new(),
            waiting: VecDeque::new(),
            turn: None,
            chain: None,
            gone: BTreeSet::new(),
            inferring: BTreeMap::new(),
            parked: Vec::new(),
            inferences: 0,
            turns: 0,
            is_over: false,
        }
    }

    /// The id of the conversation's next inference.
    fn next_inference(&mut self) -> String {
        self.inferences += 1;
        format!("inf_{}", self.inferences)
    }

    /// Settles which sets are enabled, and informs the server. In a live session mcpreel sends no update: what the
    /// session's own host said holds until the user changes it.
    fn agree(&mut self, cx: &mut HostCx<'_>, server: ServerId) {
        if !cx.server(server).is_some_and(|view| view.is_joined) {
            return self.update(cx, server);
        }
        if let Some(peer) = self.peers.get_mut(&server) {
            let _ = peer.sets.update(&peer.policy, Value::Null);
        }
        self.stop_disabled(cx, server);
    }

    /// Asks the user whether the server may see the conversation, if its feature sets would let it.
    fn ask_to_hear(&mut self, cx: &mut HostCx<'_>, server: ServerId) {
        if let Some(peer) = self.peers.get_mut(&server).filter(|peer| context::hears(peer)) {
            let question = |name: &str| {
                format!(
                    "may {name} receive your messages and the model's answers? (if not, none of its feature sets is used)"
                )
            };
            peer.consent.ask(cx, server, question);
        }
    }

    /// Ends what sets that are disabled by now have begun: their inferences, and their requests for scopes.
    fn stop_disabled(&mut self, cx: &mut HostCx<'_>, server: ServerId) {
        let Some(Peer { sets, scopes, .. }) = self.peers.get_mut(&server) else { return };
        for pending in scopes.take(|pending| !sets.is_on(&pending.set)) {
            cx.respond(server, &pending.id, Ok(scopes::denial("its feature set was disabled")));
        }
        let stopped = |running: &inference::Running| running.server == server && !sets.is_on(&running.set);
        self.inferring.retain(|_, running| {
            let goes = stopped(running);
            if goes {
                cx.respond(server, &running.id, Err(sets::not_enabled(&running.set, "Feature set not enabled", true)));
            }
            !goes
        });
    }

    /// As [`Peer::is_mistake`]; a server that is gone made none.
    fn is_mistake(&self, server: ServerId, refused: &Refusal, set: &Value, now: Duration) -> bool {
        self.peers.get(&server).is_some_and(|peer| peer.is_mistake(refused, set, now))
    }

    /// Sends the server an update if its sets changed.
    fn update(&mut self, cx: &mut HostCx<'_>, server: ServerId) {
        let Some(peer) = self.peers.get_mut(&server) else { return };
        let scopes = peer.scopes.lists(peer.sets.with("scoped"));
        if let Some(params) = peer.sets.update(&peer.policy, scopes) {
            let text = format!("enabled {}, disabled {}", params["enabled"], params["disabled"]);
            peer.sets.told_at = Some(cx.now);
            cx.report("update", Some(server), text, params.clone());
            cx.notify(server, "featureSets/update", params);
        }
        self.stop_disabled(cx, server);
    }

    fn changed(&mut self, cx: &mut HostCx<'_>, server: ServerId, params: &Value) {
        let Some(peer) = self.peers.get_mut(&server) else { return };
        let odd = peer.sets.changed(params);
        cx.report(
            "sets changed",
            Some(server),
            format!("the server changed its feature sets: {}", peer.sets.state()),
            peer.sets.state(),
        );
        odd.into_iter().for_each(|odd| odd.report(cx, server));
        self.agree(cx, server);
        self.ask_to_hear(cx, server);
    }

    /// Responds if the message is a request.
    fn respond(cx: &mut HostCx<'_>, server: ServerId, id: Option<&[u8]>, answer: Result<Value, Refusal>) {
        if let Some(id) = id {
            cx.respond(server, id, answer);
        }
    }

    /// Whether the host handles a method of this server: the server declared MCPL and the host offers the method's
    /// capability.
    fn takes(&mut self, cx: &mut HostCx<'_>, server: ServerId, method: &str) -> bool {
        let offer = match method {
            PUSH_EVENT => "pushEvents",
            "inference/request" => "inferenceRequest",
            "model/info" => "modelInfo",
            "channels/register" | "channels/changed" | "channels/list" | "channels/incoming" => "channels",
            "featureSets/changed" | "scope/elevate" => "",
            _ => return false,
        };
        let Some(peer) = self.peers.get_mut(&server) else {
            let text = format!("the server sent {method}, but MCPL was not negotiated with it");
            cx.report_mistake("undeclared", server, text, json!({"method": method}));
            return false;
        };
        if !offer.is_empty() && !peer.offers(offer) {
            let text = format!("the server sent {method}, which the host does not offer");
            cx.report_mistake("not offered", server, text, json!({"method": method}));
            return false;
        }
        let is_advertised = offer.is_empty() || sets::advertises(&peer.block, &format!("/{offer}"));
        if !is_advertised && !peer.reported.iter().any(|reported| reported == method) {
            peer.reported.push(method.to_owned());
            let text = format!("the server sent {method}, but did not declare {offer}");
            cx.report_mistake("unadvertised", server, text, json!({"method": method, "capability": offer}));
        }
        true
    }

    /// The server cancels one of its requests.
    fn cancelled(&mut self, server: ServerId, request: &Value) {
        let id = request.to_string().into_bytes();
        self.inferring.retain(|_, running| running.server != server || running.id != id);
        self.parked.retain(|parked| parked.server != server || parked.id != id);
        if let Some(peer) = self.peers.get_mut(&server) {
            peer.scopes.take(|pending| pending.id == id);
        }
    }

    /// The session ends: refuses what waits for an answer, and waits for the responses that are still due.
    fn end(&mut self, cx: &mut HostCx<'_>) {
        self.is_over = true;
        self.report_without_turn(cx);
        self.open.values_mut().for_each(|open| open.holds = !open.is_late);
        for (server, peer) in &mut self.peers {
            for pending in peer.scopes.take(|_| true) {
                cx.respond(*server, &pending.id, Ok(scopes::denial("the session ends")));
            }
        }
        let running = std::mem::take(&mut self.inferring).into_values().map(|running| (running.server, running.id));
        let parked = std::mem::take(&mut self.parked).into_iter().map(|parked| (parked.server, parked.id));
        for (server, id) in running.chain(parked) {
            let why = Refusal::new(errors::INTERNAL_ERROR, "the session ends");
            cx.respond(server, &id, Err(why));
        }
    }
}

/// The contents of `model` in hooks and of the result of `model/info` (MCPL 0.4 §12.2).
fn model_info(model: &ModelView) -> Value {
    json!({"id": model.id, "vendor": model.vendor, "contextWindow": model.context_window,
        "capabilities": model.capabilities})
}

/// Reports params that are malformed. What becomes of the message is decided elsewhere.
fn report_malformed(cx: &mut HostCx<'_>, server: ServerId, method: &str, params: &Value) {
    if let Some(why) = malformed(method, params) {
        cx.report_mistake("malformed", server, format!("{method}: {why}"), json!({"method": method}));
    }
}

impl HostSide for McplHostSide {
    fn declares(&self, server: &str) -> Vec<(&'static [&'static str], Value)> {
        let block = sets::host_block(&self.policies.of("mcpl", server));
        block
            .map(|block| -> (&'static [&'static str], Value) { (&["experimental", "mcpl"], block) })
            .into_iter()
            .collect()
    }

    fn connected(&mut self, cx: &mut HostCx<'_>, server: ServerId) {
        let Some(view) = cx.server(server) else { return };
        let declared: &Declared = &view.declared;
        let Some((_, block)) = declared.find(&DESCRIPTOR, Whose::Server) else { return };
        let offered = declared.find(&DESCRIPTOR, Whose::Client).map(|(_, block)| block.clone());
        let is_offered = offered.is_some();
        if !block.is_object() || !is_offered || !view.is_legacy {
            let why = match (block.is_object(), is_offered) {
                (false, _) => "declares MCPL, but its capability block is not an object",
                (_, false) => "declares MCPL, although the client did not",
                _ => "declares MCPL, which needs the legacy era",
            };
            return cx.report("not used", Some(server), format!("{} {why}", view.name), Value::Null);
        }
        let policy = self.policies.of("mcpl", &view.name);
        let peer = Peer {
            consent: Consent::of(&policy, view),
            sets: Sets::new(block, &policy),
            scopes: Scopes::new(&policy),
            states: States::new(&policy),
            events: Recent::new(MAX_EVENT_IDS),
            channels: Channels::default(),
            wakes: VecDeque::new(),
            inferences: 0,
            inference_tokens: 0,
            reported: Vec::new(),
            block: block.clone(),
            offered: offered.unwrap_or_default(),
            policy,
        };
        let names: Vec<&str> = peer.sets.names().collect();
        let text =
            format!("{} speaks MCPL {}, with the feature sets {}", view.name, block["version"], names.join(", "));
        cx.report("negotiated", Some(server), text, json!({"version": block["version"], "sets": peer.sets.state()}));
        sets::oddities(block).into_iter().for_each(|odd| odd.report(cx, server));
        self.gone.remove(&view.name);
        self.peers.insert(server, peer);
        self.agree(cx, server);
        self.ask_to_hear(cx, server);
    }

    fn disconnected(&mut self, cx: &mut HostCx<'_>, server: ServerId) {
        if let Some(peer) = self.peers.remove(&server)
            && peer.fails_closed()
            && context::blocks(&peer)
            && let Some(view) = cx.server(server)
        {
            self.gone.insert(view.name.clone());
        }
        self.open.retain(|_, open| open.server != server);
        self.inferring.retain(|_, running| running.server != server);
        self.parked.retain(|parked| parked.server != server);
        self.waiting.retain(|event| event.server != server || event.waits.needs_no_release());
    }

    fn lifecycle_event(&mut self, cx: &mut HostCx<'_>, moment: &LifecycleEvent<'_>) {
        match moment {
            LifecycleEvent::TurnBegins(begins) => self.begin(cx, begins),
            LifecycleEvent::Answered(_, text) => self.answered(cx, text),
            LifecycleEvent::TurnOver(_) => self.turn = None,
            LifecycleEvent::SessionEnd => self.end(cx),
            _ => {}
        }
    }

    fn is_settled(&self) -> bool {
        self.chain.is_none() && !self.open.values().any(|open| open.holds)
    }

    fn receive(&mut self, cx: &mut HostCx<'_>, server: ServerId, message: &Inbound<'_>) -> bool {
        let method = message.envelope.method.as_deref().unwrap_or_default();
        let is_cancelled = method == "notifications/cancelled";
        if !is_cancelled && !self.takes(cx, server, method) {
            return false;
        }
        let params = text::value_of(message.envelope.params.unwrap_or(b"{}"));
        if is_cancelled {
            self.cancelled(server, &params["requestId"]);
            return false;
        }
        let id = message.envelope.id.map(|id| id.0).filter(|_| message.envelope.kind == MessageKind::Request);
        report_malformed(cx, server, method, &params);
        match (method, id) {
            (PUSH_EVENT, Some(id)) => self.push(cx, server, id, &params),
            ("inference/request", Some(id)) => self.infer(cx, server, id, &params),
            ("scope/elevate", Some(id)) => self.elevate(cx, server, id, &params),
            ("model/info", Some(id)) => {
                let is_on = self.peers.get(&server).is_some_and(|peer| peer.sets.is_any_on());
                let outcome = if is_on { "success" } else { "failure" };
                cx.report("model info", Some(server), "the server asked for the model", json!({"outcome": outcome}));
                let off =
                    || Refusal::new(sets::NOT_ENABLED, "Feature set not enabled: all of the server's are disabled");
                cx.respond(server, id, is_on.then(|| model_info(cx.model)).ok_or_else(off));
            }
            ("featureSets/changed", None) => self.changed(cx, server, &params),
            ("channels/register", Some(id)) => self.register(cx, server, id, &params),
            ("channels/list", Some(id)) => self.list(cx, server, id),
            ("channels/changed", None) => self.channels_changed(cx, server, &params),
            // Some servers send it as a notification, although that has no results.
            ("channels/incoming", id) => self.incoming(cx, server, id, &params),
            (_, id) => {
                let is = if id.is_some() { "a request, not a notification" } else { "a notification, not a request" };
                cx.report_mistake("malformed", server, format!("{method} came as {is}"), json!({"method": method}));
                let refused =
                    Refusal::new(errors::INVALID_REQUEST, format!("{method} is a notification, not a request"));
                Self::respond(cx, server, id, Err(refused));
            }
        }
        true
    }

    fn replied(&mut self, cx: &mut HostCx<'_>, server: ServerId, token: u64, reply: &RequestOutcome<'_>) {
        self.answered_request(cx, server, token, reply);
        self.resume_inferences(cx);
    }

    fn gate(&mut self, cx: &mut HostCx<'_>, used: &ToolUse, params: &mut Value) -> Result<(), String> {
        self.gate_tool(cx, used, params)
    }

    fn called(&mut self, cx: &mut HostCx<'_>, used: &ToolUse, result: &Value) {
        self.tool_called(cx, used, result);
    }

    fn rewrites(&self) -> bool {
        self.peers.values().any(context::blocks)
    }

    fn rewrite(&mut self, cx: &mut HostCx<'_>, answer: &str, usage: Usage) {
        self.begin_chain(cx, answer, usage);
    }

    fn piece(&mut self, cx: &mut HostCx<'_>, token: u64, text: &str) {
        self.piece_of(cx, token, text);
    }

    fn inferred(&mut self, cx: &mut HostCx<'_>, token: u64, outcome: &Result<Inferred, String>) {
        self.end_of(cx, token, outcome);
    }

    fn handle_timeout(&mut self, cx: &mut HostCx<'_>) {
        let now = cx.now;
        for (server, peer) in &mut self.peers {
            for pending in peer.scopes.take(|pending| pending.until <= now) {
                let text = format!("the user did not decide on {} in time", pending.label);
                let data = json!({"feature_set": pending.set, "label": pending.label, "outcome": "timeout"});
                cx.report("scope", Some(*server), text, data);
                cx.respond(*server, &pending.id, Ok(scopes::denial("the user did not approve it in time")));
            }
        }
        self.release(cx);
    }

    fn next_timeout(&self) -> Option<Duration> {
        let scopes = self.peers.values().flat_map(|peer| &peer.scopes.pending).map(|pending| pending.until);
        scopes.chain(self.next_release()).min()
    }

    fn allow(&mut self, cx: &mut HostCx<'_>, server: ServerId, is_allowed: bool) {
        let Some(peer) = self.peers.get_mut(&server) else { return };
        peer.sets.consent(is_allowed);
        peer.consent.decide(is_allowed);
        let (what, text) = match is_allowed {
            true => ("allowed", "feature sets enabled, waiting scopes approved"),
            false => ("revoked", "all feature sets disabled"),
        };
        cx.report(what, Some(server), text, Value::Null);
        for pending in peer.scopes.take(|_| true) {
            let answer = if is_allowed {
                scopes::approval(&pending.payload)
            } else {
                scopes::denial("the user revoked the permission")
            };
            cx.respond(server, &pending.id, Ok(answer));
        }
        self.update(cx, server);
    }

    fn orders(&self) -> &'static [&'static str] {
        orders::NAMES
    }

    fn order(&mut self, cx: &mut HostCx<'_>, order: &str, params: &Value) -> Option<Result<(), String>> {
        orders::NAMES.contains(&order).then(|| self.do_order(cx, order, params))
    }

    fn state(&self) -> Value {
        let one = |(id, peer): (&ServerId, &Peer)| {
            let waiting: Vec<&str> = peer.scopes.pending.iter().map(|pending| pending.label.as_str()).collect();
            json!({"server": id.0, "sets": peer.sets.state(), "scopes_waiting": waiting, "states": peer.states.state(),
                "channels": peer.channels.list(), "inferences": peer.inferences,
                "inference_tokens": peer.inference_tokens})
        };
        self.peers.iter().map(one).collect()
    }
}
