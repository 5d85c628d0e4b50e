//! The formats in which `show` prints events.

use super::View;
use super::print_worker::PrintWorker;
use crate::cli::Context;
use crate::cli::printer::{OwnOutput, Printer};
use crate::error::CommandError;
use crate::formats::jsonl;
use crate::protocol::methods;
use crate::render::brackets::{Brackets, Place};
use crate::render::jq::Jq;
use crate::render::line::{self, Arrow, Emphasis, Line};
use crate::render::output_buffer::OutputBuffer;
use crate::render::pretty::{Layout, pretty};
use crate::render::sequence;
use crate::render::style::Palette;
use crate::render::table::{LINES, fitted};
use crate::render::text::Escaping;
use crate::render::timeline;
use crate::session::steps::Steps;
use crate::session::summary::Depth;
use crate::session::view::{Placed, Words, head_lines, is_carrier, write_id};
use crate::session::waits::Waits;
use crate::sessions::injection::MARK;
use crate::trace::{Block, BlockPool, Event, EventKind, Flags, MAX_BORROWED_BYTES};
use crate::wire::mask::masked_bytes;
use crate::wire::units::millis_of;
use crate::wire::{Direction, MessageKind, json};
use serde_json::Value;
use std::fmt::Write as _;
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
    Jq(Jq),
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

/// How times are shown.
pub(super) enum Clock {
    /// Seconds since the start of the reel.
    Offset,
    /// Local time.
    Local(jiff::tz::TimeZone),
    /// RFC 3339.
    Utc,
    /// There are no times.
    Missing,
}

