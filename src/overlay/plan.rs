//! The meaning of an overlay: what to answer and send, and when, with compiled patterns.
//!
//! Never: files, clocks.

mod read;

use super::template;
use crate::proposals::server::Firing;
use crate::proposals::{Proposal, REGISTRY};
use crate::server::Config;
use crate::wire::Direction;
use globset::GlobMatcher;
use regex::Regex;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The proposal to which `hooks` belongs.
pub(super) const HOOKS: &str = "hooks";
/// The proposal to which `conversation` belongs.
pub(super) const CONVERSATION: &str = "conversation";

/// An overlay that was read and checked.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Its purpose; may be empty.
    pub name: String,
    /// The answers to user messages.
    pub conversation: Vec<AnswerTool>,
    /// The overlay's own tools, which answer for hooks.
    pub tools: Vec<HookTool>,
    /// What to send, and when.
    pub rules: Vec<Rule>,
    /// The proposals in use, in the registry's order.
    pub proposals: Vec<&'static str>,
    /// Their options.
    pub settings: BTreeMap<String, Value>,
    /// Tools of the server that the overlay names, each with its line.
    pub named: Vec<(String, u64)>,
}

/// A tool of the server, and how to word its result.
#[derive(Clone, Debug)]
pub struct AnswerTool {
    /// The tool's name.
    pub tool: String,
    /// The arguments, a template.
    pub arguments: Value,
    text: String,
    unless: Option<Test>,
}

/// A tool that the overlay adds.
#[derive(Clone, Debug)]
pub struct HookTool {
    /// Its name.
    pub name: String,
    /// The tool that it calls, and how to word the result.
    pub answering: AnswerTool,
}

impl HookTool {
    /// The tool in the form of `tools/list`.
    pub fn listed(&self) -> Value {
        let members: Map<String, Value> = self
            .answering
            .arguments
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| (name.clone(), json!({})))
            .collect();
        json!({
            "name": self.name,
            "description": format!("Words the result of {} for a hook. Do not call it for anything else.", self.answering.tool),
            "inputSchema": {"type": "object", "properties": members},
        })
    }
}

impl AnswerTool {
    /// Words a result, with `about` as further values for the template; `None` if there is nothing to say.
    pub fn word(&self, result: &Value, about: &Value) -> Option<String> {
        let said = said(result);
        let is_out = self.unless.as_ref().is_some_and(|test| test.fits(result));
        if result["isError"] == true || is_out || said.trim().is_empty() {
            return None;
        }
        let mut from = about.clone();
        from["text"] = said.into();
        from["result"] = result.clone();
        Some(template::fill_text(&self.text, &from))
    }
}

/// The text of a tool's result.
pub(super) fn said(result: &Value) -> String {
    let blocks = result["content"].as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// A message to send when something happens.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The trigger.
    pub when: When,
    /// Maximum number of times to send it.
    pub times: u64,
    /// Minimum time between two messages of this rule.
    pub cooldown: Duration,
    /// The message, a template.
    pub fire: Value,
    /// The rule's line in the file.
    pub line: u64,
}

/// A trigger.
#[derive(Clone, Debug)]
pub enum When {
    /// A request or notification passes.
    Message(MessageTest),
    /// A request of the client gets a result.
    Result(ResultTest),
    /// A time after the handshake; repeated if true.
    Time(Duration, bool),
    /// A file changes.
    File(String, GlobMatcher),
    /// A resource changes.
    Resource(String, GlobMatcher),
}

impl When {
    /// The resource to subscribe to for this trigger.
    pub fn resource(&self) -> Option<&str> {
        match self {
            Self::Resource(uri, _) if !has_wildcards(uri) => Some(uri),
            _ => None,
        }
    }

    /// The folder to watch for this trigger.
    pub fn folder(&self) -> Option<&str> {
        let Self::File(pattern, _) = self else { return None };
        let plain = pattern.split_inclusive('/').take_while(|part| part.ends_with('/') && !has_wildcards(part));
        let folder = &pattern[..plain.map(str::len).sum()];
        Some(if folder.is_empty() { "." } else { folder })
    }
}

fn has_wildcards(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// A test of messages.
#[derive(Clone, Debug)]
pub struct MessageTest {
    method: GlobMatcher,
    direction: Option<Direction>,
    tool: Option<GlobMatcher>,
    test: Option<Test>,
}

impl MessageTest {
    /// Whether a message with these params matches; returns the params if so.
    pub fn fits(&self, direction: Direction, method: &str, params: impl FnOnce() -> Value) -> Option<Value> {
        if self.direction.is_some_and(|only| only != direction) || !self.method.is_match(method) {
            return None;
        }
        let params = params();
        let fits = fits_tool(self.tool.as_ref(), &params) && self.test.as_ref().is_none_or(|test| test.fits(&params));
        fits.then_some(params)
    }
}

/// A test of results.
#[derive(Clone, Debug)]
pub struct ResultTest {
    method: GlobMatcher,
    tool: Option<GlobMatcher>,
    test: Option<Test>,
}

impl ResultTest {
    /// Whether the results of this request need to be inspected.
    pub fn asks_for(&self, method: &str, params: impl FnOnce() -> Value) -> bool {
        self.method.is_match(method) && (self.tool.is_none() || fits_tool(self.tool.as_ref(), &params()))
    }

    /// Whether a request's result matches.
    pub fn fits(&self, method: &str, params: &Value, result: &Value) -> bool {
        self.asks_for(method, || params.clone()) && self.test.as_ref().is_none_or(|test| test.fits(result))
    }
}

fn fits_tool(pattern: Option<&GlobMatcher>, params: &Value) -> bool {
    pattern.is_none_or(|pattern| params["name"].as_str().is_some_and(|tool| pattern.is_match(tool)))
}

/// A test of a value.
#[derive(Clone, Debug)]
struct Test {
    pointer: String,
    want: Want,
}

#[derive(Clone, Debug)]
enum Want {
    Equal(Value),
    Regex(Regex),
    Glob(GlobMatcher),
}

impl Test {
    /// A missing value is null, and has no text.
    fn fits(&self, value: &Value) -> bool {
        let found = value.pointer(&self.pointer);
        let has_text = |test: &dyn Fn(&str) -> bool| found.is_some_and(|found| test(&template::text(found)));
        match &self.want {
            Want::Equal(wanted) => found.unwrap_or(&Value::Null) == wanted,
            Want::Regex(regex) => has_text(&|text| regex.is_match(text)),
            Want::Glob(glob) => has_text(&|text| glob.is_match(text)),
        }
    }
}

impl Plan {
    /// The configuration of the embedded server.
    pub fn config(&self, seed: u64, wall_base_ns: i64) -> Config {
        Config {
            name: if self.name.is_empty() { "mcpreel-overlay".to_owned() } else { self.name.clone() },
            seed,
            wall_base_ns,
            declare: self.proposals.iter().map(|proposal| (*proposal).to_owned()).collect(),
            settings: self.settings.clone(),
            memory: false,
            ..Config::default()
        }
    }
}

/// The proposal that sends messages of this kind.
pub(super) fn proposal_of(kind: &str) -> Option<&'static str> {
    let fires = |proposal: &&&'static dyn Proposal| {
        proposal.server_side().is_some_and(|side| side.fires().iter().any(|firing: &Firing| firing.kind == kind))
    };
    REGISTRY.iter().find(fires).map(|proposal| proposal.descriptor().name)
}
