//! Finds the partner of each unit on the other side, by content and position.
//!
//! 1. The sequences of both sides are aligned ([`sequence`](super::sequence)): equal units match. Other units are
//!    paired as changed if they have the same key (direction, kind, method and subject) and enough in common. Streams are
//!    aligned first, since their interleaving differs from run to run.
//!
//! 2. Messages that belong to a request (its progress, its cancellation) are aligned with those of the request's
//!    partner.
//!
//! 3. A unit without a partner has moved if it equals exactly one such unit on the other side. If several are equal, or
//!    if it has changed as well, it may only have moved past messages that were concurrent with it, or past two others.
//!    All remaining units are on one side only.

mod ground;
mod likeness;
mod streams;

use super::build::hash_of;
use super::correspondence::Correspondence;
use super::normalise::Normaliser;
use super::print::Print;
use super::recording::{Recording, Unit, UnitKind};
use super::sequence;
use super::volatile::Origins;
use ground::{Ground, NEAR};
use likeness::Leaves;
use std::collections::BTreeMap;
use streams::{partner_streams, streams_of};

/// The tables have an entry for nearly every unit, so the standard hash would be too slow.
type HashMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;
type HashSet<T> = std::collections::HashSet<T, foldhash::fast::RandomState>;

/// The similarity at which two units may be one unit that changed, out of 1000.
const ALIKE: usize = 250;

/// The similarity of units of which only a detail changed, out of 1000.
const VERY_ALIKE: usize = 700;

/// The similarity at which a unit may have moved and changed, out of 1000: at another place, less is a coincidence.
const MOVED_ALIKE: usize = 800;

/// The similarity of units that are equal except for the response, or for messages that belong to the request.
const EQUAL_PARAMS: usize = 1001;

/// The price of a pair in which only the response differs, or messages that belong to the request.
const SAME_PARAMS: u8 = 2;

/// The price of a very similar pair.
const DETAIL: u8 = 5;

/// The number of units that any unit may have moved past.
const SHORT: usize = 2;

/// One recording during the alignment.
pub(super) struct Reel<'a> {
    pub units: &'a [Unit],
    pub origins: &'a Origins,
    places: HashMap<u64, usize>,
    /// For each unit, a hash of the messages that refer to it: equal calls may differ in their progress.
    company: Vec<u64>,
    /// The partner of each unit on the other side.
    pub partner: Vec<Option<usize>>,
}

impl<'a> Reel<'a> {
    fn new(recording: &'a Recording) -> Self {
        let units = &recording.units[..];
        let requests = units.iter().enumerate().filter(|(_, unit)| unit.kind == UnitKind::Request);
        let mut reel = Self {
            units,
            origins: &recording.origins,
            places: requests.map(|(place, unit)| (unit.seq, place)).collect(),
            company: vec![0; units.len()],
            partner: vec![None; units.len()],
        };
        for place in 0..units.len() {
            if let Some(target) = reel.target(place) {
                reel.company[target] = hash_of(&(reel.company[target], reel.units[place].print.whole));
            }
        }
        reel
    }

    /// Returns the place of the request that a unit belongs to.
    fn target(&self, place: usize) -> Option<usize> {
        self.units[place].refers.and_then(|seq| self.places.get(&seq)).copied()
    }

    /// Returns the units without a partner: those that belong to requests, or the others.
    fn lonely(&self, of_requests: bool) -> Vec<usize> {
        let partners = self.partner.iter().enumerate().filter(|(_, partner)| partner.is_none());
        partners.map(|(place, _)| place).filter(|place| self.target(*place).is_some() == of_requests).collect()
    }

    /// Returns a hash of a unit's content and of the messages that belong to it.
    fn token(&self, place: usize) -> u64 {
        hash_of(&(self.units[place].print.of_message(), self.company[place]))
    }

    fn tokens(&self, places: &[usize]) -> Vec<u64> {
        places.iter().map(|place| self.token(*place)).collect()
    }

    /// Returns the number of the event that ends a unit: a request's response, else its own.
    fn end(&self, place: usize) -> u64 {
        let unit = &self.units[place];
        unit.answer.as_ref().map_or(unit.seq, |answer| answer.seq)
    }

    /// Returns whether the units at these two places were in progress at the same time.
    fn is_concurrent(&self, place: usize, other: usize) -> bool {
        let (first, second) = (place.min(other), place.max(other));
        self.end(first) > self.units[second].seq
    }
}

