//! What `call` and `fire` share: client options, opening the connection, reporting what happens, the reel.

use super::Context;
use super::commands::record::spawn_error;
use super::printer::note;
use super::target::{Target, TargetKind, refuse};
use crate::error::{CommandError, ErrorKind};
use crate::host::client::{ClientConfig, EraChoice, Handshake, Joined, Output, Root};
use crate::process::child::ServerCommand;
use crate::protocol::{Era, Revision};
use crate::record::http::{Exchanges, Numbers};
use crate::record::queue::{ChunkSource, Ready};
use crate::record::recorder::Recorder;
use crate::record::recording::{Need, Plan, Recording};
use crate::record::reels;
use crate::redact;
use crate::render::line;
use crate::runtime::{Connection, Failure};
use crate::sessions::injection::is_ours;
use crate::sessions::live;
use crate::trace::{EventKind, Flags};
use crate::transport::client::http::HttpError;
use crate::transport::client::http::SharedObserver;
use crate::transport::client::remote::Carrier;
use crate::transport::client::websocket;
use crate::transport::local::stdio::{self, ByteObserver, Pipe, StdioServer};
use crate::transport::{Link, Observers, Remote, TransportNotice};
use crate::wire::units::parse_time;
use crate::wire::{Direction, Frame, LineFramer, PIECE};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The response timeout if the user gives none.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// The options of a client.
#[derive(Clone, Debug, Args)]
pub(super) struct ClientOptions {
    /// The era to use; auto tries `initialize` first. The proposals need the legacy era: in the modern one, `fire`
    /// sends nothing and exits with 1.
    #[arg(long, value_enum, default_value_t = EraArg::Auto)]
    era: EraArg,
    /// The protocol version to request. Any value is sent as given.
    #[arg(long, value_name = "VERSION")]
    protocol_version: Option<String>,
    /// Response timeout (default: 30s).
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    timeout: Option<Duration>,
    /// A root to offer to the server: a folder or a URI (repeatable).
    #[arg(long = "root", value_name = "PATH")]
    roots: Vec<String>,
    /// Record the session to this reel.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// The era to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EraArg {
    /// Whichever the server speaks.
    Auto,
    /// Either, but `initialize` first.
    #[value(skip)]
    Handshake,
    /// With `initialize`: revisions up to 2025-11-25.
    Legacy,
    /// With `server/discover`: revision 2026-07-28.
    Modern,
}

impl ClientOptions {
    /// The options of a client that sends recorded messages as they are, recorded to this reel.
    pub(super) fn replaying(record: PathBuf, timeout: Option<Duration>) -> Self {
        let (protocol_version, roots) = (None, Vec::new());
        Self { era: EraArg::Auto, protocol_version, timeout, roots, record: Some(record) }
    }

    /// The options of a client that asks for others.
    pub(super) fn forwarding() -> Self {
        Self { era: EraArg::Handshake, protocol_version: None, timeout: None, roots: Vec::new(), record: None }
    }

    /// The engine's settings. `capabilities` is declared in addition to what the options declare.
    pub(super) fn config(&self, capabilities: Value) -> ClientConfig {
        let mut config = ClientConfig::new("mcpreel", env!("CARGO_PKG_VERSION"));
        config.era = match self.era {
            EraArg::Auto => EraChoice::Auto,
            EraArg::Handshake => EraChoice::Handshake,
            EraArg::Legacy => EraChoice::Legacy,
            EraArg::Modern => EraChoice::Modern,
        };
        config.protocol_version = self.protocol_version.clone();
        config.request_timeout = self.timeout();
        config.roots = self.roots.iter().map(|root| Root { uri: root_uri(root), name: None }).collect();
        config.capabilities = capabilities;
        config
    }
}

impl ClientOptions {
    /// Starts a recording, whether or not the user asked for one: in the named reel, or in the folder of reels.
    pub(super) fn recording(&self, name: &str, need: Need) -> Result<Recording, CommandError> {
        let need = if self.record.is_some() { Need::ToBegin } else { need };
        Recording::start(&Plan::of(self.record.as_deref(), name, need), note)
    }

    /// Starts a recording if the user named a reel.
    fn recording_if_named(&self) -> Result<Option<Recording>, CommandError> {
        self.record.as_ref().map(|_| self.recording("session", Need::ToBegin)).transpose()
    }

    /// The path of the reel of [`Self::recording`].
    pub(super) fn reel(&self, name: &str) -> Result<PathBuf, CommandError> {
        match &self.record {
            Some(path) => Ok(path.clone()),
            None => reels::new_path(name),
        }
    }

