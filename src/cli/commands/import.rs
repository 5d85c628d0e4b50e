//! `import`: converts other formats to a reel.

use crate::cli::error::{CommandError, ErrorKind};
use crate::cli::output::Output;
use crate::cli::{Context, Outcome, quantity};
use crate::formats::jsonl::{self, JsonlError};
use crate::formats::transcript::{self, Redaction};
use crate::redact;
use crate::render::line;
use crate::trace::{EventKind, FileHeader, NewEvent, ReelWriter, WriterOptions};
use crate::wire::json;
use clap::{Args, ValueEnum};
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
pub struct ImportArgs {
    /// The file to read; `-` for stdin.
    input: PathBuf,
    /// The input format.
    #[arg(long, value_enum, default_value_t = ImportFormat::Auto)]
    format: ImportFormat,
    /// Write the reel to this file; `-` is stdout.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Overwrite an existing file.
    #[arg(long)]
    force: bool,
}

/// The formats that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ImportFormat {
    /// Detect the format by the first line.
    Auto,
    /// The output of `export`: JSON lines, one event per line; lossless.
    Jsonl,
    /// JSON lines from other tools: each with a time, a direction (c2s, s2c, client_to_server, …) and a message.
    Transcript,
}

/// HTTP heads in transcripts are redacted as in recordings.
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

/// Whether the first members of a file look like a transcript's line: they include a direction, and not `reel`.
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
        let reported =
            format!("{}: no messages among {}; nothing was imported", args.input.display(), quantity(events, "event"));
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
    error.hint("jsonl: the output of `mcpreel export`, with {\"reel\":…} on the first line").hint(
        "transcript: one JSON object per line, with `dir` or `direction` (c2s, s2c, client_to_server, server_to_client, \
               stderr, …), and the message in `msg`, `message`, `raw`, `text` or `sse`",
    )
}

/// Copies every event. Returns the number of events, and how many of them are messages.
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
