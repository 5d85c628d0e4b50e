//! The host side of the Reminder RFC: keeps reminders in a queue, and adds them to the prompts of as many turns as they
//! should last. A reminder never starts a turn.
//!
//! It must never use clocks or print.

use super::read::{self, Form, Propagate, Read, Spec};
use super::{DESCRIPTOR, REMINDER};
use crate::proposals::Side as DeclaredBy;
use crate::proposals::host::{
    Agent, HostCx, HostSide, Inbound, Injection, LifecycleEvent, PromptPlace, ServerId, Slot, cut,
};
use crate::proposals::policy::{Policies, Policy, Setting, SettingKind};
use crate::wire::text::counted;
use crate::wire::{MessageKind, json as text};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

const SYSTEM: &str = "reminder.system";
const USER: &str = "reminder.user";
const MINUTE: Duration = Duration::from_secs(60);
/// How many events of one kind are reported one by one between two turns. The others are counted.
const MAX_REPORTS: u64 = 64;

/// The kinds of injections.
pub(crate) static SLOTS: &[Slot] = &[
    Slot { name: SYSTEM, place: PromptPlace::System, rank: 30 },
    Slot { name: USER, place: PromptPlace::AfterUser, rank: 20 },
];

/// The options that the proposal leaves to the host.
pub(crate) static SETTINGS: &[Setting] = &[
    Setting {
        name: "undeclared",
        kind: SettingKind::Choice(&["drop", "accept"]),
        default: "drop",
        text: "What the host does with reminders from a server that did not declare reminders.emit",
        source: "Reminder RFC, Server capability advertisement",
    },
    Setting {
        name: "legacy",
        kind: SettingKind::Flag,
        default: "true",
        text: "Whether the host also accepts the older form of reminders, _meta.harn.reminder in notifications/message",
        source: "Reminder RFC, Compatibility and migration",
    },
    Setting {
        name: "keep_turns",
        kind: SettingKind::Count,
        default: "20",
        text: "For how many turns a reminder without ttlTurns lasts, unless a compaction removes it",
        source: "Reminder RFC, Host-side rendering, AMB-B1",
    },
    Setting {
        name: "per_turn",
        kind: SettingKind::Count,
        default: "10",
        text: "How many reminders the host accepts from a server between two turns",
        source: "Reminder RFC, Open questions 6",
    },
    Setting {
        name: "per_minute",
        kind: SettingKind::Count,
        default: "60",
        text: "How many reminders the host accepts from a server per minute",
        source: "Reminder RFC, Open questions 6",
    },
    Setting {
        name: "most_bytes",
        kind: SettingKind::Bytes,
        default: "4k",
        text: "The size at which the host cuts the body of a reminder",
        source: "Reminder RFC, Host-side rendering",
    },
    Setting {
        name: "role_hints",
        kind: SettingKind::Choice(&["follow", "system"]),
        default: "follow",
        text: "Whether a reminder goes where its roleHint says (follow), or always into the system prompt (system)",
        source: "Reminder RFC, Host-side rendering",
    },
];

/// A reminder in the queue.
#[derive(Clone, Debug)]
struct Held {
    spec: Spec,
    /// The number of turns left. Without `ttlTurns`, it starts with the host's limit.
    turns_left: u64,
    /// The number of turns whose prompts contained it.
    rendered: u64,
    /// Whether the prompt of the current turn contains it.
    in_this_turn: bool,
}

/// The reminders of one server.
struct Queue {
    policy: Policy,
    /// Whether the era of the session can carry reminders.
    has_carrier: bool,
    is_declared: bool,
    held: Vec<Held>,
    this_turn: u64,
    /// The times at which the reminders of the last minute arrived.
    recent: VecDeque<Duration>,
    /// The number of events since the last turn, by kind.
    reports: BTreeMap<&'static str, u64>,
}

/// The proposal's host side.
pub(crate) struct ReminderHostSide {
    policies: Policies,
    queues: BTreeMap<ServerId, Queue>,
}

