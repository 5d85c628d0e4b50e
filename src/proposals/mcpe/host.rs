//! The host's side of MCPE: subscriptions, whoever made them, and their events in the next prompt. An event begins a
//! turn only if the user's options say so. Each event is injected once, however many subscriptions deliver it.
//!
//! It must never read clocks or print.

use super::client::{Arrival, DeliveredEvents, EventFault, about, check_support, filter, note, subscription};
use super::patterns::{is_odd, matches};
use super::{BATCH, DESCRIPTOR, EVENT, EXPIRED, delivers, outcome};
use crate::proposals::host::{
    Agent, HostCx, HostSide, Inbound, Injection, LifecycleEvent, PromptPlace, RequestOutcome, ServerId, Slot, ToolUse,
    cut,
};
use crate::proposals::policy::{Policies, Policy, Setting, SettingKind};
use crate::proposals::{ON_ITS_WAY, Side as Whose};
use crate::wire::{MessageKind, json as text};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::time::Duration;

const SLOT: &str = "mcpe.event";
const SUBSCRIBE: &str = "events_subscribe";
const UNSUBSCRIBE: &str = "events_unsubscribe";
const UPDATE: &str = "events_update";
const LIST: &str = "events_list";
const PAUSE: &str = "events_pause";
const RESUME: &str = "events_resume";
/// The names of the orders.
const ORDERS: &[&str] = &["subscribe", "unsubscribe", "events"];
/// How long a tool may take to answer.
const DEADLINE: Duration = Duration::from_secs(30);
/// The period for [`Source::wakes`].
const MINUTE: Duration = Duration::from_secs(60);
/// How many messages wait for the response that makes their subscription known.
const MAX_PARKED: usize = 256;
/// How many calls of `events_update` are followed at a time.
const MAX_UPDATING: usize = 64;

/// The places in the prompt into which MCPE injects.
pub(super) static SLOTS: &[Slot] = &[Slot { name: SLOT, place: PromptPlace::BeforeUser, rank: 12 }];

/// The options for what MCPE leaves to the host.
pub(super) static SETTINGS: &[Setting] = &[
    Setting {
        name: "subscribe",
        kind: SettingKind::Words,
        default: "",
        text: "Subscriptions to make when a server connects: event type patterns, or filters as JSON",
        source: "MCPE 2025-01-01 §2, events_subscribe",
    },
    Setting {
        name: "inject",
        kind: SettingKind::Choice(&["prompt", "note", "none"]),
        default: "prompt",
        text: "What to put into the next prompt for an event: all of it, its type and priority, or nothing",
        source: "MCPE 2025-01-01, Client SDK Changes",
    },
    Setting {
        name: "route",
        kind: SettingKind::Words,
        default: "",
        text: "What to do with an event, by type: PATTERN=prompt, note, none, or wake to begin a turn; \
               the first match overrides the option inject",
        source: "MCPE 2025-01-01, Client SDK Changes",
    },
    Setting {
        name: "wakes_per_minute",
        kind: SettingKind::Count,
        default: "6",
        text: "How many turns events may begin per minute; further events wait for the next prompt",
        source: "MCPE 2025-01-01, Security Considerations 2",
    },
    Setting {
        name: "renew",
        kind: SettingKind::Flag,
        default: "false",
        text: "Whether to renew a subscription that expired",
        source: "MCPE 2025-01-01 §3, events/subscription_expired",
    },
    Setting {
        name: "most_waiting",
        kind: SettingKind::Count,
        default: "20",
        text: "How many events may wait for the next prompt; the oldest are dropped first",
        source: "MCPE 2025-01-01, Security Considerations 2",
    },
    Setting {
        name: "most_bytes",
        kind: SettingKind::Bytes,
        default: "4k",
        text: "The maximum size of an event; what exceeds it is cut off",
        source: "MCPE 2025-01-01, Security Considerations 3",
    },
];

