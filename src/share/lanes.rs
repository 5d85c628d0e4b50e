//! Finds secrets that are divided: between reads of standard error, pieces of a message, or the texts of several
//! messages, such as the deltas of an answer that is streamed.

use super::report::SecretId;
use crate::redact::{Finder, Match};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// A part of a divided secret of this length may look like a random string alone. Unit: bytes.
const LONG_PART: usize = 24;

/// The maximum number of lanes; texts of further ones are not joined.
const MAX_LANES: usize = 4096;
/// A lane is searched when it holds this many bytes.
const FULL: usize = 32 << 10;
/// What is kept of a lane that was searched, for a secret that has only begun.
const KEPT: usize = 8 << 10;
/// What is kept before that, because it may tell what follows.
const CONTEXT: usize = 512;
/// Of a longer text, only this much at its beginning and its end is joined with its neighbours.
const EDGE: usize = 4 << 10;

/// What texts must have in common to be joined, as a hash.
pub(super) type LaneKey = u64;

/// The part of a divided secret in one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The place in the text.
    pub range: Range<usize>,
    /// What replaces it; `None` if it stays.
    pub text: Option<Vec<u8>>,
    /// The rule.
    pub rule: usize,
    /// Whether the secret begins here.
    pub is_first: bool,
    /// The whole secret.
    pub secret: SecretId,
}

impl Part {
    /// Returns what is left of the part without a range, unless the range lies within it.
    pub(super) fn without(self, whole: &Range<usize>) -> Vec<Self> {
        let Range { start, end } = self.range;
        let is_apart = whole.end <= start || end <= whole.start;
        let is_within = start <= whole.start && whole.end <= end;
        if is_apart || is_within {
            return vec![self];
        }
        let kept = if whole.start > start { start..whole.start } else { whole.end.min(end)..end };
        let text =
            self.text.as_ref().and_then(|text| text.get(kept.start - start..kept.end - start)).map(<[u8]>::to_vec);
        if kept.is_empty() { Vec::new() } else { vec![Self { range: kept, text, ..self }] }
    }
}

/// A text: the number of its event, and its number in the event.
pub(super) type TextId = (u64, u32);

/// The parts of divided secrets, by text.
pub(super) type Parts = BTreeMap<TextId, Vec<Part>>;

#[derive(Debug, Default)]
struct Lane {
    text: Vec<u8>,
    /// Where each text begins here, its id, and how much of it is left out before that.
    pieces: Vec<(usize, TextId, usize)>,
    has_all: bool,
    /// Whether every secret that could end with a text does: the texts are those of requests and responses.
    is_whole: bool,
}

/// How the texts of a lane are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joint {
    /// With all detectors: the bytes of one stream.
    Bytes,
    /// With those of tokens: texts that may go on in the next message.
    Deltas,
    /// The same, but a token that could end with a text does.
    Messages,
}

/// All lanes of a reel.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    lanes: HashMap<LaneKey, Lane, foldhash::fast::RandomState>,
    /// What was found so far.
    pub parts: Parts,
}

/// What a lane needs to search: the finders of shapes and of everything, and what makes pseudonyms.
pub(super) struct Search<'a> {
    pub shapes: &'a Finder,
    pub all: &'a Finder,
    pub pseudonym: &'a dyn Fn(&[u8], usize) -> Vec<u8>,
}

impl Lanes {
    /// Adds a text.
    pub(super) fn push(&mut self, key: LaneKey, id: TextId, text: &[u8], joint: Joint, search: &Search<'_>) {
        if text.is_empty() || self.lanes.len() >= MAX_LANES && !self.lanes.contains_key(&key) {
            return;
        }
        let lane = self.lanes.entry(key).or_default();
        (lane.has_all, lane.is_whole) = (joint == Joint::Bytes, joint == Joint::Messages);
        // No secret goes on in a line of JSON.
        if joint == Joint::Bytes && lane.text.ends_with(b"\n") && matches!(text[0], b'{' | b'[') {
            lane.search(true, search, &mut self.parts);
            *lane = Lane { has_all: lane.has_all, is_whole: lane.is_whole, ..Lane::default() };
        }
        if text.len() <= 2 * EDGE {
            lane.add(id, text, 0);
        } else {
            lane.add(id, &text[..EDGE], 0);
            lane.search(true, search, &mut self.parts);
            *lane = Lane { has_all: lane.has_all, is_whole: lane.is_whole, ..Lane::default() };
            lane.add(id, &text[text.len() - EDGE..], text.len() - EDGE);
        }
        if lane.text.len() >= FULL {
            lane.search(false, search, &mut self.parts);
        }
    }

    /// Searches what is left.
    pub(super) fn end(&mut self, search: &Search<'_>) {
        for lane in self.lanes.values() {
            lane.find(lane.text.len(), search, &mut self.parts);
        }
        self.lanes.clear();
    }
}

