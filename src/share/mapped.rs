//! Decoded text with the place of each byte in the original, so that a part of it can be replaced there.

use crate::wire::json::unescape;
use memchr::memmem;
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
    /// Where stretches begin that stand in the original as they are, or come from one escape; `None` if all of it stands
    /// there.
    stretches: Option<Vec<Stretch>>,
}

/// A part of a decoded text.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// Its start in the decoded text.
    decoded: usize,
    /// Its start in the original.
    original: usize,
    /// Whether it stands in the original as it is.
    is_plain: bool,
}

impl<'a> Mapped<'a> {
    /// Takes a text as it is.
    pub(super) fn plain(text: &'a [u8]) -> Self {
        Self { text: Cow::Borrowed(text), stretches: None }
    }

    /// Returns whether the original is another text.
    pub(super) fn is_changed(&self) -> bool {
        self.stretches.is_some()
    }

    /// Resolves the escapes in the contents of a JSON string.
    pub(super) fn json_string(inner: &'a [u8]) -> Self {
        if memchr::memchr(b'\\', inner).is_none() {
            return Self::plain(inner);
        }
        let mut made = Builder::default();
        let mut at = 0;
        while at < inner.len() {
            let plain = memchr::memchr(b'\\', &inner[at..]).unwrap_or(inner.len() - at);
            made.plain(&inner[at..at + plain], at);
            at += plain;
            if at < inner.len() {
                let length = escape_length(&inner[at..]);
                match length {
                    1 => made.plain(&inner[at..=at], at),
                    _ => made.encoded(unescape(inner.get(at..at + length).unwrap_or(&inner[at..])).as_bytes(), at),
                }
                at += length;
            }
        }
        made.finish(inner.len())
    }

    /// Resolves percent-encoding. In forms, a plus sign stands for a space.
    pub(super) fn percent(text: &'a [u8], is_form: bool) -> Self {
        let mut made = Builder::default();
        let mut at = 0;
        while at < text.len() {
            let end =
                if is_form { memchr::memchr2(b'%', b'+', &text[at..]) } else { memchr::memchr(b'%', &text[at..]) };
            let plain = end.unwrap_or(text.len() - at);
            made.plain(&text[at..at + plain], at);
            at += plain;
            let is_encoded = text.get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
            if is_encoded {
                made.encoded(&crate::redact::encoding::percent_decoded(&text[at..at + 3]), at);
                at += 3;
            } else if text.get(at) == Some(&b'+') {
                made.encoded(b" ", at);
                at += 1;
            } else if at < text.len() {
                made.plain(&text[at..=at], at);
                at += 1;
            }
        }
        made.finish(text.len())
    }

    /// Undoes the quoting of CSV (`""`), of XML and HTML (`&quot;`), and of Markdown (`\_`); `None` if there is none.
    pub(super) fn unquoted(text: &'a [u8]) -> Option<Self> {
        let (mut made, mut at, mut plain) = (Builder::default(), 0, 0);
        let has_doubled = has_doubled(text);
        while let Some(next) = memchr::memchr3(b'"', b'&', b'\\', &text[at..]) {
            at += next;
            match quoted(&text[at..]).filter(|_| has_doubled || text[at] != b'"') {
                Some((decoded, length)) => {
                    made.plain(&text[plain..at], plain);
                    let mut utf_8 = [0; 4];
                    made.encoded(decoded.encode_utf8(&mut utf_8).as_bytes(), at);
                    at += length;
                    plain = at;
                }
                None => at += 1,
            }
        }
        if plain == 0 {
            return None;
        }
        made.plain(&text[plain..], plain);
        Some(made.finish(text.len()))
    }

    /// Joins parts of a text, each given by its range, with LF between them.
    pub(super) fn joined(text: &'a [u8], parts: &[Range<usize>]) -> Self {
        let mut made = Builder::default();
        for (number, part) in parts.iter().enumerate() {
            if number > 0 {
                made.encoded(b"\n", part.start);
            }
            made.plain(text.get(part.clone()).unwrap_or_default(), part.start);
        }
        made.finish(parts.last().map_or(0, |part| part.end))
    }

    /// Returns an edit of this text as one of the original; `encode` encodes the replacement.
    pub(super) fn original(&self, edit: Edit, encode: impl Fn(&[u8]) -> Vec<u8>) -> Edit {
        Edit { range: self.place(edit.range.start)..self.place(edit.range.end), text: encode(&edit.text) }
    }

    /// Returns where a byte of this text, or its end, is in the original.
    fn place(&self, at: usize) -> usize {
        let Some(stretches) = &self.stretches else { return at };
        let number = stretches.partition_point(|stretch| stretch.decoded <= at);
        match number.checked_sub(1).and_then(|number| stretches.get(number)) {
            Some(stretch) if stretch.is_plain => stretch.original + (at - stretch.decoded),
            Some(stretch) => stretch.original,
            None => at,
        }
    }
}

#[derive(Default)]
struct Builder {
    text: Vec<u8>,
    stretches: Vec<Stretch>,
}

impl Builder {
    /// Adds what stands in the original as it is.
    fn plain(&mut self, text: &[u8], at: usize) {
        self.push(text, at, true);
    }

