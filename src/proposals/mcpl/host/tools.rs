//! What accompanies tool calls: the tool's feature set, its scope (MCPL 0.4 §7) and its state (§8). Also the scopes
//! that servers request.

use super::scopes::{Verdict, approval, denial};
use super::{McplHostSide, Peer};
use crate::proposals::host::{HostCx, Refusal, ServerId, ToolUse};
use crate::proposals::policy::Policy;
use crate::protocol::errors;
use serde_json::{Value, json};

/// The feature set of a tool (AMB-C4).
enum ToolSet {
    /// It is this one.
    Known(String),
    /// It is one of these, or none.
    OneOf(Vec<String>),
}

impl ToolSet {
    fn known(&self) -> Option<&str> {
        match self {
            Self::Known(set) => Some(set),
            Self::OneOf(_) => None,
        }
    }

    /// All sets that it may be.
    fn all(&self) -> &[String] {
        match self {
            Self::Known(set) => std::slice::from_ref(set),
            Self::OneOf(sets) => sets,
        }
    }
}

impl Peer {
    /// The feature set of a tool: the one in its definition, else the one that the user says, else the only set that
    /// uses tools, else any of these (AMB-C4). A name that the server did not declare says nothing.
    fn set_of(&self, tools: &[Value], tool: &str) -> ToolSet {
        let definition = tools.iter().find(|known| known["name"] == tool);
        let named = definition.and_then(|known| known["featureSet"].as_str().or(known["_meta"]["featureSet"].as_str()));
        let said = || said_sets(&self.policy).find(|(name, _)| *name == tool).map(|(_, set)| set);
        match named.filter(|set| self.sets.is_known(set)).or_else(said) {
            Some("") => ToolSet::OneOf(Vec::new()),
            Some(set) => ToolSet::Known(set.to_owned()),
            None => {
                let using: Vec<String> = self.sets.using("tools").map(str::to_owned).collect();
                match <[String; 1]>::try_from(using) {
                    Ok([only]) => ToolSet::Known(only),
                    Err(using) => ToolSet::OneOf(using),
                }
            }
        }
    }

    /// The feature set whose state a tool has: its own, else the only one that uses tools and can roll back.
    fn state_set(&self, set: &ToolSet) -> Option<String> {
        let mut can = set.all().iter().filter(|set| self.sets.says(set, "rollback"));
        let only = can.next().filter(|_| can.next().is_none());
        set.known().or(only.map(String::as_str)).map(str::to_owned)
    }

    /// Checks that a tool's set is not disabled. One that may belong to several sets needs one that is not.
    fn check_enabled(&self, set: &ToolSet) -> Result<(), String> {
        let all = set.all();
        if all.is_empty() || all.iter().any(|set| !self.sets.is_known(set) || self.sets.is_on(set)) {
            return Ok(());
        }
        Err(match set {
            ToolSet::Known(set) => format!("its feature set {set} is disabled"),
            ToolSet::OneOf(all) => {
                format!("all feature sets that use tools are disabled: {}{}", all.join(", "), unnamed())
            }
        })
    }

    /// The scope with which to call a tool, if it needs one (MCPL 0.4 §7.7). Its label is the first argument that can
    /// contain one, else the tool's name; all such arguments must be permitted.
    ///
    /// # Errors
    /// A scope is denied.
    fn scope_of(&self, set: &ToolSet, used: &ToolUse) -> Result<Option<Value>, String> {
        let scoped: Vec<&str> =
            set.all().iter().map(String::as_str).filter(|set| self.sets.says(set, "scoped")).collect();
        if scoped.is_empty() {
            return Ok(None);
        }
        let hint = if set.known().is_some() { "" } else { unnamed() };
        let found = self.labels(used);
        for (_, label) in &found {
            let denied = |why: String| format!("the scope {label} is denied: {why}{hint}");
            self.scopes.may_one_of(&scoped, label).map_err(denied)?;
        }
        match (found.first(), set.known()) {
            (Some((name, label)), _) => Ok(Some(json!({"label": label, "payload": {*name: used.arguments[*name]}}))),
            (None, None) => Ok(None),
            (None, Some(set)) => {
                let is_allowed = self.scopes.judge(set, &used.tool) == Verdict::Approved;
                if !is_allowed && self.scopes.has_rules(set) {
                    let names = self.policy.words("scope_arguments").join(", ");
                    return Err(format!(
                        "its feature set {set} has a whitelist or blacklist, but no argument names the scope: {names} \
                         (mcpl.scope_arguments)"
                    ));
                }
                self.scopes
                    .may(set, &[&used.tool])
                    .map_err(|why| format!("the scope {} is denied: {why}", used.tool))?;
                Ok(Some(json!({"label": used.tool})))
            }
        }
    }

    /// The arguments of a call that can contain a scope, and their texts.
    fn labels<'a>(&'a self, used: &'a ToolUse) -> Vec<(&'a str, &'a str)> {
        let texts = |value: &'a Value| -> Vec<&'a str> {
            let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            items.iter().filter_map(Value::as_str).collect()
        };
        let names = self.policy.words("scope_arguments").iter().map(String::as_str);
        names.flat_map(|name| texts(&used.arguments[name]).into_iter().map(move |label| (name, label))).collect()
    }
}

/// The sets of tools that the user says.
fn said_sets(policy: &Policy) -> impl Iterator<Item = (&str, &str)> {
    policy.words("tool_sets").iter().filter_map(|word| word.split_once('='))
}

/// What to do about a tool whose set is not known.
fn unnamed() -> &'static str {
    " (the tool does not name its feature set; if you know it, use the option mcpl.tool_sets)"
}

