//! Runs a host-side engine on a link: sends its messages, passes it what arrives, and wakes it in time.

use super::sleep_until;
use crate::host::client::{
    Answer, ClientConfig, ClientEngine, FailureReason, Handshake, Output, Params, RequestHandle,
};
use crate::host::fire_user_message::{Output as FireOutput, UserMessageFire};
use crate::transport::client::waiting::Waiting;
use crate::transport::{Incoming, Link, Undelivered};
use crate::wire::Envelope;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::Instant;

/// A host-side engine, as its runner sees it.
pub(crate) trait Engine {
    /// The type of its outputs.
    type Output;

    /// Begins.
    fn start(&mut self, now: Duration) -> Vec<Self::Output>;
    /// Handles one message.
    fn receive(&mut self, now: Duration, message: &[u8]) -> Vec<Self::Output>;
    /// Handles a request that could not be delivered.
    fn undelivered(&mut self, now: Duration, lost: &Undelivered) -> Vec<Self::Output>;
    /// Does what is due.
    fn handle_timeout(&mut self, now: Duration) -> Vec<Self::Output>;
    /// When to call [`Self::wake`].
    fn next_timeout(&self) -> Option<Duration>;
    /// The other side closed the connection.
    fn closed(&mut self, now: Duration) -> Vec<Self::Output>;
    /// The connection failed.
    fn lost(&mut self, now: Duration, why: &str) -> Vec<Self::Output>;
    /// Whether an output is a message to send or something to report.
    fn sort(output: Self::Output) -> Sorted<Self::Output>;
}

/// A sorted output of an engine.
pub(crate) enum Sorted<O> {
    /// A message to send.
    Send(Vec<u8>),
    /// Something to report.
    Report(O),
}

/// Both host-side engines have methods of these names.
macro_rules! engine {
    ($engine:ty, $output:ty, $to_send:expr) => {
        impl Engine for $engine {
            type Output = $output;

            fn start(&mut self, now: Duration) -> Vec<$output> {
                Self::start(self, now)
            }

            fn receive(&mut self, now: Duration, message: &[u8]) -> Vec<$output> {
                Self::receive(self, now, message)
            }

            fn undelivered(&mut self, now: Duration, lost: &Undelivered) -> Vec<$output> {
                match lost.session_over {
                    true => Self::session_over(self, now, &lost.id, &lost.reason),
                    false => Self::undelivered(self, now, &lost.id, &lost.reason, lost.refusal.as_deref()),
                }
            }

            fn handle_timeout(&mut self, now: Duration) -> Vec<$output> {
                Self::handle_timeout(self, now)
            }

            fn next_timeout(&self) -> Option<Duration> {
                Self::next_timeout(self)
            }

            fn closed(&mut self, now: Duration) -> Vec<$output> {
                Self::closed(self, now)
            }

            fn lost(&mut self, now: Duration, why: &str) -> Vec<$output> {
                Self::lost(self, now, why)
            }

            fn sort(output: $output) -> Sorted<$output> {
                ($to_send)(output)
            }
        }
    };
}

engine!(ClientEngine, Output, |output| match output {
    Output::Send(message) => Sorted::Send(message),
    other => Sorted::Report(other),
});
engine!(UserMessageFire, FireOutput, |output| match output {
    FireOutput::Client(Output::Send(message)) => Sorted::Send(message),
    other => Sorted::Report(other),
});

/// An engine running on a link.
pub(crate) struct Runner<E: Engine> {
    /// The engine. Pass its outputs to [`Runner::take`].
    pub engine: E,
    link: Link,
    began: Instant,
    /// How long requests had waited for a token before.
    waited_before: Duration,
    outbox: VecDeque<Vec<u8>>,
    waiting: VecDeque<E::Output>,
    peer_gone: bool,
    /// How long [`Runner::close`] waits.
    patience: Duration,
    /// What the server wrote besides messages.
    pub said: ServerText,
}

