//! `reel prune`: removes old reels.

use super::list::{Folders, Found};
use crate::cli::printer::Format;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::files::places::listed;
use crate::files::pruning::{self, Exceeded, Limits};
use crate::files::reels;
use crate::render::line;
use crate::trace::begins_reel;
use crate::wire::text::{counted, visible_text};
use crate::wire::units::{parse_size, parse_time};
use clap::Args;
use serde_json::json;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Remove old reels, so that the others stay within limits. Asks first.
///
/// The limits apply in this order: first, reels that are older than --older-than go; of the others, all but the newest
/// --keep; of those, the oldest, until the rest is not larger than --max-size. A reel that is being recorded counts, but is
/// never removed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel reel prune --older-than 30d
  mcpreel reel prune --keep 100 --max-size 5G --dry-run
  mcpreel reel prune --older-than 30d --keep 100 --yes   # in a scheduled job

Only files that end in .reel are removed, from the folder where `record` writes without -o or those that --folder names, not \
from folders below them, nor from other folders that `reel list` lists. Exit codes: 0 removed, shown, or nothing to do; 2 no limit, or no terminal to ask on; 4 a \
reel cannot be removed.")]
pub(crate) struct PruneArgs {
    /// Remove reels that were not written within this time, such as 30d; a number alone is in seconds.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    older_than: Option<Duration>,
    /// Keep only this many reels, the newest.
    #[arg(long, value_name = "COUNT")]
    keep: Option<u64>,
    /// Keep only so much, the newest: bytes, or as 500M, 5G.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_size: Option<u64>,
    #[command(flatten)]
    folders: Folders,
    /// Remove without asking.
    #[arg(short, long)]
    yes: bool,
    /// Show what would be removed.
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Output format: what is removed, and why.
    #[arg(short, long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

pub(super) fn run(args: &PruneArgs, context: &Context) -> Result<Outcome, CommandError> {
    let limits = Limits { age: args.older_than, count: args.keep, bytes: args.max_size };
    if limits.is_empty() {
        return Err(CommandError::usage("which reels? give at least one limit")
            .hint("for example: mcpreel reel prune --older-than 30d --keep 100 --max-size 5G"));
    }
    let folders = args.folders.named_or_own()?;
    context.printer.note(&format!("reels in {}:", visible_text(&listed(&folders))));
    let (all, others): (Vec<Found>, Vec<Found>) =
        args.folders.reels_in(&folders)?.into_iter().partition(|found| is_reel(&found.path));
    if let Some(first) = others.first() {
        let (count, name) = (counted(others.len() as u64, "file"), visible_text(&first.path.display().to_string()));
        context
            .printer
            .note(&format!("{count} named .reel that cannot be read as a reel, such as {name}: not removed"));
    }
    let files: Vec<_> = all.iter().map(|found| found.file).collect();
    let planned = pruning::plan(&files, &limits, SystemTime::now());
    let removed: Vec<(&Found, Exceeded)> =
        all.iter().zip(planned).filter_map(|(found, exceeded)| Some((found, exceeded?))).collect();
    for (found, exceeded) in removed.iter().rev() {
        print(found, *exceeded, args.format, context)?;
    }
    let bytes = removed.iter().map(|(found, _)| found.file.bytes).sum();
    let what = format!("{} of {}, {}", removed.len(), counted(all.len() as u64, "reel"), line::bytes(bytes));
    if removed.is_empty() {
        context.printer.note(&format!("nothing to remove: {} within the limits", counted(all.len() as u64, "reel")));
        return Ok(Outcome::Clean);
    }
    if args.dry_run {
        context.printer.note(&format!("would remove {what}"));
        return Ok(Outcome::Clean);
    }
    if !args.yes && !context.printer.confirmed(&format!("remove {what}?"), "removed", "removes")? {
        context.printer.note("nothing was removed");
        return Ok(Outcome::Clean);
    }
    // The oldest first: if this is interrupted, the newest are still there.
    let mut gone = 0;
    for (found, _) in removed.iter().rev() {
        gone += u64::from(remove(found, context)?);
    }
    context.printer.note(&format!("removed {}", counted(gone, "reel")));
    Ok(Outcome::Clean)
}

/// Whether a file is a reel. Others may have files with the same ending.
fn is_reel(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(8).read_to_end(&mut head));
    read.is_ok() && begins_reel(&head)
}

fn print(found: &Found, exceeded: Exceeded, format: Format, context: &Context) -> Result<(), CommandError> {
    let option = exceeded.option();
    match format {
        Format::Json => context.printer.json(
            &json!({"path": found.path.to_string_lossy(), "size": found.file.bytes, "limit": option.trim_start_matches('-')}),
        ),
        Format::Human => context.printer.line(&format!(
            "{:>12}  {:>8}  {}",
            option,
            line::bytes(found.file.bytes),
            reels::shown(&found.path)
        )),
    }
}

/// Removes a reel, unless a recorder has begun to write it. Returns whether it did.
fn remove(found: &Found, context: &Context) -> Result<bool, CommandError> {
    let failed = |error: &std::io::Error| CommandError::writing(&found.path, error);
    let file = match File::open(&found.path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        opened => opened.map_err(|error| failed(&error))?,
    };
    if reels::lock(&file, &found.path).is_err() {
        context.printer.note(&format!("{} is being recorded, and stays", found.path.display()));
        return Ok(false);
    }
    std::fs::remove_file(&found.path).map_err(|error| failed(&error)).map(|()| true)
}
