//! `redact`: writes a reel without its secrets, or reports them.

use crate::cli::printer::Format;
use crate::cli::recordings::twice::{Lines, TwicePath};
use crate::cli::redaction::{KeyOptions, count, learn, rewrite};
use crate::cli::{Context, Outcome};
use crate::error::{CommandError, ErrorKind};
use crate::files::output::{Output, check_apart};
use crate::files::reels;
use crate::redact::detectors::{DETECTORS, OTHER_RULES};
use crate::render::redaction;
use crate::share::{Learner, Redactor};
use crate::wire::text::{counted, excerpt};
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Replace the secrets in a reel, so that it can be shared.
///
/// Each secret becomes a pseudonym of the same kind and length (`ghp_redactedX3v…`), the same one wherever it occurs.
/// mcpreel looks into messages, server-sent events, headers, URLs, command lines, standard error, notes and the label;
/// into JSON in strings, base64, percent-encoding, quoted CSV, XML and HTML, and compressed bodies; and for secrets that are divided between
/// messages. Messages, pairs and times stay, so that the redacted reel can be shown, validated and compared as before.
///
/// What looks like ordinary text cannot be found: names of persons and projects, internal host names, e-mail addresses in
/// domains for examples (.example, .test, example.com), passwords that are words and stand in prose, hexadecimal, binary data
/// (the report lists the events), encrypted or compressed text inside of messages. A password below five characters, a number below six digits, and an ordinary word stay where nothing says what
/// they are, and the report says where they are. Therefore read the result before you share it: `mcpreel show --full --no-fold shared.reel`. If a
/// secret is left, add it to .mcpreel.toml (see below) and redact the original again.
#[derive(Debug, Args)]
#[command(
    override_usage = "mcpreel redact [OPTIONS] [REEL] -o <FILE>\n       mcpreel redact [OPTIONS] [REEL] --check|--dry-run"
)]
#[command(after_help = "\
Examples:
  mcpreel redact -o shared.reel       # the newest reel; the original stays
  mcpreel redact session.reel -o shared.reel
  mcpreel redact session.reel --check   # exit code 1 if there are secrets
  mcpreel redact shared.md --check      # any text
  mcpreel redact session.reel --dry-run -f json | jq '.places[]'
  mcpreel redact a.reel -o b.reel --key-file ~/.mcpreel.key   # same pseudonyms
  mcpreel reel cut session.reel -o part.reel --redact tool:echo  # a part

A colleague opens the result with `mcpreel show shared.reel`. For someone without mcpreel, write what it prints to a file, or \
`mcpreel export --format markdown shared.reel -o shared.md`.

The note `redaction` in the new reel's header, which `mcpreel reel info` prints, has the digest of all rules and settings: \
reels with the same digest were redacted alike. It also says that what looks like a pseudonym is one.

