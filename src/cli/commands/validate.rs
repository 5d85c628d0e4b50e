//! `validate`: checks reels against schemas and rules.

mod live;
pub(crate) mod options;

use crate::check::settings::ValidateSection;
use crate::check::{Check, CheckedReel, Run};
use crate::cli::packs::PackOptions;
use crate::cli::printer::note;
use crate::cli::recordings;
use crate::cli::redaction::RedactOptions;
use crate::cli::secret_warning::Shared;
use crate::cli::{Context, Outcome};
use crate::error::{CommandError, ErrorKind};
use crate::files::reels;
use crate::proposals::Rule;
use crate::render::{checked, findings, results};
use crate::sessions::live::{self as sessions, Live};
use crate::trace::{Item, ReelReader};
use crate::validate::{all_rules, rule_groups};
use clap::{Args, ValueEnum};
use options::{CheckOptions, Prepared};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The width of the report if stdout is not a terminal.
const LIVE_LINES: usize = 100;

/// Check sessions against JSON-RPC, MCP and the five proposals.
///
/// Exits with 1 if a finding is at or above the --fail-on severity, an entry of the baseline is stale, or a reel is
/// damaged; with 3 if a file cannot be read or no file contains messages.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel validate                      # the newest reel
  mcpreel validate session.reel --fail-on warning
  mcpreel validate runs/ other.jsonl    # all reels of a folder, and JSON lines
  mcpreel validate --follow --session everything
  mcpreel validate session.reel --format json | jq '.findings[].rule'
  mcpreel validate runs/ --format sarif >mcpreel.sarif
  mcpreel validate runs/ --baseline known.json --write-baseline
  mcpreel validate --rules              # all rules and their sources
  mcpreel validate session.reel --pack draft.yaml   # and the rules of a pack

Each finding shows the rule's name, its requirement, its source, each violation, and the place in the message. \
In each violation, seq is the event's number (`mcpreel show --seq N`), s2c or c2s the direction. \
`mcpreel explain RULE` says more about a rule. Codes such as AMB-E6 are open \
questions in a proposal, described in docs/proposals.md.

SARIF and GitHub annotations point at lines of the JSON lines that `mcpreel export session.reel -o session.jsonl` \
writes. A baseline identifies findings by rule, method and place in the message, and counts them: more than it counts \
are new.

The section [validate] of .mcpreel.toml sets fail-on, only, skip, injected and baseline, the severity of rules \
(validate.severity) and findings to excuse (validate.suppress). Options replace its members.

At most 1000 open streams are checked at the same time, messages of up to 65 MiB, and per stream the latest 4096 \
requests without a response. Whatever is left out is reported.")]
pub(crate) struct ValidateArgs {
    /// Reels, JSON lines, or folders of them; `-` for stdin (default: the newest reel).
    #[arg(value_name = "REEL")]
    paths: Vec<PathBuf>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Form::Human)]
    format: Form,
    #[command(flatten)]
    check: CheckOptions,
    /// Write all findings to the --baseline file, so that they do not count any more. Entries whose rules were not
    /// checked stay in it.
    #[arg(long)]
    write_baseline: bool,
    /// Check the reel of a live session. `mcpreel sessions` lists the sessions.
    #[arg(long, value_name = "NAME", conflicts_with = "paths")]
    session: Option<String>,
    /// Keep reading while the reel grows, and print findings as they come (with --format json, one object per line).
    /// Ctrl-C ends the check with its summary. With --redact, a secret that is recognised only later stays.
    #[arg(long)]
    follow: bool,
    #[command(flatten)]
    redact: RedactOptions,
    /// List all rules and exit.
    #[arg(long, conflicts_with_all = ["paths", "session", "follow"])]
    rules: bool,
}

/// The output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Text that points into the messages.
    Human,
    /// One JSON object.
    Json,
    /// JUnit XML: one suite per session, one case per rule.
    Junit,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
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
            Self::Sarif => Some(results::Form::Sarif),
            Self::Github => Some(results::Form::Github),
            Self::Markdown => Some(results::Form::Markdown),
        }
    }
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &ValidateArgs, context: &Context) -> Result<Outcome, CommandError> {
    if args.rules {
        return list_rules(args, context);
    }
    let prepared = section().and_then(|section| args.check.prepare(section, args.write_baseline));
    let prepared = prepared.map_err(|error| report_broken(error, None, args, context))?;
    if args.write_baseline && prepared.baseline_file.is_none() {
        return Err(CommandError::usage("--write-baseline needs a file").hint("name it: --baseline FILE"));
    }
    let read = match args.follow {
        true => follow(args, &prepared, context).map(|reels| (reels, Vec::new())),
        false => all(args, &prepared, context),
    };
    let (reels, unreadable) = read.map_err(|error| report_broken(error, Some(&prepared), args, context))?;
    let run = Run::new(reels, &prepared.baseline);
    print(&run, &unreadable, &prepared, args, context)?;
    if !unreadable.is_empty() {
        return Err(CommandError::new(ErrorKind::Input, "not every file could be checked"));
    }
    if args.write_baseline {
        return write_baseline(&run, &prepared, context);
    }
    Ok(if run.has_failed(&prepared.settings) { Outcome::Findings } else { Outcome::Clean })
}

