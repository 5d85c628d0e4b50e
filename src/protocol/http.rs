//! HTTP headers with which MCP repeats parts of a message.
//!
//! Sources: the Streamable HTTP transport of each revision; for 2026-07-28 also its rules for headers that repeat parts
//! of the body (SEP-2243).
//!
//! This module must never do HTTP itself.

use super::revision::{Revision, meta};
use crate::wire::{Envelope, json};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The revision of the exchange: from 2025-06-18 on after `initialize`, from 2026-07-28 on always.
pub(crate) const PROTOCOL_VERSION: &str = "MCP-Protocol-Version";
/// The session, from 2025-03-26 to 2025-11-25 (which spells it `MCP-Session-Id`).
pub(crate) const SESSION_ID: &str = "Mcp-Session-Id";
/// The method of the message in the body (2026-07-28).
pub(crate) const METHOD: &str = "Mcp-Method";
/// The tool, prompt or resource of the request in the body (2026-07-28).
pub(crate) const NAME: &str = "Mcp-Name";
/// The prefix of headers for tool parameters (2026-07-28).
const PARAMETER: &str = "Mcp-Param-";
/// The annotation of a property in a tool's schema that requests such a header.
const ANNOTATION: &str = "x-mcp-header";
/// The maximum number of tools that are remembered.
const MAX_TOOLS: usize = 4096;

/// Whether a server that only supports HTTP+SSE answers a POST to its URL with this status (MCP 2025-11-25, Transports,
/// Backwards Compatibility).
pub(crate) fn may_mean_sse(status: u16) -> bool {
    matches!(status, 400 | 404 | 405)
}

/// Returns whether a legacy revision requires [`PROTOCOL_VERSION`] after `initialize`. An unknown revision is assumed
/// to be newer.
pub(crate) fn names_version(version: &str) -> bool {
    Revision::parse(version).is_none_or(|revision| revision >= Revision::V2025_06_18)
}

/// Returns the revision that a request of the modern era names in its `_meta`.
pub fn modern_version<'a>(envelope: &Envelope<'a>) -> Option<Cow<'a, str>> {
    json::str_member(json::member(envelope.params?, "_meta")?, meta::PROTOCOL_VERSION)
}

/// Returns the headers that a message of the modern era needs besides its version: names and encoded values.
pub fn modern_headers(envelope: &Envelope<'_>, marks: &ToolMarks) -> Vec<(String, String)> {
    let Some(method) = envelope.method.as_deref() else { return Vec::new() };
    let mut headers = vec![(METHOD.to_owned(), encode(method))];
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return headers,
    };
    let params = envelope.params.unwrap_or_default();
    let Some(name) = json::str_member(params, member) else { return headers };
    headers.push((NAME.to_owned(), encode(&name)));
    if method == "tools/call" {
        headers.extend(marks.headers(&name, json::member(params, "arguments").unwrap_or_default()));
    }
    headers
}

/// Returns how the headers of a message of the modern era contradict its body, or lack a part of it; `None` if they repeat
/// it. `header` returns the value of a header (MCP 2026-07-28, Streamable HTTP).
pub(crate) fn contradiction(
    envelope: &Envelope<'_>,
    marks: &ToolMarks,
    header: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let version = modern_version(envelope).map(|version| (PROTOCOL_VERSION.to_owned(), version.into_owned()));
    let expected = version.into_iter().chain(modern_headers(envelope, marks));
    expected.into_iter().find_map(|(name, expected)| match header(&name) {
        Some(found) if repeats(&name, &found, &expected) => None,
        Some(found) => Some(format!("the header {name} is {found:?}, but the body says {expected:?}")),
        None => Some(format!("the header {name} is missing; the body says {expected:?}")),
    })
}

/// Returns whether a header has the expected value. Encoded values are compared decoded, those of parameters also as
/// numbers.
pub(crate) fn repeats(name: &str, found: &str, expected: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok().filter(|_| name.starts_with(PARAMETER));
    decode(found) == decode(expected)
        || number(found)
            .is_some_and(|found| number(expected).is_some_and(|expected| found.total_cmp(&expected).is_eq()))
}

