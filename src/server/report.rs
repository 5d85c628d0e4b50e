//! What a server gives back: bytes to send, and facts for a human or a script. Durations are microseconds.

use super::IoRequest;
use crate::proposals::server::Unsent;
use serde::Serialize;
use serde_json::Value;

/// One thing that came of an input.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// One message, a single line without its line feed.
    Send(Vec<u8>),
    /// A fact.
    Report(Report),
    /// Something to be done outside, where there is something outside.
    IoRequest(IoRequest),
}

/// A fact about the connection. As JSON, an object whose `report` names the kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "report", rename_all = "snake_case")]
pub enum Report {
    /// The host asked to begin.
    Connected {
        /// Its name.
        client: String,
        /// The revision agreed on.
        revision: &'static str,
        /// Proposals that it declared itself: room and place below `capabilities`.
        declared: Vec<(String, String)>,
    },
    /// The handshake is over: timers of plans run from here.
    Ready,
    /// A message that is not JSON-RPC came in.
    Malformed {
        /// What is wrong with it.
        why: String,
    },
    /// What the host sent does not fit its schema; it was taken as far as possible.
    Misfit {
        /// The method, for an answer that of the request.
        method: String,
        /// Where and why.
        violations: Vec<String>,
    },
    /// A notification came in that nothing is done about.
    Ignored {
        /// Its method.
        method: String,
    },
    /// A request or notification went out by the server's own will.
    Sent {
        /// Its method.
        method: String,
        /// A request's id.
        id: Option<i64>,
    },
    /// Something was to go out and did not.
    NotSent {
        /// Its method.
        method: String,
        /// Why not.
        reason: Unsent,
    },
    /// The host answered another request.
    Answered {
        /// The request's id.
        id: i64,
        /// Its method.
        method: String,
        /// The result.
        result: Value,
        /// How long it took.
        latency_us: u64,
        /// The answer came after the deadline.
        late: bool,
        /// How it differs from its schema. Rooms' facts about answers have it too, where there is something.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        deviations: Vec<String>,
    },
    /// The host answered with an error.
    Refused {
        /// The request's id.
        id: i64,
        /// Its method.
        method: String,
        /// The error's code.
        code: i64,
        /// What that means in answer to this method.
        means: Option<&'static str>,
        /// The error's text.
        message: String,
        /// How long it took.
        latency_us: u64,
        /// The answer came after the deadline.
        late: bool,
        /// What is odd about the error.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        deviations: Vec<String>,
    },
    /// The host has not answered in time.
    Unanswered {
        /// The request's id.
        id: i64,
        /// Its method.
        method: String,
        /// How long was waited.
        after_us: u64,
    },
    /// An answer came that no request waits for.
    Orphan {
        /// The id it names.
        id: String,
    },
    /// The host took back a request that was still being worked on.
    Cancelled {
        /// The request's id, as it stood.
        id: String,
    },
    /// The host works in an era in which proposals that would be declared have nothing to travel on.
    NoCarrier {
        /// The revision.
        revision: &'static str,
        /// Which.
        proposals: Vec<&'static str>,
    },
    /// A fact of a room's: an object whose `report` names the kind. An integer `id` is that of a request of the
    /// server's own that it is about.
    #[serde(untagged)]
    Room(Value),
}

impl Report {
    /// Whether it is about something that goes on beside what was asked for.
    pub fn is_aside(&self) -> bool {
        matches!(self, Self::Room(fact) if fact["report"] == "handler")
    }

    /// The request of the server's own that this is about.
    pub fn request(&self) -> Option<i64> {
        match self {
            Self::Sent { id, .. } => *id,
            Self::Answered { id, .. } | Self::Refused { id, .. } | Self::Unanswered { id, .. } => Some(*id),
            Self::Room(fact) => fact["id"].as_i64(),
            _ => None,
        }
    }
}
