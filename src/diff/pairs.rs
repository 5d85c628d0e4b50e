//! Collects the events of a reel into units, which are compared with each other. A unit is a request with its response,
//! a notification, a response without a request, or a line that is not a message.

use super::build::{Digest, Hashing, hash_of};
use super::normalise::{Normaliser, Source};
use super::print::Print;
use super::report::UnitSide;
use super::volatile::{Lookup, Origins, names};
use super::{Options, print};
use crate::proposals;
use crate::protocol::{MethodSpec, methods};
use crate::session::Pairing;
use crate::trace::{Event, EventKind};
use crate::wire::{Direction, Envelope, Id, IdKey, MessageKind, json};
use std::collections::{HashMap, HashSet};
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
        let is_answer = matches!(side, UnitSide::Result | UnitSide::Error) && self.kind == UnitKind::Request;
        let sender = if is_answer { self.direction.reversed() } else { self.direction };
        Source { side, method: self.method.as_deref(), from_server: sender == Direction::ServerToClient }
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
    events: HashSet<u64>,
    /// Those that contain the response to a request. Requests that are not read again may have the ids of other ones.
    answers: HashSet<u64>,
}

/// The texts that a collector keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
enum KeptTexts {
    All,
    None,
    /// The texts in these events. All others are passed over.
    Only(Wanted),
}

/// Returns the place in a method's params that names the request to which a message belongs.
pub(super) fn reference_place(method: &str) -> Option<&'static [&'static str]> {
    let about = proposals::method_spec(method)?.about;
    matches!(about.last(), Some(&("requestId" | "progressToken"))).then_some(about)
}

/// A text of at least this many bytes is worth remembering.
const LONG: usize = 256;

/// The number of texts whose hashes are remembered.
const MAX_KNOWN: usize = 1 << 16;

/// The key of a reference: the stream, the direction of the request, whether it is an id or a token, and its value.
type Handle = (u32, Direction, bool, IdKey);

/// Collects the events of a reel, in order.
#[derive(Debug)]
pub struct Collector<'o> {
    normaliser: Normaliser<'o>,
    origins: Origins,
    options: &'o Options,
    keep: KeptTexts,
    with_stderr: bool,
    units: Vec<Unit>,
    open: Pairing<usize>,
    /// The latest request with each id and each progress token.
    handles: HashMap<Handle, usize, foldhash::fast::RandomState>,
    /// The hashes of long texts without volatile values, by the hash of their bytes.
    known: HashMap<u64, u64, foldhash::fast::RandomState>,
    /// Methods and subjects, each stored once.
    names: HashSet<Arc<str>>,
    stderr: Option<Unit>,
}

impl<'o> Collector<'o> {
    /// Creates a collector that keeps all texts.
    pub fn new(options: &'o Options) -> Self {
        Self {
            normaliser: Normaliser::new(options),
            origins: Origins::default(),
            options,
            keep: KeptTexts::All,
            with_stderr: false,
            units: Vec::new(),
            open: Pairing::default(),
            handles: HashMap::default(),
            known: HashMap::default(),
            names: HashSet::new(),
            stderr: None,
        }
    }

    /// Keeps no texts, to save memory. [`compare`](super::compare()) returns which texts it needs.
    pub fn without_texts(mut self) -> Self {
        self.keep = KeptTexts::None;
        self
    }

    /// Reads only these events ([`Recording::wanted`]), for [`Recording::fill`].
    pub fn only_texts_of(mut self, wanted: Wanted) -> Self {
        self.keep = KeptTexts::Only(wanted);
        self
    }

    /// Sets whether standard error becomes one unit.
    pub fn with_stderr(mut self, with_stderr: bool) -> Self {
        self.with_stderr = with_stderr;
        self
    }

