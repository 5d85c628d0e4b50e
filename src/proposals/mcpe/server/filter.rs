//! Which events a subscription is for (MCPE 2025-01-01 §5).

use crate::proposals::mcpe::patterns::{is_odd, matches, might_match};
use serde::{Deserialize, Serialize};

/// A filter. Missing and empty members match everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Filter {
    /// Event types: exact names, `github.*` for everything below `github`, or `*` for everything.
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
    /// Whether an event matches: all given members must match.
    pub(crate) fn matches(&self, event_type: &str, tags: &[String], priority: &str) -> bool {
        self.takes(tags, priority)
            && (self.event_types.is_empty() || self.event_types.iter().any(|pattern| matches(pattern, event_type)))
    }

    /// The pattern by which other implementations would match an event that does not match here.
    pub(crate) fn near_miss(&self, event_type: &str, tags: &[String], priority: &str) -> Option<&str> {
        let passes = self.matches(event_type, tags, priority);
        let near = self.event_types.iter().find(|pattern| might_match(pattern, event_type));
        near.filter(|_| !passes && self.takes(tags, priority)).map(String::as_str)
    }

    fn takes(&self, tags: &[String], priority: &str) -> bool {
        (self.tags.is_empty() || self.tags.iter().any(|tag| tags.contains(tag)))
            && (self.priority.is_empty() || self.priority.iter().any(|wanted| wanted == priority))
    }

    /// The first type pattern that is neither exact, nor `a.*`, nor `*`.
    pub(crate) fn odd_pattern(&self) -> Option<&str> {
        let is_none = |pattern: &&String| pattern.is_empty() || pattern.as_str() == ".*" || is_odd(pattern);
        self.event_types.iter().find(is_none).map(String::as_str)
    }
}

#[cfg(test)]
mod tests;
