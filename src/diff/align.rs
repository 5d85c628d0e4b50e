//! Which unit of one side is which of the other, told by what they are and not by their place or id.
//!
//! Units meet only under one key: direction, kind, method and subject. Under a key, first those meet that are the same
//! in params, answer and what refers to them, best with the ids and the request that fit what is known; then those with
//! the same params; then what is left, by how much their params have in common, in order. Requests go first, because
//! notifications refer to them.
//!
//! All but the last step take time in proportion to the units. The last one is quadratic, but only within what is left
//! of one key, and in windows of [`WINDOW`] units: beyond that, units meet within the same window only.

use super::exchange::{Unit, UnitKind};
use super::normalise::Normaliser;
use super::report::Side;
use crate::wire::Direction;
use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{Hash, Hasher};

/// How many units of a key are weighed against each other at a time.
pub const WINDOW: usize = 256;

/// How many leaves of a payload count for similarity.
const LEAVES: usize = 256;

/// What it is worth to pair two units of a key that have nothing in common, out of 1000 for twins.
const KINSHIP: u32 = 100;

/// What two units are compared by before they are looked into.
#[derive(Clone, Debug)]
pub(super) struct Print {
    params: u64,
    /// All of the unit; the same for units that differ in nothing but times and ids.
    pub whole: u64,
    /// The ids in it, in the same order for units with the same `whole`.
    pub ids: Vec<Box<str>>,
}

impl Print {
    fn of(unit: &Unit, normaliser: &Normaliser<'_>) -> Self {
        let mut ids = Vec::new();
        let method = unit.method.as_deref();
        let mut print = |side, text: &Option<Box<[u8]>>| {
            text.as_ref().map(|text| normaliser.fingerprint(&normaliser.read(side, method, text), &mut ids))
        };
        let params = print(Side::Params, &unit.params);
        let line = print(Side::Line, &unit.line);
        let answer = unit.answer.as_ref().map(|answer| {
            let side = answer_side(answer.is_error);
            (side, normaliser.fingerprint(&normaliser.read(side, method, &answer.text), &mut ids))
        });
        let hash = |what: &dyn Fn(&mut DefaultHasher)| {
            let mut hasher = DefaultHasher::new();
            what(&mut hasher);
            hasher.finish()
        };
        Self {
            params: hash(&|hasher| params.hash(hasher)),
            whole: hash(&|hasher| (params, line, answer).hash(hasher)),
            ids,
        }
    }
}

pub(super) fn answer_side(is_error: bool) -> Side {
    if is_error { Side::Error } else { Side::Result }
}

/// Ids of the left and the ids of the right that stand for the same things.
#[derive(Debug, Default)]
pub(super) struct Correspondence {
    forward: HashMap<Box<str>, Box<str>>,
    backward: HashMap<Box<str>, Box<str>>,
}

impl Correspondence {
    /// Whether the two ids may be the same thing. The first that is said of an id holds from then on.
    pub fn accept(&mut self, left: &str, right: &str) -> bool {
        match (self.forward.get(left), self.backward.get(right)) {
            (None, None) => {
                self.forward.insert(left.into(), right.into());
                self.backward.insert(right.into(), left.into());
                true
            }
            (Some(known), Some(_)) => **known == *right,
            _ => false,
        }
    }

    /// The id of the right that a left one stands for; unknown ids stand for themselves, unless those are taken.
    fn expected<'a>(&'a self, left: &'a str) -> Option<&'a str> {
        match self.forward.get(left) {
            Some(known) => Some(known),
            None => (!self.backward.contains_key(left)).then_some(left),
        }
    }
}

/// One recording while it is aligned.
pub(super) struct Reel<'a> {
    pub units: &'a [Unit],
    pub prints: Vec<Print>,
    places: HashMap<u64, usize>,
    /// For each unit, a hash of what refers to it: two calls that say the same may differ in their progress.
    company: Vec<u64>,
    /// The unit's partner on the other side.
    pub partner: Vec<Option<usize>>,
}

impl<'a> Reel<'a> {
    fn new(units: &'a [Unit], normaliser: &Normaliser<'_>) -> Self {
        let requests = units.iter().enumerate().filter(|(_, unit)| unit.kind == UnitKind::Request);
        let mut reel = Self {
            units,
            prints: units.iter().map(|unit| Print::of(unit, normaliser)).collect(),
            places: requests.map(|(place, unit)| (unit.seq, place)).collect(),
            company: vec![0; units.len()],
            partner: vec![None; units.len()],
        };
        for place in 0..units.len() {
            if let Some(target) = reel.target(place) {
                let mut hasher = DefaultHasher::new();
                (reel.company[target], reel.prints[place].whole).hash(&mut hasher);
                reel.company[target] = hasher.finish();
            }
        }
        reel
    }

