//! Reads a file unit by unit, and turns the units into events. Formats say what a unit means.

use super::{ImportError, Importer};
use crate::trace::described::payload;
use crate::trace::{EventKind, FileHeader, Flags, Gap, NewEvent};
use crate::wire::{Direction, Framing, json};
use jiff::Timestamp;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, Read};

/// The maximum length of a unit, in bytes.
pub(super) const MAX_UNIT_BYTES: u64 = 1 << 30;

/// A unit of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit<'a> {
    /// The path of the member of a JSON document, with dots; empty for a line, and for an item of the document's list.
    pub key: &'a str,
    /// Its text.
    pub text: &'a [u8],
}

/// What was read.
pub(super) enum Next<'a> {
    /// A unit.
    Unit(Unit<'a>),
    /// What cannot be read, and why.
    Malformed(String),
    /// The end of the file.
    End,
}

/// Divides a file into units.
pub(super) trait Units: Send {
    /// Reads the next unit. Returns it with the number of its first line.
    ///
    /// # Errors
    /// Reading failed.
    fn next(&mut self) -> Result<(u64, Next<'_>), ImportError>;
}

/// What the units of a format mean.
pub(super) trait Format: Send {
    /// Turns a unit into events.
    ///
    /// # Errors
    /// The unit is malformed: what is wrong with it. It has added no events.
    fn take(&mut self, unit: Unit<'_>, out: &mut Events) -> Result<(), String>;

    /// Adds what only the end of the file shows.
    fn end(&mut self, _out: &mut Events) {}
}

/// The lines of a file, without blank ones.
pub(super) struct Lines<R> {
    input: R,
    line: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, line: Vec::new(), number: 0 }
    }

    /// Reads the next line, with its end. Returns `None` at the end of the file.
    pub(super) fn next_with_end(&mut self) -> Result<Option<(u64, &[u8])>, ImportError> {
        self.line.clear();
        let length = Read::take(&mut self.input, MAX_UNIT_BYTES).read_until(b'\n', &mut self.line)?;
        self.number += 1;
        if length as u64 >= MAX_UNIT_BYTES {
            return Err(ImportError::Line { line: self.number, reason: "longer than 1 GiB".to_owned() });
        }
        Ok((length > 0).then_some((self.number, &self.line)))
    }
}

impl<R: BufRead + Send> Units for Lines<R> {
    fn next(&mut self) -> Result<(u64, Next<'_>), ImportError> {
        // Blank lines are skipped.
        while self.next_with_end()?.is_some_and(|(_, line)| line.trim_ascii().is_empty()) {}
        if self.line.is_empty() {
            return Ok((self.number, Next::End));
        }
        let text = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let text = text.strip_prefix(b"\xef\xbb\xbf").filter(|_| self.number == 1).unwrap_or(text);
        Ok((self.number, Next::Unit(Unit { key: "", text })))
    }
}

/// An event that is ready, with its own payload.
#[derive(Debug)]
struct Ready {
    time: i64,
    place: Place,
    kind: EventKind,
    flags: Flags,
    framing: Framing,
    payload: Vec<u8>,
}

/// The stream and the exchange of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub stream: u32,
    pub exchange: u32,
}

/// Collects the events of a file.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// What the reel says about itself. It counts as it is when the first event is ready.
    pub header: FileHeader,
    /// The time of the events that follow, in Unix nanoseconds, if it is known.
    time: Option<i64>,
    /// Whether `header.created` was set.
    has_begun: bool,
    ready: VecDeque<Ready>,
    /// Events that an earlier one may still come before, by time and order.
    held: BTreeMap<(i64, u64), Ready>,
    held_bytes: u64,
    /// How many were held so far.
    count: u64,
    /// Whether events are held until [`Events::release`].
    pub holds: bool,
}

/// Held events take at most this number of bytes; beyond it, the oldest are released.
const MAX_HELD_BYTES: u64 = 256 << 20;

