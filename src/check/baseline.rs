//! A baseline: the findings that are known, so that only new ones count.
//!
//! A finding is identified by its rule, the method of its message and its place in the message, without positions in
//! arrays. Neither event numbers nor texts count, so that the same problem in another session is the same finding.

use super::Located;
use crate::wire::pointer;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The version of the format.
const VERSION: u32 = 1;

/// What makes two findings the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Identity {
    /// The rule's name.
    pub rule: String,
    /// The method of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The place in the message: a JSON Pointer with `*` for positions in arrays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl Identity {
    /// Returns the identity of a finding.
    pub(crate) fn of(found: &Located) -> Self {
        Self {
            rule: found.finding.rule.id.to_owned(),
            method: found.finding.method.clone(),
            path: found.finding.path.as_deref().map(pointer::without_positions),
        }
    }

    /// Returns the identity in words: `schema/params in tools/call at /params/name`.
    pub(crate) fn text(&self) -> String {
        let part = |word: &str, value: &Option<String>| value.as_ref().map(|value| format!(" {word} {value}"));
        let (method, path) = (part("in", &self.method), part("at", &self.path));
        format!("{}{}{}", self.rule, method.unwrap_or_default(), path.unwrap_or_default())
    }
}

/// The known findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Baseline {
    entries: BTreeSet<Identity>,
}

/// The file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    findings: Vec<Identity>,
}

impl Baseline {
    /// Reads a baseline from the text of its file.
    ///
    /// # Errors
    ///
    /// What is wrong with the text.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let document: Document = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match document.version {
            VERSION => Ok(Self { entries: document.findings.into_iter().collect() }),
            other => Err(format!("version {other} of the format is not known")),
        }
    }

    /// Returns the text of the file, the same for the same findings.
    pub(crate) fn to_text(&self) -> String {
        let document = Document { version: VERSION, findings: self.entries.iter().cloned().collect() };
        let text = serde_json::to_string_pretty(&document).unwrap_or_default();
        format!("{text}\n")
    }

    /// Returns whether a finding is known.
    pub(crate) fn contains(&self, identity: &Identity) -> bool {
        self.entries.contains(identity)
    }

    /// Returns the number of known findings.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the entries that are fixed: their rule was observed, and nothing violated it. An entry whose rule had
    /// nothing to check, or still fails somewhere, is not stale.
    pub(crate) fn stale(&self, observed: &BTreeSet<&str>, violated: &BTreeSet<&str>) -> Vec<&Identity> {
        let is_fixed = |rule: &str| observed.contains(rule) && !violated.contains(rule);
        self.entries.iter().filter(|entry| is_fixed(&entry.rule)).collect()
    }

    /// Returns the baseline after a run: what was found, and the entries whose rules were not observed.
    pub(crate) fn renewed(&self, found: BTreeSet<Identity>, observed: &BTreeSet<&str>) -> Self {
        let unseen = self.entries.iter().filter(|entry| !observed.contains(entry.rule.as_str()));
        Self { entries: found.into_iter().chain(unseen.cloned()).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(rule: &str, path: &str) -> Identity {
        Identity { rule: rule.to_owned(), method: Some("tools/call".to_owned()), path: Some(path.to_owned()) }
    }

    fn baseline() -> Baseline {
        Baseline { entries: [identity("b/two", "/params"), identity("a/one", "/result/*")].into() }
    }

    #[test]
    fn a_file_is_sorted_and_says_the_same_when_it_is_read_again() {
        let text = baseline().to_text();
        assert!(text.find("a/one") < text.find("b/two"), "{text}");
        assert_eq!(Baseline::read(&text), Ok(baseline()));
        for (text, reason) in [
            ("{\"version\":2,\"findings\":[]}", "version 2"),
            ("{\"version\":1,\"findings\":[{\"rule\":\"a\",\"rul\":1}]}", "unknown field `rul`"),
            ("[", "EOF"),
        ] {
            let error = Baseline::read(text).expect_err("refused");
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn only_a_rule_that_was_observed_and_passed_makes_an_entry_stale() {
        let stale = |observed: &[&'static str], violated: &[&'static str]| {
            let known = baseline();
            let stale = known.stale(&observed.iter().copied().collect(), &violated.iter().copied().collect());
            stale.into_iter().map(|entry| entry.rule.clone()).collect::<Vec<_>>()
        };
        assert_eq!(stale(&["a/one"], &[]), ["a/one"]);
        assert_eq!(stale(&["a/one", "b/two"], &["b/two"]), ["a/one"]);
        assert!(stale(&[], &[]).is_empty(), "not observed");
    }

    #[test]
    fn what_was_not_observed_stays_in_a_new_baseline() {
        let found = [identity("c/three", "/x")].into();
        let renewed = baseline().renewed(found, &["a/one", "c/three"].into());
        let rules: Vec<&str> = renewed.entries.iter().map(|entry| entry.rule.as_str()).collect();
        assert_eq!(rules, ["b/two", "c/three"]);
    }
}
