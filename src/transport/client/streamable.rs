//! Streamable HTTP on the client side, in both eras, as a [`Link`]. Each message is a POST; answers arrive as JSON or
//! as events. Falls back to HTTP+SSE (2024-11-05) if the server only supports that.
//!
//! What follows `initialize` waits for its answer, which brings the session's id and revision.
//!
//! Source: the Streamable HTTP transport of each MCP revision.

pub(crate) mod handshake;
mod older;

use super::error_response::{MISSING_SCOPES, REFUSED_LOGIN, Refusal, in_words};
use super::http::{HttpError, SharedObserver};
use super::http_endpoint::{Answer, Endpoint, Events, NoEvent};
use super::remote::{NoticeCallback, Remote, TransportNotice};
use crate::protocol::errors;
use crate::protocol::http::{self, ToolMarks};
use crate::transport::budget::{Receiver, Sender};
use crate::transport::link::{Incoming, Link, Served, Undelivered};
use crate::wire::MessageLimit;
use crate::wire::sse::{Carried, SseEvent, carried};
use crate::wire::{Envelope, MessageKind, json};
use bytes::Bytes;
use handshake::HeldMessages;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, StatusCode};
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};

const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// The delay before resuming a stream, unless the server sets another.
const RETRY: Duration = Duration::from_secs(1);
/// The maximum number of attempts in a row to resume a stream without receiving anything.
const MAX_ATTEMPTS: u32 = 5;
/// How long the POST of a notification or response delays later messages.
const IN_ORDER: Duration = Duration::from_secs(5);
/// How long the opening of the GET stream delays messages after `notifications/initialized`.
const GET_HEAD: Duration = Duration::from_millis(500);
/// The time limit for ending a session.
const DELETE_TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum number of `tools/list` pages read to learn a tool's headers.
const MAX_PAGES: usize = 32;
/// The id of the transport's own requests; those of the engine are numbers.
const OWN_ID: &str = "\"headers\"";
/// How long to wait for the end of streams whose requests have been answered.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(50);
/// How many bytes of an error response are read, and for how long.
const REFUSAL_LIMIT: MessageLimit = MessageLimit::of_bytes(1 << 20);
const REFUSAL_TIME: Duration = Duration::from_secs(5);

/// Attaches to a server at an `http(s)` URL. Must be called within a tokio runtime.
///
/// # Errors
/// The URL or a header is invalid, or TLS cannot be set up.
pub(crate) fn attach(
    remote: &Remote,
    report: NoticeCallback,
    watch: Option<SharedObserver>,
) -> Result<Link, HttpError> {
    let (link, Served { outgoing, incoming }) = Link::served();
    let endpoint = Endpoint::new(remote, Arc::clone(&report), watch)?;
    let (state, handshake_over) = (Mutex::default(), Notify::new());
    let client = Client { endpoint, incoming, limit: remote.limit, report, state, handshake_over };
    tokio::spawn(run(Arc::new(client), outgoing));
    Ok(link)
}

/// Why a request got no answer.
struct Failure {
    reason: String,
    advice: Option<String>,
    status: Option<StatusCode>,
    refusal: Option<Vec<u8>>,
    session_over: bool,
    unreached: bool,
}

impl Failure {
    fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), advice: None, status: None, refusal: None, session_over: false, unreached: false }
    }

    /// The code of the JSON-RPC error in the response.
    fn code(&self) -> Option<i64> {
        Envelope::scan(self.refusal.as_deref()?).error_code()
    }

    /// Whether a server that only supports HTTP+SSE answers `initialize` like this.
    fn may_be_older(&self) -> bool {
        let may_mean_sse = self.status.is_some_and(|status| http::may_mean_sse(status.as_u16()));
        may_mean_sse && !self.code().is_some_and(errors::reports_modern_era)
    }
}

impl From<HttpError> for Failure {
    fn from(error: HttpError) -> Self {
        Self { advice: error.advice().map(str::to_owned), unreached: true, ..Self::new(error.to_string()) }
    }
}

