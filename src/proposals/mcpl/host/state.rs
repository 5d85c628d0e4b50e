//! The state in the results of a server's tools: a tree of checkpoints with data or patches, and the current
//! checkpoint.

use super::irregular::Irregularity::{self, Mistake, Note};
use crate::proposals::mcpl::patch::{self, PatchError};
use crate::proposals::recent::Recent;
use serde_json::{Value, json};
use std::fmt::Display;

/// How many checkpoints are kept per feature set.
const MAX_CHECKPOINTS: usize = 4096;

/// How many bytes of data the checkpoints of a server may have together (16 MiB). The oldest lose their data first.
const MAX_DATA: usize = 16 << 20;

/// A checkpoint.
#[derive(Clone, Debug, PartialEq)]
struct Checkpoint {
    parent: Option<String>,
    /// The whole state, if the server sent it.
    data: Option<Value>,
    /// The size of the data as JSON, in bytes.
    bytes: usize,
}

/// The state of one feature set.
#[derive(Debug)]
pub(super) struct Tree {
    /// All checkpoints, if more than the latest is kept.
    checkpoints: Option<Recent<String, Checkpoint>>,
    max_bytes: usize,
    /// The current checkpoint.
    current: Option<(String, Checkpoint)>,
}

impl Tree {
    /// An empty tree. With `is_full` it keeps all checkpoints, otherwise only the latest. A state whose data has more
    /// than `max_bytes` bytes is kept without data.
    pub(super) fn new(is_full: bool, max_bytes: usize) -> Self {
        Self { checkpoints: is_full.then(|| Recent::new(MAX_CHECKPOINTS)), max_bytes, current: None }
    }

    fn get(&self, checkpoint: &str) -> Option<&Checkpoint> {
        let current = self.current.as_ref().filter(|(known, _)| known == checkpoint).map(|(_, found)| found);
        current.or_else(|| self.checkpoints.as_ref()?.get(&checkpoint.to_owned()))
    }

    /// Whether a checkpoint is known.
    pub(super) fn has(&self, checkpoint: &str) -> bool {
        self.get(checkpoint).is_some()
    }

