//! `stats --audit`: the operations of MCPL, one row each.

use super::Format;
use crate::cli::printer::note;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::files::reels;
use crate::formats::jsonl;
use crate::proposals::audit::OperationOutcome as Ended;
use crate::render::line;
use crate::render::table::{BLANK, fitted};
use crate::session::audit::{Audit, Row};
use crate::trace::ReelReader;
use crate::wire::text::counted;
use crate::wire::units::millis_of;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use tabled::settings::Style;

/// A table is printed when it has this many rows, so that memory use stays constant.
const TABLE_ROWS: usize = 1000;

/// Prints a row when its operation has ended, for one stream, or for all if it is 0.
///
/// # Errors
///
/// The reel cannot be read, or the output cannot be written.
pub(super) fn run(
    reader: ReelReader,
    path: &Path,
    stream: u32,
    format: Format,
    context: &Context,
) -> Result<Outcome, CommandError> {
    let created = reader.header().created;
    let mut log = Log { format, created, context, waiting: Vec::new(), counts: BTreeMap::new() };
    let mut audit = Audit::default();
    let damaged = reels::each_event(reader, path, note, |event| {
        let rows = if stream == 0 || event.header.stream == stream { audit.take(event) } else { Vec::new() };
        rows.into_iter().try_for_each(|row| log.take(row))
    })?;
    audit.finish().into_iter().try_for_each(|row| log.take(row))?;
    log.finish()?;
    reels::report_left_out(audit.left_out(), note);
    Ok(if damaged { Outcome::Findings } else { Outcome::Clean })
}

/// Prints rows.
struct Log<'a> {
    format: Format,
    created: i64,
    context: &'a Context,
    waiting: Vec<Row>,
    counts: BTreeMap<(&'static str, &'static str), u64>,
}

impl Log<'_> {
    fn take(&mut self, row: Row) -> Result<(), CommandError> {
        *self.counts.entry((row.entry.operation, row.entry.outcome.name())).or_default() += 1;
        if self.format == Format::Json {
            return self.context.printer.json(&self.to_json(&row));
        }
        self.waiting.push(row);
        if self.waiting.len() >= TABLE_ROWS { self.print() } else { Ok(()) }
    }

    fn to_json(&self, row: &Row) -> Value {
        let entry = &row.entry;
        json!({
            "time": jsonl::rfc3339(self.created.saturating_add(row.time)), "seconds": row.time as f64 / 1e9,
            "seq": row.seq, "stream": row.stream, "server": row.server, "operation": entry.operation,
            "feature_set": entry.feature_set, "inference_id": entry.inference, "about": entry.about,
            "outcome": entry.outcome.name(), "reason": entry.reason,
            "latency_ms": row.latency.map(millis_of),
        })
    }

    fn print(&mut self) -> Result<(), CommandError> {
        let heading = ["seq", "time", "server", "operation", "feature set", "inference", "about", "outcome", "took"];
        let mut rows = vec![heading.map(str::to_owned).to_vec()];
        for row in std::mem::take(&mut self.waiting) {
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
            rows.push(cells.iter().map(|cell| line::visible_text(cell)).collect());
        }
        let mut table = fitted(rows, BLANK, &[6, 7, 5, 4, 2], self.context.printer.width);
        self.context.printer.line(&table.with(Style::empty()).to_string())
    }

    /// Prints the remaining rows and the totals.
    fn finish(&mut self) -> Result<(), CommandError> {
        if self.format == Format::Json {
            return Ok(());
        }
        if self.counts.is_empty() {
            self.context
                .printer
                .note("no MCPL operations: no push, hook, inference, scope request, rollback or channel message");
            return Ok(());
        }
        if !self.waiting.is_empty() {
            self.print()?;
        }
        let all: u64 = self.counts.values().sum();
        let bad = self.counts.iter().filter(|((_, outcome), _)| *outcome != Ended::Success.name());
        let bad: Vec<String> = bad.map(|((what, outcome), count)| format!("{count} {what} {outcome}")).collect();
        let rest = if bad.is_empty() { "all succeeded".to_owned() } else { bad.join(", ") };
        self.context.printer.line(&format!("\n{}: {rest}", counted(all, "operation")))
    }
}
