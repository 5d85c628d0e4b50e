//! Templates: texts and values with `{placeholders}`, filled from one object. Pure.
//!
//! `{a/b}` is the value at the JSON Pointer `/a/b`. Unknown placeholders stay as they are, as the proposals require.

use serde_json::Value;
use std::borrow::Cow;

/// Fills every text in a value. A text that consists of one placeholder becomes the value itself.
pub(super) fn fill(template: &Value, from: &Value) -> Value {
    match template {
        Value::String(text) => {
            let whole = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
            let found = whole.filter(|name| is_name(name)).and_then(|name| from.pointer(&format!("/{name}")));
            found.cloned().unwrap_or_else(|| Value::String(fill_text(text, from)))
        }
        Value::Array(items) => items.iter().map(|item| fill(item, from)).collect(),
        Value::Object(members) => members.iter().map(|(name, item)| (name.clone(), fill(item, from))).collect(),
        other => other.clone(),
    }
}

/// Fills a text. Inserted text is not filled again.
pub(super) fn fill_text(template: &str, from: &Value) -> String {
    let (mut out, mut rest) = (String::with_capacity(template.len()), template);
    while let Some(at) = rest.find('{') {
        let (before, place) = rest.split_at(at);
        out.push_str(before);
        // Look no further than a name can reach: otherwise, a text of opening braces would take quadratic time.
        let end =
            place[1..].find(|found| !is_plain(found)).map(|end| end + 1).filter(|end| place[*end..].starts_with('}'));
        let name = end.map(|end| &place[1..end]).filter(|name| is_name(name));
        let found = name.and_then(|name| Some((name, from.pointer(&format!("/{name}"))?)));
        match found {
            Some((name, value)) => {
                out.push_str(&text(value));
                rest = &place[name.len() + 2..];
            }
            None => {
                out.push('{');
                rest = &place[1..];
            }
        }
    }
    out + rest
}

/// A value as text: a string itself, anything else as JSON.
pub(super) fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|found: char| found.is_alphabetic() || found == '_') && name.chars().all(is_plain)
}

fn is_plain(found: char) -> bool {
    found.is_alphanumeric() || matches!(found, '_' | '-' | '.' | '/' | '~' | '$')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn places_are_filled_and_what_is_unknown_stays() {
        let from = json!({"tool": "write", "params": {"list": ["a", 2]}, "odd": "{tool}"});
        let filled = |text: &str| fill_text(text, &from);
        assert_eq!(filled("{tool}: {params/list/1}, {params/list}"), r#"write: 2, ["a",2]"#);
        assert_eq!(filled("{project_name} {} {a b} {tool"), "{project_name} {} {a b} {tool");
        assert_eq!(filled(r#"{"x": "{tool}"}"#), r#"{"x": "write"}"#);
        assert_eq!(filled("{odd}"), "{tool}", "inserted text is not filled again");
        assert_eq!(filled("ü{tool}ü"), "üwriteü");
    }

    #[test]
    fn what_is_never_closed_is_read_once() {
        let open = "{".repeat(4 << 20);
        assert_eq!(fill_text(&open, &json!({})), open);
    }

    #[test]
    fn a_text_that_is_one_place_becomes_the_value() {
        let from = json!({"n": 3, "list": [1]});
        let template = json!({"a": "{n}", "b": ["{list}", "n = {n}"], "c": true});
        assert_eq!(fill(&template, &from), json!({"a": 3, "b": [[1], "n = 3"], "c": true}));
    }
}
