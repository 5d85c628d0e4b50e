//! The overlay as a sans-IO engine: it forwards the messages between a client and a server, and adds what its plan
//! says, both to what the server declares and lists, and as messages of its own.
//!
//! It changes only the server's responses to `initialize` and `tools/list`. Everything else that it does not answer or
//! drop is forwarded byte for byte. The messages of the proposals come from the same code as in the built-in server
//! (`embedded_server`).
//!
//! Never: tokio, sockets, files, clocks, printing. Times are relative to the engine's creation and come with each
//! input.

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
use added_tools::ServerTools;
use conversation::UserMessagesInFlight;
use embedded_server::{EmbeddedServer, failed};
use own_requests::{OwnRequests, Purpose};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use triggers::{TriggerEvent, Triggers};

const TO_SERVER: Direction = Direction::ClientToServer;
const TO_CLIENT: Direction = Direction::ServerToClient;
const UPDATED: &str = "notifications/resources/updated";
/// Maximum number of unanswered requests to remember, per side.
const MAX_OPEN: usize = 1024;

/// One effect of an input; effects are in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Forward a message unchanged.
    Forward(Direction, Vec<u8>),
    /// Do not forward a message: the overlay answers it, or it responds to a request of the overlay.
    Consume(Direction, Vec<u8>),
    /// Send a message of the overlay itself.
    Send(Direction, Vec<u8>),
    /// Forward a changed message of the server: the original, then the changed text.
    Replace(Vec<u8>, Vec<u8>),
    /// Drop a message of the server that the client did not ask for.
    Drop(Vec<u8>),
    /// A sentence that the user should see.
    Notice(String),
    /// Structured information that a user may want to see.
    Report(Value),
}

/// The ids of the overlay's own requests, which neither side uses itself.
#[derive(Debug)]
pub(crate) struct Ids {
    prefix: String,
    last: u64,
}

impl Ids {
    /// Returns the next number, and the id as it appears in messages.
    fn next(&mut self) -> (u64, String) {
        self.last += 1;
        (self.last, self.id(self.last))
    }

    fn id(&self, number: u64) -> String {
        format!("{}{number}", self.prefix)
    }

    /// The number in an id made by [`Self::next`]; `None` for any other id.
    fn number(&self, id: &IdKey) -> Option<u64> {
        let IdKey::Text(id) = id else { return None };
        id.strip_prefix(&self.prefix)?.parse().ok()
    }
}

/// The progress of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    New,
    Asked,
    Answered,
    Ready,
}

/// A client's request whose response the overlay inspects.
enum Awaited {
    Initialize,
    Tools,
    Unsubscribe(String),
    /// Its method and params, for the rules.
    Result(String, Value),
}

/// What an overlay needs beside its plan.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The prefix of its request ids. Neither side may use it.
    pub id_prefix: String,
    /// The seed of all other ids.
    pub seed: u64,
    /// Unix time at `now` = 0, in nanoseconds.
    pub wall_base_ns: i64,
}

/// The overlay engine; see the module.
pub struct Overlay {
    plan: Plan,
    setting: Setting,
    phase: Phase,
    embedded_server: EmbeddedServer,
    ids: Ids,
    awaited: Recent<IdKey, Awaited>,
    own_requests: OwnRequests,
    conversing: UserMessagesInFlight,
    server_tools: ServerTools,
    triggers: Triggers,
    /// The resources that the overlay, and the client, have subscribed to.
    own_uris: BTreeSet<String>,
    client_uris: BTreeSet<String>,
    declared: Value,
    said_no_carrier: bool,
}

impl Overlay {
    /// An overlay that waits for a handshake.
    pub fn new(plan: Plan, setting: Setting) -> Self {
        Self {
            embedded_server: EmbeddedServer::new(&plan, setting.seed, setting.wall_base_ns),
            ids: Ids { prefix: setting.id_prefix.clone(), last: 0 },
            phase: Phase::New,
            awaited: Recent::new(MAX_OPEN),
            own_requests: OwnRequests::default(),
            conversing: UserMessagesInFlight::default(),
            server_tools: ServerTools::default(),
            triggers: Triggers::new(&plan),
            own_uris: BTreeSet::new(),
            client_uris: BTreeSet::new(),
            declared: Value::Null,
            said_no_carrier: false,
            plan,
            setting,
        }
    }

    /// The folders to watch for changed files.
    pub fn folders(&self) -> BTreeSet<&str> {
        self.plan.rules.iter().filter_map(|rule| rule.when.folder()).collect()
    }

    /// Handles a changed file, given by its path relative to the current folder and its absolute path.
    pub fn file_changed(&mut self, now: Duration, path: &str, absolute: &str) -> Vec<Output> {
        let mut out = self.handle_timeout(now);
        self.happened(now, &TriggerEvent::File(path, absolute), &mut out);
        out
    }

    /// Handles a failed delivery of a request. Returns `None` if the request is not the overlay's.
    pub fn undelivered(&mut self, now: Duration, id: &[u8], why: &str) -> Option<Vec<Output>> {
        let number = self.ids.number(&Id(id).key())?;
        let mut out = self.handle_timeout(now);
        self.received(number, Err(failed(why)), &mut out);
        Some(out)
    }

    /// Sets the wall clock, before any other call.
    pub fn set_wall_clock(&mut self, now: Duration, wall_ns: i64) {
        self.embedded_server.set_wall_clock(now, wall_ns);
    }

    /// Whether [`Self::next_timeout`] depends on the wall clock.
    pub fn follows_wall_clock(&self) -> bool {
        self.embedded_server.follows_wall_clock()
    }

    /// When to call [`Self::handle_timeout`] next.
    pub fn next_timeout(&self) -> Option<Duration> {
        [self.embedded_server.next_timeout(), self.own_requests.next_due(), self.triggers.next_due()]
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
        while let Some((number, purpose)) = self.own_requests.give_up(now) {
            out.push(self.take_back(number, "timeout"));
            self.concluded(purpose, Err(failed("the server did not respond in time")), &mut out);
        }
        while let Some((rule, count)) = self.triggers.due(now) {
            self.fire(now, rule, &json!({"n": count}), &mut out);
        }
        out
    }

    fn subscribe(&mut self, now: Duration, uri: String, out: &mut Vec<Output>) {
        self.ask(now, "resources/subscribe", &json!({"uri": uri}), Purpose::Subscribe(uri), out);
    }

    /// Shows a message that passed to the rules that wait for it.
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
            Err(error) => out.push(Output::Notice(format!("the rule at line {}: {error}", rule.line))),
        }
    }

    fn ask(&mut self, now: Duration, method: &str, params: &Value, purpose: Purpose, out: &mut Vec<Output>) {
        let (number, id) = self.ids.next();
        self.own_requests.open(now, number, purpose);
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        out.push(Output::Send(TO_SERVER, request.to_string().into_bytes()));
    }

    /// Cancels one of the overlay's own requests.
    fn take_back(&self, number: u64, why: &str) -> Output {
        let params = json!({"requestId": self.ids.id(number), "reason": why});
        let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        Output::Send(TO_SERVER, cancelled.to_string().into_bytes())
    }
}

/// Reports that the overlay dropped a client's or server's request from its list, because the other side leaves too
/// many unanswered.
fn forgotten(why: &str) -> Output {
    Output::Report(json!({"report": "forgotten", "why": why, "most_open": MAX_OPEN}))
}

fn message_of(error: &Value) -> &str {
    error["message"].as_str().unwrap_or("no reason given")
}