/// The state of the connection.
#[derive(Default)]
struct State {
    session: Option<HeaderValue>,
    /// The server no longer knows the session.
    is_over: bool,
    /// The value of [`http::PROTOCOL_VERSION`].
    version: Option<String>,
    is_modern: bool,
    /// The id of the `initialize` whose answer what follows waits for.
    handshake: Option<Vec<u8>>,
    /// `initialize` was answered, so requests without a revision belong to its session.
    has_handshake: bool,
    marks: ToolMarks,
    /// The cursor of the next page of tools, after a `tools/list` of the transport's own.
    cursor: Option<String>,
    /// Requests of the modern era whose answers are being read.
    open: HashMap<Vec<u8>, AbortHandle>,
    /// The task that reads the GET stream.
    listener: Option<AbortHandle>,
    /// The endpoint for messages, after a fallback to HTTP+SSE.
    older: Option<Endpoint>,
}

/// A message to send.
struct Call {
    message: Bytes,
    /// A request's id as text.
    id: Option<Vec<u8>>,
    /// The ids of the requests in a batch (MCP 2025-03-26), which are answered together.
    asked: Vec<Vec<u8>>,
    method: String,
    is_modern: bool,
    headers: HeaderMap,
}

/// The id of a request as text.
fn request_id(message: &Envelope<'_>) -> Option<Vec<u8>> {
    message.id.filter(|_| message.kind == MessageKind::Request).map(|id| id.0.to_vec())
}

/// The ids of the requests in a batch.
fn ids_in_batch(message: &[u8], envelope: &Envelope<'_>) -> Vec<Vec<u8>> {
    match envelope.kind {
        MessageKind::Batch => json::items(message).filter_map(|item| request_id(&Envelope::scan(item))).collect(),
        _ => Vec::new(),
    }
}

impl Call {
    fn read(message: Vec<u8>, state: &mut State) -> Self {
        let envelope = Envelope::scan(&message);
        let method = envelope.method.as_deref().unwrap_or("the message").to_owned();
        let (id, asked) = (request_id(&envelope), ids_in_batch(&message, &envelope));
        let own_version = http::modern_version(&envelope);
        if method == "initialize" {
            state.begin_session();
            state.handshake = id.clone();
        } else if let Some(version) = own_version.as_deref().filter(|_| !state.has_handshake) {
            (state.version, state.is_modern) = (Some(version.to_owned()), true);
        }
        // A request that names its revision is independent of a session.
        let is_modern = state.is_modern || own_version.is_some();
        let mut headers = match &own_version {
            Some(version) if state.has_handshake => State::headers_of(None, Some(version)),
            _ => state.headers(),
        };
        headers.insert(ACCEPT, BOTH);
        headers.insert(CONTENT_TYPE, JSON);
        if is_modern {
            for (name, value) in http::modern_headers(&envelope, &state.marks) {
                put(&mut headers, &name, &value);
            }
        }
        Self { id, asked, method, is_modern, headers, message: message.into() }
    }

    /// Whether this is a request of the transport's own.
    fn is_own(&self) -> bool {
        self.id.as_deref() == Some(OWN_ID.as_bytes())
    }

    /// Whether this message of the server answers it.
    fn is_answered_by(&self, message: &Envelope<'_>) -> bool {
        let is_one = |id: &[u8]| self.id.as_deref() == Some(id) || self.asked.iter().any(|asked| asked == id);
        message.kind.is_response() && message.id.is_some_and(|id| is_one(id.0))
    }
}

impl State {
    /// Begins a new session and stops reading the last one's GET stream.
    fn begin_session(&mut self) {
        (self.version, self.session, self.is_over, self.is_modern, self.has_handshake) =
            (None, None, false, false, false);
        self.listener.take().inspect(AbortHandle::abort);
    }

    /// The headers of every exchange of the session.
    fn headers(&self) -> HeaderMap {
        Self::headers_of(self.session.as_ref(), self.version.as_deref())
    }

    fn headers_of(session: Option<&HeaderValue>, version: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Some(session) = session {
            put_value(&mut headers, http::SESSION_ID, session.clone());
        }
        if let Some(version) = version {
            put(&mut headers, http::PROTOCOL_VERSION, version);
        }
        headers
    }
}

