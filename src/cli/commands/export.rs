//! `export`: a reel in other formats.

use crate::cli::redaction::RedactOptions;
use crate::cli::secret_warning::SecretWarning;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::files::output::Output;
use crate::formats::{self, ExportFormat};
use crate::trace::Item;
use crate::wire::mask::MaskedWriter;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use std::path::PathBuf;

/// Convert a reel to another format.
///
/// `jsonl` is lossless: `mcpreel import` restores the same events, every payload byte for byte. Only the keys of webhook
/// secrets (whsec_…) are replaced by asterisks, in all formats. All other secrets are in the export, unless you add
/// --redact; a note says whether mcpreel recognised any.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel export session.reel | jq -c 'select(.message.method == \"ping\")'
  mcpreel export --format jsonl session.reel -o session.jsonl
  mcpreel export --redact session.reel -o shared.jsonl
  mcpreel export --redact --format markdown session.reel -o shared.md
  mcpreel export --format commands session.reel > repeat.sh")]
pub(crate) struct ExportArgs {
    /// The reel; `-` for stdin (default: the newest).
    reel: Option<PathBuf>,
    /// The output format.
    #[arg(long, value_parser = formats(), default_value = formats::EXPORT[0].name)]
    format: String,
    /// Write to this file; `-` is stdout.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Overwrite an existing file.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    redact: RedactOptions,
}

/// The names of all formats, with their help.
fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new(formats::EXPORT.iter().map(|format| PossibleValue::new(format.name).help(format.about)))
}

impl ExportArgs {
    fn format(&self) -> &'static ExportFormat {
        formats::EXPORT.iter().find(|format| format.name == self.format).unwrap_or(&formats::EXPORT[0])
    }
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &ExportArgs, context: &Context) -> Result<Outcome, CommandError> {
    let (reader, path) = args.redact.open_whole(args.reel.as_deref())?;
    let mut reader = reader.leaving_long();
    if let (Ok(from), Ok(to)) = (path.canonicalize(), args.output.canonicalize())
        && from == to
    {
        return Err(CommandError::usage(format!("{} is the reel itself", args.output.display()))
            .hint("write the export to another file"));
    }
    let mut out = MaskedWriter::new(Output::create(&args.output, args.force)?);
    let writing = |error: std::io::Error| CommandError::writing(&args.output, &error);
    let mut exporter = (args.format().exporter)();
    let mut warning = SecretWarning::of_reel(&args.redact, reader.header())?;
    exporter.begin(reader.header(), &mut out).map_err(writing)?;
    let total = std::fs::metadata(&path).map_or(0, |about| about.len());
    let mut progress = context.printer.progress("exporting", total);
    let mut damaged = false;
    while let Some(item) = reader.next().map_err(|error| CommandError::reading(&path, &error))? {
        match item {
            Item::Damage(damage) => {
                damaged = true;
                context.printer.note(&damage.to_string());
            }
            Item::Block(block) => {
                for event in block.events() {
                    warning.take(&event);
                    exporter.event(&event, &mut out).map_err(writing)?;
                }
                if !block.is_loaded() {
                    let passed = reader.pass_payload(&block, |header, part, is_last| {
                        warning.take_part(header, part);
                        exporter.part(header, part, is_last, &mut out)
                    });
                    if let Err(damage) = passed.map_err(writing)? {
                        damaged = true;
                        context.printer.note(&damage.to_string());
                    }
                }
                reader.recycle(block);
                progress.reach(reader.offset());
            }
        }
    }
    exporter.end(&mut out).map_err(writing)?;
    progress.finish();
    let hides = out.mask.has_hidden();
    out.to.finish()?;
    if hides {
        context.printer.note("webhook secrets (whsec_…) are hidden in the export; the reel has them");
    }
    warning.print_of_reel(&path);
    Ok(if damaged { Outcome::Findings } else { Outcome::Clean })
}
