//! Makes views of a reel, and searches it.

use super::reel::{Reel, Told};
use crate::check::{Check, CheckedReel, Located, Run};
use crate::cli::commands::stats::{self, counting::about};
use crate::cli::commands::validate::{project_settings, unchecked};
use crate::cli::packs::PackOptions;
use crate::error::CommandError;
use crate::render::event::{Clock, Described, EventLines};
use crate::render::text::printable;
use crate::render::{findings, line, sequence, timeline};
use crate::session::filter::Filter;
use crate::session::selection::Selection;
use crate::session::stats::{Counter, Grouping};
use crate::session::steps::Steps;
use crate::session::waits::Waits;
use crate::sessions::injection::MARK;
use crate::trace::{AheadReader, Item};
use crate::tui::ansi::plain;
use crate::tui::effect::{Found, PageKind, PageLine};
use regex::bytes::{Regex, RegexBuilder};

/// At most this many findings are listed.
const MAX_FINDINGS: usize = 5000;

/// What is shown of a reel, and how.
pub(super) struct Paper<'a> {
    pub reel: &'a Reel,
    pub packs: &'a PackOptions,
    pub filter: Filter,
    pub width: usize,
}

impl Paper<'_> {
    /// Makes a view, unless `wanted` says that it is not wanted any more.
    ///
    /// # Errors
    ///
    /// The reel cannot be read, or the settings of the check are invalid.
    pub(super) fn page(&self, kind: PageKind, wanted: &dyn Fn() -> bool) -> Result<Vec<PageLine>, CommandError> {
        match kind {
            PageKind::Sequence | PageKind::Timeline => self.picture(kind, wanted),
            PageKind::Statistics => self.statistics(),
            PageKind::Findings => self.findings(wanted),
            PageKind::Sent | PageKind::Help => Ok(Vec::new()),
        }
    }

    fn picture(&self, kind: PageKind, wanted: &dyn Fn() -> bool) -> Result<Vec<PageLine>, CommandError> {
        let mut steps = Steps::default();
        let ended = self.reel.tell(&self.filter, |told| {
            let Told { event, method, placed, words, selected } = told;
            steps.take(event, *method, (placed, words), *selected, Vec::new());
            wanted()
        })?;
        steps.finish(ended);
        let (palette, width) = (&self.reel.palette, Some(self.width));
        if kind == PageKind::Timeline {
            let drawn = timeline::lines(&Waits::of(&steps), palette, width);
            return Ok(drawn.into_iter().flat_map(|(line, seq)| lines(&line, |_| seq)).collect());
        }
        let mut out = String::new();
        sequence::text(&steps, palette, width, &mut out);
        Ok(lines(&out, first_number))
    }

    fn statistics(&self) -> Result<Vec<PageLine>, CommandError> {
        const GROUPINGS: [Grouping; 3] = [Grouping::Method, Grouping::Tool, Grouping::Error];
        let failed = |error| self.reel.unreadable(&error);
        let mut reader = AheadReader::start(self.reel.reader()?.with_payloads()).map_err(failed)?;
        let mut selection = Selection::new(self.filter.clone());
        let mut counter = Counter::new(self.reel.registry, &GROUPINGS);
        counter.read(0, &mut selection, &mut reader, |_| {}).map_err(failed)?;
        let report = counter.finish(reader.methods());
        let slowest = report.slowest().map(|(_, slowest)| slowest.seq);
        let about = match slowest {
            Some(seq) => about(self.reel.reader()?, seq, self.reel.registry).unwrap_or_default(),
            None => String::new(),
        };
        Ok(lines(
            &stats::human(&report, (&about, Some("the filter `error`")), (&GROUPINGS, true), Some(self.width)),
            last_number,
        ))
    }

    fn findings(&self, wanted: &dyn Fn() -> bool) -> Result<Vec<PageLine>, CommandError> {
        let prepared = project_settings(self.packs, false)?;
        let mut reader = self.reel.reader()?.with_payloads();
        let mut check = Check::new(&prepared.settings, &prepared.baseline);
        check.begin(reader.header());
        while let Some(item) = reader.next().map_err(|error| self.reel.unreadable(&error))? {
            match item {
                Item::Damage(damage) => check.take_damage(&damage),
                Item::Block(block) => {
                    block.events().for_each(|event| check.observe(&event, &mut |_| ()));
                    reader.recycle(block);
                }
            }
            if !wanted() {
                return Ok(Vec::new());
            }
        }
        let checked = CheckedReel { checked: check.finish(&mut |_| ()), ..unchecked(&self.reel.path) };
        let run = Run::new(vec![checked], &prepared.baseline);
        Ok(self.report(&run))
    }

    /// The counts, and the findings in the order of the reel.
    fn report(&self, run: &Run) -> Vec<PageLine> {
        let palette = &self.reel.palette;
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = findings::summary(run, palette, &mut text);
        let mut out = lines(&text, |_| None);
        // The counts, which are the last line of `validate`, come first.
        if let Some(counts) = out.pop() {
            out.insert(0, counts);
        }
        let mut found: Vec<&Located> = run.reels.iter().flat_map(|reel| &reel.checked.findings).collect();
        found.sort_by_key(|found| found.finding.seq);
        for one in found.iter().take(MAX_FINDINGS) {
            text.clear();
            let _ = findings::single(one, self.width, palette, &mut text);
            out.push(PageLine::default());
            out.extend(lines(&text, |_| one.finding.seq));
        }
        if let Some(more) = found.len().checked_sub(MAX_FINDINGS).filter(|more| *more > 0) {
            out.extend(lines(&format!("… and {more} more; `mcpreel validate` lists all"), |_| None));
        }
        out
    }
}

