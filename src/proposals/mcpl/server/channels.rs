//! Channels (MCPL 0.4 §14): which the server has, what the host does with them, and messages that come from them.
//!
//! They are simulated: mcpreel reports what is published, and incoming messages are fired by hand. Without configured
//! channels, the server declares none.

use super::negotiated::{Negotiated, scoped};
use super::outgoing::{Observed, Outgoing};
use crate::proposals::mcpl::scope_lists::{Standing, channel_names};
use crate::proposals::mcpl::{SCHEMAS, blocks};
use crate::proposals::server::{Answer, Granted, Refusal, ServerCx, Unsent, text};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The channel lacks the scope to publish or to observe (MCPL 0.4 §14.6).
pub(super) const NOT_PERMITTED: i64 = -32017;
/// The channel does not exist (MCPL 0.4 §14.6).
pub(super) const UNKNOWN_CHANNEL: i64 = -32023;
/// The requested channel could not be opened (MCPL 0.4 §14.6).
pub(super) const OPEN_FAILED: i64 = -32024;

/// Registers channels.
pub(super) const REGISTER: &str = "channels/register";
/// Announces changes of channels.
pub(super) const CHANGED: &str = "channels/changed";
/// Asks for the other side's channels; either side may.
pub(super) const LIST: &str = "channels/list";
/// Sends messages that came in.
pub(super) const INCOMING: &str = "channels/incoming";

const PUBLISH_SET: &str = "channels.publish";
const OBSERVE_SET: &str = "channels.observe";
/// The feature set for the private channel that can only be observed (MCPL 0.4 §14.5).
const THINKING_SET: &str = "channels.thinking";

/// Whether a channel is the private one with the model's thinking. MCPL defines no id for it.
pub(super) fn is_thinking(id: &str) -> bool {
    matches!(id, "thinking" | THINKING_SET)
}

/// The channels of one connection, by id.
#[derive(Debug, Default)]
pub(super) struct Channels {
    /// The configured channels, which can be opened; `None` without channels.
    offered: Option<Vec<Value>>,
    /// The registered and open channels.
    known: BTreeMap<String, Value>,
    published: u64,
    outgoing: Outgoing,
}

/// A message from a channel, in the form in which it is fired.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Draft {
    channel_id: Option<String>,
    message_id: Option<String>,
    thread_id: Option<String>,
    author: Option<Value>,
    text: Option<String>,
    content: Vec<Value>,
    metadata: Option<Value>,
    /// Several messages at once, instead of the members above.
    messages: Vec<Draft>,
}

/// A change of channels, in the form in which it is fired.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Change {
    added: Vec<Value>,
    removed: Vec<String>,
    updated: Vec<Value>,
}

fn id_of(channel: &Value) -> String {
    channel["id"].as_str().unwrap_or_default().to_owned()
}

fn no_channel(id: &str) -> Unsent {
    Unsent::new("unknown_channel", format!("there is no channel {id}")).with("channel", id)
}

fn unknown(id: &str) -> Refusal {
    Refusal::new(UNKNOWN_CHANNEL, "Unknown channel").about(json!({"channelId": id}))
}

fn not_permitted(id: &str, why: &str) -> Refusal {
    Refusal::new(NOT_PERMITTED, format!("Channel not permitted: {why}")).about(json!({"channelId": id}))
}

impl Channels {
    /// Configures the channels. An id without a descriptor is a channel in both directions, of the type before its
    /// colon.
    ///
    /// # Errors
    /// A descriptor is invalid.
    pub(super) fn offer(&mut self, channels: Vec<Value>) -> Result<(), String> {
        let offered: Vec<Value> = channels.into_iter().map(described).collect();
        for channel in &offered {
            let violations = SCHEMAS.check("ChannelDescriptor", channel).unwrap_or_default();
            if let Some(violation) = violations.first() {
                return Err(format!("channels: {violation}"));
            }
        }
        self.known = offered.iter().map(|channel| (id_of(channel), channel.clone())).collect();
        self.offered = Some(offered);
        Ok(())
    }

