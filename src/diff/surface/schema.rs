//! Compares two JSON Schemas: is what was valid before still valid (for inputs), and can anything be valid that was not
//! before (for outputs)?

use super::dialect::{are_comparable, modern};
use super::exact;
use super::facets::{self, Moved, PATTERNS, Shift};
use super::rules::*;
use super::shape::{Shape, Union, canonical, covers, definitions, has_own_ids, is_annotation, resolve, unfolded};
use crate::wire::text::excerpt;
use serde_json::{Map, Value};
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};

/// Schemas that are nested more deeply are compared as a whole.
const MAX_DEPTH: usize = 48;

/// The maximum length of a value in what was seen, in characters.
const MAX_SHOWN: usize = 80;

/// With more alternatives than this, whether they exclude each other is not decided.
const MAX_BRANCHES: usize = 200;

/// At most this many values are shown.
const MAX_VALUES: usize = 20;

/// A reference to the document that it is in.
const WHOLE: &str = r##"{"$ref":"#"}"##;

/// At most this many findings for one schema.
const MAX_FOUND: usize = 1000;

/// Whose values a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Values that clients send.
    Input,
    /// Values that the server sends.
    Output,
}

/// A rule for inputs, and the one for outputs.
type Pair = (&'static SurfaceRule, &'static SurfaceRule);

/// Members that are not listed are allowed.
const EXTRA_ALLOWED: Pair = (&INPUT_EXTRA_ALLOWED, &RESULT_EXTRA_ALLOWED);

/// One difference of two schemas.
#[derive(Debug)]
pub(super) struct Delta {
    /// The rule.
    pub rule: &'static SurfaceRule,
    /// A JSON pointer from the root of the schema; in the old one if nothing is left of it in the new one.
    pub place: String,
    /// What was seen.
    pub seen: String,
}

/// Compares two schemas.
pub(super) fn compare(side: Side, old: &Value, new: &Value) -> Vec<Delta> {
    let (before, after) = (modern(old), modern(new));
    let (old, new) = (&*before, &*after);
    // The document itself is being compared.
    let seen = HashSet::from([(WHOLE.to_owned(), WHOLE.to_owned())]);
    let mut walker = Walker { side, roots: [old, new], place: String::new(), seen, depth: 0, found: Vec::new() };
    if !are_comparable(old, new) {
        let seen = from_to("$schema", old.get("$schema"), new.get("$schema"));
        walker.report_keyword("$schema", (&INPUT_UNDECIDED, &RESULT_UNDECIDED), seen);
    }
    walker.schemas(old, new);
    // A reference inside of such a schema leads to that schema's own definitions.
    let has_own_ids = has_own_ids(old) || has_own_ids(new);
    if has_own_ids && definitions(old).map(canonical) != definitions(new).map(canonical) {
        walker.undecided("definitions changed, and schemas with an `$id` of their own may refer to them");
    }
    walker.found
}

struct Walker<'a> {
    side: Side,
    roots: [&'a Value; 2],
    place: String,
    /// Pairs of schemas with references that were already compared.
    seen: HashSet<(String, String)>,
    depth: usize,
    found: Vec<Delta>,
}

