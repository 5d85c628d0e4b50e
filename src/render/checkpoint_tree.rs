//! Draws a tree of checkpoints, or makes it JSON. Branches are drawn as forks; a single child is on the line below its parent,
//! and an empty line separates what has no common root.

use super::spans::Spans;
use super::style::Palette;
use crate::session::checkpoint_tree::{Checkpoint, CheckpointTree};
use crate::wire::text::counted;
use anstyle::Style;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// Appends the tree as lines, at most `width` columns wide if given. Names come from servers, so they are made safe to
/// display.
pub(crate) fn text(tree: &CheckpointTree, palette: &Palette, width: Option<usize>, out: &mut String) {
    // Each entry: the prefix of its own line, the prefix of the lines below, and its name.
    let roots: Vec<&str> = tree.roots().collect();
    let later_roots: BTreeSet<&str> = roots.iter().skip(1).copied().collect();
    let mut waiting: Vec<(String, String, &str)> =
        roots.iter().rev().map(|root| (String::new(), String::new(), *root)).collect();
    while let Some((before, below, name)) = waiting.pop() {
        if later_roots.contains(name) {
            out.push('\n');
        }
        let Some(found) = tree.get(name) else { continue };
        let lead = format!("{below}{}", if found.children.len() > 1 { "│   " } else { "    " });
        let is_current = tree.current.as_deref() == Some(name);
        checkpoint(Shown { name, found, is_current }, (&before, &lead), palette, width, out);
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
        let _ = writeln!(out, "{} not shown", counted(tree.left_out, "more checkpoint"));
    }
}

/// The least number of columns for a name.
const LEAST_NAME: usize = 12;

/// A checkpoint with its name.
#[derive(Clone, Copy)]
struct Shown<'a> {
    name: &'a str,
    found: &'a Checkpoint,
    is_current: bool,
}

/// Appends the line of a checkpoint, which begins with `before`. What happened to it later stands on the same line, or
/// on lines that begin with `lead` if there is no space.
fn checkpoint(
    shown: Shown<'_>,
    (before, lead): (&str, &str),
    palette: &Palette,
    width: Option<usize>,
    out: &mut String,
) {
    let Shown { name, found, is_current } = shown;
    let (mut named, mut details, later) = (Spans::default(), Spans::default(), later(found, palette));
    named.push(palette.bold, name);
    details.push(palette.bold, if is_current { "  ← here" } else { "" });
    details.push(palette.faint, &format!("  {}", described(found)));
    let further: usize = later.iter().map(|part| part.width() + 2).sum();
    let fits = width.is_none_or(|width| before.width() + named.width() + details.width() + further <= width);
    let space = width.map(|width| width.saturating_sub(before.width()));
    let for_name = space.map(|space| space.saturating_sub(details.width()).max(LEAST_NAME).min(named.width()));
    out.push_str(before);
    named.write(for_name, out);
    details.write(space.zip(for_name).map(|(space, taken)| space.saturating_sub(taken)), out);
    for part in &later {
        out.push_str(if fits { "  " } else { "\n" });
        out.push_str(if fits { "" } else { lead });
        part.write(width.map(|width| width.saturating_sub(lead.width()).max(LEAST_NAME)).filter(|_| !fits), out);
    }
    out.push('\n');
}

/// Which tool returned a checkpoint, where, and what the message contains.
fn described(found: &Checkpoint) -> String {
    let Some(seq) = found.seq else { return "not in this recording".to_owned() };
    let keeps = (found.keeps != "nothing").then(|| found.keeps.to_owned());
    found.by.iter().cloned().chain([format!("seq {seq}")]).chain(keeps).collect::<Vec<_>>().join(", ")
}

/// What happened to a checkpoint later: rollbacks, attempts that failed, and that the server dropped it.
fn later(found: &Checkpoint, palette: &Palette) -> Vec<Spans> {
    let part = |style: Style, text: &str| {
        let mut spans = Spans::default();
        spans.push(style, text);
        spans
    };
    let mut parts = Vec::new();
    for back in found.rollbacks.iter().filter(|back| back.failed.is_none()) {
        parts.push(part(palette.faint, &format!("rolled back to at seq {}", back.seq)));
    }
    for (back, why) in found.rollbacks.iter().filter_map(|back| Some((back, back.failed.as_ref()?))) {
        parts.push(part(palette.warning, &format!("rollback failed at seq {}: {why}", back.seq)));
    }
    if let Some(seq) = found.gone {
        parts.push(part(palette.warning, &format!("pruned, as the server reported at seq {seq}")));
    }
    parts
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
        text(&tree, &Palette::plain(), None, &mut out);
        let drawn = "\
a  add, seq 0, patch  rolled back to at seq 4
├── b  add, seq 1, patch  rollback failed at seq 3: mail␛
│   c  add, seq 2, patch
└── d  ← here  add, seq 5, patch

old  not in this recording  pruned, as the server reported at seq 9
";
        assert_eq!(out, drawn);
    }

    #[test]
    fn hostile_names_and_reasons_in_four_widths() {
        let given = |name: &str, parent: Option<&str>, by: &str| CheckpointStep::Given {
            checkpoint: name.to_owned(),
            parent: parent.map(str::to_owned),
            keeps: "data",
            by: Some(by.to_owned()),
        };
        let back = |to: &str| CheckpointStep::Back { target: to.to_owned(), named: to.to_owned(), feature_set: None };
        let stuck = |to: &str, reason: &str| CheckpointStep::Stuck {
            target: to.to_owned(),
            reason: reason.to_owned(),
            feature_set: None,
        };
        let wide = "チェックポイント・その一";
        let long = "0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
        let mut tree = CheckpointTree::default();
        let steps = [
            given(wide, None, "検索する"),
            given(long, Some(wide), "e\u{301}crire"),
            given("evil\u{1b}[2J\u{202e}", Some(long), "חיפוש"),
            back(wide),
            stuck(long, "the mail was sent\u{7} and cannot be called back, so nothing was undone"),
            given("two", Some(wide), "add"),
            CheckpointStep::Gone { target: long.to_owned() },
        ];
        steps.into_iter().enumerate().for_each(|(seq, step)| tree.take(step, seq as u64, 0));
        let drawn = |width| {
            let mut out = String::new();
            text(&tree, &Palette::plain(), Some(width), &mut out);
            assert!(out.lines().all(|line| line.width() <= width), "{width}\n{out}");
            assert!(out.chars().all(|found| found == '\n' || super::super::line::visible(found) == found));
            out
        };
        insta::assert_snapshot!("tree", [60, 80, 120, 200].map(drawn).join("\n"));
    }
}