    /// Whether channels are configured.
    pub(super) fn is_on(&self) -> bool {
        self.offered.is_some()
    }

    /// Declares the feature sets that control channels (MCPL 0.4 §14.1).
    pub(super) fn add_sets(negotiated: &mut Negotiated) {
        negotiated.add_set(PUBLISH_SET, scoped("channels.publish", "Publishes to channels"));
        negotiated.add_set(OBSERVE_SET, scoped("channels.observe", "Observes outgoing messages of channels"));
        negotiated.add_set(THINKING_SET, scoped("channels.observe", "Observes the model's thinking, and only that"));
    }

    /// The value of `experimental.mcpl.channels`.
    pub(super) fn capability() -> Value {
        json!({"register": true, "publish": true, "observe": true, "lifecycle": true, "streaming": true})
    }

    fn list(&self) -> Value {
        json!({"channels": self.known.values().collect::<Vec<_>>()})
    }

    /// Registers the channels once the session is open, or reports that the host does not support it.
    pub(super) fn begin(&self, negotiated: &Negotiated, cx: &mut dyn ServerCx) {
        if self.known.is_empty() {
            return;
        }
        match negotiated.host_has("channels.register") {
            Ok(()) => drop(cx.ask(REGISTER, &self.list(), Value::Null)),
            Err(reason) => cx.report(json!({"report": "not_sent", "method": REGISTER, "reason": reason})),
        }
    }

    /// Fires a message.
    ///
    /// # Errors
    /// Why it was not sent.
    pub(super) fn fire(
        &mut self,
        kind: &str,
        params: &Value,
        negotiated: &Negotiated,
        cx: &mut dyn ServerCx,
    ) -> Result<String, Unsent> {
        if !self.is_on() {
            return Err(Unsent::new(
                "no_channels",
                "the server has no channels; configure them with the setting mcpl.channels",
            ));
        }
        match kind {
            "channel-register" => self.register(params, negotiated, cx),
            "channel-changed" => self.change(params, negotiated, cx),
            "channel-incoming" => self.send_incoming(params, negotiated, cx),
            _ => {
                negotiated.host_has("channels")?;
                Ok(cx.ask(LIST, &json!({}), json!({"listing": self.known.keys().collect::<Vec<_>>()})))
            }
        }
    }

    /// Checks that no new channel has the id of another one (MCPL 0.4 §14.2).
    fn check_new(&self, channels: &[Value]) -> Result<(), Unsent> {
        let is_other = |channel: &&Value| {
            let known = self.known.get(&id_of(channel));
            known.is_some_and(|known| ["type", "address"].iter().any(|name| known[*name] != channel[*name]))
        };
        match channels.iter().find(is_other) {
            None => Ok(()),
            Some(other) => {
                let id = id_of(other);
                let why = format!("the channel {id} is registered with another type or address");
                Err(Unsent::new("channel_exists", why).with("channel", id))
            }
        }
    }

    fn register(&mut self, params: &Value, negotiated: &Negotiated, cx: &mut dyn ServerCx) -> Result<String, Unsent> {
        negotiated.host_has("channels.register")?;
        let channels = Vec::<Value>::deserialize(&params["channels"]).map_err(Unsent::invalid)?;
        let channels: Vec<Value> = channels.into_iter().map(described).collect();
        self.check_new(&channels)?;
        self.known.extend(channels.iter().map(|channel| (id_of(channel), channel.clone())));
        Ok(cx.ask(REGISTER, &json!({"channels": channels}), Value::Null))
    }

    fn change(&mut self, params: &Value, negotiated: &Negotiated, cx: &mut dyn ServerCx) -> Result<String, Unsent> {
        negotiated.host_has("channels.register")?;
        let change = Change::deserialize(params).map_err(Unsent::invalid)?;
        let added: Vec<Value> = change.added.into_iter().map(described).collect();
        let updated: Vec<Value> = change.updated.into_iter().map(described).collect();
        let named = change.removed.iter().cloned().chain(updated.iter().map(id_of));
        if let Some(id) = named.into_iter().find(|id| !self.known.contains_key(id)) {
            return Err(no_channel(&id));
        }
        self.check_new(&added)?;
        self.known.retain(|id, _| !change.removed.contains(id));
        self.known.extend(added.iter().chain(&updated).map(|channel| (id_of(channel), channel.clone())));
        Ok(cx.send(CHANGED, &json!({"added": added, "removed": change.removed, "updated": updated})))
    }