impl ReminderHostSide {
    /// A host side without connected servers.
    pub(crate) fn new(policies: &Policies) -> Self {
        Self { policies: policies.clone(), queues: BTreeMap::new() }
    }

    fn take(&mut self, cx: &mut HostCx<'_>, server: ServerId, read: Read) {
        let Read { spec, remarks, form } = read;
        let Some(queue) = self.queues.get_mut(&server) else {
            let text = format!("a reminder before the end of the handshake, dropped: {}", spec.outline());
            return cx.report_mistake("dropped", server, text, json!({"id": spec.id}));
        };
        // A reminder never starts a turn.
        let mut data = json!({"id": spec.id, "remarks": remarks, "wake": "no"});
        if form == Form::Legacy {
            data["legacy"] = true.into();
        }
        if let Some(key) = &spec.dedupe_key {
            data["dedupe_key"] = key.as_str().into();
        }
        if !queue.has_carrier {
            let text =
                format!("a reminder in the modern era, which cannot carry the proposal, dropped: {}", spec.outline());
            return queue.report(cx, server, "no carrier", text, data);
        }
        if !queue.is_declared && queue.policy.word("undeclared") == "drop" {
            let text =
                format!("a reminder from a server that did not declare reminders.emit, dropped: {}", spec.outline());
            return queue.report(cx, server, "undeclared", text, data);
        }
        if !remarks.is_empty() {
            let text = format!("reminder {}: {}", spec.outline(), remarks.join("; "));
            queue.report(cx, server, "odd", text, json!({"id": spec.id, "remarks": remarks}));
        }
        let id = spec.id.clone();
        let known = queue.held.iter().position(|held| held.spec.id == id);
        // It is repeated, or arrived in both forms (Reminder RFC, Compatibility and migration; AMB-B4).
        if let Some(held) = known.map(|at| &queue.held[at]).filter(|held| held.spec.body == spec.body) {
            let text = format!("a reminder with a known id: {}", held.spec.outline());
            return queue.report(cx, server, "duplicate", text, data);
        }
        let replaced = spec.dedupe_key.as_ref().and_then(|key| {
            let waits = |held: &Held| held.rendered == 0 && held.spec.dedupe_key.as_ref() == Some(key);
            let at = queue.held.iter().position(|held| waits(held) && held.spec.id != id);
            at.map(|at| queue.held.remove(at))
        });
        if let Some(old) = &replaced {
            data["replaces"] = old.spec.id.as_str().into();
        }
        let outline = spec.outline();
        // A new text lasts for all of its turns again, from the next turn on.
        let turns_left = spec.ttl_turns.unwrap_or_else(|| queue.policy.number("keep_turns"));
        let new = Held { spec, turns_left, rendered: 0, in_this_turn: false };
        if let Some(held) = queue.held.iter_mut().find(|held| held.spec.id == id) {
            *held = new;
            return queue.report(cx, server, "updated", format!("a reminder with a known id: {outline}"), data);
        }
        // A replacement does not count against the limits, because it does not add a reminder.
        if replaced.is_none()
            && let Some(why) = queue.over_budget(cx.now)
        {
            return queue.report(cx, server, "over budget", format!("{why}: {outline}"), data);
        }
        queue.report(cx, server, "queued", outline, data);
        queue.held.push(new);
    }

    fn malformed(&mut self, cx: &mut HostCx<'_>, server: ServerId, why: &str) {
        let Some(queue) = self.queues.get_mut(&server) else { return };
        let text = format!("an invalid reminder, dropped: {why}");
        queue.report(cx, server, "malformed", text, json!({"reason": why}));
    }

