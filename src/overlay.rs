//! The overlay as a sans-IO engine: messages of a client and a server pass through it, and it adds what a plan says: to
//! what the server declares and lists, and between the two as messages of its own.
//!
//! Of what the server says, the answers to `initialize` and `tools/list` are changed, and nothing else; all that is not
//! changed, answered here or kept back goes on byte for byte. What the proposals say is told by their rooms, lent by the
//! built-in server (`guest`).
//!
//! Never: tokio, sockets, files, clocks, printing. Times count from when it was made and come with each input.

mod asking;
mod conversation;
mod format;
mod graft;
mod guest;
mod listing;
mod plan;
mod template;
#[cfg(test)]
mod tests;
mod triggers;

pub use format::schema;
pub use plan::Plan;

use crate::protocol::revision::meta;
use crate::wire::{Direction, Envelope, IdKey, MessageKind, json};
use asking::{Asking, Purpose};
use conversation::Conversing;
use guest::{Guest, answer, failed, tool_of, value};
use listing::Listing;
use plan::CONVERSATION;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;
use triggers::{Happening, Triggers};

const TO_SERVER: Direction = Direction::ClientToServer;
const TO_CLIENT: Direction = Direction::ServerToClient;
const UPDATED: &str = "notifications/resources/updated";

/// One thing that came of an input, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// A peer's message goes on as it is.
    Pass(Direction, Vec<u8>),
    /// A peer's message goes no further: it is answered here, or answers what was asked here.
    Taken(Direction, Vec<u8>),
    /// A message of the overlay's own.
    Put(Direction, Vec<u8>),
    /// A message of the server's (first) goes on changed (second).
    Changed(Vec<u8>, Vec<u8>),
    /// A message of the server's is kept from the client, which did not ask for it.
    Kept(Vec<u8>),
    /// Something the user should know.
    Tell(String),
    /// Something a user may want to know.
    Fact(Value),
}

/// Ids of the overlay's own requests: none that a peer makes.
#[derive(Debug)]
pub struct Ids {
    prefix: String,
    last: u64,
}

impl Ids {
    /// The next: its number, and as it stands in messages.
    fn next(&mut self) -> (u64, String) {
        self.last += 1;
        (self.last, format!("{}{}", self.prefix, self.last))
    }

    /// The number of one of these.
    fn number(&self, id: &IdKey) -> Option<u64> {
        let IdKey::Text(id) = id else { return None };
        id.strip_prefix(&self.prefix)?.parse().ok()
    }
}

/// How far the handshake is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    New,
    Asked,
    Answered,
    Ready,
}

/// A request of the client's whose answer is looked at.
enum Awaited {
    Initialize,
    Tools,
    Unsubscribe(String),
    /// Its method and params, for rules.
    Result(String, Value),
}

/// What an overlay is made with, beside its plan.
#[derive(Clone, Debug)]
pub struct Setting {
    /// What its requests' ids begin with: no peer makes such.
    pub id_prefix: String,
    /// What other ids are drawn from.
    pub seed: u64,
    /// Unix time at `now` = 0, in nanoseconds.
    pub wall_base_ns: i64,
}

/// See the module.
pub struct Overlay {
    plan: Plan,
    setting: Setting,
    phase: Phase,
    guest: Guest,
    ids: Ids,
    awaited: HashMap<IdKey, Awaited>,
    asking: Asking,
    conversing: Conversing,
    listing: Listing,
    triggers: Triggers,
    /// What the overlay, and the client, have subscribed to.
    own_uris: BTreeSet<String>,
    client_uris: BTreeSet<String>,
    declared: Value,
    said_no_carrier: bool,
}

impl Overlay {
    /// One that waits for a handshake.
    pub fn new(plan: Plan, setting: Setting) -> Self {
        Self {
            guest: Guest::new(&plan, setting.seed, setting.wall_base_ns),
            ids: Ids { prefix: setting.id_prefix.clone(), last: 0 },
            phase: Phase::New,
            awaited: HashMap::new(),
            asking: Asking::default(),
            conversing: Conversing::default(),
            listing: Listing::default(),
            triggers: Triggers::new(&plan),
            own_uris: BTreeSet::new(),
            client_uris: BTreeSet::new(),
            declared: Value::Null,
            said_no_carrier: false,
            plan,
            setting,
        }
    }