impl Events {
    /// Sets when the recording began, in Unix nanoseconds. Events have this time until another one is set.
    pub(super) fn begin(&mut self, time: i64) {
        if !self.has_begun {
            self.header.created = time;
            self.has_begun = true;
        }
        self.time.get_or_insert(time);
    }

    /// Returns when the recording began.
    pub(super) fn begun(&self) -> i64 {
        self.header.created
    }

    /// Sets the time of the events that follow, in Unix nanoseconds.
    pub(super) fn at(&mut self, time: i64) {
        if !self.has_begun {
            self.begin(time);
        }
        self.time = Some(time);
    }

    /// Returns the time of the latest events.
    pub(super) fn time(&self) -> Option<i64> {
        self.time
    }

    /// Writes down in the reel's header what the file says.
    pub(super) fn note(&mut self, name: &str, value: impl Into<String>) {
        self.header.notes.insert(name.to_owned(), value.into());
    }

    /// Writes down the user's name for the recording.
    pub(super) fn label(&mut self, label: impl Into<String>) {
        self.header.label = Some(label.into());
    }

    /// Adds a message.
    pub(super) fn message(&mut self, place: Place, direction: Direction, framing: Framing, payload: Vec<u8>) {
        self.push(place, EventKind::Message, Flags::toward(direction), framing, payload);
    }

    /// Adds text of the server's standard error.
    pub(super) fn stderr(&mut self, place: Place, line: &[u8]) {
        let payload = [line.strip_suffix(b"\n").unwrap_or(line), b"\n"].concat();
        let flags = Flags::toward(Direction::ServerToClient);
        self.push(place, EventKind::Stderr, flags, Framing::Whole, payload);
    }

    /// Adds an event that is described by a map.
    pub(super) fn describe(&mut self, place: Place, kind: EventKind, flags: Flags, described: &impl Serialize) {
        // Events about a whole stream belong to no exchange.
        let is_about_stream = matches!(kind, EventKind::StreamOpened | EventKind::StreamClosed);
        let exchange = if is_about_stream { 0 } else { place.exchange };
        self.push(Place { exchange, ..place }, kind, flags, Framing::Whole, payload(described));
    }

    /// Adds an event of any kind.
    pub(super) fn push(&mut self, place: Place, kind: EventKind, flags: Flags, framing: Framing, payload: Vec<u8>) {
        let time = self.time.unwrap_or(self.header.created);
        let ready = Ready { time, place, kind, flags, framing, payload };
        if !self.holds {
            return self.ready.push_back(ready);
        }
        self.held_bytes += ready.payload.len() as u64;
        self.held.insert((time, self.count), ready);
        self.count += 1;
        while self.held_bytes > MAX_HELD_BYTES && self.held.len() > 1 {
            self.release_first();
        }
    }

    /// Releases held events: no event before this time will be added.
    pub(super) fn release(&mut self, until: i64) {
        while self.held.first_key_value().is_some_and(|((time, _), _)| *time < until) {
            self.release_first();
        }
    }

    fn release_first(&mut self) {
        if let Some((_, ready)) = self.held.pop_first() {
            self.held_bytes -= ready.payload.len() as u64;
            self.ready.push_back(ready);
        }
    }

    /// Adds a gap for what the recorder of the file left out.
    pub(super) fn lose(&mut self, reason: &str) {
        self.describe(Place::default(), EventKind::Gap, Flags::default(), &Gap::because(reason));
    }

    /// Whether an event is ready that is not a gap.
    fn has_begun_well(&self) -> bool {
        self.ready.iter().any(|ready| ready.kind != EventKind::Gap)
    }

    /// Adds a gap for a part of the file that cannot be read.
    fn skip(&mut self, line: u64, reason: &str) {
        self.describe(Place::default(), EventKind::Gap, Flags::default(), &super::unreadable(line, reason));
    }
}

