//! Notes as branching state (MCPL 0.4 §8): a tree of checkpoints. The first has full data, the others have patches.

use super::Refusal;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

/// The number of checkpoints that are kept. Older ones are pruned (MCPL 0.4 §8.7 leaves retention to the server).
pub(crate) const KEPT: usize = 64;
/// The maximum number of notes.
pub(crate) const MAX_NOTES: usize = 256;
/// The maximum size of the whole state as JSON, in bytes (64 KiB).
pub(crate) const MAX_BYTES: usize = 64 << 10;
/// The error code for a checkpoint that was pruned or never existed (MCPL 0.4 Appendix A).
pub(crate) const CHECKPOINT_NOT_FOUND: i64 = -32005;

#[derive(Clone, Debug)]
struct Checkpoint {
    id: String,
    data: State,
}

/// The state at a checkpoint. It shares its notes with earlier checkpoints, because each adds only one.
#[derive(Clone, Debug)]
struct State {
    /// Everything except the notes, which are an empty list here.
    frame: Arc<Value>,
    notes: Vec<Arc<Value>>,
    /// The approximate size as JSON, in bytes.
    bytes: usize,
}

impl State {
    fn new(mut whole: Value) -> Self {
        let bytes = size(&whole);
        let notes = match whole.get_mut("notes").map(Value::take) {
            Some(Value::Array(notes)) => notes.into_iter().map(Arc::new).collect(),
            _ => Vec::new(),
        };
        whole["notes"] = json!([]);
        Self { frame: Arc::new(whole), notes, bytes }
    }

    fn whole(&self) -> Value {
        let mut whole = Value::clone(&self.frame);
        whole["notes"] = self.notes.iter().map(|note| Value::clone(note)).collect();
        whole
    }

    fn next_id(&self) -> u64 {
        self.notes.iter().filter_map(|note| note["id"].as_u64()).max().unwrap_or(0).saturating_add(1)
    }

    fn add(&mut self, note: Value) {
        self.bytes += size(&note) + 1;
        self.notes.push(Arc::new(note));
    }
}

/// The size of a value as JSON, in bytes.
fn size(value: &Value) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

/// The notes and their history.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    kept: VecDeque<Checkpoint>,
    current: Option<String>,
}

impl Notes {
    /// Adds a note to the state that the call names, and returns the `state` member of the result.
    ///
    /// A host that keeps the state sends it (`state`); one that only knows a checkpoint sends that (`checkpoint`). With
    /// neither, or with an unknown one, the note is added to the server's current state (MCPL 0.4 §8.4).
    ///
    /// # Errors
    /// A sentence for the model, if there would be too many notes or too much text.
    pub fn add(&mut self, text: &str, call: &Value, id: String) -> Result<Value, String> {
        let completed = call.get("state").filter(|state| state["notes"].is_array());
        let named = call.get("checkpoint").and_then(Value::as_str).or(self.current.as_deref());
        let parent = named.filter(|id| self.find(id).is_some()).or(self.current.as_deref()).map(str::to_owned);
        let held = parent.as_deref().and_then(|id| self.find(id)).map(|found| found.data.clone());
        let completed = match completed {
            // Check the size before copying the state.
            Some(state) if size(state) > MAX_BYTES => return Err(too_much()),
            completed => completed.cloned().map(State::new),
        };
        let mut data = completed.or_else(|| held.clone()).unwrap_or_else(|| State::new(json!({"notes": []})));
        if data.notes.len() >= MAX_NOTES {
            return Err(format!(
                "there are already {MAX_NOTES} notes, which is the maximum: go back to an earlier checkpoint first"
            ));
        }
        if text.len() > MAX_BYTES {
            return Err(too_much());
        }
        let note = json!({"id": data.next_id(), "text": text});
        // A patch applies to the parent's data, so it is only correct if the note was added to that.
        let is_patch = held.is_some_and(|held| held.frame == data.frame && held.notes == data.notes);
        data.add(note.clone());
        if data.bytes > MAX_BYTES {
            return Err(too_much());
        }
        let mut state = json!({"checkpoint": id, "parent": parent});
        if is_patch {
            state["patch"] = json!([{"op": "add", "path": "/notes/-", "value": note}]);
        } else {
            state["data"] = data.whole();
        }
        self.keep(Checkpoint { id, data });
        Ok(state)
    }

    /// Goes back to a checkpoint, and returns the result of `state/rollback` (MCPL 0.4 §8.6).
    ///
    /// # Errors
    /// -32005 if the checkpoint was pruned or never existed (MCPL 0.4 §8.7).
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
        let notes = current.map(|found| found.data.notes.iter());
        notes.into_iter().flatten().filter_map(|note| note["text"].as_str()).collect()
    }

    /// Whether a checkpoint is kept.
    pub fn has(&self, checkpoint: &str) -> bool {
        self.find(checkpoint).is_some()
    }

    /// The checkpoint of the server's current state.
    pub fn current(&self) -> Option<&str> {
        self.current.as_deref()
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

fn too_much() -> String {
    format!(
        "all notes together may have at most {} KiB: go back to an earlier checkpoint, or add less text",
        MAX_BYTES >> 10
    )
}
