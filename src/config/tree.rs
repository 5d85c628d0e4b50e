//! A configuration as a tree that knows the place of each value, for both JSON with comments and TOML.
//!
//! This module must never open files or read the environment.

use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, ast, parse_to_ast};
use serde_json::Value;
use std::ops::Range;
use toml_edit::{Document, Item, Table};

/// The format of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON; comments and trailing commas are allowed.
    Json,
    /// TOML.
    Toml,
}

/// A value and its place in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its bytes, from the first to just after the last.
    pub range: Range<usize>,
    /// The value.
    pub kind: Kind,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// An object or a table.
    Map(Style, Vec<Member>),
    /// A number, a boolean, null or a date.
    Other(Value),
}

/// How a map is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Style {
    /// A JSON object.
    Object,
    /// `{ … }` in TOML.
    Inline,
    /// A TOML table below its header, with the bytes of the header.
    Table(Range<usize>),
    /// A TOML table that exists only through the keys of its members.
    Implied,
}

/// A member of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// The start of its name; for a TOML table, the start of its header.
    pub start: usize,
    /// Its value.
    pub value: Node,
}

impl Member {
    /// Returns the bytes of the name and the value.
    pub fn range(&self) -> Range<usize> {
        self.start..self.value.range.end
    }

    /// Returns whether the member is a TOML table below its own header.
    pub fn is_table(&self) -> bool {
        matches!(self.value.kind, Kind::Map(Style::Table(_), _))
    }
}

impl Node {
    /// Returns the members of a map; nothing for other values.
    pub fn members(&self) -> &[Member] {
        match &self.kind {
            Kind::Map(_, members) => members,
            _ => &[],
        }
    }

    /// Returns a member of a map: the last one of this name, as JSON parsers do.
    pub fn get(&self, name: &str) -> Option<&Member> {
        self.members().iter().rfind(|member| member.name == name)
    }

    /// Returns the value of a member that is a string.
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(|member| member.value.text())
    }

    /// Returns the text of a string.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the value without the places.
    pub fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Text(text) => text.as_str().into(),
            Kind::List(elements) => elements.iter().map(Self::to_value).collect(),
            Kind::Map(_, members) => {
                Value::Object(members.iter().map(|one| (one.name.clone(), one.value.to_value())).collect())
            }
            Kind::Other(value) => value.clone(),
        }
    }
}

/// Parses the text of a configuration.
///
/// # Errors
///
/// If the text is not valid: what is wrong, and where.
pub fn parse(text: &str, format: Format) -> Result<Node, String> {
    match format {
        Format::Json => {
            let options = ParseOptions {
                allow_loose_object_property_names: false,
                allow_missing_commas: false,
                allow_single_quoted_strings: false,
                allow_hexadecimal_numbers: false,
                allow_unary_plus_numbers: false,
                allow_bare_decimal_point_numbers: false,
                allow_non_finite_numbers: false,
                allow_extended_string_escapes: false,
                ..ParseOptions::default()
            };
            let parsed = parse_to_ast(text, &CollectOptions::default(), &options).map_err(|error| error.to_string())?;
            let nothing = || Node { range: 0..0, kind: Kind::Other(Value::Null) };
            Ok(parsed.value.as_ref().map_or_else(nothing, json))
        }
        Format::Toml => {
            let document = Document::parse(text).map_err(|error| error.to_string().trim_end().replace('\n', " "))?;
            Ok(table(document.as_table(), 0))
        }
    }
}

fn json(value: &ast::Value<'_>) -> Node {
    let range = value.range();
    let kind = match value {
        ast::Value::StringLit(text) => Kind::Text(text.value.to_string()),
        ast::Value::NumberLit(number) => Kind::Other(serde_json::from_str(number.value).unwrap_or(Value::Null)),
        ast::Value::BooleanLit(truth) => Kind::Other(truth.value.into()),
        ast::Value::NullKeyword(_) => Kind::Other(Value::Null),
        ast::Value::Array(array) => Kind::List(array.elements.iter().map(json).collect()),
        ast::Value::Object(object) => {
            let member = |one: &ast::ObjectProp<'_>| Member {
                name: one.name.as_str().to_owned(),
                start: one.range.start,
                value: json(&one.value),
            };
            Kind::Map(Style::Object, object.properties.iter().map(member).collect())
        }
    };
    Node { range: range.start..range.end, kind }
}

/// Converts a TOML table. `start` is where it begins if it has no header of its own.
fn table(table: &Table, start: usize) -> Node {
    let header = table.span().filter(|span| !table.is_implicit() && !table.is_dotted() && !span.is_empty());
    let members: Vec<Member> =
        table.iter().filter_map(|(name, item)| item_member(name, table.key(name)?.span()?, item)).collect();
    let start = match &header {
        Some(header) => header.start,
        None => members.iter().map(|member| member.start).min().unwrap_or(start),
    };
    let least = header.as_ref().map_or(start, |header| header.end);
    let end = members.iter().map(|member| member.value.range.end).fold(least, usize::max);
    let style = header.map_or(Style::Implied, Style::Table);
    Node { range: start..end, kind: Kind::Map(style, members) }
}