    /// Processes one event.
    pub fn take(&mut self, event: &Event<'_>) {
        match event.header.kind {
            EventKind::Message if !self.reads(event.header.seq) => {}
            EventKind::Message => self.take_text(event, event.body(), false),
            EventKind::Stderr if self.with_stderr => self.take_stderr(event),
            EventKind::StreamOpened => self.take_command(event.payload),
            _ => {}
        }
    }

    /// Returns the recording.
    pub fn finish(mut self) -> Recording {
        if let Some(mut unit) = self.stderr.take() {
            let text = unit.line.take().unwrap_or_default();
            self.print(&mut unit, UnitSide::Line, &text);
            unit.line = Some(text);
            self.units.push(unit);
        }
        for unit in &mut self.units {
            unit.print.key = print::key(unit);
        }
        Recording { units: self.units, origins: self.origins }
    }

    fn keeps(&self) -> bool {
        self.keep != KeptTexts::None
    }

    /// Returns whether the message with this number is read.
    pub fn reads(&self, seq: u64) -> bool {
        match &self.keep {
            KeptTexts::Only(wanted) => wanted.events.contains(&seq),
            _ => true,
        }
    }

    /// Returns whether a response in this message may be that of a request.
    fn may_answer(&self, seq: u64) -> bool {
        match &self.keep {
            KeptTexts::Only(wanted) => wanted.answers.contains(&seq),
            _ => true,
        }
    }

    /// Adds the hash of one part of a unit.
    fn print(&mut self, unit: &mut Unit, side: UnitSide, text: &[u8]) {
        // The second pass uses the hashes of the first.
        if !matches!(self.keep, KeptTexts::Only(_)) {
            let digest = self.digest(unit.source(side), text);
            unit.print.add(side, &digest);
        }
    }

    /// Returns the hash of one part of a message. Long texts without volatile values are parsed only once.
    fn digest(&mut self, source: Source<'_>, text: &[u8]) -> Digest {
        let key = (text.len() >= LONG).then(|| hash_of(&(source.side, source.method, source.from_server, text)));
        if let Some(hash) = key.and_then(|key| self.known.get(&key)) {
            return Digest { hash: *hash, values: Vec::new() };
        }
        let uses = self.origins.uses();
        let mut hashing = Hashing::new(self.options.exact).with_texts(self.options.lists_volatile);
        let digest = self.normaliser.build(&mut hashing, source, text, &mut Lookup::Collecting(&mut self.origins));
        for (value, text) in hashing.texts.into_iter().flatten() {
            self.origins.keep_text(value, text);
        }
        if let Some(key) = key
            && digest.values.is_empty()
            && self.origins.uses() == uses
            && self.known.len() < MAX_KNOWN
        {
            self.known.insert(key, digest.hash);
        }
        digest
    }

    /// Notes the folder in which the server runs, and those that its command line names.
    fn take_command(&mut self, payload: &[u8]) {
        let Ok(opened) = ciborium::from_reader::<serde_json::Value, _>(payload) else { return };
        let words = opened["command"].as_array().into_iter().flatten();
        let words = words.filter_map(serde_json::Value::as_str).skip(1);
        self.origins.add_folders(words.chain(opened["cwd"].as_str()));
        self.known.clear();
    }

    /// Notes the client's roots: where it works differs, as where the server works does.
    fn take_roots(&mut self, result: &[u8]) {
        let Ok(result) = serde_json::from_slice::<serde_json::Value>(result) else { return };
        let roots = result["roots"].as_array().into_iter().flatten();
        self.origins.add_folders(roots.filter_map(|root| root["uri"].as_str()));
        self.known.clear();
    }

