//! `export`: a reel in other formats.

mod collector;
mod html;
mod parquet;

use crate::cli::packs::PackOptions;
use crate::cli::progress::Progress;
use crate::cli::recordings::Recorded;
use crate::cli::redaction::RedactOptions;
use crate::cli::secret_warning::SecretWarning;
use crate::cli::selecting::{parse_filter, split_words};
use crate::cli::telemetry::{self, Place, TelemetryOptions};
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::files::output::{Output, check_apart};
use crate::files::reels;
use crate::formats::{self, ExportFormat, ExportOptions, Exporter};
use crate::page;
use crate::session::endings::Endings;
use crate::session::selection::Selection;
use crate::trace::{Block, Damage, Item, ReelReader};
use crate::wire::mask::MaskedWriter;
use crate::wire::text::counted;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Convert a reel to another format.
///
/// `jsonl` is lossless: `mcpreel import` restores the same events, every payload byte for byte. Only the keys of webhook
/// secrets (whsec_…) are replaced by asterisks, in all formats. All other secrets are in the export, unless you add
/// --redact; a note says whether mcpreel recognised any. With a filter, only the events that it selects are written.
///
/// `parquet` takes several reels and folders of reels, too, and adds them to a dataset: a folder with files for each day and
/// server (docs/guide/fleet.md). A second export of a reel replaces its files.
#[derive(Debug, Args)]
#[command(mut_arg("otlp_headers", |header| header.short('H')))]
#[command(after_help = "\
Examples:
  mcpreel export session.reel | jq -c 'select(.message.method == \"ping\")'
  mcpreel export session.reel -o session.jsonl
  mcpreel export session.reel 'tool:echo or error' -o calls.csv
  mcpreel export --redact session.reel -o shared.jsonl
  mcpreel export --redact --format markdown session.reel -o shared.md
  mcpreel export --format commands session.reel > repeat.sh
  mcpreel export --format html session.reel -o session.html   # redacted
  mcpreel export --format parquet session.reel -o session.parquet
  mcpreel export --format parquet --host build-7 . -o dataset/
  mcpreel export --redact session.reel --to http://localhost:4318

With --to, mcpreel sends OpenTelemetry's spans and metrics to a collector over OTLP/HTTP. It appends /v1/traces and \
/v1/metrics to the URL, unless it ends in one of them. The environment variables that OpenTelemetry defines for \
exporters apply: OTEL_EXPORTER_OTLP_HEADERS, _PROTOCOL (http/protobuf or http/json), _TIMEOUT, _COMPRESSION, _CERTIFICATE, \
OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES.")]
pub(crate) struct ExportArgs {
    /// The reel (`-` for stdin; default: the newest), followed by a filter of what is exported, as in `mcpreel show`. For
    /// `--format parquet`, also several reels, or folders of reels.
    #[arg(value_name = "REEL|FILTER")]
    words: Vec<OsString>,
    /// The output format (default: the one that the ending of --output names, such as .html, .md or .csv, else jsonl; with
    /// --to, otlp-proto).
    #[arg(short, long, value_parser = formats())]
    format: Option<String>,
    /// Write to this file, or for `--format parquet` into this folder; `-` is stdout.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Overwrite an existing file.
    #[arg(long)]
    force: bool,
    /// Send OpenTelemetry's spans and metrics to this collector; `env` is the one of OTEL_EXPORTER_OTLP_ENDPOINT.
    #[arg(long, value_name = "URL", value_parser = telemetry::place, conflicts_with_all = ["output", "force"])]
    to: Option<Place>,
    #[command(flatten)]
    telemetry: TelemetryOptions,
    #[command(flatten)]
    packs: PackOptions,
    #[command(flatten)]
    redact: RedactOptions,
    /// Do not replace secrets in `--format html`, which is redacted otherwise.
    #[arg(long, conflicts_with = "redact")]
    no_redact: bool,
    /// The name of the machine where the reels were recorded, for the column `host` of `--format parquet` (default: each
    /// reel's note `host`).
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
}

