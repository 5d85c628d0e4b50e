//! Parses reminders, from `notifications/reminder` or from the older form. The host and the rules both use it, so they
//! agree on which reminders are valid and on what each member means.
//!
//! This module must never use queues or policies.

use super::SCHEMAS;
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

/// The form in which a reminder was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `notifications/reminder`, with members in camelCase.
    Proposed,
    /// `_meta.harn.reminder` in a log message, with members in snake_case or camelCase.
    Legacy,
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
    /// Reads the members that have the right types, and ignores all others.
    pub(super) fn lenient(reminder: &Value, form: Form) -> Self {
        let member = |name: &str| {
            let old = SNAKE.iter().find(|(_, new)| *new == name && form == Form::Legacy).map(|(old, _)| *old);
            [Some(name), old].into_iter().flatten().map(|name| &reminder[name]).find(|value| !value.is_null())
        };
        let text = |name: &str| member(name).and_then(Value::as_str).map(str::to_owned);
        let propagate = match text("propagate").as_deref() {
            Some("all") => Propagate::All,
            Some("none") => Propagate::None,
            _ => Propagate::Session,
        };
        Self {
            id: text("id").unwrap_or_default(),
            body: text("body").unwrap_or_default(),
            dedupe_key: text("dedupeKey"),
            ttl_turns: member("ttlTurns").and_then(turns),
            preserve_on_compact: member("preserveOnCompact") == Some(&Value::Bool(true)),
            propagate,
            role_hint: text("roleHint"),
        }
    }

    /// Whether it belongs into the user's part of the prompt instead of the system prompt.
    pub(super) fn is_for_user_block(&self) -> bool {
        matches!(self.role_hint.as_deref(), Some("user_block" | "ephemeral_cache"))
    }

    /// The beginning of the body.
    pub(super) fn outline(&self) -> String {
        format!("{:?}", clip(&self.body, 60))
    }
}

/// A positive integer as JSON Schema defines it: `2.0` is one, too. Numbers that are too large count as the largest.
fn turns(value: &Value) -> Option<u64> {
    let whole = |number: f64| (number >= 1.0 && number.fract() == 0.0).then(|| format!("{number:.0}"));
    let turns = value.as_u64().or_else(|| Some(whole(value.as_f64()?)?.parse().unwrap_or(u64::MAX)));
    turns.filter(|turns| *turns > 0)
}

/// A parsed reminder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Read {
    /// The reminder.
    pub spec: Spec,
    /// What was unusual about it, as sentence fragments.
    pub remarks: Vec<String>,
    /// The form in which it arrived.
    pub form: Form,
}

/// The names of members in the older form, and the current ones.
const SNAKE: &[(&str, &str)] = &[
    ("dedupe_key", "dedupeKey"),
    ("ttl_turns", "ttlTurns"),
    ("preserve_on_compact", "preserveOnCompact"),
    ("role_hint", "roleHint"),
    ("fired_at_turn", "firedAtTurn"),
];

/// The members that the proposal defines.
const MEMBERS: [&str; 9] =
    ["id", "body", "tags", "dedupeKey", "ttlTurns", "preserveOnCompact", "propagate", "roleHint", "firedAtTurn"];

/// Parses the params of `notifications/reminder` (Reminder RFC, Proposed wire format).
///
/// # Errors
/// Where they violate the schema.
pub(super) fn canonical(params: &Value) -> Result<Read, String> {
    valid("notifications/reminder:params", params)?;
    Ok(read(&params["reminder"], Form::Proposed))
}

/// Parses the older form, `_meta.harn.reminder` in a log message (Reminder RFC, From the current `_meta` envelope).
/// `_meta` is a member of `params`, or of the message (AMB-B8). Returns `None` if the message contains no reminder.
pub(super) fn legacy(params: &Value, message: &[u8]) -> Option<Result<Read, String>> {
    let below = |meta: &Value| Some(meta["harn"]["reminder"].clone()).filter(|found| !found.is_null());
    let on_message = || below(&json::value_of(json::first_member(message, "_meta")?));
    let found = below(&params["_meta"]);
    let is_misplaced = found.is_none();
    let reminder = found.or_else(on_message)?;
    Some(legacy_violations(&reminder).map(|()| {
        let mut read = read(&reminder, Form::Legacy);
        if is_misplaced {
            read.remarks.push("_meta is next to params instead of in it".to_owned());
        }
        read
    }))
}

