//! Imports cassettes of mcp-recorder (PyPI; format 1): a JSON document with one item per request and its response.

use super::elements::{Elements, has_members};
use super::reading::{Events, Format, MILLISECOND, Members, Place, Reader, Unit, object, on_one_line, rfc3339, scaled};
use super::{ImportFormat, Opened};
use crate::trace::{EventKind, Flags};
use crate::wire::{Direction, Framing, json};
use serde_json::{Map, Value};
use std::io::BufRead;

/// See the module.
pub(super) const IMPORT: ImportFormat = ImportFormat {
    name: "mcp-recorder",
    about: "Cassettes of mcp-recorder: JSON with `interactions`",
    lacks: "exact bytes, the time between one response and the next request (none is shown), HTTP heads, standard \
            error, and what the server sends of its own accord",
    detect: |start| has_members(start, &["metadata", "interactions"]),
    open,
};

fn open(input: Box<dyn BufRead + Send>) -> Opened {
    let units = Elements::new(input, &["interactions"]);
    Ok(Box::new(Reader::open(units, Cassette, IMPORT.name)?))
}

struct Cassette;

impl Format for Cassette {
    fn take(&mut self, unit: Unit<'_>, out: &mut Events) -> Result<(), String> {
        match unit.key {
            "" => interaction(object(unit.text)?, out),
            "metadata" => metadata(object(unit.text)?, out),
            _ => Ok(()),
        }
    }
}

fn metadata(about: Members<'_>, out: &mut Events) -> Result<(), String> {
    if let Some(time) = about.text("recorded_at") {
        out.begin(rfc3339(&time)?);
    }
    if let Some(version) = about.text("protocol_version") {
        out.note("protocol_version", version);
    }
    let members = [("transport_type", "transport"), ("server_url", "url")];
    let found = members.iter().filter_map(|(name, shown)| Some(((*shown).to_owned(), about.text(name)?.into())));
    let opened = Value::Object(found.collect::<Map<_, Value>>());
    out.describe(Place::default(), EventKind::StreamOpened, Flags::default(), &opened);
    out.lose("mcp-recorder leaves out what the server sends of its own accord");
    Ok(())
}

fn interaction(found: Members<'_>, out: &mut Events) -> Result<(), String> {
    let latency = scaled(found.get("latency_ms").unwrap_or(b"0"), MILLISECOND)?;
    let (request, response) = (found.get("request"), found.get("response"));
    if request.is_none() && response.is_none() {
        lifecycle(found, out);
    }
    if let Some(request) = request {
        message(request, Direction::ClientToServer, out);
    }
    if let Some(time) = out.time() {
        out.at(time.saturating_add(latency));
    }
    if let Some(response) = response {
        message(response, Direction::ServerToClient, out);
    }
    Ok(())
}

fn message(value: &[u8], direction: Direction, out: &mut Events) {
    out.message(Place::default(), direction, Framing::Whole, on_one_line(value));
}

/// Notes an HTTP request without a message, whose head is not in the file.
fn lifecycle(found: Members<'_>, out: &mut Events) {
    let members = ["http_method", "http_path", "response_status"].iter().filter_map(|name| {
        let value = found.get(name)?;
        let value = json::as_str(value).map_or_else(|| String::from_utf8_lossy(value).into_owned(), String::from);
        Some(((*name).to_owned(), Value::from(value)))
    });
    let noted = Value::Object(members.collect());
    out.describe(Place::default(), EventKind::Note, Flags::default(), &noted);
}

#[cfg(test)]
mod tests {
    use super::super::reading::tests::{read_as, texts};
    use super::*;

    const FILE: &str = r#"{
  "version": "1.0",
  "metadata": {"recorded_at": "2026-01-02T03:04:05.5+00:00", "server_url": "http://x", "transport_type": "http",
    "protocol_version": "2025-11-25", "server_info": null},
  "interactions": [
    {"type": "jsonrpc_request", "request": {
        "jsonrpc": "2.0", "id": 1, "method": "ping"}, "response": {"jsonrpc": "2.0", "id": 1, "result": {}},
     "response_is_sse": true, "response_status": 200, "latency_ms": 58, "http_method": null},
    {"type": "notification", "request": {"jsonrpc":"2.0","method":"notifications/x"}, "response": null, "latency_ms": 2},
    [1],
    {"type": "lifecycle", "request": null, "response": null, "latency_ms": 1, "response_status": 200,
     "http_method": "DELETE", "http_path": "/mcp"}
  ]
}"#;

    #[test]
    fn interactions_follow_each_other_with_their_latencies() {
        let (header, events) = read_as("mcp-recorder", FILE);
        assert_eq!(header.created, 1_767_323_045_500_000_000);
        let expected = [
            ("opened", "{\"transport\":\"http\",\"url\":\"http://x\"}"),
            ("gap", r#"{"reason":"mcp-recorder leaves out what the server sends of its own accord"}"#),
            ("message", r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#),
            ("message", r#"{"jsonrpc": "2.0", "id": 1, "result": {}}"#),
            ("message", r#"{"jsonrpc":"2.0","method":"notifications/x"}"#),
            ("gap", "{\"line\":10,\"reason\":\"not a JSON object\"}"),
            ("note", r#"{"http_method":"DELETE","http_path":"/mcp","response_status":"200"}"#),
        ];
        assert_eq!(texts(&events), expected);
        let times: Vec<i64> = events.iter().map(|event| event.0 / MILLISECOND).collect();
        assert_eq!(times, [0, 0, 0, 58, 58, 60, 60]);
    }
}
