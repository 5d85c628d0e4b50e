//! What `call` and `fire` share: options of the client, opening the connection, telling what happened, the reel.

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

/// How long an answer may take where the user does not say.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// How to be a client.
#[derive(Clone, Debug, Args)]
pub struct ClientOptions {
    /// The era to work in. The modern one has no carrier for the proposals: there `host` says so, and `fire` sends
    /// nothing and exits with 1.
    #[arg(long, value_enum, default_value_t = EraArg::Auto)]
    era: EraArg,
    /// The protocol version to ask for, known or not.
    #[arg(long, value_name = "VERSION")]
    protocol_version: Option<String>,
    /// How long an answer may take: 30s where nothing is said.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    timeout: Option<Duration>,
    /// A root to offer to the server: a folder or a URI (repeatable).
    #[arg(long = "root", value_name = "PATH")]
    roots: Vec<String>,
    /// Keep the session in a reel.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// The era to work in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EraArg {
    /// Whichever the server speaks. `call` asks with `server/discover` and falls back to `initialize`; `host`, `fire` and
    /// `events watch`, which need the handshake, do the reverse.
    Auto,
    /// The latter.
    #[value(skip)]
    Handshake,
    /// `initialize`: revisions up to 2025-11-25.
    Legacy,
    /// `server/discover`: revision 2026-07-28.
    Modern,
}

impl ClientOptions {
    /// The engine's settings. `capabilities` is declared beside what the options say.
    pub fn config(&self, capabilities: Value) -> ClientConfig {
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
    /// Starts recording a session that is kept in any case: where the user says, or with the other recordings.
    pub fn recording(&self, name: &str, need: Need) -> Result<Recording, CommandError> {
        let need = if self.record.is_some() { Need::ToBegin } else { need };
        Recording::start(&Plan::of(self.record.as_deref(), name, need), note)
    }

    /// The same where the user wants the session kept.
    fn recording_if_named(&self) -> Result<Option<Recording>, CommandError> {
        self.record.as_ref().map(|_| self.recording("session", Need::ToBegin)).transpose()
    }

    /// Where such a session's reel lies.
    pub fn reel(&self, name: &str) -> Result<PathBuf, CommandError> {
        match &self.record {
            Some(path) => Ok(path.clone()),
            None => reels::new_path(name),
        }
    }

    /// The same for what stands on a handshake, as the proposals do: a server of both eras is met in that one.
    pub fn with_handshake(&self) -> Self {
        let era = if self.era == EraArg::Auto { EraArg::Handshake } else { self.era };
        Self { era, ..self.clone() }
    }

    /// Whether the session is kept in a reel.
    pub fn is_recording(&self) -> bool {
        self.record.is_some()
    }

    /// How long an answer may take.
    pub fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(DEFAULT_TIMEOUT)
    }

    /// The same, where the user said so.
    pub fn timeout_given(&self) -> Option<Duration> {
        self.timeout
    }

    /// What one joins was agreed on by others, and is recorded by them.
    pub fn check_joined(&self) -> Result<(), CommandError> {
        let record = self.record.as_ref().map(|_| "--record");
        refuse(record, "--session", "the session has its own reel already")?;
        self.check_agreed()
    }

