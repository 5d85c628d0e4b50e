//! Pretty-prints JSON directly from its bytes: no value is built, so every number, escape and duplicate key appears as
//! it crossed the wire. Long strings are folded.

use super::line::{is_printable, visible};
use super::output_buffer::OutputBuffer;
use super::style::Palette;
use super::text::Escaping;
use crate::wire::json;
use anstyle::Style;
use std::io::Write;

/// The layout of pretty-printed JSON.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Colours.
    pub palette: Palette,
    /// Strings longer than this number of bytes are folded; `None` folds none.
    pub fold: Option<usize>,
    /// Spaces per level.
    pub indent: usize,
    /// Spaces before each line.
    pub margin: usize,
    /// Whether the output is for programs: characters that steer a terminal are escaped, so that it stays JSON with the
    /// same strings. For people, they are made visible.
    pub is_json: bool,
}

impl Default for Layout {
    fn default() -> Self {
        Self { palette: Palette::plain(), fold: None, indent: 2, margin: 0, is_json: false }
    }
}

/// Appends `text`, pretty-printed. Text that is not JSON is kept as it is, with control characters made visible.
pub fn pretty<W: Write>(text: &[u8], layout: &Layout, out: &mut OutputBuffer<W>) {
    let coloured = !layout.palette.is_plain();
    // Escaping looks for more than what is not printable.
    let printable = !layout.is_json && is_printable(text);
    let mut printer = Printer { text, layout, coloured, printable, out, depth: 0 };
    printer.margin();
    let mut at = 0;
    while at < text.len() {
        let end = text.len().min(at + STRETCH);
        printer.out.gathered().reserve(2 * (end - at));
        at = printer.run(at, end);
        printer.out.relieve();
    }
}

struct Printer<'a, 'o, W> {
    text: &'a [u8],
    layout: &'a Layout,
    coloured: bool,
    /// The whole text is printable ASCII, so no part needs escaping.
    printable: bool,
    out: &'o mut OutputBuffer<W>,
    depth: usize,
}

/// The length of text that is processed before the buffer is written, in bytes.
const STRETCH: usize = 16 << 10;
const SPACES: &[u8; 64] = &[b' '; 64];
/// A line break and enough spaces for most indents.
const LINE: &[u8; 32] = b"\n                               ";
/// Deeper levels stay on one line. Otherwise a text with a million nested levels would become terabytes of spaces.
const MAX_DEPTH: usize = 128;
/// Most tokens are at most this long, in bytes.
const SHORT: usize = 32;

impl<W: Write> Printer<'_, '_, W> {
    /// Prints the tokens that begin between `at` and `end`. Returns where the last one ends.
    fn run(&mut self, mut at: usize, end: usize) -> usize {
        let text = self.text;
        while at < end {
            let (start, byte) = (at, text[at]);
            at += 1;
            match byte {
                b'"' => {
                    at = json::skip_string(text, at).unwrap_or(text.len());
                    let colon = json::skip_space(text, at);
                    let is_key = text.get(colon) == Some(&b':');
                    self.string(start, at, is_key);
                    if is_key {
                        self.out().extend_from_slice(b": ");
                        at = colon + 1;
                    }
                }
                b',' => {
                    self.out().push(byte);
                    self.line();
                }
                b'{' | b'[' => {
                    self.out().push(byte);
                    let next = json::skip_space(text, at);
                    // In ASCII, a closing bracket is the opening one plus two.
                    if text.get(next) == Some(&(byte + 2)) {
                        self.out().push(byte + 2);
                        at = next + 1;
                    } else {
                        self.depth += 1;
                        self.line();
                    }
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.line();
                    self.out().push(byte);
                }
                b' ' | b'\t' | b'\n' | b'\r' => {}
                _ => {
                    at = json::skip_scalar(text, at);
                    self.scalar(start, at);
                }
            }
        }
        at
    }

    #[inline(always)]
    fn line(&mut self) {
        let mut left = self.depth * self.layout.indent + self.layout.margin;
        if left < LINE.len() {
            // Copying a fixed length and truncating is faster than copying the exact length.
            let length = self.out().len() + 1 + left;
            self.out().extend_from_slice(LINE);
            return self.out().truncate(length);
        }
        if self.depth > MAX_DEPTH {
            return;
        }
        self.out().push(b'\n');
        while left > 0 {
            let some = left.min(SPACES.len());
            self.out().extend_from_slice(&SPACES[..some]);
            left -= some;
        }
        self.out.relieve();
    }

    /// The buffer for small pieces.
    #[inline(always)]
    fn out(&mut self) -> &mut Vec<u8> {
        self.out.gathered()
    }

    fn margin(&mut self) {
        let margin = self.layout.margin.min(SPACES.len());
        self.out().extend_from_slice(&SPACES[..margin]);
    }

    #[inline(always)]
    fn string(&mut self, start: usize, end: usize, is_key: bool) {
        let palette = &self.layout.palette;
        let style = if is_key { palette.key } else { palette.string };
        match self.layout.fold {
            Some(max) if !is_key && end - start > max + max / 4 + 16 => {
                self.folded(&self.text[start..end], max, style);
            }
            _ => self.token(start, end, style),
        }
    }

