//! The formats in which `show` prints events.

use super::View;
use super::print_worker::PrintWorker;
use crate::cli::Context;
use crate::cli::jq::{Jq, Program, Reply};
use crate::cli::printer::{OwnOutput, Printer};
use crate::error::CommandError;
use crate::formats::jsonl;
use crate::render::brackets::Brackets;
use crate::render::event::{self, Clock, Described, EventLines, full_layout, write_full};
use crate::render::line::{self, Arrow, Line};
use crate::render::output_buffer::OutputBuffer;
use crate::render::sequence;
use crate::render::style::Palette;
use crate::render::table::{LINES, cut, fitted, naming, narrowed};
use crate::render::text::Escaping;
use crate::render::timeline;
use crate::session::outcome::{CreatedTask, Outcome, created_task};
use crate::session::steps::Steps;
use crate::session::summary::Depth;
use crate::session::view::{BatchResponse, Placed, Words, head_lines, is_carrier};
use crate::session::waits::Waits;
use crate::sessions::injection::MARK;
use crate::trace::{Block, BlockPool, Event, EventKind, MAX_BORROWED_BYTES};
use crate::wire::mask::masked_bytes;
use crate::wire::tree;
use crate::wire::units::millis_of;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write as _;
use tabled::settings::Style;

/// How to print events.
pub(super) enum Kind {
    /// One line per event.
    List,
    /// The whole message, indented.
    Full {
        /// Whether long strings are folded.
        fold: bool,
    },
    /// Rows that wait until their table is printed.
    Table(Vec<Vec<String>>),
    /// One JSON object per event.
    Json,
    /// The bytes of the payload.
    Raw,
    /// The results of a jq program.
    Jq {
        /// What runs programs.
        jq: Box<Jq>,
        /// The program.
        program: Program,
        /// Whether it runs without the message if that has too many values.
        without_large: bool,
    },
    /// A picture of all events, at the end.
    Picture(Box<Picture>),
}

/// A picture, and the steps for it so far.
pub(super) struct Picture {
    pub steps: Steps,
    pub view: View,
    pub is_json: bool,
}

impl Picture {
    /// Prints the picture.
    fn print(&self, palette: &Palette, width: Option<usize>, context: &Context) -> Result<(), CommandError> {
        let waits = || Waits::of(&self.steps);
        let printer = &context.printer;
        match (self.view, self.is_json) {
            (View::Timeline, true) => waits().lanes().iter().try_for_each(|lane| printer.json(&timeline::value(lane))),
            (_, true) => self.steps.all().iter().try_for_each(|step| printer.json(&sequence::value(step))),
            (view, false) => {
                let mut text = String::new();
                match view {
                    View::Timeline => timeline::text(&waits(), palette, width, &mut text),
                    _ => sequence::text(&self.steps, palette, width, &mut text),
                }
                printer.text(&text)
            }
        }
    }
}

/// An event to show.
pub(super) struct Shown<'a> {
    pub event: Event<'a>,
    /// Its index in its block.
    pub place: usize,
    pub method: Option<&'a str>,
    pub placed: &'a Placed,
    pub words: &'a Words,
    /// What the check found, as JSON.
    pub findings: Vec<Value>,
}

impl<'a> Shown<'a> {
    fn described(&self) -> Described<'a> {
        Described { event: self.event, method: self.method, placed: self.placed, words: self.words }
    }
}

/// Prints events in one format. Its buffers are reused.
pub(super) struct Form {
    kind: Kind,
    lines: EventLines,
    created: i64,
    palette: Palette,
    width: Option<usize>,
    failures: u64,
    print_worker: Option<PrintWorker>,
    /// Whether arguments and results are shown. Scripts do without them, and are faster.
    has_details: bool,
    /// Whether the columns still need their headings.
    needs_headings: bool,
    /// Brackets around exchanges, on a terminal.
    brackets: Option<Brackets>,
    drawn: String,
}

/// The maximum number of failures of a jq program that are reported one by one.
const FAILURES_REPORTED: u64 = 10;

