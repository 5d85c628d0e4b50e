//! Negotiation and feature sets: what the server declares, which sets are on, and what of it the server is told.

use super::super::feature_sets;
use crate::proposals::host::Refusal;
use crate::proposals::policy::Policy;
use crate::protocol::errors;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The message used a disabled feature set (Appendix A).
const NOT_ENABLED: i64 = -32001;
/// The message used a feature set that was never declared (Appendix A).
const UNKNOWN_SET: i64 = -32003;

/// The host's block (§5.2): what the option `offer` names; `None` where it names nothing.
pub fn host_block(policy: &Policy) -> Option<Value> {
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

/// What is odd about a server's block, as sentences (C-V05, C8).
pub fn oddities(block: &Value) -> Vec<String> {
    let mut odd = Vec::new();
    match block["version"].as_str() {
        Some("0.4") => {}
        Some(version) if version.starts_with("0.4.") => {}
        Some(version) if version == "0.5" || version.starts_with("0.5.") => odd.push(format!(
            "it speaks {version}, which is treated as 0.4: there featureSets/update is a request, scopes and \
             afterInference are gone, and a manifest takes the place of featureSets/changed"
        )),
        other => odd.push(format!("its version is {}, treated as 0.4", other.unwrap_or("missing"))),
    }
    if block["featureSets"].is_array() {
        odd.push("its featureSets are an array, not a map; taken by their names".to_owned());
    }
    odd
}

/// A server's feature sets and which of them are on.
pub struct Sets {
    declared: BTreeMap<String, Value>,
    enabled: Vec<String>,
    disabled: Vec<String>,
    /// What the user switched by hand, the latest last.
    by_hand: Vec<(String, bool)>,
    takes_prefix: bool,
    /// The user lets the server do what its sets say.
    pub is_consented: bool,
    /// What the server was told last.
    reported: Option<BTreeMap<String, bool>>,
}

impl Sets {
    /// Reads a server's block.
    pub fn new(block: &Value, policy: &Policy) -> Self {
        Self {
            declared: feature_sets(&block["featureSets"]),
            enabled: policy.words("enabled").to_vec(),
            disabled: policy.words("disabled").to_vec(),
            by_hand: Vec::new(),
            takes_prefix: policy.word("wildcard") == "prefix",
            is_consented: policy.flag("consent"),
            reported: None,
        }
    }

    /// The sets' names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.declared.keys().map(String::as_str)
    }

    /// Those that say yes to a property, like `scoped`.
    pub fn with(&self, property: &'static str) -> impl Iterator<Item = &str> {
        let says = move |set: &&Value| set[property] == true;
        self.declared.iter().filter(move |(_, set)| says(set)).map(|(name, _)| name.as_str())
    }

    /// Whether a set was declared.
    pub fn is_known(&self, set: &str) -> bool {
        self.declared.contains_key(set)
    }

    /// Whether a set is declared with a property, like `rollback`.
    pub fn says(&self, set: &str, property: &'static str) -> bool {
        self.with(property).any(|name| name == set)
    }

    /// Those that list a use.
    pub fn using(&self, what: &str) -> impl Iterator<Item = &str> {
        let lists = move |set: &&Value| set["uses"].as_array().into_iter().flatten().any(|name| name == what);
        self.declared.iter().filter(move |(_, set)| lists(set)).map(|(name, _)| name.as_str())
    }

    /// Whether a set may work.
    pub fn is_on(&self, set: &str) -> bool {
        let fits = |patterns: &[String]| patterns.iter().any(|pattern| self.fits(pattern, set));
        let by_hand = self.by_hand.iter().rfind(|(pattern, _)| self.fits(pattern, set));
        let is_wanted = by_hand.map_or_else(|| fits(&self.enabled) && !fits(&self.disabled), |(_, on)| *on);
        self.is_consented && is_wanted
    }

    /// Whether something that sets are declared to use may be used at all: some set that lists it is on, or none does.
    pub fn lets(&self, what: &str) -> bool {
        let mut sets = self.using(what).peekable();
        match sets.peek() {
            None => self.is_consented,
            Some(_) => sets.any(|set| self.is_on(set)),
        }
    }

    /// Whether a set falls under a pattern: `*` stands for one segment, or at a pattern's end for all that follow;
    /// alone for everything (C9).
    pub fn fits(&self, pattern: &str, set: &str) -> bool {
        if pattern == "*" {
            return true;
        }
        if self.takes_prefix
            && let Some(above) = pattern.strip_suffix('*')
        {
            return set.starts_with(above);
        }
        let (mut patterns, mut segments) = (pattern.split('.'), set.split('.'));
        loop {
            match (patterns.next(), segments.next()) {
                (None, None) => return true,
                (Some(pattern), Some(segment)) if pattern == "*" || pattern == segment => {}
                _ => return false,
            }
        }
    }

    /// Whether a message of the server's may speak for the set it names. What is odd about it and tolerated comes back.
    ///
    /// # Errors
    /// -32602 without a set, -32003 for an unknown one, -32001 for one that is off or lacks the use (§6.6).
    pub fn gate(&self, set: &Value, uses: &str, policy: &Policy) -> Result<Option<String>, Refusal> {
        let Some(set) = set.as_str() else {
            return Err(Refusal::new(errors::INVALID_PARAMS, "featureSet is missing"));
        };
        if !self.is_known(set) {
            let data = json!({"featureSet": set});
            return Err(Refusal::new(UNKNOWN_SET, "Unknown feature set").about(data));
        }
        let off = |can_enable: bool| {
            let data = json!({"featureSet": set, "canEnable": can_enable});
            Err(Refusal::new(NOT_ENABLED, "Feature set not enabled").about(data))
        };
        if !self.is_on(set) {
            return off(policy.flag("can_enable"));
        }
        if uses.is_empty() || self.using(uses).any(|name| name == set) {
            return Ok(None);
        }
        match policy.word("unlisted") {
            "refuse" => off(false),
            _ => Ok(Some(format!("{set} does not list {uses}"))),
        }
    }

    /// The params of a `featureSets/update`, where the server is to be told something: all sets the first time, then
    /// what has changed, or all again. `scopes` are for the first one.
    pub fn update(&mut self, policy: &Policy, scopes: Value) -> Option<Value> {
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
    pub fn switch(&mut self, pattern: &str, is_on: bool) {
        self.by_hand.retain(|(known, _)| known != pattern);
        self.by_hand.push((pattern.to_owned(), is_on));
    }

    /// Takes a `featureSets/changed` in; answers what is odd about it.
    pub fn changed(&mut self, params: &Value) -> Vec<String> {
        let mut odd = Vec::new();
        for name in params["removed"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if self.declared.remove(name).is_none() {
                odd.push(format!("{name} is removed, and was never declared"));
            }
        }
        self.declared.extend(feature_sets(&params["added"]));
        odd
    }

    /// The sets and whether they are on, for the user.
    pub fn state(&self) -> Value {
        self.declared.keys().map(|set| (set.clone(), Value::from(self.is_on(set)))).collect::<Map<_, _>>().into()
    }
}

/// Whether a server's block says yes to what stands at a path: `true` or an object.
pub fn advertises(block: &Value, pointer: &str) -> bool {
    matches!(block.pointer(pointer), Some(Value::Bool(true) | Value::Object(_)))
}
