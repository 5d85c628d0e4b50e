//! `import`: converts other formats to a reel.

use crate::cli::{Context, Outcome, recordings};
use crate::error::{CommandError, ErrorKind};
use crate::files::output::Output;
use crate::formats::import::{self, ImportError, Importer, lines};
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
/// A file without any message is an error (exit code 3). What cannot be read of a file is reported with its line and
/// becomes a gap in the reel; the rest is imported, and the exit code is 1. What the format cannot express is reported,
/// too. All commands that open a recording read these formats as they are.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel import session.jsonl -o session.reel
  mcpreel import other-tools-log.ndjson -o session.reel
  mcpreel import browser.har -o session.reel
  mcpreel import --client sent.txt --server received.txt -o session.reel
  grep -v '\"event\":\"stderr\"' session.jsonl | mcpreel import - -o quiet.reel")]
pub(crate) struct ImportArgs {
    /// The file to read; `-` for stdin.
    #[arg(required_unless_present_any = ["client", "server"])]
    input: Option<PathBuf>,
    /// The input format.
    #[arg(short, long, value_parser = formats(), default_value = AUTO)]
    format: String,
    /// A file with the lines that the client sent, instead of INPUT.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["input", "format"])]
    client: Option<PathBuf>,
    /// A file with the lines that the server sent, instead of INPUT.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["input", "format"])]
    server: Option<PathBuf>,
    /// Write the reel to this file; `-` is stdout.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Overwrite an existing file.
    #[arg(long)]
    force: bool,
}

/// The name for detecting the format by the beginning of the file.
const AUTO: &str = "auto";

/// The number of unreadable parts that are reported one by one.
const REPORTED: u64 = 10;

/// The names of all formats, with their help.
fn formats() -> PossibleValuesParser {
    let auto = PossibleValue::new(AUTO).help("Detect the format by the beginning of the file");
    let all = import::IMPORT.iter().map(|format| PossibleValue::new(format.name).help(format.about));
    PossibleValuesParser::new([auto].into_iter().chain(all))
}

type Input = Box<dyn BufRead + Send>;

/// A file that is being read.
struct Source {
    /// What errors and notes begin with.
    shown: String,
    importer: Box<dyn Importer>,
    /// What the format lacks.
    lacks: &'static str,
    /// The number of bytes; 0 if it is unknown.
    total: u64,
}

impl Source {
    fn open(args: &ImportArgs) -> Result<Self, CommandError> {
        match &args.input {
            Some(path) => Self::of_format(path, &args.format),
            None => Self::of_sides(args.client.as_deref(), args.server.as_deref()),
        }
    }

    fn of_format(path: &Path, format: &str) -> Result<Self, CommandError> {
        let (mut input, total) = open(path)?;
        let beginning = input.fill_buf().map_err(|error| CommandError::reading(path, &error))?;
        let format = match import::named(format) {
            Some(format) => format,
            None => import::detected(beginning).ok_or_else(|| unreadable_file(path))?,
        };
        let shown = path.display().to_string();
        let importer = (format.open)(input).map_err(|error| recordings::with_formats(bad(&shown, &error)))?;
        Ok(Self { shown, importer, lacks: format.lacks, total })
    }

    fn of_sides(client: Option<&Path>, server: Option<&Path>) -> Result<Self, CommandError> {
        let (mut shown, mut inputs, mut total) = (Vec::new(), [None, None], 0);
        for (input, path) in inputs.iter_mut().zip([client, server]) {
            let Some(path) = path else { continue };
            let (opened, length) = open(path)?;
            (*input, total) = (Some(opened), total + length);
            shown.push(path.display().to_string());
        }
        let shown = shown.join(" and ");
        let [client, server] = inputs;
        let importer = lines::open(client, server).map_err(|error| bad(&shown, &error))?;
        Ok(Self { shown, importer, lacks: lines::LACKS, total })
    }
}

/// Opens a file or stdin. Returns its length, too; 0 if it is unknown.
fn open(path: &Path) -> Result<(Input, u64), CommandError> {
    if path == Path::new("-") {
        return Ok((Box::new(BufReader::with_capacity(1 << 20, io::stdin())), 0));
    }
    let file = File::open(path).map_err(|error| CommandError::reading(path, &error))?;
    let total = file.metadata().map_or(0, |about| about.len());
    Ok((Box::new(BufReader::with_capacity(1 << 20, file)), total))
}

/// The error about a file of no format that can be imported.
fn unreadable_file(path: &Path) -> CommandError {
    if recordings::is_reel_file(path) {
        let error = CommandError::new(ErrorKind::Input, format!("{} is a reel already", path.display()));
        return error.hint("`mcpreel export` converts a reel to another format");
    }
    recordings::with_formats(recordings::unknown(path))
}

fn bad(shown: &str, error: &ImportError) -> CommandError {
    CommandError::new(ErrorKind::Input, format!("{shown}: {error}"))
}

/// What was imported.
#[derive(Default)]
struct Imported {
    events: u64,
    messages: u64,
    /// How many parts of the file cannot be read.
    unreadable: u64,
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &ImportArgs, context: &Context) -> Result<Outcome, CommandError> {
    let mut source = Source::open(args)?;
    let mut out = Output::create(&args.output, args.force)?;
    let imported = convert(&mut source, &mut out, args, context)?;
    let shown = &source.shown;
    if imported.messages == 0 {
        let events = counted(imported.events, "event");
        let reported = format!("{shown}: no messages among {events}; nothing was imported");
        return Err(recordings::with_formats(CommandError::new(ErrorKind::Input, reported)));
    }
    out.finish()?;
    if args.output != Path::new("-") {
        let bytes = std::fs::metadata(&args.output).map_or(0, |about| about.len());
        let (events, path) = (counted(imported.events, "event"), args.output.display());
        context.printer.note(&format!("{events}, {} in {path}", line::bytes(bytes)));
    }
    if !source.lacks.is_empty() {
        context.printer.note(&format!("this format cannot express: {}", source.lacks));
    }
    if imported.unreadable > REPORTED {
        context.printer.note(&format!("{shown}: {} parts cannot be read", imported.unreadable));
    }
    Ok(if imported.unreadable > 0 { Outcome::Findings } else { Outcome::Clean })
}

/// Copies every event.
fn convert(
    source: &mut Source,
    out: &mut Output,
    args: &ImportArgs,
    context: &Context,
) -> Result<Imported, CommandError> {
    let writing = |error: io::Error| CommandError::writing(&args.output, &error);
    let header = source.importer.header().clone();
    let mut writer = ReelWriter::create(out, &header, WriterOptions::default()).map_err(writing)?;
    let mut progress = context.printer.progress("importing", source.total);
    let (mut taken, mut imported) = (0, Imported::default());
    while let Some(event) = source.importer.next_event().map_err(|error| bad(&source.shown, &error))? {
        taken += event.payload.len() as u64;
        imported.messages += u64::from(event.kind == EventKind::Message);
        if let Some((line, reason)) = recordings::unreadable(event.kind, event.payload) {
            imported.unreadable += 1;
            if imported.unreadable <= REPORTED {
                context.printer.note(&format!("{}: line {line}: {reason}", source.shown));
            }
        }
        writer.append(event).map_err(writing)?;
        progress.reach(taken);
    }
    progress.finish();
    imported.events = writer.next_seq();
    writer.finish().map_err(writing)?;
    Ok(imported)
}
