//! Checks calls of context tools against the declarations that cause them.
//!
//! The agent may call the same tools for other reasons, and a hook may concern a tool of the host's own, which a
//! recording does not show. So a call counts as a hook's only if its arguments have the structure of the hook's
//! template. The order of messages is checked only if the arguments contain the input of a call on the same connection.

use super::inputs::{CallKey, Inputs};
use super::moments::{Moments, contains};
use super::{
    ARGUMENT_MISSING, EXCLUDED_INPUT, EXCLUDED_TOOL, KEY_SUBSTITUTED, MOMENT, NOT_SUBSTITUTED, ORDER, Piece,
    TOOL_ARGUMENTS, VARIABLE_CHANGED, has_variable, pieces, variables,
};
use crate::proposals::hooks::engine::ToolGlob;
use crate::proposals::recent::{Digest, Recent, digest};
use crate::proposals::{Findings, Observed, Rule};
use crate::protocol::schema;
use crate::wire::{IdKey, json};
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
    tools: Option<ToolNames>,
    /// The text that the input of a call must contain.
    input: Option<String>,
    /// Whether its arguments were checked against the tool's schema.
    checked: bool,
    moments: Option<Moments>,
    /// The order of calls, if it is on `pre_tool_use` and the arguments contain their input.
    inputs: Option<Inputs>,
}

/// A pattern of tools' names, with or without the name of the server before them (`mcp__server__tool`): a host may match
/// one of the two and fill in the other.
#[derive(Debug)]
struct ToolNames {
    whole: ToolGlob,
    /// The last part of a pattern that names a server.
    bare: Option<ToolGlob>,
}

impl ToolNames {
    /// A pattern; `None` if it is not a glob.
    fn new(pattern: &str) -> Option<Self> {
        let bare = bare(pattern).and_then(|bare| ToolGlob::new(bare).ok());
        Some(Self { whole: ToolGlob::new(pattern).ok()?, bare })
    }

    fn matches(&self, name: &str) -> bool {
        let fits = |name: &str| self.whole.matches(name) || self.bare.as_ref().is_some_and(|bare| bare.matches(name));
        fits(name) || bare(name).is_some_and(fits)
    }
}

/// The name of a tool without that of its server.
fn bare(name: &str) -> Option<&str> {
    name.rsplit_once("__").map(|(_, bare)| bare)
}

/// Arguments of a context tool, as pairs of a text of the template and what it became.
type Texts<'a> = Vec<(&'a str, &'a str)>;

impl Hook {
    fn is_about(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.matches(tool))
    }

    /// What identifies a call for this hook.
    fn key_of(&self, call: &Call) -> CallKey {
        let names = contains(&self.arguments, "{tool_name}");
        (names.then_some(call.tool), call.input)
    }
}

