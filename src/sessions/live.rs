//! Live sessions: the socket of a new session, finding a session by its name, and the handshake in its reel.

use crate::error::{CommandError, ErrorKind, Warn};
use crate::files::places::{Kind, Places, listed};
use crate::host::client::Answer;
use crate::host::client::{Handshake, Joined};
use crate::protocol::Era;
use crate::protocol::revision::meta;
use crate::session::Tracker;
use crate::sessions::answers::Answers;
use crate::sessions::control::{Control, Session};
use crate::sessions::injection::MARK;
use crate::sessions::recording_status::RecordingStatus;
use crate::sessions::sockets::{self, BoundSocket, SocketError};
use crate::trace::{EventHeader, Item, ReelReader};
use crate::transport::Link;
use crate::wire::{Envelope, MessageKind, json};
use serde_json::{Map, Value, json};
use std::io::ErrorKind::{TimedOut, WouldBlock};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a new session says about itself.
pub(crate) struct About {
    /// The preferred short name.
    pub name: String,
    /// `record`, `overlay`, `host` or `serve`.
    pub role: &'static str,
    /// The server: its command without secrets, or its URL.
    pub server: String,
    /// The transport to the client: `stdio`, `http`.
    pub transport: &'static str,
    /// The URL at which clients reach the server through this session, if it listens.
    pub listen: Option<String>,
    /// The state of the recording, if there is one.
    pub recording: Option<Arc<RecordingStatus>>,
}

/// Creates the socket of a new session, and responds on it until the returned value is dropped. Returns `None` if the
/// socket cannot be created, which is only reported.
pub(crate) fn open(about: About, session: Arc<dyn Session>, answers: &Arc<Answers>, warn: Warn) -> Option<BoundSocket> {
    let (bound, control) = open_socket(about, warn).unzip();
    if let Some(control) = control {
        control.start(session, Arc::clone(answers));
    }
    bound
}

/// Creates the socket of a new session. If that fails, it is reported and the session continues without it.
pub(crate) fn open_socket(about: About, warn: Warn) -> Option<(BoundSocket, Control)> {
    let plain = |found: &char| found.is_ascii_alphanumeric() || matches!(found, '-' | '_' | '.');
    let name: String = about.name.chars().filter(plain).take(40).collect();
    let name = name.trim_matches('.');
    let places = Places::here();
    let folder = places.sockets();
    let (bound, listener) = match sockets::bind(&folder, if name.is_empty() { "session" } else { name }) {
        Ok(bound) => {
            places.note(Kind::Sockets, &folder);
            bound
        }
        Err(error) => {
            let next = remedy(&error);
            warn(&format!("other commands cannot use this session (no control socket): {error}; {next}"));
            return None;
        }
    };
    let mut info = Map::new();
    info.insert("name".into(), bound.name.clone().into());
    info.insert("role".into(), about.role.into());
    info.insert("pid".into(), std::process::id().into());
    info.insert("started".into(), jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string().into());
    info.insert("server".into(), about.server.into());
    info.insert("transport".into(), about.transport.into());
    info.extend(about.listen.map(|url| ("listen".to_owned(), url.into())));
    info.insert("reel".into(), Value::Null);
    Some((bound, Control { listener, info, recording: about.recording, warn }))
}

fn remedy(error: &SocketError) -> &'static str {
    match error {
        SocketError::NotOurs(..) => "make it your own with mode 0700, or choose another folder with MCPREEL_HOME",
        SocketError::TooLong(_) => "choose a folder with a shorter path with XDG_RUNTIME_DIR or MCPREEL_HOME",
        SocketError::System(..) => "choose another folder with XDG_RUNTIME_DIR or MCPREEL_HOME",
    }
}

/// A live session.
pub(crate) struct Live {
    /// Its name.
    pub name: String,
    /// Its socket.
    pub socket: PathBuf,
    /// What it says about itself; empty if it does not respond.
    pub info: Map<String, Value>,
    /// Why it does not respond, if so.
    pub silence: String,
    /// The stream that the user named, if it has several; else 0.
    pub stream: u32,
}

impl Live {
    /// A text member of what it says about itself.
    pub(crate) fn text(&self, member: &str) -> Option<&str> {
        self.info.get(member)?.as_str()
    }

