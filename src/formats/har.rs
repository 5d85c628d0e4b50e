//! HTTP archives (HAR 1.2), for browsers' developer tools and proxies. `docs/importing.md` describes the members that
//! mcpreel adds; `import` reads them.
//!
//! An HTTP exchange is an entry. What has no HTTP (stdio, pipes) is an entry for each stream, in the form in which Chrome
//! writes a WebSocket. An entry is written when it is too large to be held, or at the end; then entries are in the order
//! in which they began.

use super::{Content, ExportFormat, Exporter, jsonl};
use crate::trace::described::{Header, header};
use crate::trace::{Event, EventHeader, EventKind, FileHeader, Flags, Opened, TransportEvent, description};
use crate::wire::sse::{SseEvent, data_lines};
use crate::wire::units::millis_of;
use crate::wire::{Direction, Framing};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// HAR, for `export`.
pub(crate) const EXPORT: ExportFormat = ExportFormat {
    name: "har",
    about: "HTTP archive (HAR 1.2) for browsers and proxies, an entry per HTTP exchange, or per stream without HTTP",
    content: Content::Json,
    make: |_| Box::new(Archive::default()),
};

/// Entries hold at most about this number of bytes together; beyond it, the oldest is written.
const MAX_HELD_BYTES: usize = 40 << 20;
/// What an event takes beside its payload: a part of its entry, names and values of headers in allocations of their own.
const OVERHEAD: usize = 400;

/// What identifies an entry: an exchange, or else a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Exchange(u32),
    Stream(u32),
}

/// Collects entries.
#[derive(Default)]
struct Archive {
    created: i64,
    entries: BTreeMap<Key, Entry>,
    /// How each stream began, also as it is written.
    opened: BTreeMap<u32, (Opened, Value)>,
    /// When streams ended, how, and whether that was a failure, until an entry says so.
    closed: BTreeMap<u32, (i64, Value, bool)>,
    held: usize,
    has_written: bool,
}

/// The maximum number of streams whose beginnings and ends are remembered.
const MAX_STREAMS: usize = 10_000;

/// The head of a request.
struct RequestHead {
    method: String,
    target: String,
    headers: Vec<Header>,
}

impl RequestHead {
    /// One that was not recorded.
    fn unknown(target: &str) -> Self {
        Self { method: "GET".to_owned(), target: target.to_owned(), headers: Vec::new() }
    }
}

/// Elements of an array as they are written: as values, they would take ten times as much memory.
type List = Vec<Box<RawValue>>;

/// An entry as it is written: members, and long lists.
struct Written<'e> {
    members: Map<String, Value>,
    lists: Vec<(&'static str, &'e [Box<RawValue>])>,
}

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.members.len() + self.lists.len()))?;
        self.members.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        self.lists.iter().try_for_each(|(name, list)| map.serialize_entry(name, list))?;
        map.end()
    }
}

/// An entry that may go on. Times are Unix nanoseconds.
#[derive(Default)]
struct Entry {
    stream: u32,
    started: i64,
    ended: i64,
    request: Option<RequestHead>,
    /// When the body of the request came.
    sent: Option<i64>,
    request_body: Vec<u8>,
    /// When the response began, its status and headers.
    response: Option<(i64, u16, Vec<Header>)>,
    response_body: Vec<u8>,
    /// The events of a stream as Chrome lists them, and the times of all blocks.
    events: List,
    times: Vec<i64>,
    /// The messages of a stream without HTTP, and its standard error.
    messages: List,
    stderr: List,
    /// The pieces of a message so far, by direction.
    pieces: [Vec<u8>; 2],
    /// The response is an event stream.
    is_event_stream: bool,
    /// About the number of bytes that are held.
    held: usize,
}

impl Exporter for Archive {
    fn begin(&mut self, header: &FileHeader, out: &mut dyn Write) -> io::Result<()> {
        self.created = header.created;
        let mut creator = json!({"name": "mcpreel", "version": env!("CARGO_PKG_VERSION")});
        if !header.notes.is_empty() {
            creator["_notes"] = json!(header.notes);
        }
        if let Some(label) = &header.label {
            creator["_label"] = label.as_str().into();
        }
        write!(out, "{{\"log\":{{\"version\":\"1.2\",\"creator\":{creator},\"pages\":[],\"entries\":[")
    }

    fn event(&mut self, event: &Event<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.take(event.header, event.header.framing, event.payload);
        self.shrink(out)
    }

