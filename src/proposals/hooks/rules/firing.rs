//! Checks calls of context tools against the declarations that cause them.
//!
//! The agent may call the same tools for other reasons, and a hook may concern a tool of the host's own, which a
//! recording does not show. So a call counts as a hook's only if its arguments have the structure of the hook's
//! template. The order of messages is checked only if the arguments contain the input of a call on the same connection.

use super::moments::Moments;
use super::{
    ARGUMENT_MISSING, EXCLUDED_INPUT, EXCLUDED_TOOL, KEY_SUBSTITUTED, NOT_SUBSTITUTED, ORDER, Piece, TOOL_ARGUMENTS,
    VARIABLE_CHANGED, has_variable, pieces, variables,
};
use crate::proposals::hooks::engine::ToolGlob;
use crate::proposals::recent::{Digest, Recent, digest};
use crate::proposals::{Findings, Observed};
use crate::protocol::schema;
use crate::wire::IdKey;
use serde_json::{Value, json};

/// The maximum number of declarations, and of calls, that are remembered.
const MAX: usize = 256;
/// What careless template engines substitute for unknown variables.
const CARELESS: [&str; 5] = ["", "null", "None", "undefined", "$name"];

/// A declaration with a context tool.
#[derive(Debug)]
struct Hook {
    seq: u64,
    event: String,
    tool: String,
    arguments: Value,
    /// The names of the tools that it is about; `None` for all.
    tools: Option<ToolGlob>,
    /// The text that the input of a call must contain.
    input: Option<String>,
    /// How many calls its matcher matched, for which it did not fire so far.
    due: u64,
    /// Whether its arguments were checked against the tool's schema.
    checked: bool,
    moments: Option<Moments>,
}

impl Hook {
    fn is_about(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.matches(tool))
    }

    /// Notes a call that the hook may be about.
    fn note_call(&mut self, tool: &str, arguments: &Value) {
        if self.is_about(tool)
            && let Some(input) = &self.input
            && arguments.to_string().contains(input)
        {
            self.due = self.due.saturating_add(1);
        }
    }

    /// Checks that there was a call that the matcher of the input matches.
    fn check_due(&mut self, seq: u64, findings: &mut Findings) {
        let Some(input) = self.input.as_ref().filter(|_| self.event == "post_tool_use") else { return };
        if !holds_variables(&self.arguments) {
            return;
        }
        findings.check(&EXCLUDED_INPUT, seq, self.due > 0, || {
            format!("the hook fired, but no further call had an input that contains {input:?}")
        });
        self.due = self.due.saturating_sub(1);
    }
}

/// The declarations and calls of one connection.
#[derive(Debug)]
pub(super) struct Firing {
    hooks: Vec<Hook>,
    /// Calls without a result so far, by id.
    open: Recent<IdKey, Call>,
    /// Calls with a result.
    over: Recent<Call>,
}

/// A tool's name and its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Call {
    tool: Digest,
    input: Digest,
}

impl Default for Firing {
    fn default() -> Self {
        Self { hooks: Vec::new(), open: Recent::new(MAX), over: Recent::new(MAX) }
    }
}

impl Firing {
    pub(super) fn declared(&mut self, seq: u64, event: &str, declaration: &Value) {
        let Some(tool) = declaration["context_tool"].as_str() else { return };
        let arguments = declaration.get("context_tool_args").cloned().unwrap_or_else(|| json!({}));
        if self.hooks.len() < MAX {
            let moments = Moments::of(event, declaration);
            let (event, tool) = (event.to_owned(), tool.to_owned());
            let tools = declaration["matcher"]["tool_name"].as_str().and_then(|glob| ToolGlob::new(glob).ok());
            let input = declaration["matcher"]["input_contains"].as_str().map(str::to_owned);
            self.hooks.push(Hook { seq, event, tool, arguments, tools, input, due: 0, checked: false, moments });
        }
    }

