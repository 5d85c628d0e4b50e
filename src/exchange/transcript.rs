//! Transcripts: JSON lines that other tools and hand-written loggers keep, each with a time, a direction and what
//! crossed. Names differ from tool to tool; the common ones are known (see [`Reader`]).
//!
//! Only reading: a transcript keeps less than a reel does. A message that stands as a JSON value is taken with the
//! bytes of the line, which need not be those of the wire.

use super::jsonl::JsonlError;
use crate::trace::{EventKind, FileHeader, Flags, NewEvent};
use crate::wire::{Direction, Framing, json};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::HashMap;
use std::io::BufRead;

/// The longest line that is read, in bytes.
const LINE_LIMIT: u64 = 1 << 30;

/// Reads a transcript. Each line is an object with
/// - a time: `time`, `ts` or `timestamp`, as RFC 3339 text or a number of seconds, or of milliseconds where it is too
///   great for seconds; a line without one has that of the line before;
/// - a direction: `dir` or `direction`, `c2s` or `client_to_server`, `s2c` or `server_to_client`, one of the two with
///   `_noise` for what is no JSON; `stderr`, `s2c_stderr` or `server_stderr` for the server's standard error;
/// - what crossed: `raw` or `text` (a string: the line as it stood), `msg` or `message` (a JSON value; a string is as
///   above, since no message is one), or `sse` (the lines of one server-sent event);
/// - over HTTP, `conn` (which connection) and `http` (a head): a client's head begins an exchange, to which all belongs
///   that follows on its connection. There, a body or an event that is no JSON text is no message.
///
/// A line that carries nothing of these stays whole as a note, so that nothing is lost.
pub struct Reader<R: BufRead> {
    input: R,
    line: Vec<u8>,
    number: u64,
    header: FileHeader,
    /// The first line was read for the header's time and is still to be told.
    waiting: bool,
    /// Unix nanoseconds of the line read last.
    time: i64,
    payload: Vec<u8>,
    /// The exchange that each connection is in, by the connection's text.
    exchanges: HashMap<Box<[u8]>, u32>,
    /// The number of the exchange begun last.
    exchange: u32,
}

impl<R: BufRead> Reader<R> {
    /// Reads the first line.
    pub fn new(input: R) -> Result<Self, JsonlError> {
        let (line, payload) = (Vec::new(), Vec::new());
        let header = FileHeader::default();
        let (exchanges, exchange) = (HashMap::new(), 0);
        let mut reader = Self { input, line, number: 0, header, waiting: true, time: 0, payload, exchanges, exchange };
        if !reader.next_line()? {
            return Err(reader.error("there is none"));
        }
        let line = Line::parse(&reader.line).map_err(|reason| reader.error(reason))?;
        if line.direction.is_none() {
            return Err(reader.error("it begins neither with {\"reel\":…} nor with a line that has a direction"));
        }
        let begins = line.time(0).map_err(|reason| reader.error(reason))?;
        reader.header = FileHeader {
            created: begins,
            tool: "transcript".into(),
            notes: [("imported from".to_owned(), "a transcript".to_owned())].into(),
            ..FileHeader::default()
        };
        reader.time = begins;
        Ok(reader)
    }

    /// What the reel is to say about itself.
    pub fn header(&self) -> &FileHeader {
        &self.header
    }

