//! Rules that this proposal lays on a session, and the observer that checks them.
//!
//! The proposal calls `conversation/userMessage` a notification and yet wants it answered. Three carriers are taken as
//! good (AMB-A1): a request and its result; a notification answered by a notification; a notification answered by a
//! request. A bare response to a notification is not one of them.

use super::{CONTEXT, DESCRIPTOR, USER_MESSAGE};
use crate::proposals::findings::rules;
use crate::proposals::recent::{Digest, Recent, digest};
use crate::proposals::{ConversationEvent, Declared, Findings, Observed, Observer, Side};
use crate::protocol::errors;
use crate::wire::MessageKind;
use serde_json::Value;

rules! {
    UNDECLARED_SERVER = Error "conversation/undeclared-server",
        "A user's message goes only to servers that declared onUserMessage true.",
        "seed 000, Message Flow, A2";
    ID_REUSED = Error "conversation/message-id-reused",
        "A messageId names one message.",
        "seed 000, conversation/userMessage, A6";
    RESENT = Warning "conversation/message-resent",
        "A message is not sent again; a retry is for the messages after it.",
        "seed 000, Error Handling, A6 and A15";
    NOT_FANNED_OUT = Error "conversation/not-fanned-out",
        "A user's message goes to every server that is subscribed and answers.",
        "seed 000, Message Flow, A3";
    REVOKED = Error "conversation/revoked",
        "A server whose access the user took back is sent no messages.",
        "seed 000, Security Implications, A19";
    NOT_AWAITED = Warning "conversation/not-awaited",
        "The model is asked when the contexts are in, or their time is over.",
        "seed 000, Message Flow and Timeouts, A11";
    SLOW = Warning "conversation/slow-answer",
        "The context comes within 500 ms; a slower server is skipped.",
        "seed 000, Timeouts, A12";
    BARE_ANSWER = Error "conversation/bare-answer",
        "A notification is not answered by a response.",
        "seed 000, Message Flow, AMB-A1 (d)";
    UNCORRELATED = Error "conversation/uncorrelated-context",
        "A context that comes as a message of its own names the message it is for.",
        "seed 000, conversation/context, AMB-A1";
    GUESSED = Info "conversation/guessed-context",
        "A context names its message, even where only one waits.",
        "seed 000, conversation/context, AMB-A1";
    CARRIER = Info "conversation/carrier",
        "How messages are carried is left open by the proposal; this session settles it.",
        "seed 000, Message Flow, AMB-A1";
    BOTH_TEXTS = Warning "conversation/both-texts",
        "Context is plain text or structured, not both.",
        "seed 000, conversation/context, AMB-A2";
    RELEVANCE = Info "conversation/relevance",
        "A relevance is between 0 and 1, as everyone reads it.",
        "seed 000, conversation/context, A10";
    CONTEXT_SIZE = Warning "conversation/context-size",
        "A context leaves room for the conversation: at most 16 KiB.",
        "seed 000, Open Questions 1, A23";
    HISTORY = Info "conversation/history-shared",
        "A server sees the message; recentHistory shows it more of the conversation.",
        "seed 000, Security Implications, AMB-A3";
    FUTURE_KEY = Info "conversation/future-key",
        "onUserMessage is the only event there is so far.",
        "seed 000, Open Questions 3, A25";
    NOT_TEXT = Warning "conversation/not-text",
        "A message's content is a string, whatever the user sent.",
        "seed 000, conversation/userMessage, AMB-A5";
    UNUSED = Info "conversation/unused",
        "A server that declared onUserMessage is sent the user's messages.",
        "seed 000, Backward Compatibility, A16";
}

/// The answer time that the proposal recommends to enforce, in nanoseconds.
const LIMIT: i64 = 500_000_000;
/// A context larger than this is worth a word, in bytes.
const LARGE: usize = 16 * 1024;

/// A message that was sent.
#[derive(Debug)]
struct Sent {
    time: i64,
    content: Digest,
    /// It was answered, with a context or with an error.
    answered: bool,
    /// The request carrier was refused as unknown, so sending it again as a notification is no retry.
    refused: bool,
}

/// Checks one connection.
#[derive(Debug)]
pub struct ConversationObserver {
    sent: Recent<String, Sent>,
    /// Notified messages that no context came for yet.
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
                self.answered("request and result", asked, message, findings);
            }
            (Some(USER_MESSAGE), MessageKind::Error) => self.refused(message),
            (Some(CONTEXT), MessageKind::Notification) => self.context("two notifications", message, findings),
            (Some(CONTEXT), MessageKind::Request) => self.context("notification and request", message, findings),
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
            findings.check_overall(&UNUSED, used, || "declared, and no user message was sent".to_owned());
        }
    }
}

