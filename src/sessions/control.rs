//! The control socket of a live session, through which other processes query the session and inject messages into it.
//!
//! `docs/control.md` describes the protocol. The socket in the folder only sends a greeting that names an abstract
//! socket, where callers talk to the session; handlers of subscriptions cannot connect there. Each connection has a
//! reading and a writing thread. The queue of unwritten lines is bounded, and a caller that does not read is
//! disconnected. Nothing here ever blocks a relay.
//!
//! Never interprets messages beyond their envelopes.

use super::answers::{AnswerEvent, Answers, PendingAnswer};
use super::injection::request_id;
use crate::error::Warn;
use crate::process::supervisor::NO_HANDLERS;
use crate::process::threads;
use crate::sessions::recording_status::RecordingStatus;
use crate::sessions::sockets::{RejectedPeer, VERSION, admit, bind_abstract};
use crate::wire::Direction;
use crate::wire::units::millis;
use parking_lot::{Condvar, Mutex};
use rustix::event::{PollFd, PollFlags, poll};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The maximum length of a request line (16 MiB).
pub(crate) const MAX_LINE_BYTES: usize = 16 << 20;

/// The maximum number of simultaneous connections.
pub(crate) const MAX_CONNECTIONS: usize = 16;

/// A caller with more unread bytes than this (16 MiB and one answer) is disconnected.
const MAX_UNREAD: usize = 16 << 20;

/// The default time limit for an answer.
const DEFAULT_WAIT: Duration = Duration::from_secs(30);
/// The maximum time limit for an answer.
const MAX_WAIT: Duration = Duration::from_secs(24 * 3600);

/// How long to wait for the end of a peer's line before injecting a message.
const GRACE_PERIOD: Duration = Duration::from_secs(5);

/// Called with each result of a `fire` request, and whether it is the last one.
pub type FireReportCallback = Box<dyn Fn(Value, bool) + Send>;

/// How far an injected message got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InjectionProgress {
    /// It is on its way to the peer.
    Written,
    /// It waits in the session's bounded queue.
    Queued,
}

/// What a live session can do for connected callers.
pub trait Session: Send + Sync {
    /// Injects a message into the live connection by `deadline`.
    ///
    /// # Errors
    /// The reason, as a sentence.
    fn put(
        &self,
        toward: Direction,
        stream: u32,
        message: &[u8],
        deadline: Instant,
    ) -> Result<InjectionProgress, String>;

    /// Makes the session's own server fire an event.
    ///
    /// # Errors
    /// The session has no server of mcpreel's own, or cannot fire this event.
    fn fire(&self, stream: u32, fired: Value, received: FireReportCallback) -> Result<(), String> {
        let _ = (stream, fired, received);
        Err("only a session of `serve` can fire events; send the message instead".to_owned())
    }

    /// What is currently known of the session, in addition to what was known at its start.
    fn details(&self) -> Map<String, Value> {
        Map::new()
    }
}

/// Chooses the stream: `named`, or if that is 0 the only open one. `none` is the error if no stream is open.
///
/// # Errors
/// No stream can be chosen.
pub(crate) fn choose(named: u32, streams: &[u32], none: &str) -> Result<u32, String> {
    match (named, streams) {
        (0, []) => Err(none.to_owned()),
        (0, [only]) => Ok(*only),
        (0, [first, ..]) => {
            let names: Vec<String> = streams.iter().map(u32::to_string).collect();
            Err(format!(
                "there are several sessions: {}; choose one, for example with --session NAME#{first}",
                names.join(", ")
            ))
        }
        (named, all) if all.contains(&named) => Ok(named),
        (named, _) => Err(format!("stream {named} has no open connection")),
    }
}

/// A listening socket and what it reports about its session.
pub struct Control {
    /// The listening socket.
    pub listener: UnixListener,
    /// The members of `info`, without the protocol version and members that change.
    pub info: Map<String, Value>,
    /// The recording's status, if the session is recorded.
    pub recording: Option<Arc<RecordingStatus>>,
    /// Called with warnings for the session's user.
    pub warn: Warn,
}

impl Control {
    /// Starts answering on the socket, on threads of its own. If that fails, it is reported, and the session continues
    /// without it.
    pub fn start(self, session: Arc<dyn Session>, answers: Arc<Answers>) {
        let warn = self.warn;
        if let Err(error) = self.answer(session, answers) {
            warn(&format!("other commands cannot use this session: {error}"));
        }
    }

