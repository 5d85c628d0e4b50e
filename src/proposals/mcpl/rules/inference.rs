//! Context hooks before and after an inference, and inferences that a server requests.

use super::*;
use crate::proposals::recent::{Digest, Recent, digest};
use crate::wire::IdKey;
use std::collections::HashMap;

const BEFORE: &str = "context/beforeInference";
const AFTER: &str = "context/afterInference";

/// A hook without a response is considered finished after this time, in nanoseconds.
const HOOK_LIMIT_NS: i64 = 10_000_000_000;
/// How many open hooks are remembered.
const MAX_HOOKS: usize = 256;

/// An open inference/request, and what was streamed for it.
#[derive(Debug, Default)]
struct Stream {
    asked: bool,
    next: u64,
    text: Digest,
}

/// Hooks and inferences of one connection.
#[derive(Debug)]
pub(super) struct Inferences {
    turns: Recent<String, i64>,
    /// The conversation and turn of each inference.
    before: Recent<String, (Digest, Digest)>,
    after: Recent<String>,
    /// Open hook requests: the event's number, its time in nanoseconds, and its conversation.
    hooks: Vec<(u64, i64, Digest)>,
    streams: HashMap<IdKey, Stream, foldhash::fast::RandomState>,
    lost: bool,
}

impl Default for Inferences {
    fn default() -> Self {
        Self {
            turns: Recent::new(1024),
            before: Recent::new(4096),
            after: Recent::new(4096),
            hooks: Vec::new(),
            streams: HashMap::default(),
            lost: false,
        }
    }
}

impl Inferences {
    pub(super) fn observe(&mut self, method: &str, message: &Observed<'_>, findings: &mut Findings) {
        use MessageKind::{Error, Notification, Request, Result};
        match (method, message.envelope.kind) {
            (BEFORE, Request | Notification) => self.before(message, findings),
            (AFTER, Request | Notification) => self.after(message, findings),
            (BEFORE | AFTER, Result | Error) => self.hook_answered(method, message, findings),
            ("inference/request", Request) => self.asked(message, findings),
            ("inference/request", Result | Error) => self.answered(message, findings),
            ("inference/chunk", Notification | Request) => self.chunk(message, findings),
            _ => {}
        }
    }

    pub(super) fn lose_track(&mut self) {
        self.lost = true;
        self.hooks.clear();
        self.streams.clear();
    }

    fn hook_asked(&mut self, message: &Observed<'_>) {
        if message.envelope.kind == MessageKind::Request {
            if self.hooks.len() >= MAX_HOOKS {
                self.hooks.remove(0);
            }
            self.hooks.push((message.seq, message.time, digest(&message.content["conversationId"])));
        }
    }

    fn before(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        self.hook_asked(message);
        let (seq, params) = (message.seq, message.content);
        for rule in [&MEDIA_TYPE, &MCP_RESOURCE] {
            findings.hold(rule);
        }
        if let Some(id) = params["inferenceId"].as_str() {
            let again = self.before.insert(id.to_owned(), turn_of(params)).is_some();
            findings.check(&INFERENCE_REUSED, seq, !again, || {
                format!("{id} was used by an earlier context/beforeInference")
            });
        }
        if let (Some(conversation), Some(turn)) = (params["conversationId"].as_str(), params["turnIndex"].as_i64()) {
            let last = self.turns.insert(conversation.to_owned(), turn);
            findings.check(&TURN_ORDER, seq, last.is_none_or(|last| last <= turn), || {
                format!("turn {turn} of {conversation} came after turn {}", last.unwrap_or_default())
            });
        }
    }

    fn after(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        self.hook_asked(message);
        let (seq, declared) = (message.seq, message.declared);
        if let Some(id) = message.content["inferenceId"].as_str() {
            let again = self.after.insert(id.to_owned(), ()).is_some();
            findings
                .check(&AFTER_TWICE, seq, !again, || format!("the host sent a second context/afterInference for {id}"));
        }
        let before = message.content["inferenceId"].as_str().and_then(|id| self.before.get(&id.to_owned()));
        if let Some(before) = before {
            findings.check(&AFTER_DIFFERS, seq, *before == turn_of(message.content), || {
                "the conversationId or turnIndex differs from that of the context/beforeInference".to_owned()
            });
        }
        let blocks = |side| {
            let hook = &block(declared, side)?["contextHooks"]["afterInference"];
            (!hook.is_null()).then(|| hook["blocking"] == true)
        };
        // The server's flag asks for a request; the host's says that it supports blocking hooks (AMB-C2).
        if let (Some(server), Some(host)) = (blocks(Side::Server), blocks(Side::Client)) {
            let wanted = server && host;
            let is_request = message.envelope.kind == MessageKind::Request;
            findings.check(&AFTER_FORM, seq, is_request == wanted, || {
                let form = if is_request { "a request" } else { "a notification" };
                format!("it was {form}; the server declared blocking: {server}, the host blocking: {host}")
            });
        }
        let both = [Side::Client, Side::Server]
            .iter()
            .all(|side| grants(block(declared, *side), &["contextHooks", "beforeInference"]));
        if let (Some(id), true) = (message.content["inferenceId"].as_str(), both) {
            let known = self.before.contains(&id.to_owned()) || self.before.has_forgotten() || self.lost;
            findings.check(&AFTER_ORPHAN, seq, known, || format!("the host sent no context/beforeInference for {id}"));
        }
    }

