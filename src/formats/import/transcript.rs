//! Imports transcripts: JSON lines that other tools and hand-written loggers write, each with a time, a direction and
//! what was sent. Names differ between tools; [`Reader`] knows the common ones.
//!
//! There is no export, since a transcript contains less than a reel. A message that is a JSON value is imported with
//! the bytes of the line, which may differ from those on the wire.

use super::exchange;
use super::http::{Head, LinePlace, Sessions, Start};
use super::reading::{Events, Format, Lines, Place, Reader, Unit};
use super::{ImportFormat, Opened};
use crate::trace::{Closed, EventKind, Flags};
use crate::wire::{Direction, Envelope, Framing, json};
use jiff::Timestamp;
use serde_json::Value;
use std::io::BufRead;

/// See [`Transcript`].
pub(super) const IMPORT: ImportFormat = ImportFormat {
    name: "transcript",
    about: "JSON lines with a time, a direction (c2s, s2c, client_to_server, stderr, …), and a message as `msg`, \
            `message`, `raw`, `text` or `sse`",
    lacks: "exact bytes where a message is a JSON value",
    detect: is_transcript,
    open,
};

fn open(input: Box<dyn BufRead + Send>) -> Opened {
    Ok(Box::new(Reader::open(Lines::new(input), Transcript::default(), IMPORT.name)?))
}

/// Whether the first members of a file are those of a transcript's line: a direction, and no reel.
fn is_transcript(start: &[u8]) -> bool {
    json::members(start)
        .take_while(|member| !member.is("reel"))
        .any(|member| member.is("dir") || member.is("direction"))
}

/// Reads a transcript. Each line is an object with
/// - a time: `time`, `ts` or `timestamp`, as RFC 3339 text, a number of seconds, or one of milliseconds if it is too
///   large for seconds; a line without a time has that of the line before;
/// - a direction: `dir` or `direction`, which is `c2s` or `client_to_server`, `s2c` or `server_to_client`, one of these
///   with `_noise` for text that is not JSON; or `stderr`, `s2c_stderr` or `server_stderr` for the server's standard
///   error;
/// - what was sent: `raw` or `text` (a string: the line), `msg` or `message` (a JSON value; a string is treated like
///   `raw`, since no message is a string), or `sse` (the lines of one server-sent event);
/// - over HTTP, `conn` (the connection) and `http` (a head). A client's head begins an exchange, which includes all
///   that follows on its connection. Heads, bodies and events without a message become the events that a recording has
///   for them, and each session gets its own stream.
///
/// A line with nothing of this becomes a note, so that nothing is lost.
#[derive(Default)]
struct Transcript {
    sessions: Sessions,
    /// A line with a direction was read.
    has_begun: bool,
}

impl Format for Transcript {
    fn take(&mut self, unit: Unit<'_>, out: &mut Events) -> Result<(), String> {
        let line = Line::parse(unit.text)?;
        if !self.has_begun && line.direction.is_none() {
            return Err("expected {\"reel\":…}, or a line with a direction".to_owned());
        }
        if let Some(time) = line.time()? {
            out.at(time);
        }
        self.has_begun = true;
        self.line(&line, unit.text, out);
        Ok(())
    }
}

impl Transcript {
    /// Adds the events of a line: its head, then what it carries.
    fn line(&mut self, line: &Line<'_>, text: &[u8], out: &mut Events) {
        let head = line.http.and_then(Head::parse);
        let carried = line.carried();
        let connection = line.connection.or(head.as_ref().map(|_| &b""[..]));
        let found = connection.map(|connection| self.place(connection, head.as_ref(), carried.as_ref()));
        let found = found.unwrap_or_default();
        let place = Place { stream: found.stream, exchange: found.exchange };
        if found.opens {
            let opened = serde_json::json!({"transport": "http"});
            out.describe(place, EventKind::StreamOpened, Flags::default(), &opened);
        }
        if let Some(head) = &head {
            let direction = match head.start {
                Start::Request { .. } => Direction::ClientToServer,
                Start::Response(_) => Direction::ServerToClient,
            };
            let flags = if head.has_failed() { Flags::FAILED } else { Flags::default() };
            out.describe(place, EventKind::Transport, Flags::toward(direction).with(flags), &head.reported());
        }
        let is_taken = carried.is_some_and(|carried| self.carried(carried, line, place, out));
        if !is_taken && head.is_none() {
            let noted = json::parsed(text).unwrap_or_default();
            out.describe(place, EventKind::Note, Flags::default(), &noted);
        }
        if found.closes {
            out.describe(place, EventKind::StreamClosed, Flags::default(), &Closed::by("DELETE"));
        }
    }

