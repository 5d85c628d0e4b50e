//! What became of a request: decided here, from JSON-RPC and HTTP together, and nowhere else.
//!
//! `docs/guide/outcomes.md` lists the conditions and their order of precedence.

use crate::trace::{ExchangeNews, ExchangeStep};
use crate::wire::{MessageKind, json};
use memchr::memmem;
use std::fmt;

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// It got a result.
    Ok,
    /// It got a result with `"isError": true`.
    ToolError,
    /// It got a JSON-RPC error, whatever the HTTP status.
    Error,
    /// It got an HTTP status of 400 or more, and no JSON-RPC error.
    Refused,
    /// It got an HTTP status from 300 to 399.
    Redirected,
    /// It got a result that asks for input; the client is to send the request again.
    InputRequired,
    /// It got a task, which brings the result later.
    Task,
    /// The user declined what the server asked.
    Declined,
    /// Its sender, or for a subscription the server, cancelled it, and there was no response.
    Cancelled,
    /// Its HTTP exchange broke off, and no other one brought the response.
    BrokenOff,
    /// Its HTTP exchange brought something that is no message.
    Malformed,
    /// It may still get a response: the session goes on.
    Pending,
    /// The session ended without a response.
    Unanswered,
    /// Nobody knows: traffic is missing, or there were too many pending requests to remember.
    Unknown,
}

impl Outcome {
    /// All outcomes, for tests that must not miss one.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 14] = [
        Self::Ok,
        Self::ToolError,
        Self::Error,
        Self::Refused,
        Self::Redirected,
        Self::InputRequired,
        Self::Task,
        Self::Declined,
        Self::Cancelled,
        Self::BrokenOff,
        Self::Malformed,
        Self::Pending,
        Self::Unanswered,
        Self::Unknown,
    ];

    /// Returns the word that every command and format uses.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ToolError => "tool error",
            Self::Error => "error",
            Self::Refused => "refused",
            Self::Redirected => "redirected",
            Self::InputRequired => "input required",
            Self::Task => "task",
            Self::Declined => "declined",
            Self::Cancelled => "cancelled",
            Self::BrokenOff => "broken off",
            Self::Malformed => "malformed",
            Self::Pending => "pending",
            Self::Unanswered => "unanswered",
            Self::Unknown => "unknown",
        }
    }

    /// Returns whether the request failed. A request without a response has not failed: nobody said so.
    pub(crate) fn is_failure(self) -> bool {
        matches!(self, Self::ToolError | Self::Error | Self::Refused | Self::BrokenOff | Self::Malformed)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// Returns the outcome that a response brings, if HTTP says nothing else. `asks_user` says whether the request asks the
/// user something. Without `text`, its bytes, a result of another kind counts as [`Outcome::Ok`].
pub(super) fn of_response(kind: MessageKind, has_tool_error: bool, asks_user: bool, text: Option<&[u8]>) -> Outcome {
    match kind {
        MessageKind::Error => Outcome::Error,
        _ if has_tool_error => Outcome::ToolError,
        _ => text.and_then(|text| of_result(text, asks_user)).unwrap_or(Outcome::Ok),
    }
}

/// Returns what a result says itself, if it is no usual one.
fn of_result(text: &[u8], asks_user: bool) -> Option<Outcome> {
    let member = |path: &[&str]| json::at_path(text, path).and_then(json::as_str);
    // Most results have none of these names anywhere, and a search for them is faster than reading the members.
    let may_have = |name: &str| memmem::find(text, name.as_bytes()).is_some();
    if may_have("resultType") {
        match member(&["result", "resultType"]).as_deref() {
            Some("input_required") => return Some(Outcome::InputRequired),
            Some("task") => return Some(Outcome::Task),
            _ => {}
        }
    }
    // A task of revision 2025-11-25.
    if may_have("taskId") && member(&["result", "task", "taskId"]).is_some() {
        return Some(Outcome::Task);
    }
    match member(&["result", "action"]).as_deref().filter(|_| asks_user) {
        Some("decline" | "cancel") => Some(Outcome::Declined),
        _ => None,
    }
}

/// A task that a request got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CreatedTask {
    /// Its id; any text.
    pub id: String,
    /// Its status when it was created, such as `working`; any text.
    pub status: String,
}

/// Returns the task in a result whose outcome is [`Outcome::Task`].
pub(crate) fn created_task(text: &[u8]) -> Option<CreatedTask> {
    let result = json::first_member(text, "result")?;
    let task = json::first_member(result, "task").unwrap_or(result);
    let member = |name: &str| json::str_member(task, name).map(|text| text.into_owned());
    Some(CreatedTask { id: member("taskId")?, status: member("status").unwrap_or_default() })
}

/// Returns what an event of an HTTP exchange says about its requests, if it says something.
pub(super) fn of_exchange(news: ExchangeNews, has_failed: bool) -> Option<Outcome> {
    match news.what {
        ExchangeStep::Response | ExchangeStep::Refused => match news.status {
            300..=399 => Some(Outcome::Redirected),
            400.. => Some(Outcome::Refused),
            _ => None,
        },
        ExchangeStep::BrokenOff => Some(Outcome::BrokenOff),
        ExchangeStep::Body => Some(Outcome::Malformed),
        ExchangeStep::Other => has_failed.then_some(Outcome::BrokenOff),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(result: &str, asks_user: bool) -> Outcome {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        of_response(MessageKind::Result, false, asks_user, Some(text.as_bytes()))
    }

    #[test]
    fn a_result_says_that_more_is_to_come() {
        for (result, expected) in [
            ("{}", Outcome::Ok),
            (r#"{"resultType":"complete"}"#, Outcome::Ok),
            (r#"{"resultType":"input_required"}"#, Outcome::InputRequired),
            (r#"{"resultType":"task","taskId":"a"}"#, Outcome::Task),
            (r#"{"task":{"taskId":"a","status":"working"}}"#, Outcome::Task),
            // The state of a task, as `tasks/get` returns it.
            (r#"{"taskId":"a","status":"working"}"#, Outcome::Ok),
            (r#"{"structuredContent":{"resultType":"input_required"}}"#, Outcome::Ok),
            (r#"{"resultType":7}"#, Outcome::Ok),
            (r#"{"action":"decline"}"#, Outcome::Ok),
        ] {
            assert_eq!(of(result, false), expected, "{result}");
        }
    }

    #[test]
    fn a_task_has_an_id_and_a_status() {
        let found = |result: &str| created_task(format!(r#"{{"id":1,"result":{result}}}"#).as_bytes());
        let task = |status: &str| Some(CreatedTask { id: "a".to_owned(), status: status.to_owned() });
        assert_eq!(found(r#"{"resultType":"task","taskId":"a","status":"working"}"#), task("working"));
        assert_eq!(found(r#"{"task":{"taskId":"a","status":"input_required"}}"#), task("input_required"));
        assert_eq!(found(r#"{"task":{"taskId":"a"}}"#), task(""));
        assert_eq!(found(r#"{"taskId":7}"#), None);
    }

    #[test]
    fn only_who_was_asked_can_decline() {
        assert_eq!(of(r#"{"action":"decline"}"#, true), Outcome::Declined);
        assert_eq!(of(r#"{"action":"cancel"}"#, true), Outcome::Declined);
        assert_eq!(of(r#"{"action":"accept","content":{}}"#, true), Outcome::Ok);
    }

    #[test]
    fn no_two_outcomes_share_a_word() {
        let words: std::collections::BTreeSet<_> = Outcome::ALL.iter().map(|outcome| outcome.name()).collect();
        assert_eq!(words.len(), Outcome::ALL.len());
    }
}
