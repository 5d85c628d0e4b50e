//! Checking a reel while it grows: findings are printed as they come.

use super::options::Prepared;
use super::{Form, LIVE_LINES};
use crate::check::{Check, Checked, CheckedReel, Located, finding_json};
use crate::cli::Context;
use crate::cli::following::{self, GrowingReel};
use crate::cli::printer::note;
use crate::cli::secret_warning::Shared;
use crate::error::CommandError;
use crate::files::reels;
use crate::render::findings;
use crate::sessions::live::Live;
use crate::trace::{Event, Item};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Prints findings as they come, in the formats that can.
pub(super) struct LivePrinter<'a> {
    pub form: Form,
    pub context: &'a Context,
    /// The reel that the findings are in.
    pub reel: &'a CheckedReel,
    /// What is a secret in them.
    pub shared: &'a mut Shared,
    /// The first failure to print.
    pub failure: Option<CommandError>,
}

impl LivePrinter<'_> {
    /// Prints one finding.
    pub(super) fn print(&mut self, found: &Located) {
        let printer = &self.context.printer;
        let printed = match self.form {
            Form::Human => {
                let mut text = String::new();
                let _ = findings::single(found, printer.width.unwrap_or(LIVE_LINES), &printer.palette, &mut text);
                printer.text(&self.shared.text(text))
            }
            Form::Json => printer.json(&self.shared.json(finding_json(self.reel, found))),
            _ => Ok(()),
        };
        let printed = printed.and_then(|()| printer.flush().map_err(CommandError::output));
        if let Err(error) = printed {
            self.failure.get_or_insert(error);
        }
    }
}

/// Follows a reel until its session ends, or the user interrupts. A session may continue in other reels.
///
/// # Errors
///
/// A reel cannot be read, or the output not written.
pub(super) fn run(
    (path, live): (&Path, Option<&Live>),
    prepared: &Prepared,
    form: Form,
    shared: &mut Shared,
    context: &Context,
) -> Result<Vec<CheckedReel>, CommandError> {
    let mut ending = Ending::new(live, path);
    let mut reels = vec![one((path, &mut ending), &[], prepared, (form, shared), context)?];
    while let Some(next) = ending.next_reel() {
        context.printer.note(&format!("recording continues in {}", next.display()));
        reels.push(one((&next, &mut ending), &reels, prepared, (form, shared), context)?);
    }
    ending.reel.report_end(note);
    Ok(reels)
}

/// Follows one reel to its end. One that continues another has its handshake there: rules that need it are skipped.
fn one(
    (path, ending): (&Path, &mut Ending<'_>),
    before: &[CheckedReel],
    prepared: &Prepared,
    (form, shared): (Form, &mut Shared),
    context: &Context,
) -> Result<CheckedReel, CommandError> {
    let (reader, path) = reels::open(path)?;
    let mut reader = reader.following().with_payloads();
    let reel = CheckedReel { began: reader.header().created, ..super::unchecked(&path) };
    let mut printer = LivePrinter { form, context, reel: &reel, shared, failure: None };
    let live = ending.reel.live();
    let mut check = Check::new(&prepared.settings, &prepared.baseline).after(before).of_reel(reel.began);
    check.begin(reader.header());
    let followed =
        following::follow(&mut reader, || ending.goes_on(), |item| take(item, live, &mut check, &mut printer));
    followed.map_err(|error| CommandError::reading(&path, &error))?;
    let checked: Checked = check.finish(&mut |found| printer.print(found));
    match printer.failure {
        Some(failure) => Err(failure),
        None => Ok(CheckedReel { checked, ..reel }),
    }
}

fn take(item: &Item, live: Option<&Live>, check: &mut Check<'_>, printer: &mut LivePrinter<'_>) {
    let stream = live.map_or(0, |live| live.stream);
    match item {
        Item::Damage(damage) => check.take_damage(damage),
        Item::Block(block) => {
            let wanted = block.events().filter(|event| stream == 0 || event.header.stream == stream);
            for event in wanted {
                let payload = printer.shared.payload(&event);
                let event = Event { header: event.header, payload: &payload };
                check.observe(&event, &mut |found| printer.print(found));
            }
        }
    }
}

/// Says when to stop following: when the reel cannot grow any more, or the user interrupts.
struct Ending<'a> {
    reel: GrowingReel<'a>,
    interrupted: Arc<AtomicBool>,
}

impl<'a> Ending<'a> {
    fn new(live: Option<&'a Live>, path: &Path) -> Self {
        let interrupted = Arc::<AtomicBool>::default();
        // Without a handler, an interrupt ends the command without its summary.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&interrupted));
        Self { reel: GrowingReel::new(live, path), interrupted }
    }

    fn goes_on(&mut self) -> bool {
        !self.interrupted.load(Ordering::Relaxed) && self.reel.goes_on()
    }

    fn next_reel(&mut self) -> Option<PathBuf> {
        self.reel.next_reel(|| self.interrupted.load(Ordering::Relaxed))
    }
}
