//! Describes a message in a few words: what it is about, or the outcome of a request.

use super::details;
use crate::proposals::{Registry, SummarizedMessage, clip};
use crate::protocol::revision::meta;
use crate::protocol::{MethodSpec, methods};
use crate::wire::text::counted_as;
use crate::wire::{MessageKind, json};
use std::fmt::Write;

/// The usual maximum length of a quoted text, in characters.
const SHORT: usize = 60;
/// The maximum length of a text that users look for, in characters.
const LONG: usize = 200;

/// How much is said about a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Depth {
    /// What a call is about, and whether it succeeded.
    Subject,
    /// Also what results of certain methods say, such as the number of tools.
    Outcome,
    /// Also the arguments of calls, and the beginning of every result.
    Details,
}

/// Appends what a call is about: a tool's name, a resource's URI, or what a proposal says about its message; with
/// [`Depth::Details`], also its arguments. Returns the length of the name with which that begins, in bytes.
pub(crate) fn call(spoken: &SummarizedMessage<'_>, registry: &Registry, depth: Depth, out: &mut String) -> usize {
    let (params, start) = (spoken.envelope.params, out.len());
    if let Some(spec) = methods::lookup(spoken.method) {
        let subject = params.and_then(|params| core_call(spoken, registry, spec, params, depth, out));
        let named = subject.filter(|name| is_named(spoken.method) && out[start..].starts_with(&**name));
        return named.map_or(0, |name| name.len());
    }
    if let Some(proposal) = registry.of_method(spoken.method) {
        proposal.summarize(spoken, out);
    } else if let (Depth::Details, Some(params)) = (depth, params) {
        details::of_unknown_call(params, out);
    }
    0
}

/// Returns whether the subject of this method is the name of something: a tool, a prompt, a resource or a task.
fn is_named(method: &str) -> bool {
    ["tools/", "prompts/", "resources/", "tasks/"].iter().any(|group| method.starts_with(group))
}

