//! The host's side of a user message (seed 000): send it, wait for the context no longer than the deadline, and tell
//! what came. One engine a server.
//!
//! The text calls the message a notification yet wants an answer (AMB-A1). Three ways are spoken: (a) a request and its
//! result, (b) a notification and a notification `conversation/context`, (c) a notification and a request of that name.
//!
//! Never: ids of requests (the driver pairs them), clocks, printing.

mod context;
pub mod side;
#[cfg(test)]
mod tests;

pub use context::{Context, DEFAULT_MOST_BYTES, Memory, render};

use super::{CONTEXT, DESCRIPTOR, USER_MESSAGE};
use crate::protocol::errors::{INVALID_PARAMS, METHOD_NOT_FOUND};
use crate::wire::{Envelope, MessageKind, json};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The recommended time for a server's answer (A12).
pub const DEFAULT_DEADLINE: Duration = Duration::from_millis(500);

/// So many messages whose time is over are remembered for a late answer; the oldest is forgotten first.
const MAX_LATE: usize = 64;

/// What a server declared about user messages (A1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subscription {
    /// `onUserMessage: true`: it is to be sent every user message (A2, A3).
    Subscribed,
    /// `conversationEvents` is there, `onUserMessage: true` is not.
    DeclaredNotSubscribed,
    /// Nothing is there.
    NotDeclared,
}

/// Reads a server's capabilities, at the top level or under `experimental`; either place can subscribe.
pub fn subscription(capabilities: &Value) -> Subscription {
    let found = DESCRIPTOR.places.iter().filter_map(|place| {
        let declared = place.path.iter().try_fold(capabilities, |value, name| value.get(name))?;
        Some(declared["onUserMessage"] == Value::Bool(true))
    });
    match found.reduce(|one, other| one || other) {
        Some(true) => Subscription::Subscribed,
        Some(false) => Subscription::DeclaredNotSubscribed,
        None => Subscription::NotDeclared,
    }
}

/// How the message travels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Carrier {
    /// As a request; once the server does not know that method, as a notification.
    #[default]
    Auto,
    /// As a request.
    Request,
    /// As a notification.
    Notification,
}

/// One earlier message of the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    /// `user` or `assistant`.
    pub role: String,
    /// What was said.
    pub content: String,
}

/// A user's message (A5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserMessage {
    /// Its id, unique in the session (A6): the caller gives it.
    pub message_id: String,
    /// Its text.
    pub content: String,
    /// What was said before, oldest first; sent where it is not empty.
    pub recent_history: Vec<HistoryEntry>,
}

impl UserMessage {
    /// The params on the wire.
    pub fn params(&self) -> Value {
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

/// What came of one message at this server.
#[derive(Clone, Debug, PartialEq)]
pub struct DeliveryOutcome {
    /// The message.
    pub message_id: String,
    /// How it was sent in the end: never [`Carrier::Auto`].
    pub carrier: Carrier,
    /// What to inject; `None` for an empty response (A9), a refusal or silence.
    pub context: Option<Context>,
    /// Time since the message was first sent.
    pub latency: Duration,
    /// It came after the deadline: not to be injected (A13).
    pub late: bool,
    /// The server's error (A14): code and message.
    pub refused: Option<(i64, String)>,
    /// Nothing came in time. For a notification that is how a server says "nothing to inject".
    pub timed_out: bool,
    /// What was unusual, as sentences.
    pub remarks: Vec<String>,
}

/// What the driver is to do, or to know.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Send a request; hand its answer to [`UserMessages::answered`] with this key.
    Request {
        /// Names the request.
        key: u64,
        /// Its method.
        method: &'static str,
        /// Its params.
        params: Value,
        /// What is left of the deadline.
        timeout: Duration,
    },
    /// Send a notification.
    Notify {
        /// Its method.
        method: &'static str,
        /// Its params.
        params: Value,
    },
    /// Answer the server's request.
    Respond {
        /// The text of its id.
        id: Vec<u8>,
        /// The result.
        result: Value,
    },
    /// A message has come to its end, in time or by the deadline. Once a message.
    Done(DeliveryOutcome),
    /// The answer of a message whose deadline had passed.
    Late(DeliveryOutcome),
    /// An answer that belongs to no message that waits, and why.
    Stray(String),
}

#[derive(Clone, Debug)]
struct Waiting {
    message: UserMessage,
    key: Option<u64>,
    carrier: Carrier,
    since: Duration,
    expired: bool,
}

/// The user messages of one server. See the module.
#[derive(Debug)]
pub struct UserMessages {
    carrier: Carrier,
    deadline: Duration,
    waiting: Vec<Waiting>,
    next_key: u64,
}

impl UserMessages {
    /// An engine that has sent nothing yet. The deadline covers a message's whole exchange (AMB-A8: per server).
    pub fn new(carrier: Carrier, deadline: Duration) -> Self {
        Self { carrier, deadline, waiting: Vec::new(), next_key: 1 }
    }

    /// Sends a user message.
    pub fn start(&mut self, now: Duration, message: UserMessage) -> Vec<Action> {
        let params = message.params();
        let as_request = self.carrier != Carrier::Notification;
        let key = as_request.then_some(self.next_key);
        let carrier = if as_request { Carrier::Request } else { Carrier::Notification };
        self.waiting.push(Waiting { message, key, carrier, since: now, expired: false });
        let Some(key) = key else { return vec![Action::Notify { method: USER_MESSAGE, params }] };
        self.next_key += 1;
        vec![Action::Request { key, method: USER_MESSAGE, params, timeout: self.deadline }]
    }

