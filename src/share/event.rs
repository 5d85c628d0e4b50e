//! Finds the places of an event where a secret may be, whatever its kind.

use super::compressed::Opened;
use super::lanes::{Part, TextId};
use super::layers::{Context, Found, Replacer};
use super::mapped::{Edit, Mapped, applied};
use super::report::SecretId;
use super::touched::Touched;
use crate::redact::{Kind, REDACTED, redact_arguments, redact_header_keeping, redact_target, redact_url};
use crate::trace::{EventHeader, EventKind, description_as};
use crate::wire::{Framing, json};
use ciborium::Value;
use std::ops::Range;

/// The number of the rule for values that are recognised by their names.
const BY_NAME: usize = 0;

/// As much of a long text around a pseudonym decides what that looks like. Unit: bytes.
const NEAR: usize = 16 << 10;

/// Parts of divided secrets: those of one text.
pub(super) type PartsOf<'a> = &'a dyn Fn(TextId) -> Vec<Part>;

/// How a payload changes.
pub(super) enum Change {
    /// Parts of it are replaced.
    Edits(Vec<Edit>),
    /// Parts of a message are replaced, the length of which stands before it. The message begins at this place.
    EditsWithLength(Vec<Edit>, usize),
    /// All of it is replaced.
    Whole(Vec<u8>),
}

impl Change {
    fn of(edits: Vec<Edit>) -> Option<Self> {
        (!edits.is_empty()).then_some(Self::Edits(edits))
    }

    /// Returns where something was replaced, in the changed payload; `None` if that may be anywhere.
    pub(super) fn places(&self) -> Option<Vec<Range<usize>>> {
        let Self::Edits(edits) = self else { return None };
        let (mut places, mut shift) = (Vec::new(), 0isize);
        for edit in edits {
            let start = edit.range.start.saturating_add_signed(shift);
            places.push(start..start + edit.text.len());
            shift += edit.text.len() as isize - edit.range.len() as isize;
        }
        Some(places)
    }

    /// Returns the changed payload.
    pub(super) fn apply(self, payload: &[u8]) -> Vec<u8> {
        match self {
            Self::Edits(edits) => applied(payload, &edits),
            Self::EditsWithLength(edits, start) => with_length(applied(payload, &edits), start),
            Self::Whole(payload) => payload,
        }
    }
}

impl Replacer {
    /// Returns how the payload of an event changes; `None` if nothing was found. `parts` are those of divided secrets, if
    /// there are any.
    pub(super) fn payload(
        &self,
        header: &EventHeader,
        payload: &[u8],
        parts: Option<PartsOf<'_>>,
        found: &mut Vec<Found>,
    ) -> Option<Change> {
        if let (EventKind::Message, Some(opened)) = (header.kind, Opened::of(payload)) {
            self.has_hidden.set(true);
            let edits = self.message(&opened.text, Context::at(&String::new), &|_| Vec::new(), found);
            let redacted = applied(&opened.text, &edits);
            return if edits.is_empty() { None } else { opened.compress(&redacted).ok().map(Change::Whole) };
        }
        if !matches!(header.kind, EventKind::Message | EventKind::Stderr) {
            return self.map(payload, found);
        }
        let own = |text: u32| parts.map(|parts| parts((header.seq, text))).unwrap_or_default();
        match (header.kind, header.framing) {
            (EventKind::Message, Framing::Fragment) => Change::of(self.whole("message", payload, &own(0), found)),
            (EventKind::Message, framing) => self.framed(framing, payload, None, &own, found),
            _ => Change::of(self.whole("stderr", payload, &own(0), found)),
        }
    }

    /// Returns how a payload changes in which something was replaced at these places; what they do not touch is as it was.
    pub(super) fn again(
        &self,
        header: &EventHeader,
        payload: &[u8],
        places: Option<Vec<Range<usize>>>,
    ) -> Option<Change> {
        let (places, mut found) = (places.filter(|_| Opened::of(payload).is_none()), Vec::new());
        match (header.kind, header.framing, places) {
            (EventKind::Stderr, _, Some(places)) | (EventKind::Message, Framing::Fragment, Some(places)) => {
                Change::of(self.around(payload, &places))
            }
            (EventKind::Message, framing, Some(places)) => {
                let touched = Touched::at(places.iter().map(|place| place.start).collect());
                self.framed(framing, payload, Some(&touched), &|_| Vec::new(), &mut found)
            }
            _ => self.payload(header, payload, None, &mut found),
        }
    }

