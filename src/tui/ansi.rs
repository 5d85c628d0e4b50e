//! Lines with colours, as `render` writes them: they contain no escape sequences but colours.

use crate::render::text::colour;
use crate::wire::text::visible;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthChar;

/// A part of a line: a character, or what changes the colour.
enum Part<'a> {
    Letter(char),
    Colour(&'a str),
}

/// Iterates over the parts of a line.
fn parts(line: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let length = if first == '\u{1b}' { colour(rest) } else { 0 };
        let (part, left) = rest.split_at(if length > 0 { length } else { first.len_utf8() });
        rest = left;
        Some(if length > 0 { Part::Colour(part) } else { Part::Letter(first) })
    })
}

/// Returns the text without colours.
pub fn plain(line: &str) -> String {
    parts(line).filter_map(|part| if let Part::Letter(letter) = part { Some(letter) } else { None }).collect()
}

/// Returns the line for the screen. What could control a terminal is shown as a visible character.
pub fn styled(line: &str) -> Line<'static> {
    let (mut spans, mut style, mut text) = (Vec::new(), Style::new(), String::new());
    for part in parts(line) {
        match part {
            Part::Letter(letter) => text.push(visible(letter)),
            Part::Colour(sequence) => {
                if !text.is_empty() {
                    spans.push(Span::styled(std::mem::take(&mut text), style));
                }
                style = changed(style, sequence);
            }
        }
    }
    spans.push(Span::styled(text, style));
    Line::from(spans)
}

/// Returns a style after a colour sequence.
fn changed(mut style: Style, sequence: &str) -> Style {
    let codes = sequence.trim_start_matches("\u{1b}[").trim_end_matches('m');
    let mut codes = codes.split(';').map(|code| code.parse::<u8>().unwrap_or(0));
    while let Some(code) = codes.next() {
        style = match code {
            0 => Style::new(),
            1 => style.add_modifier(Modifier::BOLD),
            2 => style.add_modifier(Modifier::DIM),
            3 => style.add_modifier(Modifier::ITALIC),
            4 => style.add_modifier(Modifier::UNDERLINED),
            7 => style.add_modifier(Modifier::REVERSED),
            30..=37 => style.fg(Color::Indexed(code - 30)),
            90..=97 => style.fg(Color::Indexed(code - 82)),
            38 | 48 => match (codes.next(), codes.next()) {
                (Some(5), Some(number)) if code == 38 => style.fg(Color::Indexed(number)),
                _ => style,
            },
            39 => Style { fg: None, ..style },
            _ => style,
        };
    }
    style
}

/// Divides a line into rows of at most `width` columns, after a space if there is one in the second half. Each row begins
/// with the colours that the row before it ended with.
pub fn wrapped(line: &str, width: usize) -> Vec<String> {
    let (mut rows, mut row, mut columns, mut active) = (Vec::new(), String::new(), 0, String::new());
    // The place after the last space: in the row, in columns, and the colours there.
    let mut space: Option<(usize, usize, String)> = None;
    for part in parts(line) {
        match part {
            Part::Colour(sequence) => {
                row.push_str(sequence);
                if sequence == "\u{1b}[0m" {
                    active.clear();
                } else {
                    active.push_str(sequence);
                }
            }
            Part::Letter(letter) => {
                let wide = visible(letter).width().unwrap_or(0);
                if columns + wide > width.max(1) && columns > 0 {
                    let (at, before, colours) = space.take().unwrap_or((row.len(), columns, active.clone()));
                    let rest = row.split_off(at);
                    rows.push(std::mem::replace(&mut row, colours + &rest));
                    columns -= before;
                }
                row.push(letter);
                columns += wide;
                if letter == ' ' && columns > width / 2 && columns < width {
                    space = Some((row.len(), columns, active.clone()));
                }
            }
        }
    }
    rows.push(row);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_colours_are_obeyed() {
        let line = styled("a\u{1b}[1m\u{1b}[38;5;133mb\u{1b}[0m\u{1b}[2Jc\u{9b}31m\u{202e}");
        let spans: Vec<(&str, Style)> = line.spans.iter().map(|span| (&*span.content, span.style)).collect();
        let coloured = Style::new().add_modifier(Modifier::BOLD).fg(Color::Indexed(133));
        assert_eq!(spans, [("a", Style::new()), ("b", coloured), ("␛[2Jc\u{fffd}31m\u{fffd}", Style::new())]);
        assert_eq!(plain("a\u{1b}[1mb\u{1b}[0mc"), "abc");
    }

    #[test]
    fn rows_keep_colours_and_whole_characters() {
        assert_eq!(wrapped("abcdef", 3), ["abc", "def"]);
        assert_eq!(wrapped("日本語", 5), ["日本", "語"]);
        assert_eq!(wrapped("e\u{301}e\u{301}", 1), ["e\u{301}", "e\u{301}"]);
        assert_eq!(wrapped("\u{1b}[1mabc\u{1b}[0md", 2), ["\u{1b}[1mab", "\u{1b}[1mc\u{1b}[0md"]);
        assert_eq!(wrapped("日", 1), ["日"], "a character that is too wide stands alone");
        assert_eq!(wrapped("one two three", 9), ["one two ", "three"]);
        assert_eq!(wrapped("a \u{1b}[1mbcdefgh ij\u{1b}[0m", 11), ["a \u{1b}[1mbcdefgh ", "\u{1b}[1mij\u{1b}[0m"]);
        assert_eq!(wrapped("a bcdefghij", 8), ["a bcdefg", "hij"], "too much space would be lost");
        assert_eq!(wrapped("", 5), [""]);
        assert_eq!(wrapped("abc", 0), ["a", "b", "c"]);
    }
}
