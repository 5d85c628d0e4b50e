//! Decides whether something of a secret is left, and whether the text around it is.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use std::collections::BTreeSet;
use std::io::Read;

/// As many consecutive characters of a secret are too many.
pub(super) const WINDOW: usize = 8;

/// How many encodings a reader undoes, one after the other.
const DEPTH: usize = 3;

/// All forms in which a reader could see a payload.
pub(super) fn views(payload: &[u8]) -> Vec<String> {
    let first = opened(payload);
    let mut all = BTreeSet::from([first.clone()]);
    let mut newest = vec![first];
    for _ in 0..DEPTH {
        let decoded: Vec<String> = newest.iter().flat_map(|text| decoded(text)).collect();
        newest = decoded.into_iter().filter(|text| all.insert(text.clone())).collect();
    }
    all.into_iter().collect()
}

/// The text of a payload, decompressed.
pub(super) fn opened(payload: &[u8]) -> String {
    let mut opened = Vec::new();
    let is_open = flate2::read::GzDecoder::new(payload).read_to_end(&mut opened).is_ok();
    String::from_utf8_lossy(if is_open { &opened } else { payload }).into_owned()
}

/// Whether a run of a part's characters stands in one of the views.
pub(super) fn survives(parts: &[String], views: &[String]) -> bool {
    parts.iter().any(|part| {
        let letters: Vec<char> = part.chars().collect();
        let mut runs = letters.windows(WINDOW.min(letters.len())).map(|run| run.iter().collect::<String>());
        runs.any(|run| views.iter().any(|view| view.contains(&run)))
    })
}

/// Whether a view has all of these words.
pub(super) fn has_words(words: &[String], views: &[String]) -> bool {
    views.iter().any(|view| words.iter().all(|word| view.contains(word)))
}

fn decoded(text: &str) -> Vec<String> {
    let mut all = vec![unescaped(text), percent(text), references(text)];
    let lines = text.replace("\\r", "").replace("\\n", "").replace(['\n', '\r'], "");
    all.extend((0..4).flat_map(|skipped| [base64(text, skipped), base64(&lines, skipped)]));
    all
}

/// Without the backslashes of JSON and JavaScript.
fn unescaped(text: &str) -> String {
    replaced(text, '\\', |rest| match rest.chars().next()? {
        'u' => Some((char::from_u32(u32::from_str_radix(rest.get(1..5)?, 16).ok()?)?, 5)),
        'n' => Some(('\n', 1)),
        other => Some((other, other.len_utf8())),
    })
}

/// Without percent-encoding.
fn percent(text: &str) -> String {
    let (mut out, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Without the character references of HTML.
fn references(text: &str) -> String {
    replaced(text, '&', |rest| {
        let name = &rest[..rest.find(';').filter(|end| *end < 10)?];
        let found = match name.strip_prefix('#') {
            Some(number) => {
                let hex = number.strip_prefix(['x', 'X']).map(|digits| u32::from_str_radix(digits, 16));
                char::from_u32(hex.unwrap_or_else(|| number.parse()).ok()?)?
            }
            None => *[("quot", '"'), ("amp", '&'), ("lt", '<'), ("gt", '>'), ("apos", '\''), ("colon", ':')]
                .iter()
                .find_map(|(known, is)| (*known == name).then_some(is))?,
        };
        Some((found, name.len() + 1))
    })
}

fn replaced(text: &str, mark: char, decode: impl Fn(&str) -> Option<(char, usize)>) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(mark) {
        out.push_str(&rest[..at]);
        let behind = &rest[at + mark.len_utf8()..];
        let (found, length) = decode(behind).unwrap_or((mark, 0));
        out.push(found);
        rest = &behind[length..];
    }
    out + rest
}

/// With runs of base64 decoded, from this character of each run on, where that makes a text.
fn base64(text: &str, skipped: usize) -> String {
    let is_base64 = |letter: char| letter.is_ascii_alphanumeric() || "+/-_".contains(letter);
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(is_base64) {
        let length = rest[at..].find(|letter| !is_base64(letter)).unwrap_or(rest.len() - at);
        let run = &rest[at..at + length];
        out.push_str(&rest[..at]);
        out.push_str(&decoded_run(run, skipped).unwrap_or_else(|| run.to_owned()));
        rest = &rest[at + length..];
    }
    out + rest
}

fn decoded_run(run: &str, skipped: usize) -> Option<String> {
    let run = run.get(skipped..).filter(|run| run.len() >= WINDOW)?.replace('-', "+").replace('_', "/");
    let whole = if run.len() % 4 == 1 { run.len() - 1 } else { run.len() };
    let bytes =
        STANDARD_NO_PAD.decode(&run[..whole]).or_else(|_| STANDARD_NO_PAD.decode(&run[..whole / 4 * 4])).ok()?;
    let text = if bytes.contains(&0) {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
        String::from_utf16(&units).ok()?
    } else {
        String::from_utf8(bytes).ok()?
    };
    text.chars().all(|letter| !letter.is_control() || letter.is_whitespace()).then_some(text)
}
