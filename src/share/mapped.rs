//! Decoded text with the place of each byte in the original, so that a part of it can be replaced there.

use crate::wire::json::unescape;
use std::borrow::Cow;
use std::ops::Range;

/// A replacement in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    /// What is replaced.
    pub range: Range<usize>,
    /// By what.
    pub text: Vec<u8>,
}

/// Applies edits that are in order and do not overlap.
pub(super) fn applied(text: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        out.extend_from_slice(text.get(at..edit.range.start).unwrap_or_default());
        out.extend_from_slice(&edit.text);
        at = edit.range.end.max(at);
    }
    out.extend_from_slice(text.get(at..).unwrap_or_default());
    out
}

/// A decoded text.
#[derive(Debug)]
pub(super) struct Mapped<'a> {
    /// The text.
    pub text: Cow<'a, [u8]>,
    /// The place of each byte in the original, and the original's length; `None` if both are the same.
    starts: Option<Vec<usize>>,
}

impl<'a> Mapped<'a> {
    /// Takes a text as it is.
    pub(super) fn plain(text: &'a [u8]) -> Self {
        Self { text: Cow::Borrowed(text), starts: None }
    }

    /// Resolves the escapes in the contents of a JSON string.
    pub(super) fn json_string(inner: &'a [u8]) -> Self {
        if memchr::memchr(b'\\', inner).is_none() {
            return Self::plain(inner);
        }
        let mut made = Builder::default();
        let mut at = 0;
        while at < inner.len() {
            let length = escape_length(&inner[at..]);
            match length {
                1 => made.push(&inner[at..=at], at),
                _ => made.push(unescape(inner.get(at..at + length).unwrap_or(&inner[at..])).as_bytes(), at),
            }
            at += length;
        }
        made.finish(inner.len())
    }

    /// Resolves percent-encoding.
    pub(super) fn percent(text: &'a [u8]) -> Self {
        let mut made = Builder::default();
        let mut at = 0;
        while at < text.len() {
            let is_encoded = text[at] == b'%'
                && text.get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
            let length = if is_encoded { 3 } else { 1 };
            made.push(&crate::redact::encoding::percent_decoded(&text[at..at + length]), at);
            at += length;
        }
        made.finish(text.len())
    }

    /// Joins parts of a text, each given by its range, with LF between them.
    pub(super) fn joined(text: &'a [u8], parts: &[Range<usize>]) -> Self {
        let mut made = Builder::default();
        for (number, part) in parts.iter().enumerate() {
            if number > 0 {
                made.push(b"\n", part.start);
            }
            for at in part.clone() {
                made.push(text.get(at..=at).unwrap_or_default(), at);
            }
        }
        made.finish(parts.last().map_or(0, |part| part.end))
    }

    /// Returns an edit of this text as one of the original; `encode` encodes the replacement.
    pub(super) fn original(&self, edit: Edit, encode: impl Fn(&[u8]) -> Vec<u8>) -> Edit {
        let Some(starts) = &self.starts else { return Edit { text: encode(&edit.text), ..edit } };
        let place = |at: usize| starts.get(at).or(starts.last()).copied().unwrap_or_default();
        Edit { range: place(edit.range.start)..place(edit.range.end), text: encode(&edit.text) }
    }
}

#[derive(Default)]
struct Builder {
    text: Vec<u8>,
    starts: Vec<usize>,
}

impl Builder {
    fn push(&mut self, decoded: &[u8], at: usize) {
        self.text.extend_from_slice(decoded);
        self.starts.extend(decoded.iter().map(|_| at));
    }

    fn finish<'a>(mut self, end: usize) -> Mapped<'a> {
        self.starts.push(end);
        Mapped { text: Cow::Owned(self.text), starts: Some(self.starts) }
    }
}

/// Returns the length of the escape, or of the pair of escapes that form one character, at the beginning of a text; 1
/// for anything else.
fn escape_length(text: &[u8]) -> usize {
    match text {
        [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', _, _, b'\\', b'u', ..]
            if text.len() >= 12 =>
        {
            12
        }
        [b'\\', b'u', ..] => 6.min(text.len()),
        [b'\\', _, ..] => 2,
        _ => 1,
    }
}

/// Encodes text for the inside of a JSON string.
pub(super) fn json_escaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(*byte),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_of_a_string_replaces_exactly_its_escapes() {
        let inner = br#"a\n\u0073ecret\ud83d\ude00 \"x"#;
        let mapped = Mapped::json_string(inner);
        assert_eq!(mapped.text, "a\nsecret😀 \"x".as_bytes());
        let edit = mapped.original(Edit { range: 2..8, text: b"q\"".to_vec() }, json_escaped);
        assert_eq!(applied(inner, &[edit]), br#"a\nq\"\ud83d\ude00 \"x"#);
    }

    #[test]
    fn an_edit_of_encoded_text_replaces_exactly_its_bytes() {
        let text = b"x%3Dab%2Fc&y";
        let mapped = Mapped::percent(text);
        assert_eq!(&*mapped.text, b"x=ab/c&y");
        let edit =
            mapped.original(Edit { range: 2..6, text: b"1/2".to_vec() }, crate::redact::encoding::percent_encoded);
        assert_eq!(applied(text, &[edit]), b"x%3D1%2F2&y");
    }

    #[test]
    fn joined_parts_are_edited_at_their_places() {
        let text = b"data: ab\ndata: cd\n";
        let mapped = Mapped::joined(text, &[6..8, 15..17]);
        assert_eq!(&*mapped.text, b"ab\ncd");
        assert_eq!(
            applied(text, &[mapped.original(Edit { range: 3..5, text: b"xy".to_vec() }, <[u8]>::to_vec)]),
            b"data: ab\ndata: xy\n"
        );
    }
}
