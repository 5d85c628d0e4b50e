//! Decides whether a hook matches an event (SEP-2282, Hook declaration schema).
//!
//! This module must never decide what is injected.

use super::declaration::{Hook, Matcher, ToolGlob};
use super::{Event, EventKind};
use serde_json::Value;

/// Checks a hook against an event of its kind, and adds notes about what matched.
///
/// # Errors
/// Why the hook does not fire.
pub(super) fn judge(hook: &Hook, event: &Event, notes: &mut Vec<String>) -> Result<(), String> {
    let Some(matcher) = &hook.matcher else { return Ok(()) };
    if !event.kind.is_tool_event() {
        notes.push(ignored_matcher(event.kind));
        return Ok(());
    }
    judge_matcher(matcher, event, notes)
}

/// The schema permits a matcher on any event, but the text applies it to tool events only (AMB-D3).
pub(crate) fn ignored_matcher(kind: EventKind) -> String {
    format!("matchers do not apply to {} events; this one is ignored", kind.name())
}

fn judge_matcher(matcher: &Matcher, event: &Event, notes: &mut Vec<String>) -> Result<(), String> {
    if let Some(glob) = &matcher.tool_name {
        notes.push(match_name(glob, event)?);
    }
    if let Some(server) = &matcher.tool_server {
        let names = [&event.tool_server, &event.tool_server_info_name];
        if !names.into_iter().flatten().any(|name| name == server) {
            let actual = event.tool_server.as_deref().unwrap_or("the host itself");
            return Err(format!("tool_server is {server:?}, but the tool belongs to {actual}"));
        }
        notes.push(format!("tool_server {server:?} provides the tool"));
    }
    if let Some(needle) = &matcher.input_contains {
        notes.push(match_input(needle, &event.tool_input)?);
    }
    Ok(())
}

/// Tries the tool's name by itself, and the prefixed name that hosts use.
fn match_name(glob: &ToolGlob, event: &Event) -> Result<String, String> {
    let pattern = &glob.pattern;
    let Some(tool) = &event.tool_name else { return Err("the event does not name a tool".to_owned()) };
    let qualified = event.tool_server.as_ref().map(|server| format!("mcp__{server}__{tool}"));
    let names = [Some(tool.clone()), qualified];
    match names.into_iter().flatten().find(|name| glob.matches(name)) {
        Some(name) => Ok(format!("tool_name {pattern:?} matched {name}")),
        None => Err(format!("tool_name {pattern:?} does not match {tool}")),
    }
}

/// The proposal does not define "serialized". It is the input's JSON as the host sends it in `arguments`: compact, without
/// spaces, with escapes as in JSON and members in their order (AMB-D4).
fn match_input(needle: &str, input: &Value) -> Result<String, String> {
    match input.to_string().contains(needle) {
        true => Ok(format!("input_contains {needle:?} matched the compact JSON of the input")),
        false => Err(format!("the compact JSON of the tool's input does not contain {needle:?}")),
    }
}
