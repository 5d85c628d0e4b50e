//! JSON Schemas for people: an outline of members, and an example that conforms.

use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// How deep an outline and an example go.
const MAX_DEPTH: usize = 5;
/// The maximum number of lines of an outline.
const MAX_LINES: usize = 120;

/// A line of an outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutlineLine {
    /// How deep the member is, from 0.
    pub depth: usize,
    /// Its name; `[]` for an item of an array, `*` for a member with any name.
    pub name: String,
    /// Its type, or the values that it may have.
    pub what: String,
    /// Whether it must be there.
    pub is_required: bool,
}

/// A definition of a schema document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Definition<'a> {
    document: &'a Value,
    schema: &'a Value,
}

impl<'a> Definition<'a> {
    /// Returns the definition of this name, such as `tools/call:params`.
    pub(crate) fn find(document: &'a Value, name: &str) -> Option<Self> {
        document["$defs"].get(name).map(|schema| Self { document, schema })
    }

    /// Returns the members, outermost first, each followed by what it contains.
    pub(crate) fn outline(self) -> Vec<OutlineLine> {
        let mut lines = Vec::new();
        let mut walk = Walk { document: self.document, shown: BTreeSet::new(), lines: &mut lines };
        walk.members(self.schema, 0);
        lines
    }

    /// Returns a value that conforms: with the required members, and no more.
    pub(crate) fn example(self) -> Value {
        example(self.document, self.schema, &Value::Null, "", 0)
    }

    /// Returns a JSON Schema of its own, with the definitions that it needs.
    pub(crate) fn standalone(self, title: &str) -> Value {
        let mut needed = BTreeSet::new();
        collect(self.document, self.schema, &mut needed);
        let definitions: Map<String, Value> =
            needed.into_iter().map(|name| (name.to_owned(), self.document["$defs"][name].clone())).collect();
        let mut schema = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title});
        if let (Some(members), Some(own)) = (schema.as_object_mut(), self.schema.as_object()) {
            members.extend(own.iter().map(|(name, value)| (name.clone(), value.clone())));
            if !definitions.is_empty() {
                members.insert("$defs".to_owned(), definitions.into());
            }
        }
        schema
    }
}

/// Returns the name of the definition that a schema refers to.
fn referred(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix("#/$defs/")
}

/// Follows references.
fn resolved<'a>(document: &'a Value, mut schema: &'a Value) -> &'a Value {
    for _ in 0..MAX_DEPTH {
        let Some(name) = referred(schema) else { break };
        schema = &document["$defs"][name.replace("~1", "/").replace("~0", "~").as_str()];
    }
    schema
}

/// Collects the names of all definitions that a schema refers to.
fn collect<'a>(document: &'a Value, schema: &'a Value, needed: &mut BTreeSet<&'a str>) {
    if let Some(name) = referred(schema)
        && needed.insert(name)
    {
        collect(document, &document["$defs"][name], needed);
    }
    match schema {
        Value::Object(members) => members.values().for_each(|value| collect(document, value, needed)),
        Value::Array(items) => items.iter().for_each(|value| collect(document, value, needed)),
        _ => {}
    }
}

/// Returns the schemas of which one applies: of `anyOf`, `oneOf`, and both sides of a condition.
fn alternatives(schema: &Value) -> Vec<&Value> {
    let listed = ["anyOf", "oneOf"].into_iter().filter_map(|name| schema[name].as_array()).flatten();
    let conditional = ["else", "then"].into_iter().filter_map(|name| schema.get(name));
    let all = schema["allOf"].as_array().into_iter().flatten().flat_map(|part| {
        let parts: Vec<&Value> = ["then", "else"].into_iter().filter_map(|name| part.get(name)).collect();
        parts
    });
    listed.chain(conditional).chain(all).collect()
}

/// Returns the schemas that apply together: those of `allOf` without a condition.
fn together(schema: &Value) -> impl Iterator<Item = &Value> {
    schema["allOf"].as_array().into_iter().flatten().filter(|part| part.get("if").is_none())
}

/// Writes an outline.
struct Walk<'a, 'b> {
    document: &'a Value,
    /// The definitions that were outlined.
    shown: BTreeSet<&'a str>,
    lines: &'b mut Vec<OutlineLine>,
}

