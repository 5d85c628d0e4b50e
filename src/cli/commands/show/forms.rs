//! The forms in which `show` prints an event.

use super::press::{Press, Sheet};
use crate::cli::Context;
use crate::cli::error::CommandError;
use crate::cli::jq::Jq;
use crate::cli::printer::Printer;
use crate::exchange::jsonl;
use crate::render::line::{self, Arrow, Line, Mood};
use crate::render::pretty::Layout;
use crate::render::style::Palette;
use crate::render::table::{LINES, fitted};
use crate::session::view::{Placed, Words, head_lines, is_carrier, write_id};
use crate::tap::inject::MARK;
use crate::trace::{Event, EventKind, Flags};
use crate::wire::span::millis_of;
use crate::wire::{Direction, MessageKind, json};
use std::fmt::Write as _;
use std::io::Write as _;
use tabled::settings::Style;

/// How to print.
pub enum Kind {
    /// One line an event.
    List,
    /// The whole message, laid out.
    Full {
        /// Long strings are folded.
        fold: bool,
    },
    /// Rows that wait for their table.
    Table(Vec<Vec<String>>),
    /// One JSON object an event.
    Json,
    /// Payload bytes.
    Raw,
    /// What a jq program gives.
    Jq(Jq),
}

/// How times are shown.
pub enum Clock {
    /// Seconds from the beginning.
    Offset,
    /// The clock on the wall.
    Local(jiff::tz::TimeZone),
    /// RFC 3339.
    Utc,
}

/// An event that is to be shown.
pub struct Shown<'a> {
    pub event: Event<'a>,
    pub method: Option<&'a str>,
    pub placed: &'a Placed,
    pub words: &'a Words,
}

/// Prints events in one form. Its buffers are used again.
pub struct Form {
    kind: Kind,
    clock: Clock,
    created: i64,
    palette: Palette,
    width: Option<usize>,
    time: String,
    id: String,
    failures: u64,
    press: Option<Press>,
}

/// So many failures of a jq program are told one by one.
const FAILURES_TOLD: u64 = 10;

/// A table is printed when it has so many rows, so that memory stays flat.
const TABLE_ROWS: usize = 1000;
/// Strings longer than this are folded in the full form.
const FOLD: usize = 400;

impl Form {
    pub fn new(kind: Kind, clock: Clock, created: i64, printer: &Printer) -> Self {
        let (palette, width) = (printer.palette, printer.width);
        let (time, id) = (String::new(), String::new());
        Self { kind, clock, created, palette, width, time, id, failures: 0, press: None }
    }

    /// Whether it prints what events say in words.
    pub fn tells_words(&self) -> bool {
        !matches!(self.kind, Kind::Raw)
    }

    /// Whether it prints such an event where nobody asked for it by name: what is no text is not for a raw reader,
    /// and what only carried messages not for people.
    pub fn takes(&self, event: &Event<'_>) -> bool {
        match self.kind {
            Kind::Raw => matches!(event.header.kind, EventKind::Message | EventKind::Stderr),
            Kind::Json | Kind::Jq(_) => true,
            Kind::List | Kind::Full { .. } | Kind::Table(_) => !is_carrier(event),
        }
    }

    /// Whether a jq program failed on any event.
    pub fn has_failed(&self) -> bool {
        self.failures > 0
    }

    /// Whether what came of a call is told even where the whole answer is printed anyway.
    pub fn tells_outcomes(&self) -> bool {
        !matches!(self.kind, Kind::Full { .. })
    }

    /// Lays messages out on a thread of its own from now on, where this form lays them out at all.
    pub fn work_aside(&mut self, context: &Context) -> Result<(), CommandError> {
        if let Kind::Full { fold } = self.kind {
            let begun = context.printer.file().and_then(|file| Press::start(laid_out(self.palette, fold), file));
            self.press = Some(begun.map_err(CommandError::output)?);
        }
        Ok(())
    }

