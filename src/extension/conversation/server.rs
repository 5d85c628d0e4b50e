//! The server's side: declares that it wants to see user messages, reads one, words the context it answers with.

use serde_json::{Value, json};

/// What stands at `capabilities.conversationEvents` (New Capability).
pub fn capability() -> Value {
    json!({"onUserMessage": true})
}

/// A user's message, as far as a server needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserMessage {
    /// What the host calls it.
    pub message_id: String,
    /// Its text.
    pub content: String,
}

/// Reads the params of `conversation/userMessage`. Other members (`recentHistory`, unknown ones) are passed over.
///
/// # Errors
/// A sentence fragment that tells which member is missing or no string.
pub fn read(params: &Value) -> Result<UserMessage, String> {
    let text = |name: &str| {
        let value = params.get(name).and_then(Value::as_str);
        value.map(str::to_owned).ok_or_else(|| format!("`{name}` must be a string"))
    };
    Ok(UserMessage { message_id: text("messageId")?, content: text("content")? })
}

/// Something remembered that fits a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory<'a> {
    /// What is remembered.
    pub content: &'a str,
    /// How well it fits, 0 to 1 (the proposal gives no range).
    pub relevance: f64,
    /// Where it comes from.
    pub source: &'a str,
}

/// A `ConversationContextResult`: the memories, or an empty object where there is nothing to inject.
pub fn context(memories: &[Memory<'_>]) -> Value {
    if memories.is_empty() {
        return json!({});
    }
    let list: Vec<Value> = memories
        .iter()
        .map(|memory| json!({"content": memory.content, "relevance": memory.relevance, "source": memory.source}))
        .collect();
    json!({"structuredContext": {"memories": list}})
}

/// The params of a `conversation/context` notification: the same, with the message it belongs to. The proposal gives
/// the answer to a notification no correlation; `messageId` is how hosts can tell (AMB-A1).
pub fn addressed(message: &UserMessage, context: Value) -> Value {
    let mut params = json!({"messageId": message.message_id});
    if let (Some(params), Value::Object(context)) = (params.as_object_mut(), context) {
        params.extend(context);
    }
    params
}

#[cfg(test)]
mod tests {
    use super::super::{CONTEXT, SCHEMAS, USER_MESSAGE};
    use super::*;

    #[test]
    fn the_context_fits_the_proposal_in_both_carriers() {
        let message = read(&json!({"messageId": "m1", "content": "hi", "recentHistory": []})).expect("readable");
        let some = context(&[Memory { content: "one", relevance: 0.5, source: "s" }]);
        for (context, count) in [(context(&[]), 1), (some, 2)] {
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
    fn a_message_without_its_text_is_told() {
        assert_eq!(read(&json!({"messageId": "m"})), Err("`content` must be a string".to_owned()));
        assert_eq!(read(&json!({"messageId": 1, "content": ""})), Err("`messageId` must be a string".to_owned()));
    }
}
