//! `diff`: compares two recordings by what was sent.

mod normalise;

use crate::cli::printer::{Format, note};
use crate::cli::recordings::{self, Recorded};
use crate::cli::{Context, Outcome};
use crate::diff::{Collector, Learned, Options, Recording, Report, compare};
use crate::error::{CommandError, ErrorKind, Warn};
use crate::files::reels;
use crate::render::diff::{DiffStyle, text};
use crate::render::volatile;
use crate::trace::{Damage, EventKind};
use clap::Args;
use normalise::NormaliseArgs;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Compare two recordings by what was requested and answered.
///
/// A and B are reels, JSON lines (`mcpreel export`), or transcripts that `mcpreel import` reads. mcpreel matches their
/// messages by content and position. For a message that changed, it prints only the changes. Concurrent messages in a
/// different order are not a difference. Exits with 1 if A and B differ, and with 3 if neither contains a message.
///
/// Values that the run made (times, durations, ids, tokens, ports, process ids, temporary paths) may differ if they
/// correspond everywhere; the report counts them. Arguments that the client chose, schemas and other configuration are
/// compared as they are. Settings in `.mcpreel.toml` apply, too.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel diff before.reel after.reel                         # A and B
  mcpreel diff a.reel b.reel --ignore '/result/tools/*/description'
  mcpreel diff a.reel b.reel --format json
  mcpreel diff a.reel b.reel --volatile                       # list what was not compared
  mcpreel diff a.reel b.reel --learn a2.reel                  # a2: a second run of A's version
  mcpreel diff a.reel b.reel --exact --order --ids            # strictly

The seq after a heading is the event's number in A and in B; show the event with `mcpreel show A --seq N`.")]
pub(crate) struct DiffArgs {
    /// The first recording, A; `-` is stdin.
    #[arg(value_name = "A")]
    left: PathBuf,
    /// The second recording, B.
    #[arg(value_name = "B")]
    right: PathBuf,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[command(flatten)]
    normalise: NormaliseArgs,
    /// Also compare the order of requests, and of lists such as tools.
    #[arg(long)]
    order: bool,
    /// Also compare what the servers wrote to stderr.
    #[arg(long)]
    stderr: bool,
}

pub(super) fn run(args: &DiffArgs, context: &Context) -> Result<Outcome, CommandError> {
    let options = normalise::options(&args.normalise, args.order)?;
    let mut report = compare_files([&args.left, &args.right], &options, args, context)?;
    if let Some(again) = &args.normalise.learn {
        let noise = compare_files([&args.left, again], &options, args, context)?;
        report.leave_out(&Learned::of(&noise));
    }
    match args.format {
        Format::Json => context.printer.json(&report.to_json())?,
        Format::Human => {
            let mut out = String::new();
            text(&report, &DiffStyle::from(&context.printer.palette), context.printer.width, &mut out);
            volatile::text(&report, &mut out);
            context.printer.text(&out)?;
        }
    }
    Ok(if report.is_empty() { Outcome::Clean } else { Outcome::Findings })
}

/// How often recordings are read again for texts: those of changed messages, and of units whose ids do not
/// correspond.
const MAX_PASSES: u32 = 3;

fn compare_files(
    paths: [&Path; 2],
    options: &Options,
    args: &DiffArgs,
    context: &Context,
) -> Result<Report, CommandError> {
    // A pipe can be read only once, so all of its content is kept.
    let collectors = paths.map(|path| {
        let collector = Collector::new(options).with_stderr(args.stderr);
        if path.is_file() { collector.without_texts() } else { collector }
    });
    let passes = read_both(paths, collectors, note)?;
    for (path, pass) in paths.iter().zip(&passes) {
        pass.damage.iter().for_each(|damage| context.printer.note(&format!("{}: {damage}", path.display())));
    }
    let [(mut left, in_left), (mut right, in_right)] = passes.map(|pass| (pass.recording, pass.messages));
    match (in_left, in_right) {
        // Stderr can be compared without messages.
        (0, 0) if args.stderr => {}
        (0, 0) => return Err(reels::without_messages(paths[0])),
        (0, _) => context.printer.note(&format!("{}: no messages", paths[0].display())),
        (_, 0) => context.printer.note(&format!("{}: no messages", paths[1].display())),
        _ => {}
    }
    // The texts of changed messages are read in a second pass, so that only the outlines of two recordings are in
    // memory.
    for _ in 0..=MAX_PASSES {
        let missing = match compare(&left, &right, options) {
            Ok(report) => return Ok(report),
            Err(missing) => missing,
        };
        let again = |path: &Path, wanted: HashSet<u64>, recording: &mut Recording| -> Result<(), CommandError> {
            // What comes through a pipe was kept, and cannot be read again.
            if !wanted.is_empty() {
                let collector = Collector::new(options).with_stderr(args.stderr).only_texts_of(wanted);
                recording.fill(read(recordings::open(path, None)?, collector)?.recording);
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let on_right = scope.spawn(|| again(paths[1], missing.right, &mut right));
            again(paths[0], missing.left, &mut left)?;
            on_right.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })?;
    }
    Err(CommandError::new(ErrorKind::Input, "a recording changed while it was being compared")
        .hint("compare the two again when they are complete"))
}

/// What one pass over a recording finds.
struct Pass {
    recording: Recording,
    messages: u64,
    damage: Vec<Damage>,
}

/// Reads both recordings at the same time.
fn read_both(paths: [&Path; 2], collectors: [Collector<'_>; 2], warn: Warn) -> Result<[Pass; 2], CommandError> {
    let [left, right] = paths.map(|path| recordings::open(path, Some(warn)));
    let (left, right) = (left?, right?);
    let [on_left, on_right] = collectors;
    std::thread::scope(|scope| {
        let right = scope.spawn(|| read(right, on_right));
        let left = read(left, on_left)?;
        let right = right.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok([left, right])
    })
}

fn read(recorded: Recorded, mut collector: Collector<'_>) -> Result<Pass, CommandError> {
    let mut messages = 0;
    let damage = recorded.each_event(|event| {
        messages += u64::from(event.header.kind == EventKind::Message);
        collector.take(event);
    })?;
    Ok(Pass { recording: collector.finish(), messages, damage })
}