    fn render(&mut self, cx: &mut HostCx<'_>, agent: Agent) {
        for (server, queue) in &mut self.queues {
            let follows = queue.policy.word("role_hints") == "follow";
            let max = queue.policy.length("most_bytes");
            let is_due = |held: &&mut Held| held.spec.propagate.reaches(agent) && !held.in_this_turn;
            for held in queue.held.iter_mut().filter(is_due) {
                if agent == Agent::Main {
                    (held.rendered, held.in_this_turn) = (held.rendered + 1, true);
                }
                let slot = if follows && held.spec.is_for_user_block() { USER } else { SYSTEM };
                let text = cut(held.spec.body.clone(), max);
                let weight = i64::from(held.spec.preserve_on_compact);
                cx.inject(Injection { server: *server, slot, weight, what: "reminder".to_owned(), text, id: None });
            }
        }
    }

    /// After each rendered turn, a reminder has one turn less (Reminder RFC, Host-side rendering).
    fn age(&mut self, cx: &mut HostCx<'_>) {
        for (server, queue) in &mut self.queues {
            queue.this_turn = 0;
            queue.summarize(cx, *server);
            for held in &mut queue.held {
                let was_rendered = std::mem::take(&mut held.in_this_turn);
                held.turns_left = held.turns_left.saturating_sub(u64::from(was_rendered));
            }
            queue.drop_where(cx, *server, "expired", |held| held.turns_left == 0);
        }
    }
}

/// Whether what is reported under this name breaks the proposal.
fn is_mistake(what: &str) -> bool {
    matches!(what, "malformed" | "undeclared" | "duplicate")
}

impl Queue {
    /// Reports an event that a server can cause any number of times.
    fn report(&mut self, cx: &mut HostCx<'_>, server: ServerId, what: &'static str, text: String, data: Value) {
        let count = self.reports.entry(what).or_default();
        *count += 1;
        if *count <= MAX_REPORTS {
            cx.report_verdict(what, server, text, data, is_mistake(what));
        }
    }

    /// Reports how many events were not reported one by one.
    fn summarize(&mut self, cx: &mut HostCx<'_>, server: ServerId) {
        for (what, count) in std::mem::take(&mut self.reports) {
            let more = count.saturating_sub(MAX_REPORTS);
            if more > 0 {
                let text = format!("{} like these, not reported one by one", counted(more, "more reminder"));
                cx.report_verdict(what, server, text, json!({"more": more}), is_mistake(what));
            }
        }
    }

    fn over_budget(&mut self, now: Duration) -> Option<String> {
        while self.recent.front().is_some_and(|at| now.saturating_sub(*at) >= MINUTE) {
            self.recent.pop_front();
        }
        let (turn, minute) = (self.policy.number("per_turn"), self.policy.number("per_minute"));
        if self.this_turn >= turn {
            return Some(format!("more than {} in a turn", counted(turn, "reminder")));
        }
        if self.recent.len() as u64 >= minute {
            return Some(format!("more than {} in a minute", counted(minute, "reminder")));
        }
        self.this_turn += 1;
        if minute < u64::MAX {
            self.recent.push_back(now);
        }
        None
    }

    fn drop_where(&mut self, cx: &mut HostCx<'_>, server: ServerId, what: &'static str, is_over: fn(&Held) -> bool) {
        self.held.retain(|held| {
            let over = is_over(held);
            if over {
                let data = json!({"id": held.spec.id, "turns": held.rendered});
                cx.report(what, Some(server), held.spec.outline(), data);
            }
            !over
        });
    }
}

impl HostSide for ReminderHostSide {
    fn connected(&mut self, cx: &mut HostCx<'_>, server: ServerId) {
        let Some(view) = cx.server(server) else { return };
        // The declaration alone decides, because there is no message to subscribe with (AMB-B3).
        let declared = view.declared.find(&DESCRIPTOR, DeclaredBy::Server).map(|(_, value)| value["emit"] == true);
        let policy = self.policies.of("reminder", &view.name);
        let (is_declared, has_carrier) = (declared == Some(true), view.is_legacy);
        match (is_declared, has_carrier) {
            (true, true) => {
                cx.report("declared", Some(server), format!("{} may send reminders", view.name), Value::Null)
            }
            (true, false) => {
                let text =
                    format!("{} declares reminders in the modern era, which cannot carry the proposal", view.name);
                cx.report("no carrier", Some(server), text, Value::Null);
            }
            (false, _) => {}
        }
        let (held, recent) = Default::default();
        let reports = BTreeMap::new();
        self.queues.insert(server, Queue { policy, has_carrier, is_declared, held, this_turn: 0, recent, reports });
    }

