//! Writes JSON-RPC messages, and keeps the caller's params as they were written.
//!
//! Never: the meaning of methods.

use crate::wire::{Id, json};
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

/// Sets members of an object's text: existing members are replaced in place, new ones are put first. Every other byte
/// stays. Text that is not a complete object is returned unchanged.
pub(crate) fn with_members(object: &[u8], members: &[(&str, Value)]) -> Vec<u8> {
    members.iter().rev().fold(object.to_vec(), |text, (name, value)| {
        let value = value.to_string();
        match json::member(&text, name) {
            Some(old) => replaced(&text, old, value.as_bytes()),
            None => with_first_member(&text, name, value.as_bytes()),
        }
    })
}

/// Adds members to the `_meta` of params. Existing members of `_meta` win, and every byte of the caller stays.
pub(crate) fn with_meta(params: &[u8], meta: &[(&str, Value)]) -> Vec<u8> {
    let Some(written) = json::member(params, "_meta") else {
        let all: serde_json::Map<_, _> = meta.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        return with_first_member(params, "_meta", Value::Object(all).to_string().as_bytes());
    };
    let missing = meta.iter().rev().filter(|(name, _)| json::member(written, name).is_none());
    let filled = missing
        .fold(written.to_vec(), |text, (name, value)| with_first_member(&text, name, value.to_string().as_bytes()));
    replaced(params, written, &filled)
}

/// Replaces `old`, which must be a slice of `text`.
fn replaced(text: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let start = old.as_ptr().addr().saturating_sub(text.as_ptr().addr());
    match (text.get(..start), text.get(start + old.len()..)) {
        (Some(before), Some(after)) => [before, new, after].concat(),
        _ => text.to_vec(),
    }
}

fn with_first_member(object: &[u8], name: &str, value: &[u8]) -> Vec<u8> {
    let mut walk = json::members(object);
    let count = walk.by_ref().count();
    if walk.is_broken() {
        return object.to_vec();
    }
    let inside = json::skip_space(object, 0) + 1;
    let name = Value::from(name).to_string();
    let comma: &[u8] = if count == 0 { b"" } else { b"," };
    [&object[..inside], name.as_bytes(), b":", value, comma, &object[inside..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).expect("UTF-8")
    }

    #[test]
    fn meta_is_added_and_every_written_byte_stays() {
        let meta = [("v", json!("1")), ("c", json!({}))];
        assert_eq!(text(with_meta(b"{}", &meta)), r#"{"_meta":{"v":"1","c":{}}}"#);
        assert_eq!(text(with_meta(br#"{ "x" : 1e400}"#, &meta)), r#"{"_meta":{"v":"1","c":{}}, "x" : 1e400}"#);
        let mine = br#"{"a":1,"_meta":{"v":"mine", "t":1.0}}"#;
        assert_eq!(text(with_meta(mine, &meta)), r#"{"a":1,"_meta":{"c":{},"v":"mine", "t":1.0}}"#);
        assert_eq!(text(with_meta(b"[1]", &meta)), "[1]");
        assert_eq!(text(with_meta(br#"{"_meta":7}"#, &meta)), r#"{"_meta":7}"#);
    }

    #[test]
    fn members_are_replaced_or_put_first() {
        let set = [("s", json!("new")), ("r", json!({"k": 1}))];
        assert_eq!(text(with_members(br#"{"s":"old","x":0}"#, &set)), r#"{"r":{"k":1},"s":"new","x":0}"#);
        assert_eq!(text(with_members(b"{", &set)), "{");
    }

    #[test]
    fn raw_params_keep_their_bytes_on_one_line() {
        let params = Params::Raw(b"{\"x\": 1.0e400,\n \"y\":\"\\u0041\"}".to_vec());
        let sent = call(Some(&json!(1)), "a/b", params.text().as_deref());
        assert_eq!(text(sent), r#"{"jsonrpc":"2.0","id":1,"method":"a/b","params":{"x": 1.0e400,  "y":"\u0041"}}"#);
        assert_eq!(text(call(None, "n", None)), r#"{"jsonrpc":"2.0","method":"n"}"#);
    }
}