    fn answer(self, session: Arc<dyn Session>, answers: Arc<Answers>) -> io::Result<()> {
        let Self { listener, mut info, recording, warn } = self;
        listener.set_nonblocking(true)?;
        info.insert("version".to_owned(), VERSION.into());
        let shared = Arc::new(ConnectionContext {
            info,
            recording,
            session,
            answers,
            connected: AtomicUsize::new(0),
            owners: AtomicU64::new(0),
        });
        let mut acceptor = Acceptor { public_listener: listener, abstract_listener: None, warn, has_warned: false };
        threads::start("control", move || {
            loop {
                match acceptor.next() {
                    Ok(Some(stream)) => start_connection(&shared, stream),
                    Ok(None) => {}
                    // Possibly out of descriptors, which the traffic needs more than a caller does.
                    Err(_) => std::thread::sleep(Duration::from_millis(100)),
                }
            }
        })?;
        Ok(())
    }
}

/// Accepts callers.
struct Acceptor {
    /// The socket in the folder, which only sends a greeting.
    public_listener: UnixListener,
    /// The name and listener of the abstract socket, once a caller has connected.
    abstract_listener: Option<(String, UnixListener)>,
    warn: Warn,
    has_warned: bool,
}

impl Acceptor {
    /// Waits for the next caller; returns it if it may talk to the session.
    fn next(&mut self) -> io::Result<Option<UnixStream>> {
        let mut listeners = vec![PollFd::new(&self.public_listener, PollFlags::IN)];
        listeners.extend(
            self.abstract_listener.as_ref().map(|(_, abstract_listener)| PollFd::new(abstract_listener, PollFlags::IN)),
        );
        match poll(&mut listeners, None) {
            Err(rustix::io::Errno::INTR) => return Ok(None),
            polled => polled?,
        };
        let needs_greeting = !listeners[0].revents().is_empty();
        let came = if needs_greeting { self.public_listener.accept() } else { self.accept() };
        let stream = match came {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            came => came?.0,
        };
        let refused = admit(&stream).err();
        let reported = match refused {
            None if !needs_greeting => return Ok(Some(stream)),
            None => self.greeting()?,
            Some(rejected) => self.refusal(rejected),
        };
        // One short line; a caller whose buffer is full does not get it.
        stream.set_nonblocking(true)?;
        let _ = writeln!(&stream, "{reported}");
        Ok(None)
    }

    fn accept(&self) -> io::Result<(UnixStream, std::os::unix::net::SocketAddr)> {
        self.abstract_listener.as_ref().ok_or(io::ErrorKind::WouldBlock)?.1.accept()
    }

    fn greeting(&mut self) -> io::Result<Value> {
        if self.abstract_listener.is_none() {
            let (name, abstract_listener) = bind_abstract()?;
            abstract_listener.set_nonblocking(true)?;
            self.abstract_listener = Some((name, abstract_listener));
        }
        let name = self.abstract_listener.as_ref().map(|(name, _)| name.as_str());
        // Callers of protocol version 1 read this as an error.
        let why = "connect to this session's abstract socket instead (version 2 of the control protocol)";
        Ok(json!({"version": VERSION, "abstract": name, "failed": why}))
    }

    fn refusal(&mut self, rejected: RejectedPeer) -> Value {
        let why = match rejected {
            RejectedPeer::User => "this session belongs to another user",
            RejectedPeer::Gone => "the calling process has exited",
            RejectedPeer::Handler(pid) => {
                if !std::mem::replace(&mut self.has_warned, true) {
                    let who = format!("a handler of a subscription (process {pid})");
                    (self.warn)(&format!("{who} tried to use this session's control socket and was refused"));
                }
                NO_HANDLERS
            }
        };
        json!({"version": VERSION, "failed": why})
    }
}

/// The data shared by all connections.
struct ConnectionContext {
    info: Map<String, Value>,
    recording: Option<Arc<RecordingStatus>>,
    session: Arc<dyn Session>,
    answers: Arc<Answers>,
    connected: AtomicUsize,
    owners: AtomicU64,
}

