//! A session as pictures show it: one step for each message or other event, with what it answers, how deep it is nested,
//! and what is unusual about it. Takes all events in order; a filter decides which of them become steps.

use super::outcome::Outcome;
use super::participants::Participants;
use super::view::{Placed, Words};
use crate::protocol::methods;
use crate::trace::{Decision, Event, EventHeader, EventKind, Flags, Note};
use crate::wire::{Direction, MessageKind};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// At most this many steps are kept; further ones are counted.
const MAX_STEPS: usize = 200_000;
/// At most this many requests are remembered until their responses come. The oldest is forgotten first.
const MAX_OPEN: usize = 32 << 10;
/// The deepest nesting that is shown.
const MAX_DEPTH: usize = 4;

/// What a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepKind {
    /// A request, or a batch of messages.
    Request,
    /// A notification.
    Notification,
    /// A response.
    Response,
    /// A line that is no message.
    Broken,
    /// Standard error, an event of the transport, a note: something at one side, not between both.
    Event,
    /// Traffic is missing here.
    Gap,
}

/// What is unusual about a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    /// mcpreel injected it.
    Injected,
    /// It is no valid message.
    Invalid,
    /// A response that came after its request was cancelled, or after the host stopped waiting.
    Late,
    /// A response without a request.
    Unasked,
    /// Some of its bytes are missing.
    Truncated,
    /// A request without a response.
    Unanswered,
}

impl Mark {
    /// Returns its name in pictures and in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Injected => "injected",
            Self::Invalid => "invalid",
            Self::Late => "late",
            Self::Unasked => "no request",
            Self::Truncated => "truncated",
            Self::Unanswered => "no response",
        }
    }
}

/// One step.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// The number of its event.
    pub seq: u64,
    /// The time in nanoseconds since the reel's clock base.
    pub time: i64,
    /// The number of its stream; 0 if it concerns no single one.
    pub stream: u32,
    /// The direction, if it has one.
    pub direction: Option<Direction>,
    /// What it is.
    pub kind: StepKind,
    /// The method, or the kind of event. Like the next two, any text.
    pub title: String,
    /// What it is about.
    pub about: String,
    /// The length of the name with which that begins, in bytes.
    pub subject: usize,
    /// For a response: what it says.
    pub summary: String,
    /// What became of the request; of an event of the transport, what it brings about.
    pub outcome: Option<Outcome>,
    /// For a response: the time since its request, in nanoseconds.
    pub latency: Option<i64>,
    /// For a response: the number of the event with its request.
    pub asked: Option<u64>,
    /// Something failed.
    pub failed: bool,
    /// What is unusual about it.
    pub marks: BTreeSet<Mark>,
    /// The rules that it violates, if the session was checked.
    pub rules: Vec<String>,
    /// How many requests of the other side it is nested in.
    pub depth: usize,
    /// How many times it was repeated; it stands for all of them. Once is 1.
    pub count: u64,
    /// The number of the last event that it stands for.
    pub last: u64,
}

impl Step {
    /// Returns whether it is a line that is no message, or stands for missing traffic.
    pub(crate) fn is_broken(&self) -> bool {
        matches!(self.kind, StepKind::Broken | StepKind::Gap)
    }
}

/// A request without a response so far.
#[derive(Debug)]
struct OpenRequest {
    place: (u32, Direction),
    method: String,
    /// Its step, if it has one.
    step: Option<usize>,
    depth: usize,
    given_up: bool,
    stays_open: bool,
}

/// Collects the steps of a reel.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    /// The sides and their names.
    pub participants: Participants,
    steps: Vec<Step>,
    left_out: u64,
    /// Whether each repetition has a step of its own.
    is_unfolded: bool,
    open: BTreeMap<u64, OpenRequest>,
    /// The open requests of each side in which others may be nested.
    nesting: HashMap<(u32, Direction), BTreeSet<u64>>,
}

impl Steps {
    /// Steps where each repetition is one of its own.
    pub(crate) fn unfolded() -> Self {
        Self { is_unfolded: true, ..Self::default() }
    }

