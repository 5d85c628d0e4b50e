//! The server's side: hears the host's hooks and answers with memories, pushes, asks the model, keeps notes with state.
//!
//! Channels and scopes are not offered, so nothing of them is declared.

mod negotiated;

use super::PUSH_EVENT;
use super::push::{Draft, Verdict};
use crate::extension::server::memory::Hit;
use crate::extension::server::{
    ADD_NOTE, Answer, Declaration, Firing, Granted, NOTES, ServerCx, ServerSide, ToolCall, Unsent, success, text,
};
use negotiated::{Negotiated, Update};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Finds memories before an inference.
const RETRIEVAL: &str = "memory.retrieval";
/// Learns from what was said.
const EXTRACTION: &str = "memory.extraction";
/// Tells the host of events.
pub const PROACTIVE: &str = "memory.proactive";
/// Has the host summarize memories.
const CONSOLIDATION: &str = "memory.consolidation";
/// Notes, with checkpoints.
const NOTES_SET: &str = "notes.edit";

/// Asks the host for an inference (§11).
const INFERENCE: &str = "inference/request";
/// Asks the host which model it runs (§12).
const MODEL_INFO: &str = "model/info";

/// How many memories are offered at once.
const OFFERED: usize = 3;

/// What can be set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Settings {
    /// Feature sets that are declared beside the server's own and that only push.
    pub push_sets: Vec<String>,
}

/// Its side on one connection.
#[derive(Clone, Debug, Default)]
pub struct McplSide {
    negotiated: Negotiated,
}

impl ServerSide for McplSide {
    fn configure(&mut self, settings: &Value) -> Result<(), String> {
        let Settings { push_sets } = Settings::deserialize(settings).map_err(|error| error.to_string())?;
        self.negotiated.set_push_sets(push_sets);
        Ok(())
    }

    fn declare(&mut self, client: &Value) -> Vec<Declaration> {
        let negotiated = self.negotiated.negotiate(client);
        let block = || Declaration { path: &["experimental", "mcpl"], value: self.negotiated.block() };
        negotiated.then(block).into_iter().collect()
    }

    fn fires(&self) -> &'static [Firing] {
        &[
            Firing { kind: "push", method: PUSH_EVENT, occurrence: Some("eventId") },
            Firing { kind: "inference", method: INFERENCE, occurrence: None },
            Firing { kind: "model_info", method: MODEL_INFO, occurrence: None },
        ]
    }

    fn fire(&mut self, kind: &str, params: &Value, cx: &mut dyn ServerCx) -> Result<String, Unsent> {
        match kind {
            "push" => self.push(Draft::deserialize(params).map_err(Unsent::invalid)?, cx),
            "inference" => self.infer(&Ask::deserialize(params).map_err(Unsent::invalid)?, cx),
            _ => {
                self.negotiated.may_ask_model()?;
                Ok(cx.ask(MODEL_INFO, &json!({}), Value::Null))
            }
        }
    }

    /// The note tool names its feature set: the proposal says nothing on the wire about which tool belongs to which
    /// set (AMB-C4).
    fn list_tools(&self, tools: &mut Vec<Value>) {
        if let Some(tool) = tools.iter_mut().find(|tool| tool["name"] == ADD_NOTE) {
            tool["_meta"] = json!({"featureSet": NOTES_SET});
            tool["description"] = json!("Adds a note; the result carries the state");
        }
    }

    /// Adds a note: the result carries the state, and a set that is off does nothing (§6.6, §8).
    fn call(&mut self, call: &ToolCall<'_>, cx: &mut dyn ServerCx) -> Option<Answer> {
        if call.tool != ADD_NOTE {
            return None;
        }
        Some(self.negotiated.gate(NOTES_SET).map(|()| {
            let mut result = success("Note added");
            result["state"] = cx.add_note(call.arguments["text"].as_str().unwrap_or_default(), call.params);
            result
        }))
    }

    fn request(&mut self, method: &str, params: &Value, cx: &mut dyn ServerCx) -> Option<Answer> {
        Some(match method {
            "context/beforeInference" => Ok(self.before_inference(params, cx)),
            "context/afterInference" => {
                self.learn(params, cx);
                Ok(unmodified())
            }
            "state/rollback" => self.roll_back(params, cx),
            _ => return None,
        })
    }

    fn hear(&mut self, method: &str, params: &Value, cx: &mut dyn ServerCx) -> bool {
        match method {
            "context/afterInference" => self.learn(params, cx),
            "featureSets/update" => {
                let Update { enabled, disabled, unknown } = self.negotiated.update(params);
                cx.report(json!({"report": "feature_sets", "enabled": enabled, "disabled": disabled,
                    "unknown": unknown}));
            }
            "inference/chunk" => hear_chunk(params, cx),
            _ => return false,
        }
        true
    }

    fn granted(&mut self, granted: &Granted<'_>, cx: &mut dyn ServerCx) -> bool {
        if let Some(event_id) = granted.about["push"].as_str() {
            let Verdict { accepted, inference_id, reason, .. } = Verdict::of_result(granted.result);
            cx.report(json!({"report": "push_answered", "id": granted.id, "event_id": event_id, "accepted": accepted,
                "inference_id": inference_id, "reason": reason, "latency_us": granted.latency_us,
                "late": granted.late}));
            return true;
        }
        granted.about.get("inference").is_some_and(|inference| {
            inferred(inference, granted, cx);
            true
        })
    }
}

