//! The host side of SEP-1975: sends each user message, waits for the context until the deadline, and reports the
//! outcome. There is one engine per server.
//!
//! The proposal calls the message a notification, but wants a response (AMB-A1). The engine supports three carriers:
//! (a) a request and its result, (b) a notification and a notification `conversation/context`, (c) a notification and a
//! request `conversation/context`.
//!
//! It must never handle request ids (the driver matches them), use clocks, or print.

mod context;
pub(crate) mod side;
#[cfg(test)]
mod tests;

pub(crate) use super::subscription::{Subscription, subscription};
pub(crate) use context::{Context, DEFAULT_MAX_BYTES, render};

use super::correlation::{Awaited, correlate};
use super::{CONTEXT, USER_MESSAGE};
use crate::protocol::errors::{INVALID_PARAMS, METHOD_NOT_FOUND};
use crate::wire::{Envelope, MessageKind, json};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::time::Duration;

/// The number of messages past their deadline that wait for a late response. The oldest is dropped first.
const MAX_LATE: usize = 64;

/// A remark about a context that is valid: it does not say to which message it belongs (AMB-A1).
const GUESSED: &str = "the context contains no messageId that is a string; it is used for the only waiting message";

/// How the host sends a user message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// As a request, or as a notification after the server has refused the request as unknown.
    #[default]
    Auto,
    /// As a request.
    Request,
    /// As a notification.
    Notification,
}

/// One earlier message of the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HistoryEntry {
    /// `user` or `assistant`.
    pub role: String,
    /// The text.
    pub content: String,
}

/// A user's message (SEP-1975, conversation/userMessage).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UserMessage {
    /// The id, chosen by the caller and unique in the session.
    pub message_id: String,
    /// Its text.
    pub content: String,
    /// The earlier messages, oldest first. An empty list is not sent.
    pub recent_history: Vec<HistoryEntry>,
}

impl UserMessage {
    /// The params on the wire.
    pub(crate) fn params(&self) -> Value {
        let mut params = Map::new();
        params.insert("messageId".to_owned(), self.message_id.clone().into());
        params.insert("content".to_owned(), self.content.clone().into());
        if !self.recent_history.is_empty() {
            let entry = |entry: &HistoryEntry| json!({"role": entry.role, "content": entry.content});
            params.insert("recentHistory".to_owned(), self.recent_history.iter().map(entry).collect());
        }
        Value::Object(params)
    }
}

/// The outcome of one message at this server.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DeliveryOutcome {
    /// The message's id.
    pub message_id: String,
    /// The carrier that was used in the end, never [`Carrier::Auto`].
    pub carrier: Carrier,
    /// The context to inject; `None` for an empty response, an error or a timeout.
    pub context: Option<Context>,
    /// Time since the message was first sent.
    pub latency: Duration,
    /// The response came after the deadline, so it must not be injected (SEP-1975, Timeouts).
    pub late: bool,
    /// The code and the message of the server's error (SEP-1975, Error Handling).
    pub refused: Option<(i64, String)>,
    /// There was no response in time. For a notification, this can simply mean that the server has nothing to inject.
    pub timed_out: bool,
    /// What was unusual about the response, as sentence fragments.
    pub remarks: Vec<String>,
}

/// What the driver has to do or to report.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum UserMessageOutput {
    /// Send a request. Pass the response to [`UserMessages::answered`] with this key.
    Request {
        /// Identifies the request.
        key: u64,
        /// Its method.
        method: &'static str,
        /// Its params.
        params: Value,
        /// The time until the deadline.
        timeout: Duration,
    },
    /// Send a notification.
    Notify {
        /// Its method.
        method: &'static str,
        /// Its params.
        params: Value,
    },
    /// Respond to the server's request.
    Respond {
        /// The request's id, as on the wire.
        id: Vec<u8>,
        /// The result.
        result: Value,
    },
    /// A message is complete, or its deadline has passed. Occurs once per message.
    Done(DeliveryOutcome),
    /// A response to a message whose deadline had passed.
    Late(DeliveryOutcome),
    /// A response that belongs to no waiting message, and the reason.
    Stray(String),
    /// A context that may belong to several messages, or is late for one of several, as a sentence. It is dropped.
    Ambiguous(String),
}

#[derive(Clone, Debug)]
struct Waiting {
    message: UserMessage,
    key: Option<u64>,
    carrier: Carrier,
    awaited: Awaited,
    expired: bool,
}

impl Waiting {
    fn deadline(&self, limit: Duration) -> Duration {
        self.awaited.since.saturating_add(limit)
    }
}

/// The user messages of one server; see the module documentation.
#[derive(Debug)]
pub(crate) struct UserMessages {
    carrier: Carrier,
    deadline: Duration,
    waiting: Vec<Waiting>,
    /// Messages that are sent once no earlier one can get a late context without a messageId, oldest first.
    held: VecDeque<UserMessage>,
    /// The server has sent a context without a messageId.
    omits_ids: bool,
    next_key: u64,
}

