//! The client of one server, sans-IO: opens the connection in the right era, sends requests, answers the server's own
//! requests, and reports.
//!
//! The era is probed as MCP 2026-07-28, Transports, says for dual-era clients. Request ids are integers from 1, or on a
//! joined connection, strings with a prefix of their own.
//!
//! Never: tokio, sockets, clocks, a proposal's name.

mod handshake;
pub(crate) mod message;
mod offer;
mod opening;
mod rounds;
#[cfg(test)]
mod tests;

pub(crate) use handshake::Handshake;
pub(crate) use message::{Params, Refusal};
pub(crate) use offer::Root;

use crate::protocol::revision::meta;
use crate::protocol::{Era, errors};
use crate::wire::tree::{self, TooLarge};
use crate::wire::{Envelope, Fault, Id, IdKey, MessageKind, json};
use offer::Offer;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// Maximum number of times that a request may ask for more input (modern era) before the client gives up.
const MAX_ROUNDS: u32 = 8;

/// Maximum number of timed-out requests to remember for a late response; the oldest is forgotten first.
const MAX_EXPIRED: usize = 256;

/// Maximum number of messages of a batch. Each of them is several times as long in memory as the shortest ones are.
const MAX_BATCH: usize = 1 << 16;

/// The era to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EraChoice {
    /// Probe with `server/discover`, fall back to `initialize`. A requested version of one era overrides this.
    #[default]
    Auto,
    /// `initialize`, and `server/discover` only if the server refuses that; for features that need a handshake. A
    /// server that takes its era from the first message is used in the legacy era, and no server gets a message before
    /// `initialize`. With a requested modern version, this is [`Self::Auto`].
    Handshake,
    /// `initialize` only.
    Legacy,
    /// `server/discover`, never `initialize`.
    Modern,
}

/// The configuration of a client.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// The client's name in `clientInfo`.
    pub name: String,
    /// The client's version in `clientInfo`.
    pub version: String,
    /// The era.
    pub era: EraChoice,
    /// The protocol version to request, known or not; by default the newest of the era.
    pub protocol_version: Option<String>,
    /// Client capabilities to declare, in addition to `roots` if there are any; `Null` for none.
    pub capabilities: Value,
    /// The result of `roots/list`.
    pub roots: Vec<Root>,
    /// Timeout of the probe, if `initialize` is an alternative or was tried before.
    pub probe_timeout: Duration,
    /// Timeout of the probe as long as the server has sent nothing at all. A package that is downloaded first takes long.
    pub start_timeout: Duration,
    /// How much longer than the probe's usual timeout a silent server is waited for before [`Output::Waiting`] says so.
    pub quiet_for: Duration,
    /// Timeout of any other request.
    pub request_timeout: Duration,
    /// Join a connection that others have opened, instead of opening one.
    pub join: Option<Joined>,
    /// How many bytes a message of the server may take as a tree of values.
    pub max_tree: usize,
    /// The id of the first request; the next ones are counted up.
    pub first_id: i64,
}

/// The response to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The exact message.
    pub message: Vec<u8>,
    /// Time since the request was sent.
    pub latency: Duration,
}

/// A connection between others that is already open.
#[derive(Clone, Debug)]
pub struct Joined {
    /// The result of their handshake.
    pub handshake: Handshake,
    /// The capabilities that the other client declared; `Null` for none.
    pub client_capabilities: Value,
    /// The prefix of our request ids, which keeps them apart from those of others; `PREFIX1` is the first.
    pub id_prefix: String,
}

impl ClientConfig {
    /// A client of this name and version that chooses the era itself and declares nothing, with timeouts of 2 s for the
    /// probe, 20 s for the server's start and 30 s for a request.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            era: EraChoice::Auto,
            protocol_version: None,
            capabilities: Value::Null,
            roots: Vec::new(),
            probe_timeout: Duration::from_secs(2),
            start_timeout: Duration::from_secs(20),
            quiet_for: Duration::ZERO,
            request_timeout: Duration::from_secs(30),
            join: None,
            max_tree: tree::MAX_BYTES,
            first_id: 1,
        }
    }
}

