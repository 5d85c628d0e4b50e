//! `show --view prompt`: what the model would have seen at each turn.

use super::ShowArgs;
use super::whole::{self, PartPrinter};
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::render::prompts;
use crate::session::prompts::Prompts;
use crate::sessions::live::Live;
use std::path::Path;

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(
    args: &ShowArgs,
    live: Option<&Live>,
    path: Option<&Path>,
    terms: &str,
    context: &Context,
) -> Result<Outcome, CommandError> {
    let wanted = live.map_or(0, |live| live.stream);
    let mut found = Prompts::default();
    let damaged = whole::each_event(args, "prompt", (live, path, terms), context, |event| {
        if wanted == 0 || event.header.stream == wanted {
            found.take(event);
        }
    })?;
    let (turns, left_out) = found.finish();
    let mut printer = PartPrinter::new(args, context)?;
    let layout = prompts::Layout::of(&turns, context.printer.width);
    for turn in &turns {
        let text = |out: &mut String| prompts::text(turn, &context.printer.palette, layout, out);
        printer.print(|| prompts::value(turn), text)?;
    }
    printer.finish(left_out);
    if turns.is_empty() {
        context.printer.note("the session contains nothing for a model: no instructions, tools, results or context");
    }
    Ok(if damaged { Outcome::Findings } else { Outcome::Clean })
}
