//! Inferences that the server asks for (§11): what it asks, the chunks of a streamed answer, and the answer.

use super::CONSOLIDATION;
use crate::proposals::server::handler_job::Infer;
use crate::proposals::server::{Granted, ServerCx};
use serde::Deserialize;
use serde_json::{Value, json};

/// A part of a streamed inference came: it is kept with the request, under its index.
pub fn receive_chunk(params: &Value, cx: &mut dyn ServerCx) {
    let chunks = params["requestId"].as_i64().and_then(|id| cx.about(id)?.pointer_mut("/inference/chunks"));
    match (chunks, params["index"].as_u64(), &params["delta"]) {
        (Some(chunks), Some(index), Value::String(delta)) => chunks[index.to_string()] = json!(delta),
        (None, ..) => cx.report(json!({"report": "orphan", "id": params["requestId"].to_string()})),
        _ => {}
    }
}

/// So many memories are summed up at once: the latest.
const CONSOLIDATED: usize = 8;

/// The answer to an inference: holds the chunks against it, and remembers a summary.
pub fn inferred(inference: &Value, granted: &Granted<'_>, cx: &mut dyn ServerCx) {
    let count = inference["chunks"].as_object().map_or(0, serde_json::Map::len);
    // As many as there are, from 0 on: a gap shows as a text that is missing.
    let whole: Option<String> = (0..count).map(|index| inference["chunks"][index.to_string()].as_str()).collect();
    let content = granted.result["content"].as_str();
    let agree = (count > 0).then(|| whole.as_deref().is_some_and(|whole| Some(whole) == content));
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
pub struct Ask {
    /// The prompt; a summary of the memories where there is none.
    pub prompt: Option<String>,
    /// The conversation it belongs to.
    pub conversation_id: Option<String>,
    /// Whether to stream.
    pub stream: bool,
    /// In whose name; [`CONSOLIDATION`] where none is given.
    pub feature_set: Option<String>,
    /// How much the model may say at most, in tokens; 500 where nothing is given.
    pub max_tokens: Option<u64>,
    /// How freely it may choose; 0.2 where nothing is given.
    pub temperature: Option<f64>,
}

/// The params of `inference/request` . Streams only where the host can.
pub fn inference(ask: &Ask, memories: &[&str], can_stream: bool) -> Value {
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

/// The same for something that another room wants of a model, in the name of a feature set.
pub fn of_job(asked: &Infer, set: &str) -> Value {
    let said = |role: &str, text: &str| json!({"role": role, "content": text});
    let mut messages: Vec<Value> = asked.system_prompt.iter().map(|text| said("system", text)).collect();
    messages.push(said("user", &asked.prompt));
    let mut params = json!({"featureSet": set, "stream": false, "messages": messages});
    if let Some(most) = asked.max_tokens {
        params["preferences"] = json!({"maxTokens": most});
    }
    params
}
