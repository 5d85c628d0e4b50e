//! Follows a plan: sends the client's messages when everything that came before them in the recording has come again,
//! with the live server's values in place of the recorded ones, and answers the server's requests as recorded.

mod report;
mod rounds;
mod values;

use super::plan::{Awaited, Plan, label};
use super::replies::{Answers, Replies, Reply};
use super::substitute::Substitutions;
use crate::wire::{Envelope, Id, IdKey, MessageKind, json};
pub(crate) use report::{End, Note, Outcome};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;

/// How a replay is run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many times faster than recorded to send; `None` does not wait for the recorded times.
    pub speed: Option<f64>,
    /// How long to wait for each answer.
    pub timeout: Duration,
    /// The maximum number of requests that wait for their answers at the same time.
    pub max_in_flight: usize,
    /// Answers to requests of the server, in place of the recorded ones.
    pub answers: Answers,
    /// Send nothing more after an answer did not come, and nothing before the caller has seen an answer, who may stop.
    pub stops_early: bool,
}

impl Default for Settings {
    fn default() -> Self {
        let (answers, max_in_flight) = (Answers::default(), usize::MAX);
        Self { speed: None, timeout: Duration::from_secs(30), max_in_flight, answers, stops_early: false }
    }
}

/// What the engine wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send this message.
    Send(Vec<u8>),
    /// A request was answered.
    Answered {
        /// The number of the recorded request.
        seq: u64,
        /// The method.
        method: String,
        /// The live response.
        message: Vec<u8>,
        /// The time since the request was sent.
        latency: Duration,
    },
    /// Something to report.
    Note(Note),
    /// Nothing is left to do.
    Finished,
}

/// How long to wait for a message that the server sent by itself, beyond twice the recorded time.
const PATIENCE: Duration = Duration::from_secs(1);

/// How what was sent differs from the recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sent {
    /// The recorded values with the live ones that took their place.
    pub substitutions: Substitutions,
    /// The messages with such values, by the numbers of their events.
    pub rewritten: HashMap<u64, Vec<u8>>,
}

/// A request that waits for its answer.
#[derive(Debug)]
struct Waiting {
    request: (usize, usize),
    sent_at: Duration,
    /// What was sent, if it may have to be sent again with input, and how often it was.
    again: Option<(Vec<u8>, usize)>,
}

/// The engine; see the module.
#[derive(Debug)]
pub struct ReplayEngine {
    plan: Plan,
    settings: Settings,
    replies: Replies,
    /// The next step.
    next: usize,
    sent_at: Duration,
    /// When everything before the next step had been answered.
    answered_at: Option<Duration>,
    /// When everything before the next step had come.
    ready_at: Option<Duration>,
    waiting: HashMap<IdKey, Waiting>,
    /// The requests that need not be waited for any more, by entry and number.
    settled: HashSet<(usize, usize)>,
    /// The messages that the server sent by itself: recorded entries by method, and how many of them have come.
    initiated: HashMap<Box<str>, (Vec<usize>, usize)>,
    /// For each step, and the end: how many of the server's own messages must have come, by method.
    needs: Vec<BTreeMap<Box<str>, usize>>,
    /// How many of the answers that the next step waits for need not be waited for any more.
    settled_before: usize,
    /// Methods of which the server sends fewer messages than recorded.
    missing: BTreeSet<Box<str>>,
    /// The entries from which values are taken, and the content that came in their place.
    live: HashMap<usize, Option<Vec<u8>>>,
    sent: Sent,
    outcome: Outcome,
    is_finished: bool,
    /// Nothing is sent before the caller has seen an answer.
    is_held: bool,
    /// Answers to the server's requests that the recorded client did not give at once, by when they are due.
    later: BTreeMap<(Duration, u64), Vec<u8>>,
}

