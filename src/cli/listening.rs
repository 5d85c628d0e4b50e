//! What all commands that listen share: options, binding, and running until the user ends it.

use super::Context;
use super::target::Limits;
use crate::error::{CommandError, ErrorKind};
use crate::record::recording::OnExisting;
use crate::sessions::sockets::{self, BoundSocket, SocketError};
use crate::transport::listen::gateway::Listener;
use crate::transport::listen::origin_check::Access;
use crate::wire::MessageLimit;
use clap::Args;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

/// The options of listeners.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Listening")]
pub(super) struct ListenOptions {
    /// Listen on this address: HOST:PORT or a local port (0 for a free one) for HTTP and WebSocket; tcp:HOST:PORT or
    /// unix:PATH for JSON lines.
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
    /// Also accept this name in the `Host` header (repeatable). `localhost`, names that end in `.localhost`, and IP
    /// addresses are always accepted.
    #[arg(long = "allow-host", value_name = "NAME", requires = "listen")]
    hosts: Vec<String>,
    /// Also accept requests from this browser origin (repeatable). Origins on `localhost` or a loopback address, and
    /// the origin that matches the `Host` header, are always accepted.
    #[arg(long = "allow-origin", value_name = "ORIGIN", requires = "listen")]
    origins: Vec<String>,
    /// Maximum size of a request body that is passed on to a server behind a URL (default: 256 MiB). For other
    /// listeners, --max-message applies as well.
    #[arg(long, value_name = "BYTES", requires = "listen", default_value_t = 256 << 20, hide_default_value = true)]
    pub max_body: u64,
}

impl ListenOptions {
    /// The maximum length of a client's message, for listeners that receive messages themselves.
    pub(super) fn limit(&self, limits: Limits) -> MessageLimit {
        let most = usize::try_from(self.max_body).unwrap_or(usize::MAX);
        MessageLimit::of_bytes(most.min(limits.max_message.bytes()))
    }

    /// What to do if the session's reel exists: a client that starts the process cannot choose another name.
    pub(super) fn on_existing(&self) -> OnExisting {
        if self.listen.is_some() { OnExisting::Fail } else { OnExisting::by_stdin() }
    }

    /// Which hosts and origins are accepted.
    pub(super) fn access(&self) -> Access {
        Access { hosts: self.hosts.clone(), origins: self.origins.clone() }
    }
}

/// The single-threaded runtime of a listener.
///
/// # Errors
///
/// The runtime cannot be created.
pub(super) fn runtime() -> Result<Runtime, CommandError> {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    built.map_err(|error| CommandError::new(ErrorKind::Internal, format!("cannot start: {error}")))
}

/// Runs until `work` is done or the process receives SIGINT or SIGTERM.
///
/// # Errors
///
/// Signals cannot be received.
pub(super) async fn until_ended(work: impl Future<Output = ()>) -> Result<(), CommandError> {
    let failed = |error| CommandError::new(ErrorKind::Internal, format!("cannot wait for signals: {error}"));
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt()).map_err(failed)?, signal(SignalKind::terminate()).map_err(failed)?);
    tokio::select! {
        () = work => {}
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}

/// A bound listener and its address.
pub(super) struct Listening {
    /// The listener.
    pub listener: Listener,
    place: String,
    /// The socket's file is removed when this is dropped.
    _socket: Option<BoundSocket>,
}

impl Listening {
    /// The URL that clients use. Over HTTP, it ends in `path`.
    pub(super) fn url(&self, path: &str) -> String {
        match self.listener {
            Listener::Http(_) => format!("{}{path}", self.place),
            Listener::Tcp(_) | Listener::Unix(_) => self.place.clone(),
        }
    }