    /// Handles a list of tools: checks the declared arguments against their schemas.
    pub(super) fn listed(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let tools = message.content["tools"].as_array().map_or(&[][..], Vec::as_slice);
        for hook in self.hooks.iter_mut().filter(|hook| !hook.checked) {
            let Some(tool) = tools.iter().find(|tool| tool["name"] == *hook.tool) else { continue };
            hook.checked = true;
            let Some(violations) = schema::check_template(&tool["inputSchema"], &hook.arguments, holds_variables)
            else {
                continue;
            };
            findings.check(&TOOL_ARGUMENTS, hook.seq, violations.is_empty(), || {
                let reported: Vec<_> = violations.iter().map(ToString::to_string).collect();
                format!(
                    "the context_tool_args for {} do not match its input schema: {}",
                    hook.tool,
                    reported.join("; ")
                )
            });
        }
    }

    /// Handles a tool call.
    pub(super) fn called(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        if self.hooks.is_empty() {
            return;
        }
        let empty = json!({});
        let arguments = message.content.get("arguments").unwrap_or(&empty);
        let name = message.content["name"].as_str().unwrap_or_default();
        let is_its = |(_, hook): &(usize, &Hook)| hook.tool == name;
        let fired: Vec<_> = self.hooks.iter().enumerate().filter(is_its).collect();
        let is_context_tool = !fired.is_empty();
        let fired: Vec<_> = fired
            .into_iter()
            .filter(|(_, hook)| self.check_call(hook, arguments, message.seq, findings))
            .map(|(at, _)| at)
            .collect();
        match (&fired[..], message.envelope.id) {
            ([only], _) => {
                if let Some(hook) = self.hooks.get_mut(*only) {
                    hook.check_due(message.seq, findings);
                    hook.moments.iter_mut().for_each(|moments| moments.fired(message.seq, findings));
                }
            }
            ([], Some(id)) if !is_context_tool => {
                self.hooks.iter_mut().for_each(|hook| hook.note_call(name, arguments));
                let about = self.hooks.iter_mut().filter(|hook| hook.is_about(name));
                about.filter_map(|hook| hook.moments.as_mut()).for_each(|moments| moments.called(id.key(), findings));
            }
            _ => {}
        }
        if let Some(id) = message.envelope.id {
            let call = Call { tool: digest(&message.content["name"]), input: digest(arguments) };
            self.open.insert(id.key(), call);
        }
    }

    /// Handles a tool's result.
    pub(super) fn answered(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        if let Some(id) = message.envelope.id {
            self.moments().for_each(|moments| moments.answered(&id.key(), findings));
        }
        if let Some(call) = message.envelope.id.and_then(|id| self.open.remove(&id.key())) {
            self.over.insert(call, ());
        }
    }

    pub(super) fn lose_track(&mut self) {
        self.open = Recent::new(MAX);
        self.over = Recent::new(MAX);
        self.moments().for_each(Moments::lose_track);
        self.hooks.iter_mut().for_each(|hook| hook.due = u64::MAX);
    }

    pub(super) fn finish(&mut self, findings: &mut Findings) {
        self.moments().for_each(|moments| moments.finish(findings));
    }

    fn moments(&mut self) -> impl Iterator<Item = &mut Moments> {
        self.hooks.iter_mut().filter_map(|hook| hook.moments.as_mut())
    }

    /// Checks a call of a hook's context tool. Returns whether the arguments are those of the hook.
    fn check_call(&self, hook: &Hook, arguments: &Value, seq: u64, findings: &mut Findings) -> bool {
        let mut texts = Vec::new();
        if !same_shape(&hook.arguments, arguments, &hook.event, &mut texts) {
            let changed = substituted_key(&hook.arguments, arguments, &hook.event);
            if let Some((template, key)) = changed {
                findings.note(&KEY_SUBSTITUTED, seq, format!("the client sent the member {template:?} as {key:?}"));
            }
            if let Some(missing) = missing_argument(&hook.arguments, arguments) {
                findings.note(&ARGUMENT_MISSING, seq, format!("the client left out {missing:?}"));
            }
            return false;
        }
        if hook.arguments.as_object().is_some_and(|members| members.keys().any(|key| has_variables(key))) {
            findings.hold(&KEY_SUBSTITUTED);
        }
        findings.hold(&ARGUMENT_MISSING);
        let event = &hook.event;
        let fits = |unknown: Option<&str>| texts.iter().all(|(template, text)| fits(template, text, event, unknown));
        if fits(None) {
            if texts.iter().any(|(template, _)| variables(template).any(|name| !has_variable(event, name))) {
                findings.hold(&VARIABLE_CHANGED);
            }
            self.check_firing(hook, &texts, seq, findings);
            return true;
        }
        if let Some(instead) = CARELESS.into_iter().find(|instead| fits(Some(instead))) {
            findings.note(
                &VARIABLE_CHANGED,
                seq,
                format!("the client replaced variables that have no value at {event} by {instead:?}"),
            );
        }
        false
    }

