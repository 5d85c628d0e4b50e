//! The proposal's host side: sends every user message to all subscribed servers at the same time, each with its own
//! deadline. Context that arrives in time is put before the message; late context is dropped.
//!
//! It must never handle request ids, use clocks, or print.

use super::{
    Carrier, DeliveryOutcome, HistoryEntry, Subscription, UserMessage, UserMessageOutput, UserMessages, context,
    subscription,
};
use crate::proposals::host::{
    Consent, HostCx, HostSide, Inbound, Injection, LifecycleEvent, Mark, PromptPlace, RequestOutcome, ServerId, Slot,
    Utterance, consent_setting, cut,
};
use crate::proposals::policy::{Policies, Policy, Setting, SettingKind};
use crate::wire::text::counted;
use crate::wire::units::micros;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

const CONTEXT: &str = "conversation.context";

/// The kinds of injections.
pub(crate) static SLOTS: &[Slot] = &[Slot { name: CONTEXT, place: PromptPlace::BeforeUser, rank: 30 }];

/// The options that the proposal leaves to the host.
pub(crate) static SETTINGS: &[Setting] = &[
    consent_setting(
        "Whether the host sends user messages to the server; ask means only if you gave its command, or consent",
        "SEP-1975, Security Implications",
    ),
    Setting {
        name: "deadline",
        kind: SettingKind::Time,
        default: "500ms",
        text: "How long the host waits for the server's context after a user message",
        source: "SEP-1975, Timeouts",
    },
    Setting {
        name: "carrier",
        kind: SettingKind::Choice(&["auto", "request", "notification"]),
        default: "auto",
        text: "Whether the host sends user messages as requests or as notifications; auto tries a request first",
        source: "SEP-1975, Message Flow, AMB-A1",
    },
    Setting {
        name: "most_bytes",
        kind: SettingKind::Bytes,
        default: "16k",
        text: "The size at which the host cuts a server's context for one user message",
        source: "SEP-1975, Open Questions 1",
    },
    Setting {
        name: "priority",
        kind: SettingKind::Count,
        default: "0",
        text: "The order of contexts in the prompt: servers with a higher number come first",
        source: "SEP-1975, Open Questions 2",
    },
    Setting {
        name: "disable_after",
        kind: SettingKind::Count,
        default: "3",
        text: "After this many consecutive timeouts, the host sends the server no more user messages",
        source: "SEP-1975, Security Implications",
    },
    Setting {
        name: "history",
        kind: SettingKind::Count,
        default: "0",
        text: "How many earlier messages of the conversation the host includes with each user message",
        source: "SEP-1975, conversation/userMessage, AMB-A3",
    },
];

/// Refuses a host without a deadline. A policy without options is one of a host that does not know the proposal.
pub(in crate::proposals::conversation) fn check_policy(policy: &Policy) -> Result<(), (&'static str, String)> {
    match policy.time("deadline") {
        Duration::MAX if *policy != Policy::default() => {
            Err(("deadline", "must be a time: \"Clients MUST enforce a timeout\" (SEP-1975, Timeouts)".to_owned()))
        }
        _ => Ok(()),
    }
}

/// The number of requests that wait for a response. The oldest is dropped first.
const MAX_KEYS: usize = 256;

/// A subscribed server.
struct Subscriber {
    engine: UserMessages,
    policy: Policy,
    consent: Consent,
    /// How many of the earlier messages it may not see, because the user said them without consent.
    hidden: usize,
    /// Consecutive timeouts.
    misses: u64,
    is_disabled: bool,
    /// The id of the message that the turn waits for.
    waits: Option<String>,
    /// The engine's keys of requests, by the host's tokens.
    keys: BTreeMap<u64, u64>,
}

/// The proposal's host side.
pub(crate) struct ConversationHostSide {
    policies: Policies,
    subscribers: BTreeMap<ServerId, Subscriber>,
}

impl ConversationHostSide {
    /// A host side without connected servers.
    pub(crate) fn new(policies: &Policies) -> Self {
        Self { policies: policies.clone(), subscribers: BTreeMap::new() }
    }

