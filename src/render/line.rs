//! Formats an event as one line, and the parts of such lines.

use super::style::Palette;
pub(crate) use super::text::is_printable;
use super::text::printable_start;
pub(crate) use super::text::visible;
pub use super::text::visible_text;
use anstyle::Style;
use std::io::Write;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The content of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// The event's number.
    pub seq: u64,
    /// The number of the stream; 0 if there is only one.
    pub stream: u32,
    /// The formatted time.
    pub time: &'a str,
    /// The direction: `→` to the server, `←` to the client, `·` if it is not a message.
    pub arrow: Arrow,
    /// The length of the payload, in bytes.
    pub size: u64,
    /// For a response: the time since its request, in nanoseconds.
    pub latency: Option<i64>,
    /// The request id as it is on the wire.
    pub id: &'a str,
    /// mcpreel injected the message.
    pub injected: bool,
    /// The method, or the kind of event.
    pub title: &'a str,
    /// What it is about.
    pub about: &'a str,
    /// The length of the name with which that begins, in bytes.
    pub subject: usize,
    /// Brackets that tie responses to their requests; empty if there are none.
    pub brackets: &'a str,
    /// The outcome, for a response.
    pub outcome: Option<&'a str>,
    /// How the line is emphasised.
    pub mood: Emphasis,
}

impl Line<'_> {
    /// The name of what was called.
    fn named(&self) -> &str {
        self.about.get(..self.subject).unwrap_or_default()
    }

    /// Whether the method stands before the name of what was called. With little space, the name matters more, and a
    /// response has the method in its request.
    fn has_method(&self, width: Option<usize>) -> bool {
        let least = if self.outcome.is_some() { WITH_METHODS } else { WITH_SIZES };
        self.subject == 0 || width.is_none_or(|width| width >= least)
    }
}

/// The mark before the method of an injected message.
pub(crate) const INJECTED: &str = "[injected] ";

/// The direction of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrow {
    /// Client to server.
    ToServer,
    /// Server to client.
    ToClient,
    /// It is not a message.
    None,
}

/// The emphasis of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Emphasis {
    /// None.
    Plain,
    /// Something failed.
    Error,
    /// Secondary: stderr, transport events.
    Faint,
}

/// Appends a line, including LF, at most `width` columns wide if given.
pub(crate) fn write(line: &Line<'_>, palette: &Palette, width: Option<usize>, out: &mut Vec<u8>) {
    let start = out.len();
    let ink = Ink { coloured: !palette.is_plain() };
    let style = match line.arrow {
        Arrow::ToServer => palette.to_server,
        Arrow::ToClient => palette.to_client,
        Arrow::None => palette.faint,
    };
    let fixed = numbers(line, &ink, (style, palette.faint), width, out);
    let mut rest = Rest { space: width.map(|width| width.saturating_sub(fixed).max(20)), out };
    marks(line, &ink, palette.faint, &mut rest);
    let title_style = match line.mood {
        Emphasis::Error => palette.error,
        Emphasis::Faint => palette.faint,
        Emphasis::Plain => style,
    };
    // The method only says how something was called.
    let is_named = line.subject > 0 && line.mood == Emphasis::Plain;
    let method_style = if is_named { palette.faint } else { title_style };
    let has_method = line.has_method(width);
    if has_method {
        ink.on(method_style, rest.out);
        rest.theirs(line.title);
        ink.off(method_style, rest.out);
    }
    // Where there is little space, the error matters more than what was asked.
    let is_short = line.mood == Emphasis::Error && line.outcome.is_some() && rest.space.is_some_and(|it| it < LITTLE);
    if !(line.about.is_empty() || is_short && has_method) {
        rest.ours(if has_method { " " } else { "" });
        let about = if is_short { line.named() } else { line.about };
        write_about(&Line { about, ..*line }, &ink, title_style, &mut rest);
    }
    if let Some(outcome) = line.outcome {
        let style = if line.mood == Emphasis::Error { palette.error } else { Style::new() };
        ink.on(style, rest.out);
        rest.ours(OUTCOME);
        rest.theirs(outcome);
        ink.off(style, rest.out);
    }
    while out.len() > start && out.last() == Some(&b' ') {
        out.pop();
    }
    out.push(b'\n');
}

/// Less space than this is not shared by what was asked and the error, in columns.
const LITTLE: usize = 20;

/// Below this width, lines of responses name what was called without the method.
const WITH_METHODS: usize = 100;
/// Below this width, lines have no sizes, and requests have no methods if what is called has a name.
const WITH_SIZES: usize = 72;
/// Below this width, lines have no times and latencies either.
const WITH_TIMES: usize = 50;

