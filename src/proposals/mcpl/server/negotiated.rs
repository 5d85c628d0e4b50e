//! What was negotiated on one connection: the block and feature sets, and what the host lets the server send.

use super::scopes::Rules;
use super::{CONSOLIDATION, EXTRACTION, NOTES_SET, PAGES, PROACTIVE, RETRIEVAL};
use crate::proposals::mcpl::{self, DESCRIPTOR, PUSH_EVENT};
use crate::proposals::server::{Refusal, Unsent};
use crate::proposals::{Declared, Side};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The message used a disabled feature set (Appendix A).
pub const NOT_ENABLED: i64 = -32001;
/// The message used a feature set that was never declared (Appendix A).
pub const UNKNOWN_SET: i64 = -32003;

/// A feature set's declaration (§6.2).
pub fn set(uses: &str, description: &str) -> Value {
    json!({"description": description, "uses": [uses]})
}

/// The same where actions of it take a scope (§7.1).
pub fn scoped(uses: &str, description: &str) -> Value {
    json!({"description": description, "uses": [uses], "scoped": true})
}

/// The sets that every server has.
fn own_sets() -> Map<String, Value> {
    let before = "Finds memories that fit the user's message before an inference";
    let all = [
        (RETRIEVAL, set("contextHooks.beforeInference", before)),
        (EXTRACTION, set("contextHooks.afterInference", "Remembers what was asked and answered")),
        (PROACTIVE, set("pushEvents", "Tells of events as they happen")),
        (CONSOLIDATION, set("inferenceRequest", "Has the host's model summarize the memories")),
        (NOTES_SET, json!({"description": "Edits notes", "uses": ["tools"], "rollback": true})),
        (PAGES, scoped("tools", "Writes notes under a path, each with the host's leave")),
    ];
    all.into_iter().map(|(name, set)| (name.to_owned(), set)).collect()
}

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
    /// Sets whose scopes were told.
    pub scopes: Vec<String>,
    /// Names that fit no set.
    pub unknown: Vec<String>,
}

/// The negotiated proposal on one connection.
#[derive(Clone, Debug)]
pub struct Negotiated {
    host: Value,
    sets: Map<String, Value>,
    disabled: BTreeSet<String>,
    scopes: BTreeMap<String, Rules>,
}

impl Default for Negotiated {
    fn default() -> Self {
        Self { host: Value::Null, sets: own_sets(), disabled: BTreeSet::new(), scopes: BTreeMap::new() }
    }
}

impl Negotiated {
    /// Declares a feature set more; one that is there stays as it is.
    pub fn add_set(&mut self, name: &str, set: Value) {
        self.sets.entry(name).or_insert(set);
    }

    /// Leaves out the sets that every server has.
    pub fn forgo_own_sets(&mut self) {
        self.sets.clear();
    }

    /// Declares a feature set, in place of one that is there.
    pub fn put_set(&mut self, name: &str, set: Value) {
        self.sets.insert(name.to_owned(), set);
    }

    /// Reads the host's block. `false` where it has none: then nothing of the proposal may be used (§3.2).
    pub fn negotiate(&mut self, client_capabilities: &Value) -> bool {
        let declared = Declared { client: client_capabilities.clone(), ..Declared::default() };
        let host = declared.find(&DESCRIPTOR, Side::Client).map(|(_, host)| host.clone());
        self.host = host.unwrap_or_default();
        self.host.is_object()
    }

    /// What stands at `capabilities.experimental.mcpl` (§5.1, §6.1); `blocks`: whether afterInference is waited for.
    pub fn block(&self, blocks: bool) -> Value {
        let only_pushes = self.sets.values().all(|set| set["uses"] == json!(["pushEvents"]));
        if only_pushes {
            return json!({"version": "0.4", "pushEvents": true, "featureSets": self.sets});
        }
        json!({
            "version": "0.4",
            "pushEvents": true,
            "contextHooks": {"beforeInference": true, "afterInference": {"blocking": blocks}},
            "inferenceRequest": {"streaming": true},
            "modelInfo": true,
            "featureSets": self.sets,
        })
    }

