//! `reel merge`: writes several reels as one.

use crate::cli::lane::Lane;
use crate::cli::printer::note;
use crate::cli::recordings::Recorded;
use crate::cli::redaction::RedactOptions;
use crate::cli::secret_warning::SecretWarning;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::files::output::{Output, check_apart};
use crate::record::recording;
use crate::share::{Merge, Source};
use crate::trace::{ReelWriter, WriterOptions};
use crate::wire::text::counted;
use clap::Args;
use std::path::PathBuf;

/// The most reels that are merged at a time: each needs memory for a block.
const MAX_REELS: usize = 256;

/// Write several reels as one, in the order of time. Each session keeps a stream of its own.
///
/// The notes of the new reel say which stream comes from which file, with the file's name. With --redact, secrets are
/// replaced, the same one by the same pseudonym in all reels.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel reel merge client.reel server.reel -o both.reel
  mcpreel reel merge client.reel server.reel -o shared.reel --redact
  mcpreel reel merge *.reel -o all.reel && mcpreel show all.reel stream:2")]
pub(crate) struct MergeArgs {
    /// The reels.
    #[arg(required = true, num_args = 2..)]
    reels: Vec<PathBuf>,
    /// Write to this file; `-` is stdout.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Overwrite an existing file.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    redact: RedactOptions,
}

pub(super) fn run(args: &MergeArgs, context: &Context) -> Result<Outcome, CommandError> {
    if args.reels.len() > MAX_REELS {
        return Err(CommandError::usage(format!("at most {MAX_REELS} reels can be merged at a time"))
            .hint("merge some of them first"));
    }
    let open = |path: &PathBuf| {
        let Recorded { reader, path, .. } = args.redact.open(path, Some(note))?;
        Lane::new(reader.in_pieces(), path)
    };
    let mut lanes = args.reels.iter().map(open).collect::<Result<Vec<Lane>, CommandError>>()?;
    let sources = lanes.iter().map(|lane| Source {
        name: lane.path().file_name().unwrap_or_default().to_string_lossy().into_owned(),
        header: lane.file_header().clone(),
    });
    let mut merge = Merge::new(sources.collect());
    args.reels.iter().try_for_each(|reel| check_apart(reel, &args.output))?;
    let writing = |error: std::io::Error| CommandError::writing(&args.output, &error);
    let out = Output::create(&args.output, args.force)?;
    let mut header = merge.header(&recording::header().tool);
    if args.redact.redact {
        // It has the names of the files.
        header = args.redact.key.learner()?.finish().header(&header);
    }
    let mut warning = SecretWarning::of_reel(&args.redact, &header)?;
    let mut writer = ReelWriter::create(out, &header, WriterOptions::default()).map_err(writing)?;
    // Within a reel, the order stays, even where times are a little out of order.
    let time = |lane: &Lane| lane.header().map(|header| header.time);
    while let Some((_, number)) =
        lanes.iter().enumerate().filter_map(|(number, lane)| Some((merge.time(number, time(lane)?), number))).min()
    {
        let Some(lane) = lanes.get_mut(number) else { break };
        if let Some(event) = lane.event() {
            warning.take(&event);
            writer.append(merge.event(number, event.header, event.payload)).map_err(writing)?;
        }
        lane.advance()?;
    }
    let events = writer.next_seq();
    let (out, _) = writer.finish().map_err(writing)?;
    out.finish()?;
    let (events, reels) = (counted(events, "event"), counted(args.reels.len() as u64, "reel"));
    context.printer.note(&format!("{events} of {reels} in {}", args.output.display()));
    warning.print_of_reel(&args.output);
    let is_damaged = lanes.iter().any(|lane| lane.is_damaged);
    Ok(if is_damaged { Outcome::Findings } else { Outcome::Clean })
}
