//! Compares what was recorded with what came back.

use super::ReplayArgs;
use crate::cli::printer::note;
use crate::diff::{self, Collector, Options, Recording, Report};
use crate::error::{CommandError, ErrorKind};
use crate::record::reels;
use crate::replay::{Plan, Substitutions};
use crate::trace::Event;
use std::path::Path;

/// Compares the recorded session, as far as it was sent, with the new one.
///
/// # Errors
///
/// The new session cannot be read.
pub(super) fn sessions(
    plan: &Plan,
    substitutions: &Substitutions,
    reel: &Path,
    args: &ReplayArgs,
) -> Result<Report, CommandError> {
    let options = args.compare.options();
    let mut left = Collector::new(&options).with_stderr(args.compare.stderr);
    for event in plan.compared().map(|entry| entry.event()).chain(plan.stderr()) {
        take(&mut left, event, substitutions);
    }
    let mut right = Collector::new(&options).with_stderr(args.compare.stderr);
    let (reader, path) = reels::open(Some(reel))?;
    reels::each_event(reader, &path, note, |event| {
        right.take(event);
        Ok(())
    })?;
    report(&left.finish(), &right.finish(), &options)
}

/// Takes an event of the recording, with the live server's values in place of the recorded ones.
fn take(collector: &mut Collector<'_>, event: Event<'_>, substitutions: &Substitutions) {
    match substitutions.apply(event.payload) {
        Some(payload) => collector.take(&Event { payload: &payload, ..event }),
        None => collector.take(&event),
    }
}

/// Compares a live answer with the recorded one. Values that the server generated do not count.
pub(super) fn answer(plan: &Plan, seq: u64, message: &[u8], args: &ReplayArgs) -> Option<Report> {
    let options = args.compare.options();
    let (asked, answer) = plan.exchange(seq)?;
    let side = |payload: &[u8]| {
        let mut collector = Collector::new(&options);
        collector.take(&asked.event());
        collector.take(&Event { payload, ..answer.event() });
        collector.finish()
    };
    report(&side(answer.body()), &side(message), &options).ok()
}

fn report(left: &Recording, right: &Recording, options: &Options) -> Result<Report, CommandError> {
    // All texts were kept.
    diff::compare(left, right, options)
        .map_err(|_| CommandError::new(ErrorKind::Internal, "the sessions cannot be compared"))
}
