//! Runs the handlers of subscriptions: waiting, running and repeated runs (MCPE 2025-01-01, Event Handlers). A handler
//! is a part of the subscription, which only the server sees, so the server runs it (AMB-E5).
//!
//! Only one run of a subscription is active at a time, in the order of the deliveries. Every start and end is
//! reported; it must never drop a run silently.

mod command;
pub(crate) mod handler;
mod input;
mod programs;
mod script;

use super::settings::Settings;
use crate::proposals::server::ServerCx;
use crate::proposals::server::handler_job::{JobEnd, JobOutcome, MAX_OUTPUT_BYTES};
use handler::Handler;
use input::Input;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// How long to wait before a webhook is tried again. The time doubles with each attempt.
const BACK_OFF: Duration = Duration::from_secs(1);
/// The maximum wait, whatever the webhook's server asks for.
const MAX_BACK_OFF: Duration = Duration::from_secs(60);
/// How often one attempt of a webhook may be redirected on its host.
const MAX_HOPS: u32 = 3;

/// One delivery to one handler.
#[derive(Clone, Debug)]
struct Run {
    subscription: String,
    handler: Arc<Handler>,
    input: Input,
    /// The number of the attempt, from 1.
    attempt: u32,
    hops: u32,
    /// It is not tried again, because its subscription or the session is over.
    is_last: bool,
    /// Where this attempt was redirected to.
    url: Option<String>,
    /// Where the webhook has moved permanently, for all attempts (RFC 9110 §15.4.9).
    moved: Option<String>,
    /// When it began, since the start of the connection.
    began: Duration,
}

/// All runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handlers {
    waiting: VecDeque<Run>,
    under_way: BTreeMap<u64, Run>,
    /// Runs to try again, with the time since the start of the connection.
    asleep: Vec<(Duration, Run)>,
}

/// What to do after an attempt.
enum Verdict {
    Over(&'static str),
    Again(Duration),
    Elsewhere { url: String, for_good: bool },
}

impl Handlers {
    /// Adds the run for a delivery.
    pub(crate) fn take(
        &mut self,
        subscription: &str,
        handler: &Arc<Handler>,
        events: Delivered,
        settings: &Settings,
        cx: &mut dyn ServerCx,
    ) {
        let run = Run {
            subscription: subscription.to_owned(),
            handler: Arc::clone(handler),
            input: Input::new(subscription, events),
            attempt: 1,
            hops: 0,
            is_last: false,
            url: None,
            moved: None,
            began: cx.now(),
        };
        if self.waiting.len() >= settings.most_handlers_waiting {
            return run.ended("dropped", json!({"why": "too many deliveries are waiting"}), cx);
        }
        self.waiting.push_back(run);
        self.go(settings, cx);
    }

    /// Starts the runs that can be started.
    fn go(&mut self, settings: &Settings, cx: &mut dyn ServerCx) {
        while self.under_way.len() < settings.most_handlers {
            let busy = |run: &Run| {
                let others = self.under_way.values().chain(self.asleep.iter().map(|(_, run)| run));
                others.into_iter().any(|other| other.subscription == run.subscription)
            };
            let Some(mut run) = self.waiting.iter().position(|run| !busy(run)).and_then(|at| self.waiting.remove(at))
            else {
                return;
            };
            run.began = cx.now();
            match run.handler.job(&run.input, run.url.as_deref()) {
                Ok(job) => {
                    run.report("started", json!({}), cx);
                    let ticket = cx.send_out(job);
                    self.under_way.insert(ticket, run);
                }
                Err(why) => run.ended("not_started", json!({"why": why}), cx),
            }
        }
    }

    /// Handles the outcome of a job. Returns whether the job belonged to a run.
    pub(crate) fn completed(
        &mut self,
        ticket: u64,
        outcome: &JobOutcome,
        settings: &Settings,
        cx: &mut dyn ServerCx,
    ) -> bool {
        let Some(mut run) = self.under_way.remove(&ticket) else { return false };
        match run.judge(&outcome.end, settings, cx) {
            Verdict::Over(how) => run.ended(how, reported(outcome), cx),
            Verdict::Elsewhere { url, for_good } => {
                run.ended("redirected", reported(outcome), cx);
                // A permanent redirect counts only if it did not follow a temporary one.
                if for_good && run.url == run.moved {
                    run.moved = Some(url.clone());
                }
                (run.hops, run.url) = (run.hops + 1, Some(url));
                self.waiting.push_front(run);
            }
            Verdict::Again(wait) => {
                let mut what = reported(outcome);
                what["again_in_ms"] = json!(millis(wait));
                run.ended("retried", what, cx);
                run.attempt += 1;
                (run.hops, run.url) = (0, run.moved.clone());
                self.asleep.push((cx.now() + wait, run));
            }
        }
        self.go(settings, cx);
        true
    }

    /// When the next run is tried again.
    pub(crate) fn next_timeout(&self) -> Option<Duration> {
        self.asleep.iter().map(|(at, _)| *at).min()
    }

    /// Starts the runs that are due again, before the waiting ones.
    pub(crate) fn handle_timeout(&mut self, settings: &Settings, cx: &mut dyn ServerCx) {
        let now = cx.now();
        let (due, asleep) = std::mem::take(&mut self.asleep).into_iter().partition(|(at, _)| *at <= now);
        self.asleep = asleep;
        let due: Vec<(Duration, Run)> = due;
        due.into_iter().rev().for_each(|(_, run)| self.waiting.push_front(run));
        self.go(settings, cx);
    }

