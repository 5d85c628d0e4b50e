//! The rules of SEP-1975, and the observer that checks them.
//!
//! The proposal calls `conversation/userMessage` a notification, but wants a response. Three carriers are accepted
//! (AMB-A1): a request and its result; a notification answered by a notification; a notification answered by a request.
//! A bare response to a notification is not one of them.

use super::subscription::{Subscription, subscription};
use super::{CONTEXT, DESCRIPTOR, USER_MESSAGE};
use crate::proposals::findings::rules;
use crate::proposals::recent::{Digest, Recent, digest};
use crate::proposals::{ConversationEvent, Declared, Findings, Observed, Observer, Side};
use crate::protocol::errors;
use crate::wire::MessageKind;
use crate::wire::text::counted;
use serde_json::Value;

rules! {
    UNDECLARED_SERVER = Error "conversation/undeclared-server",
        "The host sends user messages only to servers that declared `conversationEvents.onUserMessage: true`.",
        "SEP-1975, Message Flow";
    ID_REUSED = Error "conversation/message-id-reused",
        "Each user message has a `messageId` of its own.",
        "SEP-1975, conversation/userMessage";
    RESENT = Warning "conversation/message-resent",
        "The host sends a user message only once to a server, even if the server did not respond.",
        "SEP-1975, Error Handling";
    NOT_FANNED_OUT = Error "conversation/not-fanned-out",
        "A host that sends a user message to one server sends it to all that declared `onUserMessage`.",
        "SEP-1975, Message Flow";
    REVOKED = Error "conversation/revoked",
        "The host sends no user messages to a server after the user has revoked its access.",
        "SEP-1975, Security Implications";
    NOT_AWAITED = Warning "conversation/not-awaited",
        "The host waits until the servers respond to a user message, or time out, before it asks the model.",
        "SEP-1975, Message Flow and Timeouts";
    SLOW = Warning "conversation/slow-answer",
        "A server responds to a user message within 500 ms; otherwise hosts skip it.",
        "SEP-1975, Timeouts";
    BARE_ANSWER = Error "conversation/bare-answer",
        "A server does not send a JSON-RPC response to a user message that was sent as a notification.",
        "SEP-1975, Message Flow, AMB-A1",
        "The proposal calls the user message a notification, but expects a response. mcpreel accepts requests and notifications; only a request may get a response.";
    UNCORRELATED = Error "conversation/uncorrelated-context",
        "A `conversation/context` message from the server names a user message that the host sent.",
        "SEP-1975, conversation/context, AMB-A1",
        "The proposal does not say if a context is the response or a message of its own. mcpreel accepts both; a message of its own must name its user message.";
    GUESSED = Info "conversation/guessed-context",
        "A `conversation/context` message contains the `messageId` of its user message, even if only one is waiting.",
        "SEP-1975, conversation/context, AMB-A1",
        "The proposal does not say how a context names its user message. Without a `messageId`, mcpreel accepts it only while a single user message waits.";
    CARRIER = Info "conversation/carrier",
        "User messages and contexts are sent in one unambiguous form. The proposal defines none, so this always names the form in use.",
        "SEP-1975, Message Flow, AMB-A1",
        "mcpreel accepts requests, notifications and contexts as messages of their own.";
    BOTH_TEXTS = Warning "conversation/both-texts",
        "A server answers a user message with either `context` (plain text) or `structuredContext`, not both.",
        "SEP-1975, conversation/context, AMB-A2",
        "The proposal does not say if both may occur. mcpreel uses the text first, then the memories.";
    RELEVANCE = Info "conversation/relevance",
        "In a server's context, the `relevance` of each memory is a number from 0 to 1.",
        "SEP-1975, conversation/context";
    CONTEXT_SIZE = Warning "conversation/context-size",
        "The context that a server returns for a user message has at most 16 KiB.",
        "SEP-1975, Open Questions 1";
    HISTORY = Info "conversation/history-shared",
        "The host does not send `recentHistory`, which shares earlier messages with the server.",
        "SEP-1975, Security Implications, AMB-A3",
        "The proposal does not limit the history. mcpreel reports it once per session, for privacy.";
    FUTURE_KEY = Info "conversation/future-key",
        "`onUserMessage` is the only member that the proposal defines in `conversationEvents`.",
        "SEP-1975, Open Questions 3";
    NOT_TEXT = Warning "conversation/not-text",
        "The `content` of a user message is a string, even if the user sent more than text.",
        "SEP-1975, conversation/userMessage, AMB-A5",
        "The proposal does not say what becomes of images and other content. mcpreel's host sends the text only.";
    UNUSED = Info "conversation/unused",
        "A server that declared `onUserMessage` receives at least one user message in the session.",
        "SEP-1975, Backward Compatibility";
}

