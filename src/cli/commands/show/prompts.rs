//! `show --view prompt`: what the model would have seen at each turn.

use super::{Format, ShowArgs};
use crate::cli::printer::note;
use crate::cli::secret_warning::SecretWarning;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::files::reels;
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
    let (reader, path) = super::whole(args, "prompt", live, path, terms)?;
    let wanted = live.map_or(0, |live| live.stream);
    let mut found = Prompts::default();
    let mut progress = context.printer.progress_through("reading", &path);
    let reach = |position| progress.reach(position);
    let damaged = reels::each_event(reader, &path, note, reach, |event| {
        if wanted == 0 || event.header.stream == wanted {
            found.take(event);
        }
        Ok(())
    })?;
    progress.finish();
    let (turns, left_out) = found.finish();
    let mut warning = SecretWarning::new(&args.redact)?.unless_seen(&context.printer);
    for turn in &turns {
        if args.format == Format::Json {
            let value = prompts::value(turn);
            warning.take_text(&value.to_string());
            context.printer.json(&value)?;
            continue;
        }
        let mut text = String::new();
        prompts::text(turn, &context.printer.palette, context.printer.width, &mut text);
        warning.take_text(&text);
        context.printer.line(text.trim_end())?;
    }
    warning.print();
    reels::report_left_out(left_out, note);
    if turns.is_empty() {
        context.printer.note("the session contains nothing for a model: no instructions, tools, results or context");
    }
    Ok(if damaged { Outcome::Findings } else { Outcome::Clean })
}