/// Checks a reminder in the older form.
///
/// # Errors
/// Where it violates the schema.
pub(super) fn legacy_violations(reminder: &Value) -> Result<(), String> {
    valid("LegacyReminder", reminder)
}

fn valid(definition: &str, value: &Value) -> Result<(), String> {
    let violations = SCHEMAS.check(definition, value).unwrap_or_default();
    match violations.is_empty() {
        true => Ok(()),
        false => Err(violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
    }
}

fn read(reminder: &Value, form: Form) -> Read {
    let misspelled = misspelled(reminder).map(|(key, meant)| misspelling(key, meant));
    let mut remarks: Vec<String> = if form == Form::Proposed { misspelled.collect() } else { Vec::new() };
    remarks.extend(fired_at(reminder));
    Read { spec: Spec::lenient(reminder, form), remarks, form }
}

/// The members whose names are almost those of the proposal, each with the name that was probably meant. They are
/// members that the proposal does not know, so they have no effect.
pub(super) fn misspelled(reminder: &Value) -> impl Iterator<Item = (&str, &'static str)> {
    let plain = |name: &str| name.replace(['_', '-'], "").to_ascii_lowercase();
    let keys = reminder.as_object().into_iter().flat_map(Map::keys);
    keys.filter_map(move |key| {
        let meant = MEMBERS.into_iter().find(|name| plain(name) == plain(key) && name != key)?;
        Some((key.as_str(), meant))
    })
}

/// Describes a misspelled member.
pub(super) fn misspelling(key: &str, meant: &str) -> String {
    format!("the reminder has the member {key:?}; did you mean {meant:?}?")
}

/// Describes a `firedAtTurn` that the server set (AMB-B5).
pub(super) fn fired_at(reminder: &Value) -> Option<String> {
    let fired = ["firedAtTurn", "fired_at_turn"].iter().find_map(|name| reminder.get(name))?;
    (!fired.is_null()).then(|| format!("the server set firedAtTurn to {fired}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn canonical_with(more: &Value) -> Result<Read, String> {
        let mut reminder = json!({"id": "r", "body": "b"});
        for (name, value) in more.as_object().expect("members") {
            reminder[name] = value.clone();
        }
        canonical(&json!({"reminder": reminder}))
    }

    #[test]
    fn b6_every_integer_of_json_schema_is_a_lifetime() {
        let turns = |text: &str| {
            let more: Value = serde_json::from_str(&format!("{{\"ttlTurns\": {text}}}")).expect("JSON");
            canonical_with(&more).map(|read| read.spec.ttl_turns)
        };
        assert_eq!(turns("2"), Ok(Some(2)));
        assert_eq!(turns("2.0"), Ok(Some(2)));
        assert_eq!(turns("18446744073709551615"), Ok(Some(u64::MAX)));
        assert_eq!(turns("99999999999999999999999"), Ok(Some(u64::MAX)));
        for wrong in ["0", "-1", "2.5", "\"2\"", "null", "true"] {
            assert!(turns(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn b27_a_member_that_the_schema_does_not_know_has_no_effect() {
        let read = canonical_with(&json!({"ttl_turns": 1, "colour": "red"})).expect("valid");
        assert_eq!(read.spec.ttl_turns, None);
        assert_eq!(read.remarks, [r#"the reminder has the member "ttl_turns"; did you mean "ttlTurns"?"#]);
    }

    #[test]
    fn b2_what_the_schema_refuses_is_no_reminder() {
        for (more, place) in [
            (json!({"tags": ["a", 1]}), "/reminder/tags/1"),
            (json!({"tags": "a"}), "/reminder/tags"),
            (json!({"dedupeKey": 7}), "/reminder/dedupeKey"),
            (json!({"firedAtTurn": "now"}), "/reminder/firedAtTurn"),
            (json!({"roleHint": "loud"}), "/reminder/roleHint"),
            (json!({"preserveOnCompact": "yes"}), "/reminder/preserveOnCompact"),
            (json!({"body": ""}), "/reminder/body"),
        ] {
            let why = canonical_with(&more).expect_err("invalid");
            assert!(why.starts_with(&format!("{place}: ")), "{more}: {why}");
        }
    }
}
