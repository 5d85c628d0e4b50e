//! The tool `list_recordings`.

use super::answer::{Answer, Problem, Rows, visible};
use super::child;
use super::cursor;
use super::tools::{Cx, count_of, text_of};
use crate::cli::commands::reel::list::Found;
use crate::cli::redaction::KeyOptions;
use crate::share::{Learner, Redactor};
use crate::wire::json;
use crate::wire::text::counted;
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::SystemTime;

/// The default number of reels on a page.
const PAGE: u64 = 20;
/// The maximum length of a reel without an index whose messages are counted. Unit: bytes.
const MAX_COUNTED_BYTES: u64 = 32 << 20;
/// The maximum length of a name or label, in characters.
const MAX_TEXT_CHARS: usize = 200;
/// The maximum length of the list of sessions. Unit: bytes.
const MAX_SESSIONS_BYTES: usize = 1 << 20;

/// Answers a call.
///
/// # Errors
///
/// The sessions cannot be listed, or the cursor is unknown.
pub(super) fn list(arguments: &Value, cx: &Cx<'_>) -> Result<Answer, Problem> {
    let (kind, wanted) = (text_of(arguments, "kind").unwrap_or("all"), text_of(arguments, "contains"));
    let request = ("list_recordings", kind, wanted);
    let at = text_of(arguments, "cursor").map(|text| cursor::read(&request, text)).transpose()?;
    let limit = count_of(arguments, "limit")?.unwrap_or(PAGE);
    let mut texts = Texts::new(cx)?;
    let mut rows = Rows::within(cx.settings.max_bytes);
    if kind != "reels" && at.is_none() {
        for session in sessions(cx)? {
            let row = texts.session(&session);
            if is_wanted(&row, wanted) {
                rows.take(&line(&row), row);
            }
        }
    }
    let all = cx.library.reels();
    let total = all.len();
    let (reels, mut shown, mut next) = (if kind == "sessions" { Vec::new() } else { all }, 0, None);
    for found in reels.iter().skip(at.map_or(0, |at| first_after(&reels, at))) {
        cx.bounds.stop.check()?;
        // A file that is no reel is not listed.
        let Ok(described) = found.describe(MAX_COUNTED_BYTES) else { continue };
        let row = texts.reel(&cx.library.name_of(&found.path), &described);
        if !is_wanted(&row, wanted) {
            continue;
        }
        if shown >= limit || !rows.take(&line(&row), row) {
            break;
        }
        (shown, next) = (shown + 1, Some(position(found)));
    }
    let is_all =
        reels.last().is_none_or(|last| next.as_ref() == Some(&position(last))) || shown < limit && !rows.is_full;
    let mut answer = Answer { what: "recordings", ..Answer::default() };
    answer = answer.say(&format!(
        "{} listed; the allowed folders have {}, newest first.",
        rows.values.len(),
        counted(total, "reel")
    ));
    if rows.values.is_empty() {
        answer = answer.say(&nothing(cx));
    }
    if let Some(next) = next.filter(|_| !is_all) {
        let next = cursor::make(&request, &next);
        answer = answer.say(&format!("There are more: pass cursor \"{next}\".")).fact("next_cursor", next);
    }
    let answer = answer.fact("reels", total);
    Ok(Answer { recorded: rows.text, data: json!({"recordings": rows.values}), ..answer })
}

fn nothing(cx: &Cx<'_>) -> String {
    let folders: Vec<String> =
        cx.library.folders().iter().map(|folder| super::answer::named(&folder.to_string_lossy())).collect();
    format!(
        "Searched {}. The user can record a server with `mcpreel record -- SERVER-COMMAND`, or allow another folder with --dir.",
        folders.join(", ")
    )
}

fn is_wanted(row: &Value, wanted: Option<&str>) -> bool {
    let Some(wanted) = wanted.map(str::to_lowercase) else { return true };
    let members = ["recording", "label", "server", "client"];
    members.iter().any(|name| row[*name].as_str().is_some_and(|text| text.to_lowercase().contains(&wanted)))
}

/// The place of a reel in the list: its time, and which of those with this time it is.
fn position(found: &Found) -> String {
    let mut hasher = DefaultHasher::new();
    found.path.hash(&mut hasher);
    format!("{}-{:x}", nanos(found), hasher.finish())
}

fn nanos(found: &Found) -> u128 {
    found.file.modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos()
}

/// The index of the first reel after this place.
fn first_after(reels: &[Found], at: &str) -> usize {
    let same = reels.iter().position(|found| position(found) == at).map(|place| place + 1);
    let time: u128 = at.split('-').next().and_then(|time| time.parse().ok()).unwrap_or_default();
    same.or_else(|| reels.iter().position(|found| nanos(found) < time)).unwrap_or(reels.len())
}

/// The live sessions, as `sessions --format json` prints them.
fn sessions(cx: &Cx<'_>) -> Result<Vec<Value>, Problem> {
    let words = child::words(&["sessions", "--format", "json"]);
    let (text, _, ran) = child::run_for_output(&words, cx.bounds, MAX_SESSIONS_BYTES)?;
    ran.check()?;
    Ok(text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(json::value_of).collect())
}

/// Makes rows of what recordings say about themselves.
struct Texts(Option<Redactor>);

impl Texts {
    fn new(cx: &Cx<'_>) -> Result<Self, Problem> {
        let key = KeyOptions { key_file: Some(cx.library.key_path()) };
        let learner = cx.library.redacts.then(|| key.learner()).transpose();
        learner.map(|learner| Self(learner.map(Learner::finish))).map_err(|error| Problem::new(error.message))
    }

    fn text(&mut self, value: &Value) -> Value {
        let Some(text) = value.as_str() else { return Value::Null };
        let text = self.0.as_mut().map_or_else(|| text.to_owned(), |redaction| redaction.text(text));
        visible(&text.into(), MAX_TEXT_CHARS)
    }

    fn reel(&mut self, name: &str, described: &Value) -> Value {
        json!({
            "recording": visible(&name.into(), MAX_TEXT_CHARS), "kind": "reel",
            "created": described["created"], "label": self.text(&described["label"]),
            "server": self.text(&described["server"]), "client": self.text(&described["client"]),
            "messages": described["messages"], "errors": described["errors"], "bytes": described["size"],
            "live": described["live"],
        })
    }

    fn session(&mut self, session: &Value) -> Value {
        let name = format!("session:{}", session["name"].as_str().unwrap_or_default());
        json!({
            "recording": visible(&name.into(), MAX_TEXT_CHARS), "kind": "session", "created": session["started"],
            "role": session["role"], "server": self.text(&session["server"]), "client": self.text(&session["client"]),
            "messages": session["messages"], "errors": session["errors"], "waiting": session["waiting"],
            "has_reel": session["reel"].is_string(), "live": true,
        })
    }
}

/// A row as a line.
fn line(row: &Value) -> String {
    let mut out = row["recording"].as_str().unwrap_or_default().to_owned();
    for (name, value) in row.as_object().into_iter().flatten().skip(1) {
        match value {
            Value::Null => {}
            Value::String(text) => out.push_str(&format!(", {name} {text}")),
            other => out.push_str(&format!(", {name} {other}")),
        }
    }
    out
}
