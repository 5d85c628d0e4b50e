//! What an overlay means: what is answered and sent, when and by what; patterns that are ready to be asked.
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

/// The room whose declarations `hooks` are.
pub const HOOKS: &str = "hooks";
/// The room that `conversation` answers for.
pub const CONVERSATION: &str = "conversation";

/// An overlay that was read and checked.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// What it is for; may be empty.
    pub name: String,
    /// What user messages are answered with.
    pub conversation: Vec<AnswerTool>,
    /// The overlay's own tools, which answer for hooks.
    pub tools: Vec<HookTool>,
    /// What is sent when.
    pub rules: Vec<Rule>,
    /// The rooms that take part, in the registry's order.
    pub proposals: Vec<&'static str>,
    /// How they are set.
    pub settings: BTreeMap<String, Value>,
    /// Tools of the server that are named, each with where.
    pub named: Vec<(String, u64)>,
}

/// A tool of the server, and what is made of its result.
#[derive(Clone, Debug)]
pub struct AnswerTool {
    /// The tool.
    pub tool: String,
    /// Its arguments, a template.
    pub arguments: Value,
    text: String,
    unless: Option<Test>,
}

/// A tool of the overlay's own.
#[derive(Clone, Debug)]
pub struct HookTool {
    /// Its name.
    pub name: String,
    /// What it calls, and how the result is worded.
    pub answering: AnswerTool,
}

impl HookTool {
    /// As `tools/list` shows it.
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
            "description": format!("Words the result of {} for a hook; not to be called otherwise", self.answering.tool),
            "inputSchema": {"type": "object", "properties": members},
        })
    }
}

impl AnswerTool {
    /// What is made of a result, `about` what else can be filled in; `None` where there is nothing to say.
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
pub fn said(result: &Value) -> String {
    let blocks = result["content"].as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// What is sent when something happens.
#[derive(Clone, Debug)]
pub struct Rule {
    /// What happens.
    pub when: When,
    /// How often at most.
    pub times: u64,
    /// How long nothing is sent after it was.
    pub cooldown: Duration,
    /// What is sent, a template.
    pub fire: Value,
    /// Where it stands.
    pub line: u64,
}

/// What happens.
#[derive(Clone, Debug)]
pub enum When {
    /// A request or notification is seen.
    Message(MessageTest),
    /// A request of the client's is answered with a result.
    Result(ResultTest),
    /// A time after the handshake; again and again after as long, or once.
    Time(Duration, bool),
    /// A file changed.
    File(String, GlobMatcher),
    /// A resource changed.
    Resource(String, GlobMatcher),
}

impl When {
    /// What is to be subscribed to for it.
    pub fn resource(&self) -> Option<&str> {
        match self {
            Self::Resource(uri, _) if !has_wildcards(uri) => Some(uri),
            _ => None,
        }
    }

    /// The folder below which it is to be looked for changed files.
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

/// Which messages.
#[derive(Clone, Debug)]
pub struct MessageTest {
    method: GlobMatcher,
    direction: Option<Direction>,
    tool: Option<GlobMatcher>,
    test: Option<Test>,
}

impl MessageTest {
    /// Whether this one, with these params.
    pub fn fits(&self, direction: Direction, method: &str, params: impl FnOnce() -> Value) -> Option<Value> {
        if self.direction.is_some_and(|only| only != direction) || !self.method.is_match(method) {
            return None;
        }
        let params = params();
        let fits = fits_tool(self.tool.as_ref(), &params) && self.test.as_ref().is_none_or(|test| test.fits(&params));
        fits.then_some(params)
    }
}

/// Which results.
#[derive(Clone, Debug)]
pub struct ResultTest {
    method: GlobMatcher,
    tool: Option<GlobMatcher>,
    test: Option<Test>,
}

impl ResultTest {
    /// Whether the results of this request are looked at.
    pub fn asks_for(&self, method: &str, params: impl FnOnce() -> Value) -> bool {
        self.method.is_match(method) && (self.tool.is_none() || fits_tool(self.tool.as_ref(), &params()))
    }

    /// Whether a request's result is one.
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
    /// What is not there is null, and has no text.
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
    /// The settings of the server that lends its rooms: what it is called, seed and clock are the caller's.
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

/// The name of the room that sends what has this kind.
pub fn proposal_of(kind: &str) -> Option<&'static str> {
    let fires = |proposal: &&&'static dyn Proposal| {
        proposal.server_side().is_some_and(|side| side.fires().iter().any(|firing: &Firing| firing.kind == kind))
    };
    REGISTRY.iter().find(fires).map(|proposal| proposal.descriptor().name)
}
