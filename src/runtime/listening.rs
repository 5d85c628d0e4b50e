//! Binds the address of a listener, and runs until the user ends it.

use crate::error::{CommandError, ErrorKind, Warn};
use crate::sessions::sockets::{self, BoundSocket, SocketError};
use crate::transport::listen::gateway::Listener;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use tokio::net::{TcpListener, UnixListener};
use tokio::signal::unix::{SignalKind, signal};

/// Runs until `work` is done or the process receives SIGINT or SIGTERM.
///
/// # Errors
///
/// Signals cannot be received.
pub(crate) async fn until_ended(work: impl Future<Output = ()>) -> Result<(), CommandError> {
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
pub(crate) struct Listening {
    /// The listener.
    pub listener: Listener,
    place: String,
    /// The socket's file is removed when this is dropped.
    _socket: Option<BoundSocket>,
}

impl Listening {
    /// The URL that clients use. Over HTTP, it ends in `path`.
    pub(crate) fn url(&self, path: &str) -> String {
        match self.listener {
            Listener::Http(_) => format!("{}{path}", self.place),
            Listener::Tcp(_) | Listener::Unix(_) => self.place.clone(),
        }
    }

    /// The URL for other processes on this machine, in whatever folder. An unspecified address becomes the loopback
    /// address.
    pub(crate) fn door(&self, path: &str) -> String {
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
    pub(crate) fn address(&self) -> &str {
        self.place.strip_prefix("http://").unwrap_or(&self.place)
    }

    /// The name of the transport.
    pub(crate) fn transport(&self) -> &'static str {
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
pub(crate) async fn bind(listen: &str, warn: Warn) -> Result<Listening, CommandError> {
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
        warn(&open);
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
