//! Finds places in JSON text without building values: members of an object, items of an array, whole values.
//!
//! The scan checks the structure only (whether quotes and brackets match). [`check`] says whether a text is valid JSON;
//! it is slower.

use super::text::BYTE_ORDER_MARK;
use super::tree;
use serde::Deserializer;
use serde::de::{IgnoredAny, Visitor};
use serde_json::{Map, Number, Value};
use std::borrow::Cow;

const OTHER: u8 = 0;
const QUOTE: u8 = 1;
const OPEN: u8 = 2;
const CLOSE: u8 = 3;

/// The class of each byte for a scan outside of strings.
static CLASS: [u8; 256] = {
    let mut class = [OTHER; 256];
    class[b'"' as usize] = QUOTE;
    class[b'{' as usize] = OPEN;
    class[b'[' as usize] = OPEN;
    class[b'}' as usize] = CLOSE;
    class[b']' as usize] = CLOSE;
    class
};

/// Returns the position of the first byte at or after `at` that is not JSON white space.
pub fn skip_space(text: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = text.get(at) {
        at += 1;
    }
    at
}

/// Returns the position just after a string's closing quote, or `None` if the text ends first. `at` must be just after
/// the opening quote.
// Without inlining, pretty-printing JSON takes 20 % longer.
#[inline(always)]
pub fn skip_string(text: &[u8], mut at: usize) -> Option<usize> {
    // Most strings, and most stretches between escapes, are short: try eight bytes at a time before starting a search.
    const STEPS: usize = 4;
    let mut steps = 0;
    while let Some(word) = text.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let found = quotes_and_escapes(u64::from_le_bytes(*word));
        if found == 0 {
            at += 8;
            steps += 1;
            if steps == STEPS {
                at += memchr::memchr2(b'"', b'\\', &text[at..])?;
                steps = 0;
            }
            continue;
        }
        at += found.trailing_zeros() as usize / 8;
        if text[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
        steps = 0;
    }
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Returns the high bits of the bytes that are a quote or a backslash. Above the lowest one, other bits may be set,
/// too.
fn quotes_and_escapes(word: u64) -> u64 {
    const LOW: u64 = u64::MAX / 0xff;
    let zeros = |word: u64| word.wrapping_sub(LOW) & !word;
    (zeros(word ^ (LOW * b'"' as u64)) | zeros(word ^ (LOW * b'\\' as u64))) & (LOW << 7)
}

/// Returns the position just after a value, or `None` if the text ends first. `at` must be at the value's first byte.
pub fn skip_value(text: &[u8], at: usize) -> Option<usize> {
    match CLASS[usize::from(*text.get(at)?)] {
        QUOTE => skip_string(text, at + 1),
        OPEN => skip_container(text, at + 1),
        CLOSE => None,
        _ => Some(skip_scalar(text, at)),
    }
}

/// Returns the position just after a number or a word. `at` must be inside of it.
pub fn skip_scalar(text: &[u8], mut at: usize) -> usize {
    while let Some(byte) = text.get(at) {
        if matches!(byte, b',' | b'}' | b']' | b':' | b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'{' | b'[') {
            break;
        }
        at += 1;
    }
    at
}

fn skip_container(text: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 1usize;
    loop {
        match CLASS[usize::from(*text.get(at)?)] {
            OTHER => at += 1,
            QUOTE => at = skip_string(text, at + 1)?,
            OPEN => {
                depth += 1;
                at += 1;
            }
            _ => {
                depth -= 1;
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
            }
        }
    }
}

/// Returns how deep arrays and objects are nested in the text, valid or not: the recursion depth of a recursive parser.
pub fn depth(text: &[u8]) -> usize {
    let (mut at, mut depth, mut deepest) = (0, 0usize, 0);
    while let Some(byte) = text.get(at) {
        at += 1;
        match CLASS[usize::from(*byte)] {
            QUOTE => match skip_string(text, at) {
                Some(end) => at = end,
                None => break,
            },
            OPEN => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            CLOSE => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// One member of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// The text of the key between its quotes, with escapes unresolved.
    pub key: &'a [u8],
    /// The value's text, without white space around it.
    pub value: &'a [u8],
}

impl<'a> Member<'a> {
    /// Returns whether the key, with escapes resolved, is `name`.
    pub fn is(&self, name: &str) -> bool {
        self.key == name.as_bytes() || (self.key.contains(&b'\\') && unescape(self.key) == name)
    }
}

/// Iterates over the members of an object. Stops early at a broken place, and remembers that.
#[derive(Clone, Debug)]
pub struct Members<'a> {
    text: &'a [u8],
    at: usize,
    /// The position just after the object's closing bracket, once reached.
    end: Option<usize>,
    first: bool,
    broken: bool,
}

/// Iterates over the members of the object that `text` begins with, after optional white space.
pub fn members(text: &[u8]) -> Members<'_> {
    let at = value_start(text);
    let broken = text.get(at) != Some(&b'{');
    Members { text, at: at + 1, end: None, first: true, broken }
}

impl<'a> Members<'a> {
    /// Returns the position just after the object's closing bracket, once all members were taken, if the object was
    /// complete.
    pub fn end(&self) -> Option<usize> {
        self.end
    }

    /// Returns whether the text ended early or is not an object.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    fn step(&mut self) -> Option<Option<Member<'a>>> {
        let text = self.text;
        let Some((key, start)) = self.step_to_value()? else { return Some(None) };
        let end = skip_value(text, start)?;
        if end == start {
            return None;
        }
        self.at = end;
        Some(Some(Member { key, value: &text[start..end] }))
    }

    /// Takes the next key. Returns it with the position of its value, or `Some(None)` at the end of the object.
    fn step_to_value(&mut self) -> Option<Option<(&'a [u8], usize)>> {
        let text = self.text;
        let mut at = skip_space(text, self.at);
        match text.get(at)? {
            b'}' => {
                self.end = Some(at + 1);
                return Some(None);
            }
            b',' if !self.first => at = skip_space(text, at + 1),
            b'"' if self.first => {}
            _ => return None,
        }
        self.first = false;
        if text.get(at) != Some(&b'"') {
            return None;
        }
        let key_end = skip_string(text, at + 1)?;
        let key = &text[at + 1..key_end - 1];
        let colon = skip_space(text, key_end);
        if text.get(colon) != Some(&b':') {
            return None;
        }
        Some(Some((key, skip_space(text, colon + 1))))
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = Member<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.broken || self.end.is_some() {
            return None;
        }
        match self.step() {
            Some(member) => member,
            None => {
                self.broken = true;
                None
            }
        }
    }
}

