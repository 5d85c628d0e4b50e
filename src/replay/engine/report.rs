//! What a replay reports.

use crate::wire::text::excerpt;
use std::fmt;
use std::time::Duration;

/// Something to report about a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Several answers could have given a value, and the live server gives different ones. The latest is sent.
    Ambiguous {
        /// The number of the recorded message that carries the value.
        seq: u64,
        /// The place in its params or result.
        place: String,
        /// The recorded value.
        value: String,
        /// The live values, latest first.
        candidates: Vec<String>,
    },
    /// The live server did not return a value at the place where the recorded one did. The recorded value is sent.
    Unbound {
        /// The number of the recorded message that carries the value.
        seq: u64,
        /// The place in its params or result.
        place: String,
        /// The recorded value.
        value: String,
        /// The number of the recorded message that returned it.
        from: u64,
    },
    /// The server sent a request to which there is no answer.
    Unanswerable {
        /// Its method.
        method: String,
    },
    /// A request was not answered in time.
    TimedOut {
        /// The number of the recorded request.
        seq: u64,
        /// Its method, and the tool that it calls.
        message: String,
        /// The time limit.
        after: Duration,
    },
    /// The server refused a message, which the recorded one did not.
    Refused {
        /// The number of the recorded request, if it was one.
        seq: Option<u64>,
        /// Why.
        reason: String,
    },
    /// A message could not be delivered.
    Undelivered {
        /// The number of the recorded request, if it was one.
        seq: Option<u64>,
        /// Why.
        reason: String,
    },
}

/// The maximum length of a value in a note, in characters.
const WIDEST: usize = 60;

impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |text: &str| excerpt(text, WIDEST);
        match self {
            Self::Ambiguous { seq, place, value, candidates } => {
                let (value, sent) = (short(value), short(candidates.first().map_or("", String::as_str)));
                let count = candidates.len();
                write!(
                    out,
                    "ambiguous value {value} at {place} of seq {seq}: the live server returned {count} different \
                     values at the places where it was recorded; the latest was sent: {sent}"
                )
            }
            Self::Unbound { seq, place, value, from } => write!(
                out,
                "the live server returned nothing in place of {} (seq {from}), which seq {seq} sends at {place}; the \
                 recorded value was sent",
                short(value)
            ),
            Self::Unanswerable { method } => {
                write!(out, "the server sent the request {method}, which the recording does not answer; it was refused")
            }
            Self::TimedOut { seq, message, after } => {
                write!(out, "no answer to {message} (seq {seq}) within {after:?}")
            }
            Self::Refused { seq: Some(seq), reason } => write!(out, "the server refused seq {seq}: {reason}"),
            Self::Refused { seq: None, reason } => write!(out, "the server refused a message: {reason}"),
            Self::Undelivered { seq: Some(seq), reason } => write!(out, "seq {seq} was not delivered: {reason}"),
            Self::Undelivered { seq: None, reason } => write!(out, "a message was not delivered: {reason}"),
        }
    }
}

/// Why a replay ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The server closed the connection.
    Closed,
    /// The connection failed, for this reason.
    Lost(String),
    /// An answer did not come, and nothing more was sent.
    Unanswered,
    /// The server refused `server/discover`, with this message: it is not of the modern era.
    Refused(String),
    /// The user wanted no more.
    Stopped,
}

/// What a replay did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The number of messages sent.
    pub sent: usize,
    /// How many of them are requests.
    pub sent_requests: usize,
    /// The number of requests answered.
    pub answered: usize,
    /// What there is to report.
    pub notes: Vec<Note>,
    /// Why it ended early, if it did.
    pub end: Option<End>,
}

impl Outcome {
    /// Returns the first request that was not answered in time.
    pub(crate) fn timed_out(&self) -> Option<&Note> {
        self.notes.iter().find(|note| matches!(note, Note::TimedOut { .. }))
    }
}