    /// These options, but trying `initialize` first: the proposals need the handshake.
    pub(super) fn with_handshake(&self) -> Self {
        let era = if self.era == EraArg::Auto { EraArg::Handshake } else { self.era };
        Self { era, ..self.clone() }
    }

    /// Whether the user wants a reel.
    pub(super) fn is_recording(&self) -> bool {
        self.record.is_some()
    }

    /// The response timeout.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(DEFAULT_TIMEOUT)
    }

    /// The response timeout, if the user gave one.
    pub(super) fn timeout_given(&self) -> Option<Duration> {
        self.timeout
    }

    /// Refuses options that have no effect in a live session, which was negotiated and is recorded by others.
    pub(super) fn check_joined(&self) -> Result<(), CommandError> {
        let record = self.record.as_ref().map(|_| "--record");
        refuse(record, "--session", "the session is already recorded in its own reel")?;
        self.check_agreed()
    }

    /// Refuses options that have no effect in a live session, because its own client and server negotiated them.
    pub(super) fn check_agreed(&self) -> Result<(), CommandError> {
        let given = [
            ("--era", self.era != EraArg::Auto, "the session's client and server have already negotiated the era"),
            (
                "--protocol-version",
                self.protocol_version.is_some(),
                "the session's client and server have already negotiated the version",
            ),
            ("--root", !self.roots.is_empty(), "the session's own client answers requests for roots"),
        ];
        given.into_iter().try_for_each(|(option, is_given, why)| refuse(is_given.then_some(option), "--session", why))
    }
}

fn root_uri(root: &str) -> String {
    if root.contains("://") {
        return root.to_owned();
    }
    let path = std::path::absolute(root).unwrap_or_else(|_| PathBuf::from(root));
    format!("file://{}", path.display())
}

/// A server that was started or connected to for a command, and its recorder.
pub(super) struct Peer {
    /// The process, if one was started.
    server: Option<StdioServer>,
    recording: Option<Recording>,
    /// Records HTTP exchanges.
    exchanges: Option<Arc<Exchanges>>,
    /// The transport's advice about its failures.
    advice: Advice,
    /// The live session that was joined, and the state it was joined with.
    joined: Option<(live::Live, Joined)>,
}

type Advice = Arc<Mutex<Vec<String>>>;

impl Peer {
    /// Starts the server or connects to it. Returns the link and the peer.
    pub(super) async fn start(
        target: &Target,
        options: &ClientOptions,
        context: &Context,
    ) -> Result<(Link, Self), CommandError> {
        if options.record.as_deref() == Some(Path::new("-")) {
            let refused = CommandError::usage("the result goes to stdout, so the reel cannot");
            return Err(refused.hint("use another file descriptor: --record /dev/fd/3 3>session.reel"));
        }
        match target.resolve(context)? {
            TargetKind::Command(command) => Self::spawn(&command, options),
            TargetKind::Remote(remote) => Self::attach(&remote, options, context).await,
            TargetKind::Session(name) => Self::join(&name, options),
        }
    }

    fn spawn(command: &ServerCommand, options: &ClientOptions) -> Result<(Link, Self), CommandError> {
        command.prepare().map_err(spawn_error)?;
        let recording = options.recording_if_named()?;
        let recorder = recording.as_ref().map(Recording::recorder);
        let observer = recorder.map(copy_to);
        let (link, server) = stdio::spawn(command, observer).map_err(spawn_error)?;
        if let Some(recorder) = recorder {
            let reported = json!({"transport": "stdio", "command": redact::redact_arguments(&command.words())});
            recorder.note(EventKind::StreamOpened, &reported);
        }
        Ok((link, Self { server: Some(server), recording, exchanges: None, advice: Advice::default(), joined: None }))
    }

    async fn attach(remote: &Remote, options: &ClientOptions, context: &Context) -> Result<(Link, Self), CommandError> {
        let recording = options.recording_if_named()?;
        let RemoteLink { link, exchanges, advice } =
            attach(remote, recording.as_ref().map(Recording::recorder), None, context).await?;
        Ok((link, Self { server: None, recording, exchanges, advice, joined: None }))
    }

    /// Joins a live session in addition to its client.
    fn join(name: &str, options: &ClientOptions) -> Result<(Link, Self), CommandError> {
        options.check_joined()?;
        let live = live::find(name)?;
        let joined = live::join(&live)?;
        let link = live::link(&live)?;
        Ok((
            link,
            Self {
                server: None,
                recording: None,
                exchanges: None,
                advice: Advice::default(),
                joined: Some((live, joined)),
            },
        ))
    }

