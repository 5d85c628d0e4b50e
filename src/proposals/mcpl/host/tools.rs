//! What accompanies tool calls: the tool's feature set, its scope (MCPL 0.4 §7) and its state (§8). Also the scopes
//! that servers request.

use super::scopes::{Verdict, approval, denial};
use super::{McplHostSide, Peer, Tree};
use crate::proposals::host::{HostCx, Refusal, ServerId, ToolUse};
use crate::protocol::errors;
use serde_json::{Map, Value, json};

impl Peer {
    /// The feature set of a tool: the one in its definition, else the only set that uses tools (AMB-C4).
    fn set_of(&self, tools: &[Value], tool: &str) -> Option<String> {
        let definition = tools.iter().find(|known| known["name"] == tool);
        let named = definition.and_then(|known| known["featureSet"].as_str().or(known["_meta"]["featureSet"].as_str()));
        let mut using = self.sets.using("tools");
        named.or_else(|| using.next().filter(|_| using.next().is_none())).map(str::to_owned)
    }

    /// A tool's scope, from the first argument that contains one.
    fn scope_of(&self, used: &ToolUse) -> Option<Value> {
        let mut names = self.policy.words("scope_arguments").iter();
        let (name, label) = names.find_map(|name| Some((name, used.arguments[name.as_str()].as_str()?)))?;
        let payload: Map<String, Value> = [(name.clone(), label.into())].into_iter().collect();
        Some(json!({"label": label, "payload": payload}))
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
        let set = peer.set_of(tools, &used.tool).unwrap_or_default();
        if peer.sets.is_known(&set) && !peer.sets.is_on(&set) {
            return Err(format!("its feature set {set} is disabled"));
        }
        if peer.sets.says(&set, "scoped")
            && let Some(scope) = peer.scope_of(used)
        {
            let label = scope["label"].as_str().unwrap_or_default();
            peer.scopes.may(&set, &[label]).map_err(|why| format!("the scope {label} is denied: {why}"))?;
            params["scope"] = scope;
        }
        if let Some((name, value)) = peer.states.get(&set).and_then(Tree::member) {
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
        let how = peer.policy.word("state");
        if how == "ignore" {
            return;
        }
        let tools = cx.server(server).map_or(&[][..], |view| &view.tools);
        let set = peer.set_of(tools, &used.tool).unwrap_or_default();
        let most = peer.policy.length("state_bytes");
        let tree = peer.states.entry(set.clone()).or_insert_with(|| Tree::new(how == "full", most));
        let odd = tree.take(state);
        let text = format!("checkpoint {}, parent {}", state["checkpoint"], state["parent"]);
        let data = json!({"feature_set": set, "checkpoint": state["checkpoint"], "parent": state["parent"]});
        cx.report("state", Some(server), text, data);
        odd.into_iter().for_each(|odd| cx.report("odd", Some(server), odd, Value::Null));
    }

    /// Handles `scope/elevate`, by which a server requests a scope (MCPL 0.4 §7.4).
    pub(super) fn elevate(&mut self, cx: &mut HostCx<'_>, server: ServerId, id: &[u8], params: &Value) {
        let Some(peer) = self.peers.get_mut(&server) else { return };
        let (set, scope) = (&params["featureSet"], &params["scope"]);
        let verdict = match (peer.sets.gate(set, "", &peer.policy), scope["label"].as_str()) {
            (Err(refused), _) => Err(refused),
            (_, None) => Err(Refusal::new(errors::INVALID_PARAMS, "scope.label is missing")),
            (Ok(_), Some(label)) => Ok((set.as_str().unwrap_or_default(), label)),
        };
        let (set, label) = match verdict {
            Ok(named) => named,
            Err(refused) => {
                cx.report(
                    "refused",
                    Some(server),
                    format!("scope request refused: {}", refused.message),
                    json!({"outcome": "failure"}),
                );
                return cx.respond(server, id, Err(refused));
            }
        };
        if !peer.sets.says(set, "scoped") {
            cx.report(
                "odd",
                Some(server),
                format!("the server requested a scope for {set}, which is not declared as scoped"),
                Value::Null,
            );
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
