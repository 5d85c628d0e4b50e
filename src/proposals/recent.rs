//! A table with a limited number of entries. A new entry replaces the oldest if the table is full, so that the memory
//! that a check uses does not depend on the session's length.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use serde_json::Value;
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash};

/// A value's length and checksum: small, and enough to recognise the value again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Digest {
    length: usize,
    sum: u32,
}

impl Digest {
    /// Returns the digest of bytes.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        Self { length: bytes.len(), sum: crc32c::crc32c(bytes) }
    }

    /// Appends text.
    pub(crate) fn append(&mut self, text: &str) {
        self.length += text.len();
        self.sum = crc32c::crc32c_append(self.sum, text.as_bytes());
    }
}

/// The digest of a value. For a string, it is the digest of its text.
pub(crate) fn digest(value: &Value) -> Digest {
    let mut digest = Digest::default();
    match value.as_str() {
        Some(text) => digest.append(text),
        None => digest.append(&value.to_string()),
    }
    digest
}

/// A table with a limited number of entries.
#[derive(Debug)]
pub(crate) struct Recent<K, V = ()> {
    max: usize,
    /// The entries, oldest first. A removed one leaves a gap.
    entries: VecDeque<Option<(K, V)>>,
    /// The number of the first entry. Numbers count up, and wrap around.
    first: u32,
    /// The number of each entry, by the hash of its key.
    numbers: HashTable<u32>,
    hasher: RandomState,
    forgot: bool,
}

impl<K: Hash + Eq, V> Recent<K, V> {
    /// Creates an empty table for at most `max` entries.
    pub(crate) fn new(max: usize) -> Self {
        let (entries, numbers) = (VecDeque::new(), HashTable::new());
        Self { max: max.max(1), entries, first: 0, numbers, hasher: RandomState::default(), forgot: false }
    }

    /// Inserts an entry, and returns the previous value of the key.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        if let Some(known) = self.get_mut(&key) {
            return Some(std::mem::replace(known, value));
        }
        if self.len() >= self.max {
            self.pop_oldest();
            self.forgot = true;
        }
        if self.entries.len() > 2 * self.len() + FEW {
            self.close_gaps();
        }
        let number = self.first.wrapping_add(u32::try_from(self.entries.len()).unwrap_or(u32::MAX));
        let hash = self.hasher.hash_one(&key);
        if self.entries.len() == self.entries.capacity() {
            // Twice the room would often be too much.
            self.entries.reserve_exact(self.entries.len() / 2 + FEW);
        }
        self.entries.push_back(Some((key, value)));
        let (entries, first, hasher) = (&self.entries, self.first, &self.hasher);
        self.numbers.insert_unique(hash, number, |number| hash_of(entries, first, hasher, *number));
        None
    }

    /// Returns the value of a key.
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        let index = self.index(key)?;
        self.entries.get(index)?.as_ref().map(|(_, value)| value)
    }

    /// Returns the mutable value of a key.
    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let index = self.index(key)?;
        self.entries.get_mut(index)?.as_mut().map(|(_, value)| value)
    }

    /// Returns whether a key has an entry.
    pub(crate) fn contains(&self, key: &K) -> bool {
        self.index(key).is_some()
    }

    /// Removes an entry.
    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let index = self.index(key)?;
        self.take(index).map(|(_, value)| value)
    }

    /// Returns the entries, to be changed, oldest first.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.entries.iter_mut().flatten().map(|(key, value)| (&*key, value))
    }

    /// Removes the oldest entry.
    pub(crate) fn pop_oldest(&mut self) -> Option<(K, V)> {
        self.take(0)
    }

    /// Returns the number of entries.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Returns whether the table is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Returns whether an entry ever was dropped, so that a missing entry proves nothing.
    pub(crate) fn has_forgotten(&self) -> bool {
        self.forgot
    }

    /// Returns the keys, oldest first.
    pub(crate) fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.entries.iter().flatten().map(|(key, _)| key)
    }

    /// Returns the values, oldest first.
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.iter().flatten().map(|(_, value)| value)
    }

    fn index(&self, key: &K) -> Option<usize> {
        let is_it = |number: &u32| {
            let entry = self.entries.get(index_of(self.first, *number)).and_then(Option::as_ref);
            entry.is_some_and(|(other, _)| other == key)
        };
        // An empty table needs no hash.
        let number = (!self.is_empty()).then(|| self.numbers.find(self.hasher.hash_one(key), is_it))??;
        Some(index_of(self.first, *number))
    }

    fn take(&mut self, index: usize) -> Option<(K, V)> {
        let entry = self.entries.get_mut(index)?.take()?;
        let hash = self.hasher.hash_one(&entry.0);
        if let Ok(found) = self.numbers.find_entry(hash, |number| index_of(self.first, *number) == index) {
            found.remove();
        }
        // The first entry is never a gap.
        while let Some(None) = self.entries.front() {
            self.entries.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        let room = self.entries.capacity();
        if room > MANY && room > 4 * self.entries.len() {
            self.entries.shrink_to(room / 2);
        }
        Some(entry)
    }

    fn close_gaps(&mut self) {
        self.entries.retain(Option::is_some);
        self.numbers.clear();
        let hash = |entry: &Option<(K, V)>| entry.as_ref().map_or(0, |(key, _)| self.hasher.hash_one(key));
        for (entry, index) in self.entries.iter().zip(0..) {
            let number = self.first.wrapping_add(index);
            self.numbers
                .insert_unique(hash(entry), number, |number| hash_of(&self.entries, self.first, &self.hasher, *number));
        }
    }
}

