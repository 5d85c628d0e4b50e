//! `.mcpreel.toml`: the settings of a project, one table per command.
//!
//! Only knows that there are tables. Each command defines the settings in its own table. This module must never open
//! files or print.

use serde::de::{DeserializeOwned, IntoDeserializer};
use std::ops::Range;
use thiserror::Error;
use toml_edit::Document;

/// The name of the file.
pub(crate) const FILE_NAME: &str = ".mcpreel.toml";

/// The tables that the file may have, one for each command with settings.
const TABLES: [&str; 4] = ["diff", "redact", "replay", "validate"];

/// The list of packs, for all commands.
const PACKS: &str = "packs";

/// Why the file, or a table in it, is invalid.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{line}:{column}: {message}")]
pub struct ProjectFileError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
}

/// The parsed file.
#[derive(Clone, Debug)]
pub struct ProjectFile {
    document: Document<String>,
}

impl ProjectFile {
    /// Parses the text of the file.
    ///
    /// # Errors
    ///
    /// If the text is not TOML, or has a table that mcpreel does not know.
    pub fn parse(text: &str) -> Result<Self, ProjectFileError> {
        let document = Document::parse(text.to_owned()).map_err(|error| place(text, error.span(), error.message()))?;
        for (name, _) in document.as_table() {
            if !TABLES.contains(&name) && name != PACKS {
                let span = document.as_table().key(name).and_then(toml_edit::Key::span);
                let expected = TABLES.join(", ");
                return Err(place(
                    text,
                    span,
                    &format!("unknown table `{name}`: expected {expected}, or the list {PACKS}"),
                ));
            }
        }
        Ok(Self { document })
    }

    /// The packs, as they are written.
    ///
    /// # Errors
    ///
    /// If the member is not a list of strings; with the place in the file.
    pub fn packs(&self) -> Result<Vec<String>, ProjectFileError> {
        let Some(item) = self.document.get(PACKS) else { return Ok(Vec::new()) };
        let wrong = |span: Option<Range<usize>>| {
            place(self.document.raw(), span.or_else(|| item.span()), "expected a list of files or names of packs")
        };
        let list = item.as_array().ok_or_else(|| wrong(None))?;
        let text = |one: &toml_edit::Value| one.as_str().map(str::to_owned).ok_or_else(|| wrong(one.span()));
        list.iter().map(text).collect()
    }

    /// The settings in the table `name`, or the defaults if the file has no such table.
    ///
    /// `T` should refuse unknown members (`#[serde(deny_unknown_fields)]`), so that no misspelt setting is ignored.
    ///
    /// # Errors
    ///
    /// If the table's content does not fit `T`; with the place in the file.
    pub fn table<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T, ProjectFileError> {
        debug_assert!(TABLES.contains(&name), "{name} is not in TABLES");
        let Some(item) = self.document.get(name) else { return Ok(T::default()) };
        let invalid = |span: Option<Range<usize>>, message: &str| {
            place(self.document.raw(), span.or_else(|| item.span()), message)
        };
        let Ok(value) = item.clone().into_value() else { return Err(invalid(None, "expected one table")) };
        T::deserialize(value.into_deserializer()).map_err(|error| invalid(error.span(), error.message()))
    }
}

/// An error with the line and column where `span` begins in `text`.
fn place(text: &str, span: Option<Range<usize>>, message: &str) -> ProjectFileError {
    let before = text.get(..span.map_or(0, |span| span.start)).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    ProjectFileError {
        line: before.matches('\n').count() + 1,
        column: before.get(line_start..).map_or(0, |line| line.chars().count()) + 1,
        message: message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields, default)]
    struct DiffTable {
        ignore: Vec<String>,
        tolerance: f64,
    }

    fn error(text: &str) -> String {
        match ProjectFile::parse(text).and_then(|file| file.table::<DiffTable>("diff")) {
            Ok(table) => panic!("accepted: {table:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_table_is_read_and_a_missing_one_has_the_defaults() {
        let file = ProjectFile::parse("[diff]\nignore = ['/a']\ntolerance = 0.5\n").unwrap();
        assert_eq!(file.table("diff"), Ok(DiffTable { ignore: vec!["/a".to_owned()], tolerance: 0.5 }));
        assert_eq!(file.table("replay"), Ok(DiffTable::default()));
    }

    #[test]
    fn packs_are_a_list_of_texts() {
        let packs = |text: &str| ProjectFile::parse(text).and_then(|file| file.packs());
        assert_eq!(packs("packs = ['a.yaml', 'mcp-events']\n[diff]\n"), Ok(vec!["a.yaml".into(), "mcp-events".into()]));
        assert_eq!(packs(""), Ok(Vec::new()));
        assert!(packs("packs = 'a'").unwrap_err().to_string().starts_with("1:9: expected a list"));
        assert!(packs("packs = ['a', 5]").unwrap_err().to_string().starts_with("1:15: "));
    }

    #[test]
    fn errors_name_the_place() {
        assert!(error("[diff]\n  ignore = 5\n").starts_with("2:12: "), "{}", error("[diff]\n  ignore = 5\n"));
        assert!(error("[diff]\nignored = []\n").starts_with("2:1: unknown field `ignored`"));
        assert!(error("[diff\n").starts_with("1:"));
        assert_eq!(
            error("\n[dif]\n"),
            "2:2: unknown table `dif`: expected diff, redact, replay, validate, or the list packs"
        );
    }
}