/// What the arguments of a context tool's call say about the call that the hook fired for.
struct Fired<'a> {
    /// The hook's position, and the hook.
    at: usize,
    hook: &'a Hook,
    /// The name of the tool. A text with spaces is no name: the model called the context tool itself.
    tool: Option<&'a str>,
    /// The input: the text in the arguments, and what it means.
    input: Option<(&'a str, Value)>,
    /// Why the hook's matcher excludes that call, and the rule that says so.
    exclusion: Option<(&'static Rule, String)>,
}

impl<'a> Fired<'a> {
    fn new(at: usize, hook: &'a Hook, texts: &Texts<'a>) -> Self {
        // A tool means nothing for other events.
        let is_of_tools = matches!(hook.event.as_str(), "pre_tool_use" | "post_tool_use");
        let value = |variable: &str| {
            let is_value = |(template, text): &&(&str, &str)| *template == variable && text != template;
            texts.iter().find(is_value).map(|(_, text)| *text).filter(|_| is_of_tools)
        };
        let tool = value("{tool_name}").filter(|name| !name.contains(char::is_whitespace));
        let parsed = |text: &'a str| json::parsed(text.as_bytes()).filter(Value::is_object).map(|input| (text, input));
        let mut fired = Self { at, hook, tool, input: value("{tool_input}").and_then(parsed), exclusion: None };
        fired.exclusion = fired.excluded();
        fired
    }

    fn excluded(&self) -> Option<(&'static Rule, String)> {
        let (event, tools) = (&self.hook.event, &self.hook.tools);
        if let (Some(tools), Some(name)) = (tools, self.tool)
            && !tools.matches(name)
        {
            let text = format!("the hook on {event} fired for {name:?}, but is for {:?}", tools.whole.pattern);
            return Some((&EXCLUDED_TOOL, text));
        }
        let (wanted, (text, input)) = (self.hook.input.as_ref()?, self.input.as_ref()?);
        (!contains_text(text, input, wanted)).then(|| {
            let why = format!("the hook on {event} fired for the input {input}, which does not contain {wanted:?}");
            (&EXCLUDED_INPUT, why)
        })
    }

    /// The digest of the tool's name.
    fn tool_digest(&self) -> Option<Digest> {
        self.tool.map(|name| digest(&name.into()))
    }

    /// What identifies the call, if the arguments contain its input.
    fn key(&self) -> Option<CallKey> {
        let (_, input) = self.input.as_ref()?;
        // Without a name, calls without arguments may be of any tool.
        (self.tool.is_some() || *input != json!({})).then(|| (self.tool_digest(), digest(input)))
    }
}

/// Whether an input, as it was sent and in usual forms of JSON, contains a text. The proposal does not define the form.
fn contains_text(sent: &str, input: &Value, wanted: &str) -> bool {
    fn in_values(value: &Value, wanted: &str) -> bool {
        match value {
            Value::String(text) => text.contains(wanted),
            Value::Array(items) => items.iter().any(|item| in_values(item, wanted)),
            Value::Object(members) => members.values().any(|item| in_values(item, wanted)),
            _ => false,
        }
    }
    let compact = input.to_string();
    let dense = |text: &str| text.chars().filter(|found| !found.is_whitespace()).collect::<String>();
    sent.contains(wanted)
        || compact.contains(wanted)
        || dense(&compact).contains(&dense(wanted))
        || in_values(input, wanted)
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
            let tools = declaration["matcher"]["tool_name"].as_str().and_then(ToolNames::new);
            let input = declaration["matcher"]["input_contains"].as_str().map(str::to_owned);
            let has_input = event == "pre_tool_use" && contains(&arguments, "{tool_input}");
            let inputs = has_input.then(Inputs::default);
            self.hooks.push(Hook { seq, event, tool, arguments, tools, input, checked: false, moments, inputs });
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
        let call = Call { tool: digest(&message.content["name"]), input: digest(arguments) };
        let is_its = |(_, hook): &(usize, &Hook)| hook.tool == name;
        let mut candidates: Vec<(usize, &Hook)> = self.hooks.iter().enumerate().filter(is_its).collect();
        let is_context_tool = !candidates.is_empty();
        // What differs from one hook's arguments may be another one's.
        if candidates.iter().any(|(_, hook)| is_of(hook, arguments)) {
            candidates.retain(|(_, hook)| is_of(hook, arguments));
        }
        let fired: Vec<Fired<'_>> = candidates
            .into_iter()
            .filter_map(|(at, hook)| Some(Fired::new(at, hook, &check_call(hook, arguments, message.seq, findings)?)))
            .collect();
        // Several hooks may have the same tool and arguments.
        let included: Vec<&Fired<'_>> = fired.iter().filter(|fired| fired.exclusion.is_none()).collect();
        match (&included[..], &fired[..]) {
            ([first, ..], _) => {
                if first.hook.tools.is_some() && first.tool.is_some() {
                    findings.hold(&EXCLUDED_TOOL);
                }
                if first.hook.input.is_some() && first.input.is_some() {
                    findings.hold(&EXCLUDED_INPUT);
                }
            }
            ([], [Fired { exclusion: Some((rule, why)), .. }, ..]) => findings.note(rule, message.seq, why.as_str()),
            ([], _) => {}
        }
        // Which of several hooks has fired is not known.
        let only = match included[..] {
            [fired] => Some((fired.at, fired.key(), fired.tool_digest())),
            _ => None,
        };
        if let Some((at, key, tool)) = only {
            self.check_only(at, key, tool, message.seq, findings);
        } else if let (Some(id), false) = (message.envelope.id, is_context_tool) {
            for hook in self.hooks.iter_mut().filter(|hook| hook.is_about(name)) {
                let key = hook.key_of(&call);
                hook.inputs.iter_mut().for_each(|inputs| inputs.called(key, id.key(), findings));
                hook.moments.iter_mut().for_each(|moments| moments.called(id.key(), findings));
            }
        }
        if let Some(id) = message.envelope.id {
            self.open.insert(id.key(), call);
        }
    }

    /// Checks when a hook fires of which the arguments may contain the input of the call, or only the name of its tool.
    fn check_only(&mut self, at: usize, key: Option<CallKey>, tool: Option<Digest>, seq: u64, findings: &mut Findings) {
        let Some(hook) = self.hooks.get_mut(at) else { return };
        let (is_post, has_moments) = (hook.event == "post_tool_use", hook.moments.is_some());
        hook.moments.iter_mut().for_each(|moments| moments.fired(seq, findings));
        match (key, tool) {
            (Some(key), _) if !is_post => hook.inputs.iter_mut().for_each(|inputs| inputs.fired(key, seq)),
            (Some((tool, input)), _) => {
                let is_meant = |call: &Call| call.input == input && tool.is_none_or(|tool| tool == call.tool);
                self.check_over(&ORDER, is_meant, seq, findings);
            }
            // Calls with the same tool cannot be told apart, and the model may have made this one itself.
            (None, Some(tool)) if is_post && !has_moments => {
                self.check_over(&MOMENT, |call| call.tool == tool, seq, findings);
            }
            _ => {}
        }
    }

    /// Checks that a call that is meant has its result, if one is known. It may be one of those that are forgotten.
    fn check_over(&self, rule: &'static Rule, is_meant: impl Fn(&Call) -> bool, seq: u64, findings: &mut Findings) {
        let (waits, over) = (self.open.values().any(&is_meant), self.over.keys().any(&is_meant));
        if !over && (self.open.has_forgotten() || self.over.has_forgotten()) {
            findings.give_up(rule);
        } else if waits || over {
            findings.check(rule, seq, over, || {
                "the hook on post_tool_use fired while the tool call had no result yet".to_owned()
            });
        }
    }

    /// Handles a tool's result, or the client's cancellation of a call with this id.
    pub(super) fn answered(&mut self, id: &IdKey, findings: &mut Findings) {
        self.moments().for_each(|moments| moments.answered(id, findings));
        let Some(call) = self.open.remove(id) else { return };
        for hook in &mut self.hooks {
            let key = hook.key_of(&call);
            hook.inputs.iter_mut().for_each(|inputs| inputs.answered(&key, id));
        }
        self.over.insert(call, ());
    }

    pub(super) fn lose_track(&mut self) {
        self.open = Recent::new(MAX);
        self.over = Recent::new(MAX);
        self.moments().for_each(Moments::lose_track);
        self.hooks.iter_mut().filter_map(|hook| hook.inputs.as_mut()).for_each(Inputs::lose_track);
    }

    pub(super) fn finish(&mut self, findings: &mut Findings) {
        self.moments().for_each(|moments| moments.finish(findings));
        self.hooks.iter_mut().filter_map(|hook| hook.inputs.as_mut()).for_each(|inputs| inputs.finish(findings));
    }

    fn moments(&mut self) -> impl Iterator<Item = &mut Moments> {
        self.hooks.iter_mut().filter_map(|hook| hook.moments.as_mut())
    }
}

