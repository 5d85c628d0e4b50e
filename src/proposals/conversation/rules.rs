//! The rules of SEP-1975, and the observer that checks them.
//!
//! The proposal calls `conversation/userMessage` a notification, but wants a response. Three carriers are accepted
//! (AMB-A1): a request and its result; a notification answered by a notification; a notification answered by a request.
//! A bare response to a notification is not one of them.

use super::correlation::{Awaited, correlate};
use super::subscription::{Subscription, subscription};
use super::{CONTEXT, DESCRIPTOR, USER_MESSAGE};
use crate::proposals::findings::rules;
use crate::proposals::recent::{Digest, Recent, digest};
use crate::proposals::{ConversationEvent, Declared, Findings, Observed, Observer, Side};
use crate::protocol::errors;
use crate::wire::text::counted;
use crate::wire::{Direction, MessageKind};
use serde_json::Value;
use std::time::Duration;

/// The questions that the proposal leaves open (`AMB-…`), and what mcpreel assumes.
mod open_questions {
    pub(super) const A1: &str = "The proposal calls the user message a notification, but expects an answer, and does not define the answer's form. mcpreel accepts a result, and `conversation/context` as a message of its own that names its user message or comes while only one waits; a user message without an id must get no JSON-RPC response.";
    pub(super) const A2: &str =
        "The proposal does not say if both may occur. mcpreel uses the text first, then the memories.";
    pub(super) const A3: &str =
        "The proposal does not limit the history. mcpreel reports it once per session, for privacy.";
    pub(super) const A5: &str =
        "The proposal does not say what becomes of images and other content. mcpreel's host sends the text only.";
}

