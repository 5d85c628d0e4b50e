//! JSON lines, an export format that loses nothing: the first line has the reel's header, each further line one event.
//! `docs/json-lines.md` describes the format.
//!
//! A payload that is valid JSON on one line is written verbatim as `message`, other text as `text`, other bytes as
//! `base64`. If a message contains characters that steer a terminal, they are escaped, and the bytes follow as `base64`.
//! Importing an export gives the same events, with the same bytes.

use super::import::{self, ImportError, ImportFormat, Importer};
use super::{Content, ExportFormat, Exporter};
use crate::trace::described::payload;
use crate::trace::{Event, EventHeader, EventKind, FileHeader, Flags, NewEvent, description};
use crate::wire::escaping::{escaped, is_inert};
use crate::wire::{Direction, Framing, json};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use base64::write::EncoderWriter;
use jiff::Timestamp;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{self, BufRead, Write};
use std::ops::Range;

/// The version of the format.
pub(crate) const VERSION: u32 = 1;

/// The maximum length of a line, in bytes: as JSON text, 1 GiB of control characters takes six bytes for each.
const MAX_LINE_BYTES: u64 = 7_000_000_000;

/// JSON lines, for `export`.
pub(crate) const EXPORT: ExportFormat = ExportFormat {
    name: "jsonl",
    about: "JSON lines, one event per line; loses nothing",
    content: Content::Json,
    make: |_| Box::new(Lines::default()),
};

/// JSON lines, for `import`.
pub(crate) const IMPORT: ImportFormat = ImportFormat {
    name: "jsonl",
    about: "JSON lines, as `mcpreel export` writes them, with {\"reel\":…} on the first line",
    lacks: "",
    detect: |start| json::members(start).next().is_some_and(|member| member.is("reel")),
    open: |input| Ok(Box::new(Reader::new(input)?)),
};

/// Writes a reel as JSON lines.
#[derive(Default)]
struct Lines {
    /// The start of the reel, in Unix nanoseconds.
    created: i64,
    /// The last bytes of a payload that comes in parts, if they do not make a group of three for base64.
    rest: Option<Vec<u8>>,
}

impl Exporter for Lines {
    fn begin(&mut self, header: &FileHeader, mut out: &mut dyn Write) -> io::Result<()> {
        self.created = header.created;
        write_header(header, &mut out)
    }

    fn event(&mut self, event: &Event<'_>, mut out: &mut dyn Write) -> io::Result<()> {
        write_event(event, self.created, &mut out)
    }

    /// One line per event, with the payload as `base64`.
    fn part(&mut self, header: &EventHeader, part: &[u8], is_last: bool, mut out: &mut dyn Write) -> io::Result<()> {
        if self.rest.is_none() {
            write_head(&Event { header, payload: b"" }, self.created, &mut out)?;
            out.write_all(b",\"base64\":\"")?;
        }
        let held = self.rest.get_or_insert_default();
        held.extend_from_slice(part);
        let even = if is_last { held.len() } else { held.len() / 3 * 3 };
        out.write_all(BASE64.encode(&held[..even]).as_bytes())?;
        held.drain(..even);
        if is_last {
            self.rest = None;
            out.write_all(b"\"}\n")?;
        }
        Ok(())
    }
}

/// Writes the first line.
///
/// # Errors
///
/// If writing fails.
pub fn write_header(header: &FileHeader, out: &mut impl Write) -> io::Result<()> {
    let mut reel = serde_json::Map::new();
    reel.insert("version".into(), VERSION.into());
    reel.insert("created".into(), rfc3339(header.created).into());
    reel.insert("tool".into(), header.tool.clone().into());
    if let Some(label) = &header.label {
        reel.insert("label".into(), label.clone().into());
    }
    if !header.notes.is_empty() {
        reel.insert("notes".into(), header.notes.iter().map(|(k, v)| (k.clone(), Value::from(v.clone()))).collect());
    }
    writeln!(out, "{}", serde_json::json!({ "reel": reel }))
}

