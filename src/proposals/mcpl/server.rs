//! The server's side of MCPL: answers the host's hooks with memories, pushes events, requests inferences, and keeps
//! notes with state.
//!
//! Channels and the redaction of responses are offered only if they are configured.

mod channels;
mod compliance;
mod inference;
mod negotiated;
mod outgoing;
mod scopes;

use super::push::Draft;
use super::{PUSH_EVENT, malformed};
use crate::proposals::server::handler_job::{HandlerPolicy, Infer, JobKind};
use crate::proposals::server::memory::Hit;
use crate::proposals::server::{
    ADD_NOTE, Answer, Declaration, Firing, Granted, NOTES, ServerCx, ServerSide, ToolCall, Unsent, failure, success,
    text,
};
use channels::Channels;
use compliance::{REDACTION, Redactor};
use inference::{Ask, inference, inferred, receive_chunk};
use negotiated::{Negotiated, SetsForm, Update};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The feature set that finds memories before an inference.
const RETRIEVAL: &str = "memory.retrieval";
/// The feature set that learns from the conversation.
const EXTRACTION: &str = "memory.extraction";
/// The feature set that pushes events.
pub(crate) const PROACTIVE: &str = "memory.proactive";
/// The feature set that lets the host's model summarize memories.
const CONSOLIDATION: &str = "memory.consolidation";
/// The feature set that lets the host's model look at events. It is declared only if agent handlers are permitted.
const AGENT: &str = "events.agent";
/// The feature set for notes, with checkpoints.
const NOTES_SET: &str = "notes.edit";
/// The feature set for notes under paths. Each path needs a scope.
const PAGES: &str = "notes.write";

/// Requests an inference from the host (MCPL 0.4 §11).
const INFERENCE: &str = "inference/request";
/// Asks the host which model it runs (MCPL 0.4 §12).
const MODEL_INFO: &str = "model/info";
/// Announces added and removed feature sets to the host (MCPL 0.4 §6.7).
const SETS_CHANGED: &str = "featureSets/changed";

/// The maximum number of memories that a hook injects.
const OFFERED: usize = 3;

const fn firing(kind: &'static str, method: &'static str) -> Firing {
    Firing { kind, method, occurrence: None, time: None }
}

/// The messages that can be fired.
const FIRES: &[Firing] = &[
    Firing { kind: "push", method: PUSH_EVENT, occurrence: Some("eventId"), time: Some("timestamp") },
    firing("inference", INFERENCE),
    firing("model-info", MODEL_INFO),
    firing("feature-sets", SETS_CHANGED),
    firing("scope", scopes::ELEVATE),
    firing("channel-register", channels::REGISTER),
    firing("channel-changed", channels::CHANGED),
    Firing { kind: "channel-incoming", method: channels::INCOMING, occurrence: Some("messageId"), time: None },
    firing("channel-list", channels::LIST),
];

/// The settings of the server's side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields, default)]
pub(crate) struct Settings {
    /// Feature sets that are declared in addition to the server's own, and that only push.
    pub push_sets: Vec<String>,
    /// Declares nothing but push events, in those sets.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub push_only: bool,
    /// Feature sets that are declared in addition to the server's own, or replace them: declarations by name.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub sets: Map<String, Value>,
    /// The form in which the feature sets are declared.
    pub feature_sets: SetsForm,
    /// Channels, as descriptors or ids. Without it, the server declares no channels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<Value>>,
    /// Regular expressions by the kind of text that they find. Matches are removed from responses, for which hosts
    /// have to wait.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub redact: BTreeMap<String, String>,
}

/// Feature sets that were added and removed, in the form in which they are fired.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Change {
    added: Map<String, Value>,
    removed: Vec<String>,
}

/// The server's side on one connection.
#[derive(Debug, Default)]
pub(crate) struct McplServerSide {
    negotiated: Negotiated,
    channels: Channels,
    redactor: Redactor,
}

