//! Rules that this proposal lays on a session, and the observer that checks them.

mod files;

use super::pending::Queue;
use super::{DESCRIPTOR, REMINDER, SCHEMAS};
use crate::proposals::findings::rules;
use crate::proposals::recent::{Digest, Recent, digest};
use crate::proposals::{ConversationEvent, Declared, Findings, Observed, Observer, Side};
use crate::wire::{IdKey, MessageKind};
use files::Files;
use serde_json::Value;
use std::collections::VecDeque;

rules! {
    UNDECLARED = Error "reminder/undeclared",
        "A server that sends reminders declared reminders.emit; others' are dropped.",
        "seed 001, Server capability advertisement, B15";
    UNLISTED = Warning "reminder/unlisted-value",
        "A reminder uses only the propagate and roleHint values that the server listed, defaults included.",
        "seed 001, Server capability advertisement, B14";
    ODD_ID = Info "reminder/id-not-uuid7",
        "A reminder's id is best a UUID of version 7.",
        "seed 001, ReminderSpec, B3";
    SNAKE_CASE = Error "reminder/snake-case",
        "Members of a reminder are written in camelCase.",
        "seed 001, ReminderSpec, B12 and B27";
    NEAR_MISS = Warning "reminder/near-miss",
        "Members of a reminder are spelled as the proposal spells them.",
        "seed 001, ReminderSpec, B12";
    FIRED_AT = Info "reminder/fired-at-turn",
        "A server cannot know turns, so it leaves firedAtTurn null.",
        "seed 001, ReminderSpec, AMB-B5";
    RESENT = Info "reminder/resent",
        "A reminder's id is used once; again it updates, or repeats, the reminder.",
        "seed 001, ReminderSpec, AMB-B4";
    BOTH_PATHS = Info "reminder/both-paths",
        "A reminder travels by one path, notifications/reminder or the legacy envelope.",
        "seed 001, Compatibility and migration, B26";
    LEGACY_ENVELOPE = Warning "reminder/legacy-envelope",
        "Reminders travel by notifications/reminder; _meta.harn.reminder on notifications/message is its past.",
        "seed 001, From the current _meta envelope, B24";
    LEGACY_SHAPE = Error "reminder/legacy-shape",
        "A reminder in the legacy envelope has an id and a body, and members of their types.",
        "seed 001, From the current _meta envelope, B24 and B27";
    LEGACY_CAPABILITY = Warning "reminder/legacy-capability",
        "Reminders are declared at capabilities.reminders; _meta.harn.reminders is its past.",
        "seed 001, Reference implementation status, B25";
    LEGACY_PLACE = Warning "reminder/legacy-place",
        "The legacy envelope stands in the params' _meta, not beside the params.",
        "seed 001, From the current _meta envelope, AMB-B8";
    NO_LIFETIME = Info "reminder/no-lifetime",
        "A reminder says for how many turns it counts; hosts differ about one that does not.",
        "seed 001, ReminderSpec, AMB-B1";
    PROVIDER_ROLE = Info "reminder/provider-role",
        "A role hint is one that every model has: system or developer.",
        "seed 001, Open questions 4, B32";
    DURING_CALL = Info "reminder/during-call",
        "A reminder belongs to the session, so one that comes while a tool is called is not taken for that call's.",
        "seed 001, Open questions 2, B30";
    NO_UPDATE = Info "reminder/no-resource-update",
        "A reminder of a changed file comes with a resources/updated to those who subscribed to it.",
        "seed 001, Positioning vs file-watcher / build-watcher use cases, B23";
    TURN_BUDGET = Warning "reminder/turn-budget",
        "A server leaves room in a turn: at most 10 reminders wait for it.",
        "seed 001, Open questions 6, B18, B19 and B28";
    RATE = Warning "reminder/rate",
        "A server does not flood the host: at most 60 reminders a minute.",
        "seed 001, Open questions 6, B28";
}

/// Reminders a minute beyond which a server floods.
const MAX_A_MINUTE: usize = 60;
/// Reminders of one server in one turn beyond which it floods.
const MAX_A_TURN: usize = 10;
/// A minute in nanoseconds.
const MINUTE: i64 = 60_000_000_000;

/// By which method a reminder came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    Proposed,
    Legacy,
}