/// A server with events.
struct Source {
    policy: Policy,
    /// The value of its capability, if it declared one.
    capability: Option<Value>,
    /// The arguments of each subscription, by its id.
    subscriptions: BTreeMap<String, Value>,
    /// The paused subscriptions, and since when.
    paused: BTreeMap<String, Duration>,
    /// Open tool calls that this side made.
    asked: HashMap<u64, &'static str>,
    /// The calls of `events_subscribe` by this side for which the host waits.
    granting: BTreeSet<u64>,
    /// Until when responses to calls of `events_subscribe` may come, from this side or others.
    subscribing: VecDeque<Duration>,
    /// The subscriptions with an open call of `events_update`, and until when its response may come. Their filter is
    /// the old one or the new one.
    updating: VecDeque<(String, Duration)>,
    /// Messages that came before the response to their subscription: subscription, method and params.
    parked: Vec<(String, String, Value)>,
    delivered: DeliveredEvents,
    /// Events for the next prompt, and whether to inject only a note of each.
    waiting: VecDeque<(Value, bool)>,
    /// This side asked for a turn that has not begun yet.
    is_waking: bool,
    /// When turns were begun in the last minute.
    wakes: VecDeque<Duration>,
}

impl Source {
    fn new(policy: Policy, capability: Option<Value>) -> Self {
        Self {
            policy,
            capability,
            subscriptions: BTreeMap::new(),
            paused: BTreeMap::new(),
            asked: HashMap::new(),
            granting: BTreeSet::new(),
            subscribing: VecDeque::new(),
            updating: VecDeque::new(),
            parked: Vec::new(),
            delivered: DeliveredEvents::default(),
            waiting: VecDeque::new(),
            is_waking: false,
            wakes: VecDeque::new(),
        }
    }

    fn ask(&mut self, cx: &mut HostCx<'_>, server: ServerId, tool: &'static str, arguments: &Value) {
        let params = json!({"name": tool, "arguments": arguments});
        let token = cx.request(server, "tools/call", params, DEADLINE);
        self.asked.insert(token, tool);
        if tool == SUBSCRIBE {
            self.granting.insert(token);
        }
    }

    /// Asks for a subscription, if the server can make it.
    fn subscribe(&mut self, cx: &mut HostCx<'_>, server: ServerId, arguments: &Value) -> Result<(), String> {
        check_support(self.capability.as_ref(), arguments)?;
        self.ask(cx, server, SUBSCRIBE, arguments);
        Ok(())
    }

    /// Applies the result of a tool call, by this side or others.
    fn called(&mut self, cx: &mut HostCx<'_>, server: ServerId, used: &ToolUse, result: &Value) {
        let outcome = outcome(result).filter(|_| result["isError"] != true).unwrap_or_default();
        let id = used.arguments["subscriptionId"].as_str().unwrap_or_default();
        let is_done = outcome["success"] != false && result["isError"] != true;
        match used.tool.as_str() {
            SUBSCRIBE => {
                self.subscribing.pop_front();
                self.subscribed(cx, server, &used.arguments, outcome);
                self.drop_parked(cx, server);
            }
            PAUSE if is_done && self.subscriptions.contains_key(id) => {
                self.paused.insert(id.to_owned(), cx.now);
            }
            RESUME => {
                self.paused.remove(id);
            }
            UPDATE => self.updated(cx, server, id, &used.arguments, outcome),
            UNSUBSCRIBE if is_done => {
                self.subscriptions.remove(id);
                self.paused.remove(id);
                cx.report("unsubscribed", Some(server), format!("subscription {id}"), outcome);
            }
            _ => {}
        }
    }

