//! Imports HTTP archives (HAR 1.2), as browsers and proxies write them, also the members that Chrome adds for event
//! streams and WebSockets, and those that mcpreel's own export adds (`formats/har.rs`).

use super::elements::{Elements, has_members};
use super::exchange::{EventTimes, Exchange, Own};
use super::http::Sessions;
use super::reading::{Events, Format, MILLISECOND, Members, Place, Reader, SECOND, Unit, object, rfc3339, scaled};
use super::{ImportFormat, Opened};
use crate::trace::{EventKind, Flags};
use crate::wire::{Direction, Framing, json};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use std::io::BufRead;

/// See the module.
pub(super) const IMPORT: ImportFormat = ImportFormat {
    name: "har",
    about: "HTTP archives (HAR 1.2) of browsers, proxies and `export --format har`",
    lacks: "the times of the events of a stream (unless `_eventSourceMessages` has them), the bytes of compressed \
            bodies; requests that have nothing to do with MCP are left out",
    detect: |start| {
        has_members(start, &["log"]) && (has_members(start, &["log.version"]) || has_members(start, &["log.entries"]))
    },
    open,
};

fn open(input: Box<dyn BufRead + Send>) -> Opened {
    let units = Elements::new(input, &["log", "entries"]);
    Ok(Box::new(Reader::open(units, Archive::default(), IMPORT.name)?))
}

#[derive(Default)]
struct Archive {
    sessions: Sessions,
    /// The streams that were opened, of WebSockets and of mcpreel's own export.
    lanes: Vec<u32>,
}

impl Format for Archive {
    fn take(&mut self, unit: Unit<'_>, out: &mut Events) -> Result<(), String> {
        if unit.key == "log.creator" {
            let creator = object(unit.text)?;
            match creator.get("_notes") {
                // Of mcpreel: the notes of the recording that was exported.
                Some(notes) => json::members(notes).for_each(|note| {
                    out.note(&json::unescape(note.key), json::as_str(note.value).unwrap_or_default());
                }),
                None => {
                    let words: Vec<_> = ["name", "version"].iter().filter_map(|name| creator.text(name)).collect();
                    out.note("written by", words.join(" "));
                }
            }
            if let Some(label) = creator.text("_label") {
                out.label(label);
            }
        }
        if !unit.key.is_empty() {
            return Ok(());
        }
        // Entries are in no particular order, and overlap.
        out.holds = true;
        let entry = object(unit.text)?;
        let started = rfc3339(&entry.required("startedDateTime")?)?;
        match entry.get("_webSocketMessages") {
            Some(_) => self.messages(entry, started, out),
            None => self.exchange(entry, started, out),
        }
    }
}

impl Archive {
    fn exchange(&mut self, entry: Members<'_>, started: i64, out: &mut Events) -> Result<(), String> {
        let request = entry.object("request").ok_or("no `request`")?;
        let response = entry.object("response");
        let url = request.required("url")?;
        let (server, target) = split_url(&url);
        let request_body = request.object("postData").map(body).unwrap_or_default();
        let content = response.and_then(|response| response.object("content"));
        let spent = |name: &str| duration(entry.object("timings").and_then(|timings| timings.get(name)));
        let sent = ["blocked", "dns", "connect", "send"].iter().map(|name| spent(name)).sum::<i64>();
        let waited = sent.saturating_add(spent("wait"));
        let total = duration(entry.get("time")).max(waited);
        let (response_body, event_times) =
            content.map_or_else(|| (Vec::new(), EventTimes::Unknown), |content| stream(entry, content, started));
        let exchange = Exchange {
            started,
            sent: started.saturating_add(sent),
            answered: started.saturating_add(waited),
            ended: started.saturating_add(total),
            server: server.to_owned(),
            request: json!({"method": request.required("method")?, "path": target, "headers": headers(request)}),
            request_body,
            response: response
                .filter(|response| status(*response) != 0)
                .map(|response| json!({"status": status(response), "headers": headers(response)})),
            response_body,
            event_times,
            own: self.own(entry),
        };
        let stream = exchange.own.as_ref().map(|own| own.place.stream);
        if stream.is_some() || is_mcp(&exchange) {
            exchange.add(&mut self.sessions, out)?;
        }
        stream.map_or(Ok(()), |stream| ended(stream, started, entry, out))
    }