/// A request. The caller's `tag` is copied into its answers.
#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
enum Request {
    Info,
    Send {
        toward: Recipient,
        #[serde(default)]
        stream: u32,
        message: String,
        wait_ms: Option<u64>,
    },
    Fire {
        #[serde(default)]
        stream: u32,
        fire: Value,
    },
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Recipient {
    Server,
    Client,
}

/// Starts serving a connection, unless there are too many.
fn start_connection(shared: &Arc<ConnectionContext>, mut stream: UnixStream) {
    if shared.connected.fetch_add(1, Ordering::AcqRel) >= MAX_CONNECTIONS {
        shared.connected.fetch_sub(1, Ordering::AcqRel);
        let reported =
            json!({"failed": format!("this session already has {MAX_CONNECTIONS} connections, the maximum")});
        let _ = writeln!(stream, "{reported}");
        return;
    }
    let owner = shared.owners.fetch_add(1, Ordering::Relaxed);
    let theirs = Arc::clone(shared);
    let spawned = threads::start("controller", move || {
        let _ = serve_connection(&theirs, owner, stream);
        theirs.answers.give_up(owner, None);
        theirs.connected.fetch_sub(1, Ordering::AcqRel);
    });
    if spawned.is_err() {
        shared.connected.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Serves one connection to its end.
fn serve_connection(shared: &Arc<ConnectionContext>, owner: u64, stream: UnixStream) -> io::Result<()> {
    let outbox = Arc::new(Outbox::new(stream.try_clone()?));
    let (to_write, answers) = (Arc::clone(&outbox), Arc::clone(&shared.answers));
    let twin = stream.try_clone()?;
    let writer = threads::start("controller", move || to_write.write_out(twin, &answers, owner))?;
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        match read_line(&mut reader, &mut line) {
            Ok(Line::Whole) => take(shared, owner, &line, &outbox),
            Ok(Line::TooLong) => {
                outbox.push(&json!({"failed": format!("a line may have at most {MAX_LINE_BYTES} bytes")}));
                break;
            }
            Ok(Line::End) | Err(_) => break,
        }
    }
    outbox.end();
    let _ = writer.join();
    Ok(())
}

enum Line {
    Whole,
    TooLong,
    End,
}

/// Reads the next line into `line`, without its end.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Line> {
    line.clear();
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok(Line::End);
        }
        let end = memchr::memchr(b'\n', bytes);
        let taken = end.unwrap_or(bytes.len());
        line.extend_from_slice(&bytes[..taken]);
        reader.consume(taken + usize::from(end.is_some()));
        if line.len() > MAX_LINE_BYTES {
            return Ok(Line::TooLong);
        }
        if end.is_some() {
            return Ok(Line::Whole);
        }
    }
}

/// Handles one request.
fn take(shared: &ConnectionContext, owner: u64, line: &[u8], outbox: &Arc<Outbox>) {
    if line.trim_ascii().is_empty() {
        return;
    }
    let asked: Result<Value, _> = serde_json::from_slice(line);
    let tag = asked.as_ref().map_or(Value::Null, |asked| asked["tag"].clone());
    let request = asked.and_then(Request::deserialize);
    let failed = match request {
        Err(error) => Err(format!("invalid request: {error}")),
        Ok(Request::Info) => {
            let mut reported = shared.info.clone();
            reported.extend(shared.recording.iter().flat_map(|recording| recording.details()));
            reported.extend(shared.session.details());
            reported.insert("injected_waiting".into(), shared.answers.waiting_streams().into());
            outbox.push(&json!({"tag": tag, "info": reported}));
            Ok(())
        }
        Ok(Request::Send { toward, stream, message, wait_ms }) => {
            let toward = match toward {
                Recipient::Server => Direction::ClientToServer,
                Recipient::Client => Direction::ServerToClient,
            };
            let wait = wait_ms.map_or(DEFAULT_WAIT, Duration::from_millis).min(MAX_WAIT);
            send(shared, owner, (stream, toward), message.as_bytes(), wait, &tag, outbox)
        }
        Ok(Request::Fire { stream, fire }) => {
            let (outbox, tag) = (Arc::clone(outbox), tag.clone());
            let received = move |report, last| outbox.push(&json!({"tag": tag, "fact": report, "last": last}));
            shared.session.fire(stream, fire, Box::new(received))
        }
    };
    if let Err(why) = failed {
        outbox.push(&json!({"tag": tag, "failed": why}));
    }
}