/// Both recordings, and the partners of their units.
pub(super) struct Alignment<'a> {
    pub left: Reel<'a>,
    pub right: Reel<'a>,
    pub ids: Correspondence,
    /// For streams on the right, the corresponding stream on the left.
    streams: HashMap<u32, u32>,
    /// The units of each side that belong to no request, with corresponding streams in the same order.
    lined_up: [Vec<usize>; 2],
    /// How many units on the left and on the right have each content.
    counts: HashMap<Message, [u32; 2]>,
    /// Contents that may have changed, each with the data for measuring similarity, once it was computed.
    candidates: HashMap<Message, Candidate>,
    /// The sides are swapped: the caller's left is on the right.
    is_swapped: bool,
}

/// The content of a unit; see [`Print::of_message`].
type Message = (u64, u64);

/// A content that may have changed: the first unit that has it, on the left or on the right.
struct Candidate {
    is_left: bool,
    place: usize,
    leaves: Option<Leaves>,
}

/// Prepares two recordings without looking at their texts. Ties are resolved by side, so swapping the sides would give
/// other partners. Therefore this puts the sides into a fixed order, and [`Alignment::restore_sides`] restores the
/// caller's.
pub(super) fn outline<'a>(left: &'a Recording, right: &'a Recording, ids: Correspondence) -> Alignment<'a> {
    let (left, right) = (Reel::new(left), Reel::new(right));
    let tokens = |reel: &Reel<'a>| (0..reel.units.len()).map(|place| reel.token(place)).collect::<Vec<_>>();
    let is_swapped = tokens(&left) > tokens(&right);
    let (left, right) = if is_swapped { (right, left) } else { (left, right) };
    let streams = partner_streams(&left, &right);
    let counts = count_messages(left.units, right.units);
    let mut it = Alignment {
        left,
        right,
        ids,
        streams,
        lined_up: [const { Vec::new() }; 2],
        counts,
        candidates: HashMap::default(),
        is_swapped,
    };
    it.lined_up = it.line_up();
    it.candidates = it.find_candidates();
    it
}

