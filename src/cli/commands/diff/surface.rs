//! `diff --surface`: compares what servers offer, and checks a server against a lock file.

use super::DiffFormat;
use crate::cli::client_session::ClientOptions;
use crate::cli::offers;
use crate::cli::printer::note;
use crate::cli::progress::SharedProgress;
use crate::cli::redaction::RedactOptions;
use crate::cli::target::Target;
use crate::cli::{Context, Outcome};
use crate::diff::surface::{self, Effect, Extractor, ListKind, Surface, SurfaceReport};
use crate::error::{CommandError, ErrorKind};
use crate::files::output;
use crate::render::diff::surface as shown;
use crate::render::results;
use crate::runtime;
use crate::wire::text::counted;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// The size limit of a lock file.
const MAX_LOCK_BYTES: u64 = 256 << 20;

/// The options of `diff --surface`.
#[derive(Debug, Args)]
pub(super) struct SurfaceArgs {
    /// Compare what the servers offer (tools, prompts, resources, capabilities), not what was said. A and B can be
    /// reels, JSON lines or lock files. Without B, compare A with what the server named by the target options offers.
    #[arg(long, help_heading = "Server surface")]
    pub surface: bool,
    /// Write the surface of B, or of the live server, to the lock file A.
    #[arg(long, requires = "surface", help_heading = "Server surface")]
    update: bool,
    /// Exit with 1 if a change is at least this severe.
    #[arg(long, value_enum, default_value_t = FailOn::Breaking, value_name = "SEVERITY", requires = "surface",
        help_heading = "Server surface")]
    fail_on: FailOn,
    /// List the rules by which surfaces are compared, and exit.
    #[arg(long, help_heading = "Server surface")]
    pub rules: bool,
    #[command(flatten, next_help_heading = "Live server")]
    client: ClientOptions,
    #[command(flatten)]
    target: Target,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Only breaking changes.
    Breaking,
    /// Breaking changes and risks.
    Risk,
    /// Any change.
    Any,
    /// Never: the exit code only says whether the surfaces could be read.
    Never,
}

impl FailOn {
    fn is_met(self, worst: Option<Effect>) -> bool {
        let least = match self {
            Self::Breaking => Effect::Breaking,
            Self::Risk => Effect::Risk,
            Self::Any => Effect::Harmless,
            Self::Never => return false,
        };
        worst.is_some_and(|worst| worst >= least)
    }
}

impl SurfaceArgs {
    /// Refuses options that say which server to start or reach: without `--surface`, nothing is started.
    pub(super) fn check_unused(&self) -> Result<(), CommandError> {
        if !self.target.is_given() {
            return Ok(());
        }
        Err(CommandError::usage("a live server can only be compared with --surface")
            .hint("to compare what it says, record it: mcpreel record -o b.reel -- SERVER-COMMAND"))
    }
}

/// Compares two surfaces, or writes a lock file.
pub(super) fn run(
    args: &SurfaceArgs,
    left: &Path,
    right: Option<&Path>,
    format: DiffFormat,
    redact: &RedactOptions,
    context: &Context,
) -> Result<Outcome, CommandError> {
    if redact.redact && args.target.is_given() {
        return Err(CommandError::usage("--redact cannot redact what a live server offers")
            .hint("record the server, and compare the recordings"));
    }
    let compared = compare(args, left, right, redact, context);
    let (report, new) = match compared {
        Ok(Compared::Report(report, new)) => (report, new),
        Ok(Compared::OnlyNew(new)) => return update(left, &new, context),
        Err(error) => return Err(report_broken(error, format, context)),
    };
    print(&report, args, format, redact, context)?;
    if args.update {
        return update(left, &new, context);
    }
    Ok(if args.fail_on.is_met(report.worst()) { Outcome::Findings } else { Outcome::Clean })
}

