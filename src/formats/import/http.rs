//! HTTP in other formats: converts heads to the form in reels, and finds the session and the exchange of each line.
//!
//! As in a recording, a session is identified by `Mcp-Session-Id`, by the endpoint that HTTP+SSE announces, or else by
//! the connection, until a response names its session.

use crate::redact::{redact_header, redact_target};
use crate::trace::TransportEvent;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};

/// The header that names a session.
const SESSION: &str = "mcp-session-id";
/// The maximum number of sessions, endpoints and connections that are remembered, each; the oldest is forgotten first.
const MAX: usize = 10_000;

/// The head of a request or response.
#[derive(Debug)]
pub(super) struct Head {
    /// The request's method and target, or the response's status.
    pub start: Start,
    headers: Vec<(String, String)>,
}

/// The first line of a head.
#[derive(Debug)]
pub(super) enum Start {
    /// A request.
    Request {
        /// Its method.
        method: String,
        /// Its path and query.
        target: String,
    },
    /// A response.
    Response(u16),
}

impl Head {
    /// Parses a head; `None` if the text is something else.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        Self::of(&serde_json::from_slice(text).ok()?)
    }

    /// Takes a head apart: `status` or `method` and `target` (`path`, `url`), and `headers`, as an object or as pairs.
    pub(super) fn of(head: &Value) -> Option<Self> {
        let text = |names: &[&str]| names.iter().find_map(|name| head.get(name)?.as_str()).map(str::to_owned);
        let status = head.get("status").and_then(Value::as_u64).and_then(|status| u16::try_from(status).ok());
        let start = match (status, text(&["method"])) {
            (Some(status), _) => Start::Response(status),
            (None, Some(method)) => {
                Start::Request { method, target: text(&["target", "path", "url"]).unwrap_or_else(|| "/".to_owned()) }
            }
            (None, None) => return None,
        };
        let mut headers = Vec::new();
        let mut add = |name: &str, value: &Value| match value {
            Value::Array(values) => {
                headers.extend(values.iter().map(|value| (name.to_ascii_lowercase(), as_text(value))));
            }
            value => headers.push((name.to_ascii_lowercase(), as_text(value))),
        };
        match head.get("headers") {
            Some(Value::Object(members)) => members.iter().for_each(|(name, value)| add(name, value)),
            Some(Value::Array(pairs)) => {
                for pair in pairs {
                    if let Some(name) = pair[0].as_str() {
                        add(name, &pair[1]);
                    }
                }
            }
            _ => {}
        }
        Some(Self { start, headers })
    }

    /// Returns the head in the form that reels have.
    pub(super) fn reported(&self) -> TransportEvent {
        let shown = |(name, value): &(String, String)| (name.clone(), redact_header(name, value).into());
        let headers = self.headers.iter().map(shown).collect();
        match &self.start {
            Start::Request { method, target } => {
                TransportEvent::Request { method: method.clone(), target: redact_target(target), headers }
            }
            Start::Response(status) => TransportEvent::Response { status: *status, headers },
        }
    }

    fn session(&self) -> Option<&str> {
        self.header(SESSION)
    }

    /// The first value of a header; the name is in lower case.
    fn header(&self, wanted: &str) -> Option<&str> {
        self.headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    }

    /// Whether this is the response to a request that failed.
    pub(super) fn has_failed(&self) -> bool {
        matches!(self.start, Start::Response(status) if status >= 400)
    }

    /// Whether the body is an event stream.
    pub(super) fn is_event_stream(&self) -> bool {
        self.header("content-type").is_some_and(|kind| kind.to_ascii_lowercase().starts_with("text/event-stream"))
    }
}

fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A table that forgets its oldest entry when it is full.
#[derive(Debug)]
struct Recent<K, V> {
    found: HashMap<K, V>,
    order: VecDeque<K>,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self { found: HashMap::new(), order: VecDeque::new() }
    }
}

