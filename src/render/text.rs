//! Makes text from others safe for terminals and JSON: nothing in it can control a terminal or change the text
//! direction.
//!
//! For people, such characters are made visible. In JSON they are escaped, so that parsing gives the same strings.
//! Output that is requested byte for byte (`show --raw`, `reel cat`) is not changed.

pub use crate::wire::text::{visible, visible_text};

use crate::wire::mask::masked;
use std::borrow::Cow;
use std::io::{self, Write};

/// Returns whether a character controls a terminal, ends a line or changes the text direction.
fn steers(found: char) -> bool {
    visible(found) != found
}

/// Makes a text of several lines safe to print. Line breaks and tabs are kept, and so are colours if `coloured`.
/// Webhook secrets are hidden.
pub(crate) fn printable(text: &str, coloured: bool) -> Cow<'_, str> {
    match masked(text) {
        Cow::Borrowed(text) => harmless(text, coloured),
        Cow::Owned(text) => harmless(&text, coloured).into_owned().into(),
    }
}

fn harmless(text: &str, coloured: bool) -> Cow<'_, str> {
    let is_odd = |found: char| !matches!(found, '\n' | '\t') && steers(found);
    let Some(mut at) = text.find(is_odd) else { return text.into() };
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    loop {
        let (plain, odd) = rest.split_at(at);
        out.push_str(plain);
        let kept = if coloured { colour(odd) } else { 0 };
        let taken = match odd.chars().next() {
            None => return out.into(),
            Some(_) if kept > 0 => {
                out.push_str(&odd[..kept]);
                kept
            }
            Some(found) => {
                out.push(visible(found));
                found.len_utf8()
            }
        };
        rest = &odd[taken..];
        at = rest.find(is_odd).unwrap_or(rest.len());
    }
}

/// Returns the length of the colour sequence at the start of a text; 0 if there is none.
pub(crate) fn colour(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("\u{1b}[") else { return 0 };
    let end = rest.find(|found: char| !found.is_ascii_digit() && found != ';');
    end.filter(|end| rest[*end..].starts_with('m')).map_or(0, |end| 2 + end + 1)
}

/// Returns a text without any meaning for Markdown or HTML: it stays text, on its line and in its cell.
pub(crate) fn markdown_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for found in visible_text(text).chars() {
        match found {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // After a backslash, it would still name a user.
            '@' => out.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => {
                out.push('\\');
                out.push(found);
            }
            _ => out.push(found),
        }
    }
    out
}

