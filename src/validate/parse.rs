//! Parses JSON text in one pass that also notes where an object has several members of the same name.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// The number of places that are kept; a message rarely has one.
const MAX_PLACES: usize = 8;

/// A parsed value, and the places of duplicate members, of which the value has the last.
#[derive(Debug)]
pub(super) struct Parsed {
    /// The value.
    pub value: Value,
    /// JSON Pointers to the first few duplicate members.
    pub duplicates: Vec<String>,
}

/// Parses a whole text.
///
/// # Errors
///
/// If the text is not JSON, or contains something that a [`Value`] cannot represent.
pub(super) fn parse(text: &[u8]) -> Result<Parsed, serde_json::Error> {
    let mut duplicates = Vec::new();
    let mut reader = serde_json::Deserializer::from_slice(text);
    let seed = Place { duplicates: &mut duplicates, path: &mut String::new() };
    let value = seed.deserialize(&mut reader)?;
    reader.end()?;
    Ok(Parsed { value, duplicates })
}

/// The current place in the text, with the duplicates found so far.
struct Place<'a> {
    duplicates: &'a mut Vec<String>,
    path: &'a mut String,
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        let here = self.path.len();
        loop {
            push_step(self.path, &items.len().to_string());
            let seed = Place { duplicates: &mut *self.duplicates, path: &mut *self.path };
            let item = from.next_element_seed(seed)?;
            self.path.truncate(here);
            match item {
                Some(item) => items.push(item),
                None => return Ok(Value::Array(items)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        let here = self.path.len();
        while let Some(key) = from.next_key::<String>()? {
            push_step(self.path, &key);
            let seed = Place { duplicates: &mut *self.duplicates, path: &mut *self.path };
            let value = from.next_value_seed(seed)?;
            if members.insert(key, value).is_some() && self.duplicates.len() < MAX_PLACES {
                self.duplicates.push(self.path.clone());
            }
            self.path.truncate(here);
        }
        Ok(Value::Object(members))
    }
}

/// Appends one step of a JSON Pointer (RFC 6901).
fn push_step(path: &mut String, name: &str) {
    path.push('/');
    for letter in name.chars() {
        match letter {
            '~' => path.push_str("~0"),
            '/' => path.push_str("~1"),
            other => path.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_is_the_one_serde_json_gives() {
        for text in [r#"{"a":[1,-2,1.5,"x\u00e9",null,true,{}],"b":{"c":18446744073709551615}}"#, " 7 ", "[]"] {
            let parsed = parse(text.as_bytes()).expect("parses");
            assert_eq!(parsed.value, serde_json::from_str::<Value>(text).expect("parses"));
            assert!(parsed.duplicates.is_empty());
        }
    }

    #[test]
    fn members_that_stand_twice_are_reported_with_their_place() {
        let parsed = parse(br#"{"a":{"x/y":1,"x/y":2},"l":[0,{"k":1,"k":1}]}"#).expect("parses");
        assert_eq!(parsed.duplicates, ["/a/x~1y", "/l/1/k"]);
        assert_eq!(parsed.value["a"]["x/y"], 2);
    }

    #[test]
    fn what_is_no_json_fails() {
        for text in [&b"{"[..], b"{} x", b"[1e999]", b"\"\xff\"", b"[\"\\ud800\"]", b"01"] {
            assert!(parse(text).is_err(), "{}", String::from_utf8_lossy(text));
        }
    }
}
