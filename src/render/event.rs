//! Formats events for people: as one line, and in full below it.

use super::brackets::Place;
use super::line::{self, Arrow, Emphasis, Line};
use super::output_buffer::OutputBuffer;
use super::pretty::{Layout, pretty};
use super::style::Palette;
use crate::formats::jsonl;
use crate::protocol::methods;
use crate::session::view::{Placed, Words, head_lines, write_id};
use crate::trace::{Event, EventHeader, EventKind, Flags};
use crate::wire::{Direction, Envelope, MessageKind, json};
use std::fmt::Write as _;
use std::io::{self, Write as _};

/// How times are shown.
pub(crate) enum Clock {
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
    /// The latency of a response in nanoseconds, if there are times.
    pub(crate) fn latency(&self, placed: &Placed) -> Option<i64> {
        placed.latency.filter(|_| !matches!(self, Self::Missing))
    }

    /// Appends a time, in nanoseconds since the reel was created.
    fn write(&self, created: i64, time: i64, out: &mut String) {
        let _ = match self {
            Self::Offset => {
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
            Self::Missing => {
                out.push('–');
                Ok(())
            }
            Self::Utc => {
                out.push_str(&jsonl::rfc3339(created.saturating_add(time)));
                Ok(())
            }
            Self::Local(zone) => {
                let moment =
                    jiff::Timestamp::from_nanosecond(i128::from(created) + i128::from(time)).unwrap_or_default();
                write!(out, "{}", moment.to_zoned(zone.clone()).strftime("%H:%M:%S.%3f"))
            }
        };
    }
}

/// An event with what is known of it.
#[derive(Clone, Copy)]
pub(crate) struct Described<'a> {
    /// The event.
    pub event: Event<'a>,
    /// Its method; for a response, that of its request.
    pub method: Option<&'a str>,
    /// Which request it answers.
    pub placed: &'a Placed,
    /// What it is about.
    pub words: &'a Words,
}

/// Makes lines of events. Its buffers are reused.
pub(crate) struct EventLines {
    clock: Clock,
    created: i64,
    /// What the ids of all injected messages begin with.
    mark: &'static str,
    time: String,
    id: String,
}

impl EventLines {
    /// For a reel that was created at this time, in nanoseconds since 1970. `mark` is what the ids of all injected
    /// messages begin with.
    pub(crate) fn new(clock: Clock, created: i64, mark: &'static str) -> Self {
        Self { clock, created, mark, time: String::new(), id: String::new() }
    }

    /// How times are shown.
    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Passes on the line of an event. `brackets` stand before its method; if one ends there, it leads to the arguments,
    /// which the line leaves out.
    pub(crate) fn line(&mut self, described: &Described<'_>, brackets: &str, take: impl FnOnce(&Line<'_>)) {
        let Described { event, method, placed, words } = *described;
        let header = event.header;
        self.time.clear();
        self.id.clear();
        self.clock.write(self.created, header.time, &mut self.time);
        let is_injected = header.flags.has(Flags::INJECTED);
        let id = header.message.as_ref().and_then(|message| message.id.as_ref());
        write_id(id, if is_injected { self.mark } else { "" }, &mut self.id);
        if !line::is_printable(self.id.as_bytes()) {
            self.id = self.id.chars().map(line::visible).collect();
        }
        let kind_name;
        let title = match (&header.message, method) {
            (_, Some(method)) => method,
            (Some(message), None) if message.kind.is_response() => "response to an unknown request",
            (Some(message), None) => message.kind.name(),
            (None, None) => {
                kind_name = header.kind.name();
                &kind_name
            }
        };
        let ends_bracket = brackets.contains('└');
        let about = if ends_bracket { words.about.get(..words.subject).unwrap_or_default() } else { &words.about };
        take(&Line {
            seq: header.seq,
            stream: header.stream,
            time: &self.time,
            arrow: arrow(header),
            size: u64::from(header.len),
            latency: self.clock.latency(placed),
            id: &self.id,
            injected: is_injected,
            title,
            about,
            subject: words.subject,
            brackets,
            outcome: (!words.summary.is_empty()).then_some(&words.summary),
            mood: mood(header),
        });
    }
}

fn arrow(header: &EventHeader) -> Arrow {
    match header.direction() {
        _ if !header.has_direction() => Arrow::None,
        Direction::ClientToServer => Arrow::ToServer,
        Direction::ServerToClient => Arrow::ToClient,
    }
}