    /// Applies the result of `events_update`, if there is one.
    fn updated(&mut self, cx: &mut HostCx<'_>, server: ServerId, id: &str, given: &Value, outcome: Value) {
        if let Some(at) = self.updating.iter().position(|(open, _)| open == id) {
            self.updating.remove(at);
        }
        if !outcome.is_object() || outcome["success"] == false {
            return;
        }
        let Some(arguments) = self.subscriptions.get_mut(id) else { return };
        for (name, value) in given.as_object().into_iter().flatten() {
            if name != "subscriptionId" {
                arguments[name.as_str()] = value.clone();
            }
        }
        let text = format!("subscription {id}: {}", about(arguments));
        cx.report("updated", Some(server), text, with_filter(outcome, arguments));
    }

    /// Adds a subscription, and handles the messages that arrived before the response.
    fn subscribed(&mut self, cx: &mut HostCx<'_>, server: ServerId, arguments: &Value, outcome: Value) {
        let Some(id) = outcome["subscriptionId"].as_str().map(str::to_owned) else { return };
        let text = format!("subscription {id}: {}", about(arguments));
        cx.report("subscribed", Some(server), text, with_filter(outcome, arguments));
        // An update will set members in it.
        let kept = if arguments.is_object() { arguments.clone() } else { json!({}) };
        self.subscriptions.insert(id.clone(), kept);
        let (mine, others) = self.parked.drain(..).partition(|(parked, ..)| *parked == id);
        self.parked = others;
        let mine: Vec<(String, String, Value)> = mine;
        mine.iter().for_each(|(_, method, params)| self.take(cx, server, &id, method, params));
    }

    /// Reports waiting messages as stray once no call of `events_subscribe` is open.
    fn drop_parked(&mut self, cx: &mut HostCx<'_>, server: ServerId) {
        if self.subscribing.is_empty() {
            for (id, method, _) in self.parked.drain(..) {
                stray(cx, server, &method, &id);
            }
        }
    }

    /// Handles a message for a known subscription.
    fn take(&mut self, cx: &mut HostCx<'_>, server: ServerId, id: &str, method: &str, params: &Value) {
        match method {
            EVENT => {
                self.check_delivery(cx, server, (id, method));
                self.event(cx, server, Arrival { subscription: id, is_in_batch: false }, &params["event"]);
            }
            BATCH => match params["events"].as_array() {
                Some(events) => {
                    self.check_delivery(cx, server, (id, method));
                    let arrival = Arrival { subscription: id, is_in_batch: true };
                    events.iter().for_each(|event| self.event(cx, server, arrival, event));
                }
                None => {
                    let text = format!("{BATCH} has no list of events");
                    cx.report_mistake("malformed", server, text, json!({"subscription": id}));
                }
            },
            _ => {
                let arguments = self.subscriptions.remove(id).unwrap_or_default();
                self.paused.remove(id);
                cx.report("expired", Some(server), format!("subscription {id} expired"), json!({"subscription": id}));
                if self.policy.flag("renew") {
                    self.ask(cx, server, SUBSCRIBE, &renewed(arguments));
                }
            }
        }
    }

    /// Whether an open call may have changed a subscription.
    fn is_changing(&self, subscription: &str, now: Duration) -> bool {
        self.updating.iter().any(|(open, until)| open == subscription && *until > now)
    }

    /// Reports a delivery for a paused subscription, or in a way that the subscription does not have. Its events count.
    fn check_delivery(&self, cx: &mut HostCx<'_>, server: ServerId, (id, method): (&str, &str)) {
        let is_late = self.paused.get(id).is_some_and(|at| cx.now.saturating_sub(*at) > ON_ITS_WAY);
        let arguments = self.subscriptions.get(id).filter(|_| !self.is_changing(id, cx.now));
        let is_other = arguments.is_some_and(|arguments| !delivers(&arguments["delivery"], method == BATCH));
        let why = match (is_late, is_other) {
            (true, _) => "the subscription is paused",
            (_, true) => "the subscription's delivery has other channels",
            _ => return,
        };
        cx.report_mistake("odd event", server, format!("{method}: {why}"), json!({"subscription": id}));
    }

