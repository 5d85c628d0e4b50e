//! One event on one line, and the small formats that lines are made of.

use super::style::Palette;
use anstyle::Style;
use std::io::Write;
use unicode_width::UnicodeWidthChar;

/// One line's content.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// The event's number.
    pub seq: u64,
    /// The stream's number; 0 where there is only one.
    pub stream: u32,
    /// The time, ready to show.
    pub time: &'a str,
    /// `→` to the server, `←` to the client, `·` for what is no message.
    pub arrow: Arrow,
    /// Payload bytes.
    pub size: u64,
    /// For an answer: nanoseconds since its request.
    pub latency: Option<i64>,
    /// The request id, as it stood.
    pub id: &'a str,
    /// mcpreel put it in.
    pub injected: bool,
    /// The method, or what the event is.
    pub title: &'a str,
    /// What it is about.
    pub about: &'a str,
    /// What came of it, for an answer.
    pub outcome: Option<&'a str>,
    /// How it is to be coloured.
    pub mood: Mood,
}

/// What stands before the method of a message that mcpreel put in.
pub const INJECTED: &str = "[injected] ";

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrow {
    /// Client to server.
    ToServer,
    /// Server to client.
    ToClient,
    /// No message.
    None,
}

/// How a line stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// It does not.
    Plain,
    /// Something failed.
    Error,
    /// Secondary: stderr, transport events.
    Faint,
}

/// Appends the line, LF included, no wider than `width` columns where one is given.
pub fn write(line: &Line<'_>, palette: &Palette, width: Option<usize>, out: &mut Vec<u8>) {
    let start = out.len();
    let Palette { faint, error, .. } = palette;
    let ink = Ink { coloured: !palette.is_plain() };
    ink.on(*faint, out);
    pad_left(|out| decimal(line.seq, out), 5, out);
    out.push(b' ');
    pad_left(|out| out.extend_from_slice(line.time.as_bytes()), 12, out);
    ink.off(*faint, out);
    out.push(b' ');
    let (arrow, style) = match line.arrow {
        Arrow::ToServer => ("→", palette.to_server),
        Arrow::ToClient => ("←", palette.to_client),
        Arrow::None => ("·", *faint),
    };
    ink.paint(arrow, style, out);
    out.push(b' ');
    ink.on(*faint, out);
    pad_left(|out| write_bytes(line.size, out), 8, out);
    match line.latency {
        Some(latency) => pad_left(|out| write_duration(latency, out), 9, out),
        None => out.extend_from_slice(b"         "),
    }
    out.push(b' ');
    pad_left(|out| out.extend_from_slice(line.id.as_bytes()), 4, out);
    ink.off(*faint, out);
    out.push(b' ');
    let fixed = 5 + 1 + 12 + 1 + 2 + 8 + 9 + 1 + line.id.chars().count().max(4) + 1;
    let mut room = width.map(|width| width.saturating_sub(fixed).max(20));
    let title_style = match line.mood {
        Mood::Error => *error,
        Mood::Faint => *faint,
        Mood::Plain => style,
    };
    if line.stream != 0 {
        ink.on(*faint, out);
        put("#", &mut room, out);
        put(itoa::Buffer::new().format(line.stream), &mut room, out);
        put(" ", &mut room, out);
        ink.off(*faint, out);
    }
    if line.injected {
        put(INJECTED, &mut room, out);
    }
    ink.on(title_style, out);
    put(line.title, &mut room, out);
    ink.off(title_style, out);
    if !line.about.is_empty() {
        put(" ", &mut room, out);
        put(line.about, &mut room, out);
    }
    if let Some(outcome) = line.outcome {
        let style = if line.mood == Mood::Error { *error } else { Style::new() };
        ink.on(style, out);
        put(" → ", &mut room, out);
        put(outcome, &mut room, out);
        ink.off(style, out);
    }
    while out.len() > start && out.last() == Some(&b' ') {
        out.pop();
    }
    out.push(b'\n');
}

/// Colour, where there is any: nothing is formatted where there is none.
struct Ink {
    coloured: bool,
}

impl Ink {
    fn on(&self, style: Style, out: &mut Vec<u8>) {
        if self.coloured {
            let _ = write!(out, "{style}");
        }
    }

    fn off(&self, style: Style, out: &mut Vec<u8>) {
        if self.coloured {
            let _ = write!(out, "{style:#}");
        }
    }

    fn paint(&self, text: &str, style: Style, out: &mut Vec<u8>) {
        self.on(style, out);
        out.extend_from_slice(text.as_bytes());
        self.off(style, out);
    }
}

