//! What is reported of replays: text, JSON, and results for other programs.

use super::{ReplayArgs, update};
use crate::cli::Context;
use crate::cli::redaction::RedactOptions;
use crate::cli::secret_warning::SecretWarning;
use crate::diff::Report;
use crate::error::{CommandError, ErrorKind};
use crate::render::diff::{DiffStyle, Shown, View, text};
use crate::render::replayed::{self, Omitted, SessionReport, Verdict};
use crate::render::results;
use crate::replay::Plan;
use crate::wire::text::counted;
use clap::ValueEnum;
use std::path::Path;

/// The output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// Text.
    Human,
    /// One JSON object for each session.
    Json,
    /// JUnit XML: one suite for each session, one case for each request.
    Junit,
    /// Annotations for GitHub Actions.
    Github,
    /// Markdown, for a summary.
    Markdown,
}

impl Form {
    fn for_programs(self) -> Option<results::Form> {
        match self {
            Self::Human | Self::Json => None,
            Self::Junit => Some(results::Form::Junit),
            Self::Github => Some(results::Form::Github),
            Self::Markdown => Some(results::Form::Markdown),
        }
    }
}

/// A replay of one session.
#[derive(Debug, Default)]
pub(super) struct Replayed {
    /// What is reported of it.
    pub view: SessionReport,
    /// The comparison, before it was JSON.
    pub report: Option<Report>,
    /// Why it failed.
    pub error: Option<CommandError>,
}

/// Returns what a plan leaves out.
pub(super) fn omitted(plan: &Plan) -> Vec<Omitted> {
    let omissions = plan.omissions().iter();
    omissions.map(|it| Omitted { seq: it.seq, message: it.label.clone(), reason: it.why.to_owned() }).collect()
}

impl Replayed {
    /// Decides on the verdict. `error` is why the session failed, if it did.
    pub(super) fn new(mut view: SessionReport, report: Option<Report>, error: Option<CommandError>) -> Self {
        let has_differences = report.as_ref().is_some_and(|report| !report.is_empty());
        (view.verdict, view.exit_code) = match &error {
            Some(error) => (Verdict::Failed, error.kind.exit_code()),
            None if has_differences => (Verdict::Different, ErrorKind::Unmet.exit_code()),
            None => (Verdict::Alike, 0),
        };
        view.diff = report.as_ref().map(Report::to_json).unwrap_or_default();
        view.failure = error.as_ref().map(|error| error.message.clone());
        Self { view, report, error }
    }

    /// A session that could not begin, because of this error.
    pub(super) fn not_begun(args: &ReplayArgs, stream: u32, run: u32, error: CommandError) -> Self {
        let recording = args.reel.display().to_string();
        Self::new(SessionReport { recording, stream, run, ..SessionReport::default() }, None, Some(error))
    }

    /// Replaces the secrets in what is reported besides the comparison, which has none any more, if the user wants that.
    ///
    /// # Errors
    ///
    /// A setting is not valid.
    pub(super) fn redacted(mut self, options: &RedactOptions) -> Result<Self, CommandError> {
        if options.redact {
            let mut redaction = options.key.redaction()?;
            self.view.texts_mut().for_each(|text| *text = redaction.text(text));
        }
        Ok(self)
    }

    /// Returns whether the live session differs from the recording.
    pub(super) fn is_different(&self) -> bool {
        self.view.verdict == Verdict::Different
    }
}

/// Prints the report of one session, in the forms that have one for each. Updates the recording if the user wants that.
///
/// # Errors
///
/// The output or the recording cannot be written.
pub(super) fn one(
    replayed: &Replayed,
    args: &ReplayArgs,
    warning: &mut SecretWarning,
    context: &Context,
) -> Result<(), CommandError> {
    match (args.format, &replayed.report) {
        (Form::Json, _) => json(&replayed.view, warning, context)?,
        (Form::Human, Some(report)) => print(&replayed.view, report, warning, context)?,
        (Form::Human, None) | (Form::Junit | Form::Github | Form::Markdown, _) => {}
    }
    if args.update && replayed.is_different() {
        update::update(&args.reel, Path::new(&replayed.view.session))?;
        context.printer.note(&format!("{} now contains the new session", args.reel.display()));
    }
    Ok(())
}

/// Prepares the warning about secrets in the reports. Text on a terminal is not shared.
///
/// # Errors
///
/// A setting is not valid.
pub(super) fn warning(args: &ReplayArgs, context: &Context) -> Result<SecretWarning, CommandError> {
    let warning = SecretWarning::new(&args.redact)?;
    Ok(if args.format == Form::Human { warning.unless_seen(&context.printer) } else { warning })
}

/// Prints the report of one session as JSON.
///
/// # Errors
///
/// The output cannot be written.
pub(super) fn json(
    session: &SessionReport,
    warning: &mut SecretWarning,
    context: &Context,
) -> Result<(), CommandError> {
    warning.take_text(&serde_json::to_string(session).unwrap_or_default());
    context.printer.json(session)
}

/// Writes results for other programs, if that is the format.
///
/// # Errors
///
/// The output cannot be written.
pub(super) fn write(
    sessions: &[&SessionReport],
    format: Form,
    warning: &mut SecretWarning,
    context: &Context,
) -> Result<(), CommandError> {
    let Some(form) = format.for_programs() else { return Ok(()) };
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = form.write(&replayed::results(sessions), &mut out);
    warning.take_text(&out);
    context.printer.text(&out)
}

fn print(
    session: &SessionReport,
    report: &Report,
    warning: &mut SecretWarning,
    context: &Context,
) -> Result<(), CommandError> {
    let mut out = String::new();
    let shown = Shown {
        names: [&session.recording, &session.session],
        report,
        rows: &[],
        renamed: &[],
        latency: None,
        is_only_latency: false,
        is_full: false,
    };
    text(&shown, View::Unified, &DiffStyle::from(&context.printer.palette), context.printer.width, &mut out);
    warning.take_text(&out);
    context.printer.text(&out)?;
    context.printer.flush().map_err(CommandError::output)?;
    let (sent, answers) = (counted(session.sent as u64, "message"), counted(session.answered as u64, "answer"));
    let stopped = if session.is_stopped { ", stopped at the first difference" } else { "" };
    context.printer.note(&format!("{sent} sent, {answers}{stopped}; A is the recording, B is {}", session.session));
    Ok(())
}