    fn place(&mut self, connection: &[u8], head: Option<&Head>, carried: Option<&Carried>) -> LinePlace {
        let initializes = head.is_some()
            && matches!(carried, Some(Carried::Message(_, body))
                if Envelope::scan(body).method.as_deref() == Some("initialize"));
        self.sessions.place(connection, head, initializes)
    }

    /// Adds what a line carries. Returns whether it has a place.
    fn carried(&mut self, carried: Carried, line: &Line<'_>, place: Place, out: &mut Events) -> bool {
        match (carried, line.direction) {
            (Carried::Message(framing, payload), Some(LineOrigin::Messages(direction))) => {
                out.message(place, direction, framing, payload);
            }
            (Carried::Message(_, payload), Some(LineOrigin::Stderr)) => out.stderr(place, &payload),
            (Carried::Body(text), Some(LineOrigin::Messages(direction))) if place.exchange != 0 => {
                exchange::other_body(place, direction, text.as_bytes(), out);
            }
            (Carried::Block(block), _) if place.exchange != 0 => {
                let connection = line.connection;
                let announce = |endpoint: &str| {
                    connection.into_iter().for_each(|connection| self.sessions.hand_out(connection, endpoint));
                };
                exchange::event(place, block.into_bytes(), announce, out);
            }
            _ => return false,
        }
        true
    }
}

/// Where the content of a line was sent.
#[derive(Clone, Copy)]
enum LineOrigin {
    Messages(Direction),
    Stderr,
    /// An event of the tool itself.
    Other,
}

impl LineOrigin {
    fn parse(name: &str) -> Self {
        match name.strip_suffix("_noise").unwrap_or(name) {
            "c2s" | "client_to_server" | "client-to-server" => Self::Messages(Direction::ClientToServer),
            "s2c" | "server_to_client" | "server-to-client" => Self::Messages(Direction::ServerToClient),
            "stderr" | "s2c_stderr" | "server_stderr" => Self::Stderr,
            _ => Self::Other,
        }
    }
}

/// The known members of a line.
#[derive(Default)]
struct Line<'a> {
    time: Option<&'a [u8]>,
    direction: Option<LineOrigin>,
    text: Option<&'a [u8]>,
    value: Option<&'a [u8]>,
    sse: Option<&'a [u8]>,
    connection: Option<&'a [u8]>,
    http: Option<&'a [u8]>,
}

impl<'a> Line<'a> {
    fn parse(line: &'a [u8]) -> Result<Self, String> {
        json::check(line.trim_ascii()).map_err(|reason| format!("not JSON: {reason}"))?;
        let mut found = Self::default();
        let mut members = json::members(line);
        for member in members.by_ref() {
            match member.key {
                b"time" | b"ts" | b"timestamp" => found.time = Some(member.value),
                b"dir" | b"direction" => {
                    found.direction = json::as_str(member.value).map(|name| LineOrigin::parse(&name))
                }
                b"raw" | b"text" => found.text = Some(member.value),
                b"msg" | b"message" => found.value = Some(member.value),
                b"sse" => found.sse = Some(member.value),
                b"conn" => found.connection = Some(member.value),
                b"http" => found.http = Some(member.value),
                _ => {}
            }
        }
        if members.is_broken() { Err("not a single JSON object".into()) } else { Ok(found) }
    }

