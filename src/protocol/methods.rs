//! The methods of MCP: who sends them, in which form, in which revisions, and which part of the params names their
//! subject.

use super::revision::{Era, Revision};
use crate::wire::{Direction, json};
use foldhash::fast::RandomState;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Whether a method is sent as a request, as a notification, or as either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodKind {
    /// It gets a response.
    Request,
    /// It gets no response.
    Notification,
    /// The proposal allows both forms.
    Either,
}

/// The side that sends a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// The client (host).
    Client,
    /// The server.
    Server,
    /// Either side may send it.
    Either,
}

impl Sender {
    /// Returns whether a message in this direction may have the method.
    pub fn allows(self, direction: Direction) -> bool {
        match self {
            Self::Client => direction == Direction::ClientToServer,
            Self::Server => direction == Direction::ServerToClient,
            Self::Either => true,
        }
    }

    /// Returns `client`, `server` or `either side`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::Either => "either side",
        }
    }
}

/// One method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodSpec {
    /// Its name on the wire.
    pub name: &'static str,
    /// Whether it is a request or a notification.
    pub kind: MethodKind,
    /// The side that sends it.
    pub sender: Sender,
    /// The first revision that has it.
    pub since: Revision,
    /// The last revision that has it as a separate message.
    pub until: Revision,
    /// The path to its subject in the params: member names, outermost first.
    pub about: &'static [&'static str],
    /// The document that defines it.
    pub source: &'static str,
    /// A request that is answered only at the end of something, and may stay open as long as the session.
    pub stays_open: bool,
}

impl MethodSpec {
    /// Creates a method of a proposal. All proposals build on the legacy era, so every legacy revision has it.
    pub const fn proposed(
        name: &'static str,
        kind: MethodKind,
        sender: Sender,
        about: &'static [&'static str],
        source: &'static str,
    ) -> Self {
        let (since, until) = (Revision::V2024_11_05, Revision::V2025_11_25);
        Self { name, kind, sender, since, until, about, source, stays_open: false }
    }

    /// Returns whether the revision has it.
    pub fn is_in(&self, revision: Revision) -> bool {
        self.since <= revision && revision <= self.until
    }

    /// Returns whether any revision of the era has it.
    pub fn is_in_era(&self, era: Era) -> bool {
        match era {
            Era::Legacy => self.since.era() == Era::Legacy,
            Era::Modern => self.until.era() == Era::Modern,
        }
    }
}

use MethodKind::{Notification, Request};
use Sender::{Client, Either, Server};

const fn core(
    name: &'static str,
    kind: MethodKind,
    sender: Sender,
    since: Revision,
    until: Revision,
    about: &'static [&'static str],
) -> MethodSpec {
    MethodSpec { name, kind, sender, since, until, about, source: "MCP specification", stays_open: false }
}

