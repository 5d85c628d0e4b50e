//! Entries of the audit log: the operations of a proposal, each with its feature set, inference and outcome.

use serde_json::Value;

/// How an exchange ended.
#[derive(Clone, Copy, Debug)]
pub enum OperationEnd<'a> {
    /// It was a notification, so there is no response.
    Sent,
    /// With a result.
    Granted(&'a Value),
    /// With an error.
    Refused(&'a Value),
    /// Without a response.
    Silence,
}

/// The outcome of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationOutcome {
    /// It succeeded.
    Success,
    /// It was refused, or failed.
    Failure,
    /// There was no response.
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
    /// The operation's name, one word.
    pub operation: &'static str,
    /// The feature set, if the messages name one.
    pub feature_set: Option<String>,
    /// The inference that it began or belongs to.
    pub inference: Option<String>,
    /// A short description of its subject.
    pub about: String,
    /// Its outcome.
    pub outcome: OperationOutcome,
    /// The reason for a failure.
    pub reason: Option<String>,
}
