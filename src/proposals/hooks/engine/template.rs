//! Substitutes template variables in a hook's text and arguments (SEP-2282, Template variables), in a single pass: a
//! value that looks like a variable is not expanded again (AMB-D13).
//!
//! This module must never decide which hooks fire.

use super::{Event, EventKind};
use serde_json::Value;
use std::borrow::Cow;

/// The maximum length of a substituted tool output, in bytes (AMB-D12).
pub(crate) const MAX_TOOL_OUTPUT_BYTES: usize = 8 * 1024;

/// The maximum size of all substituted values, in bytes. A declaration could repeat a long value a million times.
const MAX_BYTES: usize = 1 << 20;
const TOO_LONG: &str = "the substituted values would be too long";
/// The maximum number of notes about one declaration.
const MAX_NOTES: usize = 32;

const NAMES: [&str; 5] = ["project_name", "tool_name", "tool_input", "tool_output", "session_id"];

/// Substitutes the variables in the declarations of one server, at one event.
pub struct Filling<'a> {
    event: &'a Event,
    /// The number of bytes that may still be substituted.
    remaining: usize,
}

impl<'a> Filling<'a> {
    /// Uses the values of this event.
    pub fn new(event: &'a Event) -> Self {
        Self { event, remaining: MAX_BYTES }
    }

    /// Substitutes variables in all strings of a value, at any depth, but not in the names of members.
    pub fn value(&mut self, value: &Value, notes: &mut Vec<String>) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text, notes)),
            Value::Array(list) => list.iter().map(|item| self.value(item, notes)).collect(),
            Value::Object(object) => {
                object.iter().map(|(name, item)| (name.clone(), self.value(item, notes))).collect()
            }
            other => other.clone(),
        }
    }

    /// Substitutes variables in a text. Unknown variables, and those without a value at this event, remain unchanged.
    /// Adds notes about variables that remained or were cut.
    pub fn text(&mut self, template: &str, notes: &mut Vec<String>) -> String {
        let mut text = String::with_capacity(template.len());
        let mut rest = template;
        while let Some(at) = rest.find('{') {
            text.push_str(&rest[..at]);
            rest = &rest[at..];
            let Some(name) = variable(rest) else {
                text.push('{');
                rest = &rest[1..];
                continue;
            };
            let whole = &rest[..name.len() + 2];
            match self.put_in(name, notes) {
                Ok(value) => text.push_str(&value),
                Err(why) => {
                    note(notes, format!("{whole} is unchanged: {why}"));
                    text.push_str(whole);
                }
            }
            rest = &rest[whole.len()..];
        }
        text.push_str(rest);
        text
    }

    /// The value of a variable, if it is not too long. After one that is too long, no variables are substituted.
    fn put_in(&mut self, name: &str, notes: &mut Vec<String>) -> Result<Cow<'a, str>, &'static str> {
        if self.remaining == 0 {
            return Err(TOO_LONG);
        }
        let (value, noted) = value(name, self.event)?;
        noted.into_iter().for_each(|noted| note(notes, noted));
        let left = self.remaining.checked_sub(value.len());
        self.remaining = left.unwrap_or(0);
        left.map(|_| value).ok_or(TOO_LONG)
    }
}

fn note(notes: &mut Vec<String>, noted: String) {
    if notes.len() < MAX_NOTES && !notes.contains(&noted) {
        notes.push(noted);
    }
}

/// Whether a value contains one of these variables in a string, at any depth.
pub(crate) fn mentions(value: &Value, names: &[&str]) -> bool {
    match value {
        Value::String(text) => {
            text.match_indices('{').any(|(at, _)| variable(&text[at..]).is_some_and(|name| names.contains(&name)))
        }
        Value::Array(list) => list.iter().any(|item| mentions(item, names)),
        Value::Object(object) => object.values().any(|item| mentions(item, names)),
        _ => false,
    }
}

/// The name of the variable at the beginning of `text`, if there is one.
fn variable(text: &str) -> Option<&str> {
    // Stop at the end of the name; otherwise a text that consists of opening braces would take quadratic time.
    let inside = text.strip_prefix('{')?;
    let end = inside.find(|found: char| !(found.is_ascii_alphanumeric() || found == '_'))?;
    (end > 0 && inside[end..].starts_with('}')).then_some(&inside[..end])
}

/// A variable's value, and a note about it.
fn value<'a>(name: &str, event: &'a Event) -> Result<(Cow<'a, str>, Option<String>), &'static str> {
    if !NAMES.contains(&name) {
        return Err("the variable is unknown");
    }
    if name.starts_with("tool_") && !event.kind.is_tool_event() {
        return Err("it exists only in tool events");
    }
    if name == "tool_output" && event.kind != EventKind::PostToolUse {
        return Err("it exists only in post_tool_use");
    }
    let text = |value: &'a Option<String>| value.as_deref().map(|text| (Cow::Borrowed(text), None));
    let found = match name {
        "project_name" => text(&event.project_name),
        "session_id" => text(&event.session_id),
        "tool_name" => text(&event.tool_name),
        "tool_input" => Some((event.tool_input.to_string().into(), None)),
        _ => event.tool_output.as_ref().map(|output| cut(output.to_string())),
    };
    found.ok_or("it has no value at this event")
}

fn cut<'a>(mut output: String) -> (Cow<'a, str>, Option<String>) {
    let whole = output.len();
    if whole <= MAX_TOOL_OUTPUT_BYTES {
        return (output.into(), None);
    }
    let end = (0..=MAX_TOOL_OUTPUT_BYTES).rev().find(|at| output.is_char_boundary(*at)).unwrap_or(0);
    output.truncate(end);
    output.push_str(&format!("… [cut, {whole} bytes in all]"));
    (output.into(), Some(format!("{{tool_output}} was cut from {whole} to {end} bytes")))
}