    /// The place of the request that a unit belongs to.
    fn target(&self, place: usize) -> Option<usize> {
        self.units[place].refers.and_then(|seq| self.places.get(&seq)).copied()
    }
}

/// Both recordings, and who is whose partner.
pub(super) struct Alignment<'a> {
    pub left: Reel<'a>,
    pub right: Reel<'a>,
    pub ids: Correspondence,
}

#[derive(PartialEq, Eq, Hash)]
struct Key<'a>(Direction, UnitKind, Option<&'a str>, Option<&'a str>);

impl<'a> Key<'a> {
    fn of(unit: &'a Unit) -> Self {
        let subject = unit.subject.as_deref().filter(|_| !unit.subject_is_volatile);
        Self(unit.direction, unit.kind, unit.method.as_deref(), subject)
    }
}

/// The units of one key that have no partner yet.
#[derive(Debug, Default)]
struct Group {
    left: Vec<usize>,
    right: Vec<usize>,
}

/// Finds every unit's partner.
pub(super) fn align<'a>(left: &'a [Unit], right: &'a [Unit], normaliser: &Normaliser<'_>) -> Alignment<'a> {
    let (left, right) = (Reel::new(left, normaliser), Reel::new(right, normaliser));
    let mut alignment = Alignment { left, right, ids: Correspondence::default() };
    for wants_requests in [true, false] {
        for mut group in alignment.groups(wants_requests) {
            let whole = |it: &Alignment<'a>, is_left: bool, place: usize| {
                let reel = if is_left { &it.left } else { &it.right };
                (reel.prints[place].whole, reel.company[place])
            };
            alignment.meet(&mut group, |it, is_left, place| (whole(it, is_left, place), it.tie(is_left, place)));
            alignment.meet(&mut group, whole);
            alignment.meet(&mut group, |it, is_left, place| it.print(is_left, place).whole);
            alignment.meet(&mut group, |it, is_left, place| it.print(is_left, place).params);
            alignment.meet_by_likeness(&group, normaliser);
        }
    }
    alignment
}

impl<'a> Alignment<'a> {
    /// The units by key, in the order of the keys' first units.
    fn groups(&self, wants_requests: bool) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let mut known: HashMap<Key<'a>, usize> = HashMap::new();
        let mut put = |units: &'a [Unit], is_left: bool| {
            for (place, unit) in units.iter().enumerate() {
                if (unit.kind == UnitKind::Request) != wants_requests {
                    continue;
                }
                let at = *known.entry(Key::of(unit)).or_insert(groups.len());
                if at == groups.len() {
                    groups.push(Group::default());
                }
                let group = &mut groups[at];
                if is_left { group.left.push(place) } else { group.right.push(place) }
            }
        };
        put(self.left.units, true);
        put(self.right.units, false);
        groups.retain(|group| !group.left.is_empty() && !group.right.is_empty());
        groups
    }

    fn print(&self, is_left: bool, place: usize) -> &Print {
        if is_left { &self.left.prints[place] } else { &self.right.prints[place] }
    }

    /// What a unit is tied to, in the right side's terms: its ids, and the request it belongs to.
    fn tie(&self, is_left: bool, place: usize) -> (Vec<Option<Box<str>>>, Option<usize>) {
        let ids = self.print(is_left, place).ids.iter();
        if is_left {
            let target = self.left.target(place).and_then(|target| self.left.partner[target]);
            (ids.map(|id| self.ids.expected(id).map(Into::into)).collect(), target)
        } else {
            let target = self.right.target(place).filter(|target| self.right.partner[*target].is_some());
            (ids.map(|id| Some(id.clone())).collect(), target)
        }
    }

    /// Pairs the units of a group for which `by` says the same, in order, and takes them out of the group.
    fn meet<K: Hash + Eq>(&mut self, group: &mut Group, by: impl Fn(&Self, bool, usize) -> K) {
        let mut waiting: HashMap<K, VecDeque<usize>> = HashMap::new();
        for place in &group.right {
            waiting.entry(by(self, false, *place)).or_default().push_back(*place);
        }
        let left: Vec<_> = group.left.iter().map(|place| (*place, by(self, true, *place))).collect();
        for (place, key) in left {
            if let Some(partner) = waiting.get_mut(&key).and_then(VecDeque::pop_front) {
                self.pair(place, partner);
            }
        }
        group.left.retain(|place| self.left.partner[*place].is_none());
        group.right.retain(|place| self.right.partner[*place].is_none());
    }

    fn pair(&mut self, left: usize, right: usize) {
        self.left.partner[left] = Some(right);
        self.right.partner[right] = Some(left);
        let (one, other) = (&self.left.prints[left], &self.right.prints[right]);
        if one.whole == other.whole {
            for (left, right) in one.ids.iter().zip(&other.ids) {
                self.ids.accept(left, right);
            }
        }
    }

    fn meet_by_likeness(&mut self, group: &Group, normaliser: &Normaliser<'_>) {
        for (left, right) in group.left.chunks(WINDOW).zip(group.right.chunks(WINDOW)) {
            let leaves = |units: &[Unit], places: &[usize]| -> Vec<_> {
                places.iter().map(|place| leaves(&units[*place], normaliser)).collect()
            };
            let best = best_pairs(&leaves(self.left.units, left), &leaves(self.right.units, right));
            best.into_iter().for_each(|(at, other)| self.pair(left[at], right[other]));
        }
    }

    /// The pairs, in the left side's order.
    pub fn pairs(&self) -> Vec<(usize, usize)> {
        let partners = self.left.partner.iter().enumerate();
        partners.filter_map(|(place, partner)| Some((place, (*partner)?))).collect()
    }

    /// Whether two paired units belong to the same request: to partners, or to requests that have none.
    pub fn refer_alike(&self, left: usize, right: usize) -> bool {
        match (self.left.target(left), self.right.target(right)) {
            (Some(left), Some(right)) => {
                let lonely = self.left.partner[left].is_none() && self.right.partner[right].is_none();
                self.left.partner[left] == Some(right) || lonely
            }
            (left, right) => left.is_none() && right.is_none(),
        }
    }
}

