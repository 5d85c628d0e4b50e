//! Finds the changes within each pair of units, and creates the report.

use super::Options;
use super::align::{self, Alignment};
use super::correspondence::Correspondence;
use super::node::{Node, pieces, quote};
use super::normalise::{Normaliser, Source};
use super::order;
use super::places::Scoped;
use super::recording::{Recording, Unit};
use super::report::{Change, ChangeKind, PlaceUse, Report, Status, UnitDiff, UnitPlace, UnitSide};
use super::text::{self, Text, hunks};
use super::volatile::{Lookup, ValueKey};
use similar::{Algorithm, DiffOp, DiffTag};
use std::collections::{HashMap, HashSet};

/// Lists and texts that are longer than this (both sides together, without their common ends) are compared place by
/// place, because finding insertions takes quadratic time.
const MAX_COMPARED_LINES: usize = 8000;

/// The units whose texts a comparison needs, by the numbers of their first events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// On the left.
    pub left: HashSet<u64>,
    /// On the right.
    pub right: HashSet<u64>,
}

impl Missing {
    /// Notes which of two units have no texts. Returns whether both have them.
    fn look(&mut self, left: &Unit, right: &Unit) -> bool {
        self.left.extend((!left.has_texts).then_some(left.seq));
        self.right.extend((!right.has_texts).then_some(right.seq));
        left.has_texts && right.has_texts
    }

    fn is_empty(&self) -> bool {
        self.left.is_empty() && self.right.is_empty()
    }
}

/// Compares two recordings that were collected with the same options.
///
/// # Errors
///
/// If the recordings lack texts that it needs ([`Recording::fill`] adds them).
pub fn compare(left: &Recording, right: &Recording, options: &Options) -> Result<Report, Missing> {
    let mut alignment = align::outline(left, right, Correspondence::new(options.lists_volatile));
    let origins = (&left.origins, &right.origins);
    let places = PlaceUse::of(options, &left.used, &right.used);
    let (left, right) = (&left.units[..], &right.units[..]);
    let [on_left, on_right] = alignment.without_texts();
    let mut missing = Missing { left: on_left, right: on_right };
    if !missing.is_empty() {
        return Err(missing);
    }
    let normaliser = Normaliser::new(options);
    alignment.find_partners(&normaliser);
    alignment.restore_sides();
    alignment.match_ids();
    let pairs = alignment.pairs();
    let crossed = if options.order { order::crossed(left, right, &pairs) } else { HashSet::new() };
    let mut moved = if options.order { align::out_of_order(&pairs) } else { HashSet::new() };
    moved.extend(&crossed);
    let mut report = Report { places, ..Report::default() };
    let mut found: Vec<((usize, usize), UnitDiff)> = Vec::new();
    for (at, (one, other)) in pairs.into_iter().enumerate() {
        let changes = changes_of_pair(&mut alignment, one, other, &normaliser, options, &mut missing);
        let (status, count) = match (changes.is_empty(), moved.contains(&at)) {
            (true, false) => (None, &mut report.same),
            (true, true) => (Some(Status::Moved), &mut report.moved),
            (false, _) => (Some(Status::Changed), &mut report.changed),
        };
        *count += 1;
        if let Some(status) = status {
            let (left, right) = (UnitPlace::of(&left[one]), UnitPlace::of(&right[other]));
            let unit = describe(status, &alignment.left.units[one], Some(left), Some(right));
            let (moved, crossed) = (moved.contains(&at), crossed.contains(&at));
            found.push(((one, 0), UnitDiff { moved, crossed, changes, ..unit }));
        }
    }
    if !missing.is_empty() {
        return Err(missing);
    }
    for (place, unit) in left.iter().enumerate().filter(|(place, _)| alignment.left.partner[*place].is_none()) {
        report.only_left += 1;
        found.push(((place, 0), describe(Status::OnlyLeft, unit, Some(UnitPlace::of(unit)), None)));
    }
    // A unit that is on the right only comes after the partner of the unit before it.
    let mut after = 0;
    for (place, unit) in right.iter().enumerate() {
        if let Some(partner) = alignment.right.partner[place] {
            after = partner;
            continue;
        }
        report.only_right += 1;
        found.push(((after, place + 1), describe(Status::OnlyRight, unit, None, Some(UnitPlace::of(unit)))));
    }
    report.mapped = std::mem::take(&mut alignment.ids).mapped(origins.0, origins.1);
    found.sort_by_key(|(place, _)| *place);
    report.units = found.into_iter().map(|(_, unit)| unit).collect();
    Ok(report)
}