/// Injects a message. A request is registered first, so that even an immediate answer is recognised.
fn send(
    shared: &ConnectionContext,
    owner: u64,
    (stream, toward): (u32, Direction),
    message: &[u8],
    wait: Duration,
    tag: &Value,
    outbox: &Arc<Outbox>,
) -> Result<(), String> {
    let id = request_id(message).map_err(|refused| refused.to_string())?;
    let now = Instant::now();
    let put = || shared.session.put(toward, stream, message, now + wait.min(GRACE_PERIOD));
    let Some(id) = id else {
        outbox.push(&match put()? {
            InjectionProgress::Written => json!({"tag": tag, "sent": true}),
            InjectionProgress::Queued => json!({"tag": tag, "queued": true}),
        });
        return Ok(());
    };
    let (theirs, tag) = (Arc::clone(outbox), tag.clone());
    let deliver = move |came: AnswerEvent<'_>| {
        theirs.push(&match came {
            AnswerEvent::Before(text) => json!({"tag": tag, "before": String::from_utf8_lossy(text)}),
            AnswerEvent::Answer(text) => {
                let latency = millis(now.elapsed());
                json!({"tag": tag, "answer": String::from_utf8_lossy(text), "latency_ms": latency})
            }
            AnswerEvent::Nothing => {
                json!({"tag": tag, "failed": format!("no response within {wait:?}"), "timed_out": true})
            }
        });
    };
    let key = (stream, toward, id);
    let waiting = PendingAnswer { owner, until: now + wait, deliver: Arc::new(deliver) };
    shared.answers.ask(key.clone(), waiting).map_err(|refused| refused.to_string())?;
    outbox.look();
    // If the request was given up meanwhile, that has been reported.
    put().map(drop).or_else(|why| if shared.answers.forget(&key) { Err(why) } else { Ok(()) })
}

/// The lines that wait to be written to one connection.
struct Outbox {
    state: Mutex<Unread>,
    changed: Condvar,
    stream: UnixStream,
}

#[derive(Default)]
struct Unread {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    ended: bool,
    /// The writer must recompute the next deadline.
    look: bool,
}

