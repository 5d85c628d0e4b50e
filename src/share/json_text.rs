//! Finds the strings and numbers of JSON text with their places, without parsing them.

use crate::wire::json::{self, skip_scalar, skip_space, skip_string};
use std::borrow::Cow;
use std::ops::Range;

/// Arrays and objects that are nested deeper are searched as text: each level takes memory.
const MAX_NESTED: usize = 100_000;

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
    /// The place of the name of its member.
    own_name: Option<Range<usize>>,
    /// In an array: the strings before it.
    before: &'a [Range<usize>],
    /// In an array: the program whose arguments it may contain.
    program: Option<Range<usize>>,
}

impl Spot<'_> {
    /// The name that describes the value: that of its member, of the member with its array, of the `name` beside a
    /// `value`, of the member whose `value` it is, or the flag before it in an array.
    pub(super) fn name(&self) -> Option<Cow<'_, str>> {
        self.name.clone().and_then(|range| self.text.get(range)).map(unescaped)
    }

    /// The name of its member, or of the member with its array.
    pub(super) fn own_name(&self) -> Option<Cow<'_, str>> {
        self.own_name.clone().and_then(|range| self.text.get(range)).map(unescaped)
    }

    /// The place of that name.
    pub(super) fn name_range(&self) -> Option<&Range<usize>> {
        self.name.as_ref()
    }

    /// The string before it in an array.
    pub(super) fn previous(&self) -> Option<Cow<'_, str>> {
        self.before.last().and_then(|range| self.text.get(range.clone())).map(unescaped)
    }

    /// The place from the first string of its array on; its own place, if there is none before.
    pub(super) fn with_previous(&self) -> Range<usize> {
        self.before.first().map_or(self.range.start, |first| first.start)..self.range.end
    }

    /// The command line of which it is an argument, up to it: the strings of its array, if one of them is an option.
    pub(super) fn command_line(&self) -> Option<String> {
        let is_option = |range: &Range<usize>| self.text.get(range.start) == Some(&b'-');
        let nearest = &self.before[self.before.len().saturating_sub(NEAREST_ARGUMENTS)..];
        if self.kind != SpotKind::Text || !nearest.iter().any(is_option) && !is_option(&self.range) {
            return None;
        }
        let words = self.program.iter().chain(nearest).filter_map(|range| self.text.get(range.clone()));
        let line: String = words.map(|word| format!("{} ", unescaped(word))).collect();
        Some(line).filter(|line| !line.is_empty())
    }

    /// Whether it is a variable of a program's environment, or a header.
    pub(super) fn is_setting(&self) -> bool {
        match self.path {
            [.., Step::Member(around), Step::Member(_)] => {
                self.text.get(around.clone()).is_some_and(|name| is_in(&SETTINGS, name))
            }
            _ => false,
        }
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

/// Members that say what the value beside them is.
const LABELS: [&str; 13] = [
    "name",
    "key",
    "header",
    "field",
    "label",
    "variable",
    "param",
    "parameter",
    "property",
    "attribute",
    "title",
    "k",
    "id",
];
/// Members with a value that the `name` beside them describes, or else the member with their object.
const VALUES: [&str; 5] = ["value", "val", "v", "default", "const"];
/// Further members with a value that the member with their object describes.
const CONTENTS: [&str; 7] = ["data", "text", "content", "plaintext", "plain", "raw", "current"];
/// Members that say into which field of a page a text is typed.
const FIELDS: [&str; 2] = ["element", "selector"];
/// Members with variables of a program's environment, or headers.
const SETTINGS: [&str; 4] = ["env", "environment", "headers", "envVars"];
/// Members with the program to which the arguments beside them belong.
const PROGRAMS: [&str; 5] = ["command", "cmd", "program", "executable", "file"];
/// Members with the names of the columns of the rows beside them.
const COLUMNS: [&str; 6] = ["columns", "headers", "header", "fields", "column_names", "columnNames"];
/// The maximum number of strings of an array that are remembered.
const MAX_STRINGS: usize = 100;
/// As many arguments before one may say what it is.
const NEAREST_ARGUMENTS: usize = 12;
/// How far a label after its value is looked for. Unit: bytes.
const NEAR: usize = 2048;

fn is_in(names: &[&str], name: &[u8]) -> bool {
    names.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

/// An array or object that is open.
#[derive(Default)]
struct Open {
    is_object: bool,
    /// In an array: its strings.
    strings: Vec<Range<usize>>,
    /// In an object: the names of the columns of rows in it.
    columns: Vec<Range<usize>>,
    /// In an object: the program of arguments in it.
    program: Option<Range<usize>>,
    /// In an object: the field of a page into which a text is typed.
    field: Option<Range<usize>>,
    /// In an object: the value of a label, which may describe the `value` after it. In an array: the flag before an item.
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
            b'{' | b'[' if self.open.len() == MAX_NESTED => return None,
            bracket @ (b'{' | b'[') => {
                self.open.push(Open { is_object: *bracket == b'{', ..Open::default() });
                self.at = start + 1;
                return Some(true);
            }
            b'"' => {
                self.at = skip_string(self.text, start + 1)?;
                self.visit(start + 1..self.at - 1, SpotKind::Text, visit);
                self.remember_label(start + 1..self.at - 1);
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
        let closed = self.open.pop()?;
        let has_columns = self.member().is_some_and(|name| is_in(&COLUMNS, name));
        if let Some(open) = self.open.last_mut().filter(|open| has_columns && open.is_object) {
            open.columns = closed.strings;
        }
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
        let is_label = self.member().is_some_and(|name| is_in(&LABELS, name));
        let is_program = self.member().is_some_and(|name| is_in(&PROGRAMS, name));
        let is_field = self.member().is_some_and(|name| is_in(&FIELDS, name));
        let is_flag = self.text[value.clone()].starts_with(b"-");
        let Some(open) = self.open.last_mut() else { return };
        if open.is_object {
            open.field = is_field.then(|| value.clone()).or(open.field.take());
            open.program = is_program.then(|| value.clone()).or(open.program.take());
            open.label = is_label.then_some(value).or(open.label.take());
        } else {
            open.label = is_flag.then(|| value.clone());
            open.strings.extend((open.strings.len() < MAX_STRINGS).then_some(value));
        }
    }

    /// Returns the name of the list of cookies, as browsers export them, in one of which a value is.
    fn cookies(&self) -> Option<Range<usize>> {
        match &self.path[..] {
            [.., Step::Member(list), Step::Item(_), Step::Member(_)] => {
                Some(list.clone()).filter(|list| self.text.get(list.clone()) == Some(b"cookies"))
            }
            _ => None,
        }
    }

    /// Returns the name of the column of a value in a row.
    fn column(&self) -> Option<Range<usize>> {
        let [.., table, rows, row] = &self.open[..] else { return None };
        let is_row = !rows.is_object && !row.is_object;
        match self.path.last() {
            Some(Step::Item(index)) if is_row => table.columns.get(*index).cloned(),
            _ => None,
        }
    }

    /// Returns the value of a label after the value that ends at a place.
    fn label_after(&self, end: usize) -> Option<Range<usize>> {
        let text = &self.text[..self.text.len().min(end + NEAR)];
        let mut at = skip_space(text, end + usize::from(text.get(end) == Some(&b'"')));
        while text.get(at) == Some(&b',') {
            let name = skip_space(text, at + 1);
            let name_end = skip_string(text, name + 1)?;
            let value = skip_space(text, skip_space(text, name_end) + 1);
            at = json::skip_value(text, value)?;
            if is_in(&LABELS, text.get(name + 1..name_end - 1)?) && text.get(value) == Some(&b'"') {
                return Some(value + 1..at - 1);
            }
            at = skip_space(text, at);
        }
        None
    }

    /// Returns the place of the name that describes a value. `members` are the members around it, from the inside.
    fn described(&self, range: &Range<usize>, mut members: impl Iterator<Item = Range<usize>>) -> Option<Range<usize>> {
        let open = self.open.last();
        let label = || open.and_then(|open| open.label.clone());
        let own = members.next();
        let is_flag = self.text.get(range.start) == Some(&b'-');
        let Some(member) = self.member() else { return label().filter(|_| !is_flag).or_else(|| self.column()).or(own) };
        let field = || open.and_then(|open| open.field.clone());
        match member {
            name if is_in(&VALUES, name) => self
                .cookies()
                .or_else(field)
                .or_else(label)
                .or_else(|| self.label_after(range.end))
                .or_else(|| members.next())
                .or(own),
            name if is_in(&CONTENTS, name) => field().or_else(|| members.next()).or(own),
            _ => own,
        }
    }

    fn visit(&self, range: Range<usize>, kind: SpotKind, visit: &mut impl FnMut(&Spot<'_>)) {
        let member = |step: &Step| match step {
            Step::Member(name) => Some(name.clone()),
            Step::Item(_) => None,
        };
        let members = || self.path.iter().rev().filter_map(member);
        let name = if kind == SpotKind::Name { members().next() } else { self.described(&range, members()) };
        let own_name = members().next();
        let strings = self.open.last().filter(|open| !open.is_object).map(|open| &open.strings[..]);
        let around = self.open.len().checked_sub(2).and_then(|at| self.open.get(at));
        let program = strings.and(around).and_then(|open| open.program.clone());
        let before = strings.unwrap_or_default();
        visit(&Spot { text: self.text, path: &self.path, range, kind, name, own_name, before, program });
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
                "/value value value",
                "/value/0 value v",
            ]
        );
        assert!(spots(text).1);
        assert_eq!(spots("\"x\""), (vec!["  x".to_owned()], true));
    }

    #[test]
    fn a_value_is_described_by_what_is_beside_or_around_it() {
        for (text, described) in [
            (r#"{"Key":"password","Value":"x"}"#, "/Value password x"),
            (r#"{"value":"x","a":[1],"name":"pin"}"#, "/value pin x"),
            (r#"{"credentials":{"value":"x"}}"#, "/credentials/value credentials x"),
            (r#"{"secret":{"data":"x"}}"#, "/secret/data secret x"),
            (r#"{"name":"get_token","text":"x"}"#, "/text text x"),
            (r#"{"token":{"type":"string","default":"x"}}"#, "/token/default token x"),
            (r#"{"args":["-y","--api-key","x"]}"#, "/args/2 --api-key x"),
            (r#"{"args":["--api-key","x","y"]}"#, "/args/2 args y"),
            (r#"{"args":["--api-key",{"a":"x"}]}"#, "/args/1/a a x"),
            (r#"{"args":["--token","--verbose"]}"#, "/args/1 args --verbose"),
            (r#"{"columns":["user","password"],"rows":[["me","x"],["you","y"]]}"#, "/rows/1/1 password y"),
            (r#"{"columns":["user"],"rows":[["me","x"]]}"#, "/rows/0/1 rows x"),
            (r#"{"value":"x"}"#, "/value value x"),
            (r#"{"value":"x","name":"#, "/value value x"),
        ] {
            assert!(spots(text).0.contains(&described.to_owned()), "{text}: {:?}", spots(text).0);
        }
    }

    #[test]
    fn the_strings_of_an_array_may_be_a_command_line() {
        let lines = |text: &str| {
            let mut found = Vec::new();
            walk(text.as_bytes(), |spot| found.extend(spot.command_line()));
            found
        };
        assert_eq!(lines(r#"["mysql","-pX","db"]"#), ["mysql ", "mysql -pX "]);
        assert_eq!(lines(r#"{"command":"redis-cli","args":["-a","X"]}"#), ["redis-cli ", "redis-cli -a "]);
        assert_eq!(lines(r#"["a","b",{"c":"-d"},1]"#), [""; 0]);
    }

    #[test]
    fn broken_text_is_reported() {
        for text in ["", "{", "{\"a\":", "[1,]x", "{} {}", "[1}", "{\"a\" 1}", "]", "[1 2]"] {
            assert!(!spots(text).1, "{text}");
        }
    }

    #[test]
    fn depth_needs_no_recursion() {
        let nested = |levels: usize| spots(&format!("{}1{}", "[".repeat(levels), "]".repeat(levels))).1;
        assert!(nested(MAX_NESTED) && !nested(MAX_NESTED + 1));
    }
}
