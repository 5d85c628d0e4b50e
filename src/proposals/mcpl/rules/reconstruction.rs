//! The state that a host reconstructs from what the server's tools return (MCPL 0.4 §8.3), and what it returns to
//! them (§8.4).

use super::*;
use crate::proposals::mcpl::patch::{self, PatchError};
use crate::proposals::recent::Recent;
use crate::wire::json;

/// How many bytes the data of one checkpoint, and of all together, may have (1 and 16 MiB).
const MAX_BYTES: usize = 1 << 20;
const MAX_ALL_BYTES: usize = 16 << 20;
/// How many checkpoints, branches and tools are remembered.
const MAX_ENTRIES: usize = 4096;
/// How long after a result the host may send a call that it prepared before it, in nanoseconds.
const GRACE_PERIOD_NS: i64 = 100_000_000;

/// What is known of a checkpoint's data.
#[derive(Clone, Debug)]
enum Data {
    /// The server sent it, as a whole or by patches.
    Held(Value),
    /// The server keeps it.
    WithServer,
    /// It may be known to the host.
    Unclear,
}

#[derive(Debug)]
struct Checkpoint {
    tree: u64,
    data: Data,
    bytes: usize,
}

/// The current checkpoint of a tree, and the one before it with the time of the change in nanoseconds.
#[derive(Debug)]
struct Branch {
    current: String,
    before: Option<(String, i64)>,
}

/// The checkpoints of one connection with their data. Checkpoints that descend from each other form a tree.
#[derive(Debug)]
pub(super) struct Reconstruction {
    checkpoints: Recent<String, Checkpoint>,
    bytes: usize,
    trees: Recent<u64, Branch>,
    next_tree: u64,
    /// The tree that a tool's last result belongs to.
    tools: Recent<String, u64>,
}

impl Default for Reconstruction {
    fn default() -> Self {
        Self {
            checkpoints: Recent::new(MAX_ENTRIES),
            bytes: 0,
            trees: Recent::new(MAX_ENTRIES),
            next_tree: 0,
            tools: Recent::new(MAX_ENTRIES),
        }
    }
}

impl Reconstruction {
    /// Handles the `state` of a tool's result.
    pub(super) fn given(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let state = &message.content["state"];
        let Some(name) = state["checkpoint"].as_str() else { return };
        let parent = state["parent"].as_str().map(|parent| self.checkpoints.get(&parent.to_owned()));
        let tree = match &parent {
            Some(Some(parent)) => parent.tree,
            _ => self.next_tree,
        };
        let base = match parent {
            None => Data::Held(Value::Null),
            Some(Some(parent)) => parent.data.clone(),
            Some(None) => Data::Unclear,
        };
        self.next_tree += 1;
        let data = held(state, base, message.seq, findings);
        if let Some(tool) = message.request.and_then(|asked| asked.params["name"].as_str()) {
            self.tools.insert(tool.to_owned(), tree);
        }
        self.keep(name, tree, data, message.time);
    }

    /// Handles a successful rollback. The server may call the checkpoint by another name from now on.
    pub(super) fn rolled_back(&mut self, target: &str, named: &str, time: i64) {
        let Some(found) = self.checkpoints.get(&target.to_owned()) else { return };
        let (tree, data) = (found.tree, found.data.clone());
        self.keep(named, tree, data, time);
    }

    fn keep(&mut self, name: &str, tree: u64, data: Data, time: i64) {
        let bytes = match &data {
            Data::Held(data) => patch::size(data),
            _ => 0,
        };
        let data = if bytes > MAX_BYTES { Data::Unclear } else { data };
        let bytes = if bytes > MAX_BYTES { 0 } else { bytes };
        self.bytes += bytes;
        if let Some(before) = self.checkpoints.insert(name.to_owned(), Checkpoint { tree, data, bytes }) {
            self.bytes = self.bytes.saturating_sub(before.bytes);
        }
        let before = self.trees.remove(&tree).map(|branch| branch.current);
        self.trees.insert(tree, Branch { current: name.to_owned(), before: before.map(|before| (before, time)) });
        self.shed_data();
    }

