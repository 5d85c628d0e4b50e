//! `export --format parquet`: a table of one reel, or a dataset of many.

use super::ExportArgs;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;

#[cfg(feature = "parquet")]
mod folder;

/// Runs the command.
///
/// # Errors
///
/// This mcpreel was built without the feature.
#[cfg(not(feature = "parquet"))]
pub(super) fn run(_args: &ExportArgs, _context: &Context) -> Result<Outcome, CommandError> {
    Err(CommandError::usage("this mcpreel was built without Parquet")
        .hint("build it with the feature: cargo build --release --features parquet"))
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
#[cfg(feature = "parquet")]
pub(super) fn run(args: &ExportArgs, context: &Context) -> Result<Outcome, CommandError> {
    with_feature::run(args, context)
}

#[cfg(feature = "parquet")]
mod with_feature {
    use super::super::{Export, Reached, open_for};
    use super::folder::{Folder, Progressed};
    use super::*;
    use crate::cli::printer::note;
    use crate::cli::recordings::{self, Recorded};
    use crate::cli::secret_warning::SecretWarning;
    use crate::cli::selecting::{parse_filter, split_reels};
    use crate::error::ErrorKind;
    use crate::files::output::{Output, check_apart};
    use crate::files::reels;
    use crate::formats::Exporter;
    use crate::formats::parquet::{Dataset, Settings, file};
    use crate::session::filter::Filter;
    use crate::session::selection::Selection;
    use crate::wire::text::counted;
    use std::io;
    use std::path::{Path, PathBuf};

    pub(super) fn run(args: &ExportArgs, context: &Context) -> Result<Outcome, CommandError> {
        let registry = args.packs.registry()?;
        let (paths, terms) = split_reels(&args.words, registry)?;
        let filter = parse_filter(&terms, registry, !paths.is_empty())?;
        let settings = Settings { registry, host: args.host.clone() };
        let run = Run { args, filter, settings, context };
        let is_folder = args.output.is_dir() || args.output.as_os_str().as_encoded_bytes().ends_with(b"/");
        match &paths[..] {
            [] if !is_folder => run.file(None),
            [path] if !is_folder && !path.is_dir() => run.file(Some(*path)),
            [] => run.dataset(&[recordings::newest()?]),
            paths => run.dataset(&paths.iter().map(|path| path.to_path_buf()).collect::<Vec<_>>()),
        }
    }

    /// Why a reel is left out.
    struct Left {
        reason: String,
        /// Whether it cannot be read, so that another export does not have it, either.
        is_broken: bool,
    }

    impl Left {
        fn broken(path: &Path, error: CommandError) -> Self {
            let name = reels::shown(path);
            let is_named = error.message.contains(&*name.to_string());
            let reason = if is_named { error.message } else { format!("{name}: {}", error.message) };
            Self { reason, is_broken: true }
        }
    }

    struct Run<'a> {
        args: &'a ExportArgs,
        filter: Filter,
        settings: Settings,
        context: &'a Context,
    }

    impl Run<'_> {
        /// Exports one reel to a file.
        fn file(&self, path: Option<&Path>) -> Result<Outcome, CommandError> {
            let (args, output) = (self.args, &self.args.output);
            if output == Path::new("-") && self.context.printer.is_terminal {
                return Err(
                    CommandError::usage("Parquet is no text for a terminal").hint("name a file: -o FILE.parquet")
                );
            }
            let mut exporter = file(&self.settings);
            let opened = open_for(&mut *exporter, path, &args.redact)?;
            check_apart(&opened.path, output)?;
            let mut out = Output::create(output, args.force)?;
            let mut progress = self.context.printer.progress_through("exporting", &opened.path);
            let reached = &mut Reached { progress: &mut progress, before: 0 };
            let done = self.one(opened, (exporter, &mut out), reached)?;
            progress.finish();
            out.finish()?;
            if done.written == 0 && !self.filter.is_empty() {
                note(&format!("no matches among {}", counted(done.read, "event")));
            }
            Ok(if done.is_damaged { Outcome::Findings } else { Outcome::Clean })
        }

        /// Exports a reel.
        fn one(
            &self,
            opened: Recorded,
            (mut exporter, out): (Box<dyn Exporter>, &mut dyn io::Write),
            reached: &mut Reached<'_>,
        ) -> Result<Progressed, CommandError> {
            let Recorded { path, reader, .. } = opened;
            let selection = Selection::new(self.filter.clone());
            let reader = if selection.is_everything() { reader.leaving_long() } else { reader.with_payloads() };
            let warning = SecretWarning::of_reel(&self.args.redact, reader.header())?;
            let exporter = &mut *exporter;
            let mut export = Export { exporter, selection, warning, out, read: 0, written: 0, is_damaged: false };
            export.all(reader, (&path, &self.args.output), reached, self.context)?;
            let Export { warning, read, written, is_damaged, .. } = export;
            warning.print_of_reel(&path);
            Ok(Progressed { read, written, is_damaged })
        }

        /// Exports all reels at these paths into a folder.
        fn dataset(&self, paths: &[PathBuf]) -> Result<Outcome, CommandError> {
            let (args, output) = (self.args, &self.args.output);
            if output == Path::new("-") || output.is_file() {
                return Err(CommandError::usage("several reels become a folder").hint("name one: -o FOLDER/"));
            }
            // Without its key, no reel can be exported.
            args.redact.check()?;
            let folder = Folder::at(output);
            let sources = recordings::expand(paths)?;
            let size = |path: &PathBuf| std::fs::metadata(path).map_or(0, |about| about.len());
            let mut progress = self.context.printer.progress("exporting", sources.iter().map(size).sum());
            let (mut sum, mut count, mut before, mut is_unread) = (Progressed::default(), 0, 0, false);
            for path in &sources {
                let is_found = !paths.contains(path);
                let mut reached = Reached { progress: &mut progress, before };
                match self.added(path, is_found, &folder, &mut reached)? {
                    Ok(done) => {
                        count += 1;
                        sum.add(&done);
                    }
                    Err(Left { reason, is_broken }) => {
                        is_unread |= is_broken;
                        progress.aside(|| note(&format!("left out: {reason}")));
                    }
                }
                before += size(path);
                progress.reach(before);
            }
            progress.finish();
            let (reels, events, files) = (counted(count, "reel"), counted(sum.written, "event"), folder.report());
            note(&format!("{events} of {reels} in {}: {files}", output.display()));
            Ok(if sum.is_damaged || is_unread { Outcome::Findings } else { Outcome::Clean })
        }

        /// Adds a reel to a dataset. The inner `Err` is the reason why it is left out.
        fn added(
            &self,
            path: &Path,
            is_found: bool,
            folder: &Folder,
            reached: &mut Reached<'_>,
        ) -> Result<Result<Progressed, Left>, CommandError> {
            let left = |why: &str| Ok(Err(Left { reason: format!("{} {why}", reels::shown(path)), is_broken: false }));
            if is_found && reels::is_being_written(path) {
                return left("is being recorded");
            }
            let mut exporter = Dataset::exporter(&self.settings, folder.of_one());
            let opened = match open_for(&mut *exporter, Some(path), &self.args.redact) {
                Err(error) if is_found && error.kind == ErrorKind::Input => return Ok(Err(Left::broken(path, error))),
                opened => opened?,
            };
            let done = self.one(opened, (exporter, &mut io::sink()), reached);
            match folder.repeated() {
                Some(file) => left(&format!("is another copy of the recording in {file}")),
                None => done.map(Ok),
            }
        }
    }
}