    /// Writes a token.
    #[inline(always)]
    fn token(&mut self, start: usize, end: usize, style: Style) {
        match self.text[start..].first_chunk::<SHORT>() {
            // Copying a fixed length and truncating is faster than copying the exact length.
            Some(run) if end - start <= SHORT && self.printable && !self.coloured => {
                let length = self.out().len() + end - start;
                self.out().extend_from_slice(run);
                self.out().truncate(length);
            }
            _ => self.styled(&self.text[start..end], style),
        }
    }

    /// Writes a number or a literal.
    #[inline(always)]
    fn scalar(&mut self, start: usize, end: usize) {
        let palette = &self.layout.palette;
        let style = if self.text[start].is_ascii_alphabetic() { palette.literal } else { palette.number };
        self.token(start, end, style);
    }

    fn folded(&mut self, whole: &[u8], max: usize, style: Style) {
        let cut = json::whole_until(whole, max);
        self.styled(&whole[..cut], style);
        let note = format!("… +{}\"", super::line::bytes((whole.len() - cut - 1) as u64));
        self.styled(note.as_bytes(), self.layout.palette.faint);
    }

    fn styled(&mut self, text: &[u8], style: Style) {
        if self.coloured {
            let _ = write!(self.out(), "{style}");
            self.plain(text);
            let _ = write!(self.out(), "{style:#}");
        } else {
            self.plain(text);
        }
    }

    /// Writes text from others so that no control character reaches the terminal, valid UTF-8 or not.
    fn plain(&mut self, text: &[u8]) {
        if self.layout.is_json {
            // Write errors are reported by the output buffer.
            return drop(Escaping(&mut *self.out).write_all(text));
        }
        if self.printable || is_printable(text) {
            return self.out.append(text);
        }
        let mut buffer = [0u8; 4];
        for chunk in text.utf8_chunks() {
            let odd = (!chunk.invalid().is_empty()).then_some(char::REPLACEMENT_CHARACTER);
            for found in chunk.valid().chars().chain(odd) {
                self.out.append(visible(found).encode_utf8(&mut buffer).as_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn laid_out(text: &str, layout: Layout) -> String {
        let mut out = Vec::new();
        let mut output_buffer = OutputBuffer::new(&mut out);
        pretty(text.as_bytes(), &layout, &mut output_buffer);
        output_buffer.flush().expect("a Vec takes all");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn text_is_kept_to_the_letter() {
        let text = r#"{"a":[1.0,1e400,{}, [ ]],"b":{"c":"\u0041\/"},"a":null}"#;
        let expected = "{\n  \"a\": [\n    1.0,\n    1e400,\n    {},\n    []\n  ],\n  \"b\": {\n    \"c\": \"\\u0041\\/\"\n  },\n  \"a\": null\n}";
        assert_eq!(laid_out(text, Layout::default()), expected);
    }

    #[test]
    fn for_programs_it_stays_json_with_the_same_strings() {
        let text = "{\"\u{202e}\":\"\u{9b}2J ##[error]\",\"b\":1.0}";
        let out = laid_out(text, Layout { is_json: true, ..Layout::default() });
        assert_eq!(out, "{\n  \"\\u202e\": \"\\u009b2J ##\\u005berror]\",\n  \"b\": 1.0\n}");
    }

    #[test]
    fn long_strings_are_folded_between_characters() {
        let layout = Layout { fold: Some(8), ..Layout::default() };
        let long = format!("\"éé\\u00e9{}\"", "x".repeat(100));
        assert_eq!(laid_out(&long, layout), "\"éé… +106 B\"");
        assert_eq!(laid_out("\"short\"", layout), "\"short\"");
    }

    #[test]
    fn what_is_nested_very_deep_stands_on_one_line() {
        let text = format!("{}1,2{}", "[".repeat(50_000), "]".repeat(50_000));
        let out = laid_out(&text, Layout::default());
        assert_eq!(out.lines().count(), 2 * MAX_DEPTH + 2);
        assert!(out.len() < text.len() + 3 * 2 * MAX_DEPTH * MAX_DEPTH, "{}", out.len());
        assert_eq!(out.split_whitespace().collect::<String>(), text);
    }

    #[test]
    fn colours_wrap_tokens_only() {
        let layout = Layout { palette: Palette::coloured(), margin: 1, ..Layout::default() };
        assert!(laid_out(r#"{"a":true}"#, layout).starts_with(" {\n   \u{1b}[1m\"a\"\u{1b}[0m: "));
    }

    proptest! {
        #[test]
        fn layout_changes_no_value(text in r#"[\{\}\[\]":,a0-9 \\]{0,60}"#, fold in prop::option::of(4usize..20)) {
            let out = laid_out(&text, Layout { fold, ..Layout::default() });
            if let Ok(value) = serde_json::from_str::<serde_json::Value>(&text)
                && fold.is_none()
            {
                prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&out).expect("still JSON"), value);
            }
        }
    }
}
