//! What every command that listens shares: the options, binding, and working until the user ends it.

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

/// How to listen.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Listening")]
pub struct ListenOptions {
    /// Listen here: HOST:PORT for HTTP and WebSocket, or a port on this machine (0 takes a free one); tcp:HOST:PORT or
    /// unix:PATH for lines.
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
    /// A name beside those of this machine that `Host` may have (repeatable).
    #[arg(long = "allow-host", value_name = "NAME", requires = "listen")]
    hosts: Vec<String>,
    /// An origin beside this machine that browsers may come from (repeatable).
    #[arg(long = "allow-origin", value_name = "ORIGIN", requires = "listen")]
    origins: Vec<String>,
    /// The longest body of a request that goes on to a server behind a URL (256 MiB by default); what other listeners
    /// take is bounded by --max-message too.
    #[arg(long, value_name = "BYTES", requires = "listen", default_value_t = 256 << 20, hide_default_value = true)]
    pub max_body: u64,
}

impl ListenOptions {
    /// The longest message of a client, where its messages end here.
    pub fn limit(&self, limits: Limits) -> MessageLimit {
        let most = usize::try_from(self.max_body).unwrap_or(usize::MAX);
        MessageLimit::of_bytes(most.min(limits.max_message.bytes()))
    }

    /// What happens where a session's reel is there already: a client that starts the process cannot name another.
    pub fn on_existing(&self) -> OnExisting {
        if self.listen.is_some() { OnExisting::Fail } else { OnExisting::by_stdin() }
    }

    /// Who may come.
    pub fn access(&self) -> Access {
        Access { hosts: self.hosts.clone(), origins: self.origins.clone() }
    }
}

/// The runtime of a listener: one thread.
pub fn runtime() -> Result<Runtime, CommandError> {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    built.map_err(|error| CommandError::new(ErrorKind::Internal, format!("cannot start: {error}")))
}

/// Works until the user interrupts or ends the process.
pub async fn until_ended(work: impl Future<Output = ()>) -> Result<(), CommandError> {
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

/// A bound listener, and how it is called.
pub struct Listening {
    /// Where clients come in.
    pub listener: Listener,
    place: String,
    /// The socket's file, removed at the end.
    _socket: Option<BoundSocket>,
}

impl Listening {
    /// What clients give as the URL of what is served; over HTTP it is at this path.
    pub fn url(&self, path: &str) -> String {
        match self.listener {
            Listener::Http(_) => format!("{}{path}", self.place),
            Listener::Tcp(_) | Listener::Unix(_) => self.place.clone(),
        }
    }

    /// The same for others on this machine, whatever their folder: any address is this machine's own.
    pub fn door(&self, path: &str) -> String {
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

    /// Where it is, without a scheme.
    pub fn address(&self) -> &str {
        self.place.strip_prefix("http://").unwrap_or(&self.place)
    }

    /// What carries the messages, in a word.
    pub fn transport(&self) -> &'static str {
        match self.listener {
            Listener::Http(_) => "http",
            Listener::Tcp(_) => "tcp",
            Listener::Unix(_) => "unix",
        }
    }
}

/// Binds to `HOST:PORT`, or to a port of this machine, for HTTP; to `tcp:` such or `unix:PATH` for lines. Warns where
/// other machines can reach it.
pub async fn bind(listen: &str, context: &Context) -> Result<Listening, CommandError> {
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
        let open = format!("warning: {address} is open to other machines: whoever reaches it reaches the server");
        context.printer.note(&open);
    }
    let listener = if scheme == "tcp:" { Listener::Tcp(listener) } else { Listener::Http(listener) };
    Ok(Listening { listener, place: format!("{scheme}{address}"), _socket: None })
}

fn bind_unix(listen: &str, path: &str) -> Result<Listening, CommandError> {
    let bound = sockets::bind_at(Path::new(path)).map_err(|error| match error {
        SocketError::System(_, error) if error.kind() == io::ErrorKind::AddrInUse => {
            let error = CommandError::new(ErrorKind::Peer, format!("cannot listen on {listen:?}: {error}"));
            error.hint("something is there already, and listens or is no socket; choose another path")
        }
        error => CommandError::usage(format!("cannot listen on {listen:?}: {error}"))
            .hint("give a path in a folder that is there, as in unix:/tmp/mcp.sock"),
    });
    let (socket, listener) = bound?;
    let listener = listener.set_nonblocking(true).and_then(|()| UnixListener::from_std(listener));
    let listener = listener.map_err(|error| failed(listen, &error))?;
    Ok(Listening { listener: Listener::Unix(listener), place: listen.to_owned(), _socket: Some(socket) })
}

fn failed(listen: &str, error: &io::Error) -> CommandError {
    let failed = |kind| CommandError::new(kind, format!("cannot listen on {listen:?}: {error}"));
    match error.kind() {
        io::ErrorKind::AddrInUse => failed(ErrorKind::Peer).hint("choose another port; 0 takes a free one"),
        io::ErrorKind::PermissionDenied => {
            failed(ErrorKind::Peer).hint("ports below 1024 are the system's; choose another")
        }
        io::ErrorKind::AddrNotAvailable => {
            failed(ErrorKind::Usage).hint("give an address of this machine, or a port only")
        }
        // A name that cannot be looked up has no kind of its own.
        _ => failed(ErrorKind::Usage).hint("give HOST:PORT, as in 127.0.0.1:8080, or a port only"),
    }
}
