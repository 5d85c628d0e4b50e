//! Parameters on the command line, in the same form everywhere: `key=value` (a string), `key:=json`, a JSON object,
//! `@file`, `-`.

use crate::error::{CommandError, ErrorKind};
use serde_json::{Map, Value};
use std::io::Read;
use std::path::Path;

/// The params that the words give: `None` for no words; the unchanged text of a single JSON object; else an object of
/// members.
///
/// # Errors
///
/// A word is not a parameter, or a file cannot be read.
pub(crate) fn params(words: &[String]) -> Result<Option<Vec<u8>>, CommandError> {
    match words {
        [] => Ok(None),
        [word] if is_whole(word) => whole(word).map(Some),
        words => object(words).map(|members| Some(Value::Object(members).to_string().into_bytes())),
    }
}

/// The object that the words give.
///
/// # Errors
///
/// A word is not a parameter, or a file cannot be read.
pub(crate) fn object(words: &[String]) -> Result<Map<String, Value>, CommandError> {
    let mut members = Map::new();
    for word in words {
        if is_whole(word) {
            let text = whole(word)?;
            match serde_json::from_slice(&text) {
                Ok(Value::Object(more)) => members.extend(more),
                Ok(_) => return Err(CommandError::usage(format!("{word:?} is not a JSON object"))),
                Err(error) => return Err(CommandError::usage(format!("{word:?} is not JSON: {error}"))),
            }
            continue;
        }
        let (name, value) = member(word)?;
        insert(&mut members, name, value);
    }
    Ok(members)
}

/// Whether a word has the form of a parameter.
pub(crate) fn is_parameter(word: &str) -> bool {
    is_whole(word) || word.find('=').is_some_and(|at| at > 0)
}

fn is_whole(word: &str) -> bool {
    word.starts_with('{') || word.starts_with('@') || word == "-"
}

fn whole(word: &str) -> Result<Vec<u8>, CommandError> {
    let text = match word.strip_prefix('@') {
        Some(path) => read_file(Path::new(path))?,
        None if word == "-" => read_stdin()?,
        None => word.as_bytes().to_vec(),
    };
    let text = text.trim_ascii().to_vec();
    crate::wire::json::check(&text).map_err(|reason| {
        CommandError::usage(format!("{word}: not JSON: {reason}"))
            .hint("put the whole in single quotes so that the shell keeps the inner ones: '{\"key\":[\"v\"]}'")
    })?;
    Ok(text)
}

/// A text: the word itself, or the content of `@file` or of stdin (`-`), without its final line break.
///
/// # Errors
///
/// The file or stdin cannot be read.
pub(crate) fn exact_text(word: &str) -> Result<Vec<u8>, CommandError> {
    let mut text = match word.strip_prefix('@') {
        Some(path) => read_file(Path::new(path))?,
        None if word == "-" => read_stdin()?,
        None => return Ok(word.as_bytes().to_vec()),
    };
    for end in [b'\n', b'\r'] {
        text.pop_if(|last| *last == end);
    }
    Ok(text)
}

fn read_file(path: &Path) -> Result<Vec<u8>, CommandError> {
    std::fs::read(path).map_err(|error| CommandError::reading(path, &error))
}

fn read_stdin() -> Result<Vec<u8>, CommandError> {
    let mut text = Vec::new();
    std::io::stdin()
        .read_to_end(&mut text)
        .map_err(|error| CommandError::new(ErrorKind::Input, format!("cannot read stdin: {error}")))?;
    Ok(text)
}

/// Parses `name=value` or `name:=json`. A value that begins with `@` is read from that file.
fn member(word: &str) -> Result<(&str, Value), CommandError> {
    let wrong = || {
        CommandError::usage(format!("invalid parameter {word:?}: expected name=value"))
            .hint("a parameter is name=text, name:=JSON, a JSON object, @file, or - for stdin")
    };
    let at = word.find('=').filter(|at| *at > 0).ok_or_else(wrong)?;
    let (name, text) = (&word[..at], &word[at + 1..]);
    let Some(name) = name.strip_suffix(':') else {
        return Ok((name, Value::String(text_or_file(text)?)));
    };
    let text = text_or_file(text)?;
    let value = serde_json::from_str(&text).map_err(|error| {
        CommandError::usage(format!("{word:?}: the value after := is not JSON: {error}"))
            .hint("put the whole in single quotes so that the shell keeps the inner ones: 'key:=[\"v\"]'; for plain text, write key=v")
    })?;
    Ok((name, value))
}

fn text_or_file(text: &str) -> Result<String, CommandError> {
    let Some(path) = text.strip_prefix('@') else { return Ok(text.to_owned()) };
    String::from_utf8(read_file(Path::new(path))?)
        .map_err(|_| CommandError::new(ErrorKind::Input, format!("{path} is not UTF-8 text")))
}

/// Sets a member. Dots in its name lead into inner objects.
fn insert(members: &mut Map<String, Value>, name: &str, value: Value) {
    match name.split_once('.') {
        None => {
            members.insert(name.to_owned(), value);
        }
        Some((outer, inner)) => {
            let place = members.entry(outer).or_insert_with(|| Value::Object(Map::new()));
            if !place.is_object() {
                *place = Value::Object(Map::new());
            }
            if let Value::Object(below) = place {
                insert(below, inner, value);
            }
        }
    }
}

/// Parses a time in a reel: seconds since its start, or an RFC 3339 time. `created` is the reel's clock base in
/// nanoseconds since 1970. Returns nanoseconds since the clock base.
///
/// # Errors
///
/// If the text is neither.
pub(crate) fn time_in_reel(text: &str, created: i64) -> Result<i64, CommandError> {
    if let Ok(seconds) = text.trim_end_matches('s').parse::<f64>() {
        return Ok((seconds * 1e9) as i64);
    }
    let time = text.parse::<jiff::Timestamp>().ok().and_then(|time| i64::try_from(time.as_nanosecond()).ok());
    time.and_then(|time| time.checked_sub(created)).ok_or_else(|| {
        CommandError::usage(format!("invalid time {text:?}"))
            .hint("use seconds since the start of the reel, such as 12.5, or a time such as 2026-11-21T20:00:00Z")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(words: &[&str]) -> Result<String, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let params = params(&words).map_err(|error| error.message)?;
        Ok(String::from_utf8(params.unwrap_or_default()).expect("text"))
    }

    #[test]
    fn words_become_params() {
        assert_eq!(text(&[]), Ok(String::new()));
        assert_eq!(text(&["name=echo", "arguments:={\"n\":1}"]), Ok(r#"{"name":"echo","arguments":{"n":1}}"#.into()));
        assert_eq!(text(&["a.b=1", "a.c:=2"]), Ok(r#"{"a":{"b":"1","c":2}}"#.into()));
        assert_eq!(text(&["{\"n\": 1.0}"]), Ok("{\"n\": 1.0}".into()), "one object goes as it is");
        assert!(text(&["{\"n\":"]).expect_err("refused").contains("not JSON"));
        assert!(text(&["a:=x"]).expect_err("refused").contains("not JSON"));
        let unquoted = params(&["key:=[v]".to_owned()]).expect_err("refused");
        assert!(unquoted.hints.iter().any(|hint| hint.contains(r#"'key:=["v"]'"#)), "{:?}", unquoted.hints);
        assert!(text(&["alone"]).expect_err("refused").contains("invalid parameter"));
    }
}
