//! Compares one item of a list with its former version: a tool, a prompt, a resource or a template.

use super::rules::*;
use super::schema::{Delta, Side, compare as compare_schemas, from_to};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The hints of a tool: the name, the value if it is absent, and the safe value.
const HINTS: &[(&str, bool, bool)] = &[
    ("readOnlyHint", false, true),
    ("destructiveHint", true, false),
    ("idempotentHint", false, true),
    ("openWorldHint", true, false),
];

/// The members of a tool that are compared by rules of their own, or that nobody depends on.
const KNOWN: &[&str] =
    &["name", "title", "description", "inputSchema", "outputSchema", "annotations", "execution", "icons", "_meta"];

/// Orders to the model that belong in no description, in lower case.
const ORDERS: &[&str] = &[
    "<important>",
    "<system>",
    "ignore previous instructions",
    "ignore all previous",
    "ignore the above",
    "do not tell the user",
    "don't tell the user",
    "do not mention this",
    "without telling the user",
    "without informing the user",
    "before using any other tool",
    "instead of any other tool",
];

fn delta(rule: &'static SurfaceRule, place: impl Into<String>, seen: impl Into<String>) -> Delta {
    Delta { rule, place: place.into(), seen: seen.into() }
}

/// Compares two versions of a tool.
pub(super) fn tools(old: &Value, new: &Value) -> Vec<Delta> {
    let mut found = Vec::new();
    texts(old, new, &mut found);
    hints(old, new, &mut found);
    tasks(old, new, &mut found);
    found.extend(below("/inputSchema", compare_schemas(Side::Input, &old["inputSchema"], &new["inputSchema"])));
    outputs(old, new, &mut found);
    let names: BTreeSet<&String> = [old, new].into_iter().filter_map(Value::as_object).flat_map(Map::keys).collect();
    for name in names.into_iter().filter(|name| !KNOWN.contains(&name.as_str())) {
        differs(&TOOL_MEMBER, name, old, new, &mut found);
    }
    found
}

fn below(prefix: &str, deltas: Vec<Delta>) -> impl Iterator<Item = Delta> {
    deltas.into_iter().map(move |delta| Delta { place: format!("{prefix}{}", delta.place), ..delta })
}

/// Reports a member that has another value.
fn differs(rule: &'static SurfaceRule, name: &str, old: &Value, new: &Value, found: &mut Vec<Delta>) -> bool {
    let (one, other) = (old.get(name), new.get(name));
    if one != other {
        let place = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        found.push(delta(rule, place, from_to(name, one, other)));
    }
    one != other
}

fn texts(old: &Value, new: &Value, found: &mut Vec<Delta>) {
    let sign = |tool: &Value| tool["description"].as_str().and_then(sign_of_poisoning);
    match sign(new) {
        Some(sign) if sign_of_poisoning(old["description"].as_str().unwrap_or_default()).is_none() => {
            found.push(delta(&TOOL_SUSPICIOUS, "/description", format!("it contains {sign}")));
        }
        _ => {
            differs(&TOOL_DESCRIPTION, "description", old, new, found);
        }
    }
    let title = |tool: &Value| tool.get("title").or_else(|| tool["annotations"].get("title")).cloned();
    let (one, other) = (title(old), title(new));
    if one != other {
        found.push(delta(&TOOL_TITLE, "/title", from_to("title", one.as_ref(), other.as_ref())));
    }
}

