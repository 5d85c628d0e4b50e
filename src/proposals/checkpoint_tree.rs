//! Checkpoints as a tree: which grew out of which, where one was gone back to, which are gone, and what could not be
//! undone.

use std::collections::BTreeMap;

/// How many checkpoints of one connection are kept; more are counted.
const MAX: usize = 10_000;
/// How many tries to go back to one checkpoint are kept, the latest.
const MAX_TRIES: usize = 100;

/// What a message tells of checkpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A checkpoint was handed out.
    Given {
        /// Its name.
        checkpoint: String,
        /// What it grew out of.
        parent: Option<String>,
        /// What came with it: `data`, `patch` or `nothing`.
        keeps: &'static str,
        /// The tool whose result it came with.
        by: Option<String>,
    },
    /// The server went back.
    Back {
        /// To which.
        target: String,
        /// What it is called now.
        named: String,
        /// In the name of which feature set.
        feature_set: Option<String>,
    },
    /// It did not, or not wholly.
    Stuck {
        /// To which it was to go.
        target: String,
        /// Why.
        reason: String,
        /// In the name of which feature set.
        feature_set: Option<String>,
    },
    /// There is no such checkpoint any more.
    Gone {
        /// Which.
        target: String,
    },
}

/// A try to go back to a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rollback {
    /// The event that told how it ended.
    pub seq: u64,
    /// In the name of which feature set.
    pub feature_set: Option<String>,
    /// Why it could not be done; `None`: it was.
    pub failed: Option<String>,
}

/// A checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// What it grew out of.
    pub parent: Option<String>,
    /// The event that brought it; `None` for one that is only spoken of.
    pub seq: Option<u64>,
    /// When, in nanoseconds since the reel's clock base.
    pub time: Option<i64>,
    /// What came with it.
    pub keeps: &'static str,
    /// The tool whose result it came with.
    pub by: Option<String>,
    /// Those that grew out of it, in order.
    pub children: Vec<String>,
    /// Tries to go back to it, the latest of them.
    pub rollbacks: Vec<Rollback>,
    /// The server has dropped it: the event that told so.
    pub gone: Option<u64>,
}

/// The checkpoints of one connection.
#[derive(Debug, Default)]
pub struct CheckpointTree {
    known: BTreeMap<String, Checkpoint>,
    /// Names in the order in which they came.
    order: Vec<String>,
    /// Where the server stands.
    pub current: Option<String>,
    /// How many were too many.
    pub left_out: u64,
}

impl CheckpointTree {
    /// Takes in what a message tells.
    pub fn take(&mut self, step: Step, seq: u64, time: i64) {
        match step {
            Step::Given { checkpoint, parent, keeps, by } => {
                self.grow(
                    &checkpoint,
                    parent,
                    Checkpoint { seq: Some(seq), time: Some(time), keeps, by, ..Default::default() },
                );
                self.current = Some(checkpoint);
            }
            Step::Back { target, named, feature_set } => {
                self.tried(&target, Rollback { seq, feature_set, failed: None });
                if named != target {
                    let found = Checkpoint { seq: Some(seq), time: Some(time), keeps: "nothing", ..Default::default() };
                    self.grow(&named, Some(target), found);
                }
                self.current = Some(named);
            }
            Step::Stuck { target, reason, feature_set } => {
                self.tried(&target, Rollback { seq, feature_set, failed: Some(reason) });
            }
            Step::Gone { target } => {
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

    /// One that is spoken of, whether it was ever handed out or not.
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

    /// Lets one grow out of its parent. One that comes again, or would be its own ancestor, stays where it is.
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

    /// A checkpoint by its name.
    pub fn get(&self, name: &str) -> Option<&Checkpoint> {
        self.known.get(name)
    }

    /// All, in the order in which they came.
    pub fn all(&self) -> impl Iterator<Item = (&str, &Checkpoint)> {
        self.order.iter().filter_map(|name| Some((name.as_str(), self.known.get(name)?)))
    }

    /// Those that grew out of nothing.
    pub fn roots(&self) -> impl Iterator<Item = &str> {
        self.all().filter(|(_, found)| found.parent.is_none()).map(|(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(checkpoint: &str, parent: Option<&str>) -> Step {
        let parent = parent.map(str::to_owned);
        Step::Given { checkpoint: checkpoint.to_owned(), parent, keeps: "data", by: None }
    }

    #[test]
    fn branches_grow_where_one_went_back() {
        let mut checkpoint_tree = CheckpointTree::default();
        let back = Step::Back { target: "a".into(), named: "a".into(), feature_set: None };
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
        checkpoint_tree.take(Step::Gone { target: "old".into() }, 5, 0);
        let named = Step::Back { target: "b".into(), named: "b2".into(), feature_set: None };
        checkpoint_tree.take(named, 6, 0);
        assert_eq!(checkpoint_tree.roots().collect::<Vec<_>>(), ["a", "c", "old"]);
        assert_eq!(checkpoint_tree.get("b").map(|found| found.children.clone()), Some(vec!["b2".to_owned()]));
        assert_eq!(checkpoint_tree.get("old").and_then(|found| found.gone), Some(5));
        assert_eq!(checkpoint_tree.all().count(), 5);
    }
}