rules! {
    UNDECLARED_SERVER = Error "conversation/undeclared-server",
        "The host sends `conversation/userMessage` only to a server that declared `conversationEvents.onUserMessage: true`.",
        "SEP-1975, Message Flow",
        fix "Read the declaration of each server, and leave out those that do not ask for user messages.";
    ID_REUSED = Error "conversation/message-id-reused",
        "The host gives each user message a `messageId` of its own: two `conversation/userMessage` with different `content` never share one.",
        "SEP-1975, conversation/userMessage",
        fix "Make a new random `messageId` for each user message.";
    RESENT = Warning "conversation/message-resent",
        "The host sends the same `conversation/userMessage` (same `messageId` and `content`) to a server only once, even if the server did not respond. It may repeat it after error -32601 (method not found).",
        "SEP-1975, Error Handling",
        fix "Remember which messages each server got; do not send one again when no response comes.";
    NOT_FANNED_OUT = Error "conversation/not-fanned-out",
        "A host that sends a user message to one server must send it to every connected server that declared `conversationEvents.onUserMessage: true`.",
        "SEP-1975, Message Flow",
        fix "Send the message to all subscribed servers before the model gets it.";
    REVOKED = Error "conversation/revoked",
        "The host sends no `conversation/userMessage` to a server while the user's permission for that server is revoked. Checked only if the reel notes the revocation.",
        "SEP-1975, Security Implications",
        fix "Check the user's permission for the server right before you send each user message.";
    NOT_AWAITED = Warning "conversation/not-awaited",
        "After `conversation/userMessage`, the host waits before it lets the model answer: until the server has responded, until the host has cancelled the request or lost the connection, until the HTTP request has failed, or for the 500 ms that the proposal recommends (450 here, because clocks differ). Checked only if the reel notes when the model answered.",
        "SEP-1975, Message Flow and Timeouts",
        fix "Wait for all contexts until your timeout, cancel the requests that are still open, and then build the prompt.";
    SLOW = Warning "conversation/slow-answer",
        "The server responds to `conversation/userMessage` within 500 ms, the timeout that the proposal recommends to hosts. A host with this timeout skips a slower server.",
        "SEP-1975, Timeouts",
        fix "Answer with an empty context when time runs out, and prepare what takes longer beforehand.";
    UNANSWERED = Warning "conversation/unanswered",
        "The server answers each `conversation/userMessage`, with an empty context if it has nothing to add: a request with a result, a notification with a `conversation/context`. Checked when the host sends its next user message, at least a second later, unless the host cancelled the request in less than 450 ms.",
        "SEP-1975, Message Flow",
        fix "Answer with the result `{}`, or with a `conversation/context` that has only the `messageId`, if you have nothing to add.";
    BARE_ANSWER = Error "conversation/bare-answer",
        "The server must not send a JSON-RPC response to a `conversation/userMessage` that the host sent as a notification (without an id).",
        "SEP-1975, Message Flow, AMB-A1",
        assumes open_questions::A1,
        fix "Send `conversation/context` as a notification with the `messageId` of the user message.";
    UNCORRELATED = Error "conversation/uncorrelated-context",
        "A server that sends `conversation/context` must name in `messageId` a user message that the host sent; without `messageId`, a user message must still wait for its context.",
        "SEP-1975, conversation/context, AMB-A1",
        assumes open_questions::A1,
        fix "Copy `messageId` from the user message.";
    AMBIGUOUS = Warning "conversation/ambiguous-context",
        "A server that sends `conversation/context` without `messageId` does so only while a single user message waits for its context, which may be up to a second old. Otherwise, the host cannot know which message the context belongs to.",
        "SEP-1975, conversation/context, AMB-A1",
        assumes open_questions::A1,
        fix "Copy `messageId` from the user message.";
    GUESSED = Info "conversation/guessed-context",
        "A server that sends `conversation/context` must include the `messageId` of the user message, even if only one user message waits for its context.",
        "SEP-1975, conversation/context, AMB-A1",
        assumes open_questions::A1,
        fix "Copy the `messageId` of the user message into the context.";
    CARRIER = Info "conversation/carrier",
        "A note about each session with user messages: it names the form in which the server returned its first context (as a result, a notification or a request), because the proposal does not define the form.",
        "SEP-1975, Message Flow, AMB-A1",
        assumes open_questions::A1,
        fix "Nothing needs to be fixed; agree with the other side on one form.";
    BOTH_TEXTS = Warning "conversation/both-texts",
        "The server answers a user message with either `context` (plain text) or `structuredContext` (a list of memories), not with both.",
        "SEP-1975, conversation/context, AMB-A2",
        assumes open_questions::A2,
        fix "Choose one form, and put all of the text into it.";
    RELEVANCE = Info "conversation/relevance",
        "In `structuredContext.memories`, the server gives each memory a `relevance` from 0 to 1, if it gives one.",
        "SEP-1975, conversation/context",
        fix "Scale the relevance to the range from 0 to 1, or leave it out.";
    CONTEXT_SIZE = Warning "conversation/context-size",
        "The server returns at most 16 KiB of text in the context for one user message: a limit of mcpreel's, because the proposal leaves it open.",
        "SEP-1975, Open Questions 1",
        fix "Return the most relevant memories only, and stop before 16 KiB.";
    HISTORY = Info "conversation/history-shared",
        "The host leaves `recentHistory`, which is optional, out of `conversation/userMessage` unless the user agreed to share it: it shows the server earlier messages of the conversation. Reported once per session.",
        "SEP-1975, Security Implications, AMB-A3",
        assumes open_questions::A3,
        fix "Send the new message alone unless the user agreed to share the history.";
    FUTURE_KEY = Info "conversation/future-key",
        "The server declares no member but `onUserMessage` in `conversationEvents`; the proposal defines no other.",
        "SEP-1975, Open Questions 3",
        fix "Remove the other members from `conversationEvents`.";
    NOT_TEXT = Warning "conversation/not-text",
        "The host sends the `content` of `conversation/userMessage` as a string, even if the user's message had images or other parts.",
        "SEP-1975, conversation/userMessage, AMB-A5",
        assumes open_questions::A5,
        fix "Join the texts of the message's parts into one string.";
    SECOND_CONTEXT = Error "conversation/second-context",
        "The server must return only one context for each `conversation/userMessage`: as the result, or as one `conversation/context`.",
        "SEP-1975, Message Flow",
        fix "Collect everything you know about a message, and answer once.";
    EMPTY_ID = Warning "conversation/empty-message-id",
        "The host gives each `conversation/userMessage` a `messageId` that is not an empty text, because it must identify the message.",
        "SEP-1975, conversation/userMessage",
        fix "Make a random `messageId`, such as a UUID, for each user message.";
    NEAR_MISS = Warning "conversation/near-miss",
        "In a context, the server spells the names of the members as the proposal does (`structuredContext`, not `structured_context`).",
        "SEP-1975, conversation/context",
        fix "Rename the member to the spelling in the proposal; others are ignored.";
    UNUSED = Info "conversation/unused",
        "The host sends at least one `conversation/userMessage` to a server that declared `conversationEvents.onUserMessage: true`. Checked at the end of the session.",
        "SEP-1975, Backward Compatibility",
        fix "Send user messages to the server, or ask the user for permission to do so.";
}