    /// The engine's settings for this peer. `capabilities` is declared in addition to what the options declare.
    pub(super) fn config(&self, options: &ClientOptions, capabilities: Value) -> ClientConfig {
        ClientConfig { join: self.joined.as_ref().map(|(_, joined)| joined.clone()), ..options.config(capabilities) }
    }

    /// Whether the server was started for this command, and ends with it.
    pub(super) fn is_started(&self) -> bool {
        self.server.is_some()
    }

    /// Whether this is a live session that was joined.
    pub(super) fn is_joined(&self) -> bool {
        self.joined.is_some()
    }

    /// The live session that was joined.
    pub(super) fn session(&self) -> Option<&live::Live> {
        self.joined.as_ref().map(|(live, _)| live)
    }

    /// Lets the server end, finishes the reel, and completes the error with how the server ended, if it did so by
    /// itself.
    pub(super) async fn end_after(self, mut error: CommandError, context: &Context) -> CommandError {
        let since = Instant::now();
        let advice = Arc::clone(&self.advice);
        let status = self.end(context).await.filter(|_| since.elapsed() < BY_ITSELF);
        let when = ["the server closed the connection", "the server ended"]
            .into_iter()
            .find_map(|beginning| error.message.strip_prefix(beginning));
        if let (Some(status), Some(when)) = (status, when) {
            error.message = format!("the server ended{}{when}", end_text(status));
        }
        let mut advice = std::mem::take(&mut *advice.lock().unwrap_or_else(PoisonError::into_inner));
        advice.dedup();
        error.hints.extend(advice);
        error
    }

    /// Lets the server end and finishes the reel.
    pub(super) async fn end(self, context: &Context) -> Option<ExitStatus> {
        let status = match self.server {
            Some(server) => server.end().await,
            None => None,
        };
        if let Some(exchanges) = &self.exchanges {
            exchanges.finish();
        }
        if let Some(recording) = self.recording {
            let (code, signal) = status.map_or((None, None), |status| (status.code(), status.signal()));
            recording.recorder().note(EventKind::StreamClosed, &json!({"exit_code": code, "signal": signal}));
            let (summary, end) = recording.finish();
            // The reel was optional, so a failure to write it is only reported.
            let _ = end.report(&summary, context.verbose > 0, note);
        }
        status
    }
}

/// A link to a server that runs elsewhere.
pub(super) struct RemoteLink {
    /// The connection.
    pub link: Link,
    /// Records HTTP exchanges.
    pub exchanges: Option<Arc<Exchanges>>,
    /// The transport's advice about its failures.
    advice: Advice,
}

/// For one of several servers that are recorded into one reel.
pub(super) struct SharedRecording<'a> {
    /// Where the numbers of its streams come from.
    pub numbers: &'a Arc<Numbers>,
    /// The server's name.
    pub server: &'a str,
}

/// Connects to a server. If there is a recorder, it receives all traffic.
pub(super) async fn attach(
    remote: &Remote,
    recorder: Option<&Recorder>,
    beside: Option<SharedRecording<'_>>,
    context: &Context,
) -> Result<RemoteLink, CommandError> {
    let carrier = remote.carrier().map_err(remote_error)?;
    if remote.insecure && remote.speaks_tls() {
        context.printer.note("warning: the server's certificate is not verified (--insecure)");
    }
    let url = redact::redact_url(&remote.url);
    let is_http = carrier == Carrier::Http;
    // Over HTTP, sessions have streams of their own, which begin with the first exchange.
    let stream = beside.as_ref().filter(|_| !is_http).map_or(0, |beside| beside.numbers.stream());
    let mut about = json!({"transport": transport_name(&carrier), "url": url});
    if let Some(beside) = &beside {
        about["server"] = beside.server.into();
    }
    if let Some(recorder) = recorder.filter(|_| beside.is_none() || !is_http) {
        recorder.queue().note(Ready::about(EventKind::StreamOpened, stream), &about);
    }
    let exchanges = recorder.filter(|_| is_http).map(|recorder| {
        let exchanges = Exchanges::new(Arc::clone(recorder.queue()), &remote.url, |_| {});
        Arc::new(match &beside {
            Some(SharedRecording { numbers, server }) => exchanges.beside(numbers, server),
            None => exchanges,
        })
    });
    let bytes = recorder.map(|recorder| match stream {
        0 => copy_to(recorder),
        stream => copy_lines_to(recorder, stream),
    });
    let observers = Observers {
        exchanges: exchanges.clone().map(|exchanges| exchanges as SharedObserver),
        bytes,
        frames: recorder.map(|recorder| copy_frames_to(recorder, stream)),
    };
    let advice = Advice::default();
    let (kept, is_verbose) = (Arc::clone(&advice), context.verbose > 0);
    let report = Arc::new(move |reported: TransportNotice<'_>| match reported {
        TransportNotice::Step(text) if is_verbose => note(text),
        TransportNotice::Step(_) => {}
        TransportNotice::Trouble(text) => note(text),
        TransportNotice::Advice(text) => kept.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned()),
    });
    let link = remote.attach(report, observers).await.map_err(remote_error)?;
    Ok(RemoteLink { link, exchanges, advice })
}

