//! Which events a subscription is for (§5).

use serde::{Deserialize, Serialize};

/// A filter; what is left out or empty matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Filter {
    /// Types: exact, `github.*` for all below `github.`, `*` for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub event_types: Vec<String>,
    /// Any of these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Any of these priorities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub priority: Vec<String>,
}

impl Filter {
    /// Whether an event passes: all given members must match.
    pub fn matches(&self, event_type: &str, tags: &[String], priority: &str) -> bool {
        let any = |list: &[String], test: &dyn Fn(&String) -> bool| list.is_empty() || list.iter().any(test);
        any(&self.event_types, &|pattern| type_matches(pattern, event_type))
            && any(&self.tags, &|tag| tags.contains(tag))
            && any(&self.priority, &|wanted| wanted == priority)
    }

    /// The first type pattern that is neither exact, nor `a.*`, nor `*`.
    pub fn odd_pattern(&self) -> Option<&str> {
        let is_odd = |pattern: &&String| {
            let plain = pattern.strip_suffix(".*").unwrap_or(pattern);
            plain.is_empty() || (pattern.as_str() != "*" && plain.contains('*'))
        };
        self.event_types.iter().find(is_odd).map(String::as_str)
    }
}

/// `github.*` stands for any depth below `github.`, not for `github` itself; `*` for everything (E32).
fn type_matches(pattern: &str, event_type: &str) -> bool {
    match pattern.strip_suffix(".*") {
        _ if pattern == "*" => true,
        Some(above) => event_type.strip_prefix(above).is_some_and(|rest| rest.len() > 1 && rest.starts_with('.')),
        None => pattern == event_type,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(types: &[&str], tags: &[&str], priority: &[&str]) -> Filter {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        Filter { event_types: owned(types), tags: owned(tags), priority: owned(priority) }
    }

    #[test]
    fn types_match_exactly_or_below_a_dot() {
        for (pattern, event_type, matches) in [
            ("github.push", "github.push", true),
            ("github.push", "github.push.x", false),
            ("github.*", "github.push", true),
            ("github.*", "github.issue.opened", true),
            ("github.*", "github", false),
            ("github.*", "github.", false),
            ("github.*", "githubber.push", false),
            ("*", "anything.at.all", true),
        ] {
            assert_eq!(filter(&[pattern], &[], &[]).matches(event_type, &[], "low"), matches, "{pattern} {event_type}");
        }
    }

    #[test]
    fn members_are_joined_by_and_and_their_items_by_or() {
        let ci = ["ci".to_owned(), "x".to_owned()];
        let both = filter(&["a.*", "b"], &["deploy", "ci"], &["high", "critical"]);
        assert!(both.matches("b", &ci, "high") && both.matches("a.c", &ci, "critical"));
        assert!(!both.matches("b", &ci, "low") && !both.matches("b", &[], "high") && !both.matches("c", &ci, "high"));
        assert!(Filter::default().matches("b", &[], "low"));
    }

    #[test]
    fn other_globs_are_odd() {
        assert_eq!(filter(&["a", "a.*", "*", "a*"], &[], &[]).odd_pattern(), Some("a*"));
        assert_eq!(filter(&["*.a"], &[], &[]).odd_pattern(), Some("*.a"));
        assert_eq!(filter(&[".*"], &[], &[]).odd_pattern(), Some(".*"));
        assert_eq!(filter(&["a", "a.b.*", "*"], &[], &[]).odd_pattern(), None);
    }
}
