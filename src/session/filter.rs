//! The filter language for messages, which is the same in all commands.
//!
//! Example: `method:tools/* dir:s2c tool:Bash ext:mcpl kind:notification id:7 error slow:>500ms size:>10k
//! text:"commit"`, with `and` (or nothing), `or`, `not` and parentheses. Terms that depend only on a header need no
//! payload.

use crate::proposals::{Descriptor, Registry};
use crate::trace::{EventHeader, EventKind, Flags, MessageHeader, RecordedId};
use crate::wire::units::{parse_size, parse_time};
use crate::wire::{Direction, Envelope, MessageKind, json};
use globset::{GlobBuilder, GlobMatcher};
use std::fmt;
use std::ops::RangeInclusive;

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
        let tokens = tokenize(text)?;
        let mut parser = Parser { tokens: &tokens, at: 0, depth: 0, registry };
        if tokens.is_empty() {
            return Ok(Self::everything());
        }
        let node = parser.any()?;
        match parser.tokens.get(parser.at) {
            None => Ok(Self(node)),
            Some(extra) => Err(FilterError { reason: "unexpected term".into(), at: extra.clone() }),
        }
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
        if message.is_some_and(|message| message.kind == MessageKind::Batch) && self.is_about_messages() {
            let is_itself = matches!(self, Self::Kind(kinds) if kinds.contains(&MessageKind::Batch));
            let in_batch = |body| json::items(body).any(|item| self.decide_in_batch(input, item));
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

    /// Whether a message of a batch matches. The method and the tool of a response's request are not known here.
    fn decide_in_batch(&self, input: &FilterInput<'_>, item: &[u8]) -> bool {
        let envelope = Envelope::scan(item);
        let (kind, id) = (envelope.kind, envelope.id.map(|id| RecordedId::Text(id.0.into())));
        let mut header =
            EventHeader { message: Some(MessageHeader { kind, method: None, id }), ..input.header.clone() };
        if envelope.tool_error {
            header.flags = header.flags.with(Flags::TOOL_ERROR);
        }
        let method = envelope.method.as_deref();
        let within = FilterInput { header: &header, method, latency: None, tool: None, body: Some(item) };
        kind != MessageKind::Batch && self.decide(&within) == Some(true)
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

/// Splits a filter into words and parentheses; quoted text is one word.
fn tokenize(text: &str) -> Result<Vec<String>, FilterError> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    let mut held = false;
    for found in text.chars() {
        match found {
            '"' => {
                quoted = !quoted;
                held = true;
            }
            _ if quoted => word.push(found),
            '(' | ')' => {
                flush(&mut word, &mut held, &mut tokens);
                tokens.push(found.to_string());
            }
            _ if found.is_whitespace() => flush(&mut word, &mut held, &mut tokens),
            _ => word.push(found),
        }
    }
    if quoted {
        return Err(FilterError { reason: "missing closing quote".into(), at: word });
    }
    flush(&mut word, &mut held, &mut tokens);
    Ok(tokens)
}

fn flush(word: &mut String, held: &mut bool, tokens: &mut Vec<String>) {
    if !word.is_empty() || *held {
        tokens.push(std::mem::take(word));
    }
    *held = false;
}

/// The maximum nesting depth of parentheses and `not`, since each level takes space on the stack.
const MAX_DEPTH: usize = 100;

struct Parser<'a> {
    tokens: &'a [String],
    at: usize,
    /// The current nesting depth of parentheses and `not`.
    depth: usize,
    registry: &'a Registry,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.at).map(String::as_str)
    }

    fn any(&mut self) -> Result<Node, FilterError> {
        let mut nodes = vec![self.all()?];
        while self.peek() == Some("or") {
            self.at += 1;
            nodes.push(self.all()?);
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::Any(nodes) })
    }

    fn all(&mut self) -> Result<Node, FilterError> {
        let mut nodes = vec![self.one()?];
        loop {
            match self.peek() {
                Some("and") => {
                    self.at += 1;
                    nodes.push(self.one()?);
                }
                None | Some("or" | ")") => break,
                Some(_) => nodes.push(self.one()?),
            }
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::All(nodes) })
    }

    fn one(&mut self) -> Result<Node, FilterError> {
        let Some(token) = self.tokens.get(self.at) else {
            return Err(FilterError { reason: "missing term at the end".into(), at: String::new() });
        };
        self.at += 1;
        match token.as_str() {
            "not" | "(" if self.depth == MAX_DEPTH => Err(FilterError {
                reason: format!("the filter is nested more than {MAX_DEPTH} levels deep"),
                at: token.clone(),
            }),
            "not" => {
                self.depth += 1;
                let node = self.one()?;
                self.depth -= 1;
                Ok(Node::Not(Box::new(node)))
            }
            "(" => {
                self.depth += 1;
                let node = self.any()?;
                self.depth -= 1;
                if self.peek() != Some(")") {
                    return Err(FilterError { reason: "missing closing parenthesis".into(), at: token.clone() });
                }
                self.at += 1;
                Ok(node)
            }
            ")" | "and" | "or" => Err(FilterError { reason: "missing term".into(), at: token.clone() }),
            term => parse_term(term, self.registry).map(Node::Term),
        }
    }
}

