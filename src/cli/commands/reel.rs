//! `reel`: lists, removes, inspects, verifies, repairs, indexes, compacts, cuts and merges reel files, and extracts bytes from them.

mod cat;
mod cut;
pub(super) mod list;
mod merge;
mod prune;

use crate::cli::printer::Format;
use crate::cli::progress::Progress;
use crate::cli::recordings::{self, append_gap};
use crate::cli::{Context, Outcome};
use crate::error::{CommandError, ErrorKind};
use crate::files::output::Output;
use crate::files::{output, reels};
use crate::formats::jsonl;
use crate::render::line;
use crate::trace::format::VERSION;
use crate::trace::rebuild::count;
use crate::trace::writer::footer_bytes;
use crate::trace::{Damage, EventKind, Index, Item, ReelReader, ReelWriter, WriterOptions};
use crate::wire::text::counted;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// List, inspect, repair and remove reel files.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  mcpreel reel list
  mcpreel reel prune --older-than 30d --dry-run
  mcpreel reel info session.reel
  mcpreel reel verify session.reel
  mcpreel reel repair session.reel -o whole.reel
  mcpreel reel compact session.reel               # in place
  mcpreel reel cat --stream s2c session.reel      # the server's bytes
  mcpreel reel cut session.reel -o add.reel tool:add
  mcpreel reel merge a.reel b.reel -o both.reel")]
#[command(defer = true)]
pub(crate) enum ReelCommand {
    List(list::ListArgs),
    /// Print a reel's metadata and counts.
    Info(InfoArgs),
    /// Read the whole reel, check its index, and report all damage. Exits with 1 if there is any.
    Verify(OneReel),
    /// Write an intact reel from what can be read; what is lost is noted as gaps.
    Repair(RewriteArgs),
    /// Add a missing index (after a killed recorder) or replace a wrong one, in place.
    Index(OneReel),
    /// Compress a reel as much as possible. It is left alone if it would not get smaller.
    Compact(RewriteArgs),
    Cat(cat::CatArgs),
    Cut(cut::CutArgs),
    Merge(merge::MergeArgs),
    Prune(prune::PruneArgs),
}