    /// Sends messages from channels. Each has an id, an author and a timestamp, which are generated if they are
    /// missing.
    fn send_incoming(
        &mut self,
        params: &Value,
        negotiated: &Negotiated,
        cx: &mut dyn ServerCx,
    ) -> Result<String, Unsent> {
        negotiated.host_has("channels")?;
        let draft = Draft::deserialize(params).map_err(Unsent::invalid)?;
        let drafts = if draft.messages.is_empty() { vec![draft] } else { draft.messages };
        let messages =
            drafts.into_iter().map(|draft| self.message(draft, negotiated, cx)).collect::<Result<Vec<_>, _>>()?;
        let ids: Vec<&Value> = messages.iter().map(|message| &message["messageId"]).collect();
        let about = json!({"incoming": ids});
        Ok(cx.ask(INCOMING, &json!({"messages": messages}), about))
    }

    /// A message to send, from a channel that the host permits to observe (MCPL 0.4 §14.1).
    fn message(&self, draft: Draft, negotiated: &Negotiated, cx: &mut dyn ServerCx) -> Result<Value, Unsent> {
        let first =
            || self.known.iter().find(|(_, channel)| channel["direction"] != "outbound").map(|(id, _)| id.clone());
        let none = || Unsent::new("unknown_channel", "there is no channel for incoming messages");
        let channel = draft.channel_id.or_else(first).ok_or_else(none)?;
        let known = self.known.get(&channel).ok_or_else(|| no_channel(&channel))?;
        if known["direction"] == "outbound" {
            let reason = Unsent::new("wrong_direction", format!("channel {channel} is outbound"));
            return Err(reason.with("channel", channel));
        }
        if let Err(why) = self.may_observe(&channel, negotiated) {
            let reason = Unsent::new("not_permitted", format!("channel {channel} may not be observed: {why}"));
            return Err(reason.with("channel", channel));
        }
        let text = draft.text.map(|text| json!({"type": "text", "text": text}));
        let mut message = json!({
            "channelId": channel,
            "messageId": draft.message_id.unwrap_or_else(|| format!("msg_{}", cx.uuid_v7())),
            "author": draft.author.unwrap_or_else(|| json!({"id": "u_1", "name": "Somebody"})),
            "timestamp": cx.stamp(),
            "content": text.into_iter().chain(draft.content).collect::<Vec<_>>(),
        });
        let others = [("threadId", draft.thread_id.map(Value::String)), ("metadata", draft.metadata)];
        for (name, value) in others {
            if let Some(value) = value {
                message[name] = value;
            }
        }
        Ok(message)
    }

    /// Responds to the host; `None` if the method is another one, or channels are not configured.
    pub(super) fn request(
        &mut self,
        method: &str,
        params: &Value,
        negotiated: &Negotiated,
        cx: &mut dyn ServerCx,
    ) -> Option<Answer> {
        if !self.is_on() {
            return None;
        }
        Some(match method {
            LIST => Ok(self.list()),
            "channels/open" => self.open(params, cx),
            "channels/close" => self.close(params, cx),
            "channels/publish" => self.publish(params, negotiated, cx),
            _ => return None,
        })
    }

