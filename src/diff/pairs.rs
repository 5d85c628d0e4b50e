//! Collects the events of a reel into units, which are compared with each other.

use super::build::{Digest, Hashing, hash_of};
use super::normalise::{Normaliser, Source, is_comparable};
use super::recording::{Answer, Recording, Unit, UnitKind, Wanted};
use super::report::UnitSide;
use super::volatile::{Lookup, Origins, names};
use super::{Options, print};
use crate::proposals;
use crate::protocol::{MethodSpec, methods};
use crate::session::reading::{Reading, Response, Role, Said};
use crate::trace::{Event, EventKind};
use crate::wire::{Direction, Envelope, Id, IdKey, MessageKind, json};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

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

/// The place of a message in its batch, from 1, and the number of messages in it; `None` if it is in no batch.
type Batch = Option<(usize, usize)>;

/// Collects the events of a reel, in order.
#[derive(Debug)]
pub struct Collector<'o> {
    normaliser: Normaliser<'o>,
    origins: Origins,
    options: &'o Options,
    keep: KeptTexts,
    with_stderr: bool,
    units: Vec<Unit>,
    reading: Reading<usize>,
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
            reading: Reading::default(),
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
            EventKind::Message => self.take_text(event, event.body(), None),
            EventKind::Stderr if self.with_stderr => self.take_stderr(event),
            EventKind::StreamOpened => self.take_command(event.payload),
            _ => self.reading.event(event, |_, _| {}),
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
        Recording { units: self.units, origins: self.origins, used: self.normaliser.used() }
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

    /// Adds what is unusual about an envelope to the hash of a unit, and returns it, unless it is ignored.
    fn oddities(&self, unit: &mut Unit, side: UnitSide, oddities: Option<String>) -> Option<Box<str>> {
        let oddities = oddities.filter(|_| !self.normaliser.ignores(unit.source(side)))?;
        if !matches!(self.keep, KeptTexts::Only(_)) {
            unit.print.add_oddities(side, &oddities);
        }
        Some(oddities.into())
    }

    /// Returns the hash of one part of a message. Long texts without volatile values are parsed only once.
    fn digest(&mut self, source: Source<'_>, text: &[u8]) -> Digest {
        let key = (text.len() >= LONG)
            .then(|| hash_of(&(source.side, source.method, source.subject, source.from_server, text)));
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
        self.origins.add_command(payload);
        self.known.clear();
    }

    /// Notes the client's roots: where it works differs, as where the server works does.
    fn take_roots(&mut self, result: &[u8]) {
        self.origins.add_roots(result);
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

    fn take_text(&mut self, event: &Event<'_>, text: &[u8], batch: Batch) {
        let envelope = Envelope::scan(text);
        let direction = event.header.direction();
        match envelope.kind {
            MessageKind::Blank => {}
            // A batch with too many messages is one line.
            MessageKind::Batch if batch.is_none() && is_comparable(text) => {
                let messages = json::items(text).count();
                json::items(text).zip(1..).for_each(|(item, at)| self.take_text(event, item, Some((at, messages))));
            }
            MessageKind::Request | MessageKind::Notification => self.take_call(event, text, &envelope, batch),
            MessageKind::Result | MessageKind::Error => self.take_answer(event, text, &envelope, batch),
            MessageKind::Batch | MessageKind::Unclassified | MessageKind::Malformed | MessageKind::Noise => {
                let mut unit = Unit::new(UnitKind::Line, direction, event);
                self.print(&mut unit, UnitSide::Line, text);
                unit.has_texts = self.keeps();
                unit.line = unit.has_texts.then(|| text.into());
                self.units.push(unit);
            }
        }
    }

    /// Says where in a batch a message is, if that counts.
    fn place_in(&self, batch: Batch) -> Option<String> {
        let (at, messages) = batch.filter(|_| self.options.exact)?;
        Some(format!("it is message {at} of {messages} in a batch"))
    }

    fn take_call(&mut self, event: &Event<'_>, message: &[u8], envelope: &Envelope<'_>, batch: Batch) {
        let direction = event.header.direction();
        let is_request = envelope.kind == MessageKind::Request;
        let kind = if is_request { UnitKind::Request } else { UnitKind::Notification };
        let mut unit = Unit::new(kind, direction, event);
        let method = envelope.method.as_deref().unwrap_or_default();
        unit.method = Some(self.name(method));
        unit.id = envelope.id.filter(|_| self.options.keep_ids).map(id_text);
        unit.has_texts = self.keeps();
        unit.in_batch = batch.is_some();
        if let (Some(spec), Some(params)) = (proposals::method_spec(method), envelope.params) {
            self.name_subject(&mut unit, spec, params);
        }
        let all = joined(oddities(envelope, message).into_iter().chain(self.place_in(batch)));
        unit.oddities = self.oddities(&mut unit, UnitSide::Envelope, all);
        if let Some(params) = envelope.params {
            self.print(&mut unit, UnitSide::Params, params);
            unit.params = unit.has_texts.then(|| params.into());
        }
        let place = self.units.len();
        self.reading.message(&Said::of_envelope(event.header, envelope, Some(message)), || place);
        if let (true, Some(id)) = (is_request, envelope.id) {
            self.handles.insert((unit.stream, direction, false, id.key()), place);
        }
        if let (true, Some(token)) = (is_request, envelope.progress_token()) {
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

    fn take_answer(&mut self, event: &Event<'_>, message: &[u8], envelope: &Envelope<'_>, batch: Batch) {
        let direction = event.header.direction();
        let is_error = envelope.kind == MessageKind::Error;
        let text = if is_error { envelope.error } else { envelope.result }.unwrap_or_default();
        let (seq, time) = (event.header.seq, event.header.time);
        let mut answer = Answer { seq, time, is_error, oddities: None, text: Box::default() };
        let said = Said::of_envelope(event.header, envelope, Some(message));
        let asked = match self.may_answer(event.header.seq).then(|| self.reading.message(&said, || 0)) {
            Some(Role::Response(Response { request: Some(request), .. })) => Some(request.memory),
            _ => None,
        };
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
        let is_alone = batch.is_some() && unit.kind == UnitKind::Request && !unit.in_batch;
        let alone = is_alone.then(|| "it is in a batch, but its request is not".to_owned());
        let all = joined(oddities(envelope, message).into_iter().chain(alone).chain(self.place_in(batch)));
        answer.oddities = self.oddities(&mut unit, UnitSide::Response, all);
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

fn joined(texts: impl Iterator<Item = String>) -> Option<String> {
    texts.reduce(|all, text| format!("{all}; {text}"))
}

/// Describes what is unusual about the envelope of a message; `None` if nothing is. Of members that JSON-RPC does not
/// define, only the names are in it.
fn oddities(envelope: &Envelope<'_>, text: &[u8]) -> Option<String> {
    if envelope.faults.is_empty() && !envelope.has_other_members {
        return None;
    }
    const DEFINED: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
    let others = json::members(text).filter(|member| !DEFINED.iter().any(|name| member.is(name)));
    let others: BTreeSet<String> = others.map(|member| json::unescape(member.key)).collect();
    let named = others.into_iter().map(|name| format!("it has the member {name:?}"));
    Some(envelope.faults.iter().map(|fault| fault.phrase().to_owned()).chain(named).collect::<Vec<_>>().join("; "))
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
