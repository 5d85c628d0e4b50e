//! Context hooks (MCPL 0.4 §10): what servers add before an inference, and how they observe or change its answer.

use super::channels::{Origin, PUBLISH};
use super::requests::NOT_IN_TIME;
use super::sets::advertises;
use super::{AFTER_USER, BEFORE_USER, EVENT, McplHostSide, Peer, RequestKind, SYSTEM, model_info};
use crate::proposals::host::{Agent, Beginning, HostCx, Injection, ServerId, Usage};
use crate::proposals::mcpl::{AFTER_INFERENCE, BEFORE_INFERENCE, blocks};
use serde_json::{Value, json};
use std::collections::VecDeque;

const BEFORE: &str = "contextHooks.beforeInference";
const AFTER: &str = "contextHooks.afterInference";
/// What hooks show to a server, as the rest of "gets no …".
pub(super) const WORDS: &str = "user messages and no answers of the model";

/// The current turn.
pub(super) struct Turn {
    /// The id of the inference.
    inference: String,
    /// The id of the conversation. A sub-agent with a session of its own has its own conversation.
    conversation: String,
    /// The turn's number in the conversation, from 0.
    index: u64,
    /// The user message; `None` if something else began the turn.
    message: Option<String>,
    usage: Usage,
    /// The channel whose message began the turn.
    pub channel: Option<Origin>,
    /// How many hooks and turns followed from each other until this turn; 0 if no hook caused it.
    pub depth: u64,
}

impl Turn {
    /// The params that all hooks have in common (MCPL 0.4 §10.1).
    fn params(&self, cx: &HostCx<'_>) -> Value {
        json!({"inferenceId": self.inference, "conversationId": self.conversation, "turnIndex": self.index,
            "userMessage": self.message, "model": model_info(cx.model)})
    }

    /// The params of a hook after the inference (MCPL 0.4 §10.5).
    fn params_after(&self, cx: &HostCx<'_>, answer: &str) -> Value {
        let mut params = self.params(cx);
        params["assistantMessage"] = answer.into();
        params["usage"] = json!({"inputTokens": self.usage.input, "outputTokens": self.usage.output});
        params
    }

    /// The id of the inference.
    pub(super) fn inference(&self) -> &str {
        &self.inference
    }
}

/// The answer, while it passes through the servers that may change it.
pub(super) struct Chain {
    left: VecDeque<ServerId>,
    text: String,
    is_changed: bool,
}

/// Whether a server may change answers: it declared a blocking hook, the host offers it, and a feature set that uses
/// it is enabled.
pub(super) fn blocks(peer: &Peer) -> bool {
    peer.block.pointer("/contextHooks/afterInference/blocking") == Some(&Value::Bool(true)) && receives(peer)
}

fn receives(peer: &Peer) -> bool {
    peer.offers(AFTER) && advertises(&peer.block, "/contextHooks/afterInference") && peer.sets.lets(AFTER)
}

