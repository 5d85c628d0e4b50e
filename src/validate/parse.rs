//! Parses JSON text in one pass that also notes where an object has several members of the same name.

use crate::wire::Id;
use crate::wire::json::{self, MAX_DEPTH, Member};
use crate::wire::tree::{self, TooLarge};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Value};
use std::fmt;

/// The number of places that are kept; a message rarely has one.
const MAX_PLACES: usize = 8;

/// Most messages have at most as many members. The objects in them grow as they do elsewhere, so that
/// [`tree`] counts what they take.
const USUAL_MEMBERS: usize = 8;

/// A parsed value, and the places of duplicate members, of which the value has the last.
#[derive(Debug)]
pub(super) struct Parsed<'a> {
    /// The value.
    pub value: Value,
    /// JSON Pointers to the first few duplicate members, except those of the value itself.
    pub duplicates: Vec<String>,
    /// If the value is an object: its members as they are written.
    pub members: Vec<Member<'a>>,
    /// What the value cannot represent, if anything: [`json::value_of`] replaces it, and duplicates are not looked for.
    pub unrepresentable: Option<serde_json::Error>,
}

/// Space for strings with escapes, which is used for one text after the other.
#[derive(Debug, Default)]
pub(super) struct Space(String);

/// The number of bytes of that space which are kept.
const MAX_SPACE: usize = 1 << 20;

/// Why a text was not parsed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unparsed {
    /// It is not JSON, or is nested too deep.
    #[error(transparent)]
    Invalid(#[from] serde_json::Error),
    /// It may be JSON, but has too many values.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

/// Parses a whole text.
///
/// # Errors
///
/// If the text is not JSON, is nested too deep, or has too many values.
pub(super) fn parse<'a>(text: &'a [u8], space: &mut Space) -> Result<Parsed<'a>, Unparsed> {
    tree::fits(text)?;
    // Checked once, instead of in each string.
    let text = std::str::from_utf8(text).map_err(serde_json::Error::custom)?;
    let mut reader = Reader::new(text, &mut space.0);
    let read = reader.document();
    let Reader { duplicates, members, .. } = reader;
    space.0.clear();
    space.0.shrink_to(MAX_SPACE);
    match read {
        Some(value) => Ok(Parsed { value, duplicates, members, unrepresentable: None }),
        None => {
            let whole = text.as_bytes();
            let (value, unrepresentable) = match serde_json::from_str(text) {
                Ok(value) => (value, None),
                Err(error) if json::depth(whole) > MAX_DEPTH || json::check(whole).is_err() => return Err(error.into()),
                Err(error) => (json::value_of(whole), Some(error)),
            };
            Ok(Parsed { value, duplicates: Vec::new(), members: json::members(whole).collect(), unrepresentable })
        }
    }
}

/// Reads values from a text, and notes the members of a message on the way, so that no further scan is needed. It returns
/// `None` for whatever is not JSON, and leaves the reason to `serde_json`.
struct Reader<'a, 's> {
    text: &'a str,
    at: usize,
    space: &'s mut String,
    /// Pointers to the duplicates so far. Those in a value begin at that value; whoever contains it puts its own step
    /// before them.
    duplicates: Vec<String>,
    members: Vec<Member<'a>>,
}

impl<'a, 's> Reader<'a, 's> {
    fn new(text: &'a str, space: &'s mut String) -> Self {
        Self { text, at: 0, space, duplicates: Vec::new(), members: Vec::new() }
    }

    fn document(&mut self) -> Option<Value> {
        let value = self.value(MAX_DEPTH)?;
        self.peek().is_none().then_some(value)
    }

