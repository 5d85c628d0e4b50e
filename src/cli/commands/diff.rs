//! `diff`: compares two reels by what was sent.

use crate::cli::comparing::CompareOptions;
use crate::cli::printer::{Format, note};
use crate::cli::{Context, Outcome};
use crate::diff::{Collector, Recording, compare};
use crate::error::{CommandError, ErrorKind};
use crate::record::reels;
use crate::render::diff::{DiffStyle, text};
use crate::trace::{Damage, EventKind, Item, ReelReader};
use clap::Args;
use std::path::{Path, PathBuf};

/// Compare two reels by what was requested and answered.
///
/// mcpreel ignores times and ids, and matches the messages of A and B by content and position. For a message that
/// changed, it prints only the changes. Concurrent messages in a different order are not a difference. Exits with 1 if
/// A and B differ, and with 3 if neither contains a message.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel diff before.reel after.reel                         # A and B
  mcpreel diff a.reel b.reel --ignore '/result/tools/*/description'
  mcpreel diff a.reel b.reel --format json
  mcpreel diff a.reel b.reel --exact --order --ids --times    # strictly

The seq after a heading is the event's number in A and in B; show the event with `mcpreel show A --seq N`.")]
pub(crate) struct DiffArgs {
    /// The first reel, A.
    #[arg(value_name = "A")]
    left: PathBuf,
    /// The second reel, B.
    #[arg(value_name = "B")]
    right: PathBuf,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[command(flatten)]
    compare: CompareOptions,
}

pub(super) fn run(args: &DiffArgs, context: &Context) -> Result<Outcome, CommandError> {
    let options = args.compare.options();
    let paths = [&*args.left, &*args.right];
    // A pipe can be read only once, so all of its content is kept.
    let collectors = paths.map(|path| {
        let collector = Collector::new(&options).with_stderr(args.compare.stderr);
        if path.is_file() { collector.without_texts() } else { collector }
    });
    let passes = read_both(paths, collectors, |path| reels::open_whole(Some(path), note))?;
    for (path, pass) in paths.iter().zip(&passes) {
        pass.damage.iter().for_each(|damage| context.printer.note(&format!("{}: {damage}", path.display())));
    }
    let [(mut left, in_left), (mut right, in_right)] = passes.map(|pass| (pass.recording, pass.messages));
    match (in_left, in_right) {
        // Stderr can be compared without messages.
        (0, 0) if args.compare.stderr => {}
        (0, 0) => return Err(reels::without_messages(&args.left)),
        (0, _) => context.printer.note(&format!("{}: no messages", args.left.display())),
        (_, 0) => context.printer.note(&format!("{}: no messages", args.right.display())),
        _ => {}
    }
    // The texts of changed messages are read in a second pass, so that only the outlines of two recordings are in
    // memory.
    let mut passes = 0;
    let report = loop {
        let missing = match compare(&left, &right, &options) {
            Ok(report) => break report,
            Err(missing) if passes < MAX_PASSES => missing,
            Err(_) => {
                return Err(CommandError::new(ErrorKind::Input, "a recording changed while it was being compared")
                    .hint("compare the two again when they are complete"));
            }
        };
        passes += 1;
        let collectors = [missing.left, missing.right]
            .map(|wanted| Collector::new(&options).with_stderr(args.compare.stderr).only_texts_of(wanted));
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

/// How often recordings are read again for texts: those of changed messages, and of units whose ids do not
/// correspond.
const MAX_PASSES: u32 = 3;

/// What one pass over a reel finds.
struct Pass {
    recording: Recording,
    messages: u64,
    damage: Vec<Damage>,
}

/// Reads both reels at the same time.
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
