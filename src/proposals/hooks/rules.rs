//! The rules of SEP-2282, and the observer that checks them. Hooks have no messages of their own, so most rules concern
//! the two declarations.

mod firing;
mod inputs;
mod moments;

use super::DESCRIPTOR;
use crate::proposals::findings::rules;
use crate::proposals::{Declared, Findings, Observed, Observer, Side};
use crate::wire::{Direction, Id, MessageKind};
use firing::Firing;
use serde_json::Value;

/// The questions that the proposal leaves open (`AMB-…`), and what mcpreel assumes.
mod open_questions {
    pub(super) const D1: &str =
        "The proposal negotiates in `initialize` only. mcpreel uses hooks only in sessions that begin with it.";
    pub(super) const D3: &str =
        "The proposal does not say what a matcher does on other events. mcpreel ignores it, so the hook always fires.";
    pub(super) const D11: &str = "The proposal does not say what to do with other events. mcpreel skips such a hook.";
}

rules! {
    UNSUPPORTED_EVENT = Error "hooks/unsupported-event",
        "The server declares hooks only on events that the client listed in `hooks.supported_events` in `initialize`.",
        "SEP-2282, Capability negotiation",
        fix "Read the client's `hooks.supported_events` first, and leave out hooks on other events.";
    WITHOUT_CLIENT = Error "hooks/without-client",
        "The server declares the capability `hooks` only if the client declared `hooks`, too. (An experimental capability needs no negotiation.)",
        "SEP-2282, Capability negotiation",
        fix "Add `hooks` to your result of `initialize` only if the request has it.";
    TWO_PLACES = Warning "hooks/two-places",
        "A side that declares both `hooks` and `experimental.hooks` must declare the same in both. If they differ, `hooks` counts.",
        "SEP-2282, Relationship to experimental capabilities",
        fix "Make both members from the same value, or keep `hooks` alone.";
    UNKNOWN_EVENT = Warning "hooks/unknown-event",
        "Client and server name only these events in hooks: `session_start`, `session_end`, `pre_tool_use`, `post_tool_use`, `pre_request` and `post_request`.",
        "SEP-2282, Event types, AMB-D11",
        assumes open_questions::D11,
        fix "Use one of the six names exactly as the proposal spells it.";
    ARGS_WITHOUT_TOOL = Error "hooks/args-without-tool",
        "A server that declares a hook with `context_tool_args` also names the `context_tool` that the arguments are for.",
        "SEP-2282, Hook declaration schema",
        fix "Add the `context_tool`, or remove `context_tool_args`.";
    MATCHER = Warning "hooks/matcher-not-applicable",
        "The server gives a `matcher` only to hooks on `pre_tool_use` and `post_tool_use`.",
        "SEP-2282, Hook declaration schema, AMB-D3",
        assumes open_questions::D3,
        fix "Remove the `matcher`, or put the hook on `pre_tool_use` or `post_tool_use`.";
    UNKNOWN_TOOL = Error "hooks/unknown-tool",
        "The server names as the `context_tool` of a hook only a tool that its own `tools/list` contains.",
        "SEP-2282, Hook declaration schema",
        fix "Add the tool to `tools/list`, or correct the name in the hook.";
    TOOLS_MISSING = Error "hooks/tools-missing",
        "A server that declares a hook with a `context_tool` also declares the capability `tools`, because the client calls that tool.",
        "SEP-2282, Hook declaration schema; MCP 2025-11-25, Tools, Capabilities",
        fix "Declare `tools` in your result of `initialize`, and list the tool there.";
    KEY_SUBSTITUTED = Error "hooks/key-substituted",
        "The client substitutes variables only in the values of `context_tool_args`, not in the names of its members.",
        "SEP-2282, Template variables",
        fix "Walk through the arguments and substitute in strings that are values; copy member names.";
    VARIABLE_PLACE = Warning "hooks/variable-place",
        "In `context` and `context_tool_args`, the server uses `{tool_name}` and `{tool_input}` only in hooks on `pre_tool_use` and `post_tool_use`, and `{tool_output}` only in hooks on `post_tool_use`.",
        "SEP-2282, Template variables",
        fix "Remove the variable, or put the hook on an event at which the variable has a value.";
    NO_NEGOTIATION = Warning "hooks/no-negotiation",
        "The server declares no hooks in its response to `server/discover` (revision 2026-07-28): hooks are negotiated in `initialize`, which that revision does not have.",
        "SEP-2282, Capability negotiation, AMB-D1",
        assumes open_questions::D1,
        fix "Leave `hooks` out of the result of `server/discover`.";
    TOOL_ARGUMENTS = Error "hooks/tool-arguments",
        "The server declares `context_tool_args` that conform to the `inputSchema` of the hook's `context_tool`. Of a text with variables, only the type is checked.",
        "SEP-2282, Hook declaration schema",
        fix "Correct `context_tool_args`, or let the tool's `inputSchema` accept text where a variable stands.";
    NOT_SUBSTITUTED = Warning "hooks/not-substituted",
        "When the client calls the `context_tool` of a hook with `tools/call`, it must have replaced each variable such as `{tool_name}` by its value.",
        "SEP-2282, Template variables",
        fix "Substitute the variables in all values of `context_tool_args` before you call the tool.";
    VARIABLE_CHANGED = Warning "hooks/variable-changed",
        "When the client calls the `context_tool` of a hook, it must leave a variable that has no value at the hook's event as it is, and not replace it by an empty text, `null` or the like.",
        "SEP-2282, Template variables",
        fix "Copy a variable without a value into the arguments as it stands, with its braces.";
    ORDER = Error "hooks/order",
        "The client calls the `context_tool` of a `pre_tool_use` hook before it sends the `tools/call` that the hook is about, and that of a `post_tool_use` hook after that call has its result. Checked where an argument is `{tool_input}`, so that the call is known, and the call has no result yet; otherwise, see hooks/moment.",
        "SEP-2282, Event types",
        fix "Run `pre_tool_use` hooks before you send the call, and `post_tool_use` hooks after its result.";
    MOMENT = Warning "hooks/moment",
        "The client calls the `context_tool` of a `pre_tool_use` hook before it sends the `tools/call` that the hook is about, and that of a `post_tool_use` hook after that call has its result. Checked where the arguments do not say which call that is, and after a call has its result; the model may have called the same tool for another reason.",
        "SEP-2282, Event types",
        fix "Run `pre_tool_use` hooks before you send the call, and `post_tool_use` hooks after its result.";
    ARGUMENT_MISSING = Warning "hooks/argument-missing",
        "The client calls the `context_tool` of a hook with all members of `context_tool_args`. Reported for a call with only some of them, of which at least one has the declared constant value; the model may have made that call itself.",
        "SEP-2282, Client behaviour",
        fix "Send all of the declared arguments, those without variables as well.";
    EXCLUDED_INPUT = Warning "hooks/excluded-input",
        "The client calls the `context_tool` of a hook only for calls whose input contains the text of `matcher.input_contains`, in any usual form of JSON. Checked where an argument is `{tool_input}`.",
        "SEP-2282, Hook declaration schema",
        fix "Compare the call's arguments with `input_contains` before you run the hook.";
    EXCLUDED_TOOL = Warning "hooks/excluded-tool",
        "The client calls the `context_tool` of a hook only for tools whose names the hook's `matcher.tool_name` matches, with or without the name of the server before it (`mcp__server__tool`). Checked where an argument is `{tool_name}`; the model may have made the call itself.",
        "SEP-2282, Hook declaration schema",
        fix "Compare the tool's name with `matcher.tool_name` before you run the hook.";
    UNKNOWN_VARIABLE = Info "hooks/unknown-variable",
        "In hooks, the server uses only the variables `{project_name}`, `{session_id}`, `{tool_name}`, `{tool_input}` and `{tool_output}`; a client leaves any other one as it is.",
        "SEP-2282, Template variables",
        fix "Replace the variable by one of the five, or write the value itself.";
}