impl ReplayEngine {
    /// An engine that has not begun.
    pub fn new(plan: Plan, settings: Settings) -> Self {
        let replies = Replies::new(&plan.conversation, settings.answers.clone());
        let mut initiated: HashMap<Box<str>, (Vec<usize>, usize)> = HashMap::new();
        let mut needs = Vec::with_capacity(plan.steps.len() + 1);
        for awaited in plan.steps.iter().map(|step| &step.before).chain([&plan.rest]) {
            let mut need = BTreeMap::new();
            for number in &awaited.initiated {
                let method = plan.conversation.entries[*number].method.clone().unwrap_or_default();
                let (recorded, _) = initiated.entry(method.clone()).or_default();
                recorded.push(*number);
                need.insert(method, recorded.len());
            }
            needs.push(need);
        }
        let bindings = plan.steps.iter().flat_map(|step| &step.bindings).chain(plan.bindings.values().flatten());
        let live = bindings.flat_map(|binding| &binding.sources).map(|source| (source.entry, None)).collect();
        Self {
            plan,
            settings,
            replies,
            next: 0,
            sent_at: Duration::ZERO,
            answered_at: None,
            ready_at: None,
            waiting: HashMap::new(),
            settled: HashSet::new(),
            initiated,
            needs,
            settled_before: 0,
            missing: BTreeSet::new(),
            live,
            sent: Sent::default(),
            outcome: Outcome::default(),
            is_finished: false,
            is_held: false,
            later: BTreeMap::new(),
        }
    }

    /// Begins.
    pub fn start(&mut self, now: Duration) -> Vec<Output> {
        self.sent_at = now;
        self.advance(now)
    }

    /// Handles a message of the server.
    pub fn receive(&mut self, now: Duration, message: &[u8]) -> Vec<Output> {
        let mut outputs = Vec::new();
        match Envelope::scan(message).kind {
            MessageKind::Batch => json::items(message).for_each(|item| self.take(now, item, &mut outputs)),
            _ => self.take(now, message, &mut outputs),
        }
        let is_answer = |output: &Output| matches!(output, Output::Answered { .. });
        self.is_held = self.settings.stops_early && outputs.iter().any(is_answer);
        if !self.is_held {
            outputs.extend(self.advance(now));
        }
        outputs
    }

    /// Handles a request that could not be delivered. `refusal` is the error with which the server rejected it.
    pub fn undelivered(&mut self, now: Duration, id: &[u8], reason: &str, refusal: Option<&[u8]>) -> Vec<Output> {
        let mut outputs = Vec::new();
        let waiting = self.waiting.remove(&Id(id).key());
        let seq = waiting.as_ref().map(|waiting| self.plan.conversation.entries[waiting.request.0].seq());
        let recorded = waiting.as_ref().and_then(|waiting| self.recorded_answer(waiting.request));
        let reason = reason.to_owned();
        let had_result = recorded.is_some_and(|it| self.plan.conversation.entries[it].kind == MessageKind::Result);
        let note = match refusal {
            None => Some(Note::Undelivered { seq, reason }),
            // The recorded server refused it, too.
            Some(_) if seq.is_some() && !had_result => None,
            Some(_) => Some(Note::Refused { seq, reason }),
        };
        match (waiting, refusal) {
            (Some(waiting), Some(refusal)) => self.settle(now, waiting, refusal, &mut outputs),
            (Some(waiting), None) => drop(self.settled.insert(waiting.request)),
            (None, _) => {}
        }
        if let Some(note) = note {
            self.note(note, &mut outputs);
        }
        outputs.extend(self.advance(now));
        outputs
    }

