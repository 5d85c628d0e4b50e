//! `diff`: compares two reels by what was sent, or what two servers offer.

mod surface;
mod view;

use crate::cli::printer::note;
use crate::cli::{Context, Outcome};
use crate::diff::rename::{self, OldNames};
use crate::diff::surface::{Extractor, Likeness, Surface};
use crate::diff::{Collector, Options, Recording, Report, compare};
use crate::error::{CommandError, ErrorKind};
use crate::record::reels;
use crate::render::progress::SharedProgress;
use crate::trace::{Damage, Event, EventKind, Item, ReelReader};
use clap::Args;
use std::path::{Path, PathBuf};
use view::DiffFormat;

/// Compare two reels by what was requested and answered, or what two servers offer.
///
/// mcpreel ignores times and ids, and matches the messages of A and B by content and position. For a message that
/// changed, it prints only the changes. Concurrent messages in a different order are not a difference. Exits with 1 if
/// A and B differ, and with 3 if neither contains a message.
#[derive(Debug, Args)]
#[command(
    override_usage = "mcpreel diff [OPTIONS] <A> <B>\n       mcpreel diff --surface [OPTIONS] <A> [B] [-- <CMD>...]"
)]
#[command(mut_arg("era", |era| era.help("The era to use; auto tries `server/discover`, then `initialize`")))]
#[command(after_help = "\
Examples:
  mcpreel diff before.reel after.reel                         # A and B
  mcpreel diff a.reel b.reel --ignore '/result/tools/*/description'
  mcpreel diff a.reel b.reel --view summary                   # counts by method and tool
  mcpreel diff a.reel b.reel --only tools --view side-by-side
  mcpreel diff a.reel b.reel --only latency                   # response times
  mcpreel diff a.reel b.reel --format json | jq '.units[].patch'
  mcpreel diff a.reel b.reel --format markdown                # for a pull request
  mcpreel diff a.reel b.reel --exact --order --ids --times    # strictly

Compare what servers offer, and fail if a change breaks clients:
  mcpreel diff --surface a.reel b.reel
  mcpreel diff --surface --update server.lock.json -- my-server    # write the lock file
  mcpreel diff --surface server.lock.json -- my-server             # check the server against it
  mcpreel diff --rules                                             # what counts as breaking

In a heading, - means only in A, and + only in B. Below it, - is the value in A, and + the one in B, after the JSON \
Pointer of the place, which --ignore takes. \
The seq after a heading is the event's number in A and in B; show the event with `mcpreel show A --seq N`.")]
pub(crate) struct DiffArgs {
    /// The first reel, A; with --surface also JSON lines or a lock file.
    #[arg(value_name = "A", required_unless_present = "rules")]
    left: Option<PathBuf>,
    /// The second reel, B; with --surface also JSON lines, a lock file, or none for a live server.
    #[arg(value_name = "B", required_unless_present_any = ["rules", "surface"])]
    right: Option<PathBuf>,
    /// Also compare the order of members, the notation of numbers, and (byte for byte) JSON embedded in strings.
    #[arg(long)]
    exact: bool,
    /// Also compare the order of requests and notifications, whether a notification came before or after the result of
    /// its request, and the order of lists such as tools.
    #[arg(long)]
    order: bool,
    /// Also compare ids.
    #[arg(long)]
    ids: bool,
    /// Also compare timestamps in messages.
    #[arg(long)]
    times: bool,
    /// Also compare what the servers wrote to stderr.
    #[arg(long)]
    stderr: bool,
    /// Ignore the value at this JSON Pointer, relative to the message; `*` matches any one member (repeatable).
    #[arg(long, value_name = "POINTER")]
    ignore: Vec<String>,
    #[command(flatten)]
    view: view::ViewArgs,
    #[command(flatten)]
    surface: surface::SurfaceArgs,
}

pub(super) fn run(args: &DiffArgs, context: &Context) -> Result<Outcome, CommandError> {
    let format = args.view.format;
    if args.surface.rules {
        return surface::list_rules(format, context);
    }
    let Some(left) = args.left.as_deref() else { return Err(CommandError::usage("A is missing")) };
    if args.surface.surface {
        return surface::run(&args.surface, left, args.right.as_deref(), format, context);
    }
    args.surface.check_unused()?;
    let Some(right) = args.right.as_deref() else { return Err(CommandError::usage("B is missing")) };
    let options = Options {
        exact: args.exact,
        order: args.order,
        keep_times: args.times,
        keep_ids: args.ids,
        ignore: args.ignore.clone(),
    };
    let paths = [left, right];
    let Compared { report, renamed, recordings: [left, right] } = compare_files(paths, &options, args, context)?;
    let found = args.view.select(report, renamed, &left, &right);
    args.view.print(&found, paths, &left, context)?;
    Ok(if found.differs() { Outcome::Findings } else { Outcome::Clean })
}

/// Two recordings and their differences.
struct Compared {
    report: Report,
    /// The tools that have another name on the right; their messages have the old names there.
    renamed: Vec<Likeness>,
    recordings: [Recording; 2],
}