impl Alignment<'_> {
    /// Returns the units of both sides that belong to no request, stream by stream. The streams with most in common are
    /// at corresponding places.
    fn line_up(&self) -> [Vec<usize>; 2] {
        let order_of = |reel: &Reel<'_>, rank: &dyn Fn(u32) -> Option<usize>| {
            let mut last = 0;
            let mut ranks: HashMap<u32, (usize, usize)> = HashMap::default();
            let mut places: Vec<_> = (0..reel.units.len()).filter(|place| reel.target(*place).is_none()).collect();
            for place in &places {
                let seen = ranks.len();
                // A stream without a partner comes after the one that began before it.
                ranks.entry(reel.units[*place].stream).or_insert_with_key(|stream| {
                    last = rank(*stream).unwrap_or(last);
                    (last, seen)
                });
            }
            places.sort_by_key(|place| ranks[&reel.units[*place].stream]);
            places
        };
        let streams = streams_of(&self.left);
        let rank = |stream: u32| streams.iter().position(|known| *known == stream);
        let on_left = order_of(&self.left, &rank);
        let on_right = order_of(&self.right, &|stream| self.streams.get(&stream).and_then(|stream| rank(*stream)));
        [on_left, on_right]
    }

    /// Returns contents that have no equal at their place, or that are more frequent on one side.
    fn find_candidates(&self) -> HashMap<Message, Candidate> {
        let [left, right] = &self.lined_up;
        let equal = sequence::align(&self.left.tokens(left), &self.right.tokens(right), &mut |_, _| None);
        let mut is_equal = [vec![false; left.len()], vec![false; right.len()]];
        for (at, other) in equal {
            is_equal[0][at] = true;
            is_equal[1][other] = true;
        }
        let others = |places: &[usize], is_equal: &[bool], reel: &Reel<'_>| -> Vec<Message> {
            let places = places.iter().zip(is_equal).filter(|(_, is_equal)| !**is_equal);
            places.map(|(place, _)| reel.units[*place].print.of_message()).collect()
        };
        let unbalanced = self.counts.iter().filter(|(_, [left, right])| left != right);
        let mut wanted: HashSet<Message> = unbalanced.map(|(message, _)| *message).collect();
        wanted.extend(others(left, &is_equal[0], &self.left));
        wanted.extend(others(right, &is_equal[1], &self.right));
        let mut found = HashMap::default();
        for (is_left, reel) in [(true, &self.left), (false, &self.right)] {
            for (place, unit) in reel.units.iter().enumerate() {
                let message = unit.print.of_message();
                if wanted.contains(&message) {
                    found.entry(message).or_insert(Candidate { is_left, place, leaves: None });
                }
            }
        }
        found
    }

    /// Returns the units on the left and on the right whose texts are needed, but missing.
    pub(super) fn without_texts(&self) -> [std::collections::HashSet<u64>; 2] {
        let [left, right] = [(true, &self.left), (false, &self.right)].map(|(is_left, reel)| {
            let places = self.candidates.values().filter(|it| it.is_left == is_left).map(|it| &reel.units[it.place]);
            places.filter(|unit| !unit.has_texts).map(|unit| unit.seq).collect()
        });
        if self.is_swapped { [right, left] } else { [left, right] }
    }

    /// Restores the caller's sides, once all partners are found.
    pub(super) fn restore_sides(&mut self) {
        if std::mem::take(&mut self.is_swapped) {
            std::mem::swap(&mut self.left, &mut self.right);
        }
    }

    /// Finds the partner of every unit.
    pub(super) fn find_partners(&mut self, normaliser: &Normaliser<'_>) {
        let [on_left, on_right] = std::mem::take(&mut self.lined_up);
        self.align_parts(&on_left, &on_right, normaliser);
        self.find_moved(normaliser, false);
        self.align_dependents(normaliser);
        self.find_moved(normaliser, true);
    }

    /// Aligns some units of both sides, given by their places.
    fn align_parts(&mut self, left: &[usize], right: &[usize], normaliser: &Normaliser<'_>) {
        let (on_left, on_right) = (self.left.tokens(left), self.right.tokens(right));
        let mut price = |at: usize, other: usize| self.price(left[at], right[other], normaliser);
        let pairs = sequence::align(&on_left, &on_right, &mut price);
        pairs.into_iter().for_each(|(at, other)| self.pair(left[at], right[other]));
    }

    /// Returns the price of pairing two units as changed.
    fn price(&mut self, left: usize, right: usize, normaliser: &Normaliser<'_>) -> Option<u8> {
        match self.likeness(left, right, normaliser)? {
            EQUAL_PARAMS => Some(SAME_PARAMS),
            VERY_ALIKE.. => Some(DETAIL),
            ALIKE.. => Some(sequence::MAX_SUBSTITUTION),
            _ => (self.left.units[left].kind == UnitKind::Stderr).then_some(sequence::MAX_SUBSTITUTION),
        }
    }

    /// Returns the similarity of two units out of 1000, or [`EQUAL_PARAMS`]; `None` if they cannot be partners.
    fn likeness(&mut self, left: usize, right: usize, normaliser: &Normaliser<'_>) -> Option<usize> {
        let (one, other) = (&self.left.units[left].print, &self.right.units[right].print);
        if one.key != other.key {
            return None;
        }
        let has_params = self.left.units[left].kind == UnitKind::Request;
        if one.whole == other.whole || (has_params && one.params == other.params) {
            return Some(EQUAL_PARAMS);
        }
        let (one, other) = (one.of_message(), other.of_message());
        if self.is_twin(one) || self.is_twin(other) {
            return None;
        }
        self.look_into(one, normaliser);
        self.look_into(other, normaliser);
        let leaves = |message: &Message| self.candidates.get(message)?.leaves.as_ref();
        Some(leaves(&one)?.likeness(leaves(&other)?))
    }

    /// Returns whether exactly one unit on each side has a content: these units are partners, wherever they are.
    fn is_twin(&self, message: Message) -> bool {
        self.counts.get(&message) == Some(&[1, 1])
    }

    fn look_into(&mut self, message: Message, normaliser: &Normaliser<'_>) {
        if let Some(candidate) = self.candidates.get_mut(&message) {
            let reel = if candidate.is_left { &self.left } else { &self.right };
            candidate.leaves.get_or_insert_with(|| Leaves::of(&reel.units[candidate.place], reel.origins, normaliser));
        }
    }

    /// Aligns the messages that belong to requests with partners.
    fn align_dependents(&mut self, normaliser: &Normaliser<'_>) {
        let by_target = |reel: &Reel<'_>| {
            let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for place in 0..reel.units.len() {
                if let Some(target) = reel.target(place) {
                    found.entry(target).or_default().push(place);
                }
            }
            found
        };
        let (on_left, on_right) = (by_target(&self.left), by_target(&self.right));
        for (target, left) in &on_left {
            if let Some(right) = self.left.partner[*target].and_then(|partner| on_right.get(&partner)) {
                self.align_parts(left, right, normaliser);
            }
        }
    }

    /// Pairs units that have moved: those that belong to requests, or the others.
    fn find_moved(&mut self, normaliser: &Normaliser<'_>, of_requests: bool) {
        // Two units that swapped places look like two changes, so pairs with changes are tried again.
        let changed: Vec<_> = self.pairs().into_iter().filter(|pair| self.may_be_swapped(*pair, of_requests)).collect();
        for (place, other) in &changed {
            self.left.partner[*place] = None;
            self.right.partner[*other] = None;
        }
        self.pair_unique(of_requests, Print::of_message);
        self.pair_nearby(of_requests);
        for (place, other) in changed {
            if self.left.partner[place].is_none() && self.right.partner[other].is_none() {
                self.pair(place, other);
            }
        }
        self.pair_unique(of_requests, Print::of_params);
        self.pair_changed_nearby(of_requests, normaliser);
    }

    /// Returns whether the two units of a pair differ.
    fn may_be_swapped(&self, (left, right): (usize, usize), of_requests: bool) -> bool {
        self.left.units[left].print.whole != self.right.units[right].print.whole
            && self.left.target(left).is_some() == of_requests
    }

    /// Pairs units without partners that are the only ones with their content in their stream, on both sides.
    fn pair_unique(&mut self, of_requests: bool, by: fn(&Print) -> Message) {
        let (lonely_left, lonely_right) = (self.left.lonely(of_requests), self.right.lonely(of_requests));
        if lonely_left.is_empty() || lonely_right.is_empty() {
            return;
        }
        let key_of = |place: usize| (by(&self.left.units[place].print), self.left.units[place].stream);
        let on_right = |unit: &Unit| Some((by(&unit.print), *self.streams.get(&unit.stream)?));
        let keys: HashSet<_> = lonely_left.iter().map(|place| key_of(*place)).collect();
        let wanted = lonely_right.iter().filter_map(|place| on_right(&self.right.units[*place]));
        let wanted: HashSet<_> = wanted.filter(|key| keys.contains(key)).collect();
        if wanted.is_empty() {
            return;
        }
        let on_left = unique(&self.left, &wanted, |unit| Some((by(&unit.print), unit.stream)));
        let on_right = unique(&self.right, &wanted, on_right);
        for place in lonely_left {
            let key = (by(&self.left.units[place].print), self.left.units[place].stream);
            let (one, other) = (on_left.get(&key).copied().flatten(), on_right.get(&key).copied().flatten());
            if let (Some(one), Some(other)) = (one, other)
                && one == place
                && self.right.partner[other].is_none()
                && self.right.target(other).is_some() == of_requests
            {
                self.pair(one, other);
            }
        }
    }

    /// Pairs equal units without partners that were concurrent with what they moved past.
    fn pair_nearby(&mut self, of_requests: bool) {
        let (lonely_left, lonely_right) = (self.left.lonely(of_requests), self.right.lonely(of_requests));
        if lonely_left.is_empty() || lonely_right.is_empty() {
            return;
        }
        let key_of = |unit: &Unit| (unit.print.of_message(), unit.stream);
        let mut same: HashMap<(Message, u32), Vec<usize>> =
            lonely_left.iter().map(|place| (key_of(&self.left.units[*place]), Vec::new())).collect();
        for (place, unit) in self.left.units.iter().enumerate() {
            if let Some(places) = same.get_mut(&key_of(unit)) {
                places.push(place);
            }
        }
        let ground = Ground::of(self);
        let is_same = |place: usize, other: usize| {
            self.left.units[place].print.of_message() == self.right.units[other].print.of_message()
        };
        for (place, other) in ground.nearest(&lonely_left, &lonely_right, is_same) {
            if self.left.partner[place].is_some() || self.right.partner[other].is_some() {
                continue;
            }
            let chain = self.shifted(&same[&key_of(&self.left.units[place])], place, other);
            let chain = chain.filter(|chain| {
                let short = if chain.len() == 1 { SHORT } else { 0 };
                chain.iter().all(|pair| ground.may_swap(self, pair.0, pair.1, short))
            });
            for (place, other) in chain.unwrap_or_default() {
                self.pair(place, other);
            }
        }
    }

    /// Returns the pairs that result when `left` and `right` become partners, and the partners of equal units between
    /// them shift by one, so that equal units keep their order on both sides. `same` contains the equal units on the
    /// left. Returns `None` if too many are between.
    fn shifted(&self, same: &[usize], left: usize, right: usize) -> Option<Vec<(usize, usize)>> {
        let at = same.binary_search(&left).ok()?;
        let after = same[at + 1..].iter().map(|place| (*place, self.left.partner[*place]));
        let before = same[..at].iter().rev().map(|place| (*place, self.left.partner[*place]));
        let later: Vec<_> =
            after.map_while(|(place, partner)| Some((place, partner.filter(|it| *it < right)?))).collect();
        let earlier: Vec<_> =
            before.map_while(|(place, partner)| Some((place, partner.filter(|it| *it > right)?))).collect();
        let between = if later.is_empty() { earlier } else { later };
        if between.len() > NEAR {
            return None;
        }
        let lefts = std::iter::once(left).chain(between.iter().map(|pair| pair.0));
        let rights = between.iter().map(|pair| pair.1).chain(std::iter::once(right));
        Some(lefts.zip(rights).collect())
    }

    /// Pairs similar units without partners that were concurrent with what they moved past.
    fn pair_changed_nearby(&mut self, of_requests: bool, normaliser: &Normaliser<'_>) {
        let (lonely_left, lonely_right) = (self.left.lonely(of_requests), self.right.lonely(of_requests));
        let ground = Ground::of(self);
        for (place, other) in ground.nearest(&lonely_left, &lonely_right, |_, _| true) {
            let is_free = self.left.partner[place].is_none() && self.right.partner[other].is_none();
            if is_free
                && ground.may_swap(self, place, other, SHORT)
                && self.likeness(place, other, normaliser).is_some_and(|likeness| likeness >= MOVED_ALIKE)
            {
                self.pair(place, other);
            }
        }
    }

    fn pair(&mut self, left: usize, right: usize) {
        self.left.partner[left] = Some(right);
        self.right.partner[right] = Some(left);
    }

    /// Notes which ids correspond, using the pairs that are otherwise equal.
    pub(super) fn match_ids(&mut self) {
        for (left, right) in self.pairs() {
            let (one, other) = (&self.left.units[left].print, &self.right.units[right].print);
            if one.whole == other.whole {
                for (left, right) in one.values.iter().zip(&other.values) {
                    self.ids.accept(*left, *right);
                }
            }
        }
    }

    /// Returns the pairs, in the order of the left side.
    pub(super) fn pairs(&self) -> Vec<(usize, usize)> {
        let partners = self.left.partner.iter().enumerate();
        partners.filter_map(|(place, partner)| Some((place, (*partner)?))).collect()
    }

    /// Returns whether two paired units belong to the same request: to partners, or to requests without partners.
    pub(super) fn refer_to_partners(&self, left: usize, right: usize) -> bool {
        match (self.left.target(left), self.right.target(right)) {
            (Some(left), Some(right)) => {
                let lonely = self.left.partner[left].is_none() && self.right.partner[right].is_none();
                self.left.partner[left] == Some(right) || lonely
            }
            (left, right) => left.is_none() && right.is_none(),
        }
    }
}