fn leaves(unit: &Unit, normaliser: &Normaliser<'_>) -> Vec<u64> {
    let method = unit.method.as_deref();
    let answer = unit.answer.as_ref().filter(|_| unit.kind == UnitKind::Orphan);
    let sides = [
        unit.params.as_ref().map(|text| (Side::Params, text)),
        unit.line.as_ref().map(|text| (Side::Line, text)),
        answer.map(|answer| (answer_side(answer.is_error), &answer.text)),
    ];
    let nodes = sides.into_iter().flatten().map(|(side, text)| normaliser.read(side, method, text));
    nodes.flat_map(|node| node.leaves(LEAVES)).collect()
}

/// The pairs with the most in common that keep the order of both sides.
fn best_pairs(left: &[Vec<u64>], right: &[Vec<u64>]) -> Vec<(usize, usize)> {
    let width = right.len() + 1;
    let worth: Vec<u32> =
        left.iter().flat_map(|one| right.iter().map(|other| KINSHIP + likeness(one, other))).collect();
    let pair = |at: usize, other: usize| worth[(at - 1) * right.len() + other - 1];
    let mut best = vec![0u32; (left.len() + 1) * width];
    for at in 1..=left.len() {
        for other in 1..=right.len() {
            let met = best[(at - 1) * width + other - 1] + pair(at, other);
            best[at * width + other] = met.max(best[(at - 1) * width + other]).max(best[at * width + other - 1]);
        }
    }
    let (mut at, mut other) = (left.len(), right.len());
    let mut pairs = Vec::new();
    while at > 0 && other > 0 {
        let here = best[at * width + other];
        let (up, back) = (best[(at - 1) * width + other], best[at * width + other - 1]);
        if here == best[(at - 1) * width + other - 1] + pair(at, other) {
            at -= 1;
            other -= 1;
            pairs.push((at, other));
        } else if up > back || (up == back && left[at - 1] <= right[other - 1]) {
            // Equal ways are told apart by content, so that swapping the sides swaps the outcome.
            at -= 1;
        } else {
            other -= 1;
        }
    }
    pairs
}

/// How much two sorted lists have in common, out of 1000.
fn likeness(one: &[u64], other: &[u64]) -> u32 {
    let total = one.len() + other.len();
    if total == 0 {
        return 1000;
    }
    let (mut at, mut across, mut common) = (0, 0, 0usize);
    while at < one.len() && across < other.len() {
        match one[at].cmp(&other[across]) {
            std::cmp::Ordering::Less => at += 1,
            std::cmp::Ordering::Greater => across += 1,
            std::cmp::Ordering::Equal => {
                common += 1;
                at += 1;
                across += 1;
            }
        }
    }
    // Squared, so that one close match outweighs two that share no more than their tool's name.
    let shared = 2000 * common / total;
    u32::try_from(shared * shared / 1000).unwrap_or(1000)
}

/// The places in `pairs` that are out of order: all but a longest run in which the right side ascends too.
pub(super) fn out_of_order(pairs: &[(usize, usize)]) -> HashSet<usize> {
    let mut tails: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (place, pair) in pairs.iter().enumerate() {
        let at = tails.partition_point(|tail| pairs[*tail].1 < pair.1);
        before.push(at.checked_sub(1).map(|at| tails[at]));
        if at == tails.len() { tails.push(place) } else { tails[at] = place }
    }
    let mut moved: HashSet<usize> = (0..pairs.len()).collect();
    let mut next = tails.last().copied();
    while let Some(place) = next {
        moved.remove(&place);
        next = before[place];
    }
    moved
}