/// Checks one connection.
#[derive(Debug)]
pub struct ReminderObserver {
    seen: Recent<String, (Path, Digest)>,
    times: VecDeque<i64>,
    flooding: bool,
    pending: Queue,
    files: Files,
    /// Tool calls that wait for their result.
    calls: Recent<IdKey>,
    /// Told once a session.
    lifetime_reported: bool,
}

impl Default for ReminderObserver {
    fn default() -> Self {
        Self {
            seen: Recent::new(1024),
            times: VecDeque::new(),
            flooding: false,
            pending: Queue::default(),
            files: Files::default(),
            calls: Recent::new(256),
            lifetime_reported: false,
        }
    }
}

impl Observer for ReminderObserver {
    fn observe(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        self.files.pass(message.time, findings);
        match (message.method, message.envelope.kind) {
            (Some(REMINDER), MessageKind::Notification | MessageKind::Request) => {
                let reminder = &message.content["reminder"];
                self.common(message, reminder, Path::Proposed, findings);
                check_spelling(message.seq, reminder, findings);
            }
            (Some("notifications/message"), MessageKind::Notification) => {
                let place = |value: &'_ Value| !value["_meta"]["harn"]["reminder"].is_null();
                let Some(holder) = [message.content, message.whole].into_iter().find(|value| place(value)) else {
                    return;
                };
                let reminder = &holder["_meta"]["harn"]["reminder"];
                findings.check(&LEGACY_PLACE, message.seq, place(message.content), || {
                    "_meta.harn.reminder beside the params".to_owned()
                });
                findings.note(&LEGACY_ENVELOPE, message.seq, "a reminder in notifications/message");
                let violations = SCHEMAS.check("LegacyReminder", reminder).unwrap_or_default();
                findings.check(&LEGACY_SHAPE, message.seq, violations.is_empty(), || {
                    violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
                });
                self.common(message, reminder, Path::Legacy, findings);
            }
            (Some("initialize"), MessageKind::Result) => declared(message, findings),
            (Some("tools/call"), MessageKind::Request) => {
                if let Some(id) = message.envelope.id {
                    self.calls.insert(id.key(), ());
                }
            }
            (Some("tools/call"), MessageKind::Result | MessageKind::Error) => {
                if let Some(id) = message.envelope.id {
                    self.calls.remove(&id.key());
                }
            }
            // Which call it was is not looked up: what is told about calls is only worth knowing.
            (Some("notifications/cancelled"), MessageKind::Notification) => self.calls = Recent::new(256),
            (Some("resources/subscribe"), MessageKind::Request) => self.files.subscribed(message),
            (Some("notifications/resources/updated"), MessageKind::Notification) => {
                self.files.updated(message, findings);
            }
            _ => {}
        }
    }

    fn reach(&mut self, moment: ConversationEvent, seq: u64, _time: i64, findings: &mut Findings) {
        match moment {
            ConversationEvent::Turn => {
                let count = self.pending.turn();
                if count > 0 {
                    findings.check(&TURN_BUDGET, seq, count <= MAX_A_TURN, || {
                        format!("{count} reminders wait for this turn")
                    });
                }
            }
            ConversationEvent::Compacted => self.pending.compact(),
            _ => {}
        }
    }

    fn lose_track(&mut self) {
        self.pending.clear();
        self.files.lose_track();
        self.calls = Recent::new(256);
    }
}

impl ReminderObserver {
    fn common(&mut self, message: &Observed<'_>, reminder: &Value, path: Path, findings: &mut Findings) {
        let seq = message.seq;
        if message.declared.server.is_object() {
            findings.check(&UNDECLARED, seq, emits(message.declared), || {
                "a reminder from a server that did not declare reminders.emit".to_owned()
            });
        }
        check_listed(message, reminder, findings);
        let fired = ["firedAtTurn", "fired_at_turn"].iter().find_map(|name| reminder.get(name));
        findings.check(&FIRED_AT, seq, fired.is_none_or(Value::is_null), || {
            format!("firedAtTurn is {}", fired.unwrap_or(&Value::Null))
        });
        self.check_rate(message, findings);
        self.check_moment(message, reminder, findings);
        self.pending.push(reminder);
        let Some(id) = reminder["id"].as_str() else { return };
        let version = uuid::Uuid::parse_str(id).map(|id| id.get_version_num());
        findings.check(&ODD_ID, seq, version == Ok(7), || format!("id {id:?}"));
        let body = digest(&reminder["body"]);
        let before = self.seen.insert(id.to_owned(), (path, body));
        let crossed = before.as_ref().is_some_and(|(before, _)| *before != path);
        findings.check(&BOTH_PATHS, seq, !crossed, || format!("{id} came by the other path before"));
        findings.check(&RESENT, seq, crossed || before.is_none(), || {
            let same = before.as_ref().is_some_and(|(_, before)| *before == body);
            format!("{id} again, {}", if same { "a repeat" } else { "an update" })
        });
    }

