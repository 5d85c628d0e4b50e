//! A schema in a form that can be compared: references resolved, and all spellings of the same thing made one.

use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashSet};
use url::Url;

/// At most this many alternatives that are the only one of their schema are followed from one to the next.
const MAX_HOPS: usize = 16;

/// Values that are nested more deeply are not searched.
const MAX_NESTING: usize = 128;

/// At most this many values of a schema with its definitions in place.
const MAX_UNFOLDED: usize = 4096;

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

/// Members that mean something else beside others of these: `additionalProperties` is about what `properties` lacks.
const CONNECTED: &[&str] = &[
    "properties",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "minContains",
    "maxContains",
    "if",
    "then",
    "else",
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
        take_whole_numbers(&mut rest, &mut types);
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

    /// Returns whether it accepts integers, and no other numbers.
    pub(super) fn is_integer(&self) -> bool {
        let is_there = |name: &str| self.types.as_ref().is_some_and(|types| types.contains(name));
        is_there("integer") && !is_there("number")
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
        let merged = resolve(only, root).unwrap_or_else(|_| only.clone());
        let inner = Shape::within(&merged, root, hops);
        let Value::Object(mut members) = merged else { return None };
        members.retain(|name, _| !["anyOf", "oneOf", "nullable"].contains(&&**name));
        if absorb(rest, members) {
            *nullable |= inner.nullable;
            return inner.union;
        }
    }
    let type_of = |branch: &Value| only_type(&resolve(branch, root).ok()?).cloned();
    let types = branches.iter().map(type_of).collect::<Option<Vec<_>>>().filter(|types| !types.is_empty());
    if let Some(types) = types.filter(|_| !rest.contains_key("type")) {
        rest.insert("type".to_owned(), types.into());
        return None;
    }
    Some(Union { keyword, branches })
}

/// Adds the members of a schema that must hold, too. Returns whether they mean the same there; if not, adds none.
fn absorb(rest: &mut Map<String, Value>, members: Map<String, Value>) -> bool {
    let differs =
        |(name, value): (&String, &Value)| !is_annotation(name) && rest.get(name).is_some_and(|other| other != value);
    let is_connected = |members: &Map<String, Value>| members.keys().any(|name| CONNECTED.contains(&&**name));
    if members.iter().any(differs) || is_connected(&members) && is_connected(rest) {
        return false;
    }
    for (name, value) in members {
        rest.entry(name).or_insert(value);
    }
    true
}

/// A number that is a multiple of 1 is an integer.
fn take_whole_numbers(rest: &mut Map<String, Value>, types: &mut Option<BTreeSet<String>>) {
    let Some(types) = types.as_mut().filter(|_| rest.get("multipleOf").and_then(Value::as_f64) == Some(1.0)) else {
        return;
    };
    if types.remove("number") {
        types.insert("integer".to_owned());
    }
    if types.contains("integer") {
        rest.shift_remove("multipleOf");
    }
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

/// Returns a schema with its own reference replaced by what it refers to; members beside the reference stay.
///
/// # Errors
/// The reference that leads nowhere, or out of the document.
pub(super) fn resolve(schema: &Value, root: &Value) -> Result<Value, String> {
    let (mut schema, mut followed_before) = (schema.clone(), HashSet::new());
    loop {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return Ok(schema) };
        // A reference that leads back to itself leads nowhere.
        if !followed_before.insert(reference.to_owned()) {
            return Err(reference.to_owned());
        }
        schema = followed(&schema, target(root, reference).ok_or(reference)?);
    }
}

/// Returns the target of a schema's reference, with the members beside the reference: both hold. If they differ, the
/// target becomes a condition of its own.
fn followed(schema: &Value, target: &Value) -> Value {
    let (Value::Object(target), Value::Object(beside)) = (target, schema) else { return target.clone() };
    let mut beside = beside.clone();
    beside.shift_remove("$ref");
    if absorb(&mut beside, target.clone()) {
        return beside.into();
    }
    match beside.entry("allOf").or_insert_with(|| Value::Array(Vec::new())) {
        Value::Array(conditions) => conditions.push(target.clone().into()),
        // Not a list, so no condition.
        other => *other = Value::Array(vec![target.clone().into()]),
    }
    beside.into()
}

