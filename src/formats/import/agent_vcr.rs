//! Imports recordings of agent-vcr (PyPI; format 1): a JSON document with one item per request and its response.

use super::elements::{Elements, has_members};
use super::reading::{
    Events, Format, MILLISECOND, Members, Place, Reader, Unit, object, on_one_line, scaled, without_zone,
};
use super::{ImportFormat, Opened};
use crate::trace::{EventKind, Flags};
use crate::wire::edit::without_members;
use crate::wire::{Direction, Framing, json};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::io::BufRead;

/// See the module.
pub(super) const IMPORT: ImportFormat = ImportFormat {
    name: "agent-vcr",
    about: "Recordings of agent-vcr (.vcr): JSON with `session.interactions`",
    lacks: "exact bytes, the time zone (times are shown as UTC), the times of the handshake and of notifications, the \
            client's notifications, HTTP heads, standard error",
    detect: |start| has_members(start, &["format_version", "metadata", "session"]),
    open,
};

fn open(input: Box<dyn BufRead + Send>) -> Opened {
    let units = Elements::new(input, &["session", "interactions"]);
    Ok(Box::new(Reader::open(units, Recording, IMPORT.name)?))
}

struct Recording;

impl Format for Recording {
    fn take(&mut self, unit: Unit<'_>, out: &mut Events) -> Result<(), String> {
        match unit.key {
            "" => interaction(object(unit.text)?, out),
            "metadata" => metadata(object(unit.text)?, out),
            "session.initialize_request" => {
                object(unit.text)?;
                message(unit.text, Direction::ClientToServer, out);
                Ok(())
            }
            "session.initialize_response" => {
                object(unit.text)?;
                message(unit.text, Direction::ServerToClient, out);
                out.lose("agent-vcr leaves out the client's notifications");
                // Interactions are in the order of their responses.
                out.holds = true;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

fn metadata(about: Members<'_>, out: &mut Events) -> Result<(), String> {
    if let Some(time) = about.text("recorded_at") {
        out.begin(without_zone(&time)?);
    }
    for name in ["session_id", "endpoint_id", "agent_id"] {
        if let Some(text) = about.text(name) {
            out.note(name, text);
        }
    }
    let mut opened: Map<String, Value> =
        about.text("transport").map(|text| ("transport".to_owned(), text.into())).into_iter().collect();
    let args = about.items("server_args").filter_map(json::as_str);
    let command: Vec<Value> = about.text("server_command").into_iter().chain(args).map(Value::from).collect();
    if !command.is_empty() {
        opened.insert("command".to_owned(), command.into());
    }
    out.describe(Place::default(), EventKind::StreamOpened, Flags::default(), &opened);
    Ok(())
}

fn interaction(found: Members<'_>, out: &mut Events) -> Result<(), String> {
    let request = found.get("request").ok_or("no `request`")?;
    // The moment of the response, or of the request if there is no response.
    let ended = without_zone(&found.required("timestamp")?)?;
    let latency = scaled(found.get("latency_ms").unwrap_or(b"0"), MILLISECOND)?;
    let response = found.get("response");
    out.at(response.map_or(ended, |_| ended.saturating_sub(latency)));
    message(request, Direction::ClientToServer, out);
    out.at(ended);
    for notification in found.items("notifications") {
        message(notification, Direction::ServerToClient, out);
    }
    if let Some(response) = response {
        message(response, Direction::ServerToClient, out);
    }
    Ok(())
}

fn message(value: &[u8], direction: Direction, out: &mut Events) {
    out.message(Place::default(), direction, Framing::Lf, on_one_line(&on_the_wire(value)));
}

/// Returns a response without the member that agent-vcr adds: `"error": null` beside a result, or `"result": null` beside
/// an error.
fn on_the_wire(value: &[u8]) -> Cow<'_, [u8]> {
    let (result, error) = (json::member(value, "result"), json::member(value, "error"));
    match (result, error) {
        (Some(_), Some(b"null")) => Cow::Owned(without_members(value, &["error"])),
        (Some(b"null"), Some(_)) => Cow::Owned(without_members(value, &["result"])),
        _ => Cow::Borrowed(value),
    }
}

#[cfg(test)]
mod tests {
    use super::super::reading::tests::{read_as, texts};

    const FILE: &str = r#"{
  "format_version": "1.0.0",
  "metadata": {"version": "1.0", "recorded_at": "2026-01-02T03:04:05.500000", "transport": "stdio",
    "server_command": "node", "server_args": ["x.js"], "session_id": null},
  "session": {
    "initialize_request": {"jsonrpc": "2.0", "id": 1, "method": "initialize"},
    "initialize_response": {"jsonrpc": "2.0", "id": 1, "result": {}},
    "capabilities": {"tools": {}},
    "interactions": [
      {"sequence": 0, "timestamp": "2026-01-02T03:04:06", "direction": "server_to_client",
       "request": {"jsonrpc": "2.0", "id": 3, "method": "ping"},
       "response": {"jsonrpc": "2.0", "id": 3, "result": {}, "error": null},
       "notifications": [{"jsonrpc": "2.0", "method": "notifications/x"}], "latency_ms": 100.5},
      {"sequence": 1, "timestamp": "2026-01-02T03:04:06.1", "request": {"jsonrpc": "2.0", "id": 2, "method": "slow"},
       "response": {"jsonrpc": "2.0", "id": 2, "result": null, "error": {"code": -1, "message": "no"}},
       "notifications": [], "latency_ms": 400},
      {"sequence": 2, "request": {}}
    ]
  }
}"#;

    #[test]
    fn requests_come_before_responses_at_the_time_of_each() {
        let (header, events) = read_as("agent-vcr", FILE);
        assert_eq!(header.created, 1_767_323_045_500_000_000);
        let expected = [
            (0, "{\"transport\":\"stdio\",\"command\":[\"node\",\"x.js\"]}"),
            (0, r#"{"jsonrpc": "2.0", "id": 1, "method": "initialize"}"#),
            (0, r#"{"jsonrpc": "2.0", "id": 1, "result": {}}"#),
            (0, r#"{"reason":"agent-vcr leaves out the client's notifications"}"#),
            (200_000, r#"{"jsonrpc": "2.0", "id": 2, "method": "slow"}"#),
            (399_500, r#"{"jsonrpc": "2.0", "id": 3, "method": "ping"}"#),
            (500_000, r#"{"jsonrpc": "2.0", "method": "notifications/x"}"#),
            (500_000, r#"{"jsonrpc":"2.0","id":3,"result":{}}"#),
            (600_000, r#"{"jsonrpc":"2.0","id":2,"error":{"code": -1, "message": "no"}}"#),
            (600_000, r#"{"line":17,"reason":"no `timestamp`"}"#),
        ];
        let found: Vec<_> = events.iter().zip(texts(&events)).map(|(event, text)| (event.0 / 1000, text.1)).collect();
        assert_eq!(found, expected);
    }
}
