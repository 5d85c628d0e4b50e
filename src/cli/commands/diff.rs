//! `diff`: two reels compared by what was said.

use crate::cli::printer::note;
use crate::cli::{Context, Outcome};
use crate::diff::{Collector, Options, Recording, compare};
use crate::error::{CommandError, ErrorKind};
use crate::record::reels;
use crate::render::diff::{DiffStyle, text};
use crate::trace::{Damage, EventKind, Item, ReelReader};
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
    let paths = [&*args.left, &*args.right];
    // What comes through a pipe comes once, so all of it is kept.
    let collectors = paths.map(|path| {
        let collector = Collector::new(&options).with_stderr(args.stderr);
        if path.is_file() { collector.without_texts() } else { collector }
    });
    let passes = read_both(paths, collectors, |path| reels::open_whole(Some(path), note))?;
    for (path, pass) in paths.iter().zip(&passes) {
        pass.damage.iter().for_each(|damage| context.printer.note(&format!("{}: {damage}", path.display())));
    }
    let [(mut left, in_left), (mut right, in_right)] = passes.map(|pass| (pass.recording, pass.messages));
    match (in_left, in_right) {
        // Standard error can be compared without them.
        (0, 0) if args.stderr => {}
        (0, 0) => return Err(reels::without_messages(&args.left)),
        (0, _) => context.printer.note(&format!("{}: there is no message in it", args.left.display())),
        (_, 0) => context.printer.note(&format!("{}: there is no message in it", args.right.display())),
        _ => {}
    }
    // What changed is read again, so that two recordings take no more memory than their outlines.
    let mut passes = 0;
    let report = loop {
        let missing = match compare(&left, &right, &options) {
            Ok(report) => break report,
            Err(missing) if passes < MAX_PASSES => missing,
            Err(_) => {
                return Err(CommandError::new(ErrorKind::Input, "a recording changed while it was compared")
                    .hint("compare the two again once they are finished"));
            }
        };
        passes += 1;
        let collectors = [missing.left, missing.right]
            .map(|wanted| Collector::new(&options).with_stderr(args.stderr).only_texts_of(wanted));
        let [texts, others] = read_both(paths, collectors, |path| reels::open(Some(path)))?;
        left.fill(texts.recording);
        right.fill(others.recording);
    };
    match args.format {
        Format::Json => context.printer.json(&report.to_json())?,
        Format::Human => {
            let mut out = String::new();
            text(&report, &DiffStyle::from(&context.printer.palette), context.printer.width, &mut out);
            context.printer.text(&out)?;
        }
    }
    Ok(if report.is_empty() { Outcome::Clean } else { Outcome::Findings })
}

/// How often recordings are read again for texts: of what changed, and of units whose ids do not correspond.
const MAX_PASSES: u32 = 3;

/// What one pass over a reel finds.
struct Pass {
    recording: Recording,
    messages: u64,
    damage: Vec<Damage>,
}

/// Reads both reels at once.
fn read_both(
    paths: [&Path; 2],
    collectors: [Collector<'_>; 2],
    open: impl Fn(&Path) -> Result<(ReelReader, PathBuf), CommandError>,
) -> Result<[Pass; 2], CommandError> {
    let [left, right] = paths.map(open);
    let ((left, left_path), (right, right_path)) = (left?, right?);
    let [on_left, on_right] = collectors;
    std::thread::scope(|scope| {
        let right = scope.spawn(|| read(right, &right_path, on_right));
        let left = read(left, &left_path, on_left)?;
        let right = right.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok([left, right])
    })
}

fn read(reader: ReelReader, path: &Path, mut collector: Collector<'_>) -> Result<Pass, CommandError> {
    let mut reader = reader.with_payloads();
    let (mut messages, mut damage) = (0, Vec::new());
    while let Some(item) = reader.next().map_err(|error| CommandError::reading(path, &error))? {
        match item {
            Item::Damage(found) => damage.push(found),
            Item::Block(block) => {
                block.events().for_each(|event| {
                    messages += u64::from(event.header.kind == EventKind::Message);
                    collector.take(&event);
                });
                reader.recycle(block);
            }
        }
    }
    Ok(Pass { recording: collector.finish(), messages, damage })
}
