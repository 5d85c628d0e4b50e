//! JSON Schemas that a peer sends: compiled within limits, and never by fetching anything.

use crate::proposals::recent::{Digest, Recent, digest};
use jsonschema::{Draft, Validator};
use serde_json::Value;
use std::cell::RefCell;
use std::sync::Arc;

/// The number of JSON values in a schema up to which it is compiled.
const MAX_VALUES: usize = 4096;
/// The depth of a schema up to which it is compiled.
const MAX_DEPTH: usize = 64;
/// Violations that are described.
const MAX_SHOWN: usize = 3;

/// What became of a schema.
#[derive(Debug)]
pub(crate) enum Compiled {
    /// Values can be checked against it.
    Usable(Box<Validator>),
    /// It breaks the rules of its dialect, for this reason.
    Invalid(String),
    /// It is too large, its dialect is unknown, or it refers to something outside.
    Unknown,
}

/// The number of compiled schemas that connections share.
const SHARED: usize = 1024;

/// A schema that a peer sent.
#[derive(Debug)]
pub(super) struct ForeignSchema {
    pub source: Value,
    pub compiled: Compiled,
}

/// Schemas. Connections to the same server share them: they take much memory, and compiling takes time.
#[derive(Debug)]
pub(super) struct Library(RefCell<Recent<Digest, Arc<ForeignSchema>>>);

impl Default for Library {
    fn default() -> Self {
        Self(RefCell::new(Recent::new(SHARED)))
    }
}

impl Library {
    /// Returns the schema with its compiled form.
    pub(super) fn schema(&self, source: &Value) -> Arc<ForeignSchema> {
        let key = digest(source);
        let mut known = self.0.borrow_mut();
        // Others may have the same digest.
        if let Some(schema) = known.get(&key).filter(|schema| schema.source == *source) {
            return Arc::clone(schema);
        }
        let schema = Arc::new(ForeignSchema { source: source.clone(), compiled: compile(source) });
        known.insert(key, Arc::clone(&schema));
        schema
    }
}

/// Compiles a schema. Without `$schema`, its dialect is 2020-12.
pub(crate) fn compile(schema: &Value) -> Compiled {
    if !fits(schema, MAX_DEPTH, &mut MAX_VALUES.clone()) {
        return Compiled::Unknown;
    }
    let Some(draft) = dialect(schema) else { return Compiled::Unknown };
    let checked = match draft {
        Draft::Draft4 => jsonschema::draft4::meta::validate(schema),
        Draft::Draft6 => jsonschema::draft6::meta::validate(schema),
        Draft::Draft7 => jsonschema::draft7::meta::validate(schema),
        Draft::Draft201909 => jsonschema::draft201909::meta::validate(schema),
        _ => jsonschema::draft202012::meta::validate(schema),
    };
    if let Err(error) = checked {
        return Compiled::Invalid(at(&error));
    }
    jsonschema::options().with_draft(draft).build(schema).map_or(Compiled::Unknown, |it| Compiled::Usable(Box::new(it)))
}

fn dialect(schema: &Value) -> Option<Draft> {
    let Some(named) = schema.get("$schema").and_then(Value::as_str) else { return Some(Draft::Draft202012) };
    let known = [
        ("draft-04/schema", Draft::Draft4),
        ("draft-06/schema", Draft::Draft6),
        ("draft-07/schema", Draft::Draft7),
        ("draft/2019-09/schema", Draft::Draft201909),
        ("draft/2020-12/schema", Draft::Draft202012),
    ];
    let path = named.trim_end_matches('#').split_once("json-schema.org/").map(|(_, path)| path)?;
    known.into_iter().find(|(name, _)| *name == path).map(|(_, draft)| draft)
}