    /// Returns Unix nanoseconds, if the line has a time.
    fn time(&self) -> Result<Option<i64>, String> {
        let Some(text) = self.time else { return Ok(None) };
        let unknown = || format!("cannot read the time {}", String::from_utf8_lossy(text));
        let moment = match serde_json::from_slice(text).map_err(|_| unknown())? {
            Value::String(text) => text.parse::<Timestamp>().ok(),
            Value::Number(number) => number.as_f64().and_then(|number| {
                // Seconds reach this value in the year 5138; milliseconds reached it in 1973.
                let milliseconds = if number.abs() < 1e11 { number * 1e3 } else { number };
                Timestamp::from_microsecond((milliseconds * 1e3).round() as i64).ok()
            }),
            _ => None,
        };
        i64::try_from(moment.ok_or_else(unknown)?.as_nanosecond()).map(Some).map_err(|_| unknown())
    }

    /// Returns what was sent, if the line has something.
    fn carried(&self) -> Option<Carried> {
        let is_http = self.connection.is_some() || self.http.is_some();
        if let Some(text) = self.text.and_then(json::as_str).or_else(|| self.value.and_then(json::as_str)) {
            if is_http && text.is_empty() {
                return None;
            }
            return Some(match is_http {
                false if matches!(self.direction, Some(LineOrigin::Stderr)) => {
                    Carried::Message(Framing::Whole, text.into_owned().into_bytes())
                }
                false => Carried::of_line(&text),
                true if is_json(text.as_bytes()) => Carried::Message(Framing::Whole, text.into_owned().into_bytes()),
                true => Carried::Body(text.into_owned()),
            });
        }
        if let Some(value) = self.value {
            let framing = if is_http { Framing::Whole } else { Framing::Lf };
            return Some(Carried::Message(framing, value.to_vec()));
        }
        let (mut block, mut carries) = (String::new(), false);
        for line in json::items(self.sse?).filter_map(json::as_str) {
            carries |= line.strip_prefix("data:").is_some_and(|data| is_json(data.as_bytes()));
            block.push_str(&line);
            block.push('\n');
        }
        block.push('\n');
        Some(if carries { Carried::Message(Framing::Sse, block.into_bytes()) } else { Carried::Block(block) })
    }
}

/// What was sent.
enum Carried {
    /// A message.
    Message(Framing, Vec<u8>),
    /// An HTTP body that is not a message.
    Body(String),
    /// A server-sent event without a message.
    Block(String),
}

impl Carried {
    /// Converts a line of a stream, which may contain its line ending.
    fn of_line(text: &str) -> Self {
        let (line, framing) = match text.strip_suffix('\n') {
            None => (text, Framing::Lf),
            Some(line) => match line.strip_suffix('\r') {
                None => (line, Framing::Lf),
                Some(line) => (line, Framing::CrLf),
            },
        };
        Self::Message(framing, line.as_bytes().to_vec())
    }
}

