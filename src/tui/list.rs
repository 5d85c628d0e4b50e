//! The list of messages: all rows by number, and the formatted lines of those around the screen.

use super::effect::{Lines, Progress, Row, Scanned, WantedLine};
use super::keys::Motion;
use std::collections::HashMap;
use std::ops::Range;

/// At most this many rows are listed.
pub(crate) const MAX_ROWS: usize = 16_000_000;
/// At most this many formatted lines are kept.
const MAX_LINES: usize = 1000;
/// No counterpart.
const NONE: u32 = u32::MAX;

/// The list.
#[derive(Debug, Default)]
pub(crate) struct List {
    rows: Vec<Row>,
    /// The counterpart of each event, by number.
    pairs: Vec<u32>,
    /// The places of the rows where something failed.
    failures: Vec<u32>,
    /// The number of events that were read, and how far that is.
    pub read: u64,
    pub progress: Progress,
    /// What is wrong with the reel: the first that was found.
    pub damage: Option<String>,
    /// The headings of the columns.
    pub headings: Option<String>,
    lines: HashMap<u32, String>,
    layout: u64,
    /// Whether lines were asked for that did not come yet.
    is_waiting: bool,
    cursor: usize,
    top: usize,
    height: usize,
    /// Whether the cursor stays at the newest row.
    pub follows: bool,
    /// The event where the cursor should be, when its row comes.
    target: Option<u32>,
}

impl List {
    /// The list of another reel.
    pub(crate) fn reopened(&self, follows: bool) -> Self {
        Self { layout: self.layout + 1, height: self.height, follows, ..Self::default() }
    }

    /// Removes the rows, which come anew. The cursor stays at its event.
    pub(crate) fn rescan(&mut self) {
        self.target = self.selected().map(|row| row.seq).or(self.target);
        self.rows.clear();
        self.failures.clear();
        (self.read, self.progress, self.cursor, self.top) = (0, Progress::Reading, 0, 0);
    }

    /// Adds rows.
    pub(crate) fn append(&mut self, scanned: Scanned) {
        let Scanned { rows, pairs, read, progress, .. } = scanned;
        (self.read, self.progress) = (read, progress);
        for row in rows.into_iter().take(MAX_ROWS - self.rows.len()) {
            if row.failed {
                self.failures.extend(u32::try_from(self.rows.len()).ok());
            }
            self.rows.push(row);
        }
        for (one, other) in pairs {
            self.pair(one, other);
            self.pair(other, one);
        }
        self.settle();
    }

    fn pair(&mut self, one: u32, other: u32) {
        let at = one as usize;
        if at >= self.pairs.len() {
            self.pairs.resize(at + 1, NONE);
        }
        self.pairs[at] = other;
    }

    /// Puts the cursor where it should be, after rows were added.
    fn settle(&mut self) {
        if let Some(target) = self.target {
            let place = self.place_of(u64::from(target));
            self.cursor = place.min(self.rows.len().saturating_sub(1));
            if place < self.rows.len() || self.progress != Progress::Reading {
                self.target = None;
            }
        }
        if self.follows {
            self.cursor = self.rows.len().saturating_sub(1);
        }
        self.scroll();
    }

