//! The views of whole connections, which take no filter.

use super::{Format, ShowArgs};
use crate::cli::Context;
use crate::cli::printer::note;
use crate::cli::secret_warning::SecretWarning;
use crate::error::CommandError;
use crate::files::reels;
use crate::session::LeftOut;
use crate::sessions::live::Live;
use crate::trace::{Event, ReelReader};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Passes every event of the named reel or live session to `take`. Returns whether it is damaged.
///
/// # Errors
///
/// Something selects a part of it, or it cannot be read.
pub(super) fn each_event(
    args: &ShowArgs,
    view: &str,
    (live, path, terms): (Option<&Live>, Option<&Path>, &str),
    context: &Context,
    mut take: impl FnMut(&Event<'_>),
) -> Result<bool, CommandError> {
    let (reader, path) = open(args, view, live, path, terms)?;
    let mut progress = context.printer.progress_through("reading", &path);
    let reach = |position| progress.reach(position);
    let damaged = reels::each_event(reader, &path, note, reach, |event| {
        take(event);
        Ok(())
    })?;
    progress.finish();
    Ok(damaged)
}

fn open(
    args: &ShowArgs,
    view: &str,
    live: Option<&Live>,
    path: Option<&Path>,
    terms: &str,
) -> Result<(ReelReader, PathBuf), CommandError> {
    let is_part = args.from.is_some() || args.seq.is_some() || args.limit.is_some() || args.last.is_some();
    if !terms.is_empty() || is_part {
        let what = if is_part { "--from, --seq, --limit or --last" } else { "a filter" };
        let error =
            CommandError::usage(format!("--view {view} shows whole connections and cannot be combined with {what}"));
        return Err(error.hint("name only a reel or a session"));
    }
    if args.check {
        return Err(
            CommandError::usage(format!("--view {view} has no place for findings")).hint("use `mcpreel validate`")
        );
    }
    match live {
        Some(live) => reels::open(&live.reel()?).map(|(reader, path)| (reader.following(), path)),
        None => args.redact.open_whole(path),
    }
}

/// Prints the parts of a view, and warns of secrets in them.
pub(super) struct PartPrinter<'a> {
    is_json: bool,
    context: &'a Context,
    warning: SecretWarning,
}

impl<'a> PartPrinter<'a> {
    /// Prints in the format that was asked for.
    ///
    /// # Errors
    ///
    /// The settings of redaction cannot be read.
    pub(super) fn new(args: &ShowArgs, context: &'a Context) -> Result<Self, CommandError> {
        let warning = SecretWarning::of_output(&args.redact, &context.printer)?;
        Ok(Self { is_json: args.format == Format::Json, context, warning })
    }

    /// Prints a part as JSON or as text.
    ///
    /// # Errors
    ///
    /// Standard output cannot be written.
    pub(super) fn print(
        &mut self,
        value: impl FnOnce() -> Value,
        text: impl FnOnce(&mut String),
    ) -> Result<(), CommandError> {
        if self.is_json {
            let value = value();
            self.warning.take_text(&value.to_string());
            return self.context.printer.json(&value);
        }
        let mut lines = String::new();
        text(&mut lines);
        self.warning.take_text(&lines);
        self.context.printer.line(lines.trim_end())
    }

    /// Warns if there were secrets, and reports the events of streams that were left out.
    pub(super) fn finish(self, left_out: LeftOut) {
        self.warning.print();
        reels::report_left_out(left_out, note);
    }
}
