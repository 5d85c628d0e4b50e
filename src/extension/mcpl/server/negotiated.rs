//! What was negotiated on one connection: the block and feature sets, and what the host lets the server send.

use super::{CONSOLIDATION, EXTRACTION, NOTES_SET, PROACTIVE, RETRIEVAL};
use crate::extension::mcpl::{DESCRIPTOR, PUSH_EVENT};
use crate::extension::server::{Refusal, Unsent};
use crate::extension::{Declared, Side};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The message used a disabled feature set (Appendix A).
pub const NOT_ENABLED: i64 = -32001;
/// The message used a feature set that was never declared (Appendix A).
pub const UNKNOWN_SET: i64 = -32003;

struct FeatureSet {
    name: &'static str,
    description: &'static str,
    uses: &'static str,
    rollback: bool,
}

const fn set(name: &'static str, uses: &'static str, description: &'static str) -> FeatureSet {
    FeatureSet { name, description, uses, rollback: false }
}

const SETS: &[FeatureSet] = &[
    set(RETRIEVAL, "contextHooks.beforeInference", "Finds memories that fit the user's message before an inference"),
    set(EXTRACTION, "contextHooks.afterInference", "Remembers what was asked and answered"),
    set(PROACTIVE, "pushEvents", "Tells of events as they happen"),
    set(CONSOLIDATION, "inferenceRequest", "Has the host's model summarize the memories"),
    FeatureSet { name: NOTES_SET, description: "Edits notes", uses: "tools", rollback: true },
];

fn unknown(set: &str) -> Refusal {
    Refusal::new(UNKNOWN_SET, "Unknown feature set").about(json!({"featureSet": set}))
}

fn disabled(set: &str) -> Refusal {
    Refusal::new(NOT_ENABLED, "Feature set not enabled").about(json!({"featureSet": set, "canEnable": true}))
}

/// What a `featureSets/update` changed. Names that are nobody's are listed, not refused: it is a notification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// Sets that are on now and were off.
    pub enabled: Vec<String>,
    /// Sets that are off now and were on.
    pub disabled: Vec<String>,
    /// Names that fit no set.
    pub unknown: Vec<String>,
}

/// The negotiated proposal on one connection.
#[derive(Clone, Debug, Default)]
pub struct Negotiated {
    host: Value,
    disabled: BTreeSet<String>,
    /// Sets beside [`SETS`] that only push, by name.
    push_sets: Vec<String>,
}

impl Negotiated {
    /// Feature sets that are declared beside the server's own and that only push.
    pub fn set_push_sets(&mut self, names: Vec<String>) {
        self.push_sets = names.into_iter().filter(|name| SETS.iter().all(|set| set.name != *name)).collect();
    }

    /// Reads the host's block. `false` where it has none: then nothing of the proposal may be used (§3.2).
    pub fn negotiate(&mut self, client_capabilities: &Value) -> bool {
        let declared = Declared { client: client_capabilities.clone(), ..Declared::default() };
        let host = declared.find(&DESCRIPTOR, Side::Client).map(|(_, host)| host.clone());
        self.host = host.unwrap_or_default();
        self.host.is_object()
    }

    /// Every set's name and what it uses.
    fn sets(&self) -> impl Iterator<Item = (&str, &'static str)> {
        let own = SETS.iter().map(|set| (set.name, set.uses));
        own.chain(self.push_sets.iter().map(|name| (name.as_str(), "pushEvents")))
    }

    /// What stands at `capabilities.experimental.mcpl` (§5.1, §6.1).
    pub fn block(&self) -> Value {
        let mut sets: serde_json::Map<String, Value> = SETS
            .iter()
            .map(|set| {
                let mut declared = json!({"description": set.description, "uses": [set.uses]});
                if set.rollback {
                    declared["rollback"] = json!(true);
                }
                (set.name.to_owned(), declared)
            })
            .collect();
        for name in &self.push_sets {
            sets.insert(name.clone(), json!({"description": "Pushes events fired by hand", "uses": ["pushEvents"]}));
        }
        json!({
            "version": "0.4",
            "pushEvents": true,
            "contextHooks": {"beforeInference": true, "afterInference": {"blocking": false}},
            "inferenceRequest": {"streaming": true},
            "modelInfo": true,
            "featureSets": sets,
        })
    }

