//! Notes as branching state (seed 002 §8): a tree of checkpoints, full data for the first and a patch from then on.

use super::Refusal;
use serde_json::{Value, json};
use std::collections::VecDeque;

/// How many checkpoints are kept; older ones are pruned (§8.7 leaves retention to the server).
pub const KEPT: usize = 64;
/// The checkpoint is pruned or was never there (Appendix A).
pub const CHECKPOINT_NOT_FOUND: i64 = -32005;

#[derive(Clone, Debug)]
struct Checkpoint {
    id: String,
    data: Value,
}

/// The notes and their history.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    kept: VecDeque<Checkpoint>,
    current: Option<String>,
}

impl Notes {
    /// Adds a note on top of what the caller brings along, and answers with the `state` member of the result.
    ///
    /// A host that holds the state sends it (`state`), one that only knows a checkpoint sends that (`checkpoint`);
    /// with neither, or with one that is not known any more, the server's own current state is the base (§8.4).
    pub fn add(&mut self, text: &str, call: &Value, id: String) -> Value {
        let brought = call.get("state").filter(|state| state["notes"].is_array());
        let named = call.get("checkpoint").and_then(Value::as_str).or(self.current.as_deref());
        let parent = named.filter(|id| self.find(id).is_some()).or(self.current.as_deref()).map(str::to_owned);
        let held = parent.as_deref().and_then(|id| self.find(id)).map(|found| found.data.clone());
        let base = brought.cloned().or_else(|| held.clone()).unwrap_or_else(|| json!({"notes": []}));
        let note = json!({"id": next_id(&base), "text": text});
        let mut data = base.clone();
        if let Some(notes) = data["notes"].as_array_mut() {
            notes.push(note.clone());
        }
        let mut state = json!({"checkpoint": id, "parent": parent});
        // A patch is told against the parent's data, so it serves only where that was the base.
        if held.as_ref() == Some(&base) {
            state["patch"] = json!([{"op": "add", "path": "/notes/-", "value": note}]);
        } else {
            state["data"] = data.clone();
        }
        self.keep(Checkpoint { id, data });
        state
    }

    /// Goes back to a checkpoint, and answers with the result of `state/rollback` (§8.6).
    ///
    /// # Errors
    /// -32005 where the checkpoint is pruned or was never there (§8.7).
    pub fn rollback(&mut self, checkpoint: &str) -> Result<Value, Refusal> {
        if self.find(checkpoint).is_none() {
            let refusal = Refusal::new(CHECKPOINT_NOT_FOUND, "Checkpoint not found");
            return Err(refusal.about(json!({"checkpoint": checkpoint})));
        }
        self.current = Some(checkpoint.to_owned());
        Ok(json!({"checkpoint": checkpoint, "success": true}))
    }

    /// The texts of the current notes, oldest first.
    pub fn texts(&self) -> Vec<&str> {
        let current = self.current.as_deref().and_then(|id| self.find(id));
        let notes = current.and_then(|found| found.data["notes"].as_array());
        notes.into_iter().flatten().filter_map(|note| note["text"].as_str()).collect()
    }

    fn find(&self, id: &str) -> Option<&Checkpoint> {
        self.kept.iter().find(|checkpoint| checkpoint.id == id)
    }

    fn keep(&mut self, checkpoint: Checkpoint) {
        self.current = Some(checkpoint.id.clone());
        self.kept.push_back(checkpoint);
        if self.kept.len() > KEPT {
            self.kept.pop_front();
        }
    }
}

fn next_id(data: &Value) -> u64 {
    let ids = data["notes"].as_array().into_iter().flatten().filter_map(|note| note["id"].as_u64());
    ids.max().unwrap_or(0).saturating_add(1)
}
