//! Finds secrets in a text and in what the text contains in another form: JSON in a string, base64, percent-encoding.

use super::json_text::{Spot, SpotKind, walk};
use super::known::Known;
use super::lanes::Part;
use super::mapped::{Edit, Mapped, applied, json_escaped, quoted_like};
use super::runs::{base64_runs, is_base64, json_blocks, json_objects, padded, runs, spaced, wrapped_runs};
use super::touched::Touched;
use crate::redact::detectors::{HIGH_ENTROPY, Severity};
use crate::redact::encoding::{decoded, may_be_text, percent_encoded};
use crate::redact::{Finder, Kind, Match, Pseudonyms, is_named_by};
use crate::wire::{json, random_words};
use memchr::memmem;
use rangemap::RangeSet;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::hash::BuildHasher;
use std::ops::Range;

/// Forms within forms are followed to this depth.
const DEEPEST: usize = 5;

/// The longest text that is remembered if nothing was found in it. Unit: bytes.
const LONGEST_REMEMBERED: usize = 96;
/// As many are remembered; with so many, all are forgotten.
const MAX_REMEMBERED: usize = 64 << 10;

/// Replaces secrets in texts.
pub(super) struct Replacer {
    pub finder: Finder,
    pub pseudonyms: Pseudonyms,
    pub known: Known,
    /// Whether pseudonyms are made. Who only learns or counts needs none.
    pub is_replacing: bool,
    /// Whether a text was searched that stands nowhere as it is, because an encoding hides it.
    pub has_hidden: Cell<bool>,
    /// Hashes of short texts, with what is known of them, in which nothing was found: most names and values of a session are
    /// repeated in every message.
    quiet: RefCell<HashSet<u64, foldhash::fast::RandomState>>,
}

/// Where a text is.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    /// The name that describes it.
    pub name: Option<&'a str>,
    /// The place, for reports and for the places that the user named.
    pub place: &'a dyn Fn() -> String,
    /// Parts of divided secrets in it.
    pub parts: &'a [Part],
    /// The only places in the message that count; `None` if all do.
    pub only: Option<&'a Touched>,
    depth: usize,
    /// Whether the text is the name of a member.
    is_name: bool,
    /// Whether the text is a value of JSON without quotes.
    is_scalar: bool,
    /// Whether the text is a variable of a program's environment, or a header.
    is_setting: bool,
    /// The secrets in it that something else gives away, such as the arguments before it.
    given_away: &'a [Match],
}

impl<'a> Context<'a> {
    /// The context of a text at a place.
    pub(super) fn at(place: &'a dyn Fn() -> String) -> Self {
        Self {
            name: None,
            place,
            parts: &[],
            only: None,
            depth: 0,
            is_name: false,
            is_scalar: false,
            is_setting: false,
            given_away: &[],
        }
    }

    /// The same with a name.
    pub(super) fn named(self, name: Option<&'a str>) -> Self {
        Self { name, ..self }
    }

    /// The same with parts of divided secrets.
    pub(super) fn with_parts(self, parts: &'a [Part]) -> Self {
        Self { parts, ..self }
    }

    /// The same with secrets that something else gives away.
    pub(super) fn giving_away(self, given_away: &'a [Match]) -> Self {
        Self { given_away, ..self }
    }

    /// The same for a message of which only these places count.
    pub(super) fn only_at(self, only: Option<&'a Touched>) -> Self {
        Self { only, ..self }
    }

    fn deeper(self) -> Self {
        Self { depth: self.depth + 1, parts: &[], only: None, given_away: &[], ..self }
    }

    /// Whether a place of a message counts.
    fn counts(&self, spot: &Spot<'_>) -> bool {
        let touches = |only: &Touched| {
            only.touch(&spot.with_previous()) || spot.name_range().is_some_and(|name| only.touch(name))
        };
        self.only.is_none_or(touches)
    }
}

/// A secret that was found.
pub(super) struct Found {
    /// The rule's number.
    pub rule: usize,
    /// Its place.
    pub place: String,
    /// The secret.
    pub secret: Vec<u8>,
}

