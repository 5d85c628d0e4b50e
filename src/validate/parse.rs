//! Parses JSON text in one pass that also notes where an object has several members of the same name.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};
use std::fmt;

/// The number of places that are kept; a message rarely has one.
const MAX_PLACES: usize = 8;

/// Most objects have at most as many members.
const USUAL_MEMBERS: usize = 8;

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
    // Checked once, instead of in each string.
    let text = std::str::from_utf8(text).map_err(serde_json::Error::custom)?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Inside { duplicates: &mut duplicates }.deserialize(&mut reader)?;
    reader.end()?;
    Ok(Parsed { value, duplicates })
}

/// A value, with the duplicates found so far. The pointers of those in it begin at the value; whoever contains it puts
/// its own step before them.
struct Inside<'a> {
    duplicates: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Inside<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Inside<'_> {
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
        let mut known = self.duplicates.len();
        while let Some(item) = from.next_element_seed(Inside { duplicates: &mut *self.duplicates })? {
            if self.duplicates.len() > known {
                known = prefix(self.duplicates, known, &items.len().to_string());
            }
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        let mut known = self.duplicates.len();
        while let Some(key) = from.next_key::<String>()? {
            if members.is_empty() {
                members = Map::with_capacity(USUAL_MEMBERS);
            }
            let value = from.next_value_seed(Inside { duplicates: &mut *self.duplicates })?;
            if self.duplicates.len() > known {
                known = prefix(self.duplicates, known, &key);
            }
            match members.entry(key) {
                Entry::Vacant(free) => {
                    free.insert(value);
                }
                Entry::Occupied(mut taken) => {
                    if self.duplicates.len() < MAX_PLACES {
                        self.duplicates.push(step(taken.key()));
                        known = self.duplicates.len();
                    }
                    taken.insert(value);
                }
            }
        }
        Ok(Value::Object(members))
    }
}

/// Puts a step before the pointers from `first` on; returns the number of all.
fn prefix(pointers: &mut [String], first: usize, name: &str) -> usize {
    let step = step(name);
    pointers.iter_mut().skip(first).for_each(|pointer| pointer.insert_str(0, &step));
    pointers.len()
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
