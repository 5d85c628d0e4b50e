//! JSON Schemas by method: documents whose definitions are named `METHOD:params` and `METHOD:result`, compiled on first
//! use.

use super::revision::{Era, Revision};
use crate::wire::mask::masked;
use foldhash::fast::RandomState;
use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::OnceLock;

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

/// A definition's name after its last colon, and its validator once it was needed; `None` if it does not compile.
type Slot = (String, OnceLock<Option<Box<Validator>>>);

/// A schema document, with the validators compiled so far.
pub struct SchemaSet {
    text: &'static str,
    document: OnceLock<Value>,
    /// The definitions by their names before the last colon, so that nobody has to put a name together.
    compiled: OnceLock<HashMap<String, Vec<Slot>, RandomState>>,
}

impl SchemaSet {
    /// Creates a set from the text of its document, which is parsed on first use.
    pub const fn new(text: &'static str) -> Self {
        Self { text, document: OnceLock::new(), compiled: OnceLock::new() }
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
        let (owner, part) = split(name);
        self.check_part(owner, part, value)
    }

    /// Returns the violations of `value` against the definition `owner:part`, as [`Self::check`] does.
    pub fn check_part(&self, owner: &str, part: &str, value: &Value) -> Option<Vec<SchemaViolation>> {
        let validator = self.validator(owner, part)?;
        if validator.is_valid(value) {
            return Some(Vec::new());
        }
        Some(validator.iter_errors(value).map(|error| violation(&error)).collect())
    }

    fn validator(&self, owner: &str, part: &str) -> Option<&Validator> {
        let slots = self.compiled.get_or_init(|| self.slots()).get(owner)?;
        let (_, compiled) = slots.iter().find(|(name, _)| name == part)?;
        compiled.get_or_init(|| self.compile(owner, part)).as_deref()
    }

    fn slots(&self) -> HashMap<String, Vec<Slot>, RandomState> {
        let mut slots: HashMap<String, Vec<Slot>, RandomState> = HashMap::default();
        for name in self.document()["$defs"].as_object().into_iter().flat_map(|definitions| definitions.keys()) {
            let (owner, part) = split(name);
            slots.entry(owner.to_owned()).or_default().push((part.to_owned(), OnceLock::new()));
        }
        slots
    }

    fn compile(&self, owner: &str, part: &str) -> Option<Box<Validator>> {
        let name = if part.is_empty() { owner.to_owned() } else { format!("{owner}:{part}") };
        let pointer = name.replace('~', "~0").replace('/', "~1");
        let root = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$defs": self.document()["$defs"],
            "$ref": format!("#/$defs/{pointer}"),
        });
        jsonschema::draft202012::new(&root).ok().map(Box::new)
    }
}

/// Splits the name of a definition at its last colon.
fn split(name: &str) -> (&str, &str) {
    name.rsplit_once(':').unwrap_or((name, ""))
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
    let validator = jsonschema::draft202012::new(schema).ok()?;
    let certain = |error: &ValidationError<'_>| {
        let of_shape =
            matches!(error.kind(), Kind::Type { .. } | Kind::Required { .. } | Kind::AdditionalProperties { .. });
        of_shape || !is_open(error.instance())
    };
    Some(validator.iter_errors(template).filter(certain).map(|error| violation(&error)).collect())
}

fn violation(error: &ValidationError<'_>) -> SchemaViolation {
    SchemaViolation { place: error.instance_path().to_string(), reason: shorten(&masked(&reason(error))) }
}

fn reason(error: &ValidationError<'_>) -> String {
    /// Of more values, the library names the first ones.
    const MAX_VALUES: usize = 12;
    match error.kind() {
        Kind::Enum { options } if options.as_array().is_some_and(|values| values.len() <= MAX_VALUES) => {
            let values: Vec<String> = options.as_array().into_iter().flatten().map(Value::to_string).collect();
            format!("{} is not one of {}", error.instance(), values.join(", "))
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => alternatives(error, context),
        _ => error.to_string(),
    }
}

/// Describes a value that has none of the allowed forms: by the only form whose type and constants it has, if there is
/// one.
fn alternatives(error: &ValidationError<'_>, forms: &[Vec<ValidationError<'_>>]) -> String {
    let (value, at) = (error.instance(), error.instance_path().to_string());
    let is_type = |found: &ValidationError<'_>| {
        matches!(found.kind(), Kind::Type { .. }) && found.instance_path().to_string() == at
    };
    let is_other = |found: &ValidationError<'_>| {
        matches!(found.kind(), Kind::Constant { .. } | Kind::Enum { .. }) || is_type(found)
    };
    let closest: Vec<_> = forms.iter().filter(|form| !form.iter().any(is_other)).collect();
    if let [form] = closest[..]
        && let Some(first) = form.first()
    {
        let place = first.instance_path().to_string();
        let within = match place.strip_prefix(&at) {
            None | Some("") => String::new(),
            Some(within) => format!(" at {within}"),
        };
        return format!("{value} has none of the allowed forms; the closest one fails{within}: {}", reason(first));
    }
    let type_of = |form: &Vec<ValidationError<'_>>| match &form[..] {
        [only] if is_type(only) => only.to_string().rsplit_once(" is not of type ").map(|(_, named)| named.to_owned()),
        _ => None,
    };
    match forms.iter().map(type_of).collect::<Option<Vec<String>>>() {
        Some(types) if !types.is_empty() => format!("{value} is not of type {}", types.join(" or ")),
        _ => format!("{value} has none of the {} allowed forms", forms.len()),
    }
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