impl Walker<'_> {
    fn report(&mut self, (input, output): Pair, seen: impl Into<String>) {
        let rule = if self.side == Side::Input { input } else { output };
        if self.found.len() < MAX_FOUND {
            self.found.push(Delta { rule, place: self.place.clone(), seen: seen.into() });
        }
    }

    /// Reports a difference of one keyword of the schema.
    fn report_keyword(&mut self, keyword: &str, pair: Pair, seen: impl Into<String>) {
        self.below(&[keyword], |walker| walker.report(pair, seen));
    }

    fn undecided(&mut self, seen: impl Into<String>) {
        self.report((&INPUT_UNDECIDED, &RESULT_UNDECIDED), seen);
    }

    /// Does something with the place below `steps`.
    fn below(&mut self, steps: &[&str], work: impl FnOnce(&mut Self)) {
        let length = self.place.len();
        for step in steps {
            self.place.push('/');
            self.place.push_str(&step.replace('~', "~0").replace('/', "~1"));
        }
        self.depth += 1;
        work(self);
        self.depth -= 1;
        self.place.truncate(length);
    }

    fn schemas(&mut self, old: &Value, new: &Value) {
        let [old_root, new_root] = self.roots;
        if self.depth > MAX_DEPTH {
            if key(old, old_root) != key(new, new_root) {
                self.undecided("a deeply nested schema changed");
            }
            return;
        }
        let is_schema = |value: &Value| value.is_object() || value.is_boolean();
        if !is_schema(old) || !is_schema(new) {
            if canonical(old) != canonical(new) {
                self.undecided("what is no schema changed");
            }
            return;
        }
        let refers = |schema: &Value| schema.get("$ref").is_some();
        if (refers(old) || refers(new)) && !self.seen.insert((canonical(old), canonical(new))) {
            return;
        }
        match (resolve(old, old_root), resolve(new, new_root)) {
            (Ok(old), Ok(new)) => self.resolved(&old, &new),
            (Err(one), Err(other)) if one == other && canonical(old) == canonical(new) => {}
            (Ok(_), Err(lost)) => self.undecided(format!("{lost} no longer leads to a definition")),
            (Err(found), Ok(_)) => self.undecided(format!("{found} led to no definition before")),
            (Err(_), Err(lost)) => self.undecided(format!("{lost} leads to no definition")),
        }
    }

    fn resolved(&mut self, old: &Value, new: &Value) {
        let [old_root, new_root] = self.roots;
        let (one, other) = (Shape::of(old, old_root), Shape::of(new, new_root));
        // The only alternative refers to nothing.
        if one.rest.get("$ref") != other.rest.get("$ref") {
            return self.undecided("a reference leads to no definition");
        }
        self.annotations(&one.rest, &other.rest);
        if self.one_became_union(&one, &other) {
            return;
        }
        self.null(&one, &other);
        if !self.types(&one, &other) {
            return;
        }
        self.values(&one, &other);
        self.unions(one.union.as_ref(), other.union.as_ref());
        self.facets(&one, &other);
        self.objects(&one, &other);
        self.arrays(&one.rest, &other.rest);
        self.conditions(&one.rest, &other.rest);
        self.other_keywords(&one.rest, &other.rest);
    }

    fn annotations(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        let differs = |name: &str| old.get(name) != new.get(name);
        // The title and description of the schema as a whole are those of the tool.
        if self.depth > 0 && (differs("description") || differs("title")) {
            let name = if differs("description") { "description" } else { "title" };
            let seen = from_to(name, old.get(name), new.get(name));
            self.report_keyword(name, (&INPUT_DESCRIPTION, &RESULT_DESCRIPTION), seen);
        }
        if differs("default") {
            let seen = from_to("default", old.get("default"), new.get("default"));
            self.report_keyword("default", (&INPUT_DEFAULT, &RESULT_DEFAULT), seen);
        }
        if self.side == Side::Input && differs("x-mcp-header") {
            let seen = from_to("x-mcp-header", old.get("x-mcp-header"), new.get("x-mcp-header"));
            self.report_keyword("x-mcp-header", (&INPUT_HEADER, &INPUT_HEADER), seen);
        }
    }

    /// Compares whether null is valid, unless that follows from the types.
    fn null(&mut self, old: &Shape, new: &Shape) {
        let is_by_type =
            |wide: &Shape, narrow: &Shape| wide.types.is_none() && (narrow.types.is_some() || wide.is_any());
        let is_known = old.is_null() || new.is_null() || is_by_type(old, new) || is_by_type(new, old);
        if !is_known {
            self.nullable(old.nullable, new.nullable);
        }
    }

    /// Compares whether null is valid; `None` if that depends.
    fn nullable(&mut self, old: Option<bool>, new: Option<bool>) {
        let rank = |nullable: Option<bool>| nullable.map_or(1, |it| if it { 2 } else { 0 });
        match rank(old).cmp(&rank(new)) {
            Ordering::Greater => self.report((&INPUT_NULL_REFUSED, &RESULT_NULL_REFUSED), "null is no longer valid"),
            Ordering::Less => self.report((&INPUT_NULL_ALLOWED, &RESULT_NULL_ALLOWED), "null is now valid"),
            Ordering::Equal => {}
        }
    }

    /// Compares the types. Returns whether more can be said.
    fn types(&mut self, old: &Shape, new: &Shape) -> bool {
        if old.values.is_some() && new.values.is_some() {
            return true;
        }
        let named = |types: Option<&BTreeSet<String>>| match types {
            None => "any type".to_owned(),
            Some(types) if types.is_empty() => "nothing".to_owned(),
            Some(types) => types.iter().cloned().collect::<Vec<_>>().join(" or "),
        };
        let (before, after) = (old.types.as_ref(), new.types.as_ref());
        let adds = |types: &BTreeSet<String>, to: &BTreeSet<String>, shape: &Shape| {
            let is_known = |found: &str| covers(to, found) || found == "null" && shape.nullable == Some(true);
            types.iter().any(|found| !is_known(found))
        };
        let lost = match (before, after) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(before), Some(after)) => adds(before, after, new),
        };
        let gained = match (before, after) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(before), Some(after)) => adds(after, before, old),
        };
        let seen = format!("{} became {}", named(before), named(after));
        if lost {
            self.report_keyword("type", (&INPUT_TYPE_NARROWED, &RESULT_TYPE_NARROWED), &*seen);
        }
        if gained {
            self.report_keyword("type", (&INPUT_TYPE_WIDENED, &RESULT_TYPE_WIDENED), seen);
        }
        let is_nothing =
            |shape: &Shape| shape.nullable == Some(false) && shape.types.as_ref().is_some_and(BTreeSet::is_empty);
        match (before, after) {
            // If one side accepts anything or nothing, the other's constraints are all new or all gone.
            _ if is_nothing(old) || is_nothing(new) => false,
            (None, Some(_)) => !old.is_any(),
            (Some(_), None) => !new.is_any(),
            _ => !(lost && gained),
        }
    }

    fn values(&mut self, old: &Shape, new: &Shape) {
        let all = |values: &[Value]| {
            let texts: Vec<String> =
                values.iter().take(MAX_VALUES).map(|value| exact::written(&value.to_string())).collect();
            excerpt(&texts.join(", "), 2 * MAX_SHOWN)
        };
        let without = |values: &[Value], others: &[Value]| -> Vec<Value> {
            let others: HashSet<String> = others.iter().map(canonical).collect();
            values.iter().filter(|value| !others.contains(&canonical(value))).cloned().collect()
        };
        let (removed, added) = match (&old.values, &new.values) {
            (None, None) => return,
            (None, Some(new)) => (format!("only {} from now on", all(new)), String::new()),
            (Some(old), None) => (String::new(), format!("not only {} any more", all(old))),
            (Some(old), Some(new)) => {
                let (removed, added) = (without(old, new), without(new, old));
                let told = |values: &[Value], how: &str| match values {
                    [] => String::new(),
                    values => format!("{how} {}", all(values)),
                };
                (told(&removed, "no longer"), told(&added, "now also"))
            }
        };
        if !removed.is_empty() {
            self.report_keyword("enum", (&INPUT_VALUES_REMOVED, &RESULT_VALUES_REMOVED), removed);
        }
        if !added.is_empty() {
            self.report_keyword("enum", (&INPUT_VALUES_ADDED, &RESULT_VALUES_ADDED), added);
        }
    }

    fn facets(&mut self, one: &Shape, other: &Shape) {
        let (old, new) = (&one.rest, &other.rest);
        for Moved { before, after, shift } in facets::bounds(old, new, one.is_integer() || other.is_integer()) {
            let Some(keyword) = after.or(before) else { continue };
            let seen = match (before, after) {
                (Some(before), Some(after)) if before != after => {
                    let value =
                        |members: &Map<String, Value>, keyword: &str| members.get(keyword).cloned().unwrap_or_default();
                    format!("{before} {} became {after} {}", value(old, before), value(new, after))
                }
                _ => from_to(keyword, old.get(keyword), new.get(keyword)),
            };
            let pair: Pair = match shift {
                Shift::Narrower => (&INPUT_BOUND_TIGHTENED, &RESULT_BOUND_TIGHTENED),
                Shift::Wider => (&INPUT_BOUND_LOOSENED, &RESULT_BOUND_LOOSENED),
                Shift::Unknown => (&INPUT_UNDECIDED, &RESULT_UNDECIDED),
            };
            self.report_keyword(keyword, pair, seen);
        }
        for keyword in PATTERNS {
            let (before, after) = (old.get(*keyword), new.get(*keyword));
            let pair: Pair = match facets::pattern(before, after) {
                None => continue,
                Some(Shift::Narrower) => (&INPUT_PATTERN_ADDED, &RESULT_PATTERN_ADDED),
                Some(Shift::Wider) => (&INPUT_PATTERN_REMOVED, &RESULT_PATTERN_REMOVED),
                Some(Shift::Unknown) => (&INPUT_PATTERN_CHANGED, &RESULT_PATTERN_CHANGED),
            };
            self.report_keyword(keyword, pair, from_to(keyword, before, after));
        }
    }

    fn objects(&mut self, old: &Shape, new: &Shape) {
        let names = |shape: &Shape| -> BTreeSet<String> {
            let listed = shape.rest.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
            listed.cloned().chain(required(shape)).collect()
        };
        let (before, after) = (names(old), names(new));
        for name in before.union(&after) {
            self.below(&["properties", name], |walker| match (before.contains(name), after.contains(name)) {
                (true, true) => walker.property(name, old, new),
                (true, false) => walker.property_removed(name, old, new),
                _ => walker.property_added(name, old, new),
            });
        }
        self.extra(old, new);
    }

    fn property(&mut self, name: &str, old: &Shape, new: &Shape) {
        match (is_required(old, name), is_required(new, name)) {
            (false, true) => {
                self.report((&INPUT_BECAME_REQUIRED, &RESULT_GUARANTEED), format!("`{name}` is now required"));
            }
            (true, false) => {
                let seen = format!("`{name}` is no longer required");
                self.report((&INPUT_BECAME_OPTIONAL, &RESULT_NOT_GUARANTEED), seen);
            }
            _ => {}
        }
        let (one, other) = (listed(old, name), listed(new, name));
        if one.is_none() && other.is_none() {
            return;
        }
        // Which of them are about a member depends on its name.
        let is_by_name = |schema: Option<&Value>, shape: &Shape| schema.is_none() && has_patterns(shape);
        if is_by_name(one, old) || is_by_name(other, new) {
            return self.undecided(format!("`patternProperties` may be about `{name}`"));
        }
        let (extra, others_extra) = (extra_of(old), extra_of(new));
        self.schemas(one.unwrap_or(&extra), other.unwrap_or(&others_extra));
    }

    fn property_removed(&mut self, name: &str, old: &Shape, new: &Shape) {
        let seen = format!("`{name}` was removed");
        let extra = extra_of(new);
        match extra {
            Value::Bool(false) => self.report((&INPUT_REFUSED, &RESULT_REMOVED), seen),
            _ => self.report((&INPUT_REMOVED, &RESULT_REMOVED), seen),
        }
        if self.side == Side::Input && extra.is_object() {
            self.schemas(listed(old, name).unwrap_or(&Value::Bool(true)), &extra);
        }
    }

    fn property_added(&mut self, name: &str, old: &Shape, new: &Shape) {
        let schema = listed(new, name).cloned().unwrap_or(Value::Bool(true));
        let takes_any = Shape::of(&schema, self.roots[1]).is_any() && schema.get("$ref").is_none();
        let pair: Pair = if is_required(new, name) {
            (&INPUT_REQUIRED_ADDED, &RESULT_ADDED)
        } else if (allows_extra_explicitly(old) || has_patterns(old)) && !takes_any {
            (&INPUT_CLAIMED, &RESULT_ADDED)
        } else {
            (&INPUT_ADDED, &RESULT_ADDED)
        };
        self.report(pair, format!("`{name}` was added"));
        let extra = extra_of(old);
        match (self.side, &extra) {
            (Side::Output, Value::Bool(false)) => self.report(EXTRA_ALLOWED, "extra members were refused before"),
            (Side::Output, Value::Object(_)) => self.schemas(&extra, &schema),
            _ => {}
        }
    }

    fn extra(&mut self, old: &Shape, new: &Shape) {
        let refused: Pair = (&INPUT_EXTRA_REFUSED, &RESULT_EXTRA_REFUSED);
        let allowed = EXTRA_ALLOWED;
        self.below(&["additionalProperties"], |walker| match (&extra_of(old), &extra_of(new)) {
            (Value::Bool(one), Value::Bool(other)) if one == other => {}
            (_, Value::Bool(false)) => walker.report(refused, "extra members are refused"),
            (Value::Bool(false), _) => walker.report(allowed, "extra members are allowed"),
            (Value::Bool(_), _) => walker.report(refused, "extra members must match a schema"),
            (_, Value::Bool(_)) => walker.report(allowed, "extra members may be anything"),
            (one, other) => walker.schemas(one, other),
        });
    }

    fn arrays(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        let any = Value::Bool(true);
        let items = |members: &Map<String, Value>| members.get("items").cloned();
        if let (one, other) = (items(old), items(new))
            && (one.is_some() || other.is_some())
        {
            let (one, other) = (one.unwrap_or_else(|| any.clone()), other.unwrap_or(any));
            self.below(&["items"], |walker| walker.schemas(&one, &other));
        }
        let first = |members: &Map<String, Value>| members.get("prefixItems").and_then(Value::as_array).cloned();
        let (one, other) = (first(old).unwrap_or_default(), first(new).unwrap_or_default());
        if one.len() != other.len() {
            return self.undecided("prefixItems has another length");
        }
        for (at, (one, other)) in one.iter().zip(&other).enumerate() {
            self.below(&["prefixItems", &at.to_string()], |walker| walker.schemas(one, other));
        }
    }

    /// Compares `allOf`: conditions that all hold.
    fn conditions(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        let all = |members: &Map<String, Value>| members.get("allOf").and_then(Value::as_array).cloned();
        let (old, new) = (all(old).unwrap_or_default(), all(new).unwrap_or_default());
        let (gone, come) = self.unmatched(&old, &new, "allOf");
        if let ([one], [(at, other)]) = (&gone[..], &come[..]) {
            return self.below(&["allOf", &at.to_string()], |walker| walker.schemas(&one.1, other));
        }
        for (at, _) in gone {
            self.below(&["allOf", &at.to_string()], |walker| {
                walker.report((&INPUT_UNION_WIDENED, &RESULT_UNION_WIDENED), "a condition was removed");
            });
        }
        for (at, _) in come {
            self.below(&["allOf", &at.to_string()], |walker| {
                walker.report((&INPUT_UNION_NARROWED, &RESULT_UNION_NARROWED), "a condition was added");
            });
        }
    }

    /// Compares a schema with alternatives with one that has none, as if it were the only alternative. Returns whether
    /// it did.
    fn one_became_union(&mut self, old: &Shape, new: &Shape) -> bool {
        let alone = |shape: &Shape| Union { keyword: "anyOf", branches: vec![as_schema(shape)] };
        if old.is_any() || new.is_any() {
            return false;
        }
        match (&old.union, &new.union) {
            (None, Some(union)) if new.is_pure_union() => self.unions(Some(&alone(old)), Some(union)),
            (Some(union), None) if old.is_pure_union() => self.unions(Some(union), Some(&alone(new))),
            _ => return false,
        }
        self.nullable(old.surely_nullable(), new.surely_nullable());
        true
    }

    /// Returns the schemas of each list that the other one does not have, with their places. Compares those of which
    /// only the definitions behind them changed.
    fn unmatched(&mut self, old: &[Value], new: &[Value], keyword: &str) -> (Branches, Branches) {
        let keys = |list: &[Value], root| list.iter().map(|schema| key(schema, root)).collect::<Vec<_>>();
        let (old_keys, new_keys) = (keys(old, self.roots[0]), keys(new, self.roots[1]));
        let without = |some: &[Value], keys: &[String], others: &[String]| -> Branches {
            let others: HashSet<&String> = others.iter().collect();
            let all = some.iter().cloned().enumerate().zip(keys);
            all.filter(|(_, key)| !others.contains(key)).map(|(branch, _)| branch).collect()
        };
        let mut gone = without(old, &old_keys, &new_keys);
        let come = without(new, &new_keys, &old_keys);
        let mut left = Vec::new();
        for (at, other) in come {
            match gone.iter().position(|(_, one)| one.get("$ref").is_some() && canonical(one) == canonical(&other)) {
                Some(found) => {
                    let (_, one) = gone.remove(found);
                    self.below(&[keyword, &at.to_string()], |walker| walker.schemas(&one, &other));
                }
                None => left.push((at, other)),
            }
        }
        (gone, left)
    }

    fn unions(&mut self, old: Option<&Union>, new: Option<&Union>) {
        let narrowed: Pair = (&INPUT_UNION_NARROWED, &RESULT_UNION_NARROWED);
        let widened: Pair = (&INPUT_UNION_WIDENED, &RESULT_UNION_WIDENED);
        let (old, new) = match (old, new) {
            (None, None) => return,
            (None, Some(_)) => return self.report(narrowed, "one of several alternatives must match now"),
            (Some(_), None) => return self.report(widened, "no alternative has to match any more"),
            (Some(old), Some(new)) => (old, new),
        };
        let [old_root, new_root] = self.roots;
        let (was_exclusive, is_exclusive) = (is_exclusive(old, old_root), is_exclusive(new, new_root));
        if was_exclusive || is_exclusive {
            return self.exclusive((old, was_exclusive), (new, is_exclusive));
        }
        let (gone, come) = self.unmatched(&old.branches, &new.branches, new.keyword);
        if let ([one], [(at, other)]) = (&gone[..], &come[..]) {
            return self.below(&[new.keyword, &at.to_string()], |walker| walker.schemas(&one.1, other));
        }
        for (keyword, branches, pair, what) in [
            (old.keyword, gone, narrowed, "an alternative was removed"),
            (new.keyword, come, widened, "an alternative was added"),
        ] {
            for (at, _) in branches {
                self.below(&[keyword, &at.to_string()], |walker| walker.report(pair, what));
            }
        }
    }

    /// Compares alternatives of which a valid value may match only one, though it may match several.
    fn exclusive(&mut self, (old, was_exclusive): (&Union, bool), (new, is_exclusive): (&Union, bool)) {
        let keys = |union: &Union, root| {
            let mut keys: Vec<String> = union.branches.iter().map(|branch| key(branch, root)).collect();
            keys.sort();
            keys
        };
        let [old_root, new_root] = self.roots;
        let (before, after) = (keys(old, old_root), keys(new, new_root));
        let has_all = |keys: &[String], others: &[String]| others.iter().all(|key| keys.contains(key));
        let (pair, seen): (Pair, _) = match (was_exclusive, is_exclusive) {
            (true, true) if before == after => return,
            (false, true) if has_all(&before, &after) => {
                ((&INPUT_UNION_NARROWED, &RESULT_UNION_NARROWED), "only one alternative may match now")
            }
            (true, false) if has_all(&after, &before) => {
                ((&INPUT_UNION_WIDENED, &RESULT_UNION_WIDENED), "several alternatives may match now")
            }
            _ => {
                ((&INPUT_UNDECIDED, &RESULT_UNDECIDED), "a value may match several alternatives, of which some changed")
            }
        };
        self.report_keyword(new.keyword, pair, seen);
    }

    fn other_keywords(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        let is_compared = |name: &str| {
            is_compared(name)
                && [old, new].into_iter().filter_map(|members| members.get(name)).all(|value| is_sound(name, value))
        };
        for name in names.into_iter().filter(|name| !is_compared(name)) {
            let [old_root, new_root] = self.roots;
            let means = |members: &Map<String, Value>, root: &Value| {
                let value = members.get(name)?;
                // Where a dynamic reference leads depends on everything around it.
                let is_dynamic = ["$dynamicRef", "$recursiveRef"].contains(&name.as_str());
                // And so does what was not evaluated.
                let around = name.starts_with("unevaluated").then(|| Value::Object(members.clone()));
                let alone = || Value::Object([(name.clone(), value.clone())].into_iter().collect());
                Some((key(&around.unwrap_or_else(alone), root), is_dynamic.then(|| canonical(root))))
            };
            if means(old, old_root) != means(new, new_root) {
                self.below(&[name], |walker| walker.undecided(format!("`{name}` changed")));
            }
        }
    }
}

