//! What units are compared by before their texts are needed: hashes of their content, and the volatile values in it.

use super::build::{Digest, hash_of};
use super::recording::{Unit, UnitKind};
use super::report::UnitSide;
use super::volatile::ValueKey;

/// Hashes of a unit's content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Print {
    /// Only units with the same key can be partners: direction, kind, method, and for requests the subject.
    pub key: u64,
    /// The hash of the params.
    pub params: u64,
    /// The hash of the whole unit; the same for units that differ only in volatile values.
    pub whole: u64,
    /// The volatile values in the unit, in the same order for units with the same `whole`.
    pub values: Vec<ValueKey>,
}

impl Print {
    /// Adds one part.
    pub(super) fn add(&mut self, side: UnitSide, digest: &Digest) {
        let part = hash_of(&(side, digest.hash));
        if side == UnitSide::Params {
            self.params = part;
        }
        self.whole = hash_of(&(self.whole, part));
        self.values.reserve_exact(digest.values.len());
        self.values.extend(&digest.values);
    }

    /// Adds what is unusual about an envelope.
    pub(super) fn add_oddities(&mut self, side: UnitSide, oddities: &str) {
        self.whole = hash_of(&(self.whole, side, oddities));
    }

    /// Returns the content of a unit, without the messages that belong to it.
    pub(super) fn of_message(&self) -> (u64, u64) {
        (self.key, self.whole)
    }

    /// Returns the params of a unit, with its key.
    pub(super) fn of_params(&self) -> (u64, u64) {
        (self.key, self.params)
    }
}

/// Returns the key of a unit. A notification is identified by its method only; its level or URI may change.
pub(super) fn key(unit: &Unit) -> u64 {
    let reports_apart = unit.kind == UnitKind::Request && !unit.subject_is_volatile;
    let subject = unit.subject.as_deref().filter(|_| reports_apart);
    hash_of(&(unit.direction, unit.kind, unit.method.as_deref(), subject))
}