/// Writes one event as a line, including LF.
///
/// # Errors
///
/// If writing fails.
pub fn write_event(event: &Event<'_>, created: i64, out: &mut impl Write) -> io::Result<()> {
    write_members(event, created, out)?;
    if let Some(message) = verbatim(event).filter(|message| !is_inert(message)) {
        // The message is escaped when it is written, so only these are its bytes.
        write_base64(message, out)?;
    }
    out.write_all(b"}\n")
}

/// Writes the members of an event, with the opening bracket but without the closing one, so that others may follow.
///
/// # Errors
///
/// If writing fails.
pub(crate) fn write_members(event: &Event<'_>, created: i64, out: &mut impl Write) -> io::Result<()> {
    write_head(event, created, out)?;
    match verbatim(event) {
        Some(message) => {
            out.write_all(b",\"message\":")?;
            out.write_all(message)
        }
        None => write_other_payload(event, out),
    }
}

/// Returns the number of bytes before an event's payload in its line, if the line contains the payload verbatim.
pub(crate) fn payload_offset(event: &Event<'_>, created: i64) -> Option<usize> {
    let payload = verbatim(event).filter(|message| is_inert(message))?;
    let mut members = Vec::with_capacity(payload.len() + 256);
    write_members(event, created, &mut members).ok()?;
    Some(members.len() - payload.len())
}

/// Does the same as [`write_members`], but writes `null` for a message that could be written verbatim, and returns the
/// message instead. It may be most of the event, and the caller can use it without a copy.
///
/// # Errors
///
/// If writing fails.
pub(crate) fn write_members_apart<'a>(
    event: &Event<'a>,
    created: i64,
    out: &mut impl Write,
) -> io::Result<Option<&'a [u8]>> {
    write_head(event, created, out)?;
    match verbatim(event) {
        Some(message) => out.write_all(b",\"message\":null").map(|()| Some(message)),
        None => write_other_payload(event, out).map(|()| None),
    }
}

fn write_head(event: &Event<'_>, created: i64, out: &mut impl Write) -> io::Result<()> {
    let head = event.header;
    let mut text = String::with_capacity(160);
    let _ = write!(text, "{{\"seq\":{},\"time\":\"", head.seq);
    write_rfc3339(created.saturating_add(head.time), &mut text);
    let _ = write!(text, "\",\"stream\":{},\"dir\":\"{}\"", head.stream, head.direction().short());
    if head.exchange != 0 {
        let _ = write!(text, ",\"exchange\":{}", head.exchange);
    }
    let _ = write!(text, ",\"event\":\"{}\"", head.kind.name());
    if head.framing != Framing::Lf {
        let _ = write!(text, ",\"framing\":\"{}\"", head.framing.name());
    }
    for name in head.flags.names() {
        let _ = write!(text, ",\"{name}\":true");
    }
    out.write_all(text.as_bytes())
}

/// Returns the message, if it can be a JSON value on a line and come back as the same bytes.
fn verbatim<'a>(event: &Event<'a>) -> Option<&'a [u8]> {
    (event.header.kind == EventKind::Message && stands_verbatim(event.payload)).then_some(event.payload)
}

fn write_other_payload(event: &Event<'_>, out: &mut impl Write) -> io::Result<()> {
    let payload = event.payload;
    if let Some(described) = described(event) {
        out.write_all(b",\"data\":")?;
        serde_json::to_writer(&mut *out, &described)?;
    } else if let Ok(text) = std::str::from_utf8(payload) {
        out.write_all(b",\"text\":")?;
        return Ok(serde_json::to_writer(out, text)?);
    }
    write_base64(payload, out)
}

/// Returns the bytes of a `base64` member.
fn decoded(value: &[u8]) -> Result<Vec<u8>, String> {
    let inner = value.get(1..value.len().saturating_sub(1)).unwrap_or_default();
    BASE64.decode(inner).map_err(|error| format!("\"base64\" is invalid: {error}"))
}

fn write_base64(payload: &[u8], out: &mut impl Write) -> io::Result<()> {
    out.write_all(b",\"base64\":\"")?;
    let mut encoder = EncoderWriter::new(&mut *out, &BASE64);
    encoder.write_all(payload)?;
    encoder.finish()?;
    drop(encoder);
    out.write_all(b"\"")
}

