//! `import`: other formats into a reel.

use crate::cli::{Context, Outcome};
use crate::error::{CommandError, ErrorKind};
use crate::formats::jsonl::{self, JsonlError};
use crate::formats::transcript::{self, Redaction};
use crate::record::output::Output;
use crate::redact;
use crate::render::line;
use crate::trace::{EventKind, FileHeader, NewEvent, ReelWriter, WriterOptions};
use crate::wire::json;
use clap::{Args, ValueEnum};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Make a reel of another format.
///
/// A file without a message is an error (exit code 3).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel import session.jsonl -o session.reel
  mcpreel import other-tools-log.ndjson -o session.reel
  grep -v '\"event\":\"stderr\"' session.jsonl | mcpreel import - -o quiet.reel")]
pub struct ImportArgs {
    /// What to read; `-` for standard input.
    input: PathBuf,
    /// The format.
    #[arg(long, value_enum, default_value_t = ImportFormat::Auto)]
    format: ImportFormat,
    /// Write the reel here; `-` is standard output.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Overwrite the file.
    #[arg(long)]
    force: bool,
}

/// What can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ImportFormat {
    /// What the first line shows.
    Auto,
    /// What `export` writes: JSON lines, one event a line; loses nothing.
    Jsonl,
    /// JSON lines of other tools: each with a time, a direction (c2s, s2c, client_to_server, …) and a message.
    Transcript,
}

/// What is kept of a transcript's heads is what a recording keeps.
const REDACTION: Redaction = Redaction { header: redact::redact_header, target: redact::redact_target };

/// A source of events.
enum Reader {
    Jsonl(jsonl::Reader<Box<dyn BufRead>>),
    Transcript(Box<transcript::Reader<Box<dyn BufRead>>>),
}

impl Reader {
    fn new(format: ImportFormat, mut input: Box<dyn BufRead>) -> Result<Self, JsonlError> {
        let is_transcript = match format {
            ImportFormat::Auto => is_transcript(input.fill_buf()?),
            format => format == ImportFormat::Transcript,
        };
        match is_transcript {
            true => {
                transcript::Reader::new(input).map(|reader| Self::Transcript(Box::new(reader.redacting(REDACTION))))
            }
            false => jsonl::Reader::new(input).map(Self::Jsonl),
        }
    }

    fn header(&self) -> &FileHeader {
        match self {
            Self::Jsonl(reader) => reader.header(),
            Self::Transcript(reader) => reader.header(),
        }
    }

    fn next_event(&mut self) -> Result<Option<NewEvent<'_>>, JsonlError> {
        match self {
            Self::Jsonl(reader) => reader.next_event(),
            Self::Transcript(reader) => reader.next_event(),
        }
    }
}

/// Whether the first members of a file are those of a transcript's line: a direction, and no reel.
fn is_transcript(start: &[u8]) -> bool {
    json::members(start)
        .take_while(|member| !member.is("reel"))
        .any(|member| member.is("dir") || member.is("direction"))
}

pub fn run(args: &ImportArgs, context: &Context) -> Result<Outcome, CommandError> {
    let (input, total): (Box<dyn BufRead>, u64) = if args.input == Path::new("-") {
        (Box::new(BufReader::new(io::stdin())), 0)
    } else {
        let file = File::open(&args.input).map_err(|error| CommandError::reading(&args.input, &error))?;
        let total = file.metadata().map_or(0, |about| about.len());
        (Box::new(BufReader::with_capacity(1 << 20, file)), total)
    };
    let bad = |error: JsonlError| CommandError::new(ErrorKind::Input, format!("{}: {error}", args.input.display()));
    let mut reader = Reader::new(args.format, input).map_err(|error| with_forms(bad(error)))?;
    let mut out = Output::create(&args.output, args.force)?;
    let (events, messages) = convert(&mut reader, &mut out, args, context, total)?;
    if messages == 0 {
        let reported = format!(
            "{}: there is no message in it ({events} other events); nothing was imported",
            args.input.display()
        );
        return Err(with_forms(CommandError::new(ErrorKind::Input, reported)));
    }
    out.finish()?;
    if args.output != Path::new("-") {
        let bytes = std::fs::metadata(&args.output).map_or(0, |about| about.len());
        context.printer.note(&format!("{events} events, {} in {}", line::bytes(bytes), args.output.display()));
    }
    Ok(Outcome::Clean)
}

/// Says what can be imported.
fn with_forms(error: CommandError) -> CommandError {
    error.hint("JSON lines: what `mcpreel export` writes, with {\"reel\":…} on the first line").hint(
        "a transcript: a JSON object a line, with `dir` or `direction` (c2s, s2c, client_to_server, server_to_client, \
               stderr, …), and `msg`, `message`, `raw`, `text` or `sse` for what crossed",
    )
}

/// Copies every event. Answers how many there were, and how many of them messages.
fn convert(
    reader: &mut Reader,
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
