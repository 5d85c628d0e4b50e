//! What to say about a term that does not exist: what the user probably meant.

use super::terms::{TERMS, meaning_of};

/// The least likeness of a misspelt term.
const LIKENESS: f32 = 0.7;
/// The units of `slow:` and `size:`.
const UNITS: [&str; 8] = ["ns", "us", "ms", "s", "m", "k", "M", "G"];

/// Why a word without a colon is no term.
pub(super) fn without_colon(word: &str) -> String {
    if let Some(instead) = operator(word) {
        return format!("unknown term; did you mean {instead}? Filters combine terms with and, or and not");
    }
    if let Some(term) = meant(word) {
        return format!("unknown term; did you mean {term}? To search for text, use text:{word}");
    }
    let (name, value) = word.split_at(word.find(['=', '<', '>']).unwrap_or(word.len()));
    if !meaning_of(name).is_empty() {
        return match value.strip_prefix('=').unwrap_or(value) {
            "" => format!("unknown term; after {name}, a colon and a value are expected, as in {name}:…"),
            value => format!("unknown term; did you mean {name}:{value}?"),
        };
    }
    if word.contains('/') {
        return format!("unknown term; did you mean method:{word}? To search for text, use text:{word}");
    }
    if word.parse::<u64>().is_ok() {
        return format!(
            "unknown term; to select an event by its number, use seq:{word}, by its request's id, id:{word}"
        );
    }
    if UNITS.contains(&word) {
        return "unknown term; a unit follows its number without a space, as in slow:>500ms or size:>10k".into();
    }
    format!("unknown term; use tool:{word} for a tool, or text:{word} to search for text")
}

/// Why a name before a colon is no term.
pub(super) fn unknown_name(name: &str, value: &str) -> String {
    let names: Vec<_> = TERMS.iter().filter_map(|term| term.0.split(':').next()).collect();
    match similar::get_close_matches(name, &names, 1, LIKENESS).first() {
        Some(&near @ ("error" | "injected")) => format!("unknown term; did you mean {near}?"),
        Some(near) => format!("unknown term; did you mean {near}:{value}?"),
        None => format!("unknown term; expected one of {}", names.join(", ")),
    }
}

/// The term that a user probably meant by a word without a colon.
pub(super) fn meant(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "slow" | "slowest" | "latency" | "slower" => "slow:>500ms",
        "errors" | "err" | "fail" | "failed" | "failures" => "error",
        "large" | "big" | "size" => "size:>10k",
        "requests" | "request" => "kind:request",
        "responses" | "response" => "kind:response",
        "notifications" | "notification" => "kind:notification",
        "stderr" => "event:stderr",
        "client" => "dir:c2s",
        "server" => "dir:s2c",
        "tools" => "method:tools/*",
        _ => {
            let bare: Vec<_> = TERMS.iter().map(|term| term.0).filter(|term| !term.contains(':')).collect();
            return similar::get_close_matches(word, &bare, 1, LIKENESS).first().copied();
        }
    })
}

/// The operator, or the negated term, that a user probably meant.
fn operator(word: &str) -> Option<String> {
    Some(match word {
        "&" | "&&" | "AND" | "And" => "and".to_owned(),
        "|" | "||" | "OR" | "Or" => "or".to_owned(),
        "!" | "NOT" | "Not" => "not".to_owned(),
        _ => format!("not {}", word.strip_prefix(['!', '-'])?),
    })
}