    /// Opens a configured channel by its type and address.
    fn open(&mut self, params: &Value, cx: &mut dyn ServerCx) -> Answer {
        let kind = text(params, "type")?;
        let address = &params["address"];
        if !address.is_object() {
            return Err(Refusal::params("`address` must be an object"));
        }
        let fits =
            |channel: &&Value| channel["type"] == kind && channel.get("address").unwrap_or(&Value::Null) == address;
        let own = |channel: &&Value| {
            let name =
                address.as_object().filter(|members| members.len() == 1).and_then(|members| members.values().next());
            channel["type"] == kind && channel.get("address").is_none() && name == Some(&name_of(channel).into())
        };
        let offered = self.offered.iter().flatten();
        let Some(channel) = offered.clone().find(fits).or_else(|| offered.clone().find(own)).cloned() else {
            let why = format!("Channel open failed: there is no {kind} channel at this address");
            return Err(Refusal::new(OPEN_FAILED, why).about(json!({"type": kind, "address": address})));
        };
        let id = id_of(&channel);
        cx.report(json!({"report": "channel", "channel_id": id, "became": "open"}));
        self.known.insert(id, channel.clone());
        Ok(json!({"channel": channel}))
    }

    fn close(&mut self, params: &Value, cx: &mut dyn ServerCx) -> Answer {
        let id = text(params, "channelId")?;
        self.known.remove(id).ok_or_else(|| unknown(id))?;
        cx.report(json!({"report": "channel", "channel_id": id, "became": "closed"}));
        Ok(json!({"closed": true}))
    }

    /// Publishes to a channel, if it exists, has the direction, and the host's scopes permit it (MCPL 0.4 §14.5).
    fn publish(&mut self, params: &Value, negotiated: &Negotiated, cx: &mut dyn ServerCx) -> Answer {
        let id = text(params, "channelId")?;
        if is_thinking(id) {
            return Err(not_permitted(id, "the thinking channel can only be observed"));
        }
        let channel = self.known.get(id).ok_or_else(|| unknown(id))?;
        if channel["direction"] == "inbound" {
            return Err(not_permitted(id, "it is inbound"));
        }
        permitted(PUBLISH_SET, channel, negotiated).map_err(|why| not_permitted(id, &why))?;
        let text = readable(&params["content"])?;
        self.published += 1;
        let message_id = format!("sent_{}", self.published);
        cx.report(json!({"report": "channel_published", "channel_id": id, "message_id": message_id,
            "conversation_id": params["conversationId"], "text": text}));
        Ok(json!({"delivered": true, "messageId": message_id}))
    }

    /// Handles a notification; `false` if the method is another one, or channels are not configured.
    pub(super) fn receive(
        &mut self,
        method: &str,
        params: &Value,
        negotiated: &Negotiated,
        cx: &mut dyn ServerCx,
    ) -> bool {
        if !self.is_on() {
            return false;
        }
        let observed = match method {
            "channels/publish" => {
                if let Err(refusal) = self.publish(params, negotiated, cx) {
                    cx.report(json!({"report": "channel_unpublished", "channel_id": params["channelId"],
                        "code": refusal.code, "why": refusal.message}));
                }
                return true;
            }
            "channels/outgoing/chunk" => self.outgoing.chunk(params),
            "channels/outgoing/complete" => self.outgoing.complete(params),
            _ => return false,
        };
        let id = params["channelId"].as_str().unwrap_or_default();
        let gate = self.may_observe(id, negotiated);
        for why in gate.err().into_iter().chain(observed.faults.iter().map(|why| (*why).to_owned())) {
            cx.report(json!({"report": "outgoing_fault", "inference_id": params["inferenceId"], "channel_id": id,
                "why": why}));
        }
        if let Some(Observed { chunks, agrees, text, .. }) = observed.complete {
            cx.report(json!({"report": "outgoing", "inference_id": params["inferenceId"], "channel_id": id,
                "chunks": chunks, "chunks_agree": agrees, "text": text}));
        }
        true
    }

    /// Whether a channel may be observed.
    fn may_observe(&self, id: &str, negotiated: &Negotiated) -> Result<(), String> {
        if is_thinking(id) {
            return permitted(THINKING_SET, &json!({"id": id}), negotiated);
        }
        let channel = self.known.get(id).ok_or_else(|| format!("there is no channel {id}"))?;
        permitted(OBSERVE_SET, channel, negotiated)
    }

