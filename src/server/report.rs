//! The outputs of a server: bytes to send, and reports for people and scripts. Durations are in microseconds.

use super::IoRequest;
use crate::proposals::server::Unsent;
use serde::Serialize;
use serde_json::Value;

/// One effect of an input.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// One message, a single line without its line feed.
    Send(Vec<u8>),
    /// A report.
    Report(Report),
    /// Something to do outside, if there is anything outside.
    IoRequest(IoRequest),
}

/// A report about the connection. In JSON, an object whose `report` names the kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "report", rename_all = "snake_case")]
pub enum Report {
    /// The host began the connection.
    Connected {
        /// Its name.
        client: String,
        /// The negotiated revision.
        revision: &'static str,
        /// The proposals that it declared, each with the path below `capabilities`.
        declared: Vec<(String, String)>,
    },
    /// The handshake is complete: timers of plans start here.
    Ready,
    /// A message that is not JSON-RPC arrived.
    Malformed {
        /// What is wrong with it.
        why: String,
    },
    /// A message of the host does not match its schema. It was used as far as possible.
    #[serde(rename = "misfit")]
    SchemaViolation {
        /// The method, or for a response, the method of its request.
        method: String,
        /// The violations: where and why.
        violations: Vec<String>,
    },
    /// A notification was ignored.
    Ignored {
        /// Its method.
        method: String,
    },
    /// A request or notification was sent by the server itself.
    Sent {
        /// Its method.
        method: String,
        /// The id of a request.
        id: Option<i64>,
    },
    /// Something was not sent.
    NotSent {
        /// Its method.
        method: String,
        /// The reason.
        reason: Unsent,
    },
    /// The host answered a request with a result.
    Answered {
        /// The request's id.
        id: i64,
        /// Its method.
        method: String,
        /// The result.
        result: Value,
        /// The time to the response.
        latency_us: u64,
        /// Whether the response came after the deadline.
        late: bool,
        /// Differences between the result and its schema. Proposals' own reports have this member, too, if there are
        /// any.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        deviations: Vec<String>,
    },
    /// The host answered a request with an error.
    Refused {
        /// The request's id.
        id: i64,
        /// Its method.
        method: String,
        /// The error's code.
        code: i64,
        /// The code's meaning for this method.
        means: Option<&'static str>,
        /// The error's message.
        message: String,
        /// The time to the response.
        latency_us: u64,
        /// Whether the response came after the deadline.
        late: bool,
        /// What is unusual about the error.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        deviations: Vec<String>,
    },
    /// The host did not respond in time.
    Unanswered {
        /// The request's id.
        id: i64,
        /// Its method.
        method: String,
        /// The deadline.
        after_us: u64,
    },
    /// A response arrived that belongs to no request.
    Orphan {
        /// Its id.
        id: String,
    },
    /// The host cancelled a request in progress.
    Cancelled {
        /// The request's id, as received.
        id: String,
    },
    /// The host uses the modern era, which cannot carry the proposals that would be declared.
    NoCarrier {
        /// The revision.
        revision: &'static str,
        /// The proposals.
        proposals: Vec<&'static str>,
    },
    /// A report of a proposal: an object whose `report` names the kind. An integer `id` refers to one of the server's
    /// own requests.
    #[serde(untagged)]
    Proposal(Value),
}

impl Report {
    /// Whether it concerns something other than the order in progress.
    pub fn is_aside(&self) -> bool {
        matches!(self, Self::Proposal(report) if report["report"] == "handler")
    }

    /// The id of the server's own request that it concerns.
    pub fn request(&self) -> Option<i64> {
        match self {
            Self::Sent { id, .. } => *id,
            Self::Answered { id, .. } | Self::Refused { id, .. } | Self::Unanswered { id, .. } => Some(*id),
            Self::Proposal(report) => report["id"].as_i64(),
            _ => None,
        }
    }
}