/// The methods of MCP itself.
pub(crate) const CORE: &[MethodSpec] = &[
    core("completion/complete", Request, Client, Revision::V2024_11_05, Revision::V2026_07_28, &["argument", "name"]),
    core("elicitation/create", Request, Server, Revision::V2025_06_18, Revision::V2025_11_25, &["message"]),
    core("initialize", Request, Client, Revision::V2024_11_05, Revision::V2025_11_25, &["clientInfo", "name"]),
    core("logging/setLevel", Request, Client, Revision::V2024_11_05, Revision::V2025_11_25, &["level"]),
    core("ping", Request, Either, Revision::V2024_11_05, Revision::V2025_11_25, &[]),
    core("prompts/get", Request, Client, Revision::V2024_11_05, Revision::V2026_07_28, &["name"]),
    core("prompts/list", Request, Client, Revision::V2024_11_05, Revision::V2026_07_28, &[]),
    core("resources/list", Request, Client, Revision::V2024_11_05, Revision::V2026_07_28, &[]),
    core("resources/read", Request, Client, Revision::V2024_11_05, Revision::V2026_07_28, &["uri"]),
    core("resources/subscribe", Request, Client, Revision::V2024_11_05, Revision::V2025_11_25, &["uri"]),
    core("resources/templates/list", Request, Client, Revision::V2024_11_05, Revision::V2026_07_28, &[]),
    core("resources/unsubscribe", Request, Client, Revision::V2024_11_05, Revision::V2025_11_25, &["uri"]),
    core("roots/list", Request, Server, Revision::V2024_11_05, Revision::V2025_11_25, &[]),
    core("sampling/createMessage", Request, Server, Revision::V2024_11_05, Revision::V2025_11_25, &[]),
    core(
        "server/discover",
        Request,
        Client,
        Revision::V2026_07_28,
        Revision::V2026_07_28,
        &["_meta", "io.modelcontextprotocol/clientInfo", "name"],
    ),
    MethodSpec {
        stays_open: true,
        ..core("subscriptions/listen", Request, Client, Revision::V2026_07_28, Revision::V2026_07_28, &[])
    },
    core("tasks/cancel", Request, Either, Revision::V2025_11_25, Revision::V2025_11_25, &["taskId"]),
    core("tasks/get", Request, Either, Revision::V2025_11_25, Revision::V2025_11_25, &["taskId"]),
    core("tasks/list", Request, Either, Revision::V2025_11_25, Revision::V2025_11_25, &[]),
    core("tasks/result", Request, Either, Revision::V2025_11_25, Revision::V2025_11_25, &["taskId"]),
    core("tools/call", Request, Client, Revision::V2024_11_05, Revision::V2026_07_28, &["name"]),
    core("tools/list", Request, Client, Revision::V2024_11_05, Revision::V2026_07_28, &[]),
    core("notifications/cancelled", Notification, Either, Revision::V2024_11_05, Revision::V2026_07_28, &["requestId"]),
    core(
        "notifications/elicitation/complete",
        Notification,
        Server,
        Revision::V2025_11_25,
        Revision::V2025_11_25,
        &["elicitationId"],
    ),
    core("notifications/initialized", Notification, Client, Revision::V2024_11_05, Revision::V2025_11_25, &[]),
    core("notifications/message", Notification, Server, Revision::V2024_11_05, Revision::V2026_07_28, &["level"]),
    core(
        "notifications/progress",
        Notification,
        Either,
        Revision::V2024_11_05,
        Revision::V2026_07_28,
        &["progressToken"],
    ),
    core("notifications/prompts/list_changed", Notification, Server, Revision::V2024_11_05, Revision::V2026_07_28, &[]),
    core(
        "notifications/resources/list_changed",
        Notification,
        Server,
        Revision::V2024_11_05,
        Revision::V2026_07_28,
        &[],
    ),
    core(
        "notifications/resources/updated",
        Notification,
        Server,
        Revision::V2024_11_05,
        Revision::V2026_07_28,
        &["uri"],
    ),
    core("notifications/roots/list_changed", Notification, Client, Revision::V2024_11_05, Revision::V2025_11_25, &[]),
    core(
        "notifications/subscriptions/acknowledged",
        Notification,
        Server,
        Revision::V2026_07_28,
        Revision::V2026_07_28,
        &[],
    ),
    core("notifications/tasks/status", Notification, Either, Revision::V2025_11_25, Revision::V2025_11_25, &["taskId"]),
    core("notifications/tools/list_changed", Notification, Server, Revision::V2024_11_05, Revision::V2026_07_28, &[]),
];

/// Methods that MCP left to an official extension (`io.modelcontextprotocol/tasks`) in revision 2026-07-28.
const MOVED_TO_EXTENSIONS: [&str; 2] = ["tasks/cancel", "tasks/get"];

/// Returns whether an official extension to the revision defines this method of an earlier revision.
pub(crate) fn moved_to_extension(name: &str, era: Era) -> bool {
    era == Era::Modern && MOVED_TO_EXTENSIONS.contains(&name)
}

/// Returns MCP's own method of this name.
pub(crate) fn lookup(name: &str) -> Option<&'static MethodSpec> {
    static BY_NAME: LazyLock<HashMap<&str, &MethodSpec, RandomState>> =
        LazyLock::new(|| CORE.iter().map(|spec| (spec.name, spec)).collect());
    BY_NAME.get(name).copied()
}

/// Returns what a call is about, from its params: a tool's name or a resource's URI, for example.
pub(crate) fn subject<'a>(spec: &MethodSpec, params: &'a [u8]) -> Option<Cow<'a, str>> {
    if spec.about.is_empty() {
        return None;
    }
    let value = json::at_path(params, spec.about)?;
    Some(json::as_str(value).unwrap_or_else(|| String::from_utf8_lossy(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_is_known_with_its_sides_and_revisions() {
        let call = lookup("tools/call").expect("known");
        assert_eq!((call.kind, call.sender), (Request, Client));
        assert!(call.is_in(Revision::V2024_11_05) && call.is_in(Revision::V2026_07_28));
        let initialize = lookup("initialize").expect("known");
        assert!(initialize.is_in_era(Era::Legacy) && !initialize.is_in_era(Era::Modern));
        assert!(!lookup("server/discover").expect("known").is_in_era(Era::Legacy));
        assert_eq!(subject(call, br#"{"name":"echo"}"#).as_deref(), Some("echo"));
        assert!(lookup("push/event").is_none());
    }
}
