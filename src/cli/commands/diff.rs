//! `diff`: two reels compared by what was said.

use crate::cli::error::CommandError;
use crate::cli::{Context, Outcome, reels};
use crate::diff::{Collector, Options, Unit, compare};
use crate::render::diff::{DiffStyle, text};
use crate::trace::{EventKind, Item};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

/// Compare two reels: what was asked and answered, not when or under which id.
///
/// Messages are aligned by what they say and where they stand; of a message that changed, only the change is shown.
/// Concurrent messages in another order are no difference. Exit code 1 on a difference, 3 where neither reel has a
/// message.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel diff before.reel after.reel
  mcpreel diff a.reel b.reel --ignore '/result/tools/*/description'
  mcpreel diff a.reel b.reel --format json
  mcpreel diff a.reel b.reel --exact --order --ids --times     to the letter

Behind a heading, seq is the number of the event in A and in B (`mcpreel show a.reel --seq N`).")]
pub struct DiffArgs {
    /// The one reel (A).
    left: PathBuf,
    /// The other (B).
    right: PathBuf,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Member order, number spelling and JSON inside text count too.
    #[arg(long)]
    exact: bool,
    /// The order of exchanges, and of lists with names, counts too.
    #[arg(long)]
    order: bool,
    /// Ids are compared by value.
    #[arg(long)]
    ids: bool,
    /// Times are compared by value.
    #[arg(long)]
    times: bool,
    /// Compare what the servers wrote to standard error, too.
    #[arg(long)]
    stderr: bool,
    /// A place that never counts, a JSON pointer from the message's root with `*` for any one member (repeatable).
    #[arg(long, value_name = "POINTER")]
    ignore: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text.
    Human,
    /// One JSON object.
    Json,
}

pub fn run(args: &DiffArgs, context: &Context) -> Result<Outcome, CommandError> {
    let options = Options {
        exact: args.exact,
        order: args.order,
        keep_times: args.times,
        keep_ids: args.ids,
        ignore: args.ignore.clone(),
    };
    let ((left, in_left), (right, in_right)) =
        (collect(&args.left, args.stderr, context)?, collect(&args.right, args.stderr, context)?);
    match (in_left, in_right) {
        (0, 0) => return Err(reels::without_messages(&args.left)),
        (0, _) => context.printer.note(&format!("{}: there is no message in it", args.left.display())),
        (_, 0) => context.printer.note(&format!("{}: there is no message in it", args.right.display())),
        _ => {}
    }
    let report = compare(&left, &right, &options);
    match args.format {
        Format::Json => context.printer.line(&report.to_json().to_string())?,
        Format::Human => {
            let mut out = String::new();
            text(&report, &DiffStyle::from(&context.printer.palette), context.printer.width, &mut out);
            context.printer.write(out.as_bytes())?;
        }
    }
    Ok(if report.is_empty() { Outcome::Clean } else { Outcome::Findings })
}

/// What is compared of a reel, and how many messages are in it.
fn collect(path: &Path, with_stderr: bool, context: &Context) -> Result<(Vec<Unit>, u64), CommandError> {
    let (reader, path) = reels::open_whole(Some(path), &context.printer)?;
    let mut reader = reader.with_payloads();
    let mut collector = if with_stderr { Collector::with_stderr() } else { Collector::default() };
    let mut messages = 0;
    while let Some(item) = reader.next().map_err(|error| CommandError::reading(&path, &error))? {
        match item {
            Item::Damage(damage) => context.printer.note(&format!("{}: {damage}", path.display())),
            Item::Block(block) => {
                block.events().for_each(|event| {
                    messages += u64::from(event.header.kind == EventKind::Message);
                    collector.take(&event);
                });
                reader.recycle(block);
            }
        }
    }
    Ok((collector.finish(), messages))
}
