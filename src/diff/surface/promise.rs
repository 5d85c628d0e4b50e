//! Whatever counts as not breaking, the `jsonschema` crate agrees: inputs that were valid are still valid, and outputs that
//! were not valid are still not valid.

use super::rules::{Effect, INPUT_ADDED, RESULT_ADDED, RESULT_EXTRA_ALLOWED};
use super::schema::{Delta, Side, compare};
use serde_json::{Value, json};

fn schemas() -> Vec<Value> {
    const OLD: &str = "http://json-schema.org/draft-07/schema#";
    const NEW: &str = "https://json-schema.org/draft/2020-12/schema";
    let (a, b) = (json!({"type": "string", "minLength": 2}), json!({"type": "string", "maxLength": 3}));
    let kind = |name: &str| json!({"type": "object", "properties": {"a": {"const": name}}, "required": ["a"]});
    let open_kind = |name: &str| json!({"properties": {"a": {"const": name}}, "required": ["a"]});
    let defs = json!({"d": {"type": "integer"}, "e": {"type": ["string", "null"]}});
    let mut all = vec![
        json!({}),
        json!(true),
        json!(false),
        json!({"not": {}}),
        json!({"type": "null"}),
        json!({"type": "string"}),
        json!({"type": ["string", "null"]}),
        json!({"type": "number"}),
        json!({"type": "integer"}),
        json!({"type": ["integer", "string"]}),
        json!({"type": ["number", "string", "null"]}),
        json!({"enum": ["a", null]}),
        json!({"type": "string", "enum": ["a", null]}),
        json!({"type": ["string", "null"], "enum": ["a"]}),
        json!({"type": ["string", "null"], "enum": ["a", null, 1]}),
        json!({"enum": ["a"]}),
        json!({"enum": [1, 1.5]}),
        json!({"const": 1.0}),
        json!({"const": null}),
        json!({"const": "a", "enum": ["b"]}),
        json!({"enum": ["a", "ab", "abcd"], "minLength": 2}),
        json!({"minimum": 1}),
        json!({"type": "integer", "minimum": 1}),
        json!({"type": "integer", "exclusiveMinimum": 0}),
        json!({"type": "number", "exclusiveMinimum": 0}),
        json!({"type": "number", "multipleOf": 1}),
        json!({"multipleOf": 2}),
        json!({"type": "integer", "multipleOf": 4}),
        json!({"type": "integer", "maximum": 9_007_199_254_740_993_i64}),
        json!({"type": "integer", "maximum": 9_007_199_254_740_992_i64}),
        a.clone(),
        b.clone(),
        json!({"type": "string", "minLength": 2, "maxLength": 3}),
        json!({"type": "string", "pattern": "^a"}),
        json!({"anyOf": [a, b]}),
        json!({"oneOf": [a, b]}),
        json!({"allOf": [a, b]}),
        json!({"oneOf": [a]}),
        json!({"oneOf": [a, a]}),
        json!({"anyOf": [a, a]}),
        json!({"oneOf": [a, b, {"type": "null"}]}),
        json!({"oneOf": [{"type": "null"}, {"minLength": 2}]}),
        json!({"anyOf": [{"type": "null"}, {"minLength": 2}]}),
        json!({"anyOf": [{"type": "null"}, {"minLength": 2, "not": {"const": null}}]}),
        json!({"minLength": 2, "not": {"const": null}}),
        json!({"type": "string", "not": {"const": "b"}}),
        json!({"anyOf": [{"type": "null"}, {"type": "string", "not": {"const": "b"}}]}),
        json!({"type": ["string", "null"], "anyOf": [{"minLength": 2}, {"pattern": "^a"}]}),
        json!({"type": "string", "anyOf": [{"minLength": 2}, {"pattern": "^a"}]}),
        json!({"oneOf": [{"type": "number"}, {"type": "integer"}]}),
        json!({"anyOf": [{"type": "number"}, {"type": "integer"}]}),
        json!({"anyOf": [{"type": ["string", "null"]}, {"type": "integer"}]}),
        json!({"oneOf": [{"type": ["string", "null"]}, {"type": ["integer", "null"]}]}),
        json!({"anyOf": [{"anyOf": [{"type": "string"}, {"type": "integer"}]}]}),
        json!({"anyOf": [{"type": "string"}], "oneOf": [{"minLength": 2}, {"type": "null"}]}),
        json!({"anyOf": [false]}),
        json!({"anyOf": [true]}),
        json!({"type": "string", "anyOf": [{"type": "null"}, {"minLength": 2}]}),
        json!({"oneOf": [{"type": "string"}, {"type": "array"}]}),
        json!({"oneOf": [kind("x"), kind("y")]}),
        json!({"anyOf": [kind("x"), kind("y")]}),
        json!({"oneOf": [open_kind("x"), open_kind("y")]}),
        json!({"anyOf": [open_kind("x"), open_kind("y")]}),
        json!({"$ref": "#/$defs/d", "$defs": defs}),
        json!({"anyOf": [{"$ref": "#/$defs/d"}, {"$ref": "#/$defs/e"}], "$defs": defs}),
        json!({"oneOf": [{"$ref": "#/$defs/d"}, {"$ref": "#/$defs/e"}], "$defs": defs}),
        json!({"$ref": "#/$defs/d", "minimum": 5, "$defs": defs}),
        json!({"$schema": OLD, "$ref": "#/$defs/d", "minimum": 5, "$defs": defs}),
        json!({"type": "object"}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
        json!({"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"required": ["a"]}]}),
        json!({"type": "object", "allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "integer"}}, "required": ["b"]}]}),
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["b"]}),
        json!({"allOf": [{"properties": {"a": {"type": "string"}}}], "type": "object", "additionalProperties": false}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}),
        json!({"type": "object", "additionalProperties": false}),
        json!({"type": "object", "additionalProperties": {"type": "integer"}}),
        json!({"type": "object", "additionalProperties": {"type": "integer"}, "required": ["a"]}),
        json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "unevaluatedProperties": false}),
        json!({"type": "object", "unevaluatedProperties": false}),
        json!({"type": "object", "patternProperties": {"^a": {"type": "integer"}}}),
        json!({"type": "object", "patternProperties": {"title": {"type": "integer"}}}),
        json!({"type": "object", "patternProperties": {"title": {"type": "string"}}}),
        json!({"type": "object", "dependentRequired": {"title": ["a"]}}),
        json!({"type": "object", "dependentRequired": {"title": ["b"]}}),
        json!({"$schema": OLD, "type": "object", "dependentRequired": {"title": ["a"]}}),
        json!({"$schema": OLD, "type": "object", "dependencies": {"title": ["a"]}}),
        json!({"$schema": NEW, "type": "object", "dependencies": {"title": ["a"]}}),
        json!({"type": "array"}),
        json!({"type": "array", "items": {"type": "integer"}}),
        json!({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}}),
        json!({"type": "array", "prefixItems": [{"type": "string"}]}),
        json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false}),
        json!({"$schema": OLD, "type": "array", "items": [{"type": "string"}, {"type": "integer"}], "additionalItems": false}),
        json!({"$schema": OLD, "type": "array", "items": [{"type": "string"}]}),
        json!({"$schema": OLD, "type": "array", "items": [{"type": "integer"}]}),
        json!({"$schema": OLD, "type": "array", "prefixItems": [{"type": "string"}]}),
        json!({"$schema": OLD, "type": "array", "items": {"type": "integer"}, "additionalItems": false}),
        json!({"type": "array", "contains": {"type": "integer"}}),
        json!({"type": "array", "contains": {"type": "integer"}, "minContains": 0}),
        json!({"type": "array", "contains": {"type": "integer"}, "minContains": 2}),
        json!({"type": "array", "minItems": 1}),
        json!({"type": "array", "uniqueItems": true}),
        json!({"if": {"type": "string"}, "then": {"minLength": 2}}),
        json!({"if": {"type": "string"}, "else": {"minLength": 2}}),
    ];
    // Behind a property and in a list, the same must hold.
    let inside: Vec<Value> = all[5..16]
        .iter()
        .flat_map(|schema| {
            [
                json!({"type": "object", "properties": {"a": schema}, "required": ["a"], "additionalProperties": false}),
                json!({"type": "array", "items": schema}),
            ]
        })
        .collect();
    all.extend(inside);
    all
}

