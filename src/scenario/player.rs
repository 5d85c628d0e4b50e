//! Plays a scenario, sans-IO. A runner connects a host to servers and follows the player:
//!
//! 1. It passes everything that happens to [`Player::see`].
//! 2. Then, and at the time of the last [`PlayerStep::Wait`], it calls [`Player::next`] repeatedly and does what it
//!    says, until that is [`PlayerStep::Wait`] or [`PlayerStep::Finished`]. If it controls the delivery of
//!    messages, it delivers those that are due first.
//! 3. It calls [`Player::fate`] for each message when it is sent, before anything else happens to the message.
//! 4. It calls [`Player::reply`] for the model's reply to each prompt, and asks a model if there is none.
//! 5. At the end it takes the [`Report`].
//!
//! Times are those of the host's engine.
//!
//! Never: transports, clocks.

use super::expect::{Message, Sight, outcome};
use super::format::TextPosition;
use super::judge::Open;
use super::pairs::Pairs;
use super::plan::{Action, Event, Fault, Scenario, Step, fill_order, fill_reply, fill_value};
use super::report::{FaultHits, Problem, Report};
use super::{expect::Expectation, expect::Want};
use crate::host::engine::{ModelReply, Order, OrderResult};
use crate::host::prompt::Prompt;
use crate::proposals::host::{HostEvent, Mark, ServerId};
use crate::server::Fired;
use crate::wire::{Direction, Envelope};
use std::cell::OnceCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of problems to keep.
const MAX_PROBLEMS: usize = 1000;

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub enum Observation<'a> {
    /// A message arrived, at the server or at the host, with exactly these bytes.
    Message {
        /// The server of the connection.
        server: ServerId,
        /// The direction.
        direction: Direction,
        /// The message.
        bytes: &'a [u8],
    },
    /// The host reported an event.
    HostEvent(&'a HostEvent),
    /// The host marks a moment of the conversation, of one server's or of all servers'.
    Mark(Option<ServerId>, Mark),
    /// The host laid out a prompt. Pass this before calling [`Player::reply`].
    Prompt(&'a Prompt),
    /// An order of the host has ended.
    OrderResult(&'a OrderResult),
    /// The last [`PlayerStep::Fire`] was not sent, and why.
    NotFired(&'a str),
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum PlayerStep {
    /// Give the host this order.
    Order(Order),
    /// Let a built-in server send this.
    Fire(ServerId, Fired),
    /// Close the connection to a server, and inform the host.
    Disconnect(ServerId),
    /// Wait for the next observation, or until this time.
    Wait(Option<Duration>),
    /// The scenario is over.
    Finished,
}

/// What happens to a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageFate {
    /// It arrives.
    Pass,
    /// It arrives this much later.
    Delay(Duration),
    /// It does not arrive.
    Drop,
    /// It arrives twice.
    Duplicate,
    /// This arrives instead.
    Replace(Vec<u8>),
    /// The connection breaks, and it does not arrive.
    Disconnect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The host is connecting.
    Connecting,
    /// Between two steps.
    Between,
    /// A step is in progress: its action, then its expectations.
    Step,
    /// All steps are done; expectations about the whole scenario with a time limit are open.
    Draining,
    /// The session is ending.
    Ending,
    /// The last expectations about the whole scenario are being decided.
    Closing,
    Over,
}

/// Steps in progress, and how often they were repeated.
#[derive(Debug)]
struct Frame {
    steps: Arc<[Step]>,
    at: usize,
    /// The repetition, from 1; `None` outside of any.
    n: Option<u64>,
    left: u64,
}

/// The current step.
#[derive(Debug)]
struct Current {
    place: TextPosition,
    n: Option<u64>,
    replies: VecDeque<ModelReply>,
    open: Vec<Open>,
    /// Whether the action's result is expected to be something.
    judges_result: bool,
    done: Option<Duration>,
    /// When the action is over by itself.
    until: Option<Duration>,
}

#[derive(Debug)]
struct Upcoming {
    at: Duration,
    left: u64,
}

/// Plays a scenario; see the module.
#[derive(Debug)]
pub struct Player {
    events: Vec<Event>,
    upcoming: Vec<Upcoming>,
    faults: Vec<Fault>,
    /// How many messages matched each fault.
    fitted: Vec<u64>,
    expectations: Vec<Arc<Expectation>>,
    /// Which expectations are met; for those of a repeated step, in this repetition.
    met: Vec<bool>,
    stage: Stage,
    began: Duration,
    frames: Vec<Frame>,
    current: Option<Current>,
    overall: Vec<Open>,
    ended: Option<Duration>,
    /// The position of the last thing that was sent.
    fired: TextPosition,
    /// Messages in order of sending, for faults; the other in order of arrival, for expectations.
    sent: Pairs,
    arrived: Pairs,
    reads_messages: bool,
    report: Report,
}

impl Player {
    /// A player at the beginning.
    pub fn new(scenario: &Scenario) -> Self {
        let expectations = scenario.expectations.clone();
        let hits = scenario.faults.iter().map(|fault| FaultHits { place: fault.place, hits: 0 }).collect();
        let open = |index: &usize| {
            let expectation = expectations.get(*index)?;
            let is_ours = !matches!(expectation.want, Want::Validates(_));
            is_ours.then(|| Open::new(*index, expectation, Duration::ZERO, None))
        };
        Self {
            events: scenario.events.clone(),
            upcoming: Vec::new(),
            faults: scenario.faults.clone(),
            fitted: vec![0; scenario.faults.len()],
            met: vec![false; expectations.len()],
            stage: Stage::Connecting,
            began: Duration::ZERO,
            frames: vec![Frame { steps: Arc::clone(&scenario.steps), at: 0, n: None, left: 1 }],
            current: None,
            overall: scenario.overall.iter().filter_map(open).collect(),
            ended: None,
            fired: TextPosition::default(),
            sent: Pairs::default(),
            arrived: Pairs::default(),
            reads_messages: expectations.iter().any(|one| matches!(one.want, Want::Message(_))),
            report: Report::new(&scenario.name, &expectations, hits),
            expectations,
        }
    }

    /// Handles an observation.
    pub fn see(&mut self, now: Duration, seen: &Observation<'_>) {
        match seen {
            Observation::Message { server, direction, bytes } if self.reads_messages => {
                let envelope = Envelope::scan(bytes);
                let about = self.arrived.note(now, *server, *direction, &envelope);
                let (server, direction, content) = (*server, *direction, OnceCell::new());
                let (envelope, about) = (&envelope, &about);
                self.look(
                    now,
                    &Sight::Message(Message { at: now, server, direction, bytes, envelope, about, content }),
                );
            }
            Observation::Message { .. } | Observation::Mark(..) => {}
            Observation::HostEvent(event) => {
                let is_lost = self.stage == Stage::Connecting && (event.proposal, event.what) == ("host", "gone");
                let wants = |want: &Want| matches!(want, Want::HostEvent(want) if want.what.as_deref() == Some("gone"));
                if is_lost && !self.expectations.iter().any(|one| wants(&one.want)) {
                    self.problem(now, TextPosition::default(), format!("cannot connect to a server: {}", event.text));
                }
                self.look(now, &Sight::HostEvent(event));
            }
            Observation::Prompt(prompt) => self.look(now, &Sight::Prompt(prompt)),
            Observation::OrderResult(done) => self.done(now, done),
            Observation::NotFired(why) => self.problem(now, self.fired, format!("it was not sent: {why}")),
        }
    }

    fn done(&mut self, now: Duration, done: &OrderResult) {
        match (self.stage, done) {
            (Stage::Connecting, _) => self.begin(now),
            (Stage::Ending, OrderResult::Ended) => {
                (self.stage, self.ended) = (Stage::Closing, Some(now));
            }
            (_, OrderResult::Woken { answer: Err(why), .. }) => {
                self.problem(now, TextPosition::default(), format!("the model failed: {why}"));
            }
            // No step asked for this turn, so it ends no step.
            (_, OrderResult::Woken { .. }) => {}
            (Stage::Step, done) => {
                if let Some(value) = outcome(done) {
                    self.look(now, &Sight::Result(&value));
                }
                let Some(current) = &mut self.current else { return };
                current.done = Some(now);
                let (place, is_judged) = (current.place, current.judges_result);
                match done {
                    OrderResult::Failed(why) | OrderResult::Tool(Err(why)) if !is_judged => {
                        self.problem(now, place, why.clone())
                    }
                    OrderResult::Turn { answer: Err(why), .. } => {
                        self.problem(now, place, format!("the model failed: {why}"));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Begins once all servers are connected.
    fn begin(&mut self, now: Duration) {
        self.began = now;
        self.stage = Stage::Between;
        let first = |event: &Event| Upcoming { at: now.saturating_add(event.at), left: event.times };
        self.upcoming = self.events.iter().map(first).collect();
        self.overall.iter_mut().for_each(|open| open.begin(now));
    }

    fn look(&mut self, now: Duration, sight: &Sight<'_>) {
        let step = self.current.iter_mut().flat_map(|current| &mut current.open);
        let mut newly = Vec::new();
        for open in self.overall.iter_mut().chain(step) {
            let after = self.expectations.get(open.index).and_then(|one| one.after);
            let waits_for = after.filter(|after| self.met.get(*after) == Some(&false));
            let waits_for = waits_for.and_then(|after| self.expectations.get(after)?.id.as_deref());
            if open.look(now, sight, waits_for) {
                newly.push(open.index);
            }
        }
        // Expectations that wait for these count from the next observation.
        for index in newly {
            if let Some(met) = self.met.get_mut(index) {
                *met = true;
            }
        }
    }

    fn problem(&mut self, at: Duration, place: TextPosition, why: String) {
        if self.report.problems.len() < MAX_PROBLEMS {
            self.report.problems.push(Problem { place, at, why });
        }
    }

    /// What to do next.
    pub fn next(&mut self, now: Duration) -> PlayerStep {
        loop {
            if let Some(todo) = self.event(now) {
                return todo;
            }
            let wakes = match self.stage {
                Stage::Connecting | Stage::Ending => None,
                Stage::Between => match self.next_step() {
                    Some((step, n)) => match self.begin_step(now, &step, n) {
                        Some(todo) => return todo,
                        None => continue,
                    },
                    None => {
                        self.stage = Stage::Draining;
                        continue;
                    }
                },
                Stage::Step => match self.settle_step(now) {
                    Some(wakes) => wakes,
                    None => continue,
                },
                Stage::Draining => {
                    self.settle_overall(now);
                    let wakes = self.overall.iter().filter_map(|open| open.wakes(None)).min();
                    if wakes.is_none() {
                        self.stage = Stage::Ending;
                        return PlayerStep::Order(Order::End);
                    }
                    wakes
                }
                Stage::Closing => {
                    self.settle_overall(now);
                    let wakes = self.overall.iter().filter_map(|open| open.wakes(self.ended)).min();
                    if wakes.is_none() {
                        self.stage = Stage::Over;
                        continue;
                    }
                    wakes
                }
                Stage::Over => return PlayerStep::Finished,
            };
            let event = self.upcoming.iter().filter(|event| event.left > 0).map(|event| event.at).min();
            return PlayerStep::Wait(wakes.into_iter().chain(event).min());
        }
    }

    /// The earliest event that is due.
    fn event(&mut self, now: Duration) -> Option<PlayerStep> {
        if matches!(self.stage, Stage::Ending | Stage::Closing | Stage::Over) {
            self.upcoming.clear();
        }
        let due = self.upcoming.iter().enumerate().filter(|(_, event)| event.left > 0 && event.at <= now);
        let index = due.min_by_key(|(index, event)| (event.at, *index))?.0;
        let (event, upcoming) = (self.events.get(index)?, self.upcoming.get_mut(index)?);
        upcoming.left -= 1;
        match event.every {
            Some(every) => upcoming.at = upcoming.at.saturating_add(every),
            None => upcoming.left = 0,
        }
        let (place, server, fire) = (event.place, event.server, event.fire.clone());
        self.fire(now, place, server, fire)
    }

    fn fire(
        &mut self,
        now: Duration,
        place: TextPosition,
        server: ServerId,
        fire: serde_json::Value,
    ) -> Option<PlayerStep> {
        self.fired = place;
        match serde_json::from_value::<Fired>(fire) {
            Ok(fired) => Some(PlayerStep::Fire(server, fired)),
            Err(error) => {
                self.problem(now, place, format!("invalid `fire`: {error}"));
                None
            }
        }
    }

    /// The next step, and its repetition.
    fn next_step(&mut self) -> Option<(Step, Option<u64>)> {
        loop {
            let frame = self.frames.last_mut()?;
            if let Some(step) = frame.steps.get(frame.at) {
                frame.at += 1;
                let n = frame.n;
                let step = step.clone();
                if let Action::Repeat(times, steps) = step.action {
                    if times > 0 && !steps.is_empty() {
                        self.frames.push(Frame { steps, at: 0, n: Some(1), left: times });
                    }
                    continue;
                }
                return Some((step, n));
            }
            frame.left -= 1;
            if frame.left == 0 {
                self.frames.pop();
            } else {
                frame.at = 0;
                frame.n = frame.n.map(|n| n + 1);
            }
        }
    }

    fn begin_step(&mut self, now: Duration, step: &Step, n: Option<u64>) -> Option<PlayerStep> {
        self.stage = Stage::Step;
        self.report.steps += 1;
        let mut open = Vec::with_capacity(step.expect.len());
        let mut judges_result = false;
        for index in &step.expect {
            let Some(expectation) = self.expectations.get(*index) else { continue };
            if matches!(expectation.want, Want::Validates(_)) {
                continue;
            }
            judges_result |= matches!(expectation.want, Want::Result(_));
            open.push(Open::new(*index, expectation, now, n));
            if let Some(met) = self.met.get_mut(*index) {
                *met = false;
            }
        }
        let filled = |reply: &ModelReply| n.map_or_else(|| reply.clone(), |n| fill_reply(reply, n));
        let replies = step.replies.iter().map(filled).collect();
        let place = step.place;
        let mut current = Current { place, n, replies, open, judges_result, done: None, until: None };
        let todo = match &step.action {
            Action::Order(order) => Some(PlayerStep::Order(n.map_or_else(|| order.clone(), |n| fill_order(order, n)))),
            Action::Fire(server, fire) => {
                current.done = Some(now);
                let fire = n.map_or_else(|| fire.clone(), |n| fill_value(fire, n));
                self.fire(now, place, *server, fire)
            }
            Action::Disconnect(server) => {
                current.done = Some(now);
                Some(PlayerStep::Disconnect(*server))
            }
            Action::Wait(span) => {
                current.until = Some(now.saturating_add(*span));
                None
            }
            // Opened by `next_step`.
            Action::Repeat(..) => None,
        };
        self.current = Some(current);
        todo
    }

    /// Decides what can be decided about the step. Returns when to check again, or `None` if the step is over.
    fn settle_step(&mut self, now: Duration) -> Option<Option<Duration>> {
        let current = self.current.as_mut()?;
        if let Some(until) = current.until.filter(|_| current.done.is_none()) {
            if now < until {
                return Some(Some(until));
            }
            current.done = Some(now);
        }
        let (done, n, report) = (current.done, current.n, &mut self.report);
        settle(&mut current.open, now, done, n, report);
        if done.is_some() && current.open.is_empty() {
            self.current = None;
            self.stage = Stage::Between;
            return None;
        }
        // While an action is in progress, time limits from its beginning are not checked before it is over.
        let wakes = current.open.iter().filter_map(|open| open.wakes(done)).min();
        Some(wakes.filter(|_| done.is_some()))
    }

    fn settle_overall(&mut self, now: Duration) {
        settle(&mut self.overall, now, self.ended, None, &mut self.report);
    }

    /// The scenario's reply to this prompt; `None` if it leaves that to a model.
    pub fn reply(&mut self, _prompt: &Prompt) -> Option<ModelReply> {
        self.current.as_mut()?.replies.pop_front()
    }

    /// What happens to a message. Call once per message, in order of sending.
    pub fn fate(&mut self, now: Duration, server: ServerId, direction: Direction, bytes: &[u8]) -> MessageFate {
        if self.faults.is_empty() {
            return MessageFate::Pass;
        }
        let about = self.sent.note(now, server, direction, &Envelope::scan(bytes));
        let method = about.method.as_deref();
        let mut fate = MessageFate::Pass;
        for ((fault, fitted), hits) in self.faults.iter().zip(&mut self.fitted).zip(&mut self.report.faults) {
            let fits = fault.server.is_none_or(|wanted| wanted == server)
                && fault.direction.is_none_or(|wanted| wanted == direction)
                && fault.method.as_ref().is_none_or(|glob| method.is_some_and(|method| glob.is_match(method)));
            if !fits {
                continue;
            }
            *fitted += 1;
            if fault.nth.is_none_or(|nth| nth == *fitted) && fate == MessageFate::Pass {
                hits.hits += 1;
                fate = fault.fate.clone();
            }
        }
        fate
    }

    /// The host has left by itself, so nothing can follow. If all steps are done, that ends the session as if ordered.
    pub fn gone(&mut self) {
        if matches!(self.stage, Stage::Draining | Stage::Ending) {
            self.stage = Stage::Over;
        }
    }

    /// Returns the report. Open expectations fail, and steps that were not reached are reported.
    pub fn finish(mut self, now: Duration) -> Report {
        if self.stage != Stage::Over {
            let (place, why) = match (&self.current, self.stage) {
                (Some(current), _) if current.done.is_none() => (current.place, "the scenario ended during this step"),
                (Some(current), _) => {
                    (current.place, "the scenario ended before the expectations of this step were decided")
                }
                (None, Stage::Connecting) => {
                    (TextPosition::default(), "the scenario ended before all servers had connected or failed")
                }
                (None, _) => (TextPosition::default(), "the scenario was stopped before its end"),
            };
            self.problem(now, place, why.to_owned());
        }
        let n = self.current.as_ref().and_then(|current| current.n);
        let mut left: Vec<(Open, Option<u64>)> = self.overall.into_iter().map(|open| (open, None)).collect();
        left.extend(self.current.into_iter().flat_map(|current| current.open).map(|open| (open, n)));
        for (open, n) in left {
            let mut verdict = open.ends(now);
            if let Err(failure) = &mut verdict {
                failure.repeat = n;
            }
            if let Some(judged) = self.report.expectations.get_mut(open.index) {
                judged.take(verdict);
            }
        }
        self.report.took = now;
        self.report
    }
}

/// Removes decided expectations from the list.
fn settle(open: &mut Vec<Open>, now: Duration, done: Option<Duration>, n: Option<u64>, report: &mut Report) {
    open.retain(|one| {
        let Some(mut verdict) = one.verdict(now, done) else { return true };
        if let Err(failure) = &mut verdict {
            failure.repeat = n;
        }
        if let Some(judged) = report.expectations.get_mut(one.index) {
            judged.take(verdict);
        }
        false
    });
}
