//! A small store of memories. A search finds those that share words with the query.

use crate::proposals::host::cut;
use std::collections::{BTreeSet, VecDeque};

/// The maximum number of memories. The oldest are removed first.
const MAX: usize = 256;
/// The maximum length of a memory, in bytes, so that results leave space for the conversation. Longer ones are cut.
const MAX_CONTENT_BYTES: usize = 2 << 10;

/// The maximum length of a source, in bytes.
const MAX_SOURCE_BYTES: usize = 256;

/// Words that are too common to describe a text.
const COMMON: &[&str] = &[
    "about", "and", "are", "but", "can", "did", "does", "for", "from", "had", "has", "have", "how", "its", "let",
    "not", "our", "that", "the", "then", "they", "this", "was", "what", "when", "where", "which", "who", "why", "will",
    "with", "you", "your",
];

/// A memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Its id, such as `mem_1`.
    pub id: String,
    /// The text to remember.
    pub content: String,
    /// Its source.
    pub source: String,
}

/// A memory that matches a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit<'a> {
    /// The memory.
    pub memory: &'a Memory,
    /// The share of the query's words that it contains, from 0 to 1, rounded to hundredths.
    pub relevance: f64,
}

/// A store of memories.
#[derive(Clone, Debug)]
pub struct Memories {
    kept: VecDeque<Memory>,
    made: u64,
    max: usize,
}

impl Memories {
    /// A store that keeps nothing.
    pub fn none() -> Self {
        Self { kept: VecDeque::new(), made: 0, max: 0 }
    }

    /// A store with three memories, so that there is something to find.
    pub fn preloaded() -> Self {
        let mut store = Self { kept: VecDeque::new(), made: 0, max: MAX };
        for (content, source) in [
            ("The database schema keeps one table per tenant; migrations live in db/migrations.", "design review"),
            ("The mannequin installation is being scaled to 8-10 units with DMX lighting.", "project notes"),
            ("Preferences: short answers, metric units, no emoji.", "profile"),
        ] {
            store.add(content.to_owned(), source.to_owned());
        }
        store
    }

    /// Adds a memory and returns its id.
    pub fn add(&mut self, content: String, source: String) -> String {
        self.made += 1;
        let id = format!("mem_{}", self.made);
        let (content, source) = (cut(content, MAX_CONTENT_BYTES), cut(source, MAX_SOURCE_BYTES));
        self.kept.push_back(Memory { id: id.clone(), content, source });
        if self.kept.len() > self.max {
            self.kept.pop_front();
        }
        id
    }

    /// The memories that share words with the query, the best match first. Of equal matches, the older one is first.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Hit<'_>> {
        let wanted = words(query);
        let mut hits: Vec<(usize, &Memory)> = self
            .kept
            .iter()
            .map(|memory| (words(&memory.content).intersection(&wanted).count(), memory))
            .filter(|(shared, _)| *shared > 0)
            .collect();
        hits.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
        hits.truncate(limit);
        let hundredths = |shared: usize| u8::try_from(shared * 100 / wanted.len().max(1)).unwrap_or(100);
        hits.into_iter()
            .map(|(shared, memory)| Hit { memory, relevance: f64::from(hundredths(shared)) / 100.0 })
            .collect()
    }

    /// All memories, oldest first.
    pub fn all(&self) -> impl Iterator<Item = &Memory> {
        self.kept.iter()
    }

    /// The words of all memories that begin with this prefix, in alphabetical order.
    pub fn words_from(&self, prefix: &str) -> Vec<String> {
        let prefix = prefix.to_lowercase();
        let all: BTreeSet<String> = self.kept.iter().flat_map(|memory| words(&memory.content)).collect();
        all.into_iter().filter(|word| word.starts_with(&prefix)).collect()
    }
}

/// The words that describe a text: at least three letters, in lower case, without a plural `s`.
fn words(text: &str) -> BTreeSet<String> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .map(str::to_lowercase)
        .filter(|word| word.chars().count() > 2 && !COMMON.contains(&word.as_str()))
        .map(|word| match word.strip_suffix('s') {
            Some(one) if one.len() > 3 && !one.ends_with('s') => one.to_owned(),
            _ => word,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shares_more_words_comes_first() {
        let mut store = Memories::preloaded();
        store.add("Schema changes need a review.".to_owned(), "test".to_owned());
        let hits = store.search("What did we discuss about the database schema?", 5);
        let found: Vec<(&str, f64)> = hits.iter().map(|hit| (hit.memory.id.as_str(), hit.relevance)).collect();
        assert_eq!(found, [("mem_1", 0.66), ("mem_4", 0.33)]);
        assert_eq!(store.search("A joke, please", 5), []);
        assert_eq!(store.search("what about the", 5), []);
        assert_eq!(store.search("database schemas", 1).len(), 1);
    }

    #[test]
    fn a_long_text_is_cut() {
        let mut store = Memories::preloaded();
        store.add(format!("lighthouse {}", "é".repeat(MAX_CONTENT_BYTES)), String::new());
        let found = &store.search("lighthouse", 1)[0].memory.content;
        assert!(found.len() < MAX_CONTENT_BYTES + 40 && found.ends_with("bytes in all]"), "{found}");
    }

    #[test]
    fn the_oldest_give_way() {
        let mut store = Memories::preloaded();
        for _ in 0..MAX {
            store.add("filler".to_owned(), String::new());
        }
        assert_eq!((store.all().count(), store.search("mannequin", 5).len()), (MAX, 0));
    }
}