impl ServerSide for McplServerSide {
    fn configure(&mut self, settings: &Value) -> Result<(), String> {
        let settings = Settings::deserialize(settings).map_err(|error| error.to_string())?;
        if settings.push_only {
            self.negotiated.forgo_own_sets();
        }
        self.negotiated.declare_as(settings.feature_sets);
        self.redactor = Redactor::new(&settings.redact)?;
        if let Some(channels) = settings.channels {
            self.channels.offer(channels)?;
            Channels::add_sets(&mut self.negotiated);
        }
        if self.redactor.is_on() {
            let redacts = negotiated::set("contextHooks.afterInference", "Redacts responses");
            self.negotiated.add_set(REDACTION, redacts);
        }
        for (name, set) in &settings.sets {
            let violations = super::SCHEMAS.check("FeatureSet", set).unwrap_or_default();
            if let Some(violation) = violations.first() {
                return Err(format!("sets.{name}: {violation}"));
            }
            self.negotiated.put_set(name, set.clone());
        }
        for name in settings.push_sets {
            self.negotiated.add_set(&name, negotiated::set("pushEvents", "Pushes events fired by hand"));
        }
        Ok(())
    }

    fn permit(&mut self, handler_policy: &HandlerPolicy) {
        if handler_policy.kinds.contains(&JobKind::Agent) && !handler_policy.has_program {
            self.negotiated.add_set(AGENT, negotiated::set("inferenceRequest", "Lets the host's model look at events"));
        }
    }

    fn declare(&mut self, client: &Value) -> Vec<Declaration> {
        let negotiated = self.negotiated.negotiate(client);
        let block = || Declaration { path: &["experimental", "mcpl"], value: self.block() };
        negotiated.then(block).into_iter().collect()
    }

    fn begin(&mut self, cx: &mut dyn ServerCx) {
        self.channels.begin(&self.negotiated, cx);
    }

