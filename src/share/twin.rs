//! Compares what was redacted with different keys: the same text may have other pseudonyms, but nothing else may differ.

use super::compressed::Opened;
use crate::redact::{decoded, has_mark, marks};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// Pseudonyms with at least this many characters after their mark differ if their secrets do; shorter ones may coincide.
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
    /// The number of pseudonyms that another one replaced.
    taken: u64,
}

impl Twins {
    /// Returns a text with the pseudonyms of another one, in which everything else is as it was. With `goes_on`, a text
    /// in it may begin with the rest of a pseudonym, which has no mark.
    pub(crate) fn adapted<'a>(&mut self, left: &'a [u8], right: &[u8], goes_on: bool) -> Cow<'a, [u8]> {
        if let (Some(on_left), Some(on_right)) = (Opened::of(left), Opened::of(right)) {
            let inner = self.aligned(&on_left.text, &on_right.text, goes_on, 0);
            return if inner == on_right.text { Cow::Owned(right.to_vec()) } else { Cow::Borrowed(left) };
        }
        match left.len() == right.len() {
            true => Cow::Owned(self.aligned(left, right, goes_on, 0)),
            false => self.translated(left),
        }
    }

    /// Returns the number of places where a pseudonym was taken for another one: nobody knows whether they stand for the
    /// same secret.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Returns a text of which no copy is there, with those pseudonyms of the other recording that are known.
    pub(crate) fn translated<'a>(&mut self, left: &'a [u8]) -> Cow<'a, [u8]> {
        if self.forward.is_empty() || !has_mark(left) {
            return Cow::Borrowed(left);
        }
        let (mut out, mut at) = (left.to_vec(), 0);
        while let Some(start) = (at..left.len()).find(|place| marks::at(&left[*place..]).is_some()) {
            let end = word_at(left, start).end;
            if let Some(other) = left.get(start..end).and_then(|word| self.forward.get(word)) {
                out[start..end].copy_from_slice(other);
                self.taken += 1;
            }
            at = end.max(start + 1);
        }
        Cow::Owned(out)
    }

    /// Returns the left one of two texts of the same length, with the pseudonyms of the right one.
    fn aligned(&mut self, left: &[u8], right: &[u8], goes_on: bool, depth: usize) -> Vec<u8> {
        let mut out = left.to_vec();
        if left.len() != right.len() {
            return out;
        }
        let mut at = 0;
        while let Some(first) = first_difference(&left[at..], &right[at..]).map(|offset| at + offset) {
            let word = word_at(left, first);
            let is_word = word.end > first && word == word_at(right, first);
            let encoded = if is_word { self.encoded(left, right, first, depth) } else { None };
            let taken = match encoded {
                Some(range) => Some(range),
                None if is_word && self.is_pseudonym(left, right, first, word.end, goes_on) => Some(first..word.end),
                None if goes_on => rest_at(left, right, first),
                None => None,
            };
            match taken {
                Some(range) => {
                    out[range.clone()].copy_from_slice(&right[range.clone()]);
                    self.taken += u64::from(depth == 0);
                    at = range.end.max(first + 1);
                }
                None => at = word.end.max(first + 1),
            }
        }
        out
    }

    /// Whether two words from their first difference on belong to pseudonyms that may stand for each other.
    fn is_pseudonym(&mut self, left: &[u8], right: &[u8], first: usize, end: usize, goes_on: bool) -> bool {
        let cluster = cluster_start(left, first);
        let begins_text = cluster == 0 || matches!(left[cluster - 1], b'"' | b'\n');
        match pseudonym_start(left, right, cluster, first) {
            Some(start) if end - start >= DISTINCT + marks::at(&left[start..]).map_or(0, <[u8]>::len) => {
                self.pair(&left[start..end], &right[start..end])
            }
            Some(_) => true,
            None => goes_on && begins_text,
        }
    }

    /// Notes that two pseudonyms stand for each other. Returns whether they can.
    fn pair(&mut self, left: &[u8], right: &[u8]) -> bool {
        match (self.forward.get(left), self.backward.get(right)) {
            (None, None) => {
                if self.forward.len() < MAX_PAIRS {
                    self.forward.insert(left.to_vec(), right.to_vec());
                    self.backward.insert(right.to_vec(), left.to_vec());
                }
                true
            }
            (Some(known), Some(_)) => known == right,
            _ => false,
        }
    }

    /// Returns the place of the base64 around a difference, if what it contains differs only in pseudonyms.
    fn encoded(&mut self, left: &[u8], right: &[u8], at: usize, depth: usize) -> Option<Range<usize>> {
        if depth >= DEEPEST {
            return None;
        }
        let whole = around(left, at, |byte| byte.is_ascii_alphanumeric() || b"+/_-=".contains(&byte));
        let part = around(left, at, |byte| byte.is_ascii_alphanumeric() || b"+_-=".contains(&byte));
        let lines = around(left, at, |byte| byte.is_ascii_alphanumeric() || b"+/_-=\\\r\n".contains(&byte));
        [lines, whole, part].into_iter().find(|range| {
            let text = |side: &[u8]| decoded(&on_one_line(side.get(range.clone()).unwrap_or_default()));
            let (Some(on_left), Some(on_right)) = (text(left), text(right)) else { return false };
            self.aligned(&on_left.text, &on_right.text, false, depth + 1) == on_right.text
        })
    }
}

