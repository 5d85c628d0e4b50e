//! Parses a payload into a tree for comparison: numbers by value, volatile values marked as such, ignored places
//! removed, JSON inside of texts parsed.
//!
//! It parses the text from the wire, so that numbers keep all digits.

use super::node::Node;
use super::pairs::reference_place;
use super::report::UnitSide;
use super::volatile::names;
use super::volatile::{Kind, Lookup, Span, ValueKey};
use super::{Options, places};
use crate::wire::json;
use std::borrow::Cow;
use std::collections::HashMap;

/// Values nested deeper than this are compared as text.
const MAX_DEPTH: usize = 96;

/// Text without spaces in `data` or `blob` may be longer than this only if it is base64. Unit: bytes.
const MAX_OPAQUE: usize = 64;

/// Parses payloads according to some options.
#[derive(Debug)]
pub(crate) struct Normaliser<'o> {
    options: &'o Options,
    ignore: Vec<places::Pattern>,
    unordered: Vec<(places::Pattern, Option<&'o str>)>,
}

/// Where a payload is from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'m> {
    /// The part of the message.
    pub side: UnitSide,
    /// The method of the message, or of the request that it answers.
    pub method: Option<&'m str>,
    /// The server sent it.
    pub from_server: bool,
}

/// Whether values may be volatile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    /// The server sent them: they may be, unless the client had chosen them before.
    Server,
    /// The client sent them: they may be, if the server had made them before.
    Client,
    /// Members such as `_meta` that programs fill in: they may be.
    Meta,
    /// Schemas and other configuration: they may not be.
    Configuration,
}

impl<'o> Normaliser<'o> {
    /// Creates a normaliser with these options.
    pub(crate) fn new(options: &'o Options) -> Self {
        let patterns = options.ignore.iter().map(|text| places::Pattern::new(text));
        // An index means the item of the left side, so those patterns are applied to the report.
        let ignore = patterns.filter(|pattern| !pattern.is_empty() && !pattern.has_index()).collect();
        let unordered = options.unordered.iter().map(|text| {
            let (pointer, key) = text.split_once('=').map_or((text.as_str(), None), |(text, key)| (text, Some(key)));
            (places::Pattern::new(pointer), key)
        });
        Self { options, ignore, unordered: unordered.collect() }
    }

    /// Returns the hash of a tree; see [`Node::fingerprint`].
    pub(crate) fn fingerprint(&self, node: &Node, values: &mut dyn FnMut(ValueKey, &str)) -> u64 {
        node.fingerprint(self.options.exact, values)
    }

    /// Parses one part of a message.
    pub(crate) fn read(&self, source: Source<'_>, text: &[u8], lookup: &mut Lookup<'_>) -> Node {
        let root = Step::Name(Cow::Borrowed(source.side.name()));
        let is_configuring = source.side == UnitSide::Result && source.method.is_some_and(names::is_configuring);
        let trust = match source.from_server {
            _ if is_configuring => Trust::Configuration,
            true => Trust::Server,
            false => Trust::Client,
        };
        let reference = source.method.and_then(reference_place);
        let mut walk = Walk { by: self, reference, path: vec![root], trust, lookup };
        if walk.is_ignored() {
            return Node::Ignored;
        }
        match (json::check(text), std::str::from_utf8(text)) {
            (Ok(()), _) => walk.value(text.trim_ascii(), false),
            (Err(_), Ok(text)) => match walk.prose(text) {
                Node::Text(text) => Node::Raw(text.as_bytes().into()),
                prose => prose,
            },
            (Err(_), Err(_)) => Node::Raw(text.into()),
        }
    }
}

#[derive(Clone, Debug)]
enum Step<'a> {
    Name(Cow<'a, str>),
    Index(usize),
}

impl Step<'_> {
    fn is(&self, name: &str) -> bool {
        matches!(self, Self::Name(found) if found == name)
    }

    fn place(&self) -> places::Step<'_> {
        match self {
            Self::Name(name) => places::Step::Name(name),
            Self::Index(index) => places::Step::Index(*index),
        }
    }
}

/// The current place in a message.
struct Walk<'w, 'o, 'a, 'l> {
    by: &'w Normaliser<'o>,
    reference: Option<&'static [&'static str]>,
    path: Vec<Step<'a>>,
    trust: Trust,
    lookup: &'w mut Lookup<'l>,
}

