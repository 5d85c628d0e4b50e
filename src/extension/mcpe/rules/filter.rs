//! Whether an event matches a subscription's filter.

use serde_json::Value;

/// What a filter says to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It matches by every reading.
    Matches,
    /// It matches only by some servers' reading of wildcards.
    Differs,
    /// It does not match.
    Fails,
}

/// Judges an event. Members of the filter that are missing or empty let everything pass; the others must all match.
pub fn judge(filter: &Value, event: &Value) -> Verdict {
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

/// Whether a pattern has a wildcard at all.
pub fn is_wildcard(pattern: &str) -> bool {
    pattern.contains('*')
}

/// Whether a pattern has a wildcard elsewhere than alone or as its last segment.
pub fn is_odd(pattern: &str) -> bool {
    pattern != "*" && is_wildcard(pattern.strip_suffix(".*").unwrap_or(pattern))
}

/// The reading that is taken as the proposal's: exact, `*` for all, `a.*` for anything below `a`.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some("") => true,
        Some(prefix) if prefix.ends_with('.') && !is_wildcard(prefix) => {
            name.len() > prefix.len() && name.starts_with(prefix)
        }
        _ => pattern == name,
    }
}

/// Readings that some implementations have: `a.*` takes `a` too, and `*` may stand anywhere for anything.
fn might_match(pattern: &str, name: &str) -> bool {
    if pattern.strip_suffix(".*") == Some(name) {
        return true;
    }
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let mut last = None;
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
        last = Some(piece);
    }
    last.map_or(rest.is_empty(), |piece| piece.is_empty() || name.ends_with(piece))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn by_type(pattern: &str, name: &str) -> Verdict {
        judge(&json!({"eventTypes": [pattern]}), &json!({"type": name}))
    }

    #[test]
    fn types_match_exactly_or_below_a_dot() {
        use Verdict::*;
        for (pattern, name, verdict) in [
            ("github.push", "github.push", Matches),
            ("github.push", "github.pull", Fails),
            ("github.*", "github.push", Matches),
            ("github.*", "github.issue.opened", Matches),
            ("github.*", "github", Differs),
            ("github.*", "githubx.push", Fails),
            ("*", "anything", Matches),
            ("*.opened", "issue.opened", Differs),
            ("a.*.c", "a.b.c", Differs),
            ("a.*.c", "a.b.d", Fails),
        ] {
            assert_eq!(by_type(pattern, name), verdict, "{pattern} {name}");
        }
        assert!(is_odd("a.*.c") && is_odd("git*") && !is_odd("a.*") && !is_odd("*") && !is_odd("a"));
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
