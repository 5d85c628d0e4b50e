//! Where a scenario's report goes: in words, as one JSON object, as JUnit XML.

use super::super::Outcome;
use crate::error::CommandError;
use crate::record::output::{self, Output};
use crate::render::scenario as render;
use crate::render::style::Palette;
use crate::scenario::Report;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A JUnit file, begun before the scenario is played: what cannot be written is known at once, not a day later.
pub struct Junit {
    path: PathBuf,
    out: Output,
}

impl Junit {
    /// Begins it; what an older run wrote stays until this one has its report.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn open(path: &Path) -> Result<Self, CommandError> {
        let out = Output::begin(path, true, output::SHARED).map_err(|error| {
            CommandError::usage(format!("--junit: {}", error.message)).hint("its folder must be there already")
        })?;
        Ok(Self { path: path.to_owned(), out })
    }

    /// Writes the report; `scenario` is the scenario's name on disk.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(mut self, report: &Report, scenario: &str) -> Result<(), CommandError> {
        let mut text = String::new();
        // A string takes all.
        let _ = render::junit(report, scenario, &mut text);
        self.out.write_all(text.as_bytes()).map_err(|error| CommandError::writing(&self.path, &error))?;
        self.out.finish()
    }
}

/// The report in words; with `all`, what passed too.
pub fn text(report: &Report, scenario: &str, all: bool, palette: &Palette) -> String {
    let mut text = String::new();
    let _ = render::text(report, scenario, all, palette, &mut text);
    text
}

/// What a report means for the exit code.
pub fn outcome(report: &Report) -> Outcome {
    if report.is_passed() { Outcome::Clean } else { Outcome::Findings }
}