impl Replacer {
    /// A replacer that knows no secret yet.
    pub(super) fn new(finder: Finder, pseudonyms: Pseudonyms) -> Self {
        Self {
            finder,
            pseudonyms,
            known: Known::default(),
            is_replacing: true,
            has_hidden: Cell::new(false),
            quiet: RefCell::default(),
        }
    }

    /// Returns what replaces a secret that a rule found.
    pub(super) fn replacement(&self, secret: &[u8], rule: usize) -> Vec<u8> {
        if self.is_replacing { self.pseudonym(secret, rule) } else { Vec::new() }
    }

    /// Returns the pseudonym of a secret that a rule found.
    pub(super) fn pseudonym(&self, secret: &[u8], rule: usize) -> Vec<u8> {
        let rule = self.known.rule_of(secret).unwrap_or(rule);
        let kind = self.finder.rule(rule).map_or(Kind::Password, |rule| rule.kind);
        // So that a comparison of redacted sessions takes the same values for random ones as that of the originals.
        self.pseudonyms.like(secret, kind, random_words::is_in)
    }

    /// Returns the edits of JSON text, or of any other text if it is not JSON. `parts` returns the parts of divided
    /// secrets in a string, by its number.
    pub(super) fn message(
        &self,
        text: &[u8],
        context: Context<'_>,
        parts: &dyn Fn(u32) -> Vec<Part>,
        found: &mut Vec<Found>,
    ) -> Vec<Edit> {
        let known = found.len();
        self.json(text, context, parts, found).unwrap_or_else(|| {
            found.truncate(known);
            self.text(text, Context { parts: &parts(0), ..context }, found)
        })
    }

    /// Returns the edits of JSON text; `None` if it is not JSON.
    fn json(
        &self,
        text: &[u8],
        context: Context<'_>,
        parts: &dyn Fn(u32) -> Vec<Part>,
        found: &mut Vec<Found>,
    ) -> Option<Vec<Edit>> {
        let mut edits = Vec::new();
        let mut number = 0;
        let is_json = walk(text, |spot| {
            number += 1;
            edits.extend(self.spot(spot, context, &parts(number), found));
        });
        is_json.then_some(edits)
    }

    fn spot(&self, spot: &Spot<'_>, context: Context<'_>, parts: &[Part], found: &mut Vec<Found>) -> Vec<Edit> {
        if !context.counts(spot) {
            return Vec::new();
        }
        let place = || format!("{}{}", (context.place)(), spot.pointer());
        let name = spot.own_name().filter(|own| self.finder.is_member(own));
        let name = name.or_else(|| named_by_previous(spot)).or_else(|| spot.name());
        let (is_name, is_scalar) = (spot.kind == SpotKind::Name, spot.kind == SpotKind::Scalar);
        let inner = Context {
            name: name.as_deref(),
            place: &place,
            parts,
            is_name,
            is_scalar,
            is_setting: spot.is_setting(),
            ..context
        };
        let shift = |edit: Edit| {
            let range = edit.range.start + spot.range.start..edit.range.end + spot.range.start;
            Edit { range, ..edit }
        };
        match spot.kind {
            SpotKind::Scalar if is_short_scalar(spot.contents()) => Vec::new(),
            SpotKind::Scalar => self.text(spot.contents(), inner, found).into_iter().map(shift).collect(),
            SpotKind::Name | SpotKind::Text => {
                let mapped = Mapped::json_string(spot.contents());
                if mapped.is_changed() && memmem::find(spot.contents(), b"\\u00").is_some() {
                    self.has_hidden.set(true);
                }
                let is_protocol = context.depth == 0 && is_of_protocol(spot);
                let name = inner.name.filter(|_| !is_name && !is_protocol);
                let argument = self.argument(spot, &mapped.text);
                let edits = self.text(&mapped.text, inner.named(name).giving_away(&argument), found);
                edits.into_iter().map(|edit| shift(mapped.original(edit, json_escaped))).collect()
            }
        }
    }