/// Prints that nothing could be checked, and why, for programs: their report exists in any case, even without valid
/// settings. Returns the error.
fn report_broken(
    error: CommandError,
    prepared: Option<&Prepared>,
    args: &ValidateArgs,
    context: &Context,
) -> CommandError {
    let is_over = matches!(error.kind, ErrorKind::Quiet | ErrorKind::Interrupted);
    let Some(form) = args.format.for_programs().filter(|_| !is_over) else { return error };
    let printed = match prepared {
        Some(prepared) => print(&Run::default(), std::slice::from_ref(&error), prepared, args, context),
        None => {
            let results = results::Results { suites: vec![broken(&error)], ..results::Results::default() };
            let mut out = String::new();
            // Writing to a string cannot fail.
            let _ = form.write(&results, &mut out);
            context.printer.results(form, &out)
        }
    };
    printed.err().unwrap_or(error)
}

/// The part of a report about what could not be checked.
fn broken(error: &CommandError) -> results::Suite {
    results::Suite::broken("validate", &error.message, &error.hints)
}

/// The settings of a check without other options: those of `.mcpreel.toml`.
///
/// # Errors
///
/// The file is invalid, the baseline that it names cannot be read, or a pack is invalid.
pub(super) fn project_settings(packs: &PackOptions, writes_baseline: bool) -> Result<Prepared, CommandError> {
    CheckOptions::with(packs).prepare(section()?, writes_baseline)
}

fn section() -> Result<ValidateSection, CommandError> {
    crate::cli::project::settings("validate")
}

/// Follows a reel, and those in which its session continues.
fn follow(args: &ValidateArgs, prepared: &Prepared, context: &Context) -> Result<Vec<CheckedReel>, CommandError> {
    let live = args.session.as_deref().map(sessions::find).transpose()?;
    let named = live.as_ref().map(Live::reel).transpose()?.or_else(|| args.paths.first().cloned());
    if args.paths.len() > 1 {
        return Err(CommandError::usage("--follow takes one reel"));
    }
    let path = recordings::path_or_newest(named.as_deref())?;
    let mut shared = Shared::new(&args.redact, args.format == Form::Human && context.printer.is_terminal)?;
    let followed = live::run((&path, live.as_ref()), prepared, args.format, &mut shared, context)?;
    shared.print();
    Ok(followed)
}

/// Checks all files. Returns them with the errors of those that cannot be read.
fn all(
    args: &ValidateArgs,
    prepared: &Prepared,
    context: &Context,
) -> Result<(Vec<CheckedReel>, Vec<CommandError>), CommandError> {
    let live = args.session.as_deref().map(sessions::find).transpose()?;
    let named = match &live {
        Some(live) => vec![live.reel()?],
        None if args.paths.is_empty() => vec![recordings::path_or_newest(None)?],
        None => recordings::expand(&args.paths)?,
    };
    let stream = live.as_ref().map_or(0, |live| live.stream);
    let (mut checked, mut empty, mut failures) = (Vec::new(), Vec::new(), Vec::new());
    for path in &named {
        match file(path, (stream, &checked), args, prepared, context) {
            Ok(reel) if !reel.checked.has_messages => empty.push(path),
            Ok(reel) => checked.push(reel),
            Err(error) => failures.push(error),
        }
    }
    match (&checked[..], failures.len(), &empty[..]) {
        ([], 1, []) => return Err(failures.swap_remove(0)),
        ([], 0, [path]) => return Err(reels::without_messages(path)),
        ([], 0, _) => return Err(CommandError::new(ErrorKind::Input, "no file contains messages")),
        _ => {}
    }
    failures.iter().for_each(|error| context.printer.complain(error));
    empty.iter().for_each(|path| context.printer.note(&format!("{}: no messages", path.display())));
    Ok((checked, failures))
}

