//! `stats --context`: how much text each server puts into the prompts.

use super::Format;
use crate::cli::printer::note;
use crate::cli::redaction::RedactOptions;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::files::reels;
use crate::render::stats as render;
use crate::session::prompts::Prompts;
use crate::session::stats::ContextReport;
use crate::trace::ReelReader;
use crate::wire::text::counted;
use std::path::Path;

/// Adds up the texts of one stream, or of all if it is 0.
///
/// # Errors
///
/// The reel cannot be read, or the output cannot be written.
pub(super) fn run(
    reader: ReelReader,
    (path, stream): (&Path, u32),
    format: Format,
    redact: &RedactOptions,
    context: &Context,
) -> Result<Outcome, CommandError> {
    let mut prompts = Prompts::measuring();
    let mut progress = context.printer.progress_through("reading", path);
    let damaged = reels::each_event(
        reader,
        path,
        note,
        |at| progress.reach(at),
        |event| {
            if stream == 0 || event.header.stream == stream {
                prompts.take(event);
            }
            Ok(())
        },
    )?;
    progress.finish();
    let (turns, left_out) = prompts.finish();
    let report = ContextReport::of(&turns);
    let text = match format {
        Format::Json => format!("{}\n", render::context_json(&report)),
        Format::Csv => render::context(&report, true).csv(),
        Format::Markdown => render::context(&report, false).markdown(),
        Format::Human => {
            let table = render::context(&report, false).text(context.printer.width);
            format!("{}, {}\n\n{}\n", reels::shown(path), counted(report.turns, "turn"), table.trim_end_matches('\n'))
        }
    };
    context.printer.text(&text)?;
    redact.warn_of_report(&text)?;
    reels::report_left_out(left_out, note);
    Ok(if damaged { Outcome::Findings } else { Outcome::Clean })
}