fn compare_files(
    paths: [&Path; 2],
    options: &Options,
    args: &DiffArgs,
    context: &Context,
) -> Result<Compared, CommandError> {
    let sizes = paths.map(|path| std::fs::metadata(path).map_or(0, |about| about.len()));
    let progress = SharedProgress::new(context.printer.progress("comparing", sizes.iter().sum()));
    // A pipe can be read only once, so all of its content is kept.
    let collectors = || {
        paths.map(|path| {
            let collector = Collector::new(options).with_stderr(args.stderr);
            if path.is_file() { collector.without_texts() } else { collector }
        })
    };
    let old_names = OldNames::default();
    let mut passes = read_both(paths, collectors(), &old_names, &progress, |path| reels::open_whole(Some(path), note))?;
    for (path, pass) in paths.iter().zip(&passes) {
        pass.damage.iter().for_each(|damage| context.printer.note(&format!("{}: {damage}", path.display())));
    }
    check_messages(paths, passes.each_ref().map(|pass| pass.messages), args.stderr, context)?;
    // Tools with another name in B are compared under their names in A, for which B is read again.
    let is_readable_again = paths[1].is_file();
    let renamed = rename::renamed(&passes[0].surface, &passes[1].surface);
    let renamed = if is_readable_again { renamed } else { Vec::new() };
    let old_names = OldNames::of(&renamed);
    if !renamed.is_empty() {
        let [_, collector] = collectors();
        let (reader, path) = reels::open(Some(paths[1]))?;
        passes[1] = read(reader, &path, collector, &old_names, &progress)?;
    }
    let [mut left, mut right] = passes.map(|pass| pass.recording);
    // The texts of changed messages are read in a second pass, so that only the outlines of two recordings are in
    // memory.
    let mut passes = 0;
    let report = loop {
        progress.work();
        let missing = match compare(&left, &right, options) {
            Ok(report) => break report,
            Err(missing) if passes < MAX_PASSES => missing,
            Err(_) => {
                return Err(CommandError::new(ErrorKind::Input, "a recording changed while it was being compared")
                    .hint("compare the two again when they are complete"));
            }
        };
        passes += 1;
        progress.restart();
        let collectors = [missing.left, missing.right]
            .map(|wanted| Collector::new(options).with_stderr(args.stderr).only_texts_of(wanted));
        let [texts, others] = read_both(paths, collectors, &old_names, &progress, |path| reels::open(Some(path)))?;
        left.fill(texts.recording);
        right.fill(others.recording);
    };
    progress.finish();
    Ok(Compared { report, renamed, recordings: [left, right] })
}

/// Reports recordings without messages; if there are none at all, there is nothing to compare.
fn check_messages(
    paths: [&Path; 2],
    messages: [u64; 2],
    with_stderr: bool,
    context: &Context,
) -> Result<(), CommandError> {
    match messages {
        // Stderr can be compared without messages.
        [0, 0] if with_stderr => {}
        [0, 0] => return Err(reels::without_messages(paths[0])),
        [0, _] => context.printer.note(&format!("{}: no messages", paths[0].display())),
        [_, 0] => context.printer.note(&format!("{}: no messages", paths[1].display())),
        _ => {}
    }
    Ok(())
}

/// How often recordings are read again for texts: those of changed messages, and of units whose ids do not
/// correspond.
const MAX_PASSES: u32 = 3;

/// What one pass over a reel finds.
struct Pass {
    recording: Recording,
    messages: u64,
    damage: Vec<Damage>,
    /// The lists of the server.
    surface: Surface,
}

/// Reads both reels at the same time. Tools on the right get their old names.
fn read_both(
    paths: [&Path; 2],
    collectors: [Collector<'_>; 2],
    old_names: &OldNames,
    progress: &SharedProgress,
    open: impl Fn(&Path) -> Result<(ReelReader, PathBuf), CommandError>,
) -> Result<[Pass; 2], CommandError> {
    let [left, right] = paths.map(open);
    let ((left, left_path), (right, right_path)) = (left?, right?);
    let [on_left, on_right] = collectors;
    std::thread::scope(|scope| {
        let right = scope.spawn(|| read(right, &right_path, on_right, old_names, progress));
        let left = read(left, &left_path, on_left, &OldNames::default(), progress)?;
        let right = right.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok([left, right])
    })
}

fn read(
    reader: ReelReader,
    path: &Path,
    mut collector: Collector<'_>,
    old_names: &OldNames,
    progress: &SharedProgress,
) -> Result<Pass, CommandError> {
    let mut reader = reader.with_payloads();
    let (mut messages, mut damage, mut lists) = (0, Vec::new(), Extractor::default());
    let mut reached = reader.offset();
    while let Some(item) = reader.next().map_err(|error| CommandError::reading(path, &error))? {
        match item {
            Item::Damage(found) => damage.push(found),
            Item::Block(block) => {
                block.events().for_each(|event| {
                    messages += u64::from(event.header.kind == EventKind::Message);
                    lists.glance(&event);
                    match old_names.restored_event(&event) {
                        None => collector.take(&event),
                        Some(payload) => collector.take(&Event { payload: &payload, ..event }),
                    }
                });
                reader.recycle(block);
                progress.advance(reader.offset().saturating_sub(reached));
                reached = reader.offset();
            }
        }
    }
    Ok(Pass { recording: collector.finish(), messages, damage, surface: lists.finish() })
}