/// Gaps that cost nothing worth mentioning.
const FEW: usize = 4;
/// Room for more entries is given back if most of it is free.
const MANY: usize = 16;

fn index_of(first: u32, number: u32) -> usize {
    number.wrapping_sub(first) as usize
}

fn hash_of<K: Hash, V>(entries: &VecDeque<Option<(K, V)>>, first: u32, hasher: &RandomState, number: u32) -> u64 {
    let entry = entries.get(index_of(first, number)).and_then(Option::as_ref);
    entry.map_or(0, |(key, _)| hasher.hash_one(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn a_digest_does_not_depend_on_the_pieces() {
        let mut pieces = Digest::default();
        ["con", "", "text"].iter().for_each(|piece| pieces.append(piece));
        assert_eq!(pieces, digest(&Value::from("context")));
        assert_ne!(pieces, digest(&Value::from("contexT")));
    }

    #[test]
    fn the_oldest_goes_first() {
        let mut recent = Recent::new(2);
        assert_eq!(recent.insert("a", 1), None);
        assert_eq!(recent.insert("a", 2), Some(1));
        recent.insert("b", 3);
        assert!(!recent.has_forgotten());
        recent.insert("c", 4);
        assert!(recent.has_forgotten() && !recent.contains(&"a"));
        assert_eq!((recent.remove(&"b"), recent.remove(&"c")), (Some(3), Some(4)));
        assert!(recent.is_empty());
    }

    proptest! {
        /// The table does what a plain list does.
        #[test]
        fn it_is_like_a_list(steps in vec((0..6_u8, 0..40_u8), 0..400), max in 1..24_usize) {
            let (mut recent, mut list) = (Recent::new(max), Vec::<(u8, usize)>::new());
            for (time, (step, key)) in steps.into_iter().enumerate() {
                let place = list.iter().position(|(other, _)| *other == key);
                match (step, place) {
                    (0, _) => prop_assert_eq!(recent.remove(&key), place.map(|place| list.remove(place).1)),
                    (1, _) => {
                        let oldest = (!list.is_empty()).then(|| list.remove(0));
                        prop_assert_eq!(recent.pop_oldest(), oldest);
                    }
                    (_, Some(place)) => {
                        let before = std::mem::replace(&mut list[place].1, time);
                        prop_assert_eq!(recent.insert(key, time), Some(before));
                    }
                    (_, None) => {
                        prop_assert_eq!(recent.insert(key, time), None);
                        list.push((key, time));
                        if list.len() > max {
                            list.remove(0);
                        }
                    }
                }
                prop_assert!(recent.keys().copied().eq(list.iter().map(|(key, _)| *key)));
                prop_assert!(recent.values().copied().eq(list.iter().map(|(_, value)| *value)));
                prop_assert_eq!(recent.len(), list.len());
                for key in 0..40 {
                    let value = list.iter().find(|(other, _)| *other == key).map(|(_, value)| value);
                    prop_assert_eq!(recent.get(&key), value);
                }
            }
        }
    }
}
