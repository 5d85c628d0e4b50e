//! Feature sets and their scopes: what the server declared, what the host enabled, and whether both respect it.

use super::*;
use crate::proposals::ON_ITS_WAY_NS;
use crate::proposals::mcpl::switches::Switches;
use crate::proposals::mcpl::{feature_sets, matches_set};
use std::collections::{BTreeMap, HashSet};

/// The declared feature sets and how the host switched them.
#[derive(Debug, Default)]
pub(super) struct Sets {
    /// What the server declared; `None` if that is not known.
    declared: Option<BTreeMap<String, Value>>,
    switches: Switches,
    updated: bool,
    early_reported: bool,
    /// Events are missing from the reel, perhaps updates and changes, too.
    lost: bool,
}

impl Sets {
    /// Reads what the server's block declares.
    pub(super) fn declared(&mut self, block: &Value, findings: &mut Findings) {
        self.lost = false;
        let Some(sets) = block.get("featureSets") else {
            self.declared = Some(BTreeMap::new());
            return;
        };
        for rule in [&SETS_ARRAY, &UNKNOWN_USE] {
            findings.hold(rule);
        }
        self.declared = Some(feature_sets(sets));
    }

    pub(super) fn lose_track(&mut self) {
        *self = Self { lost: true, ..Self::default() };
    }

    /// The declaration of a set, if it is known.
    pub(super) fn get(&self, set: &str) -> Option<&Value> {
        self.declared.as_ref()?.get(set)
    }

    /// The declared sets that use this.
    pub(super) fn using(&self, what: &str) -> impl Iterator<Item = &str> {
        let uses = move |set: &Value| set["uses"].as_array().is_some_and(|uses| uses.iter().any(|name| name == what));
        self.declared.iter().flatten().filter(move |(_, set)| uses(set)).map(|(name, _)| name.as_str())
    }

    /// Whether a set is certainly not declared.
    pub(super) fn is_unknown(&self, set: &str) -> bool {
        !self.lost && self.declared.as_ref().is_some_and(|sets| !sets.contains_key(set))
    }

