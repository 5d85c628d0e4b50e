//! What begins turns: events that servers push (MCPL 0.4 §9), and what they have in common with messages from
//! channels.

use super::channels::Origin;
use super::{McplHostSide, blocks};
use crate::proposals::host::{HostCx, Refusal, ServerId};
use crate::protocol::errors;
use serde_json::{Value, json};

/// Something that begins a turn or waits for one.
pub(super) struct Event {
    /// The server that it comes from.
    pub server: ServerId,
    /// The inference that it begins; `None` if it waits for any turn.
    pub inference: Option<String>,
    /// A description, for its label in the prompt.
    pub what: String,
    /// Its text.
    pub text: String,
    /// The channel that it came from.
    pub channel: Option<Origin>,
}

impl McplHostSide {
    /// Handles `push/event` (MCPL 0.4 §9).
    pub(super) fn push(&mut self, cx: &mut HostCx<'_>, server: ServerId, id: &[u8], params: &Value) {
        let mut data = json!({"feature_set": params["featureSet"], "event_id": params["eventId"], "wake": "no"});
        let (what, text, answer) = match self.pushed(cx, server, params) {
            Ok(Ok(inference)) => {
                let mut result = json!({"accepted": true});
                let mut text = "waits for a turn, wake=no".to_owned();
                if let Some(inference) = inference {
                    text = format!("begins {inference}, wake=yes");
                    data["wake"] = "yes".into();
                    data["inference_id"] = inference.as_str().into();
                    result["inferenceId"] = inference.into();
                }
                data["outcome"] = "success".into();
                ("event", text, Ok(result))
            }
            Ok(Err(reason)) => {
                let what = if reason == "duplicate" { "duplicate" } else { "refused" };
                data["outcome"] = "failure".into();
                (what, reason.clone(), Ok(json!({"accepted": false, "reason": reason})))
            }
            Err(refused) => {
                data["outcome"] = "failure".into();
                ("refused", format!("{} {}", refused.code, refused.message), Err(refused))
            }
        };
        let name = params["eventId"].as_str().unwrap_or("an event without an id");
        cx.report(what, Some(server), format!("{name}: {text}"), data);
        cx.respond(server, id, answer);
    }

    /// Decides on an event. Returns the inference that it begins, if any, or a reason for `accepted: false`.
    ///
    /// # Errors
    /// The error to respond with.
    fn pushed(
        &mut self,
        cx: &mut HostCx<'_>,
        server: ServerId,
        params: &Value,
    ) -> Result<Result<Option<String>, String>, Refusal> {
        let gone = || Refusal::new(errors::INTERNAL_ERROR, "the server is gone");
        let peer = self.peers.get_mut(&server).ok_or_else(gone)?;
        match peer.sets.gate(&params["featureSet"], "pushEvents", &peer.policy) {
            Ok(odd) => odd.into_iter().for_each(|odd| cx.report("odd", Some(server), odd, Value::Null)),
            Err(refused) if refused.data.is_some() && peer.policy.word("refusal") == "result" => {
                return Ok(Err(format!("{}: {}", refused.message, params["featureSet"])));
            }
            Err(refused) => return Err(refused),
        }
        let malformed = |why: &str| Err(Refusal::new(errors::INVALID_PARAMS, why));
        let Some(event) = params["eventId"].as_str() else { return malformed("eventId is missing") };
        let content = &params["payload"]["content"];
        match content {
            Value::Array(_) => {}
            Value::String(_) => {
                cx.report("odd", Some(server), "payload.content is a string instead of a list of blocks", Value::Null)
            }
            _ => return malformed("payload.content is missing"),
        }
        let window = peer.policy.time("dedupe_window");
        if peer.events.get(&event.to_owned()).is_some_and(|at| cx.now.saturating_sub(*at) <= window) {
            return Ok(Err("duplicate".to_owned()));
        }
        let text = blocks::text(content, peer.policy.length("most_bytes"));
        let (lane, event) = (peer.policy.word("push"), event.to_owned());
        let set = params["featureSet"].as_str().unwrap_or_default();
        let admitted =
            self.admit(cx, lane, Event { server, inference: None, what: format!("{set} event"), text, channel: None });
        if let (Ok(_), Some(peer)) = (&admitted, self.peers.get_mut(&server)) {
            peer.events.remove(&event);
            peer.events.insert(event, cx.now);
        }
        Ok(admitted)
    }

    /// Lets an event begin a turn or wait for one, according to `lane`, an option's value. Returns the inference that
    /// it begins, if any.
    ///
    /// # Errors
    /// Why it is not accepted.
    pub(super) fn admit(
        &mut self,
        cx: &mut HostCx<'_>,
        lane: &str,
        mut event: Event,
    ) -> Result<Option<String>, String> {
        let server = event.server;
        let Some(peer) = self.peers.get(&server) else { return Err("the server is gone".to_owned()) };
        let most = peer.policy.length("push_waiting");
        let refuses_nested = peer.policy.word("nested") == "refuse";
        if self.is_over {
            return Err("the session ends".to_owned());
        }
        if lane == "refuse" {
            return Err("the host's policy accepts none".to_owned());
        }
        if self.waiting.iter().filter(|waiting| waiting.server == server).count() >= most {
            return Err(format!("{most} are already waiting for a turn"));
        }
        let channel = |event: &Event| event.channel.as_ref().map(|origin| origin.channel.clone());
        let joined = self.waiting.iter().rfind(|other| {
            lane == "batch" && other.server == server && other.inference.is_some() && channel(other) == channel(&event)
        });
        event.inference = match joined {
            Some(other) => other.inference.clone(),
            // What a server sends while it handles a hook begins no turn: hooks and turns could repeat for ever
            // (MCPL 0.4 §10.7).
            None if lane == "queue" || refuses_nested && self.is_in_hook(server) => None,
            None => {
                let inference = self.next_inference();
                cx.wake(server, &inference);
                Some(inference)
            }
        };
        let inference = event.inference.clone();
        self.waiting.push_back(event);
        Ok(inference)
    }

    /// Whether a hook request to this server is open.
    pub(super) fn is_in_hook(&self, server: ServerId) -> bool {
        self.open.values().any(|open| open.server == server && open.asked.is_hook() && !open.is_late)
    }
}