/// How a connection ended.
pub(crate) struct Closing {
    /// Why it failed, if it did.
    pub failure: Option<String>,
    /// What the server wrote besides messages.
    pub said: ServerText,
}

/// What a server wrote besides messages, for error messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerText {
    /// The end of its standard error.
    pub stderr: Vec<u8>,
    /// The beginning of the first line on its standard output that cannot be JSON.
    pub printed: Option<Vec<u8>>,
    /// What came in place of a response. During the handshake, only responses that no request has.
    pub instead: Option<InsteadOfResponse>,
}

/// What a server sent while a request waited for its response. Only the first lines and ids are kept, cut.
#[derive(Clone, Debug, Default)]
pub(crate) struct InsteadOfResponse {
    /// The request's id, as it is on the wire; empty for the requests of the handshake.
    pub id: Vec<u8>,
    /// A line that is no JSON-RPC message.
    pub noise: Option<Vec<u8>>,
    /// The id of a response that no request has, as it is on the wire.
    pub stray: Option<Vec<u8>>,
}

impl InsteadOfResponse {
    /// The request is among these outputs.
    pub(crate) fn to_request(outputs: &[Output]) -> Self {
        let sent = outputs.iter().find_map(|output| match output {
            Output::Send(message) => Envelope::scan(message).id.map(|id| id.0.to_vec()),
            _ => None,
        });
        Self { id: sent.unwrap_or_default(), ..Self::default() }
    }

    /// Keeps what an output says of the reason.
    pub(crate) fn keep(&mut self, output: &Output) {
        let cut = |bytes: &[u8]| Some(bytes[..bytes.len().min(PRINTED_KEPT)].to_vec());
        match output {
            Output::Noise { message } if self.noise.is_none() => self.noise = cut(message.trim_ascii()),
            Output::Stray { message } if self.stray.is_none() => {
                self.stray = Envelope::scan(message).id.and_then(|id| cut(id.0));
            }
            _ => {}
        }
    }
}

impl ServerText {
    fn keep_stderr(&mut self, bytes: &[u8]) {
        self.stderr.extend_from_slice(bytes);
        let extra = self.stderr.len().saturating_sub(STDERR_KEPT);
        self.stderr.drain(..extra);
    }

    fn keep_printed(&mut self, line: &[u8]) {
        let line = line.trim_ascii();
        if self.printed.is_none() && !line.is_empty() && !line.starts_with(b"{") && !line.starts_with(b"[") {
            self.printed = Some(line[..line.len().min(PRINTED_KEPT)].to_vec());
        }
    }
}

/// How much of a line to keep for error messages, in bytes.
const PRINTED_KEPT: usize = 200;
/// How much of the server's standard error to keep for error messages, in bytes.
const STDERR_KEPT: usize = 4 << 10;
/// How long to wait for a server to finish once nothing more is sent to it.
const DELETE_TIMEOUT: Duration = Duration::from_secs(4);
/// The same after a request timed out: the user has waited long enough.
const SHORT_TIMEOUT: Duration = Duration::from_millis(500);

impl<E: Engine> Runner<E> {
    /// Starts the engine.
    pub(crate) async fn start(mut engine: E, link: Link) -> Self {
        let began = Instant::now();
        let waited_before = link.waiting().map_or(Duration::ZERO, |waiting| waiting.total(began));
        let first = engine.start(Duration::ZERO);
        let (outbox, waiting, said) = Default::default();
        let patience = DELETE_TIMEOUT;
        let mut runner = Self { engine, link, began, waited_before, outbox, waiting, peer_gone: false, patience, said };
        runner.take(first);
        runner
    }

    /// The engine's time. It stands still while a request waits for a token: the user who logs in has more time than a
    /// server, and latencies are those of the server.
    pub(crate) fn now(&self) -> Duration {
        let now = Instant::now();
        (now - self.began).saturating_sub(self.waited(now))
    }

