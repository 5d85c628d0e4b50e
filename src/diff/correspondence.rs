//! Which value of one recording stands for which value of the other.

use super::report::{Mapped, MappedValue};
use super::volatile::{Kind, Origins, ValueKey};
use std::collections::HashMap;

/// Values on the left, and the values on the right that stand for the same things.
#[derive(Debug, Default)]
pub(super) struct Correspondence {
    forward: HashMap<ValueKey, ValueKey, foldhash::fast::FixedState>,
    backward: HashMap<ValueKey, ValueKey, foldhash::fast::FixedState>,
    /// The number of measured values that differ, of each kind.
    measured: [usize; Kind::ALL.len()],
    /// How often each value stands for each other one, if that is to be listed.
    listed: Option<HashMap<(ValueKey, ValueKey), usize>>,
}

impl Correspondence {
    pub(super) fn new(lists: bool) -> Self {
        Self { listed: lists.then(HashMap::new), ..Self::default() }
    }

    /// Returns whether two values may stand for the same thing. The first match of a value is final.
    pub(super) fn accept(&mut self, left: ValueKey, right: ValueKey) -> bool {
        if left.kind() != right.kind() || left.kind().is_measured() {
            return left.kind() == right.kind();
        }
        match (self.forward.get(&left), self.backward.get(&right)) {
            (None, None) => {
                self.forward.insert(left, right);
                self.backward.insert(right, left);
                true
            }
            (Some(known), Some(_)) => *known == right,
            _ => false,
        }
    }

    /// Counts two values that were accepted.
    pub(super) fn count(&mut self, left: ValueKey, right: ValueKey) {
        if left == right {
            return;
        }
        if left.kind().is_measured() {
            self.measured[left.kind() as usize] += 1;
        }
        if let Some(listed) = &mut self.listed {
            *listed.entry((left, right)).or_default() += 1;
        }
    }

    /// Returns the values that differ and stand for each other.
    pub(super) fn mapped(self, left: &Origins, right: &Origins) -> Mapped {
        let mut counts = self.measured;
        self.forward.iter().filter(|(one, other)| one != other).for_each(|(one, _)| counts[one.kind() as usize] += 1);
        let kinds = Kind::ALL.into_iter().map(|kind| (kind, counts[kind as usize])).filter(|(_, count)| *count > 0);
        let text = |origins: &Origins, key: ValueKey| origins.text(key).unwrap_or_default().to_owned();
        let listed = self.listed.into_iter().flatten();
        let mut values: Vec<_> = listed
            .map(|((one, other), count)| MappedValue {
                kind: one.kind(),
                left: text(left, one),
                right: text(right, other),
                count,
            })
            .collect();
        values.sort();
        Mapped { kinds: kinds.collect(), values }
    }
}
