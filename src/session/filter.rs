//! The filter language for messages, which is the same in all commands.
//!
//! Example: `method:tools/* dir:s2c tool:Bash ext:mcpl kind:notification id:7 error slow:>500ms size:>10k
//! text:"commit"`, with `and` (or nothing), `or`, `not` and parentheses. Terms that depend only on a header need no
//! payload.

use crate::proposals::{Descriptor, Registry};
use crate::trace::{EventHeader, EventKind, Flags, RecordedId};
use crate::wire::{Direction, Envelope, MessageKind, json};
use globset::GlobMatcher;
use parse::Parser;
use std::fmt;
use std::ops::RangeInclusive;
pub(crate) use terms::{TERMS, values_of};

mod mistakes;
mod parse;
mod terms;

/// An error in a filter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} (at {at:?} in the filter)")]
pub struct FilterError {
    /// What is wrong.
    pub reason: String,
    /// The part of the filter that is wrong.
    pub at: String,
}

/// A parsed filter.
#[derive(Clone, Debug)]
pub struct Filter(Node);

#[derive(Clone, Debug)]
enum Node {
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
    Term(Term),
}

#[derive(Clone, Debug)]
enum Term {
    Method(GlobMatcher),
    Direction(Direction),
    Tool(GlobMatcher),
    Extension(Extension),
    Kind(Vec<MessageKind>),
    Event(EventKind),
    Id(String),
    Stream(u32),
    Seq(RangeInclusive<u64>),
    Error,
    Injected,
    Slow(Limit),
    Size(Limit),
    Text(Vec<u8>),
}

/// A proposal or a pack.
#[derive(Clone, Copy)]
struct Extension(&'static Descriptor);

impl fmt::Debug for Extension {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.0.name)
    }
}

#[derive(Clone, Copy, Debug)]
struct Limit {
    at_least: bool,
    inclusive: bool,
    value: i64,
}

impl Limit {
    fn holds(self, value: i64) -> bool {
        match (self.at_least, self.inclusive) {
            (true, false) => value > self.value,
            (true, true) => value >= self.value,
            (false, false) => value < self.value,
            (false, true) => value <= self.value,
        }
    }
}

/// What a filter can look at.
#[derive(Clone, Copy, Debug)]
pub struct FilterInput<'a> {
    /// The event's header.
    pub header: &'a EventHeader,
    /// Its method; for a response, that of its request.
    pub method: Option<&'a str>,
    /// For a response: the time since its request, in nanoseconds.
    pub latency: Option<i64>,
    /// The tool of the call, or of the answered call, if it is known.
    pub tool: Option<&'a str>,
    /// The text of the message, if it is loaded.
    pub body: Option<&'a [u8]>,
    /// For a batch: the requests that its messages answer, by their positions; empty if they are not known.
    pub answered: &'a [Option<AnsweredRequest>],
}

/// The request that a response in a batch answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnsweredRequest {
    /// Its method.
    pub method: Box<str>,
    /// The tool that it called.
    pub tool: Option<Box<str>>,
}

impl<'a> FilterInput<'a> {
    /// What the header of an event says.
    pub fn of(header: &'a EventHeader) -> Self {
        Self { header, method: None, latency: None, tool: None, body: None, answered: &[] }
    }
}

impl Filter {
    /// The filter that matches everything.
    pub(crate) fn everything() -> Self {
        Self(Node::All(Vec::new()))
    }

    /// Parses a filter that knows the five proposals. An empty filter matches everything.
    ///
    /// # Errors
    ///
    /// If the filter is not valid.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        Self::parse_knowing(text, Registry::built_in())
    }

    /// Parses a filter that knows these proposals and packs.
    ///
    /// # Errors
    ///
    /// If the filter is not valid.
    pub(crate) fn parse_knowing(text: &str, registry: &Registry) -> Result<Self, FilterError> {
        Parser::parse(text, registry).map(Self)
    }

    /// Returns whether the event matches; `None` if that depends on the payload, which is not there.
    pub fn decide(&self, input: &FilterInput<'_>) -> Option<bool> {
        self.0.decide(input)
    }

    /// Returns whether the result can depend on which tool a response's request called.
    pub fn needs_calls(&self) -> bool {
        self.0.any(&|term| matches!(term, Term::Tool(_) | Term::Extension(_)))
    }

    /// Returns whether the filter selects events by kind.
    pub fn names_events(&self) -> bool {
        self.0.any(&|term| matches!(term, Term::Event(_)))
    }

    /// Returns whether the filter matches everything.
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Node::All(nodes) if nodes.is_empty())
    }
}

impl Node {
    fn any(&self, is_wanted: &impl Fn(&Term) -> bool) -> bool {
        match self {
            Self::Not(node) => node.any(is_wanted),
            Self::Term(term) => is_wanted(term),
            Self::All(nodes) | Self::Any(nodes) => nodes.iter().any(|node| node.any(is_wanted)),
        }
    }

    fn decide(&self, input: &FilterInput<'_>) -> Option<bool> {
        match self {
            Self::Not(node) => node.decide(input).map(|passes| !passes),
            Self::Term(term) => term.decide(input),
            Self::All(nodes) => fold(nodes, input, false),
            Self::Any(nodes) => fold(nodes, input, true),
        }
    }
}

/// Combines results in three-valued logic: "any" (`decisive` is true) or "all" (`decisive` is false).
fn fold(nodes: &[Node], input: &FilterInput<'_>, decisive: bool) -> Option<bool> {
    let mut known = true;
    for node in nodes {
        match node.decide(input) {
            Some(passes) if passes == decisive => return Some(decisive),
            Some(_) => {}
            None => known = false,
        }
    }
    known.then_some(!decisive)
}

