//! Writes JSON-RPC messages, and keeps the caller's params as they were written.
//!
//! Never: the meaning of methods.

use crate::wire::Id;
use serde_json::{Value, json};

/// The params of a request or notification.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Params {
    /// No `params` member.
    #[default]
    Absent,
    /// A value, serialized compactly.
    Value(Value),
    /// JSON text that is sent as it is, without a check. Only line breaks become spaces (they can only occur outside
    /// strings), because a message over stdio is one line.
    Raw(Vec<u8>),
}

impl From<Value> for Params {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl Params {
    /// The text on the wire; `None` if there is no `params` member.
    pub(crate) fn text(&self) -> Option<Vec<u8>> {
        match self {
            Self::Absent => None,
            Self::Value(value) => Some(value.to_string().into_bytes()),
            Self::Raw(text) => Some(on_one_line(text)),
        }
    }
}

fn on_one_line(text: &[u8]) -> Vec<u8> {
    text.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect()
}

/// Builds a request, or without an id, a notification.
pub(crate) fn call(id: Option<&Value>, method: &str, params: Option<&[u8]>) -> Vec<u8> {
    let mut out = br#"{"jsonrpc":"2.0""#.to_vec();
    if let Some(id) = id {
        out.extend_from_slice(format!(r#","id":{id}"#).as_bytes());
    }
    out.extend_from_slice(format!(r#","method":{}"#, Value::from(method)).as_bytes());
    if let Some(params) = params {
        out.extend_from_slice(br#","params":"#);
        out.extend_from_slice(params);
    }
    out.push(b'}');
    out
}

/// A JSON-RPC error to respond with: its code and message.
pub(crate) type Refusal = (i64, String);

/// A response to the request with this id text.
pub(crate) fn response(id: &[u8], answer: &Result<Value, Refusal>) -> Vec<u8> {
    let body = match answer {
        Ok(result) => format!(r#","result":{result}}}"#),
        Err((code, message)) => format!(r#","error":{}}}"#, json!({"code": code, "message": message})),
    };
    [br#"{"jsonrpc":"2.0","id":"#, Id(id).echoed(), body.as_bytes()].concat()
}

/// An error response with a complete error object.
pub(crate) fn error_response(id: &[u8], error: &Value) -> Vec<u8> {
    [br#"{"jsonrpc":"2.0","id":"#, Id(id).echoed(), format!(r#","error":{error}}}"#).as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).expect("UTF-8")
    }

    #[test]
    fn raw_params_keep_their_bytes_on_one_line() {
        let params = Params::Raw(b"{\"x\": 1.0e400,\n \"y\":\"\\u0041\"}".to_vec());
        let sent = call(Some(&json!(1)), "a/b", params.text().as_deref());
        assert_eq!(text(sent), r#"{"jsonrpc":"2.0","id":1,"method":"a/b","params":{"x": 1.0e400,  "y":"\u0041"}}"#);
        assert_eq!(text(call(None, "n", None)), r#"{"jsonrpc":"2.0","method":"n"}"#);
    }
}
