//! A schema in a form that can be compared: references resolved, and all spellings of the same thing made one.

use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// At most this many references are followed from one to the next.
const MAX_HOPS: usize = 16;

/// Members that say nothing about which values are valid.
const ANNOTATIONS: &[&str] = &[
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "$schema",
    "$id",
    "$anchor",
    "$defs",
    "definitions",
    "x-mcp-header",
];

/// Returns whether a member says nothing about which values are valid.
pub(super) fn is_annotation(name: &str) -> bool {
    ANNOTATIONS.contains(&name) || name.starts_with("x-")
}

/// The alternatives or conditions of a schema.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Union {
    /// `anyOf` or `oneOf`.
    pub keyword: &'static str,
    /// The alternatives.
    pub branches: Vec<Value>,
}

/// A schema in a form that can be compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Shape {
    /// The types other than null; `None` for any.
    pub types: Option<BTreeSet<String>>,
    /// Whether null was accepted explicitly.
    pub nullable: bool,
    /// The values that `enum` or `const` lists, without null.
    pub values: Option<Vec<Value>>,
    /// The alternatives.
    pub union: Option<Union>,
    /// All other members.
    pub rest: Map<String, Value>,
}

impl Shape {
    /// Reads a schema whose references are resolved.
    pub(super) fn of(schema: &Value, root: &Value) -> Self {
        Self::within(schema, root, MAX_HOPS)
    }

    /// Reads a schema, and at most `hops` alternatives that are the only one of their schema.
    fn within(schema: &Value, root: &Value, hops: usize) -> Self {
        let mut rest = match schema {
            Value::Object(members) => members.clone(),
            Value::Bool(false) => return Self { types: Some(BTreeSet::new()), ..Self::default() },
            _ => Map::new(),
        };
        let mut nullable = rest.shift_remove("nullable") == Some(Value::Bool(true));
        let union = take_union(&mut rest, root, &mut nullable, hops);
        let mut types = rest.shift_remove("type").and_then(type_set);
        if let Some(types) = types.as_mut().filter(|types| types.len() > 1) {
            nullable |= types.remove("null");
        }
        let mut values = take_values(&mut rest);
        if let Some(values) = values.as_mut().filter(|values| values.len() > 1) {
            let before = values.len();
            values.retain(|value| !value.is_null());
            nullable |= values.len() < before;
        }
        if types.is_none() {
            types = values.as_ref().map(|values| values.iter().map(|value| type_of(value).to_owned()).collect());
        }
        Self { types, nullable, values, union, rest }
    }

    /// Returns whether it constrains what values are valid at all.
    pub(super) fn is_any(&self) -> bool {
        self.types.is_none()
            && self.values.is_none()
            && self.union.is_none()
            && self.rest.keys().all(|name| is_annotation(name))
    }

    /// Returns whether it consists of alternatives only.
    pub(super) fn is_pure_union(&self) -> bool {
        self.union.is_some()
            && self.types.is_none()
            && self.values.is_none()
            && self.rest.keys().all(|name| is_annotation(name))
    }
}

/// Returns whether a set of types contains a type; `number` contains `integer`.
pub(super) fn covers(types: &BTreeSet<String>, type_name: &str) -> bool {
    types.contains(type_name) || (type_name == "integer" && types.contains("number"))
}

