//! What the server and the proposals use on a connection: time, ids, output, requests to the host, the store.

use super::Server;
use super::incoming::Origin;
use super::outgoing::PendingRequests;
use super::timers::Timers;
use super::{Config, Output, Report};
use crate::proposals::server::ToolCall;
use crate::proposals::server::handler_job::HandlerJob;
use crate::proposals::server::{Answer, ServerCx, Store};
use crate::wire::IdKey;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::time::Duration;

/// One connection, from the server's side.
pub(super) struct Connection {
    /// Time since it began.
    pub now: Duration,
    /// The timers.
    pub timers: Timers,
    /// The server's own pending requests.
    pub pending: PendingRequests,
    /// Tool calls that are answered later.
    pub deferred: Deferred,
    /// Jobs of the proposals that have not been sent out yet.
    pub jobs: Vec<(u64, HandlerJob)>,
    /// The host's name.
    pub client: String,
    /// Resources that the host has subscribed to.
    pub watched: BTreeSet<String>,
    /// The memory and the notes.
    pub store: Store,
    name: String,
    wall_base_ns: i64,
    tickets: u64,
    rng: fastrand::Rng,
    out: Vec<Output>,
}

impl Connection {
    /// A connection that begins now.
    pub(super) fn new(config: &Config) -> Self {
        Self {
            now: Duration::ZERO,
            timers: Timers::default(),
            pending: PendingRequests::new(config.answer_deadline),
            deferred: Deferred::default(),
            jobs: Vec::new(),
            client: String::new(),
            watched: BTreeSet::new(),
            store: if config.memory { Store::default() } else { Store::without_memory() },
            name: config.name.clone(),
            wall_base_ns: config.wall_base_ns,
            tickets: 0,
            rng: fastrand::Rng::with_seed(config.seed),
            out: Vec::new(),
        }
    }

    /// Sets the wall clock. Returns by how many nanoseconds it has gone ahead of the monotonic one.
    pub(super) fn set_wall(&mut self, now: Duration, wall_ns: i64) -> i64 {
        self.now = self.now.max(now);
        let step = wall_ns.saturating_sub(self.wall_ns());
        self.wall_base_ns = wall_ns.saturating_sub(nanos(self.now));
        step
    }

    /// Takes the outputs since the last call.
    pub(super) fn take_out(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.out)
    }

    /// A unique number for something performed outside.
    pub(super) fn ticket(&mut self) -> u64 {
        self.tickets += 1;
        self.tickets
    }

    /// Adds an output.
    pub(super) fn order(&mut self, output: Output) {
        self.out.push(output);
    }

    /// Whether the host has subscribed to this resource, or to a folder that contains it.
    pub(super) fn is_watched(&self, uri: &str) -> bool {
        let covers = |watched: &String| {
            let below = uri.strip_prefix(watched.as_str());
            below.is_some_and(|below| below.is_empty() || watched.ends_with('/') || below.starts_with('/'))
        };
        self.watched.iter().any(covers)
    }

    /// Adds a report.
    pub(super) fn report(&mut self, report: Report) {
        self.out.push(Output::Report(report));
    }

    /// Adds the differences between a response and its schema to the reports that proposals just made about its
    /// request.
    pub(super) fn amend(&mut self, id: i64, deviations: &[String]) {
        let reports = self.out.iter_mut().filter_map(|output| match output {
            Output::Report(Report::Proposal(report)) if report["id"] == id => Some(report),
            _ => None,
        });
        if !deviations.is_empty() {
            reports.for_each(|report| report["deviations"] = json!(deviations));
        }
    }

    /// Sends a message.
    pub(super) fn put(&mut self, message: impl std::fmt::Display) {
        self.out.push(Output::Send(message.to_string().into_bytes()));
    }
}

fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

impl ServerCx for Connection {
    fn now(&self) -> Duration {
        self.now
    }

    fn wall_ns(&self) -> i64 {
        self.wall_base_ns.saturating_add(nanos(self.now))
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        self.rng.fill(bytes);
    }

    fn server(&self) -> &str {
        &self.name
    }

    fn client(&self) -> &str {
        &self.client
    }

    fn store(&mut self) -> &mut Store {
        &mut self.store
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.put(json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn send(&mut self, method: &str, params: &Value) -> String {
        self.notify(method, params);
        self.report(Report::Sent { method: method.to_owned(), id: None });
        format!("sent {method}")
    }

    fn ask(&mut self, method: &str, params: &Value, about: Value) -> String {
        let id = self.open(method, about);
        self.put(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.report(Report::Sent { method: method.to_owned(), id: Some(id) });
        format!("sent {method} with id {id}")
    }

    fn about(&mut self, id: i64) -> Option<&mut Value> {
        self.pending.about(id)
    }

    fn awaits(&self, ticket: u64) -> bool {
        self.deferred.awaits(ticket)
    }

    fn settle(&mut self, ticket: u64, answer: Answer) {
        self.deferred.settle(ticket, answer);
    }

    fn send_out(&mut self, job: HandlerJob) -> u64 {
        let ticket = self.ticket();
        self.jobs.push((ticket, job));
        ticket
    }

    fn report(&mut self, report: Value) {
        self.report(Report::Proposal(report));
    }

    fn changed(&mut self, uri: &str) {
        if self.is_watched(uri) {
            self.notify("notifications/resources/updated", &json!({"uri": uri}));
        }
    }
}

/// Tool calls that a proposal answers later, by ticket.
#[derive(Debug, Default)]
pub(super) struct Deferred {
    given: u64,
    waiting: BTreeMap<u64, Origin>,
    settled: Vec<(Origin, Answer)>,
}

impl Deferred {
    /// Whether a call is still waiting.
    pub(super) fn awaits(&self, ticket: u64) -> bool {
        self.waiting.contains_key(&ticket)
    }

    /// Records a call's answer, which is sent once the server has handled its input.
    pub(super) fn settle(&mut self, ticket: u64, answer: Answer) {
        self.settled.extend(self.waiting.remove(&ticket).map(|origin| (origin, answer)));
    }

    fn forget(&mut self, id: &IdKey) -> Option<Origin> {
        let ticket = self.waiting.iter().find(|(_, origin)| origin.key() == *id).map(|(ticket, _)| *ticket)?;
        self.waiting.remove(&ticket)
    }
}

impl Server {
    /// Offers a call to the proposals. Returns true if one of them answers it later.
    pub(super) fn defer(&mut self, origin: &Origin, call: &ToolCall<'_>) -> bool {
        let deferred = &mut self.cx.deferred;
        deferred.given += 1;
        let ticket = deferred.given;
        deferred.waiting.insert(ticket, origin.clone());
        let taken = self.proposals.defer(call, ticket, &mut self.cx);
        if !taken {
            self.cx.deferred.waiting.remove(&ticket);
        }
        taken
    }

    /// Handles the cancellation of a waiting call, which is then not answered. Returns whether there is one.
    pub(super) fn take_back(&mut self, id: &IdKey) -> bool {
        let Some(origin) = self.cx.deferred.forget(id) else { return false };
        self.report(Report::Cancelled { id: origin.id().to_owned() });
        self.drop_reply(&origin);
        true
    }

    /// Sends the recorded answers.
    pub(super) fn pay_out(&mut self) {
        for (origin, answer) in std::mem::take(&mut self.cx.deferred.settled) {
            self.reply(&origin, answer);
        }
    }
}