    /// Returns the next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        self.at = json::skip_space(self.text.as_bytes(), self.at);
        self.text.as_bytes().get(self.at).copied()
    }

    /// Takes the next byte that is not white space.
    fn take(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Reads a value in which arrays and objects are nested at most this deep.
    fn value(&mut self, depth: usize) -> Option<Value> {
        match self.peek()? {
            b'"' => self.string().map(Value::String),
            b'{' => self.object(depth.checked_sub(1)?),
            b'[' => self.array(depth.checked_sub(1)?),
            _ => self.scalar(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        self.at += 1;
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(Value::Object(Map::new()));
        }
        let is_message = depth + 1 == MAX_DEPTH;
        let mut members = if is_message { Map::with_capacity(USUAL_MEMBERS) } else { Map::new() };
        loop {
            let key_start = if self.peek()? == b'"' { self.at } else { return None };
            let (key, key_end) = (self.string()?, self.at);
            if self.take()? != b':' {
                return None;
            }
            self.peek()?;
            let (start, known) = (self.at, self.duplicates.len());
            let value = self.value(depth)?;
            if is_message {
                let text = self.text.as_bytes();
                self.members.push(Member { key: &text[key_start + 1..key_end - 1], value: &text[start..self.at] });
            }
            prefix(&mut self.duplicates, known, &key);
            self.insert(&mut members, key, value, !is_message);
            match self.take()? {
                b',' => {}
                b'}' => return Some(Value::Object(members)),
                _ => return None,
            }
        }
    }

    /// Inserts a member. Notes it if there is another one of its name, and if it `is_inner`.
    fn insert(&mut self, members: &mut Map<String, Value>, key: String, value: Value, is_inner: bool) {
        match members.entry(key) {
            Entry::Vacant(free) => {
                free.insert(value);
            }
            Entry::Occupied(mut taken) => {
                if is_inner && self.duplicates.len() < MAX_PLACES {
                    self.duplicates.push(step(taken.key()));
                }
                taken.insert(value);
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<Value> {
        self.at += 1;
        let mut items = Vec::new();
        if self.peek()? == b']' {
            self.at += 1;
            return Some(Value::Array(items));
        }
        loop {
            let known = self.duplicates.len();
            items.push(self.value(depth)?);
            if self.duplicates.len() > known {
                prefix(&mut self.duplicates, known, &(items.len() - 1).to_string());
            }
            match self.take()? {
                b',' => {}
                b']' => return Some(Value::Array(items)),
                _ => return None,
            }
        }
    }

    /// Reads a number, `true`, `false` or `null`.
    fn scalar(&mut self) -> Option<Value> {
        let end = json::skip_scalar(self.text.as_bytes(), self.at);
        let token = self.text.get(self.at..end)?;
        self.at = end;
        match (token, Id(token.as_bytes()).as_integer()) {
            (_, Some(integer)) => Some(integer.into()),
            ("true", _) => Some(true.into()),
            ("false", _) => Some(false.into()),
            ("null", _) => Some(Value::Null),
            _ => serde_json::from_str(token).ok().map(Value::Number),
        }
    }

    /// Reads a string, whose opening quote is next.
    fn string(&mut self) -> Option<String> {
        self.at += 1;
        let mut is_plain = true;
        loop {
            let end = find_special(self.text.as_bytes(), self.at)?;
            let stretch = self.text.get(self.at..end)?;
            self.at = end + 1;
            match self.text.as_bytes()[end] {
                b'"' if is_plain => return Some(stretch.to_owned()),
                b'"' => {
                    self.space.push_str(stretch);
                    return Some(self.space.as_str().to_owned());
                }
                b'\\' => {
                    if std::mem::take(&mut is_plain) {
                        self.space.clear();
                    }
                    self.space.push_str(stretch);
                    let escaped = self.escape()?;
                    self.space.push(escaped);
                }
                _ => return None,
            }
        }
    }

    /// Reads an escape after its backslash.
    fn escape(&mut self) -> Option<char> {
        let byte = *self.text.as_bytes().get(self.at)?;
        self.at += 1;
        Some(match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(),
            _ => return None,
        })
    }

    /// Reads what follows `\u`: one code unit, or the two of a surrogate pair.
    fn unicode(&mut self) -> Option<char> {
        let first = self.code_unit()?;
        if !(0xd800..0xe000).contains(&first) {
            return char::from_u32(first.into());
        }
        let rest = self.text.get(self.at..)?.strip_prefix("\\u")?;
        self.at = self.text.len() - rest.len();
        let second = self.code_unit()?;
        char::decode_utf16([first, second]).next()?.ok()
    }

    fn code_unit(&mut self) -> Option<u16> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        // A sign is no digit here.
        let are_digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        u16::from_str_radix(digits, 16).ok().filter(|_| are_digits)
    }
}

/// Returns the position of the first quote, backslash or control character at or after `at`, eight bytes at a time.
fn find_special(text: &[u8], mut at: usize) -> Option<usize> {
    const LOW: u64 = u64::MAX / 0xff;
    let below = |word: u64, limit: u8| word.wrapping_sub(LOW * u64::from(limit)) & !word;
    let equal = |word: u64, byte: u8| below(word ^ (LOW * u64::from(byte)), 1);
    while let Some(bytes) = text.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*bytes);
        let found = (equal(word, b'"') | equal(word, b'\\') | below(word, b' ')) & (LOW << 7);
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    let rest = text.get(at..)?.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..b' '))?;
    Some(at + rest)
}

