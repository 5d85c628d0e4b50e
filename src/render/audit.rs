//! The audit log: its rows as a table and as JSON, and its totals.

use super::line;
use super::table::{BLANK, fitted};
use crate::proposals::audit::OperationOutcome;
use crate::session::audit::Row;
use crate::wire::text::counted;
use crate::wire::units::millis_of;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tabled::settings::Style;

/// The number of operations by name and outcome.
pub(crate) type Counts = BTreeMap<(&'static str, OperationOutcome), u64>;

/// A row as an object. `time` is the row's time in RFC 3339.
pub(crate) fn value(row: &Row, time: &str) -> Value {
    let entry = &row.entry;
    json!({
        "time": time, "seconds": row.time as f64 / 1e9, "seq": row.seq, "stream": row.stream, "server": row.server,
        "operation": entry.operation, "feature_set": entry.feature_set, "inference_id": entry.inference,
        "about": entry.about, "outcome": entry.outcome.name(), "reason": entry.reason,
        "latency_ms": row.latency.map(millis_of),
    })
}

/// Rows as a table of at most `width` columns.
pub(crate) fn table(rows: Vec<Row>, width: Option<usize>) -> String {
    let heading = ["seq", "time", "server", "operation", "feature set", "inference", "about", "outcome", "took"];
    let heading = heading.map(str::to_owned).to_vec();
    let cells = std::iter::once(heading).chain(rows.into_iter().map(cells)).collect();
    fitted(cells, BLANK, &[6, 7, 5, 4, 2], width).with(Style::empty()).to_string()
}

fn cells(row: Row) -> Vec<String> {
    let entry = row.entry;
    let outcome = match entry.reason {
        Some(reason) => format!("{}: {reason}", entry.outcome.name()),
        None => entry.outcome.name().to_owned(),
    };
    let cells = [
        row.seq.to_string(),
        format!("{:.3}", row.time as f64 / 1e9),
        row.server,
        entry.operation.to_owned(),
        entry.feature_set.unwrap_or_default(),
        entry.inference.unwrap_or_default(),
        entry.about,
        outcome,
        row.latency.map(line::duration).unwrap_or_default(),
    ];
    cells.iter().map(|cell| line::visible_text(cell)).collect()
}

/// The totals: how many operations there were, and which did not succeed.
pub(crate) fn summary(counts: &Counts) -> String {
    let bad = counts.iter().filter(|((_, outcome), _)| *outcome != OperationOutcome::Success);
    let bad: Vec<String> = bad.map(|((what, outcome), count)| format!("{count} {what} {}", outcome.name())).collect();
    let rest = if bad.is_empty() { "all succeeded".to_owned() } else { bad.join(", ") };
    format!("{}: {rest}", counted(counts.values().sum::<u64>(), "operation"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_name_what_did_not_succeed() {
        let mut counts = Counts::from([(("push", OperationOutcome::Success), 2)]);
        assert_eq!(summary(&counts), "2 operations: all succeeded");
        counts.insert(("rollback", OperationOutcome::Timeout), 1);
        counts.insert(("push", OperationOutcome::Failure), 3);
        assert_eq!(summary(&counts), "6 operations: 3 push failure, 1 rollback timeout");
    }
}
