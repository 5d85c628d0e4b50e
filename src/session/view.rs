//! Prepares events for display: pairs responses with their requests and describes events in words. Takes events in
//! order.

use super::filter::{AnsweredRequest, FilterInput, tool_name};
use super::outcome::{self, Outcome};
use super::reading::{Reading, Response, Role, Said};
use super::summary::{self, Depth};
use crate::proposals::{Registry, SummarizedMessage, clip};
use crate::trace::described::header;
use crate::trace::{Event, EventHeader, EventKind, Flags, MessageHeader, RecordedId, TransportEvent, description};
use crate::wire::{Envelope, MessageKind, json, tree};
use serde_json::Value;
use std::fmt::Write;

/// What is remembered of a request until its response comes.
#[derive(Clone, Debug)]
struct OpenCall {
    method: AskedMethod,
    about: Box<str>,
    subject: usize,
    tool: Option<Box<str>>,
}

impl OpenCall {
    /// What a filter can know of it. The methods are those of the reel.
    fn answered(self, methods: &[Box<str>]) -> Option<AnsweredRequest> {
        let method = match self.method {
            AskedMethod::Name(name) => Some(name),
            AskedMethod::Number(number) => methods.get(number as usize).cloned(),
        };
        method.map(|method| AnsweredRequest { method, tool: self.tool })
    }
}

/// A request's method: its number, or its name if the request came in a batch and so has no number.
#[derive(Clone, Debug)]
enum AskedMethod {
    Number(u32),
    Name(Box<str>),
}

/// What the header and the pairing say about an event, without its payload.
#[derive(Clone, Debug, Default)]
pub(crate) struct Placed {
    /// The number of the method; for a response, that of its request.
    pub method: Option<u32>,
    /// For a response to a request from a batch: the method of that request.
    pub batched: Option<Box<str>>,
    /// For a response: the time since its request was sent, if need be with another token, in nanoseconds. For a batch: the longest such time of its responses.
    pub latency: Option<i64>,
    /// For a response: the number of the event with its request.
    pub asked: Option<u64>,
    /// For a response, a cancellation, or an event of the transport that decides it: what became of the request, as far as
    /// it is known now.
    pub outcome: Option<Outcome>,
    /// For such an event: the number of the event with the request.
    pub settled: Option<u64>,
    /// For a response: what its request was about. For a batch: its methods.
    pub about: Box<str>,
    /// The length of what that begins with: the name of what was called, in bytes.
    pub subject: usize,
    /// For a response: the tool that was called.
    pub tool: Option<Box<str>>,
    /// For a batch: the requests that its messages answer, by their positions.
    pub answered: Vec<Option<AnsweredRequest>>,
    /// For a batch: its responses.
    pub responses: Vec<BatchResponse>,
}

/// A response in a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BatchResponse {
    /// Its place, from 0.
    pub item: u32,
    /// The method of the request, if that is known.
    pub method: Option<Box<str>>,
    /// The number of the event with the request.
    pub asked: Option<u64>,
    /// What became of the request.
    pub outcome: Outcome,
    /// The time since the request, in nanoseconds.
    pub latency: Option<i64>,
}

impl Placed {
    /// The name of the method; for a response, that of its request. `methods` are those of the reel so far.
    pub(crate) fn method<'a>(&'a self, header: &EventHeader, methods: &'a [Box<str>]) -> Option<&'a str> {
        method_name(header.message.as_ref(), self.method, methods).or(self.batched.as_deref())
    }

    /// What a filter can look at.
    pub(crate) fn input<'a>(
        &'a self,
        header: &'a EventHeader,
        method: Option<&'a str>,
        body: Option<&'a [u8]>,
    ) -> FilterInput<'a> {
        let (tool, answered) = (self.tool.as_deref(), &*self.answered);
        FilterInput { header, method, latency: self.latency, tool, body, answered }
    }
}

/// Pairs events and describes them in words.
#[derive(Debug, Default)]
pub(crate) struct Viewer {
    reading: Reading<OpenCall>,
}

