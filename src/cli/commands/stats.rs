//! `stats`: counts, sizes and latencies. Without a filter, mostly from the headers in a reel.

mod audit;
mod context;
pub(super) mod counting;

use crate::cli::own_line::quoted;
use crate::cli::packs::PackOptions;
use crate::cli::printer;
use crate::cli::recordings;
use crate::cli::redaction::RedactOptions;
use crate::cli::secret_warning::SecretWarning;
use crate::cli::selecting::{self, parse_filter};
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::files::reels;
use crate::proposals::Registry;
use crate::render::stats::compared::Compared;
use crate::render::stats::{self as render, Sheet};
use crate::session::stats::{Grouping, Report};
use crate::sessions::live;
use crate::trace::ReelReader;
use crate::wire::text::{counted, visible_text};
use clap::{Args, ValueEnum};
use counting::{Counting, Source};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Count messages, bytes, errors, latencies and unanswered requests.
///
/// Without a filter and without --by tool, proposal or error, only headers are read, so it is fast for any reel, and does not
/// notice damage in messages (`mcpreel reel verify` does). `seq` is the number of the request with the slowest response;
/// `mcpreel show --seq N` starts there. Percentiles of more than 256 responses are at most 1 % off. A late response is one
/// after the deadline of a proposal: 500 ms for conversation/userMessage, 5 and 10 s for MCPL's hooks.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel stats                       # the newest reel
  mcpreel stats --session everything  # a live session so far
  mcpreel stats session.reel --format json | jq .slowest
  mcpreel stats session.reel 'tool:echo or method:resources/*'
  mcpreel stats session.reel --by tool,error --histogram
  mcpreel stats session.reel --context      # bytes per server and turn
  mcpreel stats . -f csv                        # all reels in this folder
  mcpreel stats before.reel after.reel --compare
  mcpreel stats session.reel --audit  # MCPL operations

--audit --format json prints one object per operation: time, seconds, seq, stream, server, operation (push, \
injection, response, inference, scope, rollback, publish), feature_set, inference_id, about, outcome (success, \
failure, timeout), reason, latency_ms.")]
pub(crate) struct StatsArgs {
    /// Reels, or folders of reels (`-` for stdin; default: the newest reel), followed by a filter of what is counted, as in
    /// `mcpreel show`. Several are counted together.
    #[arg(value_name = "REEL|FILTER")]
    words: Vec<OsString>,
    /// Use the reel of a live session; the arguments are then only a filter. `mcpreel sessions` lists the sessions.
    #[arg(long, value_name = "NAME", conflicts_with = "redact")]
    session: Option<String>,
    /// What the rows of a table are about; several, separated by commas, make several tables.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "method")]
    by: Vec<By>,
    /// Show the messages over time and a histogram of latencies, and add a column with the latencies of each row.
    #[arg(long)]
    histogram: bool,
    /// Show two reels or folders side by side: A, the first one, and B.
    #[arg(long, conflicts_with_all = ["session", "histogram"])]
    compare: bool,
    /// Show how many bytes each server and proposal puts into the prompts per turn. Reads every message.
    #[arg(long, conflicts_with_all = ["by", "histogram", "compare"])]
    context: bool,
    /// List the operations of MCPL: each push, injection, changed answer, inference, scope request, rollback and
    /// channel message, with its server, feature set, inference and outcome. Reads every message.
    #[arg(long, conflicts_with_all = ["by", "histogram", "compare", "context"])]
    audit: bool,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[command(flatten)]
    packs: PackOptions,
    #[command(flatten)]
    redact: RedactOptions,
}

/// What the rows of a table are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// Methods.
    Method,
    /// Tools that were called.
    Tool,
    /// Proposals and packs, and MCP itself.
    Proposal,
    /// Streams: connections, or sessions over HTTP.
    Session,
    /// Who sent the request or notification.
    Direction,
    /// The codes of error responses.
    Error,
}

