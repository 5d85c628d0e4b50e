//! Texts and parameters on the command line, in the same form everywhere. A text is written out, or comes from a file
//! (`@FILE`) or stdin (`-`, `@-`); `@@` stands for a literal `@`. A parameter is `name=text`, `name:=JSON`, a JSON object,
//! `@FILE`, or `-`.

use crate::error::{CommandError, ErrorKind};
use crate::files::text::{LARGE, bytes_of, read_bytes};
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::OnceLock;

/// What stdin contained, or who else uses it. It is read once, so all words that name it mean the same text.
static STDIN: OnceLock<Result<Vec<u8>, &'static str>> = OnceLock::new();

/// Refuses stdin to all texts and parameters that are read from now on, because `user` reads it.
pub(crate) fn keep_stdin_for(user: &'static str) {
    // If it was read already, it is at its end for everybody.
    let _ = STDIN.set(Err(user));
}

/// A text on the command line. Files and stdin are read when the text is used first.
#[derive(Clone, Debug)]
pub(crate) struct TextArgument {
    word: String,
    text: OnceLock<String>,
}

impl From<String> for TextArgument {
    fn from(word: String) -> Self {
        Self { word, text: OnceLock::new() }
    }
}

impl TextArgument {
    /// The text, without the last line break of a file or of stdin.
    ///
    /// # Errors
    ///
    /// The file or stdin cannot be read, or is not UTF-8.
    pub(crate) fn read(&self) -> Result<&str, CommandError> {
        if let Some(text) = self.text.get() {
            return Ok(text);
        }
        let text = String::from_utf8(exact_text(&self.word)?).map_err(|_| not_text(&self.word))?;
        Ok(self.text.get_or_init(|| text))
    }
}

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
    let (mut members, mut given) = (Map::new(), Vec::new());
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
        if let Some((_, other)) = given.iter().find(|(known, _)| *known == name) {
            return Err(CommandError::usage(format!("the parameter {name} is given twice: {other:?} and {word:?}")));
        }
        given.push((name, word));
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
    let source = if word == "-" { Source::Stdin } else { Source::of(word) };
    let text = source.read()?.trim_ascii().to_vec();
    // serde_json expected the rest of `null`, `true` or `false`.
    let checked =
        crate::wire::json::check(&text).map_err(|reason| reason.replace("expected ident", "a text has no quotes"));
    checked.map_err(|reason| match source {
        Source::Literal(_) => CommandError::usage(format!("{word}: not JSON: {reason}"))
            .hint("put the whole in single quotes so that the shell keeps the inner ones: '{\"key\":[\"v\"]}'"),
        Source::Stdin if text.is_empty() => CommandError::usage("stdin is empty").hint(ONE_OBJECT),
        Source::Stdin => CommandError::usage(format!("stdin is not JSON: {reason}")).hint(ONE_OBJECT),
        Source::File(path) if text.is_empty() => {
            CommandError::usage(format!("{} is empty", path.display())).hint(ONE_OBJECT)
        }
        Source::File(path) => {
            CommandError::usage(format!("{}: the file is not JSON: {reason}", path.display())).hint(ONE_OBJECT)
        }
    })?;
    Ok(text)
}

/// What a file or stdin contains that is all params.
const ONE_OBJECT: &str = "it must contain all parameters as one JSON object: {\"name\":\"value\"}";