impl Outbox {
    fn new(stream: UnixStream) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), stream }
    }

    /// Adds a line without ever waiting: a caller that does not read is disconnected.
    fn push(&self, reported: &Value) {
        let mut state = self.state.lock();
        if state.ended {
            return;
        }
        if state.bytes > MAX_UNREAD {
            *state = Unread { ended: true, ..Unread::default() };
            let _ = self.stream.shutdown(Shutdown::Both);
        } else {
            let line = format!("{reported}\n").into_bytes();
            state.bytes += line.len();
            state.lines.push_back(line);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Tells the writer that there may be an earlier deadline.
    fn look(&self) {
        self.state.lock().look = true;
        self.changed.notify_all();
    }

    /// Ends the queue; the remaining lines are still written.
    fn end(&self) {
        self.state.lock().ended = true;
        self.changed.notify_all();
    }

    /// The writing thread: writes lines as they are added, and gives up overdue requests.
    fn write_out(&self, mut stream: UnixStream, answers: &Answers, owner: u64) {
        loop {
            answers.give_up(owner, Some(Instant::now()));
            let due = answers.next_deadline(owner);
            let mut state = self.state.lock();
            if let Some(line) = state.lines.pop_front() {
                drop(state);
                if stream.write_all(&line).is_err() {
                    let _ = self.stream.shutdown(Shutdown::Both);
                    return self.end();
                }
                let mut state = self.state.lock();
                state.bytes = state.bytes.saturating_sub(line.len());
                continue;
            }
            if state.ended {
                let _ = self.stream.shutdown(Shutdown::Both);
                return;
            }
            if std::mem::take(&mut state.look) {
                continue;
            }
            let left = due.map(|due| due.saturating_duration_since(Instant::now()));
            match left {
                None => self.changed.wait(&mut state),
                Some(left) => drop(self.changed.wait_for(&mut state, left)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::injection::Filtered;

    /// A session that stores injected messages and never answers by itself.
    #[derive(Default)]
    struct Kept(Mutex<Vec<String>>);

    impl Session for Kept {
        fn put(&self, toward: Direction, stream: u32, message: &[u8], _: Instant) -> Result<InjectionProgress, String> {
            if stream > 0 {
                return Err("there is no such stream".to_owned());
            }
            let text = format!("{} {}", toward.short(), String::from_utf8_lossy(message));
            self.0.lock().push(text);
            Ok(InjectionProgress::Written)
        }
    }

    struct Stage {
        session: Arc<Kept>,
        answers: Arc<Answers>,
        reader: BufReader<UnixStream>,
    }

    impl Stage {
        fn new() -> Self {
            let (ours, theirs) = UnixStream::pair().expect("a pair");
            let (session, answers) = (Arc::new(Kept::default()), Arc::new(Answers::default()));
            let shared = Arc::new(ConnectionContext {
                info: json!({"name": "s"}).as_object().expect("an object").clone(),
                recording: None,
                session: Arc::clone(&session) as Arc<dyn Session>,
                answers: Arc::clone(&answers),
                connected: AtomicUsize::new(0),
                owners: AtomicU64::new(0),
            });
            start_connection(&shared, theirs);
            Self { session, answers, reader: BufReader::new(ours) }
        }

        fn report(&mut self, request: &Value) {
            writeln!(self.reader.get_mut(), "{request}").expect("written");
        }

        fn receive(&mut self) -> Value {
            let mut line = String::new();
            self.reader.read_line(&mut line).expect("read");
            serde_json::from_str(&line).unwrap_or(Value::Null)
        }

        fn ask(&mut self, request: &Value) -> Value {
            self.report(request);
            self.receive()
        }
    }

    const ASK: &str = r#"{"jsonrpc":"2.0","id":"mcpreel-0123abcd-1","method":"ping"}"#;

    #[test]
    fn info_sends_and_refusals_come_with_their_tags() {
        let mut stage = Stage::new();
        assert_eq!(
            stage.ask(&json!({"op": "info", "tag": 1})),
            json!({"tag": 1, "info": {"name": "s", "injected_waiting": []}})
        );
        let note = json!({"op": "send", "toward": "client", "message": "{}", "tag": "t"});
        assert_eq!(stage.ask(&note), json!({"tag": "t", "sent": true}));
        assert_eq!(stage.session.0.lock()[..], ["s2c {}"]);
        for (request, why) in [
            (json!({"op": "dance"}), "dance"),
            (json!({"op": "send", "toward": "client", "message": "{}", "stream": 7}), "no such stream"),
            (json!({"op": "send", "toward": "client", "message": "{\"id\":1,\"method\":\"m\"}"}), "mcpreel-"),
            (json!({"op": "fire", "fire": {}}), "serve"),
        ] {
            let reported = stage.ask(&request);
            assert!(reported["failed"].as_str().is_some_and(|text| text.contains(why)), "{reported}");
        }
    }

    #[test]
    fn an_answer_goes_to_who_asked() {
        let mut stage = Stage::new();
        stage.report(&json!({"op": "send", "toward": "server", "message": ASK, "tag": 7}));
        while !stage.answers.awaits(Direction::ServerToClient) {
            std::thread::yield_now();
        }
        let answer = br#"{"id":"mcpreel-0123abcd-1","result":{}}"#;
        match stage.answers.filter(0, Direction::ServerToClient, answer) {
            Filtered::RemovedAnswer(taken) => Answers::deliver(taken),
            _ => panic!("not taken"),
        }
        let received = stage.receive();
        assert_eq!((&received["tag"], received["answer"].as_str()), (&json!(7), std::str::from_utf8(answer).ok()));
        assert!(received["latency_ms"].is_number());
    }

    #[test]
    fn what_is_not_answered_in_time_is_reported_and_taken_out_later_all_the_same() {
        let mut stage = Stage::new();
        let reported = stage.ask(&json!({"op": "send", "toward": "server", "message": ASK, "wait_ms": 0, "tag": 1}));
        assert_eq!((&reported["timed_out"], &reported["tag"]), (&json!(true), &json!(1)), "{reported}");
        assert!(stage.answers.awaits(Direction::ServerToClient));
        let late = stage.answers.filter(0, Direction::ServerToClient, br#"{"id":"mcpreel-0123abcd-1","result":{}}"#);
        assert!(matches!(late, Filtered::RemovedAnswer(taken) if taken[0].waiting.is_none()));
    }

    #[test]
    fn who_does_not_read_is_let_go() {
        let (_ours, theirs) = UnixStream::pair().expect("a pair");
        let outbox = Outbox::new(theirs);
        let long = Value::from("x".repeat(MAX_UNREAD));
        outbox.push(&long);
        assert_eq!(outbox.state.lock().lines.len(), 1);
        outbox.push(&Value::Null);
        assert!(outbox.state.lock().ended && outbox.state.lock().lines.is_empty());
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let mut stage = Stage::new();
        let mut into = stage.reader.get_ref().try_clone().expect("a twin");
        std::thread::spawn(move || {
            let _ = into.write_all(&vec![b'x'; MAX_LINE_BYTES + 2]);
        });
        let reported = stage.receive();
        assert!(reported["failed"].as_str().is_some_and(|text| text.contains("16777216")), "{reported}");
    }
}