    /// Drops the waiting runs of a removed subscription. A run that is active continues, but is not tried again.
    pub(crate) fn forget(&mut self, subscription: &str, cx: &mut dyn ServerCx) {
        self.drop_where(|run| run.subscription == subscription, "the subscription was removed", cx);
    }

    /// Drops all waiting runs at the end of the session.
    pub(crate) fn end(&mut self, cx: &mut dyn ServerCx) {
        self.drop_where(|_| true, "the session is over", cx);
    }

    fn drop_where(&mut self, goes: impl Fn(&Run) -> bool, why: &str, cx: &mut dyn ServerCx) {
        self.under_way.values_mut().filter(|run| goes(run)).for_each(|run| run.is_last = true);
        let asleep = std::mem::take(&mut self.asleep);
        let (gone, asleep) = asleep.into_iter().partition(|(_, run)| goes(run));
        self.asleep = asleep;
        let gone: Vec<(Duration, Run)> = gone;
        let (more, waiting) = std::mem::take(&mut self.waiting).into_iter().partition(|run| goes(run));
        self.waiting = waiting;
        let more: VecDeque<Run> = more;
        gone.into_iter().map(|(_, run)| run).chain(more).for_each(|run| run.ended("dropped", json!({"why": why}), cx));
    }
}

/// The events of a delivery.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Delivered {
    /// One event, in real time.
    Event(Value),
    /// A batch.
    Batch(Vec<Value>),
}

impl Run {
    fn judge(&self, end: &JobEnd, settings: &Settings, cx: &dyn ServerCx) -> Verdict {
        match end {
            JobEnd::Exited { code: 0 } | JobEnd::Said | JobEnd::Answered { status: 200..=299, .. } => {
                Verdict::Over("done")
            }
            JobEnd::Late => Verdict::Over("timed_out"),
            JobEnd::Stopped => Verdict::Over("stopped"),
            JobEnd::Unstarted { .. } => Verdict::Over("not_started"),
            JobEnd::Answered { status: status @ (307 | 308), location: Some(location), .. } => {
                match self.elsewhere(location) {
                    Some(url) if self.hops < MAX_HOPS && !self.is_last => {
                        Verdict::Elsewhere { url, for_good: *status == 308 }
                    }
                    _ => Verdict::Over("failed"),
                }
            }
            // This server's own webhook refuses what its handlers post (RFC 5842 §7.2).
            JobEnd::Answered { status: 508, .. } => Verdict::Over("loop"),
            JobEnd::Answered { status: 429 | 500..=599, retry_after, .. } => {
                let asked = retry_after.as_deref().and_then(|text| wait_asked_for(text, cx.wall_ns()));
                self.again(asked, settings)
            }
            JobEnd::Unreached { .. } => self.again(None, settings),
            JobEnd::Exited { .. } | JobEnd::Signalled { .. } | JobEnd::Answered { .. } => Verdict::Over("failed"),
        }
    }

    fn again(&self, asked: Option<Duration>, settings: &Settings) -> Verdict {
        if self.attempt >= settings.webhook_attempts || !self.handler.is_webhook() || self.is_last {
            return Verdict::Over("failed");
        }
        let back_off = BACK_OFF.saturating_mul(1 << (self.attempt - 1).min(16));
        Verdict::Again(asked.unwrap_or_default().max(back_off).min(MAX_BACK_OFF))
    }

    /// The target of a redirect, if it is on the same host.
    fn elsewhere(&self, location: &str) -> Option<String> {
        let here = url::Url::parse(self.url.as_deref().or(self.handler.url())?).ok()?;
        let there = here.join(location).ok()?;
        (there.origin() == here.origin() && there.username().is_empty()).then(|| there.to_string())
    }

    fn ended(&self, how: &str, mut what: Value, cx: &mut dyn ServerCx) {
        what["outcome"] = json!(how);
        what["duration_ms"] = json!(millis(cx.now().saturating_sub(self.began)));
        self.report("ended", what, cx);
    }

    fn report(&self, state: &str, what: Value, cx: &mut dyn ServerCx) {
        let mut report = json!({"report": "handler", "state": state, "kind": self.handler.kind().name(),
            "subscription": self.subscription, "event_ids": self.input.ids(), "attempt": self.attempt});
        if let (Some(report), Value::Object(what)) = (report.as_object_mut(), what) {
            report.extend(what);
        }
        cx.report(report);
    }
}

/// What to report about an outcome.
fn reported(outcome: &JobOutcome) -> Value {
    let mut reported = match &outcome.end {
        JobEnd::Exited { code } => json!({"exit_code": code}),
        JobEnd::Signalled { signal } => json!({"signal": signal}),
        JobEnd::Answered { status, .. } => json!({"status": status}),
        JobEnd::Unreached { why } | JobEnd::Unstarted { why } => json!({"why": why}),
        JobEnd::Said | JobEnd::Late | JobEnd::Stopped => json!({}),
    };
    reported["bytes"] = json!(outcome.bytes);
    if !outcome.output.is_empty() {
        reported["output"] = json!(outcome.output);
    }
    if outcome.bytes > MAX_OUTPUT_BYTES as u64 {
        reported["truncated"] = json!(true);
    }
    if outcome.left > 0 {
        reported["left_behind"] = json!(outcome.left);
    }
    reported
}

/// The wait that `Retry-After` asks for, in seconds or as a date (RFC 9110 §10.2.3).
fn wait_asked_for(text: &str, now_ns: i64) -> Option<Duration> {
    if let Ok(seconds) = text.trim().parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let date = jiff::fmt::rfc2822::parse(text.trim()).ok()?;
    let ahead = date.timestamp().as_nanosecond() - i128::from(now_ns);
    Some(u64::try_from(ahead).map_or(Duration::ZERO, Duration::from_nanos))
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