/// Checks one connection.
#[derive(Debug, Default)]
pub(super) struct HooksObserver {
    /// Declared context tools that no tool list contained so far, with the event of the declaration.
    context_tools: Vec<(u64, String)>,
    /// Declared context tools that a tool list contained.
    offered: Vec<(u64, String)>,
    /// Whether the last page of the tool list was seen.
    tools_complete: bool,
    firing: Firing,
}

impl Observer for HooksObserver {
    fn observe(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        match (message.method, message.envelope.kind) {
            (Some("initialize"), MessageKind::Request) => check_places(message, Side::Client, findings),
            (Some("initialize"), MessageKind::Result) => {
                check_places(message, Side::Server, findings);
                self.declared(message, findings);
            }
            (Some("server/discover"), MessageKind::Result) => {
                let hooks = message.declared.find(&DESCRIPTOR, Side::Server);
                findings.check(&NO_NEGOTIATION, message.seq, hooks.is_none(), || {
                    "the server declared hooks in its response to server/discover".to_owned()
                });
            }
            (Some("tools/call"), MessageKind::Request) => self.firing.called(message, findings),
            (Some("tools/call"), MessageKind::Result | MessageKind::Error) => {
                message.envelope.id.iter().for_each(|id| self.firing.answered(&id.key(), findings));
            }
            // The tool is over for the client, too.
            (Some("notifications/cancelled"), MessageKind::Notification)
                if message.direction == Direction::ClientToServer =>
            {
                let id = message.content["requestId"].to_string();
                self.firing.answered(&Id(id.as_bytes()).key(), findings);
            }
            (Some("tools/list"), MessageKind::Result) => {
                self.firing.listed(message, findings);
                let tools = message.declared.tools.as_deref().unwrap_or_default();
                let (offered, missing) = self.context_tools.drain(..).partition(|(_, tool)| tools.contains(tool));
                self.context_tools = missing;
                self.offered.extend::<Vec<_>>(offered);
                self.tools_complete = message.declared.tools.is_some() && message.content["nextCursor"].is_null();
            }
            _ => {}
        }
    }

