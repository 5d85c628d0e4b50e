//! What a comparison found: which units stand on one side only, which changed and how.

use super::exchange::{Unit, UnitKind};
use crate::wire::Direction;
use serde_json::{Value, json};

/// A part of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UnitSide {
    /// The envelope itself: the id, where ids are kept.
    Envelope,
    /// The params.
    Params,
    /// The result.
    Result,
    /// The error.
    Error,
    /// The whole of what is no message.
    Line,
}

impl UnitSide {
    /// The name in JSON and in the patterns of [`Options::ignore`](super::Options::ignore).
    pub fn name(self) -> &'static str {
        match self {
            Self::Envelope => "envelope",
            Self::Params => "params",
            Self::Result => "result",
            Self::Error => "error",
            Self::Line => "line",
        }
    }
}

/// What happened to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// It is only on the right.
    Added,
    /// It is only on the left.
    Removed,
    /// It has another value.
    Changed,
    /// The same names stand in another order; left and right are lists of the names.
    Reordered,
}

impl ChangeKind {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
            Self::Reordered => "reordered",
        }
    }
}

/// Whose a line of a hunk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineTag {
    /// On both sides.
    Both,
    /// On the left only.
    Removed,
    /// On the right only.
    Added,
}

/// Lines of a text that changed, with some around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The number of its first line on the left, from 1.
    pub left_line: usize,
    /// The number of its first line on the right, from 1.
    pub right_line: usize,
    /// The lines, without their ends.
    pub lines: Vec<(LineTag, String)>,
}

/// One change inside a pair of units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// In which part.
    pub side: UnitSide,
    /// Where in it: a JSON pointer with the left side's indices, the right side's for what was added. It goes on into
    /// JSON that stands inside a text.
    pub place: String,
    /// What happened.
    pub kind: ChangeKind,
    /// The JSON text on the left; absent for what was added and where there are hunks.
    pub left: Option<String>,
    /// The JSON text on the right; absent for what was removed and where there are hunks.
    pub right: Option<String>,
    /// For texts of several lines, what changed line by line.
    pub hunks: Vec<Hunk>,
}

/// What became of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Only on the left.
    OnlyLeft,
    /// Only on the right.
    OnlyRight,
    /// On both sides, with changes.
    Changed,
    /// The same on both sides, but not in the same place among the others.
    Moved,
}

impl Status {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::OnlyLeft => "only_left",
            Self::OnlyRight => "only_right",
            Self::Changed => "changed",
            Self::Moved => "moved",
        }
    }
}

/// Where a unit stands in its reel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitPlace {
    /// The event's number.
    pub seq: u64,
    /// The answer's number.
    pub answer_seq: Option<u64>,
    /// Nanoseconds since the reel's clock base.
    pub time: i64,
    /// Nanoseconds from the request to its answer.
    pub latency: Option<i64>,
}

impl UnitPlace {
    pub(super) fn of(unit: &Unit) -> Self {
        let answer_seq = unit.answer.as_ref().filter(|_| unit.kind == UnitKind::Request).map(|answer| answer.seq);
        Self { seq: unit.seq, answer_seq, time: unit.time, latency: unit.latency() }
    }
}

/// One difference: a unit that is on one side only, or a pair that is not the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitDiff {
    /// What became of it.
    pub status: Status,
    /// What it is.
    pub kind: UnitKind,
    /// Which way it went.
    pub direction: Direction,
    /// Its method.
    pub method: Option<String>,
    /// What it is about.
    pub subject: Option<String>,
    /// Where it stands on the left.
    pub left: Option<UnitPlace>,
    /// Where it stands on the right.
    pub right: Option<UnitPlace>,
    /// It stands in another place among the others (only looked at under [`Options::order`](super::Options::order)).
    pub moved: bool,
    /// What changed inside, in the order envelope, params, result, error.
    pub changes: Vec<Change>,
}

/// What differs between two recordings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many units are on the left only.
    pub only_left: usize,
    /// How many units are on the right only.
    pub only_right: usize,
    /// How many pairs have changes.
    pub changed: usize,
    /// How many pairs are the same and in their place.
    pub same: usize,
    /// How many pairs have no changes but stand elsewhere; 0 unless order is looked at.
    pub moved: usize,
    /// The differences, in the left side's order, what is on the right only after its neighbours.
    pub units: Vec<UnitDiff>,
}

impl Report {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// The report as one JSON object:
    ///
    /// ```text
    /// {"only_left":N, "only_right":N, "changed":N, "moved":N, "same":N, "units":[UNIT…]}
    /// UNIT:   {"status":"only_left|only_right|changed|moved", "kind":"request|notification|orphan|line|stderr",
    ///          "direction":"c2s|s2c", "method":TEXT|null, "subject":TEXT|null, "moved":BOOL,
    ///          "left":PLACE|null, "right":PLACE|null, "changes":[CHANGE…]}
    /// PLACE:  {"seq":N, "answer_seq":N|null, "time_ns":N, "latency_ns":N|null}
    /// CHANGE: {"side":"envelope|params|result|error|line", "place":POINTER,
    ///          "kind":"added|removed|changed|reordered", "left":ANY, "right":ANY, "hunks":[HUNK…]}
    /// HUNK:   {"left_line":N, "right_line":N, "lines":[["both|removed|added", TEXT]…]}
    /// ```
    ///
    /// `left` is absent where there is none, and so are `right` and `hunks`. A number that a double cannot hold as it
    /// was spelt comes as a string of its spelling.
    pub fn to_json(&self) -> Value {
        json!({
            "only_left": self.only_left,
            "only_right": self.only_right,
            "changed": self.changed,
            "moved": self.moved,
            "same": self.same,
            "units": self.units.iter().map(unit_json).collect::<Vec<_>>(),
        })
    }
}

fn unit_json(unit: &UnitDiff) -> Value {
    json!({
        "status": unit.status.name(),
        "kind": unit.kind.name(),
        "direction": unit.direction.short(),
        "method": unit.method,
        "subject": unit.subject,
        "moved": unit.moved,
        "left": unit.left.as_ref().map(place_json),
        "right": unit.right.as_ref().map(place_json),
        "changes": unit.changes.iter().map(change_json).collect::<Vec<_>>(),
    })
}

fn place_json(place: &UnitPlace) -> Value {
    json!({
        "seq": place.seq,
        "answer_seq": place.answer_seq,
        "time_ns": place.time,
        "latency_ns": place.latency,
    })
}

fn change_json(change: &Change) -> Value {
    let mut value = json!({
        "side": change.side.name(),
        "place": change.place,
        "kind": change.kind.name(),
    });
    if let Some(text) = &change.left {
        value["left"] = parsed(text);
    }
    if let Some(text) = &change.right {
        value["right"] = parsed(text);
    }
    if !change.hunks.is_empty() {
        value["hunks"] = change.hunks.iter().map(hunk_json).collect();
    }
    value
}

fn parsed(text: &str) -> Value {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Number(number)) if number.to_string() != text => Value::from(text),
        Ok(value) => value,
        Err(_) => Value::from(text),
    }
}

fn hunk_json(hunk: &Hunk) -> Value {
    let lines: Vec<_> = hunk.lines.iter().map(|(tag, text)| json!([tag_name(*tag), text])).collect();
    json!({"left_line": hunk.left_line, "right_line": hunk.right_line, "lines": lines})
}

fn tag_name(tag: LineTag) -> &'static str {
    match tag {
        LineTag::Both => "both",
        LineTag::Removed => "removed",
        LineTag::Added => "added",
    }
}
