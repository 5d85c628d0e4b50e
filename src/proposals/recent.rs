//! A table with a limited number of entries. A new entry replaces the oldest if the table is full, so that the memory
//! that a check uses does not depend on the session's length.

use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

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
    order: VecDeque<K>,
    entries: HashMap<K, V, foldhash::fast::RandomState>,
    forgot: bool,
}

impl<K: Hash + Eq + Clone, V> Recent<K, V> {
    /// An empty table for at most `max` entries.
    pub(crate) fn new(max: usize) -> Self {
        Self { max: max.max(1), order: VecDeque::new(), entries: HashMap::default(), forgot: false }
    }

    /// Inserts an entry, and returns the previous value of the key.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        let before = self.entries.insert(key.clone(), value);
        if before.is_none() {
            self.order.push_back(key);
            if self.order.len() > self.max
                && let Some(oldest) = self.order.pop_front()
            {
                self.entries.remove(&oldest);
                self.forgot = true;
            }
        }
        before
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key)
    }

    /// The mutable value of a key.
    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.entries.get_mut(key)
    }

    /// Whether a key has an entry.
    pub(crate) fn contains(&self, key: &K) -> bool {
        self.entries.contains_key(key)
    }

    /// Removes an entry.
    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let value = self.entries.remove(key)?;
        self.order.retain(|other| other != key);
        Some(value)
    }

    /// The entries, to be changed, in no particular order.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.entries.iter_mut()
    }

    /// Removes the oldest entry.
    pub(crate) fn pop_oldest(&mut self) -> Option<(K, V)> {
        let key = self.order.pop_front()?;
        self.entries.remove(&key).map(|value| (key, value))
    }

    /// The number of entries.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether the table is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Whether an entry ever was dropped, so that a missing entry proves nothing.
    pub(crate) fn has_forgotten(&self) -> bool {
        self.forgot
    }

    /// The keys, oldest first.
    pub(crate) fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.order.iter()
    }

    /// The values, in no particular order.
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