    /// How long requests have waited for a token since the beginning.
    fn waited(&self, now: Instant) -> Duration {
        self.link.waiting().map_or(Duration::ZERO, |waiting| waiting.total(now).saturating_sub(self.waited_before))
    }

    /// Whether the engine's time stands still, and a future that completes when that may have changed.
    fn standstill(&self) -> (bool, impl Future<Output = ()> + use<E>) {
        let watched = self.link.waiting().map(Waiting::watch);
        let (is_still, changed) = watched.unzip();
        let changed = async move {
            match changed {
                Some(changed) => changed.await,
                None => std::future::pending().await,
            }
        };
        (is_still.unwrap_or_default(), changed)
    }

    /// Whether there is an output waiting for [`Runner::next`].
    pub(crate) fn has_more(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Queues outputs; [`Runner::next`] sends or returns them.
    pub(crate) fn take(&mut self, outputs: Vec<E::Output>) {
        for output in outputs {
            match E::sort(output) {
                Sorted::Send(message) => self.outbox.push_back(message),
                Sorted::Report(other) => self.waiting.push_back(other),
            }
        }
    }

    /// The next output to report; `None` at `until`, or once the other side is gone and everything is reported.
    pub(crate) async fn next(&mut self, until: Option<Duration>) -> Option<E::Output> {
        loop {
            if let Some(output) = self.waiting.pop_front() {
                return Some(output);
            }
            if self.peer_gone || until.is_some_and(|until| self.now() >= until) {
                return None;
            }
            let (is_still, changed) = self.standstill();
            let began = self.began + self.waited(Instant::now());
            let due = self.engine.next_timeout().into_iter().chain(until).min();
            let timer = due.filter(|_| !is_still).map(|at| began + at);
            // Wake the engine in time even if the other side does not read.
            let incoming = tokio::select! {
                incoming = self.link.turn(&mut self.outbox) => incoming,
                () = sleep_until(timer) => None,
                () = changed => None,
            };
            // Take the time before the message, so that the engine sees due timers first.
            let now = self.now();
            let mut outputs = self.engine.handle_timeout(now);
            match incoming {
                None => {}
                Some(Incoming::Message(message)) => {
                    self.said.keep_printed(&message);
                    outputs.extend(self.engine.receive(now, &message));
                }
                Some(Incoming::Undelivered(lost)) => outputs.extend(self.engine.undelivered(now, &lost)),
                Some(Incoming::Stderr(bytes)) => self.said.keep_stderr(&bytes),
                Some(Incoming::Closed) => {
                    self.peer_gone = true;
                    outputs.extend(self.engine.closed(now));
                }
                Some(Incoming::Failed(why)) => {
                    self.peer_gone = true;
                    outputs.extend(self.engine.lost(now, &why));
                }
            }
            self.take(outputs);
        }
    }

    /// Closes the connection and waits for the other side to end, for a limited time.
    pub(crate) async fn close(mut self) -> Closing {
        let failure = self.wait_for_end().await;
        Closing { failure, said: self.said }
    }

    /// The same, but waits at most this long.
    pub(crate) async fn close_within(self, patience: Duration) -> Closing {
        Self { patience: self.patience.min(patience), ..self }.close().await
    }

    async fn wait_for_end(&mut self) -> Option<String> {
        let grace_period = Instant::now() + self.patience;
        while !self.outbox.is_empty() && !self.peer_gone {
            tokio::select! {
                incoming = self.link.turn(&mut self.outbox) => match incoming {
                    Some(Incoming::Stderr(bytes)) => self.said.keep_stderr(&bytes),
                    incoming => self.peer_gone = incoming == Some(Incoming::Closed),
                },
                () = tokio::time::sleep_until(grace_period) => break,
            }
        }
        self.link.close();
        while !self.peer_gone {
            tokio::select! {
                incoming = self.link.receive() => match incoming {
                    Incoming::Closed => return None,
                    Incoming::Failed(why) => return Some(why),
                    Incoming::Stderr(bytes) => self.said.keep_stderr(&bytes),
                    // A notification, whose failure nothing else reports.
                    Incoming::Undelivered(lost) if lost.id.is_empty() && lost.refusal.is_none() => {
                        return Some(lost.reason);
                    }
                    _ => {}
                },
                () = tokio::time::sleep_until(grace_period) => return None,
            }
        }
        None
    }
}

/// Why a request got no response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    /// The request timed out.
    #[error("no response to {method} within {after:?}")]
    TimedOut {
        /// The method.
        method: String,
        /// The timeout.
        after: Duration,
    },
    /// The other side or the connection failed.
    #[error("{0}")]
    Failed(FailureReason),
}