impl Clock {
    /// The latency of a response, if there are times.
    fn latency(&self, shown: &Shown<'_>) -> Option<i64> {
        shown.placed.latency.filter(|_| !matches!(self, Self::Missing))
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

/// Prints events in one format. Its buffers are reused.
pub(super) struct Form {
    kind: Kind,
    clock: Clock,
    created: i64,
    palette: Palette,
    width: Option<usize>,
    time: String,
    id: String,
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
/// Strings longer than this are folded in the full format, in characters.
const FOLD: usize = 400;

impl Form {
    /// Prints to a terminal with details, elsewhere only if `details` is set.
    pub(super) fn new(kind: Kind, clock: Clock, created: i64, details: bool, printer: &Printer) -> Self {
        let (palette, width) = (printer.palette, printer.width);
        let (time, id) = (String::new(), String::new());
        let needs_headings = printer.is_terminal && matches!(kind, Kind::List);
        let has_details = details || printer.is_terminal;
        let (failures, print_worker) = (0, None);
        let brackets = needs_headings.then(Brackets::default);
        let drawn = String::new();
        Self {
            kind,
            clock,
            created,
            palette,
            width,
            time,
            id,
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
            Kind::Jq(_) => MAX_BORROWED_BYTES / 2,
            _ => MAX_BORROWED_BYTES,
        }
    }

    /// Whether events of this kind are printed even if the filter does not name them: `--raw` prints only text, and
    /// formats for people omit events that only carried messages.
    pub(super) fn takes(&self, event: &Event<'_>) -> bool {
        match self.kind {
            Kind::Raw => matches!(event.header.kind, EventKind::Message | EventKind::Stderr),
            Kind::Json | Kind::Jq(_) => true,
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

    /// Whether a jq program failed on any event.
    pub(super) fn has_failed(&self) -> bool {
        self.failures > 0
    }

    /// How much is said about a message that is not printed as a whole.
    pub(super) fn depth(&self) -> Depth {
        match self.kind {
            Kind::List | Kind::Table(_) if self.has_details => Depth::Details,
            Kind::Picture(_) => Depth::Details,
            Kind::List | Kind::Table(_) | Kind::Json | Kind::Jq(_) => Depth::Outcome,
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
                let layout = laid_out(self.palette, fold);
                let print = move |event: &Event<'_>, out: &mut OutputBuffer<File>| full(event, &layout, out);
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
                    json_words(shown, self.clock.latency(shown), print_worker.text());
                }
                _ => {
                    self.in_words(shown, print_worker.text());
                    print_worker.event(shown.place);
                }
            }
            self.print_worker = Some(print_worker);
            return Ok(());
        }
        context.printer.append(|out| self.write(shown, context, out))?;
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
        let printed = self.print_worker.as_mut().map_or_else(|| context.printer.flush(), PrintWorker::hand_over);
        printed.map_err(CommandError::output)
    }

    fn write(&mut self, shown: &Shown<'_>, context: &Context, out: &mut OutputBuffer<OwnOutput>) {
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
                json_words(shown, self.clock.latency(shown), out.gathered());
            }
            Kind::Jq(jq) => {
                let mut text = Vec::new();
                // Writing to memory cannot fail.
                let message = jsonl::write_members_apart(&shown.event, self.created, &mut text).unwrap_or_default();
                json_words(shown, self.clock.latency(shown), &mut text);
                // The program may take a secret to pieces, which would not be recognised.
                let (text, message) = (masked_bytes(&text), message.map(masked_bytes));
                if let Err(reason) = jq.run(&text, message.as_deref(), out) {
                    self.failures += 1;
                    if self.failures <= FAILURES_REPORTED {
                        context.printer.note(&format!("--jq at event {}: {reason}", shown.event.header.seq));
                    }
                }
            }
            Kind::Full { fold } => {
                let layout = laid_out(self.palette, *fold);
                self.in_words(shown, out.gathered());
                full(&shown.event, &layout, out);
            }
            Kind::List | Kind::Table(_) => self.in_words(shown, out.gathered()),
            Kind::Picture(picture) => {
                let rules = shown.findings.iter().filter_map(|finding| Some(finding["rule"].as_str()?.to_owned()));
                picture.steps.take(&shown.event, shown.method, (shown.placed, shown.words), true, rules.collect());
            }
        }
    }

    fn in_words(&mut self, shown: &Shown<'_>, out: &mut Vec<u8>) {
        self.time.clear();
        self.id.clear();
        let header = shown.event.header;
        write_time(&self.clock, self.created, header.time, &mut self.time);
        let is_injected = header.flags.has(Flags::INJECTED);
        let id = header.message.as_ref().and_then(|message| message.id.as_ref());
        write_id(id, if is_injected { MARK } else { "" }, &mut self.id);
        if !line::is_printable(self.id.as_bytes()) {
            self.id = self.id.chars().map(line::visible).collect();
        }
        let kind_name;
        let title = match (&header.message, shown.method) {
            (_, Some(method)) => method,
            (Some(message), None) if message.kind.is_response() => "response to an unknown request",
            (Some(message), None) => message.kind.name(),
            (None, None) => {
                kind_name = header.kind.name();
                &kind_name
            }
        };
        self.drawn.clear();
        let mut about = shown.words.about.as_str();
        if let Some(brackets) = &mut self.brackets
            && brackets.next(place(shown), &mut self.drawn)
        {
            // The bracket leads to the arguments.
            about = about.get(..shown.words.subject).unwrap_or_default();
        }
        let line = Line {
            seq: header.seq,
            stream: header.stream,
            time: &self.time,
            arrow: arrow(shown),
            size: u64::from(header.len),
            latency: self.clock.latency(shown),
            id: &self.id,
            injected: is_injected,
            title,
            about,
            subject: shown.words.subject,
            brackets: &self.drawn,
            outcome: (!shown.words.outcome.is_empty()).then_some(&shown.words.outcome),
            mood: mood(shown),
        };
        match &mut self.kind {
            Kind::Table(rows) => rows.push(row(&line)),
            _ => {
                if std::mem::take(&mut self.needs_headings) {
                    line::write_headings(&line, &self.palette, self.width, out);
                }
                line::write(&line, &self.palette, self.width, out);
            }
        }
    }

    /// Prints what is left.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn finish(&mut self, context: &Context) -> Result<(), CommandError> {
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
            _ if has_lines && line::is_narrow(self.width) => context.printer.line("\nno space for: size"),
            _ => Ok(()),
        }
    }
}

fn arrow(shown: &Shown<'_>) -> Arrow {
    let header = shown.event.header;
    match header.direction() {
        _ if !header.has_direction() => Arrow::None,
        Direction::ClientToServer => Arrow::ToServer,
        Direction::ServerToClient => Arrow::ToClient,
    }
}

/// Where an event belongs in an exchange.
fn place(shown: &Shown<'_>) -> Place {
    let header = shown.event.header;
    let is_request = header.message.as_ref().is_some_and(|message| message.kind == MessageKind::Request);
    let stays_open = || shown.method.and_then(methods::lookup).is_some_and(|spec| spec.stays_open);
    match (shown.placed.asked, header.kind) {
        (Some(asked), _) => Place::Response(asked),
        (None, EventKind::Message) if is_request && !stays_open() => Place::Request(header.seq, header.stream),
        (None, EventKind::StreamClosed) => Place::End(header.stream),
        _ => Place::Between,
    }
}