impl<'a> Walk<'a, '_> {
    fn members(&mut self, schema: &'a Value, depth: usize) {
        let is_again = referred(schema).is_some_and(|name| !self.shown.insert(name));
        if depth < MAX_DEPTH && !is_again && self.lines.len() < MAX_LINES {
            self.direct(resolved(self.document, schema), depth);
        }
    }

    fn direct(&mut self, schema: &'a Value, depth: usize) {
        let is_required =
            |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
        for (name, member) in schema["properties"].as_object().into_iter().flatten() {
            self.line(depth, name, member, is_required(name));
        }
        if schema["additionalProperties"].is_object() {
            self.line(depth, "*", &schema["additionalProperties"], false);
        }
        if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
            self.members(items, depth);
        }
        together(schema).for_each(|part| self.members(part, depth));
        for (number, one) in alternatives(schema).into_iter().enumerate() {
            let one_resolved = resolved(self.document, one);
            if one_resolved.get("properties").is_some() {
                let name = if number == 0 { "either" } else { "or" };
                self.line(depth, name, one, false);
            } else {
                self.members(one, depth);
            }
        }
    }

    fn line(&mut self, depth: usize, name: &str, schema: &'a Value, is_required: bool) {
        let items = schema.get("items").unwrap_or(schema);
        let was_shown = referred(schema).or_else(|| referred(items)).is_some_and(|name| self.shown.contains(name));
        let is_structured =
            |schema: &Value| ["object", "array"].iter().any(|kind| self.describe(schema).contains(kind));
        let again = if was_shown && is_structured(schema) { " (as above)" } else { "" };
        let what = format!("{}{again}", self.describe(schema));
        self.lines.push(OutlineLine { depth, name: name.to_owned(), what, is_required });
        self.members(schema, depth + 1);
    }

    /// Returns the type of a value in a few words.
    fn describe(&self, schema: &Value) -> String {
        let schema = resolved(self.document, schema);
        if let Some(value) = schema.get("const") {
            return value.to_string();
        }
        if let Some(values) = schema["enum"].as_array() {
            return values.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
        }
        let kind = match &schema["type"] {
            Value::String(kind) => kind.clone(),
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | "),
            _ if schema.get("properties").is_some() => "object".to_owned(),
            _ => self.kinds(schema),
        };
        match (kind.as_str(), schema["items"].is_object()) {
            ("array", true) => format!("array of {}", self.describe(&schema["items"])),
            _ => kind,
        }
    }

    /// Returns the types of all alternatives.
    fn kinds(&self, schema: &Value) -> String {
        let mut kinds: Vec<String> = Vec::new();
        for one in alternatives(schema).into_iter().chain(together(schema)) {
            let kind = self.describe(one);
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        if kinds.is_empty() { "any value".to_owned() } else { kinds.join(" | ") }
    }
}

/// Values for members with these names, where the type alone would give a strange example.
const SAMPLES: &[(&str, &str)] = &[
    ("protocolVersion", "2025-11-25"),
    ("io.modelcontextprotocol/protocolVersion", "2026-07-28"),
    ("version", "1.0.0"),
    ("uri", "file:///notes.txt"),
    ("uriTemplate", "file:///{name}"),
    ("url", "https://example.com/form"),
    ("mimeType", "text/plain"),
    ("createdAt", "2026-01-01T00:00:00Z"),
    ("lastUpdatedAt", "2026-01-01T00:00:00Z"),
    ("timestamp", "2026-01-01T00:00:00Z"),
    ("expiresAt", "2026-01-01T00:00:00Z"),
    ("data", "aGVsbG8="),
    ("blob", "aGVsbG8="),
];