/// Returns the value of the member `name` of the object `text`: the last one if there are several, as parsers do.
pub fn member<'a>(text: &'a [u8], name: &str) -> Option<&'a [u8]> {
    members(text).filter(|member| member.is(name)).last().map(|member| member.value)
}

/// Returns the value of the first member `name`, without reading the rest of the object.
pub fn first_member<'a>(text: &'a [u8], name: &str) -> Option<&'a [u8]> {
    members(text).find(|member| member.is(name)).map(|member| member.value)
}

/// Returns the text from the value of the first member `name` on, including everything after the value. This does not
/// read the value, and so is fast for looking further inside.
pub fn tail_at<'a>(text: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut walk = members(text);
    while !walk.broken {
        let (key, start) = walk.step_to_value()??;
        if (Member { key, value: b"" }).is(name) {
            return text.get(start..);
        }
        walk.at = skip_value(text, start).filter(|end| *end > start)?;
    }
    None
}

/// Iterates over the keys of the object that `text` begins with, each with the text from its value on, including
/// everything after the value. A value is read only if the next member is asked for.
pub fn member_tails(text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut walk = members(text);
    let mut value = None;
    std::iter::from_fn(move || {
        if let Some(start) = value {
            walk.at = skip_value(text, start).filter(|end| *end > start)?;
        }
        if walk.broken {
            return None;
        }
        let (key, start) = walk.step_to_value()??;
        value = Some(start);
        Some((key, text.get(start..)?))
    })
}

/// Follows member names inwards from the object `text`.
pub fn at_path<'a>(text: &'a [u8], path: &[&str]) -> Option<&'a [u8]> {
    let (last, outer) = path.split_last()?;
    let inner = outer.iter().try_fold(text, |value, name| tail_at(value, name))?;
    first_member(inner, last)
}