    /// Handles an event of a subscription.
    fn event(&mut self, cx: &mut HostCx<'_>, server: ServerId, arrival: Arrival<'_>, event: &Value) {
        let subscription = arrival.subscription;
        let is_changing = self.is_changing(subscription, cx.now);
        let arguments = self.subscriptions.get(subscription).filter(|_| !is_changing);
        let filter = arguments.and_then(|arguments| arguments.get("filter"));
        let id = event["id"].as_str().unwrap_or_default();
        let mut data = json!({"id": id, "type": event["type"], "subscription": subscription, "event": event});
        match self.delivered.check(event, arrival, filter) {
            Err(fault) => {
                let text = fault.sentence(event);
                return cx.report_verdict(fault.name(), server, text, data, fault != EventFault::Known);
            }
            Ok(Some(odd)) => {
                let about = json!({"id": id, "subscription": subscription});
                cx.report_mistake("odd event", server, format!("{}: {odd}", note(event)), about);
            }
            Ok(None) => {}
        }
        let how = self.route(event["type"].as_str().unwrap_or_default()).to_owned();
        let wake = if how == "wake" { self.wake(cx, server, id) } else { "no" };
        data["wake"] = wake.into();
        cx.report("event", Some(server), format!("{}, wake={wake}", note(event)), data);
        if how == "none" {
            return;
        }
        self.waiting.push_back((event.clone(), how == "note"));
        if self.waiting.len() > self.policy.length("most_waiting")
            && let Some((oldest, _)) = self.waiting.pop_front()
        {
            let text = format!("too many events wait for the next prompt; dropped the oldest: {}", note(&oldest));
            cx.report("dropped", Some(server), text, json!({"id": oldest["id"]}));
        }
    }

    /// Begins a turn for the waiting events, unless one is due or there were too many. Returns a word for the report.
    fn wake(&mut self, cx: &mut HostCx<'_>, server: ServerId, id: &str) -> &'static str {
        if self.is_waking {
            return "with others";
        }
        self.wakes.retain(|at| cx.now.saturating_sub(*at) < MINUTE);
        if self.wakes.len() >= self.policy.length("wakes_per_minute") {
            return "too many";
        }
        self.is_waking = true;
        self.wakes.push_back(cx.now);
        cx.wake(server, id);
        "yes"
    }

    /// What to do with events of a type.
    fn route(&self, kind: &str) -> &str {
        let fits = |word: &&String| word.split_once('=').is_some_and(|(pattern, _)| matches(pattern, kind));
        let routed = self.policy.words("route").iter().find(fits).and_then(|word| word.split_once('='));
        routed.map_or_else(|| self.policy.word("inject"), |(_, how)| how)
    }

    fn inject(&mut self, cx: &mut HostCx<'_>, server: ServerId) {
        let most = self.policy.length("most_bytes");
        self.is_waking = false;
        for (event, is_note) in self.waiting.drain(..) {
            let text = if is_note { note(&event) } else { event.to_string() };
            let (what, text, id) = ("event".to_owned(), cut(text, most), event["id"].as_str().map(str::to_owned));
            cx.inject(Injection { server, slot: SLOT, weight: 0, what, text, id });
        }
    }
}

/// The host's side of MCPE, for all servers.
pub(super) struct McpeHostSide {
    policies: Policies,
    sources: BTreeMap<ServerId, Source>,
    /// Servers whose tools were examined.
    greeted: BTreeSet<ServerId>,
}

impl McpeHostSide {
    /// Without any servers.
    pub(super) fn new(policies: &Policies) -> Self {
        Self { policies: policies.clone(), sources: BTreeMap::new(), greeted: BTreeSet::new() }
    }