/// A client's connection to one server, for one request after another.
pub(crate) struct Connection {
    /// The running engine.
    pub runner: Runner<ClientEngine>,
}

impl Connection {
    /// Begins to open a connection. `prepare` may configure the engine before it starts.
    pub(crate) async fn open(config: ClientConfig, link: Link, prepare: impl FnOnce(&mut ClientEngine)) -> Self {
        let mut engine = ClientEngine::new(config);
        prepare(&mut engine);
        Self { runner: Runner::start(engine, link).await }
    }

    /// Waits for the handshake. Passes everything else to `observer`.
    ///
    /// # Errors
    ///
    /// The connection failed, or the handshake timed out.
    pub(crate) async fn ready(&mut self, mut observer: impl FnMut(&Output)) -> Result<Handshake, Failure> {
        while let Some(output) = self.runner.next(None).await {
            // A response to none of the handshake's requests explains why they got none. Other lines are kept anyway.
            if matches!(output, Output::Stray { .. }) {
                self.runner.said.instead.get_or_insert_default().keep(&output);
            }
            match output {
                Output::Ready(handshake) => {
                    self.runner.said.instead = None;
                    return Ok(handshake);
                }
                Output::Failed { handle: None, reason } => return Err(Failure::Failed(reason)),
                // Only the handshake can be pending here.
                Output::TimedOut { method, after, .. } => {
                    self.runner.patience = SHORT_TIMEOUT;
                    return Err(Failure::TimedOut { method, after });
                }
                other => observer(&other),
            }
        }
        Err(Failure::Failed(FailureReason::closed_during_handshake()))
    }

    /// Sends a request and waits for the response. Passes everything else to `observer`.
    ///
    /// # Errors
    ///
    /// The request timed out, or the connection failed.
    pub(crate) async fn request(
        &mut self,
        method: &str,
        params: impl Into<Params>,
        observer: impl FnMut(&Output),
    ) -> Result<Answer, Failure> {
        let now = self.runner.now();
        let asked = self.runner.engine.request(now, method, params);
        self.answer(asked, method, observer).await
    }

    /// Like [`Self::request`], with its own timeout.
    ///
    /// # Errors
    ///
    /// The request timed out, or the connection failed.
    pub(crate) async fn request_within(
        &mut self,
        timeout: Duration,
        method: &str,
        params: impl Into<Params>,
        observer: impl FnMut(&Output),
    ) -> Result<Answer, Failure> {
        let now = self.runner.now();
        let asked = self.runner.engine.request_with_deadline(now, method, params, timeout);
        self.answer(asked, method, observer).await
    }

    async fn answer(
        &mut self,
        (handle, outputs): (RequestHandle, Vec<Output>),
        method: &str,
        mut observer: impl FnMut(&Output),
    ) -> Result<Answer, Failure> {
        self.runner.said.instead = Some(InsteadOfResponse::to_request(&outputs));
        self.runner.take(outputs);
        while let Some(output) = self.runner.next(None).await {
            self.runner.said.instead.iter_mut().for_each(|instead| instead.keep(&output));
            if let Some(settled) = settles(&output, handle) {
                if let Err(Failure::TimedOut { .. }) = settled {
                    self.runner.patience = SHORT_TIMEOUT;
                }
                return settled;
            }
            observer(&output);
        }
        Err(Failure::Failed(FailureReason::closed_before(method)))
    }