#[derive(Debug, Args)]
pub(crate) struct OneReel {
    /// The reel (default: the newest).
    reel: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// The reel; `-` for stdin (default: the newest).
    reel: Option<PathBuf>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct RewriteArgs {
    /// The reel; `-` for stdin.
    reel: PathBuf,
    /// Write to this file; `-` is stdout (default: replace the reel).
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite an existing file.
    #[arg(long)]
    force: bool,
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(command: &ReelCommand, context: &Context) -> Result<Outcome, CommandError> {
    match command {
        ReelCommand::List(args) => list::run(args, context),
        ReelCommand::Prune(args) => prune::run(args, context),
        ReelCommand::Info(args) => info(args, context),
        ReelCommand::Verify(args) => verify(args, context),
        ReelCommand::Repair(args) => rewrite(args, WriterOptions::default(), Rewrite::Mend, context),
        ReelCommand::Cut(args) => cut::run(args, context),
        ReelCommand::Merge(args) => merge::run(args, context),
        ReelCommand::Compact(args) => rewrite(args, WriterOptions::compact(), Rewrite::Pack, context),
        ReelCommand::Index(args) => index(args, context),
        ReelCommand::Cat(args) => cat::run(args, context),
    }
}

fn info(args: &InfoArgs, context: &Context) -> Result<Outcome, CommandError> {
    let (mut reader, path) = reels::open(&recordings::path_or_newest(args.reel.as_deref())?)?;
    let failed = |error| CommandError::reading(&path, &error);
    let (header, version) = (reader.header().clone(), reader.version());
    let found = reader.index().map_err(failed)?.map(Option::<&Index>::cloned);
    let size = std::fs::metadata(&path).map_or(0, |about| about.len());
    let state = match &found {
        Ok(Some(_)) => IndexState::Sound,
        Ok(None) => IndexState::Missing,
        Err(_) => IndexState::Wrong,
    };
    let (index, damages) = match found {
        Ok(Some(index)) => (index, Vec::new()),
        Ok(None) => count(&mut reader, |_| {}).map_err(failed)?,
        Err(wrong) => {
            let (index, mut damages) = count(&mut reader, |_| {}).map_err(failed)?;
            damages.retain(|damage| !damage.of_index);
            damages.push(wrong);
            (index, damages)
        }
    };
    let created = jsonl::rfc3339(header.created);
    if args.format == Format::Json {
        let reported = json!({
            "path": path.display().to_string(), "size": size, "version": version.to_string(), "created": created,
            "tool": header.tool, "label": header.label, "notes": header.notes,
            "indexed": state == IndexState::Sound,
            "groups": index.groups.len(), "events": index.events, "bytes": index.bytes,
            "seconds": index.times.map(|(first, last)| last.saturating_sub(first) as f64 / 1e9),
            "kinds": tallies(&index.kinds), "messages": tallies(&index.messages), "methods": tallies(&index.methods),
            "damages": damages.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        context.printer.json(&reported)?;
    } else {
        context.printer.text(&info_text(&path, size, &index, &header, &created, state))?;
        for damage in &damages {
            context.printer.note(&damage.to_string());
        }
    }
    Ok(if damages.is_empty() { Outcome::Clean } else { Outcome::Findings })
}

/// The state of a reel's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IndexState {
    Sound,
    Missing,
    Wrong,
}

fn tallies(map: &std::collections::BTreeMap<String, crate::trace::index::Tally>) -> Value {
    map.iter().map(|(name, tally)| (name.clone(), json!({"count": tally.0, "bytes": tally.1}))).collect()
}

fn info_text(
    path: &Path,
    size: u64,
    index: &Index,
    header: &crate::trace::FileHeader,
    created: &str,
    state: IndexState,
) -> String {
    let mut text = format!("{}\n", reels::shown(path));
    let mut row = |name: &str, value: String| {
        text.push_str(&format!("  {name:<10} {}\n", line::visible_text(&value)));
    };
    row("created", format!("{created} by {}", header.tool));
    if let Some(label) = &header.label {
        row("label", label.clone());
    }
    for (name, value) in &header.notes {
        row("note", format!("{name}={value}"));
    }
    let span = index.times.map_or(0, |(first, last)| last.saturating_sub(first));
    row(
        "content",
        format!("{}, {}, over {}", counted(index.events, "event"), line::bytes(index.bytes), line::duration(span)),
    );
    let share = if index.bytes > 0 {
        format!(", {:.1} % of the traffic", size as f64 * 100.0 / index.bytes as f64)
    } else {
        String::new()
    };
    row("size", format!("{} in {}{share}", line::bytes(size), counted(index.groups.len() as u64, "group")));
    match state {
        IndexState::Sound => {}
        IndexState::Missing => {
            row(
                "index",
                "none: the recorder was killed or is still running (`mcpreel reel index` adds an index)".into(),
            );
        }
        IndexState::Wrong => row("index", "wrong, and was ignored (`mcpreel reel index` replaces it)".into()),
    }
    for (name, tally) in &index.kinds {
        row("", format!("{name}: {}, {}", tally.0, line::bytes(tally.1)));
    }
    text
}

fn verify(args: &OneReel, context: &Context) -> Result<Outcome, CommandError> {
    let (reader, path) = reels::open(&recordings::path_or_newest(args.reel.as_deref())?)?;
    let mut reader = reader.leaving_long();
    let total = std::fs::metadata(&path).map_or(0, |about| about.len());
    let mut progress = context.printer.progress("verifying", total);
    let failed = |error| CommandError::reading(&path, &error);
    let (recounted, mut damages) = count(&mut reader, |offset| progress.reach(offset)).map_err(failed)?;
    progress.finish();
    let wrong = wrong_index(&mut reader, &recounted, &damages).map_err(failed)?;
    let indexed = reader.footer_offset().is_some();
    damages.extend(wrong);
    damages.iter().try_for_each(|damage| context.printer.line(&format!("{}: {damage}", reels::shown(&path))))?;
    let note = if indexed { "" } else { ", no index" };
    let (events, bytes) = (recounted.kinds.values().map(|kind| kind.0).sum::<u64>(), line::bytes(recounted.bytes));
    context.printer.line(&format!("{}: {}, {bytes} read{note}", reels::shown(&path), counted(events, "event")))?;
    if let Some(gaps) = recounted.kinds.get(&EventKind::Gap.name()) {
        let gaps = counted(gaps.0, "gap");
        context.printer.line(&format!("{}: {gaps} in the recording, where events are missing", reels::shown(&path)))?;
        context.printer.note("`mcpreel show event:gap` shows when, how many and why");
    }
    if damages.is_empty() {
        return Ok(Outcome::Clean);
    }
    context.printer.note(match damages.iter().all(|damage| damage.of_index) {
        true => "every event is readable; `mcpreel reel index` replaces the index",
        false => "`mcpreel reel repair` writes an intact reel from what can be read",
    });
    Ok(Outcome::Findings)
}

/// What is wrong with the index of a reel that was read to its end, in addition to what reading has found.
fn wrong_index(reader: &mut ReelReader, recounted: &Index, damages: &[Damage]) -> io::Result<Option<Damage>> {
    let Some(offset) = reader.footer_offset().filter(|_| damages.is_empty()) else { return Ok(None) };
    let is_known_version = reader.version() <= VERSION;
    Ok(match reader.index()? {
        Err(damage) => Some(damage),
        Ok(None) => None,
        Ok(Some(index)) => {
            let differences = index.differences(recounted, is_known_version);
            let reason = format!("it disagrees with the events about: {}", differences.join(", "));
            (!differences.is_empty()).then(|| Damage::of_index(offset, reason))
        }
    })
}

/// Why a reel is rewritten.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rewrite {
    /// To repair it: what cannot be read is noted as a gap.
    Mend,
    /// To compress it: a reel that would not get smaller is left alone.
    Pack,
}

/// Copies every event that can be read.
fn rewrite(
    args: &RewriteArgs,
    options: WriterOptions,
    how: Rewrite,
    context: &Context,
) -> Result<Outcome, CommandError> {
    let (reader, path) = reels::open(&args.reel)?;
    let mut reader = reader.in_pieces().with_payloads();
    let in_place = args.output.is_none() && path != Path::new("-");
    if in_place && reels::is_written_in_place(&path) {
        return Err(CommandError::usage(format!("{} is not a regular file and cannot be replaced", path.display()))
            .hint("write the reel to a file with -o"));
    }
    let target = args.output.clone().unwrap_or_else(|| path.clone());
    let out = Output::create(&target, args.force || in_place)?;
    let before = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file).map_or(0, |about| about.len());
    let header = reader.header().clone();
    let writing = |error: io::Error| CommandError::writing(&target, &error);
    let mut writer = ReelWriter::create(out, &header, options).map_err(writing)?;
    let paths = (path.as_path(), target.as_path());
    let mut progress = context.printer.progress("rewriting", before);
    let (lost, damaged) = copy_events(&mut reader, &mut writer, paths, how, (context, &mut progress))?;
    progress.finish();
    let events = writer.next_seq();
    let (out, _) = writer.finish().map_err(writing)?;
    if how == Rewrite::Pack && before > 0 && out.written() >= before && out.can_restart() {
        let reported = format!("{} cannot be made smaller: {}", path.display(), line::bytes(before));
        if in_place {
            context.printer.note(&format!("{reported}; left unchanged"));
            return Ok(Outcome::Clean);
        }
        copy_whole(out, paths)?;
        context.printer.note(&format!("{reported}; copied to {}", target.display()));
        return Ok(Outcome::Clean);
    }
    if damaged && in_place {
        // Future versions may be able to read what this one cannot.
        let kept = output::keep_aside(&path, ".damaged").map_err(|error| CommandError::writing(&path, &error))?;
        context.printer.note(&format!("the damaged reel is kept as {}", kept.display()));
    }
    out.finish()?;
    if target != Path::new("-") {
        let after = std::fs::metadata(&target).map_or(0, |about| about.len());
        let lost = if lost > 0 { format!(", {lost} lost") } else { String::new() };
        let (from, to) = (line::bytes(before), line::bytes(after));
        context.printer.note(&format!("{}{lost}; {from} → {to} in {}", counted(events, "event"), target.display()));
    }
    Ok(Outcome::Clean)
}

/// Copies every event that can be read from one reel to another. Returns how many are lost, and whether there is damage.
fn copy_events(
    reader: &mut ReelReader,
    writer: &mut ReelWriter<Output>,
    (path, target): (&Path, &Path),
    how: Rewrite,
    (context, progress): (&Context, &mut Progress),
) -> Result<(u64, bool), CommandError> {
    let writing = |error: io::Error| CommandError::writing(target, &error);
    let (mut lost, mut last_time, mut damaged) = (0u64, 0, false);
    while let Some(item) = reader.next().map_err(|error| CommandError::reading(path, &error))? {
        match item {
            // The index is rebuilt in any case.
            Item::Damage(damage) if damage.of_index => context.printer.note(&damage.to_string()),
            Item::Damage(damage) if how == Rewrite::Pack => {
                return Err(CommandError::new(ErrorKind::Input, format!("{}: {damage}", path.display()))
                    .hint("nothing was changed; `mcpreel reel repair` writes an intact reel from what can be read"));
            }
            Item::Damage(damage) => {
                (lost, damaged) = (lost.saturating_add(damage.events), true);
                context.printer.note(&damage.to_string());
                append_gap(writer, last_time, &damage).map_err(writing)?;
            }
            Item::Block(block) => {
                for event in block.events() {
                    last_time = event.header.time;
                    writer.append(event.again()).map_err(writing)?;
                }
                reader.recycle(block);
                progress.reach(reader.offset());
            }
        }
    }
    Ok((lost, damaged))
}

/// Copies a reel as it is.
fn copy_whole(mut out: Output, (path, target): (&Path, &Path)) -> Result<(), CommandError> {
    let writing = |error: io::Error| CommandError::writing(target, &error);
    out.restart().map_err(writing)?;
    let mut original = File::open(path).map_err(|error| CommandError::reading(path, &error))?;
    io::copy(&mut original, &mut out).map_err(writing)?;
    out.finish()
}

fn index(args: &OneReel, context: &Context) -> Result<Outcome, CommandError> {
    let (mut reader, path) = reels::open(&recordings::path_or_newest(args.reel.as_deref())?)?;
    let failed = |error| CommandError::reading(&path, &error);
    let (index, mut damages) = count(&mut reader, |_| {}).map_err(failed)?;
    damages.extend(wrong_index(&mut reader, &index, &damages).map_err(failed)?);
    let footer = reader.footer_offset();
    if footer.is_some() && damages.is_empty() {
        context.printer.note(&format!("{} already has a valid index", path.display()));
        return Ok(Outcome::Clean);
    }
    if !damages.iter().all(|damage| damage.of_index) {
        let reported = damages.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        return Err(CommandError::new(ErrorKind::Input, format!("{} is damaged: {reported}", path.display()))
            .hint("`mcpreel reel repair` writes an intact reel with an index"));
    }
    if reels::is_written_in_place(&path) {
        return Err(CommandError::usage(format!(
            "{} is not a regular file, so no index can be added to it",
            path.display()
        ))
        .hint("`mcpreel reel repair REEL -o FILE` writes a reel with an index"));
    }
    let writing = |error| CommandError::writing(&path, &error);
    let mut file = File::options().write(true).open(&path).map_err(writing)?;
    reels::lock(&file, &path)?;
    if let Some(footer) = footer {
        // The wrong index is overwritten.
        file.set_len(footer).map_err(writing)?;
    }
    let end = file.seek(SeekFrom::End(0)).map_err(writing)?;
    let footer = footer_bytes(&index, index.events, end).map_err(writing)?;
    file.write_all(&footer).map_err(writing)?;
    context.printer.note(&format!("indexed {} in {}", counted(index.events, "event"), path.display()));
    Ok(Outcome::Clean)
}