    fn act(&mut self, cx: &mut HostCx<'_>, server: ServerId, actions: Vec<UserMessageOutput>) {
        let Some(subscriber) = self.subscribers.get_mut(&server) else { return };
        for action in actions {
            match action {
                UserMessageOutput::Request { key, method, params, timeout } => {
                    let token = cx.request(server, method, params, timeout);
                    subscriber.keys.insert(token, key);
                    if subscriber.keys.len() > MAX_KEYS {
                        subscriber.keys.pop_first();
                    }
                }
                UserMessageOutput::Notify { method, params } => cx.notify(server, method, params),
                UserMessageOutput::Respond { id, result } => cx.respond(server, &id, Ok(result)),
                // Only the context of the message that the current turn waits for is injected.
                UserMessageOutput::Done(outcome) if subscriber.waits.as_ref() == Some(&outcome.message_id) => {
                    subscriber.waits = None;
                    done(cx, server, subscriber, &outcome);
                }
                UserMessageOutput::Done(outcome) => late(cx, server, &outcome),
                UserMessageOutput::Late(outcome) => late(cx, server, &outcome),
                UserMessageOutput::Ambiguous(why) => cx.report("stray", Some(server), why, Value::Null),
                UserMessageOutput::Stray(why) => cx.report_mistake("stray", server, why, Value::Null),
            }
        }
    }