    /// The numbers of its open streams, if it can have several.
    pub(crate) fn streams(&self) -> Option<Vec<u32>> {
        let streams = self.info.get("streams")?.as_array()?;
        Some(streams.iter().filter_map(Value::as_u64).filter_map(|number| u32::try_from(number).ok()).collect())
    }

    /// The path of its reel.
    ///
    /// # Errors
    ///
    /// It has no reel that can be read.
    pub(crate) fn reel(&self) -> Result<PathBuf, CommandError> {
        self.text("reel").map(PathBuf::from).ok_or_else(|| {
            let why = match self.text("role") {
                Some("serve") => "it is a server that is not recorded",
                _ if records_nothing(&self.info) => "it cannot be recorded; `mcpreel sessions` says why",
                _ => "it writes its reel to a pipe",
            };
            CommandError::usage(format!("the session {} has no reel to read: {why}", self.name))
                .hint("record a session to a file: mcpreel record -- SERVER-COMMAND")
        })
    }

    /// The reel that it records to now, if that is a different file from this one (device and inode). While nothing is
    /// recorded, because the reel was removed, a file with its name may be anyone's, or one that the recorder begins.
    pub(crate) fn other_reel(&self, followed: (u64, u64)) -> Option<PathBuf> {
        let info = sockets::info(&self.socket).ok().filter(|info| !records_nothing(info))?;
        let current = PathBuf::from(info.get("reel")?.as_str()?);
        (crate::files::reels::identity(&current)? != followed).then_some(current)
    }

    /// Whether it is still running. Its process id does not show that, because a dead process may not have been
    /// reaped.
    pub(crate) fn lives(&self) -> bool {
        std::os::unix::net::UnixStream::connect(&self.socket).is_ok()
    }
}

/// Whether a session with this information cannot write to its reel.
fn records_nothing(info: &Map<String, Value>) -> bool {
    info.get("recording").is_some_and(|recording| recording["active"] == false)
}

fn reported(error: &SocketError) -> CommandError {
    CommandError::usage(format!("cannot look up live sessions: {error}")).hint(remedy(error))
}

/// All live sessions, sorted by name, in all folders where readers look for sockets.
///
/// # Errors
///
/// This process's own folder of sockets cannot be used.
pub(crate) fn all() -> Result<Vec<Live>, CommandError> {
    Ok(sockets()?.into_iter().map(look_at).collect())
}

/// The names of the live sessions with this role, such as `serve`.
pub(crate) fn names_of(role: &str) -> Vec<String> {
    let sessions = all().unwrap_or_default().into_iter();
    sessions.filter(|session| session.text("role") == Some(role)).map(|session| session.name).collect()
}

/// The sockets of all live sessions, sorted by name. Folders that cannot be used are skipped, except this process's
/// own.
fn sockets() -> Result<Vec<Socket>, CommandError> {
    let mut sockets = Vec::new();
    for (at, folder) in Places::here().all_sockets().into_iter().enumerate() {
        match sockets::names(&folder) {
            Ok(names) => sockets.extend(names.into_iter().map(|name| Socket { name, folder: folder.clone() })),
            Err(error) if at == 0 => return Err(reported(&error)),
            Err(_) => {}
        }
    }
    sockets.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(sockets)
}

/// The sockets of the live sessions of other homes, which only their paths name.
pub(crate) fn elsewhere() -> Vec<PathBuf> {
    sockets_elsewhere().iter().map(Socket::path).collect()
}

fn sockets_elsewhere() -> Vec<Socket> {
    let mut sockets = Vec::new();
    for folder in Places::here().other_sockets() {
        let names = sockets::names_elsewhere(&folder).unwrap_or_default();
        sockets.extend(names.into_iter().map(|name| Socket { name, folder: folder.clone() }));
    }
    sockets
}

/// A session's name, and the folder of its socket.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Socket {
    name: String,
    folder: PathBuf,
}

impl Socket {
    fn path(&self) -> PathBuf {
        sockets::socket_path(&self.folder, &self.name)
    }
}

fn look_at(socket: Socket) -> Live {
    let path = socket.path();
    let (info, silence) = match sockets::info(&path) {
        Ok(info) => (info, String::new()),
        Err(error) if matches!(error.kind(), WouldBlock | TimedOut) => {
            (Map::new(), "its process is stopped or hangs; only its name is known".to_owned())
        }
        Err(error) => (Map::new(), error.to_string()),
    };
    Live { name: socket.name, socket: path, info, silence, stream: 0 }
}

