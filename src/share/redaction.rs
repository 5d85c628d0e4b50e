//! Redacts a reel in two passes: the first one learns its secrets, the second one replaces them.
//!
//! Without the first pass, which a recorder cannot make, secrets are found only where something tells what they are, and
//! only if they are in one piece.

use super::clean::Clean;
use super::event::{Change, PartsOf, is_unread};
use super::json_text::{SpotKind, Step, walk};
use super::known::Learnt;
use super::lanes::{Joint, LaneKey, Lanes, Parts, Search, TextId};
use super::layers::{Context, Found, Replacer};
use super::mapped::{Edit, Mapped, applied};
use super::report::{Place, Report, SecretId};
use crate::redact::detectors::Severity;
use crate::redact::{Finder, Lookalike, Pseudonyms, Settings};
use crate::trace::{Event, EventHeader, EventKind, FileHeader, Flags, NewEvent};
use crate::wire::{Framing, json};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The note in a reel's header that says with which rules and settings it was redacted.
pub(crate) const NOTE: &str = "redaction";

/// The note in a reel's header with the settings, as JSON, if they are not the usual ones.
const SETTINGS: &str = "redaction-settings";

/// What stands at the end of a text that was cut short.
const CUT_SHORT: char = '…';

/// Texts of at most this length are joined with their neighbours in other messages. Unit: bytes.
const LONGEST_DELTA: usize = 64 << 10;

/// How often a redacted payload is searched again, until nothing is found in it.
const MAX_CHECKS: usize = 4;

/// The first pass over a reel: learns its secrets, also those that are divided between events.
pub struct Learner {
    redactor: Redactor,
    /// Made when it is needed: who only counts learns nothing.
    shapes: OnceCell<Finder>,
    lanes: Lanes,
}

/// The second pass over a reel: replaces its secrets, or counts them. Without a first pass, it knows only what tells that it
/// is a secret.
pub struct Redactor {
    replacer: Replacer,
    /// What searches a redacted payload as a later redaction would; `None` if there will be none.
    checker: Option<Replacer>,
    parts: Parts,
    /// The events in which a divided secret goes on.
    continued: BTreeSet<u64>,
    clean: Clean,
    report: Report,
}

/// Replaces secrets while it learns them, event by event. What only a later event gives away stays.
pub(crate) struct LiveRedactor(Redactor);

impl Learner {
    /// Prepares the redaction of a reel. The same key gives the same pseudonyms.
    ///
    /// # Errors
    ///
    /// If the settings are not valid: a sentence that names the wrong one.
    pub fn new(settings: &Settings, key: &[u8]) -> Result<Self, String> {
        let mut replacer = Replacer::new(Finder::new(settings)?, Pseudonyms::new(key));
        let checker = Some(checker(&replacer));
        replacer.is_replacing = false;
        let redactor = Redactor {
            replacer,
            checker,
            parts: Parts::default(),
            continued: BTreeSet::new(),
            clean: Clean::default(),
            report: Report::default(),
        };
        Ok(Self { redactor, shapes: OnceCell::new(), lanes: Lanes::default() })
    }

    /// Prepares the comparison of messages with those of a redacted reel: see [`LiveRedactor::comparable`].
    ///
    /// # Errors
    ///
    /// If the settings are not valid: a sentence that names the wrong one.
    pub(crate) fn comparing(settings: &Settings) -> Result<Self, String> {
        let mut made = Self::new(settings, b"")?;
        made.redactor.replacer.finder.take_lookalikes_as(Lookalike::StandIn);
        made.redactor.replacer.pseudonyms = Pseudonyms::alike();
        made.redactor.checker = None;
        Ok(made)
    }

    /// Takes what looks like a pseudonym for one, which stays: in texts that may come from a redacted reel.
    #[must_use]
    pub fn keeping_pseudonyms(mut self) -> Self {
        self.keep_pseudonyms();
        self
    }

    fn keep_pseudonyms(&mut self) {
        self.redactor.keep_pseudonyms();
        if let Some(shapes) = self.shapes.get_mut() {
            shapes.take_lookalikes_as(Lookalike::Pseudonym);
        }
    }

    /// Prepares the search of a text that is no recording: its lines take the place of events.
    #[must_use]
    pub(crate) fn of_text(self) -> Self {
        let mut made = self.keeping_pseudonyms();
        made.redactor.report.is_text = true;
        made
    }