fn describe(status: Status, unit: &Unit, left: Option<UnitPlace>, right: Option<UnitPlace>) -> UnitDiff {
    UnitDiff {
        status,
        kind: unit.kind,
        direction: unit.direction,
        method: unit.method.as_deref().map(str::to_owned),
        subject: unit.subject.as_deref().map(str::to_owned),
        left,
        right,
        moved: false,
        crossed: false,
        patch: Vec::new(),
        changes: Vec::new(),
    }
}

fn changes_of_pair(
    alignment: &mut Alignment<'_>,
    left: usize,
    right: usize,
    normaliser: &Normaliser<'_>,
    options: &Options,
    missing: &mut Missing,
) -> Vec<Change> {
    let refer_to_partners = alignment.refer_to_partners(left, right);
    let (unit, twin) = (&alignment.left.units[left], &alignment.right.units[right]);
    let (one, other) = (&unit.print, &twin.print);
    let ids = &mut alignment.ids;
    let same_text = one.whole == other.whole;
    // Parse payloads again only if there is something to find.
    if same_text && refer_to_partners && !options.keep_ids {
        let values = || one.values.iter().copied().zip(other.values.iter().copied());
        let broken = values().filter(|(left, right)| !ids.accept(*left, *right)).count();
        if broken == 0 {
            values().for_each(|(left, right)| ids.count(left, right));
            return Vec::new();
        }
    }
    if !missing.look(unit, twin) {
        return Vec::new();
    }
    let mut comparer = Comparer {
        options,
        ids,
        refer_to_partners,
        side: UnitSide::Envelope,
        place: String::new(),
        changes: Vec::new(),
    };
    if options.keep_ids && unit.id != twin.id {
        comparer.place.push_str("/id");
        let text = |id: &Option<Box<str>>| id.as_deref().map(str::to_owned);
        comparer.change(ChangeKind::Changed, text(&unit.id), text(&twin.id));
        comparer.place.clear();
    }
    for (side, oddities) in [
        (UnitSide::Envelope, [&unit.oddities, &twin.oddities]),
        (UnitSide::Response, [unit, twin].map(|unit| unit.answer.as_ref().map_or(&None, |answer| &answer.oddities))),
    ] {
        comparer.side = side;
        comparer.oddities(oddities);
    }
    for side in [UnitSide::Params, UnitSide::Line, UnitSide::Result, UnitSide::Error] {
        comparer.side = side;
        let read = |unit: &Unit, origins| {
            let node = normaliser.read(unit.source(side), text_of(unit, side)?, &mut Lookup::Known(origins));
            Some(node).filter(|node| *node != Node::Ignored)
        };
        let (one, other) = (read(unit, alignment.left.origins), read(twin, alignment.right.origins));
        comparer.maybe(one.as_ref(), other.as_ref());
    }
    let mut changes = comparer.changes;
    let is_by_index =
        |place: &Scoped| place.pattern.has_index() && place.is_for(unit.method.as_deref(), unit.subject.as_deref());
    let by_index = options.ignore.iter().map(|text| Scoped::new(text)).filter(is_by_index);
    by_index.for_each(|place| changes.retain(|change| !place.pattern.covers(&change.pointer())));
    changes
}