    fn name(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return Arc::clone(known);
        }
        let name: Arc<str> = name.into();
        self.names.insert(Arc::clone(&name));
        name
    }

    fn take_stderr(&mut self, event: &Event<'_>) {
        let unit = self.stderr.get_or_insert_with(|| Unit::new(UnitKind::Stderr, Direction::ServerToClient, event));
        let mut text = unit.line.take().unwrap_or_default().into_vec();
        text.extend_from_slice(event.payload);
        unit.has_texts = true;
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
                self.print(&mut unit, UnitSide::Line, text);
                unit.has_texts = self.keeps();
                unit.line = unit.has_texts.then(|| text.into());
                self.units.push(unit);
            }
        }
    }

    fn take_call(&mut self, event: &Event<'_>, direction: Direction, envelope: &Envelope<'_>) {
        let is_request = envelope.kind == MessageKind::Request;
        let kind = if is_request { UnitKind::Request } else { UnitKind::Notification };
        let mut unit = Unit::new(kind, direction, event);
        let method = envelope.method.as_deref().unwrap_or_default();
        unit.method = Some(self.name(method));
        unit.id = envelope.id.filter(|_| self.options.keep_ids).map(id_text);
        unit.has_texts = self.keeps();
        if let Some(params) = envelope.params {
            self.print(&mut unit, UnitSide::Params, params);
            unit.params = unit.has_texts.then(|| params.into());
        }
        if let (Some(spec), Some(params)) = (proposals::method_spec(method), envelope.params) {
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

    fn name_subject(&mut self, unit: &mut Unit, spec: &MethodSpec, params: &[u8]) {
        let Some(subject) = methods::subject(spec, params) else { return };
        let Some(place) = reference_place(spec.name) else {
            unit.subject_is_volatile = names::is_subject_volatile(spec, &subject);
            unit.subject = Some(self.name(&subject));
            return;
        };
        // Only a cancellation comes from the side that sent the request; progress and chunks come from the other side.
        let asker = if spec.name == "notifications/cancelled" { unit.direction } else { unit.direction.reversed() };
        let by_token = place.last() == Some(&"progressToken");
        let target = json::at_path(params, place)
            .and_then(|text| self.handles.get(&(unit.stream, asker, by_token, Id(text).key())))
            .and_then(|place| self.units.get(*place));
        unit.refers = target.map(|target| target.seq);
        unit.subject_is_volatile = target.is_none();
        let label = target.map_or_else(|| subject.into_owned(), label);
        unit.subject = Some(self.name(&label));
    }

    fn take_answer(&mut self, event: &Event<'_>, direction: Direction, envelope: &Envelope<'_>) {
        let is_error = envelope.kind == MessageKind::Error;
        let text = if is_error { envelope.error } else { envelope.result }.unwrap_or_default();
        let mut answer = Answer { seq: event.header.seq, time: event.header.time, is_error, text: Box::default() };
        let id = envelope.id.filter(|_| self.may_answer(event.header.seq));
        let asked = id.and_then(|id| self.open.answer(event.header.stream, direction, id.key()));
        let asked = asked.filter(|place| *place < self.units.len());
        let mut unit = match asked {
            Some(place) => std::mem::replace(&mut self.units[place], Unit::new(UnitKind::Orphan, direction, event)),
            None => {
                let mut orphan = Unit::new(UnitKind::Orphan, direction, event);
                orphan.id = envelope.id.filter(|_| self.options.keep_ids).map(id_text);
                orphan.has_texts = self.keeps();
                orphan
            }
        };
        if unit.method.as_deref() == Some("roots/list") && !is_error {
            self.take_roots(text);
        }
        self.print(&mut unit, answer.side(), text);
        if unit.has_texts {
            answer.text = text.into();
        }
        unit.answer = Some(answer);
        match asked {
            Some(place) => self.units[place] = unit,
            None => self.units.push(unit),
        }
    }
}

/// Returns how a message that belongs to a request names it.
fn label(target: &Unit) -> String {
    let method = target.method.as_deref().unwrap_or_default();
    match &target.subject {
        Some(subject) if !target.subject_is_volatile => format!("{method} {subject}"),
        _ => method.to_owned(),
    }
}

fn id_text(id: Id<'_>) -> Box<str> {
    String::from_utf8_lossy(id.0).into()
}