fn mood(shown: &Shown<'_>) -> Emphasis {
    let header = shown.event.header;
    let failed = header.flags.has(Flags::TOOL_ERROR)
        || header.flags.has(Flags::FAILED)
        || header.kind == EventKind::Gap
        || header.message.as_ref().is_some_and(|message| {
            matches!(message.kind, MessageKind::Error | MessageKind::Malformed | MessageKind::Noise)
        });
    match header.kind {
        _ if failed => Emphasis::Error,
        EventKind::Message => Emphasis::Plain,
        _ => Emphasis::Faint,
    }
}

fn write_time(clock: &Clock, created: i64, time: i64, out: &mut String) {
    let _ = match clock {
        Clock::Offset => {
            let microseconds = time.unsigned_abs() / 1000;
            let mut digits = itoa::Buffer::new();
            out.push_str(if time < 0 { "-" } else { "" });
            out.push_str(digits.format(microseconds / 1_000_000));
            // The 1 before the six digits preserves their zeros. It is replaced by the point.
            let fraction = digits.format(1_000_000 + microseconds % 1_000_000);
            out.push('.');
            out.push_str(&fraction[1..]);
            Ok(())
        }
        Clock::Missing => {
            out.push('–');
            Ok(())
        }
        Clock::Utc => {
            out.push_str(&jsonl::rfc3339(created.saturating_add(time)));
            Ok(())
        }
        Clock::Local(zone) => {
            let moment = jiff::Timestamp::from_nanosecond(i128::from(created) + i128::from(time)).unwrap_or_default();
            write!(out, "{}", moment.to_zoned(zone.clone()).strftime("%H:%M:%S.%3f"))
        }
    };
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
    if let Some(latency) = latency {
        let _ = write!(out, ",\"latency_ms\":{}", millis_of(latency));
    }
    let words = shown.words;
    for (name, text) in [("about", &words.about), ("outcome", &words.outcome)] {
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

/// The layout of messages in the full format.
fn laid_out(palette: Palette, fold: bool) -> Layout {
    Layout { palette, fold: fold.then_some(FOLD), indent: 2, margin: 6 }
}

/// The content of an event, below its line.
fn full<W: std::io::Write>(event: &Event<'_>, layout: &Layout, out: &mut OutputBuffer<W>) {
    if let Some(head) = head_lines(event) {
        return head_in_full(&head, &layout.palette, out.gathered());
    }
    if let Some(described) = jsonl::described(event) {
        pretty(described.to_string().as_bytes(), layout, out);
        return out.append(b"\n");
    }
    let body = event.body();
    if body.is_empty() {
        return;
    }
    let kind = event.header.message.as_ref().map(|message| message.kind);
    let is_json = event.header.kind == EventKind::Message && kind != Some(MessageKind::Noise);
    if is_json && matches!(body.trim_ascii().first(), Some(b'{' | b'[')) {
        pretty(body, layout, out);
        out.append(b"\n");
        if kind == Some(MessageKind::Malformed) || event.header.flags.has(Flags::FAULTY) {
            faults(body, &layout.palette, out.gathered());
        }
        return;
    }
    for line in String::from_utf8_lossy(body).lines() {
        out.append(b"      ");
        out.append(line::visible_text(line).as_bytes());
        out.append(b"\n");
    }
}

/// An HTTP head: one line for the request or status, and one for each header.
fn head_in_full(head: &[String], palette: &Palette, out: &mut Vec<u8>) {
    let Palette { bold, key, .. } = palette;
    for (number, line) in head.iter().enumerate() {
        let line = line::visible_text(line);
        let _ = match line.split_once(": ").filter(|_| number > 0) {
            Some((name, value)) => writeln!(out, "      {key}{name}{key:#}: {value}"),
            None => writeln!(out, "      {bold}{line}{bold:#}"),
        };
    }
}

/// The faults of a message, in words below it.
fn faults(body: &[u8], palette: &Palette, out: &mut Vec<u8>) {
    let warning = palette.warning;
    let mut reported: Vec<String> =
        crate::wire::Envelope::scan(body).faults.iter().map(|fault| fault.phrase().to_owned()).collect();
    reported.extend(json::check(body).err());
    for text in reported {
        let _ = writeln!(out, "      {warning}! {text}{warning:#}");
    }
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
    fitted(rows, LINES, &[5, 4], width).with(Style::rounded()).to_string()
}