/// Returns a CBOR payload as JSON, for readers. An import uses the bytes.
pub(crate) fn described(event: &Event<'_>) -> Option<Value> {
    let described = matches!(
        event.header.kind,
        EventKind::StreamOpened | EventKind::StreamClosed | EventKind::Transport | EventKind::Gap | EventKind::Note
    );
    if !described {
        return None;
    }
    description(event.payload)
}

fn stands_verbatim(payload: &[u8]) -> bool {
    let (Some(first), Some(last)) = (payload.first(), payload.last()) else { return false };
    !first.is_ascii_whitespace()
        && !last.is_ascii_whitespace()
        && memchr::memchr(b'\n', payload).is_none()
        && json::skip_value(payload, 0) == Some(payload.len())
        && json::check(payload).is_ok()
}

/// Formats Unix nanoseconds as RFC 3339 in UTC, with nine digits.
pub(crate) fn rfc3339(nanoseconds: i64) -> String {
    let mut text = String::with_capacity(30);
    write_rfc3339(nanoseconds, &mut text);
    text
}

fn write_rfc3339(nanoseconds: i64, out: &mut String) {
    match Timestamp::from_nanosecond(i128::from(nanoseconds)) {
        Ok(time) => {
            let _ = write!(out, "{time:.9}");
        }
        Err(_) => out.push_str("1970-01-01T00:00:00.000000000Z"),
    }
}

/// Reads an export. A line that cannot be read becomes a gap, unless gaps are refused.
pub struct Reader<R: BufRead> {
    input: R,
    line: Vec<u8>,
    number: u64,
    header: FileHeader,
    payload: Vec<u8>,
    second: Second,
    /// The time of the last event.
    last: i64,
    refuses_gaps: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads the first line.
    ///
    /// # Errors
    ///
    /// If reading fails, or the line is not a header.
    pub fn new(input: R) -> Result<Self, ImportError> {
        let (line, payload) = (Vec::new(), Vec::new());
        let mut reader = Self {
            input,
            line,
            number: 0,
            header: FileHeader::default(),
            payload,
            second: Second::default(),
            last: 0,
            refuses_gaps: false,
        };
        if !reader.next_line()? {
            return Err(reader.error("the file is empty; expected {\"reel\":{…}}"));
        }
        reader.header = reader.parse_header()?;
        Ok(reader)
    }