    /// Takes the answer to the request `key` in (way a).
    pub fn answered(&mut self, now: Duration, key: u64, answer: &Envelope<'_>) -> Vec<Action> {
        let Some(at) = self.waiting.iter().position(|waiting| waiting.key == Some(key)) else {
            return vec![Action::Stray("an answer to a message that is settled already".to_owned())];
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

    /// The request `key` did not get through: its message is settled. Answers which, where it was still waited for.
    pub fn undelivered(&mut self, key: u64) -> Option<String> {
        let at = self.waiting.iter().position(|waiting| waiting.key == Some(key))?;
        let waiting = self.waiting.remove(at);
        (!waiting.expired).then_some(waiting.message.message_id)
    }

    /// Takes any other message of the server in; those that are not `conversation/context` are none of its business.
    pub fn receive(&mut self, now: Duration, envelope: &Envelope<'_>) -> Vec<Action> {
        if envelope.method.as_deref() != Some(CONTEXT) {
            return Vec::new();
        }
        let mut actions = Vec::new();
        if let (MessageKind::Request, Some(id)) = (envelope.kind, envelope.id) {
            actions.push(Action::Respond { id: id.0.to_vec(), result: json!({}) });
        }
        let params = envelope.params.unwrap_or(b"{}");
        let named = json::str_member(params, "messageId");
        match self.correlate(named.as_deref()) {
            Err(why) => actions.push(Action::Stray(why)),
            Ok(at) => {
                let (context, mut remarks) = Context::read(params);
                if named.is_none() {
                    remarks.push("the context names no messageId; taken for the only message that waits".to_owned());
                }
                actions.extend(self.settle(now, at, context, None, remarks));
            }
        }
        actions
    }

    /// The moment to call [`Self::wake`] at.
    pub fn next_timeout(&self) -> Option<Duration> {
        let live = self.waiting.iter().filter(|waiting| !waiting.expired);
        live.map(|waiting| waiting.since.saturating_add(self.deadline)).min()
    }

    /// Lets time pass: messages whose deadline is over are given up, the conversation goes on without them (A13).
    pub fn handle_timeout(&mut self, now: Duration) -> Vec<Action> {
        let deadline = self.deadline;
        let due = |waiting: &&mut Waiting| !waiting.expired && waiting.since.saturating_add(deadline) <= now;
        let over = self.waiting.iter_mut().filter(due).map(|waiting| {
            waiting.expired = true;
            Action::Done(DeliveryOutcome { timed_out: true, ..outcome(waiting, now) })
        });
        let over: Vec<Action> = over.collect();
        let late = self.waiting.iter().filter(|waiting| waiting.expired).count();
        let mut extra = late.saturating_sub(MAX_LATE);
        self.waiting.retain(|waiting| {
            let goes = waiting.expired && extra > 0;
            extra -= usize::from(goes);
            !goes
        });
        over
    }

    /// The server knows no such request: this message goes again as a notification if there is time, and so do all
    /// that follow (real: the proposal's author's own server refuses the request).
    fn resend(&mut self, at: usize) -> Vec<Action> {
        self.carrier = Carrier::Notification;
        let waiting = &mut self.waiting[at];
        waiting.key = None;
        if waiting.expired {
            self.waiting.remove(at);
            return Vec::new();
        }
        waiting.carrier = Carrier::Notification;
        vec![Action::Notify { method: USER_MESSAGE, params: waiting.message.params() }]
    }

    /// By messageId, else the only message that waits. A message past its deadline still waits here, so that its late
    /// answer is never taken for a later message's (A13).
    fn correlate(&self, named: Option<&str>) -> Result<usize, String> {
        match (named, self.waiting.len()) {
            (Some(id), _) => self
                .waiting
                .iter()
                .rposition(|waiting| waiting.message.message_id == id)
                .ok_or_else(|| format!("context for the message {id:?}, which does not wait for one")),
            (None, 1) => Ok(0),
            (None, count) => Err(format!("context that names no messageId while {count} messages wait")),
        }
    }

    fn settle(
        &mut self,
        now: Duration,
        at: usize,
        context: Option<Context>,
        refused: Option<(i64, String)>,
        remarks: Vec<String>,
    ) -> Vec<Action> {
        let waiting = self.waiting.remove(at);
        // A driver may hand an answer in before it wakes this engine.
        let late = waiting.expired;
        let overdue = !late && waiting.since.saturating_add(self.deadline) < now;
        let outcome = DeliveryOutcome { context, refused, remarks, late: late || overdue, ..outcome(&waiting, now) };
        if !overdue {
            return vec![if late { Action::Late(outcome) } else { Action::Done(outcome) }];
        }
        let over = DeliveryOutcome { timed_out: true, late: false, context: None, refused: None, ..outcome.clone() };
        vec![Action::Done(DeliveryOutcome { remarks: Vec::new(), ..over }), Action::Late(outcome)]
    }
}

fn outcome(waiting: &Waiting, now: Duration) -> DeliveryOutcome {
    DeliveryOutcome {
        message_id: waiting.message.message_id.clone(),
        carrier: waiting.carrier,
        context: None,
        latency: now.saturating_sub(waiting.since),
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

/// -32601, or -32602 in words that some SDKs use for an unknown method (X5).
fn knows_no_such_method(code: i64, message: &str) -> bool {
    let message = message.to_lowercase();
    let says = |words: &str| message.contains(words);
    code == METHOD_NOT_FOUND
        || (code == INVALID_PARAMS
            && (says("invalid request parameters") || says("method") || says("not found") || says("unknown")))
}
