//! The server side of SEP-1975: subscribes to user messages, and responds to each with context.

use super::{CONTEXT, USER_MESSAGE};
use crate::proposals::server::memory::{Hit, Memories};
use crate::proposals::server::{Answer, Declaration, Refusal, ServerCx, ServerSide};
use serde::Deserialize;
use serde_json::{Value, json};

/// The maximum number of memories per response.
const OFFERED: usize = 3;

/// How the server sends the context if the user message was a notification (AMB-A1). If it was a request, the context
/// is always its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Carrier {
    /// As a notification.
    #[default]
    Notification,
    /// As a request.
    Request,
}

/// The options of this side.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// How to send the context for a notification: `notification` or `request`.
    carrier: Carrier,
}

/// The proposal's server side on one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ConversationServerSide {
    settings: Settings,
}

impl ServerSide for ConversationServerSide {
    fn configure(&mut self, settings: &Value) -> Result<(), String> {
        self.settings = Settings::deserialize(settings).map_err(|error| error.to_string())?;
        Ok(())
    }

    fn declare(&mut self, _client: &Value) -> Vec<Declaration> {
        vec![Declaration { path: &["conversationEvents"], value: capability() }]
    }

    fn request(&mut self, method: &str, params: &Value, cx: &mut dyn ServerCx) -> Option<Answer> {
        (method == USER_MESSAGE).then(|| take(params, "request", cx).map(|(_, context)| context))
    }

    fn receive(&mut self, method: &str, params: &Value, cx: &mut dyn ServerCx) -> bool {
        if method != USER_MESSAGE {
            return false;
        }
        if let Ok((message, context)) = take(params, "notification", cx) {
            let params = addressed(&message, context);
            match self.settings.carrier {
                Carrier::Notification => cx.notify(CONTEXT, &params),
                Carrier::Request => drop(cx.ask(CONTEXT, &params, Value::Null)),
            }
        }
        true
    }
}

/// Reads a message, finds matching memories, and reports both.
fn take(params: &Value, carrier: &'static str, cx: &mut dyn ServerCx) -> Result<(UserMessage, Value), Refusal> {
    let message = read(params).map_err(Refusal::params)?;
    let hits = find(&message, &cx.store().memories);
    let (context, memories) = (context(&hits), hits.len());
    cx.report(json!({"report": "user_message", "message_id": message.message_id, "carrier": carrier,
        "memories": memories}));
    Ok((message, context))
}

/// The memories that match the message, then those that match the history, up to the maximum.
fn find<'a>(message: &UserMessage, memories: &'a Memories) -> Vec<Hit<'a>> {
    let mut hits = memories.search(&message.content, OFFERED);
    for hit in memories.search(&message.history.join("\n"), OFFERED) {
        if hits.len() < OFFERED && hits.iter().all(|known| known.memory.id != hit.memory.id) {
            hits.push(hit);
        }
    }
    hits
}

/// The value of `capabilities.conversationEvents` (SEP-1975, New Capability).
fn capability() -> Value {
    json!({"onUserMessage": true})
}

/// A user's message, as far as a server needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UserMessage {
    /// The host's id of the message.
    pub message_id: String,
    /// Its text.
    pub content: String,
    /// The texts of earlier messages, if the host sent them.
    pub history: Vec<String>,
}

/// Reads the params of `conversation/userMessage`. Unknown members and invalid entries of the history are ignored.
///
/// # Errors
/// A sentence fragment that names the member which is missing or not a string.
pub(crate) fn read(params: &Value) -> Result<UserMessage, String> {
    let text = |name: &str| {
        let value = params.get(name).and_then(Value::as_str);
        value.map(str::to_owned).ok_or_else(|| format!("`{name}` must be a string"))
    };
    let said = params["recentHistory"].as_array().into_iter().flatten();
    let history = said.filter_map(|entry| entry["content"].as_str()).map(str::to_owned).collect();
    Ok(UserMessage { message_id: text("messageId")?, content: text("content")?, history })
}

