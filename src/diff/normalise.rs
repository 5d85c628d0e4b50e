//! Parses a payload into a tree for comparison: numbers by value, times and ids marked as such, ignored places removed,
//! JSON inside of texts parsed.
//!
//! It parses the text from the wire, so that numbers keep all digits.

use super::node::{Node, quote};
use super::pairs::reference_place;
use super::report::UnitSide;
use super::{Options, volatile};
use crate::wire::json;
use std::borrow::Cow;
use std::collections::HashMap;

/// Values nested deeper than this are compared as text.
const MAX_DEPTH: usize = 96;

/// Parses payloads according to some options.
#[derive(Debug)]
pub(crate) struct Normaliser<'o> {
    options: &'o Options,
    ignore: Vec<Vec<String>>,
}

impl<'o> Normaliser<'o> {
    /// Creates a normaliser with these options.
    pub(crate) fn new(options: &'o Options) -> Self {
        let ignore = options.ignore.iter().map(|pattern| segments(pattern)).filter(|path| !path.is_empty()).collect();
        Self { options, ignore }
    }

    /// Returns the hash of a tree; see [`Node::fingerprint`].
    pub(crate) fn fingerprint(&self, node: &Node, ids: &mut Vec<Box<str>>) -> u64 {
        node.fingerprint(self.options.exact, ids)
    }

    /// Parses one part of a message with this method.
    pub(crate) fn read(&self, side: UnitSide, method: Option<&str>, text: &[u8]) -> Node {
        let root = Step::Name(Cow::Borrowed(side.name()));
        let mut walk = Walk { by: self, reference: method.and_then(reference_place), path: vec![root] };
        if walk.is_ignored() {
            return Node::Ignored;
        }
        match json::check(text) {
            Ok(()) => walk.value(text.trim_ascii(), false),
            Err(_) => Node::Raw(text.into()),
        }
    }
}

/// Returns the segments of a JSON pointer, with escapes resolved.
fn segments(pointer: &str) -> Vec<String> {
    let pointer = pointer.strip_prefix('/').unwrap_or(pointer);
    pointer.split('/').filter(|_| !pointer.is_empty()).map(|part| part.replace("~1", "/").replace("~0", "~")).collect()
}

#[derive(Clone, Debug)]
enum Step<'a> {
    Name(Cow<'a, str>),
    Index(usize),
}

impl Step<'_> {
    fn matches(&self, pattern: &str) -> bool {
        pattern == "*"
            || match self {
                Self::Name(name) => name == pattern,
                Self::Index(index) => pattern.parse() == Ok(*index),
            }
    }

    fn is(&self, name: &str) -> bool {
        matches!(self, Self::Name(found) if found == name)
    }
}

/// The current place in a message.
struct Walk<'w, 'o, 'a> {
    by: &'w Normaliser<'o>,
    reference: Option<&'static [&'static str]>,
    path: Vec<Step<'a>>,
}

impl<'a> Walk<'_, '_, 'a> {
    /// Parses valid JSON. `in_data` means that it is a tool's own data, where the protocol's names have no meaning.
    fn value(&mut self, text: &'a [u8], in_data: bool) -> Node {
        match text.first() {
            Some(b'{' | b'[') if self.path.len() > MAX_DEPTH => Node::Raw(text.into()),
            Some(b'{') => self.map(text, in_data),
            Some(b'[') => {
                let items = json::items(text).enumerate();
                Node::List(items.filter_map(|(at, item)| self.step(Step::Index(at), item, in_data, true)).collect())
            }
            Some(b'"') => self.text(text, in_data),
            Some(b't') => Node::Bool(true),
            Some(b'f') => Node::Bool(false),
            Some(b'n') => Node::Null,
            _ => self.number(&String::from_utf8_lossy(text), in_data),
        }
    }

    /// Parses the value one level below. An ignored item of a list keeps its place; an ignored member is removed.
    fn step(&mut self, step: Step<'a>, text: &'a [u8], in_data: bool, keeps_place: bool) -> Option<Node> {
        self.path.push(step);
        let node = match self.is_ignored() {
            false => Some(self.value(text, in_data)),
            true => keeps_place.then_some(Node::Ignored),
        };
        self.path.pop();
        node
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

    fn number(&self, text: &str, in_data: bool) -> Node {
        if self.is_reference() {
            return Node::Reference(text.into());
        }
        if let Some(form) = self.epoch(text) {
            return Node::Time { text: text.into(), form };
        }
        if !self.by.options.keep_ids && !in_data && self.name().is_some_and(volatile::is_made_up) {
            return Node::Id(text.into());
        }
        let value = if self.by.options.exact { None } else { decimal(text) };
        Node::Number { text: text.into(), value: value.map_or_else(|| text.into(), Into::into) }
    }

    fn text(&mut self, quoted: &'a [u8], in_data: bool) -> Node {
        let options = self.by.options;
        let text = json::as_str(quoted).unwrap_or_default();
        let spelling = || String::from_utf8_lossy(quoted).into();
        if self.is_reference() {
            return Node::Reference(spelling());
        }
        if !options.keep_times && volatile::is_timestamp(&text) {
            return Node::Time { text: spelling(), form: 0 };
        }
        if let Some(form) = self.epoch(&text) {
            return Node::Time { text: spelling(), form };
        }
        let made_up = || !in_data && self.name().is_some_and(volatile::is_made_up);
        if !options.keep_ids && (volatile::is_uuid(&text) || made_up()) {
            return Node::Id(quote(&text).into());
        }
        match self.opened(&text).or_else(|| self.pieces(&text)) {
            Some(inner) => Node::Json { text: text.into(), inner: Box::new(inner) },
            None => Node::Text(text.into()),
        }
    }

    /// Splits prose that contains UUIDs into a list: the texts between them, and each UUID as an id.
    fn pieces(&self, text: &str) -> Option<Node> {
        if self.by.options.exact || self.by.options.keep_ids {
            return None;
        }
        let (mut pieces, mut rest) = (Vec::new(), text);
        while let Some((before, id, after)) = volatile::split_at_uuid(rest) {
            pieces.push(Node::Text(before.into()));
            pieces.push(Node::Id(quote(id).into()));
            rest = after;
        }
        if pieces.is_empty() {
            return None;
        }
        pieces.push(Node::Text(rest.into()));
        Some(Node::List(pieces))
    }

    /// Parses the JSON in a `content[].text`, if it is an object or an array.
    fn opened(&self, text: &str) -> Option<Node> {
        let mut back = self.path.iter().rev();
        let is_text = back.next().is_some_and(|step| step.is("text"));
        let in_content = back.take(2).any(|step| step.is("content") || step.is("contents"));
        let begins = text.trim_ascii_start().starts_with(['{', '[']);
        if self.by.options.exact || !is_text || !in_content || !begins || json::check(text.as_bytes()).is_err() {
            return None;
        }
        let path = self.path.iter().map(Step::to_owned_step).collect();
        let mut walk = Walk { by: self.by, reference: None, path };
        Some(walk.value(text.trim_ascii().as_bytes(), true))
    }

    fn epoch(&self, text: &str) -> Option<u8> {
        let names_a_time = self.name().is_some_and(volatile::names_a_time);
        if self.by.options.keep_times || !names_a_time { None } else { volatile::epoch_digits(text) }
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
        self.by.ignore.iter().any(|pattern| {
            pattern.len() == self.path.len() && self.path.iter().zip(pattern).all(|(step, part)| step.matches(part))
        })
    }
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