    /// Returns the edits of a text that touch these places. What is farther away decides nothing.
    fn around(&self, text: &[u8], places: &[Range<usize>]) -> Vec<Edit> {
        let mut near: Vec<Range<usize>> = Vec::new();
        for place in places {
            let (start, end) = (place.start.saturating_sub(NEAR), text.len().min(place.end + NEAR));
            match near.last_mut().filter(|last| last.end >= start) {
                Some(last) => last.end = end.max(last.end),
                None => near.push(start..end),
            }
        }
        let edits = |part: Range<usize>| {
            let inner = self.text(&text[part.clone()], Context::at(&String::new), &mut Vec::new());
            inner.into_iter().map(move |edit| {
                let range = edit.range.start + part.start..edit.range.end + part.start;
                Edit { range, ..edit }
            })
        };
        let touches = |edit: &Edit| {
            let first = places.partition_point(|place| place.end < edit.range.start);
            places.get(first).is_some_and(|place| place.start <= edit.range.end)
        };
        near.into_iter().flat_map(edits).filter(touches).collect()
    }

    fn whole(&self, place: &str, text: &[u8], parts: &[Part], found: &mut Vec<Found>) -> Vec<Edit> {
        let place = || place.to_owned();
        self.text(text, Context::at(&place).with_parts(parts), found)
    }

    /// A message in its frame.
    fn framed(
        &self,
        framing: Framing,
        payload: &[u8],
        only: Option<&Touched>,
        parts: &dyn Fn(u32) -> Vec<Part>,
        found: &mut Vec<Found>,
    ) -> Option<Change> {
        let body = framing.body(payload);
        let start = (body.as_ptr() as usize).saturating_sub(payload.as_ptr() as usize).min(payload.len());
        let end = (start + body.len()).min(payload.len());
        let root = || String::new();
        let inside = only.map(|only| only.within(&(start..end)));
        let context = Context::at(&root).only_at(inside.as_ref());
        let mut edits: Vec<Edit> = Vec::new();
        if framing == Framing::Sse {
            edits.extend(self.whole("sse", &payload[..start], &[], found));
        }
        let shift = |by: usize| move |edit: Edit| Edit { range: edit.range.start + by..edit.range.end + by, ..edit };
        edits.extend(self.message(body, context, parts, found).into_iter().map(shift(start)));
        if framing == Framing::Sse {
            edits.extend(self.whole("sse", &payload[end..], &[], found).into_iter().map(shift(end)));
        }
        match framing {
            Framing::ContentLength if !edits.is_empty() => Some(Change::EditsWithLength(edits, start)),
            _ => Change::of(edits),
        }
    }

    /// An event that is described by a CBOR map.
    fn map(&self, payload: &[u8], found: &mut Vec<Found>) -> Option<Change> {
        let Some(mut value) = description_as(payload) else {
            return Change::of(self.whole("payload", payload, &[], found));
        };
        if !self.value(&mut value, "", "", found) {
            return None;
        }
        let mut out = Vec::new();
        ciborium::into_writer(&value, &mut out).ok()?;
        Some(Change::Whole(out))
    }

    /// Redacts a value. Returns whether that changed it.
    fn value(&self, value: &mut Value, name: &str, place: &str, found: &mut Vec<Found>) -> bool {
        match value {
            Value::Text(text) => self.named_text(text, name, place, found),
            Value::Map(members) => members.iter_mut().fold(false, |changed, (key, value)| {
                let name = key.as_text().unwrap_or_default().to_owned();
                self.member(&name, value, &format!("{place}/{name}"), found) || changed
            }),
            Value::Array(items) => items
                .iter_mut()
                .enumerate()
                .fold(false, |changed, (at, item)| self.value(item, name, &format!("{place}/{at}"), found) || changed),
            _ => false,
        }
    }

    fn member(&self, name: &str, value: &mut Value, place: &str, found: &mut Vec<Found>) -> bool {
        match (name, value) {
            ("headers", Value::Array(pairs)) => pairs.iter_mut().fold(false, |changed, pair| {
                let Value::Array(pair) = pair else { return changed };
                let [Value::Text(name), Value::Text(value)] = &mut pair[..] else { return changed };
                let place = format!("{place}/{name}");
                self.header(name, value, &place, found) || changed
            }),
            ("command", Value::Array(words)) => self.command(words, place, found),
            (_, value) => self.value(value, name, place, found),
        }
    }