    /// Checks that the host did not disable all sets that a message may belong to. The server's messages may have
    /// crossed with that.
    pub(super) fn check_used<'a>(
        &self,
        mut sets: impl Iterator<Item = &'a str>,
        message: &Observed<'_>,
        findings: &mut Findings,
    ) {
        let Some(first) = sets.next() else { return };
        let (sender, grace) = match message.direction {
            Direction::ClientToServer => ("host", 0),
            Direction::ServerToClient => ("server", ON_ITS_WAY_NS),
        };
        let is_disabled = |set: &str| {
            let switch = self.switches.of(set, message.time);
            switch.is_some_and(|switch| !switch.enabled && message.time.saturating_sub(switch.time) >= grace)
        };
        let mut is_one_of_several = false;
        let all = is_disabled(first)
            && sets.all(|set| {
                is_one_of_several = true;
                is_disabled(set)
            });
        findings.check(&USED_DISABLED, message.seq, !all, || {
            let others = if is_one_of_several { " and all others that it may belong to" } else { "" };
            let method = message.method.unwrap_or_default();
            format!("the {sender} sent {method}, but the host had disabled {first:?}{others}")
        });
    }

    pub(super) fn observe(&mut self, method: &str, message: &Observed<'_>, findings: &mut Findings) {
        use MessageKind::{Error, Notification, Request, Result};
        match (method, message.envelope.kind) {
            ("featureSets/update", Notification | Request) => self.update(message, findings),
            ("featureSets/changed", Notification | Request) => self.changed(message, findings),
            (_, Request | Notification) => self.call(method, message, findings),
            ("context/beforeInference", Result) => self.tagged("contextHooks.beforeInference", message, findings),
            ("context/afterInference", Result) => self.tagged("contextHooks.afterInference", message, findings),
            (_, Result) => self.accepted(method, message, findings),
            (_, Error) => {
                check_refusal_data(message, findings);
                self.refused(method, message, findings);
            }
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
            "channels/outgoing/chunk" | "channels/outgoing/complete" | "channels/incoming" => {
                return self.check_used(self.using("channels.observe"), message, findings);
            }
            _ => return,
        };
        self.check_early(method, message, findings);
        self.tagged(uses, message, findings);
    }

    fn check_early(&mut self, method: &str, message: &Observed<'_>, findings: &mut Findings) {
        // If only one side declares MCPL, no update is due, and other rules apply.
        if !is_agreed(message.declared) {
            return;
        }
        if self.updated || !(self.early_reported || self.lost) {
            self.early_reported |= !self.updated;
            findings.check(&BEFORE_UPDATE, message.seq, self.updated, || {
                format!("{method} was sent before the first featureSets/update")
            });
        }
    }

    /// Checks a message in which the server names a feature set.
    fn tagged(&self, uses: &str, message: &Observed<'_>, findings: &mut Findings) {
        let Some(set) = message.content["featureSet"].as_str() else { return };
        if self.declared.is_some() {
            findings.check(&UNKNOWN_SET, message.seq, !self.is_unknown(set), || {
                format!("the server did not declare {set:?}")
            });
        }
        if let Some(declared) = self.get(set).filter(|_| !uses.is_empty()) {
            let listed = declared["uses"].as_array().is_none_or(|list| list.iter().any(|name| name == uses));
            findings.check(&UNLISTED_USE, message.seq, listed, || {
                format!("{set:?} was used for {uses}, but its uses are {}", declared["uses"])
            });
        }
        let Some(switch) = self.switches.of(set, i64::MAX).filter(|_| !is_empty_answer(message)) else { return };
        let age = message.time.saturating_sub(switch.time);
        let crossed = age <= ON_ITS_WAY_NS;
        findings.check(&DISABLED_SET, message.seq, switch.enabled || crossed, || {
            format!("the host disabled {set:?} {} ms earlier", age / 1_000_000)
        });
        findings.check(&DISABLED_RACE, message.seq, switch.enabled || !crossed, || {
            format!("the host disabled {set:?} {} ms earlier", age / 1_000_000)
        });
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
        let disabled = self.switches.of(set, asked.time).is_some_and(|switch| !switch.enabled);
        let unknown = self.is_unknown(set);
        findings.check(&DISABLED_ACCEPTED, message.seq, !disabled || !accepted, || {
            format!("the host accepted a message of {set:?}, which it disabled")
        });
        findings.check(&UNKNOWN_SET_ACCEPTED, message.seq, !unknown || !accepted, || {
            format!("the host accepted a message of {set:?}, which the server did not declare")
        });
        findings.check(&REFUSAL_FORM, message.seq, accepted || !(disabled || unknown), || {
            format!("the host refused a message of {set:?} by a result")
        });
    }

    fn refused(&self, method: &str, message: &Observed<'_>, findings: &mut Findings) {
        if !matches!(method, crate::proposals::mcpl::PUSH_EVENT | "inference/request" | "scope/elevate") {
            return;
        }
        let Some(asked) = message.request else { return };
        let Some(set) = asked.params["featureSet"].as_str() else { return };
        let is_enabled = |time: i64| self.switches.of(set, time).is_some_and(|switch| switch.enabled);
        if self.get(set).is_some() && is_enabled(asked.time) {
            let is_wrong = message.content["code"] == -32001 && is_enabled(message.time);
            findings.check(&REFUSAL_CODE, message.seq, !is_wrong, || {
                format!("the host enabled {set:?}, but sent error -32001, which is for disabled sets")
            });
        }
        let (what, code) = match self.switches.of(set, asked.time) {
            _ if self.is_unknown(set) => ("is not declared", -32003),
            Some(switch) if !switch.enabled => ("is disabled", -32001),
            _ if self.get(set).is_some() && message.content["code"] == -32003 => ("is declared", -32001),
            _ => return,
        };
        let of_other = message.content["code"] == if code == -32003 { -32001 } else { -32003 };
        let is_wrong =
            of_other || message.content["code"] == errors::INVALID_PARAMS && asked_correctly(method, message);
        findings.check(&REFUSAL_CODE, message.seq, !is_wrong, || {
            format!("{set:?} {what}, but the host sent error {} instead of {code}", message.content["code"])
        });
    }

    fn update(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        self.updated = true;
        let named = |list: &str| message.content[list].as_array().into_iter().flatten().filter_map(Value::as_str);
        for pattern in named("enabled").chain(named("disabled")) {
            self.check_named(pattern, message.seq, findings);
        }
        let disabled: HashSet<&str> = named("disabled").collect();
        let twice = named("enabled").find(|name| disabled.contains(name));
        findings.check(&UPDATE_BOTH, message.seq, twice.is_none(), || {
            format!("the update both enables and disables {:?}", twice.unwrap_or_default())
        });
        self.switches.update(message.content, message.time);
        for set in message.content["scopes"].as_object().into_iter().flat_map(|scopes| scopes.keys()) {
            self.check_named(set, message.seq, findings);
            self.check_scoped(set, message.seq, findings);
        }
    }

    fn check_named(&self, pattern: &str, seq: u64, findings: &mut Findings) {
        let Some(sets) = self.declared.as_ref().filter(|_| !self.lost) else { return };
        let known = sets.keys().any(|set| matches_set(pattern, set));
        findings.check(&UPDATE_UNKNOWN, seq, known, || {
            format!("the update names {pattern:?}, which matches no declared feature set")
        });
    }

    fn check_scoped(&self, set: &str, seq: u64, findings: &mut Findings) {
        if let Some(declared) = self.get(set) {
            findings.check(&SCOPE_UNSCOPED, seq, declared["scoped"] == true, || {
                format!("{set:?} is not declared as scoped")
            });
        }
    }

    fn changed(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        findings.hold(&UNKNOWN_USE);
        let sets = self.declared.get_or_insert_default();
        for set in message.content["removed"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            let known = sets.remove(set).is_some() || self.lost;
            findings.check(&REMOVED_UNKNOWN, message.seq, known, || {
                format!("the server removed {set:?}, which it did not declare")
            });
        }
        sets.extend(feature_sets(&message.content["added"]));
    }

    pub(super) fn finish(&self, declared: &Declared, findings: &mut Findings) {
        if is_agreed(declared)
            && !self.lost
            && declared.ready
            && self.declared.as_ref().is_some_and(|sets| !sets.is_empty())
        {
            findings.check_overall(&NO_UPDATE, self.updated, || "the host sent no featureSets/update".to_owned());
        }
    }
}

/// Whether a message is a hook's result that only names its feature set.
fn is_empty_answer(message: &Observed<'_>) -> bool {
    let says = |value: &Value| !value.is_null() && value.as_array().is_none_or(|items| !items.is_empty());
    let mut members = message.content.as_object().into_iter().flatten();
    message.envelope.kind == MessageKind::Result && members.all(|(name, value)| name == "featureSet" || !says(value))
}

/// Whether both sides declared the proposal.
fn is_agreed(declared: &Declared) -> bool {
    [Side::Client, Side::Server].iter().all(|side| block(declared, *side).is_some())
}

fn check_payload(message: &Observed<'_>, asked: &Value, findings: &mut Findings) {
    let Some(wanted) = asked["scope"]["payload"].as_object() else { return };
    if message.content["approved"] != true {
        return;
    }
    let lost = wanted.iter().find(|(name, value)| message.content["payload"].get(name.as_str()) != Some(*value));
    findings.check(&SCOPE_PAYLOAD, message.seq, lost.is_none(), || {
        format!("the host changed or left out {:?}", lost.map_or("", |(name, _)| name))
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
        || format!("the error's data is {data}"),
    );
}