/// The response time that the proposal recommends as the limit (SEP-1975, Timeouts).
pub(super) const RESPONSE_LIMIT: Duration = Duration::from_millis(500);
/// The host has waited long enough after this time: its clock starts a little before the recorder sees the message.
const PATIENCE: Duration = Duration::from_millis(450);
/// Larger contexts are reported. In bytes.
const MAX_CONTEXT_BYTES: usize = 16 * 1024;

/// A user message that the host sent.
#[derive(Debug)]
struct Sent {
    time: Duration,
    content: Digest,
    /// The id of the request; `null` for a notification.
    request: Value,
    /// The HTTP exchange that carried it, or 0.
    exchange: u32,
    /// The model has answered since. Whether the host waited was checked then.
    is_judged: bool,
    /// The host need not wait any more: the server responded, with a context or an error, the host has cancelled the
    /// request, or it has lost the server, or its HTTP request failed.
    is_settled: bool,
    /// Whether the server returned a context, even an empty one.
    has_context: bool,
    /// Whether the server did not know the request. Sending the message again as a notification is not a retry then.
    refused: bool,
}

/// A user message that the server has not answered.
#[derive(Debug)]
struct Waiting {
    seq: u64,
    awaited: Awaited,
    is_notification: bool,
    /// That it was not answered was reported.
    is_reported: bool,
}

/// Checks one connection.
#[derive(Debug)]
pub(super) struct ConversationObserver {
    sent: Recent<String, Sent>,
    /// Messages without a context or an error so far.
    waiting: Recent<String, Waiting>,
    carrier: Option<&'static str>,
    /// The host has sent a user message, valid or not.
    is_used: bool,
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
            is_used: false,
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
            (Some("notifications/cancelled"), MessageKind::Notification)
                if message.direction == Direction::ClientToServer =>
            {
                self.cancelled(message);
            }
            (Some(USER_MESSAGE), MessageKind::Result) => {
                findings.hold(&UNANSWERED);
                let asked = message.request.map_or(message.time, |asked| asked.time);
                if let Some(id) = asked_for(message) {
                    self.waiting.remove(&id);
                    self.note_context(&id, message.seq, findings);
                }
                self.answered("a request and its result", since_start(asked), message, findings);
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
            ConversationEvent::Inferred => self.check_awaited(seq, since_start(time), findings),
            ConversationEvent::Gone => self.sent.iter_mut().for_each(|(_, sent)| sent.is_settled = true),
            _ => {}
        }
    }

    fn exchange_failed(&mut self, exchange: u32) {
        let its = self.sent.iter_mut().filter(|(_, sent)| sent.exchange == exchange);
        its.for_each(|(_, sent)| sent.is_settled = true);
    }

    fn lose_track(&mut self) {
        self.lost = true;
        self.sent = Recent::new(1024);
        self.waiting = Recent::new(256);
    }

    fn finish(&mut self, declared: &Declared, _time: i64, findings: &mut Findings) {
        if is_subscribed(declared) && !self.lost {
            findings.check_overall(&UNUSED, self.is_used, || {
                "the server declared conversationEvents.onUserMessage, but the host sent it no user message".to_owned()
            });
        }
    }
}

