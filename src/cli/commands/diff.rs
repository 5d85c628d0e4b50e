//! `diff`: compares two recordings by what was sent, or what two servers offer.

mod inputs;
mod surface;
mod view;

use crate::cli::comparing::{self, NormaliseArgs};
use crate::cli::printer::note;
use crate::cli::progress::SharedProgress;
use crate::cli::recordings::{self, Recorded};
use crate::cli::redaction::RedactOptions;
use crate::cli::{Context, Outcome};
use crate::diff::rename::{self, OldNames};
use crate::diff::surface::{Extractor, Likeness, Surface};
use crate::diff::{Collector, Learned, Options, Recording, Report, compare};
use crate::error::{CommandError, ErrorKind};
use crate::files::reels;
use crate::render::volatile;
use crate::trace::{Damage, Event, EventKind};
use clap::Args;
use inputs::Input;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use surface::SurfaceArgs;
use view::{DiffFormat, ViewArgs};

/// Compare two recordings by what was requested and answered, or what two servers offer.
///
/// A and B are reels, JSON lines (`mcpreel export`), or transcripts that `mcpreel import` reads. mcpreel matches their
/// messages by content and position. For a message that changed, it prints only the changes. Concurrent messages in a
/// different order are not a difference. Exits with 1 if A and B differ, and with 3 if neither contains a message.
///
/// Values that the run made (times, durations, ids, tokens, ports, process ids, temporary paths) may differ if they
/// correspond everywhere; the report counts them. Arguments that the client chose, schemas and other configuration are
/// compared as they are. Settings in `.mcpreel.toml` apply, too.
#[derive(Debug, Args)]
#[command(
    override_usage = "mcpreel diff [OPTIONS] <A> <B>\n       mcpreel diff --surface [OPTIONS] <A> [B] [-- <CMD>...]"
)]
#[command(mut_arg("era", |era| era.help("The era to use; auto tries `server/discover`, then `initialize`")))]
#[command(after_help = "\
Examples:
  mcpreel diff before.reel after.reel   # A and B
  mcpreel diff a.reel b.reel --ignore '/result/tools/*/description'
  mcpreel diff a.reel b.reel --volatile   # list what was not compared
  mcpreel diff a.reel b.reel --learn a2.reel   # a2: a second run of A's version
  mcpreel diff a.reel b.reel --exact --order --ids   # strictly
  mcpreel diff a.reel b.reel --view summary   # counts by method and tool
  mcpreel diff a.reel b.reel --only tools --view side-by-side
  mcpreel diff a.reel b.reel --only latency   # response times
  mcpreel diff a.reel b.reel --format json | jq '.units[].patch'
  mcpreel diff a.reel b.reel --format markdown   # for a pull request
  mcpreel diff a.reel b.reel --format html > diff.html   # redacted

Compare what servers offer, and fail if a change breaks clients:
  mcpreel diff --surface a.reel b.reel
  mcpreel diff --surface --update server.lock.json -- my-server   # write it
  mcpreel diff --surface server.lock.json -- my-server   # check
  mcpreel diff --rules   # what counts as breaking

In a heading, - means only in A, and + only in B. Below it, - is the value in A, and + the one in B, after the JSON \
Pointer of the place, which --ignore takes. \
The seq after a heading is the event's number in A and in B; show the event with `mcpreel show A --seq N`.")]
pub(crate) struct DiffArgs {
    /// The first recording, A; `-` is stdin. With --surface also a lock file.
    #[arg(value_name = "A", required_unless_present = "rules")]
    left: Option<PathBuf>,
    /// The second recording, B; with --surface also a lock file, or none for a live server.
    #[arg(value_name = "B", required_unless_present_any = ["rules", "surface"])]
    right: Option<PathBuf>,
    #[command(flatten)]
    normalise: NormaliseArgs,
    /// Also compare the order of requests and notifications, whether a notification came before or after the result of
    /// its request, and the order of lists such as tools.
    #[arg(long)]
    order: bool,
    /// Also compare what the servers wrote to stderr.
    #[arg(long)]
    stderr: bool,
    #[command(flatten)]
    view: ViewArgs,
    #[command(flatten)]
    surface: SurfaceArgs,
    #[command(flatten)]
    redact: RedactOptions,
    /// Do not replace secrets in `--format html`, which is redacted otherwise.
    #[arg(long, conflicts_with = "redact")]
    no_redact: bool,
}

