//! Counts the reminders that wait for a turn if the host follows the proposal, to show how much a server adds to one
//! turn.
//!
//! Where the proposal is unclear, it uses the lower number: a reminder without a lifetime counts for one turn.

use super::read::Spec;
use std::collections::VecDeque;

/// The maximum number of reminders that are remembered. The oldest are dropped first.
const MAX: usize = 256;

/// A waiting reminder.
#[derive(Debug)]
struct Pending {
    id: Option<String>,
    key: Option<String>,
    turns: u64,
    survives: bool,
    /// Whether a turn has already included it.
    fired: bool,
}

/// The waiting reminders of one server.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pending: VecDeque<Pending>,
}

impl Queue {
    /// Adds a reminder. It replaces one with the same id, and one with the same key that no turn has included yet.
    pub(super) fn push(&mut self, reminder: Spec) {
        let entry = Pending {
            id: Some(reminder.id).filter(|id| !id.is_empty()),
            key: reminder.dedupe_key,
            turns: reminder.ttl_turns.unwrap_or(1),
            survives: reminder.preserve_on_compact,
            fired: false,
        };
        let same_id = |other: &Pending| entry.id.is_some() && other.id == entry.id;
        let same_key = |other: &Pending| entry.key.is_some() && other.key == entry.key && !other.fired;
        self.pending.retain(|other| !same_id(other) && !same_key(other));
        self.pending.push_back(entry);
        if self.pending.len() > MAX {
            self.pending.pop_front();
        }
    }

    /// Handles a turn. Returns the number of reminders in it, each of which then has one turn less.
    pub(super) fn turn(&mut self) -> usize {
        let count = self.pending.len();
        for entry in &mut self.pending {
            entry.turns = entry.turns.saturating_sub(1);
            entry.fired = true;
        }
        self.pending.retain(|entry| entry.turns > 0);
        count
    }

    /// Handles a compaction: only reminders with `preserveOnCompact` remain.
    pub(super) fn compact(&mut self) {
        self.pending.retain(|entry| entry.survives);
    }

    /// Removes all reminders.
    pub(super) fn clear(&mut self) {
        self.pending.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposals::reminder::read::Form;
    use serde_json::{Value, json};

    fn spec(reminder: &Value) -> Spec {
        Spec::lenient(reminder, Form::Legacy)
    }

    fn queue(reminders: &[Value]) -> Queue {
        let mut queue = Queue::default();
        reminders.iter().for_each(|reminder| queue.push(spec(reminder)));
        queue
    }

    #[test]
    fn b18_a_newer_key_replaces_what_waits() {
        let one = |id: &str, turns: u64| json!({"id": id, "dedupeKey": "k", "ttlTurns": turns});
        let mut waiting = queue(&[one("a", 2), one("b", 1), json!({"id": "c"})]);
        assert_eq!(waiting.turn(), 2);
        assert_eq!(waiting.turn(), 0, "the newer one's lifetime counts");
        let mut fired = queue(&[one("a", 2)]);
        fired.turn();
        fired.push(spec(&one("b", 1)));
        assert_eq!(fired.turn(), 2, "one that was in a turn already stays");
    }

    #[test]
    fn b19_a_reminder_is_in_as_many_turns_as_it_says() {
        let mut queue = queue(&[json!({"id": "a", "ttlTurns": 2}), json!({"id": "b", "ttl_turns": 3}), json!({})]);
        assert_eq!([queue.turn(), queue.turn(), queue.turn(), queue.turn()], [3, 2, 1, 0]);
    }

    #[test]
    fn b20_only_what_asked_for_it_outlives_a_compaction() {
        let stays = |id: &str| json!({"id": id, "preserveOnCompact": true});
        let mut queue = queue(&[stays("a"), json!({"id": "b"}), stays("c")]);
        queue.compact();
        assert_eq!(queue.turn(), 2);
    }

    #[test]
    fn amb_b4_the_same_id_is_the_same_reminder() {
        assert_eq!(queue(&[json!({"id": "a"}), json!({"id": "a", "body": "other"})]).turn(), 1);
    }
}
