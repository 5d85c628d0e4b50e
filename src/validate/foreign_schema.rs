//! JSON Schemas that a peer sends: compiled and used within limits, and never by fetching anything.

mod steps;

use crate::proposals::recent::{Digest, Recent, digest};
use crate::wire::json;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::Value;
use std::cell::RefCell;
use std::sync::Arc;

/// The number of JSON values in a schema up to which it is compiled.
const MAX_VALUES: usize = 4096;
/// The depth of a schema up to which it is compiled.
const MAX_DEPTH: usize = 64;
/// Violations that are described.
const MAX_SHOWN: usize = 3;
/// The number of steps up to which any value is checked, what each item and member of the value adds to it, and the
/// number for the largest values.
const FREE_STEPS: usize = 100_000;
const STEPS_A_VALUE: usize = 256;
const MAX_STEPS: usize = 16 << 20;
/// The number of steps up to which violations are described. A description takes more time, and memory for each step.
const MAX_DESCRIBED_STEPS: usize = 20_000;
/// The number of steps up to which a pattern is compared with a text.
const MAX_PATTERN_STEPS: usize = 50_000;

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

/// What a schema says about a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It conforms.
    Conforms,
    /// It does not, for this reason.
    Differs(String),
    /// The schema cannot be used, or checking the value would take too long.
    Unknown,
}

/// The number of compiled schemas that connections share.
const SHARED: usize = 1024;

/// A schema that a peer sent.
#[derive(Debug)]
pub(crate) struct ForeignSchema {
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
        let schema = Arc::new(ForeignSchema::new(json::trimmed(source)));
        known.insert(key, Arc::clone(&schema));
        schema
    }
}

impl ForeignSchema {
    /// Compiles a schema. Without `$schema`, its dialect is 2020-12.
    pub(crate) fn new(source: Value) -> Self {
        Self { compiled: compile(&source), source }
    }

    /// Checks a value.
    pub(crate) fn judge(&self, value: &Value) -> Verdict {
        self.judge_within(&mut 1, value)
    }

    /// Checks a value. After so many descriptions, which no report shows, it only says that a value differs: descriptions
    /// take much longer than the check.
    pub(super) fn judge_within(&self, descriptions: &mut usize, value: &Value) -> Verdict {
        let Compiled::Usable(validator) = &self.compiled else { return Verdict::Unknown };
        let limit = FREE_STEPS + STEPS_A_VALUE * steps::size(value);
        let Some(steps) = steps::steps(&self.source, value, limit.min(MAX_STEPS)) else { return Verdict::Unknown };
        if validator.is_valid(value) {
            return Verdict::Conforms;
        }
        if *descriptions == 0 || steps > MAX_DESCRIBED_STEPS {
            return Verdict::Differs("not as the schema says".to_owned());
        }
        let errors: Vec<_> = validator.iter_errors(value).take(MAX_SHOWN).collect();
        if errors.iter().any(is_undecided) {
            return Verdict::Unknown;
        }
        *descriptions -= 1;
        Verdict::Differs(errors.iter().map(at).collect::<Vec<_>>().join("; "))
    }
}

/// Returns whether a pattern was not compared to the end. The library reports that instead of what the schema makes of it.
fn is_undecided(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), ValidationErrorKind::BacktrackLimitExceeded { .. })
}

fn compile(schema: &Value) -> Compiled {
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
    if steps::has_identified_parts(schema, draft) {
        return Compiled::Unknown;
    }
    let patterns = PatternOptions::fancy_regex().backtrack_limit(MAX_PATTERN_STEPS);
    let built = jsonschema::options().with_draft(draft).with_pattern_options(patterns).build(schema);
    built.map_or(Compiled::Unknown, |validator| Compiled::Usable(Box::new(validator)))
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

fn at(error: &ValidationError<'_>) -> String {
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

    fn usable(schema: Value) -> ForeignSchema {
        let schema = ForeignSchema::new(schema);
        assert!(matches!(schema.compiled, Compiled::Usable(_)), "{:?}", schema.compiled);
        schema
    }

    #[test]
    fn only_some_differences_are_described() {
        let (schema, mut left) = (usable(json!({"type": "string"})), 1);
        let mut check = |value: Value| schema.judge_within(&mut left, &value);
        assert_eq!(check(json!("x")), Verdict::Conforms);
        assert!(matches!(check(json!(7)), Verdict::Differs(text) if text.contains('7')));
        assert!(matches!(check(json!(8)), Verdict::Differs(text) if !text.contains('8')));
        assert_eq!(check(json!("x")), Verdict::Conforms);
    }

    #[test]
    fn differences_name_their_places() {
        let schema = usable(json!({"properties": {"n": {"type": "integer"}}}));
        assert_eq!(schema.judge(&json!({"n": 7.0})), Verdict::Conforms, "an integral float is an integer");
        assert!(matches!(schema.judge(&json!({"n": "x"})), Verdict::Differs(text) if text.starts_with("/n: ")));
    }

    /// Each of these would take years or all memory.
    #[test]
    fn a_value_is_not_checked_if_that_takes_too_many_steps() {
        let twice = |form: &str, part: Value| json!({form: [part.clone(), part]});
        let reference = |at: usize| json!({"$ref": format!("#/$defs/{at}")});
        for form in ["allOf", "anyOf", "oneOf"] {
            let last = json!({"required": ["x"]});
            let definitions = (0..60).map(|at| (at.to_string(), twice(form, reference(at + 1))));
            let definitions: Value = definitions.chain([("60".to_owned(), last)]).collect();
            let schema = usable(json!({"$ref": "#/$defs/0", "$defs": definitions}));
            assert_eq!(schema.judge(&json!({})), Verdict::Unknown, "{form}");

            let schema = usable(json!({"additionalProperties": twice(form, json!({"$ref": "#"})), "required": ["x"]}));
            let value = (0..50).fold(json!({}), |inner, _| json!({"x": inner}));
            assert_eq!(schema.judge(&value), Verdict::Unknown, "{form}");
        }
    }

    #[test]
    fn large_differences_are_not_described() {
        let schema = usable(json!({"items": {"type": "integer"}}));
        let value = Value::from(vec!["x"; MAX_DESCRIBED_STEPS]);
        assert_eq!(schema.judge(&value), Verdict::Differs("not as the schema says".to_owned()));
    }

    #[test]
    fn a_pattern_that_takes_too_long_is_no_difference() {
        let pattern = json!({"pattern": r"^(?=a)(a|aa)+\1b$"});
        let other = json!({"minLength": 100});
        let parts = [
            json!({"anyOf": [pattern, other]}),
            json!({"oneOf": [other, pattern]}),
            json!({"if": pattern, "else": false}),
        ];
        for schema in [[pattern].as_slice(), &parts].concat() {
            assert_eq!(usable(schema).judge(&"a".repeat(60).into()), Verdict::Unknown);
        }
    }

    #[test]
    fn references_in_parts_with_identifiers_are_not_followed() {
        let part = json!({"$id": "https://h/x", "$ref": "#/$defs/b", "$defs": {"b": {}}});
        assert!(matches!(compile(&json!({"$defs": {"a": part}})), Compiled::Unknown));
        usable(json!({"$id": "https://h/y", "properties": {"$id": {"type": "string"}}}));
    }
}