/// Whether there is no space for sizes.
pub(crate) fn is_narrow(width: Option<usize>) -> bool {
    width.is_some_and(|width| width < WITH_SIZES)
}

/// Whether there is no space for times and latencies either.
pub(crate) fn is_very_narrow(width: Option<usize>) -> bool {
    width.is_some_and(|width| width < WITH_TIMES)
}

/// Appends the columns of fixed width: number, time, arrow, size, latency and id. Returns how many columns they take.
fn numbers(
    line: &Line<'_>,
    ink: &Ink,
    (style, faint): (Style, Style),
    width: Option<usize>,
    out: &mut Vec<u8>,
) -> usize {
    let has_times = !is_very_narrow(width);
    ink.on(faint, out);
    right(itoa::Buffer::new().format(line.seq), 5, out);
    if has_times {
        out.push(b' ');
        right(line.time, 12, out);
    }
    ink.off(faint, out);
    let arrow = match line.arrow {
        Arrow::ToServer => "→",
        Arrow::ToClient => "←",
        Arrow::None => "·",
    };
    out.push(b' ');
    ink.on(style, out);
    out.extend_from_slice(arrow.as_bytes());
    ink.off(style, out);
    out.push(b' ');
    ink.on(faint, out);
    if !is_narrow(width) {
        right(Cell::bytes(line.size).text(), 8, out);
    }
    match line.latency {
        _ if !has_times => {}
        Some(latency) => right(Cell::duration(latency).text(), 9, out),
        None => out.extend_from_slice(b"         "),
    }
    if has_times {
        out.push(b' ');
    }
    right(line.id, 4, out);
    ink.off(faint, out);
    out.push(b' ');
    let size = if is_narrow(width) { 0 } else { 8 };
    let times = if has_times { 1 + columns(line.time).max(12) + 9 + 1 } else { 0 };
    5 + times + 1 + 2 + size + columns(line.id).max(4) + 1
}

/// Appends the stream, the brackets of exchanges, and whether the message was injected.
fn marks(line: &Line<'_>, ink: &Ink, faint: Style, rest: &mut Rest<'_>) {
    ink.on(faint, rest.out);
    if line.stream != 0 {
        rest.ours("#");
        rest.ours(itoa::Buffer::new().format(line.stream));
        rest.ours(" ");
    }
    rest.ours(line.brackets);
    ink.off(faint, rest.out);
    if line.injected {
        rest.ours(INJECTED);
    }
}

/// Appends what a line is about. The name of what was called stands out; the text after it leaves space for the outcome.
fn write_about(line: &Line<'_>, ink: &Ink, style: Style, rest: &mut Rest<'_>) {
    let kept = line.outcome.map_or(0, |outcome| outcome.width() + OUTCOME.width() + 1);
    let space = rest.space.map(|space| space - kept.min(space / 2));
    let named = if ink.coloured { line.named() } else { "" };
    let arguments = &line.about[named.len()..];
    let fits = space.is_none_or(|space| named.width() < space);
    if !named.is_empty() {
        let style = if line.outcome.is_none() { style.bold() } else { style };
        ink.on(style, rest.out);
        rest.theirs_but(named, if fits { 0 } else { kept });
        ink.off(style, rest.out);
    }
    if fits && !arguments.is_empty() {
        rest.theirs_but(arguments, kept);
    }
}

/// What stands before the outcome of a call.
const OUTCOME: &str = " → ";

/// Appends headings for the columns of such lines.
pub(crate) fn write_headings(line: &Line<'_>, palette: &Palette, width: Option<usize>, out: &mut Vec<u8>) {
    let ink = Ink { coloured: !palette.is_plain() };
    let mut text = Vec::new();
    right("no.", 5, &mut text);
    if !is_very_narrow(width) {
        text.push(b' ');
        right("time", columns(line.time).max(12), &mut text);
    }
    match (is_very_narrow(width), is_narrow(width)) {
        (true, _) => right("", 2, &mut text),
        (false, true) => right("latency", 12, &mut text),
        (false, false) => {
            right("size", 11, &mut text);
            right("latency", 9, &mut text);
        }
    }
    text.push(b' ');
    right("id", columns(line.id).max(4), &mut text);
    ink.on(palette.faint, out);
    let mut rest = Rest { space: width, out };
    rest.ours(&String::from_utf8_lossy(&text));
    rest.ours(" method, arguments → result");
    ink.off(palette.faint, out);
    out.push(b'\n');
}

/// Writes colours, if there are any. Formatting is skipped if there are none.
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

/// The rest of a line, limited to the remaining space, if the width is limited.
struct Rest<'a> {
    space: Option<usize>,
    out: &'a mut Vec<u8>,
}

