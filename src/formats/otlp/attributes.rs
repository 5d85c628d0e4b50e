//! Attributes of spans and metrics.

use crate::wire::json;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue, KeyValueList};
use serde_json::Value;

/// At most this many bytes of a stranger's text become an attribute.
const MAX_TEXT: usize = 1024;
/// At most this many bytes of arguments or of a result become an attribute. What is longer becomes text, cut here.
const MAX_CONTENT: usize = 16 << 10;
/// The maximum number of a prompt's variables.
const MAX_VARIABLES: usize = 64;

/// An attribute by which metrics can be told apart.
pub(super) type Attribute = (&'static str, Simple);

/// A value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Simple {
    Text(String),
    Number(i64),
    Truth(bool),
}

/// An attribute with the beginning of a stranger's text.
pub(super) fn text(key: &'static str, value: &str) -> Attribute {
    (key, Simple::Text(cut(value)))
}

/// The same, if there is a text.
pub(super) fn optional(key: &'static str, value: Option<impl AsRef<str>>) -> Option<Attribute> {
    value.map(|value| text(key, value.as_ref()))
}

/// An attribute in OpenTelemetry's form.
pub(super) fn written((key, value): &Attribute) -> KeyValue {
    let value = match value {
        Simple::Text(text) => Any::StringValue(text.clone()),
        Simple::Number(number) => Any::IntValue(*number),
        Simple::Truth(truth) => Any::BoolValue(*truth),
    };
    key_value(key, any(value))
}

/// An attribute with arguments or a result, as an object if it is not too long.
pub(super) fn content(key: &str, json: &[u8]) -> KeyValue {
    let value = (json.len() <= MAX_CONTENT).then(|| serde_json::from_slice(json).ok()).flatten();
    let value = value.map_or_else(
        || any(Any::StringValue(cut_at(&String::from_utf8_lossy(json), MAX_CONTENT))),
        |value| structured(&value),
    );
    key_value(key, value)
}

/// The attributes of a prompt's variables.
pub(super) fn variables(arguments: &[u8]) -> Vec<KeyValue> {
    let variable = |member: json::Member<'_>| {
        let name = json::unescape(member.key);
        let value = json::as_str(member.value);
        let value = value.unwrap_or_else(|| String::from_utf8_lossy(member.value));
        key_value(&cut(&format!("gen_ai.prompt.variable.{name}")), any(Any::StringValue(cut_at(&value, MAX_CONTENT))))
    };
    json::members(arguments).take(MAX_VARIABLES).map(variable).collect()
}

fn key_value(key: &str, value: AnyValue) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(value), ..KeyValue::default() }
}

fn any(value: Any) -> AnyValue {
    AnyValue { value: Some(value) }
}

fn structured(value: &Value) -> AnyValue {
    match value {
        Value::Null => AnyValue { value: None },
        Value::Bool(truth) => any(Any::BoolValue(*truth)),
        Value::Number(number) => any(match number.as_i64() {
            Some(number) => Any::IntValue(number),
            None => Any::DoubleValue(number.as_f64().unwrap_or_default()),
        }),
        Value::String(text) => any(Any::StringValue(text.clone())),
        Value::Array(items) => any(Any::ArrayValue(ArrayValue { values: items.iter().map(structured).collect() })),
        Value::Object(members) => any(Any::KvlistValue(KeyValueList {
            values: members.iter().map(|(key, value)| key_value(key, structured(value))).collect(),
        })),
    }
}

/// The beginning of a text.
pub(super) fn cut(text: &str) -> String {
    cut_at(text, MAX_TEXT)
}

fn cut_at(text: &str, max: usize) -> String {
    let end = (0..=text.len().min(max)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text[..end].to_owned()
}
