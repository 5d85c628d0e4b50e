//! `reel cat`: prints the bytes of one direction.

use crate::cli::redaction::RedactOptions;
use crate::cli::secret_warning::SecretWarning;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::trace::{EventHeader, EventKind, Flags, Item, ReelReader};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Print the exact bytes of one direction, or of stderr.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel reel cat session.reel                    # the server's bytes
  mcpreel reel cat --stream c2s session.reel | head -n 1
  mcpreel reel cat --stream stderr --redact session.reel")]
pub(crate) struct CatArgs {
    /// The reel; `-` for stdin (default: the newest).
    reel: Option<PathBuf>,
    /// Which bytes to print.
    #[arg(long, value_enum, default_value_t = ByteStream::S2c)]
    stream: ByteStream,
    #[command(flatten)]
    redact: RedactOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ByteStream {
    /// From the client to the server.
    C2s,
    /// From the server to the client.
    S2c,
    /// The server's stderr.
    Stderr,
}

pub(super) fn run(args: &CatArgs, context: &Context) -> Result<Outcome, CommandError> {
    context.printer.be_exact();
    let (reader, path) = args.redact.open_whole(args.reel.as_deref())?;
    let mut warning = SecretWarning::of_printed_reel(&args.redact, reader.header(), &context.printer)?;
    let mut damaged = false;
    let mut reader: ReelReader = reader.in_pieces().leaving_long();
    while let Some(item) = reader.next().map_err(|error| CommandError::reading(&path, &error))? {
        match item {
            Item::Damage(damage) => {
                damaged = true;
                context.printer.note(&damage.to_string());
            }
            Item::Block(block) => {
                let lane = |head: &EventHeader| match head.kind {
                    EventKind::Stderr => Some(ByteStream::Stderr),
                    EventKind::Message if head.flags.has(Flags::SERVER_TO_CLIENT) => Some(ByteStream::S2c),
                    EventKind::Message => Some(ByteStream::C2s),
                    _ => None,
                };
                let is_wanted = |head: &EventHeader| lane(head) == Some(args.stream);
                for event in block.events().filter(|event| is_wanted(event.header)) {
                    warning.take(&event);
                    context.printer.write(event.payload)?;
                    context.printer.write(event.header.framing.terminator())?;
                }
                if !block.is_loaded() {
                    let mut printed = Ok(());
                    let passed = reader.pass_payload(&block, |head, piece, is_last| {
                        if is_wanted(head) && printed.is_ok() {
                            warning.take_part(head, piece);
                            let end = if is_last { head.framing.terminator() } else { b"" };
                            printed = context.printer.write(piece).and_then(|()| context.printer.write(end));
                        }
                        Ok(())
                    });
                    printed?;
                    if let Err(damage) = passed.map_err(|error| CommandError::reading(&path, &error))? {
                        damaged = true;
                        context.printer.note(&damage.to_string());
                    }
                }
                reader.recycle(block);
            }
        }
    }
    warning.print_of_reel(&path);
    Ok(if damaged { Outcome::Findings } else { Outcome::Clean })
}
