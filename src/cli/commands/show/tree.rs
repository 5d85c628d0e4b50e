//! `show --view tree`: the checkpoints that servers handed out.

use super::{Format, ShowArgs};
use crate::cli::printer::note;
use crate::cli::secret_warning::SecretWarning;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::files::reels;
use crate::render::checkpoint_tree;
use crate::render::line::visible_text;
use crate::session::checkpoint_tree::CheckpointTrees;
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
    let (reader, path) = super::whole(args, "tree", live, path, terms)?;
    let wanted = live.map_or(0, |live| live.stream);
    let mut checkpoint_trees = CheckpointTrees::default();
    let mut progress = context.printer.progress_through("reading", &path);
    let reach = |position| progress.reach(position);
    let damaged = reels::each_event(reader, &path, note, reach, |event| {
        checkpoint_trees.take(event);
        Ok(())
    })?;
    progress.finish();
    let mut shown = 0;
    let mut warning = SecretWarning::new(&args.redact)?.unless_seen(&context.printer);
    for (stream, server, tree) in checkpoint_trees.all().filter(|(stream, ..)| wanted == 0 || *stream == wanted) {
        shown += 1;
        if args.format == Format::Json {
            let value = checkpoint_tree::value(stream, &server, tree);
            warning.take_text(&value.to_string());
            context.printer.json(&value)?;
            continue;
        }
        let mut text = format!("{}\n", visible_text(&server));
        checkpoint_tree::text(tree, &context.printer.palette, &mut text);
        warning.take_text(&text);
        context.printer.line(text.trim_end())?;
    }
    warning.print();
    reels::report_left_out(checkpoint_trees.left_out(), note);
    if shown == 0 {
        context.printer.note("no server returned a checkpoint");
    }
    Ok(if damaged { Outcome::Findings } else { Outcome::Clean })
}