    fn header(&self, name: &str, value: &mut String, place: &str, found: &mut Vec<Found>) -> bool {
        let redacted = match self.finder.is_secret_header(name) {
            true => REDACTED.to_owned(),
            false => redact_header_keeping(name, value, self.finder.keeps_pseudonyms()).into_owned(),
        };
        let place = || place.to_owned();
        self.replace(value, &redacted, Context::at(&place).named(Some(name)), found)
    }

    fn command(&self, words: &mut [Value], place: &str, found: &mut Vec<Found>) -> bool {
        let texts: Vec<String> = words.iter().map(|word| word.as_text().unwrap_or_default().to_owned()).collect();
        let redacted = redact_arguments(&texts);
        words.iter_mut().zip(redacted).enumerate().fold(false, |changed, (at, (word, redacted))| match word {
            Value::Text(text) => {
                let place = || format!("{place}/{at}");
                let own = self.finder.own_user_in(text.as_bytes());
                self.replace(text, &redacted, Context::at(&place).giving_away(&own), found) || changed
            }
            _ => changed,
        })
    }

    fn named_text(&self, text: &mut String, name: &str, place: &str, found: &mut Vec<Found>) -> bool {
        let redacted = match name {
            "url" | "listen" => redact_url(text),
            "target" => redact_target(text),
            "block" => return self.sse_block(text, place, found),
            _ => text.clone(),
        };
        let place = || place.to_owned();
        self.replace(text, &redacted, Context::at(&place).named(Some(name)), found)
    }

    /// Redacts a text of which a version without its secrets is known; what that version leaves out is one.
    fn replace(&self, text: &mut String, redacted: &str, context: Context<'_>, found: &mut Vec<Found>) -> bool {
        let mut parts = Vec::new();
        for range in gaps(text, redacted) {
            let secret = &text.as_bytes()[range.clone()];
            let id = SecretId::of(secret);
            if self.finder.stays(secret, Kind::Password) {
                parts.push(Part { range, text: None, rule: BY_NAME, is_first: true, secret: id });
            } else if !self.is_token(secret) {
                let rule = self.known.rule_of(secret).unwrap_or(BY_NAME);
                found.push(Found { rule, place: (context.place)(), secret: secret.to_vec() });
                parts.push(Part {
                    text: Some(self.replacement(secret, rule)),
                    range,
                    rule,
                    is_first: true,
                    secret: id,
                });
            }
        }
        let edits = self.text(text.as_bytes(), context.with_parts(&parts), found);
        self.apply(text, &edits)
    }

    /// Whether a detector finds all of a secret, but for a prefix such as `ghp_`.
    fn is_token(&self, secret: &[u8]) -> bool {
        match &self.finder.find(secret)[..] {
            [one] => {
                let before = &secret[..one.range.start];
                one.range.end == secret.len() && !before.iter().any(|byte| b" ;,=&\t".contains(byte))
            }
            _ => false,
        }
    }

    fn apply(&self, text: &mut String, edits: &[Edit]) -> bool {
        if edits.is_empty() {
            return false;
        }
        *text = String::from_utf8_lossy(&applied(text.as_bytes(), edits)).into_owned();
        true
    }

    /// A server-sent event, whose data may be JSON on several lines.
    fn sse_block(&self, block: &mut String, place: &str, found: &mut Vec<Found>) -> bool {
        let at = || place.to_owned();
        let data = data_lines(block.as_bytes());
        let joined = Mapped::joined(block.as_bytes(), &data);
        let is_json = json::check(&joined.text).is_ok();
        if !is_json {
            let edits = self.text(block.as_bytes(), Context::at(&at), found);
            return self.apply(block, &edits);
        }
        let edits = self.message(&joined.text, Context::at(&at), &|_| Vec::new(), found);
        let mut edits: Vec<Edit> = edits.into_iter().map(|edit| joined.original(edit, <[u8]>::to_vec)).collect();
        // Not the data again: there, the letter of an escape looks like a part of the pseudonym behind it.
        for line in beside(&data, block.len()) {
            let shifted =
                |edit: Edit| Edit { range: edit.range.start + line.start..edit.range.end + line.start, ..edit };
            let inner = self.text(&block.as_bytes()[line.clone()], Context::at(&at), found);
            edits.extend(inner.into_iter().map(shifted));
        }
        edits.sort_by_key(|edit| edit.range.start);
        self.apply(block, &edits)
    }
}

