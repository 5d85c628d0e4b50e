//! What differs between two runs of one version, so that it is no difference to another version.

use super::recording::UnitKind;
use super::report::{Change, Hunk, LineTag, Report, Status, UnitDiff};
use crate::wire::Direction;
use std::collections::{BTreeSet, HashMap, HashSet};

/// What identifies a call in another run.
type Call = (UnitKind, Direction, Option<String>, Option<String>);

/// The line and the word of a text on the left; with [`usize::MAX`] for a whole line.
type Words = BTreeSet<(usize, usize)>;

/// What differs between two runs of one version.
#[derive(Clone, Debug, Default)]
pub(crate) struct Learned {
    /// For each call and place, the words that differ; `None` for a value that is no text.
    places: HashMap<(Call, String), Option<Words>>,
    /// Events of the first run that have no partner.
    only_left: HashSet<u64>,
    /// Calls and notifications that only the second run had.
    only_right: HashSet<Call>,
}

impl Learned {
    /// Learns from the comparison of a recording with another one of the same version.
    pub(crate) fn of(report: &Report) -> Self {
        let mut it = Self::default();
        for unit in &report.units {
            match (unit.status, &unit.left) {
                (Status::OnlyLeft, Some(place)) => drop(it.only_left.insert(place.seq)),
                (Status::OnlyRight, _) => drop(it.only_right.insert(call(unit))),
                _ => unit.changes.iter().for_each(|change| it.learn(call(unit), change)),
            }
        }
        it
    }

    fn learn(&mut self, call: Call, change: &Change) {
        let words = words_of(change);
        let known = self.places.entry((call, change.pointer())).or_insert_with(|| Some(Words::new()));
        match (known.as_mut(), words) {
            (Some(known), Some(words)) => known.extend(words),
            _ => *known = None,
        }
    }

    /// Returns whether a change of this call also occurs between two runs of one version.
    fn knows(&self, call: &Call, change: &Change) -> bool {
        match self.places.get(&(call.clone(), change.pointer())) {
            None => false,
            Some(None) => true,
            Some(Some(known)) => words_of(change).is_some_and(|words| {
                words.iter().all(|(line, word)| known.contains(&(*line, *word)) || known.contains(&(*line, usize::MAX)))
            }),
        }
    }
}

impl Report {
    /// Leaves out what also occurs between two runs of one version.
    pub(crate) fn leave_out(&mut self, learned: &Learned) {
        let mut left_out = 0;
        for unit in &mut self.units {
            let call = call(unit);
            let before = unit.changes.len();
            unit.changes.retain(|change| !learned.knows(&call, change));
            left_out += before - unit.changes.len();
        }
        let (mut only_left, mut only_right, mut same) = (0, 0, 0);
        self.units.retain(|unit| {
            let count = match unit.status {
                Status::OnlyLeft => &mut only_left,
                Status::OnlyRight => &mut only_right,
                Status::Changed | Status::Moved => &mut same,
            };
            let is_known = match unit.status {
                Status::OnlyLeft => unit.left.as_ref().is_some_and(|place| learned.only_left.contains(&place.seq)),
                Status::OnlyRight => learned.only_right.contains(&call(unit)),
                Status::Changed => unit.changes.is_empty() && !unit.moved,
                Status::Moved => false,
            };
            *count += usize::from(is_known);
            !is_known
        });
        self.only_left -= only_left;
        self.only_right -= only_right;
        self.changed -= same;
        self.same += same;
        self.learned += left_out + only_left + only_right;
    }
}

fn call(unit: &UnitDiff) -> Call {
    (unit.kind, unit.direction, unit.method.clone(), unit.subject.clone())
}

/// Returns the words of the left text that a change replaces; `None` if it is not a change of one text.
fn words_of(change: &Change) -> Option<Words> {
    let mut words = Words::new();
    if !change.hunks.is_empty() {
        change.hunks.iter().for_each(|hunk| words_of_hunk(hunk, &mut words));
        return Some(words);
    }
    let text = |json: &Option<String>| serde_json::from_str::<String>(json.as_deref()?).ok();
    changed_words(0, &text(&change.left)?, &text(&change.right)?, &mut words);
    Some(words)
}

fn words_of_hunk(hunk: &Hunk, words: &mut Words) {
    let mut line = hunk.left_line;
    let mut lines = hunk.lines.iter().peekable();
    while let Some(next) = lines.peek() {
        if next.tag == LineTag::Both {
            line += 1;
            lines.next();
            continue;
        }
        let mut removed = Vec::new();
        while let Some(line) = lines.next_if(|line| line.tag == LineTag::Removed) {
            removed.push(&line.text);
        }
        let mut added = Vec::new();
        while let Some(line) = lines.next_if(|line| line.tag == LineTag::Added) {
            added.push(&line.text);
        }
        if removed.len() == added.len() {
            removed
                .iter()
                .zip(&added)
                .enumerate()
                .for_each(|(at, (one, other))| changed_words(line + at, one, other, words));
        } else {
            words.extend((line..=line + removed.len()).map(|line| (line, usize::MAX)));
        }
        line += removed.len();
    }
}

fn changed_words(line: usize, left: &str, right: &str, words: &mut Words) {
    let split =
        |text: &'_ str| -> Vec<String> { text.split_inclusive(char::is_whitespace).map(str::to_owned).collect() };
    let (left, right) = (split(left), split(right));
    for op in similar::capture_diff_slices(similar::Algorithm::Myers, &left, &right) {
        let (tag, one, _) = op.as_tag_tuple();
        if tag != similar::DiffTag::Equal {
            // Words that are inserted belong to the place before which they are.
            let end = one.end.max(one.start + 1);
            words.extend((one.start..end).map(|word| (line, word)));
        }
    }
}