impl<K: Clone + Eq + std::hash::Hash, V> Recent<K, V> {
    fn put(&mut self, key: K, value: V) {
        if self.found.insert(key.clone(), value).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.found.remove(&oldest);
        }
    }
}

/// The state of a connection.
#[derive(Debug)]
struct Current {
    exchange: u32,
    stream: u32,
    /// The latest request was a DELETE.
    is_delete: bool,
    has_session: bool,
}

/// The session of a connection, before it has an id.
#[derive(Clone, Copy, Debug)]
struct Unnamed {
    stream: u32,
    has_begun: bool,
}

/// Finds the streams and exchanges of lines.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    streams: u32,
    exchanges: u32,
    connections: Recent<Box<[u8]>, Current>,
    unnamed: Recent<Box<[u8]>, Unnamed>,
    sessions: Recent<String, u32>,
    endpoints: Recent<String, u32>,
}

/// The place of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LinePlace {
    /// The stream of the session; 0 outside of HTTP.
    pub stream: u32,
    /// The number of the exchange; 0 outside of HTTP.
    pub exchange: u32,
    /// The session begins with this line.
    pub opens: bool,
    /// The session ends with this line.
    pub closes: bool,
}

impl Sessions {
    /// Returns the place of a line on a connection. `head` is its head, if it has one; `initializes` means that it
    /// begins a session.
    pub(super) fn place(&mut self, connection: &[u8], head: Option<&Head>, initializes: bool) -> LinePlace {
        match head.map(|head| (&head.start, head.session())) {
            Some((Start::Request { method, target }, session)) => {
                self.begin(connection, method, target, session, initializes)
            }
            Some((Start::Response(status), session)) => self.answer(connection, *status, session),
            None => self.go_on(connection),
        }
    }

    fn begin(
        &mut self,
        connection: &[u8],
        method: &str,
        target: &str,
        session: Option<&str>,
        initializes: bool,
    ) -> LinePlace {
        self.exchanges = self.exchanges.saturating_add(1);
        let known = session.and_then(|session| self.sessions.found.get(session));
        let (stream, opens) = match (known.or_else(|| self.endpoints.found.get(target)).copied(), session) {
            (Some(stream), _) => (stream, false),
            (None, Some(session)) => {
                let stream = self.open();
                self.sessions.put(session.to_owned(), stream);
                (stream, true)
            }
            (None, None) => {
                let current = self.unnamed.found.get(connection).copied();
                // A second initialize begins another session.
                let current = current.filter(|unnamed| !(initializes && unnamed.has_begun));
                let stream = current.map_or_else(|| self.open(), |unnamed| unnamed.stream);
                let has_begun = initializes || current.is_some_and(|unnamed| unnamed.has_begun);
                self.unnamed.put(connection.into(), Unnamed { stream, has_begun });
                (stream, current.is_none())
            }
        };
        let (exchange, is_delete, has_session) = (self.exchanges, method == "DELETE", session.is_some());
        self.connections.put(connection.into(), Current { exchange, stream, is_delete, has_session });
        LinePlace { stream, exchange, opens, closes: false }
    }

    fn answer(&mut self, connection: &[u8], status: u16, session: Option<&str>) -> LinePlace {
        let Some(current) = self.connections.found.get_mut(connection) else { return self.go_on(connection) };
        if let Some(session) = session.filter(|_| !current.has_session) {
            // The session has an id now. Later lines without one belong to another session.
            if self.unnamed.found.get(connection).is_some_and(|unnamed| unnamed.stream == current.stream) {
                self.unnamed.found.remove(connection);
                self.unnamed.order.retain(|other| **other != *connection);
            }
            match self.sessions.found.get(session) {
                Some(stream) => current.stream = *stream,
                None => self.sessions.put(session.to_owned(), current.stream),
            }
            current.has_session = true;
        }
        let closes = current.is_delete && (200..300).contains(&status);
        LinePlace { stream: current.stream, exchange: current.exchange, opens: false, closes }
    }

