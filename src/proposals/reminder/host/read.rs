//! Reading a reminder, from its own notification or from the older envelope.
//!
//! Never: queues, policy.

use crate::proposals::clip;
use crate::wire::json;
use serde_json::{Map, Value};

/// Who else sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Propagate {
    /// Every agent.
    All,
    /// The agents of this session.
    #[default]
    Session,
    /// This agent alone.
    None,
}

/// A reminder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spec {
    /// Its id.
    pub id: String,
    /// What the model should know.
    pub body: String,
    /// A newer one with the same key replaces it while it waits.
    pub dedupe_key: Option<String>,
    /// For how many turns.
    pub ttl_turns: Option<u64>,
    /// It outlives a compaction.
    pub preserve_on_compact: bool,
    /// Who else sees it.
    pub propagate: Propagate,
    /// As whom the host should say it; as it stood.
    pub role_hint: Option<String>,
}

impl Spec {
    /// Whether it belongs to the user's side of the prompt rather than the system's.
    pub fn is_for_user_block(&self) -> bool {
        matches!(self.role_hint.as_deref(), Some("user_block" | "ephemeral_cache"))
    }

    /// Its beginning.
    pub fn outline(&self) -> String {
        format!("{:?}", clip(&self.body, 60))
    }
}

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The reminder.
    pub spec: Spec,
    /// What was odd about it, as sentences.
    pub remarks: Vec<String>,
    /// It came in the older envelope.
    pub is_legacy: bool,
}

/// The members of the older envelope, and what they are called now.
const SNAKE: &[(&str, &str)] = &[
    ("dedupe_key", "dedupeKey"),
    ("ttl_turns", "ttlTurns"),
    ("preserve_on_compact", "preserveOnCompact"),
    ("role_hint", "roleHint"),
    ("fired_at_turn", "firedAtTurn"),
];

/// Reads the params of `notifications/reminder` (B2 to B12).
///
/// # Errors
/// Why it is no reminder, as a sentence fragment.
pub fn canonical(params: &Value) -> Result<Read, String> {
    let reminder = params["reminder"].as_object().ok_or("params.reminder is no object")?;
    if let Some((old, new)) = SNAKE.iter().find(|(old, _)| reminder.contains_key(*old)) {
        return Err(format!("{old} is {new} here (snake case belongs to _meta.harn.reminder)"));
    }
    read(reminder, false)
}

/// Reads the older envelope, `_meta.harn.reminder` on a log message (B24, B27): below `params`, or below the message
/// (AMB-B8). `None` where there is none.
pub fn legacy(params: &Value, message: &[u8]) -> Option<Result<Read, String>> {
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
        read.remarks.push("_meta stands on the message, not in its params".to_owned());
    }
    Some(read)
}

fn read(reminder: &Map<String, Value>, is_legacy: bool) -> Result<Read, String> {
    let text = |name: &str| match reminder.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_str().map(|text| Some(text.to_owned())).ok_or_else(|| format!("{name} is no string")),
    };
    let mut remarks = Vec::new();
    let body = text("body")?.filter(|body| !body.is_empty()).ok_or("its body is missing or empty")?;
    let id = text("id")?.ok_or("its id is missing")?;
    let ttl_turns = match reminder.get("ttlTurns") {
        None | Some(Value::Null) => None,
        Some(turns) => {
            Some(turns.as_u64().filter(|turns| *turns > 0).ok_or("ttlTurns is no whole number of at least 1")?)
        }
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
        remarks.push(format!("the roleHint {hint:?} is not known; taken as system"));
    }
    if reminder.get("firedAtTurn").is_some_and(Value::is_number) {
        remarks.push("firedAtTurn is given, which only a host can know".to_owned());
    }
    let preserve_on_compact = reminder.get("preserveOnCompact") == Some(&Value::Bool(true));
    let dedupe_key = text("dedupeKey")?;
    Ok(Read {
        spec: Spec { id, body, dedupe_key, ttl_turns, preserve_on_compact, propagate, role_hint },
        remarks,
        is_legacy,
    })
}
