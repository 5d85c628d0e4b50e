//! Makes text from others safe for terminals and JSON: nothing in it can control a terminal or change the text
//! direction.
//!
//! For people, such characters are made visible. In JSON they are escaped, so that parsing gives the same strings.
//! Output that is requested byte for byte (`show --raw`, `reel cat`) is not changed.

pub(crate) use crate::wire::escaping::{Escaping, indented_json, json};
pub(crate) use crate::wire::log_lines::guarded;
pub use crate::wire::text::{visible, visible_text};

use crate::wire::escaping::odd_bytes;
use crate::wire::mask::masked;
use std::borrow::Cow;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_colours_stay_and_nothing_else_does() {
        let text = "a\tb\n\u{1b}[1;31mred\u{1b}[0m \u{1b}]0;title\u{7} \u{1b}[2J\u{9b}2J\r\u{202e}x";
        let shown = "a\tb\n\u{1b}[1;31mred\u{1b}[0m ␛]0;title␇ ␛[2J\u{fffd}2J␍\u{fffd}x";
        assert_eq!(printable(text, true), shown);
        assert_eq!(printable(text, false), shown.replace('\u{1b}', "␛"));
        assert!(matches!(printable("plain – text\n", false), Cow::Borrowed(_)));
        assert_eq!(printable("\u{1b}[", true), "␛[");
    }
}
