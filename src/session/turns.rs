//! Finds the turns of a conversation, from the messages of the proposals or from marks in the reel.

use crate::proposals::ConversationEvent;
use serde_json::Value;

/// What began turns so far.
///
/// A mark is a note event whose map has the member `mark`. A host that marks its turns knows them best, so from its
/// first `turn` on, messages no longer count. Without marks, a user message begins a turn. So does each inference that
/// a message reveals, except the first after a user message, which belongs to the same turn.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    marked: bool,
    begun_by_message: bool,
}

impl Turns {
    /// Returns what observers should see for an event of the conversation that a message reveals.
    pub(crate) fn reported(&mut self, moment: ConversationEvent) -> Option<ConversationEvent> {
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

    /// Returns the event of the conversation that a note marks, if it is a mark.
    pub(crate) fn marked(&mut self, note: &[u8]) -> Option<ConversationEvent> {
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