impl DiffArgs {
    /// What is redacted: a page is made to be shared.
    fn redaction(&self) -> RedactOptions {
        let is_page = self.view.format == DiffFormat::Html && !self.no_redact;
        RedactOptions { redact: self.redact.redact || is_page, ..self.redact.clone() }
    }
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &DiffArgs, context: &Context) -> Result<Outcome, CommandError> {
    let format = args.view.format;
    if format == DiffFormat::Html && (args.surface.rules || args.surface.surface) {
        return Err(CommandError::usage("only a comparison of messages has a page").hint("use --format markdown"));
    }
    if args.surface.rules {
        return surface::list_rules(format, context);
    }
    let Some(left) = args.left.as_deref() else {
        let error = CommandError::usage("A is missing: the earlier recording, or a lock file");
        return Err(
            error.hint("to write what a server offers to a lock file: mcpreel diff --surface NEW.lock --update -- CMD")
        );
    };
    if args.surface.surface {
        return surface::run(&args.surface, left, args.right.as_deref(), format, &args.redact, context);
    }
    if format == DiffFormat::Junit {
        return Err(CommandError::usage("--format junit needs --surface")
            .hint("`mcpreel replay --junit FILE` compares a server's answers with a recording"));
    }
    args.surface.check_unused()?;
    let Some(right) = args.right.as_deref() else { return Err(CommandError::usage("B is missing")) };
    let options = comparing::options(&args.normalise, args.order)?;
    let paths = [left, right];
    if paths == [Path::new("-"); 2] {
        return Err(CommandError::usage("only one recording can come from stdin, but A and B are both `-`"));
    }
    let named: Vec<&Path> = paths.into_iter().chain(args.normalise.learn.as_deref()).collect();
    let redact = args.redaction();
    let (inputs, not_compared) = inputs::prepare(&named, &redact)?;
    let [in_a, in_b, again @ ..] = &inputs[..] else { return Err(CommandError::usage("B is missing")) };
    let Compared { mut report, renamed, recordings: [in_left, in_right], mut is_damaged } =
        compare_files([in_a, in_b], &options, args, context)?;
    for again in again {
        let noise = compare_files([in_a, again], &options, args, context)?;
        is_damaged |= noise.is_damaged;
        report.leave_out(&Learned::of(&noise.report));
    }
    let unused = volatile::unused(&report);
    let found = args.view.select(report, renamed, &in_left, &in_right).without(not_compared);
    args.view.print(&found, paths, &in_left, &redact, context)?;
    comparing::report_unused(unused, context);
    Ok(if found.differs() || is_damaged { Outcome::Findings } else { Outcome::Clean })
}

/// Two recordings and their differences.
struct Compared {
    report: Report,
    /// The tools that have another name on the right; their messages have the old names there.
    renamed: Vec<Likeness>,
    recordings: [Recording; 2],
    /// Damage was reported in one of them.
    is_damaged: bool,
}

/// How often recordings are read again for texts: those of changed messages, and of units whose ids do not
/// correspond.
const MAX_PASSES: u32 = 3;

