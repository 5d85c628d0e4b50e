//! Compares what was redacted with different keys: the same text may have other pseudonyms, but nothing else may differ.

use crate::redact::encoding::decoded;
use crate::redact::marks;
use std::collections::HashMap;
use std::ops::Range;

/// Two words differ at least by this much in pseudonyms that stand for different secrets. Shorter ones coincide. Unit:
/// bytes.
const DISTINCT: usize = 6;
/// The maximum number of pairs that are remembered.
const MAX_PAIRS: usize = 1 << 18;
/// A line of at least this length goes on in the next one, as those of keys do. Unit: bytes.
const FULL_LINE: usize = 32;
/// Base64 in base64 is followed to this depth.
const DEEPEST: usize = 5;

/// Which pseudonyms of one recording stand for which ones of another.
#[derive(Debug, Default)]
pub(crate) struct Twins {
    forward: HashMap<Vec<u8>, Vec<u8>, foldhash::fast::RandomState>,
    backward: HashMap<Vec<u8>, Vec<u8>, foldhash::fast::RandomState>,
}

impl Twins {
    /// Returns whether two texts are the same but for pseudonyms, and these correspond one to one in all texts so far.
    pub(crate) fn accept(&mut self, left: &[u8], right: &[u8]) -> bool {
        let mut pairs = Vec::new();
        if !same(left, right, 0, &mut pairs) || !self.is_consistent(&pairs) {
            return false;
        }
        for (left, right) in pairs {
            if self.forward.len() < MAX_PAIRS {
                self.forward.insert(left.clone(), right.clone());
                self.backward.insert(right, left);
            }
        }
        true
    }

    fn is_consistent(&self, pairs: &[(Vec<u8>, Vec<u8>)]) -> bool {
        let mut own: HashMap<&[u8], &[u8]> = HashMap::new();
        pairs.iter().all(|(left, right)| {
            let is_new = own.insert(left, right).is_none_or(|known| known == right.as_slice());
            is_new
                && self.forward.get(left).is_none_or(|known| known == right)
                && self.backward.get(right).is_none_or(|known| known == left)
        })
    }
}

/// Compares two texts, and adds the pseudonyms that correspond.
fn same(left: &[u8], right: &[u8], depth: usize, pairs: &mut Vec<(Vec<u8>, Vec<u8>)>) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let mut at = 0;
    while let Some(first) = first_difference(&left[at..], &right[at..]).map(|offset| at + offset) {
        let word = word_at(left, first);
        if word != word_at(right, first) {
            return false;
        }
        if let Some(start) = pseudonym_start(left, right, first) {
            if word.end - start >= DISTINCT + marks::SHORTEST {
                pairs.push((left[start..word.end].to_vec(), right[start..word.end].to_vec()));
            }
            at = word.end;
            continue;
        }
        let Some(end) = same_base64(left, right, first, depth, pairs) else { return false };
        at = end;
    }
    true
}

fn first_difference(left: &[u8], right: &[u8]) -> Option<usize> {
    left.iter().zip(right).position(|(left, right)| left != right)
}

/// Returns the letters and digits around a place.
fn word_at(text: &[u8], at: usize) -> Range<usize> {
    around(text, at, |byte| byte.is_ascii_alphanumeric())
}

fn around(text: &[u8], at: usize, is_in: impl Fn(u8) -> bool) -> Range<usize> {
    let before = text[..at].iter().rev().take_while(|byte| is_in(**byte)).count();
    let after = text[at..].iter().take_while(|byte| is_in(**byte)).count();
    at - before..at + after
}

/// Returns where the pseudonym begins to which two different characters belong: both texts have its mark there.
fn pseudonym_start(left: &[u8], right: &[u8], at: usize) -> Option<usize> {
    let start = cluster_start(left, at);
    let has_mark = |place: &usize| {
        let mark = marks::at(&left[*place..at.max(*place)]);
        mark.is_some_and(|mark| right[*place..].starts_with(mark))
    };
    (start..at).rev().find(has_mark)
}

/// Returns the beginning of what may belong to one pseudonym: words with the separators that pseudonyms of tokens keep.
fn cluster_start(text: &[u8], at: usize) -> usize {
    let mut start = at;
    while let Some(before) = start.checked_sub(1) {
        let goes_on = match text[before] {
            byte if byte.is_ascii_alphanumeric() => true,
            b'.' | b'-' | b'_' | b'=' | b':' | b'/' | b'\\' | b'+' => true,
            // The groups of a card number or an IBAN.
            b' ' => text[..before].iter().rev().take(4).filter(|byte| byte.is_ascii_alphanumeric()).count() == 4
                && text[before + 1..].iter().take(2).all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase()),
            b'\n' | b'\r' => is_full_line(text, before),
            _ => false,
        };
        if !goes_on {
            break;
        }
        start = before;
    }
    start
}

