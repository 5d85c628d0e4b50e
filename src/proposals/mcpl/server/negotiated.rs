//! What was negotiated on a connection: the capability block, the feature sets, and what the host lets the server
//! send.

use super::{CONSOLIDATION, EXTRACTION, NOTES_SET, PAGES, PROACTIVE, RETRIEVAL};
use crate::proposals::mcpl::scope_lists::ScopeLists;
use crate::proposals::mcpl::switches::Switches;
use crate::proposals::mcpl::{self, DESCRIPTOR, PUSH_EVENT};
use crate::proposals::server::{Refusal, Unsent};
use crate::proposals::{Declared, Side};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The message used a disabled feature set (MCPL 0.4 Appendix A).
pub(super) const NOT_ENABLED: i64 = -32001;
/// The message used a feature set that was never declared (MCPL 0.4 Appendix A).
pub(super) const UNKNOWN_SET: i64 = -32003;

/// The declaration of a feature set (MCPL 0.4 §6.2).
pub(super) fn set(uses: &str, description: &str) -> Value {
    json!({"description": description, "uses": [uses]})
}

/// The declaration of a feature set whose actions need scopes (MCPL 0.4 §7.1).
pub(super) fn scoped(uses: &str, description: &str) -> Value {
    json!({"description": description, "uses": [uses], "scoped": true})
}

/// The feature sets that the built-in server always has.
fn own_sets() -> Map<String, Value> {
    let before = "Finds memories that fit the user's message before an inference";
    let all = [
        (RETRIEVAL, set("contextHooks.beforeInference", before)),
        (EXTRACTION, set("contextHooks.afterInference", "Remembers what was asked and answered")),
        (PROACTIVE, set("pushEvents", "Reports events as they happen")),
        (CONSOLIDATION, set("inferenceRequest", "Lets the host's model summarize the memories")),
        (NOTES_SET, json!({"description": "Edits notes", "uses": ["tools"], "rollback": true})),
        (PAGES, scoped("tools", "Writes notes under paths that the host approves")),
    ];
    all.into_iter().map(|(name, set)| (name.to_owned(), set)).collect()
}

fn unknown(set: &str) -> Refusal {
    Refusal::new(UNKNOWN_SET, "Unknown feature set").about(json!({"featureSet": set}))
}

fn disabled(set: &str) -> Refusal {
    Refusal::new(NOT_ENABLED, "Feature set not enabled").about(json!({"featureSet": set, "canEnable": true}))
}

/// The form in which feature sets are declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SetsForm {
    /// An object, as in MCPL 0.4 §6.1.
    #[default]
    Object,
    /// An array of objects with a `name`, the only form that some hosts accept.
    Array,
}

/// What a `featureSets/update` changed. Unknown names are listed, not refused: an update is a notification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Update {
    /// Sets that were enabled.
    pub enabled: Vec<String>,
    /// Sets that were disabled.
    pub disabled: Vec<String>,
    /// Sets that got new scopes.
    pub scopes: Vec<String>,
    /// Names that match no set.
    pub unknown: Vec<String>,
}

/// The state of MCPL on one connection.
#[derive(Clone, Debug)]
pub(super) struct Negotiated {
    host: Value,
    sets: Map<String, Value>,
    switches: Switches,
    is_updated: bool,
    scopes: BTreeMap<String, ScopeLists>,
    form: SetsForm,
}

/// The number of sets whose scopes are kept. The host may send scopes before the server declares the set.
const MAX_SCOPES: usize = 4096;

impl Default for Negotiated {
    fn default() -> Self {
        let (switches, scopes) = (Switches::default(), BTreeMap::new());
        Self { host: Value::Null, sets: own_sets(), switches, is_updated: false, scopes, form: SetsForm::default() }
    }
}

impl Negotiated {
    /// Declares a feature set, unless one of this name exists.
    pub(super) fn add_set(&mut self, name: &str, set: Value) {
        self.sets.entry(name).or_insert(set);
    }