/// Returns where an event belongs in an exchange. `asked` is the number of the event with its request, if it is a
/// response.
pub(crate) fn place(header: &EventHeader, method: Option<&str>, asked: Option<u64>) -> Place {
    let is_request = header.message.as_ref().is_some_and(|message| message.kind == MessageKind::Request);
    let stays_open = || method.and_then(methods::lookup).is_some_and(|spec| spec.stays_open);
    match (asked, header.kind) {
        (Some(asked), _) => Place::Response(asked),
        (None, EventKind::Message) if is_request && !stays_open() => Place::Request(header.seq, header.stream),
        (None, EventKind::StreamClosed) => Place::End(header.stream),
        _ => Place::Between,
    }
}

/// Returns how the line of an event is emphasised.
pub(crate) fn mood(header: &EventHeader) -> Emphasis {
    let failed = header.is_failure() || header.kind == EventKind::Gap;
    match header.kind {
        _ if failed => Emphasis::Error,
        EventKind::Message => Emphasis::Plain,
        _ => Emphasis::Faint,
    }
}

/// Strings longer than this are folded in the full format, in characters.
const FOLD: usize = 400;

/// Returns the layout of messages in the full format.
pub(crate) fn full_layout(palette: Palette, fold: bool) -> Layout {
    Layout { palette, fold: fold.then_some(FOLD), indent: 2, margin: 6, is_json: false }
}

/// Appends the content of an event, as it stands below its line.
pub(crate) fn write_full<W: io::Write>(event: &Event<'_>, layout: &Layout, out: &mut OutputBuffer<W>) {
    if let Some(head) = head_lines(event) {
        return head_in_full(&head, layout, out.gathered());
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
            faults(body, layout, out.gathered());
        }
        return;
    }
    let margin = " ".repeat(layout.margin);
    for line in String::from_utf8_lossy(body).lines() {
        out.append(margin.as_bytes());
        out.append(line::visible_text(line).as_bytes());
        out.append(b"\n");
    }
}

/// An HTTP head: one line for the request or status, and one for each header.
fn head_in_full(head: &[String], layout: &Layout, out: &mut Vec<u8>) {
    let (Palette { bold, key, .. }, margin) = (layout.palette, " ".repeat(layout.margin));
    for (number, line) in head.iter().enumerate() {
        let line = line::visible_text(line);
        let _ = match line.split_once(": ").filter(|_| number > 0) {
            Some((name, value)) => writeln!(out, "{margin}{key}{name}{key:#}: {value}"),
            None => writeln!(out, "{margin}{bold}{line}{bold:#}"),
        };
    }
}

/// The faults of a message, in words below it.
fn faults(body: &[u8], layout: &Layout, out: &mut Vec<u8>) {
    let (warning, margin) = (layout.palette.warning, " ".repeat(layout.margin));
    let mut reported: Vec<String> = Envelope::scan(body).faults.iter().map(|fault| fault.phrase().to_owned()).collect();
    reported.extend(json::check(body).err());
    for text in reported {
        let _ = writeln!(out, "{margin}{warning}! {text}{warning:#}");
    }
}

#[cfg(test)]
mod tests {
    use super::super::brackets::Brackets;
    use super::*;
    use crate::session::steps::tests::{Told, tell_conversation, tell_hostile};
    use unicode_width::UnicodeWidthStr;

    /// Passes the events of a session to a function.
    type Tell = fn(&mut dyn FnMut(Told<'_>));

    /// The list of a session. Of repetitions, only the first is listed.
    fn list(tell: Tell, width: usize) -> String {
        let (palette, mut out, mut drawn) = (Palette::plain(), Vec::new(), String::new());
        let (mut lines, mut brackets) = (EventLines::new(Clock::Offset, 0, "mcpreel-"), Brackets::default());
        let mut seen = std::collections::BTreeSet::new();
        tell(&mut |(event, method, placed, words)| {
            let is_repeated = method == Some("notifications/progress") && !seen.insert(method.map(str::to_owned));
            brackets.next(place(event.header, method, placed.asked), &mut drawn);
            if is_repeated {
                return;
            }
            lines.line(&Described { event: *event, method, placed, words }, &drawn, |line| {
                if event.header.seq == 0 {
                    line::write_headings(line, &palette, Some(width), &mut out);
                }
                line::write(line, &palette, Some(width), &mut out);
            });
        });
        let out = String::from_utf8(out).expect("text");
        assert!(out.lines().all(|line| line.width() <= width), "{width}\n{out}");
        assert!(out.chars().all(|found| found == '\n' || line::visible(found) == found), "{out}");
        out
    }

    #[test]
    fn the_list_in_four_widths() {
        insta::assert_snapshot!(
            "list",
            [60, 80, 120, 200].map(|width| list(|take| tell_conversation(take), width)).join("\n")
        );
    }

    #[test]
    fn the_list_with_hostile_texts_in_four_widths() {
        insta::assert_snapshot!(
            "list_hostile",
            [60, 80, 120, 200].map(|width| list(|take| tell_hostile(take), width)).join("\n")
        );
    }
}