fn instances() -> Vec<Value> {
    let scalars = [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(1.0),
        json!(1.5),
        json!(0.5),
        json!(-1),
        json!(2),
        json!(4),
        json!(6),
        json!(9_007_199_254_740_992_i64),
        json!(9_007_199_254_740_993_i64),
        json!(1e300),
        json!(""),
        json!("a"),
        json!("b"),
        json!("ab"),
        json!("abc"),
        json!("abcd"),
        json!("x"),
        json!("y"),
    ];
    let in_lists = scalars.iter().map(|value| json!([value]));
    let in_objects = scalars.iter().map(|value| json!({"a": value}));
    let more = [
        json!([]),
        json!({}),
        json!(["a", 1]),
        json!(["a", "b"]),
        json!(["a", 1, 2]),
        json!(["a", 1, "x"]),
        json!([1, 1]),
        json!([1, "a"]),
        json!([1, 2]),
        json!([null, 1]),
        json!({"b": 1}),
        json!({"b": "x"}),
        json!({"a": "x", "b": 1}),
        json!({"a": "x", "b": "y"}),
        json!({"a": 1, "b": 2}),
        json!({"title": 1}),
        json!({"title": "x"}),
        json!({"title": 1, "a": 1}),
        json!({"title": "x", "b": "x"}),
        json!({"c": null}),
        json!({"a": {"a": "x"}}),
    ];
    in_lists.chain(in_objects).chain(more).chain(scalars.iter().cloned()).collect()
}

