//! `--jq` and `--expect`: a jq program that is run on JSON objects, with the jaq crates.
//!
//! A program may never end, and may overflow the stack or the memory of its process. So only a process that has nothing
//! else to do runs it (`cli/jq/`).

use super::text::{Escaping, json, printable};
use crate::wire::{self, tree};
use jaq_core::data::JustLut;
use jaq_core::load::{Arena, File, Loader, import};
use jaq_core::{Compiler, Ctx, Filter, Vars};
use jaq_json::{Num, Val, read};
use std::io::{self, Write};
use std::rc::Rc;

/// The maximum nesting of objects: jaq recurses for each level.
const MAX_DEPTH: usize = 10_000;

/// A compiled program.
pub(crate) struct Jq(Filter<JustLut<Val>>);

/// Why a program ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It failed, with a reason.
    Failed(String),
    /// It called `halt`, with this exit code.
    Halted(i32),
}

/// Something that a program puts out.
pub(crate) struct Output(Val);

impl Jq {
    /// Compiles a program.
    ///
    /// # Errors
    ///
    /// The program is invalid: what is wrong with it, in a few words.
    pub(crate) fn compile(code: &str) -> Result<Self, String> {
        let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
        let functions = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
        let arena = Arena::default();
        let modules =
            Loader::new(definitions).load(&arena, File { code, path: () }).map_err(|_| "a syntax error".to_owned())?;
        import(&modules, |_| Err(String::new())).map_err(|_| "`import` is not allowed".to_owned())?;
        let filter = Compiler::default().with_funs(functions).compile(modules).map_err(|errors| {
            let names = errors.into_iter().flat_map(|(_, undefined)| undefined);
            names.map(|(name, _)| format!("{name:?} is not defined")).collect::<Vec<_>>().join(", ")
        })?;
        Ok(Self(filter))
    }

    /// Runs the program on an object, with `message` as the JSON text of its member of that name, if given. Passes the
    /// outputs to `take` until that returns false.
    ///
    /// # Errors
    ///
    /// The program fails or halts, or the object is nested too deeply or has too many values.
    pub(crate) fn run(
        &self,
        object: &[u8],
        message: Option<&[u8]>,
        mut take: impl FnMut(Output) -> bool,
    ) -> Result<(), Stop> {
        for text in [Some(object), message].into_iter().flatten() {
            tree::fits(text).map_err(|too_large| Stop::Failed(too_large.to_string()))?;
        }
        let depth = |text| wire::json::depth(text);
        let depth = depth(object).max(message.map_or(0, |message| depth(message) + 1));
        if depth > MAX_DEPTH {
            return Err(Stop::Failed(format!("it is nested {depth} levels deep; the maximum is {MAX_DEPTH}")));
        }
        let parse = |text| read::parse_single(text).map_err(|error| Stop::Failed(error.to_string()));
        let mut input = parse(object)?;
        if let (Val::Obj(members), Some(message)) = (&mut input, message) {
            Rc::make_mut(members).insert(Val::utf8_str(&b"message"[..]), parse(message)?);
        }
        let context = Ctx::<JustLut<Val>>::new(&self.0.lut, Vars::new([]));
        for output in self.0.id.run((context, input)) {
            let output = output.map_err(|exception| match exception.get_err() {
                Ok(error) => Stop::Failed(error.to_string()),
                Err(other) => other.get_halt().map_or_else(|_| Stop::Failed("it breaks out".to_owned()), Stop::Halted),
            })?;
            if !take(Output(output)) {
                break;
            }
        }
        Ok(())
    }
}

impl Output {
    /// The name of an output that is not true; `None` for all others.
    pub(crate) fn untrue(&self) -> Option<&'static str> {
        match self.0 {
            Val::Null => Some("null"),
            Val::Bool(false) => Some("false"),
            _ => None,
        }
    }

    /// Writes the output as a line: a string as it is, or with control characters made visible if that is for a terminal,
    /// everything else as JSON.
    ///
    /// # Errors
    ///
    /// Writing failed.
    pub(crate) fn write(&self, for_terminal: bool, out: &mut impl Write) -> io::Result<()> {
        match &self.0 {
            Val::TStr(text) if for_terminal => {
                out.write_all(printable(&String::from_utf8_lossy(text), false).as_bytes())?;
            }
            Val::TStr(text) => out.write_all(text)?,
            value => write_json(value, &mut Escaping(&mut *out))?,
        }
        out.write_all(b"\n")
    }
}

