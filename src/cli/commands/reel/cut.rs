//! `reel cut`: writes a part of a reel.

use crate::cli::packs::PackOptions;
use crate::cli::recordings::append_gap;
use crate::cli::redaction::RedactOptions;
use crate::cli::secret_warning::SecretWarning;
use crate::cli::{Context, Outcome};
use crate::error::{CommandError, ErrorKind};
use crate::files::output::{Output, check_apart};
use crate::runtime::parameters::time_in_reel;
use crate::session::filter::Filter;
use crate::share::{Cut, Selection};
use crate::trace::{EventKind, ReelWriter, WriterOptions};
use crate::wire::text::counted;
use clap::Args;
use std::path::PathBuf;

/// Write a part of a reel: what a filter, a time and streams select.
///
/// The handshake of each session that is left, its opening and its end, and the requests and responses that belong
/// together come along, so that the part can be read and validated by itself. The original stays as it is. A filter
/// selects messages, and so leaves out what the server wrote to stderr, unless it names those events (`event:stderr`).
///
/// The part may contain secrets, also in the handshake that comes along: --redact replaces those that mcpreel recognises.
/// Read it before you share it: `mcpreel show --full --no-fold part.reel`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel reel cut session.reel -o add.reel tool:add
  mcpreel reel cut session.reel -o end.reel --from 12.5
  mcpreel reel cut session.reel -o one.reel --stream 2
  mcpreel reel cut session.reel -o part.reel --redact 'error or slow:>1s'
  mcpreel reel cut session.reel -o bare.reel error --no-handshake --no-pairs")]
pub(crate) struct CutArgs {
    /// The reel; `-` for stdin.
    reel: PathBuf,
    /// A filter; `mcpreel show --help` lists all terms.
    filter: Vec<String>,
    /// Write to this file; `-` is stdout.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Overwrite an existing file.
    #[arg(long)]
    force: bool,
    /// Start at this time: seconds since the start of the reel, or an RFC 3339 time.
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// End at this time.
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// Only the session with this stream number (repeatable); `mcpreel show` prints it after #.
    #[arg(long = "stream", value_name = "NUMBER")]
    streams: Vec<u32>,
    #[command(flatten)]
    packs: PackOptions,
    /// Leave out the handshake, unless it is selected.
    #[arg(long)]
    no_handshake: bool,
    /// Leave out the other half of a request and its response, unless it is selected.
    #[arg(long)]
    no_pairs: bool,
    #[command(flatten)]
    redact: RedactOptions,
}

pub(super) fn run(args: &CutArgs, context: &Context) -> Result<Outcome, CommandError> {
    check_apart(&args.reel, &args.output)?;
    let reel = args.redact.twice(Some(&args.reel))?;
    let mut header = reel.open()?.reader.header().clone();
    let filter = Filter::parse_knowing(&args.filter.join(" "), args.packs.registry()?).map_err(|error| {
        CommandError::usage(error.to_string()).hint("`mcpreel show --help` lists the terms of filters")
    })?;
    let time = |text: &Option<String>| text.as_ref().map(|text| time_in_reel(text, header.created)).transpose();
    let selection = Selection {
        filter,
        from: time(&args.from)?,
        to: time(&args.to)?,
        streams: args.streams.clone(),
        keeps_handshake: !args.no_handshake,
        keeps_pairs: !args.no_pairs,
    };
    let out = Output::create(&args.output, args.force)?;
    let mut cut = Cut::new(selection);
    let (mut events, mut stderr) = (0u64, Vec::new());
    let damage = reel.each_event(|event| {
        events += 1;
        if event.header.kind == EventKind::Stderr {
            stderr.push((event.header.seq, cut.is_inside(event.header)));
        }
        cut.take(event);
        Ok(())
    })?;
    let is_part = !cut.keeps_sessions_whole();
    let kept = cut.finish();
    if kept.is_empty() {
        return Err(CommandError::new(ErrorKind::Unmet, format!("nothing in {} is selected", reel.shown.display()))
            .hint("no file was written; `mcpreel show` with the same filter shows what it selects"));
    }
    let about = format!("{} of {}", kept.len(), counted(events, "event"));
    if is_part {
        header.mark_as_cut(about.clone());
    }
    let writing = |error: std::io::Error| CommandError::writing(&args.output, &error);
    let mut writer = ReelWriter::create(out, &header, WriterOptions::default()).map_err(writing)?;
    let mut warning = SecretWarning::of_reel(&args.redact, &header)?;
    let mut last_time = 0;
    reel.each_event(|event| match kept.contains(&event.header.seq) {
        true => {
            warning.take(event);
            last_time = event.header.time;
            writer.append(event.again()).map_err(writing)
        }
        false => Ok(()),
    })?;
    damage.iter().try_for_each(|damage| append_gap(&mut writer, last_time, damage)).map_err(writing)?;
    let (out, _) = writer.finish().map_err(writing)?;
    out.finish()?;
    context.printer.note(&format!("{about} in {}", args.output.display()));
    let left_out: Vec<bool> = stderr.into_iter().filter(|one| !kept.contains(&one.0)).map(|one| one.1).collect();
    note_stderr(&left_out, context);
    warning.print_of_reel(&args.output);
    if let Some(damage) = damage {
        context.printer.note(&format!("{}: {damage}; a gap takes its place", reel.shown.display()));
        return Ok(Outcome::Findings);
    }
    Ok(Outcome::Clean)
}

/// Says what of stderr was left out; for each such event, whether only the filter did that.
fn note_stderr(left_out: &[bool], context: &Context) {
    let by_filter = left_out.iter().filter(|is_inside| **is_inside).count();
    let outside = left_out.len() - by_filter;
    let count = |count: usize| counted(count as u64, "event");
    if by_filter > 0 {
        let count = count(by_filter);
        context.printer.note(&format!("the filter left out {count} of stderr; `or event:stderr` keeps them"));
    }
    if outside > 0 {
        let count = count(outside);
        context.printer.note(&format!("left out {count} of stderr: another time or session"));
    }
}