/// A server that ends this soon after closing its output was not asked to end.
const BY_ITSELF: Duration = Duration::from_secs(1);

fn end_text(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!(" with exit code {code}"),
        (None, Some(signal)) => format!(" by signal {signal}"),
        (None, None) => String::new(),
    }
}

/// Passes every byte to the recorder.
fn copy_to(recorder: &Recorder) -> ByteObserver {
    let queue = Arc::clone(recorder.queue());
    Arc::new(move |pipe, bytes| {
        let lane = match pipe {
            Pipe::Stdin => ChunkSource::Messages(Direction::ClientToServer),
            Pipe::Stdout => ChunkSource::Messages(Direction::ServerToClient),
            Pipe::Stderr => ChunkSource::Stderr,
        };
        match bytes {
            Some(bytes) => queue.push(lane, bytes),
            None => queue.end(lane),
        }
    })
}

/// Like [`copy_to`], but as frames of one of several streams.
pub(super) fn copy_lines_to(recorder: &Recorder, stream: u32) -> ByteObserver {
    let queue = Arc::clone(recorder.queue());
    let framers = [(); 2].map(|()| Mutex::new(LineFramer::with_limit(PIECE)));
    Arc::new(move |pipe, bytes| {
        let direction = match pipe {
            Pipe::Stdin => Direction::ClientToServer,
            Pipe::Stdout => Direction::ServerToClient,
            Pipe::Stderr => {
                let ready = Ready { flags: Flags::SERVER_TO_CLIENT, ..Ready::about(EventKind::Stderr, stream) };
                return bytes.into_iter().for_each(|bytes| queue.push_ready(ready, bytes));
            }
        };
        let mut framer = framers[direction as usize].lock().unwrap_or_else(PoisonError::into_inner);
        let mut push = |frame: Frame<'_>| {
            let ours = if is_ours(frame.payload) { Flags::INJECTED } else { Flags::default() };
            let flags = Flags::toward(direction).with(ours);
            let ready = Ready { flags, framing: frame.framing, ..Ready::about(EventKind::Message, stream) };
            queue.push_ready(ready, frame.payload);
        };
        match bytes {
            Some(bytes) => framer.push(bytes, &mut push),
            None => framer.finish(&mut push),
        }
    })
}

/// Like [`copy_lines_to`], for transports where each frame is one message.
fn copy_frames_to(recorder: &Recorder, stream: u32) -> websocket::MessageObserver {
    let queue = Arc::clone(recorder.queue());
    Arc::new(move |direction, message| {
        if let Some(message) = message {
            let ours = if is_ours(message) { Flags::INJECTED } else { Flags::default() };
            let ready =
                Ready { flags: Flags::toward(direction).with(ours), ..Ready::about(EventKind::Message, stream) };
            queue.push_ready(ready, message);
        }
    })
}

/// The name of a transport in reels.
pub(super) fn transport_name(carrier: &Carrier) -> &'static str {
    match carrier {
        Carrier::Http => "http",
        Carrier::WebSocket => "websocket",
        Carrier::Unix(_) => "unix",
        Carrier::Tcp(_) => "tcp",
    }
}

pub(super) fn remote_error(error: HttpError) -> CommandError {
    let kind = match &error {
        HttpError::Url(..) | HttpError::Header(..) => ErrorKind::Usage,
        HttpError::Certificates(..) => ErrorKind::Input,
        _ => ErrorKind::Peer,
    };
    let reported = CommandError::new(kind, error.to_string());
    match error.advice() {
        Some(advice) => reported.hint(advice),
        None => reported,
    }
}

/// Runs an asynchronous command on this thread. An interrupt ends it, with exit code 130.
pub(super) fn block_on<T>(work: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    block_on_to_the_end(unless_interrupted(work))
}

/// Like [`block_on`], for a command that handles interrupts itself.
pub(super) fn block_on_to_the_end<T>(work: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandError::new(ErrorKind::Internal, format!("cannot start: {error}")))?;
    runtime.block_on(work)
}

