//! The room's side in a host: every user message to every server that subscribed, in parallel, each with its own
//! deadline; what comes in time goes before the message, what comes late goes nowhere.
//!
//! Never: ids of requests, clocks, printing.

use super::{
    Action, Carrier, DeliveryOutcome, HistoryEntry, Subscription, UserMessage, UserMessages, context, subscription,
};
use crate::proposals::host::{
    HostCx, HostSide, Inbound, Injection, LifecycleEvent, PromptPlace, RequestOutcome, ServerId, Slot, Utterance, cut,
};
use crate::proposals::policy::{Policies, Policy, Setting, SettingKind};
use crate::wire::units::micros;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

const CONTEXT: &str = "conversation.context";

/// What the room injects.
pub static SLOTS: &[Slot] = &[Slot { name: CONTEXT, place: PromptPlace::BeforeUser, rank: 30 }];

/// What the proposal leaves to the host.
pub static SETTINGS: &[Setting] = &[
    Setting {
        name: "consent",
        kind: SettingKind::Flag,
        default: "true",
        text: "Whether the server may see what the user says; false until approved by hand",
        source: "seed 000, Security Implications (A17, A19)",
    },
    Setting {
        name: "deadline",
        kind: SettingKind::Time,
        default: "500ms",
        text: "How long its context is waited for",
        source: "seed 000, Timeouts (A12)",
    },
    Setting {
        name: "carrier",
        kind: SettingKind::Choice(&["auto", "request", "notification"]),
        default: "auto",
        text: "How the message travels",
        source: "seed 000, Message Flow (AMB-A1)",
    },
    Setting {
        name: "most_bytes",
        kind: SettingKind::Bytes,
        default: "16k",
        text: "How much of a server's context is taken for one message",
        source: "seed 000, Open Questions 1 (A23)",
    },
    Setting {
        name: "priority",
        kind: SettingKind::Count,
        default: "0",
        text: "Context of servers with a higher number stands first",
        source: "seed 000, Open Questions 2 (A24)",
    },
    Setting {
        name: "disable_after",
        kind: SettingKind::Count,
        default: "3",
        text: "After so many time-outs in a row the server is no longer asked",
        source: "seed 000, Security Implications (A20)",
    },
    Setting {
        name: "history",
        kind: SettingKind::Count,
        default: "0",
        text: "How many earlier messages go along",
        source: "seed 000, recentHistory (AMB-A3)",
    },
];

/// So many requests are remembered for an answer; the oldest is forgotten first.
const MAX_KEYS: usize = 256;

/// One server that subscribed.
struct Subscriber {
    engine: UserMessages,
    policy: Policy,
    is_allowed: bool,
    /// Time-outs in a row.
    misses: u64,
    is_disabled: bool,
    /// The message that is waited for.
    waits: Option<String>,
    /// While it was, an answer came that names no request.
    has_strayed: bool,
    /// Requests of the engine, by the host's names for them.
    keys: BTreeMap<u64, u64>,
}

impl Subscriber {
    fn is_asked(&self) -> bool {
        self.is_allowed && !self.is_disabled
    }
}

/// The room's side in a host.
pub struct ConversationHostSide {
    policies: Policies,
    subscribers: BTreeMap<ServerId, Subscriber>,
}

impl ConversationHostSide {
    /// With nobody connected.
    pub fn new(policies: &Policies) -> Self {
        Self { policies: policies.clone(), subscribers: BTreeMap::new() }
    }

    fn act(&mut self, cx: &mut HostCx<'_>, server: ServerId, actions: Vec<Action>) {
        let Some(subscriber) = self.subscribers.get_mut(&server) else { return };
        for action in actions {
            match action {
                Action::Request { key, method, params, timeout } => {
                    let token = cx.request(server, method, params, timeout);
                    subscriber.keys.insert(token, key);
                    if subscriber.keys.len() > MAX_KEYS {
                        subscriber.keys.pop_first();
                    }
                }
                Action::Notify { method, params } => cx.notify(server, method, params),
                Action::Respond { id, result } => cx.respond(server, &id, Ok(result)),
                // Only what belongs to the message that the turn waits for goes into its prompt.
                Action::Done(outcome) if subscriber.waits.as_ref() == Some(&outcome.message_id) => {
                    subscriber.waits = None;
                    done(cx, server, subscriber, &outcome);
                }
                Action::Done(outcome) => late(cx, server, &outcome),
                Action::Late(outcome) => late(cx, server, &outcome),
                Action::Stray(why) => cx.report("stray", Some(server), why, Value::Null),
            }
        }
    }

