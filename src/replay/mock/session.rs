//! Serves one client from a library. Each session begins with the whole recording.

mod answering;

use super::faults::{Fault, FaultAction};
use super::library::{Anchor, Exchange, Library};
use super::matching::{CLIENT_IDS, LiveValues, Matching, RequestKeys};
use super::miss::Miss;
use super::rekey::{Renamed, token_of, with_client_ids, with_subscriptions, with_token};
use super::report::{MAX_MISSES, Report};
use crate::wire::{Envelope, Id, IdKey, MessageKind, json};
use serde_json::{Value, json};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// How a recording is served.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Serve the last matching exchange again when all are used up.
    pub reuse: bool,
    /// How many times faster than recorded to answer; `None` answers at once.
    pub speed: Option<f64>,
    /// Faults.
    pub faults: Vec<Fault>,
    /// What chance depends on.
    pub seed: u64,
    /// Ask the server behind the mock for what was not recorded.
    pub forwards: bool,
    /// The number of the session, from 0. If several sessions were recorded, the first one plays the first of them, and
    /// so on.
    pub session: u32,
    /// The folder in which the mock runs.
    pub folder: Option<String>,
}

/// What a session wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send this message to the client.
    Send(Vec<u8>),
    /// Ask the server behind the mock, and call [`MockSession::forwarded`] with the ticket.
    Forward {
        /// The number of the question.
        ticket: u64,
        /// The request.
        request: Vec<u8>,
    },
    /// End the connection.
    Disconnect,
}

/// A message that is to be sent.
#[derive(Clone, Debug)]
enum Queued {
    /// The response to a request.
    Answer(u64),
    /// A message of the server: its number in the library.
    Initiated(u32),
    /// This message.
    Text(Vec<u8>),
}

/// A request that is to be answered.
#[derive(Clone, Debug)]
struct Pending {
    exchange: u32,
    /// The JSON text of its id.
    id: Vec<u8>,
    /// How many requests of the server the client still has to answer before.
    replies: u8,
    /// The revision that the client requested, in `initialize`.
    revision: Option<String>,
    /// When the last message comes that the server sent for the same request before the answer.
    not_before: Duration,
}

/// How long a message that was put back waits for another one.
const REORDERED: Duration = Duration::from_millis(100);
/// At most this many progress tokens and subscriptions are remembered.
const MAX_RENAMED: usize = 4096;

/// One session; see the module.
#[derive(Debug)]
pub struct MockSession {
    library: Arc<Library>,
    settings: Settings,
    random: fastrand::Rng,
    queue: BTreeMap<(Duration, u64), Queued>,
    /// The number of the next message or request.
    next: u64,
    pending: BTreeMap<u64, Pending>,
    /// Compares requests that name the folders in which the live client works.
    keys: RequestKeys,
    /// The recorded session that this one plays.
    recorded: u16,
    /// Where to look for the next unused exchange with the same key: of this recorded session, and of any.
    cursors: HashMap<u64, [u32; 2]>,
    /// What the client's volatile values stand for.
    values: LiveValues,
    /// The next exchange, if the order counts.
    position: u32,
    /// How many notifications with each method the client sent.
    notified: HashMap<u16, u32>,
    /// The requests of the server that the client has to answer.
    asked: HashMap<IdKey, u32>,
    tokens: Vec<Renamed>,
    subscriptions: Vec<Renamed>,
    client_ids: Vec<Renamed>,
    forwarded: HashMap<u64, Vec<u8>>,
    /// A message that is sent after the next one.
    put_back: Option<Vec<u8>>,
    report: Report,
}

impl MockSession {
    /// A session that has not begun.
    pub fn new(library: Arc<Library>, settings: Settings) -> Self {
        let faults = settings.faults.iter().map(|fault| (fault.text.clone(), 0)).collect();
        let mut keys = library.keys.clone();
        keys.learn_folders(|folders| folders.add_folders(settings.folder.as_deref()));
        Self {
            keys,
            recorded: library.session_for(settings.session),
            values: LiveValues::default(),
            library,
            random: fastrand::Rng::with_seed(settings.seed),
            settings,
            queue: BTreeMap::new(),
            next: 0,
            pending: BTreeMap::new(),
            cursors: HashMap::new(),
            position: 0,
            notified: HashMap::new(),
            asked: HashMap::new(),
            tokens: Vec::new(),
            subscriptions: Vec::new(),
            client_ids: Vec::new(),
            forwarded: HashMap::new(),
            put_back: None,
            report: Report { sessions: 1, faults, ..Report::default() },
        }
    }

    /// Begins.
    pub fn start(&mut self, now: Duration) -> Vec<Output> {
        self.follow(now, Anchor::Start(self.recorded));
        self.handle_timeout(now)
    }