    /// Takes a `featureSets/update` in: a change to what held before (AMB-C3); where a set is named by both lists,
    /// it is off. `memory.*` names all sets below `memory.` (§6.3). A set's scopes replace those told before.
    pub fn update(&mut self, params: &Value) -> Update {
        let mut update = Update::default();
        let before = self.disabled.clone();
        for (list, off) in [("enabled", false), ("disabled", true)] {
            for name in params.get(list).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
                let named: Vec<String> = self.sets.keys().filter(|set| names(name, set)).cloned().collect();
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
        for (set, rules) in params.get("scopes").and_then(Value::as_object).into_iter().flatten() {
            let is_known = self.sets.contains_key(set);
            if is_known { &mut update.scopes } else { &mut update.unknown }.push(set.clone());
            if is_known {
                self.scopes.insert(set.clone(), Rules::read(rules));
            }
        }
        let listed =
            |sets: &BTreeSet<String>, but: &BTreeSet<String>| sets.difference(but).cloned().collect::<Vec<_>>();
        update.enabled = listed(&before, &self.disabled);
        update.disabled = listed(&self.disabled, &before);
        update
    }

    /// Changes what is declared, as `featureSets/changed` tells it (§6.7).
    ///
    /// # Errors
    /// A set that is to go is not there, or the host does not want to hear of it.
    pub fn change(&mut self, added: &Map<String, Value>, removed: &[String]) -> Result<(), Unsent> {
        if self.host.get("featureSets") == Some(&Value::Bool(false)) {
            return Err(Unsent::host_lacks("featureSets"));
        }
        if let Some(set) = removed.iter().find(|set| !self.sets.contains_key(*set)) {
            return Err(no_such_set(set));
        }
        for set in removed {
            self.sets.remove(set);
            self.disabled.remove(set);
            self.scopes.remove(set);
        }
        self.sets.extend(added.clone());
        Ok(())
    }

    /// Whether the host lets a set work. What it never named counts as on.
    pub fn is_on(&self, set: &str) -> bool {
        self.sets.contains_key(set) && !self.disabled.contains(set)
    }

    /// Refuses what a disabled or unknown set would do on the host's behalf (§6.6).
    ///
    /// # Errors
    /// -32003 for an unknown set, -32001 for a disabled one.
    pub fn gate(&self, set: &str) -> Result<(), Refusal> {
        match () {
            () if !self.sets.contains_key(set) => Err(unknown(set)),
            () if !self.is_on(set) => Err(disabled(set)),
            () => Ok(()),
        }
    }

    /// The scopes that the host told for a set.
    pub fn rules(&self, set: &str) -> Option<&Rules> {
        self.scopes.get(set)
    }

    /// Whether a message of the server's own may go out in the name of a set (§5, §6).
    ///
    /// # Errors
    /// Why not.
    pub fn may_send(&self, method: &str, set: &str) -> Result<(), Unsent> {
        let uses = if method == PUSH_EVENT { "pushEvents" } else { "inferenceRequest" };
        self.host_has(uses)?;
        let declared = self.sets.get(set).ok_or_else(|| no_such_set(set))?;
        if !declared["uses"].as_array().is_some_and(|all| all.iter().any(|used| used == uses)) {
            let reason = Unsent::new("not_in_uses", format!("feature set {set} does not use {uses}"));
            return Err(reason.with("uses", uses).with("feature_set", set));
        }
        self.may_work(set)
    }

    /// Whether a scope of this set may be asked for (§7.1, §7.4).
    ///
    /// # Errors
    /// Why not.
    pub fn may_elevate(&self, set: &str) -> Result<(), Unsent> {
        let declared = self.sets.get(set).ok_or_else(|| no_such_set(set))?;
        if declared["scoped"] != true {
            let reason = Unsent::new("not_scoped", format!("feature set {set} is not scoped"));
            return Err(reason.with("feature_set", set));
        }
        self.may_work(set)
    }

    fn may_work(&self, set: &str) -> Result<(), Unsent> {
        if self.is_on(set) {
            return Ok(());
        }
        let reason = Unsent::new("feature_set_disabled", format!("the host disabled feature set {set}"));
        Err(reason.with("feature_set", set))
    }

    /// Whether the host declared a capability; `true` on the way to it stands for all below (C60).
    ///
    /// # Errors
    /// It did not.
    pub fn host_has(&self, capability: &str) -> Result<(), Unsent> {
        if mcpl::has(&self.host, capability) { Ok(()) } else { Err(Unsent::host_lacks(capability)) }
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

fn no_such_set(set: &str) -> Unsent {
    Unsent::new("unknown_feature_set", format!("there is no feature set {set}")).with("feature_set", set)
}

fn names(pattern: &str, set: &str) -> bool {
    match pattern.strip_suffix(".*") {
        Some(above) => set.strip_prefix(above).is_some_and(|rest| rest.starts_with('.')),
        None => pattern == set,
    }
}
