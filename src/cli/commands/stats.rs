//! `stats`: counts and latencies, from the headers in a reel.

mod audit;
mod counts;
mod report;

use crate::cli::packs::PackOptions;
use crate::cli::printer::Format;
use crate::cli::recordings;
use crate::cli::redaction::RedactOptions;
use crate::cli::secret_warning::SecretWarning;
use crate::cli::selecting::{self, parse_filter};
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::files::reels;
use crate::proposals::Registry;
use crate::session::selection::Selection;
use crate::session::summary::Depth;
use crate::session::view::{Placed, Words};
use crate::sessions::live;
use crate::trace::{AheadReader, Item, ReelReader};
use crate::wire::text::{counted, visible_text};
use clap::Args;
pub(super) use counts::Stats;

/// Count messages, bytes, errors, latencies and unanswered requests by method.
///
/// Without a filter, only headers are read, so it is fast for any reel. `seq` is the number of the request with the slowest response;
/// `mcpreel show --seq N` starts there.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel stats                       # the newest reel
  mcpreel stats --session everything  # a live session so far
  mcpreel stats session.reel --format json | jq .slowest
  mcpreel stats session.reel 'tool:echo or method:resources/*'
  mcpreel stats session.reel --audit  # MCPL operations

--audit --format json prints one object per operation: time, seconds, seq, stream, server, operation (push, \
injection, response, inference, scope, rollback, publish), feature_set, inference_id, about, outcome (success, \
failure, timeout), reason, latency_ms.")]
pub(crate) struct StatsArgs {
    /// The reel (`-` for stdin; default: the newest), followed by a filter of what is counted, as in `mcpreel show`.
    #[arg(value_name = "REEL|FILTER")]
    words: Vec<String>,
    /// Use the reel of a live session; the arguments are then only a filter. `mcpreel sessions` lists the sessions.
    #[arg(long, value_name = "NAME", conflicts_with = "redact")]
    session: Option<String>,
    /// List the operations of MCPL: each push, injection, changed answer, inference, scope request, rollback and
    /// channel message, with its server, feature set, inference and outcome. Reads every message.
    #[arg(long)]
    audit: bool,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[command(flatten)]
    packs: PackOptions,
    #[command(flatten)]
    redact: RedactOptions,
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &StatsArgs, context: &Context) -> Result<Outcome, CommandError> {
    let (path, words) = match &args.session {
        None => selecting::split_words(&args.words)?,
        Some(_) => (None, &args.words[..]),
    };
    let terms = words.join(" ");
    let registry = args.packs.registry()?;
    let filter = parse_filter(&terms, registry, path.is_some() || args.session.is_some())?;
    if args.audit && !filter.is_empty() {
        return Err(CommandError::usage("--audit lists whole operations and cannot be combined with a filter"));
    }
    let (reader, path, redacted, stream) = match &args.session {
        None => {
            let (reader, path, redacted) = args.redact.open_twice(path)?;
            (reader, path, redacted, 0)
        }
        Some(name) => {
            let live = live::find(name)?;
            let (reader, path) = reels::open(Some(&live.reel()?))?;
            (reader.following(), path, None, live.stream)
        }
    };
    let failed = |error| CommandError::reading(&path, &error);
    if args.audit {
        let warning = SecretWarning::new(&args.redact)?.unless_seen(&context.printer);
        return audit::run(reader, (&path, stream), args.format, warning, context);
    }
    let reader = if filter.is_empty() { reader } else { reader.with_payloads() };
    let mut reader = AheadReader::start(reader).map_err(failed)?;
    let mut progress = context.printer.progress_through("counting", &path);
    let mut selection = Selection::new(filter);
    let stats = Stats::of_stream(stream, &mut selection, &mut reader, |at| progress.reach(at)).map_err(failed)?;
    progress.finish();
    // A pipe cannot be read again.
    let opened = || path.is_file().then(|| recordings::open(&path, None).ok()).flatten();
    let again = || redacted.or_else(|| opened().map(|opened| opened.reader));
    let about =
        stats.slowest(reader.methods()).map(|(_, slowest)| about(again(), slowest.seq, registry)).unwrap_or_default();
    match args.format {
        Format::Json => {
            let mut counts = stats.to_json(reader.methods(), &about);
            if !terms.is_empty() {
                counts["filter"] = terms.as_str().into();
            }
            context.printer.json(&counts)?;
            args.redact.warn_of_report(&counts.to_string())?;
        }
        Format::Human => {
            let only = if terms.is_empty() { String::new() } else { format!("\nonly {}", visible_text(&terms)) };
            context.printer.line(&format!("{}{only}\n", reels::shown(&path)))?;
            let text = stats.to_text(reader.methods(), &about, context.printer.width);
            context.printer.line(&text)?;
            args.redact.warn_of_text(&text, &context.printer)?;
        }
    }
    if stats.events == 0 && !terms.is_empty() {
        context.printer.note(&format!("no matches among {}", counted(stats.read, "event")));
    }
    for damage in &stats.damages {
        context.printer.note(damage);
    }
    Ok(if stats.damages.is_empty() { Outcome::Clean } else { Outcome::Findings })
}

/// What the request with this number is about. Empty if the reel cannot be read again.
fn about(reader: Option<ReelReader>, seq: u64, registry: &'static Registry) -> String {
    let read = || {
        let mut reader = reader?.following().with_payloads();
        reader.seek_seq(seq).ok()?;
        while let Some(item) = reader.next().ok()? {
            let Item::Block(block) = item else { continue };
            if let Some(event) = block.events().find(|event| event.header.seq == seq) {
                let number = event.header.message.as_ref()?.method?;
                let mut words = Words::knowing(registry);
                words.report(
                    &event,
                    reader.methods().get(number as usize).map(|name| &**name),
                    &Placed::default(),
                    Depth::Subject,
                );
                return Some(words.about);
            }
        }
        None
    };
    read().unwrap_or_default()
}