/// Returns the units of a side by content and stream; `None` for contents that occur several times.
fn unique(
    reel: &Reel<'_>,
    wanted: &HashSet<(Message, u32)>,
    key_of: impl Fn(&Unit) -> Option<(Message, u32)>,
) -> HashMap<(Message, u32), Option<usize>> {
    let mut found = HashMap::default();
    for (place, unit) in reel.units.iter().enumerate() {
        if let Some(key) = key_of(unit).filter(|key| wanted.contains(key)) {
            found.entry(key).and_modify(|known| *known = None).or_insert(Some(place));
        }
    }
    found
}

/// Counts how many units on each side have each content.
fn count_messages(left: &[Unit], right: &[Unit]) -> HashMap<Message, [u32; 2]> {
    let mut counts: HashMap<Message, [u32; 2]> = HashMap::default();
    left.iter().for_each(|unit| counts.entry(unit.print.of_message()).or_default()[0] += 1);
    right.iter().for_each(|unit| counts.entry(unit.print.of_message()).or_default()[1] += 1);
    counts
}

/// Returns the places in `pairs` that are out of order: all except a longest run in which the right side ascends, too.
pub(super) fn out_of_order(pairs: &[(usize, usize)]) -> std::collections::HashSet<usize> {
    let numbered: Vec<_> = pairs.iter().enumerate().map(|(place, pair)| (place, pair.1)).collect();
    let kept: HashSet<usize> = sequence::ascending(&numbered).into_iter().map(|(place, _)| place).collect();
    (0..pairs.len()).filter(|place| !kept.contains(place)).collect()
}
