//! State in the results of a server's tools: checkpoints, their parents, and rollbacks.

use super::reconstruction::Reconstruction;
use super::sets::Sets;
use super::*;
use crate::proposals::recent::{Digest, Recent, digest};

/// The checkpoints that a server returned.
#[derive(Debug)]
pub(super) struct States {
    /// Digests of data, patch and parent; `None` for an id that is known only from a rollback.
    checkpoints: Recent<String, Option<Digest>>,
    /// The feature set and the checkpoint of the last rollback, until the server returns the set's next one.
    rolled_back: Option<(String, String)>,
    /// The feature sets that have a state, or tools whose set is unknown.
    begun: Recent<String>,
    reconstruction: Reconstruction,
    lost: bool,
}

impl Default for States {
    fn default() -> Self {
        Self {
            checkpoints: Recent::new(4096),
            rolled_back: None,
            begun: Recent::new(4096),
            reconstruction: Reconstruction::default(),
            lost: false,
        }
    }
}

impl States {
    pub(super) fn lose_track(&mut self) {
        self.lost = true;
        self.rolled_back = None;
        self.reconstruction = Reconstruction::default();
    }

    /// Whether the server may have returned a checkpoint.
    fn may_know(&self, checkpoint: &str) -> bool {
        self.checkpoints.contains(&checkpoint.to_owned()) || self.checkpoints.has_forgotten() || self.lost
    }

    /// Remembers a checkpoint of which only the id is known.
    fn note(&mut self, checkpoint: &str) {
        if !self.checkpoints.contains(&checkpoint.to_owned()) {
            self.checkpoints.insert(checkpoint.to_owned(), None);
        }
    }

    /// Checks a `tools/call` or its response. `set` is the tool's feature set, if it is known.
    pub(super) fn tool_call(&mut self, message: &Observed<'_>, set: Option<&str>, findings: &mut Findings) {
        match message.envelope.kind {
            MessageKind::Request => self.called(message, findings),
            MessageKind::Result if message.content.get("state").is_some() => {
                self.given(message, set, findings);
                self.reconstruction.given(message, findings);
            }
            _ => {}
        }
    }

    fn called(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        check_call(message, findings);
        self.reconstruction.called(message, findings);
        if let Some(checkpoint) = message.content["checkpoint"].as_str() {
            let known = self.may_know(checkpoint);
            findings.check(&UNKNOWN_CHECKPOINT, message.seq, known, || {
                format!("the host named the checkpoint {checkpoint:?}, which the server never returned")
            });
            self.note(checkpoint);
        }
    }

    fn given(&mut self, message: &Observed<'_>, set: Option<&str>, findings: &mut Findings) {
        let (seq, state) = (message.seq, &message.content["state"]);
        let both = state.get("data").is_some() && state.get("patch").is_some();
        findings.check(&STATE_BOTH, seq, !both, || "the state contains data and patch".to_owned());
        let mut violations = SCHEMAS.check("State", state).unwrap_or_default();
        violations.retain(|violation| !(both && violation.place == "/patch"));
        findings.check(&STATE_SHAPE, seq, violations.is_empty(), || join(&violations));
        let Some(checkpoint) = state["checkpoint"].as_str() else { return };
        let parent = state["parent"].as_str();
        let is_its = |(of, _): &mut (String, String)| set.is_none_or(|set| set == of);
        if let Some((_, target)) = self.rolled_back.take_if(is_its) {
            findings.check(&ROLLBACK_PARENT, seq, parent == Some(target.as_str()), || {
                format!("the parent is {} after a rollback to {target:?}", state["parent"])
            });
        }
        // The first state of a feature set may continue an older session.
        let tool = || message.request.and_then(|asked| asked.params["name"].as_str()).unwrap_or_default();
        let is_first = self.begun.insert(set.unwrap_or_else(tool).to_owned(), ()).is_none();
        if let Some(parent) = parent {
            let known = is_first && parent != checkpoint || self.may_know(parent);
            findings.check(&UNKNOWN_PARENT, seq, known, || format!("the server never returned the parent {parent:?}"));
            self.note(parent);
        }
        let reported = digest(&Value::from_iter(["data", "patch", "parent"].map(|name| state[name].clone())));
        let first = self.checkpoints.get(&checkpoint.to_owned()).copied();
        let same = first.flatten().is_none_or(|first| first == reported);
        findings.check(&CHECKPOINT_REUSED, seq, same, || format!("{checkpoint:?} occurred before, with another state"));
        if first.is_none() {
            self.checkpoints.insert(checkpoint.to_owned(), Some(reported));
        }
    }

