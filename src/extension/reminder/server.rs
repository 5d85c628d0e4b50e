//! The server's side: declares what it may emit, and words a reminder within that.

use super::REMINDER;
use crate::extension::server::{Declaration, Firing, ServerCx, ServerSide, Unsent};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The `propagate` values it declares.
const PROPAGATE: &[&str] = &["session", "none"];
/// The `roleHint` values it declares.
const ROLE_HINTS: &[&str] = &["system", "developer"];

/// Its side on one connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReminderSide;

impl ServerSide for ReminderSide {
    fn declare(&mut self, _client: &Value) -> Vec<Declaration> {
        vec![Declaration { path: &["reminders"], value: capability() }]
    }

    fn fires(&self) -> &'static [Firing] {
        &[Firing { kind: "reminder", method: REMINDER, occurrence: None }]
    }

    fn fire(&mut self, _kind: &str, given: &Value, cx: &mut dyn ServerCx) -> Result<String, Unsent> {
        let draft = Draft::deserialize(given).map_err(Unsent::invalid)?;
        let params = params(&cx.uuid_v7(), &draft).map_err(Unsent::invalid)?;
        Ok(cx.send(REMINDER, &params))
    }
}

/// What stands at `capabilities.reminders` (Server capability advertisement).
fn capability() -> Value {
    json!({"emit": true, "propagate": PROPAGATE, "roleHints": ROLE_HINTS})
}

/// A reminder before it has an id. Members left out stay out of the message, so that the host's defaults hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Draft {
    /// What the model should know.
    body: String,
    /// Labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    /// A newer reminder with the same key replaces an older one that has not fired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dedupe_key: Option<String>,
    /// For how many rendered turns it holds; at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ttl_turns: Option<u64>,
    /// Whether it outlives a compaction of the transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    preserve_on_compact: Option<bool>,
    /// Whether sub-agents see it: one of [`PROPAGATE`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    propagate: Option<String>,
    /// As whom the host should say it: one of [`ROLE_HINTS`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    role_hint: Option<String>,
}

/// The params of `notifications/reminder`. `firedAtTurn` is left out: a server does not know the host's turns.
///
/// # Errors
/// What in the draft is against the proposal or outside of what the capability declares, as a sentence fragment.
fn params(id: &str, draft: &Draft) -> Result<Value, String> {
    if draft.body.is_empty() {
        return Err("a reminder's body must not be empty".to_owned());
    }
    if draft.ttl_turns == Some(0) {
        return Err("`ttlTurns` must be at least 1".to_owned());
    }
    declared("propagate", draft.propagate.as_deref(), PROPAGATE)?;
    declared("roleHint", draft.role_hint.as_deref(), ROLE_HINTS)?;
    let mut reminder = json!({"id": id});
    if let (Some(reminder), Ok(Value::Object(draft))) = (reminder.as_object_mut(), serde_json::to_value(draft)) {
        reminder.extend(draft);
    }
    Ok(json!({"reminder": reminder}))
}

fn declared(name: &str, value: Option<&str>, offered: &[&str]) -> Result<(), String> {
    match value {
        Some(value) if !offered.contains(&value) => {
            Err(format!("`{name}` {value:?} is not among the declared {}", offered.join(", ")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::SCHEMAS;
    use super::*;

    #[test]
    fn a_reminder_fits_the_proposal_and_stays_within_the_capability() {
        assert_eq!(SCHEMAS.check("capability:server", &capability()), Some(vec![]));
        let mut draft = Draft { body: "cargo check passed".to_owned(), ttl_turns: Some(1), ..Draft::default() };
        let message = params("0190abcd-2024-7c1d-bb02-3a0e8a44d7f0", &draft).expect("fits");
        assert_eq!(SCHEMAS.check(&format!("{REMINDER}:params"), &message), Some(vec![]));
        assert_eq!(message["reminder"].as_object().map(serde_json::Map::len), Some(3));
        draft.propagate = Some("all".to_owned());
        assert!(params("x", &draft).expect_err("not declared").contains("session, none"));
        draft.propagate = Some("none".to_owned());
        draft.ttl_turns = Some(0);
        assert!(params("x", &draft).is_err());
        assert!(params("x", &Draft::default()).is_err());
    }
}