impl UserMessages {
    /// A new engine. The deadline covers the whole exchange about a message, for each server by itself (AMB-A8).
    pub(crate) fn new(carrier: Carrier, deadline: Duration) -> Self {
        Self { carrier, deadline, waiting: Vec::new(), held: VecDeque::new(), omits_ids: false, next_key: 1 }
    }

    /// Sends a user message, or holds it back: if the server does not say to which message a context belongs, a late one
    /// must not be used for the next message (SEP-1975, Timeouts; AMB-A1).
    pub(crate) fn start(&mut self, now: Duration, message: UserMessage) -> Vec<UserMessageOutput> {
        if self.late_until(now).is_some() || !self.held.is_empty() {
            self.held.push_back(message);
            return Vec::new();
        }
        self.send(now, message)
    }

    /// Until when a context without a messageId may be late for an earlier message: one deadline more than that has.
    fn late_until(&self, now: Duration) -> Option<Duration> {
        let expired = self.waiting.iter().filter(|waiting| self.omits_ids && waiting.expired);
        expired.map(|waiting| waiting.deadline(self.deadline.saturating_mul(2))).filter(|until| *until > now).max()
    }

    /// Sends what was held back, if nothing holds it any more.
    fn release(&mut self, now: Duration) -> Vec<UserMessageOutput> {
        if self.late_until(now).is_some() {
            return Vec::new();
        }
        let held = std::mem::take(&mut self.held);
        held.into_iter().flat_map(|message| self.send(now, message)).collect()
    }

    fn send(&mut self, now: Duration, message: UserMessage) -> Vec<UserMessageOutput> {
        let params = message.params();
        let as_request = self.carrier != Carrier::Notification;
        let key = as_request.then_some(self.next_key);
        let carrier = if as_request { Carrier::Request } else { Carrier::Notification };
        self.waiting.push(Waiting { message, key, carrier, awaited: Awaited::since(now), expired: false });
        let Some(key) = key else { return vec![UserMessageOutput::Notify { method: USER_MESSAGE, params }] };
        self.next_key += 1;
        vec![UserMessageOutput::Request { key, method: USER_MESSAGE, params, timeout: self.deadline }]
    }

    /// Handles the response to the request `key` (carrier a).
    pub(crate) fn answered(&mut self, now: Duration, key: u64, answer: &Envelope<'_>) -> Vec<UserMessageOutput> {
        let Some(at) = self.waiting.iter().position(|waiting| waiting.key == Some(key)) else {
            return vec![UserMessageOutput::Stray("a response to a message that is already complete".to_owned())];
        };
        match refusal(answer) {
            Some((code, text)) if self.carrier == Carrier::Auto && knows_no_such_method(code, &text) => self.resend(at),
            Some(refused) => self.settle(now, at, None, Some(refused), Vec::new()),
            None => {
                let (context, remarks) = Context::read(answer.result.unwrap_or(b"null"));
                self.settle(now, at, context, None, remarks)
            }
        }
    }

    /// The request `key` could not be delivered, which completes its message. Returns the message's id if it was still
    /// waiting.
    pub(crate) fn undelivered(&mut self, key: u64) -> Option<String> {
        let at = self.waiting.iter().position(|waiting| waiting.key == Some(key))?;
        let waiting = self.waiting.remove(at);
        (!waiting.expired).then_some(waiting.message.message_id)
    }

    /// Handles any other message of the server. Everything except `conversation/context` is ignored.
    pub(crate) fn receive(&mut self, now: Duration, envelope: &Envelope<'_>) -> Vec<UserMessageOutput> {
        if envelope.method.as_deref() != Some(CONTEXT) {
            return Vec::new();
        }
        let mut actions = Vec::new();
        if let (MessageKind::Request, Some(id)) = (envelope.kind, envelope.id) {
            actions.push(UserMessageOutput::Respond { id: id.0.to_vec(), result: json!({}) });
        }
        let params = envelope.params.unwrap_or(b"{}");
        let named = json::str_member(params, "messageId");
        self.omits_ids |= named.is_none();
        match self.correlate(now, named.as_deref()) {
            Err(candidates) => actions.push(self.unmatched(named.as_deref(), candidates)),
            Ok(at) => {
                let (context, mut remarks) = Context::read(params);
                if named.is_none() {
                    remarks.push(GUESSED.to_owned());
                }
                actions.extend(self.settle(now, at, context, None, remarks));
            }
        }
        actions.extend(self.release(now));
        actions
    }

    /// The time of the next call to [`Self::wake`].
    pub(crate) fn next_timeout(&self) -> Option<Duration> {
        let live = self.waiting.iter().filter(|waiting| !waiting.expired);
        let held = self.held.front().map(|_| self.late_until(Duration::ZERO).unwrap_or_default());
        live.map(|waiting| waiting.deadline(self.deadline)).chain(held).min()
    }