/// A `ConversationContextResult` with the memories, or an empty object if there are none. The relevance is between 0
/// and 1; the proposal gives no range.
fn context(hits: &[Hit<'_>]) -> Value {
    if hits.is_empty() {
        return json!({});
    }
    let list: Vec<Value> = hits
        .iter()
        .map(|hit| json!({"content": hit.memory.content, "relevance": hit.relevance, "source": hit.memory.source}))
        .collect();
    json!({"structuredContext": {"memories": list}})
}

/// A `ConversationContextResult` with plain text, or an empty object if the text is empty.
pub(crate) fn in_words(text: &str) -> Value {
    if text.is_empty() { json!({}) } else { json!({"context": text}) }
}

/// The params of a `conversation/context` message: the context with the id of its user message. The proposal does not
/// match contexts to messages that are notifications; hosts need `messageId` for that (AMB-A1).
pub(crate) fn addressed(message: &UserMessage, context: Value) -> Value {
    let mut params = json!({"messageId": message.message_id});
    if let (Some(params), Value::Object(context)) = (params.as_object_mut(), context) {
        params.extend(context);
    }
    params
}

#[cfg(test)]
mod tests {
    use super::super::SCHEMAS;
    use super::*;

    #[test]
    fn the_context_fits_the_proposal_in_every_carrier() {
        let message = read(&json!({"messageId": "m1", "content": "hi", "recentHistory": []})).expect("readable");
        let memories = Memories::preloaded();
        assert_eq!(SCHEMAS.check(&format!("{USER_MESSAGE}:result"), &in_words("known")), Some(vec![]));
        assert_eq!(in_words(""), json!({}));
        for (hits, count) in [(vec![], 1), (memories.search("schema", 1), 2)] {
            let context = context(&hits);
            assert_eq!(SCHEMAS.check(&format!("{USER_MESSAGE}:result"), &context), Some(vec![]));
            let params = addressed(&message, context);
            assert_eq!(SCHEMAS.check(&format!("{CONTEXT}:params"), &params), Some(vec![]));
            assert_eq!(
                (&params["messageId"], params.as_object().map(serde_json::Map::len)),
                (&json!("m1"), Some(count))
            );
        }
        assert_eq!(SCHEMAS.check("capability:server", &capability()), Some(vec![]));
    }

    #[test]
    fn a_message_without_its_text_is_reported() {
        assert_eq!(read(&json!({"messageId": "m"})), Err("`content` must be a string".to_owned()));
        assert_eq!(read(&json!({"messageId": 1, "content": ""})), Err("`messageId` must be a string".to_owned()));
    }

    #[test]
    fn the_history_fills_what_the_message_leaves_free() {
        let memories = Memories::preloaded();
        let found = |content: &str, history: &[&str]| {
            let history: Vec<Value> = history.iter().map(|said| json!({"role": "user", "content": said})).collect();
            let message = read(&json!({"messageId": "m", "content": content, "recentHistory": history}));
            let hits = find(&message.expect("readable"), &memories);
            hits.iter().map(|hit| hit.memory.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(found("And on Mondays?", &[]), [] as [&str; 0]);
        assert_eq!(found("And on Mondays?", &["How is the mannequin installation?"]), ["mem_2"]);
        assert_eq!(found("The schema?", &["the schema", "lighting of the mannequin"]), ["mem_1", "mem_2"]);
    }

    #[test]
    fn settings_are_read_or_refused() {
        let mut side = ConversationServerSide::default();
        assert_eq!(side.configure(&json!({"carrier": "request"})), Ok(()));
        assert_eq!(side.settings.carrier, Carrier::Request);
        assert!(side.configure(&json!({"carrier": "pigeon"})).is_err_and(|fault| fault.contains("pigeon")));
        assert!(side.configure(&json!({"carriers": "request"})).is_err());
    }
}
