//! JSON Schemas by method: documents whose definitions are named `METHOD:params` and `METHOD:result`, compiled when
//! first asked for.

use super::revision::Era;
use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

/// One place where a value does not fit its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaViolation {
    /// JSON Pointer to the place in the value.
    pub place: String,
    /// What does not fit.
    pub reason: String,
}

impl std::fmt::Display for SchemaViolation {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.place.as_str() {
            "" => write!(out, "{}", self.reason),
            place => write!(out, "{}: {}", place, self.reason),
        }
    }
}

/// A schema document and the validators made of it so far.
pub struct SchemaSet {
    text: &'static str,
    document: OnceLock<Value>,
    compiled: Mutex<BTreeMap<String, Option<Arc<Validator>>>>,
}

impl SchemaSet {
    /// A document by its text; nothing is parsed yet.
    pub const fn new(text: &'static str) -> Self {
        Self { text, document: OnceLock::new(), compiled: Mutex::new(BTreeMap::new()) }
    }

    /// The document.
    pub fn document(&self) -> &Value {
        self.document.get_or_init(|| serde_json::from_str(self.text).unwrap_or(Value::Null))
    }

    /// Whether it has a definition of this name.
    pub fn defines(&self, name: &str) -> bool {
        self.document()["$defs"].get(name).is_some()
    }

    /// Where `value` does not fit the definition `name`; `None` where there is no such definition.
    pub fn check(&self, name: &str, value: &Value) -> Option<Vec<SchemaViolation>> {
        let validator = self.validator(name)?;
        if validator.is_valid(value) {
            return Some(Vec::new());
        }
        Some(validator.iter_errors(value).map(|error| violation(&error)).collect())
    }

    fn validator(&self, name: &str) -> Option<Arc<Validator>> {
        let mut compiled = self.compiled.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(known) = compiled.get(name) {
            return known.clone();
        }
        let validator = self.defines(name).then(|| self.compile(name)).flatten().map(Arc::new);
        compiled.insert(name.to_owned(), validator.clone());
        validator
    }

    fn compile(&self, name: &str) -> Option<Validator> {
        let pointer = name.replace('~', "~0").replace('/', "~1");
        let root = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$defs": self.document()["$defs"],
            "$ref": format!("#/$defs/{pointer}"),
        });
        jsonschema::draft202012::new(&root).ok()
    }
}

/// Where a template does not fit a peer's schema, whatever is put in for its variables; `None` where the schema is
/// none.
/// `is_open` tells whether a value holds variables. Those are in texts and stay texts, so that only what follows from
/// shapes is certain there: a type, a member that lacks, one too many.
pub fn check_template(
    schema: &Value,
    template: &Value,
    is_open: impl Fn(&Value) -> bool,
) -> Option<Vec<SchemaViolation>> {
    use jsonschema::error::ValidationErrorKind as Kind;
    let validator = jsonschema::draft202012::new(schema).ok()?;
    let certain = |error: &jsonschema::ValidationError<'_>| {
        let of_shape =
            matches!(error.kind(), Kind::Type { .. } | Kind::Required { .. } | Kind::AdditionalProperties { .. });
        of_shape || !is_open(error.instance())
    };
    Some(validator.iter_errors(template).filter(certain).map(|error| violation(&error)).collect())
}

fn violation(error: &jsonschema::ValidationError<'_>) -> SchemaViolation {
    SchemaViolation { place: error.instance_path().to_string(), reason: shorten(&error.to_string()) }
}

/// An error's text names the whole value; a reader needs only its beginning.
fn shorten(text: &str) -> String {
    const MAX: usize = 200;
    if text.chars().count() <= MAX {
        return text.to_owned();
    }
    let tail: String = {
        let all: Vec<char> = text.chars().collect();
        all[all.len() - MAX / 2..].iter().collect()
    };
    format!("{}…{tail}", text.chars().take(MAX / 2).collect::<String>())
}

/// MCP's core methods, revisions 2024-11-05 to 2025-11-25.
pub static LEGACY: SchemaSet = SchemaSet::new(include_str!("schema/core.json"));
/// MCP's core methods, revision 2026-07-28.
pub static MODERN: SchemaSet = SchemaSet::new(include_str!("schema/modern.json"));

/// The core methods' schemas of an era.
pub fn core(era: Era) -> &'static SchemaSet {
    match era {
        Era::Legacy => &LEGACY,
        Era::Modern => &MODERN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_definition_compiles() {
        for set in [&LEGACY, &MODERN] {
            let names: Vec<String> =
                set.document()["$defs"].as_object().expect("definitions").keys().cloned().collect();
            assert!(names.len() > 50);
            for name in names {
                assert!(set.validator(&name).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn a_violation_names_its_place() {
        let bad = json!({"name": 7, "arguments": {}});
        let violations = LEGACY.check("tools/call:params", &bad).expect("defined");
        assert_eq!(violations[0].place, "/name");
        assert_eq!(LEGACY.check("tools/call:params", &json!({"name": "echo"})), Some(vec![]));
        assert_eq!(LEGACY.check("no/such:params", &bad), None);
    }
}
