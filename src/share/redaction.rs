//! Redacts a reel in two passes: the first one learns its secrets, the second one replaces them.
//!
//! Without the first pass, which a recorder cannot make, secrets are found only where something tells what they are, and
//! only if they are in one piece.

use super::clean::Clean;
use super::event::{Change, PartsOf, is_unread};
use super::json_text::{SpotKind, Step, walk};
use super::known::{Known, Learnt};
use super::lanes::{Joint, LaneKey, Lanes, Parts, Search, TextId};
use super::layers::{Context, Found, Replacer};
use super::mapped::{Edit, Mapped, applied};
use super::report::{Place, Report, SecretId};
use crate::redact::detectors::Severity;
use crate::redact::{Finder, Lookalike, Pseudonyms, Settings};
use crate::trace::{Event, EventHeader, EventKind, FileHeader, Flags, NewEvent};
use crate::wire::{Framing, json};
use std::borrow::Cow;
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

/// The redaction of one reel.
pub struct Redaction {
    replacer: Replacer,
    /// What searches a redacted payload as a later redaction would; `None` if there will be none.
    checker: Option<Replacer>,
    shapes: Finder,
    lanes: Lanes,
    parts: Parts,
    /// The events in which a divided secret goes on.
    continued: BTreeSet<u64>,
    report: Report,
}

impl Redaction {
    /// Prepares the redaction of a reel. The same key gives the same pseudonyms.
    ///
    /// # Errors
    ///
    /// If the settings are not valid: a sentence that names the wrong one.
    pub fn new(settings: &Settings, key: &[u8]) -> Result<Self, String> {
        let replacer = Replacer {
            finder: Finder::new(settings)?,
            pseudonyms: Pseudonyms::new(key),
            known: Known::default(),
            clean: Clean::default(),
        };
        let shapes = Finder::of_shapes(settings)?;
        let checker = Some(checker(&replacer));
        Ok(Self {
            replacer,
            checker,
            shapes,
            lanes: Lanes::default(),
            parts: Parts::default(),
            continued: BTreeSet::new(),
            report: Report::default(),
        })
    }

    /// Prepares the comparison of messages with those of a redacted reel: see [`Self::comparable`].
    ///
    /// # Errors
    ///
    /// If the settings are not valid: a sentence that names the wrong one.
    pub(crate) fn comparing(settings: &Settings) -> Result<Self, String> {
        let mut made = Self::new(settings, b"")?;
        made.replacer.finder.take_lookalikes_as(Lookalike::StandIn);
        made.replacer.pseudonyms = Pseudonyms::alike();
        made.checker = None;
        Ok(made)
    }

    /// Takes what looks like a pseudonym for one, which stays: in texts that may come from a redacted reel.
    #[must_use]
    pub fn keeping_pseudonyms(mut self) -> Self {
        self.keep_pseudonyms();
        self
    }

    fn keep_pseudonyms(&mut self) {
        self.replacer.finder.take_lookalikes_as(Lookalike::Pseudonym);
        self.shapes.take_lookalikes_as(Lookalike::Pseudonym);
        self.replacer.clean.clear();
    }

    /// Only the header of a reel says that what looks like a pseudonym is one. Everyone can choose such a password.
    fn keep_pseudonyms_of(&mut self, header: &FileHeader) {
        if is_redacted(&header.notes, "") {
            self.keep_pseudonyms();
        }
    }

    /// Returns the settings with which the reel of this header was redacted; `None` if it was not.
    pub(crate) fn settings_of(header: &FileHeader) -> Option<Settings> {
        header.notes.get(NOTE)?;
        let stored = header.notes.get(SETTINGS).and_then(|text| serde_json::from_str(text).ok());
        Some(stored.unwrap_or_default())
    }

