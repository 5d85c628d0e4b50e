//! The ids of answered requests, in little memory: most peers count their ids up.

use crate::proposals::recent::Recent;
use crate::wire::{Direction, IdKey};
use rangemap::RangeInclusiveSet;

/// Runs of integers, and other ids, that are remembered for each direction.
const MAX: usize = 1024;

/// The ids of answered requests of both sides.
#[derive(Debug)]
pub(super) struct Answered {
    /// Consecutive integers, by direction. If there are too many runs, the lowest one, probably the oldest, is forgotten.
    integers: [RangeInclusiveSet<i64>; 2],
    /// The fingerprints of other ids with their directions.
    others: Recent<u64>,
    forgot: bool,
}

impl Default for Answered {
    fn default() -> Self {
        Self { integers: Default::default(), others: Recent::new(2 * MAX), forgot: false }
    }
}

impl Answered {
    /// Adds the id of a request that was sent in this direction.
    pub(super) fn insert(&mut self, key: (Direction, IdKey)) {
        let (direction, id) = key;
        let IdKey::Integer(number) = id else {
            self.others.insert(id.fingerprint(direction), ());
            return;
        };
        self.integers[direction as usize].insert(number..=number);
        self.forget_lowest();
    }

    fn forget_lowest(&mut self) {
        for runs in &mut self.integers {
            while runs.len() > MAX
                && let Some(lowest) = runs.first().cloned()
            {
                runs.remove(lowest);
                self.forgot = true;
            }
        }
    }

    /// Returns whether a request with this id was answered, as far as it is remembered.
    pub(super) fn contains(&self, key: &(Direction, IdKey)) -> bool {
        match key {
            (direction, IdKey::Integer(number)) => self.integers[*direction as usize].contains(number),
            (direction, id) => self.others.contains(&id.fingerprint(direction)),
        }
    }

    /// Returns whether an id was dropped, so that a missing one proves nothing.
    pub(super) fn has_forgotten(&self) -> bool {
        self.forgot || self.others.has_forgotten()
    }

    /// Moves all ids of another set into this one.
    pub(super) fn append(&mut self, other: &mut Self) {
        let mut other = std::mem::take(other);
        self.forgot |= other.has_forgotten();
        while let Some((key, ())) = other.others.pop_oldest() {
            self.others.insert(key, ());
        }
        for (runs, more) in self.integers.iter_mut().zip(other.integers) {
            runs.extend(more);
        }
        self.forget_lowest();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{ClientToServer, ServerToClient};

    fn text(text: &str) -> IdKey {
        IdKey::Text(text.into())
    }

    #[test]
    fn ids_that_are_counted_up_are_one_run() {
        let mut answered = Answered::default();
        for number in (0..10_000).rev().chain([i64::MAX, i64::MIN]) {
            answered.insert((ClientToServer, IdKey::Integer(number)));
        }
        assert_eq!(answered.integers[ClientToServer as usize].len(), 3);
        let knows = |direction, number| answered.contains(&(direction, IdKey::Integer(number)));
        assert!(knows(ClientToServer, 0) && knows(ClientToServer, 9_999) && knows(ClientToServer, i64::MAX));
        assert!(!knows(ClientToServer, 10_000) && !knows(ServerToClient, 0));
        assert!(!answered.has_forgotten());
    }

    #[test]
    fn the_lowest_runs_and_the_oldest_texts_are_forgotten() {
        let mut answered = Answered::default();
        (0..=MAX as i64).for_each(|number| answered.insert((ServerToClient, IdKey::Integer(2 * number))));
        assert!(answered.has_forgotten());
        assert!(!answered.contains(&(ServerToClient, IdKey::Integer(0))));
        assert!(answered.contains(&(ServerToClient, IdKey::Integer(2))));

        let mut answered = Answered::default();
        (0..=2 * MAX).for_each(|number| answered.insert((ServerToClient, text(&number.to_string()))));
        assert!(answered.has_forgotten());
        assert!(!answered.contains(&(ServerToClient, text("0"))) && answered.contains(&(ServerToClient, text("1"))));
    }

    #[test]
    fn one_set_takes_the_ids_of_another() {
        let (mut all, mut some) = (Answered::default(), Answered::default());
        all.insert((ClientToServer, IdKey::Integer(1)));
        some.insert((ClientToServer, IdKey::Integer(2)));
        some.insert((ClientToServer, text("a")));
        all.append(&mut some);
        for id in [IdKey::Integer(1), IdKey::Integer(2), text("a")] {
            assert!(all.contains(&(ClientToServer, id.clone())) && !some.contains(&(ClientToServer, id)));
        }
    }
}
