//! `import`: converts other formats to a reel.

use crate::cli::{Context, Outcome};
use crate::error::{CommandError, ErrorKind};
use crate::files::output::Output;
use crate::formats::jsonl::JsonlError;
use crate::formats::{self, Importer};
use crate::render::line;
use crate::trace::{EventKind, ReelWriter, WriterOptions};
use crate::wire::text::counted;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Convert another format to a reel.
///
/// A file without any message is an error (exit code 3).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel import session.jsonl -o session.reel
  mcpreel import other-tools-log.ndjson -o session.reel
  grep -v '\"event\":\"stderr\"' session.jsonl | mcpreel import - -o quiet.reel")]
pub(crate) struct ImportArgs {
    /// The file to read; `-` for stdin.
    input: PathBuf,
    /// The input format.
    #[arg(short, long, value_parser = formats(), default_value = AUTO)]
    format: String,
    /// Write the reel to this file; `-` is stdout.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Overwrite an existing file.
    #[arg(long)]
    force: bool,
}

/// The name for detecting the format by the beginning of the file.
const AUTO: &str = "auto";

/// The names of all formats, with their help.
fn formats() -> PossibleValuesParser {
    let auto = PossibleValue::new(AUTO).help("Detect the format by the beginning of the file");
    let all = formats::IMPORT.iter().map(|format| PossibleValue::new(format.name).help(format.about));
    PossibleValuesParser::new([auto].into_iter().chain(all))
}

/// Opens a file for reading in this format.
fn open(format: &str, input: Box<dyn BufRead + Send>) -> Result<Box<dyn Importer>, JsonlError> {
    match formats::IMPORT.iter().find(|known| known.name == format) {
        Some(known) => (known.open)(input),
        None => formats::open_any(input),
    }
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &ImportArgs, context: &Context) -> Result<Outcome, CommandError> {
    let (input, total): (Box<dyn BufRead + Send>, u64) = if args.input == Path::new("-") {
        (Box::new(BufReader::new(io::stdin())), 0)
    } else {
        let file = File::open(&args.input).map_err(|error| CommandError::reading(&args.input, &error))?;
        let total = file.metadata().map_or(0, |about| about.len());
        (Box::new(BufReader::with_capacity(1 << 20, file)), total)
    };
    let bad = |error: JsonlError| CommandError::new(ErrorKind::Input, format!("{}: {error}", args.input.display()));
    let mut reader = open(&args.format, input).map_err(|error| with_forms(bad(error)))?;
    let mut out = Output::create(&args.output, args.force)?;
    let (events, messages) = convert(&mut *reader, &mut out, args, context, total)?;
    if messages == 0 {
        let reported =
            format!("{}: no messages among {}; nothing was imported", args.input.display(), counted(events, "event"));
        return Err(with_forms(CommandError::new(ErrorKind::Input, reported)));
    }
    out.finish()?;
    if args.output != Path::new("-") {
        let bytes = std::fs::metadata(&args.output).map_or(0, |about| about.len());
        context.printer.note(&format!("{events} events, {} in {}", line::bytes(bytes), args.output.display()));
    }
    Ok(Outcome::Clean)
}

/// Adds hints about what can be imported.
fn with_forms(error: CommandError) -> CommandError {
    formats::IMPORT.iter().rev().fold(error, |error, format| error.hint(format.hint))
}

/// Copies every event. Returns the number of events, and how many of them are messages.
fn convert(
    reader: &mut dyn Importer,
    out: &mut Output,
    args: &ImportArgs,
    context: &Context,
    total: u64,
) -> Result<(u64, u64), CommandError> {
    let writing = |error: io::Error| CommandError::writing(&args.output, &error);
    let header = reader.header().clone();
    let mut writer = ReelWriter::create(out, &header, WriterOptions::default()).map_err(writing)?;
    let mut progress = context.printer.progress("importing", total);
    let (mut taken, mut messages) = (0, 0);
    loop {
        let event = reader
            .next_event()
            .map_err(|error| CommandError::new(ErrorKind::Input, format!("{}: {error}", args.input.display())))?;
        let Some(event) = event else { break };
        taken += event.payload.len() as u64;
        messages += u64::from(event.kind == EventKind::Message);
        writer.append(event).map_err(writing)?;
        progress.reach(taken);
    }
    progress.finish();
    let events = writer.next_seq();
    writer.finish().map_err(writing)?;
    Ok((events, messages))
}