    pub fn show(&mut self, shown: &Shown<'_>, context: &Context) -> Result<(), CommandError> {
        if let Some(mut press) = self.press.take() {
            let written = press.write(|sheet| self.in_full(shown, sheet));
            self.press = Some(press);
            return written.map_err(CommandError::output);
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

    fn write(&mut self, shown: &Shown<'_>, context: &Context, out: &mut Vec<u8>) {
        match &mut self.kind {
            Kind::Raw if let Some(head) = head_lines(&shown.event) => {
                out.extend_from_slice(head.join("\n").as_bytes());
                out.extend_from_slice(b"\n\n");
            }
            Kind::Raw => {
                out.extend_from_slice(shown.event.payload);
                out.push(b'\n');
            }
            Kind::Json => json_line(shown, self.created, out),
            Kind::Jq(jq) => {
                let mut text = Vec::new();
                json_line(shown, self.created, &mut text);
                if let Err(reason) = jq.run(&text, out) {
                    self.failures += 1;
                    if self.failures <= FAILURES_TOLD {
                        context.printer.note(&format!("--jq at event {}: {reason}", shown.event.header.seq));
                    }
                }
            }
            Kind::Full { fold } => {
                let layout = laid_out(self.palette, *fold);
                let mut sheet = Sheet::default();
                self.in_full(shown, &mut sheet);
                sheet.lay_out(&layout, out);
            }
            Kind::List | Kind::Table(_) => self.in_words(shown, out),
        }
    }

    fn in_full(&mut self, shown: &Shown<'_>, sheet: &mut Sheet) {
        self.in_words(shown, &mut sheet.text);
        full(shown, &self.palette, sheet);
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
            (Some(message), None) if message.kind.is_response() => "answer to no known request",
            (Some(message), None) => message.kind.name(),
            (None, None) => {
                kind_name = header.kind.name();
                &kind_name
            }
        };
        let line = Line {
            seq: header.seq,
            stream: header.stream,
            time: &self.time,
            arrow: arrow(shown),
            size: u64::from(header.len),
            latency: shown.placed.latency,
            id: &self.id,
            injected: is_injected,
            title,
            about: &shown.words.about,
            outcome: (!shown.words.outcome.is_empty()).then_some(&shown.words.outcome),
            mood: mood(shown),
        };
        match &mut self.kind {
            Kind::Table(rows) => rows.push(row(&line)),
            _ => line::write(&line, &self.palette, self.width, out),
        }
    }

    /// Prints what waits.
    pub fn finish(&mut self, context: &Context) -> Result<(), CommandError> {
        if let Some(more) = self.failures.checked_sub(FAILURES_TOLD).filter(|more| *more > 0) {
            context.printer.note(&format!("… and {more} more"));
        }
        if let Some(mut press) = self.press.take() {
            return press.finish().map_err(CommandError::output);
        }
        match &mut self.kind {
            Kind::Table(rows) if !rows.is_empty() => {
                let rows = std::mem::take(rows);
                context.printer.line(&table(rows, self.width))
            }
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

fn mood(shown: &Shown<'_>) -> Mood {
    let header = shown.event.header;
    let failed = header.flags.has(Flags::TOOL_ERROR)
        || header.flags.has(Flags::FAILED)
        || header.kind == EventKind::Gap
        || header.message.as_ref().is_some_and(|message| {
            matches!(message.kind, MessageKind::Error | MessageKind::Malformed | MessageKind::Noise)
        });
    match header.kind {
        _ if failed => Mood::Error,
        EventKind::Message => Mood::Plain,
        _ => Mood::Faint,
    }
}

fn write_time(clock: &Clock, created: i64, time: i64, out: &mut String) {
    let _ = match clock {
        Clock::Offset => {
            let microseconds = time.unsigned_abs() / 1000;
            let mut digits = itoa::Buffer::new();
            out.push_str(if time < 0 { "-" } else { "" });
            out.push_str(digits.format(microseconds / 1_000_000));
            // The 1 before the six digits keeps their zeros; it gives way to the point.
            let fraction = digits.format(1_000_000 + microseconds % 1_000_000);
            out.push('.');
            out.push_str(&fraction[1..]);
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

fn json_line(shown: &Shown<'_>, created: i64, out: &mut Vec<u8>) {
    jsonl::write_members(&shown.event, created, out);
    if let Some(message) = &shown.event.header.message {
        let _ = write!(out, ",\"kind\":\"{}\"", message.kind.name());
    }
    if let Some(method) = shown.method {
        out.extend_from_slice(b",\"method\":");
        let _ = serde_json::to_writer(&mut *out, method);
    }
    if let Some(latency) = shown.placed.latency {
        let _ = write!(out, ",\"latency_ms\":{}", millis_of(latency));
    }
    let words = shown.words;
    for (name, text) in [("about", &words.about), ("outcome", &words.outcome)] {
        if !text.is_empty() {
            let _ = write!(out, ",\"{name}\":");
            let _ = serde_json::to_writer(&mut *out, text);
        }
    }
    out.extend_from_slice(b"}\n");
}

/// How the full form lays messages out.
fn laid_out(palette: Palette, fold: bool) -> Layout {
    Layout { palette, fold: fold.then_some(FOLD), indent: 2, margin: 6 }
}

/// What an event carries, below its line.
fn full(shown: &Shown<'_>, palette: &Palette, sheet: &mut Sheet) {
    let event = &shown.event;
    if let Some(head) = head_lines(event) {
        return head_in_full(&head, palette, &mut sheet.text);
    }
    if let Some(described) = jsonl::described(event) {
        sheet.message(described.to_string().as_bytes());
        return sheet.text.push(b'\n');
    }
    let body = event.body();
    if body.is_empty() {
        return;
    }
    let malformed = event.header.message.as_ref().is_some_and(|message| message.kind == MessageKind::Malformed);
    let noise = event.header.message.as_ref().is_some_and(|message| message.kind == MessageKind::Noise);
    if event.header.kind == EventKind::Message && !noise && matches!(body.trim_ascii().first(), Some(b'{' | b'[')) {
        sheet.message(body);
        sheet.text.push(b'\n');
        if malformed || event.header.flags.has(Flags::FAULTY) {
            faults(body, palette, &mut sheet.text);
        }
        return;
    }
    for line in String::from_utf8_lossy(body).lines() {
        sheet.text.extend_from_slice(b"      ");
        sheet.text.extend(line.chars().map(line::visible).collect::<String>().into_bytes());
        sheet.text.push(b'\n');
    }
}

/// A head of HTTP, a line for the request or the status and one for each header.
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

/// What is odd about a message, in words below it.
fn faults(body: &[u8], palette: &Palette, out: &mut Vec<u8>) {
    let warning = palette.warning;
    let mut told: Vec<String> =
        crate::wire::Envelope::scan(body).faults.iter().map(|fault| fault.phrase().to_owned()).collect();
    told.extend(json::check(body).err());
    for text in told {
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