    /// Returns a message in which secrets and pseudonyms are replaced alike. A secret is also found where nothing tells
    /// what it is, if this message or one before contains it where something does.
    pub(crate) fn comparable(&mut self, message: &[u8]) -> Vec<u8> {
        let (edits, found) = self.edits(message);
        if !self.learn_all(None, found) {
            return applied(message, &edits);
        }
        self.replacer.known.end();
        self.replacer.clean.clear();
        applied(message, &self.edits(message).0)
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

    /// The first pass: learns the secrets of an event.
    pub fn learn(&mut self, event: &Event<'_>) {
        let mut found = Vec::new();
        self.replacer.payload(event.header, event.payload, None, &mut found);
        self.learn_all(Some(event.header.seq), found);
        self.join(event);
    }

    /// The first pass: learns the secrets of the reel's own header.
    pub fn learn_header(&mut self, header: &FileHeader) {
        self.keep_pseudonyms_of(header);
        let mut found = Vec::new();
        file_header(&self.replacer, header, &mut found);
        self.learn_all(None, found);
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

    /// Prepares the search of a text that is no recording: its lines take the place of events.
    #[must_use]
    pub(crate) fn of_text(self) -> Self {
        let mut made = self.keeping_pseudonyms();
        made.report.is_text = true;
        made
    }

    /// The first pass over a text: learns the secrets of a line.
    pub(crate) fn learn_line(&mut self, number: u64, line: &[u8]) {
        self.learn(&Event { header: &line_header(number), payload: line });
    }

    /// The second pass over a text: reports the secrets of a line.
    pub(crate) fn count_line(&mut self, number: u64, line: &[u8]) {
        self.payload(&line_header(number), line);
    }

    /// Ends the first pass.
    pub fn end_learning(&mut self) {
        let pseudonym = |secret: &[u8], rule: usize| self.replacer.pseudonym(secret, rule);
        self.lanes.end(&Search { shapes: &self.shapes, all: &self.replacer.finder, pseudonym: &pseudonym });
        self.parts = std::mem::take(&mut self.lanes.parts);
        let goes_on = self.parts.iter().filter(|(_, parts)| parts.iter().any(|part| !part.is_first));
        self.continued = goes_on.map(|(id, _)| id.0).collect();
        self.replacer.known.end();
        self.replacer.clean.clear();
        for place in std::mem::take(&mut self.report.ordinary_places) {
            let shown = self.shown(&place.place);
            self.report.ordinary_places.push(Place { place: shown, ..place });
        }
    }

    /// Returns the numbers of the events in which a divided secret, or its pseudonym, goes on.
    pub(crate) fn continued(&self) -> &BTreeSet<u64> {
        &self.continued
    }

    /// Adds the texts of an event to the lanes in which a secret may be divided.
    fn join(&mut self, event: &Event<'_>) {
        let header = event.header;
        let pseudonym = |secret: &[u8], rule: usize| self.replacer.pseudonym(secret, rule);
        let search = Search { shapes: &self.shapes, all: &self.replacer.finder, pseudonym: &pseudonym };
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

    /// The second pass: returns the payload of an event without its secrets.
    pub fn payload<'a>(&mut self, header: &EventHeader, payload: &'a [u8]) -> Cow<'a, [u8]> {
        let change = self.change(header, payload);
        self.report_divided(header);
        if is_unread(header, payload) {
            self.report.add_unread(header.seq);
        }
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
        self.change(header, payload);
    }

    /// Reports what is replaced in an event, and returns how that changes its payload.
    fn change(&mut self, header: &EventHeader, payload: &[u8]) -> Option<Change> {
        let mut found = Vec::new();
        let parts: PartsOf<'_> = &|id: TextId| self.parts.get(&id).cloned().unwrap_or_default();
        let parts = (!self.parts.is_empty()).then_some(parts);
        let change = self.replacer.payload(header, payload, parts, &mut found);
        for one in found {
            self.report_found(Some(header.seq), one);
        }
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

    /// Learns the secrets of an event that is about to be written.
    pub(crate) fn learn_new(&mut self, event: &NewEvent<'_>) {
        self.learn(&Event { header: &header_of(event), payload: event.payload });
    }

    /// Redacts an event while it is recorded. Secrets that events before it gave away, or this one elsewhere, are replaced,
    /// too. Returns its flags and its payload.
    pub(crate) fn single<'a>(&mut self, event: &NewEvent<'a>) -> (Flags, Cow<'a, [u8]>) {
        let (header, mut found) = (header_of(event), Vec::new());
        let mut change = self.replacer.payload(&header, event.payload, None, &mut found);
        if self.learn_all(None, found) {
            self.replacer.known.go_on();
            self.replacer.clean.clear();
            change = self.replacer.payload(&header, event.payload, None, &mut Vec::new());
        }
        let redacted = change
            .map_or(Cow::Borrowed(event.payload), |change| Cow::Owned(self.checked(&header, event.payload, change)));
        (Self::event(&header, event.payload, &redacted).flags, redacted)
    }

    /// Returns the reel's own header without its secrets, and with the digest of rules and settings.
    pub fn header(&mut self, header: &FileHeader) -> FileHeader {
        self.keep_pseudonyms_of(header);
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
    Replacer {
        finder,
        pseudonyms: replacer.pseudonyms.clone(),
        known: Known::default(),
        clean: Clean::default(),
    }
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
mod tests;
