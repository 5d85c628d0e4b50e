//! A reel and a filter on a command line: `session.reel tool:echo`.

use crate::error::{CommandError, ErrorKind};
use crate::files::reels;
use crate::proposals::Registry;
use crate::protocol::methods;
use crate::session::filter::Filter;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Splits the words into a reel and a filter. The first word names a reel if it is an existing file, `-`, ends in `.reel`,
/// or is not UTF-8.
///
/// # Errors
///
/// The first word can only mean a file, which does not exist, or another word is a reel.
pub(super) fn split_words(words: &[OsString]) -> Result<(Option<&Path>, String), CommandError> {
    let (path, words) = match words.split_first() {
        Some((first, rest)) if names_file(first) => (Some(Path::new(first)), terms(rest)?),
        _ => (None, terms(words)?),
    };
    if let (None, Some(first)) = (path, words.first())
        && is_like_a_path(first)
    {
        let missing = CommandError::new(ErrorKind::Input, format!("no such file: {first}"));
        return Err(match methods::lookup(first) {
            Some(_) => missing.hint(format!("to select messages by their method, write method:{first}")),
            None => missing,
        });
    }
    if let Some(extra) = words.iter().find(|word| word.ends_with(".reel") && !word.contains([':', '"', ' '])) {
        return Err(match path {
            Some(_) => CommandError::usage(format!("only one reel is allowed, and {extra:?} is a second one"))
                .hint("to compare two reels, use `mcpreel diff`"),
            None => CommandError::usage(format!("the reel comes first, then the filter; {extra:?} comes last")),
        });
    }
    Ok((path, words.join(" ")))
}

/// Returns words that are all of a filter, as its text.
///
/// # Errors
///
/// They are not UTF-8.
pub(super) fn filter_of(words: &[OsString]) -> Result<String, CommandError> {
    Ok(terms(words)?.join(" "))
}

fn terms(words: &[OsString]) -> Result<Vec<&str>, CommandError> {
    let text = |word: &OsString| CommandError::usage(format!("the filter {} is not UTF-8", word.display()));
    words.iter().map(|word| word.to_str().ok_or_else(|| text(word))).collect()
}

fn names_file(word: &OsStr) -> bool {
    match word.to_str() {
        Some(text) => text == "-" || text.ends_with(".reel") || Path::new(text).exists() || names_reel(text),
        None => true,
    }
}

/// Whether a word that is no term of a filter is the name of a reel without its ending.
fn names_reel(word: &str) -> bool {
    let is_term = word.contains([':', '(', '"']) || ["error", "injected", "not"].contains(&word);
    !is_term && reels::found(Path::new(word)).is_file()
}

/// Whether a word that is not a file can only have been meant as one: terms with a slash have a colon before it.
fn is_like_a_path(word: &str) -> bool {
    word.starts_with(['.', '/'])
        || (word.ends_with(".jsonl") && !word.contains([':', '"', ' ']))
        || (word.contains('/') && !word.contains([':', '(', '"', ' ']))
}

/// Parses a filter.
///
/// # Errors
///
/// It is not valid.
pub(super) fn parse_filter(text: &str, registry: &Registry, is_reel_named: bool) -> Result<Filter, CommandError> {
    Filter::parse_knowing(text, registry).map_err(|error| {
        let error = CommandError::usage(error.to_string())
            .hint("example of a filter: method:tools/* slow:>500ms; `mcpreel show --help` lists all terms");
        if is_reel_named {
            error
        } else {
            error
                .hint("a word names a reel only if it ends in .reel or the file exists; `mcpreel reel list` names reels and labels")
        }
    })
}

/// Splits the words into reels or folders, and a filter. The first word is as in [`split_words`]; the words after it are
/// reels, too, if they end in `.reel` or `.jsonl`, or if they exist and are no terms of a filter.
///
/// # Errors
///
/// The first word can only mean a file, which does not exist, or a reel comes after the filter.
pub(super) fn split_reels<'a>(
    words: &'a [OsString],
    registry: &Registry,
) -> Result<(Vec<&'a Path>, String), CommandError> {
    let first = &words[..words.len().min(1)];
    let Some(path) = split_words(first)?.0 else { return split_words(words).map(|(_, terms)| (Vec::new(), terms)) };
    let is_named = |word: &OsStr| match word.to_str() {
        Some(text) => (text.ends_with(".reel") || text.ends_with(".jsonl")) && !text.contains([':', '"', ' ']),
        None => true,
    };
    let exists = |word: &OsStr| {
        Path::new(word).exists() && word.to_str().is_none_or(|text| Filter::parse_knowing(text, registry).is_err())
    };
    let others = words[1..].iter().take_while(|word| is_named(word) || exists(word));
    let paths: Vec<&Path> = std::iter::once(path).chain(others.map(Path::new)).collect();
    let terms = &words[paths.len()..];
    match terms.iter().find(|word| is_named(word)) {
        Some(late) => {
            Err(CommandError::usage(format!("reels come first, then the filter; {:?} comes last", late.display())))
        }
        None => Ok((paths, filter_of(terms)?)),
    }
}