/// Whether arguments are those of a hook.
fn is_of(hook: &Hook, arguments: &Value) -> bool {
    let mut texts = Vec::new();
    same_shape(&hook.arguments, arguments, &hook.event, &mut texts)
        && texts.iter().all(|(template, text)| fits(template, text, &hook.event, None))
}

/// Checks a call of a hook's context tool. Returns its texts if the arguments are those of the hook.
fn check_call<'a>(hook: &'a Hook, arguments: &'a Value, seq: u64, findings: &mut Findings) -> Option<Texts<'a>> {
    let mut texts = Vec::new();
    if !same_shape(&hook.arguments, arguments, &hook.event, &mut texts) {
        let changed = substituted_key(&hook.arguments, arguments, &hook.event);
        if let Some((template, key)) = changed {
            findings.note(&KEY_SUBSTITUTED, seq, format!("the client sent the member {template:?} as {key:?}"));
        }
        if let Some(missing) = missing_argument(&hook.arguments, arguments) {
            findings.note(&ARGUMENT_MISSING, seq, format!("the client left out {missing:?}"));
        }
        return None;
    }
    if hook.arguments.as_object().is_some_and(|members| members.keys().any(|key| has_variables(key))) {
        findings.hold(&KEY_SUBSTITUTED);
    }
    findings.hold(&ARGUMENT_MISSING);
    let event = &hook.event;
    if texts.iter().all(|(template, text)| fits(template, text, event, None)) {
        if texts.iter().any(|(template, _)| variables(template).any(|name| !has_variable(event, name))) {
            findings.hold(&VARIABLE_CHANGED);
        }
        for (template, text) in &texts {
            check_substituted(event, template, text, seq, findings);
        }
        return Some(texts);
    }
    // Each text may have been treated in another way.
    let careless = |(template, text): &(&str, &str)| match fits(template, text, event, None) {
        true => Some(None),
        false => CARELESS.into_iter().find(|instead| fits(template, text, event, Some(instead))).map(Some),
    };
    let careless: Option<Vec<Option<&str>>> = texts.iter().map(careless).collect();
    if let Some(instead) = careless.and_then(|all| all.into_iter().flatten().next()) {
        findings.note(
            &VARIABLE_CHANGED,
            seq,
            format!("the client replaced variables that have no value at {event} by {instead:?}"),
        );
    }
    None
}

/// Checks that the variables of a text that have a value at the event were substituted.
fn check_substituted(event: &str, template: &str, text: &str, seq: u64, findings: &mut Findings) {
    let known: Vec<&str> = variables(template).filter(|name| has_variable(event, name)).collect();
    if known.is_empty() {
        return;
    }
    // Inputs and outputs may contain anything.
    let is_certain = !known.iter().any(|name| ["tool_input", "tool_output"].contains(name));
    let is_left = |name: &&str| text.contains(&format!("{{{name}}}"));
    let is_left = template == text || is_certain && known.iter().any(is_left);
    findings.check(&NOT_SUBSTITUTED, seq, !is_left, || {
        format!("the client sent {text:?} without substituting all variables")
    });
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
