//! The state of the rules: which events trigger them, how often they have fired, and when time triggers them.

use super::embedded_server::value;
use super::plan::{Plan, Rule, When, said};
use crate::wire::Direction;
use serde_json::{Value, json};
use std::time::Duration;

/// Something that may trigger a rule.
pub(super) enum TriggerEvent<'a> {
    /// A request or notification: its direction, method and params.
    Message(Direction, &'a str, Option<&'a [u8]>),
    /// A result: the request's method and params, and the result.
    Result(&'a str, &'a Value, &'a Value),
    /// A changed file: its path relative to the current folder, and its absolute path.
    File(&'a str, &'a str),
    /// A changed resource: its URI.
    Resource(&'a str),
}

/// The state of each rule.
#[derive(Debug)]
pub(super) struct Triggers(Vec<TriggerState>);

#[derive(Clone, Debug, Default)]
struct TriggerState {
    fired: u64,
    last: Option<Duration>,
    due: Option<Duration>,
    /// The interval of a repeated rule.
    every: Option<Duration>,
    most: u64,
}

impl Triggers {
    /// The state before any rule has fired; timers do not run yet.
    pub(super) fn new(plan: &Plan) -> Self {
        Self(plan.rules.iter().map(|rule| TriggerState { most: rule.times, ..TriggerState::default() }).collect())
    }

    /// Starts the timers at the end of the handshake.
    pub(super) fn begin(&mut self, now: Duration, plan: &Plan) {
        for (state, rule) in self.0.iter_mut().zip(&plan.rules) {
            if let When::Time(span, again) = rule.when {
                state.due = Some(now + span).filter(|_| state.most > 0);
                state.every = again.then_some(span);
            }
        }
    }

    /// When time triggers the next rule.
    pub(super) fn next_due(&self) -> Option<Duration> {
        self.0.iter().filter_map(|state| state.due).min()
    }

    /// Returns a rule that is due, and how often it has fired by now. The next time counts from now, so that there is
    /// no burst after a suspension.
    pub(super) fn due(&mut self, now: Duration) -> Option<(usize, u64)> {
        let (at, state) = self.0.iter_mut().enumerate().find(|(_, state)| state.due.is_some_and(|due| due <= now))?;
        state.fired += 1;
        let goes_on = state.fired < state.most;
        state.due = state.every.filter(|_| goes_on).map(|every| now + every);
        Some((at, state.fired))
    }

    /// Whether a rule needs the results of such a request.
    pub(super) fn wants_result(&self, plan: &Plan, method: &str, params: Option<&[u8]>) -> bool {
        plan.rules
            .iter()
            .any(|rule| matches!(&rule.when, When::Result(test) if test.asks_for(method, || value(params))))
    }

    /// The rules triggered by this event, each with the values for its template.
    pub(super) fn take(&mut self, plan: &Plan, now: Duration, what: &TriggerEvent<'_>) -> Vec<(usize, Value)> {
        let mut found = Vec::new();
        for (at, (state, rule)) in self.0.iter_mut().zip(&plan.rules).enumerate() {
            let rests = state.last.is_some_and(|last| now < last + rule.cooldown) || state.fired >= state.most;
            let Some(mut about) = about(rule, what).filter(|_| !rests) else { continue };
            state.fired += 1;
            state.last = Some(now);
            about["n"] = state.fired.into();
            found.push((at, about));
        }
        found
    }
}

/// The values for the template, if the event triggers the rule.
fn about(rule: &Rule, what: &TriggerEvent<'_>) -> Option<Value> {
    match (&rule.when, what) {
        (When::Message(test), TriggerEvent::Message(way, method, params)) => {
            let params = test.fits(*way, method, || value(*params))?;
            Some(json!({"method": method, "tool": params["name"], "params": params}))
        }
        (When::Result(test), TriggerEvent::Result(method, params, result)) => {
            let all = || {
                json!({"method": method, "tool": params["name"], "params": params, "result": result,
                "text": said(result)})
            };
            test.fits(method, params, result).then(all)
        }
        (When::File(_, glob), TriggerEvent::File(path, absolute)) => {
            (glob.is_match(path) || glob.is_match(absolute)).then(|| json!({"path": path}))
        }
        (When::Resource(known, glob), TriggerEvent::Resource(uri)) => {
            (covers(known, uri) || glob.is_match(uri)).then(|| json!({"uri": uri}))
        }
        _ => None,
    }
}

/// Whether `uri` is the known resource or lies below it.
pub(super) fn covers(known: &str, uri: &str) -> bool {
    let below = uri.strip_prefix(known);
    below.is_some_and(|below| below.is_empty() || known.ends_with('/') || below.starts_with('/'))
}