    /// Gives up what takes too long, and sends what is due.
    pub fn handle_timeout(&mut self, now: Duration) -> Vec<Output> {
        self.is_held = false;
        let mut outputs = Vec::new();
        let timeout = self.settings.timeout;
        let is_late = |(_, one): &(&IdKey, &Waiting)| one.sent_at + timeout <= now;
        let mut late: Vec<_> = self.waiting.iter().filter(is_late).map(|(id, one)| (one.request, id.clone())).collect();
        late.sort();
        for (_, id) in late {
            let Some(waiting) = self.waiting.remove(&id) else { continue };
            let entry = &self.plan.conversation.entries[waiting.request.0];
            let was_answered = entry.requests.get(waiting.request.1).is_some_and(|request| request.answer.is_some());
            self.settled.insert(waiting.request);
            // The recorded server did not answer, either.
            if was_answered {
                let (seq, message) = (entry.seq(), label(entry));
                // A server that does not answer the first of them would not answer the second one, either.
                let is_handshake = matches!(entry.method.as_deref(), Some("initialize" | "server/discover"));
                let note = Note::TimedOut { seq, message, after: timeout };
                if is_handshake || self.settings.stops_early {
                    self.outcome.notes.push(note);
                    return self.give_up();
                }
                self.note(note, &mut outputs);
            }
        }
        outputs.extend(self.advance(now));
        outputs
    }

    /// Returns when to call [`Self::handle_timeout`].
    pub fn next_timeout(&self) -> Option<Duration> {
        if self.is_finished {
            return None;
        }
        if self.is_held {
            return Some(Duration::ZERO);
        }
        let answers = self.waiting.values().map(|waiting| waiting.sent_at + self.settings.timeout);
        let has_room = self.waiting.len() < self.settings.max_in_flight;
        let due = self.ready_at.filter(|_| has_room).map(|ready| ready + self.think());
        let grace = self.answered_at.filter(|_| self.ready_at.is_none()).map(|at| self.grace_ends(at));
        let replies = self.later.keys().next().map(|(due, _)| *due);
        answers.chain(due).chain(grace).chain(replies).min()
    }

    /// The server closed the connection.
    pub fn closed(&mut self, _now: Duration) -> Vec<Output> {
        let is_done = self.next == self.plan.steps.len()
            && self.plan.rest.answers.iter().all(|request| self.settled.contains(request));
        self.finish((!is_done).then_some(End::Closed))
    }

    /// The connection failed.
    pub fn lost(&mut self, _now: Duration, why: &str) -> Vec<Output> {
        self.finish(Some(End::Lost(why.to_owned())))
    }

    /// Ends the replay early.
    pub fn stop(&mut self) -> Vec<Output> {
        self.finish(Some(End::Stopped))
    }

    /// Ends the replay because an answer did not come.
    fn give_up(&mut self) -> Vec<Output> {
        self.finish(Some(End::Unanswered))
    }

    /// Returns what has happened so far.
    pub(crate) fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Returns how what was sent differs from the recording.
    pub(crate) fn sent(&self) -> &Sent {
        &self.sent
    }

    fn take(&mut self, now: Duration, message: &[u8], outputs: &mut Vec<Output>) {
        let envelope = Envelope::scan(message);
        match (envelope.kind, envelope.id) {
            (MessageKind::Result | MessageKind::Error, Some(id)) => {
                let Some(waiting) = self.waiting.remove(&id.key()) else { return };
                if let Some(waiting) = self.give_input(now, waiting, &envelope, outputs) {
                    self.settle(now, waiting, message, outputs);
                }
            }
            (MessageKind::Request, Some(id)) => {
                self.count(&envelope);
                self.reply(now, &envelope, id, outputs);
            }
            (MessageKind::Notification, _) => self.count(&envelope),
            _ => {}
        }
    }