impl McplSide {
    fn push(&self, mut draft: Draft, cx: &mut dyn ServerCx) -> Result<String, Unsent> {
        self.negotiated.may_send(PUSH_EVENT, draft.feature_set.get_or_insert_with(|| PROACTIVE.to_owned()))?;
        let event_id = draft.event_id.get_or_insert_with(|| format!("evt_{}", cx.uuid_v7())).clone();
        draft.origin.get_or_insert_with(|| json!({"server": cx.server()}));
        Ok(cx.ask(PUSH_EVENT, &draft.params(&cx.stamp()), json!({"push": event_id})))
    }

    /// Asks for an inference. Hooks are answered at once, so none is ever open here (§10.7).
    fn infer(&self, ask: &Ask, cx: &mut dyn ServerCx) -> Result<String, Unsent> {
        self.negotiated.may_send(INFERENCE, CONSOLIDATION)?;
        let memories: Vec<&str> = cx.store().memories.all().map(|memory| memory.content.as_str()).collect();
        let params = inference(ask, &memories, self.negotiated.can_stream());
        let about = json!({"inference": {"consolidates": ask.prompt.is_none(), "chunks": {}}});
        Ok(cx.ask(INFERENCE, &params, about))
    }

    /// Injects what fits the user's message. Nothing fits generation that goes on without one, and a set that is off
    /// injects nothing: the answer must come all the same.
    fn before_inference(&self, params: &Value, cx: &mut dyn ServerCx) -> Value {
        let inference_id = params["inferenceId"].as_str().unwrap_or_default();
        let query = params["userMessage"].as_str().filter(|_| self.negotiated.is_on(RETRIEVAL)).unwrap_or_default();
        let hits = cx.store().memories.search(query, OFFERED);
        let (injections, memories) = (injections(&hits), hits.len());
        cx.report(json!({"report": "inference", "inference_id": inference_id, "memories": memories}));
        injections
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
            let reason = format!("feature set {set} has no rollback");
            return Ok(json!({"checkpoint": checkpoint, "success": false, "reason": reason}));
        }
        let result = cx.store().notes.rollback(checkpoint)?;
        cx.report(json!({"report": "rolled_back", "checkpoint": checkpoint}));
        cx.changed(NOTES);
        Ok(result)
    }
}

/// A part of a streamed inference came: it is kept with the request, under its index.
fn hear_chunk(params: &Value, cx: &mut dyn ServerCx) {
    let chunks = params["requestId"].as_i64().and_then(|id| cx.about(id)?.pointer_mut("/inference/chunks"));
    match (chunks, params["index"].as_u64(), &params["delta"]) {
        (Some(chunks), Some(index), Value::String(delta)) => chunks[index.to_string()] = json!(delta),
        (None, ..) => cx.report(json!({"report": "orphan", "id": params["requestId"].to_string()})),
        _ => {}
    }
}

/// The answer to an inference: holds the chunks against it, and remembers a summary.
fn inferred(inference: &Value, granted: &Granted<'_>, cx: &mut dyn ServerCx) {
    let count = inference["chunks"].as_object().map_or(0, serde_json::Map::len);
    // As many as there are, from 0 on: a gap shows as a text that is missing.
    let whole: Option<String> = (0..count).map(|index| inference["chunks"][index.to_string()].as_str()).collect();
    let content = granted.result["content"].as_str();
    let agree = (count > 0).then(|| whole.as_deref().is_some_and(|whole| Some(whole) == content));
    let (model, finish) = (granted.result["model"].as_str(), granted.result["finishReason"].as_str());
    cx.report(json!({"report": "inference_answered", "id": granted.id, "model": model, "finish_reason": finish,
        "chunks": count, "chunks_agree": agree, "latency_us": granted.latency_us, "late": granted.late}));
    if let Some(summary) = content.filter(|text| inference["consolidates"] == true && !text.is_empty()) {
        cx.remember(summary.to_owned(), CONSOLIDATION.to_owned());
    }
}

/// What to ask the host's model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Ask {
    /// The prompt; a summary of the memories where there is none.
    prompt: Option<String>,
    /// The conversation it belongs to.
    conversation_id: Option<String>,
    /// Whether to stream.
    stream: bool,
}

/// The params of `inference/request` in the name of [`CONSOLIDATION`]. Streams only where the host can.
fn inference(ask: &Ask, memories: &[&str], can_stream: bool) -> Value {
    let prompt = match &ask.prompt {
        Some(prompt) => prompt.clone(),
        None => format!("Summarize these memories in one sentence each:\n- {}", memories.join("\n- ")),
    };
    let mut params = json!({"featureSet": CONSOLIDATION});
    if let Some(conversation) = &ask.conversation_id {
        params["conversationId"] = json!(conversation);
    }
    params["stream"] = json!(ask.stream && can_stream);
    params["messages"] = json!([{"role": "user", "content": prompt}]);
    params["preferences"] = json!({"maxTokens": 500, "temperature": 0.2});
    params
}

/// The answer to `context/beforeInference` (§10.2). It names the one set it comes from (§6.5).
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

/// The answer to a `context/afterInference` that came as a request although a notification was declared.
fn unmodified() -> Value {
    json!({"featureSet": EXTRACTION})
}

/// What there is to learn from a `context/afterInference`, and where it comes from.
fn lesson(params: &Value) -> Option<(String, String)> {
    const MOST: usize = 240;
    let text = |name: &str| params.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let answered = crate::extension::clip(text("assistantMessage")?, MOST);
    let content = match text("userMessage") {
        Some(asked) => format!("Asked: {} Answered: {answered}", crate::extension::clip(asked, MOST)),
        None => answered.into_owned(),
    };
    Some((content, format!("conversation {}", text("conversationId").unwrap_or("unnamed"))))
}

#[cfg(test)]
mod tests;