impl From<By> for Grouping {
    fn from(by: By) -> Self {
        match by {
            By::Method => Self::Method,
            By::Tool => Self::Tool,
            By::Proposal => Self::Proposal,
            By::Session => Self::Session,
            By::Direction => Self::Direction,
            By::Error => Self::Error,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text and tables.
    Human,
    /// One JSON object.
    Json,
    /// Comma-separated values: one row for each row of the tables, with exact numbers.
    Csv,
    /// Tables in Markdown.
    Markdown,
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &StatsArgs, context: &Context) -> Result<Outcome, CommandError> {
    let registry = args.packs.registry()?;
    let (paths, terms) = match &args.session {
        None => selecting::split_reels(&args.words, registry)?,
        Some(_) => (Vec::new(), selecting::filter_of(&args.words)?),
    };
    let filter = parse_filter(&terms, registry, !paths.is_empty() || args.session.is_some())?;
    if args.audit || args.context {
        return operations(args, &paths, filter.is_empty(), context);
    }
    let mut groupings: Vec<Grouping> = args.by.iter().copied().map(Grouping::from).collect();
    let sources = Source::all(&paths, args)?;
    let counting = Counting { filter, registry, groupings: groupings.clone(), redact: &args.redact, context };
    let shown = if args.compare {
        compare(&counting, &paths, args)?
    } else {
        let (report, names) = counting.all(&sources)?;
        if report.is_merged {
            groupings.insert(0, Grouping::Reel);
        }
        let about = counting.about_slowest(&sources, &report);
        let title = title(&names, &terms);
        let listing = listing(args, &paths);
        let about = (&*about, listing.as_deref());
        Shown { text: single(&report, &title, &terms, (&groupings, about), args, context), reports: vec![report] }
    };
    shown.print(args, &terms, context)
}

/// What is printed, and what it says.
struct Shown {
    text: String,
    reports: Vec<Report>,
}

impl Shown {
    fn print(self, args: &StatsArgs, terms: &str, context: &Context) -> Result<Outcome, CommandError> {
        let Self { text, reports } = self;
        context.printer.text(&text)?;
        match args.format {
            Format::Human => args.redact.warn_of_text(&text, &context.printer)?,
            _ => args.redact.warn_of_report(&text)?,
        }
        if reports.iter().all(|report| report.events == 0) && !terms.is_empty() {
            let read: u64 = reports.iter().map(|report| report.read).sum();
            context.printer.note(&format!("no matches among {}", counted(read, "event")));
        }
        let damages: Vec<&String> = reports.iter().flat_map(|report| &report.damages).collect();
        damages.iter().for_each(|damage| context.printer.note(damage));
        Ok(if damages.is_empty() { Outcome::Clean } else { Outcome::Findings })
    }
}

/// The names of what was counted, and the filter.
fn title(names: &[String], terms: &str) -> String {
    let what = match names {
        [one] => one.clone(),
        all => counted(all.len() as u64, "reel"),
    };
    match terms {
        "" => what,
        terms => format!("{what}\nonly {}", visible_text(terms)),
    }
}

/// The counts of one reel, or of several together.
fn single(
    report: &Report,
    title: &str,
    terms: &str,
    (groupings, about): (&[Grouping], (&str, Option<&str>)),
    args: &StatsArgs,
    context: &Context,
) -> String {
    let width = context.printer.width;
    let sheets = || groupings.iter().map(|grouping| render::sheet(report, *grouping, args.histogram));
    match args.format {
        Format::Human => format!("{title}\n\n{}", human(report, about, (groupings, args.histogram), width)),
        Format::Json => {
            let mut counts = render::value(report, groupings, about.0);
            if !terms.is_empty() {
                counts["filter"] = terms.into();
            }
            format!("{counts}\n")
        }
        Format::Csv => {
            let name = title.lines().next().unwrap_or_default().to_owned();
            render::exact(&[(name, report)], groupings).csv()
        }
        Format::Markdown => markdown(sheets()),
    }
}

/// The command that lists the failures of one reel or live session.
fn listing(args: &StatsArgs, paths: &[&Path]) -> Option<String> {
    let what = match (&args.session, paths) {
        (Some(name), _) => format!("--session {} ", quoted(name)),
        (None, []) => String::new(),
        (None, [path]) if *path != Path::new("-") && !path.is_dir() => {
            format!("{} ", quoted(&visible_text(&path.display().to_string())))
        }
        _ => return None,
    };
    Some(format!("`mcpreel show {what}error`"))
}

/// The counts of one reel as text. `about` is what the slowest request is about, and what lists the failures.
pub(super) fn human(
    report: &Report,
    (about, listing): (&str, Option<&str>),
    (groupings, has_histogram): (&[Grouping], bool),
    width: Option<usize>,
) -> String {
    let graphs = if has_histogram { format!("\n{}", render::graphs(report, width)) } else { String::new() };
    let sheets = groupings.iter().map(|grouping| render::sheet(report, *grouping, has_histogram));
    format!("{}{graphs}{}", render::summary(report, about, listing, width), tables(sheets, width))
}

/// Tables as text, each after an empty line.
fn tables(sheets: impl Iterator<Item = Sheet>, width: Option<usize>) -> String {
    sheets
        .filter(|sheet| !sheet.is_empty())
        .map(|sheet| format!("\n{}\n", sheet.text(width).trim_end_matches('\n')))
        .collect()
}

fn markdown(sheets: impl Iterator<Item = Sheet>) -> String {
    sheets.filter(|sheet| !sheet.is_empty()).map(|sheet| sheet.markdown()).collect::<Vec<_>>().join("\n")
}

/// Two reels or folders side by side.
fn compare(counting: &Counting<'_>, paths: &[&Path], args: &StatsArgs) -> Result<Shown, CommandError> {
    let [before, after] = paths else {
        let error = CommandError::usage(format!("--compare needs two reels or folders, not {}", paths.len()));
        return Err(error.hint("example: mcpreel stats --compare before.reel after.reel"));
    };
    let of = |path: &Path| counting.all(&Source::all(&[path], args)?).map(|(report, _)| report);
    let reports = vec![of(before)?, of(after)?];
    let names = [before, after].map(|path| reels::shown(path));
    let sides = Compared { before: (&names[0], &reports[0]), after: (&names[1], &reports[1]) };
    let (groupings, width) = (&counting.groupings, counting.context.printer.width);
    let sheets = || groupings.iter().map(|grouping| sides.sheet(*grouping));
    let text = match args.format {
        Format::Human => {
            let total = |at: usize| render::summary(&reports[at], "", listing(args, &[paths[at]]).as_deref(), width);
            let (a, b) = (total(0), total(1));
            format!("A: {}\n{a}\nB: {}\n{b}{}", names[0], names[1], tables(sheets(), width))
        }
        Format::Json => format!("{}\n", render::compared_json(&sides, groupings)),
        Format::Csv => {
            let sides = [(names[0].clone(), &reports[0]), (names[1].clone(), &reports[1])];
            render::exact(&sides, groupings).csv()
        }
        Format::Markdown => format!("A: `{}`, B: `{}`\n\n{}", names[0], names[1], markdown(sheets())),
    };
    Ok(Shown { text, reports })
}

/// `--audit` and `--context`, which read whole messages of one reel.
fn operations(
    args: &StatsArgs,
    paths: &[&Path],
    is_everything: bool,
    context: &Context,
) -> Result<Outcome, CommandError> {
    let what = if args.audit { "--audit lists whole operations" } else { "--context adds up whole turns" };
    if !is_everything {
        return Err(CommandError::usage(format!("{what} and cannot be combined with a filter")));
    }
    if paths.len() > 1 {
        return Err(CommandError::usage(format!("{what} of one reel only")));
    }
    let (reader, path, stream) = opened(args, paths.first().copied())?;
    if args.context {
        return context::run(reader, (&path, stream), args.format, &args.redact, context);
    }
    let format = match args.format {
        Format::Human => printer::Format::Human,
        Format::Json => printer::Format::Json,
        _ => return Err(CommandError::usage("--audit writes text or JSON only")),
    };
    let warning = SecretWarning::of_output(&args.redact, &context.printer)?;
    audit::run(reader, (&path, stream), format, warning, context)
}

/// Opens a reel or the reel of a live session. Also returns its path, and the stream that is meant (0 for all).
fn opened(args: &StatsArgs, path: Option<&Path>) -> Result<(ReelReader, PathBuf, u32), CommandError> {
    if let Some(name) = &args.session {
        let live = live::find(name)?;
        let (reader, path) = reels::open(&live.reel()?)?;
        return Ok((reader.following(), path, live.stream));
    }
    let (reader, path) = args.redact.open_whole(path)?;
    Ok((reader, path, 0))
}