    /// Returns the secrets in an item of an array that the items before it give away, if they are a command line.
    fn argument(&self, spot: &Spot<'_>, text: &[u8]) -> Vec<Match> {
        let Some(line) = spot.command_line() else { return Vec::new() };
        let start = line.len();
        self.finder.find_argument(&[line.as_bytes(), text].concat(), start)
    }

    /// Returns the edits of a text.
    pub(super) fn text(&self, text: &[u8], context: Context<'_>, found: &mut Vec<Found>) -> Vec<Edit> {
        let is_special = !context.parts.is_empty() || !context.given_away.is_empty() || self.finder.has_pointers();
        if is_special || text.len() > LONGEST_REMEMBERED {
            return self.search(text, context, found);
        }
        let Context { name, depth, is_name, is_scalar, is_setting, .. } = context;
        let key = self.quiet.borrow().hasher().hash_one((name, depth, is_name, is_scalar, is_setting, text));
        if self.quiet.borrow().contains(&key) {
            return Vec::new();
        }
        let (before, had_hidden) = (found.len(), self.has_hidden.replace(false));
        let edits = self.search(text, context, found);
        if edits.is_empty() && found.len() == before && !self.has_hidden.get() {
            let mut quiet = self.quiet.borrow_mut();
            if quiet.len() == MAX_REMEMBERED {
                quiet.clear();
            }
            quiet.insert(key);
        }
        self.has_hidden.set(had_hidden || self.has_hidden.get());
        edits
    }

    /// Forgets the texts in which nothing was found, because more is a secret from now on, or less.
    pub(super) fn forget(&self) {
        self.quiet.borrow_mut().clear();
    }

    fn search(&self, text: &[u8], context: Context<'_>, found: &mut Vec<Found>) -> Vec<Edit> {
        if context.depth < DEEPEST
            && is_json(text)
            && let Some(edits) = self.json(text, context.deeper(), &|_| Vec::new(), found)
        {
            return edits;
        }
        let mut taken = Taken::new();
        let mut edits = Vec::new();
        for part in self.own_parts(text, context) {
            take(&mut taken, &part.range);
            edits.extend(part.text.map(|text| Edit { range: part.range, text }));
        }
        if context.depth < DEEPEST {
            self.json_in_text(text, context.deeper(), &mut taken, &mut edits, found);
            self.quoted(text, context.deeper(), &mut taken, &mut edits, found);
            self.percent_encoded(text, context.deeper(), &mut taken, &mut edits, found);
        }
        for one in self.matches(text, context, &taken) {
            take(&mut taken, &one.range);
            if !one.stays {
                let secret = &text[one.range.clone()];
                edits.push(Edit { text: self.replacement(secret, one.rule), range: one.range });
                found.push(Found { rule: one.rule, place: (context.place)(), secret: secret.to_vec() });
            }
        }
        if context.depth < DEEPEST {
            self.base64_encoded(text, context.deeper(), &taken, &mut edits, found);
        }
        edits.sort_by_key(|edit| edit.range.start);
        edits
    }

    /// Returns the parts of divided secrets in a text. Where a part overlaps a secret that goes on beyond it, it is not
    /// a part, but only looked like one together with the text before or after.
    fn own_parts(&self, text: &[u8], context: Context<'_>) -> Vec<Part> {
        let mut parts = context.parts.to_vec();
        if parts.is_empty() {
            return parts;
        }
        let is_certain = |found: &Match| self.finder.rule(found.rule).is_some_and(|rule| rule.severity > Severity::Low);
        for whole in self.matches(text, context, &Taken::new()).into_iter().filter(is_certain) {
            // No token goes on with the beginning of another one.
            parts.retain(|part| part.is_first || !overlap(&part.range, &whole.range));
            parts = parts.into_iter().flat_map(|part| part.without(&whole.range)).collect();
        }
        parts
    }

