//! The context that a server returns (SEP-1975, conversation/context), and its text for a prompt.
//!
//! This module must never know whether the context is in time.

use crate::proposals::host::{clean, cut, label, quoted};
use crate::wire::json;
use serde_json::Value;
use std::collections::BTreeSet;

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
        if let Err(fault) = json::check(text) {
            remarks.push(format!("the context is not valid JSON: {fault}"));
        }
        let value = json::value_of(text);
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
            remarks.push(format!("memory {index} has no content that is a string, and is ignored"));
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

/// The text of a context: its plain text, then one line per memory (AMB-A2). Of memories for which `max` bytes have no
/// space, the least relevant are left out; the others keep the server's order. The number of those left out follows.
pub(super) fn text(context: &Context, max: usize) -> (String, usize) {
    let mut inside = context.text.as_ref().map(|text| format!("{text}\n")).unwrap_or_default();
    let lines: Vec<String> = context.memories.iter().map(line).collect();
    let relevance = |at: &usize| context.memories.get(*at).and_then(|memory| memory.relevance).unwrap_or(f64::MIN);
    let mut ranked: Vec<usize> = (0..lines.len()).collect();
    ranked.sort_by(|one, other| relevance(other).total_cmp(&relevance(one)));
    let mut length = inside.len();
    let fits = |at: &usize| {
        length = length.saturating_add(lines.get(*at).map_or(0, String::len));
        length <= max
    };
    let mut kept: BTreeSet<usize> = ranked.iter().copied().take_while(fits).collect();
    if inside.is_empty() && kept.is_empty() {
        // Not even one fits: the caller cuts the most relevant one.
        kept.extend(ranked.first());
    }
    let left_out = lines.len() - kept.len();
    lines.iter().enumerate().filter(|(at, _)| kept.contains(at)).for_each(|(_, line)| inside.push_str(line));
    (inside, left_out)
}

fn line(memory: &Memory) -> String {
    let relevance = memory.relevance.map(|relevance| format!("relevance {relevance}"));
    let source = memory.source.as_deref().map(|source| format!("source {}", label(source)));
    let aside: Vec<_> = relevance.into_iter().chain(source).collect();
    match aside.is_empty() {
        true => format!("- {}\n", memory.content),
        false => format!("- {} ({})\n", memory.content, aside.join(", ")),
    }
}

/// The text to put before the user's message, marked as external and cut to `max` bytes (SEP-1975, Security
/// Implications).
pub(crate) fn render(server: &str, context: &Context, max: usize) -> String {
    quoted(server, "context", &cut(clean(&text(context, max).0), max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a22_the_least_relevant_memories_are_left_out() {
        let memory = |content: &str, relevance: f64| Memory {
            content: content.to_owned(),
            relevance: Some(relevance),
            source: None,
        };
        let memories = vec![memory("low", 0.1), memory("high", 0.9), memory("middle", 0.5)];
        let context = Context { text: None, memories };
        let all = "- low (relevance 0.1)\n- high (relevance 0.9)\n- middle (relevance 0.5)\n";
        assert_eq!(text(&context, all.len()), (all.to_owned(), 0));
        let two = "- high (relevance 0.9)\n- middle (relevance 0.5)\n";
        assert_eq!(text(&context, all.len() - 1), (two.to_owned(), 1));
        let (one, left_out) = text(&context, 1);
        assert_eq!((one.as_str(), left_out), ("- high (relevance 0.9)\n", 2), "the caller cuts it");
        let both = Context { text: Some("plain".to_owned()), ..context };
        assert_eq!(text(&both, 10), ("plain\n".to_owned(), 3));
    }
}