    /// Handles the passing of time: messages stop waiting at their deadline (SEP-1975, Timeouts), and what was held back
    /// is sent.
    pub(crate) fn handle_timeout(&mut self, now: Duration) -> Vec<UserMessageOutput> {
        let deadline = self.deadline;
        let due = |waiting: &&mut Waiting| !waiting.expired && waiting.deadline(deadline) <= now;
        let over = self.waiting.iter_mut().filter(due).map(|waiting| {
            waiting.expired = true;
            UserMessageOutput::Done(DeliveryOutcome { timed_out: true, ..outcome(waiting, now) })
        });
        let mut over: Vec<UserMessageOutput> = over.collect();
        let late = self.waiting.iter().filter(|waiting| waiting.expired).count();
        let mut extra = late.saturating_sub(MAX_LATE);
        self.waiting.retain(|waiting| {
            let goes = waiting.expired && extra > 0;
            extra -= usize::from(goes);
            !goes
        });
        over.extend(self.release(now));
        over
    }

    /// The server does not know the request. Sends this message again as a notification if there is time, and all later
    /// messages as notifications. The server of the proposal's author behaves like this.
    fn resend(&mut self, at: usize) -> Vec<UserMessageOutput> {
        self.carrier = Carrier::Notification;
        let waiting = &mut self.waiting[at];
        waiting.key = None;
        if waiting.expired {
            self.waiting.remove(at);
            return Vec::new();
        }
        waiting.carrier = Carrier::Notification;
        vec![UserMessageOutput::Notify { method: USER_MESSAGE, params: waiting.message.params() }]
    }

    /// Finds the message by its messageId; without one, the only message that it may belong to. The error is the number
    /// of messages that it may belong to.
    fn correlate(&mut self, now: Duration, named: Option<&str>) -> Result<usize, usize> {
        if let Some(id) = named {
            return self.waiting.iter().rposition(|waiting| waiting.message.message_id == id).ok_or(0);
        }
        let waiting = self.waiting.iter_mut().map(|waiting| &mut waiting.awaited).enumerate();
        correlate(waiting, now, self.deadline)
    }

    /// What to say of a context that belongs to no message, or may belong to any of `candidates`.
    fn unmatched(&self, named: Option<&str>, candidates: usize) -> UserMessageOutput {
        if let Some(id) = named {
            let text = format!("the server sent a context for the message {id:?}, which is not waiting for one");
            return UserMessageOutput::Stray(text);
        }
        match candidates {
            0 if self.waiting.is_empty() => {
                let text = "the server sent a context without a messageId while no message is waiting";
                UserMessageOutput::Stray(text.to_owned())
            }
            0 => {
                let text = "the server sent a context without a messageId, too late for every message";
                UserMessageOutput::Ambiguous(text.to_owned())
            }
            _ => UserMessageOutput::Ambiguous(format!(
                "the server sent a context without a messageId that may belong to any of {candidates} messages"
            )),
        }
    }

    fn settle(
        &mut self,
        now: Duration,
        at: usize,
        context: Option<Context>,
        refused: Option<(i64, String)>,
        remarks: Vec<String>,
    ) -> Vec<UserMessageOutput> {
        let waiting = self.waiting.remove(at);
        // A driver may deliver the response before it wakes this engine.
        let late = waiting.expired;
        let overdue = !late && waiting.deadline(self.deadline) < now;
        let outcome = DeliveryOutcome { context, refused, remarks, late: late || overdue, ..outcome(&waiting, now) };
        if !overdue {
            return vec![if late { UserMessageOutput::Late(outcome) } else { UserMessageOutput::Done(outcome) }];
        }
        let over = DeliveryOutcome { timed_out: true, late: false, context: None, refused: None, ..outcome.clone() };
        vec![UserMessageOutput::Done(DeliveryOutcome { remarks: Vec::new(), ..over }), UserMessageOutput::Late(outcome)]
    }
}

fn outcome(waiting: &Waiting, now: Duration) -> DeliveryOutcome {
    DeliveryOutcome {
        message_id: waiting.message.message_id.clone(),
        carrier: waiting.carrier,
        context: None,
        latency: now.saturating_sub(waiting.awaited.since),
        late: false,
        refused: None,
        timed_out: false,
        remarks: Vec::new(),
    }
}

fn refusal(answer: &Envelope<'_>) -> Option<(i64, String)> {
    let error = answer.error.filter(|_| answer.kind == MessageKind::Error)?;
    let code = json::first_member(error, "code").and_then(|text| std::str::from_utf8(text).ok()?.parse().ok());
    Some((code.unwrap_or_default(), json::str_member(error, "message").unwrap_or_default().into_owned()))
}

/// Whether an error means an unknown method: -32601, or -32602 with a message that some SDKs use for it.
fn knows_no_such_method(code: i64, message: &str) -> bool {
    let message = message.to_lowercase();
    let says = |words: &str| message.contains(words);
    code == METHOD_NOT_FOUND
        || (code == INVALID_PARAMS
            && (says("invalid request parameters") || says("method") || says("not found") || says("unknown")))
}
