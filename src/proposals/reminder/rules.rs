//! The rules of the Reminder RFC, and the observer that checks them.

mod files;

use super::pending::Queue;
use super::read::{self, Form, Spec};
use super::{DESCRIPTOR, REMINDER};
use crate::proposals::findings::rules;
use crate::proposals::recent::{Digest, Recent, digest};
use crate::proposals::{ConversationEvent, Declared, Findings, Observed, Observer, Side};
use crate::wire::text::counted_as;
use crate::wire::{Direction, IdKey, MessageKind};
use files::Files;
use serde_json::Value;
use std::collections::VecDeque;

/// The questions that the proposal leaves open (`AMB-…`), and what mcpreel assumes.
mod open_questions {
    pub(super) const B1: &str = "The proposal has no default lifetime. mcpreel counts such a reminder for one turn when it validates; its host keeps it for 20 turns.";
    pub(super) const B4: &str = "The proposal does not say what a repeated id means. mcpreel takes it as an update if the body changed, and as a duplicate otherwise.";
    pub(super) const B5: &str = "The proposal does not say who sets `firedAtTurn`. mcpreel leaves it to the host.";
    pub(super) const B8: &str = "The proposal does not say where the older form is. mcpreel accepts both places.";
}

rules! {
    UNDECLARED = Error "reminder/undeclared",
        "The server sends reminders only if it declared `reminders.emit: true`; hosts drop the reminders of other servers.",
        "Reminder RFC, Server capability advertisement",
        fix "Declare `reminders` with `emit: true` in your result of `initialize`.";
    UNLISTED = Warning "reminder/unlisted-value",
        "A server that lists the values it uses in `reminders.propagate` or `reminders.roleHints` sends reminders only with a listed `propagate` or `roleHint`. A reminder without them counts as `session` and `system`.",
        "Reminder RFC, Server capability advertisement",
        fix "Add the value to the declaration, or use a listed one.";
    ODD_ID = Info "reminder/id-not-uuid7",
        "The server gives each reminder an `id` that is a version 7 UUID.",
        "Reminder RFC, Proposed wire format",
        fix "Make ids with a UUID library that has version 7.";
    SNAKE_CASE = Warning "reminder/snake-case",
        "In `notifications/reminder`, the server writes the names of a reminder's members in camelCase (`ttlTurns`, not `ttl_turns`).",
        "Reminder RFC, Proposed wire format",
        fix "Rename the members to camelCase.";
    NEAR_MISS = Warning "reminder/near-miss",
        "In `notifications/reminder`, the server spells the names of a reminder's members exactly as the proposal does (`ttlTurns`, not `TtlTurns`).",
        "Reminder RFC, Proposed wire format",
        fix "Rename the member to the spelling in the proposal; others are ignored.";
    FIRED_AT = Info "reminder/fired-at-turn",
        "The server leaves `firedAtTurn` out or null: only the host knows in which turn it shows the reminder.",
        "Reminder RFC, Proposed wire format, AMB-B5",
        assumes open_questions::B5,
        fix "Leave `firedAtTurn` out.";
    RESENT = Info "reminder/resent",
        "The server gives each new reminder a new `id`. This is reported whenever an `id` comes again: as a repeat (same `body`) or as an update (another `body`).",
        "Reminder RFC, Proposed wire format, AMB-B4",
        assumes open_questions::B4,
        fix "Make a new `id` for each reminder, and use `dedupeKey` to replace an earlier one.";
    ID_REUSED = Warning "reminder/id-reused",
        "The server gives each reminder an `id` of its own: two reminders with different `body` and different `dedupeKey` never share one.",
        "Reminder RFC, JSON Schema sketch",
        fix "Keep the `id` for a repeat or an update of the same reminder only.";
    OTHER_METHOD = Warning "reminder/other-method",
        "A server that declared `reminders.emit` sends its reminders as `notifications/reminder`, not as a notification of a similar name.",
        "Reminder RFC, JSON Schema sketch",
        fix "Send `notifications/reminder`.";
    BOTH_PATHS = Info "reminder/both-paths",
        "The server sends a reminder (one `id`) in one form only: as `notifications/reminder`, or in the older form, as `_meta.harn.reminder` in `notifications/message`.",
        "Reminder RFC, Compatibility and migration",
        fix "Send the older form only to hosts that do not know `notifications/reminder`.";
    LEGACY_ENVELOPE = Warning "reminder/legacy-envelope",
        "The server sends reminders as `notifications/reminder`, not in the older form, as `_meta.harn.reminder` in `notifications/message`.",
        "Reminder RFC, From the current _meta envelope",
        fix "Send `notifications/reminder` with the reminder as `params.reminder`.";
    LEGACY_SHAPE = Error "reminder/legacy-shape",
        "A server that sends a reminder in the older form (`_meta.harn.reminder`) gives it an `id` and a `body`, and each member the type that the proposal defines.",
        "Reminder RFC, From the current _meta envelope",
        fix "Give the reminder an `id` and a `body`, both strings.";
    LEGACY_CAPABILITY = Warning "reminder/legacy-capability",
        "The server declares `capabilities.reminders`, not the older `capabilities._meta.harn.reminders`.",
        "Reminder RFC, Reference implementation status",
        fix "Move the declaration to `capabilities.reminders`.";
    LEGACY_PLACE = Warning "reminder/legacy-place",
        "A server that sends a reminder in the older form puts `_meta.harn.reminder` inside `params` of `notifications/message`, not next to `params`.",
        "Reminder RFC, From the current _meta envelope, AMB-B8",
        assumes open_questions::B8,
        fix "Move `_meta` into `params`.";
    LEGACY_KEY = Error "reminder/legacy-key",
        "A server that sends a reminder in the older form puts it into `_meta` as the member `reminder` of an object `harn`, not under the name `harn.reminder`.",
        "Reminder RFC, From the current _meta envelope",
        fix "Write `\"_meta\": {\"harn\": {\"reminder\": {…}}}`, or better, send `notifications/reminder`.";
    CAPABILITY_NEAR_MISS = Warning "reminder/capability-near-miss",
        "In the capability `reminders`, the server spells the names of the members as the proposal does (`roleHints`, not `roleHint`).",
        "Reminder RFC, Server capability advertisement",
        fix "Rename the member to the spelling in the proposal; others are ignored.";
    NO_LIFETIME = Info "reminder/no-lifetime",
        "The server says in `ttlTurns` for how many turns a reminder lasts; without it, each host decides. Reported once per session.",
        "Reminder RFC, Proposed wire format, AMB-B1",
        assumes open_questions::B1,
        fix "Add `ttlTurns`.";
    PROVIDER_ROLE = Info "reminder/provider-role",
        "The server gives a reminder no `roleHint` of `user_block` or `ephemeral_cache`, which not all model providers support; `system` and `developer` are safe.",
        "Reminder RFC, Open questions 4",
        fix "Use `system` or `developer`, or leave `roleHint` out.";
    DURING_CALL = Info "reminder/during-call",
        "The server sends no reminder while a `tools/call` of the client waits for its result: the host cannot tell whether the reminder belongs to that call.",
        "Reminder RFC, Open questions 2",
        fix "Keep the reminder until you have answered the call, or put the text into the tool's result.";
    NO_UPDATE = Info "reminder/no-resource-update",
        "A server that sends a reminder about a file (the part of `dedupeKey` after the colon) also sends `notifications/resources/updated` for it within 2 s, if the client subscribed to the file. Checked when a later message arrives.",
        "Reminder RFC, Positioning vs file-watcher / build-watcher use cases",
        fix "Send `notifications/resources/updated` with the file's URI together with the reminder.";
    TURN_BUDGET = Warning "reminder/turn-budget",
        "The server has at most 10 reminders waiting for one turn: a limit of mcpreel's, because the proposal leaves it to the hosts, so that reminders do not fill the prompt. Checked only if the reel notes the turns.",
        "Reminder RFC, Host-side rendering and Open questions 6",
        fix "Combine reminders, and replace earlier ones by `dedupeKey`.";
    RATE = Warning "reminder/rate",
        "The server sends at most 60 reminders in any 60 seconds: a limit of mcpreel's, because the proposal leaves it to the hosts.",
        "Reminder RFC, Open questions 6",
        fix "Combine reminders that come in quick succession.";
}