/// The definitions that apply only up to a revision, as method and part. They are named `METHOD:PART@REVISION`; later
/// ones have the plain name.
const EARLIER: [((&str, &str), Revision); 4] = [
    (("elicitation/create", "result"), Revision::V2025_06_18),
    (("notifications/cancelled", "params"), Revision::V2025_06_18),
    (("sampling/createMessage", "params"), Revision::V2025_06_18),
    (("sampling/createMessage", "result"), Revision::V2025_06_18),
];

/// Returns whether a message of this method must have `params`, though an empty object conforms to their schema.
pub(crate) fn needs_params(method: &str) -> bool {
    method == "notifications/cancelled"
}

/// Returns the violations of a value against a part of a method of MCP in a revision; `None` if it is not defined.
/// Without a revision, the newest one of the era applies.
pub(crate) fn check_core(
    era: Era,
    revision: Option<Revision>,
    (method, part): (&str, &str),
    value: &Value,
) -> Option<Vec<SchemaViolation>> {
    let applies = |last: Revision| revision.is_some_and(|revision| revision <= last);
    match EARLIER.iter().find(|(name, last)| applies(*last) && *name == (method, part)) {
        Some((_, last)) => LEGACY.check(&format!("{method}:{part}@{}", last.as_str()), value),
        None => core(era).check_part(method, part, value),
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
    fn a_value_of_no_allowed_form_is_compared_with_the_closest() {
        let form = |kind: &str, member: &str| {
            json!({"type": "object", "required": ["type", member],
                "properties": {"type": {"const": kind}, member: {"type": "string"}}})
        };
        let reasons = |schema: Value, value: Value| -> Vec<String> {
            let validator = jsonschema::draft202012::new(&schema).expect("a schema");
            validator.iter_errors(&value).map(|error| violation(&error).to_string()).collect()
        };
        for keyword in ["anyOf", "oneOf"] {
            let block = json!({"items": {keyword: [form("text", "text"), form("image", "data")]}});
            let of = |block_value: Value| reasons(block.clone(), json!([block_value]));
            assert_eq!(
                of(json!({"type": "text", "text": 7})),
                [
                    r#"/0: {"type":"text","text":7} has none of the allowed forms; the closest one fails at /text: 7 is not of type "string""#
                ]
            );
            assert_eq!(
                of(json!({"type": "image"})),
                [
                    r#"/0: {"type":"image"} has none of the allowed forms; the closest one fails: "data" is a required property"#
                ]
            );
            assert_eq!(of(json!({"type": "video"})), [r#"/0: {"type":"video"} has none of the 2 allowed forms"#]);
            let simple = json!({keyword: [{"type": "string"}, {"type": "array"}]});
            assert_eq!(reasons(simple, json!(7)), [r#"7 is not of type "string" or "array""#]);
        }
    }

    #[test]
    fn every_definition_compiles() {
        for set in [&LEGACY, &MODERN] {
            let names: Vec<String> =
                set.document()["$defs"].as_object().expect("definitions").keys().cloned().collect();
            assert!(names.len() > 50);
            for name in names {
                let (owner, part) = split(&name);
                assert!(set.validator(owner, part).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn some_definitions_apply_up_to_a_revision_only() {
        let accepts = |revision, definition: &str, value: &Value| {
            check_core(Era::Legacy, revision, split(definition), value).is_some_and(|violations| violations.is_empty())
        };
        let (before, since) = (Some(Revision::V2025_06_18), Some(Revision::V2025_11_25));
        let cancelled = "notifications/cancelled:params";
        assert!(!accepts(before, cancelled, &json!({})) && accepts(before, cancelled, &json!({"requestId": 7.0})));
        assert!(accepts(since, cancelled, &json!({})) && accepts(None, cancelled, &json!({})));
        let selected = json!({"action": "accept", "content": {"colours": ["red"]}});
        let elicited = "elicitation/create:result";
        assert!(!accepts(before, elicited, &selected) && accepts(since, elicited, &selected));
        assert!(accepts(before, elicited, &json!({"action": "accept", "content": {"n": 7.5, "yes": true, "t": "x"}})));
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
        for ((method, part), last) in EARLIER {
            let name = format!("{method}:{part}");
            assert!(LEGACY.defines(&name) && LEGACY.defines(&format!("{name}@{}", last.as_str())));
        }
    }

    #[test]
    fn a_violation_names_its_place() {
        let bad = json!({"name": 7, "arguments": {}});
        let violations = LEGACY.check("tools/call:params", &bad).expect("defined");
        assert_eq!(violations[0].place, "/name");
        assert_eq!(LEGACY.check("tools/call:params", &json!({"name": "echo"})), Some(vec![]));
        assert_eq!(LEGACY.check("no/such:params", &bad), None);
        let levels = LEGACY.check("logging/setLevel:params", &json!({"level": "loud"})).expect("defined");
        assert!(levels[0].reason.starts_with("\"loud\" is not one of \"") && levels[0].reason.contains("emergency"));
    }
}
