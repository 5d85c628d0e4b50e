//! Keeps text from giving orders to build servers, which read the log of a step: to GitHub Actions, a line that begins with
//! `::` after blanks is a command, and to it and Azure Pipelines, so are `##[` and `##vso[` anywhere in a line.
//!
//! A backslash before the character that would complete such a beginning takes the meaning away.

use std::borrow::Cow;
use std::io::{self, Write};

/// What stands where a command would begin.
const MARK: u8 = b'\\';

/// What stands between `##` and `[` in commands of Azure Pipelines, in any case.
const AZURE: &[u8] = b"vso";

/// Looks for commands in text that comes in pieces, from the beginning of a line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LogLines {
    place: Place,
    hashes: Hashes,
}

/// The place in a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Only blanks came so far.
    #[default]
    Start,
    /// After them, a colon.
    Colon,
    /// Something else.
    Later,
}

/// How much of `##[` or `##vso[` came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Hashes {
    #[default]
    None,
    One,
    /// Two, and after them so many letters of [`AZURE`].
    Two(usize),
}

impl LogLines {
    /// Takes a piece from a position on, up to the next character that completes the beginning of a command. Returns the
    /// position of that character; `None` if the rest of the piece has none.
    pub(crate) fn next(&mut self, piece: &[u8], mut at: usize) -> Option<usize> {
        while at < piece.len() {
            if self.place == Place::Later && self.hashes == Hashes::None {
                at += memchr::memchr3(b'\n', b'\r', b'#', &piece[at..])?;
            }
            let (character, length) = first_character(&piece[at..]);
            if self.step(character) {
                return Some(at);
            }
            at += length;
        }
        None
    }

    /// Returns a piece in which no command begins.
    pub(crate) fn guarded<'a>(&mut self, piece: &'a [u8]) -> Cow<'a, [u8]> {
        let (mut out, mut from) = (Vec::new(), 0);
        let mut next = self.next(piece, 0);
        while let Some(at) = next {
            out.extend_from_slice(&piece[from..at]);
            // In ASCII, the character is one byte.
            out.extend_from_slice(&[MARK, piece[at]]);
            from = at + 1;
            next = self.next(piece, from);
        }
        if out.is_empty() {
            return piece.into();
        }
        out.extend_from_slice(&piece[from..]);
        out.into()
    }

    /// Takes a character; `None` is part of one, or no text. Returns whether it completes the beginning of a command.
    fn step(&mut self, character: Option<char>) -> bool {
        if matches!(character, Some('\n' | '\r')) {
            *self = Self::default();
            return false;
        }
        // Some build servers compare texts as people read them, without what is not seen.
        if character.is_none_or(is_invisible) {
            return false;
        }
        let is_command = match (self.place, character) {
            (Place::Start, Some(blank)) if blank.is_whitespace() => return false,
            (Place::Start, Some(':')) => {
                self.place = Place::Colon;
                return false;
            }
            (place, Some(':')) => place == Place::Colon,
            _ => false,
        };
        self.place = Place::Later;
        let letter = |known: usize| AZURE.get(known).map(|letter| char::from(*letter));
        let (hashes, is_bracket) = match (self.hashes, character) {
            (Hashes::Two(0), Some('#')) => (Hashes::Two(0), false),
            (Hashes::One, Some('#')) => (Hashes::Two(0), false),
            (_, Some('#')) => (Hashes::One, false),
            (Hashes::Two(known), Some('[')) => (Hashes::None, known == 0 || known == AZURE.len()),
            (Hashes::Two(known), Some(found)) if letter(known) == Some(found.to_ascii_lowercase()) => {
                (Hashes::Two(known + 1), false)
            }
            _ => (Hashes::None, false),
        };
        self.hashes = hashes;
        is_command || is_bracket
    }
}

/// The first character of bytes, and its length; `None` for a byte that is no character.
fn first_character(bytes: &[u8]) -> (Option<char>, usize) {
    if let Some(byte) = bytes.first().filter(|byte| byte.is_ascii()) {
        return (Some(char::from(*byte)), 1);
    }
    let start = bytes.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
    (start, start.map_or(1, char::len_utf8))
}

/// Returns whether a character takes no space.
fn is_invisible(found: char) -> bool {
    matches!(found,
        '\u{0}'..='\u{8}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{ad}' | '\u{34f}'
        | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns a text, from the beginning of a line, in which no command begins.
pub(crate) fn guarded(text: &str) -> Cow<'_, str> {
    match LogLines::default().guarded(text.as_bytes()) {
        Cow::Borrowed(_) => text.into(),
        // A mark stands between characters, so this is still text.
        Cow::Owned(bytes) => String::from_utf8(bytes).unwrap_or_default().into(),
    }
}

/// What looks for commands from the middle of a line on. In JSON, that is all: a string has no line ends, and no colon
/// follows a colon.
pub(crate) fn within_line() -> LogLines {
    LogLines { place: Place::Later, ..LogLines::default() }
}

/// A writer of text in which no command begins.
#[derive(Debug)]
pub(crate) struct Guarded<'a, W> {
    pub to: W,
    pub lines: &'a mut LogLines,
}

impl<W: Write> Write for Guarded<'_, W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.to.write_all(&self.lines.guarded(piece))?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_begins_a_command() {
        for (text, written) in [
            ("::error::x", ":\\:error::x"),
            ("a\n::set-output name=x::y\n", "a\n:\\:set-output name=x::y\n"),
            ("a\r::x\r\n::y", "a\r:\\:x\r\n:\\:y"),
            (" \t \u{a0}\u{3000}::x", " \t \u{a0}\u{3000}:\\:x"),
            ("\u{feff}\u{200b}::x", "\u{feff}\u{200b}:\\:x"),
            (":\u{200d}:x", ":\u{200d}\\:x"),
            ("\u{1b}::x", "\u{1b}:\\:x"),
            (":::x", ":\\::x"),
            ("x ##[add-path]y", "x ##\\[add-path]y"),
            ("x ##VSO[task.setvariable]y ###[z]", "x ##VSO\\[task.setvariable]y ###\\[z]"),
            ("#\u{ad}#[x]", "#\u{ad}#\\[x]"),
        ] {
            assert_eq!(guarded(text), written);
            assert_eq!(guarded(&guarded(text)), written, "once is enough");
        }
    }

    #[test]
    fn what_begins_no_command_stays() {
        for text in ["std::vec", ": :x", "a ::x", "é::x", ":", ":1", "## [a](b)", "#[x]"] {
            assert!(matches!(guarded(text), Cow::Borrowed(_)), "{text}");
        }
        for text in ["##v [x]", "##vs[x]", "# #[x]", "##\n[x]", ":\n:x", "{\"a\"::1}", "␛::x"] {
            assert!(matches!(guarded(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn pieces_are_like_the_whole() {
        let text = "a\n  ::b ##vso[c]\n\u{200b}:\u{200b}:\u{e9}::\n::";
        let whole = guarded(text).into_owned().into_bytes();
        for length in 1..text.len() {
            let (mut lines, mut out) = (LogLines::default(), Vec::new());
            let mut guard = Guarded { to: &mut out, lines: &mut lines };
            text.as_bytes().chunks(length).for_each(|piece| guard.write_all(piece).expect("a Vec takes all"));
            // Within a character, bytes that are no text change nothing.
            assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&whole), "{length}");
        }
    }
}