    fn fan_out(&mut self, cx: &mut HostCx<'_>, message_id: &str, text: &str, history: &[Utterance]) {
        let ids: Vec<ServerId> = self.subscribers.keys().copied().collect();
        for server in ids {
            let Some(subscriber) = self.subscribers.get_mut(&server).filter(|one| one.is_asked()) else { continue };
            let most = subscriber.policy.length("history");
            let recent = &history[history.len() - history.len().min(most)..];
            let entry = |said: &Utterance| HistoryEntry { role: said.role.to_owned(), content: said.text.clone() };
            let message = UserMessage {
                message_id: message_id.to_owned(),
                content: text.to_owned(),
                recent_history: recent.iter().map(entry).collect(),
            };
            (subscriber.waits, subscriber.has_strayed) = (Some(message_id.to_owned()), false);
            let actions = subscriber.engine.start(cx.now, message);
            self.act(cx, server, actions);
        }
    }
}

impl HostSide for ConversationHostSide {
    fn connected(&mut self, cx: &mut HostCx<'_>, server: ServerId) {
        let Some(view) = cx.server(server) else { return };
        match subscription(&view.declared.server) {
            Subscription::Subscribed => {}
            Subscription::DeclaredNotSubscribed => {
                let text = format!("{} declares conversationEvents, but does not subscribe", view.name);
                return cx.report("not subscribed", Some(server), text, Value::Null);
            }
            Subscription::NotDeclared => return,
        }
        if !view.is_legacy {
            let text = format!("{} subscribes in an era that has no carrier for it", view.name);
            return cx.report("no carrier", Some(server), text, Value::Null);
        }
        let policy = self.policies.of("conversation", &view.name);
        let carrier = match policy.word("carrier") {
            "request" => Carrier::Request,
            "notification" => Carrier::Notification,
            _ => Carrier::Auto,
        };
        let is_allowed = policy.flag("consent");
        let sees = if is_allowed { "sees" } else { "would see (not approved yet)" };
        cx.report("subscribed", Some(server), format!("{} {sees} what the user says", view.name), {
            json!({"allowed": is_allowed})
        });
        let engine = UserMessages::new(carrier, policy.time("deadline"));
        let subscriber = Subscriber {
            engine,
            policy,
            is_allowed,
            misses: 0,
            is_disabled: false,
            waits: None,
            has_strayed: false,
            keys: BTreeMap::new(),
        };
        self.subscribers.insert(server, subscriber);
    }

    fn disconnected(&mut self, _cx: &mut HostCx<'_>, server: ServerId) {
        self.subscribers.remove(&server);
    }

    fn lifecycle_event(&mut self, cx: &mut HostCx<'_>, moment: &LifecycleEvent<'_>) {
        if let LifecycleEvent::UserMessage { message_id, text, history } = *moment {
            self.fan_out(cx, message_id, text, history);
        }
    }

    fn is_settled(&self) -> bool {
        !self.subscribers.values().any(|subscriber| subscriber.waits.is_some())
    }

    fn receive(&mut self, cx: &mut HostCx<'_>, server: ServerId, message: &Inbound<'_>) -> bool {
        if message.envelope.method.as_deref() != Some(super::super::CONTEXT) {
            return false;
        }
        match self.subscribers.get_mut(&server) {
            Some(subscriber) => {
                let actions = subscriber.engine.receive(cx.now, message.envelope);
                self.act(cx, server, actions);
                true
            }
            None => {
                cx.report("stray", Some(server), "context from a server that did not subscribe", Value::Null);
                false
            }
        }
    }

    /// A bare answer to the notification (way d of AMB-A1): it cannot be told which message it is for, so it counts as
    /// none.
    fn stray(&mut self, cx: &mut HostCx<'_>, server: ServerId, _answer: &Inbound<'_>) -> bool {
        let Some(subscriber) = self.subscribers.get_mut(&server).filter(|one| one.waits.is_some()) else {
            return false;
        };
        subscriber.has_strayed = true;
        let text = "an answer that names no request, while a message waits for its context: dropped";
        cx.report("stray", Some(server), text, json!({"message_id": subscriber.waits, "carrier": "bare response"}));
        true
    }