    /// The folders below which changed files are of interest.
    pub fn folders(&self) -> BTreeSet<&str> {
        self.plan.rules.iter().filter_map(|rule| rule.when.folder()).collect()
    }

    /// A message of the client's.
    pub fn from_client(&mut self, now: Duration, message: Vec<u8>) -> Vec<Output> {
        let mut out = self.wake(now);
        let envelope = Envelope::scan(&message);
        match (envelope.kind, envelope.method.as_deref()) {
            (MessageKind::Request, Some(method)) => {
                let method = method.to_owned();
                self.request(now, &envelope, &method, &message, &mut out);
            }
            (MessageKind::Notification, Some(method)) => {
                let method = method.to_owned();
                self.notification(now, &envelope, &method, &message, &mut out);
            }
            (MessageKind::Result | MessageKind::Error, _) => {
                let number = envelope.id.and_then(|id| self.ids.number(&id.key()));
                match number.and_then(|number| self.guest.answered(now, number, &message, &mut self.ids)) {
                    Some(outputs) => {
                        out.push(Output::Taken(TO_SERVER, message));
                        out.extend(outputs);
                    }
                    None => out.push(Output::Pass(TO_SERVER, message)),
                }
            }
            _ => out.push(Output::Pass(TO_SERVER, message)),
        }
        out
    }

    /// A message of the server's.
    pub fn from_server(&mut self, now: Duration, message: Vec<u8>) -> Vec<Output> {
        let mut out = self.wake(now);
        let envelope = Envelope::scan(&message);
        match envelope.kind {
            MessageKind::Result | MessageKind::Error => {
                let id = envelope.id.map(|id| id.key());
                match id.as_ref().and_then(|id| self.ids.number(id)) {
                    Some(number) => {
                        let result = envelope.result.map(|result| value(Some(result)));
                        let result = result.ok_or_else(|| value(envelope.error));
                        out.push(Output::Taken(TO_CLIENT, message));
                        self.heard(number, result, &mut out);
                    }
                    None => {
                        // What is changed stands in the reel as text.
                        let is_text = std::str::from_utf8(&message).is_ok();
                        let awaited = id.and_then(|id| self.awaited.remove(&id)).filter(|_| is_text);
                        self.answered(now, awaited, message, &mut out);
                    }
                }
            }
            MessageKind::Request | MessageKind::Notification => {
                let method = envelope.method.as_deref().unwrap_or_default().to_owned();
                let params = envelope.params.map(<[u8]>::to_vec);
                let uri =
                    params.as_deref().filter(|_| method == UPDATED).and_then(|text| json::str_member(text, "uri"));
                let uri = uri.map(|uri| uri.into_owned());
                let is_text = std::str::from_utf8(&message).is_ok();
                let is_ours = is_text && uri.as_ref().is_some_and(|uri| self.is_only_ours(uri));
                out.push(if is_ours { Output::Kept(message) } else { Output::Pass(TO_CLIENT, message) });
                self.seen(now, TO_CLIENT, &method, params.as_deref(), &mut out);
                if let Some(uri) = uri {
                    self.happened(now, &Happening::Resource(&uri), &mut out);
                }
            }
            _ => out.push(Output::Pass(TO_CLIENT, message)),
        }
        out
    }

    /// A file changed: its path from the current folder, and from the root.
    pub fn file_changed(&mut self, now: Duration, path: &str, absolute: &str) -> Vec<Output> {
        let mut out = self.wake(now);
        self.happened(now, &Happening::File(path, absolute), &mut out);
        out
    }

    /// A request of the overlay's own did not get through. `None`: it is none of its.
    pub fn undelivered(&mut self, now: Duration, id: &[u8], why: &str) -> Option<Vec<Output>> {
        let number = self.ids.number(&crate::wire::Id(id).key())?;
        let mut out = self.wake(now);
        self.heard(number, Err(failed(why)), &mut out);
        Some(out)
    }

    /// When it wants to be woken next.
    pub fn next_wake(&self) -> Option<Duration> {
        [self.guest.next_wake(), self.asking.next_due(), self.triggers.next_due()].into_iter().flatten().min()
    }

    /// Does what is due.
    pub fn wake(&mut self, now: Duration) -> Vec<Output> {
        let mut out = Vec::new();
        if self.guest.next_wake().is_some_and(|at| at <= now) {
            out.extend(self.guest.wake(now, &mut self.ids));
        }
        while let Some(purpose) = self.asking.give_up(now) {
            self.concluded(purpose, Err(failed("the server does not answer")), &mut out);
        }
        while let Some((rule, count)) = self.triggers.due(now) {
            self.fire(now, rule, &json!({"n": count}), &mut out);
        }
        out
    }