/// Finds the changes between the params of two messages of clients with the same method, of whose runs nothing else is
/// known.
pub(crate) fn params_changes(
    source: Source<'_>,
    (left, right): (&[u8], &[u8]),
    options: &Options,
    lookup: &mut Lookup<'_>,
) -> Vec<Change> {
    let normaliser = Normaliser::new(options);
    let (side, mut ids) = (source.side, Correspondence::default());
    let (left, right) = (normaliser.read(source, left, lookup), normaliser.read(source, right, lookup));
    let (place, changes) = (String::new(), Vec::new());
    let mut comparer = Comparer { options, ids: &mut ids, refer_to_partners: true, side, place, changes };
    comparer.maybe(Some(&left), Some(&right));
    comparer.changes
}

fn text_of(unit: &Unit, side: UnitSide) -> Option<&[u8]> {
    match side {
        UnitSide::Envelope | UnitSide::Response => None,
        UnitSide::Params => unit.params.as_deref(),
        UnitSide::Line => unit.line.as_deref(),
        UnitSide::Result | UnitSide::Error => {
            let answer = unit.answer.as_ref()?;
            (answer.side() == side).then_some(&*answer.text)
        }
    }
}

/// Returns the names of members, and how many of the same name follow: the last one counts for JSON parsers.
fn numbered(members: &[(Box<str>, Node)]) -> Vec<(&str, usize)> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut names: Vec<(&str, usize)> = Vec::with_capacity(members.len());
    for (name, _) in members.iter().rev() {
        let count = counts.entry(name).or_default();
        names.push((name, *count));
        *count += 1;
    }
    names.reverse();
    names
}

/// Walks two trees and collects the differences.
struct Comparer<'c> {
    options: &'c Options,
    ids: &'c mut Correspondence,
    refer_to_partners: bool,
    side: UnitSide,
    place: String,
    changes: Vec<Change>,
}

