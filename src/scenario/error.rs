//! What is wrong with a scenario, and where: every error points at its line and shows it.

use super::format::Place;
use std::fmt;

/// What is wrong with a scenario. Its words stand over several lines: the place and the reason, then the line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ScenarioError {
    /// Where; line 0 where that is not known.
    pub place: Place,
    /// What is wrong.
    pub why: String,
    /// The line.
    pub line: String,
}

impl ScenarioError {
    /// An error at a place of this text.
    pub fn new(text: &str, place: Place, why: impl Into<String>) -> Self {
        let at = usize::try_from(place.line).unwrap_or(0);
        let line = text.lines().nth(at.wrapping_sub(1)).unwrap_or_default().to_owned();
        Self { place, why: why.into(), line }
    }

    /// What the reader of YAML says.
    pub fn from_yaml(text: &str, error: &serde_saphyr::Error) -> Self {
        let place = error.location().map(|at| Place { line: at.line(), column: at.column() }).unwrap_or_default();
        let plain = error.without_snippet().to_string();
        // The place is told once, by us.
        let why = plain.rfind(" at line ").map_or(plain.as_str(), |at| &plain[..at]);
        Self::new(text, place, why)
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { line, column } = self.place;
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