/// The lines of a text of our own, safe for the screen, each with its event.
pub(super) fn lines(text: &str, seq: impl Fn(&str) -> Option<u64>) -> Vec<PageLine> {
    let line = |line: &str| PageLine { text: line.to_owned(), seq: seq(&plain(line)) };
    printable(text, true).lines().map(line).collect()
}

/// The number with which a line of the sequence diagram begins, before a time.
fn first_number(line: &str) -> Option<u64> {
    let mut words = line.split_whitespace();
    let seq = words.next()?.parse().ok()?;
    words.next()?.parse::<f64>().ok().map(|_| seq)
}

/// The number with which a line ends, as the rows of tables with a column `seq` do.
fn last_number(line: &str) -> Option<u64> {
    line.split_whitespace().next_back()?.parse().ok()
}

/// A search.
pub(super) struct Search {
    pub job: u64,
    pub from: u64,
    pub forward: bool,
    pattern: Regex,
}

impl Search {
    /// A search for a text, in any case.
    ///
    /// # Errors
    ///
    /// The text is too long.
    pub(super) fn new(job: u64, needle: &str, from: u64, forward: bool) -> Result<Self, CommandError> {
        let pattern = RegexBuilder::new(&regex::escape(needle)).case_insensitive(true).build();
        let pattern = pattern.map_err(|error| CommandError::usage(format!("cannot search for this: {error}")))?;
        Ok(Self { job, from, forward, pattern })
    }

    /// Finds the next message with the text, or the previous one; else the first or the last of all, which may be the
    /// one where the search began.
    ///
    /// # Errors
    ///
    /// The reel cannot be read.
    pub(super) fn run(&self, reel: &Reel, filter: &Filter, wanted: &dyn Fn() -> bool) -> Result<Found, CommandError> {
        let header = reel.reader()?.header().clone();
        let clock = if header.has_times() { Clock::Offset } else { Clock::Missing };
        let mut event_lines = EventLines::new(clock, header.created, MARK);
        // The match that is wanted, and what is taken if there is none.
        let (mut found, mut other, mut own) = (None, None, None);
        reel.tell(filter, |told| {
            let seq = told.event.header.seq;
            if told.selected && self.matches(told, &mut event_lines) {
                match (self.forward, seq > self.from) {
                    _ if seq == self.from => own = Some(seq),
                    (true, true) | (false, false) => found = Some(seq),
                    (true, false) => other = other.or(Some(seq)),
                    (false, true) => other = Some(seq),
                }
            }
            let is_done = found.is_some() && (self.forward || seq > self.from);
            !is_done && wanted()
        })?;
        Ok(Found { job: self.job, seq: found.or(other).or(own), wrapped: found.is_none() })
    }

    /// Whether the bytes or the line of an event contain the text.
    fn matches(&self, told: &Told<'_>, lines: &mut EventLines) -> bool {
        if self.pattern.is_match(told.event.payload) {
            return true;
        }
        let Told { event, method, placed, words, .. } = *told;
        let mut out = Vec::new();
        lines.line(&Described { event, method, placed, words }, "", |shown| {
            line::write(shown, &crate::render::style::Palette::plain(), None, &mut out);
        });
        self.pattern.is_match(&out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_events_are_found_in_lines() {
        assert_eq!(first_number("  4 0.030  │──▶│  tools/call"), Some(4));
        assert_eq!(first_number("         ide      database-server"), None);
        assert_eq!(first_number("12 more events not drawn; use a filter"), None);
        assert_eq!(last_number("  query  1  1.57 s  1.57 s      4"), Some(4));
    }
}
