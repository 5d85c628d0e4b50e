//! `--jq`: a jq program run on each event's JSON object, by the jaq crates.

use super::error::CommandError;
use jaq_core::data::JustLut;
use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Filter, Vars, unwrap_valr};
use jaq_json::{Val, read};

/// A compiled program.
pub struct Jq {
    filter: Filter<JustLut<Val>>,
}

impl Jq {
    /// Compiles a program; a mistake in it is a usage error.
    pub fn compile(code: &str) -> Result<Self, CommandError> {
        let wrong = |what: &str| {
            CommandError::usage(format!("--jq: {what} in {code:?}")).hint(
                "each event is an object; a message's own members are under .message, as in: .message.params.name",
            )
        };
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
        Ok(Self { filter })
    }

    /// Runs it on one JSON text; every output is appended to `out` as a line.
    pub fn run(&self, text: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        let input = read::parse_single(text).map_err(|error| error.to_string())?;
        let context = Ctx::<JustLut<Val>>::new(&self.filter.lut, Vars::new([]));
        for output in self.filter.id.run((context, input)).map(unwrap_valr) {
            match output {
                Ok(Val::TStr(text)) => out.extend_from_slice(&text),
                Ok(value) => out.extend_from_slice(value.to_string().as_bytes()),
                Err(error) => return Err(error.to_string()),
            }
            out.push(b'\n');
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(code: &str, text: &str) -> Result<String, String> {
        let mut out = Vec::new();
        Jq::compile(code).map_err(|error| error.message)?.run(text.as_bytes(), &mut out)?;
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
}