impl Viewer {
    /// Finds the request that an event answers, or those of a batch if its payload is loaded. `methods` are those of the
    /// reel so far.
    pub(crate) fn place(&mut self, event: &Event<'_>, methods: &[Box<str>]) -> Placed {
        match event.header.is_batch() {
            true => self.place_batch(event, methods),
            false => self.place_single(event, methods),
        }
    }

    /// Returns the requests without a response, oldest first: the number of the event, and what became of it. `is_over`
    /// says whether the session is.
    pub(crate) fn finish(&mut self, is_over: bool) -> Vec<(u64, Outcome)> {
        let ended = self.reading.finish(is_over).into_iter();
        ended.map(|ended| (ended.request.seq, ended.outcome)).collect()
    }

    fn place_single(&mut self, event: &Event<'_>, methods: &[Box<str>]) -> Placed {
        let header = event.header;
        let number = header.message.as_ref().and_then(|message| message.method);
        let mut placed = Placed { method: number, ..Placed::default() };
        let Some(said) = Said::of_event(event, method_name(header.message.as_ref(), None, methods)) else {
            self.reading.event(event, |request, outcome| {
                placed.outcome = Some(outcome);
                placed.settled.get_or_insert(request.seq);
            });
            return placed;
        };
        // A request without a method is none.
        let method = AskedMethod::Number(number.unwrap_or(u32::MAX));
        let remember = || OpenCall { method, about: "".into(), subject: 0, tool: None };
        match self.reading.message(&said, remember) {
            Role::Response(Response { request, outcome, latency, .. }) => {
                (placed.outcome, placed.latency) = (Some(outcome), latency);
                if let Some(request) = request {
                    let OpenCall { method, about, subject, tool } = request.memory;
                    (placed.asked, placed.about) = (Some(request.seq), about);
                    (placed.subject, placed.tool) = (subject, tool);
                    (placed.method, placed.batched) = match method {
                        AskedMethod::Number(number) => (Some(number), None),
                        AskedMethod::Name(name) => (None, Some(name)),
                    };
                }
            }
            Role::Notification { cancelled: Some(request) } => {
                (placed.outcome, placed.settled) = (Some(Outcome::Cancelled), Some(request.seq));
            }
            Role::Request { .. } | Role::Notification { .. } | Role::Other => {}
        }
        placed
    }

    /// Processes a batch: remembers its requests, and pairs its responses.
    fn place_batch(&mut self, event: &Event<'_>, methods: &[Box<str>]) -> Placed {
        let header = event.header;
        let mut placed = Placed::default();
        if tree::fits(event.body()).is_err() {
            return placed;
        }
        let mut names: Vec<Box<str>> = Vec::new();
        for (item, at) in json::items(event.body()).zip(0..) {
            let envelope = Envelope::scan(item);
            let method = envelope.method.as_deref();
            let remember = || OpenCall {
                method: AskedMethod::Name(method.unwrap_or_default().into()),
                about: "".into(),
                subject: 0,
                tool: (method == Some("tools/call")).then(|| tool_name(item)).flatten().map(Into::into),
            };
            let said = Said { item: at, ..Said::of_envelope(header, &envelope, Some(item)) };
            let answered = match self.reading.message(&said, remember) {
                Role::Response(Response { request, outcome, latency, .. }) => {
                    placed.latency = placed.latency.max(latency);
                    let asked = request.as_ref().map(|request| request.seq);
                    let answered = request.and_then(|request| request.memory.answered(methods));
                    let method = answered.as_ref().map(|request| request.method.clone());
                    placed.responses.push(BatchResponse { item: at, method, asked, outcome, latency });
                    answered
                }
                _ => None,
            };
            names.extend(answered.as_ref().map(|request| request.method.clone()).or(method.map(Into::into)));
            placed.answered.push(answered);
        }
        placed.about = names.join(", ").into();
        placed
    }

    /// Remembers what the request that was placed last is about, if its payload was looked at.
    pub(crate) fn remember(&mut self, words: &Words) {
        if let Some(request) = self.reading.latest() {
            let OpenCall { about, subject, tool, .. } = &mut request.memory;
            (*about, *subject) = (words.about.as_str().into(), words.subject);
            *tool = words.tool.as_deref().map(Into::into);
        }
    }

