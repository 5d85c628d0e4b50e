//! How `diff` shows what it found, and which part of it.

use crate::cli::Context;
use crate::cli::redaction::RedactOptions;
use crate::diff::latency::{self, Latency};
use crate::diff::surface::Likeness;
use crate::diff::{Narrowed, Recording, Report, Scope, Status, SummaryRow, complete, narrowed, summary};
use crate::error::CommandError;
use crate::render::diff::{DiffStyle, Shown, View, html, markdown, text};
use crate::wire::text::counted;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;

/// The output format of `diff`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum DiffFormat {
    /// Text.
    Human,
    /// One JSON object, with a JSON Patch (RFC 6902) for each message that changed.
    Json,
    /// Markdown, for a comment on a pull request.
    Markdown,
    /// A page for browsers.
    Html,
    /// With --surface: JUnit XML, a case for each tool, prompt, resource or template that changed.
    Junit,
}

/// Options of what is shown.
#[derive(Debug, Args)]
pub(super) struct ViewArgs {
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = DiffFormat::Human)]
    pub format: DiffFormat,
    /// How to show the differences as text.
    #[arg(long, value_enum, default_value_t = ViewArg::Unified)]
    view: ViewArg,
    /// Show long values whole. Otherwise, unchanged parts of them are folded.
    #[arg(long)]
    full: bool,
    /// Compare only a part of the sessions (repeatable, or separated by commas).
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PART", conflicts_with = "surface")]
    only: Vec<OnlyArg>,
    /// Also compare response times, by method and tool. B must be slower or faster with statistical certainty
    /// (Mann–Whitney U test, 1 % for all methods together) and by at least 10 % and 100 µs in the median.
    #[arg(long, conflicts_with = "surface")]
    latency: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ViewArg {
    /// The changes of each message, A above B.
    Unified,
    /// The changes of each message, A beside B.
    SideBySide,
    /// Counts by method and tool, and the places that changed.
    Summary,
}