/// The folders in which sessions are searched, in words.
pub(crate) fn looked_in() -> String {
    format!("searched {}", listed(&Places::here().all_sockets()))
}

/// How to start a session.
pub(crate) const HOW_TO_START: &str =
    "put `mcpreel record --` in front of the server's command in the client's configuration";

/// Finds a session by name, unique prefix of a name, or path of its socket, which may be in another home; `#N` after it
/// names one of several streams.
///
/// # Errors
///
/// There is no such session, or several, or it does not respond.
pub(crate) fn find(wanted: &str) -> Result<Live, CommandError> {
    let (wanted, stream) = match wanted.rsplit_once('#') {
        None => (wanted, 0),
        Some((name, stream)) => {
            let wrong =
                || CommandError::usage(format!("invalid stream number {stream:?}: expected something like {name}#1"));
            (name, stream.parse().map_err(|_| wrong())?)
        }
    };
    let sockets = sockets()?;
    let socket = choose(wanted, &sockets).cloned().or_else(|error| match sockets_elsewhere() {
        others if others.is_empty() => Err(error),
        others => choose_elsewhere(wanted, others, error),
    })?;
    let live = Live { stream, ..look_at(socket) };
    if live.info.is_empty() {
        let error = CommandError::new(ErrorKind::Peer, format!("the session {} does not respond", live.name));
        return Err(error.hint(live.silence));
    }
    Ok(live)
}

/// Finds a socket of another home by its path. By a name, it is only a hint: the names of homes are independent.
fn choose_elsewhere(wanted: &str, sockets: Vec<Socket>, error: CommandError) -> Result<Socket, CommandError> {
    let same = sockets.iter().find(|socket| socket.name == wanted).or(sockets.first());
    let hint =
        same.map(|socket| format!("in another home, {} is live: --session {}", socket.name, socket.path().display()));
    let found = sockets.into_iter().find(|socket| socket.path() == Path::new(wanted));
    found.ok_or_else(|| hint.into_iter().fold(error, CommandError::hint))
}

/// Finds a socket by name, unique prefix of a name, or path.
fn choose<'a>(wanted: &str, sockets: &'a [Socket]) -> Result<&'a Socket, CommandError> {
    let by_path = sockets.iter().find(|socket| socket.path() == Path::new(wanted));
    let exact: Vec<&Socket> = sockets.iter().filter(|socket| socket.name == wanted).collect();
    let beginning: Vec<&Socket> = sockets.iter().filter(|socket| socket.name.starts_with(wanted)).collect();
    let only = |sockets: &[&'a Socket]| sockets.first().copied().filter(|_| sockets.len() == 1);
    if let Some(socket) = by_path.or_else(|| only(&exact)).or_else(|| only(&beginning).filter(|_| exact.is_empty())) {
        return Ok(socket);
    }
    match (&exact[..], &beginning[..]) {
        ([], []) if sockets.is_empty() => {
            let error = CommandError::new(ErrorKind::Peer, "no live sessions");
            Err(error.hint(looked_in()).hint(format!("start one: {HOW_TO_START}")))
        }
        ([_, ..], _) => {
            let error = CommandError::usage(format!("{} sessions have the name {wanted}", exact.len()));
            let by_path = |error: CommandError, socket: &&Socket| {
                error.hint(format!("choose one by its socket: --session {}", socket.path().display()))
            };
            Err(exact.iter().fold(error, by_path))
        }
        ([], several) => {
            let (kind, why) = match several.is_empty() {
                true => (ErrorKind::Peer, "is not a live session"),
                false => (ErrorKind::Usage, "is a prefix of several sessions' names"),
            };
            let mut error = CommandError::new(kind, format!("{wanted:?} {why}"));
            let known: Vec<&str> = sockets.iter().map(|socket| socket.name.as_str()).collect();
            if let (true, Some(near)) = (several.is_empty(), similar::get_close_matches(wanted, &known, 1, 0.5).first())
            {
                error = error.hint(format!("did you mean --session {near}?"));
            }
            Err(error.hint(format!("the live sessions are {}", known.join(", "))))
        }
    }
}

