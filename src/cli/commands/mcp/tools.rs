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

/// The argument with this name, if it is a number.
pub(super) fn count_of(arguments: &Value, name: &str) -> Option<u64> {
    // A client may write 5.0 for 5.
    let of_float = |number: f64| (number >= 0.0 && number < 2f64.powi(53)).then_some(number as u64);
    arguments[name].as_u64().or_else(|| arguments[name].as_f64().and_then(of_float))
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
