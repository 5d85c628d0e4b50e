//! `show --view tree`: the checkpoints that servers handed out.

use super::{Format, ShowArgs};
use crate::cli::printer::note;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::proposals::checkpoint_tree::CheckpointTree;
use crate::record::reels;
use crate::render::checkpoint_tree;
use crate::render::line::visible_text;
use crate::session::checkpoint_trees::CheckpointTrees;
use crate::sessions::live::Live;
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn run(
    args: &ShowArgs,
    live: Option<&Live>,
    path: Option<&Path>,
    terms: &str,
    context: &Context,
) -> Result<Outcome, CommandError> {
    if !terms.is_empty() {
        let error = CommandError::usage("--view tree shows whole connections and cannot be combined with a filter");
        return Err(error.hint("name only a reel or a session"));
    }
    let (reader, path) = match live {
        Some(live) => {
            let (reader, path) = reels::open(Some(&live.reel()?))?;
            (reader.following(), path)
        }
        None => args.redact.open_whole(path)?,
    };
    let wanted = live.map_or(0, |live| live.stream);
    let mut checkpoint_trees = CheckpointTrees::default();
    let damaged = reels::each_event(reader, &path, note, |event| {
        checkpoint_trees.take(event);
        Ok(())
    })?;
    let mut shown = 0;
    for (stream, server, tree) in checkpoint_trees.all().filter(|(stream, ..)| wanted == 0 || *stream == wanted) {
        shown += 1;
        if args.format == Format::Json {
            context.printer.json(&to_json(stream, &server, tree))?;
            continue;
        }
        let mut text = format!("{}\n", visible_text(&server));
        checkpoint_tree::text(tree, &context.printer.palette, &mut text);
        context.printer.line(text.trim_end())?;
    }
    reels::report_left_out(checkpoint_trees.left_out(), note);
    if shown == 0 {
        context.printer.note("no server returned a checkpoint");
    }
    Ok(if damaged { Outcome::Findings } else { Outcome::Clean })
}

fn to_json(stream: u32, server: &str, tree: &CheckpointTree) -> Value {
    let checkpoints: Vec<Value> = tree
        .all()
        .map(|(name, found)| {
            let rollbacks: Vec<Value> = found
                .rollbacks
                .iter()
                .map(|back| {
                    json!({"seq": back.seq, "feature_set": back.feature_set, "success": back.failed.is_none(),
                        "reason": back.failed})
                })
                .collect();
            json!({"checkpoint": name, "parent": found.parent, "seq": found.seq,
                "seconds": found.time.map(|time| time as f64 / 1e9), "keeps": found.keeps, "tool": found.by,
                "rollbacks": rollbacks, "pruned_seq": found.gone})
        })
        .collect();
    json!({"stream": stream, "server": server, "current": tree.current, "left_out": tree.left_out,
        "checkpoints": checkpoints})
}
