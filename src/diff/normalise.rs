//! Parses a payload into a tree for comparison: numbers by value, volatile values marked as such, ignored places
//! removed, JSON inside of texts parsed, base64 of text decoded.
//!
//! It parses the text from the wire, so that numbers keep all digits.

use super::build::{Build, Digest, Hashing, Leaf, Tree, hash_of};
use super::node::Node;
use super::pairs::reference_place;
use super::report::UnitSide;
use super::volatile::names;
use super::volatile::{Kind, Lookup, Span, ValueKey};
use super::{Options, places};
use crate::wire::json;
use crate::wire::tree::{self, Budget};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine, alphabet};
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;

/// Values nested deeper than this are compared as text.
const MAX_DEPTH: usize = 96;

/// Objects with more members than this get an index of their names.
const FEW_MEMBERS: usize = 16;

/// Text without spaces in `data` or `blob` may be longer than this only if it is base64. Unit: bytes.
const MAX_OPAQUE: usize = 64;

/// How many bytes one part of a message may take as a tree of values: a [`Node`] takes more than a value of `serde_json`,
/// and two of them are compared.
const MAX_TREE: usize = tree::MAX_BYTES * 3 / 10;

/// Whether valid JSON is compared in detail, and not only as its bytes because it has too many values.
pub(super) fn is_comparable(text: &[u8]) -> bool {
    tree::fits_in(text, MAX_TREE).is_ok()
}

/// Parses payloads according to some options.
#[derive(Debug)]
pub(crate) struct Normaliser<'o> {
    options: &'o Options,
    ignore: Vec<Rule<'o>>,
    unordered: Vec<Rule<'o>>,
}

/// A place at which something is compared in another way.
#[derive(Debug)]
struct Rule<'o> {
    place: places::Scoped,
    /// The member that identifies an item of an array.
    key: Option<&'o str>,
    /// Whether it applies here. An index means the item of the left side, so such a place is applied to the report.
    applies: bool,
    /// Whether a message had something at this place.
    is_used: Cell<bool>,
}

impl Rule<'_> {
    /// Returns whether it is about this place, and notes that.
    fn is_about<'s>(&self, source: Source<'_>, path: impl Iterator<Item = places::Step<'s>> + Clone) -> bool {
        let is_here = self.place.pattern.matches(path) && self.place.is_for(source.method, source.subject);
        if is_here {
            self.is_used.set(true);
        }
        is_here && self.applies
    }
}

/// Where a payload is from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'m> {
    /// The part of the message.
    pub side: UnitSide,
    /// The method of the message, or of the request that it answers.
    pub method: Option<&'m str>,
    /// The tool, prompt or resource that it is about, or another subject.
    pub subject: Option<&'m str>,
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
    /// Schemas and other configuration: they may not be, except for the server's folder.
    Configuration,
}

impl<'o> Normaliser<'o> {
    /// Creates a normaliser with these options.
    pub(crate) fn new(options: &'o Options) -> Self {
        let ignore = options.ignore.iter().map(|text| {
            let place = places::Scoped::new(text);
            let applies = !place.pattern.is_empty() && (options.ignores_own_items || !place.pattern.has_index());
            Rule { place, key: None, applies, is_used: Cell::new(false) }
        });
        let unordered = options.unordered.iter().map(|text| {
            let pointer = text.len() - places::divided(text).1.len();
            let key = text[pointer..].find('=').map(|at| pointer + at);
            let place = places::Scoped::new(&text[..key.unwrap_or(text.len())]);
            Rule { place, key: key.map(|at| &text[at + 1..]), applies: true, is_used: Cell::new(false) }
        });
        Self { options, ignore: ignore.collect(), unordered: unordered.collect() }
    }

    /// Returns for each place to ignore, and for each unordered array, whether a message had something there.
    pub(crate) fn used(&self) -> Vec<bool> {
        self.ignore.iter().chain(&self.unordered).map(|rule| rule.is_used.get()).collect()
    }

    /// Returns whether one part of a message is ignored as a whole, and notes that something is there.
    pub(super) fn ignores(&self, source: Source<'_>) -> bool {
        let path = || std::iter::once(places::Step::Name(source.side.name()));
        self.ignore.iter().any(|rule| rule.is_about(source, path()))
    }

    /// Parses one part of a message.
    pub(crate) fn read(&self, source: Source<'_>, text: &[u8], lookup: &mut Lookup<'_>) -> Node {
        self.build(&mut Tree, source, text, lookup)
    }