    fn request(&mut self, now: Duration, envelope: &Envelope<'_>, method: &str, message: &[u8], out: &mut Vec<Output>) {
        let Some(id) = envelope.id else { return out.push(Output::Pass(TO_SERVER, message.to_vec())) };
        if method == "initialize" {
            self.meet(now, id.key(), message);
        } else if self.phase >= Phase::Answered && self.takes(now, envelope, method, message, out) {
            return self.seen(now, TO_SERVER, method, envelope.params, out);
        }
        self.look_ahead(id.key(), method, envelope.params, out);
        out.push(Output::Pass(TO_SERVER, message.to_vec()));
        self.seen(now, TO_SERVER, method, envelope.params, out);
    }

    /// Answers a request that is the overlay's business.
    fn takes(
        &mut self,
        now: Duration,
        envelope: &Envelope<'_>,
        method: &str,
        message: &[u8],
        out: &mut Vec<Output>,
    ) -> bool {
        let id = envelope.id.map(|id| id.0).unwrap_or_default();
        let taken = Output::Taken(TO_SERVER, message.to_vec());
        match method {
            "tools/list" if self.listing.is_ours_alone => {
                out.push(taken);
                out.push(Output::Put(TO_CLIENT, answer(id, "result", &json!({"tools": self.own_tools()}))));
            }
            "tools/call" => {
                let tool = tool_of(envelope.params).unwrap_or_default();
                if self.guest.takes_tool(&tool) {
                    out.push(taken);
                    out.extend(self.guest.hear(now, message, &mut self.ids));
                } else if let Some(at) = self.hook_tool(&tool) {
                    out.push(taken);
                    let arguments = value(envelope.params)["arguments"].take();
                    let own = &self.plan.tools[at].answering;
                    let params = json!({"name": own.tool, "arguments": arguments});
                    let purpose = Purpose::Hook { id: id.to_vec(), at, arguments };
                    self.ask(now, "tools/call", &params, purpose, out);
                } else {
                    return false;
                }
            }
            conversation::USER_MESSAGE if self.guest.is_on(CONVERSATION) => {
                out.push(taken);
                self.said(now, Some(id), envelope.params, out);
            }
            method if self.guest.takes_method(method) => {
                out.push(taken);
                out.extend(self.guest.hear(now, message, &mut self.ids));
            }
            _ => return false,
        }
        true
    }

    /// Remembers requests whose answers are looked at.
    fn look_ahead(&mut self, id: IdKey, method: &str, params: Option<&[u8]>, out: &mut Vec<Output>) {
        let uri = || params.and_then(|params| json::str_member(params, "uri")).map(|uri| uri.into_owned());
        if method == "resources/subscribe" {
            self.client_uris.extend(uri());
        }
        match method {
            "tools/list" => drop(self.awaited.insert(id, Awaited::Tools)),
            "resources/unsubscribe" => {
                let Some(uri) = uri() else { return };
                self.client_uris.remove(&uri);
                if self.own_uris.contains(&uri) {
                    self.awaited.insert(id, Awaited::Unsubscribe(uri));
                }
            }
            _ if self.triggers.wants_result(&self.plan, method, params) => {
                self.awaited.insert(id, Awaited::Result(method.to_owned(), value(params)));
            }
            _ if self.phase == Phase::New && !self.said_no_carrier && is_stateless(method, params) => {
                self.said_no_carrier = true;
                let why = "the client works without a handshake (2026-07-28), where the proposals have nothing to \
                           travel on; nothing is added";
                out.push(Output::Tell(why.to_owned()));
            }
            _ => {}
        }
    }