/// Reads a file in a format.
pub(super) struct Reader<U, F> {
    units: U,
    format: F,
    events: Events,
    header: FileHeader,
    payload: Vec<u8>,
    has_ended: bool,
}

impl<U: Units, F: Format> Reader<U, F> {
    /// Reads up to the first event that is not a gap.
    ///
    /// # Errors
    /// Reading failed, or nothing in the file is of the format.
    pub(super) fn open(units: U, format: F, name: &str) -> Result<Self, ImportError> {
        let events = Events::default();
        let mut reader =
            Self { units, format, events, header: FileHeader::default(), payload: Vec::new(), has_ended: false };
        reader.events.header.tool = name.to_owned();
        reader.events.note("imported from", name);
        let mut first_problem = None;
        while !reader.has_ended && !reader.events.has_begun_well() {
            let problem = reader.step()?;
            first_problem = first_problem.or(problem);
        }
        if !reader.events.has_begun_well() {
            let (line, reason) = first_problem.unwrap_or_else(|| (1, "the file is empty".to_owned()));
            return Err(ImportError::Line { line, reason });
        }
        if reader.events.time.is_none() {
            reader.events.header.mark_without_times();
        }
        reader.header = reader.events.header.clone();
        Ok(reader)
    }

    /// Reads a unit. Returns its line and what is wrong with it, if it is malformed.
    fn step(&mut self) -> Result<Option<(u64, String)>, ImportError> {
        let (line, next) = self.units.next()?;
        let problem = match next {
            Next::Unit(unit) => self.format.take(unit, &mut self.events).err(),
            Next::Malformed(reason) => Some(reason),
            Next::End => {
                self.has_ended = true;
                self.format.end(&mut self.events);
                self.events.release(i64::MAX);
                None
            }
        };
        if let Some(reason) = &problem {
            self.events.skip(line, reason);
        }
        Ok(problem.map(|reason| (line, reason)))
    }
}

impl<U: Units, F: Format> Importer for Reader<U, F> {
    fn header(&self) -> &FileHeader {
        &self.header
    }

    fn next_event(&mut self) -> Result<Option<NewEvent<'_>>, ImportError> {
        while self.events.ready.is_empty() && !self.has_ended {
            self.step()?;
        }
        let Some(Ready { time, place, kind, flags, framing, payload }) = self.events.ready.pop_front() else {
            return Ok(None);
        };
        self.payload = payload;
        let time = time.saturating_sub(self.header.created);
        let Place { stream, exchange } = place;
        Ok(Some(NewEvent { time, stream, exchange, kind, flags, framing, payload: &self.payload }))
    }
}

/// Returns a JSON value as it can stand on a line: as it is, or without the white space between its tokens.
pub(super) fn on_one_line(text: &[u8]) -> Vec<u8> {
    if memchr::memchr2(b'\n', b'\r', text).is_none() {
        return text.to_vec();
    }
    let (mut at, mut out) = (0, Vec::with_capacity(text.len()));
    while at < text.len() {
        let start = at;
        at = match text[at] {
            b'"' => json::skip_string(text, at + 1).unwrap_or(text.len()),
            _ => at + 1,
        };
        if !text[start].is_ascii_whitespace() {
            out.extend_from_slice(&text[start..at]);
        }
    }
    out
}

/// Converts RFC 3339 to Unix nanoseconds.
///
/// # Errors
/// The text is not RFC 3339.
pub(super) fn rfc3339(text: &str) -> Result<i64, String> {
    let time = text.parse::<Timestamp>().ok().and_then(|time| i64::try_from(time.as_nanosecond()).ok());
    time.ok_or_else(|| format!("cannot read the time {text:?}"))
}