    fn hook_answered(&mut self, method: &str, message: &Observed<'_>, findings: &mut Findings) {
        let Some(asked) = message.request else { return };
        self.hooks.retain(|(seq, ..)| *seq != asked.seq);
        let took = message.time.saturating_sub(asked.time);
        let limit = super::super::response_limit(method).map_or(i64::MAX, |limit| limit.as_nanos() as i64);
        findings.check(&SLOW_HOOK, message.seq, took <= limit, || {
            format!("the server answered {method} after {} ms", took / 1_000_000)
        });
    }

    fn asked(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let (seq, time) = (message.seq, message.time);
        self.hooks.retain(|(_, asked, _)| time.saturating_sub(*asked) < HOOK_LIMIT_NS);
        findings.hold(&CONTENT_BLOCKS);
        // An inference of another conversation, or of none, goes on in the background.
        let conversation = message.content.get("conversationId").map(digest);
        let hook = self.hooks.iter().find(|(.., of)| Some(*of) == conversation);
        findings.check(&INFERENCE_IN_HOOK, seq, hook.is_none(), || {
            format!(
                "the server may have sent it because of the hook in event {}, which has no response yet",
                hook.map_or(0, |(seq, ..)| *seq)
            )
        });
        check_wishes(message, findings);
        let asked = message.content["stream"] == true;
        if let Some(host) = block(message.declared, Side::Client).filter(|_| asked) {
            findings.check(&STREAM_UNDECLARED, seq, grants(Some(host), &["inferenceRequest", "streaming"]), || {
                "the request contains stream: true, but the host did not declare inferenceRequest.streaming".to_owned()
            });
        }
        if let Some(id) = message.envelope.id {
            self.streams.insert(id.key(), Stream { asked, ..Stream::default() });
        }
    }

    fn chunk(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let (seq, params) = (message.seq, message.content);
        let key = IdKey::of_value(&params["requestId"]);
        let stream = key.and_then(|key| self.streams.get_mut(&key));
        findings.check(&CHUNK_UNKNOWN, seq, stream.is_some() || self.lost, || {
            format!("no inference/request with id {} is open", params["requestId"])
        });
        let Some(stream) = stream else { return };
        findings.check(&CHUNK_UNASKED, seq, stream.asked, || "the request did not contain stream: true".to_owned());
        let index = params["index"].as_u64();
        findings.check(&CHUNK_ORDER, seq, index == Some(stream.next), || {
            format!("chunk {} came, but {} was expected", params["index"], stream.next)
        });
        stream.next = index.unwrap_or(stream.next).saturating_add(1);
        stream.text.append(params["delta"].as_str().unwrap_or_default());
    }

    fn answered(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let Some(stream) = message.envelope.id.and_then(|id| self.streams.remove(&id.key())) else { return };
        let says = message.content["content"].as_str().is_some_and(|text| !text.is_empty());
        let may_stream = grants(block(message.declared, Side::Client), &["inferenceRequest", "streaming"]);
        if stream.asked && says && may_stream && !self.lost {
            findings.check(&CHUNKS_MISSING, message.seq, stream.next > 0, || {
                "the host answered a request with stream: true without chunks".to_owned()
            });
        }
        if stream.next > 0 && message.envelope.kind == MessageKind::Result {
            let same = digest(&message.content["content"]) == stream.text;
            findings.check(&CHUNK_TEXT, message.seq, same, || {
                format!("the chunks ({} received) make up another text", stream.next)
            });
        }
    }
}

/// The conversation and the turn of an inference.
fn turn_of(params: &Value) -> (Digest, Digest) {
    (digest(&params["conversationId"]), digest(&params["turnIndex"]))
}

/// Checks the messages and the preferences of an `inference/request`.
fn check_wishes(message: &Observed<'_>, findings: &mut Findings) {
    let (seq, params) = (message.seq, message.content);
    let roles = params["messages"].as_array().into_iter().flatten().filter_map(|one| one["role"].as_str());
    let odd = roles.into_iter().find(|role| !matches!(*role, "system" | "user" | "assistant"));
    findings.check(&ROLE, seq, odd.is_none(), || format!("a message has the role {:?}", odd.unwrap_or_default()));
    if let Some(most) = params["preferences"]["maxTokens"].as_f64() {
        findings.check(&MAX_TOKENS, seq, most > 0.0, || format!("maxTokens is {most}"));
    }
}