/// Adds a header, unless it is invalid.
fn put(headers: &mut HeaderMap, name: &str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        put_value(headers, name, value);
    }
}

fn put_value(headers: &mut HeaderMap, name: &str, value: HeaderValue) {
    if let Ok(name) = name.parse::<HeaderName>() {
        headers.insert(name, value);
    }
}

struct Client {
    endpoint: Endpoint,
    incoming: Sender<Incoming>,
    /// The limit for messages.
    limit: MessageLimit,
    report: NoticeCallback,
    state: Mutex<State>,
    /// Notified when `handshake` of the state becomes `None`.
    handshake_over: Notify,
}

/// The current position in an event stream.
#[derive(Default)]
struct StreamPosition {
    last: Option<String>,
    retry: Option<Duration>,
}

/// Sends the link's messages until there are no more, then ends the session.
async fn run(client: Arc<Client>, mut outgoing: Receiver<Vec<u8>>) {
    let mut tasks = JoinSet::new();
    let mut waiting = HeldMessages::default();
    loop {
        tokio::select! {
            message = outgoing.recv(), if waiting.has_space() => match message {
                Some(message) if client.must_wait(&message, &waiting) => waiting.push(message),
                Some(message) => client.post(message, &mut tasks).await,
                None => break,
            },
            () = client.may_go_on(&mut waiting) => {
                while !client.is_in_handshake() && let Some(message) = waiting.pop() {
                    client.post(message, &mut tasks).await;
                }
            }
            Some(_) = tasks.join_next(), if !tasks.is_empty() => {}
        }
    }
    // What still waits is sent, so that it is in the recording; but not without the session.
    if !waiting.is_empty() {
        let _ = timeout(IN_ORDER, client.handshake_ended()).await;
    }
    while let Some(message) = waiting.pop() {
        match client.is_in_handshake() {
            true => client.keep_back(message).await,
            false => client.post(message, &mut tasks).await,
        }
    }
    client.settle(tasks).await;
    client.end_session().await;
    client.endpoint.report_closed();
    let _ = client.incoming.send(Incoming::Closed).await;
}

impl Client {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn step(&self, text: impl AsRef<str>) {
        (self.report)(TransportNotice::Step(text.as_ref()));
    }

    /// Starts sending one message. Requests do not wait for each other; messages after a notification or response wait
    /// until that has arrived.
    async fn post(self: &Arc<Self>, message: Vec<u8>, tasks: &mut JoinSet<()>) {
        let call = Call::read(message, &mut self.state());
        if let Some(id) = call.id.clone() {
            let handle = tasks.spawn(Arc::clone(self).request(call));
            self.state().open.insert(id, handle);
            return;
        }
        if !call.asked.is_empty() {
            tasks.spawn(Arc::clone(self).request_together(call));
            return;
        }
        if call.method == "notifications/cancelled" && call.is_modern && self.cancel(&call) {
            return;
        }
        let opens_stream = call.method == "notifications/initialized" && self.listens();
        self.in_order(tasks, IN_ORDER, |client, done| async move { client.notify(call, done).await }).await;
        if opens_stream {
            let work = |client: Arc<Self>, done| async move { client.listen(done).await };
            let listener = self.in_order(tasks, GET_HEAD, work).await;
            self.state().listener = Some(listener);
        }
    }

    /// Ends all tasks. Streams that are about to end get a moment for that; streams that never end by themselves do
    /// not.
    async fn settle(&self, mut tasks: JoinSet<()>) {
        let (listener, older) = {
            let mut state = self.state();
            (state.listener.take(), state.older.is_some())
        };
        if let Some(listener) = listener {
            listener.abort();
        }
        if !older {
            let _ = timeout(DRAIN_TIMEOUT, async { while tasks.join_next().await.is_some() {} }).await;
        }
        tasks.shutdown().await;
    }

