//! Text within text: base64 and percent-encoding.

use base64::Engine;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

/// What was encoded in base64, and how.
pub(crate) struct Decoded {
    /// The text, or other data.
    pub text: Vec<u8>,
    engine: &'static GeneralPurpose,
    /// Whether the text was encoded as UTF-16 (little endian), as PowerShell does.
    is_wide: bool,
    /// The last characters, of which some are missing.
    cut_short: Vec<u8>,
}

impl Decoded {
    /// Encodes another text in the same way.
    pub(crate) fn encode(&self, text: &[u8]) -> Vec<u8> {
        let bytes = match self.is_wide {
            true => text.iter().flat_map(|byte| [*byte, 0]).collect(),
            false => text.to_vec(),
        };
        let mut out = self.engine.encode(bytes).into_bytes();
        out.extend_from_slice(&self.cut_short);
        out
    }

    /// Returns whether it is text.
    pub(crate) fn is_text(&self) -> bool {
        std::str::from_utf8(&self.text)
            .is_ok_and(|text| text.chars().all(|found| !found.is_control() || found.is_ascii_whitespace()))
    }
}

/// The shortest base64 that is looked into, in characters.
pub(crate) const SHORTEST_BASE64: usize = 16;

/// Decodes base64; `None` if the text is not base64. Its end may be missing.
pub(crate) fn decoded(run: &[u8]) -> Option<Decoded> {
    if run.len() < SHORTEST_BASE64 {
        return None;
    }
    let (whole, cut_short) = run.split_at(run.len() / 4 * 4);
    let (text, engine, cut_short) = match with_engines(run) {
        Some((text, engine)) => (text, engine, &b""[..]),
        None => with_engines(whole).map(|(text, engine)| (text, engine, cut_short))?,
    };
    let is_wide = text.chunks(2).all(|pair| matches!(pair, [byte, 0] if byte.is_ascii() && *byte != 0));
    let text = if is_wide { text.into_iter().step_by(2).collect() } else { text };
    Some(Decoded { text, engine, is_wide, cut_short: cut_short.to_vec() })
}

/// Returns whether base64 may be that of text, as far as its first characters show.
pub(crate) fn may_be_text(run: &[u8]) -> bool {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => u32::from(byte - b'A'),
        b'a'..=b'z' => u32::from(byte - b'a') + 26,
        b'0'..=b'9' => u32::from(byte - b'0') + 52,
        b'+' | b'-' => 62,
        _ => 63,
    };
    let mut bytes = run.chunks_exact(4).take(4).flat_map(|four| {
        let bits = four.iter().fold(0, |bits, byte| bits << 6 | value(*byte));
        [(bits >> 16) as u8, (bits >> 8) as u8, bits as u8]
    });
    let first = bytes.next().unwrap_or_default();
    let is_wide = bytes.clone().next() == Some(0);
    let is_text = |byte: u8| byte >= b' ' && byte != 0x7f || byte.is_ascii_whitespace();
    is_text(first) && !(0x80..0xc2).contains(&first) && (is_wide || bytes.all(is_text))
}

fn with_engines(run: &[u8]) -> Option<(Vec<u8>, &'static GeneralPurpose)> {
    let engines: [&'static GeneralPurpose; 4] = [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD];
    engines.iter().find_map(|engine| Some((engine.decode(run).ok()?, *engine)))
}

/// Decodes the percent-encoded bytes of a text.
pub(crate) fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let digits = text.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.filter(|_| text[at] == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(text[at]);
                at += 1;
            }
        }
    }
    out
}

/// Encodes every byte that is not unreserved (RFC 3986).
pub(crate) fn percent_encoded(text: &[u8]) -> Vec<u8> {
    let encode = |byte: &u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => vec![*byte],
        other => format!("%{other:02X}").into_bytes(),
    };
    text.iter().flat_map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_text_is_decoded_and_encoded_again() {
        for (run, text) in [
            ("eyJrZXkiOiJ2YWx1ZSJ9", r#"{"key":"value"}"#),
            ("aHVudGVyMiBhbmQgbW9yZQ==", "hunter2 and more"),
            ("aHVudGVyMiBhbmQgbW9yZQ", "hunter2 and more"),
            ("w6TDtsO8w58_Pz8-Pj4-", "äöüß???>>>>"),
        ] {
            let found = decoded(run.as_bytes()).expect(run);
            assert_eq!(String::from_utf8_lossy(&found.text), text);
            assert!(found.is_text());
            assert_eq!(found.encode(&found.text), run.as_bytes());
        }
        assert!(decoded(b"short").is_none());
        assert!(decoded(b"iVBORw0KGgoAAAANSUhEUg").is_some_and(|image| !image.is_text()));
    }

    #[test]
    fn base64_of_utf_16_and_the_beginning_of_base64_are_decoded_and_encoded_again() {
        // `echo -n 'key=hunter2x' | iconv -t utf-16le | base64`, and `echo -n 'hunter2 and more' | base64 | head -c 21`
        for (run, text) in [
            ("awBlAHkAPQBoAHUAbgB0AGUAcgAyAHgA", "key=hunter2x"),
            ("aHVudGVyMiBhbmQgbW9yZ", "hunter2 and mor"),
            ("aHVudGVyMiBhbmQgbW9yZQx", "hunter2 and more\u{c}"),
        ] {
            let Some(found) = decoded(run.as_bytes()) else { panic!("{run}") };
            assert!(String::from_utf8_lossy(&found.text).starts_with(&text[..15.min(text.len())]), "{run}");
            assert_eq!(found.encode(&found.text), run.as_bytes());
        }
    }

    #[test]
    fn percents_are_decoded_and_encoded_again() {
        assert_eq!(percent_decoded(b"a%2Fb%zz%4"), b"a/b%zz%4");
        assert_eq!(percent_encoded(b"a/b c~"), b"a%2Fb%20c~");
    }
}