/// The names of all formats, with their help.
fn formats() -> PossibleValuesParser {
    let all = formats::EXPORT
        .iter()
        .map(|format| (format.name, format.about))
        .chain([(page::NAME, page::ABOUT), (formats::parquet::NAME, formats::parquet::ABOUT)]);
    PossibleValuesParser::new(all.map(|(name, about)| PossibleValue::new(name).help(about)))
}

/// The endings of files that name a format, besides the names of formats.
const ENDINGS: [(&str, &str); 5] =
    [("htm", page::NAME), ("md", "markdown"), ("mmd", "mermaid"), ("ndjson", "jsonl"), ("sh", "commands")];

impl ExportArgs {
    /// The name of the format: the one that the user chose, or that of the output's ending.
    fn format_name(&self) -> Option<&str> {
        if self.format.is_some() || self.to.is_some() {
            return self.format.as_deref();
        }
        let ending = self.output.extension()?.to_str()?;
        let known = ENDINGS.iter().find(|(known, _)| *known == ending).map(|(_, name)| *name);
        let names = formats::EXPORT.iter().map(|format| format.name).chain([page::NAME, formats::parquet::NAME]);
        known.or_else(|| names.into_iter().find(|name| *name == ending))
    }

    /// Says what is in the new file, if the user did not name the recording, or if a copy without secrets was wanted.
    fn report_file(&self, events: u64, recording: &Path, (is_newest, is_redacted): (bool, bool), context: &Context) {
        if (is_newest || is_redacted) && self.output != Path::new("-") {
            let (events, reel) = (counted(events, "event"), reels::shown(recording));
            let advice = if is_redacted { "; secrets are replaced, but read it before you share it" } else { "" };
            context.printer.note(&format!("{events} of {reel} in {}{advice}", self.output.display()));
        }
    }

    fn format(&self) -> &'static ExportFormat {
        let named = self.format_name();
        formats::EXPORT.iter().find(|format| Some(format.name) == named).unwrap_or(&formats::EXPORT[0])
    }
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &ExportArgs, context: &Context) -> Result<Outcome, CommandError> {
    if args.format_name() == Some(formats::parquet::NAME) {
        if args.to.is_some() {
            return Err(CommandError::usage("--to sends OpenTelemetry's formats, not parquet"));
        }
        return parquet::run(args, context);
    }
    if args.host.is_some() {
        return Err(CommandError::usage("--host is only for --format parquet"));
    }
    let (path, terms) = split_words(&args.words)?;
    let selection = Selection::new(parse_filter(&terms, args.packs.registry()?, path.is_some())?);
    if args.format_name() == Some(page::NAME) && args.to.is_none() {
        return html::run(args, path, selection, context);
    }
    let (is_newest, is_filtered) = (path.is_none(), !terms.is_empty());
    // Settings that are not valid are reported before anything is read.
    let mut sending = args.to.as_ref().map(|place| collector::Sending::new(args, place)).transpose()?;
    let options = ExportOptions { telemetry: args.telemetry.settings(false, false) };
    let mut file = args.format().exporter(&options);
    let opened = match sending {
        None => open_for(&mut *file, path, &args.redact)?,
        Some(_) => args.redact.open_whole(path).map(|(reader, path)| Recorded { path, reader, format: None })?,
    };
    let Recorded { reader, path, .. } = opened;
    check_apart(&path, &args.output)?;
    // A message that came in several pieces is selected as a whole.
    let reader = if selection.is_everything() { reader.leaving_long() } else { reader.with_payloads() };
    let warning = SecretWarning::of_reel(&args.redact, reader.header())?;
    let mut out = MaskedWriter::new(Output::create(&args.output, args.force)?);
    let exporter = sending.as_mut().map_or(&mut *file, |sending| sending as &mut dyn Exporter);
    let mut export = Export { exporter, selection, warning, out: &mut out, read: 0, written: 0, is_damaged: false };
    let mut progress = context.printer.progress_through("exporting", &path);
    let mut reached = Reached { progress: &mut progress, before: 0 };
    let exported = export.all(reader, (&path, &args.output), &mut reached, context);
    progress.finish();
    let Export { warning, read, written, is_damaged, .. } = export;
    let is_accepted = match sending {
        Some(sending) => sending.finish(exported, context)?,
        None => exported.map(|()| true)?,
    };
    let hides = out.mask.has_hidden();
    out.to.finish()?;
    if hides {
        context.printer.note("webhook secrets (whsec_…) are hidden in the export; the reel has them");
    }
    if written == 0 && is_filtered {
        context.printer.note(&format!("no matches among {}", counted(read, "event")));
    }
    args.report_file(written, &path, (is_newest, args.redact.redact), context);
    warning.print_of_reel(&path);
    Ok(if is_damaged || !is_accepted { Outcome::Findings } else { Outcome::Clean })
}

