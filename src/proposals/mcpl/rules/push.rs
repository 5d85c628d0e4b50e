//! Push events: their timestamps, and that a host accepts each event once.

use super::*;
use crate::proposals::recent::{Digest, Recent, digest};
use crate::proposals::timestamp;

/// The events that a host accepted.
#[derive(Debug)]
pub(super) struct Pushes {
    /// The event's id and the answer.
    accepted: Recent<String, Digest>,
}

impl Default for Pushes {
    fn default() -> Self {
        Self { accepted: Recent::new(4096) }
    }
}

impl Pushes {
    pub(super) fn observe(&mut self, method: &str, message: &Observed<'_>, findings: &mut Findings) {
        if method != crate::proposals::mcpl::PUSH_EVENT {
            return;
        }
        match message.envelope.kind {
            MessageKind::Request | MessageKind::Notification => {
                findings.hold(&CONTENT_STRING);
                let at = &message.content["timestamp"];
                timestamp::check(at, &TIMESTAMP, &TIMESTAMP_UNREADABLE, message.seq, findings);
            }
            MessageKind::Result => {
                findings.hold(&REFUSAL_REASON);
                let id = message.request.and_then(|asked| asked.params["eventId"].as_str());
                if let (Some(id), true) = (id, message.content["accepted"] == true) {
                    let answer = digest(message.content);
                    // The same answer to a repeated event repeats that it was accepted.
                    let before = self.accepted.insert(id.to_owned(), answer);
                    let is_new = before.is_none_or(|before| before == answer);
                    findings.check(&EVENT_TWICE, message.seq, is_new, || format!("the host had already accepted {id}"));
                }
            }
            _ => {}
        }
    }
}