fn item_member(name: &str, key: Range<usize>, item: &Item) -> Option<Member> {
    let value = match item {
        Item::None => return None,
        Item::Value(value) => toml_value(value),
        Item::Table(inner) => table(inner, key.start),
        Item::ArrayOfTables(tables) => {
            let elements: Vec<Node> = tables.iter().map(|one| table(one, key.start)).collect();
            let end = elements.iter().map(|one| one.range.end).fold(key.end, usize::max);
            Node { range: key.start..end, kind: Kind::List(elements) }
        }
    };
    let start = if matches!(item, Item::Table(_)) { value.range.start } else { key.start };
    Some(Member { name: name.to_owned(), start, value })
}

fn toml_value(value: &toml_edit::Value) -> Node {
    let kind = match value {
        toml_edit::Value::String(text) => Kind::Text(text.value().clone()),
        toml_edit::Value::Integer(number) => Kind::Other((*number.value()).into()),
        toml_edit::Value::Float(number) => Kind::Other((*number.value()).into()),
        toml_edit::Value::Boolean(truth) => Kind::Other((*truth.value()).into()),
        toml_edit::Value::Datetime(time) => Kind::Other(time.value().to_string().into()),
        toml_edit::Value::Array(array) => Kind::List(array.iter().map(toml_value).collect()),
        toml_edit::Value::InlineTable(inner) => {
            let member = |(name, value): (&str, &toml_edit::Value)| {
                let start = inner.key(name)?.span()?.start;
                Some(Member { name: name.to_owned(), start, value: toml_value(value) })
            };
            let style = if inner.is_dotted() { Style::Implied } else { Style::Inline };
            Kind::Map(style, inner.iter().filter_map(member).collect())
        }
    };
    let members = match &kind {
        Kind::Map(Style::Implied, members) => members.as_slice(),
        _ => &[],
    };
    let implied = || {
        let start = members.iter().map(|member| member.start).min().unwrap_or_default();
        start..members.iter().map(|member| member.value.range.end).max().unwrap_or_default()
    };
    let range = if members.is_empty() { value.span().unwrap_or_default() } else { implied() };
    Node { range, kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text of every value, with its path.
    fn places(text: &str, format: Format) -> Vec<String> {
        fn walk(node: &Node, path: &str, text: &str, out: &mut Vec<String>) {
            match &node.kind {
                Kind::Map(_, members) => {
                    for one in members {
                        let path = format!("{path}/{}", one.name);
                        out.push(format!("{path}={}", &text[one.range()]));
                        walk(&one.value, &path, text, out);
                    }
                }
                Kind::List(elements) => {
                    elements.iter().enumerate().for_each(|(at, one)| walk(one, &format!("{path}/{at}"), text, out));
                }
                _ => out.push(format!("{path}:{}", &text[node.range.clone()])),
            }
        }
        let mut out = Vec::new();
        walk(&parse(text, format).unwrap(), "", text, &mut out);
        out
    }

    #[test]
    fn json_with_comments_knows_its_places() {
        let text = "// é\n{ /* a */ \"a\": [\"x\", 1,], // end\n \"b\": {\"c\": null,} }";
        let expected = [
            "/a=\"a\": [\"x\", 1,]",
            "/a/0:\"x\"",
            "/a/1:1",
            "/b=\"b\": {\"c\": null,}",
            "/b/c=\"c\": null",
            "/b/c:null",
        ];
        assert_eq!(places(text, Format::Json), expected);
        assert_eq!(parse("", Format::Json).unwrap().members(), []);
        for wrong in ["{'a': 1}", "{\"a\" 1}", "{a: 1}", "{\"a\": 0x1}", "{} x"] {
            assert!(parse(wrong, Format::Json).is_err(), "{wrong}");
        }
    }

    #[test]
    fn toml_knows_its_places() {
        let text = "x.y = 1\n[a.b] # t\nc = 'é' # c\nd = { e = [ 1, \"2\" ] }\n[a.b.f]\ng = 2026-01-02\n\n[h]\n";
        let expected = [
            "/x=x.y = 1",
            "/x/y=y = 1",
            "/x/y:1",
            "/a=[a.b] # t\nc = 'é' # c\nd = { e = [ 1, \"2\" ] }\n[a.b.f]\ng = 2026-01-02",
            "/a/b=[a.b] # t\nc = 'é' # c\nd = { e = [ 1, \"2\" ] }\n[a.b.f]\ng = 2026-01-02",
            "/a/b/c=c = 'é'",
            "/a/b/c:'é'",
            "/a/b/d=d = { e = [ 1, \"2\" ] }",
            "/a/b/d/e=e = [ 1, \"2\" ]",
            "/a/b/d/e/0:1",
            "/a/b/d/e/1:\"2\"",
            "/a/b/f=[a.b.f]\ng = 2026-01-02",
            "/a/b/f/g=g = 2026-01-02",
            "/a/b/f/g:2026-01-02",
            "/h=[h]",
        ];
        let found = places(text, Format::Toml);
        // The outer members of a dotted key begin where the inner one does.
        assert_eq!(
            found[1..].iter().filter(|one| !one.starts_with("/x")).collect::<Vec<_>>(),
            expected[3..].iter().collect::<Vec<_>>()
        );
        assert!(parse("a = ", Format::Toml).is_err());
    }
}
