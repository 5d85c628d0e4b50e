//! What the user of `call` probably meant.

use crate::cli::own_line;
use crate::error::CommandError;
use crate::proposals::clip;
use crate::protocol::{Era, Revision, errors, methods};
use crate::runtime::parameters;
use serde_json::Value;

/// The least likeness of a mistyped method to the one that was meant.
const LIKENESS: f32 = 0.75;
/// The same for names of tools and arguments.
const LIKENESS_OF_NAMES: f32 = 0.6;
/// The length of a list of names, in characters.
const LISTED_CHARS: usize = 200;

/// Adds the corrected line to an error about the words of the params, if one of them is only a name or URI.
pub(super) fn on_words(error: CommandError, method: &str, words: &[String]) -> CommandError {
    match Naming::of(method, words) {
        Some(naming) => {
            error.hint(format!("did you mean: {}", own_line::rewritten(|word| vec![naming.word_for(word, words)])))
        }
        None => error,
    }
}

/// The one word of the params that is only a name or URI.
struct Naming<'a> {
    method: &'a str,
    member: &'static str,
    word: &'a str,
}

impl<'a> Naming<'a> {
    fn of(method: &'a str, words: &'a [String]) -> Option<Self> {
        let member = named_by(method)?;
        let mut bare = words.iter().filter(|word| !parameters::is_parameter(word));
        let word = bare.next().filter(|_| bare.next().is_none())?;
        let is_named = words.iter().any(|word| word.starts_with(&format!("{member}=")));
        (!is_named).then_some(Self { method, member, word })
    }

    fn word_for(&self, word: &str, params: &[String]) -> String {
        if word == self.word {
            return format!("{}={word}", self.member);
        }
        let is_argument = has_arguments(self.method) && params.iter().any(|param| param == word) && is_argument(word);
        if is_argument { as_argument(word) } else { word.to_owned() }
    }
}

/// Whether the params of a method have `arguments`.
fn has_arguments(method: &str) -> bool {
    matches!(method, "tools/call" | "prompts/get")
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
    Some(match replaced {
        Correction::Text => format!("arguments was sent as text; for JSON, write arguments:=… : {line}"),
        _ => format!("did you mean: {line}"),
    })
}

/// Whether an answer may say that there is no such tool or argument. `content` is a result or an error.
pub(super) fn may_be_misspelt(method: &str, content: &Value) -> bool {
    let says = |text: &str| {
        let text = text.to_ascii_lowercase();
        ["unknown", "not found", "no such", "invalid", "validation", "missing", "required", "unexpected", "key"]
            .iter()
            .any(|word| text.contains(word))
    };
    let texts = content["content"].as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
    method == "tools/call" && content["message"].as_str().into_iter().chain(texts).any(says)
}

/// What was probably meant by the name of a tool or of an argument that the server does not have. `listed` is its list of
/// tools.
pub(super) fn on_names(params: &Value, listed: &Value) -> Option<String> {
    let tools = listed["tools"].as_array()?;
    let name = params["name"].as_str()?;
    let Some(tool) = tools.iter().find(|tool| tool["name"] == name) else {
        let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
        return Some(match near(name, &names) {
            Some(near) => format!("the server has no tool {name:?}; did you mean {near}?"),
            None => format!("the server has no tool {name:?}; it has {}", clip(&names.join(", "), LISTED_CHARS)),
        });
    };
    let known: Vec<&str> = tool["inputSchema"]["properties"].as_object()?.keys().map(String::as_str).collect();
    let wrong = params["arguments"].as_object()?.keys().find(|key| !known.contains(&key.as_str()))?;
    Some(match near(wrong, &known) {
        Some(near) => format!("{name} has no argument {wrong:?}; did you mean {near}?"),
        None => format!("{name} has no argument {wrong:?}; it has {}", clip(&known.join(", "), LISTED_CHARS)),
    })
}

/// What was probably meant by arguments that are texts, although the schema of their tool wants something else. `words` are
/// those of the params on the command line.
pub(super) fn on_types(params: &Value, listed: &Value, words: &[String]) -> Option<String> {
    let tool = listed["tools"].as_array()?.iter().find(|tool| tool["name"] == params["name"])?;
    let (name, wanted) = words.iter().find_map(|word| sent_as_text(word, tool))?;
    let line = own_line::rewritten(|word| {
        vec![if sent_as_text(word, tool).is_some() { word.replacen('=', ":=", 1) } else { word.to_owned() }]
    });
    Some(format!("{name} is of type {wanted}, but = sends text; did you mean: {line}"))
}

/// The name of an argument that a word sends as text, and the other type that the tool's schema wants.
fn sent_as_text<'a>(word: &'a str, tool: &'a Value) -> Option<(&'a str, &'a str)> {
    let (name, text) = word.strip_prefix("arguments.")?.split_once('=')?;
    let wanted = tool["inputSchema"]["properties"][name]["type"].as_str()?;
    let is_other = matches!(wanted, "number" | "integer" | "boolean" | "array" | "object");
    let may_be_json = text.starts_with('@') || serde_json::from_str::<Value>(text).is_ok();
    (is_other && may_be_json).then_some((name, wanted))
}

/// What to do about a method that the server does not know because its revision has no such method.
pub(super) fn on_era(method: &str, era: Era, content: &Value) -> Option<String> {
    let until = methods::lookup(method)?.until;
    let is_unknown = era == Era::Modern && content["code"] == errors::METHOD_NOT_FOUND;
    (is_unknown && until < Revision::NEWEST).then(|| {
        let newest = Revision::NEWEST.as_str();
        format!("{method} is not part of revision {newest}; --era legacy speaks an earlier one, if the server does")
    })
}

