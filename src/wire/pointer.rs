//! JSON Pointers (RFC 6901) into the text of a message: where a place stands in the bytes.

use super::json;
use std::ops::Range;

/// A place in JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The bytes of the key with its quotes, for a member of an object.
    pub key: Option<Range<usize>>,
    /// The bytes of the value.
    pub value: Range<usize>,
    /// Whether the pointer leads to this place; otherwise, this is the innermost place on the way that exists.
    pub is_exact: bool,
}

/// Finds the place that a pointer leads to. If the text has no such place, returns the innermost one that contains it.
/// Of several members with the same name, the last counts.
pub fn find(text: &[u8], pointer: &str) -> Spot {
    let start = json::skip_space(text, 0);
    let end = json::skip_value(text, start).unwrap_or(text.len());
    let mut spot = Spot { key: None, value: start..end.max(start), is_exact: true };
    for step in pointer.split('/').skip(1) {
        let name = step.replace("~1", "/").replace("~0", "~");
        match enter(text, &spot.value, &name) {
            Some((key, value)) => spot = Spot { key, value, is_exact: true },
            None => return Spot { is_exact: false, ..spot },
        }
    }
    spot
}

/// Finds a member or an item inside of a value.
fn enter(text: &[u8], value: &Range<usize>, name: &str) -> Option<(Option<Range<usize>>, Range<usize>)> {
    let inner = &text[value.clone()];
    let place = |part: &[u8]| {
        let start = value.start + (part.as_ptr() as usize - inner.as_ptr() as usize);
        start..start + part.len()
    };
    if inner.first() == Some(&b'[') {
        let item = json::items(inner).nth(name.parse().ok()?)?;
        return Some((None, place(item)));
    }
    let member = json::members(inner).filter(|member| member.is(name)).last()?;
    let key = place(member.key);
    Some((Some(key.start - 1..key.end + 1), place(member.value)))
}

/// Returns a pointer in which the positions of array items are `*`, so that it stays the same when other items come or
/// go. A member whose name is a number is treated in the same way.
pub fn without_positions(pointer: &str) -> String {
    let is_position = |step: &str| !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
    let steps = pointer.split('/').map(|step| if is_position(step) { "*" } else { step });
    steps.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found<'a>(text: &'a str, pointer: &str) -> (&'a str, &'a str, bool) {
        let spot = find(text.as_bytes(), pointer);
        (spot.key.map_or("", |key| &text[key]), &text[spot.value], spot.is_exact)
    }

    #[test]
    fn a_pointer_leads_to_a_key_and_its_value() {
        let text = r#" {"a": {"x/y": [1, {"k~": "v"}], "b":null}, "a2":2 } "#;
        assert_eq!(found(text, "/a/b"), ("\"b\"", "null", true));
        assert_eq!(found(text, "/a/x~1y/1/k~0"), ("\"k~\"", "\"v\"", true));
        assert_eq!(found(text, "/a/x~1y/0"), ("", "1", true));
        assert_eq!(found(text, ""), ("", text.trim(), true));
    }

    #[test]
    fn what_is_missing_is_found_by_what_would_contain_it() {
        let text = r#"{"params":{"name":"x"},"params":{"n":[]}}"#;
        assert_eq!(found(text, "/params/name"), ("\"params\"", r#"{"n":[]}"#, false));
        assert_eq!(found(text, "/params/n/0/x"), ("\"n\"", "[]", false));
        assert_eq!(found("[1", "/x"), ("", "[1", false));
    }

    #[test]
    fn positions_do_not_count() {
        assert_eq!(without_positions("/result/tools/12/name"), "/result/tools/*/name");
        assert_eq!(without_positions(""), "");
    }

    proptest! {
        #[test]
        fn any_text_and_any_pointer_give_a_place_in_the_text(text in "[\\[\\]{}\":,a0 \\\\]{0,30}", pointer in "[/a0~]{0,8}") {
            let spot = find(text.as_bytes(), &pointer);
            prop_assert!(spot.value.end <= text.len() && spot.value.start <= spot.value.end);
            prop_assert!(spot.key.is_none_or(|key| key.end <= spot.value.start));
        }
    }
}