    fn go_on(&mut self, connection: &[u8]) -> LinePlace {
        match self.connections.found.get(connection) {
            Some(current) => LinePlace { stream: current.stream, exchange: current.exchange, ..LinePlace::default() },
            None => LinePlace::default(),
        }
    }

    /// Remembers the endpoint that an event stream announced for messages.
    pub(super) fn hand_out(&mut self, connection: &[u8], endpoint: &str) {
        let Some(current) = self.connections.found.get(connection) else { return };
        let path = match endpoint.split_once("://") {
            Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
            None => endpoint,
        };
        self.endpoints.put(path.to_owned(), current.stream);
    }

    fn open(&mut self) -> u32 {
        self.streams = self.streams.saturating_add(1);
        self.streams
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(method: &str, session: Option<&str>) -> Head {
        let headers = session.map(|session| json!({"Mcp-Session-Id": session}));
        Head::parse(json!({"method": method, "path": "/mcp", "headers": headers}).to_string().as_bytes())
            .expect("a head")
    }

    fn response(status: u16, session: Option<&str>) -> Head {
        let headers: Vec<_> = session.map(|session| json!(["mcp-session-id", session])).into_iter().collect();
        Head::parse(json!({"status": status, "headers": headers}).to_string().as_bytes()).expect("a head")
    }

    #[test]
    fn each_session_has_a_stream_whatever_its_connections_are() {
        let mut sessions = Sessions::default();
        let mut place = |connection: &str, head: Option<&Head>, initializes| {
            let place = sessions.place(connection.as_bytes(), head, initializes);
            (place.stream, place.exchange, place.opens, place.closes)
        };
        // Two sessions begin on one connection before either has its id.
        assert_eq!(place("a", Some(&request("POST", None)), true), (1, 1, true, false));
        assert_eq!(place("a", Some(&response(200, Some("x"))), false), (1, 1, false, false));
        assert_eq!(place("a", None, false), (1, 1, false, false));
        assert_eq!(place("a", Some(&request("POST", None)), true), (2, 2, true, false));
        assert_eq!(place("a", Some(&response(200, Some("y"))), false), (2, 2, false, false));
        assert_eq!(place("b", Some(&request("GET", Some("x"))), false), (1, 3, false, false));
        assert_eq!(place("a", Some(&request("POST", Some("y"))), false), (2, 4, false, false));
        assert_eq!(place("b", None, false), (1, 3, false, false), "the event stream is the first session's still");
        assert_eq!(place("a", Some(&request("DELETE", Some("x"))), false), (1, 5, false, false));
        assert_eq!(place("a", Some(&response(204, None)), false), (1, 5, false, true));
        // Requests without a session id belong to their connection.
        assert_eq!(place("c", Some(&request("POST", None)), false), (3, 6, true, false));
        assert_eq!(place("c", Some(&request("POST", None)), true), (3, 7, false, false));
        assert_eq!(place("c", Some(&request("POST", None)), true), (4, 8, true, false));
        assert_eq!(place("nobody", Some(&response(200, None)), false), (0, 0, false, false));
    }

    #[test]
    fn an_endpoint_that_was_handed_out_belongs_to_its_stream() {
        let mut sessions = Sessions::default();
        let stream = sessions.place(b"sse", Some(&request("GET", None)), false).stream;
        sessions.hand_out(b"sse", "http://host:1/messages?id=7");
        let post = Head::parse(br#"{"method": "POST", "path": "/messages?id=7"}"#).expect("a head");
        assert_eq!(sessions.place(b"other", Some(&post), true).stream, stream);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut sessions = Sessions::default();
        for number in 0..2 * MAX {
            let name = number.to_string();
            sessions.place(name.as_bytes(), Some(&request("POST", Some(&name))), false);
        }
        assert_eq!((sessions.sessions.found.len(), sessions.connections.found.len()), (MAX, MAX));
    }
}
