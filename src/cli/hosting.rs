//! The parts around a host: its servers, started or connected to and recorded in one reel, its model, and the
//! commands with which a user controls it.

pub(super) mod editor;
pub(super) mod lines;
pub(super) mod play;
pub(super) mod verdict;

use super::Context;
use super::client_session::{self, RemoteLink, SharedRecording};
use super::commands::record::spawn_error;
use super::target::{Limits, Target, TargetKind};
use crate::error::CommandError;
use crate::host::client::Joined;
use crate::process::child::ServerCommand;
use crate::record::http::{Exchanges, Numbers};
use crate::record::queue::Ready;
use crate::record::recorder::Recorder;
use crate::redact;
use crate::runtime::builtin;
use crate::scenario::ScenarioError;
use crate::server::{Config, Fired, Server};
use crate::sessions::follow::notifications;
use crate::sessions::injection::is_ours;
use crate::sessions::live::{self, JoinRoute, Live};
use crate::trace::{EventKind, Flags};
use crate::transport::local::stdio::{self, StdioServer};
use crate::transport::{Incoming, Link, Remote};
use crate::wire::Direction;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::mpsc;

/// A server of a host, before it runs.
pub(super) struct NamedServer {
    /// Its name in the host.
    pub name: String,
    /// Where it is.
    pub place: ServerLocation,
}

/// Where a server is.
pub(super) enum ServerLocation {
    /// A process to start for the host.
    Process(ServerCommand),
    /// On the network, or at the address of a live session.
    Remote(Box<Remote>),
    /// In a live session, on the connection of its client.
    Session(Box<(Live, Joined)>),
    /// In this process.
    Builtin(Box<Config>),
}

impl ServerLocation {
    /// Where a target is. A live session is joined, for which its handshake must be complete.
    ///
    /// # Errors
    ///
    /// The target cannot be resolved, or the session cannot be joined.
    pub(super) fn of(target: &Target, context: &Context) -> Result<Self, CommandError> {
        Ok(match target.resolve(context)? {
            TargetKind::Command(command) => Self::Process(command),
            TargetKind::Remote(remote) => Self::Remote(Box::new(remote)),
            TargetKind::Session(name) => match live::way_in(&name)? {
                JoinRoute::Door(url) => {
                    return Self::of(&Target::of_url(&url, &BTreeMap::new()).within(target.limits), context);
                }
                JoinRoute::Beside(session) => Self::Session(session),
            },
        })
    }

    /// The state of the live session that is joined, if it is one.
    pub(super) fn joined(&self) -> Option<&Joined> {
        match self {
            Self::Session(session) => Some(&session.1),
            _ => None,
        }
    }
}

/// The running servers of a host.
pub(super) struct HostServers {
    /// Their links, in order.
    pub links: Vec<Link>,
    /// For built-in servers, where to send orders; by position.
    pub orders: Vec<Option<mpsc::UnboundedSender<Fired>>>,
    processes: Vec<StdioServer>,
    exchanges: Vec<Arc<Exchanges>>,
    /// Streams that end when the host ends.
    streams: Vec<u32>,
    numbers: Arc<Numbers>,
}

impl HostServers {
    /// Starts or connects to all servers. Each server is recorded to a stream of its own.
    ///
    /// # Errors
    ///
    /// A server cannot be reached, or the only one cannot be started.
    pub(super) async fn gather(
        named: &[NamedServer],
        recorder: &Recorder,
        context: &Context,
    ) -> Result<Self, CommandError> {
        let (links, orders, processes, exchanges, streams) = Default::default();
        let numbers = Arc::<Numbers>::default();
        let mut parties = Self { links, orders, processes, exchanges, streams, numbers: Arc::clone(&numbers) };
        for NamedServer { name, place } in named {
            let mut order = None;
            let link = match place {
                ServerLocation::Builtin(config) => {
                    let stream = parties.stream();
                    opened(recorder, stream, &json!({"transport": "memory", "server": name}));
                    let (ours, theirs) = Link::pair();
                    let (sender, orders) = mpsc::unbounded_channel();
                    tokio::spawn(builtin::serve(Server::new((**config).clone()), theirs, orders));
                    order = Some(sender);
                    watched(ours, None, recorder, stream)
                }
                ServerLocation::Process(command) => {
                    let stream = parties.stream();
                    let words = redact::redact_arguments(&command.words());
                    opened(recorder, stream, &json!({"transport": "stdio", "server": name, "command": words}));
                    let observer = client_session::copy_lines_to(recorder, stream);
                    match stdio::spawn(command, Some(observer)) {
                        Ok((link, process)) => {
                            parties.processes.push(process);
                            link
                        }
                        // The host can still talk to the others.
                        Err(error) if named.len() > 1 => failed_link(spawn_error(error).message),
                        Err(error) => return Err(spawn_error(error)),
                    }
                }
                ServerLocation::Remote(remote) => {
                    let beside = SharedRecording { numbers: &numbers, server: name };
                    let RemoteLink { link, exchanges, .. } =
                        client_session::attach(remote, Some(recorder), Some(beside), context).await?;
                    parties.exchanges.extend(exchanges);
                    link
                }
                ServerLocation::Session(session) => {
                    let stream = parties.stream();
                    opened(
                        recorder,
                        stream,
                        &json!({"transport": "session", "server": name, "session": session.0.name}),
                    );
                    let said = notifications(&session.0)?;
                    context.printer.note(&format!("{name}: {BESIDE}"));
                    watched(live::link(&session.0)?, Some(said), recorder, stream)
                }
            };
            parties.links.push(link);
            parties.orders.push(order);
        }
        Ok(parties)
    }