fn compare_files(
    inputs: [&Input; 2],
    options: &Options,
    args: &DiffArgs,
    context: &Context,
) -> Result<Compared, CommandError> {
    let (paths, shown) = (inputs.map(Input::path), inputs.map(|input| input.shown.as_path()));
    let sizes = paths.map(|path| std::fs::metadata(path).map_or(0, |about| about.len()));
    let progress = SharedProgress::new(context.printer.progress("comparing", sizes.iter().sum()));
    let collector = || Collector::new(options).with_stderr(args.stderr).without_texts();
    let mut passes = read_both(paths, [collector(), collector()], &progress)?;
    for (path, pass) in shown.iter().zip(&passes) {
        pass.damage.iter().for_each(|damage| context.printer.note(&format!("{}: {damage}", path.display())));
    }
    let is_damaged = passes.iter().any(|pass| !pass.damage.is_empty());
    check_messages(shown, passes.each_ref().map(|pass| pass.messages), args.stderr, context)?;
    // Tools with another name in B are compared under their names in A, for which B is read again.
    let renamed = match options.exact {
        true => Vec::new(),
        false => rename::renamed(&passes[0].surface, &passes[1].surface),
    };
    let old_names = [OldNames::default(), OldNames::of(&renamed)];
    if !renamed.is_empty() {
        passes[1] = read(recordings::open(paths[1], None)?, collector(), &old_names[1], &progress)?;
    }
    let mut both = passes.map(|pass| pass.recording);
    // The texts of changed messages are read in a second pass, so that only the outlines of two recordings are in
    // memory.
    for _ in 0..=MAX_PASSES {
        progress.work();
        let missing = match compare(&both[0], &both[1], options) {
            Ok(report) => {
                progress.finish();
                return Ok(Compared { report, renamed, recordings: both, is_damaged });
            }
            Err(missing) => [missing.left, missing.right],
        };
        progress.restart();
        let again = |at: usize, wanted: &HashSet<u64>, recording: &mut Recording| -> Result<(), CommandError> {
            if !wanted.is_empty() {
                let collector = Collector::new(options).with_stderr(args.stderr);
                let collector = collector.only_texts_of(recording.wanted(wanted));
                let recorded = recordings::open(paths[at], None)?;
                recording.fill(read_again(recorded, collector, &old_names[at], &progress)?);
            }
            Ok(())
        };
        let [left, right] = &mut both;
        std::thread::scope(|scope| {
            let on_right = scope.spawn(|| again(1, &missing[1], right));
            again(0, &missing[0], left)?;
            on_right.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })?;
    }
    Err(CommandError::new(ErrorKind::Input, "a recording changed while it was being compared")
        .hint("compare the two again when they are complete"))
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

/// What one pass over a recording finds.
struct Pass {
    recording: Recording,
    messages: u64,
    damage: Vec<Damage>,
    /// The lists of the server.
    surface: Surface,
}

/// Reads both recordings at the same time.
fn read_both(
    paths: [&Path; 2],
    collectors: [Collector<'_>; 2],
    progress: &SharedProgress,
) -> Result<[Pass; 2], CommandError> {
    let [left, right] = paths.map(|path| recordings::open(path, Some(note)));
    let (left, right) = (left?, right?);
    let [on_left, on_right] = collectors;
    let as_named = OldNames::default();
    std::thread::scope(|scope| {
        let right = scope.spawn(|| read(right, on_right, &as_named, progress));
        let left = read(left, on_left, &as_named, progress)?;
        let right = right.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok([left, right])
    })
}

/// Reads a recording again for the texts that a collector wants.
fn read_again(
    recorded: Recorded,
    mut collector: Collector<'_>,
    old_names: &OldNames,
    progress: &SharedProgress,
) -> Result<Recording, CommandError> {
    recorded.each_event(|bytes| progress.advance(bytes), |event| collect(&mut collector, old_names, event))?;
    Ok(collector.finish())
}

/// Passes an event on, with the old names of tools.
fn collect(collector: &mut Collector<'_>, old_names: &OldNames, event: &Event<'_>) {
    if !collector.reads(event.header.seq) && event.header.kind == EventKind::Message {
        return;
    }
    match old_names.restored_event(event) {
        None => collector.take(event),
        Some(payload) => collector.take(&Event { payload: &payload, ..*event }),
    }
}

/// Reads a recording, in which tools get their old names.
fn read(
    recorded: Recorded,
    mut collector: Collector<'_>,
    old_names: &OldNames,
    progress: &SharedProgress,
) -> Result<Pass, CommandError> {
    let (mut messages, mut lists) = (0, Extractor::default());
    let damage = recorded.each_event(
        |bytes| progress.advance(bytes),
        |event| {
            messages += u64::from(event.header.kind == EventKind::Message);
            lists.glance(event);
            collect(&mut collector, old_names, event);
        },
    )?;
    Ok(Pass { recording: collector.finish(), messages, damage, surface: lists.finish() })
}