impl McplHostSide {
    /// Begins a turn: injects what began it and what waited for it, and asks servers for context (MCPL 0.4 §10.1).
    pub(super) fn begin(&mut self, cx: &mut HostCx<'_>, begins: &Beginning<'_>) {
        let inference = match begins.woken {
            Some(("mcpl", key)) => key.to_owned(),
            _ => self.next_inference(),
        };
        let (mut channel, mut depth) = (None, None);
        let is_main = begins.agent == Agent::Main;
        let is_its = |of: &Option<String>| is_main && of.as_ref().is_none_or(|of| *of == inference);
        let (events, left) =
            std::mem::take(&mut self.waiting).into_iter().partition::<VecDeque<_>, _>(|event| is_its(&event.inference));
        self.waiting = left;
        for event in events {
            if !self.may_still_show(&event) {
                let text = format!("dropped a waiting {}: its feature set was disabled", event.what);
                cx.report("dropped", Some(event.server), text, json!({"outcome": "failure"}));
                continue;
            }
            let (server, what, text, id) = (event.server, event.what, event.text, Some(event.id));
            if event.inference.is_some() {
                channel = event.channel.or(channel);
                depth = depth.or(Some(event.depth));
            }
            cx.inject(Injection { server, slot: EVENT, weight: 0, what, text, id });
        }
        let message = begins.message.map(str::to_owned);
        let conversation = match begins.agent {
            Agent::Detached => format!("{}-{inference}", cx.session),
            _ => cx.session.to_owned(),
        };
        let (index, usage, depth) = (self.turns, Usage::default(), depth.unwrap_or_default());
        let turn = Turn { inference, conversation, index, message, usage, channel, depth };
        self.turns += 1;
        if is_main && depth == 0 {
            self.release_held(cx);
        }
        // A turn that no message of the user's began shows the server nothing of the conversation.
        let mut admits = |id: ServerId, peer: &mut Peer| turn.message.is_none() || peer.consent.admits(cx, id, WORDS);
        let asked = self.peers.iter_mut().filter_map(|(id, peer)| (prepares(peer) && admits(*id, peer)).then_some(*id));
        let asked: Vec<ServerId> = asked.collect();
        for server in asked {
            let Some(peer) = self.peers.get(&server) else { continue };
            let mut params = turn.params(cx);
            if let Some(channels) = peer.channel_context(turn.channel.as_ref().filter(|from| from.server == server)) {
                params["channels"] = channels;
            }
            let timeout = peer.policy.time("before_timeout");
            let asked = RequestKind::Before { inference: turn.inference.clone() };
            self.ask(cx, server, (BEFORE_INFERENCE, params), timeout, asked, true);
        }
        self.turn = Some(turn);
    }

    /// Handles a server's response to `context/beforeInference` (MCPL 0.4 §10.2).
    pub(super) fn prepared(
        &mut self,
        cx: &mut HostCx<'_>,
        server: ServerId,
        asked: &RequestKind,
        outcome: Result<Value, String>,
    ) {
        let result = match outcome {
            Ok(result) => result,
            Err(why) => return hook_failed(cx, server, asked, &why),
        };
        let Some(peer) = self.peers.get(&server) else { return };
        let contribution = Contribution { server, peer, asked, result: &result };
        if contribution.speaks_for_a_set(cx, BEFORE) {
            contribution.inject_all(cx);
        }
    }

    /// After the model answered, shows its answer to the servers that may change it, one after another (AMB-C2).
    pub(super) fn begin_chain(&mut self, cx: &mut HostCx<'_>, answer: &str, usage: Usage) {
        let Some(turn) = &mut self.turn else { return };
        turn.usage = usage;
        if let Some(gone) = self.gone.first() {
            return cx.rewrite(Err(format!("{gone}, whose blocking hook must agree, is no longer connected")));
        }
        let mut left = VecDeque::new();
        for (server, peer) in self.peers.iter_mut().filter(|(_, peer)| blocks(peer)) {
            if peer.consent.admits(cx, *server, WORDS) {
                left.push_back(*server);
            } else if peer.fails_closed() {
                let name = cx.server(*server).map_or("", |view| view.name.as_str());
                let why = format!("{name}, whose blocking hook must agree, gets no answers without your consent");
                return cx.rewrite(Err(why));
            }
        }
        if !left.is_empty() {
            self.chain = Some(Chain { left, text: answer.to_owned(), is_changed: false });
            self.next_in_chain(cx);
        }
    }

    fn next_in_chain(&mut self, cx: &mut HostCx<'_>) {
        let (Some(chain), Some(turn)) = (&mut self.chain, &self.turn) else { return };
        while let Some(server) = chain.left.pop_front() {
            let Some(peer) = self.peers.get(&server).filter(|peer| blocks(peer)) else { continue };
            let (params, timeout) = (turn.params_after(cx, &chain.text), peer.policy.time("after_timeout"));
            let asked = RequestKind::After { inference: turn.inference.clone() };
            return self.ask(cx, server, (AFTER_INFERENCE, params), timeout, asked, true);
        }
        if let Some(chain) = self.chain.take().filter(|chain| chain.is_changed) {
            cx.rewrite(Ok(chain.text));
        }
    }

