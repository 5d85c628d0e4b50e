//! What messages say about operations and checkpoints: entries of the audit log, and steps of checkpoint trees.

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

/// The outcome of an operation, in the order of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperationOutcome {
    /// It was refused, or failed.
    Failure,
    /// It succeeded.
    Success,
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

/// What a message shows about checkpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckpointStep {
    /// The server sent a checkpoint.
    Given {
        /// The checkpoint's id.
        checkpoint: String,
        /// The parent's id.
        parent: Option<String>,
        /// What the message contains: `data`, `patch` or `nothing`.
        keeps: &'static str,
        /// The tool whose result contains it.
        by: Option<String>,
    },
    /// The server rolled back.
    Back {
        /// The checkpoint that the rollback was to.
        target: String,
        /// The id of the state after the rollback.
        named: String,
        /// The feature set.
        feature_set: Option<String>,
    },
    /// A rollback failed, or was incomplete.
    Stuck {
        /// The checkpoint that the rollback was to.
        target: String,
        /// The reason.
        reason: String,
        /// The feature set.
        feature_set: Option<String>,
    },
    /// The server no longer has a checkpoint.
    Gone {
        /// The checkpoint's id.
        target: String,
    },
}