/// What there is to report.
enum Compared {
    /// The changes, and the new surface.
    Report(SurfaceReport, Surface),
    /// There is no lock file yet.
    OnlyNew(Surface),
}

fn compare(
    args: &SurfaceArgs,
    left: &Path,
    right: Option<&Path>,
    redact: &RedactOptions,
    context: &Context,
) -> Result<Compared, CommandError> {
    let new = match (right, args.target.is_given()) {
        (Some(_), true) => {
            return Err(CommandError::usage("both B and a live server are given").hint("omit one of them"));
        }
        (Some(path), false) => read(path, redact, context)?,
        (None, true) => runtime::block_on(offers::of_server(&args.target, &args.client, context, |_| Ok(())))?,
        (None, false) => {
            return Err(CommandError::usage("nothing to compare with: neither B nor a server is given")
                .hint("name a second reel or lock file, or put a server's command after --"));
        }
    };
    if args.update && !left.exists() {
        return Ok(Compared::OnlyNew(new));
    }
    if !left.exists() {
        return Err(CommandError::new(ErrorKind::Input, format!("{} does not exist", left.display()))
            .hint("to create it as a lock file, add --update"));
    }
    let old = read(left, redact, context)?;
    if args.update {
        check_is_lock(left)?;
    }
    Ok(Compared::Report(surface::compare(&old, &new), new))
}

/// Prints that nothing could be compared, and why, as JUnit: the report exists in any case. Returns the error.
fn report_broken(error: CommandError, format: DiffFormat, context: &Context) -> CommandError {
    if format != DiffFormat::Junit || matches!(error.kind, ErrorKind::Quiet | ErrorKind::Interrupted) {
        return error;
    }
    let suite = results::Suite::broken("diff --surface", &error.message, &error.hints);
    let results = results::Results { suites: vec![suite], ..results::Results::default() };
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = results::Form::Junit.write(&results, &mut out);
    context.printer.text(&out).err().unwrap_or(error)
}

fn check_is_lock(path: &Path) -> Result<(), CommandError> {
    if lock_text(path)?.is_some() {
        return Ok(());
    }
    Err(CommandError::usage(format!("{} is not a lock file, so --update does not replace it", path.display()))
        .hint("name a lock file, such as server.lock.json, as A"))
}

fn update(path: &Path, surface: &Surface, context: &Context) -> Result<Outcome, CommandError> {
    for kind in surface.incomplete() {
        context
            .printer
            .note(&format!("the last page of {} is missing, so the lock file has only a part", kind.method()));
    }
    output::write_whole(path, surface.to_lock().as_bytes())?;
    let counts = ListKind::ALL.iter().filter_map(|kind| {
        let list = surface.lists.get(kind)?;
        Some(counted(list.items.len() as u64, kind.noun()))
    });
    let counts: Vec<String> = counts.collect();
    let about = if counts.is_empty() { "no lists".to_owned() } else { counts.join(", ") };
    context.printer.note(&format!("wrote {}: {about}", path.display()));
    Ok(Outcome::Clean)
}

fn print(
    report: &SurfaceReport,
    args: &SurfaceArgs,
    format: DiffFormat,
    redact: &RedactOptions,
    context: &Context,
) -> Result<(), CommandError> {
    let printer = &context.printer;
    let mut out = String::new();
    match format {
        DiffFormat::Json => {
            let report = report.to_json();
            printer.json(&report)?;
            return redact.warn_of_report(&report.to_string());
        }
        DiffFormat::Markdown | DiffFormat::Html => shown::markdown(report, &mut out),
        DiffFormat::Junit => {
            let results = shown::results(report, |effect| args.fail_on.is_met(Some(effect)));
            let _ = results::Form::Junit.write(&results, &mut out);
        }
        DiffFormat::Human => shown::text(report, printer.width, &printer.palette, &mut out),
    }
    printer.text(&out)?;
    match format {
        DiffFormat::Human => redact.warn_of_text(&out, printer),
        _ => redact.warn_of_report(&out),
    }
}

