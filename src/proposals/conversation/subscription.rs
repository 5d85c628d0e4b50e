//! Whether a server wants user messages (SEP-1975, New Capability). The host, `fire` and the rules all read it here.
//!
//! It must never decide about consent.

use super::DESCRIPTOR;
use crate::proposals::Side;
use crate::proposals::declared_at;
use serde_json::Value;

/// What a server declared about user messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subscription {
    /// `onUserMessage: true`: the host sends it every user message.
    Subscribed,
    /// `conversationEvents` exists, but without `onUserMessage: true`.
    DeclaredNotSubscribed,
    /// The server does not declare `conversationEvents`.
    NotDeclared,
}

/// Reads a server's capabilities. If `conversationEvents` stands both at the top level and under `experimental`, the
/// top level applies (AMB-A9).
pub(crate) fn subscription(capabilities: &Value) -> Subscription {
    match declared_at(&DESCRIPTOR, Side::Server, capabilities) {
        Some((_, declared)) if declared["onUserMessage"] == true => Subscription::Subscribed,
        Some(_) => Subscription::DeclaredNotSubscribed,
        None => Subscription::NotDeclared,
    }
}
