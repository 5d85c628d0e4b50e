//! Finds the strings and numbers of JSON text with their places, without parsing them.

use crate::wire::json::{self, skip_scalar, skip_space, skip_string};
use std::borrow::Cow;
use std::ops::Range;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A member: the place of its name, between the quotes.
    Member(Range<usize>),
    /// An item of an array.
    Item(usize),
}

/// What a spot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpotKind {
    /// The name of a member.
    Name,
    /// A string.
    Text,
    /// A number, or another value without quotes.
    Scalar,
}

/// A place in JSON text where a secret may be.
#[derive(Clone, Debug)]
pub(super) struct Spot<'a> {
    /// The whole text.
    text: &'a [u8],
    /// The path.
    pub path: &'a [Step],
    /// Its contents: of a string, between the quotes.
    pub range: Range<usize>,
    /// What it is.
    pub kind: SpotKind,
    /// The place of the name that describes the value.
    name: Option<Range<usize>>,
}

impl Spot<'_> {
    /// The name that describes the value: that of its member, of the member with its array, or of the `name` beside a
    /// `value`.
    pub(super) fn name(&self) -> Option<Cow<'_, str>> {
        self.name.clone().and_then(|range| self.text.get(range)).map(unescaped)
    }

    /// The place of that name.
    pub(super) fn name_range(&self) -> Option<&Range<usize>> {
        self.name.as_ref()
    }

    /// The contents.
    pub(super) fn contents(&self) -> &[u8] {
        self.text.get(self.range.clone()).unwrap_or_default()
    }

    /// The JSON Pointer.
    pub(super) fn pointer(&self) -> String {
        let mut pointer = String::new();
        for step in self.path {
            pointer.push('/');
            match step {
                Step::Item(index) => pointer.push_str(&index.to_string()),
                Step::Member(name) => {
                    let name = unescaped(self.text.get(name.clone()).unwrap_or_default());
                    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                }
            }
        }
        pointer
    }
}

fn unescaped(name: &[u8]) -> Cow<'_, str> {
    match name.contains(&b'\\') {
        true => Cow::Owned(json::unescape(name)),
        false => String::from_utf8_lossy(name),
    }
}

/// An array or object that is open.
struct Open {
    is_object: bool,
    /// In an object: the value of a member `name` or `key`, which may describe the `value` after it.
    label: Option<Range<usize>>,
}

/// Passes every string and number to `visit`, in order. Returns whether the text is one JSON value with nothing after
/// it, as far as its structure goes; if not, `visit` may have been called for a part of it.
pub(super) fn walk(text: &[u8], mut visit: impl FnMut(&Spot<'_>)) -> bool {
    Walk { text, at: skip_space(text, 0), path: Vec::new(), open: Vec::new() }.run(&mut visit).is_some()
}

struct Walk<'a> {
    text: &'a [u8],
    at: usize,
    path: Vec<Step>,
    open: Vec<Open>,
}

