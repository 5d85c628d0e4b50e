//! Where the turns of a conversation are, as far as a recording tells: by the rooms' messages, or by marks in the reel.
//!
//! A mark is a note event whose map has the member `mark`. A host that marks its turns knows them best, so from its
//! first `turn` on the messages no longer count. Without marks, a user's message begins a turn, and so does each
//! inference that tells of itself, but for the first after a user's message: that one is the same turn.

use crate::proposals::ConversationEvent;
use serde_json::Value;

/// Tells turns apart.
#[derive(Debug, Default)]
pub(super) struct Turns {
    marked: bool,
    begun_by_message: bool,
}

impl Turns {
    /// What a moment told by a message is to observers.
    pub fn reported(&mut self, moment: ConversationEvent) -> Option<ConversationEvent> {
        match moment {
            ConversationEvent::UserMessage => {
                self.begun_by_message = true;
                (!self.marked).then_some(ConversationEvent::Turn)
            }
            ConversationEvent::Inference => {
                let same = std::mem::take(&mut self.begun_by_message);
                (!self.marked && !same).then_some(ConversationEvent::Turn)
            }
            other => Some(other),
        }
    }

    /// The moment that a note marks, if it is one.
    pub fn marked(&mut self, note: &[u8]) -> Option<ConversationEvent> {
        let note: Value = ciborium::from_reader(note).ok()?;
        let moment = match note["mark"].as_str()? {
            "turn" => ConversationEvent::Turn,
            "inferred" => ConversationEvent::Inferred,
            "compacted" => ConversationEvent::Compacted,
            "revoked" => ConversationEvent::Revoked,
            "granted" => ConversationEvent::Granted,
            _ => return None,
        };
        self.marked |= moment == ConversationEvent::Turn;
        Some(moment)
    }
}
