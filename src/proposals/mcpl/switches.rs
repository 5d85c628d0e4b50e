//! Which feature sets the host switched on and off by `featureSets/update` (MCPL 0.4 §6.7), as the messages of a
//! connection show it.

use super::matches_set;
use serde_json::Value;

/// How many switched patterns are kept. They are the host's own patterns, so there are few.
const MAX_SWITCHES: usize = 4096;

/// A pattern of feature sets that the host enabled or disabled.
#[derive(Debug)]
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
#[derive(Debug, Default)]
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
        let under = || self.switches.iter().rev().filter(|it| it.time <= time && matches_set(&it.pattern, set));
        let update = under().next()?.update;
        let exact = under().any(|it| it.update == update && it.pattern == set);
        let mut last = under().filter(|it| it.update == update && (it.pattern == set || !exact));
        let switch = last.next()?;
        last.all(|it| it.enabled == switch.enabled).then_some(switch)
    }
}
