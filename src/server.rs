//! The built-in server as a sans-IO engine: it is fed messages, times and orders, and returns messages to send and
//! events to report. It is a small MCP server of either era; the server sides of the proposals add the rest.
//!
//! Its output depends on its configuration and its inputs only: ids come from the seed, timestamps from the wall-clock
//! time that it was given.
//!
//! Never: names of proposals, tokio, sockets, clocks, printing.

mod catalogue;
mod config;
mod connection;
mod content;
mod fire;
mod handshake;
mod incoming;
mod io_requests;
mod methods;
mod outgoing;
mod proposals;
mod report;
mod timers;
mod tools;

pub use catalogue::Catalogue;
pub(crate) use catalogue::CatalogueRequest;
pub use config::Config;
pub(crate) use config::Plan;
pub(crate) use fire::Fired;
pub use io_requests::Task;
pub(crate) use io_requests::{IoRequest, Outside};
pub use report::Output;
pub(crate) use report::Report;

use crate::proposals::server::ServerCx;
use crate::proposals::{Proposal, REGISTRY};
use crate::protocol::Revision;
use connection::Connection;
use incoming::Replies;
use io_requests::IoRequests;
use proposals::ServerProposals;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use timers::Timer;

/// The progress of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    New,
    Answered,
    Ready,
}

/// What is known about the host of the connection.
#[derive(Debug)]
struct Session {
    phase: Phase,
    revision: Option<Revision>,
    log_level: usize,
    /// A modern request, which needs no handshake, has arrived.
    is_modern: bool,
    /// The host offers sampling (MCP's own) to servers.
    samples: bool,
    /// Until then, plans wait for the host's configuration.
    settled: Duration,
}

/// How long plans wait for the host's configuration after the handshake.
const SETTLING: Duration = Duration::from_millis(250);

/// A larger change of the wall clock is no correction of its rate: somebody set it, or the machine slept (one second).
const CLOCK_STEP_NS: u64 = 1_000_000_000;

/// One server on one connection.
///
/// Times are relative to the engine's creation and must not go back. Each call first does what is due by its time.
pub struct Server {
    config: Config,
    session: Session,
    cx: Connection,
    proposals: ServerProposals,
    replies: Replies,
    counts: BTreeMap<u64, tools::Count>,
    io_requests: IoRequests,
}

impl Server {
    /// A server that waits for its host.
    pub fn new(config: Config) -> Self {
        Self::with_proposals(config, REGISTRY)
    }

    /// Like [`Self::new`], with other proposals than those of the registry.
    pub fn with_proposals(config: Config, proposals: &[&'static dyn Proposal]) -> Self {
        Self {
            session: Session {
                phase: Phase::New,
                revision: None,
                log_level: fire::DEFAULT_LEVEL,
                is_modern: false,
                samples: false,
                settled: Duration::ZERO,
            },
            cx: Connection::new(&config),
            proposals: ServerProposals::new(proposals, &config),
            replies: Replies::default(),
            counts: BTreeMap::new(),
            io_requests: IoRequests::default(),
            config,
        }
    }

    /// Sets the wall clock, before any other call. Until it is set again, it goes on with the time since the creation.
    pub fn set_wall_clock(&mut self, now: Duration, wall_ns: i64) {
        let step = self.cx.set_wall(now, wall_ns);
        if step.unsigned_abs() >= CLOCK_STEP_NS {
            self.proposals.clock_stepped(&mut self.cx);
        }
    }

    /// Whether [`Self::next_timeout`] depends on the wall clock.
    pub fn follows_wall_clock(&self) -> bool {
        self.proposals.next_date().is_some()
    }

    /// Handles one message (or batch), given without its line feed.
    pub fn receive(&mut self, now: Duration, line: &[u8]) -> Vec<Output> {
        self.advance(now);
        self.take(line);
        self.outputs()
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Duration) -> Vec<Output> {
        self.advance(now);
        self.outputs()
    }

    /// Makes the server send something, as ordered from outside.
    pub fn fire(&mut self, now: Duration, event: &Fired) -> Vec<Output> {
        self.advance(now);
        // The report says how it went.
        let _ = self.act(event);
        self.outputs()
    }

    fn outputs(&mut self) -> Vec<Output> {
        self.send_jobs();
        self.pay_out();
        self.cx.take_out()
    }

    /// Whether a response or an I/O result is still to come.
    pub fn is_owing(&self) -> bool {
        self.io_requests.is_owing()
    }

    /// Handles the result of an I/O request; `None` if it failed.
    pub fn complete_io(&mut self, now: Duration, ticket: u64, completed: Option<Value>) -> Vec<Output> {
        self.advance(now);
        self.completed(ticket, completed);
        self.outputs()
    }

    /// Handles the end of input. Work in progress may complete for as long as [`Self::is_owing`].
    pub fn end(&mut self, now: Duration) -> Vec<Output> {
        self.advance(now);
        self.leave();
        self.outputs()
    }

    /// When to call [`Self::wake`] next.
    pub fn next_timeout(&self) -> Option<Duration> {
        self.cx.timers.first().into_iter().chain(self.proposals.next_timeout(&self.cx)).min()
    }

    fn advance(&mut self, now: Duration) {
        self.cx.now = self.cx.now.max(now);
        loop {
            let proposal = self.proposals.next_timeout(&self.cx).filter(|at| *at <= self.cx.now);
            if proposal.is_some_and(|at| self.cx.timers.first().is_none_or(|timer| at <= timer)) {
                self.proposals.handle_timeout(&mut self.cx);
                continue;
            }
            match self.cx.timers.due(self.cx.now) {
                Some(Timer::Plan(plan, done)) => self.follow_plan(plan, done),
                Some(Timer::Count(count)) => self.count_on(count),
                Some(Timer::Deadline(id)) => self.missed(id),
                Some(Timer::Leave) => self.recall(),
                None => return,
            }
        }
    }

    /// Starts the timers of all plans.
    fn begin_plans(&mut self) {
        for (index, plan) in self.config.plans.iter().enumerate() {
            if plan.times != Some(0) {
                self.cx.timers.set(self.cx.now + Duration::from_millis(plan.after_ms), Timer::Plan(index, 0));
            }
        }
    }

    /// Performs one step of a plan. The next step is scheduled from now, so that a late wake-up does not cause a burst.
    fn follow_plan(&mut self, index: usize, done: u64) {
        let Some(plan) = self.config.plans.get(index).cloned() else { return };
        if self.cx.now < self.session.settled && self.proposals.await_host(plan.fire.kind()) {
            return self.cx.timers.set(self.session.settled, Timer::Plan(index, done));
        }
        let times = plan.times.unwrap_or(if plan.every_ms.is_some() { u64::MAX } else { 1 });
        if let Some(every) = plan.every_ms.filter(|_| done + 1 < times) {
            let next = self.cx.now + Duration::from_millis(every.max(1));
            self.cx.timers.set(next, Timer::Plan(index, done + 1));
        }
        let _ = self.act(&self.occurrence(plan.fire, done));
    }

    fn report(&mut self, report: Report) {
        self.cx.report(report);
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.cx.notify(method, params);
    }
}

#[cfg(test)]
mod tests;
