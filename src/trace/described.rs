//! What the events that are no messages describe, as a type for each kind (docs/trace-format.md, "Event kinds"). Their CBOR
//! is written and read here only.
//!
//! The maps are open: a member that is missing, unknown or of another type is passed over, since the reel may be
//! untrusted or of a later version. Whoever copies an event copies its payload, so nothing is lost by reading it.

use super::cbor::{description_as, major};
use ciborium::Value;
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// Returns the CBOR of a description.
pub(crate) fn payload(described: &impl Serialize) -> Vec<u8> {
    let mut out = Vec::new();
    // Writing into memory fails for no type of this module.
    let _ = ciborium::into_writer(described, &mut out);
    out
}

/// A name and a value of an HTTP head or trailer; secrets are replaced.
pub(crate) type Header = (String, String);

/// The beginning of a stream of messages.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Opened {
    /// How messages are carried: `stdio`, `http`, `websocket`, `unix`, `tcp`, `memory` or `session`.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// The command line of the server, without secrets.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// The folder in which it runs.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The names of the variables that were added to its environment.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// The address of the server, or of what is behind a listener, without secrets.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The address from which a listener got the session.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The address of a listener.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub listen: Option<String>,
    /// The process of the server, or that of a listener.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// What is before the server: `http` (a listener) or `overlay`.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub behind: Option<String>,
    /// The host's name for the server.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The name of the live session that is joined.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

impl Opened {
    /// One whose messages are carried like this.
    pub(crate) fn over(transport: &str) -> Self {
        Self { transport: Some(transport.to_owned()), ..Self::default() }
    }

    /// Reads the payload of such an event.
    pub(crate) fn read(payload: &[u8]) -> Self {
        description_as(payload).unwrap_or_default()
    }

    /// Whether clients reach the server through a listener.
    pub(crate) fn is_behind_listener(&self) -> bool {
        self.behind.as_deref() == Some("http")
    }

    /// Whether the stream is a connection of a live session that was opened elsewhere, so that it begins in the middle.
    pub(crate) fn is_joined(&self) -> bool {
        self.transport.as_deref() == Some("session")
    }

    /// Whether the server is a child process.
    pub(crate) fn is_stdio(&self) -> bool {
        self.transport.as_deref() == Some("stdio")
    }
}

/// The end of a stream of messages.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Closed {
    /// The server's exit code.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// The number of the signal that ended the server.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub signal: Option<i64>,
    /// What or who ended it.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl Closed {
    /// An end that this brought about.
    pub(crate) fn by(who: &str) -> Self {
        Self { by: Some(who.to_owned()), ..Self::default() }
    }

    /// Reads the payload of such an event.
    pub(crate) fn read(payload: &[u8]) -> Self {
        description_as(payload).unwrap_or_default()
    }
}