    /// Adds what an escape decodes to. A part of it is no part of the original.
    fn encoded(&mut self, decoded: &[u8], at: usize) {
        self.push(decoded, at, false);
    }

    fn push(&mut self, decoded: &[u8], original: usize, is_plain: bool) {
        if !decoded.is_empty() {
            self.stretches.push(Stretch { decoded: self.text.len(), original, is_plain });
            self.text.extend_from_slice(decoded);
        }
    }

    fn finish<'a>(mut self, end: usize) -> Mapped<'a> {
        self.stretches.push(Stretch { decoded: self.text.len(), original: end, is_plain: false });
        Mapped { text: Cow::Owned(self.text), stretches: Some(self.stretches) }
    }
}

/// What a backslash quotes in Markdown, except for what it quotes in JSON, too.
const MARKDOWN: &[u8] = b"_*[](){}#+-.!|<>~`&";

/// The longest reference to a character that is resolved, as `&#x10ffff;`.
const LONGEST_REFERENCE: usize = 10;

/// Whether quotes are doubled in a text, as in CSV: there is a word beside two of them. Three of them, as in Python, and
/// empty strings are something else.
fn has_doubled(text: &[u8]) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    memmem::find_iter(text, b"\"\"").any(|at| {
        let (before, after) = (text[..at].last(), text.get(at + 2));
        before != Some(&b'"') && after != Some(&b'"') && (is_word(before) || is_word(after))
    })
}

/// Returns the character that the quoting at the beginning of a text stands for, and the length of that quoting.
fn quoted(text: &[u8]) -> Option<(char, usize)> {
    if text.starts_with(b"\"\"") {
        return Some(('"', 2));
    }
    if let [b'\\', escaped, ..] = text {
        return MARKDOWN.contains(escaped).then_some((char::from(*escaped), 2));
    }
    let start = &text[1..text.len().min(LONGEST_REFERENCE)];
    let name = std::str::from_utf8(&start[..memchr::memchr(b';', start)?]).ok()?;
    let number = |digits: &str, base| u32::from_str_radix(digits, base).ok().and_then(char::from_u32);
    let found = match name {
        "quot" => '"',
        "apos" => '\'',
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "colon" => ':',
        "equals" => '=',
        "commat" => '@',
        "sol" => '/',
        _ => match name.strip_prefix('#')? {
            digits if digits.starts_with(['x', 'X']) => number(&digits[1..], 16)?,
            digits => number(digits, 10)?,
        },
    };
    (text[0] == b'&').then_some((found, name.len() + 2))
}

/// Quotes text for the place of a text that was quoted for CSV, or for XML.
pub(super) fn quoted_like(original: &[u8]) -> fn(&[u8]) -> Vec<u8> {
    let quote: fn(&[u8]) -> Vec<u8> = |text| {
        let quote = |byte: &u8| if *byte == b'"' { vec![b'"', b'"'] } else { vec![*byte] };
        text.iter().flat_map(quote).collect()
    };
    let escape: fn(&[u8]) -> Vec<u8> = |text| {
        let escape = |byte: &u8| match byte {
            b'"' => b"&quot;".to_vec(),
            b'\'' => b"&#39;".to_vec(),
            b'&' => b"&amp;".to_vec(),
            b'<' => b"&lt;".to_vec(),
            b'>' => b"&gt;".to_vec(),
            other => vec![*other],
        };
        text.iter().flat_map(escape).collect()
    };
    if memmem::find(original, b"\"\"").is_some() { quote } else { escape }
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
        let mapped = Mapped::percent(text, false);
        assert_eq!(&*mapped.text, b"x=ab/c&y");
        let edit =
            mapped.original(Edit { range: 2..6, text: b"1/2".to_vec() }, crate::redact::encoding::percent_encoded);
        assert_eq!(applied(text, &[edit]), b"x%3D1%2F2&y");
    }

    #[test]
    fn the_quoting_of_csv_and_xml_is_undone_and_edits_are_quoted() {
        for (text, plain, edited) in [
            (&br#"1,"{""a"":""b""}""#[..], &br#"1,"{"a":"b"}""#[..], &br#"1,"{""a"":""x""y""}""#[..]),
            (
                b"<a b=\"{&quot;a&quot;:&#34;b&#x22;}\"",
                b"<a b=\"{\"a\":\"b\"}\"",
                b"<a b=\"{&quot;a&quot;:&#34;x&quot;y&#x22;}\"",
            ),
        ] {
            let mapped = Mapped::unquoted(text).expect("it is quoted");
            assert_eq!(&*mapped.text, plain);
            let at = plain.iter().rposition(|byte| *byte == b'b').expect("it is there");
            let edit = mapped.original(Edit { range: at..at + 1, text: b"x\"y".to_vec() }, quoted_like(text));
            assert_eq!(String::from_utf8_lossy(&applied(text, &[edit])), String::from_utf8_lossy(edited));
        }
        for text in [&b"a & b; \"c\" &nbsp; &#x; &#xd800;"[..], b"&", b"\"", b""] {
            assert!(Mapped::unquoted(text).is_none());
        }
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