    /// Where mcpreel's own export says that an entry belongs.
    fn own(&mut self, entry: Members<'_>) -> Option<Own> {
        let place = Place { stream: number(entry, "_stream")?, exchange: number(entry, "_exchange")? };
        let opened = match self.opens(place.stream) {
            true => entry.get("_opened").and_then(|opened| serde_json::from_slice(opened).ok()),
            false => None,
        };
        Some(Own { place, opened, is_continued: entry.is_true("_continued") })
    }

    /// Whether a stream is new.
    fn opens(&mut self, stream: u32) -> bool {
        let is_new = self.lanes.len() < MAX_STREAMS && !self.lanes.contains(&stream);
        if is_new {
            self.lanes.push(stream);
        }
        is_new
    }

    /// Adds the messages of a WebSocket, or of a stream that mcpreel exported.
    fn messages(&mut self, entry: Members<'_>, started: i64, out: &mut Events) -> Result<(), String> {
        let url = entry.object("request").and_then(|request| request.text("url")).unwrap_or_default();
        let stream = number(entry, "_stream").unwrap_or_else(|| u32::try_from(self.lanes.len()).unwrap_or(u32::MAX));
        let place = Place { stream, exchange: 0 };
        out.at(started);
        if self.opens(stream) {
            let opened = entry.get("_opened").and_then(|opened| serde_json::from_slice(opened).ok());
            let opened = opened.unwrap_or_else(|| json!({"transport": "websocket", "url": url}));
            out.describe(place, EventKind::StreamOpened, Flags::default(), &opened);
        }
        for item in entry.items("_webSocketMessages") {
            message(place, started, object(item)?, out)?;
        }
        for item in entry.items("_stderr") {
            let found = object(item)?;
            out.at(time_of(started, found)?.unwrap_or(started));
            let flags = Flags::toward(Direction::ServerToClient);
            out.push(place, EventKind::Stderr, flags, Framing::Whole, data(found)?);
        }
        ended(stream, started, entry, out)
    }
}

/// Adds how a stream ended, if an entry of mcpreel's own export says so.
fn ended(stream: u32, started: i64, entry: Members<'_>, out: &mut Events) -> Result<(), String> {
    let Some(closed) = entry.object("_closed") else { return Ok(()) };
    let described = closed.get("data").map(json::value_of).filter(Value::is_object);
    if let Some(after) = closed.get("after") {
        out.at(started.saturating_add(scaled(after, 1)?));
    }
    let flags = if closed.is_true("failed") { Flags::FAILED } else { Flags::default() };
    out.describe(
        Place { stream, exchange: 0 },
        EventKind::StreamClosed,
        flags,
        &described.unwrap_or_else(|| json!({})),
    );
    Ok(())
}

/// The maximum number of streams that are told apart.
const MAX_STREAMS: usize = 10_000;

fn number(entry: Members<'_>, name: &str) -> Option<u32> {
    std::str::from_utf8(entry.get(name)?).ok()?.parse().ok()
}

/// The bytes of a listed message.
fn data(found: Members<'_>) -> Result<Vec<u8>, String> {
    let text = found.required("data")?;
    // Opcode 2 is binary, and in base64.
    match found.get("opcode") {
        Some(b"2") => BASE64.decode(text.as_bytes()).map_err(|error| format!("not base64: {error}")),
        _ => Ok(text.into_owned().into_bytes()),
    }
}

/// The time of a listed message: in seconds, or exactly, in nanoseconds since the entry began.
fn time_of(started: i64, found: Members<'_>) -> Result<Option<i64>, String> {
    match (found.get("_offset"), found.get("time")) {
        (Some(offset), _) => Ok(Some(started.saturating_add(scaled(offset, 1)?))),
        (None, Some(time)) => scaled(time, SECOND).map(Some),
        (None, None) => Ok(None),
    }
}

/// Adds a message of a WebSocket.
fn message(place: Place, started: i64, found: Members<'_>, out: &mut Events) -> Result<(), String> {
    let direction = match &*found.required("type")? {
        "send" => Direction::ClientToServer,
        "receive" => Direction::ServerToClient,
        other => return Err(format!("unknown type {other:?} of a message")),
    };
    if let Some(time) = time_of(started, found)? {
        out.at(time);
    }
    let framing = found.text("_framing").and_then(|name| Framing::from_name(&name)).unwrap_or(Framing::Whole);
    out.message(place, direction, framing, data(found)?);
    Ok(())
}

