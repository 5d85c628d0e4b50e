//! One run of a client, from its start to its end or to the last message for it. Reads the messages of its sessions.

use super::report::{Client, ClientEnd};
use crate::proposals::{self, Declared, REGISTRY, Side};
use crate::protocol::Era;
use crate::wire::{Direction, Envelope, Id, IdKey, MessageKind, json};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// The purpose of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Send messages.
    Probing,
    /// Send only pings, to see whether the client exits by itself: this many in all, spread over this time.
    Quiet(usize, Duration),
    /// Declare only the places with these indices, to see whether the client completes the handshake.
    Declaring(Vec<usize>),
}

/// The current step of a run; `due` limits each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Waiting for a session's handshake.
    Starting,
    /// A first ping is pending.
    Baseline,
    /// A request is pending.
    Answering(usize),
    /// A notification was sent.
    Settling(usize),
    /// A ping after a message is pending.
    Pinging(usize),
    /// Nothing is sent until the next ping is due, or until the run is over.
    Resting,
    /// The client is exiting; the exit status is still to come.
    Leaving(Option<usize>),
}

/// Something in a message that concerns the probe.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RunEvent {
    /// The response to the pending ping.
    Pong,
    /// A response to the message with this index: whether it is an error, and its content.
    Answer(usize, bool, Value),
    /// An error that belongs to no request.
    Objection(Value),
}

/// One run.
#[derive(Debug)]
pub(super) struct ClientRun {
    /// Its purpose.
    pub purpose: Purpose,
    /// Its current step.
    pub step: Step,
    /// The deadline of the step.
    pub due: Duration,
    /// How many messages and pings were sent.
    pub sent: usize,
    /// The session in which messages are sent, once its handshake is over.
    pub stream: Option<u32>,
    /// When the handshake was over.
    pub ready: Duration,
    /// Sessions up to this number belong to earlier runs.
    pub after: u32,
    /// Whether the client has sent its first message.
    pub has_begun: bool,
    /// Whether the client is modern, without a handshake.
    pub is_modern: bool,
    /// Whether the session was closed.
    pub is_closed: bool,
    /// How the process ended.
    pub end: Option<ClientEnd>,
    /// The method of the next request to send.
    pub method: String,
    ping: Option<IdKey>,
    asked: HashMap<IdKey, usize>,
}

impl ClientRun {
    /// A run that begins.
    pub(super) fn new(purpose: Purpose, due: Duration, after: u32) -> Self {
        Self {
            purpose,
            step: Step::Starting,
            due,
            sent: 0,
            stream: None,
            ready: Duration::ZERO,
            after,
            has_begun: false,
            is_modern: false,
            is_closed: false,
            end: None,
            ping: None,
            method: String::new(),
            asked: HashMap::new(),
        }
    }

    /// Reads one message, or a batch.
    pub(super) fn read(
        &mut self,
        stream: u32,
        direction: Direction,
        bytes: &[u8],
        known: &mut ClientKnowledge,
    ) -> Vec<RunEvent> {
        let envelope = Envelope::scan(bytes);
        if envelope.kind == MessageKind::Batch {
            let items = json::items(bytes);
            return items.filter_map(|item| self.take(stream, direction, &Envelope::scan(item), known)).collect();
        }
        self.take(stream, direction, &envelope, known).into_iter().collect()
    }

    fn take(
        &mut self,
        stream: u32,
        way: Direction,
        envelope: &Envelope<'_>,
        known: &mut ClientKnowledge,
    ) -> Option<RunEvent> {
        match (way, envelope.kind) {
            (Direction::ClientToServer, MessageKind::Request | MessageKind::Notification) => {
                self.has_begun |= envelope.method.as_deref() == Some("initialize");
                self.is_modern |= era_of(envelope) == Era::Modern;
                known.meet(envelope);
                None
            }
            (Direction::ServerToClient, MessageKind::Result) => {
                known.agree(&content(envelope));
                None
            }
            (Direction::ServerToClient, MessageKind::Request) if self.stream == Some(stream) => {
                self.note_request(envelope);
                None
            }
            (Direction::ClientToServer, MessageKind::Result | MessageKind::Error) if self.stream == Some(stream) => {
                self.answered(envelope)
            }
            _ => None,
        }
    }

