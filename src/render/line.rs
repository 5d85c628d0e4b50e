//! One event on one line, and the small formats that lines are made of.

use super::style::Palette;
use super::text::printable_start;
pub use super::text::{is_printable, visible, visible_text};
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
    pub mood: Emphasis,
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
pub enum Emphasis {
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
    right(itoa::Buffer::new().format(line.seq), 5, out);
    out.push(b' ');
    right(line.time, 12, out);
    ink.off(*faint, out);
    let (arrow, style) = match line.arrow {
        Arrow::ToServer => ("→", palette.to_server),
        Arrow::ToClient => ("←", palette.to_client),
        Arrow::None => ("·", *faint),
    };
    out.push(b' ');
    ink.on(style, out);
    out.extend_from_slice(arrow.as_bytes());
    ink.off(style, out);
    out.push(b' ');
    ink.on(*faint, out);
    right(Cell::bytes(line.size).text(), 8, out);
    match line.latency {
        Some(latency) => right(Cell::duration(latency).text(), 9, out),
        None => out.extend_from_slice(b"         "),
    }
    out.push(b' ');
    right(line.id, 4, out);
    ink.off(*faint, out);
    out.push(b' ');
    let fixed = 5 + 1 + 12 + 1 + 2 + 8 + 9 + 1 + columns(line.id).max(4) + 1;
    let mut rest = Rest { proposal: width.map(|width| width.saturating_sub(fixed).max(20)), out };
    let title_style = match line.mood {
        Emphasis::Error => *error,
        Emphasis::Faint => *faint,
        Emphasis::Plain => style,
    };
    if line.stream != 0 {
        ink.on(*faint, rest.out);
        rest.ours("#");
        rest.ours(itoa::Buffer::new().format(line.stream));
        rest.ours(" ");
        ink.off(*faint, rest.out);
    }
    if line.injected {
        rest.ours(INJECTED);
    }
    ink.on(title_style, rest.out);
    rest.theirs(line.title);
    ink.off(title_style, rest.out);
    if !line.about.is_empty() {
        rest.ours(" ");
        rest.theirs(line.about);
    }
    if let Some(outcome) = line.outcome {
        let style = if line.mood == Emphasis::Error { *error } else { Style::new() };
        ink.on(style, rest.out);
        rest.ours(" → ");
        rest.theirs(outcome);
        ink.off(style, rest.out);
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
}

/// The end of a line, as far as there is room: where no width is given, without end.
struct Rest<'a> {
    proposal: Option<usize>,
    out: &'a mut Vec<u8>,
}

impl Rest<'_> {
    /// Appends words of our own.
    fn ours(&mut self, text: &str) {
        match self.proposal {
            None => self.out.extend_from_slice(text.as_bytes()),
            Some(_) => self.letters(text),
        }
    }

    /// Appends words of a peer on one line, control characters made visible.
    fn theirs(&mut self, text: &str) {
        match self.proposal {
            None => {
                let (plain, rest) = text.split_at(printable_start(text));
                self.out.extend_from_slice(plain.as_bytes());
                self.letters(rest);
            }
            Some(_) => self.letters(text),
        }
    }

    fn letters(&mut self, text: &str) {
        let mut buffer = [0u8; 4];
        for found in text.chars() {
            let shown = visible(found);
            let width = shown.width().unwrap_or(0);
            if let Some(left) = &mut self.proposal {
                if *left < width + 1 {
                    if *left > 0 {
                        self.out.extend_from_slice("…".as_bytes());
                        *left = 0;
                    }
                    return;
                }
                *left -= width;
            }
            self.out.extend_from_slice(shown.encode_utf8(&mut buffer).as_bytes());
        }
    }
}

/// Appends a text at the right end of so many columns.
fn right(text: &str, width: usize, out: &mut Vec<u8>) {
    const SPACES: &[u8; 16] = b"                ";
    let missing = width.saturating_sub(columns(text)).min(SPACES.len());
    // A copy of fixed length, cut, is quicker than one of the length that is wanted.
    let start = out.len() + missing;
    out.extend_from_slice(SPACES);
    out.truncate(start);
    out.extend_from_slice(text.as_bytes());
}

/// The columns of a text without wide letters.
fn columns(text: &str) -> usize {
    text.bytes().filter(|byte| byte & 0xc0 != 0x80).count()
}

/// A size: `96 B`, `1.2 kB`, `3.4 MB`.
pub fn bytes(count: u64) -> String {
    Cell::bytes(count).text().to_owned()
}

/// A time span from nanoseconds: `870 ns`, `12 µs`, `1.6 ms`, `2.31 s`, `4m10s`.
pub fn duration(nanoseconds: i64) -> String {
    Cell::duration(nanoseconds).text().to_owned()
}

/// A few words that need no memory of their own: a number and its unit.
#[derive(Default)]
struct Cell {
    text: [u8; 32],
    length: usize,
}

impl Cell {
    fn text(&self) -> &str {
        self.text.get(..self.length).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default()
    }

    fn put(&mut self, text: &str) {
        if let Some(place) = self.text.get_mut(self.length..self.length + text.len()) {
            place.copy_from_slice(text.as_bytes());
            self.length += text.len();
        }
    }

    fn number(&mut self, number: u64) {
        self.put(itoa::Buffer::new().format(number));
    }

    /// A number of tenths.
    fn tenths(&mut self, tenths: u64) {
        self.number(tenths / 10);
        self.put(".");
        self.number(tenths % 10);
    }

    /// Two digits.
    fn two(&mut self, number: u64) {
        self.number(number / 10);
        self.number(number % 10);
    }

    fn bytes(count: u64) -> Self {
        const UNITS: [(&str, u64); 3] = [(" GB", 1_000_000_000), (" MB", 1_000_000), (" kB", 1000)];
        let mut cell = Self::default();
        match UNITS.iter().find(|unit| count >= unit.1) {
            None => {
                cell.number(count);
                cell.put(" B");
            }
            Some((name, size)) => {
                cell.tenths(count / (size / 10) + u64::from(count % (size / 10) >= size / 20));
                cell.put(name);
            }
        }
        cell
    }

    fn duration(nanoseconds: i64) -> Self {
        let mut cell = Self::default();
        if nanoseconds < 0 {
            cell.put("-");
        }
        let span = nanoseconds.unsigned_abs();
        let unit = match span {
            ..1_000 => {
                cell.number(span);
                " ns"
            }
            1_000..1_000_000 => {
                cell.number(span / 1000);
                " µs"
            }
            1_000_000..1_000_000_000 => {
                cell.tenths(span / 100_000);
                " ms"
            }
            1_000_000_000..60_000_000_000 => {
                cell.number(span / 1_000_000_000);
                cell.put(".");
                cell.two(span / 10_000_000 % 100);
                " s"
            }
            _ => {
                let seconds = span / 1_000_000_000;
                cell.number(seconds / 60);
                cell.put("m");
                cell.two(seconds % 60);
                "s"
            }
        };
        cell.put(unit);
        cell
    }
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
            mood: Emphasis::Plain,
        };
        let mut out = Vec::new();
        write(&line, &Palette::plain(), Some(80), &mut out);
        let text = String::from_utf8(out).expect("text");
        assert_eq!(text, "   12     0.034512 ←   1.2 kB   1.6 ms    3 tools/call echo ␛[31mred␊ and a lon…\n");
        assert_eq!(text.trim_end().chars().count(), 80);
    }
}
