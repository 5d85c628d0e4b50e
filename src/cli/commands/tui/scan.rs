//! Reads the numbers of all events for the list, and follows a reel that grows.

use super::reel::{Reel, is_listed};
use crate::cli::following::GrowingReel;
use crate::error::CommandError;
use crate::render::brackets::Brackets;
use crate::render::event::{mood, place};
use crate::render::line::Emphasis;
use crate::session::filter::{Filter, FilterInput, tool_name};
use crate::session::view::{Placed, Viewer, is_request, method_name};
use crate::trace::{Block, Event, EventHeader, EventKind, Item};
use crate::tui::effect::{Progress, Row, Scanned};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often new rows are passed on.
const INTERVAL: Duration = Duration::from_millis(15);
/// How long to wait before a growing reel is read again: the recorder writes every 25 ms.
const PAUSE: Duration = Duration::from_millis(8);
/// At most this many rows are passed on at a time.
const MAX_ROWS: usize = 32 << 10;

/// A scan of a reel.
pub(super) struct Scan<'a> {
    reel: &'a Reel,
    filter: Filter,
    viewer: Viewer,
    brackets: Brackets,
    drawn: String,
    /// What was not passed on yet.
    found: Scanned,
    passed_on: Instant,
    /// The number of events that were passed on; `None` before the first rows.
    passed: Option<u64>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(reel: &'a Reel, filter: Filter, scan: u64) -> Self {
        let found = Scanned { scan, ..Scanned::default() };
        let (viewer, brackets) = (Viewer::default(), Brackets::default());
        Self { reel, filter, viewer, brackets, drawn: String::new(), found, passed_on: Instant::now(), passed: None }
    }

    /// Reads the reel, and passes rows to `pass`, until the reel has ended or `pass` returns false. Returns the reel in
    /// which its session continues; `wanted` says whether to wait for that.
    ///
    /// # Errors
    ///
    /// The reel cannot be read.
    pub(super) fn run(
        mut self,
        mut pass: impl FnMut(Scanned) -> bool,
        wanted: impl Fn() -> bool,
    ) -> Result<Option<PathBuf>, CommandError> {
        let reel = self.reel;
        let failed = |error| reel.unreadable(&error);
        let mut reader = reel.reader()?;
        let mut growing = GrowingReel::new(reel.live.as_ref(), &reel.path);
        let mut is_last_look = false;
        while wanted() {
            match reader.next().map_err(failed)? {
                Some(Item::Damage(damage)) if !damage.of_index => {
                    self.found.damage.get_or_insert(damage.to_string());
                }
                Some(Item::Damage(_)) => {}
                Some(Item::Block(mut block)) => {
                    if self.needs_payload(&block, reader.methods()) {
                        // What is damaged is listed without its payload.
                        let _ = reader.load_payload(&mut block).map_err(failed)?;
                    }
                    self.block(&block, reader.methods());
                    reader.recycle(block);
                    if self.is_due() && !pass(self.take(Progress::Reading)) {
                        return Ok(None);
                    }
                }
                None if is_last_look || reader.has_ended() => break,
                None => {
                    let is_news = self.found.progress == Progress::Reading || self.passed != Some(self.found.read);
                    if is_news && !pass(self.take(Progress::Waiting)) {
                        return Ok(None);
                    }
                    is_last_look = !growing.goes_on();
                    if !is_last_look {
                        std::thread::sleep(PAUSE);
                    }
                }
            }
        }
        if growing.is_cut_off() {
            let text = "the recording was cut off: its last messages may be missing";
            self.found.damage.get_or_insert_with(|| text.to_owned());
        }
        if !wanted() || !pass(self.take(Progress::Ended)) {
            return Ok(None);
        }
        Ok(growing.next_reel(|| !wanted()))
    }

    /// Whether rows should be passed on. The first ones do not wait.
    fn is_due(&self) -> bool {
        let is_first = self.passed.is_none() && !self.found.rows.is_empty();
        is_first || self.found.rows.len() >= MAX_ROWS || self.passed_on.elapsed() >= INTERVAL
    }

    fn take(&mut self, progress: Progress) -> Scanned {
        (self.passed_on, self.passed) = (Instant::now(), Some(self.found.read));
        let (scan, read) = (self.found.scan, self.found.read);
        let next = Scanned { scan, read, progress, ..Scanned::default() };
        Scanned { progress, ..std::mem::replace(&mut self.found, next) }
    }

    /// Whether an event of a block can only be judged with its payload.
    fn needs_payload(&self, block: &Block, methods: &[Box<str>]) -> bool {
        block.headers.iter().any(|header| {
            let may_carry = header.kind == EventKind::Transport && header.exchange != 0;
            may_carry || header.is_batch() || !self.filter.is_empty() && self.filter_needs_payload(header, methods)
        })
    }

    fn filter_needs_payload(&self, header: &EventHeader, methods: &[Box<str>]) -> bool {
        // The method of a response is not known yet here.
        let is_response = header.message.as_ref().is_some_and(|message| message.kind.is_response());
        let method = method_name(header.message.as_ref(), None, methods);
        let names_tool = self.filter.needs_calls() && method == Some("tools/call");
        let input = FilterInput { method, ..FilterInput::of(header) };
        is_response || names_tool || self.filter.decide(&input).is_none()
    }

    fn block(&mut self, block: &Block, methods: &[Box<str>]) {
        for header in &block.headers {
            let event = block.event(header);
            let placed = self.viewer.place(&event, methods);
            let method = placed.method(header, methods);
            if is_request(header) {
                let names_tool = self.filter.needs_calls() && method == Some("tools/call");
                let tool = names_tool.then(|| tool_name(event.body())).flatten();
                self.viewer.remember_tool(tool.as_deref());
            }
            self.found.read += 1;
            self.event(&event, method, &placed);
        }
    }

    fn event(&mut self, event: &Event<'_>, method: Option<&str>, placed: &Placed) {
        let header = event.header;
        let Ok(seq) = u32::try_from(header.seq) else { return };
        if let Some(asked) = placed.asked.and_then(|asked| u32::try_from(asked).ok()) {
            self.found.pairs.push((asked, seq));
        }
        if !is_listed(&self.filter, event, method, placed) {
            return;
        }
        self.brackets.next(place(header, method, placed.asked), &mut self.drawn);
        let brackets = Brackets::packed(&self.drawn);
        let failed = mood(header) == Emphasis::Error;
        self.found.rows.push(Row { seq, brackets, failed, outcome: placed.outcome });
    }
}