/// A table is printed when it has this many rows, so that memory use stays constant.
const TABLE_ROWS: usize = 1000;

impl Form {
    /// Prints to a terminal with details, elsewhere only if `details` is set.
    pub(super) fn new(kind: Kind, clock: Clock, created: i64, details: bool, printer: &Printer) -> Self {
        let (palette, width) = (printer.palette, printer.width);
        let lines = EventLines::new(clock, created, MARK);
        let needs_headings = printer.is_terminal && matches!(kind, Kind::List);
        let has_details = details || printer.is_terminal;
        let (failures, print_worker) = (0, None);
        let brackets = needs_headings.then(Brackets::default);
        let drawn = String::new();
        Self {
            kind,
            lines,
            created,
            palette,
            width,
            failures,
            print_worker,
            has_details,
            needs_headings,
            brackets,
            drawn,
        }
    }

    /// Whether the format describes events in words.
    pub(super) fn reports_words(&self) -> bool {
        !matches!(self.kind, Kind::Raw)
    }

    /// The maximum number of bytes of blocks that are read ahead, being processed and being printed.
    pub(super) fn reads_ahead(&self) -> usize {
        match self.kind {
            // Three threads need something to work on.
            Kind::Full { .. } | Kind::Json => 2 * MAX_BORROWED_BYTES,
            // Each message is also held as a value.
            Kind::Jq { .. } => MAX_BORROWED_BYTES / 2,
            _ => MAX_BORROWED_BYTES,
        }
    }

    /// Whether events of this kind are printed even if the filter does not name them: `--raw` prints only text, and
    /// formats for people omit events that only carried messages.
    pub(super) fn takes(&self, event: &Event<'_>) -> bool {
        match self.kind {
            Kind::Raw => matches!(event.header.kind, EventKind::Message | EventKind::Stderr),
            Kind::Json | Kind::Jq { .. } => true,
            Kind::List | Kind::Full { .. } | Kind::Table(_) | Kind::Picture(_) => !is_carrier(event),
        }
    }

    /// Whether findings are printed below the event that they are about.
    pub(super) fn has_findings_below(&self) -> bool {
        !matches!(self.kind, Kind::Json | Kind::Picture(_))
    }

    /// Whether a picture is drawn at the end.
    pub(super) fn is_picture(&self) -> bool {
        matches!(self.kind, Kind::Picture(_))
    }

    /// Takes an event that is not shown. A picture needs it nevertheless: it may answer a request, or name a server.
    pub(super) fn pass(&mut self, event: &Event<'_>, method: Option<&str>, described: (&Placed, &Words)) {
        if let Kind::Picture(picture) = &mut self.kind {
            picture.steps.take(event, method, described, false, Vec::new());
        }
    }

    /// The events that follow are not read.
    pub(super) fn cut(&mut self) {
        if let Kind::Picture(picture) = &mut self.kind {
            picture.steps.cut();
        }
    }

    /// The session is over: these requests, by number, have no response.
    pub(super) fn end(&mut self, ended: Vec<(u64, Outcome)>) {
        if let Kind::Picture(picture) = &mut self.kind {
            picture.steps.finish(ended);
        }
    }

    /// Whether a jq program failed on any event.
    pub(super) fn has_failed(&self) -> bool {
        self.failures > 0
    }

    /// How much is said about a message that is not printed as a whole.
    pub(super) fn depth(&self) -> Depth {
        match self.kind {
            Kind::List | Kind::Table(_) if self.has_details => Depth::Details,
            Kind::Picture(_) => Depth::Details,
            Kind::List | Kind::Table(_) | Kind::Json | Kind::Jq { .. } => Depth::Outcome,
            Kind::Full { .. } | Kind::Raw => Depth::Subject,
        }
    }

