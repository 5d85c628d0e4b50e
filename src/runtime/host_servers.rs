//! The servers of a host: started or connected to, and recorded in one reel.

use super::builtin;
use super::server_link::{self, RemoteLink, SharedRecording};
use crate::error::{CommandError, Notices};
use crate::host::client::Joined;
use crate::process::child::ServerCommand;
use crate::record::http::{Exchanges, Numbers};
use crate::record::queue::Ready;
use crate::record::recorder::Recorder;
use crate::record::stdio::described;
use crate::redact;
use crate::server::{Config, Fired, Server};
use crate::sessions::follow::notifications;
use crate::sessions::injection::is_ours;
use crate::sessions::live::{self, Live};
use crate::trace::{Closed, EventKind, Flags, Opened};
use crate::transport::local::stdio::{self, StdioServer};
use crate::transport::{Incoming, Link, Remote};
use crate::wire::Direction;
use std::sync::Arc;
use tokio::sync::mpsc;

/// A server of a host, before it runs.
pub(crate) struct NamedServer {
    /// Its name in the host.
    pub name: String,
    /// Where it is.
    pub place: ServerLocation,
    /// Whether the user gave its command where the host was started.
    pub is_own: bool,
}

/// Where a server is.
pub(crate) enum ServerLocation {
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
    /// Its command, URL or session in words, without secrets.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Process(command) => redact::redact_arguments(&command.words()).join(" "),
            Self::Remote(remote) => redact::redact_url(&remote.url),
            Self::Session(session) => {
                let server = session.0.text("server").unwrap_or_default();
                format!("session {} {server}", session.0.name).trim_end().to_owned()
            }
            Self::Builtin(_) => "built-in".to_owned(),
        }
    }

    /// The state of the live session that is joined, if it is one.
    pub(crate) fn joined(&self) -> Option<&Joined> {
        match self {
            Self::Session(session) => Some(&session.1),
            _ => None,
        }
    }
}

/// The running servers of a host.
#[derive(Default)]
pub(crate) struct HostServers {
    /// Their links, in order.
    pub links: Vec<Link>,
    /// For built-in servers, where to send orders; by position.
    pub orders: Vec<Option<mpsc::UnboundedSender<Fired>>>,
    processes: Vec<(u32, StdioServer)>,
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
    pub(crate) async fn gather(
        named: &[NamedServer],
        recorder: &Recorder,
        notices: Notices,
    ) -> Result<Self, CommandError> {
        let mut servers = Self::default();
        for NamedServer { name, place, .. } in named {
            let mut orders = None;
            let link = match place {
                ServerLocation::Builtin(config) => {
                    let (link, sender) = servers.start_builtin(name, config, recorder);
                    orders = Some(sender);
                    link
                }
                ServerLocation::Process(command) => match servers.spawn(name, command, recorder) {
                    // The host can still talk to the others.
                    Err(error) if named.len() > 1 => failed_link(error.message),
                    started => started?,
                },
                ServerLocation::Remote(remote) => {
                    let numbers = Arc::clone(&servers.numbers);
                    let beside = SharedRecording { numbers: &numbers, server: name };
                    let RemoteLink { link, exchanges, .. } =
                        server_link::attach(remote, Some(recorder), Some(beside), notices).await?;
                    servers.exchanges.extend(exchanges);
                    link
                }
                ServerLocation::Session(session) => {
                    let link = servers.join(name, &session.0, recorder)?;
                    (notices.warn)(&format!("{name}: {BESIDE}"));
                    link
                }
            };
            servers.links.push(link);
            servers.orders.push(orders);
        }
        Ok(servers)
    }

    fn start_builtin(
        &mut self,
        name: &str,
        config: &Config,
        recorder: &Recorder,
    ) -> (Link, mpsc::UnboundedSender<Fired>) {
        let stream = self.open_stream(recorder, &Opened { server: Some(name.to_owned()), ..Opened::over("memory") });
        let (ours, theirs) = Link::pair();
        let (sender, orders) = mpsc::unbounded_channel();
        tokio::spawn(builtin::serve(Server::new(config.clone()), theirs, orders));
        (watched(ours, None, recorder, stream), sender)
    }

    fn spawn(&mut self, name: &str, command: &ServerCommand, recorder: &Recorder) -> Result<Link, CommandError> {
        let mut about = described(command);
        about.server = Some(name.to_owned());
        let stream = self.open_stream(recorder, &about);
        let observer = server_link::copy_lines_to(recorder, stream);
        let (link, process) = stdio::spawn(command, Some(observer)).map_err(CommandError::spawning)?;
        self.processes.push((stream, process));
        Ok(link)
    }

    fn join(&mut self, name: &str, session: &Live, recorder: &Recorder) -> Result<Link, CommandError> {
        let (server, joined) = (Some(name.to_owned()), Some(session.name.clone()));
        let about = Opened { server, session: joined, ..Opened::over("session") };
        let stream = self.open_stream(recorder, &about);
        let said = notifications(session)?;
        Ok(watched(live::link(session)?, Some(said), recorder, stream))
    }

    /// Lets the servers end.
    pub(crate) async fn end(self, recorder: &Recorder) {
        let mut streams = self.streams;
        for (stream, process) in self.processes {
            let (status, was_signalled) = process.end(stdio::Grace::USUAL).await;
            recorder.queue().note_end(stream, status, !was_signalled, None);
            streams.retain(|other| *other != stream);
        }
        self.exchanges.iter().for_each(|exchanges| exchanges.finish());
        for stream in streams {
            recorder.queue().note(Ready::about(EventKind::StreamClosed, stream), &Closed::by("the host"));
        }
    }

    /// Opens a stream of the recording.
    fn open_stream(&mut self, recorder: &Recorder, about: &Opened) -> u32 {
        let stream = self.numbers.stream();
        self.streams.push(stream);
        recorder.queue().note(Ready::about(EventKind::StreamOpened, stream), about);
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
