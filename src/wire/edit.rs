//! Changes members of JSON objects, and leaves every other byte as it is.

use super::json;
use serde_json::Value;

/// Sets members of an object's text: existing members are replaced in place, new ones are put first. Every other byte
/// stays. Text that is not a complete object is returned unchanged.
pub(crate) fn with_members(object: &[u8], members: &[(&str, Value)]) -> Vec<u8> {
    let set = |text: Vec<u8>, (name, value): &(&str, Value)| with_member(&text, name, value.to_string().as_bytes());
    members.iter().rev().fold(object.to_vec(), set)
}

/// Sets one member of an object's text to a JSON text, as [`with_members`] does.
pub(crate) fn with_member(object: &[u8], name: &str, value: &[u8]) -> Vec<u8> {
    match json::member(object, name) {
        Some(old) => replaced(object, old, value),
        None => with_first_member(object, name, value),
    }
}

/// Removes members from an object's text, and the white space between the others.
pub(crate) fn without_members(object: &[u8], names: &[&str]) -> Vec<u8> {
    let is_kept = |member: &json::Member<'_>| !names.contains(&json::unescape(member.key).as_str());
    let kept = json::members(object).filter(is_kept);
    let kept: Vec<Vec<u8>> = kept.map(|member| [b"\"", member.key, b"\":", member.value].concat()).collect();
    [b"{", &kept.join(&b","[..])[..], b"}"].concat()
}

/// Adds members to the `_meta` of params. Existing members of `_meta` win, and every other byte stays.
pub(crate) fn with_meta(params: &[u8], meta: &[(&str, Value)]) -> Vec<u8> {
    let Some(written) = json::member(params, "_meta") else {
        let all: serde_json::Map<_, _> = meta.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        return with_first_member(params, "_meta", Value::Object(all).to_string().as_bytes());
    };
    let missing = meta.iter().rev().filter(|(name, _)| json::member(written, name).is_none());
    let filled = missing
        .fold(written.to_vec(), |text, (name, value)| with_first_member(&text, name, value.to_string().as_bytes()));
    replaced(params, written, &filled)
}

/// Replaces `old`, which must be a slice of `text`.
fn replaced(text: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let start = old.as_ptr().addr().saturating_sub(text.as_ptr().addr());
    match (text.get(..start), text.get(start + old.len()..)) {
        (Some(before), Some(after)) => [before, new, after].concat(),
        _ => text.to_vec(),
    }
}

fn with_first_member(object: &[u8], name: &str, value: &[u8]) -> Vec<u8> {
    let mut walk = json::members(object);
    let count = walk.by_ref().count();
    if walk.is_broken() {
        return object.to_vec();
    }
    let inside = json::skip_space(object, 0) + 1;
    let name = Value::from(name).to_string();
    let comma: &[u8] = if count == 0 { b"" } else { b"," };
    [&object[..inside], name.as_bytes(), b":", value, comma, &object[inside..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).expect("UTF-8")
    }

    #[test]
    fn meta_is_added_and_every_written_byte_stays() {
        let meta = [("v", json!("1")), ("c", json!({}))];
        assert_eq!(text(with_meta(b"{}", &meta)), r#"{"_meta":{"v":"1","c":{}}}"#);
        assert_eq!(text(with_meta(br#"{ "x" : 1e400}"#, &meta)), r#"{"_meta":{"v":"1","c":{}}, "x" : 1e400}"#);
        let mine = br#"{"a":1,"_meta":{"v":"mine", "t":1.0}}"#;
        assert_eq!(text(with_meta(mine, &meta)), r#"{"a":1,"_meta":{"c":{},"v":"mine", "t":1.0}}"#);
        assert_eq!(text(with_meta(b"[1]", &meta)), "[1]");
        assert_eq!(text(with_meta(br#"{"_meta":7}"#, &meta)), r#"{"_meta":7}"#);
    }

    #[test]
    fn members_are_removed_and_the_others_keep_their_text() {
        let object = br#" {"a": 1.0e400, "b":"x" ,"c\u0041":[1, 2]}"#;
        assert_eq!(text(without_members(object, &["b", "no"])), r#"{"a":1.0e400,"c\u0041":[1, 2]}"#);
        assert_eq!(text(without_members(object, &["a", "b", "cA"])), "{}");
    }

    #[test]
    fn members_are_replaced_or_put_first() {
        let set = [("s", json!("new")), ("r", json!({"k": 1}))];
        assert_eq!(text(with_members(br#"{"s":"old","x":0}"#, &set)), r#"{"r":{"k":1},"s":"new","x":0}"#);
        assert_eq!(text(with_members(b"{", &set)), "{");
    }
}