impl Lane {
    fn add(&mut self, id: TextId, text: &[u8], left_out: usize) {
        self.pieces.push((self.text.len(), id, left_out));
        self.text.extend_from_slice(text);
    }

    /// Searches the text, and drops all but its end.
    fn search(&mut self, is_end: bool, search: &Search<'_>, parts: &mut Parts) {
        let limit = if is_end { self.text.len() } else { self.text.len() - KEPT.min(self.text.len()) };
        let searched = self.find(limit, search, parts);
        let from = searched.max(if is_end { limit } else { limit.saturating_sub(CONTEXT) });
        let first = self.pieces.partition_point(|piece| piece.0 <= from).saturating_sub(1);
        self.pieces.drain(..first);
        for piece in &mut self.pieces {
            let dropped = from.saturating_sub(piece.0);
            *piece = (piece.0.saturating_sub(from), piece.1, piece.2 + dropped);
        }
        self.text.drain(..from);
    }

    /// Finds the divided secrets that begin before `limit`. Returns the end of the last one.
    fn find(&self, limit: usize, search: &Search<'_>, parts: &mut Parts) -> usize {
        if self.pieces.len() < 2 {
            return 0;
        }
        let finder = if self.has_all { search.all } else { search.shapes };
        // What is found in a text alone, which is searched once.
        let mut alone: BTreeMap<usize, Vec<Match>> = BTreeMap::new();
        let mut end = 0;
        for found in finder.find(&self.text).into_iter().filter(|found| found.range.start < limit) {
            let first = self.pieces.partition_point(|piece| piece.0 <= found.range.start).saturating_sub(1);
            let after = self.pieces.partition_point(|piece| piece.0 < found.range.end);
            let own =
                alone.entry(first).or_insert_with(|| finder.find(&self.text[self.place(first)..self.place(first + 1)]));
            let is_divided = match after - first {
                // What tells that it is a secret may be in the text before.
                1 => !self.finds_alone(first, &found, own),
                _ => !self.ends_with(first, &found, own, finder),
            };
            if is_divided {
                self.divide(&found, first..after, search, parts);
                end = found.range.end;
            }
        }
        end
    }

    /// Returns where a text begins.
    fn place(&self, piece: usize) -> usize {
        self.pieces.get(piece).map_or(self.text.len(), |piece| piece.0)
    }

    /// Whether a secret in a text is one of those that are found without the texts before and after.
    fn finds_alone(&self, piece: usize, found: &Match, own: &[Match]) -> bool {
        let start = self.place(piece);
        own.iter().any(|own| own.range.start + start <= found.range.start && found.range.end <= own.range.end + start)
    }

    /// Whether a text by itself ends with a secret that begins where another one does, and that does not go on.
    fn ends_with(&self, piece: usize, found: &Match, own: &[Match], finder: &Finder) -> bool {
        let start = self.place(piece);
        let range = found.range.start - start..self.place(piece + 1) - start;
        let is_whole =
            |own: &Match| self.is_whole || finder.rule(own.rule).is_some_and(|rule| rule.is_whole(own.range.len()));
        own.iter().any(|own| own.range == range && is_whole(own))
    }