/// Whether an exchange can be one of MCP: it carries JSON or an event stream, or names MCP's headers.
fn is_mcp(exchange: &Exchange) -> bool {
    let is_json = |body: &[u8]| matches!(body.trim_ascii_start().first(), Some(b'{' | b'['));
    let mentions = |head: &Value, wanted: fn(&str, &str) -> bool| {
        let pairs = head["headers"].as_array().into_iter().flatten();
        pairs
            .filter_map(|pair| Some((pair[0].as_str()?.to_ascii_lowercase(), pair[1].as_str()?)))
            .any(|(name, value)| wanted(&name, value))
    };
    let of_mcp = |name: &str, value: &str| {
        name.starts_with("mcp-") || matches!(name, "accept" | "content-type") && value.contains("text/event-stream")
    };
    is_json(&exchange.request_body)
        || mentions(&exchange.request, of_mcp)
        || exchange.response.as_ref().is_some_and(|head| mentions(head, of_mcp))
}

/// The URL up to its path, and the path with the query.
fn split_url(url: &str) -> (&str, &str) {
    let authority = url.find("://").map_or(0, |at| at + 3);
    let path = url[authority..].find('/').map_or(url.len(), |at| authority + at);
    let end = url[path..].find(['?', '#']).map_or(url.len(), |at| path + at);
    (&url[..end], if path == url.len() { "/" } else { &url[path..] })
}

fn headers(message: Members<'_>) -> Value {
    let pairs = message.items("headers").map(|header| {
        let text = |name: &str| json::str_member(header, name).unwrap_or_default().into_owned();
        json!([text("name"), text("value")])
    });
    // Names that begin with a colon are HTTP/2's way to write the first line.
    pairs.filter(|pair| pair[0].as_str().is_some_and(|name| !name.starts_with(':'))).collect()
}

fn status(response: Members<'_>) -> u64 {
    response.get("status").and_then(|text| std::str::from_utf8(text).ok()?.parse().ok()).unwrap_or(0)
}

/// A duration in milliseconds; -1 means that it does not apply.
fn duration(text: Option<&[u8]>) -> i64 {
    text.and_then(|text| scaled(text, MILLISECOND).ok()).unwrap_or(0).max(0)
}

/// The bytes of `postData` or `content`.
fn body(content: Members<'_>) -> Vec<u8> {
    let text = content.text("text").unwrap_or_default();
    if content.text("encoding").is_some_and(|encoding| encoding == "base64") {
        return BASE64.decode(text.as_bytes()).unwrap_or_else(|_| text.into_owned().into_bytes());
    }
    let size = content.get("size").and_then(|text| std::str::from_utf8(text).ok()?.parse::<usize>().ok());
    // Without a charset some writers take each byte as a character; the size in bytes shows that.
    match size {
        Some(size) if size != text.len() => latin1(&text, size).unwrap_or_else(|| text.into_owned().into_bytes()),
        _ => text.into_owned().into_bytes(),
    }
}

fn latin1(text: &str, size: usize) -> Option<Vec<u8>> {
    let bytes: Vec<u8> =
        text.chars().map(|character| u8::try_from(u32::from(character)).ok()).collect::<Option<_>>()?;
    (bytes.len() == size).then_some(bytes)
}

/// The body of a response, and the times of its events, if they are known. Chrome lists the events of a stream, and may
/// leave its text out.
fn stream(entry: Members<'_>, content: Members<'_>, started: i64) -> (Vec<u8>, EventTimes) {
    let listed: Vec<&[u8]> = entry.items("_eventSourceMessages").collect();
    let text = body(content);
    if entry.get("_eventTimes").is_some() {
        let offsets = entry.items("_eventTimes").filter_map(|offset| scaled(offset, 1).ok());
        return (text, EventTimes::OfBlocks(offsets.map(|offset| started.saturating_add(offset)).collect()));
    }
    let time = |item: &&[u8]| scaled(json::member(item, "time")?, SECOND).ok();
    let times = listed.iter().map(time).collect::<Option<Vec<i64>>>();
    let times = times.filter(|times| !times.is_empty()).map_or(EventTimes::Unknown, EventTimes::OfData);
    match text.is_empty() {
        true => (listed.iter().flat_map(|item| block(item)).collect(), times),
        false => (text, times),
    }
}