    fn lose_track(&mut self) {
        self.tools_complete = false;
        self.firing.lose_track();
    }

    fn finish(&mut self, _declared: &Declared, _time: i64, findings: &mut Findings) {
        self.firing.finish(findings);
        if !self.offered.is_empty() {
            findings.hold(&UNKNOWN_TOOL);
        }
        for (seq, tool) in self.context_tools.iter().filter(|_| self.tools_complete) {
            findings.note(&UNKNOWN_TOOL, *seq, format!("the context_tool {tool:?} is not in the server's tools/list"));
        }
    }
}

impl HooksObserver {
    fn declared(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let Some((_, hooks)) = message.declared.find(&DESCRIPTOR, Side::Server) else { return };
        let client = message.declared.find(&DESCRIPTOR, Side::Client).map(|(_, value)| value);
        // Nothing has to be negotiated about experimental capabilities (Relationship to experimental capabilities).
        let is_experimental = message.declared.server.get("hooks").is_none();
        findings.check(&WITHOUT_CLIENT, message.seq, client.is_some() || is_experimental, || {
            "the server declared hooks, but the client did not".to_owned()
        });
        let is_agreed = !is_experimental || message.declared.client.get("hooks").is_none();
        let supported = client.and_then(|client| client["supported_events"].as_array()).filter(|_| is_agreed);
        for declaration in hooks["declarations"].as_array().into_iter().flatten() {
            let event = declaration["event"].as_str().unwrap_or_default();
            // An event that is missing or no text breaks the schema.
            if let Some(supported) = supported.filter(|_| declaration["event"].is_string()) {
                findings.check(&UNSUPPORTED_EVENT, message.seq, supported.iter().any(|name| name == event), || {
                    format!("the server declared a hook on {event:?}, which the client did not list")
                });
            }
            findings.hold(&UNKNOWN_EVENT);
            check_declaration(message.seq, event, declaration, findings);
            self.firing.declared(message.seq, event, declaration);
            if let Some(tool) = declaration["context_tool"].as_str() {
                let has_tools = message.declared.server.get("tools").is_some();
                findings.check(&TOOLS_MISSING, message.seq, has_tools, || {
                    format!("a hook on {event} names the context_tool {tool:?}, but the server did not declare tools")
                });
                self.context_tools.push((message.seq, tool.to_owned()));
            }
        }
    }
}