/// Converts a date and time without a zone to Unix nanoseconds, as if it were UTC; RFC 3339 is accepted, too.
///
/// # Errors
/// The text is neither.
pub(super) fn without_zone(text: &str) -> Result<i64, String> {
    let civil = text.parse::<jiff::civil::DateTime>().ok();
    let zoned = civil.and_then(|civil| civil.to_zoned(jiff::tz::TimeZone::UTC).ok());
    match zoned.and_then(|zoned| i64::try_from(zoned.timestamp().as_nanosecond()).ok()) {
        Some(time) if !text.ends_with(['Z', 'z']) && text.parse::<Timestamp>().is_err() => Ok(time),
        _ => rfc3339(text),
    }
}

/// Converts the text of a decimal number of `unit` nanoseconds each to nanoseconds, exactly as far as there are digits.
///
/// # Errors
/// The text is not a number, or is out of range.
pub(super) fn scaled(text: &[u8], unit: i64) -> Result<i64, String> {
    let unreadable = || format!("cannot read the number {}", String::from_utf8_lossy(text));
    let digits = std::str::from_utf8(text).map_err(|_| unreadable())?;
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if let (Ok(number), true) = (whole.parse::<i64>(), is_plain(part)) {
        let part: f64 = format!("0.{part}0").parse().unwrap_or_default();
        let part = (part * unit as f64).round() as i64;
        let part = if whole.starts_with('-') { -part } else { part };
        return number.checked_mul(unit).and_then(|time| time.checked_add(part)).ok_or_else(unreadable);
    }
    let number: f64 = digits.parse().map_err(|_| unreadable())?;
    let scaled = number * unit as f64;
    match scaled.is_finite() && scaled.abs() < i64::MAX as f64 {
        true => Ok(scaled.round() as i64),
        false => Err(unreadable()),
    }
}

/// The nanoseconds in a second.
pub(super) const SECOND: i64 = 1_000_000_000;
/// The nanoseconds in a millisecond.
pub(super) const MILLISECOND: i64 = 1_000_000;

/// Returns the members of a unit that must be a JSON object.
///
/// # Errors
/// It is not.
pub(super) fn object(text: &[u8]) -> Result<Members<'_>, String> {
    let text = text.trim_ascii();
    json::check(text).map_err(|reason| format!("not JSON: {reason}"))?;
    match text.first() {
        Some(b'{') => Ok(Members(text)),
        _ => Err("not a JSON object".to_owned()),
    }
}

/// The members of an object.
#[derive(Clone, Copy)]
pub(super) struct Members<'a>(&'a [u8]);