impl Shape {
    /// Returns whether only null is valid.
    fn is_null(&self) -> bool {
        self.types.as_ref().is_some_and(|types| types.contains("null"))
    }
}

/// Returns whether a keyword has a value that means something.
fn is_sound(name: &str, value: &Value) -> bool {
    match name {
        "properties" => value.is_object(),
        "required" => value.as_array().is_some_and(|names| names.iter().all(Value::is_string)),
        "prefixItems" | "allOf" => value.is_array(),
        _ => true,
    }
}

/// Returns whether a keyword is compared elsewhere.
fn is_compared(name: &str) -> bool {
    let structure = ["properties", "required", "additionalProperties", "items", "prefixItems", "allOf"];
    is_annotation(name) || structure.contains(&name) || facets::is_bound(name) || PATTERNS.contains(&name)
}

fn required(shape: &Shape) -> impl Iterator<Item = String> {
    let names = shape.rest.get("required").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned)
}

/// Returns the schema of a member that `properties` lists.
fn listed<'a>(shape: &'a Shape, name: &str) -> Option<&'a Value> {
    shape.rest.get("properties")?.get(name)
}

fn has_patterns(shape: &Shape) -> bool {
    shape.rest.contains_key("patternProperties")
}

fn is_required(shape: &Shape, name: &str) -> bool {
    required(shape).any(|required| required == name)
}

