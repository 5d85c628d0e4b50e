//! Secrets that were recognised somewhere in a reel, so that they are also found where nothing tells what they are.

use crate::redact::{is_ordinary, is_pseudonym};
use aho_corasick::AhoCorasick;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The maximum number of secrets that are remembered.
const MAX: usize = 20_000;
/// The minimum length of a secret that is searched everywhere.
const SHORTEST: usize = 5;
/// The same for a word or a number.
const SHORTEST_WORD: usize = 6;
/// From this length on, a secret with letters of both cases, or letters and signs, is no ordinary word.
const LONG: usize = 8;
/// From this length on, it is searched within words, too, and is never ordinary.
const VERY_LONG: usize = 16;
/// The maximum length.
const LONGEST: usize = 8 << 10;
/// The minimum length of a beginning that says something about a secret.
const SHORTEST_BEGINNING: usize = 3;

/// As many new secrets are in an automaton of their own, which is made anew for each of them.
const MAX_FRESH: usize = 64;

/// What became of a secret that was learnt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Learnt {
    /// From now on, it is searched everywhere.
    New,
    /// It was learnt before, or there are too many.
    Before,
    /// It is short or ordinary, and so it is not searched. It is returned once for each secret.
    Ordinary,
}

/// The secrets of a reel.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The rule that found each secret first.
    rules: HashMap<Vec<u8>, usize, foldhash::fast::RandomState>,
    /// The secrets that are not searched, because they are short or ordinary.
    left: HashSet<Vec<u8>, foldhash::fast::RandomState>,
    search: Option<Search>,
    /// The secrets that were learnt since `search` was made.
    fresh: Vec<Vec<u8>>,
    fresh_search: Option<Search>,
}

/// Finds secrets, and knows the rule of each.
#[derive(Debug)]
struct Search(AhoCorasick, Vec<usize>);

impl Search {
    /// Finds these secrets; `None` if there are none, or too many.
    fn of(mut secrets: Vec<(&Vec<u8>, usize)>) -> Option<Self> {
        secrets.sort();
        let built = AhoCorasick::builder()
            .match_kind(aho_corasick::MatchKind::LeftmostLongest)
            .build(secrets.iter().map(|(secret, _)| secret));
        built.ok().filter(|_| !secrets.is_empty()).map(|search| Self(search, secrets.iter().map(|one| one.1).collect()))
    }

    fn find<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = (Range<usize>, usize)> + 'a {
        let hits = self.0.find_iter(text).filter(|hit| is_apart(text, &hit.range()));
        hits.filter_map(|hit| Some((hit.range(), *self.1.get(hit.pattern().as_usize())?)))
    }
}

impl Known {
    /// Remembers a secret, unless it is a common word.
    pub(super) fn learn(&mut self, secret: &[u8], rule: usize) -> Learnt {
        let secret = secret.trim_ascii();
        match is_findable(secret) {
            true if self.rules.len() < MAX && !self.rules.contains_key(secret) => {
                self.rules.insert(secret.to_vec(), rule);
                self.fresh.push(secret.to_vec());
                Learnt::New
            }
            false if self.left.len() < MAX && self.left.insert(secret.to_vec()) => Learnt::Ordinary,
            _ => Learnt::Before,
        }
    }

    /// Prepares the search, after everything was learnt.
    pub(super) fn end(&mut self) {
        self.search = Search::of(self.rules.iter().map(|(secret, rule)| (secret, *rule)).collect());
        (self.fresh, self.fresh_search) = (Vec::new(), None);
    }

    /// Prepares the search after something was learnt, and before more will be. The cost does not grow with the number of
    /// known secrets.
    pub(super) fn go_on(&mut self) {
        if self.fresh.len() > MAX_FRESH {
            return self.end();
        }
        self.fresh_search = Search::of(self.fresh.iter().map(|secret| (secret, self.rules[secret])).collect());
    }

    /// Returns the rule that found a secret first.
    pub(super) fn rule_of(&self, secret: &[u8]) -> Option<usize> {
        self.rules.get(secret.trim_ascii()).copied()
    }

    /// Returns all of them.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &Vec<u8>> {
        self.rules.keys()
    }

    /// Returns whether secrets are searched: some are known, and the search was prepared.
    pub(super) fn is_searched(&self) -> bool {
        self.search.is_some() || self.fresh_search.is_some()
    }

    /// Returns the beginning of a known secret with which a text ends.
    pub(super) fn begun(&self, text: &[u8]) -> Option<Range<usize>> {
        let begins = |secret: &Vec<u8>| {
            let longest = secret.len().saturating_sub(1).min(text.len());
            (SHORTEST_BEGINNING..=longest).rev().find(|length| text.ends_with(&secret[..*length]))
        };
        let length = self.rules.keys().filter_map(begins).max()?;
        Some(text.len() - length..text.len())
    }

    /// Returns the known secrets in a text, with their rules. Those that overlap are one.
    pub(super) fn find(&self, text: &[u8]) -> Vec<(Range<usize>, usize)> {
        let hits = |search: &Option<Search>| search.iter().flat_map(|search| search.find(text)).collect::<Vec<_>>();
        let (mut found, fresh) = (hits(&self.search), hits(&self.fresh_search));
        if fresh.is_empty() {
            return found;
        }
        found.extend(fresh);
        found.sort_by_key(|(range, _)| (range.start, Reverse(range.end)));
        found.dedup_by(|(range, _), (before, _)| {
            let overlaps = range.start < before.end;
            before.end = if overlaps { before.end.max(range.end) } else { before.end };
            overlaps
        });
        found
    }
}