    fn divide(&self, found: &Match, pieces: Range<usize>, search: &Search<'_>, parts: &mut Parts) {
        let whole = &self.text[found.range.clone()];
        let secret = SecretId::of(whole);
        let pseudonym = (!found.stays).then(|| (search.pseudonym)(whole, found.rule));
        for number in pieces.clone() {
            let (start, id, left_out) = self.pieces[number];
            let end = self.pieces.get(number + 1).map_or(self.text.len(), |next| next.0);
            let (from, to) = (start.max(found.range.start), end.min(found.range.end));
            let is_first = number == pieces.start;
            // A long part looks like a secret itself, or not, by chance; as a pseudonym of its own, it is recognised.
            let is_own = !is_first && to - from >= LONG_PART;
            let text = pseudonym.as_ref().map(|all| match is_own {
                true => (search.pseudonym)(&self.text[from..to], found.rule),
                false => all[from - found.range.start..to - found.range.start].to_vec(),
            });
            let range = from - start + left_out..to - start + left_out;
            let known = parts.entry(id).or_default();
            // A text can be in two lanes.
            if known.iter().all(|part| part.range.end <= range.start || range.end <= part.range.start) {
                known.push(Part { range, text, rule: found.rule, is_first, secret });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::Settings;

    fn parts(texts: &[&str]) -> Vec<(u64, Range<usize>, String)> {
        parts_of(Joint::Deltas, texts)
    }

    fn parts_of(joint: Joint, texts: &[&str]) -> Vec<(u64, Range<usize>, String)> {
        let (shapes, all) =
            (Finder::of_shapes(&Settings::default()).unwrap(), Finder::new(&Settings::default()).unwrap());
        let search = Search { shapes: &shapes, all: &all, pseudonym: &|secret, _| vec![b'#'; secret.len()] };
        let mut lanes = Lanes::default();
        for (number, text) in texts.iter().enumerate() {
            lanes.push(1, (number as u64, 0), text.as_bytes(), joint, &search);
        }
        lanes.end(&search);
        let mut found: Vec<_> = lanes
            .parts
            .into_iter()
            .flat_map(|(id, parts)| parts.into_iter().map(move |part| (id.0, part)))
            .map(|(seq, part)| (seq, part.range, String::from_utf8(part.text.unwrap_or_default()).unwrap()))
            .collect();
        found.sort_by_key(|one| (one.0, one.1.start));
        found
    }

    #[test]
    fn a_secret_in_several_texts_is_found_in_all_of_them() {
        assert_eq!(
            parts(&["token gh", "p_abcdefgh", "ijklmnop1234", "5678 end"]),
            [(1, 2..10, "#".repeat(8)), (2, 0..12, "#".repeat(12)), (3, 0..4, "####".into())]
        );
        assert_eq!(parts(&["ghp_abcdefghijklmnop1234", " and no more"]), [], "it is not divided");
    }

    #[test]
    fn a_secret_after_a_name_in_the_text_before_is_found() {
        let texts = ["debug: DB_PASSWORD=", "37wGrlJlRWP3 end"];
        assert_eq!(parts_of(Joint::Bytes, &texts), [(1, 0..12, "#".repeat(12))]);
        assert_eq!(parts_of(Joint::Bytes, &["x ", "DB_PASSWORD=37wGrlJlRWP3 end"]), [], "it is found there");
    }

    #[test]
    fn a_token_whose_prefix_is_divided_is_found() {
        for joint in [Joint::Deltas, Joint::Messages] {
            let found = parts_of(joint, &["use gh", "p_abcdefghijklmnop1234 now", "x"]);
            assert_eq!(found, [(1, 2..22, "#".repeat(20))], "{joint:?}");
        }
    }

    #[test]
    fn a_token_that_ends_a_request_does_not_go_on_in_the_next_one() {
        let texts = ["use ghp_abcdefghijklmnop1234abcd", "password"];
        assert_eq!(parts_of(Joint::Messages, &texts), []);
        assert_eq!(parts_of(Joint::Deltas, &texts).len(), 2, "a delta may go on");
        let logs = ["using ghp_abcdefghijklmnop1234abcdefgh12345678", "using it"];
        assert_eq!(parts_of(Joint::Deltas, &logs), [], "no such token is longer");
        assert_eq!(parts_of(Joint::Messages, &["token ghp_abcdefgh", "ijklmnop1234"]).len(), 2, "it is not whole");
    }

    #[test]
    fn what_belongs_to_a_whole_secret_is_no_part() {
        let part =
            || Part { range: 2..6, text: Some(b"abcd".to_vec()), rule: 0, is_first: true, secret: SecretId::of(b"") };
        let left = |whole: Range<usize>| -> Vec<(Range<usize>, Vec<u8>)> {
            part().without(&whole).into_iter().map(|part| (part.range, part.text.unwrap_or_default())).collect()
        };
        assert_eq!(left(4..9), [(2..4, b"ab".to_vec())]);
        assert_eq!(left(0..3), [(3..6, b"bcd".to_vec())]);
        assert_eq!(left(0..9), []);
        assert_eq!(left(3..5), [(2..6, b"abcd".to_vec())]);
        assert_eq!(left(6..9), [(2..6, b"abcd".to_vec())]);
    }

    #[test]
    fn long_lanes_are_searched_in_steps() {
        let filler = "lorem ipsum dolor ".repeat(100);
        let mut texts: Vec<&str> = vec![&filler; 40];
        texts.insert(21, "ghp_abcdefgh");
        texts.insert(22, "ijklmnop1234 ");
        texts.push("x ghp_abcdefgh");
        texts.push("ijklmnop1234");
        assert_eq!(parts(&texts).iter().map(|part| part.0).collect::<Vec<_>>(), [21, 22, 42, 43]);
        // Wherever a search ends, what is before a secret tells that it is one.
        let key = ["AGE-SECRET-KEY-1", &"Q7".repeat(20), &"X9".repeat(9)];
        for shift in 0..80 {
            let filler = "-".repeat(FULL - KEPT - shift);
            let texts = [&filler, key[0], key[1], key[2], &"-".repeat(KEPT + 100), " "];
            let found: Vec<_> = parts(&texts).iter().map(|part| part.0).collect();
            assert_eq!(found, [2, 3], "{shift}");
        }
        let long = "y".repeat(20_000);
        let ends = format!("{long} ghp_abcdefgh");
        assert_eq!(parts(&[&ends, "ijklmnop1234"])[0].1, 20_005..20_013);
    }
}