    fn notification(
        &mut self,
        now: Duration,
        envelope: &Envelope<'_>,
        method: &str,
        message: &[u8],
        out: &mut Vec<Output>,
    ) {
        let is_taken = match method {
            conversation::USER_MESSAGE if self.guest.is_on(CONVERSATION) && self.phase >= Phase::Answered => {
                out.push(Output::Taken(TO_SERVER, message.to_vec()));
                self.said(now, None, envelope.params, out);
                true
            }
            "notifications/cancelled" => {
                let id = envelope.params.and_then(|params| json::first_member(params, "requestId"));
                id.map(|id| self.awaited.remove(&crate::wire::Id(id).key()));
                let is_ours = id.is_some_and(|id| self.conversing.cancel(id) | self.asking.cancel(id));
                if is_ours {
                    out.push(Output::Taken(TO_SERVER, message.to_vec()));
                }
                is_ours
            }
            method if self.guest.takes_method(method) && self.phase >= Phase::Answered => {
                out.push(Output::Taken(TO_SERVER, message.to_vec()));
                out.extend(self.guest.hear(now, message, &mut self.ids));
                true
            }
            _ => false,
        };
        if !is_taken {
            out.push(Output::Pass(TO_SERVER, message.to_vec()));
        }
        if method == "notifications/initialized" && self.phase == Phase::Answered {
            self.begin(now, message, out);
        }
        self.seen(now, TO_SERVER, method, envelope.params, out);
    }

    /// The client begins: over HTTP, perhaps not for the first time.
    fn meet(&mut self, now: Duration, id: IdKey, message: &[u8]) {
        if self.phase > Phase::New {
            let ids = Ids { prefix: self.ids.prefix.clone(), last: self.ids.last };
            *self = Self { ids, ..Self::new(self.plan.clone(), self.setting.clone()) };
        }
        self.phase = Phase::Asked;
        self.declared = self.guest.meet(now, message);
        self.awaited.insert(id, Awaited::Initialize);
    }

    /// The handshake is over.
    fn begin(&mut self, now: Duration, message: &[u8], out: &mut Vec<Output>) {
        self.phase = Phase::Ready;
        out.extend(self.guest.hear(now, message, &mut self.ids));
        self.triggers.begin(now, &self.plan);
        let wanted: Vec<String> =
            self.plan.rules.iter().filter_map(|rule| rule.when.resource()).map(str::to_owned).collect();
        for uri in wanted {
            if self.own_uris.insert(uri.clone()) {
                self.subscribe(now, uri, out);
            }
        }
    }

    fn subscribe(&mut self, now: Duration, uri: String, out: &mut Vec<Output>) {
        self.ask(now, "resources/subscribe", &json!({"uri": uri}), Purpose::Subscribe(uri), out);
    }

    /// Something passed: rules may wait for it.
    fn seen(&mut self, now: Duration, way: Direction, method: &str, params: Option<&[u8]>, out: &mut Vec<Output>) {
        self.happened(now, &Happening::Message(way, method, params), out);
    }

    fn happened(&mut self, now: Duration, what: &Happening<'_>, out: &mut Vec<Output>) {
        if self.phase == Phase::Ready {
            for (rule, about) in self.triggers.take(&self.plan, now, what) {
                self.fire(now, rule, &about, out);
            }
        }
    }

    fn fire(&mut self, now: Duration, rule: usize, about: &Value, out: &mut Vec<Output>) {
        let Some(rule) = self.plan.rules.get(rule) else { return };
        match serde_json::from_value(template::fill(&rule.fire, about)) {
            Ok(fired) => out.extend(self.guest.fire(now, &fired, &mut self.ids)),
            Err(error) => out.push(Output::Tell(format!("the rule at line {}: {error}", rule.line))),
        }
    }

    fn ask(&mut self, now: Duration, method: &str, params: &Value, purpose: Purpose, out: &mut Vec<Output>) {
        let (number, id) = self.ids.next();
        self.asking.open(now, number, purpose);
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        out.push(Output::Put(TO_SERVER, request.to_string().into_bytes()));
    }