/// A file that was not checked yet.
pub(super) fn unchecked(path: &Path) -> CheckedReel {
    let lines = path.with_extension("jsonl").display().to_string();
    CheckedReel { name: path.display().to_string(), lines, ..CheckedReel::default() }
}

/// Checks one file.
fn file(
    path: &Path,
    (stream, before): (u32, &[CheckedReel]),
    args: &ValidateArgs,
    prepared: &Prepared,
    context: &Context,
) -> Result<CheckedReel, CommandError> {
    let opened = args.redact.open(path, Some(note))?;
    let reel = CheckedReel { lines: opened.lines(), began: opened.reader.header().created, ..unchecked(path) };
    let mut check = Check::new(&prepared.settings, &prepared.baseline).after(before);
    if opened.format.is_none() {
        check = check.of_reel(reel.began);
    }
    check.begin(opened.reader.header());
    read(opened.reader.with_payloads(), path, stream, &mut check, context)?;
    Ok(CheckedReel { checked: check.finish(&mut |_| ()), ..reel })
}

fn read(
    mut reader: ReelReader,
    path: &Path,
    stream: u32,
    check: &mut Check<'_>,
    context: &Context,
) -> Result<(), CommandError> {
    let total = std::fs::metadata(path).map_or(0, |about| about.len());
    let mut progress = context.printer.progress("validating", total);
    while let Some(item) = reader.next().map_err(|error| CommandError::reading(path, &error))? {
        match item {
            Item::Damage(damage) => {
                context.printer.note(&damage.to_string());
                check.take_damage(&damage);
            }
            Item::Block(block) => {
                let wanted = block.events().filter(|event| stream == 0 || event.header.stream == stream);
                wanted.for_each(|event| check.observe(&event, &mut |_| ()));
                reader.recycle(block);
                progress.reach(reader.offset());
            }
        }
    }
    progress.finish();
    Ok(())
}

fn print(
    run: &Run,
    unreadable: &[CommandError],
    prepared: &Prepared,
    args: &ValidateArgs,
    context: &Context,
) -> Result<(), CommandError> {
    let printer = &context.printer;
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = match args.format.for_programs() {
        Some(form) => {
            let rules: Vec<_> = all_rules(prepared.settings.registry).collect();
            let mut results = checked::results(run, &prepared.settings, &rules);
            results.suites.extend(unreadable.iter().map(broken));
            form.write(&results, &mut out)
        }
        None if args.format == Form::Json && args.follow => return Ok(()),
        None if args.format == Form::Json => {
            let report = run.to_json();
            printer.json(&report)?;
            return args.redact.warn_of_report(&serde_json::to_string(&report).unwrap_or_default());
        }
        None if args.follow => findings::summary(run, &printer.palette, &mut out),
        None => findings::text(run, printer.width.unwrap_or(LIVE_LINES), &printer.palette, &mut out),
    };
    match args.format.for_programs() {
        Some(form) => printer.results(form, &out)?,
        None => printer.text(&out)?,
    }
    match args.format {
        Form::Human => args.redact.warn_of_text(&out, printer),
        _ => args.redact.warn_of_report(&out),
    }
}

fn write_baseline(run: &Run, prepared: &Prepared, context: &Context) -> Result<Outcome, CommandError> {
    let Some(path) = &prepared.baseline_file else { return Ok(Outcome::Clean) };
    let renewed = run.renewed(&prepared.baseline);
    options::write(path, &renewed)?;
    let entries = crate::wire::text::counted_as(renewed.len() as u64, "entry", "entries");
    context.printer.note(&format!("{entries} in {}", path.display()));
    Ok(Outcome::Clean)
}

fn list_rules(args: &ValidateArgs, context: &Context) -> Result<Outcome, CommandError> {
    let (format, printer) = (args.format, &context.printer);
    let groups = rule_groups(args.check.packs.registry()?);
    if format == Form::Json {
        let rules = groups.iter().flat_map(|group| group.rules.iter().map(|rule| rule_json(rule, &group.document)));
        printer.json(&Value::Array(rules.collect()))?;
        return Ok(Outcome::Clean);
    }
    if format != Form::Human {
        return Err(CommandError::usage("--rules prints text or JSON"));
    }
    let mut out = String::new();
    let width = printer.width.unwrap_or(usize::MAX);
    let _ = findings::rules(&groups, width, &printer.palette, &mut out);
    printer.text(&out)?;
    Ok(Outcome::Clean)
}

fn rule_json(rule: &Rule, document: &str) -> Value {
    json!({"rule": rule.id, "severity": rule.severity.name(), "text": rule.text, "source": rule.source,
        "document": document, "decision": rule.decision, "fix": rule.fix})
}