/// Returns what extra members must match; `true` if they may be anything.
fn extra_of(shape: &Shape) -> Value {
    match shape.rest.get("additionalProperties") {
        None => Value::Bool(true),
        Some(Value::Object(members)) if members.is_empty() => Value::Bool(true),
        Some(schema) => schema.clone(),
    }
}

fn allows_extra_explicitly(shape: &Shape) -> bool {
    shape.rest.get("additionalProperties").is_some_and(|schema| schema != &Value::Bool(false))
}

/// Returns a shape as a schema again.
fn as_schema(shape: &Shape) -> Value {
    let mut members = shape.rest.clone();
    if let Some(types) = &shape.types {
        members.insert(
            "type".to_owned(),
            match types.iter().collect::<Vec<_>>()[..] {
                [only] => only.as_str().into(),
                _ => types.iter().cloned().collect(),
            },
        );
    }
    if let Some(values) = &shape.values {
        members.insert("enum".to_owned(), values.clone().into());
    }
    Value::Object(members)
}

type Branches = Vec<(usize, Value)>;

/// Returns a text that is the same for schemas that mean the same, with the definitions that they refer to.
fn key(schema: &Value, root: &Value) -> String {
    canonical(&unfolded(schema, root))
}

/// Returns whether a value that matches two alternatives is invalid, and there may be such a value.
fn is_exclusive(union: &Union, root: &Value) -> bool {
    if union.keyword != "oneOf" || union.branches.len() < 2 {
        return false;
    }
    let shape = |branch| resolve(branch, root).ok().map(|schema| Shape::of(&schema, root));
    let shapes: Option<Vec<Shape>> = union
        .branches
        .iter()
        .take(MAX_BRANCHES + 1)
        .map(shape)
        .collect::<Option<_>>()
        .filter(|shapes: &Vec<_>| shapes.len() <= MAX_BRANCHES);
    let are_apart = |shapes: Vec<Shape>| {
        let rest = |at: usize| shapes.iter().skip(at + 1);
        shapes.iter().enumerate().all(|(at, one)| rest(at).all(|other| are_disjoint(one, other, root)))
    };
    !shapes.is_some_and(are_apart)
}