    /// The URL for other processes on this machine, in whatever folder. An unspecified address becomes the loopback
    /// address.
    pub(super) fn door(&self, path: &str) -> String {
        let own = |address: SocketAddr| match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => SocketAddr::from((Ipv4Addr::LOCALHOST, address.port())),
            IpAddr::V6(ip) if ip.is_unspecified() => SocketAddr::from((Ipv6Addr::LOCALHOST, address.port())),
            _ => address,
        };
        match &self.listener {
            Listener::Http(listener) => listener.local_addr().map(|address| format!("http://{}{path}", own(address))),
            Listener::Tcp(listener) => listener.local_addr().map(|address| format!("tcp:{}", own(address))),
            Listener::Unix(_) => {
                let file = Path::new(self.place.strip_prefix("unix:").unwrap_or(&self.place));
                std::path::absolute(file).map(|file| format!("unix:{}", file.display()))
            }
        }
        .unwrap_or_else(|_| self.url(path))
    }

    /// The address without the scheme of HTTP.
    pub(super) fn address(&self) -> &str {
        self.place.strip_prefix("http://").unwrap_or(&self.place)
    }

    /// The name of the transport.
    pub(super) fn transport(&self) -> &'static str {
        match self.listener {
            Listener::Http(_) => "http",
            Listener::Tcp(_) => "tcp",
            Listener::Unix(_) => "unix",
        }
    }
}

/// Binds to `HOST:PORT` or a local port for HTTP, or to `tcp:HOST:PORT` or `unix:PATH` for JSON lines. Warns if other
/// machines can connect.
///
/// # Errors
///
/// The address is invalid or cannot be used.
pub(super) async fn bind(listen: &str, context: &Context) -> Result<Listening, CommandError> {
    if let Some(path) = listen.strip_prefix("unix:") {
        return bind_unix(listen, path);
    }
    let (scheme, address) = listen.strip_prefix("tcp:").map_or(("http://", listen), |address| ("tcp:", address));
    let bound = match (address.parse::<u16>(), address.strip_prefix(':').map(str::parse::<u16>)) {
        (Ok(port), _) | (_, Some(Ok(port))) => TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], port))).await,
        _ => TcpListener::bind(address).await,
    };
    let bound = bound.and_then(|listener| listener.local_addr().map(|address| (listener, address)));
    let (listener, address) = bound.map_err(|error| failed(listen, &error))?;
    if !address.ip().is_loopback() {
        let open = format!("warning: other machines can connect to {address}, and use the server");
        context.printer.note(&open);
    }
    let listener = if scheme == "tcp:" { Listener::Tcp(listener) } else { Listener::Http(listener) };
    Ok(Listening { listener, place: format!("{scheme}{address}"), _socket: None })
}

fn bind_unix(listen: &str, path: &str) -> Result<Listening, CommandError> {
    let bound = sockets::bind_at(Path::new(path)).map_err(|error| match error {
        SocketError::System(_, error) if error.kind() == io::ErrorKind::AddrInUse => {
            let error = CommandError::new(ErrorKind::Peer, format!("cannot listen on {listen:?}: {error}"));
            error.hint("another process listens there, or it is not a socket; choose another path")
        }
        error => CommandError::usage(format!("cannot listen on {listen:?}: {error}"))
            .hint("use a path in an existing folder, such as unix:/tmp/mcp.sock"),
    });
    let (socket, listener) = bound?;
    let listener = listener.set_nonblocking(true).and_then(|()| UnixListener::from_std(listener));
    let listener = listener.map_err(|error| failed(listen, &error))?;
    Ok(Listening { listener: Listener::Unix(listener), place: listen.to_owned(), _socket: Some(socket) })
}

fn failed(listen: &str, error: &io::Error) -> CommandError {
    let failed = |kind| CommandError::new(kind, format!("cannot listen on {listen:?}: {error}"));
    match error.kind() {
        io::ErrorKind::AddrInUse => failed(ErrorKind::Peer).hint("choose another port; 0 selects a free one"),
        io::ErrorKind::PermissionDenied => {
            failed(ErrorKind::Peer).hint("ports below 1024 need privileges; choose another")
        }
        io::ErrorKind::AddrNotAvailable => {
            failed(ErrorKind::Usage).hint("use an address of this machine, or only a port")
        }
        // Names that cannot be resolved have no error kind of their own.
        _ => failed(ErrorKind::Usage).hint("use HOST:PORT, such as 127.0.0.1:8080, or only a port"),
    }
}
