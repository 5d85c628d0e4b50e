//! The server side of the Reminder RFC: declares which reminders it may send, and creates reminders within these
//! limits.

use super::{REMINDER, SCHEMAS};
use crate::proposals::server::{Declaration, Firing, ServerCx, ServerSide, Unsent};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The method that carries a reminder in the older form.
pub(crate) const LEGACY: &str = "notifications/message";

/// The reminders that the server declares it may send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    /// The values of `propagate`.
    pub propagate: Vec<String>,
    /// The values of `roleHint`.
    pub role_hints: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self { propagate: words(&["session", "none"]), role_hints: words(&["system", "developer"]) }
    }
}

impl Settings {
    /// The value of `capabilities.reminders` (Reminder RFC, Server capability advertisement).
    fn capability(&self) -> Value {
        json!({"emit": true, "propagate": self.propagate, "roleHints": self.role_hints})
    }
}

/// The proposal's server side on one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReminderServerSide {
    settings: Settings,
}

impl ServerSide for ReminderServerSide {
    fn configure(&mut self, settings: &Value) -> Result<(), String> {
        self.settings = Settings::deserialize(settings).map_err(|error| error.to_string())?;
        let violations = SCHEMAS.check("capability:server", &self.settings.capability()).unwrap_or_default();
        violations.first().map_or(Ok(()), |violation| Err(violation.to_string()))
    }

    fn declare(&mut self, _client: &Value) -> Vec<Declaration> {
        vec![Declaration { path: &["reminders"], value: self.settings.capability() }]
    }

    fn fires(&self) -> &'static [Firing] {
        &[Firing { kind: "reminder", method: REMINDER, occurrence: None, time: None }]
    }

    fn check_fire(&self, _kind: &str, given: &Value) -> Result<(), String> {
        let draft = Draft::deserialize(given).map_err(|error| error.to_string())?;
        reminder("", &draft, &self.settings).map(drop)
    }

    fn fire(&mut self, _kind: &str, given: &Value, cx: &mut dyn ServerCx) -> Result<String, Unsent> {
        let draft = Draft::deserialize(given).map_err(Unsent::invalid)?;
        let reminder = reminder(&cx.uuid_v7(), &draft, &self.settings).map_err(Unsent::invalid)?;
        let (method, params) = if draft.legacy {
            let meta = json!({"harn": {"reminder": reminder}});
            (LEGACY, json!({"level": "info", "logger": cx.server(), "data": draft.body, "_meta": meta}))
        } else {
            (REMINDER, json!({"reminder": reminder}))
        };
        cx.notify(method, &params);
        // Reported like any notification that the server sends, and with the reminder itself.
        cx.report(json!({"report": "sent", "method": method, "id": null, "reminder": reminder}));
        Ok(format!("sent {method}"))
    }
}

/// A reminder without an id. Members that are not given are not sent, so that the host's defaults apply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Draft {
    /// The text for the model.
    body: String,
    /// The tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    /// The key. A newer reminder with the same key replaces an older one that was not shown yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dedupe_key: Option<String>,
    /// The number of rendered turns that it lasts, at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ttl_turns: Option<u64>,
    /// Whether it survives a compaction of the transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    preserve_on_compact: Option<bool>,
    /// The sub-agents that see it: one of the declared values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    propagate: Option<String>,
    /// The role that the host should use for it: one of the declared values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    role_hint: Option<String>,
    /// Whether to use the older form, in snake case (Reminder RFC, From the current `_meta` envelope).
    #[serde(default, skip_serializing)]
    legacy: bool,
}

