//! Patterns of event types: how MCPE is understood here, and how other implementations treat wildcards
//! (MCPE 2025-01-01 §5).

/// Whether a pattern contains a wildcard.
pub fn is_wildcard(pattern: &str) -> bool {
    pattern.contains('*')
}

/// Whether a pattern has a wildcard that is neither the whole pattern nor its last segment.
pub fn is_odd(pattern: &str) -> bool {
    pattern != "*" && is_wildcard(pattern.strip_suffix(".*").unwrap_or(pattern))
}

/// Whether a name matches, as MCPE is understood here: exactly, by `*` for everything, or by `a.*` for everything
/// below `a`.
pub fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some("") => true,
        Some(prefix) if prefix.ends_with('.') && !is_wildcard(prefix) => {
            name.len() > prefix.len() && name.starts_with(prefix)
        }
        _ => pattern == name,
    }
}

/// Whether a name might match in some implementation: there, `a.*` also matches `a`, and `*` may stand anywhere for
/// anything.
pub fn might_match(pattern: &str, name: &str) -> bool {
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
    last.map_or(rest.is_empty(), |piece| name.ends_with(piece))
}

/// Whether `wide` matches every name that `narrow` matches. Neither may be odd (see [`is_odd`]).
pub fn covers(wide: &str, narrow: &str) -> bool {
    wide == "*" || wide == narrow || (narrow != "*" && matches(wide, narrow))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e32_types_match_exactly_or_below_a_dot_and_other_readings_are_known() {
        for (pattern, name, ours, others) in [
            ("github.push", "github.push", true, true),
            ("github.push", "github.push.x", false, false),
            ("github.*", "github.push", true, true),
            ("github.*", "github.issue.opened", true, true),
            ("github.*", "github", false, true),
            ("github.*", "githubber.push", false, false),
            ("*", "anything.at.all", true, true),
            ("*.opened", "issue.opened", false, true),
            ("a.*.c", "a.b.c", false, true),
            ("a.*.c", "a.b.d", false, false),
        ] {
            assert_eq!((matches(pattern, name), might_match(pattern, name)), (ours, others), "{pattern} {name}");
        }
        assert!(!matches("github.*", "github."));
        assert!(is_odd("a.*.c") && is_odd("git*") && !is_odd("a.*") && !is_odd("*") && !is_odd("a"));
    }

    #[test]
    fn e37_a_pattern_covers_what_lies_below_it() {
        for (wide, narrow, covered) in [
            ("*", "*", true),
            ("*", "a.*", true),
            ("a.*", "*", false),
            ("a.*", "a.*", true),
            ("a.*", "a.b.*", true),
            ("a.*", "a.b", true),
            ("a.*", "a", false),
            ("a.b", "a.*", false),
            ("a.b", "a.b", true),
        ] {
            assert_eq!(covers(wide, narrow), covered, "{wide} {narrow}");
        }
    }
}