/// An event of the transport.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "lowercase")]
#[non_exhaustive]
pub(crate) enum TransportEvent {
    /// The head of a request.
    Request {
        #[serde(default, deserialize_with = "lenient")]
        method: String,
        /// Path and query.
        #[serde(default, deserialize_with = "lenient")]
        target: String,
        #[serde(default, deserialize_with = "headers")]
        headers: Vec<Header>,
    },
    /// The head of a response.
    Response {
        #[serde(default, deserialize_with = "lenient")]
        status: u16,
        #[serde(default, deserialize_with = "headers")]
        headers: Vec<Header>,
    },
    /// A response before the response, with a status from 100 to 199.
    Informational {
        #[serde(default, deserialize_with = "lenient")]
        status: u16,
        #[serde(default, deserialize_with = "headers")]
        headers: Vec<Header>,
        /// It did not go on.
        #[serde(default, deserialize_with = "lenient", skip_serializing_if = "is_false")]
        kept: bool,
    },
    /// What followed the body of a request or response.
    Trailers {
        #[serde(default, deserialize_with = "headers")]
        headers: Vec<Header>,
        /// They did not go on.
        #[serde(default, deserialize_with = "lenient", skip_serializing_if = "is_false")]
        kept: bool,
    },
    /// A server-sent event that is no message, or whose message follows as an event of its own.
    Sse {
        #[serde(default, deserialize_with = "lenient")]
        block: String,
        #[serde(default, deserialize_with = "lenient")]
        joined: bool,
    },
    /// A body that is no message, or that cannot be decoded.
    Body {
        /// Its length.
        #[serde(default, deserialize_with = "lenient")]
        bytes: u64,
        /// Its beginning.
        #[serde(default, deserialize_with = "lenient", skip_serializing_if = "String::is_empty")]
        text: String,
    },
    /// A body or an exchange did not come to its end.
    #[serde(rename = "broken off")]
    BrokenOff {
        #[serde(default, deserialize_with = "lenient")]
        reason: String,
    },
    /// A body came to its end, but not to that of its content coding.
    #[serde(rename = "cut short")]
    CutShort {
        #[serde(default, deserialize_with = "lenient")]
        reason: String,
    },
    /// The client closed an exchange whose answer had begun.
    Closed {
        #[serde(default, deserialize_with = "lenient")]
        reason: String,
    },
    /// mcpreel answered in the server's place.
    Refused {
        #[serde(default, deserialize_with = "lenient")]
        status: u16,
        #[serde(default, deserialize_with = "lenient")]
        reason: String,
    },
    /// The framing of a request or response went on in another form.
    Repaired {
        #[serde(default, deserialize_with = "lenient")]
        reason: String,
    },
    /// mcpreel sent a request again with another token after this status.
    #[serde(rename = "sent again")]
    SentAgain {
        #[serde(default, deserialize_with = "lenient")]
        status: u16,
    },
    /// mcpreel had to wait for a token, and sent the request only now.
    #[serde(rename = "sent later")]
    SentLater,
    /// Messages of the server that could not go on to a client of a listener.
    Dropped {
        #[serde(default, deserialize_with = "lenient")]
        reason: String,
    },
    /// Recording or relaying failed.
    Failed {
        #[serde(default, deserialize_with = "lenient")]
        reason: String,
    },
    /// A message of the server's as it came; the next one went on in its place.
    Changed {
        #[serde(default, deserialize_with = "lenient")]
        original: String,
    },
    /// A message of the server's that did not go on.
    Kept {
        #[serde(default, deserialize_with = "lenient")]
        original: String,
    },
    /// A WebSocket frame.
    Ping {
        #[serde(default, deserialize_with = "lenient")]
        text: String,
    },
    /// A WebSocket frame.
    Pong {
        #[serde(default, deserialize_with = "lenient")]
        text: String,
    },
    /// A WebSocket frame: its code and reason.
    Close {
        #[serde(default, deserialize_with = "lenient")]
        text: String,
    },
    /// Bytes that are no WebSocket frames: why.
    Unreadable {
        #[serde(default, deserialize_with = "lenient")]
        text: String,
    },
    /// A signal that was sent to the tap alone, and that it passed on to the server.
    Signal {
        /// Its number.
        #[serde(default, deserialize_with = "lenient")]
        signal: i32,
        /// The process that sent it.
        #[serde(default, deserialize_with = "lenient")]
        pid: i32,
    },
    /// Bytes that were read and recorded, but whose reader had gone.
    Undelivered {
        /// `c2s`, `s2c` or `stderr`.
        #[serde(default, deserialize_with = "lenient")]
        lane: String,
        #[serde(default, deserialize_with = "lenient")]
        bytes: u64,
    },
    /// One that this version does not know.
    #[default]
    #[serde(other)]
    Unknown,
}

/// What an event of the transport says about the requests of its exchange, without the cost of reading its headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct ExchangeNews {
    /// What happened.
    #[serde(deserialize_with = "lenient")]
    pub what: ExchangeStep,
    /// The status of a response, or of a refusal by mcpreel.
    #[serde(deserialize_with = "lenient")]
    pub status: u16,
}

/// A step of an HTTP exchange: one of [`TransportEvent`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ExchangeStep {
    Response,
    Refused,
    #[serde(rename = "broken off")]
    BrokenOff,
    Body,
    #[default]
    #[serde(other)]
    Other,
}

impl ExchangeNews {
    /// Reads the payload of an event of the transport.
    pub(crate) fn read(payload: &[u8]) -> Self {
        match status_in_front(payload) {
            Some(status) => Self { what: ExchangeStep::Response, status },
            None => description_as(payload).unwrap_or_default(),
        }
    }
}