    /// The server that an order names, or the only one with events.
    fn source(&mut self, cx: &HostCx<'_>, params: &Value) -> Result<(ServerId, &mut Source), String> {
        let named = params["server"].as_str();
        let is_meant = |id: &ServerId| named.is_none_or(|name| cx.server(*id).is_some_and(|view| view.name == name));
        let mut meant = self.sources.iter_mut().filter(|(id, _)| is_meant(id));
        match (meant.next(), meant.next()) {
            (Some((id, source)), None) => Ok((*id, source)),
            (None, _) => Err("no such server with events".to_owned()),
            _ => Err("several servers have events: name one by server=NAME".to_owned()),
        }
    }

    /// Examines a server. It has events if it declares the capability or offers the tool to subscribe (AMB-E9).
    fn greet(&mut self, cx: &mut HostCx<'_>, server: ServerId) {
        let Some(view) = cx.server(server) else { return };
        let capability = view.declared.find(&DESCRIPTOR, Whose::Server).map(|(_, value)| value.clone());
        let declares = capability.is_some();
        let offers = view.declared.tools.iter().flatten().any(|tool| tool == SUBSCRIBE);
        let policy = self.policies.of("mcpe", &view.name);
        let wanted = policy.words("subscribe").to_vec();
        if !declares && !offers {
            if !wanted.is_empty() {
                let text = format!("{} offers no events, so there is nothing to subscribe to", view.name);
                cx.report("unsupported", Some(server), text, Value::Null);
            }
            return;
        }
        if !view.is_legacy {
            let text = format!("{} offers MCPE in the modern era, which cannot carry the proposal", view.name);
            return cx.report("no carrier", Some(server), text, Value::Null);
        }
        if !offers {
            let text = format!("{} declares events, but has no tool {SUBSCRIBE}", view.name);
            return cx.report("no tool", Some(server), text, Value::Null);
        }
        let by = if declares { "capability" } else { "tool" };
        cx.report("declared", Some(server), format!("{} offers events", view.name), json!({"by": by}));
        let mut source = Source::new(policy, capability);
        for word in wanted {
            // The options were checked, so only the server can be in the way.
            let asked = wish(&word).and_then(|arguments| source.subscribe(cx, server, &arguments));
            if let Err(why) = asked {
                cx.report("unsupported", Some(server), format!("not subscribed to {word:?}: {why}"), Value::Null);
            }
        }
        self.sources.insert(server, source);
    }

    fn ordered(&mut self, cx: &mut HostCx<'_>, order: &str, params: &Value) -> Result<(), String> {
        let (server, source) = self.source(cx, params)?;
        match order {
            "subscribe" => source.subscribe(cx, server, &subscription(params)?)?,
            "unsubscribe" => {
                let id = params["subscription"].as_str().ok_or("subscription=ID is missing")?;
                source.ask(cx, server, UNSUBSCRIBE, &json!({"subscriptionId": id}));
            }
            _ => source.ask(cx, server, LIST, &json!({})),
        }
        Ok(())
    }
}

impl HostSide for McpeHostSide {
    /// For a server with tools, the list of tools shows what it offers.
    fn connected(&mut self, cx: &mut HostCx<'_>, server: ServerId) {
        if cx.server(server).is_some_and(|view| view.declared.server.get("tools").is_none()) {
            self.greet(cx, server);
        }
    }

    fn listed(&mut self, cx: &mut HostCx<'_>, server: ServerId) {
        let has_events = cx.server(server).and_then(|view| view.declared.tools.as_ref());
        let has_events = has_events.is_some_and(|tools| tools.iter().any(|tool| tool == SUBSCRIBE));
        // Report what a server lacks only once, but notice events that it offers later.
        let is_news = self.greeted.insert(server) || has_events;
        if is_news && !self.sources.contains_key(&server) {
            self.greet(cx, server);
        }
    }

    fn disconnected(&mut self, _cx: &mut HostCx<'_>, server: ServerId) {
        self.sources.remove(&server);
        self.greeted.remove(&server);
    }

    fn lifecycle_event(&mut self, cx: &mut HostCx<'_>, moment: &LifecycleEvent<'_>) {
        if matches!(moment, LifecycleEvent::Prompt(Agent::Main)) {
            self.sources.iter_mut().for_each(|(server, source)| source.inject(cx, *server));
        }
    }