impl Comparer<'_> {
    fn change(&mut self, kind: ChangeKind, left: Option<String>, right: Option<String>) {
        let (side, place) = (self.side, self.place.clone());
        let (alike, hunks) = ([0; 2], Vec::new());
        self.changes.push(Change { side, place, kind, left, right, alike, hunks, label: None, is_too_large: false });
    }

    /// Compares what is unusual about two envelopes, as JSON strings.
    fn oddities(&mut self, [left, right]: [&Option<Box<str>>; 2]) {
        let text = |oddities: &Option<Box<str>>| oddities.as_deref().map(quote);
        let kind = match (left, right) {
            (left, right) if left == right => return,
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Removed,
            _ => ChangeKind::Changed,
        };
        self.change(kind, text(left), text(right));
    }

    fn change_of(&mut self, kind: ChangeKind, left: Option<&Node>, right: Option<&Node>) {
        self.change(kind, left.map(Node::to_json), right.map(Node::to_json));
        let is_too_large = [left, right].into_iter().flatten().any(|node| matches!(node, Node::TooLarge { .. }));
        if let Some(change) = self.changes.last_mut() {
            change.is_too_large = is_too_large;
        }
    }

    fn maybe(&mut self, left: Option<&Node>, right: Option<&Node>) {
        match (left, right) {
            (None, None) => {}
            (Some(left), None) => self.change_of(ChangeKind::Removed, Some(left), None),
            (None, Some(right)) => self.change_of(ChangeKind::Added, None, Some(right)),
            (Some(left), Some(right)) => self.nodes(left, right),
        }
    }

    /// Compares the values below the member or index `step`.
    fn below(&mut self, step: &str, left: Option<&Node>, right: Option<&Node>) {
        let length = self.place.len();
        self.place.push('/');
        self.place.push_str(&step.replace('~', "~0").replace('/', "~1"));
        self.maybe(left, right);
        self.place.truncate(length);
    }

    fn nodes(&mut self, left: &Node, right: &Node) {
        let same = match (left, right) {
            (Node::Map(one), Node::Map(other)) => return self.maps(one, other),
            (Node::List(one), Node::List(other)) => return self.lists(one, other),
            (Node::Set { items: one, key }, Node::Set { items: other, .. }) => {
                return self.sets(key.as_deref(), one, other);
            }
            (Node::Json { text: one, inner }, Node::Json { text: other, inner: on_right }) => {
                let known = self.changes.len();
                self.nodes(inner, on_right);
                let is_encoded = [inner, on_right].iter().any(|inner| matches!(***inner, Node::Prose { .. }));
                let same = self.changes.len() == known;
                if is_encoded && !same {
                    // The values are what is on the wire.
                    self.changes.truncate(known);
                    self.texts(Text::plain(one), Text::plain(other));
                }
                return;
            }
            (Node::Prose { text: one, spans: in_one }, Node::Prose { text: other, spans: in_other }) => {
                return self.prose(Text { text: one, spans: in_one }, Text { text: other, spans: in_other });
            }
            (
                Node::Text(one) | Node::Json { text: one, .. } | Node::Prose { text: one, .. },
                Node::Text(other) | Node::Json { text: other, .. } | Node::Prose { text: other, .. },
            ) => return self.texts(Text::plain(one), Text::plain(other)),
            (Node::Raw(one), Node::Raw(other)) => match (std::str::from_utf8(one), std::str::from_utf8(other)) {
                (Ok(one), Ok(other)) => return self.texts(Text::plain(one), Text::plain(other)),
                _ => one == other,
            },
            (Node::Number { value: one, text }, Node::Number { value: other, text: on_right }) => {
                one == other || self.tolerates(text, on_right)
            }
            (
                Node::Volatile { text: one, kind, form },
                Node::Volatile { text: other, kind: on_right, form: form_on_right },
            ) => {
                kind == on_right
                    && form == form_on_right
                    && (self.accepts(ValueKey::new(*kind, one), ValueKey::new(*kind, other)) || one == other)
            }
            (Node::Volatile { text: one, .. }, Node::Number { text: other, .. })
            | (Node::Number { text: one, .. }, Node::Volatile { text: other, .. }) => one == other,
            (Node::Reference(_), Node::Reference(_)) => self.refer_to_partners,
            (Node::Ignored, _) | (_, Node::Ignored) => true,
            _ => left == right,
        };
        if !same {
            self.change_of(ChangeKind::Changed, Some(left), Some(right));
        }
    }

    fn maps(&mut self, left: &[(Box<str>, Node)], right: &[(Box<str>, Node)]) {
        let (on_left, on_right) = (numbered(left), numbered(right));
        let values: HashMap<(&str, usize), &Node> =
            on_right.iter().copied().zip(right).map(|(name, (_, value))| (name, value)).collect();
        for (name, (_, value)) in on_left.iter().zip(left) {
            self.below(name.0, Some(value), values.get(name).copied());
        }
        let known: HashSet<(&str, usize)> = on_left.iter().copied().collect();
        for (name, (_, value)) in on_right.iter().zip(right).filter(|(name, _)| !known.contains(*name)) {
            self.below(name.0, None, Some(value));
        }
        if self.options.exact {
            let names = on_left.iter().filter(|name| values.contains_key(*name)).map(|(name, _)| *name);
            let others = on_right.iter().filter(|name| known.contains(*name)).map(|(name, _)| *name);
            self.reordered(&names.collect::<Vec<_>>(), &others.collect::<Vec<_>>());
        }
    }

    fn reordered(&mut self, left: &[&str], right: &[&str]) {
        if left != right {
            let list =
                |names: &[&str]| format!("[{}]", names.iter().map(|name| quote(name)).collect::<Vec<_>>().join(","));
            self.change(ChangeKind::Reordered, Some(list(left)), Some(list(right)));
        }
    }

    fn lists(&mut self, left: &[Node], right: &[Node]) {
        let by_name = ["name", "uri", "id"]
            .into_iter()
            .find_map(|member| Some((names_of(left, member)?, names_of(right, member)?)));
        match by_name {
            Some((names, others)) => self.named_lists((left, &names), (right, &others)),
            None => self.plain_lists(left, right),
        }
    }

    /// Compares lists whose items have names: finds removed and added items, and changes in the others.
    fn named_lists(&mut self, left: (&[Node], &[&str]), right: (&[Node], &[&str])) {
        self.items_by_name(left, right);
        if self.options.exact || self.options.order || !self.is_of_listing() {
            let common = |names: &[&str], others: &[&str]| -> Vec<String> {
                let others: HashSet<&str> = others.iter().copied().collect();
                names.iter().filter(|name| others.contains(**name)).map(|name| (*name).to_owned()).collect()
            };
            let (names, others) = (common(left.1, right.1), common(right.1, left.1));
            self.reordered(
                &names.iter().map(String::as_str).collect::<Vec<_>>(),
                &others.iter().map(String::as_str).collect::<Vec<_>>(),
            );
        }
    }

    /// Whether the current place is in a list of what a side offers, which is a set. Any other order may mean something.
    fn is_of_listing(&self) -> bool {
        const LISTINGS: [&str; 5] = ["/tools", "/prompts", "/resources", "/resourceTemplates", "/roots"];
        let below = |list: &&str| self.place.strip_prefix(*list);
        self.side == UnitSide::Result
            && LISTINGS.iter().filter_map(below).any(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    fn items_by_name(&mut self, left: (&[Node], &[&str]), right: (&[Node], &[&str])) {
        let index: HashMap<&str, usize> = right.1.iter().enumerate().map(|(at, name)| (*name, at)).collect();
        let kept: HashSet<&str> = left.1.iter().copied().filter(|name| index.contains_key(name)).collect();
        for (at, (item, name)) in left.0.iter().zip(left.1).enumerate() {
            let partner = index.get(name).map(|at| &right.0[*at]);
            self.below(&at.to_string(), Some(item), partner);
        }
        for (at, (item, name)) in right.0.iter().zip(right.1).enumerate() {
            if !kept.contains(name) {
                self.below(&at.to_string(), None, Some(item));
            }
        }
    }

    fn plain_lists(&mut self, left: &[Node], right: &[Node]) {
        let print =
            |items: &[Node]| -> Vec<u64> { items.iter().map(|item| item.fingerprint(self.options.exact)).collect() };
        for (tag, on_left, on_right) in runs(&print(left), &print(right)) {
            let common = if tag == DiffTag::Equal { on_left.len() } else { on_left.len().min(on_right.len()) };
            for step in 0..common {
                let (at, other) = (on_left.start + step, on_right.start + step);
                self.below(&at.to_string(), Some(&left[at]), Some(&right[other]));
            }
            for (at, item) in left.iter().enumerate().take(on_left.end).skip(on_left.start + common) {
                self.below(&at.to_string(), Some(item), None);
            }
            for (at, item) in right.iter().enumerate().take(on_right.end).skip(on_right.start + common) {
                self.below(&at.to_string(), None, Some(item));
            }
        }
    }

    fn accepts(&mut self, left: ValueKey, right: ValueKey) -> bool {
        let is_accepted = self.ids.accept(left, right);
        if is_accepted {
            self.ids.count(left, right);
        }
        is_accepted
    }

    fn tolerates(&self, left: &str, right: &str) -> bool {
        let place = || format!("/{}{}", self.side.name(), self.place);
        !self.options.tolerance.is_empty()
            && self.options.tolerance.iter().any(|tolerance| tolerance.allows(&place(), left, right))
    }

    /// Compares texts with volatile parts.
    fn prose(&mut self, left: Text<'_>, right: Text<'_>) {
        if pieces(left.text, left.spans) == pieces(right.text, right.spans) {
            let spans = left.spans.iter().zip(right.spans);
            let broken = spans.filter(|(one, other)| !self.accepts(one.key(left.text), other.key(right.text))).count();
            if broken > 0 {
                self.texts(Text::plain(left.text), Text::plain(right.text));
            }
            return;
        }
        self.texts(left, right);
    }

    /// Compares lists whose order has no meaning: by a member that identifies an item, or by content.
    fn sets(&mut self, key: Option<&str>, left: &[Node], right: &[Node]) {
        if let Some(key) = key
            && let (Some(names), Some(others)) = (names_of(left, key), names_of(right, key))
        {
            return self.items_by_name((left, &names), (right, &others));
        }
        let mut free: HashMap<u64, Vec<usize>> = HashMap::new();
        for (at, item) in right.iter().enumerate().rev() {
            free.entry(item.fingerprint(false)).or_default().push(at);
        }
        let mut partner: Vec<Option<usize>> =
            left.iter().map(|item| free.get_mut(&item.fingerprint(false)).and_then(Vec::pop)).collect();
        let mut rest: Vec<usize> = free.into_values().flatten().collect();
        rest.sort_unstable();
        let mut rest = rest.into_iter();
        partner.iter_mut().filter(|partner| partner.is_none()).for_each(|partner| *partner = rest.next());
        for (at, (item, partner)) in left.iter().zip(partner).enumerate() {
            self.below(&at.to_string(), Some(item), partner.and_then(|at| right.get(at)));
        }
        for at in rest {
            self.below(&at.to_string(), None, right.get(at));
        }
    }

    /// Compares texts, line by line if they have several.
    fn texts(&mut self, left: Text<'_>, right: Text<'_>) {
        if left.text == right.text {
            return;
        }
        let lines = left.text.lines().count() + right.text.lines().count();
        let hunks = if lines > 2 && lines <= MAX_COMPARED_LINES { hunks(left, right) } else { Vec::new() };
        self.change(ChangeKind::Changed, Some(quote(left.text)), Some(quote(right.text)));
        if let Some(change) = self.changes.last_mut() {
            let [one, other] = text::alike(left, right);
            // Without the quotation mark at the end.
            let quoted = |text: &str, end: usize| match text.get(..end).unwrap_or_default() {
                "" => 0,
                beginning => quote(beginning).len() - 1,
            };
            change.alike = [quoted(left.text, one), quoted(right.text, other)];
            change.hunks = hunks;
        }
    }
}

/// Returns the names of a list's items, if each has its own.
fn names_of<'n>(items: &'n [Node], member: &str) -> Option<Vec<&'n str>> {
    let name = |item: &'n Node| match item {
        Node::Map(members) => members.iter().find(|(name, _)| **name == *member).and_then(|(_, value)| match value {
            Node::Text(text) | Node::Number { value: text, .. } => Some(&**text),
            _ => None,
        }),
        _ => None,
    };
    let names: Vec<&str> = items.iter().map(name).collect::<Option<_>>()?;
    let different: HashSet<&str> = names.iter().copied().collect();
    (different.len() == names.len()).then_some(names)
}

type Run = (DiffTag, std::ops::Range<usize>, std::ops::Range<usize>);

/// Returns the common runs of two lists of hashes, and the runs between them.
fn runs(left: &[u64], right: &[u64]) -> Vec<Run> {
    let head = left.iter().zip(right).take_while(|(one, other)| one == other).count();
    let rest = left[head..].iter().rev().zip(right[head..].iter().rev());
    let tail = rest.take_while(|(one, other)| one == other).count();
    let (one, other) = (head..left.len() - tail, head..right.len() - tail);
    let mut found = vec![(DiffTag::Equal, 0..head, 0..head)];
    if one.len() + other.len() > MAX_COMPARED_LINES || one.len().min(other.len()) < 2 {
        found.push((DiffTag::Replace, one.clone(), other.clone()));
    } else {
        let ops = similar::capture_diff_slices(Algorithm::Myers, &left[one.clone()], &right[other.clone()]);
        found.extend(
            ops.iter()
                .map(DiffOp::as_tag_tuple)
                .map(|(tag, one, other)| (tag, one.start + head..one.end + head, other.start + head..other.end + head)),
        );
    }
    found.push((DiffTag::Equal, one.end..left.len(), other.end..right.len()));
    found
}
