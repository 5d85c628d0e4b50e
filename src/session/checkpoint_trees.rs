//! The checkpoints of every connection of a reel, as trees.

use super::Witness;
use crate::proposals::REGISTRY;
use crate::proposals::checkpoint_tree::Lineage;
use crate::trace::Event;
use std::collections::BTreeMap;

/// Gathers them, event by event.
#[derive(Debug, Default)]
pub struct Lineages {
    witness: Witness,
    trees: BTreeMap<u32, Lineage>,
}

impl Lineages {
    /// Takes the next event in.
    pub fn take(&mut self, event: &Event<'_>) {
        let trees = &mut self.trees;
        self.witness.take(event, |stream, message| {
            for step in REGISTRY.iter().filter_map(|room| room.lineage(message)) {
                trees.entry(stream).or_default().take(step, message.seq, message.time);
            }
        });
    }

    /// How many events were not looked at, since their connections are too many.
    pub fn left_out(&self) -> u64 {
        self.witness.left_out()
    }

    /// The trees, each with its stream and its server's name.
    pub fn all(&self) -> impl Iterator<Item = (u32, String, &Lineage)> {
        self.trees.iter().map(|(stream, tree)| (*stream, self.witness.server(*stream), tree))
    }
}