/// The beginning of a session, as its reel has it.
#[derive(Debug, Default)]
pub(crate) struct RecordedHandshake {
    /// The client's name.
    pub client: Option<String>,
    /// The client's capabilities; `Null` if the reel has none.
    pub client_capabilities: Value,
    /// What client and server negotiated.
    pub handshake: Option<Handshake>,
}

/// The maximum number of messages that are searched for the handshake, which is near the beginning.
const MESSAGES_LOOKED_AT: usize = 2000;
/// The maximum number of a session's earlier reels that are searched.
const MAX_REELS: usize = 16;

impl RecordedHandshake {
    /// Reads the beginning of a reel, which may still grow, for one stream, or for any if it is 0. If the recording
    /// continues that of another reel, the handshake may be in there.
    ///
    /// # Errors
    ///
    /// The reel cannot be read.
    pub(crate) fn read(path: &Path, stream: u32) -> Result<Self, CommandError> {
        let (mut opening, mut previous) = Self::read_one(path, stream)?;
        for _ in 0..MAX_REELS {
            let Some(path) = previous.filter(|before| opening.handshake.is_none() && before != path) else { break };
            // The earlier reel may have been deleted.
            let Ok((earlier, before)) = Self::read_one(&path, stream) else { break };
            opening.client = opening.client.or(earlier.client);
            opening.handshake = earlier.handshake;
            if opening.client_capabilities.is_null() {
                opening.client_capabilities = earlier.client_capabilities;
            }
            previous = before;
        }
        Ok(opening)
    }

    /// Reads one reel. Also returns the path of the reel that it continues.
    fn read_one(path: &Path, stream: u32) -> Result<(Self, Option<PathBuf>), CommandError> {
        let reader = ReelReader::open(path).map_err(|error| CommandError::reel(path, &error))?;
        let mut reader = reader.following().with_payloads();
        let (mut opening, mut tracker, mut discovered) = (Self::default(), Tracker::default(), None);
        let mut looked_at = 0;
        while looked_at < MESSAGES_LOOKED_AT && opening.handshake.is_none() {
            let Some(item) = reader.next().map_err(|error| CommandError::reading(path, &error))? else { break };
            let Item::Block(block) = item else { continue };
            let is_meant = |header: &EventHeader| stream == 0 || header.stream == stream;
            for event in block.events().filter(|event| event.header.message.is_some() && is_meant(event.header)) {
                looked_at += 1;
                let envelope = Envelope::scan(event.body());
                let content = envelope.content().map(json::value_of).unwrap_or_default();
                opening.note_client(&envelope, &content);
                let direction = event.header.direction();
                let step = tracker.take(event.header.seq, event.header.time, direction, &envelope, &content);
                if let (Some(asked), MessageKind::Result) = (&step.request, envelope.kind) {
                    match asked.method.as_str() {
                        "initialize" => {
                            let version = content["protocolVersion"].as_str().unwrap_or_default().to_owned();
                            opening.handshake = Some(Handshake::read(Era::Legacy, version, &content, Vec::new()));
                        }
                        "server/discover" => discovered = Some(content),
                        _ => {}
                    }
                }
                if let (Some(Era::Modern), Some(version), None) =
                    (tracker.era, &tracker.version_text, &opening.handshake)
                {
                    let result = discovered.clone().unwrap_or_default();
                    opening.handshake = Some(Handshake::read(Era::Modern, version.clone(), &result, Vec::new()));
                }
            }
            reader.recycle(block);
        }
        opening.client_capabilities = tracker.declared.client.clone();
        Ok((opening, reader.header().notes.get("continues").map(PathBuf::from)))
    }

    fn note_client(&mut self, envelope: &Envelope<'_>, params: &Value) {
        let info = match envelope.method.as_deref() {
            Some("initialize") => &params["clientInfo"],
            Some(_) => &params["_meta"][meta::CLIENT_INFO],
            None => return,
        };
        self.client = self.client.take().or_else(|| info["name"].as_str().map(str::to_owned));
    }
}

/// A prefix for ids. It is random enough that no two processes choose the same, and no peer uses it by itself.
pub(crate) fn id_prefix() -> String {
    format!("{MARK}{}-", &uuid::Uuid::new_v4().simple().to_string()[..8])
}

