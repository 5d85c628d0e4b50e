//! The interface between the built-in server and the server side of a proposal.
//!
//! The server knows MCP and no proposal. It creates one [`ServerSide`] per proposal and connection, calls it at fixed
//! points, and gives it a [`ServerCx`] to act through. Proposals share nothing except the [`Store`] in that context.
//!
//! It must never use tokio, files or clocks, or print; the context provides time, ids and randomness.

pub(crate) mod handler_job;
pub(crate) mod memory;
pub(crate) mod notes;
pub(crate) mod special_addresses;

pub(crate) use super::refusal::Refusal;

use handler_job::{HandlerJob, HandlerPolicy, Infer, JobOutcome};
use memory::Memories;
use notes::Notes;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::fmt;
use std::time::Duration;

/// The built-in server's tool that searches memories.
pub(crate) const SEARCH: &str = "search_memories";
/// The built-in server's tool that adds a note.
pub(crate) const ADD_NOTE: &str = "add_note";
/// The resource with the memories, as JSON.
pub(crate) const MEMORIES: &str = "mcpreel://memories";
/// The resource with the notes, one per line.
pub(crate) const NOTES: &str = "mcpreel://notes";

/// The response to a request.
pub(crate) type Answer = Result<Value, Refusal>;

/// A member of params that must be a string.
///
/// # Errors
/// -32602 if it is missing or not a string.
pub(crate) fn text<'a>(params: &'a Value, name: &str) -> Result<&'a str, Refusal> {
    params[name].as_str().ok_or_else(|| Refusal::params(format!("`{name}` must be a string")))
}

/// A tool's result with a text.
pub(crate) fn success(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// A tool's result that reports a failure.
pub(crate) fn failure(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": true})
}

/// Why a message was not sent. As JSON, it is an object whose `why` names the kind of reason; other members give
/// details.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unsent {
    why: &'static str,
    #[serde(flatten)]
    details: Map<String, Value>,
    #[serde(skip)]
    said: String,
}

impl Unsent {
    /// A reason with its kind, and a text that can follow "not sent: ".
    pub fn new(why: &'static str, said: impl Into<String>) -> Self {
        Self { why, details: Map::new(), said: said.into() }
    }

    /// Adds a member to the details.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// The message would violate the proposal, or does not exist in it.
    pub fn invalid(fault: impl fmt::Display) -> Self {
        Self::new("invalid", fault.to_string()).with("fault", fault.to_string())
    }

    /// The host did not declare the capability that the message needs.
    pub fn host_lacks(capability: &str) -> Self {
        Self::new("host_lacks", format!("the host did not declare {capability}")).with("capability", capability)
    }
}

impl fmt::Display for Unsent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.said)
    }
}

/// A message that a user can have a proposal send. The proposal's schema `fire:KIND` describes its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Firing {
    /// Its name.
    pub kind: &'static str,
    /// The method.
    pub method: &'static str,
    /// The member that identifies the occurrence. It gets a number when a script sends the message repeatedly.
    pub occurrence: Option<&'static str>,
    /// The member that says when it happened.
    pub time: Option<&'static str>,
}

/// A value in the server's capabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// Member names below `capabilities`.
    pub path: &'static [&'static str],
    /// The value.
    pub value: Value,
}

/// A tool call. If the tool is the server's own, the arguments match the tool's schema.
#[derive(Clone, Copy, Debug)]
pub struct ToolCall<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// Its arguments; an empty object if there were none.
    pub arguments: &'a Value,
    /// All params of the request.
    pub params: &'a Value,
    /// Why the host offers no model, neither by a proposal ([`ServerSide::infers`]) nor by MCP's sampling; `None` if it
    /// offers one.
    pub no_model: Option<&'a str>,
}

/// A host's result for a request that the server sent.
#[derive(Clone, Copy, Debug)]
pub struct Granted<'a> {
    /// The request's id.
    pub id: i64,
    /// Its method.
    pub method: &'a str,
    /// The data that the proposal stored with the request.
    pub about: &'a Value,
    /// The result.
    pub result: &'a Value,
    /// The response time, in microseconds.
    pub latency_us: u64,
    /// Whether the response came after the deadline.
    pub late: bool,
}

