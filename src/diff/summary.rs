//! Counts differences by method and tool.

use super::recording::{Recording, Unit, UnitKind};
use super::report::{Report, Status, UnitDiff};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};

/// The differences of one method, or of one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SummaryRow {
    /// The method, with the name of a tool; or what the messages are, if they have no method.
    pub(crate) what: String,
    /// Messages on both sides without any difference.
    pub(crate) same: usize,
    /// Messages on both sides that changed.
    pub(crate) changed: usize,
    /// Messages in A only.
    pub(crate) only_left: usize,
    /// Messages in B only.
    pub(crate) only_right: usize,
    /// Messages at another place.
    pub(crate) moved: usize,
    /// Where the messages changed, and how often: JSON pointers with `*` for any index.
    pub(crate) places: BTreeMap<String, usize>,
}

impl SummaryRow {
    /// Returns the number of messages that differ.
    pub(crate) fn differences(&self) -> usize {
        self.changed + self.only_left + self.only_right + self.moved
    }

    /// Returns it as JSON: `{"what":TEXT, "same":N, "changed":N, "only_left":N, "only_right":N, "moved":N,
    /// "places":{POINTER:N…}}`.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "what": self.what, "same": self.same, "changed": self.changed, "only_left": self.only_left,
            "only_right": self.only_right, "moved": self.moved, "places": self.places,
        })
    }
}

/// Counts the differences, by method and tool; those with most differences first.
pub(crate) fn summary(report: &Report, left: &Recording, left_out: &HashSet<u64>) -> Vec<SummaryRow> {
    let mut rows: BTreeMap<String, SummaryRow> = BTreeMap::new();
    for unit in left.units.iter().filter(|unit| !left_out.contains(&unit.seq)) {
        rows.entry(name_of_unit(unit)).or_default().same += 1;
    }
    for unit in &report.units {
        let row = rows.entry(name(unit.kind, unit.method.as_deref(), unit.subject.as_deref())).or_default();
        if unit.status != Status::OnlyRight {
            row.same = row.same.saturating_sub(1);
        }
        match unit.status {
            Status::OnlyLeft => row.only_left += 1,
            Status::OnlyRight => row.only_right += 1,
            Status::Changed => row.changed += 1,
            Status::Moved => row.moved += 1,
        }
        for place in places(unit) {
            *row.places.entry(place).or_default() += 1;
        }
    }
    let mut rows: Vec<SummaryRow> = rows.into_iter().map(|(what, row)| SummaryRow { what, ..row }).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.differences()));
    rows
}

fn name_of_unit(unit: &Unit) -> String {
    name(unit.kind, unit.method.as_deref(), unit.subject.as_deref())
}

fn name(kind: UnitKind, method: Option<&str>, subject: Option<&str>) -> String {
    match (kind, method, subject) {
        (UnitKind::Orphan, ..) => "responses without a request".to_owned(),
        (UnitKind::Line, ..) => "lines that are no messages".to_owned(),
        (UnitKind::Stderr, ..) => "standard error".to_owned(),
        (_, Some(method @ "tools/call"), Some(tool)) => format!("{method} {tool}"),
        (_, method, _) => method.unwrap_or_default().to_owned(),
    }
}

/// Returns the places that changed, each once, with `*` for any index.
fn places(unit: &UnitDiff) -> std::collections::BTreeSet<String> {
    let any_index = |step: &str| if step.bytes().all(|byte| byte.is_ascii_digit()) { "*" } else { step }.to_owned();
    let general = |pointer: String| {
        pointer.split('/').map(|step| if step.is_empty() { String::new() } else { any_index(step) }).collect::<Vec<_>>()
    };
    unit.changes.iter().map(|change| general(change.pointer()).join("/")).collect()
}