/// The response time that the proposal recommends as the limit, in nanoseconds (SEP-1975, Timeouts).
const RESPONSE_LIMIT_NS: i64 = 500_000_000;
/// Larger contexts are reported. In bytes.
const MAX_CONTEXT_BYTES: usize = 16 * 1024;

/// A user message that the host sent.
#[derive(Debug)]
struct Sent {
    time: i64,
    content: Digest,
    /// Whether the server responded, with a context or an error.
    answered: bool,
    /// Whether the server did not know the request. Sending the message again as a notification is not a retry then.
    refused: bool,
}

/// Checks one connection.
#[derive(Debug)]
pub(super) struct ConversationObserver {
    sent: Recent<String, Sent>,
    /// Messages sent as notifications that have no context yet, with their time.
    waiting: Recent<String, i64>,
    carrier: Option<&'static str>,
    history_seen: bool,
    revoked: bool,
    lost: bool,
}

impl Default for ConversationObserver {
    fn default() -> Self {
        Self {
            sent: Recent::new(1024),
            waiting: Recent::new(256),
            carrier: None,
            history_seen: false,
            revoked: false,
            lost: false,
        }
    }
}

impl Observer for ConversationObserver {
    fn observe(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        match (message.method, message.envelope.kind) {
            (Some(USER_MESSAGE), MessageKind::Request | MessageKind::Notification) => self.sent(message, findings),
            (Some(USER_MESSAGE), MessageKind::Result) => {
                let asked = message.request.map_or(message.time, |asked| asked.time);
                let id = message.request.and_then(|asked| asked.params["messageId"].as_str());
                self.note_answered(id);
                self.answered("a request and its result", asked, message, findings);
            }
            (Some(USER_MESSAGE), MessageKind::Error) => self.refused(message),
            (Some(CONTEXT), MessageKind::Notification) => self.context("two notifications", message, findings),
            (Some(CONTEXT), MessageKind::Request) => self.context("a notification and a request", message, findings),
            (None, MessageKind::Result) => self.bare(message, findings),
            (Some("initialize"), MessageKind::Result) => declared(message, findings),
            _ => {}
        }
    }

    fn reach(&mut self, moment: ConversationEvent, seq: u64, time: i64, findings: &mut Findings) {
        match moment {
            ConversationEvent::Revoked => self.revoked = true,
            ConversationEvent::Granted => self.revoked = false,
            ConversationEvent::Inferred => self.check_awaited(seq, time, findings),
            _ => {}
        }
    }

    fn lose_track(&mut self) {
        self.lost = true;
        self.sent = Recent::new(1024);
        self.waiting = Recent::new(256);
    }

    fn finish(&mut self, declared: &Declared, findings: &mut Findings) {
        if is_subscribed(declared) && !self.lost {
            let used = !self.sent.is_empty();
            findings.check_overall(&UNUSED, used, || {
                "the server declared conversationEvents.onUserMessage, but the host sent it no user message".to_owned()
            });
        }
    }
}

impl ConversationObserver {
    fn sent(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let (seq, params) = (message.seq, message.content);
        findings.hold(&NOT_TEXT);
        if message.declared.server.is_object() {
            findings.check(&UNDECLARED_SERVER, seq, is_subscribed(message.declared), || {
                "the server did not declare conversationEvents.onUserMessage: true".to_owned()
            });
        }
        findings.check(&REVOKED, seq, !self.revoked, || {
            "the host sent a user message after the user had revoked the server's access".to_owned()
        });
        if params.get("recentHistory").is_some() && !self.history_seen {
            self.history_seen = true;
            findings.note(&HISTORY, seq, "the user message contains recentHistory");
        }
        let Some(id) = params["messageId"].as_str() else { return };
        let content = digest(&params["content"]);
        let sent = Sent { time: message.time, content, answered: false, refused: false };
        let before = self.sent.insert(id.to_owned(), sent).filter(|before| !before.refused);
        let same = before.as_ref().is_some_and(|before| before.content == content);
        findings.check(&RESENT, seq, !same, || format!("the host sent message {id} again"));
        findings.check(&ID_REUSED, seq, before.is_none() || same, || {
            format!("another message already has the messageId {id}")
        });
        if message.envelope.kind == MessageKind::Notification {
            self.waiting.insert(id.to_owned(), message.time);
        }
    }

    fn refused(&mut self, message: &Observed<'_>) {
        let code = message.content["code"].as_i64();
        let Some(id) = message.request.and_then(|asked| asked.params["messageId"].as_str()) else { return };
        if let Some(sent) = self.sent.get_mut(&id.to_owned()) {
            sent.answered = true;
            sent.refused = code == Some(errors::METHOD_NOT_FOUND);
        }
    }

