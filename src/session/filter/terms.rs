//! The terms of the language, with their values.

use super::{Extension, FilterError, Limit, Term, mistakes};
use crate::proposals::Registry;
use crate::trace::EventKind;
use crate::wire::units::{parse_size, parse_time};
use crate::wire::{Direction, MessageKind};
use globset::{GlobBuilder, GlobMatcher};
use std::ops::RangeInclusive;

/// All terms with an example and a description, for help texts and error messages.
pub(crate) const TERMS: &[(&str, &str)] = &[
    ("method:tools/*", "the method; for a response, that of its request; * and ? are wildcards"),
    ("dir:s2c", "the direction: c2s or s2c"),
    ("tool:Bash", "the tool that is called; also matches the response"),
    (
        "ext:mcpl",
        "messages and declarations of a proposal (conversation, reminder, mcpl, hooks, mcpe) or of a pack, by its name",
    ),
    (
        "kind:notification",
        "request, notification, result, error, response, batch, unclassified, malformed, noise, blank",
    ),
    ("event:stderr", "message, stderr, stream-opened, stream-closed, transport, gap, note"),
    ("id:7", "the request id"),
    ("stream:0", "the stream's number"),
    ("seq:12..20", "the event's number, or the first and the last"),
    ("error", "JSON-RPC errors, tool errors, malformed lines, HTTP failures, a server that exits with an error"),
    ("injected", "messages injected by mcpreel"),
    ("slow:>500ms", "responses by latency (>, >=, <, <=; ns, us, ms, s, m, h)"),
    ("size:>10k", "events by size (>, >=, <, <=; k, M, G)"),
    ("text:\"commit\"", "text anywhere in the message, ignoring the case of a to z"),
];

/// Parses one term.
///
/// # Errors
///
/// If there is no such term, or its value is not valid.
pub(super) fn parse_term(token: &str, registry: &Registry) -> Result<Term, FilterError> {
    let wrong = |reason: String| FilterError { reason, at: token.to_owned() };
    match token {
        "error" => return Ok(Term::Error),
        "injected" => return Ok(Term::Injected),
        _ => {}
    }
    let Some((name, value)) = token.split_once(':') else {
        return Err(wrong(mistakes::without_colon(token)));
    };
    if value.is_empty() && name != "text" {
        return Err(wrong("missing value after the colon".into()));
    }
    Ok(match name {
        "method" => Term::Method(glob(value).map_err(wrong)?),
        "tool" => Term::Tool(glob(value).map_err(wrong)?),
        "dir" => Term::Direction(Direction::from_short(value).ok_or_else(|| wrong("expected c2s or s2c".into()))?),
        "ext" => {
            let known = registry.by_name(value);
            let unknown = || wrong(format!("unknown proposal or pack; expected one of {}", registry.names()));
            Term::Extension(Extension(known.ok_or_else(unknown)?.descriptor()))
        }
        "kind" => Term::Kind(
            kinds(value)
                .ok_or_else(|| wrong(format!("unknown kind of message; expected one of {}", meaning_of("kind"))))?,
        ),
        "event" => Term::Event(
            EventKind::from_name(value)
                .ok_or_else(|| wrong(format!("unknown kind of event; expected one of {}", meaning_of("event"))))?,
        ),
        "id" => Term::Id(value.to_owned()),
        "stream" => Term::Stream(value.parse().map_err(|_| wrong("expected the number of a stream".into()))?),
        "seq" => {
            let numbers = numbers(value).ok_or_else(|| wrong("expected seq:N or seq:N..M".into()))?;
            if numbers.is_empty() {
                let (first, last) = numbers.into_inner();
                return Err(wrong(format!(
                    "the first number is greater than the last; did you mean seq:{last}..{first}?"
                )));
            }
            Term::Seq(numbers)
        }
        "slow" => Term::Slow(limit(value, nanoseconds).map_err(wrong)?),
        "size" => Term::Size(limit(value, bytes).map_err(wrong)?),
        "text" => Term::Text(value.as_bytes().to_vec()),
        _ => return Err(wrong(mistakes::unknown_name(name, value))),
    })
}

/// Parses `N` or `N..M`.
fn numbers(text: &str) -> Option<RangeInclusive<u64>> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    Some(first.parse().ok()?..=last.parse().ok()?)
}

/// Returns the values that `kind:`, `event:` or `dir:` can have.
pub(crate) fn values_of(name: &str) -> Vec<&'static str> {
    match name {
        "dir" => vec!["c2s", "s2c"],
        _ => meaning_of(name).split(", ").collect(),
    }
}

/// Returns the description of a term.
pub(super) fn meaning_of(name: &str) -> &'static str {
    let is_it = |term: &&(&str, &'static str)| term.0.split_once(':').is_some_and(|(found, _)| found == name);
    TERMS.iter().find(is_it).map_or("", |term| term.1)
}

fn glob(pattern: &str) -> Result<GlobMatcher, String> {
    GlobBuilder::new(pattern)
        .literal_separator(false)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| error.kind().to_string())
}

pub(super) fn kinds(name: &str) -> Option<Vec<MessageKind>> {
    if name == "response" {
        return Some(vec![MessageKind::Result, MessageKind::Error]);
    }
    MessageKind::ALL.into_iter().find(|kind| kind.name() == name).map(|kind| vec![kind])
}

fn limit(text: &str, parse: impl Fn(&str) -> Result<i64, String>) -> Result<Limit, String> {
    let (at_least, inclusive, number) = match text.as_bytes() {
        [b'>', b'=', ..] => (true, true, &text[2..]),
        [b'<', b'=', ..] => (false, true, &text[2..]),
        [b'>', ..] => (true, false, &text[1..]),
        [b'<', ..] => (false, false, &text[1..]),
        _ => (true, true, text),
    };
    parse(number).map(|value| Limit { at_least, inclusive, value })
}

fn nanoseconds(text: &str) -> Result<i64, String> {
    parse_time(text).map(|time| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX))
}

fn bytes(text: &str) -> Result<i64, String> {
    parse_size(text).map(u64::cast_signed)
}