    pub(super) fn observe(&mut self, method: &str, message: &Observed<'_>, sets: &Sets, findings: &mut Findings) {
        match (method, message.envelope.kind) {
            ("state/rollback", MessageKind::Request) => {
                let Some(set) = message.content["featureSet"].as_str() else { return };
                if let Some(declared) = sets.get(set) {
                    findings.check(&ROLLBACK_UNDECLARED, message.seq, declared["rollback"] == true, || {
                        format!("{set:?} is not declared with rollback: true")
                    });
                } else if sets.is_unknown(set) {
                    findings.note(&ROLLBACK_UNDECLARED, message.seq, format!("{set:?} is not declared"));
                }
            }
            ("state/rollback", MessageKind::Result) => self.rolled_back(message, findings),
            ("state/rollback", MessageKind::Error) => self.rollback_refused(message, sets, findings),
            _ => {}
        }
    }

    fn rolled_back(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let Some(wanted) = message.request.and_then(|asked| asked.params["checkpoint"].as_str()) else { return };
        let answered = &message.content["checkpoint"];
        findings.check(&ROLLBACK_CHECKPOINT, message.seq, *answered == wanted, || {
            format!("the host asked for {wanted:?}, the server answered {answered}")
        });
        let success = message.content["success"] == true;
        let says_why = message.content["reason"].as_str().is_some_and(|reason| !reason.is_empty());
        let is_silent = message.content["success"] == false && !says_why;
        findings.check(&ROLLBACK_REASON, message.seq, !is_silent, || "the result has no reason".to_owned());
        if success {
            findings.check(&ROLLBACK_UNKNOWN, message.seq, self.may_know(wanted), || {
                format!("the server never returned {wanted:?}, but rolled back to it")
            });
            self.note(wanted);
            let set = message.request.and_then(|asked| asked.params["featureSet"].as_str()).unwrap_or_default();
            self.rolled_back = Some((set.to_owned(), answered.as_str().unwrap_or(wanted).to_owned()));
            self.reconstruction.rolled_back(wanted, answered.as_str().unwrap_or(wanted), message.time);
            if let Some(fresh) = answered.as_str() {
                self.note(fresh);
            }
        }
    }
}

impl States {
    /// The server never returned the checkpoint, or no longer has it.
    fn rollback_refused(&self, message: &Observed<'_>, sets: &Sets, findings: &mut Findings) {
        let Some(wanted) = message.request.and_then(|asked| asked.params["checkpoint"].as_str()) else { return };
        let code = message.content["code"].as_i64().unwrap_or_default();
        // The rollback may have been refused for another reason: an unknown method, or a disabled or unknown set.
        let is_refusal = code == errors::INVALID_PARAMS && asked_correctly("state/rollback", message);
        let set = message.request.and_then(|asked| asked.params["featureSet"].as_str()).unwrap_or_default();
        let is_other =
            is_refusal || matches!(code, -32017 | -32023 | -32024) || code == -32003 && sets.get(set).is_some();
        findings.check(&ROLLBACK_CODE, message.seq, !is_other, || {
            format!("the server refused the rollback to {wanted:?} with error {code}")
        });
    }
}

fn check_call(message: &Observed<'_>, findings: &mut Findings) {
    let (seq, params) = (message.seq, message.content);
    if !["state", "checkpoint", "scope"].iter().any(|name| params.get(name).is_some()) {
        return;
    }
    let violations = SCHEMAS.check("ToolCallMembers", params).unwrap_or_default();
    findings.check(&CALL_MEMBERS, seq, violations.is_empty(), || join(&violations));
    let state = params.get("state");
    findings.check(&STATE_AND_CHECKPOINT, seq, state.is_none() || params.get("checkpoint").is_none(), || {
        "the call contains state and checkpoint".to_owned()
    });
    let wrapped = state.is_some_and(|state| state["checkpoint"].is_string());
    findings.check(&STATE_WRAPPED, seq, !wrapped, || "the state contains a checkpoint".to_owned());
}

fn join(violations: &[crate::protocol::schema::SchemaViolation]) -> String {
    violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