/// Returns the string that the value `text` represents, with escapes resolved; `None` if it is not a string.
pub fn as_str(text: &[u8]) -> Option<Cow<'_, str>> {
    let inner = text.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if memchr::memchr(b'\\', inner).is_none() {
        // Fast path: valid UTF-8.
        return Some(std::str::from_utf8(inner).map_or_else(|_| String::from_utf8_lossy(inner), Cow::Borrowed));
    }
    Some(Cow::Owned(unescape(inner)))
}

/// Returns the beginning of a string as [`as_str`] does: all of it, or more than `max` characters.
pub fn str_start(text: &[u8], max: usize) -> Option<Cow<'_, str>> {
    let inner = text.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if let Some(head) = inner.get(..=max)
        && head.is_ascii()
        && !head.contains(&b'\\')
    {
        return std::str::from_utf8(head).ok().map(Cow::Borrowed);
    }
    // No character takes more than two escapes of six bytes each.
    match inner.len() > 12 * (max + 1) {
        true => Some(Cow::Owned(unescape(&inner[..whole_until(inner, 12 * (max + 1))]))),
        false => as_str(text),
    }
}

/// Returns the last position at or before `near`, within the contents of a string, that splits neither a character nor
/// an escape.
pub fn whole_until(inner: &[u8], near: usize) -> usize {
    let mut cut = near.min(inner.len());
    while cut > 0 && inner.get(cut).is_some_and(|byte| byte & 0xc0 == 0x80) {
        cut -= 1;
    }
    let is_escape =
        |at: usize| inner[at] == b'\\' && inner[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0;
    // An escape is at most six bytes long and begins with a backslash that is not itself escaped.
    let last = (1..=6.min(cut)).map(|back| cut - back).find(|at| is_escape(*at));
    if let Some(at) = last {
        let length = if inner.get(at + 1) == Some(&b'u') { 6 } else { 2 };
        cut = if at + length > cut { at } else { cut };
    }
    // Two escapes may form one character (a surrogate pair).
    let is_first_half =
        |text: &[u8]| matches!(text, [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', ..]);
    match cut.checked_sub(6).filter(|at| is_first_half(&inner[*at..]) && is_escape(*at)) {
        Some(at) if cut < inner.len() => at,
        _ => cut,
    }
}

/// Returns the string member `name` of the object `text`.
pub fn str_member<'a>(text: &'a [u8], name: &str) -> Option<Cow<'a, str>> {
    as_str(first_member(text, name)?)
}

/// The position of the value in a text, behind white space and a byte order mark, which readers may skip (RFC 8259 §8.1).
pub(crate) fn value_start(text: &[u8]) -> usize {
    skip_space(text, if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 })
}

/// Iterates over the items of the array `text`, until the first broken place. There are none if it is not an array.
pub fn items(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let start = value_start(text);
    let mut at = if text.get(start) == Some(&b'[') { start + 1 } else { text.len() };
    std::iter::from_fn(move || {
        at = skip_space(text, at);
        if text.get(at) == Some(&b',') {
            at = skip_space(text, at + 1);
        }
        let end = skip_value(text, at)?;
        if end == at {
            return None;
        }
        let item = &text[at..end];
        at = end;
        Some(item)
    })
}

/// Resolves the escapes in the contents of a string. Broken escapes and lone surrogates become U+FFFD.
pub fn unescape(inner: &[u8]) -> String {
    let mut quoted = Vec::with_capacity(inner.len() + 2);
    quoted.push(b'"');
    quoted.extend_from_slice(inner);
    quoted.push(b'"');
    serde_json::from_slice(&quoted).unwrap_or_else(|_| unescape_lossy(inner))
}

/// Returns the contents of a string with lone surrogates as bytes, in WTF-8; `None` if it has none.
pub(crate) fn with_lone_surrogates(inner: &[u8]) -> Option<Vec<u8>> {
    struct Bytes;
    impl Visitor<'_> for Bytes {
        type Value = Vec<u8>;

        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("a string")
        }

        fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.to_vec())
        }
    }
    memchr::memmem::find(inner, b"\\u")?;
    let quoted = [b"\"", inner, b"\""].concat();
    if serde_json::from_slice::<String>(&quoted).is_ok() {
        return None;
    }
    serde_json::Deserializer::from_slice(&quoted).deserialize_bytes(Bytes).ok()
}