    /// Starts a task and waits, up to `limit`, until it drops its sender.
    async fn in_order<F: Future<Output = ()> + Send + 'static>(
        self: &Arc<Self>,
        tasks: &mut JoinSet<()>,
        limit: Duration,
        work: impl FnOnce(Arc<Self>, oneshot::Sender<()>) -> F,
    ) -> AbortHandle {
        let (done, is_done) = oneshot::channel();
        let handle = tasks.spawn(work(Arc::clone(self), done));
        let _ = timeout(limit, is_done).await;
        handle
    }

    fn listens(&self) -> bool {
        let state = self.state();
        !state.is_modern && state.older.is_none()
    }

    /// Cancels a request by closing its response stream (MCP 2026-07-28).
    fn cancel(&self, call: &Call) -> bool {
        let id = Envelope::scan(&call.message).params.and_then(|params| json::member(params, "requestId"));
        let Some(open) = id.and_then(|id| self.state().open.remove(id)) else { return false };
        open.abort();
        self.step("cancelled by closing the response stream");
        true
    }

    async fn request(self: Arc<Self>, call: Call) {
        self.request_and_report(&call).await;
        self.end_handshake(call.id.as_deref());
        if let Some(id) = &call.id {
            self.state().open.remove(id);
        }
    }

    /// Sends a batch with requests. If it fails, each of them does.
    async fn request_together(self: Arc<Self>, call: Call) {
        let Err(failure) = self.ask(&call).await else { return };
        self.lose(call.asked, failure).await;
    }

    async fn request_and_report(&self, call: &Call) {
        let mut failure = self.ask(call).await.err();
        if failure.as_ref().is_some_and(|failure| failure.code() == Some(errors::HEADER_MISMATCH))
            && self.learn_tool(call).await
        {
            let again = Call::read(call.message.to_vec(), &mut self.state());
            failure = self.ask(&again).await.err();
        }
        if let Some(failure) = failure {
            let failure = match call.method.as_str() {
                "initialize" if failure.may_be_older() => self.fall_back(call, failure).await.err(),
                _ => Some(failure),
            };
            if let Some(failure) = failure {
                self.give_up(call, failure).await;
            }
        }
    }

    /// Reads `tools/list` if the server rejected a tool call for missing headers that only the list defines (MCP
    /// 2026-07-28, headers of tool parameters). Returns whether it learned something new.
    async fn learn_tool(&self, call: &Call) -> bool {
        let params = Envelope::scan(&call.message).params.unwrap_or_default();
        let Some(tool) = json::str_member(params, "name").filter(|_| call.is_modern && call.method == "tools/call")
        else {
            return false;
        };
        let meta = String::from_utf8_lossy(json::member(params, "_meta").unwrap_or(b"{}"));
        if self.state().marks.knows(&tool) {
            return false;
        }
        self.step(format!("the server reports missing headers for {tool}; reading tools/list, then trying again"));
        let mut cursor = String::new();
        for _ in 0..MAX_PAGES {
            let message = format!(
                r#"{{"jsonrpc":"2.0","id":{OWN_ID},"method":"tools/list","params":{{{cursor}"_meta":{meta}}}}}"#
            );
            let list = Call::read(message.into_bytes(), &mut self.state());
            let is_read = self.exchange(&list).await.is_ok();
            let mut state = self.state();
            match state.cursor.take() {
                Some(next) if is_read && !state.marks.knows(&tool) => cursor = format!(r#""cursor":{next},"#),
                _ => return state.marks.knows(&tool),
            }
        }
        false
    }

    async fn ask(&self, call: &Call) -> Result<(), Failure> {
        let older = self.state().older.clone();
        match older {
            Some(endpoint) => self.hand_in(&endpoint, call).await,
            None => self.exchange(call).await,
        }
    }

    /// Reports a request that will not be answered.
    async fn give_up(&self, call: &Call, failure: Failure) {
        // An older server rejects the probe of the modern era; that needs no advice.
        let goes_on = call.method == "server/discover" && failure.may_be_older();
        if let Some(advice) = failure.advice.as_ref().filter(|_| !goes_on) {
            (self.report)(TransportNotice::Advice(advice));
        }
        let Some(id) = call.id.clone() else { return };
        self.end_handshake(Some(&id));
        self.lose([id], failure).await;
    }

    /// Reports that these requests will not be answered.
    async fn lose(&self, ids: impl IntoIterator<Item = Vec<u8>>, failure: Failure) {
        let Failure { reason, refusal, session_over, unreached, .. } = failure;
        for id in ids {
            let (reason, refusal) = (reason.clone(), refusal.clone());
            let lost = Undelivered { id, reason, refusal, session_over, unreached, unsent: Vec::new() };
            let _ = self.incoming.send(Incoming::Undelivered(lost)).await;
        }
    }

    /// Sends a request as one POST and reads its answer to the end.
    async fn exchange(&self, call: &Call) -> Result<(), Failure> {
        let answer = self.endpoint.ask(Method::POST, &call.headers, Some(call.message.clone())).await?;
        if !answer.status().is_success() {
            return Err(self.refused(answer, &call.method, &call.headers).await);
        }
        if call.method == "initialize" {
            let mut state = self.state();
            state.session = answer.head.headers.get(http::SESSION_ID).cloned();
        }
        match answer.media_type().as_str() {
            "text/event-stream" => self.follow(answer, Some(call)).await,
            "application/json" => self.read_body(answer, call).await,
            _ => Err(self.refused(answer, &call.method, &call.headers).await),
        }
    }

    async fn read_body(&self, answer: Answer, call: &Call) -> Result<(), Failure> {
        let (status, headers) = (answer.status(), answer.head.headers.clone());
        let broken = |why| Failure::new(format!("the answer to {} is incomplete: {why}", call.method));
        let body = answer.whole(self.limit).await.map_err(broken)?;
        let envelope = Envelope::scan(&body);
        let is_refusal = match envelope.kind {
            MessageKind::Error => envelope.error_code().is_none() || !call.is_answered_by(&envelope),
            kind => matches!(
                kind,
                MessageKind::Unclassified | MessageKind::Malformed | MessageKind::Noise | MessageKind::Blank
            ),
        };
        if is_refusal {
            let reported =
                format!("the server answered {} with {}", call.method, Refusal::read(status, &headers, &body));
            // A POST carries one request, so an error in its response is the answer even if its id differs.
            let refusal = envelope.error_code().is_some().then_some(body);
            return Err(Failure { refusal, ..Failure::new(reported) });
        }
        match self.take(body, Some(call)).await {
            true => Ok(()),
            false => Err(Failure::new(format!("the body of the server's response does not answer {}", call.method))),
        }
    }

    /// Passes on a message of the server, which may be a batch. Returns whether it answers this call.
    ///
    /// An error that violates JSON-RPC is not passed on as the answer, because clients ignore it and keep waiting.
    async fn take(&self, message: Vec<u8>, call: Option<&Call>) -> bool {
        if let Some(call) = call {
            let envelope = Envelope::scan(&message);
            if envelope.kind == MessageKind::Error && envelope.error_code().is_none() && call.is_answered_by(&envelope)
            {
                let words = in_words(&message);
                let reported =
                    format!("the server answered {} with an error that violates JSON-RPC: {words}", call.method);
                self.give_up(call, Failure::new(reported)).await;
                return true;
            }
        }
        let answers = call.is_some_and(|call| {
            let envelope = Envelope::scan(&message);
            if envelope.kind == MessageKind::Batch {
                return json::items(&message).any(|item| self.learn(call, &Envelope::scan(item)));
            }
            self.learn(call, &envelope)
        });
        self.note_handshake(&message);
        if !(answers && call.is_some_and(Call::is_own)) {
            let _ = self.incoming.send(Incoming::Message(message)).await;
        }
        answers
    }

    /// Stores what later messages depend on. Returns whether the message answers this call.
    fn learn(&self, call: &Call, envelope: &Envelope<'_>) -> bool {
        if !call.is_answered_by(envelope) {
            return false;
        }
        match (call.method.as_str(), envelope.result) {
            ("initialize", Some(result)) => {
                let version =
                    json::str_member(result, "protocolVersion").filter(|version| http::names_version(version));
                let mut state = self.state();
                (state.version, state.has_handshake) = (version.map(|version| version.into_owned()), true);
            }
            ("tools/list", Some(result)) if call.is_modern => {
                let mut state = self.state();
                state.marks.learn(result);
                let next = json::member(result, "nextCursor").filter(|next| call.is_own() && next.starts_with(b"\""));
                state.cursor = next.map(|next| String::from_utf8_lossy(next).into_owned());
            }
            _ => {}
        }
        true
    }

    /// Reads an event stream to its end, resuming it if necessary. Without a call, it is the GET stream.
    async fn follow(&self, mut answer: Answer, call: Option<&Call>) -> Result<(), Failure> {
        let mut place = StreamPosition::default();
        let mut fruitless = 0;
        let mut answered = false;
        loop {
            let before = place.last.clone();
            let end = self.receive(answer.events(self.limit), call, &mut place, &mut answered).await;
            if answered {
                return Ok(());
            }
            let reported = match call {
                Some(call) => format!("the stream {end} before the answer to {}", call.method),
                None => format!("the GET stream {end}"),
            };
            if matches!(end, NoEvent::TooLarge(_)) {
                return Err(Failure::new(reported));
            }
            let Some(last) = place.last.clone().filter(|_| !call.is_some_and(|call| call.is_modern)) else {
                return Err(Failure::new(reported));
            };
            if place.last != before {
                fruitless = 0;
            }
            answer = self.resume(&reported, &last, place.retry.unwrap_or(RETRY), &mut fruitless).await?;
        }
    }

    /// Passes on the messages of a stream until it ends.
    async fn receive(
        &self,
        mut events: Events,
        call: Option<&Call>,
        place: &mut StreamPosition,
        answered: &mut bool,
    ) -> NoEvent {
        loop {
            let block = match events.next().await {
                Ok(block) => block,
                Err(end) => return end,
            };
            let event = SseEvent::parse(&block);
            if let Some(id) = event.id {
                place.last = (!id.is_empty()).then(|| id.into_owned());
            }
            if let Some(retry) = event.retry {
                place.retry = Some(Duration::from_millis(retry));
            }
            let message = match carried(&block) {
                Carried::Message(message) => message.to_vec(),
                Carried::Joined(message) => message,
                Carried::Nothing => continue,
            };
            *answered |= self.take(message, call).await;
        }
    }

    /// Resumes a stream after this event (MCP 2025-03-26 to 2025-11-25, Resumability).
    async fn resume(
        &self,
        reported: &str,
        last: &str,
        retry: Duration,
        fruitless: &mut u32,
    ) -> Result<Answer, Failure> {
        loop {
            *fruitless += 1;
            if *fruitless > MAX_ATTEMPTS {
                return Err(Failure::new(format!("{reported}; {MAX_ATTEMPTS} attempts to resume it failed")));
            }
            self.step(format!("{reported}; resuming after event {last} in {retry:?}"));
            sleep(retry).await;
            let headers = self.state().headers();
            match self.get(Some(last)).await {
                Ok(answer) if answer.is_stream() => return Ok(answer),
                Ok(answer) => {
                    let refused = self.refused(answer, "the resuming GET", &headers).await;
                    // The server has accepted the request once; sending it again would execute it twice.
                    let reason = format!("{reported}; {}", refused.reason);
                    return Err(Failure { reason, session_over: false, ..refused });
                }
                Err(error) => self.step(error.to_string()),
            }
        }
    }

    async fn get(&self, last: Option<&str>) -> Result<Answer, HttpError> {
        let mut headers = self.state().headers();
        headers.insert(ACCEPT, EVENTS);
        if let Some(last) = last.and_then(|last| HeaderValue::from_bytes(last.as_bytes()).ok()) {
            headers.insert(LAST_EVENT, last);
        }
        self.endpoint.ask(Method::GET, &headers, None).await
    }

    /// Opens the stream for messages that belong to no request. Servers need not support it.
    async fn listen(&self, opened: oneshot::Sender<()>) {
        let ended = match self.get(None).await {
            Ok(answer) if answer.is_stream() => {
                drop(opened);
                self.step("GET → a stream for the server's own messages");
                self.follow(answer, None).await.err().map(|failure| failure.reason)
            }
            Ok(answer) => Some(format!("GET → {}; the server offers no GET stream", answer.status())),
            Err(error) => Some(error.to_string()),
        };
        if let Some(ended) = ended {
            self.step(ended);
        }
    }

    /// Sends a notification or a response to the server. A failure is only reported, because it fails no request.
    async fn notify(&self, call: Call, arrived: oneshot::Sender<()>) {
        let older = self.state().older.clone();
        let endpoint = older.as_ref().unwrap_or(&self.endpoint);
        let failure = match endpoint.ask(Method::POST, &call.headers, Some(call.message.clone())).await {
            Ok(answer) if answer.status().is_success() => {
                drop(arrived);
                // Read to the end, so that the connection can be reused.
                let _ = answer.whole(REFUSAL_LIMIT).await;
                return;
            }
            Ok(answer) => self.refused(answer, &call.method, &call.headers).await,
            Err(error) => error.into(),
        };
        (self.report)(TransportNotice::Trouble(&failure.reason));
        // Whoever sent something that is not a request may wait for a response nevertheless.
        let Failure { reason, refusal, unreached, .. } = failure;
        let lost = Undelivered { reason, refusal, unreached, ..Undelivered::default() };
        let _ = self.incoming.send(Incoming::Undelivered(lost)).await;
    }

    /// Interprets an unsuccessful response to a request with these headers.
    async fn refused(&self, answer: Answer, what: &str, asked: &HeaderMap) -> Failure {
        let status = answer.status();
        // A redirect to another origin leaves out the token.
        let elsewhere = Some(answer.endpoint.clone()).filter(|it| self.endpoint.has_login() && !it.has_login());
        let (refusal, body) = answer.refusal(REFUSAL_LIMIT, REFUSAL_TIME).await;
        let is_error = Envelope::scan(&body).error_code().is_some();
        let session = asked.get(http::SESSION_ID).filter(|_| status == StatusCode::NOT_FOUND);
        let session_over = session.is_some();
        let mut reason = format!("the server answered {what} with {refusal}");
        let mut advice = match status {
            StatusCode::UNAUTHORIZED if elsewhere.is_some() => elsewhere.map(|elsewhere| {
                let url = elsewhere.url();
                format!(
                    "the server redirects to {url}, which does not get your token; `mcpreel login {url}` logs in there"
                )
            }),
            StatusCode::UNAUTHORIZED if self.endpoint.has_login() => Some(REFUSED_LOGIN.to_owned()),
            StatusCode::FORBIDDEN if self.endpoint.has_login() && refusal.lacks_scopes() => {
                Some(MISSING_SCOPES.to_owned())
            }
            _ => refusal.advice(),
        };
        if session_over {
            let mut state = self.state();
            state.is_over |= state.session.as_ref() == session;
            reason = format!("the session is over: {reason}");
            advice = Some("the server no longer knows the session: was it restarted?".to_owned());
        } else if status == StatusCode::NOT_FOUND {
            let path = self.endpoint.url().path();
            advice = Some(format!("is the path right? It is {path}; often it is /mcp or /sse"));
        }
        let own_words = (is_error && !session_over).then_some(body);
        // The server's own error needs no advice, except that it never contains the authentication challenge.
        let advice = match &own_words {
            None => advice,
            Some(_) if status == StatusCode::UNAUTHORIZED => {
                advice.map(|advice| format!("{}: {advice}", refusal.head()))
            }
            Some(_) => None,
        };
        Failure { reason, advice, status: Some(status), refusal: own_words, session_over, unreached: false }
    }

    /// Ends the session, if there is one. A server may refuse this (MCP 2025-03-26 to 2025-11-25, Session Management).
    async fn end_session(&self) {
        let headers = {
            let state = self.state();
            if state.session.is_none() || state.is_over {
                return;
            }
            state.headers()
        };
        match timeout(DELETE_TIMEOUT, self.endpoint.ask(Method::DELETE, &headers, None)).await {
            Ok(Ok(answer)) => self.step(format!("DELETE → {}", answer.status())),
            Ok(Err(error)) => self.step(error.to_string()),
            Err(_) => self.step(format!("no response to DELETE within {DELETE_TIMEOUT:?}")),
        }
    }
}