    /// The place of the first row with this event or a later one.
    fn place_of(&self, seq: u64) -> usize {
        self.rows.partition_point(|row| u64::from(row.seq) < seq)
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are more rows than are listed.
    pub(crate) fn is_full(&self) -> bool {
        self.rows.len() == MAX_ROWS
    }

    /// The row with the cursor.
    pub(crate) fn selected(&self) -> Option<Row> {
        self.rows.get(self.cursor).copied()
    }

    /// The rows on the screen, each with its line, if that is there, and whether it has the cursor.
    pub(crate) fn visible(&self) -> impl Iterator<Item = (Row, Option<&str>, bool)> {
        self.screen().map(|at| {
            let row = self.rows[at];
            (row, self.lines.get(&row.seq).map(String::as_str), at == self.cursor)
        })
    }

    fn screen(&self) -> Range<usize> {
        let end = (self.top + self.height).min(self.rows.len());
        self.top.min(end)..end
    }

    /// Whether something failed in each of so many equal parts of the list, and whether the part is on the screen. Empty
    /// if the whole list is.
    pub(crate) fn map(&self, parts: usize) -> Vec<(bool, bool)> {
        if self.rows.len() <= self.height {
            return Vec::new();
        }
        let (count, screen) = (self.rows.len().max(1), self.screen());
        let part = |number: usize| {
            let (start, end) = (number * count / parts, ((number + 1) * count).div_ceil(parts));
            let next = self.failures.partition_point(|at| (*at as usize) < start);
            let fails = self.failures.get(next).is_some_and(|at| (*at as usize) < end);
            (fails, start < screen.end && screen.start < end)
        };
        (0..parts).map(part).collect()
    }

    pub(crate) fn resize(&mut self, height: usize, is_wider_or_narrower: bool) {
        self.height = height;
        if is_wider_or_narrower {
            (self.layout, self.is_waiting) = (self.layout + 1, false);
            self.lines.clear();
        }
        self.scroll();
    }

    pub(crate) fn go(&mut self, motion: Motion) {
        self.put(motion.from(self.cursor, self.rows.len(), self.height));
    }

    /// Goes to the event with this number, or to the next one that is listed. Returns whether it is listed.
    pub(crate) fn go_to_event(&mut self, seq: u64) -> bool {
        let place = self.place_of(seq);
        self.put(place.min(self.rows.len().saturating_sub(1)));
        self.selected().is_some_and(|row| u64::from(row.seq) == seq)
    }

    /// Goes to the next failure, or to the previous one. Returns whether there is one.
    pub(crate) fn go_to_failure(&mut self, forward: bool) -> bool {
        let (cursor, failures) = (self.cursor, &self.failures);
        let found = match forward {
            true => failures.get(failures.partition_point(|at| *at as usize <= cursor)),
            false => {
                failures.partition_point(|at| (*at as usize) < cursor).checked_sub(1).and_then(|at| failures.get(at))
            }
        };
        let Some(found) = found else { return false };
        self.put(*found as usize);
        true
    }

    fn put(&mut self, cursor: usize) {
        (self.cursor, self.target, self.follows) = (cursor, None, false);
        self.scroll();
    }

    /// Stays at the newest row from now on, or no longer.
    pub(crate) fn follow(&mut self, follows: bool) {
        self.follows = follows;
        self.settle();
    }

    /// The counterpart of an event: the response of a request, and the request of a response.
    pub(crate) fn counterpart(&self, seq: u32) -> Option<u32> {
        self.pairs.get(seq as usize).copied().filter(|other| *other != NONE)
    }

    /// What is needed to format the line of a row.
    pub(crate) fn wanted_line(&self, row: Row) -> WantedLine {
        let asked = self.counterpart(row.seq).filter(|other| *other < row.seq);
        WantedLine { seq: row.seq, asked, brackets: row.brackets, outcome: row.outcome }
    }

    /// The lines that are missing on the screen and below it, and for which layout. None while others are awaited.
    pub(crate) fn missing(&mut self) -> Option<(u64, Vec<WantedLine>)> {
        let is_missing = |at: &usize| !self.lines.contains_key(&self.rows[*at].seq);
        if self.is_waiting || !self.screen().any(|at| is_missing(&at)) {
            return None;
        }
        let Range { start, end } = self.screen();
        let ahead = start..(end + self.height).min(self.rows.len());
        let wanted: Vec<WantedLine> = ahead.filter(is_missing).map(|at| self.wanted_line(self.rows[at])).collect();
        self.is_waiting = true;
        Some((self.layout, wanted))
    }

    /// Takes formatted lines.
    pub(crate) fn take(&mut self, lines: Lines) {
        if lines.layout != self.layout {
            return;
        }
        self.is_waiting = false;
        self.headings = lines.headings.or(self.headings.take());
        if self.lines.len() > MAX_LINES {
            self.lines.clear();
        }
        self.lines.extend(lines.lines);
    }

    /// Keeps the cursor on the screen.
    fn scroll(&mut self) {
        let height = self.height.max(1);
        self.top = self.top.min(self.cursor).max((self.cursor + 1).saturating_sub(height));
        self.top = self.top.min(self.rows.len().saturating_sub(height));
    }
}