/// Returns a fence for a block of code in Markdown that no line of the text ends.
pub(crate) fn markdown_fence(text: &str) -> String {
    let longest = text.split(|found| found != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// Formats a value as JSON on one line.
pub(crate) fn json(value: &impl serde::Serialize) -> String {
    let mut out = Vec::new();
    // Writing JSON to memory does not fail.
    let _ = serde_json::to_writer(Escaping(&mut out), value);
    String::from_utf8(out).unwrap_or_default()
}

/// Writes JSON text with terminal control characters escaped. A character must not be split between two writes.
#[derive(Debug)]
pub(crate) struct Escaping<W>(pub W);

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let mut rest = text;
        loop {
            let Some((at, length, escape)) = next_escape(rest) else {
                self.0.write_all(rest)?;
                return Ok(text.len());
            };
            self.0.write_all(&rest[..at])?;
            match escape {
                // Between values; within a string it would not be JSON.
                '\r' => self.0.write_all(b" ")?,
                escape => write!(self.0, "\\u{:04x}", escape as u32)?,
            }
            rest = &rest[at + length..];
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Finds the next character that must be escaped: its position, its length and the character.
fn next_escape(text: &[u8]) -> Option<(usize, usize, char)> {
    let mut at = 0;
    loop {
        while text[at..].first_chunk::<8>().is_some_and(|word| odd_bytes(u64::from_le_bytes(*word)) == 0) {
            at += 8;
        }
        // The next bytes are not all printable ASCII: look at each.
        let near = text.len().min(at + 8);
        at += text[at..near].iter().take_while(|byte| !begins_escape(**byte)).count();
        let (first, rest) = text.get(at..)?.split_first()?;
        if !begins_escape(*first) {
            continue;
        }
        let found = match (*first, rest) {
            (b'\n' | b'\t', _) => None,
            (0..=0x1f | 0x7f, _) => Some((1, char::from(*first))),
            (0xc2, [second @ 0x80..=0x9f, ..]) => Some((2, char::from(*second))),
            (0xd8, [0x9c, ..]) => Some((2, '\u{61c}')),
            (0xe2, [0x80 | 0x81, _, ..]) => {
                let found = std::str::from_utf8(&text[at..at + 3]).ok().and_then(|text| text.chars().next());
                found.filter(|found| steers(*found)).map(|found| (3, found))
            }
            _ => None,
        };
        if let Some((length, found)) = found {
            return Some((at, length, found));
        }
        at += 1;
    }
}

/// Returns whether a character that must be escaped may begin with this byte.
fn begins_escape(byte: u8) -> bool {
    matches!(byte, 0..=0x1f | 0x7f | 0xc2 | 0xd8 | 0xe2)
}

/// Returns whether a text is all printable ASCII.
pub(crate) fn is_printable(text: &[u8]) -> bool {
    let (words, rest) = text.as_chunks::<8>();
    let odd = words.iter().fold(0, |odd, word| odd | odd_bytes(u64::from_le_bytes(*word)));
    odd == 0 && rest.iter().all(|byte| byte.wrapping_sub(0x20) < 0x5f)
}

/// Returns the length of a prefix that is surely printable ASCII.
pub(crate) fn printable_start(text: &str) -> usize {
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let sound = words.iter().take_while(|word| odd_bytes(u64::from_le_bytes(**word)) == 0).count();
    let tail = if sound == words.len() && is_printable(rest) { rest.len() } else { 0 };
    sound * 8 + tail
}

/// Returns a value other than zero if any of eight bytes is not printable ASCII.
fn odd_bytes(word: u64) -> u64 {
    const EACH: u64 = u64::MAX / 0xff;
    let low = word.wrapping_sub(EACH * 0x20) & !word;
    let high = word.wrapping_add(EACH) | word;
    (low | high) & (EACH << 7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn escaped(text: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        Escaping(&mut out).write_all(text).expect("a Vec takes all");
        out
    }

    #[test]
    fn json_keeps_its_strings_and_loses_what_steers() {
        for code in (0..=0x2100).chain(0xfff0..=0xffff) {
            let Some(found) = char::from_u32(code) else { continue };
            let text = json(&format!("a{found}b"));
            assert_eq!(serde_json::from_str::<String>(&text).expect("JSON"), format!("a{found}b"), "{code:x}");
            assert!(text.chars().all(|found| visible(found) == found), "{code:x}: {text:?}");
        }
        assert_eq!(json(&"\u{9b}31m\u{202e}"), "\"\\u009b31m\\u202e\"");
        assert_eq!(json(&"é – 日本"), "\"é – 日本\"");
        assert_eq!(escaped(b"{\"a\":\r\t1}\n"), b"{\"a\": \t1}\n");
        assert_eq!(escaped(b"cut \xe2\x80"), b"cut \xe2\x80");
    }

    #[test]
    fn lines_and_colours_stay_and_nothing_else_does() {
        let text = "a\tb\n\u{1b}[1;31mred\u{1b}[0m \u{1b}]0;title\u{7} \u{1b}[2J\u{9b}2J\r\u{202e}x";
        let shown = "a\tb\n\u{1b}[1;31mred\u{1b}[0m ␛]0;title␇ ␛[2J\u{fffd}2J␍\u{fffd}x";
        assert_eq!(printable(text, true), shown);
        assert_eq!(printable(text, false), shown.replace('\u{1b}', "␛"));
        assert!(matches!(printable("plain – text\n", false), Cow::Borrowed(_)));
        assert_eq!(printable("\u{1b}[", true), "␛[");
    }

    proptest! {
        #[test]
        fn any_json_text_stays_the_value_it_was(strings in prop::collection::vec("[\\x00-\\x7f\u{80}-\u{a0}\u{200e}-\u{206f}a-z]{0,20}", 0..5)) {
            let text = escaped(&serde_json::to_vec(&strings).expect("JSON"));
            prop_assert_eq!(serde_json::from_slice::<Vec<String>>(&text).expect("JSON"), strings);
            prop_assert!(String::from_utf8(text).expect("text").chars().all(|found| visible(found) == found));
        }
    }
}
