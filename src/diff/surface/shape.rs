//! A schema in a form that can be compared: references resolved, and all spellings of the same thing made one.

use super::exact;
use super::facets::{PATTERNS, is_bound};
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
    /// The types other than null, unless only null is valid; `None` for any.
    pub types: Option<BTreeSet<String>>,
    /// Whether null is valid; `None` if the alternatives decide that.
    pub nullable: Option<bool>,
    /// The values that `enum` or `const` lists, without null and without those of other types.
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
            Value::Bool(false) => {
                return Self { types: Some(BTreeSet::new()), nullable: Some(false), ..Self::default() };
            }
            _ => Map::new(),
        };
        merge_conditions(&mut rest);
        let is_nullable = take_nullable(&mut rest);
        let own = admits_null(&rest);
        let (union, by_union) = take_union(&mut rest, root, hops);
        let mut types = take_types(&mut rest);
        take_whole_numbers(&mut rest, &mut types);
        let nullable = match (is_nullable, own) {
            (true, _) => Some(true),
            (false, false) => Some(false),
            (false, true) => by_union,
        };
        if let Some(types) = &mut types {
            types.remove("null");
        }
        let values = take_values(&mut rest).map(|mut values| {
            values.retain(|value| !value.is_null() && types.as_ref().is_none_or(|types| covers(types, type_of(value))));
            values
        });
        if let Some(values) = &values {
            types = Some(values.iter().map(|value| type_of(value).to_owned()).collect());
        }
        let values = values.filter(|values| !values.is_empty());
        if let Some(types) = types.as_mut().filter(|types| types.is_empty() && nullable == Some(true)) {
            types.insert("null".to_owned());
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

    /// Returns whether null is valid; `None` if other keywords may refuse it.
    pub(super) fn surely_nullable(&self) -> Option<bool> {
        let may_refuse = self.rest.keys().any(|name| is_about_null(name) && !is_annotation(name));
        self.nullable.filter(|it| !it || !may_refuse)
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

/// The names of types that mean something.
const TYPES: &[&str] = &["null", "boolean", "integer", "number", "string", "array", "object"];

/// Takes the types. What names no types stays.
fn take_types(rest: &mut Map<String, Value>) -> Option<BTreeSet<String>> {
    let types = types_of(rest)?;
    rest.shift_remove("type");
    Some(types)
}

fn types_of(members: &Map<String, Value>) -> Option<BTreeSet<String>> {
    let types: BTreeSet<String> = match members.get("type")? {
        Value::String(one) => BTreeSet::from([one.clone()]),
        Value::Array(several) => several.iter().map(|one| one.as_str().map(str::to_owned)).collect::<Option<_>>()?,
        _ => return None,
    };
    types.iter().all(|name| TYPES.contains(&&**name)).then_some(types)
}

fn take_nullable(members: &mut Map<String, Value>) -> bool {
    match members.get("nullable") {
        Some(Value::Bool(value)) => {
            let is_nullable = *value;
            members.shift_remove("nullable");
            is_nullable
        }
        _ => false,
    }
}

/// Returns whether the types and values of a schema admit null.
fn admits_null(members: &Map<String, Value>) -> bool {
    types_of(members).is_none_or(|types| types.contains("null"))
        && members.get("enum").and_then(Value::as_array).is_none_or(|values| values.contains(&Value::Null))
        && members.get("const").is_none_or(Value::is_null)
}

/// Takes the values that `enum` and `const` allow. What is no list of values stays.
fn take_values(rest: &mut Map<String, Value>) -> Option<Vec<Value>> {
    let only = rest.shift_remove("const");
    let listed = match rest.get("enum") {
        Some(Value::Array(values)) => Some(values.clone()),
        _ => None,
    };
    if listed.is_some() {
        rest.shift_remove("enum");
    }
    match (only, listed) {
        (Some(only), Some(mut listed)) => {
            listed.retain(|value| canonical(value) == canonical(&only));
            Some(listed)
        }
        (Some(only), None) => Some(vec![only]),
        (None, listed) => listed,
    }
}

/// Keywords that a condition may have if it is to become part of the schema around it.
const SIMPLE: &[&str] = &["type", "enum", "const", "properties", "required", "additionalProperties", "items"];

/// Makes the conditions of `allOf` part of the schema, if they say no more than that: all or none of them. Each keyword
/// must occur only once, except for those that add up.
fn merge_conditions(rest: &mut Map<String, Value>) {
    let Some(Value::Array(conditions)) = rest.get("allOf") else { return };
    let is_simple = |name: &String| {
        is_annotation(name) || SIMPLE.contains(&&**name) || is_bound(name) || PATTERNS.contains(&&**name)
    };
    let mut merged = rest.clone();
    merged.shift_remove("allOf");
    for condition in conditions.clone() {
        let Value::Object(members) = condition else { return };
        // As a flag, it is about the limit beside it.
        let is_flag = |(name, value): (&String, &Value)| is_bound(name) && value.is_boolean() && name != "uniqueItems";
        if !members.keys().all(is_simple) || members.iter().any(is_flag) || merged.iter().any(is_flag) {
            return;
        }
        let connected = |members: &Map<String, Value>| {
            let names = members.keys().filter(|name| CONNECTED.contains(&&***name));
            names.fold((false, false), |(_, other), name| (true, other || name != "properties"))
        };
        let (one, other) = (connected(&merged), connected(&members));
        if one.0 && other.0 && (one.1 || other.1) {
            return;
        }
        for (name, value) in members {
            let Some(known) = merged.get_mut(&name) else {
                merged.insert(name, value);
                continue;
            };
            match (known, value) {
                _ if is_annotation(&name) => {}
                (known, value) if name == "type" && *known == value => {}
                (Value::Object(known), Value::Object(more)) if name == "properties" => {
                    for (name, schema) in more {
                        if known.insert(name, schema).is_some() {
                            return;
                        }
                    }
                }
                (Value::Array(known), Value::Array(more)) if name == "required" => known.extend(more),
                _ => return,
            }
        }
    }
    *rest = merged;
}

/// Keywords that may refuse null, apart from those about types and values.
fn is_about_null(name: &str) -> bool {
    ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"].contains(&name) || name.starts_with('$')
}

/// Takes the alternatives out of a schema. A single alternative, or alternatives that are only types, become part of the
/// schema itself. Returns whether they accept null, as well, if that is known apart from them.
fn take_union(rest: &mut Map<String, Value>, root: &Value, hops: usize) -> (Option<Union>, Option<bool>) {
    let is_there = |rest: &Map<String, Value>, keyword: &str| rest.get(keyword).is_some_and(Value::is_array);
    let Some(keyword) = ["anyOf", "oneOf"].into_iter().find(|keyword| is_there(rest, keyword)) else {
        return (None, Some(true));
    };
    let Some(Value::Array(mut branches)) = rest.shift_remove(keyword) else { return (None, Some(true)) };
    // Both decide about null.
    if rest.contains_key("oneOf") {
        return (Some(Union { keyword, branches }), None);
    }
    let is_exclusive = keyword == "oneOf";
    let takes_null = branches.iter().any(|branch| is_null(branch, root))
        && (!is_exclusive || branches.iter().filter(|branch| may_be_null(branch, root)).count() == 1);
    if takes_null {
        branches.retain(|branch| !is_null(branch, root));
    }
    if !is_exclusive {
        let mut known = HashSet::new();
        branches.retain(|branch| known.insert(canonical(branch)));
    }
    if let (Some(hops), [only]) = (hops.checked_sub(1), &branches[..]) {
        match resolve(only, root).unwrap_or_else(|_| only.clone()) {
            Value::Bool(true) => return (None, Some(true)),
            Value::Object(mut members) if !takes_null || !members.keys().any(|name| is_about_null(name)) => {
                let is_nullable = take_nullable(&mut members) || takes_null;
                let own = admits_null(&members);
                if absorb(rest, members) {
                    let (union, by_union) = take_union(rest, root, hops);
                    return (
                        union,
                        if is_nullable { Some(true) } else { by_union.filter(|_| own).or((!own).then_some(false)) },
                    );
                }
            }
            _ => {}
        }
    }
    let null = match takes_null || branches.iter().any(|branch| may_be_null(branch, root)) {
        true => takes_null.then_some(true),
        false => Some(false),
    };
    if rest.contains_key("type") {
        return (Some(Union { keyword, branches }), null);
    }
    if branches.is_empty() && takes_null {
        rest.insert("type".to_owned(), "null".into());
        return (None, Some(true));
    }
    let type_of = |branch: &Value| only_type(&resolve(branch, root).ok()?);
    let types = branches.iter().map(type_of).collect::<Option<Vec<_>>>().filter(|types| !types.is_empty());
    let overlap = |types: &[String]| {
        let several: BTreeSet<String> = types.iter().cloned().collect();
        several.len() < types.len() || several.contains("number") && several.contains("integer")
    };
    if let Some(types) = types.filter(|types| !is_exclusive || !overlap(types)) {
        let null = takes_null || types.iter().any(|name| name == "null");
        rest.insert("type".to_owned(), types.into());
        return (None, Some(null));
    }
    (Some(Union { keyword, branches }), null)
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

/// Returns whether only null matches an alternative.
fn is_null(branch: &Value, root: &Value) -> bool {
    let Ok(Value::Object(members)) = resolve(branch, root) else { return false };
    let only = |name: &String| is_annotation(name) || ["type", "enum", "const"].contains(&&**name);
    let is_only_null = types_of(&members).is_some_and(|types| types.len() == 1)
        || members.get("enum").and_then(Value::as_array).is_some_and(|values| values.iter().all(Value::is_null))
        || members.contains_key("const");
    members.keys().all(only) && admits_null(&members) && is_only_null
}

/// Returns whether null may match an alternative.
fn may_be_null(branch: &Value, root: &Value) -> bool {
    match resolve(branch, root) {
        Ok(Value::Object(members)) => admits_null(&members) || members.get("nullable") == Some(&Value::Bool(true)),
        Ok(other) => other != false,
        Err(_) => true,
    }
}

/// Returns the type of a schema that says nothing else.
fn only_type(branch: &Value) -> Option<String> {
    let members = branch.as_object()?;
    let constrains = members.keys().filter(|name| !is_annotation(name)).count();
    let types = types_of(members).filter(|types| constrains == 1 && types.len() == 1)?;
    types.into_iter().next()
}

/// Returns a value as text that is the same for equal values.
pub(super) fn canonical(value: &Value) -> String {
    super::sorted(&plain(value)).to_string()
}

/// Below this, every integer is a floating-point number of its own.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Writes numbers without a fraction as integers: in JSON Schema, `1.0` is `1`.
fn plain(value: &Value) -> Value {
    match value {
        // It is exact within the limit.
        Value::Number(number) => {
            match number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT) {
                Some(float) => Value::from(float as i64),
                None => value.clone(),
            }
        }
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), plain(value))).collect(),
        other => other.clone(),
    }
}

/// Returns the type of a value; a number without a fraction is an integer.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.as_f64().is_some_and(|float| number.is_f64() && float.fract() != 0.0) => {
            "number"
        }
        Value::Number(_) => "integer",
        Value::String(text) => exact::type_of(text).unwrap_or("string"),
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
        assert_eq!((expected.nullable, &expected.types), (Some(true), &Some(BTreeSet::from(["string".to_owned()]))));
        for spelling in [
            json!({"type": "string", "nullable": true}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            json!({"oneOf": [{"type": "null"}, {"type": "string"}]}),
            json!({"anyOf": [{"type": "string"}, {"const": null}]}),
        ] {
            assert_eq!(Shape::of(&spelling, &spelling), expected, "{spelling}");
        }
        let listed = Shape::of(&json!({"enum": ["a", null]}), &Value::Null);
        assert_eq!((listed.nullable, listed.values), (Some(true), Some(vec![json!("a")])));
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