/// Identifies one request of the caller (or of the handshake) for the lifetime of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestHandle(pub u64);

/// What the engine wants done or reports.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Send this message, framed as the transport frames.
    Send(Vec<u8>),
    /// The connection is open. Emitted once, even if the session is renewed.
    Ready(Handshake),
    /// A request was answered, by a result or an error.
    Answered {
        /// The request.
        handle: RequestHandle,
        /// Its method.
        method: String,
        /// The response's exact bytes.
        message: Vec<u8>,
        /// Time since the request was first sent.
        latency: Duration,
        /// Whether the request had timed out before.
        late: bool,
    },
    /// A request timed out, and was cancelled. A late response may still follow.
    TimedOut {
        /// The request.
        handle: RequestHandle,
        /// Its method.
        method: String,
        /// Its timeout.
        after: Duration,
    },
    /// A request of the server; in the modern era, also within a result.
    ServerRequest {
        /// The method.
        method: String,
        /// The request's bytes.
        message: Vec<u8>,
        /// The response that was sent; `None` if the caller has to respond ([`ClientEngine::leave`]), or if there is no
        /// response.
        answered_with: Option<Result<Value, Refusal>>,
    },
    /// A notification of the server.
    Notification {
        /// Its bytes.
        message: Vec<u8>,
    },
    /// A response with an unknown id, or a second response to the same request.
    Stray {
        /// Its bytes.
        message: Vec<u8>,
    },
    /// The server has sent nothing yet, so the response to the probe is waited for longer: it may still be starting.
    Waiting {
        /// The method of the probe.
        method: String,
        /// How long it waits in all.
        at_most: Duration,
    },
    /// A message that the caller sent as it is could not be delivered.
    Undelivered {
        /// The message's id as text; empty if it has none.
        id: Vec<u8>,
        /// The reason, as a sentence fragment.
        reason: String,
    },
    /// Not a JSON-RPC message, such as a log line on standard output or broken JSON.
    Noise {
        /// Its bytes.
        message: Vec<u8>,
    },
    /// The server dropped the session. A new one is being opened, in which the rejected request is sent again.
    Renewing {
        /// How the client noticed, as a sentence fragment.
        reason: String,
    },
    /// The new session is open.
    Renewed(Box<Handshake>),
    /// A request will get no response; without a handle, the connection failed to open or is gone.
    Failed {
        /// The request, if a single one failed.
        handle: Option<RequestHandle>,
        /// The reason.
        reason: FailureReason,
    },
}

/// Why a request or a connection failed, as a sentence fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureReason {
    /// The server closed the connection. The text says when, such as ` before answering tools/call`, or is empty.
    Closed(String),
    /// Something else.
    Other(String),
}

impl FailureReason {
    /// The server closed the connection before it answered a request.
    pub(crate) fn closed_before(method: &str) -> Self {
        Self::Closed(format!(" before answering {method}"))
    }

    /// The server closed the connection before the handshake was complete.
    pub(crate) fn closed_during_handshake() -> Self {
        Self::Closed(" during the handshake".to_owned())
    }
}

impl fmt::Display for FailureReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed(when) => write!(out, "the server closed the connection{when}"),
            Self::Other(why) => out.write_str(why),
        }
    }
}