/// Returns what a reference leads to in a document: a JSON Pointer, which may be percent-encoded (RFC 6901 §6), an
/// anchor, or the document itself.
fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    let is_own = |id: &str| {
        let base = Url::parse(id).ok();
        let named = base.as_ref().and_then(|base| base.join(document).ok());
        id.trim_end_matches('#') == document || named.is_some() && named == base
    };
    let is_here = document.is_empty() || root["$id"].as_str().is_some_and(is_own);
    let fragment = is_here.then_some(fragment)?;
    let decoded = percent_decoded(fragment);
    let found = match decoded.as_deref().unwrap_or(fragment) {
        "" => Some(root),
        // Some generators forget to encode a percent sign.
        pointer if pointer.starts_with('/') => root.pointer(pointer).or_else(|| root.pointer(fragment)),
        anchor => anchored(root, anchor, MAX_NESTING),
    };
    // Nothing else is a schema.
    found.filter(|schema| schema.is_object() || schema.is_boolean())
}

fn percent_decoded(text: &str) -> Option<String> {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let pair = (*byte == b'%').then(|| digit(bytes.get(at + 1)).zip(digit(bytes.get(at + 2)))).flatten();
        let found = pair.and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        out.push(found.unwrap_or(*byte));
        at += if found.is_some() { 3 } else { 1 };
    }
    String::from_utf8(out).ok()
}

/// Returns the schema with this anchor; in older drafts, an `$id` that is only a fragment.
fn anchored<'a>(value: &'a Value, anchor: &str, depth: usize) -> Option<&'a Value> {
    let depth = depth.checked_sub(1)?;
    match value {
        Value::Object(members) => {
            let is_it = ["$anchor", "$dynamicAnchor"].iter().any(|name| value[*name] == anchor)
                || value["$id"].as_str().and_then(|id| id.strip_prefix('#')) == Some(anchor);
            let inside = || members.values().find_map(|member| anchored(member, anchor, depth));
            if is_it { Some(value) } else { inside() }
        }
        Value::Array(items) => items.iter().find_map(|item| anchored(item, anchor, depth)),
        _ => None,
    }
}

/// Returns the definitions of a document.
pub(super) fn definitions(root: &Value) -> [&Value; 2] {
    [&root["$defs"], &root["definitions"]]
}

/// Returns whether a schema inside of a document has an `$id`, from which its references start.
pub(super) fn has_own_ids(root: &Value) -> bool {
    fn any(value: &Value, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return true };
        match value {
            Value::Object(members) => {
                value["$id"].as_str().is_some_and(|id| !id.starts_with('#'))
                    || members.values().any(|member| any(member, depth))
            }
            Value::Array(items) => items.iter().any(|item| any(item, depth)),
            _ => false,
        }
    }
    root.as_object().is_some_and(|members| members.values().any(|member| any(member, MAX_NESTING)))
}

/// Returns a schema without its annotations in which references are replaced by what they lead to, at any depth. A
/// reference to a schema that it is in stays. If that would be too much, all definitions are added instead.
pub(super) fn unfolded(schema: &Value, root: &Value) -> Value {
    let mut unfolding = Unfolding { root, within: Vec::new(), left: MAX_UNFOLDED };
    let found = unfolding.value(&bare(schema));
    match unfolding.left {
        0 => Value::from(vec![bare(schema), definitions(root).into_iter().cloned().collect()]),
        _ => found,
    }
}

struct Unfolding<'a> {
    root: &'a Value,
    /// The references that were followed to the current place.
    within: Vec<String>,
    /// How many more values there may be.
    left: usize,
}

impl Unfolding<'_> {
    fn value(&mut self, value: &Value) -> Value {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            return Value::Null;
        }
        match value {
            Value::Object(members) => self.object(value, members),
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            other => other.clone(),
        }
    }

    fn object(&mut self, schema: &Value, members: &Map<String, Value>) -> Value {
        let reference =
            schema.get("$ref").and_then(Value::as_str).filter(|one| !self.within.iter().any(|other| other == one));
        match reference.and_then(|reference| Some((reference, target(self.root, reference)?))) {
            Some((reference, target)) => {
                self.within.push(reference.to_owned());
                let found = self.value(&bare(&followed(schema, target)));
                self.within.pop();
                found
            }
            None => members.iter().map(|(name, value)| (name.clone(), self.value(value))).collect(),
        }
    }
}

/// Returns a schema without its annotations, at any depth: two such schemas are equal if they accept the same values
/// with the same words.
pub(super) fn bare(schema: &Value) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    let constraints = members.iter().filter(|(name, _)| !is_annotation(name));
    Value::Object(constraints.map(|(name, value)| (name.clone(), bare_member(name, value))).collect())
}

