//! Checks the handshake: which message comes first, which ones must wait, and that only declared capabilities are used.

use super::connection::Message;
use super::{rules, sender};
use crate::proposals::{self, Findings, Observed, PendingRequest};
use crate::protocol::{Era, Revision, methods};
use crate::session::Tracker;
use crate::wire::{Direction, MessageKind};
use serde_json::Value;
use std::collections::HashSet;

/// The maximum number of methods that are remembered; a message of any further one is not reported.
const MAX_METHODS: usize = 256;

/// The state of these checks.
#[derive(Debug, Default)]
pub(super) struct Lifecycle {
    /// A message before `initialize` was reported already, or the beginning is not in the reel.
    start_judged: bool,
    /// The end of the handshake may be missing from the reel.
    end_unknown: bool,
    early: HashSet<String, foldhash::fast::RandomState>,
    lacking: HashSet<String, foldhash::fast::RandomState>,
}

impl Lifecycle {
    pub(super) fn lose_track(&mut self) {
        self.start_judged = true;
        self.end_unknown = true;
    }

    pub(super) fn check(&mut self, message: &Message<'_>, tracker: &Tracker, findings: &mut Findings) {
        let observed = &message.observed;
        match observed.envelope.kind {
            MessageKind::Request | MessageKind::Notification => {
                let Some(method) = observed.method else { return };
                if message.era == Era::Legacy {
                    self.check_order(message, method, findings);
                }
                // The capabilities of the session do not apply to a request that names its own revision.
                if message.before.era != Some(Era::Legacy) || message.era == Era::Legacy {
                    self.check_capability(observed, method, findings);
                }
            }
            MessageKind::Result => check_agreement(observed, tracker, findings),
            _ => {}
        }
    }

    fn check_order(&mut self, message: &Message<'_>, method: &str, findings: &mut Findings) {
        let seq = message.observed.seq;
        let side = sender(message.observed.direction);
        let before = &message.before;
        if method == "initialize" {
            let first = before.era != Some(Era::Legacy);
            findings.check(&rules::SECOND_INITIALIZE, seq, first, || "the client sent initialize again".to_owned());
            findings.hold(&rules::NOT_INITIALIZED);
            self.end_unknown = false;
            return;
        }
        if !before.initialize_asked {
            let excepted = may_be_early(method) && method != "notifications/initialized";
            if !excepted && !self.start_judged {
                self.start_judged = true;
                findings.note(
                    &rules::NOT_INITIALIZED,
                    seq,
                    format!("the {side} sent {method}, but no initialize came before it"),
                );
            }
            return;
        }
        let rule = match proposals::of_method(method) {
            Some(_) => &rules::EARLY_EXTENSION,
            None => &rules::EARLY,
        };
        if before.ready || may_be_early(method) {
            findings.hold(rule);
        } else if self.end_unknown {
            // The notification may be in the missing part.
        } else if self.early.len() < MAX_METHODS && self.early.insert(method.to_owned()) {
            findings.note(rule, seq, format!("the {side} sent {method} before notifications/initialized"));
        }
    }

    fn check_capability(&mut self, observed: &Observed<'_>, method: &str, findings: &mut Findings) {
        let Some((receiver, path)) = needed_capability(method, observed.direction) else { return };
        let capabilities = match receiver {
            Direction::ClientToServer => &observed.declared.server,
            Direction::ServerToClient => &observed.declared.client,
        };
        if !capabilities.is_object() {
            return;
        }
        let has = is_declared(capabilities, path);
        if has || (self.lacking.len() < MAX_METHODS && self.lacking.insert(method.to_owned())) {
            findings.check(&rules::CAPABILITY, observed.seq, has, || {
                let (side, other) = (sender(receiver), sender(receiver.reversed()));
                format!("the {side} sent {method}, but the {other} did not declare `{}`", path.join("."))
            });
        }
    }
}

fn check_agreement(observed: &Observed<'_>, tracker: &Tracker, findings: &mut Findings) {
    if observed.method != Some("initialize") {
        return;
    }
    let text = tracker.version_text.as_deref().unwrap_or_default();
    findings.check(&rules::UNKNOWN_REVISION, observed.seq, tracker.revision.is_some(), || {
        format!("the server answered initialize with the unknown revision {text:?}")
    });
    let modern = tracker.revision.map(Revision::era) == Some(Era::Modern);
    findings.check(&rules::MODERN_HANDSHAKE, observed.seq, !modern, || {
        format!("the server answered initialize with revision {text}, which has no handshake")
    });
}

fn may_be_early(method: &str) -> bool {
    matches!(
        method,
        "ping" | "notifications/initialized" | "notifications/message" | "notifications/cancelled" | "server/discover"
    )
}

/// Returns the capability that the receiver of this request must declare, and the direction of the request.
fn needed_capability(method: &str, direction: Direction) -> Option<(Direction, &'static [&'static str])> {
    let path: &[&str] = match method {
        "tools/list" | "tools/call" => &["tools"],
        "resources/subscribe" | "resources/unsubscribe" => &["resources", "subscribe"],
        "resources/list" | "resources/read" | "resources/templates/list" => &["resources"],
        "prompts/list" | "prompts/get" => &["prompts"],
        "logging/setLevel" => &["logging"],
        "sampling/createMessage" => &["sampling"],
        "roots/list" => &["roots"],
        "elicitation/create" => &["elicitation"],
        _ => return None,
    };
    let spec = methods::lookup(method)?;
    spec.sender.allows(direction).then_some((direction, path))
}

fn is_declared(capabilities: &Value, path: &[&str]) -> bool {
    let value = path.iter().try_fold(capabilities, |value, name| value.get(name));
    value.is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)))
}

/// Returns whether the receiver of the request `asked` declared the MCP capability that the method needs.
pub(super) fn was_declared(observed: &Observed<'_>, asked: &PendingRequest) -> bool {
    let Some((receiver, path)) = needed_capability(&asked.method, asked.direction) else { return false };
    match receiver {
        Direction::ClientToServer => is_declared(&observed.declared.server, path),
        Direction::ServerToClient => is_declared(&observed.declared.client, path),
    }
}