    /// Takes the next event, described in words. It becomes a step if `is_shown`; `rules` are those that it violates.
    pub(crate) fn take(
        &mut self,
        event: &Event<'_>,
        method: Option<&str>,
        (placed, words): (&Placed, &Words),
        is_shown: bool,
        rules: Vec<String>,
    ) {
        self.participants.learn(event, method);
        let header = event.header;
        let mut step = Step { rules, ..described(header, method, placed, words) };
        let asked = placed.asked.and_then(|seq| self.close(seq));
        if step.kind == StepKind::Response && placed.asked.is_none() {
            step.marks.insert(Mark::Unasked);
        }
        if asked.as_ref().is_some_and(|asked| asked.given_up) {
            step.marks.insert(Mark::Late);
        }
        step.depth = asked.as_ref().map_or_else(|| self.depth(header), |asked| asked.depth);
        if let Some(answered) = asked.and_then(|asked| self.steps.get_mut(asked.step?)) {
            answered.marks.remove(&Mark::Unanswered);
            answered.outcome = placed.outcome;
        }
        if let (Some(seq), Some(outcome)) = (placed.settled, placed.outcome) {
            self.settle(seq, outcome);
        }
        match header.kind {
            EventKind::Message if is_request(header) => {
                self.open(event, method.unwrap_or_default(), is_shown, &mut step)
            }
            EventKind::Note => self.note(event),
            EventKind::StreamClosed => self.forget_stream(header.stream),
            _ => {}
        }
        if is_shown {
            self.push(step);
        }
    }

    /// The steps in order.
    pub(crate) fn all(&self) -> &[Step] {
        &self.steps
    }

    /// Notes that the rest of the reel is not read: a request may have its response there.
    pub(crate) fn cut(&mut self) {
        for step in &mut self.steps {
            step.marks.remove(&Mark::Unanswered);
        }
    }

    /// How many steps were left out because there were too many.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Adds a step, or counts it if it repeats the last one.
    fn push(&mut self, step: Step) {
        let folds = !self.is_unfolded;
        if let Some(last) = self.steps.last_mut().filter(|last| folds && repeats(last, &step)) {
            (last.count, last.last, last.about, last.subject) = (last.count + 1, step.seq, step.about, step.subject);
        } else if self.steps.len() < MAX_STEPS {
            self.steps.push(step);
        } else {
            self.left_out += 1;
        }
    }

    /// Remembers a request until its response comes.
    fn open(&mut self, event: &Event<'_>, method: &str, is_shown: bool, step: &mut Step) {
        let header = event.header;
        if self.open.len() >= MAX_OPEN
            && let Some((oldest, _)) = self.open.first_key_value()
        {
            self.close(*oldest);
        }
        let place = (header.stream, header.direction());
        let stays_open = methods::lookup(method).is_some_and(|spec| spec.stays_open);
        if !stays_open {
            self.nesting.entry(place).or_default().insert(header.seq);
            step.marks.insert(Mark::Unanswered);
        }
        let at = (is_shown && self.steps.len() < MAX_STEPS).then_some(self.steps.len());
        let (method, depth) = (method.to_owned(), step.depth);
        let request = OpenRequest { place, method, step: at, depth, given_up: false, stays_open };
        self.open.insert(header.seq, request);
    }

    /// Forgets a request, and returns it.
    fn close(&mut self, seq: u64) -> Option<OpenRequest> {
        let request = self.open.remove(&seq)?;
        self.unnest(request.place, seq);
        Some(request)
    }

    fn unnest(&mut self, place: (u32, Direction), seq: u64) {
        if let Some(open) = self.nesting.get_mut(&place) {
            open.remove(&seq);
            if open.is_empty() {
                self.nesting.remove(&place);
            }
        }
    }

    /// The requests of a closed stream get no response any more.
    fn forget_stream(&mut self, stream: u32) {
        let gone: Vec<u64> =
            self.open.iter().filter(|(_, request)| request.place.0 == stream).map(|(seq, _)| *seq).collect();
        for seq in gone {
            let step = self.close(seq).and_then(|request| self.steps.get_mut(request.step?));
            if let Some(step) = step.filter(|step| step.outcome.is_none()) {
                step.outcome = Some(Outcome::Unanswered);
            }
        }
    }

    /// Notes that nobody waits for this request any more.
    fn give_up(&mut self, seq: u64) {
        let Some(request) = self.open.get_mut(&seq) else { return };
        request.given_up = true;
        let place = request.place;
        self.unnest(place, seq);
    }