    /// The next event; its payload borrows from the reader.
    pub fn next_event(&mut self) -> Result<Option<NewEvent<'_>>, JsonlError> {
        if !std::mem::take(&mut self.waiting) && !self.next_line()? {
            return Ok(None);
        }
        let line = Line::parse(&self.line).map_err(|reason| self.error(reason))?;
        self.time = line.time(self.time).map_err(|reason| self.error(reason))?;
        let exchange = match line.connection {
            Some(connection) if line.begins_exchange() => {
                self.exchange += 1;
                self.exchanges.insert(connection.into(), self.exchange);
                self.exchange
            }
            Some(connection) => self.exchanges.get(connection).copied().unwrap_or_default(),
            None => 0,
        };
        let carried = line.carried(&mut self.payload);
        let mut failed = false;
        let (kind, framing, toward) = match (carried, line.direction) {
            (Some(framing), Some(Lane::Messages(direction))) => (EventKind::Message, framing, direction),
            (Some(framing), Some(Lane::Stderr)) => {
                self.payload.push(b'\n');
                (EventKind::Stderr, framing, Direction::ServerToClient)
            }
            _ => {
                let (told, kind) = match line.http.and_then(response) {
                    Some(head) => (Ok(head), EventKind::Transport),
                    None => (serde_json::from_slice(&self.line), EventKind::Note),
                };
                let told = told.map_err(|error| self.error(error.to_string()))?;
                failed = told["status"].as_u64().is_some_and(|status| status >= 400);
                self.payload.clear();
                ciborium::into_writer(&told, &mut self.payload).map_err(|error| self.error(error.to_string()))?;
                (kind, Framing::Lf, Direction::ServerToClient)
            }
        };
        let time = self.time.saturating_sub(self.header.created);
        let flags = if kind == EventKind::Note { Flags::default() } else { Flags::toward(toward) };
        let flags = if failed { flags.with(Flags::FAILED) } else { flags };
        Ok(Some(NewEvent { time, stream: 0, exchange, kind, flags, framing, payload: &self.payload }))
    }

    fn next_line(&mut self) -> Result<bool, JsonlError> {
        loop {
            self.line.clear();
            let length = std::io::Read::take(&mut self.input, LINE_LIMIT).read_until(b'\n', &mut self.line)?;
            self.number += 1;
            if length as u64 >= LINE_LIMIT {
                return Err(self.error("it is longer than 1 GiB"));
            }
            if self.line.is_empty() || !self.line.trim_ascii().is_empty() {
                return Ok(!self.line.is_empty());
            }
        }
    }

    fn error(&self, reason: impl Into<String>) -> JsonlError {
        JsonlError::Line { line: self.number, reason: reason.into() }
    }
}

/// Where something crossed.
#[derive(Clone, Copy)]
enum Lane {
    Messages(Direction),
    Stderr,
    /// A mark of the tool's own.
    Other,
}

impl Lane {
    fn parse(name: &str) -> Self {
        match name.strip_suffix("_noise").unwrap_or(name) {
            "c2s" | "client_to_server" | "client-to-server" => Self::Messages(Direction::ClientToServer),
            "s2c" | "server_to_client" | "server-to-client" => Self::Messages(Direction::ServerToClient),
            "stderr" | "s2c_stderr" | "server_stderr" => Self::Stderr,
            _ => Self::Other,
        }
    }
}

/// The members of a line that are known.
#[derive(Default)]
struct Line<'a> {
    time: Option<&'a [u8]>,
    direction: Option<Lane>,
    text: Option<&'a [u8]>,
    value: Option<&'a [u8]>,
    sse: Option<&'a [u8]>,
    connection: Option<&'a [u8]>,
    http: Option<&'a [u8]>,
}

impl<'a> Line<'a> {
    fn parse(line: &'a [u8]) -> Result<Self, String> {
        json::check(line.trim_ascii()).map_err(|reason| format!("it is no JSON: {reason}"))?;
        let mut found = Self::default();
        let mut members = json::members(line);
        for member in members.by_ref() {
            match member.key {
                b"time" | b"ts" | b"timestamp" => found.time = Some(member.value),
                b"dir" | b"direction" => found.direction = json::as_str(member.value).map(|name| Lane::parse(&name)),
                b"raw" | b"text" => found.text = Some(member.value),
                b"msg" | b"message" => found.value = Some(member.value),
                b"sse" => found.sse = Some(member.value),
                b"conn" => found.connection = Some(member.value),
                b"http" => found.http = Some(member.value),
                _ => {}
            }
        }
        if members.is_broken() { Err("it is not one JSON object".into()) } else { Ok(found) }
    }

    /// Unix nanoseconds; `before` where the line has no time.
    fn time(&self, before: i64) -> Result<i64, String> {
        let Some(text) = self.time else { return Ok(before) };
        let unknown = || format!("its time {} is not known", String::from_utf8_lossy(text));
        let moment = match serde_json::from_slice(text).map_err(|_| unknown())? {
            Value::String(text) => text.parse::<Timestamp>().ok(),
            Value::Number(number) => number.as_f64().and_then(|number| {
                // Seconds pass this in the year 5138; milliseconds did in 1973.
                let milliseconds = if number.abs() < 1e11 { number * 1e3 } else { number };
                Timestamp::from_microsecond((milliseconds * 1e3).round() as i64).ok()
            }),
            _ => None,
        };
        i64::try_from(moment.ok_or_else(unknown)?.as_nanosecond()).map_err(|_| unknown())
    }

    fn begins_exchange(&self) -> bool {
        self.http.is_some() && matches!(self.direction, Some(Lane::Messages(Direction::ClientToServer)))
    }