    /// Lets the servers end.
    pub(super) async fn end(self, recorder: &Recorder) {
        for process in self.processes {
            process.end().await;
        }
        self.exchanges.iter().for_each(|exchanges| exchanges.finish());
        for stream in self.streams {
            recorder.queue().note(Ready::about(EventKind::StreamClosed, stream), &json!({"by": "the host"}));
        }
    }

    fn stream(&mut self) -> u32 {
        let stream = self.numbers.stream();
        self.streams.push(stream);
        stream
    }
}

/// A link that failed before it began.
fn failed_link(why: String) -> Link {
    let (link, served) = Link::served();
    // A new link has capacity.
    let _ = served.incoming.try_send(Incoming::Failed(why));
    link
}

fn opened(recorder: &Recorder, stream: u32, about: &serde_json::Value) {
    recorder.queue().note(Ready::about(EventKind::StreamOpened, stream), about);
}

/// What a host cannot do on the connection of another client.
const BESIDE: &str = "joined the connection of the session's own client, which responds to the server's requests (pushes, \
    inferences, channels) and receives all its notifications, too";

/// A link whose messages are recorded. `overheard` has the server's messages to the session's own client, if there is
/// one.
fn watched(
    mut inner: Link,
    mut overheard: Option<mpsc::UnboundedReceiver<Vec<u8>>>,
    recorder: &Recorder,
    stream: u32,
) -> Link {
    let (link, mut served) = Link::served();
    let queue = Arc::clone(recorder.queue());
    let keep = move |direction: Direction, message: &[u8]| {
        let ours = if is_ours(message) { Flags::INJECTED } else { Flags::default() };
        let flags = Flags::toward(direction).with(ours);
        let ready = Ready { flags, ..Ready::about(EventKind::Message, stream) };
        queue.push_ready(ready, message);
    };
    tokio::spawn(async move {
        let mut outbox = std::collections::VecDeque::new();
        let mut is_open = true;
        loop {
            let incoming = tokio::select! {
                message = served.outgoing.recv(), if is_open => {
                    match message {
                        Some(message) => {
                            keep(Direction::ClientToServer, &message);
                            outbox.push_back(message);
                        }
                        None => is_open = false,
                    }
                    None
                }
                incoming = inner.turn(&mut outbox) => incoming,
                message = received(&mut overheard) => Some(Incoming::Message(message)),
            };
            if !is_open && outbox.is_empty() {
                inner.close();
            }
            let Some(incoming) = incoming else { continue };
            if let Incoming::Message(message) = &incoming {
                keep(Direction::ServerToClient, message);
            }
            let is_last = incoming == Incoming::Closed;
            if served.incoming.send(incoming).await.is_err() || is_last {
                return;
            }
        }
    });
    link
}

/// The next overheard message; waits forever if there is no source.
async fn received(overheard: &mut Option<mpsc::UnboundedReceiver<Vec<u8>>>) -> Vec<u8> {
    let said = match overheard {
        Some(said) => said.recv().await,
        None => None,
    };
    match said {
        Some(message) => message,
        None => std::future::pending().await,
    }
}

/// Parses `NAME=SPEC`: a server's name, and a URL, a live session or a command.
///
/// # Errors
///
/// The word is malformed, or the server cannot be found.
pub(super) fn named(word: &str, limits: Limits, context: &Context) -> Result<NamedServer, CommandError> {
    let (name, spec) = word.split_once('=').filter(|(name, _)| is_name(name)).ok_or_else(|| {
        CommandError::usage(format!("invalid server {word:?}: expected NAME=COMMAND or NAME=URL"))
            .hint("for example: -s memory='npx -y some-server'")
    })?;
    Ok(NamedServer {
        name: name.to_owned(),
        place: ServerLocation::of(&Target::of_word(spec)?.within(limits), context)?,
    })
}

/// Parses `NAME` or `NAME:PROPOSAL,PROPOSAL`: the built-in server's name, and the proposals that it declares.
///
/// # Errors
///
/// The name is invalid, or a proposal is unknown.
pub(super) fn builtin_named(word: &str, seed: u64) -> Result<NamedServer, CommandError> {
    let (name, proposals) = word.split_once(':').map_or((word, None), |(name, proposals)| (name, Some(proposals)));
    if !is_name(name) {
        return Err(CommandError::usage(format!("invalid server name {word:?}")).hint("for example: --builtin memory"));
    }
    let mut config = Config { seed, ..Config::default() };
    if let Some(proposals) = proposals {
        config.declare = proposals.split(',').filter(|proposal| !proposal.is_empty()).map(str::to_owned).collect();
        if let Some(unknown) = config.declare.iter().find(|proposal| crate::proposals::by_name(proposal).is_none()) {
            let known: Vec<_> = crate::proposals::REGISTRY.iter().map(|proposal| proposal.descriptor().name).collect();
            return Err(CommandError::usage(format!("unknown proposal {unknown:?}"))
                .hint(format!("the proposals are {}", known.join(", "))));
        }
    }
    let time = jiff::Timestamp::now().as_nanosecond();
    config.wall_base_ns = i64::try_from(time).unwrap_or(i64::MAX);
    Ok(NamedServer { name: name.to_owned(), place: ServerLocation::Builtin(Box::new(config)) })
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|found| found.is_ascii_alphanumeric() || matches!(found, '-' | '_' | '.'))
}

/// Reads a file in YAML or JSON.
///
/// # Errors
///
/// The file cannot be read or parsed.
pub(super) fn read_yaml(path: &Path) -> Result<serde_json::Value, CommandError> {
    let text = std::fs::read_to_string(path).map_err(|error| CommandError::reading(path, &error))?;
    serde_saphyr::from_str(&text)
        .map_err(|error| CommandError::document(path, &ScenarioError::from_yaml(&text, &error)))
}
