//! Feature sets: what the server declared, what the host enabled, and who keeps to it; scopes with them.

use super::*;
use crate::proposals::mcpl::feature_sets;
use std::collections::BTreeMap;

/// How long a message may still be on its way when an update crosses it, in nanoseconds.
const GRACE: i64 = 250_000_000;
/// How many switches are kept; the host's own patterns, so few.
const MAX_SWITCHES: usize = 4096;

/// A pattern that the host switched.
#[derive(Debug)]
struct Switch {
    pattern: String,
    enabled: bool,
    time: i64,
    /// Which update switched it; one update may name a set in both its lists.
    update: u64,
}

/// Feature sets and their switches.
#[derive(Debug, Default)]
pub struct Sets {
    /// What the server declared; `None` where it declared no feature sets at all.
    declared: Option<BTreeMap<String, Value>>,
    switches: Vec<Switch>,
    updates: u64,
    updated: bool,
    early_reported: bool,
    /// Updates and changes may be missing.
    lost: bool,
}

impl Sets {
    /// Takes in what the server's block declares.
    pub fn declared(&mut self, block: &Value, findings: &mut Findings) {
        let Some(sets) = block.get("featureSets") else { return };
        for rule in [&SETS_ARRAY, &UNKNOWN_USE] {
            findings.hold(rule);
        }
        self.declared = Some(feature_sets(sets));
        self.lost = false;
    }

    pub fn lose_track(&mut self) {
        *self = Self { lost: true, updates: self.updates, ..Self::default() };
    }

    /// The declaration of a set, where it is known.
    pub fn get(&self, set: &str) -> Option<&Value> {
        self.declared.as_ref()?.get(set)
    }

    /// Whether the server declared feature sets, so that a name can be unknown.
    fn is_unknown(&self, set: &str) -> bool {
        !self.lost && self.declared.as_ref().is_some_and(|sets| !sets.contains_key(set))
    }

    pub fn observe(&mut self, method: &str, message: &Observed<'_>, findings: &mut Findings) {
        use MessageKind::{Error, Notification, Request, Result};
        match (method, message.envelope.kind) {
            ("featureSets/update", Notification | Request) => self.update(message, findings),
            ("featureSets/changed", Notification | Request) => self.changed(message, findings),
            (_, Request | Notification) => self.call(method, message, findings),
            ("context/beforeInference", Result) => self.tagged("contextHooks.beforeInference", message, findings),
            ("context/afterInference", Result) => self.tagged("contextHooks.afterInference", message, findings),
            (_, Result) => self.accepted(method, message, findings),
            (_, Error) => check_refusal_data(message, findings),
            _ => {}
        }
    }

    fn call(&mut self, method: &str, message: &Observed<'_>, findings: &mut Findings) {
        let uses = match method {
            crate::proposals::mcpl::PUSH_EVENT => "pushEvents",
            "inference/request" => "inferenceRequest",
            "scope/elevate" => {
                let set = message.content["featureSet"].as_str().unwrap_or_default();
                self.check_scoped(set, message.seq, findings);
                ""
            }
            "context/beforeInference" | "context/afterInference" => {
                findings.hold(&HOOK_SET);
                return self.check_early(method, message, findings);
            }
            _ => return,
        };
        self.check_early(method, message, findings);
        self.tagged(uses, message, findings);
    }

    fn check_early(&mut self, method: &str, message: &Observed<'_>, findings: &mut Findings) {
        // Where not both sides speak MCPL no update is due, and whoever speaks it has other findings.
        if !is_agreed(message.declared) {
            return;
        }
        if self.updated || !(self.early_reported || self.lost) {
            self.early_reported |= !self.updated;
            findings
                .check(&BEFORE_UPDATE, message.seq, self.updated, || format!("{method} before any featureSets/update"));
        }
    }

    /// Checks a message of the server's that names the feature set it speaks for.
    fn tagged(&self, uses: &str, message: &Observed<'_>, findings: &mut Findings) {
        let Some(set) = message.content["featureSet"].as_str() else { return };
        if self.declared.is_some() {
            findings.check(&UNKNOWN_SET, message.seq, !self.is_unknown(set), || format!("{set:?} is not declared"));
        }
        if let Some(declared) = self.get(set).filter(|_| !uses.is_empty()) {
            let listed = declared["uses"].as_array().is_none_or(|list| list.iter().any(|name| name == uses));
            findings.check(&UNLISTED_USE, message.seq, listed, || {
                format!("{set:?} uses {uses}; it lists {}", declared["uses"])
            });
        }
        let Some(switch) = self.switch_of(set, i64::MAX) else { return };
        let age = message.time.saturating_sub(switch.time);
        let crossed = age <= GRACE;
        findings.check(&DISABLED_SET, message.seq, switch.enabled || crossed, || {
            format!("{set:?}, disabled {} ms before", age / 1_000_000)
        });
        findings.check(&DISABLED_RACE, message.seq, switch.enabled || !crossed, || {
            format!("{set:?}, disabled {} ms before", age / 1_000_000)
        });
    }

