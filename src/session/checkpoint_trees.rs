//! Collects the checkpoints of every connection in a reel, as trees.

use super::MessageReplay;
use crate::proposals::REGISTRY;
use crate::proposals::checkpoint_tree::CheckpointTree;
use crate::trace::Event;
use std::collections::BTreeMap;

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

    /// Returns how many events were ignored because there were too many connections.
    pub fn left_out(&self) -> u64 {
        self.message_replay.left_out()
    }

    /// Iterates over the trees, each with its stream and the server's name.
    pub fn all(&self) -> impl Iterator<Item = (u32, String, &CheckpointTree)> {
        self.trees.iter().map(|(stream, tree)| (*stream, self.message_replay.server(*stream), tree))
    }
}
