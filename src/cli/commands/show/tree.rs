//! `show --view tree`: the checkpoints that servers handed out.

use super::ShowArgs;
use super::whole::{self, PartPrinter};
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
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
    let wanted = live.map_or(0, |live| live.stream);
    let mut checkpoint_trees = CheckpointTrees::default();
    let damaged = whole::each_event(args, "tree", (live, path, terms), context, |event| checkpoint_trees.take(event))?;
    let mut shown = 0;
    let mut printer = PartPrinter::new(args, context)?;
    for (stream, server, tree) in checkpoint_trees.all().filter(|(stream, ..)| wanted == 0 || *stream == wanted) {
        shown += 1;
        let text = |out: &mut String| {
            out.push_str(&format!("{}\n", visible_text(&server)));
            checkpoint_tree::text(tree, &context.printer.palette, context.printer.width, out);
        };
        printer.print(|| checkpoint_tree::value(stream, &server, tree), text)?;
    }
    printer.finish(checkpoint_trees.left_out());
    if shown == 0 {
        context.printer.note("no server returned a checkpoint");
    }
    Ok(if damaged { Outcome::Findings } else { Outcome::Clean })
}