impl ConversationObserver {
    fn sent(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let (seq, params) = (message.seq, message.content);
        self.is_used = true;
        findings.hold(&NOT_TEXT);
        if message.declared.server.is_object() {
            findings.check(&UNDECLARED_SERVER, seq, is_subscribed(message.declared), || {
                "the server did not declare conversationEvents.onUserMessage: true".to_owned()
            });
        }
        findings.check(&REVOKED, seq, !self.revoked, || {
            "the host sent a user message after the user had revoked the server's access".to_owned()
        });
        if !params["recentHistory"].is_null() && !self.history_seen {
            self.history_seen = true;
            findings.note(&HISTORY, seq, "the user message contains recentHistory");
        }
        let Some(id) = params["messageId"].as_str() else { return };
        let content = digest(&params["content"]);
        findings.check(&EMPTY_ID, seq, !id.is_empty(), || "the messageId is empty".to_owned());
        let time = since_start(message.time);
        // If the server refused the request, the host's time limit began with that.
        let refused = self.sent.get(&id.to_owned()).filter(|before| before.refused).map(|before| before.time);
        let sent = Sent {
            time: refused.unwrap_or(time),
            content,
            request: message.whole["id"].clone(),
            exchange: message.exchange,
            is_judged: false,
            is_settled: false,
            has_context: false,
            refused: false,
        };
        let before = self.sent.insert(id.to_owned(), sent).filter(|before| !before.refused);
        let same = before.as_ref().is_some_and(|before| before.content == content);
        findings.check(&RESENT, seq, !same, || format!("the host sent message {id} again"));
        findings.check(&ID_REUSED, seq, before.is_none() || same, || {
            format!("another message already has the messageId {id}")
        });
        self.check_answered(time, findings);
        let is_notification = message.envelope.kind == MessageKind::Notification;
        let waiting = Waiting { seq, awaited: Awaited::since(time), is_notification, is_reported: false };
        self.waiting.insert(id.to_owned(), waiting);
    }

    /// Checks at the next user message whether the earlier ones were answered, at least late.
    fn check_answered(&mut self, now: Duration, findings: &mut Findings) {
        let is_due = |waiting: &Waiting| {
            let waited = now.saturating_sub(waiting.awaited.since);
            !waiting.is_reported && waited >= RESPONSE_LIMIT.saturating_mul(2)
        };
        let mut due: Vec<_> = self.waiting.iter_mut().filter(|(_, waiting)| is_due(waiting)).collect();
        due.sort_by_key(|(_, waiting)| waiting.seq);
        for (id, waiting) in due {
            waiting.is_reported = true;
            findings.note(&UNANSWERED, waiting.seq, format!("the server did not answer the message {id}"));
        }
    }

    fn refused(&mut self, message: &Observed<'_>) {
        let code = message.content["code"].as_i64();
        let Some(id) = asked_for(message) else { return };
        self.waiting.remove(&id);
        if let Some(sent) = self.sent.get_mut(&id) {
            sent.is_settled = true;
            sent.refused = code == Some(errors::METHOD_NOT_FOUND);
        }
    }

    /// The host has cancelled a request: it no longer waits, and the server need not answer if it had no time to.
    fn cancelled(&mut self, message: &Observed<'_>) {
        let request = &message.content["requestId"];
        let is_meant = |sent: &Sent| !request.is_null() && sent.request == *request;
        let Some((id, sent)) = self.sent.iter_mut().find(|(_, sent)| is_meant(sent)) else { return };
        sent.is_settled = true;
        if since_start(message.time).saturating_sub(sent.time) < PATIENCE {
            let id = id.clone();
            self.waiting.remove(&id);
        }
    }

    /// The model has answered. The host must have waited for the context of each message since the last answer.
    fn check_awaited(&mut self, seq: u64, time: Duration, findings: &mut Findings) {
        let (mut judged, mut early) = (0, 0);
        for (_, sent) in self.sent.iter_mut().filter(|(_, sent)| !sent.is_judged) {
            sent.is_judged = true;
            judged += 1;
            early += usize::from(!sent.is_settled && time.saturating_sub(sent.time) < PATIENCE);
        }
        if judged > 0 && !self.lost {
            findings.check(&NOT_AWAITED, seq, early == 0, || {
                let contexts = counted(early, "context");
                format!("the model answered although {contexts} could still have arrived in time")
            });
        }
    }

    /// A context in a message of its own.
    fn context(&mut self, carrier: &'static str, message: &Observed<'_>, findings: &mut Findings) {
        findings.hold(&BARE_ANSWER);
        findings.hold(&UNANSWERED);
        let asked = match message.content["messageId"].as_str() {
            Some(id) => self.named(id, message.seq, findings),
            None => self.unnamed(message, findings),
        };
        self.answered(carrier, asked.unwrap_or(since_start(message.time)), message, findings);
    }

