//! Summaries: what `show` says about a message of a pack, in a few words.
//!
//! A summary is a text with places. `{name}` is a value, `{events#event}` counts ("2 events"), `{final?the last one}`
//! is a text if the value is true. A part in brackets is left out if a value in it is missing.

use super::pointer::Pointer;
use crate::proposals::clip;
use crate::wire::json;
use crate::wire::text::counted;

/// The maximum length of a value, in characters.
const MAX_VALUE: usize = 60;

/// A summary, ready for use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Summary(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Value(Pointer),
    Count(Pointer, String),
    IfTrue(Pointer, String),
    Optional(Vec<Piece>),
}

impl Summary {
    /// Reads a summary.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut rest = text;
        let pieces = pieces(&mut rest, false)?;
        Ok(Self(pieces))
    }

    /// Appends what it says about the params or the result of a message.
    pub(super) fn write(&self, content: &[u8], out: &mut String) {
        write(&self.0, content, out);
        out.truncate(out.trim_end().len());
    }
}

fn pieces(rest: &mut &str, is_optional: bool) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    loop {
        let at = rest.find(['{', '}', '[', ']']).unwrap_or(rest.len());
        let (text, after) = rest.split_at(at);
        if !text.is_empty() {
            pieces.push(Piece::Text(text.to_owned()));
        }
        let mut others = after.chars();
        let found = others.next();
        *rest = others.as_str();
        match found {
            None if is_optional => return Err("a bracket [ is not closed".to_owned()),
            None => return Ok(pieces),
            Some('{') => {
                let (place, after) = rest.split_once('}').ok_or("a brace { is not closed")?;
                pieces.push(place_of(place)?);
                *rest = after;
            }
            Some('[') if is_optional => return Err("a bracket [ within another one".to_owned()),
            Some('[') => pieces.push(Piece::Optional(self::pieces(rest, true)?)),
            Some(']') if is_optional => return Ok(pieces),
            Some(other) => return Err(format!("{other} without the one that opens it")),
        }
    }
}

fn place_of(text: &str) -> Result<Piece, String> {
    let (name, rest) = text.find(['#', '?']).map_or((text, ""), |at| text.split_at(at));
    if name.trim_matches('/').is_empty() || name.contains(['{', '[']) {
        return Err(format!("{{{text}}} names no member"));
    }
    let pointer = Pointer::of_summary(name);
    let word = |rest: &str| rest.get(1..).unwrap_or_default().to_owned();
    match rest.chars().next() {
        None => Ok(Piece::Value(pointer)),
        Some('#') if rest.len() > 1 => Ok(Piece::Count(pointer, word(rest))),
        Some('?') if rest.len() > 1 => Ok(Piece::IfTrue(pointer, word(rest))),
        _ => Err(format!("{{{text}}} needs a word after {rest}")),
    }
}

/// Writes pieces. Returns whether all values were there.
fn write(pieces: &[Piece], content: &[u8], out: &mut String) -> bool {
    let mut is_whole = true;
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Optional(inner) => {
                let start = out.len();
                if !write(inner, content, out) {
                    out.truncate(start);
                }
            }
            Piece::Value(pointer) => match value(pointer, content) {
                Some(text) => out.push_str(&text),
                None => is_whole = false,
            },
            Piece::Count(pointer, noun) => match json::at_path(content, &pointer.names()) {
                Some(list) => out.push_str(&counted(json::items(list).count() as u64, noun)),
                None => is_whole = false,
            },
            Piece::IfTrue(pointer, text) => match json::at_path(content, &pointer.names()) {
                Some(b"true") => out.push_str(text),
                _ => is_whole = false,
            },
        }
    }
    is_whole
}

/// Returns a value as text; `None` if it is missing or null.
fn value(pointer: &Pointer, content: &[u8]) -> Option<String> {
    let raw = json::at_path(content, &pointer.names()).filter(|raw| *raw != b"null")?;
    let text = json::str_start(raw, MAX_VALUE + 1)
        .unwrap_or_else(|| String::from_utf8_lossy(raw.get(..4 * MAX_VALUE).unwrap_or(raw)));
    Some(clip(&text, MAX_VALUE).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(summary: &str, content: &str) -> String {
        let mut out = String::new();
        Summary::parse(summary).expect(summary).write(content.as_bytes(), &mut out);
        out
    }

    #[test]
    fn places_are_filled() {
        let content =
            r#"{"name":"build.done","to":{"url":"https://h"},"events":[1,2],"one":[7],"last":true,"no":null}"#;
        assert_eq!(said("{name} to {to/url}", content), "build.done to https://h");
        assert_eq!(said("{events#event}, {one#event}", content), "2 events, 1 event");
        assert_eq!(said("{name}{last? (the last)}{first? (the first)}", content), "build.done (the last)");
        assert_eq!(said("{name}[ from {no}][ at {to/url}]", content), "build.done at https://h");
        assert_eq!(said("{name} {none}", content), "build.done");
        assert_eq!(said("{a~1b}", r#"{"a/b":7}"#), "7");
    }

    #[test]
    fn long_values_are_cut() {
        let content = format!(r#"{{"text":"{}"}}"#, "é".repeat(500));
        assert_eq!(said("{text}", &content), format!("{}…", "é".repeat(MAX_VALUE)));
        let list = format!(r#"{{"text":[{}0]}}"#, "1,".repeat(500));
        assert!(said("{text}", &list).ends_with('…'));
    }

    #[test]
    fn mistakes_are_found() {
        for wrong in ["{name", "[a", "a]", "a}", "[a[b]]", "{}", "{/}", "{x#}", "{x?}", "{a{b}"] {
            assert!(Summary::parse(wrong).is_err(), "{wrong}");
        }
    }
}
