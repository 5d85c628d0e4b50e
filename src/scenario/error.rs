//! Errors in a scenario or overlay file. Each points at its line and shows it.

use super::format::TextPosition;
use serde_saphyr::Error as Yaml;
use std::fmt;

/// An error in a file. Displayed on several lines: the position and the reason, then the line itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ScenarioError {
    /// The position; line 0 if unknown.
    pub place: TextPosition,
    /// What is wrong.
    pub why: String,
    /// The line.
    pub line: String,
}

/// The lines of a YAML text, in which a carriage return alone ends a line, too.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('\r'))
}

impl ScenarioError {
    /// An error at a position of this text.
    pub fn new(text: &str, place: TextPosition, why: impl Into<String>) -> Self {
        let at = usize::try_from(place.line).unwrap_or(0);
        let line = lines(text).nth(at.wrapping_sub(1)).unwrap_or_default().to_owned();
        Self { place, why: why.into(), line }
    }

    /// Describes an error of the YAML parser in plain words: the member, and what it must be.
    pub fn from_yaml(text: &str, error: &serde_saphyr::Error) -> Self {
        let place =
            error.location().map(|at| TextPosition { line: at.line(), column: at.column() }).unwrap_or_default();
        let takes = |what: String| match member_at(text, place) {
            Some(name) => format!("`{name}` must be {what}"),
            None => format!("expected {what}"),
        };
        let why = match error.without_snippet() {
            Yaml::Unexpected { expected, .. } => takes(wanted(expected)),
            Yaml::InvalidScalar { ty, .. } => takes(scalar(ty)),
            Yaml::InvalidBooleanStrict { .. } => takes("true or false".to_owned()),
            Yaml::NullIntoString { .. } => takes("a text".to_owned()),
            Yaml::SerdeInvalidType { unexpected, expected, .. }
            | Yaml::SerdeInvalidValue { unexpected, expected, .. } => takes(format!(
                "{expected}, not {}",
                unexpected.replace("sequence", "a list").replace("map", "a mapping")
            )),
            Yaml::SerdeUnknownVariant { variant, expected, .. } => {
                takes(format!("one of {}, not {variant:?}", expected.join(", ")))
            }
            Yaml::SerdeUnknownField { field, expected, .. } => {
                format!("unknown member `{field}`; known members: {}", expected.join(", "))
            }
            Yaml::SerdeMissingField { field, .. } => format!("`{field}` is missing"),
            Yaml::DuplicateMappingKey { key: Some(key), .. } => format!("duplicate member `{key}`"),
            Yaml::MultipleDocuments { .. } => "a second document begins here, but a file can only have one".to_owned(),
            Yaml::Eof { .. } => "unexpected end of the file".to_owned(),
            other => {
                let plain = other.to_string();
                // We print the position ourselves.
                let plain = plain.rfind(" at line ").map_or(plain.as_str(), |at| &plain[..at]);
                format!("invalid YAML: {plain}")
            }
        };
        Self::new(text, place, why)
    }
}

/// What is expected, as users would write it.
fn wanted(expected: &str) -> String {
    match expected {
        "string scalar" => "a string".to_owned(),
        "sequence start" => "a list: lines that begin with `- `, or [one, another]".to_owned(),
        "mapping start" => "a mapping: lines such as `name: value`, or {name: value}".to_owned(),
        other => other.to_owned(),
    }
}

fn scalar(ty: &str) -> String {
    match ty.as_bytes() {
        [b'u', ..] => "a whole number, 0 or more".to_owned(),
        [b'i', ..] => "a whole number".to_owned(),
        [b'f', ..] => "a number".to_owned(),
        _ => ty.to_owned(),
    }
}

/// The name of the member whose name or value is at this position.
fn member_at(text: &str, place: TextPosition) -> Option<&str> {
    let number = usize::try_from(place.line).ok()?.checked_sub(1)?;
    let lines: Vec<&str> = lines(text).take(number + 1).collect();
    let line = lines.get(number)?;
    let column = usize::try_from(place.column).ok()?.checked_sub(1)?;
    let at = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    let (before, after) = line.split_at(at);
    let is_name =
        |word: &&str| !word.is_empty() && word.chars().all(|one| one.is_alphanumeric() || matches!(one, '_' | '-'));
    // Try a name right here, then one before the value, then one at the end of the line above.
    let here = after.split_once(':').map(|(name, _)| name);
    let last = |text: &str| -> Option<usize> { text.trim_end().strip_suffix(':').map(str::len) };
    let before_value = last(before).map(|end| before[..end].rsplit([' ', '{', ',', '-']).next().unwrap_or_default());
    let is_first = before.trim_start_matches([' ', '-']).is_empty();
    let above = lines[..number].iter().rev().find(|line| !line.trim().is_empty()).filter(|_| is_first);
    let above = above.and_then(|line| last(line).map(|end| line[..end].trim_start_matches([' ', '-'])));
    here.filter(is_name).or(before_value.filter(is_name)).or(above.filter(is_name))
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TextPosition { line, column } = self.place;
        if line == 0 {
            return out.write_str(&self.why);
        }
        writeln!(out, "line {line}, column {column}: {}", self.why)?;
        let number = line.to_string();
        writeln!(out, "  {number} | {}", self.line)?;
        let before = usize::try_from(column).unwrap_or(1).saturating_sub(1);
        write!(out, "  {} | {}^", " ".repeat(number.len()), " ".repeat(before))
    }
}