fn type_set(types: Value) -> Option<BTreeSet<String>> {
    match types {
        Value::String(one) => Some(BTreeSet::from([one])),
        Value::Array(several) => Some(several.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
        _ => None,
    }
}

fn take_values(rest: &mut Map<String, Value>) -> Option<Vec<Value>> {
    let only = rest.shift_remove("const").map(|value| vec![value]);
    match rest.shift_remove("enum") {
        Some(Value::Array(values)) => Some(only.unwrap_or(values)),
        _ => only,
    }
}

/// Takes the alternatives out of a schema. An alternative that is only null makes the schema nullable, and a single
/// alternative, or alternatives that are only types, become part of the schema itself.
fn take_union(rest: &mut Map<String, Value>, root: &Value, nullable: &mut bool, hops: usize) -> Option<Union> {
    let keyword = ["anyOf", "oneOf"].into_iter().find(|keyword| rest.get(*keyword).is_some_and(Value::is_array))?;
    let Some(Value::Array(mut branches)) = rest.shift_remove(keyword) else { return None };
    let before = branches.len();
    branches.retain(|branch| !is_null(branch));
    *nullable |= branches.len() < before;
    if let (Some(hops), [only]) = (hops.checked_sub(1), &branches[..]) {
        let merged = resolve(only, root).unwrap_or_else(|| only.clone());
        let inner = Shape::within(&merged, root, hops);
        *nullable |= inner.nullable;
        let Value::Object(members) = merged else { return None };
        for (name, value) in members.into_iter().filter(|(name, _)| !["anyOf", "oneOf", "nullable"].contains(&&**name))
        {
            rest.entry(name).or_insert(value);
        }
        return inner.union;
    }
    let types = branches.iter().map(only_type).collect::<Option<Vec<_>>>().filter(|types| !types.is_empty());
    if let Some(types) = types.filter(|_| !rest.contains_key("type")) {
        rest.insert("type".to_owned(), types.into_iter().cloned().collect());
        return None;
    }
    Some(Union { keyword, branches })
}

fn is_null(branch: &Value) -> bool {
    branch["type"] == "null"
        || branch["enum"] == Value::Array(vec![Value::Null])
        || branch.get("const") == Some(&Value::Null)
}

/// Returns the type of a schema that says nothing else.
fn only_type(branch: &Value) -> Option<&Value> {
    let members = branch.as_object()?;
    let constrains = members.keys().filter(|name| !is_annotation(name)).count();
    members.get("type").filter(|found| constrains == 1 && found.is_string())
}

/// Returns the type of a value; a number without a fraction is an integer.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns a schema with its own reference replaced by what it refers to; members beside the reference stay. `None` if
/// the reference leads nowhere, or out of the document.
pub(super) fn resolve(schema: &Value, root: &Value) -> Option<Value> {
    let mut schema = schema.clone();
    for _ in 0..MAX_HOPS {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return Some(schema) };
        let place = reference.strip_prefix('#')?;
        let mut target = root.pointer(place)?.clone();
        if let (Value::Object(target), Value::Object(beside)) = (&mut target, &schema) {
            let beside = beside.iter().filter(|(name, _)| *name != "$ref");
            target.extend(beside.map(|(name, value)| (name.clone(), value.clone())));
        }
        schema = target;
    }
    None
}

/// Returns a schema without its annotations, at any depth: two such schemas are equal if they accept the same values
/// with the same words.
pub(super) fn bare(schema: &Value) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    let constraints = members.iter().filter(|(name, _)| !is_annotation(name));
    Value::Object(constraints.map(|(name, value)| (name.clone(), bare_member(name, value))).collect())
}

fn bare_member(name: &str, value: &Value) -> Value {
    match (name, value) {
        ("properties" | "patternProperties" | "dependentSchemas", Value::Object(schemas)) => {
            Value::Object(schemas.iter().map(|(name, schema)| (name.clone(), bare(schema))).collect())
        }
        ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => schemas.iter().map(bare).collect(),
        ("required", Value::Array(names)) => {
            let names: BTreeSet<&str> = names.iter().filter_map(Value::as_str).collect();
            names.into_iter().collect()
        }
        ("items" | "additionalProperties" | "not" | "if" | "then" | "else" | "contains" | "propertyNames", schema) => {
            bare(schema)
        }
        (_, other) => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn all_spellings_of_nullable_are_one() {
        let plain = json!({"type": ["string", "null"]});
        let expected = Shape::of(&plain, &plain);
        assert_eq!((expected.nullable, &expected.types), (true, &Some(BTreeSet::from(["string".to_owned()]))));
        for spelling in [
            json!({"type": "string", "nullable": true}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            json!({"oneOf": [{"type": "null"}, {"type": "string"}]}),
            json!({"anyOf": [{"type": "string"}, {"const": null}]}),
        ] {
            assert_eq!(Shape::of(&spelling, &spelling), expected, "{spelling}");
        }
        let listed = Shape::of(&json!({"enum": ["a", null]}), &Value::Null);
        assert_eq!((listed.nullable, listed.values), (true, Some(vec![json!("a")])));
    }

    #[test]
    fn references_are_followed_and_do_not_loop() {
        let root = json!({"$defs": {"a": {"$ref": "#/$defs/b", "description": "mine"}, "b": {"type": "string"},
            "loop": {"$ref": "#/$defs/loop"}}});
        let found = resolve(&json!({"$ref": "#/$defs/a"}), &root);
        assert_eq!(found, Some(json!({"type": "string", "description": "mine"})));
        for lost in ["#/$defs/loop", "#/$defs/none", "https://example.com/x.json"] {
            assert_eq!(resolve(&json!({ "$ref": lost }), &root), None, "{lost}");
        }
    }

    #[test]
    fn alternatives_that_refer_to_themselves_end() {
        let root = json!({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}});
        let shape = Shape::of(&root["$defs"]["a"], &root);
        assert!(shape.union.is_some());
    }

    #[test]
    fn annotations_go_but_properties_of_their_names_stay() {
        let schema = json!({"description": "x", "properties": {"description": {"type": "string", "title": "t"}},
            "required": ["b", "a"]});
        assert_eq!(bare(&schema), json!({"properties": {"description": {"type": "string"}}, "required": ["a", "b"]}));
    }
}
