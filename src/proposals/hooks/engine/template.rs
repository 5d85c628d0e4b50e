//! Template variables in a hook's text and arguments (D22 to D25): one pass, so that a value that looks like a template
//! is never expanded again (AMB-D13).
//!
//! Never: which hooks fire.

use super::{Event, EventKind};
use serde_json::Value;
use std::borrow::Cow;

/// The longest tool output that is put in, in bytes (AMB-D12).
pub const MAX_TOOL_OUTPUT_BYTES: usize = 8 * 1024;

/// So many bytes are put in and no more: declarations may name a long value a million times.
const MAX_BYTES: usize = 1 << 20;
const TOO_LONG: &str = "too much would be put in";
/// So many notes are kept of one declaration.
const MAX_NOTES: usize = 32;

const NAMES: [&str; 5] = ["project_name", "tool_name", "tool_input", "tool_output", "session_id"];

/// Fills the texts and arguments that one server declares, at one event.
pub struct Filling<'a> {
    event: &'a Event,
    /// How many bytes may still be put in.
    proposal: usize,
}

impl<'a> Filling<'a> {
    /// What this event says is put in.
    pub fn new(event: &'a Event) -> Self {
        Self { event, proposal: MAX_BYTES }
    }

    /// Substitutes in every string value of an object or array, however deep; names of members stay (D25).
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

    /// Substitutes in a text. Unknown variables, and those that the event has no value for, stay as they are (D23, D24).
    /// What was left as it stood or cut is noted, as sentences.
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
                    note(notes, format!("{whole} is left as it stands: {why}"));
                    text.push_str(whole);
                }
            }
            rest = &rest[whole.len()..];
        }
        text.push_str(rest);
        text
    }

    /// A variable's value, as long as there is room; where one finds none, none after it does.
    fn put_in(&mut self, name: &str, notes: &mut Vec<String>) -> Result<Cow<'a, str>, &'static str> {
        if self.proposal == 0 {
            return Err(TOO_LONG);
        }
        let (value, noted) = value(name, self.event)?;
        noted.into_iter().for_each(|noted| note(notes, noted));
        let left = self.proposal.checked_sub(value.len());
        self.proposal = left.unwrap_or(0);
        left.map(|_| value).ok_or(TOO_LONG)
    }
}

fn note(notes: &mut Vec<String>, noted: String) {
    if notes.len() < MAX_NOTES && !notes.contains(&noted) {
        notes.push(noted);
    }
}

/// The name in braces that `text` begins with, if it looks like a variable's.
fn variable(text: &str) -> Option<&str> {
    // No further than the name goes: a text of opening braces alone would be read again for each of them.
    let inside = text.strip_prefix('{')?;
    let end = inside.find(|found: char| !(found.is_ascii_alphanumeric() || found == '_'))?;
    (end > 0 && inside[end..].starts_with('}')).then_some(&inside[..end])
}

/// A variable's value, and what is to be noted about it.
fn value<'a>(name: &str, event: &'a Event) -> Result<(Cow<'a, str>, Option<String>), &'static str> {
    if !NAMES.contains(&name) {
        return Err("no such variable");
    }
    if name.starts_with("tool_") && !event.kind.is_tool_event() {
        return Err("it exists in tool events only");
    }
    if name == "tool_output" && event.kind != EventKind::PostToolUse {
        return Err("it exists in post_tool_use only");
    }
    let text = |value: &'a Option<String>| value.as_deref().map(|text| (Cow::Borrowed(text), None));
    let found = match name {
        "project_name" => text(&event.project_name),
        "session_id" => text(&event.session_id),
        "tool_name" => text(&event.tool_name),
        "tool_input" => Some((event.tool_input.to_string().into(), None)),
        _ => event.tool_output.as_ref().map(|output| cut(output.to_string())),
    };
    found.ok_or("the event does not say it")
}

fn cut<'a>(mut output: String) -> (Cow<'a, str>, Option<String>) {
    let whole = output.len();
    if whole <= MAX_TOOL_OUTPUT_BYTES {
        return (output.into(), None);
    }
    let end = (0..=MAX_TOOL_OUTPUT_BYTES).rev().find(|at| output.is_char_boundary(*at)).unwrap_or(0);
    output.truncate(end);
    output.push_str(&format!("… [cut, {whole} bytes in all]"));
    (output.into(), Some(format!("{{tool_output}} is cut from {whole} to {end} bytes")))
}
