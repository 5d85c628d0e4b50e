//! JSON text laid out with indentation and colour, straight from its bytes: no value is built, so every number,
//! escape and duplicate key shows as it crossed the wire. Long strings are folded.

use super::line::is_printable;
use super::style::Palette;
use crate::wire::json;
use anstyle::Style;
use std::io::Write as _;

/// How JSON is laid out.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Colours.
    pub palette: Palette,
    /// Strings longer than this many bytes are folded; `None` shows all.
    pub fold: Option<usize>,
    /// Spaces a level.
    pub indent: usize,
    /// Spaces before every line.
    pub margin: usize,
}

impl Default for Layout {
    fn default() -> Self {
        Self { palette: Palette::plain(), fold: None, indent: 2, margin: 0 }
    }
}

/// Appends `text` laid out. What is not JSON is passed on as it stands, control characters made visible.
pub fn pretty(text: &[u8], layout: &Layout, out: &mut Vec<u8>) {
    let coloured = !layout.palette.is_plain();
    out.reserve(text.len() * 2);
    let printable = is_printable(text);
    let mut printer = Printer { text, at: 0, layout, coloured, printable, out, depth: 0 };
    printer.margin();
    printer.run();
}

struct Printer<'a, 'o> {
    text: &'a [u8],
    at: usize,
    layout: &'a Layout,
    coloured: bool,
    /// The whole text is printable ASCII, so that no part of it needs a second look.
    printable: bool,
    out: &'o mut Vec<u8>,
    depth: usize,
}

const SPACES: &[u8; 64] = &[b' '; 64];
/// The start of a line.
const LINE: &[u8; 32] = b"\n                               ";
/// Most tokens are no longer.
const SHORT: usize = 32;

impl Printer<'_, '_> {
    fn run(&mut self) {
        let mut is_key = false;
        let mut objects = Vec::with_capacity(16);
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                b'{' | b'[' => {
                    is_key = self.open(byte);
                    if !self.just_closed(byte) {
                        objects.push(byte == b'{');
                    } else {
                        is_key = false;
                    }
                }
                b'}' | b']' => {
                    objects.pop();
                    self.depth = self.depth.saturating_sub(1);
                    self.line();
                    self.byte(byte);
                    is_key = false;
                }
                b',' => {
                    self.byte(byte);
                    self.line();
                    is_key = objects.last() == Some(&true);
                }
                b':' => {
                    self.byte(byte);
                    self.out.push(b' ');
                    is_key = false;
                }
                b'"' => self.string(is_key),
                _ => self.scalar(),
            }
        }
    }

    /// Writes an opening bracket, and the closing one at once where nothing stands between.
    fn open(&mut self, byte: u8) -> bool {
        let closing = if byte == b'{' { b'}' } else { b']' };
        let next = json::skip_space(self.text, self.at + 1);
        self.out.push(byte);
        if self.text.get(next) == Some(&closing) {
            self.out.push(closing);
            self.at = next + 1;
            return false;
        }
        self.at += 1;
        self.depth += 1;
        self.line();
        byte == b'{'
    }

    fn just_closed(&self, byte: u8) -> bool {
        self.out.last() == Some(if byte == b'{' { &b'}' } else { &b']' })
    }

    fn byte(&mut self, byte: u8) {
        self.out.push(byte);
        self.at += 1;
    }

    fn line(&mut self) {
        let mut left = self.depth * self.layout.indent + self.layout.margin;
        if left < LINE.len() {
            // A copy of fixed length, cut, is quicker than one of the length that is wanted.
            let length = self.out.len() + 1 + left;
            self.out.extend_from_slice(LINE);
            return self.out.truncate(length);
        }
        self.out.push(b'\n');
        while left > 0 {
            let some = left.min(SPACES.len());
            self.out.extend_from_slice(&SPACES[..some]);
            left -= some;
        }
    }

    fn margin(&mut self) {
        self.out.extend_from_slice(&SPACES[..self.layout.margin.min(SPACES.len())]);
    }

    fn string(&mut self, is_key: bool) {
        let end = json::skip_string(self.text, self.at + 1).unwrap_or(self.text.len());
        let start = std::mem::replace(&mut self.at, end);
        let palette = &self.layout.palette;
        let style = if is_key { palette.key } else { palette.string };
        match self.layout.fold {
            Some(most) if !is_key && end - start > most + most / 4 + 16 => {
                self.folded(&self.text[start..end], most, style);
            }
            _ => self.token(start, style),
        }
    }

    /// Writes the token from `start` to here.
    fn token(&mut self, start: usize, style: Style) {
        let length = self.at - start;
        match self.text[start..].first_chunk::<SHORT>() {
            // A copy of fixed length, cut, is quicker than one of the length that is wanted.
            Some(run) if length <= SHORT && self.printable && !self.coloured => {
                let length = self.out.len() + length;
                self.out.extend_from_slice(run);
                self.out.truncate(length);
            }
            _ => self.styled(&self.text[start..self.at], style),
        }
    }

    fn folded(&mut self, whole: &[u8], most: usize, style: Style) {
        let cut = fold_point(whole, most);
        self.styled(&whole[..cut], style);
        let note = format!("… +{}\"", super::line::bytes((whole.len() - cut - 1) as u64));
        self.styled(note.as_bytes(), self.layout.palette.faint);
    }

    fn scalar(&mut self) {
        let start = self.at;
        while let Some(byte) = self.text.get(self.at) {
            if matches!(byte, b',' | b'}' | b']' | b':' | b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'{' | b'[') {
                break;
            }
            self.at += 1;
        }
        let palette = &self.layout.palette;
        let style = if self.text[start].is_ascii_alphabetic() { palette.literal } else { palette.number };
        self.token(start, style);
    }

    fn styled(&mut self, text: &[u8], style: Style) {
        if self.coloured {
            let _ = write!(self.out, "{style}");
            self.plain(text);
            let _ = write!(self.out, "{style:#}");
        } else {
            self.plain(text);
        }
    }

    /// Nothing that a peer puts into a text, sound or not, reaches the terminal as a control character.
    fn plain(&mut self, text: &[u8]) {
        if self.printable || is_printable(text) {
            return self.out.extend_from_slice(text);
        }
        let mut buffer = [0u8; 4];
        for found in String::from_utf8_lossy(text).chars() {
            self.out.extend_from_slice(super::line::visible(found).encode_utf8(&mut buffer).as_bytes());
        }
    }
}

