//! JSON Schemas by method: documents whose definitions are named `METHOD:params` and `METHOD:result`, compiled on first
//! use.

use super::revision::{Era, Revision};
use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

/// One place where a value does not conform to its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaViolation {
    /// JSON Pointer to the place in the value.
    pub place: String,
    /// What is wrong there.
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

/// A schema document, with the validators compiled so far.
pub struct SchemaSet {
    text: &'static str,
    document: OnceLock<Value>,
    compiled: Mutex<BTreeMap<String, Option<Arc<Validator>>>>,
}

impl SchemaSet {
    /// Creates a set from the text of its document, which is parsed on first use.
    pub const fn new(text: &'static str) -> Self {
        Self { text, document: OnceLock::new(), compiled: Mutex::new(BTreeMap::new()) }
    }

    /// Returns the document.
    pub fn document(&self) -> &Value {
        self.document.get_or_init(|| serde_json::from_str(self.text).unwrap_or(Value::Null))
    }

    /// Returns whether there is a definition of this name.
    pub fn defines(&self, name: &str) -> bool {
        self.document()["$defs"].get(name).is_some()
    }

    /// Returns the violations of `value` against the definition `name`; `None` if there is no such definition.
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

/// Returns the violations of a template that exist whatever its variables stand for; `None` if the schema is invalid.
///
/// `is_open` says whether a value contains variables. They occur in texts and remain texts, so there only violations of
/// the structure are certain: a wrong type, a missing member, an extra member.
pub(crate) fn check_template(
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

/// Shortens an error's text, which contains the whole value, to its beginning and end.
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

/// Schemas of MCP's own methods, revisions 2024-11-05 to 2025-11-25.
pub(crate) static LEGACY: SchemaSet = SchemaSet::new(include_str!("schema/core.json"));
/// Schemas of MCP's own methods, revision 2026-07-28.
pub(crate) static MODERN: SchemaSet = SchemaSet::new(include_str!("schema/modern.json"));

/// The definitions that apply only up to a revision. They are named `DEFINITION@REVISION`; later ones have the plain name.
const EARLIER: [(&str, Revision); 3] = [
    ("notifications/cancelled:params", Revision::V2025_06_18),
    ("sampling/createMessage:params", Revision::V2025_06_18),
    ("sampling/createMessage:result", Revision::V2025_06_18),
];

/// Returns the violations of a value against a definition of MCP in a revision; `None` if there is no such definition.
/// Without a revision, the newest one of the era applies.
pub(crate) fn check_core(
    era: Era,
    revision: Option<Revision>,
    definition: &str,
    value: &Value,
) -> Option<Vec<SchemaViolation>> {
    let applies = |last: Revision| era == Era::Legacy && revision.is_some_and(|revision| revision <= last);
    match EARLIER.iter().find(|(name, last)| *name == definition && applies(*last)) {
        Some((name, last)) => LEGACY.check(&format!("{name}@{}", last.as_str()), value),
        None => core(era).check(definition, value),
    }
}

/// Returns the schemas of MCP's own methods in an era.
pub(crate) fn core(era: Era) -> &'static SchemaSet {
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
    fn some_definitions_apply_up_to_a_revision_only() {
        let accepts = |revision, definition: &str, value: &Value| {
            check_core(Era::Legacy, revision, definition, value).is_some_and(|violations| violations.is_empty())
        };
        let (before, since) = (Some(Revision::V2025_06_18), Some(Revision::V2025_11_25));
        let cancelled = "notifications/cancelled:params";
        assert!(!accepts(before, cancelled, &json!({})) && accepts(before, cancelled, &json!({"requestId": 7.0})));
        assert!(accepts(since, cancelled, &json!({})) && accepts(None, cancelled, &json!({})));
        let block = json!({"type": "text", "text": "x"});
        for (content, earlier) in [(json!([block]), false), (block.clone(), true)] {
            let message = json!({"role": "user", "content": content});
            let asks = json!({"messages": [message], "maxTokens": 1});
            let says = json!({"role": "assistant", "content": content, "model": "m"});
            for (part, value) in [("params", asks), ("result", says)] {
                let definition = format!("sampling/createMessage:{part}");
                assert_eq!(accepts(before, &definition, &value), earlier, "{value}");
                assert!(accepts(since, &definition, &value), "{value}");
            }
        }
        for (name, last) in EARLIER {
            assert!(LEGACY.defines(name) && LEGACY.defines(&format!("{name}@{}", last.as_str())));
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
