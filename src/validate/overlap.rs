//! What comes to the model, or to the host, by the ways of two proposals at once. Rooms tell what their messages carry.

use super::rules;
use crate::proposals::recent::{Digest, Recent, digest};
use crate::proposals::{Carried, ConversationEvent, Findings, Observed, REGISTRY};

/// What one connection carried of late, with the room whose way it came.
#[derive(Debug)]
pub(super) struct Overlap {
    /// The texts of this turn.
    texts: Recent<Digest, &'static str>,
    facts: Recent<String, &'static str>,
}

impl Default for Overlap {
    fn default() -> Self {
        Self { texts: Recent::new(256), facts: Recent::new(256) }
    }
}

impl Overlap {
    pub fn observe(&mut self, observed: &Observed<'_>, findings: &mut Findings) {
        for proposal in REGISTRY {
            let name = proposal.descriptor().name;
            for carried in proposal.carries(observed) {
                let (rule, what, other) = match carried {
                    Carried::Text(text) => {
                        let other = self.texts.insert(digest(&text.into()), name);
                        (&rules::SAME_TEXT, "this text".to_owned(), other)
                    }
                    Carried::Fact(fact) => {
                        let what = format!("{fact:?}");
                        (&rules::SAME_FACT, what, self.facts.insert(fact, name))
                    }
                };
                findings.check(rule, observed.seq, other.is_none_or(|other| other == name), || {
                    format!("{what} by the ways of {} and {name}", other.unwrap_or_default())
                });
            }
        }
    }

    pub fn reach(&mut self, moment: ConversationEvent) {
        if moment == ConversationEvent::Turn {
            self.texts = Recent::new(256);
        }
    }
}
