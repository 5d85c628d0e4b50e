//! A baseline: the findings that are known, so that only new ones count.
//!
//! A finding is identified by its rule, the method of its message and its place in the message, without positions in
//! arrays. Neither event numbers nor texts count, so that the same problem in another session is the same finding. An
//! entry says how many findings it excuses; more of them than that are new.

use super::Located;
use crate::wire::escaping::indented_json;
use crate::wire::pointer;
use crate::wire::text::counted;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The version of the format. In version 1, entries had no counts.
const VERSION: u32 = 2;

/// What makes two findings the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Identity {
    /// The rule's name.
    pub rule: String,
    /// The method of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The place in the message: a JSON Pointer with `*` for positions in arrays.
    #[serde(skip_serializing_if = "Option::is_none")]
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

/// How many findings of each identity there are.
pub(crate) type Numbers = BTreeMap<Identity, u64>;

/// The known findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// The number of findings that an entry excuses; any number if there is none.
    entries: BTreeMap<Identity, Option<u64>>,
}

/// An entry of which there are more findings than it excuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Exceeded {
    /// What the findings have in common.
    #[serde(flatten)]
    pub identity: Identity,
    /// The number that the entry excuses.
    pub known: u64,
    /// The number that was found.
    pub found: u64,
}

impl Exceeded {
    /// Returns the entry in words: `3 findings of schema/params in tools/call at /params/name, 2 in the baseline`.
    pub(crate) fn text(&self) -> String {
        let (found, known) = (counted(self.found, "finding"), self.known);
        format!("{found} of {}, {known} in the baseline", self.identity.text())
    }
}

/// The file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    findings: Vec<Entry>,
}

/// An entry of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    rule: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
}

impl Entry {
    fn divided(self) -> (Identity, Option<u64>) {
        (Identity { rule: self.rule, method: self.method, path: self.path }, self.count)
    }

    fn of((identity, count): (&Identity, &Option<u64>)) -> Self {
        let Identity { rule, method, path } = identity.clone();
        Self { rule, method, path, count: *count }
    }
}

impl Baseline {
    /// Reads a baseline from the text of its file.
    ///
    /// # Errors
    ///
    /// What is wrong with the text.
    pub fn read(text: &str) -> Result<Self, String> {
        let document: Document = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match document.version {
            1..=VERSION => Ok(Self { entries: document.findings.into_iter().map(Entry::divided).collect() }),
            other => Err(format!("version {other} of the format is not known")),
        }
    }

    /// Returns the text of the file, the same for the same findings.
    pub fn to_text(&self) -> String {
        let document = Document { version: VERSION, findings: self.entries.iter().map(Entry::of).collect() };
        format!("{}\n", indented_json(&document))
    }

    /// Returns whether a finding is known, of which there are this many so far, with it.
    pub(crate) fn has(&self, identity: &Identity, so_far: u64) -> bool {
        self.entries.get(identity).is_some_and(|count| count.is_none_or(|count| so_far <= count))
    }

    /// Returns the entries of which more was found than they excuse.
    pub(crate) fn exceeded(&self, found: &Numbers) -> Vec<Exceeded> {
        let exceeded = self.entries.iter().filter_map(|(identity, known)| {
            let (known, found) = ((*known)?, *found.get(identity)?);
            (found > known).then(|| Exceeded { identity: identity.clone(), known, found })
        });
        exceeded.collect()
    }

    /// Returns the number of known findings.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the entries that are fixed: their rule was observed, and nothing violated it. An entry whose rule had
    /// nothing to check, or still fails somewhere, is not stale.
    pub(crate) fn stale(&self, observed: &BTreeSet<&str>, violated: &BTreeSet<&str>) -> Vec<&Identity> {
        let is_fixed = |rule: &str| observed.contains(rule) && !violated.contains(rule);
        self.entries.keys().filter(|entry| is_fixed(&entry.rule)).collect()
    }

    /// Returns the baseline after a run: what was found, and the entries whose rules were not observed.
    pub(crate) fn renewed(&self, found: Numbers, observed: &BTreeSet<&str>) -> Self {
        let mut entries = self.entries.clone();
        entries.retain(|entry, _| !observed.contains(entry.rule.as_str()));
        entries.extend(found.into_iter().map(|(identity, count)| (identity, Some(count))));
        Self { entries }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(rule: &str, path: &str) -> Identity {
        Identity { rule: rule.to_owned(), method: Some("tools/call".to_owned()), path: Some(path.to_owned()) }
    }

    fn baseline() -> Baseline {
        Baseline { entries: [(identity("b/two", "/params"), Some(2)), (identity("a/one", "/result/*"), None)].into() }
    }

    #[test]
    fn a_file_is_sorted_and_says_the_same_when_it_is_read_again() {
        let text = baseline().to_text();
        assert!(text.find("a/one") < text.find("b/two"), "{text}");
        assert_eq!(Baseline::read(&text), Ok(baseline()));
        for (text, reason) in [
            ("{\"version\":3,\"findings\":[]}", "version 3"),
            ("{\"version\":1,\"findings\":[{\"rule\":\"a\",\"rul\":1}]}", "unknown field `rul`"),
            ("[", "EOF"),
        ] {
            let error = Baseline::read(text).expect_err("refused");
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn an_entry_excuses_as_many_findings_as_it_counts() {
        let (counted, uncounted) = (identity("b/two", "/params"), identity("a/one", "/result/*"));
        let known = |identity: &Identity| [1, 2, 3].map(|so_far| baseline().has(identity, so_far));
        assert_eq!(known(&counted), [true, true, false]);
        assert_eq!(known(&uncounted), [true; 3], "baselines of version 1 have no counts");
        let found = [(counted, 3), (uncounted, 9), (identity("c/three", "/x"), 1)].into();
        let texts: Vec<String> = baseline().exceeded(&found).iter().map(Exceeded::text).collect();
        assert_eq!(texts, ["3 findings of b/two in tools/call at /params, 2 in the baseline"]);
        let old = r#"{"version":1,"findings":[{"rule":"a/one","method":"tools/call","path":"/result/*"}]}"#;
        assert!(Baseline::read(old).is_ok_and(|old| old.has(&identity("a/one", "/result/*"), 99)));
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
        let found = [(identity("c/three", "/x"), 4)].into();
        let renewed = baseline().renewed(found, &["a/one", "c/three"].into());
        let rules: Vec<&str> = renewed.entries.keys().map(|entry| entry.rule.as_str()).collect();
        assert_eq!(rules, ["b/two", "c/three"]);
    }
}
