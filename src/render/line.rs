//! One event on one line, and the small formats that lines are made of.

use super::style::Palette;
use std::io::Write;
use unicode_width::UnicodeWidthChar;

/// One line's content.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// The event's number.
    pub seq: u64,
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
    /// The method, or what the event is.
    pub title: &'a str,
    /// What it is about.
    pub about: &'a str,
    /// What came of it, for an answer.
    pub outcome: Option<&'a str>,
    /// How it is to be coloured.
    pub mood: Mood,
}

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
    let _ = write!(out, "{faint}{:>5} {:>12}{faint:#} ", line.seq, line.time);
    let (arrow, style) = match line.arrow {
        Arrow::ToServer => ("→", palette.to_server),
        Arrow::ToClient => ("←", palette.to_client),
        Arrow::None => ("·", *faint),
    };
    let _ = write!(out, "{style}{arrow}{style:#} {faint}");
    pad_left(|out| write_bytes(line.size, out), 8, out);
    match line.latency {
        Some(latency) => pad_left(|out| write_duration(latency, out), 9, out),
        None => out.extend_from_slice(b"         "),
    }
    let _ = write!(out, " {:>4}{faint:#} ", line.id);
    let fixed = 5 + 1 + 12 + 1 + 2 + 8 + 9 + 1 + line.id.chars().count().max(4) + 1;
    let mut room = width.map(|width| width.saturating_sub(fixed).max(20));
    let title_style = match line.mood {
        Mood::Error => *error,
        Mood::Faint => *faint,
        Mood::Plain => style,
    };
    let _ = write!(out, "{title_style}");
    put(line.title, &mut room, out);
    let _ = write!(out, "{title_style:#}");
    if !line.about.is_empty() {
        put(" ", &mut room, out);
        put(line.about, &mut room, out);
    }
    if let Some(outcome) = line.outcome {
        let style = if line.mood == Mood::Error { *error } else { anstyle::Style::new() };
        let _ = write!(out, "{style}");
        put(" → ", &mut room, out);
        put(outcome, &mut room, out);
        let _ = write!(out, "{style:#}");
    }
    while out.len() > start && out.last() == Some(&b' ') {
        out.pop();
    }
    out.push(b'\n');
}

/// Appends text on one line, control characters made visible, as far as there is room.
fn put(text: &str, room: &mut Option<usize>, out: &mut Vec<u8>) {
    if room.is_none() && text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
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
        '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        other => other,
    }
}

fn pad_left(write: impl FnOnce(&mut Vec<u8>), width: usize, out: &mut Vec<u8>) {
    let mut text = Vec::with_capacity(16);
    write(&mut text);
    let columns = text.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
    for _ in columns..width {
        out.push(b' ');
    }
    out.extend_from_slice(&text);
}

/// A size: `96 B`, `1.2 kB`, `3.4 MB`.
pub fn bytes(count: u64) -> String {
    let mut out = Vec::new();
    write_bytes(count, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

fn write_bytes(count: u64, out: &mut Vec<u8>) {
    const UNITS: [(&str, u64); 3] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000)];
    let _ = match UNITS.iter().find(|unit| count >= unit.1) {
        None => write!(out, "{count} B"),
        Some((name, size)) => {
            let tenths = (count * 10 + size / 2) / size;
            write!(out, "{}.{} {name}", tenths / 10, tenths % 10)
        }
    };
}

/// A time span from nanoseconds: `870 ns`, `12 µs`, `1.6 ms`, `2.31 s`, `4m10s`.
pub fn duration(nanoseconds: i64) -> String {
    let mut out = Vec::new();
    write_duration(nanoseconds, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

fn write_duration(nanoseconds: i64, out: &mut Vec<u8>) {
    let _ = match nanoseconds {
        ..1_000 => write!(out, "{nanoseconds} ns"),
        1_000..1_000_000 => write!(out, "{} µs", nanoseconds / 1000),
        1_000_000..1_000_000_000 => {
            let tenths = nanoseconds / 100_000;
            write!(out, "{}.{} ms", tenths / 10, tenths % 10)
        }
        1_000_000_000..60_000_000_000 => {
            let hundredths = nanoseconds / 10_000_000;
            write!(out, "{}.{:02} s", hundredths / 100, hundredths % 100)
        }
        _ => {
            let seconds = nanoseconds / 1_000_000_000;
            write!(out, "{}m{:02}s", seconds / 60, seconds % 60)
        }
    };
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
            seq: 12,
            time: "0.034512",
            arrow: Arrow::ToClient,
            size: 1234,
            latency: Some(1_600_000),
            id: "3",
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