    /// Handles a server's response to a blocking `context/afterInference` (MCPL 0.4 §10.5 and §13.3).
    pub(super) fn reviewed(
        &mut self,
        cx: &mut HostCx<'_>,
        server: ServerId,
        asked: &RequestKind,
        outcome: Result<Value, String>,
    ) {
        let Some(peer) = self.peers.get(&server) else { return self.next_in_chain(cx) };
        let reviewed = match &outcome {
            Ok(result) => Contribution { server, peer, asked, result }.review(cx),
            Err(why) => {
                hook_failed(cx, server, asked, why);
                Err(why.clone())
            }
        };
        match (reviewed, &mut self.chain) {
            (Ok(Some(text)), Some(chain)) => (chain.text, chain.is_changed) = (text, true),
            (Err(why), _) if peer.fails_closed() => {
                self.chain = None;
                let name = cx.server(server).map_or("", |view| view.name.as_str());
                cx.rewrite(Err(format!("the blocking hook of {name} failed: {why}")));
            }
            _ => {}
        }
        self.next_in_chain(cx);
    }

    /// The answer is final: notifies servers with hooks that do not block, and sends it to the channel that began the
    /// turn.
    pub(super) fn answered(&mut self, cx: &mut HostCx<'_>, answer: &str) {
        let Some(turn) = &self.turn else { return };
        for (server, peer) in &mut self.peers {
            if receives(peer) && !blocks(peer) && peer.consent.admits(cx, *server, WORDS) {
                cx.notify(*server, AFTER_INFERENCE, turn.params_after(cx, answer));
            }
        }
        self.deliver(cx, answer);
    }
}

/// Whether the server gets the user's messages or the model's answers, as far as its feature sets decide.
pub(super) fn hears(peer: &Peer) -> bool {
    let has_channels = peer.offers("channels") && peer.block["channels"] != Value::Null;
    prepares(peer) || receives(peer) || has_channels && peer.sets.lets(PUBLISH)
}

fn prepares(peer: &Peer) -> bool {
    peer.offers(BEFORE) && advertises(&peer.block, "/contextHooks/beforeInference") && peer.sets.lets(BEFORE)
}

/// What a server returned from a hook.
struct Contribution<'a> {
    server: ServerId,
    peer: &'a Peer,
    asked: &'a RequestKind,
    result: &'a Value,
}

