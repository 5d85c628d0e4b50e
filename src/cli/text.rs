//! Texts on the command line that begin with `-`, as an item of a list does.

use super::own_line::own_words;
use crate::runtime::parameters::TextArgument;
use clap::builder::{StringValueParser, StyledStr, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use std::ffi::OsStr;

/// Reads a text that may begin with `-`. A word that looks like an option is refused, unless it is written after `=`.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextParser;

impl TypedValueParser for TextParser {
    type Value = TextArgument;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<TextArgument, clap::Error> {
        let text = StringValueParser::new().parse_ref(command, arg, value)?;
        if looks_like_option(&text) && own_words().iter().any(|word| word == value) {
            return Err(refused(command, arg.and_then(Arg::get_long), text));
        }
        Ok(TextArgument::from(text))
    }
}

/// Whether a word is `--`, `-x` or `--word`. A text has spaces.
fn looks_like_option(word: &str) -> bool {
    let Some(rest) = word.strip_prefix('-') else { return false };
    let name = rest.strip_prefix('-').unwrap_or(rest);
    rest == "-" || name.starts_with(char::is_alphabetic) && !word.contains(char::is_whitespace)
}

fn refused(command: &Command, option: Option<&str>, word: String) -> clap::Error {
    let tip = match option {
        Some(option) => format!("to send it as a text, write --{option}='{word}', or - and the text on stdin"),
        None => "to send it as a text, write - and the text on stdin; put options after the text".to_owned(),
    };
    let mut error = clap::Error::new(ErrorKind::UnknownArgument).with_cmd(command);
    error.insert(ContextKind::InvalidArg, ContextValue::String(word));
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    error
}

/// Removes the tip that `--` makes a value of a word: here, the server's command follows it.
pub(super) fn without_separator_tip(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::StyledStrs(mut tips)) = error.remove(ContextKind::Suggested) {
        tips.retain(|tip| !tip.to_string().starts_with("to pass "));
        if !tips.is_empty() {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
    let words = own_words();
    let command = |place: usize| words.get(place).and_then(|word| word.to_str()).unwrap_or_default();
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg)
        && let Some(tip) = tip(command(0), command(1), word)
    {
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}

/// What the user of a command probably meant by a word that it does not know.
fn tip(command: &str, inner: &str, word: &str) -> Option<&'static str> {
    Some(match (command, inner, word.split('=').next()?) {
        ("fire", _, "--url") => {
            "this message goes to a host, not to a server; --session NAME sends it in a live session"
        }
        ("show", _, "--tail") => "--last COUNT shows the last events",
        ("show", _, "--head") => "--limit COUNT shows the first events",
        ("fire", _, "--jq") => "--format json prints JSON: mcpreel fire … --format json | jq …",
        ("fire", "user-message", word) if !word.starts_with('-') => "put a text of several words in quotes",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_begins_with_a_hyphen_is_no_option() {
        for (word, is_option) in [
            ("- item", false),
            ("-n hello", false),
            ("--- a heading", false),
            ("-5", false),
            ("-", false),
            ("hello", false),
            ("-n", true),
            ("-item", true),
            ("--session", true),
            ("--session=a", true),
            ("--", true),
        ] {
            assert_eq!(looks_like_option(word), is_option, "{word}");
        }
    }
}
