//! A table that remembers only so much: its oldest entry goes when a new one would make it too long. It keeps a
//! check's memory apart from a session's length.

use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// A value's length and checksum: enough to tell whether it came again, and short to keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Digest {
    length: usize,
    sum: u32,
}

impl Digest {
    /// Goes on with more text.
    pub fn append(&mut self, text: &str) {
        self.length += text.len();
        self.sum = crc32c::crc32c_append(self.sum, text.as_bytes());
    }
}

/// The digest of a value; that of a string is that of its text.
pub fn digest(value: &Value) -> Digest {
    let mut digest = Digest::default();
    match value.as_str() {
        Some(text) => digest.append(text),
        None => digest.append(&value.to_string()),
    }
    digest
}

/// A table of at most so many entries.
#[derive(Debug)]
pub struct Recent<K, V = ()> {
    most: usize,
    order: VecDeque<K>,
    entries: HashMap<K, V, foldhash::fast::RandomState>,
    forgot: bool,
}

impl<K: Hash + Eq + Clone, V> Recent<K, V> {
    /// An empty table of at most `most` entries.
    pub fn new(most: usize) -> Self {
        Self { most: most.max(1), order: VecDeque::new(), entries: HashMap::default(), forgot: false }
    }

    /// Puts an entry in; answers what stood under the key.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let before = self.entries.insert(key.clone(), value);
        if before.is_none() {
            self.order.push_back(key);
            if self.order.len() > self.most
                && let Some(oldest) = self.order.pop_front()
            {
                self.entries.remove(&oldest);
                self.forgot = true;
            }
        }
        before
    }

    /// The entry under a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key)
    }

    /// The entry under a key, to be changed.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.entries.get_mut(key)
    }

    /// Whether there is an entry under a key.
    pub fn contains(&self, key: &K) -> bool {
        self.entries.contains_key(key)
    }

    /// Takes an entry out.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let value = self.entries.remove(key)?;
        self.order.retain(|other| other != key);
        Some(value)
    }

    /// Takes the only entry out, where there is exactly one.
    pub fn take_only(&mut self) -> Option<(K, V)> {
        match self.order.len() {
            1 => {
                let key = self.order.pop_front()?;
                self.entries.remove(&key).map(|value| (key, value))
            }
            _ => None,
        }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Whether an entry ever had to go, so that its absence proves nothing.
    pub fn has_forgotten(&self) -> bool {
        self.forgot
    }

    /// The keys, oldest first.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.order.iter()
    }

    /// The entries, in no order.
    pub fn values(&self) -> impl Iterator<Item = &V> {
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
        assert_eq!((recent.remove(&"b"), recent.take_only()), (Some(3), Some(("c", 4))));
        assert!(recent.is_empty());
    }
}