/// Returns the status of a response whose map begins as `record` writes it: nearly all events are such heads, and parsing
/// them took a third of the time of `show`.
fn status_in_front(payload: &[u8]) -> Option<u16> {
    let (map, members) = payload.split_first()?;
    match members.strip_prefix(b"\x64what\x68response\x66status").filter(|_| map >> 5 == major::MAP)? {
        [0x18, status, ..] => Some(u16::from(*status)),
        [0x19, high, low, ..] => Some(u16::from_be_bytes([*high, *low])),
        _ => None,
    }
}

impl TransportEvent {
    /// Reads the payload of such an event.
    pub(crate) fn read(payload: &[u8]) -> Self {
        description_as(payload).unwrap_or_default()
    }

    /// The headers of a head or of trailers.
    pub(crate) fn headers(&self) -> Option<&[Header]> {
        match self {
            Self::Request { headers, .. }
            | Self::Response { headers, .. }
            | Self::Informational { headers, .. }
            | Self::Trailers { headers, .. } => Some(headers),
            _ => None,
        }
    }
}

/// The first value of a header. Names are compared without their case, since reels of other recorders keep it.
pub(crate) fn header<'a>(headers: &'a [Header], name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| &**value)
}

/// Traffic that is missing from the reel.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Gap {
    /// The line of an imported file.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Why.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The lane on which it was lost: `c2s`, `s2c` or `stderr`.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    /// How many events are missing.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,
    /// How many bytes are missing.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// How many reads of a lane are missing.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub reads: Option<u64>,
    /// `reel repair` put it in place of a damage.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "is_false")]
    pub repaired: bool,
}

impl Gap {
    /// One for this reason.
    pub(crate) fn because(reason: &str) -> Self {
        Self { reason: Some(reason.to_owned()), ..Self::default() }
    }

    /// Reads the payload of such an event.
    pub(crate) fn read(payload: &[u8]) -> Self {
        description_as(payload).unwrap_or_default()
    }
}

/// A mark, a decision of a host, or another note.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Note {
    /// The moment of the conversation that it marks.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    /// What a host decided.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub host: Option<HostNote>,
    /// The path of the reel that this one continues.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub continues: Option<String>,
    /// Why that one was left.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Note {
    /// Reads the payload of such an event.
    pub(crate) fn read(payload: &[u8]) -> Self {
        description_as(payload).unwrap_or_default()
    }
}

/// A moment of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mark {
    /// What waits goes into the model's next prompt.
    Turn,
    /// The model has answered.
    Inferred,
    /// The host shortened the conversation.
    Compacted,
    /// The user withdrew the server's access to the conversation.
    Revoked,
    /// The user granted it again.
    Granted,
    /// The host lost the connection to the server.
    Gone,
    /// One that this version does not know, in its words.
    #[serde(untagged)]
    Other(String),
}

/// What a host decided about something that a server sent or should have sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct HostNote {
    /// The proposal that it concerns.
    #[serde(deserialize_with = "lenient")]
    pub proposal: String,
    /// The decision.
    #[serde(rename = "what", deserialize_with = "lenient")]
    pub decision: Decision,
    /// The decision in words. Where a request timed out, its method comes first, before a colon.
    #[serde(deserialize_with = "lenient")]
    pub text: String,
    /// Which parts of a message it left out.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub data: Option<Parts>,
}

impl HostNote {
    /// The method of the request that timed out.
    pub(crate) fn method(&self) -> &str {
        self.text.split(':').next().unwrap_or_default()
    }
}

/// Positions in a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Parts {
    /// From 0.
    #[serde(default, deserialize_with = "lenient")]
    pub which: Vec<usize>,
}

/// A decision of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Decision {
    Capped,
    Disabled,
    Dropped,
    Duplicate,
    #[serde(rename = "known event")]
    KnownEvent,
    Late,
    Malformed,
    #[serde(rename = "over budget")]
    OverBudget,
    #[serde(rename = "over limit")]
    OverLimit,
    Stray,
    #[serde(rename = "timed out")]
    TimedOut,
    Undeclared,
    Unprompted,
    Withheld,
    /// One that this version does not know, in its words.
    #[serde(untagged)]
    Other(String),
}

