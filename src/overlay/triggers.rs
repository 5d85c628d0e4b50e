//! When rules are set off: what happened, how often already, and when time alone does it.

use super::embedded_server::value;
use super::plan::{Plan, Rule, When, said};
use crate::wire::Direction;
use serde_json::{Value, json};
use std::time::Duration;

/// Something that rules may wait for.
pub enum TriggerEvent<'a> {
    /// A request or notification: its way, method and params.
    Message(Direction, &'a str, Option<&'a [u8]>),
    /// A result: the request's method and params, and the result.
    Result(&'a str, &'a Value, &'a Value),
    /// A file changed: its path from the current folder, and from the root.
    File(&'a str, &'a str),
    /// A resource changed: its URI.
    Resource(&'a str),
}

/// How far each rule is.
#[derive(Debug)]
pub struct Triggers(Vec<TriggerState>);

#[derive(Clone, Debug, Default)]
struct TriggerState {
    fired: u64,
    last: Option<Duration>,
    due: Option<Duration>,
    /// After so long again.
    every: Option<Duration>,
    most: u64,
}

impl Triggers {
    /// None has fired yet, and no time runs.
    pub fn new(plan: &Plan) -> Self {
        Self(plan.rules.iter().map(|rule| TriggerState { most: rule.times, ..TriggerState::default() }).collect())
    }

    /// The handshake is over: times run from here.
    pub fn begin(&mut self, now: Duration, plan: &Plan) {
        for (state, rule) in self.0.iter_mut().zip(&plan.rules) {
            if let When::Time(span, again) = rule.when {
                state.due = Some(now + span).filter(|_| state.most > 0);
                state.every = again.then_some(span);
            }
        }
    }

    /// When time sets a rule off next.
    pub fn next_due(&self) -> Option<Duration> {
        self.0.iter().filter_map(|state| state.due).min()
    }

    /// A rule that time sets off, and how often it has by now. The next time counts from now: no burst comes of
    /// sleep.
    pub fn due(&mut self, now: Duration) -> Option<(usize, u64)> {
        let (at, state) = self.0.iter_mut().enumerate().find(|(_, state)| state.due.is_some_and(|due| due <= now))?;
        state.fired += 1;
        let goes_on = state.fired < state.most;
        state.due = state.every.filter(|_| goes_on).map(|every| now + every);
        Some((at, state.fired))
    }

    /// Whether the results of such a request are looked at.
    pub fn wants_result(&self, plan: &Plan, method: &str, params: Option<&[u8]>) -> bool {
        plan.rules
            .iter()
            .any(|rule| matches!(&rule.when, When::Result(test) if test.asks_for(method, || value(params))))
    }

    /// The rules that this sets off, each with what can be filled in.
    pub fn take(&mut self, plan: &Plan, now: Duration, what: &TriggerEvent<'_>) -> Vec<(usize, Value)> {
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

/// What can be filled in, where the rule is set off by this.
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

/// Whether a resource is this one, or lies below it.
pub fn covers(known: &str, uri: &str) -> bool {
    let below = uri.strip_prefix(known);
    below.is_some_and(|below| below.is_empty() || known.ends_with('/') || below.starts_with('/'))
}