impl ConversationObserver {
    fn sent(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let (seq, params) = (message.seq, message.content);
        findings.hold(&NOT_TEXT);
        if message.declared.server.is_object() {
            findings.check(&UNDECLARED_SERVER, seq, is_subscribed(message.declared), || {
                "the server did not declare conversationEvents.onUserMessage".to_owned()
            });
        }
        findings.check(&REVOKED, seq, !self.revoked, || "after its access was taken back".to_owned());
        if params.get("recentHistory").is_some() && !self.history_seen {
            self.history_seen = true;
            findings.note(&HISTORY, seq, "recentHistory is sent along");
        }
        let Some(id) = params["messageId"].as_str() else { return };
        let content = digest(&params["content"]);
        let sent = Sent { time: message.time, content, answered: false, refused: false };
        let before = self.sent.insert(id.to_owned(), sent).filter(|before| !before.refused);
        let same = before.as_ref().is_some_and(|before| before.content == content);
        findings.check(&RESENT, seq, !same, || format!("message {id} again"));
        findings.check(&ID_REUSED, seq, before.is_none() || same, || format!("{id} names another message already"));
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

    /// The model has answered: only messages whose time is over may still wait for their context.
    fn check_awaited(&self, seq: u64, time: i64, findings: &mut Findings) {
        let early = |sent: &&Sent| !sent.answered && !sent.refused && time.saturating_sub(sent.time) < LIMIT;
        let early = self.sent.values().filter(early).count();
        if !self.sent.is_empty() && !self.lost {
            findings.check(&NOT_AWAITED, seq, early == 0, || {
                format!("the model answered while {early} contexts were to come within their time")
            });
        }
    }

    /// A context that came as a message of its own.
    fn context(&mut self, carrier: &'static str, message: &Observed<'_>, findings: &mut Findings) {
        findings.hold(&BARE_ANSWER);
        let asked = match message.content["messageId"].as_str() {
            Some(id) => {
                self.note_answered(Some(id));
                let id = id.to_owned();
                let asked = self.waiting.remove(&id).or_else(|| self.sent.get(&id).map(|sent| sent.time));
                findings.check(&UNCORRELATED, message.seq, asked.is_some() || self.lost, || {
                    format!("no message {id} was sent")
                });
                asked
            }
            None => {
                let only = self.waiting.take_only();
                self.note_answered(only.as_ref().map(|(id, _)| id.as_str()));
                let waiting = self.waiting.len();
                findings.check(&UNCORRELATED, message.seq, only.is_some() || self.lost, || {
                    format!("no messageId, and {waiting} messages wait")
                });
                findings.check(&GUESSED, message.seq, only.is_none(), || "no messageId".to_owned());
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
            findings.note(&CARRIER, seq, format!("carrier={carrier}"));
        }
        let took = message.time.saturating_sub(asked);
        findings.check(&SLOW, seq, took <= LIMIT, || format!("after {} ms", took / 1_000_000));
        check_context(message, findings);
    }

    /// A result that answers no request: a context, where a notified message waits for one.
    fn bare(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let content = message.content;
        let is_context = content.get("context").is_some() || content.get("structuredContext").is_some();
        if !self.waiting.is_empty() && message.request.is_none() && !self.lost {
            findings.check(&BARE_ANSWER, message.seq, !is_context, || "a context as a response to nothing".to_owned());
        }
    }
}

/// The texts of a context: the plain one, then those of the memories.
pub(super) fn texts(context: &Value) -> impl Iterator<Item = &str> {
    let memories = context["structuredContext"]["memories"].as_array().map_or(&[][..], Vec::as_slice);
    context["context"].as_str().into_iter().chain(memories.iter().filter_map(|memory| memory["content"].as_str()))
}

pub(super) fn is_subscribed(declared: &Declared) -> bool {
    declared.find(&DESCRIPTOR, Side::Server).is_some_and(|(_, value)| value["onUserMessage"] == true)
}

fn declared(message: &Observed<'_>, findings: &mut Findings) {
    let Some((_, value)) = message.declared.find(&DESCRIPTOR, Side::Server) else { return };
    let future: Vec<_> =
        value.as_object().into_iter().flat_map(|all| all.keys()).filter(|key| *key != "onUserMessage").collect();
    findings.check(&FUTURE_KEY, message.seq, future.is_empty(), || format!("{future:?} in conversationEvents"));
}

fn check_context(message: &Observed<'_>, findings: &mut Findings) {
    let (seq, content) = (message.seq, message.content);
    let structured = content.get("structuredContext");
    findings.check(&BOTH_TEXTS, seq, !(content.get("context").is_some() && structured.is_some()), || {
        "context and structuredContext".to_owned()
    });
    let memories = content["structuredContext"]["memories"].as_array().map_or(&[][..], Vec::as_slice);
    let far = memories.iter().filter_map(|memory| memory["relevance"].as_f64()).find(|it| !(0.0..=1.0).contains(it));
    if !memories.is_empty() {
        findings.check(&RELEVANCE, seq, far.is_none(), || format!("relevance {}", far.unwrap_or_default()));
    }
    let size = texts(content).map(str::len).sum::<usize>();
    findings.check(&CONTEXT_SIZE, seq, size <= LARGE, || format!("{size} bytes of context"));
}