    /// Notes the id of a request of ours: the ping or the message that was sent last.
    fn note_request(&mut self, envelope: &Envelope<'_>) {
        let Some(id) = envelope.id.map(Id::key) else { return };
        match self.step {
            Step::Baseline | Step::Pinging(_) if envelope.method.as_deref() == Some("ping") => self.ping = Some(id),
            // The proposal may send requests of its own.
            Step::Answering(probe) if envelope.method.as_deref() == Some(&self.method) => {
                self.method.clear();
                self.asked.insert(id, probe);
            }
            _ => {}
        }
    }

    fn answered(&mut self, envelope: &Envelope<'_>) -> Option<RunEvent> {
        let (id, content) = (envelope.id.map(Id::key), content(envelope));
        let is_error = envelope.kind == MessageKind::Error;
        if id.is_some() && id == self.ping {
            self.ping = None;
            return Some(RunEvent::Pong);
        }
        // One response per request: ignore a second one.
        if let Some(probe) = id.and_then(|id| self.asked.remove(&id)) {
            return Some(RunEvent::Answer(probe, is_error, content));
        }
        is_error.then(|| RunEvent::Objection(content))
    }
}

/// The era of a client's message. In the modern era, each request states its revision, and there may be no
/// `server/discover`.
fn era_of(envelope: &Envelope<'_>) -> Era {
    let states_revision = || {
        let revision = json::at_path(envelope.content()?, &["_meta", "io.modelcontextprotocol/protocolVersion"]);
        revision.filter(|revision| *revision != b"null")
    };
    match envelope.method.as_deref() {
        Some("server/discover") => Era::Modern,
        Some("initialize") | None => Era::Legacy,
        Some(_) if states_revision().is_some() => Era::Modern,
        Some(_) => Era::Legacy,
    }
}

fn content(envelope: &Envelope<'_>) -> Value {
    envelope.content().map(json::value_of).unwrap_or_default()
}

/// What is known about the client from all its runs.
#[derive(Debug, Default)]
pub(super) struct ClientKnowledge {
    /// What it says about itself.
    pub client: Client,
    /// What it declares.
    declares: Declared,
    /// The methods and tools of proposals that it used, by proposal.
    used: BTreeMap<&'static str, BTreeMap<String, u64>>,
}

impl ClientKnowledge {
    /// The path at which the client declares a proposal itself.
    pub(super) fn place(&self, proposal: &str) -> Option<String> {
        let proposal = proposals::by_name(proposal)?;
        self.declares.find(proposal.descriptor(), Side::Client).map(|(place, _)| place.path.join("."))
    }

    /// What the client used of a proposal.
    pub(super) fn used(&self, proposal: &str) -> BTreeMap<String, u64> {
        self.used.get(proposal).cloned().unwrap_or_default()
    }

    fn meet(&mut self, envelope: &Envelope<'_>) {
        let Some(method) = envelope.method.as_deref() else { return };
        let params = content(envelope);
        if method == "initialize" {
            let reported = |name: &str| params["clientInfo"][name].as_str().map(str::to_owned);
            (self.client.name, self.client.version) = (reported("name"), reported("version"));
            self.declares.client = params["capabilities"].clone();
            return;
        }
        let tool = params["name"].as_str().filter(|_| method == "tools/call");
        let is_used = |proposal: &&&dyn proposals::Proposal| {
            let descriptor = proposal.descriptor();
            let by_tool = tool.is_some_and(|tool| descriptor.tools.contains(&tool));
            by_tool || descriptor.methods.iter().any(|spec| spec.name == method)
        };
        if let Some(proposal) = REGISTRY.iter().find(is_used) {
            let used = self.used.entry(proposal.descriptor().name).or_default();
            *used.entry(tool.unwrap_or(method).to_owned()).or_default() += 1;
        }
    }

    fn agree(&mut self, result: &Value) {
        if let Some(revision) = result["protocolVersion"].as_str() {
            self.client.revision = Some(revision.to_owned());
        }
    }
}