    /// Removes the sets that the built-in server always has.
    pub(super) fn forgo_own_sets(&mut self) {
        self.sets.clear();
    }

    /// Declares a feature set, and replaces one of this name.
    pub(super) fn put_set(&mut self, name: &str, set: Value) {
        self.sets.insert(name.to_owned(), set);
    }

    /// Reads the host's capability block. `false` if there is none: then nothing of MCPL may be used (MCPL 0.4 §3.2).
    pub(super) fn negotiate(&mut self, client_capabilities: &Value) -> bool {
        let declared = Declared { client: client_capabilities.clone(), ..Declared::default() };
        let host = declared.find(&DESCRIPTOR, Side::Client).map(|(_, host)| host.clone());
        self.host = host.unwrap_or_default();
        self.host.is_object()
    }

    /// The server's block at `capabilities.experimental.mcpl` (MCPL 0.4 §5.1 and §6.1). `blocks` is whether
    /// `afterInference` is blocking.
    pub(super) fn block(&self, blocks: bool) -> Value {
        if self.only_pushes() {
            return json!({"version": "0.4", "pushEvents": true, "featureSets": self.declared_sets()});
        }
        json!({
            "version": "0.4",
            "pushEvents": true,
            "contextHooks": {"beforeInference": true, "afterInference": {"blocking": blocks}},
            "inferenceRequest": {"streaming": true},
            "modelInfo": true,
            "featureSets": self.declared_sets(),
        })
    }

    /// Whether it declares nothing but push events.
    pub(super) fn only_pushes(&self) -> bool {
        self.sets.values().all(|set| set["uses"] == json!(["pushEvents"]))
    }

    /// The feature sets in the form of the text, or as an array of objects with names.
    fn declared_sets(&self) -> Value {
        if self.form == SetsForm::Object {
            return json!(self.sets);
        }
        let named = |(name, set): (&String, &Value)| {
            let mut set = set.clone();
            set["name"] = name.as_str().into();
            set
        };
        self.sets.iter().map(named).collect()
    }

    /// Chooses the form in which the feature sets are declared.
    pub(super) fn declare_as(&mut self, form: SetsForm) {
        self.form = form;
    }

    /// Applies a `featureSets/update` as a change (AMB-C3). A set in both lists is disabled, unless only one of the lists
    /// has its exact name. `memory.*` matches all sets below `memory.`, and `*` all sets (MCPL 0.4 §6.3), also those
    /// that the server declares later. New scopes of a set replace the earlier ones.
    pub(super) fn update(&mut self, params: &Value) -> Update {
        let mut update = Update::default();
        let before = self.disabled();
        for list in ["enabled", "disabled"] {
            for name in params[list].as_array().into_iter().flatten().filter_map(Value::as_str) {
                if !self.sets.keys().any(|set| mcpl::matches_set(name, set)) {
                    update.unknown.push(name.to_owned());
                }
            }
        }
        self.switches.update(params, 0);
        self.is_updated = true;
        for (set, rules) in params["scopes"].as_object().into_iter().flatten() {
            let is_known = self.sets.contains_key(set);
            if is_known { &mut update.scopes } else { &mut update.unknown }.push(set.clone());
            if is_known || self.scopes.len() < MAX_SCOPES {
                self.scopes.insert(set.clone(), ScopeLists::read(rules));
            }
        }
        let after = self.disabled();
        let listed =
            |sets: &BTreeSet<String>, but: &BTreeSet<String>| sets.difference(but).cloned().collect::<Vec<_>>();
        update.enabled = listed(&before, &after);
        update.disabled = listed(&after, &before);
        update
    }

    /// Whether the host's first `featureSets/update` is still to come (MCPL 0.4 §5.3).
    pub(super) fn awaits_update(&self) -> bool {
        !self.is_updated && self.host.get("featureSets") != Some(&Value::Bool(false))
    }