    /// Adds the `state` of a result. All trees of a server, of which there are `share`, may have a limited amount of
    /// data together. Returns a sentence for each irregularity.
    pub(super) fn take(&mut self, state: &Value, share: usize) -> Vec<Irregularity> {
        let mut odd = Vec::new();
        let Some(checkpoint) = state["checkpoint"].as_str() else {
            return vec![Mistake("the server sent a state without a checkpoint, which is dropped".to_owned())];
        };
        let parent = state["parent"].as_str();
        if let Some(unknown) = parent.filter(|parent| self.get(parent).is_none()) {
            odd.push(Note(format!("the parent {unknown} of the checkpoint is not known")));
        }
        let base = parent.and_then(|parent| self.get(parent)).and_then(|found| found.data.clone());
        let data = match (state.get("data"), state.get("patch")) {
            (Some(data), patch) => {
                if patch.is_some() {
                    odd.push(Mistake("the state has both data and a patch; the patch is ignored".to_owned()));
                }
                Some(data.clone()).filter(|data| self.fits(data))
            }
            (None, Some(patch)) => match base {
                None => Err(Note(cannot_apply(&"the parent has no data"))),
                Some(base) => patch::apply(base, patch, self.max_bytes).map_err(|error| {
                    let kind = if matches!(error, PatchError::TooLarge(_)) { Note } else { Mistake };
                    kind(cannot_apply(&error))
                }),
            }
            .map_err(|irregularity| odd.push(irregularity))
            .ok(),
            (None, None) => None,
        };
        if data.is_none() && state.get("data").is_some() {
            odd.push(Note(format!("the data of the state has more than {} bytes and is dropped", self.max_bytes)));
        }
        let bytes = data.as_ref().map_or(0, |data| data.to_string().len());
        let found = Checkpoint { parent: parent.map(str::to_owned), data, bytes };
        let differs =
            |known: &Checkpoint| known.parent != found.parent || known.data.is_some() && known.data != found.data;
        if self.get(checkpoint).is_some_and(differs) {
            odd.push(Mistake(format!("the server sent the checkpoint {checkpoint} twice, with different states")));
        }
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.insert(checkpoint.to_owned(), found.clone());
        }
        self.current = Some((checkpoint.to_owned(), found));
        self.shed_data(MAX_DATA / share.max(1));
        odd
    }

    /// Drops the data of the oldest checkpoints while there is too much.
    fn shed_data(&mut self, max_bytes: usize) {
        let Some(checkpoints) = &mut self.checkpoints else { return };
        let mut left: usize = checkpoints.values().map(|found| found.bytes).sum();
        while left > max_bytes {
            let oldest = checkpoints.keys().find(|key| checkpoints.get(key).is_some_and(|found| found.data.is_some()));
            let Some(found) = oldest.cloned().and_then(|key| checkpoints.get_mut(&key)) else { return };
            left -= found.bytes;
            (found.data, found.bytes) = (None, 0);
        }
    }

    fn fits(&self, data: &Value) -> bool {
        data.to_string().len() <= self.max_bytes
    }

    /// What a tool call carries: the state if the host has its data, else the checkpoint (MCPL 0.4 §8.4).
    pub(super) fn member(&self) -> Option<(&'static str, Value)> {
        let (checkpoint, found) = self.current.as_ref()?;
        Some(match &found.data {
            Some(data) => ("state", data.clone()),
            None => ("checkpoint", checkpoint.as_str().into()),
        })
    }

    /// The checkpoint `steps` before the current one; `None` if it is not known.
    pub(super) fn back(&self, steps: u64) -> Option<&str> {
        let (mut name, mut found) = self.current.as_ref().map(|(name, found)| (name, found))?;
        for _ in 0..steps {
            name = found.parent.as_ref()?;
            found = self.get(name)?;
        }
        Some(name)
    }

    /// Makes `target` the current checkpoint. The server may call it by another name from now on.
    pub(super) fn rolled_back(&mut self, target: &str, named: &str) {
        let found = self.get(target).cloned().unwrap_or(Checkpoint { parent: None, data: None, bytes: 0 });
        if let Some(checkpoints) = self.checkpoints.as_mut().filter(|_| named != target) {
            let again = Checkpoint { parent: Some(target.to_owned()), ..found.clone() };
            checkpoints.insert(named.to_owned(), again);
        }
        self.current = Some((named.to_owned(), found));
    }

    /// The server no longer knows a checkpoint.
    pub(super) fn forget(&mut self, checkpoint: &str) {
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.remove(&checkpoint.to_owned());
        }
    }

    /// The current checkpoint and the tree, for display.
    pub(super) fn state(&self) -> Value {
        let known = self.checkpoints.iter().flat_map(Recent::keys).filter_map(|name| Some((name, self.get(name)?)));
        let one = |(name, found): (&String, &Checkpoint)| {
            let has_data = found.data.is_some();
            json!({"checkpoint": name, "parent": found.parent, "has_data": has_data})
        };
        let mut tree: Vec<Value> = known.map(one).collect();
        tree.sort_by_key(|one| one["checkpoint"].as_str().unwrap_or_default().to_owned());
        json!({"current": self.current.as_ref().map(|(name, _)| name), "checkpoints": tree})
    }
}