    /// Handles a message of the client.
    pub fn receive(&mut self, now: Duration, message: &[u8]) -> Vec<Output> {
        let mut outputs = Vec::new();
        match Envelope::scan(message).kind {
            MessageKind::Batch => json::items(message).for_each(|item| self.take(now, item, &mut outputs)),
            _ => self.take(now, message, &mut outputs),
        }
        outputs.extend(self.handle_timeout(now));
        outputs
    }

    /// Handles the answer of the server behind the mock: a response, or why there is none.
    pub fn forwarded(&mut self, now: Duration, ticket: u64, answer: Result<Vec<u8>, String>) -> Vec<Output> {
        let Some(id) = self.forwarded.remove(&ticket) else { return Vec::new() };
        let text = match answer {
            Ok(response) => crate::replay::replies::with_id(&response, Id(&id)),
            Err(why) => error(&id, INTERNAL_ERROR, &format!("the server behind the mock: {why}"), Value::Null),
        };
        self.report.forwarded += 1;
        self.push(now, Queued::Text(text));
        self.handle_timeout(now)
    }

    /// Sends what is due.
    pub fn handle_timeout(&mut self, now: Duration) -> Vec<Output> {
        let mut outputs = Vec::new();
        while let Some(entry) = self.queue.first_entry().filter(|entry| entry.key().0 <= now) {
            match entry.remove() {
                Queued::Answer(ticket) => self.answer(now, ticket, &mut outputs),
                Queued::Initiated(number) => self.initiate(number, &mut outputs),
                Queued::Text(text) => self.send(text, &mut outputs),
            }
        }
        outputs
    }

    /// Returns when to call [`Self::handle_timeout`].
    pub fn next_timeout(&self) -> Option<Duration> {
        self.queue.first_key_value().map(|((due, _), _)| *due)
    }

    /// Returns whether an answer is still to be sent.
    pub(crate) fn is_owing(&self) -> bool {
        !self.queue.is_empty() || !self.forwarded.is_empty()
    }

    /// Returns what was asked for.
    pub fn into_report(self) -> Report {
        self.report
    }

    fn take(&mut self, now: Duration, message: &[u8], outputs: &mut Vec<Output>) {
        let envelope = Envelope::scan(message);
        match (envelope.kind, envelope.id) {
            (MessageKind::Request, Some(id)) => self.request(now, message, &envelope, id, outputs),
            (MessageKind::Notification, _) => self.notification(now, &envelope),
            (MessageKind::Result | MessageKind::Error, Some(id)) => self.reply(now, &id.key(), envelope.result),
            (MessageKind::Malformed, _) => {
                self.push(now, Queued::Text(error(b"null", PARSE_ERROR, "the message is not JSON", Value::Null)));
            }
            _ => {}
        }
    }

    fn notification(&mut self, now: Duration, envelope: &Envelope<'_>) {
        let method = envelope.method.as_deref().unwrap_or_default();
        if method == "notifications/cancelled" {
            let id = envelope.params.and_then(|params| json::first_member(params, "requestId"));
            let id = id.map(|id| Id(id).key());
            self.pending.retain(|_, pending| Some(Id(&pending.id).key()) != id);
            return;
        }
        if let Some(number) = self.library.method(method) {
            let count = self.notified.entry(number).or_insert(0);
            *count += 1;
            let anchor = Anchor::Notified(self.recorded, number, *count);
            self.follow(now, anchor);
        }
    }

    /// The client answered a request of the server.
    fn reply(&mut self, now: Duration, id: &IdKey, result: Option<&[u8]>) {
        let Some(number) = self.asked.remove(id) else { return };
        if let Some(result) = result {
            self.keys.learn_folders(|folders| folders.add_roots(result));
        }
        let owner = self.library.initiated[number as usize].owner();
        let waits = |pending: &Pending| Some(pending.exchange) == owner && pending.replies > 0;
        let not_before = self.follow(now, Anchor::Replied(number));
        let Some((ticket, pending)) = self.pending.iter_mut().find(|(_, pending)| waits(pending)) else { return };
        pending.replies -= 1;
        pending.not_before = pending.not_before.max(not_before);
        let ticket = *ticket;
        self.push_answer(now, ticket);
    }

    /// Queues what the recorded server sent after something. Returns when the last of these messages comes that preceded
    /// the answer to the request for which the server sent it.
    fn follow(&mut self, now: Duration, anchor: Anchor) -> Duration {
        let library = Arc::clone(&self.library);
        let mut last = Duration::ZERO;
        for number in library.after(anchor) {
            let due = now + self.scaled(library.initiated[*number as usize].delay_us);
            self.push(due, Queued::Initiated(*number));
            if library.precedes_answer(*number) {
                last = last.max(due);
            }
        }
        last
    }

