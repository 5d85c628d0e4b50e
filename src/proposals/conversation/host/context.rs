//! The context that a server returns (SEP-1975, conversation/context), and its text for a prompt.
//!
//! This module must never know whether the context is in time.

use crate::proposals::host::{clean, cut, label, quoted};
use serde_json::Value;
use std::fmt::Write;

/// The default size limit of a context in the prompt, in bytes (SEP-1975, Open Questions 1).
pub(crate) const DEFAULT_MAX_BYTES: usize = 16 * 1024;

/// A remark about a context that is valid: it contains both forms (AMB-A2).
pub(super) const BOTH_FORMS: &str = "both context and structuredContext are given; the text goes first";

/// A memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Memory {
    /// Its text.
    pub content: String,
    /// Its relevance according to the server. The proposal defines no range.
    pub relevance: Option<f64>,
    /// Its source.
    pub source: Option<String>,
}

/// What a server wants to inject. If it contains both, the text comes first, then the memories in their order (AMB-A2).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Context {
    /// Plain text.
    pub text: Option<String>,
    /// Memories, in the server's order.
    pub memories: Vec<Memory>,
}

impl Context {
    /// Reads a result or the params of `conversation/context`. Returns `None` for an empty response, and what is
    /// unusual about it, as sentence fragments.
    pub(crate) fn read(text: &[u8]) -> (Option<Self>, Vec<String>) {
        let mut remarks = Vec::new();
        let value: Value = serde_json::from_slice(text).unwrap_or_else(|error| {
            remarks.push(format!("the context is not valid JSON: {error}"));
            Value::Null
        });
        if !value.is_object() && !value.is_null() {
            remarks.push("the context is not an object".to_owned());
        }
        let text = value["context"].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        if value.get("context").is_some_and(|context| !context.is_string()) {
            remarks.push("context is not a string".to_owned());
        }
        let memories = read_memories(&value["structuredContext"], &mut remarks);
        if text.is_some() && !memories.is_empty() {
            remarks.push(BOTH_FORMS.to_owned());
        }
        let context = Self { text, memories };
        (if context == Self::default() { None } else { Some(context) }, remarks)
    }
}

fn read_memories(structured: &Value, remarks: &mut Vec<String>) -> Vec<Memory> {
    let list = &structured["memories"];
    if !(structured.is_null() || structured.is_object() && (list.is_null() || list.is_array())) {
        remarks.push("structuredContext is not an object with a list of memories".to_owned());
    }
    let mut memories = Vec::new();
    for (index, memory) in list.as_array().into_iter().flatten().enumerate() {
        let Some(content) = memory["content"].as_str() else {
            remarks.push(format!("memory {index} has no content and is ignored"));
            continue;
        };
        let relevance = memory["relevance"].as_f64();
        match relevance {
            None => remarks.push(format!("memory {index} has no numeric relevance")),
            Some(value) if !(0.0..=1.0).contains(&value) => {
                remarks.push(format!("memory {index} has the relevance {value}, outside 0 to 1"));
            }
            Some(_) => {}
        }
        let source = memory["source"].as_str().map(str::to_owned);
        memories.push(Memory { content: content.to_owned(), relevance, source });
    }
    memories
}

/// The text of a context: its plain text, then one line per memory (AMB-A2).
pub(super) fn text(context: &Context) -> String {
    let mut inside = String::new();
    if let Some(text) = &context.text {
        let _ = writeln!(inside, "{text}");
    }
    for memory in &context.memories {
        let _ = write!(inside, "- {}", memory.content);
        let relevance = memory.relevance.map(|relevance| format!("relevance {relevance}"));
        let source = memory.source.as_deref().map(|source| format!("source {}", label(source)));
        let aside: Vec<_> = relevance.into_iter().chain(source).collect();
        let _ = if aside.is_empty() { writeln!(inside) } else { writeln!(inside, " ({})", aside.join(", ")) };
    }
    inside
}

/// The text to put before the user's message, marked as external and cut to `max` bytes (SEP-1975, Security
/// Implications).
pub(crate) fn render(server: &str, context: &Context, max: usize) -> String {
    quoted(server, "context", &cut(clean(&text(context)), max))
}
