//! A reel's events as units: what is compared with what. A unit is a call with its answer, a notification, an answer
//! that nobody asked for, or a line that is no message.

use crate::extension;
use crate::protocol::{MethodSpec, catalogue};
use crate::session::Pairing;
use crate::trace::{Event, EventKind};
use crate::wire::{Direction, Envelope, Id, IdKey, MessageKind, json};
use std::collections::HashMap;

/// What a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UnitKind {
    /// A request, with its answer where there was one.
    Request,
    /// A notification.
    Notification,
    /// An answer that no request waited for.
    Orphan,
    /// A line that is no message: noise, malformed JSON, JSON that is not JSON-RPC.
    Line,
    /// Everything a server wrote to its standard error.
    Stderr,
}

impl UnitKind {
    /// The name used in JSON.
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

/// What came back for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The event's number.
    pub seq: u64,
    /// Nanoseconds since the reel's clock base.
    pub time: i64,
    /// Whether it is an error.
    pub is_error: bool,
    /// The text of its result or error.
    pub text: Box<[u8]>,
}

/// One thing that was said in a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// What it is.
    pub kind: UnitKind,
    /// Which way it went; for a call, the way of the request.
    pub direction: Direction,
    /// Its method.
    pub method: Option<String>,
    /// What it is about: a tool's name, a resource's URI; for what belongs to a request (progress, a cancellation),
    /// that request's method and subject.
    pub subject: Option<String>,
    /// The subject is an id that every run chooses anew; units are not told apart by it.
    pub subject_is_volatile: bool,
    /// The JSON text of its id.
    pub id: Option<String>,
    /// The stream that it went over.
    pub stream: u32,
    /// The event's number.
    pub seq: u64,
    /// Nanoseconds since the reel's clock base.
    pub time: i64,
    /// The text of its params.
    pub params: Option<Box<[u8]>>,
    /// Its answer; for an orphan, the orphan itself.
    pub answer: Option<Answer>,
    /// The whole text of what is no message.
    pub line: Option<Box<[u8]>>,
    /// The number of the request that it belongs to by its `requestId` or `progressToken`.
    pub refers: Option<u64>,
}

impl Unit {
    /// Nanoseconds from the request to its answer.
    pub fn latency(&self) -> Option<i64> {
        let answer = self.answer.as_ref().filter(|_| self.kind == UnitKind::Request)?;
        Some(answer.time - self.time)
    }

    fn new(kind: UnitKind, direction: Direction, event: &Event<'_>) -> Self {
        Self {
            kind,
            direction,
            method: None,
            subject: None,
            subject_is_volatile: false,
            id: None,
            stream: event.header.stream,
            seq: event.header.seq,
            time: event.header.time,
            params: None,
            answer: None,
            line: None,
            refers: None,
        }
    }
}

/// Where a method's params name the request that a message belongs to.
pub(super) fn reference_place(method: &str) -> Option<&'static [&'static str]> {
    let about = extension::method_spec(method)?.about;
    matches!(about.last(), Some(&("requestId" | "progressToken"))).then_some(about)
}

/// The space a reference points into: the stream, who asked, and whether by id or by token.
type Handle = (u32, Direction, bool, IdKey);

/// Collects the events of one reel, fed in order.
#[derive(Debug, Default)]
pub struct Collector {
    units: Vec<Unit>,
    open: Pairing<usize>,
    /// The latest request of each id and each progress token.
    handles: HashMap<Handle, usize, foldhash::fast::RandomState>,
    keep_stderr: bool,
    stderr: Option<Unit>,
}

impl Collector {
    /// A collector that also makes one unit of all that was written to standard error.
    pub fn with_stderr() -> Self {
        Self { keep_stderr: true, ..Self::default() }
    }

    /// Takes one event in.
    pub fn take(&mut self, event: &Event<'_>) {
        match event.header.kind {
            EventKind::Message => self.take_text(event, event.body(), false),
            EventKind::Stderr if self.keep_stderr => self.take_stderr(event),
            _ => {}
        }
    }

    /// The units, in the order in which they began.
    pub fn finish(mut self) -> Vec<Unit> {
        self.units.extend(self.stderr);
        self.units
    }

    fn take_stderr(&mut self, event: &Event<'_>) {
        let unit = self.stderr.get_or_insert_with(|| Unit::new(UnitKind::Stderr, Direction::ServerToClient, event));
        let mut text = unit.line.take().unwrap_or_default().into_vec();
        text.extend_from_slice(event.payload);
        unit.line = Some(text.into());
    }

