//! Which answer belongs to which request. Ids live in two spaces, one a requester, and a stream keeps its own.

use crate::wire::{Direction, IdKey};
use std::collections::HashMap;

/// Requests that wait for their answers, each with whatever the caller wants to remember.
#[derive(Debug)]
pub struct Pairing<T> {
    open: HashMap<(u32, Direction, IdKey), T, foldhash::fast::RandomState>,
}

impl<T> Default for Pairing<T> {
    fn default() -> Self {
        Self { open: HashMap::default() }
    }
}

impl<T> Pairing<T> {
    /// Notes a request that went `direction`. Answers what an earlier, still unanswered request with this id left.
    pub fn ask(&mut self, stream: u32, direction: Direction, id: IdKey, remembered: T) -> Option<T> {
        self.open.insert((stream, direction, id), remembered)
    }

    /// Takes the request that a response going `direction` answers.
    pub fn answer(&mut self, stream: u32, direction: Direction, id: IdKey) -> Option<T> {
        self.open.remove(&(stream, direction.reversed(), id))
    }

    /// Whether a request waits for the response with this id going `direction`.
    pub fn contains(&self, stream: u32, direction: Direction, id: IdKey) -> bool {
        self.open.contains_key(&(stream, direction.reversed(), id))
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Those that still wait, in no order.
    pub fn unanswered(&self) -> impl Iterator<Item = &T> {
        self.open.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{ClientToServer, ServerToClient};

    #[test]
    fn ids_live_in_two_spaces_and_keep_their_type() {
        let mut pairing = Pairing::default();
        pairing.ask(0, ClientToServer, IdKey::Integer(1), "from the client");
        pairing.ask(0, ServerToClient, IdKey::Integer(1), "from the server");
        assert_eq!(pairing.answer(0, ClientToServer, IdKey::Integer(1)), Some("from the server"));
        assert_eq!(pairing.answer(0, ServerToClient, IdKey::Text("1".into())), None);
        assert_eq!(pairing.answer(1, ServerToClient, IdKey::Integer(1)), None);
        assert_eq!(pairing.answer(0, ServerToClient, IdKey::Integer(1)), Some("from the client"));
        assert!(pairing.is_empty());
    }
}