/// Where the text of a word is.
enum Source<'a> {
    /// In the word itself.
    Literal(&'a str),
    File(&'a Path),
    Stdin,
}

impl<'a> Source<'a> {
    fn of(word: &'a str) -> Self {
        match word.strip_prefix('@') {
            None => Self::Literal(word),
            Some(literal) if literal.starts_with('@') => Self::Literal(literal),
            Some("-") => Self::Stdin,
            Some(path) => Self::File(Path::new(path)),
        }
    }

    fn read(&self) -> Result<Vec<u8>, CommandError> {
        match self {
            Self::Literal(text) => Ok(text.as_bytes().to_vec()),
            Self::Stdin => read_stdin(),
            Self::File(path) => read_bytes(path, LARGE).map_err(|error| {
                CommandError::reading(path, &error).hint("@NAME is the content of a file; @@ stands for a literal @")
            }),
        }
    }
}

/// A text as bytes, without the last line break of a file or of stdin.
///
/// # Errors
///
/// The file or stdin cannot be read.
pub(crate) fn exact_text(word: &str) -> Result<Vec<u8>, CommandError> {
    let mut text = match Source::of(word) {
        _ if word == "-" => read_stdin()?,
        Source::Literal(text) => return Ok(text.as_bytes().to_vec()),
        source => source.read()?,
    };
    for end in [b'\n', b'\r'] {
        text.pop_if(|last| *last == end);
    }
    Ok(text)
}

fn read_stdin() -> Result<Vec<u8>, CommandError> {
    if let Some(known) = STDIN.get() {
        return known.clone().map_err(|user| {
            CommandError::usage(format!("stdin cannot be read as an argument, because {user}"))
                .hint("write the text to a file, and give its name as @FILE")
        });
    }
    let text = bytes_of(std::io::stdin(), LARGE)
        .map_err(|error| CommandError::new(ErrorKind::Input, format!("cannot read stdin: {error}")))?;
    let _ = STDIN.set(Ok(text.clone()));
    Ok(text)
}

fn not_text(word: &str) -> CommandError {
    let source = if word == "-" { "stdin" } else { word.trim_start_matches('@') };
    CommandError::new(ErrorKind::Input, format!("{source} is not UTF-8 text"))
}

/// Parses `name=value` or `name:=json`. A value that begins with `@` comes from a file or stdin, unchanged.
fn member(word: &str) -> Result<(&str, Value), CommandError> {
    let wrong = || {
        CommandError::usage(format!("invalid parameter {word:?}: expected name=value")).hint(
            "a parameter is name=text, name:=JSON, a JSON object, @file, or - for stdin; a text can be @file or @-",
        )
    };
    let at = word.find('=').filter(|at| *at > 0).ok_or_else(wrong)?;
    let (name, text) = (&word[..at], &word[at + 1..]);
    let Some(name) = name.strip_suffix(':') else {
        return Ok((name, Value::String(value(text)?)));
    };
    let text = value(text)?;
    let value = serde_json::from_str(&text).map_err(|error| {
        if !text.starts_with(['{', '[', '"']) {
            return CommandError::usage(format!("{word:?}: the value after := is not JSON"))
                .hint(format!("text is written with =: {name}={}", &word[at + 1..]));
        }
        CommandError::usage(format!("{word:?}: the value after := is not JSON: {error}"))
            .hint("put the whole in single quotes so that the shell keeps the inner ones: 'key:=[\"v\"]'; for plain text, write key=v")
    })?;
    Ok((name, value))
}

/// The value of a parameter: the text itself, or what a file (`@FILE`) or stdin (`@-`) contains, unchanged.
///
/// # Errors
///
/// The file or stdin cannot be read, or is not UTF-8.
pub(crate) fn value(text: &str) -> Result<String, CommandError> {
    String::from_utf8(Source::of(text).read()?).map_err(|_| not_text(text))
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
        let hint = |word: &str| params(&[word.to_owned()]).expect_err("refused").hints.join(" ");
        assert!(hint("a.days:=three").contains("a.days=three"), "{}", hint("a.days:=three"));
        let unquoted = params(&["key:=[v]".to_owned()]).expect_err("refused");
        assert!(unquoted.hints.iter().any(|hint| hint.contains(r#"'key:=["v"]'"#)), "{:?}", unquoted.hints);
        assert!(text(&["alone"]).expect_err("refused").contains("invalid parameter"));
    }

    #[test]
    fn a_literal_at_sign_is_doubled() {
        assert_eq!(
            text(&["to=@@me", "mail=me@home", "dash=-"]),
            Ok(r#"{"to":"@me","mail":"me@home","dash":"-"}"#.into())
        );
        assert_eq!(TextArgument::from("@@@a".to_owned()).read().expect("text"), "@@a");
        assert_eq!(TextArgument::from("a@-".to_owned()).read().expect("text"), "a@-");
        let yaml = params(&["@Cargo.toml".to_owned()]).expect_err("no JSON");
        assert!(yaml.message.contains("the file is not JSON") && !yaml.hints.join("").contains("quotes"), "{yaml:?}");
        let missing = TextArgument::from("@/no/such file".to_owned()).read().expect_err("no file").hints;
        assert_eq!(missing, ["@NAME is the content of a file; @@ stands for a literal @"]);
    }
}