    fn fires(&self) -> &'static [Firing] {
        FIRES
    }

    fn awaits_host(&self, kind: &str) -> bool {
        matches!(kind, "push" | "inference" | "scope") && self.negotiated.awaits_update()
    }

    fn fire(&mut self, kind: &str, params: &Value, cx: &mut dyn ServerCx) -> Result<String, Unsent> {
        match kind {
            "push" => self.push(Draft::deserialize(params).map_err(Unsent::invalid)?, cx),
            "inference" => self.infer(&Ask::deserialize(params).map_err(Unsent::invalid)?, cx),
            "feature-sets" => {
                let Change { added, removed } = Change::deserialize(params).map_err(Unsent::invalid)?;
                self.negotiated.change(&added, &removed)?;
                Ok(cx.send(SETS_CHANGED, &json!({"added": added, "removed": removed})))
            }
            "scope" => self.elevate(params, cx),
            "model-info" => {
                self.negotiated.may_ask_model()?;
                Ok(cx.ask(MODEL_INFO, &json!({}), Value::Null))
            }
            _ => self.channels.fire(kind, params, &self.negotiated, cx),
        }
    }

    /// Names the feature set in the note tool, because MCPL does not define how a tool names its set (AMB-C4).
    fn list_tools(&self, tools: &mut Vec<Value>) {
        if let Some(tool) = tools.iter_mut().find(|tool| tool["name"] == ADD_NOTE) {
            tool["_meta"] = json!({"featureSet": NOTES_SET});
            tool["description"] = json!("Adds a note; the result contains the state");
        }
        tools.push(scopes::tool());
    }

    /// Adds a note. The result contains the state; a disabled set does nothing (MCPL 0.4 §6.6 and §8).
    fn call(&mut self, call: &ToolCall<'_>, cx: &mut dyn ServerCx) -> Option<Answer> {
        if call.tool != ADD_NOTE {
            return self.write_page(call, cx);
        }
        Some(self.negotiated.gate(NOTES_SET).map(|()| {
            let named = call.params["checkpoint"].as_str();
            if let Some(unknown) = named.filter(|named| !cx.store().notes.has(named)) {
                let used = cx.store().notes.current().map(str::to_owned);
                cx.report(json!({"report": "unknown_checkpoint", "checkpoint": unknown, "used": used}));
            }
            match cx.add_note(call.arguments["text"].as_str().unwrap_or_default(), call.params) {
                Ok(state) => {
                    let mut result = success("Note added");
                    result["state"] = state;
                    result
                }
                Err(why) => failure(&why),
            }
        }))
    }

    fn defer(&mut self, call: &ToolCall<'_>, ticket: u64, cx: &mut dyn ServerCx) -> bool {
        self.ask_to_write(call, ticket, cx)
    }

    fn request(&mut self, method: &str, params: &Value, cx: &mut dyn ServerCx) -> Option<Answer> {
        report_malformed(method, params, cx);
        Some(match method {
            "context/beforeInference" | "context/afterInference" if self.negotiated.only_pushes() => return None,
            "context/beforeInference" => Ok(self.before_inference(params, cx)),
            "context/afterInference" => Ok(self.after_inference(params, cx)),
            "state/rollback" => self.roll_back(params, cx),
            _ => return self.channels.request(method, params, &self.negotiated, cx),
        })
    }

    fn receive(&mut self, method: &str, params: &Value, cx: &mut dyn ServerCx) -> bool {
        report_malformed(method, params, cx);
        match method {
            "context/afterInference" => self.learn(params, cx),
            "featureSets/update" => {
                let Update { enabled, disabled, scopes, unknown } = self.negotiated.update(params);
                cx.report(json!({"report": "feature_sets", "enabled": enabled, "disabled": disabled,
                    "scopes": scopes, "unknown": unknown}));
            }
            "inference/chunk" => receive_chunk(params, cx),
            _ => return self.channels.receive(method, params, &self.negotiated, cx),
        }
        true
    }

    fn granted(&mut self, granted: &Granted<'_>, cx: &mut dyn ServerCx) -> bool {
        if let Some(event_id) = granted.about["push"].as_str() {
            let result = granted.result;
            cx.report(json!({"report": "push_answered", "id": granted.id, "event_id": event_id,
                "accepted": result["accepted"].as_bool(), "inference_id": result["inferenceId"].as_str(),
                "reason": result["reason"].as_str(), "latency_us": granted.latency_us, "late": granted.late}));
            return true;
        }
        let kept = |name: &str| granted.about.get(name);
        if let Some(inference) = kept("inference") {
            inferred(inference, granted, cx);
        } else if let Some(scope) = kept("scope") {
            scopes::said(scope, granted, cx);
        } else if let Some(messages) = kept("incoming") {
            Channels::taken(messages, granted, cx);
        } else if let Some(channels) = kept("listing") {
            Channels::listed(channels, granted, cx);
        } else {
            return false;
        }
        true
    }

    fn infers(&self) -> Option<Result<(), Unsent>> {
        Some(self.negotiated.may_send(INFERENCE, AGENT))
    }

    fn inference(&self, asked: &Infer) -> Option<(&'static str, Value)> {
        let may_ask = self.negotiated.may_send(INFERENCE, AGENT).is_ok();
        may_ask.then(|| (INFERENCE, inference::of_job(asked, AGENT)))
    }

    fn denied(&mut self, _method: &str, about: &Value, error: Option<&Value>, cx: &mut dyn ServerCx) {
        if let Some(scope) = about.get("scope") {
            scopes::unsaid(scope, error, cx);
        }
    }
}

/// Reports params that are malformed. The message is handled all the same, as far as it can be.
fn report_malformed(method: &str, params: &Value, cx: &mut dyn ServerCx) {
    if let Some(why) = malformed(method, params) {
        cx.report(json!({"report": "malformed", "method": method, "why": why}));
    }
}

impl McplServerSide {
    fn block(&self) -> Value {
        let mut block = self.negotiated.block(self.redactor.is_on());
        if self.channels.is_on() {
            block["channels"] = Channels::capability();
        }
        block
    }

    fn push(&self, mut draft: Draft, cx: &mut dyn ServerCx) -> Result<String, Unsent> {
        self.negotiated.may_send(PUSH_EVENT, draft.feature_set.get_or_insert_with(|| PROACTIVE.to_owned()))?;
        let event_id = draft.event_id.get_or_insert_with(|| format!("evt_{}", cx.uuid_v7())).clone();
        draft.origin.get_or_insert_with(|| json!({"server": cx.server()}));
        let timestamp = draft.timestamp.get_or_insert_with(|| cx.stamp()).clone();
        Ok(cx.ask(PUSH_EVENT, &draft.params(&timestamp), json!({"push": event_id})))
    }