    /// Learns the secrets of the reel's own header.
    pub fn learn_header(&mut self, header: &FileHeader) {
        if is_redacted(&header.notes, "") {
            self.keep_pseudonyms();
        }
        let mut found = Vec::new();
        file_header(&self.redactor.replacer, header, &mut found);
        self.redactor.learn_all(None, found);
    }

    /// Learns the secrets of an event.
    pub fn learn(&mut self, event: &Event<'_>) {
        let Redactor { replacer, clean, .. } = &mut self.redactor;
        if !clean.has(event.header, event.payload) {
            let mut found = Vec::new();
            replacer.has_hidden.set(false);
            replacer.payload(event.header, event.payload, None, &mut found);
            let has_text = matches!(event.header.kind, EventKind::Message | EventKind::Stderr);
            if has_text && found.is_empty() && !replacer.has_hidden.get() {
                clean.add(event.header, event.payload);
            }
            self.redactor.learn_all(Some(event.header.seq), found);
        }
        self.join(event);
    }

    /// Learns the secrets of a line of a text.
    pub(crate) fn learn_line(&mut self, number: u64, line: &[u8]) {
        self.learn(&Event { header: &line_header(number), payload: line });
    }

    /// Learns the secrets of an event that is about to be written.
    pub(crate) fn learn_new(&mut self, event: &NewEvent<'_>) {
        self.learn(&Event { header: &header_of(event), payload: event.payload });
    }

    /// Ends the first pass.
    #[must_use]
    pub fn finish(mut self) -> Redactor {
        let mut made = self.redactor;
        if let Some(shapes) = self.shapes.get() {
            let pseudonym = |secret: &[u8], rule: usize| made.replacer.pseudonym(secret, rule);
            self.lanes.end(&Search { shapes, all: &made.replacer.finder, pseudonym: &pseudonym });
        }
        made.parts = self.lanes.parts;
        let goes_on = made.parts.iter().filter(|(_, parts)| parts.iter().any(|part| !part.is_first));
        made.continued = goes_on.map(|(id, _)| id.0).collect();
        made.replacer.known.end();
        made.replacer.forget();
        made.clean.end(&made.replacer.known);
        for place in std::mem::take(&mut made.report.ordinary_places) {
            let shown = made.shown(&place.place);
            made.report.ordinary_places.push(Place { place: shown, ..place });
        }
        made.replacer.is_replacing = true;
        made
    }

    /// Adds the texts of an event to the lanes in which a secret may be divided.
    fn join(&mut self, event: &Event<'_>) {
        let header = event.header;
        let pseudonym = |secret: &[u8], rule: usize| self.redactor.replacer.pseudonym(secret, rule);
        let all = &self.redactor.replacer.finder;
        let search = Search { shapes: self.shapes.get_or_init(|| all.shapes()), all, pseudonym: &pseudonym };
        let is_fragment = header.framing == Framing::Fragment;
        match header.kind {
            EventKind::Stderr => {
                self.lanes.push(lane(header, &["stderr"], &[]), (header.seq, 0), event.payload, Joint::Bytes, &search);
            }
            EventKind::Message if is_fragment || continues_fragment(header) => {
                self.lanes.push(lane(header, &["pieces"], &[]), (header.seq, 0), event.payload, Joint::Bytes, &search);
            }
            EventKind::Message => {
                let body = event.body();
                let method = json::first_member(body, "method").unwrap_or_default();
                let stream_id = json::first_member(body, "params").and_then(stream_id).unwrap_or_default();
                let has_id = json::first_member(body, "id").is_some();
                let joint = if has_id { Joint::Messages } else { Joint::Deltas };
                let mut number = 0;
                walk(body, |spot| {
                    number += 1;
                    if spot.kind != SpotKind::Text || spot.range.len() > LONGEST_DELTA {
                        return;
                    }
                    let text = Mapped::json_string(spot.contents()).text;
                    let mut path: Vec<&[u8]> = spot.path.iter().map(|step| step_text(step, body)).collect();
                    path.push(method);
                    self.lanes.push(lane(header, &["text"], &path), (header.seq, number), &text, joint, &search);
                    if !stream_id.is_empty() || header.exchange != 0 {
                        let exchange = header.exchange.to_le_bytes();
                        path.extend([stream_id, &exchange[..]]);
                        self.lanes.push(lane(header, &["stream"], &path), (header.seq, number), &text, joint, &search);
                    }
                });
            }
            _ => {}
        }
    }
}

