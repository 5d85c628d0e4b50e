//! Reports what a server sends twice, by means of two proposals: to the model, or to the host. Each proposal says what
//! its messages carry.

use super::rules;
use crate::proposals::recent::{Digest, Recent, digest};
use crate::proposals::{Carried, ConversationEvent, Findings, Observed, REGISTRY};

/// What one connection carried recently, with the proposal that carried it.
#[derive(Debug)]
pub(super) struct Overlap {
    /// The texts of the current turn, and those that wait for the next one.
    texts: Recent<Digest, Sent>,
    events: Recent<String, &'static str>,
}

/// A text that was sent.
#[derive(Debug)]
struct Sent {
    proposal: &'static str,
    /// It waits for a turn that has not begun.
    waits: bool,
}

/// How many texts and events are remembered.
const MAX: usize = 256;

impl Default for Overlap {
    fn default() -> Self {
        Self { texts: Recent::new(MAX), events: Recent::new(MAX) }
    }
}

impl Overlap {
    pub(super) fn observe(&mut self, observed: &Observed<'_>, findings: &mut Findings) {
        for proposal in REGISTRY {
            let name = proposal.descriptor().name;
            for carried in proposal.carries(observed) {
                let waits = matches!(carried, Carried::WaitingText(_));
                let (rule, what, other) = match carried {
                    Carried::Text(text) | Carried::WaitingText(text) => {
                        let other = self.texts.insert(digest(&text.into()), Sent { proposal: name, waits });
                        (&rules::SAME_TEXT, "the same text".to_owned(), other.map(|other| other.proposal))
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
        // In a session without marks, a turn begins with the user's message, before what the server adds to it. So what
        // waited for it counts until the model has answered, or the next turn begins.
        if matches!(moment, ConversationEvent::Turn | ConversationEvent::Inferred) {
            let mut kept = Recent::new(MAX);
            while let Some((text, sent)) = self.texts.pop_oldest() {
                if sent.waits {
                    kept.insert(text, Sent { waits: moment == ConversationEvent::Inferred, ..sent });
                }
            }
            self.texts = kept;
        }
    }
}
