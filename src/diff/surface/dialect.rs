//! Reads schemas of older drafts of JSON Schema as what they mean in the current one.

use super::shape::is_annotation;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Schemas that are nested more deeply stay as they are.
const MAX_NESTING: usize = 128;

/// A draft of JSON Schema. Keywords of the same name may mean something else in another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Draft {
    D4,
    D6,
    D7,
    D2019,
    D2020,
}

/// What `$schema` contains, and the draft.
const DRAFTS: &[(&str, Draft)] = &[
    ("draft-04", Draft::D4),
    ("draft-06", Draft::D6),
    ("draft-07", Draft::D7),
    ("2019-09", Draft::D2019),
    ("2020-12", Draft::D2020),
];

/// Keywords that mean nothing before a draft.
const SINCE: &[(&str, Draft)] = &[
    ("const", Draft::D6),
    ("contains", Draft::D6),
    ("propertyNames", Draft::D6),
    ("if", Draft::D7),
    ("then", Draft::D7),
    ("else", Draft::D7),
    ("dependentRequired", Draft::D2019),
    ("dependentSchemas", Draft::D2019),
    ("minContains", Draft::D2019),
    ("maxContains", Draft::D2019),
    ("unevaluatedItems", Draft::D2019),
    ("unevaluatedProperties", Draft::D2019),
    ("$recursiveRef", Draft::D2019),
    ("prefixItems", Draft::D2020),
    ("$dynamicRef", Draft::D2020),
];

/// Places that have another name in the current draft.
const MOVED: &[&str] = &["/items/", "/additionalItems", "/dependencies/"];

/// Returns the draft of a document; `None` if it is not known. Without `$schema`, it is 2020-12 (MCP 2025-11-25, Basic,
/// JSON Schema Usage).
fn draft(root: &Value) -> Option<Draft> {
    match root.get("$schema") {
        None => Some(Draft::D2020),
        Some(Value::String(name)) => DRAFTS.iter().find(|(part, _)| name.contains(part)).map(|(_, draft)| *draft),
        Some(_) => None,
    }
}

/// Returns whether the keywords of two documents mean the same, as [`modern`] returns them.
pub(super) fn are_comparable(old: &Value, new: &Value) -> bool {
    let text = |root: &Value| root.get("$schema").map(|name| name.to_string().replace('#', ""));
    match (draft(old), draft(new)) {
        (Some(one), Some(other)) => one == other || !refers_to_moved(old) && !refers_to_moved(new),
        _ => text(old) == text(new),
    }
}

/// Returns a document with the keywords of its draft replaced by those that mean the same in the current one.
pub(super) fn modern(root: &Value) -> Cow<'_, Value> {
    match draft(root) {
        Some(draft) if draft < Draft::D2020 && !refers_to_moved(root) => Cow::Owned(schema(root, draft, MAX_NESTING)),
        _ => Cow::Borrowed(root),
    }
}

/// Returns whether a reference leads to a place that would move.
fn refers_to_moved(value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            let reference = members.get("$ref").and_then(Value::as_str);
            reference.is_some_and(|to| MOVED.iter().any(|part| to.contains(part)))
                || members.values().any(refers_to_moved)
        }
        Value::Array(items) => items.iter().any(refers_to_moved),
        _ => false,
    }
}

fn schema(value: &Value, draft: Draft, depth: usize) -> Value {
    let (Value::Object(members), Some(depth)) = (value, depth.checked_sub(1)) else { return value.clone() };
    let inner = |value: &Value| schema(value, draft, depth);
    let ignores_siblings = draft <= Draft::D7 && members.get("$ref").is_some_and(Value::is_string);
    let is_tuple = members.get("items").is_some_and(Value::is_array);
    let mut found = Map::new();
    for (name, value) in members {
        if ignores_siblings && name != "$ref" && !is_annotation(name) {
            continue;
        }
        let is_unknown = SINCE.iter().any(|(known, since)| known == name && draft < *since);
        match (name.as_str(), value) {
            // Nobody knows what a client makes of it.
            _ if is_unknown => {
                found.insert(format!("{name} (of a later draft)"), value.clone());
            }
            ("items", Value::Array(items)) => {
                found.insert("prefixItems".to_owned(), items.iter().map(inner).collect());
            }
            ("additionalItems", more) if is_tuple => {
                found.insert("items".to_owned(), inner(more));
            }
            ("additionalItems", _) => {}
            ("dependencies", Value::Object(all)) if draft <= Draft::D7 => {
                let (names, schemas): (Vec<_>, Vec<_>) = all.iter().partition(|(_, needed)| needed.is_array());
                let put = |found: &mut Map<String, Value>, name: &str, members: Map<String, Value>| {
                    if !members.is_empty() {
                        found.insert(name.to_owned(), Value::Object(members));
                    }
                };
                let named = |(name, value): (&String, &Value)| (name.clone(), value.clone());
                put(&mut found, "dependentRequired", names.into_iter().map(named).collect());
                let made = |(name, value): (&String, &Value)| (name.clone(), inner(value));
                put(&mut found, "dependentSchemas", schemas.into_iter().map(made).collect());
            }
            ("properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas", Value::Object(all)) => {
                let all = all.iter().map(|(name, value)| (name.clone(), inner(value)));
                found.insert(name.clone(), Value::Object(all.collect()));
            }
            ("anyOf" | "oneOf" | "allOf", Value::Array(all)) => {
                found.insert(name.clone(), all.iter().map(inner).collect());
            }
            (
                "items"
                | "additionalProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                value,
            ) => {
                found.insert(name.clone(), inner(value));
            }
            (_, value) => {
                found.insert(name.clone(), value.clone());
            }
        }
    }
    Value::Object(found)
}