    fn part(&mut self, header: &EventHeader, part: &[u8], is_last: bool, out: &mut dyn Write) -> io::Result<()> {
        let framing = if is_last { header.framing } else { Framing::Fragment };
        self.take(header, framing, part);
        self.shrink(out)
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut rest: Vec<(Key, Entry)> = std::mem::take(&mut self.entries).into_iter().collect();
        rest.sort_by_key(|(key, entry)| (entry.started, *key));
        rest.into_iter().try_for_each(|(key, entry)| self.write(key, &entry, out))?;
        writeln!(out, "\n]}}}}")
    }
}

impl Archive {
    fn take(&mut self, header: &EventHeader, framing: Framing, payload: &[u8]) {
        let time = self.created.saturating_add(header.time);
        match header.kind {
            EventKind::StreamOpened if self.opened.len() < MAX_STREAMS => {
                let read = || (Opened::read(payload), description(payload).unwrap_or_default());
                self.opened.entry(header.stream).or_insert_with(read);
            }
            EventKind::StreamClosed if self.closed.len() < MAX_STREAMS => {
                let described = description(payload).unwrap_or_default();
                self.closed.insert(header.stream, (time, described, header.flags.has(Flags::FAILED)));
            }
            EventKind::Message | EventKind::Stderr | EventKind::Transport => {
                let key = match header.exchange {
                    0 => Key::Stream(header.stream),
                    number => Key::Exchange(number),
                };
                if key == Key::Stream(header.stream) && header.kind == EventKind::Transport {
                    return;
                }
                let fresh = || Entry { stream: header.stream, started: time, ended: time, ..Entry::default() };
                let entry = self.entries.entry(key).or_insert_with(fresh);
                (entry.stream, entry.ended) = (header.stream, entry.ended.max(time));
                let size = payload.len() + OVERHEAD;
                (self.held, entry.held) = (self.held + size, entry.held + size);
                entry.take(key, header, framing, time, payload);
            }
            _ => {}
        }
    }