fn near<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    similar::get_close_matches(word, known, 1, LIKENESS_OF_NAMES).first().copied()
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
    /// The arguments are a text, and should be JSON.
    Text,
}

impl Correction {
    fn of(method: &str, params: &[String]) -> Option<Self> {
        if methods::lookup(method).is_some() {
            let params = params.iter().filter(|_| has_arguments(method));
            if params.clone().any(|word| word.starts_with(ARGUMENTS_AS_TEXT)) {
                return Some(Self::Text);
            }
            let is_whole = params.clone().count() == 1;
            let is_beside = params.into_iter().any(|word| is_argument(word) || !is_whole && is_object(word));
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
            Self::Text => vec![match word.strip_prefix(ARGUMENTS_AS_TEXT).filter(|_| is_param) {
                Some(text) => format!("arguments:={text}"),
                None => word.to_owned(),
            }],
            Self::Tool | Self::Arguments if is_param && is_argument(word) => vec![as_argument(word)],
            Self::Tool | Self::Arguments if is_param && is_object(word) => vec![format!("arguments:={word}")],
            _ => vec![word.to_owned()],
        }
    }
}

/// How a word begins that sets the arguments to a text.
const ARGUMENTS_AS_TEXT: &str = "arguments=";

/// A parameter as one of the arguments.
fn as_argument(word: &str) -> String {
    format!("arguments.{word}")
}

/// Whether a parameter is an object of members that params of a call do not have.
fn is_object(word: &str) -> bool {
    let members = serde_json::from_str::<Value>(word).ok();
    let members = members.as_ref().and_then(Value::as_object);
    members.is_some_and(|members| !members.keys().any(|key| MEMBERS.contains(&key.as_str())))
}

/// The members of the params of a call.
const MEMBERS: [&str; 6] = ["name", "arguments", "_meta", "task", "inputResponses", "requestState"];

/// Whether a parameter sets a member that params of a call do not have.
fn is_argument(word: &str) -> bool {
    let name = word.split(['=', ':', '.']).next().unwrap_or_default();
    let is_member = word.contains('=') && !word.starts_with(['{', '@', '=']);
    is_member && !MEMBERS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
            ("tools/call", &["name=echo", "{\"m\":1}"], Some("tools/call name=echo arguments:={\"m\":1}")),
            ("tools/call", &["name=echo", "{\"arguments\":{}}"], None),
            ("tools/call", &["name=echo", "arguments={}"], Some("tools/call name=echo arguments:={}")),
            ("tools/call", &["name=echo", "arguments=@a.json"], Some("tools/call name=echo arguments:=@a.json")),
            ("vendor/own", &["a=1"], None),
            ("tools/list", &["cursor=x"], None),
        ] {
            assert_eq!(corrected(method, params).as_deref(), expected, "{method} {params:?}");
        }
    }

    #[test]
    fn a_method_of_the_earlier_era_is_named() {
        let unknown = json!({"code": -32601, "message": "?"});
        let advice = on_era("ping", Era::Modern, &unknown).expect("advice");
        assert!(advice.starts_with("ping is not part of revision 2026-07-28; --era legacy"), "{advice}");
        for (method, era, content) in [
            ("ping", Era::Legacy, &unknown),
            ("tools/list", Era::Modern, &unknown),
            ("vendor/own", Era::Modern, &unknown),
            ("ping", Era::Modern, &json!({"code": -32602})),
        ] {
            assert_eq!(on_era(method, era, content), None, "{method} {content}");
        }
    }

    #[test]
    fn a_word_that_is_only_a_name_is_named() {
        let named = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let naming = Naming::of("tools/call", &words)?;
            Some(words.iter().map(|word| naming.word_for(word, &words)).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(named(&["convert", "celsius:=10"]).as_deref(), Some("name=convert arguments.celsius:=10"));
        assert_eq!(named(&["convert"]).as_deref(), Some("name=convert"));
        assert_eq!(named(&["name=convert", "celsius"]), None);
        assert_eq!(named(&["one", "two"]), None);
    }

    #[test]
    fn a_misspelt_name_finds_the_near_one() {
        let listed = json!({"tools": [{"name": "convert", "inputSchema": {"properties": {"celsius": {}}}}]});
        let advice = |params: Value| on_names(&params, &listed);
        let says = |params: Value, text: &str| assert!(advice(params).is_some_and(|found| found.contains(text)));
        says(json!({"name": "convrt"}), "did you mean convert?");
        says(json!({"name": "xyz"}), "it has convert");
        says(json!({"name": "convert", "arguments": {"celcius": 1}}), "did you mean celsius?");
        assert_eq!(advice(json!({"name": "convert", "arguments": {"celsius": 1}})), None);
        let numbers = json!({"tools": [{"name": "sum", "inputSchema": {"properties":
            {"a": {"type": "number"}, "b": {"type": "string"}, "c": {"type": "boolean"}}}}]});
        let advice = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            on_types(&json!({"name": "sum"}), &numbers, &words)
        };
        for words in [&["arguments.a=1"][..], &["arguments.b=1", "arguments.a=@number"], &["arguments.a=-1e9"]] {
            assert!(advice(words).is_some_and(|found| found.starts_with("a is of type number, but")), "{words:?}");
        }
        for words in [&["arguments.a:=1"][..], &["arguments.b=1"], &["arguments.c=yes"], &["a=1"], &["arguments.d=1"]] {
            assert_eq!(advice(words), None, "{words:?}");
        }
        assert!(may_be_misspelt("tools/call", &json!({"code": -32602, "message": "Unknown tool: convrt"})));
        assert!(!may_be_misspelt("tools/call", &json!({"content": [{"type": "text", "text": "disk full"}]})));
    }
}
