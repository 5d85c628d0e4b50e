//! Counts reels, one after another.

use super::{CommandError, Context, Grouping, Registry, Report, StatsArgs, opened, recordings, reels};
use crate::cli::printer::note;
use crate::cli::recordings::twice::TwicePath;
use crate::cli::redaction::RedactOptions;
use crate::error::ErrorKind;
use crate::session::filter::Filter;
use crate::session::selection::Selection;
use crate::session::stats::{Counter, Tally};
use crate::session::summary::Depth;
use crate::session::view::{Placed, Words};
use crate::trace::{AheadReader, Item, ReelReader};
use std::path::{Path, PathBuf};

/// The limit for blocks that are read ahead, in bytes. Less takes more time, and more takes more memory.
const MAX_READ_AHEAD: usize = 384 << 10;

/// What is counted.
pub(super) enum Source<'a> {
    /// One reel by its path, the newest reel, or the reel of a live session.
    One(&'a StatsArgs, Option<PathBuf>),
    /// One reel that was redacted, or that came from a pipe: a copy that is read twice.
    Copied(TwicePath),
    /// One of several; `true` if it was found in a folder.
    Several(PathBuf, bool),
}

impl<'a> Source<'a> {
    /// The reels at these paths; folders are expanded.
    ///
    /// # Errors
    ///
    /// A folder cannot be read or contains no reels.
    pub(super) fn all(paths: &[&Path], args: &'a StatsArgs) -> Result<Vec<Self>, CommandError> {
        match paths {
            [] => Self::one(args, None).map(|one| vec![one]),
            [path] if !path.is_dir() => Self::one(args, Some(path)).map(|one| vec![one]),
            _ => {
                let paths: Vec<PathBuf> = paths.iter().map(|path| path.to_path_buf()).collect();
                if paths.iter().filter(|path| **path == Path::new("-")).count() > 0 {
                    return Err(CommandError::usage("`-` can only be the one reel"));
                }
                let found = |path: PathBuf| {
                    let is_found = !paths.contains(&path);
                    Self::Several(path, is_found)
                };
                Ok(recordings::expand(&paths)?.into_iter().map(found).collect())
            }
        }
    }

    fn one(args: &'a StatsArgs, path: Option<&Path>) -> Result<Self, CommandError> {
        let is_other = |path: PathBuf| path.exists() && !path.is_file() || path == Path::new("-");
        let is_pipe = || path.is_some_and(|path| is_other(reels::found(path)));
        match args.session.is_none() && (args.redact.redact || is_pipe()) {
            true => args.redact.twice(path).map(Self::Copied),
            false => Ok(Self::One(args, path.map(Path::to_path_buf))),
        }
    }

    /// Opens it, if it is the only one. Also returns its path and its stream (0 for all).
    fn open(&self) -> Result<Option<(ReelReader, PathBuf, u32)>, CommandError> {
        match self {
            Self::One(args, path) => opened(args, path.as_deref()).map(Some),
            Self::Copied(copy) => copy.open().map(|opened| Some((opened.reader, opened.path, 0))),
            Self::Several(..) => Ok(None),
        }
    }

    /// Its length in bytes; 0 if that is unknown.
    fn size(&self) -> u64 {
        match self {
            Self::Several(path, _) => std::fs::metadata(path).map_or(0, |about| about.len()),
            Self::One(..) | Self::Copied(_) => 0,
        }
    }
}

/// How reels are counted.
pub(super) struct Counting<'a> {
    pub filter: Filter,
    pub registry: &'static Registry,
    pub groupings: Vec<Grouping>,
    pub redact: &'a RedactOptions,
    pub context: &'a Context,
}

impl Counting<'_> {
    /// Counts all reels together. Also returns their names.
    ///
    /// # Errors
    ///
    /// A reel cannot be read.
    pub(super) fn all(&self, sources: &[Source<'_>]) -> Result<(Report, Vec<String>), CommandError> {
        if let [source] = sources
            && let Some((reader, path, stream)) = source.open()?
        {
            let mut progress = self.context.printer.progress_through("counting", &path);
            let report = self.one(reader, (&path, stream), |at| progress.reach(at))?;
            progress.finish();
            return Ok((report, vec![reels::shown(&path)]));
        }
        let mut progress = self.context.printer.progress("counting", sources.iter().map(Source::size).sum());
        let (mut sum, mut names, mut done) = (Report { is_merged: true, ..Report::default() }, Vec::new(), 0);
        for source in sources {
            let Source::Several(path, is_found) = source else { continue };
            let opened = match self.redact.open(path, Some(note)) {
                Err(error) if *is_found && error.kind == ErrorKind::Input => {
                    progress.aside(|| note(&format!("left out: {}", error.message)));
                    continue;
                }
                opened => opened?,
            };
            let mut report = self.one(opened.reader, (path, 0), |at| progress.reach(done + at))?;
            done += source.size();
            progress.reach(done);
            let name = path.display().to_string();
            report.name_sessions(&name);
            sum.merge(&report);
            sum.groups.entry(Grouping::Reel).or_default().merge(name.clone(), &whole(&report));
            names.push(name);
        }
        progress.finish();
        Ok((sum, names))
    }

    /// Counts one reel.
    fn one(
        &self,
        reader: ReelReader,
        (path, stream): (&Path, u32),
        reach: impl FnMut(u64),
    ) -> Result<Report, CommandError> {
        let failed = |error| CommandError::reading(path, &error);
        let needs = !self.filter.is_empty() || self.groupings.iter().any(|grouping| grouping.needs_payloads());
        let reader = if needs { reader.with_payloads() } else { reader.checking_payloads().loading_undescribed() };
        let mut reader = AheadReader::within(reader, MAX_READ_AHEAD).map_err(failed)?;
        let mut selection = Selection::new(self.filter.clone());
        let mut counter = Counter::new(self.registry, &self.groupings);
        counter.read(stream, &mut selection, &mut reader, reach).map_err(failed)?;
        Ok(counter.finish(reader.methods()))
    }

    /// What the slowest request of a single reel is about. Empty if the reel cannot be read again.
    pub(super) fn about_slowest(&self, sources: &[Source<'_>], report: &Report) -> String {
        let read = || {
            let [source] = sources else { return None };
            let (_, slowest) = report.slowest()?;
            let (reader, ..) = source.open().ok()??;
            about(reader, slowest.seq, self.registry)
        };
        read().unwrap_or_default()
    }
}

/// The counts of a whole reel as one row.
fn whole(report: &Report) -> Tally {
    let mut row = report.total();
    row.bytes = report.bytes;
    row
}

/// What the request with this number is about.
pub(in crate::cli::commands) fn about(reader: ReelReader, seq: u64, registry: &'static Registry) -> Option<String> {
    let mut reader = reader.following().with_payloads();
    reader.seek_seq(seq).ok()?;
    while let Some(item) = reader.next().ok()? {
        let Item::Block(block) = item else { continue };
        if let Some(event) = block.events().find(|event| event.header.seq == seq) {
            let number = event.header.message.as_ref()?.method?;
            let mut words = Words::knowing(registry);
            let method = reader.methods().get(number as usize).map(|name| &**name);
            words.report(&event, method, &Placed::default(), Depth::Subject);
            return Some(words.about);
        }
    }
    None
}