fn check_places(message: &Observed<'_>, side: Side, findings: &mut Findings) {
    let capabilities = &message.content["capabilities"];
    let (top, experimental) = (&capabilities["hooks"], &capabilities["experimental"]["hooks"]);
    if !top.is_null() && !experimental.is_null() {
        let owner = if side == Side::Client { "the client's" } else { "the server's" };
        findings.check(&TWO_PLACES, message.seq, top == experimental, || {
            format!("{owner} hooks and experimental.hooks differ")
        });
    }
}

fn check_declaration(seq: u64, event: &str, declaration: &Value, findings: &mut Findings) {
    let has = |name: &str| declaration.get(name).is_some();
    let of_tool = matches!(event, "pre_tool_use" | "post_tool_use");
    findings.check(&ARGS_WITHOUT_TOOL, seq, has("context_tool") || !has("context_tool_args"), || {
        format!("a hook on {event} has context_tool_args, but no context_tool")
    });
    findings.check(&MATCHER, seq, of_tool || !has("matcher"), || format!("a hook on {event} has a matcher"));
    for member in ["context", "context_tool_args"] {
        let Some(value) = declaration.get(member) else { continue };
        check_variables(seq, event, value, findings);
    }
}

/// Checks the template variables in all texts of a value.
fn check_variables(seq: u64, event: &str, value: &Value, findings: &mut Findings) {
    match value {
        Value::String(text) => {
            for name in variables(text) {
                let known = is_known(name);
                let in_place = !known || has_variable(event, name);
                findings.check(&VARIABLE_PLACE, seq, in_place, || format!("a hook on {event} uses {{{name}}}"));
                findings.check(&UNKNOWN_VARIABLE, seq, known, || {
                    format!("a hook on {event} uses the unknown variable {{{name}}}")
                });
            }
        }
        Value::Array(items) => items.iter().for_each(|item| check_variables(seq, event, item, findings)),
        Value::Object(members) => members.values().for_each(|item| check_variables(seq, event, item, findings)),
        _ => {}
    }
}

fn is_known(name: &str) -> bool {
    matches!(name, "project_name" | "session_id" | "tool_name" | "tool_input" | "tool_output")
}

/// Whether a variable has a value at an event.
fn has_variable(event: &str, name: &str) -> bool {
    match name {
        "tool_name" | "tool_input" => matches!(event, "pre_tool_use" | "post_tool_use"),
        "tool_output" => event == "post_tool_use",
        _ => is_known(name),
    }
}

/// A part of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    Variable(&'a str),
}

/// Splits a template at its variables, which are names in single braces.
fn pieces(template: &str) -> Vec<Piece<'_>> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let (mut pieces, mut from) = (Vec::new(), 0);
    for (at, _) in template.match_indices('{') {
        let Some((name, _)) = template[at + 1..].split_once('}') else { break };
        if !name.is_empty() && name.bytes().all(plain) {
            pieces.extend([Piece::Text(&template[from..at]), Piece::Variable(name)]);
            from = at + name.len() + 2;
        }
    }
    pieces.push(Piece::Text(&template[from..]));
    pieces
}

fn variables(template: &str) -> impl Iterator<Item = &str> {
    pieces(template).into_iter().filter_map(|piece| match piece {
        Piece::Variable(name) => Some(name),
        Piece::Text(_) => None,
    })
}