    fn disconnected(&mut self, cx: &mut HostCx<'_>, server: ServerId) {
        if let Some(mut queue) = self.queues.remove(&server) {
            queue.summarize(cx, server);
            queue.drop_where(cx, server, "dropped", |_| true);
        }
    }

    fn lifecycle_event(&mut self, cx: &mut HostCx<'_>, moment: &LifecycleEvent<'_>) {
        match moment {
            // A reminder that arrived during a tool call is in the next prompt of the same turn (AMB-B9).
            LifecycleEvent::Prompt(agent) | LifecycleEvent::FurtherPrompt(agent @ Agent::Main) => {
                self.render(cx, *agent);
            }
            LifecycleEvent::TurnOver(Agent::Main) => self.age(cx),
            LifecycleEvent::Compacted => {
                for (server, queue) in &mut self.queues {
                    queue.drop_where(cx, *server, "compacted", |held| !held.spec.preserve_on_compact);
                }
            }
            LifecycleEvent::SessionEnd => {
                for (server, queue) in &mut self.queues {
                    queue.summarize(cx, *server);
                    queue.drop_where(cx, *server, "dropped", |held| held.rendered == 0);
                }
            }
            _ => {}
        }
    }

    /// A reminder that no prompt contained keeps its turn.
    fn left_out(&mut self, injection: &Injection) {
        let Some(queue) = self.queues.get_mut(&injection.server) else { return };
        let max = queue.policy.length("most_bytes");
        let is_it =
            |held: &&mut Held| held.in_this_turn && cut(held.spec.body.clone(), max).trim() == injection.text.trim();
        if let Some(held) = queue.held.iter_mut().rev().find(is_it) {
            (held.rendered, held.in_this_turn) = (held.rendered - 1, false);
        }
    }

    fn receive(&mut self, cx: &mut HostCx<'_>, server: ServerId, message: &Inbound<'_>) -> bool {
        let is_log = message.envelope.method.as_deref() == Some("notifications/message");
        if !is_log && message.envelope.method.as_deref() != Some(REMINDER) {
            return false;
        }
        let params = message.envelope.params.map(text::value_of).unwrap_or_default();
        let has_id = message.envelope.kind == MessageKind::Request;
        let read = if is_log {
            let takes = self.queues.get(&server).is_some_and(|queue| queue.policy.flag("legacy"));
            let Some(read) = read::legacy(&params, message.text).filter(|_| takes) else { return false };
            read
        } else {
            read::canonical(&params)
        };
        match read {
            Ok(_) if has_id => self.malformed(cx, server, "a request instead of a notification"),
            Ok(read) => self.take(cx, server, read),
            Err(why) => self.malformed(cx, server, &why),
        }
        // A log message remains a log message whatever else it contains, and the host itself responds to requests.
        !is_log && !has_id
    }

    fn state(&self) -> Value {
        let held = |held: &Held| {
            json!({"id": held.spec.id, "body": held.spec.body, "turns_left": held.turns_left,
                "rendered": held.rendered})
        };
        let one = |(id, queue): (&ServerId, &Queue)| json!({"server": id.0, "reminders": queue.held.iter().map(held).collect::<Vec<_>>()});
        self.queues.iter().filter(|(_, queue)| !queue.held.is_empty()).map(one).collect()
    }
}

impl Propagate {
    /// Whether prompts of this agent contain such a reminder (Reminder RFC, Host-side rendering). A sub-agent of the
    /// same session inherits all reminders except those with `none`, a sub-agent with a session of its own only those
    /// with `all`.
    fn reaches(self, agent: Agent) -> bool {
        match agent {
            Agent::Main => true,
            Agent::Sub => self != Self::None,
            Agent::Detached => self == Self::All,
        }
    }
}