    fn settle(&mut self, now: Duration, waiting: Waiting, message: &[u8], outputs: &mut Vec<Output>) {
        let envelope = Envelope::scan(message);
        self.settled.insert(waiting.request);
        self.outcome.answered += 1;
        let asked = &self.plan.conversation.entries[waiting.request.0];
        let (seq, method) = (asked.seq(), asked.method.as_deref().unwrap_or_default().to_owned());
        let recorded = self.recorded_answer(waiting.request);
        if let Some(kept) = recorded.and_then(|recorded| self.live.get_mut(&recorded)) {
            *kept = envelope.result.or(envelope.error).map(<[u8]>::to_vec);
        }
        let latency = now.saturating_sub(waiting.sent_at);
        let is_discovery = self.plan.is_for_modern() && method == "server/discover";
        outputs.push(Output::Answered { seq, method, message: message.to_vec(), latency });
        // What is not compared must not fail unnoticed.
        if let Some(error) = envelope.error.filter(|_| is_discovery) {
            let reason = json::str_member(error, "message").unwrap_or_default().into_owned();
            outputs.extend(self.finish(Some(End::Refused(reason))));
        }
    }

    /// Returns the entry of the recorded answer to a request.
    fn recorded_answer(&self, (entry, number): (usize, usize)) -> Option<usize> {
        self.plan.conversation.entries[entry].requests.get(number)?.answer
    }

    /// Counts a message that the server sent by itself.
    fn count(&mut self, envelope: &Envelope<'_>) {
        let method = envelope.method.as_deref().unwrap_or_default();
        let Some((recorded, come)) = self.initiated.get_mut(method) else { return };
        if let Some(kept) = recorded.get(*come).and_then(|number| self.live.get_mut(number)) {
            *kept = envelope.params.map(<[u8]>::to_vec);
        }
        *come += 1;
    }

    fn reply(&mut self, now: Duration, envelope: &Envelope<'_>, id: Id<'_>, outputs: &mut Vec<Output>) {
        match self.recorded_reply(envelope, id, outputs) {
            Reply::Send(response, None) => outputs.push(Output::Send(response)),
            Reply::Send(response, Some(answer)) => {
                let seq = self.plan.conversation.entries[answer].seq();
                self.later.insert((now + self.reply_time(answer), seq), response);
            }
            Reply::Silence => {}
            Reply::Refuse(response) => {
                outputs.push(Output::Send(response));
                self.refused(envelope, outputs);
            }
        }
    }

    fn recorded_reply(&mut self, envelope: &Envelope<'_>, id: Id<'_>, outputs: &mut Vec<Output>) -> Reply {
        let entries = &self.plan.conversation.entries;
        let recorded = |answer: usize| entries[answer].body().to_vec();
        let reply = self.replies.answer(envelope, id, entries, recorded);
        let Reply::Send(response, Some(answer)) = reply else { return reply };
        let bindings = self.plan.bindings.get(&answer).cloned().unwrap_or_default();
        let seq = self.plan.conversation.entries[answer].seq();
        Reply::Send(self.bound(seq, &response, &bindings, outputs), Some(answer))
    }

    fn refused(&mut self, envelope: &Envelope<'_>, outputs: &mut Vec<Output>) {
        let method = envelope.method.as_deref().unwrap_or_default().to_owned();
        self.note(Note::Unanswerable { method }, outputs);
    }

    /// Returns how long the recorded client took for a response, at the wanted speed.
    fn reply_time(&self, answer: usize) -> Duration {
        let entries = &self.plan.conversation.entries;
        let asked = entries[answer].answers.first().map_or(answer, |(asked, _)| *asked);
        let nanos = u64::try_from(entries[answer].header.time.saturating_sub(entries[asked].header.time));
        self.scaled(Duration::from_nanos(nanos.unwrap_or_default()))
    }

    /// Sends everything that is due.
    fn advance(&mut self, now: Duration) -> Vec<Output> {
        let mut outputs = Vec::new();
        while let Some(reply) = self.later.first_entry().filter(|reply| reply.key().0 <= now) {
            outputs.push(Output::Send(reply.remove()));
        }
        while !self.is_finished && self.is_ready(now) {
            if self.next == self.plan.steps.len() {
                outputs.extend(self.finish(None));
                break;
            }
            if self.waiting.len() >= self.settings.max_in_flight
                || self.ready_at.is_some_and(|ready| now < ready + self.think())
            {
                break;
            }
            self.send(now, &mut outputs);
        }
        outputs
    }

