//! Channels (MCPL 0.4 §14): which channels a server has, what they may be used for, and their messages.

use super::irregular::Irregularity::{self, Mistake, Note};
use super::push::{read_content, read_time};
use super::sets::advertises;
use super::wakes::{Event, Source};
use super::{McplHostSide, Peer, RequestKind};
use crate::proposals::host::{HostCx, Refusal, ServerId, label};
use crate::proposals::mcpl::blocks;
use crate::proposals::recent::Recent;
use crate::protocol::errors;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The channel lacks the scope to publish or observe (MCPL 0.4 Appendix A).
const NOT_PERMITTED: i64 = -32017;
/// The channel does not exist (MCPL 0.4 Appendix A).
pub(super) const UNKNOWN: i64 = -32023;

/// The pseudo-channel that can only be observed (MCPL 0.4 §14.5).
const THINKING: &str = "thinking";
/// What a feature set lists if it publishes to channels.
pub(super) const PUBLISH: &str = "channels.publish";
/// What a feature set lists if it observes channels.
pub(super) const OBSERVE: &str = "channels.observe";
/// How many message ids are remembered per server.
const MAX_MESSAGES: usize = 65_536;
/// How many channels a server may have.
const MAX_CHANNELS: usize = 4096;

/// The message that began a turn.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    /// The server that sent it.
    pub server: ServerId,
    /// The id of the channel.
    pub channel: String,
    message: String,
    thread: Option<String>,
}

/// The channels of one server.
pub(super) struct Channels {
    known: BTreeMap<String, Value>,
    closed: Vec<String>,
    messages: Recent<(String, String)>,
}

impl Default for Channels {
    fn default() -> Self {
        Self { known: BTreeMap::new(), closed: Vec::new(), messages: Recent::new(MAX_MESSAGES) }
    }
}

impl Channels {
    /// Adds a descriptor. Returns a sentence if it is irregular.
    fn add(&mut self, descriptor: &Value, is_new: bool) -> Option<Irregularity> {
        let Some(id) = descriptor["id"].as_str() else {
            return Some(Mistake("the server sent a channel without an id, which is dropped".to_owned()));
        };
        if self.known.len() >= MAX_CHANNELS && !self.known.contains_key(id) {
            let text = format!("the channel {id} is dropped: a server may have at most {MAX_CHANNELS} channels");
            return Some(Note(text));
        }
        self.closed.retain(|closed| closed != id);
        match (self.known.insert(id.to_owned(), descriptor.clone()), is_new) {
            (Some(known), true) => {
                let is_other = ["type", "address"].iter().any(|name| known[name] != descriptor[name]);
                let kind = if is_other { Mistake } else { Note };
                Some(kind(format!("the server registered the channel {id} twice")))
            }
            (None, false) => Some(Mistake(format!("the server updated the channel {id}, which was not registered"))),
            _ => None,
        }
    }

    /// Adds a descriptor of a channel that may be registered already. Returns a sentence if it is irregular.
    fn note(&mut self, descriptor: &Value) -> Option<Irregularity> {
        self.add(descriptor, !self.known.contains_key(text_of(descriptor, "id")))
    }

    /// The descriptors.
    pub(super) fn list(&self) -> Vec<&Value> {
        self.known.values().collect()
    }

    /// A scope's payload, with the id of the channel that its label names (MCPL 0.4 §7.5).
    pub(super) fn enriched(&self, label: &str, payload: &Value) -> Value {
        let named = self.known.iter().find(|(id, channel)| *id == label || channel["label"] == label);
        let mut payload = payload.clone();
        if let (Some((id, _)), true) = (named, payload.is_object() || payload.is_null())
            && payload.get("channelId").is_none()
        {
            payload["channelId"] = id.as_str().into();
        }
        payload
    }
}

/// The refusal of a use of a channel.
pub(super) fn not_permitted(why: &str) -> Refusal {
    Refusal::new(NOT_PERMITTED, format!("Channel not permitted: {why}"))
}

impl Peer {
    /// Whether the server declared that it can do `what` with channels. Some libraries declare all of it as a single
    /// `true`.
    pub(super) fn can(&self, what: &str) -> bool {
        self.block["channels"] == true || advertises(&self.block, &format!("/channels/{what}"))
    }

    /// Whether channels may be used at all.
    ///
    /// # Errors
    /// -32017 if every feature set for them is disabled.
    pub(super) fn may_use_channels(&self) -> Result<(), Refusal> {
        match [PUBLISH, OBSERVE].into_iter().any(|uses| self.sets.lets(uses)) {
            true => Ok(()),
            false => Err(not_permitted("no feature set that uses channels is enabled")),
        }
    }

