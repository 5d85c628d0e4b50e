//! Parses JSON text in one pass that also notes where an object has several members of the same name.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
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
