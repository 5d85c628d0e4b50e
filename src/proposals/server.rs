//! The frame of the rooms' server sides: what the built-in server asks a room, and what it lends it.
//!
//! The server knows MCP and no proposal. It makes one [`ServerSide`] a room for each connection, asks it at fixed
//! points, and gives it a [`ServerCx`] to act through. Rooms meet only in the [`Store`] that the context lends them.
//!
//! Never: tokio, files, clocks, printing; time, ids and randomness come from the context.

pub mod handler_job;
pub mod memory;
pub mod notes;

pub use super::refusal::Refusal;

use handler_job::{HandlerJob, HandlerPolicy, Infer, JobOutcome};
use memory::Memories;
use notes::Notes;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::fmt;
use std::time::Duration;

/// The tool of the built-in server that finds memories.
pub const SEARCH: &str = "search_memories";
/// The tool of the built-in server that adds a note.
pub const ADD_NOTE: &str = "add_note";
/// The resource that shows the memories, as JSON.
pub const MEMORIES: &str = "mcpreel://memories";
/// The resource that shows the notes, a line each.
pub const NOTES: &str = "mcpreel://notes";

/// What a request is answered with.
pub type Answer = Result<Value, Refusal>;

/// The text of a member of params.
///
/// # Errors
/// -32602 where it is missing or no string.
pub fn text<'a>(params: &'a Value, name: &str) -> Result<&'a str, Refusal> {
    params[name].as_str().ok_or_else(|| Refusal::params(format!("`{name}` must be a string")))
}

/// A tool's result that is a text.
pub fn success(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// A tool's own failure.
pub fn failure(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": true})
}

/// Why something did not go out. As JSON, an object whose `why` names the kind; the other members are its own.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unsent {
    why: &'static str,
    #[serde(flatten)]
    details: Map<String, Value>,
    #[serde(skip)]
    said: String,
}

impl Unsent {
    /// A reason by its kind and in words that go on after "not sent: ".
    pub fn new(why: &'static str, said: impl Into<String>) -> Self {
        Self { why, details: Map::new(), said: said.into() }
    }

    /// The same with a member more.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// It would be against the proposal, or is no such thing at all.
    pub fn invalid(fault: impl fmt::Display) -> Self {
        Self::new("invalid", fault.to_string()).with("fault", fault.to_string())
    }

    /// The host did not declare what takes it.
    pub fn host_lacks(capability: &str) -> Self {
        Self::new("host_lacks", format!("the host did not declare {capability}")).with("capability", capability)
    }
}

impl fmt::Display for Unsent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.said)
    }
}

/// Something that a room can be told to send. What stands beside `kind` in the JSON is told by the room's schema
/// `fire:KIND`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Firing {
    /// What it is called.
    pub kind: &'static str,
    /// The method that it goes out by.
    pub method: &'static str,
    /// The member that names the one occurrence: where a plan fires again, it gets a number.
    pub occurrence: Option<&'static str>,
}

/// A value for a place in the server's capabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// Member names below `capabilities`.
    pub path: &'static [&'static str],
    /// What stands there.
    pub value: Value,
}

/// A tool call whose arguments fit the tool's schema where the tool is the server's own.
#[derive(Clone, Copy, Debug)]
pub struct ToolCall<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its arguments, an empty object where none came.
    pub arguments: &'a Value,
    /// All params of the call.
    pub params: &'a Value,
}

/// What a host granted to a request of the server's own.
#[derive(Clone, Copy, Debug)]
pub struct Granted<'a> {
    /// The request's id.
    pub id: i64,
    /// Its method.
    pub method: &'a str,
    /// What the room kept with it.
    pub about: &'a Value,
    /// The result.
    pub result: &'a Value,
    /// How long it took, in microseconds.
    pub latency_us: u64,
    /// It came after the deadline.
    pub late: bool,
}

/// What the server lends a room while it asks it something.
pub trait ServerCx {
    /// Since the connection began.
    fn now(&self) -> Duration;
    /// Wall time in Unix nanoseconds.
    fn wall_ns(&self) -> i64;
    /// Random bytes, drawn from the server's seed.
    fn fill(&mut self, bytes: &mut [u8]);
    /// The server's name.
    fn server(&self) -> &str;
    /// The client's name.
    fn client(&self) -> &str;
    /// What all rooms and the server's own tools share.
    fn store(&mut self) -> &mut Store;
    /// Sends a notification that belongs to something else, which is reported.
    fn notify(&mut self, method: &str, params: &Value);
    /// Sends a notification of the server's own will and reports that; answers with what was done, in words.
    fn send(&mut self, method: &str, params: &Value) -> String;
    /// Sends a request and reports that; answers with what was done, in words. `about` comes back with the answer.
    fn ask(&mut self, method: &str, params: &Value, about: Value) -> String;
    /// What is kept with a request that is still open.
    fn about(&mut self, id: i64) -> Option<&mut Value>;
    /// Whether a tool call that was taken over by [`ServerSide::defer`] still waits for its answer.
    fn awaits(&self, ticket: u64) -> bool;
    /// Answers a tool call that was taken over; nothing where it does not wait any more.
    fn settle(&mut self, ticket: u64, answer: Answer);
    /// Has something done outside; what came of it comes to [`ServerSide::completed`] with this ticket. Only what was
    /// permitted ([`ServerSide::permit`]).
    fn send_out(&mut self, job: HandlerJob) -> u64;
    /// Reports a fact: an object whose `report` names the kind. An integer `id` is that of a request of the server's.
    fn report(&mut self, fact: Value);
    /// Tells the host that a resource changed, if it watches it.
    fn changed(&mut self, uri: &str);