/// What a proposal can use during a call.
pub trait ServerCx {
    /// Time since the connection began.
    fn now(&self) -> Duration;
    /// Wall time in Unix nanoseconds.
    fn wall_ns(&self) -> i64;
    /// Random bytes, drawn from the server's seed.
    fn fill(&mut self, bytes: &mut [u8]);
    /// The server's name.
    fn server(&self) -> &str;
    /// The client's name.
    fn client(&self) -> &str;
    /// The store that all proposals and the server's own tools share.
    fn store(&mut self) -> &mut Store;
    /// Sends a notification as part of an action that is already reported.
    fn notify(&mut self, method: &str, params: &Value);
    /// Sends a notification on the server's initiative and reports it. Returns a description of what was sent.
    fn send(&mut self, method: &str, params: &Value) -> String;
    /// Sends a request and reports it. Returns a description of what was sent. `about` comes back with the response.
    fn ask(&mut self, method: &str, params: &Value, about: Value) -> String;
    /// The data that was stored with an open request.
    fn about(&mut self, id: i64) -> Option<&mut Value>;
    /// Whether a tool call that [`ServerSide::defer`] took over still waits for its response.
    fn awaits(&self, ticket: u64) -> bool;
    /// Responds to a tool call that was taken over. Does nothing if it no longer waits.
    fn settle(&mut self, ticket: u64, answer: Answer);
    /// Starts a job outside of the server. It must be one that [`ServerSide::permit`] permitted. The outcome arrives at
    /// [`ServerSide::completed`] with the returned ticket.
    fn send_out(&mut self, job: HandlerJob) -> u64;
    /// Reports an event: an object whose `report` names the kind. An integer `id` is that of a request that the server
    /// sent.
    fn report(&mut self, report: Value);
    /// Notifies the host that a resource changed, if the host has subscribed to it.
    fn changed(&mut self, uri: &str);

    /// Wall time as RFC 3339 in UTC, in milliseconds, which is the precision of JavaScript's dates.
    fn stamp(&self) -> String {
        let time = jiff::Timestamp::from_nanosecond(i128::from(self.wall_ns()));
        time.map(|time| format!("{time:.3}")).unwrap_or_default()
    }

    /// Converts a wall time to the time since the connection began.
    fn when(&self, wall_ns: i64) -> Duration {
        let ahead = wall_ns.saturating_sub(self.wall_ns());
        let way = Duration::from_nanos(ahead.unsigned_abs());
        if ahead < 0 { self.now().saturating_sub(way) } else { self.now() + way }
    }

    /// A time-ordered id (UUIDv7).
    fn uuid_v7(&mut self) -> String {
        let ms = u64::try_from(self.wall_ns() / 1_000_000).unwrap_or(0);
        let mut random = [0; 10];
        self.fill(&mut random);
        uuid::Builder::from_unix_timestamp_millis(ms, &random).into_uuid().to_string()
    }

    /// A random id (UUIDv4).
    fn uuid_v4(&mut self) -> String {
        let mut random = [0; 16];
        self.fill(&mut random);
        uuid::Builder::from_random_bytes(random).into_uuid().to_string()
    }

    /// Adds a memory and notifies subscribers. Returns the memory's id.
    fn remember(&mut self, content: String, source: String) -> String {
        let id = self.store().memories.add(content, source.clone());
        self.report(json!({"report": "remembered", "id": id, "source": source}));
        self.changed(MEMORIES);
        id
    }

    /// Adds a note and notifies subscribers. `call` may contain a state or a checkpoint. Returns the new state.
    ///
    /// # Errors
    /// A sentence for the model, if there are too many notes.
    fn add_note(&mut self, text: &str, call: &Value) -> Result<Value, String> {
        let mut random = [0; 8];
        self.fill(&mut random);
        let state = self.store().notes.add(text, call, format!("chk_{:016x}", u64::from_le_bytes(random)))?;
        self.changed(NOTES);
        Ok(state)
    }
}

/// The server's memories and notes, shared by its tools and its proposals.
#[derive(Clone, Debug)]
pub struct Store {
    /// The memories.
    pub memories: Memories,
    /// The notes with their history.
    pub notes: Notes,
}

impl Store {
    /// A store that keeps no memories.
    pub fn without_memory() -> Self {
        Self { memories: Memories::none(), notes: Notes::default() }
    }
}

impl Default for Store {
    /// Some memories, so that there is something to find, and no notes.
    fn default() -> Self {
        Self { memories: Memories::preloaded(), notes: Notes::default() }
    }
}

/// The server side of a proposal, on one connection.
///
/// The server first calls [`Self::declare`]. If that returns nothing, the proposal takes no part in the connection, and
/// no other function is called.
pub trait ServerSide: Send {
    /// Applies settings that differ from its defaults.
    ///
    /// # Errors
    /// What is wrong with them, as a sentence fragment.
    fn configure(&mut self, _settings: &Value) -> Result<(), String> {
        Err("this proposal has no settings".to_owned())
    }