/// Returns whether a text begins like a message.
fn is_json(text: &[u8]) -> bool {
    matches!(text.trim_ascii_start().first(), Some(b'{' | b'['))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::import::ImportError;
    use crate::trace::FileHeader;
    use proptest::prelude::*;

    type Seen = (i64, EventKind, Framing, Flags, String);

    fn opened(text: &str) -> Opened {
        open(Box::new(std::io::Cursor::new(text.as_bytes().to_vec())))
    }

    fn read(text: &str) -> Result<(FileHeader, Vec<Seen>), ImportError> {
        let mut reader = opened(text)?;
        let header = reader.header().clone();
        let mut events = Vec::new();
        while let Some(event) = reader.next_event()? {
            let payload = String::from_utf8_lossy(event.payload).into_owned();
            events.push((event.time, event.kind, event.framing, event.flags, payload));
        }
        Ok((header, events))
    }

    #[test]
    fn the_common_names_are_known() {
        let (header, events) = read(concat!(
            "{\"ts\":\"2026-01-02T03:04:05.5Z\",\"dir\":\"c2s\",\"msg\":{\"id\":1.0,\"method\":\"ping\"}}\n\n",
            "{\"timestamp\":1767323046,\"direction\":\"server_to_client\",\"raw\":\"{\\\"id\\\": 1}\"}\n",
            "{\"time\":1767323046500,\"dir\":\"s2c_noise\",\"text\":\"hello\"}\n",
            "{\"direction\":\"server_stderr\",\"text\":\"warning\"}\n",
            "{\"dir\":\"s2c\",\"sse\":[\"id: 4\",\"data: {}\"]}\n",
        ))
        .expect("a transcript");
        assert_eq!(header.created, 1_767_323_045_500_000_000);
        let to_server = Flags::toward(Direction::ClientToServer);
        let to_client = Flags::toward(Direction::ServerToClient);
        let half = 500_000_000;
        let message = |time, framing, flags, text: &str| (time, EventKind::Message, framing, flags, text.to_owned());
        assert_eq!(events[0], message(0, Framing::Lf, to_server, "{\"id\":1.0,\"method\":\"ping\"}"));
        assert_eq!(events[1], message(half, Framing::Lf, to_client, "{\"id\": 1}"));
        assert_eq!(events[2], message(2 * half, Framing::Lf, to_client, "hello"));
        assert_eq!(events[3], (2 * half, EventKind::Stderr, Framing::Whole, to_client, "warning\n".to_owned()));
        assert_eq!(events[4], message(2 * half, Framing::Sse, to_client, "id: 4\ndata: {}\n\n"));
    }

    #[test]
    fn a_message_may_stand_as_text() {
        let text =
            "{\"ts\":1,\"dir\":\"c2s\",\"message\":\"{\\\"id\\\": 1}\"}\n{\"dir\":\"stderr\",\"message\":\"oh\"}\n";
        let (_, events) = read(text).expect("a transcript");
        assert_eq!((events[0].4.as_str(), events[1].4.as_str()), ("{\"id\": 1}", "oh\n"));
    }

    #[test]
    fn what_is_no_message_stays_as_a_note() {
        let (_, events) = read("{\"ts\":1,\"dir\":\"exit\",\"text\":\"0\"}\n{\"dir\":\"c2s\",\"http\":{\"a\":1}}\n")
            .expect("a transcript");
        assert_eq!(events.iter().map(|event| event.1).collect::<Vec<_>>(), [EventKind::Note; 2]);
        assert!(events[1].4.contains("http"));
    }

    #[test]
    fn a_line_that_kept_its_end_gets_no_second_one() {
        let text = concat!(
            "{\"ts\":1,\"dir\":\"c2s\",\"raw\":\"{}\\n\"}\n{\"dir\":\"s2c\",\"raw\":\"{}\\r\\n\"}\n",
            "{\"dir\":\"stderr\",\"text\":\"one\\n\"}\n{\"dir\":\"stderr\",\"text\":\"two\"}\n"
        );
        let (_, events) = read(text).expect("a transcript");
        let found: Vec<_> = events.iter().map(|event| (event.2, event.4.as_str())).collect();
        assert_eq!(
            found,
            [(Framing::Lf, "{}"), (Framing::CrLf, "{}"), (Framing::Whole, "one\n"), (Framing::Whole, "two\n")]
        );
    }

    /// The stream, the exchange, the kind, and the decoded CBOR payload.
    type Placed = (u32, u32, EventKind, Value);

    fn placed(text: &str) -> Vec<Placed> {
        let mut reader = opened(text).expect("a transcript");
        let mut found = Vec::new();
        while let Some(event) = reader.next_event().expect("reads") {
            let reported = ciborium::from_reader(event.payload).unwrap_or(Value::Null);
            let reported = if event.kind == EventKind::Message { Value::Null } else { reported };
            found.push((event.stream, event.exchange, event.kind, reported));
        }
        found
    }

    #[test]
    fn heads_and_bodies_become_what_a_recording_has_of_them() {
        use serde_json::json;
        let text = concat!(
            "{\"ts\":1,\"dir\":\"c2s\",\"conn\":\"a\",\"http\":{\"method\":\"POST\",\"path\":\"/mcp\",\"headers\":",
            "{\"Mcp-Method\":\"ping\",\"Authorization\":\"Bearer x\"}},\"raw\":\"{}\"}\n",
            "{\"dir\":\"c2s\",\"conn\":\"b\",\"http\":{\"method\":\"GET\",\"path\":\"/mcp\"},\"raw\":null}\n",
            "{\"dir\":\"s2c\",\"conn\":\"a\",\"http\":{\"status\":403}}\n",
            "{\"dir\":\"s2c\",\"conn\":\"a\",\"raw\":\"Forbidden\"}\n",
            "{\"dir\":\"s2c\",\"conn\":\"b\",\"sse\":[\"event: endpoint\",\"data: /x\"]}\n",
            "{\"dir\":\"s2c\",\"conn\":\"b\",\"sse\":[\"data: {}\"]}\n",
            "{\"dir\":\"c2s\",\"conn\":\"a\",\"http\":{\"method\":\"POST\",\"path\":\"/x\"},\"raw\":\"{}\"}\n",
        );
        let head = |method: &str, target: &str, headers: Value| json!({"what": "request", "method": method, "target": target, "headers": headers});
        let (transport, message) = (EventKind::Transport, EventKind::Message);
        let opened = |stream| (stream, 0, EventKind::StreamOpened, json!({"transport": "http"}));
        let expected = [
            opened(1),
            (
                1,
                1,
                transport,
                head("POST", "/mcp", json!([["mcp-method", "ping"], ["authorization", "Bearer [redacted]"]])),
            ),
            (1, 1, message, Value::Null),
            opened(2),
            (2, 2, transport, head("GET", "/mcp", json!([]))),
            (1, 1, transport, json!({"what": "response", "status": 403, "headers": []})),
            (1, 1, transport, json!({"what": "body", "bytes": 9, "text": "Forbidden"})),
            (2, 2, transport, json!({"what": "sse", "block": "event: endpoint\ndata: /x\n\n", "joined": false})),
            (2, 2, message, Value::Null),
            (2, 3, transport, head("POST", "/x", json!([]))),
            (2, 3, message, Value::Null),
        ];
        let found = placed(text);
        for (number, expected) in expected.iter().enumerate() {
            let mut got = found[number].clone();
            if let (Some(headers), Some(wanted)) =
                (got.3.get_mut("headers").and_then(Value::as_array_mut), expected.3["headers"].as_array())
            {
                headers.sort_by_key(|pair| wanted.iter().position(|other| other == pair));
            }
            assert_eq!(&got, expected, "{number}");
        }
        assert_eq!(found.len(), expected.len());
    }

    #[test]
    fn bad_lines_are_named() {
        let reason = |text: &str| read(text).expect_err("refused").to_string();
        assert_eq!(reason(""), "line 1: the file is empty");
        assert!(reason("{\"a\":1}").contains("or a line with a direction"));
        assert!(reason("{\"dir\":\"c2s\",\"ts\":\"noon\"}").contains("cannot read the time \"noon\""));
        let gap = |text: &str| placed(text).into_iter().find(|event| event.2 == EventKind::Gap).expect("a gap").3;
        let gap_of = |rest: &str| gap(&format!("{{\"dir\":\"c2s\",\"ts\":1,\"msg\":{{}}}}\n{rest}"));
        assert_eq!(gap_of("[1]"), serde_json::json!({"line": 2, "reason": "not a single JSON object"}));
        assert!(gap_of("{\"dir\"")["reason"].as_str().is_some_and(|reason| reason.starts_with("not JSON")));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,200}") {
            let _ = read(&text);
            let _ = read(&format!("{{\"dir\":\"c2s\",\"ts\":1}}\n{{\"msg\":{text}}}"));
        }
    }
}