impl Rest<'_> {
    /// Appends text of mcpreel.
    fn ours(&mut self, text: &str) {
        match self.space {
            None => self.out.extend_from_slice(text.as_bytes()),
            Some(_) => self.letters(text),
        }
    }

    /// Appends text from others on one line, with control characters made visible.
    fn theirs(&mut self, text: &str) {
        match self.space {
            None => {
                let (plain, rest) = text.split_at(printable_start(text));
                self.out.extend_from_slice(plain.as_bytes());
                self.letters(rest);
            }
            Some(_) => self.letters(text),
        }
    }

    /// The same, but leaves `kept` columns for what follows, if that leaves at least half of the space.
    fn theirs_but(&mut self, text: &str, kept: usize) {
        let Some(space) = self.space else { return self.theirs(text) };
        let kept = kept.min(space / 2);
        // The last column is kept for an ellipsis.
        let is_cut = text.width() + 1 > space - kept;
        let mut part = Rest { space: Some(space - kept), out: self.out };
        part.letters(text);
        let left = part.space.unwrap_or_default();
        self.space = Some(if is_cut { kept } else { left + kept });
    }

    fn letters(&mut self, text: &str) {
        let mut buffer = [0u8; 4];
        for found in text.chars() {
            let shown = visible(found);
            let width = shown.width().unwrap_or(0);
            if let Some(left) = &mut self.space {
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

/// Appends a text, right-aligned in this number of columns.
fn right(text: &str, width: usize, out: &mut Vec<u8>) {
    const SPACES: &[u8; 16] = b"                ";
    let missing = width.saturating_sub(columns(text)).min(SPACES.len());
    // Copying a fixed length and truncating is faster than copying the exact length.
    let start = out.len() + missing;
    out.extend_from_slice(SPACES);
    out.truncate(start);
    out.extend_from_slice(text.as_bytes());
}

/// Returns the width of a text without wide characters.
fn columns(text: &str) -> usize {
    text.bytes().filter(|byte| byte & 0xc0 != 0x80).count()
}

/// Formats a size: `96 B`, `1.2 kB`, `3.4 MB`.
pub(crate) fn bytes(count: u64) -> String {
    Cell::bytes(count).text().to_owned()
}

/// Formats a duration given in nanoseconds: `870 ns`, `12 µs`, `1.6 ms`, `2.31 s`, `4m10s`.
pub(crate) fn duration(nanoseconds: i64) -> String {
    Cell::duration(nanoseconds).text().to_owned()
}

/// A short text without its own heap memory: a number and its unit.
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

    /// Appends a number of tenths.
    fn tenths(&mut self, tenths: u64) {
        self.number(tenths / 10);
        self.put(".");
        self.number(tenths % 10);
    }

    /// Appends two digits.
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

    fn line<'a>(about: &'a str, outcome: &'a str) -> Line<'a> {
        Line {
            stream: 0,
            seq: 12,
            time: "0.034512",
            arrow: Arrow::ToClient,
            size: 1234,
            latency: Some(1_600_000),
            id: "3",
            injected: false,
            title: "tools/call",
            about,
            subject: 0,
            brackets: "",
            outcome: Some(outcome),
            mood: Emphasis::Plain,
        }
    }

    fn written(line: &Line<'_>, width: Option<usize>) -> String {
        let mut out = Vec::new();
        write(line, &Palette::plain(), width, &mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn a_line_fits_its_width_and_shows_no_control_characters() {
        let text = written(&line("echo \u{1b}[31mred\n and a long tail that goes on and on", "\u{7}"), Some(80));
        assert_eq!(text, "   12     0.034512 ←   1.2 kB   1.6 ms    3 tools/call echo ␛[31mred␊ and … → ␇\n");
        assert!(text.trim_end().width() <= 80);
    }

    #[test]
    fn a_narrow_line_has_no_size() {
        let text = written(&line("echo text=1 and more words", "ok"), Some(60));
        assert_eq!(text, "   12     0.034512 ←    1.6 ms    3 tools/call echo t… → ok\n");
        assert!(text.trim_end().width() <= 60);
    }

    #[test]
    fn a_narrow_line_shows_the_error_rather_than_what_was_asked() {
        let failed = Line { mood: Emphasis::Error, ..line("echo text=1", "error -32601 no such method") };
        let text = written(&failed, Some(60));
        assert_eq!(text, "   12     0.034512 ←    1.6 ms    3 tools/call → error -326…\n");
        assert!(text.trim_end().width() <= 60);
        assert!(written(&failed, Some(120)).contains("tools/call echo text=1 → error -32601"));
    }

    #[test]
    fn a_very_narrow_line_has_no_times() {
        let line = line("echo text=1 and more words", "ok");
        let text = written(&line, Some(40));
        assert_eq!(text, "   12 ←    3 tools/call echo text… → ok\n");
        assert!(text.trim_end().width() <= 40);
        let mut headings = Vec::new();
        write_headings(&line, &Palette::plain(), Some(40), &mut headings);
        assert_eq!(String::from_utf8(headings).expect("text"), "  no.     id method, arguments → result\n");
    }

    #[test]
    fn what_was_called_needs_no_method_where_there_is_little_space() {
        let answer = Line { subject: 4, ..line("echo", "ok") };
        let call = Line { subject: 4, outcome: None, ..line("echo text=1", "") };
        let ends = |line: &Line<'_>, width| written(line, width).split("    3 ").nth(1).map(str::to_owned);
        for (width, expected_answer, expected_call) in [
            (None, "tools/call echo → ok\n", "tools/call echo text=1\n"),
            (Some(100), "tools/call echo → ok\n", "tools/call echo text=1\n"),
            (Some(99), "echo → ok\n", "tools/call echo text=1\n"),
            (Some(71), "echo → ok\n", "echo text=1\n"),
        ] {
            assert_eq!(ends(&answer, width).as_deref(), Some(expected_answer), "{width:?}");
            assert_eq!(ends(&call, width).as_deref(), Some(expected_call), "{width:?}");
        }
        let failed = Line { mood: Emphasis::Error, ..answer };
        assert_eq!(ends(&failed, Some(45)).as_deref(), Some("echo → ok\n"));
    }

    #[test]
    fn the_subject_and_the_outcome_share_the_space() {
        let start = "   12     0.034512 ←   1.2 kB   1.6 ms    3 tools/call ";
        let rest = |about: &str, outcome: &str| {
            let text = written(&line(about, outcome), Some(80));
            assert!(text.trim_end().width() <= 80, "{text}");
            text.trim_end().strip_prefix(start).map(str::to_owned).unwrap_or(text)
        };
        assert_eq!(rest("echo text=1", "ok"), "echo text=1 → ok");
        assert_eq!(rest("echo text=\"a long text for the server\"", "\"ok\""), "echo text=\"a lon… → \"ok\"");
        assert_eq!(rest("echo", "\"a long text from the server\""), "echo → \"a long text from…");
        let both = rest("echo text=\"a long text for the server\"", "\"a long text from the server\"");
        assert_eq!(both, "echo text=\"a… → \"a long …");
        let whole = written(&line(&"x".repeat(90), &"y".repeat(90)), None);
        assert!(whole.ends_with(&format!("{} → {}\n", "x".repeat(90), "y".repeat(90))), "{whole}");
    }

    #[test]
    fn what_is_called_stands_out_and_no_character_is_lost() {
        let call = Line { subject: 4, outcome: None, brackets: "┌ ", ..line("echo text=1", "") };
        let mut out = Vec::new();
        write(&call, &Palette::coloured(), Some(80), &mut out);
        let text = String::from_utf8(out).expect("text");
        assert!(text.contains("┌ \u{1b}[0m"), "{text:?}");
        assert!(
            text.contains("\u{1b}[38;5;243mtools/call\u{1b}[0m \u{1b}[1m\u{1b}[38;5;133mecho\u{1b}[0m text=1"),
            "{text:?}"
        );
        assert!(written(&call, Some(80)).ends_with("3 ┌ tools/call echo text=1\n"));
        for subject in [0, 4, 90, 999] {
            let text = "x".repeat(90);
            let long = Line { subject, ..line(&text, "ok") };
            let mut out = Vec::new();
            write(&long, &Palette::coloured(), Some(80), &mut out);
            assert!(String::from_utf8(out).expect("text").contains(" → ok"), "{subject}");
        }
    }

    #[test]
    fn headings_stand_above_their_columns() {
        let line = line("echo", "ok");
        let mut out = Vec::new();
        write_headings(&line, &Palette::plain(), Some(120), &mut out);
        let headings = String::from_utf8(out).expect("text");
        assert_eq!(headings, "  no.         time       size  latency   id method, arguments → result\n");
        let text = written(&line, None);
        let end = |text: &str, word: &str| text.find(word).map(|at| text[..at].width() + word.width());
        for (heading, value) in [("no.", "12"), ("time", "0.034512"), ("size", "1.2 kB"), ("latency", "1.6 ms")] {
            assert_eq!(end(&headings, heading), end(&text, value), "{heading}");
        }
        let mut narrow = Vec::new();
        write_headings(&line, &Palette::plain(), Some(40), &mut narrow);
        assert!(String::from_utf8(narrow).expect("text").trim_end().width() <= 40);
    }
}