    /// Turns wait until the host's own subscriptions are granted or refused, so that none misses their events.
    fn is_settled(&self) -> bool {
        self.sources.values().all(|source| source.granting.is_empty())
    }

    fn receive(&mut self, cx: &mut HostCx<'_>, server: ServerId, message: &Inbound<'_>) -> bool {
        let Some(method @ (EVENT | BATCH | EXPIRED)) = message.envelope.method.as_deref() else { return false };
        if message.envelope.kind != MessageKind::Notification {
            let text = format!("{method} came as a request, not a notification");
            cx.report_mistake("malformed", server, text, Value::Null);
            return false;
        }
        let params = message.envelope.params.map(text::value_of).unwrap_or_default();
        let id = params["subscriptionId"].as_str().unwrap_or_default();
        match self.sources.get_mut(&server) {
            Some(source) if source.subscriptions.contains_key(id) => source.take(cx, server, id, method, &params),
            Some(source) if !source.subscribing.is_empty() && source.parked.len() < MAX_PARKED => {
                source.parked.push((id.to_owned(), method.to_owned(), params));
            }
            _ => stray(cx, server, method, id),
        }
        true
    }

    /// Notes that a response to `events_subscribe` or `events_update` is due, whoever made the call.
    fn gate(&mut self, cx: &mut HostCx<'_>, used: &ToolUse, _params: &mut Value) -> Result<(), String> {
        let Some(source) = used.server.and_then(|server| self.sources.get_mut(&server)) else { return Ok(()) };
        let until = cx.now.saturating_add(DEADLINE);
        match used.tool.as_str() {
            SUBSCRIBE => source.subscribing.push_back(until),
            UPDATE => {
                let id = used.arguments["subscriptionId"].as_str().unwrap_or_default();
                source.updating.push_back((id.to_owned(), until));
                source.updating.drain(..source.updating.len().saturating_sub(MAX_UPDATING));
            }
            _ => {}
        }
        Ok(())
    }

    fn called(&mut self, cx: &mut HostCx<'_>, used: &ToolUse, result: &Value) {
        let Some(server) = used.server else { return };
        // A call may come before the list of the server's tools.
        if used.tool == SUBSCRIBE && !self.sources.contains_key(&server) {
            self.greet(cx, server);
        }
        if let Some(source) = self.sources.get_mut(&server) {
            source.called(cx, server, used, result);
        }
    }

    fn handle_timeout(&mut self, cx: &mut HostCx<'_>) {
        for (server, source) in &mut self.sources {
            source.subscribing.retain(|until| *until > cx.now);
            source.drop_parked(cx, *server);
        }
    }

    fn next_timeout(&self) -> Option<Duration> {
        let waits = self.sources.values().filter(|source| !source.parked.is_empty());
        waits.filter_map(|source| source.subscribing.front().copied()).min()
    }

