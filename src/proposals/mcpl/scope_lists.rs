//! The lists of a feature set's scopes (MCPL 0.4 §7.2), which the host sends in `featureSets/update`.
//!
//! Patterns are globs, in which `*` does not match a `/` and `**` does; an invalid glob matches only itself. MCPL
//! leaves their form to the host, so there is a second question: whether a pattern may match in some other form.

use super::label::{Label, notations};
use globset::{GlobBuilder, GlobMatcher};
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

/// How many patterns of a list are kept, and how many bytes a pattern may have. Longer ones match only themselves.
const MAX_PATTERNS: usize = 1024;
const MAX_PATTERN_BYTES: usize = 4096;
/// How much memory a compiled regular expression may take, in bytes.
const MAX_REGEX_BYTES: usize = 1 << 16;

/// The lists of one feature set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ScopeLists {
    white: Vec<Pattern>,
    black: Vec<Pattern>,
}

/// What the lists say about a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is on the whitelist, and not on the blacklist.
    Allowed,
    /// It is on the blacklist.
    Forbidden,
    /// It is on neither list.
    Open,
}

impl ScopeLists {
    /// Reads a member of `scopes`.
    pub(super) fn read(lists: &Value) -> Self {
        let list = |name: &str| {
            let patterns = lists[name].as_array().into_iter().flatten();
            patterns.filter_map(Value::as_str).take(MAX_PATTERNS).map(Pattern::read).collect()
        };
        Self { white: list("whitelist"), black: list("blacklist") }
    }

    /// What the lists say about something with these names.
    pub(super) fn judge(&self, labels: &[&str]) -> Standing {
        let labels: Vec<Label<'_>> = labels.iter().map(|label| Label::read(label)).collect();
        let any = |patterns: &[Pattern], fits: &dyn Fn(&Label<'_>, &Pattern) -> bool| {
            patterns.iter().any(|one| labels.iter().any(|label| fits(label, one)))
        };
        match () {
            () if any(&self.black, &|label, one| label.is_black(|reading| one.fits(reading))) => Standing::Forbidden,
            () if any(&self.white, &|label, one| label.is_white(&one.text, |reading| one.fits(reading))) => {
                Standing::Allowed
            }
            () => Standing::Open,
        }
    }

    /// Whether the whitelist has one of these names as a pattern, which matches in every form.
    pub(super) fn names_white(&self, labels: &[&str]) -> bool {
        names(&self.white, labels)
    }

    /// Whether the blacklist has one of these names as a pattern, which matches in every form.
    pub(super) fn names_black(&self, labels: &[&str]) -> bool {
        names(&self.black, labels)
    }

    /// Whether there is a whitelist. What is not on it needs the host's approval.
    pub(super) fn has_whitelist(&self) -> bool {
        !self.white.is_empty()
    }

    /// Whether the whitelist may match, however the host reads its patterns.
    pub(super) fn may_be_white(&self, labels: &[&str]) -> bool {
        may_fit(&self.white, labels)
    }

    /// Whether the blacklist may match, however the host reads its patterns.
    pub(super) fn may_be_black(&self, labels: &[&str]) -> bool {
        may_fit(&self.black, labels)
    }
}

fn names(patterns: &[Pattern], labels: &[&str]) -> bool {
    patterns.iter().any(|one| labels.contains(&one.text.as_str()))
}

fn may_fit(patterns: &[Pattern], labels: &[&str]) -> bool {
    let labels: Vec<Label<'_>> = labels.iter().map(|label| Label::read(label)).collect();
    let may_fit = |one: &Pattern| labels.iter().any(|label| label.may_be_black(|reading| one.may_fit(reading)));
    patterns.len() >= MAX_PATTERNS || patterns.iter().any(may_fit)
}

#[derive(Clone, Debug)]
struct Pattern {
    text: String,
    globs: Vec<GlobMatcher>,
    /// Globs whose `*` also matches `/`, and that ignore case.
    wide: Vec<GlobMatcher>,
    regex: Option<Regex>,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

impl Pattern {
    fn read(text: &str) -> Self {
        if text.len() > MAX_PATTERN_BYTES {
            return Self { text: text.to_owned(), globs: Vec::new(), wide: Vec::new(), regex: None };
        }
        let globs = |is_narrow: bool| {
            let compiled = |glob: &String| {
                let glob = GlobBuilder::new(glob).literal_separator(is_narrow).case_insensitive(!is_narrow).build();
                glob.ok().map(|glob| glob.compile_matcher())
            };
            notations(text).iter().filter_map(compiled).collect()
        };
        let regex = RegexBuilder::new(text).size_limit(MAX_REGEX_BYTES).case_insensitive(true).build().ok();
        Self { text: text.to_owned(), globs: globs(true), wide: globs(false), regex }
    }

    fn fits(&self, label: &str) -> bool {
        self.text == label || self.globs.iter().any(|glob| glob.is_match(label))
    }

    fn may_fit(&self, label: &str) -> bool {
        self.fits(label)
            || self.wide.iter().any(|glob| glob.is_match(label))
            || self.regex.as_ref().is_some_and(|regex| regex.is_match(label))
    }
}

/// The names by which a pattern may mean a channel: its id, its label, and its type and address (AMB-C10).
pub(super) fn channel_names(channel: &Value) -> Vec<String> {
    let address = channel["address"].as_object().into_iter().flat_map(Map::values).filter_map(Value::as_str);
    let kind = channel["type"].as_str().unwrap_or_default();
    let place = format!("{kind}:{}", address.collect::<Vec<_>>().join("/"));
    let named = [&channel["id"], &channel["label"]].into_iter().filter_map(Value::as_str).map(str::to_owned);
    named.chain([place]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn c22_other_readings_of_a_pattern_are_possible() {
        let lists = ScopeLists::read(&json!({"whitelist": ["/a/*", "dev-.*", "("], "blacklist": ["x"]}));
        for (label, standing, may_be_white) in [
            ("/a/b", Standing::Allowed, true),
            ("/a/b/c", Standing::Open, true),
            ("dev-x", Standing::Open, true),
            ("(", Standing::Allowed, true),
            ("x", Standing::Forbidden, false),
            ("other", Standing::Open, false),
        ] {
            assert_eq!((lists.judge(&[label]), lists.may_be_white(&[label])), (standing, may_be_white), "{label}");
        }
        assert!(lists.may_be_black(&["an x"]) && !lists.may_be_black(&["/a/b"]));
    }
}
