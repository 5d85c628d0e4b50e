//! `export --format html`: a page for people without mcpreel.

use super::ExportArgs;
use crate::check::{Check, Checked};
use crate::cli::commands::validate::project_settings;
use crate::cli::redaction::RedactOptions;
use crate::cli::secret_warning::SecretWarning;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::files::output::{Output, check_apart};
use crate::files::reels;
use crate::formats::jsonl::rfc3339;
use crate::page::{SessionPage, Summary};
use crate::render::line::bytes;
use crate::render::prompts;
use crate::session::prompts::Prompts;
use crate::session::selection::Selection;
use crate::trace::{Item, ReelReader};
use std::path::Path;

/// From this size on, in bytes, a browser needs some time to open a page, and mail servers refuse it.
const LARGE_BYTES: u64 = 20_000_000;

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(
    args: &ExportArgs,
    path: Option<&Path>,
    selection: Selection,
    context: &Context,
) -> Result<Outcome, CommandError> {
    let redact = RedactOptions { redact: !args.no_redact, ..args.redact.clone() };
    let is_newest = path.is_none();
    let (reader, path) = redact.open_whole(path)?;
    check_apart(&path, &args.output)?;
    let prepared = project_settings(&args.packs, false)?;
    let mut check = Check::new(&prepared.settings, &prepared.baseline);
    check.begin(reader.header());
    let created =
        format!("{} (UTC)", rfc3339(reader.header().created).split('.').next().unwrap_or_default().replace('T', " "));
    let warning = SecretWarning::of_reel(&redact, reader.header())?;
    let writing = |error: std::io::Error| CommandError::writing(&args.output, &error);
    let title = path.file_name().map_or_else(|| "session".into(), |name| name.to_string_lossy());
    let out = Output::create(&args.output, args.force)?;
    let page = SessionPage::begin(out, &title, args.packs.registry()?).map_err(writing)?;
    let mut export =
        Export { page, selection, check, prompts: Prompts::default(), warning, written: 0, damaged: false };
    export.read(reader.with_payloads(), &path, args, context)?;
    let Export { page, check, prompts, warning, written, damaged, .. } = export;
    let checked: Checked = check.finish(&mut |_| ());
    let (turns, left_out) = prompts.finish();
    reels::report_left_out(left_out, crate::cli::printer::note);
    let turns = turns.iter().map(prompts::value).collect();
    let summary = Summary { created, redacted: redact.redact, damaged, checked: &checked, turns };
    let (out, size) = page.finish(summary).map_err(writing)?;
    out.finish()?;
    if size > LARGE_BYTES {
        context.printer.note(&format!("the page has {}; `mcpreel reel cut` makes a smaller reel", bytes(size)));
    }
    args.report_file(written, &path, (is_newest, redact.redact), context);
    warning.print_of_reel(&path);
    Ok(if damaged { Outcome::Findings } else { Outcome::Clean })
}

/// The page, and what else reads the events.
struct Export<'a> {
    page: SessionPage<Output>,
    selection: Selection,
    check: Check<'a>,
    prompts: Prompts,
    warning: SecretWarning,
    /// The number of events in the page.
    written: u64,
    damaged: bool,
}

impl Export<'_> {
    fn read(
        &mut self,
        mut reader: ReelReader,
        path: &Path,
        args: &ExportArgs,
        context: &Context,
    ) -> Result<(), CommandError> {
        let total = std::fs::metadata(path).map_or(0, |about| about.len());
        let mut progress = context.printer.progress("exporting", total);
        while let Some(item) = reader.next().map_err(|error| CommandError::reading(path, &error))? {
            match item {
                Item::Damage(damage) => {
                    self.damaged = true;
                    self.check.take_damage(&damage);
                    context.printer.note(&damage.to_string());
                }
                Item::Block(block) => {
                    for event in block.events() {
                        let is_selected = self.selection.selects(&event, reader.methods());
                        if is_selected {
                            self.written += 1;
                            self.warning.take(&event);
                            self.prompts.take(&event);
                        }
                        self.check.observe(&event, &mut |_| ());
                        let taken = self.page.take(&event, reader.methods(), is_selected);
                        taken.map_err(|error| CommandError::writing(&args.output, &error))?;
                    }
                    reader.recycle(block);
                    progress.reach(reader.offset());
                }
            }
        }
        progress.finish();
        Ok(())
    }
}