/// An export that is being written.
struct Export<'a> {
    exporter: &'a mut dyn Exporter,
    selection: Selection,
    warning: SecretWarning,
    out: &'a mut dyn Write,
    /// The number of events that were read, and of those that were written.
    read: u64,
    written: u64,
    is_damaged: bool,
}

/// How far an export is.
struct Reached<'a> {
    progress: &'a mut Progress,
    /// The bytes of the reels before this one.
    before: u64,
}

impl Export<'_> {
    /// Writes what is selected of a reel.
    fn all(
        &mut self,
        mut reader: ReelReader,
        (path, to): (&Path, &Path),
        Reached { progress, before }: &mut Reached<'_>,
        context: &Context,
    ) -> Result<(), CommandError> {
        let writing = |error: io::Error| CommandError::writing(to, &error);
        self.exporter.begin(reader.header(), &mut self.out).map_err(writing)?;
        while let Some(item) = reader.next().map_err(|error| CommandError::reading(path, &error))? {
            let damage = match item {
                Item::Damage(damage) => Some(damage),
                Item::Block(block) => {
                    self.block(&block, reader.methods()).map_err(writing)?;
                    let passed = reader.leaves_out(&block).then(|| self.long(&mut reader, &block)).transpose();
                    reader.recycle(block);
                    progress.reach(*before + reader.offset());
                    passed.map_err(writing)?.and_then(Result::err)
                }
            };
            if let Some(damage) = damage {
                self.is_damaged = true;
                progress.aside(|| context.printer.note(&damage.to_string()));
            }
        }
        self.exporter.end(&mut self.out).map_err(writing)
    }

    /// Writes the events of a block that is loaded.
    fn block(&mut self, block: &Block, methods: &[Box<str>]) -> io::Result<()> {
        for event in block.events() {
            self.read += 1;
            if self.selection.selects(&event, methods) {
                self.written += 1;
                self.warning.take(&event);
                self.exporter.event(&event, &mut self.out)?;
            } else {
                self.exporter.pass_over(&event);
            }
        }
        Ok(())
    }

    /// Writes the events of a block that is too long to be loaded. The inner `Err` is damage.
    fn long(&mut self, reader: &mut ReelReader, block: &Block) -> io::Result<Result<(), Damage>> {
        self.written += block.headers.len() as u64;
        reader.pass_payload(block, |header, part, is_last| {
            self.warning.take_part(header, part);
            self.exporter.part(header, part, is_last, &mut self.out)
        })
    }
}

/// Opens a recording for an exporter, which learns what becomes of the requests without a response if it needs that. Without
/// a path, it is the newest one.
fn open_for(
    exporter: &mut dyn Exporter,
    path: Option<&Path>,
    redact: &RedactOptions,
) -> Result<Recorded, CommandError> {
    if !exporter.needs_endings() {
        let (reader, path) = redact.open_whole(path)?;
        return Ok(Recorded { path, reader, format: None });
    }
    let twice = redact.twice(path)?;
    let Recorded { reader, path, .. } = twice.open()?;
    exporter.know_endings(Endings::of(reader).map_err(|error| CommandError::reading(&path, &error))?);
    twice.open()
}