    /// What the reminder says about its turns and its role, and what it comes together with.
    fn check_moment(&mut self, message: &Observed<'_>, reminder: &Value, findings: &mut Findings) {
        let seq = message.seq;
        let either = |names: [&str; 2]| names.iter().map(|name| &reminder[*name]).find(|value| !value.is_null());
        let lasting = either(["ttlTurns", "ttl_turns"]).is_some();
        findings.check(&NO_LIFETIME, seq, lasting || self.lifetime_reported, || "no ttlTurns".to_owned());
        self.lifetime_reported |= !lasting;
        let role = either(["roleHint", "role_hint"]).and_then(Value::as_str).unwrap_or("system");
        let of_provider = matches!(role, "user_block" | "ephemeral_cache");
        findings.check(&PROVIDER_ROLE, seq, !of_provider, || format!("roleHint {role:?}"));
        findings.check(&DURING_CALL, seq, self.calls.is_empty(), || {
            format!("while {} tools/call wait for their result", self.calls.len())
        });
        if let Some(key) = either(["dedupeKey", "dedupe_key"]).and_then(Value::as_str) {
            self.files.reminded(message, key, findings);
        }
    }

    fn check_rate(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        self.times.push_back(message.time);
        while self.times.front().is_some_and(|first| message.time.saturating_sub(*first) >= MINUTE) {
            self.times.pop_front();
            self.flooding = false;
        }
        let flood = self.times.len() > MAX_A_MINUTE;
        if flood {
            self.times.pop_front();
        }
        // A flood is told once, until it ebbs.
        findings.check(&RATE, message.seq, !flood || self.flooding, || {
            format!("more than {MAX_A_MINUTE} reminders in a minute")
        });
        self.flooding |= flood;
    }
}

fn emits(declared: &Declared) -> bool {
    declared.find(&DESCRIPTOR, Side::Server).is_some_and(|(_, value)| value["emit"] == true)
}

fn declared(message: &Observed<'_>, findings: &mut Findings) {
    let Some((place, _)) = message.declared.find(&DESCRIPTOR, Side::Server) else { return };
    findings.check(&LEGACY_CAPABILITY, message.seq, place.path.first() != Some(&"_meta"), || {
        format!("declared at {}", place.path.join("."))
    });
}

fn check_listed(message: &Observed<'_>, reminder: &Value, findings: &mut Findings) {
    let Some((_, declared)) = message.declared.find(&DESCRIPTOR, Side::Server) else { return };
    let roles = if reminder.get("role_hint").is_some() { "role_hint" } else { "roleHint" };
    for (member, list, default) in [("propagate", "propagate", "session"), (roles, "roleHints", "system")] {
        let Some(listed) = declared[list].as_array() else { continue };
        let used = reminder[member].as_str().unwrap_or(default);
        findings.check(&UNLISTED, message.seq, listed.iter().any(|value| value == used), || {
            format!("{member} {used:?}, not in the declared {list}")
        });
    }
}

/// Members that are almost one of the proposal's.
fn check_spelling(seq: u64, reminder: &Value, findings: &mut Findings) {
    const MEMBERS: [&str; 9] =
        ["id", "body", "tags", "dedupeKey", "ttlTurns", "preserveOnCompact", "propagate", "roleHint", "firedAtTurn"];
    let plain = |name: &str| name.replace(['_', '-'], "").to_ascii_lowercase();
    for rule in [&SNAKE_CASE, &NEAR_MISS] {
        findings.hold(rule);
    }
    for key in reminder.as_object().into_iter().flat_map(|members| members.keys()) {
        let Some(meant) = MEMBERS.iter().find(|name| plain(name) == plain(key) && *name != key) else { continue };
        let rule = if key.contains('_') { &SNAKE_CASE } else { &NEAR_MISS };
        findings.note(rule, seq, format!("{key:?}; did you mean {meant:?}?"));
    }
}