/// The block of an event that Chrome lists.
fn block(item: &[u8]) -> Vec<u8> {
    let text = |name: &str| json::str_member(item, name).unwrap_or_default();
    let mut block = String::new();
    for (field, value) in [("event", text("eventName")), ("id", text("eventId"))] {
        if !value.is_empty() && value != "message" {
            block.push_str(&format!("{field}: {value}\n"));
        }
    }
    for line in text("data").split('\n') {
        block.push_str(&format!("data: {line}\n"));
    }
    block.push('\n');
    block.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::super::reading::tests::{Seen, messages, read_as};
    use super::*;

    fn archive(entries: &[Value]) -> String {
        json!({"log": {"version": "1.2", "creator": {"name": "x", "version": "2"}, "entries": entries}}).to_string()
    }

    fn entry(started: &str, method: &str, headers: Value, sent: &str, answer: Value) -> Value {
        json!({
            "startedDateTime": started, "time": 200,
            "request": {"method": method, "url": "http://h:1/mcp?x=1", "headers": headers,
                "postData": {"mimeType": "application/json", "text": sent}},
            "response": answer, "cache": {}, "timings": {"blocked": -1, "send": 10, "wait": 90, "receive": 100},
        })
    }

    fn answer(status: u64, kind: &str, text: &str) -> Value {
        let headers = [json!({"name": "Content-Type", "value": kind}), json!({"name": "Mcp-Session-Id", "value": "s"})];
        json!({"status": status, "headers": headers, "content": {"size": text.len(), "mimeType": kind, "text": text}})
    }

    /// The time in milliseconds, the exchange, the kind and the payload.
    fn shown(events: &[Seen]) -> Vec<(i64, u32, &'static str, &str)> {
        events.iter().map(|event| (event.0 / MILLISECOND, event.2, event.3, event.6.as_str())).collect()
    }

    #[test]
    fn exchanges_overlap_as_they_did() {
        let listening = json!([{"name": "Mcp-Session-Id", "value": "s"}, {"name": ":path", "value": "/"}]);
        let mut listened = entry("2026-01-02T03:04:06Z", "GET", listening, "", answer(200, "text/event-stream", ""));
        listened["time"] = json!(5000.5);
        listened["response"]["content"] = json!({"size": 0, "mimeType": "text/event-stream",
            "text": ": hi\n\nid: 1\ndata: {\"method\":\"a\"}\n\nevent: message\ndata: {\"method\":\"b\"}\n\n"});
        listened["_eventSourceMessages"] = json!([
            {"time": 1_767_323_047, "eventName": "message", "eventId": "1", "data": "{\"method\":\"a\"}"},
            {"time": 1_767_323_049.5, "eventName": "message", "eventId": "", "data": "{\"method\":\"b\"}"}]);
        let text = archive(&[
            entry(
                "2026-01-02T03:04:05Z",
                "POST",
                json!([]),
                "{\"id\":1,\"method\":\"initialize\"}",
                answer(200, "application/json", "{\"id\":1,\"result\":{}}"),
            ),
            listened,
            entry(
                "2026-01-02T03:04:08Z",
                "POST",
                json!([{"name": "mcp-session-id", "value": "s"}]),
                "{\"id\":2,\"method\":\"ping\"}",
                answer(404, "text/plain", "no"),
            ),
        ]);
        let (header, events) = read_as("har", &text);
        assert_eq!((header.created, &*header.notes["written by"]), (1_767_323_045_000_000_000, "x 2"));
        let session = "[\"mcp-session-id\",\"s\"]";
        let request = |method: &str, headers: &str| {
            format!("{{\"headers\":[{headers}],\"method\":\"{method}\",\"target\":\"/mcp?x=1\",\"what\":\"request\"}}")
        };
        let response = |status: u16, kind: &str| {
            format!(
                "{{\"headers\":[[\"content-type\",\"{kind}\"],{session}],\"status\":{status},\"what\":\"response\"}}"
            )
        };
        let expected = [
            (0, 0, "opened", "{\"transport\":\"http\",\"url\":\"http://h:1/mcp\"}".to_owned()),
            (0, 1, "transport", request("POST", "")),
            (10, 1, "message", "{\"id\":1,\"method\":\"initialize\"}".to_owned()),
            (100, 1, "transport", response(200, "application/json")),
            (200, 1, "message", "{\"id\":1,\"result\":{}}".to_owned()),
            (1000, 2, "transport", request("GET", session)),
            (1100, 2, "transport", response(200, "text/event-stream")),
            (2000, 2, "message", "id: 1\ndata: {\"method\":\"a\"}\n\n".to_owned()),
            (3000, 3, "transport", request("POST", session)),
            (3010, 3, "message", "{\"id\":2,\"method\":\"ping\"}".to_owned()),
            (3100, 3, "transport", response(404, "text/plain")),
            (3200, 3, "transport", "{\"bytes\":2,\"text\":\"no\",\"what\":\"body\"}".to_owned()),
            (4500, 2, "message", "event: message\ndata: {\"method\":\"b\"}\n\n".to_owned()),
            (6000, 2, "transport", "{\"block\":\": hi\\n\\n\",\"joined\":false,\"what\":\"sse\"}".to_owned()),
        ];
        let sorted: Vec<_> = shown(&events)
            .into_iter()
            .map(|(time, exchange, kind, text)| {
                let text = serde_json::from_str::<std::collections::BTreeMap<String, Value>>(text)
                    .ok()
                    .filter(|_| kind == "transport")
                    .map_or(text.to_owned(), |map| json!(map).to_string());
                (time, exchange, kind, text)
            })
            .collect();
        assert_eq!(sorted, expected);
        assert!(events.iter().all(|event| event.1 == 1), "one session");
    }

    #[test]
    fn bodies_keep_their_bytes_however_they_are_written() {
        let text = "{\"t\":\"–\"}";
        let as_characters: String = text.bytes().map(char::from).collect();
        let mut in_base64 = answer(200, "application/json", "");
        in_base64["content"] = json!({"size": 3, "encoding": "base64", "text": BASE64.encode(b"{\xff}")});
        let mut per_byte = answer(200, "application/json", &as_characters);
        per_byte["content"]["size"] = json!(text.len());
        let entries: Vec<Value> = [answer(200, "application/json", text), in_base64, per_byte]
            .into_iter()
            .map(|answer| entry("2026-01-02T03:04:05Z", "POST", json!([]), "{}", answer))
            .collect();
        let (_, events) = read_as("har", &archive(&entries));
        assert_eq!(messages(&events, Direction::ServerToClient), [text, "{\u{fffd}}", text]);
    }

    #[test]
    fn web_sockets_are_streams_and_other_requests_are_left_out() {
        let mut socket = entry("2026-01-02T03:04:05Z", "GET", json!([]), "", json!({"status": 101, "headers": []}));
        socket["_webSocketMessages"] = json!([
            {"type": "send", "time": 1_767_323_045.25, "opcode": 1, "data": "{\"id\":1}"},
            {"type": "receive", "time": 1_767_323_045.5, "opcode": 2, "data": "e30="}]);
        let picture = entry("2026-01-02T03:04:06Z", "GET", json!([]), "", answer(200, "image/png", "x"));
        let mut picture = picture;
        picture["response"]["headers"] = json!([]);
        let broken = json!({"startedDateTime": "soon"});
        let (_, events) = read_as("har", &archive(&[socket, picture, broken]));
        let expected = [
            (0, 0, "opened", "{\"transport\":\"websocket\",\"url\":\"http://h:1/mcp?x=1\"}"),
            (250, 0, "message", "{\"id\":1}"),
            (500, 0, "message", "{}"),
            (500, 0, "gap", "{\"line\":1,\"reason\":\"cannot read the time \\\"soon\\\"\"}"),
        ];
        assert_eq!(shown(&events), expected);
    }

    #[test]
    fn an_event_that_only_chrome_lists_becomes_a_block() {
        let listed = json!({"eventName": "message", "eventId": "7", "data": "{}\nx"}).to_string();
        assert_eq!(block(listed.as_bytes()), b"id: 7\ndata: {}\ndata: x\n\n");
        let endpoint = json!({"eventName": "endpoint", "eventId": "", "data": "/x"}).to_string();
        assert_eq!(block(endpoint.as_bytes()), b"event: endpoint\ndata: /x\n\n");
        assert_eq!(split_url("https://h/a/b?c=d"), ("https://h/a/b", "/a/b?c=d"));
        assert_eq!(split_url("https://h"), ("https://h", "/"));
    }
}
