//! Events that servers push (MCPL 0.4 §9).

use super::McplHostSide;
use super::irregular::Irregularity::{self, Mistake};
use super::wakes::{Admitted, Event, Source};
use crate::proposals::host::{HostCx, Refusal, ServerId};
use crate::proposals::mcpl::blocks;
use crate::proposals::timestamp::{self, Reading};
use crate::protocol::errors;
use serde_json::{Value, json};

impl McplHostSide {
    /// Handles `push/event` (MCPL 0.4 §9).
    pub(super) fn push(&mut self, cx: &mut HostCx<'_>, server: ServerId, id: &[u8], params: &Value) {
        let mut data = json!({"feature_set": params["featureSet"], "event_id": params["eventId"], "wake": "no"});
        let mut is_mistake = false;
        let (what, text, answer) = match self.pushed(cx, server, params) {
            Ok(Ok(admitted)) => {
                let mut result = json!({"accepted": true});
                (data["wake"], data["outcome"]) = (admitted.waits.word().into(), "success".into());
                let text = match admitted.due() {
                    None => admitted.waits.to_string(),
                    Some(inference) => {
                        (data["inference_id"], result["inferenceId"]) = (inference.into(), inference.into());
                        format!("{} {inference}", if admitted.shares { "shares" } else { "begins" })
                    }
                };
                ("event", format!("{text}, wake={}", admitted.waits.word()), Ok(result))
            }
            Ok(Err(reason)) => {
                let what = if reason == "duplicate" { "duplicate" } else { "refused" };
                data["outcome"] = "failure".into();
                (what, reason.clone(), Ok(json!({"accepted": false, "reason": reason})))
            }
            Err(refused) => {
                data["outcome"] = "failure".into();
                is_mistake = self.is_mistake(server, &refused, &params["featureSet"], cx.now);
                ("refused", format!("{} {}", refused.code, refused.message), self.refusal_of_event(server, refused))
            }
        };
        let name = params["eventId"].as_str().unwrap_or("an event without an id");
        let text = format!("{name}: {text}");
        cx.report_verdict(what, server, text, data, is_mistake || what == "duplicate");
        cx.respond(server, id, answer);
    }

    /// The answer to an event whose set is unknown or disabled: an error, or a result by the option `refusal` (AMB-C13).
    fn refusal_of_event(&self, server: ServerId, refused: Refusal) -> Result<Value, Refusal> {
        let as_result = self.peers.get(&server).is_some_and(|peer| peer.policy.word("refusal") == "result");
        match &refused.data {
            Some(data) if as_result => {
                Ok(json!({"accepted": false, "reason": format!("{}: {}", refused.message, data["featureSet"])}))
            }
            _ => Err(refused),
        }
    }

    /// Decides on an event. Returns what it waits for, or a reason for `accepted: false`.
    ///
    /// # Errors
    /// The error to respond with.
    fn pushed(
        &mut self,
        cx: &mut HostCx<'_>,
        server: ServerId,
        params: &Value,
    ) -> Result<Result<Admitted, String>, Refusal> {
        let gone = || Refusal::new(errors::INTERNAL_ERROR, "the server is gone");
        let peer = self.peers.get_mut(&server).ok_or_else(gone)?;
        match peer.sets.gate(&params["featureSet"], "pushEvents", &peer.policy) {
            Ok(odd) => odd.into_iter().for_each(|odd| odd.report(cx, server)),
            Err(refused) => return Err(refused),
        }
        let malformed = |why: &str| Err(Refusal::new(errors::INVALID_PARAMS, why));
        let Some(event) = params["eventId"].as_str().filter(|id| !id.trim().is_empty()) else {
            return malformed("eventId is missing");
        };
        let content = &params["payload"]["content"];
        let checked = read_time(&params["timestamp"]).and_then(|odd| Ok([odd, read_content(content)?]));
        match checked {
            Ok(odd) => odd.into_iter().flatten().for_each(|odd| odd.report(cx, server)),
            Err(why) => return malformed(&why),
        }
        let window = peer.policy.time("dedupe_window");
        if peer.events.get(&event.to_owned()).is_some_and(|at| cx.now.saturating_sub(*at) <= window) {
            return Ok(Err("duplicate".to_owned()));
        }
        let text = blocks::text(content, peer.policy.length("most_bytes"));
        let (lane, event) = (peer.policy.word("push"), event.to_owned());
        let set = params["featureSet"].as_str().unwrap_or_default();
        let admitted = self.admit(
            cx,
            lane,
            Event::new(server, (event.clone(), format!("{set} event")), text, Source::Set(set.to_owned())),
        );
        if let (Ok(_), Some(peer)) = (&admitted, self.peers.get_mut(&server)) {
            peer.events.remove(&event);
            peer.events.insert(event, cx.now);
        }
        Ok(admitted)
    }
}

/// Reads when an event or a message happened (MCPL 0.4 §9.2: "ISO 8601"). Returns a sentence if it is incomplete.
///
/// # Errors
/// What is wrong with it.
pub(super) fn read_time(time: &Value) -> Result<Option<Irregularity>, String> {
    match time.as_str().map(timestamp::read) {
        None => Err("timestamp is missing or not a string".to_owned()),
        Some(Reading::Instant(_)) => Ok(None),
        Some(Reading::Loose(why)) => Ok(Some(Mistake(format!("the timestamp is incomplete: {why}")))),
        Some(Reading::Unreadable) => Err("timestamp is not a date and time of ISO 8601".to_owned()),
    }
}

/// Reads what an event or a message contains. Returns a sentence if it has another form than a list (AMB-C8).
///
/// # Errors
/// It is missing, or says nothing.
pub(super) fn read_content(content: &Value) -> Result<Option<Irregularity>, String> {
    let is_empty = match content {
        Value::Array(blocks) => blocks.iter().all(is_blank),
        Value::String(text) => text.trim().is_empty(),
        Value::Null => return Err("content is missing".to_owned()),
        _ => return Err("content is not a list of blocks".to_owned()),
    };
    let odd = || Mistake("content is a string instead of a list of blocks".to_owned());
    if is_empty { Err("content is empty".to_owned()) } else { Ok(content.is_string().then(odd)) }
}

/// Whether a block says nothing, or not what it is.
fn is_blank(block: &Value) -> bool {
    match block["type"].as_str() {
        Some("text") => block["text"].as_str().is_none_or(|text| text.trim().is_empty()),
        Some(kind) => kind.trim().is_empty(),
        None => true,
    }
}