impl From<ViewArg> for View {
    fn from(arg: ViewArg) -> Self {
        match arg {
            ViewArg::Unified => Self::Unified,
            ViewArg::SideBySide => Self::SideBySide,
            ViewArg::Summary => Self::Summary,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnlyArg {
    /// What the server sent.
    Server,
    /// What the client sent.
    Client,
    /// The handshake: revision, capabilities, names and versions.
    Capabilities,
    /// The lists and calls of tools.
    Tools,
    /// Response times.
    Latency,
}

impl OnlyArg {
    fn scope(self) -> Option<Scope> {
        match self {
            Self::Server => Some(Scope::Server),
            Self::Client => Some(Scope::Client),
            Self::Capabilities => Some(Scope::Capabilities),
            Self::Tools => Some(Scope::Tools),
            Self::Latency => None,
        }
    }
}

/// Everything that a comparison found.
pub(super) struct Found {
    /// The differences, narrowed and completed.
    report: Report,
    /// The numbers of A's messages that were not compared.
    left_out: HashSet<u64>,
    /// The tools that have another name in B.
    renamed: Vec<Likeness>,
    /// The response times, if they are compared.
    latency: Option<Vec<Latency>>,
    is_only_latency: bool,
    /// The number of values that were replaced with different keys.
    not_compared: u64,
}

impl Found {
    /// Returns whether anything differs.
    pub(super) fn differs(&self) -> bool {
        let is_slower_or_faster = |rows: &Vec<Latency>| rows.iter().any(|row| row.verdict.is_difference());
        !self.report.is_empty() || !self.renamed.is_empty() || self.latency.as_ref().is_some_and(is_slower_or_faster)
    }

    /// Adds the number of values that were not compared, because they are redacted with different keys.
    pub(super) fn without(self, not_compared: u64) -> Self {
        Self { not_compared, ..self }
    }

    /// Returns what to add to a report about values that were not compared.
    fn about_redacted(&self) -> Option<String> {
        let count = Some(self.not_compared).filter(|count| *count > 0)?;
        let (values, were) = (counted(count, "replaced value"), if count == 1 { "was" } else { "were" });
        Some(format!("{values} {were} not compared; --key-file compares them"))
    }

    /// Returns the members of the report, with `not_compared` (N), `renamed` (`[{"kind":"tool", "from":TEXT, "to":TEXT, "percent":N,
    /// "basis":TEXT}…]`), `summary`, and `latency` if response times were compared.
    fn to_json(&self, rows: &[SummaryRow]) -> Value {
        let mut value = self.report.to_json();
        let renamed = self.renamed.iter().map(|tool| {
            json!({"kind": "tool", "from": tool.from, "to": tool.to, "percent": tool.percent, "basis": tool.basis})
        });
        value["not_compared"] = self.not_compared.into();
        value["renamed"] = renamed.collect();
        value["summary"] = rows.iter().map(SummaryRow::to_json).collect();
        if let Some(latency) = &self.latency {
            value["latency"] = latency.iter().map(Latency::to_json).collect();
        }
        value
    }
}

/// Calls that only B has get the names of B's tools.
fn give_new_names(report: &mut Report, renamed: &[Likeness]) {
    for unit in report.units.iter_mut().filter(|unit| unit.status == Status::OnlyRight) {
        let is_it = |tool: &&Likeness| unit.subject.as_deref() == Some(&tool.from);
        if let Some(tool) = renamed.iter().find(is_it).filter(|_| unit.method.as_deref() == Some("tools/call")) {
            unit.subject = Some(tool.to.clone());
        }
    }
}

impl ViewArgs {
    /// Narrows and completes a report.
    pub(super) fn select(
        &self,
        report: Report,
        mut renamed: Vec<Likeness>,
        left: &Recording,
        right: &Recording,
    ) -> Found {
        let scopes: Vec<Scope> = self.only.iter().filter_map(|only| only.scope()).collect();
        let wants_latency = self.latency || self.only.contains(&OnlyArg::Latency);
        let is_only_latency = !self.only.is_empty() && scopes.is_empty();
        let Narrowed { mut report, left_out } =
            if is_only_latency { Narrowed::default() } else { narrowed(report, &scopes, left) };
        complete(&mut report, left);
        let has_names = self.only.is_empty() || scopes.iter().any(|it| *it != Scope::Capabilities);
        if !has_names {
            renamed.clear();
        }
        give_new_names(&mut report, &renamed);
        let latency = wants_latency.then(|| latency::compare(left, right));
        Found { report, left_out, renamed, latency, is_only_latency, not_compared: 0 }
    }

    /// Prints what was found.
    pub(super) fn print(
        &self,
        found: &Found,
        paths: [&Path; 2],
        left: &Recording,
        redact: &RedactOptions,
        context: &Context,
    ) -> Result<(), CommandError> {
        let printer = &context.printer;
        let is_counted = self.format != DiffFormat::Human || self.view == ViewArg::Summary;
        let rows = if is_counted { summary(&found.report, left, &found.left_out) } else { Vec::new() };
        if self.format == DiffFormat::Json {
            let report = found.to_json(&rows);
            printer.json(&report)?;
            return redact.warn_of_report(&report.to_string());
        }
        let names = paths.map(|path| path.display().to_string());
        let shown = Shown {
            names: [&names[0], &names[1]],
            has_files: true,
            report: &found.report,
            rows: &rows,
            renamed: &found.renamed,
            latency: found.latency.as_deref(),
            is_only_latency: found.is_only_latency,
            is_full: self.full,
        };
        let mut out = String::new();
        match self.format {
            DiffFormat::Markdown => markdown(&shown, &mut out),
            DiffFormat::Html => html(&shown, &mut out),
            _ => text(&shown, self.view.into(), &DiffStyle::from(&printer.palette), printer.width, &mut out),
        }
        match (found.about_redacted(), self.format) {
            (Some(about), DiffFormat::Html) => printer.note(&about),
            (Some(about), DiffFormat::Markdown) => out.push_str(&format!("\n{about}\n")),
            (Some(about), _) => out.push_str(&format!("{about}\n")),
            (None, _) => {}
        }
        printer.text(&out)?;
        match self.format {
            DiffFormat::Human => redact.warn_of_text(&out, printer),
            _ => redact.warn_of_report(&out),
        }
    }
}