/// The maximum number of reminders per minute.
const MAX_PER_MINUTE: usize = 60;
/// The maximum number of reminders of one server in one turn.
const MAX_PER_TURN: usize = 10;
/// A minute in nanoseconds.
const MINUTE_NS: i64 = 60_000_000_000;

/// Checks one connection.
#[derive(Debug)]
pub(super) struct ReminderObserver {
    /// The form, the body and the key of each reminder, by its id.
    seen: Recent<String, (Form, Digest, Option<Digest>)>,
    times: VecDeque<i64>,
    flooding: bool,
    pending: Queue,
    files: Files,
    /// Tool calls without a result.
    calls: Recent<IdKey>,
    /// Whether a reminder without a lifetime was already reported; this happens once per session.
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
                self.common(message, reminder, Form::Proposed, findings);
                check_spelling(message.seq, reminder, findings);
            }
            (Some("notifications/message"), MessageKind::Notification) => {
                let is_dotted = !message.content["_meta"]["harn.reminder"].is_null();
                if is_dotted {
                    findings.note(&LEGACY_KEY, message.seq, "the reminder is under the name harn.reminder");
                }
                let place = |value: &'_ Value| !value["_meta"]["harn"]["reminder"].is_null();
                let Some(holder) = [message.content, message.whole].into_iter().find(|value| place(value)) else {
                    return;
                };
                let reminder = &holder["_meta"]["harn"]["reminder"];
                findings.check(&LEGACY_PLACE, message.seq, place(message.content), || {
                    "_meta.harn.reminder is next to params".to_owned()
                });
                findings.hold(&LEGACY_KEY);
                findings.note(&LEGACY_ENVELOPE, message.seq, "the server sent a reminder in notifications/message");
                let violations = read::legacy_violations(reminder).err();
                findings.check(&LEGACY_SHAPE, message.seq, violations.is_none(), || violations.unwrap_or_default());
                self.common(message, reminder, Form::Legacy, findings);
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
            // The cancelled call is not looked up, because the rule about calls is only informative.
            (Some("notifications/cancelled"), MessageKind::Notification) => self.calls = Recent::new(256),
            (Some("resources/subscribe"), MessageKind::Request) => self.files.subscribed(message),
            (Some("notifications/resources/updated"), MessageKind::Notification) => {
                self.files.updated(message, findings);
            }
            (Some(method), MessageKind::Notification) => check_method(method, message, findings),
            _ => {}
        }
    }

    fn reach(&mut self, moment: ConversationEvent, seq: u64, _time: i64, findings: &mut Findings) {
        match moment {
            ConversationEvent::Turn => {
                let count = self.pending.turn();
                if count > 0 {
                    findings.check(&TURN_BUDGET, seq, count <= MAX_PER_TURN, || {
                        format!("{count} reminders are waiting for this turn")
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
    fn common(&mut self, message: &Observed<'_>, reminder: &Value, form: Form, findings: &mut Findings) {
        let seq = message.seq;
        if message.declared.server.is_object() {
            findings.check(&UNDECLARED, seq, emits(message.declared), || {
                "the server sent a reminder, but did not declare reminders.emit".to_owned()
            });
        }
        let spec = Spec::lenient(reminder, form);
        check_listed(message, reminder, &spec, findings);
        let fired = read::fired_at(reminder);
        findings.check(&FIRED_AT, seq, fired.is_none(), || fired.unwrap_or_default());
        self.check_rate(message, findings);
        self.check_moment(message, reminder, &spec, findings);
        let spec_key = spec.dedupe_key.clone();
        self.pending.push(spec);
        let Some(id) = reminder["id"].as_str() else { return };
        let version = uuid::Uuid::parse_str(id).map(|id| id.get_version_num());
        findings.check(&ODD_ID, seq, version == Ok(7), || format!("the reminder has the id {id:?}"));
        let body = digest(&reminder["body"]);
        let key = spec_key.as_ref().map(|key| Digest::of_bytes(key.as_bytes()));
        let before = self.seen.insert(id.to_owned(), (form, body, key));
        let crossed = before.as_ref().is_some_and(|(before, ..)| *before != form);
        let is_other = before.is_some_and(|(_, other, of)| other != body && of.is_some() && key.is_some() && of != key);
        findings.check(&ID_REUSED, seq, !is_other, || format!("the server gave another reminder the id {id:?}"));
        findings.check(&BOTH_PATHS, seq, !crossed, || {
            format!("the server has already sent the reminder {id} in the other form")
        });
        findings.check(&RESENT, seq, crossed || before.is_none(), || {
            let same = before.as_ref().is_some_and(|(_, before, _)| *before == body);
            format!("the server sent the reminder {id} again, as {}", if same { "a repeat" } else { "an update" })
        });
    }

    /// Checks the lifetime and the role of a reminder, and the messages around it.
    fn check_moment(&mut self, message: &Observed<'_>, reminder: &Value, spec: &Spec, findings: &mut Findings) {
        let seq = message.seq;
        // A lifetime of the wrong type or in the wrong case is another mistake.
        let lasting = ["ttlTurns", "ttl_turns"].iter().any(|name| !reminder[*name].is_null());
        findings
            .check(&NO_LIFETIME, seq, lasting || self.lifetime_reported, || "the reminder has no ttlTurns".to_owned());
        self.lifetime_reported |= !lasting;
        let role = spec.role_hint.as_deref().unwrap_or("system");
        let of_provider = matches!(role, "user_block" | "ephemeral_cache");
        findings.check(&PROVIDER_ROLE, seq, !of_provider, || format!("the reminder has the roleHint {role:?}"));
        findings.check(&DURING_CALL, seq, self.calls.is_empty(), || {
            let calls = counted_as(self.calls.len(), "tools/call request has", "tools/call requests have");
            format!("the reminder arrived while {calls} no result yet")
        });
        if let Some(key) = &spec.dedupe_key {
            self.files.reminded(message, key, findings);
        }
    }

    fn check_rate(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        self.times.push_back(message.time);
        while self.times.front().is_some_and(|first| message.time.saturating_sub(*first) >= MINUTE_NS) {
            self.times.pop_front();
            self.flooding = false;
        }
        let flood = self.times.len() > MAX_PER_MINUTE;
        if flood {
            self.times.pop_front();
        }
        // Reported once, until the rate has dropped again.
        findings.check(&RATE, message.seq, !flood || self.flooding, || {
            format!("the server sent more than {MAX_PER_MINUTE} reminders in a minute")
        });
        self.flooding |= flood;
    }
}

/// Checks a notification that is none of those above.
fn check_method(method: &str, message: &Observed<'_>, findings: &mut Findings) {
    let is_servers = message.direction == Direction::ServerToClient;
    if is_servers && emits(message.declared) {
        let name = method.rsplit('/').next().unwrap_or_default();
        findings.check(&OTHER_METHOD, message.seq, !matches!(name, "reminder" | "reminders"), || {
            format!("the server sent {method}")
        });
    }
}

fn emits(declared: &Declared) -> bool {
    declared.find(&DESCRIPTOR, Side::Server).is_some_and(|(_, value)| value["emit"] == true)
}

/// Returns the member of the capability that a name almost is, with the name.
fn meant_by(key: &str) -> Option<(&str, &'static str)> {
    let plain = |name: &str| name.replace(['_', '-'], "").trim_end_matches(['s', 'S']).to_ascii_lowercase();
    let meant = ["emit", "propagate", "roleHints"].into_iter().find(|it| plain(it) == plain(key))?;
    (key != meant).then_some((key, meant))
}

fn declared(message: &Observed<'_>, findings: &mut Findings) {
    let Some((place, value)) = message.declared.find(&DESCRIPTOR, Side::Server) else { return };
    let near = value.as_object().into_iter().flat_map(|members| members.keys()).find_map(|key| meant_by(key));
    findings.check(&CAPABILITY_NEAR_MISS, message.seq, near.is_none(), || {
        let (key, meant) = near.unwrap_or_default();
        format!("the server declared {key:?}; the proposal defines {meant:?}")
    });
    findings.check(&LEGACY_CAPABILITY, message.seq, place.path.first() != Some(&"_meta"), || {
        format!("the server declared reminders at {}", place.path.join("."))
    });
}

fn check_listed(message: &Observed<'_>, reminder: &Value, spec: &Spec, findings: &mut Findings) {
    let Some((_, declared)) = message.declared.find(&DESCRIPTOR, Side::Server) else { return };
    let propagate = reminder["propagate"].as_str().unwrap_or("session");
    let role = spec.role_hint.as_deref().unwrap_or("system");
    for (member, list, used) in [("propagate", "propagate", propagate), ("roleHint", "roleHints", role)] {
        let Some(listed) = declared[list].as_array() else { continue };
        findings.check(&UNLISTED, message.seq, listed.iter().any(|value| value == used), || {
            format!("the reminder uses {member} {used:?}, which the server did not declare in {list}")
        });
    }
}

/// Checks for members whose names are almost those of the proposal.
fn check_spelling(seq: u64, reminder: &Value, findings: &mut Findings) {
    for rule in [&SNAKE_CASE, &NEAR_MISS] {
        findings.hold(rule);
    }
    for (key, meant) in read::misspelled(reminder) {
        let rule = if key.contains('_') { &SNAKE_CASE } else { &NEAR_MISS };
        findings.note(rule, seq, read::misspelling(key, meant));
    }
}
