//! Adds members and list items to JSON text, and leaves every other byte as it is. Pure.

use crate::wire::json;
use serde_json::{Value, json};

/// Sets the value at `path` below the object in `text`, replacing what is there, and creates the objects on the way.
/// Returns `None` if something on the way is not an object, or if `text` is not one.
pub(super) fn put(text: &[u8], path: &[&str], value: &Value) -> Option<Vec<u8>> {
    let (name, rest) = path.split_first()?;
    match (json::member(text, name), rest) {
        (Some(inner), [_, ..]) => Some(replace(text, inner, &put(inner, rest, value)?)),
        (Some(inner), []) => Some(replace(text, inner, value.to_string().as_bytes())),
        (None, _) => {
            let whole = rest.iter().rev().fold(value.clone(), |inner, name| json!({ *name: inner }));
            let member = format!("{}:{whole}", Value::from(*name));
            append(text, b"{}", &member)
        }
    }
}

/// Appends values to the list at `path` below the object in `text`.
pub(super) fn extend(text: &[u8], path: &[&str], values: &[Value]) -> Option<Vec<u8>> {
    let inner = path.iter().try_fold(text, |text, name| json::member(text, name))?;
    let items: Vec<String> = values.iter().map(Value::to_string).collect();
    Some(replace(text, inner, &append(inner, b"[]", &items.join(","))?))
}

/// Inserts `more` before the closing bracket.
fn append(text: &[u8], brackets: &[u8; 2], more: &str) -> Option<Vec<u8>> {
    let inside = text.trim_ascii_end().strip_suffix(&brackets[1..])?;
    let before = inside.trim_ascii().strip_prefix(&brackets[..1])?;
    let comma = if before.trim_ascii().is_empty() || more.is_empty() { "" } else { "," };
    Some([inside, comma.as_bytes(), more.as_bytes(), &text[inside.len()..]].concat())
}

/// Replaces `inner`, which must be a part of `text`.
fn replace(text: &[u8], inner: &[u8], with: &[u8]) -> Vec<u8> {
    let start = inner.as_ptr().addr() - text.as_ptr().addr();
    [&text[..start], with, &text[start + inner.len()..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put_in(text: &str, path: &[&str]) -> Option<String> {
        put(text.as_bytes(), path, &json!({"x": [1]})).and_then(|text| String::from_utf8(text).ok())
    }

    #[test]
    fn a_member_is_put_in_and_every_other_byte_stays() {
        let text = "{ \"id\" :1,\"result\":{\"b\":1.50,\"capabilities\" : { \"tools\":{} } ,\"b\":\"\\u00e9\"} } ";
        let at = |path: &[&str]| put_in(text, &[&["result", "capabilities"], path].concat()).expect("put in");
        assert_eq!(at(&["hooks"]), text.replace("{} }", "{} ,\"hooks\":{\"x\":[1]}}"));
        assert_eq!(at(&["experimental", "mcpl"]), text.replace("{} }", "{} ,\"experimental\":{\"mcpl\":{\"x\":[1]}}}"));
        assert_eq!(at(&["tools", "more"]), text.replace("\"tools\":{}", "\"tools\":{\"more\":{\"x\":[1]}}"));
        assert_eq!(at(&["tools"]), text.replace("\"tools\":{}", "\"tools\":{\"x\":[1]}"), "no duplicate member");
        assert_eq!(put_in("{}", &["a", "b"]).as_deref(), Some(r#"{"a":{"b":{"x":[1]}}}"#));
        assert_eq!((put_in("{\"a\":1}", &["a", "b"]), put_in("[]", &["a"]), put_in("", &["a"])), (None, None, None));
    }

    #[test]
    fn items_are_put_at_the_end_of_a_list() {
        let more = |text: &str, items: &[Value]| extend(text.as_bytes(), &["result", "tools"], items);
        let text = r#"{"result":{"tools": [ ] ,"n":1}}"#;
        assert_eq!(more(text, &[json!(1), json!(2)]), Some(br#"{"result":{"tools": [ 1,2] ,"n":1}}"#.to_vec()));
        let text = r#"{"result":{"tools":[{"a":"]"}]}}"#;
        assert_eq!(more(text, &[json!(1)]), Some(br#"{"result":{"tools":[{"a":"]"},1]}}"#.to_vec()));
        assert_eq!(more(text, &[]), Some(text.as_bytes().to_vec()));
        assert_eq!(more(r#"{"result":{}}"#, &[json!(1)]), None);
        assert_eq!(more(r#"{"result":{"tools":{}}}"#, &[json!(1)]), None);
    }
}
