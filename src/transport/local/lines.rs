//! Messages as lines over two byte streams: a child's pipes, a Unix socket, or TCP.

use crate::process::threads;
use crate::transport::budget::{BudgetPermit, IntakeLimits, Receiver, Sender};
use crate::transport::client::http::HttpError;
use crate::transport::client::proxy_connector::UnknownName;
use crate::transport::link::{Incoming, Link, Served};
use crate::transport::local::stdio::{ByteObserver, Pipe};
use crate::wire::MessageLimit;
use crate::wire::Messages;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How long to wait for the end of standard error after the end of standard output, so that a server's last output is
/// received before its end is reported.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);
/// The time limit for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Connects to a Unix socket.
///
/// # Errors
/// The socket cannot be reached.
pub(crate) async fn connect_unix(
    path: &Path,
    limit: MessageLimit,
    observer: Option<ByteObserver>,
) -> Result<Link, HttpError> {
    let place = format!("unix:{}", path.display());
    let stream = connected(&place, UnixStream::connect(path)).await?;
    Ok(carry(stream.into_split(), IntakeLimits::of_server(limit), observer))
}

/// Connects to `HOST:PORT`.
///
/// # Errors
/// The address cannot be reached.
pub(crate) async fn connect_tcp(
    address: &str,
    limit: MessageLimit,
    observer: Option<ByteObserver>,
) -> Result<Link, HttpError> {
    let place = format!("tcp:{address}");
    let stream = connected(&place, connect_by_name(address)).await?;
    let _ = stream.set_nodelay(true);
    Ok(carry(stream.into_split(), IntakeLimits::of_server(limit), observer))
}

async fn connect_by_name(address: &str) -> io::Result<TcpStream> {
    let of_name = |error: io::Error| match error.kind() {
        io::ErrorKind::InvalidInput => error,
        _ => io::Error::other(UnknownName(error)),
    };
    if let Ok(address) = address.parse::<SocketAddr>() {
        return TcpStream::connect(address).await;
    }
    let name = address.to_owned();
    let lookup = move || name.to_socket_addrs();
    let found: Vec<SocketAddr> = threads::finish("resolver", lookup).await?.map_err(of_name)?.collect();
    TcpStream::connect(&found[..]).await
}

async fn connected<S>(place: &str, connecting: impl Future<Output = io::Result<S>>) -> Result<S, HttpError> {
    match timeout(CONNECT_TIMEOUT, connecting).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => {
            Err(HttpError::Refused(format!("cannot reach {place}: there is no such socket")))
        }
        Ok(Err(error)) => Err(HttpError::unreachable(place, &error)),
        Err(_) => Err(HttpError::Exchange(format!("cannot reach {place}: no connection within {CONNECT_TIMEOUT:?}"))),
    }
}

/// A link over two byte streams.
pub(crate) fn carry(
    (from, to): (impl AsyncRead + Unpin + Send + 'static, impl AsyncWrite + Unpin + Send + 'static),
    intake: IntakeLimits,
    observer: Option<ByteObserver>,
) -> Link {
    let observer = observer.unwrap_or_else(|| Arc::new(|_, _| {}));
    let (link, Served { outgoing, incoming }) = Link::served();
    tokio::spawn(write_lines(to, outgoing, Arc::clone(&observer)));
    tokio::spawn(read_lines(from, incoming, intake, observer, None));
    link
}

/// Writes each message as a line; closes the stream after the last.
pub(crate) async fn write_lines(
    mut to: impl AsyncWrite + Unpin,
    mut outgoing: Receiver<Vec<u8>>,
    observer: ByteObserver,
) {
    while let Some(mut message) = outgoing.recv().await {
        message.push(b'\n');
        observer(Pipe::Stdin, Some(&message));
        if to.write_all(&message).await.is_err() {
            break;
        }
    }
    let _ = to.shutdown().await;
    observer(Pipe::Stdin, None);
}

/// Passes each line on as a message; at the end, waits a while for `said`. A message that is too long ends the link,
/// because its end is unknown.
pub(crate) async fn read_lines(
    mut from: impl AsyncRead + Unpin,
    incoming: Sender<Incoming>,
    mut intake: IntakeLimits,
    observer: ByteObserver,
    said: Option<JoinHandle<()>>,
) {
    let mut lines = Messages::within(intake.limit.bytes());
    let mut chunk = vec![0u8; 64 << 10];
    let mut messages = Vec::new();
    loop {
        let got = tokio::select! {
            got = from.read(&mut chunk) => got.unwrap_or(0),
            // No one receives what is still to come.
            () = incoming.closed() => return,
        };
        let keep = |message| messages.push(message);
        let taken = if got == 0 {
            observer(Pipe::Stdout, None);
            lines.finish(keep)
        } else {
            observer(Pipe::Stdout, Some(&chunk[..got]));
            lines.push(&chunk[..got], keep)
        };
        for message in messages.drain(..) {
            if incoming.send(Incoming::Message(message)).await.is_err() {
                return;
            }
        }
        let failed = match taken {
            Err(_) => Some(intake.exceeded()),
            Ok(()) => (!intake.share.hold(lines.pending())).then(|| BudgetPermit::SPENT.to_owned()),
        };
        if failed.is_none() && got > 0 {
            continue;
        }
        if failed.is_some() {
            observer(Pipe::Stdout, None);
        }
        drop(lines);
        if let Some(said) = said.filter(|_| failed.is_none()) {
            let _ = timeout(DRAIN_TIMEOUT, said).await;
        }
        let _ = incoming.send(failed.map_or(Incoming::Closed, Incoming::Failed)).await;
        return;
    }
}
