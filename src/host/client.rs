//! The client of one server, sans-IO: opens the connection in the right era, asks, waits, answers the server's own
//! requests, and reports.
//!
//! The probe of the eras follows 2026-07-28 (transports, dual-era clients; behaviour X11); ids are integers from 1, or
//! in a connection that is joined, strings that nobody else uses.
//!
//! Never: tokio, sockets, clocks, a proposal's name.

mod handshake;
pub mod message;
mod offer;
mod opening;
mod rounds;
#[cfg(test)]
mod tests;

pub use handshake::Handshake;
pub use message::{Params, Refusal};
pub use offer::Root;

use crate::protocol::revision::meta;
use crate::protocol::{Era, errors};
use crate::wire::{Envelope, Id, MessageKind, json};
use offer::Offer;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// How often one request may come back for more input (modern era) before the client gives up.
const MAX_ROUNDS: u32 = 8;

/// So many requests that were given up are remembered for a late answer; the oldest is forgotten first.
const MAX_EXPIRED: usize = 256;

/// Which era to work in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EraChoice {
    /// Probe with `server/discover`, fall back to `initialize`. A version of one era given beside it decides instead.
    #[default]
    Auto,
    /// `initialize`, and `server/discover` only where the server refuses that: for what stands on a handshake. A server
    /// whose first message decides the era is met in the legacy one, and none gets a message before `initialize`. A
    /// modern version given beside it makes this [`Self::Auto`].
    Handshake,
    /// `initialize` at once.
    Legacy,
    /// `server/discover`, and never `initialize`.
    Modern,
}

/// How to be a client.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// The client's name in `clientInfo`.
    pub name: String,
    /// Its version in `clientInfo`.
    pub version: String,
    /// The era.
    pub era: EraChoice,
    /// The protocol version to ask for, known or not; the newest fitting one where there is none.
    pub protocol_version: Option<String>,
    /// Client capabilities to declare, beside `roots` where there are any; `Null` for none.
    pub capabilities: Value,
    /// The answer to `roots/list`.
    pub roots: Vec<Root>,
    /// How long the answer to the probe may take, where `initialize` can be tried instead or was tried before.
    pub probe_timeout: Duration,
    /// How long any other answer may take.
    pub request_timeout: Duration,
    /// Join a connection that others have opened, instead of opening one.
    pub join: Option<Joined>,
    /// How many values a message of the server may have, where they are all looked into.
    pub max_values: usize,
}

/// A connection that is open already, between others.
#[derive(Clone, Debug)]
pub struct Joined {
    /// What they agreed on.
    pub handshake: Handshake,
    /// What the one who is client there declared; `Null` for nothing.
    pub client_capabilities: Value,
    /// How ids begin here, so that they are not those of others; `PREFIX1` is the first.
    pub id_prefix: String,
}

impl ClientConfig {
    /// A client with these names, era auto, nothing declared, 2 s for the probe and 30 s for a request.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            era: EraChoice::Auto,
            protocol_version: None,
            capabilities: Value::Null,
            roots: Vec::new(),
            probe_timeout: Duration::from_secs(2),
            request_timeout: Duration::from_secs(30),
            join: None,
            max_values: usize::MAX,
        }
    }
}

/// Names one request of the caller's (or of the handshake) for as long as the engine lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestHandle(pub u64);

/// What the engine wants done, or has to tell.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Send this message, framed as the transport frames.
    Send(Vec<u8>),
    /// The connection is open. Comes once, even where its session is renewed.
    Ready(Handshake),
    /// A request was answered, by a result or an error.
    Answered {
        /// The request.
        handle: RequestHandle,
        /// Its method.
        method: String,
        /// The answer's exact bytes.
        message: Vec<u8>,
        /// Time since the request was first sent.
        latency: Duration,
        /// The request had timed out before.
        late: bool,
    },
    /// A request's time is over; its cancellation is sent. A late answer may still follow.
    TimedOut {
        /// The request.
        handle: RequestHandle,
        /// Its method.
        method: String,
        /// The time it had.
        after: Duration,
    },
    /// The server asked for something; in the modern era, also within an answer.
    ServerRequest {
        /// What it asked.
        method: String,
        /// The request's bytes.
        message: Vec<u8>,
        /// What was answered; `None` where the caller is to answer ([`ClientEngine::leave`]) or nobody may.
        answered_with: Option<Result<Value, Refusal>>,
    },
    /// A notification of the server.
    Notification {
        /// Its bytes.
        message: Vec<u8>,
    },
    /// An answer to nothing that waits: an unknown id, or a second answer.
    Stray {
        /// Its bytes.
        message: Vec<u8>,
    },
    /// No message at all: a log line on standard output, broken JSON (behaviour X8).
    Noise {
        /// Its bytes.
        message: Vec<u8>,
    },
    /// The server has dropped the session; a new one is being opened, in which the request that found out is sent
    /// again.
    Renewing {
        /// How it was found out, as a sentence fragment.
        reason: String,
    },
    /// The new session is open.
    Renewed(Box<Handshake>),
    /// A request will not be answered; with no handle, the connection could not be opened or is gone.
    Failed {
        /// The request, where it is one request's failure.
        handle: Option<RequestHandle>,
        /// Why, as a sentence fragment.
        reason: String,
    },
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
    /// It was sent before, in a session that is over.
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
    /// [`Output::Ready`] was told before.
    Renewing,
    Ready,
    Failed(String),
}

