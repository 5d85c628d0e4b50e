//! Push events: their timestamps, and that a host accepts each event once.

use super::*;
use crate::proposals::recent::{Digest, Recent, digest};
use crate::proposals::timestamp;
use crate::wire::IdKey;

/// The events that a host accepted.
#[derive(Debug)]
pub(super) struct Pushes {
    /// The event's id and the answer.
    accepted: Recent<String, Digest>,
    /// The contents and the ids of events without an answer so far, and the ids of those that were answered with an
    /// error, by their contents.
    open: Recent<IdKey, (Digest, String)>,
    /// The payload of each event.
    events: Recent<String, Digest>,
    failed: Recent<Digest, String>,
}

impl Default for Pushes {
    fn default() -> Self {
        Self {
            accepted: Recent::new(4096),
            open: Recent::new(256),
            events: Recent::new(4096),
            failed: Recent::new(256),
        }
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
                self.pushed(message, findings);
            }
            MessageKind::Error => {
                if let Some((contents, id)) = message.envelope.id.and_then(|id| self.open.remove(&id.key())) {
                    self.failed.insert(contents, id);
                }
            }
            MessageKind::Result => {
                findings.hold(&REFUSAL_REASON);
                if message.content["accepted"] == false {
                    let has_none = message.content["inferenceId"].is_null();
                    findings.check(&REFUSED_INFERENCE, message.seq, has_none, || {
                        format!(
                            "the host refused the event, but gives the inference {}",
                            message.content["inferenceId"]
                        )
                    });
                }
                let id = message.request.and_then(|asked| asked.params["eventId"].as_str());
                if let (Some(id), true) = (id, message.content["accepted"] == true) {
                    let answer = digest(message.content);
                    // The same answer to a repeated event repeats that it was accepted.
                    let before = self.accepted.insert(id.to_owned(), answer);
                    let starts = message.content["inferenceId"].is_string();
                    let is_new = !starts || before.is_none_or(|before| before == answer);
                    findings.check(&EVENT_TWICE, message.seq, is_new, || format!("the host had already accepted {id}"));
                }
            }
            _ => {}
        }
    }

    /// Checks whether an event repeats one that failed.
    fn pushed(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let (Some(id), Some(event)) = (message.envelope.id, message.content["eventId"].as_str()) else { return };
        let payload = digest(&message.content["payload"]);
        let before = self.events.insert(event.to_owned(), payload);
        findings.check(&EVENT_ID_REUSED, message.seq, before.is_none_or(|before| before == payload), || {
            format!("the server used the eventId {event:?} before, for another event")
        });
        let parts = ["featureSet", "timestamp", "origin", "payload"].map(|name| message.content[name].clone());
        let contents = digest(&Value::from_iter(parts));
        if let Some(failed) = self.failed.get(&contents) {
            findings.check(&RETRY_ID, message.seq, failed == event, || {
                format!("the server repeated the event {failed:?} as {event:?}")
            });
        }
        self.open.insert(id.key(), (contents, event.to_owned()));
    }
}
