//! `show --check`: findings below the messages that they are about.

use super::super::validate::{options::Prepared, project_settings};
use crate::check::{Check, CheckedReel, Located, Run, finding_json};
use crate::cli::packs::PackOptions;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::render::findings;
use crate::trace::{Damage, Event, FileHeader};
use crate::wire::text::counted;
use serde_json::Value;
use std::path::Path;

/// The width of findings if stdout is not a terminal.
const WIDTH: usize = 100;

/// The maximum number of findings below an event: a batch may have a hundred thousand.
const MAX_BELOW: usize = 1000;

/// The settings of the check, as `validate` has them without options.
///
/// # Errors
///
/// The settings file is invalid.
pub(super) fn prepare(packs: &PackOptions) -> Result<Prepared, CommandError> {
    project_settings(packs, false)
}

/// Checks the events that `show` reads.
pub(super) struct Checking<'a> {
    prepared: &'a Prepared,
    check: Check<'a>,
    /// The reel, without what was found.
    reel: CheckedReel,
    /// The findings of the current event.
    found: Vec<Located>,
    /// The number of findings that are not shown below their event.
    not_shown: u64,
}

impl<'a> Checking<'a> {
    pub(super) fn new(prepared: &'a Prepared, path: &Path, header: &FileHeader) -> Self {
        let reel = super::super::validate::unchecked(path);
        let mut check = Check::new(&prepared.settings, &prepared.baseline);
        check.begin(header);
        Self { prepared, check, reel, found: Vec::new(), not_shown: 0 }
    }

    /// Takes the next event, whether it is shown or not.
    pub(super) fn observe(&mut self, event: &Event<'_>) {
        self.found.clear();
        let Self { check, found: shown, not_shown, .. } = self;
        check.observe(event, &mut |found| match shown.len() {
            ..MAX_BELOW => shown.push(found.clone()),
            _ => *not_shown += 1,
        });
    }

    pub(super) fn take_damage(&mut self, damage: &Damage) {
        self.check.take_damage(damage);
    }

    /// The findings of the current event as JSON; empty if there are none.
    pub(super) fn json(&self) -> Vec<Value> {
        self.found.iter().map(|found| finding_json(&self.reel, found)).collect()
    }

    /// Prints the findings of the current event, below it.
    pub(super) fn print(&self, context: &Context) -> Result<(), CommandError> {
        self.found.iter().try_for_each(|found| print(found, context))
    }

    /// Ends the check: prints what concerns whole sessions, and the counts to stderr.
    pub(super) fn finish(self, is_text: bool, context: &Context) -> Result<Outcome, CommandError> {
        let mut last = Vec::new();
        let checked = self.check.finish(&mut |found| last.push(found.clone()));
        let run = Run::new(vec![CheckedReel { checked, ..self.reel }], &self.prepared.baseline);
        if is_text {
            last.iter().try_for_each(|found| print(found, context))?;
        }
        if self.not_shown > 0 {
            let more = counted(self.not_shown, "finding");
            context.printer.note(&format!("{more} not shown: the events have more than {MAX_BELOW} each"));
        }
        context.printer.report(|palette| {
            let mut text = String::new();
            let _ = findings::summary(&run, palette, &mut text);
            text
        });
        Ok(if run.has_failed(&self.prepared.settings) { Outcome::Findings } else { Outcome::Clean })
    }
}

fn print(found: &Located, context: &Context) -> Result<(), CommandError> {
    let printer = &context.printer;
    let mut text = String::new();
    let _ = findings::single(found, printer.width.unwrap_or(WIDTH), &printer.palette, &mut text);
    let indented: String = text.lines().map(|line| format!("      {line}\n")).collect();
    printer.text(&indented)
}