    /// Returns the secrets in a text: those whose place was named, those that a detector finds, and those that are known
    /// from elsewhere.
    fn matches(&self, text: &[u8], context: Context<'_>, taken: &Taken) -> Vec<Match> {
        let (mut all, mut own) = (Vec::new(), Taken::new());
        if !context.is_name
            && self.finder.has_pointers()
            && let Some(named) = self.finder.find_at(&(context.place)(), text)
        {
            take(&mut own, &named.range);
            all.push(named);
        }
        let found = match context.name {
            Some(name) => self.finder.find_named(name, context.is_setting, text),
            None => self.finder.find(text),
        };
        let after_percent = |one: Match| Match { range: after_percent(text, one.range.clone()), ..one };
        // A number is often a count or an id.
        let known = if context.is_scalar { Vec::new() } else { self.known.find(text) };
        let known = known.into_iter().map(|(range, rule)| Match { range, rule, stays: false });
        for one in context.given_away.iter().cloned().chain(found).map(after_percent).chain(known) {
            if !one.range.is_empty() && !own.overlaps(&one.range) {
                take(&mut own, &one.range);
                all.push(one);
            }
        }
        all.into_iter().flat_map(|one| self.apart(text, one, taken)).collect()
    }

    /// Returns the parts of a secret that are not taken already.
    fn apart(&self, text: &[u8], one: Match, taken: &Taken) -> Vec<Match> {
        let inside: Vec<&Range<usize>> = taken.overlapping(&one.range).collect();
        if inside.is_empty() {
            return vec![one];
        }
        let starts = std::iter::once(one.range.start).chain(inside.iter().map(|other| other.end));
        let ends = inside.iter().map(|other| other.start).chain([one.range.end]);
        let parts = starts.zip(ends).filter(|(start, end)| start < end).map(|(start, end)| start..end);
        let rule = self.finder.rule(one.rule);
        let kind = rule.map_or(Kind::Password, |rule| rule.kind);
        // Beside a token in a string that looks random is mostly its prefix.
        let is_by_chance = rule.is_some_and(|rule| rule.name == HIGH_ENTROPY);
        let is_secret = |part: &Range<usize>| !is_by_chance || !self.finder.find(&text[part.clone()]).is_empty();
        let stays = |part: &Range<usize>| one.stays || self.finder.stays(&text[part.clone()], kind);
        parts.filter(is_secret).map(|range| Match { stays: stays(&range), range, rule: one.rule }).collect()
    }

    /// Adds the edits of base64 of text.
    fn base64_encoded(
        &self,
        text: &[u8],
        context: Context<'_>,
        taken: &Taken,
        edits: &mut Vec<Edit>,
        found: &mut Vec<Found>,
    ) {
        let is_free = |range: &Range<usize>| !taken.overlaps(range);
        let wrapped = wrapped_runs(text);
        let data = if !self.known.is_searched() { Vec::new() } else { self.data_runs(text) };
        let (in_lines, in_data) = (all_of(&wrapped), all_of(&data));
        let is_whole = |range: &Range<usize>| !in_lines.overlaps(range);
        let is_text = |range: &Range<usize>| !in_data.overlaps(range);
        let whole = wrapped.iter().cloned().chain(data.iter().cloned());
        for range in whole.chain(base64_runs(text).filter(is_whole).filter(is_text)).filter(is_free) {
            let run: Vec<u8> = text[range.clone()].iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
            if run.len() < range.len() {
                self.has_hidden.set(true);
            }
            if !may_be_text(&run) && !self.known.is_searched() {
                continue;
            }
            let Some(inner) = decoded(&run) else { continue };
            if inner.is_text() {
                self.has_hidden.set(true);
            }
            let inner_edits = match inner.is_text() {
                true => self.text(&inner.text, context, found),
                // In other data, only what is known from elsewhere is certain.
                false => self.known_in(&inner.text, context, found),
            };
            if !inner_edits.is_empty() {
                let replaced = inner.encode(&applied(&inner.text, &inner_edits));
                edits.push(Edit { text: spaced(replaced, &text[range.clone()]), range });
            }
        }
    }

    /// Returns the places of base64 of data in which there is a known secret.
    fn data_runs(&self, text: &[u8]) -> Vec<Range<usize>> {
        let has_known = |range: &Range<usize>| {
            decoded(&text[range.clone()])
                .is_some_and(|inner| !inner.is_text() && !self.known.find(&inner.text).is_empty())
        };
        runs(text, is_base64).map(|range| padded(text, range)).filter(has_known).collect()
    }