/// Checks the option `tool_sets`.
///
/// # Errors
/// What is wrong with it.
pub(super) fn check_sets(policy: &Policy) -> Result<(), String> {
    match policy.words("tool_sets").iter().find(|word| word.split_once('=').is_none_or(|(tool, _)| tool.is_empty())) {
        Some(wrong) => Err(format!("invalid value {wrong:?}: expected TOOL=SET, or TOOL= for no set")),
        None => Ok(()),
    }
}

impl McplHostSide {
    /// Prepares a tool call: refuses it if its set is disabled or its scope denied, and adds scope and state
    /// (MCPL 0.4 §7.7 and §8.4).
    ///
    /// # Errors
    ///
    /// Why the call is refused.
    pub(super) fn gate_tool(&mut self, cx: &mut HostCx<'_>, used: &ToolUse, params: &mut Value) -> Result<(), String> {
        let Some((server, peer)) = used.server.and_then(|server| Some((server, self.peers.get(&server)?))) else {
            return Ok(());
        };
        let tools = cx.server(server).map_or(&[][..], |view| &view.tools);
        let set = peer.set_of(tools, &used.tool);
        peer.check_enabled(&set)?;
        if let Some(scope) = peer.scope_of(&set, used)? {
            params["scope"] = scope;
        }
        if !peer.sets.is_any_on() {
            return Ok(());
        }
        if let Some((name, value)) = peer.states.member(peer.state_set(&set).as_deref(), &used.tool) {
            params[name] = value;
        }
        Ok(())
    }

    /// Handles the state in a tool's result (MCPL 0.4 §8.2 and §8.3), even if another client called the tool.
    pub(super) fn tool_called(&mut self, cx: &mut HostCx<'_>, used: &ToolUse, result: &Value) {
        let Some(state) = result.get("state").filter(|state| state.is_object()) else { return };
        let Some((server, peer)) = used.server.and_then(|server| Some((server, self.peers.get_mut(&server)?))) else {
            return;
        };
        if peer.policy.word("state") == "ignore" || !peer.sets.is_any_on() {
            return;
        }
        let tools = cx.server(server).map_or(&[][..], |view| &view.tools);
        let set = peer.state_set(&peer.set_of(tools, &used.tool));
        let odd = peer.states.take(set.as_deref(), &used.tool, state);
        let text = format!("checkpoint {}, parent {}", state["checkpoint"], state["parent"]);
        let data = json!({"feature_set": set, "tool": used.tool, "checkpoint": state["checkpoint"],
            "parent": state["parent"]});
        cx.report("state", Some(server), text, data);
        odd.into_iter().for_each(|odd| odd.report(cx, server));
    }

    /// Handles `scope/elevate`, by which a server requests a scope (MCPL 0.4 §7.4).
    pub(super) fn elevate(&mut self, cx: &mut HostCx<'_>, server: ServerId, id: &[u8], params: &Value) {
        let Some(peer) = self.peers.get_mut(&server) else { return };
        let (set, scope) = (&params["featureSet"], &params["scope"]);
        let verdict = match (peer.sets.gate(set, "", &peer.policy), scope["label"].as_str()) {
            (Err(refused), _) => Err(refused),
            (_, None) => Err(Refusal::new(errors::INVALID_PARAMS, "scope.label is missing")),
            _ if !(scope["payload"].is_null() || scope["payload"].is_object()) => {
                Err(Refusal::new(errors::INVALID_PARAMS, "scope.payload is not an object"))
            }
            (Ok(_), Some(label)) => Ok((set.as_str().unwrap_or_default(), label)),
        };
        let (set, label) = match verdict {
            Ok(named) => named,
            Err(refused) => {
                let data = json!({"feature_set": set, "label": scope["label"], "outcome": "failure"});
                let is_mistake = peer.is_mistake(&refused, set, cx.now);
                let text = format!("scope request refused: {}", refused.message);
                cx.report_verdict("refused", server, text, data, is_mistake);
                return cx.respond(server, id, Err(refused));
            }
        };
        if !peer.sets.says(set, "scoped") {
            let text = format!("the server requested a scope for {set}, which is not declared as scoped");
            cx.report_mistake("odd", server, text, Value::Null);
        }
        let verdict = peer.scopes.judge(set, label);
        let mut data = json!({"feature_set": set, "label": label});
        let name = cx.server(server).map_or("", |view| view.name.as_str());
        let (outcome, text) = described(&verdict, name, set, label);
        data["outcome"] = outcome.into();
        cx.report("scope", Some(server), text, data);
        match verdict {
            Verdict::Approved => {
                cx.respond(server, id, Ok(approval(&peer.channels.enriched(label, &scope["payload"]))))
            }
            Verdict::Denied(why) => cx.respond(server, id, Ok(denial(&why))),
            Verdict::Ask => {
                if let Err(refused) = peer.scopes.wait(cx.now, id, set, scope) {
                    cx.respond(server, id, Err(refused));
                }
            }
        }
    }
}

/// The outcome of a scope request for the log, and its description.
fn described(verdict: &Verdict, server: &str, set: &str, label: &str) -> (&'static str, String) {
    match verdict {
        Verdict::Approved => ("success", format!("the scope {label} is approved")),
        Verdict::Denied(why) => ("failure", format!("the scope {label} is denied: {why}")),
        Verdict::Ask => (
            "waits",
            format!(
                "the scope {label} waits for your decision: \
                 /do scope server={server} set={set} label={label} approve=true"
            ),
        ),
    }
}
