//! Describes a message in a few words: what it is about, or the outcome of a request.

use crate::proposals::{Registry, SummarizedMessage, clip};
use crate::protocol::methods;
use crate::protocol::revision::meta;
use crate::wire::{MessageKind, json};
use std::fmt::Write;

/// The usual maximum length of a quoted text, in characters.
const SHORT: usize = 60;
/// The maximum length of a text that users look for, in characters.
const LONG: usize = 200;

/// Appends what a call is about: a tool's name, a resource's URI, or what a proposal says about its message.
pub(crate) fn call(spoken: &SummarizedMessage<'_>, registry: &Registry, out: &mut String) {
    if let Some(spec) = methods::lookup(spoken.method) {
        let Some(params) = spoken.envelope.params else { return };
        let Some(subject) = methods::subject(spec, params) else { return };
        if spoken.method == "tools/call"
            && let Some(proposal) = registry.of_tool(&subject)
        {
            return proposal.summarize(spoken, out);
        }
        out.push_str(&clip(&subject, SHORT));
        if spoken.method == "notifications/progress" {
            progress(params, out);
        }
        if spoken.method == "notifications/message" {
            log_line(params, out);
        }
    } else if let Some(proposal) = registry.of_method(spoken.method) {
        proposal.summarize(spoken, out);
    }
}

/// Appends `3/10 "message"`, as far as the notification contains it.
fn progress(params: &[u8], out: &mut String) {
    let number = |name: &str| {
        let number = json::first_member(params, name)?;
        Some(clip(&String::from_utf8_lossy(number), 20).into_owned())
    };
    if let Some(done) = number("progress") {
        let _ = write!(out, " {done}");
    }
    if let Some(total) = number("total") {
        let _ = write!(out, "/{total}");
    }
    if let Some(message) = json::first_member(params, "message").and_then(|text| json::str_start(text, SHORT)) {
        let _ = write!(out, " \"{}\"", clip(&message, SHORT));
    }
}

fn log_line(params: &[u8], out: &mut String) {
    let Some(data) = json::first_member(params, "data") else { return };
    let text = json::str_start(data, SHORT)
        .or_else(|| json::str_start(json::first_member(data, "message")?, SHORT))
        .unwrap_or_else(|| String::from_utf8_lossy(&data[..data.len().min(80)]));
    out.push(' ');
    out.push_str(&clip(&text, SHORT));
}

/// Appends the outcome of a call, from its response.
pub(crate) fn outcome(spoken: &SummarizedMessage<'_>, registry: &Registry, out: &mut String) {
    let envelope = spoken.envelope;
    if envelope.kind == MessageKind::Error {
        return error(spoken, registry, out);
    }
    if envelope.tool_error {
        // Users look for errors, so they get more space.
        out.push_str("tool error");
        if let Some(text) = envelope.result.and_then(first_text) {
            let _ = write!(out, ": {}", clip(&text, LONG));
        }
        return;
    }
    let start = out.len();
    if registry.of_method(spoken.method).map(|proposal| proposal.summarize(spoken, out)).is_none() {
        core_outcome(spoken, out);
    }
    if out.len() == start {
        out.push_str("ok");
    }
}

fn error(spoken: &SummarizedMessage<'_>, registry: &Registry, out: &mut String) {
    out.push_str("error");
    let Some(body) = spoken.envelope.error else { return };
    let code = json::first_member(body, "code").map(String::from_utf8_lossy).unwrap_or_default();
    let _ = write!(out, " {code}");
    let meaning =
        code.parse().ok().and_then(|code| registry.error_name(spoken.method, code)).map(std::borrow::Cow::Borrowed);
    let message = json::first_member(body, "message").and_then(|text| json::str_start(text, SHORT));
    if let Some(text) = message.or(meaning) {
        let _ = write!(out, " {}", clip(&text, SHORT));
    }
}

/// Returns whether [`outcome`] says more about a result of this method than "ok".
pub(crate) fn reports_results_of(method: &str, registry: &Registry) -> bool {
    match methods::lookup(method) {
        Some(_) => matches!(method, "initialize" | "server/discover") || listed(method).is_some(),
        None => registry.of_method(method).is_some(),
    }
}