    fn check_firing(&self, hook: &Hook, texts: &[(&str, &str)], seq: u64, findings: &mut Findings) {
        for (template, text) in texts {
            if variables(template).any(|name| has_variable(&hook.event, name)) {
                findings.check(&NOT_SUBSTITUTED, seq, template != text, || {
                    format!("the client sent {template:?} without substituting its variables")
                });
            }
            match *template {
                "{tool_input}" => self.check_input(hook, text, seq, findings),
                "{tool_name}" if template != text => self.check_name(hook, text, seq, findings),
                _ => {}
            }
        }
    }

    fn check_input(&self, hook: &Hook, text: &str, seq: u64, findings: &mut Findings) {
        let Ok(input) = serde_json::from_str::<Value>(text) else { return };
        let input = digest(&input);
        let (waits, over) = self.state_of(|call| call.input == input);
        let holds = match hook.event.as_str() {
            "pre_tool_use" => !waits,
            "post_tool_use" => over,
            // The input of a tool means nothing for other events.
            _ => return,
        };
        self.check_order(hook, waits || over, holds, seq, findings);
    }

    /// Several calls of a tool may be pending, so a hook before one of them may come after another.
    fn check_name(&self, hook: &Hook, text: &str, seq: u64, findings: &mut Findings) {
        if let Some(tools) = &hook.tools {
            findings.check(&EXCLUDED_TOOL, seq, tools.matches(text), || {
                format!("the hook on {} fired for {text:?}, but is for {:?}", hook.event, tools.pattern)
            });
        }
        let tool = digest(&Value::from(text));
        let (waits, over) = self.state_of(|call| call.tool == tool);
        if hook.event == "post_tool_use" {
            self.check_order(hook, waits || over, over, seq, findings);
        }
    }

    /// Whether a call waits for its result, and whether one has it.
    fn state_of(&self, is_meant: impl Fn(&Call) -> bool) -> (bool, bool) {
        (self.open.values().any(&is_meant), self.over.keys().any(is_meant))
    }

    /// Checks the order if the call that is meant is known. It may be one of those that are forgotten.
    fn check_order(&self, hook: &Hook, is_known: bool, holds: bool, seq: u64, findings: &mut Findings) {
        if !(is_known && holds) && (self.open.has_forgotten() || self.over.has_forgotten()) {
            findings.give_up(&ORDER);
        } else if is_known {
            findings.check(&ORDER, seq, holds, || {
                format!("the hook on {} fired while the tool call had no result yet", hook.event)
            });
        }
    }
}

fn has_variables(text: &str) -> bool {
    variables(text).next().is_some()
}

/// Returns a member of the template whose name was substituted, with what it became, if all other names are the same.
fn substituted_key<'a>(template: &'a Value, arguments: &'a Value, event: &str) -> Option<(&'a str, &'a str)> {
    let (some, others) = (template.as_object()?, arguments.as_object()?);
    let mut missing = some.keys().filter(|key| !others.contains_key(*key));
    let mut added = others.keys().filter(|key| !some.contains_key(*key));
    let (template, key) = (missing.next()?, added.next()?);
    let is_only = missing.next().is_none() && added.next().is_none();
    (is_only && fits(template, key, event, None)).then_some((template, key))
}

