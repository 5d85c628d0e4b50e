//! The strings and numbers of a JSON text, with their places in it.

use crate::wire::{json, tree};
use std::borrow::Cow;
use std::ops::Range;

/// Values nested deeper than this are not looked at.
const DEEPEST: usize = 96;

/// A string or number.
#[derive(Clone, Debug)]
pub(super) struct Leaf<'a> {
    /// Its JSON pointer, from the text that was walked.
    pub pointer: String,
    /// The name of the member that it is, or is an item of.
    pub name: Cow<'a, str>,
    /// The place of its JSON text.
    pub range: Range<usize>,
    /// A string with its escapes resolved, or the digits of a number.
    pub value: Cow<'a, str>,
    /// Whether it is a string.
    pub is_string: bool,
}

/// How many bytes a text may take as a tree of values. A leaf, with its place and its name, takes more.
const MAX_TREE: usize = tree::MAX_BYTES / 5;

/// Returns the leaves of a JSON text, in order; none if there are too many.
pub(super) fn leaves(text: &[u8]) -> Vec<Leaf<'_>> {
    let mut walk = Walk { text, pointer: String::new(), found: Vec::new() };
    if tree::fits_in(text, MAX_TREE).is_ok() {
        walk.value(text.trim_ascii(), Cow::Borrowed(""), 0);
    }
    walk.found
}

/// Returns the string or number at a JSON pointer.
pub(super) fn leaf_at<'a>(text: &'a [u8], pointer: &str) -> Option<Cow<'a, str>> {
    let mut value = text.trim_ascii();
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        value = match value.first()? {
            b'{' => json::member(value, &step)?,
            b'[' => json::items(value).nth(step.parse().ok()?)?,
            _ => return None,
        };
    }
    match value.first()? {
        b'"' => json::as_str(value),
        b'-' | b'0'..=b'9' => std::str::from_utf8(value).ok().map(Cow::Borrowed),
        _ => None,
    }
}

struct Walk<'a> {
    text: &'a [u8],
    pointer: String,
    found: Vec<Leaf<'a>>,
}

impl<'a> Walk<'a> {
    fn value(&mut self, value: &'a [u8], name: Cow<'a, str>, depth: usize) {
        match value.first() {
            Some(b'{') if depth < DEEPEST => {
                for member in json::members(value) {
                    let name = match member.key.contains(&b'\\') {
                        true => Cow::Owned(json::unescape(member.key)),
                        false => String::from_utf8_lossy(member.key),
                    };
                    self.step(&name.replace('~', "~0").replace('/', "~1"), member.value, name, depth);
                }
            }
            Some(b'[') if depth < DEEPEST => {
                for (number, item) in json::items(value).enumerate() {
                    self.step(&number.to_string(), item, name.clone(), depth);
                }
            }
            Some(b'"') => {
                if let Some(text) = json::as_str(value) {
                    self.leaf(value, name, text, true);
                }
            }
            Some(b'-' | b'0'..=b'9') => self.leaf(value, name, String::from_utf8_lossy(value), false),
            _ => {}
        }
    }

    fn step(&mut self, step: &str, value: &'a [u8], name: Cow<'a, str>, depth: usize) {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(step);
        self.value(value, name, depth + 1);
        self.pointer.truncate(length);
    }

    fn leaf(&mut self, text: &'a [u8], name: Cow<'a, str>, value: Cow<'a, str>, is_string: bool) {
        let start = text.as_ptr() as usize - self.text.as_ptr() as usize;
        let pointer = self.pointer.clone();
        self.found.push(Leaf { pointer, name, range: start..start + text.len(), value, is_string });
    }
}

/// A part of a text that may be an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// Its start in the text, in bytes.
    pub start: usize,
    /// The token.
    pub text: &'a str,
}

/// Returns the parts of a text that look generated, in order.
pub(super) fn generated_tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let is_part = |found: char| found.is_ascii_alphanumeric() || matches!(found, '-' | '_');
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += text[at..].find(is_part)?;
            let length = text[at..].find(|found| !is_part(found)).unwrap_or(text.len() - at);
            let token = Token { start: at, text: &text[at..at + length] };
            at += length;
            if is_generated(token.text) {
                return Some(token);
            }
        }
    })
}

/// At least this many characters of an id are unlikely to coincide.
const SHORTEST: usize = 8;
/// A number of fewer digits may be anything: a count, a date, a port.
const FEWEST_DIGITS: usize = 9;
/// A text that changes this often between digits, capitals and small letters is hardly a word.
const FEWEST_CHANGES: usize = 3;

/// Returns whether a value is unlikely to occur at two places by coincidence: it looks random, like a UUID, a hash or a
/// long number.
pub(super) fn is_generated(token: &str) -> bool {
    let class = |byte: u8| match byte {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' => 1,
        _ => 2,
    };
    let bytes: Vec<u8> = token.bytes().filter(u8::is_ascii_alphanumeric).collect();
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    if bytes.len() < SHORTEST || digits == 0 {
        return false;
    }
    if digits == bytes.len() {
        return digits >= FEWEST_DIGITS;
    }
    let is_hex = token.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let changes = bytes.windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count();
    is_hex || changes >= FEWEST_CHANGES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_random_is_generated() {
        for random in [
            "123e4567-e89b-12d3-a456-426614174000",
            "5f3a9c1d",
            "1718700000123",
            "sess_8Kx2mQ9z",
            "eyJhbGciOiJIUzI1NiJ9",
            "a1b2c3d4",
        ] {
            assert!(is_generated(random), "{random}");
        }
        for ordinary in
            ["1", "ok", "2025-11-25", "20260728", "completed", "resource12", "count_slowly", "get-structured-content"]
        {
            assert!(!is_generated(ordinary), "{ordinary}");
        }
    }

    #[test]
    fn tokens_are_found_in_prose_and_uris() {
        let found: Vec<&str> =
            generated_tokens("note://work/5f3a9c1d22?v=1 and 5f3a9c1d23.").map(|token| token.text).collect();
        assert_eq!(found, ["5f3a9c1d22", "5f3a9c1d23"]);
    }

    #[test]
    fn leaves_have_places() {
        let text = br#" {"a":{"x/y":["p","q\n"]},"n":-12.5,"t":true} "#;
        let found: Vec<_> = leaves(text)
            .into_iter()
            .map(|leaf| {
                (leaf.pointer, leaf.value.into_owned(), String::from_utf8_lossy(&text[leaf.range]).into_owned())
            })
            .collect();
        let expected = [("/a/x~1y/0", "p", "\"p\""), ("/a/x~1y/1", "q\n", "\"q\\n\""), ("/n", "-12.5", "-12.5")];
        assert_eq!(found, expected.map(|(place, value, text)| (place.to_owned(), value.to_owned(), text.to_owned())));
        assert_eq!(leaf_at(text, "/a/x~1y/1").as_deref(), Some("q\n"));
        assert_eq!(leaf_at(text, "/t"), None);
        assert_eq!(leaf_at(text, "/a/z"), None);
    }
}
