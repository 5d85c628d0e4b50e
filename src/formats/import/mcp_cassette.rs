//! Imports cassettes of mcp-cassette (PyPI; formats 1 to 3): a JSON document with one item per message.

use super::elements::{Elements, has_members};
use super::reading::{Events, Format, MILLISECOND, Members, Place, Reader, Unit, object, on_one_line, rfc3339, scaled};
use super::{ImportFormat, Opened};
use crate::trace::{EventKind, Flags};
use crate::wire::{Direction, Framing, json};
use serde_json::{Map, Value};
use std::io::BufRead;

/// See the module.
pub(super) const IMPORT: ImportFormat = ImportFormat {
    name: "mcp-cassette",
    about: "Cassettes of mcp-cassette: JSON with `messages`",
    lacks: "exact bytes, when the session began (the clock is off by its length), HTTP heads, standard error",
    detect: |start| has_members(start, &["format_version", "messages"]),
    open,
};

fn open(input: Box<dyn BufRead + Send>) -> Opened {
    let units = Elements::new(input, &["messages"]);
    Ok(Box::new(Reader::open(units, Cassette::default(), IMPORT.name)?))
}

/// What was read beside the messages.
#[derive(Default)]
struct Cassette {
    about: Map<String, Value>,
    is_http: bool,
    is_open: bool,
}

impl Format for Cassette {
    fn take(&mut self, unit: Unit<'_>, out: &mut Events) -> Result<(), String> {
        match unit.key {
            "" => self.message(object(unit.text)?, out),
            "recorded_at" => json::as_str(unit.text).map_or(Ok(()), |text| rfc3339(&text).map(|time| out.begin(time))),
            key => {
                self.about(key, unit.text, out);
                Ok(())
            }
        }
    }
}

impl Cassette {
    fn about(&mut self, key: &str, value: &[u8], out: &mut Events) {
        let Some(text) = json::as_str(value) else { return };
        match key {
            "transport" => {
                self.is_http = text == "http";
                self.about.insert("transport".to_owned(), text.into());
            }
            "server_url" => {
                self.about.insert("url".to_owned(), text.into());
            }
            "protocol_version" | "session_id" => out.note(key, text),
            _ => {}
        }
    }

    fn message(&mut self, message: Members<'_>, out: &mut Events) -> Result<(), String> {
        let direction = match &*message.required("sender")? {
            "client" => Direction::ClientToServer,
            "server" => Direction::ServerToClient,
            other => return Err(format!("unknown sender {other:?}")),
        };
        let payload = message.get("payload").ok_or("no `payload`")?;
        // A line that is not JSON is kept as text.
        let payload = json::as_str(payload).map_or_else(|| on_one_line(payload), |text| text.into_owned().into_bytes());
        let offset = scaled(message.get("t_offset_ms").unwrap_or(b"0"), MILLISECOND)?;
        out.at(out.begun().saturating_add(offset));
        if !std::mem::replace(&mut self.is_open, true) && !self.about.is_empty() {
            let about = Value::Object(std::mem::take(&mut self.about));
            out.describe(Place::default(), EventKind::StreamOpened, Flags::default(), &about);
        }
        let flags = if message.is_true("redacted") { Flags::REDACTED } else { Flags::default() };
        let framing = if self.is_http { Framing::Whole } else { Framing::Lf };
        out.push(Place::default(), EventKind::Message, Flags::toward(direction).with(flags), framing, payload);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::reading::tests::{read_as, texts};
    use super::*;

    const FILE: &str = r#"{
  "format_version": 3,
  "recorded_at": "2026-01-02T03:04:05.500000Z",
  "transport": "stdio",
  "server_url": null,
  "protocol_version": "2025-11-25",
  "messages": [
    {"seq": 0, "t_offset_ms": 23, "sender": "client", "kind": "request",
     "payload": {
       "jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"n": 1.0, "t": "a  b"}
     }, "redacted": false},
    {"seq": 1, "t_offset_ms": 40, "sender": "server", "kind": "raw", "payload": "not  JSON", "redacted": true},
    {"seq": 2, "t_offset_ms": 41, "sender": "nobody", "payload": {}},
    {"seq": 3, "t_offset_ms": 42, "sender": "server", "payload": {"jsonrpc":"2.0","id":1,"result":{}}}
  ]
}
"#;

    #[test]
    fn messages_keep_their_times_and_their_json() {
        let (header, events) = read_as("mcp-cassette", FILE);
        assert_eq!(header.created, 1_767_323_045_500_000_000);
        assert_eq!(header.notes["protocol_version"], "2025-11-25");
        let expected = [
            ("opened", "{\"transport\":\"stdio\"}"),
            ("message", r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"n":1.0,"t":"a  b"}}"#),
            ("message", "not  JSON"),
            ("gap", "{\"line\":13,\"reason\":\"unknown sender \\\"nobody\\\"\"}"),
            ("message", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"),
        ];
        assert_eq!(texts(&events), expected);
        let times: Vec<i64> = events.iter().map(|event| event.0 / MILLISECOND).collect();
        assert_eq!(times, [23, 23, 40, 40, 42]);
        assert_eq!((events[1].4, events[2].4), (Direction::ClientToServer, Direction::ServerToClient));
    }
}