    /// Returns the hash of one part of a message, without building a tree.
    pub(crate) fn digest(&self, source: Source<'_>, text: &[u8], lookup: &mut Lookup<'_>) -> Digest {
        self.build(&mut Hashing::new(self.options.exact), source, text, lookup)
    }

    /// Returns the texts of the volatile values of one part of a message.
    pub(crate) fn value_texts(
        &self,
        source: Source<'_>,
        text: &[u8],
        lookup: &mut Lookup<'_>,
    ) -> Vec<(ValueKey, Box<str>)> {
        let mut hashing = Hashing::new(self.options.exact).with_texts(true);
        self.build(&mut hashing, source, text, lookup);
        hashing.texts.unwrap_or_default()
    }

    /// Passes one part of a message to a builder.
    pub(super) fn build<B: Build>(
        &self,
        builder: &mut B,
        source: Source<'_>,
        text: &[u8],
        lookup: &mut Lookup<'_>,
    ) -> B::Out {
        let root = Step::Name(Cow::Borrowed(source.side.name()));
        let is_configuring = source.side == UnitSide::Result && source.method.is_some_and(names::is_configuring);
        let trust = match source.from_server {
            _ if is_configuring => Trust::Configuration,
            true => Trust::Server,
            false => Trust::Client,
        };
        let reference = source.method.and_then(reference_place);
        let mut walk = Walk { by: self, builder, source, reference, path: vec![root], trust, lookup, budget: None };
        if walk.is_ignored() {
            return walk.builder.leaf(Leaf::Ignored);
        }
        match (json::check(text), std::str::from_utf8(text)) {
            (Ok(()), _) if !is_comparable(text) => walk.in_parts(text.trim_ascii()),
            (Ok(()), _) => walk.value(text.trim_ascii(), false),
            (Err(_), Ok(line)) => {
                let spans = walk.volatile_parts(line);
                walk.builder.leaf(if spans.is_empty() {
                    Leaf::Raw(text)
                } else {
                    Leaf::Prose { text: line, spans: &spans }
                })
            }
            (Err(_), Err(_)) => walk.builder.leaf(Leaf::Raw(text)),
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
struct Walk<'w, 'o, 'a, 'l, B> {
    by: &'w Normaliser<'o>,
    builder: &'w mut B,
    source: Source<'w>,
    reference: Option<&'static [&'static str]>,
    path: Vec<Step<'a>>,
    trust: Trust,
    lookup: &'w mut Lookup<'l>,
    /// What the members of the root may take together, if it has too many values.
    budget: Option<Budget>,
}

impl<'a, B: Build> Walk<'_, '_, 'a, '_, B> {
    /// Parses what has too many values: the members of an object as far as they fit, so that `_meta` and the name of a tool
    /// are compared, and everything else as its bytes.
    fn in_parts(&mut self, text: &'a [u8]) -> B::Out {
        if text.starts_with(b"{") && json::members(text).nth(FEW_MEMBERS).is_none() {
            self.budget = Some(Budget::new(MAX_TREE));
            return self.map(text, false);
        }
        self.too_large(text)
    }

    fn too_large(&mut self, text: &[u8]) -> B::Out {
        self.builder.leaf(Leaf::TooLarge { bytes: text.len(), hash: hash_of(&text) })
    }

    /// Parses valid JSON. `in_data` means that it is a tool's own data, where the protocol's names have no meaning.
    fn value(&mut self, text: &'a [u8], in_data: bool) -> B::Out {
        let is_member = self.path.len() == 2;
        if self.budget.as_mut().filter(|_| is_member).is_some_and(|budget| budget.take(text).is_err()) {
            return self.too_large(text);
        }
        match text.first() {
            Some(b'{' | b'[') if self.path.len() > MAX_DEPTH => self.builder.leaf(Leaf::Raw(text)),
            Some(b'{') => self.map(text, in_data),
            Some(b'[') => self.list(text, in_data),
            Some(b'"') => self.text(text, in_data),
            Some(b't') => self.truth(true),
            Some(b'f') => self.truth(false),
            Some(b'n') => self.builder.leaf(Leaf::Null),
            _ => self.number(&String::from_utf8_lossy(text), in_data),
        }
    }

    fn list(&mut self, text: &'a [u8], in_data: bool) -> B::Out {
        let items = json::items(text).enumerate();
        let items = items.filter_map(|(at, item)| self.step(Step::Index(at), item, in_data, true)).collect();
        let is_here = |rule: &&Rule<'_>| rule.is_about(self.source, self.path.iter().map(Step::place));
        match self.by.unordered.iter().find(is_here) {
            Some(rule) => self.builder.set(items, rule.key),
            None => self.builder.list(items),
        }
    }

    /// Parses the value one level below. An ignored item of a list keeps its place; an ignored member is removed.
    fn step(&mut self, step: Step<'a>, text: &'a [u8], in_data: bool, keeps_place: bool) -> Option<B::Out> {
        let outside = self.trust;
        self.trust = self.trust_in(&step, in_data);
        self.path.push(step);
        let built = match self.is_ignored() {
            false => Some(self.value(text, in_data)),
            true => keeps_place.then(|| self.builder.leaf(Leaf::Ignored)),
        };
        self.path.pop();
        self.trust = outside;
        built
    }

    fn trust_in(&self, step: &Step<'_>, in_data: bool) -> Trust {
        match step {
            Step::Name(name) if !in_data && name == "_meta" => Trust::Meta,
            Step::Name(name) if !in_data && names::is_configuration(name) => Trust::Configuration,
            _ => self.trust,
        }
    }

    fn map(&mut self, text: &'a [u8], in_data: bool) -> B::Out {
        let mut members: Vec<(Cow<'a, str>, B::Out)> = Vec::new();
        let mut places: HashMap<Cow<'a, str>, usize> = HashMap::new();
        for member in json::members(text) {
            let name = match (member.key.contains(&b'\\'), self.surrogates(member.key)) {
                (_, Some(bytes)) => Cow::Owned(bytes.escape_ascii().to_string()),
                (true, None) => Cow::Owned(json::unescape(member.key)),
                (false, None) => String::from_utf8_lossy(member.key),
            };
            let below = in_data || matches!(&*name, "arguments" | "structuredContent" | "content" | "contents");
            let Some(built) = self.step(Step::Name(name.clone()), member.value, below, false) else { continue };
            if self.by.options.exact {
                members.push((name, built));
                continue;
            }
            // If a name occurs twice, the last member counts, as in JSON parsers.
            if members.len() == FEW_MEMBERS && places.is_empty() {
                places = members.iter().enumerate().map(|(place, (name, _))| (name.clone(), place)).collect();
            }
            let known = match places.is_empty() {
                true => members.iter().position(|(known, _)| *known == name),
                false => places.get(&name).copied(),
            };
            match known {
                Some(place) => members[place].1 = built,
                None => {
                    if !places.is_empty() {
                        places.insert(name.clone(), members.len());
                    }
                    members.push((name, built));
                }
            }
        }
        self.builder.map(members)
    }

    fn truth(&mut self, value: bool) -> B::Out {
        let follows = self.name().is_some_and(names::follows_from_time);
        if follows && self.accepts(Kind::Time) && matches!(self.trust, Trust::Server | Trust::Meta) {
            let text = if value { "true" } else { "false" };
            return self.builder.leaf(Leaf::Volatile { text, kind: Kind::Time, form: 0 });
        }
        self.builder.leaf(Leaf::Bool(value))
    }

    fn number(&mut self, text: &str, in_data: bool) -> B::Out {
        if self.is_reference() {
            return self.builder.leaf(Leaf::Reference(text));
        }
        if let Some((kind, form)) = self.known(text, in_data)
            && self.is_volatile(kind, text)
        {
            return self.builder.leaf(Leaf::Volatile { text, kind, form });
        }
        let value = if self.by.options.exact { None } else { decimal(text) };
        self.builder.leaf(Leaf::Number { text, value: value.as_deref().unwrap_or(text) })
    }

    fn text(&mut self, quoted: &'a [u8], in_data: bool) -> B::Out {
        let text = json::as_str(quoted).unwrap_or_default();
        if self.is_reference() {
            return self.builder.leaf(Leaf::Reference(&String::from_utf8_lossy(quoted)));
        }
        let inner = quoted.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or_default();
        if let Some(bytes) = self.surrogates(inner) {
            return self.builder.leaf(Leaf::Raw(&bytes));
        }
        if let Some((kind, form)) = self.known(&text, in_data)
            && self.is_volatile(kind, &text)
        {
            let span = Span { start: 0, end: text.len(), kind, form };
            return self.builder.leaf(Leaf::Prose { text: &text, spans: &[span] });
        }
        if let Some(inner) = self.opened(&text) {
            return self.builder.json(&text, inner);
        }
        if let Some(inner) = self.decoded(&text) {
            return self.builder.json(&text, inner);
        }
        let spans = self.volatile_parts(&text);
        let text = &*text;
        self.builder.leaf(if spans.is_empty() { Leaf::Text(text) } else { Leaf::Prose { text, spans: &spans } })
    }

    /// Returns the bytes of a string with lone surrogates, which no text can represent, if they are compared.
    fn surrogates(&self, inner: &[u8]) -> Option<Vec<u8>> {
        if self.by.options.exact { json::with_lone_surrogates(inner) } else { None }
    }

    /// Decodes a text in base64 that has volatile parts.
    fn decoded(&mut self, text: &str) -> Option<B::Out> {
        if self.by.options.exact || !self.holds_data() {
            return None;
        }
        let decoded = text_in_base64(text)?;
        let spans = self.spans_of(&decoded);
        (!spans.is_empty()).then(|| self.builder.leaf(Leaf::Prose { text: &decoded, spans: &spans }))
    }

    /// Returns whether the value here may be base64, because of its name.
    fn holds_data(&self) -> bool {
        self.name().is_some_and(|name| matches!(name, "data" | "blob"))
    }

    /// Returns the parts of a text that are volatile here.
    fn volatile_parts(&mut self, text: &str) -> Vec<Span> {
        // What looks like a token in base64 is not one.
        let is_data = self.holds_data() && !text.contains(' ') && text.len() > MAX_OPAQUE;
        if self.by.options.exact || is_data { Vec::new() } else { self.spans_of(text) }
    }

    fn spans_of(&mut self, text: &str) -> Vec<Span> {
        if self.by.options.keep_times && self.by.options.keep_ids {
            return Vec::new();
        }
        let mut spans = self.lookup.find(text);
        if !spans.is_empty() {
            let is_setting = self.name().is_some_and(names::names_a_setting);
            spans.retain(|span| {
                !(is_setting && span.kind == Kind::Duration) && self.accepts(span.kind) && self.is_made(*span, text)
            });
        }
        spans
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
            (Trust::Meta, _) | (_, Kind::Folder) => true,
            (Trust::Configuration, _) => false,
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
    fn opened(&mut self, text: &str) -> Option<B::Out> {
        let mut back = self.path.iter().rev();
        let is_text = back.next().is_some_and(|step| step.is("text"));
        let in_content = back.take(2).any(|step| step.is("content") || step.is("contents"));
        let begins = text.trim_ascii_start().starts_with(['{', '[']);
        if self.by.options.exact || !is_text || !in_content || !begins || json::check(text.as_bytes()).is_err() {
            return None;
        }
        // What has too many values is a text like any other.
        if !is_comparable(text.as_bytes()) {
            return None;
        }
        let path = self.path.iter().map(Step::to_owned_step).collect();
        let (by, trust) = (self.by, self.trust);
        let (builder, lookup) = (&mut *self.builder, &mut *self.lookup);
        let mut walk = Walk { by, builder, source: self.source, reference: None, path, trust, lookup, budget: None };
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
        let is_here = |rule: &&Rule<'_>| rule.is_about(self.source, self.path.iter().map(Step::place));
        // Each of them that is about this place is noted.
        self.by.ignore.iter().filter(is_here).count() > 0
    }
}

/// Decodes base64, if that gives text: characters that people read.
fn text_in_base64(encoded: &str) -> Option<String> {
    let engine = GeneralPurpose::new(&alphabet::STANDARD, PADDED_OR_NOT);
    // Most data is binary, which its beginning shows.
    let beginning = encoded.as_bytes().get(..encoded.len().min(64) / 4 * 4)?;
    let is_binary = |bytes: Vec<u8>| bytes.iter().any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace());
    if encoded.len() < SHORTEST_BASE64 || engine.decode(beginning).map_or(true, is_binary) {
        return None;
    }
    let text = String::from_utf8(engine.decode(encoded).ok()?).ok()?;
    (!text.contains(|letter: char| letter.is_control() && !letter.is_whitespace())).then_some(text)
}

/// A shorter text in base64 has no room for a time. Unit: bytes.
const SHORTEST_BASE64: usize = 8;
const PADDED_OR_NOT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);

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
pub(super) fn decimal(text: &str) -> Option<Cow<'_, str>> {
    let is_plain = (1..=40).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_plain && (text.len() == 1 || !text.starts_with('0')) {
        return Some(Cow::Borrowed(text));
    }
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let short = digits.trim_end_matches('0');
    if short.is_empty() {
        return Some("0".into());
    }
    let exponent: i64 = exponent.parse().ok()?;
    let moved = i64::try_from(digits.len() - short.len()).ok()? - i64::try_from(fraction.len()).ok()?;
    let value = match exponent.checked_add(moved)? {
        zeros @ 0..=40 => format!("{sign}{short}{}", "0".repeat(usize::try_from(zeros).ok()?)),
        exponent => format!("{sign}{short}e{exponent}"),
    };
    Some(value.into())
}