    /// Fills `payload` with what crossed, and tells how it was framed; `None` where no message did.
    fn carried(&self, payload: &mut Vec<u8>) -> Option<Framing> {
        payload.clear();
        if let Some(text) = self.text.and_then(json::as_str).or_else(|| self.value.and_then(json::as_str)) {
            payload.extend_from_slice(text.as_bytes());
            return match self.connection {
                None => Some(Framing::Lf),
                Some(_) => is_json(text.as_bytes()).then_some(Framing::Whole),
            };
        }
        if let Some(value) = self.value {
            payload.extend_from_slice(value);
            return Some(Framing::Lf);
        }
        let mut carries = false;
        for line in json::items(self.sse?).filter_map(json::as_str) {
            carries |= line.strip_prefix("data:").is_some_and(|data| is_json(data.as_bytes()));
            payload.extend_from_slice(line.as_bytes());
            payload.push(b'\n');
        }
        payload.push(b'\n');
        carries.then_some(Framing::Sse)
    }
}

/// A response's head as a reel tells it; `None` where it is none.
fn response(head: &[u8]) -> Option<Value> {
    let head: Value = serde_json::from_slice(head).ok()?;
    let status = head.get("status")?.as_u64()?;
    let headers = head.get("headers").and_then(Value::as_object).into_iter().flatten();
    let headers: Vec<_> = headers.map(|(name, value)| serde_json::json!([name, value])).collect();
    Some(serde_json::json!({ "what": "response", "status": status, "headers": headers }))
}

/// Whether a text begins as a message does.
fn is_json(text: &[u8]) -> bool {
    matches!(text.trim_ascii_start().first(), Some(b'{' | b'['))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Told = (i64, EventKind, Framing, Flags, String);

    fn read(text: &str) -> Result<(FileHeader, Vec<Told>), JsonlError> {
        let mut reader = Reader::new(text.as_bytes())?;
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
        assert_eq!(events[3], (2 * half, EventKind::Stderr, Framing::Lf, to_client, "warning\n".to_owned()));
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
    fn exchanges_follow_the_heads_of_their_connections() {
        let text = concat!(
            "{\"ts\":1,\"dir\":\"c2s\",\"conn\":\"a\",\"http\":{\"method\":\"POST\"},\"raw\":\"{}\"}\n",
            "{\"dir\":\"c2s\",\"conn\":\"b\",\"http\":{\"method\":\"GET\"}}\n",
            "{\"dir\":\"s2c\",\"conn\":\"a\",\"http\":{\"status\":202}}\n",
            "{\"dir\":\"s2c\",\"conn\":\"a\",\"raw\":\"Accepted\"}\n",
            "{\"dir\":\"s2c\",\"conn\":\"b\",\"sse\":[\"event: endpoint\",\"data: /x\"]}\n",
            "{\"dir\":\"s2c\",\"conn\":\"b\",\"sse\":[\"data: {}\"]}\n",
        );
        let mut reader = Reader::new(text.as_bytes()).expect("a transcript");
        let mut found = Vec::new();
        while let Some(event) = reader.next_event().expect("reads") {
            found.push((event.exchange, event.kind == EventKind::Message, event.framing));
        }
        let note = |exchange| (exchange, false, Framing::Lf);
        let message = |exchange, framing| (exchange, true, framing);
        let notes = [note(2), note(1), note(1), note(2)];
        assert_eq!(found[0], message(1, Framing::Whole));
        assert_eq!(found[1..5], notes);
        assert_eq!(found[5], message(2, Framing::Sse));
    }

    #[test]
    fn bad_lines_are_named() {
        let reason = |text: &str| read(text).expect_err("refused").to_string();
        assert_eq!(reason(""), "line 1: there is none");
        assert!(reason("{\"a\":1}").contains("nor with a line that has a direction"));
        assert!(reason("{\"dir\":\"c2s\",\"ts\":\"noon\"}").contains("its time \"noon\" is not known"));
        assert!(reason("{\"dir\":\"c2s\",\"ts\":1,\"msg\":{}}\n[1]").starts_with("line 2: it is not one JSON object"));
        assert!(reason("{\"dir\":\"c2s\",\"ts\":1}\n{\"dir\"").starts_with("line 2: it is no JSON"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,200}") {
            let _ = read(&text);
            let _ = read(&format!("{{\"dir\":\"c2s\",\"ts\":1}}\n{{\"msg\":{text}}}"));
        }
    }
}