/// Runs `work` until it is done or interrupted.
pub(super) async fn unless_interrupted<T>(
    work: impl Future<Output = Result<T, CommandError>>,
) -> Result<T, CommandError> {
    tokio::select! {
        done = work => done,
        _ = tokio::signal::ctrl_c() => Err(CommandError::new(ErrorKind::Interrupted, "interrupted")),
    }
}

/// Opens the connection and waits for the handshake. With `-v`, its steps are reported.
pub(super) async fn open(
    peer: &Peer,
    link: Link,
    options: &ClientOptions,
    capabilities: Value,
    context: &Context,
) -> Result<(Connection, Handshake), CommandError> {
    let mut connection = Connection::open(peer.config(options, capabilities), link, |_| {}).await;
    match connection.ready(|output| report(output, context)).await {
        Ok(handshake) => {
            report_handshake(&handshake, options, context);
            Ok((connection, handshake))
        }
        Err(failure) => Err(failed(failure, &connection.runner.stderr)),
    }
}

/// Returns an error if the server is in the modern era, in which the proposals have no carrier. `kind` decides the
/// exit code.
pub(super) fn need_carrier(era: Era, server: &str, kind: ErrorKind) -> Result<(), CommandError> {
    if era == Era::Legacy {
        return Ok(());
    }
    let reported =
        format!("{server} speaks revision {}, which cannot carry the five proposals", Revision::NEWEST.as_str());
    Err(CommandError::new(kind, reported)
        .hint("they need a server that accepts `initialize` (revisions up to 2025-11-25)"))
}

/// Reports the handshake with `-v`, and in any case if the version is not the one that the user requested.
pub(super) fn report_handshake(handshake: &Handshake, options: &ClientOptions, context: &Context) {
    if let Some(wanted) = options.protocol_version.as_ref().filter(|wanted| **wanted != handshake.version_text) {
        let agreed = &handshake.version_text;
        context.printer.note(&format!("requested revision {wanted}, but the server speaks {agreed}"));
    }
    if context.verbose == 0 {
        if options.era == EraArg::Modern {
            handshake.notes.iter().for_each(|note| context.printer.note(note));
        }
        return;
    }
    let name = handshake.server_info["name"].as_str().unwrap_or("an unnamed server");
    let (era, version) = (handshake.era.name(), &handshake.version_text);
    context.printer.note(&format!("connected to {name}, {era} era, revision {version}"));
    handshake.notes.iter().for_each(|note| context.printer.note(note));
}

/// With `-v`, reports what else happens: the server's requests, notifications and invalid output.
pub(super) fn report(output: &Output, context: &Context) {
    if context.verbose > 0 {
        in_words(output, "the server").iter().for_each(|text| context.printer.note(text));
    }
}

/// Describes an output in words. `server` is the name of the server that caused it.
pub(super) fn in_words(output: &Output, server: &str) -> Option<String> {
    let clipped = |bytes: &[u8]| {
        let text: String = String::from_utf8_lossy(bytes).chars().map(line::visible).take(200).collect();
        text
    };
    let text = match output {
        Output::ServerRequest { method, answered_with, .. } => match answered_with {
            Some(Ok(_)) => format!("{server} sent the request {method}; answered"),
            Some(Err((code, reason))) => format!("{server} sent the request {method}; refused with {code}: {reason}"),
            None => format!("{server} sent the request {method}"),
        },
        Output::Notification { message } => format!("notification from {server}: {}", clipped(message)),
        Output::Noise { message } => format!("{server} printed something that is not a message: {}", clipped(message)),
        Output::Stray { message } => format!("{server} sent a response without a request: {}", clipped(message)),
        Output::Renewing { reason } => format!("{server}: {reason}; opening a new session and repeating the request"),
        Output::Answered { method, late: true, .. } => format!("late response from {server} to {method}"),
        _ => return None,
    };
    Some(text)
}

/// At most this many of the server's last lines on stderr are shown with a failure: an interpreter's stack trace
/// fits.
const LINES_REPORTED: usize = 12;

/// A failure, with what the server last printed to stderr.
pub(super) fn failed(failure: Failure, stderr: &[u8]) -> CommandError {
    let kind = match failure {
        Failure::TimedOut { .. } => ErrorKind::Timeout,
        Failure::Failed(_) => ErrorKind::Peer,
    };
    let mut error = CommandError::new(kind, failure.to_string());
    let said = String::from_utf8_lossy(stderr);
    let last: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    for said in &last[last.len().saturating_sub(LINES_REPORTED)..] {
        error = error.hint(format!("server's stderr: {}", said.chars().map(line::visible).collect::<String>()));
    }
    if kind == ErrorKind::Timeout {
        error = error.hint("allow more time with --timeout");
    }
    error
}