/// Returns whether the payload of an event is data that is not looked into: it is neither text nor compressed text.
pub(super) fn is_unread(header: &EventHeader, payload: &[u8]) -> bool {
    let is_control = |byte: &u8| *byte < 0x20 && !byte.is_ascii_whitespace() && *byte != 0x1b;
    header.kind == EventKind::Message
        && std::str::from_utf8(payload).is_err()
        && payload.iter().any(is_control)
        && Opened::of(payload).is_none()
}

/// Returns the places of the values of `data` lines.
fn data_lines(block: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in block.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
        if let Some(rest) = line.strip_prefix(b"data:") {
            let space = usize::from(rest.first() == Some(&b' '));
            let end = start + line.trim_ascii_end().len();
            found.push((start + 5 + space).min(end)..end);
        }
        start += line.len();
    }
    found
}

/// Returns what lies between these ranges of a text, and before and after them.
fn beside(ranges: &[Range<usize>], length: usize) -> impl Iterator<Item = Range<usize>> {
    let starts = std::iter::once(0).chain(ranges.iter().map(|range| range.end));
    let ends = ranges.iter().map(|range| range.start).chain([length]);
    starts.zip(ends).map(|(start, end)| start..end).filter(|range| !range.is_empty())
}

/// Returns the places of a text that another version of it leaves out: what stands there in place of [`REDACTED`].
fn gaps(text: &str, redacted: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut pieces = redacted.split(REDACTED).peekable();
    let Some(first) = pieces.next() else { return found };
    if text == redacted || !text.starts_with(first) {
        return found;
    }
    let mut at = first.len();
    while let Some(piece) = pieces.next() {
        let is_last = pieces.peek().is_none();
        let rest = text.get(at..).unwrap_or_default();
        let length = match (piece, is_last) {
            (_, true) => rest.strip_suffix(piece).map(str::len),
            ("", _) => Some(0),
            (piece, _) => rest.find(piece),
        };
        let Some(length) = length else { return found };
        found.push(at..at + length);
        at += length + piece.len();
    }
    found
}

/// Corrects the length in the header block of a message.
fn with_length(payload: Vec<u8>, body_start: usize) -> Vec<u8> {
    let (head, body) = payload.split_at(body_start.min(payload.len()));
    let text = String::from_utf8_lossy(head);
    let lines = text.split_inclusive('\n').map(|line| match line.split_once(':') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("content-length") => {
            let end = &value[value.trim_end().len()..];
            let space = &value[..value.len() - value.trim_start().len()];
            format!("{name}:{space}{}{end}", body.len())
        }
        _ => line.to_owned(),
    });
    let mut out = lines.collect::<String>().into_bytes();
    out.extend_from_slice(body);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_what_the_other_version_leaves_out() {
        let shown = |text: &str, redacted: &str| -> Vec<String> {
            gaps(text, redacted).into_iter().map(|range| text[range].to_owned()).collect()
        };
        assert_eq!(shown("Bearer abc", "Bearer [redacted]"), ["abc"]);
        assert_eq!(shown("/x?a=1&code=k&b=2&sig=z", "/x?a=1&code=[redacted]&b=2&sig=[redacted]"), ["k", "z"]);
        assert_eq!(shown("a [redacted]", "a [redacted]"), [""; 0]);
        assert_eq!(shown("abc", "abc"), [""; 0]);
    }

    #[test]
    fn a_declared_length_is_corrected() {
        let payload = b"Content-Length: 3\r\nX: y\r\n\r\n[10]".to_vec();
        let start = payload.len() - 4;
        assert_eq!(with_length(payload, start), b"Content-Length: 4\r\nX: y\r\n\r\n[10]");
    }

    #[test]
    fn data_lines_are_found_with_any_line_end() {
        let block = b"id: 1\r\ndata: a\rdata:b\n\n";
        let shown: Vec<&[u8]> = data_lines(block).into_iter().map(|range| &block[range]).collect();
        assert_eq!(shown, [&b"a"[..], b"b"]);
    }
}
