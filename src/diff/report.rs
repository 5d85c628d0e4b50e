//! The report of a comparison: the units that are on one side only, and those that changed, with their changes.

mod json;

use super::Options;
use super::recording::{Unit, UnitKind};
use super::volatile::Kind;
use crate::wire::Direction;
use serde_json::Value;
use std::collections::HashSet;

pub(super) use json::parsed;

/// A part of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UnitSide {
    /// The envelope: the id, if ids are compared by value, and what is unusual about it.
    Envelope,
    /// The params.
    Params,
    /// The envelope of the response: what is unusual about it.
    Response,
    /// The result.
    Result,
    /// The error.
    Error,
    /// The whole text of a line that is not a message.
    Line,
}

impl UnitSide {
    const ALL: [Self; 6] = [Self::Envelope, Self::Params, Self::Response, Self::Result, Self::Error, Self::Line];

    /// Whether it is of the response.
    pub(super) fn is_of_answer(self) -> bool {
        matches!(self, Self::Response | Self::Result | Self::Error)
    }

    /// Returns the name in JSON and in the patterns of [`Options::ignore`](super::Options::ignore).
    pub fn name(self) -> &'static str {
        match self {
            Self::Envelope => "envelope",
            Self::Params => "params",
            Self::Response => "response",
            Self::Result => "result",
            Self::Error => "error",
            Self::Line => "line",
        }
    }
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// The value is on the right only.
    Added,
    /// The value is on the left only.
    Removed,
    /// The value differs.
    Changed,
    /// The same names are in another order; left and right are lists of the names.
    Reordered,
}

impl ChangeKind {
    const ALL: [Self; 4] = [Self::Added, Self::Removed, Self::Changed, Self::Reordered];

    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
            Self::Reordered => "reordered",
        }
    }
}

/// The sides that have a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineTag {
    /// On both sides.
    Both,
    /// On the left only.
    Removed,
    /// On the right only.
    Added,
}

impl LineTag {
    const ALL: [Self; 3] = [Self::Both, Self::Removed, Self::Added];

    /// Returns the name in JSON.
    fn name(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::Removed => "removed",
            Self::Added => "added",
        }
    }
}

/// Changed lines of a text, with some lines around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The number of its first line on the left, from 1.
    pub left_line: usize,
    /// The number of its first line on the right, from 1.
    pub right_line: usize,
    /// The lines.
    pub lines: Vec<HunkLine>,
}

/// A line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkLine {
    /// The sides that have it.
    pub tag: LineTag,
    /// The line, without its line ending.
    pub text: String,
    /// How many bytes at its beginning differ from the line that replaces it in nothing but volatile values.
    pub alike: usize,
}

impl Change {
    /// Returns the place in the message, as [`Options::ignore`](super::Options::ignore) takes it.
    pub fn pointer(&self) -> String {
        format!("/{}{}", self.side.name(), self.place)
    }
}

/// One change within a pair of units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The part of the unit.
    pub side: UnitSide,
    /// The place in that part: a JSON pointer with the indices of the left side, or of the right side for added values.
    /// It continues into JSON inside of texts.
    pub place: String,
    /// The kind of change.
    pub kind: ChangeKind,
    /// The JSON text on the left; absent if the value was added.
    pub left: Option<String>,
    /// The JSON text on the right; absent if the value was removed.
    pub right: Option<String>,
    /// How many bytes at the beginning of the JSON text differ in nothing but volatile values, on each side.
    pub alike: [usize; 2],
    /// The changed lines, for texts of several lines.
    pub hunks: Vec<Hunk>,
    /// The name of the innermost list item around the place, such as a tool's.
    pub label: Option<String>,
    /// A side has too many values, and was compared as its bytes; its text here says so.
    pub is_too_large: bool,
}

/// The status of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Only on the left.
    OnlyLeft,
    /// Only on the right.
    OnlyRight,
    /// On both sides, with changes.
    Changed,
    /// The same on both sides, but at another place.
    Moved,
}

