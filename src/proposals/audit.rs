//! What a log of the proposals' operations tells of one: which, in whose name, for which inference, and what came of
//! it.

use serde_json::Value;

/// How an exchange ended.
#[derive(Clone, Copy, Debug)]
pub enum OperationEnd<'a> {
    /// It was a notification: nobody says.
    Sent,
    /// By a result.
    Granted(&'a Value),
    /// By an error.
    Refused(&'a Value),
    /// Not at all.
    Silence,
}

/// What came of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationOutcome {
    /// It was done.
    Success,
    /// It was refused, or failed.
    Failure,
    /// Nobody answered.
    Timeout,
}

impl OperationOutcome {
    /// `success`, `failure` or `timeout`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Timeout => "timeout",
        }
    }
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationEntry {
    /// Which, in a word.
    pub operation: &'static str,
    /// In the name of which feature set, where the messages tell.
    pub feature_set: Option<String>,
    /// Which inference it is part of, or began.
    pub inference: Option<String>,
    /// What it was about, in a few words.
    pub about: String,
    /// What came of it.
    pub outcome: OperationOutcome,
    /// Why it failed.
    pub reason: Option<String>,
}