/// Returns the member with the items in the result of a listing.
fn listed(method: &str) -> Option<&'static str> {
    Some(match method {
        "tools/list" => "tools",
        "resources/list" => "resources",
        "resources/templates/list" => "resourceTemplates",
        "prompts/list" => "prompts",
        "roots/list" => "roots",
        _ => return None,
    })
}

fn core_outcome(spoken: &SummarizedMessage<'_>, out: &mut String) {
    let Some(result) = spoken.envelope.result else { return };
    match spoken.method {
        "initialize" => return server_name(result, &["serverInfo"], out),
        "server/discover" => return server_name(result, &["_meta", meta::SERVER_INFO], out),
        _ => {}
    }
    let Some(list) = listed(spoken.method) else { return };
    if let Some(items) = json::first_member(result, list) {
        let _ = write!(out, "{} {list}", json::items(items).count());
    }
}

fn server_name(result: &[u8], path: &[&str], out: &mut String) {
    let Some(info) = json::at_path(result, path) else { return };
    for name in ["name", "version"] {
        let _ = write!(out, "{} ", json::str_member(info, name).unwrap_or_default());
    }
    match json::str_member(result, "protocolVersion") {
        Some(version) => out.push_str(&version),
        None => out.truncate(out.trim_end().len()),
    }
}

fn first_text(result: &[u8]) -> Option<std::borrow::Cow<'_, str>> {
    json::items(json::first_member(result, "content")?)
        .find_map(|block| json::str_start(json::first_member(block, "text")?, LONG))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Direction, Envelope};

    fn said(method: &str, text: &str) -> String {
        let envelope = Envelope::scan(text.as_bytes());
        let spoken = SummarizedMessage { method, direction: Direction::ClientToServer, envelope: &envelope };
        let mut out = String::new();
        if envelope.kind.is_response() {
            outcome(&spoken, Registry::built_in(), &mut out)
        } else {
            call(&spoken, Registry::built_in(), &mut out)
        }
        out
    }

    #[test]
    fn calls_and_outcomes_are_put_into_words() {
        let push = r#"{"method":"push/event","id":1,"params":{"featureSet":"gitlab.notifications","eventId":"evt_1"}}"#;
        assert_eq!(said("push/event", push), "gitlab.notifications evt_1");
        let accepted = r#"{"id":1,"result":{"accepted":true,"inferenceId":"inf_xyz"}}"#;
        assert_eq!(said("push/event", accepted), "accepted, inference inf_xyz");
        assert_eq!(said("tools/call", r#"{"id":1,"method":"tools/call","params":{"name":"echo"}}"#), "echo");
        assert_eq!(said("tools/list", r#"{"id":1,"result":{"tools":[{},{}]}}"#), "2 tools");
        assert_eq!(
            said("x", r#"{"id":1,"error":{"code":-32601,"message":"Method not found"}}"#),
            "error -32601 Method not found"
        );
        assert_eq!(
            said("tools/call", r#"{"id":1,"result":{"isError":true,"content":[{"type":"text","text":"no"}]}}"#),
            "tool error: no"
        );
        let subscribe = r#"{"method":"tools/call","params":{"name":"events_subscribe",
            "arguments":{"filter":{"eventTypes":["github.*","a"]}}}}"#;
        assert_eq!(said("tools/call", subscribe), "events_subscribe github.*,a");
        let reminder =
            r#"{"method":"notifications/reminder","params":{"reminder":{"body":"lib.rs changed","ttlTurns":2}}}"#;
        assert_eq!(said("notifications/reminder", reminder), "\"lib.rs changed\" ttl 2");
        let progress = r#"{"params":{"progressToken":7,"progress":3,"total":10,"message":"indexing"}}"#;
        assert_eq!(said("notifications/progress", progress), "7 3/10 \"indexing\"");
        assert_eq!(said("notifications/progress", r#"{"params":{"progressToken":"a","progress":0.5}}"#), "a 0.5");
        let memories = r#"{"id":1,"result":{"structuredContext":{"memories":[{},{}]}}}"#;
        assert_eq!(said("conversation/userMessage", memories), "2 memories");
        assert_eq!(said("conversation/userMessage", &memories.replace(",{}", "")), "1 memory");
    }
}