impl<'a> Walk<'_, '_, 'a, '_> {
    /// Parses valid JSON. `in_data` means that it is a tool's own data, where the protocol's names have no meaning.
    fn value(&mut self, text: &'a [u8], in_data: bool) -> Node {
        match text.first() {
            Some(b'{' | b'[') if self.path.len() > MAX_DEPTH => Node::Raw(text.into()),
            Some(b'{') => self.map(text, in_data),
            Some(b'[') => self.list(text, in_data),
            Some(b'"') => self.text(text, in_data),
            Some(b't') => self.truth(true),
            Some(b'f') => self.truth(false),
            Some(b'n') => Node::Null,
            _ => self.number(&String::from_utf8_lossy(text), in_data),
        }
    }

    fn list(&mut self, text: &'a [u8], in_data: bool) -> Node {
        let items = json::items(text).enumerate();
        let items = items.filter_map(|(at, item)| self.step(Step::Index(at), item, in_data, true)).collect();
        let places = || self.path.iter().map(Step::place);
        match self.by.unordered.iter().find(|(pattern, _)| pattern.matches(places())) {
            Some((_, key)) => Node::Set { items, key: key.map(Into::into) },
            None => Node::List(items),
        }
    }

    /// Parses the value one level below. An ignored item of a list keeps its place; an ignored member is removed.
    fn step(&mut self, step: Step<'a>, text: &'a [u8], in_data: bool, keeps_place: bool) -> Option<Node> {
        let outside = self.trust;
        self.trust = self.trust_in(&step, in_data);
        self.path.push(step);
        let node = match self.is_ignored() {
            false => Some(self.value(text, in_data)),
            true => keeps_place.then_some(Node::Ignored),
        };
        self.path.pop();
        self.trust = outside;
        node
    }

    fn trust_in(&self, step: &Step<'_>, in_data: bool) -> Trust {
        match step {
            Step::Name(name) if !in_data && name == "_meta" => Trust::Meta,
            Step::Name(name) if !in_data && names::is_configuration(name) => Trust::Configuration,
            _ => self.trust,
        }
    }

    fn map(&mut self, text: &'a [u8], in_data: bool) -> Node {
        let mut members: Vec<(Box<str>, Node)> = Vec::new();
        let mut places: HashMap<Box<str>, usize> = HashMap::new();
        for member in json::members(text) {
            let name = match member.key.contains(&b'\\') {
                true => Cow::Owned(json::unescape(member.key)),
                false => String::from_utf8_lossy(member.key),
            };
            let key: Box<str> = name.as_ref().into();
            let below = in_data || matches!(&*key, "arguments" | "structuredContent" | "content" | "contents");
            let Some(node) = self.step(Step::Name(name), member.value, below, false) else { continue };
            // If a name occurs twice, the last member counts, as in JSON parsers.
            match places.get(&key) {
                Some(place) => members[*place].1 = node,
                None => {
                    places.insert(key.clone(), members.len());
                    members.push((key, node));
                }
            }
        }
        Node::Map(members)
    }

    fn truth(&mut self, value: bool) -> Node {
        let follows = self.name().is_some_and(names::follows_from_time);
        if follows && self.accepts(Kind::Time) && matches!(self.trust, Trust::Server | Trust::Meta) {
            return Node::Volatile { text: value.to_string().into(), kind: Kind::Time, form: 0 };
        }
        Node::Bool(value)
    }

    fn number(&mut self, text: &str, in_data: bool) -> Node {
        if self.is_reference() {
            return Node::Reference(text.into());
        }
        if let Some((kind, form)) = self.known(text, in_data)
            && self.is_volatile(kind, text)
        {
            return Node::Volatile { text: text.into(), kind, form };
        }
        let value = if self.by.options.exact { None } else { decimal(text) };
        Node::Number { text: text.into(), value: value.map_or_else(|| text.into(), Into::into) }
    }

    fn text(&mut self, quoted: &'a [u8], in_data: bool) -> Node {
        let text = json::as_str(quoted).unwrap_or_default();
        if self.is_reference() {
            return Node::Reference(String::from_utf8_lossy(quoted).into());
        }
        if let Some((kind, form)) = self.known(&text, in_data)
            && self.is_volatile(kind, &text)
        {
            let span = Span { start: 0, end: text.len(), kind, form };
            return Node::Prose { text: text.into(), spans: Box::new([span]) };
        }
        match self.opened(&text) {
            Some(inner) => Node::Json { text: text.into(), inner: Box::new(inner) },
            None => self.prose(&text),
        }
    }

    /// Marks the volatile parts of a text.
    fn prose(&mut self, text: &str) -> Node {
        // Base64 is data, whatever is in it.
        let is_data = self.name().is_some_and(|name| matches!(name, "data" | "blob")) && !text.contains(' ');
        if self.by.options.exact || self.trust == Trust::Configuration || is_data && text.len() > MAX_OPAQUE {
            return Node::Text(text.into());
        }
        let is_setting = self.name().is_some_and(names::names_a_setting);
        let mut spans = self.lookup.find(text);
        spans.retain(|span| {
            !(is_setting && span.kind == Kind::Duration) && self.accepts(span.kind) && self.is_made(*span, text)
        });
        if spans.is_empty() { Node::Text(text.into()) } else { Node::Prose { text: text.into(), spans: spans.into() } }
    }

    /// Returns what a value is according to the name of its member, and its notation.
    fn known(&self, text: &str, in_data: bool) -> Option<(Kind, u8)> {
        let name = self.name()?;
        if !in_data && names::is_made_up(name) {
            return Some((Kind::Id, 0));
        }
        if names::follows_from_time(name) {
            return Some((Kind::Time, 0));
        }
        let is_number = matches!(text.as_bytes().first(), Some(b'0'..=b'9'));
        let is_number = is_number && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        if is_number { names::number_in(name, text) } else { None }
    }

    /// Returns whether the whole value, whose kind follows from its name, is volatile here.
    fn is_volatile(&mut self, kind: Kind, text: &str) -> bool {
        let span = Span { start: 0, end: text.len(), kind, form: 0 };
        // What the protocol calls an id is generated, whichever side does it.
        self.accepts(kind) && (kind == Kind::Id || self.is_made(span, text))
    }

    /// Returns whether values of this kind are not compared by value.
    fn accepts(&self, kind: Kind) -> bool {
        let options = self.by.options;
        !options.exact && if kind.is_measured() { !options.keep_times } else { !options.keep_ids }
    }

    /// Returns whether the run made a part of a text.
    fn is_made(&mut self, span: Span, text: &str) -> bool {
        match (self.trust, span.kind) {
            (Trust::Configuration, _) => false,
            (Trust::Meta, _) | (_, Kind::Folder) => true,
            // A client never echoes how long something took: its durations are settings.
            (Trust::Client, Kind::Duration) => false,
            (Trust::Server, Kind::Duration) => true,
            (trust, kind) => {
                let by_run = trust == Trust::Server || kind == Kind::Path && is_from_mktemp(span.of(text));
                self.lookup.is_made(span.key(text), by_run)
            }
        }
    }

    /// Parses the JSON in a `content[].text`, if it is an object or an array.
    fn opened(&mut self, text: &str) -> Option<Node> {
        let mut back = self.path.iter().rev();
        let is_text = back.next().is_some_and(|step| step.is("text"));
        let in_content = back.take(2).any(|step| step.is("content") || step.is("contents"));
        let begins = text.trim_ascii_start().starts_with(['{', '[']);
        if self.by.options.exact || !is_text || !in_content || !begins || json::check(text.as_bytes()).is_err() {
            return None;
        }
        let path = self.path.iter().map(Step::to_owned_step).collect();
        let (by, trust) = (self.by, self.trust);
        let mut walk = Walk { by, reference: None, path, trust, lookup: &mut *self.lookup };
        Some(walk.value(text.trim_ascii().as_bytes(), true))
    }

    fn name(&self) -> Option<&str> {
        match self.path.last()? {
            Step::Name(name) => Some(name),
            Step::Index(_) => None,
        }
    }

    fn is_reference(&self) -> bool {
        let here = |place: &[&str]| {
            self.path.len() == place.len() + 1
                && self.path[0].is(UnitSide::Params.name())
                && self.path[1..].iter().zip(place).all(|(step, name)| step.is(name))
        };
        !self.by.options.keep_ids && (here(&["_meta", "progressToken"]) || self.reference.is_some_and(here))
    }

    fn is_ignored(&self) -> bool {
        self.by.ignore.iter().any(|pattern| pattern.matches(self.path.iter().map(Step::place)))
    }
}