    /// Remembers the tool that the request calls that was placed last.
    pub(crate) fn remember_tool(&mut self, tool: Option<&str>) {
        if let Some(request) = self.reading.latest() {
            request.memory.tool = tool.map(Into::into);
        }
    }
}

/// An event, described in words.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    /// What a call is about; for a response, what the answered call was about.
    pub about: String,
    /// The length of what `about` begins with: the name of the tool, prompt, resource or task, in bytes; 0 if there is none.
    pub subject: usize,
    /// For a response: the outcome, or what the result or the error says. For an event of the transport: the outcome that
    /// it brings about.
    pub summary: String,
    /// The tool that the call names.
    pub tool: Option<String>,
    /// What knows the methods.
    registry: &'static Registry,
}

impl Words {
    /// Creates a description that is still empty.
    pub(crate) fn knowing(registry: &'static Registry) -> Self {
        Self { about: String::new(), subject: 0, summary: String::new(), tool: None, registry }
    }

    /// Clears the description.
    pub(crate) fn clear(&mut self) {
        self.about.clear();
        self.subject = 0;
        self.summary.clear();
        self.tool = None;
    }

    /// Describes an event. Reuses the strings of `self`.
    pub(crate) fn report(&mut self, event: &Event<'_>, method: Option<&str>, placed: &Placed, depth: Depth) {
        self.clear();
        if event.header.kind != EventKind::Message {
            placed.outcome.into_iter().for_each(|outcome| self.summary.push_str(outcome.name()));
            return report_event(event, &mut self.about);
        }
        let Some(message) = &event.header.message else { return };
        let body = event.body();
        match message.kind {
            MessageKind::Request | MessageKind::Notification => {
                self.report_call(event, method.unwrap_or_default(), depth);
            }
            MessageKind::Result | MessageKind::Error => {
                self.about.push_str(&placed.about);
                self.subject = placed.subject;
                match placed.outcome {
                    None | Some(Outcome::Ok | Outcome::ToolError | Outcome::Error) => {
                        self.report_answer(event, method.unwrap_or_default(), message.kind, depth);
                    }
                    Some(Outcome::Task) => {
                        let task = outcome::created_task(body);
                        let words = task.map(|task| format!(" {}: {}", clip(&task.id, 40), clip(&task.status, 20)));
                        self.summary.push_str(Outcome::Task.name());
                        self.summary.push_str(&words.unwrap_or_default());
                    }
                    Some(other) => self.summary.push_str(other.name()),
                }
            }
            MessageKind::Batch => {
                let _ = write!(self.about, "{} messages", json::items(body).count());
                if !placed.about.is_empty() {
                    let _ = write!(self.about, ": {}", clip(&placed.about, 200));
                }
            }
            MessageKind::Blank => {}
            _ => self.about.push_str(&clip(&String::from_utf8_lossy(&body[..body.len().min(400)]), 100)),
        }
    }

    fn report_call(&mut self, event: &Event<'_>, method: &str, depth: Depth) {
        let body = event.body();
        let mut envelope = Envelope::bare(MessageKind::Request);
        // Only the contents are looked at, so the end of params does not matter.
        envelope.params = json::tail_at(body, "params");
        self.subject = summary::call(
            &SummarizedMessage { method, direction: event.header.direction(), envelope: &envelope },
            self.registry,
            depth,
            &mut self.about,
        );
        if method == "tools/call" {
            let name = envelope.params.and_then(|params| json::str_member(params, "name"));
            self.tool = name.map(|name| name.into_owned());
        }
    }

