//! `validate`: checks a reel against schemas and rules.

use crate::cli::printer::{Format, note};
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::files::reels;
use crate::proposals::{Rule, Severity};
use crate::render::findings;
use crate::trace::{EventKind, Item};
use crate::validate::{Options, Report, Validator, rule_groups};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Check a session against JSON-RPC, MCP and the five proposals.
///
/// Exits with 1 if a finding is at or above the --fail-on severity or the reel is damaged, and with 3 if the reel
/// contains no messages.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel validate                      # the newest reel
  mcpreel validate session.reel --format json | jq '.findings[].rule'
  mcpreel validate session.reel --fail-on warning
  mcpreel validate --rules              # all rules and their sources

Each finding shows the rule's name, its requirement, its source, and each violation. Sources such as \
\"MCPL 0.4 §9.2\" or \"SEP-1975, Timeouts\" name a section of one of the five proposals. Codes such as AMB-E6 are open \
questions in a proposal, described in docs/proposals.md. \
In each violation, seq is the event's number (`mcpreel show --seq N`), #N the stream if \
there are several, s2c or c2s the direction.

At most 1000 open streams are checked at the same time, messages of up to 65 MiB, and per stream the latest 4096 \
requests without a response. Whatever is left out is reported.")]
pub(crate) struct ValidateArgs {
    /// The reel; `-` for stdin (default: the newest).
    reel: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Exit with 1 if a finding is at least this severe.
    #[arg(long, value_enum, default_value_t = FailOn::Error, value_name = "SEVERITY")]
    fail_on: FailOn,
    /// List all rules and exit.
    #[arg(long, conflicts_with = "reel")]
    rules: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Any finding.
    Info,
    /// Warnings and errors.
    Warning,
    /// Errors.
    Error,
    /// Never: the exit code only says whether the reel could be read.
    Never,
}

impl FailOn {
    fn is_met(self, worst: Option<Severity>) -> bool {
        let least = match self {
            Self::Info => Severity::Info,
            Self::Warning => Severity::Warning,
            Self::Error => Severity::Error,
            Self::Never => return false,
        };
        worst.is_some_and(|worst| worst >= least)
    }
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &ValidateArgs, context: &Context) -> Result<Outcome, CommandError> {
    if args.rules {
        return list_rules(args.format, context);
    }
    let path = reels::named_or_newest(args.reel.as_deref(), note)?;
    let (reader, path) = reels::open_whole(Some(&path), note)?;
    let mut reader = reader.with_payloads();
    let mut validator = Validator::new(Options::default());
    let total = std::fs::metadata(&path).map_or(0, |about| about.len());
    let mut progress = context.printer.progress("validating", total);
    let (mut damages, mut messages) = (Vec::new(), 0u64);
    while let Some(item) = reader.next().map_err(|error| CommandError::reading(&path, &error))? {
        match item {
            Item::Damage(damage) => {
                damages.push(damage.to_string());
                if !damage.of_index {
                    validator.lose_track();
                }
            }
            Item::Block(block) => {
                block.events().for_each(|event| {
                    messages += u64::from(event.header.kind == EventKind::Message);
                    validator.observe(&event);
                });
                reader.recycle(block);
                progress.reach(reader.offset());
            }
        }
    }
    progress.finish();
    if messages == 0 {
        damages.iter().for_each(|damage| context.printer.note(damage));
        return Err(reels::without_messages(&path));
    }
    let report = validator.finish();
    print(&report, &damages, args.format, context)?;
    Ok(if args.fail_on.is_met(report.worst()) || !damages.is_empty() { Outcome::Findings } else { Outcome::Clean })
}

fn print(report: &Report, damages: &[String], format: Format, context: &Context) -> Result<(), CommandError> {
    damages.iter().for_each(|damage| context.printer.note(damage));
    if format == Format::Json {
        let mut reported = report.to_json();
        reported["damages"] = json!(damages);
        return context.printer.json(&reported);
    }
    let mut out = String::new();
    let width = context.printer.width.unwrap_or(100);
    let _ = findings::text(report, width, &context.printer.palette, &mut out);
    context.printer.text(&out)
}

fn list_rules(format: Format, context: &Context) -> Result<Outcome, CommandError> {
    let printer = &context.printer;
    if format == Format::Json {
        let rules = rule_groups();
        let rules = rules.iter().flat_map(|group| group.rules.iter().map(|rule| rule_json(rule, &group.document)));
        printer.json(&Value::Array(rules.collect()))?;
        return Ok(Outcome::Clean);
    }
    let mut out = String::new();
    let width = printer.width.unwrap_or(usize::MAX);
    let _ = findings::rules(&rule_groups(), width, &printer.palette, &mut out);
    printer.text(&out)?;
    Ok(Outcome::Clean)
}

fn rule_json(rule: &Rule, document: &str) -> Value {
    json!({"rule": rule.id, "severity": rule.severity.name(), "text": rule.text, "source": rule.source,
        "document": document, "decision": rule.decision})
}