    fn take_text(&mut self, event: &Event<'_>, text: &[u8], in_batch: bool) {
        let envelope = Envelope::scan(text);
        let direction = event.header.direction();
        match envelope.kind {
            MessageKind::Blank => {}
            MessageKind::Batch if !in_batch => {
                json::items(text).for_each(|item| self.take_text(event, item, true));
            }
            MessageKind::Request | MessageKind::Notification => self.take_call(event, direction, &envelope),
            MessageKind::Result | MessageKind::Error => self.take_answer(event, direction, &envelope),
            MessageKind::Batch | MessageKind::Unclassified | MessageKind::Malformed | MessageKind::Noise => {
                let mut unit = Unit::new(UnitKind::Line, direction, event);
                unit.line = Some(text.into());
                self.units.push(unit);
            }
        }
    }

    fn take_call(&mut self, event: &Event<'_>, direction: Direction, envelope: &Envelope<'_>) {
        let is_request = envelope.kind == MessageKind::Request;
        let kind = if is_request { UnitKind::Request } else { UnitKind::Notification };
        let mut unit = Unit::new(kind, direction, event);
        let method = envelope.method.as_deref().unwrap_or_default();
        unit.method = Some(method.to_owned());
        unit.params = envelope.params.map(Into::into);
        unit.id = envelope.id.map(id_text);
        if let (Some(spec), Some(params)) = (extension::method_spec(method), envelope.params) {
            self.name_subject(&mut unit, spec, params);
        }
        let place = self.units.len();
        if let (true, Some(id)) = (is_request, envelope.id) {
            self.open.ask(event.header.stream, direction, id.key(), place);
            self.handles.insert((unit.stream, direction, false, id.key()), place);
        }
        let token = envelope.params.and_then(|params| json::at_path(params, &["_meta", "progressToken"]));
        if let (true, Some(token)) = (is_request, token) {
            self.handles.insert((unit.stream, direction, true, Id(token).key()), place);
        }
        self.units.push(unit);
    }

    fn name_subject(&self, unit: &mut Unit, spec: &MethodSpec, params: &[u8]) {
        let Some(subject) = catalogue::subject(spec, params) else { return };
        let Some(place) = reference_place(spec.name) else {
            unit.subject_is_volatile = super::volatile::is_subject_volatile(spec, &subject);
            unit.subject = Some(subject.into_owned());
            return;
        };
        // Only a cancellation comes from the side that asked; progress and chunks come from the other one.
        let asker = if spec.name == "notifications/cancelled" { unit.direction } else { unit.direction.reversed() };
        let by_token = place.last() == Some(&"progressToken");
        let target = json::at_path(params, place)
            .and_then(|text| self.handles.get(&(unit.stream, asker, by_token, Id(text).key())))
            .and_then(|place| self.units.get(*place));
        unit.refers = target.map(|target| target.seq);
        unit.subject_is_volatile = target.is_none();
        unit.subject = Some(target.map_or_else(|| subject.into_owned(), label));
    }

    fn take_answer(&mut self, event: &Event<'_>, direction: Direction, envelope: &Envelope<'_>) {
        let is_error = envelope.kind == MessageKind::Error;
        let text = if is_error { envelope.error } else { envelope.result };
        let answer =
            Answer { seq: event.header.seq, time: event.header.time, is_error, text: text.unwrap_or_default().into() };
        let asked = envelope.id.and_then(|id| self.open.answer(event.header.stream, direction, id.key()));
        if let Some(unit) = asked.and_then(|place| self.units.get_mut(place)) {
            unit.answer = Some(answer);
            return;
        }
        let mut unit = Unit::new(UnitKind::Orphan, direction, event);
        unit.id = envelope.id.map(id_text);
        unit.answer = Some(answer);
        self.units.push(unit);
    }
}

/// How a message that belongs to a request names it.
fn label(target: &Unit) -> String {
    let method = target.method.as_deref().unwrap_or_default();
    match &target.subject {
        Some(subject) if !target.subject_is_volatile => format!("{method} {subject}"),
        _ => method.to_owned(),
    }
}

fn id_text(id: Id<'_>) -> String {
    String::from_utf8_lossy(id.0).into_owned()
}
