//! Rules that this proposal lays on a session, and the observer that checks them. Hooks have no messages of their
//! own, so most of it is said about the two declarations.

mod firing;

use super::DESCRIPTOR;
use crate::proposals::findings::rules;
use crate::proposals::{Declared, Findings, Observed, Observer, Side};
use crate::wire::MessageKind;
use firing::Firing;
use serde_json::Value;

rules! {
    UNSUPPORTED_EVENT = Error "hooks/unsupported-event",
        "A server declares hooks only for events that the client supports.",
        "seed 003, Capability negotiation, D3";
    WITHOUT_CLIENT = Error "hooks/without-client",
        "A server declares no hooks to a client that did not declare hooks.",
        "seed 003, Capability negotiation, D4";
    TWO_PLACES = Warning "hooks/two-places",
        "Hooks declared in two places say the same in both; the top-level one counts.",
        "seed 003, Relationship to experimental capabilities, D7";
    UNKNOWN_EVENT = Warning "hooks/unknown-event",
        "An event is one of the proposal's six.",
        "seed 003, Event types, D8 and AMB-D11";
    ARGS_WITHOUT_TOOL = Error "hooks/args-without-tool",
        "context_tool_args stand with a context_tool.",
        "seed 003, Hook declaration schema, D11";
    MATCHER = Warning "hooks/matcher-not-applicable",
        "A matcher narrows tool events only.",
        "seed 003, Hook declaration schema, D13 and AMB-D3";
    UNKNOWN_TOOL = Error "hooks/unknown-tool",
        "A context_tool is a tool of the server that declares it.",
        "seed 003, Hook declaration schema, D14";
    VARIABLE_PLACE = Warning "hooks/variable-place",
        "Tool variables are used in tool events, {tool_output} in post_tool_use.",
        "seed 003, Template variables, D24";
    NO_NEGOTIATION = Warning "hooks/no-negotiation",
        "Hooks are negotiated in the handshake, so revision 2026-07-28 has no place for them.",
        "seed 003, Capability negotiation, AMB-D1";
    TOOL_ARGUMENTS = Error "hooks/tool-arguments",
        "context_tool_args fit the tool's input schema.",
        "seed 003, Hook declaration schema, D15";
    NOT_SUBSTITUTED = Warning "hooks/not-substituted",
        "A context_tool is called with its variables replaced.",
        "seed 003, Template variables, D22 and D26";
    VARIABLE_CHANGED = Warning "hooks/variable-changed",
        "A variable that the event does not have passes through unchanged.",
        "seed 003, Template variables, D23 and D24";
    ORDER = Error "hooks/order",
        "A pre_tool_use hook fires before the call is sent, a post_tool_use hook when its result is there.",
        "seed 003, Event types, D26 and D28";
    UNKNOWN_VARIABLE = Info "hooks/unknown-variable",
        "A template variable is one of the proposal's five; others pass through unchanged.",
        "seed 003, Template variables, D23";
}

/// Checks one connection.
#[derive(Debug, Default)]
pub struct HooksObserver {
    /// Context tools declared, with the event of the declaration, that no list named yet.
    context_tools: Vec<(u64, String)>,
    /// The others.
    offered: Vec<(u64, String)>,
    /// The tool list was read to its end.
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
                    "hooks in the answer to server/discover".to_owned()
                });
            }
            (Some("tools/call"), MessageKind::Request) => self.firing.called(message, findings),
            (Some("tools/call"), MessageKind::Result | MessageKind::Error) => self.firing.answered(message),
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

    fn finish(&mut self, _declared: &Declared, findings: &mut Findings) {
        if !self.offered.is_empty() {
            findings.hold(&UNKNOWN_TOOL);
        }
        for (seq, tool) in self.context_tools.iter().filter(|_| self.tools_complete) {
            findings.note(&UNKNOWN_TOOL, *seq, format!("{tool:?} is not in tools/list"));
        }
    }
}

impl HooksObserver {
    fn declared(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let Some((_, hooks)) = message.declared.find(&DESCRIPTOR, Side::Server) else { return };
        let client = message.declared.find(&DESCRIPTOR, Side::Client).map(|(_, value)| value);
        findings.check(&WITHOUT_CLIENT, message.seq, client.is_some(), || "the client declared no hooks".to_owned());
        let supported = client.and_then(|client| client["supported_events"].as_array());
        for declaration in hooks["declarations"].as_array().into_iter().flatten() {
            let event = declaration["event"].as_str().unwrap_or_default();
            if let Some(supported) = supported {
                findings.check(&UNSUPPORTED_EVENT, message.seq, supported.iter().any(|name| name == event), || {
                    format!("a hook for {event:?}")
                });
            }
            findings.hold(&UNKNOWN_EVENT);
            check_declaration(message.seq, event, declaration, findings);
            self.firing.declared(message.seq, event, declaration);
            if let Some(tool) = declaration["context_tool"].as_str() {
                self.context_tools.push((message.seq, tool.to_owned()));
            }
        }
    }
}

fn check_places(message: &Observed<'_>, side: Side, findings: &mut Findings) {
    let capabilities = &message.content["capabilities"];
    let (top, experimental) = (&capabilities["hooks"], &capabilities["experimental"]["hooks"]);
    if !top.is_null() && !experimental.is_null() {
        let whose = if side == Side::Client { "the client's" } else { "the server's" };
        findings.check(&TWO_PLACES, message.seq, top == experimental, || {
            format!("{whose} hooks and experimental.hooks differ")
        });
    }
}

fn check_declaration(seq: u64, event: &str, declaration: &Value, findings: &mut Findings) {
    let has = |name: &str| declaration.get(name).is_some();
    let of_tool = matches!(event, "pre_tool_use" | "post_tool_use");
    findings.check(&ARGS_WITHOUT_TOOL, seq, has("context_tool") || !has("context_tool_args"), || {
        format!("a hook for {event} has context_tool_args and no context_tool")
    });
    findings.check(&MATCHER, seq, of_tool || !has("matcher"), || format!("a matcher on {event}"));
    for member in ["context", "context_tool_args"] {
        let Some(value) = declaration.get(member) else { continue };
        check_variables(seq, event, value, findings);
    }
}

/// Checks the template variables in a text, or in every text of an object or array.
fn check_variables(seq: u64, event: &str, value: &Value, findings: &mut Findings) {
    match value {
        Value::String(text) => {
            for name in variables(text) {
                let known = is_known(name);
                let in_place = !known || has_variable(event, name);
                findings.check(&VARIABLE_PLACE, seq, in_place, || format!("{{{name}}} in a hook for {event}"));
                findings.check(&UNKNOWN_VARIABLE, seq, known, || format!("{{{name}}}"));
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

/// Whether an event has a value for the variable.
fn has_variable(event: &str, name: &str) -> bool {
    match name {
        "tool_name" | "tool_input" => matches!(event, "pre_tool_use" | "post_tool_use"),
        "tool_output" => event == "post_tool_use",
        _ => is_known(name),
    }
}

/// A stretch of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    Variable(&'a str),
}

/// A template cut at what looks like variables: names in single braces.
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
