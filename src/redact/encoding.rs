//! Text within text: base64 and percent-encoding.

use base64::Engine;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

/// A text that was encoded in base64, and how.
pub(crate) struct Decoded {
    /// The text.
    pub text: Vec<u8>,
    engine: &'static GeneralPurpose,
}

impl Decoded {
    /// Encodes another text in the same way.
    pub(crate) fn encode(&self, text: &[u8]) -> Vec<u8> {
        self.engine.encode(text).into_bytes()
    }
}

/// The shortest base64 that is looked into, in characters.
pub(crate) const SHORTEST_BASE64: usize = 16;

/// Decodes base64 of a text; `None` if it is not base64, or of other data than text.
pub(crate) fn decoded(run: &[u8]) -> Option<Decoded> {
    if run.len() < SHORTEST_BASE64 {
        return None;
    }
    let engines: [&'static GeneralPurpose; 4] = [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD];
    let decoded = engines.iter().find_map(|engine| Some((engine.decode(run).ok()?, *engine)));
    let (text, engine) = decoded?;
    let is_text = std::str::from_utf8(&text)
        .is_ok_and(|text| text.chars().all(|found| !found.is_control() || found.is_ascii_whitespace()));
    is_text.then_some(Decoded { text, engine })
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
            assert_eq!(found.encode(&found.text), run.as_bytes());
        }
        assert!(decoded(b"short").is_none() && decoded(b"iVBORw0KGgoAAAANSUhEUg").is_none());
    }

    #[test]
    fn percents_are_decoded_and_encoded_again() {
        assert_eq!(percent_decoded(b"a%2Fb%zz%4"), b"a/b%zz%4");
        assert_eq!(percent_encoded(b"a/b c~"), b"a%2Fb%20c~");
    }
}