/// A place near `most` that splits neither a character nor an escape.
fn fold_point(whole: &[u8], most: usize) -> usize {
    let mut cut = most.min(whole.len());
    while cut > 1 && whole[cut] & 0xc0 == 0x80 {
        cut -= 1;
    }
    // An escape is at most six bytes long and begins with a backslash that is not itself escaped.
    for back in 1..=6.min(cut.saturating_sub(1)) {
        let at = cut - back;
        if whole[at] == b'\\' && whole[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0 {
            let length = if whole.get(at + 1) == Some(&b'u') { 6 } else { 2 };
            return if at + length > cut { at } else { cut };
        }
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn laid_out(text: &str, layout: Layout) -> String {
        let mut out = Vec::new();
        pretty(text.as_bytes(), &layout, &mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn text_is_kept_to_the_letter() {
        let text = r#"{"a":[1.0,1e400,{}, [ ]],"b":{"c":"\u0041\/"},"a":null}"#;
        let expected = "{\n  \"a\": [\n    1.0,\n    1e400,\n    {},\n    []\n  ],\n  \"b\": {\n    \"c\": \"\\u0041\\/\"\n  },\n  \"a\": null\n}";
        assert_eq!(laid_out(text, Layout::default()), expected);
    }

    #[test]
    fn long_strings_are_folded_between_characters() {
        let layout = Layout { fold: Some(8), ..Layout::default() };
        let long = format!("\"éé\\u00e9{}\"", "x".repeat(100));
        assert_eq!(laid_out(&long, layout), "\"éé… +106 B\"");
        assert_eq!(laid_out("\"short\"", layout), "\"short\"");
    }

    #[test]
    fn colours_wrap_tokens_only() {
        let layout = Layout { palette: Palette::coloured(), margin: 1, ..Layout::default() };
        assert!(laid_out(r#"{"a":true}"#, layout).starts_with(" {\n   \u{1b}[1m\u{1b}[34m\"a\"\u{1b}[0m: "));
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