The table [redact] in .mcpreel.toml, in this folder or one above, adds rules and exempts texts: pointers, headers, env, \
members, allow, allow_patterns, disable, and rules with name, pattern and severity. If a pattern has groups, only what the \
last one matches is replaced. A member is replaced wherever one has that name, also in messages of MCP itself:

  [redact]
  members = [\"badge\"]
  pointers = [\"/result/structuredContent/customers/*/name\"]
  rules = [{ name = \"staff\", pattern = 'EMP-\\d{6}', severity = \"medium\" }]")]
pub(crate) struct RedactArgs {
    /// The reel, or JSON lines; `-` for stdin (default: the newest). With --check or --dry-run also any text.
    reel: Option<PathBuf>,
    /// Write the redacted reel to this file, never to the reel itself; `-` is stdout. Required, except with --check,
    /// --dry-run and --rules.
    #[arg(short, long, value_name = "FILE", required_unless_present_any = ["dry_run", "check", "rules"])]
    output: Option<PathBuf>,
    /// Overwrite an existing file.
    #[arg(long)]
    force: bool,
    /// Only report what would be replaced.
    #[arg(long, conflicts_with = "output")]
    dry_run: bool,
    /// Only report what would be replaced, and exit with 1 if there is anything.
    #[arg(long, conflicts_with = "output")]
    check: bool,
    #[command(flatten)]
    key: KeyOptions,
    /// The format of the report.
    #[arg(short, long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// List all detectors and exit.
    #[arg(long, conflicts_with_all = ["reel", "output", "dry_run", "check"])]
    rules: bool,
}

pub(super) fn run(args: &RedactArgs, context: &Context) -> Result<Outcome, CommandError> {
    if args.rules {
        return list_rules(args.format, context);
    }
    let mut learner = args.key.learner()?;
    let reel = TwicePath::of(args.reel.as_deref())?;
    if let Some(lines) = Lines::of(&reel)? {
        return check_text(&lines, args, learner.of_text(), context);
    }
    args.output.as_ref().map_or(Ok(()), |output| check_apart(&reel.opened, output))?;
    args.key.note_if_redacted(&reel)?;
    // Before the reel is read: an existing file is an error at once.
    let output = args.output.as_ref().map(|path| Output::create(path, args.force)).transpose()?;
    learn(&mut learner, &reel)?;
    let mut redaction = learner.finish();
    let (events, damage, unreadable) = match output {
        None => {
            let (damage, unreadable) = count(&mut redaction, &reel)?;
            (None, damage, unreadable)
        }
        Some(mut output) => {
            let (events, damage) = rewrite(&mut redaction, &reel, &mut output)?;
            output.finish()?;
            // What cannot be read is not in the copy.
            (Some(events), damage, None)
        }
    };
    print(args, &redaction, &reels::shown(&reel.shown), context)?;
    if let (Some(events), Some(path)) = (events, &args.output) {
        let (events, path) = (counted(events, "event"), path.display());
        // A report without secrets says so itself.
        let advice = if redaction.report().count() > 0 { "; read it before you share it" } else { "" };
        context.printer.note(&format!("{events} in {path}{advice}"));
    }
    if let Some(damage) = damage {
        let what = if args.output.is_some() { "a gap takes its place" } else { "what was there was not looked into" };
        context.printer.note(&format!("{}: {damage}; {what}", reel.shown.display()));
        return Ok(Outcome::Findings);
    }
    if let Some(unreadable) = unreadable {
        context.printer.note(&unread(unreadable, &reel.shown.display().to_string()));
        return Ok(Outcome::Findings);
    }
    Ok(outcome(args, &redaction))
}

/// The note about what cannot be read of a text: a line and a number of other parts.
fn unread((line, others): (u64, u64), name: &str) -> String {
    let others = if others > 0 { format!(", nor can {}", counted(others, "other part")) } else { String::new() };
    format!("{name}: line {line} cannot be read{others}; nobody looked into it")
}

fn outcome(args: &RedactArgs, redaction: &Redactor) -> Outcome {
    if args.check && redaction.report().count() > 0 { Outcome::Findings } else { Outcome::Clean }
}

/// Reports the secrets in a text that is no recording. It cannot be redacted: nothing says what a program reads in it.
fn check_text(
    lines: &Lines,
    args: &RedactArgs,
    mut learner: Learner,
    context: &Context,
) -> Result<Outcome, CommandError> {
    let name = lines.shown.display();
    if !args.check && !args.dry_run {
        return Err(CommandError::usage(format!("{name} is a text, not a recording"))
            .hint("--check looks for secrets in it; to replace them, redact the reel and export it again"));
    }
    lines.each(|number, line| learner.learn_line(number, line))?;
    let mut redaction = learner.finish();
    let unread = lines.each(|number, line| redaction.count_line(number, line))?;
    print(args, &redaction, &name.to_string(), context)?;
    if let Some(line) = unread.first() {
        let error = format!(
            "{name}: the compressed data in line {line} cannot be read to its end, so nobody knows what is in it"
        );
        return Err(CommandError::new(ErrorKind::Input, error).hint("check the reel from which it was made"));
    }
    Ok(outcome(args, &redaction))
}

fn print(args: &RedactArgs, redaction: &Redactor, name: &str, context: &Context) -> Result<(), CommandError> {
    let report = redaction.report();
    let is_stdout_taken = args.output.as_deref() == Some(Path::new("-"));
    if args.format == Format::Json {
        let report = report.to_json(&redaction.digest());
        return match is_stdout_taken {
            true => {
                context.printer.report(|_| format!("{report}\n"));
                Ok(())
            }
            false => context.printer.json(&report),
        };
    }
    let width = context.printer.width.unwrap_or(100);
    if is_stdout_taken {
        context.printer.report(|palette| redaction::text(report, name, width, palette));
        return Ok(());
    }
    context.printer.text(&redaction::text(report, name, width, &context.printer.palette))
}

fn list_rules(format: Format, context: &Context) -> Result<Outcome, CommandError> {
    if format == Format::Json {
        let rules = DETECTORS.iter().map(|detector| {
            json!({"rule": detector.name, "severity": detector.severity.name(), "example": detector.example})
        });
        let others = OTHER_RULES
            .iter()
            .map(|(name, severity, about)| json!({"rule": name, "severity": severity.name(), "about": about}));
        context.printer.json(&others.chain(rules).collect::<Vec<Value>>())?;
        return Ok(Outcome::Clean);
    }
    let width = DETECTORS.iter().map(|detector| detector.name.len()).max().unwrap_or_default();
    let room = context.printer.width.unwrap_or(usize::MAX).saturating_sub(width + 13);
    for (name, severity, about) in OTHER_RULES {
        let about = excerpt(about, room);
        context.printer.line(&format!("{name:<width$}  {:<8} {about}", severity.name()))?;
    }
    for detector in DETECTORS {
        let example: String = detector.example.replace('\n', " ").chars().take(room).collect();
        context.printer.line(&format!("{:<width$}  {:<8} {example}", detector.name, detector.severity.name()))?;
    }
    Ok(Outcome::Clean)
}