/// Returns whether certainly no value matches both schemas: their types or values differ, or those of a required member.
fn are_disjoint(one: &Shape, other: &Shape, root: &Value) -> bool {
    if have_nothing_in_common(one, other) {
        return true;
    }
    let is_object = |shape: &Shape| {
        let types = shape.types.as_ref();
        shape.nullable == Some(false) && types.is_some_and(|types| types.iter().all(|name| name == "object"))
    };
    (is_object(one) || is_object(other))
        && required(one).filter(|name| is_required(other, name)).any(|name| {
            let member = |shape: &Shape| {
                let schema = listed(shape, &name).and_then(|schema| resolve(schema, root).ok())?;
                Some(Shape::of(&schema, root))
            };
            matches!((member(one), member(other)), (Some(one), Some(other)) if have_nothing_in_common(&one, &other))
        })
}

/// Returns whether two schemas have other types or values.
fn have_nothing_in_common(one: &Shape, other: &Shape) -> bool {
    if one.nullable != Some(false) && other.nullable != Some(false) {
        return false;
    }
    let types = match (&one.types, &other.types) {
        (Some(types), Some(others)) => {
            !types.iter().any(|found| covers(others, found)) && !others.iter().any(|found| covers(types, found))
        }
        _ => false,
    };
    let values = match (&one.values, &other.values) {
        (Some(values), Some(others)) => {
            let others: HashSet<String> = others.iter().map(canonical).collect();
            !values.iter().any(|value| others.contains(&canonical(value)))
        }
        _ => false,
    };
    types || values
}

/// Says what happened to the value of a member.
pub(super) fn from_to(what: &str, old: Option<&Value>, new: Option<&Value>) -> String {
    let short = |value: &Value| excerpt(&exact::written(&value.to_string()), MAX_SHOWN);
    match (old, new) {
        (Some(old), Some(new)) => format!("{what} {} became {}", short(old), short(new)),
        (None, Some(new)) => format!("{what} {} was added", short(new)),
        (Some(old), None) => format!("{what} {} was removed", short(old)),
        (None, None) => String::new(),
    }
}
