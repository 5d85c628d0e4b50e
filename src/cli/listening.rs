//! What every command that listens shares: the options, binding, and working until the user ends it.

use super::Context;
use super::error::{CommandError, ErrorKind};
use crate::transport::access::Access;
use clap::Args;
use std::io;
use std::net::SocketAddr;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

/// How to listen.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Listening")]
pub struct ListenOptions {
    /// Listen for HTTP here: HOST:PORT, or a port on this machine; port 0 takes a free one.
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
    /// A name beside those of this machine that `Host` may have (repeatable).
    #[arg(long = "allow-host", value_name = "NAME", requires = "listen")]
    hosts: Vec<String>,
    /// An origin beside this machine that browsers may come from (repeatable).
    #[arg(long = "allow-origin", value_name = "ORIGIN", requires = "listen")]
    origins: Vec<String>,
    /// The longest body of a request.
    #[arg(long, value_name = "BYTES", requires = "listen", default_value_t = 256 << 20, hide_default_value = true)]
    pub max_body: u64,
}

impl ListenOptions {
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

/// Binds to `HOST:PORT`, or to a port of this machine; warns where other machines can reach it.
pub async fn bind(listen: &str, context: &Context) -> Result<(TcpListener, SocketAddr), CommandError> {
    let bound = match (listen.parse::<u16>(), listen.strip_prefix(':').map(str::parse::<u16>)) {
        (Ok(port), _) | (_, Some(Ok(port))) => TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], port))).await,
        _ => TcpListener::bind(listen).await,
    };
    let bound = bound.and_then(|listener| listener.local_addr().map(|address| (listener, address)));
    let (listener, address) = bound.map_err(|error| failed(listen, &error))?;
    if !address.ip().is_loopback() {
        let open = format!("warning: {address} is open to other machines: whoever reaches it reaches the server");
        context.printer.note(&open);
    }
    Ok((listener, address))
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