#[derive(Debug)]
enum Held {
    Request(Open),
    Notification(String, Params),
}

/// The client of one server. See the module.
#[derive(Debug)]
pub struct ClientEngine {
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
    /// The answer to a probe that came after `initialize` was sent.
    late_probe: Option<Vec<u8>>,
    notes: Vec<String>,
}

impl ClientEngine {
    /// A client that has sent nothing yet.
    pub fn new(mut config: ClientConfig) -> Self {
        let wanted = config.protocol_version.as_deref().map(Era::of_version);
        if config.era == EraChoice::Handshake && wanted == Some(Era::Modern) {
            config.era = EraChoice::Auto;
        }
        Self {
            offer: Offer::new(&config.capabilities, config.roots.clone()),
            config,
            stage: Stage::Fresh,
            era: Era::Legacy,
            version: String::new(),
            open: BTreeMap::new(),
            held: Vec::new(),
            left: Vec::new(),
            next_id: 1,
            next_handle: 1,
            probed_again: false,
            refused: None,
            late_probe: None,
            notes: Vec::new(),
        }
    }

    /// Opens the connection, or joins the one that is open.
    pub fn start(&mut self, now: Duration) -> Vec<Output> {
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

    /// The methods of requests whose answers are waited for.
    pub fn awaited(&self) -> impl Iterator<Item = &str> {
        self.open.values().filter(|open| !open.expired).map(|open| open.method.as_str())
    }

    /// Whether requests are sent at once.
    pub fn is_ready(&self) -> bool {
        self.stage == Stage::Ready
    }

    /// Leaves requests of the server with this method to the caller, who answers with [`Self::respond`].
    pub fn leave(&mut self, method: impl Into<String>) {
        self.left.push(method.into());
    }

    /// Answers the server's requests of this method with an empty object.
    pub fn grant(&mut self, method: impl Into<String>) {
        self.offer.granted.push(method.into());
    }

    /// Answers a request of the server that was left to the caller, by its id's text. The modern era has no such
    /// answers, so nothing is sent there.
    pub fn respond(&self, id: &[u8], answer: &Result<Value, Refusal>) -> Vec<Output> {
        match self.era {
            Era::Legacy => vec![Output::Send(message::response(id, answer))],
            Era::Modern => Vec::new(),
        }
    }

    /// The same with an error that is given whole, data and all.
    pub fn refuse(&self, id: &[u8], error: &Value) -> Vec<Output> {
        match self.era {
            Era::Legacy => vec![Output::Send(message::error_response(id, error))],
            Era::Modern => Vec::new(),
        }
    }

    /// Asks, with the configured time limit. Before the connection is open the request is held back.
    pub fn request(&mut self, now: Duration, method: &str, params: impl Into<Params>) -> (RequestHandle, Vec<Output>) {
        self.request_with_deadline(now, method, params, self.config.request_timeout)
    }

    /// Asks, with a time limit of its own, counted from the moment of sending.
    pub fn request_with_deadline(
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

    /// Notifies. Before the connection is open the notification is held back.
    pub fn notify(&mut self, _now: Duration, method: &str, params: impl Into<Params>) -> Vec<Output> {
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

    /// Takes one message of the server in.
    pub fn receive(&mut self, now: Duration, bytes: &[u8]) -> Vec<Output> {
        if !json::has_at_most(bytes, self.config.max_values) {
            return self.refuse_values(now, bytes);
        }
        let mut out = Vec::new();
        let envelope = Envelope::scan(bytes);
        if envelope.kind == MessageKind::Batch {
            // Legal in 2025-03-26 only; taken whenever it comes (X9).
            for item in json::items(bytes) {
                self.take(now, item, &Envelope::scan(item), &mut out);
            }
        } else {
            self.take(now, bytes, &envelope, &mut out);
        }
        out
    }

    /// A message has more values than are looked into: what it answers fails, and anything else is passed over.
    fn refuse_values(&mut self, now: Duration, bytes: &[u8]) -> Vec<Output> {
        let why = format!("the server sent a message of more than {} values", self.config.max_values);
        let envelope = Envelope::scan(bytes);
        match (envelope.kind, envelope.id) {
            (MessageKind::Result | MessageKind::Error, Some(id)) => self.undelivered(now, id.0, &why, None),
            _ => vec![Output::Noise { message: why.into_bytes() }],
        }
    }

    /// The moment to call [`Self::wake`] at, if nothing comes in before.
    pub fn next_timeout(&self) -> Option<Duration> {
        self.open.values().filter(|open| !open.expired).map(Open::deadline).min()
    }

    /// Lets time pass: requests whose time is over are given up.
    pub fn handle_timeout(&mut self, now: Duration) -> Vec<Output> {
        let mut out = Vec::new();
        let due = |open: &Open| !open.expired && open.deadline() <= now;
        let ids: Vec<i64> = self.open.iter().filter(|(_, open)| due(open)).map(|(id, _)| *id).collect();
        for id in ids {
            let Some(open) = self.open.get_mut(&id) else { continue };
            open.expired = true;
            let open = open.clone();
            self.give_up(now, id, open, &mut out);
        }
        let expired: Vec<i64> = self.open.iter().filter(|(_, open)| open.expired).map(|(id, _)| *id).collect();
        for id in expired.iter().take(expired.len().saturating_sub(MAX_EXPIRED)) {
            self.open.remove(id);
        }
        out
    }

    /// The server is gone: whatever waits will not be answered.
    pub fn closed(&mut self, _now: Duration) -> Vec<Output> {
        let mut out = Vec::new();
        let unanswered: Vec<_> = self.open.values().filter(|open| !open.expired && open.role == Role::Call).collect();
        for open in unanswered {
            let reason = format!("the server closed the connection before it answered {}", open.method);
            out.push(Output::Failed { handle: Some(open.handle), reason });
        }
        self.open.clear();
        match self.stage {
            Stage::Opening | Stage::Fresh | Stage::Renewing => {
                let closed = || "the server closed the connection before the handshake was over".to_owned();
                let reason = self.refused.take().unwrap_or_else(closed);
                self.fail(reason, &mut out);
            }
            Stage::Ready => self.stage = Stage::Failed("the server closed the connection".to_owned()),
            Stage::Failed(_) => {}
        }
        out
    }

    /// The transport gave up the request with this id, for this reason. `refusal` is the JSON-RPC error with which the
    /// server refused it without naming it, which counts as its answer.
    pub fn undelivered(&mut self, now: Duration, id: &[u8], reason: &str, refusal: Option<&[u8]>) -> Vec<Output> {
        let mut out = Vec::new();
        let Some(open) = self.number_of(Id(id)).and_then(|id| self.open.remove(&id)) else {
            // Nothing of the engine's: a message that was sent as it is.
            return refusal.map(|refusal| Output::Stray { message: refusal.to_vec() }).into_iter().collect();
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
                out.push(Output::Failed { handle: Some(open.handle), reason: reason.to_owned() });
            }
        }
        out
    }

    /// The server did not take the request with this id, because it does not know the session any more: opens a new one
    /// and sends the request again, once (2025-03-26 to 2025-11-25, session management). A connection that was joined
    /// is not ours to open.
    pub fn session_over(&mut self, now: Duration, id: &[u8], reason: &str) -> Vec<Output> {
        let mut out = Vec::new();
        let reason = reason.to_owned();
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
                    out.push(Output::Renewing { reason });
                    self.send_initialize(now, &mut out);
                }
            }
        }
        out
    }

    /// The connection failed: whatever waits will not be answered.
    pub fn lost(&mut self, _now: Duration, why: &str) -> Vec<Output> {
        self.open.clear();
        let mut out = Vec::new();
        self.fail(why.to_owned(), &mut out);
        out
    }

    fn take(&mut self, now: Duration, bytes: &[u8], envelope: &Envelope<'_>, out: &mut Vec<Output>) {
        let message = bytes.to_vec();
        match envelope.kind {
            MessageKind::Request => self.serve(message, envelope, out),
            MessageKind::Notification => out.push(Output::Notification { message }),
            MessageKind::Result | MessageKind::Error => self.answered(now, message, envelope, out),
            MessageKind::Blank => {}
            _ => out.push(Output::Noise { message }),
        }
    }

    /// Answers a request of the server. In the modern era a client must not write responses (2026-07-28, stdio).
    fn serve(&self, message: Vec<u8>, envelope: &Envelope<'_>, out: &mut Vec<Output>) {
        let method = envelope.method.as_deref().unwrap_or_default().to_owned();
        let id = envelope.id.unwrap_or(Id(b"null"));
        let modern = self.stage == Stage::Ready && self.era == Era::Modern;
        let answered_with = if modern || self.left.contains(&method) {
            None
        } else if id.is_null() {
            Some(Err((errors::INVALID_REQUEST, "the id of a request must not be null".to_owned())))
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

    /// What the answer to this request leads to.
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

    /// An id as it stands on the wire.
    fn id(&self, number: i64) -> Value {
        match &self.config.join {
            None => number.into(),
            Some(joined) => format!("{}{number}", joined.id_prefix).into(),
        }
    }

    /// The number that an id of ours stands for.
    fn number_of(&self, id: Id<'_>) -> Option<i64> {
        match &self.config.join {
            None => id.as_integer(),
            Some(joined) => json::as_str(id.0)?.strip_prefix(joined.id_prefix.as_str())?.parse().ok(),
        }
    }

    /// The request that an answer is for. An error without an id can only be for the probe, while that is alone.
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
