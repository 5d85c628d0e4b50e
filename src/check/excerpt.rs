//! The part of a message that a finding is about, with a little of what stands around it.

use crate::wire::json;
use crate::wire::mask::masked_bytes;
use crate::wire::pointer;
use crate::wire::text::visible;
use std::ops::Range;

/// The maximum number of bytes of each part of an excerpt.
const MAX_PART: usize = 120;

/// A part of a message, as safe text on one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// What stands before it, with an ellipsis if there is more.
    pub before: String,
    /// The place itself, with an ellipsis if there is more.
    pub marked: String,
    /// What comes after it, with an ellipsis if there is more.
    pub after: String,
    /// The bytes of the place in the message.
    pub span: Range<usize>,
    /// The columns of the place in the event's line of JSON lines, in characters from 1, if they are known.
    pub columns: Option<Range<usize>>,
}

/// The members that findings of a family of rules are about, if the rule names no place itself.
const FAMILIES: &[(&str, &[&str])] = &[
    ("envelope/error-object", &["/error"]),
    ("envelope/odd-method", &["/method"]),
    ("envelope/odd-params", &["/params"]),
    ("envelope/odd-id", &["/id"]),
    ("envelope/null-id", &["/id"]),
    ("envelope/error-id", &["/id"]),
    ("envelope/missing-id", &["/result", "/error"]),
    ("envelope/mixed", &["/result", "/error"]),
    ("envelope/version", &["/jsonrpc"]),
    ("pairing/", &["/id", "/params/requestId", "/params/progressToken"]),
    ("lifecycle/", &["/method"]),
    ("method/", &["/method", "/error/code"]),
    ("era/", &["/method"]),
];

/// The rules about messages that are not JSON: their findings are about the byte at which reading ends.
const UNREADABLE: [&str; 2] = ["envelope/malformed", "envelope/encoding"];

/// Returns the part of `message` at `path`, or what a rule of this name is usually about. `None` if that is the whole
/// message or the text is not JSON.
pub(super) fn excerpt(message: &[u8], rule: &str, path: Option<&str>) -> Option<Excerpt> {
    let span = match path {
        _ if UNREADABLE.contains(&rule) => {
            let at = json::first_fault(message)?.min(message.len().checked_sub(1)?);
            at..whole(message, at + 1)
        }
        Some(path) => marked(message, path)?,
        None => {
            let (_, members) = FAMILIES.iter().find(|(family, _)| rule.starts_with(family))?;
            let spots = members.iter().map(|member| pointer::find(message, member));
            spots.into_iter().find(|spot| spot.is_exact).and_then(|spot| Some(spot.key?.start..spot.value.end))?
        }
    };
    // Of a secret that is cut, only the end may be left, which nobody would recognise.
    Some(cut_out(&masked_bytes(message), span))
}

/// The bytes to mark for a place: a member with its value, or only its key if the value is an object or an array.
fn marked(message: &[u8], path: &str) -> Option<Range<usize>> {
    let spot = pointer::find(message, path);
    let is_structured = matches!(message.get(spot.value.start), Some(b'{' | b'['));
    match spot.key {
        Some(key) if is_structured => Some(key),
        Some(key) => Some(key.start..spot.value.end),
        // The whole message is no place in it.
        None if spot.value.start == 0 => None,
        None => Some(spot.value),
    }
}

fn cut_out(message: &[u8], span: Range<usize>) -> Excerpt {
    let text = |range: Range<usize>| safe(&String::from_utf8_lossy(&message[range]));
    let start = span.start.saturating_sub(MAX_PART);
    let end = span.end.saturating_add(MAX_PART).min(message.len());
    let inner = span.end.min(span.start + MAX_PART);
    let ellipsis = |is_cut: bool| if is_cut { "…" } else { "" };
    Excerpt {
        before: format!("{}{}", ellipsis(start > 0), text(whole(message, start)..span.start)),
        marked: format!("{}{}", text(span.start..whole(message, inner)), ellipsis(inner < span.end)),
        after: format!("{}{}", text(span.end..whole(message, end)), ellipsis(end < message.len())),
        span,
        columns: None,
    }
}

