//! The checkpoints of every connection in a reel, as trees: their parents, the rollbacks to them, those that the server
//! dropped, and rollbacks that failed.

use super::{LeftOut, MessageReplay};
use crate::proposals::REGISTRY;
use crate::proposals::audit::CheckpointStep;
use crate::trace::Event;
use std::collections::BTreeMap;

/// The maximum number of checkpoints per connection. Further ones are only counted.
const MAX: usize = 10_000;
/// The number of rollback attempts that are kept per checkpoint. Older ones are dropped.
const MAX_TRIES: usize = 100;

/// An attempt to roll back to a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rollback {
    /// The event with the outcome.
    pub seq: u64,
    /// The feature set.
    pub feature_set: Option<String>,
    /// The reason for a failure; `None` if it succeeded.
    pub failed: Option<String>,
}

/// A checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// The parent's id.
    pub parent: Option<String>,
    /// The event that contains it; `None` if messages only mention it.
    pub seq: Option<u64>,
    /// The time of that event, in nanoseconds since the reel's clock base.
    pub time: Option<i64>,
    /// What the message contains: `data`, `patch` or `nothing`.
    pub keeps: &'static str,
    /// The tool whose result contains it.
    pub by: Option<String>,
    /// Its children, in order.
    pub children: Vec<String>,
    /// The latest attempts to roll back to it.
    pub rollbacks: Vec<Rollback>,
    /// The event that shows that the server has dropped it.
    pub gone: Option<u64>,
}

/// The checkpoints of one connection.
#[derive(Debug, Default)]
pub struct CheckpointTree {
    known: BTreeMap<String, Checkpoint>,
    /// The ids in order of appearance.
    order: Vec<String>,
    /// The checkpoint of the server's current state.
    pub current: Option<String>,
    /// The number of checkpoints above the maximum.
    pub left_out: u64,
}

impl CheckpointTree {
    /// Adds what a message shows.
    pub fn take(&mut self, step: CheckpointStep, seq: u64, time: i64) {
        match step {
            CheckpointStep::Given { checkpoint, parent, keeps, by } => {
                self.grow(
                    &checkpoint,
                    parent,
                    Checkpoint { seq: Some(seq), time: Some(time), keeps, by, ..Default::default() },
                );
                self.current = Some(checkpoint);
            }
            CheckpointStep::Back { target, named, feature_set } => {
                self.tried(&target, Rollback { seq, feature_set, failed: None });
                if named != target {
                    let found = Checkpoint { seq: Some(seq), time: Some(time), keeps: "nothing", ..Default::default() };
                    self.grow(&named, Some(target), found);
                }
                self.current = Some(named);
            }
            CheckpointStep::Stuck { target, reason, feature_set } => {
                self.tried(&target, Rollback { seq, feature_set, failed: Some(reason) });
            }
            CheckpointStep::Gone { target } => {
                if let Some(found) = self.get_or_add(&target) {
                    found.gone = Some(seq);
                }
            }
        }
    }

    fn tried(&mut self, target: &str, rollback: Rollback) {
        if let Some(found) = self.get_or_add(target) {
            if found.rollbacks.len() >= MAX_TRIES {
                found.rollbacks.remove(0);
            }
            found.rollbacks.push(rollback);
        }
    }

    /// Returns a checkpoint that a message mentions, and adds it if it is unknown.
    fn get_or_add(&mut self, name: &str) -> Option<&mut Checkpoint> {
        if !self.known.contains_key(name) {
            if self.known.len() >= MAX {
                self.left_out += 1;
                return None;
            }
            self.order.push(name.to_owned());
            self.known.insert(name.to_owned(), Checkpoint { keeps: "nothing", ..Default::default() });
        }
        self.known.get_mut(name)
    }

    /// Adds a checkpoint to its parent. One that is repeated, or would be its own ancestor, is not moved.
    fn grow(&mut self, name: &str, parent: Option<String>, found: Checkpoint) {
        let is_new = self.known.get(name).is_none_or(|known| known.seq.is_none() && known.children.is_empty());
        let parent = parent.filter(|parent| parent != name);
        if !is_new {
            return;
        }
        if let Some(parent) = &parent {
            match self.get_or_add(parent) {
                Some(above) => above.children.push(name.to_owned()),
                None => return,
            }
        }
        if let Some(known) = self.get_or_add(name) {
            let (rollbacks, gone) = (std::mem::take(&mut known.rollbacks), known.gone);
            *known = Checkpoint { parent, rollbacks, gone, ..found };
        }
    }

