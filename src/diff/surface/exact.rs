//! Numbers of schemas that floating point would round: `1e400`, or `9007199254740993.0`. They stay texts, so that two of
//! them are equal only if they are the same number.

use crate::diff::normalise::decimal;
use crate::wire::json;
use serde_json::Value;

/// Begins a text that stands for a number.
const MARK: &str = "\u{1a}#";

/// Below this number of digits, floating point rounds nothing.
const MANY_DIGITS: usize = 16;

/// Reads JSON as [`json::value_of`] does, but rounds no numbers.
pub(super) fn value_of(text: &[u8]) -> Value {
    if may_round(text) { json::value_with_numbers(text, unrounded) } else { json::value_of(text) }
}

/// Returns whether a text may contain such numbers.
fn may_round(text: &[u8]) -> bool {
    let mut digits = 0;
    text.iter().any(|byte| {
        match byte {
            b'0'..=b'9' => digits += 1,
            b'.' => {}
            b'e' | b'E' if digits > 0 => return true,
            _ => digits = 0,
        }
        digits >= MANY_DIGITS
    })
}

/// Returns the value of a number that [`serde_json`] would round: an integer, or the text that stands for it.
fn unrounded(text: &[u8]) -> Option<Value> {
    if !matches!(text.first(), Some(b'-' | b'0'..=b'9')) {
        return None;
    }
    let exact = decimal(std::str::from_utf8(text).ok()?)?;
    let read = |text: &[u8]| {
        let number: Option<Value> = serde_json::from_slice(text).ok();
        number.filter(|number| decimal(&number.to_string()).is_some_and(|number| number == exact))
    };
    if read(text).is_some() {
        return None;
    }
    Some(read(exact.as_bytes()).unwrap_or_else(|| Value::String(format!("{MARK}{exact}"))))
}

/// Returns the number for which a text stands.
fn number_of(text: &str) -> Option<&str> {
    text.strip_prefix(MARK)
}

/// Returns the type of such a number; `None` if a text is only a text.
pub(super) fn type_of(text: &str) -> Option<&'static str> {
    number_of(text).map(|number| if number.contains("e-") { "number" } else { "integer" })
}

/// Returns a value with such numbers as plain texts.
pub(super) fn shown(value: &Value) -> Value {
    match value {
        Value::String(text) => number_of(text).unwrap_or(text).into(),
        Value::Array(items) => items.iter().map(shown).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), shown(value))).collect(),
        other => other.clone(),
    }
}

/// Returns JSON text with such numbers as numbers again.
pub(super) fn written(json: &str) -> String {
    let mark = Value::from(MARK).to_string();
    let Some(mark) = mark.strip_suffix('"').filter(|mark| json.contains(mark)) else { return json.to_owned() };
    let mut parts = json.split(mark);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (number, rest) = part.split_once('"').unwrap_or((part, ""));
        out.push_str(number);
        out.push_str(rest);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_numbers_that_would_be_rounded_become_texts() {
        for text in ["1", "-1.5", "0.1", "1e3", "1e-7", "123456789012345678", "18446744073709551615", "1.7e308", "-0.0"]
        {
            assert_eq!(unrounded(text.as_bytes()), None, "{text}");
        }
        for (text, exact) in [
            ("1e400", "1e400"),
            ("10e399", "1e400"),
            ("18446744073709551617", "18446744073709551617"),
            ("0.30000000000000001", "30000000000000001e-17"),
            ("1e-400", "1e-400"),
        ] {
            assert_eq!(unrounded(text.as_bytes()), Some(format!("{MARK}{exact}").into()), "{text}");
        }
        assert_eq!(unrounded(b"9007199254740993.0"), Some(json!(9_007_199_254_740_993_i64)));
        let text = r#"{"a":[1e400,"1e400",1],"b":9007199254740993.0,"c":"x"}"#;
        let value = value_of(text.as_bytes());
        assert_eq!((&value["a"][1], &value["a"][2], &value["c"]), (&json!("1e400"), &json!(1), &json!("x")));
        assert_eq!(written(&value.to_string()), r#"{"a":[1e400,"1e400",1],"b":9007199254740993,"c":"x"}"#);
        assert_eq!(shown(&value)["a"][0], "1e400");
    }
}