impl Status {
    /// Returns it in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::OnlyLeft => "only in A",
            Self::OnlyRight => "only in B",
            Self::Changed => "changed",
            Self::Moved => "moved",
        }
    }

    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::OnlyLeft => "only_left",
            Self::OnlyRight => "only_right",
            Self::Changed => "changed",
            Self::Moved => "moved",
        }
    }
}

/// The place of a unit in its reel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitPlace {
    /// The number of the event.
    pub seq: u64,
    /// The number of the response.
    pub answer_seq: Option<u64>,
    /// The time in nanoseconds since the reel's clock base.
    pub time: i64,
    /// The nanoseconds from the request to its response.
    pub latency: Option<i64>,
}

impl UnitPlace {
    pub(super) fn of(unit: &Unit) -> Self {
        let answer_seq = unit.answer.as_ref().filter(|_| unit.kind == UnitKind::Request).map(|answer| answer.seq);
        Self { seq: unit.seq, answer_seq, time: unit.time, latency: unit.latency() }
    }
}

/// One difference: a unit that is on one side only, or a pair with differences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitDiff {
    /// The status of the unit.
    pub status: Status,
    /// The kind of the unit.
    pub kind: UnitKind,
    /// Its direction.
    pub direction: Direction,
    /// Its method.
    pub method: Option<String>,
    /// Its subject.
    pub subject: Option<String>,
    /// Its place on the left.
    pub left: Option<UnitPlace>,
    /// Its place on the right.
    pub right: Option<UnitPlace>,
    /// It has another place among the units (checked only with [`Options::order`](super::Options::order)).
    pub moved: bool,
    /// It is a notification that came before the result of its request on one side, and after it on the other.
    pub crossed: bool,
    /// For a pair with changes, the JSON Patch that makes the left side the right one; see [`Report::to_json`].
    pub patch: Vec<Value>,
    /// The changes within it, in the order envelope, response, params, result, error.
    pub changes: Vec<Change>,
}

impl UnitDiff {
    /// Returns whether the only difference is that the request has no answer on this side.
    fn differs_in_missing_answer(&self, side: &Option<UnitPlace>) -> bool {
        let is_of_answer = |change: &Change| change.side.is_of_answer();
        self.status == Status::Changed
            && !self.moved
            && self.kind == UnitKind::Request
            && side.as_ref().is_some_and(|place| place.answer_seq.is_none())
            && self.changes.iter().all(is_of_answer)
    }
}

/// A volatile value that differs, and how often.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MappedValue {
    /// What it is.
    pub kind: Kind,
    /// The text on the left.
    pub left: String,
    /// The text on the right.
    pub right: String,
    /// The number of places.
    pub count: usize,
}

/// The volatile values that differ, but were made by the runs and stand for each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapped {
    /// How many there are of each kind: different ones, or for times and durations, places.
    pub kinds: Vec<(Kind, usize)>,
    /// All of them, if [`Options::lists_volatile`](super::Options::lists_volatile) is set.
    pub values: Vec<MappedValue>,
}

impl Mapped {
    /// Returns how many there are.
    pub fn total(&self) -> usize {
        self.kinds.iter().map(|(_, count)| count).sum()
    }
}

/// A place that was compared in another way, and whether a message had something there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceUse {
    /// The option: `ignore` or `unordered`.
    pub option: &'static str,
    /// The place, as the user named it.
    pub place: String,
    /// Whether a message on one of the sides had something there.
    pub is_used: bool,
}

impl PlaceUse {
    /// Combines what both sides found.
    pub(super) fn of(options: &Options, left: &[bool], right: &[bool]) -> Vec<Self> {
        let ignored = options.ignore.iter().map(|place| ("ignore", place));
        let places = ignored.chain(options.unordered.iter().map(|place| ("unordered", place))).enumerate();
        let is_used = |at: usize| [left, right].iter().any(|side| side.get(at) == Some(&true));
        places.map(|(at, (option, place))| Self { option, place: place.clone(), is_used: is_used(at) }).collect()
    }
}

