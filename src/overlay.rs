//! The overlay as a sans-IO engine: messages of a client and a server pass through it, and it adds what a plan says: to
//! what the server declares and lists, and between the two as messages of its own.
//!
//! Of what the server says, the answers to `initialize` and `tools/list` are changed, and nothing else; all that is not
//! changed, answered here or kept back goes on byte for byte. What the proposals say is told by their rooms, lent by
//! the built-in server (`embedded_server`).
//!
//! Never: tokio, sockets, files, clocks, printing. Times count from when it was made and come with each input.

mod added_tools;
mod client;
mod conversation;
mod embedded_server;
mod format;
mod json_splice;
mod own_requests;
mod plan;
mod server;
mod template;
#[cfg(test)]
mod tests;
mod triggers;

pub use format::schema;
pub use plan::Plan;

use crate::proposals::recent::Recent;
use crate::wire::{Direction, Id, IdKey};
use added_tools::Listing;
use conversation::Conversing;
use embedded_server::{EmbeddedServer, failed};
use own_requests::{Asking, Purpose};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use triggers::{TriggerEvent, Triggers};

const TO_SERVER: Direction = Direction::ClientToServer;
const TO_CLIENT: Direction = Direction::ServerToClient;
const UPDATED: &str = "notifications/resources/updated";
/// How many requests that a peer does not answer are remembered, on either side.
const MAX_OPEN: usize = 1024;

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
        (self.last, self.id(self.last))
    }

    fn id(&self, number: u64) -> String {
        format!("{}{number}", self.prefix)
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
    embedded_server: EmbeddedServer,
    ids: Ids,
    awaited: Recent<IdKey, Awaited>,
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
            embedded_server: EmbeddedServer::new(&plan, setting.seed, setting.wall_base_ns),
            ids: Ids { prefix: setting.id_prefix.clone(), last: 0 },
            phase: Phase::New,
            awaited: Recent::new(MAX_OPEN),
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

    /// A file changed: its path from the current folder, and from the root.
    pub fn file_changed(&mut self, now: Duration, path: &str, absolute: &str) -> Vec<Output> {
        let mut out = self.handle_timeout(now);
        self.happened(now, &TriggerEvent::File(path, absolute), &mut out);
        out
    }

    /// A request of the overlay's own did not get through. `None`: it is none of its.
    pub fn undelivered(&mut self, now: Duration, id: &[u8], why: &str) -> Option<Vec<Output>> {
        let number = self.ids.number(&Id(id).key())?;
        let mut out = self.handle_timeout(now);
        self.received(number, Err(failed(why)), &mut out);
        Some(out)
    }

    /// When it wants to be woken next.
    pub fn next_timeout(&self) -> Option<Duration> {
        [self.embedded_server.next_timeout(), self.asking.next_due(), self.triggers.next_due()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Duration) -> Vec<Output> {
        let mut out = Vec::new();
        if self.embedded_server.next_timeout().is_some_and(|at| at <= now) {
            out.extend(self.embedded_server.handle_timeout(now, &mut self.ids));
        }
        while let Some((number, purpose)) = self.asking.give_up(now) {
            out.push(self.take_back(number, "it took too long"));
            self.concluded(purpose, Err(failed("the server does not answer")), &mut out);
        }
        while let Some((rule, count)) = self.triggers.due(now) {
            self.fire(now, rule, &json!({"n": count}), &mut out);
        }
        out
    }

    fn subscribe(&mut self, now: Duration, uri: String, out: &mut Vec<Output>) {
        self.ask(now, "resources/subscribe", &json!({"uri": uri}), Purpose::Subscribe(uri), out);
    }

    /// Something passed: rules may wait for it.
    fn seen(&mut self, now: Duration, way: Direction, method: &str, params: Option<&[u8]>, out: &mut Vec<Output>) {
        self.happened(now, &TriggerEvent::Message(way, method, params), out);
    }

    fn happened(&mut self, now: Duration, what: &TriggerEvent<'_>, out: &mut Vec<Output>) {
        if self.phase == Phase::Ready {
            for (rule, about) in self.triggers.take(&self.plan, now, what) {
                self.fire(now, rule, &about, out);
            }
        }
    }

    fn fire(&mut self, now: Duration, rule: usize, about: &Value, out: &mut Vec<Output>) {
        let Some(rule) = self.plan.rules.get(rule) else { return };
        match serde_json::from_value(template::fill(&rule.fire, about)) {
            Ok(fired) => out.extend(self.embedded_server.fire(now, &fired, &mut self.ids)),
            Err(error) => out.push(Output::Tell(format!("the rule at line {}: {error}", rule.line))),
        }
    }

    fn ask(&mut self, now: Duration, method: &str, params: &Value, purpose: Purpose, out: &mut Vec<Output>) {
        let (number, id) = self.ids.next();
        self.asking.open(now, number, purpose);
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        out.push(Output::Put(TO_SERVER, request.to_string().into_bytes()));
    }

    /// Tells the server that an answer to a request of the overlay's own is not waited for any more.
    fn take_back(&self, number: u64, why: &str) -> Output {
        let params = json!({"requestId": self.ids.id(number), "reason": why});
        let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        Output::Put(TO_SERVER, cancelled.to_string().into_bytes())
    }
}

/// Tells that a request of one peer's is remembered no more, because the other leaves too many open.
fn forgotten(why: &str) -> Output {
    Output::Fact(json!({"report": "forgotten", "why": why, "most_open": MAX_OPEN}))
}

fn message_of(error: &Value) -> &str {
    error["message"].as_str().unwrap_or("no reason given")
}
