//! Negotiation and feature sets: what the server declares, which sets are enabled, and what the host sends about them.

use super::super::{feature_sets, matches_set};
use super::irregular::Irregularity::{self, Mistake, Note};
use crate::proposals::ON_ITS_WAY;
use crate::proposals::host::{CONSENT, Refusal};
use crate::proposals::policy::Policy;
use crate::protocol::errors;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The message used a disabled feature set (MCPL 0.4 Appendix A).
pub(super) const NOT_ENABLED: i64 = -32001;
/// The message used a feature set that was never declared (MCPL 0.4 Appendix A).
pub(super) const UNKNOWN_SET: i64 = -32003;
/// What a feature set can list (MCPL 0.4 §6.2).
const USES: &[&str] = &[
    "pushEvents",
    "contextHooks.beforeInference",
    "contextHooks.afterInference",
    "inferenceRequest",
    "tools",
    "channels.publish",
    "channels.observe",
];

/// The host's capability block (MCPL 0.4 §5.2), from the option `offer`; `None` if the option is empty.
pub(super) fn host_block(policy: &Policy) -> Option<Value> {
    let offers = |what: &str| policy.words("offer").iter().any(|word| word == what);
    if policy.words("offer").is_empty() {
        return None;
    }
    let mut block = json!({"version": "0.4", "featureSets": true});
    if offers("pushEvents") {
        block["pushEvents"] = true.into();
    }
    if offers("contextHooks.beforeInference") {
        block["contextHooks"]["beforeInference"] = true.into();
    }
    if offers("contextHooks.afterInference") {
        block["contextHooks"]["afterInference"] = json!({"blocking": true});
    }
    if offers("inferenceRequest") {
        block["inferenceRequest"] = json!({"streaming": true});
    }
    if offers("modelInfo") {
        block["modelInfo"] = true.into();
    }
    if offers("channels") {
        let all = ["register", "publish", "observe", "lifecycle", "streaming"];
        block["channels"] =
            all.iter().map(|name| ((*name).to_owned(), Value::from(true))).collect::<Map<_, _>>().into();
    }
    Some(block)
}

/// A sentence for each irregularity of a server's capability block (MCPL 0.4 §5.1 and §6.1).
pub(super) fn oddities(block: &Value) -> Vec<Irregularity> {
    let mut odd = Vec::new();
    match block["version"].as_str() {
        Some("0.4") => {}
        Some(version) if version.starts_with("0.4.") => {}
        Some(version) if version == "0.5" || version.starts_with("0.5.") => odd.push(Note(format!(
            "the server speaks MCPL {version}, which mcpreel treats as 0.4; in 0.5, featureSets/update is a request, \
             there are no scopes and no afterInference, and a manifest replaces featureSets/changed"
        ))),
        Some(other) => odd.push(Note(format!("the server speaks MCPL {other}, which mcpreel treats as 0.4"))),
        None => {
            odd.push(Mistake("the server does not say its version of MCPL, which mcpreel takes for 0.4".to_owned()));
        }
    }
    if let Some(sets) = block["featureSets"].as_array() {
        let (all, named) = (sets.len(), sets.iter().filter(|set| set["name"].is_string()).count());
        odd.push(Mistake(match named {
            _ if named == all => "the server's featureSets is an array instead of an object; its names are used".to_owned(),
            _ => format!(
                "the server's featureSets is an array instead of an object, and only {named} of its {all} members have a \
                 name; the others are ignored"
            ),
        }));
    }
    odd.extend(feature_sets(&block["featureSets"]).iter().filter_map(|(name, set)| oddity(name, set)));
    odd
}

/// A sentence about a feature set that does not list what it uses as MCPL 0.4 §6.2 says, so that nothing of it works.
fn oddity(name: &str, set: &Value) -> Option<Irregularity> {
    let is_list = set["uses"].as_array().is_some_and(|uses| uses.iter().all(Value::is_string));
    let text = || format!("the server's feature set {name} has no list of its uses, so its messages are refused");
    (!is_list).then(|| Mistake(text()))
}

/// The feature sets of a server, and which of them are enabled.
pub(super) struct Sets {
    declared: BTreeMap<String, Value>,
    enabled: Vec<String>,
    disabled: Vec<String>,
    /// What the user switched by hand, the latest last.
    by_hand: Vec<(String, bool)>,
    takes_prefix: bool,
    /// The server has declared sets. One that removes all of them does not become a server without sets.
    has_declared: bool,
    /// What disabled sets listed that the server has removed or declared anew: a disabled use stays disabled.
    withdrawn: BTreeSet<&'static str>,
    /// Sets that the server declared while others were disabled. They permit only what they list: otherwise a server could
    /// undo what the user disabled by one more set.
    late: BTreeSet<String>,
    /// The user consents to what the server's feature sets do.
    is_consented: bool,
    /// What the server was last informed of.
    reported: Option<BTreeMap<String, bool>>,
    /// When it was informed.
    pub told_at: Option<Duration>,
}