fn cannot_apply(why: &dyn Display) -> String {
    format!("the patch of the state cannot be applied: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c34_steps_back_follow_the_parents() {
        let mut tree = Tree::new(true, 1000);
        tree.take(&json!({"checkpoint": "a", "data": 1}), 1);
        tree.take(&json!({"checkpoint": "b", "parent": "a", "data": 2}), 1);
        assert_eq!((tree.back(0), tree.back(1), tree.back(2)), (Some("b"), Some("a"), None));
        assert_eq!(Tree::new(true, 1000).back(0), None);
    }

    fn state(checkpoint: &str, parent: Option<&str>, more: Value) -> Value {
        let mut state = json!({"checkpoint": checkpoint, "parent": parent});
        for (name, value) in more.as_object().unwrap() {
            state[name] = value.clone();
        }
        state
    }

    fn add(value: &str) -> Value {
        json!({"patch": [{"op": "add", "path": "/notes/-", "value": value}]})
    }

    #[test]
    fn c29_c34_patches_stand_on_their_parents_and_branches_on_what_was_rolled_back_to() {
        let mut tree = Tree::new(true, 1000);
        assert!(tree.take(&state("a", None, json!({"data": {"notes": []}})), 1).is_empty());
        assert!(tree.take(&state("b", Some("a"), add("one")), 1).is_empty());
        assert_eq!(tree.member(), Some(("state", json!({"notes": ["one"]}))));
        tree.rolled_back("a", "a");
        assert_eq!(tree.member(), Some(("state", json!({"notes": []}))));
        assert!(tree.take(&state("c", Some("a"), add("two")), 1).is_empty());
        assert_eq!(tree.member(), Some(("state", json!({"notes": ["two"]}))));
        assert_eq!(tree.state()["checkpoints"].as_array().unwrap().len(), 3);
    }

    #[test]
    fn c28_c30_c31_what_does_not_fit_is_reported_and_the_checkpoint_stands_without_data() {
        let mut tree = Tree::new(true, 100);
        assert_eq!(tree.take(&json!({"parent": null}), 1).len(), 1);
        tree.take(&state("a", None, json!({"data": 1})), 1);
        let test = json!({"patch": [{"op": "test", "path": "", "value": 2}]});
        assert!(tree.take(&state("b", Some("a"), test), 1)[0].text().contains("cannot be applied"));
        assert_eq!(tree.member(), Some(("checkpoint", json!("b"))));
        assert_eq!(tree.take(&state("b", Some("nobody"), json!({})), 1).len(), 2);
        let both = json!({"data": 2, "patch": []});
        assert!(tree.take(&state("c", Some("b"), both), 1)[0].text().contains("both"));
        assert_eq!(tree.member(), Some(("state", json!(2))));
    }

    #[test]
    fn c29_a_patch_that_copies_over_and_over_is_stopped() {
        let mut tree = Tree::new(true, 1000);
        tree.take(&state("a", None, json!({"data": {"x": ["0123456789"]}})), 1);
        let copies: Vec<Value> = (0..64).map(|_| json!({"op": "copy", "from": "/x", "path": "/x/-"})).collect();
        assert!(
            tree.take(&state("b", Some("a"), json!({"patch": copies})), 1)[0].text().contains("would have more than")
        );
    }

    #[test]
    fn c36_a_minimal_host_keeps_the_latest_only() {
        let mut tree = Tree::new(false, 1000);
        tree.take(&state("a", None, json!({"data": {"notes": []}})), 1);
        assert!(tree.take(&state("b", Some("a"), add("one")), 1).is_empty());
        assert!(tree.take(&state("c", Some("a"), add("two")), 1)[0].text().contains("is not known"));
    }

    #[test]
    fn the_oldest_lose_their_data_where_there_is_too_much() {
        let mut tree = Tree::new(true, 1 << 20);
        let text = "x".repeat((1 << 20) - 20);
        for number in 0..20 {
            tree.take(&json!({"checkpoint": format!("c{number}"), "data": {"n": text}}), 1);
        }
        let has_data = |name: &str| tree.get(name).is_some_and(|found| found.data.is_some());
        assert!(!has_data("c0") && !has_data("c3") && has_data("c4") && has_data("c19"));
        assert!(tree.get("c0").is_some(), "they stay in the tree");
    }
}