    /// The `channels` member of `context/beforeInference` (MCPL 0.4 §14.4): the message that began the turn, and where
    /// its answer may go. `None` if there are no channels.
    pub(super) fn channel_context(&self, from: Option<&Origin>) -> Option<Value> {
        if self.channels.known.is_empty() {
            return None;
        }
        let may_get = |channel: &str| self.can("publish") && self.may_answer(channel).is_ok();
        let candidates = self.channels.known.keys().map(String::as_str).filter(|channel| may_get(channel));
        let mut context = json!({"candidates": std::iter::once("ui").chain(candidates).collect::<Vec<_>>()});
        if let Some(from) = from {
            context["incoming"] = json!({"channelId": from.channel, "messageId": from.message});
            if let Some(thread) = &from.thread {
                context["incoming"]["threadId"] = thread.as_str().into();
            }
            if may_get(&from.channel) {
                context["defaultOutgoing"] = json!({"channelId": from.channel});
            }
        }
        Some(context)
    }

    /// Whether an answer may go to a channel.
    ///
    /// # Errors
    /// -32023 if it is not registered, -32017 if it is inbound or `thinking`, closed, or publishing is not permitted.
    pub(super) fn may_answer(&self, channel: &str) -> Result<(), Refusal> {
        match channel {
            THINKING => Err(not_permitted("the channel thinking can only be observed")),
            _ => self.may_use(channel, PUBLISH, "inbound"),
        }
    }

    /// Whether a channel may be used for `uses`, unless its direction is `not`.
    ///
    /// # Errors
    /// -32023 if it is not registered, -32017 if this use is not permitted.
    pub(super) fn may_use(&self, channel: &str, uses: &str, not: &str) -> Result<(), Refusal> {
        let forbidden = |why: String| Err(not_permitted(&why));
        let Some(found) = self.channels.known.get(channel) else {
            return Err(Refusal::new(UNKNOWN, format!("Unknown channel: {channel}")));
        };
        if found["direction"] == not {
            return forbidden(format!("{channel} is {not}"));
        }
        if self.channels.closed.iter().any(|closed| closed == channel) {
            return forbidden(format!("{channel} is closed"));
        }
        if !self.sets.lets(uses) {
            return forbidden(format!("no feature set that uses {uses} is enabled"));
        }
        // A pattern may match a channel's id, its label, or its type and address (AMB-C10).
        let address = found["address"].as_object().into_iter().flat_map(|address| address.values());
        let address = address.filter_map(Value::as_str).collect::<Vec<_>>().join("/");
        let place = format!("{}:{address}", found["type"].as_str().unwrap_or_default());
        let names = [channel, found["label"].as_str().unwrap_or(channel), &place];
        for set in self.sets.using(uses).filter(|set| self.sets.says(set, "scoped")) {
            if let Err(why) = self.scopes.may(set, &names) {
                return forbidden(why);
            }
        }
        Ok(())
    }
}

impl McplHostSide {
    /// Handles `channels/register` (MCPL 0.4 §14.3).
    pub(super) fn register(&mut self, cx: &mut HostCx<'_>, server: ServerId, id: &[u8], params: &Value) {
        let Some(peer) = self.peers.get_mut(&server) else { return };
        let Some(channels) = params["channels"].as_array() else {
            return cx.respond(server, id, Err(Refusal::new(errors::INVALID_PARAMS, "channels is missing")));
        };
        let odd: Vec<Irregularity> = channels.iter().filter_map(|channel| peer.channels.add(channel, true)).collect();
        report_channels(cx, server, peer, odd);
        cx.respond(server, id, Ok(json!({})));
    }

    /// Handles `channels/changed` (MCPL 0.4 §14.3).
    pub(super) fn channels_changed(&mut self, cx: &mut HostCx<'_>, server: ServerId, params: &Value) {
        let Some(peer) = self.peers.get_mut(&server) else { return };
        let list = |name: &str| params[name].as_array().into_iter().flatten();
        let mut odd = Vec::new();
        for removed in list("removed").filter_map(Value::as_str) {
            if peer.channels.known.remove(removed).is_none() {
                odd.push(Mistake(format!("the server removed the channel {removed}, which was not registered")));
            }
        }
        odd.extend(list("added").filter_map(|channel| peer.channels.add(channel, true)));
        odd.extend(list("updated").filter_map(|channel| peer.channels.add(channel, false)));
        report_channels(cx, server, peer, odd);
    }

    /// Answers the server's `channels/list` (MCPL 0.4 §14.3).
    pub(super) fn list(&mut self, cx: &mut HostCx<'_>, server: ServerId, id: &[u8]) {
        let Some(peer) = self.peers.get(&server) else { return };
        let answer = peer.may_use_channels().map(|()| json!({"channels": peer.channels.list()}));
        if let Err(refused) = &answer {
            cx.report("refused", Some(server), format!("channels/list: {}", refused.message), Value::Null);
        }
        cx.respond(server, id, answer);
    }