    /// Drops the data of the oldest checkpoints while there is too much.
    fn shed_data(&mut self) {
        if self.bytes > MAX_ALL_BYTES {
            // Some checkpoints may have been forgotten together with their data.
            self.bytes = self.checkpoints.values().map(|found| found.bytes).sum();
        }
        while self.bytes > MAX_ALL_BYTES {
            let oldest =
                self.checkpoints.keys().find(|key| self.checkpoints.get(key).is_some_and(|found| found.bytes > 0));
            let Some(found) = oldest.cloned().and_then(|key| self.checkpoints.get_mut(&key)) else { return };
            self.bytes = self.bytes.saturating_sub(found.bytes);
            (found.data, found.bytes) = (Data::Unclear, 0);
        }
    }

    /// Checks what a call returns to the server: the state, or its checkpoint if the server keeps the data.
    pub(super) fn called(&self, message: &Observed<'_>, findings: &mut Findings) {
        let params = message.content;
        match (params.get("state"), params["checkpoint"].as_str()) {
            (Some(state), None) if !state["checkpoint"].is_string() => self.check_state(state, message, findings),
            (None, Some(checkpoint)) => {
                let held = self.checkpoints.get(&checkpoint.to_owned()).map(|found| &found.data);
                if let Some(data) = held.filter(|data| !matches!(data, Data::Unclear)) {
                    findings.check(&CHECKPOINT_FOR_DATA, message.seq, matches!(data, Data::WithServer), || {
                        format!("the host sent the checkpoint {checkpoint:?}, although the server sent its data")
                    });
                }
            }
            _ => {}
        }
    }

    /// A call may name the state that was current when the host prepared it.
    fn check_state(&self, state: &Value, message: &Observed<'_>, findings: &mut Findings) {
        let tool = message.content["name"].as_str().unwrap_or_default().to_owned();
        let Some(branch) = self.tools.get(&tool).and_then(|tree| self.trees.get(tree)) else { return };
        let is_recent = |at: &i64| message.time.saturating_sub(*at) <= GRACE_PERIOD_NS;
        let before = branch.before.as_ref().filter(|(_, at)| is_recent(at)).map(|(name, _)| name);
        let current = [Some(&branch.current), before].into_iter().flatten();
        let known: Vec<_> = current.map(|name| self.checkpoints.get(name).map(|found| &found.data)).collect();
        if known.iter().any(|data| matches!(data, None | Some(Data::Unclear))) {
            return findings.give_up(&STATE_DIFFERS);
        }
        let fits = |data: &Data| matches!(data, Data::Held(data) if json::same(data, state));
        findings.check(&STATE_DIFFERS, message.seq, known.into_iter().flatten().any(fits), || {
            format!("the host returned a state that is not that of the checkpoint {:?}", branch.current)
        });
    }
}

/// The data of a new checkpoint, whose parent has the data `base`.
fn held(state: &Value, base: Data, seq: u64, findings: &mut Findings) -> Data {
    let patch = match (state.get("data"), state.get("patch")) {
        (Some(data), _) => return Data::Held(data.clone()),
        (None, Some(patch)) => patch,
        (None, None) => return Data::WithServer,
    };
    if SCHEMAS.check("State", state).is_some_and(|violations| !violations.is_empty()) {
        return Data::Unclear;
    }
    let patched = match base {
        Data::Unclear => return Data::Unclear,
        Data::WithServer => Err("the server never sent the data of the parent".to_owned()),
        Data::Held(base) => match patch::apply(base, patch, MAX_BYTES) {
            Err(PatchError::TooLarge(_)) => {
                findings.give_up(&PATCH_FAILS);
                return Data::Unclear;
            }
            patched => patched.map_err(|error| error.to_string()),
        },
    };
    findings.check(&PATCH_FAILS, seq, patched.is_ok(), || {
        let why = patched.as_ref().err().map_or("", String::as_str);
        format!("the patch of {} cannot be applied to the parent {}: {why}", state["checkpoint"], state["parent"])
    });
    patched.map_or(Data::Unclear, Data::Held)
}
