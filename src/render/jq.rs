//! `--jq` and `--expect`: a jq program that is run on JSON objects, with the jaq crates.

use super::text::{Escaping, printable};
use crate::proposals::clip;
use crate::wire::{json, tree};
use jaq_core::data::JustLut;
use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Filter, Vars, unwrap_valr};
use jaq_json::{Val, read};
use std::io::Write;
use std::rc::Rc;

/// The maximum nesting of objects: jaq recurses for each level, and a peer could overflow the stack.
const MAX_DEPTH: usize = 10_000;
/// The maximum number of bytes of the input that are shown if an expectation is not met.
const MAX_SEEN: usize = 200;
/// Objects that are nested deeper than this are processed on a thread with a larger stack.
const DEEP: usize = 500;
/// The size of that stack, in bytes. Only what is used takes memory.
const STACK_BYTES: usize = 128 << 20;

/// A compiled program.
pub(crate) struct Jq {
    filter: Filter<JustLut<Val>>,
    /// Whether control characters in strings are made visible, because the output may be a terminal.
    for_terminal: bool,
}

impl Jq {
    /// Compiles the program of an option.
    ///
    /// # Errors
    ///
    /// The program is invalid.
    pub(crate) fn compile(option: &str, code: &str) -> Result<Self, String> {
        let wrong = |what: &str| format!("{option}: {what} in {code:?}");
        let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
        let functions = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
        let arena = Arena::default();
        let modules =
            Loader::new(definitions).load(&arena, File { code, path: () }).map_err(|_| wrong("a syntax error"))?;
        let filter = Compiler::default().with_funs(functions).compile(modules).map_err(|errors| {
            let names: Vec<String> = errors
                .into_iter()
                .flat_map(|(_, undefined)| undefined)
                .map(|(name, _)| format!("{name:?} is not defined"))
                .collect();
            wrong(&names.join(", "))
        })?;
        Ok(Self { filter, for_terminal: false })
    }

    /// Sets whether strings are printed for a terminal.
    #[must_use]
    pub(crate) fn printing(self, for_terminal: bool) -> Self {
        Self { for_terminal, ..self }
    }

    /// Runs the program on an object, with `message` as the JSON text of its member of that name, if given. Writes
    /// each output to `out` as a line, until one cannot be written; `out` must report that itself.
    ///
    /// # Errors
    ///
    /// The program fails, or the object is nested too deeply or has too many values.
    pub(crate) fn run(
        &self,
        object: &[u8],
        message: Option<&[u8]>,
        out: &mut (impl Write + Send),
    ) -> Result<(), String> {
        self.each(object, message, |output| {
            let written = match output {
                Val::TStr(text) if self.for_terminal => {
                    out.write_all(printable(&String::from_utf8_lossy(&text), false).as_bytes())
                }
                Val::TStr(text) => out.write_all(&text),
                value => write!(Escaping(&mut *out), "{value}"),
            };
            written.and_then(|()| out.write_all(b"\n")).is_ok()
        })
    }

    /// Why the program, whose text is `code`, is not true for a JSON text; `None` if it is: it has outputs, and none of
    /// them is `false` or `null`.
    pub(crate) fn unmet(&self, code: &str, text: &[u8]) -> Option<String> {
        let mut seen = "nothing";
        let ran = self.each(text, None, |output| {
            seen = match output {
                Val::Null => "null",
                Val::Bool(false) => "false",
                _ => "",
            };
            seen.is_empty()
        });
        let input = String::from_utf8_lossy(text);
        let input = clip(&input, MAX_SEEN);
        match ran {
            Err(error) => Some(format!("cannot evaluate {code}: {error}; the input: {input}")),
            Ok(()) if seen.is_empty() => None,
            Ok(()) => Some(format!("expected {code}, but got {seen} from {input}")),
        }
    }