    /// A checkpoint by its id.
    pub fn get(&self, name: &str) -> Option<&Checkpoint> {
        self.known.get(name)
    }

    /// All checkpoints in order of appearance.
    pub fn all(&self) -> impl Iterator<Item = (&str, &Checkpoint)> {
        self.order.iter().filter_map(|name| Some((name.as_str(), self.known.get(name)?)))
    }

    /// The checkpoints without a parent.
    pub fn roots(&self) -> impl Iterator<Item = &str> {
        self.all().filter(|(_, found)| found.parent.is_none()).map(|(name, _)| name)
    }
}

/// Builds the trees, event by event.
#[derive(Debug, Default)]
pub struct CheckpointTrees {
    message_replay: MessageReplay,
    trees: BTreeMap<u32, CheckpointTree>,
}

impl CheckpointTrees {
    /// Processes the next event.
    pub fn take(&mut self, event: &Event<'_>) {
        let trees = &mut self.trees;
        self.message_replay.take(event, |stream, message| {
            for step in REGISTRY.iter().filter_map(|proposal| proposal.checkpoint_tree(message)) {
                trees.entry(stream).or_default().take(step, message.seq, message.time);
            }
        });
    }

    /// Returns what was ignored because there was too much of it.
    pub fn left_out(&self) -> LeftOut {
        self.message_replay.left_out()
    }

    /// Iterates over the trees, each with its stream and the server's name.
    pub fn all(&self) -> impl Iterator<Item = (u32, String, &CheckpointTree)> {
        self.trees.iter().map(|(stream, tree)| (*stream, self.message_replay.server(*stream), tree))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(checkpoint: &str, parent: Option<&str>) -> CheckpointStep {
        let parent = parent.map(str::to_owned);
        CheckpointStep::Given { checkpoint: checkpoint.to_owned(), parent, keeps: "data", by: None }
    }

    #[test]
    fn branches_grow_where_one_went_back() {
        let mut checkpoint_tree = CheckpointTree::default();
        let back = CheckpointStep::Back { target: "a".into(), named: "a".into(), feature_set: None };
        let steps = [given("a", None), given("b", Some("a")), back, given("c", Some("a"))];
        steps.into_iter().enumerate().for_each(|(seq, step)| checkpoint_tree.take(step, seq as u64, 0));
        assert_eq!(checkpoint_tree.roots().collect::<Vec<_>>(), ["a"]);
        let root = checkpoint_tree.get("a").expect("known");
        assert_eq!((root.children.as_slice(), root.rollbacks[0].seq), (&["b".to_owned(), "c".to_owned()][..], 2));
        assert_eq!(checkpoint_tree.current.as_deref(), Some("c"));
    }

    #[test]
    fn what_is_only_spoken_of_stands_there_too_and_no_circle_is_drawn() {
        let mut checkpoint_tree = CheckpointTree::default();
        checkpoint_tree.take(given("b", Some("a")), 1, 0);
        checkpoint_tree.take(given("a", Some("b")), 2, 0);
        checkpoint_tree.take(given("c", Some("c")), 3, 0);
        checkpoint_tree.take(given("b", None), 4, 0);
        checkpoint_tree.take(CheckpointStep::Gone { target: "old".into() }, 5, 0);
        let named = CheckpointStep::Back { target: "b".into(), named: "b2".into(), feature_set: None };
        checkpoint_tree.take(named, 6, 0);
        assert_eq!(checkpoint_tree.roots().collect::<Vec<_>>(), ["a", "c", "old"]);
        assert_eq!(checkpoint_tree.get("b").map(|found| found.children.clone()), Some(vec!["b2".to_owned()]));
        assert_eq!(checkpoint_tree.get("old").and_then(|found| found.gone), Some(5));
        assert_eq!(checkpoint_tree.all().count(), 5);
    }
}