    /// Returns the edits of known secrets in data.
    fn known_in(&self, data: &[u8], context: Context<'_>, found: &mut Vec<Found>) -> Vec<Edit> {
        let mut edits = Vec::new();
        for (range, rule) in self.known.find(data) {
            let secret = &data[range.clone()];
            if !self.finder.stays(secret, Kind::Password) {
                edits.push(Edit { text: self.replacement(secret, rule), range: range.clone() });
                found.push(Found { rule, place: (context.place)(), secret: secret.to_vec() });
            }
        }
        edits
    }

    /// Adds the edits of JSON in a text: lines and blocks of their own, and objects anywhere.
    fn json_in_text(
        &self,
        text: &[u8],
        context: Context<'_>,
        taken: &mut Taken,
        edits: &mut Vec<Edit>,
        found: &mut Vec<Found>,
    ) {
        let mut blocks = json_blocks(text);
        blocks.retain(|block| is_json(&text[block.clone()]));
        let own = all_of(&blocks);
        blocks.extend(json_objects(text).into_iter().filter(|object| !own.overlaps(object)));
        for block in blocks {
            let inner = &text[block.clone()];
            if taken.overlaps(&block) {
                continue;
            }
            for edit in self.json(inner, context, &|_| Vec::new(), found).into_iter().flatten() {
                let range = edit.range.start + block.start..edit.range.end + block.start;
                take(taken, &range);
                edits.push(Edit { range, ..edit });
            }
        }
    }

    /// Adds the edits of a text in which quotes are quoted as in CSV, XML and HTML, or as in strings of JSON.
    fn quoted(
        &self,
        text: &[u8],
        context: Context<'_>,
        taken: &mut Taken,
        edits: &mut Vec<Edit>,
        found: &mut Vec<Found>,
    ) {
        if let Some(mapped) = Mapped::unquoted(text) {
            self.has_hidden.set(true);
            let (quote, mut inner) = (quoted_like(text), Vec::new());
            let all = self.text(&mapped.text, context, &mut inner);
            let all = all.into_iter().map(|edit| mapped.original(edit, quote));
            add_free(all, inner, (taken, edits, found));
            // What stays, stays in this form, too.
            let stays = self.matches(&mapped.text, context, &Taken::new()).into_iter().filter(|one| one.stays);
            stays.for_each(|one| {
                take(taken, &mapped.original(Edit { range: one.range, text: Vec::new() }, quote).range)
            });
        }
        if memmem::find(text, b"{\\\"").is_some() {
            let mapped = Mapped::json_string(text);
            let (mut all, mut inner) = (Vec::new(), Vec::new());
            self.json_in_text(&mapped.text, context, &mut Taken::new(), &mut all, &mut inner);
            let all = all.into_iter().map(|edit| mapped.original(edit, json_escaped));
            add_free(all, inner, (taken, edits, found));
        }
    }