fn unescape_lossy(inner: &[u8]) -> String {
    let text = String::from_utf8_lossy(inner);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(found) = rest.next() {
        if found != '\\' {
            out.push(found);
            continue;
        }
        match rest.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('u') => {
                let first = code_unit(&mut rest);
                let mut ahead = rest.clone();
                let is_pair =
                    (0xd800..0xdc00).contains(&first) && ahead.next() == Some('\\') && ahead.next() == Some('u');
                let second = if is_pair { code_unit(&mut ahead) } else { 0 };
                if (0xdc00..0xe000).contains(&second) {
                    rest = ahead;
                }
                out.extend(char::decode_utf16([first, second]).next().and_then(Result::ok).or(Some('\u{fffd}')));
            }
            Some(other) => out.push(other),
            None => out.push('\u{fffd}'),
        }
    }
    out
}

/// The four digits of an escaped UTF-16 code unit. Broken ones are a lone surrogate.
fn code_unit(text: &mut std::str::Chars<'_>) -> u16 {
    let digits: String = text.take(4).collect();
    u16::from_str_radix(&digits, 16).unwrap_or(0xdfff)
}

/// As deep as `serde_json` reads.
pub const MAX_DEPTH: usize = 127;

/// Reads JSON as far as a [`Value`] can represent it. What it cannot represent is replaced: lone surrogates and invalid
/// UTF-8 by U+FFFD, numbers that are too large by the largest, and what is nested more than [`MAX_DEPTH`] deep by null.
/// A text that is not JSON is null, and so is one with too many values ([`tree::fits`]).
pub fn value_of(text: &[u8]) -> Value {
    if tree::fits(text).is_err() {
        return Value::Null;
    }
    let is_json = || serde_json::from_slice::<IgnoredAny>(text).is_ok();
    let tolerant = || if is_json() { representable(text.trim_ascii(), MAX_DEPTH, |_| None) } else { Value::Null };
    serde_json::from_slice(text).unwrap_or_else(|_| tolerant())
}

/// Reads JSON as [`value_of`] does, with other values for some numbers.
pub(crate) fn value_with_numbers(text: &[u8], number: fn(&[u8]) -> Option<Value>) -> Value {
    if tree::fits(text).is_err() || serde_json::from_slice::<IgnoredAny>(text).is_err() {
        return Value::Null;
    }
    representable(text.trim_ascii(), MAX_DEPTH, number)
}

fn representable(text: &[u8], depth: usize, number: fn(&[u8]) -> Option<Value>) -> Value {
    match (text, depth.checked_sub(1)) {
        ([b'{', ..], Some(depth)) => {
            let member = |member: Member<'_>| (unescape(member.key), representable(member.value, depth, number));
            Value::Object(members(text).map(member).collect())
        }
        ([b'[', ..], Some(depth)) => items(text).map(|item| representable(item, depth, number)).collect(),
        ([b'"', inner @ .., b'"'], _) => Value::String(unescape(inner)),
        ([b'{' | b'[', ..], None) => Value::Null,
        _ => number(text).or_else(|| serde_json::from_slice(text).ok()).unwrap_or_else(|| {
            let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
            number.map(|number| number.clamp(f64::MIN, f64::MAX)).into()
        }),
    }
}

/// Reads JSON as a [`Value`], if it is valid and a `Value` can represent it, and if it is not too large ([`tree::fits`]).
pub fn parsed(text: &[u8]) -> Option<Value> {
    tree::fits(text).ok()?;
    serde_json::from_slice(text).ok()
}

/// Checks that a text is valid JSON.
///
/// # Errors
///
/// If it is not: the reason in one sentence, with the place.
pub fn check(text: &[u8]) -> Result<(), String> {
    if let Err(error) = std::str::from_utf8(text) {
        return Err(format!("invalid UTF-8 at byte {}", error.valid_up_to()));
    }
    serde_json::from_slice::<IgnoredAny>(text).map(|_| ()).map_err(|error| error.to_string())
}

/// Returns the position of the byte at which a text stops being JSON; `None` if it is JSON. The text may end too early:
/// then it is the length of the text.
pub(crate) fn first_fault(text: &[u8]) -> Option<usize> {
    if let Err(error) = std::str::from_utf8(text) {
        return Some(error.valid_up_to());
    }
    let error = serde_json::from_slice::<IgnoredAny>(text).err()?;
    if error.is_eof() {
        return Some(text.len());
    }
    let before = text.split_inclusive(|byte| *byte == b'\n').take(error.line().saturating_sub(1));
    let start: usize = before.map(<[u8]>::len).sum();
    Some((start + error.column().saturating_sub(1)).min(text.len()))
}

