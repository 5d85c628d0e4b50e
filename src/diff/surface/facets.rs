//! Compares the limits and patterns of two schemas: keywords that each constrain a value on their own.

use serde_json::{Map, Value};
use std::cmp::Ordering;

/// What happened to the set of values that a keyword allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shift {
    /// Fewer values are allowed.
    Narrower,
    /// More values are allowed.
    Wider,
    /// It could not be decided.
    Unknown,
}

/// Limits below which nothing is allowed.
const LOWER: &[&str] = &["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"];

/// Limits above which nothing is allowed.
const UPPER: &[&str] = &["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"];

/// Limits of other kinds.
const OTHER: &[&str] = &["uniqueItems", "multipleOf"];

/// Keywords whose value is a notation.
pub(super) const PATTERNS: &[&str] = &["pattern", "format", "contentEncoding", "contentMediaType"];

/// Returns whether a keyword is a limit.
pub(super) fn is_bound(keyword: &str) -> bool {
    [LOWER, UPPER, OTHER].iter().any(|group| group.contains(&keyword))
}

/// Returns the limits that differ, each with what happened.
pub(super) fn bounds(old: &Map<String, Value>, new: &Map<String, Value>) -> Vec<(&'static str, Shift)> {
    let keywords = LOWER.iter().chain(UPPER).chain(OTHER);
    keywords.filter_map(|keyword| Some((*keyword, bound(keyword, old.get(*keyword), new.get(*keyword))?))).collect()
}

fn bound(keyword: &str, old: Option<&Value>, new: Option<&Value>) -> Option<Shift> {
    let (old, new) =
        (old.filter(|value| !is_no_limit(keyword, value)), new.filter(|value| !is_no_limit(keyword, value)));
    match (old, new) {
        (None, None) => None,
        (None, Some(_)) => Some(Shift::Narrower),
        (Some(_), None) => Some(Shift::Wider),
        (Some(old), Some(new)) if old == new => None,
        (Some(old), Some(new)) => match (old.as_f64(), new.as_f64()) {
            (Some(old), Some(new)) if keyword == "multipleOf" => Some(multiple(old, new)),
            (Some(old), Some(new)) => moved(LOWER.contains(&keyword), old.partial_cmp(&new)?),
            _ => Some(Shift::Unknown),
        },
    }
}

fn moved(is_lower: bool, order: Ordering) -> Option<Shift> {
    match (order, is_lower) {
        (Ordering::Equal, _) => None,
        (Ordering::Less, true) | (Ordering::Greater, false) => Some(Shift::Narrower),
        (Ordering::Less, false) | (Ordering::Greater, true) => Some(Shift::Wider),
    }
}

fn multiple(old: f64, new: f64) -> Shift {
    if new % old == 0.0 {
        Shift::Narrower
    } else if old % new == 0.0 {
        Shift::Wider
    } else {
        Shift::Unknown
    }
}

/// Returns whether a limit excludes nothing.
fn is_no_limit(keyword: &str, value: &Value) -> bool {
    let is_count = ["minLength", "minItems", "minProperties"].contains(&keyword);
    value == &Value::Bool(false) || (is_count && value.as_f64() == Some(0.0))
}

/// Returns what happened to a keyword whose value is a notation.
pub(super) fn pattern(old: Option<&Value>, new: Option<&Value>) -> Option<Shift> {
    match (old, new) {
        (None, Some(_)) => Some(Shift::Narrower),
        (Some(_), None) => Some(Shift::Wider),
        (old, new) => (old != new).then_some(Shift::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_limit_moves_inwards_or_outwards() {
        for (old, new, expected) in [
            (json!({"minimum": 1}), json!({"minimum": 2}), Some(Shift::Narrower)),
            (json!({"minimum": 2}), json!({"minimum": 1}), Some(Shift::Wider)),
            (json!({"maximum": 2}), json!({"maximum": 1}), Some(Shift::Narrower)),
            (json!({"maxLength": 1}), json!({"maxLength": 2}), Some(Shift::Wider)),
            (json!({}), json!({"maxItems": 2}), Some(Shift::Narrower)),
            (json!({"minItems": 2}), json!({}), Some(Shift::Wider)),
            (json!({}), json!({"minItems": 0}), None),
            (json!({"uniqueItems": false}), json!({}), None),
            (json!({}), json!({"uniqueItems": true}), Some(Shift::Narrower)),
            (json!({"minimum": 1}), json!({"minimum": 1.0}), None),
            (json!({"multipleOf": 2}), json!({"multipleOf": 4}), Some(Shift::Narrower)),
            (json!({"multipleOf": 4}), json!({"multipleOf": 2}), Some(Shift::Wider)),
            (json!({"multipleOf": 2}), json!({"multipleOf": 3}), Some(Shift::Unknown)),
            (
                json!({"minimum": 1, "exclusiveMinimum": true}),
                json!({"minimum": 1, "exclusiveMinimum": 2}),
                Some(Shift::Unknown),
            ),
        ] {
            let found = bounds(old.as_object().expect("object"), new.as_object().expect("object"));
            assert_eq!(found.first().map(|found| found.1), expected, "{old} {new}");
        }
    }
}
