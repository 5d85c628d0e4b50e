//! What the check of one rule remembers of a connection, and what it finds in the next message.

use super::plan::{Anchor, CheckKind, Messages, Plan};
use super::pointer::{Part, Pointer};
use crate::proposals::recent::{Digest, Recent};
use crate::proposals::{CapabilityPlace, Findings, Observed, Rule, Side, clip};
use crate::protocol::schema::SchemaViolation;
use crate::validate::foreign_schema::{ForeignSchema, Verdict};
use crate::wire::{Direction, MessageKind};
use serde_json::{Value, json};
use std::time::Duration;

/// The maximum number of values that a rule remembers of a connection.
const MAX_VALUES: usize = 4096;
/// The maximum number of schemas that a rule remembers of a connection.
const MAX_SCHEMAS: usize = 256;
/// Longer schemas of peers are not remembered. Unit: bytes of JSON.
const MAX_SCHEMA_BYTES: usize = 64 << 10;
/// Longer values are remembered by their checksum. Unit: bytes of JSON.
const MAX_KEY_BYTES: usize = 256;
/// The maximum number of violations of a schema that are reported one by one for a message.
const MAX_VIOLATIONS: usize = 5;

/// A message that a rule looks at.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub plan: &'static Plan,
    pub rule: &'static Rule,
    pub message: &'a Observed<'a>,
    /// The message shows a dialect.
    pub is_sign: bool,
    /// It shows another one than the session's: the names of both.
    pub mixed: Option<(&'static str, &'static str)>,
}

impl At<'_> {
    /// Returns who sent what, for a finding.
    fn sent(&self) -> String {
        let message = self.message;
        let method = message.method.unwrap_or_default();
        let what = match message.envelope.kind {
            MessageKind::Result => format!("a result of {method}"),
            MessageKind::Error => format!("an error for {method}"),
            _ => method.to_owned(),
        };
        let side = if message.direction == Direction::ClientToServer { "client" } else { "server" };
        format!("the {side} sent {what}")
    }
}

/// A value as a key: its JSON text, or the beginning and the checksum of it.
type Key = String;

/// Where something was seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    seq: u64,
    time: i64,
}

/// What a check remembers.
pub(super) enum State {
    /// Nothing.
    Nothing,
    /// The messages without an answer so far, by key.
    Waiting(Recent<Key, Seen>),
    /// The values so far.
    Values(Recent<Key, u64>),
    /// What has come before, by key, and whether that was used.
    Before { known: Recent<Key, bool>, lost: bool },
    /// The schemas so far, by name.
    Schemas(Recent<Key, ForeignSchema>),
}

impl State {
    /// Begins a check.
    pub(super) fn new(kind: &CheckKind) -> Self {
        match kind {
            CheckKind::AnsweredWithin { .. } => Self::Waiting(Recent::new(MAX_VALUES)),
            CheckKind::UniqueBy { .. } => Self::Values(Recent::new(MAX_VALUES)),
            CheckKind::OnlyAfter { .. } => Self::Before { known: Recent::new(MAX_VALUES), lost: false },
            CheckKind::MatchesSchemaOf { .. } => Self::Schemas(Recent::new(MAX_SCHEMAS)),
            _ => Self::Nothing,
        }
    }

    /// Notes that messages are missing.
    pub(super) fn lose_track(&mut self) {
        match self {
            Self::Waiting(waiting) => *waiting = Recent::new(MAX_VALUES),
            Self::Before { lost, .. } => *lost = true,
            Self::Schemas(schemas) => *schemas = Recent::new(MAX_SCHEMAS),
            Self::Nothing | Self::Values(_) => {}
        }
    }