    /// Queues the answer to a pending request if it waits for no reply of the client.
    fn push_answer(&mut self, now: Duration, ticket: u64) {
        let Some(pending) = self.pending.get(&ticket).filter(|pending| pending.replies == 0) else { return };
        let due = now + self.scaled(self.library.exchanges[pending.exchange as usize].delay_us);
        self.push(due.max(pending.not_before), Queued::Answer(ticket));
    }

    fn push(&mut self, due: Duration, queued: Queued) {
        self.next += 1;
        self.queue.insert((due, self.next), queued);
    }

    /// Returns a recorded time at the wanted speed.
    fn scaled(&self, micros: u32) -> Duration {
        let seconds = self.settings.speed.map(|speed| f64::from(micros) / 1e6 / speed);
        seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or_default()
    }

    /// Sends a message of the server that belongs to no request, or precedes an answer.
    fn initiate(&mut self, number: u32, outputs: &mut Vec<Output>) {
        let library = Arc::clone(&self.library);
        let one = library.initiated[number as usize];
        self.report.sent.insert(number as usize);
        // A client that gave no progress token wants no progress.
        let Some(text) = with_token(library.text(one.message), &self.tokens) else { return };
        let text = self.with_live_ids(text);
        let text = if one.is_request { self.ask(number, text) } else { text };
        self.send(text, outputs);
    }

    /// Notes that the client has to answer a request of the server, and returns the request: with another id if one with
    /// the same id waits for its answer, because they are from different recorded sessions.
    fn ask(&mut self, number: u32, text: Vec<u8>) -> Vec<u8> {
        let Some(id) = Envelope::scan(&text).id else { return text };
        if self.asked.len() >= MAX_RENAMED {
            return text;
        }
        if let Entry::Vacant(place) = self.asked.entry(id.key()) {
            place.insert(number);
            return text;
        }
        self.next += 1;
        let fresh = format!("\"mock-{}\"", self.next);
        self.asked.insert(Id(fresh.as_bytes()).key(), number);
        crate::replay::replies::with_id(&text, Id(fresh.as_bytes()))
    }

    fn with_live_ids(&self, text: Vec<u8>) -> Vec<u8> {
        with_client_ids(with_subscriptions(text, &self.subscriptions), &self.client_ids)
    }

    fn send(&mut self, text: Vec<u8>, outputs: &mut Vec<Output>) {
        if !text.is_empty() {
            outputs.push(Output::Send(text));
        }
        outputs.extend(self.put_back.take().map(Output::Send));
    }

    fn missed(&mut self, miss: Miss) {
        match self.report.misses.len() < MAX_MISSES {
            true => self.report.misses.push(miss),
            false => self.report.more_misses += 1,
        }
    }

    /// Sends an answer, or what a fault makes of it.
    fn spoil(&mut self, now: Duration, exchange: &Exchange, id: &[u8], text: Vec<u8>, outputs: &mut Vec<Output>) {
        let method = &self.library.methods[usize::from(exchange.method)];
        let random = &mut self.random;
        let hit = self.settings.faults.iter().position(|fault| fault.is_for(method) && fault.hits(random.f64()));
        let Some(hit) = hit else { return self.send(text, outputs) };
        self.report.faults[hit].1 += 1;
        match self.settings.faults[hit].action {
            FaultAction::Delay(delay) => self.push(now + delay, Queued::Text(text)),
            FaultAction::Drop => {}
            FaultAction::Duplicate => {
                self.send(text.clone(), outputs);
                self.send(text, outputs);
            }
            FaultAction::Reorder => match self.put_back.replace(text) {
                Some(before) => outputs.push(Output::Send(before)),
                // If nothing else comes, it is sent all the same.
                None => self.push(now + REORDERED, Queued::Text(Vec::new())),
            },
            FaultAction::Error(code) => self.send(error(id, code, "a fault of the mock", Value::Null), outputs),
            FaultAction::Truncate => self.send(text[..text.len() / 2].to_vec(), outputs),
            FaultAction::Malformed => self.send([b"{\"jsonrpc\":", &text[..]].concat(), outputs),
            FaultAction::Disconnect => outputs.push(Output::Disconnect),
        }
    }
}

/// JSON-RPC: the text is not JSON.
const PARSE_ERROR: i64 = -32700;
/// JSON-RPC: an internal error.
const INTERNAL_ERROR: i64 = -32603;
/// JSON-RPC: the method does not exist.
const METHOD_NOT_FOUND: i64 = -32601;

/// Returns an error response.
fn error(id: &[u8], code: i64, message: &str, data: Value) -> Vec<u8> {
    let mut error = json!({"code": code, "message": message});
    if !data.is_null() {
        error["data"] = data;
    }
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{error}}}", String::from_utf8_lossy(id)).into_bytes()
}