/// An example of a schema. `outer` has the properties of the schema that this one is a part of.
fn example(document: &Value, schema: &Value, outer: &Value, name: &str, depth: usize) -> Value {
    let schema = resolved(document, schema);
    if let Some(value) = schema.get("const").or_else(|| schema.get("enum")?.get(0)) {
        return value.clone();
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"].get(0)?.as_str());
    let is_object = kind == Some("object") || schema.get("properties").is_some() || schema.get("required").is_some();
    let base = match kind {
        _ if is_object => members(document, schema, outer, depth),
        Some("array") => items(document, schema, name, depth),
        Some("string") => string(schema, name).into(),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or_else(|| 1.into()),
        Some("boolean") => true.into(),
        Some("null") => Value::Null,
        _ => Value::Null,
    };
    let parts = together(schema).chain(alternatives(schema).into_iter().take(1));
    parts.fold(base, |value, part| merged(value, example(document, part, &schema["properties"], name, depth)))
}

/// The members of two examples together.
fn merged(value: Value, other: Value) -> Value {
    match (value, other) {
        (Value::Object(mut members), Value::Object(more)) => {
            more.into_iter().for_each(|(name, value)| {
                members.entry(name).or_insert(value);
            });
            members.into()
        }
        (Value::Null, other) => other,
        (value, _) => value,
    }
}

fn members(document: &Value, schema: &Value, outer: &Value, depth: usize) -> Value {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let member = |name: &str| {
        let inner = schema["properties"].get(name).or_else(|| outer.get(name)).unwrap_or(&Value::Null);
        (
            name.to_owned(),
            if depth > 2 * MAX_DEPTH { Value::Null } else { example(document, inner, &Value::Null, name, depth + 1) },
        )
    };
    Value::Object(required.map(member).collect())
}

fn items(document: &Value, schema: &Value, name: &str, depth: usize) -> Value {
    let is_wanted = schema["items"].is_object() && depth < MAX_DEPTH;
    if is_wanted { json!([example(document, &schema["items"], &Value::Null, name, depth + 1)]) } else { json!([]) }
}

fn string(schema: &Value, name: &str) -> String {
    let sample = SAMPLES.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    let by_format = match schema["format"].as_str() {
        Some("uri") => Some("https://example.com/".to_owned()),
        Some("date-time") => Some("2026-01-01T00:00:00Z".to_owned()),
        _ => None,
    };
    by_format.or(sample).unwrap_or_else(|| if name.is_empty() { "text".to_owned() } else { format!("a {name}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposals::REGISTRY;
    use crate::protocol::schema::{LEGACY, MODERN};

    fn outlined(document: &Value, name: &str) -> String {
        let lines = Definition::find(document, name).expect("a definition").outline();
        let line = |line: &OutlineLine| {
            let mark = if line.is_required { "!" } else { "" };
            format!("{}{}{mark}: {}", "  ".repeat(line.depth), line.name, line.what)
        };
        lines.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn an_outline_has_members_types_and_what_is_required() {
        let document = json!({"$defs": {
            "it": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string"},
                "mode": {"enum": ["a", "b"]},
                "list": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                "any": {"type": "object", "additionalProperties": {"type": "object", "properties": {"x": true}}},
            }},
            "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "kind": {"const": "n"}}},
        }});
        let expected = "name!: string\nmode: \"a\" | \"b\"\nlist: array of object\n  next: object (as above)\n  kind: \"n\"\n\
            any: object\n  *: object\n    x: any value";
        assert_eq!(outlined(&document, "it"), expected);
    }

    #[test]
    fn both_sides_of_a_condition_are_shown() {
        let text = outlined(LEGACY.document(), "elicitation/create:params");
        assert!(text.starts_with("either: object\n  ") && text.contains("\nor: object\n  "), "{text}");
        assert!(text.contains("requestedSchema!: ") && text.contains("url!: string"), "{text}");
    }

    #[test]
    fn every_definition_has_an_example_that_conforms() {
        let proposals = REGISTRY.iter().map(|proposal| proposal.descriptor().schemas);
        let mut seen = 0;
        for set in [&LEGACY, &MODERN].into_iter().chain(proposals) {
            let names = set.document()["$defs"].as_object().expect("definitions").keys();
            for name in names.filter(|name| name.ends_with(":params") || name.ends_with(":result")) {
                let example = Definition::find(set.document(), name).expect("defined").example();
                assert_eq!(set.check(name, &example), Some(vec![]), "{name}: {example}");
                seen += 1;
            }
        }
        assert!(seen > 120, "{seen}");
    }

    #[test]
    fn a_schema_of_its_own_accepts_and_refuses_what_the_definition_does() {
        let schema = Definition::find(LEGACY.document(), "tools/call:params").expect("defined").standalone("t");
        let validator = jsonschema::draft202012::new(&schema).expect("compiles");
        assert!(validator.is_valid(&json!({"name": "x"})) && !validator.is_valid(&json!({"name": 7})));
        assert!(!validator.is_valid(&json!({"name": "x", "task": {"ttl": "long"}})));
        let names: Vec<&str> = schema["$defs"].as_object().expect("definitions").keys().map(String::as_str).collect();
        assert!(names.contains(&"TaskMetadata") && !names.contains(&"Prompt"), "{names:?}");
    }
}