/// Returns a member that is missing, if all others are those of the template and one of them is a constant text.
fn missing_argument<'a>(template: &'a Value, arguments: &Value) -> Option<&'a str> {
    let (some, others) = (template.as_object()?, arguments.as_object()?);
    let is_same = |(name, value): (&String, &Value)| {
        some.get(name).is_some_and(|template| holds_variables(template) && value.is_string() || template == value)
    };
    let is_constant = |name: &String| some.get(name).is_some_and(|value| value.is_string() && !holds_variables(value));
    let is_part = others.keys().any(is_constant) && others.iter().all(is_same);
    some.keys().find(|name| is_part && !others.contains_key(*name)).map(String::as_str)
}

fn holds_variables(value: &Value) -> bool {
    match value {
        Value::String(text) => has_variables(text),
        Value::Array(items) => items.iter().any(holds_variables),
        Value::Object(members) => members.values().any(holds_variables),
        _ => false,
    }
}

/// Whether arguments have the members and constant values of a template. Adds pairs of their texts to `texts`; one is
/// `null` where the client sent that for variables without a value at the event.
fn same_shape<'a>(template: &'a Value, arguments: &'a Value, event: &str, texts: &mut Vec<(&'a str, &'a str)>) -> bool {
    match (template, arguments) {
        (Value::String(template), Value::String(text)) => {
            texts.push((template, text));
            true
        }
        (Value::String(template), Value::Null)
            if has_variables(template) && !variables(template).any(|name| has_variable(event, name)) =>
        {
            texts.push((template, "null"));
            true
        }
        (Value::Array(some), Value::Array(others)) => {
            let mut pairs = some.iter().zip(others);
            some.len() == others.len() && pairs.all(|(one, other)| same_shape(one, other, event, texts))
        }
        (Value::Object(some), Value::Object(others)) => {
            let same = |(name, one): (&String, &'a Value)| match others.get(name) {
                Some(other) => same_shape(one, other, event, texts),
                None => false,
            };
            some.len() == others.len() && some.iter().all(same)
        }
        _ => template == arguments,
    }
}

/// Whether a text can result from a template. Variables with a value at the event match anything. Others match
/// themselves or, if it is given, `unknown` (`$name` means the variable's name).
fn fits(template: &str, text: &str, event: &str, unknown: Option<&str>) -> bool {
    let mut stretches = vec![String::new()];
    for piece in pieces(template) {
        let stretch = match (piece, unknown) {
            (Piece::Variable(name), _) if has_variable(event, name) => {
                stretches.push(String::new());
                continue;
            }
            (Piece::Text(text), _) => text.to_owned(),
            (Piece::Variable(name), None) => format!("{{{name}}}"),
            (Piece::Variable(name), Some("$name")) => name.to_owned(),
            (Piece::Variable(_), Some(instead)) => instead.to_owned(),
        };
        if let Some(last) = stretches.last_mut() {
            last.push_str(&stretch);
        }
    }
    let [first, middle @ .., last] = &stretches[..] else { return text == stretches.concat() };
    let Some(mut rest) = text.strip_prefix(first.as_str()) else { return false };
    for stretch in middle {
        let Some(at) = rest.find(stretch.as_str()) else { return false };
        rest = &rest[at + stretch.len()..];
    }
    rest.ends_with(last.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_fits_what_its_template_may_become() {
        let post = |template: &str, text: &str| fits(template, text, "post_tool_use", None);
        assert!(post("plain", "plain") && !post("plain", "plain text"));
        assert!(post("after {tool_name}: {tool_output}!", "after a: b: c!"));
        assert!(!post("after {tool_name}: {tool_output}!", "after a b c!"));
        assert!(post("{tool_name}{x}", "a{x}") && !post("{tool_name}{x}", "a"));
        assert!(fits("{tool_name}{x}", "a", "post_tool_use", Some("")));
        assert!(fits("{tool_name}-{x}", "a-x", "post_tool_use", Some("$name")));
        assert!(
            !fits("{tool_output}", "a", "pre_tool_use", None) && fits("{tool_output}", "", "pre_tool_use", Some(""))
        );
    }
}