    fn next_line(&mut self) -> Result<bool, ImportError> {
        loop {
            self.line.clear();
            let mut limited = io::Read::take(&mut self.input, MAX_LINE_BYTES);
            let length = limited.read_until(b'\n', &mut self.line)?;
            self.number += 1;
            if self.line.is_empty() {
                return Ok(false);
            }
            if length as u64 >= MAX_LINE_BYTES {
                return Err(self.error("longer than 7 GB"));
            }
            if !self.line.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
    }

    fn parse_header(&self) -> Result<FileHeader, ImportError> {
        let value: Value =
            serde_json::from_slice(&self.line).map_err(|error| self.error(format!("not JSON: {error}")))?;
        let reel = value.get("reel").ok_or_else(|| self.error("missing \"reel\""))?;
        match reel["version"].as_u64() {
            Some(version) if version <= u64::from(VERSION) => {}
            Some(version) => return Err(self.error(format!("version {version} is newer than {VERSION}"))),
            None => return Err(self.error("\"reel\" has no version number")),
        }
        let created = reel["created"].as_str().ok_or_else(|| self.error("\"reel\" has no \"created\" time"))?;
        let created = parse_time(created).map_err(|reason| self.error(format!("\"created\": {reason}")))?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let notes = reel["notes"].as_object().into_iter().flatten();
        Ok(FileHeader {
            created,
            tool: text(&reel["tool"]).unwrap_or_default(),
            label: text(&reel["label"]),
            notes: notes.filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect(),
        })
    }

    /// Reads an event from the current line.
    fn read_line(&mut self) -> Result<Read, String> {
        let fields = Fields::parse(&self.line)?;
        let time = fields.time(self.header.created, &mut self.second)?;
        let mut verbatim = None;
        match fields.payload.ok_or("missing \"message\", \"text\" or \"base64\"")? {
            Payload::Verbatim(value) => {
                let start = value.as_ptr().addr() - self.line.as_ptr().addr();
                verbatim = Some(start..start + value.len());
            }
            Payload::Text(value) => {
                self.payload = serde_json::from_slice::<String>(value)
                    .map_err(|error| format!("\"text\" is not a string: {error}"))?
                    .into_bytes();
            }
            Payload::Base64(value) => self.payload = decoded(value)?,
            Payload::Escaped { message, base64 } => {
                let bytes = decoded(base64)?;
                // If these are not the bytes of the message, a person or a program has edited it since.
                if escaped(&bytes) == message {
                    self.payload = bytes;
                } else {
                    let start = message.as_ptr().addr() - self.line.as_ptr().addr();
                    verbatim = Some(start..start + message.len());
                }
            }
        }
        let flags = fields.flags.with(Flags::toward(fields.direction));
        let (stream, exchange, kind, framing) = (fields.stream, fields.exchange, fields.kind, fields.framing);
        Ok(Read { time, stream, exchange, kind, flags, framing, verbatim })
    }

    /// Returns a gap for a line that cannot be read, at the time of the event before.
    fn unreadable(&mut self, reason: &str) -> Read {
        self.payload = payload(&import::unreadable(self.number, reason));
        let (time, kind, flags, framing) = (self.last, EventKind::Gap, Flags::default(), Framing::Lf);
        Read { time, stream: 0, exchange: 0, kind, flags, framing, verbatim: None }
    }

    fn error(&self, reason: impl Into<String>) -> ImportError {
        ImportError::Line { line: self.number, reason: reason.into() }
    }
}

/// Converts RFC 3339 to Unix nanoseconds.
fn parse_time(text: &str) -> Result<i64, String> {
    let time: Timestamp = text.parse().map_err(|error| format!("{text:?} is not an RFC 3339 time: {error}"))?;
    i64::try_from(time.as_nanosecond()).map_err(|_| format!("{text:?} is out of range"))
}

/// An event as its line describes it.
struct Read {
    time: i64,
    stream: u32,
    exchange: u32,
    kind: EventKind,
    flags: Flags,
    framing: Framing,
    /// The place of the payload in the line, if it is there verbatim.
    verbatim: Option<Range<usize>>,
}

enum Payload<'a> {
    Verbatim(&'a [u8]),
    Text(&'a [u8]),
    Base64(&'a [u8]),
    /// `message` as it was written, and the bytes that it had before it was escaped.
    Escaped {
        message: &'a [u8],
        base64: &'a [u8],
    },
}

/// The members of one line, found without parsing the message.
struct Fields<'a> {
    time: Option<&'a [u8]>,
    stream: u32,
    exchange: u32,
    direction: Direction,
    kind: EventKind,
    framing: Framing,
    flags: Flags,
    payload: Option<Payload<'a>>,
}

impl<'a> Fields<'a> {
    fn parse(line: &'a [u8]) -> Result<Self, String> {
        let mut found = Self {
            time: None,
            stream: 0,
            exchange: 0,
            direction: Direction::ClientToServer,
            kind: EventKind::Message,
            framing: Framing::Lf,
            flags: Flags::default(),
            payload: None,
        };
        let mut members = json::members(line);
        for member in members.by_ref() {
            found.take(&member)?;
        }
        match members.end() {
            Some(end) if json::skip_space(line, end) == line.len() => Ok(found),
            _ => Err("not a single JSON object".into()),
        }
    }

    fn take(&mut self, member: &json::Member<'a>) -> Result<(), String> {
        let value = member.value;
        let name = || json::as_str(value).unwrap_or_default();
        let number = || std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
        let unknown = |what: &str| format!("unknown {what} {}", String::from_utf8_lossy(value));
        match member.key {
            b"time" => self.time = Some(value),
            b"stream" => self.stream = number().ok_or_else(|| unknown("stream"))?,
            b"exchange" => self.exchange = number().ok_or_else(|| unknown("exchange"))?,
            b"dir" => self.direction = Direction::from_short(&name()).ok_or_else(|| unknown("direction"))?,
            b"event" => self.kind = EventKind::from_name(&name()).ok_or_else(|| unknown("event"))?,
            b"framing" => self.framing = Framing::from_name(&name()).ok_or_else(|| unknown("framing"))?,
            b"message" => self.payload = Some(Payload::Verbatim(value)),
            b"text" => self.payload = Some(Payload::Text(value)),
            b"base64" => {
                self.payload = Some(match self.payload {
                    Some(Payload::Verbatim(message)) => Payload::Escaped { message, base64: value },
                    _ => Payload::Base64(value),
                });
            }
            key => {
                let flag = Flags::NAMED.iter().find(|flag| flag.1.as_bytes() == key && value == b"true");
                self.flags = self.flags.with(flag.map_or(Flags::default(), |flag| flag.0));
            }
        }
        Ok(())
    }

    fn time(&self, created: i64, seconds: &mut Second) -> Result<i64, String> {
        let text = self.time.and_then(json::as_str).ok_or("missing \"time\"")?;
        seconds.time(&text)?.checked_sub(created).ok_or_else(|| "the time is out of range".into())
    }
}

/// The second of the last event. Those of many events in a row are the same, and parsing them takes long.
#[derive(Default)]
struct Second {
    /// Its text, as far as the point: `2026-11-23T10:00:00`.
    text: String,
    /// Its Unix time, in nanoseconds.
    start: i64,
}

impl Second {
    /// Converts RFC 3339 to Unix nanoseconds.
    fn time(&mut self, text: &str) -> Result<i64, String> {
        let parts = text.strip_suffix('Z').and_then(|text| text.split_once('.'));
        let within = parts.and_then(|(second, digits)| Some((second, nanoseconds(digits)?)));
        match within {
            Some((second, within)) if second == self.text => Ok(self.start.saturating_add(within)),
            _ => {
                let time = parse_time(text)?;
                if let Some((second, within)) = within {
                    (self.text, self.start) = (second.to_owned(), time.saturating_sub(within));
                }
                Ok(time)
            }
        }
    }
}

/// The number of nanoseconds that nine digits after a point mean.
fn nanoseconds(digits: &str) -> Option<i64> {
    (digits.len() == 9 && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| digits.parse().ok())?
}

impl<R: BufRead + Send> Importer for Reader<R> {
    fn header(&self) -> &FileHeader {
        &self.header
    }

    fn refuse_gaps(&mut self) {
        self.refuses_gaps = true;
    }

    fn next_event(&mut self) -> Result<Option<NewEvent<'_>>, ImportError> {
        if !self.next_line()? {
            return Ok(None);
        }
        let read = match self.read_line() {
            Ok(read) => read,
            Err(reason) if self.refuses_gaps => return Err(self.error(reason)),
            Err(reason) => self.unreadable(&reason),
        };
        let payload = read.verbatim.map_or(&self.payload[..], |range| &self.line[range]);
        let (time, stream, exchange) = (read.time, read.stream, read.exchange);
        self.last = time;
        Ok(Some(NewEvent {
            time,
            stream,
            exchange,
            kind: read.kind,
            flags: read.flags,
            framing: read.framing,
            payload,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Item, ReelReader, ReelWriter, WriterOptions};
    use proptest::prelude::*;

    #[test]
    fn a_time_in_the_second_of_the_one_before_is_parsed_like_any_other() {
        let mut second = Second::default();
        for text in [
            "2026-11-23T10:00:00.123456789Z",
            "2026-11-23T10:00:00.000000001Z",
            "2026-11-23T10:00:00.5Z",
            "2026-11-23T10:00:00.12345678xZ",
            "2026-11-23T10:00:00+01:00",
            "2026-11-23T10:00:00.123456789+01:00",
            "2026-11-23T10:00:01.999999999Z",
            "1969-12-31T23:59:59.000000001Z",
            "1969-12-31T23:59:59.999999999Z",
            "1969-12-31T23:59:59Z",
            "9999-12-31T23:59:59.000000001Z",
            "x.000000001Z",
        ] {
            assert_eq!(second.time(text), parse_time(text), "{text}");
        }
    }

    fn reel(payloads: &[(Vec<u8>, EventKind, Framing, i64, Flags)]) -> Vec<u8> {
        let header = FileHeader {
            created: 1_790_000_000_123_456_789,
            tool: "t".into(),
            label: Some("a \"label\"".into()),
            notes: [("k".to_owned(), "v".to_owned())].into(),
        };
        let mut writer = ReelWriter::create(Vec::new(), &header, WriterOptions::default()).expect("a Vec takes all");
        for (number, (payload, kind, framing, time, flags)) in payloads.iter().enumerate() {
            let stream = number as u32 % 3;
            let (kind, flags, framing, time) = (*kind, *flags, *framing, *time);
            writer
                .append(NewEvent { time, stream, exchange: stream * 7, kind, flags, framing, payload })
                .expect("a Vec takes all");
        }
        writer.finish().expect("a Vec takes all").0
    }

    /// Joins what `write_members_apart` gives.
    fn rejoined(event: &Event<'_>, created: i64) -> Vec<u8> {
        let mut out = Vec::new();
        let Some(message) = write_members_apart(event, created, &mut out).expect("a Vec takes all") else { return out };
        assert!(out.ends_with(b",\"message\":null"), "{}", String::from_utf8_lossy(&out));
        out.truncate(out.len() - 4);
        [&out[..], message].concat()
    }

    fn export(reel: &[u8]) -> Vec<u8> {
        let reader = ReelReader::from_stream(Box::new(io::Cursor::new(reel.to_vec()))).expect("a reel");
        let (mut reader, mut out) = (reader.in_pieces(), Vec::new());
        write_header(reader.header(), &mut out).expect("a Vec takes all");
        while let Some(Item::Block(block)) = reader.next().expect("reads") {
            for event in block.events() {
                let (created, before) = (reader.header().created, out.len());
                write_event(&event, created, &mut out).expect("a Vec takes all");
                assert_eq!([&rejoined(&event, created)[..], b"}\n"].concat(), &out[before..]);
            }
        }
        out
    }

    fn import(lines: &[u8]) -> Result<Vec<u8>, ImportError> {
        let mut reader = Reader::new(lines)?;
        let mut writer =
            ReelWriter::create(Vec::new(), reader.header(), WriterOptions::default()).expect("a Vec takes all");
        while let Some(event) = reader.next_event()? {
            writer.append(event).expect("a Vec takes all");
        }
        Ok(writer.finish().expect("a Vec takes all").0)
    }

    #[test]
    fn an_edited_message_counts_and_not_the_bytes_that_it_had() {
        let line = |message: &str, bytes: &str| {
            let base64 = BASE64.encode(bytes);
            format!(
                "{{\"reel\":{{\"version\":1,\"created\":\"2026-01-01T00:00:00Z\"}}}}\n\
                 {{\"time\":\"2026-01-01T00:00:01Z\",\"message\":{message},\"base64\":\"{base64}\"}}\n"
            )
        };
        let bytes = "{\"a\":\"\u{202e}x\"}";
        for (message, wanted) in [
            (r#"{"a":"\u202ex"}"#, bytes),
            (r#"{"a":"\u202ey"}"#, r#"{"a":"\u202ey"}"#),
            (r#"{"a":"\u202Ex"}"#, r#"{"a":"\u202Ex"}"#),
        ] {
            let text = line(message, bytes);
            let mut reader = Reader::new(text.as_bytes()).expect("a header");
            let event = reader.next_event().expect("readable").expect("an event");
            assert_eq!(String::from_utf8_lossy(event.payload), wanted, "{message}");
        }
    }

    #[test]
    fn payloads_stand_as_message_text_or_base64() {
        let one = |payload: &[u8]| (payload.to_vec(), EventKind::Message, Framing::Lf, 5, Flags::default());
        let lines = export(&reel(&[
            one(br#"{"id":1e400,"a":"\u0041"}"#),
            one(b" {}"),
            one(b"log \"line\""),
            one(b"\xff{"),
            one(b""),
        ]));
        let lines: Vec<&str> = std::str::from_utf8(&lines).expect("text").lines().collect();
        assert!(lines[0].contains(r#""created":"2026-09-21T14:13:20.123456789Z""#), "{}", lines[0]);
        assert!(lines[1].ends_with(r#","event":"message","message":{"id":1e400,"a":"\u0041"}}"#), "{}", lines[1]);
        assert!(lines[2].ends_with(r#""text":" {}"}"#));
        assert!(lines[3].ends_with(r#""text":"log \"line\""}"#));
        assert!(lines[4].ends_with(r#""base64":"/3s="}"#));
        assert!(lines[5].ends_with(r#""text":""}"#));
    }

    #[test]
    fn bad_lines_are_gaps_and_a_bad_beginning_is_refused() {
        let reason = |text: &str| import(text.as_bytes()).expect_err("refused").to_string();
        assert!(reason("").starts_with("line 1: the file is empty"));
        assert!(reason("{}\n").contains("missing \"reel\""));
        assert!(reason("{\"reel\":{\"version\":7}}").contains("newer"));
        let header = "{\"reel\":{\"version\":1,\"created\":\"2026-01-01T00:00:00Z\"}}\n";
        let good = "{\"time\":\"2026-01-01T00:00:01Z\",\"event\":\"message\",\"message\":{}}";
        for (bad, wanted) in [
            ("{\"time\":\"x\"}", "\"x\" is not an RFC 3339 time"),
            ("{\"a\":1", "not a single JSON object"),
            ("{\"dir\":\"up\"}", "unknown direction \"up\""),
            ("{\"time\":\"2026-01-01T00:00:01Z\"}", "missing \"message\""),
            ("{\"time\":\"2026-01-01T00:00:01Z\",\"text\":7}", "\"text\" is not a string"),
            ("{\"time\":\"2026-01-01T00:00:01Z\",\"base64\":\"?\"}", "\"base64\" is invalid"),
        ] {
            let text = format!("{header}{good}\n\n{bad}\n{good}\n");
            let mut reader = Reader::new(text.as_bytes()).expect("a header");
            let mut found = Vec::new();
            while let Some(event) = reader.next_event().expect("events") {
                let described: Value = ciborium::from_reader(event.payload).unwrap_or_default();
                found.push((event.kind, event.time, described["line"].as_u64(), described["reason"].to_string()));
            }
            let kinds: Vec<_> = found.iter().map(|event| event.0).collect();
            assert_eq!(kinds, [EventKind::Message, EventKind::Gap, EventKind::Message], "{bad}");
            assert_eq!((found[1].1, found[1].2), (1_000_000_000, Some(4)), "{bad}");
            assert!(found[1].3.replace('\\', "").starts_with(&format!("\"{wanted}")), "{bad}: {}", found[1].3);
            let mut strict = Reader::new(text.as_bytes()).expect("a header");
            strict.refuse_gaps();
            assert!(strict.next_event().is_ok_and(|event| event.is_some()));
            let refused = strict.next_event().expect_err(bad).to_string();
            assert!(refused.starts_with(&format!("line 4: {wanted}")), "{refused}");
        }
    }

    fn any_payload() -> impl Strategy<Value = (Vec<u8>, EventKind, Framing, i64, Flags)> {
        let payload = prop_oneof![
            prop::collection::vec(any::<u8>(), 0..60),
            r#"[ \r\n]{0,1}\{"id":[0-9]{1,3},"x":"[a-z\\\\u00e9]{0,5}"\}[ \r]{0,1}"#.prop_map(String::into_bytes),
            Just(br#"{"n":1.0,"m":1e400,"d":1,"d":2,"s":"\ud800"}"#.to_vec()),
        ];
        let kind = (0u8..9).prop_map(EventKind::from_number);
        let framing = (0..Framing::ALL.len()).prop_map(|number| Framing::ALL[number]);
        (payload, kind, framing, any::<i32>().prop_map(i64::from), (0u16..16).prop_map(Flags))
    }

    proptest! {
        #[test]
        fn import_of_an_export_is_the_same_reel(payloads in prop::collection::vec(any_payload(), 0..30)) {
            let original = reel(&payloads);
            prop_assert_eq!(import(&export(&original)).expect("own lines"), original);
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,200}") {
            let _ = import(text.as_bytes());
        }
    }
}
