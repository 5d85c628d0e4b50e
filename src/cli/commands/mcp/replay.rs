//! The tool `replay`, which exists only if the user allows it and names the server's command.

use super::answer::{Answer, Problem, visible};
use super::child;
use super::reports::{differences, without_paths};
use super::tools::{Cx, text_of};
use crate::wire::json;
use crate::wire::text::counted_as;
use serde_json::{Value, json};

/// The maximum length of the report that is read. Unit: bytes.
const MAX_REPORT_BYTES: usize = 64 << 20;
/// The maximum length of a text, in characters.
const MAX_TEXT_CHARS: usize = 600;
/// The maximum number of notes, and of messages that were left out.
const MAX_LISTED: usize = 20;

/// Answers a call.
///
/// # Errors
///
/// The recording cannot be read, the server does not start, or the user did not allow replays.
pub(super) fn replay(arguments: &Value, cx: &Cx<'_>) -> Result<Answer, Problem> {
    let Some(allowed) = &cx.settings.replay else { return Err(Problem::new("the user did not allow replays")) };
    // The server gets what was recorded, so the original is sent; the report is redacted.
    let opened = cx.library.open(text_of(arguments, "recording").unwrap_or_default())?;
    let mut words = child::words(&["replay", "--no-record", "--format", "json"]);
    if cx.library.redacts {
        words.push("--redact".into());
        words.extend(cx.library.key_words());
    }
    match allowed.allows_destructive {
        true => words.push("--allow-destructive".into()),
        false => words.push("--read-only".into()),
    }
    if arguments["era"] == "modern" {
        words.push("--era=modern".into());
    }
    if opened.stream != 0 {
        words.push(format!("--stream={}", opened.stream).into());
    }
    words.push(opened.readable().into());
    if let Some(filter) = text_of(arguments, "filter") {
        words.push(format!("({filter})").into());
    }
    words.push("--".into());
    words.extend(allowed.command.iter().cloned());
    let (text, is_all, mut ran) = child::run_for_output(&words, cx.bounds, MAX_REPORT_BYTES)?;
    ran.report = without_paths(&ran.report, &[&opened]);
    let first = text.split(|byte| *byte == b'\n').map(json::value_of).find(|line| !line.is_null());
    let Some(session) = first.filter(|_| is_all) else {
        ran.check().map_err(|problem| match allowed.allows_destructive {
            true => problem,
            false => problem.hint("only requests that read are sent, unless the user adds --allow-destructive"),
        })?;
        return Err(Problem::new("the replay gave no report").quoting(&ran.report));
    };
    let sessions = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
    answer(&session, sessions, cx)
}

fn answer(session: &Value, sessions: usize, cx: &Cx<'_>) -> Result<Answer, Problem> {
    let compared = differences(&session["diff"], &"replay", 0, cx)?;
    let mut answer = Answer { what: "replay", ..Answer::default() };
    answer.facts = compared.facts.clone();
    // A replay is not repeated for a second page.
    answer.facts.shift_remove("next_cursor");
    for name in ["verdict", "sent", "sent_requests", "answered", "took_ms"] {
        answer = answer.fact(name, session[name].clone());
    }
    let verdict = match session["verdict"].as_str() {
        Some("alike") => "The server answers as it did in the recording.",
        Some("different") => "The server answers differently: A is the recording, B the new session.",
        _ => "The replay did not reach its end.",
    };
    answer = answer.say(verdict).say(&format!(
        "{} messages were sent, {} of {} requests answered.",
        session["sent"], session["answered"], session["sent_requests"]
    ));
    let list = |name: &str| session[name].as_array().map(Vec::as_slice).unwrap_or_default();
    if !list("omitted").is_empty() {
        answer =
            answer.say(&format!("{} left out.", counted_as(list("omitted").len(), "message was", "messages were")));
    }
    if sessions > 1 {
        answer = answer.say(&format!(
            "The recording has {sessions} sessions; this is the first. Choose one with a filter stream:N."
        ));
    }
    if compared.facts.contains_key("next_cursor") {
        answer = answer.say("Not all differences fit; choose fewer messages with a filter.");
    }
    let short = |name: &str| visible(&list(name).iter().take(MAX_LISTED).cloned().collect(), MAX_TEXT_CHARS);
    let (notes, omitted, failure) = (short("notes"), short("omitted"), visible(&session["failure"], MAX_TEXT_CHARS));
    let mut text = compared.recorded;
    for line in failure.as_str().into_iter().chain(notes.as_array().into_iter().flatten().filter_map(Value::as_str)) {
        text.push_str(&format!("{line}\n"));
    }
    for left_out in omitted.as_array().into_iter().flatten() {
        let member = |name: &str| left_out[name].as_str().unwrap_or_default().to_owned();
        text.push_str(&format!("left out: seq {} {}: {}\n", left_out["seq"], member("message"), member("reason")));
    }
    let mut data = compared.data;
    (data["notes"], data["omitted"], data["failure"]) = (notes, omitted, failure);
    Ok(Answer { recorded: text, data: json!(data), ..answer })
}