    /// Reports the host's results for incoming messages, one each (MCPL 0.4 §14.3).
    pub(super) fn taken(sent: &Value, granted: &Granted<'_>, cx: &mut dyn ServerCx) {
        let sent: BTreeSet<&str> = sent.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut reported = Map::new();
        let mut put = |list: &str, id: &str| {
            let list = reported.entry(list).or_insert_with(|| json!([]));
            if let Some(list) = list.as_array_mut() {
                list.push(id.into());
            }
        };
        let (mut seen, mut reasons) = (BTreeSet::new(), Map::new());
        for result in granted.result["results"].as_array().into_iter().flatten() {
            let id = result["messageId"].as_str().unwrap_or_default();
            match result["accepted"].as_bool() {
                _ if !sent.contains(id) => put("unasked", id),
                _ if !seen.insert(id) => put("twice", id),
                Some(true) => put("accepted", id),
                Some(false) => {
                    put("refused", id);
                    if let Some(reason) = result["reason"].as_str() {
                        reasons.insert(id.to_owned(), reason.into());
                    }
                }
                None => put("undecided", id),
            }
        }
        sent.difference(&seen).for_each(|id| put("missing", id));
        let mut report = json!({"report": "incoming_answered", "id": granted.id, "latency_us": granted.latency_us,
            "late": granted.late});
        reported.into_iter().for_each(|(list, ids)| report[list] = ids);
        if !reasons.is_empty() {
            report["reasons"] = reasons.into();
        }
        cx.report(report);
    }

    /// Compares the host's list of channels with those that the server had when it asked.
    pub(super) fn listed(had: &Value, granted: &Granted<'_>, cx: &mut dyn ServerCx) {
        let had: BTreeSet<&str> = had.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let listed = granted.result["channels"].as_array().into_iter().flatten();
        let has: BTreeSet<&str> = listed.filter_map(|channel| channel["id"].as_str()).collect();
        cx.report(json!({"report": "channels_listed", "id": granted.id, "channels": has,
            "missing": had.difference(&has).collect::<Vec<_>>(), "unknown": has.difference(&had).collect::<Vec<_>>(),
            "latency_us": granted.latency_us, "late": granted.late}));
    }
}

/// The text of what is published. A string is accepted, too (AMB-C8).
///
/// # Errors
/// There is nothing to publish, or it consists of something else than content blocks (MCPL 0.4 §10.3).
fn readable(content: &Value) -> Result<String, Refusal> {
    let wrong = |why: String| Refusal::params(format!("`content`: {why}"));
    match content {
        Value::String(_) => {}
        Value::Array(list) => list.iter().try_for_each(blocks::check).map_err(wrong)?,
        _ => return Err(Refusal::params("`content` must be a list of content blocks, or a string")),
    }
    let text = blocks::text(content, usize::MAX);
    if text.is_empty() { Err(wrong("it is empty".to_owned())) } else { Ok(text) }
}

/// The descriptor of a channel that may be given as an id: `discord:#general` is a channel in both directions.
fn described(channel: Value) -> Value {
    let Value::String(id) = channel else { return channel };
    let kind = id.split_once(':').map_or("plain", |(kind, _)| kind);
    json!({"id": id, "type": kind, "label": id, "direction": "bidirectional"})
}

/// The id of a channel without its type.
fn name_of(channel: &Value) -> &str {
    let id = channel["id"].as_str().unwrap_or_default();
    id.split_once(':').map_or(id, |(_, name)| name)
}

/// Whether a set is enabled and its scopes permit a channel, by its id, its label, or its type and address (AMB-C10).
fn permitted(set: &str, channel: &Value, negotiated: &Negotiated) -> Result<(), String> {
    if !negotiated.is_on(set) {
        return Err(format!("feature set {set} is not enabled"));
    }
    let names = channel_names(channel);
    let labels: Vec<&str> = names.iter().map(String::as_str).collect();
    match negotiated.rules(set) {
        Some(rules) if rules.judge(&labels) == Standing::Forbidden => Err("it is on the blacklist".to_owned()),
        Some(rules) if rules.has_whitelist() && rules.judge(&labels) == Standing::Open => {
            Err("it is not on the whitelist".to_owned())
        }
        _ => Ok(()),
    }
}