    fn replied(&mut self, cx: &mut HostCx<'_>, server: ServerId, token: u64, reply: &RequestOutcome<'_>) {
        let Some(source) = self.sources.get_mut(&server) else { return };
        source.granting.remove(&token);
        let envelope = match reply {
            RequestOutcome::Answered { envelope, .. } => envelope,
            // A response may still come, and with it a subscription.
            RequestOutcome::TimedOut => {
                return cx.report("timed out", Some(server), "the server did not respond in time", Value::Null);
            }
            RequestOutcome::Failed(why) => {
                cx.report("failed", Some(server), format!("the tool call failed: {why}"), Value::Null);
                if source.asked.remove(&token) == Some(SUBSCRIBE) {
                    source.subscribing.pop_front();
                    source.drop_parked(cx, server);
                }
                return;
            }
        };
        let Some(tool) = source.asked.remove(&token) else { return };
        let content = envelope.content().map(text::value_of).unwrap_or_default();
        let is_failed = envelope.error.is_some() || envelope.tool_error;
        let outcome = outcome(&content).filter(|_| !is_failed);
        // `called` has already applied the result.
        match (tool, outcome) {
            (SUBSCRIBE, Some(outcome)) if outcome["subscriptionId"].is_string() => {}
            // The proposal does not define this result.
            (UNSUBSCRIBE, outcome) if !is_failed && outcome.as_ref().is_none_or(|it| it["success"] != false) => {}
            (LIST, Some(outcome)) => {
                let count = outcome["subscriptions"].as_array().map_or(0, Vec::len);
                let plural = if count == 1 { "" } else { "s" };
                cx.report("subscriptions", Some(server), format!("{count} subscription{plural}"), outcome);
            }
            (_, outcome) => {
                let said = content["content"][0]["text"].as_str().or_else(|| content["message"].as_str());
                let text = format!("the server refused: {}", said.unwrap_or("no reason given"));
                cx.report("refused", Some(server), text, outcome.unwrap_or_default());
            }
        }
        if tool == SUBSCRIBE && envelope.error.is_some() {
            source.subscribing.pop_front();
            source.drop_parked(cx, server);
        }
    }

    fn orders(&self) -> &'static [&'static str] {
        ORDERS
    }

    /// Executes an order: `subscribe` with the members of a subscription and of its filter ([`SHORT`]), `unsubscribe`
    /// with `subscription`, or `events`. Each takes `server` if several servers have events.
    fn order(&mut self, cx: &mut HostCx<'_>, order: &str, params: &Value) -> Option<Result<(), String>> {
        ORDERS.contains(&order).then(|| self.ordered(cx, order, params))
    }

    fn state(&self) -> Value {
        let one = |(id, source): (&ServerId, &Source)| {
            json!({"server": id.0, "subscriptions": source.subscriptions.keys().collect::<Vec<_>>(),
                "waiting": source.waiting.len()})
        };
        self.sources.iter().map(one).collect()
    }
}

/// The arguments for a subscription in the form of the option `subscribe`.
fn wish(word: &str) -> Result<Value, String> {
    subscription(&json!({"filter": filter(word)?}))
}

/// Checks the values that the kinds of the options cannot check.
///
/// # Errors
/// The option, and what is wrong with it.
pub(super) fn check_policy(policy: &Policy) -> Result<(), (&'static str, String)> {
    if let Some(word) = policy.words("route").iter().find(|word| !is_route(word)) {
        let why =
            format!("invalid route {word:?}: expected PATTERN=prompt, PATTERN=note, PATTERN=none or PATTERN=wake");
        return Err(("route", why));
    }
    let wrong = |word: &String| wish(word).err().map(|why| ("subscribe", format!("invalid filter {word:?}: {why}")));
    policy.words("subscribe").iter().find_map(wrong).map_or(Ok(()), Err)
}

/// Whether a value of the option `route` is valid.
fn is_route(word: &str) -> bool {
    let known = ["prompt", "note", "none", "wake"];
    word.split_once('=').is_some_and(|(pattern, how)| !pattern.is_empty() && !is_odd(pattern) && known.contains(&how))
}

/// A result with the subscription's filter.
fn with_filter(mut outcome: Value, arguments: &Value) -> Value {
    if let Some(members) = outcome.as_object_mut() {
        members.entry("filter").or_insert_with(|| arguments["filter"].clone());
    }
    outcome
}

fn stray(cx: &mut HostCx<'_>, server: ServerId, method: &str, id: &str) {
    let text = format!("{method} names an unknown subscription");
    cx.report_mistake("stray", server, text, json!({"subscription": id}));
}

/// The arguments to renew a subscription: without the expiry, which has passed.
fn renewed(mut arguments: Value) -> Value {
    if let Some(members) = arguments.as_object_mut() {
        members.remove("expiresAt");
    }
    arguments
}

#[cfg(test)]
mod tests;