/// All terms with an example and a description, for help texts and error messages.
pub(crate) const TERMS: &[(&str, &str)] = &[
    ("method:tools/*", "the method; for a response, that of its request; * and ? are wildcards"),
    ("dir:s2c", "the direction: c2s or s2c"),
    ("tool:Bash", "the tool that is called; also matches the response"),
    (
        "ext:mcpl",
        "messages and declarations of a proposal (conversation, reminder, mcpl, hooks, mcpe) or of a pack, by its name",
    ),
    (
        "kind:notification",
        "request, notification, result, error, response, batch, unclassified, malformed, noise, blank",
    ),
    ("event:stderr", "message, stderr, stream-opened, stream-closed, transport, gap, note"),
    ("id:7", "the request id"),
    ("stream:0", "the stream's number"),
    ("seq:12..20", "the event's number, or the first and the last"),
    ("error", "JSON-RPC errors, tool errors, malformed lines, HTTP failures, a server that exits with an error"),
    ("injected", "messages injected by mcpreel"),
    ("slow:>500ms", "responses by latency (>, >=, <, <=; ns, us, ms, s, m, h)"),
    ("size:>10k", "events by size (>, >=, <, <=; k, M, G)"),
    ("text:\"commit\"", "text anywhere in the message, ignoring case"),
];

/// The term that a user probably meant by a word without a colon.
fn meant(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "slow" | "slowest" | "latency" | "slower" => "slow:>500ms",
        "errors" | "err" | "fail" | "failed" | "failures" => "error",
        "large" | "big" | "size" => "size:>10k",
        "requests" | "request" => "kind:request",
        "responses" | "response" => "kind:response",
        "notifications" | "notification" => "kind:notification",
        "stderr" => "event:stderr",
        "client" => "dir:c2s",
        "server" => "dir:s2c",
        "tools" => "method:tools/*",
        _ => return None,
    })
}

/// The operator, or the negated term, that a user probably meant.
fn operator(token: &str) -> Option<String> {
    Some(match token {
        "&" | "&&" | "AND" | "And" => "and".to_owned(),
        "|" | "||" | "OR" | "Or" => "or".to_owned(),
        "!" | "NOT" | "Not" => "not".to_owned(),
        _ => format!("not {}", token.strip_prefix(['!', '-'])?),
    })
}