impl Excerpt {
    /// Notes where the message begins in its line, in bytes. What comes before it is ASCII.
    pub(super) fn stands_after(&mut self, message: &[u8], offset: usize) {
        let column = |at: usize| offset + 1 + String::from_utf8_lossy(&message[..at]).chars().count();
        self.columns = Some(column(self.span.start)..column(self.span.end));
    }
}

/// The next position that splits no character.
fn whole(message: &[u8], mut at: usize) -> usize {
    while message.get(at).is_some_and(|byte| byte & 0xc0 == 0x80) {
        at += 1;
    }
    at
}

/// A text on one safe line. White space that breaks lines becomes a single space.
fn safe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut was_break = false;
    for found in text.chars() {
        let is_break = matches!(found, '\n' | '\r' | '\t') || (was_break && found == ' ');
        if is_break && !was_break {
            out.push(' ');
        }
        if !is_break {
            out.push(visible(found));
        }
        was_break = is_break;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(message: &str, rule: &str, path: Option<&str>) -> Option<(String, String, String)> {
        excerpt(message.as_bytes(), rule, path).map(|found| (found.before, found.marked, found.after))
    }

    fn owned(before: &str, marked: &str, after: &str) -> Option<(String, String, String)> {
        Some((before.to_owned(), marked.to_owned(), after.to_owned()))
    }

    #[test]
    fn a_value_is_marked_with_its_key_and_an_object_by_its_key_alone() {
        let message = r#"{"id":1,"params":{"name":7}}"#;
        let named = parts(message, "schema/params", Some("/params/name"));
        assert_eq!(named, owned(r#"{"id":1,"params":{"#, r#""name":7"#, "}}"));
        let missing = parts(message, "schema/params", Some("/params/other"));
        assert_eq!(missing, owned(r#"{"id":1,"#, r#""params""#, r#":{"name":7}}"#));
    }

    #[test]
    fn without_a_place_the_family_of_the_rule_says_what_is_marked() {
        let message = r#"{"id":1,"method":"x"}"#;
        assert_eq!(parts(message, "method/direction", None), owned(r#"{"id":1,"#, r#""method":"x""#, "}"));
        assert_eq!(parts(message, "pairing/id-in-use", None), owned("{", r#""id":1"#, r#","method":"x"}"#));
        assert_eq!(parts(message, "stream/crlf", None), None);
        let error = r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#;
        let marked = parts(error, "envelope/error-object", None);
        assert_eq!(marked, owned(r#"{"jsonrpc":"2.0","id":1,"#, r#""error":"no""#, "}"));
        assert_eq!(parts("log line", "schema/params", Some("/params")), None);
    }

    #[test]
    fn text_that_is_not_json_is_marked_where_reading_ends() {
        let marked = |message: &str| parts(message, "envelope/malformed", None);
        let broken = r#"{"jsonrpc":"2.0","id":1,"result":{"a":tru}}"#;
        assert_eq!(marked(broken), owned(r#"{"jsonrpc":"2.0","id":1,"result":{"a":tru"#, "}", "}"));
        assert_eq!(marked(r#"{"id":1"#), owned(r#"{"id":"#, "1", ""), "the end is missing");
        assert_eq!(marked("{\"id\":1,\n\"x\":}"), owned("{\"id\":1, \"x\":", "}", ""));
        assert_eq!(marked(r#"{"id":1}"#), None);
    }

    #[test]
    fn long_text_is_cut_and_foreign_text_is_harmless() {
        let long = "é".repeat(200);
        let message = format!("{{\"a\":\"{long}\",\n  \"b\u{1b}\":\"{long}\",\"c\":\"{long}\"}}");
        let found = excerpt(message.as_bytes(), "schema/params", Some("/b\u{1b}")).expect("an excerpt");
        assert!(found.before.starts_with("…é") && found.before.ends_with("é\", "), "{}", found.before);
        assert!(found.marked.starts_with("\"b␛\":\"é") && found.marked.ends_with("é…"), "{}", found.marked);
        assert!(found.after.starts_with(",\"c\"") && found.after.ends_with("é…"), "{}", found.after);
    }
}