    /// Takes a `featureSets/update` in: a change to what held before (AMB-C3); where a set is named by both lists,
    /// it is off. `memory.*` names all sets below `memory.` (§6.3).
    pub fn update(&mut self, params: &Value) -> Update {
        let mut update = Update::default();
        let before = self.disabled.clone();
        for (list, off) in [("enabled", false), ("disabled", true)] {
            for name in params.get(list).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
                let named: Vec<String> =
                    self.sets().filter(|(set, _)| names(name, set)).map(|(set, _)| set.to_owned()).collect();
                if named.is_empty() {
                    update.unknown.push(name.to_owned());
                }
                for set in named {
                    if off {
                        self.disabled.insert(set);
                    } else {
                        self.disabled.remove(&set);
                    }
                }
            }
        }
        let listed =
            |sets: &BTreeSet<String>, but: &BTreeSet<String>| sets.difference(but).cloned().collect::<Vec<_>>();
        update.enabled = listed(&before, &self.disabled);
        update.disabled = listed(&self.disabled, &before);
        update
    }

    /// Whether the host lets a set work. What it never named counts as on.
    pub fn is_on(&self, set: &str) -> bool {
        !self.disabled.contains(set)
    }

    /// Refuses what a disabled or unknown set would do on the host's behalf (§6.6).
    ///
    /// # Errors
    /// -32003 for an unknown set, -32001 for a disabled one.
    pub fn gate(&self, set: &str) -> Result<(), Refusal> {
        match () {
            () if self.sets().all(|(known, _)| known != set) => Err(unknown(set)),
            () if !self.is_on(set) => Err(disabled(set)),
            () => Ok(()),
        }
    }

    /// Whether a message of the server's own may go out in the name of a set (§5, §6).
    ///
    /// # Errors
    /// Why not.
    pub fn may_send(&self, method: &str, set: &str) -> Result<(), Unsent> {
        let uses = if method == PUSH_EVENT { "pushEvents" } else { "inferenceRequest" };
        if !says_yes(self.host.get(uses)) {
            return Err(Unsent::host_lacks(uses));
        }
        let reason = match self.sets().find(|(known, _)| *known == set) {
            None => Unsent::new("unknown_feature_set", format!("there is no feature set {set}")),
            Some((_, used)) if used != uses => {
                Unsent::new("not_in_uses", format!("feature set {set} does not use {uses}")).with("uses", uses)
            }
            Some(_) if !self.is_on(set) => {
                Unsent::new("feature_set_disabled", format!("the host disabled feature set {set}"))
            }
            Some(_) => return Ok(()),
        };
        Err(reason.with("feature_set", set))
    }

    /// Whether `model/info` may be asked. The example of a host's block has no `modelInfo` (§5.2), so only an
    /// explicit no counts.
    ///
    /// # Errors
    /// Why not.
    pub fn may_ask_model(&self) -> Result<(), Unsent> {
        if self.host.get("modelInfo") == Some(&Value::Bool(false)) {
            return Err(Unsent::host_lacks("modelInfo"));
        }
        Ok(())
    }

    /// Whether the host streams inferences.
    pub fn can_stream(&self) -> bool {
        self.host.pointer("/inferenceRequest/streaming") == Some(&Value::Bool(true))
    }
}

/// Whether a declared capability is a yes: `true` or an object.
fn says_yes(value: Option<&Value>) -> bool {
    matches!(value, Some(Value::Bool(true) | Value::Object(_)))
}

fn names(pattern: &str, set: &str) -> bool {
    match pattern.strip_suffix(".*") {
        Some(above) => set.strip_prefix(above).is_some_and(|rest| rest.starts_with('.')),
        None => pattern == set,
    }
}