fn parse_term(token: &str, registry: &Registry) -> Result<Term, FilterError> {
    let wrong = |reason: String| FilterError { reason, at: token.to_owned() };
    match token {
        "error" => return Ok(Term::Error),
        "injected" => return Ok(Term::Injected),
        _ => {}
    }
    let Some((name, value)) = token.split_once(':') else {
        // A name without its colon.
        let (name, value) = token.split_at(token.find(['=', '<', '>']).unwrap_or(token.len()));
        let with_colon = || format!("{name}:{}", value.strip_prefix('=').unwrap_or(value));
        let is_term = !meaning_of(name).is_empty();
        return Err(wrong(match operator(token) {
            Some(instead) => {
                format!("unknown term; did you mean {instead}? Filters combine terms with and, or and not")
            }
            None => match meant(token) {
                None if is_term && !value.is_empty() => format!("unknown term; did you mean {}?", with_colon()),
                None if is_term => {
                    format!("unknown term; after {name}, a colon and a value are expected, as in {name}:…")
                }
                None if token.contains('/') => {
                    format!("unknown term; did you mean method:{token}? To search for text, use text:{token}")
                }
                Some(term) => format!("unknown term; did you mean {term}? To search for text, use text:{token}"),
                None if token.parse::<u64>().is_ok() => {
                    format!(
                        "unknown term; to select an event by its number, use seq:{token}, by its request's id, id:{token}"
                    )
                }
                None if ["ns", "us", "ms", "s", "m", "k", "M", "G"].contains(&token) => {
                    "unknown term; a unit follows its number without a space, as in slow:>500ms or size:>10k".into()
                }
                None => format!("unknown term; use tool:{token} for a tool, or text:{token} to search for text"),
            },
        }));
    };
    if value.is_empty() && name != "text" {
        return Err(wrong("missing value after the colon".into()));
    }
    Ok(match name {
        "method" => Term::Method(glob(value).map_err(wrong)?),
        "tool" => Term::Tool(glob(value).map_err(wrong)?),
        "dir" => Term::Direction(Direction::from_short(value).ok_or_else(|| wrong("expected c2s or s2c".into()))?),
        "ext" => {
            let known = registry.by_name(value);
            let unknown = || wrong(format!("unknown proposal or pack; expected one of {}", registry.names()));
            Term::Extension(Extension(known.ok_or_else(unknown)?.descriptor()))
        }
        "kind" => Term::Kind(
            kinds(value)
                .ok_or_else(|| wrong(format!("unknown kind of message; expected one of {}", meaning_of("kind"))))?,
        ),
        "event" => Term::Event(
            EventKind::from_name(value)
                .ok_or_else(|| wrong(format!("unknown kind of event; expected one of {}", meaning_of("event"))))?,
        ),
        "id" => Term::Id(value.to_owned()),
        "stream" => Term::Stream(value.parse().map_err(|_| wrong("expected the number of a stream".into()))?),
        "seq" => Term::Seq(numbers(value).ok_or_else(|| wrong("expected seq:N or seq:N..M".into()))?),
        "slow" => Term::Slow(limit(value, nanoseconds).map_err(wrong)?),
        "size" => Term::Size(limit(value, bytes).map_err(wrong)?),
        "text" => Term::Text(value.as_bytes().to_vec()),
        _ => {
            let names: Vec<_> = TERMS.iter().filter_map(|term| term.0.split(':').next()).collect();
            return Err(wrong(format!("unknown term; expected one of {}", names.join(", "))));
        }
    })
}

/// Parses `N` or `N..M`.
fn numbers(text: &str) -> Option<RangeInclusive<u64>> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    Some(first.parse().ok()?..=last.parse().ok()?)
}

/// Returns the values that `kind:`, `event:` or `dir:` can have.
pub(crate) fn values_of(name: &str) -> Vec<&'static str> {
    match name {
        "dir" => vec!["c2s", "s2c"],
        _ => meaning_of(name).split(", ").collect(),
    }
}

/// Returns the description of a term.
fn meaning_of(name: &str) -> &'static str {
    let is_it = |term: &&(&str, &'static str)| term.0.split_once(':').is_some_and(|(found, _)| found == name);
    TERMS.iter().find(is_it).map_or("", |term| term.1)
}

fn glob(pattern: &str) -> Result<GlobMatcher, String> {
    GlobBuilder::new(pattern)
        .literal_separator(false)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| error.kind().to_string())
}

fn kinds(name: &str) -> Option<Vec<MessageKind>> {
    if name == "response" {
        return Some(vec![MessageKind::Result, MessageKind::Error]);
    }
    MessageKind::ALL.into_iter().find(|kind| kind.name() == name).map(|kind| vec![kind])
}

fn limit(text: &str, parse: impl Fn(&str) -> Result<i64, String>) -> Result<Limit, String> {
    let (at_least, inclusive, number) = match text.as_bytes() {
        [b'>', b'=', ..] => (true, true, &text[2..]),
        [b'<', b'=', ..] => (false, true, &text[2..]),
        [b'>', ..] => (true, false, &text[1..]),
        [b'<', ..] => (false, false, &text[1..]),
        _ => (true, true, text),
    };
    parse(number).map(|value| Limit { at_least, inclusive, value })
}

fn nanoseconds(text: &str) -> Result<i64, String> {
    parse_time(text).map(|time| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX))
}