/// Returns the subject, as far as it is shown.
fn core_call(
    spoken: &SummarizedMessage<'_>,
    registry: &Registry,
    spec: &MethodSpec,
    params: &[u8],
    depth: Depth,
    out: &mut String,
) -> Option<String> {
    let subject = methods::subject(spec, params);
    let shown = subject.as_deref().map(|subject| clip(subject, SHORT).into_owned());
    if let (Some(subject), Some(shown)) = (&subject, &shown) {
        if spoken.method == "tools/call"
            && let Some(proposal) = registry.of_tool(subject)
        {
            proposal.summarize(spoken, out);
            return Some(shown.clone());
        }
        out.push_str(shown);
        match spoken.method {
            "notifications/progress" => progress(params, out),
            "notifications/message" => log_line(params, out),
            _ => {}
        }
    }
    if depth == Depth::Details {
        details::of_call(spoken.method, params, out);
    }
    shown
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

/// Appends the outcome of a call, from its response: "ok" or, depending on the depth, what the result says.
pub(crate) fn outcome(spoken: &SummarizedMessage<'_>, registry: &Registry, depth: Depth, out: &mut String) {
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
    if methods::lookup(spoken.method).is_some() {
        core_outcome(spoken, out);
        if depth == Depth::Details && out.len() == start {
            envelope.result.into_iter().for_each(|result| details::of_result(spoken.method, result, out));
        }
    } else if let Some(proposal) = registry.of_method(spoken.method) {
        proposal.summarize(spoken, out);
    } else if depth == Depth::Details {
        envelope.result.into_iter().for_each(|result| details::of_unknown_result(result, out));
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

/// Returns whether [`outcome`] may say more about a result of this method than "ok".
pub(crate) fn reports_results_of(method: &str, registry: &Registry, depth: Depth) -> bool {
    match methods::lookup(method) {
        _ if depth != Depth::Outcome => depth == Depth::Details,
        Some(_) => matches!(method, "initialize" | "server/discover") || listed(method).is_some(),
        None => registry.of_method(method).is_some(),
    }
}

/// Returns the member with the items in the result of a listing, and what one and several of them are called.
fn listed(method: &str) -> Option<(&'static str, &'static str, &'static str)> {
    Some(match method {
        "tools/list" => ("tools", "tool", "tools"),
        "resources/list" => ("resources", "resource", "resources"),
        "resources/templates/list" => ("resourceTemplates", "resource template", "resource templates"),
        "prompts/list" => ("prompts", "prompt", "prompts"),
        "roots/list" => ("roots", "root", "roots"),
        "tasks/list" => ("tasks", "task", "tasks"),
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
    let Some((list, one, many)) = listed(spoken.method) else { return };
    if let Some(items) = json::first_member(result, list) {
        out.push_str(&counted_as(json::items(items).count(), one, many));
    }
}

fn server_name(result: &[u8], path: &[&str], out: &mut String) {
    let Some(info) = json::at_path(result, path) else { return };
    for member in ["name", "version"].iter().filter_map(|name| json::str_member(info, name)) {
        if !member.is_empty() {
            let _ = write!(out, "{member} ");
        }
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
        said_to(Depth::Outcome, method, text)
    }

    fn said_to(depth: Depth, method: &str, text: &str) -> String {
        let envelope = Envelope::scan(text.as_bytes());
        let spoken = SummarizedMessage { method, direction: Direction::ClientToServer, envelope: &envelope };
        let mut out = String::new();
        if envelope.kind.is_response() {
            outcome(&spoken, Registry::built_in(), depth, &mut out);
        } else {
            call(&spoken, Registry::built_in(), depth, &mut out);
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
        assert_eq!(said("roots/list", r#"{"id":1,"result":{"roots":[{}]}}"#), "1 root");
        assert_eq!(
            said("resources/templates/list", r#"{"id":1,"result":{"resourceTemplates":[]}}"#),
            "0 resource templates"
        );
        assert_eq!(
            said("x", r#"{"id":1,"error":{"code":-32601,"message":"Method not found"}}"#),
            "error -32601 Method not found"
        );
        assert_eq!(
            said("tools/call", r#"{"id":1,"result":{"isError":true,"content":[{"type":"text","text":"no"}]}}"#),
            "tool error: no"
        );
        let unversioned = r#"{"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"s","version":""}}}"#;
        assert_eq!(said("initialize", unversioned), "s 2025-11-25");
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

    #[test]
    fn details_are_said_only_on_request() {
        let echo = r#"{"id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"}}}"#;
        let echoed = r#"{"id":1,"result":{"content":[{"type":"text","text":"Echo: hi"}]}}"#;
        let all = [Depth::Subject, Depth::Outcome, Depth::Details];
        assert_eq!(all.map(|depth| said_to(depth, "tools/call", echo)), ["echo", "echo", r#"echo message="hi""#]);
        assert_eq!(all.map(|depth| said_to(depth, "tools/call", echoed)), ["ok", "ok", r#""Echo: hi""#]);
        let details = |method: &str, text: &str| said_to(Depth::Details, method, text);
        assert_eq!(details("x/y", r#"{"id":1,"method":"x/y","params":{"depth":2}}"#), "depth=2");
        assert_eq!(details("x/y", r#"{"id":1,"result":{"a":[]}}"#), r#"{"a":[]}"#);
        assert_eq!(details("ping", r#"{"id":1,"result":{}}"#), "ok");
        assert_eq!(details("tools/list", r#"{"id":1,"result":{"tools":[{}]}}"#), "1 tool");
        // A proposal says itself how its tools are called.
        let subscribe = r#"{"method":"tools/call","params":{"name":"events_subscribe",
            "arguments":{"filter":{"eventTypes":["a"]}}}}"#;
        assert_eq!(details("tools/call", subscribe), "events_subscribe a");
    }
}