    /// Requests an inference. Hooks are answered at once, so none is ever open here (MCPL 0.4 §10.7).
    fn infer(&self, ask: &Ask, cx: &mut dyn ServerCx) -> Result<String, Unsent> {
        self.negotiated.may_send(INFERENCE, ask.feature_set.as_deref().unwrap_or(CONSOLIDATION))?;
        let memories: Vec<&str> = cx.store().memories.all().map(|memory| memory.content.as_str()).collect();
        let params = inference(ask, &memories, self.negotiated.can_stream());
        let about = json!({"inference": {"consolidates": ask.prompt.is_none(), "chunks": {}}});
        Ok(cx.ask(INFERENCE, &params, about))
    }

    /// Injects memories that match the user message. Without a user message, or if the set is disabled, the response
    /// contains no injections: it must be sent all the same.
    fn before_inference(&self, params: &Value, cx: &mut dyn ServerCx) -> Value {
        let inference_id = params["inferenceId"].as_str().unwrap_or_default();
        let query = params["userMessage"].as_str().filter(|_| self.negotiated.is_on(RETRIEVAL)).unwrap_or_default();
        let hits = cx.store().memories.search(query, OFFERED);
        let (injections, memories) = (injections(&hits), hits.len());
        cx.report(json!({"report": "inference", "inference_id": inference_id, "memories": memories}));
        injections
    }

    /// Redacts the response and learns from the rest. A host may send a request even if a notification was declared.
    fn after_inference(&self, params: &Value, cx: &mut dyn ServerCx) -> Value {
        if !self.redactor.is_on() || !self.negotiated.is_on(REDACTION) {
            self.learn(params, cx);
            return unmodified();
        }
        let answer = self.redactor.answer(params["assistantMessage"].as_str().unwrap_or_default());
        let mut params = params.clone();
        if let Some(modified) = answer.get("modifiedResponse") {
            params["assistantMessage"] = modified.clone();
            cx.report(json!({"report": "redacted", "inference_id": params["inferenceId"],
                "redactions": answer["metadata"]["redactions"]}));
        }
        self.learn(&params, cx);
        answer
    }

    fn learn(&self, params: &Value, cx: &mut dyn ServerCx) {
        if let Some((content, source)) = lesson(params).filter(|_| self.negotiated.is_on(EXTRACTION)) {
            cx.remember(content, source);
        }
    }

    fn roll_back(&self, params: &Value, cx: &mut dyn ServerCx) -> Answer {
        let (set, checkpoint) = (text(params, "featureSet")?, text(params, "checkpoint")?);
        self.negotiated.gate(set)?;
        if set != NOTES_SET {
            let reason = format!("feature set {set} does not support rollback");
            return Ok(json!({"checkpoint": checkpoint, "success": false, "reason": reason}));
        }
        let result = cx.store().notes.rollback(checkpoint)?;
        cx.report(json!({"report": "rolled_back", "checkpoint": checkpoint}));
        cx.changed(NOTES);
        Ok(result)
    }
}

/// The result of `context/beforeInference` (MCPL 0.4 §10.2). It names the set that it comes from (MCPL 0.4 §6.5).
fn injections(hits: &[Hit<'_>]) -> Value {
    let mut list = Vec::new();
    if !hits.is_empty() {
        let lines: Vec<&str> = hits.iter().map(|hit| hit.memory.content.as_str()).collect();
        let ids: Vec<&str> = hits.iter().map(|hit| hit.memory.id.as_str()).collect();
        list.push(json!({
            "namespace": "memory",
            "position": "system",
            "content": [{"type": "text", "text": format!("<memories>\n{}\n</memories>", lines.join("\n"))}],
            "metadata": {"memoryIds": ids},
        }));
    }
    json!({"featureSet": RETRIEVAL, "contextInjections": list})
}

/// The result of a `context/afterInference` that came as a request although a notification was declared.
fn unmodified() -> Value {
    json!({"featureSet": EXTRACTION})
}

/// What to learn from a `context/afterInference`, and the conversation that it comes from.
fn lesson(params: &Value) -> Option<(String, String)> {
    const MAX: usize = 240;
    let text = |name: &str| params.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let answered = crate::proposals::clip(text("assistantMessage")?, MAX);
    let content = match text("userMessage") {
        Some(asked) => format!("Asked: {} Answered: {answered}", crate::proposals::clip(asked, MAX)),
        None => answered.into_owned(),
    };
    Some((content, format!("conversation {}", text("conversationId").unwrap_or("unnamed"))))
}

#[cfg(test)]
mod tests;
