//! Inferences that the server requests (MCPL 0.4 §11): the request, the chunks of a stream, and the response.

use super::CONSOLIDATION;
use crate::proposals::server::handler_job::Infer;
use crate::proposals::server::{Granted, ServerCx};
use serde::Deserialize;
use serde_json::{Value, json};

/// Handles a chunk of a streamed inference: keeps it with the request, under its index. An index that was not the next
/// one is kept as `misplaced`.
pub(super) fn receive_chunk(params: &Value, cx: &mut dyn ServerCx) {
    let inference = params["requestId"].as_i64().and_then(|id| cx.about(id)?.get_mut("inference"));
    match (inference, params["index"].as_u64(), &params["delta"]) {
        (Some(inference), Some(index), Value::String(delta)) => {
            let next = inference["chunks"].as_object().map_or(0, serde_json::Map::len) as u64;
            if index != next && inference["misplaced"].is_null() {
                inference["misplaced"] = json!({"index": index, "expected": next});
            }
            inference["chunks"][index.to_string()] = json!(delta);
        }
        (None, ..) => cx.report(json!({"report": "orphan", "id": params["requestId"].to_string()})),
        _ => {}
    }
}

/// How many memories are summarized at once: the latest.
const CONSOLIDATED: usize = 8;

/// Handles the response to an inference: compares it with the chunks, and remembers a summary.
pub(super) fn inferred(inference: &Value, granted: &Granted<'_>, cx: &mut dyn ServerCx) {
    let count = inference["chunks"].as_object().map_or(0, serde_json::Map::len);
    // The chunks from 0 on. A gap makes the text incomplete.
    let whole: Option<String> = (0..count).map(|index| inference["chunks"][index.to_string()].as_str()).collect();
    let content = granted.result["content"].as_str();
    let is_ordered = inference["misplaced"].is_null();
    let agree = (count > 0).then(|| is_ordered && whole.as_deref().is_some_and(|whole| Some(whole) == content));
    if !is_ordered {
        let (index, expected) = (&inference["misplaced"]["index"], &inference["misplaced"]["expected"]);
        cx.report(json!({"report": "chunk_misplaced", "id": granted.id, "index": index, "expected": expected}));
    }
    let (model, finish) = (granted.result["model"].as_str(), granted.result["finishReason"].as_str());
    cx.report(json!({"report": "inference_answered", "id": granted.id, "model": model, "finish_reason": finish,
        "content": content,
        "chunks": count, "chunks_agree": agree, "latency_us": granted.latency_us, "late": granted.late}));
    if let Some(summary) = content.filter(|text| inference["consolidates"] == true && !text.is_empty()) {
        cx.remember(summary.to_owned(), CONSOLIDATION.to_owned());
    }
}

/// What to ask the host's model.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Ask {
    /// The prompt; a summary of the memories by default.
    pub prompt: Option<String>,
    /// The conversation that it belongs to.
    pub conversation_id: Option<String>,
    /// Whether to stream the answer.
    pub stream: bool,
    /// The feature set of the request; [`CONSOLIDATION`] by default.
    pub feature_set: Option<String>,
    /// The maximum length of the answer in tokens; 500 by default.
    pub max_tokens: Option<u64>,
    /// The temperature; 0.2 by default.
    pub temperature: Option<f64>,
}

/// The params of `inference/request`. They ask for a stream only if the host supports it.
pub(super) fn inference(ask: &Ask, memories: &[&str], can_stream: bool) -> Value {
    let prompt = match &ask.prompt {
        Some(prompt) => prompt.clone(),
        None => {
            let latest = &memories[memories.len().saturating_sub(CONSOLIDATED)..];
            format!("Summarize these memories in one sentence each:\n- {}", latest.join("\n- "))
        }
    };
    let mut params = json!({"featureSet": ask.feature_set.as_deref().unwrap_or(CONSOLIDATION)});
    if let Some(conversation) = &ask.conversation_id {
        params["conversationId"] = json!(conversation);
    }
    params["stream"] = json!(ask.stream && can_stream);
    params["messages"] = json!([{"role": "user", "content": prompt}]);
    params["preferences"] =
        json!({"maxTokens": ask.max_tokens.unwrap_or(500), "temperature": ask.temperature.unwrap_or(0.2)});
    params
}

/// The params of `inference/request` for a job of another proposal, with a feature set. The model and the tools that the
/// job names are advisory (MCPL 0.4 §11.2).
pub(super) fn of_job(asked: &Infer, set: &str) -> Value {
    let said = |role: &str, text: &str| json!({"role": role, "content": text});
    let mut messages: Vec<Value> = asked.system_prompt.iter().map(|text| said("system", text)).collect();
    messages.push(said("user", &asked.prompt));
    let mut params = json!({"featureSet": set, "stream": false, "messages": messages});
    let tools = Some(&asked.tools).filter(|tools| !tools.is_empty());
    let wishes = [("maxTokens", json!(asked.max_tokens)), ("model", json!(asked.model)), ("tools", json!(tools))];
    for (name, wish) in wishes.into_iter().filter(|(_, wish)| !wish.is_null()) {
        params["preferences"][name] = wish;
    }
    params
}