    /// Writes the entries that rest longest if all are too large together. Looking for them takes long, so half of the
    /// space becomes free at once.
    fn shrink(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.held <= MAX_HELD_BYTES {
            return Ok(());
        }
        let mut oldest: Vec<(i64, Key)> = self.entries.iter().map(|(key, entry)| (entry.ended, *key)).collect();
        oldest.sort_unstable();
        for (_, key) in oldest {
            if self.held <= MAX_HELD_BYTES / 2 {
                break;
            }
            if let Some(entry) = self.entries.remove(&key) {
                self.write(key, &entry, out)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, key: Key, entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
        self.held = self.held.saturating_sub(entry.held);
        let opened = self.opened.get(&entry.stream);
        let mut written = match key {
            Key::Exchange(number) => {
                let origin_of = |stream: u32| origin(&self.opened.get(&stream)?.0);
                let origin = origin_of(entry.stream).or_else(|| origin_of(0));
                entry.exchange(number, &origin.unwrap_or_else(|| "http://unknown".to_owned()))
            }
            Key::Stream(_) => entry.lane(opened.map(|(opened, _)| opened)),
        };
        let mut put = |name: &str, value: Value| drop(written.members.insert(name.to_owned(), value));
        put("_stream", entry.stream.into());
        if let Some((_, described)) = opened.filter(|(_, described)| !described.is_null()) {
            put("_opened", described.clone());
        }
        if let Some((time, data, failed)) = self.closed.remove(&entry.stream) {
            put("_closed", json!({"after": time - entry.started, "failed": failed, "data": data}));
        }
        let comma = if std::mem::replace(&mut self.has_written, true) { "," } else { "" };
        writeln!(out, "{comma}")?;
        serde_json::to_writer(out, &written).map_err(io::Error::from)
    }
}

impl Entry {
    fn take(&mut self, key: Key, header: &EventHeader, framing: Framing, time: i64, payload: &[u8]) {
        match (header.kind, key) {
            (EventKind::Transport, _) => self.transport(header.direction(), time, TransportEvent::read(payload)),
            (EventKind::Message, Key::Exchange(_)) => self.body(header.direction(), framing, time, payload),
            (EventKind::Message, Key::Stream(_)) => self.message(header.direction(), framing, time, payload),
            _ => self.stderr.extend(raw(&self.listed(time, payload).into())),
        }
    }

    fn transport(&mut self, direction: Direction, time: i64, event: TransportEvent) {
        match event {
            TransportEvent::Request { method, target, headers } => {
                self.request = Some(RequestHead { method, target, headers });
            }
            TransportEvent::Response { status, headers } => {
                let kind = header(&headers, "content-type").unwrap_or_default();
                self.is_event_stream = kind.starts_with("text/event-stream");
                self.response = Some((time, status, headers));
            }
            TransportEvent::Sse { block, .. } => {
                self.block(time, block.as_bytes());
                // The message of a block with several data lines follows on its own.
                self.response_body.extend_from_slice(block.as_bytes());
            }
            TransportEvent::Body { text, .. } => self.body(direction, Framing::Whole, time, text.as_bytes()),
            _ => {}
        }
    }

    /// Adds the message of an exchange, or a piece of it, to a body.
    fn body(&mut self, direction: Direction, framing: Framing, time: i64, payload: &[u8]) {
        if direction == Direction::ClientToServer {
            self.sent.get_or_insert(time);
            return self.request_body.extend_from_slice(payload);
        }
        self.is_event_stream |= framing == Framing::Sse;
        if self.is_event_stream && framing == Framing::Whole {
            // The block that it came in is there already.
            return;
        }
        let start = self.response_body.len() - self.pieces[1].len();
        self.response_body.extend_from_slice(payload);
        if !self.is_event_stream {
            return;
        }
        match framing {
            Framing::Fragment => self.pieces[1].resize(self.response_body.len() - start, 0),
            _ => {
                self.pieces[1].clear();
                let block = self.response_body[start..].to_vec();
                self.block(time, &block);
            }
        }
    }

    /// Lists an event of a stream, and its time.
    fn block(&mut self, time: i64, block: &[u8]) {
        self.times.push(self.offset(time));
        if data_lines(block).next().is_none() {
            return;
        }
        let event = SseEvent::parse(block);
        self.events.extend(raw(&json!({
            "time": seconds(time),
            "eventName": event.event.as_deref().unwrap_or("message"),
            "eventId": event.id.as_deref().unwrap_or_default(),
            "data": String::from_utf8_lossy(&event.data.unwrap_or_default()),
        })));
    }

    /// Adds a message of a stream without HTTP, or keeps a piece of one.
    fn message(&mut self, direction: Direction, framing: Framing, time: i64, payload: &[u8]) {
        let pieces = &mut self.pieces[usize::from(direction == Direction::ServerToClient)];
        pieces.extend_from_slice(payload);
        if framing == Framing::Fragment {
            return;
        }
        let payload = std::mem::take(pieces);
        let mut message = self.listed(time, &payload);
        let kind = if direction == Direction::ClientToServer { "send" } else { "receive" };
        message.insert("type".to_owned(), kind.into());
        if framing != Framing::Whole {
            message.insert("_framing".to_owned(), framing.name().into());
        }
        self.messages.extend(raw(&message.into()));
    }

    /// A message as Chrome lists those of a WebSocket: text, or base64 with opcode 2.
    fn listed(&self, time: i64, payload: &[u8]) -> Map<String, Value> {
        let (opcode, text) = match std::str::from_utf8(payload) {
            Ok(text) => (1, text.to_owned()),
            Err(_) => (2, BASE64.encode(payload)),
        };
        let offset = self.offset(time).into();
        let members = [("time", seconds(time)), ("opcode", opcode.into()), ("data", text.into()), ("_offset", offset)];
        members.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
    }

    /// The nanoseconds since the entry began, which Chrome's times in seconds are too coarse for.
    fn offset(&self, time: i64) -> i64 {
        time - self.started
    }

    /// The entry of an HTTP exchange.
    fn exchange(&self, number: u32, origin: &str) -> Written<'_> {
        let (answered, status, headers) = match &self.response {
            Some((time, status, headers)) => (*time, *status, &headers[..]),
            None => (self.ended, 0, &[][..]),
        };
        let unknown = RequestHead::unknown("/");
        let request = self.request.as_ref().unwrap_or(&unknown);
        let sent = self.sent.unwrap_or(self.started);
        let waited = answered.max(sent);
        let mut entry = self.frame(
            json!({"send": millis_of(sent - self.started), "wait": millis_of(waited - sent), "receive": millis_of(self.ended.max(waited) - waited)}),
            request_value(request, origin, &self.request_body),
            response_value(status, headers, &self.response_body),
        );
        entry.insert("_exchange".to_owned(), number.into());
        if self.request.is_none() {
            entry.insert("_continued".to_owned(), true.into());
        }
        let mut lists = Vec::new();
        if self.is_event_stream {
            entry.insert("_eventTimes".to_owned(), self.times.clone().into());
            lists.push(("_eventSourceMessages", &self.events[..]));
        }
        Written { members: entry, lists }
    }

    /// The entry of a stream without HTTP.
    fn lane(&self, opened: Option<&Opened>) -> Written<'_> {
        let took = millis_of(self.ended - self.started);
        let mut entry = self.frame(
            json!({"send": 0, "wait": 0, "receive": took}),
            request_value(&RequestHead::unknown(""), &opened.map_or_else(|| "stdio:".to_owned(), lane_url), b""),
            response_value(0, &[], b""),
        );
        entry.insert("_resourceType".to_owned(), "websocket".into());
        let mut lists = vec![("_webSocketMessages", &self.messages[..])];
        if !self.stderr.is_empty() {
            lists.push(("_stderr", &self.stderr[..]));
        }
        Written { members: entry, lists }
    }

