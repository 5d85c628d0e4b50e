//! The built-in live server as a sans-IO engine: it is fed messages, times and orders, and gives back messages to send
//! and facts to report. It composes the server sides of the proposals' rooms with a small MCP server around them.
//!
//! Era: legacy, revisions with a handshake; `server/discover` is an unknown method, so that hosts stay there.
//! Everything it sends follows from its settings and its inputs: ids are drawn from the seed, timestamps count from
//! the wall clock that it was given.
//!
//! Never: tokio, sockets, clocks, printing.

mod catalog;
mod config;
mod fire;
mod handshake;
mod incoming;
mod memory;
mod methods;
mod outgoing;
mod proposals;
mod report;
mod timers;
mod tools;

pub use config::{Config, Plan};
pub use fire::Fired;
pub use report::{Output, Report, Unsent};

use crate::extension::mcpe::server::Events;
use crate::extension::mcpl::server::{Mcpl, notes::Notes};
use crate::protocol::Revision;
use incoming::Replies;
use memory::Memories;
use outgoing::Asking;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use timers::{Timer, Timers};

/// How far the handshake is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    New,
    Answered,
    Ready,
}

/// What is known of the connection.
#[derive(Debug)]
struct Session {
    phase: Phase,
    revision: Option<Revision>,
    client: String,
    log_level: usize,
    watched: BTreeSet<String>,
    mcpl: Option<Mcpl>,
}

/// One server on one connection.
///
/// Times are counted from the moment it was made and must not go back; what is due by then is done first.
#[derive(Debug)]
pub struct Server {
    config: Config,
    now: Duration,
    rng: fastrand::Rng,
    session: Session,
    memories: Memories,
    notes: Notes,
    events: Events,
    asking: Asking,
    replies: Replies,
    counts: BTreeMap<u64, tools::Count>,
    timers: Timers,
    out: Vec<Output>,
}

impl Server {
    /// A server that waits for its host.
    pub fn new(config: Config) -> Self {
        Self {
            now: Duration::ZERO,
            rng: fastrand::Rng::with_seed(config.seed),
            session: Session {
                phase: Phase::New,
                revision: None,
                client: String::new(),
                log_level: fire::DEFAULT_LEVEL,
                watched: BTreeSet::new(),
                mcpl: None,
            },
            memories: Memories::preloaded(),
            notes: Notes::default(),
            events: Events::default(),
            asking: Asking::default(),
            replies: Replies::default(),
            counts: BTreeMap::new(),
            timers: Timers::default(),
            out: Vec::new(),
            config,
        }
    }

    /// Takes one message (or batch) as it came, without its line feed.
    pub fn receive(&mut self, now: Duration, line: &[u8]) -> Vec<Output> {
        self.advance(now);
        self.take(line);
        std::mem::take(&mut self.out)
    }

    /// Does what is due.
    pub fn wake(&mut self, now: Duration) -> Vec<Output> {
        self.advance(now);
        std::mem::take(&mut self.out)
    }

    /// Does what it is told from outside.
    pub fn fire(&mut self, now: Duration, event: Fired) -> Vec<Output> {
        self.advance(now);
        // The outcome is among the reports.
        let _ = self.act(event);
        std::mem::take(&mut self.out)
    }

    /// When it wants to be woken next.
    pub fn next_wake(&self) -> Option<Duration> {
        match (self.timers.first(), self.next_expiry()) {
            (Some(timer), Some(expiry)) => Some(timer.min(expiry)),
            (timer, expiry) => timer.or(expiry),
        }
    }

    fn advance(&mut self, now: Duration) {
        self.now = self.now.max(now);
        loop {
            let expiry = self.next_expiry().filter(|at| *at <= self.now);
            if expiry.is_some_and(|at| self.timers.first().is_none_or(|timer| at <= timer)) {
                self.expire();
                continue;
            }
            match self.timers.due(self.now) {
                Some(Timer::Plan(plan, done)) => self.follow_plan(plan, done),
                Some(Timer::Count(count)) => self.count_on(count),
                Some(Timer::Deadline(id)) => self.miss(id),
                None if expiry.is_some() => self.expire(),
                None => return,
            }
        }
    }

    /// When the next subscription ends, in this server's time.
    fn next_expiry(&self) -> Option<Duration> {
        let ns = self.events.next_expiry()?.saturating_sub(self.config.wall_base_ns);
        Some(Duration::from_nanos(u64::try_from(ns).unwrap_or(0)))
    }

    /// Starts the plans' timers.
    fn begin_plans(&mut self) {
        for (index, plan) in self.config.plans.iter().enumerate() {
            if plan.times != Some(0) {
                self.timers.set(self.now + Duration::from_millis(plan.after_ms), Timer::Plan(index, 0));
            }
        }
    }

    /// Does a plan's thing once. The next time counts from now, so that a late wake does not bring a burst.
    fn follow_plan(&mut self, index: usize, done: u64) {
        let Some(plan) = self.config.plans.get(index).cloned() else { return };
        let times = plan.times.unwrap_or(if plan.every_ms.is_some() { u64::MAX } else { 1 });
        if let Some(every) = plan.every_ms.filter(|_| done + 1 < times) {
            self.timers.set(self.now + Duration::from_millis(every.max(1)), Timer::Plan(index, done + 1));
        }
        let _ = self.act(plan.fire.occurrence(done));
    }

    /// Wall time in Unix nanoseconds.
    fn wall_ns(&self) -> i64 {
        let since = i64::try_from(self.now.as_nanos()).unwrap_or(i64::MAX);
        self.config.wall_base_ns.saturating_add(since)
    }

    /// Wall time as RFC 3339 in UTC, in milliseconds: what JavaScript's dates hold.
    fn stamp(&self) -> String {
        let time = jiff::Timestamp::from_nanosecond(i128::from(self.wall_ns()));
        time.map(|time| format!("{time:.3}")).unwrap_or_default()
    }

    /// A time-ordered id (UUIDv7).
    fn uuid_v7(&mut self) -> String {
        let ms = u64::try_from(self.wall_ns() / 1_000_000).unwrap_or(0);
        let mut random = [0; 10];
        self.rng.fill(&mut random);
        uuid::Builder::from_unix_timestamp_millis(ms, &random).into_uuid().to_string()
    }

    /// A random id (UUIDv4).
    fn uuid_v4(&mut self) -> String {
        let mut random = [0; 16];
        self.rng.fill(&mut random);
        uuid::Builder::from_random_bytes(random).into_uuid().to_string()
    }

    fn report(&mut self, report: Report) {
        self.out.push(Output::Report(report));
    }

    fn send(&mut self, message: impl std::fmt::Display) {
        self.out.push(Output::Send(message.to_string().into_bytes()));
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }
}

#[cfg(test)]
mod tests;