    /// Wall time as RFC 3339 in UTC, in milliseconds: what JavaScript's dates hold.
    fn stamp(&self) -> String {
        let time = jiff::Timestamp::from_nanosecond(i128::from(self.wall_ns()));
        time.map(|time| format!("{time:.3}")).unwrap_or_default()
    }

    /// When a wall time is, since the connection began.
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

    /// Remembers something and tells who watches; answers with the memory's name.
    fn remember(&mut self, content: String, source: String) -> String {
        let id = self.store().memories.add(content, source.clone());
        self.report(json!({"report": "remembered", "id": id, "source": source}));
        self.changed(MEMORIES);
        id
    }

    /// Adds a note and tells who watches. `call` may bring a state or checkpoint along; answers with the new state.
    ///
    /// # Errors
    /// There are too many notes already; a sentence for the model.
    fn add_note(&mut self, text: &str, call: &Value) -> Result<Value, String> {
        let mut random = [0; 8];
        self.fill(&mut random);
        let state = self.store().notes.add(text, call, format!("chk_{:016x}", u64::from_le_bytes(random)))?;
        self.changed(NOTES);
        Ok(state)
    }
}

/// What a server remembers, shared by its tools and its rooms.
#[derive(Clone, Debug)]
pub struct Store {
    /// What is remembered.
    pub memories: Memories,
    /// Notes with their history.
    pub notes: Notes,
}

impl Store {
    /// A store that forgets at once what it is to remember.
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

/// A room's side in the built-in server, on one connection.
///
/// Asked first what it declares. Declares it nothing, it takes no part in the connection and is asked nothing more.
pub trait ServerSide: Send {
    /// Takes settings in that differ from its defaults.
    ///
    /// # Errors
    /// What is wrong with them, as a sentence fragment.
    fn configure(&mut self, _settings: &Value) -> Result<(), String> {
        Err("this proposal has no settings".to_owned())
    }

    /// Hears before all else that the server remembers nothing: what needs its memories is left out.
    fn forgo_memory(&mut self) {}

    /// Hears before all else what may be done outside.
    fn permit(&mut self, _handler_policy: &HandlerPolicy) {}

    /// What to declare to a client with these capabilities, and where.
    fn declare(&mut self, client: &Value) -> Vec<Declaration>;

    /// The handshake is over: from now on it may send.
    fn begin(&mut self, _cx: &mut dyn ServerCx) {}

    /// What it can be told to send.
    fn fires(&self) -> &'static [Firing] {
        &[]
    }

    /// Sends one of [`Self::fires`], if it may; the params fit the room's schema. Answers with what was done, in words.
    ///
    /// # Errors
    /// Why it was not sent.
    fn fire(&mut self, kind: &str, _params: &Value, _cx: &mut dyn ServerCx) -> Result<String, Unsent> {
        Err(Unsent::invalid(format!("{kind} cannot be sent")))
    }

    /// Adds its tools to the server's own, or changes how those are shown.
    fn list_tools(&self, _tools: &mut Vec<Value>) {}

    /// Answers a tool call, of its own tools or of the server's; `None`: leaves it to others.
    fn call(&mut self, _call: &ToolCall<'_>, _cx: &mut dyn ServerCx) -> Option<Answer> {
        None
    }

    /// Takes over a tool call whose answer is to come later, by [`ServerCx::settle`] with this ticket. `false`: it is
    /// answered at once, by [`Self::call`]. The host may take the call back meanwhile ([`ServerCx::awaits`]).
    fn defer(&mut self, _call: &ToolCall<'_>, _ticket: u64, _cx: &mut dyn ServerCx) -> bool {
        false
    }

    /// Answers a request; `None`: it is none of its.
    fn request(&mut self, _method: &str, _params: &Value, _cx: &mut dyn ServerCx) -> Option<Answer> {
        None
    }

    /// Hears a notification; answers whether it is one that something is done about.
    fn receive(&mut self, _method: &str, _params: &Value, _cx: &mut dyn ServerCx) -> bool {
        false
    }

    /// Hears what the host granted to a request with one of its methods, and reports that. `false`: it has nothing to
    /// say to it, and the server reports it. Errors are reported by the server.
    fn granted(&mut self, _granted: &Granted<'_>, _cx: &mut dyn ServerCx) -> bool {
        false
    }

    /// Hears that a request with one of its methods came to nothing, with what was kept with it: it was refused with
    /// this error or, without one, not answered in time. The server has reported it.
    fn denied(&mut self, _method: &str, _about: &Value, _error: Option<&Value>, _cx: &mut dyn ServerCx) {}

    /// What came of something that was done outside; answers whether it was the room's.
    fn completed(&mut self, _ticket: u64, _outcome: &JobOutcome, _cx: &mut dyn ServerCx) -> bool {
        false
    }

    /// The request by which the room's proposal asks the host's model, where it may; the answer's `content` is what
    /// the model said.
    fn inference(&self, _asked: &Infer) -> Option<(&'static str, Value)> {
        None
    }

    /// The host sends no more: nothing new is to be begun.
    fn end(&mut self, _cx: &mut dyn ServerCx) {}

    /// When it wants to be woken next.
    fn next_timeout(&self, _cx: &dyn ServerCx) -> Option<Duration> {
        None
    }

    /// Does what is due. Afterwards [`Self::next_timeout`] lies ahead.
    fn handle_timeout(&mut self, _cx: &mut dyn ServerCx) {}
}