    /// A context for the message `id`. Returns when that was sent.
    fn named(&mut self, id: &str, seq: u64, findings: &mut Findings) -> Option<Duration> {
        let id = id.to_owned();
        self.note_context(&id, seq, findings);
        let waiting = self.waiting.remove(&id).map(|waiting| waiting.awaited.since);
        let asked = waiting.or_else(|| self.sent.get(&id).map(|sent| sent.time));
        findings.check(&UNCORRELATED, seq, asked.is_some() || self.lost, || {
            format!("the server sent a context for the message {id}, which the host did not send")
        });
        asked
    }

    /// A context that names no message. Returns when the only one that it may belong to was sent.
    fn unnamed(&mut self, message: &Observed<'_>, findings: &mut Findings) -> Option<Duration> {
        let seq = message.seq;
        let waiting = self.waiting.iter_mut().map(|(id, waiting)| (id.clone(), &mut waiting.awaited));
        let only = correlate(waiting, since_start(message.time), RESPONSE_LIMIT);
        let candidates = only.as_ref().err().copied();
        findings.check(&UNCORRELATED, seq, candidates != Some(0) || self.lost, || {
            "the context contains no messageId that is text, and no message is waiting for it".to_owned()
        });
        let is_single = candidates.is_none_or(|candidates| candidates == 0);
        findings.check(&AMBIGUOUS, seq, is_single || self.lost, || {
            let waiting = counted(candidates.unwrap_or_default(), "message");
            format!("the context contains no messageId that is text, and {waiting} may be waiting for it")
        });
        findings.check(&GUESSED, seq, only.is_err(), || "the context contains no messageId that is text".to_owned());
        let id = only.ok()?;
        self.note_context(&id, seq, findings);
        self.waiting.remove(&id).map(|waiting| waiting.awaited.since)
    }

    /// Notes the context for a message, which must be the only one.
    fn note_context(&mut self, id: &str, seq: u64, findings: &mut Findings) {
        let Some(sent) = self.sent.get_mut(&id.to_owned()) else { return };
        findings.check(&SECOND_CONTEXT, seq, !sent.has_context, || {
            format!("the server returned another context for the message {id}")
        });
        (sent.is_settled, sent.has_context) = (true, true);
    }

    fn answered(&mut self, carrier: &'static str, asked: Duration, message: &Observed<'_>, findings: &mut Findings) {
        let seq = message.seq;
        if self.carrier.is_none() {
            self.carrier = Some(carrier);
            findings.note(&CARRIER, seq, format!("this session uses {carrier}"));
        }
        let took = since_start(message.time).saturating_sub(asked);
        findings.check(&SLOW, seq, took <= RESPONSE_LIMIT, || {
            format!("the server responded after {} ms", took.as_millis())
        });
        check_context(message, findings);
    }

    /// A result that belongs to no request. It is a context if a message sent as a notification is waiting for one.
    fn bare(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let content = message.content;
        let is_context = content.get("context").is_some() || content.get("structuredContext").is_some();
        let waits = self.waiting.values().any(|waiting| waiting.is_notification);
        if waits && !self.lost {
            findings.check(&BARE_ANSWER, message.seq, !is_context, || {
                "the server sent a context as a response without a request".to_owned()
            });
        }
    }
}

/// The `messageId` of the user message that a response answers.
fn asked_for(message: &Observed<'_>) -> Option<String> {
    message.request.and_then(|asked| asked.params["messageId"].as_str()).map(str::to_owned)
}

/// A time of an event, which is in nanoseconds since the reel's clock base.
fn since_start(time: i64) -> Duration {
    Duration::from_nanos(u64::try_from(time).unwrap_or_default())
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

/// Returns a member whose name is almost one that the proposal defines, with that name.
fn misspelled(content: &Value) -> Option<(&str, &'static str)> {
    let plain = |name: &str| name.replace(['_', '-'], "").to_ascii_lowercase();
    let meant =
        |key: &str| ["context", "structuredContext", "messageId"].into_iter().find(|it| plain(it) == plain(key));
    let mut keys = content.as_object().into_iter().flat_map(|members| members.keys());
    keys.find_map(|key| meant(key).filter(|meant| key != meant).map(|meant| (key.as_str(), meant)))
}

fn check_context(message: &Observed<'_>, findings: &mut Findings) {
    let (seq, content) = (message.seq, message.content);
    let near = misspelled(content);
    findings.check(&NEAR_MISS, seq, near.is_none(), || {
        let (key, meant) = near.unwrap_or_default();
        format!("the context has the member {key:?}; the proposal defines {meant:?}")
    });
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