impl Term {
    fn decide(&self, input: &FilterInput<'_>) -> Option<bool> {
        let header = input.header;
        let message = header.message.as_ref();
        if header.is_batch() && self.is_about_messages() {
            let is_itself = matches!(self, Self::Kind(kinds) if kinds.contains(&MessageKind::Batch));
            let in_batch = |body| json::items(body).enumerate().any(|(at, item)| self.decide_in_batch(input, item, at));
            return if is_itself { Some(true) } else { input.body.map(in_batch) };
        }
        Some(match self {
            Self::Method(glob) => input.method.is_some_and(|method| glob.is_match(method)),
            Self::Direction(direction) => header.direction() == *direction && header.has_direction(),
            Self::Kind(kinds) => message.is_some_and(|message| kinds.contains(&message.kind)),
            Self::Event(kind) => header.kind == *kind,
            Self::Id(text) => message.and_then(|message| message.id.as_ref()).is_some_and(|id| id_is(id, text)),
            Self::Stream(number) => header.stream == *number,
            Self::Seq(numbers) => numbers.contains(&header.seq),
            Self::Error => header.is_failure(),
            Self::Injected => header.flags.has(Flags::INJECTED),
            Self::Slow(limit) => input.latency.is_some_and(|latency| limit.holds(latency)),
            Self::Size(limit) => limit.holds(i64::from(header.len)),
            Self::Tool(glob) => return tool_matches(glob, input),
            Self::Extension(extension) => return extension.has(input),
            Self::Text(text) => return input.body.map(|body| contains_ignoring_case(body, text)),
        })
    }
}

impl Term {
    /// Whether it is about single messages. A batch matches it if one of its messages does.
    fn is_about_messages(&self) -> bool {
        matches!(self, Self::Method(_) | Self::Kind(_) | Self::Id(_) | Self::Error | Self::Tool(_) | Self::Extension(_))
    }

    /// Whether the message at this position of a batch matches.
    fn decide_in_batch(&self, input: &FilterInput<'_>, item: &[u8], at: usize) -> bool {
        let envelope = Envelope::scan(item);
        let header = input.header.of_item(item, &envelope);
        let answered = input.answered.get(at).and_then(Option::as_ref);
        let method = answered.map(|request| &*request.method).or(envelope.method.as_deref());
        let tool = answered.and_then(|request| request.tool.as_deref());
        let within = FilterInput { method, tool, body: Some(item), ..FilterInput::of(&header) };
        !header.is_batch() && self.decide(&within) == Some(true)
    }
}

fn id_is(id: &RecordedId, text: &str) -> bool {
    match id {
        RecordedId::Integer(number) => number.to_string() == text,
        RecordedId::Text(raw) => &**raw == text.as_bytes() || json::as_str(raw).as_deref() == Some(text),
    }
}

/// A call names its tool in its params. For a response, the caller provides the tool.
fn tool_matches(glob: &GlobMatcher, input: &FilterInput<'_>) -> Option<bool> {
    if input.method != Some("tools/call") {
        return Some(false);
    }
    if let Some(tool) = input.tool {
        return Some(glob.is_match(tool));
    }
    if input.header.message.as_ref().is_some_and(|message| message.kind.is_response()) {
        return Some(false);
    }
    input.body.map(|body| tool_name(body).is_some_and(|tool| glob.is_match(tool)))
}

/// Returns the tool that a `tools/call` names.
pub(crate) fn tool_name(body: &[u8]) -> Option<String> {
    json::at_path(body, &["params", "name"]).and_then(json::as_str).map(|name| name.into_owned())
}

impl Extension {
    /// Returns whether a message belongs to the extension; `None` if only the payload says so.
    fn has(self, input: &FilterInput<'_>) -> Option<bool> {
        let has_tool = |tool: &str| self.0.tools.contains(&tool);
        match (input.method, input.tool) {
            (None, _) => Some(false),
            (Some("initialize" | "server/discover"), _) => input.body.map(|body| self.is_declared_in(body)),
            (Some("tools/call"), Some(tool)) => Some(has_tool(tool)),
            (Some("tools/call"), None) => input.body.map(|body| tool_name(body).is_some_and(|tool| has_tool(&tool))),
            (Some(method), _) => Some(self.0.methods.iter().any(|spec| spec.name == method)),
        }
    }

    /// Returns whether a message of the handshake declares the extension.
    fn is_declared_in(self, body: &[u8]) -> bool {
        let capabilities =
            ["params", "result"].into_iter().find_map(|part| json::at_path(body, &[part, "capabilities"]));
        let is_at = |path: &[&str]| capabilities.is_some_and(|text| json::at_path(text, path).is_some());
        // Parsing is only worth it if something is there.
        self.0.places.iter().any(|place| is_at(place.path)) && {
            let value = capabilities.map(json::value_of).unwrap_or_default();
            self.0.places.iter().any(|place| place.value(&value).is_some())
        }
    }
}

fn contains_ignoring_case(body: &[u8], text: &[u8]) -> bool {
    let Some(first) = text.first() else { return true };
    let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    memchr::memchr2_iter(lower, upper, body)
        .any(|at| body.get(at..at + text.len()).is_some_and(|piece| piece.eq_ignore_ascii_case(text)))
}

#[cfg(test)]
mod tests;