impl LiveRedactor {
    /// Returns a message in which secrets and pseudonyms are replaced alike. A secret is also found where nothing tells
    /// what it is, if this message or one before contains it where something does.
    pub(crate) fn comparable(&mut self, message: &[u8]) -> Vec<u8> {
        let (edits, found) = self.0.edits(message);
        if !self.0.learn_all(None, found) {
            return applied(message, &edits);
        }
        self.0.replacer.known.end();
        self.0.replacer.forget();
        applied(message, &self.0.edits(message).0)
    }

    /// Redacts an event while it is recorded. Secrets that events before it gave away, or this one elsewhere, are replaced,
    /// too. Returns its flags and its payload.
    pub(crate) fn single<'a>(&mut self, event: &NewEvent<'a>) -> (Flags, Cow<'a, [u8]>) {
        let (header, mut found) = (header_of(event), Vec::new());
        let mut change = self.0.replacer.payload(&header, event.payload, None, &mut found);
        if self.0.learn_all(None, found) {
            self.0.replacer.known.go_on();
            self.0.replacer.forget();
            change = self.0.replacer.payload(&header, event.payload, None, &mut Vec::new());
        }
        let redacted = change
            .map_or(Cow::Borrowed(event.payload), |change| Cow::Owned(self.0.checked(&header, event.payload, change)));
        (Redactor::event(&header, event.payload, &redacted).flags, redacted)
    }

    /// Returns the reel's own header without its secrets: see [`Redactor::header`].
    pub(crate) fn header(&mut self, header: &FileHeader) -> FileHeader {
        self.0.header(header)
    }
}

impl Redactor {
    /// Goes on with events that are redacted one by one.
    #[must_use]
    pub(crate) fn live(self) -> LiveRedactor {
        LiveRedactor(self)
    }

    fn keep_pseudonyms(&mut self) {
        self.replacer.finder.take_lookalikes_as(Lookalike::Pseudonym);
        self.clean.clear();
        self.replacer.forget();
    }

    /// Returns the settings with which the reel of this header was redacted; `None` if it was not.
    pub(crate) fn settings_of(header: &FileHeader) -> Option<Settings> {
        header.notes.get(NOTE)?;
        let stored = header.notes.get(SETTINGS).and_then(|text| serde_json::from_str(text).ok());
        Some(stored.unwrap_or_default())
    }

    fn edits(&self, message: &[u8]) -> (Vec<Edit>, Vec<Found>) {
        let mut found = Vec::new();
        let edits = self.replacer.message(message, Context::at(&String::new), &|_| Vec::new(), &mut found);
        (edits, found)
    }

    /// Returns the digest of the rules and settings.
    pub fn digest(&self) -> String {
        self.replacer.finder.digest()
    }

    /// Returns what was replaced.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Remembers secrets of an event, or of the reel's own header. Returns whether one of them is new.
    fn learn_all(&mut self, seq: Option<u64>, found: Vec<Found>) -> bool {
        let mut is_new = false;
        for one in found {
            let Some(rule) = self.replacer.finder.rule(one.rule) else { continue };
            let learnt = match rule.severity {
                Severity::Low => Learnt::Before,
                _ => self.replacer.known.learn(&one.secret, one.rule),
            };
            is_new |= learnt == Learnt::New;
            if learnt == Learnt::Ordinary {
                let place = Place { seq, place: one.place, rule: rule.name.clone(), count: 1 };
                self.report.add_ordinary(place);
            }
        }
        is_new
    }

    /// The second pass over a text: reports the secrets of a line.
    pub(crate) fn count_line(&mut self, number: u64, line: &[u8]) {
        let header = line_header(number);
        self.count(&header, line);
    }

    /// Returns the numbers of the events in which a divided secret, or its pseudonym, goes on.
    pub(crate) fn continued(&self) -> &BTreeSet<u64> {
        &self.continued
    }