/// The members about which a schema that allows any others promises nothing: a rule says so.
fn exempt(found: &[Delta]) -> Vec<String> {
    let by_policy = [INPUT_ADDED.id, RESULT_ADDED.id];
    let places = found.iter().filter(|delta| by_policy.contains(&delta.rule.id)).map(|delta| delta.place.as_str());
    places.filter_map(|place| place.rsplit('/').next()).map(str::to_owned).collect()
}

/// A schema of a few keywords that meet often.
fn any_schema(random: &mut fastrand::Rng, depth: usize) -> Value {
    let types = ["string", "integer", "number", "null", "object", "array"];
    let values = [json!("a"), json!("ab"), json!(1), json!(null), json!(1.5)];
    let mut schema = json!({});
    for _ in 0..random.usize(1..=3) {
        let one = types[random.usize(..types.len())];
        let other = types[random.usize(..types.len())];
        let mut value = || values[random.usize(..values.len())].clone();
        let listed = json!([value(), value()]);
        let constant = value();
        let limit = random.u8(1..=3);
        let mut inner = || if depth == 0 { json!({"type": one}) } else { any_schema(random, depth - 1) };
        let (first, second) = (inner(), inner());
        let (name, value) = match random.u8(..19) {
            0 | 1 => ("type", json!(one)),
            2 => ("type", if one == other { json!([one]) } else { json!([one, other]) }),
            3 => ("enum", if listed[0] == listed[1] { json!([listed[0]]) } else { listed }),
            4 => ("const", constant),
            5 => ("minLength", limit.into()),
            6 => ("minimum", limit.into()),
            7 => ("exclusiveMinimum", (limit - 1).into()),
            8 => ("anyOf", json!([first, second])),
            9 => ("anyOf", json!([{"type": "null"}, first])),
            10 => ("oneOf", json!([first, second])),
            11 => ("oneOf", json!([{"type": "null"}, first])),
            12 => ("allOf", json!([first, second])),
            13 => ("not", first),
            14 => ("properties", json!({ "a": first })),
            15 => ("required", json!(["a"])),
            16 => ("additionalProperties", if limit == 1 { json!(false) } else { first }),
            17 => ("items", first),
            _ => ("prefixItems", json!([first])),
        };
        schema[name] = value;
    }
    schema
}

#[test]
fn what_counts_as_not_breaking_breaks_no_example() {
    check(&schemas());
}

#[test]
fn what_counts_as_not_breaking_breaks_no_example_of_made_up_schemas() {
    for seed in 0..seeds() {
        let mut random = fastrand::Rng::with_seed(seed);
        check(&(0..60).map(|_| any_schema(&mut random, 2)).collect::<Vec<_>>());
    }
}

/// How many sets of schemas are made up: more of them find more, but take longer.
fn seeds() -> u64 {
    std::env::var("SURFACE_SEEDS").ok().and_then(|count| count.parse().ok()).unwrap_or(4)
}

fn check(schemas: &[Value]) {
    let instances = instances();
    let accepted: Vec<Vec<bool>> = schemas
        .iter()
        .map(|schema| {
            let validator = jsonschema::validator_for(schema).unwrap_or_else(|error| panic!("{schema}: {error}"));
            instances.iter().map(|instance| validator.is_valid(instance)).collect()
        })
        .collect();
    let (mut wrong, mut decided) = (Vec::new(), 0);
    for (old, before) in schemas.iter().zip(&accepted) {
        for (new, after) in schemas.iter().zip(&accepted) {
            for side in [Side::Input, Side::Output] {
                let found = compare(side, old, new);
                if found.iter().any(|delta| delta.rule.effect == Effect::Breaking) {
                    continue;
                }
                decided += 1;
                let exempt = exempt(&found);
                let is_risk = found.iter().any(|delta| delta.rule.id == RESULT_EXTRA_ALLOWED.id);
                let broken = instances.iter().zip(before.iter().zip(after)).find(|(instance, (before, after))| {
                    let (holds, must_hold) = if side == Side::Input { (before, after) } else { (after, before) };
                    let is_exempt = instance
                        .as_object()
                        .is_some_and(|members| is_risk || members.keys().any(|name| exempt.contains(name)));
                    **holds && !**must_hold && !is_exempt
                });
                if let Some((instance, _)) = broken {
                    let rules: Vec<&str> = found.iter().map(|delta| delta.rule.id).collect();
                    wrong.push(format!("{side:?} {old} -> {new}: {instance} {rules:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    // It must not call everything breaking.
    assert!(decided > schemas.len() * 3, "{decided}");
}