    fn replied(&mut self, cx: &mut HostCx<'_>, server: ServerId, token: u64, reply: &RequestOutcome<'_>) {
        let Some(subscriber) = self.subscribers.get_mut(&server) else { return };
        match reply {
            RequestOutcome::Answered { envelope, .. } => {
                let Some(key) = subscriber.keys.remove(&token) else { return };
                let actions = subscriber.engine.answered(cx.now, key, envelope);
                self.act(cx, server, actions);
            }
            // The engine keeps the time itself, and waits on for a late answer.
            RequestOutcome::TimedOut => {}
            RequestOutcome::Failed(why) => {
                let failed = subscriber.keys.remove(&token).and_then(|key| subscriber.engine.undelivered(key));
                if failed.is_some() && failed == subscriber.waits {
                    subscriber.waits = None;
                }
                cx.report("failed", Some(server), format!("the message did not get through: {why}"), Value::Null);
            }
        }
    }

    fn handle_timeout(&mut self, cx: &mut HostCx<'_>) {
        let ids: Vec<ServerId> = self.subscribers.keys().copied().collect();
        for server in ids {
            let actions = self.subscribers.get_mut(&server).map(|subscriber| subscriber.engine.handle_timeout(cx.now));
            self.act(cx, server, actions.unwrap_or_default());
        }
    }

    fn next_timeout(&self) -> Option<Duration> {
        self.subscribers.values().filter_map(|subscriber| subscriber.engine.next_timeout()).min()
    }

    fn allow(&mut self, cx: &mut HostCx<'_>, server: ServerId, is_allowed: bool) {
        let Some(subscriber) = self.subscribers.get_mut(&server) else { return };
        (subscriber.is_allowed, subscriber.is_disabled, subscriber.misses) = (is_allowed, false, 0);
        let (what, text) = match is_allowed {
            true => ("allowed", "sees what the user says from now on"),
            false => ("revoked", "sees nothing of what the user says from now on"),
        };
        cx.report(what, Some(server), text, Value::Null);
    }

    fn state(&self) -> Value {
        let one = |(id, subscriber): (&ServerId, &Subscriber)| {
            json!({"server": id.0, "allowed": subscriber.is_allowed, "disabled": subscriber.is_disabled,
                "timeouts_in_a_row": subscriber.misses})
        };
        self.subscribers.iter().map(one).collect()
    }
}

fn members(outcome: &DeliveryOutcome) -> Value {
    let carrier = if outcome.carrier == Carrier::Notification { "notification" } else { "request" };
    json!({"message_id": outcome.message_id, "carrier": carrier, "latency_us": micros(outcome.latency), "remarks": outcome.remarks})
}

fn done(cx: &mut HostCx<'_>, server: ServerId, subscriber: &mut Subscriber, outcome: &DeliveryOutcome) {
    let mut data = members(outcome);
    // A notification that nobody answers is how a server says that it has nothing.
    let is_silence = outcome.carrier == Carrier::Notification && !subscriber.has_strayed;
    subscriber.misses = if outcome.timed_out && !is_silence { subscriber.misses + 1 } else { 0 };
    match (&outcome.context, &outcome.refused) {
        (Some(found), _) => {
            let text = context::text(found);
            let whole = text.len();
            let text = cut(text, subscriber.policy.length("most_bytes"));
            data["bytes"] = whole.into();
            let was_cut = if text.len() < whole { ", cut" } else { "" };
            cx.report("context", Some(server), format!("{whole} B of context{was_cut}"), data);
            let weight = i64::try_from(subscriber.policy.number("priority")).unwrap_or(i64::MAX);
            cx.inject(Injection { server, slot: CONTEXT, weight, what: "context".to_owned(), text });
        }
        (None, Some((code, message))) => {
            data["error"] = json!({"code": code, "message": message});
            cx.report("refused", Some(server), format!("refused with {code} {message}"), data);
        }
        (None, None) if outcome.timed_out && !is_silence => {
            let misses = subscriber.misses;
            cx.report("timed out", Some(server), format!("no context in time ({misses} in a row)"), data);
            if misses >= subscriber.policy.number("disable_after") {
                subscriber.is_disabled = true;
                cx.report(
                    "disabled",
                    Some(server),
                    format!("not asked any more after {misses} time-outs"),
                    Value::Null,
                );
            }
        }
        (None, None) => cx.report("empty", Some(server), "nothing to inject", data),
    }
}

/// Context that came too late is never moved to a later turn (A13).
fn late(cx: &mut HostCx<'_>, server: ServerId, outcome: &DeliveryOutcome) {
    let ms = outcome.latency.as_millis();
    cx.report("late", Some(server), format!("an answer after {ms} ms, dropped"), members(outcome));
}