fn bytes(text: &str) -> Result<i64, String> {
    parse_size(text).map(u64::cast_signed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Framing;
    use proptest::prelude::*;
    use serde_json::Value;

    fn header(kind: MessageKind, direction: Direction, id: i64, len: u32) -> EventHeader {
        EventHeader {
            seq: 0,
            time: 0,
            stream: 0,
            exchange: 0,
            kind: EventKind::Message,
            flags: Flags::toward(direction),
            framing: Framing::Lf,
            len,
            offset: 0,
            message: Some(MessageHeader { kind, method: None, id: Some(RecordedId::Integer(id)) }),
        }
    }

    fn passes(filter: &str) -> Option<bool> {
        let header = header(MessageKind::Request, Direction::ClientToServer, 7, 12_000);
        let body = br#"{"method":"tools/call","params":{"name":"Bash","arguments":{"c":"git Commit"}}}"#;
        let input =
            FilterInput { header: &header, method: Some("tools/call"), latency: None, tool: None, body: Some(body) };
        let parsed = Filter::parse(filter).expect(filter);
        let with = parsed.decide(&input);
        let without = parsed.decide(&FilterInput { body: None, ..input });
        assert!(without.is_none() || without == with, "{filter}");
        with
    }

    #[test]
    fn a_batch_matches_if_one_of_its_messages_does() {
        let header = header(MessageKind::Batch, Direction::ServerToClient, 0, 100);
        let body = br#"[{"id":1,"result":{"isError":true,"content":[]}},{"id":"x","error":{"code":1,"message":"m"}},
            {"id":3,"method":"tools/call","params":{"name":"b"}},{"method":"push/event"}]"#;
        let input = FilterInput { header: &header, method: None, latency: None, tool: None, body: Some(body) };
        for (filter, passes) in [
            ("error", true),
            ("kind:error", true),
            ("kind:batch", true),
            ("kind:blank", false),
            ("id:x", true),
            ("id:3", true),
            ("id:4", false),
            ("tool:b", true),
            ("tool:c", false),
            ("method:push/*", true),
            ("ext:mcpl", true),
            ("ext:mcpe", false),
            ("not error", false),
        ] {
            let parsed = Filter::parse(filter).expect(filter);
            assert_eq!(parsed.decide(&input), Some(passes), "{filter}");
            let without = parsed.decide(&FilterInput { body: None, ..input });
            assert_eq!(without, (filter == "kind:batch").then_some(true), "{filter}");
        }
    }

    #[test]
    fn terms_and_their_combinations() {
        for yes in [
            "",
            "method:tools/*",
            "method:* dir:c2s",
            "tool:Ba*",
            "kind:request id:7",
            "size:>10k size:<=12k",
            "text:commit",
            "text:\"git commit\"",
            "not error",
            "dir:s2c or tool:Bash",
            "not (dir:s2c or error) and (text:git)",
            "stream:0 event:message",
        ] {
            assert_eq!(passes(yes), Some(true), "{yes}");
        }
        for no in
            ["method:resources/*", "dir:s2c", "ext:mcpl", "slow:>1ms", "kind:response", "not text:git", "injected"]
        {
            assert_eq!(passes(no), Some(false), "{no}");
        }
    }

    #[test]
    fn a_handshake_belongs_to_the_proposals_it_declares() {
        let header = header(MessageKind::Result, Direction::ServerToClient, 0, 100);
        let body = br#"{"id":0,"result":{"capabilities":{"hooks":{"declarations":[]},"experimental":{"mcpl":{}}}}}"#;
        let input =
            FilterInput { header: &header, method: Some("initialize"), latency: None, tool: None, body: Some(body) };
        let decide = |filter: &str| Filter::parse(filter).expect(filter).decide(&input);
        assert_eq!(
            (decide("ext:hooks"), decide("ext:mcpl"), decide("ext:mcpe")),
            (Some(true), Some(true), Some(false))
        );
    }

    #[test]
    fn a_filter_reports_what_it_looks_at() {
        let asks = |text: &str| {
            let filter = Filter::parse(text).expect(text);
            (filter.needs_calls(), filter.names_events())
        };
        assert_eq!(asks("dir:s2c not (error or tool:Bash)"), (true, false));
        assert_eq!(asks("ext:mcpe"), (true, false));
        assert_eq!(asks("method:x or event:note"), (false, true));
        assert_eq!(asks(""), (false, false));
    }

    #[test]
    fn latency_is_compared_in_its_unit() {
        let header = header(MessageKind::Result, Direction::ServerToClient, 7, 10);
        let input = FilterInput { header: &header, method: None, latency: Some(600_000_000), tool: None, body: None };
        assert_eq!(Filter::parse("slow:>500ms").expect("parses").decide(&input), Some(true));
        assert_eq!(Filter::parse("slow:>0.7s").expect("parses").decide(&input), Some(false));
    }

    #[test]
    fn what_is_nested_too_deep_for_the_stack_is_refused() {
        let nested = |levels: usize| format!("{}error{}", "(".repeat(levels), ")".repeat(levels));
        assert!(Filter::parse(&format!("{0} {0}", nested(MAX_DEPTH))).is_ok(), "closed parentheses no longer count");
        for deep in [nested(MAX_DEPTH + 1), "(".repeat(100_000), "not ".repeat(100_000)] {
            assert!(Filter::parse(&deep).expect_err("too deep").to_string().contains("100 levels"));
        }
    }

    #[test]
    fn mistakes_are_named() {
        let reason = |text: &str| Filter::parse(text).expect_err(text).to_string();
        assert!(reason("foo").contains("text:foo"));
        assert!(reason("colour:red").contains("method"));
        assert!(reason("ext:nope").contains("mcpl"));
        assert!(reason("(error").contains("missing closing parenthesis"));
        assert!(reason("error and").contains("missing"));
        assert!(reason("text:\"a").contains("quote"));
        assert!(reason("error )").contains("unexpected"));
        assert!(reason("errors").contains("did you mean error?"));
        for (slip, meant) in
            [("error && slow:>1s", "and"), ("error OR id:1", "or"), ("NOT error", "not"), ("!error", "not error")]
        {
            assert!(reason(slip).contains(&format!("did you mean {meant}?")), "{}", reason(slip));
        }
        assert!(reason("method=tools/call").contains("did you mean method:tools/call?"));
        assert!(reason("tools/call").contains("did you mean method:tools/call?"));
        assert!(reason("slow>300ms").contains("did you mean slow:>300ms?"));
        assert!(reason("slow:>300 ms").contains("without a space"));
        assert!(reason("tool echo").contains("as in tool:…"));
        assert!(reason("forecast").contains("tool:forecast") && reason("forecast").contains("text:forecast"));
        assert!(reason("latency").contains("did you mean slow:>500ms?"));
        assert!(!reason("schema").contains("did you mean"));
        let meant =
            ["slow", "err", "big", "request", "response", "notification", "stderr", "client", "server", "tools"];
        assert!(meant.iter().all(|word| Filter::parse(super::meant(word).unwrap_or("(")).is_ok()));
        assert!(reason("slow:fast").contains("500ms"));
        assert!(reason("method:").contains("missing"));
        assert!(reason("kind:foo").contains("request, notification, result"));
        assert!(reason("event:foo").contains("stderr, stream-opened"));
    }

    /// The row of a test case that the page's filter shares.
    fn decided(filter: &Filter, row: &Value) -> bool {
        let text = |name: &str| row[name].as_str();
        let is = |name: &str| row[name] == true;
        let named = [("injected", Flags::INJECTED), ("toolError", Flags::TOOL_ERROR), ("failed", Flags::FAILED)];
        let set = named.iter().filter(|(name, _)| is(name)).fold(Flags::default(), |all, (_, flag)| all.with(*flag));
        let direction = text("dir").and_then(Direction::from_short).unwrap_or(Direction::ClientToServer);
        let kind = text("kind").and_then(kinds).map(|kinds| kinds[0]);
        let id = text("id").map(|id| match id.parse() {
            Ok(number) => RecordedId::Integer(number),
            Err(_) => RecordedId::Text(id.as_bytes().into()),
        });
        let number = |name: &str| u32::try_from(row[name].as_u64().expect(name)).expect(name);
        let header = EventHeader {
            kind: text("event").and_then(EventKind::from_name).expect("a kind of event"),
            stream: number("stream"),
            exchange: u32::from(text("event") == Some("transport")),
            flags: Flags::toward(direction).with(set),
            len: number("size"),
            seq: row["seq"].as_u64().expect("seq"),
            message: kind.map(|kind| MessageHeader { kind, method: None, id }),
            ..header(MessageKind::Request, direction, 0, 0)
        };
        let (method, tool, latency) = (text("method"), text("tool"), row["latency"].as_i64());
        let body = text("text").map(str::as_bytes);
        filter.decide(&FilterInput { header: &header, method, latency, tool, body }).expect("the text is there")
    }

    #[test]
    fn the_page_decides_alike() {
        let shared: Value = serde_json::from_str(include_str!("../../tests/page/filters.json")).expect("JSON");
        let rows = shared["rows"].as_array().expect("a list");
        for case in shared["cases"].as_array().expect("a list") {
            let filter = case["filter"].as_str().expect("a text");
            let found = Filter::parse(filter).map(|parsed| {
                let places = rows.iter().enumerate().filter(|(_, row)| decided(&parsed, row));
                Value::from(places.map(|(at, _)| at).collect::<Vec<_>>())
            });
            assert_eq!(found.ok().as_ref(), case.get("matches"), "{filter}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in ".{0,60}") {
            let _ = Filter::parse(&text);
        }
    }
}