impl Walk<'_> {
    fn run(&mut self, visit: &mut impl FnMut(&Spot<'_>)) -> Option<()> {
        loop {
            let is_container = self.value(visit)?;
            if !is_container || self.closes() {
                loop {
                    if self.open.is_empty() {
                        self.at = skip_space(self.text, self.at);
                        return (self.at == self.text.len()).then_some(());
                    }
                    if self.next(visit)? {
                        break;
                    }
                }
            } else {
                self.first(visit)?;
            }
        }
    }

    /// Takes a value; of an array or object, its bracket. Returns whether it is one.
    fn value(&mut self, visit: &mut impl FnMut(&Spot<'_>)) -> Option<bool> {
        let start = self.at;
        match self.text.get(start)? {
            bracket @ (b'{' | b'[') => {
                self.open.push(Open { is_object: *bracket == b'{', label: None });
                self.at = start + 1;
                return Some(true);
            }
            b'"' => {
                self.at = skip_string(self.text, start + 1)?;
                self.remember_label(start + 1..self.at - 1);
                self.visit(start + 1..self.at - 1, SpotKind::Text, visit);
            }
            _ => {
                self.at = skip_scalar(self.text, start);
                if self.at == start {
                    return None;
                }
                self.visit(start..self.at, SpotKind::Scalar, visit);
            }
        }
        Some(false)
    }

    /// Whether the array or object that has just begun is empty; if so, it is taken.
    fn closes(&mut self) -> bool {
        self.at = skip_space(self.text, self.at);
        let is_object = self.open.last().is_some_and(|open| open.is_object);
        let is_end = self.text.get(self.at) == Some(if is_object { &b'}' } else { &b']' });
        if is_end {
            self.at += 1;
            self.open.pop();
        }
        is_end
    }

    /// Goes to the first member or item.
    fn first(&mut self, visit: &mut impl FnMut(&Spot<'_>)) -> Option<()> {
        match self.open.last()?.is_object {
            true => self.key(visit),
            false => {
                self.path.push(Step::Item(0));
                Some(())
            }
        }
    }

    /// After a value: goes to the next one (true), or takes a closing bracket (false).
    fn next(&mut self, visit: &mut impl FnMut(&Spot<'_>)) -> Option<bool> {
        self.at = skip_space(self.text, self.at);
        let is_object = self.open.last()?.is_object;
        let step = self.path.pop()?;
        match (self.text.get(self.at)?, step) {
            (b',', Step::Item(index)) if !is_object => {
                self.path.push(Step::Item(index + 1));
                self.at = skip_space(self.text, self.at + 1);
                Some(true)
            }
            (b',', _) if is_object => {
                self.at = skip_space(self.text, self.at + 1);
                self.key(visit).map(|()| true)
            }
            (b'}', _) if is_object => self.close(),
            (b']', _) if !is_object => self.close(),
            _ => None,
        }
    }

    fn close(&mut self) -> Option<bool> {
        self.at += 1;
        self.open.pop();
        Some(false)
    }

    /// Takes the name of a member and its colon.
    fn key(&mut self, visit: &mut impl FnMut(&Spot<'_>)) -> Option<()> {
        let start = self.at;
        if self.text.get(start) != Some(&b'"') {
            return None;
        }
        let end = skip_string(self.text, start + 1)?;
        self.path.push(Step::Member(start + 1..end - 1));
        self.visit(start + 1..end - 1, SpotKind::Name, visit);
        self.at = skip_space(self.text, end);
        if self.text.get(self.at) != Some(&b':') {
            return None;
        }
        self.at = skip_space(self.text, self.at + 1);
        Some(())
    }

    fn member(&self) -> Option<&[u8]> {
        match self.path.last() {
            Some(Step::Member(name)) => self.text.get(name.clone()),
            _ => None,
        }
    }

    fn remember_label(&mut self, value: Range<usize>) {
        if matches!(self.member(), Some(b"name" | b"key" | b"header"))
            && let Some(open) = self.open.last_mut()
        {
            open.label = Some(value);
        }
    }

    fn visit(&self, range: Range<usize>, kind: SpotKind, visit: &mut impl FnMut(&Spot<'_>)) {
        let label = || self.open.last().and_then(|open| open.label.clone());
        let members = self.path.iter().rev().find_map(|step| match step {
            Step::Member(name) => Some(name.clone()),
            Step::Item(_) => None,
        });
        let name = match self.member() {
            Some(b"value") => label().or(members),
            _ => members,
        };
        visit(&Spot { text: self.text, path: &self.path, range, kind, name });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spots(text: &str) -> (Vec<String>, bool) {
        let mut found = Vec::new();
        let is_whole = walk(text.as_bytes(), |spot| {
            let contents = String::from_utf8_lossy(spot.contents()).into_owned();
            found.push(format!("{} {} {contents}", spot.pointer(), spot.name().unwrap_or_default()));
        });
        (found, is_whole)
    }

    #[test]
    fn strings_names_and_numbers_are_found_with_their_places() {
        let text = r#" {"a":[1,{"b":"x"},[]],"c/~\u0064":"y","e":{},"name":"N","value":["v"]} "#;
        assert_eq!(
            spots(text).0,
            [
                "/a a a",
                "/a/0 a 1",
                "/a/1/b b b",
                "/a/1/b b x",
                "/c~1~0d c/~d c/~\\u0064",
                "/c~1~0d c/~d y",
                "/e e e",
                "/name name name",
                "/name name N",
                "/value N value",
                "/value/0 value v",
            ]
        );
        assert!(spots(text).1);
        assert_eq!(spots("\"x\""), (vec!["  x".to_owned()], true));
    }

    #[test]
    fn broken_text_is_reported() {
        for text in ["", "{", "{\"a\":", "[1,]x", "{} {}", "[1}", "{\"a\" 1}", "]", "[1 2]"] {
            assert!(!spots(text).1, "{text}");
        }
    }

    #[test]
    fn depth_needs_no_recursion() {
        assert!(spots(&format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000))).1);
    }
}
