//! Writes the report of a scenario: as text, as one JSON object, as JUnit XML.

use super::Outcome;
use super::recordings::twice::TwicePath;
use super::redaction::{RedactOptions, learn};
use super::secret_warning::SecretWarning;
use crate::error::{CommandError, ErrorKind};
use crate::files::output::{self, Output};
use crate::render::results::{Form, Results, Suite};
use crate::render::scenario as render;
use crate::render::style::Palette;
use crate::render::text::guarded;
use crate::scenario::Report;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A JUnit file, created before the scenario is played or the recording replayed, so that a file that cannot be written is noticed at once.
pub(crate) struct Junit {
    path: PathBuf,
    out: Output,
}

impl Junit {
    /// Begins the file. The report of an earlier run is kept until this one is complete.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(crate) fn open(path: &Path) -> Result<Self, CommandError> {
        let out = Output::begin(path, true, output::SHARED).map_err(|error| {
            CommandError::usage(format!("--junit: {}", error.message)).hint("its folder must exist")
        })?;
        Ok(Self { path: path.to_owned(), out })
    }

    /// Writes the report. `scenario` is the path of the scenario.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(crate) fn write(self, report: &Report, scenario: &str) -> Result<(), CommandError> {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = render::junit(report, scenario, &mut text);
        self.write_text(&text)
    }

    /// Passes on what was done, with the file if the user wants one. If it failed, the file says why.
    ///
    /// # Errors
    ///
    /// It failed, or the file cannot be written.
    pub(crate) fn unless_broken<T>(
        junit: Option<Self>,
        name: &Path,
        done: Result<T, CommandError>,
    ) -> Result<(T, Option<Self>), CommandError> {
        match (done, junit) {
            (Ok(done), junit) => Ok((done, junit)),
            (Err(error), Some(junit)) if !matches!(error.kind, ErrorKind::Quiet | ErrorKind::Interrupted) => {
                let suite = Suite::broken(&name.display().to_string(), &error.message, &error.hints);
                let results = Results { suites: vec![suite], ..Results::default() };
                let mut text = String::new();
                // Writing to a string cannot fail.
                let _ = Form::Junit.write(&results, &mut text);
                junit.write_text(&text).and(Err(error))
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Writes a report that is JUnit XML already.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(crate) fn write_text(mut self, text: &str) -> Result<(), CommandError> {
        self.out.write_all(guarded(text).as_bytes()).map_err(|error| CommandError::writing(&self.path, &error))?;
        self.out.finish()
    }
}

/// Replaces the secrets in a report if the user wants that; otherwise, notes what looks like one, unless the report is
/// only seen. What is a secret is learnt from the reel, if there is one.
///
/// # Errors
///
/// The reel cannot be read, or a setting is not valid.
pub(crate) fn redact(
    report: &mut Report,
    reel: Option<&Path>,
    options: &RedactOptions,
    is_only_seen: bool,
) -> Result<(), CommandError> {
    if options.redact {
        let mut learner = options.key.learner()?;
        if let Some(reel) = reel {
            learn(&mut learner, &TwicePath::of(Some(reel))?)?;
        }
        let mut redactor = learner.finish();
        report.texts_mut().for_each(|text| *text = redactor.text(text));
    } else if !is_only_seen {
        let mut warning = SecretWarning::new(options)?;
        report.texts_mut().for_each(|text| warning.take_text(text));
        warning.print();
    }
    Ok(())
}

/// The report as text. With `all`, it includes what passed.
pub(crate) fn text(report: &Report, scenario: &str, all: bool, palette: &Palette) -> String {
    let mut text = String::new();
    let _ = render::text(report, scenario, all, palette, &mut text);
    text
}

/// A report as JSON, with the path of the reel, if there is one.
pub(crate) fn to_json(report: &Report, reel: Option<&Path>) -> serde_json::Value {
    let mut value = report.to_json();
    value["event"] = json!("report");
    value["reel"] = json!(reel.map(|reel| reel.display().to_string()));
    value
}

/// The outcome of a command, which determines the exit code.
pub(crate) fn outcome(report: &Report) -> Outcome {
    if report.is_passed() { Outcome::Clean } else { Outcome::Findings }
}