impl Contribution<'_> {
    /// Reports about it, with its feature set and inference (MCPL 0.4 §13.2) and these members.
    fn report(&self, cx: &mut HostCx<'_>, what: &'static str, text: impl Into<String>, outcome: &str, more: Value) {
        cx.report(what, Some(self.server), text, self.about(outcome, more));
    }

    /// Reports a mistake of the server's, in the same way. The outcome is a success if the host uses the result.
    fn report_mistake(&self, cx: &mut HostCx<'_>, what: &'static str, text: &str, outcome: &str, more: Value) {
        cx.report_mistake(what, self.server, text, self.about(outcome, more));
    }

    fn about(&self, outcome: &str, more: Value) -> Value {
        let mut data = self.asked.about(outcome);
        data["feature_set"] = self.result["featureSet"].clone();
        if let (Some(data), Value::Object(more)) = (data.as_object_mut(), more) {
            data.extend(more);
        }
        data
    }

    /// What a blocking hook makes of the answer: another text, or nothing.
    ///
    /// # Errors
    /// Why its result is no decision.
    fn review(&self, cx: &mut HostCx<'_>) -> Result<Option<String>, String> {
        if !self.speaks_for_a_set(cx, AFTER) {
            return Err("its result was dropped".to_owned());
        }
        self.modified(cx)
    }

    /// Whether its set may contribute. A response cannot be refused, so it is dropped instead (AMB-C14).
    fn speaks_for_a_set(&self, cx: &mut HostCx<'_>, uses: &str) -> bool {
        if !self.result.is_object() {
            let text = "the response to a hook was dropped, because it is not an object";
            self.report_mistake(cx, "malformed", text, "failure", Value::Null);
            return false;
        }
        let set = &self.result["featureSet"];
        if set.is_null() && !self.peer.sets.are_all_on() {
            let text = "the response to a hook was dropped, because it names no feature set, and the server has \
                        disabled ones";
            self.report_mistake(cx, "dropped", text, "failure", Value::Null);
            return false;
        }
        if set.is_null() {
            let text = "the response to a hook names no feature set, but is used";
            self.report_mistake(cx, "odd", text, "success", Value::Null);
            return true;
        }
        match self.peer.sets.gate(set, uses, &self.peer.policy) {
            Ok(odd) => {
                odd.into_iter().for_each(|odd| self.report_mistake(cx, "odd", odd.text(), "success", Value::Null));
                true
            }
            Err(refused) => {
                let text = format!("the response of {set} was dropped: {}", refused.message);
                let is_mistake = self.peer.is_mistake(&refused, set, cx.now);
                cx.report_verdict("dropped", self.server, text, self.about("failure", Value::Null), is_mistake);
                false
            }
        }
    }

    /// The changed answer, if there is one.
    ///
    /// # Errors
    /// It is no text.
    fn modified(&self, cx: &mut HostCx<'_>) -> Result<Option<String>, String> {
        match &self.result["modifiedResponse"] {
            Value::Null => Ok(None),
            Value::String(text) => {
                let more = json!({"metadata": self.result["metadata"]});
                self.report(cx, "rewritten", "the server changed the answer", "success", more);
                Ok(Some(text.clone()))
            }
            _ => {
                let text = "the answer was not changed, because modifiedResponse is not a string";
                self.report_mistake(cx, "malformed", text, "failure", Value::Null);
                Err("its modifiedResponse is not a string".to_owned())
            }
        }
    }

    /// Injects what it contains, within the limits of a turn.
    fn inject_all(&self, cx: &mut HostCx<'_>) {
        let (list, policy) = (&self.result["contextInjections"], &self.peer.policy);
        if !list.is_array() && !list.is_null() {
            let text = "the injections were dropped, because contextInjections is not a list";
            self.report_mistake(cx, "malformed", text, "failure", json!({"contextInjections": list}));
        }
        let most = policy.length("most_bytes");
        let (max_count, max_bytes) = (policy.length("injections"), policy.length("injection_bytes"));
        let (mut count, mut bytes, mut dropped) = (0, 0, Vec::new());
        for (at, injection) in list.as_array().into_iter().flatten().enumerate() {
            let (slot, namespace) = match read_injection(injection) {
                Ok(read) => read,
                Err(why) => {
                    let text = format!("an injection was dropped, because {why}");
                    self.report_mistake(cx, "malformed", &text, "failure", json!({"position": injection["position"]}));
                    continue;
                }
            };
            let text = blocks::text(&injection["content"], most);
            if count >= max_count || bytes + text.len() > max_bytes {
                dropped.push(at);
                continue;
            }
            (count, bytes) = (count + 1, bytes + text.len());
            let what = format!("{namespace} context");
            cx.inject(Injection { server: self.server, slot, weight: 0, what, text, id: None });
        }
        if !dropped.is_empty() {
            let text = format!(
                "dropped {} of the injections: a turn has at most {max_count} with {max_bytes} B",
                dropped.len()
            );
            let more = json!({"dropped": dropped.len(), "which": dropped, "injections": count, "bytes": bytes});
            self.report(cx, "over limit", text, "failure", more);
        }
        let plural = if count == 1 { "" } else { "s" };
        let more = json!({"injections": count});
        self.report(cx, "context", format!("{count} injection{plural}"), "success", more);
    }
}

/// The slot and the namespace of an injection (MCPL 0.4 §10.4).
///
/// # Errors
/// What is wrong with it.
fn read_injection(injection: &Value) -> Result<(&'static str, &str), String> {
    let slot = match injection["position"].as_str() {
        Some("system") => SYSTEM,
        Some("beforeUser") => BEFORE_USER,
        Some("afterUser") => AFTER_USER,
        other => return Err(format!("its position is {}", other.unwrap_or("missing"))),
    };
    match (&injection["namespace"], &injection["content"]) {
        (Value::String(namespace), Value::String(_) | Value::Array(_)) => Ok((slot, namespace)),
        (Value::String(_), Value::Null) => Err("its content is missing".to_owned()),
        (Value::String(_), _) => Err("its content is neither a string nor a list of blocks".to_owned()),
        _ => Err("its namespace is missing or not a string".to_owned()),
    }
}

fn hook_failed(cx: &mut HostCx<'_>, server: ServerId, asked: &RequestKind, why: &str) {
    let is_late = why == NOT_IN_TIME;
    let (what, outcome) = if is_late { ("timed out", "timeout") } else { ("failed", "failure") };
    cx.report(what, Some(server), format!("{}: {why}", asked.name()), asked.about(outcome));
}