    /// What one joins was agreed on by others.
    pub fn check_agreed(&self) -> Result<(), CommandError> {
        let given = [
            ("--era", self.era != EraArg::Auto, "the session works in the era that its client and server agreed on"),
            ("--protocol-version", self.protocol_version.is_some(), "client and server agreed on the session's"),
            ("--root", !self.roots.is_empty(), "the session's own client answers for its roots"),
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

/// A server that was started or attached to for a command, and the recorder beside it.
pub struct Peer {
    /// The process, where one was started.
    server: Option<StdioServer>,
    recording: Option<Recording>,
    /// Records what passes over HTTP.
    exchanges: Option<Arc<Exchanges>>,
    /// What the transport said can be done about its failures.
    advice: Advice,
    /// The live session that is joined, and as what.
    joined: Option<(live::Live, Joined)>,
}

type Advice = Arc<Mutex<Vec<String>>>;

impl Peer {
    /// Starts the server or attaches to it; its link comes beside it.
    pub async fn start(
        target: &Target,
        options: &ClientOptions,
        context: &Context,
    ) -> Result<(Link, Self), CommandError> {
        if options.record.as_deref() == Some(Path::new("-")) {
            let refused = CommandError::usage("the result goes to standard output; the reel cannot go there too");
            return Err(refused.hint("write to another descriptor: --record /dev/fd/3 3>session.reel"));
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

    /// Joins a live session, beside its client.
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

    /// The engine's settings toward this peer. `capabilities` is declared beside what the options say.
    pub fn config(&self, options: &ClientOptions, capabilities: Value) -> ClientConfig {
        ClientConfig { join: self.joined.as_ref().map(|(_, joined)| joined.clone()), ..options.config(capabilities) }
    }

    /// Whether it was started for this command, and ends with it.
    pub fn is_started(&self) -> bool {
        self.server.is_some()
    }

    /// Whether it is a live session that was joined.
    pub fn is_joined(&self) -> bool {
        self.joined.is_some()
    }

    /// The live session that was joined.
    pub fn session(&self) -> Option<&live::Live> {
        self.joined.as_ref().map(|(live, _)| live)
    }

    /// Lets the server end and finishes the reel; a failure is told with the server's end, where it ended by itself.
    pub async fn end_after(self, mut error: CommandError, context: &Context) -> CommandError {
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
    pub async fn end(self, context: &Context) -> Option<ExitStatus> {
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
            // Nothing of this session is required.
            let _ = end.report(&summary, context.verbose > 0, note);
        }
        status
    }
}

/// A link to a server that runs elsewhere, and what stands beside it.
pub struct RemoteLink {
    /// The connection.
    pub link: Link,
    /// Records what passes over HTTP.
    pub exchanges: Option<Arc<Exchanges>>,
    /// What the transport said can be done about its failures.
    advice: Advice,
}

/// One of several servers that are recorded into one reel.
pub struct SharedRecording<'a> {
    /// Where the numbers of its streams come from.
    pub numbers: &'a Arc<Numbers>,
    /// Its name.
    pub server: &'a str,
}

/// Attaches to a server; what passes goes to the recorder, where there is one.
pub async fn attach(
    remote: &Remote,
    recorder: Option<&Recorder>,
    beside: Option<SharedRecording<'_>>,
    context: &Context,
) -> Result<RemoteLink, CommandError> {
    let carrier = remote.carrier().map_err(remote_error)?;
    if remote.insecure && remote.speaks_tls() {
        context.printer.note("warning: the server's certificate is not checked (--insecure)");
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

/// A server that has closed its output and ends so soon was not asked to.
const BY_ITSELF: Duration = Duration::from_secs(1);

fn end_text(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!(" with exit code {code}"),
        (None, Some(signal)) => format!(" by signal {signal}"),
        (None, None) => String::new(),
    }
}

/// Hands every byte that passes to the recorder.
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

/// The same as frames of one stream, beside others.
pub fn copy_lines_to(recorder: &Recorder, stream: u32) -> ByteObserver {
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

/// The same for messages that come one in a frame.
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

/// What a reel calls a way to reach a server.
pub fn transport_name(carrier: &Carrier) -> &'static str {
    match carrier {
        Carrier::Http => "http",
        Carrier::WebSocket => "websocket",
        Carrier::Unix(_) => "unix",
        Carrier::Tcp(_) => "tcp",
    }
}

pub fn remote_error(error: HttpError) -> CommandError {
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

/// Runs an asynchronous command on this thread; interruption ends it with its own exit code.
pub fn block_on<T>(work: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    block_on_to_the_end(unless_interrupted(work))
}

/// The same for a command that has something to do after an interruption: it listens for one itself.
pub fn block_on_to_the_end<T>(work: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandError::new(ErrorKind::Internal, format!("cannot start: {error}")))?;
    runtime.block_on(work)
}

/// Work that an interruption ends.
pub async fn unless_interrupted<T>(work: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    tokio::select! {
        done = work => done,
        _ = tokio::signal::ctrl_c() => Err(CommandError::new(ErrorKind::Interrupted, "interrupted")),
    }
}

/// Opens the connection and waits for the handshake; `-v` tells its steps.
pub async fn open(
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

/// An error where a server is met in the era in which the proposals have no carrier. `kind` decides the exit code.
pub fn need_carrier(era: Era, server: &str, kind: ErrorKind) -> Result<(), CommandError> {
    if era == Era::Legacy {
        return Ok(());
    }
    let reported = format!(
        "{server} works in revision {}, which has no carrier for the five proposals",
        Revision::NEWEST.as_str()
    );
    Err(CommandError::new(kind, reported)
        .hint("the proposals need a server that accepts initialize (revisions up to 2025-11-25)"))
}

/// Tells the handshake where the user wants to hear of it, and in any case where it is not what was asked for.
pub fn report_handshake(handshake: &Handshake, options: &ClientOptions, context: &Context) {
    if let Some(wanted) = options.protocol_version.as_ref().filter(|wanted| **wanted != handshake.version_text) {
        let agreed = &handshake.version_text;
        context.printer.note(&format!("revision {wanted} was asked for, the server speaks {agreed}"));
    }
    if context.verbose == 0 {
        if options.era == EraArg::Modern {
            handshake.notes.iter().for_each(|note| context.printer.note(note));
        }
        return;
    }
    let name = handshake.server_info["name"].as_str().unwrap_or("a server without a name");
    let (era, version) = (handshake.era.name(), &handshake.version_text);
    context.printer.note(&format!("connected to {name}, {era} era, revision {version}"));
    handshake.notes.iter().for_each(|note| context.printer.note(note));
}

/// Tells what happens beside what was asked: what the server asks, says and prints.
pub fn report(output: &Output, context: &Context) {
    if context.verbose > 0 {
        in_words(output, "the server").iter().for_each(|text| context.printer.note(text));
    }
}

/// The same in words; `server` is whose it is.
pub fn in_words(output: &Output, server: &str) -> Option<String> {
    let clipped = |bytes: &[u8]| {
        let text: String = String::from_utf8_lossy(bytes).chars().map(line::visible).take(200).collect();
        text
    };
    let text = match output {
        Output::ServerRequest { method, answered_with, .. } => match answered_with {
            Some(Ok(_)) => format!("{server} asked {method}; answered"),
            Some(Err((code, reason))) => format!("{server} asked {method}; refused with {code}: {reason}"),
            None => format!("{server} asked {method}"),
        },
        Output::Notification { message } => format!("notification of {server}: {}", clipped(message)),
        Output::Noise { message } => format!("not a message, on standard output of {server}: {}", clipped(message)),
        Output::Stray { message } => format!("{server} answered nothing that was asked: {}", clipped(message)),
        Output::Renewing { reason } => format!("{server}: {reason}; opening a new one, then asking again"),
        Output::Answered { method, late: true, .. } => format!("a late answer of {server} to {method}"),
        _ => return None,
    };
    Some(text)
}

/// So many of the server's last lines are told with a failure: an interpreter's stack trace fits.
const LINES_REPORTED: usize = 12;

/// A failure with what the server said last on standard error.
pub fn failed(failure: Failure, stderr: &[u8]) -> CommandError {
    let kind = match failure {
        Failure::TimedOut { .. } => ErrorKind::Timeout,
        Failure::Failed(_) => ErrorKind::Peer,
    };
    let mut error = CommandError::new(kind, failure.to_string());
    let said = String::from_utf8_lossy(stderr);
    let last: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    for said in &last[last.len().saturating_sub(LINES_REPORTED)..] {
        error = error.hint(format!("the server said: {}", said.chars().map(line::visible).collect::<String>()));
    }
    if kind == ErrorKind::Timeout {
        error = error.hint("give it longer with --timeout");
    }
    error
}