/// Lists the rules.
pub(super) fn list_rules(format: DiffFormat, context: &Context) -> Result<Outcome, CommandError> {
    let printer = &context.printer;
    let rules = surface::rules::RULES;
    if format == DiffFormat::Json {
        let rules: Vec<Value> = rules
            .iter()
            .map(|rule| {
                json!({"rule": rule.id, "severity": rule.effect.name(), "text": rule.text, "source": rule.source})
            })
            .collect();
        printer.json(&Value::Array(rules))?;
        return Ok(Outcome::Clean);
    }
    let mut out = String::new();
    shown::rules(rules, printer.width, &printer.palette, &mut out);
    printer.text(&out)?;
    Ok(Outcome::Clean)
}

/// Reads a surface from a lock file, a reel or JSON lines.
fn read(path: &Path, redact: &RedactOptions, context: &Context) -> Result<Surface, CommandError> {
    if let Some(text) = lock_text(path)? {
        if redact.redact {
            return Err(CommandError::usage(format!(
                "{} is a lock file, which --redact cannot redact",
                path.display()
            ))
            .hint(
                "redact the recording, and make the lock file of that: mcpreel redact, then diff --surface --update",
            ));
        }
        return Surface::from_lock(&text)
            .map_err(|error| CommandError::new(ErrorKind::Input, format!("{}: {error}", path.display())));
    }
    let mut extractor = Extractor::default();
    let recorded = redact.open(path, Some(note))?;
    let progress = SharedProgress::new(context.printer.progress_through("reading", path));
    let damage = recorded.each_event(|bytes| progress.advance(bytes), |event| extractor.take(event))?;
    progress.finish();
    damage.iter().for_each(|damage| note(&format!("{}: {damage}", path.display())));
    let names = extractor.server_names();
    if names.len() > 1 {
        let names = names.iter().cloned().collect::<Vec<_>>().join(", ");
        note(&format!("{}: it has several servers ({names}); the last of each list counts", path.display()));
    }
    if let Some((kind, too_large)) = extractor.too_large() {
        let what = format!("{}: cannot compare the result of {}: {too_large}", path.display(), kind.method());
        return Err(CommandError::new(ErrorKind::Input, what)
            .hint("without --surface, `mcpreel diff` compares such results as bytes"));
    }
    let surface = extractor.finish();
    if surface.is_empty() {
        let what = format!("{}: neither a handshake nor a list of tools, prompts or resources", path.display());
        return Err(CommandError::new(ErrorKind::Input, what)
            .hint("record a session whose client lists the tools, or list them live: mcpreel diff --surface A -- SERVER-COMMAND"));
    }
    Ok(surface)
}

fn open(path: &Path) -> Result<BufReader<File>, CommandError> {
    File::open(path).map(BufReader::new).map_err(|error| CommandError::reading(path, &error))
}

/// Returns whether a file begins like JSON. A pipe, which can be read only once, has no lock file.
fn starts_as_text(path: &Path) -> Result<bool, CommandError> {
    if !path.is_file() {
        return Ok(false);
    }
    let mut file = open(path)?;
    let start = file.fill_buf().map_err(|error| CommandError::reading(path, &error))?;
    Ok(start.trim_ascii_start().starts_with(b"{"))
}

/// Returns the text of a lock file; `None` if the file is something else.
fn lock_text(path: &Path) -> Result<Option<Vec<u8>>, CommandError> {
    if !starts_as_text(path)? {
        return Ok(None);
    }
    let mut file = open(path)?;
    let start = file.fill_buf().map_err(|error| CommandError::reading(path, &error))?;
    if !Surface::is_lock(start) {
        return Ok(None);
    }
    let mut text = Vec::new();
    file.take(MAX_LOCK_BYTES).read_to_end(&mut text).map_err(|error| CommandError::reading(path, &error))?;
    Ok(Some(text))
}