    /// Handles `channels/incoming` (MCPL 0.4 §14.3). Messages of the same channel form one event.
    pub(super) fn incoming(&mut self, cx: &mut HostCx<'_>, server: ServerId, id: Option<&[u8]>, params: &Value) {
        let messages: Vec<&Value> = params["messages"].as_array().into_iter().flatten().collect();
        // A result names its message, so one without an id has none, and must not cost the others theirs.
        let (messages, nameless): (Vec<_>, Vec<_>) =
            messages.into_iter().partition(|message| message["messageId"].is_string());
        if !params["messages"].is_array() || messages.is_empty() && !nameless.is_empty() {
            let why = "messages is missing, or no message has a messageId";
            return Self::respond(cx, server, id, Err(Refusal::new(errors::INVALID_PARAMS, why)));
        }
        for message in nameless {
            let about = json!({"channel": message["channelId"], "outcome": "failure"});
            cx.report_mistake("refused", server, "a message without a messageId is dropped", about);
        }
        let mut mistakes = Vec::new();
        let mut verdicts: Vec<Result<(), String>> = Vec::new();
        for message in &messages {
            let verdict = self.takes_message(cx, server, message);
            mistakes.push(verdict.as_ref().is_err_and(|refused| self.is_mistaken(server, message, refused, cx.now)));
            verdicts.push(verdict.map_err(|refused| refused.message));
        }
        let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, message) in messages.iter().enumerate().filter(|(at, _)| verdicts[*at].is_ok()) {
            groups.entry(text_of(message, "channelId")).or_default().push(at);
        }
        for (channel, places) in groups {
            let reported: Vec<&Value> = places.iter().map(|at| messages[*at]).collect();
            if let Err(why) = self.message(cx, server, channel, &reported) {
                places.iter().for_each(|at| verdicts[*at] = Err(why.clone()));
            }
        }
        let result = |(message, verdict): (&&Value, &Result<(), String>)| match verdict {
            Ok(()) => {
                json!({"messageId": message["messageId"], "accepted": true, "conversationId": cx.session})
            }
            Err(why) => json!({"messageId": message["messageId"], "accepted": false, "reason": why}),
        };
        let results: Vec<Value> = messages.iter().zip(&verdicts).map(result).collect();
        for (result, is_mistake) in results.iter().zip(mistakes).filter(|(result, _)| result["accepted"] == false) {
            let text = format!("{}: {}", result["messageId"], result["reason"]);
            let about = json!({"message_id": result["messageId"], "outcome": "failure"});
            cx.report_verdict("refused", server, text, about, is_mistake);
        }
        if id.is_none() {
            let text = "the server sent channels/incoming as a notification, so it gets no results";
            cx.report_mistake("odd", server, text, Value::Null);
        }
        Self::respond(cx, server, id, Ok(json!({"results": results})));
    }

    fn takes_message(&mut self, cx: &mut HostCx<'_>, server: ServerId, message: &Value) -> Result<(), Refusal> {
        let gone = || Refusal::new(errors::INTERNAL_ERROR, "the server is gone");
        let peer = self.peers.get_mut(&server).ok_or_else(gone)?;
        let channel = text_of(message, "channelId");
        let malformed = |why: String| Refusal::new(errors::INVALID_PARAMS, why);
        if !message["channelId"].is_string() {
            return Err(malformed("channelId is missing".to_owned()));
        }
        peer.may_use(channel, OBSERVE, "outbound")?;
        let content = read_content(&message["content"]).map_err(malformed)?;
        let time = message.get("timestamp").map(read_time).transpose().map_err(malformed)?.flatten();
        [content, time].into_iter().flatten().for_each(|odd| odd.report(cx, server));
        let key = (channel.to_owned(), text_of(message, "messageId").to_owned());
        match peer.channels.messages.insert(key, ()) {
            None => Ok(()),
            Some(()) => Err(Refusal::new(errors::INVALID_PARAMS, "duplicate")),
        }
    }

    /// Whether the server should have known that the host refuses a message: its channel is not registered or outbound,
    /// or no enabled set observes channels, or it sent the message before.
    fn is_mistaken(&self, server: ServerId, message: &Value, refused: &Refusal, now: Duration) -> bool {
        let Some(peer) = self.peers.get(&server) else { return false };
        let channel = peer.channels.known.get(text_of(message, "channelId"));
        let mut sets = peer.sets.using(OBSERVE).peekable();
        let is_off = sets.peek().is_some() && sets.all(|set| peer.sets.knows_off(set, now));
        let is_outbound = channel.is_some_and(|channel| channel["direction"] == "outbound");
        is_outbound || is_off || [errors::INVALID_PARAMS, UNKNOWN].contains(&refused.code)
    }

    /// Messages of one channel, which begin at most one turn.
    fn message(
        &mut self,
        cx: &mut HostCx<'_>,
        server: ServerId,
        channel: &str,
        messages: &[&Value],
    ) -> Result<(), String> {
        let Some(peer) = self.peers.get_mut(&server) else { return Err("the server is gone".to_owned()) };
        let (most, lane) = (peer.policy.length("most_bytes"), peer.policy.word("incoming"));
        let line = |message: &&Value| {
            let author = message["author"]["name"].as_str().unwrap_or("unknown author");
            format!("{}: {}", label(author), blocks::text(&message["content"], most))
        };
        let last = messages.last().copied().unwrap_or(&Value::Null);
        let origin = Origin {
            server,
            channel: channel.to_owned(),
            message: text_of(last, "messageId").to_owned(),
            thread: last["threadId"].as_str().map(str::to_owned),
        };
        let text = messages.iter().map(line).collect::<Vec<_>>().join("\n");
        let ids: Vec<&str> = messages.iter().map(|message| text_of(message, "messageId")).collect();
        let names = (json!([channel, ids]).to_string(), format!("messages in {channel}"));
        let event = Event::new(server, names, text, Source::Channel(origin));
        let admitted = self.admit(cx, lane, event);
        match &admitted {
            Ok(admitted) => {
                let wake = admitted.waits.word();
                let plural = if messages.len() == 1 { "" } else { "s" };
                let text = format!("{} message{plural} in {channel}, wake={wake}", messages.len());
                let data = json!({"channel": channel, "messages": messages.len(), "wake": wake,
                    "inference_id": admitted.due(), "outcome": "success"});
                cx.report("incoming", Some(server), text, data);
            }
            // The server may send them again.
            Err(_) => {
                if let Some(peer) = self.peers.get_mut(&server) {
                    for message in messages {
                        let key = (channel.to_owned(), text_of(message, "messageId").to_owned());
                        peer.channels.messages.remove(&key);
                    }
                }
            }
        }
        admitted.map(drop)
    }

    /// Handles the response to a request about channels.
    ///
    /// # Errors
    /// What failed.
    pub(super) fn channel_answered(
        &mut self,
        cx: &mut HostCx<'_>,
        server: ServerId,
        asked: &RequestKind,
        result: &Value,
    ) -> Result<(), String> {
        let Some(peer) = self.peers.get_mut(&server) else { return Ok(()) };
        match asked {
            RequestKind::Open => {
                let channel = &result["channel"];
                if channel["id"].as_str().is_none() {
                    return Err("the response contains no channel".to_owned());
                }
                // The server may have registered it in the meantime.
                peer.channels.note(channel);
                cx.report("opened", Some(server), format!("{} is open", channel["id"]), channel.clone());
            }
            RequestKind::Close { channel } if result["closed"] == true => {
                peer.channels.closed.push(channel.clone());
                cx.report("closed", Some(server), format!("{channel} is closed"), json!({"channel": channel}));
            }
            RequestKind::Close { channel } => return Err(format!("the server did not close {channel}")),
            RequestKind::Publish { channel, .. } if result["delivered"] == true => {
                let mut about = asked.about("success");
                about["message_id"] = result["messageId"].clone();
                cx.report("published", Some(server), format!("to {channel}"), about);
            }
            RequestKind::Publish { channel, .. } => {
                return Err(format!("the server did not deliver the text to {channel}"));
            }
            _ => {
                let listed = result["channels"].as_array().ok_or("the response contains no channels")?;
                let odd = listed.iter().filter_map(|channel| peer.channels.note(channel)).collect();
                report_channels(cx, server, peer, odd);
            }
        }
        Ok(())
    }

    /// Whether a channel can be closed.
    ///
    /// # Errors
    /// Error -32023 and its message if the channel is not registered.
    pub(super) fn is_registered(&self, server: ServerId, channel: &str) -> Result<(), String> {
        let peer = self.peers.get(&server);
        let is_known = peer.is_some_and(|peer| peer.channels.known.contains_key(channel));
        is_known.then_some(()).ok_or_else(|| format!("{UNKNOWN} Unknown channel: {channel}"))
    }
}

fn report_channels(cx: &mut HostCx<'_>, server: ServerId, peer: &Peer, odd: Vec<Irregularity>) {
    let ids: Vec<&str> = peer.channels.known.keys().map(String::as_str).collect();
    let text = format!("the server's channels: {}", ids.join(", "));
    cx.report("channels", Some(server), text, json!({"channels": ids}));
    odd.into_iter().for_each(|odd| odd.report(cx, server));
}

fn text_of<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}
