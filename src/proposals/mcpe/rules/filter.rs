//! Matches events against the filter of a subscription.

use crate::proposals::mcpe::patterns::{matches, might_match};
use serde_json::Value;

/// Whether an event matches a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It matches however wildcards are treated.
    Matches,
    /// It matches only as some servers treat wildcards.
    Differs,
    /// It does not match.
    Fails,
}

/// Judges an event. Missing and empty members of the filter match everything; all others must match.
pub(super) fn judge(filter: &Value, event: &Value) -> Verdict {
    let metadata = &event["metadata"];
    let tags = metadata["tags"].as_array().map_or(&[][..], Vec::as_slice);
    let tagged = wanted(filter, "tags").is_none_or(|wanted| wanted.iter().any(|tag| tags.contains(tag)));
    let urgent = wanted(filter, "priority").is_none_or(|wanted| wanted.contains(&metadata["priority"]));
    if !tagged || !urgent {
        return Verdict::Fails;
    }
    let Some(patterns) = wanted(filter, "eventTypes") else { return Verdict::Matches };
    let name = event["type"].as_str().unwrap_or_default();
    let mut patterns = patterns.iter().filter_map(Value::as_str);
    if patterns.clone().any(|pattern| matches(pattern, name)) {
        Verdict::Matches
    } else if patterns.any(|pattern| might_match(pattern, name)) {
        Verdict::Differs
    } else {
        Verdict::Fails
    }
}

fn wanted<'a>(filter: &'a Value, member: &str) -> Option<&'a Vec<Value>> {
    filter[member].as_array().filter(|list| !list.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn by_type(pattern: &str, name: &str) -> Verdict {
        judge(&json!({"eventTypes": [pattern]}), &json!({"type": name}))
    }

    #[test]
    fn e32_a_type_matches_by_every_reading_by_some_or_by_none() {
        assert_eq!(by_type("github.*", "github.push"), Verdict::Matches);
        assert_eq!(by_type("github.*", "github"), Verdict::Differs);
        assert_eq!(by_type("github.*", "gitlab"), Verdict::Fails);
    }

    #[test]
    fn given_members_must_all_match_and_missing_ones_let_pass() {
        let event = json!({"type": "a", "metadata": {"tags": ["ci"], "priority": "high"}});
        for (filter, verdict) in [
            (json!({}), Verdict::Matches),
            (json!(null), Verdict::Matches),
            (json!({"eventTypes": [], "tags": []}), Verdict::Matches),
            (json!({"tags": ["x", "ci"], "priority": ["high"]}), Verdict::Matches),
            (json!({"tags": ["x"]}), Verdict::Fails),
            (json!({"tags": ["ci"], "priority": ["low"]}), Verdict::Fails),
        ] {
            assert_eq!(judge(&filter, &event), verdict, "{filter}");
        }
    }
}
