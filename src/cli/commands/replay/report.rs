//! What is reported of replays: text, JSON, and results for other programs.

use super::{NewReel, ReplayArgs, update};
use crate::cli::redaction::RedactOptions;
use crate::cli::secret_warning::SecretWarning;
use crate::cli::verdict::Junit;
use crate::cli::{Context, comparing};
use crate::diff::Report;
use crate::error::{CommandError, ErrorKind};
use crate::render::diff::{DiffStyle, Shown, View, text};
use crate::render::replayed::{self, Omitted, SessionReport, Verdict};
use crate::render::results;
use crate::replay::Plan;
use crate::wire::text::counted;
use clap::ValueEnum;

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
    /// Text and JSON, of which a suite makes its reports.
    #[value(name = "human+json", hide = true)]
    Both,
}

impl Form {
    fn for_programs(self) -> Option<results::Form> {
        match self {
            Self::Human | Self::Json | Self::Both => None,
            Self::Junit => Some(results::Form::Junit),
            Self::Github => Some(results::Form::Github),
            Self::Markdown => Some(results::Form::Markdown),
        }
    }
}

/// A replay of one session.
pub(super) struct Replayed {
    /// What is reported of it.
    pub view: SessionReport,
    /// The comparison, before it was JSON.
    pub report: Option<Report>,
    /// Why it failed.
    pub error: Option<CommandError>,
    /// The reel of the new session, if it began.
    pub reel: Option<NewReel>,
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
        Self { view, report, error, reel: None }
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
            let mut redaction = options.key.learner()?.finish();
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
    if let (Form::Human | Form::Both, Some(report)) = (args.format, &replayed.report) {
        print(&replayed.view, report, warning, context)?;
    }
    if let Form::Json | Form::Both = args.format {
        json(&replayed.view, warning, context)?;
    }
    if let Some(reel) = replayed.reel.as_ref().filter(|_| args.update && replayed.is_different()) {
        update::update(&args.reel, &reel.path)?;
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
    match args.format {
        Form::Human => SecretWarning::of_output(&args.redact, &context.printer),
        _ => SecretWarning::new(&args.redact),
    }
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

/// Writes results for other programs, if that is the format, and to a JUnit file. Reports which places to ignore do not
/// exist.
///
/// # Errors
///
/// The output or the file cannot be written.
pub(super) fn write(
    sessions: &[&SessionReport],
    format: Form,
    junit: Option<Junit>,
    warning: &mut SecretWarning,
    context: &Context,
) -> Result<(), CommandError> {
    let mut written = |form: results::Form| {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = form.write(&replayed::results(sessions), &mut out);
        warning.take_text(&out);
        out
    };
    if let Some(form) = format.for_programs() {
        context.printer.results(form, &written(form))?;
    }
    if let Some(junit) = junit {
        junit.write_text(&written(results::Form::Junit))?;
    }
    context.printer.flush().map_err(CommandError::output)?;
    comparing::report_unused(replayed::unused_places(sessions), context);
    Ok(())
}

fn print(
    session: &SessionReport,
    report: &Report,
    warning: &mut SecretWarning,
    context: &Context,
) -> Result<(), CommandError> {
    let mut out = String::new();
    let is_kept = !session.session.is_empty();
    let new = if is_kept { session.session.as_str() } else { "the new session" };
    let shown = Shown {
        names: [&session.recording, new],
        has_files: is_kept,
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
    let others = session.sent.saturating_sub(session.sent_requests) as u64;
    let others = if others > 0 { format!(" and {}", counted(others, "notification")) } else { String::new() };
    let (sent, answers) =
        (counted(session.sent_requests as u64, "request"), counted(session.answered as u64, "answer"));
    let stopped = if session.is_stopped { ", stopped at the first difference" } else { "" };
    let sent = format!("{sent}{others} sent, {answers}{stopped}; A is the recording");
    context.printer.note(&if is_kept { format!("{sent}, B is {new}") } else { format!("{sent}, B is not kept") });
    Ok(())
}