    /// Prints events on a separate thread from now on, if the format supports it. Blocks are returned to `returns`.
    ///
    /// # Errors
    ///
    /// The output or the thread cannot be created.
    pub(super) fn print_on_thread(&mut self, context: &Context, returns: BlockPool) -> Result<(), CommandError> {
        if context.printer.is_paged() {
            return Ok(());
        }
        let begun = match self.kind {
            Kind::Full { fold } => {
                let layout = full_layout(self.palette, fold);
                let print = move |event: &Event<'_>, out: &mut OutputBuffer<File>| write_full(event, &layout, out);
                context.printer.file().and_then(|file| PrintWorker::start(print, file, returns))
            }
            Kind::Json => {
                let created = self.created;
                let print = move |event: &Event<'_>, out: &mut OutputBuffer<File>| json_members(event, created, out);
                context.printer.file().and_then(|file| PrintWorker::start(print, file, returns))
            }
            _ => return Ok(()),
        };
        self.print_worker = Some(begun.map_err(CommandError::output)?);
        Ok(())
    }

    /// Prints an event.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn show(&mut self, shown: &Shown<'_>, context: &Context) -> Result<(), CommandError> {
        if let Some(mut print_worker) = self.print_worker.take() {
            match self.kind {
                Kind::Json => {
                    print_worker.event(shown.place);
                    json_words(shown, self.lines.clock().latency(shown.placed), print_worker.text());
                }
                _ => {
                    self.in_words(shown, print_worker.text());
                    print_worker.event(shown.place);
                }
            }
            self.print_worker = Some(print_worker);
            return Ok(());
        }
        let mut written = Ok(());
        context.printer.append(|out| written = self.write(shown, context, out))?;
        written?;
        match &mut self.kind {
            Kind::Table(rows) if rows.len() >= TABLE_ROWS => {
                let rows = std::mem::take(rows);
                context.printer.line(&table(rows, self.width))
            }
            _ => Ok(()),
        }
    }

    /// Keeps a block until its events are printed. Returns it if it is not needed.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn done_with(&mut self, block: Block) -> Result<Option<Block>, CommandError> {
        match &mut self.print_worker {
            Some(print_worker) => print_worker.take(block).map(|()| None).map_err(CommandError::output),
            None => Ok(Some(block)),
        }
    }

    /// Prints what is ready, and releases the blocks that were kept for it.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn release(&mut self, context: &Context) -> Result<(), CommandError> {
        self.finish_jq(context)?;
        let printed = self.print_worker.as_mut().map_or_else(|| context.printer.flush(), PrintWorker::hand_over);
        printed.map_err(CommandError::output)
    }

    /// Prints the results of a jq program that are still missing.
    fn finish_jq(&mut self, context: &Context) -> Result<(), CommandError> {
        let Kind::Jq { jq, .. } = &mut self.kind else { return Ok(()) };
        let (failures, mut finished) = (&mut self.failures, Ok(()));
        context.printer.append(|out| {
            finished = jq.finish(&mut |seq, reply: Reply<'_>| take(seq, reply, failures, out, context))
        })?;
        finished
    }

    fn write(
        &mut self,
        shown: &Shown<'_>,
        context: &Context,
        out: &mut OutputBuffer<OwnOutput>,
    ) -> Result<(), CommandError> {
        match &mut self.kind {
            Kind::Raw if let Some(head) = head_lines(&shown.event) => {
                out.append(head.join("\n").as_bytes());
                out.append(b"\n\n");
            }
            Kind::Raw => {
                out.append(shown.event.payload);
                out.append(b"\n");
            }
            Kind::Json => {
                json_members(&shown.event, self.created, out);
                json_words(shown, self.lines.clock().latency(shown.placed), out.gathered());
            }
            Kind::Jq { jq, program, without_large } => {
                let mut text = Vec::new();
                // Writing to memory cannot fail.
                let message = jsonl::write_members_apart(&shown.event, self.created, &mut text).unwrap_or_default();
                json_words(shown, self.lines.clock().latency(shown.placed), &mut text);
                // The program may take a secret to pieces, which would not be recognised.
                let (text, message) = (masked_bytes(&text), message.map(masked_bytes));
                let message = message.filter(|message| !*without_large || tree::fits(message).is_ok());
                let (failures, seq) = (&mut self.failures, shown.event.header.seq);
                let mut take = |seq, reply: Reply<'_>| take(seq, reply, failures, out, context);
                return jq.run(*program, Some(seq), (&text, message.as_deref()), &mut take);
            }
            Kind::Full { fold } => {
                let layout = full_layout(self.palette, *fold);
                self.in_words(shown, out.gathered());
                write_full(&shown.event, &layout, out);
            }
            Kind::List | Kind::Table(_) => self.in_words(shown, out.gathered()),
            Kind::Picture(picture) => {
                let rules = shown.findings.iter().filter_map(|finding| Some(finding["rule"].as_str()?.to_owned()));
                picture.steps.take(&shown.event, shown.method, (shown.placed, shown.words), true, rules.collect());
            }
        }
        Ok(())
    }

    fn in_words(&mut self, shown: &Shown<'_>, out: &mut Vec<u8>) {
        let described = shown.described();
        self.drawn.clear();
        if let Some(brackets) = &mut self.brackets {
            let place = event::place(shown.event.header, shown.method, shown.placed.asked);
            brackets.next(place, &mut self.drawn);
        }
        let (kind, needs_headings) = (&mut self.kind, &mut self.needs_headings);
        let (palette, width) = (&self.palette, self.width);
        self.lines.line(&described, &self.drawn, |line| match kind {
            Kind::Table(rows) => rows.push(row(line)),
            _ => {
                if std::mem::take(needs_headings) {
                    line::write_headings(line, palette, width, out);
                }
                line::write(line, palette, width, out);
            }
        });
    }

    /// Prints what is left.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn finish(&mut self, context: &Context) -> Result<(), CommandError> {
        self.finish_jq(context)?;
        if let Some(more) = self.failures.checked_sub(FAILURES_REPORTED).filter(|more| *more > 0) {
            context.printer.note(&format!("… and {more} more"));
        }
        if let Some(mut print_worker) = self.print_worker.take() {
            print_worker.finish().map_err(CommandError::output)?;
        }
        let has_lines = self.brackets.is_some() && !self.needs_headings;
        match &mut self.kind {
            Kind::Table(rows) if !rows.is_empty() => {
                let rows = std::mem::take(rows);
                context.printer.line(&table(rows, self.width))
            }
            Kind::Picture(picture) => picture.print(&self.palette, self.width, context),
            _ if has_lines && line::is_very_narrow(self.width) => {
                context.printer.line("\nno space for: time, size, latency")
            }
            _ if has_lines && line::is_narrow(self.width) => context.printer.line("\nno space for: size"),
            _ => Ok(()),
        }
    }
}