    /// The last switch at or before a time that a set falls under. In one update its exact name beats a pattern;
    /// where that update says both all the same, it is undetermined.
    fn switch_of(&self, set: &str, time: i64) -> Option<&Switch> {
        let under = || self.switches.iter().rev().filter(|it| it.time <= time && matches(&it.pattern, set));
        let update = under().next()?.update;
        let exact = under().any(|it| it.update == update && it.pattern == set);
        let mut last = under().filter(|it| it.update == update && (it.pattern == set || !exact));
        let switch = last.next()?;
        last.all(|it| it.enabled == switch.enabled).then_some(switch)
    }

    fn accepted(&self, method: &str, message: &Observed<'_>, findings: &mut Findings) {
        let Some(asked) = message.request else { return };
        let Some(set) = asked.params["featureSet"].as_str() else { return };
        let accepted = match method {
            crate::proposals::mcpl::PUSH_EVENT => message.content["accepted"] == true,
            "inference/request" => true,
            "scope/elevate" => {
                check_payload(message, &asked.params, findings);
                message.content["approved"] == true
            }
            _ => return,
        };
        let disabled = self.switch_of(set, asked.time).is_some_and(|switch| !switch.enabled);
        let unknown = self.is_unknown(set);
        findings.check(&DISABLED_ACCEPTED, message.seq, !disabled || !accepted, || format!("{set:?} is disabled"));
        findings
            .check(&UNKNOWN_SET_ACCEPTED, message.seq, !unknown || !accepted, || format!("{set:?} was never declared"));
        findings.check(&REFUSAL_FORM, message.seq, accepted || !(disabled || unknown), || {
            format!("a result refuses {set:?}")
        });
    }

    fn update(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        self.updated = true;
        self.updates += 1;
        let update = self.updates;
        for (list, enabled) in [("enabled", true), ("disabled", false)] {
            for pattern in message.content[list].as_array().into_iter().flatten().filter_map(Value::as_str) {
                self.check_named(pattern, message.seq, findings);
                self.switches.retain(|switch| switch.pattern != pattern || switch.update == update);
                self.switches.push(Switch { pattern: pattern.to_owned(), enabled, time: message.time, update });
            }
        }
        let over = self.switches.len().saturating_sub(MAX_SWITCHES);
        self.switches.drain(..over);
        for set in message.content["scopes"].as_object().into_iter().flat_map(|scopes| scopes.keys()) {
            self.check_named(set, message.seq, findings);
            self.check_scoped(set, message.seq, findings);
        }
    }

    fn check_named(&self, pattern: &str, seq: u64, findings: &mut Findings) {
        let Some(sets) = self.declared.as_ref().filter(|_| !self.lost) else { return };
        let known = sets.keys().any(|set| matches(pattern, set));
        findings.check(&UPDATE_UNKNOWN, seq, known, || format!("{pattern:?} matches no declared feature set"));
    }

    fn check_scoped(&self, set: &str, seq: u64, findings: &mut Findings) {
        if let Some(declared) = self.get(set) {
            findings.check(&SCOPE_UNSCOPED, seq, declared["scoped"] == true, || format!("{set:?} is not scoped"));
        }
    }

    fn changed(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        findings.hold(&UNKNOWN_USE);
        let sets = self.declared.get_or_insert_default();
        for set in message.content["removed"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            let known = sets.remove(set).is_some() || self.lost;
            findings.check(&REMOVED_UNKNOWN, message.seq, known, || format!("{set:?} is not declared"));
        }
        sets.extend(feature_sets(&message.content["added"]));
    }

    pub fn finish(&self, declared: &Declared, findings: &mut Findings) {
        if is_agreed(declared)
            && !self.lost
            && declared.ready
            && self.declared.as_ref().is_some_and(|sets| !sets.is_empty())
        {
            findings.check_overall(&NO_UPDATE, self.updated, || "no featureSets/update was sent".to_owned());
        }
    }
}

/// Whether both sides declared the proposal.
fn is_agreed(declared: &Declared) -> bool {
    [Side::Client, Side::Server].iter().all(|side| block(declared, *side).is_some())
}

/// Whether a set falls under a pattern: `*` stands for one segment, alone for everything (C9).
fn matches(pattern: &str, set: &str) -> bool {
    if pattern == "*" {
        return true;
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

fn check_payload(message: &Observed<'_>, asked: &Value, findings: &mut Findings) {
    let Some(wanted) = asked["scope"]["payload"].as_object() else { return };
    if message.content["approved"] != true {
        return;
    }
    let lost = wanted.iter().find(|(name, value)| message.content["payload"].get(name.as_str()) != Some(*value));
    findings.check(&SCOPE_PAYLOAD, message.seq, lost.is_none(), || {
        format!("{:?} does not come back as it was", lost.map_or("", |(name, _)| name))
    });
}

fn check_refusal_data(message: &Observed<'_>, findings: &mut Findings) {
    if message.content["code"] != -32001 {
        return;
    }
    let data = &message.content["data"];
    findings.check(
        &REFUSAL_DATA,
        message.seq,
        data["featureSet"].is_string() && data["canEnable"].is_boolean(),
        || format!("data is {data}"),
    );
}