/// The beginning of a reel, once it contains the handshake, or as it is after a grace period: messages appear in the
/// reel with a short delay.
fn agreed(reel: &Path, stream: u32) -> Result<RecordedHandshake, CommandError> {
    const GRACE_PERIOD: Duration = Duration::from_millis(500);
    const PAUSE: Duration = Duration::from_millis(25);
    let began = Instant::now();
    loop {
        let opening = RecordedHandshake::read(reel, stream)?;
        if opening.handshake.is_some() || began.elapsed() > GRACE_PERIOD {
            return Ok(opening);
        }
        std::thread::sleep(PAUSE);
    }
}

/// The beginning of a recorded session, once client and server have completed their handshake. If that is not at once,
/// calls `waits` before it waits.
///
/// # Errors
///
/// The session has no reel or ends, or the handshake takes longer than `timeout`.
pub(crate) fn await_handshake(
    live: &Live,
    timeout: Duration,
    waits: impl FnOnce(),
) -> Result<RecordedHandshake, CommandError> {
    const PAUSE: Duration = Duration::from_millis(50);
    let (began, reel) = (Instant::now(), live.reel()?);
    let opening = agreed(&reel, live.stream)?;
    if opening.handshake.is_some() {
        return Ok(opening);
    }
    waits();
    while began.elapsed() < timeout {
        let opening = RecordedHandshake::read(&reel, live.stream)?;
        if opening.handshake.is_some() {
            return Ok(opening);
        }
        if !live.lives() {
            return Err(CommandError::new(ErrorKind::Peer, format!("{} ended before its handshake", live.name)));
        }
        std::thread::sleep(PAUSE);
    }
    let reported = format!("client and server of {} did not complete their handshake within {timeout:?}", live.name);
    Err(CommandError::new(ErrorKind::Timeout, reported)
        .hint("allow more time with --answer-timeout, or send it now with `mcpreel fire raw MESSAGE --as server`"))
}

/// The state of the session, for joining it in addition to its client.
///
/// # Errors
///
/// The session is a server itself, has no reel, or its handshake is not complete.
pub(crate) fn join(live: &Live) -> Result<Joined, CommandError> {
    if live.text("role") == Some("serve") {
        let error = CommandError::usage(format!("{} is a server, not a recorded session", live.name))
            .hint("make it send something with `fire push` or `fire reminder`");
        return Err(match live.text("listen") {
            Some(url) => error.hint(format!("to send it requests, connect to it: --url {url}")),
            None => error.hint("to send it requests, record it: mcpreel record -- mcpreel serve"),
        });
    }
    let RecordedHandshake { handshake, client_capabilities, .. } = agreed(&live.reel()?, live.stream)?;
    let handshake = handshake.ok_or_else(|| {
        CommandError::new(
            ErrorKind::Unmet,
            format!("client and server of {} have not completed their handshake", live.name),
        )
        .hint("try again when the client has sent initialize or its first request")
        .hint("or send a raw message: mcpreel fire raw MESSAGE --session NAME")
    })?;
    Ok(Joined { handshake, client_capabilities, id_prefix: id_prefix() })
}

/// How a host connects to the server of a live session.
pub(crate) enum JoinRoute {
    /// On a connection of its own, to this URL.
    Door(String),
    /// On the connection of the session's client.
    Beside(Box<(Live, Joined)>),
}

/// Finds a session and the route to its server: a connection of one's own if it listens and no stream was named, else
/// its client's connection.
///
/// # Errors
///
/// There is no such session, or it cannot be joined.
pub(crate) fn way_in(name: &str) -> Result<JoinRoute, CommandError> {
    let live = find(name)?;
    if live.text("role") == Some("host") {
        let error = CommandError::usage(format!("{} is a host, not a server", live.name));
        return Err(error
            .hint("connect to one of its servers directly; `mcpreel sessions` lists recorded servers")
            .hint(format!("to send a request to one of its servers: mcpreel call METHOD --session {}", live.name)));
    }
    match live.text("listen").filter(|_| live.stream == 0) {
        Some(url) => Ok(JoinRoute::Door(url.to_owned())),
        None => join(&live).map(|joined| JoinRoute::Beside(Box::new((live, joined)))),
    }
}

/// A connection into a session, in addition to its client's.
///
/// # Errors
///
/// The session cannot be reached.
pub(crate) fn link(live: &Live) -> Result<Link, CommandError> {
    sockets::link(&live.socket, "server", live.stream).map_err(|error| {
        CommandError::new(ErrorKind::Peer, format!("cannot connect to the session {}: {error}", live.name))
    })
}

