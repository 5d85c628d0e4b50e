//! Parses reminders, from `notifications/reminder` or from the older form.
//!
//! This module must never use queues or policies.

use crate::proposals::clip;
use crate::wire::json;
use serde_json::{Map, Value};

/// The agents that see a reminder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Propagate {
    /// Every agent.
    All,
    /// All agents of this session.
    #[default]
    Session,
    /// Only this agent.
    None,
}

/// A reminder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Spec {
    /// Its id.
    pub id: String,
    /// The text for the model.
    pub body: String,
    /// The key. A newer reminder with the same key replaces this one while it waits.
    pub dedupe_key: Option<String>,
    /// The number of turns that it lasts.
    pub ttl_turns: Option<u64>,
    /// Whether it survives a compaction.
    pub preserve_on_compact: bool,
    /// The agents that see it.
    pub propagate: Propagate,
    /// The role that the host should use for it, as received.
    pub role_hint: Option<String>,
}

impl Spec {
    /// Whether it belongs into the user's part of the prompt instead of the system prompt.
    pub(super) fn is_for_user_block(&self) -> bool {
        matches!(self.role_hint.as_deref(), Some("user_block" | "ephemeral_cache"))
    }

    /// The beginning of the body.
    pub(super) fn outline(&self) -> String {
        format!("{:?}", clip(&self.body, 60))
    }
}

/// A parsed reminder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Read {
    /// The reminder.
    pub spec: Spec,
    /// What was unusual about it, as sentence fragments.
    pub remarks: Vec<String>,
    /// Whether it arrived in the older form.
    pub is_legacy: bool,
}

/// The names of members in the older form, and the current ones.
const SNAKE: &[(&str, &str)] = &[
    ("dedupe_key", "dedupeKey"),
    ("ttl_turns", "ttlTurns"),
    ("preserve_on_compact", "preserveOnCompact"),
    ("role_hint", "roleHint"),
    ("fired_at_turn", "firedAtTurn"),
];

/// Parses the params of `notifications/reminder` (Reminder RFC, Proposed wire format).
///
/// # Errors
/// Why it is not a reminder, as a sentence fragment.
pub(super) fn canonical(params: &Value) -> Result<Read, String> {
    let reminder = params["reminder"].as_object().ok_or("params.reminder is not an object")?;
    if let Some((old, new)) = SNAKE.iter().find(|(old, _)| reminder.contains_key(*old)) {
        return Err(format!(
            "the member {old} must be spelled {new}; only the older form _meta.harn.reminder uses snake case"
        ));
    }
    read(reminder, false)
}

/// Parses the older form, `_meta.harn.reminder` in a log message (Reminder RFC, From the current `_meta` envelope).
/// `_meta` is a member of `params`, or of the message (AMB-B8). Returns `None` if the message contains no reminder.
pub(super) fn legacy(params: &Value, message: &[u8]) -> Option<Result<Read, String>> {
    let below = |meta: &Value| meta["harn"]["reminder"].as_object().cloned();
    let on_message = || {
        let meta = json::first_member(message, "_meta")?;
        below(&serde_json::from_slice(meta).ok()?)
    };
    let mut found = below(&params["_meta"]);
    let is_misplaced = found.is_none();
    found = found.or_else(on_message);
    let renamed: Map<String, Value> = found?
        .into_iter()
        .map(|(name, value)| {
            let new = SNAKE.iter().find(|(old, _)| *old == name).map_or(name.as_str(), |(_, new)| new).to_owned();
            (new, value)
        })
        .collect();
    let mut read = read(&renamed, true);
    if let (Ok(read), true) = (&mut read, is_misplaced) {
        read.remarks.push("_meta is next to params instead of in it".to_owned());
    }
    Some(read)
}

fn read(reminder: &Map<String, Value>, is_legacy: bool) -> Result<Read, String> {
    let text = |name: &str| match reminder.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            value.as_str().map(|text| Some(text.to_owned())).ok_or_else(|| format!("{name} is not a string"))
        }
    };
    let mut remarks = Vec::new();
    let body = text("body")?.filter(|body| !body.is_empty()).ok_or("its body is missing or empty")?;
    let id = text("id")?.ok_or("its id is missing")?;
    let ttl_turns = match reminder.get("ttlTurns") {
        None | Some(Value::Null) => None,
        Some(turns) => Some(turns.as_u64().filter(|turns| *turns > 0).ok_or("ttlTurns is not a positive integer")?),
    };
    let propagate = match text("propagate")?.as_deref() {
        None | Some("session") => Propagate::Session,
        Some("all") => Propagate::All,
        Some("none") => Propagate::None,
        Some(other) => return Err(format!("propagate is {other:?}")),
    };
    let role_hint = text("roleHint")?;
    if let Some(hint) = role_hint.as_deref()
        && !["system", "developer", "user_block", "ephemeral_cache"].contains(&hint)
    {
        remarks.push(format!("the roleHint {hint:?} is unknown; system is used instead"));
    }
    if reminder.get("firedAtTurn").is_some_and(Value::is_number) {
        remarks.push("the server set firedAtTurn, which only a host can know".to_owned());
    }
    let preserve_on_compact = reminder.get("preserveOnCompact") == Some(&Value::Bool(true));
    let dedupe_key = text("dedupeKey")?;
    Ok(Read {
        spec: Spec { id, body, dedupe_key, ttl_turns, preserve_on_compact, propagate, role_hint },
        remarks,
        is_legacy,
    })
}
