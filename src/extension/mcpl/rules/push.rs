//! Push events: when they happened, and that a host takes each once.

use super::*;
use crate::extension::recent::Recent;
use crate::extension::timestamp::{self, Reading};

/// Events that a host accepted.
#[derive(Debug)]
pub struct Pushes {
    accepted: Recent<String>,
}

impl Default for Pushes {
    fn default() -> Self {
        Self { accepted: Recent::new(4096) }
    }
}

impl Pushes {
    pub fn observe(&mut self, method: &str, message: &Observed<'_>, findings: &mut Findings) {
        if method != crate::extension::mcpl::PUSH_EVENT {
            return;
        }
        match message.envelope.kind {
            MessageKind::Request | MessageKind::Notification => {
                findings.hold(&CONTENT_STRING);
                check_timestamp(&message.content["timestamp"], message.seq, findings);
            }
            MessageKind::Result => {
                findings.hold(&REFUSAL_REASON);
                let id = message.request.and_then(|asked| asked.params["eventId"].as_str());
                if let (Some(id), true) = (id, message.content["accepted"] == true) {
                    let again = self.accepted.insert(id.to_owned(), ()).is_some();
                    findings.check(&EVENT_TWICE, message.seq, !again, || format!("{id} was accepted before"));
                }
            }
            _ => {}
        }
    }
}

/// Checks a timestamp; one that is no string is the schema's business.
pub fn check_timestamp(value: &Value, seq: u64, findings: &mut Findings) {
    let Some(text) = value.as_str() else { return };
    let reading = timestamp::read(text);
    findings.check(&TIMESTAMP_UNREADABLE, seq, reading != Reading::Unreadable, || format!("{text:?}"));
    let loose = match &reading {
        Reading::Loose(why) => Some(*why),
        _ => None,
    };
    findings.check(&TIMESTAMP, seq, loose.is_none(), || format!("{text:?}: {}", loose.unwrap_or_default()));
}