    /// Called first if the server has no memories: the proposal leaves out what needs them.
    fn forgo_memory(&mut self) {}

    /// Called first with what the user permits outside of the server.
    fn permit(&mut self, _handler_policy: &HandlerPolicy) {}

    /// What to declare to a client with these capabilities, and where.
    fn declare(&mut self, client: &Value) -> Vec<Declaration>;

    /// The handshake is complete. From now on it may send messages.
    fn begin(&mut self, _cx: &mut dyn ServerCx) {}

    /// The messages that a user can have it send.
    fn fires(&self) -> &'static [Firing] {
        &[]
    }

    /// Checks params against the settings, before the server has a connection. They match the proposal's schema.
    ///
    /// # Errors
    /// Why the server would never send this, as a sentence fragment.
    fn check_fire(&self, _kind: &str, _params: &Value) -> Result<(), String> {
        Ok(())
    }

    /// Whether a message of this kind is better sent after the host's first configuration, which has not come so far.
    fn awaits_host(&self, _kind: &str) -> bool {
        false
    }

    /// Sends one of [`Self::fires`], if possible. The params match the proposal's schema. Returns a description of what
    /// was sent.
    ///
    /// # Errors
    /// Why nothing was sent.
    fn fire(&mut self, kind: &str, _params: &Value, _cx: &mut dyn ServerCx) -> Result<String, Unsent> {
        Err(Unsent::invalid(format!("{kind} cannot be sent")))
    }

    /// Adds its tools to the server's list, or changes the server's own tools in it.
    fn list_tools(&self, _tools: &mut Vec<Value>) {}

    /// Responds to a call of one of its tools or the server's. `None` leaves the call to others.
    fn call(&mut self, _call: &ToolCall<'_>, _cx: &mut dyn ServerCx) -> Option<Answer> {
        None
    }

    /// Takes over a tool call, to respond later with [`ServerCx::settle`] and this ticket. Returns false if
    /// [`Self::call`] responds at once. The host may cancel the call in the meantime ([`ServerCx::awaits`]).
    fn defer(&mut self, _call: &ToolCall<'_>, _ticket: u64, _cx: &mut dyn ServerCx) -> bool {
        false
    }

    /// Responds to a request. `None` means that the request does not belong to the proposal.
    fn request(&mut self, _method: &str, _params: &Value, _cx: &mut dyn ServerCx) -> Option<Answer> {
        None
    }

    /// Receives a notification. Returns whether the proposal acted on it.
    fn receive(&mut self, _method: &str, _params: &Value, _cx: &mut dyn ServerCx) -> bool {
        false
    }

    /// Receives the result of a request with one of its methods, and reports it. Returns false if it has nothing to
    /// report; then the server does. The server itself reports errors.
    fn granted(&mut self, _granted: &Granted<'_>, _cx: &mut dyn ServerCx) -> bool {
        false
    }

    /// A request with one of its methods failed, with the error or, without one, because there was no response in time.
    /// `about` is the data that was stored with it. The server has already reported this.
    fn denied(&mut self, _method: &str, _about: &Value, _error: Option<&Value>, _cx: &mut dyn ServerCx) {}

    /// Receives the outcome of a job outside of the server. Returns whether the job was the proposal's.
    fn completed(&mut self, _ticket: u64, _outcome: &JobOutcome, _cx: &mut dyn ServerCx) -> bool {
        false
    }

    /// Whether the proposal can ask the host's model ([`Self::inference`]), or why not; `None` if it never asks.
    fn infers(&self) -> Option<Result<(), Unsent>> {
        None
    }

    /// The request with which the proposal asks the host's model, if it can. The `content` of the result is the model's
    /// answer.
    fn inference(&self, _asked: &Infer) -> Option<(&'static str, Value)> {
        None
    }

    /// The host sends no more messages. Begin nothing new.
    fn end(&mut self, _cx: &mut dyn ServerCx) {}

    /// The time since the connection began at which to call [`Self::handle_timeout`].
    fn next_timeout(&self, _cx: &dyn ServerCx) -> Option<Duration> {
        None
    }

    /// The wall time, in Unix nanoseconds, at which to call [`Self::handle_timeout`], besides [`Self::next_timeout`].
    fn next_date(&self) -> Option<i64> {
        None
    }

    /// The wall clock was set, or the machine slept. Times of day that were computed from it are computed anew.
    fn clock_stepped(&mut self, _cx: &mut dyn ServerCx) {}

    /// Does what is due. Afterwards [`Self::next_timeout`] and [`Self::next_date`] are in the future.
    fn handle_timeout(&mut self, _cx: &mut dyn ServerCx) {}
}
