//! Checks methods: whether they are known, sent by the right side, in the right form, and part of the revision; and
//! with which errors they are refused.

use super::pairing::Pairs;
use super::subject::Message;
use super::subjects::capabilities;
use super::{rules, sender};
use crate::proposals::{self, Findings, Observed};
use crate::protocol::{Era, MethodKind, MethodSpec, Revision, errors, methods};
use crate::wire::{Direction, MessageKind};
use std::collections::HashSet;

/// The maximum number of methods that are remembered; a message of any further one is not reported.
const MAX_METHODS: usize = 256;

/// The methods that were already reported.
#[derive(Debug, Default)]
pub(super) struct Methods {
    unknown: HashSet<String, foldhash::fast::RandomState>,
    without_carrier: HashSet<&'static str, foldhash::fast::RandomState>,
}

impl Methods {
    pub(super) fn check(&mut self, message: &Message<'_>, pairs: &Pairs, findings: &mut Findings) {
        let observed = &message.observed;
        match observed.envelope.kind {
            MessageKind::Request | MessageKind::Notification => {
                let Some(method) = observed.method else { return };
                match message.registry.method_spec(method) {
                    Some(spec) => self.check_known(spec, message, findings),
                    None => self.check_unknown(method, message, findings),
                }
                check_modern_server(message, pairs, findings);
            }
            MessageKind::Error => check_refusal(message, findings),
            MessageKind::Result if observed.method == Some("ping") => check_ping(observed, findings),
            _ => {}
        }
    }

    fn check_unknown(&mut self, method: &str, message: &Message<'_>, findings: &mut Findings) {
        let observed = &message.observed;
        // MCPE reports these names itself (`mcpe/other-dialect`).
        if message.registry.is_neighbours(method) {
            return;
        }
        if self.unknown.len() >= MAX_METHODS || !self.unknown.insert(method.to_owned()) {
            return;
        }
        let rule = match observed.envelope.kind {
            MessageKind::Request => &rules::UNKNOWN_REQUEST,
            _ => &rules::UNKNOWN_NOTIFICATION,
        };
        let sender = sender(observed.direction);
        findings.note(rule, observed.seq, format!("the {sender} sent {:?}", proposals::clip(method, 80)));
    }

    fn check_known(&mut self, spec: &'static MethodSpec, message: &Message<'_>, findings: &mut Findings) {
        let observed = &message.observed;
        let (seq, name) = (observed.seq, spec.name);
        let is_request = observed.envelope.kind == MessageKind::Request;
        findings.hold(if is_request { &rules::UNKNOWN_REQUEST } else { &rules::UNKNOWN_NOTIFICATION });
        findings.check(&rules::DIRECTION, seq, spec.sender.allows(observed.direction), || {
            let (sender, right) = (sender(observed.direction), spec.sender.name());
            format!("the {sender} sent {name}, which only the {right} may send")
        });
        let fits = match spec.kind {
            MethodKind::Request => is_request,
            MethodKind::Notification => !is_request,
            MethodKind::Either => true,
        };
        findings.check(&rules::KIND, seq, fits, || {
            let form = if is_request { "request" } else { "notification" };
            format!("the {} sent {name} as a {form}", sender(observed.direction))
        });
        if methods::lookup(name).is_some() || spec.is_in_era(Era::Modern) {
            check_revision(spec, message, findings);
        } else {
            let modern = message.era == Era::Modern;
            if !modern || self.without_carrier.insert(name) {
                findings.check(&rules::NO_CARRIER, seq, !modern, || {
                    format!("revision {} cannot carry {name}", Revision::V2026_07_28.as_str())
                });
            }
        }
    }
}

fn check_ping(observed: &Observed<'_>, findings: &mut Findings) {
    findings.hold(&rules::PING_REFUSED);
    let extra = observed.content.as_object().into_iter().flatten().find(|(name, _)| *name != "_meta");
    findings.check(&rules::PING_RESULT, observed.seq, extra.is_none(), || {
        format!("the {} answered a ping with {:?}", sender(observed.direction), extra.map_or("", |(name, _)| name))
    });
}

fn check_revision(spec: &MethodSpec, message: &Message<'_>, findings: &mut Findings) {
    let before = &message.before;
    let agreed = before.revision.filter(|revision| revision.era() == message.era);
    let fits = match (message.era, agreed) {
        (era, _) if methods::moved_to_extension(spec.name, era) => true,
        (Era::Legacy, Some(revision)) => spec.is_in(revision),
        // No revision is agreed on yet: a client may probe with methods of both eras.
        (era, _) => before.era.is_none() && before.lost || spec.is_in_era(era),
    };
    findings.check(&rules::NOT_IN_REVISION, message.observed.seq, fits, || match agreed {
        Some(revision) => format!("{} was sent in a session of revision {}", spec.name, revision.as_str()),
        None => format!("{} was sent in the {} era", spec.name, message.era.name()),
    });
}

/// Checks what a server sends on its own in the modern era, which has no sessions.
fn check_modern_server(message: &Message<'_>, pairs: &Pairs, findings: &mut Findings) {
    let observed = &message.observed;
    if message.before.era != Some(Era::Modern) || observed.direction != Direction::ServerToClient {
        return;
    }
    let method = observed.method.unwrap_or_default();
    let is_request = observed.envelope.kind == MessageKind::Request;
    findings
        .check(&rules::SERVER_REQUEST, observed.seq, !is_request, || format!("the server sent the request {method}"));
    if !is_request {
        let solicited = message.before.lost || pairs.waits(Direction::ClientToServer);
        findings.check(&rules::UNSOLICITED, observed.seq, solicited, || {
            format!("the server sent {method} while no request of the client was pending")
        });
    }
}

fn check_refusal(message: &Message<'_>, findings: &mut Findings) {
    let observed = &message.observed;
    let (Some(asked), Some(code)) = (observed.request, observed.content["code"].as_i64()) else { return };
    let (seq, method) = (observed.seq, asked.method.as_str());
    let unknown = code == errors::METHOD_NOT_FOUND;
    if message.registry.is_neighbours(method) {
        return;
    }
    if message.registry.method_spec(method).is_none() {
        let as_params = code == errors::INVALID_PARAMS;
        findings
            .check(&rules::INVALID_PARAMS_CODE, seq, !as_params, || format!("{method} was refused with error {code}"));
        findings.check(&rules::REFUSAL_CODE, seq, unknown || as_params, || {
            format!("{method} was refused with error {code}")
        });
    } else if message.era == Era::Legacy {
        // A ping that is no valid request must be refused.
        if method == "ping" && code != errors::INVALID_REQUEST {
            findings.note(&rules::PING_REFUSED, seq, format!("a ping was answered with error {code}"));
        }
        if capabilities::was_declared(observed) {
            findings
                .check(&rules::DECLARED_REFUSED, seq, !unknown, || format!("{method} was refused with error {code}"));
        }
    }
    let means = message.registry.error_name(method, code);
    let predefined = (-32768..-32099).contains(&code);
    findings.check(&rules::ERROR_CODE, seq, !predefined || means.is_some(), || {
        format!("{method} was answered with error {code}, which JSON-RPC reserves and MCP does not define for it")
    });
    // In the modern era, the code itself is an error (`era/undefined-code`). Some proposals use such codes.
    let reserved = (-32099..=-32020).contains(&code) && means.is_none() && message.era == Era::Legacy;
    findings.check(&rules::RESERVED_CODE, seq, !reserved, || {
        format!("{method} was answered with error {code} (of unknown meaning)")
    });
}