/// How much longer than a peer's response the session's own may take.
const SLACK: Duration = Duration::from_secs(7);

/// Injects a message into a session, to the `server` or the `client`. Returns the response with its latency if it is
/// a request. Notifications about the request that arrive before the response are passed to `before`.
///
/// # Errors
///
/// The session refuses the message or ends, or there is no response in time.
pub(crate) fn send(
    live: &Live,
    toward: &str,
    message: &str,
    timeout: Duration,
    mut before: impl FnMut(&[u8]),
) -> Result<Option<Answer>, CommandError> {
    let wait = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    let request = json!({"op": "send", "toward": toward, "stream": live.stream, "message": message, "wait_ms": wait});
    let mut reported = Value::Null;
    ask(live, &request, timeout.saturating_add(SLACK), |answer| {
        let earlier = answer["before"].as_str().map(|text| before(text.as_bytes()));
        reported = answer;
        earlier.is_some()
    })?;
    let latency = reported["latency_ms"].as_f64().unwrap_or_default();
    let latency = Duration::try_from_secs_f64(latency / 1e3).unwrap_or_default();
    Ok(reported["answer"].as_str().map(|text| Answer { message: text.as_bytes().to_vec(), latency }))
}

/// Makes a session of `serve` send a message. Each report about it is passed to `reported`.
///
/// # Errors
///
/// The session refuses the message or ends; a timeout if there is no report for `grace_period`.
pub(crate) fn fire(
    live: &Live,
    fired: &Value,
    grace_period: Duration,
    mut reported: impl FnMut(&Value),
) -> Result<(), CommandError> {
    ask(live, &json!({"op": "fire", "stream": live.stream, "fire": fired}), grace_period, |answer| {
        reported(&answer["fact"]);
        answer["last"] == false
    })
}

fn ask(
    live: &Live,
    request: &Value,
    grace_period: Duration,
    mut received: impl FnMut(Value) -> bool,
) -> Result<(), CommandError> {
    let mut refused = None;
    let listened = sockets::listen(&live.socket, request, grace_period, |reported| match reported["failed"].as_str() {
        Some(why) => {
            let kind = if reported["timed_out"] == true { ErrorKind::Timeout } else { ErrorKind::Peer };
            refused = Some((kind, why.to_owned()));
            false
        }
        None => received(reported),
    });
    let (kind, why) = match (refused, listened) {
        (Some(refused), _) => refused,
        (None, Err(error)) if matches!(error.kind(), WouldBlock | TimedOut) => {
            (ErrorKind::Timeout, format!("no response within {grace_period:?}"))
        }
        (None, Err(error)) => (ErrorKind::Peer, format!("it has ended or does not respond: {error}")),
        (None, Ok(())) => return Ok(()),
    };
    let error = CommandError::new(kind, format!("the session {}: {why}", live.name));
    let streams = live.streams().filter(|streams| live.stream != 0 && !streams.contains(&live.stream));
    Err(match streams.as_deref() {
        None => error,
        Some([]) => error.hint("it has no open streams"),
        Some(open) => {
            let names: Vec<String> = open.iter().map(|stream| format!("{}#{stream}", live.name)).collect();
            error.hint(format!("its open streams: {}", names.join(", ")))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::injection::is_marked;

    #[test]
    fn a_session_is_chosen_by_its_name_its_beginning_or_its_socket() {
        let socket = |name: &str, folder: &str| Socket { name: name.into(), folder: folder.into() };
        let sockets = [socket("memory", "/a"), socket("memory", "/b"), socket("web", "/a")];
        let chosen = |wanted| choose(wanted, &sockets).cloned().map_err(|error| format!("{error:?}"));
        assert_eq!(chosen("we"), Ok(sockets[2].clone()));
        assert_eq!(chosen("/b/memory.sock"), Ok(sockets[1].clone()));
        let refused = chosen("memory").expect_err("there are two");
        assert!(refused.contains("2 sessions") && refused.contains("--session /b/memory.sock"), "{refused}");
        assert!(choose("x", &[]).is_err_and(|error| error.hints[0].starts_with("searched /")));
    }

    #[test]
    fn ids_are_such_as_the_tap_lets_in() {
        let prefix = id_prefix();
        assert!(is_marked(&format!("{prefix}1")), "{prefix}");
        assert_ne!(prefix, id_prefix());
    }
}
