//! The orders by which the user rolls back, switches feature sets, decides on scopes and uses channels; and the
//! outcomes of requests.

use super::requests::NOT_IN_TIME;
use super::scopes::{approval, denial};
use super::{McplHostSide, RequestKind, model_info};
use crate::proposals::host::{HostCx, ServerId};
use serde_json::{Value, json};

/// The names of the orders.
pub(super) const NAMES: &[&str] = &[
    "rollback",
    "feature-sets",
    "scope",
    "channel-open",
    "channel-close",
    "channel-publish",
    "channel-list",
    "model-info",
];

fn text(params: &Value, name: &str) -> Option<String> {
    match &params[name] {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn needed(params: &Value, name: &str, usage: &str) -> Result<String, String> {
    text(params, name).ok_or_else(|| format!("{name} is missing: {usage}"))
}

/// A sentence about the sets that declare rollback.
fn those(can: &[&str]) -> String {
    match can {
        [] => "no feature set of the server declares rollback".to_owned(),
        can => format!("feature sets that do: {}", can.join(", ")),
    }
}

/// Names in a string, separated by commas, or in a list.
fn names(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => text.split(',').map(|name| name.trim().to_owned()).collect(),
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

impl McplHostSide {
    /// Executes an order.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the order.
    pub(super) fn do_order(&mut self, cx: &mut HostCx<'_>, order: &str, params: &Value) -> Result<(), String> {
        if order == "model-info" {
            let info = model_info(cx.model);
            cx.report("model info", None, format!("servers that ask get {info}"), info);
            return Ok(());
        }
        let server = self.server_of(cx, params)?;
        match order {
            "rollback" => self.rollback(cx, server, params),
            "feature-sets" => self.switch(cx, server, params),
            "scope" => self.decide(cx, server, params),
            _ => self.order_channel(cx, server, order, params),
        }
    }

    /// The server that the order names, or the only one.
    fn server_of(&self, cx: &HostCx<'_>, params: &Value) -> Result<ServerId, String> {
        let name = |id: &ServerId| cx.server(*id).map_or("", |view| view.name.as_str());
        let known = || self.peers.keys().map(name).collect::<Vec<_>>().join(", ");
        let wanted = text(params, "server");
        let mut fitting = self.peers.keys().filter(|id| wanted.as_deref().is_none_or(|wanted| wanted == name(id)));
        match (fitting.next(), fitting.next()) {
            (Some(only), None) => Ok(*only),
            (None, _) if self.peers.is_empty() => Err("MCPL was negotiated with no server".to_owned()),
            (None, _) => {
                Err(format!("no MCPL with the server {:?}; servers with MCPL: {}", wanted.unwrap_or_default(), known()))
            }
            _ => Err(format!("server=NAME is missing; servers with MCPL: {}", known())),
        }
    }

    fn rollback(&mut self, cx: &mut HostCx<'_>, server: ServerId, params: &Value) -> Result<(), String> {
        let Some(peer) = self.peers.get(&server) else { return Ok(()) };
        let can: Vec<&str> = peer.sets.with("rollback").collect();
        let set = match text(params, "set") {
            Some(set) if can.contains(&set.as_str()) => set,
            None if can.len() == 1 => can[0].to_owned(),
            Some(set) if peer.sets.is_known(&set) => {
                return Err(format!("the feature set {set} does not declare rollback; {}", those(&can)));
            }
            Some(set) => return Err(format!("the server declared no feature set {set}; {}", those(&can))),
            None if can.is_empty() => return Err(those(&can)),
            None => return Err(format!("set=SET must name a feature set that can roll back: {}", can.join(", "))),
        };
        let usage = "rollback [server=NAME] [set=SET] checkpoint=ID, or back=STEPS";
        let checkpoint = match text(params, "back").map(|steps| steps.parse()) {
            Some(Ok(steps)) => {
                let found = peer.states.back(&set, steps);
                found.ok_or_else(|| format!("there is no known checkpoint {steps} steps back in {set}"))?.to_owned()
            }
            Some(Err(_)) => return Err(format!("back is not a number of steps: {usage}")),
            None => needed(params, "checkpoint", usage)?,
        };
        if !peer.sets.is_on(&set) {
            return Err(format!("the feature set {set} is disabled"));
        }
        let timeout = peer.policy.time("channel_timeout");
        let asked = RequestKind::Rollback { set: set.clone(), checkpoint: checkpoint.clone() };
        let params = json!({"featureSet": set, "checkpoint": checkpoint});
        self.ask(cx, server, ("state/rollback", params), timeout, asked, true);
        Ok(())
    }

    fn switch(&mut self, cx: &mut HostCx<'_>, server: ServerId, params: &Value) -> Result<(), String> {
        let Some(peer) = self.peers.get_mut(&server) else { return Ok(()) };
        let (on, off) = (names(&params["enable"]), names(&params["disable"]));
        if on.is_empty() && off.is_empty() {
            return Err(
                "enable or disable is missing: feature-sets [server=NAME] enable=SET,… disable=SET,…".to_owned()
            );
        }
        on.iter().for_each(|pattern| peer.sets.switch(pattern, true));
        off.iter().for_each(|pattern| peer.sets.switch(pattern, false));
        self.update(cx, server);
        self.ask_to_hear(cx, server);
        Ok(())
    }

    /// Remembers the user's decision on a scope, and responds to the requests that wait for it.
    fn decide(&mut self, cx: &mut HostCx<'_>, server: ServerId, params: &Value) -> Result<(), String> {
        let usage = "scope [server=NAME] [set=SET] label=LABEL [approve=false]";
        let label = needed(params, "label", usage)?;
        let is_approved = !matches!(text(params, "approve").as_deref(), Some("false" | "no"));
        let Some(peer) = self.peers.get_mut(&server) else { return Ok(()) };
        let set = text(params, "set");
        let known: Vec<String> = peer.sets.with("scoped").map(str::to_owned).collect();
        let sets: Vec<&str> = match &set {
            Some(set) => vec![set],
            None => known.iter().map(String::as_str).collect(),
        };
        for pending in peer.scopes.say(&sets, &label, is_approved) {
            let answer = match is_approved {
                true => approval(&peer.channels.enriched(&label, &pending.payload)),
                false => denial("the user denied it"),
            };
            cx.respond(server, &pending.id, Ok(answer));
        }
        let what = if is_approved { "is approved" } else { "is denied" };
        let data = json!({"label": label, "sets": sets, "approved": is_approved, "outcome": "success"});
        cx.report("scope", Some(server), format!("the scope {label} {what}"), data);
        Ok(())
    }

    fn order_channel(
        &mut self,
        cx: &mut HostCx<'_>,
        server: ServerId,
        order: &str,
        params: &Value,
    ) -> Result<(), String> {
        let Some(peer) = self.peers.get(&server) else { return Ok(()) };
        let timeout = peer.policy.time("channel_timeout");
        // Closing a channel needs no permission.
        if order != "channel-close" {
            peer.may_use_channels().map_err(|refused| format!("{} {}", refused.code, refused.message))?;
        }
        match order {
            "channel-open" => {
                let usage = "channel-open [server=NAME] type=TYPE address:=OBJECT";
                let kind = needed(params, "type", usage)?;
                let object = |name: &str| params.get(name).cloned().unwrap_or_else(|| json!({}));
                let params = json!({"type": kind, "address": object("address"), "metadata": object("metadata")});
                self.ask(cx, server, ("channels/open", params), timeout, RequestKind::Open, true);
            }
            "channel-close" => {
                let channel = needed(params, "channel", "channel-close [server=NAME] channel=ID")?;
                self.is_registered(server, &channel)?;
                let params = json!({"channelId": channel});
                self.ask(cx, server, ("channels/close", params), timeout, RequestKind::Close { channel }, true);
            }
            "channel-publish" => {
                let usage = "channel-publish [server=NAME] channel=ID text=TEXT [notify=true]";
                let (channel, said) = (needed(params, "channel", usage)?, needed(params, "text", usage)?);
                let is_request = text(params, "notify").as_deref() != Some("true");
                self.publish(cx, server, (&channel, None), &said, is_request, true)
                    .map_err(|refused| format!("{} {}", refused.code, refused.message))?;
            }
            _ => self.ask(cx, server, ("channels/list", json!({})), timeout, RequestKind::List, true),
        }
        Ok(())
    }

    /// Handles the outcome of a request: its result, or why there is none.
    pub(super) fn outcome(
        &mut self,
        cx: &mut HostCx<'_>,
        server: ServerId,
        (asked, holds): (RequestKind, bool),
        outcome: Result<Value, String>,
    ) {
        let done = match (&asked, outcome) {
            (RequestKind::Before { .. }, outcome) => return self.prepared(cx, server, &asked, outcome),
            (RequestKind::After { .. }, outcome) => return self.reviewed(cx, server, &asked, outcome),
            (_, Err(why)) => Err(why),
            (RequestKind::Rollback { set, checkpoint }, Ok(result)) => {
                self.rolled_back(cx, server, (set, checkpoint), &result)
            }
            (_, Ok(result)) => self.channel_answered(cx, server, &asked, &result),
        };
        if let Err(why) = done {
            let is_late = why == NOT_IN_TIME;
            let (what, outcome) = if is_late { ("timed out", "timeout") } else { ("failed", "failure") };
            cx.report(what, Some(server), format!("{}: {why}", asked.name()), asked.about(outcome));
            if holds {
                cx.fail(format!("{}: {why}", asked.name()));
            }
        }
    }

    /// Handles the result of `state/rollback` (MCPL 0.4 §8.6).
    fn rolled_back(
        &mut self,
        cx: &mut HostCx<'_>,
        server: ServerId,
        (set, checkpoint): (&str, &str),
        result: &Value,
    ) -> Result<(), String> {
        if result["success"] != true {
            let reason = result["reason"].as_str().unwrap_or("no reason given");
            return Err(format!("the server did not roll back to {checkpoint}: {reason}"));
        }
        let named = result["checkpoint"].as_str().unwrap_or(checkpoint);
        let odd = self.peers.get_mut(&server).and_then(|peer| peer.states.rolled_back(set, checkpoint, named));
        odd.into_iter().for_each(|odd| odd.report(cx, server));
        if named != checkpoint {
            let text = format!("after the rollback, the server calls the checkpoint {checkpoint} {named}");
            cx.report_mistake("odd", server, text, Value::Null);
        }
        let data = json!({"feature_set": set, "checkpoint": checkpoint, "outcome": "success"});
        cx.report("rolled back", Some(server), format!("{set} was rolled back to {checkpoint}"), data);
        Ok(())
    }
}
