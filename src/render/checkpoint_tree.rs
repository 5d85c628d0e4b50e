//! Draws a tree of checkpoints, or makes it JSON. Branches are drawn as forks; a single child is on the line below its parent.

use super::line::visible_text;
use super::style::Palette;
use crate::session::checkpoint_tree::{Checkpoint, CheckpointTree};
use serde_json::{Value, json};
use std::fmt::Write;

/// Appends the tree as lines. Names come from servers, so they are made safe to display.
pub(crate) fn text(tree: &CheckpointTree, palette: &Palette, out: &mut String) {
    // Each entry: the prefix of its own line, the prefix of the lines below, and its name.
    let roots: Vec<&str> = tree.roots().collect();
    let mut waiting: Vec<(String, String, &str)> =
        roots.into_iter().rev().map(|root| (String::new(), String::new(), root)).collect();
    while let Some((before, below, name)) = waiting.pop() {
        let Some(found) = tree.get(name) else { continue };
        line(tree, &before, name, found, palette, out);
        match &found.children[..] {
            [only] => waiting.push((below.clone(), below, only)),
            children => {
                for (at, child) in children.iter().enumerate().rev() {
                    let is_last = at + 1 == children.len();
                    let (fork, rest) = if is_last { ("└── ", "    ") } else { ("├── ", "│   ") };
                    waiting.push((format!("{below}{fork}"), format!("{below}{rest}"), child));
                }
            }
        }
    }
    if tree.left_out > 0 {
        let s = if tree.left_out == 1 { "" } else { "s" };
        let _ = writeln!(out, "{} more checkpoint{s} not shown", tree.left_out);
    }
}

fn line(tree: &CheckpointTree, before: &str, name: &str, found: &Checkpoint, palette: &Palette, out: &mut String) {
    let Palette { bold, faint, warning, .. } = palette;
    let mut details = Vec::new();
    match (found.seq, &found.by) {
        (Some(seq), by) => {
            details.extend(by.as_deref().map(visible_text));
            details.push(format!("seq {seq}"));
            details.extend((found.keeps != "nothing").then(|| found.keeps.to_owned()));
        }
        (None, _) => details.push("not in this recording".to_owned()),
    }
    let _ = write!(out, "{before}{bold}{}{bold:#}  {faint}{}{faint:#}", visible_text(name), details.join(", "));
    for back in found.rollbacks.iter().filter(|back| back.failed.is_none()) {
        let _ = write!(out, "  {faint}rolled back to at seq {}{faint:#}", back.seq);
    }
    for (back, why) in found.rollbacks.iter().filter_map(|back| Some((back, back.failed.as_ref()?))) {
        let _ = write!(out, "  {warning}rollback failed at seq {}: {}{warning:#}", back.seq, visible_text(why));
    }
    if let Some(seq) = found.gone {
        let _ = write!(out, "  {warning}pruned, as the server reported at seq {seq}{warning:#}");
    }
    if tree.current.as_deref() == Some(name) {
        let _ = write!(out, "  {bold}← here{bold:#}");
    }
    out.push('\n');
}

/// A tree as an object.
pub(crate) fn value(stream: u32, server: &str, tree: &CheckpointTree) -> Value {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposals::audit::CheckpointStep;

    #[test]
    fn branches_fork_and_only_children_stand_below() {
        let mut tree = CheckpointTree::default();
        let given = |checkpoint: &str, parent: Option<&str>| CheckpointStep::Given {
            checkpoint: checkpoint.to_owned(),
            parent: parent.map(str::to_owned),
            keeps: "patch",
            by: Some("add".to_owned()),
        };
        let back = |to: &str| CheckpointStep::Back { target: to.to_owned(), named: to.to_owned(), feature_set: None };
        let stuck = CheckpointStep::Stuck { target: "b".into(), reason: "mail\u{1b}".into(), feature_set: None };
        let steps =
            [given("a", None), given("b", Some("a")), given("c", Some("b")), stuck, back("a"), given("d", Some("a"))];
        steps.into_iter().enumerate().for_each(|(seq, step)| tree.take(step, seq as u64, 0));
        tree.take(CheckpointStep::Gone { target: "old".to_owned() }, 9, 0);
        let mut out = String::new();
        text(&tree, &Palette::plain(), &mut out);
        let drawn = "\
a  add, seq 0, patch  rolled back to at seq 4
├── b  add, seq 1, patch  rollback failed at seq 3: mail␛
│   c  add, seq 2, patch
└── d  add, seq 5, patch  ← here
old  not in this recording  pruned, as the server reported at seq 9
";
        assert_eq!(out, drawn);
    }
}
