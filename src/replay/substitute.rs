//! Replaces values in messages and leaves every other byte as it is.

use super::leaves::{Leaf, is_generated, leaves};
use crate::wire::json;
use std::ops::Range;

/// Values to replace wherever they are in a message's strings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Substitutions(Vec<(String, String)>);

impl Substitutions {
    /// Adds a value and what replaces it. Longer values are replaced first.
    pub(crate) fn add(&mut self, old: &str, new: &str) {
        let is_new = !self.0.iter().any(|(known, _)| known == old);
        if is_new && !old.is_empty() && old != new {
            let place = self.0.partition_point(|(known, _)| known.len() >= old.len());
            self.0.insert(place, (old.to_owned(), new.to_owned()));
        }
    }

    /// Adds a value that the server generated, if it is unlikely to occur by coincidence.
    pub(super) fn add_generated(&mut self, old: &str, new: &str) {
        if old.split(|found: char| !found.is_ascii_alphanumeric() && found != '-' && found != '_').any(is_generated) {
            self.add(old, new);
        }
    }

    /// Returns whether there is nothing to replace.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a message with the values replaced; `None` if it contains none of them.
    pub(crate) fn apply(&self, message: &[u8]) -> Option<Vec<u8>> {
        if self.is_empty() || json::check(message).is_err() {
            return None;
        }
        let changed: Vec<_> = leaves(message).iter().filter_map(|leaf| self.change(leaf)).collect();
        (!changed.is_empty()).then(|| splice(message, changed))
    }

    fn change(&self, leaf: &Leaf<'_>) -> Option<(Range<usize>, String)> {
        let new = self.replaced(&leaf.value)?;
        Some((leaf.range.clone(), if leaf.is_string { quoted(&new) } else { new }))
    }

    fn replaced(&self, text: &str) -> Option<String> {
        let mut out = String::new();
        let (mut at, mut is_changed) = (0, false);
        while let Some(first) = text[at..].chars().next() {
            match self.0.iter().find(|(old, _)| is_at(text, at, old)) {
                Some((old, new)) => {
                    out.push_str(new);
                    at += old.len();
                    is_changed = true;
                }
                None => {
                    out.push(first);
                    at += first.len_utf8();
                }
            }
        }
        is_changed.then_some(out)
    }
}

/// Returns whether `old` is at this place of a text and is not a part of a longer word.
fn is_at(text: &str, at: usize, old: &str) -> bool {
    let is_part = |found: char| found.is_alphanumeric() || matches!(found, '-' | '_');
    let (before, after) = (text[..at].chars().next_back(), text[at..].strip_prefix(old));
    let begins = !old.starts_with(is_part) || !before.is_some_and(is_part);
    begins && after.is_some_and(|after| !old.ends_with(is_part) || !after.starts_with(is_part))
}

/// Returns a text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Replaces ranges, which do not overlap, of a text.
pub(super) fn splice(text: &[u8], mut changes: Vec<(Range<usize>, String)>) -> Vec<u8> {
    changes.sort_by_key(|(range, _)| range.start);
    let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
    for (range, new) in changes {
        out.extend_from_slice(&text[at..range.start]);
        out.extend_from_slice(new.as_bytes());
        at = range.end;
    }
    out.extend_from_slice(&text[at..]);
    out
}

/// Returns the place of `part`, which must be a slice of `whole`.
pub(super) fn place_in(whole: &[u8], part: &[u8]) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
    start..start + part.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_are_replaced_and_other_bytes_stay() {
        let mut changes = Substitutions::default();
        changes.add("/old", "/new");
        changes.add("/old/inner", "/elsewhere");
        let text = br#"{ "a":"/old/x", "b":["file:///old","/older","/old/inner/y \u00e9"], "n":1.0 }"#;
        let expected = r#"{ "a":"/new/x", "b":["file:///new","/older","/elsewhere/y é"], "n":1.0 }"#;
        assert_eq!(String::from_utf8(changes.apply(text).expect("changed")).expect("text"), expected);
        assert_eq!(changes.apply(br#"{"a":"/folder"}"#), None);
    }

    #[test]
    fn ordinary_values_are_no_substitutes_for_others() {
        let mut changes = Substitutions::default();
        changes.add_generated("2", "3");
        assert!(changes.is_empty());
        changes.add_generated("note://5f3a9c1d22", "note://77aa00bb11");
        assert!(!changes.is_empty());
    }
}