    /// The declared sets that the host disabled.
    fn disabled(&self) -> BTreeSet<String> {
        self.sets.keys().filter(|set| self.switches.disable(set)).cloned().collect()
    }

    /// Changes the declared sets before a `featureSets/changed` (MCPL 0.4 §6.7).
    ///
    /// # Errors
    /// A set to remove does not exist, or the host does not support feature sets.
    pub(super) fn change(&mut self, added: &Map<String, Value>, removed: &[String]) -> Result<(), Unsent> {
        if self.host.get("featureSets") == Some(&Value::Bool(false)) {
            return Err(Unsent::host_lacks("featureSets"));
        }
        if let Some(set) = removed.iter().find(|set| !self.sets.contains_key(*set)) {
            return Err(no_such_set(set));
        }
        for set in removed {
            self.sets.remove(set);
        }
        self.sets.extend(added.clone());
        Ok(())
    }

    /// Whether a set is enabled. Sets that the host never named are.
    pub(super) fn is_on(&self, set: &str) -> bool {
        self.sets.contains_key(set) && !self.switches.disable(set)
    }

    /// Checks whether a set may be used (MCPL 0.4 §6.6).
    ///
    /// # Errors
    /// -32003 for an unknown set, -32001 for a disabled one.
    pub(super) fn gate(&self, set: &str) -> Result<(), Refusal> {
        match () {
            () if !self.sets.contains_key(set) => Err(unknown(set)),
            () if !self.is_on(set) => Err(disabled(set)),
            () => Ok(()),
        }
    }

    /// The scopes that the host sent for a set.
    pub(super) fn rules(&self, set: &str) -> Option<&ScopeLists> {
        self.scopes.get(set)
    }

    /// Whether the server may send a message of its own for a set (MCPL 0.4 §5 and §6).
    ///
    /// # Errors
    /// Why not.
    pub(super) fn may_send(&self, method: &str, set: &str) -> Result<(), Unsent> {
        let uses = if method == PUSH_EVENT { "pushEvents" } else { "inferenceRequest" };
        self.host_has(uses)?;
        let declared = self.sets.get(set).ok_or_else(|| no_such_set(set))?;
        if !declared["uses"].as_array().is_some_and(|all| all.iter().any(|used| used == uses)) {
            let reason = Unsent::new("not_in_uses", format!("feature set {set} does not use {uses}"));
            return Err(reason.with("uses", uses).with("feature_set", set));
        }
        self.may_work(set)
    }

    /// Whether a scope of this set may be requested (MCPL 0.4 §7.1 and §7.4).
    ///
    /// # Errors
    /// Why not.
    pub(super) fn may_elevate(&self, set: &str) -> Result<(), Unsent> {
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

    /// Checks whether the host declared a capability. `true` on the way to it stands for everything below.
    ///
    /// # Errors
    /// It did not.
    pub(super) fn host_has(&self, capability: &str) -> Result<(), Unsent> {
        if mcpl::has(&self.host, capability) { Ok(()) } else { Err(Unsent::host_lacks(capability)) }
    }

    /// Whether `model/info` may be sent. The example of a host's block has no `modelInfo` (MCPL 0.4 §5.2), so only an
    /// explicit `false` forbids it.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn may_ask_model(&self) -> Result<(), Unsent> {
        if self.host.get("modelInfo") == Some(&Value::Bool(false)) {
            return Err(Unsent::host_lacks("modelInfo"));
        }
        Ok(())
    }

    /// Whether the host streams inferences.
    pub(super) fn can_stream(&self) -> bool {
        self.host.pointer("/inferenceRequest/streaming") == Some(&Value::Bool(true))
    }
}

fn no_such_set(set: &str) -> Unsent {
    Unsent::new("unknown_feature_set", format!("there is no feature set {set}")).with("feature_set", set)
}