/// Returns base64 without line breaks, also those that JSON escapes.
fn on_one_line(run: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(run.len());
    let mut bytes = run.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'\r' | b'\n' => {}
            _ => out.push(*byte),
        }
    }
    out
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
fn pseudonym_start(left: &[u8], right: &[u8], cluster: usize, at: usize) -> Option<usize> {
    let has_mark = |place: &usize| {
        let mark = marks::at(&left[*place..at]);
        mark.is_some_and(|mark| right[*place..].starts_with(mark))
    };
    (cluster..at).rev().find(has_mark)
}

/// Returns the place of the rest of a pseudonym with which a text begins. One of the two may have a mark of its own there,
/// and no separators.
fn rest_at(left: &[u8], right: &[u8], at: usize) -> Option<Range<usize>> {
    let cluster =
        |text: &[u8]| cluster_start(text, at)..at + text[at..].iter().take_while(|byte| joins(**byte)).count();
    let rest = cluster(left);
    let begins_text = rest.start == 0 || matches!(left[rest.start - 1], b'"' | b'\n');
    (begins_text && rest == cluster(right)).then_some(rest)
}

/// Whether a byte may be inside a pseudonym: a letter, a digit, or a separator that pseudonyms of tokens keep.
fn joins(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b".-_=:/\\+%".contains(&byte)
}

/// Returns the beginning of what may belong to one pseudonym: words with the separators that pseudonyms of tokens keep.
fn cluster_start(text: &[u8], at: usize) -> usize {
    let mut start = at;
    while let Some(before) = start.checked_sub(1) {
        let goes_on = match text[before] {
            byte if joins(byte) => true,
            // The groups of a card number.
            b' ' => before > 0 && text[before - 1].is_ascii_digit() && text.get(start).is_some_and(u8::is_ascii_digit),
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
    text[..end]
        .iter()
        .rev()
        .skip_while(|byte| byte.is_ascii_whitespace())
        .take_while(|byte| byte.is_ascii_graphic())
        .count()
        >= FULL_LINE
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

    fn adapted(left: &str, right: &str) -> String {
        let made = Twins::default().adapted(left.as_bytes(), right.as_bytes(), false).into_owned();
        String::from_utf8(made).expect("text")
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
            assert_eq!(adapted(&left, &right), right);
            let [left, right] = [&left, &right].map(|text| format!("blob {} end", STANDARD.encode(text)));
            assert_eq!(adapted(&left, &right), right);
        }
    }

    #[test]
    fn the_rest_of_a_divided_pseudonym_may_have_a_mark_of_its_own() {
        let [left, right] =
            ["KLM-tquwnQTM", "redactedxPhi"].map(|rest| format!(r#"{{"text":"{rest} end","n":1}}"#).into_bytes());
        assert_eq!(*Twins::default().adapted(&left, &right, true), right);
        assert_eq!(*Twins::default().adapted(&right, &left, true), left);
        assert_eq!(*Twins::default().adapted(&left, &right, false), left);
        let other = String::from_utf8(right).expect("text").replace(" end", " and").into_bytes();
        assert_ne!(*Twins::default().adapted(&left, &other, true), other, "what follows is compared");
    }

    #[test]
    fn any_other_difference_stays() {
        let [left, right] = both("token ghp_{} state open", &[("abcdefghijklmnop1234", Kind::Token)]);
        for (from, to) in [("open", "shut"), ("token", "taken")] {
            assert_eq!(adapted(&left, &right.replace(from, to)), right);
        }
        assert_eq!(adapted(&left, &format!("{right}!")), left, "nothing is known of another length");
        assert_eq!(adapted("a redactedabcdefgh", "a secretiveabcdef1"), "a redactedabcdefgh");
        assert_eq!(adapted("x \u{e9} y", "x \u{e8} y"), "x \u{e9} y");
    }

    #[test]
    fn a_pseudonym_stands_for_one_other() {
        let mut twins = Twins::default();
        let mut adapt = |left: &str, right: &str| {
            String::from_utf8(twins.adapted(left.as_bytes(), right.as_bytes(), false).into_owned()).expect("ASCII")
        };
        assert_eq!(adapt("redactedabcdefgh", "redactedqrstuvwx"), "redactedqrstuvwx");
        assert_eq!(adapt("x redactedabcdefgh", "x redactedqrstuvwx"), "x redactedqrstuvwx");
        assert_eq!(adapt("redactedabcdefgh", "redactedqrstuvwy"), "redactedabcdefgh", "it stands for another one");
        assert_eq!(adapt("redactedabcdefgi", "redactedqrstuvwx"), "redactedabcdefgi", "another one stands for it");
        assert_eq!(adapt("y redactedabcdefgh z", ""), "y redactedqrstuvwx z", "it is known");
    }

    #[test]
    fn the_rest_of_a_divided_pseudonym_has_no_mark() {
        let (left, right) = (br#"{"delta":"abcd there"}"#, br#"{"delta":"qrst there"}"#);
        assert_eq!(&*Twins::default().adapted(left, right, true), right);
        assert_eq!(&*Twins::default().adapted(left, right, false), left);
        assert_eq!(&*Twins::default().adapted(b"x: abcd", b"x: qrst", true), b"x: abcd", "only at the beginning");
    }
}
