//! Encodings of a text or of its secret.

use super::Reel;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use std::io::Write;

type Encode = fn(&str) -> String;

/// Encodings of a whole text, or of a token alone.
pub(super) const OF_TEXTS: &[(&str, Encode)] = &[
    ("base64", |text| STANDARD.encode(text)),
    ("base64url", |text| URL_SAFE_NO_PAD.encode(text)),
    ("base64 in lines", |text| {
        let letters: Vec<char> = STANDARD.encode(text).chars().collect();
        letters.chunks(64).map(|line| line.iter().collect::<String>()).collect::<Vec<_>>().join("\n")
    }),
    ("base64 of UTF-16", |text| STANDARD.encode(text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>())),
    ("percent, all", |text| text.bytes().map(|byte| format!("%{byte:02X}")).collect()),
    ("percent, as forms", |text| url::form_urlencoded::byte_serialize(text.as_bytes()).collect()),
    ("percent, some", |text| some(text, |letter| format!("%{:02x}", u32::from(letter)))),
    ("references, decimal", |text| text.chars().map(|letter| format!("&#{};", u32::from(letter))).collect()),
    ("references, hexadecimal", |text| some(text, |letter| format!("&#x{:x};", u32::from(letter)))),
    ("references, mixed", |text| {
        let names = [('&', "amp"), ('"', "quot"), ('<', "lt"), ('\'', "apos"), (':', "colon")];
        let named = |letter: char| names.iter().find(|(is, _)| *is == letter).map(|(_, name)| format!("&{name};"));
        let letters = text.chars().enumerate();
        let form = |(at, letter): (usize, char)| match at % 5 {
            1 => format!("&#{};", u32::from(letter)),
            3 => format!("&#X{:X};", u32::from(letter)),
            _ => named(letter).unwrap_or_else(|| letter.to_string()),
        };
        letters.map(form).collect()
    }),
    ("JSON in a string", |text| serde_json::json!({"level": "warn", "note": text}).to_string()),
    ("JSON in JSON in a string", |text| {
        serde_json::json!({"level": "warn", "inner": serde_json::json!({ "note": text }).to_string()}).to_string()
    }),
    ("backslash-escaped slashes", |text| format!("{{\"note\":{}}}", serde_json::json!(text)).replace('/', "\\/")),
];

/// Every third letter in another form, but only of ASCII.
fn some(text: &str, form: impl Fn(char) -> String) -> String {
    let letters = text.chars().enumerate();
    letters
        .map(|(at, letter)| if at % 3 == 1 && letter.is_ascii() { form(letter) } else { letter.to_string() })
        .collect()
}

type Wrap = fn(Reel, &str) -> Reel;

/// Encodings of a message, given the secret in it.
pub(super) const OF_MESSAGES: &[(&str, Wrap)] = &[
    ("\\uXXXX, all", |reel, secret| {
        let escaped = secret.chars().map(|letter| format!("\\u{:04x}", u32::from(letter))).collect::<String>();
        reel.replaced(secret, &escaped)
    }),
    ("\\uXXXX, some", |reel, secret| {
        let escaped = some(secret, |letter| format!("\\u{:04X}", u32::from(letter)));
        reel.replaced(secret, &escaped)
    }),
    ("gzip", |reel, _| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(&reel.payload).expect("a Vec");
        Reel { payload: encoder.finish().expect("a Vec"), ..reel }
    }),
];