    fn report_answer(&mut self, event: &Event<'_>, method: &str, kind: MessageKind, depth: Depth) {
        let failed = kind == MessageKind::Error || event.header.flags.has(Flags::TOOL_ERROR);
        let is_reported = failed || summary::reports_results_of(method, self.registry, depth);
        if !is_reported {
            return self.summary.push_str("ok");
        }
        let body = event.body();
        let mut envelope = Envelope::bare(kind);
        if kind == MessageKind::Error {
            envelope.error = json::first_member(body, "error");
        } else {
            // Details are at the beginning of a result. Only a count needs its end.
            envelope.result = json::tail_at(body, "result");
            envelope.tool_error = failed;
        }
        let spoken = SummarizedMessage { method, direction: event.header.direction(), envelope: &envelope };
        summary::outcome(&spoken, self.registry, depth, &mut self.summary);
    }
}

/// Returns whether an event is a request.
pub(crate) fn is_request(header: &EventHeader) -> bool {
    header.message.as_ref().is_some_and(|message| message.kind == MessageKind::Request)
}

/// Returns the name of a method: of the number that [`Placed`] has, or else of the message's own.
pub(crate) fn method_name<'a>(
    message: Option<&MessageHeader>,
    placed: Option<u32>,
    methods: &'a [Box<str>],
) -> Option<&'a str> {
    let number = placed.or(message?.method)?;
    methods.get(number as usize).map(|name| &**name)
}

/// Returns whether an event only carries messages that are shown on their own: the heads of a successful request, the
/// blocks of an event stream, the beginning and end of a session over HTTP.
pub(crate) fn is_carrier(event: &Event<'_>) -> bool {
    if event.header.kind != EventKind::Transport || event.header.exchange == 0 {
        return false;
    }
    match TransportEvent::read(event.payload) {
        TransportEvent::Request { .. }
        | TransportEvent::Sse { .. }
        | TransportEvent::Ping { .. }
        | TransportEvent::Pong { .. }
        | TransportEvent::Closed { .. } => true,
        TransportEvent::Response { .. } => !event.header.flags.has(Flags::FAILED),
        _ => false,
    }
}

/// Returns the lines of an HTTP head: the request's method and target or the response's status, then one line per
/// header. Returns `None` if the event is not a head. What is not recorded (version, reason phrase) is left out.
pub(crate) fn head_lines(event: &Event<'_>) -> Option<Vec<String>> {
    if event.header.kind != EventKind::Transport {
        return None;
    }
    let head = TransportEvent::read(event.payload);
    let first = match &head {
        TransportEvent::Request { method, target, .. } => format!("{method} {target}"),
        TransportEvent::Response { status, .. } | TransportEvent::Informational { status, .. } => {
            format!("status {status}")
        }
        TransportEvent::Trailers { .. } => "trailers".to_owned(),
        _ => return None,
    };
    let lines = head.headers()?.iter().map(|(name, value)| format!("{name}: {value}"));
    Some(std::iter::once(first).chain(lines).collect())
}

/// Describes an event of the transport. Returns false if this version does not know it.
fn report_transport(event: &TransportEvent, out: &mut String) -> bool {
    use TransportEvent::{
        Body, BrokenOff, Changed, Close, Closed, CutShort, Dropped, Failed, Informational, Kept, Ping, Pong, Refused,
        Repaired, Request, Response, SentAgain, SentLater, Signal, Sse, Trailers, Undelivered, Unknown, Unreadable,
    };
    let one_line = |text: &str| clip(text.trim().replace(['\r', '\n'], " ").trim(), 200).into_owned();
    let end = |kept: &bool| if *kept { ", which did not go on" } else { "" };
    let _ = match event {
        Request { method, target, .. } => write!(out, "{method} {target}"),
        Response { status, headers } => {
            write!(out, "status {status} {}", header(headers, "content-type").unwrap_or_default())
        }
        Informational { status, kept, .. } => write!(out, "informational status {status}{}", end(kept)),
        Trailers { headers, kept } => {
            let names: Vec<&str> = headers.iter().map(|(name, _)| &**name).collect();
            write!(out, "trailers {}{}", names.join(", "), end(kept))
        }
        Sse { block, .. } => write!(out, "event stream: {}", one_line(block)),
        Body { bytes, text } => write!(out, "body of {bytes} B {}", one_line(text)),
        BrokenOff { reason } => write!(out, "broken off: {reason}"),
        CutShort { reason } => write!(out, "the body is cut short: {reason}"),
        Closed { reason } | Dropped { reason } | Failed { reason } => out.write_str(reason),
        SentAgain { status } => write!(out, "status {status}; mcpreel has sent it again with another token"),
        SentLater => out.write_str("mcpreel has sent it only now, because it had to wait for a token"),
        Refused { status, reason } => write!(out, "answered by mcpreel with status {status}: {reason}"),
        Repaired { reason } => write!(out, "framing repaired on the way: {reason}"),
        Changed { original } => write!(out, "changed on the way: {}", one_line(original)),
        Kept { original } => write!(out, "kept on the way: {}", one_line(original)),
        Ping { text } => write!(out, "websocket ping {}", one_line(text)),
        Pong { text } => write!(out, "websocket pong {}", one_line(text)),
        Close { text } => write!(out, "websocket close {}", one_line(text)),
        Unreadable { text } => write!(out, "websocket unreadable {}", one_line(text)),
        Signal { signal, pid } => write!(out, "signal {signal} from process {pid}, passed on to the server"),
        Undelivered { .. } | Unknown => return false,
    };
    true
}