/// Whether a value is no deeper and has no more values than allowed.
fn fits(value: &Value, depth: usize, left: &mut usize) -> bool {
    let (Some(depth), Some(rest)) = (depth.checked_sub(1), left.checked_sub(1)) else { return false };
    *left = rest;
    match value {
        Value::Array(items) => items.iter().all(|item| fits(item, depth, left)),
        Value::Object(members) => members.values().all(|item| fits(item, depth, left)),
        _ => true,
    }
}

/// Describes how a value differs from its schema, if it does. After so many descriptions, which no report shows, it only
/// says that it differs: descriptions take much longer than the check.
pub(super) fn differences_within(left: &mut usize, validator: &Validator, value: &Value) -> Option<String> {
    if *left > 0 {
        let described = differences(validator, value);
        *left -= usize::from(described.is_some());
        return described;
    }
    (!validator.is_valid(value)).then(|| "not as the schema says".to_owned())
}

/// Describes how a value differs from its schema; `None` if it does not.
pub(crate) fn differences(validator: &Validator, value: &Value) -> Option<String> {
    if validator.is_valid(value) {
        return None;
    }
    let shown: Vec<_> = validator.iter_errors(value).take(MAX_SHOWN).map(|error| at(&error)).collect();
    Some(shown.join("; "))
}

fn at(error: &jsonschema::ValidationError<'_>) -> String {
    let (place, reason) = (error.instance_path().to_string(), error.to_string());
    let reason = crate::wire::mask::masked(&reason);
    let reason = crate::proposals::clip(&reason, 160);
    if place.is_empty() { reason.into_owned() } else { format!("{place}: {reason}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_is_usable_invalid_or_unknown() {
        let is_usable = |schema: Value| matches!(compile(&schema), Compiled::Usable(_));
        assert!(is_usable(json!({"type": "object"})) && is_usable(json!({})));
        assert!(is_usable(json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"})));
        assert!(matches!(compile(&json!({"type": "objekt"})), Compiled::Invalid(_)));
        assert!(matches!(compile(&json!({"required": "a"})), Compiled::Invalid(_)));
        for unknown in [json!({"$schema": "urn:mine"}), json!({"$ref": "https://h/schema.json"})] {
            assert!(matches!(compile(&unknown), Compiled::Unknown), "{unknown}");
        }
    }

    #[test]
    fn large_and_deep_schemas_are_not_compiled() {
        let deep = (0..MAX_DEPTH).fold(json!({}), |inner, _| json!({"not": inner}));
        let large: Value = (0..MAX_VALUES).map(|at| (at.to_string(), json!(true))).collect();
        for schema in [deep, json!({"properties": large})] {
            assert!(matches!(compile(&schema), Compiled::Unknown));
        }
    }

    #[test]
    fn the_same_schema_is_compiled_once() {
        let library = Library::default();
        let (schema, other) = (json!({"type": "object"}), json!({"type": "array"}));
        let compiled = library.schema(&schema);
        assert!(Arc::ptr_eq(&compiled, &library.schema(&schema.clone())));
        assert!(!Arc::ptr_eq(&compiled, &library.schema(&other)));
    }

    #[test]
    fn only_some_differences_are_described() {
        let Compiled::Usable(validator) = compile(&json!({"type": "string"})) else { panic!("usable") };
        let mut left = 1;
        let mut check = |value: Value| differences_within(&mut left, &validator, &value);
        assert_eq!(check(json!("x")), None);
        assert!(check(json!(7)).is_some_and(|text| text.contains('7')));
        assert!(check(json!(8)).is_some_and(|text| !text.contains('8')));
        assert_eq!(check(json!("x")), None);
    }

    #[test]
    fn differences_name_their_places() {
        let Compiled::Usable(validator) = compile(&json!({"properties": {"n": {"type": "integer"}}})) else {
            panic!("usable");
        };
        assert_eq!(differences(&validator, &json!({"n": 7.0})), None, "an integral float is an integer");
        assert!(differences(&validator, &json!({"n": "x"})).is_some_and(|text| text.starts_with("/n: ")));
    }
}