/// Creates the reminder to send. `firedAtTurn` is omitted, because a server does not know the host's turns.
///
/// # Errors
/// A sentence fragment that says how the draft violates the proposal or the server's declaration.
fn reminder(id: &str, draft: &Draft, settings: &Settings) -> Result<Value, String> {
    if draft.body.is_empty() {
        return Err("a reminder's body must not be empty".to_owned());
    }
    if draft.ttl_turns == Some(0) {
        return Err("`ttlTurns` must be at least 1".to_owned());
    }
    declared(("propagate", "propagate"), draft.propagate.as_deref(), &settings.propagate)?;
    declared(("roleHint", "role_hints"), draft.role_hint.as_deref(), &settings.role_hints)?;
    let mut reminder = Map::from_iter([("id".to_owned(), id.into())]);
    // What is left out means the proposal's default, which may not be among the declared values.
    let default = |value: &Option<String>, default: &str, offered: &[String]| {
        let is_left_out = value.is_none() && !offered.iter().any(|known| known == default);
        value.clone().or_else(|| offered.first().filter(|_| is_left_out).cloned())
    };
    let draft = &Draft {
        propagate: default(&draft.propagate, "session", &settings.propagate),
        role_hint: default(&draft.role_hint, "system", &settings.role_hints),
        ..draft.clone()
    };
    if let Ok(Value::Object(members)) = serde_json::to_value(draft) {
        let spelled = |name: String| if draft.legacy { snake(&name) } else { name };
        reminder.extend(members.into_iter().map(|(name, value)| (spelled(name), value)));
    }
    Ok(Value::Object(reminder))
}

/// Converts `dedupeKey` to `dedupe_key`.
fn snake(name: &str) -> String {
    name.chars().flat_map(|found| found.is_uppercase().then_some('_').into_iter().chain(found.to_lowercase())).collect()
}

fn declared((name, setting): (&str, &str), value: Option<&str>, offered: &[String]) -> Result<(), String> {
    match value {
        Some(value) if !offered.iter().any(|known| known == value) => {
            let offered = offered.join(", ");
            Err(format!(
                "`{name}` {value:?} is not one of the declared values ({offered}); the setting reminder.{setting} changes \
                 them"
            ))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0190abcd-2024-7c1d-bb02-3a0e8a44d7f0";

    #[test]
    fn a_reminder_fits_the_proposal_and_stays_within_the_capability() {
        let declared = Settings::default();
        assert_eq!(SCHEMAS.check("capability:server", &declared.capability()), Some(vec![]));
        let mut draft = Draft { body: "cargo check passed".to_owned(), ttl_turns: Some(1), ..Draft::default() };
        let message = json!({"reminder": reminder(ID, &draft, &declared).expect("fits")});
        assert_eq!(SCHEMAS.check(&format!("{REMINDER}:params"), &message), Some(vec![]));
        assert_eq!(message["reminder"].as_object().map(Map::len), Some(3));
        draft.propagate = Some("all".to_owned());
        assert!(reminder("x", &draft, &declared).expect_err("not declared").contains("session, none"));
        draft.propagate = Some("none".to_owned());
        draft.ttl_turns = Some(0);
        assert!(reminder("x", &draft, &declared).is_err());
        assert!(reminder("x", &Draft::default(), &declared).is_err());
    }

    #[test]
    fn what_it_may_emit_can_be_set_within_the_proposal() {
        let mut side = ReminderServerSide::default();
        assert_eq!(side.configure(&json!({"propagate": ["all"]})), Ok(()));
        assert_eq!(side.settings.capability()["propagate"], json!(["all"]));
        assert_eq!(side.settings.capability()["roleHints"], json!(["system", "developer"]));
        // A default that is not declared is not left to the host.
        let draft = Draft { body: "b".to_owned(), ..Draft::default() };
        let sent = reminder(ID, &draft, &side.settings).expect("fits");
        assert_eq!((&sent["propagate"], sent.get("roleHint")), (&json!("all"), None));
        assert!(side.configure(&json!({"role_hints": ["king"]})).is_err());
        assert!(side.configure(&json!({"emit": false})).is_err());
    }

    #[test]
    fn b27_the_older_envelope_has_its_own_spelling() {
        let draft = json!({"body": "b", "dedupeKey": "k", "ttlTurns": 2, "preserveOnCompact": true,
            "roleHint": "system", "legacy": true});
        let draft = Draft::deserialize(draft).expect("a draft");
        let reminder = reminder(ID, &draft, &Settings::default()).expect("fits");
        assert_eq!(SCHEMAS.check("LegacyReminder", &reminder), Some(vec![]));
        assert_eq!((&reminder["dedupe_key"], &reminder["ttl_turns"]), (&json!("k"), &json!(2)));
        assert!(reminder.get("dedupeKey").is_none() && reminder.get("legacy").is_none(), "{reminder}");
    }
}