    /// Takes the next message.
    pub(super) fn take(&mut self, kind: &CheckKind, at: &At<'_>, findings: &mut Findings) {
        match (self, kind) {
            (_, CheckKind::RequiresCapability { messages, places, member }) if messages.have(at.message) => {
                requires_capability(at, places, member.as_deref(), findings);
            }
            (Self::Waiting(waiting), CheckKind::AnsweredWithin { messages, time, key, by }) => {
                answered_within(waiting, at, messages, *time, (key.as_ref(), by.as_ref()), findings);
            }
            (Self::Values(values), CheckKind::UniqueBy { messages, each, key, per }) if messages.have(at.message) => {
                unique_by(values, at, each.as_ref(), (key, per.as_ref()), findings);
            }
            (Self::Before { known, lost }, CheckKind::OnlyAfter { messages, key, after, until, once }) => {
                if messages.have(at.message) {
                    only_after(known, *lost, at, (key.as_ref(), after, until.as_ref(), *once), findings);
                }
                note_order(known, at.message, after, until.as_ref());
            }
            (_, CheckKind::MatchesSchema { messages, each, value, definition }) if messages.have(at.message) => {
                matches_schema(at, each.as_ref(), value, definition, findings);
            }
            (Self::Schemas(known), CheckKind::MatchesSchemaOf { messages, each, value, key, from, .. }) => {
                if messages.have(at.message) {
                    matches_schema_of(known, at, each.as_ref(), (key, value), findings);
                }
                if from.have(at.message) {
                    note_schemas(known, at, kind, findings);
                }
            }
            (_, CheckKind::OneDialect) if at.is_sign => one_dialect(at, findings),
            _ => {}
        }
    }

    /// Ends the session.
    pub(super) fn finish(&mut self, kind: &CheckKind, rule: &'static Rule, last: i64, findings: &mut Findings) {
        let (Self::Waiting(waiting), CheckKind::AnsweredWithin { messages, time, .. }) = (self, kind) else { return };
        while let Some((_, asked)) = waiting.pop_oldest() {
            if last.saturating_sub(asked.time) > nanoseconds(*time) {
                let seen = format!("{} was not answered within {time:?}", messages.text());
                findings.note(rule, asked.seq, seen);
            }
        }
    }
}

