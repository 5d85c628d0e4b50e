//! `export`: a reel in other formats.

use crate::cli::error::CommandError;
use crate::cli::output::Output;
use crate::cli::{Context, Outcome, reels};
use crate::formats::jsonl;
use crate::trace::Item;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Convert a reel to another format.
///
/// `jsonl` is lossless: `mcpreel import` restores the same events, every payload byte for byte.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel export session.reel | jq -c 'select(.message.method == \"ping\")'
  mcpreel export --format jsonl session.reel -o session.jsonl")]
pub struct ExportArgs {
    /// The reel; `-` for stdin (default: the newest).
    reel: Option<PathBuf>,
    /// The output format.
    #[arg(long, value_enum, default_value_t = ExportFormat::Jsonl)]
    format: ExportFormat,
    /// Write to this file; `-` is stdout.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Overwrite an existing file.
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// JSON lines, one event per line; lossless.
    Jsonl,
}

pub fn run(args: &ExportArgs, context: &Context) -> Result<Outcome, CommandError> {
    let (reader, path) = reels::open_whole(args.reel.as_deref(), &context.printer)?;
    let mut reader = reader.leaving_long();
    if let (Ok(from), Ok(to)) = (path.canonicalize(), args.output.canonicalize())
        && from == to
    {
        return Err(CommandError::usage(format!("{} is the reel itself", args.output.display()))
            .hint("write the export to another file"));
    }
    let mut out = Output::create(&args.output, args.force)?;
    let writing = |error: std::io::Error| CommandError::writing(&args.output, &error);
    jsonl::write_header(reader.header(), &mut out).map_err(writing)?;
    let total = std::fs::metadata(&path).map_or(0, |about| about.len());
    let mut progress = context.printer.progress("exporting", total);
    let (created, mut damaged) = (reader.header().created, false);
    while let Some(item) = reader.next().map_err(|error| CommandError::reading(&path, &error))? {
        match item {
            Item::Damage(damage) => {
                damaged = true;
                context.printer.note(&damage.to_string());
            }
            Item::Block(block) => {
                for event in block.events() {
                    jsonl::write_event(&event, created, &mut out).map_err(writing)?;
                }
                if !block.is_loaded() {
                    let passed = reader.pass_payload(&block, jsonl::write_long(created, &mut out));
                    if let Err(damage) = passed.map_err(writing)? {
                        damaged = true;
                        context.printer.note(&damage.to_string());
                    }
                }
                reader.recycle(block);
                progress.reach(reader.offset());
            }
        }
    }
    progress.finish();
    out.finish()?;
    Ok(if damaged { Outcome::Findings } else { Outcome::Clean })
}
