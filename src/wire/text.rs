//! Makes text from others safe to display: nothing in it can control a terminal or break a line.

use super::mask::masked;
use std::borrow::Cow;
use std::fmt;

/// The byte order mark of UTF-8, which says nothing: UTF-8 has only one order.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns a character in a form that is safe on a terminal: control characters become their pictures, or U+FFFD.
pub fn visible(found: char) -> char {
    match found {
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + found as u32).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' => '\u{fffd}',
        '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        other => other,
    }
}

/// Returns a text in a form that is safe on one line of a terminal; line ends become visible, too. Webhook secrets are
/// hidden.
pub fn visible_text(text: &str) -> String {
    masked(text).chars().map(visible).collect()
}

/// Returns a text of several lines in a form that is safe on a terminal: line ends and tabs stay.
pub(crate) fn visible_lines(text: &str) -> Cow<'_, str> {
    let is_odd = |found: char| !matches!(found, '\n' | '\t') && visible(found) != found;
    if !text.contains(is_odd) {
        return text.into();
    }
    text.replace("\r\n", "\n").chars().map(|found| if is_odd(found) { visible(found) } else { found }).collect()
}

/// Returns the beginning of a text, at most `max` characters, on one safe line; white space becomes single spaces.
pub(crate) fn excerpt(text: &str, max: usize) -> String {
    let mut out = String::new();
    let mut left = max;
    for word in text.split(|found: char| found.is_ascii_whitespace()).filter(|word| !word.is_empty()) {
        let space = if out.is_empty() { "" } else { " " };
        for found in space.chars().chain(word.chars()) {
            let Some(less) = left.checked_sub(1) else {
                out.push('…');
                return out;
            };
            left = less;
            out.push(visible(found));
        }
    }
    out
}

/// Returns an error with all its causes, separated by colons.
pub(crate) fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(found) = cause {
        let said = found.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = found.source();
    }
    text
}

/// A number with its noun: "1 message", "2 messages".
pub(crate) fn counted(count: impl Copy + fmt::Display + PartialEq + From<u8>, noun: &str) -> String {
    counted_as(count, noun, &format!("{noun}s"))
}

/// The same for words whose plural is not made with an `s`: "1 memory", "2 memories".
pub(crate) fn counted_as(count: impl Copy + fmt::Display + PartialEq + From<u8>, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1.into() { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_short_visible_line() {
        assert_eq!(excerpt(" no \u{1b}[31m such\r\n\tthing\u{202e} ", 99), "no ␛[31m such thing\u{fffd}");
        assert_eq!(excerpt(&"é".repeat(9), 3), "ééé…");
        assert_eq!(
            (excerpt("abc", 3), excerpt("", 3), excerpt(" \n", 3)),
            ("abc".into(), String::new(), String::new())
        );
    }
}