/// Appends a number.
fn decimal(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Printable ASCII alone.
pub fn is_printable(text: &[u8]) -> bool {
    // Whole runs at once, without a way out in the middle, so that the processor takes many bytes in a step.
    let odd = |run: &[u8]| run.iter().fold(false, |odd, byte| odd | (byte.wrapping_sub(0x20) >= 0x5f));
    !text.chunks(64).any(odd)
}

/// Appends text on one line, control characters made visible, as far as there is room.
fn put(text: &str, room: &mut Option<usize>, out: &mut Vec<u8>) {
    if room.is_none() && is_printable(text.as_bytes()) {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    let mut buffer = [0u8; 4];
    for found in text.chars() {
        let shown = visible(found);
        let width = shown.width().unwrap_or(0);
        if let Some(left) = room {
            if *left < width + 1 {
                if *left > 0 {
                    out.extend_from_slice("…".as_bytes());
                    *left = 0;
                }
                return;
            }
            *left -= width;
        }
        out.extend_from_slice(shown.encode_utf8(&mut buffer).as_bytes());
    }
}

/// A character as it can stand on a terminal's line: control characters become their pictures, so that no peer's
/// text can steer the terminal.
pub fn visible(found: char) -> char {
    match found {
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + found as u32).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' => '\u{fffd}',
        '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        other => other,
    }
}

/// A text as it can stand on a terminal's line, line ends too made visible.
pub fn visible_text(text: &str) -> String {
    text.chars().map(visible).collect()
}

/// Appends what `write` appends, moved to the right end of so many columns.
fn pad_left(write: impl FnOnce(&mut Vec<u8>), width: usize, out: &mut Vec<u8>) {
    let start = out.len();
    write(out);
    let columns = out[start..].iter().filter(|byte| **byte & 0xc0 != 0x80).count();
    if let Some(missing) = width.checked_sub(columns).filter(|missing| *missing > 0) {
        let end = out.len();
        out.resize(end + missing, b' ');
        out.copy_within(start..end, start + missing);
        out[start..start + missing].fill(b' ');
    }
}

/// A size: `96 B`, `1.2 kB`, `3.4 MB`.
pub fn bytes(count: u64) -> String {
    let mut out = Vec::new();
    write_bytes(count, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

fn write_bytes(count: u64, out: &mut Vec<u8>) {
    const UNITS: [(&str, u64); 3] = [(" GB", 1_000_000_000), (" MB", 1_000_000), (" kB", 1000)];
    match UNITS.iter().find(|unit| count >= unit.1) {
        None => {
            decimal(count, out);
            out.extend_from_slice(b" B");
        }
        Some((name, size)) => {
            let tenths = count / (size / 10) + u64::from(count % (size / 10) >= size / 20);
            tenth(tenths, out);
            out.extend_from_slice(name.as_bytes());
        }
    }
}

/// Appends a number of tenths.
fn tenth(tenths: u64, out: &mut Vec<u8>) {
    decimal(tenths / 10, out);
    out.push(b'.');
    decimal(tenths % 10, out);
}

/// A time span from nanoseconds: `870 ns`, `12 µs`, `1.6 ms`, `2.31 s`, `4m10s`.
pub fn duration(nanoseconds: i64) -> String {
    let mut out = Vec::new();
    write_duration(nanoseconds, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

fn write_duration(nanoseconds: i64, out: &mut Vec<u8>) {
    if nanoseconds < 0 {
        out.push(b'-');
    }
    let span = nanoseconds.unsigned_abs();
    let unit = match span {
        ..1_000 => {
            decimal(span, out);
            " ns"
        }
        1_000..1_000_000 => {
            decimal(span / 1000, out);
            " µs"
        }
        1_000_000..1_000_000_000 => {
            tenth(span / 100_000, out);
            " ms"
        }
        1_000_000_000..60_000_000_000 => {
            let _ = write!(out, "{}.{:02}", span / 1_000_000_000, span / 10_000_000 % 100);
            " s"
        }
        _ => {
            let seconds = span / 1_000_000_000;
            let _ = write!(out, "{}m{:02}s", seconds / 60, seconds % 60);
            ""
        }
    };
    out.extend_from_slice(unit.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_spans_read_well() {
        assert_eq!([bytes(0), bytes(999), bytes(1234), bytes(999_950)], ["0 B", "999 B", "1.2 kB", "1000.0 kB"]);
        let spans = [870, 12_345, 1_690_000, 2_319_000_000, 250_000_000_000].map(duration);
        assert_eq!(spans, ["870 ns", "12 µs", "1.6 ms", "2.31 s", "4m10s"]);
    }

    #[test]
    fn a_line_fits_its_width_and_shows_no_control_characters() {
        let line = Line {
            stream: 0,
            seq: 12,
            time: "0.034512",
            arrow: Arrow::ToClient,
            size: 1234,
            latency: Some(1_600_000),
            id: "3",
            injected: false,
            title: "tools/call",
            about: "echo \u{1b}[31mred\n and a long tail that goes on and on",
            outcome: Some("ok"),
            mood: Mood::Plain,
        };
        let mut out = Vec::new();
        write(&line, &Palette::plain(), Some(80), &mut out);
        let text = String::from_utf8(out).expect("text");
        assert_eq!(text, "   12     0.034512 ←   1.2 kB   1.6 ms    3 tools/call echo ␛[31mred␊ and a lon…\n");
        assert_eq!(text.trim_end().chars().count(), 80);
    }
}