    /// The members that every entry has.
    fn frame(&self, timings: Value, request: Value, response: Value) -> Map<String, Value> {
        let total: f64 = ["send", "wait", "receive"].iter().filter_map(|name| timings[name].as_f64()).sum();
        let started = jsonl::rfc3339(self.started);
        let entry = json!({"startedDateTime": started, "time": total, "request": request, "response": response,
            "cache": {}, "timings": timings});
        match entry {
            Value::Object(members) => members,
            _ => Map::new(),
        }
    }
}

/// Returns a value as it is written.
fn raw(value: &Value) -> Option<Box<RawValue>> {
    // Every value can be written.
    serde_json::value::to_raw_value(value).ok()
}

/// A time as Chrome writes it.
fn seconds(time: i64) -> Value {
    (time as f64 / 1e9).into()
}

/// The scheme and authority of a stream's URL.
fn origin(opened: &Opened) -> Option<String> {
    let url = opened.url.as_deref()?;
    let authority = url.find("://")? + 3;
    let end = url[authority..].find('/').map_or(url.len(), |at| authority + at);
    Some(url[..end].to_owned())
}

/// What stands for the URL of a stream without HTTP: that of its transport, or `stdio:` and the command.
fn lane_url(opened: &Opened) -> String {
    if let Some(url) = &opened.url {
        return url.clone();
    }
    let command = opened.command.as_deref().unwrap_or_default().join(" ");
    let command = if command.is_empty() { opened.server.as_deref().unwrap_or_default() } else { &command };
    let safe = |character: char| character.is_ascii_graphic() && !"%\"<>^`{|}\\".contains(character);
    let escape = |character: char| match safe(character) {
        true => character.to_string(),
        false => character.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect(),
    };
    format!("stdio:{}", command.chars().map(escape).collect::<String>())
}

fn request_value(head: &RequestHead, origin: &str, body: &[u8]) -> Value {
    let RequestHead { method, target, headers } = head;
    let query = target.split_once('?').map_or("", |(_, query)| query);
    let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        json!({"name": name, "value": value})
    });
    let mut request = json!({
        "method": method, "url": format!("{origin}{target}"),
        "httpVersion": "unknown", "cookies": [], "headers": listed_headers(headers), "queryString": pairs.collect::<Value>(),
        "headersSize": -1, "bodySize": body.len(),
    });
    if !body.is_empty() {
        let kind = header(headers, "content-type").unwrap_or_default();
        request["postData"] = text_of(body, kind);
    }
    request
}

fn response_value(status: u16, headers: &[Header], body: &[u8]) -> Value {
    let mut content = text_of(body, header(headers, "content-type").unwrap_or_default());
    content["size"] = body.len().into();
    json!({
        "status": status, "statusText": "", "httpVersion": "unknown", "cookies": [],
        "headers": listed_headers(headers), "content": content,
        "redirectURL": header(headers, "location").unwrap_or_default(), "headersSize": -1, "bodySize": body.len(),
    })
}

/// A body as text, or in base64 if it is not text.
fn text_of(body: &[u8], kind: &str) -> Value {
    match std::str::from_utf8(body) {
        Ok(text) => json!({"mimeType": kind, "text": text}),
        Err(_) => json!({"mimeType": kind, "text": BASE64.encode(body), "encoding": "base64"}),
    }
}

fn listed_headers(headers: &[Header]) -> Value {
    headers.iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
}