/// How a server answers a POST.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// With a JSON body, unless another message precedes the answer.
    #[default]
    Json,
    /// With a stream of events.
    Events(EventStream),
}

/// What a stream of events contains besides messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EventStream {
    /// The events have ids, so that the client can resume the stream.
    pub has_ids: bool,
    /// The stream begins with an event without data.
    pub is_primed: bool,
    /// How long the client should wait before it resumes the stream. Unit: milliseconds.
    pub retry_ms: Option<u32>,
    /// The stream ends before the answer, which the client gets when it resumes the stream.
    pub ends_early: bool,
}

/// Encodes a value for a header: unchanged if it is plain text, else as `=?base64?…?=`.
pub(crate) fn encode(value: &str) -> String {
    let plain = value.bytes().all(|byte| byte == b'\t' || matches!(byte, b' '..=b'~'))
        && value.trim() == value
        && !(value.starts_with("=?base64?") && value.ends_with("?="));
    if plain { value.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(value)) }
}

/// Decodes a value that [`encode`] wrapped; any other value stays as it is.
pub(crate) fn decode(value: &str) -> Cow<'_, [u8]> {
    let wrapped = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    match wrapped.and_then(|wrapped| STANDARD.decode(wrapped).ok()) {
        Some(bytes) => Cow::Owned(bytes),
        None => Cow::Borrowed(value.as_bytes()),
    }
}

/// The arguments of each tool that must be repeated in headers, learned from results of `tools/list`.
#[derive(Clone, Debug, Default)]
pub struct ToolMarks(BTreeMap<String, Vec<Mark>>);

#[derive(Clone, Debug, PartialEq)]
struct Mark {
    /// The name of the header, without [`PARAMETER`].
    name: String,
    /// The property names that lead to the argument.
    path: Vec<String>,
}

impl ToolMarks {
    /// Learns the annotations from the result of a `tools/list`. If one breaks the rules, its tool is ignored.
    pub fn learn(&mut self, result: &[u8]) {
        self.learn_from(&json::value_of(result));
    }

    /// Does the same as [`Self::learn`] with a parsed result.
    pub(crate) fn learn_from(&mut self, listed: &Value) {
        for tool in listed["tools"].as_array().into_iter().flatten() {
            let Some(name) = tool["name"].as_str() else { continue };
            let mut marks = Vec::new();
            let sound = find_marks(&tool["inputSchema"], &mut Vec::new(), &mut marks);
            if sound.is_ok() && (self.0.len() < MAX_TOOLS || self.0.contains_key(name)) {
                self.0.insert(name.to_owned(), marks);
            }
        }
    }

    /// Returns whether this tool's annotations are known, even if it has none.
    pub fn knows(&self, tool: &str) -> bool {
        self.0.contains_key(tool)
    }

    /// Returns whether this tool asks for a header of this name.
    pub(crate) fn asks_for(&self, tool: &str, header: &str) -> bool {
        let marks = self.0.get(tool).map(Vec::as_slice).unwrap_or_default();
        let named = header.get(PARAMETER.len()..).unwrap_or_default();
        marks.iter().any(|mark| mark.name.eq_ignore_ascii_case(named))
    }

    /// Returns the headers of a call. An argument that is absent or null has no header.
    fn headers(&self, tool: &str, arguments: &[u8]) -> Vec<(String, String)> {
        let marks = self.0.get(tool).map(Vec::as_slice).unwrap_or_default();
        let header = |mark: &Mark| {
            let path: Vec<&str> = mark.path.iter().map(String::as_str).collect();
            let value = match json::parsed(json::at_path(arguments, &path)?)? {
                Value::String(text) => encode(&text),
                scalar @ (Value::Bool(_) | Value::Number(_)) => scalar.to_string(),
                _ => return None,
            };
            Some((format!("{PARAMETER}{}", mark.name), value))
        };
        marks.iter().filter_map(header).collect()
    }
}