fn nanoseconds(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// Returns a value as a key.
fn key_of(value: &Value) -> Key {
    let text = value.to_string();
    if text.len() <= MAX_KEY_BYTES {
        return text;
    }
    format!("{}{:?}", clip(&text, MAX_KEY_BYTES / 4), Digest::of_bytes(text.as_bytes()))
}

/// Returns the key that a pointer leads to: an empty one without a pointer, `None` if the value is missing.
fn key_at(part: &Part<'_>, pointer: Option<&Pointer>) -> Option<Key> {
    pointer.map_or(Some(Key::new()), |pointer| part.get(pointer).map(key_of))
}

fn key_in(message: &Observed<'_>, pointer: Option<&Pointer>) -> Option<Key> {
    Part::each(message, None).first().and_then(|whole| key_at(whole, pointer))
}

/// Returns the key of the request that a response answers.
fn key_of_request(message: &Observed<'_>, pointer: Option<&Pointer>) -> Option<Key> {
    let asked = message.request?;
    let request = json!({"id": message.whole.get("id"), "method": asked.method, "params": asked.params});
    pointer.map_or(Some(Key::new()), |pointer| pointer.within(&request).map(key_of))
}

/// Returns a message as schemas see it: a response has its request's params.
fn with_request(message: &Observed<'_>) -> Value {
    let mut whole = message.whole.clone();
    if let (Some(asked), Some(members)) = (message.request, whole.as_object_mut()) {
        members.insert("request".to_owned(), json!({"params": asked.params}));
    }
    whole
}

fn requires_capability(at: &At<'_>, places: &[usize], member: Option<&str>, findings: &mut Findings) {
    let message = at.message;
    let places: Vec<&CapabilityPlace> =
        places.iter().filter_map(|place| at.plan.descriptor.places.get(*place)).collect();
    let of = |side: Side| match side {
        Side::Client => &message.declared.client,
        Side::Server => &message.declared.server,
    };
    // What was declared before the recording began is unknown.
    if places.iter().any(|place| !of(place.side).is_object()) {
        return;
    }
    let is_there = |place: &&CapabilityPlace| {
        let value = place.value(of(place.side));
        value.is_some_and(|value| member.is_none_or(|member| value[member] == true))
    };
    findings.check(at.rule, message.seq, places.iter().any(is_there), || {
        let name = |place: &&CapabilityPlace| {
            let member = member.map(|member| format!(".{member}")).unwrap_or_default();
            format!("{}{member}", place.path.join("."))
        };
        let names: Vec<_> = places.iter().map(name).collect();
        let is_client = places.first().is_some_and(|place| place.side == Side::Client);
        let side = if is_client { "client" } else { "server" };
        format!("{}, but the {side} did not declare {}", at.sent(), names.join(" or "))
    });
}

fn answered_within(
    waiting: &mut Recent<Key, Seen>,
    at: &At<'_>,
    messages: &Messages,
    time: Duration,
    (key, by): (Option<&Pointer>, Option<&Anchor>),
    findings: &mut Findings,
) {
    let message = at.message;
    let id = || message.envelope.id.map(|id| format!("{:?}", id.key()));
    let answered = match by {
        Some(by) if by.messages.have(message) => key_in(message, by.key.as_ref()),
        Some(_) => key_of_request(message, key),
        None if message.envelope.kind.is_response() => id(),
        None => None,
    };
    if let Some(asked) = answered.and_then(|key| waiting.remove(&key)) {
        let took = message.time.saturating_sub(asked.time);
        findings.check(at.rule, message.seq, took <= nanoseconds(time), || {
            let took = Duration::from_millis(u64::try_from(took / 1_000_000).unwrap_or(0));
            format!("{} (event {}) was answered after {took:?}, not within {time:?}", messages.text(), asked.seq)
        });
    }
    if !messages.have(message) {
        return;
    }
    let asked = if by.is_some() { key_in(message, key) } else { id() };
    if let Some(asked) = asked {
        if waiting.len() >= MAX_VALUES {
            findings.give_up(at.rule);
        }
        waiting.insert(asked, Seen { seq: message.seq, time: message.time });
    }
}

fn unique_by(
    values: &mut Recent<Key, u64>,
    at: &At<'_>,
    each: Option<&Pointer>,
    (key, per): (&Pointer, Option<&Pointer>),
    findings: &mut Findings,
) {
    let seq = at.message.seq;
    for part in Part::each(at.message, each) {
        let (Some(value), Some(per)) = (part.get(key), key_at(&part, per)) else { continue };
        if values.len() >= MAX_VALUES {
            findings.give_up(at.rule);
        }
        match values.insert(format!("{per} {}", key_of(value)), seq) {
            None => findings.hold(at.rule),
            Some(before) => {
                let (name, value) = (key.last(), value.to_string());
                let seen = format!("{} with the {name} {}, as in event {before}", at.sent(), clip(&value, 60));
                findings.note_at(at.rule, seq, part.path(key), seen);
            }
        }
    }
}

fn only_after(
    known: &mut Recent<Key, bool>,
    lost: bool,
    at: &At<'_>,
    (key, after, until, once): (Option<&Pointer>, &Anchor, Option<&Anchor>, bool),
    findings: &mut Findings,
) {
    let Some(wanted) = key_in(at.message, key) else { return };
    let used = known.get_mut(&wanted).map(|used| std::mem::replace(used, true));
    if used.is_none() && (lost || known.has_forgotten()) {
        // It may have come in the missing part.
        return;
    }
    let holds = matches!((used, once), (Some(false), _) | (Some(true), false));
    let seen = || {
        let with = key.map(|key| format!(" with the {} {}", key.last(), clip(&wanted, 60))).unwrap_or_default();
        let before = after.messages.text();
        match (used, until) {
            (Some(_), _) => format!("{}{with} again after one {before}", at.sent()),
            (None, None) => format!("{}{with}, but no {before} came before it", at.sent()),
            (None, Some(until)) => {
                format!("{}{with}, but no {before} came before it, or {} ended it", at.sent(), until.messages.text())
            }
        }
    };
    match key.filter(|_| !holds) {
        Some(key) => findings.note_at(at.rule, at.message.seq, key.to_string(), seen()),
        None => findings.check(at.rule, at.message.seq, holds, seen),
    }
}

/// Remembers that a message came, or that it no longer counts.
fn note_order(known: &mut Recent<Key, bool>, message: &Observed<'_>, after: &Anchor, until: Option<&Anchor>) {
    if let Some(until) = until.filter(|until| until.messages.have(message))
        && let Some(key) = key_in(message, until.key.as_ref())
    {
        known.remove(&key);
    }
    if after.messages.have(message)
        && let Some(key) = key_in(message, after.key.as_ref())
    {
        known.insert(key, false);
    }
}

fn matches_schema(at: &At<'_>, each: Option<&Pointer>, value: &Pointer, definition: &str, findings: &mut Findings) {
    for part in Part::each(at.message, each) {
        let is_whole = each.is_none() && *value == Pointer::default();
        let whole = is_whole.then(|| with_request(at.message));
        let Some(found) = whole.as_ref().or_else(|| part.get(value)) else { continue };
        let violations = at.plan.descriptor.schemas.check(definition, found).unwrap_or_default();
        if violations.is_empty() {
            findings.hold(at.rule);
        }
        for SchemaViolation { place, reason } in violations.into_iter().take(MAX_VIOLATIONS) {
            let path = format!("{}{place}", part.path(value));
            let seen = format!("{}, at {path}: {reason}", at.sent());
            match path.starts_with("/request/") {
                // That is in another message.
                true => findings.note(at.rule, at.message.seq, seen),
                false => findings.note_at(at.rule, at.message.seq, path, seen),
            }
        }
    }
}

fn matches_schema_of(
    known: &Recent<Key, ForeignSchema>,
    at: &At<'_>,
    each: Option<&Pointer>,
    (key, value): (&Pointer, &Pointer),
    findings: &mut Findings,
) {
    for part in Part::each(at.message, each) {
        let (Some(name), Some(found)) = (part.get(key), part.get(value)) else { continue };
        let Some(schema) = known.get(&key_of(name)) else { continue };
        match schema.judge(found) {
            Verdict::Unknown => findings.give_up(at.rule),
            Verdict::Conforms => findings.hold(at.rule),
            Verdict::Differs(differences) => {
                let seen = format!("{} that is not as the schema of {name} says: {differences}", at.sent());
                findings.note_at(at.rule, at.message.seq, part.path(value), seen);
            }
        }
    }
}

/// Remembers the schemas in a message.
fn note_schemas(known: &mut Recent<Key, ForeignSchema>, at: &At<'_>, kind: &CheckKind, findings: &mut Findings) {
    let CheckKind::MatchesSchemaOf { schemas, name, schema, .. } = kind else { return };
    for part in Part::each(at.message, Some(schemas)) {
        let (Some(name), Some(schema)) = (part.get(name), part.get(schema)) else { continue };
        if known.len() >= MAX_SCHEMAS || schema.to_string().len() > MAX_SCHEMA_BYTES {
            findings.give_up(at.rule);
            continue;
        }
        known.insert(key_of(name), ForeignSchema::new(schema.clone()));
    }
}

fn one_dialect(at: &At<'_>, findings: &mut Findings) {
    findings.check(at.rule, at.message.seq, at.mixed.is_none(), || {
        let (own, other) = at.mixed.unwrap_or_default();
        format!("{} in the dialect {other}, but the session uses {own}", at.sent())
    });
}
