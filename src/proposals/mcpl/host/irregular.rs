//! What the host tolerates in a server's messages, and reports as `odd`.

use crate::proposals::host::{HostCx, ServerId};
use serde_json::Value;

/// Something irregular, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Irregularity {
    /// The server breaks the proposal.
    Mistake(String),
    /// The server may do this, but the host cannot follow it, or has a limit.
    Note(String),
}

impl Irregularity {
    /// Reports it.
    pub(super) fn report(self, cx: &mut HostCx<'_>, server: ServerId) {
        match self {
            Self::Mistake(text) => cx.report_mistake("odd", server, text, Value::Null),
            Self::Note(text) => cx.report("odd", Some(server), text, Value::Null),
        }
    }

    /// The sentence.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Mistake(text) | Self::Note(text) => text,
        }
    }
}