/// Whether the line that ends at a place has no spaces and is long.
fn is_full_line(text: &[u8], end: usize) -> bool {
    text[..end].iter().rev().skip_while(|byte| byte.is_ascii_whitespace()).take_while(|byte| byte.is_ascii_graphic()).count()
        >= FULL_LINE
}

/// Compares the base64 around a place. Returns its end if what it contains is the same.
fn same_base64(
    left: &[u8],
    right: &[u8],
    at: usize,
    depth: usize,
    pairs: &mut Vec<(Vec<u8>, Vec<u8>)>,
) -> Option<usize> {
    if depth >= DEEPEST {
        return None;
    }
    let whole = around(left, at, |byte| byte.is_ascii_alphanumeric() || b"+/_-=".contains(&byte));
    let part = around(left, at, |byte| byte.is_ascii_alphanumeric() || b"+_-=".contains(&byte));
    [whole, part].into_iter().find_map(|range| {
        let (left, right) = (decoded(left.get(range.clone())?)?, decoded(right.get(range.clone())?)?);
        same(&left.text, &right.text, depth + 1, pairs).then_some(range.end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::{Kind, Pseudonyms};
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    /// A text with the pseudonyms of secrets, made with a key.
    fn text(key: &str, template: &str, secrets: &[(&str, Kind)]) -> String {
        let names = Pseudonyms::new(key.as_bytes());
        secrets.iter().fold(template.to_owned(), |text, (secret, kind)| {
            let made = names.of(secret.as_bytes(), *kind);
            text.replacen("{}", &String::from_utf8(made).expect("ASCII"), 1)
        })
    }

    fn both(template: &str, secrets: &[(&str, Kind)]) -> [String; 2] {
        ["a key of 16 bytes", "another 16 bytes"].map(|key| text(key, template, secrets))
    }

    const KEY_LINES: &str = "\nMIIEowIBAAKCAQEA0ZMIIEowIBAAKCAQEA0ZZZ\nMIIEowIBAAKCAQEA0ZMIIEowIBAAKCAQEA0ZZZ\nshort\n";

    #[test]
    fn pseudonyms_of_every_kind_are_the_only_difference() {
        for (template, secret, kind) in [
            (r#"{"a":"ghp_{} and more"}"#, "abcdefghijklmnop1234", Kind::Token),
            ("key AKIA{}.", "IOSFODNN7EXAMPLE", Kind::Token),
            ("id {}/x", "0f8fad5b-d9cb-469f-a165-70867728950e", Kind::Token),
            ("jwt {}, ok", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJ-Me_KKF2QT4", Kind::Token),
            ("password={};", "hunter2-x", Kind::Password),
            ("card {} of", "4111 1111 1111 1111", Kind::Digits),
            ("to {}!", "jane.doe@corp.example.net", Kind::Email),
            ("-----BEGIN KEY-----{}-----END KEY-----", KEY_LINES, Kind::Token),
        ] {
            let [left, right] = both(template, &[(secret, kind)]);
            assert_ne!(left, right);
            assert!(Twins::default().accept(left.as_bytes(), right.as_bytes()), "{left} {right}");
            let encoded = [&left, &right].map(|text| format!("blob {} end", STANDARD.encode(text)));
            assert!(Twins::default().accept(encoded[0].as_bytes(), encoded[1].as_bytes()), "{left} {right}");
        }
    }

    #[test]
    fn any_other_difference_counts() {
        let [left, right] = both("token ghp_{} state open", &[("abcdefghijklmnop1234", Kind::Token)]);
        for other in [right.replace("open", "shut"), right.replace("token", "taken"), format!("{right}!")] {
            assert!(!Twins::default().accept(left.as_bytes(), other.as_bytes()), "{left} {other}");
        }
        assert!(!Twins::default().accept(b"a redactedabcdefgh", b"a secretiveabcdef1"));
        assert!(Twins::default().accept(b"same", b"same"));
    }

    #[test]
    fn a_pseudonym_stands_for_one_other() {
        let accept = |twins: &mut Twins, left: &str, right: &str| twins.accept(left.as_bytes(), right.as_bytes());
        let mut twins = Twins::default();
        assert!(accept(&mut twins, "redactedabcdefgh", "redactedqrstuvwx"));
        assert!(accept(&mut twins, "x redactedabcdefgh", "x redactedqrstuvwx"));
        assert!(!accept(&mut twins, "redactedabcdefgh", "redactedqrstuvwy"), "it stood for another one");
        assert!(!accept(&mut twins, "redactedabcdefgi", "redactedqrstuvwx"), "another one stood for it");
        assert!(!accept(&mut twins, "redactedzzzzzzzz redactedzzzzzzzz", "redactedyyyyyyyy redactedxxxxxxxx"));
    }
}