/// Takes what comes of a jq program. Returns whether it can be printed.
fn take(
    seq: Option<u64>,
    reply: Reply<'_>,
    failures: &mut u64,
    out: &mut OutputBuffer<OwnOutput>,
    context: &Context,
) -> bool {
    match reply {
        Reply::Output(lines) => out.append(lines),
        Reply::Failed(reason) => {
            *failures += 1;
            if *failures <= FAILURES_REPORTED {
                context.printer.note(&format!("--jq at event {}: {reason}", seq.unwrap_or_default()));
            }
        }
    }
    !out.has_failed()
}

/// The first members of an event's object: those that were recorded.
fn json_members<W: std::io::Write>(event: &Event<'_>, created: i64, out: &mut OutputBuffer<W>) {
    // Write errors are reported by the output buffer.
    let _ = jsonl::write_members(event, created, &mut Escaping(out));
}

/// The other members of an event's object: those that were derived.
fn json_words(shown: &Shown<'_>, latency: Option<i64>, out: &mut Vec<u8>) {
    if let Some(message) = &shown.event.header.message {
        let _ = write!(out, ",\"kind\":\"{}\"", message.kind.name());
    }
    if let Some(method) = shown.method {
        out.extend_from_slice(b",\"method\":");
        let _ = serde_json::to_writer(Escaping(&mut *out), method);
    }
    if let Some(request) = shown.placed.asked.or(shown.placed.settled) {
        let _ = write!(out, ",\"request_seq\":{request}");
    }
    if let Some(outcome) = shown.placed.outcome {
        let _ = write!(out, ",\"outcome\":\"{outcome}\"");
    }
    if let Some(task) = task_of(shown) {
        let task = json!({"id": task.id, "status": task.status});
        out.extend_from_slice(b",\"task\":");
        let _ = serde_json::to_writer(Escaping(&mut *out), &task);
    }
    if !shown.placed.responses.is_empty() {
        let responses: Vec<Value> = shown.placed.responses.iter().map(batch_response).collect();
        out.extend_from_slice(b",\"responses\":");
        let _ = serde_json::to_writer(Escaping(&mut *out), &responses);
    }
    if let Some(latency) = latency {
        let _ = write!(out, ",\"latency_ms\":{}", millis_of(latency));
    }
    let words = shown.words;
    for (name, text) in [("about", &words.about), ("summary", &words.summary)] {
        if !text.is_empty() {
            let _ = write!(out, ",\"{name}\":");
            let _ = serde_json::to_writer(Escaping(&mut *out), text);
        }
    }
    if !shown.findings.is_empty() {
        out.extend_from_slice(b",\"findings\":");
        let _ = serde_json::to_writer(Escaping(&mut *out), &shown.findings);
    }
    out.extend_from_slice(b"}\n");
}