    /// Passes outputs to `take` until it returns false.
    fn each(&self, text: &[u8], message: Option<&[u8]>, take: impl FnMut(Val) -> bool + Send) -> Result<(), String> {
        for text in [Some(text), message].into_iter().flatten() {
            tree::fits(text).map_err(|too_large| too_large.to_string())?;
        }
        let depth = json::depth(text).max(message.map_or(0, |message| json::depth(message) + 1));
        if depth <= DEEP {
            return self.each_here(text, message, take);
        }
        if depth > MAX_DEPTH {
            return Err(format!("it is nested {depth} levels deep; the maximum is {MAX_DEPTH}"));
        }
        std::thread::scope(|scope| {
            let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
            let work =
                builder.spawn_scoped(scope, || self.each_here(text, message, take)).map_err(|error| error.to_string());
            work?.join().map_err(|_| "the thread for deeply nested events failed".to_owned())?
        })
    }

    fn each_here(&self, text: &[u8], message: Option<&[u8]>, mut take: impl FnMut(Val) -> bool) -> Result<(), String> {
        let parse = |text| read::parse_single(text).map_err(|error| error.to_string());
        let mut input = parse(text)?;
        if let (Val::Obj(members), Some(message)) = (&mut input, message) {
            Rc::make_mut(members).insert(Val::utf8_str(&b"message"[..]), parse(message)?);
        }
        let context = Ctx::<JustLut<Val>>::new(&self.filter.lut, Vars::new([]));
        for output in self.filter.id.run((context, input)).map(unwrap_valr) {
            if !take(output.map_err(|error| error.to_string())?) {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(code: &str, text: &str) -> Result<String, String> {
        let mut out = Vec::new();
        Jq::compile("--jq", code)?.run(text.as_bytes(), None, &mut out)?;
        String::from_utf8(out).map_err(|error| error.to_string())
    }

    #[test]
    fn programs_select_and_print() {
        assert_eq!(run("select(.a > 1) | .b", r#"{"a":2,"b":"x"}"#), Ok("x\n".into()));
        assert_eq!(run("select(.a > 2)", r#"{"a":2}"#), Ok(String::new()));
        assert_eq!(run(".a[]", r#"{"a":[1.0,{"c":1}]}"#), Ok("1.0\n{\"c\":1}\n".into()));
        assert!(run(".a |", "{}").expect_err("refused").contains("syntax"));
        assert!(run("nope", "{}").expect_err("refused").contains("nope"));
    }

    #[test]
    fn a_message_takes_its_place_in_the_object() {
        let mut out = Vec::new();
        let jq = Jq::compile("--jq", ".").expect("compiles");
        jq.run(br#"{"seq":1,"message":null,"kind":"noise"}"#, Some(b"[1]"), &mut out).expect("runs");
        assert_eq!(out, b"{\"seq\":1,\"message\":[1],\"kind\":\"noise\"}\n");
        let deep = "[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH);
        let refused = jq.run(b"{}", Some(deep.as_bytes()), &mut out).expect_err("one level too deep");
        assert!(refused.contains("10001 levels"), "{refused}");
    }

    #[test]
    fn what_is_nested_too_deep_for_the_stack_is_refused() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(run("length", &nested(MAX_DEPTH)), Ok("1\n".into()));
        assert!(run("length", &nested(100_000)).expect_err("refused").contains("100000 levels"));
    }

    #[test]
    fn what_holds_is_neither_false_nor_null_nor_nothing() {
        let text = r#"{"a":1,"b":[true,null]}"#;
        let unmet = |code: &str| Jq::compile("--expect", code).expect("compiles").unmet(code, text.as_bytes());
        assert_eq!(unmet(".a == 1"), None);
        assert_eq!(unmet(".a"), None);
        for (untrue, seen) in [(".a == 2", "false"), (".c", "null"), ("empty", "nothing"), (".b[]", "null")] {
            assert_eq!(unmet(untrue), Some(format!("expected {untrue}, but got {seen} from {text}")));
        }
        let failed = unmet(".a.b").expect("it cannot run");
        assert!(
            failed.starts_with("cannot evaluate .a.b: ") && failed.ends_with(&format!("; the input: {text}")),
            "{failed}"
        );
        let long = format!("[\"{}\"]", "x".repeat(999));
        let shown = Jq::compile("--expect", ".[1]").expect("compiles").unmet(".[1]", long.as_bytes()).expect("null");
        assert!(shown.len() < 300, "{shown}");
    }
}
