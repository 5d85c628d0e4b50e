//! What a request works with, and which function answers a call of which tool.

use super::answer::{Answer, Problem, named};
use super::child::Bounds;
use super::library::{Library, Opened};
use super::{listing, messages, replay, reports};
use crate::proposals::Registry;
use serde_json::Value;
use std::ffi::OsString;
use std::time::Duration;

/// What the user allowed.
pub(super) struct Settings {
    /// The maximum length of an answer's text, and of its structured content. Unit: bytes.
    pub max_bytes: usize,
    /// The time limit of a request.
    pub limit: Duration,
    /// What replays are sent to, if they are allowed.
    pub replay: Option<Replay>,
    /// What knows the methods and rules.
    pub registry: &'static Registry,
}

/// What replays are sent to.
pub(super) struct Replay {
    /// The server's command.
    pub command: Vec<OsString>,
    /// Whether tools may be called that may destroy data.
    pub allows_destructive: bool,
}

/// What a request works with.
#[derive(Clone, Copy)]
pub(super) struct Cx<'a> {
    pub library: &'a Library,
    pub settings: &'a Settings,
    pub bounds: Bounds<'a>,
}

impl Cx<'_> {
    /// Opens a recording, as it may be shown.
    ///
    /// # Errors
    ///
    /// There is none with this name in the allowed folders, or it cannot be redacted.
    pub(super) fn open(&self, name: &str) -> Result<Opened, Problem> {
        self.library.to_read(self.library.open(name)?, self.bounds)
    }
}

/// The argument with this name, if it is a text.
pub(super) fn text_of<'a>(arguments: &'a Value, name: &str) -> Option<&'a str> {
    arguments[name].as_str()
}

/// The number with this name, if there is one.
///
/// # Errors
///
/// It is no whole number, or too large to be told from others.
pub(super) fn count_of(arguments: &Value, name: &str) -> Result<Option<u64>, Problem> {
    let Some(given) = arguments.get(name).filter(|given| !given.is_null()) else { return Ok(None) };
    // A client may write 5.0 for 5.
    let is_exact = |number: &f64| *number >= 0.0 && *number < 2f64.powi(53) && number.fract() == 0.0;
    let of_float = || given.as_f64().filter(is_exact).map(|number| number as u64);
    let found = given.as_u64().or_else(of_float);
    let wrong = || Problem::new(format!("{name} must be a whole number from 0 to {}, not {given}", u64::MAX));
    found.map(Some).ok_or_else(wrong)
}

/// Calls a tool.
///
/// # Errors
///
/// What failed, and what to do next.
pub(super) fn call(tool: &str, arguments: &Value, cx: &Cx<'_>) -> Result<Answer, Problem> {
    match tool {
        "list_recordings" => listing::list(arguments, cx),
        "show_messages" => messages::show(arguments, cx),
        "get_message" => messages::get(arguments, cx),
        "statistics" => reports::statistics(arguments, cx),
        "findings" => reports::findings(arguments, cx),
        "diff" => reports::diff(arguments, cx),
        "explain" => reports::explain(arguments, cx),
        "replay" => replay::replay(arguments, cx),
        _ => Err(Problem::new(format!("there is no tool {}", named(tool)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_number_is_taken_as_it_is_or_not_at_all() {
        for (text, number) in [
            ("7", 7),
            ("7.0", 7),
            ("1e2", 100),
            ("-0.0", 0),
            ("9007199254740993", 9_007_199_254_740_993),
            ("18446744073709551615", u64::MAX),
        ] {
            let given = json!({"seq": serde_json::from_str::<Value>(text).expect("JSON")});
            assert_eq!(count_of(&given, "seq").ok(), Some(Some(number)), "{text}");
        }
        for text in
            ["18446744073709551616", "1e19", "9007199254740993.0", "1e300", "-1", "-1.0", "3.5", "\"3\"", "true", "[3]"]
        {
            let given = json!({"seq": serde_json::from_str::<Value>(text).expect("JSON")});
            let refused = count_of(&given, "seq").expect_err(text).to_text();
            assert!(refused.contains("seq must be a whole number"), "{refused}");
        }
        assert!(count_of(&json!({"seq": null}), "seq").is_ok_and(|found| found.is_none()));
        assert!(count_of(&json!({}), "seq").is_ok_and(|found| found.is_none()));
    }
}