/// The task that a request got.
fn task_of(shown: &Shown<'_>) -> Option<CreatedTask> {
    shown.placed.outcome.filter(|outcome| *outcome == Outcome::Task)?;
    created_task(shown.event.body())
}

fn batch_response(response: &BatchResponse) -> Value {
    let BatchResponse { item, method, asked, outcome, latency } = response;
    json!({
        "item": item, "method": method, "request_seq": asked, "outcome": outcome.name(),
        "latency_ms": latency.map(millis_of),
    })
}

fn row(line: &Line<'_>) -> Vec<String> {
    let arrow = match line.arrow {
        Arrow::ToServer => "→",
        Arrow::ToClient => "←",
        Arrow::None => "·",
    };
    let about = match line.outcome {
        Some(outcome) => format!("{} → {outcome}", line.about).trim_start().to_owned(),
        None => line.about.to_owned(),
    };
    let stream = if line.stream == 0 { String::new() } else { format!("#{} ", line.stream) };
    let injected = if line.injected { line::INJECTED } else { "" };
    vec![
        line.seq.to_string(),
        line.time.to_owned(),
        arrow.to_owned(),
        line.id.to_owned(),
        format!("{stream}{injected}{}", line::visible_text(line.title)),
        line::visible_text(&about),
        line.latency.map(line::duration).unwrap_or_else(|| line::bytes(line.size)),
    ]
}

fn table(mut rows: Vec<Vec<String>>, width: Option<usize>) -> String {
    rows.insert(0, ["seq", "time", "", "id", "method", "about", "took / size"].map(str::to_owned).to_vec());
    // What is left if the texts are as short as possible decides which columns there is space for.
    let mut least = rows.clone();
    least.iter_mut().for_each(|row| (row[4], row[5]) = (cut(&row[4], 12), cut(&row[5], 8)));
    let fit = |width| narrowed(&mut least, LINES, &[vec![1], vec![3]], usize::MAX, width);
    let removed = width.map(fit).unwrap_or_default();
    let places: Vec<usize> = (0..rows[0].len()).filter(|at| removed.contains(&rows[0][*at])).collect();
    for row in &mut rows {
        places.iter().rev().for_each(|at| drop(row.remove(*at)));
    }
    let texts = [rows[0].len() - 2, rows[0].len() - 3];
    naming(&removed, fitted(rows, LINES, &texts, width).with(Style::rounded()).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn a_table_keeps_to_the_width() {
        let row = ["12", "20:50:30.123", "→", "7", "notifications/initialized", "a long story about it", "621.1 ms"];
        for (width, named) in [(60, "no space for: time"), (100, "20:50:30.123")] {
            let text = table(vec![row.map(str::to_owned).to_vec()], Some(width));
            assert!(text.lines().all(|line| line.width() <= width) && text.contains(named), "{text}");
        }
    }
}
