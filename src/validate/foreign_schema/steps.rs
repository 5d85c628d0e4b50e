//! How much work it is to check a value against a schema, counted before that is done. A short schema can need more steps
//! than anyone can wait for: if each of 60 definitions refers twice to the next one, there are 2^60 of them.

use jsonschema::Draft;
use serde_json::Value;

/// The depth up to which steps are counted: that of the schema and its references, and that of the value.
const MAX_DEPTH: usize = 1024;

/// Returns the maximum number of steps of a check. `None` if that is more than `limit`, or if a reference leads nowhere in
/// the schema.
pub(super) fn steps(schema: &Value, value: &Value, limit: usize) -> Option<usize> {
    let mut count = Count { root: schema, left: limit, depth: MAX_DEPTH };
    count.walk(schema, value)?;
    Some(limit - count.left)
}

/// Returns the number of values in a value, itself included.
pub(super) fn size(value: &Value) -> usize {
    1 + inner(value).map(size).sum::<usize>()
}

/// Returns whether a part of a schema has an identifier of its own, which changes what references in it mean.
pub(super) fn has_identified_parts(schema: &Value, draft: Draft) -> bool {
    let name = if draft == Draft::Draft4 { "id" } else { "$id" };
    inner(schema).any(|part| part[name].is_string() || has_identified_parts(part, draft))
}

/// Iterates over the items or the members of a value.
fn inner(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => Box::new(std::iter::empty()),
    }
}

struct Count<'a> {
    root: &'a Value,
    left: usize,
    depth: usize,
}

impl<'a> Count<'a> {
    fn walk(&mut self, schema: &'a Value, value: &Value) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        self.depth = self.depth.checked_sub(1)?;
        for (name, part) in schema.as_object().into_iter().flatten() {
            match name.as_str() {
                "$ref" | "$dynamicRef" | "$recursiveRef" => self.walk(target(self.root, part.as_str()?)?, value)?,
                "not" | "if" | "then" | "else" => self.walk(part, value)?,
                "allOf" | "anyOf" | "oneOf" | "dependentSchemas" | "dependencies" => {
                    inner(part).try_for_each(|part| self.walk(part, value))?;
                }
                "properties" => {
                    let members = value.as_object().into_iter().flatten();
                    let mut known = members.filter_map(|(name, value)| Some((part.get(name)?, value)));
                    known.try_for_each(|(part, value)| self.walk(part, value))?;
                }
                "patternProperties" => {
                    inner(part).try_for_each(|part| inner(value).try_for_each(|value| self.walk(part, value)))?;
                }
                "items" | "prefixItems" if part.is_array() => {
                    inner(part).zip(inner(value)).try_for_each(|(part, value)| self.walk(part, value))?;
                }
                "items"
                | "additionalItems"
                | "unevaluatedItems"
                | "contains"
                | "additionalProperties"
                | "unevaluatedProperties"
                | "propertyNames" => {
                    inner(value).try_for_each(|value| self.walk(part, value))?;
                }
                _ => {}
            }
        }
        self.depth += 1;
        Some(())
    }
}

/// Returns what a reference leads to in a schema.
fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let place = reference.strip_prefix('#')?;
    if place.is_empty() || place.starts_with('/') { root.pointer(place) } else { anchored(root, place) }
}

/// Finds the part of a schema with this anchor.
fn anchored<'a>(part: &'a Value, name: &str) -> Option<&'a Value> {
    if part["$anchor"] == name || part["$dynamicAnchor"] == name {
        return Some(part);
    }
    inner(part).find_map(|part| anchored(part, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_part_counts_once_for_each_value_that_it_is_for() {
        let all = |schema: Value, value: Value| steps(&schema, &value, 100);
        assert_eq!(all(json!(true), json!(1)), Some(1));
        assert_eq!(all(json!({"items": {"not": {}}}), json!([1, 2, 3])), Some(7));
        assert_eq!(all(json!({"items": [{}, {}], "additionalItems": {}}), json!([1])), Some(3));
        assert_eq!(
            all(json!({"properties": {"a": {}, "b": {}}, "additionalProperties": false}), json!({"a": 1})),
            Some(3)
        );
        assert_eq!(all(json!({"patternProperties": {"a": {}, "b": {}}}), json!({"a": 1, "c": 2})), Some(5));
        assert_eq!(all(json!({"$defs": {"a": {"anyOf": [{}, {}]}}, "$ref": "#/$defs/a"}), json!(1)), Some(4));
        assert_eq!(all(json!({"$defs": {"a": {"$anchor": "x"}}, "allOf": [{"$ref": "#x"}]}), json!(1)), Some(3));
    }

    #[test]
    fn references_that_lead_nowhere_or_never_end_have_no_number() {
        for schema in [json!({"$ref": "#/$defs/a"}), json!({"$ref": "other.json"}), json!({"$ref": "#"})] {
            assert_eq!(steps(&schema, &json!(1), usize::MAX), None, "{schema}");
        }
    }
}