/// Describes an event that is not a message.
fn report_event(event: &Event<'_>, out: &mut String) {
    if event.header.kind == EventKind::Stderr {
        let text = String::from_utf8_lossy(&event.payload[..event.payload.len().min(400)]);
        out.push_str(&clip(text.trim_end(), 200));
        return;
    }
    if event.header.kind == EventKind::Transport && report_transport(&TransportEvent::read(event.payload), out) {
        return;
    }
    let described = description(event.payload).unwrap_or_default();
    let mut space = "";
    for (name, value) in described.as_object().into_iter().flatten() {
        let _ = match value {
            // A folder would hide the rest of the line.
            _ if name == "cwd" => continue,
            Value::Null => continue,
            Value::String(text) => write!(out, "{space}{name} {text}"),
            Value::Array(items) => {
                let words: Vec<_> =
                    items.iter().map(|item| item.as_str().map_or(item.to_string(), str::to_owned)).collect();
                write!(out, "{space}{name} {}", words.join(" "))
            }
            other => write!(out, "{space}{name} {other}"),
        };
        space = ", ";
    }
}

/// Ids of more characters than this are shortened to their beginning and their end.
const MAX_ID_BYTES: usize = 12;
/// The number of characters of each end.
const ID_ENDS: usize = 4;

/// Appends a request id for display. A long one is shortened to what distinguishes it. `mark` is the prefix that the
/// ids of all injected messages have.
pub(crate) fn write_id(id: Option<&RecordedId>, mark: &str, out: &mut String) {
    let mut digits = itoa::Buffer::new();
    let text = match id {
        None => return,
        Some(RecordedId::Integer(number)) => digits.format(*number).into(),
        Some(RecordedId::Text(text)) => String::from_utf8_lossy(text),
    };
    let marked = text.trim_matches('"').strip_prefix(mark).filter(|_| !mark.is_empty());
    let (shown, longest) = marked.map_or((&*text, MAX_ID_BYTES), |rest| (rest, 2 * ID_ENDS + 1));
    let length = shown.chars().count();
    if length <= longest {
        return out.push_str(shown);
    }
    out.extend(shown.chars().take(ID_ENDS));
    out.push('…');
    out.extend(shown.chars().skip(length - ID_ENDS));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_ids_are_shown_by_both_ends() {
        let shown = |text: &str| {
            let mut out = String::new();
            write_id(Some(&RecordedId::Text(text.as_bytes().into())), "mcpreel-", &mut out);
            out
        };
        assert_eq!(shown("\"abc\""), "\"abc\"");
        assert_eq!(shown("\"0199a7b2-77aa-7bbb-8c11-0123456789ab\""), "\"019…9ab\"");
        assert_eq!(shown("\"mcpreel-100259a3-1\""), "1002…a3-1");
        assert_ne!(shown("\"mcpreel-100259a3-1\""), shown("\"mcpreel-100259a3-2\""));
        assert_eq!(shown("\"日本語日本語日本語日本語\""), "\"日本語…日本語\"");
    }
}