    /// Notes what became of a request without a response. That of a cancelled one may be on its way.
    fn settle(&mut self, seq: u64, outcome: Outcome) {
        let step = self.open.get(&seq).and_then(|request| self.steps.get_mut(request.step?));
        if let Some(step) = step {
            step.outcome = Some(outcome);
        }
        if outcome == Outcome::Cancelled {
            self.give_up(seq);
        }
    }

    /// Ends the session: these requests have no response.
    pub(crate) fn finish(&mut self, ended: Vec<(u64, Outcome)>) {
        ended.into_iter().for_each(|(seq, outcome)| self.settle(seq, outcome));
    }

    /// A host notes when it stops waiting for a response.
    fn note(&mut self, event: &Event<'_>) {
        let Some(host) = Note::read(event.payload).host.filter(|host| host.decision == Decision::TimedOut) else {
            return;
        };
        let method = host.method();
        let stream = event.header.stream;
        let is_meant = |request: &OpenRequest| request.place.0 == stream && request.method == method;
        let late: Vec<u64> = self.open.iter().filter(|(_, open)| is_meant(open)).map(|(seq, _)| *seq).collect();
        late.into_iter().for_each(|seq| self.give_up(seq));
    }

    /// How deep a message is nested that answers nothing: one deeper than the other side's latest open request.
    fn depth(&self, header: &EventHeader) -> usize {
        if header.kind != EventKind::Message {
            return 0;
        }
        let latest = self.nesting.get(&(header.stream, header.direction().reversed())).and_then(BTreeSet::last);
        let request = latest.and_then(|seq| self.open.get(seq)).filter(|request| !request.stays_open);
        request.map_or(0, |request| (request.depth + 1).min(MAX_DEPTH))
    }
}

/// Returns whether a step only repeats the last one.
fn repeats(last: &Step, step: &Step) -> bool {
    let is_repeatable = step.kind == StepKind::Notification || step.title == "stderr";
    is_repeatable
        && (last.kind, last.stream, last.direction, last.depth) == (step.kind, step.stream, step.direction, step.depth)
        && (&last.title, &last.marks, &last.rules) == (&step.title, &step.marks, &step.rules)
}

fn is_request(header: &EventHeader) -> bool {
    header.message.as_ref().is_some_and(|message| message.kind == MessageKind::Request)
}

/// Returns the step for an event by itself.
fn described(header: &EventHeader, method: Option<&str>, placed: &Placed, words: &Words) -> Step {
    let kind = kind_of(header);
    let title = match (method, &header.message) {
        (Some(method), _) => method.to_owned(),
        (None, Some(message)) => message.kind.name().to_owned(),
        (None, None) => header.kind.name(),
    };
    let flags = header.flags;
    let marks = [
        (flags.has(Flags::INJECTED), Mark::Injected),
        (flags.has(Flags::TRUNCATED), Mark::Truncated),
        (kind == StepKind::Broken || flags.has(Flags::FAULTY), Mark::Invalid),
    ];
    Step {
        seq: header.seq,
        time: header.time,
        stream: header.stream,
        direction: header.has_direction().then(|| header.direction()),
        kind,
        title,
        about: words.about.clone(),
        subject: words.subject,
        summary: words.summary.clone(),
        outcome: placed.outcome,
        latency: placed.latency,
        asked: placed.asked,
        failed: has_failed(header, kind),
        marks: marks.into_iter().filter_map(|(holds, mark)| holds.then_some(mark)).collect(),
        rules: Vec::new(),
        depth: 0,
        count: 1,
        last: header.seq,
    }
}

fn kind_of(header: &EventHeader) -> StepKind {
    match (&header.message, header.kind) {
        (Some(message), _) => match message.kind {
            MessageKind::Request | MessageKind::Batch => StepKind::Request,
            MessageKind::Notification => StepKind::Notification,
            MessageKind::Result | MessageKind::Error => StepKind::Response,
            MessageKind::Unclassified | MessageKind::Malformed | MessageKind::Noise | MessageKind::Blank => {
                StepKind::Broken
            }
        },
        (None, EventKind::Gap) => StepKind::Gap,
        (None, _) => StepKind::Event,
    }
}

/// Whether something failed: a request, a tool, an HTTP exchange.
fn has_failed(header: &EventHeader, kind: StepKind) -> bool {
    header.is_failure() || matches!(kind, StepKind::Broken | StepKind::Gap)
}

#[cfg(test)]
pub(crate) mod tests;
