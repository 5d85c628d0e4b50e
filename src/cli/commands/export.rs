//! `export`: a reel in other formats.

mod html;

use crate::cli::redaction::RedactOptions;
use crate::cli::secret_warning::SecretWarning;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::files::output::Output;
use crate::formats::{self, ExportFormat};
use crate::page;
use crate::trace::Item;
use crate::wire::mask::MaskedWriter;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use std::path::{Path, PathBuf};

/// Convert a reel to another format.
///
/// `jsonl` is lossless: `mcpreel import` restores the same events, every payload byte for byte. Only the keys of webhook
/// secrets (whsec_…) are replaced by asterisks, in all formats.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel export session.reel | jq -c 'select(.message.method == \"ping\")'
  mcpreel export --format jsonl session.reel -o session.jsonl
  mcpreel export --redact session.reel -o shared.jsonl
  mcpreel export --format commands session.reel > repeat.sh
  mcpreel export --format html session.reel -o session.html   # redacted, for any browser")]
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
    /// Do not replace secrets in `--format html`, which is redacted otherwise.
    #[arg(long, conflicts_with = "redact")]
    no_redact: bool,
}

/// The names of all formats, with their help.
fn formats() -> PossibleValuesParser {
    let all = formats::EXPORT.iter().map(|format| (format.name, format.about)).chain([(page::NAME, page::ABOUT)]);
    PossibleValuesParser::new(all.map(|(name, about)| PossibleValue::new(name).help(about)))
}

/// Fails if the output would replace the reel.
///
/// # Errors
///
/// Both are the same file.
fn check_output(reel: &Path, output: &Path) -> Result<(), CommandError> {
    match (reel.canonicalize(), output.canonicalize()) {
        (Ok(from), Ok(to)) if from == to => {
            Err(CommandError::usage(format!("{} is the reel itself", output.display()))
                .hint("write the export to another file"))
        }
        _ => Ok(()),
    }
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
    if args.format == page::NAME {
        return html::run(args, context);
    }
    let (reader, path) = args.redact.open_whole(args.reel.as_deref())?;
    let mut reader = reader.leaving_long();
    check_output(&path, &args.output)?;
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
