//! What messages say about operations and checkpoints: entries of the audit log, and steps of checkpoint trees.

use super::{Declared, Observed};
use serde_json::Value;
use std::fmt::Debug;
use std::time::Duration;

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
    /// Without a response, because the connection was closed.
    Closed,
}

/// An exchange of a request and its response, or a notification.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    /// The method.
    pub method: &'a str,
    /// The params.
    pub params: &'a Value,
    /// When it began, in nanoseconds since the reel's clock base.
    pub began: i64,
    /// How it ended.
    pub end: OperationEnd<'a>,
    /// The time until the response.
    pub latency: Option<Duration>,
    /// Whether the host notes in the reel what it does. Otherwise, only messages show it.
    pub is_noted: bool,
    /// Whether a note or a message shows that the host no longer waited for the response when it came.
    pub is_given_up: bool,
    /// What both sides had declared at the end.
    pub declared: &'a Declared,
}

/// Follows the operations of one connection.
pub trait Auditor: Debug {
    /// A message.
    fn observe(&mut self, message: &Observed<'_>);

    /// The entries of the audit log for an exchange that uses one of the proposal's methods.
    fn entries(&self, exchange: &Exchange<'_>) -> Vec<OperationEntry>;

    /// Whether the host may still ignore the results of this method, and note it.
    fn may_be_ignored(&self, _method: &str) -> bool {
        false
    }
}

/// The outcome of an operation, in the order of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperationOutcome {
    /// It was refused, or failed.
    Failure,
    /// It succeeded.
    Success,
    /// There was no response, or it came too late.
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