    /// The model has answered. No message whose time limit has not passed may still be without a context.
    fn check_awaited(&self, seq: u64, time: i64, findings: &mut Findings) {
        let early =
            |sent: &&Sent| !sent.answered && !sent.refused && time.saturating_sub(sent.time) < RESPONSE_LIMIT_NS;
        let early = self.sent.values().filter(early).count();
        if !self.sent.is_empty() && !self.lost {
            findings.check(&NOT_AWAITED, seq, early == 0, || {
                let contexts = counted(early, "context");
                format!("the model answered although {contexts} could still have arrived in time")
            });
        }
    }

    /// A context in a message of its own.
    fn context(&mut self, carrier: &'static str, message: &Observed<'_>, findings: &mut Findings) {
        findings.hold(&BARE_ANSWER);
        let asked = match message.content["messageId"].as_str() {
            Some(id) => {
                self.note_answered(Some(id));
                let id = id.to_owned();
                let asked = self.waiting.remove(&id).or_else(|| self.sent.get(&id).map(|sent| sent.time));
                findings.check(&UNCORRELATED, message.seq, asked.is_some() || self.lost, || {
                    format!("the server sent a context for the message {id}, which the host did not send")
                });
                asked
            }
            None => {
                let only = self.waiting.take_only();
                self.note_answered(only.as_ref().map(|(id, _)| id.as_str()));
                let waiting = self.waiting.len();
                findings.check(&UNCORRELATED, message.seq, only.is_some() || self.lost, || {
                    format!("the context contains no messageId, and {waiting} messages are waiting for one")
                });
                findings
                    .check(&GUESSED, message.seq, only.is_none(), || "the context contains no messageId".to_owned());
                only.map(|(_, time)| time)
            }
        };
        self.answered(carrier, asked.unwrap_or(message.time), message, findings);
    }

    fn note_answered(&mut self, id: Option<&str>) {
        if let Some(sent) = id.and_then(|id| self.sent.get_mut(&id.to_owned())) {
            sent.answered = true;
        }
    }

    fn answered(&mut self, carrier: &'static str, asked: i64, message: &Observed<'_>, findings: &mut Findings) {
        let seq = message.seq;
        if self.carrier.is_none() {
            self.carrier = Some(carrier);
            findings.note(&CARRIER, seq, format!("this session uses {carrier}"));
        }
        let took = message.time.saturating_sub(asked);
        findings.check(&SLOW, seq, took <= RESPONSE_LIMIT_NS, || {
            format!("the server responded after {} ms", took / 1_000_000)
        });
        check_context(message, findings);
    }

    /// A result that belongs to no request. It is a context if a message sent as a notification is waiting for one.
    fn bare(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let content = message.content;
        let is_context = content.get("context").is_some() || content.get("structuredContext").is_some();
        if !self.waiting.is_empty() && message.request.is_none() && !self.lost {
            findings.check(&BARE_ANSWER, message.seq, !is_context, || {
                "the server sent a context as a response without a request".to_owned()
            });
        }
    }
}

/// The texts of a context: the plain one, then those of the memories.
pub(super) fn texts(context: &Value) -> impl Iterator<Item = &str> {
    let memories = context["structuredContext"]["memories"].as_array().map_or(&[][..], Vec::as_slice);
    context["context"].as_str().into_iter().chain(memories.iter().filter_map(|memory| memory["content"].as_str()))
}

pub(super) fn is_subscribed(declared: &Declared) -> bool {
    subscription(&declared.server) == Subscription::Subscribed
}

fn declared(message: &Observed<'_>, findings: &mut Findings) {
    let Some((_, value)) = message.declared.find(&DESCRIPTOR, Side::Server) else { return };
    let future: Vec<_> =
        value.as_object().into_iter().flat_map(|all| all.keys()).filter(|key| *key != "onUserMessage").collect();
    findings.check(&FUTURE_KEY, message.seq, future.is_empty(), || {
        format!("the server declared conversationEvents with {future:?}")
    });
}

fn check_context(message: &Observed<'_>, findings: &mut Findings) {
    let (seq, content) = (message.seq, message.content);
    let structured = content.get("structuredContext");
    findings.check(&BOTH_TEXTS, seq, !(content.get("context").is_some() && structured.is_some()), || {
        "the context contains both context and structuredContext".to_owned()
    });
    let memories = content["structuredContext"]["memories"].as_array().map_or(&[][..], Vec::as_slice);
    let far = memories.iter().filter_map(|memory| memory["relevance"].as_f64()).find(|it| !(0.0..=1.0).contains(it));
    if !memories.is_empty() {
        findings.check(&RELEVANCE, seq, far.is_none(), || {
            format!("the server sent the relevance {}", far.unwrap_or_default())
        });
    }
    let size = texts(content).map(str::len).sum::<usize>();
    findings
        .check(&CONTEXT_SIZE, seq, size <= MAX_CONTEXT_BYTES, || format!("the server sent {size} bytes of context"));
}