impl From<String> for FailureReason {
    fn from(why: String) -> Self {
        Self::Other(why)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Probe,
    Initialize,
    Call,
}

#[derive(Clone, Debug)]
struct Open {
    handle: RequestHandle,
    role: Role,
    method: String,
    params: Params,
    since: Duration,
    timeout: Duration,
    expired: bool,
    rounds: u32,
    /// Whether it was sent before, in a session that is over.
    again: bool,
}

impl Open {
    fn deadline(&self) -> Duration {
        self.since.saturating_add(self.timeout)
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Stage {
    Fresh,
    Opening,
    /// [`Output::Ready`] was emitted before.
    Renewing,
    Ready,
    Failed(FailureReason),
}

#[derive(Debug)]
enum Held {
    Request(Open),
    Notification(String, Params),
}

/// The client of one server; see the module.
#[derive(Debug)]
pub(crate) struct ClientEngine {
    config: ClientConfig,
    offer: Offer,
    stage: Stage,
    era: Era,
    /// The version that modern requests carry.
    version: String,
    open: BTreeMap<i64, Open>,
    held: Vec<Held>,
    left: Vec<String>,
    next_id: i64,
    next_handle: u64,
    probed_again: bool,
    /// Why `initialize` failed, before the probe that follows ([`EraChoice::Handshake`]).
    refused: Option<String>,
    /// Whether the server has sent anything.
    has_spoken: bool,
    /// When to say that the server is waited for, and the words.
    notice: Option<(Duration, Output)>,
    /// The first [`Output::Noise`].
    noise: Option<Output>,
    /// The response to a probe that arrived after `initialize` was sent.
    late_probe: Option<Vec<u8>>,
    notes: Vec<String>,
}

impl ClientEngine {
    /// A client that has sent nothing yet.
    pub(crate) fn new(mut config: ClientConfig) -> Self {
        let wanted = config.protocol_version.as_deref().map(Era::of_version);
        if config.era == EraChoice::Handshake && wanted == Some(Era::Modern) {
            config.era = EraChoice::Auto;
        }
        Self {
            offer: Offer::new(&config.capabilities, config.roots.clone()),
            next_id: config.first_id,
            config,
            stage: Stage::Fresh,
            era: Era::Legacy,
            version: String::new(),
            open: BTreeMap::new(),
            held: Vec::new(),
            left: Vec::new(),
            next_handle: 1,
            probed_again: false,
            refused: None,
            has_spoken: false,
            notice: None,
            noise: None,
            late_probe: None,
            notes: Vec::new(),
        }
    }

    /// Opens the connection, or joins the open one.
    pub(crate) fn start(&mut self, now: Duration) -> Vec<Output> {
        let mut out = Vec::new();
        if let Some(Joined { handshake, .. }) = &self.config.join {
            let handshake = handshake.clone();
            self.open_as(now, handshake, &mut out);
            return out;
        }
        self.stage = Stage::Opening;
        match handshake::probe_version(self.config.era, self.config.protocol_version.as_deref()) {
            Some(version) => self.send_probe(now, version, &mut out),
            None => self.send_initialize(now, &mut out),
        }
        out
    }

    /// The methods of all pending requests.
    pub(crate) fn awaited(&self) -> impl Iterator<Item = &str> {
        self.open.values().filter(|open| !open.expired).map(|open| open.method.as_str())
    }

    /// Whether requests are sent immediately.
    #[cfg(test)]
    pub(crate) fn is_ready(&self) -> bool {
        self.stage == Stage::Ready
    }

    /// Leaves the server's requests of this method to the caller, which answers them with [`Self::respond`].
    pub(crate) fn leave(&mut self, method: impl Into<String>) {
        self.left.push(method.into());
    }

    /// Makes the client answer the server's requests of this method with an empty object.
    pub(crate) fn grant(&mut self, method: impl Into<String>) {
        self.offer.granted.push(method.into());
    }

    /// Responds to a request of the server that was left to the caller, given by the text of its id. Sends nothing in
    /// the modern era, which has no such responses.
    pub(crate) fn respond(&self, id: &[u8], answer: &Result<Value, Refusal>) -> Vec<Output> {
        match self.era {
            Era::Legacy => vec![Output::Send(message::response(id, answer))],
            Era::Modern => Vec::new(),
        }
    }

    /// Like [`Self::respond`], with a complete error object including `data`.
    pub(crate) fn refuse(&self, id: &[u8], error: &Value) -> Vec<Output> {
        match self.era {
            Era::Legacy => vec![Output::Send(message::error_response(id, error))],
            Era::Modern => Vec::new(),
        }
    }

    /// Sends a request with the configured timeout. It is held back until the connection is open.
    pub(crate) fn request(
        &mut self,
        now: Duration,
        method: &str,
        params: impl Into<Params>,
    ) -> (RequestHandle, Vec<Output>) {
        self.request_with_deadline(now, method, params, self.config.request_timeout)
    }

    /// Sends a request with its own timeout, measured from sending.
    pub(crate) fn request_with_deadline(
        &mut self,
        now: Duration,
        method: &str,
        params: impl Into<Params>,
        timeout: Duration,
    ) -> (RequestHandle, Vec<Output>) {
        let open = self.prepare(now, Role::Call, method, params.into(), timeout);
        let handle = open.handle;
        let mut out = Vec::new();
        match &self.stage {
            Stage::Ready => self.send_request(open, &[], &mut out),
            Stage::Failed(reason) => out.push(Output::Failed { handle: Some(handle), reason: reason.clone() }),
            Stage::Fresh | Stage::Opening | Stage::Renewing => self.held.push(Held::Request(open)),
        }
        (handle, out)
    }

    /// Sends a notification. It is held back until the connection is open.
    pub(crate) fn notify(&mut self, _now: Duration, method: &str, params: impl Into<Params>) -> Vec<Output> {
        let params = params.into();
        match self.stage {
            Stage::Ready => vec![Output::Send(message::call(None, method, params.text().as_deref()))],
            Stage::Failed(_) => Vec::new(),
            Stage::Fresh | Stage::Opening | Stage::Renewing => {
                self.held.push(Held::Notification(method.to_owned(), params));
                Vec::new()
            }
        }
    }

    /// From now on, takes messages with any number of values: what gets them does not read them all into memory.
    pub(crate) fn take_all_values(&mut self) {
        self.config.max_tree = usize::MAX;
    }

    /// Handles one message of the server.
    pub(crate) fn receive(&mut self, now: Duration, bytes: &[u8]) -> Vec<Output> {
        if let Err(too_large) = tree::fits_in(bytes, self.config.max_tree) {
            return self.refuse_values(now, bytes, too_large);
        }
        let mut out = Vec::new();
        let envelope = Envelope::scan(bytes);
        if envelope.kind == MessageKind::Batch {
            // Batches are legal in 2025-03-26 only, but accepted in any revision.
            if json::items(bytes).nth(MAX_BATCH).is_some() {
                let why = format!("the server sent a batch of more than {MAX_BATCH} messages, which was not read");
                return vec![self.noise(why.into_bytes())];
            }
            for item in json::items(bytes) {
                self.take(now, item, &Envelope::scan(item), &mut out);
            }
        } else {
            self.take(now, bytes, &envelope, &mut out);
        }
        out
    }

    /// The first line or message of the server that was [`Output::Noise`].
    pub(crate) fn first_noise(&self) -> Option<&Output> {
        self.noise.as_ref()
    }

    fn noise(&mut self, message: Vec<u8>) -> Output {
        let noise = Output::Noise { message };
        self.noise.get_or_insert_with(|| noise.clone());
        noise
    }

    /// Handles a message with too many JSON values: the request that it answers fails; otherwise it is ignored.
    fn refuse_values(&mut self, now: Duration, bytes: &[u8], too_large: TooLarge) -> Vec<Output> {
        let why = format!("the server sent a message that was not read: {too_large}");
        let envelope = Envelope::scan(bytes);
        match (envelope.kind, envelope.id) {
            (MessageKind::Result | MessageKind::Error, Some(id)) => self.undelivered(now, id.0, &why, None),
            _ => vec![self.noise(why.into_bytes())],
        }
    }

    /// When to call [`Self::wake`], if nothing arrives before.
    pub(crate) fn next_timeout(&self) -> Option<Duration> {
        let notice = self.notice.iter().map(|(at, _)| *at);
        self.open.values().filter(|open| !open.expired).map(Open::deadline).chain(notice).min()
    }

    /// Times out requests that are due.
    pub(crate) fn handle_timeout(&mut self, now: Duration) -> Vec<Output> {
        let mut out = Vec::new();
        let due = |open: &Open| !open.expired && open.deadline() <= now;
        let ids: Vec<i64> = self.open.iter().filter(|(_, open)| due(open)).map(|(id, _)| *id).collect();
        for id in ids {
            if self.waits_for_the_start(now, id) {
                continue;
            }
            let Some(open) = self.open.get_mut(&id) else { continue };
            open.expired = true;
            let open = open.clone();
            self.give_up(now, id, open, &mut out);
        }
        out.extend(self.take_notice(now));
        let expired: Vec<i64> = self.open.iter().filter(|(_, open)| open.expired).map(|(id, _)| *id).collect();
        for id in expired.iter().take(expired.len().saturating_sub(MAX_EXPIRED)) {
            self.open.remove(id);
        }
        out
    }

    /// The server closed the connection: all pending requests fail.
    pub(crate) fn closed(&mut self, _now: Duration) -> Vec<Output> {
        let mut out = Vec::new();
        let unanswered: Vec<_> = self.open.values().filter(|open| !open.expired && open.role == Role::Call).collect();
        for open in unanswered {
            let reason = FailureReason::closed_before(&open.method);
            out.push(Output::Failed { handle: Some(open.handle), reason });
        }
        self.open.clear();
        match self.stage {
            Stage::Opening | Stage::Fresh | Stage::Renewing => {
                let refused = self.refused.take().map(FailureReason::Other);
                self.fail(refused.unwrap_or_else(FailureReason::closed_during_handshake), &mut out);
            }
            Stage::Ready => self.stage = Stage::Failed(FailureReason::Closed(String::new())),
            Stage::Failed(_) => {}
        }
        out
    }

    /// The transport could not deliver the request with this id. `refusal` is the JSON-RPC error without an id with
    /// which the server refused it, if any; it counts as the response.
    pub(crate) fn undelivered(
        &mut self,
        now: Duration,
        id: &[u8],
        reason: &str,
        refusal: Option<&[u8]>,
    ) -> Vec<Output> {
        let mut out = Vec::new();
        let Some(open) = self.number_of(Id(id)).and_then(|id| self.open.remove(&id)) else {
            // Not one of the engine's requests: a message that the caller sent as it is.
            return vec![match refusal {
                Some(refusal) => Output::Stray { message: refusal.to_vec() },
                None => Output::Undelivered { id: id.to_vec(), reason: reason.to_owned() },
            }];
        };
        match (refusal, open.role) {
            (Some(refusal), _) => self.settle(now, open, refusal.to_vec(), &Envelope::scan(refusal), &mut out),
            (None, _) if open.expired => {}
            (None, Role::Probe) if self.config.era == EraChoice::Auto && !self.probed_again => {
                self.fall_back(now, reason.to_owned(), &mut out);
            }
            (None, Role::Probe) if self.refused.is_some() => self.fall_back(now, reason.to_owned(), &mut out),
            (None, Role::Initialize) if self.may_probe() => {
                self.probe_after(now, reason.to_owned(), &mut out);
            }
            (None, Role::Probe | Role::Initialize) => self.fail(reason.to_owned(), &mut out),
            (None, Role::Call) => {
                out.push(Output::Failed { handle: Some(open.handle), reason: reason.to_owned().into() });
            }
        }
        out
    }

    /// The server rejected the request with this id because it does not know the session any more. Opens a new session
    /// and sends the request again, once (MCP 2025-03-26 to 2025-11-25, Session Management). A joined connection is
    /// never reopened.
    pub(crate) fn session_over(&mut self, now: Duration, id: &[u8], reason: &str) -> Vec<Output> {
        let mut out = Vec::new();
        let reason = FailureReason::Other(reason.to_owned());
        match self.number_of(Id(id)).and_then(|id| self.open.remove(&id)) {
            None => out.push(Output::Failed { handle: None, reason }),
            Some(open) if open.expired => {}
            Some(open) if open.again || open.role != Role::Call || self.config.join.is_some() => {
                out.push(Output::Failed { handle: Some(open.handle), reason });
            }
            Some(open) => {
                self.held.push(Held::Request(Open { again: true, ..open }));
                if self.stage == Stage::Ready {
                    self.stage = Stage::Renewing;
                    out.push(Output::Renewing { reason: reason.to_string() });
                    self.send_initialize(now, &mut out);
                }
            }
        }
        out
    }

    /// The connection failed: all pending requests fail.
    pub(crate) fn lost(&mut self, _now: Duration, why: &str) -> Vec<Output> {
        self.open.clear();
        let mut out = Vec::new();
        self.fail(why.to_owned(), &mut out);
        out
    }

    fn take(&mut self, now: Duration, bytes: &[u8], envelope: &Envelope<'_>, out: &mut Vec<Output>) {
        let message = bytes.to_vec();
        if !self.has_spoken && envelope.kind != MessageKind::Blank {
            self.has_started(now);
        }
        match envelope.kind {
            MessageKind::Request => self.serve(message, envelope, out),
            MessageKind::Notification => out.push(Output::Notification { message }),
            MessageKind::Result | MessageKind::Error => self.answered(now, message, envelope, out),
            MessageKind::Blank => {}
            _ => out.push(self.noise(message)),
        }
    }

    /// Responds to a request of the server. In the modern era, a client must not send responses (MCP 2026-07-28,
    /// stdio).
    fn serve(&self, message: Vec<u8>, envelope: &Envelope<'_>, out: &mut Vec<Output>) {
        let method = envelope.method.as_deref().unwrap_or_default().to_owned();
        // An id that cannot be one is not repeated (JSON-RPC 2.0 §5).
        let is_invalid = [Fault::NullId, Fault::OddId].iter().any(|fault| envelope.faults.contains(*fault));
        let id = envelope.id.filter(|_| !is_invalid).unwrap_or(Id(b"null"));
        let modern = self.stage == Stage::Ready && self.era == Era::Modern;
        let answered_with = if modern {
            None
        } else if is_invalid {
            Some(Err((errors::INVALID_REQUEST, "the id of a request must be a string or an integer".to_owned())))
        } else if self.left.contains(&method) {
            None
        } else {
            Some(self.offer.answer(&method))
        };
        if let Some(answer) = &answered_with {
            out.push(Output::Send(message::response(id.0, answer)));
        }
        out.push(Output::ServerRequest { method, message, answered_with });
    }

    fn answered(&mut self, now: Duration, message: Vec<u8>, envelope: &Envelope<'_>, out: &mut Vec<Output>) {
        match self.take_open(envelope) {
            Some(open) => self.settle(now, open, message, envelope, out),
            None => out.push(Output::Stray { message }),
        }
    }

    /// Handles the response to this request.
    fn settle(&mut self, now: Duration, open: Open, message: Vec<u8>, envelope: &Envelope<'_>, out: &mut Vec<Output>) {
        match open.role {
            Role::Probe if !open.expired => return self.read_probe(now, envelope, out),
            Role::Initialize if !open.expired => return self.read_initialize(now, envelope, out),
            Role::Probe => self.late_probe = Some(message.clone()),
            Role::Call if !open.expired && self.wants_input(envelope) => {
                return self.give_input(open, envelope, out);
            }
            Role::Initialize | Role::Call => {}
        }
        out.push(Output::Answered {
            handle: open.handle,
            method: open.method,
            message,
            latency: now.saturating_sub(open.since),
            late: open.expired,
        });
    }

    /// An id as it appears on the wire.
    fn id(&self, number: i64) -> Value {
        match &self.config.join {
            None => number.into(),
            Some(joined) => format!("{}{number}", joined.id_prefix).into(),
        }
    }

    /// The number in one of our ids.
    fn number_of(&self, id: Id<'_>) -> Option<i64> {
        match &self.config.join {
            None => match id.key() {
                IdKey::Integer(number) => Some(number),
                _ => None,
            },
            Some(joined) => json::as_str(id.0)?.strip_prefix(joined.id_prefix.as_str())?.parse().ok(),
        }
    }

    /// The request that a response belongs to. An error without an id can only belong to the probe, and only while
    /// nothing else is pending.
    fn take_open(&mut self, envelope: &Envelope<'_>) -> Option<Open> {
        match envelope.id.filter(|id| !id.is_null()) {
            Some(id) => self.open.remove(&self.number_of(id)?),
            None => {
                let id = self.open.iter().find(|(_, open)| open.role == Role::Probe && !open.expired)?.0;
                self.open.remove(&id.clone())
            }
        }
    }
}
