//! What the client offers a server: its capabilities, and its responses to the server's requests.

use super::message::Refusal;
use crate::protocol::errors::METHOD_NOT_FOUND;
use serde_json::{Map, Value, json};

/// A root: a folder that the server may work in (`roots/list`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Its URI, `file://…`.
    pub uri: String,
    /// A display name.
    pub name: Option<String>,
}

/// What the client declares and responds with.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub capabilities: Value,
    roots: Vec<Root>,
    /// Methods whose requests get an empty object as their result.
    pub granted: Vec<String>,
}

impl Offer {
    /// Declares `roots` if there are any; the caller's own capabilities override that.
    pub(super) fn new(extra: &Value, roots: Vec<Root>) -> Self {
        let mut capabilities = if roots.is_empty() { json!({}) } else { json!({"roots": {}}) };
        lay_over(&mut capabilities, extra);
        Self { capabilities, roots, granted: Vec::new() }
    }

    /// The response to a request of the server, in either era.
    ///
    /// # Errors
    ///
    /// The refusal: the client does not offer the method.
    pub(super) fn answer(&self, method: &str) -> Result<Value, Refusal> {
        let refuse = |why: &str| Err((METHOD_NOT_FOUND, format!("{method}: {why}")));
        match method {
            "ping" => Ok(json!({})),
            _ if self.granted.iter().any(|granted| granted == method) => Ok(json!({})),
            "roots/list" => Ok(json!({"roots": self.roots.iter().map(root).collect::<Vec<_>>()})),
            "elicitation/create" if self.capabilities.get("elicitation").is_some() => Ok(json!({"action": "decline"})),
            "elicitation/create" => refuse("this client has no user to ask and does not declare elicitation"),
            "sampling/createMessage" => refuse("this client has no model and cannot sample"),
            _ => refuse("this client does not support the method"),
        }
    }
}

fn root(root: &Root) -> Value {
    let mut object = Map::new();
    object.insert("uri".to_owned(), root.uri.clone().into());
    if let Some(name) = &root.name {
        object.insert("name".to_owned(), name.clone().into());
    }
    Value::Object(object)
}

/// Merges `over` into `base`, recursively for objects.
fn lay_over(base: &mut Value, over: &Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (name, value) in over {
                lay_over(base.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (_, Value::Null) => {}
        (base, over) => *base = over.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_of_the_caller_are_laid_over_roots() {
        let root = Root { uri: "file:///p".to_owned(), name: None };
        let extra = json!({"hooks": {"supported_events": ["session_start"]}, "roots": {"listChanged": true}});
        let offer = Offer::new(&extra, vec![root]);
        assert_eq!(
            offer.capabilities,
            json!({"roots": {"listChanged": true}, "hooks": {"supported_events": ["session_start"]}})
        );
        assert_eq!(Offer::new(&Value::Null, vec![]).capabilities, json!({}));
    }

    #[test]
    fn x5_what_the_client_cannot_do_is_refused_with_the_reason() {
        let offer = Offer::new(&Value::Null, vec![]);
        for method in ["sampling/createMessage", "elicitation/create", "push/event"] {
            let (code, message) = offer.answer(method).expect_err("refused");
            assert_eq!(code, -32601);
            assert!(message.starts_with(method), "{message}");
        }
        let declared = Offer::new(&json!({"elicitation": {}}), vec![]);
        assert_eq!(declared.answer("elicitation/create"), Ok(json!({"action": "decline"})));
    }
}