    fn fan_out(&mut self, cx: &mut HostCx<'_>, message_id: &str, text: &str, history: &[Utterance]) {
        let mut admitted = Vec::new();
        for (server, subscriber) in &mut self.subscribers {
            if subscriber.consent.admits(cx, *server, "user messages") {
                admitted.push(*server);
            } else {
                // This message and its answer will be history, too.
                subscriber.hidden = history.len() + 2;
            }
        }
        for server in admitted {
            let Some(subscriber) = self.subscribers.get_mut(&server).filter(|one| !one.is_disabled) else { continue };
            let max = subscriber.policy.length("history");
            let shown = &history[subscriber.hidden.min(history.len())..];
            let recent = &shown[shown.len() - shown.len().min(max)..];
            let entry = |said: &Utterance| HistoryEntry { role: said.role.to_owned(), content: said.text.clone() };
            let message = UserMessage {
                message_id: message_id.to_owned(),
                content: text.to_owned(),
                recent_history: recent.iter().map(entry).collect(),
            };
            subscriber.waits = Some(message_id.to_owned());
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
                let text = format!(
                    "{} declares conversationEvents, but not onUserMessage: true, so it gets no user messages",
                    view.name
                );
                return cx.report("not subscribed", Some(server), text, Value::Null);
            }
            Subscription::NotDeclared => return,
        }
        if !view.is_legacy {
            let text = format!(
                "{} declares conversationEvents in the modern era, which cannot carry the proposal; it gets no user messages",
                view.name
            );
            return cx.report("no carrier", Some(server), text, Value::Null);
        }
        let policy = self.policies.of("conversation", &view.name);
        let carrier = match policy.word("carrier") {
            "request" => Carrier::Request,
            "notification" => Carrier::Notification,
            _ => Carrier::Auto,
        };
        let mut consent = Consent::of(&policy, view);
        let text = match consent {
            Consent::Given => format!("{} receives the user's messages", view.name),
            Consent::Refused => format!("{} wants to receive the user's messages, but you have refused", view.name),
            Consent::Open { .. } => {
                format!("{} wants to receive the user's messages; you have not consented yet", view.name)
            }
        };
        cx.report("subscribed", Some(server), text, json!({"allowed": consent.is_given()}));
        consent.ask(cx, server, |name| format!("may {name} receive your messages?"));
        let engine = UserMessages::new(carrier, policy.time("deadline"));
        let subscriber = Subscriber {
            engine,
            policy,
            consent,
            hidden: 0,
            misses: 0,
            is_disabled: false,
            waits: None,
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
                let text = "a context from a server that did not declare conversationEvents.onUserMessage, dropped";
                cx.report_mistake("stray", server, text, Value::Null);
                false
            }
        }
    }

    /// A bare response to the notification. It cannot be matched to a message, so it counts as no response (AMB-A1).
    fn stray(&mut self, cx: &mut HostCx<'_>, server: ServerId, _answer: &Inbound<'_>) -> bool {
        let Some(subscriber) = self.subscribers.get(&server).filter(|one| one.waits.is_some()) else {
            return false;
        };
        let text =
            "the server sent a response that belongs to no request while a user message waits for its context: dropped";
        cx.report_mistake("stray", server, text, json!({"message_id": subscriber.waits, "carrier": "bare response"}));
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
            // The engine checks the deadline itself, and still accepts a late response.
            RequestOutcome::TimedOut => {}
            RequestOutcome::Failed(why) => {
                // It may have been answered in another way, or its deadline is over.
                let Some(key) = subscriber.keys.remove(&token) else { return };
                let Some(failed) = subscriber.engine.undelivered(key) else { return };
                if subscriber.waits.as_ref() == Some(&failed) {
                    subscriber.waits = None;
                }
                cx.report("failed", Some(server), format!("no answer to the user message: {why}"), Value::Null);
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
        subscriber.consent.decide(is_allowed);
        (subscriber.is_disabled, subscriber.misses) = (false, 0);
        cx.mark(server, if is_allowed { Mark::Granted } else { Mark::Revoked });
        let (what, text) = match is_allowed {
            true => ("allowed", "receives the user's messages from now on"),
            false => ("revoked", "receives no user messages from now on"),
        };
        cx.report(what, Some(server), text, Value::Null);
    }

    fn state(&self) -> Value {
        let one = |(id, subscriber): (&ServerId, &Subscriber)| {
            json!({"server": id.0, "allowed": subscriber.consent.is_given(), "disabled": subscriber.is_disabled,
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
    subscriber.misses = if outcome.timed_out { subscriber.misses + 1 } else { 0 };
    report_remarks(cx, server, outcome);
    match (&outcome.context, &outcome.refused) {
        (Some(found), _) => {
            let most = subscriber.policy.length("most_bytes");
            let whole = context::text(found, usize::MAX).0.len();
            let (text, left_out) = context::text(found, most);
            data["bytes"] = whole.into();
            data["left_out"] = left_out.into();
            let was_cut = if whole > most { ", cut" } else { "" };
            cx.report("context", Some(server), format!("{whole} B of context{was_cut}"), data);
            let text = cut(text, most);
            let weight = i64::try_from(subscriber.policy.number("priority")).unwrap_or(i64::MAX);
            cx.inject(Injection { server, slot: CONTEXT, weight, what: "context".to_owned(), text, id: None });
        }
        (None, Some((code, message))) => {
            data["error"] = json!({"code": code, "message": message});
            cx.report("refused", Some(server), format!("refused with {code} {message}"), data);
        }
        (None, None) if outcome.timed_out => {
            let misses = subscriber.misses;
            cx.report(
                "timed out",
                Some(server),
                format!("no context in time ({})", counted(misses, "consecutive timeout")),
                data,
            );
            if misses >= subscriber.policy.number("disable_after") {
                subscriber.is_disabled = true;
                cx.report(
                    "disabled",
                    Some(server),
                    format!("receives no more user messages after {}", counted(misses, "timeout")),
                    Value::Null,
                );
            }
        }
        (None, None) => cx.report("empty", Some(server), "nothing to inject", data),
    }
}

/// Reports what is unusual about a response. What is malformed is ignored, the rest is used.
fn report_remarks(cx: &mut HostCx<'_>, server: ServerId, outcome: &DeliveryOutcome) {
    let is_valid = |remark: &&String| [super::GUESSED, context::BOTH_FORMS].contains(&remark.as_str());
    let (valid, malformed): (Vec<&String>, Vec<&String>) = outcome.remarks.iter().partition(is_valid);
    let about = || json!({"message_id": outcome.message_id});
    valid.into_iter().for_each(|remark| cx.report("odd", Some(server), remark.as_str(), about()));
    malformed.into_iter().for_each(|remark| cx.report_mistake("malformed", server, remark.as_str(), about()));
}

/// Context that came too late is never used for a later turn (SEP-1975, Timeouts).
fn late(cx: &mut HostCx<'_>, server: ServerId, outcome: &DeliveryOutcome) {
    report_remarks(cx, server, outcome);
    let ms = outcome.latency.as_millis();
    cx.report("late", Some(server), format!("a context arrived after {ms} ms, too late: dropped"), members(outcome));
}
