//! How much text each server puts into the prompts, and by which means.

use crate::session::prompts::TurnParts;
use std::collections::BTreeMap;

/// The texts of one server and source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContextRow {
    /// The server's name; empty for what the user writes.
    pub server: String,
    /// Where the texts come from: a proposal and what it sends, `tool result`, `instructions`, …
    pub source: String,
    /// Whether they belong into every prompt.
    pub is_in_every: bool,
    /// The number of texts.
    pub texts: u64,
    /// The number of turns with such a text.
    pub turns: u64,
    /// The number of bytes in all turns together. What belongs into every prompt counts once for each turn.
    pub bytes: u64,
    /// The number of bytes in the turn with the most.
    pub max: u64,
}

/// The texts of a reel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContextReport {
    /// The number of turns.
    pub turns: u64,
    /// The rows, largest first.
    pub rows: Vec<ContextRow>,
}

impl ContextReport {
    /// Adds up what belongs into the prompts of these turns.
    pub(crate) fn of(all: &[TurnParts]) -> Self {
        let turns = all.iter().filter(|turn| turn.number > 0).count() as u64;
        let mut rows: BTreeMap<(String, String, bool), ContextRow> = BTreeMap::new();
        for turn in all {
            for ((server, source), (texts, bytes)) in sums(turn) {
                let is_in_every = turn.number == 0;
                let key = (server.to_owned(), source.to_owned(), is_in_every);
                let row = rows.entry(key).or_insert_with_key(|(server, source, _)| ContextRow {
                    server: server.clone(),
                    source: source.clone(),
                    is_in_every,
                    ..ContextRow::default()
                });
                let times = if is_in_every { turns.max(1) } else { 1 };
                row.texts += texts;
                row.turns += times;
                row.bytes += bytes * times;
                row.max = row.max.max(bytes);
            }
        }
        let mut rows: Vec<ContextRow> = rows.into_values().collect();
        rows.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| (&a.server, &a.source).cmp(&(&b.server, &b.source))));
        Self { turns, rows }
    }

    /// The mean number of bytes that a row adds to a turn.
    pub(crate) fn per_turn(&self, row: &ContextRow) -> u64 {
        row.bytes / self.turns.max(1)
    }
}

/// The number of texts and bytes of each server and source in a turn.
fn sums(turn: &TurnParts) -> BTreeMap<(&str, &str), (u64, u64)> {
    let mut sums: BTreeMap<(&str, &str), (u64, u64)> = BTreeMap::new();
    for part in &turn.parts {
        let (texts, bytes) = sums.entry((&part.server, &part.source)).or_default();
        *texts += 1;
        *bytes += part.bytes;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::prompts::PromptPart;

    fn turn(number: u64, parts: &[(&str, &str, u64)]) -> TurnParts {
        let part = |(server, source, bytes): &(&str, &str, u64)| PromptPart {
            seq: 0,
            stream: 1,
            server: (*server).to_owned(),
            source: (*source).to_owned(),
            name: String::new(),
            excerpt: String::new(),
            bytes: *bytes,
        };
        TurnParts { number, parts: parts.iter().map(part).collect(), ..TurnParts::default() }
    }

    #[test]
    fn what_is_in_every_prompt_counts_for_each_turn() {
        let report = ContextReport::of(&[
            turn(0, &[("db", "tools", 1000)]),
            turn(1, &[("db", "reminder", 10), ("db", "reminder", 30)]),
            turn(2, &[("db", "reminder", 20), ("web", "reminder", 7)]),
        ]);
        let rows: Vec<_> = report
            .rows
            .iter()
            .map(|row| (&*row.server, &*row.source, row.texts, row.turns, row.bytes, row.max, report.per_turn(row)))
            .collect();
        let expected = [
            ("db", "tools", 1, 2, 2000, 1000, 1000),
            ("db", "reminder", 3, 2, 60, 40, 30),
            ("web", "reminder", 1, 1, 7, 7, 3),
        ];
        assert_eq!((report.turns, rows), (2, expected.to_vec()));
    }
}
