//! What a pack says, ready for use: messages that rules look at, checks, dialects.

use super::pointer::Pointer;
use super::summary::Summary;
use crate::proposals::samples::Sample;
use crate::proposals::{Descriptor, Observed, Rule};
use crate::wire::MessageKind;
use std::collections::HashMap;
use std::time::Duration;

/// Everything about a pack. It lives as long as the process.
pub(super) struct Plan {
    pub descriptor: Descriptor,
    pub rules: &'static [Rule],
    /// The check of each rule.
    pub checks: Vec<Check>,
    pub dialects: Vec<Dialect>,
    /// The summaries of each method: of its params and of its result.
    pub summaries: HashMap<String, [Option<Summary>; 2]>,
    pub examples: Vec<Sample>,
}

/// A part of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    /// The request or notification.
    Call,
    /// The result.
    Result,
    /// The error.
    Error,
}

/// A kind of message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Selector {
    pub method: String,
    pub half: Half,
}

impl Selector {
    /// Reads `METHOD`, `METHOD result` or `METHOD error`.
    ///
    /// # Errors
    ///
    /// Something else comes after the method.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (method, half) = match text.trim().split_once(' ') {
            None => (text.trim(), Half::Call),
            Some((method, "result")) => (method, Half::Result),
            Some((method, "error")) => (method, Half::Error),
            Some((_, other)) => return Err(format!("{other:?} after a method: expected result or error")),
        };
        Ok(Self { method: method.to_owned(), half })
    }

    fn fits(&self, message: &Observed<'_>) -> bool {
        let half = match message.envelope.kind {
            MessageKind::Request | MessageKind::Notification => Half::Call,
            MessageKind::Result => Half::Result,
            MessageKind::Error => Half::Error,
            _ => return false,
        };
        self.half == half && message.method == Some(self.method.as_str())
    }
}

/// Some kinds of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Messages(pub Vec<Selector>);

impl Messages {
    /// Returns whether a message is one of them.
    pub(super) fn have(&self, message: &Observed<'_>) -> bool {
        self.0.iter().any(|selector| selector.fits(message))
    }

    /// Returns their names, for a finding.
    pub(super) fn text(&self) -> String {
        let name = |selector: &Selector| match selector.half {
            Half::Call => selector.method.clone(),
            Half::Result => format!("result of {}", selector.method),
            Half::Error => format!("error of {}", selector.method),
        };
        self.0.iter().map(name).collect::<Vec<_>>().join(" or ")
    }
}

/// Another message that a rule refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Anchor {
    pub messages: Messages,
    pub key: Option<Pointer>,
}

/// The check of a rule.
#[derive(Clone, Debug)]
pub(super) struct Check {
    /// The dialects that have the rule, by their places in the plan; empty if all have it.
    pub dialects: Vec<usize>,
    pub kind: CheckKind,
}

/// What a rule checks.
#[derive(Clone, Debug)]
pub(super) enum CheckKind {
    RequiresCapability {
        messages: Messages,
        /// The capabilities, by their places in the descriptor.
        places: Vec<usize>,
        member: Option<String>,
    },
    AnsweredWithin {
        messages: Messages,
        time: Duration,
        key: Option<Pointer>,
        by: Option<Anchor>,
    },
    UniqueBy {
        messages: Messages,
        each: Option<Pointer>,
        key: Pointer,
        per: Option<Pointer>,
    },
    OnlyAfter {
        messages: Messages,
        key: Option<Pointer>,
        after: Anchor,
        until: Option<Anchor>,
        once: bool,
    },
    MatchesSchema {
        messages: Messages,
        each: Option<Pointer>,
        value: Pointer,
        /// The name of the definition in the pack's schemas.
        definition: String,
    },
    MatchesSchemaOf {
        messages: Messages,
        each: Option<Pointer>,
        value: Pointer,
        key: Pointer,
        from: Messages,
        schemas: Pointer,
        name: Pointer,
        schema: Pointer,
    },
    OneDialect,
}

/// A dialect.
#[derive(Clone, Debug)]
pub(super) struct Dialect {
    pub name: String,
    pub signs: Vec<Sign>,
}

/// What shows that a session uses a dialect.
#[derive(Clone, Debug)]
pub(super) struct Sign {
    pub messages: Messages,
    /// Capabilities that the message declares, and others that it does not, by their places in the descriptor.
    pub declares: Vec<usize>,
    pub lacks: Vec<usize>,
    /// The name of the definition that the message fits.
    pub definition: Option<String>,
}
