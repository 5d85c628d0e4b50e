//! Pairs responses with requests. Client and server each have their own ids, and so has each stream.

use crate::wire::{Direction, IdKey};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

/// The requests that wait for their responses, each with a value of the caller. If there are too many, the oldest ones
/// are forgotten.
#[derive(Debug)]
pub(crate) struct Pairing<T> {
    /// The latest requests. When they reach `max`, they become the `earlier` ones.
    latest: Requests<T>,
    earlier: Requests<T>,
    /// The request of the latest exchange that failed.
    failed: Option<(u32, Key)>,
    max: usize,
    forgotten: usize,
}

#[derive(Debug)]
struct Requests<T> {
    open: HashMap<Key, (u32, T), foldhash::fast::RandomState>,
    /// The open request of each HTTP exchange.
    exchanges: HashMap<u32, Key, foldhash::fast::RandomState>,
}

/// At least this many requests are remembered, and at most twice as many. As many fill a hash table of 4,096 places.
const MAX_OPEN: usize = 7 << 9;

/// Marks a request whose HTTP exchange failed. No exchange has this number.
const GIVEN_UP: u32 = u32::MAX;

/// The fingerprint of a request's stream, direction and id.
type Key = u64;

/// Gives back the room that answered requests left in a table, if that is most of it. Small tables keep theirs.
pub(crate) fn give_room_back<K: Eq + Hash, V, S: BuildHasher>(open: &mut HashMap<K, V, S>) {
    const SMALL: usize = 28;
    let (room, used) = (open.capacity(), open.len());
    if room > SMALL && room > 8 * used {
        open.shrink_to(2 * used);
    }
}

fn key(stream: u32, direction: Direction, id: &IdKey) -> Key {
    id.fingerprint((stream, direction))
}

impl<T> Default for Pairing<T> {
    fn default() -> Self {
        Self::of(MAX_OPEN)
    }
}

impl<T> Default for Requests<T> {
    fn default() -> Self {
        Self { open: HashMap::default(), exchanges: HashMap::default() }
    }
}

impl<T> Pairing<T> {
    /// Creates a pairing that remembers at least the latest `max` requests, and at most twice as many.
    pub(crate) fn of(max: usize) -> Self {
        Self { latest: Requests::default(), earlier: Requests::default(), failed: None, max, forgotten: 0 }
    }

    /// Returns how many requests were forgotten that may still be pending.
    pub(crate) fn forgotten(&self) -> usize {
        self.forgotten
    }

    /// Notes a request that was sent in this direction. Returns the value of an earlier pending request with the same
    /// id.
    pub(crate) fn ask(&mut self, stream: u32, direction: Direction, id: IdKey, remembered: T) -> Option<T> {
        self.ask_in(0, stream, direction, id, remembered)
    }

    /// Does the same as [`Self::ask`] for a request that an HTTP exchange carries (0 for none).
    pub(crate) fn ask_in(
        &mut self,
        exchange: u32,
        stream: u32,
        direction: Direction,
        id: IdKey,
        remembered: T,
    ) -> Option<T> {
        let key = key(stream, direction, &id);
        if self.latest.open.len() >= self.max {
            self.forgotten += self.earlier.open.len();
            self.earlier = std::mem::take(&mut self.latest);
            // Places of answered requests made the table twice as large.
            self.earlier.open.shrink_to_fit();
        }
        let before = self.earlier.open.remove(&key);
        if exchange != 0 {
            self.latest.exchanges.insert(exchange, key);
        }
        let earlier = self.latest.open.insert(key, (exchange, remembered)).or(before);
        earlier.filter(|(exchange, _)| *exchange != GIVEN_UP).map(|(_, earlier)| earlier)
    }

    /// Notes that the exchange of a request failed: the response comes in this exchange or never, and the id is free
    /// again.
    pub(crate) fn give_up(&mut self, exchange: u32) {
        for requests in [&mut self.latest, &mut self.earlier] {
            let Some(key) = requests.exchanges.remove(&exchange) else { continue };
            if let Some((carrier, _)) = requests.open.get_mut(&key) {
                *carrier = GIVEN_UP;
                self.failed = Some((exchange, key));
                return;
            }
        }
    }

    /// Removes and returns the request of an exchange that was given up, if it is the latest one: a response in this
    /// exchange belongs to it, whatever its id is.
    pub(crate) fn refuse(&mut self, exchange: u32) -> Option<T> {
        let (_, key) = self.failed.take_if(|failed| failed.0 == exchange)?;
        let mut both = [&mut self.latest, &mut self.earlier].into_iter();
        both.find_map(|requests| requests.open.remove(&key)).map(|(_, remembered)| remembered)
    }

    /// The request of an exchange.
    pub(crate) fn of_exchange(&mut self, exchange: u32) -> Option<&mut T> {
        [&mut self.latest, &mut self.earlier].into_iter().find_map(|requests| {
            let key = requests.exchanges.get(&exchange)?;
            requests.open.get_mut(key).map(|(_, remembered)| remembered)
        })
    }

    /// Removes and returns the request of an exchange that failed and so gets no response by its id.
    pub(crate) fn fail(&mut self, exchange: u32) -> Option<T> {
        [&mut self.latest, &mut self.earlier].into_iter().find_map(|requests| {
            let key = requests.exchanges.remove(&exchange)?;
            requests.open.remove(&key).map(|(_, remembered)| remembered)
        })
    }

    /// The pending request that was sent in this direction with this id.
    pub(crate) fn waiting(&mut self, stream: u32, direction: Direction, id: IdKey) -> Option<&mut T> {
        let key = key(stream, direction, &id);
        let mut both = [&mut self.latest, &mut self.earlier].into_iter();
        both.find_map(|requests| requests.open.get_mut(&key)).map(|(_, remembered)| remembered)
    }