/// Checks the annotations of a tool's schema.
///
/// # Errors
/// The rule that an annotation breaks.
pub(crate) fn check_annotations(input_schema: &Value) -> Result<(), String> {
    let mut marks = Vec::new();
    find_marks(input_schema, &mut Vec::new(), &mut marks)?;
    match count_annotations(input_schema) > marks.len() {
        true => Err(format!("an {ANNOTATION} is at a place that `properties` alone does not lead to")),
        false => Ok(()),
    }
}

/// Counts the annotations in all schemas below this one, whatever keyword leads to them.
fn count_annotations(schema: &Value) -> usize {
    match schema {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| match (name.as_str(), value) {
                // Values, not schemas.
                ("default" | "const" | "enum" | "examples", _) => 0,
                (ANNOTATION, Value::String(_)) => 1,
                _ => count_annotations(value),
            })
            .sum(),
        Value::Array(items) => items.iter().map(count_annotations).sum(),
        _ => 0,
    }
}

/// Collects the annotations of properties that can be reached through `properties` only. Fails if one breaks the rules:
/// it is not a header token, the property is not a string, integer or boolean, or the name occurs twice.
fn find_marks(schema: &Value, path: &mut Vec<String>, marks: &mut Vec<Mark>) -> Result<(), String> {
    for (property, schema) in schema["properties"].as_object().into_iter().flatten() {
        path.push(property.clone());
        if let Some(mark) = schema.get(ANNOTATION) {
            let Some(name) = mark.as_str().filter(|name| is_token(name)) else {
                return Err(format!("the {ANNOTATION} {mark} of {property} is not the name of a header"));
            };
            if !matches!(schema["type"].as_str(), Some("string" | "integer" | "boolean")) {
                return Err(format!("{property} has an {ANNOTATION}, but is not a string, integer or boolean"));
            }
            if marks.iter().any(|known| known.name.eq_ignore_ascii_case(name)) {
                return Err(format!("two properties have the {ANNOTATION} {name}"));
            }
            marks.push(Mark { name: name.to_owned(), path: path.clone() });
        }
        find_marks(schema, path, marks)?;
        path.pop();
    }
    Ok(())
}