    /// The second pass: returns the payload of an event without its secrets.
    pub fn payload<'a>(&mut self, header: &EventHeader, payload: &'a [u8]) -> Cow<'a, [u8]> {
        let change = self.change(header, payload);
        change.map_or(Cow::Borrowed(payload), |change| Cow::Owned(self.checked(header, payload, change)))
    }

    /// Replaces what a later redaction would take for a secret in a redacted payload: the end of a pseudonym whose
    /// beginning is elsewhere, or a part of one that looks like a token by chance.
    fn checked(&self, header: &EventHeader, payload: &[u8], mut change: Change) -> Vec<u8> {
        let mut places = change.places();
        let mut redacted = change.apply(payload);
        for checker in std::iter::repeat_n(self.checker.as_ref(), MAX_CHECKS).flatten() {
            change = match checker.again(header, &redacted, places) {
                Some(change) => change,
                None => break,
            };
            places = change.places();
            redacted = change.apply(&redacted);
        }
        redacted
    }

    /// Reports the secrets of an event, and changes nothing.
    pub(crate) fn count(&mut self, header: &EventHeader, payload: &[u8]) {
        self.replacer.is_replacing = false;
        self.change(header, payload);
        self.replacer.is_replacing = true;
    }

    /// Reports what is replaced in an event, and returns how that changes its payload.
    fn change(&mut self, header: &EventHeader, payload: &[u8]) -> Option<Change> {
        let mut found = Vec::new();
        if is_unread(header, payload) {
            self.report.add_unread(header.seq);
        }
        let has_parts = self.parts.range((header.seq, 0)..=(header.seq, u32::MAX)).next().is_some();
        if !has_parts && self.clean.stays(header, payload) {
            return None;
        }
        let parts: PartsOf<'_> = &|id: TextId| self.parts.get(&id).cloned().unwrap_or_default();
        let parts = has_parts.then_some(parts);
        let change = self.replacer.payload(header, payload, parts, &mut found);
        for one in found {
            self.report_found(Some(header.seq), one);
        }
        self.report_divided(header);
        change
    }

    /// Reports the divided secrets that begin in an event.
    fn report_divided(&mut self, header: &EventHeader) {
        let texts: Vec<TextId> =
            self.parts.range((header.seq, 0)..=(header.seq, u32::MAX)).map(|part| *part.0).collect();
        for id in texts {
            for part in self.parts.remove(&id).unwrap_or_default() {
                if part.is_first && part.text.is_some() {
                    self.report_one(
                        (Some(header.seq), "divided between several events".into()),
                        part.rule,
                        part.secret,
                    );
                }
            }
        }
    }

    /// Returns a text of a report without its secrets. Of a text that was cut short, it also replaces the beginning of a
    /// secret that was learnt.
    pub(crate) fn text(&mut self, text: &str) -> String {
        let (mut edits, mut found) = (Vec::new(), Vec::new());
        let whole = text.strip_suffix(CUT_SHORT).unwrap_or(text);
        if whole.len() < text.len()
            && let Some(begun) = self.replacer.known.begun(whole.as_bytes())
        {
            edits.push(Edit { text: vec![b'x'; begun.len()], range: begun });
        }
        let rest = edits.first().map_or(text.len(), |edit: &Edit| edit.range.start);
        let before = &text.as_bytes()[..rest];
        edits.splice(..0, self.replacer.message(before, Context::at(&String::new), &|_| Vec::new(), &mut found));
        found.into_iter().for_each(|one| self.report_found(None, one));
        String::from_utf8_lossy(&applied(text.as_bytes(), &edits)).into_owned()
    }

    fn report_found(&mut self, seq: Option<u64>, found: Found) {
        self.report_one((seq, found.place), found.rule, SecretId::of(&found.secret));
    }

    fn report_one(&mut self, (seq, place): (Option<u64>, String), rule: usize, secret: SecretId) {
        let Some(rule) = self.replacer.finder.rule(rule) else { return };
        let place = self.shown(&place);
        self.report.add((seq, place), (&rule.name, rule.severity), secret);
    }

    /// Returns a place without secrets in the names of its members: each of them as in the redacted reel.
    fn shown(&self, place: &str) -> String {
        let shown = |step: &str| {
            let name = step.replace("~1", "/").replace("~0", "~");
            let edits = self.replacer.text(name.as_bytes(), Context::at(&String::new), &mut Vec::new());
            if edits.is_empty() {
                return step.to_owned();
            }
            let name = applied(name.as_bytes(), &edits);
            String::from_utf8_lossy(&name).replace('~', "~0").replace('/', "~1")
        };
        place.split('/').map(shown).collect::<Vec<String>>().join("/")
    }

    /// Returns an event as it is written to the redacted reel; its payload is that of [`Self::payload`].
    pub(crate) fn event<'a>(header: &EventHeader, original: &[u8], payload: &'a [u8]) -> NewEvent<'a> {
        let EventHeader { time, stream, exchange, kind, flags, framing, .. } = *header;
        let flags = if original == payload { flags } else { flags.with(Flags::REDACTED) };
        NewEvent { time, stream, exchange, kind, flags, framing, payload }
    }

    /// Returns the reel's own header without its secrets, and with the digest of rules and settings.
    pub fn header(&mut self, header: &FileHeader) -> FileHeader {
        if is_redacted(&header.notes, "") {
            self.keep_pseudonyms();
        }
        let mut found = Vec::new();
        let mut redacted = file_header(&self.replacer, header, &mut found);
        found.into_iter().for_each(|one| self.report_found(None, one));
        if let Some(checker) = &self.checker {
            redacted = file_header(checker, &redacted, &mut Vec::new());
        }
        redacted.notes.insert(NOTE.to_owned(), self.digest());
        // What is about this machine is not in the text.
        let text = |settings: &Settings| serde_json::to_string(settings).ok();
        let settings = text(self.replacer.finder.settings());
        if let Some(settings) = settings.filter(|settings| text(&Settings::default()).as_ref() != Some(settings)) {
            redacted.notes.insert(SETTINGS.to_owned(), settings);
        }
        redacted
    }
}