    /// The server answers a request of the client's.
    fn answered(&mut self, now: Duration, awaited: Option<Awaited>, message: Vec<u8>, out: &mut Vec<Output>) {
        let result = Envelope::scan(&message).result;
        match (awaited, result) {
            (Some(Awaited::Initialize), Some(result)) => {
                let servers = value(json::member(result, "capabilities"));
                let changed = self.with_capabilities(&message, &servers, out);
                self.phase = Phase::Answered;
                out.push(
                    changed
                        .map_or(Output::Pass(TO_CLIENT, message.clone()), |changed| Output::Changed(message, changed)),
                );
            }
            (Some(Awaited::Tools), Some(result)) => {
                let result = value(Some(result));
                self.learn_tools(&result, out);
                let is_last = result["nextCursor"].is_null() && self.phase >= Phase::Answered;
                if is_last {
                    self.name_missing(out);
                }
                let more = if is_last { self.own_tools() } else { Vec::new() };
                let changed = graft::extend(&message, &["result", "tools"], &more).filter(|_| !more.is_empty());
                out.push(match changed {
                    Some(changed) => Output::Changed(message, changed),
                    None => Output::Pass(TO_CLIENT, message),
                });
            }
            (Some(Awaited::Unsubscribe(uri)), _) => {
                out.push(Output::Pass(TO_CLIENT, message));
                self.subscribe(now, uri, out);
            }
            (Some(Awaited::Result(method, params)), Some(result)) => {
                let result = value(Some(result));
                out.push(Output::Pass(TO_CLIENT, message));
                self.happened(now, &Happening::Result(&method, &params, &result), out);
            }
            _ => out.push(Output::Pass(TO_CLIENT, message)),
        }
    }

    /// The answer to `initialize` with what is declared beside; `None` where that is nothing.
    fn with_capabilities(&mut self, message: &[u8], servers: &Value, out: &mut Vec<Output>) -> Option<Vec<u8>> {
        let taken = |room: &'static str| {
            out.push(Output::Tell(format!(
                "the server declares {room} itself; what the overlay says of it is left out"
            )));
        };
        let declared = self.guest.declare(&self.declared, servers, taken);
        let mut changed = message.to_vec();
        let mut put = |path: &[&str], value: &Value| {
            let place = [&["result", "capabilities"], path].concat();
            match graft::put(&changed, &place, value) {
                Some(text) => changed = text,
                None => {
                    out.push(Output::Tell(format!("{} cannot be put into the answer to initialize", path.join("."))))
                }
            }
        };
        for (path, value) in &declared {
            put(path, value);
        }
        self.listing.is_ours_alone = servers["tools"].is_null() && !self.own_tools().is_empty();
        if self.listing.is_ours_alone {
            put(&["tools"], &json!({}));
        }
        for room in self.plan.rooms.iter().filter(|room| !self.guest.is_on(room)) {
            out.push(Output::Fact(json!({"report": "not_declared", "proposal": room})));
        }
        (changed != message).then_some(changed)
    }

    /// The server, or nobody, answers a request of the overlay's own.
    fn heard(&mut self, number: u64, result: Result<Value, Value>, out: &mut Vec<Output>) {
        if let Some(purpose) = self.asking.close(number) {
            self.concluded(purpose, result, out);
        }
    }

    fn concluded(&mut self, purpose: Purpose, result: Result<Value, Value>, out: &mut Vec<Output>) {
        match (purpose, result) {
            (Purpose::Context { turn, at }, result) => self.context(turn, at, result, out),
            (Purpose::Hook { id, at, arguments }, Ok(result)) => {
                let own = self.plan.tools.get(at).map(|tool| &tool.answering);
                let text = own.and_then(|own| own.word(&result, &json!({"arguments": arguments})));
                let content: Vec<Value> = text.iter().map(|text| json!({"type": "text", "text": text})).collect();
                let mut worded = json!({"content": content});
                if result["isError"] == true {
                    worded = result;
                }
                out.push(Output::Put(TO_CLIENT, answer(&id, "result", &worded)));
            }
            (Purpose::Hook { id, .. }, Err(error)) => {
                out.push(Output::Put(TO_CLIENT, answer(&id, "error", &error)));
            }
            (Purpose::Subscribe(_), Ok(_)) => {}
            (Purpose::Subscribe(uri), Err(error)) => {
                self.own_uris.remove(&uri);
                out.push(Output::Tell(format!("cannot subscribe to {uri}: {}", message_of(&error))));
            }
        }
    }

    /// Whether a resource's changes are told because of the overlay alone.
    fn is_only_ours(&self, uri: &str) -> bool {
        let covers = |known: &String| triggers::covers(known, uri);
        self.own_uris.iter().any(covers) && !self.client_uris.iter().any(covers)
    }
}

fn message_of(error: &Value) -> &str {
    error["message"].as_str().unwrap_or("no reason given")
}

/// Whether a request stands alone, without a handshake before it; a probe says nothing yet.
fn is_stateless(method: &str, params: Option<&[u8]>) -> bool {
    let about = params.and_then(|params| json::member(params, "_meta"));
    method != "server/discover" && about.is_some_and(|about| json::member(about, meta::PROTOCOL_VERSION).is_some())
}
