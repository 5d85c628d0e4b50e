//! Imports what MCP Inspector exports (2.x): the protocol history, and the network log, which has HTTP heads.

use super::elements::{Elements, has_members};
use super::exchange::{EventTimes, Exchange};
use super::http::Sessions;
use super::reading::{Events, Format, MILLISECOND, Members, Place, Reader, Unit, object, on_one_line, rfc3339, scaled};
use super::{ImportFormat, Opened};
use crate::wire::{Direction, Framing, json};
use serde_json::json;
use std::io::BufRead;

/// See the module.
pub(super) const IMPORT: ImportFormat = ImportFormat {
    name: "inspector",
    about: "Exports of MCP Inspector: a list of `message` and `response` (protocol), or of requests (network)",
    lacks: "exact bytes, standard error; the protocol export has no HTTP heads, the network export no times of the \
            events of a stream",
    detect: |start| {
        has_members(start, &["[].timestamp"])
            && ["[].direction", "[].requestHeaders"].iter().any(|name| has_members(start, &[name]))
    },
    open,
};

fn open(input: Box<dyn BufRead + Send>) -> Opened {
    Ok(Box::new(Reader::open(Elements::new(input, &[]), History::default(), IMPORT.name)?))
}

#[derive(Default)]
struct History {
    sessions: Sessions,
}

impl Format for History {
    fn take(&mut self, unit: Unit<'_>, out: &mut Events) -> Result<(), String> {
        out.holds = true;
        let entry = object(unit.text)?;
        let started = rfc3339(&entry.required("timestamp")?)?;
        let ended = started.saturating_add(scaled(entry.get("duration").unwrap_or(b"0"), MILLISECOND)?);
        // Entries are in the order in which they began.
        out.release(started);
        match entry.get("message") {
            Some(message) => protocol(entry, message, started, ended, out),
            None => self.network(entry, started, ended, out),
        }
    }
}

/// Adds a message, and the response to it.
fn protocol(entry: Members<'_>, message: &[u8], started: i64, ended: i64, out: &mut Events) -> Result<(), String> {
    let direction = match &*entry.required("origin")? {
        "client" => Direction::ClientToServer,
        "server" => Direction::ServerToClient,
        other => return Err(format!("unknown origin {other:?}")),
    };
    out.at(started);
    out.message(Place::default(), direction, Framing::Lf, on_one_line(message));
    if let Some(response) = entry.get("response") {
        let back = match direction {
            Direction::ClientToServer => Direction::ServerToClient,
            Direction::ServerToClient => Direction::ClientToServer,
        };
        out.at(ended);
        out.message(Place::default(), back, Framing::Lf, on_one_line(response));
    }
    Ok(())
}

impl History {
    /// Adds an HTTP request and its response.
    fn network(&mut self, entry: Members<'_>, started: i64, ended: i64, out: &mut Events) -> Result<(), String> {
        let headers = |name| json::parsed(entry.get(name).unwrap_or(b"{}")).unwrap_or_default();
        let url = entry.required("url")?;
        let body = |name| entry.text(name).unwrap_or_default().into_owned().into_bytes();
        let status = entry.get("responseStatus").and_then(json::parsed);
        let exchange = Exchange {
            started,
            sent: started,
            answered: ended,
            ended,
            server: url.split(['?', '#']).next().unwrap_or_default().to_owned(),
            request: json!({"method": entry.required("method")?, "path": target(&url), "headers": headers("requestHeaders")}),
            request_body: body("requestBody"),
            response: status.map(|status| json!({"status": status, "headers": headers("responseHeaders")})),
            response_body: body("responseBody"),
            event_times: EventTimes::Unknown,
            own: None,
        };
        exchange.add(&mut self.sessions, out)
    }
}

/// The path and the query of a URL.
fn target(url: &str) -> &str {
    let authority = url.find("://").map_or(0, |at| at + 3);
    url[authority..].find('/').map_or("/", |at| &url[authority + at..])
}

#[cfg(test)]
mod tests {
    use super::super::reading::tests::{read_as, texts};

    #[test]
    fn the_protocol_export_has_messages_and_responses_in_their_order() {
        let text = r#"[
  {
    "id": "1", "timestamp": "2026-01-02T03:04:05.500Z", "direction": "request", "origin": "client",
    "message": {
      "jsonrpc": "2.0", "id": 1.0, "method": "slow"
    },
    "response": {"jsonrpc": "2.0", "id": 1, "result": {}}, "duration": 300
  },
  {"id": "2", "timestamp": "2026-01-02T03:04:05.600Z", "direction": "notification", "origin": "server",
   "message": {"method": "x"}},
  {"id": "3", "timestamp": "2026-01-02T03:04:05.700Z", "direction": "request", "message": {"method": "y"}}
]"#;
        let (header, events) = read_as("inspector", text);
        assert_eq!(header.created, 1_767_323_045_500_000_000);
        let expected = [
            ("message", r#"{"jsonrpc":"2.0","id":1.0,"method":"slow"}"#),
            ("message", r#"{"method": "x"}"#),
            ("gap", r#"{"line":11,"reason":"no `origin`"}"#),
            ("message", r#"{"jsonrpc": "2.0", "id": 1, "result": {}}"#),
        ];
        let mut found = texts(&events);
        // The gap has the time of the event before it.
        found.sort_by_key(|(kind, text)| expected.iter().position(|it| it == &(*kind, *text)));
        assert_eq!(found, expected);
        assert_eq!(events.iter().map(|event| event.0 / 1_000_000).max(), Some(300));
    }

    #[test]
    fn the_network_export_has_heads() {
        let text = r#"[{"id": "1", "timestamp": "2026-01-02T03:04:05.500Z", "method": "POST", "url": "http://h:1/mcp",
            "requestHeaders": {"accept": "x", "authorization": "Bearer abc"}, "requestBody": "{\"id\":1,\"method\":\"ping\"}",
            "responseStatus": 200, "responseHeaders": {"content-type": "text/event-stream"},
            "responseBody": "data: {\"id\":1}\n\n", "duration": 58, "category": "transport"}]"#;
        let (_, events) = read_as("inspector", text);
        let found = texts(&events);
        assert_eq!(found[0].0, "opened");
        assert!(found[1].1.contains("[redacted]") && found[1].1.contains("\"target\":\"/mcp\""), "{}", found[1].1);
        assert_eq!(found[2], ("message", "{\"id\":1,\"method\":\"ping\"}"));
        assert!(found[3].1.contains("\"status\":200"), "{}", found[3].1);
        assert_eq!(found[4], ("message", "data: {\"id\":1}\n\n"));
    }
}