/// Whether a secret is searched everywhere. A pseudonym is if it is long enough: what it stands for was, too.
fn is_findable(secret: &[u8]) -> bool {
    is_distinct(secret) || (SHORTEST..=LONGEST).contains(&secret.len()) && is_pseudonym(secret)
}

/// Whether a secret is distinct enough to be replaced wherever it occurs: no ordinary word, and no short number.
fn is_distinct(secret: &[u8]) -> bool {
    if !(SHORTEST..=LONGEST).contains(&secret.len()) {
        return false;
    }
    let has = |class: fn(&u8) -> bool| secret.iter().any(class);
    let classes = [
        has(u8::is_ascii_lowercase),
        has(u8::is_ascii_uppercase),
        has(u8::is_ascii_digit),
        has(u8::is_ascii_punctuation),
    ];
    let count = classes.iter().filter(|class| **class).count();
    let is_long = secret.len() >= VERY_LONG || secret.len() >= LONG && count >= 2;
    let is_word = secret.iter().all(|byte| byte.is_ascii_alphabetic() || byte.is_ascii_punctuation() || *byte == b' ');
    match (is_long, is_number(secret), is_word) {
        (true, ..) => true,
        (_, true, _) => secret.len() >= SHORTEST_WORD && !is_round(secret),
        (.., true) => secret.len() >= SHORTEST_WORD && !is_ordinary(secret),
        _ => true,
    }
}

fn is_number(secret: &[u8]) -> bool {
    secret.iter().all(u8::is_ascii_digit)
}

/// Whether a number has few digits that tell anything, as those of counts and limits.
fn is_round(number: &[u8]) -> bool {
    number.ends_with(b"000") || number.windows(2).all(|pair| pair[0] == pair[1])
}

/// Whether the text around does not go on with the same word.
fn is_apart(text: &[u8], range: &Range<usize>) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    let begins = !is_word(text.get(range.start)) || !is_word(text[..range.start].last());
    begins && (!is_word(text[..range.end].last()) || !is_word(text.get(range.end))) || range.len() >= VERY_LONG
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_secrets_are_found_as_whole_words() {
        let mut known = Known::default();
        for (rule, secret) in
            [&b"hunter2x"[..], b"production", b"short1", b"abc-12345678-long-token"].iter().enumerate()
        {
            let expected = if secret == b"production" { Learnt::Ordinary } else { Learnt::New };
            assert_eq!((known.learn(secret, rule), known.learn(secret, rule)), (expected, Learnt::Before));
        }
        known.end();
        assert_eq!(known.begun(b"say hunter2"), Some(4..11));
        assert_eq!((known.begun(b"say hu"), known.begun(b"hunter2x")), (None, None));
        let found = known.find(b"hunter2x production short1 hunter2xy xabc-12345678-long-token");
        assert_eq!(found, [(0..8, 0), (20..26, 2), (38..61, 3)]);
    }

    #[test]
    fn ordinary_words_and_short_numbers_are_no_secrets_elsewhere() {
        for secret in ["hunter2", "ab12c", "swordfish", "dragon", "483920", "p\u{e4}ssw", "letmein!", "l3t!m", "Tr0ub"]
        {
            assert!(is_findable(secret.as_bytes()), "{secret}");
        }
        for secret in ["abc1", "tools", "production", "Server", "4711", "12345", "100000", "777777", "read-on", "horse"]
        {
            assert!(!is_findable(secret.as_bytes()), "{secret}");
        }
    }

    #[test]
    fn what_is_learnt_later_is_found_from_then_on() {
        let mut known = Known::default();
        let secret = |number: usize| format!("s3cret-{number:04}-x");
        for number in 0..3 * MAX_FRESH {
            assert_eq!(known.learn(secret(number).as_bytes(), number), Learnt::New);
            known.go_on();
            for earlier in [0, number / 2, number] {
                let text = format!("with {}.", secret(earlier));
                assert_eq!(known.find(text.as_bytes()), [(5..18, earlier)], "{number}");
            }
            assert!(known.fresh.len() <= MAX_FRESH);
        }
    }

    #[test]
    fn secrets_of_both_automata_that_overlap_are_one() {
        let mut known = Known::default();
        known.learn(b"first-s3cret/abcdefgh", 1);
        known.end();
        known.learn(b"abcdefgh/second-s3cret", 2);
        known.go_on();
        assert_eq!(known.find(b"x first-s3cret/abcdefgh/second-s3cret y"), [(2..37, 1)]);
    }
}
