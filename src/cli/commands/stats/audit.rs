//! `stats --audit`: the operations of MCPL, one row each.

use crate::cli::printer::{Format, note};
use crate::cli::secret_warning::SecretWarning;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::files::reels;
use crate::formats::jsonl;
use crate::render::audit;
use crate::session::audit::{Audit, Row};
use crate::trace::ReelReader;
use std::cell::RefCell;
use std::path::Path;

/// A table is printed when it has this many rows, so that memory use stays constant.
const TABLE_ROWS: usize = 1000;

/// Prints a row when its operation has ended, for one stream, or for all if it is 0.
///
/// # Errors
///
/// The reel cannot be read, or the output cannot be written.
pub(super) fn run(
    reader: ReelReader,
    (path, stream): (&Path, u32),
    format: Format,
    warning: SecretWarning,
    context: &Context,
) -> Result<Outcome, CommandError> {
    let created = reader.header().created;
    let mut log = Log { format, created, context, waiting: Vec::new(), counts: audit::Counts::new(), warning };
    let mut operations = Audit::default();
    let progress = RefCell::new(context.printer.progress_through("reading", path));
    let reach = |position| progress.borrow_mut().reach(position);
    let damaged = reels::each_event(reader, path, note, reach, |event| {
        let rows = if stream == 0 || event.header.stream == stream { operations.take(event) } else { Vec::new() };
        rows.into_iter().try_for_each(|row| progress.borrow().aside(|| log.take(row)))
    })?;
    progress.into_inner().finish();
    operations.finish().into_iter().try_for_each(|row| log.take(row))?;
    log.finish()?;
    log.warning.print();
    reels::report_left_out(operations.left_out(), note);
    Ok(if damaged { Outcome::Findings } else { Outcome::Clean })
}

/// Prints rows.
struct Log<'a> {
    format: Format,
    created: i64,
    context: &'a Context,
    waiting: Vec<Row>,
    counts: audit::Counts,
    warning: SecretWarning,
}

impl Log<'_> {
    fn take(&mut self, row: Row) -> Result<(), CommandError> {
        *self.counts.entry((row.entry.operation, row.entry.outcome)).or_default() += 1;
        if self.format == Format::Json {
            let value = audit::value(&row, &jsonl::rfc3339(self.created.saturating_add(row.time)));
            self.warning.take_text(&value.to_string());
            return self.context.printer.json(&value);
        }
        self.waiting.push(row);
        if self.waiting.len() >= TABLE_ROWS { self.print() } else { Ok(()) }
    }

    fn print(&mut self) -> Result<(), CommandError> {
        let table = audit::table(std::mem::take(&mut self.waiting), self.context.printer.width);
        self.warning.take_text(&table);
        self.context.printer.line(&table)
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
        self.context.printer.line(&format!("\n{}", audit::summary(&self.counts)))
    }
}
