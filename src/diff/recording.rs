//! What of a recording is compared: units. A unit is a request with its response, a notification, a response without a
//! request, or a line that is not a message.

use super::normalise::Source;
use super::print::Print;
use super::report::UnitSide;
use super::volatile::Origins;
use crate::trace::Event;
use crate::wire::Direction;
use std::collections::HashSet;
use std::sync::Arc;

/// The kind of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UnitKind {
    /// A request, with its response if there was one.
    Request,
    /// A notification.
    Notification,
    /// A response without a request.
    Orphan,
    /// A line that is not a message: noise, malformed JSON, or JSON that is not JSON-RPC.
    Line,
    /// Everything a server wrote to its standard error.
    Stderr,
}

impl UnitKind {
    /// Returns the name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Notification => "notification",
            Self::Orphan => "orphan",
            Self::Line => "line",
            Self::Stderr => "stderr",
        }
    }
}

/// The response to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The number of the event.
    pub seq: u64,
    /// The time in nanoseconds since the reel's clock base.
    pub time: i64,
    /// Whether it is an error.
    pub is_error: bool,
    /// What is unusual about its envelope.
    pub oddities: Option<Box<str>>,
    /// The text of the result or error; empty if the unit's texts were not kept.
    pub text: Box<[u8]>,
}

impl Answer {
    /// Returns which part of the unit it is.
    pub(super) fn side(&self) -> UnitSide {
        if self.is_error { UnitSide::Error } else { UnitSide::Result }
    }
}

/// One element of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The kind of the unit.
    pub kind: UnitKind,
    /// Its direction; for a call, that of the request.
    pub direction: Direction,
    /// Its method.
    pub method: Option<Arc<str>>,
    /// Its subject: a tool's name or a resource's URI; for a message that belongs to a request (progress, a
    /// cancellation), the method and subject of that request.
    pub subject: Option<Arc<str>>,
    /// The subject is an id that differs in every run, so it does not distinguish units.
    pub subject_is_volatile: bool,
    /// The JSON text of its id, if ids are compared by value.
    pub id: Option<Box<str>>,
    /// What is unusual about its envelope.
    pub oddities: Option<Box<str>>,
    /// Whether it is in a batch.
    pub in_batch: bool,
    /// The number of its stream.
    pub stream: u32,
    /// The number of the event.
    pub seq: u64,
    /// The time in nanoseconds since the reel's clock base.
    pub time: i64,
    /// Whether its texts (params, response, line) were kept.
    pub has_texts: bool,
    /// The text of its params.
    pub params: Option<Box<[u8]>>,
    /// Its response; for an orphan, the response itself.
    pub answer: Option<Answer>,
    /// The whole text of a line that is not a message.
    pub line: Option<Box<[u8]>>,
    /// The number of the request to which its `requestId` or `progressToken` refers.
    pub refers: Option<u64>,
    /// What it is compared by before its texts are needed.
    pub(super) print: Print,
}

impl Unit {
    /// Returns where one part of it is from.
    pub(super) fn source(&self, side: UnitSide) -> Source<'_> {
        let is_answer = side.is_of_answer() && self.kind == UnitKind::Request;
        let sender = if is_answer { self.direction.reversed() } else { self.direction };
        let (method, subject) = (self.method.as_deref(), self.subject.as_deref());
        Source { side, method, subject, from_server: sender == Direction::ServerToClient }
    }

    /// Returns the nanoseconds from the request to its response.
    pub fn latency(&self) -> Option<i64> {
        let answer = self.answer.as_ref().filter(|_| self.kind == UnitKind::Request)?;
        Some(answer.time - self.time)
    }

    /// Returns whether another pass found it at the same place.
    fn is_at(&self, other: &Self) -> bool {
        (self.seq, self.kind) == (other.seq, other.kind)
    }

    /// Creates a unit that begins with an event.
    pub(super) fn new(kind: UnitKind, direction: Direction, event: &Event<'_>) -> Self {
        Self {
            kind,
            direction,
            method: None,
            subject: None,
            subject_is_volatile: false,
            id: None,
            oddities: None,
            in_batch: false,
            stream: event.header.stream,
            seq: event.header.seq,
            time: event.header.time,
            has_texts: false,
            params: None,
            answer: None,
            line: None,
            refers: None,
            print: Print::default(),
        }
    }
}

/// The units of one reel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// The units, in the order of their first events.
    pub units: Vec<Unit>,
    /// Who made the values in them.
    pub(crate) origins: Origins,
    /// For each place to ignore, and for each unordered array, whether a message had something there.
    pub(super) used: Vec<bool>,
}

impl Recording {
    /// Takes over the texts that another pass over the same reel collected.
    pub fn fill(&mut self, pass: Self) {
        let mut pass = pass.units.into_iter().peekable();
        for unit in &mut self.units {
            let Some(again) = pass.next_if(|again| again.is_at(unit)) else { continue };
            if again.has_texts {
                (unit.has_texts, unit.params, unit.line) = (true, again.params, again.line);
                if let (Some(answer), Some(again)) = (&mut unit.answer, again.answer) {
                    answer.text = again.text;
                }
            }
        }
    }

    /// Returns what must be read again for the texts of the units with these first events. What is in a batch with one
    /// of them is among it.
    pub fn wanted(&self, seqs: &HashSet<u64>) -> Wanted {
        let mut events = seqs.clone();
        let is_request = |unit: &&Unit| unit.kind == UnitKind::Request;
        let answers = self.units.iter().filter(is_request).filter_map(|unit| Some(unit.answer.as_ref()?.seq));
        let answers: HashSet<u64> = answers.collect();
        loop {
            let known = events.len();
            for unit in &self.units {
                let answer = unit.answer.as_ref().map_or(unit.seq, |answer| answer.seq);
                if events.contains(&unit.seq) || events.contains(&answer) {
                    events.extend([unit.seq, answer]);
                }
            }
            if events.len() == known {
                let answers = answers.intersection(&events).copied().collect();
                return Wanted { events, answers };
            }
        }
    }
}

/// The part of a recording that is read again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The numbers of the events.
    pub(super) events: HashSet<u64>,
    /// Those that contain the response to a request. Requests that are not read again may have the ids of other ones.
    pub(super) answers: HashSet<u64>,
}