/// Writes a value as JSON. As with jq, what is no number is null, and what is too large is the largest number. What JSON
/// does not have becomes text: other keys than strings, and bytes.
fn write_json(value: &Val, out: &mut impl Write) -> io::Result<()> {
    match value {
        Val::Num(Num::Float(number)) if number.is_nan() => out.write_all(b"null"),
        Val::Num(Num::Float(number)) if number.is_infinite() => {
            write!(out, "{}", serde_json::json!(number.clamp(f64::MIN, f64::MAX)))
        }
        Val::TStr(text) => out.write_all(json(&String::from_utf8_lossy(text)).as_bytes()),
        Val::BStr(bytes) => out.write_all(json(&String::from_utf8_lossy(bytes)).as_bytes()),
        Val::Null | Val::Bool(_) | Val::Num(_) => write!(out, "{value}"),
        Val::Arr(items) => {
            for (at, item) in items.iter().enumerate() {
                out.write_all(if at == 0 { b"[" } else { b"," })?;
                write_json(item, out)?;
            }
            out.write_all(if items.is_empty() { b"[]" } else { b"]" })
        }
        Val::Obj(members) => {
            for (at, (key, value)) in members.iter().enumerate() {
                out.write_all(if at == 0 { b"{" } else { b"," })?;
                match key {
                    Val::TStr(_) | Val::BStr(_) => write_json(key, out)?,
                    other => {
                        let mut text = Vec::new();
                        write_json(other, &mut text)?;
                        out.write_all(json(&String::from_utf8_lossy(&text)).as_bytes())?;
                    }
                }
                out.write_all(b":")?;
                write_json(value, out)?;
            }
            out.write_all(if members.is_empty() { b"{}" } else { b"}" })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(code: &str, text: &str) -> Result<String, Stop> {
        let mut out = Vec::new();
        let jq = Jq::compile(code).map_err(Stop::Failed)?;
        jq.run(text.as_bytes(), None, |output| output.write(false, &mut out).is_ok())?;
        Ok(String::from_utf8(out).expect("text"))
    }

    #[test]
    fn programs_select_and_print() {
        assert_eq!(run("select(.a > 1) | .b", r#"{"a":2,"b":"x"}"#), Ok("x\n".into()));
        assert_eq!(run("select(.a > 2)", r#"{"a":2}"#), Ok(String::new()));
        assert_eq!(run(".a[]", r#"{"a":[1.0,{"c":1}]}"#), Ok("1.0\n{\"c\":1}\n".into()));
        assert_eq!(run("[], {}, [{}], \"a\\u001b\"", "{}"), Ok("[]\n{}\n[{}]\na\u{1b}\n".into()));
    }

    #[test]
    fn a_program_that_cannot_run_is_refused() {
        let refused = |code: &str| Jq::compile(code).err().expect("refused");
        assert!(refused(".a |").contains("syntax") && refused("nope").contains("nope"));
        assert!(refused("import \"a\" as $d; $d").contains("import"));
        assert!(refused("include \"a\"; .").contains("syntax"));
    }

    #[test]
    fn a_program_that_halts_says_so() {
        assert_eq!(run("1, halt, 2", "{}"), Err(Stop::Halted(0)));
        assert_eq!(run("halt(7)", "{}"), Err(Stop::Halted(7)));
    }

    #[test]
    fn outputs_are_json_whatever_jaq_knows_besides() {
        for (code, text) in [
            ("[nan, infinite, -infinite]", "[null,1.7976931348623157e+308,-1.7976931348623157e+308]\n"),
            ("{(1|tostring): 1} | with_entries(.key |= 1)", "{\"1\":1}\n"),
            ("{a: nan}, nan", "{\"a\":null}\nnull\n"),
            ("[\"\\u202e\\u009b ##[error]\"]", "[\"\\u202e\\u009b ##\\u005berror]\"]\n"),
        ] {
            assert_eq!(run(code, "{}"), Ok(text.to_owned()), "{code}");
        }
    }

    #[test]
    fn a_message_takes_its_place_in_the_object() {
        let mut out = Vec::new();
        let jq = Jq::compile(".").expect("compiles");
        let object = br#"{"seq":1,"message":null,"kind":"noise"}"#;
        jq.run(object, Some(b"[1]"), |output| output.write(false, &mut out).is_ok()).expect("runs");
        assert_eq!(out, b"{\"seq\":1,\"message\":[1],\"kind\":\"noise\"}\n");
        let deep = "[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH);
        let refused = jq.run(b"{}", Some(deep.as_bytes()), |_| true);
        let Err(Stop::Failed(reason)) = refused else { panic!("one level too deep") };
        assert!(reason.contains("10001 levels"), "{reason}");
    }

    #[test]
    fn what_holds_is_neither_false_nor_null() {
        let untrue = |code: &str| {
            let mut seen = Vec::new();
            let jq = Jq::compile(code).expect("compiles");
            jq.run(b"{\"a\":1}", None, |output| {
                seen.push(output.untrue());
                true
            })
            .expect("runs");
            seen
        };
        assert_eq!(untrue(".a == 1, .a, 0, \"\""), [None; 4]);
        assert_eq!(untrue(".b, .a == 2"), [Some("null"), Some("false")]);
    }
}
