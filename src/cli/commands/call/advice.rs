//! What the user of `call` probably meant.

use crate::cli::own_line;
use crate::error::CommandError;
use crate::protocol::methods;

/// The least likeness of a mistyped method to the one that was meant.
const LIKENESS: f32 = 0.75;

/// Adds the corrected line to an error about the words of the params, if the only one is a name or URI.
pub(super) fn on_words(error: CommandError, method: &str, words: &[String]) -> CommandError {
    match (named_by(method), words) {
        (Some(member), [word]) if !word.contains(['=', '{', '@']) => {
            let named = format!("{member}={word}");
            error.hint(own_line::rewritten(|own| vec![if own == word { named.clone() } else { own.to_owned() }]))
        }
        _ => error,
    }
}

/// The member of a method's params that names what it is about.
fn named_by(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        _ => None,
    }
}

/// Advice if a request failed, as notes.
pub(super) fn on_answer(method: &str, params: &[String]) -> Option<String> {
    let replaced = Correction::of(method, params)?;
    let line = own_line::rewritten(|word| replaced.words_for(word, method, params));
    Some(format!("did you mean: {line}"))
}

/// How a command line is corrected.
#[derive(Debug, PartialEq, Eq)]
enum Correction {
    /// Another method.
    Method(&'static str),
    /// The method is a tool's name.
    Tool,
    /// Members of the arguments stand beside them.
    Arguments,
}

impl Correction {
    fn of(method: &str, params: &[String]) -> Option<Self> {
        if methods::lookup(method).is_some() {
            let is_beside =
                matches!(method, "tools/call" | "prompts/get") && params.iter().any(|word| is_argument(word));
            return is_beside.then_some(Self::Arguments);
        }
        let names: Vec<&'static str> = methods::CORE.iter().map(|spec| spec.name).collect();
        match similar::get_close_matches(method, &names, 1, LIKENESS).first() {
            Some(near) => Some(Self::Method(near)),
            None => (!method.contains('/')).then_some(Self::Tool),
        }
    }

    /// The words in place of one of the command line.
    fn words_for(&self, word: &str, method: &str, params: &[String]) -> Vec<String> {
        let is_param = params.iter().any(|param| param == word);
        match self {
            Self::Method(near) if word == method => vec![(*near).to_owned()],
            Self::Tool if word == method => vec!["tools/call".to_owned(), format!("name={method}")],
            Self::Tool | Self::Arguments if is_param && is_argument(word) => vec![format!("arguments.{word}")],
            _ => vec![word.to_owned()],
        }
    }
}

/// Whether a parameter sets a member that params of a call do not have.
fn is_argument(word: &str) -> bool {
    let name = word.split(['=', ':', '.']).next().unwrap_or_default();
    let is_member = word.contains('=') && !word.starts_with(['{', '@', '=']);
    is_member && !["name", "arguments", "_meta", "task", "inputResponses", "requestState"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corrected(method: &str, params: &[&str]) -> Option<String> {
        let params: Vec<String> = params.iter().map(|word| (*word).to_owned()).collect();
        let correction = Correction::of(method, &params)?;
        let words = std::iter::once(method.to_owned()).chain(params.iter().cloned());
        let words: Vec<String> = words.flat_map(|word| correction.words_for(&word, method, &params)).collect();
        Some(words.join(" "))
    }

    #[test]
    fn what_was_probably_meant_is_a_line_that_works() {
        for (method, params, expected) in [
            ("tool/list", &[][..], Some("tools/list")),
            ("tools/lst", &[], Some("tools/list")),
            ("resource/read", &["uri=a:b"], Some("resources/read uri=a:b")),
            ("get-sum", &["a:=1", "b:=2"], Some("tools/call name=get-sum arguments.a:=1 arguments.b:=2")),
            ("echo", &["arguments.message=hi"], Some("tools/call name=echo arguments.message=hi")),
            ("tools/call", &["name=echo", "message=a=b"], Some("tools/call name=echo arguments.message=a=b")),
            ("tools/call", &["name=echo", "arguments:={}", "_meta.x=1"], None),
            ("tools/call", &["{\"name\":\"echo\"}"], None),
            ("vendor/own", &["a=1"], None),
            ("tools/list", &["cursor=x"], None),
        ] {
            assert_eq!(corrected(method, params).as_deref(), expected, "{method} {params:?}");
        }
    }
}