impl Sets {
    /// Reads a server's capability block.
    pub(super) fn new(block: &Value, policy: &Policy) -> Self {
        let declared = feature_sets(&block["featureSets"]);
        Self {
            has_declared: !declared.is_empty(),
            declared,
            enabled: policy.words("enabled").to_vec(),
            disabled: policy.words("disabled").to_vec(),
            by_hand: Vec::new(),
            takes_prefix: policy.word("wildcard") == "prefix",
            withdrawn: BTreeSet::new(),
            late: BTreeSet::new(),
            is_consented: policy.word(CONSENT) != "false",
            reported: None,
            told_at: None,
        }
    }

    /// The names of the sets.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.declared.keys().map(String::as_str)
    }

    /// The sets with a property such as `scoped`.
    pub(super) fn with(&self, property: &'static str) -> impl Iterator<Item = &str> {
        let says = move |set: &&Value| set[property] == true;
        self.declared.iter().filter(move |(_, set)| says(set)).map(|(name, _)| name.as_str())
    }

    /// Whether a set was declared.
    pub(super) fn is_known(&self, set: &str) -> bool {
        self.declared.contains_key(set)
    }

    /// Whether a set is declared with a property such as `rollback`.
    pub(super) fn says(&self, set: &str, property: &'static str) -> bool {
        self.with(property).any(|name| name == set)
    }

    /// The sets that list a use.
    pub(super) fn using(&self, what: &str) -> impl Iterator<Item = &str> {
        let lists = move |set: &&Value| set["uses"].as_array().into_iter().flatten().any(|name| name == what);
        self.declared.iter().filter(move |(_, set)| lists(set)).map(|(name, _)| name.as_str())
    }

    /// Whether a set is enabled.
    pub(super) fn is_on(&self, set: &str) -> bool {
        let fits = |patterns: &[String]| patterns.iter().any(|pattern| self.fits(pattern, set));
        let by_hand = self.by_hand.iter().rfind(|(pattern, _)| self.fits(pattern, set));
        let is_wanted = by_hand.map_or_else(|| fits(&self.enabled) && !fits(&self.disabled), |(_, on)| *on);
        self.is_consented && is_wanted
    }

    /// Whether the server was informed that a set is disabled, long enough ago that its messages cannot have crossed
    /// with it.
    pub(super) fn knows_off(&self, set: &str, now: Duration) -> bool {
        let is_off = self.reported.as_ref().and_then(|reported| reported.get(set)) == Some(&false);
        is_off && self.told_at.is_some_and(|at| now.saturating_sub(at) > ON_ITS_WAY)
    }

    /// Whether something that feature sets are declared to use may be used: an enabled set lists it. If no set does, it
    /// may belong to any of them, so one of them must be enabled.
    pub(super) fn lets(&self, what: &str) -> bool {
        let mut sets = self.using(what).peekable();
        match sets.peek() {
            None => !self.withdrawn.contains(what) && self.is_any_on(),
            Some(_) => sets.any(|set| self.is_on(set)),
        }
    }

    /// Whether a set is enabled, so that something of MCPL may be used with the server. For a server that declares no
    /// sets, whether a set of any name would be enabled, so that it gains nothing by declaring none.
    pub(super) fn is_any_on(&self) -> bool {
        let counts = |set: &str| !self.late.contains(set) && self.is_on(set);
        if self.has_declared { self.names().any(counts) } else { self.is_on("") }
    }

    /// Whether no set is disabled, so that something that belongs to one of them, but not known to which, may be used.
    pub(super) fn are_all_on(&self) -> bool {
        self.withdrawn.is_empty() && self.is_any_on() && self.names().all(|set| self.is_on(set))
    }

    /// Whether a set matches a pattern. `*` on its own stands for everything, and a final `*` for everything that follows
    /// (MCPL 0.4 §6.3), or for one segment with the option `wildcard=segment`.
    pub(super) fn fits(&self, pattern: &str, set: &str) -> bool {
        let is_as_deep = || pattern.split('.').count() == set.split('.').count();
        if !self.takes_prefix {
            return matches_set(pattern, set) && (pattern == "*" || is_as_deep());
        }
        matches_set(pattern, set) || pattern.strip_suffix('*').is_some_and(|above| set.starts_with(above))
    }

    /// Whether a message of the server may use the set that it names. Returns a sentence if it is irregular but
    /// tolerated.
    ///
    /// # Errors
    /// -32602 without a set, -32003 for one that was not declared, -32001 for one that is disabled or lacks the use
    /// (MCPL 0.4 §6.6).
    pub(super) fn gate(&self, set: &Value, uses: &str, policy: &Policy) -> Result<Option<Irregularity>, Refusal> {
        let Some(set) = set.as_str() else {
            return Err(Refusal::new(errors::INVALID_PARAMS, "featureSet is missing"));
        };
        if !self.is_known(set) {
            let data = json!({"featureSet": set});
            return Err(Refusal::new(UNKNOWN_SET, "Unknown feature set").about(data));
        }
        if !self.is_on(set) {
            return Err(not_enabled(set, "Feature set not enabled", policy.flag("can_enable")));
        }
        if uses.is_empty() || self.using(uses).any(|name| name == set) {
            return Ok(None);
        }
        let why = format!("{set} does not list {uses}");
        match policy.word("unlisted") {
            "accept" => Ok(Some(Mistake(why))),
            _ => Err(not_enabled(set, &format!("Feature set not enabled for this: {why}"), false)),
        }
    }

    /// The params of a `featureSets/update` if one is due: first all sets, later the changes or again all sets.
    /// `scopes` is included only with all sets.
    pub(super) fn update(&mut self, policy: &Policy, scopes: Value) -> Option<Value> {
        let now: BTreeMap<String, bool> = self.declared.keys().map(|set| (set.clone(), self.is_on(set))).collect();
        let is_first = self.reported.is_none();
        let is_needed = now.values().any(|on| !on) || !scopes.is_null();
        match policy.word("update") {
            "never" => return None,
            "when_needed" if is_first && !is_needed => return None,
            _ => {}
        }
        let reported = self.reported.replace(now.clone()).unwrap_or_default();
        let all = is_first || policy.word("update_form") == "replace";
        let changed = |set: &str, on: bool| all || reported.get(set) != Some(&on);
        let listed = |wanted: bool| -> Vec<&str> {
            let sets = now.iter().filter(|(set, on)| **on == wanted && changed(set, **on));
            sets.map(|(set, _)| set.as_str()).collect()
        };
        let mut params = json!({"enabled": listed(true), "disabled": listed(false)});
        if all && !scopes.is_null() {
            params["scopes"] = scopes;
        }
        let is_empty = listed(true).is_empty() && listed(false).is_empty() && params.get("scopes").is_none();
        (is_first || !is_empty).then_some(params)
    }

    /// Switches sets by hand.
    pub(super) fn switch(&mut self, pattern: &str, is_on: bool) {
        if is_on {
            self.withdrawn.clear();
            self.late.clear();
        }
        self.by_hand.retain(|(known, _)| known != pattern);
        self.by_hand.push((pattern.to_owned(), is_on));
    }

    /// The user consents to what the sets do, or not.
    pub(super) fn consent(&mut self, is_given: bool) {
        self.is_consented = is_given;
        self.withdrawn.clear();
        self.late.clear();
    }

    /// Remembers what a set lists that is about to be removed or replaced, if it is disabled.
    fn withdraw(&mut self, set: &str) {
        if let Some(declared) = self.declared.get(set).filter(|_| !self.is_on(set)) {
            let lists =
                |what: &&&str| declared["uses"].as_array().is_some_and(|uses| uses.iter().any(|one| one == **what));
            self.withdrawn.extend(USES.iter().filter(lists).copied());
        }
    }

    /// Handles `featureSets/changed`. Returns a sentence for each irregularity.
    pub(super) fn changed(&mut self, params: &Value) -> Vec<Irregularity> {
        let mut odd = Vec::new();
        for name in params["removed"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            self.withdraw(name);
            if self.declared.remove(name).is_none() {
                odd.push(Mistake(format!("the server removed {name}, which it did not declare")));
            }
        }
        let added = feature_sets(&params["added"]);
        odd.extend(added.iter().filter_map(|(name, set)| oddity(name, set)));
        added.keys().for_each(|name| self.withdraw(name));
        if !self.withdrawn.is_empty() || self.names().any(|set| !self.is_on(set)) {
            let late: Vec<String> = added.keys().filter(|name| !self.is_known(name)).cloned().collect();
            self.late.extend(late);
        }
        self.has_declared |= !added.is_empty();
        self.declared.extend(added);
        odd
    }

    /// The sets and whether they are enabled, for display.
    pub(super) fn state(&self) -> Value {
        self.declared.keys().map(|set| (set.clone(), Value::from(self.is_on(set)))).collect::<Map<_, _>>().into()
    }
}

/// The refusal of a message that uses a disabled set (MCPL 0.4 §6.6).
pub(super) fn not_enabled(set: &str, message: &str, can_enable: bool) -> Refusal {
    Refusal::new(NOT_ENABLED, message).about(json!({"featureSet": set, "canEnable": can_enable}))
}

/// Whether a server's block declares the capability at a path, by `true` or an object.
pub(super) fn advertises(block: &Value, pointer: &str) -> bool {
    matches!(block.pointer(pointer), Some(Value::Bool(true) | Value::Object(_)))
}