/// Returns whether the last name of a path is one that `mktemp` and its relatives make.
fn is_from_mktemp(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let end = name.rsplit(['.', '-', '_']).next().unwrap_or_default();
    let end = end.strip_prefix("tmp").unwrap_or(end);
    let is_mixed = |is_it: fn(&u8) -> bool| end.bytes().any(|byte| is_it(&byte));
    let kinds: [fn(&u8) -> bool; 3] = [u8::is_ascii_lowercase, u8::is_ascii_uppercase, u8::is_ascii_digit];
    (6..=12).contains(&end.len()) && kinds.into_iter().filter(|is_it| is_mixed(*is_it)).count() > 1
}

impl Step<'_> {
    fn to_owned_step<'b>(&self) -> Step<'b> {
        match self {
            Self::Name(name) => Step::Name(Cow::Owned(name.clone().into_owned())),
            Self::Index(index) => Step::Index(*index),
        }
    }
}

/// Returns the value of a number as digits and an exponent, the same for every notation.
fn decimal(text: &str) -> Option<String> {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let short = digits.trim_end_matches('0');
    if short.is_empty() {
        return Some("0".to_owned());
    }
    let exponent: i64 = exponent.parse().ok()?;
    let moved = i64::try_from(digits.len() - short.len()).ok()? - i64::try_from(fraction.len()).ok()?;
    Some(match exponent.checked_add(moved)? {
        zeros @ 0..=40 => format!("{sign}{short}{}", "0".repeat(usize::try_from(zeros).ok()?)),
        exponent => format!("{sign}{short}e{exponent}"),
    })
}