/// The differences between two recordings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of units on the left only.
    pub only_left: usize,
    /// The number of units on the right only.
    pub only_right: usize,
    /// The number of pairs with changes.
    pub changed: usize,
    /// The number of pairs without changes, at the same place.
    pub same: usize,
    /// The number of pairs without changes, at another place; 0 unless order is compared.
    pub moved: usize,
    /// The volatile values that were not compared.
    pub mapped: Mapped,
    /// The number of differences left out because they also occur between two runs of one version.
    pub learned: usize,
    /// The places of [`Options::ignore`](super::Options::ignore) and `unordered`.
    pub places: Vec<PlaceUse>,
    /// The differences in the order of the left side; a unit on the right only follows its neighbours.
    pub units: Vec<UnitDiff>,
}

impl Report {
    /// Returns whether there are no differences.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Makes units that begin with one of these events on the left optional: those that are on the left only are left out,
    /// and requests that got no answer on the right count as the same.
    pub(crate) fn make_optional(&mut self, seqs: &HashSet<u64>) {
        let is_optional = |unit: &UnitDiff| unit.left.as_ref().is_some_and(|place| seqs.contains(&place.seq));
        let (before, was_missing) = (self.units.len(), self.only_left);
        self.units.retain(|unit| {
            let is_missing = is_optional(unit) && unit.status == Status::OnlyLeft;
            self.only_left -= usize::from(is_missing);
            !(is_missing || is_optional(unit) && unit.differs_in_missing_answer(&unit.right))
        });
        let unanswered = before - self.units.len() - (was_missing - self.only_left);
        self.changed -= unanswered;
        self.same += unanswered;
    }

    /// Counts requests as the same whose answer the left side lost.
    pub(crate) fn excuse_lost_answers(&mut self) {
        let before = self.units.len();
        self.units.retain(|unit| !unit.differs_in_missing_answer(&unit.left));
        self.changed -= before - self.units.len();
        self.same += before - self.units.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(status: Status, seq: u64, side: UnitSide, answer_seq: Option<u64>) -> UnitDiff {
        let place = |answer_seq| UnitPlace { seq, answer_seq, time: 0, latency: None };
        let change = Change {
            side,
            place: String::new(),
            kind: ChangeKind::Removed,
            left: None,
            right: None,
            alike: [0; 2],
            hunks: Vec::new(),
            label: None,
            is_too_large: false,
        };
        UnitDiff {
            status,
            kind: UnitKind::Request,
            direction: Direction::ServerToClient,
            method: Some("roots/list".to_owned()),
            subject: None,
            left: Some(place(Some(seq + 1))),
            right: (status == Status::Changed).then(|| place(answer_seq)),
            moved: false,
            crossed: false,
            patch: Vec::new(),
            changes: vec![change],
        }
    }

    #[test]
    fn what_is_optional_may_be_missing_or_unanswered_but_not_different() {
        let units = vec![
            unit(Status::OnlyLeft, 1, UnitSide::Result, None),
            unit(Status::OnlyLeft, 2, UnitSide::Result, None),
            unit(Status::Changed, 3, UnitSide::Result, None),
            unit(Status::Changed, 4, UnitSide::Params, None),
            unit(Status::Changed, 5, UnitSide::Result, Some(6)),
            unit(Status::Changed, 7, UnitSide::Result, None),
        ];
        let mut report = Report { only_left: 2, changed: 4, same: 1, units, ..Report::default() };
        report.make_optional(&HashSet::from([2, 3, 4, 5]));
        let left: Vec<u64> = report.units.iter().filter_map(|unit| unit.left.as_ref()).map(|place| place.seq).collect();
        assert_eq!(left, [1, 4, 5, 7]);
        assert_eq!((report.only_left, report.changed, report.same), (1, 3, 2));
    }

    #[test]
    fn an_answer_that_the_left_side_lost_is_no_difference() {
        let without_answer = |side| {
            let mut unit = unit(Status::Changed, 1, side, Some(9));
            unit.left.iter_mut().for_each(|place| place.answer_seq = None);
            unit
        };
        let answered = unit(Status::Changed, 3, UnitSide::Result, Some(4));
        let units = vec![without_answer(UnitSide::Result), without_answer(UnitSide::Params), answered];
        let mut report = Report { changed: 3, same: 1, units, ..Report::default() };
        report.excuse_lost_answers();
        assert_eq!((report.units.len(), report.changed, report.same), (2, 2, 2));
    }
}