    /// Removes and returns the request that a response in this direction answers.
    pub(crate) fn answer(&mut self, stream: u32, direction: Direction, id: IdKey) -> Option<T> {
        let key = key(stream, direction.reversed(), &id);
        [&mut self.latest, &mut self.earlier].into_iter().find_map(|requests| {
            let (exchange, remembered) = requests.open.remove(&key)?;
            requests.exchanges.remove(&exchange);
            give_room_back(&mut requests.open);
            Some(remembered)
        })
    }

    /// Iterates over the pending requests, in no particular order.
    pub(crate) fn unanswered(&self) -> impl Iterator<Item = &T> {
        let all = self.earlier.open.values().chain(self.latest.open.values());
        all.filter(|(exchange, _)| *exchange != GIVEN_UP).map(|(_, remembered)| remembered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{ClientToServer, ServerToClient};

    #[test]
    fn a_request_given_up_may_be_answered_and_its_id_asked_again() {
        let mut pairing = Pairing::default();
        let id = || IdKey::Integer(1);
        pairing.ask_in(7, 0, ClientToServer, id(), "first");
        pairing.give_up(7);
        assert_eq!(pairing.unanswered().count(), 0);
        assert_eq!(pairing.answer(0, ServerToClient, id()), Some("first"));
        pairing.ask_in(8, 0, ClientToServer, id(), "second");
        pairing.give_up(8);
        assert_eq!(pairing.ask_in(9, 0, ClientToServer, id(), "third"), None);
        assert_eq!(pairing.ask_in(10, 0, ClientToServer, id(), "fourth"), Some("third"));
    }

    #[test]
    fn a_response_in_an_exchange_that_failed_belongs_to_its_request() {
        let mut pairing = Pairing::default();
        pairing.ask_in(7, 0, ClientToServer, IdKey::Integer(1), "first");
        pairing.ask_in(8, 0, ClientToServer, IdKey::Integer(2), "second");
        pairing.give_up(7);
        assert_eq!((pairing.refuse(8), pairing.refuse(7), pairing.refuse(7)), (None, Some("first"), None));
        pairing.give_up(8);
        assert_eq!(pairing.answer(0, ServerToClient, IdKey::Integer(2)), Some("second"), "by its id");
        assert_eq!(pairing.refuse(8), None);
    }

    #[test]
    fn ids_live_in_two_spaces_and_keep_their_type() {
        let mut pairing = Pairing::default();
        pairing.ask(0, ClientToServer, IdKey::Integer(1), "from the client");
        pairing.ask(0, ServerToClient, IdKey::Integer(1), "from the server");
        assert_eq!(pairing.answer(0, ClientToServer, IdKey::Integer(1)), Some("from the server"));
        assert_eq!(pairing.answer(0, ServerToClient, IdKey::Text("1".into())), None);
        assert_eq!(pairing.answer(1, ServerToClient, IdKey::Integer(1)), None);
        assert_eq!(pairing.answer(0, ServerToClient, IdKey::Integer(1)), Some("from the client"));
        assert_eq!(pairing.unanswered().count(), 0);
    }

    #[test]
    fn a_request_is_found_by_its_exchange_until_it_is_answered() {
        let mut pairing = Pairing::of(1);
        pairing.ask_in(7, 1, ClientToServer, IdKey::Integer(1), 10);
        pairing.ask_in(8, 1, ClientToServer, IdKey::Integer(2), 20);
        *pairing.of_exchange(7).expect("an earlier one") += 5;
        assert_eq!(pairing.answer(1, ServerToClient, IdKey::Integer(1)), Some(15));
        let mut waits = |direction| pairing.waiting(1, direction, IdKey::Integer(2)).copied();
        assert_eq!((waits(ClientToServer), waits(ServerToClient)), (Some(20), None));
        let places = [7, 8, 9].map(|exchange| pairing.of_exchange(exchange).copied());
        assert_eq!(places, [None, Some(20), None]);
    }

    #[test]
    fn an_exchange_that_fails_takes_its_request_with_it() {
        let mut pairing = Pairing::default();
        pairing.ask_in(7, 1, ClientToServer, IdKey::Integer(1), "refused");
        pairing.ask_in(8, 1, ClientToServer, IdKey::Integer(2), "answered");
        assert_eq!(pairing.fail(7), Some("refused"));
        assert_eq!(pairing.fail(7), None);
        assert_eq!(pairing.answer(1, ServerToClient, IdKey::Integer(2)), Some("answered"));
        assert_eq!(pairing.fail(8), None);
        assert!((pairing.unanswered().count() == 0) && pairing.latest.exchanges.is_empty());
    }

    #[test]
    fn the_oldest_are_forgotten_where_too_many_wait() {
        let mut pairing = Pairing::of(2);
        for id in 0..5u32 {
            pairing.ask_in(id + 1, 1, ClientToServer, IdKey::Integer(i64::from(id)), id);
        }
        assert_eq!((pairing.unanswered().count(), pairing.forgotten()), (3, 2));
        let mut answer = |id| pairing.answer(1, ServerToClient, IdKey::Integer(id));
        assert_eq!([0, 1, 2, 3, 4].map(&mut answer), [None, None, Some(2), Some(3), Some(4)]);
        pairing.ask_in(9, 1, ClientToServer, IdKey::Integer(9), 9);
        pairing.ask(1, ClientToServer, IdKey::Integer(8), 8);
        pairing.ask(1, ClientToServer, IdKey::Integer(7), 7);
        assert_eq!(pairing.ask(1, ClientToServer, IdKey::Integer(9), 10), Some(9), "an earlier one is known too");
        assert_eq!((pairing.fail(9), pairing.unanswered().count()), (None, 3));
    }
}