    fn send(&mut self, now: Duration, outputs: &mut Vec<Output>) {
        let step = self.plan.steps[self.next].clone();
        let entry = &self.plan.conversation.entries[step.entry];
        let (seq, body, requests) = (entry.seq(), entry.body().to_vec(), entry.requests.clone());
        let message = self.bound(seq, &body, &step.bindings, outputs);
        let again = self.plan.is_for_modern().then(|| (message.clone(), 0));
        self.outcome.sent_requests += usize::from(!requests.is_empty());
        for (number, request) in requests.into_iter().enumerate() {
            let waiting = Waiting { request: (step.entry, number), sent_at: now, again: again.clone() };
            self.waiting.insert(request.id, waiting);
        }
        if message != body {
            self.sent.rewritten.insert(seq, message.clone());
        }
        outputs.push(Output::Send(message));
        self.outcome.sent += 1;
        self.next += 1;
        (self.sent_at, self.answered_at, self.ready_at, self.settled_before) = (now, None, None, 0);
    }

    /// Returns whether everything before the next step has come, or is not waited for any longer.
    fn is_ready(&mut self, now: Duration) -> bool {
        if self.ready_at.is_some() {
            return true;
        }
        // Replies that precede it are sent first.
        let seq =
            self.plan.steps.get(self.next).map_or(u64::MAX, |step| self.plan.conversation.entries[step.entry].seq());
        if self.later.keys().any(|(_, reply)| *reply < seq) {
            return false;
        }
        let answers = &self.awaited().answers[self.settled_before..];
        let settled = answers.iter().take_while(|request| self.settled.contains(request)).count();
        let is_complete = settled == answers.len();
        self.settled_before += settled;
        if !is_complete {
            return false;
        }
        let missing = self.missing_before_next();
        let answered = *self.answered_at.get_or_insert(now);
        if !missing.is_empty() {
            if now < self.grace_ends(answered) {
                return false;
            }
            self.missing.extend(missing);
        }
        self.ready_at = Some(now);
        true
    }

    fn awaited(&self) -> &Awaited {
        self.plan.steps.get(self.next).map_or(&self.plan.rest, |step| &step.before)
    }

    /// Returns the methods of which the server sent fewer messages than it had sent before the next step when it was
    /// recorded.
    fn missing_before_next(&self) -> BTreeSet<Box<str>> {
        let has_come = |method: &str, need: usize| {
            self.missing.contains(method) || self.initiated.get(method).is_none_or(|(_, come)| *come >= need)
        };
        let needs = self.needs.get(self.next).into_iter().flatten();
        needs.filter(|(method, need)| !has_come(method, **need)).map(|(method, _)| method.clone()).collect()
    }

    /// Returns until when to wait for the server's own messages.
    fn grace_ends(&self, answered_at: Duration) -> Duration {
        let recorded = self.awaited().initiated_after.min(self.settings.timeout);
        answered_at.max(self.sent_at + 2 * recorded) + PATIENCE
    }

    /// Returns how long the client waited before the next step, at the wanted speed.
    fn think(&self) -> Duration {
        self.plan.steps.get(self.next).map_or(Duration::ZERO, |step| self.scaled(step.think))
    }

    /// Returns a recorded time at the wanted speed.
    fn scaled(&self, recorded: Duration) -> Duration {
        let time = self.settings.speed.map(|speed| recorded.as_secs_f64() / speed);
        time.and_then(|time| Duration::try_from_secs_f64(time).ok()).unwrap_or_default()
    }

    fn finish(&mut self, end: Option<End>) -> Vec<Output> {
        if std::mem::replace(&mut self.is_finished, true) {
            return Vec::new();
        }
        self.outcome.end = end;
        vec![Output::Finished]
    }

    fn note(&mut self, note: Note, outputs: &mut Vec<Output>) {
        self.outcome.notes.push(note.clone());
        outputs.push(Output::Note(note));
    }
}
