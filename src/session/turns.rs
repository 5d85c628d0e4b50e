//! Finds the turns of a conversation, from the messages of the proposals or from marks in the reel.

use crate::proposals::ConversationEvent;
use crate::trace::Note;
use crate::trace::described::Mark;

/// What began turns so far.
///
/// A mark is a note event whose map has the member `mark`. A host that marks its turns knows them best, so from its
/// first `turn` on, messages no longer count. Without marks, a user message begins a turn. So does each inference that
/// a message reveals, except the first after a user message, which belongs to the same turn. A host marks a turn after
/// the messages that prepare it, so its first mark belongs to the turn that they began, unless that one is over.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    marked: bool,
    begun_by_message: bool,
    /// A message began the current turn.
    is_reported: bool,
}

impl Turns {
    /// Returns what observers should see for an event of the conversation that a message reveals.
    pub(crate) fn reported(&mut self, moment: ConversationEvent) -> Option<ConversationEvent> {
        let seen = self.revealed(moment);
        self.note(seen);
        seen
    }

    fn note(&mut self, seen: Option<ConversationEvent>) {
        match seen {
            Some(ConversationEvent::Turn) => self.is_reported = true,
            Some(ConversationEvent::Inferred) => self.is_reported = false,
            _ => {}
        }
    }

    fn revealed(&mut self, moment: ConversationEvent) -> Option<ConversationEvent> {
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
        let moment = match Note::read(note).mark? {
            Mark::Turn => ConversationEvent::Turn,
            Mark::Inferred => ConversationEvent::Inferred,
            Mark::Compacted => ConversationEvent::Compacted,
            Mark::Revoked => ConversationEvent::Revoked,
            Mark::Granted => ConversationEvent::Granted,
            Mark::Gone => ConversationEvent::Gone,
            Mark::Other(_) => return None,
        };
        let is_same = moment == ConversationEvent::Turn && !self.marked && self.is_reported;
        self.marked |= moment == ConversationEvent::Turn;
        self.note(Some(moment));
        (!is_same).then_some(moment)
    }
}