/// Puts a step before the pointers from `first` on.
fn prefix(pointers: &mut [String], first: usize, name: &str) {
    pointers.iter_mut().skip(first).for_each(|pointer| pointer.insert_str(0, &step(name)));
}

/// Returns one step of a JSON Pointer (RFC 6901).
fn step(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Returns whether a JSON text says the same as a value. The text is compared while it is read, and becomes no value.
pub(super) fn says(text: &str, value: &Value) -> bool {
    let mut reader = serde_json::Deserializer::from_str(text);
    Same(value).deserialize(&mut reader).unwrap_or(false) && reader.end().is_ok()
}

/// Compares what is read with a value.
struct Same<'a>(&'a Value);

impl<'de> DeserializeSeed<'de> for Same<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<bool, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Same<'_> {
    type Value = bool;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<bool, E> {
        Ok(self.0.is_null())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<bool, E> {
        Ok(*self.0 == value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<bool, E> {
        Ok(*self.0 == value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<bool, E> {
        Ok(*self.0 == value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<bool, E> {
        Ok(*self.0 == value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<bool, E> {
        Ok(*self.0 == value)
    }

    /// What differs ends the comparison with an error, so that the rest is not read.
    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<bool, A::Error> {
        for item in self.0.as_array().ok_or_else(differs)? {
            if from.next_element_seed(Same(item))? != Some(true) {
                return Err(differs());
            }
        }
        Ok(from.next_element::<IgnoredAny>()?.is_none())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<bool, A::Error> {
        let members = self.0.as_object().ok_or_else(differs)?;
        let mut count = 0;
        while let Some(key) = from.next_key::<String>()? {
            let member = members.get(&key).ok_or_else(differs)?;
            if !from.next_value_seed(Same(member))? {
                return Err(differs());
            }
            count += 1;
        }
        Ok(count == members.len())
    }
}

fn differs<E: Error>() -> E {
    E::custom("another value")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_text_says_the_same_as_a_value() {
        let value = json!({"a": [1, -2, 1.5, "x\u{e9}", null, true, {}], "b": {"c": []}});
        assert!(says(&value.to_string(), &value) && says(&format!("{value:#}"), &value));
        assert!(says(r#"{"b":{"c":[]},"a":[1,-2,1.5,"x\u00e9",null,true,{}]}"#, &value), "in another order");
        for (text, value) in [
            ("[1]", json!([1, 2])),
            ("[1,2]", json!([1])),
            (r#"{"a":1}"#, json!({"a": 1, "b": 2})),
            (r#"{"a":1,"b":2}"#, json!({"a": 1})),
            (r#"{"a":2}"#, json!({"a": 1})),
            ("7 7", json!(7)),
            ("text", json!("text")),
            ("{}", json!([])),
        ] {
            assert!(!says(text, &value), "{text}");
        }
    }

    #[test]
    fn the_value_is_the_one_serde_json_gives() {
        for text in [r#"{"a":[1,-2,1.5,"x\u00e9",null,true,{}],"b":{"c":18446744073709551615}}"#, " 7 ", "[]"] {
            let parsed = parse(text.as_bytes(), &mut Space::default()).expect("parses");
            assert_eq!(parsed.value, serde_json::from_str::<Value>(text).expect("parses"));
            assert!(parsed.duplicates.is_empty());
        }
    }

    /// `None` leaves the reason to `serde_json`, so the reader must not be stricter.
    fn agrees(text: &str) {
        let mut space = String::new();
        let mut reader = Reader::new(text, &mut space);
        let read = reader.document();
        assert_eq!(read, serde_json::from_str(text).ok(), "{text:?}");
        if read.is_some_and(|value| value.is_object()) {
            assert_eq!(reader.members, json::members(text.as_bytes()).collect::<Vec<_>>(), "{text:?}");
        }
    }

    #[test]
    fn the_reader_accepts_what_serde_json_accepts() {
        for text in [
            r#""\u0041\ud83d\ude00\"\\\/\b\f\n\r\t""#,
            r#"["\ud83d", "\ud83dx", "\udc00", "\ud83d\u0041"]"#,
            r#"["\u+041"]"#,
            r#"["\u00e"]"#,
            r#"["\x"]"#,
            "[\"tab\tinside\"]",
            "[\"nul\0inside a long string\"]",
            "[0,-0,-1,1.0,1e2,-1.5E-3,9223372036854775807,9223372036854775808,-9223372036854775809,1e400]",
            "[01]",
            "[1.]",
            "[-]",
            "[.5]",
            "[+1]",
            "[nul]",
            "[truex]",
            "[1,]",
            "[,1]",
            "{\"a\":1,}",
            "{\"a\" 1}",
            "{a:1}",
            "{\"a\":1 \"b\":2}",
            " { \"a\" : [ ] , \"b\" : { } } ",
            "{} {}",
            "",
        ] {
            agrees(text);
        }
        for depth in [126, 127, 128, 129] {
            agrees(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
            agrees(&format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth)));
        }
    }

    proptest! {
        #[test]
        fn the_reader_agrees_with_serde_json(
            text in r#"[\[{" ]?(["\\ntu0de8,:\[\]{}\-1.+ \x00-\x1fé😀]|true|null|"a":|"[a-c\\é"\x01]{0,20}"|[0-9]{1,3}){0,12}[\]}" ]?"#,
        ) {
            agrees(&text);
        }
    }

    #[test]
    fn members_that_stand_twice_are_reported_with_their_place() {
        let parsed = parse(br#"{"a":{"x/y":1,"x/y":2},"l":[0,{"k":1,"k":1}]}"#, &mut Space::default()).expect("parses");
        assert_eq!(parsed.duplicates, ["/a/x~1y", "/l/1/k"]);
        assert_eq!(parsed.value["a"]["x/y"], 2);
    }

    #[test]
    fn members_of_the_message_itself_leave_room_for_inner_ones() {
        let text = format!(r#"{{{}"params":{{"a":1,"a":1}}}}"#, r#""x":0,"#.repeat(MAX_PLACES + 2));
        assert_eq!(parse(text.as_bytes(), &mut Space::default()).expect("parses").duplicates, ["/params/a"]);
    }

    #[test]
    fn what_no_value_represents_is_replaced_and_reported() {
        for (text, value) in [(r#"["\ud800",1]"#, json!(["\u{fffd}", 1])), ("[1e999]", json!([f64::MAX]))] {
            let parsed = parse(text.as_bytes(), &mut Space::default()).expect("JSON");
            assert!(parsed.value == value && parsed.unrepresentable.is_some(), "{text}");
        }
        let deep = "[".repeat(MAX_DEPTH + 1) + &"]".repeat(MAX_DEPTH + 1);
        assert!(parse(deep.as_bytes(), &mut Space::default()).is_err());
    }

    #[test]
    fn what_is_no_json_fails() {
        for text in [&b"{"[..], b"{} x", b"\"\xff\"", b"[\"\\ud800\" 1]", b"01"] {
            assert!(parse(text, &mut Space::default()).is_err(), "{}", String::from_utf8_lossy(text));
        }
    }
}