pub(super) fn bare_member(name: &str, value: &Value) -> Value {
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
    fn what_must_hold_alone_is_part_of_the_schema_unless_it_would_mean_something_else() {
        let root = json!({"$defs": {"text": {"type": "string", "minLength": 2}}});
        let is_text = Shape::of(&root["$defs"]["text"], &root);
        let to = json!({"$ref": "#/$defs/text"});
        for same in [json!({"anyOf": [to]}), json!({"oneOf": [to], "type": "string"})] {
            assert_eq!(Shape::of(&same, &root), is_text, "{same}");
        }
        for other in [
            json!({"allOf": [to], "minLength": 1}),
            json!({"anyOf": [to], "minLength": 1}),
            json!({"allOf": [to, {"maxLength": 9}]}),
            json!({"allOf": [to, {"minLength": 3}]}),
        ] {
            assert_ne!(Shape::of(&other, &root), is_text, "{other}");
            // What is behind it still counts.
            let mut wider = root.clone();
            wider["$defs"]["text"]["minLength"] = json!(0);
            let [before, after] = [&root, &wider].map(|root| unfolded(&other, root));
            assert_ne!(before, after, "{other}");
        }
        let closed = json!({"allOf": [{"properties": {"a": {}}}], "additionalProperties": false});
        assert!(Shape::of(&closed, &closed).rest.contains_key("allOf"), "it would allow a");
        let beside = resolve(&json!({"$ref": "#/$defs/text", "minLength": 1}), &root);
        assert_eq!(beside, Ok(json!({"minLength": 1, "allOf": [root["$defs"]["text"]]})));
    }

    #[test]
    fn a_number_that_is_a_multiple_of_one_is_an_integer() {
        let shape = |schema: Value| Shape::of(&schema, &schema);
        let integer = shape(json!({"type": "integer"}));
        for same in [json!({"type": "number", "multipleOf": 1}), json!({"type": "integer", "multipleOf": 1.0})] {
            assert_eq!(shape(same.clone()), integer, "{same}");
        }
        assert_ne!(shape(json!({"type": "number", "multipleOf": 2})), integer);
    }

    #[test]
    fn references_are_followed_and_do_not_loop() {
        let root = json!({"$defs": {"a": {"$ref": "#/$defs/b", "description": "mine"}, "b": {"type": "string"},
            "loop": {"$ref": "#/$defs/loop"}}});
        let found = resolve(&json!({"$ref": "#/$defs/a"}), &root);
        assert_eq!(found, Ok(json!({"type": "string", "description": "mine"})));
        for lost in ["#/$defs/loop", "#/$defs/none", "https://example.com/x.json", "#none", "#/$defs/%ff"] {
            assert_eq!(resolve(&json!({ "$ref": lost }), &root), Err(lost.to_owned()), "{lost}");
        }
    }

    #[test]
    fn references_are_followed_in_all_their_notations() {
        let names = ["L<A>", "a/b", "m~n", "50%25", "\u{e9}"];
        let mut root = json!({"$id": "https://example.com/root", "$defs": {"named": {"$anchor": "here", "type": "null"},
            "old": {"$id": "#there", "type": "null"}}});
        names.iter().for_each(|name| root["$defs"][*name] = json!({"title": name, "type": "null"}));
        for reference in [
            "#/$defs/L%3CA%3E",
            "#/$defs/L<A>",
            "#/$defs/a~1b",
            "#/$defs/a%7E1b",
            "#/$defs/m~0n",
            "#/$defs/50%25",
            "#/$defs/50%2525",
            "#/$defs/%C3%A9",
            "#/%24defs/named",
            "#here",
            "#there",
            "https://example.com/root#here",
        ] {
            let found = resolve(&json!({ "$ref": reference }), &root);
            assert!(found.as_ref().is_ok_and(|found| found["type"] == "null"), "{reference}: {found:?}");
        }
        assert_eq!(resolve(&json!({"$ref": "#"}), &root).as_ref(), Ok(&root));
    }

    #[test]
    fn a_schema_is_unfolded_with_its_definitions_and_ends() {
        let root = json!({"$defs": {"tree": {"properties": {"left": {"$ref": "#/$defs/tree"}, "leaf": {"$ref": "#/$defs/leaf"}}},
            "leaf": {"type": "string", "title": "a leaf"}}});
        let expected = json!({"properties": {"left": {"$ref": "#/$defs/tree"}, "leaf": {"type": "string"}}});
        assert_eq!(unfolded(&json!({"$ref": "#/$defs/tree"}), &root), expected);
        // Definitions that double with each step are not unfolded.
        let step = |n: usize| {
            let next = format!("#/$defs/d{}", n + 1);
            (format!("d{n}"), json!({"anyOf": [{"$ref": next}, {"$ref": next}]}))
        };
        let root = json!({"$defs": (0..40).map(step).collect::<Map<_, _>>()});
        assert_eq!(unfolded(&json!({"$ref": "#/$defs/d0"}), &root)[0], json!({"$ref": "#/$defs/d0"}));
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
