//! Reports what a server sends twice, by means of two proposals: to the model, or to the host. Each proposal says what
//! its messages carry.

use super::rules;
use crate::proposals::recent::{Digest, Recent, digest};
use crate::proposals::{Carried, ConversationEvent, Findings, Observed, REGISTRY};

/// What one connection carried recently, with the proposal that carried it.
#[derive(Debug)]
pub(super) struct Overlap {
    /// The texts of the current turn.
    texts: Recent<Digest, &'static str>,
    events: Recent<String, &'static str>,
}

impl Default for Overlap {
    fn default() -> Self {
        Self { texts: Recent::new(256), events: Recent::new(256) }
    }
}

impl Overlap {
    pub(super) fn observe(&mut self, observed: &Observed<'_>, findings: &mut Findings) {
        for proposal in REGISTRY {
            let name = proposal.descriptor().name;
            for carried in proposal.carries(observed) {
                let (rule, what, other) = match carried {
                    Carried::Text(text) => {
                        let other = self.texts.insert(digest(&text.into()), name);
                        (&rules::SAME_TEXT, "the same text".to_owned(), other)
                    }
                    Carried::Event(event) => {
                        let what = format!("the event {event:?}");
                        (&rules::SAME_EVENT, what, self.events.insert(event, name))
                    }
                };
                findings.check(rule, observed.seq, other.is_none_or(|other| other == name), || {
                    format!("{what} was sent by means of {} and of {name}", other.unwrap_or_default())
                });
            }
        }
    }

    pub(super) fn reach(&mut self, moment: ConversationEvent) {
        if moment == ConversationEvent::Turn {
            self.texts = Recent::new(256);
        }
    }
}
