//! Writes JSON whose text does nothing: characters that steer a terminal or change the direction of text, and the
//! beginnings of commands for build servers, are escaped. Once parsed, the strings are the same.

use super::log_lines;
use super::text::visible;
use serde::Serialize;
use std::io::{self, Write};

/// Formats a value as JSON on one line.
pub(crate) fn json(value: &impl Serialize) -> String {
    let mut out = Vec::new();
    // Writing JSON to memory does not fail.
    let _ = serde_json::to_writer(Escaping(&mut out), value);
    String::from_utf8(out).unwrap_or_default()
}

/// Formats a value as indented JSON.
pub(crate) fn indented_json(value: &impl Serialize) -> String {
    let mut out = Vec::new();
    // Writing JSON to memory does not fail.
    let _ = serde_json::to_writer_pretty(Escaping(&mut out), value);
    String::from_utf8(out).unwrap_or_default()
}

/// Returns a JSON text as [`Escaping`] writes it.
pub(crate) fn escaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    // Writing to memory does not fail.
    let _ = Escaping(&mut out).write_all(text);
    out
}

/// Returns whether [`Escaping`] writes a JSON text as it is.
pub(crate) fn is_inert(text: &[u8]) -> bool {
    next_steering(text).is_none() && log_lines::within_line().next(text, 0).is_none()
}

/// Writes JSON text with such characters escaped. A character must not be split between two writes.
#[derive(Debug)]
pub(crate) struct Escaping<W>(pub W);

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let mut rest = text;
        loop {
            let Some((at, length, escape)) = next_steering(rest) else {
                self.without_commands(rest)?;
                return Ok(text.len());
            };
            self.without_commands(&rest[..at])?;
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

impl<W: Write> Escaping<W> {
    /// Writes text without characters that steer a terminal. The bracket of what would be a command is escaped.
    fn without_commands(&mut self, text: &[u8]) -> io::Result<()> {
        let (mut lines, mut from) = (log_lines::within_line(), 0);
        while let Some(at) = lines.next(text, from) {
            self.0.write_all(&text[from..at])?;
            self.0.write_all(b"\\u005b")?;
            from = at + 1;
        }
        self.0.write_all(&text[from..])
    }
}

/// Finds the next character that steers a terminal: its position, its length and the character.
fn next_steering(text: &[u8]) -> Option<(usize, usize, char)> {
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
                found.filter(|found| visible(*found) != *found).map(|found| (3, found))
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

/// Returns a value other than zero if any of eight bytes is not printable ASCII.
pub(crate) fn odd_bytes(word: u64) -> u64 {
    const EACH: u64 = u64::MAX / 0xff;
    let low = word.wrapping_sub(EACH * 0x20) & !word;
    let high = word.wrapping_add(EACH) | word;
    (low | high) & (EACH << 7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        assert_eq!(indented_json(&["\u{202e}"]), "[\n  \"\\u202e\"\n]");
        assert_eq!(escaped(b"{\"a\":\r\t1}\n"), b"{\"a\": \t1}\n");
        assert_eq!(escaped(b"cut \xe2\x80"), b"cut \xe2\x80");
    }

    #[test]
    fn json_keeps_its_strings_and_has_no_commands_in_its_lines() {
        assert_eq!(json(&"x ##[error]y"), r###""x ##\u005berror]y""###);
        assert_eq!(json(&["##vso[a]", "## [b]", "#[c]"]), r###"["##vso\u005ba]","## [b]","#[c]"]"###);
        assert_eq!(json(&"##[\u{9b}##["), r###""##\u005b\u009b##\u005b""###);
        assert!(is_inert(b"{\"a\":\"## [x]\"}") && !is_inert(b"{\"a\":\"##[x]\"}") && !is_inert(b"\xc2\x9b"));
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