    /// Adds the edits of percent-encoded text. These come before all others, because a hexadecimal digit of `%2F` looks
    /// like a part of what follows.
    fn percent_encoded(
        &self,
        text: &[u8],
        context: Context<'_>,
        taken: &mut Taken,
        edits: &mut Vec<Edit>,
        found: &mut Vec<Found>,
    ) {
        if memchr::memchr(b'%', text).is_none() {
            return;
        }
        let is_percent = |range: &Range<usize>| text[range.clone()].contains(&b'%');
        // As a whole, for the names of its parameters, then each value, which may be a text of its own.
        let parts = |range: Range<usize>| {
            let inner = runs(&text[range.clone()], is_url_part).map({
                let start = range.start;
                move |part| start + part.start..start + part.end
            });
            std::iter::once(range.clone()).chain(inner.filter(move |part| *part != range))
        };
        for range in runs(text, is_url).filter(is_percent).flat_map(parts).filter(is_percent) {
            if taken.overlaps(&range) {
                continue;
            }
            // A plus sign is one of base64 or, in a form, a space.
            let run = &text[range.clone()];
            for is_form in [false, true] {
                if is_form && !run.contains(&b'+') {
                    break;
                }
                let mapped = Mapped::percent(run, is_form);
                if mapped.text.len() == range.len() {
                    break;
                }
                self.has_hidden.set(true);
                let shifted = |edit: Edit| {
                    let edit = mapped.original(edit, percent_encoded);
                    Edit { range: edit.range.start + range.start..edit.range.end + range.start, ..edit }
                };
                let mut inner_found = Vec::new();
                let inner =
                    self.text(&mapped.text, context, &mut inner_found).into_iter().map(shifted).collect::<Vec<_>>();
                let has_any = !inner.is_empty();
                add_free(inner.into_iter(), inner_found, (taken, edits, found));
                // What stays, stays in this form, too.
                let stays = self.matches(&mapped.text, context, &Taken::new()).into_iter().filter(|one| one.stays);
                stays.for_each(|one| take(taken, &shifted(Edit { range: one.range, text: Vec::new() }).range));
                if has_any {
                    break;
                }
            }
        }
    }
}

/// Adds the edits that overlap nothing that is taken, and what was found with them.
fn add_free(
    all: impl Iterator<Item = Edit>,
    inner: Vec<Found>,
    (taken, edits, found): (&mut Taken, &mut Vec<Edit>, &mut Vec<Found>),
) {
    let before = edits.len();
    edits.extend(all.filter(|edit| !taken.overlaps(&edit.range)));
    let added = &edits[before..];
    added.iter().for_each(|edit| take(taken, &edit.range));
    if !added.is_empty() {
        found.extend(inner);
    }
}

/// Returns the string before an item of an array, if it is the name of what looks like a secret.
fn named_by_previous<'a>(spot: &'a Spot<'_>) -> Option<Cow<'a, str>> {
    let value = || Mapped::json_string(spot.contents());
    spot.previous().filter(|name| spot.kind == SpotKind::Text && is_named_by(name, &value().text))
}

/// Leaves out the digits of a percent-encoded byte at the beginning of a range.
fn after_percent(text: &[u8], range: Range<usize>) -> Range<usize> {
    let digits = match text[..range.start] {
        [.., b'%'] => 2,
        [.., b'%', _] => 1,
        _ => 0,
    };
    (range.start + digits).min(range.end)..range.end
}

/// Places in a text that are taken already.
type Taken = RangeSet<usize>;

fn take(taken: &mut Taken, range: &Range<usize>) {
    if !range.is_empty() {
        taken.insert(range.clone());
    }
}

fn all_of(ranges: &[Range<usize>]) -> Taken {
    ranges.iter().filter(|range| !range.is_empty()).cloned().collect()
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Whether a value without quotes is one of JSON's, and no number that can be one of a card, or a PIN. Anything else is a
/// word of a text that is not JSON.
fn is_short_scalar(scalar: &[u8]) -> bool {
    let is_long = scalar.len() >= 4 && scalar.iter().all(u8::is_ascii_digit);
    let is_number = scalar.iter().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte));
    is_number && !is_long || matches!(scalar, b"true" | b"false" | b"null")
}

/// Whether a member is one of JSON-RPC's own, which no name makes a secret.
fn is_of_protocol(spot: &Spot<'_>) -> bool {
    spot.path.len() == 1 && matches!(spot.name().as_deref(), Some("method" | "jsonrpc" | "id"))
}

/// Whether a text is JSON with members or items.
fn is_json(text: &[u8]) -> bool {
    let inner = text.trim_ascii();
    inner.len() > 4
        && matches!((inner.first(), inner.last()), (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']')))
        && json::check(text).is_ok()
}

/// Whether a byte can be in a percent-encoded part of a URL.
fn is_url(byte: u8) -> bool {
    is_url_part(byte) || matches!(byte, b':' | b'/' | b'@' | b'?' | b'=' | b'&' | b'#')
}

/// The characters of an encoded value in a URL.
fn is_url_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'%' | b'-' | b'.' | b'_' | b'~' | b'+')
}