    /// Sends a notification.
    pub(crate) async fn notify(&mut self, method: &str, params: impl Into<Params>) {
        let now = self.runner.now();
        let outputs = self.runner.engine.notify(now, method, params);
        self.runner.take(outputs);
    }
}

/// What an output means for a pending request.
fn settles(output: &Output, handle: RequestHandle) -> Option<Result<Answer, Failure>> {
    match output {
        Output::Answered { handle: answered, message, latency, .. } if *answered == handle => {
            Some(Ok(Answer { message: message.clone(), latency: *latency }))
        }
        Output::TimedOut { handle: timed_out, method, after } if *timed_out == handle => {
            Some(Err(Failure::TimedOut { method: method.clone(), after: *after }))
        }
        Output::Failed { handle: failed, reason } if failed.is_none_or(|failed| failed == handle) => {
            Some(Err(Failure::Failed(reason.clone())))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::client::EraChoice;
    use crate::wire::json;

    /// A server in memory: answers each request by `answer`, or not at all if that returns `None`.
    async fn serve(mut link: Link, answer: impl Fn(&str, &str) -> Option<String>) {
        while let Incoming::Message(message) = link.receive().await {
            let envelope = Envelope::scan(&message);
            let (Some(id), Some(method)) = (envelope.id, envelope.method.as_deref()) else { continue };
            let id = String::from_utf8_lossy(id.0).into_owned();
            if let Some(answer) = answer(method, &id) {
                link.send(answer.into_bytes()).await;
            }
        }
    }

    fn legacy(method: &str, id: &str) -> Option<String> {
        let result = match method {
            "initialize" => r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s"}}"#,
            "silent" => return None,
            "ask" => r#"{"n":1.0}"#,
            _ => return Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"no"}}}}"#)),
        };
        Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
    }

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn a_connection_asks_and_receives_over_memory() {
        let (ours, theirs) = Link::pair();
        tokio::spawn(serve(theirs, legacy));
        let mut connection = Connection::open(ClientConfig::new("test", "1"), ours, |_| {}).await;
        let handshake = connection.ready(|_| {}).await.expect("opens");
        assert_eq!(handshake.version_text, "2025-11-25");
        let answer = connection.request("ask", Params::Absent, |_| {}).await.expect("answered");
        assert_eq!(json::at_path(&answer.message, &["result", "n"]), Some(&b"1.0"[..]));
        let failure = connection.request("silent", Params::Absent, |_| {}).await.expect_err("times out");
        assert!(matches!(failure, Failure::TimedOut { after, .. } if after == Duration::from_secs(30)));
    }

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn a_server_that_takes_nothing_and_asks_without_end_is_given_up_in_time() {
        let (ours, mut served) = Link::served();
        tokio::spawn(async move {
            let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
            while served.incoming.send(Incoming::Message(ping.to_vec())).await.is_ok() {}
            served.outgoing.recv().await
        });
        let config = ClientConfig { era: EraChoice::Legacy, ..ClientConfig::new("test", "1") };
        let mut connection = Connection::open(config, ours, |_| {}).await;
        let failure = connection.ready(|_| {}).await.expect_err("times out");
        assert!(matches!(failure, Failure::TimedOut { method, .. } if method == "initialize"));
        connection.runner.close().await;
    }

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn the_time_of_a_login_counts_neither_as_latency_nor_for_timeouts() {
        let (ours, mut theirs) = Link::pair();
        let waiting = Waiting::default();
        let of_server = waiting.clone();
        // It answers to `slow` after a second, before which the user takes five minutes to log in.
        tokio::spawn(async move {
            while let Incoming::Message(message) = theirs.receive().await {
                let envelope = Envelope::scan(&message);
                let (Some(id), Some(method)) = (envelope.id, envelope.method.as_deref()) else { continue };
                let id = String::from_utf8_lossy(id.0).into_owned();
                if matches!(method, "slow" | "silent") {
                    let login = of_server.begin();
                    tokio::time::sleep(Duration::from_secs(300)).await;
                    drop(login);
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                let answer = match method {
                    "slow" => Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)),
                    method => legacy(method, &id),
                };
                if let Some(answer) = answer {
                    theirs.send(answer.into_bytes()).await;
                }
            }
        });
        let link = ours.with_login(Some(&waiting));
        let mut connection = Connection::open(ClientConfig::new("test", "1"), link, |_| {}).await;
        connection.ready(|_| {}).await.expect("opens");
        let answer = connection.request("slow", Params::Absent, |_| {}).await.expect("answered");
        assert_eq!(answer.latency, Duration::from_secs(1));
        let began = Instant::now();
        let limit = Duration::from_secs(7);
        let late = connection.request_within(limit, "silent", Params::Absent, |_| {}).await.expect_err("times out");
        assert!(matches!(late, Failure::TimedOut { .. }));
        assert_eq!(began.elapsed(), Duration::from_secs(307));
    }

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn an_id_of_another_type_in_the_handshake_is_kept() {
        let (ours, theirs) = Link::pair();
        tokio::spawn(serve(theirs, |_, id| Some(format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{}}}}"#))));
        let mut connection = Connection::open(ClientConfig::new("test", "1"), ours, |_| {}).await;
        connection.ready(|_| {}).await.expect_err("times out");
        let instead = connection.runner.said.instead.expect("a response came");
        assert!(instead.stray.is_some_and(|id| id.starts_with(b"\"")) && instead.id.is_empty());
    }

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn what_came_in_place_of_a_response_is_kept() {
        let (ours, theirs) = Link::pair();
        tokio::spawn(serve(theirs, |method, id| match method {
            "ask" => Some(format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{}}}}"#)),
            "log" => Some("{ready".to_owned()),
            method => legacy(method, id),
        }));
        let mut connection = Connection::open(ClientConfig::new("test", "1"), ours, |_| {}).await;
        connection.ready(|_| {}).await.expect("opens");
        assert!(connection.runner.said.instead.is_none());
        connection.request("ask", Params::Absent, |_| {}).await.expect_err("times out");
        let instead = connection.runner.said.instead.clone().expect("a request was sent");
        let id = String::from_utf8(instead.id).expect("a number");
        assert_eq!(instead.stray, Some(format!("\"{id}\"").into_bytes()));
        assert_eq!(instead.noise, None);
        connection.request("log", Params::Absent, |_| {}).await.expect_err("times out");
        let instead = connection.runner.said.instead.clone().expect("a request was sent");
        assert_eq!((instead.stray, instead.noise), (None, Some(b"{ready".to_vec())));
    }

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn what_is_still_to_be_sent_goes_out_before_the_end() {
        let (ours, mut theirs) = Link::pair();
        let mut connection = Connection::open(ClientConfig::new("test", "1"), ours, |_| {}).await;
        connection.runner.take(vec![Output::Send(b"last".to_vec())]);
        connection.runner.close().await;
        let mut received = Vec::new();
        while let Incoming::Message(message) = theirs.receive().await {
            received.push(message);
        }
        assert_eq!((received.len(), received.last().map(Vec::as_slice)), (2, Some(&b"last"[..])));
    }

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn a_server_that_goes_away_is_reported() {
        let (ours, theirs) = Link::pair();
        drop(theirs);
        let mut connection = Connection::open(ClientConfig::new("test", "1"), ours, |_| {}).await;
        assert!(matches!(connection.ready(|_| {}).await, Err(Failure::Failed(_))));
    }
}