/// Whether two values are the same JSON. Numbers are compared as floating-point numbers, so that 1 is 1.0.
pub(crate) fn same(one: &Value, other: &Value) -> bool {
    same_by(one, other, |one, other| one.as_f64() == other.as_f64())
}

/// The same with another comparison of numbers.
pub(crate) fn same_by(one: &Value, other: &Value, equal: fn(&Number, &Number) -> bool) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => equal(one, other),
        (Value::Array(some), Value::Array(others)) => {
            some.len() == others.len() && some.iter().zip(others).all(|(one, other)| same_by(one, other, equal))
        }
        (Value::Object(some), Value::Object(others)) => {
            let has = |(name, one): (&String, &Value)| others.get(name).is_some_and(|other| same_by(one, other, equal));
            some.len() == others.len() && some.iter().all(has)
        }
        _ => one == other,
    }
}

/// Clones a value without spare room. A plain clone of an object has as much room as the original.
pub(crate) fn trimmed(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(trimmed).collect(),
        Value::Object(members) => {
            exact_object(members.iter().map(|(name, inner)| (name.clone(), trimmed(inner))).collect())
        }
        other => other.clone(),
    }
}

/// Returns an object with room for exactly these members.
pub(crate) fn exact_object(members: Vec<(String, Value)>) -> Value {
    let mut object = Map::with_capacity(members.len());
    object.extend(members);
    Value::Object(object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_value_cannot_represent_is_replaced() {
        let read = |text: &[u8]| value_of(text).to_string();
        let cut =
            br#" {"a":"x \ud83d","b\udc00":["\ud83d\ude00\ud83d",{"c":1e400}],"d":-1e400,"e":"\u00e9\"","f":true} "#;
        let whole = r#"{"a":"x \u{fffd}","b\u{fffd}":["😀\u{fffd}",{"c":1.7976931348623157e+308}],"d":-1.7976931348623157e+308,"e":"é\"","f":true}"#;
        assert_eq!(read(cut), whole.replace("\\u{fffd}", "\u{fffd}"));
        assert_eq!(read(b"{\"a\":\"\xff\",\"b\":1}"), "{\"a\":\"\u{fffd}\",\"b\":1}");
        let deep = format!(r#"{{"a":{}1{},"b":2}}"#, "[".repeat(200), "]".repeat(200));
        let deep = value_of(deep.as_bytes());
        assert_eq!(deep["b"], 2);
        assert_eq!(depth(deep.to_string().as_bytes()), MAX_DEPTH);
        for text in ["", "nope", "\"", "-", "NaN", "{\"a\":1,", "[1 2]", "[1e400}"] {
            assert_eq!(value_of(text.as_bytes()), Value::Null, "{text}");
        }
    }

    #[test]
    fn the_order_of_members_and_the_form_of_numbers_do_not_matter() {
        assert!(same(&json!({"a": 1, "b": [2.0]}), &json!({"b": [2], "a": 1.0})));
        assert!(!same(&json!({"a": 1}), &json!({"a": 1, "b": 2})) && !same(&json!([1]), &json!([2])));
    }

    #[test]
    fn what_has_too_many_values_is_not_read() {
        let many = format!("[{}0]", "0,".repeat(3 << 20));
        assert_eq!((value_of(many.as_bytes()), parsed(many.as_bytes())), (Value::Null, None));
        let few = format!("[{}0]", "0,".repeat(300 << 10));
        assert_eq!(parsed(few.as_bytes()).as_ref(), Some(&value_of(few.as_bytes())));
        assert_eq!(value_of(few.as_bytes()).as_array().map(Vec::len), Some((300 << 10) + 1));
    }

    #[test]
    fn the_beginning_of_a_string_is_that_of_the_whole() {
        let pieces = ["a", "é", "€", "😀", "\\n", "\\u00e9", "\\ud83d\\ude00", "\\\\"];
        for piece in pieces {
            for ahead in 0..12 {
                let text = format!("\"{}{}\"", "x".repeat(ahead), piece.repeat(200));
                let whole = as_str(text.as_bytes()).expect("a string");
                for most in [0, 1, 3, 60, 500] {
                    let start = str_start(text.as_bytes(), most).expect("a string");
                    let reported: String = start.chars().take(most).collect();
                    assert_eq!(reported, whole.chars().take(most).collect::<String>(), "{piece} {ahead} {most}");
                    assert_eq!(start.chars().count() > most, whole.chars().count() > most, "{piece} {ahead} {most}");
                }
            }
        }
        assert_eq!(str_start(b"{}", 3), None);
    }

    #[test]
    fn the_depth_is_that_of_the_brackets_outside_strings() {
        for (text, expected) in [
            ("", 0),
            ("1", 0),
            ("{}", 1),
            (r#"{"a":[[1],2],"b":{}}"#, 3),
            (r#"["[[[\"[[", [[]]]"#, 3),
            ("]]][", 1),
            (r#"["[["#, 1),
        ] {
            assert_eq!(depth(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn members_are_found_with_their_exact_text() {
        let text = br#" { "a" : 1e400 , "b\u0063":[1, {"x":"}"}], "a":"two" } tail"#;
        let mut walk = members(text);
        let all: Vec<_> = walk.by_ref().map(|member| member.value).collect();
        assert_eq!(all, vec![&b"1e400"[..], br#"[1, {"x":"}"}]"#, br#""two""#]);
        assert_eq!(&text[walk.end().expect("whole")..], b" tail");
        assert_eq!(member(text, "a"), Some(&br#""two""#[..]));
        assert_eq!(first_member(text, "a"), Some(&b"1e400"[..]));
        assert_eq!(member(text, "bc"), Some(&br#"[1, {"x":"}"}]"#[..]));
    }

    #[test]
    fn broken_text_is_reported() {
        for text in
            [&b"{\"a\":"[..], b"{\"a\" 1}", b"{,}", b"[1]", b"", b"{\"a\":1,}", b"{\"a\":}", b"{\"a\":1 \"b\":2}"]
        {
            let mut walk = members(text);
            walk.by_ref().for_each(drop);
            assert!(walk.is_broken(), "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn a_string_ends_where_a_look_at_each_byte_ends_it() {
        let slow = |text: &[u8], mut at: usize| loop {
            match text.get(at)? {
                b'"' => return Some(at + 1),
                b'\\' => at += 2,
                _ => at += 1,
            }
        };
        let run = |(): ()| -> Vec<u8> {
            (0..fastrand::usize(..90))
                .map(|_| fastrand::choice(*b"aaaaaaaaaaaaaaa\"\\!#[]\xa2\xdc\x01\xff").unwrap_or(b'a'))
                .collect()
        };
        fastrand::seed(7);
        for _ in 0..20_000 {
            let text = run(());
            assert_eq!(skip_string(&text, 0), slow(&text, 0), "{text:?}");
        }
    }

    #[test]
    fn strings_with_escapes_end_where_they_end() {
        let text = br#""a long string with an escaped \" quote and a \\" tail"#;
        assert_eq!(skip_string(text, 1), Some(text.len() - 5));
        assert_eq!(skip_string(b"abc\\", 0), None);
        assert_eq!(as_str(br#""\u0041\n""#).as_deref(), Some("A\n"));
        assert_eq!(as_str(br#""\ud800x""#).as_deref(), Some("\u{fffd}x"));
    }

    #[test]
    fn paths_are_followed_without_reading_what_comes_after() {
        let text = br#"{"x":{"y":1},"params":{"a":[{"name":0}],"name":"echo"},"broken":"#;
        assert_eq!(at_path(text, &["params", "name"]), Some(&br#""echo""#[..]));
        assert_eq!(at_path(text, &["x", "y"]), Some(&b"1"[..]));
        assert_eq!(at_path(text, &["x", "name"]), None, "an inner object ends where it ends");
        assert_eq!(at_path(text, &["broken", "z"]), None);
        assert!(tail_at(text, "params").is_some_and(|tail| tail.starts_with(b"{\"a\"")));
    }

    #[test]
    fn items_stop_where_the_array_breaks() {
        assert_eq!(items(b"[1, \"a\" ,{}]").collect::<Vec<_>>(), vec![&b"1"[..], b"\"a\"", b"{}"]);
        assert_eq!(items(b"[]").count(), 0);
        assert_eq!(items(b"[1, {").count(), 1);
        assert_eq!(items(b"{}").count(), 0);
    }
}