impl Default for Decision {
    fn default() -> Self {
        Self::Other(String::new())
    }
}

impl Decision {
    /// The decision with this name; `None` if what happened is none.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let named = Self::deserialize(IntoDeserializer::<serde::de::value::Error>::into_deserializer(name)).ok()?;
        (!matches!(named, Self::Other(_))).then_some(named)
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(out)
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Takes a value of another type as none.
fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(deserializer: D) -> Result<T, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(value.deserialized().unwrap_or_default())
}

/// Passes over what is no pair of texts.
fn headers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Header>, D::Error> {
    let pairs = Value::deserialize(deserializer)?.into_array().unwrap_or_default();
    Ok(pairs.into_iter().filter_map(|pair| pair.deserialized().ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::description;
    use serde_json::json;

    fn map(described: serde_json::Value) -> Vec<u8> {
        payload(&described)
    }

    #[test]
    fn the_news_of_an_exchange_are_those_of_its_event() {
        use ExchangeStep as S;
        let pairs = json!([["a", "b"]]);
        for (form, what, status) in [
            (json!({"what": "response", "status": 404, "headers": pairs}), S::Response, 404),
            (json!({"headers": pairs, "status": 200, "what": "response"}), S::Response, 200),
            (json!({"what": "response", "status": "404"}), S::Response, 0),
            (json!({"what": "refused", "status": 413, "reason": "r"}), S::Refused, 413),
            (json!({"what": "broken off", "reason": "r"}), S::BrokenOff, 0),
            (json!({"what": "body", "bytes": 7, "text": "t"}), S::Body, 0),
            (json!({"what": "request", "method": "POST", "headers": pairs}), S::Other, 0),
            (json!({"what": 7}), S::Other, 0),
            (json!({}), S::Other, 0),
        ] {
            assert_eq!(ExchangeNews::read(&map(form.clone())), ExchangeNews { what, status }, "{form}");
        }
        assert_eq!(ExchangeNews::read(b"\xff"), ExchangeNews::default());
    }

    /// The form of each event, which reels have and later versions must read.
    #[test]
    fn an_event_of_the_transport_is_written_and_read_in_one_form() {
        use TransportEvent as T;
        let headers = || vec![("a".to_owned(), "b".to_owned())];
        let text = || "text".to_owned();
        let pairs = json!([["a", "b"]]);
        for (event, form) in [
            (
                T::Request { method: text(), target: "/mcp".into(), headers: headers() },
                json!({"what": "request", "method": "text", "target": "/mcp", "headers": pairs}),
            ),
            (
                T::Response { status: 404, headers: headers() },
                json!({"what": "response", "status": 404, "headers": pairs}),
            ),
            (
                T::Informational { status: 103, headers: headers(), kept: false },
                json!({"what": "informational", "status": 103, "headers": pairs}),
            ),
            (
                T::Trailers { headers: headers(), kept: true },
                json!({"what": "trailers", "headers": pairs, "kept": true}),
            ),
            (T::Sse { block: text(), joined: false }, json!({"what": "sse", "block": "text", "joined": false})),
            (T::Body { bytes: 4, text: text() }, json!({"what": "body", "bytes": 4, "text": "text"})),
            (T::Body { bytes: 4, text: String::new() }, json!({"what": "body", "bytes": 4})),
            (T::BrokenOff { reason: text() }, json!({"what": "broken off", "reason": "text"})),
            (T::CutShort { reason: text() }, json!({"what": "cut short", "reason": "text"})),
            (T::Closed { reason: text() }, json!({"what": "closed", "reason": "text"})),
            (T::Refused { status: 503, reason: text() }, json!({"what": "refused", "status": 503, "reason": "text"})),
            (T::Repaired { reason: text() }, json!({"what": "repaired", "reason": "text"})),
            (T::SentAgain { status: 401 }, json!({"what": "sent again", "status": 401})),
            (T::SentLater, json!({"what": "sent later"})),
            (T::Dropped { reason: text() }, json!({"what": "dropped", "reason": "text"})),
            (T::Failed { reason: text() }, json!({"what": "failed", "reason": "text"})),
            (T::Changed { original: text() }, json!({"what": "changed", "original": "text"})),
            (T::Kept { original: text() }, json!({"what": "kept", "original": "text"})),
            (T::Ping { text: text() }, json!({"what": "ping", "text": "text"})),
            (T::Pong { text: text() }, json!({"what": "pong", "text": "text"})),
            (T::Close { text: text() }, json!({"what": "close", "text": "text"})),
            (T::Unreadable { text: text() }, json!({"what": "unreadable", "text": "text"})),
            (T::Signal { signal: 15, pid: 7 }, json!({"what": "signal", "signal": 15, "pid": 7})),
            (
                T::Undelivered { lane: "s2c".into(), bytes: 7 },
                json!({"what": "undelivered", "lane": "s2c", "bytes": 7}),
            ),
        ] {
            assert_eq!(description(&payload(&event)), Some(form.clone()));
            assert_eq!(T::read(&map(form)), event);
        }
    }

    #[test]
    fn what_is_missing_unknown_or_of_another_type_is_passed_over() {
        let read = |described| TransportEvent::read(&map(described));
        let response = |status| TransportEvent::Response { status, headers: Vec::new() };
        assert_eq!(read(json!({"what": "response"})), response(0));
        assert_eq!(read(json!({"status": 70_000, "headers": {"a": 1}, "new": [1], "what": "response"})), response(0));
        assert_eq!(read(json!({"what": "response", "status": 200, "headers": [["a"], 1, ["a", 1]]})), response(200));
        for unknown in
            [json!({"what": "later"}), json!({"what": 1}), json!({}), json!([]), json!("request"), json!(null)]
        {
            assert_eq!(read(unknown.clone()), TransportEvent::Unknown, "{unknown}");
        }
        assert_eq!(TransportEvent::read(b"\xff{"), TransportEvent::Unknown);
        let opened = Opened::read(&map(json!({"transport": 1, "command": ["a", 2], "url": "u", "x": {}, "pid": -1})));
        assert_eq!(
            (opened.transport, opened.command, opened.url.as_deref(), opened.pid),
            (None, None, Some("u"), None)
        );
        assert!(Opened::read(&map(json!([1]))).url.is_none());
        assert_eq!(Closed::read(&map(json!({"exit_code": "1", "signal": 9}))).signal, Some(9));
        assert_eq!(Gap::read(&map(json!({"line": 3, "reason": []}))).line, Some(3));
    }

    #[test]
    fn a_note_is_a_mark_a_decision_or_something_else() {
        let read = |described| Note::read(&map(described));
        for (mark, name) in [(Mark::Turn, "turn"), (Mark::Gone, "gone"), (Mark::Other("later".into()), "later")] {
            assert_eq!(read(json!({"mark": name})).mark, Some(mark.clone()));
            let note = Note { mark: Some(mark), ..Note::default() };
            assert_eq!(description(&payload(&note)), Some(json!({"mark": name})));
        }
        assert!(read(json!({"mark": 1, "by": "x"})).mark.is_none());
        let form =
            json!({"host": {"proposal": "hooks", "what": "over limit", "text": "x: y", "data": {"which": [0, 2]}}});
        let note = read(form.clone());
        let host = note.host.as_ref().expect("a decision");
        assert_eq!((&host.decision, host.method()), (&Decision::OverLimit, "x"));
        assert_eq!(host.data.as_ref().map(|parts| &parts.which[..]), Some(&[0, 2][..]));
        assert_eq!(description(&payload(&note)), Some(form));
        let other = read(json!({"host": {"what": "said aloud"}})).host.expect("a decision");
        assert_eq!(other.decision.to_string(), "said aloud");
        assert!(read(json!({"host": true})).host.is_none());
    }

    #[test]
    fn a_decision_has_one_name() {
        for name in ["capped", "known event", "over budget", "over limit", "timed out", "withheld"] {
            assert_eq!(Decision::of(name).map(|decision| decision.to_string()).as_deref(), Some(name));
        }
        assert_eq!(Decision::of("inferred"), None);
    }
}
