//! Which feature sets the host switched on and off by `featureSets/update` (MCPL 0.4 §6.7), as the messages of a
//! connection show it.

use super::matches_set;
use serde_json::Value;

/// How many switched patterns are kept. They are the host's own patterns, so there are few.
const MAX_SWITCHES: usize = 4096;

/// A pattern of feature sets that the host enabled or disabled.
#[derive(Clone, Debug)]
pub(super) struct Switch {
    pattern: String,
    /// Whether it was enabled.
    pub enabled: bool,
    /// The time of the update, in nanoseconds.
    pub time: i64,
    /// The number of the update that switched it. One update may name a set in both of its lists.
    update: u64,
}

/// The switches of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Switches {
    switches: Vec<Switch>,
    updates: u64,
}

impl Switches {
    /// Takes the params of an update.
    pub(super) fn update(&mut self, params: &Value, time: i64) {
        self.updates += 1;
        let update = self.updates;
        for (list, enabled) in [("enabled", true), ("disabled", false)] {
            for pattern in params[list].as_array().into_iter().flatten().filter_map(Value::as_str) {
                self.switches.retain(|switch| switch.pattern != pattern || switch.update == update);
                self.switches.push(Switch { pattern: pattern.to_owned(), enabled, time, update });
            }
        }
        let over = self.switches.len().saturating_sub(MAX_SWITCHES);
        self.switches.drain(..over);
    }

    /// The last switch of a set at or before `time` (nanoseconds). Within one update, the exact name takes precedence
    /// over a pattern; `None` if the update both enables and disables the set.
    pub(super) fn of(&self, set: &str, time: i64) -> Option<&Switch> {
        let mut last = self.last(set, time);
        let switch = last.next()?;
        last.all(|it| it.enabled == switch.enabled).then_some(switch)
    }

    /// Whether the last update that names a set disables it, even if it also enables it. It may have come before the
    /// server declared the set.
    pub(super) fn disable(&self, set: &str) -> bool {
        self.last(set, i64::MAX).any(|it| !it.enabled)
    }

    /// The entries about a set in the last update that names it, until `time`: those with its exact name, if there are
    /// any.
    fn last(&self, set: &str, time: i64) -> impl Iterator<Item = &Switch> {
        let under =
            move || self.switches.iter().rev().filter(move |it| it.time <= time && matches_set(&it.pattern, set));
        let update = under().next().map(|it| it.update);
        let exact = under().any(|it| Some(it.update) == update && it.pattern == set);
        under().filter(move |it| Some(it.update) == update && (it.pattern == set || !exact))
    }
}
