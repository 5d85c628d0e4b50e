//! Checks the handshake: which message comes first, and which ones must wait.

use super::classify::ServerEnd;
use super::pairing::Pairs;
use super::subject::Message;
use super::{rules, sender};
use crate::proposals::{Findings, Observed};
use crate::protocol::{Era, Revision};
use crate::session::Tracker;
use crate::wire::MessageKind;
use crate::wire::text::counted;
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
    /// The client sent a request before it ended the handshake.
    was_hasty: bool,
    early: HashSet<String, foldhash::fast::RandomState>,
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
        let rule = match message.registry.of_method(method) {
            Some(_) => &rules::EARLY_EXTENSION,
            None => &rules::EARLY,
        };
        if before.ready || may_be_early(method) {
            return findings.hold(rule);
        }
        // The notification may be in the missing part.
        if self.end_unknown {
            return;
        }
        self.was_hasty |= message.is_request() && message.is_clients();
        if self.early.len() < MAX_METHODS && self.early.insert(method.to_owned()) {
            findings.note(rule, seq, format!("the {side} sent {method} before notifications/initialized"));
        }
    }
}

impl Lifecycle {
    /// Checks at the end of a session whether the client ended the handshake.
    pub(super) fn finish(&self, tracker: &Tracker, findings: &mut Findings) {
        let is_ready = tracker.declared.ready;
        if tracker.era == Some(Era::Legacy) && !self.end_unknown && (is_ready || self.was_hasty) {
            findings.check_overall(&rules::INITIALIZED_MISSING, is_ready, || {
                "the client sent requests, but never notifications/initialized".to_owned()
            });
        }
    }
}

/// The signals with which the system ends a process that did something invalid, or that gave up.
const CRASHES: [(i64, &str); 6] =
    [(4, "SIGILL"), (6, "SIGABRT"), (7, "SIGBUS"), (8, "SIGFPE"), (11, "SIGSEGV"), (31, "SIGSYS")];

/// Checks how the server's process ended. A server that failed leaves pending requests without a response; the crash is
/// the finding then, not each request.
pub(super) fn check_end(seq: u64, end: ServerEnd, pairs: &mut Pairs, findings: &mut Findings) {
    let crash = CRASHES.iter().find(|(number, _)| Some(*number) == end.signal);
    let unanswered = if end.has_failed || crash.is_some() { pairs.abandon() } else { None };
    let how = match (end.code, end.signal) {
        (None, None) => return,
        (_, Some(signal)) => match crash {
            Some((_, name)) => format!("the server was ended by signal {signal} ({name})"),
            None => format!("the server was ended by signal {signal}"),
        },
        (Some(code), None) => format!("the server exited with code {code}"),
    };
    findings.check(&rules::CRASHED, seq, crash.is_none() && unanswered.is_none(), || match unanswered {
        Some((first, 1)) => format!("{how} before it answered seq {first}"),
        Some((first, count)) => {
            format!("{how} before it answered seq {first} and {} more", counted(count - 1, "request"))
        }
        None => how,
    });
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