/// What searches what another replacer has replaced: pseudonyms stay, and no secret is known from elsewhere.
fn checker(replacer: &Replacer) -> Replacer {
    let mut finder = replacer.finder.clone();
    finder.take_lookalikes_as(Lookalike::Pseudonym);
    Replacer::new(finder, replacer.pseudonyms.clone())
}

/// Returns the reel's own header without its secrets.
fn file_header(replacer: &Replacer, header: &FileHeader, found: &mut Vec<Found>) -> FileHeader {
    let mut text = |text: &str, place: &str, name: Option<&str>| {
        let place = || place.to_owned();
        let own = replacer.finder.own_user_in(text.as_bytes());
        let edits = replacer.text(text.as_bytes(), Context::at(&place).named(name).giving_away(&own), found);
        String::from_utf8_lossy(&applied(text.as_bytes(), &edits)).into_owned()
    };
    let label = header.label.as_ref().map(|label| text(label, "label", None));
    let tool = text(&header.tool, "tool", None);
    let notes = header.notes.iter().filter(|(name, _)| *name != NOTE && *name != SETTINGS);
    let notes =
        notes.map(|(name, value)| (text(name, "notes", None), text(value, &format!("notes/{name}"), Some(name))));
    let notes = notes.collect();
    FileHeader { created: header.created, tool, label, notes }
}

/// Whether the notes of a reel say that it was redacted, or those of a merged one that all of its parts were.
/// `prefix` is what the names of its notes begin with.
fn is_redacted(notes: &BTreeMap<String, String>, prefix: &str) -> bool {
    let part = |number: usize| format!("{prefix}merged.{number}");
    let mut parts = (1..).map(part).take_while(|part| notes.contains_key(part)).peekable();
    notes.contains_key(&format!("{prefix}{NOTE}"))
        || parts.peek().is_some() && parts.all(|part| is_redacted(notes, &format!("{part}.")))
}

/// The header of a line of a text that is no recording.
fn line_header(number: u64) -> EventHeader {
    let line = NewEvent {
        time: 0,
        stream: 0,
        exchange: 0,
        kind: EventKind::Stderr,
        flags: Flags::default(),
        framing: Framing::Whole,
        payload: b"",
    };
    EventHeader { seq: number, ..header_of(&line) }
}

fn header_of(event: &NewEvent<'_>) -> EventHeader {
    let NewEvent { time, stream, exchange, kind, flags, framing, payload } = *event;
    let (len, message) = (u32::try_from(payload.len()).unwrap_or(u32::MAX), None);
    EventHeader { seq: 0, time, stream, exchange, kind, flags, framing, len, offset: 0, message }
}

/// Whether a message is the end of one that was too long to be joined.
fn continues_fragment(header: &EventHeader) -> bool {
    header.flags.has(Flags::TRUNCATED)
}

/// Returns the id of the stream of texts that a notification belongs to, if it has one.
fn stream_id(params: &[u8]) -> Option<&[u8]> {
    ["progressToken", "inferenceId", "streamId", "requestId", "itemId"]
        .iter()
        .find_map(|name| json::first_member(params, name))
}

fn step_text<'a>(step: &'a Step, text: &'a [u8]) -> &'a [u8] {
    match step {
        Step::Member(name) => text.get(name.clone()).unwrap_or_default(),
        Step::Item(_) => b"[]",
    }
}

fn lane(header: &EventHeader, kind: &[&str], path: &[&[u8]]) -> LaneKey {
    let mut hasher = DefaultHasher::new();
    (header.stream, header.flags.has(Flags::SERVER_TO_CLIENT), kind, path).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod tests;
