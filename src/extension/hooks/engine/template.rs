//! Template variables in a hook's text and arguments (D22 to D25): one pass, so that a value that looks like a template
//! is never expanded again (AMB-D13).
//!
//! Never: which hooks fire.

use super::{Event, EventKind};
use serde_json::Value;
use std::borrow::Cow;

/// The longest tool output that is put in, in bytes (AMB-D12).
pub const MOST_TOOL_OUTPUT_BYTES: usize = 8 * 1024;

const NAMES: [&str; 5] = ["project_name", "tool_name", "tool_input", "tool_output", "session_id"];

/// A text with its templates substituted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Substituted {
    /// The text.
    pub text: String,
    /// What was left as it stood or cut, as sentences.
    pub notes: Vec<String>,
}

impl Substituted {
    pub(super) fn into_text(self, notes: &mut Vec<String>) -> String {
        for note in self.notes {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        self.text
    }
}

/// Substitutes in a text. Unknown variables, and those that the event has no value for, stay as they are (D23, D24).
pub fn substitute(template: &str, event: &Event) -> Substituted {
    let mut done = Substituted { text: String::with_capacity(template.len()), notes: Vec::new() };
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        done.text.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some(name) = variable(rest) else {
            done.text.push('{');
            rest = &rest[1..];
            continue;
        };
        let whole = &rest[..name.len() + 2];
        match value(name, event, &mut done.notes) {
            Ok(value) => done.text.push_str(&value),
            Err(why) => {
                done.notes.push(format!("{whole} is left as it stands: {why}"));
                done.text.push_str(whole);
            }
        }
        rest = &rest[whole.len()..];
    }
    done.text.push_str(rest);
    done
}

/// Substitutes in every string value of an object or array, however deep; names of members stay (D25).
pub fn substitute_in(value: &Value, event: &Event, notes: &mut Vec<String>) -> Value {
    match value {
        Value::String(text) => Value::String(substitute(text, event).into_text(notes)),
        Value::Array(list) => list.iter().map(|item| substitute_in(item, event, notes)).collect(),
        Value::Object(object) => {
            object.iter().map(|(name, item)| (name.clone(), substitute_in(item, event, notes))).collect()
        }
        other => other.clone(),
    }
}

/// The name in braces that `text` begins with, if it looks like a variable's.
fn variable(text: &str) -> Option<&str> {
    let (name, _) = text.strip_prefix('{')?.split_once('}')?;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (!name.is_empty() && name.bytes().all(fits)).then_some(name)
}

fn value<'a>(name: &str, event: &'a Event, notes: &mut Vec<String>) -> Result<Cow<'a, str>, &'static str> {
    if !NAMES.contains(&name) {
        return Err("no such variable");
    }
    if name.starts_with("tool_") && !event.kind.is_tool_event() {
        return Err("it exists in tool events only");
    }
    if name == "tool_output" && event.kind != EventKind::PostToolUse {
        return Err("it exists in post_tool_use only");
    }
    let text = |value: &'a Option<String>| value.as_deref().map(Cow::Borrowed);
    let found = match name {
        "project_name" => text(&event.project_name),
        "session_id" => text(&event.session_id),
        "tool_name" => text(&event.tool_name),
        "tool_input" => Some(event.tool_input.to_string().into()),
        _ => event.tool_output.as_ref().map(|output| cut(output.to_string(), notes).into()),
    };
    found.ok_or("the event does not say it")
}

fn cut(mut output: String, notes: &mut Vec<String>) -> String {
    let whole = output.len();
    if whole > MOST_TOOL_OUTPUT_BYTES {
        let end = (0..=MOST_TOOL_OUTPUT_BYTES).rev().find(|at| output.is_char_boundary(*at)).unwrap_or(0);
        output.truncate(end);
        output.push_str(&format!("… [cut, {whole} bytes in all]"));
        notes.push(format!("{{tool_output}} is cut from {whole} to {end} bytes"));
    }
    output
}