/// Returns a sign that a text was written to mislead a model.
pub(super) fn sign_of_poisoning(text: &str) -> Option<String> {
    let hidden = |found: &char| matches!(found, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
    if let Some(found) = text.chars().find(hidden) {
        return Some(format!("the hidden character U+{:04X}", found as u32));
    }
    let text = text.to_lowercase();
    ORDERS.iter().find(|order| text.contains(**order)).map(|order| format!("{order:?}"))
}

fn hints(old: &Value, new: &Value, found: &mut Vec<Delta>) {
    for (name, absent, safe) in HINTS {
        let value = |tool: &Value| tool["annotations"][name].as_bool().unwrap_or(*absent);
        let (one, other) = (value(old), value(new));
        // The other hints mean something only for tools that change something.
        let was_read_only = *name != "readOnlyHint" && old["annotations"]["readOnlyHint"] == true;
        if one != other && !(was_read_only && other == *safe) {
            let rule = if other == *safe { &TOOL_SAFER } else { &TOOL_LESS_SAFE };
            found.push(delta(rule, format!("/annotations/{name}"), format!("{name} was {one} and is now {other}")));
        }
    }
}

fn tasks(old: &Value, new: &Value, found: &mut Vec<Delta>) {
    let support = |tool: &Value| tool["execution"]["taskSupport"].as_str().unwrap_or("forbidden").to_owned();
    let (one, other) = (support(old), support(new));
    if one != other {
        let rule = if other == "optional" { &TOOL_TASKS_WIDENED } else { &TOOL_TASKS_NARROWED };
        found.push(delta(rule, "/execution/taskSupport", format!("task support was {one} and is now {other}")));
    }
}

fn outputs(old: &Value, new: &Value, found: &mut Vec<Delta>) {
    let place = "/outputSchema";
    match (old.get("outputSchema"), new.get("outputSchema")) {
        (None, None) => {}
        (None, Some(_)) => found.push(delta(&OUTPUT_ADDED, place, "it now has an output schema")),
        (Some(_), None) => found.push(delta(&OUTPUT_REMOVED, place, "it no longer has an output schema")),
        (Some(one), Some(other)) => found.extend(below(place, compare_schemas(Side::Output, one, other))),
    }
}

/// Compares two versions of a prompt.
pub(super) fn prompts(old: &Value, new: &Value) -> Vec<Delta> {
    let mut found = Vec::new();
    differs(&PROMPT_TEXT, "description", old, new, &mut found);
    differs(&PROMPT_TEXT, "title", old, new, &mut found);
    let (before, after) = (arguments(old), arguments(new));
    let names: BTreeSet<&str> = before.iter().chain(&after).filter_map(|found| found["name"].as_str()).collect();
    for name in names {
        let find = |all: &[Value]| all.iter().position(|argument| argument["name"] == name);
        let place = |at: usize| format!("/arguments/{at}");
        match (find(&before), find(&after)) {
            (Some(at), None) => {
                found.push(delta(&PROMPT_ARGUMENT_REMOVED, place(at), format!("`{name}` was removed")));
            }
            (None, Some(at)) => found.push(argument_added(name, &after[at], place(at))),
            (Some(at), Some(other)) => argument(name, &before[at], &after[other], &place(other), &mut found),
            (None, None) => {}
        }
    }
    found
}

fn arguments(prompt: &Value) -> Vec<Value> {
    prompt["arguments"].as_array().cloned().unwrap_or_default()
}

fn argument_added(name: &str, argument: &Value, place: String) -> Delta {
    let rule = if argument["required"] == true { &PROMPT_REQUIRED_ADDED } else { &PROMPT_ARGUMENT_ADDED };
    delta(rule, place, format!("`{name}` was added"))
}

fn argument(name: &str, old: &Value, new: &Value, place: &str, found: &mut Vec<Delta>) {
    match (old["required"] == true, new["required"] == true) {
        (false, true) => found.push(delta(&PROMPT_REQUIRED_ADDED, place, format!("`{name}` is now required"))),
        (true, false) => found.push(delta(&PROMPT_ARGUMENT_ADDED, place, format!("`{name}` is no longer required"))),
        _ => {}
    }
    let mut changed = Vec::new();
    differs(&PROMPT_TEXT, "description", old, new, &mut changed);
    differs(&PROMPT_TEXT, "title", old, new, &mut changed);
    found.extend(below(place, changed));
}

/// Compares two versions of a resource, or of a template.
pub(super) fn resources(old: &Value, new: &Value) -> Vec<Delta> {
    let mut found = Vec::new();
    differs(&RESOURCE_TYPE, "mimeType", old, new, &mut found);
    for name in ["name", "title", "description"] {
        differs(&RESOURCE_TEXT, name, old, new, &mut found);
    }
    found
}