/// Returns whether a name consists of the characters allowed in header names (RFC 9110, token).
fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(message: &str, marks: &ToolMarks) -> Vec<(String, String)> {
        modern_headers(&Envelope::scan(message.as_bytes()), marks)
    }

    fn pairs(headers: &[(String, String)]) -> Vec<(&str, &str)> {
        headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    #[test]
    fn a_header_repeats_the_method_and_the_name() {
        let none = ToolMarks::default();
        let list = headers(r#"{"id":1,"method":"tools/list","params":{"name":"no"}}"#, &none);
        assert_eq!(pairs(&list), [("Mcp-Method", "tools/list")]);
        let read = headers(r#"{"id":1,"method":"resources/read","params":{"uri":"demo://x","name":"no"}}"#, &none);
        assert_eq!(pairs(&read), [("Mcp-Method", "resources/read"), ("Mcp-Name", "demo://x")]);
        let get = headers(r#"{"id":1,"method":"prompts/get","params":{"name":"grüß"}}"#, &none);
        assert_eq!(pairs(&get)[1], ("Mcp-Name", "=?base64?Z3LDvMOf?="));
    }

    #[test]
    fn an_annotation_is_on_a_property_that_a_chain_of_properties_leads_to() {
        let check = |schema: &str| check_annotations(&serde_json::from_str(schema).expect("JSON"));
        let marked = r#"{"type":"string","x-mcp-header":"A"}"#;
        assert!(check(&format!(r#"{{"properties":{{"a":{marked}}}}}"#)).is_ok());
        assert!(check(r#"{"properties":{"x-mcp-header":{"type":"string"}}}"#).is_ok(), "a property of this name");
        for outside in [r#"{"items":MARKED}"#, r#"{"anyOf":[{"properties":{"a":MARKED}}]}"#] {
            assert!(check(&outside.replace("MARKED", marked)).is_err(), "{outside}");
        }
    }

    #[test]
    fn headers_that_contradict_the_body_or_are_missing_are_found() {
        let body = r#"{"id":1,"method":"tools/call","params":{"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
        let right = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "t")];
        let found = |headers: &[(&str, &str)]| {
            let header = |name: &str| headers.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
            contradiction(&Envelope::scan(body.as_bytes()), &ToolMarks::default(), header)
        };
        assert_eq!(found(&right), None);
        assert_eq!(found(&[right[0], right[1], ("Mcp-Name", "=?base64?dA==?=")]), None);
        for place in 0..3 {
            let mut other = right;
            other[place].1 = "other";
            let said = found(&other).expect("a contradiction");
            assert!(
                said.contains(right[place].0) && said.contains("\"other\"") && said.contains(right[place].1),
                "{said}"
            );
            let without: Vec<_> = right.iter().copied().filter(|it| it.0 != right[place].0).collect();
            assert!(found(&without).is_some_and(|said| said.contains("is missing")));
        }
    }

    #[test]
    fn wrapped_values_are_decoded() {
        for value in ["", "plain", " a", "=?base64?x?=", "grüß"] {
            assert_eq!(&*decode(&encode(value)), value.as_bytes());
        }
        assert_eq!(&*decode("=?base64?%?="), b"=?base64?%?=");
    }

    #[test]
    fn values_that_are_not_plain_are_wrapped() {
        for plain in ["", "us-west1", "two words", "a\tb", "=?base64?"] {
            assert_eq!(encode(plain), plain);
        }
        for (odd, wrapped) in
            [(" a", "=?base64?IGE=?="), ("a\n", "=?base64?YQo=?="), ("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?=")]
        {
            assert_eq!(encode(odd), wrapped);
        }
    }

    const TOOLS: &str = r#"{"tools":[
        {"name":"t","inputSchema":{"properties":{
            "region":{"type":"string","x-mcp-header":"Region"},
            "deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}},
            "list":{"items":{"properties":{"x":{"type":"string","x-mcp-header":"X"}}}},
            "flag":{"type":"boolean","x-mcp-header":"Flag"}}}},
        {"name":"twice","inputSchema":{"properties":{
            "a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}},
        {"name":"odd","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"two words"}}}},
        {"name":"object","inputSchema":{"properties":{"a":{"type":"object","x-mcp-header":"A"}}}},
        {"name":"number","inputSchema":{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}},
        {"name":"bare"}]}"#;

    #[test]
    fn marked_arguments_are_repeated_where_they_have_a_value() {
        let mut marks = ToolMarks::default();
        marks.learn(TOOLS.as_bytes());
        let call = |tool: &str, arguments: &str| {
            let message =
                format!(r#"{{"id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#);
            let all = headers(&message, &marks);
            let shown = |(name, value): &(String, String)| format!("{name}: {value}");
            all[2..].iter().map(shown).collect::<Vec<_>>()
        };
        assert_eq!(
            call("t", r#"{"region":"us west","deep":{"n":42},"flag":false,"list":[{"x":"no"}]}"#),
            ["Mcp-Param-Region: us west", "Mcp-Param-N: 42", "Mcp-Param-Flag: false"]
        );
        assert!(call("t", r#"{"region":null,"deep":7,"flag":[]}"#).is_empty());
        for broken in ["twice", "odd", "object", "number"] {
            assert!(call(broken, r#"{"a":"x","b":"y"}"#).is_empty(), "{broken}");
            assert!(!marks.knows(broken));
        }
        assert!(marks.knows("bare") && !marks.knows("never listed"));
    }

    #[test]
    fn the_revision_decides_whether_it_is_named() {
        assert!(!names_version("2025-03-26") && names_version("2025-06-18") && names_version("2099-01-01"));
        let message = br#"{"id":1,"method":"m","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"v"}}}"#;
        assert_eq!(modern_version(&Envelope::scan(message)).as_deref(), Some("v"));
        assert_eq!(modern_version(&Envelope::scan(br#"{"id":1,"method":"m"}"#)), None);
    }
}