impl<'a> Members<'a> {
    /// The JSON text of a member; `null` is no member.
    pub(super) fn get(self, name: &str) -> Option<&'a [u8]> {
        json::member(self.0, name).filter(|value| *value != b"null")
    }

    /// The text of a member that is a string.
    pub(super) fn text(self, name: &str) -> Option<Cow<'a, str>> {
        json::as_str(self.get(name)?)
    }

    /// The text of a member that must be there.
    ///
    /// # Errors
    /// It is missing, or no string.
    pub(super) fn required(self, name: &str) -> Result<Cow<'a, str>, String> {
        self.text(name).ok_or_else(|| format!("no `{name}`"))
    }

    /// The object that a member is.
    pub(super) fn object(self, name: &str) -> Option<Members<'a>> {
        self.get(name).filter(|value| value.starts_with(b"{")).map(Members)
    }

    /// The items of a member that is an array.
    pub(super) fn items(self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        json::items(self.get(name).unwrap_or(b"[]"))
    }

    /// Whether a member is `true`.
    pub(super) fn is_true(self, name: &str) -> bool {
        self.get(name) == Some(b"true")
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::Value;

    /// An event as tests compare it: time, stream, exchange, kind, direction, framing, payload or description.
    pub(in crate::formats::import) type Seen = (i64, u32, u32, &'static str, Direction, Framing, String);

    /// Reads a file that is recognised as `name`.
    pub(in crate::formats::import) fn read_as(name: &str, text: &str) -> (FileHeader, Vec<Seen>) {
        let format = super::super::detected(text.as_bytes()).expect("a known format");
        assert_eq!(format.name, name);
        read_with(format.open, text).expect("readable")
    }

    pub(in crate::formats::import) fn read_with(
        open: fn(Box<dyn BufRead + Send>) -> super::super::Opened,
        text: &str,
    ) -> Result<(FileHeader, Vec<Seen>), ImportError> {
        let mut importer = open(Box::new(std::io::Cursor::new(text.as_bytes().to_vec())))?;
        let header = importer.header().clone();
        let mut events = Vec::new();
        while let Some(event) = importer.next_event()? {
            events.push(seen(&event));
        }
        Ok((header, events))
    }

    fn seen(event: &NewEvent<'_>) -> Seen {
        let (kind, is_text) = match event.kind {
            EventKind::Message => ("message", true),
            EventKind::Stderr => ("stderr", true),
            EventKind::StreamOpened => ("opened", false),
            EventKind::StreamClosed => ("closed", false),
            EventKind::Transport => ("transport", false),
            EventKind::Gap => ("gap", false),
            _ => ("note", false),
        };
        let text = match is_text {
            true => String::from_utf8_lossy(event.payload).into_owned(),
            false => ciborium::from_reader::<Value, _>(event.payload).expect("CBOR").to_string(),
        };
        (event.time, event.stream, event.exchange, kind, event.flags.direction(), event.framing, text)
    }

    /// The payloads of the messages of a side.
    pub(in crate::formats::import) fn messages(events: &[Seen], direction: Direction) -> Vec<&str> {
        let of_side = events.iter().filter(|event| event.3 == "message" && event.4 == direction);
        of_side.map(|event| event.6.as_str()).collect()
    }

    /// The kinds and texts of events.
    pub(in crate::formats::import) fn texts(events: &[Seen]) -> Vec<(&'static str, &str)> {
        events.iter().map(|event| (event.3, event.6.as_str())).collect()
    }

    #[test]
    fn a_value_on_several_lines_loses_only_the_space_between_tokens() {
        let text = "{\n  \"a b\": [1.0,\r\n 1e400],\t\"\\\" \\\\\": \"x \\n  y\"\n}";
        assert_eq!(on_one_line(text.as_bytes()), br#"{"a b":[1.0,1e400],"\" \\":"x \n  y"}"#);
        assert_eq!(on_one_line(b"{ \"a\" : 1 }"), b"{ \"a\" : 1 }", "one line stays as it is");
        assert_eq!(on_one_line(b"{\n\"a"), b"{\"a", "a cut text ends");
    }

    #[test]
    fn numbers_are_as_exact_as_their_digits() {
        assert_eq!(scaled(b"1795459570.956384200", SECOND), Ok(1_795_459_570_956_384_200));
        assert_eq!(scaled(b"219", MILLISECOND), Ok(219_000_000));
        assert_eq!(scaled(b"-1.5", SECOND), Ok(-1_500_000_000));
        assert_eq!(scaled(b"1.5e3", MILLISECOND), Ok(1_500_000_000));
        assert!(scaled(b"1e300", SECOND).is_err() && scaled(b"x", SECOND).is_err());
        assert!(scaled(b"9223372036854775807", SECOND).is_err());
    }

    #[test]
    fn times_without_a_zone_are_taken_as_utc() {
        let utc = 1_767_323_045_500_000_000;
        assert_eq!(without_zone("2026-01-02T03:04:05.5"), Ok(utc));
        assert_eq!(without_zone("2026-01-02 03:04:05.500"), Ok(utc));
        assert_eq!(without_zone("2026-01-02T03:04:05.5Z"), Ok(utc));
        assert_eq!(without_zone("2026-01-02T04:04:05.5+01:00"), Ok(utc));
        assert!(without_zone("noon").is_err());
    }
}
